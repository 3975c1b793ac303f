"""The places that a new material law, element type or integrator needs, as "Where something new goes" of docs/design.md lists them.

extend.py compilers SOURCE BUILD FOLDER  adds a value to an enumeration in a copy of the sources, in FOLDER: static_assert and -Wswitch must name
                                         the files of the item that begins "The compiler names" in the section, and no others
extend.py documents SOURCE BUILD         the documents of the item "Words" must have every word
"""
import json
import os
import re
import shlex
import shutil
import subprocess
import sys

FOLDERS = ('lib', 'formats', 'api', 'tools', 'include', 'bench', 'tests/unit')
# section, item, header with the enumeration, the value before which (or after which) a new one comes, identifiers by which places know it
ADDITIONS = (
    ('A new material law', 'The compiler names', 'lib/material/material.h', r'(\n    SP_LAW_COUNT,)', r'\n    SP_LAW_DUMMY,\1', 'SP_LAW_'),
    ('A new material law', 'Constants of a new kind', 'lib/material/material.h', r'(, SP_CONSTANTS_MOONEY\b)', r'\1, SP_CONSTANTS_DUMMY',
     'SP_CONSTANTS_'),
    ('A new element type', 'The compiler names', 'lib/mesh/element_type.h', r'(\n    SP_ELEMENT_TYPES\b)', r'\n    SP_DUMMY,\1',
     'SP_ELEMENT_TYPES'),
    ('A new integrator', 'The compiler names', 'lib/integrate/integrate.h', r'(\n    SP_INTEGRATOR_COUNT,)', r'\n    SP_DUMMY,\1',
     'SP_INTEGRATOR_COUNT'),
)


def read(*path):
    with open(os.path.join(*path), encoding='utf-8') as file:
        return file.read()


def item(source, section, begin):
    """The files that an item of a section of docs/design.md names."""
    text = read(source, 'docs/design.md').partition('\n### %s\n' % section)[2].partition('\n### ')[0]
    found = re.search(r'\n\d\. %s(.*?)(?=\n\d\. |\Z)' % begin, text, re.S)
    assert found, 'docs/design.md: %s has no item "%s"' % (section, begin)
    return set(re.findall(r'(?<![/.\w])[a-z_/0-9]+/[a-z_0-9]+\.[a-z0-9]+', found[1]))


def command_of(commands, source, build, copy, name):
    """Words that check a file of the copy: those of the build for a file of the same folder."""
    same = [c for f, c in commands.items() if os.path.dirname(f) == os.path.dirname(name)]
    words = shlex.split(commands.get(name) or same[0])
    if os.path.basename(words[0]) == 'ccache':
        del words[0]
    kept = [words[0]]
    for word in words[1:]:
        if word.startswith(('-I', '-D', '-std', '-m')):
            path = os.path.normpath(os.path.join(build, word[2:]))
            inside = word.startswith('-I') and (path + '/').startswith(source + '/') and not (path + '/').startswith(build + '/')
            kept.append('-I' + copy + path[len(source):] if inside else word)
    return kept + ['-fopenmp', '-Wswitch', '-fsyntax-only', '-x', 'c', os.path.join(copy, name)]


def named(commands, source, build, copy, identifier):
    """The files that a static_assert or -Wswitch names, in its place or in its message."""
    places = set()
    for folder in FOLDERS:
        for path, _, files in os.walk(os.path.join(copy, folder)):
            for file in files:
                name = os.path.relpath(os.path.join(path, file), copy)
                text = read(copy, name) if name.endswith(('.c', '.h')) else ''
                if identifier not in text or not re.search(r'\bstatic_assert\b|\bswitch\b', text):
                    continue
                said = subprocess.run(command_of(commands, source, build, copy, name), cwd=build, stderr=subprocess.PIPE, text=True,
                                      env={**os.environ, 'LC_ALL': 'C'}).stderr
                for line in said.splitlines():
                    if re.search(r': (error|warning): .*(static.assert|-Wswitch)', line):
                        places.add(os.path.relpath(line.split(':')[0], copy))
                        places.update(p for p in re.findall(r'tools/[a-z_/]+\.[ch]', line.partition(' ')[2]))
    return places


def compilers(source, build, folder):
    with open(os.path.join(build, 'compile_commands.json'), encoding='utf-8') as file:
        commands = {os.path.relpath(os.path.join(c['directory'], c['file']), source): c['command'] for c in json.load(file)}
    copy = os.path.join(os.path.realpath(folder), 'copy')
    for part in FOLDERS:
        shutil.copytree(os.path.join(source, part), os.path.join(copy, part))

    wrong = 0
    for section, begin, header, pattern, replacement, identifier in ADDITIONS:
        text = read(copy, header)
        changed, count = re.subn(pattern, replacement, text)
        assert count == 1, header + ': no single place for a new value'
        with open(os.path.join(copy, header), 'w', encoding='utf-8') as file:
            file.write(changed)
        places, listed = named(commands, source, build, copy, identifier), item(source, section, begin)
        for name in sorted(places ^ listed):
            print('%s, %s: %s' % (section, begin, name), 'is not in docs/design.md' if name in places else 'is silent')
        wrong += places != listed
        with open(os.path.join(copy, header), 'w', encoding='utf-8') as file:
            file.write(text)
    return wrong


def documents(source, build):
    words = {'A new material law': re.findall(r'\] = \{"([a-z-]+)", SP_CONSTANTS_YOUNG', read(source, 'lib/material/material.c')),
             'A new element type': re.findall(r'\n    \[SP_[A-Z0-9]+\] = \{"([a-z0-9]+)"', read(source, 'lib/mesh/element_type.c'))}
    wrong = 0
    for section, known in words.items():
        assert len(known) >= 5, section
        for page in sorted(item(source, section, 'Words')):
            text = read(source, page)
            lacking = [w for w in known if not re.search(r'(?<![\w-])%s(?![\w-])' % w, text)]
            wrong += len(lacking)
            if lacking:
                print('%s: %s lacks %s' % (section, page, ', '.join(lacking)))

    for page in sorted(item(source, 'A new integrator', 'Words')):
        program = os.path.basename(page).partition('.')[0]
        said = subprocess.run([os.path.join(build, 'tools', program), '--help'], stdout=subprocess.PIPE, text=True, check=True).stdout
        for word in re.search(r'--integrator ([a-z0-9|-]+)', said)[1].split('|'):
            if not re.search(r'(?<![\w-])%s(?![\w-])' % word, read(source, page).replace('\\-', '-')):
                print('A new integrator: %s lacks %s' % (page, word))
                wrong += 1
    return wrong


if __name__ == '__main__':
    paths = [os.path.realpath(p) for p in sys.argv[2:]]
    sys.exit(1 if {'compilers': compilers, 'documents': documents}[sys.argv[1]](*paths) else 0)
