#!/usr/bin/env python3
"""move.py SCENE OUT [FRAMES]: a made-up motion of a scene, as another program would write it (formats/scene_trajectory.md): blocks of 4 frames, one
every 0.1 s; the body numbered b stands at its position plus (0, 0, t (b + 1) / 10), turned by t about z from there, its coordinates are
0.02 sin(t + j). In every second frame a point of every body that has a next one touches that: point 7 b at (b, t, 0), force (0, b, 1 + t)."""
import hashlib
import json
import math
import struct
import sys
import zipfile

text = open(sys.argv[1], 'rb').read()
scene = json.loads(text)
frames = int(sys.argv[3]) if len(sys.argv) > 3 else 10
bodies = []
for body in scene['bodies']:
    grid = body.get('copies', {'count': [1, 1, 1], 'spacing': [0, 0, 0]})
    n = grid['count']
    for i in range(n[0] * n[1] * n[2]):
        at = i % n[0], i // n[0] % n[1], i // n[0] // n[1]
        place = [x + k * s for x, k, s in zip(body.get('position', [0, 0, 0]), at, grid['spacing'])]
        bodies.append({'name': body['name'] + ('[%d]' % i if 'copies' in body else ''), 'model': body['model'],
                       'r': scene['models'][body['model']].get('r', 0), 'place': place})
coupled = 'coupling' in scene
r = sum(b['r'] for b in bodies)
scene_hash = hashlib.sha256(text).hexdigest()


def npy(descr, shape, values):
    head = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, shape)
    head += ' ' * (-(len(head) + 11) % 64) + '\n'
    code = {'<f8': 'd', '<i8': 'q', '<i4': 'i'}.get(descr)
    data = struct.pack('<%d%s' % (len(values), code), *values) if code else values
    return b'\x93NUMPY\x01\x00' + struct.pack('<H', len(head)) + head.encode() + data


def words(dictionary):
    data = json.dumps(dictionary).encode()
    return npy('|u1', '(%d,)' % len(data), data)


meta = {'kind': 'scene_trajectory', 'format_version': '1.0', 'tool': 'simscene', 'version': '0', 'parameters': {}, 'history': {},
        'inputs': [{'name': sys.argv[1], 'sha256': scene_hash}], 'scene': scene_hash, 'coupled': coupled, 'contacts': True,
        'bodies': [{key: b[key] for key in ('name', 'model', 'r')} for b in bodies]}
entries = [('meta', words(meta))]
n = len(bodies)
for block in range(0, (frames + 3) // 4):
    m = {key: [] for key in ('time', 'pose', 'twist', 'q', 'qdot', 'wrench', 'energy', 'counts', 'hand', 'coupling', 'device', 'contact/count',
                             'contact/body', 'contact/point', 'contact/place', 'contact/force')}
    for f in range(4 * block, min(4 * block + 4, frames)):
        t = f / 10
        wrench = [[0.0] * 6 for _ in bodies]
        touching = range(n - 1) if f % 2 else []
        m['time'] += [t]
        for b, body in enumerate(bodies):
            x, y, z = body['place']
            m['pose'] += [x, y, z + t * (b + 1) / 10, math.cos(t / 2), 0, 0, math.sin(t / 2)]
            m['twist'] += [0, 0, (b + 1) / 10, 0, 0, 1]
            m['q'] += [0.02 * math.sin(t + j) for j in range(body['r'])]
            m['qdot'] += [0.02 * math.cos(t + j) for j in range(body['r'])]
        for b in touching:
            force = [0, b, 1 + t]
            m['contact/body'] += [b, b + 1]
            m['contact/point'] += [7 * b]
            m['contact/place'] += [b, t, 0]
            m['contact/force'] += force
            for k in range(3):
                wrench[b][k] += force[k]
                wrench[b + 1][k] -= force[k]
        m['wrench'] += sum(wrench, [])
        m['energy'] += [t, 0.5 * t, -t]
        m['counts'] += [100 + f, 10, len(touching), 3]
        m['hand'] += [0.5, 0, t, 1, 0, 0, 0]
        m['coupling'] += [0, 0, -t, 0, 0, 0.5]
        m['device'] += [0, 0, t / 2, 0, 0, 0]
        m['contact/count'] += [len(touching)]
    k, c = len(m['time']), len(m['contact/point'])
    shapes = {'time': (k,), 'pose': (k, n, 7), 'twist': (k, n, 6), 'q': (k, r), 'qdot': (k, r), 'wrench': (k, n, 6), 'energy': (k, 3),
              'counts': (k, 4), 'hand': (k, 7), 'coupling': (k, 6), 'device': (k, 6), 'contact/count': (k,), 'contact/body': (c, 2),
              'contact/point': (c,), 'contact/place': (c, 3), 'contact/force': (c, 3)}
    types = {'counts': '<i8', 'contact/count': '<i8', 'contact/body': '<i4', 'contact/point': '<i4'}
    for name, values in m.items():
        if (name in ('q', 'qdot') and r == 0) or (name in ('hand', 'coupling', 'device') and not coupled):
            continue
        entries.append(('%s/%06d' % (name, block), npy(types.get(name, '<f8'), shapes[name], values)))
# formats/container.md: SHA-256 over all members but result, of each the name, a NUL byte and the bytes of the .npy
counts = ('pairs_by_gradient pairs_by_normal most_nodes_visited most_points_in_contact deepest_level steps_in_contact steps_cut_short '
          'steps_in_contact_cut_short steps_wholly_inside steps_passed_through cycles_out_of_balance steps_at_speed_limit '
          'steps_with_free_directions').split()
numbers = ('lowest_distance penetration_by_size contact_stiffness stiffest_contact lean_of_normals energy_rise work_of_paths').split()
result = {'warnings': [], **{key: 0 for key in counts}, **{key: 0.0 for key in numbers}, 'energy_first': [0.0] * 3, 'energy_last': [0.0] * 3,
          'sha256': hashlib.sha256(b''.join(name.encode() + b'\0' + data for name, data in entries)).hexdigest()}
with zipfile.ZipFile(sys.argv[2], 'w') as archive:
    for name, data in entries + [('result', words(result))]:
        archive.writestr(zipfile.ZipInfo(name + '.npy'), data)
