#!/usr/bin/env bats
# The web page (simexport NAME.html), in headless Chromium.

load common

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return
    python3 "$SUPPLE_SOURCE/samples/spoon/model.py" > spoon.obj
    voxelize spoon.obj -n 30 --young 1.4e9 --poisson 0.42 --density 905 --fix-half-space 1,0,0,0.05 -q -o spoon.npz
    modes spoon.npz -k 5 -q -o modes.npz
    modalderiv spoon.npz modes.npz -q -o deriv.npz
    masspca spoon.npz modes.npz deriv.npz -r 10 -q -o basis.npz
    polycoef spoon.npz basis.npz -q -o poly.npz
}

# A test of the page needs a browser that npm's puppeteer-core drives.
needs_browser() {
    command -v node > /dev/null || skip 'no node'
    CHROMIUM=$(command -v chromium) || skip 'no chromium'
    export CHROMIUM PAGE_DRIVER=$SUPPLE_BUILD/tests/page-driver.txt.p
    [ "$(cat "$SUPPLE_BUILD/tests/page-driver.txt" 2> /dev/null)" = installed ] || skip 'no puppeteer-core: ninja test-programs installs it'
    [ -s "$SUPPLE_BUILD/formats/export/page/page.inc.p/page.html" ] || skip 'built without the page'
}

# The files of the spoon in the place of the shared ones.
takes_spoon() {
    cp "$BATS_FILE_TMPDIR"/*.npz .
}

# makes_page FILE…: the page page.html
makes_page() {
    simexport "$@" -q -o page.html 2> err || fault "simexport $*: $(< err)"
}

# drives PROGRAM ARGUMENT…: a program of tests/cli/page
drives() {
    local program=$1
    shift
    timeout 120 node "$BATS_TEST_DIRNAME/page/$program.mjs" "$@" > driver.txt 2>&1 || fault "$program $*: $(head -n 20 driver.txt)"
}

# repeats MESH BASIS FORCE [settings|far]: the body with these polynomials or this cubature is pulled, and simulate repeats the saved loads.
repeats() {
    local command steps
    makes_page "$1" "$2" "$3"
    rm -rf said && mkdir said
    drives pull page.html said "${@:4}"
    command=$(sed -n 's/^# simulate/simulate/p' said/pull.csv 2> /dev/null)
    [ "${4-}" != settings ] || [[ $command == *'--gravity=0,0,-9.81 --damping-mass 0.5 --damping-stiffness 0.001 --young 2'* ]] || fault "$command"
    steps=${command#*--steps }
    steps=${steps%% *}
    { cp said/pull.csv . && eval "$command -q" && simexport "$1" "$2" motion.npz --frames "$steps" -q -o last.obj; } 2> err || fault "$command: $(< err)"
    "$PYTHON" "$BATS_TEST_DIRNAME/page/compare.py" said motion.npz last.obj "${@:4}" > compare.txt 2>&1 || fault "$(< compare.txt)"
    sed 's/^/# /' compare.txt >&3
}

@test "a body that is pulled moves as simulate moves it under the saved loads" {
    needs_numpy
    needs_browser
    takes_spoon
    repeats spoon.npz basis.npz poly.npz
    repeats spoon.npz basis.npz poly.npz settings
    repeats spoon.npz basis.npz poly.npz far
    no_faults
}

@test "a body without an embedded surface is pulled at the vertices of its mesh" {
    needs_numpy
    needs_browser
    takes_spoon
    simexport spoon.npz -q -o spoon.msh 2> err || fault "$(< err)"
    simimport spoon.msh --young 1.4e9 --poisson 0.42 --density 905 --fix-half-space 1,0,0,0.05 -q -o bare.npz 2> err || fault "$(< err)"
    modes bare.npz -k 4 -q -o modes.npz
    modalderiv bare.npz modes.npz -q -o deriv.npz
    masspca bare.npz modes.npz deriv.npz -r 8 -q -o basis.npz
    polycoef bare.npz basis.npz -q -o poly.npz
    repeats bare.npz basis.npz poly.npz settings
    grep -q ',vertex,' said/pull.csv || fault 'loads of the surface'
    no_faults
}

@test "a body of a cubature is pulled, of another law than StVK" {
    takes_long
    needs_numpy
    needs_browser
    cp "$BATS_FILE_TMPDIR/spoon.obj" .
    voxelize spoon.obj -n 60 --young 1.4e9 --poisson 0.42 --density 905 --law neo-hookean --fix-half-space 1,0,0,0.05 -q -o spoon.npz
    modes spoon.npz -k 5 -q -o modes.npz
    modalderiv spoon.npz modes.npz -q -o deriv.npz
    masspca spoon.npz modes.npz deriv.npz -r 10 -q -o basis.npz
    cubature spoon.npz basis.npz --poses 60 --tolerance 0.03 -q -o cub.npz
    repeats spoon.npz basis.npz cub.npz
    grep -q '^# simulate .* --basis basis.npz --cub cub.npz ' said/pull.csv || fault "$(grep '^# simulate' said/pull.csv)"
    repeats spoon.npz basis.npz cub.npz settings
    no_faults
}

# The loads that a hand has drawn are in said/pull.csv.
draws_loads() {
    mkdir -p said
    drives pull page.html said
    [ -s said/pull.csv ] || fault 'no loads were saved'
}

@test "a pull that was saved becomes a basis, and its page" {
    takes_long
    needs_browser
    takes_spoon
    makes_page spoon.npz basis.npz poly.npz
    draws_loads
    sketchsolve spoon.npz --loads said/pull.csv --snapshot-count 12 -q -o shapes.npz 2> err || fault "sketchsolve: $(< err)"
    masspca spoon.npz shapes.npz -r 4 -q -o drawn.npz 2> err || fault "masspca: $(< err)"
    polycoef spoon.npz drawn.npz -q -o drawn-poly.npz 2> err || fault "polycoef: $(< err)"
    makes_page spoon.npz drawn.npz drawn-poly.npz
    drives look page.html spoon.npz
    no_faults
}

@test "a body is pulled by keyboard and by touch" {
    needs_browser
    takes_spoon
    makes_page spoon.npz basis.npz poly.npz
    drives hands page.html
    no_faults
}

@test "names of any bytes are text on the page" {
    takes_long
    needs_browser
    takes_spoon
    odd=$'a"\'&<!--<b><script>window.hacked=1<\n\x01\u2028\xff${x}\\u003c.npz'
    cp spoon.npz "$odd"
    simulate spoon.npz --basis basis.npz --poly poly.npz --gravity 0,0,-9.81 --steps 3 -q -o motion.npz
    for rest in poly.npz motion.npz; do
        cp $rest "$odd.$rest"
        makes_page "$odd" basis.npz "$odd.$rest"
        title=$odd
        [ $rest = poly.npz ] || title=$odd.$rest
        drives look page.html "${title//$'\xff'/$'\uFFFD'}"
        [ "$(grep -c '<script' page.html)" = 2 ] || fault "$(grep -c '<script' page.html) lines with a script"
    done
    no_faults
}

# same_places JSON TOLERANCE OBJ…: the positions of the first body of each motion in each frame are those of the OBJ files.
same_places() {
    "$PYTHON" - "$@" <<-'END' || fault "$*"
	import json, sys, numpy as np
	motions = json.load(open(sys.argv[1]))
	shown = [np.array(frame[0]).reshape(-1, 3) for motion in motions for frame in motion['frames']]
	files = [np.array([l.split()[1:4] for l in open(name) if l.startswith('v ')], float) for name in sys.argv[3:]]
	size = np.linalg.norm(np.ptp(files[0], axis=0))
	errors = [abs(a - b).max() / size for a, b in zip(shown, files)]
	moved = max(abs(a - files[0]).max() / size for a in files)
	print('# errors', errors, 'moved', moved)
	sys.exit(int(len(shown) != len(files) or not max(errors) <= float(sys.argv[2]) or moved < 0.01))
	END
}

@test "a trajectory plays as simexport writes it, reduced or of all vertices" {
    needs_numpy
    needs_browser
    takes_spoon
    printf 't0,t1,kind,id,fx,fy,fz\n0,0.1,surface,3320,0,0,3000\n' > hit.csv
    simulate spoon.npz --basis basis.npz --poly poly.npz --loads hit.csv --dt 0.005 --steps 40 -q -o motion.npz
    simulate spoon.npz --basis basis.npz --poly poly.npz --loads hit.csv --dt 0.005 --steps 40 --record all -q -o all.npz
    for motion in motion all; do
        simexport spoon.npz basis.npz $motion.npz --frames 0-20 --every 10 -q -o "$motion-%d.obj" || fault 'no OBJ'
        makes_page spoon.npz basis.npz $motion.npz
        drives play page.html shown.json 0 10 20
        bound=1e-6
        [ $motion = motion ] || bound=1e-4 # what principal directions may leave
        same_places shown.json $bound $motion-*.obj
    done
    no_faults
}

@test "the bodies and contacts of a scene are where simexport has them" {
    needs_numpy
    needs_browser
    makes_page scene.json motion.npz
    drives play page.html shown.json 0 5
    simexport scene.json motion.npz --frames 0-5 --every 5 -q -o 'f.pvd' || fault 'no VTU'
    "$PYTHON" - f_*.vtu <<-'END' || fault "positions"
	import json, re, sys, numpy as np
	motion, = json.load(open('shown.json'))
	errors = []
	files = [name for name in sys.argv[1:] if 'contacts' not in name]
	for frame, name in zip(motion['frames'], files):
	    data = open(name, 'rb').read()
	    offset = int(re.search(rb'Name="Points"[^>]*offset="(\d+)"', data).group(1))
	    at = data.index(b'<AppendedData encoding="raw">') + len(b'<AppendedData encoding="raw">')
	    at = data.index(b'_', at) + 1 + offset
	    count = int.from_bytes(data[at:at + 8], 'little')
	    points = np.frombuffer(data[at + 8:at + 8 + count]).reshape(-1, 3)
	    bodies = [np.array(body).reshape(-1, 3) for body in frame]
	    first = 0
	    for body in bodies:
	        if len(body) > 4: # the square of a plane is under the whole motion here
	            errors.append(abs(body - points[first:first + len(body)]).max())
	        first += len(body)
	    errors.append(abs(first - len(points)))
	print('# errors', errors, 'contacts', motion['contacts'])
	sys.exit(int(len(files) != 2 or not max(errors) < 1e-5 or motion['contacts'] != 25))
	END
    no_faults
}

@test "two trajectories stand side by side, with the curves of probes" {
    needs_numpy
    needs_browser
    takes_spoon
    masspca spoon.npz modes.npz -r 4 -q -o b4.npz
    polycoef spoon.npz b4.npz -q -o p4.npz
    printf 't0,t1,kind,id,fx,fy,fz\n0,0.1,surface,3320,0,0,3000\n' > hit.csv
    simulate spoon.npz --basis basis.npz --poly poly.npz --loads hit.csv --dt 0.005 --steps 30 -q -o a.npz
    simulate spoon.npz --basis b4.npz --poly p4.npz --loads hit.csv --dt 0.01 --steps 15 -q -o b.npz
    makes_page spoon.npz basis.npz b4.npz a.npz b.npz --probe surface:3320,30
    drives play page.html shown.json 0 9
    for m in a b; do
        simexport spoon.npz basis.npz b4.npz $m.npz --frames 0-9 --every 9 -q -o "$m-%d.obj" || fault 'no OBJ'
        simexport spoon.npz basis.npz b4.npz $m.npz --probe surface:3320,30 -q -o $m.csv || fault 'no CSV'
    done
    same_places shown.json 1e-6 a-*.obj b-*.obj
    "$PYTHON" - <<-'END' || fault "curves"
	import csv, json, sys, numpy as np
	bad = 0
	for motion, name in zip(json.load(open('shown.json')), 'ab'):
	    rows = list(csv.DictReader(open(f'{name}.csv')))
	    for probe, column in zip(motion['probes'], ('s3320', 'v30')):
	        table = np.array([[float(row[f'{column}_{c}']) for c in 'xyz'] for row in rows])
	        bad |= abs(np.array(probe['place']).reshape(-1, 3) - table).max() > 1e-12 * abs(table).max()
	    bad |= len(motion['times']) != len(rows) or motion['title'] != f'{name}.npz'
	sys.exit(int(bad))
	END
    try simexport spoon.npz basis.npz b4.npz a.npz b.npz traj.npz -o page.html
    [ "$code" = 2 ] && [[ $err == *'at most 2'* ]] || fault "three motions: $code $err"
    no_faults
}

@test "the page without data has at most 1.5 MB" {
    page=$SUPPLE_BUILD/formats/export/page/page.inc.p/page.html
    [ -s "$page" ] || skip 'built without the page'
    size=$(stat -c %s "$page")
    echo "# $size bytes" >&3
    [ "$size" -le 1500000 ]
}
