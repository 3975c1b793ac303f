#!/usr/bin/env bats
# --frame: inertial forces of a moving frame, against full-order models whose fixed vertices move along the same path.
# simulate --warp: modal warping, against linear and full-order models.

load common

# A bar of 27 elements with all of its modes.
setup_file() {
    export FRAMES=$BATS_FILE_TMPDIR/frames
    mkdir "$FRAMES"
    cd "$FRAMES"
    voxelize "$DATA"/bar.obj -q -n 3 --enlarge 1 --fill --fix-half-space 1,0,0,0 -o bar.npz
    modes bar.npz -q -k 144 -o all.npz
    cat > frames.py <<-'END'
	import numpy as np, sys

	def write(name, t, x, angle, axis=(1 / 3, 2 / 3, 2 / 3)):
	    with open(name, 'w') as f:
	        for k in range(len(t)):
	            q = np.cos(angle[k] / 2), *(np.sin(angle[k] / 2) * np.array(axis))
	            f.write(','.join('%.17g' % v for v in (t[k], *x[k], *q)) + '\n')

	def read(name):
	    f = np.load(name)
	    return [np.concatenate([f[n] for n in f.files if n.startswith(m + '/')]) for m in ('time', 'u')]

	def rotation(q):
	    w, x, y, z = q
	    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
	                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
	                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])

	# The largest difference of two motions in the same frame, and their size.
	def difference(a, b):
	    u, v = read(a)[1], read(b)[1]
	    return abs(u - v).max(), abs(v).max()

	# The largest difference of displacements in the frame, of a motion in the world and one in the frame, and their size.
	def compare(world, frame, path):
	    X = np.load('bar.npz')['vertices']
	    (t, u), (_, v) = read(world), read(frame)
	    p = np.loadtxt(path, delimiter=',')
	    worst = 0
	    for k in range(len(t)):
	        pose = p[np.argmin(abs(p[:, 0] - t[k]))]
	        worst = max(worst, abs((X + u[k] - pose[1:4]) @ rotation(pose[4:]) - X - v[k]).max())
	    return worst, abs(v).max()
	END
}

needs_frames() {
    needs_numpy
    ln -s "$FRAMES"/* .
}

@test "a shaken base is the full linear model with prescribed motion" {
    needs_plain_build 'it compares numbers, and takes minutes'
    needs_frames
    "$PYTHON" -c "
from frames import *
t = np.arange(0, 0.2, 0.001)
s = np.where(t > 0.001, 0.05 * np.sin(12 * (t - 0.001))**2, 0)
write('shake.csv', t, np.outer(s, (0.3, 1, -1)), 0 * t)" || fault 'no path'
    simfull bar.npz -q --model linear --prescribe fixed=shake.csv --integrator central --dt 0.001 --steps 150 --gravity 0,1,-9.81 -o world.npz
    done_well simulate bar.npz --model modal --basis all.npz --frame shake.csv --integrator central --dt 0.001 --steps 150 --gravity 0,1,-9.81 --record all -o frame.npz
    done_well simfull bar.npz -q --model linear --frame shake.csv --integrator central --dt 0.001 --steps 150 --gravity 0,1,-9.81 -o full.npz
    # Central differences give the velocity of a step to a path with lines at all steps: equal but for rounding.
    "$PYTHON" -c "
from frames import *
for name in ('frame.npz', 'full.npz'):
    worst, size = compare('world.npz', name, 'shake.csv')
    assert worst < 1e-10 * size and size > 0.05, (name, worst, size)" || fault 'they differ'
    no_faults
}

@test "a tumbling base is the full nonlinear model, to second order in the step" {
    takes_long
    needs_plain_build 'it compares numbers, and takes minutes'
    needs_frames
    local scheme level h
    "$PYTHON" -c "
from frames import *
for k in range(3):
    t = np.arange(0, 0.45, 0.004 / 2**k)
    write('turn%d.csv' % k, t, np.outer(0.8 * t**3, (0.3, 1, -1)), 60 * t**3 * np.cos(3 * t))" || fault 'no paths'
    for scheme in newmark bdf2; do
        for level in 0 1 2; do
            h=$(awk "BEGIN { print 0.004 / 2^$level }")
            common=(--density 100 --integrator $scheme --dt "$h" --steps $((75 * 2 ** level)) --every $((2 ** level)) --gravity 0,0,-9.81)
            simfull bar.npz -q --prescribe fixed=turn$level.csv "${common[@]}" -o world$level.npz
            done_well simulate bar.npz --model galerkin --basis all.npz --frame turn$level.csv "${common[@]}" --record all -o frame$level.npz
        done
        # In the basis of all modes the full-order model in the frame is the same equation, solved to Newton's tolerance.
        done_well simfull bar.npz -q --frame turn0.csv --density 100 --integrator $scheme --dt 0.004 --steps 75 --gravity 0,0,-9.81 -o full.npz
        "$PYTHON" -c "
from frames import *
worst, size = difference('full.npz', 'frame0.npz')
assert worst < 1e-7 * size and size > 0.05, (worst, size)" || fault "$scheme: the full-order model in the frame"
        "$PYTHON" -c "
from frames import *
e = [compare('world%d.npz' % k, 'frame%d.npz' % k, 'turn%d.csv' % k)[0] for k in range(3)]
orders = np.log2(e[0] / e[1]), np.log2(e[1] / e[2])
assert all(abs(o - 2) < 0.15 for o in orders) and e[2] < 1e-3, (e, orders)" || fault "$scheme"
    done
    no_faults
}

@test "simvalidate measures a model in a moving frame" {
    needs_plain_build 'it compares numbers, and takes minutes'
    needs_frames
    local motion=(--frame turn.csv --gravity 0,0,-9.81 --dt 0.004)
    "$PYTHON" -c "
from frames import *
t = np.arange(0, 0.45, 0.004)
write('turn.csv', t, np.outer(0.8 * t**3, (0.3, 1, -1)), 60 * t**3 * np.cos(3 * t))" || fault 'no path'
    # all modes span all motions; ten do not
    done_well simvalidate bar.npz --basis all.npz --model galerkin --ranks 10,144 "${motion[@]}" --steps 75 -q --csv run.csv
    awk -F, 'NR == 3 && !($4 > 1e-3 && $4 < 1) { exit 1 } NR == 4 && !($4 < 1e-7) { exit 1 } END { exit NR != 4 }' run.csv || fault "$(< run.csv)"
    simfull bar.npz "${motion[@]}" --steps 75 -q -o full.npz
    done_well simvalidate bar.npz --basis all.npz --model galerkin --ranks 10,144 "${motion[@]}" --reference full.npz -q --csv file.csv
    "$PYTHON" - <<-'END' || fault "$(cat run.csv file.csv)"
	import csv
	a, b = ([float(row['position']) for row in list(csv.DictReader(open(f)))[1:]] for f in ('run.csv', 'file.csv'))
	assert abs(a[0] - b[0]) <= 1e-6 * a[0] and b[1] < 1e-7, (a, b)
	END
    refused 2 '^simvalidate: full.npz: it was simulated with other --frame$' simvalidate bar.npz --basis all.npz --gravity 0,0,-9.81 --dt 0.004 --reference full.npz
    simfull bar.npz --gravity 0,0,-9.81 --dt 0.004 --steps 75 -q -o still.npz
    refused 2 '^simvalidate: still.npz: it was simulated with no --frame$' simvalidate bar.npz --basis all.npz "${motion[@]}" --reference still.npz
    refused 2 '^simfull: --frame does not apply beside --prescribe$' simfull bar.npz --frame turn.csv --prescribe fixed=turn.csv -o out.npz
    refused 2 'central differences has no inertial forces' simfull bar.npz --integrator central --dt 1e-4 --frame turn.csv -o out.npz
    no_faults
}

@test "a spinning bar is in equilibrium with the centrifugal force" {
    needs_plain_build 'it compares numbers, and takes minutes'
    needs_frames
    "$PYTHON" -c "
from frames import *
t = np.arange(0, 0.2, 0.02)
write('spin.csv', t, np.zeros((len(t), 3)), 4 * t, (0, 0, 1))" || fault 'no path'
    done_well simulate bar.npz --model modal --basis all.npz --frame spin.csv --integrator static --dt 0.01 --steps 2 -o spin.npz
    # lambda q + U^T M [w]^2 (X + U q) = 0 with the mass of cubes with linear shape functions, the product of those of lines
    "$PYTHON" -c "
import numpy as np
mesh, modes, q = np.load('bar.npz'), np.load('all.npz'), np.load('spin.npz')['q/000000'][-1]
X = mesh['vertices']
U = modes['U'].reshape(len(X), 3, -1)
line = np.array([[2, 1], [1, 2]]) / 6
M = np.zeros((len(X), len(X)))
for e in mesh['hex']:
    k = np.rint(X[e] - X[e].min(0)).astype(int)
    M[np.ix_(e, e)] += 1000 * np.prod([line[np.ix_(k[:, d], k[:, d])] for d in range(3)], axis=0)
W = np.array([[0, -4, 0], [4, 0, 0], [0, 0, 0]])
force = np.einsum('vci,vw,cd,wd->i', U, M, W @ W, X + U @ q)
elastic = modes['eigenvalue'] * q
assert abs(elastic + force).max() < 1e-9 * abs(elastic).max(), abs(elastic + force).max()" || fault 'no equilibrium'
    no_faults
}

@test "a frame at rest is no frame, a turned one turns gravity, and what a frame refuses" {
    needs_frames
    local model=(bar.npz --model modal --basis all.npz --steps 20 --record all)
    echo 0,0,0,0,1,0,0,0 > still.csv
    echo 0,5,6,7,0.5,0.5,0.5,0.5 > turned.csv # R maps x to y, y to z and z to x
    done_well simulate "${model[@]}" --gravity 0,0,-9.81 --frame still.csv -o still.npz
    done_well simulate "${model[@]}" --gravity 0,0,-9.81 -o none.npz
    done_well simulate "${model[@]}" --gravity 0,0,-9.81 --frame turned.csv -o turned.npz
    done_well simulate "${model[@]}" --gravity 0,-9.81,0 -o y.npz
    "$PYTHON" -c "
from frames import *
for a, b in (('still', 'none'), ('turned', 'y')):
    u, v = read(a + '.npz')[1], read(b + '.npz')[1]
    assert abs(u - v).max() < 1e-12 * abs(v).max(), (a, abs(u - v).max())" || fault 'they differ'
    printf '0,0,0,0,1,0,0,0\n1,0,0,0,0,0,0,1\n' > turn.csv
    refused 2 'central differences has no inertial forces' simulate "${model[@]}" --integrator central --dt 1e-4 --frame turn.csv -o out.npz
    refused 2 'the exact step has no inertial forces' simulate "${model[@]}" --integrator exact --frame turn.csv -o out.npz
    refused 2 'one semi-implicit iteration' simulate "${model[@]}" --semi-implicit --frame turn.csv -o out.npz
    # statics in a frame that speeds up are verified but for their equilibrium
    modes bar.npz -q -k 4 -o few.npz
    polycoef bar.npz few.npz -q -o few-poly.npz
    simulate bar.npz -q --basis few.npz --poly few-poly.npz --integrator static --frame turn.csv --dt 0.1 --steps 2 -o turned-static.npz
    ending= done_well simverify bar.npz few.npz few-poly.npz turned-static.npz -q
    echo 0,0,0,0,0,0,0,0 > wrong.csv
    refused 3 'wrong.csv: line 1: qw,qx,qy,qz: all are 0' simulate "${model[@]}" --frame wrong.csv -o out.npz
    no_faults
}

@test "a body in a scene that feels its frame moves as simulate --frame, and a body that does not feel it rests" {
    needs_plain_build 'it compares numbers, and takes minutes'
    needs_frames
    local scheme
    "$PYTHON" -c "
from frames import *
t = np.arange(0, 0.3, 0.002)
write('turn.csv', t, np.outer(0.8 * t**2, (0.3, 1, -1)), 9 * t**2)" || fault 'no path'
    modes bar.npz -q -k 12 -o few.npz
    polycoef bar.npz few.npz -q -o few-poly.npz
    for scheme in newmark energy; do
        done_well simulate bar.npz --basis few.npz --poly few-poly.npz --frame turn.csv --gravity 0,1,-9.81 --damping-mass 0.5 --damping-stiffness 1e-3 \
            --integrator $scheme --dt 0.002 --steps 100 -o frame.npz
        for inertial in true false; do
            echo '{"gravity": [0, 1, -9.81], "models": {"bar": {"kind": "reduced", "mesh": "bar.npz", "basis": "few.npz", "polynomials": "few-poly.npz",' \
                '"damping": [0.5, 0.001]}}, "bodies": [{"name": "bar", "model": "bar", "motion": "path", "path": "turn.csv", "inertial": '$inertial'}]}' > scene.json
            done_well simscene scene.json --integrator $scheme --dt 0.002 --steps 100 -o $inertial.npz
        done
        "$PYTHON" -c "
import numpy as np
a, b, c = (np.load(n + '.npz') for n in ('frame', 'true', 'false'))
q = [np.concatenate([f[n] for n in f.files if n.startswith('q/')]) for f in (a, b, c)]
size = abs(q[0]).max()
assert abs(q[0] - q[1]).max() < 1e-12 * size and abs(q[0] - q[2]).max() > 0.1 * size, (abs(q[0] - q[1]).max(), abs(q[0] - q[2]).max(), size)" ||
            fault "$scheme: not the same, or the frame does not matter"
    done
    sed -i 's/false/true/' scene.json
    refused 2 'one semi-implicit iteration neglects inertial forces' simscene scene.json --semi-implicit --dt 0.002 --steps 2 -o out.npz
    no_faults
}

@test "a frame at constant velocity is one at rest up to the end of its path; that it stops before the motion ends is said" {
    needs_frames
    local scene='{"models": {"bar": {"kind": "reduced", "mesh": "bar.npz", "basis": "two.npz", "polynomials": "two-poly.npz"}},
        "bodies": [{"name": "bar", "model": "bar", "motion": "path", "path": "half.csv", "inertial": true}]}'
    printf '0,0,0,0,1,0,0,0\n0.1,1,0,0,1,0,0,0\n' > whole.csv
    printf '0,0,0,0,1,0,0,0\n0.05,0.5,0,0,1,0,0,0\n' > half.csv
    modes bar.npz -q -k 12 -o two.npz
    polycoef bar.npz two.npz -q -o two-poly.npz
    done_well simulate bar.npz --basis two.npz --poly two-poly.npz --frame whole.csv --dt 0.002 --steps 50 --record all -o whole.npz
    [[ $err != *'stops there'* ]] || fault "whole: $err"
    done_well simulate bar.npz --basis two.npz --poly two-poly.npz --frame half.csv --dt 0.002 --steps 50 --record all -o half.npz
    [[ $err == *'half.csv: the path ends at 0.05 s with 10 m/s and 0 rad/s, and the frame stops there at once'* ]] || fault "half: $err"
    echo "$scene" > stop.json
    done_well simscene stop.json --dt 0.002 --steps 50 -o scene.npz
    [[ $err == *'stop.json: the path half.csv of bar ends at 0.05 s with 10 m/s and 0 rad/s, and the frame stops there at once'* ]] || fault "scene: $err"
    # the server and the library say the same of as many steps
    said=$(sed -n 's/.*\(the path half.csv of bar ends .*\)/\1/p' <<< "$err")
    done_well simserve stop.json --rate 2000 --dt 0.002 --udp 0 --priority 0 --steps 50
    [[ $err == *"simserve: stop.json: $said"* ]] || fault "server: $err"
    if ! sanitized; then
        SUPPLE_LIBRARY=$SUPPLE_BUILD/api/libsupple.so.0 PYTHONPATH=$SUPPLE_SOURCE/python PYTHONDONTWRITEBYTECODE=1 "$PYTHON" -c '
import sys, supple
with supple.Scene("stop.json", step=0.002) as scene:
    for _ in range(24):
        scene.step()
    assert not any("stops there" in w for w in scene.warnings()), scene.warnings()
    for _ in range(26):
        scene.step()
    assert sys.argv[1] in scene.warnings(), scene.warnings()' "$said" 2> library.txt || fault "library: $(< library.txt)"
    fi
    "$PYTHON" -c "
from frames import *
whole, half = read('whole.npz')[1], read('half.npz')[1]
twist = np.load('whole.npz')
twist = np.concatenate([twist[n] for n in twist.files if n.startswith('twist/')])
assert abs(whole).max() < 1e-12 * abs(half).max(), (abs(whole).max(), abs(half).max())
assert (abs(twist[:, 0] - 10) < 1e-12).all(), twist[-1]" || fault 'the motion felt the end of the path'
    no_faults
}

@test "a warped bar keeps its volume, and its tip is near the full model" {
    needs_plain_build 'it compares numbers, and takes minutes'
    needs_frames
    sed 's/^v 3/v 8/' "$DATA"/bar.obj > long.obj
    voxelize long.obj -q -n 24 --fill --fix-half-space 1,0,0,0.01 --young 1e6 --poisson 0.3 -o long.npz
    modes long.npz -q -k 40 -o modes.npz
    local model=(long.npz --model modal --basis modes.npz --integrator static --gravity 0,0,-1)
    done_well simulate "${model[@]}" --record all -o linear.npz
    done_well simulate "${model[@]}" --record all --warp -o warped.npz
    simfull long.npz -q --integrator static --gravity 0,0,-1 -o full.npz
    "$PYTHON" -c "
from frames import *
mesh = np.load('long.npz')
X, H = mesh['vertices'], mesh['hex']
tip = X[:, 0] > X[:, 0].max() - 1e-9
sign = np.sign(X[H[0]] - X[H[0]].mean(0))
def volume(x):
    total = 0
    for g in sign / np.sqrt(3):
        n = 1 + sign * g
        d = np.stack([sign[:, i] * n[:, (i + 1) % 3] * n[:, (i + 2) % 3] for i in range(3)], 1)
        total += np.linalg.det(np.einsum('eai,aj->eij', x[H], d)).sum()
    return total
out = {}
for name in ('linear', 'warped', 'full'):
    u = read(name + '.npz')[1][-1]
    out[name] = volume(X + u) / volume(X), u[tip].mean(0)
print(out)
v = {k: abs(out[k][0] - 1) for k in out}
e = {k: np.linalg.norm(out[k][1] - out['full'][1]) for k in out}
# The tip is deflected by a third of the length. The linear bar gains 12 % of volume, the warped one loses less than 1 %.
assert v['linear'] > 0.1 and v['warped'] < 0.01, v
assert e['warped'] < 0.2 * e['linear'] and e['warped'] < 0.1, e" || fault 'volume or tip'
    no_faults
}

@test "inertial forces of a frame turn with warped vertices" {
    needs_plain_build 'it compares numbers, and takes minutes'
    needs_frames
    sed 's/^v 3/v 8/' "$DATA"/bar.obj > long.obj
    voxelize long.obj -q -n 24 --fill --fix-half-space 1,0,0,0.01 --young 1e6 --poisson 0.3 -o long.npz
    modes long.npz -q -k 40 -o modes.npz
    "$PYTHON" -c "
from frames import *
t = np.arange(0, 3.02, 0.02)
s = np.clip(t / 2, 0, 1)
write('rest.csv', t[:1], np.zeros((1, 3)), 0 * t)
write('lift.csv', t, np.outer(0.5 * t**2, (0, 0, 1)), 0 * t)
write('swing.csv', t, np.zeros((len(t), 3)), 0.6 * s**2 * (3 - 2 * s), (0, 1, 0))" || fault 'no paths'
    local model=(long.npz --model modal --basis modes.npz)
    # a frame at rest is none, and an accelerated frame is gravity
    local weight=("${model[@]}" --warp --dt 0.02)
    done_well simulate "${weight[@]}" --gravity 0,0,-1 --steps 50 -o none.npz
    done_well simulate "${weight[@]}" --gravity 0,0,-1 --steps 50 --frame rest.csv -o rest.npz
    done_well simulate "${weight[@]}" --gravity 0,0,-1 --steps 3 --integrator static -o weight.npz
    done_well simulate "${weight[@]}" --steps 3 --integrator static --frame lift.csv -o lift.npz
    # a swinging base, beside the full-order model: mass damping would act on other velocities
    local swing=(--gravity 0,0,-0.4 --damping-stiffness 0.05 --dt 0.02 --steps 150)
    done_well simulate "${model[@]}" --frame swing.csv "${swing[@]}" --record all -o linear.npz
    done_well simulate "${model[@]}" --frame swing.csv "${swing[@]}" --warp --record all -o warped.npz
    done_well simfull long.npz --prescribe fixed=swing.csv "${swing[@]}" -o full.npz
    "$PYTHON" -c "
from frames import *
q = {n: np.concatenate([f[k] for k in f.files if k.startswith('q/')]) for n in ('none', 'rest', 'weight', 'lift') for f in [np.load(n + '.npz')]}
assert abs(q['none'] - q['rest']).max() < 1e-12 * abs(q['none']).max(), abs(q['none'] - q['rest']).max()
assert abs(q['weight'][-1] - q['lift'][-1]).max() < 1e-9 * abs(q['weight']).max(), abs(q['weight'][-1] - q['lift'][-1]).max()
X = np.load('long.npz')['vertices']
tip = X[:, 0] > X[:, 0].max() - 1e-9
p = np.loadtxt('swing.csv', delimiter=',')
full = np.array([((X + u - pose[1:4]) @ rotation(pose[4:]) - X)[tip].mean(0) for u, pose in zip(read('full.npz')[1], p)])
e = {n: np.linalg.norm(read(n + '.npz')[1][:, tip].mean(1) - full, axis=1).max() for n in ('linear', 'warped')}
print(e, abs(full).max())
assert abs(full).max() > 3 and e['warped'] < 0.35 * e['linear'], (e, abs(full).max())" || fault 'not as without a frame, or not near the full-order model'
    no_faults
}

@test "exports of warped coordinates are the recorded warped vertices" {
    needs_frames
    local model=(bar.npz --model modal --basis all.npz --rank 20 --warp --gravity 0,0,-30 --steps 10)
    done_well simulate "${model[@]}" -o q.npz
    done_well simulate "${model[@]}" --record all -o all-vertices.npz
    done_well simulate "${model[@]}" --record probes --probe 41,63 -o probes.npz
    for files in 'q.npz all.npz' 'all-vertices.npz all.npz' probes.npz; do
        done_well simexport bar.npz $files --probe 41,63 -o "${files%%.*}.csv"
    done
    cmp q.csv all-vertices.csv || fault 'of q and of vertices'
    cmp q.csv probes.csv || fault 'of q and of probes'
    [ "$(wc -l < q.csv)" -gt 10 ] || fault "$(cat q.csv)"
    refused 2 '--warp' simulate "${model[@]}" --integrator exact -o out.npz
    refused 2 '--warp' simulate mesh.npz --basis basis.npz --poly poly.npz --warp -o out.npz
    simverify bar.npz all.npz all-vertices.npz > said.txt 2>&1 || fault "$(grep FAIL said.txt)"
    grep -q '^ok   all-vertices.npz displacements are U q, warped' said.txt || fault 'warped displacements are not verified'
    no_faults
}

@test "animations and series of pictures of a warped motion have its shapes, for any number of threads" {
    needs_frames
    # unwarped, the last frame is 0.04 m off
    simulate bar.npz -q --model modal --basis all.npz --rank 20 --warp --gravity 0,0,-300 --steps 10 -o far.npz
    simexport bar.npz far.npz all.npz -q -o far-%d.obj
    for ending in .glb .usda; do
        done_well simexport bar.npz far.npz all.npz -q -o far$ending
        "$PYTHON" "$BATS_TEST_DIRNAME/animated.py" far$ending 1e-3 z 0=far-0.obj 5=far-5.obj 10=far-10.obj > said.txt 2>&1 || fault "$ending: $(tail -n 1 said.txt)"
    done
    # a body of so many vertices that threads compute shapes at the same time
    voxelize "$DATA"/bar.obj -q -n 30 --fill --fix-half-space 1,0,0,0 --young 1e6 -o fine.npz
    modes fine.npz -q -k 8 -o modes.npz
    simulate fine.npz -q --model modal --basis modes.npz --warp --gravity 0,0,-30 --steps 12 -o fine-q.npz
    for threads in 1 2 4; do
        mkdir t$threads
        simrender fine.npz fine-q.npz modes.npz --size 120x90 --samples 1 -q -t $threads -o t$threads/f_%02d.png || fault "$threads threads: exit $?"
        diff -r t1 t$threads > said.txt || fault "$threads threads: $(head -n 3 said.txt)"
    done
    no_faults
}

@test "exports in the world are the motion in the frame, carried along its path" {
    needs_frames
    "$PYTHON" -c "
from frames import *
t = np.arange(0, 0.3, 0.01)
write('turn.csv', t, np.outer(t, (1, 2, -1)), 9 * t**2)" || fault 'no path'
    simulate bar.npz -q --model modal --basis all.npz --rank 20 --frame turn.csv --steps 20 -o q.npz
    simulate bar.npz -q --model modal --basis all.npz --rank 20 --frame turn.csv --steps 20 --record all -o u.npz
    done_well simexport bar.npz q.npz all.npz --frame turn.csv --probe 41,63 -o world.csv
    done_well simexport bar.npz q.npz all.npz --frame turn.csv --frames 20 -o world.obj
    ending=.png
    done_well simrender bar.npz q.npz all.npz --frame turn.csv --frames 20 --size 160x120 -o world.png
    # the same with the frame that the trajectory records, of coordinates and of vertices
    for motion in 'q.npz all.npz' u.npz; do
        done_well simexport bar.npz $motion --world --probe 41,63 -o recorded.csv
        cmp world.csv recorded.csv || fault "$motion: --world is not --frame"
    done
    done_well simexport bar.npz u.npz --world --frames 20 -o recorded.obj
    cmp world.obj recorded.obj || fault 'models'
    done_well simrender bar.npz q.npz all.npz --world --frames 20 --size 160x120 -o recorded.png
    cmp world.png recorded.png || fault 'pictures'
    simulate bar.npz -q --model modal --basis all.npz --rank 20 --steps 3 -o still.npz
    refused 3 'records no frame' simexport bar.npz still.npz all.npz --world --probe 41 -o out.csv
    refused 2 '--world|--frame' simexport bar.npz q.npz all.npz --world --frame turn.csv --probe 41 -o out.csv
    "$PYTHON" -c "
from frames import *
X = np.load('bar.npz')['vertices']
t, u = read('u.npz')
p = np.loadtxt('turn.csv', delimiter=',')
table = np.loadtxt('world.csv', delimiter=',', skiprows=1)
x = [p[k, 1:4] + (X + u[k]) @ rotation(p[k, 4:]).T for k in range(len(t))]
got = table[:, 5:11].reshape(-1, 2, 3)
want = np.array([x[k][[41, 63]] - X[[41, 63]] for k in range(len(t))])
assert abs(got - want).max() < 1e-12 and abs(want).max() > 0.3, abs(got - want).max()" || fault 'not the same'
    PYTHONPATH=$BATS_TEST_DIRNAME/../../python "$PYTHON" -c "
import numpy as np, supple
f, p = supple.load('q.npz'), np.loadtxt('turn.csv', delimiter=',')[:21]
assert f['pose'].shape == (21, 7) and f['twist'].shape == (21, 6) and len(f['q']) == 21
assert abs(f['pose'] - p[:, 1:]).max() < 1e-12 and abs(f['twist'][:, :3] - (1, 2, -1)).max() < 1e-10, f['twist'][0]
" || fault 'Python reads another frame'
    refused 2 '--stress|--frame' simexport bar.npz q.npz all.npz --frame turn.csv --probe 41 --stress -o out.csv
    no_faults
}
