#!/usr/bin/env bats
# The normal use of every program, on small inputs.

load common

# has_members FILE NAME…: the members of the file, in this order.
has_members() {
    local file=$1 found
    shift
    found=$("$PYTHON" -c 'import sys, zipfile; print(*[n[:-4] for n in zipfile.ZipFile(sys.argv[1]).namelist()])' "$file")
    [ "$found" = "$*" ] || fault "$file: members are $found"
}

@test "every tool: done, and silent with --quiet" {
    local tool file
    for tool in $(tools); do
        command_of "$tool"
        file="new file$ending"
        full_command_of "$tool" "$file"
        done_well "${line[@]}"
        [ -z "$ending" ] || [ -s "$file" ] || fault "${line[*]}: no output"
        rm -f "$file"
        done_well "${line[@]}" -q
        [ -z "$err" ] || fault "${line[*]} -q: says $err"
        [ -n "$ending" ] || [ -s "$stdout" ] || [[ $tool = simcompare || $tool = simvalidate || $tool = simserve ]] || fault "${line[*]}: says nothing"
    done
    no_faults
}

@test "options may stand anywhere and in every form" {
    local ending=.npz
    done_well modes -k4 -q mesh.npz --output=a.npz
    done_well modes mesh.npz --quiet --count 4 -oa2.npz
    done_well modes --count=4 -q -o a3.npz -- mesh.npz
    same_bytes a.npz a2.npz 'modes'
    same_bytes a.npz a3.npz 'modes'
    same_bytes a.npz modes.npz 'modes'
    no_faults
}

@test "voxelize: OBJ, OFF, PLY, STL" {
    local model ending=.npz
    for model in bar.obj wedge.off wedge.ply wedge.stl; do
        done_well voxelize $model -n 8 --fill -o "$model.npz"
        has_members "$model.npz" meta vertices hex region fixed surface/vertices surface/triangles surface/element surface/weights result
    done
    # the three files hold the same four triangles, whose box is scaled by 1.2 about its centre: 8 voxels along 1.2 m
    holds wedge.off.npz 'abs(r["spacing"] - 0.15) < 1e-15'
    holds wedge.off.npz 'r["filled_voxels"] + r["surface_voxels"] > 20'
    for model in ply stl; do
        done_well voxelize wedge.$model -n 8 --fill -o w.npz
        done_well voxelize wedge.off -n 8 --fill -o w2.npz
        "$PYTHON" - <<-'END' || fault "wedge.$model: not the elements of wedge.off"
	import sys, zipfile
	a, b = (zipfile.ZipFile(f) for f in ('w.npz', 'w2.npz'))
	sys.exit(a.read('hex.npy') != b.read('hex.npy') or a.read('vertices.npy') != b.read('vertices.npy'))
	END
    done
    no_faults
}

@test "voxelize: volume, tetrahedra, regions, materials, anchors" {
    local ending=.npz
    # A body of 3 x 1 x 1 m in voxels of 1/2 m: its volume, and one layer of voxels around it at most.
    done_well voxelize bar.obj -n 6 --enlarge 1 --fill -o a.npz
    holds a.npz '3 - 1e-12 <= r["volume"] <= 4 * 2 * 2 + 1e-12'
    done_well voxelize bar.obj -n 6 --enlarge 1 --fill --tetrahedra -o b.npz
    holds b.npz 'm["kind"] == "mesh"'
    has_members b.npz meta vertices tet region fixed surface/vertices surface/triangles surface/element surface/weights result
    echo '[{"name": "tip", "young": 5e5, "poisson": 0.3, "density": 500}]' > soft.json
    done_well voxelize bar.obj -n 6 --fill --region-box tip,2,-inf,-inf,inf,inf,inf --materials soft.json --fix-box=-inf,-inf,-inf,0.1,inf,inf,xz \
        --fix-vertices 0-2:y -o c.npz
    holds c.npz '[x["name"] for x in m["materials"]] == ["body", "tip"] and m["materials"][1]["young"] == 5e5'
    has_members c.npz meta vertices hex region fixed fixed_axes surface/vertices surface/triangles surface/element surface/weights result
    done_well voxelize bar.obj -n 6 --regions group -o d.npz
    holds d.npz 'sorted(x["name"] for x in m["materials"]) == ["ends", "sides"]'
    no_faults
}

@test "voxelize --fill warns of an open model" {
    local ending=.npz
    # a cube without its lid, whose four edges are of one face only
    printf 'v %s\n' '0 0 0' '1 0 0' '1 1 0' '0 1 0' '0 0 1' '1 0 1' '1 1 1' '0 1 1' > box.obj
    printf 'f %s\n' '1 4 3 2' '1 2 6 5' '2 3 7 6' '3 4 8 7' '4 1 5 8' >> box.obj
    done_well voxelize box.obj -n 8 --fill -o a.npz
    [[ $err == *'the model is open (4 edges after the repair): inside is where its winding number is at least 1/2'* ]] || fault "$err"
    holds a.npz 'r["open_edges"] == 4 and len(r["warnings"]) == 1'
    done_well voxelize box.obj -n 8 -o b.npz
    [[ $err != *open* ]] || fault "$err"
    echo 'f 5 6 7 8' >> box.obj
    done_well voxelize box.obj -n 8 --fill -o c.npz
    [[ $err != *open* ]] || fault "$err"
    no_faults
}

@test "simimport: VegaFEM, Gmsh, Abaqus, Medit, TetGen, VTK (legacy, XML), COMSOL" {
    local ending=.npz kind sets
    # two tetrahedra of 1/6 and 1/3 m3
    for kind in veg msh inp mesh node ele vtk vtu mphtxt; do
        done_well simimport block.$kind -o from-$kind.npz
        holds from-$kind.npz 'abs(r["volume"] - 0.5) < 1e-15'
        sets=
        case $kind in
        inp) sets=sets/elements ;;
        mesh | mphtxt) sets=sets/faces ;;
        esac
        # shellcheck disable=SC2086 # a word or none
        has_members from-$kind.npz meta vertices tet region fixed $sets result
    done
    holds from-veg.npz 'm["materials"][0]["young"] == 2e6 and m["materials"][0]["poisson"] == 0.3'
    holds from-mesh.npz '[x["name"] for x in m["materials"]] == ["region-7"]'
    "$PYTHON" - <<-'END' || fault 'the two files of TetGen, and Gmsh, give other meshes'
	import sys, zipfile
	a, b, c = (zipfile.ZipFile(f) for f in ('from-node.npz', 'from-ele.npz', 'from-msh.npz'))
	sys.exit(any(not a.read(n) == b.read(n) == c.read(n) for n in ('vertices.npy', 'tet.npy', 'region.npy')))
	END
    holds from-vtu.npz '[x["name"] for x in m["materials"]] == ["region-7"]'
    done_well simexport from-mesh.npz -o own.vtu
    done_well simimport own.vtu -o own.npz
    holds own.npz 'abs(r["volume"] - 0.5) < 1e-15'
    holds from-vtk.npz '[x["name"] for x in m["materials"]] == ["region-7"]'
    holds from-ele.npz '[x["name"] for x in m["materials"]] == ["region-7"]'
    cp block.msh block.gmsh
    done_well simimport block.gmsh --format msh --fixed block.bou --young 3e6 -o a.npz
    holds a.npz 'm["materials"][0]["young"] == 3e6'
    no_faults
}

@test "modes: matrices written and read again" {
    local ending=.npz
    done_well modes mesh.npz -q -k 4 --stiffness K.npz --mass M.npz -o again.npz
    "$PYTHON" - <<-'END' || fault 'other modes with the matrices read'
	import sys, zipfile
	a, b = (zipfile.ZipFile(f) for f in ('again.npz', 'modes.npz'))
	sys.exit(any(a.read(n) != b.read(n) for n in ('U.npy', 'eigenvalue.npy')))
	END
    done_well modes mesh.npz -q -k 4 --certify --lumping lumped -o lumped.npz
    holds lumped.npz 'r["certified_below_last"] == 3 and m["mass"] == "lumped"'
    done_well modes mesh.npz -q -k 4 --solver arpack -o arpack.npz
    "$PYTHON" - <<-'END' || fault 'other modes by the other solver'
	import numpy as np, sys
	a, b = (np.load(f)['eigenvalue'] for f in ('arpack.npz', 'modes.npz'))
	sys.exit(not (np.allclose(a, b, rtol=1e-9, atol=0) and not np.array_equal(a, b)))
	END
    done_well modes free.npz -q -k 8 -o free-modes.npz
    holds free-modes.npz 'r["rigid"] == 6'
    no_faults
}

@test "modes: inertia shapes and inertia modes" {
    has yang2015 || skip 'this build has no inertia modes'
    local ending=.npz how
    done_well modes mesh.npz -q --method inertia -o a.npz
    holds a.npz 'm["kind"] == "snapshots" and r["without_deformation"] == 0 and r["rigid"] == 0'
    done_well modes free.npz -q --method inertia --start x,rx,xx,xy -o b.npz
    holds b.npz 'r["without_deformation"] == 2 and r["rigid"] == 6'
    for how in '-k 15' '--order 3' '--order 3 --start x,z' '--order 2 --orthogonalize none' '--order 3 --orthogonalize reduced --samples 60 --culling 0.01'; do
        # shellcheck disable=SC2086
        done_well modes mesh.npz -q --method krylov $how -o c.npz
        holds c.npz 'm["kind"] == "snapshots" and r["order"] in (2, 3) and r["dependent"] == 0'
    done
    holds c.npz 'r["samples"] >= 60 and r["orthogonality"] < 1 and r["subtractions"] + r["culled"] == 18 * 17 // 2'
    done_well modes mesh.npz -q --method krylov --start x --start-loads loads.csv --start-file modes.npz -k 14 -o i.npz
    holds i.npz 'r["dependent"] == 4 and r["orthogonality"] <= 1e-12' # for eigenvectors the next block is dependent
    # a start block of eigenvectors spans its own Krylov space
    done_well modes mesh.npz --method krylov --start-file modes.npz -k 12 -o j.npz
    holds j.npz 'r["dependent"] == 4'
    [[ $err == *"4 of 12 inertia modes"* ]] || fault "no word about the missing modes: $err"
    for how in '' --printed; do
        # shellcheck disable=SC2086
        done_well modes free.npz -q --method krylov -k 12 $how -o d.npz
        holds d.npz 'r["orthogonality"] <= 1e-12'
    done
    done_well modalderiv mesh.npz modes.npz -q --method inertia -o e.npz
    done_well modes mesh.npz -q --method krylov -k 2 -o e2.npz
    done_well modalderiv mesh.npz modes.npz -q -o f.npz
    simcompare -q e.npz f.npz --rtol 1e-6 --atol 1e-12 || fault 'inertia derivatives of eigenvectors are not their modal derivatives'
    done_well modalderiv free.npz d.npz -q -k 4 --method inertia --order 3 --most 30 -o g.npz
    holds g.npz 'm["order"] == 3 and sum(r["of_order"]) == 30 and r["largest_residual"] < 1e-9'
    # for eigenvectors the products equal eigenvalue scaling
    done_well masspca mesh.npz modes.npz e.npz -q -r 6 --scaling product -o k.npz
    done_well masspca mesh.npz modes.npz e.npz -q -r 6 --scaling eigenvalue -o l.npz
    "$PYTHON" - <<-'END' || fault 'product and eigenvalue scaling differ'
	import json, sys, zipfile
	a, b = (json.loads(zipfile.ZipFile(f).read('result.npy').split(b'\n', 1)[1])['singular_values'] for f in ('k.npz', 'l.npz'))
	sys.exit(len(a) != len(b) or any(abs(x - y) > 1e-9 * a[0] for x, y in zip(a, b)))
	END
    done_well modes mesh.npz -q --method krylov -k 8 -o m.npz
    done_well modalderiv mesh.npz m.npz -q -k 5 --method inertia --order 2 --most 40 -o n.npz
    done_well masspca mesh.npz m.npz n.npz -q -r 12 --scaling product -o o.npz
    refused 3 'masspca: n.npz: product scaling needs the file' masspca mesh.npz n.npz --scaling product -o out.npz
    refused 2 'is made of a column of m.npz that is not among the candidates' masspca mesh.npz m.npz n.npz --scaling product --columns 2-20 -o out.npz
    refused 3 'n.npz: derivative .* does not belong to e2.npz' masspca mesh.npz e2.npz n.npz --scaling product -o out.npz
    ending=
    done_well simverify -q free.npz d.npz g.npz
    done_well simverify -q mesh.npz modes.npz e.npz i.npz
    no_faults
}

@test "modalderiv, masspca, polycoef: choices" {
    local ending=.npz
    done_well modalderiv mesh.npz modes.npz -k 2 -o a.npz
    local parts='right-hand sides [0-9.]+ s, stiffness and factorization [0-9.]+ s, solutions [0-9.]+ s'
    [[ $err =~ "processor time: "$parts ]] || fault "modalderiv does not say its processor times: $err"
    done_well modalderiv mesh.npz modes.npz --pairs '1,1;1,2' --pairs 2,2 --memory 1M -o b.npz
    "$PYTHON" - <<-'END' || fault 'the pairs of the first two modes, named or not, differ'
	import sys, zipfile
	a, b = (zipfile.ZipFile(f) for f in ('a.npz', 'b.npz'))
	sys.exit(any(a.read(n) != b.read(n) for n in ('U.npy', 'pair.npy')))
	END
    done_well masspca mesh.npz full.npz -r 2 -o c.npz
    done_well masspca mesh.npz modes.npz deriv.npz --columns 1-3,7 --method gram-schmidt --lumping lumped -o d.npz
    holds d.npz 'r["columns"] == 4 and r["orthogonality"] <= 1e-12 and m["mass"] == "lumped"'
    done_well masspca mesh.npz modes.npz -r 3 --scaling unit -o e.npz
    done_well polycoef mesh.npz basis.npz -r 2 --by-constant -o f.npz
    holds f.npz '[p["constant"] for p in m["parts"]] == ["lambda", "mu"] and m["r"] == 2'
    has_members f.npz meta mass gravity gram/000000 gram/000001 result
    no_faults
}

@test "modes --derivatives: the bytes of both programs; the kept order of the factorization changes no bit" {
    local ending=.npz forge=$SUPPLE_SOURCE/tests/cli/forge.py
    for body in mesh free; do
        for threads in 1 2; do
            done_well modes $body.npz -q -k 8 -t $threads -o a.npz --derivatives b.npz
            done_well modes $body.npz -q -k 8 -o c.npz
            same_bytes a.npz c.npz "$body, $threads threads: modes"
            mv c.npz a.npz # the record has the names of files
            done_well modalderiv $body.npz a.npz -q -o c.npz
            same_bytes b.npz c.npz "$body, $threads threads: derivatives"
        done
        holds a.npz 'm["tool"] == "modes"'
        holds b.npz 'm["tool"] == "modalderiv" and "seed" not in m'
        "$PYTHON" "$forge" a.npz without.npz 'm.pop("ordering")' || fault 'forge.py'
        "$PYTHON" "$forge" a.npz reversed.npz 'm["ordering"] = m["ordering"][::-1].copy()' || fault 'forge.py'
        for method in modal inertia; do
            modalderiv $body.npz a.npz -q --method $method -o b.npz 2> err || { grep -q 'leaves out' err && continue; fault "$(< err)"; }
            done_well modalderiv $body.npz without.npz -q --method $method -o c.npz
            done_well modalderiv $body.npz reversed.npz -q --method $method -o d.npz
            "$PYTHON" - <<-'END' || fault "$body, $method: the kept order"
		import numpy as np
		b, c, d = (np.load(f)["U"] for f in ("b.npz", "c.npz", "d.npz"))
		assert (b == c).all(), "not the same as by looking for it"
		assert (b != d).any() and abs(b - d).max() <= 1e-7 * abs(b).max(), "another order is not used, or gives something else"
		END
        done
        simverify $body.npz a.npz > said 2>&1 && grep -q '^ok   a.npz ordering: ' said || fault "simverify: $(< said)"
    done
    for statement in 'm["ordering"][3] = m["ordering"][5]' 'm["ordering"] = m["ordering"][:-1]' 'm["ordering"][0] = 0'; do
        "$PYTHON" "$forge" a.npz bad.npz "$statement" || fault 'forge.py'
        code=0
        simverify free.npz bad.npz > said 2>&1 || code=$?
        case $statement in
        *:-1*) [ $code = 1 ] && grep -q '^FAIL bad.npz ordering: ' said ;; # which vertices are free the mesh says
        *) [ $code = 3 ] && grep -q '^simverify: bad.npz: ordering: value .* a second time$' said ;;
        esac || fault "simverify, $statement: exit $code: $(< said)"
        refused 3 '^modalderiv: bad.npz: ordering: ' modalderiv free.npz bad.npz -o out.npz
    done
    "$PYTHON" "$forge" a.npz bad.npz 'm["ordering"][2] = 10**9' || fault 'forge.py'
    refused 3 '^modalderiv: bad.npz: ordering: value 2 is 1000000000, expected 0 to ' modalderiv free.npz bad.npz -o out.npz
    modes mesh.npz -q -k 4 -o a.npz --write-stiffness K.npz --write-mass M.npz
    modes mesh.npz -q -k 4 --stiffness K.npz -o b.npz
    "$PYTHON" -c 'import zipfile; assert "ordering.npy" in zipfile.ZipFile("a.npz").namelist() and "ordering.npy" not in zipfile.ZipFile("b.npz").namelist()' || fault 'of another matrix'
    for word in '--stiffness K.npz' '--mass M.npz' '--method inertia'; do
        # shellcheck disable=SC2086
        refused 2 "^modes: --derivatives (applies to --method lanczos|does not apply beside --(stiffness|mass))\$" modes mesh.npz $word --derivatives d.npz -o out.npz
    done
    refused 3 '^modes: free.npz: --derivatives: its 6 modes are rigid motions' modes free.npz -k 6 --derivatives d.npz -o out.npz
    [ ! -e d.npz ] || [ -s d.npz ] || fault 'a refused run left derivatives'
    no_faults
}

@test "modalderiv: a free body" {
    local ending=.npz
    modes free.npz -q -k 8 -o free-modes.npz
    done_well modalderiv free.npz free-modes.npz -o a.npz
    [[ $err != *'processor time'* ]] || fault "times that were not measured: $err"
    # Two elastic modes were requested, and the second is a double one (the section is square): pairs in both orders.
    "$PYTHON" -c 'import sys, zipfile; d = zipfile.ZipFile("a.npz").read("pair.npy"); sys.exit(b"(9, 2)" not in d)' || fault 'not nine pairs'
    no_faults
}

@test "simulate and simfull: every model and integrator" {
    local ending=.npz how
    for how in '' '--integrator energy' '--integrator static' '--integrator central --dt 1e-3' '--semi-implicit' '-r 3' '--record all' '--record probes --probe 3,surface:2' '--probe 5'; do
        # shellcheck disable=SC2086
        done_well simulate mesh.npz --basis basis.npz --poly poly.npz --loads loads.csv --steps 5 $how -o a.npz
        holds a.npz 'r["steps"] == 5 and r["stagnated_steps"] == 0'
    done
    for how in '' '--model linear' '--integrator energy' '--integrator static' '--lumping lumped --integrator central --dt 1e-4' \
        '--model linear --integrator static --gravity 0,0,-9.81' '--damping-mass 1 --damping-stiffness 1e-4'; do
        # shellcheck disable=SC2086
        done_well simfull mesh.npz --loads loads.csv --steps 3 $how -o a.npz
        holds a.npz 'r["steps"] == 3 and r["stagnated_steps"] == 0'
    done
    no_faults
}

@test "simfull: the work of a pressure" {
    local ending=.npz
    printf '0,inf,pressure,,2000\n0.005,inf,pressure,body,100\n' > pressure.csv
    done_well simfull mesh.npz --integrator static --loads pressure.csv --dt 0.01 --steps 1 -q -o a.npz
    holds a.npz 'r["energy_last"][1] > 0 and abs(r["energy_last"][2] / r["energy_last"][1] - 1) < 0.1' # nearly linear: the work equals the stored energy
    no_faults
}

@test "simulate: Galerkin projection moves as the polynomials do" {
    local ending=.npz how
    for how in '' '--integrator energy' '--integrator static' '-r 3' '--damping-mass 1 --damping-stiffness 1e-3'; do
        # shellcheck disable=SC2086
        done_well simulate mesh.npz --basis basis.npz --poly poly.npz --loads loads.csv --steps 10 $how -q -o a.npz
        # shellcheck disable=SC2086
        done_well simulate mesh.npz --model galerkin --basis basis.npz --loads loads.csv --steps 10 $how -q -o b.npz
        simcompare -q a.npz b.npz --mesh mesh.npz --basis basis.npz --rtol 1e-7 || fault "galerkin $how: another motion"
    done
    no_faults
}

@test "siminfo: the script remakes the file, to the byte" {
    local file
    [ -e "$HELP/siminfo" ] || skip "no siminfo"
    mkdir again
    cp -L bar.obj loads.csv again
    for file in traj full K; do
        siminfo --script $file.npz > again/remake.sh || fault "siminfo --script $file.npz: exit $?"
        (cd again && sh remake.sh > said 2>&1) || fault "the script of $file.npz: $(< again/said)"
        same_bytes $file.npz again/$file.npz 'siminfo --script'
    done
    echo '# another' >> again/bar.obj
    code=0
    (cd again && sh remake.sh > said 2>&1) || code=$?
    [ $code = 3 ] || fault "the script with another model: exit $code"
    [ "$(siminfo --hash traj.npz)" = "$("$PYTHON" -c 'import json, zipfile; d = zipfile.ZipFile("traj.npz").read("result.npy"); print(json.loads(d[10 + d[8] + 256 * d[9]:])["sha256"])')" ] ||
        fault 'siminfo --hash'
    siminfo --json traj.npz | "$PYTHON" -c 'import json, sys; json.load(sys.stdin)' || fault 'siminfo --json is no JSON'
    no_faults
}

@test "siminfo: what each member is, in which unit, and the units of the result" {
    siminfo mesh.npz | grep -qE '^result +volume [0-9.e+-]+ m³$' || fault "$(siminfo mesh.npz)"
    siminfo mesh.npz | grep -qE '^ +components 1$' || fault "$(siminfo mesh.npz)"
    siminfo traj.npz | grep -qE '^ +energy_last \[.*\] J$' || fault "$(siminfo traj.npz)"
    siminfo mesh.npz | grep -q '^  vertices  *f8  *([0-9]*, 3) .* bytes  rest positions \[m\]$' || fault "$(siminfo mesh.npz)"
    siminfo --members traj.npz | grep -q '^  qdot/000000  *f8 .* bytes  their rates \[1/s\]$' || fault "$(siminfo --members traj.npz)"
    "$PYTHON" -c 'import numpy as np; np.savez("other.npz", vertices=np.zeros(3))'
    siminfo other.npz | grep -q '^  vertices  *f8  *(3,) .* bytes$' || fault "$(siminfo other.npz)"
    no_faults
}

@test "simverify and simcompare: yes is 0, no is 1" {
    [ -e "$HELP/simverify" ] && [ -e "$HELP/simcompare" ] || skip "no simverify or simcompare"
    ending=
    done_well simverify mesh.npz modes.npz deriv.npz basis.npz poly.npz traj.npz full.npz K.npz M.npz -q
    try simverify "$DAMAGED/modes/meta-hash.npz" -q
    [ "$code" = 1 ] || fault "simverify of a file with another hash than it states: exit $code"
    try simverify --mesh twin.npz poly.npz -q
    [ "$code" = 1 ] || [ "$code" = 3 ] || fault "simverify of polynomials with another mesh: exit $code"
    done_well simcompare modes.npz modes.npz -q
    done_well simcompare modes.npz twin-modes.npz -q --rtol 100 --atol 100
    done_well simcompare traj.npz traj.npz --basis basis.npz -q
    for other in twin-modes other-modes basis mesh; do
        try simcompare modes.npz $other.npz -q
        [ "$code" = 1 ] || fault "simcompare modes.npz $other.npz: exit $code $err"
    done
    simulate mesh.npz -q --basis basis.npz --poly poly.npz --loads loads.csv --dt 0.01 --steps 20 --gravity 0,0,-1e-3 -o less.npz
    try simcompare traj.npz less.npz --basis basis.npz -q
    [ "$code" = 1 ] || fault "simcompare of two motions: exit $code $err"
    no_faults
}

@test "simexport: CSV, OBJ, VTU, PVD, Matrix Market" {
    [ -e "$HELP/simexport" ] || skip "no simexport"
    ending=.csv
    done_well simexport mesh.npz basis.npz traj.npz --coordinates --probe 30,surface:2 -o t.csv
    [ "$(wc -l < t.csv)" = 22 ] || fault "t.csv: $(wc -l < t.csv) lines, expected a header and 21 frames"
    [ "$(head -n 1 t.csv)" = time,kinetic,strain,work,dissipated,v30_x,v30_y,v30_z,s2_x,s2_y,s2_z,q0,q1,q2,q3,q4,q5 ] || fault "$(head -n 1 t.csv)"
    done_well simexport mesh.npz -o m.obj
    diff <(grep '^v ' m.obj | sort) <(grep '^v ' bar.obj | sort) > /dev/null || fault 'm.obj: other vertices than bar.obj'
    done_well simexport K.npz -o K.mtx
    [[ $(head -n 1 K.mtx) == '%%MatrixMarket matrix coordinate real symmetric' ]] || fault "$(head -n 1 K.mtx)"
    done_well simexport mesh.npz modes.npz -o m.vtu
    done_well simexport mesh.npz full.npz --every 2 -o f.pvd
    for file in m.vtu f.pvd f_*.vtu; do # the index and one file for each of its frames
        [[ $(head -n 2 "$file") == *'<VTKFile '* && $(tail -n 1 "$file") == '</VTKFile>' ]] || fault "$file: no VTK file"
    done
    [ "$(grep -c '<DataSet ' f.pvd)" = 3 ] || fault 'f.pvd: not 3 frames of 5'
    for file in $(sed -n 's/.*file="\([^"]*\)".*/\1/p' f.pvd); do
        [ -s "$file" ] || fault "f.pvd names $file"
    done
    if "$PYTHON" -c 'import scipy.io' 2> /dev/null; then
        "$PYTHON" - <<-'END' || fault 'K.mtx is not K.npz'
	import scipy.io, scipy.sparse as sp
	K, L = sp.load_npz('K.npz'), scipy.io.mmread('K.mtx').tocsr() # one triangle is in the file, the other its mirror image
	assert abs(sp.tril(K) - sp.tril(L)).max() == 0 and abs(K - L).max() < 1e-12 * abs(K).max()
	END
    fi
    no_faults
}

# Against the divergence theorem on the boundary of tetrahedra, whose faces are plane however they deform.
@test "simexport --volume: the volume of the deformed mesh" {
    local model
    ending=.csv
    voxelize bar.obj -q -n 6 --enlarge 1 --fill --tetrahedra -o split.npz
    simexport split.npz -q -o split.mesh # a mesh without the embedded surface
    simimport split.mesh -q --young 1e5 --poisson 0.3 --fix-half-space 1,0,0,0 -o tets.npz
    for model in linear 'warp --solver jacobi'; do
        # shellcheck disable=SC2086
        done_well simfull tets.npz --model $model --integrator linear-euler --gravity 0,0,-9.81 --dt 0.05 --steps 4 -q -o moved.npz
        done_well simexport moved.npz tets.npz --volume --probe 1 -q -o moved.csv
        [ "$(head -n 1 moved.csv)" = time,kinetic,strain,work,dissipated,v1_x,v1_y,v1_z,volume ] || fault "$(head -n 1 moved.csv)"
        done_well simexport moved.npz tets.npz -q -o at_%d.obj
        for frame in 0 1 2 3 4; do
            awk -v given="$(sed -n "$((frame + 2))p" moved.csv | cut -d, -f9)" '
                $1 == "v" { x[++n] = $2; y[n] = $3; z[n] = $4 }
                $1 == "f" { a = $2 + 0; b = $3 + 0; c = $4 + 0; sum += (x[a] * (y[b] * z[c] - z[b] * y[c]) - y[a] * (x[b] * z[c] - z[b] * x[c]) + z[a] * (x[b] * y[c] - y[b] * x[c])) / 6 }
                END { d = given / sum - 1; exit !(sum > 0 && d < 1e-6 && d > -1e-6) }' at_$frame.obj || fault "$model, frame $frame: $(cut -d, -f9 moved.csv)"
        done
        [ "$(cut -d, -f9 moved.csv | sort -u | wc -l)" = 6 ] || fault "$model: nothing changes"
    done
    simfull tets.npz -q --model linear --record probes --probe 1 --steps 2 -o few.npz
    refused 2 '--volume needs the mesh' simexport moved.npz --volume -o out.csv
    refused 3 '' simexport few.npz tets.npz --volume -o out.csv
    refused 2 '^simexport: --volume applies to --to csv$' simexport moved.npz tets.npz --volume -o x.obj
    refused 2 '--solver direct: a warp model' simfull tets.npz --model warp --solver direct -o out.npz
    refused 2 '--solver' simfull tets.npz --model conjac --dynamic none --integrator linear-euler --solver jacobi -o out.npz
    # both solvers give the same motion
    simfull tets.npz -q --model warp --solver reused --integrator linear-euler --gravity 0,0,-9.81 --dt 0.05 --steps 4 -o other.npz
    simcompare moved.npz other.npz --rtol 1e-6 > log || fault "the solvers differ: $(tail -n 1 log)"
    no_faults
}

@test "simrender: pictures of the size asked for" {
    local words
    [ -e "$HELP/simrender" ] || skip "no simrender"
    ending=.png
    for words in 'mesh.npz' 'mesh.npz modes.npz --sheet 2x2' 'mesh.npz basis.npz traj.npz --frames 20 --color energy' 'mesh.npz full.npz --sheet 2x1 --rest --lines'; do
        # shellcheck disable=SC2086
        done_well simrender $words --size 160x120 --samples 1 -o a.png
        "$PYTHON" - "$words" <<-'END' || fault "simrender $words"
	import struct, sys, zlib
	data = open('a.png', 'rb').read()
	assert data[:8] == b'\x89PNG\r\n\x1a\n' and struct.unpack('>II', data[16:24]) == (160, 120), data[:30]
	at, packed = 8, b''
	while at < len(data):
	    length, = struct.unpack_from('>I', data, at)
	    name, body, crc = data[at + 4:at + 8], data[at + 8:at + 8 + length], data[at + 8 + length:at + 12 + length]
	    assert struct.pack('>I', zlib.crc32(name + body)) == crc
	    packed += body if name == b'IDAT' else b''
	    at += 12 + length
	assert name == b'IEND' and len(set(zlib.decompress(packed))) > 20, 'an empty picture'
	END
    done
    no_faults
}

@test "the record of how a file was made" {
    local ending=.npz file
    for file in mesh modes deriv basis poly cub training traj full; do
        # the basis may cut a pair of equal singular values, and says so
        holds $file.npz 'len(r["sha256"]) == 64 and [w for w in r["warnings"] if m["kind"] != "basis" or "which is left out" not in w] == [] and m["format_version"] == "1.0"'
        # as whole words
        holds $file.npz 'not any(__import__("re").search(r"(?<!\w)" + __import__("re").escape(x) + r"(?!\w)", json.dumps([m, r])) for x in ("'"$BATS_SUITE_TMPDIR"'", "'"$HOSTNAME"'"))'
    done
    holds traj.npz 'sorted(x["tool"] for x in m["history"].values()) == ["masspca", "modalderiv", "modes", "polycoef", "voxelize"]'
    holds traj.npz '[x["name"] for x in m["inputs"]] == ["mesh.npz", "basis.npz", "poly.npz", "loads.csv"]'
    holds basis.npz 'not {"threads", "output", "quiet"} & set(m["parameters"])'
    no_faults
}

@test "unzip -t accepts every file" {
    local file
    command -v unzip > /dev/null || skip "no unzip"
    for file in *.npz; do
        [ -L "$file" ] || continue
        unzip -tqq "$file" > said 2>&1 || fault "$file: $(< said)"
    done
    no_faults
}

@test "NumPy and SciPy open every file" {
    "$PYTHON" -c 'import numpy, scipy.sparse' 2> /dev/null || skip "no NumPy and SciPy"
    "$PYTHON" - <<-'END' || fault 'see above'
	import glob, os, numpy as np, scipy.sparse as sp
	for path in glob.glob('*.npz'):
	    if os.path.islink(path):
	        file = np.load(path)
	        assert file.files[0] == 'meta' and file.files[-1] == 'result', path
	        for name in file.files:
	            file[name]
	K, M = sp.load_npz('K.npz'), sp.load_npz('M.npz')
	assert abs(K - K.T).max() <= 1e-9 * abs(K).max() and abs(M - M.T).max() <= 1e-9 * abs(M).max()
	modes = np.load('modes.npz')
	U, value, free = modes['U'], modes['eigenvalue'], np.load('K.npz')['dof']
	P = U[free]
	assert np.abs(P.T @ (M @ P) - np.eye(4)).max() < 1e-10
	assert np.abs(P.T @ (K @ P) - np.diag(value)).max() < 1e-8 * value.max()
	reference = np.sort(__import__('scipy.linalg').linalg.eigh(K.toarray(), M.toarray(), eigvals_only=True))[:4]
	assert np.abs(value / reference - 1).max() < 1e-8, (value, reference)
	B = np.load('basis.npz')['U'][free]
	assert np.abs(B.T @ (M @ B) - np.eye(6)).max() < 1e-11
	assert np.abs(np.load('poly.npz')['mass'] - B.T @ (M @ B)).max() < 1e-10
	END
    no_faults
}
