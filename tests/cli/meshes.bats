#!/usr/bin/env bats
# Export and import of simulation meshes, and meshes of tetrahedra, of hexahedra and of both in every program.

load common

# same_members A B NAME…: these members have the same bytes, preamble included.
same_members() {
    "$PYTHON" - "$@" <<-'END' || fault "$1 and $2: different members"
	import sys, zipfile
	a, b = (zipfile.ZipFile(f) for f in sys.argv[1:3])
	sys.exit(any(a.read(n + '.npy') != b.read(n + '.npy') for n in sys.argv[3:]))
	END
}

# A cube of 1 m with two tetrahedra on its top, in two regions: mixed.npz. Its lower side is fixed.
make_mixed() {
    cat > mixed.inp <<-'END'
	*NODE
	1, 0, 0, 0
	2, 1, 0, 0
	3, 1, 1, 0
	4, 0, 1, 0
	5, 0, 0, 1
	6, 1, 0, 1
	7, 1, 1, 1
	8, 0, 1, 1
	9, 0.3, 0.4, 2.1
	*ELEMENT, TYPE=C3D8, ELSET=low
	1, 1, 2, 3, 4, 5, 6, 7, 8
	*ELEMENT, TYPE=C3D4, ELSET=high
	2, 5, 6, 7, 9
	3, 5, 7, 8, 9
	*MATERIAL, NAME=stone
	*ELASTIC
	2e6, 0.3
	*DENSITY
	900
	*MATERIAL, NAME=air
	*ELASTIC
	1e6, 0.2
	*DENSITY
	700
	*SOLID SECTION, ELSET=low, MATERIAL=stone
	*SOLID SECTION, ELSET=high, MATERIAL=air
	*NSET, NSET=ground
	1, 2, 3
	*BOUNDARY
	ground, 1, 3
	4, 3, 3
	END
    simimport mixed.inp -q -o mixed.npz
}

@test "meshes are exported and imported: every format" {
    local ending file mesh
    make_mixed
    voxelize bar.obj -q -n 6 --enlarge 1 --fill --tetrahedra --fix-half-space 1,0,0,0 -o tets.npz
    for mesh in mesh tets mixed; do
        for file in x.msh x.mesh x.vtk x.vtu x.inp; do
            ending=
            done_well simexport $mesh.npz -o $file
            ending=.npz
            done_well simimport $file -q -o back.npz
            case $mesh in
            mesh) same_members $mesh.npz back.npz vertices hex region ;;
            tets) same_members $mesh.npz back.npz vertices tet region ;;
            mixed) same_members $mesh.npz back.npz vertices hex tet region ;;
            esac
            [ $file != x.inp ] || same_members $mesh.npz back.npz fixed
            rm $file back.npz
        done
        ending=
        done_well simexport $mesh.npz --to msh2 -o two.msh
        ending=.npz
        done_well simimport two.msh -q -o back.npz
        same_members $mesh.npz back.npz vertices region
    done
    # .inp keeps fixed components
    simexport mixed.npz -q -o m.inp && simimport m.inp -q -o back.npz
    same_members mixed.npz back.npz fixed fixed_axes
    # and named sets: the first file adds those of all nodes, of the regions and of the fixed components, the second none
    simexport back.npz -q -o n.inp && simimport n.inp -q -o again.npz
    ending=
    siminfo back.npz > sets
    [ "$(grep -c ^set sets)" = 8 ] || fault "sets: $(< sets)"
    done_well simcompare back.npz again.npz -q
    no_faults
}

@test "VegaFEM's three files and the model" {
    local ending=
    voxelize bar.obj -q -n 6 --enlarge 1 --fill --tetrahedra --fix-half-space 1,0,0,0 -o tets.npz
    for mesh in mesh tets; do
        ending=
        done_well simexport $mesh.npz -o v.veg
        [[ $err == *'not in this file: 25 fixed vertices (see .bou), the embedded surface'* ]] || fault "$mesh: $err"
        done_well simexport $mesh.npz -q -o v.bou
        done_well simexport $mesh.npz -q -o v.interp
        done_well simexport $mesh.npz -q -o v.obj
        ending=.npz
        [ $mesh = tets ] || set -- --quadrature 3
        done_well simimport v.veg --fixed v.bou --surface v.obj --interpolation v.interp -q -o back.npz "$@"
        set --
        ending=
        done_well simcompare $mesh.npz back.npz -q --atol 1e-8
        same_members $mesh.npz back.npz vertices region fixed surface/triangles surface/element
    done
    no_faults
}

@test "TetGen: both files appear together, or none" {
    local ending=
    voxelize bar.obj -q -n 4 --tetrahedra -o tets.npz
    done_well simexport tets.npz -q -o t.node
    cp t.ele first.ele
    done_well simexport tets.npz -q -o t.ele
    same_bytes t.ele first.ele "either name"
    ending=.npz
    done_well simimport t.node -q -o back.npz
    same_members tets.npz back.npz vertices tet region
    refused 3 "mesh.npz: the mesh has 96 elements of type hex, and TetGen's files hold 4-node tetrahedra only" simexport mesh.npz -o u.node
    refused 2 "TetGen's files are two: name one that ends in .node or .ele" simexport tets.npz --to tetgen -o -
    refused 2 "TetGen's files are two" simexport tets.npz --to tetgen -o u.txt
    no_faults
}

# sets_of MESH: each set of a mesh with its entries, in the order of kinds and names; without those that are a region of their name.
sets_of() {
    "$PYTHON" - "$1" <<-'END'
	import json, sys, numpy as np
	f = np.load(sys.argv[1])
	at = dict.fromkeys(('vertices', 'elements', 'faces'), 0)
	lines = []
	names = [r['name'] for r in json.loads(bytes(f['meta']))['materials']]
	for s in json.loads(bytes(f['meta'])).get('sets', []):
	    kind, n = s['of'], s['count']
	    entries = f['sets/' + kind][at[kind]:at[kind] + n].tolist()
	    at[kind] += n
	    if not (kind == 'elements' and s['name'] in names):
	        lines.append('%s %s %s' % (kind, s['name'], entries))
	print('\n'.join(sorted(lines)))
	END
}

@test "named sets through Gmsh, Medit and VTK" {
    needs_numpy
    local ending=.npz type side top
    # All faces are of the boundary: one between two elements is read as that of the element with the lower number.
    # sets of vertices, of faces that share some, and of elements that overlap; two regions; triangles and quadrilaterals
    for type in C3D8 C3D10 C3D15 C3D20; do
        "$PYTHON" "$BATS_TEST_DIRNAME/typed.py" $type 3 2 1 deck.inp
        side='1, S1|2, S1|2, S2|3, S3' top='2, S2|3, S2|1, S1'
        [ $type != C3D10 ] || side='1, S1|2, S1|7, S1' top='2, S1|8, S1'
        awk -v side="${side//|/\\n}" -v top="${top//|/\\n}" '/^\*MATERIAL/ && !done { print "*ELSET, ELSET=ODD, GENERATE\n1, 5, 2\n*ELSET, ELSET=LOW\n1, 2, 3\n*NSET, NSET=FEW WORDS\n1, 3, 6";
            print "*SURFACE, NAME=A SIDE\n" side "\n*SURFACE, NAME=TOP\n" top; done = 1 } { print }' deck.inp > sets.inp
        simimport sets.inp -q --region-set LOW -o mesh.npz
        sets_of mesh.npz > all.txt
        [ "$(wc -l < all.txt)" -ge 6 ] || fault "$type: $(< all.txt)"
        done_well simexport mesh.npz -o x.msh
        [[ $err != *named\ sets* ]] || fault "$type: $err"
        done_well simimport x.msh -q -o back.npz
        sets_of back.npz > back.txt
        cmp -s all.txt back.txt || fault "$type, version 4: $(diff all.txt back.txt)"
        same_members mesh.npz back.npz region
        done_well simexport mesh.npz --to msh2 -o x2.msh
        [[ $err == *'named sets of elements'* ]] || fault "$type: $err"
        done_well simimport x2.msh -q -o back.npz
        sets_of back.npz > back.txt
        grep -v ^elements all.txt | cmp -s - back.txt || fault "$type, version 2: $(diff all.txt back.txt)"
    done
    "$PYTHON" "$BATS_TEST_DIRNAME/typed.py" C3D10 3 2 1 deck.inp
    sed 's/^\*MATERIAL/*SURFACE, NAME=SIDE\n1, S1\n2, S1\n*SURFACE, NAME=TOP\n2, S1\n7, S1\n&/' deck.inp > sets.inp
    simimport sets.inp -q -o mesh.npz
    ending= done_well simexport mesh.npz -o x.mesh
    [[ $err == *'the faces of set SIDE have the reference 1'*'the faces of set TOP have the reference 2'* ]] || fault "$err"
    done_well simimport x.mesh -q -o back.npz
    sets_of mesh.npz | sed -n 's/^faces SIDE/faces surface-1/p; s/^faces TOP/faces surface-2/p' > all.txt
    sets_of back.npz | cmp -s all.txt - || fault "Medit: $(sets_of back.npz)"
    simexport mesh.npz -q -o x.vtk && simexport mesh.npz -q -o x.vtu
    for file in x.vtk x.vtu; do
        grep -q 'set_END' $file || fault "no set in $file"
        done_well simimport $file -q -o back.npz
        same_members mesh.npz back.npz vertices tet10 region
    done
    [ "$(awk '$2 == "set_END" { on = 1; getline; next } $1 == "SCALARS" { on = 0 } on { n += $1 } END { print n }' x.vtk)" = "$(siminfo mesh.npz | sed -n 's/^set *END: \([0-9]*\) vertices/\1/p')" ] ||
        fault 'the set END in VTK'
    no_faults
}

@test "properties that a format cannot hold are reported" {
    local ending=
    make_mixed
    done_well simexport mixed.npz -o m.msh
    [[ $err == "simexport: m.msh: not in this file: the materials' constants, 4 fixed vertices" ]] || fault "$err"
    done_well simexport mixed.npz -o m.mesh
    [[ $err == "simexport: m.mesh: not in this file: the materials' names and constants, 4 fixed vertices, 1 named sets of vertices, 2 named sets of elements" ]] || fault "$err"
    done_well simexport mixed.npz -o m.vtu
    [[ $err == "simexport: m.vtu: not in this file: the materials' names and constants, 4 fixed vertices" ]] || fault "$err"
    done_well simexport mixed.npz -o m.inp
    [ -z "$err" ] || fault "$err"
    done_well simexport mixed.npz -o m.bou
    [[ $err == 'simexport: m.bou: not in this file: 1 vertices that are fixed in some components only' ]] || fault "$err"
    refused 3 'mixed.npz: the mesh has 1 hexahedra and 2 tetrahedra, and a .veg file holds one type of element' simexport mixed.npz -o x.veg
    refused 3 'the mesh has no embedded surface' simexport mixed.npz -o x.interp
    refused 3 'no vertex of the mesh is fixed' simexport free.npz -o x.bou
    refused 2 'takes one mesh, not 2 files' simexport mesh.npz modes.npz -o x.msh
    refused 3 'modes.npz: .*mesh' simexport modes.npz -o x.inp
    refused 2 '^simexport: --columns applies to columns$' simexport mesh.npz --columns 1 -o x.msh
    # a law without a card, and names with special characters
    echo '[{"name": "a b", "law": "neo-hookean", "young": 1e6, "poisson": 0.3, "density": 1000, "damping_mass": 0.5}]' > m.json
    voxelize bar.obj -q -n 2 --region-box 'a b,-inf,-inf,-inf,inf,inf,inf' --materials m.json -o neo.npz
    done_well simexport neo.npz -o n.inp
    [[ $err == *'material a b is named a_b'*'material a b: the law neo-hookean has no card in .inp files and is not written'* ]] || fault "$err"
    done_well simexport neo.npz -o n.veg
    [[ $err == *'ENU holds its constants, but not that its law is neo-hookean'*'its damping has no place in .veg files'* ]] || fault "$err"
    no_faults
}

# walk MESH LOADS: runs every program on a mesh, fixed or free, in a folder of its own, and simverify on all results.
walk() {
    local mesh=$1.npz modes=4 model integrator options program ending=.npz
    mkdir "$1" && cd "$1" && ln -s ../*.csv "../$mesh" . || return
    [[ $1 != free* ]] || modes=9
    done_well modes $mesh -q -k $modes --certify --write-stiffness K.npz --write-mass M.npz -o modes.npz
    done_well modes $mesh -q -k $modes --lumping lumped -o lumped.npz
    done_well modes $mesh -q --method inertia -o inertia.npz
    done_well modalderiv $mesh modes.npz -q -o deriv.npz
    done_well masspca $mesh modes.npz deriv.npz -q -r 6 -o basis.npz
    done_well masspca $mesh inertia.npz modes.npz -q --method gram-schmidt -r 6 -o ordered.npz
    done_well masspca $mesh modes.npz deriv.npz -q --method random -r 6 -o random.npz
    done_well polycoef $mesh basis.npz -q --by-region -o regions.npz
    done_well polycoef $mesh basis.npz -q --by-constant -o poly.npz
    for model in 'reduced --basis basis.npz --poly poly.npz' 'galerkin --basis basis.npz' nonlinear linear 'nonlinear --lumping lumped'; do
        for integrator in newmark energy central static 'newmark --semi-implicit'; do
            options='--dt 1e-5 --damping-mass 0.1 --damping-stiffness 1e-4'
            [ "$integrator" != static ] || options=
            [[ $1-$integrator != free*-static && $model-$integrator != *lumped-static ]] || continue
            program=simfull
            [[ $model != *basis* ]] || program=simulate
            # shellcheck disable=SC2086
            done_well $program $mesh -q --model $model --integrator $integrator $options --steps 3 --loads "$2" -o "${model// /_}-${integrator// /_}.npz"
        done
    done
    ending=
    # the polynomials equal the Galerkin projection
    done_well simcompare reduced_--basis_basis.npz_--poly_poly.npz-newmark.npz galerkin_--basis_basis.npz-newmark.npz --basis basis.npz -q --rtol 1e-8 --atol 1e-12
    done_well simverify -q $mesh modes.npz lumped.npz inertia.npz deriv.npz basis.npz ordered.npz random.npz regions.npz poly.npz K.npz M.npz ./*newmark*.npz ./*energy.npz ./*central.npz
    if [[ $1 != free* ]]; then
        ending=.npz
        done_well sketchsolve $mesh --loads all.csv -q -o snapshots.npz
        ending=
        done_well simverify -q $mesh basis.npz snapshots.npz ./*static.npz
    fi
    done_well siminfo $mesh
    done_well siminfo --fill K.npz
    ending=.npz
    mv nonlinear-newmark.npz full.npz
    for model in 'full.npz -o full.csv --probe 4' 'full.npz -o full.vtu --fields --frames 2' 'full.npz -o frame_%d.obj --frames 1-2' 'modes.npz -o modes.vtu' \
        'inertia.npz --to gram -o gram.csv'; do
        # shellcheck disable=SC2086
        done_well simexport $mesh $model -q
    done
    done_well simrender $mesh full.npz --frames 2 --size 80x60 --samples 1 -q -o frame.png
    done_well simrender $mesh modes.npz --sheet 2x2 --size 80x60 --samples 1 -q -o modes.png
    cd ..
}

@test "tetrahedra and both types alike in every tool, with and without a surface" {
    make_mixed
    voxelize bar.obj -q -n 4 --enlarge 1 --fill --tetrahedra --fix-half-space 1,0,0,0 -o tets.npz
    simexport tets.npz -q -o bare.inp && simimport bare.inp -q -o bare.npz
    # a triangle with one corner in the cube and two in the tetrahedra
    printf 'v 0.25 0.5 0.5\nv 0.575 0.35 1.275\nv 0.325 0.6 1.275\nf 1 2 3\n' > skin.obj
    awk 'BEGIN { x = 0.25; y = 0.5; z = 0.5
        printf "0 0 %.17g 1 %.17g 2 %.17g 3 %.17g ", (1-x)*(1-y)*(1-z), x*(1-y)*(1-z), x*y*(1-z), (1-x)*y*(1-z)
        printf "4 %.17g 5 %.17g 6 %.17g 7 %.17g\n", (1-x)*(1-y)*z, x*(1-y)*z, x*y*z, (1-x)*y*z
        print "1 4 0.25 5 0.25 6 0.25 8 0.25"
        print "2 4 0.25 6 0.25 7 0.25 8 0.25" }' > skin.interp
    simimport mixed.inp -q --surface skin.obj --interpolation skin.interp -o skinned.npz
    sed '/BOUNDARY/,$d' mixed.inp > free.inp
    simimport free.inp -q -o free-mixed.npz
    voxelize bar.obj -q -n 3 --fill --tetrahedra -o free-tets.npz
    printf 't0,t1,kind,id,fx,fy,fz\n0,0.1,all,,0,0,-50\n0.1,0.2,all,,30,0,-50\n' > all.csv
    printf 't0,t1,kind,id,fx,fy,fz\n0,1,vertex,8,0,0,-50\n0,1,surface,1,30,0,-50\n0,1,region,0,0,5,0\n' > each.csv
    walk mixed all.csv
    walk skinned each.csv
    walk tets each.csv
    walk bare all.csv
    walk free-mixed all.csv
    walk free-tets each.csv
    no_faults
}

@test "VTK's XML in binary: compressed, either byte order, inline and appended" {
    local ending=.npz file count=0
    # shellcheck source=data.bash
    source "$BATS_TEST_DIRNAME/data.bash"
    make_binary_vtu
    simimport block.vtu -q -o whole.npz
    for file in little-*.vtu big-*.vtu; do
        done_well simimport "$file" -o back.npz
        same_members back.npz whole.npz vertices tet region
        count=$((count + 1))
    done
    [ $count = 36 ] || fault "$count files"
    for kind in LZ4 LZMA; do
        sed "s/vtkZLib/vtk$kind/" little-I-16-inline.vtu > other.vtu
        refused 3 "^simimport: other.vtu: byte [0-9]+: the array Points is compressed with vtk${kind}DataCompressor: save the file with zlib" simimport other.vtu -o out.npz
    done
    # Uncompressed data needs no compressor, and text has no byte order.
    sed 's/byte_order="LittleEndian"/byte_order="BigEndian" compressor="vtkLZ4DataCompressor"/' block.vtu > text.vtu
    done_well simimport text.vtu -o back.npz
    same_members back.npz whole.npz vertices tet region
    no_faults
}

@test "a folded hexahedron of positive volume: the message does not suggest --turn" {
    local ending=.npz
    printf '# vtk DataFile Version 2.0\n\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 8 float\n0 0 0\n2 0 0\n2 2 0\n0 2 0\n0 0 2\n2 0 2\n%s\n0 2 2\n' '.5 .5 2' > folded.vtk
    printf 'CELLS 1 9\n8 0 1 2 3 4 5 6 7\nCELL_TYPES 1\n12\n' >> folded.vtk
    sed 's/^.5 .5 2$/2 2 2/' folded.vtk > whole.vtk
    sed 's/^.5 .5 2$/-2 -2 2/' folded.vtk > deep.vtk
    # At the moved corner the edges are (-1/4, 3/4, 0), (3/4, -1/4, 0) and (-3/4, -3/4, 1): their determinant in this order is -1/2.
    # The volume is linear in this corner and decreases by 1 m3 per metre along either axis.
    for how in '' --turn; do
        refused 3 '^simimport: folded.vtk: 1 of 1 elements are folded, flat or collapsed, the first is element 0 .line 15.: its Jacobian falls to -0.5 m3, its volume is 5 m3' \
            simimport folded.vtk $how -o out.npz
        [[ $err != *--turn* ]] || fault "$err"
    done
    [[ $err == *'--keep-folded keeps them'* ]] || fault "$err"
    # kept, and taken by the programs that follow: the volume is that of the Gauss points, 5 m3
    done_well simimport folded.vtk --keep-folded --fix-half-space 0,0,1,0 -o kept.npz
    [[ $err == *'1 elements are folded at a corner, though at no integration point'*'element 0 of the mesh, from 0, whose Jacobian falls to -0.5 m3'* ]] || fault "$err"
    simverify kept.npz > verified 2> err || fault "$(grep FAIL verified; cat err)"
    grep -q 'volume as stated' verified || fault "$(< verified)"
    done_well modes kept.npz -k 3 -o modes.npz
    simverify kept.npz modes.npz > verified 2> err || fault "$(grep FAIL verified; cat err)"
    # without the key, and folded at an integration point, it is refused
    done_well simimport whole.vtk --keep-folded -o whole-hex.npz
    [[ $err != *'folded at a corner'* ]] || fault "$err"
    refused 3 'its Jacobian falls to' simimport deep.vtk --keep-folded -o out.npz
    sed 's/^8 0 1 2 3/8 0 1 2 2/' folded.vtk > collapsed.vtk
    refused 3 'the first is element 0 .line 15.: it has vertex 2 twice' simimport collapsed.vtk -q -o out.npz
    no_faults
}

# quadratic NAME X: a tetrahedron of 10 nodes with the middle of one edge at x = X instead of 1/2
quadratic() {
    printf '*NODE\n1,0,0,0\n2,1,0,0\n3,0,1,0\n4,0,0,1\n5,%s,0,0\n6,.5,.5,0\n7,0,.5,0\n8,0,0,.5\n9,.5,0,.5\n10,0,.5,.5\n' "$2" > "$1"
    printf '*ELEMENT,TYPE=C3D10,ELSET=E\n1,1,2,3,4,5,6,7,8,9,10\n*MATERIAL,NAME=M\n*ELASTIC\n1e6,.3\n*DENSITY\n1000\n' >> "$1"
    printf '*SOLID SECTION,ELSET=E,MATERIAL=M\n*BOUNDARY\n1,1,3\n3,1,3\n4,1,3\n' >> "$1"
}

@test "tetrahedra of second order that are folded at a node, at points of the mass, or with a mass that is not positive" {
    local ending=.npz
    # With s for X, det J = 1 - 4 (1/2 - s) (L0 - L1). At a corner that is 1 - 4 (1/2 - s): -0.4 for s = 0.15. L0 - L1 of the
    # points of the stiffness is at most 1/sqrt(5) = 0.447, of those of the mass at most 0.632: det J falls to -0.0114, -0.138 and -0.517.
    quadratic node.inp .15
    quadratic mass.inp .1
    quadratic light.inp .05
    quadratic deep.inp -.1
    done_well simimport node.inp -o node.npz
    [[ $err == *'node.inp: 1 elements are folded at a node, though at no integration point: '*'element 0 of the mesh, from 0, whose Jacobian falls to -0.4 m3'* ]] || fault "$err"
    done_well simimport node.inp --keep-folded -o same.npz
    same_members node.npz same.npz vertices tet10
    siminfo same.npz --json | grep -q folded_corners && fault 'the key without a need'
    refused 3 'mass.inp: 1 of 1 elements are folded, .* falls to -0.0113851 m3' simimport mass.inp -o out.npz
    [[ $err == *'--keep-folded keeps them'* ]] || fault "$err"
    done_well simimport mass.inp --keep-folded -o kept.npz
    [[ $err == *'folded at a point of the mass, though at none of the stiffness: their mass matrices are positive definite'*'falls to -0.0113851 m3'* ]] || fault "$err"
    done_well modes kept.npz -k 4 -o modes.npz
    simverify kept.npz modes.npz > verified 2> err || fault "$(grep FAIL verified; cat err)"
    # the mass of the kept element as that of the others: 1000/6 kg
    simverify kept.npz > verified 2> err || fault "$(grep FAIL verified; cat err)"
    grep -q 'volume as stated' verified || fault "$(< verified)"
    refused 3 'light.inp: 1 of 1 elements are folded' simimport light.inp -q -o out.npz
    [[ $err != *--keep-folded* ]] || fault "$err"
    refused 3 'element 0 of the mesh, from 0: its Jacobian falls to -0.137808 m3 at a point of its mass, and its mass matrix is not positive definite' \
        simimport light.inp --keep-folded -o out.npz
    refused 3 'element 0 of the mesh, from 0: its Jacobian falls to -0.517078 m3$' simimport deep.inp --keep-folded -o out.npz
    no_faults
}

@test "inverted elements are named, with their place in the file, or turned: TetGen, included files" {
    local ending=.npz
    sed 's/2 3 4 5 7/2 3 5 4 7/' block.ele > t.ele
    cp block.node t.node
    refused 3 '^simimport: t.node: 1 of 2 elements have negative volume, the first is element 2 .line 3 of t.ele.$' simimport t.node -o out.npz
    done_well simimport t.node --turn -o back.npz
    [[ $err == *'turned 1 elements of negative volume'* ]] || fault "$err"
    simimport block.node -q -o whole.npz
    ending=
    done_well simcompare back.npz whole.npz -q
    no_faults
}

@test "a small file that claims many records takes no memory for them" {
    local kind claim
    for kind in veg msh mesh node ele vtk vtu mphtxt; do
        for claim in 1000000 1000000000 1000000000000 1000000000000000000 9223372036854775807; do
            case $kind in
            veg) sed "s/^2 4 0$/$claim 4 0/" block.veg ;;
            msh) sed "s/^2$/$claim/" block.msh ;;
            mesh) sed "/^Tetrahedra/,/End/s/^2$/$claim/" block.mesh ;;
            node) sed "s/^5 3/$claim 3/" block.node ;;
            ele) sed "s/^2 4 1$/$claim 4 1/" block.ele ;;
            vtk) sed "s/^CELLS 2 10/CELLS $claim 10/" block.vtk ;;
            mphtxt) sed "s/^2 # number of elements/$claim/" block.mphtxt ;;
            vtu) sed "s/NumberOfCells=\"2\"/NumberOfCells=\"$claim\"/" block.vtu ;;
            esac > claim.$kind
            [ $kind != node ] || cp block.ele claim.ele
            [ $kind != ele ] || cp block.node claim.node
            cmp -s block.$kind claim.$kind && fault "$kind: nothing was changed"
            # memory in KiB: that of the complete file and 8 MiB more
            if [ -x /usr/bin/time ]; then
                before=$(/usr/bin/time -f %M simimport block.$kind -q -o whole.npz 2>&1)
                after=$(/usr/bin/time -q -f %M simimport claim.$kind -q -o whole.npz 2>&1 | tail -n 1)
                [ "$after" -lt $((before + 8192)) ] || fault "$kind, $claim: $after KiB, $before KiB for the whole file"
                rm -f whole.npz
            fi
            refused 3 '^simimport: claim' simimport claim.$kind -o out.npz
        done
    done
    no_faults
}

@test "files that include themselves or each other" {
    { cat block.veg && echo '*INCLUDE loop.veg'; } > loop.veg
    refused 3 '^simimport: loop.veg: loop.veg: line 1: ' simimport loop.veg -o out.npz
    echo '*INCLUDE b.veg' > a.veg
    echo '*INCLUDE a.veg' > b.veg
    refused 3 '^simimport: a.veg: .*includ' simimport a.veg -o out.npz
    for i in 1 2 3 4 5 6; do
        for _ in 1 2 3 4 5 6 7 8 9 10; do
            echo "*INCLUDE fan$((i + 1)).veg"
        done > fan$i.veg
    done
    echo '# nothing' > fan7.veg
    refused 3 '^simimport: fan1.veg: ' simimport fan1.veg -o out.npz
    printf '*INCLUDE, INPUT=loop.inp\n' > loop.inp
    refused 3 '^simimport: loop.inp: .*includ' simimport loop.inp -o out.npz
    no_faults
}

# Linear tetrahedra, because CalculiX has a method of its own against locking in C3D8.
# as_in_calculix MESH: body.inp under gravity in CalculiX, and the mesh here: the same displacements of its 45 vertices.
as_in_calculix() {
    printf '%s\n' '*INCLUDE, INPUT=body.inp' '*STEP' '*STATIC' '*DLOAD' 'body, GRAV, 9.81, 0, 0, -1' 'left, GRAV, 9.81, 0, 0, -1' \
        '*NODE PRINT, NSET=NALL' U '*END STEP' > job.inp
    ccx job > ccx.log 2>&1 || fault "ccx: $(tail -n 3 ccx.log)"
    simfull $1 -q --model linear --integrator static --gravity 0,0,-9.81 --steps 1 -o static.npz
    simexport $1 static.npz -q --probe 0-44 -o static.csv
    "$PYTHON" - <<-'END' || fault "$1: other displacements"
	import csv, re, sys
	rows = [l.split() for l in open('job.dat') if re.match(r' +[0-9]+ +[-0-9]', l)]
	there = {int(r[0]) - 1: [float(x) for x in r[1:4]] for r in rows}
	last = list(csv.DictReader(open('static.csv')))[-1]
	here = {v: [float(last['v%d_%s' % (v, k)]) for k in 'xyz'] for v in range(len(there))}
	size = max(abs(x) for u in here.values() for x in u)
	worst = max(abs(a - b) for v in here for a, b in zip(here[v], there[v]))
	sys.exit(not (size > 0 and worst < 1e-5 * size))
	END
}

@test "an exported .inp in CalculiX: the same displacements under gravity" {
    command -v ccx > /dev/null || skip "no CalculiX (ccx)"
    echo '[{"name": "left", "young": 3e6, "poisson": 0.2}]' > left.json
    voxelize bar.obj -q -n 4 --fill --tetrahedra --fix-half-space 1,0,0,0 --region-box left,-inf,-inf,-inf,1.5,inf,inf \
        --materials left.json -o tets.npz
    simexport tets.npz -q -o body.inp
    as_in_calculix tets.npz
    no_faults
}

@test "anisotropic decks in CalculiX: the same displacements under gravity" {
    command -v ccx > /dev/null || skip "no CalculiX (ccx)"
    local ending=.npz
    echo '[{"name": "left", "young": 3e6, "poisson": 0.2}]' > left.json
    voxelize bar.obj -q -n 4 --fill --tetrahedra --fix-half-space 1,0,0,0 --region-box left,-inf,-inf,-inf,1.5,inf,inf \
        --materials left.json -o tets.npz
    simexport tets.npz -q -o plain.inp
    # the first material by its stiffness, the second by engineering constants, each with its own axes
    "$PYTHON" - <<-'END'
	import re
	deck = open('plain.inp').read()
	cards = ['*ELASTIC, TYPE=ORTHO\n11e6, 1e6, 6e6, 2e6, 3e6, 13e6, 1.4e6, 2.5e6\n3.6e6\n',
	         '*ELASTIC, TYPE=ENGINEERING CONSTANTS\n5e6, 7e6, 9e6, .1, .2, .3, 1.5e6, 2.5e6\n3.5e6\n']
	axes = iter('AB')
	deck = re.sub(r'\*ELASTIC\n.*\n', lambda m: cards.pop(0), deck)
	deck = re.sub(r'\*SOLID SECTION.*', lambda m: m[0] + ', ORIENTATION=' + next(axes), deck)
	turned = '*ORIENTATION, NAME=A\n1, 2, 0.5, -1, 1, 3\n*ORIENTATION, NAME=B, SYSTEM=RECTANGULAR\n0, -1, 0.3, 1, 0, 0\n'
	open('body.inp', 'w').write(deck.replace('*SOLID', turned + '*SOLID', 1))
	END
    done_well simimport body.inp -q -o turned.npz
    holds turned.npz '[x["law"] for x in m["materials"]] == ["linear", "linear"]'
    as_in_calculix turned.npz
    no_faults
}

@test "Gmsh reads what simexport writes" {
    command -v gmsh > /dev/null || skip "no gmsh"
    local file
    make_mixed
    for file in a.msh a.mesh a.vtk; do
        simexport mixed.npz -q -o $file
        gmsh $file -parse_and_exit > gmsh.log 2>&1 || fault "$file: $(tail -n 3 gmsh.log)"
        if grep -q "^Error" gmsh.log; then fault "$file: $(grep "^Error" gmsh.log)"; fi
    done
    no_faults
}
