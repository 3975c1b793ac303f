#!/usr/bin/env python3
"""Counts tests: tally.py FILE… prints "passed failed skipped" of TAP files and of Meson's testlog.json, whose programs print TAP.

What failed is named on stderr with its diagnostics. A program that ends early, without a plan or with a bad exit status although
all its tests passed, counts as one more failure."""
import json
import re
import sys

MOST = 40  # lines of diagnostics for one failure
LINE = re.compile(r'(not )?ok\b\s*\d*\s*(.*)')


def count(name, text, status):
    passed = failed = skipped = 0
    plan = None
    notes = []       # diagnostics of the test that comes; unit programs print them before it
    behind = 0       # how many more to print of the test that failed: bats puts them behind it
    for line in text.splitlines():
        match = LINE.match(line)
        if line.startswith('1..'):
            plan = int(line[3:].split()[0])
        elif line.startswith('#'):
            notes.append(line)
            if behind > 0:
                print(line, file=sys.stderr)
            behind -= 1
        elif match:
            behind = 0
            if re.search(r'# *skip', match[2], re.I):
                skipped += 1
            elif match[1]:
                failed += 1
                print('%s: %s' % (name, line), *notes[:MOST], sep='\n', file=sys.stderr)
                behind = MOST - min(MOST, len(notes))
            else:
                passed += 1
            notes = []
    done = passed + failed + skipped
    if plan != done or (status and not failed):
        failed += 1
        print('%s: ended early: %d tests of %s, exit status %s' % (name, done, plan, status), file=sys.stderr)
    return passed, failed, skipped


def streams(path):
    with open(path, errors='replace') as file:
        if not path.endswith('.json'):
            yield path, file.read(), 0
            return
        for line in file:
            test = json.loads(line)
            yield test['name'], test.get('stdout', ''), test.get('returncode', 1)


totals = [0, 0, 0]
for path in sys.argv[1:]:
    try:
        found = [count(*stream) for stream in streams(path)]
    except OSError as error:
        print(error, file=sys.stderr)
        found = []
    for one in found or [(0, 1, 0)]:
        totals = [a + b for a, b in zip(totals, one)]
print(*totals)
