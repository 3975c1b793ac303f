#!/usr/bin/env bats
# siminfo --stale: whether a file is out of date, by the contents of its inputs.

load common

# stale CODE TEXT ARGUMENT…: siminfo --stale ends with the code, and prints the text (a pattern; "" for nothing).
stale() {
    local want=$1 pattern=$2
    shift 2
    try siminfo --stale "$@"
    [ "$code" = "$want" ] || fault "siminfo --stale $*: exit $code, not $want: $err"
    [ -z "$err" ] || fault "siminfo --stale $*: $err"
    [[ $(< "$stdout") =~ ^$pattern$ ]] || fault "siminfo --stale $*: not \"$pattern\": $(< "$stdout")"
}

@test "a file is out of date when the content of an input is another one, whatever its date" {
    local file
    for file in mesh modes deriv basis poly cub traj field shell; do
        stale 0 '' $file.npz
    done
    touch bar.obj mesh.npz
    stale 0 '' mesh.npz
    stale 0 '' modes.npz
    echo '# a remark' >> bar.obj
    stale 1 'bar.obj: its content is [0-9a-f]{12} now and was '"$(sha256sum "$DATA/bar.obj" | cut -c 1-12)" mesh.npz
    stale 0 '' modes.npz # the mesh itself is still the same
    cp twin.npz mesh.npz
    stale 1 "mesh.npz: its content is $(siminfo --hash twin.npz | cut -c 1-12) now and was $(siminfo --hash "$DATA/mesh.npz" | cut -c 1-12)" modes.npz
    rm modes.npz
    stale 1 $'mesh.npz: its content is [^\n]*\nmodes.npz: missing' deriv.npz
    try siminfo -q --stale deriv.npz
    [ "$code$err$(< "$stdout")" = 1 ] || fault "-q: exit $code: $err$(< "$stdout")"
    no_faults
}

@test "inputs among the arguments, in other folders, and from standard input" {
    mkdir here there
    cp poly.npz here
    stale 1 $'here/mesh.npz: missing\nhere/basis.npz: missing' here/poly.npz
    stale 0 '' here/poly.npz mesh.npz basis.npz
    stale 1 'here/basis.npz: missing' here/poly.npz mesh.npz
    cp mesh.npz basis.npz here
    stale 0 '' here/poly.npz
    cp twin.npz there/mesh.npz
    stale 1 'there/mesh.npz: its content is .*' here/poly.npz there/mesh.npz
    stale 0 '' here/poly.npz there/mesh.npz mesh.npz # one of the two has the content
    stale 1 'bar.obj: here/poly.npz was made without a file of this name' here/poly.npz bar.obj
    input=poly.npz stale 0 '' -
    modes - -k 2 -q -o piped.npz < mesh.npz
    stale 1 'piped.npz: an input had no name, and cannot be looked up' piped.npz
    # inputs of options, and those that a scene names
    simscene scene.json --steps 2 -q -o run.npz
    stale 0 '' run.npz
    sed -i 's/^0,3/0,3.5/' hand.csv
    stale 1 'hand.csv: its content is .*' run.npz
    mkdir scenes
    cp scene.json scenes
    stale 1 $'scenes/mesh.npz: missing\n.*' run.npz scenes/scene.json
    no_faults
}

@test "another version, and what siminfo --stale refuses" {
    refused 2 'one file expected; inputs are named with --stale only' siminfo modes.npz mesh.npz
    refused 2 '^siminfo: --stale does not apply beside --json$' siminfo --json --stale modes.npz
    refused 2 '^siminfo: --partial does not apply beside --stale$' siminfo --partial --stale modes.npz
    refused 3 '^siminfo: none.npz: cannot open' siminfo --stale none.npz
    refused 3 '^siminfo: bar.obj: not a Supple file' siminfo --stale bar.obj
    head -c 2000 modes.npz > cut.npz
    refused 3 '^siminfo: cut.npz: ' siminfo --stale cut.npz
    head -c 2000 mesh.npz > part && mv part mesh.npz
    refused 3 '^siminfo: mesh.npz: ' siminfo --stale modes.npz
    cp "$DATA/mesh.npz" .
    needs_numpy
    "$PYTHON" "$SUPPLE_SOURCE/tests/cli/forge.py" modes.npz old.npz "meta['version'] = '0.0.1'" || fault forge.py
    stale 1 'old.npz: made by version 0.0.1, and this is [0-9.]+' old.npz
    "$PYTHON" "$SUPPLE_SOURCE/tests/cli/forge.py" modes.npz bad.npz "meta['inputs'][0]['sha256'] = 'x'" || fault forge.py
    refused 3 '^siminfo: bad.npz: ' siminfo --stale bad.npz
    "$PYTHON" -c "import numpy; numpy.savez('plain.npz', a=numpy.zeros(3))"
    refused 3 '^siminfo: plain.npz: it does not say how it was made' siminfo --stale plain.npz
    no_faults
}
