#!/usr/bin/env bats
# Bases: the part of a displacement that they miss, forged files that simverify has to find, names in pictures and exports.

load common

# The numbers of a column of the table t.csv, of the rows that begin with a word.
table() {
    awk -F, -v word="$1" -v column="$2" '$1 == word { print $column }' t.csv
}

@test "simcompare --projection: fields in the span of the basis have no error" {
    local kind threads
    ending=
    done_well simcompare --projection --mesh mesh.npz traj.npz --basis basis.npz basis.npz --atol 1e-14 -q
    done_well simcompare --projection --mesh mesh.npz basis.npz basis.npz --atol 1e-14 -q
    done_well simcompare --projection --mesh mesh.npz traj.npz --basis basis.npz basis.npz --atol 1e-14 --csv t.csv
    grep -q '^frame 0 0 s: at rest$' "$stdout" || fault 'frame 0 is not said to be at rest'
    grep -q '^21 frames, 1 at rest; total error' "$stdout" || fault "$(tail -n 1 "$stdout")"
    [ "$(head -n 1 t.csv)" = what,number,time,size,missed,relative,worst ] || fault "$(head -n 1 t.csv)"
    [ "$(table frame 2 | tr '\n' ' ')" = "$(seq -s ' ' 0 20) " ] || fault "frames: $(table frame 2)"
    [ "$(table leading 2 | tr '\n' ' ')" = "$(seq -s ' ' 1 6) " ] || fault "columns: $(table leading 2)"
    for threads in 1 3; do
        simcompare --projection --mesh mesh.npz traj.npz --basis basis.npz deriv.npz --threads $threads --csv t$threads.csv --atol 1 -q || fault "threads $threads"
    done
    same_bytes t1.csv t3.csv 'threads change nothing'
    table leading 6 | sort -grc || fault "more columns miss more: $(table leading 6)"
    for kind in deriv modes; do
        done_well simcompare --projection --mesh mesh.npz $kind.npz basis.npz --atol 1 -q
    done
    input=traj.npz done_well simcompare --projection --mesh mesh.npz - basis.npz --basis basis.npz --atol 1e-14 -q
    cat deriv.npz | simcompare --projection --mesh mesh.npz - basis.npz --atol 1 -q || fault 'derivatives from a pipe'
    try simcompare --projection --mesh mesh.npz full.npz basis.npz -q
    [ "$code" = 1 ] || fault "a motion outside of the basis: exit $code"
    [ ! -s "$stdout" ] || fault 'it prints with --quiet'
    no_faults
}

@test "simcompare --projection agrees with NumPy" {
    needs_numpy
    simfull mesh.npz -q --loads loads.csv --dt 0.01 --steps 12 -o way.npz
    try simcompare --projection --mesh mesh.npz way.npz deriv.npz --csv t.csv
    [ "$code" = 1 ] || fault "exit $code: $err"
    "$PYTHON" - <<-'END' || fault 'NumPy says otherwise'
	import csv, sys
	import numpy as np
	m, f, d = np.load('M.npz'), np.load('way.npz'), np.load('deriv.npz')
	dof = m['dof']
	M = np.zeros((len(dof), len(dof)))
	for i in range(len(dof)):
	    s = slice(m['indptr'][i], m['indptr'][i + 1])
	    M[i, m['indices'][s]] = m['data'][s]
	C = np.linalg.cholesky(M).T
	names = sorted(n for n in f.files if n.startswith('u/'))
	u = np.concatenate([f[n].reshape(-1, d['U'].shape[0]) for n in names])
	X, B = C @ u.T[dof], C @ d['U'][dof]
	rows = list(csv.DictReader(open('t.csv')))
	frame = [r for r in rows if r['what'] == 'frame']
	leading = [r for r in rows if r['what'] == 'leading']
	assert len(frame) == X.shape[1] and len(leading) == B.shape[1], (len(frame), X.shape, len(leading), B.shape)
	size = np.linalg.norm(X, axis=0)
	for k in range(1, B.shape[1] + 1):
	    Q, s, _ = np.linalg.svd(B[:, :k] / np.linalg.norm(B[:, :k], axis=0), full_matrices=False)
	    Q = Q[:, s > 1e-10]
	    left = np.linalg.norm(X - Q @ (Q.T @ X), axis=0)
	    total, worst = np.linalg.norm(left) / np.linalg.norm(size), np.max(left[1:] / size[1:])
	    assert abs(float(leading[k - 1]['relative']) - total) < 1e-9, (k, total, leading[k - 1])
	    assert abs(float(leading[k - 1]['worst']) - worst) < 1e-9, (k, worst, leading[k - 1])
	for r, n, l in zip(frame, size, left):
	    assert abs(float(r['size']) - n) <= 1e-12 * size.max() and abs(float(r['missed']) - l) <= 1e-9 * size.max(), (r, n, l)
	END
    no_faults
}

@test "simcompare --projection and --angles: refusals" {
    local line
    for line in "full.npz basis.npz" "full.npz basis.npz --mesh mesh.npz --rtol 1" "full.npz basis.npz --mesh mesh.npz --signs" \
        "full.npz basis.npz --mesh mesh.npz --angles" "full.npz basis.npz --mesh mesh.npz --after 1" \
        "modes.npz basis.npz --mesh mesh.npz --basis basis.npz" "mesh.npz basis.npz --mesh mesh.npz"; do
        # shellcheck disable=SC2086
        refused 2 '^simcompare: ' simcompare --projection $line
    done
    refused 2 '^simcompare: --angles takes' simcompare --angles basis.npz modes.npz --mesh mesh.npz --rtol 1
    refused 2 '^simcompare: traj.npz: it holds reduced coordinates: name' simcompare --projection --mesh mesh.npz traj.npz basis.npz
    refused 3 '^simcompare: twin-modes.npz: it was made from another mesh' simcompare --projection --mesh mesh.npz full.npz twin-modes.npz
    refused 3 '^simcompare: other-modes.npz: ' simcompare --projection --mesh mesh.npz other-modes.npz basis.npz
    refused 3 '^simcompare: K.npz: a file of kind sparse' simcompare --projection --mesh mesh.npz K.npz basis.npz
    refused 3 '^simcompare: modes.npz: --mesh: it is no mesh' simcompare --projection --mesh modes.npz full.npz basis.npz
    no_faults
}

# forged CODE PATTERN KIND STATEMENTS: simverify of the forged file ends with the code, and prints a line that matches.
forged() {
    local text
    "$PYTHON" "$SUPPLE_SOURCE/tests/cli/forge.py" "$3.npz" forged.npz "$4" || fault "forge.py: $4"
    try simverify -q forged.npz mesh.npz modes.npz free.npz free-modes.npz
    text=$(cat "$stdout")$err
    [ "$code" = "$1" ] || fault "$3: $4: exit $code, not $1: $text"
    grep -qE -- "$2" <<< "$text" || fault "$3: $4: no line matches $2: $text"
    grep '^FAIL' "$stdout" | grep -vE -- "$2" > others || true
    [ "$1" != 0 ] || [ ! -s others ] || fault "$3: $4: $(cat others)"
}

@test "simverify finds forged files with a valid hash" {
    needs_numpy
    modes free.npz -q -k 9 -o free-modes.npz
    modalderiv free.npz free-modes.npz -q -o free-deriv.npz
    masspca mesh.npz modes.npz deriv.npz --lumping lumped -q -r 5 -o lumped.npz
    # correct files pass, and unknown members are ignored
    forged 0 '^ok   forged.npz hash' basis 'pass'
    forged 0 '^note forged.npz reduced spectrum' basis 'm["colour"] = np.arange(5.0)'
    forged 0 '^ok   forged.npz orthonormal' basis 'm["U"] *= -1'
    forged 0 '^ok   forged.npz orthonormal in the lumped mass' lumped 'pass'
    forged 0 '^ok   forged.npz rigid modes are rigid motions' free-modes 'pass'
    forged 0 '^ok   forged.npz residual of' free-deriv 'pass'
    # bases
    forged 1 '^FAIL forged.npz orthonormal' basis 'm["U"][:, 2] *= 1 + 1e-11'
    forged 1 'orthonormality: worst of columns 3 and 3' basis 'm["U"][:, 2] *= 2'
    forged 1 '^FAIL forged.npz rank: 5 \(6\)' basis 'm["U"][:, 4] = m["U"][:, 1]'
    forged 1 '^FAIL forged.npz rank: 5 \(6\)' basis 'm["U"][:, 3] = 0'
    forged 1 'reduced spectrum: none' basis 'm["U"][:, 3] = 0'
    forged 1 'orthonormal in the lumped mass, meta says consistent' lumped 'meta["mass"] = "consistent"'
    forged 1 '^FAIL forged.npz orthonormal in the lumped' basis 'meta["mass"] = "lumped"'
    forged 1 '^FAIL forged.npz orthonormal' basis 'm["U"] = np.random.default_rng(1).standard_normal(m["U"].shape)'
    forged 1 '^FAIL forged.npz orthonormal' basis 'm["U"] *= 1e200'
    forged 1 '^FAIL forged.npz fixed rows' basis 'm["U"][3 * np.load("mesh.npz")["fixed"][0], 0] = 1e-9'
    forged 1 '^FAIL forged.npz singular values descending' basis 'm["singular_value"][:2] = m["singular_value"][1::-1]; del result["singular_values"]'
    forged 1 '^FAIL forged.npz singular values as stated' basis 'm["singular_value"] *= 2'
    forged 1 '^FAIL forged.npz columns within the stated rank' basis 'result["rank"] = 5'
    forged 3 'singular_value: value 5 is -1' basis 'm["singular_value"][5] = -1'
    forged 3 'not (finite|a number)' basis 'm["U"][100, 3] = np.nan'
    forged 3 'not (finite|a number)' basis 'm["singular_value"][0] = np.inf'
    forged 1 '^FAIL forged.npz rows' basis 'm["U"] = m["U"][:-3]'
    # modes
    forged 1 '^FAIL forged.npz ascending' modes 'm["eigenvalue"][2:4] = m["eigenvalue"][3:1:-1]'
    forged 1 '^FAIL forged.npz residual' modes 'm["eigenvalue"][[0, 3]] = m["eigenvalue"][[3, 0]]'
    forged 1 '^FAIL forged.npz Rayleigh quotient' modes 'm["eigenvalue"][1] *= 1.001'
    forged 1 '^FAIL forged.npz residual as stated' modes 'm["residual"][0] = 1e-3; result["largest_residual"] = 1e-3'
    forged 1 '^FAIL forged.npz largest residual as stated' modes 'result["largest_residual"] = 0.0'
    forged 1 '^FAIL forged.npz rigid motions: 1 ' modes 'meta["rigid"] = result["rigid"] = 1; m["eigenvalue"][0] = 0'
    forged 1 '^FAIL forged.npz rigid modes are rigid motions' modes 'meta["rigid"] = 1'
    forged 1 '^FAIL forged.npz orthonormal' modes 'm["U"][:, 0] *= 1.0001'
    forged 1 '^FAIL forged.npz rigid motions: 5 ' free-modes 'meta["rigid"] = result["rigid"] = 5'
    forged 1 '^FAIL forged.npz rigid motions as stated' free-modes 'meta["rigid"] = 5'
    forged 1 '^FAIL forged.npz rigid motions: 7 ' free-modes 'meta["rigid"] = result["rigid"] = 7; m["eigenvalue"][6] = 0'
    forged 1 '^FAIL forged.npz rigid modes are rigid motions' free-modes 'm["U"][:, [0, 7]] = m["U"][:, [7, 0]]'
    # derivatives
    forged 1 '^FAIL forged.npz residual' deriv 'm["U"][:, 1] *= 1.0001'
    forged 1 '^FAIL forged.npz residual' deriv 'm["pair"][[0, 1]] = m["pair"][[1, 0]]'
    forged 1 '^FAIL forged.npz pairs' deriv 'm["pair"][0, 1] = 4'
    no_faults
}

@test "simverify reports the span of columns" {
    needs_numpy
    modes free.npz -q -k 9 -o free-modes.npz
    masspca free.npz free-modes.npz --scaling none -q -o free-basis.npz
    try simverify free.npz free-basis.npz -q
    grep -q '^note free-basis.npz rigid motions: 6 of the 6 that the fixed vertices leave are in its span$' "$stdout" || fault "$(cat "$stdout")"
    # a basis of the modes has the eigenvalues of the modes as its spectrum
    masspca mesh.npz modes.npz --scaling none -q -o own.npz
    try simverify mesh.npz own.npz -q
    [ "$code" = 0 ] || fault "exit $code"
    "$PYTHON" - "$(sed -n 's/^note own.npz reduced spectrum: //p' "$stdout")" <<-'END' || fault 'the spectrum is not that of the modes'
	import sys
	import numpy as np
	low, _, high, _ = sys.argv[1].split()
	f = np.sqrt(np.load('modes.npz')['eigenvalue'][[0, -1]]) / (2 * np.pi)
	assert np.allclose([float(low), float(high)], f, rtol=2e-6), (sys.argv[1], f)
	END
    # snapshots promise nothing but their size
    "$PYTHON" - <<-'END'
	import numpy as np
	U = np.load('basis.npz')['U']
	np.savez('snapshots.npz', U=np.asfortranarray(np.column_stack([U[:, 0], U[:, 1], 0 * U[:, 0], U[:, 0] - 2 * U[:, 1]])))
	U = U.copy('F')
	U[3 * np.load('mesh.npz')['fixed'][0] + 1, 2] = 0.25
	np.savez('moved.npz', U=U)
	np.savez('short.npz', U=U[:-3])
	END
    try simverify mesh.npz snapshots.npz -q
    [ "$code" = 0 ] || fault "shapes: exit $code"
    grep -q '^note snapshots.npz rank: 2 of 4 columns, condition ' "$stdout" || fault "shapes: $(cat "$stdout")"
    grep -q '^note snapshots.npz columns at rest: 1 of 4$' "$stdout" || fault "shapes: $(cat "$stdout")"
    try simverify mesh.npz moved.npz -q
    [ "$code" = 0 ] || fault "moved: exit $code"
    grep -q '^note moved.npz fixed rows: fixed vertices move by up to 0.25 m$' "$stdout" || fault "moved: $(cat "$stdout")"
    try simverify mesh.npz short.npz -q
    [ "$code" = 1 ] || fault "short: exit $code"
    no_faults
}

@test "simexport: arrays of a VTU name their columns" {
    if ! "$PYTHON" -c 'import vtk, numpy' 2> /dev/null; then
        skip "no VTK"
    fi
    masspca mesh.npz modes.npz deriv.npz -q -r 3 -o few.npz
    for kind in modes deriv few; do
        done_well simexport mesh.npz $kind.npz -q -o $kind.vtu
    done
    done_well simexport mesh.npz modes.npz -q --columns 3,1 --surface -o chosen.vtu
    "$PYTHON" - <<-'END' || fault 'VTK reads something else'
	import numpy as np
	import vtk
	from vtk.util.numpy_support import vtk_to_numpy
	def read(name):
	    reader = vtk.vtkXMLUnstructuredGridReader()
	    reader.SetFileName(name)
	    reader.Update()
	    grid = reader.GetOutput()
	    points, field = grid.GetPointData(), grid.GetFieldData()
	    return ({points.GetArrayName(i): vtk_to_numpy(points.GetArray(i)) for i in range(points.GetNumberOfArrays())},
	            {field.GetArrayName(i): vtk_to_numpy(field.GetArray(i)) for i in range(field.GetNumberOfArrays())})
	modes = np.load('modes.npz')
	hertz = np.sqrt(modes['eigenvalue']) / (2 * np.pi)
	points, field = read('modes.vtu')
	assert list(points) == ['mode_%03d' % (i + 1) for i in range(4)], points.keys()
	assert np.allclose(field['frequency'], hertz, rtol=1e-14, atol=0), field
	for i in range(4):
	    assert (points['mode_%03d' % (i + 1)].ravel() == modes['U'][:, i]).all()
	points, field = read('chosen.vtu')
	assert list(points) == ['mode_003', 'mode_001'] and np.allclose(field['frequency'], hertz[[2, 0]], rtol=1e-14, atol=0), (points, field)
	points, field = read('deriv.vtu')
	assert list(points) == ['derivative_%03d_%03d' % tuple(p + 1) for p in np.load('deriv.npz')['pair']] and not field, (points, field)
	points, field = read('few.vtu')
	assert list(points) == ['basis_001', 'basis_002', 'basis_003'], points.keys()
	assert (field['singular_value'] == np.load('few.npz')['singular_value']).all(), field
	END
    no_faults
}

@test "simrender: the size at which columns are drawn" {
    needs_numpy
    local how
    ending=.png
    "$PYTHON" - <<-'END'
	import numpy as np
	U = np.load('basis.npz')['U'][:, :4]
	np.savez('plain.npz', U=U)
	np.savez('sized.npz', U=np.asfortranarray(U * [4, 1, 0.125, 1024])) # powers of two: no digit changes
	END
    for how in auto largest mass none; do
        for file in plain sized; do
            done_well simrender mesh.npz $file.npz --sheet 3x2 --normalize $how --size 480x240 --samples 1 --elements -q -o $file-$how.png
        done
    done
    same_bytes plain-largest.png sized-largest.png 'largest: the size in the file does not count'
    same_bytes plain-mass.png sized-mass.png 'mass: the size in the file does not count'
    same_bytes plain-auto.png plain-none.png 'shapes are drawn as they are'
    same_bytes sized-auto.png sized-none.png 'shapes are drawn as they are'
    ! cmp -s plain-none.png sized-none.png || fault 'none: the size in the file counts'
    ! cmp -s plain-mass.png plain-largest.png || fault 'mass and largest are the same'
    done_well simrender mesh.npz modes.npz --sheet 2x2 --normalize largest --size 240x180 --samples 1 -q -o a.png
    done_well simrender mesh.npz modes.npz --sheet 2x2 --size 240x180 --samples 1 -q -o b.png
    same_bytes a.png b.png 'modes are drawn by their largest displacement'
    done_well simrender mesh.npz plain.npz --sheet 2x2 --color energy --size 240x180 --samples 1 -q -o c.png
    refused 2 '^simrender: --normalize applies to columns$' simrender mesh.npz basis.npz traj.npz --normalize mass --sheet 2x2 -o out.png
    refused 2 '^simrender: --normalize applies to columns$' simrender mesh.npz --normalize none -o out.png
    refused 2 '^simrender: --color energy: --normalize' simrender mesh.npz plain.npz -q --normalize mass --color energy --sheet 2x2 -o out.png
    refused 2 '^simrender: --color energy: modes have no size' simrender mesh.npz modes.npz --normalize none --color energy --sheet 2x2 -o out.png
    no_faults
}

@test "simrender: shadows and backgrounds, the same bytes for any number of threads, or a line that says why not" {
    local threads
    ending=.png
    done_well simrender scene.json --size 160x120 -q -o auto.png
    done_well simrender scene.json --size 160x120 --shadows none -q -o none.png
    done_well simrender scene.json --size 160x120 --shadows none --background dark -q -o dark.png
    cmp -s none.png dark.png && fault 'the background makes no difference'
    refused 2 '^simrender: --shadows does not apply beside --slice$' simrender field.npz --slice z=0.5 --shadows fine -o out.png
    if simrender scene.json --size 160x120 --shadows fine -q -o fine.png 2> err; then
        same_bytes auto.png fine.png 'pictures have fine shadows'
        for threads in 1 2 3; do
            done_well simrender scene.json --size 160x120 --shadows draft --threads $threads -q -o t$threads.png
            same_bytes t1.png t$threads.png "$threads threads"
        done
        for kind in none fine; do
            cmp -s t1.png $kind.png && fault "a draft is what $kind is"
        done
    else
        same_bytes auto.png none.png 'a build without Embree'
        refused 2 '^simrender: --shadows: this build has none, they need Embree' simrender scene.json --shadows fine -o out.png
    fi
    no_faults
}

# Stretched by 10 % along x: E = (1.1² - 1)/2 in one direction, J = 1.1, and by Hooke's law for S.
@test "simrender: stress and strain of a body that is stretched evenly" {
    needs_numpy
    local color
    ending=.png
    "$PYTHON" - <<-'END'
	import json
	import numpy as np
	m = np.load('mesh.npz')
	x = m['vertices']
	np.savez('stretched.npz', U=np.asfortranarray((0.1 * x * [1, 0, 0]).reshape(-1, 1)))
	material, = json.loads(bytes(m['meta']))['materials']
	assert material['law'] == 'stvk', material
	young, nu = material['young'], material['poisson']
	mu, lam, E = young / (2 * (1 + nu)), young * nu / ((1 + nu) * (1 - 2 * nu)), (1.1 ** 2 - 1) / 2
	along, across = 1.1 ** 2 * (lam + 2 * mu) * E / 1.1, lam * E / 1.1
	print('strain', E, 'stress', along, 'mises', along - across, 'energy', (lam / 2 + mu) * E ** 2, file=open('expected', 'w'))
	END
    for color in strain stress mises energy; do
        done_well simrender mesh.npz stretched.npz --color $color --size 120x90 --samples 1 --shadows none -o out.png
        "$PYTHON" - $color "$err" <<-'END' || fault "$color: $err, not $(cat expected)"
	import re, sys
	expected = open('expected').read().split()
	expected = float(expected[expected.index(sys.argv[1]) + 1])
	low, high = map(float, re.search('range of the colours: (.*) to (.*)', sys.argv[2]).groups())
	assert abs(low / expected - 1) < 1e-8 and abs(high / expected - 1) < 1e-8, (low, high, expected) # nine digits are printed
	END
    done
    refused 2 '^simrender: --color mises: modes have no size' simrender mesh.npz modes.npz --color mises --sheet 2x2 -o out.png
    no_faults
}

@test "simrender: contour lines of a slice are seen at half of its size" {
    needs_numpy
    ending=.png
    distfield bar.obj -q -n 24 --box-scale 3 -o slice.npz
    done_well simrender slice.npz --slice y=0.5 --contours 0.25 -o slice.png
    PYTHONPATH=$BATS_TEST_DIRNAME "$PYTHON" - <<-'END' || fault 'the lines'
	import numpy as np
	from pixels import linear, png
	f = np.load('slice.npz')
	origin, h, cells = f['origin'], float(f['spacing']), np.array(f['distance'].shape) - 1
	v = np.array([l.split()[1:4] for l in open('bar.obj') if l.startswith('v ')], float)
	picture = linear(png('slice.png')).sum(2)
	scale = picture.shape[1] / (h * cells[0])               # pixels of a metre
	high = int(round(scale * h * cells[2]))
	row = high - int(scale * (v[:, 2].mean() - origin[2]))  # at half the height of the bar: distances are along x
	half = picture[row - row % 2:, :][:2].reshape(2, -1, 2).mean((0, 2))
	lines = 0
	for k in range(1, 40):
	    at = [scale * (x - origin[0]) / 2 - 0.5 for x in (v[:, 0].min() - 0.25 * k, v[:, 0].max() + 0.25 * k)]
	    for x in at:
	        if 6 < x < len(half) - 6:
	            i = int(round(x))
	            beside = (half[i - 4] + half[i + 4]) / 2
	            dark = half[i - 1:i + 2].min()
	            assert dark < 0.75 * beside, ('a line is faint', k, dark, beside)
	            assert abs(half[i - 5] / half[i + 5] - 1) < 0.2, ('no other line nearby', k)
	            lines += 1
	assert lines >= 6, lines
	END
    no_faults
}

@test "simrender: the points of a shell by level" {
    needs_numpy
    local threads
    ending=.png
    pointshell mesh.npz --points 400 --levels 3 -q -o levels.npz
    for threads in 1 3; do
        done_well simrender mesh.npz levels.npz --sheet auto --size 240x180 -t $threads -q -o t$threads.png
    done
    same_bytes t1.png t3.png 'threads'
    done_well simrender levels.npz mesh.npz --sheet 2x2 --size 240x180 -q -o given.png
    same_bytes t1.png given.png 'three levels'
    done_well simrender levels.npz --size 240x180 --samples 1 --shadows none -q -o alone.png
    input=levels.npz done_well simrender - --size 240x180 --samples 1 --shadows none -q -o pipe.png
    same_bytes alone.png pipe.png 'from a pipe'
    voxelize bar.obj -q -n 4 -o other.npz
    refused 2 '^simrender: levels.npz: a picture is of one point shell' simrender levels.npz levels.npz -o out.png
    refused 3 '^simrender: levels.npz: .*made from another mesh' simrender levels.npz other.npz -o out.png
    refused 2 '^simrender: a point shell makes one picture' simrender levels.npz -o out_%d.png
    refused 2 '^simrender: a point shell makes one picture' simrender levels.npz -o out.mp4
    refused 2 '^simrender: --lines applies to a trajectory or columns or a mesh$' simrender levels.npz --lines -o out.png
    no_faults
}

# Seen from -x, the fixed end of the bar has a mark at each of its vertices: the centroid of red is that of the vertices.
@test "simrender: marks at the fixed vertices" {
    needs_numpy
    command -v ffmpeg > /dev/null || skip "no ffmpeg"
    ending=.png
    done_well simrender mesh.npz --elements --fixed --view -1,0,0 --angle 0 --size 300x300 --shadows none -q -o marks.png
    done_well simrender mesh.npz --elements --view -1,0,0 --angle 0 --size 300x300 --shadows none -q -o plain.png
    "$PYTHON" - <<-'END' || fault 'marks are elsewhere'
	import struct, subprocess, zlib
	import numpy as np
	def png(name):
	    raw = subprocess.run(['ffmpeg', '-nostdin', '-loglevel', 'error', '-i', name, '-f', 'rawvideo', '-pix_fmt', 'rgb24', '-'],
	                         stdout=subprocess.PIPE, check=True).stdout
	    return np.frombuffer(raw, np.uint8).reshape(300, 300, 3).astype(int)
	m = np.load('mesh.npz')
	x = m['vertices']
	end = x[m['fixed']]
	assert np.ptp(end[:, 0]) == 0 and end[0, 0] == x[:, 0].min(), end
	a, b = png('marks.png'), png('plain.png')
	red = np.argwhere((a != b).any(2))
	body = np.argwhere((b != b[:, :1]).any(2))
	low, high = body.min(0), body.max(0)   # pixels of the end of the bar, seen from the front: rows, columns
	middle = (end[:, 1:].mean(0) - x[:, 1:].min(0)) / np.ptp(x[:, 1:], axis=0)
	expected = high[0] + 0.5 - middle[1] * (high[0] + 1 - low[0]), high[1] + 0.5 - middle[0] * (high[1] + 1 - low[1])
	assert len(red) > 10 * len(end) and np.abs(red.mean(0) - expected).max() < 1.5, (len(red), red.mean(0), expected)
	END
    refused 2 '^simrender: --fixed applies to' simrender scene.json --fixed -o out.png
    no_faults
}

@test "simrender: near-square sheets, and colours that a range cuts off" {
    local cells
    ending=.png
    for cells in 4:2x2 3:2x2 2:2x1 1:1x1; do
        done_well simrender mesh.npz modes.npz --columns 1-${cells%:*} --sheet auto --size 240x180 --samples 1 --shadows none -q -o auto.png
        done_well simrender mesh.npz modes.npz --columns 1-${cells%:*} --sheet ${cells#*:} --size 240x180 --samples 1 --shadows none -q -o given.png
        same_bytes auto.png given.png "$cells"
    done
    # the largest displacement of a mode counts as 1
    done_well simrender mesh.npz modes.npz --columns 1 --elements --color displacement --range 0,0.5 --size 240x180 -o part.png
    [[ $err == *'--range cuts colours off: the values drawn are 0 to 1'* ]] || fault "$err"
    done_well simrender mesh.npz modes.npz --columns 1 --elements --color displacement --range 0,1 --size 240x180 -o whole.png
    [[ $err != *'cuts'* ]] || fault "$err"
    "$PYTHON" "$BATS_TEST_DIRNAME/move.py" scene.json long.npz 401
    refused 2 '--sheet auto: 401 pictures are more than 400' simrender scene.json long.npz --sheet auto -o out.png
    refused 2 '--sheet: "automatic" is not two numbers' simrender mesh.npz modes.npz --sheet automatic -o out.png
    no_faults
}

@test "simrender: a picture without its colour bar, and captions that are legible in narrow cells" {
    needs_numpy
    # The letters of both pictures have the same size, so that both have the same camera. The bar takes 192 pixels.
    local what='mesh.npz full.npz --frames 3 --color displacement --range 0,1 --samples 1 --shadows none'
    # shellcheck disable=SC2086
    done_well simrender $what --size 512x300 -q -o with.png
    # shellcheck disable=SC2086
    done_well simrender $what --size 320x300 --no-bar -q -o without.png
    PYTHONPATH=$BATS_TEST_DIRNAME "$PYTHON" - <<-'END' || fault 'pixels'
	from pixels import png
	whole, part = png('with.png'), png('without.png')
	assert part.shape == (300, 320, 3)
	differing = (whole[:, :320] != part).any(2).sum()
	assert differing == 0, differing
	assert len({tuple(p) for p in whole[150:200, 320:400].reshape(-1, 3)}) > 20, 'no bar'
	END
    refused 2 '--no-bar' simrender mesh.npz full.npz --frames 3 --no-bar -o out.png
    no_faults
}

@test "simrender: the same series for any number of threads, in order, and only the first failure is reported" {
    local how
    for how in '--color energy --lines' '--color displacement --rest' '--elements --frames 2- --box=-1,-1,-1,1,1,1'; do
        for threads in 1 2 3 16; do
            mkdir -p t$threads
            # shellcheck disable=SC2086
            simrender mesh.npz full.npz --size 200x150 $how -t $threads -q -o t$threads/f_%03d.png || fault "$how, $threads threads: exit $?"
            [ "$(ls t$threads | wc -l)" -gt 2 ] || fault "$how, $threads threads: $(ls t$threads)"
            diff -r t1 t$threads > said || fault "$how, $threads threads: $(< said)"
        done
        rm -r t1 t2 t3 t16
    done
    # each picture alone equals that of the series
    simrender mesh.npz modes.npz --size 200x150 --box=-1,-1,-1,1,1,1 -t 2 -q -o f_%03d.png
    simrender mesh.npz modes.npz --size 200x150 --box=-1,-1,-1,1,1,1 --columns 3 -t 2 -q -o third.png
    same_bytes f_002.png third.png 'the third of a series'
    needs_numpy
    "$PYTHON" "$SUPPLE_SOURCE/tests/cli/forge.py" modes.npz far.npz 'm["U"][:, 1:] *= 1e300' || fault 'forge.py'
    rm f_*.png
    code=0
    simrender mesh.npz far.npz --normalize none --scale 1e-3 --size 200x150 --box=-1,-1,-1,1,1,1 -t 2 -q -o f_%03d.png 2> err || code=$?
    [ $code = 3 ] && [ "$(wc -l < err)" = 1 ] && grep -q '^simrender: ' err || fault "a frame that cannot be drawn: exit $code: $(< err)"
    [ -z "$(echo f_*.png)" ] || fault "pictures of a series that failed: $(echo f_*.png)" # all pictures appear together
    no_litter 'a failure'
    no_faults
}

@test "simverify certifies every kind of basis" {
    local method lumping scaling parts
    modes free.npz -q -k 9 -o free-modes.npz
    modalderiv free.npz free-modes.npz -q -o free-deriv.npz
    modes mesh.npz -q -k 4 --lumping lumped -o lumped-modes.npz
    simfull mesh.npz -q --loads loads.csv --dt 0.02 --steps 8 -o way.npz
    ending=
    done_well simverify mesh.npz lumped-modes.npz -q
    for method in pca gram-schmidt; do
        for lumping in consistent lumped; do
            for scaling in auto none; do
                for parts in "mesh.npz modes.npz deriv.npz" "mesh.npz basis.npz way.npz" "free.npz free-modes.npz free-deriv.npz"; do
                    # shellcheck disable=SC2086
                    masspca $parts --method $method --lumping $lumping --scaling $scaling -q -o made.npz 2> said || fault "$parts $method $lumping $scaling: $(< said)"
                    done_well simverify "${parts%% *}" made.npz -q
                    grep -q "^ok   made.npz orthonormal in the $lumping mass" "$stdout" || fault "$parts $method $lumping $scaling: $(cat "$stdout")"
                    grep -q "^note made.npz reduced spectrum: [0-9]" "$stdout" || fault "$parts $method $lumping $scaling: $(cat "$stdout")"
                    ! grep '^skip' "$stdout" || fault "$parts: something was skipped"
                done
            done
        done
    done
    no_faults
}

@test "simexport --to gram: inner products of columns" {
    has yang2015 || skip 'this build has no sums over samples'
    local samples ending=.csv
    done_well simexport mesh.npz basis.npz -q --to gram -o b.csv
    [ "$(head -n 1 b.csv)" = u1,u2,u3,u4,u5,u6 ] || fault "$(head -n 1 b.csv)"
    awk -F, 'NR > 1 { for (i = 1; i <= NF; i++) if (($i - (i == NR - 1)) ^ 2 > 1e-24) exit 1 }' b.csv || fault 'a basis is not orthonormal'
    done_well simexport deriv.npz mesh.npz -q --to gram --columns 3,1 -o two.csv
    [ "$(head -n 1 two.csv)" = u3,u1 ] || fault "$(head -n 1 two.csv)"
    [ "$(wc -l < two.csv)" = 3 ] || fault "$(wc -l < two.csv) lines"
    simexport mesh.npz deriv.npz -q --to gram -o - > piped.csv
    done_well simexport mesh.npz deriv.npz -q --to gram -o d.csv
    same_bytes d.csv piped.csv 'a pipe'
    for samples in 40 100000; do
        done_well simexport mesh.npz deriv.npz -q --to gram --samples $samples -o d$samples.csv
    done
    refused 2 'need the mesh' simexport basis.npz --to gram -o out.csv
    refused 2 'need the mesh' simexport mesh.npz --to gram -o out.csv
    refused 2 'need the mesh' simexport mesh.npz basis.npz traj.npz --to gram -o out.csv
    refused 2 '^simexport: --samples applies to --to gram$' simexport mesh.npz basis.npz traj.npz --samples 9 -o out.csv
    refused 2 '^simexport: --frames applies to a trajectory or' simexport mesh.npz basis.npz --to gram --frames 1 -o out.csv
    no_faults
    needs_numpy
    modes mesh.npz -q -k 4 --lumping lumped --write-mass lumped.npz -o unused.npz
    "$PYTHON" - <<-'END' || fault 'NumPy says otherwise'
	import numpy as np
	U = np.load('deriv.npz')['U']
	def product(name):
	    m = np.load(name)
	    M, V = np.zeros((len(m['dof']),) * 2), U[m['dof']]
	    for i in range(len(M)):
	        s = slice(m['indptr'][i], m['indptr'][i + 1])
	        M[i, m['indices'][s]] = m['data'][s]
	    return V.T @ M @ V
	def off(name, G):
	    C = np.loadtxt(name, delimiter=',', skiprows=1)
	    return abs(C - G).max() / abs(G).max()
	G, L = product('M.npz'), product('lumped.npz')
	assert off('d.csv', G) < 1e-13, off('d.csv', G)
	assert off('two.csv', G[np.ix_([2, 0], [2, 0])]) < 1e-13 * abs(G).max() / abs(G[2, 2])
	assert off('d100000.csv', L) < 1e-13, off('d100000.csv', L) # every vertex is a sample with its own mass
	assert 1e-3 < off('d40.csv', L) < 1, off('d40.csv', L)
	END
    no_faults
}

@test "simrender: captions state the factor of displacements, and an equilibrium has no time" {
    needs_numpy
    simfull mesh.npz --integrator static --gravity 0,0,-1 --dt 0.01 --steps 1 -q -o one.npz
    simfull mesh.npz --integrator static --gravity 0,0,-1 --dt 0.01 --steps 2 -q -o two.npz
    local name size='--size 480x360 --samples 1 --shadows none -q'
    for name in one two full; do
        # shellcheck disable=SC2086
        done_well simrender mesh.npz $name.npz --frames 1 $size -o $name.png
        # shellcheck disable=SC2086
        done_well simrender mesh.npz $name.npz --frames 1 --scale 20 $size -o $name-20.png
    done
    PYTHONPATH=$BATS_TEST_DIRNAME "$PYTHON" - <<-'END' || fault 'captions'
	from pixels import png
	def width(name): # of the ink in the strip of the caption
	    dark = (png(name + '.png')[-30:] < 100).all(2).any(0)
	    return dark.nonzero()[0].max() if dark.any() else 0
	one, two, full = (width(name) for name in ('one', 'two', 'full'))
	assert one == 0 and two > 0 and full > 0, (one, two, full)
	for name, plain in (('one', 0), ('two', two), ('full', full)):
	    assert width(name + '-20') > plain + 80, (name, plain, width(name + '-20'))
	END
    no_faults
}

@test "simrender --sheet: a remark where whole frames do not divide evenly into its cells" {
    local what='mesh.npz basis.npz traj.npz --size 480x120 --samples 1 --shadows none' # 21 frames
    # shellcheck disable=SC2086
    done_well simrender $what --frames 0-8 --sheet 8x1 -o a.png
    [[ $err == *'the cells are 1 to 2 frames apart: 9 frames do not divide evenly into 8 cells'* ]] || fault "$err"
    # shellcheck disable=SC2086
    done_well simrender $what --frames 0-16 --every 2 --sheet 8x1 -o a.png
    [[ $err == *'the cells are 2 to 4 frames apart'* ]] || fault "$err"
    # shellcheck disable=SC2086
    done_well simrender $what --frames 0-14 --sheet 8x1 -o a.png
    [[ $err != *apart* ]] || fault "$err"
    # shellcheck disable=SC2086
    done_well simrender $what --frames 0-7 --sheet 8x1 -o a.png
    [[ $err != *apart* ]] || fault "$err"
    "$PYTHON" "$BATS_TEST_DIRNAME/move.py" scene.json long.npz 9
    done_well simrender scene.json long.npz --sheet 8x1 --size 480x120 --samples 1 --shadows none -o a.png
    [[ $err == *'the cells are 1 to 2 frames apart'* ]] || fault "$err"
    no_faults
}
