"""Skins by NumPy and SciPy alone: weights, motion, inertial forces and glTF, from the files and their pages.

    skin.py weights MESH SKIN                                      the weights of a mesh of tetrahedra, by a Laplacian of its own
    skin.py world MESH MODES SKIN SKELETON MOTION OBJ...           models of frames are Σ w (R (X + u) + p), of linear displacements
    skin.py forces MESH MODES SKIN SKELETON STATIC GRAVITY         an equilibrium on bones at rest: Λ q = −Uᵀ Aᵀ M (0 − g)
    skin.py gltf FILE BOUND OBJ...                                 a file, played as glTF 2.0 says, against models of its frames
"""
import json
import struct
import sys

import numpy as np


def members(name, member):
    f = np.load(name)
    return np.concatenate([f[n] for n in f.files if n.startswith(member + '/')])


def rotation(q):
    w, x, y, z = np.array(q) / np.linalg.norm(q)
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


class Rig:
    """Poses of bones by their paths, at lines of these."""

    def __init__(self, name):
        self.bones = json.load(open(name))['bones']
        self.names = [bone['name'] for bone in self.bones]
        self.paths = [np.loadtxt(bone['path'], delimiter=',', ndmin=2) for bone in self.bones]

    def poses(self, t):
        found = []
        for bone, path in zip(self.bones, self.paths):
            line = path[np.argmin(abs(path[:, 0] - t))]
            assert len(path) == 1 or abs(line[0] - t) < 1e-9
            a, R = np.array(bone.get('at', [0, 0, 0])), rotation(line[4:])
            p = a + line[1:4] - R @ a
            if 'parent' in bone:
                up, uR = found[self.names.index(bone['parent'])]
                p, R = up + uR @ p, uR @ R
            found.append((p, R))
        return found


def blended(skin, rig, t):
    """A [vertices, 3, 3] and c [vertices, 3]."""
    poses = rig.poses(t)
    p, R = np.array([x for x, _ in poses]), np.array([x for _, x in poses])
    w, b = skin['weight'], skin['bone']
    return np.einsum('ik,ikab->iab', w, R[b]), np.einsum('ik,ika->ia', w, p[b])


def vertices_of(name):
    lines = [line.split() for line in open(name)]
    return np.array([line[1:4] for line in lines if line and line[0] == 'v'], float)


def weights(mesh, skin):
    from scipy.sparse import coo_matrix
    from scipy.sparse.linalg import spsolve
    mesh, skin = np.load(mesh), np.load(skin)
    X, tets = mesh['vertices'], mesh['tet']
    edges = (X[tets[:, 1:]] - X[tets[:, :1]]).transpose(0, 2, 1)
    slopes = np.linalg.inv(edges)
    slopes = np.concatenate([-slopes.sum(1, keepdims=True), slopes], 1)
    K = np.einsum('eia,eja,e->eij', slopes, slopes, np.linalg.det(edges) / 6)
    rows, columns = np.repeat(tets, 4, 1), np.tile(tets, 4)
    K = coo_matrix((K.ravel(), (rows.ravel(), columns.ravel())), (len(X), len(X))).tocsr()
    given, bones = skin['attached'], skin['bone'].max() + 1
    exact = np.zeros((len(X), bones))
    exact[np.nonzero(given >= 0)[0], given[given >= 0]] = 1
    free = given < 0
    exact[free] = spsolve(K[free][:, free].tocsc(), -K[free][:, ~free] @ exact[~free]).reshape(-1, bones)
    found = np.zeros_like(exact)
    np.add.at(found, (np.arange(len(X))[:, None], skin['bone']), skin['weight'])
    return abs(found - exact).max()


def world(mesh, modes, skin, skeleton, motion, *models):
    X, U, skin, rig = np.load(mesh)['vertices'], np.load(modes)['U'], np.load(skin), Rig(skeleton)
    times, q, worst = members(motion, 'time'), members(motion, 'q'), 0
    for t, coordinates, model in zip(times, q, models, strict=True):
        A, c = blended(skin, rig, t)
        x = np.einsum('iab,ib->ia', A, X + (U[:, :len(coordinates)] @ coordinates).reshape(-1, 3)) + c
        found = vertices_of(model)
        near = ((found[:, None] - x[None]) ** 2).sum(2).min(1) if len(found) != len(x) else ((found - x) ** 2).sum(1)
        worst = max(worst, np.sqrt(near.max()))
    return worst


def forces(mesh, modes, skin, skeleton, motion, mass, *gravity):
    from scipy.sparse import load_npz
    m, U, skin, rig, M = np.load(mesh), np.load(modes)['U'], np.load(skin), Rig(skeleton), load_npz(mass)
    assert not len(m['fixed'])  # M would lack the fixed rows
    A, _ = blended(skin, rig, 0)
    g = M @ np.tile(np.array(gravity, float), len(m['vertices']))
    force = np.einsum('iab,ia->ib', A, g.reshape(-1, 3)).ravel() @ U
    q = members(motion, 'q')[-1]
    return abs(np.load(modes)['eigenvalue'] * q - force).max() / abs(force).max()


# ---- glTF ----

TYPES = {5121: np.uint8, 5123: np.uint16, 5125: np.uint32, 5126: np.float32}
WIDTHS = {'SCALAR': 1, 'VEC3': 3, 'VEC4': 4, 'MAT4': 16}


class Glb:
    def __init__(self, name):
        data = open(name, 'rb').read()
        assert struct.unpack('<4sII', data[:12]) == (b'glTF', 2, len(data))
        size, kind = struct.unpack('<I4s', data[12:20])
        assert kind == b'JSON'
        self.json = json.loads(data[20:20 + size])
        self.data = data[28 + size:]

    def array(self, number):
        a = self.json['accessors'][number]
        view, kind, width = self.json['bufferViews'][a['bufferView']], np.dtype(TYPES[a['componentType']]), WIDTHS[a['type']]
        stride = view.get('byteStride', width * kind.itemsize)
        assert stride * (a['count'] - 1) + width * kind.itemsize <= view['byteLength']
        return np.ndarray((a['count'], width), kind, self.data, view['byteOffset'], (stride, kind.itemsize)).astype(float)

    def local(self, node):
        T = np.eye(4)
        x, y, z, w = node.get('rotation', [0, 0, 0, 1])
        T[:3, :3] = rotation([w, x, y, z])
        T[:3, 3] = node.get('translation', [0, 0, 0])
        return T

    def frames(self):
        """Positions [vertices, 3] of the skinned mesh at each key."""
        nodes = self.json['nodes']
        animation, = self.json['animations']
        samplers, inputs = animation['samplers'], {s['input'] for s in animation['samplers']}
        assert len(inputs) == 1 and len({(c['target']['node'], c['target']['path']) for c in animation['channels']}) == len(animation['channels'])
        keys = len(self.array(inputs.pop()))
        body, = [node for node in nodes if 'skin' in node]
        assert nodes.index(body) in self.json['scenes'][0]['nodes']  # of a node below another one a validator warns
        skin = self.json['skins'][body['skin']]
        part, = self.json['meshes'][body['mesh']]['primitives']
        attributes = part['attributes']
        inverse = self.array(skin['inverseBindMatrices']).reshape(-1, 4, 4).transpose(0, 2, 1)
        sets = sorted(name[7:] for name in attributes if name.startswith('JOINTS_'))
        joints = np.concatenate([self.array(attributes['JOINTS_' + s]) for s in sets], 1).astype(int)
        weight = np.concatenate([self.array(attributes['WEIGHTS_' + s]) for s in sets], 1)
        assert joints.max() < len(skin['joints']) == len(inverse) and abs(weight.sum(1) - 1).max() < 1e-6 and weight.min() >= 0
        assert (joints[weight == 0] == 0).all()
        rest, targets = self.array(attributes['POSITION']), [self.array(t['POSITION']) for t in part.get('targets', [])]
        for key in range(keys):
            state = [dict(node) for node in nodes]
            for channel in animation['channels']:
                values = self.array(samplers[channel['sampler']]['output']).reshape(keys, -1)[key]
                state[channel['target']['node']][channel['target']['path']] = values
            places = {}

            def visit(number, above):
                places[number] = above @ self.local(state[number])
                for child in nodes[number].get('children', []):
                    visit(child, places[number])
            for root in self.json['scenes'][0]['nodes']:
                visit(root, np.eye(4))
            matrices = np.array([places[j] for j in skin['joints']]) @ inverse
            x = rest + sum(w * t for w, t in zip(state[nodes.index(body)].get('weights', []), targets))
            x = np.concatenate([x, np.ones((len(x), 1))], 1)
            yield np.einsum('ik,ikab,ib->ia', weight, matrices[joints], x)[:, :3]


def gltf(name, bound, *models):
    """The first vertices of the file are those of the models; z of the models is y of the file."""
    worst = 0
    for x, model in zip(Glb(name).frames(), models, strict=True):
        y = vertices_of(model)
        x = np.stack([x[:, 0], -x[:, 2], x[:, 1]], 1)
        worst = max(worst, np.sqrt(((x[:len(y)] - y) ** 2).sum(1)).max())
    return worst if worst > float(bound) else 0


if __name__ == '__main__':
    print('%.3g' % {'weights': weights, 'world': world, 'forces': forces, 'gltf': gltf}[sys.argv[1]](*sys.argv[2:]))
