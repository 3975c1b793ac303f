"""Options of simulate for a scheme and a number of steps in a period of the mode: scheme.py SCHEME STEPS MODES."""
import math
import struct
import sys
import zipfile

scheme, steps, modes = sys.argv[1], int(sys.argv[2]), sys.argv[3]
with zipfile.ZipFile(modes) as file:
    omega = math.sqrt(struct.unpack("<d", file.read("eigenvalue.npy")[-8:])[0])
step = 2 * math.pi / omega / steps
options = ["--dt %.17g" % step, "--steps %d" % max(4 * steps, 40)]
if scheme == "euler":
    options.append("--integrator euler")
else:
    gamma = int(scheme[len("newmark"):]) / 100
    options.append("--integrator newmark --gamma %g --beta %.17g" % (gamma, (gamma + 0.5) ** 2 / 4))
print(*options)
