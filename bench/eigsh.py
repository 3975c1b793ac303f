"""SciPy's eigsh in shift-invert mode, as it comes and with SuperLU at its best, on K and M that `modes` wrote: eigsh.py K.npz M.npz MODES_SECONDS FACTOR_SECONDS SOLVE_SECONDS

Also prints the time that it would take with our factorization: its own time without SuperLU's factor and solves, plus ours for as many."""
import sys, time
import numpy as np
import scipy.sparse as sparse
import scipy.sparse.linalg as linalg

K, M = sparse.load_npz(sys.argv[1]).tocsc(), sparse.load_npz(sys.argv[2]).tocsc()
modes, factor, solve = map(float, sys.argv[3:6])
start = time.perf_counter()
linalg.eigsh(K, 20, M, sigma=0)
plain = time.perf_counter() - start
print(f"  SciPy eigsh(K, 20, M, sigma=0): {plain:.2f} s: {plain / modes:.1f} x ours", flush=True)
start = time.perf_counter()
lu = linalg.splu(K, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=dict(SymmetricMode=True))
factored = time.perf_counter() - start
spent, count = 0.0, 0


def apply(x):
    global spent, count
    begin = time.perf_counter()
    y = lu.solve(x)
    spent += time.perf_counter() - begin
    count += 1
    return y


inverse = linalg.LinearOperator(K.shape, matvec=apply)
values, _ = linalg.eigsh(K, 20, M, sigma=0, OPinv=inverse)
total = time.perf_counter() - start
rest = total - factored - spent
print(f"  SciPy eigsh, symmetric-mode SuperLU: {total:.2f} s ({factored:.2f} factor, {count} solves of {spent / count:.4f}): {total / modes:.1f} x ours; with our factor {rest + factor + count * solve:.2f} s: {(rest + factor + count * solve) / modes:.1f} x ours")
