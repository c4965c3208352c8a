# Ignores TERM, says "ready" and stays.
trap '' TERM
echo ready
exec sleep 1000
