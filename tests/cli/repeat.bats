#!/usr/bin/env bats
# The same bytes in a second run, for any number of threads, time zone, locale and folder.

load common

# again WHAT TOOL COMMAND…: runs the command with the output again$ending, which must have the bytes of first$ending.
again() {
    local what=$1 tool=$2
    shift 2
    "$@" -q -o "again$ending" 2> err || fault "$tool, $what: $(< err)"
    same_bytes "first$ending" "again$ending" "$tool, $what"
}

# Environment variables by which other programs choose threads, loops and memory. Supple ignores them.
variables=(OMP_NUM_THREADS=2,2 OMP_NESTED=true OMP_MAX_ACTIVE_LEVELS=3 OMP_DYNAMIC=true OMP_SCHEDULE=dynamic,1 OMP_THREAD_LIMIT=5 OMP_PROC_BIND=spread,close
    OPENBLAS_NUM_THREADS=2 GOTO_NUM_THREADS=3 OPENBLAS_DEFAULT_NUM_THREADS=2 OPENBLAS_BLOCK_FACTOR=10 OPENBLAS_L2_SIZE=0x2000080
    MALLOC_PERTURB_=165 MALLOC_ARENA_MAX=1 MALLOC_TOP_PAD_=100000)

setup_file() {
    # a body large enough for several threads
    export BODY=$BATS_FILE_TMPDIR/body
    mkdir "$BODY"
    cd "$BODY"
    source "$BATS_TEST_DIRNAME/data.bash"
    make_models .
    make_pipeline 15 10
    "$PYTHON" "$BATS_TEST_DIRNAME/tensor.py" K.npz hessian.npz
    make_scene "$BATS_TEST_DIRNAME"
}

# every_writer [threads]: repeats the command of every program that writes a file, in every way, or only with other numbers of threads.
every_writer() {
    local tool locale locales count
    locales=$(locale -a 2> /dev/null | grep -i -E '^(de|fr|nl|sv|pl)_.*utf-?8$' | head -n 1 || true)
    for tool in $(tools); do
        command_of "$tool"
        [ -n "$ending" ] || continue
        "${line[@]}" -q -o "first$ending" || fault "$tool: exit $?"
        if [ -z "${1-}" ]; then
            again 'a second run' "$tool" "${line[@]}"
            again 'another time zone' "$tool" env TZ=Asia/Kathmandu "${line[@]}"
            again 'a summer time zone' "$tool" env TZ=America/St_Johns LC_ALL=C.UTF-8 "${line[@]}"
            for locale in $locales; do # a locale with a decimal comma
                again "$locale" "$tool" env LC_ALL="$locale" "${line[@]}"
            done
        fi
        if grep -q -e '--threads N' "$HELP/$tool"; then
            for count in 1 2 4; do
                again "$count threads" "$tool" "${line[@]}" --threads $count
            done
            again 'variables of clusters' "$tool" env "${variables[@]}" "${line[@]}"
        fi
        rm -f again.* first.*
    done
}

@test "small files" {
    every_writer
    no_faults
}

@test "files large enough for threads" {
    takes_long
    cd "$BODY"
    every_writer threads
    no_faults
}

@test "simulate and simfull: every model and integrator with 1, 2 and 4 threads" {
    local how count ending=.npz
    cd "$BODY"
    for how in 'simulate --basis basis.npz --poly poly.npz --integrator energy' 'simulate --basis basis.npz --poly poly.npz --record all' simfull 'simfull --integrator energy' \
        'simfull --lumping lumped --integrator central --dt 1e-4' 'simfull --integrator static' 'simfull --model linear' \
        'simfull --viscosity 300,200' 'simulate --model galerkin --basis basis.npz --viscosity 300,200'; do
        # shellcheck disable=SC2206
        line=($how mesh.npz --loads loads.csv --steps 3)
        "${line[@]}" -q -o first.npz || fault "$how: exit $?"
        for count in 1 2 4; do
            again "$how, $count threads" "${how%% *}" "${line[@]}" --threads $count
        done
        again "$how, variables of clusters" "${how%% *}" env "${variables[@]}" "${line[@]}"
    done
    no_faults
}

@test "sketchsolve, cubature and simulate with variables of clusters, for one thread and three" {
    local how which count ending=.npz
    cd "$BODY"
    for how in 'sketchsolve mesh.npz --loads sketch.csv' 'cubature mesh.npz basis.npz --poses 40' 'simfull mesh.npz --loads loads.csv --steps 3'; do
        # shellcheck disable=SC2206
        line=($how)
        "${line[@]}" -q -o first.npz || fault "$how: exit $?"
        for count in 1 3; do
            again "$how, $count threads" "$how" env "${variables[@]}" "${line[@]}" --threads $count
            again "$how, $count threads, three levels" "$how" env OMP_NUM_THREADS=1,3,2 OMP_THREAD_LIMIT=1 "${line[@]}" --threads $count
        done
    done
    no_faults
}

@test "the folder and the name of the output do not matter" {
    local ending=.npz
    mkdir deep deep/er
    cp -L mesh.npz deep/er/
    modes mesh.npz -q -k 4 -o first.npz
    again 'from another folder' modes modes deep/er/mesh.npz -k 4
    again 'an absolute path' modes modes "$PWD/deep/../mesh.npz" -k 4
    (cd deep/er && modes mesh.npz -q -k 4 -o ../name.npz)
    same_bytes first.npz deep/name.npz 'written elsewhere'
    no_faults
}
