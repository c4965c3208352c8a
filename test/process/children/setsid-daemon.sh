# Leaves a daemon in a session of its own, parent gone, output elsewhere, and exits - or stays, when told "stay".
(setsid sh -c 'echo "member $$"; exec sleep 1000 >/dev/null 2>&1' &)
[ "$1" = stay ] && exec sleep 1000
exit 0
