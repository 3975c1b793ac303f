#!/bin/sh
# run.sh OUT.csv BETA MESH ARGUMENT...   one motion by linearly implicit Euler: energies and displacements of the probes in each step.
# Exit 1 where simfull gives up (5), as it does where numbers are no longer finite.
set -eu
out=$1 beta=$2 mesh=$3
shift 3
status=0
simfull "$mesh" --integrator linear-euler --beta "$beta" --record probes "$@" -q -o "$out.npz" 2>"$out.log" || status=$?
case $status in
0) simexport "$mesh" "$out.npz" --probe surface:0,surface:1128 --to csv -q -o "$out" ;;
5) rm -f "$out.npz" && exit 1 ;;
*) cat "$out.log" >&2 && exit "$status" ;;
esac
rm -f "$out.npz" "$out.log"
