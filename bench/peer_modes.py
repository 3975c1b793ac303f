"""The lowest modes by SLEPc, as a whole process, beside `modes`.

    peer_modes.py check                                        whether SLEPc is here
    peer_modes.py convert A.npz A.petsc                        a matrix of `modes --write-stiffness` or --write-mass for PETSc
    peer_modes.py K.petsc M.petsc OUTPUT.npz SOLVER [COUNT]    COUNT modes (default 20); SOLVER: cholmod or mumps

The process starts Python, imports SLEPc, reads K and M in PETSc's own binary format, orders and factors K, runs
Krylov-Schur on (K, M) in shift-invert mode at 0 with SLEPc's defaults (relative tolerance 1e-8), and writes eigenvalues and
vectors, and computes residuals. It assembles nothing and does not look for missed modes, both of which `modes` does. It
prints the seconds from its first line to the end of the imports, and of reading, of set-up (ordering and factorization),
of iterations and of writing, then the largest residual as `modes` defines it.
"""
import glob
import os
import sys
import time

BEGIN = time.perf_counter()
for variable, pattern in (("PETSC_DIR", "/usr/lib/petscdir/petsc*/*-real"), ("SLEPC_DIR", "/usr/lib/slepcdir/slepc*/*-real")):
    # Debian links these from /usr/lib/petsc and /usr/lib/slepc with the -dev packages only
    folder = os.environ.get(variable) or (sorted(glob.glob(pattern)) or [""])[-1]
    sys.path.append(os.path.join(folder, "lib/python3/dist-packages"))

try:
    import numpy as np
    import slepc4py
except ImportError:
    sys.exit(1)
if sys.argv[1] == "check":
    sys.exit(0)

slepc4py.init([sys.argv[0]])
from petsc4py import PETSc  # noqa: E402
from slepc4py import SLEPc  # noqa: E402


def convert(source, target):
    with np.load(source) as file:
        if bytes(file["format"].tobytes()).rstrip(b"\0").decode() not in ("csr", "csc"):
            sys.exit(source + ": neither compressed rows nor columns")
        indices, start, values = file["indices"].astype(np.int32), file["indptr"].astype(np.int32), file["data"].astype(float)
        order = len(start) - 1
    matrix = PETSc.Mat().createAIJ((order, order), csr=(start, indices, values), comm=PETSc.COMM_SELF)
    matrix.view(PETSc.Viewer().createBinary(target, "w", comm=PETSc.COMM_SELF))


def load(path):
    return PETSc.Mat().load(PETSc.Viewer().createBinary(path, "r", comm=PETSc.COMM_SELF))


def solve(stiffness, mass, output, package, count):
    times = [BEGIN, time.perf_counter()]
    K, M = load(stiffness), load(mass)
    for matrix in (K, M):
        matrix.setOption(PETSc.Mat.Option.SPD, True)
    times.append(time.perf_counter())
    eps = SLEPc.EPS().create(PETSc.COMM_SELF)
    eps.setOperators(K, M)
    eps.setProblemType(SLEPc.EPS.ProblemType.GHEP)
    eps.setDimensions(count)
    eps.setTarget(0)
    eps.setWhichEigenpairs(SLEPc.EPS.Which.TARGET_MAGNITUDE)
    st = eps.getST()
    st.setType(SLEPc.ST.Type.SINVERT)
    ksp = st.getKSP()
    ksp.setType(PETSc.KSP.Type.PREONLY)
    ksp.getPC().setType(PETSc.PC.Type.CHOLESKY)
    ksp.getPC().setFactorSolverType(package)
    eps.setUp()
    times.append(time.perf_counter())
    eps.solve()
    if eps.getConverged() < count:
        sys.exit("SLEPc found %d of %d modes" % (eps.getConverged(), count))
    times.append(time.perf_counter())
    vector = K.createVecRight()
    values, U = np.empty(count), np.empty((K.getSize()[0], count), order="F")
    for c in range(count):
        values[c] = eps.getEigenpair(c, vector).real
        U[:, c] = vector.getArray()
    np.savez(output, eigenvalue=values, U=U)
    times.append(time.perf_counter())
    worst, force, inertia = 0, K.createVecRight(), K.createVecRight()
    for c in range(count):
        vector.setArray(U[:, c])
        K.mult(vector, force)
        M.mult(vector, inertia)
        force.axpy(-values[c], inertia)
        worst = max(worst, force.norm() / ((values[c] + values[0]) * inertia.norm()))
    print("import %.3f read %.3f factor %.3f iterate %.3f write %.3f residual %.1e steps %d" % (*(b - a for a, b in zip(times, times[1:])), worst, eps.getIterationNumber()))


if sys.argv[1] == "convert":
    convert(*sys.argv[2:4])
else:
    solve(*sys.argv[1:5], int(sys.argv[5]) if len(sys.argv) > 5 else 20)
