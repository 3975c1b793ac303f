"""Reads pictures of simrender for tests: 8-bit RGB PNG without interlacing, by zlib alone."""
import struct
import zlib

import numpy as np


def png(name):
    """(height, width, 3) integers."""
    data = open(name, 'rb').read()
    assert data[:8] == b'\x89PNG\r\n\x1a\n', name
    at, packed = 8, b''
    while at < len(data):
        length, kind = struct.unpack('>I4s', data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        if kind == b'IHDR':
            width, height, depth, color = struct.unpack('>IIBB', body[:10])
            assert (depth, color, body[12]) == (8, 2, 0), body
        packed += body if kind == b'IDAT' else b''
        at += 12 + length
    rows = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(height, 1 + 3 * width)
    out = np.zeros((height + 1, 3 * width + 3), int) # a row above and a pixel on the left are 0
    for y in range(height):
        kind, row, above = rows[y, 0], rows[y, 1:], out[y]
        if kind == 0:
            out[y + 1, 3:] = row
        elif kind == 2:
            out[y + 1, 3:] = (row + above[3:]) % 256
        else:
            here = out[y + 1]
            for i in range(3 * width):
                left, up, corner = int(here[i]), int(above[i + 3]), int(above[i])
                guess = left + up - corner
                paeth = min((abs(guess - left), 0, left), (abs(guess - up), 1, up), (abs(guess - corner), 2, corner))[2]
                here[i + 3] = (int(row[i]) + {1: left, 3: (left + up) // 2, 4: paeth}[kind]) % 256
    return out[1:, 3:].reshape(height, width, 3)


def linear(rgb):
    """Linear light in [0, 1] of sRGB bytes."""
    s = np.asarray(rgb) / 255
    return np.where(s <= 0.04045, s / 12.92, ((s + 0.055) / 1.055) ** 2.4)


def spots(mask):
    """Pixels (rows, columns) of each connected part of a mask, neighbours also diagonally, from left to right."""
    left = {tuple(p) for p in np.argwhere(mask)}
    found = []
    while left:
        stack, part = [left.pop()], []
        while stack:
            y, x = stack.pop()
            part.append((y, x))
            for near in [(y + j, x + i) for j in (-1, 0, 1) for i in (-1, 0, 1)]:
                if near in left:
                    left.remove(near)
                    stack.append(near)
        found.append(np.array(part))
    return sorted(found, key=lambda p: p[:, 1].mean())


def framed(picture):
    """First and last row and column that differ from the left border, which shows the background: low, high."""
    body = np.argwhere((picture != picture[:, :1]).any(2))
    return body.min(0), body.max(0)
