# Prints its pid, its group and its session.
read -r _ _ _ _ group session _ </proc/self/stat
echo "$$ $group $session"
