# Functions of all test files. A test runs in a folder of its own with copies of all shared inputs (data.bash) and an old
# output out$ending for every ending, which contains the word "old".
#
# Checks do not stop a test. They collect faults, and no_faults at the end fails with all of them.

setup() {
    faults=
    debug_trap=$(trap -p DEBUG) # the trap of bats: loops are twice as fast without it, and no_faults needs it for the line that failed
    trap - DEBUG
    mkdir "$BATS_TEST_TMPDIR/work"
    cd "$BATS_TEST_TMPDIR/work" || return
    cp -r "$DATA"/. . # copies: links would let a test write into what others read
    for ending in .npz .csv .png .wav .dsp; do
        echo old > "out$ending"
    done
    shopt -s dotglob nullglob
    tested_with_sanitizers && skip 'it runs with sanitizers, in the same call of scripts/test'
    return 0
}

# Whether this test runs with sanitizers as well, where it sees all that it sees without (scripts/test --all): tests of hostile input and of wrong
# options, apart from those that need a build without sanitizers.
tested_with_sanitizers() {
    [ -n "${SUPPLE_SANITIZED_TOO-}" ] || return
    case $(basename "$BATS_TEST_FILENAME" .bats) in
    every_tool | damaged | refusals | readers | foreign | meshes | output | stale | shell | places) ;;
    *) return 1 ;;
    esac
    [[ $(declare -f "$BATS_TEST_NAME") != *needs_plain_build* ]]
}

# Whether the programs have sanitizers, which make them several times slower.
sanitized() {
    grep -q __asan_init "$(command -v siminfo)"
}

# For tests that bound memory or time, that preload a library, or that take long and check nothing which sanitizers could find.
needs_plain_build() {
    ! sanitized || skip "not under sanitizers: $1"
}

# by_default COMMAND…: becomes the command, with the default action of signals. Under nohup and in background jobs of scripts some are ignored.
by_default() {
    exec "$PYTHON" -c 'import os, signal, sys
for name in ("HUP", "INT", "QUIT", "TERM", "XCPU"):
    signal.signal(getattr(signal, "SIG" + name), signal.SIG_DFL)
os.execvp(sys.argv[1], sys.argv[1:])' "$@"
}

# For tests that take more than five seconds: scripts/test without an option leaves them to scripts/test --all.
takes_long() {
    [ -z "${SUPPLE_SHORT-}" ] || skip 'it takes long: scripts/test --all'
}

# Runs `meson install`, stripped, into the folder dest. `root` is the prefix in it, and `library` the shared object.
install_build() {
    command -v meson > /dev/null || skip 'no meson'
    [ -f "$SUPPLE_BUILD/build.ninja" ] || skip 'no build by meson'
    needs_plain_build 'programs alone have 200 MB'
    DESTDIR=$PWD/dest meson install -C "$SUPPLE_BUILD" --no-rebuild --strip --quiet > said.txt 2>&1 || fault "$(tail -n 3 said.txt)"
    root=$(dirname "$(dirname "$(find "$PWD/dest" -path '*/bin/simulate')")")
    [ -n "$root" ] || fault 'no programs'
    library=$(find "$root" -name 'libsupple.so.0.*')
    [ -n "$library" ] || fault 'no libsupple.so'
}

# has PART: the build has an optional part (meson.build): shadows, fonts, sound, page, manual, slepc, programs (what these write) or yang2015.
has() {
    # where npm could not install what builds the page, the build has an empty one
    [ "$1" != page ] || [ "$(cat "$SUPPLE_BUILD/formats/export/page/page.inc" 2> /dev/null)" != '""' ] || return
    [[ " $(cat "$SUPPLE_BUILD/left-out.txt" 2> /dev/null) " != *" $1 "* ]]
}

# same_kernels: the library and what uses it take the kernels of BLAS that the programs choose where OpenBLAS does not know the processor
# (tools/process/blas.c), which a library does not do in a process that is not its own.
same_kernels() {
    OPENBLAS_CORETYPE=$(simulate --version | sed -n 's/^OpenBLAS .*kernels for \([A-Za-z0-9_]*\).*/\1/p')
    export OPENBLAS_CORETYPE
}

needs_numpy() {
    "$PYTHON" -c 'import numpy' 2> /dev/null || skip "no NumPy"
}

# random_columns COUNT FILE: random displacements of mesh.npz, whose fixed vertices do not move.
random_columns() {
    "$PYTHON" - "$@" <<-'END'
	import sys
	import numpy as np
	mesh = np.load('mesh.npz')
	U = np.random.default_rng(1).standard_normal((len(mesh['vertices']), 3, int(sys.argv[1])))
	U[mesh['fixed']] = 0
	np.save(sys.argv[2], U.reshape(-1, int(sys.argv[1])))
	END
}

fault() {
    faults+="$*"$'\n'
}

no_faults() {
    eval "$debug_trap"
    [ -z "$faults" ] || {
        head -n 30 <<< "$faults"
        return 1
    }
}

# Every tool that was built.
tools() {
    (cd "$HELP" && echo *)
}

# Sets `line` to a command line of the program that works in the folder of a test, without -o FILE, and `ending` to the ending of its output, empty
# if it writes text to stdout.
command_of() {
    ending=.npz
    case $1 in
    voxelize) line=(voxelize bar.obj -n 6 --enlarge 1 --fill --fix-half-space 1,0,0,0) ;;
    simimport) line=(simimport block.veg --fixed block.bou) ;;
    simcut) line=(simcut mesh.npz --plane 1,0,0,1.5) ;;
    simpart) line=(simpart mesh.npz --parts 2) ;;
    simskin) line=(simskin mesh.npz skeleton.json) ;;
    modes) line=(modes mesh.npz -k 4) ;;
    modalderiv) line=(modalderiv mesh.npz modes.npz) ;;
    masspca) line=(masspca mesh.npz modes.npz deriv.npz -r 6) ;;
    odebasis) line=(odebasis K.npz M.npz hessian.npz -k 3 -r 6) ;;
    sketchsolve) line=(sketchsolve mesh.npz --loads sketch.csv) ;;
    polycoef) line=(polycoef mesh.npz basis.npz) ;;
    cubature) line=(cubature mesh.npz basis.npz --poses 100 --nested) ;;
    pointshell) line=(pointshell mesh.npz --basis basis.npz --points 300) ;;
    distfield) line=(distfield bar.obj -n 12) ;;
    simulate) line=(simulate mesh.npz --basis basis.npz --poly poly.npz --loads loads.csv --dt 0.01 --steps 20) ;;
    simbatch) line=(simbatch mesh.npz --basis basis.npz --poly poly.npz --loads loads.csv --table table.csv --dt 0.01 --steps 10) ;;
    simstat) line=(simstat ensemble.npz) ending=.csv ;;
    simcurve) line=(simcurve mesh.npz --basis basis.npz --poly poly.npz --response --gravity 0,0,-0.1 --base-acceleration 0,0,0.1 --range 0.01,0.02 --damping-mass 0.1 --harmonics 2) ;;
    simfull) line=(simfull mesh.npz --gravity 0,0,-9.81 --dt 0.01 --steps 3) ;;
    simscene) line=(simscene scene.json --steps 5) ;;
    simserve) line=(simserve scene.json --udp 0 --steps 5) ending= ;;
    siminfo) line=(siminfo mesh.npz) ending= ;;
    simverify) line=(simverify mesh.npz modes.npz) ending= ;;
    simcompare) line=(simcompare modes.npz modes.npz) ending= ;;
    simvalidate) line=(simvalidate mesh.npz --basis basis.npz --poly poly.npz --loads loads.csv --dt 0.01 --steps 10) ending= ;;
    simreduce) line=(simreduce mesh.npz --loads loads.csv --dt 0.01 --steps 8 --error 50% --held-out 1 -r 6 -o out-model) ending= ;;
    simexport) line=(simexport mesh.npz basis.npz traj.npz --probe 30) ending=.csv ;;
    simsound)
        line=(simsound mesh.npz basis.npz tone.npz --listener 0,5,0 --rate 1000 --band 1,150) ending=.wav
        has sound || line=(simsound mesh.npz modes.npz --listener 0,5,0 --strike 30:0,0,1) ending=.dsp
        ;;
    simmerge) line=(simmerge training.npz) ;;
    simrender) line=(simrender mesh.npz --size 160x120 --samples 1) ending=.png ;;
    *)
        echo "tests/cli/common.bash: command_of has no line for $1"
        return 1
        ;;
    esac
}

# command_of with -o out$ending where the tool writes a file.
full_command_of() {
    command_of "$1" || return
    [ -z "$ending" ] || line+=(-o "${2:-out$ending}")
}

# try COMMAND…: sets $code, $err and its lines in `lines`; stdout goes to $stdout. No forks: this runs thousands of times.
try() {
    stdout=$BATS_TEST_TMPDIR/stdout
    code=0
    "$@" > "$stdout" 2> "$BATS_TEST_TMPDIR/stderr" < "${input:-/dev/null}" || code=$?
    mapfile -t lines < "$BATS_TEST_TMPDIR/stderr"
    printf -v err '%s\n' "${lines[@]}"
    err=${err%$'\n'}
}

# done_well COMMAND…: exit 0, nothing on stdout unless `ending` is empty, on stderr only lines that begin with the tool's name.
done_well() {
    local tool=$1 text lines
    try "$@"
    [ "$code" = 0 ] || fault "$*: exit $code: $err"
    [ -z "$ending" ] || [ ! -s "$stdout" ] || fault "$*: writes to stdout"
    for text in "${lines[@]}"; do
        [[ $text == "$tool: "* ]] || fault "$*: stderr: $text"
    done
    no_litter "$*"
}

# refused CODE PATTERN COMMAND…: ends with the code; one line on stderr "tool: …" that matches the extended regular expression, and
# at most one more as a hint; nothing on stdout; the folder and the old outputs are as they were.
refused() {
    local want=$1 pattern=$2 before after lines old text
    shift 2
    before=(*)
    try "$@"
    after=(*)
    [ "$code" = "$want" ] || fault "$*: exit $code, not $want: $err"
    [ ! -s "$stdout" ] || fault "$*: writes to stdout"
    case ${#lines[@]} in
    1) ;;
    2) [[ ${lines[1]} != "$1: "* ]] || fault "$*: two messages: $err" ;;
    *) fault "$*: ${#lines[@]} lines on stderr: $err" ;;
    esac
    [[ ${lines[0]-} == "$1: "* ]] || fault "$*: the message does not begin with the tool: $err"
    [[ ${lines[0]-} =~ $pattern ]] || fault "$*: the message does not match \"$pattern\": $err"
    [ "${before[*]}" = "${after[*]}" ] || fault "$*: the folder was ${before[*]} and is ${after[*]}"
    for old in out.*; do
        IFS= read -r -d '' text < "$old" || [ "$text" = $'old\n' ] || fault "$*: $old was changed"
    done
}

no_litter() {
    local litter=(.supple-*)
    [ ${#litter[@]} = 0 ] || fault "$1: leaves ${litter[*]}"
}

same_bytes() {
    cmp -s "$1" "$2" || fault "$3: $1 and $2 differ"
}

# holds FILE EXPRESSION: Python over meta m and result r of a file.
holds() {
    "$PYTHON" - "$@" <<-'END' || fault "$1: not $2"
	import json, sys, zipfile
	def text(name):
	    data = zipfile.ZipFile(sys.argv[1]).read(name + '.npy')
	    return json.loads(data[10 + data[8] + 256 * data[9]:])
	m, r = text('meta'), text('result')
	value = eval(sys.argv[2])
	if value is not True:
	    print(sys.argv[2], ':', m, r)
	    sys.exit(1)
	END
}

# The options of a tool from its --help, one per line: name, letter, argument ("-" where there is none), and the text in one line.
entries_of() {
    local text name= letter argument= said more
    while IFS= read -r text; do
        if [[ $text =~ ^\ \ (-(.),|\ \ \ )\ --([a-z0-9-]+)(\ ([^ ]+))?(.*) ]]; then
            [ -z "$name" ] || echo "$name $letter $argument$said"
            name=${BASH_REMATCH[3]} letter=${BASH_REMATCH[2]:--} argument=${BASH_REMATCH[5]:--} said=
            text=${BASH_REMATCH[6]}
        elif [ -z "$text" ]; then
            [ -z "$name" ] || echo "$name $letter $argument$said"
            name=
            continue
        elif [[ $argument == *'|' ]]; then # a list of choices goes on in the next line
            read -r more text <<< "$text"
            argument+=$more
        fi
        read -r text <<< "$text"
        said+=${text:+ $text}
    done < "$HELP/$1"
}

# The same without the text, but with the default; "-" where there is none.
options_of() {
    local name letter argument text default
    while read -r name letter argument text; do
        default=-
        [[ ! $text =~ \(default\ ([^\ ]+)\)$ ]] || default=${BASH_REMATCH[1]}
        echo "$name $letter $argument $default"
    done < <(entries_of "$1")
}

# slots KIND: the commands that read a file of this kind, with @ in its place.
slots() {
    case $1 in
    mesh)
        echo "modes @ -k 4"
        echo "simcut @ --plane 1,0,0,1.5"
        echo "simpart @ --parts 2"
        echo "simskin @ skeleton.json"
        echo "distfield @ -n 4"
        echo "pointshell @ --points 20"
        echo "modalderiv @ modes.npz"
        echo "masspca @ modes.npz"
        echo "polycoef @ basis.npz"
        echo "cubature @ basis.npz"
        echo "sketchsolve @ --loads sketch.csv"
        echo "simulate @ --basis basis.npz --poly poly.npz --steps 1"
        echo "simfull @ --steps 1"
        ;;
    modes)
        echo "modalderiv mesh.npz @"
        echo "masspca mesh.npz @ deriv.npz"
        echo "simulate mesh.npz --model modal --basis @ --integrator exact --steps 1"
        ;;
    deriv) echo "masspca mesh.npz modes.npz @" ;;
    basis)
        echo "polycoef mesh.npz @"
        echo "cubature mesh.npz @"
        echo "simulate mesh.npz --basis @ --poly poly.npz --steps 1"
        echo "pointshell mesh.npz --basis @ --points 20"
        ;;
    poly) echo "simulate mesh.npz --basis basis.npz --poly @ --steps 1" ;;
    field)
        echo "simexport @ --to obj --level 0"
        echo "simrender @ --slice y=0.5"
        echo "pointshell @ --points 20"
        echo "pointshell mesh.npz --field @ --points 20"
        ;;
    shell) echo "simexport @ --to csv" ;;
    cub) echo "simulate mesh.npz --model cubature --basis basis.npz --cub @ --steps 1" ;;
    training)
        echo "cubature mesh.npz basis.npz @"
        echo "simmerge training.npz @"
        ;;
    traj)
        echo "masspca mesh.npz @"
        echo "cubature mesh.npz basis.npz @"
        ;;
    motion) echo "simexport @ --to csv" ;;
    ensemble) echo "simmerge @" ;;
    curve) echo "simcurve mesh.npz --basis basis.npz --poly poly.npz --of @" ;;
    skin) echo "simulate mesh.npz --model modal --basis modes.npz --skin @ --skeleton skeleton.json --steps 1" ;;
    K)
        echo "modes mesh.npz -k 4 --stiffness @"
        echo "odebasis @ M.npz hessian.npz -k 3"
        ;;
    esac
}
