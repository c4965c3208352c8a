# Exits at once; a grandchild holds the output pipes for the given number of seconds.
sleep "$1" &
echo "holder $!"
