"""The lowest strong partial of sounds in their second tenth of a second and in their last two, as a table: pitch.py FILE..."""

import math
import re
import struct
import sys
import wave


def read(path):
    """Samples in Pa, by the full scale that the comment states; and the rate."""
    with open(path, "rb") as file:
        scale = float(re.search(rb"full scale is ([0-9.e+-]+) Pa", file.read())[1])
    with wave.open(path) as sound:
        raw, rate = sound.readframes(sound.getnframes()), sound.getframerate()
    return [scale / 8388607 * (struct.unpack("<i", b"\0" + raw[i : i + 3])[0] >> 8) for i in range(0, len(raw), 3)], rate


def amplitude(x, rate, frequency):
    """Of a sine in x, under a Hann window."""
    turn, cosine, sine = 2 * math.pi * frequency / rate, 0.0, 0.0
    for i, value in enumerate(x):
        cosine += value * math.cos(turn * i)
        sine += value * math.sin(turn * i)
    return 4 / len(x) * math.hypot(cosine, sine)


def partial(x, rate, low, high):
    """The frequency of the largest amplitude, by three searches with finer steps."""
    x = [value * math.sin(math.pi * (i + 0.5) / len(x)) ** 2 for i, value in enumerate(x)]
    steps = 24
    for _ in range(3):
        grid = [low + (high - low) * i / steps for i in range(steps + 1)]
        best = max(grid, key=lambda f: amplitude(x, rate, f))
        low, high = best - (high - low) / steps, best + (high - low) / steps
    return best


print(f"{'sound':22} {'peak, Pa':>9} {'early, Hz':>10} {'late, Hz':>9} {'glide, cents':>13}")
for path in sys.argv[1:]:
    x, rate = read(path)
    band = (70, 190) if "gong" in path else (250, 390)
    early = partial(x[rate // 10 : rate // 5], rate, *band)
    late = partial(x[-rate // 5 : -rate // 100], rate, *band)
    name = re.sub(r".*/|\.wav$", "", path)
    print(f"{name:22} {max(map(abs, x)):9.3g} {early:10.3g} {late:9.3g} {10 * round(120 * math.log2(late / early)):13d}")
