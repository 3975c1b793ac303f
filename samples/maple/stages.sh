#!/bin/sh
# The time of each stage of the precomputation and of a step: stages.sh FOLDER STAGE...
folder=$1
shift
echo 'stage of the precomputation   s'
echo "division                  $(awk '{ printf "%7.1f", $1 / 1000 }' "$folder/parts.npz.ms")"
for stage in "$@"; do
    awk -v name="$stage" '{ printf "%-25s %7.1f\n", name, $1 / 1000 }' "$folder/$stage.ms"
done
cat "$folder/parts.npz.ms" $(printf "$folder/%s.ms " "$@") | awk '{ s += $1 } END { printf "%-25s %7.1f\n", "in all", s / 1000 }'
sed 1d "$folder/wind-steps.csv" | cut -d , -f 2 | sort -g |
    awk '{ t[NR] = $1 } END { printf "a step, median            %7.4f\n", t[int((NR + 1) / 2)] }'
