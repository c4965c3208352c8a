# Exits at once and leaves a member of its group that holds no pipe.
sleep 1000 </dev/null >/dev/null 2>&1 &
echo "member $!"
