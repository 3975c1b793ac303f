#!/usr/bin/env bats
# scripts/cluster: a sweep over a table of variants by make, GNU parallel, Snakemake and Slurm, with workers that are killed.
# An engine that is not installed (scripts/prepare cluster), or that does not start here, is skipped.

load common

# The table, and the hashes of a run that no engine schedules and that has one shard.
setup_file() {
    export CLUSTER=$SUPPLE_SOURCE/scripts/cluster PLAIN=$BATS_FILE_TMPDIR/plain VOXELS=10
    command -v flock > /dev/null || skip 'no flock'
    command -v gnuplot > /dev/null || skip 'no gnuplot'
    mkdir "$PLAIN"
    cd "$PLAIN" || return
    cp "$CLUSTER/variants.csv" .
    for name in $("$CLUSTER/variant" names); do
        SHARDS=1 "$CLUSTER/variant" basis "$name"
        polycoef "out/$name/mesh.npz" "out/$name/basis.npz" -q -o "out/$name/whole.npz"
        SHARDS=1 "$CLUSTER/variant" shard "$name" 1/1
        SHARDS=1 "$CLUSTER/variant" result "$name"
    done
    "$CLUSTER/variant" table
    for name in $("$CLUSTER/variant" names); do
        cmp "out/$name/poly.npz" "out/$name/whole.npz"
    done
}

setup() {
    faults=
    debug_trap=$(trap -p DEBUG)
    trap - DEBUG
    mkdir "$BATS_TEST_TMPDIR/work" "$BATS_TEST_TMPDIR/programs"
    cd "$BATS_TEST_TMPDIR/work" || return
    cp "$CLUSTER/variants.csv" .
    shopt -s nullglob
    started=()
}

# The daemons of Slurm, newest first.
teardown() {
    local i
    for ((i = ${#started[@]} - 1; i >= 0; i--)); do
        kill "${started[i]}" 2> /dev/null && wait "${started[i]}" 2> /dev/null
    done
    return 0
}

needs() {
    command -v "$1" > /dev/null || skip "no $1 (scripts/prepare cluster)"
}

# sweep ENGINE: ends well, and says nothing of its own.
sweep() {
    "$CLUSTER/run" "$1" 2 > said 2>&1 3>&- || fault "run $1: exit $?: $(tail -n 5 said)"
}

# Every file of the plain run that does not depend on the number of shards is here with the same bytes.
as_plain() {
    local path litter=(out/*/.supple-* out/.supple-*)
    [ ${#litter[@]} = 0 ] || fault "$1: leaves ${litter[*]}"
    for path in "$PLAIN"/out/*/{mesh,modes,derivatives,basis,poly,static}.npz "$PLAIN"/out/*/result.csv "$PLAIN"/out/{table,plot}.csv "$PLAIN"/out/plot.png; do
        [ -f "$path" ] || fault "no $path"
        [ -d "out/$(basename "$(dirname "$path")")" ] || [ "$(dirname "$path")" = "$PLAIN/out" ] || continue
        same_bytes "$path" "out${path#"$PLAIN"/out}" "$1"
    done
}

# Nothing is made again: files that would be replaced have another inode.
files_now() {
    ls -i out/*/*.npz
}

descendants() {
    local child
    for child in $(cat /proc/"$1"/task/*/children 2> /dev/null); do
        echo "$child"
        descendants "$child"
    done
}

# substitute PROGRAM TEXT: a program of this name that runs the text (sh) in the place of the real one, whose path is $real.
substitute() {
    printf '#!/bin/sh\nreal=%s\n%s\n' "$(command -v "$1")" "$2" > "$BATS_TEST_TMPDIR/programs/$1"
    chmod +x "$BATS_TEST_TMPDIR/programs/$1"
}

# The processes of jobs: they work in the folder of results. $1 is a part of their command line.
workers_of() {
    local link
    for link in /proc/[0-9]*/cwd; do
        [[ $(readlink "$link") != "$PWD/out" ]] || ! grep -qa "$1" "${link%cwd}cmdline" || basename "${link%/cwd}"
    done
}

# kill_among PROCESS…: kills one of the descendants of these processes, chosen at random; fails if there is none.
kill_among() {
    local list parent
    mapfile -t list < <(for parent; do descendants "$parent"; done)
    [ ${#list[@]} -gt 0 ] && kill -s KILL "${list[RANDOM % ${#list[@]}]}" 2> /dev/null
}

# killed ENGINE COUNT: starts the workflow until COUNT of its processes were killed at random moments, or as many as 20 starts hit; the
# last start ends well.
killed() {
    local kills=0 starts=0 number before
    RANDOM=30
    while [ $kills -lt "$2" ] && [ $((starts += 1)) -le 20 ]; do
        "$CLUSTER/run" "$1" 2 > said 2>&1 3>&- &
        number=$!
        sleep $((RANDOM % ${pause:-2})).$((RANDOM % 10))$((RANDOM % 10))
        ! kill_among $number || kills=$((kills + 1))
        wait $number || true
    done
    [ $kills -gt 0 ] || fault "none was killed in $starts starts"
    sweep "$1"
    as_plain "$1, killed $kills times"
    before=$(files_now)
    sweep "$1"
    [ "$before" = "$(files_now)" ] || fault "$1: makes files again that are up to date"
    no_faults
}

@test "a sweep by make, killed" {
    takes_long
    needs make
    killed make 4
}

@test "a sweep by GNU parallel, killed" {
    needs parallel
    killed parallel 4
}

@test "a sweep by Snakemake, killed" {
    needs snakemake
    export XDG_CACHE_HOME=$BATS_TEST_TMPDIR/cache
    pause=4 killed snakemake 2
}

# block FIRST: the lines of README.md from the one that begins with FIRST to the end of its block, for fewer and shorter motions.
block() {
    awk -v first="$1" 'index($0, first) == 1 { found = 1 } /^```/ { found = 0 } found' "$CLUSTER/README.md" |
        sed 's/--motions 100000/--motions 40/; s/--steps 500/--steps 5/'
}

@test "an ensemble in shards, as README.md has it" {
    needs parallel
    needs snakemake
    export XDG_CACHE_HOME=$BATS_TEST_TMPDIR/cache
    local name
    name=$("$CLUSTER/variant" names | head -n 1)
    cp "$PLAIN/out/$name/mesh.npz" spoon.npz
    cp "$PLAIN/out/$name"/{basis,poly}.npz .
    echo '0,0.1,all,,0,0,-1' > pull.csv
    printf 'fz:1\nnormal(-2, 1)\n' > pulls.csv
    simbatch spoon.npz --basis basis.npz --poly poly.npz --loads pull.csv --table pulls.csv --motions 40 --dt 0.01 --steps 5 -q -o whole.npz

    block 'seq 16' > by-parallel
    bash -eu by-parallel > said 2>&1 3>&- || fault "parallel: $(tail -n 5 said)"
    cmp pulls.npz whole.npz || fault 'by GNU parallel'

    rm -f part*.npz pulls.npz
    block 'model = ' > Snakefile
    snakemake --cores 2 --nolock > said 2>&1 3>&- || fault "snakemake: $(tail -n 5 said)"
    cmp pulls.npz whole.npz || fault 'by Snakemake'
    no_faults
}

free_ports() {
    "$PYTHON" -c 'import socket
sockets = [socket.socket() for _ in range(2)]
for s in sockets:
    s.bind(("127.0.0.1", 0))
print(*[s.getsockname()[1] for s in sockets])'
}

# begin NAME COMMAND…: a daemon, whose messages go to NAME.out.
begin() {
    local name=$1
    shift
    "$@" > "$slurm/$name.out" 2>&1 3>&- &
    started+=($!)
}

# A cluster of this machine alone, at free ports of the loopback address, with everything in a folder of its own.
start_slurm() {
    local control node i
    for i in munged slurmctld slurmd sbatch sinfo; do
        needs $i
    done
    [ "$(id -u)" = 0 ] || skip 'Slurm: the daemons are started by root only'
    slurm=$BATS_TEST_TMPDIR/slurm
    mkdir -p "$slurm/state" "$slurm/spool"
    chmod 700 "$slurm"
    read -r control node <<< "$(free_ports)"
    head -c 1024 /dev/urandom > "$slurm/key"
    chmod 600 "$slurm/key"
    cat > "$slurm/slurm.conf" <<-END
	ClusterName=test
	SlurmctldHost=localhost(127.0.0.1)
	SlurmUser=root
	SlurmdUser=root
	SlurmctldPort=$control
	SlurmdPort=$node
	AuthType=auth/munge
	CredType=cred/munge
	AuthInfo=socket=$slurm/munge.socket
	StateSaveLocation=$slurm/state
	SlurmdSpoolDir=$slurm/spool
	SlurmctldPidFile=$slurm/slurmctld.pid
	SlurmdPidFile=$slurm/slurmd.pid
	ProctrackType=proctrack/pgid
	TaskPlugin=task/none
	JobAcctGatherType=jobacct_gather/none
	AccountingStorageType=accounting_storage/none
	SwitchType=switch/none
	MpiDefault=none
	SelectType=select/cons_tres
	SelectTypeParameters=CR_CPU
	ReturnToService=2
	SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0
	SlurmdParameters=config_overrides
	NodeName=localhost NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
	PartitionName=all Nodes=localhost Default=YES MaxTime=INFINITE State=UP
	END
    export SLURM_CONF=$slurm/slurm.conf
    begin munged munged --foreground --force --key-file="$slurm/key" --socket="$slurm/munge.socket" --pid-file="$slurm/munged.pid" --log-file="$slurm/munged.log" \
        --seed-file="$slurm/munge.seed"
    for ((i = 0; i < 100; i++)); do
        [ ! -S "$slurm/munge.socket" ] || break
        sleep 0.1
    done
    begin slurmctld slurmctld -D
    begin slurmd slurmd -D -N localhost
    for ((i = 0; i < 200; i++)); do
        [[ $(sinfo -h -o %t 2> /dev/null) != idle ]] || return 0
        sleep 0.1
    done
    skip "Slurm does not start here: $(grep -hE 'fatal|error' "$slurm"/*.out | tail -n 1)"
}

@test "a sweep by Slurm, killed" {
    start_slurm
    sed -i 4,5d variants.csv # two variants: each job takes Slurm a second
    substitute polycoef 'sleep 1; exec "$real" "$@"' # long enough to meet it
    PATH=$BATS_TEST_TMPDIR/programs:$PATH "$CLUSTER/run" slurm > said 2>&1 3>&- &
    local number=$! i kills=0 workers
    RANDOM=30
    while [ $kills = 0 ] && kill -0 $number 2> /dev/null; do
        sleep 0.0$((RANDOM % 10))
        mapfile -t workers < <(workers_of polycoef)
        [ ${#workers[@]} = 0 ] || ! kill -s KILL "${workers[RANDOM % ${#workers[@]}]}" 2> /dev/null || kills=1
    done
    wait $number || true
    [ $kills = 1 ] || fault "no job was killed: $(< said)"
    sweep slurm
    for i in out/thin-*/{poly,static}.npz out/thin-*/result.csv; do
        same_bytes "$PLAIN/$i" "$i" 'Slurm'
    done
    [ "$(head -n 3 "$PLAIN/out/table.csv")" = "$(cat out/table.csv)" ] || fault "$(cat out/table.csv)"
    no_faults
}

@test "a job that fails half-way: one line, nothing lost, and a second start finishes the work" {
    needs make
    substitute polycoef 'case $* in *thin-steel*2/3*) echo "polycoef: the disk is full" >&2; exit 4 ;; esac; exec "$real" "$@"'
    local before
    code=0
    PATH=$BATS_TEST_TMPDIR/programs:$PATH make --no-print-directory -k -f "$CLUSTER/Makefile" > said 2>&1 || code=$?
    [ $code = 2 ] || fault "exit $code"
    [ "$(grep -v '^make' said)" = 'polycoef: the disk is full' ] || fault "$(< said)"
    [ -f out/thick-steel/static.npz ] && [ ! -e out/thin-steel/poly-2-of-3.npz ] && [ ! -e out/table.csv ] || fault 'not what was to be made'
    before=$(files_now | grep -v thin-steel)
    sweep make
    [ "$before" = "$(files_now | grep -v thin-steel)" ] || fault 'other variants are made again'
    as_plain 'the second start'
    no_faults
}

@test "two workers that write the same file: the second waits, and makes nothing again" {
    needs make
    substitute polycoef 'echo . >> "$OUT_OF_HERE"; sleep 1; exec "$real" "$@"'
    export OUT_OF_HERE=$PWD/calls
    PATH=$BATS_TEST_TMPDIR/programs:$PATH "$CLUSTER/run" make 12 > first 2>&1 3>&- &
    PATH=$BATS_TEST_TMPDIR/programs:$PATH "$CLUSTER/run" make 12 > second 2>&1 || fault "$(< second)"
    wait $! || fault "$(< first)"
    grep -hqE '^variant: [a-z-]+: another worker makes [a-z0-9.-]+\.npz: waiting for it$' first second || fault "nobody waited: $(cat first second)"
    [ "$(wc -l < calls)" = 12 ] || fault "$(wc -l < calls) runs of polycoef make 12 shards"
    as_plain 'two at a time'
    no_faults
}

@test "changed rows, inputs and shards that were cut" {
    needs make
    sweep make
    local before
    # dates alone change nothing
    touch out/*/mesh.npz variants.csv
    before=$(files_now)
    sweep make
    [ "$before" = "$(files_now)" ] || fault 'dates matter'
    # another load: only its equilibrium
    sed -i 's/^\(thin-steel,.*\),400/\1,800/' variants.csv
    before=$(files_now | grep -v thin-steel/static.npz)
    sweep make
    [ "$before" = "$(files_now | grep -v thin-steel/static.npz)" ] || fault 'another load changes more than the equilibrium'
    ! cmp -s "$PLAIN/out/table.csv" out/table.csv || fault 'another load changes nothing'
    [ "$(grep '^variant' said)" = 'variant: E = 210 GPa; 800 N: one thickness only, left out of the plot
variant: E = 210 GPa; 400 N: one thickness only, left out of the plot' ] || fault "$(< said)"
    # the table alone says that a result is of another row
    sed -i 's/^\(thin-steel,.*\),800/\1,400/' variants.csv
    try "$CLUSTER/variant" table
    [ $code = 3 ] && [[ $err == 'variant: thin-steel: its result is of another row'* ]] || fault "$code: $err"
    # a shard that was cut, the merged file that is missing, a mesh of another content
    head -c 700 out/thin-steel/poly-2-of-3.npz > part && mv part out/thin-steel/poly-2-of-3.npz
    rm out/thin-steel/poly.npz
    cp out/thick-steel/mesh.npz out/thick-aluminium/mesh.npz
    sweep make
    [[ $(< said) =~ ^'siminfo: thin-steel/poly-2-of-3.npz: '[^$'\n']*$ ]] || fault "a cut shard: $(< said)"
    as_plain 'after the cut'
    no_faults
}

@test "tables and calls that make no sense, and an engine that is not installed" {
    says() { # CODE PATTERN COMMAND…
        local want=$1 pattern=$2
        shift 2
        try "$@"
        [ "$code" = "$want" ] && [ ${#lines[@]} = 1 ] && [[ $err =~ $pattern ]] || fault "$*: exit $code: $err"
    }
    local link
    says 2 '^variant: usage: ' "$CLUSTER/variant" basis
    says 2 '^run: usage: ' "$CLUSTER/run" cron
    says 2 '^run: JOBS is "x"' "$CLUSTER/run" make x
    says 2 '^variant: SHARDS is "0"' env SHARDS=0 "$CLUSTER/variant" shards
    says 2 '^variant: variants.csv: there is no variant wood$' "$CLUSTER/variant" basis wood
    says 3 '^variant: wood: there is no basis: run "variant basis wood" first$' "$CLUSTER/variant" shard wood 1/3
    says 3 '^variant: none.csv: no such table' env TABLE=none.csv "$CLUSTER/variant" names
    says 3 '^variant: thin-aluminium: there is no result: run "variant result thin-aluminium" first$' "$CLUSTER/variant" table
    while IFS='|' read -r change pattern; do
        sed "$change" "$CLUSTER/variants.csv" > bad.csv
        says 3 "^variant: bad.csv: $pattern" env TABLE=bad.csv "$CLUSTER/variant" names
        ! command -v parallel > /dev/null || says 3 "^variant: bad.csv: $pattern" env TABLE=bad.csv "$CLUSTER/run" parallel
    done <<-'END'
	3s/0.01/thin/|line 3: thickness is "thin"; a number above 0 is expected
	3s/210e9/-1/|line 3: modulus is "-1"; a number above 0 is expected
	3s/0.01/0.06/|line 3: thickness is 0.06 m; the bracket is 0.06 m high
	3s/,400//|line 3: it has 3 fields, and the first line has 4
	3s/steel/aluminium/|line 3: the name thin-aluminium is in line 2 too
	3s/thin-steel/../|line 3: name is "\.\."; letters
	1s/modulus/E/|line 1: there is no column modulus
	2,5d|no variants
	END
    # a PATH with the programs that the script needs, and no engine
    for link in sh dirname nproc cat; do
        ln -s "$(command -v $link)" "$BATS_TEST_TMPDIR/programs/$link"
    done
    for link in make parallel snakemake slurm; do
        says 4 '^run: [a-z]+ is not installed: scripts/prepare cluster installs it$' env PATH="$BATS_TEST_TMPDIR/programs" "$CLUSTER/run" $link
    done
    no_faults
}

@test "the commands of scripts/cluster/README.md run as printed" {
    local engine
    for engine in make parallel snakemake; do
        needs $engine
    done
    export XDG_CACHE_HOME=$BATS_TEST_TMPDIR/cache
    mkdir scripts
    cp -r "$CLUSTER" scripts
    rm variants.csv
    "$SUPPLE_SOURCE/scripts/commands" "$SUPPLE_SOURCE/scripts/cluster/README.md" > commands
    [ "$(wc -l < commands)" = 7 ] || fault "$(cat commands)"
    bash -euo pipefail commands > said 2>&1 3>&- || fault "$(tail -n 5 said)"
    as_plain 'README.md'
    no_faults
}
