#!/usr/bin/env python3
"""Writes the bar as an OBJ, m: x from 0 to LENGTH, square across: bar.py LENGTH WIDTH >bar.obj"""
import sys

length, width = map(float, sys.argv[1:3])
for k in range(8):
    print("v", length * (k & 1), width * (k >> 1 & 1) - width / 2, width * (k >> 2) - width / 2)
for face in ((1, 3, 4, 2), (5, 6, 8, 7), (1, 2, 6, 5), (3, 7, 8, 4), (1, 5, 7, 3), (2, 4, 8, 6)):
    print("f", *face)
