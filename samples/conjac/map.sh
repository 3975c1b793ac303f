#!/bin/sh
# map.sh OUT.csv RELEASE END "H ..." "BETA ..." ARGUMENT...   for every step h (s) and beta one line h,beta,factor: the largest energy of the
# motion to the time END by that at RELEASE, or 0 where it was not stable.
set -eu
out=$1 release=$2 end=$3 steps=$4 betas=$5
shift 5
here=$(dirname "$0")
echo 'h,beta,factor'
for h in $steps; do
    count=$(awk -v h="$h" -v end="$end" 'BEGIN { printf "%d", end / h + 0.5 }')
    for beta in $betas; do
        status=0 factor=0
        "$here/run.sh" "$out.run" "$beta" "$@" --dt "$h" --steps "$count" || status=$?
        [ $status -le 1 ] || exit $status
        if [ $status -eq 0 ]; then
            factor=$(awk -F, -v release="$release" -f "$here/stable.awk" "$out.run") || factor=0
        fi
        echo "$h,$beta,$factor"
    done
done
rm -f "$out.run" "$out.run.log"
