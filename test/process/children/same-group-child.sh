# Starts a process in its own group, says its pid and waits for it.
sleep 1000 &
echo "member $!"
wait
