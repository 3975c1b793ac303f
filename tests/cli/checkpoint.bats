#!/usr/bin/env bats
# Checkpoints of simulate, simfull and simscene: runs that are killed, that a signal stops, and that find their checkpoint damaged. The checkpoints
# of cubature and of sketchsolve are tested in cubature.bats and sketch.bats. kills.py kills every program at random moments.

load common

# A bar with a skeleton. The runs take about a second: a checkpoint gets a new record every 0.2 s.
setup_file() {
    export BODY=$BATS_FILE_TMPDIR/body
    mkdir "$BODY"
    cd "$BODY"
    cp "$DATA"/{mesh,basis,poly,cub,modes}.npz "$DATA"/{loads.csv,bar.obj} .
    voxelize bar.obj -q -n 6 --enlarge 1 --fill -o loose.npz
    simcut mesh.npz --plane 1,0,0,1.5 -q -o cut.npz
    cat > bones.json <<-'END'
	{"bones": [{"name": "a", "joint": "revolute", "at": [0, 0.5, 0.5], "axis": [0, 1, 0], "mass": 3, "centre": [1, 0.5, 0.5], "box": [[-1, -1, -1], [0.6, 9, 9]]},
	           {"name": "b", "parent": "a", "joint": "prismatic", "axis": [1, 0, 0], "stiffness": 1e4, "damping": 3, "box": [[2.4, -1, -1], [9, 9, 9]]}]}
	END
    pointshell bar.obj -q --points 1000 -o bar-shell.npz
    cat > pile.json <<-'END'
	{"gravity": [0, 0, -9.81], "contact": {"stiffness": 100000, "damping": 300, "friction": 0.3},
	 "models": {"floor": {"kind": "rigid", "plane": {"normal": [0, 0, 1]}}, "bar": {"kind": "rigid", "surface": "bar.obj", "density": 100, "pointshell": "bar-shell.npz"}},
	 "bodies": [{"name": "floor", "model": "floor"},
	            {"name": "bar", "model": "bar", "motion": "free", "position": [0, 0, 0.02], "velocity": [1, 0.5, 0], "angular_velocity": [0.3, 0.2, 1], "copies": {"count": [2, 2, 1], "spacing": [4, 2, 0]}}]}
	END
    awk 'BEGIN { for (i = 0; i < 3000; i++) print 0.01 * i ",0,0," sin(0.003 * i) "," cos(0.004 * i) ",0," sin(0.004 * i) ",0" }' > hand.csv
    # The run $LONG is killed twice, so that its checkpoint has two records.
    export LONG_STEPS=800000
    ! sanitized || LONG_STEPS=250000
    export LONG="simulate mesh.npz --basis basis.npz --poly poly.npz --loads loads.csv --dt 0.001 --steps $LONG_STEPS --every 500"
    $LONG -q -o whole.npz
    kill_at 100 killed.checkpoint $LONG -q -o run.npz
    kill_at "$(stat -c %s killed.checkpoint)" killed.checkpoint $LONG -q -o run.npz
    rm -f .supple-*
}

setup() {
    faults=
    debug_trap=$(trap -p DEBUG)
    trap - DEBUG
    mkdir "$BATS_TEST_TMPDIR/work"
    cd "$BATS_TEST_TMPDIR/work" || return
    cp -r "$BODY"/. .
    echo old > out.npz
    shopt -s dotglob nullglob
    ending=.npz
}

# kill_at BYTES CHECKPOINT COMMAND…: kills the command once its checkpoint is larger than BYTES. Sets $code: 137 if it was killed, 0 if it finished.
kill_at() {
    local most=$1 checkpoint=$2 number
    shift 2
    "$@" --checkpoint "$checkpoint" 3>&- &
    number=$!
    while kill -0 $number 2> /dev/null && [ "$(stat -c %s "$checkpoint" 2> /dev/null || echo 0)" -le "$most" ]; do
        sleep 0.01
    done
    kill -s KILL $number 2> /dev/null || true
    code=0
    wait $number 2> /dev/null || code=$?
}

# goes_on COMMAND…: kills the command three times, each time after a new record in its checkpoint. The result has the bytes of a run without a kill.
goes_on() {
    local round have=100 caught=0
    rm -f run.checkpoint
    "$@" -q -o whole-run.npz || fault "$*: exit $?"
    for round in 1 2 3; do
        kill_at $have run.checkpoint "$@" -q --threads $((1 + round % 2)) -o run.npz
        [ "$code" = 137 ] || [ "$code" = 0 ] || fault "$*: round $round: exit $code"
        [ "$code" = 137 ] || break
        [ -e run.checkpoint ] || break # the kill came after the output was renamed
        caught=$((caught + 1))
        have=$(stat -c %s run.checkpoint)
    done
    [ "$code" = 0 ] || { [ -e run.npz ] && [ ! -e run.checkpoint ]; } || "$@" -q --threads 3 --checkpoint run.checkpoint -o run.npz || fault "$*: the last call: exit $?"
    same_bytes whole-run.npz run.npz "$*, killed $caught times"
    [ ! -e run.checkpoint ] || fault "$*: the checkpoint stays"
    [ $caught -gt 0 ] || echo "# never killed in time: $*" >&3
    rm -f .supple-* run.npz
}

@test "every model, killed repeatedly: the same bytes" {
    needs_plain_build 'it takes long; the unit test of states loads those of all models'
    local line
    polycoef mesh.npz basis.npz -q --certificate --loads loads.csv -o cert.npz
    while read -r line; do
        goes_on $line
    done <<-'END'
	simulate mesh.npz --basis basis.npz --poly poly.npz --loads loads.csv --integrator bdf2 --dt 0.002 --steps 200000 --every 500
	simulate mesh.npz --basis basis.npz --poly poly.npz --loads loads.csv --certificate cert.npz --static-correction --record probes --probe 3 --dt 0.002 --steps 3000 --every 5
	simulate mesh.npz --basis basis.npz --poly poly.npz --loads loads.csv --record-reactions --dt 0.002 --steps 3000 --every 5
	simulate mesh.npz --model cubature --basis basis.npz --cub cub.npz --jacobian krylov --loads loads.csv --dt 0.002 --steps 6000 --every 50
	simulate mesh.npz --model galerkin --basis basis.npz --semi-implicit --loads loads.csv --dt 0.002 --steps 800 --every 20
	simulate mesh.npz --basis basis.npz --poly poly.npz --frame hand.csv --integrator newmark --dt 0.0001 --steps 200000 --every 500
	simulate mesh.npz --model modal --basis modes.npz --integrator exact --loads loads.csv --dt 0.002 --steps 800000 --every 3000
	simfull mesh.npz --solver reused --loads loads.csv --dt 0.002 --steps 400 --every 20
	simfull mesh.npz --model linear --loads loads.csv --integrator central --dt 0.0001 --steps 20000 --every 100
	simfull mesh.npz --model warp --warp element --loads loads.csv --dt 0.002 --steps 500 --every 30
	simfull mesh.npz --gravity 0,0,-9.81 --dt 0.002 --steps 300 --every 7 --cut 0.3=cut.npz
	simfull loose.npz --model conjac --dynamic farthest:5 --integrator linear-euler --skeleton bones.json --gravity 0,0,-9.81 --ground 0,0,1,-1 --friction 0.2 --dt 0.002 --steps 600 --every 4
	END
    no_faults
}

@test "a scene with friction, killed repeatedly: the same bytes, and a line of --timings for every step" {
    local steps=12000
    ! sanitized || steps=3000
    goes_on simscene pile.json --dt 0.0005 --steps $steps --every 40 --contacts --timings times.csv
    [ "$(wc -l < times.csv)" = $((steps + 1)) ] || fault "$(wc -l < times.csv) lines of timings"
    [ "$(cut -d, -f1 times.csv | tail -n +2 | uniq | wc -l)" = $steps ] || fault 'numbers of steps'
    no_faults
}

@test "--joints continues after a kill" {
    local run='simfull loose.npz --integrator linear-euler --skeleton bones.json --gravity 0,0,-9.81 --dt 0.002 --steps 400 --every 4'
    $run -q --joints whole.csv -o whole-run.npz
    kill_at 100 run.checkpoint $run -q -o run.npz # without --joints
    $run -q --joints run.csv --checkpoint run.checkpoint -o run.npz || fault "exit $?"
    same_bytes whole-run.npz run.npz motion
    same_bytes whole.csv run.csv joints
    no_faults
}

@test "a signal ends the program, which reports in one line how many steps the checkpoint keeps" {
    "$PYTHON" - <<-'END' || fault 'signals'
	import os, re, signal, subprocess, time
	def stop(number, checkpoint, *more):
	    run = subprocess.Popen(os.environ['LONG'].split() + ['--checkpoint', checkpoint, '-o', 'new.npz', *more], stderr=subprocess.PIPE, text=True,
	                           preexec_fn=lambda: [signal.signal(s, signal.SIG_DFL) for s in (signal.SIGINT, signal.SIGHUP)])
	    have = os.path.getsize(checkpoint) if os.path.exists(checkpoint) else 100
	    while run.poll() is None and not (os.path.exists(checkpoint) and os.path.getsize(checkpoint) > have):
	        time.sleep(0.01)
	    run.send_signal(number)
	    text = run.communicate()[1]
	    assert run.returncode == -number, (run.returncode, text)
	    assert os.path.getsize(checkpoint) > have and not os.path.exists('new.npz') and not [f for f in os.listdir() if f.startswith('.supple-')], os.listdir()
	    return text
	steps = int(os.environ['LONG_STEPS'])
	line = rf'simulate: stopped by (SIG[A-Z]+); new\.checkpoint keeps ([0-9]+) of {steps} steps, and the same command goes on from there\n'
	done = []
	for name in ('SIGINT', 'SIGTERM', 'SIGHUP'):
	    text = stop(getattr(signal, name), 'new.checkpoint')
	    m = re.fullmatch(rf'(?:simulate: ([0-9]+) of {steps} steps were done before\n)?' + line, text)
	    assert m and m[2] == name and int(m[1] or 0) <= int(m[3]) < steps, text
	    done.append(int(m[3])) # the previous record, if the new one was not on the disk yet
	assert done == sorted(done) and done[2] > 0, done
	assert stop(signal.SIGTERM, 'quiet.checkpoint', '-q') == ''
	END
    $LONG -q --checkpoint new.checkpoint -o new.npz || fault "exit $?"
    same_bytes whole.npz new.npz 'stopped three times'
    no_faults
}

@test "a checkpoint cut anywhere, as a kill or a power failure leaves it" {
    takes_long
    local size at
    size=$(stat -c %s killed.checkpoint)
    RANDOM=5
    for at in 0 10 52 60 70 $((size - 1)) $((size - 40)) $((size - 300)) $((RANDOM % size)); do
        head -c "$at" killed.checkpoint > cut.checkpoint
        $LONG -q --checkpoint cut.checkpoint -o cut.npz || fault "cut at $at: exit $?"
        same_bytes whole.npz cut.npz "cut at $at"
        [ ! -e cut.checkpoint ] || fault "cut at $at: the checkpoint stays"
    done
    # the file has its full length, but its last blocks were never written
    for at in 20 $((size / 4)); do
        cp killed.checkpoint cut.checkpoint
        truncate -s -$at cut.checkpoint
        truncate -s +$at cut.checkpoint
        $LONG -q --checkpoint cut.checkpoint -o cut.npz 2> err || [[ $(< err) == *'the checkpoint is damaged'* ]] || fault "$at zeros: $(< err)"
        [ -e cut.checkpoint ] || same_bytes whole.npz cut.npz "$at zeros"
    done
    head -c "$size" killed.checkpoint > cut.checkpoint
    truncate -s +1000 cut.checkpoint
    $LONG -q --checkpoint cut.checkpoint -o cut.npz || fault "zeros behind the end: exit $?"
    same_bytes whole.npz cut.npz "zeros behind the end"
    no_faults
}

@test "checkpoints of another run, damaged, in use, or no checkpoints at all are refused and left alone" {
    local at ending=.npz
    rm -f cut.npz
    refused 3 '^simulate: killed.checkpoint: it is the checkpoint of another run' ${LONG/0.001/0.002} -q --checkpoint killed.checkpoint -o out.npz
    refused 3 '^simulate: killed.checkpoint: it is the checkpoint of another run' ${LONG/$LONG_STEPS/$((LONG_STEPS + 1))} -q --checkpoint killed.checkpoint -o out.npz
    refused 3 '^simscene: killed.checkpoint: it is the checkpoint of another run' simscene pile.json -q --checkpoint killed.checkpoint -o out.npz
    cp loads.csv other.csv
    sed -i 's/-90/-91/' loads.csv
    refused 3 '^simulate: killed.checkpoint: it is the checkpoint of another run' $LONG -q --checkpoint killed.checkpoint -o out.npz
    cp other.csv loads.csv
    refused 3 '^simulate: bar.obj: it is not a checkpoint' $LONG --checkpoint bar.obj -o out.npz
    refused 2 '^simulate: new.npz: two outputs have this name' $LONG --checkpoint new.npz -o new.npz
    refused 2 '^simulate: /dev/full: a checkpoint has to be a regular file' $LONG --checkpoint /dev/full -o out.npz
    refused 4 '^simulate: nowhere/check: cannot open' $LONG --checkpoint nowhere/check -o out.npz
    for at in 0 30 52 61 70 100; do # in the first record, which is not the last one
        cp killed.checkpoint damaged.checkpoint
        "$PYTHON" -c 'import sys
with open("damaged.checkpoint", "r+b") as file:
    file.seek(int(sys.argv[1]))
    byte = file.read(1)[0]
    file.seek(int(sys.argv[1]))
    file.write(bytes([byte ^ 0x10]))' "$at"
        cp damaged.checkpoint before
        refused 3 '^simulate: damaged.checkpoint: (it is not a checkpoint|it is the checkpoint of another run|the checkpoint is damaged)' $LONG -q --checkpoint damaged.checkpoint -o out.npz
        same_bytes before damaged.checkpoint "byte $at"
    done
    flock killed.checkpoint $LONG -q --checkpoint killed.checkpoint -o out.npz 2> err && fault 'two wrote to one checkpoint'
    [[ $(< err) == 'simulate: killed.checkpoint: another process is writing this checkpoint' ]] || fault "$(< err)"
    no_faults
}

@test "a checkpoint that finds no room: exit 4, one line, the old output as it was" {
    local text
    (ulimit -f 30 && $LONG -q --checkpoint new.checkpoint -o out.npz) 2> err && fault 'exit 0'
    [[ $(< err) =~ ^simulate:\ (new.checkpoint|out.npz):\ cannot\ write:\ File\ too\ large$ ]] || fault "$(< err)"
    IFS= read -r text < out.npz
    [ "$text" = old ] || fault 'the old output was changed'
    no_litter 'no room'
    $LONG -q --checkpoint new.checkpoint -o new.npz || fault "with room again: exit $?"
    same_bytes whole.npz new.npz 'with room again'
    no_faults
}

@test "--partial writes what a checkpoint keeps, and leaves it" {
    cp killed.checkpoint before
    done_well $LONG --checkpoint killed.checkpoint --partial -o sofar.npz
    ending= done_well simverify sofar.npz
    holds sofar.npz "0 < r['partial_steps'] == r['steps'] < $LONG_STEPS"
    "$PYTHON" - <<-'END' || fault 'frames'
	import numpy as np
	a, b = np.load('sofar.npz'), np.load('whole.npz')
	series = lambda f, s: np.concatenate([f[n] for n in f.files if n.startswith(s + '/')])
	for s in ('time', 'q', 'qdot', 'energy'):
	    x, y = series(a, s), series(b, s)
	    assert 1 < len(x) < len(y) and (x == y[:len(x)]).all(), s
	END
    $LONG -q --checkpoint killed.checkpoint -o out.npz || fault "exit $?"
    same_bytes whole.npz out.npz 'after --partial'
    holds out.npz "'partial_steps' not in r"
    refused 2 '^simscene: --partial applies with --checkpoint$' simscene pile.json --partial -o new.npz
    refused 3 '^simulate: no.checkpoint: --partial: there is no such checkpoint' $LONG --checkpoint no.checkpoint --partial -o new.npz
    kill_at 100 pile.checkpoint simscene pile.json --dt 0.0005 --steps 12000 --every 40 -q -o run.npz
    rm -f .supple-*
    done_well simscene pile.json --dt 0.0005 --steps 12000 --every 40 --checkpoint pile.checkpoint --partial -o sofar.npz
    ending= done_well simverify sofar.npz
    holds sofar.npz "0 < r['partial_steps'] < 12000"
    no_faults
}

@test "a run of every program with checkpoints, killed at a random moment" {
    needs_plain_build 'it takes long'
    cp "$DATA"/* . 2> /dev/null || true
    # One model of each program. scripts/test --all takes all runs, of which the test of every model above kills some too.
    local runs='model linear|scene|cubature mesh|sketchsolve|force-sweep' count=5
    [ -z "${SUPPLE_ALL-}" ] || runs=. count=12
    "$PYTHON" "$BATS_TEST_DIRNAME/kills.py" $count "$RANDOM" "$runs" > kills.txt 2>&1 || fault "$(< kills.txt)"
    no_faults
}
