"""processors.py [--any-order] FILE OTHER [STIFFNESS]: every number of two files agrees to 1e-12 of the largest in its member.

With a stiffness matrix K, the columns of U agree in their forces instead: K times the difference, to 1e-12 of the
largest entry of |K| |U|. A solution is determined by the numbers of a matrix only up to such a residual, and its error
may be larger by the condition number of the matrix. Whole numbers are the same, and so are the names of members. With
--any-order the ordering of a graph may differ, which depends on the version of METIS."""
import sys

import numpy as np
import scipy.sparse

LIMIT = 1e-12
LEFT_OUT = {'meta', 'result', 'residual'}  # texts, and residuals, which consist of rounding errors


def difference(x, y, K):
    if K is None:
        return np.abs(x - y).max(initial=0) / (np.abs(x).max(initial=0) or 1)
    return (np.abs(K @ (x - y)).max(axis=0) / (abs(K) @ np.abs(x)).max(axis=0)).max()


def main():
    if sys.argv[1] == '--any-order':
        del sys.argv[1]
        LEFT_OUT.add('ordering')
    a, b = (np.load(path) for path in sys.argv[1:3])
    K = dof = None
    if len(sys.argv) > 3:
        K, dof = scipy.sparse.load_npz(sys.argv[3]), np.load(sys.argv[3])['dof']
    assert sorted(a.files) == sorted(b.files), (a.files, b.files)
    largest = 0
    for name in set(a.files) - LEFT_OUT:
        x, y = a[name], b[name]
        assert x.shape == y.shape and x.dtype == y.dtype, name
        if x.dtype.kind != 'f':
            assert np.array_equal(x, y), name
            continue
        forces = K is not None and name == 'U'
        error = difference(x[dof], y[dof], K) if forces else difference(x, y, None)
        assert error <= LIMIT, f'{name}: {error:.1e}'
        largest = max(largest, error)
    print(f'{largest:.1e}')


main()
