#!/usr/bin/env bats
# Surface models with other units of length or another vertical axis, and closed models that become hollow.

load common

# same_members A B NAME…: these members have the same bytes, preamble included.
same_members() {
    "$PYTHON" - "$@" <<-'END' || fault "$1 and $2: different members"
	import sys, zipfile
	a, b = (zipfile.ZipFile(f) for f in sys.argv[1:3])
	sys.exit(any(a.read(n + '.npy') != b.read(n + '.npy') for n in sys.argv[3:]))
	END
}

@test "--scale converts the coordinates of a model" {
    local way
    # A factor of a power of two is exact: the bytes of all arrays are the same.
    awk '$1 == "v" { print "v", 1024 * $2, 1024 * $3, 1024 * $4; next } { print }' bar.obj > large.obj
    awk -F, -v OFS=, 'NF == 4 && $1 + 0 { print $1, 1024 * $2, 1024 * $3, 1024 * $4; next } { print }' block.inp > large.inp
    grep -q '^5,1024,1024,1024$' large.inp || fault "large.inp: $(cat large.inp)"
    voxelize bar.obj -q -n 6 --fix-half-space 1,0,0,0.01 -o small.npz
    done_well voxelize large.obj -q -n 6 --scale 0.0009765625 --fix-half-space 1,0,0,0.01 -o scaled.npz
    same_members small.npz scaled.npz vertices hex fixed surface/vertices surface/weights
    simimport block.inp -q --fix-box 0,0,0,0.5,0.5,0.5 -o small.npz
    done_well simimport large.inp -q --scale 0.0009765625 --fix-box 0,0,0,0.5,0.5,0.5 --young 1e6 --density 1e3 -o scaled.npz
    same_members small.npz scaled.npz vertices tet fixed
    # the embedded surface too
    simexport mesh.npz -q -o cage.mesh
    simexport mesh.npz -q -o cage.interp
    awk 'n > 0 { n--; print 1024 * $1, 1024 * $2, 1024 * $3, $4; next } want { n = $1; want = 0 } $1 == "Vertices" { want = 1; if (NF > 1) { n = $2; want = 0 } } { print }' \
        cage.mesh > large.mesh
    simimport cage.mesh -q --surface bar.obj --interpolation cage.interp -o small.npz
    done_well simimport large.mesh -q --scale 0.0009765625 --surface large.obj --interpolation cage.interp -o scaled.npz
    same_members small.npz scaled.npz vertices hex surface/vertices surface/weights
    try simimport large.inp --scale 0.001 -o scaled.npz
    [[ $err == *'--scale is of coordinates only'* ]] || fault "no remark about materials: $err"
    for way in 0 -1 nan 1e13; do
        refused 2 '--scale' voxelize bar.obj --scale=$way -o out.npz
    done
    refused 2 '--scale .*(does not apply|applies).*' simimport K.npy --scale 2 -o out.npz
    refused 2 '--up .*(does not apply|applies).*' simimport K.npy --up y -o out.npz
    refused 2 '--up' voxelize bar.obj --up w -o out.npz
    no_faults
}

@test "--up: a model with another vertical axis stands upright in pictures" {
    local axis way
    # The wedge, with z, y and x upward: the pictures are the same but for rounding on edges.
    sed '3,$s/^1 0 0$/3 0 0/' wedge.off > z.off
    awk 'NF == 3 && NR > 2 { print $1, $3, -$2; next } { print }' z.off > y.off
    awk 'NF == 3 && NR > 2 { print $3, $1, $2; next } { print }' z.off > x.off
    voxelize z.off -q -n 3 -o z.npz
    simrender z.npz -q --size 160x120 -o z.png
    for axis in x y; do
        done_well voxelize $axis.off -q -n 3 --up $axis -o $axis.npz
        holds $axis.npz "m['up'] == '$axis'"
        done_well simrender $axis.npz -q --size 160x120 -o $axis.png
        same_bytes z.png $axis.png "--up $axis"
        voxelize $axis.off -q -n 3 -o lying.npz
        simrender lying.npz -q --size 160x120 -o lying.png
        ! cmp -s z.png lying.png || fault "$axis: it makes no difference"
    done
    simrender y.npz -q --size 160x120 --up 0,1,0 --view 1,0.9,1.8 -o given.png
    same_bytes y.png given.png 'the default camera'
    holds z.npz "'up' not in m"
    # files made from the mesh keep the axis
    ending=
    done_well siminfo y.npz
    grep -q '^up  *y$' "$stdout" || fault 'siminfo does not say it'
    for way in '--plane 1,0,0,1.5' '--plane 1,0,0,1.5 --keep 1'; do
        # shellcheck disable=SC2086 # words
        done_well simcut y.npz $way -q -o part.npz
        holds part.npz "m['up'] == 'y'"
    done
    voxelize y.off -q -n 3 --up y --tetrahedra -o tets.npz
    holds tets.npz "m['up'] == 'y'"
    done_well simimport block.inp -q --up y -o part.npz
    holds part.npz "m['up'] == 'y'"
    needs_numpy
    "$PYTHON" "$SUPPLE_SOURCE/tests/cli/forge.py" y.npz forged.npz "meta['up'] = 'w'"
    refused 3 '"up" is "w", it must be x, y or z' simrender forged.npz -o out.png
    no_faults
}

# scene NAME GRAVITY NORMAL HALF PLACE: a floor, and a box above it.
scene_of_box() {
    cat > "$1.json" <<-END
	{"gravity": [$2], "models": {"floor": {"kind": "rigid", "plane": {"normal": [$3], "offset": -0.5}},
	                             "box": {"kind": "rigid", "box": {"half": [$4]}}},
	 "bodies": [{"name": "floor", "model": "floor"}, {"name": "box", "model": "box", "position": [$5]}]}
	END
}

# Pictures that are the same but for rounding on edges.
alike() {
    PYTHONPATH=$SUPPLE_SOURCE/tests/cli "$PYTHON" -c "
from pixels import png
unlike = abs(png('$1') - png('$2')).max(axis=2) > 8
assert unlike.mean() < 0.01, unlike.sum()" || fault "$3: $1 and $2 differ"
}

# scene_of_mesh MESH GRAVITY ORIENTATION
scene_of_mesh() {
    cat > mesh.json <<-END
	{"gravity": [$2], "models": {"a": {"kind": "rigid", "mesh": "$1"}}, "bodies": [{"name": "a", "model": "a", "orientation": [$3]}]}
	END
}

@test "a scene stands upright on its floor, whatever its vertical axis is, and --up turns the default view" {
    local axis
    needs_numpy
    # One scene in four systems of coordinates: the pictures are the same but for rounding on edges.
    scene_of_box z 0,0,-9.81 0,0,1 0.3,0.2,0.1 0.1,0.2,0.05
    scene_of_box y 0,-9.81,0 0,1,0 0.3,0.1,0.2 0.1,0.05,-0.2
    scene_of_box x -9.81,0,0 1,0,0 0.1,0.3,0.2 0.05,0.1,0.2
    scene_of_box down 0,0,9.81 0,0,-1 0.3,0.2,0.1 0.1,-0.2,-0.05
    for axis in z y x down; do
        done_well simrender $axis.json -q --size 160x120 --shadows none -o $axis.png
        alike z.png $axis.png "$axis up"
    done
    scene_of_box none 0,0,0 0,1,0 0.3,0.1,0.2 0.1,0.05,-0.2
    done_well simrender none.json -q --size 160x120 --shadows none --up 0,2,0 -o given.png
    alike z.png given.png '--up without --view'
    # without gravity the axis is that of the mesh, turned with its body
    awk 'NF == 3 && NR > 2 { print $1, $3, -$2; next } { print }' wedge.off > y.off
    voxelize y.off -q -n 3 --up y -o y.npz
    scene_of_mesh y.npz 0,0,0 1,0,0,0
    done_well simrender mesh.json -q --size 160x120 -o still.png
    done_well simrender mesh.json -q --size 160x120 --up 0,1,0 -o given.png
    same_bytes still.png given.png 'the axis of the mesh'
    scene_of_mesh y.npz 0,0,0 0.7071067811865476,0.7071067811865476,0,0 # y becomes z
    done_well simrender mesh.json -q --size 160x120 -o turned.png
    done_well simrender mesh.json -q --size 160x120 --up 0,0,1 -o given.png
    same_bytes turned.png given.png 'the axis of a mesh that its body turns'
    scene_of_mesh y.npz 0,0,-9.81 1,0,0,0
    done_well simrender mesh.json -q --size 160x120 -o heavy.png
    done_well simrender mesh.json -q --size 160x120 --up 0,0,1 -o given.png
    same_bytes heavy.png given.png 'gravity is of the world'
    no_faults
}

# says HINT CODE PATTERN COMMAND…: refused, with a hint that begins so.
says() {
    local hint=$1
    shift
    refused "$@"
    [[ $err =~ $'\n'$hint ]] || fault "${*:3}: the hint does not match \"$hint\": $err"
}

@test "a cubature model follows from --cub, and hints of missing files follow the law of the mesh" {
    needs_numpy
    local tool
    cubature mesh.npz basis.npz --poses 50 -q -o cub.npz
    done_well simulate mesh.npz --basis basis.npz --cub cub.npz --dt 0.01 --steps 3 -q -o by-file.npz
    done_well simulate mesh.npz --model cubature --basis basis.npz --cub cub.npz --dt 0.01 --steps 3 -q -o named.npz
    same_bytes named.npz by-file.npz 'the model of the named file'
    holds by-file.npz "m['parameters']['model'] == 'cubature'"
    refused 2 '--cub applies to --model cubature' simulate mesh.npz --model galerkin --basis basis.npz --cub cub.npz -o out.npz
    refused 2 '--poly applies to --model reduced' simulate mesh.npz --basis basis.npz --poly poly.npz --cub cub.npz -o out.npz
    # a law without polynomials
    voxelize bar.obj -n 6 --law neo-hookean --fix-half-space 1,0,0,0.1 -q -o law.npz
    modes law.npz -k 3 -q -o law-modes.npz
    says 'cubature makes it' 2 '^simulate: law.npz: .*neo-hookean.* needs --cub$' simulate law.npz --basis law-modes.npz -o out.npz
    says 'cubature makes its model, for simulate --cub' 3 'has no polynomials' polycoef law.npz law-modes.npz -o out.npz
    cubature law.npz law-modes.npz --poses 20 -q -o law-cub.npz
    done_well simulate law.npz --basis law-modes.npz --cub law-cub.npz --dt 0.001 --steps 3 -q -o motion.npz
    no_faults
}

@test "voxelize: without --fill a closed model becomes hollow, with a warning" {
    # 24 x 8 x 8 voxels, of which the inner 22 x 6 x 6 meet no triangle
    try voxelize bar.obj -n 24 --enlarge 1 --grid box -o mesh.npz
    [[ $err == *'hollow'*'792 empty'*'--fill'* ]] || fault "closed: $err"
    holds mesh.npz "r['enclosed_voxels'] == 22 * 6 * 6"
    try voxelize bar.obj -n 24 --enlarge 1 --grid box --fill -o mesh.npz
    [[ $err != *hollow* ]] || fault "filled: $err"
    grep -v '^f 2 3 7 6' bar.obj > open.obj
    try voxelize open.obj -n 24 -o mesh.npz
    [[ $err != *hollow* ]] || fault "open: $err"
    no_faults
}

# A bar of 3 x 1 x 1 cubes of 1 m with named ends, as Gmsh writes it.
make_bracket() {
    awk 'BEGIN {
        print "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n3\n2 1 \"clamp\"\n2 2 \"load face\"\n3 3 \"steel\"\n$EndPhysicalNames\n$Nodes\n16"
        for (i = 0; i < 4; i++) for (j = 0; j < 4; j++) print 4 * i + j + 1, i, j % 2, int(j / 2)
        print "$EndNodes\n$Elements\n5\n1 3 2 1 1 1 2 4 3\n2 3 2 2 2 13 14 16 15"
        for (i = 0; i < 3; i++) { a = 4 * i + 1; print i + 3, 5, 2, 3, 3, a, a + 4, a + 5, a + 1, a + 2, a + 6, a + 7, a + 3 }
        print "$EndElements" }' > bracket.msh
}

# has FILE EXPRESSION: of the arrays a and the meta m of FILE, by NumPy.
has() {
    "$PYTHON" - "$@" <<-'END' || fault "$1: not $2"
	import json, numpy as np, sys
	a = np.load(sys.argv[1])
	m = json.loads(a['meta'].tobytes())
	sys.exit(not eval(sys.argv[2]))
	END
}

@test "named sets of a model: fixing, regions and probes name them" {
    local name
    needs_numpy
    make_bracket
    try simimport bracket.msh -o bracket.npz
    [ "$code" = 0 ] || fault "exit $code: $err"
    [[ $err == *'sets: faces "clamp" (1), faces "load face" (1)'* ]] || fault "sets: $err"
    siminfo bracket.npz > info
    grep -q '^set       load face: 1 faces$' info || fault "$(< info)"
    # the same vertices as by their places
    done_well simimport bracket.msh -q --fix-set clamp -o by-set.npz
    done_well simimport bracket.msh -q --fix-box=-1,-1,-1,0,2,2 -o by-box.npz
    has by-set.npz "np.array_equal(a['fixed'], np.load('by-box.npz')['fixed']) and len(a['fixed']) == 4"
    done_well simimport bracket.msh -q --fix-set clamp --fix-set 'load face:yz' -o two.npz
    has two.npz "list(a['fixed_axes']) == [7] * 4 + [6] * 4"
    # a set of elements, from another program's file
    printf '*NODE\n1,0,0,0\n2,1,0,0\n3,0,1,0\n4,0,0,1\n5,1,1,1\n*ELEMENT,TYPE=C3D4\n1,1,2,3,4\n2,2,3,4,5\n*ELSET,ELSET=a:b\n2\n*NSET,NSET=a:b\n1,2\n' > sets.inp
    done_well simimport sets.inp -q --region-set hard=a:b --fix-set a:b -o sets.npz
    has sets.npz "[x['name'] for x in m['materials']] == ['body', 'hard'] and list(a['region']) == [0, 1] and list(a['fixed']) == [0, 1]"
    done_well simimport sets.inp -q --region-set a:b --fix-set a:b:x -o sets.npz
    has sets.npz "[x['name'] for x in m['materials']] == ['body', 'a:b'] and list(a['fixed_axes']) == [1, 1]"
    # probes: a list with a set between other vertices
    printf 't0,t1,kind,id,fx,fy,fz\n0,inf,region,steel,0,0,-10\n' > steel.csv
    done_well simfull by-set.npz -q --integrator static --loads steel.csv --record probes --probe '1,set:load face,3' -o static.npz
    has static.npz "list(a['vertex']) == [1, 3, 12, 13, 14, 15]"
    refused 2 '--probe: the mesh has no set "top", only faces "clamp" .1., faces "load face" .1.' simfull by-set.npz --record probes --probe set:top -o out.npz
    refused 2 '--fix-set: the mesh has no set "clam", only faces' simimport bracket.msh --fix-set clam -o out.npz
    refused 2 '--fix-set: "clamp:w" is not NAME' simimport bracket.msh --fix-set clamp:w -o out.npz
    refused 2 '--fix-set: "clamp:" is not NAME' simimport bracket.msh --fix-set clamp: -o out.npz
    refused 2 '--region-set: the mesh has no set of elements with the name "clamp"' simimport bracket.msh --region-set clamp -o out.npz
    refused 2 '--region-set: "=clamp" is not' simimport bracket.msh --region-set =clamp -o out.npz
    no_faults
}

@test "regions by boxes" {
    local name
    make_bracket
    done_well simimport bracket.msh -q --fix-half-space 1,0,0,0 --region-box tip,2,0,0,3,1,1 -o bracket.npz
    holds bracket.npz "[x['name'] for x in m['materials']] == ['steel', 'tip']"
    printf 't0,t1,kind,id,fx,fy,fz\n0,inf,region,tip,0,0,-10\n' > tip.csv
    done_well simfull bracket.npz -q --integrator static --loads tip.csv --steps 1 -o static.npz
    # a region of another material, or of two
    printf '{"name": "tip", "young": 2e6}' > tip.json
    simimport bracket.msh -q --region-box tip,2,0,0,3,1,1 --materials tip.json -o bracket.npz
    simexport bracket.npz -q -o two.inp
    refused 2 '--region-box: .*of steel and tip: materials differ' simimport two.inp -q --region-box all,-9,-9,-9,9,9,9 -o out.npz
    refused 2 '--region-box: no element has its centre in x,8' simimport bracket.msh -q --region-box x,8,8,8,9,9,9 -o out.npz
    refused 2 '--region-box .*(does not apply|applies).*' simimport K.npy --region-box x,8,8,8,9,9,9 -o out.npz
    no_faults
}

@test "an unknown region: the known ones are listed" {
    local name=''
    make_bracket
    simimport bracket.msh -q --fix-half-space 1,0,0,0 --region-box tip,2,0,0,3,1,1 -o two.npz
    printf 't0,t1,kind,id,fx,fy,fz\n0,inf,region,end,0,0,-10\n' > end.csv
    printf '0,end,5\n' > tension.csv
    printf '{"name": "end", "young": 5}' > end.json
    printf 't,x,y,z\n0,0,0,0\n' > path.csv
    name='no region "end", only steel, tip'
    refused 3 "end.csv: line 2: id: the mesh has $name" simfull two.npz --loads end.csv -o out.npz
    refused 3 "$name" simfull two.npz --activation tension.csv -o out.npz
    refused 3 "$name" simimport bracket.msh -q --region-box tip,2,0,0,3,1,1 --materials end.json -o out.npz
    refused 2 "--young: the mesh has $name" simfull two.npz --young end=5 -o out.npz
    refused 2 "--viscosity: the mesh has $name" simfull two.npz --viscosity end=5,5 -o out.npz
    refused 2 "--prescribe: the mesh has $name; \"fixed\"" simfull two.npz --prescribe end=path.csv -o out.npz
    refused 2 "--region: the mesh has $name" simcut two.npz --region end --plane 1,0,0,1 -o out.npz
    no_faults
}

@test "statics under a constant load takes one step" {
    local steps
    for steps in 'simfull mesh.npz' 'simfull mesh.npz --model linear' 'simulate mesh.npz --basis basis.npz --poly poly.npz'; do
        # shellcheck disable=SC2086 # words
        done_well $steps -q --integrator static --gravity 0,0,-9.81 -o one.npz
        holds one.npz "r['steps'] == 1"
    done
    printf 't0,t1,kind,id,fx,fy,fz\n0,inf,all,,0,0,-90\n' > constant.csv
    done_well simfull mesh.npz -q --integrator static --loads constant.csv -o one.npz
    holds one.npz "r['steps'] == 1"
    done_well simfull mesh.npz -q --integrator static --loads constant.csv --steps 3 -o three.npz
    holds three.npz "r['steps'] == 3"
    printf '0.5,0.6,vertex,20,0,5,0\n' >> constant.csv
    done_well simfull mesh.npz -q --integrator static --loads constant.csv -o all.npz
    holds all.npz "r['steps'] == 100"
    no_faults
}

@test "simexport: frequencies and effective masses of modes as a table" {
    ending=
    done_well simexport modes.npz -q -o modes.csv
    [ "$(head -n 1 modes.csv)" = mode,frequency_Hz,angular_frequency_rad_s,residual ] || fault "$(head -n 1 modes.csv)"
    [ "$(cut -d, -f1 modes.csv | tr '\n' ' ')" = 'mode 1 2 3 4 ' ] || fault "modes: $(cut -d, -f1 modes.csv)"
    modes mesh.npz -k 4 -o again.npz 2> said.txt
    awk -F, 'NR > 1 { printf "modes: mode %2d %13.6f Hz\n", $1, $2 }' modes.csv > table.txt
    cmp -s table.txt said.txt || fault "modes says otherwise: $(diff table.txt said.txt)"
    awk -F, 'NR > 1 && ($3 / $2 / 6.283185307179586 - 1) ^ 2 > 1e-28 { exit 1 }' modes.csv || fault 'Hz and rad/s'
    # Rigid modes of a free body span the translations: their effective masses sum to the mass, density times volume.
    voxelize bar.obj -q -n 6 --density 800 -o body.npz
    modes body.npz -q -k 6 -o rigid.npz
    done_well simexport rigid.npz body.npz -q -o rigid.csv
    awk -F, 'NR > 1 { for (k = 5; k < 8; k++) m[k] += $k } END { for (k = 5; k < 8; k++) printf "%.17g ", m[k] }' rigid.csv > sums.txt
    holds body.npz "all(abs(float(x) / (800 * r['volume']) - 1) < 1e-10 for x in open('sums.txt').read().split())"
    [ "$(wc -w < sums.txt)" = 3 ] || fault "sums: $(cat sums.txt)"
    refused 2 '--probe applies to a trajectory' simexport modes.npz --probe 3 -o out.csv
    refused 2 '--columns applies to columns' simexport modes.npz --columns 3 -o out.csv
    refused 3 'modes.npz: it was made from another mesh' simexport modes.npz twin.npz -o out.csv
    refused 2 'CSV is of a trajectory' simexport basis.npz -o out.csv
    no_faults
}

@test "wrong files and wrong order: the second line says what to do" {
    # says HINT CODE PATTERN COMMAND…: refused, with this hint
    says 'usage: modalderiv .* MESH MODES' 3 'kind modes, expected mesh' modalderiv modes.npz mesh.npz -o out.npz
    says 'usage: polycoef .* MESH BASIS' 3 'kind basis, expected mesh' polycoef basis.npz mesh.npz -o out.npz
    says 'modes and masspca make it' 2 'needs --basis' simulate mesh.npz -o out.npz
    says 'polycoef makes them' 2 'needs --poly' simulate mesh.npz --basis basis.npz -o out.npz
    says 'cubature makes it' 2 'needs --cub' simulate mesh.npz --basis basis.npz --model cubature -o out.npz
    says 'usage: simulate .*--basis FILE, --poly FILE' 2 'one argument too many: basis.npz' simulate mesh.npz basis.npz -o out.npz
    says 'voxelize makes a mesh of a triangle model' 2 'not known by its ending' simimport bar.obj -o out.npz
    says 'it is a triangle model: voxelize makes a mesh of it' 3 'not a Supple file' modes bar.obj -o out.npz
    says 'it is a file of Supple' 3 'one of OBJ, PLY, STL and OFF' voxelize mesh.npz -o out.npz
    says 'siminfo says what is in it' 3 'it is an .npz file, where JSON is expected' simscene mesh.npz -o out.npz
    says 'or a film' 2 '21 pictures need a pattern' simrender mesh.npz basis.npz traj.npz -o out.png
    refused 2 'a picture needs the mesh' simrender traj.npz -o out.png
    refused 3 'it was made from another mesh' simulate other.npz --basis basis.npz --poly poly.npz -o out.npz
    no_faults
}
