"""Substructure synthesis with NumPy and SciPy: the matrices of domains that simexport wrote are joined at their interfaces,
and compared with the matrices of the whole body, on which the same interfaces are imposed.

    assembly.py frequencies FRAME PARTS MESH K M MODEL...   the frequencies of both, all of them (1e-6)
    assembly.py statics FRAME PARTS MESH K M MODEL...       the answers to a load on each interface coordinate (1e-9)
Average frames join the sides of an interface by their mean motion only: MESH, K and M then contain %d, and are those of
each domain.

    assembly.py together PARTS MESH DOMAIN...               the meshes of the domains are the mesh
"""
import json
import os
import sys

import numpy as np
import scipy.io
import scipy.linalg
import scipy.sparse


def interfaces_of(parts):
    if 'pair' not in parts.files:
        return {}
    start, vertices = parts['interface_start'], parts['interface_vertices']
    return {tuple(pair): vertices[start[i]:start[i + 1]] for i, pair in enumerate(parts['pair'])}


def frame(frame_kind, x, origin):
    """The displacements of vertices x for unit interface coordinates, 3 rows for each vertex."""
    if frame_kind == 'none':
        return np.eye(3 * len(x))
    B = np.zeros((len(x), 3, 6))
    for c in range(3):
        B[:, c, c] = 1
        B[:, :, 3 + c] = np.cross(np.eye(3)[c], x - origin)
    return B.reshape(-1, 6)


def sides(frame_kind, parts, mesh, pair, v):
    """The vertices of an interface: of the body, or in the cut mesh those of either domain."""
    if frame_kind != 'average':
        return [v]
    found = []
    for domain in pair:
        nodes = np.flatnonzero((mesh['owner'] == domain) & np.isin(mesh['origin'], v))
        found.append(nodes[np.argsort(mesh['origin'][nodes])])
    return found


def side_by_side(count, mesh, K, M):
    """The meshes and matrices of all domains, without joints."""
    meshes, Ks, Ms = ([read(path % d) for d in range(count)] for path, read in
                      ((mesh, np.load), (K, scipy.sparse.load_npz), (M, scipy.sparse.load_npz)))
    sizes = [len(f['vertices']) for f in meshes]
    before = np.concatenate([[0], np.cumsum(sizes)])
    dof = np.concatenate([np.load(K % d)['dof'] + 3 * before[d] for d in range(count)])
    both = {'vertices': np.concatenate([f['vertices'] for f in meshes]), 'origin': np.concatenate([f['kept'] for f in meshes]),
            'owner': np.repeat(range(count), sizes), 'hex': np.concatenate([f['hex'] + before[d] for d, f in enumerate(meshes)])}
    return both, scipy.sparse.block_diag(Ks).tocsr(), scipy.sparse.block_diag(Ms).tocsr(), dof


def shares(mesh, v):
    """The integrals of the shape functions of vertices v over the faces of hexahedra among them, 1 in all."""
    faces = np.array([(0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)])
    quads = mesh['hex'][:, faces].reshape(-1, 4)
    quads = quads[np.isin(quads, v).all(1)]
    x, area = mesh['vertices'][quads], np.zeros(len(mesh['vertices']))
    for s in -3 ** -0.5, 3 ** -0.5:
        for t in -3 ** -0.5, 3 ** -0.5:
            N = np.array([(1 - s) * (1 - t), (1 + s) * (1 - t), (1 + s) * (1 + t), (1 - s) * (1 + t)]) / 4
            Ns, Nt = np.array([t - 1, 1 - t, 1 + t, -1 - t]) / 4, np.array([s - 1, -1 - s, 1 + s, 1 - s]) / 4
            dA = np.linalg.norm(np.cross(np.einsum('a,fac->fc', Ns, x), np.einsum('a,fac->fc', Nt, x)), axis=1)
            np.add.at(area, quads, dA[:, None] * N)
    return area[v] / area[v].sum()


def average(x, s):
    """The mean translation and rotation of vertices x with shares s as rows."""
    r = x - s @ x
    J = np.einsum('v,vi,vi->', s, r, r) * np.eye(3) - r.T @ (s[:, None] * r)
    weight = np.repeat(s, 3)
    return np.vstack([np.tile(np.eye(3), len(x)) * weight, np.linalg.solve(J, frame('rigid', x, s @ x)[:, 3:].T * weight)])


def constrained(frame_kind, parts, mesh, dof):
    """u = T z for the free degrees of freedom, with the interface coordinates in front; where those of each interface
    begin, their number there and in all."""
    place = {d: i for i, d in enumerate(dof)}
    columns, more, taken, first = [], [], set(), {}
    count = 0
    for pair, v in interfaces_of(parts).items():
        D = 0
        for vertices in sides(frame_kind, parts, mesh, pair, v):
            x, s = mesh['vertices'][vertices], shares(mesh, vertices)
            rows = np.array([place[3 * a + c] for a in vertices for c in range(3)])
            if frame_kind == 'average':  # C u = g: u = C+ g, and the null space of C
                block, rest = np.linalg.pinv(average(x, s)), scipy.linalg.null_space(average(x, s))
                more.append(np.zeros((len(dof), rest.shape[1])))
                more[-1][rows] = rest
            else:
                block = frame(frame_kind, x, s @ x)
            part = np.zeros((len(dof), block.shape[1]))
            part[rows] = block
            D = D + part
            taken.update(rows)
        first[pair] = count, D.shape[1]
        count += D.shape[1]
        columns.append(D)
    interior = [i for i in range(len(dof)) if i not in taken]
    S = np.zeros((len(dof), len(interior)))
    S[interior, range(len(interior))] = 1
    return np.hstack(columns + [S] + more), first, count


def read_model(path):
    with open(path) as stream:
        model = json.load(stream)
    folder = os.path.dirname(path)
    both = []
    for name in 'mass', 'stiffness':
        files = model['matrices'][name]
        A = np.load(os.path.join(folder, files['npy']))
        B = scipy.io.mmread(os.path.join(folder, files['matrix_market']))
        assert np.array_equal(A, B), f'{path}: the two files of {name} differ'
        both.append(A)
    return model, both


def assemble(paths, first, count):
    """The domain of a model is told by the number in its name. Its interface-K are to domain K."""
    size = count
    pieces, origins = [], {}
    for path in paths:
        domain = int(''.join(c for c in os.path.basename(path) if c.isdigit()))
        model, both = read_model(path)
        number = np.full(model['coordinates'], -1)
        for interface in model['interfaces']:
            other = int(interface['name'].split('-')[1])
            pair = tuple(sorted((domain, other)))
            at, width = first[pair]
            assert width == interface['coordinates']
            number[interface['first']:interface['first'] + width] = range(at, at + width)
            origins.setdefault(pair, interface['origin'])
            assert np.allclose(interface['origin'], origins[pair], atol=1e-12)
        rest = number < 0
        number[rest] = range(size, size + rest.sum())
        size += rest.sum()
        pieces.append((number, both))
    M, K = np.zeros((size, size)), np.zeros((size, size))
    for number, (m, k) in pieces:
        M[np.ix_(number, number)] += m
        K[np.ix_(number, number)] += k
    return K, M


def main():
    what = sys.argv[1]
    if what == 'together':
        together(np.load(sys.argv[2]), np.load(sys.argv[3]), [np.load(p) for p in sys.argv[4:]])
        return
    kind, parts, paths = sys.argv[2], np.load(sys.argv[3]), sys.argv[7:]
    if kind == 'average':
        mesh, K, M, dof = side_by_side(len(paths), *sys.argv[4:7])
    else:
        mesh, K, M, dof = np.load(sys.argv[4]), *map(scipy.sparse.load_npz, sys.argv[5:7]), np.load(sys.argv[5])['dof']
    T, first, count = constrained(kind, parts, mesh, dof)
    K0, M0 = T.T @ (K @ T), T.T @ (M @ T)
    K1, M1 = assemble(paths, first, count)
    if what == 'frequencies':
        one, other = (np.sqrt(scipy.linalg.eigvalsh(*x)) for x in ((K0, M0), (K1, M1)))
        assert len(one) == len(other), (len(one), len(other))
        error = np.abs(other / one - 1).max()
        print(f'{len(one)} frequencies from {one[0] / 2 / np.pi:.4f} Hz on, largest difference {error:.1e}')
        sys.exit(not error < 1e-6)
    f0, f1 = np.zeros((len(K0), count)), np.zeros((len(K1), count))
    f0[:count] = f1[:count] = np.eye(count)
    g0, g1 = (np.linalg.solve(*x)[:count] for x in ((K0, f0), (K1, f1)))
    scale = np.sqrt(np.outer(np.diag(g0), np.diag(g0)))
    error = (np.abs(g1 - g0) / scale).max()
    print(f'{count} interface loads, largest difference {error:.1e}')
    sys.exit(not error < 1e-9)


def together(parts, mesh, domains):
    vertices = np.full_like(mesh['vertices'], np.nan)
    names = [n for n in mesh.files if n in ('hex', 'tet', 'tet10', 'hex20', 'wedge6')]
    first = 0
    for name in names:
        whole = mesh[name]
        owner = parts['domain'][first:first + len(whole)]
        first += len(whole)
        for d, domain in enumerate(domains):
            mine = domain['kept'][domain[name]] if name in domain.files else np.zeros((0, whole.shape[1]), int)
            assert np.array_equal(whole[owner == d], mine), f'{name} of domain {d}'
    fixed = set()
    for d, domain in enumerate(domains):
        kept = domain['kept']
        seen = ~np.isnan(vertices[kept, 0])
        assert np.array_equal(vertices[kept][seen], domain['vertices'][seen])
        vertices[kept] = domain['vertices']
        fixed.update(kept[domain['fixed']])
        meta = json.loads(domain['meta'].tobytes())
        sets, at = {}, 0
        for s in meta.get('sets', []):
            sets[s['name']] = kept[domain['sets/vertices'][at:at + s['count']]]
            at += s['count']
        for pair, v in interfaces_of(parts).items():
            if d in pair:
                other = pair[0] + pair[1] - d
                assert np.array_equal(sets.pop(f'interface-{other}'), v), (d, other)
        assert not any(n.startswith('interface-') for n in sets), sets
    assert np.array_equal(vertices, mesh['vertices']) and sorted(fixed) == list(mesh['fixed'])


if __name__ == '__main__':
    main()
