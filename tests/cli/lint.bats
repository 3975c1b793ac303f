#!/usr/bin/env bats
# The sources themselves: scripts/lint without its builds.

setup() {
    SOURCE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
}

@test "clang-format leaves the C files as they are" {
    local said
    said=$("$SOURCE/scripts/lint" format 2>&1) || {
        echo "$said"
        return 1
    }
    [[ $said != *'left out'* ]] || skip "$said"
}

@test "shellcheck has nothing to say" {
    command -v shellcheck > /dev/null || skip 'no shellcheck'
    "$SOURCE/scripts/lint" shell
}

@test "every #include goes down the order of layers" {
    "$SOURCE/scripts/lint" layers
}

@test "functions have paragraphs" {
    "$SOURCE/scripts/lint" paragraphs
}
