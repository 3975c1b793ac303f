#!/usr/bin/env bats
# Bodies made of domains: simpart, interface bases by modes, and their matrices in other programs.

load common

# Cuts mesh.npz across its length into three domains, whose meshes are domain-0.npz, …
slices() {
    done_well simpart mesh.npz --plane 1,0,0,1 --plane 1,0,0,2 --tree -q -o parts.npz
    done_well simpart mesh.npz parts.npz --extract 0-2 -q -o domain-%d.npz
}

assembly() {
    "$PYTHON" "$BATS_TEST_DIRNAME/assembly.py" "$@" > assembly.txt 2>&1 || fault "$*: $(< assembly.txt)"
}

# interior DOMAIN FRAME: the number of coordinates off the interfaces, by the message that refuses more of them.
interior() {
    modes "$1" --interface 'interface-*' --frame "$2" -k 100000 -q -o none.npz 2>&1 | sed 's/.* only \([0-9]*\) .*/\1/'
}

@test "the surfaces of all domains are the surface of the whole: triangles with corners in several domains" {
    local ending=.npz d
    needs_numpy
    # a bar of 10 x 3 x 3 pairs of triangles, none of whose edges are on the planes that divide it
    "$PYTHON" - <<-'END' > fine.obj
	n, index = (10, 3, 3), {}
	def vertex(*p):
	    return index.setdefault(tuple(3 * a / m if k == 0 else a / m for k, (a, m) in enumerate(zip(p, n))), len(index) + 1)
	faces = []
	for k in range(3):
	    i, j = (k + 1) % 3, (k + 2) % 3
	    for side in (0, n[k]):
	        for a in range(n[i]):
	            for b in range(n[j]):
	                quad = []
	                for da, db in ((0, 0), (1, 0), (1, 1), (0, 1)):
	                    p = [0, 0, 0]
	                    p[k], p[i], p[j] = side, a + da, b + db
	                    quad.append(vertex(*p))
	                quad = quad if side else quad[::-1]
	                faces += [quad[:3], [quad[0], quad[2], quad[3]]]
	for p in index:
	    print('v %.17g %.17g %.17g' % p)
	for f in faces:
	    print('f', *f)
	END
    done_well voxelize fine.obj -n 12 --enlarge 1 --fill --fix-half-space 1,0,0,0 -q -o fine.npz
    done_well simpart fine.npz --plane 1,0,0,1 --plane 1,0,0,2 --tree -q -o parts.npz
    done_well simpart fine.npz parts.npz --extract 0-2 -o domain-%d.npz
    "$PYTHON" - "$err" <<-'END' || fault "$err"
	import re, sys
	import numpy as np
	def triangles(m):
	    return m['surface/vertices'][m['surface/triangles']]
	def area(x):
	    return np.linalg.norm(np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0]), axis=1) / 2
	whole, parts = np.load('fine.npz'), [np.load('domain-%d.npz' % d) for d in range(3)]
	x, y = triangles(whole), np.concatenate([triangles(p) for p in parts])
	# each triangle once, with its orientation: 14 m2 of six faces of 3, 3, 3, 3, 1 and 1 m2
	key = lambda t: sorted(tuple(np.roll(c, -np.lexsort(c.T[::-1])[0], axis=0).ravel()) for c in t)
	assert len(x) == len(y) == 2 * (4 * 30 + 2 * 9) and key(x) == key(y)
	assert abs(sum(area(triangles(p)).sum() for p in parts) - 14) < 1e-12
	# the count, and the domain at the centre of each triangle, which no plane passes through
	element, names = whole['surface/element'], whole['hex']
	centre = whole['vertices'][names].mean(1)[:, 0]
	of = np.digitize(centre, (1, 2))
	spans = [len(set(of[element[t]])) > 1 for t in whole['surface/triangles']]
	found = re.search(r'(\d+) of (\d+) triangles of the surface have corners in elements of several domains: each .* up to (\S+) m from', sys.argv[1])
	assert (int(found[1]), int(found[2])) == (sum(spans), len(x)) and sum(spans) > 0
	for d, p in enumerate(parts):
	    c = triangles(p).mean(1)[:, 0]
	    # a centre at a plane is that of either side
	    assert (np.digitize(c, (1 - 1e-9, 2 - 1e-9)) >= d).all() and (np.digitize(c, (1 + 1e-9, 2 + 1e-9)) <= d).all(), d
	# corners are reproduced by their weights, those outside of the elements too, which are as far away as the line says
	gap = 0
	for d, p in enumerate(parts):
	    X, e, w = p['vertices'], p['surface/element'], p['surface/weights']
	    at = X[p['hex'][e]]
	    assert abs((w[:, :, None] * at).sum(1) - p['surface/vertices']).max() < 1e-12 and abs(w.sum(1) - 1).max() < 1e-12
	    low, high = X.min(0), X.max(0)
	    gap = max(gap, np.linalg.norm(np.maximum(0, np.maximum(low - p['surface/vertices'], p['surface/vertices'] - high)), axis=1).max())
	assert 0 < gap <= 0.3 and abs(float(found[3]) - gap) < 1e-3 * gap, (gap, found[3])
	END
    for d in 0 1 2; do
        simverify fine.npz domain-$d.npz > verified 2> err || fault "$(grep FAIL verified; cat err)"
    done
    # domains of --local do not depend on their neighbours
    done_well simpart fine.npz parts.npz --extract 0-2 --local -o local-%d.npz
    "$PYTHON" - "$err" <<-'END' || fault "$err"
	import re, sys
	import numpy as np
	spanning, whole = map(int, re.search(r'(\d+) of (\d+) triangles of the surface have corners in elements of several domains, and are in no mesh of --local', sys.argv[1]).groups())
	assert spanning == whole - sum(len(np.load('local-%d.npz' % d)['surface/triangles']) for d in range(3)) > 0
	END
    done_well simpart fine.npz parts.npz --extract 0-2 -q -t 1 -o again-%d.npz
    same_bytes domain-1.npz again-1.npz 'a second time'
    no_faults
}

@test "domains: a tree of connected domains, put together again the mesh" {
    local ending=.npz count t
    needs_numpy
    for count in 1 2 3 4; do
        done_well simpart mesh.npz --parts $count --tree -o parts.npz
        [[ $err == "simpart: $count domains of "*'; a tree' ]] || fault "$err"
        done_well simpart mesh.npz parts.npz --extract 0-$((count - 1)) -q -o domain-%d.npz
        assembly together parts.npz mesh.npz $(seq -f domain-%g.npz 0 $((count - 1)))
        simverify mesh.npz parts.npz > out || fault "$(grep FAIL out)"
        for t in 1 2 4; do
            done_well simpart mesh.npz --parts $count --tree -q -t $t -o again.npz
            same_bytes parts.npz again.npz "$t threads"
        done
    done
    # one domain is the mesh: nothing but where it comes from differs
    done_well simpart mesh.npz --parts 1 -q -o one.npz
    done_well simpart mesh.npz one.npz --extract 0 -q -o whole.npz
    "$PYTHON" -c "
import numpy as np
simple = lambda f: {n: f[n] for n in f.files if n not in ('meta', 'result', 'kept')}
a, b = simple(np.load('mesh.npz')), simple(np.load('whole.npz'))
assert a.keys() == b.keys() and all(np.array_equal(a[n], b[n]) for n in a)" || fault 'one domain is not the mesh'
    no_faults
}

@test "domains with the same content give the same file" {
    local ending=.npz planes='' x
    needs_numpy
    for x in 0.5 1 1.5 2 2.5; do
        planes+=" --plane 1,0,0,$x"
    done
    done_well simpart mesh.npz $planes -o parts.npz
    [[ $err == 'simpart: 6 domains of 16 to 16 elements, 3 of them distinct; 5 interfaces with 125 vertices; a tree' ]] || fault "$err"
    done_well simpart mesh.npz parts.npz --extract 0-5 --local -q -o slice-%d.npz
    for x in 2 3 4; do
        same_bytes slice-1.npz slice-$x.npz 'inner slices'
    done
    cmp -s slice-0.npz slice-1.npz && fault 'the fixed slice equals one that is not'
    # a file remade by its own script has the same bytes, and places are those of the mesh
    "$PYTHON" - <<-'END' || fault 'same or origin is wrong'
	import json, numpy as np
	parts, mesh = np.load('parts.npz'), np.load('mesh.npz')
	assert parts['same'].tolist() == [0, 1, 1, 1, 1, 5]
	hashes = [json.loads(np.load(f'slice-{d}.npz')['result'].tobytes())['sha256'] for d in range(6)]
	assert all(hashes[d] == hashes[parts['same'][d]] for d in range(6)) and len(set(hashes)) == 3
	for d in range(6):
	    f = np.load(f'slice-{d}.npz')
	    there = mesh['vertices'][np.unique(mesh['hex'][parts['domain'] == d])]
	    assert np.abs(f['vertices'] + parts['origin'][d] - there).max() < 1e-12 and f['vertices'].min() == 0
	    assert [s['name'] for s in json.loads(f['meta'].tobytes())['sets']] == ['interface-1', 'interface-2'][:1 + (0 < d < 5)]
	END
    done_well simpart mesh.npz parts.npz --extract 4 --local --fix-parent -q -o a.npz
    done_well simpart mesh.npz parts.npz --extract 2 --local --fix-parent -q -o b.npz
    same_bytes a.npz b.npz 'inner slices fixed to their parents'
    holds a.npz "m['parameters']['extract'] == '1' and 'kept_from' not in m"
    no_faults
}

@test "assembled without truncation, domains have the frequencies and static answers of the body" {
    local ending=.npz frame d files
    needs_numpy
    "$PYTHON" -c 'import scipy.linalg' 2> out || skip 'no SciPy'
    slices
    modes mesh.npz -k 1 -q --write-stiffness K.npz --write-mass M.npz -o modes-1.npz
    for d in 0 1 2; do
        modes domain-$d.npz -k 1 -q --write-stiffness K-$d.npz --write-mass M-$d.npz -o modes-1.npz
    done
    for frame in rigid average none; do
        for d in 0 1 2; do
            done_well modes domain-$d.npz --interface 'interface-*' --frame $frame -k "$(interior domain-$d.npz $frame)" -q -o basis-$d.npz
            ending=.json done_well simexport domain-$d.npz basis-$d.npz -q -o model-$d.json
        done
        files='mesh.npz K.npz M.npz'
        [ $frame != average ] || files='domain-%d.npz K-%d.npz M-%d.npz'
        assembly frequencies $frame parts.npz $files model-{0,1,2}.json
        assembly statics $frame parts.npz $files model-{0,1,2}.json
    done
    # without modes the static answers are the same
    for d in 0 1 2; do
        done_well modes domain-$d.npz --interface 'interface-*' -k 0 -q -o basis-$d.npz
        simexport domain-$d.npz basis-$d.npz -q -o model-$d.json
    done
    assembly statics rigid parts.npz mesh.npz K.npz M.npz model-{0,1,2}.json
    no_faults
}

@test "interface bases in the programs that follow" {
    local ending=.npz way t
    needs_numpy
    done_well simpart mesh.npz --plane 1,0,0,1 --plane 1,0,0,2 -q -o parts.npz
    done_well simpart mesh.npz parts.npz --extract 0-2 --fix-parent -q -o domain-%d.npz
    # the interface to the parent is at rest and has no coordinates; the leaf has no other
    done_well modes domain-2.npz --interface 'interface-*' -k 3 -q -o leaf.npz
    holds leaf.npz "r['constraint_modes'] == 0 and 'interfaces' not in m"
    done_well modes domain-1.npz --interface 'interface-*' -k 3 -q -o lanczos.npz
    holds lanczos.npz "[i['name'] for i in m['interfaces']] == ['interface-2'] and r['constraint_modes'] == 6 and r['constraint_residual'] < 1e-10"
    for t in 1 4; do
        done_well modes domain-1.npz --interface 'interface-*' -k 3 -q -t $t -o again.npz
        same_bytes lanczos.npz again.npz "$t threads"
    done
    done_well modes domain-1.npz --interface interface-2 --method inertia -q -o inertia.npz
    bases=(lanczos inertia)
    if modes domain-1.npz --interface interface-2 --method krylov -k 3 -q -o krylov.npz; then
        bases+=(krylov)
    fi
    for way in "${bases[@]}"; do
        done_well modalderiv domain-1.npz $way.npz -q -o deriv.npz
        done_well masspca domain-1.npz $way.npz deriv.npz --scaling unit -r 8 -q -o basis.npz
        done_well polycoef domain-1.npz basis.npz -q -o poly.npz
        done_well cubature domain-1.npz basis.npz --poses 40 -q -o cub.npz
        done_well polycoef domain-1.npz $way.npz -q -o poly-$way.npz
        simverify domain-1.npz $way.npz deriv.npz basis.npz poly.npz cub.npz > out || fault "$way: $(grep FAIL out)"
        "$PYTHON" - <<-'END' || fault "$way: the interfaces move in derivatives"
	import json, numpy as np
	f, mesh = np.load('deriv.npz'), np.load('domain-1.npz')
	U = f['U'].reshape(-1, 3, f['U'].shape[1])
	sets = json.loads(mesh['meta'].tobytes())['sets']
	first = sum(s['count'] for s in sets[:[s['name'] for s in sets].index('interface-2')])
	at = mesh['sets/vertices'][first:first + 25]
	assert (U[at] == 0).all() and np.abs(U).max() > 0
	END
    done
    # the whole column moves as a rigid body at the interface, and the matrices come back as polynomials
    ending=.json done_well simexport domain-1.npz lanczos.npz -q -o model.json
    done_well simimport model.json --mesh domain-1.npz --basis lanczos.npz -q -o back.npz
    sed -i 's/"npy": "[^"]*", //' model.json
    done_well simimport model.json -q -o market.npz
    "$PYTHON" - <<-'END' || fault 'the matrices do not come back'
	import numpy as np
	back, market, poly = (np.load(n + '.npz') for n in ('back', 'market', 'poly-lanczos'))
	r = len(back['mass'])
	assert np.array_equal(back['gram'], market['gram']) and np.array_equal(back['mass'], market['mass'])
	for name in 'mass', 'gravity':
	    assert np.abs(back[name] - poly[name]).max() <= 1e-13 * np.abs(poly[name]).max()
	K = poly['gram'][:r, :r]
	assert np.abs(back['gram'][:r, :r] - K).max() <= 1e-12 * np.abs(K).max() and not back['gram'][r:].any()
	END
    no_faults
}

@test "an interface whose mean is at rest" {
    local ending=.npz frame
    needs_numpy
    done_well simpart mesh.npz --plane 1,0,0,1 --plane 1,0,0,2 -q -o parts.npz
    done_well simpart mesh.npz parts.npz --extract 0-2 --name-parent -q -o domain-%d.npz
    for frame in rigid average; do
        # with a rigid frame it is fixed: the basis is that of the domain with fixed vertices
        done_well modes domain-1.npz --interface 'interface-*' --frame $frame --rest interface-parent -k 3 -q -o $frame.npz
        holds $frame.npz "[(i['name'], i['coordinates']) for i in m['interfaces']] == [('interface-parent', 0), ('interface-2', 6)] and r['constraint_modes'] == 6"
        done_well modalderiv domain-1.npz $frame.npz -q -o modal-$frame.npz
        done_well modalderiv domain-1.npz $frame.npz --method inertia -q -o deriv.npz
        holds deriv.npz "[(i['name'], i['coordinates']) for i in m['interfaces']] == [('interface-parent', 0)]"
        done_well masspca domain-1.npz $frame.npz deriv.npz --scaling product --keep-first -r 14 -q -o basis-$frame.npz
        simverify domain-1.npz $frame.npz deriv.npz basis-$frame.npz > out || fault "$frame: $(grep FAIL out)"
        simverify domain-1.npz $frame.npz modal-$frame.npz > out || fault "$frame: $(grep FAIL out)"
    done
    simpart mesh.npz parts.npz --extract 1 --fix-parent -q -o fixed.npz
    modes fixed.npz --interface 'interface-*' -k 3 -q -o fixed-basis.npz
    "$PYTHON" - <<-'END' || fault 'the interface is not at rest'
	import json, numpy as np
	mesh = np.load('domain-1.npz')
	sets = {s['name']: s['count'] for s in json.loads(mesh['meta'].tobytes())['sets']}
	first = 0
	for name, count in sets.items():
	    if name == 'interface-parent':
	        at = mesh['sets/vertices'][first:first + count]
	    first += count
	rigid, fixed = np.load('rigid.npz')['U'], np.load('fixed-basis.npz')['U']
	assert np.abs(rigid - fixed).max() < 1e-9 * np.abs(fixed).max() # the same body, of another factorization
	# shares of a square of 4 x 4 faces, and the mean motion by least squares
	X = mesh['vertices'][at]
	inner = lambda x: np.where((x == x.min()) | (x == x.max()), 1, 2)
	share = inner(X[:, 1]) * inner(X[:, 2]) / 64
	R = X - share @ X
	rows = np.concatenate([np.tile(np.eye(3), (len(at), 1)), np.cross(np.eye(3)[None], R[:, None]).transpose(0, 2, 1).reshape(-1, 3)], 1)
	W = np.repeat(share, 3)[:, None]
	for name in 'average', 'modal-average', 'basis-average':
	    U = np.load(name + '.npz')['U']
	    there = U.reshape(-1, 3, U.shape[1])[at].reshape(-1, U.shape[1])
	    mean = np.linalg.solve(rows.T @ (W * rows), rows.T @ (W * there))
	    assert np.abs(mean).max() < 1e-11 * np.abs(U).max() and np.abs(there).max() > 1e-3 * np.abs(U).max(), name
	END
    # a superelement has the other interface only; a leaf has none
    ending=.json done_well simexport domain-1.npz average.npz -q -o model.json
    "$PYTHON" -c "import json; m = json.load(open('model.json')); assert [i['name'] for i in m['interfaces']] == ['interface-2']" || fault 'model.json'
    done_well modes domain-2.npz --interface interface-parent --rest 'interface-*' --frame average -k 5 --ritz -q -o leaf.npz
    refused 3 'leaf.npz: it has no interface coordinates' simexport domain-2.npz leaf.npz -o out.json
    done_well modalderiv domain-2.npz leaf.npz --method inertia -q -o whole.npz
    refused 2 '--rest: no interface of --interface is called "interface-7"' modes domain-1.npz --interface 'interface-*' --rest interface-7 -o out.npz
    refused 2 '--rest applies with --interface' modes domain-1.npz --rest interface-2 -o out.npz
    no_faults
}

@test "OpenFAST's external superelement" {
    local ending=.dat
    needs_numpy
    slices
    modes domain-2.npz --interface interface-1 -k 2 -q -o basis.npz
    done_well simexport domain-2.npz basis.npz --to extptfm --gravity 0,0,-9.81 -q -o superelement.dat
    simexport domain-2.npz basis.npz -q -o model.json
    # as the module reads it: lines that begin with an exclamation mark are keywords and comments
    "$PYTHON" - <<-'END' || fault 'not the matrices'
	import numpy as np
	lines = open('superelement.dat').read().splitlines()
	assert lines[0][0] == '!' and 'flex 5 format' in lines[1].lower()
	value = lambda word: float(next(l for l in lines if l.lower().startswith(word)).split(':')[1])
	n, dt, T = int(value('!dimension')), value('!time increment in simulation'), value('!total simulation time in file')
	assert n == 8
	def rows(word, count):
	    at = next(i for i, l in enumerate(lines) if l.lower().startswith(word))
	    return np.array([[float(x) for x in l.split()] for l in lines[at + 2:at + 2 + count]])
	for word, name in (('!mass matrix', 'mass'), ('!stiffness matrix', 'stiffness')):
	    assert np.array_equal(rows(word, n), np.load(f'model-{name}.npy'))
	assert not rows('!damping matrix', n).any()
	load = rows('!loading', int(T / dt) + 1)
	assert load.shape == (2, n + 2) and load[:, 0].tolist() == [0, T] and not load[:, -1].any()
	assert np.allclose(load[0, 1:-1], np.load('model-gravity.npy') @ [0, 0, -9.81], rtol=1e-14, atol=1e-12)
	# the force at the interface is the weight of all: constraint modes of translation are rigid motions
	mass = 1000 * 4
	assert abs(np.load('model-mass.npy')[2, 2] / np.load('model-gravity.npy')[2, 2] - 1) < 1e-12
	END
    modes domain-1.npz --interface 'interface-*' -k 2 -q -o basis.npz
    refused 3 "one interface of 6 coordinates, the basis has 2 of 12" simexport domain-1.npz basis.npz --to extptfm -o out.dat
    no_faults
}

@test "refusals of simpart" {
    local ending=.npz
    needs_numpy
    refused 2 'nothing says how to divide' simpart mesh.npz -o out.npz
    refused 2 'three ways to divide' simpart mesh.npz --parts 2 --regions -o out.npz
    refused 2 'three ways to divide' simpart mesh.npz --parts 2 --plane 1,0,0,1 -o out.npz
    refused 2 '--pieces ' simpart mesh.npz --parts 2 --pieces -o out.npz
    refused 2 '--extract ' simpart mesh.npz --parts 2 --extract 1 -o out.npz
    refused 3 '96 elements cannot be divided into 97 domains' simpart mesh.npz --parts 97 -o out.npz
    refused 3 'mesh.npz: it divides into [0-9]+ domains, not into 40, without a cut through their interfaces' simpart mesh.npz --parts 40 -o out.npz
    "$PYTHON" - <<-'END'
	import numpy as np
	f = np.load('mesh.npz')
	x = f['vertices'][f['hex']].mean(1)
	save = lambda name, side: np.save(name + '.npy', side.astype(float))
	save('parted', (abs(x[:, 0] - 1.5) < 0.5) * 1)
	quarter = 2 * (x[:, 1] > x[:, 1].mean()) + (x[:, 2] > x[:, 2].mean())
	save('quarters', quarter)
	save('corner', np.where(x[:, 0] < 1.5, 0, np.where((quarter == 0), 1, np.where(quarter == 3, 2, 0))))
	END
    refused 3 'mesh.npz: domain 0 is not connected: no common face joins its 2 pieces' simpart mesh.npz --sides parted.npy -o out.npz
    refused 3 'domains 0 and 3 share 7 vertices on one line' simpart mesh.npz --sides quarters.npy -o out.npz
    done_well simpart mesh.npz --sides parted.npy --pieces -o three.npz
    [[ $err == *': 3 domains of '* ]] || fault "$err"
    # a mesh of two pieces, and domains of one of which only one meets others
    simcut mesh.npz --plane 1,0,0,1.5 -q -o pair.npz
    refused 3 'pair.npz: its elements are 2 pieces that no common face joins' simpart pair.npz --parts 2 -o out.npz
    refused 3 'pair.npz: domain 0 has no interface: it shares no vertex' simpart pair.npz --plane 1,0,0,1.5 -o out.npz
    refused 3 'pair.npz: the domains do not all meet: from domain 0 only 2 of 4' simpart pair.npz --plane 1,0,0,1.5 --plane 1,0,0,1 --plane 1,0,0,2 -o out.npz
    refused 2 '--root: vertex 99999 of 175' simpart mesh.npz --parts 2 --root 99999 -o out.npz
    done_well simpart mesh.npz --parts 3 --root near:3,0,0 -q -o parts.npz
    holds parts.npz "r['tree']"
    refused 2 '--extract is missing' simpart mesh.npz parts.npz -o out.npz
    refused 2 '3 domains need a pattern' simpart mesh.npz parts.npz --extract 0-2 -o out.npz
    refused 2 '--extract: 3 is out of range' simpart mesh.npz parts.npz --extract 3 -o out.npz
    refused 3 'parts.npz: it was made from another mesh' simpart pair.npz parts.npz --extract 0 -o out.npz
    refused 2 '--parts ' simpart mesh.npz parts.npz --extract 0 --parts 2 -o out.npz
    # files whose hash is valid and whose content is wrong
    "$PYTHON" - <<-'END'
	import json, numpy as np
	f = dict(np.load('parts.npz'))
	meta = json.loads(f.pop('meta').tobytes())
	f.pop('result')
	del meta['tool']
	def save(name, **change):
	    np.savez(name, meta=np.frombuffer(json.dumps(meta).encode(), 'u1'), **{**f, **change})
	save('empty.npz', domain=np.minimum(f['domain'], 1))
	vertices = f['interface_vertices'].copy()
	vertices[0] = 0 if f['domain'][0] != 0 else 174 # not of both domains
	save('elsewhere.npz', interface_vertices=np.concatenate([np.sort(vertices[:25]), vertices[25:]]))
	save('beyond.npz', interface_vertices=np.concatenate([vertices[:-1], [175]]))
	END
    refused 3 'empty.npz: domain: domain 2 has no element' simpart mesh.npz empty.npz --extract 0 -o out.npz
    refused 3 'the interface of domains [0-9] and [0-9] has vertex [0-9]+, which domain [0-9] does not have' simpart mesh.npz elsewhere.npz --extract 1 -o out.npz
    refused 3 'beyond.npz: interface_vertices: entry 49 is vertex 175 of 175' simpart mesh.npz beyond.npz --extract 0 -o out.npz
    head -c 900 parts.npz > cut.npz
    refused 3 'cut.npz: ' simpart mesh.npz cut.npz --extract 0 -o out.npz
    done_well simpart mesh.npz parts.npz --extract 1 -q -o d.npz
    done_well simpart d.npz --parts 2 -q -o dd.npz
    no_faults
}

@test "a ring has a loop" {
    local ending=.npz
    needs_numpy
    # a square ring of 12 cubes
    "$PYTHON" - > ring.inp <<-'END'
	n = lambda i, j, k: 1 + i + 5 * (j + 5 * k)
	print('*NODE')
	cells = [(i, j) for j in range(4) for i in range(4) if not (0 < i < 3 and 0 < j < 3)]
	used = {n(i + a, j + b, k) for i, j in cells for a in (0, 1) for b in (0, 1) for k in (0, 1)}
	for k in range(2):
	    for j in range(5):
	        for i in range(5):
	            if n(i, j, k) in used:
	                print(n(i, j, k), i, j, k, sep=', ')
	print('*ELEMENT, TYPE=C3D8')
	for e, (i, j) in enumerate(cells):
	    print(e + 1, *(n(i + a, j + b, k) for k in (0, 1) for a, b in ((0, 0), (1, 0), (1, 1), (0, 1))), sep=', ')
	END
    simimport ring.inp -q -o ring.npz
    done_well simpart ring.npz --plane 1,0,0,2 -o halves.npz
    [[ $err == *'a loop remains: the interface of domains 0 and 1 is in 2 pieces'* ]] || fault "$err"
    refused 3 '--tree: a loop remains: the interface of domains 0 and 1 is in 2 pieces' simpart ring.npz --plane 1,0,0,2 --tree -o out.npz
    refused 3 '--tree: a loop remains: the 4 domains have 4 interfaces, a tree has 3' simpart ring.npz --plane 1,0,0,2 --plane 0,1,0,2 --tree -o out.npz
    done_well simpart ring.npz --plane 1,0,0,2 --plane 0,1,0,2 -q -o quarters.npz
    # the automatic division of a ring has one loop and no vertex in three domains
    done_well simpart ring.npz --parts 3 -o thirds.npz
    [[ $err == *'a loop remains: the 3 domains have 3 interfaces, a tree has 2'* ]] || fault "$err"
    refused 3 '--tree: a loop remains' simpart ring.npz --parts 3 --tree -o out.npz
    refused 3 'quarters.npz: --fix-parent: the graph of the domains is no tree' simpart ring.npz quarters.npz --extract 0 --fix-parent -o out.npz
    no_faults
}

@test "refusals of interfaces" {
    local ending=.npz
    local word text
    needs_numpy
    slices
    refused 2 '--interface: the mesh has no set of vertices or faces "interface-7", only ' modes domain-1.npz --interface interface-7 -o out.npz
    # a set of faces is as good as the set of its vertices
    printf '*NODE\n1,0,0,0\n2,1,0,0\n3,1,1,0\n4,0,1,0\n5,0,0,1\n6,1,0,1\n7,1,1,1\n8,0,1,1\n*ELEMENT,TYPE=C3D8,ELSET=E\n1,1,2,3,4,5,6,7,8\n*NSET,NSET=nodes\n1,2,3,4\n*SURFACE,NAME=wall\nE,S1\n' > cube.inp
    done_well simimport cube.inp -q -o cube.npz
    done_well modes cube.npz --interface wall -k 3 -q -o wall.npz
    done_well modes cube.npz --interface nodes -k 3 -q -o nodes.npz
    cmp <(unzip -p wall.npz U.npy) <(unzip -p nodes.npz U.npy) || fault 'faces and their vertices differ'
    done_well modes cube.npz --interface 'wa*' -k 3 -q -o wall.npz
    refused 2 '--frame ' modes domain-1.npz --frame rigid -o out.npz
    refused 2 '--derivatives ' modes domain-1.npz --interface 'interface-*' --derivatives d.npz -o out.npz
    refused 2 '--count: 0 is out of range' modes domain-1.npz -k 0 -o out.npz
    refused 2 '--count 1000: the mesh has only [0-9]+ free degrees of freedom off its interfaces' modes domain-1.npz --interface 'interface-*' -k 1000 -o out.npz
    done_well simpart mesh.npz parts.npz --extract 1 --fix-parent -q -o held.npz
    refused 3 'interface "interface-0": vertex [0-9]+ is fixed' modes held.npz --interface interface-0 -k 1 -o out.npz
    # a leaf on one frame moves as a whole with it
    done_well modes domain-2.npz --interface interface-1 -k 2 -q -o leaf.npz
    refused 3 'leaf.npz: column 1 has the Rayleigh quotient' modalderiv domain-2.npz leaf.npz --method inertia -o out.npz
    done_well modes domain-1.npz -k 8 -q -o free.npz
    ending=.json refused 3 'free.npz: it has no interface coordinates' simexport domain-1.npz free.npz -o out.json
    refused 2 '-o -: a superelement has several files' simexport domain-2.npz leaf.npz --to superelement -o -
    simexport domain-2.npz leaf.npz -q -o model.json
    sed 's/supple superelement/other/' model.json > other.json
    refused 3 'other.json: its format is "other"' simimport other.json -o out.npz
    sed 's/"coordinates": 8/"coordinates": 7/' model.json > other.json
    refused 3 'model-mass.npy: it is 8 by 8, expected 7 by 7' simimport other.json -o out.npz
    sed 's/model-mass/..\/model-mass/' model.json > other.json
    refused 3 'is not beside it' simimport other.json -o out.npz
    sed 's/"npy": "[^"]*"/"npy": 3/' model.json > other.json
    refused 3 'other.json: matrices[.]mass[.]npy: a number, expected a name' simimport other.json -o out.npz
    # a mass that is none, and a stiffness that lets the body run away
    simimport model.json --mesh domain-2.npz --basis leaf.npz -q -o whole.npz || fault "its own mesh and basis"
    "$PYTHON" - <<-'END'
	import struct
	def change(name, to, change):
	    d = bytearray(open(name, 'rb').read())
	    at = 10 + d[8] + 256 * d[9]
	    r = int(((len(d) - at) // 8) ** 0.5)
	    for i in range(r * r):
	        struct.pack_into('<d', d, at + 8 * i, change(i // r, i % r, struct.unpack_from('<d', d, at + 8 * i)[0]))
	    open(to, 'wb').write(d)
	change('model-mass.npy', 'negative.npy', lambda i, j, x: -x)
	change('model-mass.npy', 'zero.npy', lambda i, j, x: 0)
	change('model-mass.npy', 'singular.npy', lambda i, j, x: 1)
	change('model-stiffness.npy', 'falls.npy', lambda i, j, x: -x)
	change('model-stiffness.npy', 'twice.npy', lambda i, j, x: 2 * x)
	END
    for word in negative zero singular; do
        sed "s/model-mass.npy/$word.npy/" model.json > other.json
        refused 3 '^simimport: other.json: the mass matrix is not positive definite: ' simimport other.json -o out.npz
    done
    sed 's/model-stiffness.npy/falls.npy/' model.json > other.json
    done_well simimport other.json -o falls.npz
    [[ $err == *'the stiffness is not positive semidefinite: its least eigenvalue is -'* ]] || fault "no word on the stiffness: $err"
    sed 's/model-stiffness.npy/twice.npy/' model.json > other.json
    done_well simimport other.json -q -o twice.npz
    refused 3 "other.json: its linear part is not U'KU of domain-2.npz and leaf.npz: they differ by 1[.]0e[+]00" simimport other.json --mesh domain-2.npz --basis leaf.npz -o out.npz
    # every key is checked, also those that are not used
    while IFS='|' read -r word text; do
        sed -E "$word" model.json > other.json
        cmp -s model.json other.json && fault "$word changes nothing"
        refused 3 "^simimport: other.json: .*$text" simimport other.json -o out.npz
    done <<- 'END'
	s/"format_version"/"more": 1, "format_version"/|more
	s/"npy": "model-mass.npy"/"npz": "a", "npy": "model-mass.npy"/|npz
	s/"interfaces": \[/"interfaces": 3, "x": [/|x
	s/"frame": "[a-z]*"/"frame": 1/|frame
	s/"frame": "[a-z]*"/"frame": "fixed"/|frame
	s/"origin": \[[^,]*/"origin": [1e300/|origin
	s/"origin": \[[^,]*/"origin": ["z"/|origin
	s/"vertices": \[[0-9]+/"vertices": [-1/|vertices
	s/"vertices": \[[0-9]+/"vertices": ["z"/|vertices
	s/"vertices": \[([0-9]+), ([0-9]+)/"vertices": [\2, \1/|increasing
	s/"first": 0/"first": 1/|expected from 0 on
	s/"coordinates": 6/"coordinates": 7/|has 6 coordinates
	s/"name": "[^"]*"/"name": 3/|name
	END
    echo '{' > other.json
    refused 3 'other.json: line' simimport other.json -o out.npz
    refused 3 'model.json: it was made from another mesh' simimport model.json --mesh mesh.npz -o out.npz
    no_faults
}
