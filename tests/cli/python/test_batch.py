"""Batches of the package: the files of tests/cli/data.bash are in the current folder."""
import gc
import unittest

import numpy as np

import supple

FILES = ('mesh.npz', 'basis.npz', 'poly.npz')
COUNT = 53


class Motions(unittest.TestCase):
    """Each motion is that of a body by itself."""

    def setUp(self):
        self.body = supple.Body(*FILES)
        random = np.random.default_rng(3)
        self.tip = self.body.nearest([3, 1, 1])
        self.forces = random.normal(scale=30, size=(4, COUNT, 2, 3))
        self.vertices = [self.tip, 3]
        self.q = 0.01 * random.normal(size=(COUNT, self.body.r))
        self.qdot = random.normal(size=(COUNT, self.body.r))

    def move(self, threads, **options):
        """The coordinates after each quarter, whose forces differ."""
        batch = supple.Batch(self.body, COUNT, threads)
        batch.push(self.vertices, self.forces[0])
        batch.start(0.01, q=self.q, qdot=self.qdot, **options)
        found = []
        for forces in self.forces:
            batch.push(self.vertices, forces)
            batch.step(5)
            self.assertEqual(batch.failures.tolist(), [0] * COUNT)
            found.append(batch.q.copy())
        self.assertAlmostEqual(batch.time, 0.2)
        return np.array(found)

    def test_as_bodies(self):
        for options in ({'tolerance': 1e-13}, {'semi_implicit': True}, {'scheme': 'euler', 'tolerance': 1e-13},
                        {'scheme': 'bdf2', 'tolerance': 1e-13, 'damping': (0.3, 1e-3)}):
            with self.subTest(**options):
                found = self.move(2, **options)
                for motion in (0, 23, 24, COUNT - 1):
                    self.body.set_forces(self.vertices, self.forces[0, motion])
                    self.body.start(0.01, q=self.q[motion], qdot=self.qdot[motion], **options)
                    for quarter, forces in enumerate(self.forces[:, motion]):
                        self.body.set_forces(self.vertices, forces)
                        self.body.step(5)
                        difference = abs(self.body.q - found[quarter, motion]).max() / abs(self.body.q).max()
                        self.assertLess(difference, 1e-11)

    def test_the_same_bytes_for_any_number_of_threads(self):
        one = self.move(1)
        for threads in (2, 3):
            self.assertEqual(one.tobytes(), self.move(threads).tobytes())

    def test_gravity_and_generalized_forces(self):
        self.body.set_gravity([0, -2, -9.81])
        batch = supple.Batch(self.body, 3)
        batch.forces[1] = 5
        batch.start(0.01, tolerance=1e-13)
        batch.step(20)
        for motion, force in ((0, 0), (1, 5)):
            self.body.set_generalized_force(np.full(self.body.r, force, float))
            self.body.start(0.01, tolerance=1e-13)
            self.body.step(20)
            self.assertLess(abs(self.body.q - batch.q[motion]).max(), 1e-11 * abs(self.body.q).max())
        self.assertEqual(batch.q[0].tobytes(), batch.q[2].tobytes())

    def test_a_motion_that_fails_does_not_stop_the_others(self):
        batch = supple.Batch(self.body, 30)
        batch.start(0.01)
        batch.forces[:] = 1
        batch.step(3)
        before = batch.q[7].copy()
        batch.forces[7] = 1e200
        batch.step(3)
        self.assertEqual(np.flatnonzero(batch.failures).tolist(), [7])
        self.assertEqual(batch.failures[7], supple.Status.NUMERICAL)
        self.assertEqual(batch.q[7].tobytes(), before.tobytes())
        batch.forces[7] = 1
        batch.step(3)
        self.assertTrue(np.isfinite(batch.q).all())
        self.assertEqual(batch.q[6].tobytes(), batch.q[8].tobytes())
        batch.start(0.01)
        self.assertFalse(batch.failures.any())

    def test_wrong_calls(self):
        def refused(words, call, *arguments, **options):
            with self.assertRaises(supple.Error) as caught:
                call(*arguments, **options)
            self.assertEqual(caught.exception.status, supple.Status.USAGE)
            self.assertIn(words, str(caught.exception))

        refused('count is 0', supple.Batch, self.body, 0)
        refused('threads is 0', supple.Batch, self.body, 3, 0)
        refused('batches are of bodies with polynomials', supple.Batch, supple.Body('mesh.npz', 'modes.npz'), 3)
        batch = supple.Batch(self.body, 3)
        refused('call supple_batch_start first', batch.step)
        refused('a batch moves by', batch.start, scheme='energy')
        refused('the time step is 0 s', batch.start, 0)
        refused('vertex -1 of', batch.push, [-1], np.zeros((3, 1, 3)))
        batch.start()
        batch.forces[1, 0] = np.nan
        refused('has a number that is not finite', batch.step)
        with self.assertRaises(TypeError):
            supple.Batch('mesh.npz', 3)
        with self.assertRaisesRegex(ValueError, 'forces: expected the shape'):
            batch.push([1], np.zeros((2, 1, 3)))
        with self.assertRaises(ValueError):
            batch.q[0] = 1
        self.body.load_file('loads.csv')
        refused('the body has a file of loads', supple.Batch, self.body, 3)

    def test_arrays_keep_what_they_need(self):
        batch = supple.Batch(self.body, 30)
        batch.start()
        batch.forces[:] = 1
        batch.step(2)
        q, expected = batch.q, batch.q.copy()
        self.body.close()
        batch.step(0)
        del batch, self.body
        gc.collect()
        self.assertEqual(q.tobytes(), expected.tobytes())


if __name__ == '__main__':
    unittest.main()
