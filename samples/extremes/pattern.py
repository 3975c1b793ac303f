#!/usr/bin/env python3
"""Patterns of a mass matrix and of its Cholesky factor, without and with an ordering by minimum degree (Figure 2.10):

    python3 pattern.py mass.npz FOLDER

writes FOLDER/M-natural.dat, L-natural.dat, M-degree.dat and L-degree.dat for pattern.gp, and prints the numbers of
nonzeros. It shares no code with the programs. The pattern of a factor follows from that of the matrix alone. The three
components of a vertex have the same pattern, so that the program works with vertices instead of rows. A row is an integer whose bits
are the vertices.
"""

import array
import struct
import sys
import zipfile

DOTS = 330  # pixels along a picture


def member(path, name):
    with zipfile.ZipFile(path) as file:
        data = file.read(name + ".npy")
    return array.array("q", data[10 + struct.unpack("<H", data[8:10])[0] :])


def neighbours(path):
    """For each vertex the other vertices that share an element with it."""
    indptr, indices = member(path, "indptr"), member(path, "indices")
    rows = []
    for v in range((len(indptr) - 1) // 3):
        row = 0
        for k in range(indptr[3 * v], indptr[3 * v + 1]):
            row |= 1 << indices[k] // 3
        rows.append(row & ~(1 << v))
    return rows


def bits(row):
    while row:
        low = row & -row
        yield low.bit_length() - 1
        row ^= low


def minimum_degree(rows):
    """The minimum degree ordering: the next vertex is the one with the fewest neighbours, and the first one of several."""
    rows, order = list(rows), []
    buckets = {}
    degree = [row.bit_count() for row in rows]
    for v, d in enumerate(degree):
        buckets.setdefault(d, set()).add(v)
    while len(order) < len(rows):
        least = min(d for d, members in buckets.items() if members)
        v = min(buckets[least])
        buckets[least].remove(v)
        order.append(v)
        clique = rows[v]
        for u in bits(clique):
            rows[u] = (rows[u] | clique) & ~(1 << v) & ~(1 << u)
            buckets[degree[u]].remove(u)
            degree[u] = rows[u].bit_count()
            buckets.setdefault(degree[u], set()).add(u)
    return order


def permuted(rows, order):
    place = [0] * len(order)
    for k, v in enumerate(order):
        place[v] = k
    result = []
    for v in order:
        row = 0
        for u in bits(rows[v]):
            row |= 1 << place[u]
        result.append(row)
    return result


def factor(rows):
    """Columns of L: each has the neighbours of its vertex, and the fill of the earlier columns whose first entry is the vertex."""
    below = [row >> v + 1 << v + 1 for v, row in enumerate(rows)]
    for v, column in enumerate(below):
        rest = column
        if rest:
            first = (rest & -rest).bit_length() - 1
            below[first] |= rest & ~(1 << first)
    return below


def write(path, rows, lower):
    """A square of DOTS by DOTS: 1 where a part of the matrix has an entry. Rows of L are the columns of `rows`."""
    n = len(rows)
    step = -(-n // DOTS)
    mask = (1 << step) - 1
    blocks = []
    for first in range(0, n, step):
        joined = 0
        for v in range(first, min(n, first + step)):
            joined |= rows[v] | 1 << v
        blocks.append([joined >> c & mask != 0 for c in range(0, n, step)])
    with open(path, "w", encoding="ascii") as out:
        for i in range(len(blocks)):
            out.write(" ".join(str(int(blocks[j][i] if lower else blocks[i][j])) for j in range(len(blocks))) + "\n")


def main():
    rows, folder = neighbours(sys.argv[1]), sys.argv[2]
    n = len(rows)
    order = minimum_degree(rows)
    for name, matrix in (("natural", rows), ("degree", permuted(rows, order))):
        columns = factor(matrix)
        write("%s/M-%s.dat" % (folder, name), matrix, False)
        write("%s/L-%s.dat" % (folder, name), columns, True)
        # A mass matrix does not couple components: three times the entries between vertices.
        print("%-8s M %10d   L %10d" % (name, 3 * (n + sum(row.bit_count() for row in matrix)), 3 * (n + sum(c.bit_count() for c in columns))))


main()
