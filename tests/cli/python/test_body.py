"""Bodies of the package: the files of tests/cli/data.bash are in the current folder."""
import contextlib
import copy
import gc
import pathlib
import pickle
import subprocess
import threading
import unittest

import numpy as np

import supple

FILES = {'poly': ('mesh.npz', 'basis.npz', 'poly.npz'), 'cub': ('mesh.npz', 'basis.npz', None, 'cub.npz'),
         'modal': ('mesh.npz', 'modes.npz')}


def started(name='poly', **options):
    body = supple.Body(*FILES[name])
    body.start(**options)
    return body


class Test(unittest.TestCase):
    @contextlib.contextmanager
    def refused(self, status, words):
        with self.assertRaises(supple.Error) as caught:
            yield
        self.assertEqual(caught.exception.status, status)
        self.assertIn(words, str(caught.exception))

    def wrong(self, error, words, call, *arguments, **options):
        """A call that Python refuses itself."""
        with self.assertRaisesRegex(error, words):
            call(*arguments, **options)


class Motion(Test):
    """The motion is that of simulate, bit for bit."""

    LOADS = 't0,t1,kind,id,fx,fy,fz\n0,inf,all,,0,0,-90\n0.02,0.1,vertex,20,0,5,0\n'
    SPRING = '0.05,0.2,spring,21,3,0.5,0.25,40\n'

    def compare(self, name, options, *words):
        pathlib.Path('same.csv').write_text(self.LOADS + ('' if name == 'modal' else self.SPRING))
        model = {'poly': ['--basis', 'basis.npz', '--poly', 'poly.npz'],
                 'cub': ['--model', 'cubature', '--basis', 'basis.npz', '--cub', 'cub.npz'],
                 'modal': ['--model', 'modal', '--basis', 'modes.npz']}[name]
        subprocess.run(['simulate', 'mesh.npz', *model, '--loads', 'same.csv', '--dt', '0.01', '--steps', '30', '-q',
                        *words, '-o', 'program.npz'], check=True)
        program = supple.load('program.npz')
        frames = np.rint(program['time'] / 0.01).astype(int)
        self.assertEqual(frames[-1], 30)
        with supple.Body(*FILES[name]) as body:
            body.load_file('same.csv')
            body.start(0.01, **options)
            self.assertEqual(body.r, program['q'].shape[1])
            for frame, q, qdot in zip(frames, program['q'], program['qdot']):
                body.step(frame - round(body.time / 0.01))
                self.assertEqual(body.q.tobytes(), q.tobytes(), f'q, step {frame}')
                self.assertEqual(body.qdot.tobytes(), qdot.tobytes(), f'qdot, step {frame}')
            self.assertTrue(body.q.any())

    def test_newmark(self):
        self.compare('poly', {})

    def test_semi_implicit(self):
        self.compare('poly', {'semi_implicit': True}, '--semi-implicit')

    def test_parameters(self):
        self.compare('poly', {'beta': 0.3, 'gamma': 0.6, 'damping': (0.5, 0.001), 'tolerance': 1e-7, 'iterations': 20},
                     '--beta', '0.3', '--gamma', '0.6',
                     '--damping-mass', '0.5', '--damping-stiffness', '0.001', '--tolerance', '1e-7',
                     '--iterations', '20')

    def test_energy(self):
        self.compare('poly', {'scheme': 'energy'}, '--integrator', 'energy')

    def test_central(self):
        self.compare('modal', {'scheme': 'central'}, '--integrator', 'central')

    def test_static(self):
        self.compare('poly', {'scheme': 'static'}, '--integrator', 'static')

    def test_euler(self):
        self.compare('cub', {'scheme': 'euler'}, '--integrator', 'euler')

    def test_bdf2(self):
        self.compare('poly', {'scheme': 'bdf2'}, '--integrator', 'bdf2')

    def test_cubature(self):
        self.compare('cub', {})

    def test_modal(self):
        self.compare('modal', {})

    def test_exact(self):
        self.compare('modal', {'scheme': 'exact'}, '--integrator', 'exact')

    def test_threads(self):
        alone, together = [[started(name) for name in FILES] for _ in range(2)]
        for body in alone + together:
            body.set_force(20, [0, 5, -3])
        for body in alone:
            body.step(300)
        threads = [threading.Thread(target=body.step, args=(300,)) for body in together]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for a, b in zip(alone, together):
            self.assertEqual(a.q.tobytes(), b.q.tobytes())
            self.assertAlmostEqual(b.time, 3)

    def test_fewer_coordinates(self):
        body = supple.Body('mesh.npz', 'basis.npz', 'poly.npz', r=3)
        self.assertEqual((body.r, body.basis.shape), (3, (3 * body.vertex_count, 3)))

    def test_start_again(self):
        body = started(q=[0.1] * 6, qdot=[0.2] * 6)
        self.assertEqual((list(body.q), list(body.qdot)), ([0.1] * 6, [0.2] * 6))
        body.step(3)
        body.start()
        self.assertEqual((list(body.q), body.time), ([0] * 6, 0))

    def test_paths(self):
        supple.Body(pathlib.Path('mesh.npz'), b'basis.npz', polynomials=pathlib.Path('poly.npz').absolute())


class Arrays(Test):
    def test_values_are_those_of_the_files(self):
        mesh, basis, body = supple.load('mesh.npz'), supple.load('basis.npz'), supple.Body(*FILES['poly'])
        self.assertEqual(body.vertex_count, len(mesh['vertices']))
        for shared, file in ((body.rest, mesh['vertices']), (body.surface, mesh['surface/triangles']),
                             (body.surface_rest, mesh['surface/vertices']), (body.basis, basis['U'])):
            np.testing.assert_array_equal(shared, file)
            self.assertEqual(shared.dtype, file.dtype)
        without = supple.Body('block.npz', 'block-modes.npz')
        self.assertEqual((without.surface.shape, without.surface_rest.shape), ((0, 3), (0, 3)))
        without.start()
        self.assertEqual(without.surface_displacements().shape, (0, 3))

    def test_views_share_memory_and_are_read_only(self):
        body = started()
        for array in (body.rest, body.surface, body.surface_rest, body.basis, body.q, body.qdot):
            self.assertFalse(array.flags.owndata)
            with self.assertRaises(ValueError):
                array[0] = 0
            with self.assertRaises(ValueError):
                array.flags.writeable = True
        for name in ('rest', 'basis'):
            self.assertTrue(np.shares_memory(getattr(body, name), getattr(body, name)))

    def test_coordinates_follow_the_motion(self):
        body = started()
        q, qdot = body.q, body.qdot
        self.assertIs(body.q, q)
        body.set_force(20, [0, 5, -3])
        body.step()
        self.assertTrue(q.any() and qdot.any())
        body.set_gravity([0, 0, -9.81])
        body.set_material(density=500)
        before = q.copy()
        body.step()
        self.assertTrue((q != before).any())
        body.start(q=[1] * 6)
        self.assertEqual(list(q), [1] * 6)
        self.assertIs(body.q, q)

    def test_views_outlive_the_body(self):
        body = started(q=[0.5] * 6)
        q, rest, expected = body.q, body.rest, body.rest.copy()
        body.close()
        del body
        gc.collect()
        others = [started(q=[7] * 6) for _ in range(20)]
        np.testing.assert_array_equal(rest, expected)
        self.assertEqual(list(q), [0.5] * 6)
        del others

    def test_memory_is_freed(self):
        status = pathlib.Path('/proc/self/status')
        resident = lambda: int(status.read_text().split('VmRSS:')[1].split()[0])
        for i in range(80):
            started().step()
            if i == 20:
                before = resident()
        self.assertLess(resident() - before, 4000)  # kB: 60 bodies of at least 300 kB that stayed would be 18,000

    def test_displacements(self):
        body = started()
        body.set_force(20, [0, 500, -300])
        body.step(10)
        every = (body.basis @ body.q).reshape(-1, 3)
        size = abs(every).max()
        self.assertGreater(size, 0)
        near = lambda a, b, error: np.testing.assert_allclose(a, b, rtol=0, atol=error * size)
        near(body.displacements(), every, 1e-14)
        near(body.displacements([3, 1, 3]), every[[3, 1, 3]], 1e-14)
        near(body.displacements(7), every[7], 1e-14)
        near(body.displacements(np.array([[1, 2], [3, 4]], np.uint16)), every[[[1, 2], [3, 4]]], 1e-14)
        self.assertEqual(body.displacements([]).shape, (0, 3))
        single = body.displacements(dtype=np.float32)
        self.assertEqual(single.dtype, np.float32)
        near(single, every, 1e-7)
        for dtype in (np.float64, np.float32):
            out = np.empty((2, 3), dtype)
            self.assertIs(body.displacements([5, 6], out=out), out)
            near(out, every[[5, 6]], 1e-7)
        near(body.velocities([4]), (body.basis @ body.qdot).reshape(-1, 3)[[4]], 1e-12 * abs(body.qdot).max() / size)

    def test_surface_displacements(self):
        body, mesh = started(), supple.load('mesh.npz')
        body.set_force(20, [0, 500, -300])
        body.step(10)
        u = body.displacements()
        expected = np.einsum('ij,ijk->ik', mesh['surface/weights'], u[mesh['hex'][mesh['surface/element']]])
        np.testing.assert_allclose(body.surface_displacements(), expected, rtol=0, atol=1e-6 * abs(u).max())
        np.testing.assert_allclose(body.surface_displacements(2), expected[2], rtol=0, atol=1e-6 * abs(u).max())

    def test_nearest(self):
        body = supple.Body(*FILES['modal'])
        for point in ([3, 0.5, 0.5], (0.1, 0.2, 0.9), np.array([9, 9, 9], np.float32)):
            self.assertEqual(body.nearest(point), np.argmin(((body.rest - point) ** 2).sum(1)))

    def test_mass_and_stiffness_are_projections(self):
        body = supple.Body(*FILES['poly'])
        M, K = (matrix['matrix'].toarray() for matrix in (supple.load('M.npz'), supple.load('K.npz')))
        dof = [supple.load(name).get('dof', np.arange(3 * body.vertex_count)) for name in ('M.npz', 'K.npz')]
        U = body.basis
        np.testing.assert_allclose(body.mass(), U[dof[0]].T @ M @ U[dof[0]], atol=1e-12 * abs(body.mass()).max())
        at_rest = body.evaluate(np.zeros(6))
        np.testing.assert_allclose(at_rest.stiffness, U[dof[1]].T @ K @ U[dof[1]],
                                   atol=1e-11 * abs(at_rest.stiffness).max())
        self.assertEqual((abs(at_rest.force).max(), at_rest.energy), (0, 0))

    def test_evaluation_is_a_gradient(self):
        body, q, h = supple.Body(*FILES['poly']), np.linspace(-0.5, 1, 6), 1e-5
        at = body.evaluate(q)
        for j in range(6):
            up, down = (body.evaluate(q + sign * h * np.eye(6)[j]) for sign in (1, -1))
            self.assertAlmostEqual((up.energy - down.energy) / (2 * h) / abs(at.force).max(),
                                   at.force[j] / abs(at.force).max(), 6)
            np.testing.assert_allclose((up.force - down.force) / (2 * h), at.stiffness[:, j],
                                       atol=1e-6 * abs(at.stiffness).max())

    def test_energies(self):
        body = started(scheme='energy')
        body.set_force(20, [0, 5, -3])
        body.step(50)
        e = body.energies()
        self.assertAlmostEqual(e.kinetic / (body.qdot @ body.mass() @ body.qdot / 2), 1, 10)
        self.assertAlmostEqual(e.stored / body.evaluate(body.q).energy, 1, 10)
        self.assertAlmostEqual((e.kinetic + e.stored + e.dissipated) / e.work, 1, 6)
        report = body.report()
        self.assertEqual(report.steps, 50)
        self.assertTrue(report.newton_iterations >= 50 and 0 < report.worst_residual < 1e-8)


class Loads(Test):
    def settle(self, body):
        """The equilibrium."""
        body.start(scheme='static')
        body.step()
        return body.q.copy()

    def test_forces_are_generalized_forces(self):
        one, many, general = (supple.Body(*FILES['poly']) for _ in range(3))
        one.set_force(20, [0, 5, -3])
        many.set_forces([20, 20], [[0, 2, -3], [0, 3, 0]])
        general.set_generalized_force(general.basis.reshape(-1, 3, 6)[20].T @ [0, 5, -3])
        first = self.settle(one)
        for other in (many, general):
            np.testing.assert_allclose(self.settle(other), first, atol=1e-9 * abs(first).max())
        many.set_forces([], [])
        general.set_generalized_force(None)
        for other in (many, general):
            self.assertLess(abs(self.settle(other)).max(), 1e-9 * abs(first).max())

    def test_springs(self):
        body = supple.Body(*FILES['poly'])
        anchors = body.rest[[20, 21]] + [0, 0, 0.01]
        body.set_springs([20, 21], anchors, 10)
        first = self.settle(body)
        pull = 10 * (anchors - body.rest[[20, 21]] - body.displacements([20, 21]))
        forces = np.zeros((body.vertex_count, 3))
        forces[[20, 21]] = pull
        residual = body.evaluate(first).force - body.basis.T @ forces.ravel()
        self.assertLess(abs(residual).max(), 1e-9 * abs(body.basis.T @ forces.ravel()).max())
        body.set_springs([20, 21], anchors, [10, 10])
        np.testing.assert_allclose(self.settle(body), first, atol=1e-9 * abs(first).max())
        body.set_springs([], [], [])
        self.assertLess(abs(self.settle(body)).max(), 1e-9 * abs(first).max())

    def test_gravity_and_density(self):
        body, mesh = supple.Body(*FILES['poly']), supple.load('mesh.npz')
        body.set_gravity([0, 0, -9.81])
        q = self.settle(body)
        corners = body.rest[mesh['hex'][0]]  # of a voxel; M g gives each of them an eighth of its weight
        density = mesh.meta['materials'][0]['density']
        weight = -9.81 * density * np.prod(corners.max(0) - corners.min(0))
        forces = np.zeros((body.vertex_count, 3))
        forces[:, 2] = np.bincount(mesh['hex'].ravel(), minlength=body.vertex_count) * weight / 8
        pull = body.basis.T @ forces.ravel()
        np.testing.assert_allclose(body.evaluate(q).force, pull, atol=1e-8 * abs(pull).max())
        mass = body.mass()
        body.set_material(density=2 * density)
        np.testing.assert_allclose(body.mass(), 2 * mass, rtol=1e-12, atol=1e-12 * abs(mass).max())

    def test_material(self):
        body, q = supple.Body(*FILES['poly']), np.linspace(-0.5, 1, 6)
        material = supple.load('mesh.npz').meta['materials'][0]
        before = body.evaluate(q)
        body.set_material(material['name'], young=3 * material['young'])
        np.testing.assert_allclose(body.evaluate(q).force, 3 * before.force, rtol=1e-12)

    def test_load_file_can_be_taken_back(self):
        body = supple.Body(*FILES['poly'])
        body.load_file('loads.csv')
        body.load_file(None)
        self.assertEqual(abs(self.settle(body)).max(), 0)


class Saving(Test):
    def test_saved_steps_again(self):
        for name in FILES:
            body, other = started(name), started(name)
            body.set_force(20, [0, 5, -3])
            body.step(7)
            state, time = body.save(), body.time
            self.assertIsInstance(state, bytes)
            body.step(9)
            expected = body.q.copy()
            for target, form in ((body, bytes), (other, bytearray), (other, lambda s: np.frombuffer(s, np.uint8))):
                target.load(form(state))
                self.assertEqual(target.time, time)
                target.step(9)
                self.assertEqual(target.q.tobytes(), expected.tobytes())

    def test_wrong_states(self):
        body = started()
        self.wrong(TypeError, 'state: expected bytes, not str', body.load, 'text')
        q = body.q
        with self.refused(supple.Status.INPUT, 'no state of such a body'):
            body.load(b'\7' * 300)
        body.step()
        self.assertEqual(len(q.tobytes()), 48)
        body.start()
        self.assertEqual(list(q), [0] * 6)


class WrongCalls(Test):
    def program_says(self, *words):
        """The message of simulate, and its exit code."""
        result = subprocess.run(['simulate', *words, '--steps', '1', '-q', '-o', 'wrong.npz'], capture_output=True,
                                text=True)
        return result.stderr.splitlines()[0].split('simulate: ', 1)[1], result.returncode

    def test_wrong_files_have_the_message_of_the_programs(self):
        pathlib.Path('text.npz').write_text('no archive')
        whole = pathlib.Path('poly.npz').read_bytes()
        pathlib.Path('cut.npz').write_bytes(whole[:len(whole) // 2])
        pathlib.Path('flipped.npz').write_bytes(whole[:3000] + bytes([whole[3000] ^ 1]) + whole[3001:])
        for mesh, basis, poly in (('nothing.npz', 'basis.npz', 'poly.npz'), ('mesh.npz', 'nothing.npz', 'poly.npz'),
                                  ('mesh.npz', 'basis.npz', 'nothing.npz'), ('text.npz', 'basis.npz', 'poly.npz'),
                                  ('mesh.npz', 'basis.npz', 'cut.npz'), ('mesh.npz', 'basis.npz', 'flipped.npz'),
                                  ('basis.npz', 'basis.npz', 'poly.npz'), ('twin.npz', 'basis.npz', 'poly.npz'),
                                  ('mesh.npz', 'twin-basis.npz', 'poly.npz'), ('mesh.npz', 'basis.npz', 'mesh.npz')):
            with self.subTest((mesh, basis, poly)):
                text, code = self.program_says(mesh, '--basis', basis, '--poly', poly)
                with self.assertRaises(supple.Error) as caught:
                    supple.Body(mesh, basis, poly)
                self.assertEqual((str(caught.exception), caught.exception.status), (text, code))

    def test_wrong_loads_have_the_message_of_the_programs(self):
        body = supple.Body(*FILES['poly'])
        for name, content in (('none.csv', None), ('word.csv', 't0,t1,kind,id,fx,fy,fz\n0,1,vertex,20,0,x,0\n'),
                              ('far.csv', 't0,t1,kind,id,fx,fy,fz\n0,1,vertex,99999,0,0,0\n')):
            if content:
                pathlib.Path(name).write_text(content)
            text, code = self.program_says('mesh.npz', '--basis', 'basis.npz', '--poly', 'poly.npz', '--loads', name)
            with self.assertRaises(supple.Error) as caught:
                body.load_file(name)
            self.assertEqual((str(caught.exception), caught.exception.status), (text, code))

    def test_opening(self):
        self.wrong(TypeError, 'mesh: expected a path, not int', supple.Body, 3, 'basis.npz')
        self.wrong(TypeError, 'basis: expected a path, not NoneType', supple.Body, 'mesh.npz', None)
        self.wrong(ValueError, 'polynomials: .*null byte', supple.Body, 'mesh.npz', 'basis.npz', 'poly.npz\0x')
        self.wrong(TypeError, 'cubature: expected a path', supple.Body, 'mesh.npz', 'basis.npz', cubature=1.5)
        self.wrong(TypeError, 'r: expected an integer, not float', supple.Body, *FILES['poly'], r=2.0)
        self.wrong(ValueError, 'r: .* out of range', supple.Body, *FILES['poly'], r=2 ** 64 + 1)
        with self.refused(supple.Status.USAGE, 'r is -1'):
            supple.Body(*FILES['poly'], r=-1)
        with self.refused(supple.Status.USAGE, 'not both'):
            supple.Body('mesh.npz', 'basis.npz', 'poly.npz', 'cub.npz')

    def test_starting(self):
        body = supple.Body(*FILES['poly'])
        start = body.start
        self.wrong(ValueError, "scheme: 'leapfrog' is none of newmark", start, scheme='leapfrog')
        self.wrong(TypeError, 'step: expected a number, not .0.1', start, step='0.1')
        self.wrong(ValueError, 'semi_implicit: .*euler', start, scheme='euler', semi_implicit=True)
        self.wrong(ValueError, 'beta: .*energy', start, scheme='energy', beta=0.25)
        self.wrong(ValueError, 'gamma: .*bdf2', start, scheme='bdf2', gamma=0.5)
        self.wrong(ValueError, 'tolerance: .*central', start, scheme='central', tolerance=1e-8)
        self.wrong(ValueError, 'iterations: .*exact', start, scheme='exact', iterations=3)
        self.wrong(ValueError, 'damping: .*static', start, scheme='static', damping=(0, 0))
        self.wrong(ValueError, 'semi-implicit steps have one', start, semi_implicit=True, tolerance=1e-8)
        self.wrong(ValueError, 'iterations: 0 is out of range', start, iterations=0)
        self.wrong(ValueError, r'damping: expected the shape \[2\], not \[3\]', start, damping=(0, 0, 0))
        self.wrong(ValueError, 'damping: .*negative', start, damping=(0, -1))
        self.wrong(ValueError, r'q: expected the shape \[6\], not \[5\]', start, q=[0] * 5)
        self.wrong(ValueError, 'q: some of its values are masked', start, q=np.ma.masked_equal([1, 0, 2, 3, 4, 5], 0))
        self.wrong(TypeError, 'qdot: expected numbers, not', start, qdot=['a'] * 6)
        for options in ({'step': -1}, {'step': float('nan')}, {'damping': (0, float('inf'))}, {'beta': 2},
                        {'tolerance': -1}):
            with self.assertRaises(supple.Error, msg=options) as caught:
                start(**options)
            self.assertEqual(caught.exception.status, supple.Status.USAGE)
        with self.refused(supple.Status.USAGE, 'mode superposition'):
            start(scheme='exact')
        with self.refused(supple.Status.USAGE, 'q has a number that is not finite'):
            start(q=[float('nan')] * 6)

    def test_before_the_start(self):
        body = supple.Body(*FILES['poly'])
        self.assertEqual(body.time, 0)
        for call in (body.step, body.energies, body.report, body.save, body.displacements, body.velocities,
                     body.surface_displacements, lambda: body.load(b'x'), lambda: body.q, lambda: body.qdot):
            with self.refused(supple.Status.USAGE, 'no motion'):
                call()

    def test_loads(self):
        body = started()
        nan = float('nan')
        self.wrong(TypeError, 'vertex: expected an integer', body.set_force, 2.5, [0, 0, 1])
        self.wrong(ValueError, r'force: expected the shape \[3\], not \[2\]', body.set_force, 2, [0, 1])
        self.wrong(TypeError, 'force: expected numbers, not complex', body.set_force, 2, [0, 1, 1j])
        self.wrong(TypeError, 'force: expected numbers, not <U1', body.set_force, 2, ['a', 'b', 'c'])
        self.wrong(TypeError, 'force: expected numbers, not object', body.set_force, 2, None)
        self.wrong(ValueError, r'vertices: expected the shape \[count\], not \[\]', body.set_forces, 2, [[0, 0, 1]])
        self.wrong(TypeError, 'vertices: expected integers, not float64', body.set_forces, [2.0], [[0, 0, 1]])
        self.wrong(TypeError, 'vertices: expected integers, not bool', body.set_forces, [True], [[0, 0, 1]])
        self.wrong(ValueError, 'vertices: 18446744073709551615 is out of range', body.set_forces,
                   np.array([-1]).astype(np.uint64), [[0, 0, 1]])
        self.wrong(ValueError, r'forces: expected the shape \[1, 3\], not \[2, 3\]', body.set_forces, [2],
                   [[0, 0, 1]] * 2)
        self.wrong(ValueError, 'forces: ', body.set_forces, [2], [[0, 0, 1], [2]])
        self.wrong(ValueError, r'anchors: expected the shape \[1, 3\], not \[3\]', body.set_springs, [2], [0, 0, 0], 1)
        self.wrong(ValueError, r'stiffness: expected the shape \[1\], not \[2\]', body.set_springs, [2], [[0, 0, 0]],
                   [1, 2])
        self.wrong(ValueError, r'gravity: expected the shape \[3\]', body.set_gravity, -9.81)
        self.wrong(ValueError, r'point: expected the shape \[3\]', body.nearest, [[0, 0, 0]])
        self.wrong(TypeError, 'path: expected a path', body.load_file, 5)
        self.wrong(TypeError, 'give at least one', body.set_material)
        self.wrong(ValueError, 'young: -1 is less than 0', body.set_material, young=-1)
        self.wrong(ValueError, 'poisson: -2 is less than -1', body.set_material, poisson=-2)
        self.wrong(TypeError, 'density: expected a number', body.set_material, density='1000')
        self.wrong(TypeError, 'region: expected a text, not int', body.set_material, 3, young=1e6)
        self.wrong(ValueError, 'region: .*null byte', body.set_material, 'a\0b', young=1e6)
        for call in (lambda: body.set_force(2, [nan, 0, 0]), lambda: body.set_forces([2], [[0, nan, 0]]),
                     lambda: body.set_generalized_force([nan] * 6), lambda: body.set_gravity([0, nan, 0]),
                     lambda: body.nearest([nan, 0, 0]), lambda: body.evaluate([nan] * 6)):
            with self.refused(supple.Status.USAGE, 'not finite'):
                call()
        with self.refused(supple.Status.USAGE, 'must be finite'):
            body.set_springs([2], [[nan, 0, 0]], 1)
        with self.refused(supple.Status.USAGE, 'not negative'):
            body.set_springs([2], [[0, 0, 0]], -1)
        for vertex in (-1, 100000):
            with self.refused(supple.Status.USAGE, f'vertex {vertex} of'):
                body.set_force(vertex, [0, 0, 1])
        with self.refused(supple.Status.USAGE, 'no region "wood"'):
            body.set_material('wood', young=1e6)
        with self.refused(supple.Status.USAGE, 'has started'):
            body.load_file('loads.csv')

    def test_reading(self):
        body = started()
        self.wrong(TypeError, 'count: expected an integer', body.step, 1.5)
        self.wrong(ValueError, 'count: -1 is out of range', body.step, -1)
        self.wrong(TypeError, 'dtype: expected float64 or float32, not int64', body.displacements, dtype=np.int64)
        self.wrong(TypeError, 'out: expected an array, not list', body.displacements, [1], out=[0, 0, 0])
        self.wrong(TypeError, 'out: expected float64 or float32, not int64', body.displacements, [1],
                   out=np.empty((1, 3), int))
        self.wrong(TypeError, 'out: expected float64, not float32', body.velocities, [1],
                   out=np.empty((1, 3), np.float32))
        self.wrong(TypeError, 'out: expected float32, not float64', body.displacements, [1], np.empty((1, 3)),
                   np.float32)
        self.wrong(TypeError, 'out: expected .*, not >f8', body.displacements, [1], np.empty((1, 3), '>f8'))
        self.wrong(ValueError, r'out: expected the shape \[1, 3\], not \[3\]', body.displacements, [1], np.empty(3))
        self.wrong(ValueError, 'out: .*C order', body.displacements, [1, 2], np.empty((2, 3), order='F'))
        fixed = np.zeros((1, 3))
        fixed.flags.writeable = False
        self.wrong(ValueError, 'out: .*writeable', body.displacements, [1], fixed)
        self.wrong(TypeError, 'vertices: expected integers', body.displacements, [1.5])
        self.wrong(ValueError, r'q: expected the shape \[6\], not \[0\]', body.evaluate, [])
        with self.refused(supple.Status.USAGE, 'vertex 175 of 175'):
            body.displacements(175)
        self.assertFalse(fixed.any())

    def test_step_that_fails(self):
        body, other = started(), started()
        for b in (body, other):
            b.set_force(20, [0, 5, -3])
            b.step(3)
        body.set_force(20, [1e200, 0, 0])
        with self.refused(supple.Status.NUMERICAL, 'did not converge at t = 0.03 s'):
            body.step(10)
        self.assertEqual((body.time, body.q.tobytes(), body.qdot.tobytes()),
                         (other.time, other.q.tobytes(), other.qdot.tobytes()))

    def test_closed_body(self):
        body = started()
        rest = body.rest
        with body as same:
            self.assertIs(same, body)
        body.close()
        self.assertEqual(repr(body), '<supple.Body: closed>')
        vectors = [0, 0, 0]
        for call in (body.step, body.start, body.energies, body.report, body.save, body.mass, body.displacements,
                     body.velocities, body.surface_displacements, lambda: body.set_force(1, vectors),
                     lambda: body.set_forces([], []), lambda: body.set_generalized_force(None), lambda: body.q,
                     lambda: body.set_springs([], [], []), lambda: body.set_gravity(vectors), lambda: body.qdot,
                     lambda: body.load_file(None), lambda: body.set_material(young=1), lambda: body.evaluate(vectors),
                     lambda: body.load(b'x'), lambda: body.nearest(vectors), lambda: body.rest, lambda: body.surface,
                     lambda: body.surface_rest, lambda: body.basis, lambda: body.time, lambda: body.r,
                     lambda: body.vertex_count, lambda: body.step(0)):
            with self.refused(supple.Status.USAGE, 'the body is closed'):
                call()
        self.assertEqual(rest.shape, (175, 3))
        self.wrong(AttributeError, 'colour', getattr, body, 'colour')

    def test_closing_while_another_thread_steps(self):
        body = started()
        thread = threading.Thread(target=lambda: body.step(20000))
        thread.start()
        body.close()
        thread.join()

    def test_bodies_are_not_copied(self):
        body = started()
        for call in (copy.copy, copy.deepcopy, pickle.dumps):
            self.wrong(TypeError, 'a body cannot be copied', call, body)
        error = pickle.loads(pickle.dumps(supple.Error(3, 'text')))
        self.assertEqual((str(error), error.status), ('text', supple.Status.INPUT))


if __name__ == '__main__':
    unittest.main()
