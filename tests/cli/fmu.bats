#!/usr/bin/env bats
# Models as Functional Mock-up Units (simexport NAME.fmu), driven by the importer of tests/cli/fmu.

load common

# Makes model.fmu of 12 coordinates, unzips it into the folder `fmu`, and compiles the program $1 of tests/cli/fmu.
fmu_program() {
    if [ ! -f p12.npz ]; then
        masspca mesh.npz modes.npz deriv.npz -r 12 -q -o b12.npz
        polycoef mesh.npz b12.npz -q -o p12.npz
    fi
    model=(mesh.npz b12.npz --poly p12.npz)
    fmu_of "$1"
}

# Makes model.fmu of `model`, a mesh, a basis and the option of simulate with the file of the force.
fmu_of() {
    ending=.fmu
    done_well simexport "${model[0]}" "${model[1]}" "${model[3]}" --probe tip=30,12,surface:2 -o model.fmu
    [ -d fmu ] || unzip -q model.fmu -d fmu
    library=(fmu/binaries/*/model.so)
    cc -O2 -std=gnu99 -Wall -Wextra -Ifmu/sources "$BATS_TEST_DIRNAME/fmu/$1.c" fmu/sources/model.c -ldl -lm -lpthread -o "$1" || fault "$1: does not compile"
}

needs_compiler() {
    command -v cc > /dev/null || skip "no C compiler"
    command -v unzip > /dev/null || skip "no unzip"
}

# moves DT EVERY STEPS ALPHA BETA G FORCE: by co-simulation and by simulate, to 1e-12 of the largest coordinate. G and FORCE are vectors with commas.
moves() {
    printf 't0,t1,kind,id,fx,fy,fz\n0,inf,vertex,30,%s\n' "$7" > pull.csv
    simulate "${model[0]}" --basis "${model[@]:1}" --loads pull.csv --dt "$1" --steps $(($2 * $3)) --damping-mass "$4" --damping-stiffness "$5" \
        --gravity="$6" --halvings 0 -q -o motion.npz || fault "$*: simulate"
    # shellcheck disable=SC2086
    ./motion fmu ./${library[0]} "$1" "$2" "$3" "$4" "$5" ${6//,/ } ${7//,/ } > motion.txt || fault "$*: exit $?"
    "$PYTHON" - "$2" <<-'END' || fault "$*"
	import sys, numpy as np
	f = np.load('motion.npz')
	q = np.concatenate([f[k] for k in sorted(f) if k.startswith('q/')])[::int(sys.argv[1])]
	p = np.loadtxt('motion.txt')
	error = abs(p - q).max() / abs(q).max()
	print('# error', error, 'largest', abs(q).max())
	sys.exit(p.shape != q.shape or not error <= 1e-12)
	END
}

@test "FMU: co-simulation moves as simulate does" {
    needs_compiler
    needs_numpy
    fmu_program motion
    moves 0.01 1 1000 0 0 0,0,-9.81 0,20,-300
    moves 0.01 5 200 0.5 0 0,0,0 10,200,-100
    moves 0.005 1 1000 0.2 0.003 1,0,-9.81 0,0,-300
    no_faults
}

@test "FMU of a cubature: co-simulation, derivatives and warnings" {
    needs_compiler
    needs_numpy
    voxelize bar.obj -q -n 6 --enlarge 1 --fill --fix-half-space 1,0,0,0 --law neo-hookean -o mesh.npz
    modes mesh.npz -q -k 4 -o m.npz
    modalderiv mesh.npz m.npz -q -o d.npz
    masspca mesh.npz m.npz d.npz -q -r 12 -o b.npz
    cubature mesh.npz b.npz --poses 40 --tolerance 0.03 -q -o c.npz
    model=(mesh.npz b.npz --cub c.npz)
    fmu_of motion
    moves 0.01 1 300 0 0 0,0,-9.81 0,2000,-30000
    moves 0.01 5 60 0.5 0.003 0,0,-9.81 10,200,-30000
    fmu_of check
    ./check fmu "./${library[0]}" > check.out || fault "check: exit $?"
    [ ! -s check.out ] || fault "$(head -20 check.out)"
    gcc -std=c99 -O2 -pedantic -Wall -Wextra -Wconversion -Werror -c fmu/sources/model_fmi3.c -o w.o 2> warnings || fault "$(head -5 warnings)"
    simexport mesh.npz b.npz c.npz --probe tip=30,12,surface:2 -o model.c
    same_bytes model.c fmu/sources/model.c 'the C source'
    no_faults
}

@test "FMU: the descriptions are valid" {
    needs_compiler
    fmu_program motion
    command -v xmllint > /dev/null || skip "no xmllint"
    local schema=("" "")
    for file in fmu/modelDescription.xml fmu/sources/buildDescription.xml fmu/documentation/index.html; do
        xmllint --noout "$file" 2> xml.err || fault "$file: $(head -1 xml.err)"
    done
    if [ -n "${SUPPLE_FMI_SCHEMA-}" ]; then
        for kind in ModelDescription:fmu/modelDescription.xml BuildDescription:fmu/sources/buildDescription.xml; do
            xmllint --noout --schema "$SUPPLE_FMI_SCHEMA/fmi3${kind%%:*}.xsd" "${kind#*:}" 2> xml.err || fault "$kind: $(head -3 xml.err)"
        done
    fi
    no_faults
}

@test "FMU: all functions, against the C source, differences and bad calls" {
    needs_compiler
    fmu_program check
    ./check fmu "./${library[0]}" > check.out || fault "check: exit $?"
    [ ! -s check.out ] || fault "$(head -20 check.out)"
    no_faults
}

@test "FMU: the functions are those of the standard's headers" {
    needs_compiler
    fmu_program motion
    local headers=${SUPPLE_FMI_SCHEMA:-nowhere}/../headers
    [ -f "$headers/fmi3Functions.h" ] || skip "SUPPLE_FMI_SCHEMA names no folder beside the headers of the standard"
    printf '#include "fmi3Functions.h"\n#define FMI3_API\n#define FMI3(name) fmi3##name\n' > fmu/sources/model_fmi3.h
    cc -std=c99 -pedantic -Wall -Wextra -Werror "-I$headers" -c fmu/sources/model_fmi3.c -o standard.o || fault "other declarations"
    grep -oE 'TYPE +fmi3[A-Za-z0-9]+' "$headers/fmi3Functions.h" | sed 's/.* //' | sort > wanted
    nm -D --defined-only "${library[0]}" | awk '{ print $3 }' | sort > found
    [ "$(wc -l < wanted)" -gt 70 ] || fault "no functions in the header"
    diff wanted found || fault "other functions"
    no_faults
}

@test "FMU: the source compiles without a warning and is that of --to c" {
    needs_compiler
    fmu_program motion
    for compiler in 'gcc -std=c99' 'clang -std=c99'; do
        command -v "${compiler%% *}" > /dev/null || continue
        $compiler -O2 -pedantic -Wall -Wextra -Wconversion -Werror -c fmu/sources/model_fmi3.c -o w.o 2> warnings || fault "$compiler: $(head -5 warnings)"
    done
    cc -DFMI3_FUNCTION_PREFIX=model_ -c fmu/sources/model_fmi3.c -o static.o
    ! nm -g --defined-only static.o | grep -v ' model_fmi3' || fault 'names without the prefix'
    ! nm -D --defined-only "${library[0]}" | grep -v ' fmi3' || fault 'the library shows other symbols'
    simexport mesh.npz b12.npz p12.npz --probe tip=30,12,surface:2 -o model.c
    same_bytes model.c fmu/sources/model.c 'the C source'
    same_bytes model.h fmu/sources/model.h 'its header'
    simexport mesh.npz b12.npz p12.npz -o none.fmu # without probes
    unzip -q none.fmu -d none
    cc -std=c99 -pedantic -Wall -Wextra -Wconversion -Werror -c none/sources/none_fmi3.c -o w.o 2> warnings || fault "no probes: $(head -5 warnings)"
    no_faults
}

@test "FMU: two exports have the same bytes, and other models other tokens" {
    needs_compiler
    token() { unzip -p "$1" modelDescription.xml | grep -o 'instantiationToken="[^"]*"'; }
    mkdir again
    for file in model.fmu again/model.fmu; do
        TMPDIR=$PWD/again simexport mesh.npz basis.npz poly.npz --probe tip=30 -o "$file"
        sleep 1.1 # another date
    done
    same_bytes model.fmu again/model.fmu 'a second export'
    simexport mesh.npz basis.npz poly.npz --probe top=30 -o again/model.fmu
    [[ $(token model.fmu) != "$(token again/model.fmu)" ]] || fault 'another name of a probe, and the same token'
    simexport mesh.npz basis.npz poly.npz --probe tip=12 -o again/model.fmu
    [[ $(token model.fmu) != "$(token again/model.fmu)" ]] || fault 'another probe, and the same token'
    [[ $(token model.fmu) =~ ^instantiationToken=\"\{[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}\}\"$ ]] || fault "$(token model.fmu)"
    no_faults
}

@test "FMU: names of files and probes" {
    needs_compiler
    local odd=$'<&"\'>*_\n\e\xff.npz'
    cp mesh.npz "$odd"
    ending=.fmu
    done_well simexport "$odd" basis.npz poly.npz --sources-only --probe tip=3 -o odd.fmu
    unzip -q odd.fmu -d odd
    ! grep -lrP '[^\x20-\x7e\t\n]' odd || fault "other characters than ASCII"
    if command -v xmllint > /dev/null; then
        xmllint --noout odd/modelDescription.xml odd/documentation/index.html 2> xml.err || fault "$(head -3 xml.err)"
    fi
    refused 2 'cannot be a name in C' simexport mesh.npz basis.npz poly.npz --probe '<&"=3' -o out.fmu
    refused 2 'cannot be a name in C' simexport mesh.npz basis.npz poly.npz -o '<a>.fmu'
    refused 2 'name that ends in .fmu' simexport mesh.npz basis.npz poly.npz --to fmu -o -
    refused 2 'name that ends in .fmu' simexport mesh.npz basis.npz poly.npz --to fmu -o out.zip
    refused 2 '--sources-only applies to --to fmu' simexport mesh.npz basis.npz poly.npz --sources-only -o out.c
    refused 2 '--single applies to --to c' simexport mesh.npz basis.npz poly.npz --single -o out.fmu
    refused 2 'an FMU needs the mesh' simexport mesh.npz basis.npz -o out.fmu
    refused 3 'an FMU is made of polynomials or a cubature, not of a file of kind trajectory' simexport mesh.npz basis.npz traj.npz -o out.fmu
    no_faults
}

# with_compiler SCRIPT: a folder `bin` whose cc is this script, without any other program that tests need.
with_compiler() {
    mkdir -p bin temporary
    printf '#!/bin/sh\n%s\n' "$1" > bin/cc
    chmod +x bin/cc
}

@test "FMU: no compiler, one that fails, and a folder that is removed" {
    command -v unzip > /dev/null || skip "no unzip"
    local tool
    tool=$(command -v simexport)
    mkdir -p bin temporary
    try env PATH="$PWD/bin" "$tool" mesh.npz basis.npz poly.npz -o model.fmu
    [[ $code = 0 && $err == *'model.fmu: no C compiler (cc) is on PATH: the FMU has sources and no library' ]] || fault "no compiler: exit $code: $err"
    mkdir again
    simexport mesh.npz basis.npz poly.npz --sources-only -o again/model.fmu
    ! unzip -l again/model.fmu | grep -q '\.so' || fault 'a library in spite of --sources-only'
    same_bytes model.fmu again/model.fmu 'the export without a compiler'
    with_compiler 'echo "model.c: out of <ideas>"; echo two; exit 1'
    TMPDIR=$PWD/temporary PATH=$PWD/bin:$PATH refused 4 'cc cannot compile the model: model.c: out of <ideas>' simexport mesh.npz basis.npz poly.npz -o model.fmu
    with_compiler 'exit 0'
    TMPDIR=$PWD/temporary PATH=$PWD/bin:$PATH refused 4 'cannot compile the model: it says nothing' simexport mesh.npz basis.npz poly.npz -o model.fmu
    TMPDIR=$PWD/nowhere PATH=$PWD/bin:$PATH refused 4 'no folder to compile in: .*/nowhere/' simexport mesh.npz basis.npz poly.npz -o model.fmu
    [ -z "$(ls temporary)" ] || fault "left: $(ls temporary)"
    no_faults
}

@test "FMU: an export that is killed leaves neither its folder nor the compiler" {
    local signal tries code
    for signal in INT TERM KILL; do
        with_compiler "echo \$\$ > '$PWD/started'; echo x > left-over; exec sleep 100"
        TMPDIR=$PWD/temporary PATH=$PWD/bin:$PATH by_default simexport mesh.npz basis.npz poly.npz -q -o model.fmu &
        for ((tries = 0; tries < 1200; tries++)); do
            [ ! -s started ] || break
            sleep 0.05
        done
        [ -s started ] || fault 'the compiler was not started'
        [ -n "$(ls temporary)" ] || fault 'it is not in the folder'
        kill -s $signal $!
        code=0
        wait $! || code=$?
        [ $code -gt 128 ] || fault "SIG$signal: exit $code"
        for ((tries = 0; tries < 1200; tries++)); do
            [ -n "$(ls temporary)" ] || break
            sleep 0.05
        done
        [ -z "$(ls temporary)" ] || fault "SIG$signal: left: $(ls temporary)"
        ! kill -0 "$(< started)" 2> kill.err || fault "SIG$signal: the compiler still runs"
        rm -f started .supple-*
    done
    no_faults
}
