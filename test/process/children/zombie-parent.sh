# Stays, with a child that has ended and is never collected.
true &
echo "zombie $!"
exec sleep 1000
