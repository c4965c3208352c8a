# Says one line on stdout and one on stderr.
echo "to stdout"
echo "to stderr" >&2
