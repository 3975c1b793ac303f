"""animated.py FILE BOUND UP FRAME=MODEL...: a .glb or .usda has in these frames, counted from 0, the triangles that models have, to BOUND.
Models are OBJ, or VTU of scenes. UP is x, y or z, the axis of the models that is up. FRAME=MODEL:REST: the displacements between two
models, scaled such that the largest is a tenth of the diagonal of REST. Bodies of two triangles are planes, and only these must agree, not
the squares that are drawn of them. Prints the largest difference, and the largest angle between
normals and those of the triangles in degrees."""
import re
import sys

import numpy as np

import gltf
import usd


def model(path):
    """Corners [n, 3, 3] of the triangles."""
    if path.endswith('.obj'):
        lines = [line.split() for line in open(path, encoding='utf-8')]
        vertices = np.array([[float(x) for x in line[1:4]] for line in lines if line[:1] == ['v']])
        triangles = np.array([[int(x.split('/')[0]) - 1 for x in line[1:4]] for line in lines if line[:1] == ['f']])
    else:
        data = open(path, 'rb').read()
        body = data.index(b'<AppendedData encoding="raw">\n_') + 31

        def array(name, kind):
            offset = body + int(re.search(b'Name="%s"[^>]*offset="([0-9]+)"' % name, data).group(1))
            return np.frombuffer(data, kind, int(np.frombuffer(data, '<u8', 1, offset)[0]) // 8, offset + 8)
        vertices, triangles = array(b'Points', '<f8').reshape(-1, 3), array(b'connectivity', '<i8').reshape(-1, 3)
    return vertices[triangles]


def size_of(corners):
    return np.linalg.norm(np.ptp(corners.reshape(-1, 3), axis=0))


def expected(name):
    path, _, rest = name.partition(':')
    corners = model(path)
    if rest:
        start = model(rest)
        u = corners - start
        corners = start + u * (0.1 * size_of(start) / np.linalg.norm(u, axis=2).max())
    return corners


def normal_error(corners, normals):
    """Largest angle between normals and those of the triangles around each place, weighted by their angles, where that has one normal."""
    places, at = np.unique(np.round(np.concatenate([corners, normals], 2).reshape(-1, 6), 9), axis=0, return_inverse=True)
    true = np.zeros((len(places), 3))
    face = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    face /= np.linalg.norm(face, axis=1)[:, None]
    at = at.reshape(-1, 3)
    for k in range(3):
        a, b = (corners[:, (k + i) % 3] - corners[:, k] for i in (1, 2))
        angle = np.arctan2(np.linalg.norm(np.cross(a, b), axis=1), (a * b).sum(1))
        np.add.at(true, at[:, k], angle[:, None] * face)
    n = places[:, 3:]
    return np.degrees(np.arctan2(np.linalg.norm(np.cross(n, true), axis=1), (n * true).sum(1)).max())


def distance(bodies, want):
    """The largest between the corners of bodies and those they should have."""
    found, at = [0], 0
    for got, _, _ in bodies:
        away = got - want[at:at + len(got)]
        if len(got) == 2:
            n = np.cross(*(want[at, 1:] - want[at, 0]))
            away = away @ n[:, None] / np.linalg.norm(n)
        found.append(np.linalg.norm(away, axis=2).max())
        at += len(got)
    return max(found)


def main(path, bound, up, *pairs):
    file = gltf.File(path) if path.endswith('.glb') else usd.File(path)
    turned = {'x': np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]]), 'y': np.eye(3), 'z': np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]])}[up]
    if path.endswith('.usda') and up == 'z':
        assert file.up == 'Z'
        turned = np.eye(3)
    largest = angle = 0
    for pair in pairs:
        frame, _, name = pair.partition('=')
        bodies = file.bodies(int(frame))
        got, want = np.concatenate([corners for corners, _, _ in bodies]), expected(name) @ turned.T
        assert got.shape == want.shape, (name, got.shape, want.shape)
        largest = max(largest, distance(bodies, want))
        angle = max([angle] + [normal_error(corners, normals) for corners, normals, _ in bodies])
        for _, _, rest in bodies:
            lengths = np.linalg.norm(rest, axis=1)
            assert abs(lengths - 1).max() < 5e-5, lengths
    print('%.3g %.3g' % (largest, angle))
    limit = 1e-6 * size_of(want) if bound == 'size' else sum(float(term) for term in bound.split('+'))
    if not largest <= limit:
        sys.exit('%s: %.4g m off, more than %.4g' % (path, largest, limit))


main(*sys.argv[1:])
