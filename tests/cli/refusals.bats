#!/usr/bin/env bats
# Bad input and usage errors: one clear line, the right exit code, no changes. damaged.bats has the damaged files.

load common

@test "a missing file, a folder, no permission, a broken link" {
    local tool slot what
    mkdir folder
    ln -s nowhere broken
    touch secret.npz
    chmod 0 secret.npz
    for kind in mesh modes basis poly cub training K; do
        while IFS= read -r slot; do
            tool=${slot%% *}
            # shellcheck disable=SC2086
            {
                refused 3 "^$tool: none.npz: cannot open: No such file" ${slot/@/none.npz} -q -o out.npz
                refused 3 "^$tool: folder: cannot open: it is a folder" ${slot/@/folder} -q -o out.npz
                refused 3 "^$tool: broken: cannot open: No such file" ${slot/@/broken} -q -o out.npz
                refused 3 "^$tool: mesh.npz/x: cannot open: Not a directory" ${slot/@/mesh.npz/x} -q -o out.npz
                [ "$(id -u)" = 0 ] || refused 3 "^$tool: secret.npz: cannot open: Permission denied" ${slot/@/secret.npz} -q -o out.npz
            }
        done < <(slots "$kind")
    done
    no_faults
}

@test "files of the wrong kind" {
    refused 3 '^modes: modes.npz: .*"?modes"?.*mesh' modes modes.npz -o out.npz
    refused 3 '^modalderiv: basis.npz: .*basis.*modes' modalderiv mesh.npz basis.npz -o out.npz
    refused 3 '^modalderiv: modes.npz: ' modalderiv modes.npz mesh.npz -o out.npz
    refused 3 '^masspca: mesh.npz: ' masspca mesh.npz mesh.npz -o out.npz
    refused 3 '^polycoef: poly.npz: ' polycoef mesh.npz poly.npz -o out.npz
    refused 3 '^polycoef: traj.npz: ' polycoef mesh.npz traj.npz -o out.npz
    refused 3 '^simulate: basis.npz: ' simulate mesh.npz --basis basis.npz --poly basis.npz -o out.npz
    refused 3 '^simulate: poly.npz: ' simulate mesh.npz --basis poly.npz --poly poly.npz -o out.npz
    refused 3 '^modes: mesh.npz: ' modes mesh.npz -k 4 --stiffness mesh.npz -o out.npz
    refused 3 '^modes: bar.obj: ' modes bar.obj -o out.npz
    refused 3 '^voxelize: mesh.npz: ' voxelize mesh.npz -o out.npz
    refused 3 '^masspca: traj.npz: ' masspca mesh.npz traj.npz -o out.npz # reduced coordinates only
    no_faults
}

@test "simexport of a kind that the format cannot hold" {
    refused 3 '^simexport: mesh.npz: a file of kind mesh does not fit' simexport mesh.npz --to cub -o out.npz
    refused 3 '^simexport: modes.npz: a file of kind modes does not fit' simexport modes.npz --to cub -o out.npz
    refused 3 '^simexport: traj.npz: a file of kind trajectory does not fit' simexport traj.npz --to npy -o out.npz
    refused 3 '^simexport: poly.npz: a cubature goes with its mesh' simexport cub.npz poly.npz -o out.csv
    refused 3 '^simexport: field.npz: PLY holds a pointshell' simexport field.npz --to ply -o out.npz
    refused 3 '^simexport: K.npz: it is a file of kind sparse' simexport K.npz --to veg -o out.npz
    no_faults
}

@test "files of another mesh or basis" {
    refused 3 '^modalderiv: twin-modes.npz: it was made from another mesh' modalderiv mesh.npz twin-modes.npz -o out.npz
    refused 3 '^modalderiv: other-modes.npz: ' modalderiv mesh.npz other-modes.npz -o out.npz
    refused 3 '^masspca: twin-modes.npz: it was made from another mesh' masspca mesh.npz twin-modes.npz -o out.npz
    refused 3 '^masspca: full.npz: it was made from another mesh' masspca twin.npz full.npz -o out.npz
    refused 3 '^polycoef: twin-basis.npz: it was made from another mesh' polycoef mesh.npz twin-basis.npz -o out.npz
    refused 3 '^polycoef: other-basis.npz: ' polycoef mesh.npz other-basis.npz -o out.npz
    refused 3 '^simulate: poly.npz: it was made from another (mesh|basis)' simulate twin.npz --basis twin-basis.npz --poly poly.npz -o out.npz
    masspca mesh.npz modes.npz -q -o second.npz
    refused 3 '^simulate: poly.npz: it was made from another basis' simulate mesh.npz --basis second.npz --poly poly.npz -o out.npz
    refused 3 '^modes: other-K.npz: the matrix has [0-9]+ rows, the mesh 450 free degrees|^modes: other-K.npz: it was made from another mesh' modes mesh.npz -k 4 --stiffness other-K.npz -o out.npz
    modes twin.npz -k 4 --write-stiffness twin-K.npz --write-mass twin-M.npz -q -o second.npz
    refused 3 '^modes: twin-K.npz: it was made from another mesh' modes mesh.npz -k 4 --stiffness twin-K.npz -o out.npz
    refused 3 '^modes: twin-M.npz: it was made from another mesh' modes mesh.npz -k 4 --mass twin-M.npz -o out.npz
    refused 3 '^modes: twin-M.npz: it holds the matrix M, --stiffness expects K' modes twin.npz -k 4 --stiffness twin-M.npz -o out.npz
    if "$PYTHON" -c 'import numpy' 2> /dev/null; then
        "$PYTHON" "$SUPPLE_SOURCE/tests/cli/forge.py" M.npz minus.npz 'm["data"] *= -1'
        refused 3 '^modes: minus.npz: the mass matrix has -.* on the diagonal of row 0$' modes mesh.npz -k 4 --mass minus.npz -o out.npz
        "$PYTHON" "$SUPPLE_SOURCE/tests/cli/forge.py" K.npz minus.npz 'm["data"] *= -1'
        refused 5 '^modes: minus.npz, mesh.npz: the stiffness matrix is not positive definite' modes mesh.npz -k 4 --stiffness minus.npz -o out.npz
    fi
    refused 3 '^modes: twin-K.npz: it holds the matrix K, --mass expects M' modes twin.npz -k 4 --mass twin-K.npz -o out.npz
    no_faults
}

@test "invalid surface models" {
    local model
    : > empty.obj
    echo 'hello' > text.obj
    printf 'v 0 0 0\nv 1 0 nan\nv 0 1 0\nf 1 2 3\n' > nan.obj
    printf 'v 0 0 0\nv 1 0 inf\nv 0 1 0\nf 1 2 3\n' > inf.obj
    printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\n' > index.obj
    printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 x\n' > word.obj
    printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\n' > faceless.obj
    printf 'v 0 0 0\nv 1 0\nv 0 1 0\nf 1 2 3\n' > short.obj
    printf 'v 0 0 0\nv 0 0 0\nv 0 0 0\nf 1 2 3\n' > point.obj
    head -c 300 mesh.npz > binary.obj
    for model in empty text nan inf index word faceless short binary; do
        refused 3 "^voxelize: $model.obj: " voxelize $model.obj -o out.npz
    done
    refused 3 '^voxelize: nan.obj: line 2: ' voxelize nan.obj -o out.npz
    refused 3 '^voxelize: index.obj: line 4: .*4' voxelize index.obj -o out.npz
    refused 3 '^voxelize: point.obj: ' voxelize point.obj -o out.npz
    for model in off ply stl; do
        head -c 60 wedge.$model > cut.$model
        sed 's/^1 0 0$/1 0 nan/; s/vertex 1 0 0/vertex 1 0 nan/' wedge.$model > nan.$model
        sed 's/^3 0 2 1$/3 0 2 9/; s/vertex 1 0 0/vertex 1 0/' wedge.$model > index.$model
        for bad in cut nan index; do
            refused 3 "^voxelize: $bad.$model: " voxelize $bad.$model -o out.npz
        done
    done
    no_faults
}

@test "invalid volumetric meshes" {
    local kind bad
    for kind in veg msh inp mesh vtk vtu mphtxt; do
        : > empty.$kind
        echo hello > text.$kind
        head -c 60 block.$kind > cut.$kind
        sed 's/2 1 0 0/2 1 0 nan/; s/^2, 1, 0, 0/2, 1, 0, nan/; s/^1 0 0 0$/1 0 nan 0/; s/^1 0 0$/1 0 nan/' block.$kind > nan.$kind
        sed 's/2 2 3 4 5/2 2 3 4 9/; s/ 2 3 4 5$/ 2 3 4 9/; s/^2, 2, 3, 4, 5/2, 2, 3, 4, 9/; s/^2 3 4 5 7/2 3 4 9 7/; s/^4 1 2 3 4/4 1 2 3 9/; s/^1 2 3 4$/1 2 3 9/' block.$kind > index.$kind
        sed 's/2 2 3 4 5/2 2 4 3 5/; s/ 2 3 4 5$/ 2 4 3 5/; s/^2, 2, 3, 4, 5/2, 2, 4, 3, 5/; s/^2 3 4 5 7/2 4 3 5 7/; s/^4 1 2 3 4/4 1 3 2 4/; s/^1 2 3 4$/1 3 2 4/' block.$kind > turned.$kind
        for bad in empty text cut nan index; do
            refused 3 "^simimport: $bad.$kind: " simimport $bad.$kind -o out.npz
        done
        refused 3 "^simimport: turned.$kind: 1 of 2 elements have negative volume, the first is element [0-9]+ .(line|byte) [0-9]+.$" simimport turned.$kind -q -o out.npz
        ending=.npz
        done_well simimport turned.$kind --turn -o good.npz
        rm -f good.npz
    done
    # the two files of TetGen: the named one, and the other
    for bad in empty text cut nan index; do
        cp block.node $bad.node
        cp block.ele $bad.ele
    done
    : > empty.ele
    echo hello > text.node
    head -c 20 block.ele > cut.ele
    sed -i 's/2 1 0 0/2 1 0 nan/' nan.node
    sed -i 's/2 3 4 5/2 3 4 9/' index.ele
    refused 3 '^simimport: empty.node: empty.ele: line 1: ' simimport empty.node -o out.npz
    refused 3 '^simimport: text.ele: text.node: line 1: ' simimport text.ele -o out.npz
    refused 3 '^simimport: cut.ele: line 3: ' simimport cut.ele -o out.npz
    refused 3 '^simimport: nan.ele: nan.node: line 3: z: expected a finite number' simimport nan.ele -o out.npz
    refused 3 '^simimport: index.ele: line 3: element 2 names vertex 9' simimport index.ele -o out.npz
    cp block.node lone.node
    refused 3 '^simimport: lone.ele: ' simimport lone.node -o out.npz
    refused 3 'ends in .node or .ele' simimport block.veg --format tetgen -o out.npz
    refused 3 'ends in .node or .ele' simimport - --format tetgen -o out.npz < block.ele
    echo '9' > far.bou
    echo 'x' > word.bou
    refused 3 '^simimport: far.bou: ' simimport block.veg --fixed far.bou -o out.npz
    refused 3 '^simimport: word.bou: ' simimport block.veg --fixed word.bou -o out.npz
    refused 2 '^simimport: bar.obj: its format is not known' simimport bar.obj -o out.npz
    printf '*INCLUDE ../other.veg\n' > include.veg
    refused 3 '^simimport: include.veg: ' simimport include.veg -o out.npz
    no_faults
}

@test "loads: file, line and field are named" {
    local line
    while IFS='|' read -r pattern line; do
        printf 't0,t1,kind,id,fx,fy,fz\n0,1,all,,0,0,1\n%s\n' "$line" > bad.csv
        refused 3 "^simulate: bad.csv: line 3: .*$pattern" simulate mesh.npz --basis basis.npz --poly poly.npz --loads bad.csv -o out.npz
    done <<-'END'
	fx|0,1,vertex,20,x,0,0
	fz|0,1,vertex,20,0,0,nan
	kind|0,1,nonsense,20,0,0,1
	expected t0,t1,pressure,id,p|0,1,pressure,
	7 fields, expected t0,t1,pressure,id,p|0,1,pressure,,1,0,0
	id|0,1,pressure,nowhere,1
	fx|0,1,pressure,,nan
	id|0,1,vertex,99999,0,0,1
	id|0,1,vertex,-1,0,0,1
	id|0,1,surface,8,0,0,1
	id|0,1,region,nowhere,0,0,1
	t1|1,0,all,,0,0,1
	t0|-1,1,all,,0,0,1
	stiffness|0,1,spring,20,0,0,1,-4
	9 fields, expected t0,t1,spring,id,x,y,z,stiffness|0,1,spring,20,0,0,1,4,1
	t1|0,inf,spring,20,0,0,1,4,1,1,1
	y1|0,1,spring,20,0,0,1,4,1,inf,1
	field|0,1,all,,0,0
	field|0,1,all,,0,0,1,2,3
	END
    refused 3 '^simulate: none.csv: cannot open' simulate mesh.npz --basis basis.npz --poly poly.npz --loads none.csv -o out.npz
    refused 3 '^simulate: mesh.npz: line 1: ' simulate mesh.npz --basis basis.npz --poly poly.npz --loads mesh.npz -o out.npz
    no_faults
}

@test "materials JSON" {
    local text
    for text in '' '[' '{}' '[{}]' '[{"name": "body"}, {"name": "body"}]' '[{"name": "other", "young": 1, "poisson": 0, "density": 1}]' \
        '[{"name": "body", "young": -1}]' '[{"name": "body", "young": "1"}]' '[{"name": "body", "yuong": 1}]' '[{"name": "body", "young": 1, "young": 2}]' \
        '[{"name": "body", "poisson": 0.5}]' '[{"name": "body", "law": "rubber"}]'; do
        echo "$text" > bad.json
        refused 3 '^voxelize: bad.json: ' voxelize bar.obj -n 4 --materials bad.json -o out.npz
    done
    no_faults
}

@test "usage errors of voxelize and simimport" {
    local word
    for word in '--resolution 0' '--resolution 5000' '--enlarge 0.5' '--keep -1' '--quadrature 1' '--quadrature 4' '--young 0' '--poisson 0.5' '--poisson -1' '--density 0' '--density inf' \
        '--threads 0' '--threads 2000' '--fix-box 1,2,3' '--fix-box 0,0,0,1,1,1,w' '--fix-box 0,0,0,1,1,1,xx' '--fix-box 9,9,9,10,10,10' '--fix-half-space 1,0,0' \
        '--fix-half-space 1,0,0,-9' '--fix-vertices 999999' '--fix-vertices x' '--fix-vertices 3-1' '--fix-vertices 1:w' '--region-box tip,0,0' '--region-box ,0,0,0,1,1,1' \
        '--region-box tip,9,9,9,10,10,10' '--regions all' '--grid ball'; do
        # shellcheck disable=SC2086
        refused 2 "^voxelize: ${word%% *}: " voxelize bar.obj -q $word -o out.npz
    done
    refused 2 '^simimport: --surface applies with --interpolation$' simimport block.veg --surface bar.obj -o out.npz
    refused 2 '^simimport: --quadrature: 5 is out of range' simimport block.veg --quadrature 5 -o out.npz
    refused 2 '^simimport: --fix-vertices: vertex 5 of 5' simimport block.veg --fix-vertices 5 -o out.npz
    no_faults
}

@test "usage errors of modes, modalderiv, masspca, polycoef" {
    refused 2 '^modes: --count: 0 is out of range' modes mesh.npz -k 0 -o out.npz
    refused 2 '^modes: --count 451: the mesh has only 450 free' modes mesh.npz -k 451 -o out.npz
    refused 2 '^modes: --tolerance: 1 is out of range' modes mesh.npz --tolerance 1 -o out.npz
    refused 2 '^modes: --start: ' modes mesh.npz --method krylov --start x,w -o out.npz
    refused 2 '^modes: --start: ' modes mesh.npz --method inertia --start x,x -o out.npz
    refused 2 '^modes: --count does not apply to --method inertia$' modes mesh.npz --method inertia -k 3 -o out.npz
    refused 2 '^modes: --count does not apply beside --order$' modes mesh.npz --method krylov --order 2 -k 4 -o out.npz
    refused 2 '^modes: --samples applies to --orthogonalize reduced$' modes mesh.npz --method krylov --samples 9 -o out.npz
    refused 3 'leave no deformation behind' modes free.npz --method inertia --start x,ry -o out.npz
    refused 3 'the start block leads to no deformation' modes free.npz --method krylov --start x,ry --order 1 -o out.npz
    refused 2 '^modes: --seed: -1 is out of range' modes mesh.npz --seed -1 -o out.npz
    refused 2 'modalderiv: modes.npz: --modes 5: the file has 4' modalderiv mesh.npz modes.npz -k 5 -o out.npz
    refused 2 '^modalderiv: --order 2: already order 2 has 40 derivatives' modalderiv mesh.npz modes.npz --method inertia --order 2 -o out.npz
    for word in 0,1 1,5 1 1, x '1,1,1' ';' '1;1'; do
        refused 2 '^modalderiv: --pairs: ' modalderiv mesh.npz modes.npz --pairs "$word" -o out.npz
    done
    for word in 0 15 x 1-15 3-1 1,,2 1- -1; do
        refused 2 '^masspca: --columns: ' masspca mesh.npz modes.npz deriv.npz --columns="$word" -o out.npz
    done
    refused 2 '^masspca: --rank: 0 is out of range' masspca mesh.npz modes.npz -r 0 -o out.npz
    refused 2 '^masspca: modes.npz: -r 9: only 4 of 4 columns are independent' masspca mesh.npz modes.npz -q -r 9 -o out.npz
    refused 3 '^masspca: deriv.npz: eigenvalue scaling needs the file of the modes' masspca mesh.npz deriv.npz --scaling eigenvalue -o out.npz
    refused 2 '^polycoef: basis.npz: --rank 7: the file has 6 columns' polycoef mesh.npz basis.npz -r 7 -o out.npz
    no_faults
}

@test "usage errors of simulate" {
    local reduced=(simulate mesh.npz --basis basis.npz --poly poly.npz) word
    refused 2 '^simulate: a model in a basis needs --basis' simulate mesh.npz -o out.npz
    refused 2 '^simulate: a model in a basis needs --basis' simulate mesh.npz --model galerkin -o out.npz
    refused 2 '^simulate: a reduced model needs --poly' simulate mesh.npz --basis basis.npz -o out.npz
    refused 2 '^simulate: --poly applies to --model reduced$' simulate mesh.npz --model galerkin --basis basis.npz --poly poly.npz -o out.npz
    refused 2 '^simulate: unknown option --lumping$' simulate mesh.npz --model galerkin --basis basis.npz --lumping lumped -o out.npz
    refused 2 '^simfull: unknown option --basis$' simfull mesh.npz --basis basis.npz -o out.npz
    refused 2 '^simulate: basis.npz: 7 coordinates are wanted, it has 6' "${reduced[@]}" -r 7 -o out.npz
    for word in '--dt 0' '--dt -1' '--dt nan' '--dt inf' '--steps 0' '--every 0' '--damping-mass -1' '--beta 2' '--gamma -1' '--tolerance 0' '--iterations 0' '--gravity 0,0' \
        '--gravity 0,0,inf' '--probe 999999' '--probe x' '--probe surface:8' '--probe 3,,4' '--record nothing'; do
        # shellcheck disable=SC2086
        refused 2 "^simulate: ${word%% *}: " "${reduced[@]}" $word -o out.npz
    done
    refused 2 '^simulate: --record probes needs --probe' "${reduced[@]}" --record probes -o out.npz
    refused 2 '^simfull: --record: "coordinates" is not one of all.probes$' simfull mesh.npz --record coordinates -o out.npz
    no_faults
}

@test "options that do not apply" {
    refused 2 '^voxelize: --quadrature does not apply beside --tetrahedra$' voxelize bar.obj -n 4 --tetrahedra --quadrature 2 -o out.npz
    refused 2 '^modes: --seed applies to --method lanczos$' modes mesh.npz --method inertia --seed 3 -o out.npz
    refused 2 '^modes: --printed applies to a free body$' modes mesh.npz --method krylov --printed -k 6 -o out.npz
    refused 2 '^masspca: --seed applies to --method random$' masspca mesh.npz modes.npz --seed 3 -o out.npz
    refused 2 '^masspca: --every applies to a trajectory$' masspca mesh.npz modes.npz --every 2 -o out.npz
    refused 2 '^simfull: --lumping does not apply to --integrator static$' simfull mesh.npz --integrator static --lumping lumped -o out.npz
    refused 2 '^simfull: --friction does not apply to --integrator static$' simfull mesh.npz --integrator static --ground 0,0,1,-9 --friction 0.2 -o out.npz
    refused 2 '^simexport: --partial applies to a trajectory or' simexport mesh.npz basis.npz --partial -o x.obj
    refused 2 '^simrender: --partial applies to a trajectory or a scene$' simrender mesh.npz basis.npz --partial -o x.png
    refused 2 '^simrender: --range does not apply to --color none$' simrender mesh.npz modes.npz --columns 1 --range 0,1 -o x.png
    for word in '--scale 2' --rest '--color energy'; do
        # shellcheck disable=SC2086
        refused 2 "^simrender: ${word%% *} applies to a trajectory or columns\$" simrender mesh.npz $word -o x.png
    done
    refused 2 '^simrender: --up: 0,0,0 is no direction' simrender mesh.npz --up 0,0,0 -o x.png
    no_faults
}

@test "gravity on a free body is refused if its basis contains no translation" {
    local model
    voxelize bar.obj -q -n 6 --enlarge 1 --fill -o loose.npz
    modes loose.npz -q -k 10 -o loose-modes.npz
    masspca loose.npz loose-modes.npz -q -o loose-basis.npz # a basis without the six rigid modes
    polycoef loose.npz loose-basis.npz -q -o loose-poly.npz
    for model in '--poly loose-poly.npz' '--model galerkin'; do
        # shellcheck disable=SC2086
        refused 2 '^simulate: loose-basis.npz: --gravity: nothing fixes the mesh, and the basis misses 100 % of a fall' \
            simulate loose.npz --basis loose-basis.npz $model --gravity 0,0,-9.81 -o out.npz
        [[ ${err#*$'\n'} == *'"motion": "free"'*simscene* ]] || fault "$err"
    done
    done_well simulate loose.npz --basis loose-basis.npz --poly loose-poly.npz --steps 1 -o still.npz # without gravity the basis is accepted
    # With rigid modes the body falls by g t^2 / 2. Newmark's method is exact for a constant acceleration.
    done_well simulate loose.npz --model modal --basis loose-modes.npz --gravity 0,0,-9.81 --dt 0.01 --steps 25 --probe 3 -o fall.npz
    done_well simexport loose.npz loose-modes.npz fall.npz --probe 3 -o fall.csv
    awk -F, 'END { exit !(($NF + 9.81 * 0.25 ^ 2 / 2) ^ 2 < 1e-16) }' fall.csv || fault "$(tail -n 1 fall.csv)"
    # A mesh that fixes only x could slide along z: gravity along z is refused, gravity along x is accepted.
    voxelize bar.obj -q -n 6 --enlarge 1 --fill --fix-half-space 1,0,0,0,x -o rail.npz
    modes rail.npz -q -k 10 -o rail-modes.npz
    masspca rail.npz rail-modes.npz -q -o rail-basis.npz
    simulate rail.npz -q --model galerkin --basis rail-basis.npz --gravity 9.81,0,0 --steps 1 -o rail-along.npz || fault 'x is fixed'
    no_faults
}

@test "central differences above their limit, Newton's method without convergence" {
    refused 2 '^simfull: mesh.npz: the time step 1 s is above the limit of central differences, 2/omega = 0.00[0-9]+ s' \
        simfull mesh.npz --integrator central --dt 1 -o out.npz
    refused 5 '^simfull: mesh.npz: .*Newton.* 1 iteration' simfull mesh.npz -q --integrator static --gravity 0,0,-900 --iterations 1 -o out.npz
    refused 5 '^simfull: mesh.npz: ' simfull mesh.npz -q --gravity 0,0,-1e200 --dt 1e3 --steps 2 -o out.npz
    refused 5 '^simfull: mesh.npz: Newton.s method in the Newmark step did not converge at t = .* s: forces are beyond the range of numbers' simfull mesh.npz -q --beta 0.1 --gravity 0,0,-9.81 --dt 0.01 --steps 500 -o out.npz
    refused 3 '^simvalidate: free.npz: nothing fixes the mesh: statics finds no equilibrium' simvalidate free.npz -q --model linear --integrator static --gravity 0,0,-9.81 --steps 1
    refused 3 '^simfull: free.npz: nothing fixes the mesh: statics finds no equilibrium; fix vertices or attach springs' simfull free.npz -q --model linear --integrator static --gravity 0,0,-9.81 --steps 1 -o out.npz
    no_faults
}

@test "rigid modes have no derivatives" {
    modes free.npz -q -k 8 -o free-modes.npz
    modes free.npz -q -k 6 -o rigid-modes.npz
    refused 3 '^modalderiv: rigid-modes.npz: its 6 modes are rigid' modalderiv free.npz rigid-modes.npz -o out.npz
    refused 3 '^modalderiv: free-modes.npz: its 6 modes are rigid' modalderiv free.npz free-modes.npz -k 6 -o out.npz
    refused 2 '^modalderiv: --pairs: pair 6,7 names a rigid mode' modalderiv free.npz free-modes.npz --pairs 6,7 -o out.npz
    no_faults
}

@test "a file name with a line feed still gives one line" {
    refused 3 '^modes: ' modes $'two\nlines' -o out.npz
    refused 2 '^modes: unknown option' modes $'--two\nlines' -o out.npz
    no_faults
}

@test "sizes at which inside and outside are indistinguishable" {
    local size
    for size in 1e61 1e-61; do
        awk -v s=$size '$1 == "v" {$2 *= s; $3 *= s; $4 *= s} {print}' OFMT=%.17g CONVFMT=%.17g bar.obj > sized.obj
        refused 3 '^voxelize: sized.obj: a model of size .* m is too (large|small) to tell inside from outside' voxelize sized.obj -n 6 --fill -q -o out.npz
        done_well voxelize sized.obj -n 6 -q -o hollow.npz
    done
    no_faults
}

@test "siminfo --script of forged records" {
    local key
    forged() { # STATEMENTS PATTERN
        "$PYTHON" "$SUPPLE_SOURCE/tests/cli/forge.py" modes.npz bad.npz "$1" || fault "forge.py: $1"
        try siminfo --script bad.npz
        [ "$code" = 3 ] && [ "${#lines[@]}" = 1 ] && [[ $err =~ ^'siminfo: bad.npz: '.*$2 ]] || fault "$1: exit $code: $err"
    }
    for key in output write-mass write-stiffness derivatives checkpoint joints timings csv threads quiet; do
        forged "meta['parameters']['$key'] = '/tmp/x'" "its parameter \"$key\" is not an option that programs record"
    done
    for key in start-file about loads basis frame; do
        forged "meta['parameters']['$key'] = '/etc/passwd'" "its parameter \"$key\" is not an option that programs record"
        forged "meta['parameters']['$key'] = ['../x']" "its parameter \"$key\" is not an option that programs record"
    done
    forged "meta['inputs'][0]['option'] = 'count'" 'is not an option that reads a file'
    forged "meta['inputs'][0]['option'] = 'write-mass'" 'is not an option that reads a file'
    forged "meta['output'] = 'threads'" 'is not an option that writes a file'
    forged "meta['inputs'][0]['name'] = '../x'" 'has no usable name'
    forged "meta['parameters']['k'] = {}" 'is no option.s value'
    [ ! -s "$stdout" ] || fault 'a part of the script was printed'
    no_faults
}

@test "an ordering of modes that names a vertex twice, and is longer than the mesh, is refused by each reader" {
    needs_numpy
    "$PYTHON" "$SUPPLE_SOURCE/tests/cli/forge.py" modes.npz bad.npz 'm["ordering"] = np.tile(m["ordering"], 50)'
    refused 3 '^masspca: bad.npz: ordering: value 150 is vertex [0-9]+ a second time$' masspca mesh.npz bad.npz deriv.npz -q -o out.npz
    refused 3 '^simulate: bad.npz: ordering: value 150 is vertex' simulate mesh.npz --model modal --basis bad.npz --integrator exact --steps 1 -o out.npz
    no_faults
}

@test "siminfo shows a file one of whose parameters has control characters" {
    needs_numpy
    "$PYTHON" "$SUPPLE_SOURCE/tests/cli/forge.py" modes.npz bad.npz "meta['parameters']['method'] = 'a\\x1b[31mb'; meta['parameters']['\\x07'] = {}"
    try siminfo bad.npz
    [ "$code" = 0 ] && grep -q -- '--method a?\[31mb .*--? {}' "$stdout" || fault "exit $code: $err $(head -n 3 "$stdout")"
    no_faults
}

@test "siminfo --script knows all options that write or read files" {
    local tool name letter argument text count=0 keyed
    for tool in $(tools); do
        command_of "$tool"
        [ "$ending" = .npz ] || continue
        while read -r name _ text _; do
            [[ $text == files || $text == keyed ]] || continue
            name=${name%%,*} name=${name#--}
            grep -q "\"$name\"" "$SUPPLE_SOURCE/tools/info/script_words.c" || fault "tools/info/script_words.c does not name --$name of $tool"
        done < <("$tool" --completion bash | sed -n "/<< 'END'/,/^END/{/^--/p;}")
    done
    keyed=$(sed -n 's/.* keyed\[\] = {\(.*\)};/\1/p' "$SUPPLE_SOURCE/tools/info/script_words.c")
    for tool in $(tools); do
        while read -r name letter argument text; do
            case $argument in
            FILE | CSV)
                [[ $text != *write* && $text != *also* ]] && continue
                grep -q "\"$name\"" "$SUPPLE_SOURCE/tools/info/script_words.c" || fault "tools/info/script_words.c does not name --$name"
                ;;
            # KEY=FILE: the part after = is an input file
            [A-Z]*=CSV | [A-Z]*=MESH | [A-Z]*=FILE) [[ $keyed == *"\"$name\""* ]] || fault "tools/info/script_words.c does not know that --$name is $argument" ;;
            *) continue ;;
            esac
            count=$((count + 1))
        done < <(entries_of "$tool")
    done
    [ $count -ge 10 ] || fault "only $count options"
    no_faults
}

@test "the time of siminfo --script grows linearly with the number of inputs" {
    needs_plain_build "they take time"
    timely() { # WHAT STATEMENT CHECKS
        "$PYTHON" "$SUPPLE_SOURCE/tests/cli/forge.py" modes.npz many.npz "$2" || fault "forge.py: $1"
        timeout 60 siminfo --script many.npz > many.sh || fault "siminfo --script, $1: exit $?"
        [ "$(grep -c -E '^(check x|modes|cp )' many.sh)" = "$3" ] || fault "$1: not all is there"
    }
    local made="meta['inputs'] = [dict(name='x%d' % i, sha256='%064x' % i) for i in range(19999)]; meta['history'] = {'%064x' % i: dict(tool='modes', parameters={}, inputs=[]"
    timely 'inputs' "meta['inputs'] += [dict(name='x%d' % i, sha256='%064x' % i) for i in range(20000)]" 20001
    timely 'inputs that one names' "meta['inputs'] = [dict(name='s', sha256='%064x' % 1)] + [dict(name='x%d' % i, sha256='%064x' % (i + 2), via='s') for i in range(20000)]" 20001
    timely 'copies' "meta['inputs'] = [dict(name='s', sha256='%064x' % 1)] + [dict(name='x%d' % i, sha256='%064x' % 2, via='s') for i in range(20000)]" 20001
    timely 'ancestors of one command' "$made, version='1') for i in range(19999)}" 20000
    timely 'ancestors of many versions' "$made, version=str(i)) for i in range(19999)}" 20000
    no_faults
}

# shows_nothing WHAT COMMAND…: the output has no bytes that could move a cursor, and no line that the file made up.
shows_nothing() {
    local what=$1 line bytes=$'\e|\xc2\x9b|\xe2\x80\xae|\xe2\x81\xa6|\xe2\x80\xa8|\x07'
    shift
    for line in "$@"; do
        # shellcheck disable=SC2086
        try $line
        ! LC_ALL=C grep -qE "$bytes|^forged" "$stdout" "$BATS_TEST_TMPDIR/stderr" || fault "$line: $what: $(cat -v "$stdout" | head -c 300) $(cat -v <<< "$err")"
    done
}

@test "text from files has no effect on a terminal" {
    local key value
    for key in "meta['version']" "meta['inputs'][0]['name']" "meta['inputs'][0]['sha256']" "meta['tool']" "result['warnings']" "meta['history'][next(iter(meta['history']), 'a' * 64)]" "meta['format_version']"; do
        value="'a\\x1b[31m\\x9b\\u202e\\u2066\\u2028\\nforged: line\\x07'"
        [[ $key != *warnings* ]] || value="[$value]"
        [[ $key != *history* ]] || value="dict(tool=$value, inputs=[])"
        "$PYTHON" "$SUPPLE_SOURCE/tests/cli/forge.py" modes.npz bad.npz "$key = $value" || fault "forge.py: $key"
        shows_nothing "$key" 'siminfo bad.npz' 'siminfo --script bad.npz' 'simverify bad.npz' 'simcompare --meta bad.npz modes.npz' 'simcompare --meta modes.npz bad.npz' \
            'modalderiv mesh.npz bad.npz -o new.npz' 'simmerge bad.npz -o new.npz' 'simexport mesh.npz bad.npz --to csv -o new.csv' 'simvalidate mesh.npz --basis bad.npz --poly poly.npz --loads loads.csv'
    done
    value="'a\x9b31m\u202e\u2066\u2028'"
    for key in "meta['materials'][0]['name']" "meta['kind']" "meta[$value]" "m[$value]"; do
        "$PYTHON" "$SUPPLE_SOURCE/tests/cli/forge.py" mesh.npz bad.npz "$key = $([[ $key = m\[* ]] && echo 'np.zeros(3)' || echo "$value")" || fault "forge.py: $key"
        shows_nothing "$key" 'siminfo bad.npz' 'siminfo --script bad.npz' 'simverify bad.npz' 'simcompare --meta bad.npz mesh.npz' 'simcompare --meta mesh.npz bad.npz' \
            'simexport bad.npz -o new.veg' 'simexport bad.npz -o new.inp' 'modes bad.npz -k 4 -o new.npz' 'simvalidate bad.npz --basis basis.npz --poly poly.npz --loads loads.csv'
    done
    # text formats: a group, a material, a keyword, a name in JSON
    value=$'a\u009b31m\u202e\u2066\u2028'
    sed "s/^g ends/g $value/; s/^f 4 .*/f 4 1 5 80/" bar.obj > bad.obj
    sed "s/BODY/$value/" block.veg > bad.veg
    sed "s/^\*NODE/*NODE$value/" block.inp > bad.inp
    sed "s/^\(\$Mesh\)Format/\1$value/" block.msh > bad.msh
    sed "s/\"arm\"/\"$value\"/" scene.json > bad.json
    printf '{"name": "%s", "law": "%s"}' "$value" "$value" > body.json
    sed "2s/all/$value/" loads.csv > bad.csv
    shows_nothing 'text' 'voxelize bad.obj -n 4 -o new.npz' 'simimport bad.veg -o new.npz' 'simimport bad.inp -o new.npz' 'simimport bad.msh -o new.npz' 'siminfo new.npz' \
        'simscene bad.json --steps 1 -o new.npz' 'voxelize bar.obj -n 4 --materials body.json -o new.npz' 'simulate mesh.npz --loads bad.csv --steps 1 -o new.npz' \
        "modes $value.npz -o new.npz" "simimport block.veg --$value" "simexport mesh.npz -o new.$value" "simexport mesh.npz --to $value"
    no_faults
}

@test "numbers of the result are finite" {
    "$PYTHON" "$SUPPLE_SOURCE/tests/cli/forge.py" training.npz far.npz "m['q'][:, -1] = 1e300" || fault forge.py
    refused 5 '^cubature: out.npz: "(training|held_out)_error" of the result is not finite|^cubature: .*not finite' cubature mesh.npz basis.npz far.npz -q -o out.npz
    no_faults
}

@test "a serial OpenBLAS without locks, and the test of BLAS on several threads" {
    done_well siminfo --self-test -q
    refused 2 '^siminfo: --self-test takes no file$' siminfo --self-test mesh.npz
    refused 2 '^siminfo: nothing to do: no input was named$' siminfo
    needs_plain_build 'LD_PRELOAD'
    printf 'int openblas_get_parallel(void) { return 0; }\nchar *openblas_get_config(void) { return "OpenBLAS 0.3.21 DYNAMIC_ARCH"; }\n' > serial.c
    cc -shared -fPIC serial.c -o serial.so || fault 'cannot compile'
    LD_PRELOAD=$PWD/serial.so refused 4 '^modes: OpenBLAS is its serial build without locks' modes mesh.npz -k 4 -o out.npz
    LD_PRELOAD=$PWD/serial.so try siminfo --version
    [ "$code" = 0 ] || fault "--version: exit $code"
    # one that multiplies wrongly
    printf 'void cblas_dgemm(void) {}\n' > wrong.c
    cc -shared -fPIC wrong.c -o wrong.so || fault 'cannot compile'
    LD_PRELOAD=$PWD/wrong.so refused 5 '^siminfo: OpenBLAS multiplies matrices wrongly on 4 threads at once' siminfo --self-test -q
    no_faults
}

@test "a processor without the instructions of OpenBLAS kernels" {
    needs_plain_build "another processor"
    command -v qemu-x86_64 > /dev/null || skip "no qemu-x86_64"
    [ "$(uname -m)" = x86_64 ] || skip "another kind of machine"
    local tool
    for tool in masspca simulate; do
        command_of $tool
        try timeout 300 qemu-x86_64 -cpu qemu64 -U OPENBLAS_CORETYPE "$(command -v $tool)" "${line[@]:1}" -q -o any.npz # the processor claims to be an AMD of 2003, without 3DNow!
        [ "$code" = 0 ] || fault "$tool: exit $code: $err"
        try timeout 300 qemu-x86_64 -cpu qemu64 -E OPENBLAS_CORETYPE=Haswell "$(command -v $tool)" "${line[@]:1}" -q -o out.npz
        [ "$code: $err" = "4: $tool: the processor has no AVX2 and FMA, which OpenBLAS needs with its kernels for Haswell" ] || fault "$tool: exit $code: $err"
    done
    simverify any.npz --quiet || fault "simverify: any.npz"
    no_faults
}
