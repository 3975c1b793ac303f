#!/usr/bin/env bats
# The sources themselves: scripts/lint without its builds.

setup() {
    SOURCE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
}

@test "clang-format leaves the C files as they are" {
    command -v clang-format-14 > /dev/null || skip 'no clang-format-14'
    "$SOURCE/scripts/lint" format
}

@test "shellcheck has nothing to say" {
    command -v shellcheck > /dev/null || skip 'no shellcheck'
    "$SOURCE/scripts/lint" shell
}

@test "every #include goes down the order of layers" {
    "$SOURCE/scripts/lint" layers
}
