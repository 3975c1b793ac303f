"""Times separate processes alternately, A B A B ..., so that a drift of the machine's speed affects all alike.

    alternate.py ROUNDS [NAME=VALUE...] -- COMMAND... -- COMMAND...

Each command runs ROUNDS times, after one round that is not counted. Prints for each the median of its seconds, the median
of its processor seconds (user and system, all threads), the range of the seconds, its peak memory, and how many times as
long as the first one it takes; then the last line that it printed in its fastest run. NAME=VALUE are environment
variables for all of them.
"""

import os
import statistics
import sys
import tempfile
import time


def run(command, environment):
    """Seconds, processor seconds, GB and the last line of output."""
    with tempfile.TemporaryFile() as output:
        begin = time.perf_counter()
        child = os.posix_spawnp(command[0], command, environment, file_actions=[(os.POSIX_SPAWN_DUP2, output.fileno(), 1)])
        _, status, usage = os.wait4(child, 0)
        seconds = time.perf_counter() - begin
        if status:
            sys.exit("failed: " + " ".join(command))
        output.seek(0)
        lines = output.read().decode().splitlines()
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1048576, lines[-1] if lines else ""


def main():
    words, commands = sys.argv[1:], []
    while "--" in words:
        at = len(words) - 1 - words[::-1].index("--")
        commands.insert(0, words[at + 1 :])
        words = words[:at]
    rounds = int(words[0])
    environment = dict(os.environ, **dict(word.split("=", 1) for word in words[1:]))
    runs = [[] for _ in commands]
    for turn in range(rounds + 1):
        for command, taken in zip(commands, runs):
            result = run(command, environment)
            if turn:
                taken.append(result)
    first = statistics.median(r[0] for r in runs[0]), statistics.median(r[1] for r in runs[0])
    for command, taken in zip(commands, runs):
        wall, processor = (statistics.median(r[i] for r in taken) for i in (0, 1))
        print(
            "  %-24s %7.3f s (%.3f to %.3f), processor %7.3f s, %.2f GB, ratio %.2f, of processor time %.2f  %s"
            % (os.path.basename(command[0] if not command[0].endswith("python3") else " ".join(command[1:2] + command[-1:])), wall,
               min(r[0] for r in taken), max(r[0] for r in taken), processor, max(r[2] for r in taken), wall / first[0], processor / first[1], min(taken)[3]),
            flush=True,
        )  # fmt: skip


main()
