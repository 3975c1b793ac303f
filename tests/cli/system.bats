#!/usr/bin/env bats
# odebasis: modes, derivatives and bases of systems without a mesh.

load common

# The chain of formats/tensor.md and odebasis(1), by the programs that these pages print
make_chain() {
    awk '/^    / { sub(/^    /, ""); print }' "$BATS_TEST_DIRNAME/../../formats/tensor.md" > tensor.py
    sed -n '/^import numpy as np, scipy/,/^\.Ed/p' "$BATS_TEST_DIRNAME/../../man/odebasis.1" | sed '/^\.Ed/d; s/\\(aq/'"'"'/g; s/\\-/-/g' > matrices.py
    "$PYTHON" tensor.py && "$PYTHON" matrices.py
}

@test "the chain of Fermi, Pasta, Ulam and Tsingou, beside its closed form" {
    "$PYTHON" -c 'import scipy.sparse' 2> /dev/null || skip 'needs SciPy'
    make_chain || fault 'the programs of the pages fail'
    done_well odebasis K.npz A.npz hessian.npz -k 4 -o basis.npz
    # i and j up to 4 couple to modes up to 8, so that the basis has 8 columns and spans these modes
    "$PYTHON" - <<-'END' || fault 'not the closed form'
	import numpy as np
	f, n = np.load('basis.npz'), 32
	N, k, s = n + 1, np.arange(1, n + 1), np.arange(1, n + 1)
	w = 2 * np.sin(np.pi * k / (2 * N))
	psi = np.sqrt(2 / N) * np.sin(np.pi * np.outer(s, k) / N)
	assert np.abs(np.sqrt(f['eigenvalue']) / w[:4] - 1).max() < 1e-12
	sign = np.sign((psi[:, :4] * f['mode']).sum(0))
	assert np.abs(f['mode'] * sign - psi[:, :4]).max() < 1e-9
	for (i, j), got in zip(f['pair'] + 1, f['derivative'].T):
	    exact = sum(-0.5 / np.sqrt(2 * N) * w[i - 1] * w[j - 1] / w[l - 1] * ((l == i + j) + (l == abs(i - j))) * psi[:, l - 1] for l in k)
	    assert np.abs(got * sign[i - 1] * sign[j - 1] - exact).max() < 1e-9 * np.abs(exact).max(), (i, j)
	U = f['U']
	assert U.shape == (n, 8) and np.abs(U.T @ U - np.eye(8)).max() < 1e-13
	assert np.abs(psi[:, :8] - U @ (U.T @ psi[:, :8])).max() < 1e-8
	END
    no_faults
}

@test "the static solution to second order" {
    "$PYTHON" -c 'import scipy.optimize' 2> /dev/null || skip 'needs SciPy'
    make_chain || fault 'the programs of the pages fail'
    done_well odebasis K.npz A.npz hessian.npz -k 3 -o basis.npz
    # x with C(x) = A Psi Lambda p beside Psi p + 1/2 sum p_i p_j Phi_ij: the difference is of third order in p
    "$PYTHON" - <<-'END' || fault 'not of third order'
	import numpy as np
	from scipy.optimize import fsolve
	f, n = np.load('basis.npz'), 32
	def force(x):
	    d = np.diff(np.concatenate(([0], x, [0])))
	    t = d + d * d / 4
	    return t[:-1] - t[1:]
	def error(h):
	    p = h * np.array([1, -0.7, 0.4])
	    load = f['mode'] @ (f['eigenvalue'] * p)
	    x = fsolve(lambda y: force(y) - load, f['mode'] @ p, xtol=1e-13)
	    assert np.abs(force(x) - load).max() < 1e-12
	    second = sum((1 if i == j else 2) * p[i] * p[j] * phi for (i, j), phi in zip(f['pair'], f['derivative'].T)) / 2
	    return np.linalg.norm(x - f['mode'] @ p - second)
	e = [error(0.8), error(0.4), error(0.2)]
	orders = np.log2(e[0] / e[1]), np.log2(e[1] / e[2])
	assert abs(orders[0] - 3) < 0.3 and abs(orders[1] - 3) < 0.15, (e, orders)
	END
    no_faults
}

@test "a tensor with each entry once is the same" {
    "$PYTHON" "$BATS_TEST_DIRNAME/tensor.py" K.npz all.npz
    "$PYTHON" - "$BATS_TEST_DIRNAME" <<-'END'
	import sys
	sys.path.insert(0, sys.argv[1])
	import struct, tensor
	n = struct.unpack('<q', tensor.member('K.npz', 'shape')[1][:8])[0]
	sums = {}
	for i, j, k, v in tensor.chain(n):
	    if i <= j <= k:
	        sums[i, j, k] = sums.get((i, j, k), 0) + v
	tensor.write('once.npz', n, [(k, i, j, v) for (i, j, k), v in reversed(list(sums.items()))])
	END
    done_well odebasis K.npz M.npz all.npz -k 3 -r 6 -o a.npz
    done_well odebasis K.npz M.npz once.npz --once -k 3 -r 6 -o b.npz
    for name in U derivative; do
        cmp <(unzip -p a.npz $name.npy) <(unzip -p b.npz $name.npy) || fault "$name differs"
    done
    refused 3 'all.npz: entries [0-9]+ and [0-9]+ have the same indices, expected each once$' odebasis K.npz M.npz all.npz --once -o out.npz
    refused 3 'once.npz: it is not symmetric in its last two indices' odebasis K.npz M.npz once.npz -o out.npz
    no_faults
}

@test "systems that are none" {
    "$PYTHON" "$BATS_TEST_DIRNAME/tensor.py" K.npz h.npz
    "$PYTHON" - "$BATS_TEST_DIRNAME" <<-'END'
	import sys
	sys.path.insert(0, sys.argv[1])
	import tensor
	tensor.write('small.npz', 2, tensor.chain(2))
	tensor.write('filled.npz', 2, tensor.chain(2), 1.0)
	tensor.write('zeros.npz', 2, tensor.chain(2), 0.0)
	tensor.write('outside.npz', 2, [(0, 1, 2, 1.0), (0, 2, 1, 1.0)])
	def matrix(name, rows):
	    n, start, index, data = len(rows), [0], [], []
	    for row in rows:
	        for j, v in enumerate(row):
	            if v or j == len(start) - 1:
	                index.append(j)
	                data.append(v)
	        start.append(len(index))
	    import zipfile
	    with zipfile.ZipFile(name, 'w') as z:
	        z.writestr('indices.npy', tensor.array('q', (len(index),), index))
	        z.writestr('indptr.npy', tensor.array('q', (n + 1,), start))
	        text = b"\x93NUMPY\x01\x00" + b"v\x00" + "{'descr': '|S3', 'fortran_order': False, 'shape': (), }".ljust(117).encode() + b"\ncsr"
	        z.writestr('format.npy', text)
	        z.writestr('shape.npy', tensor.array('q', (2,), [n, n]))
	        z.writestr('data.npy', tensor.array('d', (len(data),), data))
	matrix('one.npz', [[1.0, 0.0], [0.0, 1.0]])
	matrix('loose.npz', [[1.0, -1.0], [-1.0, 1.0]])
	matrix('negative.npz', [[1.0, -2.0], [-2.0, 1.0]])
	matrix('zero.npz', [[1.0, 0.0], [0.0, 0.0]])
	END
    refused 3 '^odebasis: small.npz: shape: the tensor is of 2 unknowns, expected [0-9]+$' odebasis K.npz M.npz small.npz -o out.npz
    refused 3 '^odebasis: filled.npz: fill_value: it is 1, expected 0$' odebasis one.npz one.npz filled.npz -k 1 -o out.npz
    done_well odebasis one.npz one.npz zeros.npz -k 2 -q -o out.npz
    refused 3 '^odebasis: outside.npz: entry 0 has the index 2, expected 0 to 1$' odebasis one.npz one.npz outside.npz -k 1 -o out.npz
    refused 3 '^odebasis: one.npz: the matrix has 2 rows, that of K.npz has [0-9]+$' odebasis K.npz one.npz h.npz -o out.npz
    refused 3 '^odebasis: M.npz: it holds the matrix M, expected K$' odebasis M.npz K.npz h.npz -o out.npz
    refused 3 '^odebasis: zero.npz: the matrix is not positive definite: it has 0 on the diagonal of row 1$' odebasis zero.npz one.npz small.npz -k 1 -o out.npz
    refused 5 '^odebasis: loose.npz: the matrix is singular: eigenvalues that are 0: 1$' odebasis loose.npz one.npz small.npz -k 1 -o out.npz
    refused 5 '^odebasis: .*negative.npz' odebasis negative.npz one.npz small.npz -k 1 -o out.npz
    refused 5 '^odebasis: .*negative.npz' odebasis one.npz negative.npz small.npz -k 1 -o out.npz
    refused 2 '^odebasis: --count 6: the system has only 2 unknowns$' odebasis one.npz one.npz small.npz -o out.npz
    refused 2 '^odebasis: -r 4: only [0-9]+ of [0-9]+ columns are independent$' odebasis one.npz one.npz small.npz -k 2 -r 4 -q -o out.npz
    refused 3 'it is a file of kind mesh, expected tensor' odebasis K.npz M.npz mesh.npz -o out.npz
    no_faults
}
