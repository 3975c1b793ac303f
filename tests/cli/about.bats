#!/usr/bin/env bats
# Modes about a static equilibrium and linear buckling: beam theory, published frequencies of a rotating beam, CalculiX, and refusals.

load common

beam() {
    "$PYTHON" "$BATS_TEST_DIRNAME/about.py" "$@"
}

# square TYPE NX FILE: a beam of 1 m x 0.02 m x 0.02 m, 1 GPa, 1000 kg/m3, without contraction, so that the clamp does not stiffen it.
square() {
    beam deck "$1" "$2" 1 1 1 0.02 1e9 0 "$3"
}

# hertz FILE, factors FILE
hertz() {
    siminfo "$1" | awk '$3 == "Hz" { print $2 }'
}
factors() {
    siminfo "$1" | awk '$2 == "load" && $3 == "factor" { print $4 }'
}

# near MEASURED EXPECTED TOLERANCE WHAT: relative.
near() {
    awk -v a="$1" -v b="$2" -v t="$3" 'BEGIN { d = a / b - 1; exit !(a != "" && b != "" && d < t && -d < t) }' || fault "$4: $1, not $2"
}

needs_ccx() {
    command -v ccx > /dev/null || skip 'ccx is not installed: nothing to compare with'
}

# tip DECK: the vertices of its set TIP.
tip() {
    awk '/^\*/ { on = /NSET=TIP/; next } on { print $1 - 1 }' "$1"
}

@test "frequencies of a rotating beam" {
    needs_plain_build 'it compares numbers, and takes minutes'
    needs_numpy
    # Wright, Smith, Thresher and Wang, "Vibration modes of centrifugally stiffened beams", J. Appl. Mech. 49 (1982): the first flap frequency of a
    # uniform beam that is clamped at the axis, in units of sqrt(EI / (m L^4)), as is the speed. In the plane of rotation (lag), where the
    # centrifugal stiffness acts, the square of the frequency is less by that of the speed. Ours are lower by shear and rotary inertia, 2e-4.
    local -A published=([0]=3.5160 [1]=3.6816 [2]=4.1373 [3]=4.7973 [4]=5.5850 [6]=7.3604)
    local type eta unit speed lag flap
    unit=$(awk 'BEGIN { print sqrt(1e9 * 0.02 ^ 4 / 12 / (1000 * 0.02 ^ 2)) }')
    for eta in "${!published[@]}"; do
        near "$(beam rotating "$eta")" "${published[$eta]}" 2e-5 "beam theory at $eta"
    done
    for type in C3D20 C3D10 C3D8I; do
        square $type 20 beam.inp
        simimport beam.inp -q -o mesh.npz
        for eta in 1 2 4 6; do
            speed=$(awk -v u="$unit" -v e=$eta 'BEGIN { printf "%.15g", e * u }')
            echo "0,inf,rotation,,0,0,$speed,0,0,0" > turn.csv
            simfull mesh.npz --integrator static --loads turn.csv -q -o static.npz
            modes mesh.npz --about static.npz --loads turn.csv -k 2 -q -o modes.npz
            read -r -d '' lag flap < <(hertz modes.npz | awk -v u="$unit" '{ printf "%.9g ", 2 * 3.141592653589793 * $1 / u }') || true
            near "$flap" "${published[$eta]}" 5e-4 "$type, flap at $eta"
            near "$(awk -v l="$lag" -v e=$eta 'BEGIN { print sqrt(l * l + e * e) }')" "${published[$eta]}" 5e-4 "$type, lag at $eta"
            echo "$type, speed $eta: flap $flap (${published[$eta]}), lag $lag"
        done
    done
    no_faults
}

@test "frequencies of pulled and of tight beams" {
    needs_plain_build 'it compares numbers, and takes minutes'
    needs_numpy
    local type v unit force bending expected
    unit=$(awk 'BEGIN { print sqrt(1e9 * 0.02 ^ 4 / 12 / (1000 * 0.02 ^ 2)) / (2 * 3.141592653589793) }')
    for type in C3D20 C3D10 C3D8I; do
        square $type 20 beam.inp
        simimport beam.inp -q -o mesh.npz
        # a dead force of 5 EI/L2 at the end, which stretches by 2e-4
        force=$(awk 'BEGIN { print 5 * 1e9 * 0.02 ^ 4 / 12 }')
        echo "0,inf,set,END,$force,0,0" > pull.csv
        simfull mesh.npz --integrator static --loads pull.csv -q -o static.npz
        modes mesh.npz --about static.npz --loads pull.csv -k 1 -q -o modes.npz
        expected=$(beam pulled 5)
        near "$(hertz modes.npz | head -n 1)" "$(awk -v a="$expected" -v u="$unit" 'BEGIN { print a * u }')" 1e-3 "$type, pulled"
        # Both ends fixed, one of them moved by 1 percent, a stretch of s = 1.01. In coordinates at rest the tension is E A (s2 - 1) / 2, and a
        # section turns by w' / s, so that the stiffness in bending is E I (3 s2 - 1) / (2 s2).
        for v in $(tip beam.inp); do
            printf '0,%d,0,0,0\n1,%d,0.01,0,0\n' "$v" "$v"
        done > moved.csv
        simfull mesh.npz --integrator static --prescribe-vertices moved.csv --dt 1 --steps 1 -q -o static.npz
        modes mesh.npz --about static.npz -k 1 -q -o modes.npz
        ending= done_well simverify mesh.npz static.npz modes.npz -q
        bending=$(awk 'BEGIN { print (3 * 1.01 ^ 2 - 1) / (2 * 1.01 ^ 2) }')
        expected=$(beam tight "$(awk -v b="$bending" 'BEGIN { print (1.01 ^ 2 - 1) / 2 * 12 / 0.02 ^ 2 / b }')")
        near "$(hertz modes.npz | head -n 1)" "$(awk -v a="$expected" -v u="$unit" -v b="$bending" 'BEGIN { print a * u * sqrt(b) }')" 1e-3 "$type, tight"
        echo "$type, tight: $(hertz modes.npz | head -n 1)"
    done
    no_faults
}

@test "the columns of Euler" {
    needs_plain_build 'it compares numbers, and takes minutes'
    needs_numpy
    local type v euler count
    euler=$(awk 'BEGIN { print 3.141592653589793 ^ 2 * 1e9 * 0.02 ^ 4 / 12 }') # pi2 EI / L2
    for type in C3D20 C3D10 C3D8I; do
        count=20
        [ $type != C3D8I ] || count=40 # a shape is linear along each element
        square $type $count beam.inp
        simimport beam.inp -q -o mesh.npz
        echo '0,inf,set,END,-1,0,0' > push.csv
        simfull mesh.npz --model linear --integrator static --loads push.csv -q -o linear.npz
        done_well modes mesh.npz --buckling linear.npz --loads push.csv -k 4 --certify -q -o shapes.npz
        # clamped and free: (n - 1/2)2 pi2 EI / L2, twice each for a square
        near "$(factors shapes.npz | sed -n 1p)" "$(awk -v e="$euler" 'BEGIN { print e / 4 }')" 1e-3 "$type, clamped and free"
        near "$(factors shapes.npz | sed -n 4p)" "$(awk -v e="$euler" 'BEGIN { print e * 9 / 4 }')" 5e-3 "$type, second pair"
        ending= done_well simverify mesh.npz linear.npz shapes.npz --loads push.csv -q
        # clamped at both ends, shortened by u: the force is E A u / L
        for v in $(tip beam.inp); do
            printf '0,%d,0,0,0\n1,%d,-1e-6,0,0\n' "$v" "$v"
        done > moved.csv
        simfull mesh.npz --model linear --integrator static --prescribe-vertices moved.csv --dt 1 --steps 1 -q -o linear.npz
        done_well modes mesh.npz --buckling linear.npz -k 2 -q -o shapes.npz
        near "$(factors shapes.npz | head -n 1)" "$(awk -v e="$euler" 'BEGIN { print 4 * e / (1e9 * 0.02 ^ 2 * 1e-6) }')" 5e-3 "$type, clamped twice"
        ending= done_well simverify mesh.npz linear.npz shapes.npz -q
    done
    no_faults
}

# compare WHAT TOLERANCE: ours.txt and theirs.txt.
compare() {
    local verdict
    verdict=$(paste ours.txt theirs.txt | awk -v t="$2" '{ d = $1 / $2 - 1; if (d < 0) d = -d; if (d > worst) worst = d } END { print worst; exit !(NR >= 4 && worst < t) }') ||
        fault "$1: $verdict: $(paste ours.txt theirs.txt | tr '\n' ' ')"
    echo "$1: they differ by $verdict"
}

# less_mass MESH: sets `mass` to the option with the mass of CalculiX, which integrates it at fewer points in C3D10.
less_mass() {
    mass=()
    [ $type = C3D10 ] || return 0
    modes "$1" -k 1 -q --write-mass M.npz -o unused.npz
    "$PYTHON" "$BATS_TEST_DIRNAME/typed_mass.py" "$1" M.npz less.npz
    mass=(--mass less.npz)
}

@test "prestressed frequencies and buckling loads of CalculiX" {
    needs_plain_build 'it compares numbers, and takes minutes'
    needs_ccx
    needs_numpy
    local type nodes share mass
    for type in C3D8 C3D10 C3D20; do
        beam deck $type 6 2 1 1 0.2 1e9 0.3 beam.inp
        simimport beam.inp -q -o mesh.npz
        nodes=$(tip beam.inp | wc -l)
        share=$(awk -v n="$nodes" 'BEGIN { printf "%.12g", 400000 / n }')

        { cat beam.inp; printf '*STEP, NLGEOM\n*STATIC\n1., 1.\n*CONTROLS, PARAMETERS=FIELD\n1e-9, 1e-9\n*CLOAD\nTIP, 1, %s\n*END STEP\n*STEP, PERTURBATION\n*FREQUENCY\n5\n*END STEP\n' "$share"; } > run.inp
        OMP_NUM_THREADS=1 ccx run > ccx.log 2>&1
        awk '$1 ~ /^[0-9]+$/ && NF == 5 { print $4 }' run.dat | head -n 5 > theirs.txt
        echo '0,inf,set,TIP,400000,0,0' > pull.csv
        simfull mesh.npz --integrator static --loads pull.csv -q -o static.npz
        less_mass mesh.npz
        modes mesh.npz --about static.npz --loads pull.csv -k 5 -q "${mass[@]}" -o modes.npz
        hertz modes.npz | head -n 5 > ours.txt
        compare "$type, pulled" 1e-6

        # At 20 rad/s frequencies change by up to 6e-3. CalculiX evaluates the load at the deformed place, which changes them by 1e-6.
        { cat beam.inp; printf '*STEP, NLGEOM\n*STATIC\n1., 1.\n*CONTROLS, PARAMETERS=FIELD\n1e-9, 1e-9\n*DLOAD\nEALL, CENTRIF, 400., 0., 0., 0., 0., 0., 1.\n*END STEP\n*STEP, PERTURBATION\n*FREQUENCY\n5\n*END STEP\n'; } > run.inp
        OMP_NUM_THREADS=1 ccx run > ccx.log 2>&1
        awk '$1 ~ /^[0-9]+$/ && NF == 5 { print $4 }' run.dat | head -n 5 > theirs.txt
        echo '0,inf,rotation,,0,0,20,0,0,0' > turn.csv
        simfull mesh.npz --integrator static --loads turn.csv -q -o static.npz
        modes mesh.npz --about static.npz --loads turn.csv -k 5 -q "${mass[@]}" -o modes.npz
        hertz modes.npz | head -n 5 > ours.txt
        compare "$type, rotating" 3e-6

        share=$(awk -v n="$nodes" 'BEGIN { printf "%.12g", -1 / n }')
        { cat beam.inp; printf '*STEP\n*BUCKLE\n4, 1e-8\n*CLOAD\nTIP, 1, %s\n*END STEP\n' "$share"; } > run.inp
        OMP_NUM_THREADS=1 ccx run > ccx.log 2>&1
        awk '$1 ~ /^[0-9]+$/ && NF == 2 { print $2 }' run.dat > theirs.txt
        echo '0,inf,set,TIP,-1,0,0' > push.csv
        simfull mesh.npz --model linear --integrator static --loads push.csv -q -o linear.npz
        modes mesh.npz --buckling linear.npz --loads push.csv -k 4 -q -o shapes.npz
        factors shapes.npz | head -n 4 > ours.txt
        compare "$type, buckling" 1e-6
    done
    no_faults
}

# Loads, a static equilibrium and a linear static solution of mesh.npz.
statics() {
    echo '0,inf,all,,0,0,-3' > weight.csv
    simfull mesh.npz --integrator static --loads weight.csv -q -o static.npz
    simfull mesh.npz --model linear --integrator static --loads weight.csv -q -o linear.npz
}

@test "bytes, provenance and springs" {
    local ending=.npz option file
    statics
    for option in about buckling; do
        file=static.npz
        [ $option = about ] || file=linear.npz
        done_well modes mesh.npz --$option $file --loads weight.csv -k 5 -t 1 -o a.npz
        done_well modes mesh.npz --$option $file --loads weight.csv -k 5 -t 4 -o b.npz
        same_bytes a.npz b.npz "--$option and threads"
        modes mesh.npz --$option - --loads weight.csv -k 5 -q -o c.npz < $file
        [ "$(siminfo a.npz | sed -n '/^result/,/^members/p')" = "$(siminfo c.npz | sed -n '/^result/,/^members/p')" ] || fault "--$option from a pipe"
        ending= done_well simverify mesh.npz $file a.npz --loads weight.csv -q
        siminfo --stale a.npz mesh.npz $file weight.csv > said.txt || fault "stale: $(< said.txt)"
        siminfo --script a.npz > script.sh || fault 'no script'
        grep -q -- "--$option $file" script.sh || fault "script: $(tail -n 3 script.sh)"
    done
    # shapes of buckling: their factors in VTU files and below pictures, their amplitude as that of modes
    modes mesh.npz --buckling linear.npz --loads weight.csv -k 3 -q -o shapes.npz
    ending=.vtu done_well simexport mesh.npz shapes.npz -o shapes.vtu
    grep -q load_factor shapes.vtu || fault 'no factors in the VTU file'
    ending=.glb done_well simexport mesh.npz shapes.npz -o shapes.glb
    ending=.png done_well simrender mesh.npz shapes.npz --columns 1 --size 160x120 --samples 1 -o shapes.png
    # K about the equilibrium is verified too
    modes mesh.npz --about static.npz --loads weight.csv -k 5 -q --write-stiffness K.npz -o a.npz
    ending= done_well simverify mesh.npz static.npz K.npz --loads weight.csv -q
    # a spring at rest changes nothing but the stiffness of its vertex: frequencies are those of K + k at its three diagonal entries
    needs_numpy
    "$PYTHON" - <<-'END'
	import numpy as np
	x = np.load('mesh.npz')['vertices'][40]
	open('spring.csv', 'w').write('0,inf,spring,40,%r,%r,%r,700\n' % tuple(map(float, x)))
	END
    simfull mesh.npz --integrator static --loads spring.csv -q -o static.npz
    modes mesh.npz --about static.npz --loads spring.csv -k 5 -q --write-stiffness K.npz -o a.npz
    modes mesh.npz -k 5 -q --write-stiffness K0.npz -o b.npz
    "$PYTHON" - <<-'END' || fault 'springs'
	import numpy as np
	a, b = np.load('K.npz'), np.load('K0.npz')
	difference = a['data'] - b['data']
	row = np.repeat(np.arange(len(a['indptr']) - 1), np.diff(a['indptr']))
	at = np.flatnonzero(abs(difference) > 1)
	assert len(at) == 3 and np.allclose(difference[at], 700) and (row[at] == a['indices'][at]).all() and (a['dof'][row[at]] // 3 == 40).all()
	END
    no_faults
}

@test "refusals" {
    local ending=.npz
    statics
    echo '0,inf,all,,0,0,-4' > other.csv
    modes mesh.npz --about static.npz --loads weight.csv -k 4 -q -o about.npz
    refused 3 'mesh.npz: it is a file of kind mesh, expected trajectory' modes mesh.npz --about mesh.npz -o out.npz
    refused 3 'static.npz: it was computed by simfull --model nonlinear, expected --model linear' modes mesh.npz --buckling static.npz --loads weight.csv -o out.npz
    refused 3 'linear.npz: it was computed by simfull --model linear, expected --model nonlinear' modes mesh.npz --about linear.npz --loads weight.csv -o out.npz
    refused 2 '^modes: --about: static.npz was computed under loads.*name them by --loads' modes mesh.npz --about static.npz -o out.npz
    refused 3 'other.csv: these are not the loads of static.npz' modes mesh.npz --about static.npz --loads other.csv -o out.npz
    refused 2 '--loads applies to --about and --buckling only' modes mesh.npz --loads weight.csv -o out.npz
    refused 2 '--about does not apply' modes mesh.npz --about static.npz --buckling linear.npz -o out.npz
    refused 2 '--derivatives does not apply' modes mesh.npz --about static.npz --loads weight.csv --derivatives d.npz -o out.npz
    refused 2 '--about applies to --method lanczos' modes mesh.npz --method inertia --about static.npz -o out.npz
    refused 3 'about.npz: its modes are about a static equilibrium' modalderiv mesh.npz about.npz -o out.npz
    simfull mesh.npz --loads weight.csv --dt 0.01 --steps 2 -q -o moving.npz
    refused 3 'moving.npz: it is not a static equilibrium' modes mesh.npz --about moving.npz --loads weight.csv -o out.npz
    simfull mesh.npz --loads weight.csv --integrator static --record probes --probe 3 -q -o probes.npz
    refused 3 'probes.npz: it records 1 of [0-9]+ vertices' modes mesh.npz --about probes.npz --loads weight.csv -o out.npz
    simfull mesh.npz --gravity 0,0,-1 --integrator static --ground 0,0,1,-1 -q -o ground.npz
    refused 3 'ground.npz: it was computed with --ground' modes mesh.npz --about ground.npz -o out.npz
    simfull mesh.npz --model linear --integrator static -q -o unloaded.npz
    refused 5 'no load factor is positive: the load causes no stress' modes mesh.npz --buckling unloaded.npz -o out.npz
    head -c 2000 static.npz > cut.npz
    refused 3 'cut.npz: the file is cut short or damaged' modes mesh.npz --about cut.npz --loads weight.csv -o out.npz
    voxelize bar.obj -n 6 --enlarge 1 --fill -q -o free.npz
    refused 3 'static.npz: it was made from another mesh' modes free.npz --about static.npz --loads weight.csv -o out.npz
    # a free body that springs hold
    printf '0,inf,spring,%d,0,0,0,1000\n' 0 3 9 20 > springs.csv
    simfull free.npz --integrator static --loads springs.csv -q -o held.npz
    refused 3 'free.npz: --about: the fixed vertices leave 6 rigid motions free' modes free.npz --about held.npz --loads springs.csv -o out.npz
    no_faults
}

@test "a shaft that turns about its own axis" {
    needs_numpy
    # Both frequencies in bending fall to sqrt(f2 - Omega2). Above the first critical speed, Omega = 2 pi f, the equilibrium is unstable.
    local ending=.npz first speed part
    square C3D20 20 beam.inp
    simimport beam.inp -q -o mesh.npz
    modes mesh.npz -k 2 -q -o rest.npz
    first=$(hertz rest.npz | head -n 1)
    for part in 0.5 0.9 1.1; do
        speed=$(awk -v f="$first" -v p=$part 'BEGIN { printf "%.15g", p * 2 * 3.141592653589793 * f }')
        echo "0,inf,rotation,,$speed,0,0,0,0,0" > turn.csv
        simfull mesh.npz --integrator static --loads turn.csv -q -o static.npz
        if [ $part = 1.1 ]; then
            refused 5 'static.npz: the tangent stiffness has 2 negative eigenvalues: the equilibrium is unstable' modes mesh.npz --about static.npz --loads turn.csv -k 2 -q -o out.npz
        else
            modes mesh.npz --about static.npz --loads turn.csv -k 2 -q -o modes.npz
            near "$(hertz modes.npz | head -n 1)" "$(awk -v f="$first" -v p=$part 'BEGIN { print f * sqrt(1 - p * p) }')" 1e-3 "at $part of the critical speed"
        fi
    done
    no_faults
}
