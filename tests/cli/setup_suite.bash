# Runs once before all files of tests: the inputs that they share. Where several bats run beside each other, SUPPLE_INPUTS names a folder
# that share_inputs has filled for all of them (scripts/test).
setup_suite() {
    local here tool inputs=${SUPPLE_INPUTS:-$BATS_SUITE_TMPDIR}
    here=$BATS_TEST_DIRNAME
    export SUPPLE_SOURCE SUPPLE_BUILD DATA HELP DAMAGED PYTHON
    SUPPLE_SOURCE=$(cd "$here/../.." && pwd)
    SUPPLE_BUILD=$(cd "${SUPPLE_BUILD:-$SUPPLE_SOURCE/build}" && pwd)
    PATH=$SUPPLE_BUILD/tools:$PATH
    DATA=$inputs/data HELP=$inputs/help DAMAGED=$inputs/damaged
    PYTHON=python3
    for tool in python3 /usr/bin/python3; do # one with NumPy and SciPy, where there is one
        if "$tool" -c 'import numpy, scipy.sparse' 2>/dev/null; then
            PYTHON=$tool
            break
        fi
    done
    # shellcheck source=data.bash
    source "$here/data.bash"
    [ -n "${SUPPLE_INPUTS-}" ] || make_inputs
}

# Without bats, in a process of its own: fills the folder $1.
share_inputs() {
    BATS_TEST_DIRNAME=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
    BATS_SUITE_TMPDIR=$1
    set -e
    unset SUPPLE_INPUTS
    mkdir -p "$1"
    setup_suite
}

make_inputs() {
    local here=$BATS_TEST_DIRNAME tool
    mkdir "$DATA" "$HELP" "$DAMAGED"
    cd "$DATA"
    make_models .
    make_pipeline 6 6
    "$PYTHON" "$here/tensor.py" K.npz hessian.npz
    distfield bar.obj -q -n 6 -o field.npz
    pointshell mesh.npz -q --basis basis.npz --normals tangents --points 60 --levels 3 -o shell.npz
    make_scene "$here"
    simcurve mesh.npz --basis basis.npz --poly poly.npz --backbone --amplitude 0.01 --harmonics 2 --points 3 -q -o curve.npz
    # the same body of another material: every size agrees, the hashes do not
    voxelize bar.obj -q -n 6 --enlarge 1 --fill --fix-half-space 1,0,0,0 --young 2e6 -o twin.npz
    modes twin.npz -q -k 4 -o twin-modes.npz
    masspca twin.npz twin-modes.npz -q -o twin-basis.npz
    # another body, and a free one
    voxelize bar.obj -q -n 4 --fix-half-space 1,0,0,0 -o other.npz
    modes other.npz -q -k 4 --write-stiffness other-K.npz -o other-modes.npz
    masspca other.npz other-modes.npz -q -o other-basis.npz
    voxelize bar.obj -q -n 4 -o free.npz
    for tool in $(cd "$SUPPLE_BUILD/tools" && find . -maxdepth 1 -type f -executable ! -name supple-plot -printf '%P\n' | sort); do
        "$tool" --help-all > "$HELP/$tool"
    done
    # The damages that rm removes below are valid files: one fixed vertex less, one triangle less, optional members missing.
    damage mesh fixed_axes
    damage modes ordering # an optional member, which only modalderiv and simverify read
    damage deriv
    damage basis
    damage poly
    damage cub
    damage training
    damage traj
    damage motion
    damage curve
    damage skin
    damage ensemble
    damage K
    damage field
    damage shell
    rm "$DAMAGED"/shell/{drop-dTs,meta-hash}.npz "$DAMAGED"/mesh/short-{fixed,surface_triangles}.npz "$DAMAGED"/basis/drop-singular_value.npz "$DAMAGED"/cub/drop-{nested,stiffness}.npz "$DAMAGED"/K/{drop-dof,meta-hash}.npz "$DAMAGED"/ensemble/meta-hash.npz
}

damage() {
    local kind=$1
    shift
    mkdir "$DAMAGED/$kind"
    "$PYTHON" "$BATS_TEST_DIRNAME/damage.py" "$kind.npz" "$DAMAGED/$kind" "$@"
}
