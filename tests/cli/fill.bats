#!/usr/bin/env bats
# siminfo --fill: a matrix and its Cholesky factor over orderings.

load common

# The nonzeros in the row of siminfo --fill that begins with $1.
nonzeros() {
    sed -n "s/^$1  *\([0-9]*\) .*/\1/p" "$stdout"
}

@test "siminfo --fill counts the entries of the Cholesky factor" {
    local ending= kind
    for kind in K M; do
        done_well siminfo --fill $kind.npz
        simexport $kind.npz -q -o $kind.mtx
        # by the definition: rows, entries of both triangles, and L in the given order and by ascending counts
        "$PYTHON" - $kind.mtx > want <<-'END' || fault "$kind.mtx"
	import sys
	lines = [line.split() for line in open(sys.argv[1]) if line[0] != '%']
	n = int(lines[0][0])
	near = [{i} for i in range(n)]
	for row, column, *_ in lines[1:]:
	    near[int(row) - 1].add(int(column) - 1)
	    near[int(column) - 1].add(int(row) - 1)
	def fill(order):
	    place = {row: i for i, row in enumerate(order)}
	    left = [{place[j] for j in near[row]} for row in order]
	    for k in range(n):
	        left[k] = {j for j in left[k] if j >= k}
	        for i in left[k] - {k}:
	            left[i] |= left[k]
	    return sum(map(len, left))
	print(n, sum(map(len, near)), fill(range(n)), fill(sorted(range(n), key=lambda i: len(near[i]))))
	END
        echo "$(sed -n 's/^rows *//p' "$stdout") $(nonzeros $kind) $(nonzeros natural) $(nonzeros 'column count')" | cmp - want || fault "$(< "$stdout") is not $(< want)"
    done
    [ "$(wc -l < "$stdout")" = 8 ] || fault "$(< "$stdout")"
    cp "$stdout" plain
    input=M.npz done_well siminfo --fill -
    cmp "$stdout" plain || fault 'a pipe says otherwise'
    no_faults
}

@test "siminfo --fill takes matrices only" {
    refused 3 'modes\.npz: it is a file of kind modes, expected sparse' siminfo --fill modes.npz
    refused 3 'mesh\.npz: it is a file of kind mesh, expected sparse' siminfo --fill mesh.npz
    refused 2 '^siminfo: --fill does not apply beside --json$' siminfo --fill --json M.npz
    head -c 900 M.npz > cut.npz
    refused 3 'cut\.npz: ' siminfo --fill cut.npz
    refused 3 'cut\.npz: ' siminfo --fill --partial cut.npz
    no_faults
}

@test "siminfo --fill takes the matrices of SciPy" {
    local ending=
    "$PYTHON" -c 'import scipy.sparse' 2> /dev/null || skip "no SciPy"
    "$PYTHON" -c 'import scipy.sparse as s; s.save_npz("arrow.npz", s.csr_matrix([[9. if i == j else 1. if 0 in (i, j) else 0. for j in range(7)] for i in range(7)]))'
    done_well siminfo --fill arrow.npz
    [ "$(nonzeros matrix) $(nonzeros natural) $(nonzeros 'minimum degree')" = '19 28 13' ] || fault "$(< "$stdout")"
    no_faults
}
