#!/usr/bin/env python3
"""The scene of a dragon (point shell) and a dinosaur (distance field), to standard output: scene.py rr|dr|dd TRAVERSAL.
The letters say whether the one and the other is rigid (r) or deformable (d), TRAVERSAL is a JSON object."""

import json
import sys


def deformable(name):
    return {"kind": "reduced", "basis": name + "-basis.npz", "polynomials": name + "-poly.npz", "damping": [2, 0.002]}


kinds = sys.argv[1]
dragon = {"kind": "rigid", "mesh": "dragon.npz", "pointshell": "dragon-shell.npz"}
dinosaur = {"kind": "rigid", "mesh": "dinosaur.npz", "field": "dinosaur-field.npz"}
if kinds[0] == "d":
    dragon.update(deformable("dragon"))
if kinds[1] == "d":
    dinosaur.update(deformable("dinosaur"), proxies="dinosaur-proxies.npz")
half = 0.5**0.5
json.dump(
    {
        "contact": {"stiffness": 3000, "limit": 10},
        "traversal": json.loads(sys.argv[2]),
        "models": {"dragon": dragon, "dinosaur": dinosaur},
        "bodies": [
            {"name": "dragon", "model": "dragon"},
            {"name": "dinosaur", "model": "dinosaur", "motion": "coupled", "position": [-0.63, 2.4, -0.08], "orientation": [half, 0, 0, -half]},
        ],
        "pairs": [["dragon", "dinosaur"]],
        "coupling": {"kind": "static", "body": "dinosaur", "path": "hand.csv", "stiffness": 4000, "torque_stiffness": 20000, "saturation": 400},
    },
    sys.stdout,
    indent=2,
)
print()
