"""compare.py FOLDER MOTION OBJ [far]: what the page showed against simulate with the saved loads, and its normals against an
independent computation in double precision. A body that was pulled far may be where it would not stay without the spring:
the page must say so then, since no forces repeat that."""
import json
import sys

import numpy as np

folder, motion, obj = sys.argv[1:4]
page = json.load(open(f'{folder}/page.json'))
r = page['columns']
q = np.array(page['q'])
rest, positions, normals, rest_normals = (np.array(page[k]).reshape(-1, 3) for k in
                                          ('rest', 'positions', 'normals', 'rest_normals'))
origin, triangles = np.array(page['origin']), np.array(page['triangles']).reshape(-1, 3)
U = np.array(page['targets']).reshape(-1, 3, r)[origin]
size = np.linalg.norm(np.ptp(rest, axis=0))
faults = []


def judge(what, value, bound):
    print(f'# {what}: {value:.3g}, bound {bound:g}')
    if not value <= bound:
        faults.append(what)


# ---- the motion ----
f = np.load(motion)
steps = np.concatenate([f[k] for k in sorted(f) if k.startswith('q/')])
if len(steps) != page['steps'] + 1:
    faults.append(f'{len(steps)} frames of {page["steps"]} steps')
note = open(f'{folder}/pull.csv').readline()
repeats = 'rounding grows' not in note
print(note.strip())
if repeats:
    judge('coordinates, relative to the largest', abs(steps[-1] - q).max() / abs(q).max(), 1e-9)
elif not (sys.argv[4:] == ['far']):
    faults.append('the forces do not repeat it')
simulated = np.array([line.split()[1:4] for line in open(obj) if line.startswith('v ')], float)
skin = len(simulated)
shown = positions[:skin] + page['center']
if repeats:
    judge('positions, relative to the size', abs(shown - simulated).max() / size, 1e-5)
judge('positions beside U q, relative to the size', abs(positions - rest - U @ q).max() / size, 1e-5)
u = np.linalg.norm(U[:skin] @ q, axis=1).max()
print(f'# largest displacement {u / size:.3f} of the size')
if u < 0.05 * size:
    faults.append('it hardly deforms')

# ---- normals ----
ring = [set() for _ in rest]
for a, b, c in triangles:
    ring[a] |= {b, c}
    ring[b] |= {a, c}
    ring[c] |= {a, b}


def unit(x):
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def angle(a, b):
    return np.degrees(np.arccos(np.clip(np.sum(unit(a) * unit(b), axis=-1), -1, 1)))


exact, linear = np.empty_like(rest), np.empty_like(rest)
for v, near in enumerate(ring):
    near = sorted(near)
    n = rest_normals[v] / np.linalg.norm(rest_normals[v])
    s = unit(np.cross(n, [0.3, 0.5, 0.8] if abs(n[0]) > 0.5 else [1, 0.1, 0]))  # any frame of the tangent plane
    t = np.cross(n, s)
    d = (rest[near] - rest[v]) @ np.array([s, t]).T
    w = 1 / np.linalg.norm(d, axis=1)
    gradient = np.linalg.lstsq(d * w[:, None], (U[near] - U[v]).reshape(len(near), -1) * w[:, None], rcond=None)[0]
    gradient = gradient.reshape(2, 3, r)
    along = gradient @ q
    exact[v] = np.cross(s + along[0], t + along[1])
    linear[v] = n + np.cross(along[0], t) + np.cross(s, along[1])

# Angle-weighted normals of the deformed triangles
x = rest + U @ q
mean = np.zeros_like(rest)
face = np.cross(x[triangles[:, 1]] - x[triangles[:, 0]], x[triangles[:, 2]] - x[triangles[:, 0]])
for k in range(3):
    a, b, c = (x[triangles[:, (k + j) % 3]] for j in range(3))
    np.add.at(mean, triangles[:, k], unit(face) * np.radians(angle(b - a, c - a))[:, None])
judge('normals, degrees', angle(normals, exact).max(), 0.5)
for name, other in (('linear targets', linear), ('means of the deformed triangles', mean)):
    error = angle(other, exact)
    print(f'# {name}: largest {error.max():.2f}, mean {error.mean():.2f} degrees')
sys.exit('\n'.join(faults) if faults else 0)
