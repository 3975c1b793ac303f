#!/usr/bin/env bats
# Solvers with distributed memory: modes and modalderiv with --solver slepc and amg, by themselves and under mpirun.

load common

needs_module() {
    needs_plain_build 'MPI and its plug-ins'
    [ -f "$SUPPLE_BUILD/lib/supple-slepc.so" ] || skip 'this build has no module supple-slepc'
    command -v mpirun > /dev/null || skip 'no mpirun'
    needs_numpy
}

# ranks N PROGRAM ARGUMENT...: what it says is in said.txt
ranks() {
    mpirun --allow-run-as-root --oversubscribe -n "$@" > said.txt 2>&1
}

# A bar of tetrahedra, fixed at one end.
bar() {
    voxelize bar.obj -n 12 --enlarge 1 --fill --tetrahedra --poisson 0.3 --fix-half-space 1,0,0,0.01 -q -o body.npz
}

# same_frequencies A B: all but rigid modes, within 1e-9 of each value.
same_frequencies() {
    "$PYTHON" - "$@" <<-'END'
	import sys
	import numpy as np
	a, b = (np.load(f)['eigenvalue'] for f in sys.argv[1:])
	assert len(a) == len(b), (a, b)
	elastic = a > 1e-6 * a.max()
	worst = np.abs(np.sqrt(b[elastic] / a[elastic]) - 1).max()
	sys.exit(None if worst < 1e-9 and (b[~elastic] == 0).all() else f'{sys.argv[2]}: {worst}')
	END
}

@test "frequencies are those of the other solvers, for one and two ranks, fixed and free" {
    needs_module
    bar
    voxelize bar.obj -n 12 --enlarge 1 --fill --tetrahedra --poisson 0.3 -q -o free.npz
    local mesh solver
    for mesh in body free; do
        modes $mesh.npz -k 14 -q -o blocks.npz
        for solver in slepc amg; do
            modes $mesh.npz -k 14 --solver $solver -q -o one.npz || fault "$solver"
            ranks 2 modes $mesh.npz -k 14 --solver $solver -q -o two.npz || fault "$(< said.txt)"
            same_frequencies blocks.npz one.npz || fault "$mesh, $solver, one rank"
            same_frequencies blocks.npz two.npz || fault "$mesh, $solver, two ranks"
            simverify two.npz $mesh.npz > said.txt || fault "$(< said.txt)"
        done
    done
    no_faults
}

@test "other elements, partly fixed vertices and the lumped mass" {
    needs_module
    # some vertices are fixed in one or two components only
    voxelize bar.obj -n 10 --enlarge 1 --fill --poisson 0.3 --fix-half-space 1,0,0,0.01,xy --fix-half-space 0,0,1,0.01,z -q -o sliding.npz
    for solver in slepc amg; do
        modes sliding.npz -k 10 --lumping lumped -q -o blocks.npz
        ranks 2 modes sliding.npz -k 10 --lumping lumped --solver $solver -q -o two.npz || fault "$(< said.txt)"
        same_frequencies blocks.npz two.npz || fault "$solver"
    done
    no_faults
}

@test "the same bytes in a second run, and for any number of threads" {
    needs_module
    bar
    ranks 2 modes body.npz -k 8 --solver amg -q -t 1 -o a.npz || fault "$(< said.txt)"
    ranks 2 modes body.npz -k 8 --solver amg -q -t 2 -o b.npz || fault "$(< said.txt)"
    cmp a.npz b.npz || fault 'threads'
    no_faults
}

@test "derivatives are those of our own factorization, fixed and free" {
    needs_module
    bar
    voxelize bar.obj -n 12 --enlarge 1 --fill --tetrahedra --poisson 0.3 -q -o free.npz
    local mesh solver
    for mesh in body free; do
        modes $mesh.npz -k 10 -q -o m.npz
        modalderiv $mesh.npz m.npz -q -o direct.npz
        for solver in slepc amg; do
            ranks 2 modalderiv $mesh.npz m.npz --solver $solver -q -o two.npz || fault "$(< said.txt)"
            "$PYTHON" -c 'import sys, numpy as np
a, b = (np.load(f)["U"] for f in sys.argv[1:])
worst = (np.linalg.norm(a - b, axis=0) / np.linalg.norm(a, axis=0)).max()
sys.exit(None if worst < 1e-7 else f"{worst}")' direct.npz two.npz || fault "$mesh, $solver"
            simverify two.npz $mesh.npz m.npz > said.txt || fault "$(< said.txt)"
        done
    done
    no_faults
}

@test "derivatives are refused where an eigenvalue of the body lies below that of the mode" {
    needs_module
    voxelize bar.obj -n 12 --enlarge 1 --fill --tetrahedra --poisson 0.3 -q -o free.npz
    modes free.npz -k 8 -q -o m.npz
    "$PYTHON" "$BATS_TEST_DIRNAME/falsify.py" m.npz false.npz eigenvalue 7 1e3
    local solver status
    for solver in slepc amg; do
        status=0
        ranks 2 modalderiv free.npz false.npz --solver $solver -q -o two.npz || status=$?
        [ $status = 3 ] || fault "$solver: $status"
        grep -q '^modalderiv: .*do not converge.*close eigenvalues' said.txt || fault "$(< said.txt)"
        [ ! -e two.npz ] || fault "$solver: two.npz"
    done
    no_faults
}

@test "the inertia of the shifted matrix certifies, and multigrid says that it cannot" {
    needs_module
    bar
    modes body.npz -k 8 --solver slepc --certify -q -o a.npz || fault 'certify'
    siminfo a.npz | grep -q 'certified_below_last 7' || fault "$(siminfo a.npz)"
    modes body.npz -k 8 --solver amg -o b.npz 2> said.txt || fault 'amg'
    grep -q 'does not exclude' said.txt || fault "$(< said.txt)"
    siminfo b.npz | grep -q not_checked || fault 'not_checked'
    ! modes body.npz -k 8 --solver amg --certify -o c.npz 2> said.txt || fault 'amg certifies'
    no_faults
}

# says CODE TEXT N ARGUMENT...: modes on N ranks ends with CODE, and one line of it, which has TEXT. The old output stays.
says() {
    local code=$1 text=$2 status=0
    shift 2
    ranks "$1" modes "${@:2}" -o out.npz || status=$?
    [ $status = "$code" ] || fault "$*: $status: $(< said.txt)"
    [ "$(grep -c '^modes: ' said.txt)" = 1 ] || fault "$*: $(< said.txt)"
    grep -q "^modes: .*$text" said.txt || fault "$*: $(< said.txt)"
    [ "$(< out.npz)" = old ] || fault "$*: out.npz"
    [ -z "$(find . -name '*out.npz?*' -o -name '.*out*')" ] || fault "$*: $(find . -name '*out*')"
}

@test "mistakes: one line of one rank, the exit code of other solvers, and nothing is left" {
    needs_module
    bar
    { cat bar.obj; awk '/^v /{ n++; print "v", $2 + 100, $3, $4 } /^f /{ line = "f"; for (i = 2; i <= NF; i++) { split($i, part, "/"); line = line " " part[1] + 8 } print line }' bar.obj; } > pair.obj
    voxelize pair.obj -n 100 --enlarge 1 --fill -q -o pair.npz
    head -c 3000 body.npz > cut.npz
    says 3 'separate pieces' 2 pair.npz -k 8 --solver amg
    says 3 'separate pieces' 2 pair.npz -k 8 --solver slepc
    says 3 'cut short' 2 cut.npz -k 8 --solver amg
    says 2 'only --solver blocks\|--solver blocks only\|free degrees' 2 body.npz -k 5000 --solver amg
    says 3 'open\|read\|No such' 2 absent.npz -k 8 --solver amg
    local status=0
    ranks 2 modes body.npz -k 4 --solver amg -o absent/out.npz || status=$?
    [ "$status $(grep -c '^modes: ' said.txt)" = '4 1' ] || fault "$status: $(< said.txt)"
    no_faults
}

@test "what does not converge and what does not fit: one line of one rank, and nothing is left" {
    takes_long
    needs_module
    # trilinear elements that are nearly incompressible
    voxelize bar.obj -n 12 --enlarge 1 --fill --poisson 0.49999 --fix-half-space 1,0,0,0.01 -q -o stiff.npz
    says 5 'modes have converged after 500 iterations' 1 stiff.npz -k 8 --solver amg
    says 5 'modes have converged after 500 iterations' 2 stiff.npz -k 8 --solver amg
    voxelize bar.obj -n 120 --enlarge 1 --fill --tetrahedra --fix-half-space 1,0,0,0.01 -q -o large.npz
    local solver
    for solver in slepc amg; do
        (ulimit -v 900000 && says 4 'memory' 1 large.npz -k 8 -t 1 --solver $solver && no_faults) || fault "$solver"
    done
    no_faults
}

@test "a program without the module says what it needs" {
    bar
    mkdir alone
    cp "$(command -v modes)" alone/modes
    local status=0
    alone/modes body.npz --solver slepc -o out.npz 2> said.txt || status=$?
    [ $status = 2 ] || fault "$status: $(< said.txt)"
    grep -q 'this build has no module' said.txt || fault "$(< said.txt)"
    grep -q slepc-dev said.txt || fault "$(< said.txt)"
    no_faults
}
