"""Reads binary glTF 2.0 with morph targets and animations, as the specification has it, and checks what it demands. Needs NumPy, and
nothing of Supple."""
import json
import struct

import numpy as np

TYPES = {5120: np.int8, 5121: np.uint8, 5122: np.int16, 5123: np.uint16, 5125: np.uint32, 5126: np.float32}
WIDTHS = {'SCALAR': 1, 'VEC3': 3, 'VEC4': 4}


def turn(q, vectors):
    """Turns vectors [n, 3] by a quaternion x, y, z, w."""
    u, w = np.array(q[:3]), q[3]
    return vectors + 2 * np.cross(u, np.cross(u, vectors) + w * vectors)


class File:
    def __init__(self, path):
        data = open(path, 'rb').read()
        magic, version, length = struct.unpack('<4sII', data[:12])
        assert magic == b'glTF' and version == 2 and length == len(data), (magic, version, length, len(data))
        size, kind = struct.unpack('<I4s', data[12:20])
        assert kind == b'JSON' and size % 4 == 0
        self.json = json.loads(data[20:20 + size].decode('utf-8'))
        more, kind = struct.unpack('<I4s', data[20 + size:28 + size])
        assert kind == b'BIN\0' and more % 4 == 0 and 28 + size + more == length
        self.data = data[28 + size:]
        assert self.json['buffers'] == [{'byteLength': more}] and self.json['asset']['version'] == '2.0'
        self.quantized = self.json.get('extensionsRequired') == ['KHR_mesh_quantization']
        used = {}
        for mesh in self.json['meshes']:
            for part in mesh['primitives']:
                used[part['indices']] = 34963
                for attributes in [part['attributes']] + part.get('targets', []):
                    used.update({number: 34962 for number in attributes.values()})
                    assert 'POSITION' in attributes and 'NORMAL' in attributes
                    for name, number in attributes.items():
                        accessor = self.json['accessors'][number]
                        assert (name == 'POSITION') == ('min' in accessor), (name, accessor)
                        assert self.quantized or name == 'COLOR_0' or accessor['componentType'] == 5126
        self.arrays = [self.array(i, used.get(i)) for i in range(len(self.json['accessors']))]
        self.inputs = {s['input'] for a in self.json.get('animations', []) for s in a['samplers']}
        assert all(self.json['accessors'][i]['min'] == [float(self.arrays[i].min())] for i in self.inputs)
        self.times = self.arrays[min(self.inputs)][:, 0] if self.inputs else np.zeros(1)
        assert len(self.inputs) <= 1 and (np.diff(self.times) > 0).all() and self.times[0] >= 0

    def array(self, number, target):
        """The numbers [count, width] of an accessor."""
        a = self.json['accessors'][number]
        view, kind, width = self.json['bufferViews'][a['bufferView']], TYPES[a['componentType']], WIDTHS[a['type']]
        size = np.dtype(kind).itemsize
        stride, start = view.get('byteStride', width * size), view['byteOffset'] + a.get('byteOffset', 0)
        assert view.get('target') == target, (number, view)
        assert start % 4 == 0 and (target != 34962 or stride % 4 == 0)
        assert stride * (a['count'] - 1) + width * size <= view['byteLength'] and view['byteOffset'] + view['byteLength'] <= len(self.data)
        values = np.ndarray((a['count'], width), kind, self.data, start, (stride, size))
        for key, least in (('min', values.min(0)), ('max', values.max(0))):
            assert key not in a or a[key] == [float(x) for x in least], (number, a, least)
        if a.get('normalized'):
            return np.maximum(values / np.iinfo(kind).max, -1)
        assert np.isfinite(values).all()
        return values.astype(np.float64 if kind is np.float32 else np.int64)

    def state(self, frame):
        """Properties of the nodes in a frame: those of the animation before their own."""
        nodes = [dict(node) for node in self.json['nodes']]
        for animation in self.json.get('animations', []):
            for channel in animation['channels']:
                sampler = animation['samplers'][channel['sampler']]
                assert sampler.get('interpolation', 'LINEAR') == 'LINEAR'
                values = self.arrays[sampler['output']]
                nodes[channel['target']['node']][channel['target']['path']] = values.reshape(len(self.times), -1)[frame]
        return nodes

    def bodies(self, frame):
        """Triangles' corners [n, 3, 3], normals there, and normals at rest of each node that has a mesh, in the order of the children of
        the root."""
        nodes, found = self.state(frame), []

        def visit(number, moves):
            node = nodes[number]
            moves = [node] + moves
            for child in node.get('children', []):
                visit(child, moves)
            if 'mesh' not in node:
                return
            mesh = self.json['meshes'][node['mesh']]
            part, = mesh['primitives']
            weights = node.get('weights', [])
            assert len(weights) == len(part.get('targets', [])) == len(mesh.get('extras', {}).get('targetNames', []))
            at, n = (self.arrays[part['attributes'][name]].astype(float) for name in ('POSITION', 'NORMAL'))
            rest = n
            for weight, target in zip(weights, part.get('targets', [])):
                at = at + weight * self.arrays[target['POSITION']]
                n = n + weight * self.arrays[target['NORMAL']]
            for move in moves:
                q = np.array(move.get('rotation', [0, 0, 0, 1.0]))
                assert abs(q @ q - 1) < 1e-6
                q /= np.sqrt(q @ q)
                scale = move.get('scale', [1, 1, 1])
                assert scale[0] == scale[1] == scale[2] > 0
                at = turn(q, at * scale) + move.get('translation', [0, 0, 0])
                n = turn(q, n)
            triangles = self.arrays[part['indices']].reshape(-1, 3)
            assert triangles.max() < len(at)
            found.append((at[triangles], n[triangles], rest))
        root, = self.json['scenes'][0]['nodes']
        visit(root, [])
        return found
