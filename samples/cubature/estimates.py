#!/usr/bin/env python3
"""Write the estimates of a trajectory as CSV to standard output: time in s, relative error of the force as estimated.

    python3 estimates.py MOTION.npz > estimates.csv
"""

import ast
import struct
import sys
import zipfile


def numbers(data):
    """The values of an .npy member, version 1.0, of doubles."""
    (length,) = struct.unpack_from("<H", data, 8)
    header = ast.literal_eval(data[10 : 10 + length].decode("latin-1"))
    if header["descr"] != "<f8":
        raise ValueError("not of doubles")
    body = data[10 + length :]
    return struct.unpack(f"<{len(body) // 8}d", body)


def main():
    if len(sys.argv) != 2:
        print("usage: estimates.py MOTION.npz > estimates.csv", file=sys.stderr)
        return 2
    try:
        with zipfile.ZipFile(sys.argv[1]) as archive:
            blocks = [name[len("time/") :] for name in archive.namelist() if name.startswith("time/")]
            print("time,estimate")
            for block in blocks:
                for row in zip(numbers(archive.read("time/" + block)), numbers(archive.read("estimate/" + block))):
                    print("%.9g,%.6g" % row)
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        print(f"estimates.py: {sys.argv[1]}: {error}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
