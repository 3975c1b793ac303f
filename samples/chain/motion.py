"""Reads meshes, bases, matrices and trajectories without NumPy, and places the bodies of a scene."""
import array
import ast
import json
import math
import struct
import zipfile


def read(archive, name):
    """Shape and values of a member, in the order of the file."""
    data = archive.read(name + ".npy")
    length = struct.unpack("<H", data[8:10])[0]
    head = ast.literal_eval(data[10:10 + length].decode())
    return head["shape"], array.array({"<f8": "d", "<i8": "q", "<i4": "i", "|u1": "B"}[head["descr"]], data[10 + length:])


def frames(path, names):
    """The rows of these series of a trajectory, frame after frame."""
    archive = zipfile.ZipFile(path)
    for block in sorted(n[5:-4] for n in archive.namelist() if n.startswith("time/")):
        series = [read(archive, "%s/%s" % (name, block)) for name in names]
        count = series[0][0][0]
        for f in range(count):
            yield [values[f * (len(values) // count):(f + 1) * (len(values) // count)] for _, values in series]


def rotation(q):
    w, x, y, z = q
    return [[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]]


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


class Model:
    """Vertices X of a mesh and the columns U of its basis."""

    def __init__(self, mesh, basis):
        archive = zipfile.ZipFile(mesh)
        self.X = read(archive, "vertices")[1]
        self.kept = read(archive, "kept")[1] if "kept.npy" in archive.namelist() else None
        (rows, self.r), U = read(zipfile.ZipFile(basis), "U")
        self.U = [U[k * rows:(k + 1) * rows] for k in range(self.r)]

    def combined(self, q):
        """U q."""
        sums = [0.0] * len(self.X)
        for c, column in zip(q, self.U):
            sums = [s + c * u for s, u in zip(sums, column)]
        return sums

    def placed(self, pose, twist, q, qdot):
        """Places and velocities [vertex][3] in the world: x + R (X + U q), and v + w x R (X + U q) + R U qdot."""
        R, v, w = rotation(pose[3:]), twist[:3], twist[3:]
        arm = [X + u for X, u in zip(self.X, self.combined(q))]
        rate = self.combined(qdot)
        places, velocities = [], []
        for i in range(0, len(arm), 3):
            y = [sum(R[a][b] * arm[i + b] for b in range(3)) for a in range(3)]
            z = cross(w, y)
            places.append([pose[a] + y[a] for a in range(3)])
            velocities.append([v[a] + z[a] + sum(R[a][b] * rate[i + b] for b in range(3)) for a in range(3)])
        return places, velocities


def bodies(path, model_of):
    """Time, energy and the places and velocities of each body, frame after frame. model_of: a model by its name in the scene."""
    meta = json.loads(bytes(read(zipfile.ZipFile(path), "meta")[1]))
    models = [model_of(body["model"]) for body in meta["bodies"]]
    for time, energy, pose, twist, q, qdot in frames(path, ["time", "energy", "pose", "twist", "q", "qdot"]):
        at, placed = 0, []
        for b, model in enumerate(models):
            own = slice(at, at + model.r)
            placed.append(model.placed(pose[7 * b:7 * b + 7], twist[6 * b:6 * b + 6], q[own], qdot[own]))
            at += model.r
        yield time[0], energy, placed


def domains(folder, name, path):
    """The vertices of the whole mesh in each domain of a beam DOMAINS-R, and the motion of the domains."""
    count, r = (int(n) for n in name.split("-"))
    models = [Model("%s/%d-%d.npz" % (folder, count, d), "%s/%d-%d-%d-basis.npz" % (folder, count, d, r)) for d in range(count)]
    return [m.kept for m in models], bodies(path, lambda key: models[int(key[1:])])


def whole(kept, placed):
    """Places and velocities by vertex of the whole mesh, and the largest distance of two copies of a vertex."""
    seen, gap = {}, 0
    for own, (places, velocities) in zip(kept, placed):
        for vertex, x, v in zip(own, places, velocities):
            if vertex in seen:
                gap = max(gap, math.dist(x, seen[vertex][0]))
            seen[vertex] = x, v
    return seen, gap
