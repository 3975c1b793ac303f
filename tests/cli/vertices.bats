#!/usr/bin/env bats
# Full-order models in simfull and mode superposition in simulate: warp, conjac, modal; prescribed vertices and bones, ground planes, activation,
# cuts, solvers,
# and simverify, simexport, simcompare and simvalidate on their motions.

load common

# A bar of 3 x 2 x 2 m in 96 voxels, fixed at one end, with the region tip at the other; the same bar without fixed vertices; both bars cut in two.
setup_file() {
    export BODY=$BATS_FILE_TMPDIR/body
    mkdir "$BODY"
    cd "$BODY"
    cp "$DATA"/bar.obj .
    voxelize bar.obj -q -n 6 --enlarge 1 --fill --fix-half-space 1,0,0,0 --region-box tip,2.5,-inf,-inf,inf,inf,inf -o grip.npz
    voxelize bar.obj -q -n 6 --enlarge 1 --fill -o loose.npz
    simcut grip.npz --plane 1,0,0,1.5 -q -o cut.npz
    simcut cut.npz --plane 1,0,0,0.75 -q -o cut2.npz
    simcut grip.npz --plane 1,0,0,2.5 -q -o off.npz
    simcut loose.npz --plane 1,0,0,1.5 -q -o halves.npz
    modes grip.npz -k 4 --write-mass M4.npz -q -o grip-modes.npz
    # a rotation about (1, 0, 0) with a shift, then a rotation about y that is not relative to the first
    printf 't,x,y,z,qw,qx,qy,qz\n0,0,0,0,1,0,0,0\n0.02,0.1,0,0.05,0.99,0.14106735979665885,0,0\n0.03,0.1,-0.02,0.05,2,0,0.1,0\n' > path.csv
    printf 't,vertex,ux,uy,uz\n0,17,0,0,0\n0.02,17,0.1,0.02,-0.1\n0.01,24,0,0,0.01\n0,0,0,0,0\n0.03,0,0,0.03,0\n' > single.csv
    printf 't,x,y,z,qw,qx,qy,qz\n0,3,0.5,0.5,1,0,0,0\n0.05,3,0.5,2,1,0,0,0\n' > hand.csv
    cat > bones.json <<-'END'
	{"bones": [{"name": "a", "joint": "revolute", "at": [0, 0.5, 0.5], "axis": [0, 1, 0], "mass": 3, "centre": [1, 0.5, 0.5], "box": [[-1, -1, -1], [0.6, 9, 9]]},
	           {"name": "b", "parent": "a", "joint": "prismatic", "axis": [1, 0, 0], "stiffness": 1e4, "damping": 3, "box": [[2.4, -1, -1], [9, 9, 9]]}],
	 "springs": [{"bone": "b", "at": [3, 0.5, 0.5], "stiffness": 5e4, "path": "hand.csv"}]}
	END
    echo '[{"name": "body", "young": 1e5, "poisson": 0.3, "density": 1000, "fibre": "stvk", "fibre_stiffness": 2e4, "fibre_direction": [1, 0, 0]}]' > muscle.json
    voxelize bar.obj -q -n 6 --enlarge 1 --fill --fix-half-space 1,0,0,0,x --fix-half-space 0,1,0,-0.4,y --fix-half-space 0,0,1,-0.4,z --materials muscle.json -o muscle.npz
    printf 't,region,tension\n0,body,0\n0.1,body,10000\n' > act.csv
    cat > frames.py <<-'END'
	"""Readers of trajectories and meshes for the tests."""
	import json
	import numpy as np
	def traj(name):
	    f = np.load(name)
	    join = lambda s: np.concatenate([f[n] for n in f.files if n.startswith(s + '/0')])
	    return {s: join(s) for s in ('time', 'q', 'qdot', 'u', 'udot', 'energy') if s + '/000000' in f.files} | {'meta': json.loads(f['meta'].tobytes()), 'result': json.loads(f['result'].tobytes())}
	def forge(source, statements):
	    """forged0.npz, forged1.npz, … by forge.py, in one process."""
	    import os, runpy, sys
	    for i, statement in enumerate(statements):
	        sys.argv = ['forge.py', source, 'forged%d.npz' % i, statement]
	        runpy.run_path(os.environ['SUPPLE_SOURCE'] + '/tests/cli/forge.py')
	def masses(mesh, density=1000):
	    """Lumped masses of equal voxels of half a metre."""
	    return np.bincount(mesh['hex'].ravel(), minlength=len(mesh['vertices'])) * density * 0.125 / 8
	END
}

setup() {
    faults=
    debug_trap=$(trap -p DEBUG)
    trap - DEBUG
    mkdir "$BATS_TEST_TMPDIR/work"
    cd "$BATS_TEST_TMPDIR/work" || return
    cp -r "$BODY"/. .
    echo old > out.npz
    shopt -s dotglob nullglob
    ending=.npz
}

# Every model and integrator: the program and its options.
every_model() {
    cat <<-'END'
	simfull --integrator newmark
	simfull --integrator newmark --semi-implicit
	simfull --integrator euler
	simfull --integrator bdf2
	simfull --integrator energy
	simfull --integrator central
	simfull --integrator static
	simfull --integrator linear-euler --beta 0.5
	simfull --solver jacobi
	simfull --solver reused --solver-tolerance 1e-10
	simfull --lumping lumped --integrator linear-euler
	simfull --model linear --integrator newmark
	simfull --model linear --integrator bdf2 --viscosity 30,20
	simfull --model linear --integrator linear-euler
	simfull --model linear --solver jacobi --integrator euler
	simfull --model warp
	simfull --model warp --integrator linear-euler --rotation polar
	simfull --model warp --warp pair --integrator euler
	simfull --model warp --warp element --rotation polar --integrator bdf2
	simfull --model warp --network --stretch-limit 0.001,3 --lumping lumped
	simfull --model conjac --integrator linear-euler --dynamic none
	simfull --model conjac --integrator linear-euler --dynamic 24,20,174 --corrections 1
	simfull --model conjac --integrator linear-euler --dynamic near:3,1,1;3,0,0;1,1,1 --settle
	simfull --model conjac --integrator linear-euler --dynamic farthest:6 --stabilization 1
	simfull --model conjac --integrator linear-euler --dynamic random:5,0.4 --seed 3 --beta 0.5
	simulate --model modal --basis grip-modes.npz
	simulate --model modal --basis grip-modes.npz --integrator exact --rank 3
	simulate --model modal --basis grip-modes.npz --integrator energy --record all
	simulate --model modal --basis grip-modes.npz --integrator static
	simulate --model modal --basis grip-modes.npz --integrator central
	simfull --model warp --integrator linear-euler --solver gradients
	END
}

@test "every model and integrator: the same bytes for any number of threads, certified by simverify" {
    local line n=0 made=() program
    while read -r program line; do
        n=$((n + 1))
        # shellcheck disable=SC2086
        done_well $program grip.npz --gravity 0,1,-9.81 --dt 0.001 --steps 3 $line -q -o m$n.npz
        made+=(m$n.npz)
        # shellcheck disable=SC2086
        $program grip.npz --gravity 0,1,-9.81 --dt 0.001 --steps 3 $line -q --threads $((n % 4 ? 1 : 4)) -o again.npz && cmp -s m$n.npz again.npz || fault "$program $line: other threads"
    done < <(every_model)
    [ $n = 31 ] || fault "$n models"
    ending=
    done_well simverify -q grip.npz grip-modes.npz "${made[@]}"
    ! grep -q '^skip' "$stdout" || fault "$(grep '^skip' "$stdout")"
    [ "$(grep -c '^ok .*kinetic energy of 4 frames' "$stdout")" = 31 ] || fault "kinetic energies: $(grep -c '^ok .*kinetic energy of' "$stdout")"
    # all models but the corotated ones have a strain energy that follows from the displacements
    [ "$(grep -c '^ok .*strain energy of 4 frames' "$stdout")" = 25 ] || fault "strain energies: $(grep 'strain energy of' "$stdout")"
    # Small motions: the models agree, except spring networks, quasistatic models, and integrators of first order or with a first step of first order.
    for line in m2 m5 m6 m9 m10 m12 m16; do
        try simcompare m1.npz $line.npz --rtol 0.02
        [ "$code" = 0 ] || fault "$line is not m1: $(< "$stdout")"
    done
    # without loads the corotated forces are rounding only, which must not count as a residual
    for line in '' '--warp pair' '--warp element' '--rotation polar' '--warp pair --rotation polar' --network; do
        # shellcheck disable=SC2086
        done_well simfull grip.npz --model warp $line --steps 3 -q -o still.npz
        holds still.npz 'r["newton_iterations"] == 0 and r["steps_in_parts"] == 0 and r["worst_residual"] <= 1e-10'
    done
    for line in m9 m10; do # iterative solvers solve the same equations
        try simcompare m1.npz $line.npz --rtol 1e-6
        [ "$code" = 0 ] || fault "$line is not m1: $(< "$stdout")"
    done
    no_faults
}

# Each mode by the solution of q'' + c q' + w² q = f, with f from the masses of voxels. The linear model converges to the same motion with small
# steps.
@test "a modal model: the exact solution, to which the linear model converges" {
    needs_numpy
    printf 't0,t1,kind,id,fx,fy,fz\n0.02,0.05,vertex,20,0,3000,-7000\n' > push.csv
    local run=(grip.npz --gravity 1,2,-9.81 --loads push.csv --damping-mass 0.7 --damping-stiffness 3e-4 -q)
    done_well simulate "${run[@]}" --model modal --basis grip-modes.npz --integrator exact --dt 0.01 --steps 12 -o exact.npz
    done_well simulate "${run[@]}" --model modal --basis grip-modes.npz --integrator newmark --dt 0.001 --steps 120 --every 10 -o newmark.npz
    done_well simfull "${run[@]}" --model linear --dt 0.001 --steps 120 --every 10 -o l1.npz
    done_well simfull "${run[@]}" --model linear --dt 0.0005 --steps 240 --every 20 -o l2.npz
    "$PYTHON" - <<-'END' || fault 'the oscillators'
	from frames import *
	mesh, modes, M = np.load('grip.npz'), np.load('grip-modes.npz'), np.load('M4.npz')
	U, lam = modes['U'], modes['eigenvalue']
	weight = U.reshape(-1, 3, 4)
	gravity = np.einsum('vci,v,c->i', weight, masses(mesh), [1, 2, -9.81])
	push = weight[20].T @ [0, 3000, -7000]
	c, t = 0.7 + 3e-4 * lam, np.arange(13) * 0.01
	def answer(s):
	    """To a unit force from time 0 on, at times s; 0 before."""
	    s = np.maximum(s, 0)[:, None]
	    d = c / 2
	    w = np.sqrt(lam - d * d)
	    return (1 - np.exp(-d * s) * (np.cos(w * s) + d / w * np.sin(w * s))) / lam
	q = gravity * answer(t) + push * (answer(t - 0.02) - answer(t - 0.05))
	scale = abs(q).max()
	error = lambda name: abs(traj(name)['q'] - q).max() / scale
	assert error('exact.npz') < 1e-12, error('exact.npz')
	assert 1e-8 < error('newmark.npz') < 3e-3, error('newmark.npz')
	# all vertices in the same modes: UᵀMu over the free degrees of freedom, with the mass matrix of the file
	def modal(name):
	    u = traj(name)['u'].reshape(13, -1)[:, M['dof']]
	    Mu = np.array([np.add.reduceat(M['data'] * x[M['indices']], M['indptr'][:-1]) for x in u])
	    return Mu @ U[M['dof']]
	e = [abs(modal(n) - q).max() / scale for n in ('l1.npz', 'l2.npz')]
	assert e[0] < 5e-3 and 3.5 < e[0] / e[1] < 4.5, e
	END
    no_faults
}

@test "prescribed vertices follow the path and the file, and simverify checks that" {
    needs_numpy
    local kind made=()
    for kind in newmark euler bdf2 linear-euler central static; do
        done_well simfull grip.npz --integrator $kind --dt 0.002 --steps 17 --every 3 --prescribe tip=path.csv --prescribe-vertices single.csv -q -o $kind.npz
        made+=($kind.npz)
    done
    for kind in linear warp 'conjac --dynamic farthest:4'; do
        # shellcheck disable=SC2086
        done_well simfull grip.npz --model $kind --integrator linear-euler --dt 0.002 --steps 17 --every 3 --prescribe tip=path.csv --prescribe-vertices single.csv -q -o "${kind%% *}.npz"
        made+=("${kind%% *}.npz")
    done
    # the whole body moves along, without strain
    printf 't,x,y,z,qw,qx,qy,qz\n0,0,0,0,1,0,0,0\n1,0.3,0.1,-0.2,0.7,0.1,0.2,0.3\n' > whole.csv
    done_well simfull grip.npz --integrator static --dt 0.25 --steps 4 --prescribe fixed=whole.csv -q -o whole.npz
    # a vertex that the mesh fixes along x only is prescribed along x
    voxelize bar.obj -q -n 6 --enlarge 1 --fill --fix-half-space 1,0,0,0,x --fix-vertices 0 -o slide.npz
    printf 't,vertex,ux,uy,uz\n0,7,0,0,0\n0.01,7,0.02,0,0\n' > slide.csv
    printf 't,vertex,ux,uy,uz\n0,7,0,1,0\n' > across.csv
    done_well simfull slide.npz --dt 0.001 --steps 10 --gravity 0,0,-9.81 --prescribe-vertices slide.csv -q -o slid.npz
    refused 3 '^simfull: across.csv: line 2: uy: 1 m, but vertex 7 is free along y in the mesh' simfull slide.npz --prescribe-vertices across.csv -o out.npz
    "$PYTHON" - "${made[@]}" <<-'END' || fault 'they are not'
	import sys
	from frames import *
	mesh = np.load('grip.npz')
	X, tip = mesh['vertices'], np.unique(mesh['hex'][mesh['region'] == 1])
	path = np.loadtxt('path.csv', delimiter=',', skiprows=1)
	path[:, 4:] /= np.linalg.norm(path[:, 4:], axis=1)[:, None]
	def matrix(q):
	    w, x, y, z = q
	    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)], [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
	                     [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]])
	def pose(path, t):
	    if t >= path[-1, 0]:
	        return matrix(path[-1, 4:]), path[-1, 1:4]
	    k = np.searchsorted(path[:, 0], t, 'right') - 1
	    a, b = path[k], path[k + 1]
	    s = (t - a[0]) / (b[0] - a[0])
	    p, q = a[4:], b[4:]
	    if p @ q < 0:
	        q = -q
	    angle = np.arccos(min(1, p @ q))
	    return matrix((np.sin((1 - s) * angle) * p + np.sin(s * angle) * q) / np.sin(angle) if angle else p), (1 - s) * a[1:4] + s * b[1:4]
	for name in sys.argv[1:]:
	    f = traj(name)
	    t, u, v = f['time'], f['u'], f['udot']
	    assert np.allclose(t, [0, 0.006, 0.012, 0.018, 0.024, 0.03, 0.034], atol=1e-15), t
	    for k, now in enumerate(t):
	        R, p = pose(path, now)
	        assert abs(u[k, tip] - (X[tip] @ R.T + p - X[tip])).max() < 1e-14, (name, k)
	        if now >= 0.03:  # the other components stay free
	            assert abs(v[k, tip]).max() == 0, (name, k)
	        elif k:
	            h = 1e-6
	            (R1, p1), (R0, p0) = pose(path, now + h), pose(path, now - h)
	            assert abs(v[k, tip] - (X[tip] @ (R1 - R0).T + p1 - p0) / (2 * h)).max() < 1e-3 * abs(v[k, tip]).max(), (name, k)
	    step = np.minimum(t / 0.02, 1)[:, None]
	    assert abs(u[:, 17] - step * [0.1, 0.02, -0.1]).max() < 1e-15 and abs(u[:, 24] - [0, 0, 0.01]).max() == 0, name
	    assert abs(u[:, 0] - np.minimum(t, 0.03)[:, None] * [0, 1, 0]).max() < 1e-15 and abs(u[:, mesh['fixed'][1:]]).max() == 0, name
	    assert abs(v[1:4, 17] - [5, 1, -5]).max() < 1e-13 and abs(v[4:, 17]).max() == 0, name
	    assert abs(v[:, 17]).max() == 5 and 'prescribe' in f['meta']['parameters']
	f, path = traj('whole.npz'), np.loadtxt('whole.csv', delimiter=',', skiprows=1)
	path[:, 4:] /= np.linalg.norm(path[:, 4:], axis=1)[:, None]
	for k, now in enumerate(f['time']):
	    R, p = pose(path, now)
	    assert abs(f['u'][k] - (X @ R.T + p - X)).max() < 1e-9, k
	assert f['energy'][:, 1].max() < 1e-9 * 1e6, f['energy']
	f = traj('slid.npz')
	assert abs(f['u'][:, 7, 0] - 0.002 * np.arange(11)).max() < 1e-16 and abs(f['u'][-1, 7, 2]) > 1e-6
	END
    ending=
    done_well simverify -q grip.npz slide.npz slid.npz whole.npz "${made[@]}"
    [ "$(grep -c '^ok .*rigid motion of 1 groups' "$stdout")" = 10 ] && [ "$(grep -c '^ok .*what is moved: ' "$stdout")" = 11 ] || fault "$(grep -v '^note' "$stdout")"
    # wrong claims
    local i changes=('m["u/000000"][3, int(m["prescribed/vertex"][-1])] += 1e-9' 'm["u/000000"][2, 7, 1] = 1e-300' 'm["prescribed/group"][3] = -1' 'm["prescribed/group"][0] = 0' 'm["udot/000000"][4, 100, 0] += 0.1' \
        'meta["parameters"]["prescribe"] = ["fixed"]' 'meta["parameters"]["prescribe"] = []; meta["inputs"] = meta["inputs"][:1]' 'm["prescribed/frames"][-1] = 2' \
        'for n in ("vertex", "axes", "group", "frames"): del m["prescribed/" + n]')
    "$PYTHON" -c 'import sys; from frames import *; forge("newmark.npz", sys.argv[1:])' "${changes[@]}"
    for i in "${!changes[@]}"; do
        try simverify -q grip.npz "forged$i.npz"
        [ "$code" = 1 ] || fault "${changes[i]}: exit $code: $(grep forged "$stdout")"
    done
    changes=('del m["prescribed/axes"]' 'm["prescribed/axes"][1] = 8' 'm["prescribed/axes"][1] = 0' 'm["prescribed/frames"][0] = 0' 'm["prescribed/group"][0] = -2' 'm["prescribed/vertex"][0] = 175' 'm["prescribed/vertex"][1] = 0' \
        'm["prescribed/vertex"] = m["prescribed/vertex"][:-1]')
    "$PYTHON" -c 'import sys; from frames import *; forge("newmark.npz", sys.argv[1:])' "${changes[@]}"
    for i in "${!changes[@]}"; do
        refused 3 "^simverify: forged$i.npz: (member )?prescribed/" simverify -q "forged$i.npz"
        refused 3 "^simexport: forged$i.npz: (member )?prescribed/" simexport "forged$i.npz" --probe 3 -q -o out.npz --to csv
    done
    no_faults
}

# A block falls by 0.1 m onto a plane and slides along it.
@test "ground planes: the depth of a body at rest, and friction" {
    needs_numpy
    done_well simfull loose.npz --integrator static --gravity 0,0,-9.81 --ground 0,0,3,-1.47 --ground-stiffness 1e5 --dt 1 --steps 1 -q -o rest.npz
    printf 't0,t1,kind,id,fx,fy,fz\n0,0.1,all,,300000,0,0\n' > shove.csv
    done_well simfull loose.npz --integrator euler --gravity 0,0,-9.81 --loads shove.csv --ground 0,0,1,-0.6 --ground-stiffness 1e6 --ground-alpha 0 --friction 0.25 --dt 0.005 \
        --steps 80 -q -o slide.npz
    done_well simfull loose.npz --model linear --gravity 0,0,-9.81 --loads shove.csv --ground 0,0,1,-0.6 --ground-stiffness 1e6 --ground-alpha 0 --dt 0.005 --steps 80 -q -o ice.npz
    # two ground planes, one of them inclined
    done_well simfull loose.npz --integrator bdf2 --gravity 0,0,-9.81 --ground 0,0,1,-0.6 --ground=-1,0,1,-3.55 --ground-stiffness 1e6 --dt 0.005 --steps 60 --every 60 -q -o two.npz
    "$PYTHON" - <<-'END' || fault 'the grounds'
	from frames import *
	mesh = np.load('loose.npz')
	X, m = mesh['vertices'], masses(mesh)
	assert abs(m.sum() - 12000) < 1e-9
	depth = lambda x, d: np.maximum(0, d - x[:, 2])
	rest = X + traj('rest.npz')['u'][-1]
	push = 1e5 * depth(rest, -0.49).sum()
	assert abs(push - 12000 * 9.81) < 1e-8 * push, push
	# The contact force of implicit Euler is that of the depth at the end of each step. While all vertices slide, friction takes the impulse of that
	# force
	# times its coefficient from the tangential motion, whatever its direction.
	f = traj('slide.npz')
	v = np.einsum('v,fvc->fc', m, f['udot'])
	push = np.array([1e6 * depth(X + u, -0.6) for u in f['u']])
	impulse = 0.005 * np.cumsum(push.sum(1))
	speed = np.linalg.norm(f['udot'][..., :2], axis=2)
	assert not push[:28].any() and push[30:].any() and speed[push > 0].min() > 0.1
	cosine = f['udot'][..., 0] / np.maximum(speed, 1e-9)
	assert cosine[push > 0].min() < 0.99
	assert abs(v[:, 2] + 12000 * 9.81 * f['time'] - impulse).max() < 1e-7 * impulse[-1], abs(v[:, 2] + 12000 * 9.81 * f['time'] - impulse).max()
	assert abs(v[:, 0] - 300000 * np.minimum(f['time'], 0.1) + 0.25 * 0.005 * np.cumsum((push * cosine).sum(1))).max() < 1e-7 * impulse[-1]
	assert f['energy'][-1, 3] > 1e3 and (np.diff(f['energy'][:, 3]) > -1e-9).all()
	g = traj('ice.npz')
	assert abs(np.einsum('v,fv->f', m, g['udot'][22:, :, 0]) - 30000).max() < 1e-3 and g['energy'][-1, 3] == 0
	assert g['result']['energy_balance'] < 0.01
	two = X + traj('two.npz')['u'][-1]
	assert two[:, 2].min() < -0.6 and (two[:, 2] - two[:, 0]).min() < -3.55 and (two[:, 2] - two[:, 0])[two[:, 0] < 2].min() > -3.55
	END
    ending=
    done_well simverify -q loose.npz rest.npz slide.npz ice.npz two.npz
    no_faults
}

@test "cuts: copies move together before the cut and apart after it, and files record it" {
    needs_numpy
    local kind made=()
    local run=(simfull grip.npz --gravity 0,0,-9.81 --dt 0.001 --steps 20 -q)
    for kind in newmark energy euler bdf2 central linear-euler; do
        done_well "${run[@]}" --integrator $kind --cut 0.0104=cut.npz -o $kind.npz
        made+=($kind.npz)
    done
    done_well "${run[@]}" -o whole.npz
    done_well "${run[@]}" --cut 0.004=cut.npz --cut 0.01=cut2.npz --every 4 -o twice.npz
    # a cut at the start: the motion of the cut mesh
    done_well "${run[@]}" --cut 0=cut.npz -o start.npz
    done_well simfull cut.npz --gravity 0,0,-9.81 --dt 0.001 --steps 20 -q -o piece.npz
    for kind in linear warp 'conjac --dynamic farthest:8'; do
        # shellcheck disable=SC2086
        done_well "${run[@]}" --model $kind --integrator linear-euler --cut 0.01=cut.npz -o "${kind%% *}.npz"
        made+=("${kind%% *}.npz")
    done
    # The end is cut off its support and flies on. A prescribed vertex on the cut moves with its copy.
    done_well simfull grip.npz --dt 0.001 --steps 20 --every 3 --prescribe tip=path.csv --cut 0.01=off.npz -q -o free.npz
    done_well simfull grip.npz --dt 0.001 --steps 20 --prescribe-vertices single.csv --cut 0.01=cut.npz -q -o both.npz
    # a cut of a body so deformed that an element would be inverted at rest
    echo '[{"name": "body", "law": "neo-hookean", "young": 1e5, "poisson": 0.3, "density": 1000}, {"name": "tip", "law": "neo-hookean", "young": 1e5, "poisson": 0.3, "density": 1000}]' > gum.json
    voxelize bar.obj -q -n 6 --enlarge 1 --fill --fix-half-space 1,0,0,0 --region-box tip,2.5,-inf,-inf,inf,inf,inf --materials gum.json -o gum.npz
    simcut gum.npz --plane 0,1,0,0.5 -q -o gum-cut.npz
    printf 't,x,y,z,qw,qx,qy,qz\n0,0,0,0,1,0,0,0\n0.5,3,0,0,1,0,0,0\n' > draw.csv
    done_well simfull gum.npz --dt 0.01 --steps 52 --every 13 --prescribe tip=draw.csv --cut 0.5=gum-cut.npz -q -o drawn.npz
    holds drawn.npz 'r["energy_balance"] < 1e-3'
    done_well "${run[@]}" --cut 0.01=cut.npz --record probes --probe 180,17,surface:3 -o probes.npz
    "$PYTHON" - "${made[@]}" <<-'END' || fault 'the cuts'
	import sys
	from frames import *
	mesh, cut, cut2, off = (np.load(n) for n in ('grip.npz', 'cut.npz', 'cut2.npz', 'off.npz'))
	first, old = cut['origin'], 175
	assert (first[:old] == np.arange(old)).all() and len(first) == 200
	whole = traj('whole.npz')
	for name in sys.argv[1:]:
	    f = traj(name)
	    u, v = f['u'], f['udot']
	    assert u.shape == (21, 200, 3) and f['meta']['mesh'] == json.loads(cut['result'].tobytes())['sha256'], name
	    apart = abs(u - u[:, first]).max((1, 2))
	    assert apart[:11].max() == 0 and (abs(v - v[:, first]).max((1, 2))[:11] == 0).all() and (apart[11:] > 0).all() and apart[20] > 1e-7, (name, apart)
	    if name == 'newmark.npz':  # until the cut the motion and the energy are unchanged
	        assert (u[:11, :old] == whole['u'][:11]).all() and (f['energy'][:11] == whole['energy'][:11]).all() and f['result']['energy_balance'] < 1e-7
	        # the free piece falls: its momentum by the masses of its voxels
	        free = cut['vertices'][cut['hex']].mean(1)[:, 0] > 1.5
	        m = np.bincount(cut['hex'][free].ravel(), minlength=200) * 1000 * 0.125 / 8
	        fall = np.einsum('v,fvc->fc', m, v)
	        assert abs(fall[11:] - fall[10] - 6000 * (f['time'][11:, None] - 0.01) * [0, 0, -9.81]).max() < 1e-6, fall
	    if name == 'energy.npz':
	        assert f['result']['energy_balance'] < 1e-10, f['result']['energy_balance']
	start, piece = traj('start.npz'), traj('piece.npz')
	assert (start['u'] == piece['u']).all() and (start['udot'] == piece['udot']).all() and (start['energy'] == piece['energy']).all()
	f = traj('twice.npz')
	u, second = f['u'], cut2['origin']
	assert u.shape == (6, 225, 3)  # frames at 0, 4, 8, … ms
	assert abs(u - u[:, second])[:3].max() == 0 and (abs(u - u[:, second]).max((1, 2))[3:] > 0).all()
	apart = abs(u[:, :200] - u[:, first]).max((1, 2))
	assert apart[:2].max() == 0 and apart[2:].min() > 0
	# Vertices of the end keep the prescribed motion. Vertices of the bar that were on it continue with their velocity.
	f = traj('free.npz')
	tip, copies = np.unique(off['hex'][off['region'] == 1]), np.unique(off['hex'][off['region'] == 0])
	copies = copies[off['vertices'][copies, 0] == 2.5]
	held = dict(zip(np.load('free.npz')['prescribed/vertex'], np.load('free.npz')['prescribed/frames']))
	assert {k for k in held if held[k] == 8} == set(tip) and {k for k in held if held[k] == 4} == set(copies), held
	u, v = f['u'], f['udot']
	assert abs(u[:4] - u[:4, off['origin']]).max() == 0 and abs(u[4] - u[4, off['origin']]).max() > 1e-4
	way = abs(u[4, copies] - u[3, copies]).max() / (0.003 * abs(v[3, copies]).max())  # neither back at rest, which would be 3, nor left behind
	assert 0.3 < way < 1.3, way
	assert f['result']['energy_balance'] < 0.01
	f = traj('both.npz')
	assert (first == 17).sum() == 2 and (abs(f['u'][:, first == 17] - (f['time'] / 0.02)[:, None, None] * [0.1, 0.02, -0.1]) < 1e-15).all()
	assert abs(f['u'][:, first == 24] - [0, 0, 0.01]).max() == 0
	p = traj('probes.npz')
	a = traj('newmark.npz')
	vertex = np.load('probes.npz')['vertex']
	assert 180 in vertex and (p['u'] == a['u'][:, vertex]).all()
	END
    ending=
    done_well simverify -q grip.npz cut.npz cut2.npz off.npz whole.npz twice.npz start.npz free.npz both.npz "${made[@]}"
    [ "$(grep -c '^ok .*copies together before the cut at' "$stdout")" = 14 ] && ! grep -q '^skip' "$stdout" || fault "$(grep -v '^note' "$stdout")"
    local i changes=('m["u/000000"][5, 180] += 1e-12' 'meta["parameters"]["cut"] = ["0.02"]' 'meta["parameters"]["cut"] = []' 'meta["inputs"] = meta["inputs"][:1]')
    "$PYTHON" -c 'import sys; from frames import *; forge("newmark.npz", sys.argv[1:])' "${changes[@]}"
    for i in "${!changes[@]}"; do
        try simverify -q grip.npz cut.npz "forged$i.npz"
        [ "$code" = 1 ] || fault "${changes[i]}: exit $code"
    done
    # other programs accept the motion with its last mesh only
    done_well simexport cut.npz newmark.npz --every 5 -q -o m.pvd
    [ "$(echo m_*.vtu | wc -w)" = 5 ] || fault "VTU: $(echo m_*)"
    ending=.csv
    done_well simexport cut.npz newmark.npz --probe 180,surface:5 -q -o m.csv
    done_well simrender cut.npz newmark.npz --frames 20 --size 80x60 --samples 1 -q -o m.png
    ending=
    done_well simcompare newmark.npz euler.npz --mesh cut.npz --rtol 0.2 -q
    refused 3 '^simexport: newmark.npz: it was made from another mesh' simexport grip.npz newmark.npz -q -o out.npz --to csv --probe 3
    refused 3 '^simcompare: .*: it was made from another mesh' simcompare newmark.npz whole.npz
    no_faults
}

# A rod on a hinge with an elastic end of negligible mass. Linearly implicit Euler computes the velocity first, then the angle with the new velocity.
@test "a skeleton: a pendulum by the full-order model and by conjac" {
    needs_numpy
    local model made=()
    echo '[{"name": "body", "density": 1000, "young": 1e6, "poisson": 0.3}, {"name": "tip", "density": 1e-9, "young": 1e-3, "poisson": 0.3}]' > light.json
    voxelize bar.obj -q -n 6 --enlarge 1 --fill --region-box tip,2.5,-inf,-inf,inf,inf,inf --materials light.json -o rod.npz
    echo '{"bones": [{"name": "rod", "joint": "revolute", "at": [0, 7, 0.5], "axis": [0, 3, 0], "regions": ["body"], "start": 0.3, "rate": -0.5}]}' > hinge.json
    for model in nonlinear 'conjac --dynamic farthest:3' 'conjac --dynamic none'; do
        # shellcheck disable=SC2086
        done_well simfull rod.npz --model $model --integrator linear-euler --skeleton hinge.json --gravity 0,0,-9.81 --dt 0.01 --steps 100 -q -o "rod ${model##* }.npz"
        made+=("rod ${model##* }.npz")
    done
    # two bones with elastic tissue between them; the spring pulls the hand up
    done_well simfull loose.npz --integrator linear-euler --skeleton bones.json --dt 0.002 --steps 60 --every 10 -q -o arm.npz
    "$PYTHON" - "${made[@]}" <<-'END' || fault 'the pendulum'
	import sys
	from frames import *
	X, h = np.load('rod.npz')['vertices'], 0.01
	angle, rate, inertia = [0.3], -0.5, 2.5 ** 2 / 3 + 2 ** 2 / 12  # moment of inertia per mass of a rod of 2.5 x 2 m about the middle of its end
	for k in range(100):  # about y from the x axis, z upwards
	    rate += h * 9.81 * 1.25 * np.cos(angle[-1]) / inertia
	    angle.append(angle[-1] + h * rate)
	c, s = np.cos(angle)[:, None], np.sin(angle)[:, None]
	rod = X[:, 0] <= 2.5
	x, z = X[rod, 0], X[rod, 2] - 0.5
	want = np.stack([c * x + s * z, X[rod, 1] + 0 * c, 0.5 - s * x + c * z], 2)
	for name in sys.argv[1:]:
	    f = traj(name)
	    error = abs(X[rod] + f['u'][:, rod] - want).max()
	    assert error < 1e-7, (name, error)  # the relative mass of the end is 2e-13, and its force 1e-9 of the weight
	f = traj('arm.npz')
	X = np.load('loose.npz')['vertices']
	up = f['u'][:, X[:, 0] == 3, 2].mean(1)
	assert (np.diff(up) > 0).all() and up[-1] > 0.01, up
	held = np.load('arm.npz')
	assert set(held['prescribed/group']) == {0, 1} and (held['prescribed/frames'] == 7).all()
	END
    ending=
    done_well simverify -q loose.npz rod.npz arm.npz "${made[@]}"
    grep -q '^ok .*arm.npz rigid motion of 2 groups' "$stdout" || fault "$(< "$stdout")"
    no_faults
}

# Uniaxial: E/2 (I5 - 1) of the solid, 2 k (I5 - 1) of the fibres and the tension T add up to nothing, I5 the square of the stretch.
@test "light tissue on a fast bone: the largest rotation in a step" {
    local ending=.npz
    needs_numpy
    # a heavy bone rotates at a constant 60 rad/s: 0.18 rad in a step of 3 ms, 0.3 in one of 5 ms
    voxelize bar.obj -q -n 6 --enlarge 1 --fill --young 1e4 --poisson 0.45 --density 1e-2 -o flesh.npz
    echo '{"bones": [{"joint": "revolute", "name": "a", "at": [0, 0.5, 0.5], "axis": [0, 1, 0], "mass": 5000, "centre": [0.5, 0.5, 0.5], "rate": 60, "box": [[-1, -1, -1], [0.6, 9, 9]]}]}' > fast.json
    local motion=(flesh.npz --integrator linear-euler --beta 1 --skeleton fast.json)
    simfull "${motion[@]}" --dt 0.003 --steps 200 -o follows.npz 2> err || fault "$(cat err)"
    grep -q 'rad in a step' err && fault "3 ms: $(cat err)"
    simfull "${motion[@]}" --dt 0.005 --steps 120 -o lost.npz 2> err || fault "$(cat err)"
    grep -q '^simfull: flesh.npz: a bone turned 0.3 rad in a step: beyond 0.2 .*; take steps of 0.0033 s$' err || fault "5 ms: $(cat err)"
    "$PYTHON" - <<-'END' || fault 'strain energies are not apart'
	from frames import *
	# the energy of the arc grows with the fourth power of the angle, a factor of 8
	assert traj('lost.npz')['energy'][:, 1].max() > 1000 * traj('follows.npz')['energy'][:, 1].max()
	END
    no_faults
}

@test "activation shortens a bar of fibres" {
    needs_numpy
    done_well simfull muscle.npz --integrator static --activation act.csv --dt 0.1 --steps 2 --tolerance 1e-13 -q -o static.npz
    done_well simfull muscle.npz --model conjac --dynamic farthest:5 --integrator linear-euler --activation act.csv --dt 0.1 --steps 200 --every 200 --stabilization 1 --corrections 1 -q -o conjac.npz
    done_well simfull muscle.npz --activation act.csv --dt 0.001 --steps 30 -q -o motion.npz
    "$PYTHON" - <<-'END' || fault 'the muscle'
	from frames import *
	X = np.load('muscle.npz')['vertices']
	f = traj('static.npz')
	stretch = np.sqrt(1 - np.array([0, 5000, 10000]) / (0.5e5 + 4e4))  # the tension in the middle of the step
	assert abs(f['u'][..., 0] - (stretch[:, None] - 1) * X[:, 0]).max() < 1e-10
	end = traj('conjac.npz')
	assert abs(end['u'][-1] - f['u'][-1]).max() < 1e-10 and end['result']['quasistatic_residual'] < 1e-6 and end['result']['dynamic_residual'] < 1e-6
	m = traj('motion.npz')
	assert m['energy'][-1, 1] < 0 and m['result']['energy_balance'] < 0.01, m['result']['energy_balance']
	END
    # a body that contracts freely has no stress
    ending=.vtu
    for options in '' '--activation act.csv'; do
        done_well simexport muscle.npz static.npz --frames 2 --fields $options -o short.vtu
        [ -n "$options" ] || [[ $err == *'static.npz: stress and energy density are without the tension that fibres had: name it with --activation'* ]] || fault 'the tension that is missing'
        "$PYTHON" - "$options" <<-'END' || fault "the stress of the muscle, $options"
	import re, sys, numpy as np
	data = open('short.vtu', 'rb').read()
	at = data.index(b'raw">\n_') + 7 + int(re.search(rb'"second_piola_kirchhoff_stress".*offset="(\d+)"', data)[1])
	stress = np.frombuffer(data, '<f8', int(np.frombuffer(data, "<u8", 1, at)[0]) // 8, at + 8)
	assert (abs(stress).max() < 1e-4) == bool(sys.argv[1]) and abs(stress).max() < 2e4, abs(stress).max()
	END
    done
    refused 2 '^simexport: --volume applies to --to csv$' simexport muscle.npz static.npz --frames 2 --volume -o out.vtu
    refused 2 '^simexport: --activation applies with --fields$' simexport muscle.npz static.npz --frames 2 --activation act.csv -o out.vtu
    ending=
    done_well simverify -q muscle.npz static.npz conjac.npz motion.npz
    no_faults
}

@test "conjac converges to the static solution, and reports its distance from it" {
    needs_numpy
    local how
    printf 't0,t1,kind,id,fx,fy,fz\n0,inf,vertex,20,0,2000,-4000\n' > pull.csv
    done_well simfull grip.npz --integrator static --gravity 0,0,-9.81 --loads pull.csv --steps 1 --tolerance 1e-13 -q -o static.npz
    for how in none farthest:6 'random:4,0.7 --seed 5' 20,24,170,174 farthest:60; do
        # shellcheck disable=SC2086
        done_well simfull grip.npz --model conjac --dynamic $how --integrator linear-euler --gravity 0,0,-9.81 --loads pull.csv --dt 1 --steps 60 --every 60 --corrections 2 -q -o "c ${how%% *}.npz"
    done
    # started from rest: the residual is that of statics with dynamic vertices only
    done_well simfull grip.npz --model conjac --dynamic farthest:6 --settle --integrator linear-euler --gravity 0,0,-9.81 --loads pull.csv --dt 1e-7 --steps 1 -q -o settled.npz
    "$PYTHON" - <<-'END' || fault 'conjac'
	import glob
	from frames import *
	static = traj('static.npz')['u'][-1]
	names = glob.glob('c *.npz')
	assert len(names) == 5
	for name in names:
	    f = traj(name)
	    load = (12000 ** 2 * 9.81 ** 2 / 150) ** 0.5  # N, about the norm of the weights
	    assert abs(f['u'][-1] - static).max() < 1e-8 * abs(static).max(), (name, abs(f['u'][-1] - static).max())
	    assert f['result']['quasistatic_residual'] < 1e-8 * load and f['result']['dynamic_residual'] < 1e-8 * load, (name, f['result'])
	r = traj('settled.npz')['result']
	assert r['quasistatic_residual'] < 1e-6 and r['dynamic_residual'] > 100, r
	END
    ending=
    done_well simverify -q grip.npz static.npz 'c none.npz' 'c farthest:6.npz' settled.npz
    no_faults
}

@test "the same bytes for any number of threads and by the script of siminfo" {
    needs_plain_build 'it compares bytes'
    local line n=0 threads
    voxelize bar.obj -q -n 10 --enlarge 1 --fill --fix-half-space 1,0,0,0 --region-box tip,2.5,-inf,-inf,inf,inf,inf --materials muscle.json -o fine.npz
    simcut fine.npz --plane 1,0,0,1.5 -q -o fine-cut.npz
    simcut fine-cut.npz --plane 0,1,0,0.5 -q -o fine-cut2.npz
    mkdir again parts
    cp bar.obj muscle.json path.csv single.csv act.csv hand.csv again
    cp hand.csv again/up.csv
    cp hand.csv parts/up.csv
    sed 's/hand.csv/up.csv/' bones.json | tee parts/frame.json > again/frame.json
    printf 't0,t1,kind,id,fx,fy,fz\n0,0.01,region,body,0,500,0\n0,inf,spring,100,3,1,1,300\n' | tee push.csv > again/push.csv
    while read -r line; do
        n=$((n + 1))
        # shellcheck disable=SC2086
        for threads in 1 2 4; do
            simfull fine.npz --dt 0.001 --steps 4 --gravity 0,0,-9.81 $line -q --threads $threads -o r$threads.npz || fault "$line: exit $?"
            same_bytes r1.npz r$threads.npz "$line, $threads threads"
        done
        siminfo --script r1.npz > again/remake.sh || fault "$line: siminfo --script: exit $?"
        (cd again && sh remake.sh > said 2>&1) || fault "$line: the script: $(tail -n 3 again/said)"
        same_bytes r1.npz again/r1.npz "$line, remade"
    done <<-'END'
	--prescribe tip=path.csv --prescribe fixed=path.csv --cut 0.002=fine-cut.npz --loads push.csv --activation act.csv
	--integrator linear-euler --skeleton parts/frame.json --solver reused --activation act.csv
	--model conjac --integrator linear-euler --dynamic random:12,0.3 --seed 4 --settle --prescribe-vertices single.csv --cut 0.001=fine-cut.npz --ground 0,0,1,-0.5 --friction 0.4
	--model conjac --integrator linear-euler --dynamic farthest:9 --skeleton parts/frame.json --corrections 1 --beta 0.5
	--model linear --integrator bdf2 --solver jacobi --solver-tolerance 1e-9 --ground=0,0,2,-1 --ground=0,1,1,-0.9 --ground-alpha 0.2 --prescribe-vertices single.csv
	--model warp --stretch-limit 0.01,2 --prescribe tip=path.csv --cut 0.002=fine-cut.npz
	--model warp --warp element --rotation polar --integrator linear-euler --loads push.csv
	--prescribe tip=path.csv --cut 0.001=fine-cut.npz --cut 0.003=fine-cut2.npz
	END
    [ $n = 8 ] || fault "$n runs"
    # The seed is recorded only if vertices are chosen at random.
    for line in '' '--model conjac --dynamic none --integrator linear-euler'; do
        # shellcheck disable=SC2086
        simfull grip.npz --steps 1 $line -q -o seedless.npz
        holds seedless.npz '"seed" not in m'
    done
    simfull grip.npz --steps 1 --model conjac --dynamic random:3,0 --integrator linear-euler -q -o seed.npz
    holds seed.npz 'm["seed"] == 1 and m["parameters"]["beta"] is None'
    # inputs from a pipe
    simfull grip.npz --dt 0.001 --steps 4 --prescribe tip=- --cut 0.002=cut.npz -q -o - < path.csv > piped.npz || fault "a pipe: exit $?"
    simfull grip.npz --dt 0.001 --steps 4 --prescribe tip=path.csv --cut 0.002=cut.npz -q -o file.npz
    simfull grip.npz --dt 0.001 --steps 4 --loads - --cut 0.002=cut.npz -q -o loads-piped.npz < push.csv || fault "loads by a pipe: exit $?"
    simfull grip.npz --dt 0.001 --steps 4 --loads push.csv --cut 0.002=cut.npz -q -o loads.npz
    ending=
    done_well simcompare piped.npz file.npz --rtol 0 -q
    done_well simcompare loads-piped.npz loads.npz --rtol 0 -q
    no_faults
}

@test "usage errors" {
    local pattern program words n=0
    while IFS='|' read -r pattern program; do
        n=$((n + 1))
        read -r program words <<< "$program"
        # shellcheck disable=SC2086
        refused 2 "^$program: $pattern" $program grip.npz --steps 4 --dt 0.001 $words -q -o out.npz
        [[ $err != *$'\n'* || $pattern == unknown* || $pattern == *'needs the modes'* ]] || fault "$program $words: more than one line: $err"
    done <<-'END'
	--prescribe: "tip" is not REGION=CSV$|simfull --prescribe tip
	--prescribe: "=path.csv" is not REGION=CSV$|simfull --prescribe =path.csv
	--prescribe: "tip=" is not REGION=CSV$|simfull --prescribe tip= --prescribe fixed=path.csv
	--prescribe: the mesh has no region "top", only body, tip; "fixed" names its fixed vertices$|simfull --prescribe top=path.csv
	--prescribe: vertex 5 of "body" is moved by something else already$|simfull --prescribe tip=path.csv --prescribe body=path.csv
	--prescribe: vertex 0 of "fixed" is moved by something else already$|simfull --prescribe fixed=path.csv --prescribe fixed=path.csv
	--cut: "cut.npz" is not TIME=MESH$|simfull --cut cut.npz
	--cut: "0=" is not TIME=MESH$|simfull --cut 0=
	--cut: "soon" is not a time in seconds$|simfull --cut soon=cut.npz
	--cut: "0.1," is not a time|simfull --cut 0.1,=cut.npz
	--cut: "-1" is not a time|simfull --cut -1=cut.npz
	--cut: "inf" is not a time|simfull --cut inf=cut.npz
	--cut: 0.004 s does not come before the end of the motion at 0.004 s$|simfull --cut 0.004=cut.npz
	--cut: 1e300 s does not come before|simfull --cut 1e300=cut.npz
	--cut: the cut at 0.001 s comes after a later one$|simfull --cut 0.002=cut.npz --cut 0.001=cut2.npz
	--skeleton applies to --integrator linear-euler$|simfull --skeleton bones.json
	--skeleton does not apply beside --cut$|simfull --integrator linear-euler --skeleton bones.json --cut 0=cut.npz
	--ground: "0,0,1" is not NX,NY,NZ,D$|simfull --ground 0,0,1
	--ground: "0,0,1,0," is not|simfull --ground 0,0,1,0,
	--ground: "0,0,1,0,1" is not|simfull --ground 0,0,1,0,1
	--ground: "0,0,nan,0" is not|simfull --ground 0,0,nan,0
	--ground: "0,0,1,inf" is not|simfull --ground 0,0,1,inf
	--ground: ground 1 has the normal 0, 0, 0|simfull --ground 0,0,0,1
	--ground-stiffness applies with --ground$|simfull --ground-stiffness 5
	--ground-alpha applies with --ground$|simfull --ground-alpha 0.5
	--friction applies with --ground$|simfull --friction 0.5
	--friction: -1 is out of range|simfull --ground 0,0,1,0 --friction -1
	grip.npz: BDF2 has no friction|simfull --ground 0,0,1,0 --friction 1 --integrator bdf2
	grip.npz: the energy-conserving step is for bodies whose fixed vertices rest and that touch no floor plane$|simfull --ground 0,0,1,0 --integrator energy
	grip.npz: the energy-conserving step is for bodies|simfull --prescribe tip=path.csv --integrator energy
	unknown option --prescribe$|simulate --model modal --basis grip-modes.npz --prescribe tip=path.csv
	unknown option --cut$|simulate --model modal --basis grip-modes.npz --cut 0=cut.npz
	unknown option --ground$|simulate --model modal --basis grip-modes.npz --ground 0,0,1,0
	--solver does not apply to --model conjac$|simfull --model conjac --integrator linear-euler --dynamic 3 --solver jacobi
	--solver direct: a warp model is solved by iterations: jacobi, reused or gradients$|simfull --model warp --solver direct
	--solver gradients applies to --model warp; the matrices of other models are symmetric, and jacobi is conjugate gradients$|simfull --solver gradients
	--solver-tolerance means nothing where no system is solved by iterations$|simfull --solver-tolerance 1e-9
	--warp applies to --model warp$|simfull --warp vertex
	--rotation applies to --model warp$|simfull --model conjac --dynamic none --integrator linear-euler --rotation polar
	--network applies to --model warp$|simfull --model linear --network
	--correct-ghost applies to --model warp$|simfull --correct-ghost
	--stretch-limit applies to --model warp$|simfull --stretch-limit 0.1,2
	--stretch-limit: -0.1,2 is out of range|simfull --model warp --stretch-limit -0.1,2
	grip.npz: a network of springs has no elements to warp|simfull --model warp --warp element --network
	grip.npz: the ghost force can be taken out of free bodies only: vertex 0 is fixed$|simfull --model warp --correct-ghost
	grip.npz: the energy-conserving step |simfull --model warp --integrator energy
	--viscosity applies to --model nonlinear or linear$|simfull --model warp --viscosity 1,1
	--viscosity applies to --model reduced or cubature or galerkin$|simulate --model modal --basis grip-modes.npz --viscosity 1,1
	--dynamic applies to --model conjac$|simfull --dynamic 3
	--settle applies to --model conjac$|simfull --settle
	--stabilization applies to --model conjac$|simfull --model warp --stabilization 0.5
	--corrections applies to --model conjac$|simfull --model linear --corrections 2
	--seed means nothing where no vertices are chosen at random$|simfull --seed 2
	--seed means nothing where no vertices are chosen at random$|simfull --model conjac --integrator linear-euler --dynamic farthest:3 --seed 2
	--model conjac needs --integrator linear-euler$|simfull --model conjac --dynamic none
	--model conjac needs --dynamic$|simfull --model conjac --integrator linear-euler
	--dynamic: 175 is out of range \(0 to 174\)$|simfull --model conjac --integrator linear-euler --dynamic 175
	--dynamic: dynamic vertex 21 is fixed$|simfull --model conjac --integrator linear-euler --dynamic 20-21
	--dynamic: dynamic vertex 20 is named twice$|simfull --model conjac --integrator linear-euler --dynamic 20,20
	--dynamic: "some" is not|simfull --model conjac --integrator linear-euler --dynamic some
	--dynamic: "near:1,2" is not near:X,Y,Z|simfull --model conjac --integrator linear-euler --dynamic near:1,2
	--dynamic: "near:1,2,3;" is not|simfull --model conjac --integrator linear-euler --dynamic near:1,2,3;
	--dynamic: "near:1,2,nan" is not|simfull --model conjac --integrator linear-euler --dynamic near:1,2,nan
	--dynamic: "farthest:0" is not farthest:N|simfull --model conjac --integrator linear-euler --dynamic farthest:0
	--dynamic: "farthest:176" is not|simfull --model conjac --integrator linear-euler --dynamic farthest:176
	--dynamic: 151 dynamic vertices asked for: the body has 150 that are not fixed$|simfull --model conjac --integrator linear-euler --dynamic farthest:151
	--dynamic: "random:3" is not random:N,DISTANCE|simfull --model conjac --integrator linear-euler --dynamic random:3
	--dynamic: "random:3,-1" is not|simfull --model conjac --integrator linear-euler --dynamic random:3,-1
	--dynamic: "random:3,1,2" is not|simfull --model conjac --integrator linear-euler --dynamic random:3,1,2
	--stabilization: 1.5 is out of range|simfull --model conjac --integrator linear-euler --dynamic none --stabilization 1.5
	--activation applies to --model nonlinear or conjac$|simfull --model linear --activation act.csv
	--activation applies to --model nonlinear or conjac$|simfull --model warp --activation act.csv
	--activation applies to --model cubature or galerkin$|simulate --model modal --basis grip-modes.npz --activation act.csv
	--integrator: "exact" is not one of newmark.energy.central.static.euler.bdf2.linear-euler$|simfull --integrator exact
	--integrator: "linear-euler" is not one of newmark.energy.central.static.euler.bdf2.exact$|simulate --model modal --basis grip-modes.npz --integrator linear-euler
	--halvings does not apply to --integrator central or static$|simfull --integrator central --halvings 1
	--halvings does not apply to --integrator central or exact or static$|simulate --model modal --basis grip-modes.npz --integrator exact --halvings 1
	--halvings: 21 is out of range|simfull --halvings 21
	--beta applies to --integrator newmark or linear-euler$|simfull --integrator euler --beta 0.3
	--beta: 0 is out of range, of linear-euler above 0$|simfull --integrator linear-euler --beta 0
	--beta: 1.5 is out of range, of newmark above 0 and up to 1$|simfull --beta 1.5
	--semi-implicit applies to --integrator newmark$|simfull --integrator bdf2 --semi-implicit
	--tolerance does not apply to --integrator central or linear-euler$|simfull --integrator linear-euler --tolerance 1e-3
	a modal model needs the modes as --basis$|simulate --model modal
	--poly applies to --model reduced$|simulate --model modal --basis grip-modes.npz --poly poly.npz
	--young does not apply to --model modal$|simulate --model modal --basis grip-modes.npz --young 3e6
	unknown option --lumping$|simulate --model modal --basis grip-modes.npz --lumping lumped
	grip-modes.npz: 5 coordinates are wanted, it has 4$|simulate --model modal --basis grip-modes.npz --rank 5
	END
    [ $n = 88 ] || fault "$n lines"
    printf 't0,t1,kind,id,fx,fy,fz\n0,1,spring,20,0,0,0,5\n' > spring.csv
    refused 2 '^simulate: spring.csv: springs couple the modes of a modal model' simulate grip.npz --model modal --basis grip-modes.npz --loads spring.csv -q -o out.npz
    refused 5 '^simfull: --dynamic: 90 dynamic vertices 1 m apart were not found' simfull grip.npz --model conjac --integrator linear-euler --dynamic random:90,1 -q -o out.npz
    echo '{}' > scene.json
    for words in '--prescribe tip=path.csv' '--prescribe-vertices single.csv' '--skeleton bones.json' '--cut 0=cut.npz' '--warp pair' '--dynamic none' '--seed 3' '--solver direct' '--activation act.csv' '--friction 1'; do
        # shellcheck disable=SC2086
        refused 2 "^simscene: unknown option ${words%% *}$" simscene scene.json $words -q -o out.npz
    done
    # options that simvalidate does not have
    for words in linear-euler exact; do
        refused 2 '^simvalidate: --integrator: ' simvalidate grip.npz --model linear --integrator $words
    done
    simfull grip.npz --steps 2 --dt 0.001 --prescribe tip=path.csv -q -o moved.npz
    simfull grip.npz --steps 2 --dt 0.001 --ground 0,0,1,-0.45 -q -o ground.npz
    simfull grip.npz --steps 2 --dt 0.001 --cut 0.001=cut.npz -q -o parted.npz
    refused 2 '^simvalidate: moved.npz: it was simulated with --prescribe, ' simvalidate grip.npz --model linear --reference moved.npz --dt 0.001
    refused 2 '^simvalidate: ground.npz: it was simulated with --ground, ' simvalidate grip.npz --model linear --reference ground.npz --dt 0.001
    refused 2 '^simvalidate: parted.npz: it was simulated with --cut, ' simvalidate cut.npz --model linear --reference parted.npz --dt 0.001
    no_faults
}

@test "--prescribe and --cut split at the last =, also in the script of siminfo" {
    local ending=.npz
    voxelize bar.obj -q -n 6 --enlarge 1 --fill --fix-half-space 1,0,0,0 --region-box 'tip=x',2.5,-inf,-inf,inf,inf,inf -o named.npz
    cp path.csv way=.csv
    done_well simfull named.npz --dt 0.001 --steps 3 --prescribe tip=x=path.csv --prescribe fixed=path.csv -q -o moved.npz
    holds moved.npz 'm["parameters"]["prescribe"] == ["tip=x", "fixed"] and [i["name"] for i in m["inputs"] if i.get("option") == "prescribe"] == ["path.csv", "path.csv"]'
    mkdir again
    cp bar.obj path.csv again
    siminfo --script moved.npz > again/remake.sh || fault "siminfo --script: exit $?"
    (cd again && sh remake.sh > said 2>&1) || fault "the script: $(tail -n 3 again/said)"
    same_bytes moved.npz again/moved.npz remade
    # the part before the last = is the region
    refused 2 '^simfull: --prescribe: the mesh has no region "tip=x=way", only .*; ' simfull named.npz --prescribe tip=x=way=.csv -o out.npz
    refused 2 '^simfull: --prescribe: "tip=" is not REGION=CSV$' simfull named.npz --prescribe tip= -o out.npz
    refused 2 '^simfull: --prescribe: "=" is not REGION=CSV$' simfull named.npz --prescribe = -o out.npz
    refused 2 '^simfull: --cut: "0=a" is not a time in seconds$' simfull named.npz --cut 0=a=b.npz -o out.npz
    refused 2 '^simfull: --cut: "=cut.npz" is not TIME=MESH$' simfull named.npz --cut==cut.npz -o out.npz
    no_faults
}

@test "a material test: every vertex is prescribed" {
    local ending=.npz
    printf '4 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n' > one.node
    printf '1 4 0\n0 0 1 2 3\n' > one.ele
    simimport one.node --young 1e6 --poisson 0.25 -q -o one.npz
    # stretched to 1.2 along x: E = 0.22, and with lambda = mu = 0.4 MPa W = 1.5 lambda E^2 on a sixth of a cubic metre; linear: E = 0.2
    { echo t,vertex,ux,uy,uz; for v in 0 2 3; do echo "0,$v,0,0,0"; done; echo 0,1,0,0,0; echo 1,1,0.2,0,0; } > pull.csv
    for integrator in static newmark euler bdf2 central linear-euler; do
        for model in nonlinear linear; do
            done_well simfull one.npz --model $model --integrator $integrator --prescribe-vertices pull.csv --dt 0.01 --steps 100 -q -o pulled.npz
            energy=$(siminfo pulled.npz | sed -n 's/.*energy_last \[[^,]*, \([^,]*\), .*/\1/p')
            [[ $energy == $([ $model = nonlinear ] && echo 4840.0 || echo 4000.0) ]] || fault "$model $integrator: stored energy $energy J"
        done
    done
    simverify one.npz pulled.npz > out 2> /dev/null || fault "$(grep FAIL out)"
    # No unknowns are left: other models, and a mesh without prescribed vertices, are refused.
    refused 3 '^simfull: one.npz: every vertex is fixed' simfull one.npz --model warp --prescribe-vertices pull.csv -q -o out.npz
    no_faults
}

@test "statics of a body that nothing fixes" {
    local ending=.npz line
    printf '8 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n4 5 0 0\n5 6 0 0\n6 5 1 0\n7 5 0 1\n' > two.node
    printf '2 4 0\n0 0 1 2 3\n1 4 5 6 7\n' > two.ele
    simimport two.node -q -o two.npz
    simimport two.node --fix-vertices 0-2 -q -o held.npz
    local static='--integrator static --gravity 0,0,-1 --dt 1 --steps 1 -q -o'
    # shellcheck disable=SC2086
    {
        refused 3 '^simfull: two.npz: nothing fixes the piece with vertex 0: statics finds no equilibrium of it; fix vertices' simfull two.npz $static out.npz
        refused 3 '^simfull: held.npz: nothing fixes the piece with vertex 4: ' simfull held.npz $static out.npz
        # one spring leaves rotations free, three springs support the body
        printf '0,9,spring,%d,%s,1e6\n' 4 5,0,0 > loads.csv
        printf '0,9,vertex,7,0,1,0\n' >> loads.csv
        refused 3 '^simfull: held.npz: the constraints leave rigid motions to the piece with vertex [4-7]: ' simfull held.npz $static out.npz --loads loads.csv
        printf '0,9,spring,%d,%s,1e6\n' 5 6,0,0 6 5,1,0 >> loads.csv
        done_well simfull held.npz $static held-motion.npz --loads loads.csv
    }
    no_faults
}

@test "bad inputs: file, line and field; a run that fails leaves the old output" {
    local pattern text
    while IFS='|' read -r pattern text; do
        printf 't,x,y,z,qw,qx,qy,qz\n0,0,0,0,1,0,0,0\n%b' "$text" > bad.csv
        refused 3 "^simfull: bad.csv: line 3: $pattern" simfull grip.npz --prescribe tip=bad.csv -q -o out.npz
    done <<-'END'
	7 fields, expected t,x,y,z,qw,qx,qy,qz$|1,0,0,0,1,0,0
	t: 0 s after 0 s, expected more$|0,0,0,0,1,0,0,0
	y: "up" is not a number$|1,0,up,0,1,0,0,0
	qw,qx,qy,qz: all are 0|1,0,0,0,0,0,0,0
	END
    while IFS='|' read -r pattern text; do
        printf 't,vertex,ux,uy,uz\n0,20,0,0,0\n%b' "$text" > bad.csv
        refused 3 "^simfull: bad.csv: line 3: $pattern" simfull grip.npz --prescribe-vertices bad.csv -q -o out.npz
    done <<-'END'
	4 fields, expected t,vertex,ux,uy,uz$|1,20,0,0
	vertex: vertex 175 of 175$|1,175,0,0,0
	t: 0 s after 0 s for the same vertex|0,20,1,0,0
	uz: "inf" is not a number$|1,20,0,0,inf
	END
    while IFS='|' read -r pattern text; do
        printf 't,region,tension\n0,body,0\n%b' "$text" > bad.csv
        refused 3 "^simfull: bad.csv: line 3: $pattern" simfull muscle.npz --activation bad.csv -q -o out.npz
    done <<-'END'
	2 fields, expected t,region,tension$|1,body
	region: the mesh has no region "legs", only .*$|1,legs,3
	tension: -3 Pa is negative$|1,body,-3
	END
    refused 3 '^simfull: act.csv: line 2: region: "body" has no fibres$' simfull grip.npz --activation act.csv -q -o out.npz
    printf 't,vertex,ux,uy,uz\n0,20,0,0,0\n' > tip.csv
    refused 3 '^simfull: tip.csv: vertex 20 is moved by something else already$' simfull grip.npz --prescribe tip=path.csv --prescribe-vertices tip.csv -q -o out.npz
    refused 3 '^simfull: bones.json: vertex [0-9]+ is moved by something else already$' simfull grip.npz --integrator linear-euler --skeleton bones.json --prescribe tip=path.csv -q -o out.npz
    for text in '--prescribe tip=' '--prescribe-vertices ' '--skeleton ' '--activation ' '--cut 0='; do
        # shellcheck disable=SC2086
        refused 3 '^simfull: none.txt: cannot open: No such file' simfull grip.npz --integrator linear-euler ${text}none.txt -q -o out.npz
    done
    : > empty.csv
    refused 3 '^simfull: empty.csv: the path has no lines' simfull grip.npz --prescribe tip=empty.csv -q -o out.npz
    refused 3 '^simfull: path.csv: line 1, column 1: ' simfull grip.npz --integrator linear-euler --skeleton path.csv -q -o out.npz
    sed 's/hand.csv/none.csv/' bones.json > handless.json
    refused 3 '^simfull: none.csv: cannot open' simfull loose.npz --integrator linear-euler --skeleton handless.json -q -o out.npz
    sed 's/"mass": 3/"mass": -3/' bones.json > heavy.json
    refused 3 '^simfull: heavy.json: bones\[0\].mass: -3 kg, expected at least 0$' simfull loose.npz --integrator linear-euler --skeleton heavy.json -q -o out.npz
    # meshes that are not cuts of this one
    refused 3 '^simfull: loose.npz: it does not say which mesh it was cut from$' simfull grip.npz --cut 0=loose.npz -q -o out.npz
    refused 3 '^simfull: halves.npz: it was made from another mesh \(' simfull grip.npz --cut 0=halves.npz -q -o out.npz
    refused 3 '^simfull: cut2.npz: it was made from another mesh \(' simfull grip.npz --cut 0=cut2.npz -q -o out.npz
    refused 3 '^simfull: grip-modes.npz: it is a file of kind modes, expected mesh$' simfull grip.npz --cut 0=grip-modes.npz -q -o out.npz
    refused 3 '^simfull: bar.obj: ' simfull grip.npz --cut 0=bar.obj -q -o out.npz
    # refusals of the modal model
    masspca grip.npz grip-modes.npz -q -o columns.npz
    modes loose.npz -k 8 -q -o loose-modes.npz
    refused 3 '^simulate: columns.npz: it is a file of kind basis, expected modes$' simulate grip.npz --model modal --basis columns.npz -q -o out.npz
    refused 3 '^simulate: loose-modes.npz: it was made from another mesh' simulate grip.npz --model modal --basis loose-modes.npz -q -o out.npz
    "$PYTHON" -c 'import numpy as np; f = np.load("grip-modes.npz"); np.savez("foreign.npz", U=f["U"], eigenvalue=f["eigenvalue"])' 2> /dev/null &&
        refused 3 '^simulate: foreign.npz: it is not a file of modes' simulate grip.npz --model modal --basis foreign.npz -q -o out.npz
    # free pieces: refused at the start, also those that a later cut makes
    refused 3 '^simfull: --dynamic: the piece containing vertex 0 is under-constrained: ' simfull loose.npz --model conjac --integrator linear-euler --dynamic none -q -o out.npz
    refused 3 '^simfull: --dynamic: the piece containing vertex [0-9]+ is under-constrained: ' simfull grip.npz --model conjac --integrator linear-euler --dynamic none --dt 1e-9 --steps 1000000000 --cut 0.05=cut.npz -q -o out.npz
    # a run that fails in the middle
    printf 't,vertex,ux,uy,uz\n0.01,17,0,0,0\n0.02,17,1e200,0,0\n' > far.csv
    refused 5 '^simfull: grip.npz: ' simfull grip.npz --dt 0.004 --steps 20 --prescribe-vertices far.csv -q -o out.npz
    refused 3 '^simfull: loose.npz: nothing fixes the mesh: statics finds no equilibrium; ' simfull loose.npz --integrator static --gravity 0,0,-9.81 --dt 1 --steps 1 -q -o out.npz
    no_faults
}

@test "a cube without friction slides down a slope as g sin(a) t^2 / 2, for every step" {
    printf '%s\n' '*NODE' 1,0,0,0 2,.1,0,0 3,.1,.1,0 4,0,.1,0 5,0,0,.1 6,.1,0,.1 7,.1,.1,.1 8,0,.1,.1 '*ELEMENT,TYPE=C3D8,ELSET=E' 1,1,2,3,4,5,6,7,8 \
        '*MATERIAL,NAME=M' '*ELASTIC' 1e6,.3 '*DENSITY' 1000 '*SOLID SECTION,ELSET=E,MATERIAL=M' > cube.inp
    done_well simimport cube.inp -q -o cube.npz
    for integrator in newmark euler; do
        for steps in 500 2000; do # gravity is tilted by 20 degrees: 3.3552 m/s2 along the plane
            done_well simfull cube.npz -q --ground 0,0,1,0 --gravity 3.3552,0,-9.2184 --integrator $integrator --dt "$(awk "BEGIN {print 1 / $steps}")" --steps $steps --every $steps -o slid.npz
            done_well simexport slid.npz cube.npz -q --probe 0 --to csv -o slid.csv
            awk -F, -v what="$integrator $steps" 'NR == 1 {for (i = 1; i <= NF; i++) if ($i ~ /_x$/) at = i} END {if (($at - 3.3552 / 2) ^ 2 > 0.005 ^ 2) {print what ": " $at; exit 1}}' slid.csv
        done
    done
}
