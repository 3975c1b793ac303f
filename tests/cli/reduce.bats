#!/usr/bin/env bats
# simreduce: the smallest model that keeps an error, for unseen loads too; its script makes the same bytes.

load common

setup_file() {
    export BODY=$BATS_FILE_TMPDIR/body
    mkdir "$BODY"
    cd "$BODY"
    source "$BATS_TEST_DIRNAME/data.bash"
    make_models .
    voxelize bar.obj -q -n 8 --enlarge 1 --fill --young 1e6 --poisson 0.3 --density 1000 --fix-half-space 1,0,0,0.01 -o bar.npz
    voxelize bar.obj -q -n 8 --enlarge 1 --fill --young 1e6 --poisson 0.3 --density 1000 --fix-half-space 1,0,0,0.01 --law neo-hookean -o rubber.npz
    voxelize bar.obj -q -n 6 --enlarge 1 --fill -o free.npz
    printf '0,0.3,all,,0,0,12000\n' > pull.csv
    printf '0,0.3,all,,0,12000,0\n' > push.csv
}

# stated FILE: the stated error of the script's first lines, as a number
stated() {
    sed -n 's/^# r = .* at most \([0-9.e-]*\) %$/\1/p' "$1" | awk '{ print $1 / 100 }'
}

# true_error LOADS MODEL MESH: the error of position beside the full-order model
true_error() {
    simvalidate "$3" --basis "$2-basis.npz" "${@:4}" --loads "$1" --dt 0.02 --steps 60 -q --csv true.csv
    awk -F, '$1 == "reduced" || $1 == "cubature" { print $4 }' true.csv
}

at_most() {
    awk -v a="$1" -v b="$2" 'BEGIN { exit !(a != "" && b != "" && a <= b) }'
}

@test "the stated error holds for unseen loads, and the script makes the same bytes" {
    local n error amplitude ending=.npz
    cd "$BODY"
    simreduce bar.npz --loads pull.csv --loads push.csv --dt 0.02 --steps 60 --error 2% -o one > said.txt 2> err || fault "exit $?: $(< err)"
    [ ! -e one.work ] || fault 'the folder of work is still there'
    grep -q '^r = .*: error of position at most' said.txt || fault "$(< said.txt)"
    at_most "$(stated one.sh)" 0.02 || fault "stated: $(stated one.sh)"

    # loads between the files, of other amplitudes and times than any that the search has seen
    for n in 1 2 3 4; do
        amplitude=$(awk -v n=$n 'BEGIN { print 0.25 * n }')
        awk -v a="$amplitude" -v n=$n 'BEGIN { w = n / 5; printf("%g,%g,all,,0,%g,%g\n", 0.02 * n, 0.25 + 0.03 * n, 12000 * a * (1 - w), 12000 * a * w) }' > unseen.csv
        error=$(true_error unseen.csv one bar.npz --poly one-poly.npz)
        at_most "$error" "$(stated one.sh)" || fault "load $n: $error is above what is stated, $(stated one.sh)"
    done

    # one thread, and names with blanks and quotes
    mkdir "other's work"
    cp bar.npz pull.csv push.csv "other's work"
    (cd "other's work" && mv pull.csv "pull '1'.csv" && simreduce bar.npz --loads "pull '1'.csv" --loads push.csv --dt 0.02 --steps 60 --error 2% -t 1 -q -o "o ne" > said.txt 2> err && sh "o ne.sh" 2> err) || fault "quotes: $(< "other's work/err")"
    "$PYTHON" - one-basis.npz "other's work/o ne-basis.npz" <<-'END' || fault 'one thread has another basis'
	import sys, zipfile
	a, b = (zipfile.ZipFile(f).read('U.npy') for f in sys.argv[1:])
	sys.exit(a != b)
	END

    mkdir again
    cp bar.npz pull.csv push.csv again
    (cd again && sh ../one.sh 2> err) || fault "the script: $(< again/err)"
    same_bytes one-basis.npz again/one-basis.npz 'the basis'
    same_bytes one-poly.npz again/one-poly.npz 'the polynomials'
    siminfo --script one-basis.npz > script.sh
    grep -q '^masspca .*--inner' script.sh || fault "$(< script.sh)"
    grep -q ',1$' one-report.csv || fault 'no rank is chosen in the table'
    no_faults
}

@test "a time step is found whose error the statement includes" {
    local step error
    cd "$BODY"
    simreduce bar.npz --loads pull.csv --dt auto --duration 0.6 --error 4% --held-out 2 -r 20 -o auto > said.txt 2> err || fault "exit $?: $(< err)"
    step=$(sed -n 's/.* error of the time step, --dt \(.*\), included; that of the mesh is not$/\1/p' said.txt)
    [ -n "$step" ] || fault "$(< said.txt)"

    # beside the full-order motion with an eighth of the step
    simfull bar.npz --loads pull.csv --dt "$(awk -v h="$step" 'BEGIN { printf("%.17g", h / 8) }')" \
        --steps "$(awk -v h="$step" 'BEGIN { printf("%d", 8 * 0.6 / h + 0.5) }')" --every 8 -q -o fine.npz
    simvalidate bar.npz --basis auto-basis.npz --poly auto-poly.npz --loads pull.csv --dt "$step" --reference fine.npz -q --csv true.csv
    error=$(awk -F, '$1 == "reduced" { print $4 }' true.csv)
    at_most "$error" "$(stated auto.sh)" || fault "$error is above what is stated, $(stated auto.sh)"
    at_most "$(stated auto.sh)" 0.04 || fault "stated: $(stated auto.sh)"

    # a number of steps of the same duration
    simreduce bar.npz --loads pull.csv --dt 0.02 --duration 0.59 --error 4% --held-out 1 -r 20 -o same > said.txt 2> err || fault "exit $?: $(< err)"
    grep -q ', 30 of 30 steps$' said.txt || fault "30 steps: $(< said.txt)"
    no_faults
}

@test "unseen touches keep the stated error" {
    takes_long
    local n error
    cd "$BODY"
    simreduce bar.npz --touch 43,49,55,58 --force 4000 --gravity 0,0,-9.81 --dt 0.02 --steps 40 --error 6% --held-out 4 -r 12 -o touch > said.txt 2> err || fault "exit $?: $(< said.txt) $(< err)"
    for n in 43 49 55 58; do
        awk -v n=$n 'BEGIN { printf("%g,%g,vertex,%d,%g,%g,%g\n", 0.004 * (n - 40), 0.2 + 0.01 * (n - 40), n, 2000 - 60 * (n - 40), 200 * (n - 50), 160 * (60 - n)) }' > unseen.csv
        simvalidate bar.npz --basis touch-basis.npz --poly touch-poly.npz --loads unseen.csv --gravity 0,0,-9.81 --dt 0.02 --steps 40 -q --csv true.csv
        error=$(awk -F, '$1 == "reduced" { print $4 }' true.csv)
        at_most "$error" "$(stated touch.sh)" || fault "vertex $n: $error is above what is stated, $(stated touch.sh)"
    done

    # the largest forces of the family, along all axes at once
    for n in '43,4000,-4000,4000' '49,-4000,-4000,-4000' '55,4000,4000,-4000' '58,-4000,4000,4000'; do
        echo "0,0.25,vertex,$n" > unseen.csv
        simvalidate bar.npz --basis touch-basis.npz --poly touch-poly.npz --loads unseen.csv --gravity 0,0,-9.81 --dt 0.02 --steps 40 -q --csv true.csv
        error=$(awk -F, '$1 == "reduced" { print $4 }' true.csv)
        at_most "$error" "$(stated touch.sh)" || fault "$n: $error is above what is stated, $(stated touch.sh)"
    done
    no_faults
}

@test "implicit Euler in place of Newmark" {
    local error
    cd "$BODY"
    simreduce bar.npz --loads pull.csv --integrator euler --dt 0.01 --steps 60 --error 1% --held-out 1 -r 20 -q -o euler > said.txt 2> err || fault "exit $?: $(< said.txt) $(< err)"
    simvalidate bar.npz --basis euler-basis.npz --poly euler-poly.npz --loads pull.csv --integrator euler --dt 0.01 --steps 60 -q --csv true.csv
    error=$(awk -F, '$1 == "reduced" { print $4 }' true.csv)
    at_most "$error" "$(stated euler.sh)" || fault "$error is above what is stated, $(stated euler.sh)"
    grep -q '^simfull bar.npz .* --integrator euler ' euler.sh || fault "$(< euler.sh)"
    no_faults
}

@test "a base that moves, alone and with loads" {
    local error
    cd "$BODY"
    awk 'BEGIN { print "t,x,y,z,qw,qx,qy,qz"; for (k = 0; k <= 60; k++) { t = 0.02 * k; s = sin(6 * t); printf("%g,0,%.17g,%.17g,1,0,0,0\n", t, 0.02 * s * s, 0.05 * s * s) } }' > shake.csv
    simreduce bar.npz --frame shake.csv --dt 0.02 --steps 60 --error 3% -o shaken > said.txt 2> err || fault "exit $?: $(< said.txt) $(< err)"
    grep -q ' measured beside the full-order model, shake.csv, 60 of 60 steps$' said.txt || fault "$(< said.txt)"
    simvalidate bar.npz --basis shaken-basis.npz --poly shaken-poly.npz --frame shake.csv --dt 0.02 --steps 60 -q --csv true.csv
    error=$(awk -F, '$1 == "reduced" { print $4 }' true.csv)
    at_most "$error" "$(stated shaken.sh)" || fault "$error is above what is stated, $(stated shaken.sh)"

    simreduce bar.npz --frame shake.csv --loads pull.csv --dt 0.02 --steps 60 --error 4% --held-out 1 -r 20 -q -o both > said.txt 2> err || fault "exit $?: $(< said.txt) $(< err)"
    printf '0.05,0.4,all,,0,0,6000\n' > unseen.csv
    simvalidate bar.npz --basis both-basis.npz --poly both-poly.npz --frame shake.csv --loads unseen.csv --dt 0.02 --steps 60 -q --csv true.csv
    error=$(awk -F, '$1 == "reduced" { print $4 }' true.csv)
    at_most "$error" "$(stated both.sh)" || fault "with loads: $error is above what is stated, $(stated both.sh)"
    refused 2 '^simreduce: --frame ' simreduce bar.npz --frame shake.csv --quantity stress -q -o no
    no_faults
}

@test "errors of stress and of frequency" {
    takes_long
    local error
    cd "$BODY"
    printf '0.05,0.4,all,,0,2000,7000\n' > unseen.csv
    simreduce bar.npz --loads pull.csv --dt 0.02 --steps 60 --quantity stress --error 10% --held-out 1 -r 12 -q -o stress > said.txt 2> err || fault "exit $?: $(< said.txt) $(< err)"
    head -n 1 stress-report.csv | grep -qx 'r,position,velocity,largest,energy,stress,stated,us_per_step,chosen' || fault "$(head -n 1 stress-report.csv)"
    printf '0.05,0.4,all,,0,0,9000\n' > unseen.csv
    simvalidate bar.npz --basis stress-basis.npz --poly stress-poly.npz --loads unseen.csv --dt 0.02 --steps 60 --stress -q --csv true.csv
    error=$(awk -F, '$1 == "reduced" { print $12 }' true.csv)
    at_most "$error" "$(stated stress.sh)" || fault "stress: $error is above what is stated, $(stated stress.sh)"

    # a place has commas, and is a quoted field of the table
    simreduce bar.npz --loads pull.csv --dt 0.02 --steps 100 --quantity frequency --probe near:10,0,0:z --error 2% --held-out 1 -r 12 -q -o tone > said.txt 2> err || fault "exit $?: $(< said.txt) $(< err)"
    simvalidate bar.npz --basis tone-basis.npz --poly tone-poly.npz --loads unseen.csv --dt 0.02 --steps 100 --probe near:10,0,0:z -q --csv true.csv 2> err
    "$PYTHON" - true.csv "$(stated tone.sh)" <<-'END' || fault "frequency: $(< true.csv), stated $(stated tone.sh)"
	import csv, sys
	reference, model = [float(row['frequency near:10,0,0:z']) for row in csv.DictReader(open(sys.argv[1]))]
	sys.exit(not abs(model / reference - 1) <= float(sys.argv[2]))
	END
    code=0
    simreduce bar.npz --loads pull.csv --dt 0.02 --steps 10 --quantity frequency --probe near:10,0,0:z --error 2% -q -o silent 2> err || code=$?
    [ $code = 3 ] && grep -q '^simreduce: bar.npz: --probe near:10,0,0:z has no frequency: it needs some periods of free vibration after the loads end$' err ||
        fault "no vibration: exit $code: $(< err)"
    no_faults
}

@test "a law without polynomials gets a cubature" {
    local error
    cd "$BODY"
    simreduce rubber.npz --loads pull.csv --dt 0.02 --steps 60 --error 3% --held-out 4 -q -o rubber > said.txt 2> err || fault "exit $?: $(< err)"
    printf '0.05,0.4,all,,0,0,9000\n' > unseen.csv
    error=$(true_error unseen.csv rubber rubber.npz --cub rubber-cubature.npz)
    at_most "$error" "$(stated rubber.sh)" || fault "$error is above what is stated, $(stated rubber.sh)"
    # the part of its elements, to two digits
    local model=(rubber.npz --basis rubber-basis.npz --loads pull.csv --dt 0.02)
    simulate "${model[@]}" --model galerkin --steps 60 --record all -q -o all.npz
    simvalidate "${model[@]}" --cub rubber-cubature.npz --reference all.npz -q --csv choice.csv
    error=$(awk -F, '$1 == "cubature" || $1 == "reduced" { printf "%.2g", 100 * $4 }' choice.csv)
    grep -q "^  $error % error of the choice of elements, measured beside all elements in the basis$" said.txt || fault "$error %: $(< said.txt)"
    no_faults
}

@test "an error that no model keeps" {
    cd "$BODY"
    code=0
    simreduce bar.npz --loads pull.csv --dt 0.02 --steps 60 --error 0.0001% -r 12 --held-out 3 -q -o none > said.txt 2> err || code=$?
    [ $code = 1 ] && grep -qx 'no model of up to 12 coordinates keeps an error of position of 0.0001 %: the best one has .* %' said.txt ||
        fault "exit $code: $(< said.txt) $(< err)"
    [ ! -e none-basis.npz ] || fault 'a basis was written'
    [ -s none.work/commands ] || fault 'the work is lost'
    cp none.work/commands before.txt
    code=0
    simreduce bar.npz --loads pull.csv --dt 0.02 --steps 60 --error 0.0001% -r 12 --held-out 3 --best --keep -q -o none > said.txt 2> err || code=$?
    [ $code = 1 ] && [ -s none-basis.npz ] && [ -s none-poly.npz ] && grep -q ' at most ' said.txt || fault "--best: exit $code: $(< err)"
    head -n "$(wc -l < before.txt)" none.work/commands | cmp -s before.txt - || fault 'it does not go on from there'
    [ "$(grep -vc '^again ' none.work/commands)" -le $(($(wc -l < before.txt) + 4)) ] || fault 'what was there is made again'
    no_faults
}

@test "a time step that cannot be found" {
    cd "$BODY"
    voxelize bar.obj -q -n 3 --enlarge 1 --fill --fix-half-space 1,0,0,1.01 -o small.npz
    try simreduce small.npz --loads pull.csv --dt auto --duration 0.5 --integrator euler --error 0.0000001% -r 4 -q -o small
    [ "$code" = 5 ] && [[ $err == 'simreduce: small.npz: no time step down to '*' s keeps a fifth of the error' ]] || fault "exit $code: $err"
    # the order is found after two steps, and most of a million steps are not tried
    [ "$(grep -c -- '--steps [0-9]' small.work/commands)" -le 12 ] || fault "$(grep -c -- '--steps' small.work/commands) motions"
    no_faults
}

@test "a budget of time takes the most accurate model within it" {
    cd "$BODY"
    # all models are within the first budget, and none within the second
    simreduce bar.npz --loads pull.csv --dt 0.02 --steps 60 --budget 1e9 --held-out 2 -r 14 -q -o slow > said.txt 2> err || fault "exit $?: $(< err)"
    awk -F, '$8 == 1 { chosen = $2 } $8 == 0 && (least == "" || $2 < least) { least = $2 } END { exit !(chosen > 0 && chosen <= 1.01 * least) }' slow-report.csv ||
        fault "$(< slow-report.csv)"
    code=0
    simreduce bar.npz --loads pull.csv --dt 0.02 --steps 60 --budget 0.001 --held-out 1 -r 6 -q -o quick > said.txt 2> err || code=$?
    [ $code = 1 ] && grep -q '^no model takes a step in 0.001 us: one of 1 coordinates takes ' said.txt || fault "exit $code: $(< said.txt) $(< err)"
    no_faults
}

@test "a body of fewer degrees of freedom than a rich basis has columns, and loads that begin late" {
    cd "$BODY"
    voxelize bar.obj -q -n 3 --enlarge 1 --fill --young 1e6 --poisson 0.3 --density 1000 --fix-half-space 1,0,0,0.01 -o few.npz
    printf '0.9,1.1,all,,0,0,12000\n' > end.csv
    simreduce few.npz --loads end.csv --dt 0.0005 --steps 2400 --error 5% --held-out 2 -q -o few > said.txt 2> err || fault "exit $?: $(< said.txt) $(< err)"
    no_faults
}

@test "full-order steps of the beginning of a slow motion judge the rank too" {
    takes_long
    cd "$BODY"
    # With three coordinates the error is 0.3 % of the whole motion, and 1.1 % of the part of it that the full-order model takes.
    voxelize bar.obj -q -n 16 --enlarge 1 --fill --young 1e6 --poisson 0.3 --density 1000 --fix-half-space 1,0,0,0.01 -o slow.npz
    printf '0,9,all,,0,0,3000\n' > slow.csv
    simreduce slow.npz --loads slow.csv --dt 0.0002 --steps 4000 --error 1% --held-out 1 -r 30 -q -o slow > said.txt 2> err || fault "exit $?: $(< said.txt) $(< err)"
    grep -qE '^ +[0-9.]+ % measured beside the full-order model, slow.csv, [0-9]{4} of 4000 steps$' said.txt || fault "$(< said.txt)"
    ! grep -q ' 4000 of 4000 steps' said.txt || fault 'the full-order model takes the whole motion'
    at_most "$(stated slow.sh)" 0.01 || fault "$(< said.txt)"
    no_faults
}

@test "loads under which the reference does not converge are said" {
    cd "$BODY"
    voxelize bar.obj -q -n 4 --enlarge 1 --fill --young 1e6 --poisson 0.3 --density 1000 --fix-half-space 1,0,0,0.01 --law neo-hookean -o small.npz
    # 1.2e8 N invert elements in any step that Newton's method may try
    simreduce small.npz --loads pull.csv --dt 0.02 --steps 20 --error 90% --most 1e4 --held-out 2 -r 6 -o strong > said.txt 2> err || true
    grep -qE '^simreduce: small.npz: [1-9][0-9]* of 7 motions do not converge, and nothing is stated of such loads' err || fault "$(< err)"
    no_faults
}

@test "an interrupted search goes on with what is there" {
    local ending=.npz
    cd "$BODY"
    simreduce bar.npz --loads pull.csv --dt 0.02 --steps 60 --error 2% --held-out 3 -q -o whole > /dev/null || fault "exit $?"
    mkdir -p part
    cp bar.npz pull.csv part
    cd "$BODY/part"
    simreduce bar.npz --loads pull.csv --dt 0.02 --steps 60 --error 2% --held-out 3 -o whole > /dev/null 2> err &
    local job=$!
    for _ in $(seq 2400); do
        ! grep -q 'motion 2' err || break
        sleep 0.05
    done
    kill -TERM $job
    code=0
    wait $job || code=$?
    [ $code = 143 ] || fault "exit $code"
    [ -s whole.work/commands ] || fault 'nothing is kept'
    code=0
    simreduce bar.npz --loads pull.csv --dt 0.01 --steps 60 --error 2% --held-out 3 -q -o whole > /dev/null 2> err || code=$?
    [ $code = 3 ] && grep -q '^simreduce: whole.work: it belongs to a search with another mesh' err || fault "another search: exit $code: $(< err)"
    simreduce bar.npz --loads pull.csv --dt 0.02 --steps 60 --error 2% --held-out 3 -q -o whole > /dev/null 2> err || fault "exit $?: $(< err)"
    [ ! -e whole.work ] || fault 'the folder of work is still there'
    cd "$BODY"
    # paths of the work differ in nothing: the names are relative
    same_bytes whole-basis.npz part/whole-basis.npz 'the basis'
    no_faults
}

@test "a folder that was kept serves another goal" {
    local ending=.npz search=(simreduce bar.npz --loads pull.csv --dt 0.02 --steps 60 --held-out 3 -q -o goal) text
    cd "$BODY"
    mkdir -p alone twice
    for text in alone twice; do
        cp bar.npz pull.csv $text
    done
    (cd alone && "${search[@]}" --error 2% > said) || fault "exit $?"
    (cd twice && "${search[@]}" --error 10% --keep > said && "${search[@]}" --error 2% > said) || fault "exit $?"
    same_bytes alone/goal-basis.npz twice/goal-basis.npz 'the basis'
    same_bytes alone/goal-poly.npz twice/goal-poly.npz 'the polynomials'
    # the same statement, but for the time of a step
    [ "$(sed 's/, .* us a step//' alone/said)" = "$(sed 's/, .* us a step//' twice/said)" ] || fault "$(cat alone/said twice/said)"
    no_faults
}

# moved MODEL LOADS: the errors of the deformation and of the energy of MODEL-scene.json under other loads, of a damping
# that is the same for the full-order model: beta lambda and beta mu
moved() {
    sed "s/\"loads\": \"[^\"]*\"/\"loads\": \"$2\"/" "$1-scene.json" > moved.json
    simscene moved.json --dt 0.005 --steps 60 -q -o moved.npz
    simfull free.npz --loads "$2" --dt 0.005 --steps 60 --integrator energy --viscosity "$(awk 'BEGIN { E = 1e6; n = 0.45; b = 0.004; print b * E * n / (1 + n) / (1 - 2 * n) "," b * E / 2 / (1 + n) }')" -q -o full.npz
    simcompare moved.npz full.npz --scene moved.json --deformation --csv moved.csv -q
    awk -F, '$1 == "deformation L2" || $1 == "energy L2" { print $5 }' moved.csv
}

@test "a free body: a basis of its deformation, and a scene" {
    takes_long
    needs_plain_build 'hundreds of processes; the next test makes a few'
    local search=(simreduce ../free.npz --loads knock.csv --dt 0.005 --steps 60 --damping-stiffness 0.004 --held-out 3 -r 20 --error 4%) errors loads ending=.npz
    mkdir -p "$BODY/thrown/made" "$BODY/thrown/again/made"
    cd "$BODY/thrown"
    printf '0,0.1,vertex,near:0,0,0,0,20000,8000\n' > knock.csv
    "${search[@]}" -o made/it > said 2> err || fault "exit $?: $(< err)"
    grep -q '^r = .*: error of deformation at most' said || fault "$(< said)"
    at_most "$(stated made/it.sh)" 0.04 || fault "stated: $(stated made/it.sh)"
    [ ! -e made/it.work ] || fault 'the folder of work is still there'

    # other loads of the family
    cd "$BODY/thrown/made"
    ln -s ../../free.npz .
    printf '0.02,0.1,vertex,near:0,0,0,0,12000,5000\n' > weaker.csv
    printf '0,0.08,vertex,near:0,0,0,0,22000,9000\n' > stronger.csv
    for loads in weaker stronger; do
        errors=$(moved it $loads.csv)
        at_most "$(head -n 1 <<< "$errors")" "$(stated it.sh)" || fault "$loads: $errors, and $(stated it.sh) is stated"
        at_most "$(tail -n 1 <<< "$errors")" 0.02 || fault "$loads: energy $errors"
    done

    # the script makes the same, from the same folder
    cd "$BODY/thrown"
    cp ../free.npz .
    cp knock.csv made/it.sh again
    (cd again && sh it.sh) 2> err || fault "exit $?: $(< err)"
    same_bytes made/it-basis.npz again/made/it-basis.npz 'the basis'
    same_bytes made/it-poly.npz again/made/it-poly.npz 'the polynomials'
    cmp made/it-scene.json again/made/it-scene.json || fault 'another scene'

    no_faults
}

@test "a free body of a law without polynomials, which falls" {
    cd "$BODY"
    printf '0,0.1,vertex,near:0,0,0,0,20000,8000\n' > knock.csv
    voxelize bar.obj -q -n 3 --enlarge 1 --fill --law neo-hookean -o loose.npz
    simreduce loose.npz --loads knock.csv --gravity 0,0,-9.81 --dt 0.005 --steps 20 --damping-stiffness 0.004 --held-out 1 -r 6 --error 30% -q -o loose > said 2> err || fault "exit $?: $(cat err said)"
    siminfo loose-cubature.npz | grep -q 'cubature' || fault 'no cubature'
    grep -q '"cubature": "loose-cubature.npz"' loose-scene.json || fault "$(< loose-scene.json)"
    grep -qx ' *0.004' loose-scene.json && grep -qx ' *-9.81' loose-scene.json || fault "digits: $(< loose-scene.json)"
    simscene loose-scene.json --dt 0.005 --steps 5 -q -o loose-motion.npz 2> err || fault "exit $?: $(< err)"
    no_faults
}

@test "a free body: the time step is found on the full-order model" {
    local step steps full=(simfull tumbling.npz --loads knock.csv --integrator energy -q)
    cd "$BODY"
    printf '0,0.1,vertex,near:0,0,0,0,20000,8000\n' > knock.csv
    voxelize bar.obj -q -n 3 --enlarge 1 --fill -o tumbling.npz
    simreduce tumbling.npz --loads knock.csv --dt auto --duration 0.2 --held-out 1 -r 10 --error 20% -q -o tumbling > said 2> err || fault "exit $?: $(cat err said)"
    step=$(sed -n 's/^# .* error of the time step, --dt \([0-9.e-]*\), .*/\1/p' tumbling.sh)
    steps=$(sed -n 's/^# .* of \([0-9]*\) steps$/\1/p' tumbling.sh)
    # as many steps as the 0.2 s need
    at_most 0.2 "$(awk "BEGIN { print $step * $steps + 1e-9 }")" || fault "$steps steps of $step s"
    at_most "$(awk "BEGIN { print $step * $steps - 0.2 }")" "$step" || fault "$steps steps of $step s"

    # The motion with half of the step differs by less than a fifth of the error.
    "${full[@]}" --dt "$(awk "BEGIN { print $step / 2 }")" --steps $((2 * steps)) --every 2 -o half.npz
    "${full[@]}" --dt "$step" --steps $steps -o whole.npz
    simcompare whole.npz half.npz --mesh tumbling.npz --deformation --csv change.csv -q || [ $? = 1 ]
    at_most "$(awk -F, '$1 == "deformation L2" { print $5 }' change.csv)" 0.04 || fault "$(< change.csv)"
    no_faults
}

@test "what cannot be searched is refused in one line" {
    cd "$BODY"
    printf '0,0,0,0,1,0,0,0\n1,0,0,0,1,0,0,0\n' > base.csv
    printf '5,6,all,,0,0,3\n' > late.csv
    refused 2 '^simreduce: a model is for certain loads: name some with --loads, --touch, --frame or --gravity$' simreduce bar.npz --dt 0.02 -q -o no
    refused 2 '^simreduce: --dt: "fast" is neither a time step above 0 s nor auto$' simreduce bar.npz --loads pull.csv --dt fast -q -o no
    refused 2 '^simreduce: --dt: "-1" is neither ' simreduce bar.npz --loads pull.csv --dt -1 -q -o no
    refused 2 '^simreduce: --dt auto needs the --duration of the motion$' simreduce bar.npz --loads pull.csv --dt auto -q -o no
    refused 2 '^simreduce: --duration 1e.12: that are 1e.14 steps of 0.01 s, above 1e.08$' simreduce bar.npz --loads pull.csv --duration 1e12 -q -o no
    refused 2 '^simreduce: --touch needs the largest --force$' simreduce bar.npz --touch 3 -q -o no
    refused 2 '^simreduce: --touch: all these vertices are fixed$' simreduce bar.npz --touch near:0,0,0 --force 3 -q -o no
    refused 2 '^simreduce: --touch: ' simreduce bar.npz --touch set:none --force 3 -q -o no
    refused 2 '^simreduce: --quantity frequency needs a --probe$' simreduce bar.npz --loads pull.csv --quantity frequency -q -o no
    refused 2 '^simreduce: --error: "150%" is not between 0 and 1, or 0% and 100%$' simreduce bar.npz --loads pull.csv --dt 0.02 --error 150% -q -o no
    refused 2 '^simreduce: --least 3 is above --most 1.2$' simreduce bar.npz --loads pull.csv --dt 0.02 --least 3 -q -o no
    refused 3 '^simreduce: late.csv: load 1 begins at 5 s, and the motion ends at 1.2 s$' simreduce bar.npz --loads late.csv --dt 0.02 --steps 60 -q -o no
    local free=(simreduce free.npz --loads pull.csv -q -o no)
    refused 2 '^simreduce: free.npz: --frame moves a body that is fixed to it, and this one has no fixed vertices$' "${free[@]}" --dt 0.02 --frame base.csv
    refused 2 '^simreduce: free.npz: free bodies move by a method that conserves energy: ' "${free[@]}" --dt 0.02 --integrator euler
    refused 2 '^simreduce: free.npz: of free bodies --quantity position, velocity, ' "${free[@]}" --dt 0.02 --quantity stress
    try simreduce free.npz --gravity 0,0,-9.81 --dt 0.02 --steps 10 -q -o falls
    [ "$code" = 3 ] && [[ $err == 'simreduce: masspca: '*'every column is zero: there is nothing to make a basis of' ]] || fault "exit $code: $err"
    rm -rf falls.work
    refused 2 '^simreduce: free.npz: damping by the mass acts on the rigid motion ' "${free[@]}" --dt 0.02 --damping-mass 1
    refused 3 '^simreduce: no.npz: cannot open: ' simreduce no.npz --loads pull.csv --dt 0.02 -q -o no
    refused 2 '^simreduce: a name that begins with - is an option to the programs that are run: write ./ before it$' simreduce bar.npz --loads pull.csv --dt 0.02 -q -o -
    [ ! -e no.work ] || fault 'a folder was made'
    no_faults
}
