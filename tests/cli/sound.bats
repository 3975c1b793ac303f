#!/usr/bin/env bats
# simsound: partials against Timoshenko's theory, samples against NumPy, pitch against the period of the model, scaling, refusals, programs in Faust.

load common

# A clamped bar of forty 20-node hexahedra, 200 x 10 x 6 mm of steel without transverse contraction: bar.npz, the same of four times the stiffness
# in stiff.npz, their modes, a strike at the tip, and the motion of a third of a second at 44.1 kHz.
setup_file() {
    export BAR=$BATS_FILE_TMPDIR/bar
    mkdir "$BAR"
    cd "$BAR"
    for young in 200e9 800e9; do
        awk -v young=$young 'BEGIN {
            n = 40; count = 0
            print "*NODE"
            for (i = 0; i <= 2 * n; i++) for (j = 0; j <= 2; j++) for (k = 0; k <= 2; k++)
                if (i % 2 + j % 2 + k % 2 < 2) {
                    id[i, j, k] = ++count
                    print count ", " 0.1 * i / n ", " 0.005 * j ", " 0.003 * k
                }
            print "*ELEMENT, TYPE=C3D20, ELSET=ALL"
            split("0 0 0 2 0 0 2 2 0 0 2 0 0 0 2 2 0 2 2 2 2 0 2 2 1 0 0 2 1 0 1 2 0 0 1 0 1 0 2 2 1 2 1 2 2 0 1 2 0 0 1 2 0 1 2 2 1 0 2 1", p, " ")
            for (e = 0; e < n; e++) {
                line = e + 1
                for (a = 0; a < 20; a++)
                    line = line "," (a == 12 ? "\n" : " ") id[2 * e + p[3 * a + 1], p[3 * a + 2], p[3 * a + 3]]
                print line
            }
            print "*NSET, NSET=ROOT"
            for (j = 0; j <= 2; j++) for (k = 0; k <= 2; k++) if (j % 2 + k % 2 < 2) print id[0, j, k]
            print "*MATERIAL, NAME=STEEL\n*ELASTIC\n" young ", 0\n*DENSITY\n7800\n*SOLID SECTION, ELSET=ALL, MATERIAL=STEEL\n*BOUNDARY\nROOT, 1, 3"
            print id[2 * n, 0, 0] - 1 > "tip"
        }' > bar.inp
        name=bar
        [ $young = 200e9 ] || name=stiff
        simimport -q bar.inp -o $name.npz
        modes -q $name.npz -k 8 -o $name-modes.npz
    done
    rate='--dt 2.2675736961451247e-05'
    echo "0,2.2675736961451247e-05,vertex,$(< tip),0,30,100" > hit.csv
    printf 'frequency,time\n100,1\n10000,0.1\n' > times.csv
    modal="--model modal --integrator exact $rate --steps 14700 -q"
    simulate bar.npz $modal --basis bar-modes.npz --loads hit.csv --damping-times times.csv -o motion.npz
    simulate stiff.npz $modal --basis stiff-modes.npz --loads hit.csv --damping-times times.csv -o stiff-motion.npz
    simulate bar.npz $modal --basis bar-modes.npz -o still.npz
}

needs_sound() {
    needs_numpy
    has sound || skip 'this build has no libsndfile'
}

use_bar() {
    ln -s "$BAR" bar
    needs_sound
    export OPENBLAS_NUM_THREADS=1 # threads of NumPy that wait are slow on a busy machine
    sound=(simsound bar/bar.npz bar/bar-modes.npz bar/motion.npz --listener 0.1,0.02,0.4)
    # read(path): the rate, and the samples in units of full scale
    cat > wav.py <<- 'END'
	import struct
	import numpy as np
	def read(path):
	    data = open(path, 'rb').read()
	    assert data[:4] == b'RIFF' and data[8:12] == b'WAVE' and struct.unpack('<I', data[4:8])[0] == len(data) - 8
	    at, chunks = 12, {}
	    while at < len(data):
	        name, size = struct.unpack('<4sI', data[at:at + 8])
	        chunks[name] = data[at + 8:at + 8 + size]
	        at += 8 + size + size % 2
	    code, channels, rate, _, _, bits = struct.unpack('<HHIIHH', chunks[b'fmt '][:16])
	    raw = chunks[b'data']
	    if bits == 32:
	        x = np.frombuffer(raw, '<f4').astype(float)
	    elif bits == 16:
	        x = np.frombuffer(raw, '<i2') / 32767
	    else:
	        b = np.frombuffer(raw, 'u1').reshape(-1, 3).astype(np.int64)
	        v = b[:, 0] | b[:, 1] << 8 | b[:, 2] << 16
	        x = (v - (v >> 23 << 24)) / 8388607
	    return rate, x.reshape(-1, channels), chunks
	END
}

@test 'partials of a clamped bar are those of theory, and double with four times the stiffness' {
    needs_plain_build 'it compares numbers, and takes minutes'
    use_bar
    done_well "${sound[@]}" --full-scale 1 --samples float -q -o out.wav
    done_well simsound bar/stiff.npz bar/stiff-modes.npz bar/stiff-motion.npz --listener 0.1,0.02,0.4 --full-scale 1 --samples float -q -o stiff.wav
    "$PYTHON" - > said <<- 'END' || fault "$(< said)"
	import sys
	import numpy as np
	from wav import read
	# Timoshenko's beam by transfer of (w, psi, M, Q) from the clamped to the free end: A(omega) by its exponential
	def free_end(f, h, E=200e9, G=100e9, rho=7800, L=0.2, kappa=5 / 6):
	    b = {0.006: 0.01, 0.01: 0.006}[h]
	    S, I, w2 = b * h, b * h ** 3 / 12, (2 * np.pi * f) ** 2
	    A = np.array([[0, 1, 0, 1 / (kappa * G * S)], [0, 0, 1 / (E * I), 0], [0, -rho * I * w2, 0, -1], [-rho * S * w2, 0, 0, 0]])
	    values, vectors = np.linalg.eig(A * 1.0)
	    T = (vectors @ np.diag(np.exp(values * L)) @ np.linalg.inv(vectors)).real
	    return np.linalg.det(T[2:, 2:])
	def roots(h, most):
	    f = np.linspace(20, most, 1000)
	    d = np.array([free_end(x, h) for x in f])
	    found = []
	    for i in np.nonzero(np.sign(d[1:]) != np.sign(d[:-1]))[0]:
	        lo, hi = f[i], f[i + 1]
	        for _ in range(50):
	            mid = 0.5 * (lo + hi)
	            lo, hi = (mid, hi) if np.sign(free_end(mid, h)) == np.sign(free_end(lo, h)) else (lo, mid)
	        found.append(lo)
	    return found
	theory = sorted(roots(0.006, 4000)[:3] + roots(0.01, 4000)[:2])
	def peaks(path, near):
	    rate, x, _ = read(path)
	    x = x[500:, 0]
	    X = abs(np.fft.rfft(x * np.hanning(len(x))))
	    bin = rate / len(x)
	    k = np.array([int(f / bin) - 6 + np.argmax(X[int(f / bin) - 6:int(f / bin) + 8]) for f in near])
	    a, b, c = np.log(X[k - 1]), np.log(X[k]), np.log(X[k + 1])
	    return bin, (k + 0.5 * (a - c) / (a - 2 * b + c)) * bin
	bin, soft = peaks('out.wav', theory)
	print(bin, theory, soft)
	if max(abs(soft - theory)) > bin:
	    sys.exit('partials')
	bin, hard = peaks('stiff.wav', 2 * soft)
	print(hard)
	if max(abs(hard - 2 * soft)) > 0.1 * bin:
	    sys.exit('doubled')
	END
    no_faults
}

@test 'samples are those of the integral in NumPy, and no energy is made' {
    needs_plain_build 'it compares numbers, and takes minutes'
    use_bar
    for kind in plane-wave baffle monopole; do
        done_well "${sound[@]}" --radiation $kind --band 0,20000 --full-scale 2 --samples float -q -o $kind.wav
    done
    simexport bar/bar.npz -q -o bar.obj
    "$PYTHON" - > said <<- 'END' || fault "$(< said)"
	import sys
	import numpy as np
	from wav import read
	mesh, modes, motion = (np.load('bar/' + n) for n in ('bar.npz', 'bar-modes.npz', 'motion.npz'))
	X, U = mesh['vertices'], modes['U'].reshape(len(mesh['vertices']), 3, -1)
	v = np.concatenate([motion[n] for n in motion.files if n.startswith('qdot/')])
	energy = np.concatenate([motion[n] for n in motion.files if n.startswith('energy/')])
	# the triangles that simexport writes, between the same vertices
	corner, tri = [], []
	for line in open('bar.obj'):
	    word = line.split()
	    if word and word[0] == 'v':
	        corner.append([float(x) for x in word[1:4]])
	    elif word and word[0] == 'f':
	        tri.append([int(x.split('/')[0]) - 1 for x in word[1:4]])
	node = [np.argmin(((X - p) ** 2).sum(1)) for p in np.array(corner)]
	tri = np.array(node)[np.array(tri)]
	listener, rho, c, rate = np.array([0.1, 0.02, 0.4]), 1.204, 343.2, 44100
	p = X[tri]
	N = 0.5 * np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])
	if (N * (p.mean(1) - [0.1, 0.005, 0.003])).sum(1).min() < 0 or abs((N * p.mean(1)).sum() / 3 - 0.2 * 0.01 * 0.006) > 1e-12:
	    sys.exit('orientation, volume')
	y = listener - p.mean(1)
	d = np.linalg.norm(y, axis=1)
	cos = (N * y).sum(1) / np.linalg.norm(N, axis=1) / d
	flux = np.einsum('tc,tkcr->tr', N, U[tri]) / 3
	n = 1 << 15
	f = np.fft.rfftfreq(n, 1 / rate)
	V = np.fft.rfft(v, n, axis=0)
	taper = np.clip((20000 + 1025 - f) / 2050 + 0.5, 0, 1)
	kinds = ('plane-wave', 1 + cos), ('baffle', 2.0 * (cos > 0)), ('monopole', 1 + 0 * cos)
	P = np.zeros((3, len(f)), complex)
	for t in range(len(tri)):
	    P += np.array([[rho * D[t] / (4 * np.pi * d[t])] for _, D in kinds]) * (np.exp(-2j * np.pi * f * d[t] / c) * (V @ flux[t]))
	for (kind, _), p in zip(kinds, P):
	    exact = np.fft.irfft(2j * np.pi * f * p * taper, n)
	    r, x, _ = read(kind + '.wav')
	    x = 2 * x[:, 0]
	    s = slice(800, len(x) - 800) # without the strike, and the transient of the cut at the end of the oracle's motion
	    error = abs(x[s] - exact[:len(x)][s]).max() / abs(exact[:len(x)][s]).max()
	    radiated = (x ** 2).sum() / rate / (rho * c) * 4 * np.pi * d.min() ** 2
	    print(kind, len(tri), error, radiated, energy[-1, 2])
	    if r != rate or not error < 2e-3 or not 0 < radiated < energy[-1, 2]:
	        sys.exit('off')
	# the body itself gains nothing: kinetic + strain energy is at most the work
	if (energy[:, 0] + energy[:, 1] - energy[:, 2]).max() > 1e-12 * energy[-1, 2]:
	    sys.exit('energy')
	END
    no_faults
}

@test 'decay is that of the table of time constants, for modal and reduced models' {
    needs_plain_build 'it compares numbers, and takes minutes'
    use_bar
    "$PYTHON" - > said <<- 'END' || fault "$(< said)"
	import json, sys
	import numpy as np
	motion, modes = np.load('bar/motion.npz'), np.load('bar/bar-modes.npz')
	q, v = (np.concatenate([motion[n] for n in motion.files if n.startswith(k)]) for k in ('q/', 'qdot/'))
	lam = modes['eigenvalue']
	f = np.sqrt(lam) / 2 / np.pi
	tau = 10 ** np.interp(np.log10(f), [2, 4], [0, -1])
	for i in range(len(lam)):
	    # the amplitude of q = exp(-t/tau) cos(...): q² + ((v + q/tau)/omega)² decays by exp(-2t/tau)
	    w = np.sqrt(lam[i] - 1 / tau[i] ** 2)
	    a = np.sqrt(q[:, i] ** 2 + ((v[:, i] + q[:, i] / tau[i]) / w) ** 2)
	    got = (14000 - 1000) / 44100 / np.log(a[1000] / a[14000])
	    if abs(got / tau[i] - 1) > 1e-6:
	        sys.exit('mode %d: %g s, not %g' % (i, got, tau[i]))
	END
    polycoef -q bar/bar.npz bar/bar-modes.npz -o poly.npz
    printf '0,0.0001,vertex,%s,0,1e-6,3e-6\n' "$(< bar/tip)" > soft.csv
    run='--loads soft.csv --damping-times bar/times.csv --dt 2e-5 --steps 2000 -q'
    done_well simulate bar/bar.npz --basis bar/bar-modes.npz --poly poly.npz $run -o reduced.npz
    done_well simulate bar/bar.npz --model modal --basis bar/bar-modes.npz $run -o modal.npz
    ending= done_well simcompare reduced.npz modal.npz --basis bar/bar-modes.npz --rtol 1e-6
    # The same matrix in explicit steps, against exact oscillators; half the step has a quarter of the error.
    for step in 4 2; do
        run="--loads soft.csv --damping-times bar/times.csv --dt ${step}e-6 --steps $((40000 / step)) --every $((4000 / step)) -q"
        done_well simulate bar/bar.npz --basis bar/bar-modes.npz --poly poly.npz --integrator central $run -o central$step.npz
        done_well simulate bar/bar.npz --model modal --integrator exact --basis bar/bar-modes.npz $run -o exact$step.npz
    done
    "$PYTHON" - > said <<- 'END' || fault "$(< said)"
	import sys
	import numpy as np
	def last(name):
	    f = np.load(name)
	    return np.concatenate([f[n] for n in f.files if n.startswith('q/')])
	e = [abs(last('central%d.npz' % s) - last('exact%d.npz' % s)).max() / abs(last('exact%d.npz' % s)).max() for s in (4, 2)]
	print(e)
	if not e[1] < 1e-2 or not 3.5 < e[0] / e[1] < 4.5:
	    sys.exit('order')
	END
    no_faults
}

# One coordinate of a beam between two clamps is an oscillator with a hardening spring, whose period is an integral of the recorded strain energy.
@test 'pitch follows the amplitude as the period of free vibration does, within 2 cents over 40 dB' {
    needs_plain_build 'it compares numbers, and takes minutes'
    use_bar
    cp bar/bar.npz . && rm bar && mkdir bar
    "$PYTHON" - <<- 'END'
	import numpy as np
	END
    sed 's/^ROOT, 1, 3/ROOT, 1, 3\nTIP, 1, 3/; s/^\*NSET, NSET=ROOT/*NSET, NSET=TIP\nTIPS\n*NSET, NSET=ROOT/' "$BAR/bar.inp" |
        awk '/^\*NODE/ { nodes = 1 } /^\*ELEMENT/ { nodes = 0 } nodes && $2 + 0 > 0.1999 { tip = tip (tip == "" ? "" : "\n") int($1) } /^TIPS$/ { print tip; next } { print }' > beam.inp
    simimport -q beam.inp -o beam.npz
    modes -q beam.npz -k 1 -o mode.npz
    polycoef -q beam.npz mode.npz -o poly.npz
    for force in 300 1000 3000 10000 70000; do
        echo "0,1e-4,vertex,near:0.1,0.005,0.006,0,0,$force" > hit.csv
        done_well simulate beam.npz --basis mode.npz --poly poly.npz --loads hit.csv --dt 5.6689342403628117e-06 --steps 35280 --halvings 0 -q -o motion$force.npz
        done_well simsound beam.npz mode.npz motion$force.npz --listener 0.1,0,0.4 --samples float -q -o sound$force.wav
    done
    "$PYTHON" - > said <<- 'END' || fault "$(< said)"
	import sys
	import numpy as np
	from wav import read
	worst, levels, pitches = 0, [], []
	for force in 300, 1000, 3000, 10000, 70000:
	    m = np.load('motion%d.npz' % force)
	    q, e = (np.concatenate([m[n] for n in m.files if n.startswith(k)]) for k in ('q/', 'energy/'))
	    q, strain, total = q[:, 0], e[:, 1], (e[-1, 0] + e[-1, 1])
	    # the energy of the oscillator, of the fourth order: from the recorded frames
	    s = abs(q).max()
	    c = np.linalg.lstsq(np.stack([(q / s) ** k for k in (2, 3, 4)], 1), strain, rcond=None)[0]
	    V = lambda x: sum(a * x ** k for a, k in zip(c, (2, 3, 4)))
	    # turning points, and the period 2 ∫ dq / sqrt(2 (E - V)) with q = mid + half sin(a) (unit mass)
	    root = [r.real for r in np.roots([c[2], c[1], c[0], 0, -total]) if abs(r.imag) < 1e-9 * abs(r)]
	    lo, hi = max(r for r in root if r < 0), min(r for r in root if r > 0)
	    a = (np.arange(4000) + 0.5) / 4000 * np.pi - np.pi / 2
	    x = 0.5 * (lo + hi) + 0.5 * (hi - lo) * np.sin(a)
	    period = 2 * s * np.sum(0.5 * (hi - lo) * np.cos(a) / np.sqrt(2 * (total - V(x)))) * np.pi / 4000
	    rate, p, _ = read('sound%d.wav' % force)
	    p = p[1000:, 0]
	    f = 1 / period
	    # the phase of the fundamental in two windows
	    n = len(p) // 3
	    w = np.hanning(n)
	    def phase(at):
	        return np.angle(np.sum(w * p[at:at + n] * np.exp(-2j * np.pi * f * (np.arange(n) + at) / rate)))
	    slope = np.angle(np.exp(1j * (phase(2 * n) - phase(0)))) / (2 * np.pi * 2 * n / rate)
	    cents = 1200 * np.log2((f + slope) / f)
	    levels.append(s), pitches.append(f)
	    print(force, s, f, cents)
	    worst = max(worst, abs(cents))
	dB = 20 * np.log10(levels[-1] / levels[0])
	print(dB, 1200 * np.log2(pitches[-1] / pitches[0]), worst)
	if worst > 2 or dB < 40 or pitches[-1] < 1.02 * pitches[0]:
	    sys.exit('pitch')
	END
    no_faults
}

@test 'sample formats, channels, rates and the scale; the same bytes for any number of threads and from a pipe' {
    use_bar
    for samples in 16 24 float; do
        done_well "${sound[@]}" --full-scale 1.2 --samples $samples -q -o $samples.wav
    done
    done_well "${sound[@]}" --listener 0.1,0.3,0.2 --rate 48000 --spectrogram out.png -t 1 -o stereo.wav
    grep -qE '^simsound: [0-9.]+ s of 48000 Hz, full scale [0-9.e-]+ Pa, peak [0-9.e-]+ Pa' "$BATS_TEST_TMPDIR/stderr" || fault "no scale: $err"
    for threads in 2 4; do
        done_well "${sound[@]}" --listener 0.1,0.3,0.2 --rate 48000 --spectrogram again.png -t $threads -q -o again.wav
        same_bytes stereo.wav again.wav "$threads threads"
        same_bytes out.png again.png "$threads threads"
    done
    simsound bar/bar.npz bar/bar-modes.npz - --listener 0.1,0.02,0.4 --full-scale 1.2 -q -o - < <(cat bar/motion.npz) > pipe.wav || fault 'from a pipe'
    same_bytes 24.wav pipe.wav 'a pipe'
    done_well simsound bar/bar.npz bar/bar-modes.npz bar/still.npz --listener 0.1,0.02,0.4 -q -o still.wav
    "$PYTHON" - > said <<- 'END' || fault "$(< said)"
	import sys
	import numpy as np
	from wav import read
	import re
	x = {n: read(n + '.wav') for n in ('16', '24', 'float', 'stereo', 'still')}
	if [x[n][0] for n in x] != [44100, 44100, 44100, 48000, 44100] or x['stereo'][1].shape[1] != 2:
	    sys.exit('header')
	if b'full scale is 1.2' not in x['24'][2][b'LIST'] or b'PEAK' in x['float'][2]:
	    sys.exit('comment')
	reference = x['float'][1]
	for n, half in ('16', 0.5 / 32767), ('24', 0.5 / 8388607):
	    if abs(x[n][1] - reference).max() > half * 1.001 + 6e-8:
	        sys.exit(n)
	if abs(abs(x['stereo'][1]).max() - 10 ** -0.05) > 1e-6:
	    sys.exit('one decibel')
	if abs(x['still'][1]).max() != 0:
	    sys.exit('silence')
	# 44.1 and 48 kHz are one signal: interpolate by the Fourier series of a part without the strike
	scale = float(re.search(rb'full scale is ([0-9.e+-]+) Pa', x['stereo'][2][b'LIST'])[1])
	a, b = reference[:, 0] * 1.2, x['stereo'][1][:, 0] * scale
	t = np.arange(3000, 12000) / 48000
	k = np.clip(np.rint(t * 44100).astype(int), 80, len(a) - 80)[:, None] + np.arange(-60, 61)
	u = t[:, None] * 44100 - k
	y = (np.sinc(u) * np.cos(np.pi * u / 122) ** 2 * a[k]).sum(1)
	if abs(y - b[3000:12000]).max() > 5e-3 * abs(y).max():
	    sys.exit('rates differ by %g' % (abs(y - b[3000:12000]).max() / abs(y).max()))
	END
    no_faults
}

@test 'motion of all vertices sounds as that of the coordinates, also where these are warped' {
    use_bar
    line=(bar/bar.npz --model modal --basis bar/bar-modes.npz --dt 2.2675736961451247e-05 --steps 1000 -q)
    done_well simulate "${line[@]}" --integrator exact --loads bar/hit.csv --record all -o all.npz
    echo "0,0.001,vertex,$(< bar/tip),0,30,300" > push.csv
    done_well simulate "${line[@]}" --warp --loads push.csv --record all -o warped-all.npz
    done_well simulate "${line[@]}" --warp --loads push.csv -o warped.npz
    "$PYTHON" - <<- 'END'
	import json
	import numpy as np
	def without_coordinates(name, to):
	    f = np.load(name)
	    out = {n: f[n] for n in f.files if not n.startswith(('q/', 'qdot/'))}
	    meta = json.loads(bytes(f['meta']).decode())
	    meta['r'] = 0
	    meta.pop('basis', None)
	    meta.pop('warp', None)
	    out['meta'] = np.frombuffer(json.dumps(meta).encode(), 'u1')
	    np.savez(to, **out)
	    return out
	without_coordinates('warped-all.npz', 'warped-vertices.npz')
	out = without_coordinates('all.npz', 'vertices.npz')
	# a block for every frame, as meshes of more than 20,000 vertices have
	series = {name: np.concatenate([out[n] for n in out if n.startswith(name)]) for name in ('time/', 'u/', 'udot/', 'energy/')}
	frames = {n: x for n, x in out.items() if n != 'result' and not n.startswith(tuple(series))}
	for i in range(len(series['time/'])):
	    frames.update(('%s%06d' % (name, i), x[i:i + 1]) for name, x in series.items())
	frames['result'] = out['result']
	np.savez('frames.npz', **frames)
	END
    for name in all warped; do
        done_well simsound bar/bar.npz bar/bar-modes.npz $name.npz --listener 0,0.3,0.2 --samples float --full-scale 1 -q -o $name.wav
    done
    for name in vertices frames warped-vertices; do
        done_well simsound bar/bar.npz $name.npz --listener 0,0.3,0.2 --samples float --full-scale 1 -q -o $name.wav
    done
    "$PYTHON" - > said <<- 'END' || fault "$(< said)"
	import sys
	from wav import read
	for one, other in ('all', 'vertices'), ('all', 'frames'), ('warped', 'warped-vertices'):
	    a, b = (read(n + '.wav')[1] for n in (one, other))
	    if len(a) != len(b) or not 0 < abs(a).max() or not abs(a - b).max() < 1e-6 * abs(a).max():
	        sys.exit('%s and %s differ' % (one, other))
	END
    no_faults
}

# A body voxelized from a closed model that faces inward, and from an open one.
@test 'an embedded surface that faces inward is turned, an open one refused' {
    use_bar
    cat > box.obj <<- 'END'
	v 0 0 0
	v 0.1 0 0
	v 0.1 0.1 0
	v 0 0.1 0
	v 0 0 0.1
	v 0.1 0 0.1
	v 0.1 0.1 0.1
	v 0 0.1 0.1
	f 1 4 3 2
	f 5 6 7 8
	f 1 2 6 5
	f 2 3 7 6
	f 3 4 8 7
	f 4 1 5 8
	END
    awk '/^f/ { print "f", $4, $3, $2 "\nf", $5, $4, $2; next } { print }' box.obj > inward.obj
    awk '/^f/ { print "f", $2, $3, $4 "\nf", $2, $4, $5; next } { print }' box.obj > outward.obj
    sed '$d' outward.obj > open.obj
    for body in outward inward open; do
        voxelize $body.obj -n 3 --fill --young 1e9 --fix-half-space 0,0,1,0.01 -q -o $body.npz
        modes $body.npz -k 3 -q -o $body-modes.npz
        simulate $body.npz --model modal --integrator exact --basis $body-modes.npz --gravity 0,0,-9.81 --dt 2e-5 --steps 1000 -q -o $body-motion.npz
    done
    for body in outward inward; do
        done_well simsound $body.npz $body-modes.npz $body-motion.npz --listener 0.5,0.3,0.2 --samples float --full-scale 1 -q -o $body.wav
    done
    "$PYTHON" -c 'import sys; from wav import read; a, b = (read(n + ".wav")[1] for n in ("outward", "inward")); sys.exit(not (0 < abs(a).max() and abs(a - b).max() < 1e-5 * abs(a).max()))' ||
        fault 'they differ'
    refused 3 'does not enclose a volume: [1-9][0-9]* open edges' simsound open.npz open-modes.npz open-motion.npz --listener 0.5,0.3,0.2 -o out.wav
    done_well simsound open.npz open-modes.npz open-motion.npz --listener 0.5,0.3,0.2 --surface boundary -q -o boundary.wav
    no_faults
}

# A box falls onto the bar. Its motion in the scene, copied into a trajectory, sounds the same at the listener's place in the frame of the bar;
# nothing is heard before the fall of 2 mm has ended and the sound has arrived.
@test 'contacts of a scene strike a body' {
    use_bar
    polycoef bar/bar.npz bar/bar-modes.npz -q -o bar-poly.npz
    pointshell bar/bar.npz --basis bar/bar-modes.npz --points 300 -q -o shell.npz
    cat > strike.json <<- 'END'
	{
	  "gravity": [0, 0, -9.81],
	  "contact": {"stiffness": 20000},
	  "models": {
	    "hammer": {"kind": "rigid", "box": {"half": [0.01, 0.01, 0.01]}, "mass": 0.016, "mass_centre": [0, 0, 0], "inertia": [1e-6, 1e-6, 1e-6, 0, 0, 0]},
	    "bar": {"kind": "reduced", "mesh": "bar/bar.npz", "basis": "bar/bar-modes.npz", "polynomials": "bar-poly.npz", "pointshell": "shell.npz", "damping": [5, 0]}
	  },
	  "bodies": [
	    {"name": "bar", "model": "bar", "motion": "fixed", "position": [1, 0, 0], "orientation": [0.7071067811865476, 0, 0, 0.7071067811865476]},
	    {"name": "hammer", "model": "hammer", "motion": "free", "position": [0.995, 0.18, 0.018]}
	  ]
	}
	END
    simscene strike.json --dt 2.2675736961451247e-05 --steps 4410 -q -o struck.npz
    done_well simsound bar/bar.npz bar/bar-modes.npz struck.npz --listener 1,0.1,0.5 --samples float --full-scale 1 --band 0,20000 -q -o scene.wav
    "$PYTHON" - <<- 'END' || fault 'not copied'
	import json
	import numpy as np
	scene, model = np.load('struck.npz'), np.load('bar/motion.npz')
	series = lambda name: np.concatenate([scene[n] for n in scene.files if n.startswith(name + '/')])
	meta = json.loads(bytes(model['meta']).decode())
	t, q, v = series('time'), series('q'), series('qdot')
	# the bar's gravity bends it from the first frame on
	out = {'meta': np.frombuffer(json.dumps(meta).encode(), 'u1'), 'time/000000': t, 'q/000000': q, 'qdot/000000': v, 'energy/000000': np.zeros((len(t), 4))}
	out['result'] = model['result']
	np.savez('copied.npz', **out)
	END
    # x = R(X) + (1, 0, 0) with R by 90 degrees about z: the listener is at X = (0.1, 0, 0.5)
    done_well simsound bar/bar.npz bar/bar-modes.npz copied.npz --listener 0.1,0,0.5 --samples float --full-scale 1 --band 0,20000 -q -o copied.wav
    "$PYTHON" - > said <<- 'END' || fault "$(< said)"
	import sys
	import numpy as np
	from wav import read
	a, b = (read(n + '.wav')[1][:, 0] for n in ('scene', 'copied'))
	if len(a) != len(b) or abs(a - b).max() > 1e-6 * abs(a).max():
	    sys.exit('they differ')
	impact = (2 * 0.002 / 9.81) ** 0.5 + 0.494 / 343.2
	at = int(impact * 44100)
	print(at, abs(a[:at - 60]).max(), abs(a).max())
	if not abs(a[:at - 60]).max() < 0.1 * abs(a).max() or not abs(a[at:at + 40]).max() > 0.3 * abs(a).max():
	    sys.exit('the strike is not where it should be')
	END
    refused 2 'hammer is rigid' simsound bar/bar.npz bar/bar-modes.npz struck.npz --listener 1,0.1,0.5 --body hammer -o out.wav
    refused 2 'no body "bell"' simsound bar/bar.npz bar/bar-modes.npz struck.npz --listener 1,0.1,0.5 --body bell -o out.wav
    refused 3 'its scene does not name' simsound bar/stiff.npz bar/stiff-modes.npz struck.npz --listener 1,0.1,0.5 -o out.wav
    refused 2 'name the mesh and the basis' simsound bar/bar.npz struck.npz --listener 1,0.1,0.5 -o out.wav
    refused 2 'one motion' simsound bar/bar.npz bar/bar-modes.npz struck.npz bar/motion.npz --listener 1,0.1,0.5 -o out.wav
    refused 2 '--body applies to' "${sound[@]}" --body bar -o out.wav
    sed 's/"motion": "fixed", "position": \[1, 0, 0\]/"motion": "free", "position": [1, 0, 0]/' strike.json > free.json
    ! simscene free.json --dt 1e-4 --steps 10 -q -o free-motion.npz 2> /dev/null ||
        refused 3 'moves as a whole' simsound bar/bar.npz bar/bar-modes.npz free-motion.npz --listener 1,0.1,0.5 -o out.wav
    no_faults
}

@test 'what simsound refuses' {
    use_bar
    local base=(simsound bar/bar.npz bar/bar-modes.npz bar/motion.npz)
    refused 2 'name the place of the listener with --listener' "${base[@]}" -o out.wav
    refused 2 'is not a place' "${base[@]}" --listener 0,0 -o out.wav
    refused 2 'is not a place' "${base[@]}" --listener 0,nan,0 -o out.wav
    refused 2 'is not a place' "${base[@]}" --listener 0,inf,0 -o out.wav
    refused 2 'is inside the body' "${base[@]}" --listener 0.1,0.005,0.003 -o out.wav
    refused 2 'needs a larger distance' "${base[@]}" --listener 0.1,0.005,0.0065 -o out.wav
    refused 2 'too far' "${base[@]}" --listener 0,0,1e40 -o out.wav
    refused 2 'is not a range of frequencies' "${sound[@]}" --band 200,100 -o out.wav
    refused 2 'allow for 20947 Hz' "${sound[@]}" --band 20,22000 -o out.wav
    refused 2 '[0-9]+ of [0-9]+ samples are above 0.001 Pa: the peak is' "${sound[@]}" --full-scale 0.001 -o out.wav
    done_well "${sound[@]}" --full-scale 0.001 --samples float -q -o loud.wav
    refused 2 'sample [0-9]+ is -?[0-9.]+e\+[0-9]+ of full scale' "${sound[@]}" --full-scale 1e-300 --samples float -o out.wav
    refused 2 'a \.wav file' "${sound[@]}" -o out.csv
    refused 2 'the picture is a \.png file' "${sound[@]}" --spectrogram out.csv -o out.wav
    refused 2 'a program in Faust, a \.dsp file' simsound bar/bar.npz bar/bar-modes.npz --listener 0,0,1 -o out.wav
    refused 2 'name a trajectory' simsound mesh.npz basis.npz --listener 9,9,9 -o out.dsp
    refused 2 'name the mesh too' simsound bar/bar-modes.npz bar/motion.npz --listener 0,0,1 -o out.wav
    refused 2 'name the basis too' simsound bar/bar.npz bar/motion.npz --listener 0,0,1 -o out.wav
    refused 3 'made from another|is of another|basis' simsound bar/bar.npz bar/stiff-modes.npz bar/motion.npz --listener 0,0,1 -o out.wav
    refused 2 'strike' "${sound[@]}" --strike 3:0,0,1 -o out.wav
    refused 2 'samples' simsound bar/bar.npz bar/bar-modes.npz --listener 0,0,1 --strike 3:0,0,1 --samples 16 -o out.dsp
    refused 5 'the pressure after the strike is not finite' simsound bar/bar.npz bar/bar-modes.npz --listener 0,0,1 --strike "$(< bar/tip):0,0,1.7e308" -o out.dsp
    # frames that are rare, irregular, few
    line=(bar/bar.npz --model modal --integrator exact --basis bar/bar-modes.npz --loads bar/hit.csv -q)
    simulate "${line[@]}" --dt 1e-3 --steps 200 -o rare.npz
    refused 2 'a band up to 20000 Hz needs more samples: 1000 per second allow for 475 Hz' simsound bar/bar.npz bar/bar-modes.npz rare.npz --listener 0,0,1 -o out.wav
    done_well simsound bar/bar.npz bar/bar-modes.npz rare.npz --listener 0,0,1 --band 20,400 -q -o low.wav
    simulate "${line[@]}" --dt 1e-5 --steps 2003 --every 2 -o uneven.npz
    refused 3 'sound needs one rate' simsound bar/bar.npz bar/bar-modes.npz uneven.npz --listener 0,0,1 -o out.wav
    simulate "${line[@]}" --dt 1e-5 --steps 100 -o short.npz
    refused 3 'too short for its sound' simsound bar/bar.npz bar/bar-modes.npz short.npz --listener 0,0,1 -o out.wav
    head -c 1000000 bar/motion.npz > cut.npz
    refused 3 'cut.npz' simsound bar/bar.npz bar/bar-modes.npz cut.npz --listener 0,0,1 -o out.wav
    # tables of time constants
    for text in 'frequency,time' '0,1' '100' '100,1,2' '100,0' '100,nan' $'100,1\n100,2' '100,-1' 'a,1' '1e-320,1' '1e299,1' '100,1e-200' '100,1e200'; do
        echo "$text" > bad.csv
        refused 3 'bad.csv: (line [0-9]: |it has no line)' simulate "${line[@]}" --damping-times bad.csv --steps 1 -o out.npz
    done
    refused 2 'damping-times' simulate bar/bar.npz --model galerkin --basis bar/bar-modes.npz --viscosity 1,1 --damping-times bar/times.csv -o out.npz
    no_faults
}

@test 'a fade lowers the last part to silence and leaves the rest' {
    use_bar
    done_well "${sound[@]}" --full-scale 1 --samples float -q -o whole.wav
    done_well "${sound[@]}" --full-scale 1 --samples float --fade 0.1 -q -o faded.wav
    "$PYTHON" - > said <<- 'END' || fault "$(< said)"
	import numpy as np
	from wav import read
	whole, faded = read('whole.wav')[1][:, 0], read('faded.wav')[1][:, 0]
	n = 4410
	assert len(whole) == len(faded) and (whole[:-n] == faded[:-n]).all() and faded[-1] == 0
	level = 0.5 + 0.5 * np.cos(np.pi * np.arange(1, n + 1) / n)
	assert abs(faded[-n:] - level * whole[-n:]).max() < 1e-6 * abs(whole).max()
	END
    refused 2 '--fade: the recording has 0.33. s, not 9' "${sound[@]}" --fade 9 -o out.wav
    no_faults
}

# --band HIGH: its filter has the gain 1 up to HIGH, nearly 1/2 at 1.25 HIGH (that of a derivative is a little less), and less than 1e-4 from 1.5 HIGH on.
@test 'the upper band limit is the same low-pass in a recording and in a program' {
    use_bar
    "$PYTHON" -c 'import numpy as np
f = np.sqrt(np.load("bar/bar-modes.npz")["eigenvalue"]) / (2 * np.pi)
print("%.17g" % (f[2] / 1.25))' > high
    high=$(< high)
    for band in 0,20000 "0,$high"; do
        name=${band%000}
        [ "$name" = "$band" ] && name=low || name=whole
        done_well "${sound[@]}" --full-scale 1 --samples float --band "$band" -q -o $name.wav
        done_well simsound bar/bar.npz bar/bar-modes.npz --listener 0.1,0.02,0.4 --strike "$(< bar/tip):0,1e-3,2e-3" --damping-times bar/times.csv --full-scale 1 --band "$band" -q -o $name.dsp
    done
    "$PYTHON" - > said <<- 'END' || fault "$(< said)"
	import re, sys
	import numpy as np
	from wav import read
	f = np.sqrt(np.load('bar/bar-modes.npz')['eigenvalue']) / (2 * np.pi)
	high = float(open('high').read())
	gain = [1 if x <= high else 0.5 if abs(x / high - 1.25) < 1e-9 else 0 if x >= 1.5 * high else None for x in f]
	sound = [read(n + '.wav')[1][:, 0] for n in ('whole', 'low')]
	n = min(map(len, sound))
	w, t = np.hanning(n), np.arange(n) / 44100
	peak = [[abs(np.sum(w * s[:n] * np.exp(-2j * np.pi * x * t))) for x in f] for s in sound]
	partial = [{}, {}]
	for which, name in zip(partial, ('whole', 'low')):
	    for line in open(name + '.dsp'):
	        numbers = re.findall(r'[-+]?\d+\.?\d*(?:e[-+]?\d+)?', line)
	        for x in f:
	            if line.lstrip().startswith('partial(') and abs(float(numbers[0]) / x - 1) < 1e-5:
	                which[x] = float(numbers[2])
	print(high, f, gain, peak, partial)
	for i, (x, g) in enumerate(zip(f, gain)):
	    if g is None or x > 20000:
	        continue
	    if abs(peak[1][i] / peak[0][i] - partial[1].get(x, 0) / partial[0][x]) > 3e-3 or abs(peak[1][i] / peak[0][i] - g) > (0.04 if g == 0.5 else 3e-3):
	        sys.exit('mode %d' % i)
	if gain.count(0) < 2 or 0.5 not in gain:
	    sys.exit('too few')
	END
    no_faults
}

# The program against the recording of the same modes: the load of the recording acts for a sample, so that it is later by half of one, and
# lower by sin(x)/x with x = pi f / rate.
@test 'the program in Faust has the sound of the recording' {
    command -v faust > /dev/null || skip 'no faust'
    command -v gcc > /dev/null || skip 'no gcc'
    use_bar
    step=2.2675736961451247e-05
    strike=$(awk -v h=$step 'BEGIN { printf "0,%.17g,%.17g", 30 * h, 100 * h }')
    done_well simsound bar/bar.npz bar/bar-modes.npz --listener 0.1,0.02,0.4 --strike "$(< bar/tip):$strike" --damping-times bar/times.csv --full-scale 1 -q -o bar.dsp
    done_well "${sound[@]}" --full-scale 1 --samples float --band 0,20000 -q -o bar.wav
    faust -double -lang c bar.dsp -o bar.c || fault 'faust refuses it'
    cat > drive.c <<- 'END'
	#include <math.h>
	#include <stdint.h>
	#include <stdio.h>
	#include <stdlib.h>
	#define FAUSTFLOAT double
	typedef struct { void *uiInterface; void (*addButton)(void *, const char *, double *);
	    void (*addHorizontalSlider)(void *, const char *, double *, double, double, double, double);
	    void (*openVerticalBox)(void *, const char *); void (*closeBox)(void *); } UIGlue;
	typedef struct { void *metaInterface; void (*declare)(void *, const char *, const char *); } MetaGlue;
	#include "bar.c"
	static double *gate;
	static void button(void *d, const char *n, double *z) { gate = z; }
	static void slider(void *d, const char *n, double *z, double a, double b, double c, double e) {}
	static void box(void *d, const char *n) {}
	static void end(void *d) {}
	int main(void) {
	    static double out[14000]; double *to[1] = {out};
	    UIGlue ui = {0, button, slider, box, end};
	    mydsp *d = newmydsp();
	    initmydsp(d, 44100); buildUserInterfacemydsp(d, &ui); *gate = 1; computemydsp(d, 14000, NULL, to);
	    for (int i = 0; i < 14000; i++) printf("%.17g\n", out[i]);
	}
	END
    gcc -w drive.c -o drive -lm && ./drive > faust.txt || fault 'the program does not compile'
    "$PYTHON" - > said <<- 'END' || fault "$(< said)"
	import sys
	import numpy as np
	from wav import read
	a, x = np.loadtxt('faust.txt'), read('bar.wav')[1][:, 0]
	f = np.sqrt(np.load('bar/bar-modes.npz')['eigenvalue']) / 2 / np.pi
	n = 12000
	w = np.hanning(n)
	worst = 0
	for i in range(len(f)):
	    e = w * np.exp(-2j * np.pi * f[i] * np.arange(n) / 44100)
	    A, B = (e * a[1000:1000 + n]).sum(), (e * x[1000:1000 + n]).sum()
	    if abs(A) < 1e-3 * abs(np.fft.rfft(w * a[1000:1000 + n])).max():
	        continue
	    expected = np.sinc(f[i] / 44100) * np.exp(-1j * np.pi * f[i] / 44100)
	    print(f[i], B / A, expected)
	    worst = max(worst, abs(B / A / expected - 1))
	sys.exit(0 if worst < 2e-3 else 'off by %g' % worst)
	END
    refused 2 'needs --strike' simsound bar/bar.npz bar/bar-modes.npz --listener 0,0,1 -o out.dsp
    refused 2 'is not VERTEX:JX,JY,JZ' simsound bar/bar.npz bar/bar-modes.npz --listener 0,0,1 --strike 3:1,2 -o out.dsp
    refused 2 'vertex|strike' simsound bar/bar.npz bar/bar-modes.npz --listener 0,0,1 --strike 300000:1,2,3 -o out.dsp
    refused 2 'excites no mode' simsound bar/bar.npz bar/bar-modes.npz --listener 0,0,1 --strike 3:0,0,0 -o out.dsp
    refused 2 'has one' simsound bar/bar.npz bar/bar-modes.npz --listener 0,0,1 --listener 0,1,0 --strike 3:0,0,1 -o out.dsp
    no_faults
}
