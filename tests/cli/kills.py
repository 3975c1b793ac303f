"""kills.py COUNT [SEED [RUNS]]: kills the programs that have checkpoints at random moments, COUNT times in all. After each kill the same command
continues with another number of threads, and the final output is compared with that of an uninterrupted run. The regular expression RUNS selects
among the runs below. The current folder has the files that setup_suite.bash makes, and the programs are on PATH. checkpoint.bats asks for a few
kills; 150 by hand take about two minutes.

Exit 1 where a byte differs or a program fails."""
import os
import random
import re
import shlex
import signal
import subprocess
import sys
import time

LOADS = ' --loads loads.csv --dt 0.002'
RUNS = [
    'simulate mesh.npz --basis basis.npz --poly poly.npz' + LOADS + ' --steps 400000 --every 400',
    'simulate mesh.npz --model cubature --basis basis.npz --cub cub.npz --jacobian krylov' + LOADS + ' --steps 6000 --every 50',
    'simulate mesh.npz --model galerkin --basis basis.npz --integrator bdf2' + LOADS + ' --steps 800 --every 20',
    'simulate mesh.npz --model modal --basis modes.npz --integrator exact' + LOADS + ' --steps 800000 --every 2000',
    'simfull mesh.npz --solver reused' + LOADS + ' --steps 400 --every 20',
    'simfull mesh.npz --model linear --solver reused' + LOADS + ' --steps 4000 --every 100',
    'simfull mesh.npz --model warp --warp element' + LOADS + ' --steps 500 --every 30',
    'simfull mesh.npz --model conjac --dynamic farthest:5 --integrator linear-euler' + LOADS + ' --steps 700 --every 30',
    'simfull mesh.npz --gravity 0,0,-9.81 --ground 0,0,1,-0.1 --ground-stiffness 1e5 --friction 0.3 --dt 0.002 --steps 400 --every 30',
    'simscene scene.json --dt 0.0002 --steps 40000 --every 100 --contacts',
    'simcurve mesh.npz --basis basis.npz --poly poly.npz --backbone --amplitude 0.3 --resolution 0.001 --points 1800',
    'simcurve mesh.npz --model cubature --basis basis.npz --cub cub.npz --response --base-acceleration 0,0,0.1 --range 0.9,1.1 --damping-mass 0.2 '
    '--resolution 0.01 --harmonics 3 --points 150',
    'simcurve mesh.npz --model galerkin --basis basis.npz --force-sweep --base-acceleration 0,0,0.1 --frequency 0.9 --damping-mass 0.2 '
    '--resolution 0.02 --harmonics 3 --points 30 --residual',
    'cubature mesh.npz basis.npz --poses 500 --method greedy --tolerance 0 -n 25',
    'sketchsolve mesh.npz --loads many.csv --separation 0 --snapshot-separation 0',
]


def write_loads(path):
    with open(path, 'w') as file:
        file.write('t0,t1,kind,id,fx,fy,fz\n')
        for i in range(150):
            file.write('%d,%d,surface,1,%g,%g,%g\n' % (i, i + 1, 200 * (i % 7 - 3), 90 * (i % 11 - 5), 70 * (i % 13 - 6)))


def call(run, threads, output, checkpoint=None):
    more = ['--checkpoint', checkpoint] if checkpoint else []
    return subprocess.Popen(shlex.split(run) + ['-q', '--threads', str(threads), '-o', output] + more, stderr=subprocess.PIPE)


def finish(process, run):
    error = process.communicate()[1].decode()
    if process.returncode:
        sys.exit('%s: exit %d: %s' % (run, process.returncode, error))


def contents(path):
    with open(path, 'rb') as file:
        return file.read()


def interrupt(run, kills, draw):
    """Kills a run so many times; gives how many of these met one that had kept something, and how many runs came to their end."""
    begin = time.monotonic()
    finish(call(run, 1, 'whole.npz'), run)
    length = time.monotonic() - begin
    met = ended = 0
    for k in range(kills + 1):
        process = call(run, 1 + k % 3, 'run.npz', 'run.checkpoint')
        if k < kills:
            time.sleep(draw.uniform(0, 0.7 * length))
            process.send_signal(signal.SIGKILL)
            process.communicate()
        else:
            finish(process, run)
        if process.returncode == 0:
            ended += 1
            if contents('whole.npz') != contents('run.npz'):
                sys.exit('%s: other bytes after %d kills' % (run, k))
        elif process.returncode != -signal.SIGKILL:
            sys.exit('%s: exit %d' % (run, process.returncode))
        elif os.path.exists('run.checkpoint') and os.path.getsize('run.checkpoint') > 100:
            met += 1
        for name in os.listdir():
            if name.startswith('.supple-'):
                os.remove(name)
    return met, ended


def main():
    kills, draw = int(sys.argv[1]), random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    write_loads('many.csv')
    total_met = total_ended = 0
    runs = [run for run in RUNS if re.search(sys.argv[3] if len(sys.argv) > 3 else '', run)]
    for i, run in enumerate(runs):
        share = kills * (i + 1) // len(runs) - kills * i // len(runs)
        met, ended = interrupt(run, share, draw) if share else (0, 0)
        total_met += met
        total_ended += ended
        print('%3d kills, %3d of them with something kept, %2d runs to the end, the same bytes: %s' % (share, met, ended, run), flush=True)
    print('%d kills, %d with something kept, %d runs to the end' % (kills, total_met, total_ended))


main()
