"""The walker: its bones and its walk.

x is forward, y left and z up, in m; the ground is at z = 0. At rest the figure stands with its arms away from the body.
A pose is (p, q), a translation and a unit quaternion w, x, y, z, and moves a point X to a + p + R (X - a), where a is the
joint of the bone.
"""

import math

PERIOD = 1.1  # s, two steps

# name, parent, joint, ends of the segment, its radius
BONES = [
    ("pelvis", None, (0, 0, 0.88), (0, -0.10, 0.86), (0, 0.10, 0.86), 0.05),
    ("spine", "pelvis", (0, 0, 0.95), (0, 0, 0.97), (0, 0, 1.12), 0.05),
    ("chest", "spine", (0, 0, 1.15), (0, 0, 1.18), (0, 0, 1.38), 0.05),
    ("head", "chest", (0, 0, 1.47), (0, 0, 1.50), (0, 0, 1.66), 0.05),
]
for side, sign in (("left", 1), ("right", -1)):
    BONES += [
        ("arm-" + side, "chest", (0, 0.27 * sign, 1.33), (0, 0.29 * sign, 1.31), (0, 0.47 * sign, 1.13), 0.04),
        ("forearm-" + side, "arm-" + side, (0, 0.50 * sign, 1.10), (0, 0.52 * sign, 1.07), (0.04, 0.69 * sign, 0.81), 0.04),
        ("thigh-" + side, "pelvis", (0, 0.15 * sign, 0.82), (0, 0.15 * sign, 0.78), (0, 0.17 * sign, 0.50), 0.04),
        ("shin-" + side, "thigh-" + side, (0, 0.17 * sign, 0.46), (0, 0.17 * sign, 0.42), (-0.01, 0.18 * sign, 0.14), 0.04),
        ("foot-" + side, "shin-" + side, (-0.01, 0.18 * sign, 0.09), (-0.02, 0.18 * sign, 0.07), (0.14, 0.19 * sign, 0.055), 0.04),
    ]


def multiplied(a, b):
    """The rotation b, followed by a."""
    return (a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3], a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
            a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1], a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0])


def about(axis, degrees):
    half = math.radians(degrees) / 2
    return (math.cos(half), *(math.sin(half) * (axis == k) for k in "xyz"))


def rotated(q, v):
    w, x, y, z = q
    t = [2 * (y * v[2] - z * v[1]), 2 * (z * v[0] - x * v[2]), 2 * (x * v[1] - y * v[0])]
    return [v[0] + w * t[0] + y * t[2] - z * t[1], v[1] + w * t[1] + z * t[0] - x * t[2], v[2] + w * t[2] + x * t[1] - y * t[0]]


def pose(name, t, ease=0):
    """Of a bone relative to its parent. All angles are harmonics of the period, so that the walk is a smooth closed loop. With `ease`
    it begins at rest and reaches its full angles after that time."""
    p, q = full_pose(name, t)
    if t >= ease:
        return p, q
    x = t / ease
    part = x * x * x * (10 - 15 * x + 6 * x * x)
    angle, sine = 2 * math.acos(min(1, q[0])), math.sqrt(sum(c * c for c in q[1:]))
    return [part * c for c in p], (math.cos(part * angle / 2), *(math.sin(part * angle / 2) * c / max(sine, 1e-300) for c in q[1:]))


def full_pose(name, t):
    phase = 2 * math.pi * t / PERIOD
    bone, _, side = name.partition("-")
    sway = math.sin(phase)
    if side == "right":
        phase += math.pi
    still = (0, 0, 0)
    if bone == "pelvis":
        return (0, -0.015 * sway, 0.02 * math.cos(2 * phase) - 0.025), multiplied(about("z", 5 * sway), about("x", 2 * math.cos(phase)))
    if bone in ("spine", "chest"):
        return still, multiplied(about("z", -5 * sway), about("y", 1.5 * math.cos(2 * phase) + 1.5))
    if bone == "head":
        return still, multiplied(about("z", 5 * sway), about("y", -2 * math.cos(2 * phase) - 3))
    if bone == "arm":
        return still, about("y", 22 * math.sin(phase))
    if bone == "forearm":
        return still, about("y", -18 + 12 * math.sin(phase))
    swing, knee = 26 * math.sin(phase) + 6, 6 + 22 * (1 + math.cos(phase + 0.3))
    return still, about("y", {"thigh": -swing, "shin": knee, "foot": 0.8 * (swing - knee)}[bone])


def world(name, t, ease=0):
    """The map X -> p + R X of a bone from rest to the world, as (p, q)."""
    _, parent, at, *_ = next(bone for bone in BONES if bone[0] == name)
    p, q = pose(name, t, ease)
    moved = rotated(q, at)
    p = [a + b - c for a, b, c in zip(at, p, moved)]
    if parent is None:
        return p, q
    up, uq = world(parent, t, ease)
    return [a + b for a, b in zip(up, rotated(uq, p))], multiplied(uq, q)
