#!/usr/bin/env python3
"""Scenes of baskets in JSON on standard output.

    python3 scene.py COUNT falling|alone

falling: COUNT x COUNT x COUNT baskets above the floor, close to one another. alone: nothing touches, so that a step is that of the
baskets only.
"""
import json
import sys


def main():
    count, kind = int(sys.argv[1]), sys.argv[2]
    scene = {
        "gravity": [0, 0, -9.81],
        "contact": {"stiffness": 4000, "damping": 10, "direction": "normal"},
        "models": {
            "floor": {"kind": "rigid", "plane": {"normal": [0, 0, 1]}},
            "basket": {"kind": "reduced", "mesh": "mesh.npz", "basis": "basis.npz", "polynomials": "poly.npz", "pointshell": "shell.npz",
                       "thickness": 0.014, "decoupled": True, "damping": [0.5, 0.004]}},
        "bodies": [
            {"name": "floor", "model": "floor"},
            {"name": "basket", "model": "basket", "motion": "free", "position": [0, 0, 0.1],
             "copies": {"count": [count, count, count], "spacing": [0.47, 0.45, 0.42]}}]}
    if kind == "alone":
        scene["pairs"] = []
    json.dump(scene, sys.stdout, indent=1)
    print()


main()
