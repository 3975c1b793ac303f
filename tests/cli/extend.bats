#!/usr/bin/env bats
# "Where something new goes" of docs/design.md has every place, and each of them speaks.

load common

setup() {
    faults=
}

@test "the compiler names the places of a new law, element type and integrator" {
    needs_plain_build 'it compiles sources'
    [ -f "$SUPPLE_BUILD/compile_commands.json" ] || skip 'no build by meson'
    "$PYTHON" "$BATS_TEST_DIRNAME/extend.py" compilers "$SUPPLE_SOURCE" "$SUPPLE_BUILD" "$BATS_TEST_TMPDIR"
}

@test "documents have the words of every law, element type and integrator" {
    "$PYTHON" "$BATS_TEST_DIRNAME/extend.py" documents "$SUPPLE_SOURCE" "$SUPPLE_BUILD"
}
