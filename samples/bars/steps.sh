# sh steps.sh tube.npz FOLDER: how a falling tube fares at time steps of 1 to 30 ms, as lines "MODEL YOUNG STEP KINETIC DEFEATS": the largest kinetic energy over 5 s, J, or "failed", and how many
# matrices defeated conjugate gradients, which the paper solves all models by, and takes ghost forces out of free bodies. (Those systems are solved by another method, so the motion goes on.)
tube=$1 work=$2
for young in 2e6 1e6 5e5 2e5 1e5; do
    for model in frame polar nonlinear; do
        case $model in
        nonlinear) options='--model full --solver jacobi' ;;
        *) options="--model warp --rotation $model --solver gradients --correct-ghost" ;;
        esac
        for step in 1 2 5 10 20 30; do
            run=$work/fall-$model-$young-$step
            if simulate "$tube" $options --solver-tolerance 1e-3 --young $young --integrator linear-euler --beta 1 --lumping lumped --gravity 0,0,-9.81 --ground 0,0,1,0 --ground-stiffness 1e5 \
                --dt ${step}e-3 --steps $((5000 / step)) --record probes --probe 0 -q -o "$run.npz" 2>"$run.err"; then
                kinetic=$(simexport "$run.npz" -q --to csv -o - | awk -F, 'NR > 1 && !($2 <= most) { most = $2 } END { print most }')
                defeats=$(siminfo "$run.npz" | awk '$1 == "indefinite_matrices" { print $2; exit } $2 == "indefinite_matrices" { print $3; exit }')
            else
                [ $? = 5 ] || { cat "$run.err" >&2; exit 1; }
                kinetic=failed defeats=-
            fi
            rm -f "$run.npz" "$run.err"
            echo $model $young $step $kinetic $defeats
        done
    done
done
