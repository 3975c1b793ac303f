# sh steps.sh tube.npz FOLDER ENERGY: the time steps at which a falling tube is stable, as lines "MODEL YOUNG STEP KINETIC INDEFINITE": the largest kinetic energy over 5 s, J, or "failed", and how
# many matrices conjugate gradients found indefinite. From 30 ms down to the first step at which it stays below 10 times ENERGY and no matrix is indefinite.
tube=$1 work=$2 energy=$3
for young in 2e6 1e6 5e5 2e5 1e5; do
    for model in frame polar nonlinear; do
        case $model in
        nonlinear) options='--model full --solver jacobi' ;;
        *) options="--model warp --rotation $model --solver jacobi" ;;
        esac
        for step in 30 20 10 5 2 1; do
            run=$work/fall-$model-$young-$step
            if simulate "$tube" $options --young $young --integrator linear-euler --beta 1 --lumping lumped --gravity 0,0,-9.81 --ground 0,0,1,0 --ground-stiffness 20000 \
                --dt ${step}e-3 --steps $((5000 / step)) --record probes --probe 0 -q -o "$run.npz" 2>"$run.err"; then
                kinetic=$(simexport "$run.npz" -q --to csv -o - | awk -F, 'NR > 1 && !($2 <= most) { most = $2 } END { print most }')
                indefinite=$(siminfo "$run.npz" | awk '$1 == "indefinite_matrices" { print $2; exit } $2 == "indefinite_matrices" { print $3; exit }')
            else
                [ $? = 5 ] || { cat "$run.err" >&2; exit 1; }
                kinetic=failed indefinite=-
            fi
            rm -f "$run.npz" "$run.err"
            echo $model $young $step $kinetic $indefinite
            [ "$kinetic" != failed ] && [ "$indefinite" = 0 ] && awk "BEGIN { exit !($kinetic < 10 * $energy) }" && break
        done
    done
done
