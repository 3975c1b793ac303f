"""What supple.py reads of each file, a line for each member: FILE NAME TYPE SHAPE SUM, the sum of w |x| with w = 1, 2, … 7, 1, … over the values in row-major order. summary.jl and summary.m write the same."""
import re
import sys

import numpy as np

from supple import load

TYPES = {'<f8': 'f8', '<f4': 'f4', '<i8': 'i8', '<i4': 'i4', '|u1': 'u1'}
for path in sys.argv[1:]:
    tag = re.sub(r'.*/', '', path)
    file = load(path, partial=tag.startswith('cut'))
    if file.result:
        print(tag, 'kind', file.kind, file.result['sha256'])
    for name, array in file.items():
        if name == 'matrix':
            continue
        name = re.sub(r'\W', '_', name)
        if array.dtype.kind == 'S':
            print(tag, name, 'text', array.item().decode())
            continue
        shape = list(array.shape) or [1]
        while len(shape) > 1 and shape[-1] == 1:
            shape.pop()
        values = np.abs(array.ravel().astype(float))
        print(tag, name, TYPES[array.dtype.str], 'x'.join(map(str, shape)), '%.10e' % (values * (1 + np.arange(len(values)) % 7)).sum())
