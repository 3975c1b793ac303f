"""Scenes of the package: the files of tests/cli/data.bash are in the current folder."""
import json
import pathlib
import subprocess
import threading
import unittest

import numpy as np

import supple

from test_body import Test

BALL = {'kind': 'rigid', 'sphere': {'radius': 0.4}, 'mass': 1, 'mass_centre': [0, 0, 0], 'inertia': [1, 1, 1, 0, 0, 0]}


def rotation(q):
    """The matrix of a unit quaternion w, x, y, z."""
    w, v = q[0], q[1:]
    cross = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    return np.eye(3) + 2 * w * cross + 2 * cross @ cross


def falling(**more):
    """A scene of one ball that is free, without gravity unless `more` says otherwise."""
    scene = {'contact': {'stiffness': 1000}, 'models': {'ball': BALL},
             'bodies': [{'name': 'ball', 'model': 'ball', 'motion': 'free'}], **more}
    pathlib.Path('falling.json').write_text(json.dumps(scene))
    return supple.Scene('falling.json', step=0.001)


def resting():
    """A bar with a point shell that has fallen on a plane."""
    subprocess.run('voxelize bar.obj -q -n 6 --fill -o bar.npz && pointshell bar.npz -q --points 60 -o bar-shell.npz',
                   shell=True, check=True)
    pathlib.Path('resting.json').write_text(json.dumps({
        'gravity': [0, 0, -9.81], 'contact': {'stiffness': 3e6, 'damping': 3000},
        'models': {'bar': {'kind': 'rigid', 'mesh': 'bar.npz', 'pointshell': 'bar-shell.npz'},
                   'table': {'kind': 'rigid', 'plane': {'normal': [0, 0, 1], 'offset': 0}}},
        'bodies': [{'name': 'bar', 'model': 'bar', 'motion': 'free'}, {'name': 'table', 'model': 'table'}]}))
    return supple.Scene('resting.json', step=0.001)


class Motion(Test):
    def compare(self, options, *words):
        """The motion is that of simscene, bit for bit."""
        subprocess.run(['simscene', 'scene.json', '--dt', '0.001', '--steps', '50', *words, '-q', '-o', 'program.npz'],
                       check=True)
        program = supple.load('program.npz')
        with supple.Scene('scene.json', step=0.001, **options) as scene:
            for frame, time in enumerate(program['time']):
                scene.step(round((time - scene.time) / 0.001))
                q = []
                for number in range(len(scene.bodies)):
                    state = scene.state(number)
                    pose = np.concatenate([state.position, state.rotation])
                    self.assertEqual(pose.tobytes(), program['pose'][frame, number].tobytes(), f'{number}, {time} s')
                    self.assertEqual(state.twist.tobytes(), program['twist'][frame, number].tobytes(),
                                     f'{number}, {time} s')
                    q += [state.q]
                self.assertEqual(np.concatenate(q).tobytes(), program['q'][frame].tobytes())
            self.assertAlmostEqual(scene.time, 0.05)
            self.assertTrue(abs(np.concatenate(q)).max() > 0)

    def test_newmark(self):
        self.compare({})

    def test_energy(self):
        self.compare({'integrator': 'energy'}, '--integrator', 'energy')

    def test_parameters(self):
        self.compare({'semi_implicit': True, 'beta': 0.3, 'gamma': 0.6, 'threads': 2}, '--semi-implicit',
                     '--beta', '0.3', '--gamma', '0.6')

    def test_threads(self):
        alone, together = [[supple.Scene('scene.json', step=0.001), resting()] for _ in range(2)]
        for scene in alone:
            scene.step(100)
        threads = [threading.Thread(target=scene.step, args=(100,)) for scene in together]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for a, b in zip(alone, together):
            for name in a.bodies:
                for x, y in zip(a.state(name), b.state(name)):
                    self.assertEqual(x.tobytes(), y.tobytes())

    def test_saved_steps_again(self):
        scene = supple.Scene('scene.json', step=0.001)
        scene.move_hand([3, -2, 0.4])
        scene.step(5)
        state = scene.save()
        scene.step(7)
        expected = scene.state('brick')
        for other in (scene, supple.Scene('scene.json', step=0.001)):
            other.load(state)
            other.step(7)
            for x, y in zip(other.state('brick'), expected):
                self.assertEqual(x.tobytes(), y.tobytes())
        with self.refused(supple.Status.INPUT, 'no state of such a scene'):
            scene.load(state[:-1])
        scene.step()
        scene.load(state)
        scene.step()


class Reading(Test):
    def test_bodies(self):
        scene = supple.Scene('scene.json')
        self.assertEqual(scene.bodies, ('arm', 'table', 'balls[0]', 'balls[1]', 'brick', 'bar'))
        self.assertEqual([scene.coordinates(b) for b in scene.bodies], [4, 0, 0, 0, 0, 0])
        self.assertEqual([scene.vertex_count(b) for b in range(6)],
                         [len(supple.load('mesh.npz')['vertices'])] + [0] * 5)
        self.assertEqual(repr(scene), '<supple.Scene: 6 bodies, time 0 s>')

    def test_positions(self):
        scene, mesh, U = supple.Scene('scene.json'), supple.load('mesh.npz'), supple.load('basis.npz')['U']
        scene.step(5)
        state = scene.state('arm')
        local = mesh['vertices'] + (U[:, :4] @ state.q).reshape(-1, 3)
        expected = local @ rotation(state.rotation).T + state.position
        np.testing.assert_allclose(scene.positions('arm'), expected, rtol=0, atol=1e-14)
        np.testing.assert_allclose(scene.positions(0, [3, 1]), expected[[3, 1]], rtol=0, atol=1e-14)
        np.testing.assert_allclose(scene.positions('arm', 3), expected[3], rtol=0, atol=1e-14)
        np.testing.assert_allclose(scene.positions('arm', dtype='f4'), expected, rtol=1e-7, atol=1e-7)
        out = np.empty((1, 3), np.float32)
        self.assertIs(scene.positions('arm', [3], out), out)
        self.assertEqual(scene.positions('table').shape, (0, 3))

    def test_resting_contact(self):
        scene = resting()
        scene.step(3000)
        mesh, contacts = supple.load('bar.npz'), scene.contacts()
        mass = 1000 * sum(np.prod(np.ptp(mesh['vertices'][voxel], axis=0)) for voxel in mesh['hex'])
        self.assertEqual(mesh.meta['materials'][0]['density'], 1000)
        self.assertEqual(scene.report().points, len(contacts))
        self.assertTrue(len(contacts) >= 3 and scene.report().complete and scene.report().lowest < 0)
        self.assertTrue((contacts['body'] == 0).all() and (contacts['other'] == 1).all())
        self.assertLess(contacts['position'][:, 2].max(), 0)
        np.testing.assert_allclose(contacts['force'].sum(0), [0, 0, 9.81 * mass], atol=1e-3 * 9.81 * mass)
        np.testing.assert_allclose(scene.contact_force('bar')[:3], contacts['force'].sum(0), atol=1e-9 * 9.81 * mass)
        lever = contacts['position'] - scene.state('bar').position
        np.testing.assert_allclose(scene.contact_force('bar')[3:], np.cross(lever, contacts['force']).sum(0),
                                   atol=1e-9 * 30 * mass)

    def test_energies(self):
        scene = falling(gravity=[0, 0, -9.81])
        scene.step(100)
        energies, state = scene.energies(), scene.state('ball')
        self.assertAlmostEqual(energies.kinetic, state.twist[:3] @ state.twist[:3] / 2)
        self.assertAlmostEqual(energies.gravity, 9.81 * state.position[2])
        self.assertEqual(energies.strain, 0)


class Driving(Test):
    def test_forces(self):
        scene = falling()
        scene.set_forces('ball', None, [[0, 2, 0], [1, 0, 0]])
        scene.step(100)
        np.testing.assert_allclose(scene.state(0).twist[:3], [0.1, 0.2, 0], atol=1e-12)
        scene.set_forces([], None, [])
        scene.step(10)
        np.testing.assert_allclose(scene.state(0).twist[:3], [0.1, 0.2, 0], atol=1e-12)
        scene.set_gravity([0, 0, -10])
        scene.step(100)
        np.testing.assert_allclose(scene.state(0).twist[:3], [0.1, 0.2, -1], atol=1e-12)

    def test_forces_on_vertices(self):
        plain, pushed, both = (supple.Scene('scene.json', step=0.001) for _ in range(3))
        tip = int(np.argmax(pushed.positions('arm')[:, 0]))
        pushed.set_forces('arm', [tip], [[0, 0, 1e4]])
        both.set_forces([0, 'arm'], [tip, tip], [[0, 0, 2e3], [0, 0, 8e3]])
        for scene in (plain, pushed, both):
            scene.step(20)
        self.assertGreater(pushed.positions('arm', tip)[2], plain.positions('arm', tip)[2] + 1e-6)
        np.testing.assert_allclose(both.state('arm').q, pushed.state('arm').q, rtol=0,
                                   atol=1e-9 * abs(pushed.state('arm').q).max())

    def test_hand(self):
        scene = supple.Scene('scene.json', step=0.001)
        turned = np.array([np.cos(0.1), 0, 0, np.sin(0.1)])
        scene.move_hand([3, -2, 0.6], 2 * turned)
        scene.step()
        hand = scene.hand()
        np.testing.assert_allclose(hand.position, [3, -2, 0.6], atol=1e-15)
        np.testing.assert_allclose(hand.rotation, turned, atol=1e-15)
        self.assertGreater(hand.coupling[2], 0)
        self.assertEqual((hand.coupling.shape, hand.device.shape), ((6,), (6,)))
        scene.move_hand([3, -2, 0.6], twist=[0, 1, 0, 0, 0, 0])
        scene.step(10)
        np.testing.assert_allclose(scene.hand().position, [3, -1.99, 0.6], atol=1e-12)

    def test_clutch(self):
        scene = supple.Scene('scene.json', step=0.001)
        scene.move_hand([3, -2, 0.6])
        scene.clutch(True)
        scene.move_hand([0, 0, 0], [0, 1, 0, 0])
        scene.step(5)
        np.testing.assert_array_equal(scene.hand().position, [3, -2, 0.6])
        scene.clutch(False)
        scene.move_hand([0, 0.25, 0], [0, 1, 0, 0])
        scene.step(5)
        np.testing.assert_allclose(scene.hand().position, [3, -1.75, 0.6], atol=1e-15)
        np.testing.assert_allclose(scene.hand().rotation, [1, 0, 0, 0], atol=1e-15)

    def test_body_on_a_path(self):
        pathlib.Path('path.csv').write_text('t,x,y,z,qw,qx,qy,qz\n0,0,0,0,1,0,0,0\n')
        scene = falling(bodies=[{'name': 'ball', 'model': 'ball', 'motion': 'path', 'path': 'path.csv'}])
        scene.move_body('ball', [1, 2, 3], twist=[1, 0, 0, 0, 0, 0])
        scene.step(100)
        np.testing.assert_allclose(scene.state('ball').position, [1.1, 2, 3], atol=1e-12)

    def test_a_driven_body_feels_the_velocities_that_are_set(self):
        h, steps = 0.002, 60
        time = h * np.arange(steps + 2)
        place = np.outer(np.where(time > h, 0.2 * np.sin(9 * (time - h))**2, 0), [0.3, 1, -1])
        motion = [np.hstack([time[:, None], place, np.tile([1, 0, 0, 0], (len(time), 1))]), np.eye(1, 8, 4)]
        model = {'kind': 'reduced', 'mesh': 'mesh.npz', 'basis': 'basis.npz', 'polynomials': 'poly.npz'}
        scenes = []
        for name, lines in zip(('along', 'still'), motion):
            np.savetxt(f'{name}.csv', lines, fmt='%.17g', delimiter=',')
            body = {'name': 'soft', 'model': 'soft', 'motion': 'path', 'path': f'{name}.csv', 'inertial': True}
            pathlib.Path(f'{name}.json').write_text(json.dumps({'models': {'soft': model}, 'bodies': [body]}))
            scenes.append(supple.Scene(f'{name}.json', step=h))
        along, driven = [], []
        for k in range(steps):  # a pose is known when its step begins: its velocity acts a step later than along a path
            along.append(scenes[0].state('soft').q)
            scenes[1].move_body('soft', place[k], twist=[*((place[k + 1] - place[k]) / h), 0, 0, 0])
            for scene in scenes:
                scene.step()
            driven.append(scenes[1].state('soft').q)
        size = np.abs(along).max()
        self.assertGreater(size, 0)
        np.testing.assert_allclose(driven, along, atol=1e-9 * size)


class WrongCalls(Test):
    def test_wrong_files_have_the_message_of_the_program(self):
        pathlib.Path('broken.json').write_text('{"models": 3')
        text = pathlib.Path('scene.json').read_text()
        pathlib.Path('lost.json').write_text(text.replace('poly.npz', 'nothing.npz'))
        pathlib.Path('unknown.json').write_text(text.replace('"stiffness": 1000', '"stiffnes": 1000'))
        for name in ('nothing.json', 'broken.json', 'lost.json', 'unknown.json'):
            result = subprocess.run(['simscene', name, '--steps', '1', '-q', '-o', 'wrong.npz'], capture_output=True,
                                    text=True)
            with self.assertRaises(supple.Error) as caught:
                supple.Scene(name)
            self.assertEqual(('simscene: ' + str(caught.exception), caught.exception.status),
                             (result.stderr.splitlines()[0], result.returncode))

    def test_opening(self):
        self.wrong(TypeError, 'path: expected a path, not int', supple.Scene, 3)
        self.wrong(TypeError, 'step: expected a number', supple.Scene, 'scene.json', '0.1')
        self.wrong(ValueError, 'threads: 0 is out of range', supple.Scene, 'scene.json', threads=0)
        self.wrong(ValueError, 'threads: 4294967297 is out of range', supple.Scene, 'scene.json', threads=2 ** 32 + 1)
        self.wrong(ValueError, "integrator: 'euler' is none of", supple.Scene, 'scene.json', integrator='euler')
        self.wrong(ValueError, 'semi-implicit steps', supple.Scene, 'scene.json', semi_implicit=True, iterations=3)
        self.wrong(ValueError, 'iterations: 0 is out of range', supple.Scene, 'scene.json', iterations=0)
        for options in ({'step': -1}, {'step': float('nan')}, {'beta': 2}, {'tolerance': -1}):
            with self.refused(supple.Status.USAGE, next(iter(options))):
                supple.Scene('scene.json', **options)

    def test_arguments(self):
        scene, nan = supple.Scene('scene.json'), float('nan')
        for call in (scene.state, scene.coordinates, scene.vertex_count, scene.positions, scene.contact_force):
            self.wrong(ValueError, 'body: 6 is out of range', call, 6)
            self.wrong(ValueError, 'body: -1 is out of range', call, -1)
            self.wrong(TypeError, 'body: expected an integer, not float', call, 1.0)
            with self.refused(supple.Status.USAGE, 'there is no body "spoon"'):
                call('spoon')
        self.wrong(ValueError, 'body: .*null byte', scene.state, 'arm\0')
        self.wrong(ValueError, r'forces: expected the shape \[count, 3\], not \[3\]', scene.set_forces, 'arm', [1],
                   [0, 0, 1])
        self.wrong(ValueError, r'vertices: expected the shape \[1\], not \[2\]', scene.set_forces, 'arm', [1, 2],
                   [[0, 0, 1]])
        self.wrong(ValueError, 'vertices: -1 is out of range', scene.set_forces, 'arm', [-1], [[0, 0, 1]])
        self.wrong(ValueError, 'bodies: 2 for 1 forces', scene.set_forces, [0, 1], None, [[0, 0, 1]])
        self.wrong(TypeError, 'bodies: expected', scene.set_forces, 1.5, None, [[0, 0, 1]])
        self.wrong(TypeError, 'body: expected an integer, not float', scene.set_forces, [1.5], None, [[0, 0, 1]])
        self.wrong(ValueError, r'position: expected the shape \[3\]', scene.move_hand, [0, 0])
        self.wrong(ValueError, r'rotation: expected the shape \[4\], not \[3\]', scene.move_hand, [0, 0, 0], [1, 0, 0])
        self.wrong(ValueError, r'twist: expected the shape \[6\]', scene.move_hand, [0, 0, 0], twist=[1])
        self.wrong(ValueError, r'gravity: expected the shape \[3\]', scene.set_gravity, 0)
        self.wrong(TypeError, 'count: ', scene.step, 'one')
        self.wrong(ValueError, 'out: expected the shape', scene.positions, 'arm', [1], np.empty((2, 3)))
        for call, words in ((lambda: scene.set_forces('arm', [1], [[nan, 0, 0]]), 'force 0 is not finite'),
                            (lambda: scene.set_forces('arm', [99999], [[0, 0, 0]]), 'vertex 99999 of'),
                            (lambda: scene.set_forces('bar', None, [[0, 0, 1]]), 'rigid and not free'),
                            (lambda: scene.move_hand([nan, 0, 0]), 'not finite'),
                            (lambda: scene.move_hand([0, 0, 0], [0, 0, 0, 0]), 'rotation is zero'),
                            (lambda: scene.move_body('bar', [0, 0, 0]), 'is not "path"'),
                            (lambda: scene.set_gravity([0, 0, nan]), 'not finite'),
                            (lambda: scene.positions('arm', 99999), 'vertex 99999 of'),
                            (lambda: falling().hand(), 'no coupling'),
                            (lambda: falling().clutch(True), 'no coupling'),
                            (lambda: falling().move_hand([0, 0, 0]), 'no coupling')):
            with self.refused(supple.Status.USAGE, words):
                call()

    def test_closed_scene(self):
        with supple.Scene('scene.json') as scene:
            contacts = scene.contacts()
        self.assertEqual(repr(scene), '<supple.Scene: closed>')
        for call in (scene.step, scene.energies, scene.report, scene.save, scene.hand, scene.contacts,
                     lambda: scene.load(b'x'), lambda: scene.time, lambda: scene.bodies, lambda: scene.state(0),
                     lambda: scene.state('arm'), lambda: scene.positions(0), lambda: scene.coordinates(0),
                     lambda: scene.vertex_count('arm'), lambda: scene.set_gravity([0, 0, 0]),
                     lambda: scene.set_forces('arm', None, [[0, 0, 1]]), lambda: scene.set_forces([], None, []),
                     lambda: scene.move_hand([0, 0, 0]), lambda: scene.clutch(True),
                     lambda: scene.move_body(0, [0, 0, 0]), lambda: scene.contact_force(0)):
            with self.refused(supple.Status.USAGE, 'the scene is closed'):
                call()
        self.assertEqual(contacts.shape, (0,))


if __name__ == '__main__':
    unittest.main()
