# Once the file <given>.go exists, writes numbered lines to the given file, an unfinished one last, and exits at once.
until [ -e "$1.go" ]; do sleep 0.01; done
i=0
while [ "$i" -lt 500 ]; do
	echo "line $i"
	i=$((i + 1))
done >"$1"
printf 'torn' >>"$1"
