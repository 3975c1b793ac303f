#!/usr/bin/env bats
# simstat: tables of ensembles, trajectories and CSV files beside NumPy, a worked example, and what is refused.

load common

@test "moments, extremes, densities and crossings of an ensemble are those of NumPy" {
    printf 'fz:1\nnormal(30,10)\n' > table.csv
    printf 't0,t1,kind,id,fx,fy,fz\n0,0.5,vertex,near:3,1,1,0,0,40,random:400:3:5 0.1;50 0.01\n' > random.csv
    done_well simbatch mesh.npz -q --basis basis.npz --poly poly.npz --loads random.csv --table table.csv --motions 40 --damping-mass 1 --dt 0.01 --steps 300 --record probes --probe near:3,1,1 -o out.npz
    local table
    for table in summary psd density crossings rainflow; do
        done_well simstat out.npz --table $table --settle 0.5 -o $table.csv
    done
    "$PYTHON" - <<'END' || fault numbers
import csv, numpy as np
f = np.load('out.npz')
u = np.concatenate([f[n] for n in f.files if n.startswith('u/')])[:, 50:, 0, :]
read = lambda name: list(csv.DictReader(open(name + '.csv')))
name = lambda c: 'v%d_%s' % (f['vertex'][0], 'xyz'[c])
near = lambda a, b, size: abs(float(a) - b) <= 1e-8 * size
for c, row in enumerate(read('summary')):
    x = u[:, :, c]
    m, s, size = x.mean(), x.std(), abs(x).max()
    assert row['signal'] == name(c) and row['motions'] == '40', row
    assert near(row['mean'], m, size) and near(row['deviation'], s, size) and near(row['rms'], np.sqrt((x ** 2).mean()), size), row
    assert near(row['least'], x.min(), size) and near(row['largest'], x.max(), size), row
    assert near(row['skewness'], ((x - m) ** 3).mean() / s ** 3, 10) and near(row['kurtosis'], ((x - m) ** 4).mean() / s ** 4, 10), row
    squares = (x ** 2).mean(axis=1)
    error = 1.96 * squares.std() / np.sqrt(39)
    assert near(row['rms_low'], np.sqrt(max(squares.mean() - error, 0)), size) and near(row['rms_high'], np.sqrt(squares.mean() + error), size), row
# 251 frames at 100 Hz: pieces of 16, overlapping by half
window = np.sin(np.pi * np.arange(16) / 16) ** 2
pieces = [m[k:k + 16] for m in u[:, :, 2] for k in range(0, 251 - 15, 8)]
power = np.mean([abs(np.fft.rfft(window * (p - p.mean()))) ** 2 for p in pieces], axis=0) * 2 / (100 * (window ** 2).sum())
for k, row in enumerate(read('psd'), 1):
    assert near(row['frequency'], k * 100 / 16, 1) and near(row[name(2)], power[k], power[k]) and float(row[name(2) + '_low']) < power[k] < float(row[name(2) + '_high']), row
assert k == 7
for c in range(3):
    x = u[:, :, c]
    counts, edges = np.histogram(x, 50, (x.min(), x.max()))
    rows = [r for r in read('density') if r['signal'] == name(c)]
    assert abs(np.array([float(r['density']) for r in rows]) - counts / x.size / (edges[1] - edges[0])).max() <= 2.1 / x.size / (edges[1] - edges[0])
    rows = [r for r in read('crossings') if r['signal'] == name(c)]
    assert len(rows) == 49
    for r in rows[5:45:10]:
        level = float(r['level'])
        up = ((x[:, :-1] < level) & (x[:, 1:] >= level)).sum()
        assert abs(float(r['rate']) * x.size / 100 - up) <= 2, (r, up)
END
    done_well simstat out.npz --signal v"$("$PYTHON" -c 'import numpy as np; print(np.load("out.npz")["vertex"][0])')"_z -o one.csv
    [ "$(wc -l < one.csv)" = 2 ] || fault 'one signal'
    supple-plot psd.csv --log -o psd.png > said.txt 2>&1 || fault "$(cat said.txt)"
    no_faults
}

@test "the worked example of ASTM E1049, from a table, and damage" {
    printf 't,stress,other\n' > history.csv
    "$PYTHON" -c 'for i, x in enumerate([-2, 1, -3, 5, -1, 3, -4, 4, -2]): print(i, x, -x, sep=",")' >> history.csv
    done_well simstat history.csv --table rainflow --bins 9 -o out.csv
    # ranges from k to k + 1, the last one with the largest: 9
    [ "$(grep stress out.csv | cut -d, -f3 | tr '\n' ' ')" = '0 0 0 0.5 1.5 0 0.5 0 1.5 ' ] || fault "$(cat out.csv)"
    done_well simstat history.csv --signal stress --sn-strength 10 --sn-slope 1 -o out.csv
    [ "$(tail -n 1 out.csv | cut -d, -f12)" = 2.3 ] || fault "$(cat out.csv)"
    done_well simstat traj.npz --signal q2 -o out.csv
    grep -q '^q2,1,' out.csv || fault "$(cat out.csv)"
    no_faults
}

@test "what has no statistics" {
    refused 3 'basis.npz: it is a file of kind basis, neither an ensemble nor a trajectory nor a .csv file' simstat basis.npz -o out.csv
    refused 2 'traj.npz: --signal: it has no "v3_y"; its signals are q0 to q5' simstat traj.npz --signal v3_y -o out.csv
    refused 2 '--settle: 1 frames are left from 0.2 s on' simstat traj.npz --settle 0.2 -o out.csv
    refused 2 '--piece: 12 is not a power of two' simstat traj.npz --table psd --piece 12 -o out.csv
    refused 2 '--piece: 1024 frames, more than the 21 of a motion' simstat traj.npz --table psd --piece 1024 -o out.csv
    done_well simbatch mesh.npz -q --basis basis.npz --poly poly.npz --motions 2 --record statistics --steps 3 -o alone.npz
    refused 3 'alone.npz: it has statistics alone, and no frames' simstat alone.npz -o out.csv
    printf 'factor\n1e200\n' > table.csv
    simbatch mesh.npz -q --basis basis.npz --poly poly.npz --loads loads.csv --table table.csv --steps 3 -o failed.npz || fault 'a motion that fails'
    refused 3 'failed.npz: all of its motions failed' simstat failed.npz -o out.csv
    printf 't,x\n0,1\n1,2\n3,1\n4,2\n' > uneven.csv
    refused 3 'uneven.csv: its times are not equally spaced: 2 s after frame 1, 1 s before' simstat uneven.csv -o out.csv
    printf 't,x\n0,1\n1,2,3\n' > ragged.csv
    refused 3 'ragged.csv: line 3: 3 fields, but 2 columns' simstat ragged.csv -o out.csv
    printf 't,x\n0,1\n1,heavy\n' > word.csv
    refused 3 'word.csv: line 3: value: "heavy" is not a number' simstat word.csv -o out.csv
    printf 't\n0\n' > narrow.csv
    refused 3 'narrow.csv: it has no column behind the times' simstat narrow.csv -o out.csv
    : > empty.csv
    refused 3 'empty.csv: it is empty' simstat empty.csv -o out.csv
    no_faults
}
