#!/usr/bin/env bats
# Motions as glTF and USD (simexport NAME.glb, NAME.usda), read by programs that know the formats alone: tests/cli/gltf.py, tests/cli/usd.py,
# the validator of the Khronos Group, Blender.

load common

# An ellipsoid of 3 x 1 x 0.6 m that is fixed at one end, with a basis of 10 columns, a reduced motion and one of all vertices, both with
# large deformations, and the models of their frames.
setup_file() {
    export EGG=$BATS_FILE_TMPDIR/egg
    mkdir "$EGG"
    cd "$EGG" || return
    awk 'BEGIN {
        n = 24; m = 14; pi = atan2(0, -1)
        for (i = 1; i < m; i++)
            for (j = 0; j < n; j++)
                printf "v %.9f %.9f %.9f\n", 1.5 - 1.5 * cos(pi * i / m), 0.5 * sin(pi * i / m) * cos(2 * pi * j / n), 0.3 * sin(pi * i / m) * sin(2 * pi * j / n)
        print "v 0 0 0\nv 3 0 0"
        for (j = 0; j < n; j++) {
            k = (j + 1) % n
            for (i = 0; i < m - 2; i++)
                print "f", i * n + j + 1, i * n + k + 1, (i + 1) * n + k + 1, (i + 1) * n + j + 1
            print "f", (m - 1) * n + 1, k + 1, j + 1
            print "f", (m - 1) * n + 2, (m - 2) * n + j + 1, (m - 2) * n + k + 1
        } }' > egg.obj
    voxelize egg.obj -q -n 16 --fill --young 1e5 --fix-half-space 1,0,0,0.2 -o mesh.npz
    modes mesh.npz -q -k 4 -o modes.npz
    modalderiv mesh.npz modes.npz -q -o deriv.npz
    masspca mesh.npz modes.npz deriv.npz -q -r 10 -o basis.npz
    polycoef mesh.npz basis.npz -q -o poly.npz
    simulate mesh.npz -q --basis basis.npz --poly poly.npz --gravity 0,3,-30 --dt 0.01 --steps 40 -o traj.npz
    simfull mesh.npz -q --gravity 0,3,-30 --dt 0.01 --steps 30 -o full.npz
    simexport mesh.npz basis.npz traj.npz -q -o traj-%d.obj
    simexport mesh.npz full.npz -q -o full-%d.obj
    simexport mesh.npz -q -o rest.obj
    simexport mesh.npz modes.npz -q -o mode-%d.obj
}

# agrees FILE BOUND UP MODELS…: a file has the triangles of models in its frames to BOUND; sets `angle` to the largest error of normals.
agrees() {
    local said
    said=$("$PYTHON" "$BATS_TEST_DIRNAME/animated.py" "$@" 2>&1) || fault "$(tail -n 1 <<< "$said")"
    angle=${said##* }
}

# frames NAME EVERY LAST: FRAME=MODEL of OBJ.
frames() {
    local f
    for ((f = 0; f <= $3; f += $2)); do
        echo "$f=$EGG/$1-$f.obj"
    done
}

# said PATTERN: the number that the pattern finds in what the last command said.
said() {
    [[ $err =~ $1 ]] || fault "\"$1\" is not in: $err"
    number=${BASH_REMATCH[1]}
}

at_most() {
    awk "BEGIN {exit !($1 <= $2)}" || fault "$3: $1 is more than $2"
}

@test "a reduced motion: its columns as targets" {
    local number angle ending=.glb file
    needs_numpy
    cd "$EGG"
    for file in motion.glb motion.usda; do
        done_well simexport mesh.npz basis.npz traj.npz -o $file
        said '314 vertices, 10 targets, 41 frames'
        said 'normals differ .* on average, ([0-9.e-]+) at most'
        agrees $file size z $(frames traj 2 40)
        at_most "$angle" "$number * 1.05" "$file, normals" # two digits were printed
    done
    [[ $err != *targets:* ]] || fault "a limit of players was named for USD: $err"
    done_well simexport mesh.npz basis.npz traj.npz -o motion.glb
    said '10 targets: old players draw at most (8)'
    said 'rounding moves no vertex by more than ([0-9.e-]+) m'
    agrees motion.glb "$number" z $(frames traj 2 40)
    # a file of every position would have 41 * 314 * 12 bytes and no normals
    [ "$(wc -c < motion.glb)" -lt $((41 * 314 * 12)) ] || fault "$(wc -c < motion.glb) bytes"
    done_well simexport mesh.npz basis.npz traj.npz --frames 4-40 --every 12 -q -o some.glb
    agrees some.glb size z 0="$EGG/traj-4.obj" 1="$EGG/traj-16.obj" 2="$EGG/traj-28.obj" 3="$EGG/traj-40.obj"
    done_well simexport mesh.npz basis.npz traj.npz --frames 4-40 --every 12 -q -o some.usda # fewer frames than targets: points
    agrees some.usda size z 0="$EGG/traj-4.obj" 1="$EGG/traj-16.obj" 2="$EGG/traj-28.obj" 3="$EGG/traj-40.obj"
    ! grep -q BlendShape some.usda || fault 'some.usda: blend shapes for four frames'
    for file in one.glb one.usda; do
        done_well simexport mesh.npz basis.npz traj.npz --frames 20 -q -o $file
        agrees $file size z 0="$EGG/traj-20.obj"
        done_well simexport mesh.npz -q -o $file
        agrees $file size z 0="$EGG/rest.obj"
    done
    cat traj.npz | simexport mesh.npz basis.npz - -q --to glb -o - > pipe.glb || fault 'a pipe'
    agrees pipe.glb size z 20="$EGG/traj-20.obj"
    no_faults
}

@test "a motion of all vertices: principal directions to the tolerance" {
    local number angle ending=.glb few many
    needs_numpy
    cd "$EGG"
    done_well simexport mesh.npz full.npz -o full.glb
    said '([0-9]+) targets, 31 frames' && many=$number
    said 'principal directions leave an error of at most ([0-9.e-]+) m'
    at_most "$number" 3.22e-4 'the default tolerance, 1e-4 of the diagonal'
    agrees full.glb "$number+3e-6" z $(frames full 1 30)
    done_well simexport mesh.npz full.npz --tolerance 0.01 -o few.glb
    said '([0-9]+) targets, 31 frames' && few=$number
    [ "$few" -lt "$many" ] || fault "$few targets for 0.01, $many for 1e-4"
    said 'principal directions leave an error of at most ([0-9.e-]+) m'
    agrees few.glb "$number+3e-6" z $(frames full 1 30)
    done_well simexport mesh.npz full.npz -o full.usda
    said 'principal directions leave an error of at most ([0-9.e-]+) m'
    agrees full.usda "$number+3e-6" z $(frames full 1 30)
    no_faults
}

@test "modes swing one after another" {
    local angle ending=.glb file i chosen=()
    needs_numpy
    cd "$EGG"
    for ((i = 0; i < 4; i++)); do
        chosen+=("$((24 * i + 6))=$EGG/mode-$i.obj:$EGG/rest.obj" "$((24 * i + 12))=$EGG/rest.obj")
    done
    for file in modes.glb modes.usda; do
        done_well simexport mesh.npz modes.npz -q -o $file
        agrees $file size z "${chosen[@]}"
        done_well simexport mesh.npz modes.npz --columns 3,1 -q -o $file
        agrees $file size z 6="$EGG/mode-2.obj:$EGG/rest.obj" 30="$EGG/mode-0.obj:$EGG/rest.obj"
    done
    no_faults
}

@test "quantized files are within the bound that is printed, and smaller" {
    local number angle ending=.glb fine coarse exact
    needs_numpy
    cd "$EGG"
    done_well simexport mesh.npz basis.npz traj.npz -o fine.glb
    agrees fine.glb size z $(frames traj 2 40)
    exact=$angle
    done_well simexport mesh.npz basis.npz traj.npz --quantize -o coarse.glb
    said 'quantization moves no vertex by more than ([0-9.e-]+) m'
    agrees coarse.glb "$number" z $(frames traj 2 40)
    at_most "$number" 3e-4 'a thousandth of a tenth of the length'
    at_most "$angle" "$exact + 1" 'normals in 8 bits, degrees'
    fine=$(wc -c < fine.glb) coarse=$(wc -c < coarse.glb)
    [ $((coarse * 10)) -lt $((fine * 6)) ] || fault "$coarse bytes, without quantization $fine"
    no_faults
}

@test "a scene: poses of bodies, meshes that several show, planes" {
    local number angle ending=.glb file f all=()
    needs_numpy
    done_well simexport scene.json motion.npz -q -o m.vtu
    for ((f = 0; f < 10; f++)); do
        all+=("$f=m_000$f.vtu")
    done
    for file in scene.glb scene.usda; do
        done_well simexport scene.json motion.npz -q -o $file
        agrees $file size z "${all[@]}"
        done_well simexport scene.json motion.npz --frames 2-8 --every 3 --color speed -q -o $file
        agrees $file size z 0=m_0002.vtu 1=m_0005.vtu 2=m_0008.vtu
        done_well simexport scene.json -q -o $file
    done
    done_well simexport scene.json motion.npz --quantize -o scene.glb
    said '1182 vertices, 4 targets, 10 frames'
    said 'quantization moves no vertex by more than ([0-9.e-]+) m'
    agrees scene.glb "$number" z "${all[@]}"
    # the two balls are one mesh
    "$PYTHON" - "$BATS_TEST_DIRNAME" <<-'END' || fault 'balls do not share their mesh'
	import sys
	sys.path.insert(0, sys.argv[1])
	import gltf
	nodes = gltf.File('scene.glb').json['nodes']
	balls = [node for node in nodes if node.get('name', '').startswith('balls')]
	assert len(balls) == 2 and len({nodes[ball['children'][0]]['mesh'] for ball in balls}) == 1
	assert all('mesh' not in ball for ball in balls) # a pose is above what is quantized
	END
    done_well simexport scene.json motion.npz -q -o scene.usda
    [ "$(grep -c 'references = </Meshes/ball>' scene.usda)" = 2 ] || fault 'scene.usda: balls do not share their mesh'
    no_faults
}

@test "the axis that is up becomes y" {
    local angle ending=.glb up
    needs_numpy
    for up in x y z; do
        voxelize bar.obj -q -n 6 --enlarge 1 --up $up -o up.npz
        simexport up.npz -q -o up.obj
        simexport up.npz -q -o up.glb
        simexport up.npz -q -o up.usda
        agrees up.glb size $up 0=up.obj
        agrees up.usda size $up 0=up.obj
    done
    no_faults
}

@test "colours by displacement and speed" {
    local number ending=.glb
    needs_numpy
    cd "$EGG"
    done_well simexport mesh.npz full.npz --color displacement --frames 0-10 -o color.glb
    said 'colours range from 0 to ([0-9.e-]+) m'
    # the largest displacement, from the models, has the last colour; what is fixed has the first
    "$PYTHON" - "$BATS_TEST_DIRNAME" "$number" <<-'END' || fault 'colours'
	import sys
	sys.path.insert(0, sys.argv[1])
	import numpy as np
	import gltf
	read = lambda name: np.array([[float(x) for x in line.split()[1:]] for line in open(name) if line.startswith('v ')])
	far = np.max([np.linalg.norm(read('full-%d.obj' % f) - read('rest.obj'), axis=1) for f in range(11)], axis=0)
	assert abs(far.max() / float(sys.argv[2]) - 1) < 1e-2, far.max()
	file = gltf.File('color.glb')
	color = file.arrays[file.json['meshes'][0]['primitives'][0]['attributes']['COLOR_0']][:len(far)]
	assert color.min() >= 0 and color.max() <= 1
	order = np.argsort(far)
	assert color[order[0], 2] > color[order[0], 0] and color[order[-1], 0] > color[order[-1], 2], (color[order[0]], color[order[-1]]) # blue, red
	END
    done_well simexport mesh.npz full.npz --color speed --frames 0-10 -q -o color.usda
    grep -q 'primvars:displayColor = \[(' color.usda || fault 'color.usda: no colours'
    no_faults
}

@test "odd names of files are text" {
    local ending=.glb file
    needs_numpy
    cp mesh.npz $'me"<sh\n\xff.npz'
    for file in odd.glb odd.usda; do
        try simexport $'me"<sh\n\xff.npz' -q -o $file
        [ "$code" = 0 ] || fault "an odd file name: $err"
    done
    "$PYTHON" - "$BATS_TEST_DIRNAME" <<-'END' || fault 'names'
	import sys
	sys.path.insert(0, sys.argv[1])
	import gltf, usd
	assert gltf.File('odd.glb').json['meshes'][0]['name'] == 'me"<sh\ufffd\ufffd.npz'
	assert next(p for p in usd.File('odd.usda').prims.values() if 'displayName' in p['meta'])['meta']['displayName'] == 'me"<sh\ufffd\ufffd.npz'
	END
    no_faults
}

@test "the validator of the Khronos Group has nothing to say" {
    local said
    command -v npm > /dev/null && command -v node > /dev/null || skip 'no npm'
    cd "$EGG"
    mkdir -p "$SUPPLE_BUILD/node"
    cp "$SUPPLE_SOURCE"/tests/node/{package.json,package-lock.json,.npmrc} "$SUPPLE_BUILD/node"
    [ -d "$SUPPLE_BUILD/node/node_modules/gltf-validator" ] ||
        (cd "$SUPPLE_BUILD/node" && timeout 60 npm ci --no-audit --no-fund --fetch-retries=0 --fetch-timeout=10000) > /dev/null 2>&1 || skip 'npm cannot install gltf-validator'
    simexport mesh.npz basis.npz traj.npz -q -o v-reduced.glb
    simexport mesh.npz full.npz --color speed -q -o v-full.glb
    simexport mesh.npz modes.npz -q -o v-modes.glb
    simexport mesh.npz full.npz --color displacement --quantize -q -o v-quantized.glb
    simexport mesh.npz -q -o v-mesh.glb
    # a triangle without an area has no normal
    (grep ^v egg.obj && printf 'v 1 0 0\nv 1.5 0 0\nv 2 0 0\n' && grep ^f egg.obj && echo f 315 316 317) > flat.obj
    voxelize flat.obj -q -n 8 --fill -o flat.npz
    simexport flat.npz --quantize -q -o v-flat.glb
    (cd "$OLDPWD" && simexport scene.json motion.npz -q -o "$EGG/v-scene.glb" && simexport scene.json motion.npz --quantize --color speed -q -o "$EGG/v-both.glb")
    said=$(NODE_PATH=$SUPPLE_BUILD/node/node_modules node "$SUPPLE_SOURCE/tests/node/validate.js" v-*.glb 2>&1) || fault "$said"
    [ "$(grep -c ': 0 errors, 0 warnings' <<< "$said")" = 8 ] || fault "$said"
    ! grep -q '"resolved"' "$SUPPLE_SOURCE/tests/node/package-lock.json" || fault 'the lockfile has addresses'
    no_faults
}

@test "Blender imports both" {
    local said
    command -v blender > /dev/null || skip 'no Blender'
    cd "$EGG"
    simexport mesh.npz basis.npz traj.npz -q -o b.glb
    simexport mesh.npz basis.npz traj.npz -q -o b.usda
    said=$(blender --background --factory-startup --python-exit-code 1 --python "$BATS_TEST_DIRNAME/blender.py" -- traj-20.obj b.glb b.usda 2>&1) || fault "$(tail -n 5 <<< "$said")"
    no_faults
}

@test "more targets than players draw are named; a full disk is a failure" {
    local number ending=.glb
    needs_numpy
    "$PYTHON" -c 'import numpy as np
rows = 3 * len(np.load("mesh.npz")["vertices"])
np.save("many.npy", np.asfortranarray(np.random.default_rng(1).normal(size=(rows, 257)) * 0.01))'
    simimport many.npy -q --as snapshots --mesh mesh.npz -o many.npz
    done_well simexport mesh.npz many.npz -o many.glb
    said '257 targets: many players draw at most (256)'
    for ending in glb usda; do
        code=0
        simexport mesh.npz basis.npz traj.npz --to $ending -q -o - > /dev/full 2> err || code=$?
        [ $code = 4 ] && grep -q '^simexport: .*No space left on device$' err || fault "$ending to a full disk: exit $code, $(< err)"
    done
    no_faults
}

@test "what does not apply is refused" {
    refused 2 '^simexport: --quantize applies to --to glb$' simexport mesh.npz basis.npz traj.npz --quantize --to usda -o out.npz
    refused 2 '^simexport: --color applies to --to glb or usda$' simexport mesh.npz basis.npz traj.npz --color speed -o out.csv
    refused 2 '^simexport: --color applies to a trajectory or a scene$' simexport mesh.npz modes.npz --color speed --to glb -o out.npz
    refused 2 '^simexport: --tolerance applies to --to glb or usda or html$' simexport mesh.npz full.npz --tolerance 0.1 -o out.csv
    refused 2 '^simexport: --tolerance applies to a trajectory$' simexport mesh.npz modes.npz --tolerance 0.1 --to glb -o out.npz
    refused 2 '^simexport: --tolerance means nothing where the motion is reduced' simexport mesh.npz basis.npz traj.npz --tolerance 0.1 --to glb -o out.npz
    if simexport mesh.npz basis.npz traj.npz -q -o page.html 2> /dev/null; then # a build with the page
        refused 2 '^simexport: --tolerance means nothing where the motion is reduced' simexport mesh.npz basis.npz traj.npz --tolerance 0.1 --to html -o out.npz
    fi
    refused 2 '^simexport: --frames applies to' simexport mesh.npz modes.npz --frames 1 --to glb -o out.npz
    refused 2 '^simexport: --probe applies to' simexport mesh.npz basis.npz traj.npz --probe 3 --to glb -o out.npz
    refused 2 'name its file too' simexport basis.npz traj.npz --to glb -o out.npz
    refused 2 'needs a scene|name its scene|name the scene' simexport motion.npz --to glb -o out.npz
    refused 2 'more than one file of kind mesh|mesh' simexport mesh.npz twin.npz basis.npz traj.npz --to glb -o out.npz
    refused 3 '' simexport mesh.npz basis.npz poly.npz --to glb -o out.npz
    no_faults
}
