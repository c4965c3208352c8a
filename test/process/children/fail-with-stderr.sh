# Writes to stderr and exits with the given code.
echo "first cause" >&2
echo "last words" >&2
exit "$1"
