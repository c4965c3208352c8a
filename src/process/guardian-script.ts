/**
 * What the guardian runs, in POSIX sh and awk. Arguments: the platform, and the seconds from TERM to KILL.
 * Its stdin carries lines; each one is the whole list of guarded children, `pid start-time marker` after one another,
 * marker being `NAME=value` or `-`. The end of stdin is the end of the parent: what the last whole line names is ended.
 */
export const guardianScript = String.raw`
trap '' HUP INT QUIT TERM
platform=$1 grace=$2
nl='
'
list=
# An unfinished last line is not read: it stands for a list that never was.
while IFS= read -r line; do list=$line; done
[ -n "$list" ] || exit 0

# Everything known so far, as triples whose third part does not matter; members of a snapshot are added to it.
known=$list
markers=
set -f
set -- $list
set +f
while [ $# -ge 3 ]; do
	if [ "$3" = - ]; then :; elif [ -z "$markers" ]; then markers=$3; else markers=$markers$nl$3; fi
	shift 3
done

# One line per process: pid ppid pgid state start-time (on Linux the raw stat, cut by awk below).
processes() {
	if [ "$platform" = linux ]; then cat /proc/[0-9]*/stat; else ps -A -o pid= -o ppid= -o pgid= -o stat= -o lstart=; fi
}

# Pids whose environment holds one of the markers.
carriers() {
	[ -n "$markers" ] || return
	if [ "$platform" = linux ]; then
		# head parts many files by "==> <pid>/environ <==" at the cost of one process. Newlines, which may be part of an
		# entry, become \001 to let each entry be one line.
		cd /proc
		head -n 1000000 [0-9]*/environ | tr '\000\n' '\n\001' | markers=$markers awk '
			BEGIN { for (i = split(ENVIRON["markers"], list, "\n"); i > 0; i--) marker[list[i]] = 1 }
			{
				parts = split($0, part, "\001")
				first = 1
				for (i = 1; i <= parts; i++) {
					if (part[i] !~ /^==> [0-9]+\/environ <==$/) continue
					pid = substr(part[i], 5) + 0
					first = i + 1
				}
				if (first == parts && (part[first] in marker)) print pid
			}'
	else
		# ps -E prints the environment after the command.
		{ ps -A -ww -o pid= -o command=; echo; ps -A -E -ww -o pid= -o command=; } | markers=$markers awk '
			BEGIN { count = split(ENVIRON["markers"], marker, "\n") }
			NF == 0 { second = 1; next }
			{ pid = $1; sub(/^ *[0-9]+ /, ""); sub(/ +$/, "") }
			!second { command[pid] = $0; next }
			(pid in command) && index($0, command[pid]) == 1 {
				rest = substr($0, length(command[pid]) + 1) " "
				for (i = 1; i <= count; i++) if (index(rest, " " marker[i] " ")) { print pid; next }
			}'
	fi
}

# The living processes to end, as triples: pid, start time, and whom to signal (-group once, or pid, or 0 for nobody).
snapshot() {
	{ printf '%s\n' "$known"; echo $(carriers); processes; } 2>/dev/null | awk -v linux="$([ "$platform" = linux ] && echo 1)" \
		-v self=$$ -v parent=$PPID '
		function row(pid, up, group, status, begun) {
			ppid[pid] = up; pgid[pid] = group; state[pid] = substr(status, 1, 1); start[pid] = begun
		}
		function take(pid) {
			if (pid in mine || pid + 0 <= 1 || pid + 0 == self + 0 || pid + 0 == parent + 0) return 0
			mine[pid] = 1
			return 1
		}
		NR == 1 { for (i = 1; i < NF; i += 3) since[$i] = $(i + 1); next }
		NR == 2 { for (i = 1; i <= NF; i++) take($i); next }
		linux {
			# The name in parentheses may hold blanks, parentheses and newlines: fields count from the last one.
			line = line == "" ? $0 : line " " $0
			rest = line
			sub(/.*\) /, "", rest)
			if (split(rest, f, " ") < 20) next
			split(line, head, " ")
			row(head[1], f[2], f[3], f[1], f[20])
			line = ""
			next
		}
		{ row($1, $2, $3, $4, $5 "_" $6 "_" $7 "_" $8 "_" $9) }
		END {
			# A pid with another start time is another process. A group keeps its number until its last member ends.
			for (pid in start) {
				group = pgid[pid]
				if ((pid in since) && since[pid] "" == start[pid] "") take(pid)
				if ((group in since) && (!(group in start) || since[group] "" == start[group] "")) take(pid)
			}
			do {
				more = 0
				for (pid in start) if (ppid[pid] in mine) more += take(pid)
			} while (more)
			for (pid in mine) {
				if (!(pid in start) || state[pid] ~ /[ZX]/) continue
				group = pgid[pid]
				target = pid
				if ((group in mine) || (group in since) && !(group in start)) target = told[group]++ ? 0 : "-" group
				print pid, start[pid], target
			}
		}'
}

send() {
	signal=$1
	set -- $members
	while [ $# -ge 3 ]; do
		[ "$3" = 0 ] || kill -s "$signal" -- "$3" 2>/dev/null
		shift 3
	done
}

members=$(snapshot)
send TERM
# The timer is a process because counting turns would add the time that each look takes.
sleep "$grace" &
timer=$!
while [ -n "$members" ] && kill -0 "$timer" 2>/dev/null; do
	known="$known "$(echo $members)
	sleep 0.1
	members=$(snapshot)
done
kill -s KILL "$timer" 2>/dev/null
# More than once, for what was started between a look and its signal.
for round in 1 2 3 4 5; do
	[ -n "$members" ] || break
	known="$known "$(echo $members)
	send KILL
	sleep 0.1
	members=$(snapshot)
done
`;
