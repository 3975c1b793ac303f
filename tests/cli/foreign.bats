#!/usr/bin/env bats
# Bases, modes and reduced forces of other programs: export and import, also by NumPy and SciPy, and refusals.

load common

# same_members A B NAME…: these members have the same bytes, preamble included.
same_members() {
    "$PYTHON" - "$@" <<-'END' || fault "$1 and $2: different members"
	import sys, zipfile
	a, b = (zipfile.ZipFile(f) for f in sys.argv[1:3])
	sys.exit(any(a.read(n + '.npy') != b.read(n + '.npy') for n in sys.argv[3:]))
	END
}

# meta_of FILE: the JSON text of its first member.
meta_of() {
    unzip -p "$1" meta.npy | tail -c +129
}

need_numpy() {
    "$PYTHON" -c 'import numpy, scipy.io' 2> /dev/null || skip "no NumPy and SciPy"
}

@test "columns are exported and imported: NumPy, Matrix Market, VegaFEM" {
    local ending file kind
    for kind in basis modes deriv; do
        for file in $kind.npy $kind.mtx $kind.U; do
            ending=
            done_well simexport $kind.npz -o $file -q
            ending=.npz
            done_well simimport $file --mesh mesh.npz --as snapshots -o back.npz
            same_members $kind.npz back.npz U
            [[ $(meta_of back.npz) == *'"kind": "snapshots"'* || $(meta_of back.npz) == *'"kind":"snapshots"'* ]] || fault "$file: $(meta_of back.npz)"
        done
    done
    ending=.npz
    done_well simexport basis.npz --columns 2,5 -o two.U
    done_well simimport two.U --as snapshots -o two.npz
    ending=
    simexport two.npz -q --to vega-matrix -o - > again.U
    same_bytes two.U again.U 'two columns'
    no_faults
}

@test "simverify certifies imported files of every kind" {
    local ending=.npz
    done_well simexport basis.npz -o b.U
    done_well simimport b.U --mesh mesh.npz -o b.npz
    done_well simexport modes.npz -o m.Ulin
    done_well simimport m.Ulin --mesh mesh.npz -o m.npz
    done_well simexport deriv.npz -o d.modalDeriv
    done_well simimport d.modalDeriv --mesh mesh.npz --modes m.npz -o d.npz
    same_members deriv.npz d.npz U pair
    ending=
    done_well simverify -q mesh.npz b.npz m.npz d.npz
    # eigenvalues by Rayleigh quotients against those of the Lanczos method
    done_well simcompare modes.npz m.npz -q --rtol 1e-10 --atol 1e-10
    # the imported files replace ours
    ending=.npz
    masspca mesh.npz modes.npz deriv.npz -q -r 5 -o five.npz # the sixth singular value is a double one
    done_well masspca mesh.npz m.npz d.npz -r 5 -o own.npz
    ending=
    done_well simcompare five.npz own.npz -q --angles --mesh mesh.npz --atol 1e-6
    ending=.npz
    done_well polycoef mesh.npz b.npz -o p.npz
    same_members poly.npz p.npz mass gravity gram
    no_faults
}

@test "modes of the lumped mass, of a free body" {
    local ending=.npz
    modes mesh.npz -q -k 3 --lumping lumped -o lumped.npz
    done_well simexport lumped.npz -o lumped.Ulin
    done_well simimport lumped.Ulin --mesh mesh.npz -o l.npz
    [[ $(meta_of l.npz) =~ \"mass\":\ ?\"lumped\" ]] || fault "the mass is not lumped: $(meta_of l.npz)"
    refused 3 'not orthonormal in the consistent mass' simimport lumped.Ulin --mesh mesh.npz --lumping consistent -o out.npz
    modes free.npz -q -k 9 -o free-modes.npz
    done_well simexport free-modes.npz -o free.Ulin
    done_well simimport free.Ulin --mesh free.npz -o f.npz
    ending=
    done_well simverify -q free.npz f.npz
    ending=.npz
    done_well simexport free-modes.npz --columns 7-9 -o elastic.Ulin
    refused 3 'has 6 rigid motions, of the first columns 0 are' simimport elastic.Ulin --mesh free.npz -o out.npz
    no_faults
}

@test "reduced forces are exported and imported: .cub" {
    local ending=.npz
    done_well simexport poly.npz -o p.cub
    done_well simimport p.cub --mesh mesh.npz --basis basis.npz -o p.npz
    # mass, gravity and the forces, against the unreduced body
    ending=
    done_well simverify -q mesh.npz basis.npz p.npz
    ending=.npz
    same_members poly.npz p.npz mass gravity
    done_well simulate mesh.npz -q --basis basis.npz --poly p.npz --loads loads.csv --gravity 0,0,-9.81 --dt 0.01 --steps 20 -o a.npz
    done_well simulate mesh.npz -q --basis basis.npz --poly poly.npz --loads loads.csv --gravity 0,0,-9.81 --dt 0.01 --steps 20 -o b.npz
    done_well simcompare a.npz b.npz --basis basis.npz -q --rtol 1e-9 --atol 1e-12
    # parts by material are summed
    polycoef mesh.npz basis.npz -q --by-constant -o parts.npz
    done_well simexport parts.npz -o parts.cub
    done_well simimport parts.cub --mesh mesh.npz --basis basis.npz -o parts2.npz
    done_well simcompare p.npz parts2.npz -q --rtol 1e-9 --atol 1e-9
    # without a basis
    done_well simimport p.cub -o alone.npz
    [[ $err == *'it holds no mass'* ]] || fault "no word on the mass: $err"
    done_well simulate mesh.npz -q --basis basis.npz --poly alone.npz --loads loads.csv --dt 0.01 --steps 20 -o c.npz
    done_well simcompare c.npz traj.npz --basis basis.npz -q --rtol 1e-6 --atol 1e-9
    no_faults
}

@test "a basis on the rendered surface" {
    local ending=.npz
    done_well simexport mesh.npz basis.npz -o b.URendering.float
    [ "$(stat -c %s b.URendering.float)" = $((8 + 4 * 3 * 8 * 6)) ] || fault "b.URendering.float has $(stat -c %s b.URendering.float) bytes"
    done_well simimport b.URendering.float -o s.npz
    refused 3 'of the vertices of the embedded surface' simimport b.URendering.float --mesh mesh.npz -o out.npz
    refused 2 'needs the mesh' simexport basis.npz -o x.URendering.float
    refused 2 'needs the mesh' simexport mesh.npz -o x.URendering.float
    simimport block.veg -q -o block.npz
    modes block.npz -q -k 2 -o block-modes.npz 2> /dev/null || modes block.npz -q -k 1 -o block-modes.npz
    refused 3 'no embedded surface' simexport block.npz block-modes.npz -o x.URendering.float
    # the displacement of a surface vertex by one coordinate, computed in another way
    "$PYTHON" - <<-'END' || fault 'not the interpolated basis'
	import struct, zipfile
	def member(file, name):
	    data = zipfile.ZipFile(file).read(name + '.npy')
	    return data[10 + data[8] + 256 * data[9]:]
	def numbers(file, name, code):
	    data = member(file, name)
	    return struct.unpack('<%d%s' % (len(data) // 8, code), data)
	U, hexes = numbers('basis.npz', 'U', 'd'), numbers('mesh.npz', 'hex', 'q')
	element, weight = numbers('mesh.npz', 'surface/element', 'q'), numbers('mesh.npz', 'surface/weights', 'd')
	data = open('b.URendering.float', 'rb').read()
	rows, columns = struct.unpack('<2i', data[:8])
	values = struct.unpack('<%df' % (rows * columns), data[8:])
	full = len(U) // columns
	for c in range(columns):
	    for v in range(rows // 3):
	        for i in range(3):
	            u = sum(weight[8 * v + a] * U[c * full + 3 * hexes[8 * element[v] + a] + i] for a in range(8))
	            assert abs(u - values[c * rows + 3 * v + i]) <= 1e-7 * max(map(abs, U)), (c, v, i)
	END
    no_faults
}

@test "files written by NumPy and SciPy are read, and ours are read by them" {
    local ending=.npz file
    need_numpy
    "$PYTHON" - <<-'END'
	import numpy as np, scipy.io, scipy.sparse
	U = np.load('basis.npz')['U']
	assert U.flags.f_contiguous
	np.save('f.npy', U)
	np.save('c.npy', np.ascontiguousarray(U))
	np.save('big.npy', U.astype('>f8'))
	np.lib.format.write_array(open('two.npy', 'wb'), U, version=(2, 0))
	np.save('f4.npy', U.astype('f4'))
	scipy.io.mmwrite('dense.mtx', U, precision=17)
	S = np.where(abs(U) > abs(U).max() / 4, U, 0)
	np.save('s.npy', S)
	scipy.io.mmwrite('sparse.mtx', scipy.sparse.coo_matrix(S), precision=17)
	np.savez('plain.npz', U=U)
	np.save('one.npy', U[:, 0])
	np.save('int.npy', np.arange(12).reshape(6, 2))
	np.save('turned.npy', U.T)
	np.save('nan.npy', np.where(U == U.max(), np.nan, U))
	END
    for file in f.npy c.npy big.npy two.npy dense.mtx; do
        done_well simimport $file --as basis --mesh mesh.npz -o a.npz
        same_members basis.npz a.npz U
    done
    done_well simimport f4.npy --as basis --mesh mesh.npz -o f4.npz
    [[ $err == *'orthonormal in the consistent mass within '* ]] || fault "no word on f4: $err"
    done_well simimport s.npy -o s.npz
    done_well simimport sparse.mtx -o sparse.npz
    same_members s.npz sparse.npz U
    # an .npz file with a member U needs no import
    done_well polycoef mesh.npz plain.npz -o p.npz
    same_members p.npz poly.npz mass gravity gram
    refused 3 '1 dimensions, expected 2' simimport one.npy -o out.npz
    refused 3 'type <i8' simimport int.npy -o out.npz
    refused 3 'seems to be transposed' simimport turned.npy --mesh mesh.npz -o out.npz
    refused 3 'is not finite' simimport nan.npy -o out.npz
    done_well simexport basis.npz -o x.npy
    done_well simexport basis.npz -o x.mtx
    done_well simexport basis.npz -o x.U
    done_well simexport poly.npz -o x.cub
    "$PYTHON" - <<-'END' || fault 'NumPy or SciPy read something else'
	import numpy as np, scipy.io
	U, x = np.load('basis.npz')['U'], np.load('x.npy')
	assert x.dtype == np.dtype('<f8') and x.flags.f_contiguous and (x == U).all()
	assert (scipy.io.mmread('x.mtx') == U).all()
	assert tuple(np.fromfile('x.U', '<i4', 2)) == U.shape and (np.fromfile('x.U', '<f8', offset=8) == U.ravel('F')).all()
	assert (np.load('f4.npz')['U'] == U.astype('f4')).all()
	# f(q) from the .cub's monomials against A of poly.npz by the formula of polynomials.md, differentiated numerically
	r = U.shape[1]
	header, body = np.fromfile('x.cub', '<i4', 4), np.fromfile('x.cub', '<f8', offset=16)
	pairs = [(i, j) for i in range(r) for j in range(i, r)]
	triples = [(i, j, k) for i in range(r) for j in range(i, r) for k in range(j, r)]
	assert list(header) == [r, r, len(pairs), len(triples)]
	L, S, C = np.split(body, [r * r, r * r + r * len(pairs)])
	A = np.load('poly.npz')['gram']
	def energy(q):
	    z = np.concatenate([q, [q[i] * q[j] * (0.5 if i == j else 1) for i, j in pairs]])
	    return 0.5 * z @ A @ z
	q = np.sin(1 + np.arange(r)) * 0.3
	f = L.reshape(r, r) @ q + S.reshape(r, -1) @ [q[i] * q[j] for i, j in pairs] + C.reshape(r, -1) @ [q[i] * q[j] * q[k] for i, j, k in triples]
	h = 1e-3
	for a in range(r): # central differences with two steps are exact for a quartic
	    d = [(energy(q + s * h * np.eye(r)[a]) - energy(q - s * h * np.eye(r)[a])) / (2 * s * h) for s in (1, 2)]
	    assert abs((4 * d[0] - d[1]) / 3 - f[a]) < 1e-9 * abs(f).max(), (a, d, f[a])
	END
    no_faults
}

@test "files that do not belong together are refused" {
    local word
    simexport basis.npz -q -o b.U
    simexport modes.npz -q -o m.Ulin
    simexport deriv.npz -q -o d.modalDeriv
    simexport poly.npz -q -o p.cub
    simexport deriv.npz -q --columns 1-7 -o seven.U
    simexport modes.npz -q --columns 3,1 -o order.Ulin
    mv seven.U seven.modalDeriv
    rm -rf x.*
    refused 2 'a basis needs --mesh or --lumping' simimport b.U -o out.npz
    refused 2 'modes need --mesh' simimport m.Ulin -o out.npz
    for word in '--young 1e6' '--quadrature 3' '--turn' '--fixed block.bou' '--fix-vertices 0' '--fix-box 0,0,0,1,1,1'; do
        # shellcheck disable=SC2086
        refused 2 "^simimport: ${word%% *} applies to a mesh\$" simimport b.U --mesh mesh.npz $word -o out.npz
    done
    for word in '--as basis' '--mesh mesh.npz' '--lumping lumped' '--modes modes.npz' '--basis basis.npz'; do
        # shellcheck disable=SC2086
        refused 2 "^simimport: ${word%% *} does not apply to a mesh\$" simimport block.veg $word -o out.npz
    done
    refused 2 '^simimport: --basis applies to polynomials$' simimport b.U --mesh mesh.npz --basis basis.npz -o out.npz
    refused 2 '^simimport: --modes applies to --as derivatives$' simimport b.U --mesh mesh.npz --modes modes.npz -o out.npz
    refused 2 '^simimport: --lumping applies to --as basis or modes$' simimport d.modalDeriv --lumping lumped -o out.npz
    refused 2 '^simimport: --as applies to a matrix$' simimport p.cub --as basis -o out.npz
    refused 2 'its format is not known' simimport - -o out.npz
    refused 3 'the mesh needs' simimport b.U --mesh other.npz -o out.npz
    refused 3 '^simimport: basis.npz: ' simimport b.U --mesh basis.npz -o out.npz
    refused 3 'not orthonormal' simimport d.modalDeriv --mesh mesh.npz --as basis -o out.npz
    refused 3 'column 1 is no mode' simimport b.U --mesh mesh.npz --as modes -o out.npz
    refused 3 'not in the order of their frequencies' simimport order.Ulin --mesh mesh.npz -o out.npz
    refused 3 'it has 7 columns: .* 6 or 10' simimport seven.modalDeriv --mesh mesh.npz -o out.npz
    refused 3 'belong to 4 modes' simimport d.modalDeriv --mesh mesh.npz --modes <(modes mesh.npz -q -k 3 -o -) -o out.npz
    refused 3 'made from another mesh' simimport d.modalDeriv --mesh mesh.npz --modes twin-modes.npz -o out.npz
    refused 3 'made from another mesh' simimport p.cub --mesh mesh.npz --basis twin-basis.npz -o out.npz
    refused 3 'it has 6 coordinates, the basis' simimport p.cub --mesh mesh.npz --basis modes.npz -o out.npz
    head -c 100 b.U > cut.U
    head -c 100 p.cub > cut.cub
    refused 3 '^simimport: cut.U: it has 92 bytes' simimport cut.U --as snapshots -o out.npz
    refused 3 '^simimport: cut.cub: it has 84 bytes' simimport cut.cub -o out.npz
    refused 3 '^simimport: bar.obj: it is no .npy' simimport bar.obj --format npy -o out.npz
    refused 3 '^simimport: bar.obj: it does not begin with %%MatrixMarket' simimport bar.obj --format matrix-market -o out.npz
    refused 3 '^simimport: bar.obj: ' simimport bar.obj --format vega-matrix -o out.npz
    refused 3 '^simimport: bar.obj: ' simimport bar.obj --format cub -o out.npz
    # a force without an energy: one coefficient is another
    "$PYTHON" - <<-'END'
	import struct
	d = open('p.cub', 'rb').read()
	v = list(struct.unpack('<%dd' % ((len(d) - 16) // 8), d[16:]))
	v[36 + 6] += 1e-6 * max(map(abs, v[36:36 + 6 * 21])) # f_0 of q_1 q_1, but not f_1 of q_0 q_1
	open('odd.cub', 'wb').write(d[:16] + struct.pack('<%dd' % len(v), *v))
	END
    refused 3 'are those of no energy' simimport odd.cub -o out.npz
    "$PYTHON" - <<-'END'
	d = bytearray(open('p.cub', 'rb').read())
	import struct
	for i in range(36): # twice the stiffness
	    struct.pack_into('<d', d, 16 + 8 * i, 2 * struct.unpack_from('<d', d, 16 + 8 * i)[0])
	open('stiff.cub', 'wb').write(d)
	END
    refused 3 "its linear part is not U'KU of mesh.npz and basis.npz: they differ by 1[.]0e[+]00" simimport stiff.cub --mesh mesh.npz --basis basis.npz -o out.npz
    no_faults
}

@test "simexport refuses what a format cannot hold" {
    refused 3 'of kind mesh does not fit' simexport mesh.npz -o x.npy
    refused 3 'of kind trajectory does not fit' simexport traj.npz -o x.U
    refused 3 'of kind sparse does not fit' simexport K.npz -o x.npy
    refused 3 'of kind basis does not fit' simexport basis.npz -o x.cub
    refused 3 'of kind polynomials does not fit' simexport poly.npz -o x.mtx
    refused 2 'is made of one file' simexport mesh.npz basis.npz -o x.npy
    refused 2 '^simexport: --columns applies to columns$' simexport poly.npz --columns 1 -o x.cub
    refused 2 '^simexport: --frames applies to a trajectory or' simexport basis.npz --frames 1 -o x.npy
    refused 2 '^simexport: --partial applies to a trajectory or' simexport basis.npz --partial -o x.npy
    refused 3 'not the derivatives of all pairs' simexport basis.npz -o x.modalDeriv
    refused 3 'not the derivatives of all pairs' simexport deriv.npz --columns 1-6 -o x.modalDeriv
    refused 3 'not the derivatives of all pairs' simexport deriv.npz --columns 2,1,3-10 -o x.modalDeriv
    no_faults
}

@test "an import through a pipe, and the script that makes it again" {
    local ending=.npz
    simexport basis.npz -q --to npy -o - | simimport - -q --format npy --as basis --mesh mesh.npz -o a.npz || fault "a pipe: exit $?"
    same_members basis.npz a.npz U
    simexport poly.npz -q -o p.cub
    simimport p.cub -q --mesh mesh.npz --basis basis.npz -o p.npz
    siminfo --script p.npz > remake.sh 2> err || fault "siminfo --script: $(< err)"
    grep -q '^simimport p.cub --mesh mesh.npz --basis basis.npz ' remake.sh || fault "$(grep simimport remake.sh)"
    mkdir again
    cp -L bar.obj p.cub loads.csv again
    (cd again && bash ../remake.sh > ../log 2>&1) || fault "the script fails: $(tail -n 3 log)"
    same_bytes p.npz again/p.npz 'the script'
    no_faults
}

@test "published files of VegaFEM" {
    local ending=.npz vega=${SUPPLE_MESHES-}/vega
    [ -e "$vega/simpleBridge.cub" ] || skip "no models (SUPPLE_MESHES)"
    done_well simimport "$vega/simpleBridge.URendering.float" -o u.npz
    [ "$(siminfo u.npz | grep -c 'U *f8 *(48255, 20)')" = 1 ] || fault "$(siminfo u.npz)"
    done_well simimport "$vega/simpleBridge.cub" -o p.npz
    done_well simexport p.npz -o p.cub
    "$PYTHON" - "$vega/simpleBridge.cub" p.cub <<-'END' || fault 'p.cub is not simpleBridge.cub'
	import struct, sys
	a, b = (open(f, 'rb').read() for f in sys.argv[1:])
	assert len(a) == len(b) and a[:16] == b[:16] == struct.pack('<4i', 20, 20, 210, 1540)
	a, b = (struct.unpack('<%dd' % ((len(x) - 16) // 8), x[16:]) for x in (a, b))
	for first, last in ((0, 400), (400, 4600), (4600, 35400)):
	    largest = max(map(abs, a[first:last]))
	    assert max(abs(x - y) for x, y in zip(a[first:last], b[first:last])) <= 1e-13 * largest, first
	END
    no_faults
}

@test "what an .npz of another program may have" {
    local file ending=.npz
    "$PYTHON" - <<-'END'
	import math, struct, zipfile

	def npy(descr, shape, values, version=1, fortran=False):
	    head = "{'descr': %r, 'fortran_order': %s, 'shape': %r, }" % (descr, fortran, tuple(shape))
	    size = 10 if version == 1 else 12
	    head = head.ljust((size + len(head) + 64) // 64 * 64 - size - 1) + '\n'
	    pack = struct.pack('<H' if version == 1 else '<I', len(head))
	    code = (descr[0] if descr[0] in '<>' else '<') + str(len(values)) + {'f8': 'd', 'f4': 'f', 'i4': 'i'}[descr[1:]]
	    return b'\x93NUMPY' + bytes([version, 0]) + pack + head.encode() + struct.pack(code, *values)

	def write(name, members):
	    with zipfile.ZipFile(name, 'w') as z:
	        for member, data in members.items():
	            z.writestr(member, data)

	head = zipfile.ZipFile('mesh.npz').read('vertices.npy')[:200]
	n = 3 * int(head[head.index(b'(') + 1:head.index(b',', head.index(b'('))])
	U = [math.sin(1 + 1.7 * i * i) for i in range(3 * n)]
	U = [struct.unpack('<f', struct.pack('<f', x))[0] for x in U]
	plain = npy('<f8', (n, 3), U)
	write('plain.npz', {'U.npy': plain})
	write('be.npz', {'U.npy': npy('>f8', (n, 3), U)})
	write('be4.npz', {'U.npy': npy('>f4', (n, 3), U)})
	write('v2.npz', {'U.npy': npy('<f8', (n, 3), U, 2)})
	write('unicode.npz', {'\u03b1.npy': npy('<i4', (), [1]), 'U.npy': plain})
	write('foreign.npz', {'read me.txt': b'text', 'dir/': b'', 'x.npy': b'no array, but long enough', 'y.npy': b'\x93NUMPY\x03\x00' + b'x' * 40,
	                      'long.npy': b'\x93NUMPY\x02\x00' + struct.pack('<I', 100000) + b' ' * 100000, 'U.npy': plain, 'a' * 200 + '.npy': plain})
	write('empty.npz', {'U.npy': npy('<f8', (n, 0), [])})
	write('huge.npz', {'U.npy': npy('<f8', (n, 3), [1e200 * x for x in U])})
	write('v3.npz', {'U.npy': npy('<f8', (n, 3), U, 3)})
	END
    done_well masspca mesh.npz plain.npz -r 2 -q -o due.npz
    for file in be be4 v2 unicode foreign; do
        done_well masspca mesh.npz $file.npz -r 2 -q -o $file-basis.npz
        same_members due.npz $file-basis.npz U
        LC_ALL=C masspca mesh.npz - -r 2 -q -o piped.npz < $file.npz || fault "$file: from a pipe"
        same_members due.npz piped.npz U
    done
    refused 3 '^masspca: empty.npz: member U has no values: dimension 1 is 0$' masspca mesh.npz empty.npz -r 2 -o out.npz
    refused 3 '^masspca: huge.npz: column 0 has the entry .*e[+](199|200), whose square overflows' masspca mesh.npz huge.npz -r 2 -o out.npz
    refused 3 '^masspca: v3.npz: member U is not an .npy array of version 1 or 2$' masspca mesh.npz v3.npz -r 2 -o out.npz
    no_faults
}
