"""Data sets of the package: the files of tests/cli/data.bash are in the current folder, and many.npz."""
import importlib.util
import pathlib
import unittest

import numpy as np

import supple


class Dataset(unittest.TestCase):
    def test_arrays_are_those_of_the_ensemble(self):
        many = supple.load('many.npz')
        good = many['status'] == 0
        self.assertEqual(np.flatnonzero(~good).tolist(), [1, 4])
        made = supple.export_dataset('many.npz', 'set', mesh='mesh.npz', basis='basis.npz', test=0.25, seed=7,
                                     error='at most 1 %')
        self.assertEqual(made.motions, good.sum())
        folder = pathlib.Path('set')
        for name in ('motion', 'parameters', 'q', 'qdot', 'mean', 'largest'):
            found = np.load(folder / (name + '.npy'), mmap_mode='r')
            self.assertEqual(found.tobytes(), np.ascontiguousarray(many[name][good]).tobytes(), name)
        self.assertEqual(np.load(folder / 'vertices.npy').tobytes(), supple.load('mesh.npz')['vertices'].tobytes())
        np.testing.assert_array_equal(np.load(folder / 'U.npy'), supple.load('basis.npz')['U'])
        train, test = np.load(folder / 'train.npy'), np.load(folder / 'test.npy')
        self.assertEqual(sorted([*train, *test]), list(range(made.motions)))
        self.assertEqual(len(test), round(0.25 * made.motions))
        again = supple.export_dataset('many.npz', 'again', test=0.25, seed=7)
        other = supple.export_dataset('many.npz', 'other', test=0.25, seed=8)
        self.assertEqual(again.test.tolist(), test.tolist())
        self.assertNotEqual(other.test.tolist(), test.tolist())

        card = made.card.read_text()
        for words in ('2 more failed', '`factor`, `young`', 'at most 1 %', '| `--dt` | 0.01 |', '| `q` | reduced'):
            self.assertIn(words, card)
        for file in folder.glob('*.npy'):
            self.assertIn(f'| `{file.stem}` |', card)

    @unittest.skipUnless(importlib.util.find_spec('h5py'), 'no h5py here')
    def test_hdf5(self):
        import h5py
        made = supple.export_dataset('many.npz', 'set.h5', format='hdf5')
        with h5py.File(made.path) as file:
            many = supple.load('many.npz')
            np.testing.assert_array_equal(file['q'][...], many['q'][many['status'] == 0])

    def test_wrong_calls(self):
        for status, words, call in (
                (supple.Status.INPUT, 'basis.npz: it is a file of kind basis, expected ensemble', ['basis.npz', 'out']),
                (supple.Status.INPUT, 'none.npz', ['none.npz', 'out'])):
            with self.assertRaises(supple.Error) as caught:
                supple.export_dataset(*call)
            self.assertEqual(caught.exception.status, status)
            self.assertIn(words, str(caught.exception))
        with self.assertRaises(ValueError):
            supple.export_dataset('many.npz', 'out', test=2)
        with self.assertRaises(ValueError):
            supple.export_dataset('many.npz', 'out', format='plaid')
        if not importlib.util.find_spec('h5py'):
            with self.assertRaisesRegex(supple.Error, 'python3-h5py'):
                supple.export_dataset('many.npz', 'out.h5', format='hdf5')


if __name__ == '__main__':
    unittest.main()
