#!/usr/bin/env bats
# The commands of README.md and docs/tutorial.md run as printed, in a folder with nothing but copies of the spoon's sample. Which blocks
# are commands: fenced ones that are marked "sh" or not marked, and indented ones. Those that need a network, root or a build are fenced
# and marked "sh no-run"; a block marked "text" is what the commands above it print. scripts/commands has the rule, and prints them.
load common

# run_document FILE FEWEST: runs the commands in the folder checkout, of which there have to be so many lines at least. What they print goes
# to `printed`.
run_document() {
    local source=$SUPPLE_SOURCE
    mkdir -p checkout/samples/spoon
    cp "$source/samples/soup.py" checkout/samples
    cp "$source"/samples/spoon/{model.py,impulse.csv} checkout/samples/spoon
    "$source/scripts/commands" "$source/$1" > commands
    [ "$(wc -l < commands)" -ge "$2" ] || fault "$1 has $(wc -l < commands) lines of commands"
    (cd checkout && BASH_XTRACEFD=5 bash -euxo pipefail ../commands > ../printed 2>&1 5> ../trace) || fault "$1: $(tail -n 1 trace): $(tail -n 1 printed)"
}

# Lines without their numbers, whose digits and widths depend on the processor and on the clock.
without_numbers() {
    sed -E 's/[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?/N/g; s/ +/ /g' "$1"
}

# Every line of the blocks "text" of a document is in `printed`.
printed_as_in() {
    local line
    awk '/^```text/ { on = 1; next } /^```/ { on = 0 } on' "$SUPPLE_SOURCE/$1" > shown
    [ -s shown ] || fault "$1 shows nothing that commands print"
    without_numbers printed > printed.plain
    while IFS= read -r line; do
        grep -qxF -- "$line" printed.plain || fault "$1: not printed: $line"
    done < <(without_numbers shown)
}

# shows_made_pictures FILE: every PNG that a document shows is there, and is the name of a file that its commands made.
shows_made_pictures() {
    local folder=$SUPPLE_SOURCE picture pictures=0
    [[ $1 != */* ]] || folder+=/${1%/*}
    while IFS= read -r picture; do
        pictures=$((pictures + 1))
        [ -s "$folder/$picture" ] || fault "$1: $picture is missing"
        [[ $picture != *.png ]] || [ -n "$(find checkout -name "${picture##*/}" -size +0)" ] || fault "$1: its commands do not make $picture"
    done < <(grep -oE '!\[[^]]*\]\([^)]+\)' "$SUPPLE_SOURCE/$1" | sed 's/.*(\(.*\))/\1/')
    [ "$pictures" -gt 0 ] || fault "$1 shows no pictures"
}

@test "the commands of README.md run as printed" {
    run_document README.md 11
    shows_made_pictures README.md
    # the reduced motion is that of the full model within a tenth
    awk '$1 == "reduced" { found = 1; exit !($4 < 0.1) } END { if (!found) exit 1 }' printed || fault "$(cat printed)"
    no_faults
}

@test "the commands of docs/tutorial.md run and print as printed" {
    run_document docs/tutorial.md 50
    shows_made_pictures docs/tutorial.md
    printed_as_in docs/tutorial.md
    (shopt -s failglob; ls checkout/build/tutorial/ball/motion{.csv,.pvd,_*.vtu}) > /dev/null || fault 'the scene was not exported'
    no_faults
}

@test "README.md is short" {
    [ "$(wc -l < "$SUPPLE_SOURCE/README.md")" -le 150 ]
}

@test "pictures of documents are small" {
    large=$(find "$SUPPLE_SOURCE/docs/pictures" -size +100k)
    [ -z "$large" ] || fault "larger than 100 KiB: $large"
    no_faults
}

@test "links of README.md and of docs lead to files" {
    links=0
    for document in "$SUPPLE_SOURCE"/README.md "$SUPPLE_SOURCE"/docs/*.md; do
        while IFS= read -r link; do
            links=$((links + 1))
            [ -e "${document%/*}/$link" ] || fault "${document#"$SUPPLE_SOURCE/"}: no $link"
        done < <(grep -oE '\]\([^) ]+\)' "$document" | sed 's/^](//; s/)$//; s/#.*//' | grep -vE '^$|^[a-z]+:' | sort -u)
    done
    [ "$links" -gt 20 ] || fault "only $links links"
    no_faults
}
