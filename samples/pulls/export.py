"""The motions of simbatch as a data set whose card states the error that simreduce has found: export.py ENSEMBLE MESH BASIS REDUCED.sh FOLDER"""
import sys

import supple

ensemble, mesh, basis, commands, folder = sys.argv[1:]
with open(commands, encoding='utf-8') as file:
    statement = next(line[2:].strip() for line in file if line.startswith('# r = '))
supple.export_dataset(ensemble, folder, mesh=mesh, basis=basis, error=statement)
