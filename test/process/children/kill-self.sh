# Ends itself with the given signal.
kill -s "$1" $$
