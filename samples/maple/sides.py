#!/usr/bin/env python3
"""The region of each element of a mesh, as the .npy that simpart --sides reads: sides.py MESH.npz > sides.npy"""

import array
import pathlib
import struct
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "points")]
from shell import member

region = array.array("d", member(sys.argv[1], "region")[0])
header = "{'descr': '<f8', 'fortran_order': False, 'shape': (%d,), }" % len(region)
header += " " * (-(len(header) + 11) % 64) + "\n"
sys.stdout.buffer.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + region.tobytes())
