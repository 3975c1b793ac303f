#!/bin/sh
# time-steps.sh STEPS PROGRAM ARGUMENT...   runs the program with the arguments for one step and for STEPS steps, in turn, three times or
# more until two seconds are over; prints the milliseconds that each of the other steps takes, by the fastest run of each.
# So reading and preparing drop out.
set -eu
steps=$1
shift

begin=$(date +%s) round=0
while [ $round -lt 3 ] || [ $(($(date +%s) - begin)) -lt 2 ]; do
    for count in 1 "$steps"; do
        start=$(date +%s%N)
        "$@" -q --steps "$count" -o - >/dev/null
        echo "$count $((($(date +%s%N) - start) / 1000))"
    done
    round=$((round + 1))
done | awk -v steps="$steps" '
    !($1 in least) || $2 < least[$1] { least[$1] = $2 }
    END { printf "%.3g\n", (least[steps] - least[1]) / (steps - 1) / 1000 }'
