# Says "ready" and stays until a signal.
echo ready
exec sleep 1000
