#!/usr/bin/env python3
"""Chooses tests for changed files: choose.py unit|cli FILE… prints the tests nearest to the files first.

A file reaches what includes its header, and so on: the number of such steps is the distance. A header belongs to the .c file of the same name;
a .c file without one belongs to the headers of its folder that it includes. Prints of unit tests the names, ordered by distance; of
tests of the command line "FILE NAME" with a tab between, ordered by how near the programs are that the test runs, and how few others it runs.
A changed test comes before all others. Nothing is printed for what no test can reach, such as documents."""
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ('lib', 'formats', 'include', 'api', 'tools', 'tests/unit')
INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)
TEST = re.compile(r'^@test (["\'])(.+?)\1 \{(?:([^\n]*)\}|\n(.*?)^\})$', re.M | re.S)
FUNCTION = re.compile(r'^(\w+)\(\) \{\n(.*?)^\}', re.M | re.S)


def read_includes():
    """For each source file the files of the checkout that it includes."""
    paths = {str(p.relative_to(ROOT)) for folder in FOLDERS for p in (ROOT / folder).rglob('*.[ch]')}
    includes = {}
    for path in paths:
        here = str(pathlib.PurePath(path).parent)
        names = INCLUDE.findall((ROOT / path).read_text(encoding='utf-8'))
        includes[path] = [p for name in names for p in (name, 'lib/' + name, 'include/' + name, here + '/' + name) if p in paths]
    return includes


def distances(changed, includes):
    """Steps from the nearest changed file to each file that it reaches."""
    users = collections.defaultdict(set)
    for path, names in includes.items():
        for name in names:
            users[name].add(path)
    reached = {path: 0 for path in changed if path in includes}
    queue = collections.deque(reached)
    while queue:
        path = queue.popleft()
        if path.endswith('.h'):
            near = [(user, 1) for user in users[path]]
        elif path[:-2] + '.h' in includes:
            near = [(path[:-2] + '.h', 0)]
        else:
            folder = str(pathlib.PurePath(path).parent)
            near = [(name, 0) for name in includes[path] if str(pathlib.PurePath(name).parent) == folder]
        for other, steps in near:
            if other not in reached or reached[path] + steps < reached[other]:
                reached[other] = reached[path] + steps
                (queue.append if steps else queue.appendleft)(other)
    return reached


def unit_tests(reached):
    tests = [(steps, pathlib.PurePath(path).stem) for path, steps in reached.items() if path.startswith('tests/unit/') and path.endswith('.c')]
    return [name for steps, name in sorted(tests) if name not in ('harness', 'prepare')]


def program_distances(reached):
    """Steps to the main function of each program."""
    return {path.stem: reached['tools/' + path.name] for path in (ROOT / 'tools').glob('*.c') if 'tools/' + path.name in reached}


def command_line_tests(changed, programs):
    every = sorted(p.stem for p in (ROOT / 'tools').glob('*.c'))
    word = re.compile(r'\b(%s)\b' % '|'.join(every))
    tests = []
    for path in sorted((ROOT / 'tests/cli').glob('*.bats')):
        text = path.read_text(encoding='utf-8')
        functions = dict(FUNCTION.findall(text))
        for match in TEST.finditer(text):
            name, body = match[2], match[3] or match[4]
            body += ' '.join(functions[called] for called in set(re.findall(r'\w+', body)) if called in functions)
            used = set(word.findall(body)) or {'supple'}
            score = sum(0.5 ** programs[p] for p in used if p in programs) / len(used) ** 0.5
            if str(path.relative_to(ROOT)) in changed:
                score += 100
            if score > 0:
                tests.append((-score, path.name, name))
    return ['%s\t%s' % (file, name) for score, file, name in sorted(tests)]


def main():
    if len(sys.argv) < 2 or sys.argv[1] not in ('unit', 'cli'):
        sys.exit('usage: choose.py unit|cli FILE...')
    changed = set(sys.argv[2:])
    reached = distances(changed, read_includes())
    chosen = unit_tests(reached) if sys.argv[1] == 'unit' else command_line_tests(changed, program_distances(reached))
    sys.stdout.writelines(line + '\n' for line in chosen)


main()
