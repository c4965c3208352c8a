# Exits at once; a grandchild writes the given number of lines to the pipe, one each 200 ms, and then holds it silently.
(
	i=0
	while [ "$i" -lt "$1" ]; do
		sleep 0.2
		echo "drip $i"
		i=$((i + 1))
	done
	exec sleep 1000
) &
echo "holder $!"
