#!/usr/bin/env bats
# simcurve: backbone curves against exact values, responses with folds against simulate, refusals.

load common

# The beam: clamped, twelve 20-node hexahedra with a rectangular section, its first bending mode in z and the derivative of it. The arch: eight
# of these, with a rise at which the frequency of its second symmetric mode is twice that of the first one, in four modes and their derivatives.
setup_file() {
    export BEAM=$BATS_FILE_TMPDIR/beam ARCH=$BATS_FILE_TMPDIR/arch
    mkdir "$BEAM" "$ARCH"
    cd "$BEAM"
    "$PYTHON" "$SUPPLE_SOURCE/samples/resonance/model.py" 12 1 0.03 0.02 0 > beam.inp
    simimport -q beam.inp -o beam.npz
    modes -q beam.npz -k 1 -o modes.npz
    reduce beam 2
    cubature -q beam.npz basis.npz -n 12 --poses 40 -o cub.npz
    echo "0,inf,vertex,$MIDDLE,0,0,150" > pull.csv
    cd "$ARCH"
    "$PYTHON" "$SUPPLE_SOURCE/samples/resonance/model.py" 8 1 0.05 0.01 0.0273 > arch.inp
    simimport -q arch.inp -o arch.npz
    modes -q arch.npz -k 4 -o modes.npz
    reduce arch 14
}

# The vertices in the middle, at the lower side of the beam and the upper one of the arch.
MIDDLE=72 TOP=52

# reduce NAME COLUMNS
reduce() {
    modalderiv -q "$1.npz" modes.npz -o deriv.npz
    masspca -q "$1.npz" modes.npz deriv.npz -r "$2" -o basis.npz
    polycoef -q "$1.npz" basis.npz -o poly.npz
}

# The files of the beam or the arch beside those of other tests.
use_beam() {
    ln -s "$BEAM" beam
    body=(beam/beam.npz --basis beam/basis.npz --poly beam/poly.npz)
    model=("${body[@]}" --probe $MIDDLE:z)
}

use_arch() {
    ln -s "$ARCH" arch
    body=(arch/arch.npz --basis arch/basis.npz --poly arch/poly.npz)
    model=("${body[@]}" --probe $TOP:z)
}

# What periodic.py prints, in the array `said`.
compare() {
    read -ra said < <("$PYTHON" "$BATS_TEST_DIRNAME/periodic.py" "$@") || fault "periodic.py $*"
}

# less A B: whether a number is less than another.
less() {
    awk "BEGIN { exit !($1 < $2) }"
}

# vibrate HZ FORCE VERTEX PERIODS STEPS EVERY MODEL…: a motion from rest under a harmonic load in z, in motion.npz, and its coordinates beside
# those of periods before in `said`.
vibrate() {
    local hz=$1 force=$2 vertex=$3 periods=$4 steps=$5 every=$6 basis=$8
    shift 6
    [ "$basis" != --model ] || basis=${*:5:1}
    [ "$2" != --basis ] || basis=$3
    echo "0,inf,vertex,$vertex,0,0,$force,sine:$hz:90" > sine.csv
    simulate -q "$@" --loads sine.csv --dt "$(awk "BEGIN { printf \"%.17g\", 1 / ($hz * $steps) }")" --steps $((periods * steps)) --every "$every" -o motion.npz ||
        fault "simulate: exit $?"
    compare period "$basis" "$vertex:z" motion.npz $((steps / every))
}

@test 'the backbone of a clamped beam is that of the exact mode' {
    needs_plain_build 'it compares numbers, and takes minutes'
    use_beam
    done_well simcurve "${model[@]}" --backbone --amplitude 0.03 --resolution 0.03 --csv points.csv -o out.npz
    # omega/omega_1 at amplitudes of 1, 3 and 5 radii of gyration, 0.02/sqrt(12) each
    awk -F, 'NR == 2 { first = $1 }
        NR > 1 {
            gyration = $3 * sqrt(12) / 0.02
            for (k = 1; k <= 5; k += 2)
                if (before < k && gyration >= k)
                    ratio[k] = (last + (k - before) / (gyration - before) * ($1 - last)) / first
            before = gyration
            last = $1
        }
        function off(k, exact) { return ratio[k] > exact ? ratio[k] / exact - 1 : 1 - ratio[k] / exact }
        END {
            print ratio[1], ratio[3], ratio[5]
            exit !(off(1, 1.022199) < 0.002 && off(3, 1.183158) < 0.002 && off(5, 1.448882) < 0.004)
        }' points.csv > said || fault "the backbone is off: $(< said)"
    no_faults
}

@test 'a response has both folds, and its energy is balanced' {
    needs_plain_build 'it compares numbers, and takes minutes'
    use_beam
    done_well simcurve "${model[@]}" --response --loads beam/pull.csv --range 95,140 --damping-mass 6.5 -o out.npz
    holds out.npz 'r["folds"] == 2 and r["complete"] is True and r["worst_balance"] < 1e-8 and r["worst_residual"] < 1e-8 and r["worst_event"] < 1e-4'
    done_well simcurve "${model[@]}" --response --loads beam/pull.csv --range 95,140 --damping-mass 6.5 --threads 2 -o again.npz
    same_bytes out.npz again.npz 'a second run'
    ending= done_well siminfo out.npz
    grep -q '^points    2 folds$' "$stdout" && grep -q '^curve .* points in 2 coordinates with 7 harmonics' "$stdout" || fault "siminfo: $(< "$stdout")"
    done_well simcurve "${model[@]}" --force-sweep --frequency 112 --loads beam/pull.csv --range 0,4 --damping-mass 6.5 -o sweep.npz
    holds sweep.npz 'r["folds"] == 2 and r["complete"] is True and r["worst_event"] < 1e-4'
    try simverify -q out.npz sweep.npz --mesh beam/beam.npz --basis beam/basis.npz
    [ "$code" = 0 ] && [ "$(grep -c '^ok .* multiplier 1 at folds' "$stdout")" = 2 ] && grep -q '^ok .*frequencies beyond folds' "$stdout" &&
        grep -q '^ok .*factors beyond folds' "$stdout" || fault "exit $code: $(cat "$stdout")"
    no_faults
}

@test 'one harmonic does not have the folds of the motion in time: simcurve warns and simverify fails' {
    needs_plain_build 'it compares numbers, and takes minutes'
    use_beam
    try simcurve "${model[@]}" --response --loads beam/pull.csv --range 95,140 --damping-mass 6.5 --harmonics 1 -o out.npz
    [ "$code" = 0 ] && [[ $err == *'a Floquet multiplier is off by '*': 1 harmonics are too few there'* ]] || fault "exit $code: $err"
    holds out.npz 'r["worst_event"] > 1e-3'
    try simverify -q out.npz
    [ "$code" = 1 ] && grep -q '^FAIL out.npz multiplier 1 at folds' "$stdout" || fault "exit $code: $(cat "$stdout")"
    no_faults
}

@test 'a backbone has multipliers on the unit circle, in pairs of product 1' {
    needs_plain_build 'it compares numbers, and takes minutes'
    needs_numpy
    use_arch
    # the first mode is antisymmetric and does not move the probe
    simcurve -q "${model[@]}" --mode 2 --backbone --amplitude 0.002 --points 10 -o out.npz || fault "exit $?"
    "$PYTHON" -c 'import numpy as np
m = np.load("out.npz")["multiplier"]
size = np.hypot(m[..., 0], m[..., 1])
assert abs(size[0] - 1).max() < 1e-4 and abs(size * size[:, ::-1] - 1).max() < 1e-5, size' || fault 'the multipliers are not'
    no_faults
}

@test 'a response between its folds is that of a sweep up and down, at twenty frequencies' {
    takes_long
    needs_plain_build 'it compares numbers, and takes minutes'
    needs_numpy
    use_beam
    local first direction time dt
    echo "0,inf,vertex,$MIDDLE,0,0,450" > load.csv
    done_well simcurve "${model[@]}" --response --loads load.csv --range 100,130 --damping-mass 20 --resolution 0.003 -o out.npz
    for direction in up down; do
        # two seconds of each frequency, so that transients decay by exp(-20); the error of the time steps is largest near the lower fold
        first=104 dt=1e-5
        [ $direction = up ] || first=123 dt=5e-6
        for ((time = 0; time < 40; time += 2)); do
            echo "$time,$((time + 2)),vertex,$MIDDLE,0,0,450,sine:$([ $direction = up ] && echo $((first + time / 2)) || echo $((first - time / 2))):90"
        done > sweep.csv
        simulate -q "${body[@]}" --loads sweep.csv --damping-mass 20 --dt $dt --steps "$(awk "BEGIN { printf \"%.0f\", 40 / $dt }")" --every 20 -o motion.npz || fault "exit $?"
        compare sweep out.npz beam/basis.npz $MIDDLE:z points.csv $direction $first motion.npz
        [ "${said[0]} ${said[1]}" = '20 10' ] && less "${said[2]}" 1e-4 || fault "$direction: ${said[*]}"
    done
    no_faults
}

@test 'internal resonance 1:2 of a shallow arch: two peaks, as time integration has them' {
    takes_long
    needs_plain_build 'it compares numbers, and takes minutes'
    needs_numpy
    use_arch
    local hz
    echo "0,inf,vertex,$TOP,0,0,-40" > load.csv
    done_well simcurve "${model[@]}" --response --loads load.csv --range 148,170 --damping-mass 12 --resolution 0.1 --csv points.csv -o out.npz
    awk -F, 'NR > 2 && $3 > before { up = 1 } NR > 2 && $3 < before && up { peaks++; up = 0 } { before = $3 } END { exit peaks != 2 }' points.csv || fault 'not two peaks'
    for hz in 158 159.5 160.5; do
        vibrate $hz -40 $TOP 300 1600 16 "${body[@]}" --damping-mass 12
        amplitude=$(awk -F, -v hz=$hz 'NR > 2 && (last - hz) * ($1 - hz) <= 0 { print before + (hz - last) / ($1 - last) * ($3 - before) } { last = $1; before = $3 }' points.csv)
        less "(${said[0]} / $amplitude - 1) ^ 2" 1e-6 || fault "$hz Hz: ${said[*]}, not $amplitude"
    done
    no_faults
}

@test 'between two period doublings time integration repeats after two periods, elsewhere after one' {
    takes_long
    needs_plain_build 'it compares numbers, and takes minutes'
    needs_numpy
    use_arch
    local hz
    echo "0,inf,vertex,$TOP,0,0,-150" > load.csv
    done_well simcurve "${model[@]}" --response --loads load.csv --range 300,335 --damping-mass 20 --csv points.csv -o out.npz
    holds out.npz 'r["period_doublings"] == 2'
    awk -F, '$6 == 3 { at[++n] = $1 } END { exit !(at[1] > 314 && at[1] < 316 && at[2] > 321 && at[2] < 323) }' points.csv || fault "$(grep ',3$' points.csv)"
    for hz in 313 317 319 324; do
        vibrate $hz -150 $TOP 500 200 2 "${body[@]}" --damping-mass 20
        if [ $hz = 317 ] || [ $hz = 319 ]; then
            less 0.01 "${said[1]}" && less "${said[2]}" 1e-4 || fault "$hz Hz: ${said[*]}"
        else
            less "${said[1]}" 1e-6 || fault "$hz Hz: ${said[*]}"
        fi
    done
    no_faults
}

@test 'a cubature has the response that time integration has in it' {
    needs_plain_build 'it compares numbers, and takes minutes'
    needs_numpy
    use_beam
    local hyper=(beam/beam.npz --model cubature --basis beam/basis.npz --cub beam/cub.npz)
    done_well simcurve "${hyper[@]}" --probe $MIDDLE:z --response --loads beam/pull.csv --range 90,96 --damping-mass 60 --csv points.csv -o out.npz
    vibrate 96 150 $MIDDLE 40 200 2 "${hyper[@]}" --damping-mass 60
    less "(${said[0]} / $(tail -n 1 points.csv | cut -d , -f 3) - 1) ^ 2" 1e-6 || fault "${said[*]}, not $(tail -n 1 points.csv)"
    no_faults
}

@test 'acceleration of the base is the body force -m a, and a constant load moves the mean to the equilibrium' {
    needs_plain_build 'it compares numbers, and takes minutes'
    needs_numpy
    use_beam
    # 7800 kg/m3 in 1 m x 0.03 m x 0.02 m
    echo '0,inf,all,,0,0,-46.8' > all.csv
    done_well simcurve "${model[@]}" --response --loads all.csv --range 95,105 --damping-mass 6.5 --csv force.csv -o out.npz
    done_well simcurve "${model[@]}" --response --base-acceleration 0,0,10 --range 95,105 --damping-mass 6.5 --csv base.csv -o out.npz
    paste -d , force.csv base.csv | awk -F, 'NR > 1 { d = $3 / $9 - 1; if (d * d > 1e-16) bad = 1 } END { exit bad }' || fault 'amplitudes differ'
    echo "0,inf,vertex,$MIDDLE,0,0,400" > still.csv
    echo "0,inf,vertex,$MIDDLE,0,0,1e-4" > small.csv
    done_well simcurve "${model[@]}" --response --loads small.csv --static-loads still.csv --range 80,100 --damping-mass 6.5 -o out.npz
    simulate -q "${body[@]}" --integrator static --loads still.csv -o still.npz
    "$PYTHON" -c 'import numpy as np
still = np.load("still.npz")
q = [still[name] for name in still.files if name.startswith("q/")][-1][-1]
mean = np.load("out.npz")["coefficient"][:, 0]
assert len(mean) > 10 and abs(mean - q).max() < 1e-9 * abs(q).max(), (q, mean[0], mean[-1])' || fault 'the mean is not the equilibrium'
    no_faults
}

@test 'the motion of a point is a trajectory with balanced energies, and the full-order model is near it' {
    needs_plain_build 'it compares numbers, and takes minutes'
    use_beam
    local loads=(--loads beam/pull.csv --damping-mass 6.5) of=(simcurve beam/beam.npz --basis beam/basis.npz --poly beam/poly.npz --of curve.npz)
    simcurve -q "${model[@]}" --response "${loads[@]}" --range 95,105 --residual -o curve.npz
    holds curve.npz '0.01 < r["worst_full_residual"] < 0.1'
    done_well "${of[@]}" "${loads[@]}" --point 9 --frames 50 --periods 2 --residual --check-full --steps 400 -o out.npz
    holds out.npz '0.01 < r["full_residual"] < 0.1 and r["closing_position"] < 0.05 and r["closing_velocity"] < 0.05'
    ending= done_well simverify out.npz beam/poly.npz --mesh beam/beam.npz --basis beam/basis.npz --balance 1e-6
    grep -q 'frames: 101 with' "$stdout" || fault "$(< "$stdout")"
    simexport -q beam/beam.npz beam/basis.npz out.npz --probe $MIDDLE -o motion.csv || fault "exit $?"
    # the first and the last frame are one motion, and half the range of the probe is the amplitude of the point
    awk -F, 'NR == 2 { first = $8 } NR > 1 { high = $8 > high ? $8 : high; low = $8 < low ? $8 : low; last = $8 } END { print (high - low) / 2; exit !((last - first) ^ 2 < 1e-20) }' motion.csv > range || fault 'the motion does not close'
    simexport -q curve.npz -o curve.csv
    awk -F, -v range="$(< range)" 'NR == 11 { exit !((range / $3 - 1) ^ 2 < 1e-4) }' curve.csv || fault "$(< range): $(sed -n 11p curve.csv)"
    refused 2 'point 9 is not a motion of this model under these loads' "${of[@]}" --loads beam/pull.csv --damping-mass 6 --point 9 -o out.npz
    refused 2 'has 5[0-9]* points, counted from 0|has [0-9]* points, counted from 0' "${of[@]}" "${loads[@]}" --point 9999 -o out.npz
    refused 2 'it has 2 coordinates, the model has 1' "${of[@]}" --rank 1 "${loads[@]}" -o out.npz
    simcurve -q "${model[@]}" --backbone --amplitude 0.001 -o curve.npz
    refused 2 'loads means nothing for a backbone curve' "${of[@]}" "${loads[@]}" -o out.npz
    done_well "${of[@]}" --point 1 -o out.npz
    no_faults
}

@test 'a larger basis leaves a smaller residual in the full-order model' {
    needs_plain_build 'it compares numbers, and takes minutes'
    use_beam
    modes -q beam/beam.npz -k 6 -o modes.npz
    modalderiv -q beam/beam.npz modes.npz -o deriv.npz
    masspca -q beam/beam.npz modes.npz deriv.npz -r 20 -o basis.npz
    polycoef -q beam/beam.npz basis.npz -o poly.npz
    local small large
    simcurve -q "${model[@]}" --response --loads beam/pull.csv --range 100,102 --damping-mass 6.5 --residual --csv small.csv -o out.npz
    simcurve -q beam/beam.npz --basis basis.npz --poly poly.npz --probe $MIDDLE:z --response --loads beam/pull.csv --range 100,102 --damping-mass 6.5 --residual --csv large.csv -o out.npz
    small=$(tail -n 1 small.csv | cut -d , -f 7) large=$(tail -n 1 large.csv | cut -d , -f 7)
    less "$large" "0.7 * $small" || fault "$large is not less than $small"
    no_faults
}

@test 'a curve that is interrupted goes on to the same bytes' {
    use_beam
    local run=(simcurve "${model[@]}" --response --loads beam/pull.csv --range 95,140 --damping-mass 6.5 --residual --resolution 0.001 --points 600 -q)
    "${run[@]}" --csv whole.csv -o whole.npz || fault "exit $?"
    "${run[@]}" --checkpoint run.checkpoint -o run.npz 3>&- &
    while kill -0 $! 2> /dev/null && [ "$(stat -c %s run.checkpoint 2> /dev/null || echo 0)" -le 60 ]; do
        sleep 0.01
    done
    kill -s KILL $! 2> /dev/null || true
    wait $! 2> /dev/null || true
    rm -f .supple-*
    [ -e run.checkpoint ] || fault 'it was not interrupted in time'
    "${run[@]}" --checkpoint run.checkpoint --partial -o part.npz || fault "--partial: exit $?"
    holds part.npz 'r["complete"] is False and 1 < r["points"]'
    "${run[@]}" --checkpoint run.checkpoint --csv run.csv -o run.npz || fault "exit $?"
    same_bytes whole.npz run.npz 'the curve'
    same_bytes whole.csv run.csv 'the table'
    [ ! -e run.checkpoint ] || fault 'the checkpoint stays'
    no_faults
}

@test 'a continuation that fails keeps its points' {
    use_beam
    echo "0,inf,vertex,$MIDDLE,0,0,1e4" > huge.csv
    rm -f out.npz
    try simcurve "${model[@]}" --force-sweep --frequency 112 --harmonics 2 --loads huge.csv --resolution 1 --damping-mass 6.5 -q -o out.npz
    [ "$code" = 5 ] && [[ $err =~ ^simcurve:\ out.npz:\ it\ has\ the\ [0-9]+\ points\ before\ the\ failure ]] || fault "exit $code: $err"
    holds out.npz 'r["complete"] is False and r["points"] > 3'
    no_faults
}

@test 'simverify computes what a curve claims' {
    use_beam
    local of=(--mesh beam/beam.npz --basis beam/basis.npz beam/poly.npz)
    simcurve -q "${model[@]}" --backbone --amplitude 0.002 -o curve.npz
    simcurve -q "${model[@]}" --response --loads beam/pull.csv --range 95,115 --damping-mass 6.5 -o response.npz
    try simverify -q curve.npz response.npz "${of[@]}"
    [ "$code" = 0 ] && grep -q '^ok   curve.npz harmonic balance' "$stdout" || fault "$(cat "$stdout")"
    "$PYTHON" "$BATS_TEST_DIRNAME/falsify.py" curve.npz bad.npz frequency 1 1.0001
    try simverify -q bad.npz "${of[@]}"
    [ "$code" = 1 ] && grep -q '^FAIL bad.npz harmonic balance' "$stdout" || fault "exit $code: $(cat "$stdout")"
    "$PYTHON" "$BATS_TEST_DIRNAME/falsify.py" response.npz bad.npz amplitude 2 1.01
    try simverify -q bad.npz "${of[@]}"
    [ "$code" = 1 ] && grep -q '^FAIL bad.npz amplitudes' "$stdout" || fault "exit $code: $(cat "$stdout")"
    "$PYTHON" "$BATS_TEST_DIRNAME/falsify.py" response.npz bad.npz multiplier 0 1e6
    try simverify -q bad.npz "${of[@]}"
    [ "$code" = 1 ] && grep -q '^FAIL bad.npz stable where' "$stdout" || fault "exit $code: $(cat "$stdout")"
    no_faults
}

@test 'plot-periodic draws solid and dashed parts, and refuses other tables' {
    use_beam
    PATH=$SUPPLE_SOURCE/scripts:$PATH
    command -v gnuplot > /dev/null || skip 'no gnuplot'
    simcurve -q "${model[@]}" --response --loads beam/pull.csv --range 95,140 --damping-mass 6.5 --csv curve.csv -o out.npz
    printf 'frequency_Hz,amplitude_m\n100,0.001\n' > theory.csv
    plot-periodic picture.svg 'A beam' curve.csv:'150 N' theory.csv || fault "exit $?"
    for word in 'A beam' '150 N' theory fold unstable 'frequency Ω/2π \[Hz\]' 'amplitude \[mm\]'; do
        grep -q "$word" picture.svg || fault "no $word"
    done
    grep -q 'stroke-dasharray' picture.svg || fault 'no dashes'
    plot-periodic --size 600x400 picture.png 'A beam' curve.csv || fault "exit $?"
    echo a,b > bad.csv
    refused 3 'bad.csv: it has no columns frequency_Hz' plot-periodic picture.png x bad.csv
    refused 3 'none.csv: no such file' plot-periodic picture.png x none.csv
    try plot-periodic picture.png x
    [ "$code" = 2 ] && [[ $err == usage:* ]] || fault "exit $code: $err"
    no_faults
}

@test 'polynomials and Galerkin projection have the same response' {
    use_beam
    done_well simcurve "${model[@]}" --response --loads beam/pull.csv --range 95,98 --damping-mass 6.5 --csv poly.csv -o out.npz
    done_well simcurve beam/beam.npz --model galerkin --basis beam/basis.npz --probe $MIDDLE:z --response --loads beam/pull.csv --range 95,98 --damping-mass 6.5 --csv galerkin.csv -o out.npz
    awk -F, 'NR == FNR { end = $3; next } { other = $3 } END { d = end / other - 1; exit !(d * d < 1e-12) }' poly.csv galerkin.csv ||
        fault "the amplitudes differ: $(tail -q -n 1 poly.csv galerkin.csv)"
    no_faults
}

@test 'a backbone starts on its linear mode whatever the basis is' {
    use_beam
    # columns of POD, of which the first one is axial: 1 % of the amplitude on it would be far beyond the linear range
    modes -q beam/beam.npz -k 4 -o modes.npz
    modalderiv -q beam/beam.npz modes.npz -o deriv.npz
    masspca -q beam/beam.npz modes.npz deriv.npz -r 4 -o basis.npz
    polycoef -q beam/beam.npz basis.npz -o poly.npz
    local of=(beam/beam.npz --basis basis.npz --poly poly.npz --backbone)
    done_well simcurve "${of[@]}" --amplitude 0.001 --points 3 --csv curve.csv -o out.npz
    # the bending frequency of a clamped beam, (4.7300/L)^2 sqrt(EI/(rho A)) / (2 pi) with h = 0.02 m, less than 1 % for shear
    awk -F, 'NR == 2 { exit !($1 > 103 && $1 < 106 && $3 > 0.9e-5 && $3 < 1.1e-5) }' curve.csv || fault "$(head -n 2 curve.csv)"
    refused 2 'the motion where (it|the curve) starts is too large' simcurve "${of[@]}" --amplitude 3 -o out.npz
    no_faults
}

@test 'what simcurve refuses' {
    use_beam
    refused 2 'there is no damping, and the range of frequencies contains the resonance of mode 1' simcurve "${model[@]}" --response --loads beam/pull.csv --range 95,140 -o out.npz
    refused 2 'have no component in the basis' simcurve "${model[@]}" --response --range 95,140 --damping-mass 1 -o out.npz
    refused 2 'harmonics' simcurve "${model[@]}" --response --loads beam/pull.csv --range 95,140 --harmonics 0 -o out.npz
    refused 2 'name one of' simcurve "${model[@]}" -o out.npz
    refused 2 'needs the frequencies' simcurve "${model[@]}" --response -o out.npz
    refused 2 'not a range' simcurve "${model[@]}" --response --range 5,4 -o out.npz
    refused 2 'where it ends' simcurve "${model[@]}" --backbone -o out.npz
    refused 2 'the mode 1 at 104.8.* Hz is outside of --range 5,6' simcurve "${model[@]}" --backbone --amplitude 1 --range 5,6 -o out.npz
    refused 2 '3 of 2 modes' simcurve "${model[@]}" --backbone --amplitude 1 --mode 3 -o out.npz
    "$PYTHON" "$SUPPLE_SOURCE/samples/resonance/model.py" 4 1 0.02 0.02 0 > square.inp
    simimport -q square.inp -o square.npz
    modes -q square.npz -k 2 -o modes.npz
    polycoef -q square.npz modes.npz -o poly.npz
    refused 2 'modes 1 and 2 have the same frequency' simcurve square.npz --basis modes.npz --poly poly.npz --backbone --amplitude 0.01 -o out.npz
    echo 0,1,vertex,3,0,0,1 > short.csv
    refused 2 'acts from 0 to 1 s' simcurve "${model[@]}" --response --loads short.csv --range 95,140 --damping-mass 1 -o out.npz
    for course in sine:50 'table:0 0;1 2'; do
        echo "0,inf,vertex,3,0,0,1,$course" > course.csv
        refused 2 'load 1 has a course' simcurve "${model[@]}" --response --loads course.csv --range 95,140 --damping-mass 1 -o out.npz
        refused 2 'load 1 has a course' simcurve "${model[@]}" --response --loads beam/pull.csv --static-loads course.csv --range 95,140 --damping-mass 1 -o out.npz
    done
    no_faults
}
