"""Models with a stated error, and their true errors under loads that the search has not seen: measure.py FOLDER [BODY ...].

For each body simreduce finds a model that keeps an error of position of 2 %. Then ten loads of its family are drawn, by another
generator than that of simreduce, and the full-order model moves under each. The rows go to standard output, as Markdown.
"""
import csv
import json
import os
import random
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
MESHES = os.path.join(HERE, '../../../shared/meshes/surface')
LOADS = 10
GOAL = 0.02


def box(path, x, y, z):
    """A closed box from the origin, as OBJ."""
    corner = [(a, b, c) for c in (0, z) for b in (0, y) for a in (0, x)]
    faces = [(1, 3, 4, 2), (5, 6, 8, 7), (1, 2, 6, 5), (3, 7, 8, 4), (1, 5, 7, 3), (2, 4, 8, 6)]
    with open(path, 'w', encoding='ascii') as f:
        f.writelines('v %g %g %g\n' % c for c in corner)
        f.writelines('f %d %d %d %d\n' % q for q in faces)


def second_order(folder):
    """A beam of ten-node tetrahedra, as an Abaqus deck of the sample beam, in metres."""
    with open(f'{folder}/beam.inp', 'w', encoding='ascii') as f:
        subprocess.run([sys.executable, f'{HERE}/../beam/model.py', 'tet10', '20', '1', '2'], stdout=f, check=True)


BAR = '--grid box --enlarge 1 --fill --density 1000 --fix-half-space 1,0,0,0.001'.split()
RUBBER = '--young 1e6 --poisson 0.45'.split()
# name: model, words of voxelize or simimport, loads, step, steps, other words for all programs that move it
BODIES = {
    'spoon': ('spoon', '-n 40 --young 1.4e9 --poisson 0.42 --density 905 --fix-half-space 1,0,0,0.05'.split(),
              ['0,0.12,surface,near:2.5,0,0.05,0,0,8000', '0,0.12,surface,near:2.5,0,0.05,0,4000,0'], '0.005', 100, []),
    'bar': ('bar', BAR + RUBBER + ['-n', '24'], ['0,0.3,all,,0,0,60', '0,0.3,all,,0,60,0'], '0.01', 120, []),
    'bar, tetrahedra': ('bar', BAR + RUBBER + ['-n', '24', '--tetrahedra'], ['0,0.3,all,,0,0,60', '0,0.3,all,,0,60,0'],
                        '0.01', 120, []),
    'bar, neo-Hookean': ('bar', BAR + RUBBER + ['-n', '16', '--law', 'neo-hookean'],
                         ['0,0.3,all,,0,0,60', '0,0.3,all,,0,60,0'], '0.01', 120, []),
    'bar, stable neo-Hookean': ('bar', BAR + RUBBER + ['-n', '16', '--law', 'stable-neo-hookean'],
                                ['0,0.3,all,,0,0,60'], '0.01', 120, []),
    'bar, soft and stiff': ('bar', BAR + RUBBER + ['-n', '24', '--region-box', 'tip,0.5,-inf,-inf,inf,inf,inf', '--materials',
                                                   'materials.json'],
                            ['0,0.3,all,,0,0,60', '0,0.3,all,,0,60,0'], '0.01', 120, []),
    'thick block': ('thick', BAR + RUBBER + ['-n', '12'], ['0,0.2,all,,0,0,3000', '0,0.2,all,,3000,0,0'], '0.005', 120, []),
    'beam, second order': ('beam', ['--young', '1e6', '--poisson', '0.3', '--density', '1000', '--fix-half-space',
                                    '1,0,0,1e-6'], ['0,0.02,all,,0,0,2e-9'], '0.001', 100, []),
    'spoon, free': ('spoon', '-n 24 --young 1.4e9 --poisson 0.42 --density 905'.split(),
                    ['0,0.12,surface,near:2.5,0,0.05,0,0,8000', '0,0.12,surface,near:2.5,0,0.05,0,4000,0'], '0.0015', 100,
                    ['--damping-stiffness', '0.0005']),
    'armadillo, at a vertex': ('armadillo', '-n 24 --fill --young 1e6 --poisson 0.4 --density 1000 --fix-half-space 0,1,0,-0.5'.split(),
                               ['0,0.2,vertex,near:0.42,0.2,0,40,20,0'], '0.005', 200, ['--damping-stiffness', '0.02']),
    'armadillo, as a whole': ('armadillo', '-n 24 --fill --young 1e6 --poisson 0.4 --density 1000 --fix-half-space 0,1,0,-0.5'.split(),
                              ['0,0.3,all,,300,0,0', '0,0.3,all,,0,0,300'], '0.01', 150, []),
    'bunny': ('bunny', '-n 20 --fill --young 2e5 --poisson 0.4 --density 1000 --fix-half-space 0,1,0,-0.6'.split(),
              ['0,0.3,all,,3000,0,0', '0,0.3,all,,0,0,3000'], '0.01', 150, []),
    'dinosaur': ('dinosaur5k', '-n 30 --fill --young 1e6 --poisson 0.4 --density 1000 --fix-half-space 0,1,0,-0.3'.split(),
                 ['0,0.2,all,,0,0,40', '0,0.2,all,,40,0,0'], '0.005', 150, []),
}


def run(folder, *words):
    """A program in the folder; what it says goes to a file."""
    with open(f'{folder}/said.txt', 'a', encoding='utf-8') as said:
        return subprocess.run(words, cwd=folder, stdout=subprocess.PIPE, stderr=said, text=True, check=False)


def make_mesh(folder, model, words):
    """mesh.npz; false where the model is not there."""
    if model == 'beam':
        second_order(folder)
        return run(folder, 'simimport', 'beam.inp', *words, '-q', '-o', 'mesh.npz').returncode == 0
    if model in ('bar', 'thick'):
        box(f'{folder}/model.obj', 1, 0.1 if model == 'bar' else 0.5, 0.1 if model == 'bar' else 0.5)
        with open(f'{folder}/materials.json', 'w', encoding='ascii') as f:
            f.write('[{"name": "tip", "young": 1e5, "poisson": 0.45, "density": 1000}]')
    elif model == 'spoon':
        with open(f'{folder}/model.obj', 'w', encoding='ascii') as f:
            subprocess.run([sys.executable, f'{HERE}/../spoon/model.py'], stdout=f, check=True)
    elif os.path.exists(f'{MESHES}/{model}.obj'):
        with open(f'{MESHES}/{model}.obj', 'rb') as f, open(f'{folder}/model.obj', 'wb') as to:
            to.write(f.read())
    else:
        return False
    return run(folder, 'voxelize', 'model.obj', *words, '-q', '-o', 'mesh.npz').returncode == 0


def unseen(lines, duration, draw):
    """A load of the family: weights of the files, amplitude and course as simreduce(1) states them."""
    weights = [draw.expovariate(1) for _ in lines]
    amplitude = draw.uniform(0.2, 1.2)
    course = draw.choice(['', 'moved', 'ramp', 'sine'])
    later, longer = (draw.uniform(0, 0.2), 2 ** draw.uniform(-1, 1)) if course else (0, 1)
    text = ''
    for line, weight in zip(lines, weights):
        fields = line.split(',')
        t0 = float(fields[0]) + later * (duration - float(fields[0]))
        t1 = t0 + longer * (float(fields[1]) - float(fields[0]))
        force = [amplitude * weight / sum(weights) * float(f) for f in fields[-3:]]
        end = {'ramp': ',ramp', 'sine': ',sine:%.17g' % (0.5 / (t1 - t0))}.get(course, '')
        text += '%.17g,%.17g,%s,%s%s\n' % (t0, t1, ','.join(fields[2:-3]), ','.join('%.17g' % f for f in force), end)
    return text


def error_of(folder, motion, number, words, beside='full'):
    """The error of position of a model beside the motion under an unseen load, by default that of the full-order model."""
    if os.path.exists(f'{folder}/errors.csv'):
        os.remove(f'{folder}/errors.csv')
    run(folder, 'simvalidate', 'mesh.npz', *words, '--loads', f'unseen{number}.csv', *motion, '--reference', f'{beside}{number}.npz', '-q', '--csv',
        'errors.csv')
    with open(f'{folder}/errors.csv', encoding='ascii') as f:
        return float(list(csv.DictReader(f))[1]['position'] or 'inf')


def make_larger(folder, polynomials):
    """A basis of modes, modal derivatives and responses to the loads; the words of a model in it."""
    loads = sorted(f for f in os.listdir(folder) if f.startswith('load') and f.endswith('.csv'))
    with open(f'{folder}/all.csv', 'w', encoding='ascii') as out:
        for name in loads:
            with open(f'{folder}/{name}', encoding='ascii') as f:
                out.write(f.read())
    run(folder, 'modes', 'mesh.npz', '-k', '10', '-q', '-o', 'modes.npz')
    run(folder, 'modalderiv', 'mesh.npz', 'modes.npz', '-q', '-o', 'deriv.npz')
    run(folder, 'modes', 'mesh.npz', '--method', 'krylov', '--start-loads', 'all.csv', '--order', '4', '-q', '-o', 'responses.npz')
    run(folder, 'masspca', 'mesh.npz', 'modes.npz', 'deriv.npz', 'responses.npz', '--inner', 'energy', '--scaling', 'eigenvalue', '-r', '60',
        '-q', '-o', 'larger.npz')
    if not polynomials:
        return ['--basis', 'larger.npz', '--model', 'galerkin']
    run(folder, 'polycoef', 'mesh.npz', 'larger.npz', '-q', '-o', 'larger-poly.npz')
    return ['--basis', 'larger.npz', '--poly', 'larger-poly.npz']


def lower_bound(folder, motion, goal):
    """The smallest number of principal directions, in the mass, of the full-order motions under the unseen loads themselves that reach the
    error under each of them; None where all that are independent do not."""
    motions = [f'full{k}.npz' for k in range(LOADS)]
    most = next((r for r in (60, 40, 30, 20, 10, 5) if run(folder, 'masspca', 'mesh.npz', *motions, '-r', str(r), '-q', '-o',
                                                           'own-basis.npz').returncode == 0), 0)
    low, high = 0, most + 1
    while high - low > 1:
        middle = (low + high) // 2
        words = ['--basis', 'own-basis.npz', '--model', 'galerkin', '--ranks', str(middle)]
        good = all(error_of(folder, motion, k, words) <= goal for k in range(LOADS))
        low, high = (low, middle) if good else (middle, high)
    return high if high <= most else None


def free_error(folder, motion, number, young, poisson):
    """The error of the deformation of a free body in its scene, beside the full-order model, under an unseen load. The full-order model has
    the damping that simreduce(1) gives it: viscosities beta lambda and beta mu."""
    beta = float(motion[motion.index('--damping-stiffness') + 1])
    viscosity = f'{beta * young * poisson / (1 + poisson) / (1 - 2 * poisson):.17g},{beta * young / 2 / (1 + poisson):.17g}'
    with open(f'{folder}/model-scene.json', encoding='utf-8') as f:
        scene = json.load(f)
    scene['bodies'][0]['loads'] = f'unseen{number}.csv'
    with open(f'{folder}/unseen.json', 'w', encoding='utf-8') as f:
        json.dump(scene, f)

    steps = motion[:4]
    run(folder, 'simfull', 'mesh.npz', '--loads', f'unseen{number}.csv', *steps, '--viscosity', viscosity, '--integrator', 'energy', '-q', '-o',
        'full.npz')
    run(folder, 'simscene', 'unseen.json', *steps, '-q', '-o', 'moved.npz')
    run(folder, 'simcompare', 'moved.npz', 'full.npz', '--scene', 'unseen.json', '--deformation', '--csv', 'errors.csv', '-q')
    with open(f'{folder}/errors.csv', encoding='utf-8') as f:
        return next(float(row['relative']) for row in csv.DictReader(f) if row['quantity'] == 'deformation L2')


def row_of(name, r, own, stated, errors, sharp, seconds):
    """A row of the table, of the errors under all loads and the sorted ratios of estimates to them (None: no estimates)."""
    errors = sorted(errors)
    above = sum(error > stated for error in errors)
    median = errors[len(errors) // 2]
    least, largest = (f'{sharp[0]:.2g}', f'{sharp[-1]:.2g}') if sharp else ('', '')
    return (f'| {name} | {r} | {own or ""} | {100 * stated:.2g} % | {100 * errors[-1]:.2g} % | {100 * median:.2g} % '
            f'| {stated / median:.2g} | {above} | {least} | {largest} | {seconds:.0f} |')


def measure(root, name):
    """The row of a body; None where its model is not there."""
    model, words, lines, step, steps, others = BODIES[name]
    folder = os.path.join(root, name.replace(' ', '-').replace(',', ''))
    os.makedirs(folder, exist_ok=True)
    if not make_mesh(folder, model, words):
        return None
    options = []
    for i, line in enumerate(lines):
        with open(f'{folder}/load{i}.csv', 'w', encoding='ascii') as f:
            f.write(line + '\n')
        options += ['--loads', f'load{i}.csv']

    motion = ['--dt', step, '--steps', str(steps)] + others
    start = time.time()
    done = run(folder, 'simreduce', 'mesh.npz', *options, *motion, '--error', str(GOAL), '--best', '-o', 'model')
    seconds = time.time() - start
    said = next((line for line in done.stdout.splitlines() if line.startswith('r = ')), None)
    if not said:
        return f'| {name} | none | | | | | | | | | {seconds:.0f} |'
    r, stated = int(said.split(',')[0].split('=')[1]), float(said.split()[-2]) / 100
    forces = ['--poly', 'model-poly.npz'] if os.path.exists(f'{folder}/model-poly.npz') else ['--cub', 'model-cubature.npz']

    draw = random.Random(20261129)
    for k in range(LOADS):
        with open(f'{folder}/unseen{k}.csv', 'w', encoding='ascii') as f:
            f.write(unseen(lines, float(step) * steps, draw))

    free = '--fix-half-space' not in words
    if free:
        young, poisson = (float(words[words.index(word) + 1]) for word in ('--young', '--poisson'))
        errors = [free_error(folder, motion, k, young, poisson) for k in range(LOADS)]
        return row_of(name, r, None, stated, errors, None, seconds)

    rest = motion[:2] + motion[4:]  # without the number of steps, which a reference determines
    larger = make_larger(folder, forces[0] == '--poly')
    errors, estimates = [], []
    for k in range(LOADS):
        run(folder, 'simfull', 'mesh.npz', '--loads', f'unseen{k}.csv', *motion, '-q', '-o', f'full{k}.npz')
        run(folder, 'simulate', 'mesh.npz', *larger, '--loads', f'unseen{k}.csv', *motion, '--record', 'all', '-q', '-o', f'larger{k}.npz')
        errors.append(error_of(folder, rest, k, ['--basis', 'model-basis.npz', *forces]))
        estimates.append(error_of(folder, rest, k, ['--basis', 'model-basis.npz', *forces], 'larger'))
    sharp = sorted(estimate / error for estimate, error in zip(estimates, errors))
    return row_of(name, r, lower_bound(folder, rest, stated), stated, errors, sharp, seconds)


def main():
    root, names = sys.argv[1], sys.argv[2:] or list(BODIES)
    print('| body | r | r of POD | stated | largest of 10 | median | stated / median | above | least estimate / error | largest estimate / error | s |')
    print('|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|', flush=True)
    for name in names:
        row = measure(root, name)
        if row:
            print(row, flush=True)


if __name__ == '__main__':
    main()
