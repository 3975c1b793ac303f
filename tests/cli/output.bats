#!/usr/bin/env bats
# Outputs: pipes, devices, links and odd names, outputs that cannot be written, and programs that are killed.

load common

# The programs that write a file.
writers() {
    local tool
    for tool in $(tools); do
        command_of "$tool"
        [ -z "$ending" ] || echo "$tool"
    done
}

@test "-o - writes the bytes of the file" {
    local tool
    for tool in $(writers); do
        command_of "$tool"
        [ "$tool" != simexport ] || line+=(--to csv) # without a file name the format cannot be inferred
        "${line[@]}" -q -o "a$ending" || fault "$tool: exit $?"
        "${line[@]}" -q -o - > b 2> err || fault "$tool -o -: exit $?: $(< err)"
        "${line[@]}" -q -o - 2> err | cat > c || fault "$tool -o - |: $(< err)"
        same_bytes "a$ending" b "$tool"
        same_bytes "a$ending" c "$tool through a pipe"
        no_litter "$tool"
        rm -f "a$ending"
    done
    no_faults
}

@test "a pipeline equals its files" {
    # The only difference is the name under which an input is recorded: that of standard input.
    voxelize bar.obj -q -n 6 --enlarge 1 --fill --fix-half-space 1,0,0,0 -o - | modes - -q -k 4 -o - > a.npz
    modes - -q -k 4 -o b.npz < mesh.npz
    same_bytes a.npz b.npz modes
    modes mesh.npz -q -k 4 -o - | modalderiv mesh.npz - -q -o - | masspca mesh.npz modes.npz - -q -r 6 -o - | polycoef mesh.npz - -q -o - > c.npz
    polycoef mesh.npz - -q -o d.npz < basis.npz
    "$PYTHON" - a.npz modes.npz c.npz poly.npz <<-'END' || fault 'the pipeline has other numbers than its files'
	import sys, zipfile
	for one, two in zip(sys.argv[1::2], sys.argv[2::2]):
	    a, b = zipfile.ZipFile(one), zipfile.ZipFile(two)
	    assert a.namelist() == b.namelist()
	    for name in a.namelist()[1:-1]:
	        assert a.read(name) == b.read(name), name
	END
    polycoef mesh.npz - -q -o - < basis.npz | simulate mesh.npz -q --basis basis.npz --poly - --loads loads.csv --dt 0.01 --steps 20 -o e.npz
    simulate mesh.npz -q --basis basis.npz --poly - --loads loads.csv --dt 0.01 --steps 20 -o f.npz < d.npz
    same_bytes e.npz f.npz simulate
    simulate mesh.npz -q --basis basis.npz --poly poly.npz --loads - --dt 0.01 --steps 20 -o g.npz < loads.csv
    simulate mesh.npz -q --basis basis.npz --poly poly.npz --loads loads.csv --dt 0.01 --steps 20 -o - | masspca mesh.npz - -q -o h.npz 2> err && fault 'masspca took a trajectory without displacements'
    [[ $(< err) == 'masspca: standard input: '* ]] || fault "$(< err)"
    simfull mesh.npz -q --gravity 0,0,-9.81 --dt 0.01 --steps 4 -o - | masspca mesh.npz - -q -r 2 -o i.npz || fault 'masspca: a trajectory on standard input'
    no_faults
}

@test "process substitution: inputs that are pipes with a name" {
    modes <(cat mesh.npz) -q -k 4 -o a.npz || fault modes
    masspca <(cat mesh.npz) <(cat modes.npz) <(cat deriv.npz) -q -r 6 -o b.npz || fault masspca
    masspca mesh.npz <(cat full.npz) -q -r 2 -o c.npz || fault 'masspca: a trajectory'
    cubature <(cat mesh.npz) <(cat basis.npz) <(cat training.npz) <(cat traj.npz) -q -o g.npz || fault cubature
    simmerge <(cat training.npz) -q -o h.npz || fault simmerge
    simulate <(cat mesh.npz) --basis <(cat basis.npz) --poly <(cat poly.npz) --loads <(cat loads.csv) -q -o d.npz || fault simulate
    voxelize <(cat bar.obj) -q -n 4 -o e.npz 2> err || [[ $(< err) == *'not known'* || $(< err) == *'ending'* ]] || fault "voxelize: $(< err)"
    no_faults
}

@test "standard input only once" {
    input=mesh.npz
    refused 2 'standard input \(-\) can be read only once' modalderiv - - -o out.npz
    refused 2 'standard input \(-\) can be read only once' simulate - --basis - --poly poly.npz -o out.npz
    input=/dev/null
    refused 3 '^modes: standard input: ' modes - -o out.npz
    no_faults
}

@test "/dev/full" {
    local tool
    for tool in $(writers); do
        command_of "$tool"
        [ "$tool" != simexport ] || line+=(--to csv)
        refused 4 '/dev/full: cannot write: No space left on device|/dev/full: .*No space' "${line[@]}" -q -o /dev/full
        code=0
        "${line[@]}" -q -o - > /dev/full 2> err || code=$?
        [ $code = 4 ] || fault "$tool -o - > /dev/full: exit $code"
        [ "$(wc -l < err)" = 1 ] || fault "$tool -o - > /dev/full: $(< err)"
        rm -f err
    done
    refused 4 '/dev/full: ' modes mesh.npz -q -k 4 --write-mass /dev/full -o out.npz
    no_faults
}

@test "a limit on the size of files" {
    local tool
    for tool in $(writers); do
        command_of "$tool"
        limited() { # the message goes through a pipe, which has no limit
            (
                ulimit -f 0
                "$@" 2>&1 > /dev/null
            ) | cat >&2
            return "${PIPESTATUS[0]}"
        }
        refused 4 "^$tool: out\\$ending: " limited "${line[@]}" -q -o "out$ending"
    done
    faults=$(grep -v 'does not begin with the tool' <<< "$faults" || true) # the name of the command is "limited" here
    no_faults
}

@test "a closed standard output, a reader that goes away" {
    local tool
    for tool in $(writers); do
        command_of "$tool"
        [ "$tool" != simexport ] || line+=(--to csv)
        code=0
        "${line[@]}" -q -o - >&- 2> err || code=$?
        [ $code = 4 ] || fault "$tool -o - >&-: exit $code $(< err)"
        code=0
        { "${line[@]}" -q -o - 2> err || echo $? > status; } | true
        [ ! -e status ] || [ "$(< status)" = 4 ] || fault "$tool -o - | true: exit $(< status)"
        rm -f status
        # other programs are not affected
        "${line[@]}" -q -o "a$ending" >&- <&- 2> err || fault "$tool >&- <&-: $(< err)"
        rm -f "a$ending"
    done
    code=0
    modes --help >&- 2> err || code=$?
    [ $code = 4 ] || fault "modes --help >&-: exit $code"
    code=0
    modes - -o a.npz <&- 2> err || code=$?
    [ $code = 4 ] || fault "modes - <&-: exit $code: $(< err)"
    no_faults
}

@test "odd names, spaces and missing folders" {
    mkdir 'a folder' locked
    ending=.npz
    done_well modes mesh.npz -q -k 4 -o 'a folder/a file.npz'
    same_bytes 'a folder/a file.npz' modes.npz modes
    done_well modes 'a folder/../mesh.npz' -q -k 4 -o 'a folder/émodes*?"$.npz'
    same_bytes 'a folder/émodes*?"$.npz' modes.npz modes
    [ "$(ls -A 'a folder' | wc -l)" = 2 ] || fault "litter: $(ls -A 'a folder')"
    cp mesh.npz 'a mesh é.npz'
    done_well modes 'a mesh é.npz' -q -k 4 -o e.npz
    cp mesh.npz $'bad \xff name.npz'
    done_well modes $'bad \xff name.npz' -q -k 4 -o f.npz
    refused 4 '^modes: none/x.npz: cannot write: No such file or directory' modes mesh.npz -q -k 4 -o none/x.npz
    refused 4 '^modes: a folder: cannot write: Is a directory' modes mesh.npz -q -k 4 -o 'a folder'
    refused 4 '^modes: mesh.npz/x: cannot write: Not a directory' modes mesh.npz -q -k 4 -o mesh.npz/x
    chmod 500 locked
    [ "$(id -u)" = 0 ] || refused 4 '^modes: locked/x.npz: cannot write: Permission denied' modes mesh.npz -q -k 4 -o locked/x.npz
    no_faults
}

@test "links stay links, and permissions follow the umask" {
    local ending=.npz
    mkdir folder
    echo old > folder/target.npz
    ln -s folder/target.npz link.npz
    done_well modes mesh.npz -q -k 4 -o link.npz
    [ -L link.npz ] || fault 'the link was replaced'
    same_bytes folder/target.npz modes.npz modes
    [ "$(ls -A folder)" = target.npz ] || fault "litter: $(ls -A folder)"
    ln -s folder/new.npz dangling.npz
    done_well modes mesh.npz -q -k 4 -o dangling.npz
    same_bytes dangling.npz modes.npz modes
    [ -L dangling.npz ] || fault 'the dangling link was replaced'
    (umask 027 && modes mesh.npz -q -k 4 -o rights.npz)
    [ "$(stat -c %a rights.npz)" = 640 ] || fault "rights $(stat -c %a rights.npz)"
    no_faults
}

@test "an output that replaces a file keeps its permissions" {
    local ending=.npz
    echo old > rights.npz
    chmod 600 rights.npz
    done_well modes mesh.npz -q -k 4 -o rights.npz
    [ "$(stat -c %a rights.npz)" = 600 ] || fault "rights $(stat -c %a rights.npz)"
    no_faults
}

@test "a link that another user left in a folder for everyone is not followed" {
    [ "$(id -u)" = 0 ] || skip 'needs root, to make a link of another user'
    mkdir sticky
    chmod 1777 sticky
    echo old > victim
    ln -s ../victim sticky/link.npz
    chown -h 12345 sticky/link.npz
    refused 4 '^modes: sticky/link.npz: cannot write through the symbolic link of another user in sticky, a folder' modes mesh.npz -q -k 4 -o sticky/link.npz
    [ "$(< victim)" = old ] || fault 'the file behind the link was changed'
    no_faults
}

# Makes a library in which the n-th call of rename or fsync fails, and write from the n-th call on, as on a full disk. `failing CALL N COMMAND…` runs
# a command with it.
make_failing() {
    command -v cc > /dev/null || skip 'no compiler'
    cat > "$BATS_TEST_TMPDIR/fail.c" <<-'END'
	#define _GNU_SOURCE
	#include <dlfcn.h>
	#include <errno.h>
	#include <stdbool.h>
	#include <stdlib.h>
	#include <string.h>
	#include <unistd.h>
	static bool fails(const char *name, bool from, int error)
	{
	    static int calls;
	    const char *call = getenv("FAIL_CALL");
	    if (!call || strcmp(call, name) != 0)
	        return false;
	    int number = atoi(getenv("FAIL_NUMBER"));
	    errno = error;
	    return ++calls == number || (from && calls > number);
	}
	int rename(const char *from, const char *to)
	{
	    int (*real)(const char *, const char *) = (int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename");
	    return fails("rename", false, EIO) ? -1 : real(from, to);
	}
	int fsync(int descriptor)
	{
	    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
	    return fails("fsync", false, EIO) ? -1 : real(descriptor);
	}
	ssize_t write(int descriptor, const void *bytes, size_t count)
	{
	    ssize_t (*real)(int, const void *, size_t) = (ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
	    return descriptor > 2 && fails("write", true, ENOSPC) ? -1 : real(descriptor, bytes, count);
	}
	END
    cc -shared -fPIC -o "$BATS_TEST_TMPDIR/fail.so" "$BATS_TEST_TMPDIR/fail.c"
}

failing() {
    local call=$1 number=$2
    shift 2
    FAIL_CALL=$call FAIL_NUMBER=$number LD_PRELOAD=$BATS_TEST_TMPDIR/fail.so "$@"
}

# fails_whole CALL STEP OLD… -- COMMAND…: lets call 1, 1 + STEP, … fail until the command succeeds. Every failure has exit code 4 and one line, the
# old files
# still hold "old", and there are no other files.
fails_whole() {
    local call=$1 step=$2 number=1 files=() before file failures=0
    shift 2
    while [ "$1" != -- ]; do
        files+=("$1")
        shift
    done
    shift
    for ((number = 1; number < 1000; number += step)); do
        for file in "${files[@]}"; do
            echo old > "$file"
        done
        before=$(ls -A)
        code=0
        failing "$call" $number "$@" 2> "$BATS_TEST_TMPDIR/said" || code=$?
        [ $code = 4 ] || break
        failures=$((failures + 1))
        [ "$(wc -l < "$BATS_TEST_TMPDIR/said")" = 1 ] || fault "$call $number: $(< "$BATS_TEST_TMPDIR/said")"
        [ "$(ls -A)" = "$before" ] || fault "$call $number: the folder was $before and is $(ls -A)"
        for file in "${files[@]}"; do
            [ "$(head -c 10 "$file")" = old ] || fault "$call $number: $file is new"
        done
    done
    [ $code = 0 ] || fault "$call $number: exit $code: $(< "$BATS_TEST_TMPDIR/said")"
    [ $failures -gt 1 ] || fault "$call: $failures calls failed"
}

@test "a failing synchronization of files and folders changes no output" {
    needs_plain_build "they have to be loaded first"
    make_failing
    mkdir there
    fails_whole fsync 1 out.npz out-K.npz there/M.npz -- modes mesh.npz -q -k 4 --write-stiffness out-K.npz --write-mass there/M.npz -o out.npz
    fails_whole fsync 1 out.csv -- simexport mesh.npz basis.npz traj.npz --probe 30 -q -o out.csv
    fails_whole fsync 1 out.c out.h -- simexport mesh.npz basis.npz poly.npz -q -o out.c
    fails_whole fsync 1 out.glb -- simexport mesh.npz basis.npz traj.npz -q -o out.glb
    no_faults
}

# formats: lines ENDING COMMAND, without -o, of every format of simexport and of the other programs that write no archives.
formats() {
    echo '.csv simexport mesh.npz basis.npz traj.npz --probe 30
	.csv simexport mesh.npz basis.npz --to gram
	.obj simexport mesh.npz basis.npz traj.npz --frames 20
	.vtu simexport mesh.npz basis.npz
	.pvd simexport mesh.npz basis.npz traj.npz --frames 0-20 --every 10
	.pvd simexport scene.json motion.npz --frames 0
	.ply simexport shell.npz
	.obj simexport shell.npz
	.obj simexport field.npz --level 0
	.mtx simexport K.npz
	.npy simexport basis.npz
	.U simexport basis.npz
	.cub simexport poly.npz
	.msh simexport mesh.npz
	.mesh simexport mesh.npz
	.node simexport tets.npz
	.vtk simexport mesh.npz
	.inp simexport mesh.npz
	.veg simexport mesh.npz
	.c simexport mesh.npz basis.npz poly.npz
	.fmu simexport mesh.npz basis.npz poly.npz --sources-only
	.glb simexport mesh.npz basis.npz traj.npz
	.usda simexport mesh.npz basis.npz traj.npz
	.glb simexport scene.json motion.npz
	.csv simexport curve.npz
	.dsp simsound mesh.npz modes.npz --listener 0,5,0 --strike 30:0,0,1
	.png simrender mesh.npz'
    ! has page || echo '.html simexport mesh.npz basis.npz traj.npz'
}

@test "on a full disk the message names the file, in every format" {
    needs_plain_build "they have to be loaded first"
    local ending line
    make_failing
    voxelize bar.obj -q -n 4 --tetrahedra -o tets.npz
    while read -r ending line; do
        # shellcheck disable=SC2086
        refused 4 "^${line%% *}: full[a-z_0-9]*\\.[a-zA-Z]+: .*No space left on device" failing write 1 $line -q -o "full$ending"
    done < <(formats)
    faults=$(grep -v 'does not begin with the tool' <<< "$faults" || true) # the name of the command is "failing" here
    # serve: the log is written by a thread with messages of its own
    try failing write 1 simserve scene.json --udp 0 --steps 50 -q --record full.npz
    [ "$code" = 4 ] && [[ $err == 'simserve: full.npz: '*'No space left on device' ]] || fault "simserve: exit $code: $err"
    no_faults
}

@test "a full disk changes no frame of a series" {
    needs_plain_build "they have to be loaded first"
    make_failing
    fails_whole write 3 f.pvd f_0000.vtu f_0001.vtu f_0002.vtu -- simexport mesh.npz full.npz --every 2 -q -o f.pvd
    rm f*
    fails_whole write 3 m.pvd m_0000.vtu m_0001.vtu contacts_m.pvd contacts_m_0000.vtu contacts_m_0001.vtu -- simexport scene.json motion.npz --frames 0-1 -q -o m.pvd
    fails_whole write 1 m.usda -- simexport scene.json motion.npz -q -o m.usda
    no_faults
}

@test "several outputs: if a rename fails, all old files are restored" {
    needs_plain_build "they have to be loaded first"
    local number old
    make_failing
    for number in 1 2 3; do
        for old in out.npz out-K.npz; do
            echo old > $old
        done
        code=0 # out-M.npz does not exist before
        failing rename $number modes mesh.npz -q -k 4 --write-stiffness out-K.npz --write-mass out-M.npz -o out.npz 2> err || code=$?
        [ $code = 4 ] || fault "rename $number: exit $code"
        [ "$(wc -l < err)" = 1 ] || fault "rename $number: $(< err)"
        [ "$(< out.npz)$(< out-K.npz)" = oldold ] || fault "rename $number: an old file was replaced"
        [ ! -e out-M.npz ] || fault "rename $number: out-M.npz stays"
        no_litter "rename $number"
    done
    no_faults
}

@test "a named pipe as output" {
    mkfifo pipe
    cat pipe > a.npz &
    timeout 20 modes mesh.npz -q -k 4 -o pipe || fault "exit $?"
    wait
    [ -p pipe ] || fault 'the pipe was replaced'
    same_bytes a.npz modes.npz modes
    no_faults
}

# What a program would do with the files does not matter: the command line is judged first. An option of the completion that names files is
# either read or written; where it names the output of -o, it is refused in both cases.
@test "no file of the command line is read and written, or written twice: every option of every program" {
    local tool name times kind endings value count=0 written=()
    ln out.npz link.npz
    mkdir folder
    for tool in $(tools); do
        while read -r name times kind endings; do
            case $kind in
            files) value= ;;
            keyed) value=key= ;;
            *) continue ;;
            esac
            name=${name%%,*}
            if [ "$name" != --output ]; then
                try "$tool" out.npz "$name=$value./link.npz" # written or read?
                [[ $code != 2 || $err != "$tool: "*': the run reads this file and would replace it: name another file for the output' ]] || written+=("$tool$name")
            fi
            [[ $'\n'$(options_of "$tool") == *$'\noutput '* ]] || continue
            count=$((count + 1))
            if [ "$name" = --output ]; then
                refused 2 "^$tool: folder/../out.npz: the run reads this file and would replace it" "$tool" out.npz -o folder/../out.npz
                refused 2 "^$tool: link.npz: the run reads this file and would replace it" "$tool" out.npz -o link.npz
            else
                refused 2 'the run reads this file and would replace it|two outputs have this name' "$tool" input "$name=${value}out.npz" -o ./out.npz
                refused 2 'the run reads this file and would replace it|two outputs have this name|cannot open' "$tool" input "$name=${value}none.npz" -o ./none.npz
            fi
        done < <("$tool" --completion bash | sed -n "/<< 'END'/,/^END/{/^--/p;}")
    done
    sanitized || [ $count -gt 60 ] || fault "only $count options that name files were found"
    sanitized || [ "${written[*]}" = 'cubature--checkpoint modes--derivatives modes--write-stiffness modes--write-mass simbatch--checkpoint simcompare--csv simcurve--csv simcurve--checkpoint simfull--joints simfull--reactions simfull--checkpoint simscene--timings simscene--checkpoint simserve--record simskin--write-fixed simsound--spectrogram simulate--reactions simulate--checkpoint simvalidate--csv sketchsolve--checkpoint' ] || fault "written: ${written[*]}"
    no_faults
}

@test "a file that an input names, standard input and frames of a series are not replaced" {
    refused 2 '^simserve: bar.obj: the run reads this file and would replace it' simserve scene.json --udp 0 --steps 3 --record bar.obj
    refused 2 '^simscene: basis.npz: the run reads this file and would replace it' simscene scene.json --steps 3 -o basis.npz
    refused 2 '^simscene: basis.npz: the run reads this file and would replace it' simscene scene.json --steps 3 --timings basis.npz -o out.npz
    input=mesh.npz refused 2 '^modes: mesh.npz: the run reads this file and would replace it' modes - -k 4 -o mesh.npz
    cp full.npz f_0000.vtu
    refused 2 '^simexport: f_0000.vtu: the run reads this file and would replace it' simexport mesh.npz f_0000.vtu -q -o f.pvd
    no_faults
}

@test "two outputs with the same name" {
    refused 2 '' modes mesh.npz -q -k 4 --write-mass x.npz --write-stiffness x.npz -o out.npz
    refused 2 '' modes mesh.npz -q -k 4 --write-mass out.npz -o out.npz
    no_faults
}

@test "a failure after the first of several outputs changes none of them" {
    echo old > K.out
    refused 2 'the mesh has only 450' modes mesh.npz -q -k 451 --write-stiffness K.out -o out.npz
    refused 4 '/dev/full: ' modes mesh.npz -q -k 4 --write-stiffness K.out -o /dev/full
    [ "$(< K.out)" = old ] || fault 'K.out was changed'
    no_faults
}

@test "killed: the temporary file is removed, the old output stays" {
    local signal number
    for signal in TERM INT HUP QUIT XCPU; do
        by_default simulate mesh.npz -q --basis basis.npz --poly poly.npz --steps 100000000 --every 1000000 -o out.npz 3>&- &
        number=$!
        for _ in $(seq 3000); do
            litter=(.supple-*)
            [ ${#litter[@]} = 0 ] || break
            sleep 0.02
        done
        [ ${#litter[@]} = 1 ] || fault "$signal: the temporary file did not appear"
        kill -s $signal $number
        code=0
        { wait $number || code=$?; } 2> /dev/null # without the message of the shell about a job that was ended by a signal
        [ $code = $((128 + $(kill -l $signal))) ] || fault "$signal: exit $code"
        no_litter $signal
        rm -f .supple-*
        cmp -s out.npz <(echo old) || fault "$signal: out.npz was changed"
    done
    no_faults
}

@test "a signal while the outputs appear or after: the run is done, exit 0; before: the old output and the code of the signal" {
    needs_plain_build 'LD_PRELOAD'
    local when tool code names
    # SIGINT comes before the first temporary file is renamed, after it was, or at the very end; there TWICE
    cat > late.c <<-'END'
	#define _GNU_SOURCE
	#include <dlfcn.h>
	#include <signal.h>
	#include <stdio.h>
	#include <stdlib.h>
	#include <string.h>
	#include <unistd.h>
	static int seen;
	static int when(const char *moment)
	{
	    return strcmp(getenv("WHEN"), moment) == 0;
	}
	static void now(void)
	{
	    if (!seen++) {
	        FILE *log = fopen(getenv("SEEN"), "w");
	        if (log)
	            fclose(log);
	        raise(SIGINT);
	    }
	}
	int fsync(int descriptor)
	{
	    if (when("before"))
	        now();
	    return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(descriptor);
	}
	int rename(const char *from, const char *to)
	{
	    int status = ((int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename"))(from, to);
	    if (when("renamed"))
	        now();
	    return status;
	}
	__attribute__((destructor)) static void at_end(void)
	{
	    if (when("end") || when("twice"))
	        now();
	    if (when("twice"))
	        raise(SIGINT);
	}
	END
    cc -shared -fPIC late.c -o late.so || fault 'cannot compile'
    for tool in $(writers) reactions; do
        if [ "$tool" = reactions ]; then
            ending=.npz
            line=(simulate mesh.npz --basis basis.npz --poly poly.npz --loads loads.csv --dt 0.01 --steps 3 --reactions side.npz)
        else
            command_of "$tool"
        fi
        [ "$tool" != simserve ] || continue # takes signals as its normal end
        "${line[@]}" -q -o "right$ending" 2> err || fault "$tool: $(< err)"
        [ "$tool" != reactions ] || mv side.npz right-side.npz
        for when in before renamed end twice; do
            echo old > "late$ending"
            echo old > side.npz
            rm -f seen
            code=0
            { (WHEN=$when SEEN=$PWD/seen LD_PRELOAD=$PWD/late.so by_default "${line[@]}" -q -o "late$ending" 2> err) || code=$?; } 2> /dev/null
            [ -e seen ] || fault "$tool, $when: no signal came"
            if [ $when = before ]; then
                [ $code = 130 ] || fault "$tool, $when: exit $code: $(< err)"
                cmp -s "late$ending" <(echo old) || fault "$tool, $when: the old output is gone"
            else
                [ $code = $([ $when = twice ] && echo 130 || echo 0) ] || fault "$tool, $when: exit $code: $(< err)"
                same_bytes "right$ending" "late$ending" "$tool, $when"
                [ "$tool" != reactions ] || same_bytes right-side.npz side.npz "$when"
            fi
            no_litter "$tool, $when"
        done
        rm -f "late$ending" "right$ending"
    done
    no_faults
}

@test "a signal between the outputs of one run changes none of them" {
    needs_plain_build 'LD_PRELOAD'
    local d code=0
    # SIGINT when the second domain is closed
    cat > between.c <<-'END'
	#define _GNU_SOURCE
	#include <dlfcn.h>
	#include <signal.h>
	int fsync(int descriptor)
	{
	    static int count;
	    if (++count == 2)
	        raise(SIGINT);
	    return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(descriptor);
	}
	END
    cc -shared -fPIC between.c -o between.so || fault 'cannot compile'
    simpart mesh.npz --plane 1,0,0,1 --plane 1,0,0,2 --tree -q -o parts.npz
    for d in 0 1 2; do
        echo old > domain-$d.npz
    done
    { (LD_PRELOAD=$PWD/between.so by_default simpart mesh.npz parts.npz --extract 0-2 -q -o domain-%d.npz) || code=$?; } 2> /dev/null
    [ $code = 130 ] || fault "exit $code"
    for d in 0 1 2; do
        cmp -s domain-$d.npz <(echo old) || fault "domain $d was changed"
        rm domain-$d.npz
    done
    no_litter between
    no_faults
}

@test "a long run whose standard error is no terminal prints its progress once a minute, a short one nothing" {
    needs_plain_build 'LD_PRELOAD'
    local times
    # a clock that goes on by 7 s each time that a program looks at it
    cat > clock.c <<-'END'
	#define _GNU_SOURCE
	#include <time.h>
	int clock_gettime(clockid_t which, struct timespec *time)
	{
	    static long seconds;
	    (void)which;
	    *time = (struct timespec){.tv_sec = seconds += 7};
	    return 0;
	}
	END
    cc -shared -fPIC clock.c -o clock.so || fault 'cannot compile'
    local what='simulate mesh.npz --basis basis.npz --poly poly.npz --loads loads.csv --dt 0.01 --steps 100 -o out.npz'
    LD_PRELOAD=$PWD/clock.so $what 2> log || fault "exit $?"
    times=$(grep -c '^simulate: [0-9]* %, about [0-9]* \(s\|min\) left$' log)
    # 100 steps of 7 s, or of 14 s where a step looks twice: a line for each minute of them
    [ "$times" -ge 9 ] && [ "$times" -le 24 ] || fault "$times lines: $(cat log)"
    grep ' left$' log | sed 's/.*: \([0-9]*\) %.*/\1/' | sort -nc || fault 'progress goes back'
    LD_PRELOAD=$PWD/clock.so $what -q 2> log || fault "exit $?"
    [ ! -s log ] || fault "--quiet: $(cat log)"
    $what 2> log || fault "exit $?"
    ! grep -q ' left$' log || fault "a short run: $(cat log)"
    no_faults
}

@test "killed when the temporary file appears: it is removed too" {
    needs_plain_build 'LD_PRELOAD'
    cat > early.c <<-'END'
	#define _GNU_SOURCE
	#include <dlfcn.h>
	#include <signal.h>
	int mkostemp64(char *name, int flags)
	{
	    int descriptor = ((int (*)(char *, int))dlsym(RTLD_NEXT, "mkostemp64"))(name, flags);
	    raise(SIGTERM);
	    return descriptor;
	}
	END
    cc -shared -fPIC early.c -o early.so || fault 'cannot compile'
    code=0
    { LD_PRELOAD=$PWD/early.so voxelize bar.obj -q -n 4 -o out.npz || code=$?; } 2> /dev/null
    [ $code = 143 ] || fault "exit $code"
    no_litter SIGTERM
    cmp -s out.npz <(echo old) || fault 'out.npz was changed'
    no_faults
}

@test "killed when the temporary file appears, by a signal that another thread receives" {
    needs_plain_build 'LD_PRELOAD'
    cat > other.c <<-'END'
	#define _GNU_SOURCE
	#include <dlfcn.h>
	#include <pthread.h>
	#include <signal.h>
	#include <unistd.h>
	static void *wait_long(void *data)
	{
	    for (;;)
	        pause();
	    return data;
	}
	int mkostemp64(char *name, int flags)
	{
	    sigset_t none, before;
	    pthread_t thread;
	    sigemptyset(&none);
	    pthread_sigmask(SIG_SETMASK, &none, &before);
	    pthread_create(&thread, NULL, wait_long, NULL);
	    pthread_sigmask(SIG_SETMASK, &before, NULL);
	    int descriptor = ((int (*)(char *, int))dlsym(RTLD_NEXT, "mkostemp64"))(name, flags);
	    kill(getpid(), SIGTERM);
	    usleep(200000); // the other thread runs the handler
	    return descriptor;
	}
	END
    cc -shared -fPIC other.c -o other.so -lpthread || fault 'cannot compile'
    code=0
    { LD_PRELOAD=$PWD/other.so voxelize bar.obj -q -n 4 -o out.npz || code=$?; } 2> /dev/null
    [ $code = 143 ] || fault "exit $code"
    no_litter SIGTERM
    cmp -s out.npz <(echo old) || fault 'out.npz was changed'
    no_faults
}

@test "killed while METIS orders a matrix, which catches SIGTERM: the signal ends the program all the same" {
    needs_plain_build 'LD_PRELOAD'
    # METIS sets a handler of its own behind that of the program; at the next allocation it runs.
    cat > order.c <<-'END'
	#define _GNU_SOURCE
	#include <dlfcn.h>
	#include <signal.h>
	#include <stdio.h>
	#include <stdlib.h>
	static int handlers, armed;
	static sighandler_t set(const char *name, int number, sighandler_t handler)
	{
	    sighandler_t before = ((sighandler_t(*)(int, sighandler_t))dlsym(RTLD_NEXT, name))(number, handler);
	    if (number == SIGTERM && handler != SIG_IGN && handler != SIG_DFL)
	        armed = ++handlers == 2;
	    return before;
	}
	#undef signal
	sighandler_t signal(int number, sighandler_t handler)
	{
	    return set("signal", number, handler);
	}
	sighandler_t __sysv_signal(int number, sighandler_t handler)
	{
	    return set("__sysv_signal", number, handler);
	}
	static void now(void)
	{
	    if (armed) {
	        armed = 0;
	        fputs("METIS catches it\n", stderr);
	        raise(SIGTERM);
	    }
	}
	void *malloc(size_t bytes)
	{
	    static void *(*real)(size_t);
	    now();
	    return (real ? real : (real = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc")))(bytes);
	}
	int posix_memalign(void **block, size_t alignment, size_t bytes)
	{
	    static int (*real)(void **, size_t, size_t);
	    now();
	    return (real ? real : (real = (int (*)(void **, size_t, size_t))dlsym(RTLD_NEXT, "posix_memalign")))(block, alignment, bytes);
	}
	END
    cc -shared -fPIC order.c -o order.so || fault 'cannot compile'
    code=0
    { LD_PRELOAD=$PWD/order.so modes mesh.npz -q -k 2 -o out.npz 2> err || code=$?; } 2> /dev/null
    grep -q 'METIS catches it' err || skip 'the METIS of this system catches no signals'
    [ $code = 143 ] || fault "exit $code: $(< err)"
    no_litter SIGTERM
    cmp -s out.npz <(echo old) || fault 'out.npz was changed'
    no_faults
}

@test "nohup is obeyed" {
    local number litter
    (
        trap '' HUP
        exec simulate mesh.npz -q --basis basis.npz --poly poly.npz --steps 30000 --every 10000 -o long.npz
    ) 3>&- &
    number=$!
    # it has begun to write
    for _ in $(seq 3000); do
        litter=(.supple-*)
        [ ${#litter[@]} = 0 ] && [ ! -e long.npz ] && kill -0 $number 2> /dev/null || break
        sleep 0.02
    done
    kill -s HUP $number 2> /dev/null || true
    wait $number || fault "exit $?"
    [ -s long.npz ] || fault 'no output'
    no_faults
}

@test "messages name the standard output" {
    local code=0
    modes mesh.npz -k 4 -q -o - > /dev/full 2> err || code=$?
    [ $code = 4 ] || fault "exit $code"
    [[ $(< err) == 'modes: standard output: '* ]] || fault "$(< err)"
    refused 2 '^simexport: standard output: ' simexport mesh.npz basis.npz traj.npz --probe 30 -o -
    no_faults
}

# A coordinate of 1.7e308 is finite, as readers require; displacements, strains, single precision or products are not.
@test "values that are not finite are never written, in any format, and the message names a file" {
    local ending line
    needs_numpy
    "$PYTHON" "$SUPPLE_SOURCE/tests/cli/forge.py" traj.npz big.npz 'm["q/000000"][20, :] = 1.7e308'
    "$PYTHON" "$SUPPLE_SOURCE/tests/cli/forge.py" basis.npz vast.npz 'm["U"] *= 1e300'
    while read -r ending line; do
        # shellcheck disable=SC2086
        refused 3 "^${line%% *}: (new|big)[a-z_0-9]*\\.[a-zA-Z]+: .*(not finite|too large)" $line -q -o "new$ending"
    done <<-END
	.csv simexport mesh.npz basis.npz big.npz --probe 33 --stress
	.csv simexport mesh.npz basis.npz big.npz --probe 33 --volume
	.csv simexport mesh.npz vast.npz --to gram
	.mtx simexport mesh.npz vast.npz --to gram
	.pvd simexport mesh.npz basis.npz big.npz --fields --frames 20
	.glb simexport mesh.npz basis.npz big.npz
	.usda simexport mesh.npz basis.npz big.npz
	.png simrender mesh.npz basis.npz big.npz --frames 20
	.png simrender mesh.npz basis.npz big.npz --frames 0-20 --every 20 --sheet 2x1
	END
    no_faults
}

@test "a line feed in the name of a collection is an entity" {
    done_well simexport mesh.npz basis.npz traj.npz -o $'a\nb.pvd'
    grep -q 'file="a&#10;b' $'a\nb.pvd' || fault "$(head -n 5 $'a\nb.pvd')"
    no_faults
}
