#!/usr/bin/env bats
# pointshell, and other programs on its files.

load common

# holds FILE EXPRESSION: true for the arrays in f, meta and result. Skipped without NumPy.
holds() {
    "$PYTHON" -c 'import numpy' 2> /dev/null || return 0
    "$PYTHON" - "$@" <<-'END' || fault "$1: not $2"
	import json, sys, numpy as np
	f = np.load(sys.argv[1])
	meta, result = (json.loads(f[n].tobytes()) for n in ('meta', 'result'))
	p, n, level, parent, radius = (f[m] for m in ('points', 'normals', 'level', 'parent', 'radius'))
	c = np.array([(level <= k).sum() for k in range(1, level.max() + 1)])
	# distance to the bar of data.bash, [0,3] x [0,1] x [0,1]
	q = np.abs(p - [1.5, .5, .5]) - [1.5, .5, .5]
	bar = np.where((q <= 0).all(1), q.max(1), np.sqrt((np.maximum(q, 0) ** 2).sum(1)))
	sys.exit(0 if eval(sys.argv[2]) else 1)
	END
}

@test "points on a box in levels, with a tree" {
    done_well pointshell bar.obj --points 850 --levels 4 -o s.npz
    holds s.npz "list(c) == [10, 50, 210, 850] == result['level_points'] and len(p) == meta['points'] == 850"
    holds s.npz "np.abs(bar).max() < 1e-12 and np.abs((n ** 2).sum(1) - 1).max() < 1e-12 and abs(f['area'].sum() - 14) < 1e-9 and meta['surface'] == 'model'"
    # normals point inward: a step along them ends inside
    holds s.npz "(np.abs(p + 1e-6 * n - [1.5, .5, .5]) < [1.5, .5, .5]).all()"
    # nearest parents, and spheres that contain all points below, by brute force
    holds s.npz "all(parent[i] == -1 if level[i] == 1 else np.argmin(((p[:c[level[i] - 2]] - p[i]) ** 2).sum(1)) == parent[i] for i in range(850))"
    holds s.npz "len(radius) == 270 and all(np.linalg.norm(p[np.where((parent == i) & (level == 4))[0]] - p[i], axis=1).max(initial=0) <= radius[60 + i] for i in range(210))"
    # nearest neighbours among normals within 120 degrees: more even than random ones
    holds s.npz "(lambda d: d.std() / d.mean())(np.sqrt(np.min(((p[:, None] - p[None]) ** 2).sum(2) + 9 * ((n @ n.T < -.5) | np.eye(850, dtype=bool)), 1))) < 0.2"
    holds s.npz "abs((lambda d: d.std() / d.mean())(np.sqrt(np.min(((p[:, None] - p[None]) ** 2).sum(2) + 9 * ((n @ n.T < -.5) | np.eye(850, dtype=bool)), 1))) - result['spread'][3]) < 1e-9"
    pointshell - -q --points 850 --levels 4 -o piped.npz < bar.obj
    holds piped.npz "(p == np.load('s.npz')['points']).all()"
    done_well pointshell bar.obj --points 210 --levels 3 -o coarse.npz
    holds coarse.npz "(p == np.load('s.npz')['points'][:210]).all()"
    no_faults
}

@test "every method" {
    local method
    for method in vertices samples voxels depth farthest repulsion; do
        done_well pointshell mesh.npz --basis basis.npz --method $method --points 120 -o $method.npz
        holds $method.npz "(np.abs(bar).max() < 1e-12 or '$method' == 'voxels') and len(meta['mesh']) == len(meta['basis']) == 64"
        ending= done_well simverify $method.npz mesh.npz
    done
    holds vertices.npz "len(p) == 8 and np.abs(np.abs(n) - 3 ** -.5).max() < 1e-12"
    holds voxels.npz "len(p) == 120 and (np.diff(np.sort(np.unique(p[:, 0].round(9)))) > 0.04).all()"
    done_well pointshell mesh.npz --method depth --cells 12 -o d.npz
    holds d.npz "len(p) == 2 * (4 * 4 + 12 * 4 + 12 * 4) and list(c)[:2] == [8, 72]"
    no_faults
}

@test "offsets of sheets, and fields" {
    printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n' > one.obj
    done_well pointshell one.obj --points 900 -o a.npz
    holds a.npz "meta['surface'] == 'offset' and abs(meta['offset'] - 1.4 / 256) < 1e-12 and (n[:, 2] > .99).sum() > 350 and (n[:, 2] < -.99).sum() > 350"
    holds a.npz "np.abs(np.abs(p[np.abs(n[:, 2]) > .999999][:, 2]) - meta['offset']).max() < 1e-9"
    done_well pointshell bar.obj --offset 0.2 --points 400 -o b.npz
    holds b.npz "np.abs(bar - 0.2).max() < 1e-9"
    distfield bar.obj -q -n 30 -o f.npz
    done_well pointshell f.npz --points 300 -o c.npz
    holds c.npz "np.abs(bar).max() < 0.15 and meta['surface'] == 'field'"
    done_well pointshell mesh.npz --field f.npz --basis basis.npz --offset 0.1 --points 300 -o d.npz
    holds d.npz "np.abs(bar - 0.1).max() < 0.15 and f['Us'].shape == (300, 3, 6) and result['outside'] > 0"
    distfield bar.obj -q -n 30 --sign none -o u.npz
    done_well pointshell u.npz --points 300 -o e.npz
    holds e.npz "np.abs(bar - 0.21).max() < 0.15"
    no_faults
}

@test "motion with a basis" {
    done_well pointshell mesh.npz --basis basis.npz --points 400 -o s.npz
    holds s.npz "f['Us'].shape == f['dNs'].shape == (400, 3, 6) and f['a'].shape == (len(radius), 6) and meta['r'] == 6 and 'dTs' not in f.files"
    # a linear displacement field of a free mesh is that of the points
    "$PYTHON" -c 'import numpy' 2> /dev/null || { no_faults; return; }
    "$PYTHON" - <<-'END'
	import numpy as np
	x = np.load('free.npz')['vertices']
	A = np.array([[.1, .2, .3], [-.4, .5, .6], [.7, -.8, .9]])
	np.savez('linear.npz', U=np.asfortranarray((x @ A.T + [1, 2, 3]).reshape(-1, 1)))
	END
    pointshell free.npz -q --basis linear.npz --points 400 --normals tangents -o l.npz
    # Tangents t1 and t2 by the rule of the format: F t1 x F t2 is along F^-T N, F = 1 + 0.3 A.
    cat > tangents.py <<-'END'
	import numpy as np
	s = np.load('l.npz')
	A, N = np.array([[.1, .2, .3], [-.4, .5, .6], [.7, -.8, .9]]), s['normals']
	t1 = np.cross(np.eye(3)[np.abs(N).argmin(1)], N)
	t1 /= np.linalg.norm(t1, axis=1)[:, None]
	t = np.stack([t1, np.cross(N, t1)], 1)
	assert s['dTs'].shape == (400, 2, 3, 1) and np.abs(s['dTs'][..., 0] - t @ A.T).max() < 1e-12
	t = t + s['dTs'] @ [.3]
	normal = np.cross(t[:, 0], t[:, 1])
	true = N @ np.linalg.inv(np.eye(3) + .3 * A)
	assert np.abs(normal / np.linalg.norm(normal, axis=1)[:, None] - true / np.linalg.norm(true, axis=1)[:, None]).max() < 1e-12
	END
    "$PYTHON" tangents.py || fault "tangents"
    pointshell free.npz -q --basis linear.npz --points 400 -o plain.npz
    holds plain.npz "all((f[k] == np.load('l.npz')[k]).all() for k in ('points', 'normals', 'Us', 'dNs', 'a'))"
    holds l.npz "(lambda A: np.abs(f['Us'][:, :, 0] - p @ A.T - [1, 2, 3]).max() < 1e-12 and np.abs(f['dNs'][:, :, 0] - n @ A.T).max() < 1e-12)(np.array([[.1, .2, .3], [-.4, .5, .6], [.7, -.8, .9]]))"
    no_faults
}

@test "a basis that moves fixed vertices does not move the points there" {
    "$PYTHON" -c 'import numpy' 2> /dev/null || skip "no NumPy"
    "$PYTHON" - <<-'END'
	import numpy as np
	mesh = np.load('mesh.npz')
	x, held = mesh['vertices'], mesh['fixed']
	U = np.stack([np.sin(x), np.cos(x)], -1)
	assert len(held) and 'fixed_axes' not in mesh.files
	np.savez('moving.npz', U=np.asfortranarray(U.reshape(-1, 2)))
	U[held] = 0
	np.savez('still.npz', U=np.asfortranarray(U.reshape(-1, 2)))
	END
    ending=.npz
    for basis in moving still; do
        done_well pointshell mesh.npz --basis $basis.npz --points 60 --normals tangents -o $basis-shell.npz
        [ $basis = moving ] && [[ $err != *'moving.npz: it moves fixed vertices'* ]] && fault "no word of it: $err"
        [ $basis = still ] && [[ $err == *'moves fixed vertices'* ]] && fault "what moves? $err"
        distfield mesh.npz -q -n 6 --basis $basis.npz --coordinates 0.1,-0.2 -o $basis-field.npz
        ending= done_well simverify $basis-shell.npz mesh.npz $basis.npz
        grep -q 'displacements of points anew' "$stdout" || fault "simverify: $(< "$stdout")"
    done
    ending= done_well simcompare moving-shell.npz still-shell.npz
    ending= done_well simcompare moving-field.npz still-field.npz
    no_faults
}

@test "errors of normals in a motion" {
    pointshell mesh.npz -q --basis basis.npz --points 60 -o plain.npz
    refused 3 'plain.npz: it has no tangents' simexport plain.npz traj.npz --to csv -o out.npz
    modes mesh.npz -q -k 2 -o two.npz
    pointshell mesh.npz -q --basis two.npz --normals tangents --points 60 -o two-shell.npz
    refused 3 'two-shell.npz: it was made from another basis' simexport two-shell.npz traj.npz --to csv -o out.npz
    refused 3 'mesh.npz: normals are those of a pointshell in a trajectory' simexport mesh.npz shell.npz --to csv -o out.npz
    refused 2 '--coordinates applies to a trajectory or a scene' simexport shell.npz traj.npz --to csv --coordinates -o out.npz
    ending=.csv
    done_well simexport shell.npz traj.npz -o all.csv
    done_well simexport traj.npz shell.npz --frames 1- --every 3 -o some.csv
    [ "$(awk 'NR == 1 || NR % 3 == 0' all.csv)" = "$(< some.csv)" ] || fault "--frames and --every choose others"
    "$PYTHON" -c 'import numpy' 2> /dev/null || { no_faults; return; }
    # a homogeneous deformation F = 1 + q A with one coordinate q
    "$PYTHON" - <<-'END'
	import numpy as np
	A = np.array([[.1, .2, .3], [-.4, .5, .6], [.7, -.8, .9]])
	np.savez('linear.npz', U=np.asfortranarray((np.load('free.npz')['vertices'] @ A.T).reshape(-1, 1)))
	END
    printf 't0,t1,kind,id,fx,fy,fz\n0,1,vertex,0,-1e8,-1e8,0\n' > pull.csv
    pointshell free.npz -q --basis linear.npz --method samples --points 400 --normals tangents -o l.npz # random points, of which no two neighbours are collinear
    simulate free.npz -q --model galerkin --basis linear.npz --loads pull.csv --dt 0.001 --steps 10 --every 5 -o stretched.npz
    simexport stretched.npz -q --coordinates -o q.csv
    done_well simexport l.npz stretched.npz -o n.csv
    # Angles between F^-T N and three estimates, by brute force: F N, the point cloud (weights of thesis eq. 3.9), and products of neighbours ordered
    # by their angle.
    cat > angles.py <<-'END'
	import numpy as np
	A, s = np.array([[.1, .2, .3], [-.4, .5, .6], [.7, -.8, .9]]), np.load('l.npz')
	q = np.loadtxt('q.csv', delimiter=',', skiprows=1)[:, 5]
	got = np.genfromtxt('n.csv', delimiter=',', names=True)
	P, N = s['points'], s['normals']
	t1 = np.cross(np.eye(3)[np.abs(N).argmin(1)], N)
	t1 /= np.linalg.norm(t1, axis=1)[:, None]
	t2 = np.cross(N, t1)
	square = ((P[:, None] - P[None]) ** 2).sum(2)
	square[np.eye(len(P), dtype=bool) | (N @ N.T < -.5)] = np.inf
	near = np.argsort(square, 1)[:, :12]
	d = np.take_along_axis(square, near, 1)
	weight = (1 - d / (2.25 * d[:, -1:])) ** 2
	rest = P[near] - P[:, None]
	x, y = (rest * t1[:, None]).sum(2), (rest * t2[:, None]).sum(2)
	order = np.argsort(np.arctan2(y, x), 1)
	x, y = np.take_along_axis(x, order, 1), np.take_along_axis(y, order, 1)
	turns = x * np.roll(y, -1, 1) - y * np.roll(x, -1, 1) > 0
	unit = lambda v: v / np.linalg.norm(v, axis=1)[:, None]
	assert len(q) == len(got) == 3 and abs(q[-1]) > .05, q
	for i in range(3):
	    F = np.eye(3) + q[i] * A
	    true, gradient, way = unit(N @ np.linalg.inv(F)), unit(N @ F.T), rest @ F.T
	    cloud = np.linalg.eigh(np.einsum('pn,pni,pnj->pij', weight, way, way))[1][:, :, 0]
	    cloud *= np.sign((cloud * gradient).sum(1))[:, None]
	    around = np.take_along_axis(way, order[:, :, None], 1)
	    neighbours = unit((np.cross(around, np.roll(around, -1, 1)) * turns[:, :, None]).sum(1))
	    for name, v in (('gradient', gradient), ('cloud', cloud), ('neighbours', neighbours)):
	        angle = np.degrees(np.arctan2(np.linalg.norm(np.cross(v, true), axis=1), (v * true).sum(1)))
	        off = abs(got[name + '_mean'][i] - angle.mean()), abs(got[name + '_largest'][i] - angle.max())
	        assert max(off) < 1e-7, (i, name, off, angle.mean(), angle.max())
	assert got['gradient_largest'][0] == 0 and got['gradient_largest'][2] > 3 and got['gradient_mean'][2] > 1, got
	END
    "$PYTHON" angles.py || fault "$(< n.csv)"
    no_faults
}

@test "the same bytes for any number of threads, other bytes for another seed" {
    local threads
    for threads in 1 2 4; do
        pointshell mesh.npz -q --basis basis.npz --points 500 -t $threads -o $threads.npz
    done
    same_bytes 1.npz 2.npz "2 threads"
    same_bytes 1.npz 4.npz "4 threads"
    pointshell mesh.npz -q --basis basis.npz --points 500 --seed 2 -o other.npz
    ! cmp -s 1.npz other.npz || fault "seed 2 gives the same"
    no_faults
}

@test "pointshell: usage errors and models without a surface" {
    printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n' > one.obj
    printf 'v 1 1 1\nv 1 1 1\nv 1 1 1\nf 1 2 3\n' > point.obj
    refused 2 '^pointshell: --cells applies to --method voxels or depth$' pointshell bar.obj --cells 9 -o out.npz
    refused 2 '^pointshell: --iterations applies to --method repulsion$' pointshell bar.obj --method vertices --iterations 9 -o out.npz
    refused 2 '^pointshell: --normals applies with --basis$' pointshell mesh.npz --normals tangents -o out.npz
    refused 2 '^pointshell: --basis applies to a mesh$' pointshell bar.obj --basis basis.npz -o out.npz
    refused 2 '^pointshell: --field applies to a mesh$' pointshell bar.obj --field field.npz -o out.npz
    refused 2 '20 points are too few for 5 levels' pointshell bar.obj --points 20 --levels 5 -o out.npz
    refused 2 '--offset: .*out of range' pointshell bar.obj --offset -1 -o out.npz
    refused 3 'one.obj: the model is open \(3 open edges' pointshell one.obj --offset 0 -o out.npz
    refused 3 'one.obj: an offset of 1e-05 m .* more than 1024 cells' pointshell one.obj --offset 0.00001 -o out.npz
    # the smallest offset that is named works, and a little less does not
    [[ $err =~ 'the smallest is '([0-9.e-]+)' m' ]] || fault "no smallest offset: $err"
    done_well pointshell one.obj --offset "${BASH_REMATCH[1]}" --points 20 --levels 1 -q -o least.npz
    refused 3 'more than 1024 cells' pointshell one.obj --offset "$(awk "BEGIN { print 0.999 * ${BASH_REMATCH[1]} }")" -o out.npz
    refused 3 'point.obj: the model has no usable extent' pointshell point.obj -o out.npz
    refused 3 'other-basis.npz: .*' pointshell mesh.npz --basis other-basis.npz -o out.npz
    refused 3 'modes.npz: .*modes.*mesh' pointshell modes.npz -o out.npz
    refused 3 'field.npz: the surface at 0.9 m meets the box' pointshell field.npz --offset 0.9 -o out.npz
    refused 3 'field.npz: no point of the field is at 99 m' pointshell field.npz --offset 99 -o out.npz
    no_faults
}

@test "siminfo: a summary of a pointshell" {
    siminfo shell.npz > text
    grep -q '^shell     60 points, new in levels: 3 11 46$' text || fault "$(< text)"
    grep -q '^moves     with 6 reduced coordinates, true normals$' text || fault "$(< text)"
    pointshell mesh.npz -q --basis basis.npz --points 60 -o plain.npz
    siminfo plain.npz > text
    grep -q '^moves     with 6 reduced coordinates$' text || fault "$(< text)"
    no_faults
}

@test "--boundary uses the elements of a mesh that has an embedded surface" {
    local ending=
    "$PYTHON" -c 'import numpy' 2> /dev/null || skip "no NumPy"
    # the voxels extend beyond the bar, whose 8 corners are the embedded surface
    done_well pointshell mesh.npz --method vertices -q -o embedded.npz
    done_well pointshell mesh.npz --method vertices --boundary --basis basis.npz -q -o boundary.npz
    "$PYTHON" - <<-'END' || fault 'the vertices of the boundary'
	import collections, itertools, numpy as np
	mesh, basis, shell = np.load('mesh.npz'), np.load('basis.npz'), np.load('boundary.npz')
	faces, x = collections.Counter(), mesh['vertices']
	for element in mesh['hex']: # four corners that share a coordinate of the cube
	    for axis, side in itertools.product(range(3), range(2)):
	        corners = x[element]
	        on = np.isclose(corners[:, axis], (corners[:, axis].min(), corners[:, axis].max())[side])
	        faces[tuple(sorted(element[on]))] += 1
	assert set(map(len, faces)) == {4}
	outer = sorted({v for face, count in faces.items() if count == 1 for v in face})
	number = {tuple(np.round(x[v], 9)): v for v in outer}
	found = [number[tuple(np.round(p, 9))] for p in shell['points']]
	assert sorted(found) == outer and len(outer) > 8 == len(np.load('embedded.npz')['points']), (len(outer), len(found))
	U = basis['U'].reshape(len(x), 3, -1)
	fixed = np.isin(found, mesh['fixed'])
	assert np.abs(shell['Us'] - U[found])[~fixed].max() < 1e-12 * np.abs(U).max()
	END
    done_well simverify boundary.npz mesh.npz basis.npz
    grep -q '^ok .*normals inward by the winding number: 0 of' "$stdout" || fault "$(< "$stdout")"
    refused 2 '--boundary applies to a mesh' pointshell bar.obj --boundary -o out.npz
    refused 2 '--boundary does not apply beside --field' pointshell mesh.npz --boundary --field field.npz -o out.npz
    no_faults
}

@test "simverify finds points, parents, spheres, bounds and rows that are wrong" {
    local ending= change
    done_well simverify shell.npz mesh.npz basis.npz
    grep -q '^ok .*normals inward by the winding number: 0 of 60' "$stdout" || fault "$(< "$stdout")"
    [ "$(grep -c '^ok .*\(displacements of points\|changes of normals\|changes of tangents\) anew' "$stdout")" = 3 ] || fault "$(< "$stdout")"
    # points at corners of elements, where the gradient jumps
    pointshell mesh.npz -q --basis basis.npz --normals tangents --method vertices -o vertices.npz
    done_well simverify vertices.npz mesh.npz basis.npz
    "$PYTHON" -c 'import numpy' 2> /dev/null || { no_faults; return; }
    for change in "m['points'][50] += .1" "m['normals'] *= -1" "m['radius'][2] *= .9" "m['a'][:] *= .5" "m['parent'][40] = (m['parent'][40] + 1) % 14" "m['area'][7] += 1" \
        "m['Us'][9] *= 1.001" "m['dNs'][9] *= 1.01" "m['dTs'][9, 1] *= 1.01"; do
        "$PYTHON" - "$change" <<-'END'
	import sys, numpy as np
	f = np.load('shell.npz')
	m = {n: f[n].copy() for n in f.files}
	exec(sys.argv[1])
	np.savez('forged.npz', **m)
	END
        try simverify -q forged.npz mesh.npz basis.npz
        [ "$code" = 1 ] || fault "$change: exit $code"
        [ "$(grep -c '^FAIL.*forged' "$stdout")" -ge 2 ] || fault "$change: $(< "$stdout")"
    done
    no_faults
}
