#!/usr/bin/env python3
"""halo.py MESH RANKS…: what ranks of modes --solver amg exchange. The vertices with a free component are divided into contiguous ranges along a
Morton curve, as in lib/parallel/partition.c. For each number of ranks: the largest number of own vertices, of vertices of other ranks beside
them, and of neighbours."""
import sys

import numpy as np


def spread(x):
    """21 bits of each number with two zeros behind each bit."""
    x = x.astype(np.uint64)
    for shift, mask in ((32, 0x1f00000000ffff), (16, 0x1f0000ff0000ff), (8, 0x100f00f00f00f00f), (4, 0x10c30c30c30c30c3),
                        (2, 0x1249249249249249)):
        x = (x | x << np.uint64(shift)) & np.uint64(mask)
    return x


mesh = np.load(sys.argv[1])
vertices = mesh['vertices']
low = vertices.min(axis=0)
cells = np.minimum((vertices - low) / (vertices.max(axis=0) - low).max() * 2 ** 21, 2 ** 21 - 1)
code = sum(spread(cells[:, c]) << np.uint64(c) for c in range(3))
order = np.argsort(code, kind='stable')
free = np.ones(len(vertices), bool)
free[mesh['fixed'][mesh['fixed_axes'] == 7] if 'fixed_axes' in mesh else mesh['fixed']] = False
order = order[free[order]]
number = np.full(len(vertices), -1)
number[order] = np.arange(len(order))
nodes = np.concatenate([number[mesh[name]][:, [i, j]] for name in ('tet', 'hex') if name in mesh
                        for i in range(mesh[name].shape[1]) for j in range(mesh[name].shape[1]) if i != j])
nodes = nodes[(nodes >= 0).all(axis=1)]
for ranks in map(int, sys.argv[2:]):
    bounds = len(order) * np.arange(ranks + 1) // ranks
    rank = np.searchsorted(bounds, nodes, side='right') - 1
    across = rank[:, 0] != rank[:, 1]
    ghosts = np.unique(rank[across, 0] * len(order) + nodes[across, 1]) // len(order)
    pairs = np.unique(rank[across, 0] * ranks + rank[across, 1]) // ranks
    print('%s ranks: %s own vertices, %s ghosts, %s neighbours' % (
        ranks, np.diff(bounds).max(), np.bincount(ghosts, minlength=ranks).max(),
        np.bincount(pairs, minlength=ranks).max()))
