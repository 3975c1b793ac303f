#!/usr/bin/env bats
# cubature and simmerge: poses, methods, shards and checkpoints, and simulate with their results.

load common

setup_file() {
    # a larger body of voxels, and a body of tetrahedra whose law has no polynomials
    export BODY=$BATS_FILE_TMPDIR/body
    mkdir "$BODY"
    cd "$BODY"
    source "$BATS_TEST_DIRNAME/data.bash"
    make_models .
    local voxels=12
    ! sanitized || voxels=6
    voxelize bar.obj -q -n $voxels --enlarge 1 --fill --fix-half-space 1,0,0,0 -o mesh.npz
    echo '[{"name": "body", "law": "stable-neo-hookean", "young": 1e6, "poisson": 0.45, "density": 1000}]' > law.json
    voxelize bar.obj -q -n 6 --enlarge 1 --fill --tetrahedra --fix-half-space 1,0,0,0 --materials law.json -o tet.npz
    for body in mesh tet; do
        modes $body.npz -q -k 4 -o $body-modes.npz
        modalderiv $body.npz $body-modes.npz -q -o $body-deriv.npz
        masspca $body.npz $body-modes.npz $body-deriv.npz -q -r 8 -o $body-basis.npz
        # training poses from another motion than the tested ones; random poses are mostly the stiff coordinates
        simulate $body.npz -q --model galerkin --basis $body-basis.npz --gravity 0,0.5,-1 --dt 0.02 --steps 60 -o $body-train.npz
    done
    export GREEDY='--method greedy --tolerance 0 -n 40 --poses 100'
    cubature mesh.npz mesh-basis.npz $GREEDY -q -o greedy.npz
    # The device is full: all elements are chosen, nothing is written, and the checkpoint stays.
    ! cubature mesh.npz mesh-basis.npz $GREEDY -q --checkpoint all.checkpoint -o /dev/full 2> /dev/null
}

# members_equal A B NAME…
members_equal() {
    "$PYTHON" - "$@" <<-'END' || fault "$*: other bytes"
	import sys, zipfile
	a, b = (zipfile.ZipFile(f) for f in sys.argv[1:3])
	sys.exit(any(a.read(n + '.npy') != b.read(n + '.npy') for n in sys.argv[3:]))
	END
}

# tip_apart A B LIMIT: the largest difference of the displacements of two motions of all vertices, relative to the largest displacement.
tip_apart() {
    "$PYTHON" - "$@" <<-'END' || fault "$*: the motions are farther apart"
	import sys, numpy as np
	def u(path):
	    f = np.load(path)
	    return np.concatenate([f[n] for n in f.files if n.startswith('u/')])
	a, b = u(sys.argv[1]), u(sys.argv[2])
	apart, size = abs(a - b).max(), abs(b).max()
	print(apart / size)
	sys.exit(not (0 < apart < float(sys.argv[3]) * size and size > 0.1))
	END
}

@test "three methods on voxels and tetrahedra: few elements, the tolerance, poses held out" {
    local ending=.npz body method
    cd "$BODY"
    for body in mesh tet; do
        for method in nnls greedy htp; do
            done_well cubature $body.npz $body-basis.npz --method $method --poses 100 --tolerance 0.03 -o a.npz
            holds a.npz 'r["reached"] and r["training_error"] <= 0.03 and r["training_poses"] == 100 and r["held_out_poses"] == 50'
            # the validation poses have the same distribution, so that their error is of the same size
            holds a.npz '0 < r["held_out_error"] < 0.12 and r["elements"] < 150'
            holds a.npz 'r["resting_poses"] == 0 and r["amplitude"] > 0'
        done
    done
    done_well cubature mesh.npz mesh-basis.npz --poses 100 -n 10 -o b.npz
    [[ $err == *"above the tolerance 0.01: --elements allows no more"* ]] || fault "$err"
    holds b.npz 'r["elements"] == 10 and not r["reached"] and len(r["warnings"]) == 1'
    # least squares over all elements: more elements never increase the error
    done_well cubature mesh.npz mesh-basis.npz --poses 100 -n 20 -q -o c.npz
    "$PYTHON" - <<-'END' || fault 'twice the elements: a larger error'
	import json, sys, zipfile
	a, b = (json.loads(zipfile.ZipFile(f).read('result.npy').split(b'\n', 1)[1])['training_error'] for f in ('b.npz', 'c.npz'))
	sys.exit(not b < a)
	END
    # all elements: the minimum of the least-squares problem
    done_well cubature mesh.npz mesh-basis.npz --poses 10 --held-out 0 -r 2 --tolerance 0 -q -o d.npz
    holds d.npz 'r["reached"] and r["kkt"] < 1e-9 and r["training_error"] < 1e-5 and r["held_out_error"] is None and m["r"] == 2'
    done_well cubature mesh.npz mesh-basis.npz --method greedy --candidates 0 -n 5 --tolerance 0 -q -o e.npz
    holds e.npz 'r["elements"] == 5 and r["reached"]'
    no_faults
}

@test "basis columns of any length: the same elements, weights and errors" {
    needs_plain_build 'it compares results of one computation'
    local ending=.npz
    needs_numpy
    cd "$BODY"
    # Factors that are powers of two change no digit of the results.
    "$PYTHON" "$SUPPLE_SOURCE/tests/cli/forge.py" mesh-basis.npz long.npz 'm["U"] *= 2.0 ** (np.arange(m["U"].shape[1]) % 3)' || fault 'forge.py'
    for method in nnls greedy; do
        done_well cubature mesh.npz mesh-basis.npz --method $method --poses 100 -q -o a.npz
        done_well cubature mesh.npz long.npz --method $method --poses 100 -q -o b.npz
        "$PYTHON" - <<-'END' || fault "$method: they differ"
	import numpy as np, sys, json
	a, b = np.load('a.npz'), np.load('b.npz')
	e, f = (json.loads(x['result'].tobytes()) for x in (a, b))
	sys.exit(not (np.array_equal(a['element'], b['element']) and np.array_equal(a['weight'], b['weight']) and
	              e['held_out_error'] == f['held_out_error'] and e['amplitude'] == f['amplitude']))
	END
    done
    no_faults
}

@test "poses from trajectories, snapshots and training files" {
    local ending=.npz
    cd "$BODY"
    simulate mesh.npz -q --model galerkin --basis mesh-basis.npz --gravity 0,0,-3 --dt 0.02 --steps 30 -o q.npz
    simulate mesh.npz -q --model galerkin --basis mesh-basis.npz --gravity 0,0,-3 --dt 0.02 --steps 30 --record all -o both.npz
    done_well cubature mesh.npz mesh-basis.npz q.npz -o a.npz
    # The frame at rest is left out. A third of 30 poses is less than 50, so that half of them become validation poses.
    holds a.npz 'r["resting_poses"] == 1 and r["training_poses"] == 15 and r["held_out_poses"] == 15 and r["amplitude"] is None'
    done_well cubature mesh.npz mesh-basis.npz q.npz --held-out 6 --every 2 -o b.npz
    holds b.npz 'r["training_poses"] == 9 and r["held_out_poses"] == 6'
    # Displacements of all vertices are projected. Those of a motion in the basis have the coordinates of that motion.
    modes mesh.npz -q -k 3 -o three.npz
    cubature mesh.npz mesh-basis.npz q.npz --training-only -q -o t1.npz
    "$PYTHON" -c 'import sys, numpy' 2> /dev/null && {
        "$PYTHON" "$SUPPLE_SOURCE/tests/cli/forge.py" both.npz foreign.npz 'meta["basis"] = "0" * 64' || fault forge
        done_well cubature mesh.npz mesh-basis.npz foreign.npz --training-only -q -o t2.npz
        "$PYTHON" -c 'import numpy as np, sys
a, b = np.load("t1.npz"), np.load("t2.npz")
sys.exit(not all(abs(a[n] - b[n]).max() < 1e-9 * abs(a[n]).max() for n in ("q", "force")))' || fault 'projected poses are others'
    }
    simfull mesh.npz -q --gravity 0,0,-3 --dt 0.02 --steps 4 -o full.npz
    done_well cubature mesh.npz mesh-basis.npz full.npz --held-out-file q.npz -o c.npz
    holds c.npz 'r["training_poses"] == 4 and r["held_out_poses"] == 30'
    sketchsolve mesh.npz --loads sketch.csv -q -o snapshots.npz 2> err || fault "$(< err)"
    done_well cubature mesh.npz mesh-basis.npz snapshots.npz --poses 20 -o d.npz
    holds d.npz 'r["held_out_poses"] == 50 and 20 < r["training_poses"] <= 32'
    cubature mesh.npz mesh-basis.npz --poses 70 --training-only -q -o random.npz
    done_well cubature mesh.npz mesh-basis.npz random.npz full.npz -o e.npz
    holds e.npz '[x["name"] for x in m["inputs"]] == ["mesh.npz", "mesh-basis.npz", "random.npz", "full.npz"] and r["training_poses"] + r["held_out_poses"] == 74'
    refused 2 'full.npz|random.npz: name files of training before' cubature mesh.npz mesh-basis.npz full.npz random.npz -o out.npz
    # the same poses, read or evaluated again: the same elements and weights
    done_well cubature mesh.npz mesh-basis.npz random.npz --held-out-file random.npz -q -o f.npz
    done_well cubature mesh.npz mesh-basis.npz --poses 70 -q -o g.npz
    members_equal f.npz g.npz element weight mass gravity
    input=q.npz done_well cubature mesh.npz mesh-basis.npz - -q -o h.npz
    members_equal a.npz h.npz element weight
    rm -f out.npz
    no_faults
}

@test "simulate --model cubature gives the motion of --model galerkin and estimates its error" {
    local ending=.npz body
    needs_numpy
    cd "$BODY"
    for body in mesh tet; do
        local motion=(--basis $body-basis.npz --gravity 0,0,-2 --dt 0.02 --steps 40 --record all -q)
        done_well cubature $body.npz $body-basis.npz $body-train.npz --poses 100 --nested --tolerance 0.003 -q -o n.npz
        holds n.npz '0 < r["nested_elements"] <= (r["elements"] + 1) // 2 and r["nested_error"] >= r["training_error"]'
        done_well simulate $body.npz --model galerkin "${motion[@]}" -o a.npz
        done_well simulate $body.npz --model cubature --cub n.npz "${motion[@]}" -o b.npz
        tip_apart b.npz a.npz 0.05
        # Newton's method converges, because the tangent is the derivative of the force.
        holds b.npz 'r["most_iterations_in_a_step"] <= 8 and r["stagnated_steps"] == 0 and r["coordinates"] == 8'
        holds b.npz 'm["estimates"] is True and m["energy_estimates"] is True and 0 < r["largest_force_estimate"] < 1 and 0 < r["largest_energy_estimate"] < 1'
        "$PYTHON" -c 'import json, numpy as np, sys
f = np.load("b.npz")
estimate = np.concatenate([f[n] for n in f.files if n.startswith("estimate/")])
largest = json.loads(f["result"].tobytes())["largest_force_estimate"]
energy = np.concatenate([f[n] for n in f.files if n.startswith("energy_estimate/")])
assert len(energy) == 41 and energy[0] == 0 and (energy[1:] > 0).all() and energy.max() == json.loads(f["result"].tobytes())["largest_energy_estimate"]
sys.exit(not (len(estimate) == 41 and estimate[0] == 0 and estimate.max() == largest and (estimate[1:] > 0).all()))' || fault 'estimates'
        # with fewer frames the largest estimate is still recorded
        done_well simulate $body.npz --model cubature --cub n.npz "${motion[@]}" --every 7 -o c.npz
        "$PYTHON" - <<-'END' || fault 'the largest estimate between two frames is not recorded'
	import json, numpy as np, sys
	b, c = np.load('b.npz'), np.load('c.npz')
	b, c = (np.concatenate([f[n] for n in f.files if n.startswith('estimate/')]) for f in (b, c))
	sys.exit(not (len(c) == 7 and c[1] == b[1:8].max() and c[6] == b[36:41].max()))
	END
        done_well simulate $body.npz --model cubature --cub n.npz "${motion[@]}" -r 5 -o d.npz
        done_well simulate $body.npz --model galerkin "${motion[@]}" -r 5 -o e.npz
        tip_apart d.npz e.npz 0.05
        # without nested weights there are no estimates
        cubature $body.npz $body-basis.npz -q -o plain.npz
        done_well simulate $body.npz --model cubature --cub plain.npz "${motion[@]}" -o f.npz
        holds f.npz '"estimates" not in m and "largest_force_estimate" not in r'
        for how in '--integrator static --steps 4' '--integrator central --dt 1e-3 --steps 5'; do
            # shellcheck disable=SC2086
            done_well simulate $body.npz --model cubature --cub n.npz --basis $body-basis.npz --gravity 0,0,-2 -q $how -o g.npz
        done
        # the energy-conserving step is exact for cubic forces
        if [ $body = mesh ]; then
            done_well simulate $body.npz --model cubature --cub n.npz --basis $body-basis.npz --gravity 0,0,-2 -q --integrator energy --steps 5 -o g.npz
            holds g.npz 'r["energy_balance"] < 1e-9'
        else
            refused 2 '^simulate: tet.npz: --integrator energy is exact only' simulate $body.npz --model cubature --cub n.npz --basis $body-basis.npz --gravity 0,0,-2 -q --integrator energy --steps 5 -o out.npz
        fi
    done
    no_faults
}

@test "materials edited at run time: the elements of a cubature have them too" {
    local ending=.npz
    needs_numpy
    cd "$BODY"
    cubature mesh.npz mesh-basis.npz mesh-train.npz --poses 100 --tolerance 0.003 -q -o plain.npz
    local motion=(--basis mesh-basis.npz --gravity 0,0,-4 --dt 0.02 --steps 20 --record all --young 2e6 --density 1200 -q)
    done_well simulate mesh.npz --model galerkin "${motion[@]}" -o a.npz
    done_well simulate mesh.npz --model cubature --cub plain.npz "${motion[@]}" -o b.npz
    tip_apart b.npz a.npz 0.05
    no_faults
}

@test "shards, joined in any order, are the whole to the byte" {
    local ending=.npz i
    cd "$BODY"
    simulate mesh.npz -q --model galerkin --basis mesh-basis.npz --gravity 0,0,-3 --dt 0.02 --steps 30 -o q.npz
    # 31 poses of a motion and 200 random ones, which begin in the middle of a block
    local make=(cubature mesh.npz mesh-basis.npz q.npz --poses 200 --training-only -q)
    done_well "${make[@]}" -o whole.npz
    for i in 1 2 3; do
        done_well "${make[@]}" --shard $i/3 --threads $((1 + i % 2)) -o part$i.npz
    done
    holds part2.npz 'm["first"] == 64 and m["total"] == 231'
    done_well "${make[@]}" --shard 1/1 -o one.npz
    done_well simmerge part2.npz part3.npz part1.npz -o joined.npz
    holds joined.npz 'm["first"] == 0 and m["total"] == 231 and r["amplitude"] > 0 and m["kind"] == "training" and m["tool"] == "cubature" and "shard" not in m["parameters"]'
    done_well simmerge one.npz -o same.npz
    done_well simmerge whole.npz -o again.npz
    input=part3.npz done_well simmerge part1.npz part2.npz - -o piped.npz
    for i in joined same again piped; do
        same_bytes whole.npz $i.npz 'shards and one run'
    done
    members_equal whole.npz one.npz q force
    # a file of another program has no record of its commands
    "$PYTHON" - <<-'END'
	import json, sys, zipfile
	whole = zipfile.ZipFile('whole.npz')
	with zipfile.ZipFile('bare.npz', 'w') as bare:
	    for name in whole.namelist():
	        data = whole.read(name)
	        if name == 'meta.npy':
	            meta = json.loads(data[data.index(b'\n') + 1:])
	            text = json.dumps({k: v for k, v in meta.items() if k not in ('tool', 'version', 'parameters', 'seed', 'inputs', 'history')}).encode()
	            head = b"{'descr': '|u1', 'fortran_order': False, 'shape': (%d,), }" % len(text)
	            head += b' ' * (-(len(head) + 11) % 64) + b'\n'
	            data = b'\x93NUMPY\1\0' + len(head).to_bytes(2, 'little') + head + text
	        if name != 'result.npy':
	            bare.writestr(name, data)
	END
    done_well simmerge bare.npz -o bare-joined.npz
    holds bare-joined.npz 'm["tool"] == "simmerge" and len(m["inputs"]) == 1 and r["shrunk_poses"] == 0'
    members_equal whole.npz bare-joined.npz q force
    # both files give the same elements and weights
    done_well cubature mesh.npz mesh-basis.npz whole.npz -q -o a.npz
    done_well cubature mesh.npz mesh-basis.npz joined.npz -q -o b.npz
    members_equal a.npz b.npz element weight mass gravity
    # The script of siminfo makes the file again.
    mkdir remade
    cp bar.obj remade/
    siminfo --script joined.npz > remade/remake.sh || fault 'siminfo --script'
    (cd remade && sh remake.sh > said 2>&1) || fault "the script of joined.npz: $(< remade/said)"
    same_bytes joined.npz remade/joined.npz 'siminfo --script'
    echo old > out.npz
    refused 3 '^cubature: part2.npz: it is a shard, 64 poses of 231: join it with the others \(simmerge\)' cubature mesh.npz mesh-basis.npz part2.npz -o out.npz
    refused 3 '^simmerge: poses 64 to 127 of 231 are in none of the files' simmerge part1.npz part3.npz -o out.npz
    refused 3 '^simmerge: poses 128 to 230 of 231 are in none' simmerge part1.npz part2.npz -o out.npz
    refused 3 '^simmerge: poses 0 to 63 of 231 are in none' simmerge part3.npz part2.npz -o out.npz
    refused 3 '^simmerge: part[13].npz: poses 0 to 63 are in part[13].npz too' simmerge part1.npz part2.npz part1.npz part3.npz -o out.npz
    "${make[@]}" --shard 2/4 -o other.npz
    refused 3 '^simmerge: .*: poses 64 to 127 are in .* too' simmerge part1.npz part2.npz part3.npz other.npz -o out.npz
    cubature mesh.npz mesh-basis.npz q.npz --poses 201 --training-only -q --shard 2/3 -o more.npz
    refused 3 '^simmerge: more.npz: it was made in another way than part1.npz: its parameter poses differs' simmerge part1.npz more.npz part3.npz -o out.npz
    cubature mesh.npz mesh-basis.npz q.npz --poses 200 --training-only -q --shard 2/3 --seed 2 -o seed.npz
    refused 3 '^simmerge: seed.npz: it was made in another way than part1.npz: its seed differs' simmerge part1.npz seed.npz part3.npz -o out.npz
    cubature mesh.npz mesh-basis.npz q.npz --poses 200 --training-only -q --shard 2/3 --deflection 0.2 -o bent.npz
    refused 3 '^simmerge: bent.npz: .*parameter deflection differs' simmerge part1.npz bent.npz part3.npz -o out.npz
    cubature mesh.npz mesh-basis.npz q.npz --poses 200 --training-only -q --shard 2/3 -r 5 -o few.npz
    refused 3 '^simmerge: few.npz: its poses have 5 coordinates, those of part1.npz 8' simmerge part1.npz few.npz part3.npz -o out.npz
    cubature mesh.npz mesh-modes.npz --poses 231 -r 4 --training-only -q --shard 2/3 -o modes.npz
    refused 3 '^simmerge: modes.npz: it was made from another basis' simmerge part1.npz modes.npz part3.npz -o out.npz
    refused 3 '^simmerge: greedy.npz: it is a file of kind cubature' simmerge greedy.npz -o out.npz
    rm -f out.npz
    no_faults
}

@test "the same bytes for 1, 2 and 4 threads and in a second run, whatever the method" {
    needs_plain_build 'it compares bytes'
    local ending=.npz how count
    cd "$BODY"
    for how in '--method nnls --nested' '--method greedy --candidates 50' '--method htp' '--training-only' 'whole' 'poses'; do
        line=(cubature mesh.npz mesh-basis.npz --poses 60 -q)
        case $how in
        whole) line=(cubature tet.npz tet-basis.npz --poses 60 -q --tolerance 0.02) ;;
        poses) line+=(--memory 512K) ;; # narrow blocks of columns
        *) line+=($how) ;;
        esac
        "${line[@]}" -o first.npz || fault "$how: exit $?"
        for count in 1 2 4; do # one of these counts is that of the first run
            "${line[@]}" --threads $count -o again.npz
            same_bytes first.npz again.npz "$how, $count threads"
        done
    done
    no_faults
}

@test "refused: options that do not apply" {
    local text words basis=(cubature mesh.npz basis.npz)
    while IFS='|' read -r text words; do
        # shellcheck disable=SC2086
        refused 2 "^cubature: .*$text" "${basis[@]}" $words -o out.npz
    done <<-'END'
	--incremental does not apply to files of poses|--method modal --incremental traj.npz
	--amplitude, --deflection and --spectrum are for random poses|traj.npz --amplitude 1
	--amplitude, --deflection and --spectrum are for random poses|traj.npz --poses 0 --deflection 0.1
	--held-out-seed is for random poses|traj.npz --held-out-seed 5
	--held-out-seed is for random poses|--held-out 0 --held-out-seed 5
	--every is for files of poses|--every 2
	--tolerance 0 needs --elements with this method|--method greedy --tolerance 0
	--tolerance 0 needs --elements with this method|--method htp --tolerance 0
	--shard 0/2: expected I/N|--training-only --shard 0/2
	--shard 3/2: expected I/N|--training-only --shard 3/2
	--shard 1: expected I/N|--training-only --shard 1
	--shard 1/2x: expected I/N|--training-only --shard 1/2x
	--shard x: expected I/N|--training-only --shard x
	--shard 1/9: 200 poses make only 4 shards|--training-only --shard 1/9
	there are no poses|--poses 0
	--rank 7: the file has 6 columns|-r 7
	--tolerance: 1 is out of range|--tolerance 1
	--shard: files of training have their forces already|training.npz --training-only --shard 1/2
	END
    refused 2 '^simulate: --poly applies to --model reduced$' simulate mesh.npz --basis basis.npz --poly poly.npz --cub cub.npz -o out.npz
    refused 2 '^simulate: --model cubature needs --cub' simulate mesh.npz --model cubature --basis basis.npz -o out.npz
    refused 2 '^simulate: --poly applies to --model reduced$' simulate mesh.npz --model cubature --basis basis.npz --poly poly.npz --cub cub.npz -o out.npz
    refused 2 '^simulate: basis.npz: 7 coordinates are wanted, it has 6' simulate mesh.npz --model cubature --basis basis.npz --cub cub.npz -r 7 -o out.npz
    no_faults
}

@test "refused: files of another mesh or basis, poses without force, bases that cannot be sampled" {
    refused 3 '^cubature: twin-basis.npz: it was made from another mesh' cubature mesh.npz twin-basis.npz -o out.npz
    refused 3 '^cubature: full.npz: it was made from another mesh' cubature twin.npz twin-basis.npz full.npz -o out.npz
    refused 3 '^cubature: training.npz: it was made from another mesh' cubature twin.npz twin-basis.npz training.npz -o out.npz
    masspca mesh.npz modes.npz -q -o second.npz
    refused 3 '^cubature: training.npz: it was made from another basis' cubature mesh.npz second.npz training.npz -o out.npz
    refused 3 '^cubature: traj.npz: it has neither coordinates in this basis' cubature mesh.npz second.npz traj.npz -o out.npz
    refused 3 '^cubature: traj.npz: it has neither coordinates' cubature mesh.npz second.npz --held-out-file traj.npz -o out.npz
    refused 3 '^cubature: training.npz: its poses have 6 coordinates, not 3' cubature mesh.npz basis.npz -r 3 training.npz -o out.npz
    refused 3 '^cubature: poly.npz: ' cubature mesh.npz basis.npz poly.npz -o out.npz
    refused 3 '^cubature: cub.npz: ' cubature mesh.npz basis.npz cub.npz -o out.npz
    refused 3 '^cubature: mesh.npz: ' cubature mesh.npz mesh.npz -o out.npz
    refused 3 '^simulate: cub.npz: it was made from another (mesh|basis)' simulate twin.npz --model cubature --basis twin-basis.npz --cub cub.npz -o out.npz
    refused 3 '^simulate: cub.npz: it was made from another basis' simulate mesh.npz --model cubature --basis second.npz --cub cub.npz -o out.npz
    refused 3 '^simulate: poly.npz: ' simulate mesh.npz --model cubature --basis basis.npz --cub poly.npz -o out.npz
    # poses at rest have no force
    simulate mesh.npz -q --basis basis.npz --poly poly.npz --steps 3 -o rest.npz
    refused 3 '^cubature: rest.npz: no pose has a force' cubature mesh.npz basis.npz rest.npz -o out.npz
    modes free.npz -q -k 8 -o free-modes.npz
    refused 3 '^cubature: free-modes.npz: column 0 is a rigid motion' cubature free.npz free-modes.npz -o out.npz
    # a law that is not defined for inverted elements
    echo '[{"name": "body", "law": "neo-hookean", "young": 1e6, "poisson": 0.3, "density": 1000}]' > law.json
    voxelize bar.obj -q -n 4 --enlarge 1 --fill --tetrahedra --fix-half-space 1,0,0,0 --materials law.json -o strict.npz
    modes strict.npz -q -k 4 -o strict-modes.npz
    ending=.npz
    done_well cubature strict.npz strict-modes.npz --deflection 5 --poses 40 --held-out 0 --tolerance 0.3 -o halved.npz
    [[ $err == *'random poses inverted an element and were halved'* ]] || fault "$err"
    holds halved.npz 'r["shrunk_poses"] > 0'
    # One warning, and the number of halved poses, are those of a single run.
    local make=(cubature strict.npz strict-modes.npz --deflection 5 --poses 130 --training-only -q) i
    "${make[@]}" -o whole.npz 2> /dev/null
    for i in 1 2 3; do
        "${make[@]}" --shard $i/3 -o halved$i.npz 2> /dev/null
    done
    done_well simmerge halved3.npz halved1.npz halved2.npz -o joined.npz
    same_bytes whole.npz joined.npz 'shards with warnings and one run'
    holds joined.npz 'len(r["warnings"]) == 1 and r["shrunk_poses"] > 0'
    rm halved*.npz
    no_faults
}

@test "refused: bad numbers in files of cubature and training" {
    needs_numpy
    bad() { # KIND PATTERN STATEMENTS
        "$PYTHON" "$SUPPLE_SOURCE/tests/cli/forge.py" "$1.npz" bad.npz "$3" || fault "forge.py: $3"
        case $1 in
        cub)
            refused 3 "^simulate: bad.npz: .*$2" simulate mesh.npz --model cubature --basis basis.npz --cub bad.npz --steps 1 -o out.npz
            refused 3 "^simverify: bad.npz: .*$2" simverify bad.npz mesh.npz basis.npz
            refused 3 "^siminfo: bad.npz: .*$2" siminfo bad.npz
            ;;
        training)
            refused 3 "^cubature: bad.npz: .*$2" cubature mesh.npz basis.npz bad.npz -o out.npz
            refused 3 "^simmerge: bad.npz: .*$2" simmerge training.npz bad.npz -o out.npz
            ;;
        esac
    }
    bad cub 'element: entry 2 does not increase' 'm["element"][2] = m["element"][1]'
    bad cub 'element: entry 1 does not increase' 'm["element"][[0, 1]] = m["element"][[1, 0]]'
    bad cub 'element: entry 0 names element -1 of' 'm["element"][0] = -1'
    bad cub 'weight: entry 3 is -' 'm["weight"][3] *= -1'
    bad cub 'nested: entry 0 is -1' 'm["nested"][0] = -1'
    bad cub 'weight' 'm["weight"][0] = np.nan'
    bad cub 'weight' 'm["weight"][0] = np.inf'
    bad cub 'nested' 'm["nested"][0] = np.nan'
    bad cub 'weight' 'm["weight"] = m["weight"][:-1]'
    bad cub 'weight' 'm["weight"] = np.ones((len(m["weight"]), 5))'
    bad cub 'nested' 'm["nested"] = m["nested"][1:]'
    bad cub 'nested' 'm["nested"] = np.ones((len(m["weight"]), 6))'
    bad cub 'mass' 'm["mass"] = m["mass"][:5, :5]'
    bad cub 'mass' 'm["mass"][0, 1] += 1'
    bad cub 'gravity' 'm["gravity"] = m["gravity"].T'
    bad cub 'stiffness: dimension 0 is 6, expected 5' 'meta["r"] = 5'
    bad cub 'r' 'meta["r"] = 0'
    bad cub 'r' 'meta["r"] = "6"'
    bad cub 'r' 'del meta["r"]'
    bad cub 'of 0 elements' 'm["element"] = m["element"][:0]; m["weight"] = m["weight"][:0]; m["nested"] = m["nested"][:0]'
    bad cub 'mesh' 'meta["mesh"] = "abc"'
    # the number of elements is known with the mesh only
    "$PYTHON" "$SUPPLE_SOURCE/tests/cli/forge.py" cub.npz bad.npz 'm["element"][-1] = 96'
    refused 3 '^simulate: bad.npz: element: entry [0-9]+ names element 96 of 96' simulate mesh.npz --model cubature --basis basis.npz --cub bad.npz -o out.npz
    bad training 'q' 'm["q"][0, 0] = np.nan'
    bad training 'force' 'm["force"][0, 0] = np.inf'
    bad training 'force' 'm["force"] = m["force"][:, :-1]'
    bad training 'force' 'm["force"] = m["force"][:-1]'
    bad training 'q' 'm["q"] = m["q"].ravel()'
    bad training 'q' 'meta["r"] = 5'
    bad training 'first' 'meta["first"] = -1'
    bad training 'first' 'del meta["first"]'
    bad training 'total' 'meta["total"] = 1e12'
    bad training 'it has 70 poses from number 1 on, of 70' 'meta["first"] = 1'
    bad training 'it has 70 poses from number 0 on, of 69' 'meta["total"] = 69'
    bad training 'it has 0 poses' 'm["q"] = m["q"][:, :0]; m["force"] = m["force"][:, :0]'
    bad training 'made from another mesh' 'meta["mesh"] = "0" * 64'
    bad training 'made from another basis' 'meta["basis"] = "0" * 64'
    no_faults
}

@test "simverify recomputes the results of cubature and finds forged files with the right hash" {
    local text
    needs_numpy
    forged() { # CODE PATTERN FILE STATEMENTS
        "$PYTHON" "$SUPPLE_SOURCE/tests/cli/forge.py" "$3.npz" forged.npz "$4" || fault "forge.py: $4"
        try simverify -q forged.npz mesh.npz basis.npz training.npz cub.npz
        text=$(cat "$stdout")$err
        [ "$code" = "$1" ] || fault "$3: $4: exit $code, not $1: $text"
        grep -qE -- "$2" <<< "$text" || fault "$3: $4: no line matches $2: $text"
        ! grep '^FAIL' "$stdout" | grep -vE -- "$2" > others || fault "$3: $4: $(< others)"
    }
    cubature mesh.npz basis.npz training.npz --nested -q -o fitted.npz
    cubature mesh.npz basis.npz training.npz --held-out 0 --method greedy -q -o all.npz
    simulate mesh.npz --model cubature --basis basis.npz --cub cub.npz --gravity 0,0,-2 --steps 20 --record all -q -o motion.npz
    simulate mesh.npz --model cubature --basis basis.npz --cub cub.npz --gravity 0,0,-2 --steps 20 --young 2e6 --density 1200 -q -o edited.npz
    forged 0 '^note forged.npz error: .* on the 70 poses of training.npz' cub 'pass'
    forged 0 '^ok   forged.npz errors as stated' fitted 'pass'
    forged 0 '^ok   forged.npz poses as stated: 70 .70 fitted, 0 held out' all 'pass'
    forged 0 '^ok   forged.npz forces of 64 poses' training 'pass'
    forged 0 '^ok   forged.npz strain energy of 21 frames' motion 'pass'
    forged 0 '^ok   forged.npz strain energy of 21 frames' edited 'pass'
    forged 1 '^FAIL forged.npz errors as stated' fitted 'm["weight"][0] *= 1.01'
    forged 1 '^FAIL forged.npz errors as stated' all 'm["weight"][-1] *= 1.001' # at the minimum the error changes to second order
    forged 1 '^FAIL forged.npz errors as stated' fitted 'result["training_error"] *= 0.999'
    forged 1 '^FAIL forged.npz errors as stated' fitted 'result["held_out_error"] *= 0.999'
    forged 1 '^FAIL forged.npz (poses|errors) as stated' fitted 'result["training_poses"] -= 1'
    forged 1 '^FAIL forged.npz (errors as stated|result: "training_error" is missing)' all 'del result["training_error"]'
    forged 1 '^FAIL forged.npz elements as stated' cub 'result["elements"] = 3'
    forged 1 '^FAIL forged.npz elements with second weights as stated' cub 'm["nested"][np.argmax(m["nested"] > 0)] = 0'
    forged 1 '^FAIL forged.npz elements: the last is number 96 of 96' cub 'm["element"][-1] = 96'
    forged 1 '^FAIL forged.npz (mass|gravity)' cub 'm["mass"] *= 1 + 1e-9'
    forged 1 '^FAIL forged.npz (mass|gravity)' cub 'm["gravity"][0] = -m["gravity"][0]'
    forged 1 '^FAIL forged.npz forces' training 'm["force"][3, 0] *= 1 + 1e-8'
    forged 1 '^FAIL forged.npz forces' training 'm["q"][:, 69] *= 1 + 1e-8'
    forged 1 '^FAIL forged.npz (strain|kinetic)' motion 'm["energy/000000"][:, 1] *= 1 + 1e-6'
    forged 1 '^FAIL forged.npz (strain|kinetic)' edited 'm["energy/000000"][:, 1] *= 1 + 1e-6'
    # checks that need files which were not given
    ending=
    done_well simverify cub.npz
    grep -q '^skip cub.npz elements, mass and errors: its mesh is not' "$stdout" || fault "$(< "$stdout")"
    done_well simverify training.npz mesh.npz
    grep -q '^skip training.npz forces: its basis is not' "$stdout" || fault "$(< "$stdout")"
    done_well simverify motion.npz mesh.npz basis.npz
    grep -q '^skip motion.npz energies of the frames: its cubature' "$stdout" || fault "$(< "$stdout")"
    try simverify -q cub.npz --mesh twin.npz --basis twin-basis.npz
    [ "$code" = 1 ] || fault "simverify with another mesh: exit $code"
    no_faults
}

@test "errors in both norms, named, at training and at run time" {
    local ending=.npz metric other count
    value() {
        siminfo "$1" | sed -n "s/^\(result\)\{0,1\} *$2 //p"
    }
    for metric in energy force; do
        other=energy
        [ $metric = force ] || other=force
        done_well cubature mesh.npz basis.npz --metric $metric --tolerance 0.05 --nested -o $metric.npz
        [ "$(value $metric.npz metric)" = "\"$metric\"" ] || fault "metric: $(value $metric.npz metric)"
        for e in training_error held_out_error nested_error; do
            [ "$(printf %.10e "$(value $metric.npz $e)")" = "$(printf %.10e "$(value $metric.npz ${e}_$metric)")" ] || fault "$metric: $e is not ${e}_$metric: $(siminfo $metric.npz)"
            [ "$(value $metric.npz ${e}_$other)" != "$(value $metric.npz $e)" ] || fault "$metric: $e is the same in both norms"
        done
        [[ $err == *'poses held out: '*' in the energy norm, '*' in the force norm'* ]] || fault "$err"
    done
    # With few elements, the fit in one norm has the smaller error in that norm: on average over three counts, since elements are chosen greedily.
    # (All elements with weight 1 are exact in both.)
    for count in 8 20 50; do
        for metric in energy force; do
            done_well cubature mesh.npz basis.npz --method nnls --metric $metric --tolerance 0 -n $count --linear sampled -o $metric.npz
        done
        echo "$(value energy.npz training_error_energy) $(value force.npz training_error_energy) $(value force.npz training_error_force) $(value energy.npz training_error_force)"
    done > errors.txt
    awk '{ energy += log($1 / $2); force += log($3 / $4) } END { exit !(energy < 0 && force < 0) }' errors.txt || fault "a fit is not the best in its own norm: $(< errors.txt)"
    # a rigid column has no strain energy
    modes free.npz -q -k 8 -o free-modes.npz
    done_well cubature free.npz free-modes.npz --metric force --linear sampled free-modes.npz -o g.npz
    [ -z "$(value g.npz training_error_energy)" ] && [ "$(value g.npz training_error_force)" = "$(value g.npz training_error)" ] || fault "$(siminfo g.npz)"
    no_faults
}

@test "siminfo: elements, weights, poses, estimates" {
    local text
    text=$(siminfo cub.npz)
    [[ $text =~ elements\ \ [0-9]+,\ numbers\ [0-9]+\ to\ [0-9]+\;\ 6\ coordinates ]] || fault "$text"
    [[ $text =~ weights\ \ \ on\ ([0-9]+)\ elements,\ sum\ [0-9.]+ ]] || fault "$text"
    [[ $text =~ nested\ \ \ \ on\ [0-9]+\ elements ]] || fault "$text"
    [[ $text == *'training_error 0.00'*'held_out_error 0.0'* ]] || fault "$text"
    [[ $(siminfo training.npz) == *'poses     70 in 6 coordinates'* ]] || fault "$(siminfo training.npz)"
    cubature mesh.npz basis.npz --poses 70 --training-only --shard 2/2 -q -o part.npz
    [[ $(siminfo part.npz) == *'poses     6 in 6 coordinates, a shard: numbers 64 to 69 of 70'* ]] || fault "$(siminfo part.npz)"
    simulate mesh.npz --model cubature --basis basis.npz --cub cub.npz --gravity 0,0,-2 --steps 3 -q -o motion.npz
    [[ $(siminfo motion.npz) == *'6 reduced coordinates, estimates of the error of the force'* ]] || fault "$(siminfo motion.npz)"
    no_faults
}

@test "simexport: the chosen elements as a table and as a grid" {
    local ending=.csv
    needs_numpy
    done_well simexport cub.npz -o a.csv
    done_well simexport mesh.npz cub.npz -o b.csv
    same_bytes a.csv b.csv 'with the mesh'
    done_well simexport cub.npz mesh.npz -o a.vtu
    "$PYTHON" - <<-'END' || fault 'other elements or weights'
	import numpy as np, re, sys
	f, mesh = np.load('cub.npz'), np.load('mesh.npz')
	t = np.genfromtxt('a.csv', delimiter=',', names=True)
	assert t.dtype.names == ('element', 'weight', 'nested')
	assert (t['element'] == f['element']).all() and (t['weight'] == f['weight']).all() and (t['nested'] == f['nested']).all()
	data = open('a.vtu', 'rb').read()
	head, _, rest = data.partition(b'_')
	text = data[:data.index(b'<AppendedData')].decode()
	blocks = data[data.index(b'_', data.index(b'<AppendedData')) + 1:]
	n = len(f['element'])
	def values(name, kind):
	    at = int(re.search('Name="%s"[^>]*offset="([0-9]+)"' % name, text)[1])
	    size = int.from_bytes(blocks[at:at + 8], 'little')
	    return np.frombuffer(blocks[at + 8:at + 8 + size], kind)
	assert (values('weight', '<f8') == f['weight']).all() and (values('element', '<i8') == f['element']).all() and (values('nested', '<f8') == f['nested']).all()
	x, c = values('Points', '<f8').reshape(-1, 3), values('connectivity', '<i8').reshape(n, 8)
	assert (x[c] == mesh['vertices'][mesh['hex'][f['element']]]).all() and len(np.unique(c)) == len(x)
	END
    refused 2 '^simexport: VTU needs the mesh' simexport cub.npz -o out.vtu
    refused 3 '^simexport: cub.npz: it was made from another mesh' simexport cub.npz twin.npz -o out.vtu
    refused 3 '^simexport: basis.npz: a cubature goes with its mesh' simexport cub.npz basis.npz -o out.csv
    refused 2 '^simexport: more than one file of kind cubature' simexport cub.npz cub.npz -o out.csv
    refused 2 '^simexport: mesh.npz: .*not with another file of kind mesh' simexport cub.npz mesh.npz mesh.npz -o out.csv
    refused 2 '^simexport: --coordinates applies to a trajectory or a scene$' simexport cub.npz --coordinates -o out.csv
    refused 2 '^simexport: --fields applies to a trajectory$' simexport cub.npz mesh.npz --fields -o out.vtu
    input=cub.npz done_well simexport - --to csv -o c.csv
    same_bytes a.csv c.csv 'from standard input'
    no_faults
}

@test "a trajectory whose estimates contradict its meta is refused" {
    local statements
    needs_numpy
    simulate mesh.npz --model cubature --basis basis.npz --cub cub.npz --gravity 0,0,-2 --steps 20 -q -o motion.npz
    for statements in 'del m["estimate/000000"]' 'del m["energy_estimate/000000"]' 'm["energy_estimate/000000"][3] = np.nan' 'm["estimate/000000"][3] = np.nan' 'm["estimate/000000"] = m["estimate/000000"][:-1]' 'm["estimate/000000"] = m["estimate/000000"].astype(int)'; do
        "$PYTHON" "$SUPPLE_SOURCE/tests/cli/forge.py" motion.npz bad.npz "$statements" || fault "forge.py: $statements"
        refused 3 '^simverify: bad.npz: .*(estimate|block 0 is not whole)' simverify bad.npz
        refused 3 '^simexport: bad.npz: .*(estimate|block 0 is not whole)' simexport bad.npz -o out.csv
    done
    "$PYTHON" "$SUPPLE_SOURCE/tests/cli/forge.py" motion.npz good.npz 'del meta["estimates"]; del meta["energy_estimates"]' # members that meta does not announce
    ending=.csv
    done_well simexport good.npz --coordinates -o a.csv
    done_well simexport motion.npz --coordinates -o b.csv
    same_bytes a.csv b.csv 'with and without estimates'
    no_faults
}

@test "killed at any moment and called again: the same bytes" {
    local round caught=0 number code have=100
    cd "$BODY"
    RANDOM=4711
    for round in 1 2 3 4 5 6; do
        cubature mesh.npz mesh-basis.npz $GREEDY -q --checkpoint run.checkpoint --threads $((1 + round % 2)) -o run.npz 3>&- &
        number=$!
        # each run chooses at least one element more than the run before, however slow the machine is
        while kill -0 $number 2> /dev/null && [ "$(stat -c %s run.checkpoint 2> /dev/null || echo 0)" -le "$have" ]; do
            sleep 0.01
        done
        sleep "0.00$((RANDOM % 10))"
        kill -s KILL $number 2> /dev/null || true
        code=0
        wait $number 2> /dev/null || code=$?
        [ $code = 0 ] || [ $code = 137 ] || fault "round $round: exit $code"
        [ $code = 137 ] || break
        have=$(stat -c %s run.checkpoint)
        [ "$have" -le 100 ] || caught=$((caught + 1))
    done
    cubature mesh.npz mesh-basis.npz $GREEDY -q --checkpoint run.checkpoint -o run.npz || fault "the last call: exit $?"
    same_bytes greedy.npz run.npz "after $round kills"
    [ $caught -gt 0 ] || fault 'no kill met a run that had begun to choose'
    [ ! -e run.checkpoint ] || fault 'the checkpoint stays'
    rm -f .supple-*
    no_faults
}

@test "a checkpoint cut anywhere, of every method" {
    local size cut method how
    # the small body: every cut costs a run
    for method in greedy nnls htp; do
        how=(cubature mesh.npz basis.npz --poses 50 --method $method -q)
        [ $method != greedy ] || how+=(--tolerance 0 -n 40 --exchanges 3)
        "${how[@]}" -o whole.npz
        ! "${how[@]}" --checkpoint $method.checkpoint -o /dev/full 2> /dev/null
        [ -s $method.checkpoint ] || fault "$method: the checkpoint went although nothing was written"
        size=$(stat -c %s $method.checkpoint)
        RANDOM=17
        for cut in 0 7 52 60 $size $((size - 1)) $((size - 33)) $((RANDOM % size)) $((RANDOM % size)); do
            head -c "$cut" $method.checkpoint > cut.checkpoint
            "${how[@]}" --checkpoint cut.checkpoint -o cut.npz || fault "$method, cut at $cut: exit $?"
            same_bytes whole.npz cut.npz "$method, cut at $cut"
            [ ! -e cut.checkpoint ] || fault "$method, cut at $cut: the checkpoint stays"
        done
    done
    no_faults
}

@test "a checkpoint behind a symbolic link is removed, the link stays" {
    cp "$BODY"/mesh-basis.npz .
    mkdir folder
    ln -s folder/target.checkpoint link.checkpoint
    cp "$BODY"/all.checkpoint folder/target.checkpoint
    for round in old new; do
        cubature "$BODY"/mesh.npz mesh-basis.npz $GREEDY -q --checkpoint link.checkpoint -o $round.npz || fault "$round: exit $?"
        [ -z "$(ls -A folder)" ] || fault "$round: $(ls -A folder) stays"
        [ -L link.checkpoint ] || fault "$round: the link went"
    done
    same_bytes old.npz new.npz 'with a link'
    no_faults
}

@test "checkpoints of another run, damaged, or no checkpoints at all are refused and left alone" {
    local at size how=(cubature mesh.npz mesh-basis.npz $GREEDY)
    cp "$BODY"/mesh-basis.npz "$BODY"/all.checkpoint .
    cp --remove-destination "$BODY"/mesh.npz .
    refused 3 '^cubature: all.checkpoint: it is the checkpoint of another run' "${how[@]}" --seed 2 --checkpoint all.checkpoint -o out.npz
    refused 3 '^cubature: all.checkpoint: it is the checkpoint of another run' "${how[@]}" -r 5 --checkpoint all.checkpoint -o out.npz
    refused 3 '^cubature: bar.obj: it is not a checkpoint' "${how[@]}" --checkpoint bar.obj -o out.npz
    refused 2 '^cubature: new.npz: two outputs have this name' "${how[@]}" --checkpoint new.npz -o new.npz
    size=$(stat -c %s all.checkpoint)
    RANDOM=23
    for at in 0 30 52 61 $((size - 1)) $((size - 40)) $((RANDOM % size)); do
        cp all.checkpoint damaged.checkpoint
        "$PYTHON" -c 'import sys
with open("damaged.checkpoint", "r+b") as file:
    file.seek(int(sys.argv[1]))
    byte = file.read(1)[0]
    file.seek(int(sys.argv[1]))
    file.write(bytes([byte ^ 0x10]))' "$at"
        cp damaged.checkpoint before
        refused 3 '^cubature: damaged.checkpoint: (it is not a checkpoint|it is the checkpoint of another run|the checkpoint is damaged)' "${how[@]}" -q --checkpoint damaged.checkpoint -o out.npz
        same_bytes before damaged.checkpoint "byte $at"
    done
    no_faults
}
