"""The package as a whole: its declarations against the headers, its documentation, and the search for the library."""
import ctypes
import inspect
import os
import pathlib
import re
import subprocess
import sys
import typing
import unittest

import numpy as np

import supple
from supple import _library

SOURCE = pathlib.Path(os.environ['SUPPLE_SOURCE'])
HEADERS = '\n'.join(p.read_text() for p in sorted((SOURCE / 'include/supple').glob('*.h')))
CODE = re.sub(r'/\*.*?\*/', ' ', HEADERS, flags=re.S)


def run(code, **environment):
    """What a new interpreter prints for the code; `environment` overrides that of this one, None removes."""
    full = {k: v for k, v in {**os.environ, **environment}.items() if v is not None}
    return subprocess.run([sys.executable, '-W', 'error', '-c', code], env=full, capture_output=True, text=True)


def kind(declaration):
    """The ctypes type of a result or an argument, as the package has it, from its declaration in C."""
    words = re.sub(r'\bconst\b|SUPPLE_MUST_USE|\[[^\]]*\]', ' ', declaration).split()
    pointer = '*' in declaration or '[' in declaration
    base = [w for w in words if w != '*'][0].rstrip('*')
    structures = {'supple_body_files': _library.BodyFiles, 'supple_integration': _library.Integration,
                  'supple_energies': _library.Energies, 'supple_step_report': _library.StepReport,
                  'supple_scene_options': _library.SceneOptions, 'supple_pose': _library.Pose,
                  'supple_scene_energy': _library.SceneEnergy, 'supple_contact_report': _library.ContactReport}
    handles = {'supple_body': _library.BodyHandle, 'supple_batch': _library.BatchHandle,
               'supple_scene': _library.SceneHandle}
    if base in handles:
        handle = handles[base]
        return {ctypes.POINTER(handle)} if declaration.count('*') == 2 else {handle}
    if base in structures:
        return {ctypes.POINTER(structures[base]) if pointer else structures[base]}
    plain = {'bool': ctypes.c_bool, 'int': ctypes.c_int, 'double': ctypes.c_double, 'int64_t': ctypes.c_int64, 'size_t': ctypes.c_size_t}
    if pointer:  # of an array, of a number that is a result, of text or bytes
        if base in ('char', 'void'):
            return {ctypes.c_char_p}
        return {_library._ARRAY} | ({ctypes.POINTER(plain[base])} if base in plain else set())
    return {{'void': None, 'supple_status': _library._Status}.get(base, plain.get(base))}


class Declarations(unittest.TestCase):
    def test_functions_are_those_of_the_headers(self):
        found = re.findall(r'^([\w ]+?[ *]+)(supple_\w+)\(([^)]*)\)[^;{]*;', CODE, flags=re.M)
        self.assertEqual(sorted(name for _, name, _ in found), sorted(_library.FUNCTIONS))
        for result, name, arguments in found:
            declared = [result] + ([] if arguments.strip() == 'void' else arguments.split(','))
            with self.subTest(name):
                self.assertEqual(len(declared), len(_library.FUNCTIONS[name]))
                for c, python in zip(declared, _library.FUNCTIONS[name]):
                    self.assertIn(python, kind(c), c)

    def test_structures_are_those_of_the_compiler(self):
        sizes = {'supple_body_files': _library.BodyFiles, 'supple_integration': _library.Integration,
                 'supple_energies': _library.Energies, 'supple_step_report': _library.StepReport,
                 'supple_scene_options': _library.SceneOptions, 'supple_pose': _library.Pose,
                 'supple_scene_energy': _library.SceneEnergy, 'supple_contact_report': _library.ContactReport}
        arrays = {'supple_spring': _library.SPRING, 'supple_point_force': _library.POINT_FORCE,
                  'supple_contact': _library.CONTACT}
        expected, lines = [], []
        for name, structure in {**sizes, **arrays}.items():
            if isinstance(structure, np.dtype):
                size, offsets = structure.itemsize, {n: structure.fields[n][1] for n in structure.names}
            else:
                size = ctypes.sizeof(structure)
                offsets = {n: getattr(structure, n).offset for n, _ in structure._fields_}
            expected += [size, *offsets.values()]
            lines += [f'sizeof({name})', *(f'offsetof({name}, {n})' for n in offsets)]
            body = re.search(r'typedef struct %s \{(.*?)\}' % name, CODE, flags=re.S)[1]
            members = [re.sub(r'\[.*', '', m.split()[-1].lstrip('*')) for s in body.split(';') for m in s.split(',')
                       if m.strip()]
            self.assertEqual(members, list(offsets), name)
        pathlib.Path('sizes.c').write_text('#include <supple/supple.h>\n#include <stdio.h>\nint main(void)\n{\n'
                                           + ''.join(f'printf("%zu\\n", {line});\n' for line in lines)
                                           + 'return 0;\n}\n')
        subprocess.run(['cc', '-I', str(SOURCE / 'include'), 'sizes.c', '-o', 'sizes'], check=True)
        self.assertEqual(list(map(int, subprocess.check_output('./sizes').split())), expected)

    def test_enumerations_are_those_of_the_headers(self):
        from supple import body
        schemes = re.search(r'typedef enum supple_scheme \{(.*?)\}', CODE, flags=re.S)[1].replace(',', ' ').split()
        self.assertEqual([s.replace('SUPPLE_', '').lower() for s in schemes], list(body._SCHEMES))
        self.assertEqual(typing.get_args(body.Scheme), body._SCHEMES)
        values = re.search(r'typedef enum supple_status \{(.*?)\}', CODE, flags=re.S)[1]
        status = dict(re.findall(r'SUPPLE_(\w+) = (\d)', values))
        self.assertEqual({**{s.name: str(s.value) for s in supple.Status}, 'OK': '0'}, status)

    def test_defaults_are_those_of_the_library(self):
        library = _library.library()
        for function, defaults in ((supple.Body.start, library.supple_integration_default()),
                                   (supple.Scene, library.supple_scene_options_default())):
            for name, parameter in inspect.signature(function).parameters.items():
                if hasattr(defaults, name) and isinstance(parameter.default, (int, float)):
                    self.assertEqual(getattr(defaults, name), parameter.default, name)

    def test_version_is_that_of_the_project(self):
        project = re.search(r"version: '([\d.]+)'", (SOURCE / 'meson.build').read_text())[1]
        header = '.'.join(re.findall(r'#define SUPPLE_VERSION_\w+ (\d+)', CODE))
        self.assertEqual([supple.__version__, _library.library().supple_version().decode(), header], [project] * 3)

    def test_soname_is_that_of_the_build(self):
        build = (SOURCE / 'api/meson.build').read_text()
        self.assertEqual(_library.SONAME, 'libsupple.so.' + re.search(r"soversion: '(\d+)'", build)[1])

    def test_modules_are_all_installed(self):
        listed = re.findall(r"'supple/([\w.]+)'", (SOURCE / 'python/meson.build').read_text())
        there = [p.name for p in (SOURCE / 'python/supple').iterdir() if p.is_file()]
        self.assertEqual(sorted(listed), sorted(there))


class Documentation(unittest.TestCase):
    def public(self):
        for name in supple.__all__:
            thing = getattr(supple, name)
            yield name, thing
            if inspect.isclass(thing):
                for base in thing.__mro__:
                    if base.__module__.startswith('supple'):
                        for member, value in vars(base).items():
                            if not member.startswith('_') and (callable(value) or isinstance(value, property)):
                                yield f'{name}.{member}', value

    def test_every_public_name_has_a_text(self):
        names = list(self.public())
        self.assertGreater(len(names), 50)
        for name, thing in names:
            self.assertTrue(thing.__doc__ and len(thing.__doc__) > 10, name)

    def test_every_argument_and_result_has_a_type(self):
        for name, thing in self.public():
            function = thing.fget if isinstance(thing, property) else thing
            if inspect.isclass(thing):
                function = vars(thing).get('__init__')
            if inspect.isfunction(function):
                hints = typing.get_type_hints(function)
                arguments = [a for a in inspect.signature(function).parameters if a != 'self']
                self.assertEqual([a for a in [*arguments, 'return'] if a not in hints], [], name)


class Search(unittest.TestCase):
    OPEN = 'import supple; supple.Body("mesh.npz", "modes.npz")'

    def test_reading_files_needs_no_library(self):
        result = run('import supple; print(supple.load("mesh.npz").kind)', SUPPLE_LIBRARY='nowhere.so')
        self.assertEqual((result.stdout, result.stderr), ('mesh\n', ''))

    def test_no_library_is_an_error_that_says_what_to_do(self):
        result = run(self.OPEN, SUPPLE_LIBRARY='nowhere.so')
        self.assertRegex(result.stderr, r'supple.*\.Error: nowhere.so: .*cannot open.*Install Supple.*SUPPLE_LIBRARY')
        if not any(pathlib.Path(p, _library.SONAME).exists() for p in ('/usr/lib', '/usr/local/lib')):
            result = run(self.OPEN, SUPPLE_LIBRARY=None)
            self.assertRegex(result.stderr, r'supple.*\.Error: libsupple.so.0: .*SUPPLE_LIBRARY')

    def test_another_library_is_refused(self):
        result = run(self.OPEN, SUPPLE_LIBRARY='libm.so.6')
        self.assertRegex(result.stderr, r'supple.*\.Error: libm.so.6: .*supple_version')

    def test_another_version_is_refused(self):
        for version, fits in (('0.1.7', True), ('0.2.0', True), ('0.0.9', False), ('1.1.0', False)):
            pathlib.Path('other.c').write_text(f'const char *supple_version(void) {{ return "{version}"; }}')
            subprocess.run(['cc', '-shared', '-fPIC', 'other.c', '-o', f'./other-{version}.so'], check=True)
            result = run(self.OPEN, SUPPLE_LIBRARY=f'./other-{version}.so')
            refused = f'is version {version}, and this package is for version {supple.__version__}'
            wanted = 'supple_error' if fits else refused
            self.assertIn(wanted, result.stderr)

    def test_interpreter_ends_with_open_bodies(self):
        result = run('import supple; b = supple.Body("mesh.npz", "modes.npz"); b.start(); q = b.q')
        self.assertEqual((result.returncode, result.stderr), (0, ''))


if __name__ == '__main__':
    unittest.main()
