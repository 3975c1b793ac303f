#!/usr/bin/env bats
# sketchsolve: selected loads and their equilibria, checkpoints, and runs that are killed.

load common

setup_file() {
    # a run of about a second: a force that rotates around the tip of a bar and changes its size
    export LONG=$BATS_FILE_TMPDIR/long
    mkdir "$LONG"
    cd "$LONG"
    voxelize "$DATA/bar.obj" -q -n 9 --enlarge 1 --fill --fix-half-space 1,0,0,0 -o bar.npz
    awk 'BEGIN { for (i = 0; i < 40; i++) { a = 1000 * sin(0.21 * i)
        printf "%.1f,%.1f,surface,1,%.3f,%.3f,%.3f\n", i / 10, (i + 1) / 10, 0.2 * a, a * sin(0.37 * i), a * cos(0.37 * i) } }' > long.csv
    sketchsolve bar.npz --loads long.csv --separation 0 --snapshot-separation 0 -q -o whole.npz
    # The device is full: all loads are solved, nothing is written, and the checkpoint stays.
    ! sketchsolve bar.npz --loads long.csv --separation 0 --snapshot-separation 0 -q --checkpoint all.checkpoint -o /dev/full 2> /dev/null
}

# result_of FILE KEY
result_of() {
    siminfo "$1" | sed -n "s/^\(result\)\{0,1\} *$2 //p"
}

long_run() {
    sketchsolve bar.npz --loads long.csv --separation 0 --snapshot-separation 0 -q "$@"
}

@test "samples, separations and counts" {
    local ending=.npz
    done_well sketchsolve mesh.npz --loads sketch.csv --separation 0 --snapshot-separation 0 -o a.npz
    [ "$(result_of a.npz recorded) $(result_of a.npz selected) $(result_of a.npz solved) $(result_of a.npz failed) $(result_of a.npz snapshots)" = '12 12 12 0 12' ] ||
        fault "$(siminfo a.npz)"
    # the same loads twice: the second half has distance 0 from the first
    awk -F, -v OFS=, 'NR > 1 { print; $1 += 1.2; $2 += 1.2; second = second $0 "\n" } END { printf "%s", second }' sketch.csv > twice.csv
    done_well sketchsolve mesh.npz --loads twice.csv --separation 1e-6 --snapshot-separation 0 -o b.npz
    [ "$(result_of b.npz recorded) $(result_of b.npz selected)" = '24 12' ] || fault "$(siminfo b.npz)"
    done_well sketchsolve mesh.npz --loads sketch.csv --count 5 --snapshot-count 3 -o c.npz
    [ "$(result_of c.npz selected) $(result_of c.npz solved) $(result_of c.npz snapshots)" = '5 5 3' ] || fault "$(siminfo c.npz)"
    done_well sketchsolve mesh.npz --loads sketch.csv --dt 0.3 --separation 0 -o d.npz
    [ "$(result_of d.npz recorded)" = 4 ] || fault "$(siminfo d.npz)"
    done_well sketchsolve mesh.npz --loads sketch.csv --separation 0.3 -o e.npz
    [ "$(result_of e.npz selected)" -lt 12 ] || fault "$(siminfo e.npz)"
    input=sketch.csv done_well sketchsolve mesh.npz --loads - -o f.npz
    done_well masspca mesh.npz a.npz -o basis2.npz
    ending= done_well simverify a.npz mesh.npz
    no_faults
}

@test "small loads: the snapshots are the frames of the linear model" {
    sed -E '2,$s/([0-9.-]+),([0-9.-]+),([0-9.-]+)$/\1e-6,\2e-6,\3e-6/' sketch.csv > small.csv
    sketchsolve mesh.npz --loads small.csv --separation 0 --snapshot-separation 0 -q -o snapshots.npz
    simfull mesh.npz --model linear --integrator static --loads small.csv --dt 0.1 --steps 12 -q -o preview.npz
    "$PYTHON" - <<-'END' || fault 'the shapes are not those of the linear model'
	import array, zipfile
	def numbers(file, start):
	    values = array.array('d')
	    for name in sorted(file.namelist()):
	        if name.startswith(start):
	            data = file.read(name)
	            values.frombytes(data[10 + data[8] + 256 * data[9]:])
	    return values
	shapes, preview = numbers(zipfile.ZipFile('snapshots.npz'), 'U'), numbers(zipfile.ZipFile('preview.npz'), 'u/')
	preview = preview[len(preview) // 13:] # without the frame at rest
	assert len(shapes) == len(preview) > 0
	largest = max(map(abs, preview))
	assert 0 < largest < 1e-6
	assert max(abs(a - b) for a, b in zip(shapes, preview)) < 1e-5 * largest # the next order is the square of about 1e-7
	END
    no_faults
}

@test "refused: no recording, springs, no loads, loads without effect, bodies without fixed vertices" {
    refused 2 '^sketchsolve: no recording was named' sketchsolve mesh.npz -o out.npz
    refused 3 '^sketchsolve: none.csv: cannot open' sketchsolve mesh.npz --loads none.csv -o out.npz
    printf '0,1,vertex,27,0,0,5\n0,1,spring,27,1,1,1,100\n' > spring.csv
    refused 3 '^sketchsolve: spring.csv: load 2 is a spring' sketchsolve mesh.npz --loads spring.csv -o out.npz
    echo t0,t1,kind,id,fx,fy,fz > none.csv
    refused 3 '^sketchsolve: none.csv: it has no loads' sketchsolve mesh.npz --loads none.csv -o out.npz
    echo 0,1,surface,1,0,0,0 > zero.csv
    refused 3 '^sketchsolve: zero.csv: none of its loads moves the mesh' sketchsolve mesh.npz --loads zero.csv -o out.npz
    echo 0,1,vertex,9999,0,0,1 > far.csv
    refused 3 '^sketchsolve: far.csv: line 1: id: ' sketchsolve mesh.npz --loads far.csv -o out.npz
    refused 3 '^sketchsolve: free.npz: it can move freely in 6 ways' sketchsolve free.npz --loads sketch.csv -o out.npz
    refused 2 'pieces of 1e-12 s .* are too many' sketchsolve mesh.npz --loads sketch.csv --dt 1e-12 -o out.npz
    refused 2 '^sketchsolve: --separation: 1.5 is out of range' sketchsolve mesh.npz --loads sketch.csv --separation 1.5 -o out.npz
    no_faults
}

@test "a load that is too large is left out with a warning; if no load is left, the program fails" {
    local ending=.npz
    printf '0,1,surface,1,0,0,1e-3\n1,2,surface,1,0,0,2e-3\n2.5,3,surface,1,0,4e6,2e6\n' > large.csv
    done_well sketchsolve mesh.npz --loads large.csv --iterations 4 --separation 0 --snapshot-separation 0 -o a.npz
    [[ $err == *'the load at t = 2.5 s is left out'* ]] || fault "$err"
    [ "$(result_of a.npz solved) $(result_of a.npz failed) $(result_of a.npz snapshots)" = '2 1 2' ] || fault "$(siminfo a.npz)"
    siminfo a.npz | grep -q '^warning .*2\.5 s' || fault 'the result does not hold the warning'
    # the failure is remembered, too
    try sketchsolve mesh.npz --loads large.csv --iterations 4 --separation 0 --snapshot-separation 0 -q --checkpoint check -o /dev/full
    [ "$code" = 4 ] || fault "a full device: exit $code"
    [ -s check ] || fault 'no checkpoint'
    done_well sketchsolve mesh.npz --loads large.csv --iterations 4 --separation 0 --snapshot-separation 0 --checkpoint check -o b.npz
    same_bytes a.npz b.npz 'with a failure in the checkpoint'
    sed -i '1,2d' large.csv
    refused 5 '^sketchsolve: .*(none of the 1 loads|left out)' sketchsolve mesh.npz --loads large.csv --iterations 4 -q -o out.npz
    no_faults
}

@test "killed at any moment and called again: the same bytes" {
    local round caught=0 number code have=1000
    cd "$LONG"
    RANDOM=4711
    for round in 1 2 3 4 5 6; do
        sketchsolve bar.npz --loads long.csv --separation 0 --snapshot-separation 0 -q --checkpoint run.checkpoint --threads $((1 + round % 2)) -o run.npz 3>&- &
        number=$!
        # each run solves for one load more than the run before at least, however slow the machine is
        while kill -0 $number 2> /dev/null && [ "$(stat -c %s run.checkpoint 2> /dev/null || echo 0)" -le "$have" ]; do
            sleep 0.01
        done
        sleep "0.00$((RANDOM % 10))"
        kill -s KILL $number 2> /dev/null || true
        code=0
        wait $number 2> /dev/null || code=$?
        [ $code = 0 ] || [ $code = 137 ] || fault "round $round: exit $code"
        [ $code = 137 ] && [ -e run.checkpoint ] || break
        have=$(stat -c %s run.checkpoint)
        [ "$have" -le 1000 ] || caught=$((caught + 1))
    done
    long_run --checkpoint run.checkpoint -o run.npz || fault "the last call: exit $?"
    same_bytes whole.npz run.npz "after $round kills"
    [ $caught -gt 0 ] || fault 'no kill met a run that had begun to solve'
    [ ! -e run.checkpoint ] || fault 'the checkpoint stays'
    rm -f .supple-*
    no_faults
}

@test "a checkpoint cut anywhere, as a kill leaves it" {
    local size cut
    cd "$LONG"
    size=$(stat -c %s all.checkpoint)
    [ "$size" -gt 100000 ] || fault "the checkpoint has $size bytes"
    RANDOM=17
    for cut in 0 7 19 20 51 52 53 60 $size $((size - 1)) $((size - 32)) $(((RANDOM * 32768 + RANDOM) % size)) $(((RANDOM * 32768 + RANDOM) % size)); do
        head -c "$cut" all.checkpoint > cut.checkpoint
        long_run --checkpoint cut.checkpoint -o cut.npz || fault "cut at $cut: exit $?"
        same_bytes whole.npz cut.npz "cut at $cut"
        [ ! -e cut.checkpoint ] || fault "cut at $cut: the checkpoint stays"
    done
    no_faults
}

@test "checkpoints of another run, damaged, in use, or no checkpoints at all are refused and left alone" {
    local at size
    cp "$LONG"/{bar.npz,long.csv,all.checkpoint} .
    refused 3 '^sketchsolve: all.checkpoint: it is the checkpoint of another run' sketchsolve bar.npz --loads long.csv --separation 0 --snapshot-separation 0 --tolerance 1e-9 --checkpoint all.checkpoint -o out.npz
    refused 3 '^sketchsolve: all.checkpoint: it is the checkpoint of another run' sketchsolve mesh.npz --loads long.csv --separation 0 --snapshot-separation 0 --checkpoint all.checkpoint -o out.npz
    sed 's/^0.0,/0.01,/' long.csv > other.csv
    refused 3 '^sketchsolve: all.checkpoint: it is the checkpoint of another run' sketchsolve bar.npz --loads other.csv --separation 0 --snapshot-separation 0 --checkpoint all.checkpoint -o out.npz
    refused 3 '^sketchsolve: bar.obj: it is not a checkpoint' sketchsolve bar.npz --loads long.csv --checkpoint bar.obj -o out.npz
    refused 2 '^sketchsolve: bar.npz: the run reads this file' sketchsolve bar.npz --loads long.csv --checkpoint bar.npz -o out.npz
    refused 2 '^sketchsolve: new.npz: two outputs have this name' sketchsolve bar.npz --loads long.csv --checkpoint new.npz -o new.npz
    refused 2 '^sketchsolve: /dev/null: a checkpoint has to be a regular file' sketchsolve bar.npz --loads long.csv --checkpoint /dev/null -o out.npz
    refused 2 '^sketchsolve: --checkpoint: "-"' sketchsolve bar.npz --loads long.csv --checkpoint - -o out.npz
    refused 4 '^sketchsolve: nowhere/check: cannot open' sketchsolve bar.npz --loads long.csv --checkpoint nowhere/check -o out.npz
    size=$(stat -c %s all.checkpoint)
    RANDOM=23
    for at in 0 30 52 60 61 200 $((size - 1)) $((size - 40)) $(((RANDOM * 32768 + RANDOM) % (size / 2))) $(((RANDOM * 32768 + RANDOM) % (size / 2))); do
        cp all.checkpoint damaged.checkpoint
        "$PYTHON" -c 'import sys
with open("damaged.checkpoint", "r+b") as file:
    file.seek(int(sys.argv[1]))
    byte = file.read(1)[0]
    file.seek(int(sys.argv[1]))
    file.write(bytes([byte ^ 0x10]))' "$at"
        cp damaged.checkpoint before
        refused 3 '^sketchsolve: damaged.checkpoint: (it is not a checkpoint|it is the checkpoint of another run|the checkpoint is damaged)' \
            sketchsolve bar.npz --loads long.csv --separation 0 --snapshot-separation 0 -q --checkpoint damaged.checkpoint -o out.npz
        same_bytes before damaged.checkpoint "byte $at"
    done
    flock all.checkpoint sketchsolve bar.npz --loads long.csv --separation 0 --snapshot-separation 0 -q --checkpoint all.checkpoint -o out.npz 2> err && fault 'two wrote to one checkpoint'
    [[ $(< err) == 'sketchsolve: all.checkpoint: another process is writing this checkpoint' ]] || fault "$(< err)"
    no_faults
}
