#!/usr/bin/env bats
# simskin, simulate --skin, and their exports, against NumPy (skin.py), simulate --frame, and one another.

load common

# A bar of tetrahedra of 3 x 1 x 1 m on a chain of three bones, and its inertia modes.
setup_file() {
    export SKIN=$BATS_FILE_TMPDIR/skin
    mkdir "$SKIN"
    cd "$SKIN" || return
    voxelize "$DATA"/bar.obj -q -n 9 --enlarge 1 --fill --tetrahedra --young 1e5 -o bar.npz
    cat > chain.json <<-'END'
	{"bones": [{"name": "a", "joint": "path", "path": "a.csv", "segment": [0, 0.5, 0.5, 0.8, 0.5, 0.5], "radius": 0.25},
	           {"name": "b", "parent": "a", "joint": "path", "at": [1, 0.5, 0.5], "path": "b.csv", "segment": [1.2, 0.5, 0.5, 1.8, 0.5, 0.5], "radius": 0.25},
	           {"name": "c", "parent": "b", "joint": "path", "at": [2, 0.5, 0.5], "path": "c.csv", "segment": [2.2, 0.5, 0.5, 3, 0.5, 0.5], "radius": 0.25}]}
	END
    awk 'BEGIN { for (k = 0; k <= 100; k++) {
            t = k / 100; s = sin(6 * t); a = 0.2 * s; b = 0.5 * s; c = 0.4 * (1 - cos(8 * t))
            printf "%.17g,%.17g,0,%.17g,%.17g,0,0,%.17g\n", t, 0.3 * s, 0.1 * t * t, cos(a), sin(a) > "a.csv"
            printf "%.17g,0,0,0,%.17g,0,%.17g,0\n", t, cos(b), sin(b) > "b.csv"
            printf "%.17g,0,0,0,%.17g,%.17g,%.17g,0\n", t, cos(c), 0.6 * sin(c), 0.8 * sin(c) > "c.csv" } }'
    echo '{"bones": [{"name": "all", "joint": "path", "path": "a.csv", "segment": [0, 0, 0, 3, 1, 1], "radius": 3}]}' > one.json
    simskin bar.npz chain.json -q -o skin.npz
    simskin bar.npz one.json -q -o one.npz
    modes bar.npz --method krylov -k 12 --as-modes -q -o modes.npz
    simulate bar.npz --model modal --basis modes.npz --skin skin.npz --skeleton chain.json --gravity 0,0,-9.81 --dt 0.01 --steps 60 -q -o linear.npz
    simulate bar.npz --model modal --basis modes.npz --warp --skin skin.npz --skeleton chain.json --gravity 0,0,-9.81 --dt 0.01 --steps 60 -q -o warped.npz
}

setup() {
    cd "$SKIN" || return
    echo old > out.npz
}

below() { # VALUE BOUND WHAT
    awk -v x="$1" -v y="$2" 'BEGIN { exit !(x == x + 0 && x <= y) }' || fault "$3: $1, expected at most $2"
}

needs_numpy() {
    "$PYTHON" -c 'import numpy, scipy.sparse' 2>/dev/null || skip "no NumPy or no SciPy"
}

@test "weights are those of SciPy" {
    needs_numpy
    below "$("$PYTHON" "$BATS_TEST_DIRNAME"/skin.py weights bar.npz skin.npz)" 1e-12 weights
    simverify bar.npz skin.npz > said
    grep -q '^ok   skin.npz diffusion' said || fault "$(cat said)"
    no_faults
}

@test "the same weights for any number of threads, and a second time" {
    simskin bar.npz chain.json -q -t 1 -o t1.npz
    simskin bar.npz chain.json -q -t 2 -o t2.npz
    cmp t1.npz t2.npz && cmp t1.npz skin.npz
}

@test "one bone of weight 1 is a moving frame" {
    needs_numpy
    common="--model modal --basis modes.npz --gravity 0,0,-9.81 --dt 0.01 --steps 60 --record all -q"
    simulate bar.npz $common --frame a.csv -o frame.npz
    simulate bar.npz $common --skin one.npz --skeleton one.json -o bone.npz
    # with warped vertices, too, whose forces are rotated
    simulate bar.npz $common --warp --frame a.csv -o frame-warped.npz
    simulate bar.npz $common --warp --skin one.npz --skeleton one.json -o bone-warped.npz
    "$PYTHON" -c "
import numpy as np
for end, bound in ('', 1e-13), ('-warped', 1e-12):
    a, b = np.load('frame%s.npz' % end), np.load('bone%s.npz' % end)
    members = [n for n in b.files if '/' in n]
    assert {n for n in a.files if '/' in n} - set(members) == {n for n in a.files if n.startswith(('pose/', 'twist/'))}
    for n in members:
        np.testing.assert_allclose(a[n], b[n], rtol=1e-10, atol=bound, err_msg=n)
# forces on the warped shape, not on the linear one
w, coordinates = np.load('bone.npz'), [n for n in members if n.startswith('q/')]
assert coordinates and any(abs(b[n] - w[n]).max() > 1e-6 for n in coordinates)" > said 2>&1 || fault "$(cat said)"
    for end in '' -warped; do
        simexport bar.npz modes.npz frame$end.npz --frame a.csv --frames 60 -q -o frame.obj
        simexport bar.npz modes.npz bone$end.npz --skin one.npz --skeleton one.json --frames 60 -q -o bone.obj
        awk 'NR == FNR { line[FNR] = $0; next } { split(line[FNR], other); for (k = 2; k <= 4 && $1 == "v"; k++) if (($k - other[k]) ^ 2 > 1e-22) exit 1 }' frame.obj bone.obj ||
            fault "positions in the world differ: $end"
    done
    no_faults
}

@test "the world has the blended positions" {
    needs_numpy
    rm -f w-*.obj
    simexport bar.npz modes.npz linear.npz --every 12 --skin skin.npz --skeleton chain.json -q -o w-%03d.obj
    simulate bar.npz --model modal --basis modes.npz --skin skin.npz --skeleton chain.json --gravity 0,0,-9.81 --dt 0.01 --steps 60 --every 12 -q -o few.npz
    # the surface is embedded at vertices of the mesh
    below "$("$PYTHON" "$BATS_TEST_DIRNAME"/skin.py world bar.npz modes.npz skin.npz chain.json few.npz w-*.obj)" 1e-8 positions # numbers of OBJ
    no_faults
}

@test "weight on bent bones at rest, in statics" {
    needs_numpy
    sed 's/[abc]\.csv/bent-&/g' chain.json > bent.json
    for bone in a b c; do
        awk -F, 'NR == 41 { $1 = 0; print }' OFS=, $bone.csv > bent-$bone.csv
    done
    modes bar.npz -k 7 --write-mass M.npz -q -o few.npz
    simskin bar.npz bent.json -q -o bent.npz
    simulate bar.npz --model modal --basis modes.npz --skin bent.npz --skeleton bent.json --gravity 1,2,-9.81 --integrator static --steps 2 -q -o static.npz
    below "$("$PYTHON" "$BATS_TEST_DIRNAME"/skin.py forces bar.npz modes.npz bent.npz bent.json static.npz M.npz 1 2 -9.81)" 1e-9 forces
    no_faults
}

@test "glTF plays the same positions" {
    needs_numpy
    for name in linear warped; do
        rm -f g-*.obj
        simexport bar.npz modes.npz $name.npz --every 6 --skin skin.npz --skeleton chain.json -q -o g-%03d.obj
        tolerance=
        [ $name = linear ] || tolerance="--tolerance 1e-7"
        simexport bar.npz modes.npz $name.npz --every 6 --skin skin.npz --skeleton chain.json $tolerance -o $name.glb 2> said
        # what it says: principal directions of the warped shape, the embedded surface, and rounding
        bound=$(grep -oE '(at most|more than) [0-9.e-]+ m' said | awk '{ sum += $3 } END { printf "%.9g\n", sum }')
        below "$bound" 1e-4 "the bound of $name.glb"
        below "$("$PYTHON" "$BATS_TEST_DIRNAME"/skin.py gltf $name.glb "$bound" g-*.obj)" 0 "$name.glb against $bound"
    done
    no_faults
}

# Joints and animation of a file of another program: here one of simexport, in single precision.
@test "scripts/gltf-skeleton reads joints and their motion" {
    simexport bar.npz modes.npz linear.npz --skin skin.npz --skeleton chain.json -q -o linear.glb
    rm -rf back
    "$PYTHON" "$SUPPLE_SOURCE/scripts/gltf-skeleton" linear.glb back --radius 0.25 --up z
    [ "$(ls back | tr '\n' ' ')" = "a.csv b.csv c.csv skeleton.json " ] || fault "$(ls back)"
    simskin bar.npz back/skeleton.json -q -o other.npz
    simulate bar.npz --model modal --basis modes.npz --skin skin.npz --skeleton back/skeleton.json --gravity 0,0,-9.81 --dt 0.01 --steps 50 -q -o back.npz
    simexport bar.npz modes.npz back.npz --skin skin.npz --skeleton back/skeleton.json --every 20 -q -o b-%d.obj
    simexport bar.npz modes.npz linear.npz --skin skin.npz --skeleton chain.json --every 20 -q -o l-%d.obj
    for k in 0 1 2; do # the paths end at 0.6 s, which the last step would feel
        paste l-$k.obj b-$k.obj | awk '$1 == "v" { for (i = 2; i <= 4; i++) if (($i - $(i + 4)) ^ 2 > 1e-8) exit 1 }' || fault "frame $k differs"
    done
    code=0
    "$PYTHON" "$SUPPLE_SOURCE/scripts/gltf-skeleton" bar.npz back --radius 0.2 2> said || code=$?
    [ "$code $(cat said)" = "3 gltf-skeleton: bar.npz: it is no binary glTF 2.0 file" ] || fault "$code $(cat said)"
    simexport bar.npz -q -o rest.glb
    code=0
    "$PYTHON" "$SUPPLE_SOURCE/scripts/gltf-skeleton" rest.glb back --radius 0.2 2> said || code=$?
    [ "$code $(wc -l < said)" = "3 1" ] || fault "$code $(cat said)"
    no_faults
}

@test "Ritz vectors of inertia modes" {
    simverify bar.npz modes.npz > said || fault "$(cat said)"
    modes bar.npz -k 9 -q -o exact.npz
    # Ritz values are not below the eigenvalues of the same number (Courant and Fischer)
    modes bar.npz -k 18 -q -o exact.npz
    siminfo exact.npz | awk '$3 == "Hz" && $1 > 6 { print $2 }' > exact
    siminfo modes.npz | awk '$3 == "Hz" { print $2 }' > ritz
    [ "$(wc -l < ritz)" = 12 ] || fault "$(cat ritz)"
    paste exact ritz | awk '!($2 >= $1 * (1 - 1e-9)) { exit 1 }' || fault "$(paste exact ritz)"
    refused 3 'modalderiv: modes.npz: its columns are Ritz vectors of a subspace, derivatives are of eigenvectors$' modalderiv bar.npz modes.npz -q -o out.npz
    no_faults
}

@test "attached vertices fixed" {
    simskin bar.npz chain.json --write-fixed held.npz -q -o out.npz
    simskin held.npz chain.json -q -o held-skin.npz
    modes held.npz -k 5 -q -o held-modes.npz
    simulate held.npz --model modal --basis held-modes.npz --skin held-skin.npz --skeleton chain.json --gravity 0,0,-9.81 --dt 0.01 --steps 20 --record all -q -o held-motion.npz
    simverify held.npz held-modes.npz held-skin.npz held-motion.npz > said 2>&1 || fault "$(cat said)"
    attached=$(siminfo skin.npz | awk '$1 == "skin" { print $(NF - 3) }')
    [ "$(siminfo held.npz | awk '$1 == "fixed" { print $2; exit }')" = "$attached" ] || fault "$(siminfo held.npz), not $attached"
    siminfo --script held.npz > again.sh
    grep -q 'write-fixed' again.sh || fault "$(cat again.sh)"
    echo old > out.npz
    no_faults
}

@test "what is refused" {
    common="--model modal --basis modes.npz --dt 0.01 -q -o out.npz"
    sed 's/1.2, 0.5, 0.5, 1.8, 0.5, 0.5/1.2, 4.5, 0.5, 1.8, 4.5, 0.5/' chain.json > outside.json
    refused 3 'simskin: outside.json: bones\[1\].segment: no vertex of the mesh is within 0.25 m of bone b and nearer to it than to other bones$' simskin bar.npz outside.json -q -o out.npz
    sed 's/, "segment": \[2.2.*0.25}/}/' chain.json > none.json
    refused 3 'simskin: none.json: bones\[2\]: bone c has no vertices' simskin bar.npz none.json -q -o out.npz
    simcut bar.npz --plane 1,0,0,2.8 -q -o cut.npz
    sed 's/3, 0.5, 0.5/2.3, 0.5, 0.5/' chain.json > short.json
    refused 3 'simskin: cut.npz: the piece with vertex [0-9]* has no bone: attach one to it, or take the piece out \(simcut --keep\)$' simskin cut.npz short.json -q -o out.npz
    refused 3 "simulate: a.csv: the path of bone a ends at 1 s, before the motion at 2 s\$" simulate bar.npz $common --steps 200 --skin skin.npz --skeleton chain.json
    refused 3 'simexport: one.npz: linear.npz was simulated with another skin \([0-9a-f]{12}\.\.\., this one is [0-9a-f]{12}\.\.\.\)$' simexport bar.npz modes.npz linear.npz --skin one.npz --skeleton one.json -q -o out.obj
    refused 2 'simulate: --skin needs --skeleton, with the paths of its bones$' simulate bar.npz $common --skin skin.npz
    refused 3 'simulate: one.npz: it has 1 bones, chain.json has 3$' simulate bar.npz $common --steps 3 --skin one.npz --skeleton chain.json
    sed 's/"b"/"other"/g' chain.json > named.json
    refused 3 'simulate: skin.npz: its bone 1 is b, that of named.json is other$' simulate bar.npz $common --steps 3 --skin skin.npz --skeleton named.json
    refused 3 'simulate: skin.npz: .*mesh' simulate "$DATA"/mesh.npz --model modal --basis "$DATA"/modes.npz --steps 3 --dt 0.01 --skin skin.npz --skeleton chain.json -q -o out.npz
    sed 's/"b", "joint": "path"/"b", "joint": "prismatic", "axis": [1, 0, 0]/; s/"path": "c.csv", //' chain.json > joint.json
    refused 3 'simulate: joint.json: bones\[2\].joint: a skin needs bones that follow paths, and c does not$' simulate bar.npz $common --steps 3 --skin skin.npz --skeleton joint.json
    refused 3 'simfull: chain.json: bones\[0\].joint: bone a follows a path, and simfull moves bones by forces' simfull bar.npz --integrator linear-euler --beta 1 --model linear --steps 1 --skeleton chain.json -q -o out.npz
    refused 2 'simulate: bar.npz: one semi-implicit iteration neglects inertial forces of a rotating frame$' simulate bar.npz $common --steps 3 --semi-implicit --skin skin.npz --skeleton chain.json
    no_faults
}
