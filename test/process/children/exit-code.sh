# Exits with the given code.
exit "$1"
