#!/usr/bin/env bats
# The kernel of the web page in Node (formats/export/page/kernel.js, recorder.js).

load common

# A folder of modules that Node can run.
kernel_modules() {
    command -v node > /dev/null || skip 'no node'
    export KERNEL=$SUPPLE_BUILD/formats/export/page/kernel.wasm
    [ -f "$KERNEL" ] || skip 'built without the page'
    mkdir -p run
    cp "$SUPPLE_SOURCE"/formats/export/page/{kernel,recorder,data,linear,properties}.js "$BATS_TEST_DIRNAME"/kernel/*.js run
    echo '{"type": "module"}' > run/package.json
}

# Makes the model model.c of $1 coordinates.
kernel_model() {
    local r=$1
    kernel_modules
    if [ ! -f p$r.npz ]; then
        if [ $r -gt 14 ]; then # than the shared modes and derivatives span
            modes mesh.npz -k 8 -q -o modes.npz
            modalderiv mesh.npz modes.npz -q -o deriv.npz
        fi
        [ -f b$r.npz ] || masspca mesh.npz modes.npz deriv.npz -r $r -q -o b$r.npz
        polycoef mesh.npz b$r.npz -q -o p$r.npz
    fi
    ending=.c
    done_well simexport mesh.npz b$r.npz p$r.npz --probe "${PROBES-30}" -o model.c
}

# same_motion BOUND: the coordinates in motion.txt and motion.npz agree within BOUND of the largest.
same_motion() {
    "$PYTHON" - "$1" <<-'END'
	import sys, numpy as np
	f = np.load('motion.npz')
	q = np.concatenate([f[k] for k in sorted(f) if k.startswith('q/')])
	p = np.loadtxt('motion.txt', ndmin=2)
	error = abs(p - q).max() / abs(q).max()
	print('# error', error, 'largest', abs(q).max())
	sys.exit(p.shape != q.shape or not error <= float(sys.argv[1]))
	END
}

# moves R SEMI ALPHA BETA NEWMARK_BETA GAMMA G FORCE END: the same motion of 1000 steps by the kernel and by simulate. Newton's method leaves
# residuals of up to 1e-10 in both.
moves() {
    local r=$1 option=()
    [ "$2" = 0 ] || option=(--semi-implicit)
    printf 't0,t1,kind,id,fx,fy,fz\n0,%s,vertex,30,%s\n' "$9" "$8" > pull.csv
    simulate mesh.npz --basis b$r.npz --poly p$r.npz --loads pull.csv --dt 0.01 --steps 1000 --damping-mass "$3" --damping-stiffness "$4" \
        --beta "$5" --gamma "$6" --gravity="$7" --halvings 0 "${option[@]}" -q -o motion.npz 2> simulate.err || fault "$*: $(< simulate.err)"
    node run/motion.js model.c 0.01 1000 "$2" "$3" "$4" "$5" "$6" ${7//,/ } ${8//,/ } "$9" > motion.txt 2> node.err || fault "$*: $(< node.err)"
    same_motion 1e-9 || fault "$*"
}

@test "the kernel moves as simulate does" {
    needs_numpy
    for r in 1 3 12 20; do # rows of every length
        kernel_model $r
        for semi in 0 1; do
            moves $r $semi 0 0 0.25 0.5 0,0,-9.81 0,20,-300 1e9
            moves $r $semi 0.2 0.003 0.3025 0.6 1,0,-9.81 0,0,-300 1.2345
        done
    done
    no_faults
}

# cubature_kernel LAW [OPTION]...: model.c of a cubature of hexahedra with 27 Gauss points, with 10 coordinates.
cubature_kernel() {
    kernel_modules
    voxelize bar.obj -q -n 6 --enlarge 1 --fill --quadrature 3 --fix-half-space 1,0,0,0 --law "$1" -o mesh.npz
    modes mesh.npz -q -k 4 -o m.npz
    modalderiv mesh.npz m.npz -q -o d.npz
    masspca mesh.npz m.npz d.npz -q -r 10 -o b.npz
    cubature mesh.npz b.npz --poses 40 --tolerance 0.03 -q "${@:2}" -o c.npz
    ending=.c
    done_well simexport mesh.npz b.npz c.npz --probe 174 -o model.c
}

@test "the kernel of cubatures moves as simulate does" {
    needs_numpy
    local law semi option
    printf 't0,t1,kind,id,fx,fy,fz\n0,1e9,vertex,174,0,2000,-30000\n' > pull.csv
    for law in stvk neo-hookean corotational isochoric-neo-hookean stable-neo-hookean; do
        cubature_kernel $law
        for semi in 0 1; do
            option=()
            [ $semi = 0 ] || option=(--semi-implicit)
            simulate mesh.npz --basis b.npz --cub c.npz --loads pull.csv --dt 0.01 --steps 200 --gravity 0,0,-9.81 --halvings 0 "${option[@]}" -q \
                -o motion.npz 2> simulate.err || fault "$law: $(< simulate.err)"
            node run/motion.js model.c 0.01 200 $semi 0 0 0.25 0.5 0 0 -9.81 0 2000 -30000 1e9 > motion.txt 2> node.err || fault "$law: $(< node.err)"
            same_motion 1e-12 || fault "$law $semi"
        done
    done
    no_faults
}

@test "the kernel of cubatures refuses what is no model" {
    cubature_kernel neo-hookean
    node run/cubature.js model.c 2> node.err || fault "$(< node.err)"
    no_faults
}

@test "the page has the cubature of the C source" {
    has page || skip 'built without the page'
    cubature_kernel neo-hookean
    simexport mesh.npz b.npz c.npz -q -o page.html 2> err || fault "$(< err)"
    node run/page.js page.html model.c > said 2> node.err || fault "$(< node.err)"
    [ "$(< said)" = '{"mesh":"mesh.npz","basis":"b.npz","cubature":"c.npz"}' ] || fault "$(< said)"
    no_faults
}

@test "the page has the polynomials of the C source" {
    has page || skip 'built without the page'
    kernel_model 12
    simexport mesh.npz b12.npz p12.npz -q -o page.html 2> err || fault "$(< err)"
    node run/page.js page.html model.c > said 2> node.err || fault "$(< node.err)"
    [ "$(< said)" = '{"mesh":"mesh.npz","basis":"b12.npz","polynomials":"p12.npz"}' ] || fault "$(< said)"
    no_faults
}

@test "the kernel fails in the step in which simulate fails" {
    kernel_model 12
    # From 1 s on the force is so large that Newton's method cannot reach its displacements: each iteration takes a third of a cubic's root.
    try node run/motion.js model.c 0.2 40 0 1 0.01 0.25 0.5 0 0 -1 -1e30 1e25 1e25 1e9 1
    printf 't0,t1,kind,id,fx,fy,fz\n1,1e9,vertex,30,-1e30,1e25,1e25\n' > pull.csv
    local said=$err
    try simulate mesh.npz --basis b12.npz --poly p12.npz --loads pull.csv --gravity 0,0,-1 --dt 0.2 --steps 40 --damping-mass 1 --damping-stiffness 0.01 --halvings 0 -q -o m.npz
    [ "$code" = 5 ] || fault "simulate: exit $code"
    # half of the force acts at 1 s, the end of the fifth step
    [[ $said == 'step 5: Newton'* ]] || fault "kernel: $said"
    [[ $err == *"did not converge at t = 0.8 s"* ]] || fault "simulate: $err"
    no_faults
}

@test "the kernel refuses what is no model, and a failed step changes nothing" {
    for r in 3 6; do
        kernel_model $r
        node run/refusals.js model.c 2> node.err || fault "r = $r: $(< node.err)"
    done
    no_faults
}

@test "the kernel has 64 coordinates at most" {
    needs_numpy
    random_columns 64 many.npy
    simimport many.npy --as snapshots --mesh mesh.npz -q -o b64.npz
    kernel_model 64
    printf 't0,t1,kind,id,fx,fy,fz\n0,inf,vertex,30,0,0,-300\n' > pull.csv
    simulate mesh.npz --basis b64.npz --poly p64.npz --loads pull.csv --dt 0.01 --steps 20 -q -o motion.npz
    node run/motion.js model.c 0.01 20 0 0 0 0.25 0.5 0 0 0 0 0 -300 1e9 > motion.txt || fault 'no motion'
    same_motion 1e-11 || fault 'another motion'
    no_faults
}

# The triangle of the embedded surface nearest to the tip, as a list for --probe.
choose_triangle() {
    SURFACE=$("$PYTHON" - <<-'END'
	import numpy as np
	mesh = np.load('mesh.npz')
	x, t = mesh['surface/vertices'], mesh['surface/triangles']
	tip = t[np.linalg.norm(x[t].mean(axis=1) - [3, 0.5, 1], axis=1).argmin()]
	print(','.join(map(str, tip)))
	END
    )
    export SURFACE
    PROBES=a=surface:${SURFACE//,/,x=surface:}
    PROBES=${PROBES/x=/b=} PROBES=${PROBES/x=/c=}
}

# repeats SEMI STIFFNESS GRAVITY_Z: a recorded pull, repeated by the command in its file. The names of the files are hard to quote.
repeats() {
    cp mesh.npz "it's.npz"
    cp "${BASIS-b12.npz}" basis.npz
    cp "${FORCE-p12.npz}" ./-poly$'\n'.npz
    node run/pull.js model.c "$@" > motion.txt 2> node.err || fault "$*: $(< node.err)"
    command=$(sed -n 's/^# simulate/simulate/p' pull.csv)
    [[ $(grep -c '^#' pull.csv) = 3 && $command == *' --steps 400 '* ]] || fault "$*: $(head -4 pull.csv)"
    eval "$command -q" 2> simulate.err || fault "$command: $(< simulate.err)"
    same_motion 1e-9 || fault "$command"
}

@test "simulate repeats a pull that the page has recorded" {
    needs_numpy
    choose_triangle
    kernel_model 12
    for run in '0 1 -9.81' '1 1 0' '0 2.5 -9.81' '1 0.3 -1'; do
        repeats $run
        # Three lines for each force: 2 pulls of 100 steps by the spring, and one of 50 equal ones
        [ "$(grep -c '^[0-9].*surface' pull.csv)" = $((2 * 101 * 3)) ] || fault "$run: $(grep -c surface pull.csv) lines"
    done
    # a basis made from what the hand has drawn
    sketchsolve mesh.npz --loads pull.csv -q -o shapes.npz 2> err || fault "sketchsolve: $(< err)"
    masspca mesh.npz shapes.npz -r 4 -q -o drawn.npz 2> err || fault "masspca: $(< err)"
    polycoef mesh.npz drawn.npz -q -o drawn-poly.npz 2> err || fault "polycoef: $(< err)"
    simulate mesh.npz --basis drawn.npz --poly drawn-poly.npz --loads pull.csv --steps 10 -q -o drawn-motion.npz 2> err || fault "simulate: $(< err)"
    no_faults
}

@test "simulate repeats a pull of a cubature" {
    takes_long
    needs_numpy
    BASIS=b.npz FORCE=c.npz
    local linear
    for linear in sampled exact; do
        cubature_kernel neo-hookean --linear $linear
        choose_triangle
        simexport mesh.npz b.npz c.npz --probe "$PROBES" -o model.c
        for run in '0 1 -9.81' '0 2.5 -9.81' '1 0.3 -1'; do
            repeats $run
        done
        [[ $command == *" --cub './-poly"* || $command == *" --cub $'./-poly"* ]] || fault "$command"
    done
    no_faults
}

@test "a factor on the stiffness of a body of several materials becomes a modulus for each" {
    needs_numpy
    export REGIONS='[{"name": "body", "young": 1e6}, {"name": "tip'"'"'s end", "young": 4e5}]'
    echo "${REGIONS//\}/, \"poisson\": 0.3, \"density\": 1000\}}" > materials.json
    voxelize bar.obj -q -n 6 --enlarge 1 --fill --fix-half-space 1,0,0,0 --region-box "tip's end,2,-inf,-inf,inf,inf,inf" --materials materials.json -o mesh.npz
    modes mesh.npz -q -k 4 -o modes.npz
    modalderiv mesh.npz modes.npz -q -o deriv.npz
    masspca mesh.npz modes.npz deriv.npz -r 12 -q -o b12.npz
    polycoef mesh.npz b12.npz --by-region -q -o p12.npz
    choose_triangle
    kernel_model 12
    repeats 1 0.7 -9.81
    [[ $command == *"--young body=700000 --young 'tip'\''s end=280000' "* ]] || fault "$command"
    REGIONS='[{"name": "body", "young": null}]' # a law without a modulus
    node run/pull.js model.c 1 0.7 0 > motion.txt || fault 'no modulus: no recording'
    [[ $(grep '^#' pull.csv) == *'simulate cannot repeat the factor'* && $(grep -c '^#' pull.csv) = 1 ]] || fault "no modulus: $(head -4 pull.csv)"
    no_faults
}
