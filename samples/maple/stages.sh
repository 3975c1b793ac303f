#!/bin/sh
# The times of the stages of the precomputation and of a step: stages.sh FOLDER STAGE...
# Each stage has files .ms, the time of day, and .times, what times(1) of the shell prints.
folder=$1
shift
echo 'stage of the precomputation   time, s   processor time, s'
for stage in parts.npz "$@"; do
    sed -n '$p' "$folder/$stage.times" | tr 'ms' '  ' | awk -v name="$stage" -v ms="$(cat "$folder/$stage.ms")" \
        '{ sub("parts.npz", "division", name); sub("simpart", "meshes of domains", name); print name "," ms / 1000 "," 60 * $1 + $2 + 60 * $3 + $4 }'
done | awk -F , '{ printf "%-27s %10.1f %19.1f\n", $1, $2, $3; t += $2; p += $3 } END { printf "%-27s %10.1f %19.1f\n", "in all", t, p }'
sed 1d "$folder/wind-steps.csv" | cut -d , -f 2 | sort -g |
    awk '{ t[NR] = $1 } END { printf "\na step, median, s            %10.4f\n", t[int((NR + 1) / 2)] }'
