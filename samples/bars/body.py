"""Reads a body of model.py."""


def read(path):
    """Its vertices, and its tetrahedra by their numbers from 0."""
    with open(path, encoding="utf-8") as text:
        words = iter(text.read().split())
    vertices, tets = [], []
    for word in words:
        if word == "Vertices":
            for _ in range(int(next(words))):
                vertices.append([float(next(words)) for _ in range(3)])
                next(words)
        elif word == "Tetrahedra":
            for _ in range(int(next(words))):
                tets.append([int(next(words)) - 1 for _ in range(4)])
                next(words)
    return vertices, tets
