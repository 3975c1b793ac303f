#!/usr/bin/env python3
"""forge.py FILE OUT STATEMENTS: a copy of an .npz of ours with other values and a hash that fits them, as a program with a fault would
write it. The statements see `m`, the members by name, and the dictionaries `meta` and `result`."""
import hashlib
import io
import json
import sys
import zipfile

import numpy as np

source, target, statements = sys.argv[1:]
file = np.load(source)
m = {name: file[name].copy('K') for name in file.files}
meta, result = (json.loads(m.pop(name).tobytes()) for name in ('meta', 'result'))
order = {name: m[name].flags.f_contiguous and m[name].ndim > 1 for name in m}
exec(statements)


def bytes_of(array):
    data = io.BytesIO()
    np.lib.format.write_array(data, array, version=(1, 0))
    return data.getvalue()


def text(dictionary):
    return bytes_of(np.frombuffer(json.dumps(dictionary).encode(), np.uint8))


entries = [('meta', text(meta))]
entries += [(name, bytes_of(np.asfortranarray(a) if order.get(name) else np.require(a, requirements="C"))) for name, a in m.items()]
# formats/container.md: SHA-256 over all members but result, of each the name, a NUL byte and the bytes of the .npy
result['sha256'] = hashlib.sha256(b''.join(name.encode() + b'\0' + data for name, data in entries)).hexdigest()
with zipfile.ZipFile(target, 'w') as archive:
    for name, data in entries + [('result', text(result))]:
        archive.writestr(zipfile.ZipInfo(name + '.npy'), data)
