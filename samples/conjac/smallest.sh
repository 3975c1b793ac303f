#!/bin/sh
# smallest.sh OUT.csv RELEASE MOST ARGUMENT...   takes beta = 0.1, 0.2, ... until simfull with the arguments is stable in the sense of
# stable.awk; leaves its frames in OUT.csv and prints that beta. Where none up to MOST is: no frames but the names, and "-".
set -eu
out=$1 release=$2 most=$3
shift 3
here=$(dirname "$0")

for tenths in $(seq 1 "$most"); do
    beta=$(awk -v n="$tenths" 'BEGIN { print n / 10 }')
    status=0
    "$here/run.sh" "$out" "$beta" "$@" || status=$?
    [ $status -le 1 ] || exit $status
    if [ $status -eq 0 ] && awk -F, -v release="$release" -f "$here/stable.awk" "$out" >/dev/null; then
        echo "$beta"
        exit
    fi
done
echo 'time,kinetic,strain' >"$out"
echo -
