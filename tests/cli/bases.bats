#!/usr/bin/env bats
# masspca: candidates larger than memory, scalings, random projection.

load common

setup_file() {
    # enough columns for several blocks of the store: 4 modes, 10 derivatives, 81 frames
    export BODY=$BATS_FILE_TMPDIR/body
    mkdir "$BODY"
    cd "$BODY"
    source "$BATS_TEST_DIRNAME/data.bash"
    make_models .
    make_pipeline 12 6
    simfull mesh.npz -q --loads loads.csv --dt 0.01 --steps 80 -o motion.npz
    voxelize bar.obj -q -n 6 --enlarge 1 --fill -o free.npz
    modes free.npz -q -k 10 -o free-modes.npz
}

# For Python without NumPy: columns(file) returns U as a list of columns, and write() makes a file of another program from such a list.
reader='
import ast, json, struct, sys, zipfile
def member(f, name):
    b = zipfile.ZipFile(f).read(name + ".npy")
    n = struct.unpack("<H", b[8:10])[0]
    return ast.literal_eval(b[10:10 + n].decode()), b[10 + n:]
def columns(f):
    head, b = member(f, "U")
    rows, count = head["shape"]
    v = struct.unpack("<%dd" % (rows * count), b)
    return [v[c * rows:(c + 1) * rows] for c in range(count)] if head["fortran_order"] else [v[c::count] for c in range(count)]
def result(f):
    return json.loads(member(f, "result")[1])
def meta(f):
    return json.loads(member(f, "meta")[1])
def dot(a, b):
    return sum(x * y for x, y in zip(a, b))
def write(f, U, fortran, descr="<f8"):
    rows, count = len(U[0]), len(U)
    flat = [x for c in U for x in c] if fortran else [U[c][i] for i in range(rows) for c in range(count)]
    head = repr({"descr": descr, "fortran_order": fortran, "shape": (rows, count)})
    head += " " * ((-len(head) - 11) % 64) + "\n"
    data = struct.pack("<%d%s" % (len(flat), "d" if descr == "<f8" else "f"), *flat)
    with zipfile.ZipFile(f, "w") as z:
        z.writestr("U.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + data)
'

@test "the same bytes for any memory, any threads, from files and from a pipe" {
    local how memory ending=.npz
    cd "$BODY"
    for how in '--method pca' '--method gram-schmidt' '--method random -r 20' '--method random -r 20 --raw' '--scaling rayleigh -r 20 --lumping lumped' \
        '--scaling eigenvalue -r 20' '--scaling unit --columns 3,10-90,5' '--inner energy -r 9' '--columns 20-95,3,3,1 --method gram-schmidt' '--every 3'; do
        # shellcheck disable=SC2086
        masspca mesh.npz modes.npz deriv.npz motion.npz $how -q -o whole.npz || fault "$how: exit $?"
        for memory in "4M -t 1" "5M -t 2" "1G -t 2"; do
            # shellcheck disable=SC2086
            masspca mesh.npz modes.npz deriv.npz motion.npz $how --memory $memory -q -o part.npz 2> err || fault "$how --memory $memory: $(< err)"
            same_bytes whole.npz part.npz "$how --memory $memory"
        done
        # shellcheck disable=SC2086
        masspca mesh.npz modes.npz deriv.npz - $how --memory 4M -q -o pipe.npz < <(cat motion.npz) 2> err || fault "$how, a pipe: $(< err)"
        "$PYTHON" - <<< "$reader"'
sys.exit(member("whole.npz", "U") != member("pipe.npz", "U"))' || fault "$how: other columns from a pipe"
    done
    no_litter 'scratch'
    no_faults
}

@test "too little memory, and a disk without room for the scratch file" {
    local code
    refused 4 '^masspca: --memory: 14 columns of [0-9]+ rows take at least [0-9]+M beside the mesh and its matrices$' masspca mesh.npz modes.npz deriv.npz --memory 100K -o out.npz
    [[ $err =~ least\ ([0-9]+)M ]] && masspca mesh.npz modes.npz deriv.npz --memory "${BASH_REMATCH[1]}M" -q -o enough.npz || fault 'what it says is not enough'
    mkdir fresh
    cd fresh
    cp "$BODY"/{mesh,modes,deriv,motion}.npz .
    echo old > out.npz
    strict() { # blocks of 1 KiB: the scratch file of 95 columns is larger, the output is not
        (
            ulimit -f 200
            masspca mesh.npz modes.npz deriv.npz motion.npz -r 1 "$@" 2>&1 > /dev/null
        ) | cat >&2
        return "${PIPESTATUS[0]}"
    }
    code=0
    strict -q -o a.npz || code=$?
    [ $code = 0 ] || fault "without a scratch file: exit $code"
    code=0
    strict -q --memory 4M -o out.npz 2> err || code=$?
    [ "$code $(< err)" = '4 masspca: scratch file: cannot write: File too large' ] || fault "a full disk: exit $code: $(< err)"
    [ "$(< out.npz)" = old ] || fault 'the old output was changed'
    code=0
    TMPDIR=$PWD/none masspca mesh.npz modes.npz deriv.npz motion.npz -q --memory 4M -o out.npz 2> err || code=$?
    [ "$code" = 4 ] && [[ $(< err) == "masspca: scratch file in $PWD/none: No such file or directory" ]] || fault "no folder: exit $code: $(< err)"
    no_litter 'a failure'
    no_faults
}

@test "killed in the middle: no litter" {
    local pid
    cd "$BODY"
    mkfifo hold
    masspca mesh.npz motion.npz motion.npz hold --memory 4M -q -o killed.npz 2> killed.err &
    pid=$!
    exec 7> hold # when it opens this file, it has read the others and written to its scratch file
    for _ in {1..600}; do
        ls -l /proc/$pid/fd 2> /dev/null | grep -q deleted && break
        sleep 0.1
    done
    ls -l /proc/$pid/fd | grep -q deleted || fault 'it never opened its scratch file'
    kill -9 $pid
    wait $pid 2> /dev/null || true
    exec 7>&-
    rm -f hold
    [ ! -e killed.npz ] || fault 'an output'
    no_litter 'killed'
    no_faults
}

@test "foreign files of either order and precision" {
    local ending=.npz
    "$PYTHON" - <<< "$reader"'
U = [[(0.1 * c + 1) * (i % 7 - 3) if m else 0.0 for i, m in enumerate(any_row)] for any_row in [[x != 0 for x in columns("modes.npz")[0]]] for c in range(3)]
for c in range(3): U[c] = [x * (1 + c * (i % (3 + c))) for i, x in enumerate(U[c])]
U = [list(struct.unpack("<%df" % len(u), struct.pack("<%df" % len(u), *u))) for u in U]
write("f.npz", U, True); write("c.npz", U, False); write("f4.npz", U, False, "<f4")'
    done_well masspca mesh.npz f.npz -q -o a.npz
    for name in c f4; do
        done_well masspca mesh.npz $name.npz -q --memory 4M -o b.npz
        "$PYTHON" - <<< "$reader"'
sys.exit(member("a.npz", "U") != member("b.npz", "U"))' || fault "$name: another basis"
    done
    "$PYTHON" - <<< "$reader"'
U = columns("f.npz")
write("rows.npz", [u[:-3] for u in U], False)
write("nan.npz", U[:2] + [U[2][:-1] + (float("nan"),)], False)'
    refused 3 '^masspca: rows.npz: U: dimension 0 is [0-9]+, expected [0-9]+$' masspca mesh.npz rows.npz -q -o out.npz
    refused 3 '^masspca: nan.npz: U: value [0-9]+ is not finite$' masspca mesh.npz nan.npz -q -o out.npz
    no_faults
}

@test "the first file whole" {
    local ending=.npz
    cd "$BODY"
    # the modes first, as they are; what follows is orthogonal to them
    done_well masspca mesh.npz modes.npz deriv.npz --keep-first --scaling eigenvalue -r 6 -o a.npz
    "$PYTHON" - <<< "$reader"'
modes, basis = columns("modes.npz"), columns("a.npz")
assert len(basis) == 6 and len(result("a.npz")["new_parts"]) == result("a.npz")["rank"]
for u, v in zip(modes, basis):
    size = sum(x * x for x in u) ** .5
    assert min(max(abs(x - s * y) for x, y in zip(u, v)) for s in (1, -1)) < 1e-9 * size' || fault 'the modes are not in front'
    refused 2 '^masspca: modes.npz: -r 3: --keep-first keeps its 4 columns$' masspca mesh.npz modes.npz deriv.npz --keep-first -r 3 -q -o refused.npz
    refused 2 '^masspca: --keep-first: --columns puts columns of other files between those of modes.npz$' masspca mesh.npz modes.npz deriv.npz --keep-first --columns 1,6,2 -q -o refused.npz
    no_faults
}

@test "principal directions in the energy" {
    local ending=.npz
    cd "$BODY"
    # Modes of unit mass have the energies lambda, and mu is the mean of these: the singular values are sqrt(lambda + mu).
    done_well masspca mesh.npz modes.npz --scaling none --inner energy -o a.npz
    "$PYTHON" - <<< "$reader"'
value, b = result("a.npz")["singular_values"], member("modes.npz", "eigenvalue")[1]
modes = struct.unpack("<%dd" % (len(b) // 8), b)
mean = sum(modes) / len(modes)
wanted = sorted(((x + mean) ** .5 for x in modes), reverse=True)
assert max(abs(a / b - 1) for a, b in zip(value, wanted)) < 1e-9, (value, wanted)' || fault 'singular values in the energy'
    refused 2 '^masspca: --inner applies to --method pca$' masspca mesh.npz modes.npz --method gram-schmidt --inner energy -q -o refused.npz
    refused 2 '^masspca: --inner does not apply beside --keep-first$' masspca mesh.npz modes.npz deriv.npz --keep-first --inner energy -q -o refused.npz
    no_faults
}

@test "every file with the same weight" {
    local ending=.npz inner
    cd "$BODY"
    # The sum of the squares of all singular values is that of the columns: 1 for each file, however large it is.
    for inner in mass energy; do
        done_well masspca mesh.npz motion.npz modes.npz deriv.npz --scaling none --inner $inner --equal-files -o a.npz
        "$PYTHON" - <<< "$reader"'
total = sum(x * x for x in result("a.npz")["singular_values"])
assert abs(total - 3) < 1e-9, total' || fault "$inner: singular values"
    done
    no_faults
}

@test "scalings" {
    local ending=.npz
    cd "$BODY"
    # Modes are orthogonal with respect to K and M: the singular values are the weights, and both scalings agree.
    done_well masspca mesh.npz modes.npz --scaling eigenvalue -o a.npz
    done_well masspca mesh.npz modes.npz --scaling rayleigh -o b.npz
    "$PYTHON" - <<< "$reader"'
head, b = member("modes.npz", "eigenvalue")
l = struct.unpack("<4d", b)
for f in "a.npz", "b.npz":
    for s, x in zip(result(f)["singular_values"], l):
        assert abs(s - l[0] / x) < 1e-9, (f, s, l[0] / x)' || fault 'singular values of scaled modes'
    # Modes that are given as snapshots have the same weights. A column that occurs twice has a singular value √2 times as large.
    "$PYTHON" - <<< "$reader"'
write("snapshots.npz", [[1000 * x for x in u] for u in columns("modes.npz")], True)'
    done_well masspca mesh.npz modes.npz snapshots.npz --scaling eigenvalue -o c.npz
    "$PYTHON" - <<< "$reader"'
head, b = member("modes.npz", "eigenvalue")
l = struct.unpack("<4d", b)
r = result("c.npz")
assert r["columns"] == 8 and r["rank"] == 4, r
for s, x in zip(r["singular_values"], l):
    assert abs(s - 2 ** .5 * l[0] / x) < 1e-9, (s, x)' || fault 'shapes beside modes'
    refused 3 '^masspca: snapshots.npz: eigenvalue scaling needs the file of the modes' masspca mesh.npz snapshots.npz --scaling eigenvalue -q -o refused.npz
    refused 3 '^masspca: modes.npz: a second file of modes' masspca mesh.npz modes.npz modes.npz --scaling eigenvalue -q -o refused.npz
    no_faults
}

@test "scalings of free bodies leave rigid motions out" {
    local ending=.npz
    cd "$BODY"
    done_well masspca free.npz free-modes.npz -o a.npz
    grep -q 'free-modes.npz: 6 rigid motions are left out of the basis' "$BATS_TEST_TMPDIR/stderr" || fault 'rigid modes are not mentioned'
    done_well masspca free.npz free-modes.npz --scaling rayleigh -o b.npz
    # A snapshot with a hundred times as much rigid motion as deformation has the weight of its deformation.
    "$PYTHON" - <<< "$reader"'
for f in "a.npz", "b.npz":
    assert result(f)["columns"] == 4, result(f)
U = columns("free-modes.npz")
write("mixed.npz", [[100 * x + y for x, y in zip(U[2], U[6])], [3 * x for x in U[4]]], True)
write("plain.npz", [list(U[6])], True)'  || fault 'rigid modes are in the basis'
    done_well masspca free.npz free-modes.npz mixed.npz --scaling eigenvalue -o c.npz
    grep -q 'mixed.npz: 1 rigid motions are left out' "$BATS_TEST_TMPDIR/stderr" || fault 'a rigid shape is not mentioned'
    done_well masspca free.npz free-modes.npz plain.npz --scaling eigenvalue -o d.npz
    "$PYTHON" - <<< "$reader"'
c, d = result("c.npz"), result("d.npz")
assert c["columns"] == d["columns"] == 5, (c, d)
for s, t in zip(c["singular_values"], d["singular_values"]):
    assert abs(s - t) < 1e-9, (c, d)' || fault 'the rigid part of a shape counts'
    refused 3 'every column is zero' masspca free.npz free-modes.npz --columns 1-6 --scaling rayleigh -q -o refused.npz
    no_faults
}

@test "random projection" {
    local ending=.npz
    cd "$BODY"
    done_well masspca mesh.npz modes.npz deriv.npz --method random -r 6 -o a.npz
    done_well masspca mesh.npz modes.npz deriv.npz --method random -r 6 --seed 2 -o b.npz
    done_well masspca mesh.npz modes.npz deriv.npz --method random -r 6 --raw -o raw.npz
    done_well masspca mesh.npz raw.npz --method gram-schmidt -o again.npz
    ending=
    done_well simverify mesh.npz a.npz
    done_well simverify mesh.npz raw.npz
    "$PYTHON" - <<< "$reader"'
assert meta("a.npz")["kind"] == "basis" and meta("raw.npz")["kind"] == "snapshots" and meta("a.npz")["seed"] == 1
assert "memory" not in meta("a.npz")["parameters"]
assert "mass" not in meta("raw.npz") and "orthogonality" not in result("raw.npz") and result("raw.npz")["columns"] == 14
assert result("a.npz")["orthogonality"] <= 1e-12 and result("a.npz")["rank"] == 6
assert columns("a.npz") != columns("b.npz")
for u, v in zip(columns("a.npz"), columns("again.npz")):
    assert max(abs(x - y) for x, y in zip(u, v)) < 1e-10 * max(map(abs, u))' || fault 'random projection'
    cd "$BATS_TEST_TMPDIR/work"
    refused 2 '^masspca: --method random needs -r' masspca mesh.npz modes.npz --method random -q -o out.npz
    refused 2 '^masspca: --raw applies to --method random$' masspca mesh.npz modes.npz --raw -q -o out.npz
    refused 2 '^masspca: 9 random combinations of 4 columns' masspca mesh.npz modes.npz --method random -r 9 -q -o out.npz
    refused 2 '^masspca: modes.npz: -r 4: only 1 random combinations of 5 columns are independent' masspca mesh.npz modes.npz --columns 1,1,1,1,1 --method random -r 4 -q -o out.npz
    no_faults
}

@test "modes: all of them, by the dense solver, and more than were asked for" {
    local ending=.npz
    needs_numpy
    printf '4 3 0 0\n0 0 0 0\n1 1 0 0\n2 0.2 1 0\n3 0.1 0.3 1\n' > one.node
    printf '1 4 0\n0 0 1 2 3\n' > one.ele
    simimport one.node -q -o one.npz
    for body in one mesh; do
        n=$([ $body = one ] && echo 12 || echo 450)
        modes $body.npz -k 3 -q --write-stiffness K.npz --write-mass M.npz -o few.npz
        "$PYTHON" - <<-'END' || fault "$body: NumPy"
		import numpy as np
		def dense(path):
		    f = np.load(path)
		    row = np.repeat(np.arange(len(f['indptr']) - 1), np.diff(f['indptr']))
		    A = np.zeros(f['shape'])
		    A[row, f['indices']] = f['data']
		    return A
		K, M = dense('K.npz'), dense('M.npz')
		L = np.linalg.cholesky(M)
		np.save('value.npy', np.linalg.eigvalsh(np.linalg.solve(L, np.linalg.solve(L, K).T)))
		END
        for k in $n $((n - 1)) $((n / 2 + 1)); do
            done_well modes $body.npz -k $k --certify -q -o all.npz
            "$PYTHON" - $k <<-'END' || fault "$body: $k modes are not those of NumPy"
		import sys, json, numpy as np
		f, value = np.load('all.npz'), np.load('value.npy')
		k = len(f['eigenvalue'])
		assert int(sys.argv[1]) <= k <= int(sys.argv[1]) + 4
		assert abs(f['eigenvalue'] - value[:k]).max() < 1e-11 * value[-1]
		assert json.loads(f['result'].tobytes())['modes'] == k
		END
        done
        simverify $body.npz all.npz > out 2> /dev/null || fault "$body: $(grep FAIL out)"
    done
    refused 2 '^modes: --count 13: the mesh has only 12 free degrees of freedom' modes one.npz -k 13 -o out.npz
    refused 2 '^modes: one.npz: ARPACK finds fewer modes' modes one.npz -k 12 --solver arpack -o out.npz
    no_faults
}

# A square bar is symmetric under inversion, and centrifugal accelerations are odd: by themselves they reach one of its two first
# bending modes by rounding only.
@test "the Krylov space of a symmetric free body has its bending modes" {
    has yang2015 || skip 'this build has no inertia modes'
    needs_numpy
    printf 'v %s\n' '0 0 0' '6 0 0' '6 1 0' '0 1 0' '0 0 1' '6 0 1' '6 1 1' '0 1 1' > long.obj
    printf 'f %s\n' '1 4 3 2' '5 6 7 8' '1 2 6 5' '2 3 7 6' '3 4 8 7' '4 1 5 8' >> long.obj
    voxelize long.obj -q -n 12 -o long.npz
    modes long.npz -q -k 12 -o long-modes.npz
    done_well modes long.npz -q --method krylov -k 24 --as-modes -o krylov.npz
    done_well modes long.npz -q --method krylov --start xx,yy,zz,yz,zx,xy -k 12 --as-modes -o odd.npz
    done_well modes long.npz -q --method krylov --start random,x -k 24 --as-modes -o random.npz
    refused 2 'random with commas' modes long.npz --method krylov --start random,random -k 12 -o out.npz
    "$PYTHON" - <<-'END' || fault 'not the modes'
	import numpy as np
	exact, krylov, odd, random = (np.load(f + '.npz')['eigenvalue'] for f in ('long-modes', 'krylov', 'odd', 'random'))
	assert abs(exact[7] / exact[6] - 1) < 1e-6 # a pair
	assert abs(krylov[:6] / exact[6:] - 1).max() < 1e-3, krylov[:6] / exact[6:] - 1
	assert abs(random[:2] / exact[6:8] - 1).max() < 1e-3, random[:2] / exact[6:8] - 1
	assert odd[1] > 1.5 * exact[7], odd
	END
    no_faults
}

@test "gravity on a free mesh whose basis contains no translation" {
    local ending=.npz
    needs_numpy
    voxelize bar.obj -q -n 6 --enlarge 1 --fill -o free.npz
    modes free.npz -q -k 10 -o free-modes.npz
    masspca free.npz free-modes.npz --columns 7-10 -q -o still.npz
    masspca free.npz free-modes.npz --scaling none -q -o falls.npz
    local way
    polycoef free.npz still.npz -q -o still-poly.npz
    for way in '--poly still-poly.npz' '--model galerkin'; do
        # shellcheck disable=SC2086
        refused 2 '^simulate: still.npz: --gravity: nothing fixes the mesh, and the basis misses 100 % of a fall' simulate free.npz --basis still.npz $way --gravity 0,0,-9.81 -q -o out.npz
        # shellcheck disable=SC2086
        done_well simulate free.npz --basis still.npz $way --steps 3 -q -o still-motion.npz
    done
    # With rigid motions in the basis it falls by g t^2 / 2.
    done_well simulate free.npz --basis falls.npz --model galerkin --gravity 0,0,-9.81 --dt 0.01 --steps 10 --record all -q -o fallen.npz
    done_well simulate free.npz --basis free-modes.npz --model modal --gravity 0,0,-9.81 --dt 0.01 --steps 10 --record all -q -o fallen-modal.npz
    for way in fallen fallen-modal; do
        "$PYTHON" -c 'import sys, numpy as np; u = np.load(sys.argv[1])["u/000000"][-1]; sys.exit(int(abs(u - [0, 0, -9.81 * 0.005]).max() > 1e-9))' $way.npz || fault "$way: no free fall"
    done
    # The mesh fixes x only: gravity along z is refused, gravity along x is accepted.
    voxelize bar.obj -q -n 6 --enlarge 1 --fill --fix-half-space 1,0,0,0,x -o slides.npz
    modes slides.npz -q -k 8 -o slides-modes.npz
    masspca slides.npz slides-modes.npz --columns 4-8 -q -o slides-basis.npz
    refused 2 '^simulate: slides-basis.npz: --gravity' simulate slides.npz --basis slides-basis.npz --model galerkin --gravity 0,0,-9.81 -q -o out.npz
    done_well simulate slides.npz --basis slides-basis.npz --model galerkin --gravity 9.81,0,0 --steps 2 -q -o slid.npz
    no_faults
}

@test "an energy gain without a source is a warning" {
    local ending=.npz
    needs_numpy
    printf 't0,t1,kind,id,fx,fy,fz\n0,0.05,vertex,170,0,0,100\n' > push.csv
    printf 't0,t1,kind,id,fx,fy,fz\n0,0.05,vertex,170,0,0,1e5\n' > strike.csv
    printf 't,vertex,ux,uy,uz\n0,170,0,0,0\n0.05,170,0.01,0,0\n' > drag.csv
    # Damping between prescribed and free vertices adds energy that is not counted. Its amount is bounded.
    simfull mesh.npz --model linear --prescribe-vertices drag.csv --damping-stiffness 1e-6 --beta 0.3 --gamma 0.3 --dt 0.01 --steps 200 -o dragged.npz 2> err || fault "$(cat err)"
    grep -q '^simfull: mesh.npz: at t = .* s the energy exceeds the work that was done by .* J' err || fault "$(cat err)"
    for how in 1e-6 0.1 10; do
        simfull mesh.npz --model linear --prescribe-vertices drag.csv --damping-stiffness $how --dt 0.01 --steps 100 -o dragged.npz 2> err || fault "$(cat err)"
        grep -q 'exceeds the work' err && fault "damping $how: $(cat err)"
    done
    # Linearly implicit steps are unstable with beta below 1/2 and stable with 1, as Newmark's method is. Semi-implicit steps violate the energy
    # balance where forces are large.
    simfull mesh.npz --model linear --integrator linear-euler --beta 0.3 --loads push.csv --dt 0.01 --steps 30 -o wild.npz 2> err || fault "$(cat err)"
    grep -q '^simfull: mesh.npz: at t = 0.3 s the energy exceeds the work that was done by .* J, where .* J were put in' err || fault "$(cat err)"
    simfull mesh.npz --semi-implicit --loads strike.csv --dt 0.05 --steps 20 -o rough.npz 2> err || fault "$(cat err)"
    grep -q '^simfull: mesh.npz: semi-implicit steps are [0-9]* % off the energy balance' err || fault "$(cat err)"
    "$PYTHON" - <<-'END' || fault 'no warnings in the results'
	import json, numpy as np
	for name, text in (('wild', 'exceeds the work'), ('rough', 'off the energy balance')):
	    f = np.load(name + '.npz')
	    assert any(text in w for w in json.loads(f['result'].tobytes())['warnings']), name
	e = np.load('wild.npz')['energy/000000'] # as the message says
	assert (e[:, 0] + e[:, 1] - e[:, 2]).max() > 0.5 * e[:, 2].max()
	END
    for how in 'simfull --model linear --integrator linear-euler --beta 1' 'simfull --model linear' simfull 'simfull --integrator bdf2' 'simfull --model warp' 'simulate --model modal --basis modes.npz --integrator exact' \
        'simulate --basis basis.npz --poly poly.npz' 'simulate --basis basis.npz --poly poly.npz --semi-implicit' 'simfull --integrator energy' 'simfull --model conjac --integrator linear-euler --dynamic farthest:2'; do
        # shellcheck disable=SC2086
        $how mesh.npz --loads push.csv --dt 0.01 --steps 30 -o calm.npz 2> err || fault "$how: $(cat err)"
        grep -q 'exceeds the work\|off the energy balance' err && fault "$how: $(cat err)"
    done
    no_faults
}

@test "the lumped mass in a basis" {
    local ending=.npz way
    needs_numpy
    printf '5 3 0 0\n0 0 0 0\n1 1 0 0\n2 0.2 1 0\n3 0.1 0.3 1\n4 1.1 1 0.8\n' > pair.node
    printf '2 4 0\n0 0 1 2 3\n1 1 2 3 4\n' > pair.ele
    simimport pair.node --turn --fix-vertices 0-2 -q -o pair.npz
    printf 't0,t1,kind,id,fx,fy,fz\n0,0.05,vertex,4,0,900,300\n' > pull.csv
    for way in lumped consistent; do
        # With all six modes the basis spans the whole space, and the reduced motion equals the full-order one.
        modes pair.npz -k 6 --lumping $way -q -o pair-modes.npz
        done_well masspca pair.npz pair-modes.npz --lumping $way --scaling none -q -o pair-basis.npz
        done_well polycoef pair.npz pair-basis.npz --by-region -q -o pair-poly.npz
        done_well cubature pair.npz pair-basis.npz --poses 20 -q -o pair-cub.npz
        local motion=(--loads pull.csv --gravity 0,0,-9.81 --dt 0.005 --steps 40 --record all -q)
        done_well simulate pair.npz --basis pair-basis.npz --poly pair-poly.npz "${motion[@]}" -o pair-a.npz
        done_well simulate pair.npz --basis pair-basis.npz --model galerkin "${motion[@]}" -o pair-b.npz
        done_well simulate pair.npz --basis pair-basis.npz --model cubature --cub pair-cub.npz "${motion[@]}" -o pair-d.npz
        done_well simfull pair.npz --lumping $way "${motion[@]}" -o pair-c.npz
        "$PYTHON" - $way <<-'END' || fault "$way: not the mass of the basis"
	import sys, json, numpy as np
	a, b, c, poly, cub = (np.load('pair-' + n + '.npz') for n in ('a', 'b', 'c', 'poly', 'cub'))
	meta = lambda f: json.loads(f['meta'].tobytes())
	for f in poly, cub:
	    assert meta(f)['mass'] == sys.argv[1] and abs(f['mass'] - np.eye(6)).max() < 1e-12
	for f in a, b:
	    assert abs(f['u/000000'] - c['u/000000']).max() < 1e-7 * abs(c['u/000000']).max()
	    assert abs(f['energy/000000'] - c['energy/000000']).max() < 1e-7 * abs(c['energy/000000']).max()
	END
        simverify pair.npz pair-basis.npz pair-poly.npz pair-cub.npz pair-a.npz pair-b.npz pair-d.npz > out 2> /dev/null || fault "$way: $(grep FAIL out)"
        # to compare the motions with both masses below
        cp pair-c.npz pair-$way.npz
    done
    "$PYTHON" -c 'import sys, numpy as np; a, b = (np.load(n)["u/000000"] for n in sys.argv[1:]); sys.exit(int(abs(a - b).max() < 1e-3 * abs(a).max()))' pair-lumped.npz pair-consistent.npz ||
        fault 'the two masses move alike: the test sees nothing'
    # polynomials of the other mass
    modes pair.npz -k 6 --lumping lumped -q -o lumped-modes.npz
    masspca pair.npz lumped-modes.npz --lumping lumped --scaling none -q -o lumped-basis.npz
    polycoef pair.npz lumped-basis.npz -q -o lumped-poly.npz
    "$PYTHON" "$SUPPLE_SOURCE/tests/cli/forge.py" lumped-poly.npz other-poly.npz 'meta["mass"] = "consistent"' || fault 'forge.py'
    refused 3 '^simulate: other-poly.npz: it has the consistent mass, the basis lumped-basis.npz goes by the lumped one' simulate pair.npz --basis lumped-basis.npz --poly other-poly.npz -q -o out.npz
    no_faults
}

@test "free bodies of scenes have the lumped mass of their basis" {
    local ending=.npz way force poly
    needs_numpy
    printf 'v 0 0 0\nv 0.4 0 0\nv 0.4 0.2 0\nv 0 0.2 0\nv 0 0 0.1\nv 0.4 0 0.1\nv 0.4 0.2 0.1\nv 0 0.2 0.1\nf 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n' > coarse.obj
    voxelize coarse.obj -n 4 --young 1e5 --poisson 0.3 --density 900 -q -o coarse.npz
    for way in lumped consistent; do
        modes coarse.npz -k 12 --lumping $way -q -o coarse-modes.npz
        masspca coarse.npz coarse-modes.npz --columns 7-12 --lumping $way --scaling none -q -o coarse-basis.npz
        polycoef coarse.npz coarse-basis.npz -q -o $way-poly.npz
        cubature coarse.npz coarse-basis.npz --poses 100 --deflection 0.01 -n 8 --linear exact -q -o coarse-cub.npz
        poly=$way-poly.npz
        for force in "linear $poly" "reduced $poly" "reduced coarse-cub.npz"; do
            # With an initial angular velocity the body oscillates about its stretched shape with the frequencies of its modes.
            cat > scene.json <<-END
	{"contact": {"stiffness": 1}, "models": {"bar": {"kind": "${force% *}", "mesh": "coarse.npz", "basis": "coarse-basis.npz", "$([[ $force == *cub* ]] && echo cubature || echo polynomials)": "${force#* }"}},
	 "bodies": [{"name": "bar", "model": "bar", "motion": "free", "angular_velocity": [0.3, 0.5, 0.7]}]}
	END
            done_well simscene scene.json --dt 0.001 --steps 2000 -q -o motion.npz
            "$PYTHON" - <<-'END' || fault "$way, $force: not the frequency of the mode"
	import numpy as np
	m, f = np.load('motion.npz'), np.load('coarse-modes.npz')
	q = np.vstack([m[n].reshape(-1, 6) for n in sorted(m.files) if n.startswith('q/')])
	q = q - q.mean(axis=0)
	eigenvalue = f['eigenvalue'][6:12]
	i = abs(q).max(axis=0).argmax()
	cross = np.nonzero((q[:-1, i] < 0) & (q[1:, i] >= 0))[0]
	cross = cross - q[cross, i] / (q[cross + 1, i] - q[cross, i])
	observed = (len(cross) - 1) / (cross[-1] - cross[0]) / 0.001
	nearest = abs(np.sqrt(eigenvalue) / (2 * np.pi) - observed).min() / observed
	print('observed', observed, 'modes', np.sqrt(eigenvalue) / (2 * np.pi))
	assert len(cross) > 5 and nearest < 0.003
	END
        done
    done
    no_faults
}

# A square section bends in two directions alike: modes 1 and 2, and the directions of their derivatives, are pairs.
@test 'modes and masspca say where a basis would be cut between directions of a symmetric body' {
    "$PYTHON" "$SUPPLE_SOURCE/samples/resonance/model.py" 4 1 0.02 0.02 0 > square.inp
    simimport -q square.inp -o square.npz
    done_well modes square.npz -k 1 -o modes.npz
    [[ $err == *'2 modes are written for --count 1'* ]] || fault "$err"
    done_well masspca square.npz modes.npz -r 1 -o basis.npz
    [[ $err == *'-r 1: column 1 has the singular value of column 2'*'-r 2 keeps all of them'* ]] || fault "$err"
    done_well masspca square.npz modes.npz -r 2 -o basis.npz
    [[ $err != *rounding* ]] || fault "$err"
    # nearly square: the two frequencies differ by the ratio of the sides, 1 + 5e-5
    "$PYTHON" "$SUPPLE_SOURCE/samples/resonance/model.py" 4 1 0.020001 0.02 0 > near.inp
    simimport -q near.inp -o near.npz
    done_well modes near.npz -k 1 -o near-modes.npz
    [[ $err == *'-k 1: mode 1 has the frequency of mode 2, which is left out'*'-k 2 keeps all of them'* ]] || fault "$err"
    done_well modes near.npz -k 3 -o near-modes.npz
    [[ $err == *'-k 3: mode 3 has the frequency of mode 4'*'-k 4 keeps all of them, -k 2 none of them'* ]] || fault "$err"
    done_well modes near.npz -k 2 -o near-modes.npz
    [[ $err != *'left out'* ]] || fault "$err"
    # another thickness has no pairs
    "$PYTHON" "$SUPPLE_SOURCE/samples/resonance/model.py" 4 1 0.03 0.02 0 > flat.inp
    simimport -q flat.inp -o flat.npz
    modes -q flat.npz -k 2 -o modes.npz
    done_well masspca flat.npz modes.npz -r 1 -o basis.npz
    [[ $err != *rounding* ]] || fault "$err"
    no_faults
}
