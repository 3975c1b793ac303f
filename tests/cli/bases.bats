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
    simulate mesh.npz -q --model full --loads loads.csv --dt 0.01 --steps 80 -o motion.npz
    voxelize bar.obj -q -n 6 --enlarge 1 --fill -o free.npz
    modes free.npz -q -k 10 -o free-modes.npz
}

# For Python, also without NumPy: columns(file) is U as a list of columns, write() makes a foreign file of one.
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
        '--scaling eigenvalue -r 20' '--scaling unit --columns 3,10-90,5' '--columns 20-95,3,3,1 --method gram-schmidt' '--every 3'; do
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

@test "memory that is too small, and a scratch file that finds no room" {
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
    exec 7> hold # it has read the others, and its scratch file is open, when it comes to this one
    for _ in {1..100}; do
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

@test "scalings" {
    local ending=.npz
    cd "$BODY"
    # modes alone: K and M orthogonal, so that the singular values are the weights themselves, and both scalings are one
    done_well masspca mesh.npz modes.npz --scaling eigenvalue -o a.npz
    done_well masspca mesh.npz modes.npz --scaling rayleigh -o b.npz
    "$PYTHON" - <<< "$reader"'
head, b = member("modes.npz", "eigenvalue")
l = struct.unpack("<4d", b)
for f in "a.npz", "b.npz":
    for s, x in zip(result(f)["singular_values"], l):
        assert abs(s - l[0] / x) < 1e-9, (f, s, l[0] / x)' || fault 'singular values of scaled modes'
    # the modes as shapes weigh what they weigh as modes: twice the same column is √2 times it
    "$PYTHON" - <<< "$reader"'
write("shapes.npz", [[1000 * x for x in u] for u in columns("modes.npz")], True)'
    done_well masspca mesh.npz modes.npz shapes.npz --scaling eigenvalue -o c.npz
    "$PYTHON" - <<< "$reader"'
head, b = member("modes.npz", "eigenvalue")
l = struct.unpack("<4d", b)
r = result("c.npz")
assert r["columns"] == 8 and r["rank"] == 4, r
for s, x in zip(r["singular_values"], l):
    assert abs(s - 2 ** .5 * l[0] / x) < 1e-9, (s, x)' || fault 'shapes beside modes'
    refused 3 '^masspca: shapes.npz: eigenvalue scaling needs the file of the modes' masspca mesh.npz shapes.npz --scaling eigenvalue -q -o refused.npz
    refused 3 '^masspca: modes.npz: a second file of modes' masspca mesh.npz modes.npz modes.npz --scaling eigenvalue -q -o refused.npz
    no_faults
}

@test "scalings of free bodies leave rigid motions out" {
    local ending=.npz
    cd "$BODY"
    done_well masspca free.npz free-modes.npz -o a.npz
    grep -q 'free-modes.npz: 6 rigid motions are left out of the basis' "$BATS_TEST_TMPDIR/stderr" || fault 'rigid modes are not mentioned'
    done_well masspca free.npz free-modes.npz --scaling rayleigh -o b.npz
    # a shape with a hundred times as much rigid motion as deformation weighs what the deformation weighs
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
assert meta("a.npz")["kind"] == "basis" and meta("raw.npz")["kind"] == "shapes" and meta("a.npz")["seed"] == 1
assert "memory" not in meta("a.npz")["parameters"]
assert "mass" not in meta("raw.npz") and "orthogonality" not in result("raw.npz") and result("raw.npz")["columns"] == 14
assert result("a.npz")["orthogonality"] <= 1e-12 and result("a.npz")["rank"] == 6
assert columns("a.npz") != columns("b.npz")
for u, v in zip(columns("a.npz"), columns("again.npz")):
    assert max(abs(x - y) for x, y in zip(u, v)) < 1e-10 * max(map(abs, u))' || fault 'random projection'
    cd "$BATS_TEST_TMPDIR/work"
    refused 2 '^masspca: --method random needs -r' masspca mesh.npz modes.npz --method random -q -o out.npz
    refused 2 '^masspca: --raw is about --method random' masspca mesh.npz modes.npz --raw -q -o out.npz
    refused 2 '^masspca: 9 random combinations of 4 columns' masspca mesh.npz modes.npz --method random -r 9 -q -o out.npz
    refused 5 '^masspca: -r 4: only 1 random combinations of 5 columns are independent' masspca mesh.npz modes.npz --columns 1,1,1,1,1 --method random -r 4 -q -o out.npz
    no_faults
}
