#!/usr/bin/env bats
# Other processors, by qemu: one without AVX, and aarch64, for which scripts/cross builds the programs (in build-aarch64, or SUPPLE_AARCH64). The
# programs compute the same values as here, and unit tests pass.

load common

# Unit tests of code with SIMD lanes or kernels of BLAS that take less than three seconds there, without the meshes of SUPPLE_MESHES.
quick='bases factors fill material nodal_stress quartic reference targets'
# and others that take less than half a minute, for scripts/test --all. volume_broken is not among them: its limit of memory is one of the emulator.
longer='continuation cut domains edits element_types errors exchange export foreign formats_memory inertia kinds loads modal_exact model newton probe
    scaling script serve sketch skeleton skeleton_file surface volume volume_export volume_msh volume_nodes winding'

needs_emulator() {
    unset OPENBLAS_CORETYPE # kernels that fit this processor need not fit the other one
    command -v "qemu-$1" > /dev/null || skip "no qemu-$1"
    needs_plain_build 'another processor'
}

nehalem() {
    needs_emulator x86_64
    [ "$(uname -m)" = x86_64 ] || skip 'another kind of machine'
    emulator=(qemu-x86_64 -cpu Nehalem) folder=$SUPPLE_BUILD
}

aarch64() {
    local cross=${SUPPLE_AARCH64:-$SUPPLE_SOURCE/build-aarch64}
    needs_emulator aarch64
    [ -f "$cross/build/build.ninja" ] || skip 'no build by scripts/cross'
    "$SUPPLE_SOURCE/scripts/cross" "$cross" > said.txt 2>&1 || fault "$(< said.txt)"
    emulator=(qemu-aarch64 -L "$cross/sysroot") folder=$cross/build
}

# step PROGRAM FILE ARGUMENT…: makes the file here in the folder here, and on the other processor in the folder there, of the same inputs.
step() {
    local program=$1 file=$2 place
    shift 2
    "$program" "$@" -q -o "here/$file" || fault "$program"
    timeout 300 "${emulator[@]}" "$folder/tools/$program" "$@" -q -o "there/$file" > said.txt 2>&1 || fault "$program: $(< said.txt)"
}

# agrees FILE [STIFFNESS]
agrees() {
    "$PYTHON" -W error "$SUPPLE_SOURCE/tests/cli/processors.py" "here/$1" "there/$1" "${@:2}" > said.txt 2>&1 || fault "$1: $(tail -n 1 said.txt)"
    echo "$1: $(< said.txt)"
}

spoon_chain() {
    local spoon=$SUPPLE_SOURCE/samples/spoon
    needs_numpy
    "$PYTHON" -c 'import scipy.sparse' 2> /dev/null || skip 'no SciPy'
    mkdir here there
    "$PYTHON" "$spoon/model.py" > spoon.obj
    step voxelize mesh.npz spoon.obj -n 30 --young 1.4e9 --poisson 0.42 --density 905 --fix-half-space 1,0,0,0.05
    step modes modes.npz here/mesh.npz -k 6
    step modalderiv deriv.npz here/mesh.npz here/modes.npz
    step masspca basis.npz here/mesh.npz here/modes.npz here/deriv.npz -r 12
    step polycoef poly.npz here/mesh.npz here/basis.npz
    step simulate motion.npz here/mesh.npz --basis here/basis.npz --poly here/poly.npz --loads "$spoon/impulse.csv" --dt 0.003 --steps 20
    modes here/mesh.npz -k 6 -q --write-stiffness K.npz -o again.npz
    agrees mesh.npz
    agrees modes.npz K.npz
    agrees deriv.npz K.npz
    agrees basis.npz
    agrees poly.npz
    agrees motion.npz
    no_faults
}

unit_tests() {
    local name names=$quick
    [ -x "$folder/tests/test-volume" ] || skip 'no unit tests were built'
    [ -z "${SUPPLE_ALL-}" ] || names+=" $longer"
    for name in $names; do
        (cd "$folder" && env -u SUPPLE_MESHES timeout 300 "${emulator[@]}" "tests/test-$name") > said.txt 2>&1 || fault "$name: $(grep -v '^ok' said.txt | head -n 3)"
    done
    no_faults
}

@test "the spoon's chain on a processor without AVX" {
    nehalem
    spoon_chain
}

@test "unit tests on a processor without AVX" {
    nehalem
    unit_tests
}

@test "the spoon's chain on aarch64" {
    aarch64
    spoon_chain
}

@test "unit tests on aarch64" {
    aarch64
    unit_tests
}
