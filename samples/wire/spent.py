#!/usr/bin/env python3
"""Run a command and write the seconds of processor time that it took, of all its threads.

    python3 spent.py SECONDS-FILE COMMAND [ARGUMENT …]
"""

import resource
import subprocess
import sys


def main():
    if len(sys.argv) < 3:
        print("usage: spent.py SECONDS-FILE COMMAND [ARGUMENT …]", file=sys.stderr)
        return 2
    status = subprocess.run(sys.argv[2:], check=False).returncode
    if status == 0:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        try:
            with open(sys.argv[1], "w", encoding="ascii") as file:
                print("%.2f" % (used.ru_utime + used.ru_stime), file=file)
        except OSError as error:
            print(f"spent.py: {sys.argv[1]}: {error.strerror}", file=sys.stderr)
            return 4
    return status if status >= 0 else 4


if __name__ == "__main__":
    sys.exit(main())
