#!/usr/bin/env python3
"""The arguments of a program for each domain of the tree in FOLDER, one domain a line, for xargs -L 1.

    python3 jobs.py simpart|modes|modalderiv|masspca|cubature FOLDER

Of domains with the same content only the first has a line. Domains with most interfaces are first. simpart has a line for each quarter of all domains.
"""

import sys

from division import Division

INNER_MODES = 3      # with the interfaces at rest
INNER_MORE = 9       # coordinates for derivatives
INNER_PAIRS = 30     # heaviest derivatives
LEAF_ORDER = 3       # blocks of Krylov modes of translation
LEAF_RANK = 35       # r_leaf of the paper
LEAF_PAIRS = 50      # heaviest derivatives up to order 2
TRAINING = "--linear exact --poses 20 --held-out 10 --deflection 0.03 --tolerance 0.02"


def modes(d, children):
    inner = f"--interface interface-* --frame average -k {INNER_MODES} --ritz"
    return f"{d}.npz {inner if children else f'--method krylov --order {LEAF_ORDER} --start x,y,z'} -o {d}-modes.npz"


def modalderiv(d, children):
    most = f"--most {INNER_PAIRS}" if children else f"--order 2 --most {LEAF_PAIRS}"
    return f"{d}.npz {d}-modes.npz --method inertia {most} -o {d}-derivatives.npz"


def masspca(d, children):
    rank = 6 * children + INNER_MODES + INNER_MORE if children else LEAF_RANK
    return f"{d}.npz {d}-modes.npz {d}-derivatives.npz --keep-first --scaling product -r {rank} -o {d}-basis.npz"


def cubature(d, children):
    return f"{d}.npz {d}-basis.npz {TRAINING} -o {d}-cubature.npz"


def main():
    program, folder = sys.argv[1:3]
    parts = Division(folder + "/parts.npz")
    if program == "simpart":
        quarter = -(-len(parts) // 4)
        for first in range(0, len(parts), quarter):
            domains = f"{first}-{min(first + quarter, len(parts)) - 1}"
            print(f"{folder}/tree.npz {folder}/parts.npz --extract {domains} --fix-parent --local -o {folder}/%d.npz")
        return
    jobs = [(-len(parts.children(d)), d) for d in range(len(parts)) if parts.same[d] == d]
    for less, d in sorted(jobs):
        print({"modes": modes, "modalderiv": modalderiv, "masspca": masspca, "cubature": cubature}[program](f"{folder}/{d}", -less))


main()
