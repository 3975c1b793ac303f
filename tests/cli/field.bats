#!/usr/bin/env bats
# distfield, and other programs on its files.

load common

# numbers FILE EXPRESSION: holds for the arrays in f, meta and result. Skipped without NumPy.
holds() {
    "$PYTHON" -c 'import numpy' 2> /dev/null || return 0
    "$PYTHON" - "$@" <<-'END' || fault "$1: not $2"
	import json, sys, numpy as np
	f = np.load(sys.argv[1])
	meta, result = (json.loads(f[n].tobytes()) for n in ('meta', 'result'))
	d = f['distance']
	axes = [f['origin'][k] + f['spacing'] * np.arange(d.shape[2 - k]) for k in range(3)]
	z, y, x = np.meshgrid(axes[2], axes[1], axes[0], indexing='ij')
	sys.exit(0 if eval(sys.argv[2]) else 1)
	END
}

# the distance to the bar of data.bash, [0,3] x [0,1] x [0,1], by its formula
BAR='(lambda q: np.where((q <= 0).all(0), q.max(0), np.sqrt((np.maximum(q, 0) ** 2).sum(0))))(np.stack([np.abs(x - 1.5) - 1.5, np.abs(y - 0.5) - 0.5, np.abs(z - 0.5) - 0.5]))'

@test "distances and signs of a box by their formula" {
    done_well distfield bar.obj -n 20 -o f.npz
    holds f.npz "d.dtype == np.float32 and d.shape == (21, 21, 21) and f['spacing'].shape == () and abs(f['spacing'] - 4.5 / 20) < 1e-15"
    holds f.npz "np.abs(d - $BAR).max() < 1e-6"
    holds f.npz "meta['kind'] == 'field' and meta['cells'] == [20, 20, 20] and meta['sign'] == 'pseudonormal' and result['sign_disagreements'] == 0 and result['inside'] == (d < 0).sum()"
    done_well distfield bar.obj -n 30 --grid box --box-scale 2 --sign winding -o g.npz
    holds g.npz "d.shape == (11, 11, 31) and np.abs(d - $BAR).max() < 1e-6 and meta['sign'] == 'winding'"
    done_well distfield bar.obj -n 9 --sign none -o n.npz
    holds n.npz "(d >= 0).all() and np.abs(d - np.abs($BAR)).max() < 1e-6"
    done_well distfield bar.obj -n 40 --sign offset --offset 0.2 -o o.npz
    # The offset of a box is a rounded box, solid inside. Interpolation errors occur near the curved corners and at the edges.
    holds o.npz "np.abs(d - ($BAR - 0.2))[$BAR > 0].max() < 0.03 and d[20, 20, 20] < -0.6 and meta['offset'] == 0.2"
    distfield - -q -n 20 -o p.npz < bar.obj
    holds p.npz "np.abs(d - $BAR).max() < 1e-6"
    # the surface of a mesh
    done_well distfield mesh.npz -n 20 -o m.npz
    holds m.npz "np.abs(d - $BAR).max() < 1e-6 and len(meta['mesh']) == 64"
    no_faults
}

@test "fields of a moved mesh, and their approximation from fields at rest" {
    distfield mesh.npz -q -n 16 -o rest.npz
    pointshell mesh.npz -q --points 40 --levels 1 -o proxies.npz
    # At rest the weighted proxies give the field itself. On the faces of the grid rounding decides which points are outside.
    done_well distfield mesh.npz --basis basis.npz --coordinates 0 --field rest.npz --proxies proxies.npz -n 16 -o same.npz
    ending= done_well simverify same.npz
    holds same.npz "np.abs(d - np.load('rest.npz')['distance'])[1:-1, 1:-1, 1:-1].max() < 1e-6 and meta['sign'] == 'deformed' and 'mesh' not in meta"
    q=$("$PYTHON" - basis.npz <<-'END'
	import sys, zipfile, struct, array
	data = zipfile.ZipFile('basis.npz').read('U.npy')
	u = array.array('d', data[10 + data[8] + 256 * data[9]:])
	rows = len(u) // 6
	print(0.1 / max(abs(x) for x in u[:rows])) # the tip moves by a tenth of the bar's height
	END
    )
    done_well distfield mesh.npz --basis basis.npz --coordinates "$q" -n 16 -o moved.npz
    done_well distfield mesh.npz --basis basis.npz --coordinates "$q" --field rest.npz --proxies proxies.npz -n 16 -o near.npz
    ending= done_well simverify moved.npz near.npz
    # The field at rest is off by the displacement, the approximation by a fifth of it near the surface.
    holds near.npz "np.abs(d - np.load('moved.npz')['distance'])[np.abs(d) < 0.3].max() < 0.02 and np.abs(d - np.load('moved.npz')['distance']).max() > 0"
    refused 2 '^distfield: --basis applies with --coordinates$' distfield mesh.npz --basis basis.npz -o out.npz
    refused 2 '^distfield: --basis applies to a mesh$' distfield bar.obj --basis basis.npz --coordinates 1 -o out.npz
    refused 2 'number 2 of "1,x" is none' distfield mesh.npz --basis basis.npz --coordinates 1,x -o out.npz
    refused 2 'more numbers than the basis has columns' distfield mesh.npz --basis basis.npz --coordinates 1,2,3,4,5,6,7 -o out.npz
    refused 2 'there are 1 and 0' distfield mesh.npz --basis basis.npz --coordinates 1 --field rest.npz -o out.npz
    refused 2 '^distfield: --sign does not apply beside --field$' distfield mesh.npz --basis basis.npz --coordinates 1 --field rest.npz --proxies proxies.npz --sign winding -o out.npz
    distfield twin.npz -q -n 8 -o twin-field.npz
    refused 3 'made from another mesh' distfield mesh.npz --basis basis.npz --coordinates 1 --field twin-field.npz --proxies proxies.npz -o out.npz
    no_faults
}

@test "slices and level sets" {
    distfield bar.obj -q -n 24 -o f.npz
    ending=.png
    for slice in x=0 y=0.5 z=1; do
        done_well simrender f.npz --slice $slice -o s.png
        [ "$(head -c 8 s.png | od -An -tx1 | tr -d ' \n')" = 89504e470d0a1a0a ] || fault "$slice: no PNG"
    done
    done_well simrender f.npz --slice z=0.5 --size 100x50 -o s.png
    [ "$(od -An -tu1 -j16 -N8 s.png | tr -s ' ')" = " 0 0 0 100 0 0 0 50" ] || fault "not 100x50"
    done_well simrender f.npz --slice z=0.5 --contours 0.25 -o s.png
    [[ $err == *', lines every 0.25 m'* ]] || fault "$err"
    # a box whose middle is off 0 by rounding
    awk '$1 == "v" { $4 = $4 > 0 ? "0.500000000000002" : "-0.5" } { print }' bar.obj >off.obj
    distfield off.obj -q -n 16 -o off.npz
    done_well simrender off.npz --slice z=0.5 -o s.png
    [[ $err == *'; z = 0 m, '* ]] || fault "$err"
    refused 2 '^simrender: --contours applies with --slice' simrender mesh.npz --contours 1 -o s2.png
    refused 2 '--contours' simrender f.npz --slice z=0.5 --contours 0 -o s2.png
    refused 2 '--size: 100x10 has no room for a slice' simrender f.npz --slice z=0.5 --size 100x10 -o s2.png
    ending=.obj
    done_well simexport f.npz --level 0.2 -o level.obj
    # a closed surface has 3/2 edges for each triangle, so that V - E + F = 2
    awk '/^v /{v++} /^f /{f++} END {exit !(f > 100 && v - f / 2 == 2)}' level.obj || fault "level.obj: not a sphere"
    ending=.npz
    done_well distfield level.obj -n 12 -o again.npz
    done_well simexport f.npz --level 99 -o none.obj
    [[ $err == *'no point is at the distance of 99 m'* ]] || fault "empty level: $err"
    done_well simexport f.npz --level 0.9 -o open.obj
    [[ $err == *'meets the box'* ]] || fault "open level: $err"
    no_faults
}

@test "usage errors, and models without a field" {
    printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n' > one.obj
    printf 'v 1 1 1\nv 1 1 1\nv 1 1 1\nf 1 2 3\n' > point.obj
    refused 2 '^distfield: --offset applies to --sign offset$' distfield bar.obj --offset 1 -o out.npz
    refused 2 '--offset: .*out of range' distfield bar.obj --sign offset --offset 0 -o out.npz
    refused 3 'one.obj: pseudonormals need a closed manifold' distfield one.obj -n 8 --sign pseudonormal -o out.npz
    refused 3 'point.obj: the model has no extent' distfield point.obj -n 8 -o out.npz
    refused 3 'bar.obj: an offset of 0.01 m is below 0.866 of a cell' distfield bar.obj -n 8 --sign offset --offset 0.01 -o out.npz
    [[ $err =~ 'the smallest is '([0-9.e-]+)' m' ]] || fault "no smallest offset: $err"
    done_well distfield bar.obj -n 8 --sign offset --offset "${BASH_REMATCH[1]}" -q -o least.npz
    refused 3 'below' distfield bar.obj -n 8 --sign offset --offset "$(awk "BEGIN { print 0.999 * ${BASH_REMATCH[1]} }")" -o out.npz
    refused 3 'bar.obj: the surface at the offset of 2 m meets the box' distfield bar.obj -n 8 --sign offset --offset 2 -o out.npz
    refused 3 'bar.obj: a grid of 4096 x 4096 x 4096 cells has more than 2\^31 vertices' distfield bar.obj -n 4096 -o out.npz
    refused 3 'modes.npz: .*modes.*mesh' distfield modes.npz -n 8 -o out.npz
    refused 2 '--slice: "w=0.5" is not' simrender field.npz --slice w=0.5 -o out.png
    refused 2 '--slice: "2" is not a number from 0 to 1' simrender field.npz --slice x=2 -o out.png
    refused 2 '^simrender: --lines applies to a trajectory or columns or a mesh$' simrender field.npz --slice x=0.5 --lines -o out.png
    refused 2 '--slice is of one file' simrender mesh.npz field.npz --slice x=0.5 -o out.png
    refused 3 'mesh.npz: .*mesh.*field' simrender mesh.npz --slice x=0.5 -o out.png
    refused 3 'field.npz: a file of kind field has no displacements' simrender field.npz -o out.png
    refused 2 '^simexport: --level applies to --to obj$' simexport field.npz --level 0 -o out.csv
    refused 2 '^simexport: --frames applies to a trajectory or' simexport field.npz --to obj --level 0 --frames 1 -o out.npz
    refused 3 'mesh.npz: .*mesh.*field' simexport mesh.npz --to obj --level 0 -o out.npz
    no_faults
}

@test "simverify computes distances and signs anew" {
    local ending=
    distfield bar.obj -q -n 16 -o f.npz
    done_well simverify f.npz --model bar.obj --sample 5000
    grep -q '^ok .*signs by exact winding numbers: 0 of 4913' "$stdout" || fault "$(< "$stdout")"
    distfield mesh.npz -q -n 16 -o m.npz
    done_well simverify m.npz mesh.npz
    grep -q '^ok .*distances anew' "$stdout" || fault "$(< "$stdout")"
    # another model
    sed 's/^v 3/v 3.1/' bar.obj > longer.obj
    try simverify -q f.npz --model longer.obj
    [ "$code" = 1 ] || fault "another model: exit $code"
    "$PYTHON" -c 'import numpy' 2> /dev/null || { no_faults; return; }
    # one sign and one distance are changed, with valid checksums but not the hash
    for change in 'd[8, 8, 8] *= -1' 'd[8, 8, 8] += 1'; do
        "$PYTHON" - "$change" <<-'END'
	import sys, numpy as np
	f = np.load('f.npz')
	d = f['distance'].copy()
	exec(sys.argv[1])
	np.savez('forged.npz', **{n: (d if n == 'distance' else f[n]) for n in f.files})
	END
        try simverify -q forged.npz
        [ "$code" = 1 ] || fault "$change: exit $code"
        [ "$(grep -c '^FAIL' "$stdout")" -ge 2 ] || fault "$change: $(< "$stdout")"
    done
    no_faults
}

@test "messages say that a model is open or intersects itself" {
    printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\n' > open.obj
    done_well distfield open.obj -n 8 -o o.npz
    [[ $err == *'the model is open (3 edges'* ]] || fault "open: $err"
    awk '/^v /{print; v[++n] = $0} END {for (i = 1; i <= n; i++) {split(v[i], a, " "); print "v", a[2] + 0.7, a[3] + 0.3, a[4] + 0.2}}' bar.obj > two.obj
    awk '/^f /{print; print "f", $2 + 8, $3 + 8, $4 + 8, $5 + 8}' bar.obj >> two.obj
    done_well distfield two.obj -n 16 -o t.npz
    [[ $err == *'the surface intersects itself'* ]] || fault "two: $err"
    holds t.npz "meta['sign'] == 'winding' and result['sign_disagreements'] > 0"
    no_faults
}

@test "the record makes a field again: at rest, of a moved mesh, and by proxies" {
    local name
    done_well distfield bar.obj -n 12 -o a.npz
    done_well distfield mesh.npz -n 10 --basis basis.npz --coordinates 0.1,0.2 -o b.npz
    done_well distfield mesh.npz -n 10 -o rest.npz
    done_well distfield mesh.npz -n 10 --basis basis.npz --coordinates 0.1 --field rest.npz --proxies shell.npz -o c.npz
    for name in a b c; do
        mkdir again
        cp bar.obj again
        siminfo --script $name.npz > again/remake.sh || fault "siminfo --script $name.npz: exit $?"
        (cd again && sh remake.sh > said 2>&1) || fault "the script of $name.npz: $(< again/said)"
        same_bytes $name.npz again/$name.npz 'siminfo --script'
        rm -r again
    done
    no_faults
}
