#!/usr/bin/env python3
"""Scenes of joined domains in JSON on standard output. File names are those of the Makefile.

    python3 scene.py beam DOMAINS R GRAVITY
    python3 scene.py bent DOMAINS R LOADS
    python3 scene.py chain SEGMENTS LENGTH
    python3 scene.py ring SEGMENTS LENGTH WIDTH CELLS

beam: the domains of one bar, clamped at the first, under its weight. bent: the same under loads on the last domain, with so much
damping that it comes to rest. chain: straight segments in a row along x, the first one clamped, so that they
fall. ring: arcs that make a circle about z and spin freely as one body.
"""
import json
import math
import sys

COLOURS = 2    # models of the same segment: pictures colour bodies by their model


def model(mesh, basis, polynomials, damping=0):
    return {"kind": "reduced", "mesh": mesh, "basis": basis, "polynomials": polynomials, "damping": [0, damping]}


def beam(domains, r, gravity, loads=None):
    models = {"m%d" % d: model("%d-%d.npz" % (domains, d), "%d-%d-%d-basis.npz" % (domains, d, r), "%d-%d-%d-poly.npz" % (domains, d, r),
                             1 if loads else 0)
              for d in range(domains)}
    bodies = [{"name": "b%d" % d, "model": "m%d" % d, "motion": "free"} for d in range(domains)]
    joints = [{"child": "b0"}]
    joints += [{"child": "b%d" % d, "child_interface": "interface-parent", "parent": "b%d" % (d - 1), "interface": "interface-%d" % d}
               for d in range(1, domains)]
    if loads:
        bodies[-1]["loads"] = loads
    return {"gravity": [0, 0, -gravity], "models": models, "bodies": bodies, "joints": joints}


def segments(count, name):
    """Models, bodies without places, and the joints of each with the one before."""
    models = {"m%d" % c: model(name + ".npz", name + "-basis.npz", name + "-poly.npz") for c in range(COLOURS)}
    bodies = [{"name": "s%d" % k, "model": "m%d" % (k % COLOURS), "motion": "free"} for k in range(count)]
    joints = [{"child": "s%d" % k, "child_interface": "base", "parent": "s%d" % (k - 1), "interface": "tip"} for k in range(1, count)]
    return models, bodies, joints


def chain(count, length):
    models, bodies, joints = segments(count, "segment")
    for k, body in enumerate(bodies):
        body["position"] = [round(k * length, 9), 0, 0]
    return {"gravity": [0, 0, -9.81], "models": models, "bodies": bodies, "joints": [{"child": "s0", "child_interface": "base"}] + joints}


def centre(length, width, angle, cells):
    """Centre of mass of an arc whose cells are prisms over trapezoids, in the frame of its model."""
    radius, cell = length / angle, angle / cells
    a, b = (radius - width / 2) * math.cos(cell / 2), (radius + width / 2) * math.cos(cell / 2)
    middle = 2 / 3 * (b ** 3 - a ** 3) / (b ** 2 - a ** 2)
    along = sum(math.sin((i + 0.5) * cell) for i in range(cells)) / cells
    across = sum(math.cos((i + 0.5) * cell) for i in range(cells)) / cells
    return [middle * along, radius - middle * across]


def ring(count, length, width, cells):
    angle = 2 * math.pi / count
    radius, spin = length / angle, [2.6, 0, 0.8]
    middle = centre(length, width, angle, cells)
    models, bodies, joints = segments(count, "arc")
    for k, body in enumerate(bodies):
        c, s = math.cos(k * angle), math.sin(k * angle)

        def turned(x, y):
            return [c * x - s * y, s * x + c * y, 0]

        body["position"] = turned(0, -radius)
        body["orientation"] = [math.cos(k * angle / 2), 0, 0, math.sin(k * angle / 2)]
        p = turned(middle[0], middle[1] - radius)
        body["velocity"] = [spin[1] * p[2] - spin[2] * p[1], spin[2] * p[0] - spin[0] * p[2], spin[0] * p[1] - spin[1] * p[0]]
        body["angular_velocity"] = spin
    joints.append({"child": "s0", "child_interface": "base", "parent": "s%d" % (count - 1), "interface": "tip"})
    return {"models": models, "bodies": bodies, "joints": joints}


def main():
    kind, numbers = sys.argv[1], sys.argv[2:]
    if kind == "beam":
        made = beam(int(numbers[0]), int(numbers[1]), float(numbers[2]))
    elif kind == "bent":
        made = beam(int(numbers[0]), int(numbers[1]), 0, numbers[2])
    elif kind == "chain":
        made = chain(int(numbers[0]), float(numbers[1]))
    else:
        made = ring(int(numbers[0]), float(numbers[1]), float(numbers[2]), int(numbers[3]))
    json.dump(made, sys.stdout, indent=1)
    print()


main()
