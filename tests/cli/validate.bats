#!/usr/bin/env bats
# simvalidate: reduced models compared with the full-order one, and scripts/plot-validation.

load common

# table MODEL COLUMN [FILE]: the numbers of a column of t.csv, in the rows of a model.
table() {
    awk -F, -v model="$1" -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) column = i } $1 == model { print $column }' "${3:-t.csv}"
}

# at_most LIMIT: every number on stdin is at most LIMIT, and there is one.
at_most() {
    awk -v most="$1" '{ n++; if ($1 == "" || !($1 + 0 <= most)) bad = 1 } END { exit bad || !n }'
}

# The columns of t.csv without timings.
without_times() {
    cut -d , -f 1-9,12- "$1"
}

motion=(--loads loads.csv --gravity 0,0,-9.81 --dt 0.01 --steps 30)

# The table, recomputed by NumPy from recorded trajectories.
@test "the errors are those of the recorded motions" {
    local ending=.npz model
    needs_numpy
    done_well simfull mesh.npz "${motion[@]}" --every 7 -q -o full.npz
    done_well simulate mesh.npz --basis basis.npz --poly poly.npz -r 4 --record all "${motion[@]}" --every 7 -q -o reduced.npz
    done_well simfull mesh.npz --model linear "${motion[@]}" --every 7 -q -o linear.npz
    ending=
    done_well simvalidate mesh.npz --basis basis.npz --poly poly.npz --ranks 4 --model reduced,linear "${motion[@]}" --every 7 --csv t.csv --probe 30:z --probe surface:1:x
    grep -q '^reduced  *4  *-  *[0-9.e-]* ' "$stdout" || fault "$(cat "$stdout")"
    "$PYTHON" - <<-'END' || fault "NumPy says otherwise: $(cat t.csv)"
	import csv
	import numpy as np
	def read(name):
	    f = np.load(name)
	    take = lambda p: np.concatenate([f[n] for n in sorted(f.files) if n.startswith(p + '/')])
	    u = take('u')
	    return take('time') if 'time' not in f.files else f['time'], u.reshape(len(u), -1), take('udot').reshape(len(u), -1), take('energy')
	m = np.load('M.npz')
	dof, M = m['dof'], np.zeros((len(m['dof']),) * 2)
	for i in range(len(dof)):
	    s = slice(m['indptr'][i], m['indptr'][i + 1])
	    M[i, m['indices'][s]] = m['data'][s]
	t, u, v, e = read('full.npz')
	assert len(t) == 6 and t[-1] == 0.3
	rows = {r['model']: r for r in csv.DictReader(open('t.csv'))}
	assert rows['full']['position'] == '' and rows['full']['r'] == str(len(dof)) and float(rows['full']['factor']) == 1
	surface = np.load('mesh.npz')
	corners = surface['hex'][surface['surface/element'][1]]
	weights = surface['surface/weights'][1]
	def over_time(x):
	    y = np.einsum('ti,ij,tj->t', x[:, dof], M, x[:, dof])
	    return ((y[1:] + y[:-1]) / 2 * np.diff(t)).sum()
	for name in 'reduced', 'linear':
	    t2, u2, v2, e2 = read(name + '.npz')
	    assert (t == t2).all()
	    row = rows[name]
	    total = lambda x: x[:, 0] + x[:, 1]
	    length = lambda x: np.linalg.norm(x.reshape(len(t), -1, 3), axis=2).max()
	    for what, value in ('position', np.sqrt(over_time(u2 - u) / over_time(u))), ('velocity', np.sqrt(over_time(v2 - v) / over_time(v))), \
	        ('largest', length(u2 - u) / length(u)), ('energy', abs(total(e2) - total(e)).max() / abs(total(e)).max()), \
	        ('amplitude 30:z', abs(u2[:, 92]).max()), ('amplitude surface:1:x', abs(u2[:, 3 * corners] @ weights).max()):
	        assert value > 0 and abs(float(row[what]) - value) <= 1e-8 * value, (name, what, row[what], value)
	END
    no_faults
}

# Three voxels of a soft material without polynomials, fixed at one end, with a random basis of all 36 degrees of freedom.
make_block() {
    printf '%s\n' '[{"name": "body", "law": "stable-neo-hookean", "young": 3e4, "poisson": 0.4, "density": 1000}]' > soft.json
    voxelize bar.obj -q -n 3 --materials soft.json --fix-half-space 1,0,0,0 -o block.npz
    "$PYTHON" - <<-'END'
	import numpy as np
	m = np.load('block.npz')
	n, held = len(m['vertices']), m['fixed']
	U = np.random.default_rng(7).normal(size=(3 * n, 3 * (n - len(held)))) / 10
	assert U.shape == (48, 36)
	for v in held:
	    U[3 * v:3 * v + 3] = 0
	np.savez('U.npz', U=np.asfortranarray(U))
	END
}

@test "a basis of all degrees of freedom has no error" {
    local ending= options
    needs_numpy
    make_block || fault 'the block'
    for options in '' '--integrator static --steps 5' '--damping-mass 2 --damping-stiffness 0.01' '--viscosity 5,10' '--semi-implicit'; do
        # shellcheck disable=SC2086
        done_well simvalidate block.npz --basis U.npz --gravity 5,-30,10 $options --ranks 18,36 --csv t.csv
        for name in position largest energy; do
            table galerkin $name | tail -n 1 | at_most 1e-8 || fault "$options: $name: $(cat t.csv)"
            table galerkin $name | head -n 1 | at_most 0.01 && fault "$options: half of the coordinates are as good: $(cat t.csv)"
        done
        [[ $options == *static* ]] || table galerkin velocity | tail -n 1 | at_most 1e-8 || fault "$options: velocity: $(cat t.csv)"
        [[ $options != *static* ]] || [ -z "$(table galerkin velocity | tr -d '\n')" ] || fault "statics have velocities: $(cat t.csv)"
    done
    done_well simvalidate block.npz --basis U.npz --gravity 5,-30,10 --steps 50 --model galerkin,linear --limit 1000 --csv t.csv
    table linear position | at_most 0.02 && fault "the motion is a small one: $(cat t.csv)"
    no_faults
}

@test "errors decrease with coordinates and with elements; cubature against Galerkin projection" {
    local motion=(--loads loads.csv --gravity 0,6,-9.81 --dt 0.01 --steps 30) # gravity along both directions of the section
    # shellcheck source=data.bash
    source "$SUPPLE_SOURCE/tests/cli/data.bash"
    make_wide_reduction || fault 'no wide bar'
    local ending=.npz n cubs=()
    for n in 3 12 48; do
        done_well cubature mesh.npz basis.npz -q --linear sampled --tolerance 0 -n $n -o c$n.npz
        cubs+=(--cub c$n.npz)
    done
    ending=
    done_well simvalidate mesh.npz --basis basis.npz --poly poly.npz "${cubs[@]}" --model reduced,cubature,galerkin --ranks 1,3,6 "${motion[@]}" --csv t.csv
    [ "$(table galerkin r | tr '\n' ' ')" = '1 3 6 ' ] || fault "ranks: $(cat t.csv)"
    [ "$(table cubature elements | sort -n | tr '\n' ' ')" = "$(table cubature elements | tr '\n' ' ')" ] || fault "elements: $(cat t.csv)"
    for model in galerkin cubature; do
        table $model position | sort -gruc || fault "$model: the error does not fall: $(cat t.csv)"
    done
    # For a linear material polynomials and Galerkin projection are the same model, up to rounding.
    paste <(table galerkin position) <(table reduced position) | awk '{ if (($1 - $2) ^ 2 > (1e-6 * $1) ^ 2) bad = 1 } END { exit bad || NR != 3 }' || fault "polynomials: $(cat t.csv)"
    # the best cubature is nearly as accurate as its basis
    paste <(table galerkin position | tail -n 1) <(table cubature position | tail -n 1) | awk '{ exit $2 > 1.2 * $1 }' || fault "cubature: $(cat t.csv)"
    # the exit code with --limit
    try simvalidate mesh.npz --basis basis.npz --ranks 1,6 "${motion[@]}" --limit 0.5 -q
    [ "$code$err" = 1 ] && [ ! -s "$stdout" ] || fault "--limit 0.5: exit $code $err"
    try simvalidate mesh.npz --basis basis.npz --ranks 6 "${motion[@]}" --limit 0.5 -q
    [ "$code$err" = 0 ] || fault "--limit 0.5 with 6: exit $code $err"
    no_faults
}

@test "another material, nested weights, without --model" {
    local ending=.npz
    printf '%s\n' '[{"name": "body", "law": "stable-neo-hookean", "young": 1e6, "poisson": 0.3, "density": 1000}]' > neo.json
    done_well voxelize bar.obj -q -n 6 --enlarge 1 --fill --fix-half-space 1,0,0,0 --materials neo.json -o neo.npz
    done_well modes neo.npz -q -k 4 -o m.npz
    done_well modalderiv neo.npz m.npz -q -o d.npz
    done_well masspca neo.npz m.npz d.npz -q -r 5 -o b.npz
    done_well cubature neo.npz b.npz -q --nested --tolerance 0.02 -o c.npz
    ending=
    done_well simvalidate neo.npz --basis b.npz --cub c.npz "${motion[@]}" --csv t.csv --limit 0.9
    [ "$(cut -d , -f 1 t.csv | tr '\n' ' ')" = 'model full cubature ' ] || fault "models: $(cat t.csv)"
    table cubature position | at_most 0.3 || fault "error: $(cat t.csv)"
    [ -n "$(table cubature estimate)" ] && [ -z "$(table full estimate)" ] || fault "estimate: $(cat t.csv)"
    done_well simvalidate neo.npz --basis b.npz "${motion[@]}" --young 2e6 --csv t.csv
    [ "$(cut -d , -f 1,2 t.csv | tail -n 1)" = galerkin,5 ] || fault "default: $(cat t.csv)"
    no_faults
}

@test "a recorded reference gives the same table as a run" {
    local ending=.npz other
    done_well simfull mesh.npz "${motion[@]}" --every 4 -q -o full.npz
    ending=
    done_well simvalidate mesh.npz --basis basis.npz --ranks 2,6 "${motion[@]}" --every 4 --probe 30:z --csv a.csv
    done_well simvalidate mesh.npz --basis basis.npz --ranks 2,6 "${motion[@]:0:6}" --reference full.npz --probe 30:z --csv b.csv
    [ "$(table reference position b.csv)$(table reference us_per_step b.csv)$(table galerkin factor b.csv | tr -d '\n')" = '' ] || fault "of a file: $(cat b.csv)"
    diff <(without_times a.csv | grep galerkin) <(without_times b.csv | grep galerkin) > difference || fault "another table: $(< difference)"
    simvalidate mesh.npz --basis basis.npz --ranks 2,6 "${motion[@]:0:6}" --reference - --csv c.csv -q < full.npz || fault 'standard input'
    cat full.npz | simvalidate mesh.npz --basis basis.npz --ranks 2,6 "${motion[@]:0:6}" --reference - --probe 30:z --csv c.csv -q || fault 'a pipe'
    same_bytes <(without_times b.csv) <(without_times c.csv) 'a pipe'
    # with half the time step every frame still has a step
    done_well simvalidate mesh.npz --basis basis.npz --loads loads.csv --gravity 0,0,-9.81 --dt 0.005 --reference full.npz
    # what no run beside a reference has
    modes mesh.npz -k 3 -q -o three.npz
    echo 100,0.1 > times.csv
    simulate mesh.npz --model modal --basis three.npz --damping-times times.csv --dt 0.01 --steps 4 --record all -q -o damped.npz
    refused 2 '^simvalidate: damped.npz: it was simulated with --damping-times, which the runs beside it have not$' simvalidate mesh.npz --basis basis.npz --reference damped.npz
    # options that contradict the reference
    other=(simvalidate mesh.npz --basis basis.npz --reference full.npz)
    refused 2 '^simvalidate: full.npz: it was simulated with --gravity 0,0,-9.81' "${other[@]}" --loads loads.csv
    refused 2 '^simvalidate: full.npz: it was simulated with other --loads' "${other[@]}" --gravity 0,0,-9.81
    refused 2 '^simvalidate: full.npz: it was simulated with another --young' "${other[@]}" "${motion[@]:0:4}" --young 3e5
    refused 2 '^simvalidate: full.npz: it was simulated with damping 0 1/s and 0 s, not 1 and 0' "${other[@]}" "${motion[@]:0:4}" --damping-mass 1
    refused 2 'its frame 1 at 0.04 s is not at a step of --dt 0.03 s' "${other[@]}" "${motion[@]:0:4}" --dt 0.03
    refused 2 '--steps and --every do not apply with --reference' "${other[@]}" "${motion[@]}"
    refused 2 '--steps and --every' "${other[@]}" "${motion[@]:0:6}" --every 2
    refused 2 '--lumping applies to the full-order and linear models, of which none is run$' "${other[@]}" "${motion[@]:0:6}" --lumping lumped
    refused 3 '^simvalidate: traj.npz: it holds 0 of [0-9]* vertices: record it with --record all' simvalidate mesh.npz --basis basis.npz --loads loads.csv --reference traj.npz
    refused 3 '^simvalidate: basis.npz: ' simvalidate mesh.npz --basis basis.npz --reference basis.npz
    refused 3 '^simvalidate: full.npz: ' simvalidate twin.npz --basis twin-basis.npz --reference full.npz
    head -c 3000 full.npz > cut.npz
    refused 3 '^simvalidate: cut.npz: ' simvalidate mesh.npz --basis basis.npz "${motion[@]:0:6}" --reference cut.npz
    no_faults
}

@test "a model of more columns is the reference in place of the full-order model" {
    local ending='' kind
    # the same numbers as beside its recorded motion
    for kind in "--poly poly.npz" ""; do
        simulate mesh.npz --basis basis.npz ${kind:---model galerkin} -r 6 "${motion[@]}" --every 2 --record all -q -o six.npz
        done_well simvalidate mesh.npz --basis basis.npz $kind --ranks 2,4 "${motion[@]}" --every 2 --reference-rank 6 --probe 30:z --csv a.csv
        done_well simvalidate mesh.npz --basis basis.npz $kind --ranks 2,4 "${motion[@]:0:6}" --reference six.npz --probe 30:z --csv b.csv
        "$PYTHON" - <<-'END' || fault "$kind: $(cat a.csv b.csv)"
	import csv
	a, b = ([{k: v for k, v in row.items() if k not in ('us_per_step', 'factor', 'elements', 'iterations')} for row in csv.DictReader(open(f))]
	        for f in ('a.csv', 'b.csv'))
	assert a[0].pop('r') == '6' and a[0]['model'] == 'reference' and b[0].pop('r') == ''
	for x, y in zip(a, b):
	    for k in x:
	        assert x[k] == y[k] or abs(float(x[k]) / float(y[k]) - 1) < 1e-9, (k, x[k], y[k])
	assert len(a) == len(b) == 3
	END
    done
    # beside itself a model has no error; a cubature has its own
    done_well simvalidate mesh.npz --basis basis.npz --poly poly.npz --cub cub.npz "${motion[@]}" --reference-rank 6 --csv c.csv
    [ "$(table reduced position c.csv)" = 0 ] && awk -v e="$(table cubature position c.csv)" 'BEGIN { exit !(e > 1e-6) }' || fault "$(< c.csv)"
    refused 2 'reference-rank' simvalidate mesh.npz --basis basis.npz --reference six.npz --reference-rank 6
    refused 2 'reference-rank applies to' simvalidate mesh.npz --model linear --basis basis.npz --reference-rank 6
    refused 2 '' simvalidate mesh.npz --basis basis.npz --poly poly.npz "${motion[@]}" --reference-rank 7
    no_faults
}

# The triangle inequality; e is the error of the larger model itself.
@test "estimates by more columns differ from the errors by the error of these columns" {
    needs_plain_build 'it compares numbers'
    needs_numpy
    local ending='' estimate
    voxelize bar.obj -n 10 --enlarge 1 --fill --young 1e6 --poisson 0.3 --density 1000 --fix-half-space 1,0,0,0.01 -q -o long.npz
    modes long.npz -k 8 -q -o m.npz
    modalderiv long.npz m.npz -q -o d.npz
    modes long.npz --method krylov --order 4 -q -o k.npz
    masspca long.npz m.npz d.npz k.npz --inner energy --scaling eigenvalue -r 50 -q -o b.npz
    polycoef long.npz b.npz -q -o p.npz
    estimate=(simvalidate long.npz --basis b.npz --poly p.npz --gravity 0,3,-9.81 --dt 0.02 --steps 60 -q --csv)
    "${estimate[@]}" true.csv --ranks 3,6,9,12,16,50
    "${estimate[@]}" estimate.csv --ranks 3,6,9,12,16 --reference-rank 50
    "$PYTHON" - <<-'END' || fault "$(cat true.csv estimate.csv)"
	import csv
	estimates, errors = (list(csv.DictReader(open(f)))[1:] for f in ('estimate.csv', 'true.csv'))
	sharp = 0
	for k in 'position', 'velocity':
	    e = float(errors[-1][k])
	    for x, y in zip(estimates, errors):
	        estimate, true = float(x[k]), float(y[k])
	        assert (true - e) / (1 + e) - 1e-9 < estimate < (true + e) / (1 - e) + 1e-9, (x['r'], k, estimate, true, e)
	        sharp += 0.7 < estimate / true < 1.5
	assert sharp >= 8, sharp
	END
    no_faults
}

@test "the table is the same on a second run and for any number of threads; pipes" {
    local threads run=(simvalidate mesh.npz --basis basis.npz --poly poly.npz --model reduced,galerkin --ranks 2-4 "${motion[@]}" --probe 30:y -q)
    for threads in 1 2 4 1; do
        "${run[@]}" --threads $threads --csv $threads.csv || fault "threads $threads: exit $?"
        without_times $threads.csv > $threads.txt
        [ $threads = 1 ] || same_bytes 1.txt $threads.txt "threads $threads"
    done
    "${run[@]}" --threads 1 --csv - | without_times /dev/stdin | cmp -s - 1.txt || fault '--csv -'
    cat mesh.npz | simvalidate - "${run[@]:2}" --csv pipe.csv || fault 'the mesh from a pipe'
    same_bytes <(without_times pipe.csv) 1.txt 'the mesh from a pipe'
    cat loads.csv | simvalidate mesh.npz "${run[@]:2}" --loads=/dev/stdin --csv pipe.csv 2> /dev/null && fault '--loads twice'
    cat basis.npz | simvalidate mesh.npz --basis - "${run[@]:4}" --csv pipe.csv || fault 'the basis from a pipe'
    same_bytes <(without_times pipe.csv) 1.txt 'the basis from a pipe'
    no_faults
}

@test "inputs that do not belong together" {
    local ending=.npz
    done_well cubature mesh.npz basis.npz -q -o c.npz
    refused 2 'a model in a basis needs --basis' simvalidate mesh.npz
    refused 2 'a model in a basis needs --basis' simvalidate mesh.npz --poly poly.npz
    refused 2 '--basis applies to --model reduced, cubature and galerkin$' simvalidate mesh.npz --basis basis.npz --model linear
    refused 2 '--model reduced needs --poly' simvalidate mesh.npz --basis basis.npz --model reduced
    refused 2 '--poly applies to --model reduced$' simvalidate mesh.npz --basis basis.npz --poly poly.npz --model galerkin
    refused 2 '--model cubature needs --cub' simvalidate mesh.npz --basis basis.npz --model cubature
    refused 2 '--cub applies to --model cubature$' simvalidate mesh.npz --basis basis.npz --cub c.npz --model galerkin
    refused 2 '--ranks applies to --model reduced and galerkin$' simvalidate mesh.npz --basis basis.npz --cub c.npz --ranks 3
    for word in full nonsense reduced,, ',galerkin' 'galerkin ' dir; do
        refused 2 '--model: ".*" is not one of reduced, cubature, galerkin, linear' simvalidate mesh.npz --basis basis.npz --poly poly.npz --model "$word"
    done
    refused 2 '--model names galerkin twice' simvalidate mesh.npz --basis basis.npz --model galerkin,galerkin
    for word in 0 7 x 3-2 1,,2 -1; do
        refused 2 '--ranks' simvalidate mesh.npz --basis basis.npz --ranks "$word"
    done
    for word in x 30 30:w 30:xy :z surface:z surface:99999:z 99999:y 1-2:x; do
        refused 2 '--probe' simvalidate mesh.npz --basis basis.npz --probe "$word"
    done
    refused 2 '^simvalidate: --beta applies to --integrator newmark$' simvalidate mesh.npz --basis basis.npz --integrator energy --beta 0.3
    refused 2 '^simvalidate: --gamma applies to --integrator newmark$' simvalidate mesh.npz --basis basis.npz --integrator energy --gamma 0.3
    for word in linear-euler exact; do # integrators of models that simvalidate does not run
        refused 2 "^simvalidate: --integrator: .*$word.* is not one of newmark.energy.central.static.euler.bdf2$" simvalidate mesh.npz --basis basis.npz --integrator $word
    done
    refused 2 'the time step 0.01 s is above the limit of central differences' simvalidate mesh.npz --basis basis.npz --integrator central
    refused 3 '^simvalidate: twin-basis.npz: it was made from another mesh' simvalidate mesh.npz --basis twin-basis.npz
    refused 3 '^simvalidate: poly.npz: it was made from another ' simvalidate twin.npz --basis twin-basis.npz --poly poly.npz
    refused 3 '^simvalidate: c.npz: it was made from another ' simvalidate twin.npz --basis twin-basis.npz --cub c.npz
    refused 3 '^simvalidate: bar.obj: ' simvalidate other.npz --basis other-basis.npz --loads bar.obj
    refused 4 '^simvalidate: nowhere/t.csv: ' simvalidate mesh.npz --basis basis.npz --steps 1 --csv nowhere/t.csv -q
    no_faults
}

@test "a model that does not converge is abandoned, the others are completed" {
    local ending=.npz run
    needs_numpy
    make_block
    done_well simfull block.npz --gravity 5,-30,10 --steps 20 -q -o full.npz
    # one iteration suffices for the linear model only
    run=(simvalidate block.npz --basis U.npz --gravity 5,-30,10 --reference full.npz --iterations 1 --halvings 0 --model galerkin,linear --ranks 1,36)
    try "${run[@]}" --csv t.csv
    [ "$code" = 5 ] || fault "exit $code: $err"
    [[ $err == *'galerkin, 36 coordinates: Newton'*'did not converge' ]] || fault "it says: $err"
    [ "$(table galerkin position | tail -n 1)" = '' ] || fault "$(cat t.csv)"
    table linear position | at_most 1 || fault "linear: $(cat t.csv)"
    try "${run[@]}" -q
    [ "$code" = 5 ] && [ ${#lines[@]} = 1 ] || fault "quiet: exit $code: $err"
    # without the full-order model there is no reference
    refused 5 '^simvalidate: block.npz: Newton' simvalidate block.npz --gravity 5,-30,10 --iterations 1 --halvings 0 --model linear --csv out.csv -q
    no_faults
}

@test "plot-validation draws the columns that exist" {
    local plot=$SUPPLE_SOURCE/scripts/plot-validation head=model,r,elements,position,velocity
    command -v gnuplot > /dev/null || skip "no gnuplot"
    printf '%s\n' $head full,9,5,, reduced,1,,0.5,0.6 reduced,3,,0.05,0.07 cubature,3,4,0.3,0.5 cubature,3,9,0.06,0.08 galerkin,3,5,0.049,0.06 linear,9,5,2,inf > both.csv
    printf '%s\n' $head reference,,,, galerkin,2,5,0.2, galerkin,4,5,0, galerkin,8,5,0.01, > statics.csv
    for name in both statics; do
        "$plot" out.png "It's \"$name\"" $name.csv 2> err || fault "$name: exit $?: $(< err)"
        size=$(od -An -v -tu1 -j 16 -N 8 out.png | awk '{ print $3 * 256 + $4, $7 * 256 + $8 }') # the size in the header of the PNG
        [ "$size" = "$([ $name = both ] && echo 1400 || echo 700) 600" ] || fault "$name: $size"
    done
    "$plot" both.svg "It's <both>" both.csv && grep -q '<svg' both.svg && grep -q '</svg>' both.svg || fault 'SVG'
    [ "$(grep -c 'relative error beside' both.svg)" = 2 ] || fault 'panels of the SVG'
    printf '%s\n' $head full,9,5,, reduced,1,,0.5,0.6 > one.csv
    printf '%s\n' $head full,9,5,, > none.csv
    printf '%s\n' $head reduced,1,,0.5,x reduced,2,,0.5,1 > word.csv
    printf '%s\n' quantity,a,b,difference,relative > other.csv
    : > empty.csv
    echo old > out.png
    for name in one none word other empty missing; do
        code=0
        "$plot" out.png title $name.csv 2> err || code=$?
        [ $code = 3 ] && [ "$(wc -l < err)" = 1 ] || fault "$name: exit $code: $(< err)"
    done
    [ "$(< out.png)" = old ] || fault 'the old picture was changed'
    litter=(.plot-validation*)
    [ ${#litter[@]} = 0 ] || fault "${litter[*]}"
    code=0
    "$plot" out.png 2> err || code=$?
    [ $code = 2 ] || fault "usage: exit $code"
    no_faults
}
