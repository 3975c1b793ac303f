#!/usr/bin/env bats
# simcompare: which file is the reference, and bodies of scenes beside trajectories of their meshes.

load common

# says WORDS: simcompare printed these words.
says() {
    grep -qF -- "$1" "$stdout" || fault "no \"$1\": $(< "$stdout")"
}

@test "every result names the reference, the second file" {
    local value
    try simcompare traj.npz full.npz --mesh mesh.npz --basis basis.npz --probe 30:z --csv t.csv
    [ "$code" = 1 ] && [ -z "$err" ] || fault "exit $code: $err"
    says 'reference full.npz, by which traj.npz is judged'
    for value in position velocity energy; do
        [ "$(grep -c "^$value .* relative to full.npz (" "$stdout")" = 1 ] || fault "$value: $(< "$stdout")"
    done
    says ' m, in the reference full.npz '
    says 'different from the reference full.npz'
    done_well simfull mesh.npz --gravity 0,0,-9.81 --dt 0.0001 --steps 2 -q -o falls.npz # a motion too short for a frequency
    try simcompare falls.npz falls.npz --probe 30:z
    says 'probe 30:z frequency not measured: neither motion crosses zero twice'
    ! grep -q nan "$stdout" || fault "$(< "$stdout")"
    [ "$(awk -F, '{print $NF}' t.csv | sort -u | tr '\n' ' ')" = 'full.npz reference ' ] || fault "$(< t.csv)"
    # files that are no motions
    refused 2 "^simcompare: modes.npz: --mesh, .* are for two trajectories, and this is none" simcompare traj.npz modes.npz --basis basis.npz
    try simcompare modes.npz twin-modes.npz --csv t.csv
    says 'different from the reference twin-modes.npz'
    says ', in the reference '
    [ "$(awk -F, 'NF != 7' t.csv)" = '' ] && [ "$(awk -F, '{print $7}' t.csv | sort -u | tr '\n' ' ')" = 'reference twin-modes.npz ' ] || fault "$(< t.csv)"
    try simcompare modes.npz twin-modes.npz --rtol 100 --atol 100
    says 'same as the reference twin-modes.npz within the tolerance'
    # a path with a comma is one field of the table
    mkdir a,b && cp full.npz a,b
    try simcompare full.npz a,b/full.npz --csv t.csv
    [ "$code" = 0 ] && grep -q ',"a,b/full.npz"$' t.csv || fault "$(< t.csv)"
    no_faults
}

@test "a warning says that the reference is a reduced motion" {
    try simcompare full.npz traj.npz --basis basis.npz
    [[ $err == 'simcompare: the reference is traj.npz, a reduced-order motion, and full.npz is a full-order one: '* ]] || fault "$err"
    try simcompare full.npz traj.npz --basis basis.npz -q
    [ -z "$err" ] || fault "$err"
    try simcompare traj.npz traj.npz --basis basis.npz
    [ -z "$err" ] || fault "$err"
    try simcompare full.npz full.npz
    [ -z "$err" ] || fault "$err"
    no_faults
}

@test "the deformation of a free body, by singular value decompositions" {
    needs_numpy
    printf '0,0.1,vertex,near:0,0,0,0,20000,8000\n' > knock.csv
    done_well simfull free.npz --loads knock.csv --dt 0.01 --steps 40 --every 4 -q -o one.npz
    done_well simfull free.npz --loads knock.csv --dt 0.01 --steps 40 --every 4 --integrator energy -q -o two.npz
    done_well modes free.npz -k 7 -q --write-mass mass.npz -o rigid.npz
    try simcompare one.npz two.npz --mesh free.npz --deformation --csv t.csv
    [ "$code" = 1 ] && [ -z "$err" ] || fault "exit $code: $err"
    done_well masspca free.npz one.npz --remove-rigid -q -o deformations.npz
    done_well cubature free.npz deformations.npz one.npz --training-only -q -o poses.npz
    "$PYTHON" "$BATS_TEST_DIRNAME/mean_axes.py" free.npz mass.npz one.npz two.npz t.csv deformations.npz poses.npz > out 2>&1 || fault "$(< out)"
    # without fixed vertices, of all vertices, with a mesh
    refused 2 '^simcompare: --deformation needs the --mesh$' simcompare one.npz two.npz --deformation
    refused 3 '^simcompare: mesh.npz: it has fixed vertices: only a free body has a rigid motion$' simcompare full.npz full.npz --mesh mesh.npz --deformation
    refused 2 '^simcompare: modes.npz: --mesh, .* are for two trajectories, and this is none$' simcompare one.npz modes.npz --deformation
    refused 3 '^masspca: mesh.npz: it has fixed vertices: only a free body has a rigid motion$' masspca mesh.npz full.npz --remove-rigid -o no.npz
    refused 2 '^masspca: --remove-rigid ' masspca free.npz rigid.npz --remove-rigid -o no.npz
    no_faults
}

# A body that falls freely, turned by 90 degrees about x: gravity along -z of the world is along -y of the body.
@test "a free body of a scene falls as the full-order trajectory of its mesh" {
    printf '%s\n' '{"gravity": [0, 0, -9.81], "contact": {"stiffness": 1000}, "models": {"bar": {"kind": "rigid", "mesh": "free.npz"}}, "bodies":
        [{"name": "bar", "model": "bar", "motion": "free", "position": [3, 1, 2], "orientation": [0.70710678118654752, 0.70710678118654752, 0, 0]}]}' > fall.json
    done_well simscene fall.json --dt 0.001 --steps 200 --every 20 -q -o scene-fall.npz
    done_well simfull free.npz --gravity 0,-9.81,0 --dt 0.001 --steps 200 --every 20 -q -o full-fall.npz
    try simcompare scene-fall.npz full-fall.npz --scene fall.json --probe near:3,1,1:y --probe surface:2:y --rtol 1e-6
    [ "$code" = 0 ] || fault "exit $code: $(< "$stdout") $err"
    [[ $err == *' of free.npz, '* ]] || fault "$err"
    # The position is g t^2 / 2 and the velocity g t: by the formula, not only as in the other program.
    [ "$(awk '/amplitude/ && ($4 / (9.81 * 0.02) - 1) ^ 2 < 1e-8' "$stdout" | wc -l)" = 2 ] || fault "$(< "$stdout")"
    awk '/^(position|velocity)/ && ($3 > 1e-6 || $5 > 1e-6) {exit 1}' "$stdout" || fault "$(< "$stdout")"
    # The norms agree too, with the files in the other order, and so does the kinetic energy with the mass of the mesh.
    try simcompare full-fall.npz scene-fall.npz --scene fall.json --body bar --rtol 1e-6
    says 'reference scene-fall.npz, by which full-fall.npz is judged'
    awk '/^(position|velocity)/ && ($3 > 1e-6 || $5 > 1e-6) {exit 1}' "$stdout" || fault "$(< "$stdout")"
    # without the rotation the motions differ
    sed 's/"orientation": [^]]*\]/"orientation": [1, 0, 0, 0]/' fall.json > other.json
    done_well simscene other.json --dt 0.001 --steps 200 --every 20 -q -o other-fall.npz
    try simcompare other-fall.npz full-fall.npz --scene other.json --rtol 1e-6 -q
    [ "$code" = 1 ] || fault "exit $code"
    # two scenes, each with its own scene file
    try simcompare other-fall.npz scene-fall.npz --scene fall.json --scene other.json --probe 3:x --probe 3:z
    [ "$code" = 1 ] || fault "exit $code $err"
    no_faults
}

@test "a deformable body of a scene: U q in its pose, by NumPy" {
    needs_numpy
    try simcompare motion.npz motion.npz --scene scene.json --probe 30:z --probe surface:7:x --csv t.csv
    [ "$code" = 0 ] || fault "exit $code $err"
    "$PYTHON" - <<-'END' || fault 'amplitudes'
	import csv, json, numpy as np
	f, mesh, U = np.load('motion.npz'), np.load('mesh.npz'), np.load('basis.npz')['U']
	meta = json.loads(bytes(f['meta']))
	names = [b['name'] for b in meta['bodies']]
	b = names.index('arm')
	first = sum(body['r'] for body in meta['bodies'][:b])
	blocks = sorted(n[5:] for n in f.files if n.startswith('time/'))
	series = lambda name: np.concatenate([f[name + '/' + k] for k in blocks])
	pose, q = series('pose')[:, b], series('q')[:, first:first + 4]
	def R(w, x, y, z):
	    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
	                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
	                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])
	def motion(X, u):
	    return np.array([R(*pose[0][3:]).T @ (p[:3] + R(*p[3:]) @ (X + a) - pose[0][:3]) - X for p, a in zip(pose, u)])
	rows = {row['quantity']: row for row in csv.DictReader(open('t.csv'))}
	V = U[:, :4].reshape(-1, 3, 4).copy()
	for v, axes in zip(mesh['fixed'], mesh['fixed_axes'] if 'fixed_axes' in mesh.files else [7] * len(mesh['fixed'])):
	    V[v][[k for k in range(3) if axes >> k & 1]] = 0
	e, w = mesh['surface/element'][7], mesh['surface/weights'][7]
	X, W = mesh['vertices'], mesh['hex'][e]
	for name, axis, u in (('probe 30:z', 2, motion(X[30], q @ V[30].T)),
	                      ('probe surface:7:x', 0, motion(w @ X[W], q @ np.einsum('c,ckj->kj', w, V[W]).T))):
	    mine, theirs = abs(u[:, axis]).max(), float(rows[name + ' amplitude']['a'])
	    assert abs(mine - theirs) < 1e-13 * (1 + mine), (name, mine, theirs)
	END
    no_faults
}

@test "scenes that do not fit are refused" {
    refused 2 '^simcompare: motion.npz: it is the trajectory of a scene: name its scene with --scene' simcompare motion.npz full.npz
    refused 2 '^simcompare: --body: the scene has no body "hand"; those with a mesh are arm' simcompare motion.npz full.npz --scene scene.json --body hand
    refused 2 '^simcompare: --body: body bar has no mesh' simcompare motion.npz full.npz --scene scene.json --body bar
    refused 2 '^simcompare: --scene means nothing without the trajectory of a scene' simcompare full.npz full.npz --scene scene.json
    refused 2 '^simcompare: --body applies with --scene' simcompare full.npz full.npz --body arm
    refused 2 '^simcompare: modes.npz: --mesh, --basis, --scene' simcompare modes.npz modes.npz --scene scene.json
    simfull twin.npz --steps 1 -q -o twin-full.npz
    refused 3 'it was made from another mesh' simcompare motion.npz twin-full.npz --scene scene.json
    sed 's/-9.81/-9.82/' scene.json > other.json
    refused 3 '^simcompare: motion.npz: it was made from another scene' simcompare motion.npz full.npz --scene other.json
    sed 's/-9.81/-9.83/' scene.json > third.json
    refused 3 '^simcompare: motion.npz: none of the 2 scenes is the one' simcompare motion.npz full.npz --scene other.json --scene third.json
    no_faults
}
