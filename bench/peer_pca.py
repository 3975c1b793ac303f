"""Mass-weighted principal directions by NumPy and SciPy, as a whole process, beside `masspca`.

    peer_pca.py M.npz MODES.npz DERIVATIVES.npz COUNT OUTPUT.npz

M is that of `modes --write-mass`. Reads the columns, forms their Gram matrix in the mass by one sparse and one dense product,
finds its eigenvectors, combines the columns to COUNT directions and writes them: the arithmetic of `masspca --method pca`
without its weights of the columns, its check of orthonormality and the vertices that are held.
"""

import sys

import numpy as np
import scipy.sparse as sparse

mass, modes, derivatives, count, output = sys.argv[1:]
M = sparse.load_npz(mass).tocsr()
with np.load(mass) as file:
    free = file["dof"] if "dof" in file else slice(None)
columns = []
for path in (modes, derivatives):
    with np.load(path) as file:
        columns.append(file["U"][free])
U = np.asfortranarray(np.concatenate(columns, axis=1))
values, vectors = np.linalg.eigh(U.T @ (M @ U))
best = slice(len(values) - 1, len(values) - 1 - int(count), -1)
np.savez(output, U=U @ (vectors[:, best] / np.sqrt(values[best])))
