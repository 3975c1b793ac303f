#!/usr/bin/env bats
# Scenes and their motions in siminfo, simverify, simrender and simexport. move.py makes up the motion and knows the places of the bodies.

load common

@test "siminfo summarizes a motion" {
    ending=
    done_well siminfo motion.npz
    local text
    for text in '^body      0: arm, model arm, 4 reduced coordinates$' '^body      3: balls\[1\], model ball, 0 reduced' '^coupled   to a manipulandum$' \
        '^frames    10 from 0 s to 0.9 s$' '^most      109 nodes visited, 10 passed over, 5 points in contact, level 3$' '^contacts  25$' \
        '^energy    kinetic 0.9 J, strain 0.45 J, gravity -0.9 J in the last frame$' '^  pose/\* x3 .*\(10, 6, 7\)' '^  contact/force/\* x3 .*\(25, 3\)'; do
        grep -Eq "$text" "$stdout" || fault "no \"$text\" in $(< "$stdout")"
    done
    grep -q "^scene     of hash $(sha256sum scene.json | head -c 12)\$" "$stdout" || fault 'the hash of the scene'
    no_faults
}

@test "simverify finds wrong values in a motion" {
    needs_numpy
    ending=
    done_well simverify motion.npz
    local change
    for change in 'm["energy/000001"][0, 0] = -1' 'm["contact/force/000000"][2, 1] += 1e-6' 'm["wrench/000002"][1, 2, 0] = 1e-6' 'meta["scene"] = "0" * 64'; do
        "$PYTHON" "$BATS_TEST_DIRNAME/forge.py" motion.npz forged.npz "$change"
        try simverify -q forged.npz
        [ "$code" = 1 ] || fault "$change: exit $code: $(< "$stdout") $err"
        [ "$(grep -c ^FAIL "$stdout")" = 1 ] || fault "$change: $(< "$stdout")"
    done
    for change in 'm["pose/000001"][2, 3, 3] *= 1.00001' 'm["counts/000000"][1, 2] = -1' 'm["contact/count/000002"][1] -= 1' 'm["contact/body/000000"][0, 1] = 6' \
        'm["time/000002"][0] = 0.7' 'meta["bodies"][2]["name"] = "arm"' 'del meta["contacts"]'; do
        "$PYTHON" "$BATS_TEST_DIRNAME/forge.py" motion.npz forged.npz "$change"
        refused 3 '^simverify: forged.npz: ' simverify -q forged.npz
        [ ! -s "$stdout" ] || fault "$change"
    done
    no_faults
}

@test "a scene in pictures: at its start, in frames, the same bytes for any number of threads" {
    done_well simrender scene.json --size 160x120 -q -o start.png
    done_well simrender motion.npz scene.json --size 160x120 -q --every 4 -o f_%d.png
    [ "$(echo f_*.png)" = 'f_0.png f_1.png f_2.png' ] || fault "pictures: $(echo f_*.png)"
    cmp -s f_0.png f_2.png && fault 'nothing moves'
    local threads kind
    for threads in 1 2 7; do
        done_well simrender scene.json motion.npz --size 160x120 -q --frames 3 --threads $threads -o t$threads.png
        same_bytes t1.png t$threads.png "threads $threads"
    done
    # contacts of frame 3, and none in frame 4
    for kind in none points forces; do
        done_well simrender scene.json motion.npz --size 160x120 -q --frames 3 --contacts $kind -o $kind.png
        done_well simrender scene.json motion.npz --size 160x120 -q --frames 4 --contacts $kind --opacity 1 -o 4$kind.png
        same_bytes 4none.png 4$kind.png 'no contacts'
    done
    same_bytes points.png t1.png 'points are drawn unless another choice is made'
    cmp -s points.png none.png && fault 'points are not there'
    cmp -s points.png forces.png && fault 'arrows are points'
    cat motion.npz | simrender scene.json - --size 160x120 -q --frames 3 -o pipe.png || fault 'from a pipe'
    same_bytes pipe.png t1.png pipe
    no_faults
}

# The square of a plane and a ball in a parallel view from the side. The edge of the ball is known.
@test "simrender and simexport place a ball and a plane as their numbers say" {
    needs_numpy
    cat > small.json <<-'END'
	{"contact": {"stiffness": 1},
	 "models": {"ball": {"kind": "rigid", "sphere": {"centre": [0, 0, 1], "radius": 0.25}},
	            "table": {"kind": "rigid", "plane": {"normal": [0, 0, 2], "offset": 0.5}}},
	 "bodies": [{"name": "ball", "model": "ball", "position": [1, 0, 0], "orientation": [0.7071067811865476, 0, 0.7071067811865476, 0]},
	            {"name": "table", "model": "table", "position": [0, 0, -0.5]}]}
	END
    done_well simrender small.json --view 0,-1,0 --angle 0 --box 1,-1,-0.5,3,1,1.5 --size 400x400 -q -o side.png
    done_well simexport small.json -q -o small.vtu
    "$PYTHON" - <<-'END' || fault 'not there'
	import re, struct, sys, zlib
	import numpy as np
	data = open('small.vtu', 'rb').read()
	head, body = data[:data.index(b'<AppendedData')].decode(), data[data.index(b'raw">\n_') + 7:]
	def array(name):
	    kind, offset = re.search(r'type="(\w+)" Name="%s".*offset="(\d+)"' % name, head).groups()
	    size, = struct.unpack_from('<Q', body, int(offset))
	    return np.frombuffer(body, {'Float64': 'f8', 'Int64': 'i8', 'UInt8': 'u1'}[kind], size // {'U': 1}.get(kind[0], 8), int(offset) + 8)
	x = array('Points').reshape(-1, 3)
	# a quarter turn about y takes (0, 0, 1) to (1, 0, 0)
	assert np.abs(np.linalg.norm(x[:-4] - [2, 0, 0], axis=1) - 0.25).max() < 1e-15 * 16
	# the plane: n·x = 0.5 in its own frame, half a metre lower in the world; its square covers the ball and a tenth more
	assert np.abs(x[-4:, 2]).max() < 1e-15 and np.allclose([x[-4:, 0].min(), x[-4:, 0].max()], [1.7, 2.3]), x[-4:]
	tri = array('connectivity').reshape(-1, 3)
	assert (array('types') == 5).all() and (array('body') == [0] * (len(tri) - 2) + [1, 1]).all()
	# closed and oriented outward: the volume of the inscribed polyhedron by the divergence theorem
	a, b, c = (x[tri[:-2, i]] - [2, 0, 0] for i in range(3))
	volume = np.einsum('ij,ij->', a, np.cross(b, c)) / 6
	assert 0.98 < volume / (4 / 3 * np.pi * 0.25 ** 3) < 1, volume
	# the ball in the picture: colour differs from left and right of it, in the row of its centre
	png = open('side.png', 'rb').read()
	at, raw = 8, b''
	while at < len(png):
	    n, = struct.unpack_from('>I', png, at)
	    raw += png[at + 8:at + 8 + n] if png[at + 4:at + 8] == b'IDAT' else b''
	    at += n + 12
	raw, w, rows = zlib.decompress(raw), 400, []
	for r in range(400):
	    kind, line = raw[r * (3 * w + 1)], bytearray(raw[r * (3 * w + 1) + 1:(r + 1) * (3 * w + 1)])
	    up = rows[-1] if rows else bytes(3 * w)
	    for i in range(3 * w):
	        left, above, corner = (line[i - 3] if i > 2 else 0), up[i], (up[i - 3] if i > 2 else 0)
	        p = left + above - corner
	        paeth = min((abs(p - left), 0, left), (abs(p - above), 1, above), (abs(p - corner), 2, corner))[2]
	        line[i] = (line[i] + (0, left, above, (left + above) // 2, paeth)[kind]) & 255
	    rows.append(bytes(line))
	picture = np.array([np.frombuffer(r, np.uint8).reshape(-1, 3) for r in rows]).astype(int)
	background = np.abs(picture - picture[:, :1]).sum(2) > 30
	columns = np.flatnonzero(background.sum(0) > 8)  # not the thin plane
	rows = np.flatnonzero(background[:, (columns[0] + columns[-1]) // 2])
	tall = rows[-1] - rows[0] + 1
	# half a metre of the two that 400 pixels show, less the margin of the camera: in the middle, and as high as wide
	wide, mid = columns[-1] - columns[0] + 1, (columns[0] + columns[-1]) / 2
	assert abs(mid - 199.5) <= 1.5 and 80 < wide <= 101 and abs(tall - wide) <= 2, (mid, wide, tall)
	END
    no_faults
}

@test "simexport: signals of a motion as NumPy reads them" {
    needs_numpy
    done_well simexport motion.npz -q -o a.csv
    done_well simexport scene.json motion.npz -q --coordinates --every 3 -o b.csv
    input=motion.npz done_well simexport - -q -o c.csv
    same_bytes a.csv c.csv 'from standard input'
    "$PYTHON" - <<-'END' || fault 'NumPy says otherwise'
	import csv
	import numpy as np
	f = np.load('motion.npz')
	def series(name):
	    return np.concatenate([f['%s/%06d' % (name, b)] for b in range(3)])
	def table(path):
	    rows = list(csv.DictReader(open(path)))
	    return {k: np.array([float(r[k]) for r in rows]) for k in rows[0]}
	a, b = table('a.csv'), table('b.csv')
	assert len(a['time']) == 10 and (a['time'] == series('time')).all() and (b['time'] == series('time')[::3]).all()
	for i, name in enumerate(('kinetic', 'strain', 'gravity')):
	    assert (a[name] == series('energy')[:, i]).all()
	for i, name in enumerate(('visited', 'passed', 'touching', 'level')):
	    assert (a[name] == series('counts')[:, i]).all()
	assert (a['contacts'] == series('contact/count')).all() and 'arm.q0' not in a
	force, pose = ('fx', 'fy', 'fz', 'tx', 'ty', 'tz'), ('x', 'y', 'z', 'qw', 'qx', 'qy', 'qz')
	for owner in ('coupling', 'device'):
	    assert (np.array([a[owner + '_' + w] for w in force]).T == series(owner)).all()
	assert (np.array([a['hand_' + w] for w in pose]).T == series('hand')).all()
	for i, name in enumerate(('arm', 'table', 'balls[0]', 'balls[1]', 'brick', 'bar')):
	    assert (np.array([a[name + '.' + w] for w in force]).T == series('wrench')[:, i]).all()
	    assert (np.array([b[name + '.' + w] for w in pose]).T == series('pose')[::3, i]).all()
	assert (np.array([b['arm.q%d' % j] for j in range(4)]).T == series('q')[::3]).all()
	assert len(a) == 1 + 3 + 4 + 1 + 7 + 12 + 6 * 6 and len(b) == len(a) + 6 * 7 + 4
	END
    no_faults
}

@test "simexport: a scene in files of ParaView moves and deforms as in the file" {
    needs_numpy
    done_well simexport scene.json motion.npz -q --every 3 -o m.pvd
    [ "$(echo m_*.vtu contacts_m*)" = 'm_0000.vtu m_0001.vtu m_0002.vtu m_0003.vtu contacts_m.pvd contacts_m_0000.vtu contacts_m_0001.vtu contacts_m_0002.vtu contacts_m_0003.vtu' ] ||
        fault "files: $(echo m_*.vtu contacts_m*)"
    grep -q '<DataSet timestep="0.29999999999999999" group="" part="0" file="contacts_m_0001.vtu"/>' contacts_m.pvd || fault 'index of contacts'
    done_well simexport mesh.npz -q -o skin.obj
    "$PYTHON" - <<-'END' || fault 'NumPy says otherwise'
	import re, struct
	import numpy as np
	class Vtu:
	    def __init__(self, path):
	        data = open(path, 'rb').read()
	        self.head, self.body = data[:data.index(b'<AppendedData')].decode(), data[data.index(b'raw">\n_') + 7:]
	    def __getitem__(self, name):
	        kind, offset = re.search(r'type="(\w+)" Name="%s".*offset="(\d+)"' % name, self.head).groups()
	        size, = struct.unpack_from('<Q', self.body, int(offset))
	        return np.frombuffer(self.body, {'Float64': 'f8', 'Int64': 'i8', 'UInt8': 'u1'}[kind], size // {'U': 1}.get(kind[0], 8), int(offset) + 8)
	f, mesh, basis = np.load('motion.npz'), np.load('mesh.npz'), np.load('basis.npz')
	series = lambda name: np.concatenate([f['%s/%06d' % (name, b)] for b in range(3)])
	U = basis['U'][:, :4]
	surface, weights, element = mesh['surface/vertices'], mesh['surface/weights'], mesh['surface/element']
	hexes = mesh['hexes'] if 'hexes' in mesh.files else mesh['hex']
	def carried(u):  # from the vertices of the mesh to those of the surface
	    return np.einsum('ij,ijk->ik', weights, u.reshape(-1, 3)[hexes[element]])
	for i, k in enumerate(range(0, 10, 3)):
	    v = Vtu('m_%04d.vtu' % i)
	    t, x, n = 0.1 * k, v['Points'].reshape(-1, 3), len(surface)
	    assert abs(v['TimeValue'][0] - t) < 1e-15
	    R = np.array([[np.cos(t), -np.sin(t), 0], [np.sin(t), np.cos(t), 0], [0, 0, 1]])
	    at = (surface + carried(U @ series('q')[k])) @ R.T
	    rate = np.cross([0, 0, 1], at) + carried(U @ series('qdot')[k]) @ R.T + [0, 0, 0.1]
	    # rounding of positions of a few metres in double precision
	    assert np.abs(x[:n] - at - [0, 0, 0.1 * t]).max() < 1e-14, np.abs(x[:n] - at - [0, 0, 0.1 * t]).max()
	    assert np.abs(v['velocity'].reshape(-1, 3)[:n] - rate).max() < 1e-14
	    body, model, tri = v['body'], v['model'], v['connectivity'].reshape(-1, 3)
	    assert (model == np.array([0, 1, 2, 2, 3, 4])[body]).all() and (np.diff(body) >= 0).all()
	    ball = x[np.unique(tri[body == 3])]
	    assert np.abs(np.linalg.norm(ball - [1.5, -2, 0.4 * t], axis=1) - 0.4).max() < 1e-14
	    brick = (x[np.unique(tri[body == 4])] - [3, -2, 0.5 + 0.5 * t]) @ R
	    assert np.abs(np.abs(brick) - [0.5, 0.3, 0.2]).max() < 1e-14 and len(brick) == 8
	    square = x[np.unique(tri[body == 1])]
	    assert len(square) == 4 and np.abs(square[:, 2] + 0.5 - 0.2 * t).max() < 1e-14
	    c = Vtu('contacts_m_%04d.vtu' % i)
	    count = 5 if k % 2 else 0
	    assert len(c['types']) == count and (c['types'] == 1).all() and (c['point'] == 7 * np.arange(count)).all()
	    if count:
	        b = np.arange(5)
	        assert (c['Points'].reshape(-1, 3) == np.array([b, 0 * b + k / 10, 0 * b]).T).all()
	        assert (c['force'].reshape(-1, 3) == np.array([0 * b, b, 0 * b + 1 + k / 10]).T).all()
	        assert (c['bodies'].reshape(-1, 2) == np.array([b, b + 1]).T).all()
	END
    no_faults
}

@test "refusals of scenes and motions" {
    sed 's/-9.81/-9.8/' scene.json > other.json
    refused 3 'motion.npz: it was made from another scene \([0-9a-f]{12}…, this one is [0-9a-f]{12}…\)$' simrender other.json motion.npz -q -o out.png
    refused 3 'motion.npz: it was made from another scene' simexport other.json motion.npz -q -o out.csv
    sed 's/mesh.npz/gone.npz/' scene.json > gone.json
    refused 3 'simrender: gone.npz: cannot open: No such file or directory$' simrender gone.json -q -o out.png
    refused 3 'simrender: none.json: cannot open: No such file' simrender none.json -q -o out.png
    refused 3 'simrender: none.npz: cannot open: No such file' simrender scene.json none.npz -q -o out.png
    sed 's/basis.npz/twin-basis.npz/' scene.json > twin.json
    refused 3 'simrender: twin-basis.npz: it was made from another mesh' simrender twin.json -q -o out.png
    sed 's/"r": 4/"r": 40/' scene.json > many.json
    refused 3 'basis.npz: it has 6 columns, model arm asks for 40' simrender many.json -q -o out.png
    sed 's/bar.obj/mesh.npz/' scene.json > surface.json
    refused 3 'simrender: mesh.npz: ' simrender surface.json -q -o out.png
    echo '{"contact"' > cut.json
    refused 3 'simrender: cut.json: ' simrender cut.json -q -o out.png
    refused 2 'a second scene' simrender scene.json other.json motion.npz -q -o out.png
    refused 2 'a second motion' simrender scene.json motion.npz motion.npz -q -o out.png
    refused 3 'traj.npz: with a scene there is its motion' simrender scene.json traj.npz -q -o out.png
    refused 3 'a file of kind scene_trajectory has no displacements' simrender motion.npz -q -o out.png
    refused 2 '10 pictures need a pattern' simrender scene.json motion.npz -q -o out.png
    refused 2 '^simrender: --color applies to a trajectory or columns$' simrender scene.json --color displacement -q -o out.png
    refused 2 '--sheet makes one picture' simrender scene.json motion.npz --sheet 2x2 -q -o out_%d.png
    refused 2 '^simrender: --contacts applies to a scene$' simrender mesh.npz --contacts none -q -o out.png
    refused 2 'there are 10 frames' simrender scene.json motion.npz --frames 10- -q -o out.png
    refused 2 'a scene and its motion go to VTU, CSV, glTF, USD or a web page' simexport scene.json motion.npz --to obj -q -o out.npz
    refused 2 'probes are points of bodies' simexport motion.npz --probe 3 -q -o out.csv
    refused 2 'CSV is of a motion, and none was named' simexport scene.json -q -o out.csv
    refused 2 'name the scene too' simexport motion.npz --to vtu -q -o out.npz
    refused 2 'do not go into one file' simexport scene.json motion.npz --to vtu -q -o -
    no_faults
}

@test "a truncated motion is read up to the last whole block with --partial" {
    needs_numpy
    "$PYTHON" - <<-'END'
	import zipfile
	with zipfile.ZipFile('motion.npz') as z:
	    info = z.getinfo('wrench/000002.npy')
	    end = info.header_offset + 300
	open('cut.npz', 'wb').write(open('motion.npz', 'rb').read()[:end])
	END
    refused 3 'simexport: cut.npz: ' simexport cut.npz -q -o out.csv
    refused 3 'simrender: cut.npz: ' simrender scene.json cut.npz --frames 0 -q -o out.png
    done_well simexport cut.npz --partial -q -o part.csv
    simexport motion.npz -q -o whole.csv
    head -n 9 whole.csv > head.csv
    same_bytes part.csv head.csv 'the first two blocks'
    done_well simrender scene.json cut.npz --partial --frames 7 --size 160x120 -q -o part.png
    done_well simrender scene.json motion.npz --frames 7 --box 0,-3,-1,8,2,2 --size 160x120 -q -o a.png
    done_well simrender scene.json cut.npz --partial --frames 7 --box 0,-3,-1,8,2,2 --size 160x120 -q -o b.png
    same_bytes a.png b.png 'a frame of the part'
    no_faults
}

@test "supple.py joins the blocks of motions" {
    needs_numpy
    PYTHONPATH=$SUPPLE_SOURCE/scripts "$PYTHON" -c '
import numpy as np
from supple import load
f = load("motion.npz")
assert f["pose"].shape == (10, 6, 7) and f["contact/force"].shape == (25, 3) and f["q"].shape == (10, 4), {k: v.shape for k, v in f.items()}
assert not [n for n in f if n.endswith("000000")] and f.kind == "scene_trajectory"' || fault 'supple.py'
    no_faults
}
