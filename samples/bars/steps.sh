# sh steps.sh tube.npz tube.mesh FOLDER GROUND DAMPING: how a falling tube fares at time steps of 1 to 30 ms, on a ground of GROUND N/m for each vertex, with DAMPING 1/s by mass. Lines "MODEL YOUNG
# STEP KINETIC DEFEATS LAST MOST": the largest kinetic energy over 5 s, J, or "failed"; how many matrices defeated conjugate gradients, which the paper solves all models by, and takes ghost forces
# out of free bodies (those systems are solved by another method, so the motion goes on); how many elements are turned inside out at the end, and at most in any frame (20 ms or one step apart).
tube=$1 mesh=$2 work=$3 ground=$4 damping=$5
for young in 2e6 1e6 5e5 2e5 1e5; do
    for model in frame polar nonlinear; do
        case $model in
        nonlinear) options='--solver jacobi' ;;
        *) options="--model warp --rotation $model --solver gradients --correct-ghost" ;;
        esac
        for step in 1 2 5 10 20 30; do
            run=$work/fall-$model-$young-$step
            if simfull "$tube" $options --solver-tolerance 1e-3 --young $young --integrator linear-euler --beta 1 --lumping lumped --gravity 0,0,-9.81 --ground 0,0,1,0 --ground-stiffness $ground \
                --damping-mass $damping --dt ${step}e-3 --steps $((5000 / step)) --every $(((19 + step) / step)) -q -o "$run.npz" 2>"$run.err"; then
                kinetic=$(simexport "$run.npz" -q --to csv -o - | awk -F, 'NR > 1 && !($2 <= most) { most = $2 } END { print most }')
                defeats=$(siminfo "$run.npz" | awk '$1 == "indefinite_matrices" { print $2; exit } $2 == "indefinite_matrices" { print $3; exit }')
                simexport "$run.npz" --probe 0-359 -q -o "$run.csv"
                inverted=$(python3 inverted.py "$mesh" "$run.csv")
            else
                [ $? = 5 ] || { cat "$run.err" >&2; exit 1; }
                kinetic=failed defeats=- inverted='- -'
            fi
            rm -f "$run.npz" "$run.err" "$run.csv"
            echo $model $young $step $kinetic $defeats $inverted
        done
    done
done
