"""Reads a tree of domains: the division, and the meshes that simpart --extract --local wrote."""

import json
import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "points")]
from shell import member


class Division:
    def __init__(self, path):
        self.parent = list(member(path, "parent")[0])
        self.same = list(member(path, "same")[0])
        origin = member(path, "origin")[0]
        self.origin = [list(origin[3 * d:3 * d + 3]) for d in range(len(self.parent))]
        pair, vertices = member(path, "pair")[0], member(path, "interface_vertices")[0]
        first = [vertices[begin] for begin in member(path, "interface_start")[0][:-1]]
        self.neighbours = [[] for _ in self.parent]    # in the order in which --local names interfaces: of their lowest vertices
        for _, one, other in sorted(zip(first, pair[::2], pair[1::2])):
            self.neighbours[one].append(other)
            self.neighbours[other].append(one)

    def __len__(self):
        return len(self.parent)

    def children(self, d):
        return [c for c in self.neighbours[d] if c != self.parent[d]]

    def below(self, d):
        """The number of domains that d carries, itself included."""
        return 1 + sum(self.below(c) for c in self.children(d))


class Domain:
    """Mass and vertices of the mesh of a domain, which has elements of one material."""

    def __init__(self, path):
        region = member(path, "region")[0]
        assert region.count(region[0]) == len(region), path + ": elements of several materials"
        self.material = json.loads(bytes(member(path, "meta")[0]))["materials"][region[0]]
        self.volume = json.loads(bytes(member(path, "result")[0]))["volume"]
        self.mass = self.material["density"] * self.volume
        self.coordinates = member(path, "vertices")[0]

    def vertices(self, origin):
        """Points of the whole tree."""
        X = self.coordinates
        return [tuple(o + c for o, c in zip(origin, X[i:i + 3])) for i in range(0, len(X), 3)]
