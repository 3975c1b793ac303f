"""Bars in domains, for joined.bats.

    joined.py bar NX NY NZ LENGTH WIDTH        a bar of hexahedra along x as an Abaqus deck
    joined.py scene DOMAINS [KEY=VALUE...]     the scene of domains that simpart and the programs after it wrote here: mesh-0.npz,
                                               basis-0.npz, poly-0.npz, ...; the keys are gravity, damping, free, loads, rest (interfaces to parents are at rest in the mean)
    joined.py compare DOMAINS MESH FULL MOTION positions and velocities of the joined domains beside the full model: the relative
                                               root mean squares over all frames and vertices, the relative difference in the last
                                               frame, and the largest distance of two copies of a vertex, divided by the width
    joined.py clip                             a clip of two legs along x, one above the other, that are joined at one end
    joined.py contacts MOTION PAIR...          fails unless the pairs of bodies in contact are these, such as 0-2
"""
import json
import sys

import numpy as np


def bar(nx, ny, nz, length, width):
    number = lambda i, j, k: 1 + i + (nx + 1) * (j + (ny + 1) * k)
    corners = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)]
    print('*NODE')
    for k in range(nz + 1):
        for j in range(ny + 1):
            for i in range(nx + 1):
                print(f'{number(i, j, k)}, {length * i / nx:.15g}, {width * j / ny:.15g}, {width * k / nz:.15g}')
    print('*ELEMENT, TYPE=C3D8I')
    cells = [(i, j, k) for k in range(nz) for j in range(ny) for i in range(nx)]
    for e, (i, j, k) in enumerate(cells):
        print(e + 1, *(number(i + a, j + b, k + c) for a, b, c in corners), sep=', ')
    print('*NSET, NSET=tip')
    print(*(number(nx, j, k) for k in range(nz + 1) for j in range(ny + 1)), sep=',\n')


def clip():
    cells = [(i, j, k) for k in range(3) for j in range(2) for i in range(12) if k != 1 or i >= 10]
    number = {}
    at = lambda i, j, k: number.setdefault((i, j, k), len(number) + 1)
    corners = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)]
    elements = [[at(i + a, j + b, k + c) for a, b, c in corners] for i, j, k in cells]
    print('*NODE')
    for (i, j, k), n in number.items():
        print(f'{n}, {0.05 * i:.15g}, {0.05 * j:.15g}, {0.05 * k:.15g}')
    print('*ELEMENT, TYPE=C3D8')
    for e, nodes in enumerate(elements):
        print(e + 1, *nodes, sep=', ')
    print('*NSET, NSET=end')
    print(*(n for (i, j, k), n in number.items() if i == 0 and k >= 2), sep=',\n')


def contacts(motion, *pairs):
    found = {f'{min(pair)}-{max(pair)}' for pair in members(motion)['contact/body'].tolist()}
    assert found == set(pairs), found


def scene(domains, gravity=0, damping=0, free=0, loads='', rest=0):
    made = {'gravity': [0, 0, -float(gravity)], 'models': {}, 'bodies': [], 'joints': []}
    for d in range(domains):
        made['models'][f'm{d}'] = {'kind': 'reduced', 'mesh': f'mesh-{d}.npz', 'basis': f'basis-{d}.npz',
                                   'polynomials': f'poly-{d}.npz', 'damping': [0, float(damping)]}
        made['bodies'].append({'name': f'b{d}', 'model': f'm{d}', 'motion': 'free'})
        if d > 0:
            joint = {'child': f'b{d}', 'parent': f'b{d - 1}', 'interface': f'interface-{d}'}
            if int(rest):
                joint['child_interface'] = 'interface-parent'
            made['joints'].append(joint)
        elif not int(free):
            made['joints'].append({'child': 'b0'})
    if int(free):  # spin as one about the middle of the bar
        spin, middle = np.array([0.2, 1.5, -1]), np.load('bar.npz')['vertices'].mean(0)
        for d, body in enumerate(made['bodies']):
            body['angular_velocity'] = list(spin)
            body['velocity'] = list(np.cross(spin, np.load(f'mesh-{d}.npz')['vertices'].mean(0) - middle))
    if loads:
        made['bodies'][-1]['loads'] = loads
    if not made['joints']:
        del made['joints']
    with open('scene.json', 'w') as stream:
        json.dump(made, stream)


def members(path):
    blocks, archive = {}, np.load(path)
    for name in archive.files:
        if '/' in name:
            blocks.setdefault(name.rpartition('/')[0], []).append(archive[name])
    return {name: np.concatenate(parts) for name, parts in blocks.items()}


def rotation(q):
    w, x, y, z = q.T
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]]).transpose(2, 0, 1)


def placed(domains, vertices, motion):
    """Places of all vertices in all frames, and the largest distance of two copies."""
    frames, at, gap = len(motion['pose']), 0, 0
    x = np.full((frames, vertices, 3), np.nan)
    for d in range(domains):
        mesh, U = np.load(f'mesh-{d}.npz'), np.load(f'basis-{d}.npz')['U']
        y = mesh['vertices'] + (motion['q'][:, at:at + U.shape[1]] @ U.T).reshape(frames, -1, 3)
        at += U.shape[1]
        pose = motion['pose'][:, d]
        y = pose[:, None, :3] + np.einsum('fij,fvj->fvi', rotation(pose[:, 3:]), y)
        before = x[:, mesh['kept']]
        gap = max(gap, np.nanmax(np.linalg.norm(before - y, axis=2), initial=0, where=~np.isnan(before[..., 0])))
        x[:, mesh['kept']] = y
    return x, gap


def compare(domains, mesh, full, motion):
    X = np.load(mesh)['vertices']
    full, motion = members(full), members(motion)
    assert np.allclose(full['time'], motion['time'])
    u = full['u'].reshape(len(full['u']), -1, 3)
    x, gap = placed(domains, len(X), motion)
    size = lambda a: np.sqrt((a ** 2).mean())
    result = {'position': size(x - X - u) / size(u), 'last': size(x[-1] - X - u[-1]) / size(u[-1]), 'gap': gap / np.ptp(X[:, 1])}
    if len(u) > 2:
        rate = lambda a: a[2:] - a[:-2]
        result['velocity'] = size(rate(x - X) - rate(u)) / size(rate(u))
    tip = X[:, 0] == X[:, 0].max()  # the angle by which the end of the full model has turned
    side = lambda z: (X + u[-1])[tip & (X[:, 2] == z)].mean(0)
    up = side(X[:, 2].max()) - side(X[:, 2].min())
    result['bend'] = float(np.degrees(np.arctan2(abs(up[0]), up[2])))
    return result


if __name__ == '__main__':
    command, rest = sys.argv[1], sys.argv[2:]
    if command == 'bar':
        bar(*map(int, rest[:3]), *map(float, rest[3:]))
    elif command == 'clip':
        clip()
    elif command == 'contacts':
        contacts(*rest)
    elif command == 'scene':
        scene(int(rest[0]), **dict(r.split('=') for r in rest[1:]))
    else:
        print(json.dumps(compare(int(rest[0]), *rest[1:])))
