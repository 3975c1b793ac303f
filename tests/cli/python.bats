#!/usr/bin/env bats
# The Python package: bodies and scenes have the motions of the programs, wrong calls are refused, and the package installs.

load common

needs_package() {
    needs_plain_build 'the interpreter has none'
    needs_numpy
    same_kernels
    export SUPPLE_LIBRARY=$SUPPLE_BUILD/api/libsupple.so.0 PYTHONPATH=$SUPPLE_SOURCE/python PYTHONDONTWRITEBYTECODE=1
}

# tests MODULE: runs a file of tests in the current folder.
tests() {
    "$PYTHON" -W error "$BATS_TEST_DIRNAME/python/$1.py" > out.txt 2>&1 || fault "$(cat out.txt)"
    grep -qE '^Ran [0-9]+ tests' out.txt || fault "no tests: $(cat out.txt)"
}

@test "the package agrees with the headers and has documentation" {
    needs_package
    tests test_package
    no_faults
}

@test "bodies of the package" {
    needs_package
    simimport block.veg --fixed block.bou -q -o block.npz
    modes block.npz -q -k 2 -o block-modes.npz
    tests test_body
    no_faults
}

@test "batches of the package" {
    needs_package
    tests test_batch
    no_faults
}

@test "data sets of the package" {
    needs_package
    printf 'factor,young\nuniform(0.5,1),1e6\n1e200,1e6\n1,normal(1e6,5%%)\n' > table.csv
    { cat table.csv && printf '1,1e6\n1e200,1e6\n' && for i in {1..60}; do echo 'uniform(0,1),1e6'; done; } > rows.csv
    simbatch mesh.npz -q --basis basis.npz --poly poly.npz --loads loads.csv --table rows.csv --rates --statistics --dt 0.01 --steps 200 -o many.npz
    tests test_dataset
    no_faults
}

@test "a model with a stated error from Python" {
    needs_package
    printf '0,0.05,all,,0,0,-90\n' > pull.csv
    "$PYTHON" -W error - <<-'END' > out.txt 2>&1 || fault "$(cat out.txt)"
	import os, supple
	model = supple.reduce('mesh.npz', ['pull.csv'], step=0.01, duration=0.2, output='model', error=0.05, options=['--held-out', '2'])
	assert model.kept and 0 < model.error <= 0.05 and model.r >= 1, model
	assert model.statement.startswith('r = %d,' % model.r), model.statement
	assert model.scene is None
	with open('knock.csv', 'w') as f:
	    f.write('0,0.1,vertex,near:0,0,0,0,20000,8000\n')
	free = supple.reduce('free.npz', ['knock.csv'], step=0.01, steps=10, output='free', best=True, options=['--held-out', '1', '-r', '4'])
	for path in (model.basis, model.forces, model.report, model.script, free.basis, free.forces, free.scene):
	    assert os.path.exists(path), path
	assert supple.load(model.basis)['U'].shape[1] == model.r
	for bad, status, said in (({'error': 2}, supple.Status.USAGE, '--error'), ({'mesh': 'no.npz'}, supple.Status.INPUT, 'no.npz'),
	                          ({'program': 'no-such-program'}, supple.Status.SYSTEM, 'no-such-program'),
	                          ({'error': 1e-9, 'options': ['-r', '2']}, supple.Status.NUMERICAL, 'no model of up to 2 coordinates')):
	    try:
	        supple.reduce(**{'mesh': 'mesh.npz', 'loads': ['pull.csv'], 'step': 0.01, 'steps': 20, 'output': 'bad', **bad})
	    except supple.Error as failure:
	        assert failure.status == status and said in str(failure), (failure.status, str(failure))
	    else:
	        raise AssertionError(bad)
	END
    no_faults
}

@test "scenes of the package" {
    needs_package
    tests test_scene
    no_faults
}

# one_step FOLDER: moves a body by the package in this folder. Its library has this path.
one_step() {
    local work=$PWD
    (cd / && env -u SUPPLE_LIBRARY PYTHONPATH="$1" "$PYTHON" -W error -c '
import pathlib, sys, supple
folder, work = sys.argv[1:]
assert supple.__file__.startswith(folder), supple.__file__
body = supple.Body(*(f"{work}/{name}.npz" for name in ("mesh", "basis", "poly")))
body.start(q=[0.1] * 6)
body.step()
print(body.time, *(line.split()[-1] for line in pathlib.Path("/proc/self/maps").read_text().splitlines() if "libsupple" in line and "r-x" in line))' "$1" "$work") > out.txt 2>&1 ||
        fault "$(cat out.txt)"
}

@test "ninja install installs the package, which finds the library beside it" {
    needs_package
    install_build
    folder=$(dirname "$(find "$root" -path '*-packages/supple')")
    [ -f "$folder/supple/py.typed" ] || fault "$(find "$root" -name '*supple*')"
    one_step "$folder"
    [ "$(< out.txt)" = "0.01 $library" ] || fault "$(< out.txt)"
    PYTHONPATH=$folder "$PYTHON" -m supple modes.npz > listed && grep -qx "modes.npz: modes" listed || fault 'python3 -m supple'
    # in the search path of the Python that runs Meson, with this prefix or otherwise with any
    prefix=$(meson introspect --buildoptions "$SUPPLE_BUILD" | "$PYTHON" -c 'import json, sys; print(next(o["value"] for o in json.load(sys.stdin) if o["name"] == "prefix"))')
    searched=$(/usr/bin/python3 -I -c 'import sys; print(*sys.path, sep="\n")')
    ! grep -q "^$prefix/lib/.*-packages$" <<< "$searched" || grep -qxF "${folder#"$PWD/dest"}" <<< "$searched" || fault "$folder is not searched"
    no_faults
}

@test "pip installs the package" {
    needs_package
    "$PYTHON" -c 'import setuptools, wheel, pip' 2> /dev/null || skip 'no pip, setuptools or wheel'
    cp -r "$SUPPLE_SOURCE/python" source
    PYTHONPATH= "$PYTHON" -m pip install --no-index --no-build-isolation --no-deps --quiet --target site ./source > log 2>&1 || fault "$(cat log)"
    (cd "$SUPPLE_SOURCE/python/supple" && printf '%s\n' *.py py.typed | sort) > listed
    (cd site/supple && printf '%s\n' *.py py.typed | sort) | cmp - listed || fault "$(ls site/supple)"
    [ -d site/supple-"$(sed -n "s/^__version__ = '\(.*\)'/\1/p" source/supple/__init__.py)".dist-info ] || fault "$(ls site)"
    LD_LIBRARY_PATH=$SUPPLE_BUILD/api one_step "$PWD/site"
    [[ $(< out.txt) == "0.01 $SUPPLE_BUILD/api/libsupple.so.0."* ]] || fault "$(< out.txt)"
    no_faults
}

@test "the package compiles, and its types are those that mypy infers" {
    needs_package
    cp -r "$SUPPLE_SOURCE/python" source
    "$PYTHON" -W error -m compileall -q source/supple > log || fault "$(< log)"
    "$PYTHON" -c 'import mypy' 2> /dev/null || skip 'compiled; no mypy'
    "$PYTHON" -m mypy --strict-optional source/supple > log || fault "$(< log)"
    no_faults
}
