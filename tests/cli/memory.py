#!/usr/bin/env python3
"""Runs commands while allocations fail, and prints what does not end as it should.

    memory.py LIBRARY POSITIONS < commands

LIBRARY is build/tests/fail-memory.so; commands stand one on a line, and work in the current folder. Each is run undisturbed, which counts its
allocations, and then POSITIONS times (0: as many times as it has allocations) in each of three ways: one allocation fails; it and all later ones;
one, with the spare threads of tools/process/threads.h, which are left out of the other ways. POSITIONS are the first, the last, and others drawn at random.

Every such run has to end with exit 4 and one line "program: ... out of memory", or of a thread that cannot be created; the outputs, which hold the
word "old" before, are as they were, and no file is new. Runs whose allocation was not reached, since threads do not make as many in every run, and
those that need it for spare threads only end as the undisturbed one does, with the same bytes. They are counted as undisturbed.

The last line is the sum: commands, runs, undisturbed, faults. Exit 1 with faults."""
import hashlib
import os
import random
import re
import shlex
import subprocess
import sys
import tempfile

OLD = b'old\n'
FAILURE = re.compile(rb'\A([a-z]+): ([^\n]*: )?(out of memory|cannot create a thread: Resource temporarily unavailable)\n\Z')
WAYS = [('FAIL_AT', False), ('FAIL_FROM', False), ('FAIL_AT', True)]  # FAIL_AT or FAIL_FROM, and whether there are spare threads
# files that a failed run may leave and a later successful run removes
KEPT = '.checkpoint'


def mark(entry):
    about = entry.stat()
    return about.st_mtime_ns, about.st_size, about.st_ino


def files():
    return {entry.name: mark(entry) for entry in os.scandir('.') if entry.is_file() and not entry.name.endswith(KEPT)}


def changed(before, after):
    return sorted(name for name in set(before) | set(after) if before.get(name) != after.get(name))


def read(name):
    with open(name, 'rb') as file:
        return file.read()


class Trial:
    def __init__(self, library, line):
        self.line, self.words, self.library, self.faults = line, shlex.split(line), library, []
        self.counted = tempfile.NamedTemporaryFile()

    def run(self, spare, **variables):
        for name in os.listdir('.'):
            if name.endswith(KEPT):
                os.remove(name)
        environment = dict(os.environ, LD_PRELOAD=self.library, FAIL_COUNT=self.counted.name, **variables)
        if not spare:
            environment['OMP_WAIT_POLICY'] = 'passive'
        try:
            done = subprocess.run(self.words, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
        except subprocess.TimeoutExpired:
            return None, b'', b''
        return done.returncode, done.stdout, done.stderr

    def fault(self, where, text):
        self.faults.append('%s: %s: %s' % (self.line, where, text))

    def reference(self):
        before = files()
        self.code, self.out, self.err = self.run(False)
        if self.code not in (0, 1):
            sys.exit('%s: exit %s without failures: %s' % (self.line, self.code, self.err.decode(errors='replace')))
        self.count = int(read(self.counted.name))
        self.outputs = changed(before, files())
        self.bytes = self.hashes()

    def hashes(self):
        return [hashlib.sha256(read(name)).digest() for name in self.outputs]

    def spoil(self):
        for name in self.outputs:
            with open(name, 'wb') as file:
                file.write(OLD)

    def failing(self, way, n):
        before = files()
        mode, spare = way
        code, out, err = self.run(spare, **{mode: str(n)})
        where = '%s=%d%s' % (mode, n, ' with spare threads' if spare else '')
        touched = changed(before, files())
        if code == 4:
            match = FAILURE.match(err)
            if not match or match.group(1).decode() != self.words[0]:
                self.fault(where, 'stderr is %r' % err)
            if touched:
                self.fault(where, 'exit 4, but %s changed' % ', '.join(touched))
                self.restore(touched)
            return False
        if code != self.code or (err and err != self.err):
            self.fault(where, 'exit %s, %r' % ('by timeout' if code is None else code, err))
        elif touched != self.outputs or self.hashes() != self.bytes or (not self.outputs and out != self.out):
            self.fault(where, 'exit %d with other bytes' % code)
        elif not spare and int(read(self.counted.name)) >= n:
            self.fault(where, 'exit %d in spite of it' % code)
        self.restore(touched)
        return True

    def restore(self, touched):
        for name in touched:
            if name not in self.outputs:
                os.remove(name)
        self.spoil()

    def positions(self, most):
        if most == 0 or most >= self.count:
            return range(1, self.count + 1)
        inner = random.sample(range(2, self.count), max(0, min(most - 2, self.count - 2)))
        return [1] + sorted(inner) + [self.count]


def main():
    library, most = os.path.abspath(sys.argv[1]), int(sys.argv[2])
    random.seed(1)
    commands = runs = undisturbed = faults = 0
    for line in sys.stdin.read().splitlines():
        trial = Trial(library, line)
        trial.reference()
        trial.spoil()
        passed = tried = 0
        for way in WAYS:
            for n in trial.positions(most):
                tried += 1
                passed += trial.failing(way, n)
        print('# %s: %d allocations, %d runs, %d undisturbed, %d faults' % (line, trial.count, tried, passed, len(trial.faults)), flush=True)
        for text in trial.faults[:20]:
            print(text, flush=True)
        commands, runs, undisturbed, faults = commands + 1, runs + tried, undisturbed + passed, faults + len(trial.faults)
    print('%d commands, %d runs, %d undisturbed, %d faults' % (commands, runs, undisturbed, faults))
    return faults > 0


if __name__ == '__main__':
    sys.exit(main())
