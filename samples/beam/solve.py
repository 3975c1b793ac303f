"""The first three frequencies of a mesh: solve.py MESH.npz MODES.npz RUNS. Prints the free degrees of freedom, the processor time of `modes`
in seconds (the minimum of RUNS runs), and the angular frequencies in rad/us.
"""
import math
import re
import resource
import subprocess
import sys


def main():
    mesh, modes, times = sys.argv[1], sys.argv[2], []
    for _ in range(int(sys.argv[3])):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(['modes', mesh, '-k', '3', '-t', '1', '-q', '-o', modes], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    text = subprocess.run(['siminfo', mesh], check=True, capture_output=True, text=True).stdout
    fixed, every = re.search(r'^fixed .* (\d+) of (\d+) degrees of freedom', text, re.M).groups()
    text = subprocess.run(['siminfo', modes], check=True, capture_output=True, text=True).stdout
    hertz = [float(f) for f in re.findall(r'^ +\d+ +(\S+) Hz', text, re.M)]
    print(int(every) - int(fixed), '%.4f' % min(times), *['%.10g' % (2e-6 * math.pi * f) for f in hertz], sep=',')


main()
