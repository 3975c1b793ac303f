#!/usr/bin/env bats
# What simrender draws in addition to surfaces: fibres, loads, contact forces. Expected places are computed from coordinates and compared with pixels.

load common

# The bar of the tests, 3 x 1 x 1 m, from the side: x is right and z is up.
SIDE='--view 0,-1,0 --angle 0 --shadows none --size 400x300 -q'

setup_file() {
    export PYTHONPATH=$BATS_TEST_DIRNAME
}

@test "simrender: a surface of opacity 1/2 is mixed with the background in linear light" {
    needs_numpy
    local what
    ending=.png
    # shellcheck disable=SC2086
    for what in 1 0.5 0.25; do
        done_well simrender mesh.npz $SIDE --samples 4 --opacity $what -o o$what.png
    done
    # shellcheck disable=SC2086
    done_well simrender mesh.npz $SIDE --samples 4 -o plain.png
    same_bytes plain.png o1.png 'opaque unless another choice is made'
    "$PYTHON" - <<-'END' || fault 'not mixed'
	import numpy as np
	from pixels import *
	plain = png('plain.png')
	low, high = framed(plain)
	inside = np.s_[low[0] + 3:high[0] - 2, low[1] + 3:high[1] - 2]
	body, back = linear(plain)[inside], linear(plain[:, :1])[inside[0]]
	for opacity in 0.5, 0.25: # in steps of 1/16
	    off = abs(linear(png('o%g.png' % opacity))[inside] - opacity * body - (1 - opacity) * back).max()
	    assert off < 0.012, (opacity, off) # bytes near white are 0.009 from each other
	END
    done_well simrender scene.json --size 160x120 --opacity 0.5 -q -o glass.png
    done_well simrender scene.json --size 160x120 -q -o scene.png
    cmp -s glass.png scene.png && fault 'no effect on scenes'
    refused 2 '^simrender: --opacity: .*0.05' simrender mesh.npz --opacity 0.05 -o out.png
    refused 2 '^simrender: --opacity does not apply|^simrender: --opacity applies' simrender field.npz --slice z=0.5 --opacity 0.5 -o out.png
    no_faults
}

@test "simrender: segments along the fibres, as many as asked for" {
    needs_numpy
    local threads
    ending=.png
    echo '[{"name": "body", "fibre": "stvk", "fibre_stiffness": 1e6, "fibre_direction": [0.6, 0, 0.8]}]' > fibres.json
    voxelize bar.obj -q -n 6 --enlarge 1 --fill --materials fibres.json -o with.npz || fault voxelize
    # shellcheck disable=SC2086
    {
        done_well simrender with.npz $SIDE --opacity 0.1 -o none.png
        done_well simrender with.npz $SIDE --opacity 0.1 --fibres 4 -o four.png
        done_well simrender with.npz $SIDE --fibres 9999 -t 1 -o all1.png
        done_well simrender with.npz $SIDE --fibres 9999 -t 3 --opacity 0.35 -o all3.png
    }
    same_bytes all1.png all3.png 'the surface is translucent by itself; threads'
    "$PYTHON" - <<-'END' || fault 'segments are elsewhere'
	import numpy as np
	from pixels import *
	none, four = png('none.png'), png('four.png')
	low, high = framed(none)
	scale = (high[1] + 1 - low[1]) / 3 # pixels per metre
	parts = spots((none != four).any(2))
	assert len(parts) == 4, len(parts)
	m = np.load('with.npz')
	centres = m['vertices'][m['hex']].mean(1)
	for part in parts:
	    offset = part - part.mean(0)
	    along = np.linalg.svd(offset, full_matrices=False)[2][0]
	    assert abs(abs(along @ [-0.8, 0.6]) - 1) < 0.003, along # rows go down
	    # 4 segments in 3 m³: each is three quarters as long as the edge of a cube of 3/4 m³
	    length = np.ptp(offset @ along) / scale
	    assert abs(length - 0.75 * (3 / 4) ** (1 / 3)) < 0.1, length
	    x = (part[:, 1].mean() + 0.5 - low[1]) / scale
	    z = (high[0] + 0.5 - part[:, 0].mean()) / scale
	    assert np.hypot(centres[:, 0] - x, centres[:, 2] - z).min() < 1.5 / scale, (x, z)
	END
    refused 3 '^simrender: mesh.npz: --fibres: no material of the mesh has fibres$' simrender mesh.npz --fibres 10 -o out.png
    refused 2 '^simrender: --fibres: ' simrender with.npz --fibres 0 -o out.png
    refused 2 '^simrender: --fibres applies to' simrender scene.json --fibres 10 -o out.png
    no_faults
}

@test "simrender: arrows of loads, where they act, as long as they are strong, while they act" {
    needs_numpy
    local time
    ending=.png
    printf 't0,t1,kind,id,fx,fy,fz\n0,0.1,vertex,near:3,0,1.5,0,0,90\n0.05,inf,vertex,near:1,0,-0.5,0,0,45\n' > pair.csv
    printf '0,1,all,,0,0,-90\n0,1,pressure,,3\n0,1,spring,near:3,0,1.5,4,0,2.5,10\n' > more.csv
    # shellcheck disable=SC2086
    {
        line="$SIDE --elements --box=-0.5,-1,-2,3.5,2,3"
        done_well simrender mesh.npz $line -o none.png
        done_well simrender mesh.npz $line --loads pair.csv -o at0.png
        done_well simrender mesh.npz $line --loads pair.csv --loads-at 0.06 -o both.png
        done_well simrender mesh.npz $line --loads pair.csv --loads-at 0.1 -o at1.png
        done_well simrender mesh.npz $line --loads more.csv --opacity 0.3 -o more.png
        done_well simrender mesh.npz full.npz $line --loads pair.csv -o f_%d.png # 0, 0.01, … 0.04 s
        done_well simrender mesh.npz full.npz $line -o plain_%d.png
    }
    "$PYTHON" - <<-'END' || fault 'arrows are elsewhere'
	import numpy as np
	from pixels import *
	none, m = png('none.png'), np.load('mesh.npz')
	low, high = framed(none)
	x = m['vertices']
	first, size = x.min(0), np.ptp(x, axis=0)
	scale = (high[1] + 1 - low[1]) / size[0] # pixels per metre
	longest = 0.2 * np.linalg.norm(size)     # m: of 90 N
	def place(part):
	    "x of the arrow and z of its ends in m"
	    ends = part[:, 0].max() + 1, part[:, 0].min()
	    return [(part[:, 1].mean() + 0.5 - low[1]) / scale + first[0]] + [(high[0] + 1 - e) / scale + first[2] for e in ends]
	def check(name, *expected):
	    parts = spots((png(name) != none).any(2))
	    assert len(parts) == len(expected), (name, len(parts))
	    for part, arrow in zip(parts, expected):
	        # the half of an end that is a disk is seen beside its middle; 2 pixels
	        assert np.abs(np.array(place(part)) - arrow).max() < 2 / scale, (name, place(part), arrow)
	up = 3, 1.5, 1.5 + longest              # pulls at the upper side: begins there
	push = 1, -0.5 - longest / 2, -0.5      # pushes at the lower side: ends there
	check('at0.png', up)
	check('both.png', push, up)
	check('at1.png', push)
	more = png('more.png')
	parts = spots((more != none).any(2))
	assert parts, 'nothing of a volume load, pressure and a spring'
	# the spring of 1 m along x and z ends at (4, 2.5)
	assert abs((high[0] + 1 - 3 * scale) - min(p[:, 0].min() for p in parts)) < 3, 'the spring'
	for f in range(5):
	    a, b = png('f_%d.png' % f), png('plain_%d.png' % f)
	    assert len(spots((a != b).any(2))) == 1, f
	END
    printf '1,2,all,,0,0,1\n' > late.csv
    refused 2 '^simrender: late.csv: no load acts at 0 s' simrender mesh.npz --loads late.csv -o out.png
    refused 2 '^simrender: --loads-at applies to' simrender mesh.npz full.npz --loads pair.csv --loads-at 1 -o out.png
    refused 2 '^simrender: --loads-at ' simrender mesh.npz --loads-at 1 -o out.png
    printf '0,1,vertex,999999,0,0,1\n' > bad.csv
    refused 3 '^simrender: bad.csv: ' simrender mesh.npz --loads bad.csv -o out.png
    refused 2 '^simrender: --loads applies to' simrender scene.json --loads pair.csv -o out.png
    no_faults
}

# The contacts of frame 3 of the made-up motion: at (b, 0.3, 0) with the force (0, b, 1.3), b = 0 … 4.
@test "simrender: contact forces are arrows that begin at their points" {
    needs_numpy
    ending=.png
    local line='scene.json motion.npz --frames 3 --view 0,-1,0 --angle 0 --shadows none --size 600x400 --box=-1,-3,-2,7,2,3 --opacity 0.1 -q'
    # shellcheck disable=SC2086
    {
        done_well simrender $line --contacts none -o none.png
        done_well simrender $line --contacts forces -o forces.png
        done_well simrender ${line/--opacity 0.1} --contacts forces -o translucent.png
        done_well simrender ${line/--opacity 0.1} --contacts forces --opacity 0.5 -o half.png
    }
    same_bytes translucent.png half.png 'bodies are translucent by themselves'
    "$PYTHON" - <<-'END' || fault 'arrows are elsewhere'
	import numpy as np
	from pixels import *
	none, forces = png('none.png'), png('forces.png')
	parts = spots((none != forces).any(2))
	assert len(parts) == 5, len(parts)
	force = np.array([[0, b, 1.3] for b in range(5)])
	longest = np.linalg.norm(force, axis=1).max()
	x = np.array([p[:, 1].mean() for p in parts])
	scale = np.diff(x).mean() # points are 1 m from each other
	assert np.abs(np.diff(x) - scale).max() < 1, x
	diagonal = np.linalg.norm([8, 5, 5])
	height = np.array([np.ptp(p[:, 0]) + 1 for p in parts]) / scale
	# the shaft and the head widen both ends of an arrow that leans towards the eye
	wide = 2.6 * 0.003 * diagonal * np.abs(force[:, 1]) / np.linalg.norm(force, axis=1)
	expected = 0.2 * diagonal / longest * force[:, 2]
	assert (np.abs(height - expected) < 2 * wide + 2 / scale).all(), (height, expected)
	END
    no_faults
}

# From the side in a parallel view the spheres of a level are disks about their points, with the radii of the file.
@test "simrender: the spheres of a level of a point shell" {
    needs_numpy
    local threads
    ending=.png
    pointshell mesh.npz --points 60 --levels 3 -q -o levels.npz || fault pointshell
    local line='mesh.npz levels.npz --view 0,-1,0 --angle 0 --shadows none --size 400x300 --box=-1,-1,-2,4,2,3 -q'
    # shellcheck disable=SC2086
    {
        done_well simrender $line -o none.png
        done_well simrender ${line/levels.npz} -o body.png
        done_well simrender $line --spheres 1 -o s1.png
        done_well simrender $line --spheres 2 -o s2.png
        for threads in 1 3; do
            done_well simrender mesh.npz levels.npz --sheet 3x1 --spheres each --size 600x150 --threads $threads -q -o each$threads.png
        done
        done_well simrender mesh.npz levels.npz --sheet 3x1 --size 600x150 -q -o levels.png
    }
    same_bytes each1.png each3.png threads
    cmp -s each1.png levels.png && fault 'no spheres on the sheet'
    "$PYTHON" - <<-'END' || fault 'spheres are elsewhere'
	import numpy as np
	from pixels import *
	none, shell = png('none.png'), np.load('levels.npz')
	low, high = framed(png('body.png')) # from (0, 0) to (3, 1)
	scale = (high[1] + 1 - low[1]) / 3
	level = shell['level']
	first = 0
	for k in 1, 2:
	    points = shell['points'][level <= k]
	    radius = shell['radius'][first:first + len(points)]
	    first += len(points)
	    rows, columns = np.mgrid[0:250, 0:400] + 0.5 # above the caption
	    x, z = (columns - low[1]) / scale, (high[0] + 1 - rows) / scale
	    # how far a pixel is inside of the nearest edge of a disk
	    inside = np.max([r - np.hypot(x - p[0], z - p[2]) for p, r in zip(points, radius)], axis=0)
	    drawn = (png('s%d.png' % k) != none).any(2)[:250]
	    assert not drawn[inside < -2 / scale].any(), (k, 'outside')
	    behind = (none == none[:, :1]).all(2)[:250] # in front of the body a sphere can have the colour of its point
	    seen = drawn[(inside > 2 / scale) & behind]
	    assert len(seen) > 1000 and seen.mean() > 0.99, (k, len(seen), seen.mean())
	END
    refused 2 '^simrender: --spheres: the tree has spheres in 2 levels, and none in its last, level 3$' simrender levels.npz --spheres 3 -o out.png
    pointshell mesh.npz --points 60 --levels 1 -q -o single.npz || fault pointshell
    refused 3 '^simrender: --spheres: the tree of the point shell has one level' simrender single.npz --spheres 1 -o out.png
    refused 2 '^simrender: --spheres: "0" is no level' simrender levels.npz --spheres 0 -o out.png
    refused 2 '^simrender: --spheres: "1x" is no level' simrender levels.npz --spheres 1x -o out.png
    refused 2 '^simrender: --spheres each needs a --sheet' simrender levels.npz --spheres each -o out.png
    refused 2 '^simrender: --spheres applies to a point shell$' simrender mesh.npz --spheres 1 -o out.png
    no_faults
}

# A cell of the sheet of modes and derivatives has the pixels of that column on a sheet of its file alone, with the same camera.
@test "simrender: modes in the first row, their derivatives below as an upper triangle" {
    needs_numpy
    local look='--sheet auto --box=-1,-1,-1,4,2,2 --samples 1 --shadows none -q'
    ending=.png
    # shellcheck disable=SC2086
    {
        done_well simrender mesh.npz modes.npz deriv.npz $look --size 480x518 -o both.png
        done_well simrender deriv.npz mesh.npz modes.npz $look --size 480x518 -t 3 -o other.png
        done_well simrender mesh.npz modes.npz ${look/auto/4x1} --size 480x106 -o modes.png
        done_well simrender mesh.npz deriv.npz ${look/auto/4x3} --size 480x312 -o deriv.png
        done_well simrender mesh.npz modes.npz deriv.npz $look --size 240x312 --columns 2,4 -o part.png
        modalderiv mesh.npz modes.npz -q -k 2 -o two.npz || fault modalderiv
        done_well simrender mesh.npz modes.npz two.npz $look --size 240x312 -o two.png
        done_well simrender mesh.npz modes.npz two.npz $look --size 240x312 --columns 1,2 -o two-given.png
        done_well simrender mesh.npz modes.npz deriv.npz $look --size 480x518 --normalize mass --color displacement -o mass.png
    }
    same_bytes both.png other.png 'the order of the files, threads'
    same_bytes two.png two-given.png 'modes that have derivatives'
    cmp -s both.png mass.png && fault '--normalize has no effect'
    "$PYTHON" - <<-'END' || fault 'cells are elsewhere'
	import numpy as np
	from pixels import png
	both, modes, deriv, part = (png(n + '.png') for n in ('both', 'modes', 'deriv', 'part'))
	pair = [tuple(p) for p in np.load('deriv.npz')['pair']]
	assert sorted(pair) == [(i, j) for i in range(4) for j in range(i, 4)], pair
	def cell(picture, row, column):
	    width = {480: 116, 240: 115}[picture.shape[1]]
	    return picture[3 + 103 * row:103 + 103 * row, 3 + (width + 3) * column:3 + width + (width + 3) * column]
	for column in range(4):
	    assert (cell(both, 0, column) == cell(modes, 0, column)).all(), column
	    for row in range(4):
	        here = cell(both, 1 + row, column)
	        if column < row:
	            assert (here == 255).all(), (row, column)
	        else:
	            n = pair.index((row, column))
	            assert (here == cell(deriv, n // 4, n % 4)).all(), (row, column)
	assert (cell(part, 2, 0) == 255).all() and (cell(part, 2, 1) != 255).any() and (cell(part, 1, 0) != 255).any()
	END
    refused 2 '^simrender: modes and derivatives make one sheet: --sheet auto$' simrender mesh.npz modes.npz deriv.npz -o out.png
    refused 2 '^simrender: modes and derivatives make one sheet: --sheet auto$' simrender mesh.npz modes.npz deriv.npz --sheet 4x4 -o out.png
    refused 2 'one of them can be taken at a time' simrender mesh.npz modes.npz basis.npz --sheet auto -o out.png
    modes mesh.npz -q -k 3 -o fewer.npz
    refused 3 '^simrender: deriv.npz: it was made from another file of modes' simrender mesh.npz fewer.npz deriv.npz --sheet auto -o out.png
    refused 2 '^simexport: .*one of them can be taken at a time' simexport mesh.npz modes.npz deriv.npz -o out.vtu
    no_faults
}

@test "simrender: cubes at the dynamic vertices of a ConJac model, in their places" {
    needs_numpy
    ending=.png
    simfull mesh.npz -q --model conjac --dynamic 'near:3,0,1.5;1.5,1,-0.5' --gravity 0,0,-2 --integrator linear-euler --dt 0.02 --steps 5 -o cj.npz || fault simfull
    # a free body with one dynamic vertex: simfull adds other dynamic vertices
    voxelize bar.obj -q -n 6 --enlarge 1 --fill -o free.npz
    simfull free.npz -q --model conjac --dynamic 'near:3,0,1.5' --integrator linear-euler --dt 0.02 --steps 1 -o added.npz || fault simfull
    # shellcheck disable=SC2086
    {
        done_well simrender mesh.npz cj.npz $SIDE --elements --frames 5 --box=-0.5,-1,-2,3.5,2,3 --opacity 0.1 -o none.png
        done_well simrender mesh.npz cj.npz $SIDE --elements --frames 5 --box=-0.5,-1,-2,3.5,2,3 --opacity 0.1 --dynamic -o marks.png
        done_well simrender mesh.npz cj.npz $SIDE --elements --frames 0 --box=-0.5,-1,-2,3.5,2,3 -o rest.png
    }
    "$PYTHON" - <<-'END' || fault 'cubes are elsewhere'
	import json
	import numpy as np
	from pixels import *
	m, t = np.load('mesh.npz'), np.load('cj.npz')
	low, high = framed(png('rest.png')[:-40])  # without the caption
	x = m['vertices']
	scale = (high[1] + 1 - low[1]) / np.ptp(x[:, 0])
	moved = x + t[max(n for n in t.files if n.startswith('u/'))][-1]
	wanted = [int(np.linalg.norm(x - p, axis=1).argmin()) for p in ([1.5, 1, -0.5], [3, 0, 1.5])]
	assert json.loads(bytes(t['meta']))['dynamic'] == sorted(wanted), wanted
	parts = spots((png('none.png') != png('marks.png')).any(2))
	assert len(parts) == 2, len(parts)
	for part, v in zip(parts, wanted):
	    row = high[0] + 1 - (moved[v, 2] - x[:, 2].min()) * scale
	    column = low[1] + (moved[v, 0] - x[:, 0].min()) * scale
	    assert np.abs(part.mean(0) + 0.5 - [row, column]).max() < 1, (part.mean(0), row, column)
	    side = 2 * 0.008 * np.linalg.norm(np.ptp(x, axis=0)) * scale
	    assert np.abs(np.ptp(part, axis=0) + 1 - side).max() < 2, (np.ptp(part, axis=0), side)
	added = json.loads(bytes(np.load('added.npz')['meta']))['dynamic']
	assert len(added) > 1, added
	END
    refused 3 '^simrender: full.npz: --dynamic: it names no dynamic vertices' simrender mesh.npz full.npz --dynamic --frames 0 -o out.png
    refused 2 '^simrender: --dynamic applies to a trajectory$' simrender mesh.npz --dynamic -o out.png
    for change in '[1, 1]' '"x"' '[-1]' '[1000000]' '[0.5]'; do
        "$PYTHON" "$BATS_TEST_DIRNAME/forge.py" cj.npz bad.npz "meta['dynamic'] = $change" || fault forge.py
        refused 3 '^simrender: bad.npz: meta: "dynamic"' simrender mesh.npz bad.npz --dynamic --frames 0 -o out.png
    done
    no_faults
}
