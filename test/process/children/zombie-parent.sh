# Stays, with a child that ends once this is no shell any more, and is never collected.
sh -c 'until [ "$(cat /proc/$PPID/comm)" = sleep ]; do sleep 0.01; done' &
echo "zombie $!"
exec sleep 1000
