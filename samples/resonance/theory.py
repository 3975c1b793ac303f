"""Beam theory beside the curves of simcurve: theory.py LENGTH THICKNESS RISE BACKBONE.csv [EXACT.csv RADII ...]

The beam or shallow arch is clamped and slender, and its axial force is the same everywhere (von Karman; Mettler for the arch):

    EI w'''' + rho A w_tt - N (w'' + z'') = 0,     N = EA/L ∫ (w'²/2 + z' w') dx,     z = RISE sin(pi x / L).

It is solved by Ritz's method with the functions 1 - cos(2 pi n x / L). Prints the first symmetric frequency, the curvature of the backbone
by perturbation of second order, omega/omega_1 = 1 + c (a/r)² with the amplitude a at midspan and the radius of gyration r, and, of the beam,
omega/omega_1 at amplitudes of RADII of gyration: the exact frequency of the linear mode, by an elliptic integral. EXACT.csv receives these
frequencies over amplitudes."""
import csv
import math
import sys

COUNT, YOUNG, DENSITY = 40, 200e9, 7800.0


def solve(A, b):
    """x of A x = b, by elimination with pivots."""
    rows = [row[:] + [right] for row, right in zip(A, b)]
    n = len(rows)
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(rows[i][k]))
        rows[k], rows[pivot] = rows[pivot], rows[k]
        for i in range(k + 1, n):
            factor = rows[i][k] / rows[k][k]
            for j in range(k, n + 1):
                rows[i][j] -= factor * rows[k][j]
    x = [0.0] * n
    for k in reversed(range(n)):
        x[k] = (rows[k][n] - sum(rows[k][j] * x[j] for j in range(k + 1, n))) / rows[k][k]
    return x


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def times(A, x):
    return [dot(row, x) for row in A]


class Arch:
    """In units of the length: K and M per width and EA, B and c of the mean strain s = c·a + a·B a / 2, and the first mode, 1 at midspan."""

    def __init__(self, thickness, rise):
        n, waves = range(COUNT), [2 * math.pi * (k + 1) for k in range(COUNT)]
        self.B = [w * w / 2 for w in waves]
        # the integral of z' = rise pi cos(pi x) times w sin(w x) over (0, 1), with w = 2 pi n
        self.c = [rise * math.pi * w * 2 * w / (w * w - math.pi ** 2) for w in waves]
        bending = thickness ** 2 / 12
        self.K = [[self.c[i] * self.c[j] + (bending * waves[i] ** 4 / 2 if i == j else 0) for j in n] for i in n]
        self.M = [[1.5 if i == j else 1.0 for j in n] for i in n]
        x = [1.0] + [0.0] * (COUNT - 1)
        for _ in range(60):
            x = solve(self.K, times(self.M, x))
            middle = sum(a * (1 - math.cos(w / 2)) for a, w in zip(x, waves))
            x = [a / middle for a in x]
        self.mode, self.mass = x, dot(x, times(self.M, x))
        self.square = dot(x, times(self.K, x)) / self.mass

    def stretch(self, x, y):
        return sum(b * p * q for b, p, q in zip(self.B, x, y))

    def quadratic(self, x, y):
        """The symmetric bilinear force whose value Q(x, x) is the quadratic part of the internal force."""
        both, cx, cy = self.stretch(x, y), dot(self.c, x), dot(self.c, y)
        return [(both * c + b * (cx * q + cy * p)) / 2 for c, b, p, q in zip(self.c, self.B, x, y)]

    def curvature(self):
        """omega/omega_1 = 1 + this · a²: the constant and the second harmonic of order a², then the mean of the cubic terms."""
        half = [-q / 2 for q in self.quadratic(self.mode, self.mode)]
        constant = solve(self.K, half)
        second = solve([[k - 4 * self.square * m for k, m in zip(*rows)] for rows in zip(self.K, self.M)], half)
        cubic = 0.75 * self.stretch(self.mode, self.mode) ** 2 / 2
        mixed = 2 * dot(self.mode, self.quadratic(self.mode, [a + b / 2 for a, b in zip(constant, second)]))
        return (cubic + mixed) / (2 * self.square * self.mass)

    def ratio(self, amplitude):
        """Of a beam: the period of q'' + q + e q³ = 0 with amplitude 1, by a complete elliptic integral."""
        e = self.stretch(self.mode, self.mode) ** 2 / 2 / (self.square * self.mass) * amplitude ** 2
        a, b = 1.0, math.sqrt(1 - e / (2 + 2 * e))
        for _ in range(30):
            a, b = (a + b) / 2, math.sqrt(a * b)
        return math.sqrt(1 + e) * a


def backbone(path):
    with open(path, encoding='ascii') as file:
        rows = [(float(r['frequency_Hz']), float(r['amplitude_m'])) for r in csv.DictReader(file)]
    return rows


def at(rows, amplitude):
    for (f0, a0), (f1, a1) in zip(rows, rows[1:]):
        if a0 <= amplitude <= a1:
            return f0 + (amplitude - a0) / (a1 - a0) * (f1 - f0)
    sys.exit('theory.py: the backbone does not reach %g m' % amplitude)


length, thickness, rise = map(float, sys.argv[1:4])
rows = backbone(sys.argv[4])
arch = Arch(thickness / length, rise / length)
radius = thickness / math.sqrt(12)
frequency = math.sqrt(arch.square * YOUNG / DENSITY) / length / (2 * math.pi)
# The backbone of simcurve at small amplitudes: f = f1 (1 + c a²) through the points nearest to half a radius of gyration and to a quarter of it.
near = [min(rows, key=lambda r: abs(r[1] - radius * part)) for part in (0.25, 0.5)]
slope = (near[1][0] - near[0][0]) / (near[1][1] ** 2 - near[0][1] ** 2)
first = near[0][0] - slope * near[0][1] ** 2
print('quantity,theory,simcurve')
print('first symmetric frequency (Hz),%.5g,%.5g' % (frequency, first))
print('curvature c,%.4g,%.4g' % (arch.curvature() * (radius / length) ** 2, slope / first * radius ** 2))
if len(sys.argv) > 5:
    with open(sys.argv[5], 'w', encoding='ascii') as exact:
        exact.write('frequency_Hz,amplitude_m\n')
        for text in sys.argv[6:]:
            amplitude = float(text) * radius
            ratio = arch.ratio(amplitude / length)
            print('omega/omega_1 at %s radii,%.6f,%.6f' % (text, ratio, at(rows, amplitude) / first))
            exact.write('%.9g,%.9g\n' % (ratio * frequency, amplitude))
