"""The tip of the spoon over time, by libsupple from Python: body.py MESH BASIS POLYNOMIALS LOADS"""
import sys

import supple

mesh, basis, polynomials, loads = sys.argv[1:]
with supple.Body(mesh, basis, polynomials) as body:
    body.load_file(loads)
    tip = body.nearest([2.5, 0, 0])
    body.start(step=0.003)
    for _ in range(132):
        body.step()
        print('%.17g %.17g %.17g %.17g' % (body.time, *body.displacements([tip])[0]))
