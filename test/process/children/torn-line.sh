# Writes one line and an unfinished second one to each stream.
printf 'one\ntwo'
printf 'three\nfour' >&2
