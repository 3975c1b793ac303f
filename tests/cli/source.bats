#!/usr/bin/env bats
# Models as C source (simexport NAME.c).

load common

# Makes the model model.c of 12 coordinates, or RANK, and compiles the program $1 of tests/cli/source with it. Further words are options of
# simexport.
model_program() {
    local program=$1 r=${RANK-12}
    shift
    if [ ! -f p$r.npz ]; then
        masspca mesh.npz modes.npz deriv.npz -r $r -q -o b$r.npz
        polycoef mesh.npz b$r.npz -q -o p$r.npz
    fi
    model=(mesh.npz --basis b$r.npz --poly p$r.npz)
    ending=.c
    done_well simexport mesh.npz b$r.npz p$r.npz --probe tip=30,12,surface:2 "$@" -o model.c
    compiles "$program"
}

# compiles PROGRAM: with model.o, which is made of model.c where that is newer.
compiles() {
    [ model.o -nt model.c ] || cc -O2 -std=c99 -c model.c -o model.o || fault 'model.c does not compile'
    cc -O2 -std=c99 -I. model.o "$BATS_TEST_DIRNAME/source/$1.c" -lm -o "$1" || fault "$1: does not compile"
}

# cubature_model VERTEX [OPTION]...: model.c of a cubature with these options of the body mesh.npz in 10 coordinates, whose basis is b.npz. The
# probe tip is the vertex.
cubature_model() {
    local vertex=$1
    shift
    if [ mesh.npz -nt b.npz ]; then
        { modes mesh.npz -q -k 4 -o m.npz && modalderiv mesh.npz m.npz -q -o d.npz && masspca mesh.npz m.npz d.npz -q -r 10 -o b.npz; } ||
            fault 'no basis'
    fi
    cubature mesh.npz b.npz --poses 40 --tolerance 0.03 -q "$@" -o c.npz || fault "cubature $*"
    model=(mesh.npz --basis b.npz --model cubature --cub c.npz)
    ending=.c
    done_well simexport mesh.npz b.npz c.npz --probe tip="$vertex" -o model.c
    strict=(-pedantic -Wall -Wextra -Wconversion -Werror -c -o model.o)
    gcc -std=c99 -O2 "${strict[@]}" model.c 2> warnings || fault "$*: $(head -5 warnings)"
    ! nm -u model.o | grep -vE ' (sqrt|mem(set|cpy|move)|_GLOBAL_OFFSET_TABLE_|__stack_chk_fail)$' || fault 'a library is needed'
}

# law KEYS: mesh.npz of hexahedra, whose material has these keys.
law() {
    echo "[{\"name\": \"body\", \"density\": 1000, $1}]" > materials.json
    voxelize bar.obj -q -n 6 --enlarge 1 --fill --fix-half-space 1,0,0,0 --materials materials.json -o mesh.npz || fault "$1"
}

# moves STEPS DT SEMI ALPHA BETA NEWMARK_BETA GAMMA G FORCE END BOUND: the C source and simulate give the same motion. Coordinates agree within
# BOUND of the largest. G and FORCE are vectors with commas.
moves() {
    local steps=$1 dt=$2 semi=$3 option=()
    [ "$semi" = 0 ] || option=(--semi-implicit)
    printf 't0,t1,kind,id,fx,fy,fz\n0,%s,vertex,%s,%s\n' "${10}" "${vertex-30}" "$9" > pull.csv
    simulate "${model[@]}" --loads pull.csv --dt "$dt" --steps "$steps" --damping-mass "$4" --damping-stiffness "$5" \
        --beta "$6" --gamma "$7" --gravity="$8" --halvings 0 "${option[@]}" -o motion.npz 2> simulate.err || fault "$*: $(< simulate.err)"
    # shellcheck disable=SC2086
    ./motion "$dt" "$steps" "$semi" "$4" "$5" "$6" "$7" ${8//,/ } ${9//,/ } "${10}" > motion.txt || fault "$*: exit $?"
    "$PYTHON" - "${11}" <<-'END' || fault "$*"
	import sys, numpy as np
	sys.path.insert(0, sys.path[0])
	f = np.load('motion.npz')
	q = np.concatenate([f[k] for k in sorted(f) if k.startswith('q/')])
	p = np.loadtxt('motion.txt')
	error = abs(p - q).max() / abs(q).max()
	print('# error', error, 'largest', abs(q).max())
	sys.exit(p.shape != q.shape or not error <= float(sys.argv[1]))
	END
}

@test "C source: the motion of simulate" {
    needs_numpy
    model_program motion
    for semi in 0 1; do
        moves 1000 0.01 $semi 0 0 0.25 0.5 0,0,-9.81 0,20,-300 1e9 1e-12
        moves 1000 0.01 $semi 0.5 0 0.25 0.5 0,0,0 10,200,-100 2.345 1e-12
        moves 1000 0.01 $semi 0.2 0.003 0.3025 0.6 1,0,-9.81 0,0,-300 1.2345 1e-12
    done
    no_faults
}

@test "C source of cubature: the motion of simulate" {
    takes_long
    needs_numpy
    local vertex=174 laws=('"young": 1e6, "poisson": 0.45, "law": "neo-hookean"'
        '"young": 1e6, "poisson": 0.3, "law": "corotational"'
        '"young": 1e6, "poisson": 0.3, "fibre": "fung", "fibre_stiffness": 1e5, "fibre_exponent": 2, "fibre_direction": [0.6, 0, 0.8]'
        '"young": 1e6, "poisson": 0.3, "law": "stable-neo-hookean", "fibre": "stvk", "fibre_stiffness": 1e5, "fibre_direction": [0.6, 0, 0.8]'
        '"law": "mooney-rivlin", "mooney": [1e5, 5e4, 1e6]'
        '"young": 1e6, "poisson": 0.3, "law": "isochoric-neo-hookean"'
        '"law": "linear", "stiffness": [2e6, 1e6, 1e6, 0, 0, 0, 2e6, 1e6, 0, 0, 0, 3e6, 0, 0, 0, 5e5, 0, 0, 6e5, 0, 7e5], "frame": [0, 1, 0, 0, 0, 1, 1, 0, 0]')
    for keys in "${laws[@]}"; do
        law "$keys"
        cubature_model $vertex
        compiles motion
        for semi in 0 1; do # deflections of half the length of the bar
            moves 200 0.01 $semi 0 0 0.25 0.5 0,0,-9.81 0,2000,-30000 1e9 1e-12
            moves 200 0.01 $semi 0.2 0.003 0.3025 0.6 1,0,-9.81 0,0,-30000 1.2345 1e-12
        done
        compiles check
        ./check > check.out || fault "$keys: check: exit $?"
        [ ! -s check.out ] || fault "$keys: $(< check.out)"
    done
    no_faults
}

@test "C source of cubature: element types, and the exact linear part" {
    takes_long
    needs_numpy
    local vertex linear laws
    for type in C3D4 C3D8B C3D8I C3D10 C3D15 C3D20; do
        "$PYTHON" "$BATS_TEST_DIRNAME/typed.py" ${type/B/} 5 2 1 run.inp arch
        sed -i 's/210e9/1e6/' run.inp # a thick body, softer than steel: rounding in one that is stiff across would be as large as the bound
        laws=('')
        [[ $type == *[BI] ]] || laws+=('--law neo-hookean')
        for law in "${laws[@]}"; do
            option=()
            [ $type != C3D8B ] || option=(--hexahedra averaged)
            # shellcheck disable=SC2086
            simimport run.inp $law "${option[@]}" -q -o mesh.npz || fault "$type $law"
            vertex=$("$PYTHON" -c 'import numpy as np; print(np.load("mesh.npz")["vertices"][:, 0].argmax())')
            linear=exact
            [ -z "$law" ] || linear=sampled
            cubature_model "$vertex" --linear $linear
            compiles motion
            moves 50 0.02 0 0 0 0.25 0.5 0,0,-9.81 0,20,-30 1e9 1e-12
            compiles check
            ./check 1e-3 > check.out || fault "$type $law: check: exit $?"
            [ ! -s check.out ] || fault "$type $law: $(< check.out)"
        done
    done
    no_faults
}

@test "C source of cubature fails in the step in which simulate fails, and in single precision" {
    needs_numpy
    local vertex=174
    law '"young": 1e6, "poisson": 0.45, "law": "neo-hookean"'
    cubature_model $vertex
    compiles motion
    printf 't0,t1,kind,id,fx,fy,fz\n0,1e9,vertex,174,0,1e6,1e5\n' > pull.csv
    try ./motion 0.05 60 1 1 0 0.25 0.5 0 0 0 0 1e6 1e5 1e9
    [[ $code = 1 && $err =~ ^step\ ([0-9]+):\ status\ [23]$ ]] || fault "motion: exit $code: $err"
    local step=${BASH_REMATCH[1]} run=(simulate "${model[@]}" --loads pull.csv --dt 0.05 --damping-mass 1 --halvings 0 --semi-implicit -q)
    try "${run[@]}" --steps $((step - 1)) -o motion.npz
    [ "$code" = 0 ] || fault "simulate, before step $step: exit $code: $err"
    try "${run[@]}" --steps "$step" -o motion.npz
    [[ $code = 5 && $err =~ 'not positive definite'|'is inverted' ]] || fault "simulate, step $step: exit $code: $err"
    simexport mesh.npz b.npz c.npz --probe tip=174 --single -o model.c
    gcc -std=c99 -O2 "${strict[@]}" model.c 2> warnings || fault "single: $(head -5 warnings)"
    compiles motion
    moves 200 0.01 0 0.2 0.003 0.25 0.5 0,0,-9.81 0,2000,-30000 1.2345 2e-3
    no_faults
}

@test "C source continues with indefinite matrices, as simulate does" {
    needs_numpy
    model_program motion
    # Rounding decides where such motions go, and half of them meet an indefinite matrix: the first one that does is enough.
    local force
    for force in -1e6,1e6,1e6 0,-1e6,0 0,0,1e6 -3e6,30,20 0,0,-3e6 1e6,1e6,0 0,2e6,1e6 -2e6,0,1e6 1e6,-1e6,1e6 0,3e6,0 2e6,0,-1e6 0,-2e6,-2e6; do
        moves 15 0.2 0 1 0 0.25 0.5 0,0,0 "$force" 1e9 1e-9
        ! grep -q 'not positive definite' simulate.err || break
    done
    grep -q 'not positive definite' simulate.err || fault "all matrices are definite: $(< simulate.err)"
    no_faults
}

@test "C source fails in the step in which simulate fails" {
    needs_plain_build "which step of the semi-implicit motion fails depends on the last bits of the model"
    model_program motion
    # From 1 s on the force is so large that Newton's method cannot reach its displacements: each iteration takes a third of a cubic's root.
    printf 't0,t1,kind,id,fx,fy,fz\n1,1e9,vertex,30,-1e30,1e25,1e25\n' > pull.csv
    local run=(simulate mesh.npz --basis b12.npz --poly p12.npz --loads pull.csv --gravity 0,0,-1 --dt 0.2 --steps 40 --damping-mass 1 --damping-stiffness 0.01 --halvings 0 -q)
    try "${run[@]}" -o m.npz
    [[ $code = 5 && $err == *'did not converge at t = 0.8 s'* ]] || fault "simulate: exit $code: $err"
    try ./motion 0.2 40 0 1 0.01 0.25 0.5 0 0 -1 -1e30 1e25 1e25 1e9 1
    [[ $code = 1 && $err = 'step 5: status 1' && $(wc -l < "$stdout") = 5 ]] || fault "motion: exit $code: $err"
    # a load above the largest that this law can carry in compression
    printf 't0,t1,kind,id,fx,fy,fz\n0,1e9,vertex,30,-1000000,30,20\n' > pull.csv
    try "${run[@]}" --semi-implicit -o m.npz
    [[ $code = 5 && $err == *'not positive definite'* ]] || fault "simulate --semi-implicit: exit $code: $err"
    try ./motion 0.2 40 1 1 0.01 0.25 0.5 0 0 -1 -1000000 30 20 1e9
    [[ $code = 1 && $err == *'status 2' ]] || fault "motion, semi-implicit: exit $code: $err"
    no_faults
}

@test "C source in single precision" {
    needs_numpy
    model_program motion --single
    for semi in 0 1; do
        moves 1000 0.01 $semi 0.2 0.003 0.25 0.5 0,0,-9.81 0,20,-300 1.2345 2e-3
    done
    no_faults
}

@test "C source: derivatives, options, copies and failures" {
    for rank in 1 2 3 5 10 12; do # bases of every rank
        RANK=$rank model_program check
        ./check > check.out || fault "check, r = $rank: exit $?"
        [ ! -s check.out ] || fault "r = $rank: $(< check.out)"
    done
    no_faults
}

@test "C source has the energy and the mass of the polynomials" {
    needs_numpy
    model_program energy
    "$PYTHON" - <<-'END' || fault "energy, mass or gravity"
	import re, subprocess, numpy as np
	f = np.load('p12.npz')
	A, M, g = f['gram'], f['mass'], f['gravity']
	r = len(M)
	i, j = np.triu_indices(r)
	q = np.random.default_rng(1).standard_normal((20, r))
	m = np.where(i == j, 1, 2) * q[:, i] * q[:, j] # the formulas of formats/polynomials.md: sums over all indices
	x = np.hstack([q, 0.5 * m])
	want = 0.5 * np.einsum('ka,ab,kb->k', x, A, x)
	text = '\n'.join(' '.join('%.17g' % v for v in line) for line in q)
	got = [float(w) for w in subprocess.run(['./energy'], input=text, capture_output=True, text=True).stdout.split()]
	size = 0.5 * np.einsum('ka,ab,kb->k', abs(x), abs(A), abs(x)) # the size of the terms, to which rounding is relative
	assert len(got) == 20 and (abs(got - want) < 1e-14 * size).all(), (got, want)
	source = open('model.c').read()
	def table(name): # numbers are read back exactly
	    return np.array([float(w) for w in re.search(name + r'\[\] = \{([^}]*)\}', source).group(1).replace('\n', ' ').split(',')[:-1]])
	assert np.array_equal(table('model_mass_matrix').reshape(r, -1)[:, :r], M)
	assert np.array_equal(table('model_gravity').reshape(r, 3), g)
	END
    no_faults
}

@test "C source compiles without a warning" {
    strict=(-pedantic -Wall -Wextra -Wconversion -Werror -c -o model.o)
    for option in '' --single; do
        model_program energy $option
        for compiler in 'gcc -std=c99' 'g++ -std=c++17 -x c++' 'gcc -std=c99 -m32 -ffreestanding' 'clang -std=c99' 'clang++ -std=c++17 -x c++' \
            'clang -std=c99 -ffreestanding --target=aarch64-linux-gnu' 'clang -std=c99 -ffreestanding --target=wasm32'; do
            command -v "${compiler%% *}" > /dev/null || continue
            [[ $compiler != *-m32* || $(uname -m) = x86_64 ]] || continue
            $compiler -O2 "${strict[@]}" model.c 2> warnings || fault "$compiler $option: $(head -5 warnings)"
            [ "$(stat -c %s model.o)" -le 262144 ] || fault "$compiler $option: $(stat -c %s model.o) bytes, more than 256 KiB"
        done
    done
    for header in 'gcc -std=c99 -x c' 'g++ -std=c++17 -x c++'; do
        $header -pedantic -Wall -Wextra -Werror -fsyntax-only model.h || fault "$header model.h"
    done
    no_faults
}

@test "C source links for WebAssembly without any library" {
    { command -v clang && command -v wasm-ld; } > /dev/null || skip "no clang with wasm-ld"
    model_program energy
    clang --target=wasm32 -std=c99 -O2 -ffreestanding -nostdlib -Wl,--no-entry -Wl,--export=model_init -Wl,--export=model_step model.c -o model.wasm ||
        fault "wasm32 needs a library"
    no_faults
}

@test "C source: names, probes and the comment at the top" {
    cp mesh.npz $'*_\n#error\\\n.npz'
    ending=.c
    done_well simexport $'*_\n#error\\\n.npz' basis.npz poly.npz --probe 12,Tip=surface:2,3-4 -o Spoon_1.c
    for name in SPOON_1_PROBE_V12 SPOON_1_PROBE_TIP SPOON_1_PROBE_V3 SPOON_1_PROBE_V4; do
        grep -q "^    $name = " Spoon_1.h || fault "no $name"
    done
    for file in mesh basis poly; do
        holds $file.npz 'r["sha256"] in open("Spoon_1.c").read() and r["sha256"] in open("Spoon_1.h").read()'
    done
    cc -std=c99 -pedantic -Wall -Wextra -Werror -c Spoon_1.c -o s.o || fault 'hostile names'
    ! nm -g --defined-only s.o | grep -v ' Spoon_1_' || fault 'names without the prefix'
    ! nm s.o | grep ' [dDbB] ' || fault 'data that can be written to'
    done_well simexport mesh.npz poly.npz basis.npz -o none.c # probes in any order, and no probes
    cc -std=c99 -pedantic -Wall -Wextra -Werror -c none.c -o n.o || fault 'no probes'
    mkdir again
    done_well simexport mesh.npz poly.npz basis.npz -o again/none.c
    same_bytes none.c again/none.c 'a second run'
    same_bytes none.h again/none.h 'a second run'
    input=poly.npz done_well simexport mesh.npz - basis.npz -o again/none.c
    diff <(sed 's/standard input/poly.npz/' again/none.c) none.c > /dev/null || fault 'standard input'
    no_faults
}

# damped_model TEXT: damped.c of a bar of two regions whose materials are those of the JSON.
damped_model() {
    echo "$1" > materials.json
    voxelize bar.obj -q -n 6 --enlarge 1 --fill --fix-half-space 1,0,0,0 --region-box tip,2,-inf,-inf,inf,inf,inf --materials materials.json -o two.npz
    modes two.npz -q -k 3 -o two-modes.npz
    polycoef two.npz two-modes.npz -q -o two-poly.npz
    try simexport two.npz two-modes.npz two-poly.npz -o damped.c
    [ "$code" = 0 ] || fault "simexport: exit $code: $err"
    damping=$(grep -A1 'damping_of_mesh\[2\] =' damped.c | tail -n 1)
}

@test "C source has the damping of the mesh" {
    damped_model '[{"name": "body", "young": 1e6, "poisson": 0.3, "density": 1000, "damping_mass": 0.5, "damping_stiffness": 0.125}, {"name": "tip", "young": 1e6, "poisson": 0.3, "density": 1000, "damping_mass": 0.5, "damping_stiffness": 0.125}]'
    [ "$damping" = '    0.5, 0.125,' ] && [ -z "$err" ] || fault "the same damping: $damping: $err"
    damped_model '[{"name": "tip", "young": 1e6, "poisson": 0.3, "density": 1000, "damping_mass": 0.5}]'
    [ "$damping" = '    0., 0.,' ] && [[ $err == 'simexport: two.npz: its regions have different damping: '* ]] || fault "two: $damping: $err"
    no_faults
}

@test "C source: bad input" {
    echo old > out.c
    echo old > out.h
    refused 3 'traj.npz: .*made of polynomials or a cubature, not of a file of kind trajectory' simexport mesh.npz basis.npz traj.npz -o out.c
    refused 3 'twin-basis.npz: .*another mesh' simexport mesh.npz twin-basis.npz poly.npz -o out.c
    refused 3 'poly.npz: .*another basis' simexport mesh.npz modes.npz poly.npz -o out.c
    refused 2 'name the polynomials or the cubature too' simexport mesh.npz basis.npz -o out.c
    refused 2 'name the basis too' simexport mesh.npz poly.npz -o out.c
    refused 2 'name the mesh too' simexport basis.npz poly.npz -o out.c
    refused 2 'poly.npz and poly.npz: one file of that kind' simexport mesh.npz poly.npz poly.npz -o out.c
    refused 2 'poly.npz and cub.npz: polynomials or a cubature can be taken, not both' simexport mesh.npz basis.npz poly.npz cub.npz -o out.c
    refused 3 'twin-basis.npz: .*another mesh' simexport mesh.npz twin-basis.npz cub.npz -o out.c
    refused 3 'cub.npz: .*another basis' simexport mesh.npz modes.npz cub.npz -o out.c
    for name in int.c class.c 1a.c a-b.c _a.c .c "$(printf 'a%.0s' {1..64}).c"; do
        refused 2 'cannot be a name in C: it ' simexport mesh.npz basis.npz poly.npz -o "$name"
    done
    refused 2 'name the one that ends in .c' simexport mesh.npz basis.npz poly.npz --to c -o -
    refused 2 'name the one that ends in .c' simexport mesh.npz basis.npz poly.npz --to c -o out.h
    refused 2 '--single applies to --to c' simexport basis.npz --single -o out.npy
    refused 2 '--coordinates applies to' simexport mesh.npz basis.npz poly.npz --coordinates -o out.c
    refused 2 '--columns applies to' simexport mesh.npz basis.npz poly.npz --columns 1 -o out.c
    refused 2 '--frames applies to' simexport mesh.npz basis.npz poly.npz --frames 1 -o out.c
    for probe in a=3,A=4 3,3 v3=5,3; do
        refused 2 'two probes are named' simexport mesh.npz basis.npz poly.npz --probe $probe -o out.c
    done
    refused 2 'for one vertex, not for 3' simexport mesh.npz basis.npz poly.npz --probe a=3-5 -o out.c
    refused 2 'cannot be a name in C' simexport mesh.npz basis.npz poly.npz --probe for=3 -o out.c
    refused 2 'is not a list such as' simexport mesh.npz basis.npz poly.npz --probe 3, -o out.c
    refused 2 '--probe: ' simexport mesh.npz basis.npz poly.npz --probe 999999 -o out.c
    [ "$(cat out.c out.h)" = $'old\nold' ] || fault 'out.c or out.h was changed'
    mkdir blocked blocked/model.h
    try simexport mesh.npz basis.npz poly.npz -o blocked/model.c
    [ "$code" = 4 ] && [ ! -e blocked/model.c ] || fault "one of two outputs: exit $code: $err"
    no_faults
}

@test "C source: more than 64 coordinates" {
    needs_numpy
    random_columns 65 many.npy
    simimport many.npy --as snapshots --mesh mesh.npz -q -o many.npz 2> err || fault "simimport: $(< err)"
    polycoef mesh.npz many.npz -q -o many-poly.npz 2> err || fault "polycoef: $(< err)"
    refused 3 'many-poly.npz: 65 coordinates: a model as C source has at most 64' simexport mesh.npz many.npz many-poly.npz -o out.c
    no_faults
}

@test "C source: weights per mode are refused" {
    needs_numpy
    "$PYTHON" "$SUPPLE_SOURCE/tests/cli/forge.py" cub.npz modal.npz \
        'm["weight"] = np.asfortranarray(np.tile(m["weight"][:, None], (1, 6))); m["nested"] = m["weight"]' || fault forge
    refused 3 'modal.npz: weights per mode make the stiffness unsymmetric' simexport mesh.npz basis.npz modal.npz -o out.c
    no_faults
}

@test "C source of linear polynomials" {
    needs_numpy
    model_program motion
    "$PYTHON" "$SUPPLE_SOURCE/tests/cli/forge.py" p12.npz linear.npz 'm["gram"][12:] = m["gram"][:, 12:] = 0' || fault forge
    mv linear.npz p12.npz
    model_program motion
    for semi in 0 1; do
        moves 200 0.01 $semi 0.2 0.003 0.25 0.5 0,0,-9.81 0,20,-300 1.2345 1e-12
    done
    no_faults
}
