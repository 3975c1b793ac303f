"""SciPy's nnls on the problems that bench-nnls left in a folder: nnls.py FOLDER

Python's share is taken off: from each time that of the same call with b = 0, which checks and copies the same arguments and then has
nothing to do. Median of several runs for the small ones, one run for the large ones."""
import statistics, sys, time
import numpy as np
import scipy
from scipy.optimize import nnls


def seconds(A, b, runs):
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        result = nnls(A, b, maxiter=30 * A.shape[1] + 100)
        times.append(time.perf_counter() - start)
    return statistics.median(times), result


print(f"  SciPy {scipy.__version__}:")
for line in open(sys.argv[1] + "/list"):
    name, m, n, one, two = line.split()
    m, n, one, two = int(m), int(n), float(one), float(two)
    A = np.fromfile(f"{sys.argv[1]}/{name}.A").reshape((m, n), order="F")
    b, w = (np.fromfile(f"{sys.argv[1]}/{name}.{what}") for what in "bw")
    runs = 1 if m * n > 200000 else 9 if m * n > 20000 else 199
    try:
        empty, _ = seconds(A, np.zeros(m), runs)
        whole, (x, residual) = seconds(A, b, runs)
    except RuntimeError as error:
        print(f"  {name:20s} {error}", flush=True)
        continue
    gradient = A.T @ (A @ x - b)
    kkt = max(np.abs(gradient * (x > 0)).max(), (-gradient).max()) / np.linalg.norm(b) / np.linalg.norm(A, axis=0).max()
    took, ours = whole - empty, np.linalg.norm(A @ w - b)
    print(f"  {name:20s} {took:9.3g} s of {whole:9.3g}: {took / one:6.1f} x ours, {took / two:6.1f} x with two threads; "
          f"{(x > 0).sum()} positive, KKT {kkt:.1e}, residuals / |b| {residual / np.linalg.norm(b):.6e} and ours {ours / np.linalg.norm(b):.6e}", flush=True)
