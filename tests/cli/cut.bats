#!/usr/bin/env bats
# simcut, and other programs on cut meshes.

load common

# true FILE EXPRESSION: holds for the arrays in f, for those of mesh.npz in g, and for meta and result. `p` is the piece of each hexahedron, found by
# a search through common vertices.
holds() {
    "$PYTHON" - "$@" <<-'END' || fault "$1: not $2"
	import json, sys, numpy as np
	f, g = np.load(sys.argv[1]), np.load('mesh.npz')
	meta, result = (json.loads(f[n].tobytes()) for n in ('meta', 'result'))
	def pieces(hexes):
	    label = np.arange(hexes.max() + 1)
	    while True:
	        least = label[hexes].min(1)
	        new = label.copy()
	        np.minimum.at(new, hexes.ravel(), np.repeat(least, hexes.shape[1]))
	        if (new == label).all():
	            return label[hexes[:, 0]]
	        label = new
	p = pieces(f['hex']) if 'hex' in f else None
	x = g['vertices'][g['hex']].mean(1)
	sys.exit(0 if eval(sys.argv[2]) else 1)
	END
}

@test "a plane: two pieces, vertices doubled in their places" {
    local ending=.npz
    needs_numpy
    done_well simcut mesh.npz --plane 1,0,0,1.5 -o cut.npz
    [[ $err == 'simcut: 2 sides; 2 pieces of 1 before, 1 of them not fixed; 25 vertices doubled (25 new); 8 of 12 triangles dropped' ]] || fault "$err"
    holds cut.npz "np.array_equal(f['vertices'], g['vertices'][f['origin']]) and np.array_equal(f['origin'][f['hex']], g['hex'])"
    holds cut.npz "np.array_equal(f['origin'][:175], np.arange(175)) and np.array_equal(f['origin'][175:], np.flatnonzero(g['vertices'][:, 0] == 1.5))"
    holds cut.npz "len(set(p)) == 2 and np.array_equal(p == p[0], x[:, 0] < 1.5)"
    holds cut.npz "all(np.array_equal(f[n], g[n]) for n in ('region', 'fixed', 'surface/vertices', 'surface/element', 'surface/weights'))"
    holds cut.npz "meta['kind'] == 'mesh' and meta['cut_from'] == json.loads(g['result'].tobytes())['sha256'] == meta['inputs'][0]['sha256']"
    holds cut.npz "{k: result[k] for k in result if k not in ('sha256', 'warnings', 'volume')} == dict(sides=2, pieces=2, pieces_before=1, unheld_pieces=1, doubled_vertices=25, new_vertices=25, dropped_triangles=8)"
    holds cut.npz "abs(result['volume'] - 12) < 1e-12"
    # the triangles without a corner on the other side stay
    holds cut.npz "(lambda s, t: np.array_equal(t[(s[t] == s[t[:, :1]]).all(1)], f['surface/triangles']))(p[g['surface/element']], g['surface/triangles'])"
    no_faults
}

@test "pieces as meshes of their own" {
    local ending=.npz
    needs_numpy
    done_well simcut mesh.npz --plane 1,0,0,1 -q -o pair.npz
    done_well simcut pair.npz --keep 1 -q -o large.npz
    done_well simcut pair.npz --keep 2 -o small.npz
    [[ $err == *$'\nsimcut: kept '*' elements and '*' vertices' ]] || fault "$err"
    done_well simcut mesh.npz --plane 1,0,0,1 --keep 1 -q -o both.npz
    "$PYTHON" - <<-'END' || fault 'not the pieces of the mesh'
	import json, numpy as np
	g, pair, large, small, both = (np.load(n + '.npz') for n in ('mesh', 'pair', 'large', 'small', 'both'))
	hash_of = lambda f: json.loads(f['result'].tobytes())['sha256']
	meta = lambda f: json.loads(f['meta'].tobytes())
	assert meta(large)['kept_from'] == meta(small)['kept_from'] == hash_of(pair) and meta(both)['kept_from'] == hash_of(g)
	assert len(large['hex']) > len(small['hex']) and len(large['hex']) + len(small['hex']) == len(pair['hex'])
	assert sorted(np.concatenate([large['kept'], small['kept']])) == list(range(len(pair['vertices'])))
	for f in large, small:
	    assert np.array_equal(f['vertices'], pair['vertices'][f['kept']]) and (np.diff(f['kept']) > 0).all()
	    same = {tuple(h): e for e, h in enumerate(pair['hex'])}
	    element = np.array([same[tuple(h)] for h in f['kept'][f['hex']]]) # of the whole mesh
	    assert (np.diff(element) > 0).all() and np.array_equal(f['region'], pair['region'][element])
	    assert np.array_equal(f['kept'][f['fixed']], np.intersect1d(pair['fixed'], f['kept']))
	    if 'surface/element' in f: # surface vertices are where their weights place them
	        assert np.allclose(np.einsum('va,vai->vi', f['surface/weights'], f['vertices'][f['hex'][f['surface/element']]]), f['surface/vertices'], atol=1e-9)
	        assert (f['surface/triangles'] < len(f['surface/vertices'])).all()
	    assert meta(f)['materials'] == meta(pair)['materials']
	assert sum(len(f['surface/triangles']) for f in (large, small)) == len(pair['surface/triangles'])
	assert np.array_equal(both['vertices'], large['vertices']) and np.array_equal(both['hex'], large['hex'])
	END
    simverify mesh.npz large.npz > out || fault "$(grep FAIL out)"
    simverify small.npz > out || fault "$(grep FAIL out)"
    # simfull accepts a cut mesh, not a selection
    refused 3 '^simfull: large.npz: it does not say which mesh it was cut from' simfull pair.npz --cut 0=large.npz -q -o out.npz
    refused 2 '^simcut: --keep: 3 is out of range' simcut pair.npz --keep 3 -o out.npz
    refused 2 '^simcut: --keep: 1-2 names every piece, of 2' simcut pair.npz --keep 1-2 -o out.npz
    refused 2 '^simcut: --keep: piece 1 occurs twice' simcut pair.npz --keep 1,1 -o out.npz
    refused 2 '^simcut: --keep: ' simcut pair.npz --keep all -o out.npz
    refused 2 '^simcut: the cut separates nothing' simcut pair.npz --plane 1,0,0,1 --keep 1 -o out.npz
    no_faults
}

@test "planes, lists, regions and numbers together" {
    local ending=.npz
    needs_numpy
    done_well simcut mesh.npz --plane -2,0,0,-3 --plane=0,1,0,0.5 -q -o quarters.npz
    holds quarters.npz "len(set(p)) == 4 and result['sides'] == 4 and len(f['vertices']) == (4 + 4) * (3 + 3) * 5"
    holds quarters.npz "len(set(zip(p, x[:, 0] > 1.5, x[:, 1] > 0.5))) == 4"
    # in two steps, in the other order: other numbers, the same neighbours
    done_well simcut mesh.npz --plane 0,1,0,0.5 -q -o half.npz
    done_well simcut half.npz --plane 1,0,0,1.5 -q -o steps.npz
    holds steps.npz "len(set(p)) == 4 and len(f['vertices']) == 240 and np.array_equal(np.load('half.npz')['origin'][f['origin']][f['hex']], g['hex'])"
    # a list: a column of elements in the middle; ranges, twice the same
    done_well simcut mesh.npz --elements 8,9-10,9 --elements 95 -q -o list.npz
    holds list.npz "result['sides'] == 3 and sorted(np.unique(p, return_counts=True)[1]) == [1, 3, 92]"
    holds list.npz "p[8] == p[9] == p[10] and (p == p[95]).sum() == 1"
    # the same by numbers
    "$PYTHON" -c 'import numpy as np; s = np.full(96, -0.5); s[8:11] = 7e9; s[95] = -1e-3; np.save("sides.npy", s)'
    done_well simcut mesh.npz --sides sides.npy -q -o numbers.npz
    holds numbers.npz "all(np.array_equal(f[n], np.load('list.npz')[n]) for n in f.files if n not in ('meta', 'result'))"
    # single precision, and together with a plane
    "$PYTHON" -c 'import numpy as np; np.save("four.npy", np.load("sides.npy").astype("f4"))'
    done_well simcut mesh.npz --sides four.npy --plane 1,0,0,1.5 -q -o both.npz
    holds both.npz "result['sides'] == 5 and len(set(p)) == 5 and p[8] != p[9] == p[10]" # the plane also divides the elements of the list
    # every element becomes a piece
    "$PYTHON" -c 'import numpy as np; np.save("each.npy", np.arange(96.0))'
    done_well simcut mesh.npz --sides each.npy -q -o each.npz
    holds each.npz "len(f['vertices']) == 8 * 96 and len(set(p)) == 96"
    # The tip is cut off. The plane continues through the body, which stays in one piece.
    voxelize bar.obj -q -n 6 --enlarge 1 --fill --fix-half-space 1,0,0,0 --region-box tip,2,-inf,-inf,inf,inf,inf -o tip.npz
    done_well simcut tip.npz --plane 0,0,1,0.5 --region tip -q -o off.npz
    holds off.npz "result['pieces'] == 2 and np.array_equal(p != p[0], (x[:, 0] > 2) & (x[:, 2] > 0.5))"
    no_faults
}

@test "a plane through a centroid, and a single element that is cut off" {
    local ending=.npz
    needs_numpy
    # n.x > d: elements with their centroid on the plane are not beyond it
    done_well simcut mesh.npz --plane 1,0,0,1.25 -q -o on.npz
    done_well simcut mesh.npz --plane 1,0,0,1.5 -q -o behind.npz
    holds on.npz "np.array_equal(f['hex'], np.load('behind.npz')['hex'])"
    # one element comes off as a piece of its own, and the rest stays one piece
    done_well simcut mesh.npz --elements 40 -q -o inner.npz
    holds inner.npz "result['pieces'] == 2 and result['new_vertices'] <= 8"
    no_faults
}

@test "copies of fixed vertices, tetrahedra, meshes of both types, factors and fibres" {
    local ending=.npz
    needs_numpy
    echo '[{"name": "body", "fibre": "stvk", "fibre_stiffness": 1e5, "fibre_direction": {"helix": {"axis": [1, 0, 0], "centre": [0, 0.5, 0.5], "angle": 20}}}]' > fibre.json
    voxelize bar.obj -q -n 6 --enlarge 1 --fill --tetrahedra --fix-half-space 1,0,0,0 --fix-box 2,-1,-1,3,2,2,y --materials fibre.json -o soft.npz
    "$PYTHON" -c 'import numpy as np; np.save("factor.npy", 1 + np.arange(576) / 576)'
    voxelize bar.obj -q -n 6 --enlarge 1 --fill --tetrahedra --fix-half-space 1,0,0,0 --fix-box 2,-1,-1,3,2,2,y --materials fibre.json --factor factor.npy -o soft.npz
    done_well simcut soft.npz --plane 0,0,1,0.5 -q -o cut.npz
    "$PYTHON" - <<-'END' || fault 'soft.npz: something is lost'
	import numpy as np
	f, g = np.load('cut.npz'), np.load('soft.npz')
	axes = dict(zip(g['fixed'], g['fixed_axes']))
	held = [v for v, o in enumerate(f['origin']) if o in axes]
	assert f['fixed'].tolist() == held and f['fixed_axes'].tolist() == [axes[f['origin'][v]] for v in held] and len(held) > len(axes)
	assert set(f['fixed_axes']) == {2, 7}
	assert all(np.array_equal(f[n], g[n]) for n in ('factor', 'fibre', 'region')) and np.array_equal(f['origin'][f['tet']], g['tet'])
	assert len(f['origin']) - len(g['vertices']) == (g['vertices'][:, 2] == 0.5).sum()
	END
    ending=
    done_well simverify soft.npz cut.npz -q
    no_faults
}

@test "other programs on a cut mesh" {
    local ending=.npz
    done_well simcut mesh.npz --plane 1,0,0,1.5 -q -o cut.npz
    ending=
    done_well siminfo cut.npz
    grep -q "^cut  *from a mesh of hash $(siminfo --hash mesh.npz | cut -c 1-12) with 175 vertices$" "$stdout" || fault "$(grep '^cut' "$stdout")"
    done_well simverify -q cut.npz mesh.npz
    grep -q '^ok .*cut.npz cut: ' "$stdout" && grep -q '^ok .*cut.npz origin: 200 entries' "$stdout" || fault "$(< "$stdout")"
    done_well simverify -q cut.npz
    grep -q '^skip .*cut.npz cut: the mesh that it was cut from is not among the files' "$stdout" || fault "$(< "$stdout")"
    done_well simexport cut.npz -q -o cut.vtu
    ending=.npz
    done_well simimport cut.vtu -q -o back.npz
    done_well simrender cut.npz --size 80x60 --samples 1 -q -o cut.png
    done_well simfull cut.npz --gravity 0,0,-9.81 --dt 0.01 --steps 3 -q -o fall.npz
    ending=
    done_well simverify -q cut.npz fall.npz
    # files of the uncut mesh do not belong to it
    refused 3 'modes.npz: it was made from another mesh' modalderiv cut.npz modes.npz -o out.npz
    "$PYTHON" -c 'import numpy' 2> /dev/null || { no_faults && return; }
    "$PYTHON" - <<-'END' || fault 'the free piece does not fall freely'
	import json, numpy as np
	f, g = np.load('fall.npz'), np.load('cut.npz')
	u = np.concatenate([f[n] for n in f.files if n.startswith('u/')])
	u = u.reshape(len(u), -1, 3)
	side = np.zeros(200, bool)
	side[g['hex'][g['vertices'][g['origin']][g['hex']].mean(1)[:, 0] > 1.5]] = True
	# Newmark with gamma 1/2, beta 1/4 is exact for a constant acceleration
	assert abs(u[-1][side] - [0, 0, -0.5 * 9.81 * 0.03 ** 2]).max() < 1e-9
	assert abs(u[-1][g['fixed']]).max() == 0
	END
    no_faults
}

@test "the same bytes: a second run, a pipe, any number of threads; the script remakes it" {
    local ending=.npz
    simcut mesh.npz --plane 1,0,0,1.5 --elements 0-3,9 -q -o a.npz
    for how in '' '--threads 1' '--threads 3'; do
        # shellcheck disable=SC2086
        simcut mesh.npz --plane 1,0,0,1.5 --elements 0-3,9 -q $how -o b.npz
        same_bytes a.npz b.npz "simcut $how"
    done
    simcut mesh.npz --plane 1,0,0,1.5 --elements 0-3,9 -q -o - > b.npz
    same_bytes a.npz b.npz 'simcut -o -'
    simcut - --plane 1,0,0,1.5 --elements 0-3,9 -q -o piped.npz < mesh.npz
    ending=
    done_well simcompare a.npz piped.npz -q
    mkdir again
    cp bar.obj again
    "$PYTHON" -c 'import numpy as np; np.save("again/sides.npy", np.arange(96.0) // 7)' 2> /dev/null && {
        simcut mesh.npz --sides again/sides.npy --plane 1,0,0,1.5 --plane -1,0.25,0,-2 --region body --elements 0-3,9 --elements 5 -q -o c.npz
        siminfo --script c.npz > again/remake.sh || fault "siminfo --script: exit $?"
        grep -q '^simcut mesh.npz --sides sides.npy --plane 1,0,0,1.5 --plane -1,0.25,0,-2 --region body --elements 0-3,9 --elements 5 -o c.npz' again/remake.sh ||
            fault "$(grep simcut again/remake.sh)"
        (cd again && sh remake.sh > said 2>&1) || fault "the script: $(< again/said)"
        same_bytes c.npz again/c.npz 'siminfo --script'
    }
    siminfo --script a.npz > again/remake.sh
    (cd again && sh remake.sh > said 2>&1) || fault "the script: $(< again/said)"
    same_bytes a.npz again/a.npz 'siminfo --script'
    no_faults
}

@test "a load that acts across the time of the cut keeps its impulse" {
    local kind step
    needs_numpy
    simcut free.npz --plane 1,0,0,1.5 -q -o cut.npz
    printf '.0385,.0427,vertex,9,-50,2,0\n' > kick.csv
    for kind in newmark central bdf2 energy euler linear-euler; do
        step=$([ $kind = central ] && echo 5e-4 || echo 1e-2)
        simfull free.npz --integrator $kind --dt $step --steps "$(awk "BEGIN { print 0.4 / $step }")" --every 40 --loads kick.csv --cut .04=cut.npz -q -o kick.npz || fault $kind
        PYTHONPATH=$SUPPLE_SOURCE/scripts "$PYTHON" - <<-'END' || fault "$kind"
	import numpy as np
	from supple import load
	mesh, motion = load('cut.npz'), load('kick.npz')
	v = motion['udot'][-1]
	sizes = [np.ptp(mesh['vertices'][h], axis=0).prod() for h in mesh['hex']]
	momentum = sum(1000 * s * v[h].mean(0) for h, s in zip(mesh['hex'], sizes))
	assert np.allclose(momentum, [-50 * 0.0042, 2 * 0.0042, 0], atol=1e-9), momentum
	END
    done
    no_faults
}

@test "usage errors" {
    local word
    refused 2 '^simcut: nothing says where to cut: --plane, --elements or --sides; or which pieces to keep: --keep' simcut mesh.npz -o out.npz
    refused 2 '^simcut: --region applies with --plane$' simcut mesh.npz --region body --elements 3 -o out.npz
    refused 2 '^simcut: --region: the mesh has no region "tip"' simcut mesh.npz --region tip --plane 1,0,0,1.5 -o out.npz
    for word in 1,0,0 1,0,0, 1,0,0,1.5, 1,0,0,1.5,2 x ,1,0,0,1.5 '1, 0,0,1.5x' 1,0,0,nan nan,0,0,1 1,0,0,inf inf,0,0,1 0,0,0,1 1e101,0,0,1 1,0,0,1e999 ' 1,0,0,1.5'; do
        refused 2 '^simcut: --plane: "' simcut mesh.npz --plane="$word" -o out.npz
    done
    for word in x 3- -3 3-1 3,,4 3, ,3 3.5 96 0-96 99999999999999999999 @list; do
        refused 2 '^simcut: --elements: ' simcut mesh.npz --elements="$word" -o out.npz
    done
    # cuts that divide nothing
    for word in '--plane 1,0,0,9' '--plane 1,0,0,-9' '--elements 0-95' '--plane 1,0,0,1.5 --plane 2,0,0,3' '--plane 1,0,0,1.5 --plane -1,0,0,-1.5' '--elements 3 --elements 3,3'; do
        # shellcheck disable=SC2086
        refused 2 '^simcut: --(plane|elements): .* divides no elements from others' simcut mesh.npz $word -o out.npz
    done
    # meshes that are in pieces already
    simcut mesh.npz --plane 1,0,0,1.5 -q -o cut.npz
    refused 2 '^simcut: the cut separates nothing: no vertex lies between its sides' simcut cut.npz --plane 1,0,0,1.5 -o out.npz
    no_faults
}

@test "bad inputs" {
    refused 3 '^simcut: modes.npz: .*modes.*mesh' simcut modes.npz --plane 1,0,0,1.5 -o out.npz
    refused 3 '^simcut: bar.obj: ' simcut bar.obj --plane 1,0,0,1.5 -o out.npz
    refused 3 '^simcut: none.npz: cannot open' simcut none.npz --plane 1,0,0,1.5 -o out.npz
    refused 3 '^simcut: none.npy: cannot open' simcut mesh.npz --sides none.npy -o out.npz
    refused 3 '^simcut: mesh.npz: it is no .npy file' simcut mesh.npz --sides mesh.npz -o out.npz
    "$PYTHON" -c 'import numpy' 2> /dev/null || { no_faults && return; }
    "$PYTHON" -c 'import numpy as np
for name, a in dict(short=np.arange(95.0), wide=np.ones((96, 2)), whole=np.arange(96), nan=np.where(np.arange(96) == 40, np.nan, 1), same=np.ones(96)).items():
    np.save(name + ".npy", a)'
    refused 3 '^simcut: short.npy: its shape is \(95, 1\), the mesh has 96 elements: \(96\) is expected' simcut mesh.npz --sides short.npy -o out.npz
    refused 3 '^simcut: wide.npy: its shape is \(96, 2\)' simcut mesh.npz --sides wide.npy -o out.npz
    refused 3 '^simcut: whole.npy: its values are of type <i8, expected f8 or f4' simcut mesh.npz --sides whole.npy -o out.npz
    refused 3 '^simcut: nan.npy: ' simcut mesh.npz --sides nan.npy -o out.npz
    refused 2 '^simcut: --sides: same.npy divides no elements from others' simcut mesh.npz --sides same.npy -o out.npz
    no_faults
}

@test "damaged and forged cut meshes" {
    local file forge=$SUPPLE_SOURCE/tests/cli/forge.py
    needs_numpy
    simcut mesh.npz --plane 1,0,0,1.5 -q -o cut.npz
    mkdir damaged
    "$PYTHON" "$SUPPLE_SOURCE/tests/cli/damage.py" cut.npz damaged
    rm damaged/short-{fixed,surface_triangles}.npz # allowed: one entry less
    for file in damaged/*; do
        try simverify -q "$file"
        [ "$code" = 1 ] || [ "$code" = 3 ] || fault "simverify $file: exit $code"
    done
    forged() { # PATTERN STATEMENTS: siminfo refuses it, simverify refuses or fails
        "$PYTHON" "$forge" cut.npz forged.npz "$2" || fault "$2: forge.py"
        refused 3 "^siminfo: forged.npz: $1" siminfo forged.npz
        refused 3 "^simverify: forged.npz: $1" simverify -q mesh.npz forged.npz
    }
    forged 'origin: vertex 199 is to be a copy of vertex 175 of 175' 'm["origin"][199] = 175'
    forged 'origin: vertex 180 is to be a copy of vertex -1 of 175' 'm["origin"][180] = -1'
    forged 'origin: vertex 199 is a copy of vertex 0, .*not decrease' 'm["origin"][199] = 0'
    forged 'it has the member origin, but' 'del meta["cut_from"]'
    forged '"cut_from" is not a hash' 'meta["cut_from"] = "x"'
    # well formed, with wrong values
    for file in 'm["vertices"][199] += 1e-9' 'm["origin"][175:] = m["origin"][174:-1].copy(); m["origin"][175] = 0' \
        'm["hex"][0, 0] = 1; m["hex"][0, 1] = 0' 'm["origin"] = m["origin"][:-1]'; do
        "$PYTHON" "$forge" cut.npz forged.npz "$file" || fault "$file: forge.py"
        try simverify -q mesh.npz forged.npz
        [ "$code" = 1 ] || [ "$code" = 3 ] || fault "$file: exit $code: $(grep 'forged' "$stdout")"
    done
    no_faults
}
