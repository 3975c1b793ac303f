#!/usr/bin/env bats
# simbatch: many motions from a table, each beside the same motion of simulate; shards, checkpoints, failures and tables that are refused.

load common

batch=(simbatch mesh.npz --basis basis.npz --poly poly.npz --dt 0.01 --steps 30)

# difference OF MOTION FILE: the largest difference of a motion of the ensemble from a trajectory, relative to its largest coordinate
difference() {
    "$PYTHON" -c 'import numpy as np, sys
ensemble, number, motion = np.load(sys.argv[1]), int(sys.argv[2]), np.load(sys.argv[3])
joined = lambda f, name: np.concatenate([f[n] for n in f.files if n.startswith(name + "/")])
q, p = joined(ensemble, "q")[number], joined(motion, "q")
print("%.1e" % (abs(q - p).max() / abs(p).max()))' "$@"
}

# each_is_simulate NUMBER OPTION…: motion NUMBER of out.npz is that of simulate with these options.
each_is_simulate() {
    local number=$1 found
    shift
    done_well simulate mesh.npz --basis basis.npz --poly poly.npz --dt 0.01 --steps 30 --tolerance 1e-13 -q "$@" -o one.npz
    found=$(difference out.npz "$number" one.npz) || fault "motion $number"
    "$PYTHON" -c 'import sys; sys.exit(not float(sys.argv[1]) <= 1e-11)' "$found" || fault "motion $number differs by $found"
}

@test "each motion is that of simulate with the same numbers" {
    printf 't0,t1,kind,id,fx,fy,fz\n0,0.1,vertex,near:3,1,1,0,0,40\n0,inf,all,,0,2,0,sine:3\n' > pull.csv
    printf 't0,t1,kind,id,fx,fy,fz\n0,inf,vertex,near:3,0,0,0,30,0\n' > push.csv
    printf 'fz:1,factor:2,gy [m/s2],damping-mass,damping-stiffness,young [Pa],q:0,qdot:1,loads\n40,1,0,0,0,1e6,0,0,pull.csv\n-25,3,-9.81,0.5,1e-3,7e5,0.01,0,pull.csv\n10,0.5,0,0,2e-3,2e6,0,0.2,pull.csv\n' > table.csv
    done_well "${batch[@]}" --loads pull.csv --table table.csv --tolerance 1e-13 -o out.npz
    each_is_simulate 0 --loads pull.csv
    awk -F, -v OFS=, '/vertex/ { $9 = -25 } /all/ { $6 = 6 } 1' pull.csv > second.csv
    grep -q -- -25 second.csv || fault 'awk'
    printf 'gy,damping-mass,damping-stiffness,young,loads\n-9.81,0.5,1e-3,7e5,second.csv\n0,0,0,1e6,push.csv\n' > files.csv
    done_well "${batch[@]}" --table files.csv --tolerance 1e-13 -o out.npz
    each_is_simulate 0 --loads second.csv --gravity 0,-9.81,0 --damping-mass 0.5 --damping-stiffness 1e-3 --young 7e5
    each_is_simulate 1 --loads push.csv
    # springs, and other integrators and models, go one by one
    printf 'factor\n1\n2\n' > two.csv
    for option in --integrator=energy --integrator=bdf2 --integrator=euler --semi-implicit; do
        done_well "${batch[@]}" --loads pull.csv --table two.csv "$option" -o out.npz
        done_well simulate mesh.npz --basis basis.npz --poly poly.npz --dt 0.01 --steps 30 -q "$option" --loads pull.csv -o one.npz
        "$PYTHON" -c 'import sys; sys.exit(not float(sys.argv[1]) <= 1e-8)' "$(difference out.npz 0 one.npz)" || fault "$option: $(difference out.npz 0 one.npz)"
    done
    done_well simbatch mesh.npz --basis basis.npz --cub cub.npz --dt 0.01 --steps 10 --loads pull.csv --table two.csv -o out.npz
    done_well simulate mesh.npz --basis basis.npz --cub cub.npz --dt 0.01 --steps 10 --loads pull.csv -o one.npz
    [ "$(difference out.npz 0 one.npz)" = 0.0e+00 ] || fault "cubature: $(difference out.npz 0 one.npz)"
    holds out.npz 'r["in_lanes"] == 0 and r["motions"] == 2'
    done_well simbatch mesh.npz --model modal --basis modes.npz --integrator exact --dt 0.01 --steps 10 --loads pull.csv --table two.csv -o out.npz
    done_well simulate mesh.npz --model modal --basis modes.npz --integrator exact --dt 0.01 --steps 10 --loads pull.csv -o one.npz
    [ "$(difference out.npz 0 one.npz)" = 0.0e+00 ] || fault "modal: $(difference out.npz 0 one.npz)"
    no_faults
}

@test "more loads of their own than motions share" {
    local factor
    printf 't0,t1,kind,id,fx,fy,fz\n0,inf,rotation,,0,0,3,0,0,0\n' > turn.csv
    printf 'factor\nuniform(1,2)\n' > table.csv
    done_well "${batch[@]}" --loads turn.csv --table table.csv --motions 1100 --tolerance 1e-13 -q -o out.npz
    for number in 3 1099; do
        factor=$("$PYTHON" -c 'import numpy as np, sys
f = np.load("out.npz")
print(repr(float(np.concatenate([f[n] for n in f.files if n.startswith("parameters/")])[int(sys.argv[1]), 0])))' $number)
        awk -F, -v OFS=, -v factor="$factor" '/rotation/ { $7 = sprintf("%.17g", 3 * factor) } 1' turn.csv > one.csv
        each_is_simulate $number --loads one.csv
    done
    no_faults
}

@test "the bytes do not depend on threads, shards and interruptions" {
    printf 'factor,young\nuniform(-1,1),normal(1e6,5%%)\n2,lognormal(1e6,0.1)\n' > table.csv
    batch+=(--loads loads.csv --table table.csv --motions 100 -q)
    done_well "${batch[@]}" -t 1 --statistics -o whole.npz
    for t in 2 3; do
        done_well "${batch[@]}" -t $t --statistics -o out.npz
        same_bytes whole.npz out.npz "$t threads"
    done
    for i in 1 2 3; do
        done_well "${batch[@]}" --statistics --shard $i/3 -o part$i.npz
    done
    done_well simmerge part2.npz part3.npz part1.npz -o out.npz
    same_bytes whole.npz out.npz 'three shards'
    refused 3 'motions 33 to 65 of 100 are in none of the files' simmerge part1.npz part3.npz -o out.npz
    done_well "${batch[@]}" --shard 2/3 -o other.npz
    refused 3 'its motions record other things than those of part1.npz: signals differs' simmerge part1.npz other.npz -o out.npz

    # another seed draws other numbers, and one that draws none has no seed
    done_well "${batch[@]}" --statistics --seed 2 -o other.npz
    ! cmp -s whole.npz other.npz || fault 'the seed changes nothing'
    printf 'factor\n1\n' > one.csv
    refused 2 '--seed means nothing where nothing is drawn' simbatch mesh.npz --basis basis.npz --poly poly.npz --table one.csv --seed 2 -o out.npz

    # a run that was stopped after some blocks goes on behind them
    local long=("${batch[@]/#30/40000}" --record statistics) id tries=0
    done_well "${long[@]}" -o whole.npz
    "${long[@]}" -t 1 --checkpoint kept -o stopped.npz > said.txt 2>&1 &
    id=$!
    while [ $((tries += 1)) -lt 600 ] && { [ ! -s kept ] || [ "$(stat -c %s kept)" -lt 5000 ]; }; do
        sleep 0.05
    done
    kill -TERM $id || fault "it had ended: $(cat said.txt)"
    wait $id || true
    [ ! -e stopped.npz ] || fault 'a run that was stopped has an output'
    done_well "${long[@]}" --checkpoint kept -o out.npz
    same_bytes whole.npz out.npz 'in two parts'
    [ ! -e kept ] || fault 'the checkpoint was left'
    no_faults
}

@test "random loads: the seed of a motion is that of the load plus its number" {
    course() {
        printf 't0,t1,kind,id,fx,fy,fz\n0,0.3,vertex,near:3,1,1,0,0,40,random:400:%s:5 0.1;50 0.01\n0,inf,acceleration,,0,0,-9.81,ramp\n' "$1" | sed 's/0,inf,acc/0,0.3,acc/'
    }
    course 7 > random.csv
    done_well "${batch[@]}" --loads random.csv --motions 3 --tolerance 1e-13 -o out.npz
    for number in 0 2; do
        course $((7 + number)) > one.csv
        each_is_simulate $number --loads one.csv
    done
    printf 'seed\n2\n' > table.csv
    done_well "${batch[@]}" --loads random.csv --table table.csv --tolerance 1e-13 -o out.npz
    course 9 > one.csv
    each_is_simulate 0 --loads one.csv
    no_faults
}

@test "what is recorded" {
    printf 'factor\nuniform(0.5,1)\n' > table.csv
    batch+=(--loads loads.csv --table table.csv --motions 30 -q --every 7)
    done_well "${batch[@]}" --record probes --probe near:3,1,1,4 --statistics -o probes.npz
    done_well "${batch[@]}" --rates -o rates.npz
    done_well "${batch[@]}" --record statistics --probe near:3,1,1,4 --settle 0.1 -o settled.npz
    done_well "${batch[@]}" --record statistics -o statistics.npz
    ending= done_well simverify probes.npz rates.npz settled.npz statistics.npz
    "$PYTHON" - <<'END' || fault numbers
import numpy as np
load = lambda name: np.load(name + '.npz')
joined = lambda f, name: np.concatenate([f[n] for n in f.files if n.startswith(name + '/')])
probes, rates, settled, statistics, basis = map(load, ['probes', 'rates', 'settled', 'statistics', 'basis'])
assert np.allclose(probes['time'], [0, 0.07, 0.14, 0.21, 0.28, 0.3])
u, q, U = joined(probes, 'u'), joined(rates, 'q'), basis['U']
points = probes['vertex']
expected = np.einsum('pcr,mfr->mfpc', U.reshape(-1, 3, U.shape[1])[points], q)
assert abs(u - expected).max() <= 1e-13 * abs(u).max(), 'probes'
assert joined(rates, 'qdot').shape == q.shape and abs(joined(rates, 'qdot')[:, 1:]).max() > 0
assert not [n for n in statistics.files if n.startswith(('q/', 'u/'))] and joined(statistics, 'mean').shape == (30, q.shape[2])
assert joined(settled, 'largest').shape == (30, 6) and (joined(settled, 'largest') <= joined(probes, 'largest')).all()
END
    siminfo probes.npz | grep -q 'motions  *30 of 30, 0 failed; in 1 blocks' || fault siminfo
    siminfo statistics.npz | grep -q 'records  *statistics of' || fault 'siminfo of statistics'
    refused 2 '--record probes needs --probe' "${batch[@]}" --record probes -o out.npz
    refused 2 '--settle: 1 s is not before the end of the motions at 0.3 s' "${batch[@]}" --statistics --settle 1 -o out.npz
    refused 2 'take .* MB, more than the .* MB that --memory allows' "${batch[@]}" --memory 10K -o out.npz
    no_faults
}

@test "a motion that fails does not stop the others" {
    printf 'factor,young\n1,1e6\n1e200,1e6\n1,normal(-1e6,1)\n0.5,1e6\n' > table.csv
    "${batch[@]}" --loads loads.csv --table table.csv -o out.npz 2> said.txt || fault "$(cat said.txt)"
    grep -q '^simbatch: 2 of 4 motions failed; motion 1: the forces at t = 0 s are not finite' said.txt || fault "$(cat said.txt)"
    holds out.npz 'r["failed"] == 2 and [f["motion"] for f in r["failures"]] == [1, 2] and "column young is -" in r["failures"][1]["reason"]'
    ending= done_well simverify out.npz
    "$PYTHON" -c 'import numpy as np
f = np.load("out.npz")
assert list(f["status/000000"]) == [0, 5, 3, 0] and not f["q/000000"][1:3].any() and f["q/000000"][3].any()' || fault status
    no_faults
}

@test "tables that cannot be used" {
    batch+=(--loads loads.csv)
    table() {
        printf '%b' "$1" > table.csv
        refused 3 "table.csv: $2" "${batch[@]}" --table table.csv -o out.npz
    }
    table '' 'it is empty: its first line names the columns'
    table 'factor\n' 'it has no row behind the names of its columns'
    table 'factor,weight\n1,2\n' 'line 1: there is no column "weight"; columns are factor, fx'
    table 'young [MPa]\n1\n' 'line 1: column young: it is in Pa, not in MPa'
    table 'young [Pa\n1\n' 'line 1: column young \[Pa: its unit does not end with \]'
    table 'fx\n1\n' 'line 1: column fx: it names no load, as in fx:1'
    table 'fx:9\n1\n' 'line 1: column fx:9: "9" is not the number of a load, from 1 to'
    table 'gx:1\n1\n' 'line 1: column gx:1: nothing follows gx'
    table 'q:100\n1\n' 'line 1: column q:100: "100" is not the number of a coordinate, from 0 to 5'
    table 'young:tip\n1\n' 'line 1: column young:tip: the mesh has no such region, only'
    table 'factor,factor\n1,1\n' 'line 1: column factor occurs twice'
    table 'pressure:1\n1\n' 'line 1: column pressure:1: load 1 has no such component'
    table 'factor,gx\n1\n' 'line 2: 1 fields, but 2 columns'
    table 'factor\n1,2\n' 'line 2: 2 fields, but 1 columns'
    table 'factor\n\n1\n# a remark\nheavy\n' 'line 5: column factor: "heavy" is neither a number nor normal\(MEAN,DEVIATION\)'
    table 'factor\nnormal(1)\n' 'line 2: column factor: "normal\(1\)" is neither a number'
    table 'factor\nnormal(1,-2)\n' 'line 2: column factor: "normal\(1,-2\)" is neither a number'
    table 'factor\nuniform(2,1)\n' 'line 2: column factor: "uniform\(2,1\)" is neither a number'
    table 'factor\nlognormal(-1,1)\n' 'line 2: column factor: "lognormal\(-1,1\)" is neither a number'
    table 'factor,gx\n,1\n' 'line 2: column factor: there is no value'
    table 'young\n-5\n' 'line 2: column young: .*Young'
    table 'poisson\n0.7\n' 'line 2: column poisson: .*Poisson'
    table 'seed\n1.5\n' 'line 2: column seed: "1.5" is not a whole number from 0 on'
    table 'damping-mass\n-1\n' 'line 2: column damping-mass: damping may not be negative'
    printf 'loads\nnone.csv\n' > table.csv
    refused 3 'none.csv: ' "${batch[@]}" --table table.csv -o out.npz
    printf 'loads\nbroken.csv\n' > table.csv
    printf 't0,t1,kind,id,fx,fy,fz\n0,1,pull,3,1,2,3\n' > broken.csv
    refused 3 'broken.csv: line 2: kind: "pull" is not one of' "${batch[@]}" --table table.csv -o out.npz
    printf 'young\n1\n' > table.csv
    refused 3 'line 1: column young: a modal model has the materials of its modes' simbatch mesh.npz --model modal --basis modes.npz --table table.csv -o out.npz
    refused 2 '--table or --motions says how many motions there are' "${batch[@]}" -o out.npz
    refused 2 '--shard 5/4: expected I/N' "${batch[@]}" --motions 10 --shard 5/4 -o out.npz
    no_faults
}
