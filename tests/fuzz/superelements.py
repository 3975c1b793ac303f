#!/usr/bin/env python3
"""superelements.py DESCRIPTION FOLDER: seeds of fuzz_superelement from a linear interface model, with matrices of each format."""
import json
import os
import sys

description, folder = sys.argv[1:]
with open(description) as stream:
    model = json.load(stream)
for form in 'npy', 'matrix_market':
    chosen = {name: {form: files[form]} for name, files in model['matrices'].items()}
    mass, stiffness = (open(os.path.join(os.path.dirname(description), chosen[name][form]), 'rb').read() for name in ('mass', 'stiffness'))
    with open(os.path.join(folder, form), 'wb') as seed:
        seed.write(json.dumps(dict(model, matrices=chosen)).encode() + b'\0' + len(mass).to_bytes(2, 'little') + mass + stiffness)
