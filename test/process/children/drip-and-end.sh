# Exits at once; a grandchild writes the given number of lines to the pipe, one each 100 ms, and ends.
(
	i=0
	while [ "$i" -lt "$1" ]; do
		sleep 0.1
		echo "drip $i"
		i=$((i + 1))
	done
) &
