#!/usr/bin/env python3
"""Scenes of dragons and stairs in JSON on standard output.

    python3 scene.py stairs|edge coupled|decoupled|modal-N|greedy-N

stairs: fifteen dragons, turned at random, over the upper steps. edge: one of them over the edge of a single step, undamped and without a
floor, so that it flies on after it has met that edge. METHOD-N: coupled, with forces of the cubature cub-METHOD-N.npz.
"""
import json
import random
import sys

STEPS, HEIGHT, DEPTH, WIDTH = 7, 1, 1.8, 10    # m; the stairs descend along x
COLOURS = 5      # models of the same dragon, which have colours of their own
MIDDLE = 0.85   # m, how far the middle of a dragon is above its origin


def steps(count):
    """Slabs of twice the depth of a step, each half below the one above; the edge of the highest is at x = DEPTH/2."""
    for k in range(count):
        yield {"name": "step%d" % k, "model": "step", "position": [round(k * DEPTH, 6), 0, HEIGHT * (STEPS - k - 0.5)]}


def turned(dice):
    """Any rotation as likely as any other."""
    q = [dice.gauss(0, 1) for _ in range(4)]
    size = sum(c * c for c in q) ** 0.5
    return [round(c / size, 6) for c in q]


def placed(number, place, q):
    """A dragon with the model of its number, with its middle at a place, rotated by q."""
    w, x, y, z = q
    up = [2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)]
    return {"model": "dragon%d" % (number % COLOURS), "motion": "free", "position": [round(p - MIDDLE * u, 6) for p, u in zip(place, up)], "orientation": q}


def dragons():
    """In rows of three, one above the other, none within the reach of another one."""
    dice = random.Random(7)
    for k in range(15):
        row = k // 3
        place = [-0.8 + 2.6 * (row % 2), 3 * (k % 3 - 1), STEPS * HEIGHT + 2 + 2.1 * row]
        yield {"name": "dragon%d" % k, **placed(k, place, turned(dice)), "velocity": [3, 0, 0],
               "angular_velocity": [round(dice.uniform(-2, 2), 6) for _ in range(3)]}


def main():
    kind, motion = sys.argv[1:]
    forces = {"cubature": "cub-%s.npz" % motion} if "-" in motion else {"polynomials": "poly.npz"}
    dragon = {"kind": "reduced", "mesh": "mesh.npz", "basis": "basis.npz", **forces, "pointshell": "shell.npz",
              "thickness": 0.06, "decoupled": motion == "decoupled"}
    # Pictures colour bodies by their model.
    models = {**{"dragon%d" % k: dragon for k in range(COLOURS if kind == "stairs" else 1)}, "step": {"kind": "rigid", "box": {"half": [DEPTH, WIDTH / 2, HEIGHT / 2]}}}
    contact = {"stiffness": 80000, "direction": "normal"}
    if kind == "edge":
        dragon["damping"] = [0, 0]
        bodies = list(steps(1))
        bodies.append({"name": "dragon", **placed(0, [2, 0, 9], [0.88, 0.3, 0.25, 0.2]), "angular_velocity": [0.5, 3, 1]})
    else:
        dragon["damping"] = [0.2, 0.004]
        contact["damping"] = 600
        models["floor"] = {"kind": "rigid", "plane": {"normal": [0, 0, 1]}}
        bodies = [{"name": "floor", "model": "floor"}] + list(steps(STEPS)) + list(dragons())
    json.dump({"gravity": [0, 0, -9.81], "contact": contact, "models": models, "bodies": bodies}, sys.stdout, indent=1)
    print()


main()
