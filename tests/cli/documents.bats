#!/usr/bin/env bats
# The commands of README.md and of the pages in docs run as printed, in a folder with copies of the spoon's sample only. Commands
# are blocks that are fenced and marked "sh" or not marked, and indented ones. Those that need a network, root or a build are fenced
# and marked "sh no-run". A block marked "text" shows what the commands above it print. scripts/commands implements these rules and prints the
# commands.
load common

# section FILE [HEADING]: the section of a document with this heading, or all of it.
section() {
    awk -v heading="## ${2-}" '/^## / { on = $0 == heading } on || heading == "## "' "$SUPPLE_SOURCE/$1"
}

# run_document FILE FEWEST [SECTION]: runs the commands of a document, or of its section with this heading, in the folder checkout. It has FEWEST
# lines
# of commands or more. Their output goes to `printed`.
run_document() {
    local source=$SUPPLE_SOURCE
    mkdir -p checkout/samples/spoon
    cp "$source/samples/soup.py" checkout/samples
    cp "$source"/samples/spoon/{model.py,impulse.csv} checkout/samples/spoon
    section "$1" "${3-}" > document.md
    "$source/scripts/commands" document.md > commands
    [ "$(wc -l < commands)" -ge "$2" ] || fault "$1 has $(wc -l < commands) lines of commands"
    (cd checkout && BASH_XTRACEFD=5 bash -euxo pipefail ../commands > ../printed 2>&1 5> ../trace) || fault "$1: $(tail -n 1 trace): $(tail -n 1 printed)"
}

# The lines of a file without their numbers, whose digits and widths depend on the processor and on the clock.
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

# shows_made_pictures FILE: every PNG that a document shows exists, and its commands make a file of that name.
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
    # the reduced motion is within a tenth of the full-order one
    awk '$1 == "reduced" { found = 1; exit !($4 < 0.1) } END { if (!found) exit 1 }' printed || fault "$(cat printed)"
    no_faults
}

# The Python program of docs/tutorial.md prints the frequencies that simexport writes, and displacements whose largest is at
# least the displacement of the tip.
results_in_python() {
    "$PYTHON" -c 'import numpy' 2> no-numpy || return 0
    awk '/^```python/ { on = 1; next } /^```/ { on = 0 } on' "$SUPPLE_SOURCE/docs/tutorial.md" > checkout/build/tutorial/results.py
    (cd checkout/build/tutorial && PYTHONPATH=$SUPPLE_SOURCE/python "$PYTHON" results.py && simexport modes.npz -q -o modes.csv) > results 2>&1 || fault "results.py: $(tail -n 1 results)"
    "$PYTHON" - results checkout/build/tutorial <<-'END' 2> err || fault "$(cat err)"
	import csv, re, sys
	text, folder = open(sys.argv[1]).read(), sys.argv[2]
	frequencies = [float(word) for word in re.search(r'Hz\]: \[([^]]*)', text).group(1).split()]
	table = [float(row['frequency_Hz']) for row in csv.DictReader(open(folder + '/modes.csv'))]
	assert len(table) == 6 and all(abs(a - b) < 1e-6 * b for a, b in zip(frequencies, table)), (frequencies, table)
	tip = [sum(float(row['s3320_' + axis]) ** 2 for axis in 'xyz') ** .5 for row in csv.DictReader(open(folder + '/tip.csv'))]
	lines = {name: re.findall(name + r' [\d.]+ s: mean displacement ([\d.]+) m, largest ([\d.]+) m', text) for name in ('full-order', 'reduced')}
	for name, rows in lines.items():
	    assert len(rows) == 4, (name, rows)
	    for (mean, largest), reached in zip(rows, tip[::20]):
	        assert float(mean) <= float(largest) and abs(float(largest) - reached) < 0.05 * max(tip), (name, mean, largest, reached)
	END
}

@test "the commands of docs/tutorial.md run and print as printed" {
    run_document docs/tutorial.md 50
    shows_made_pictures docs/tutorial.md
    printed_as_in docs/tutorial.md
    (shopt -s failglob; ls checkout/build/tutorial/ball/motion{.csv,.pvd,_*.vtu}) > /dev/null || fault 'the scene was not exported'
    results_in_python
    no_faults
}

# The displacement under the end load equals that of CalculiX, and the nonlinear one grows less than the load.
@test "the commands of docs/engineers.md run as printed" {
    command -v gnuplot > /dev/null || skip "no gnuplot"
    run_document docs/engineers.md 50
    tail -n 1 checkout/static.csv | awk -F, 'function is(metres, mm, digit) { return (metres * 1e3 - mm) ^ 2 < digit ^ 2 }
        { exit !(is($6, -0.1298132, 1e-7) && is($7, -0.0000634, 1e-7) && is($8, -1.711370, 1e-6)) }' || fault "$(tail -n 1 checkout/static.csv)"
    tail -n 1 checkout/held.csv | awk -F, '{ exit !(($4 - 10000) ^ 2 < 1e-6 && $2 ^ 2 < 1e-6) }' || fault "$(tail -n 1 checkout/held.csv)"
    awk -F, 'NR == 7 { half = $8; linear = $15 } NR == 12 { exit !($1 == 1 && $8 < half && $8 / half < 1.9 && ($15 / linear - 2) ^ 2 < 1e-18) }' checkout/deflection.csv ||
        fault "$(cat checkout/deflection.csv)"
    (cd checkout && shopt -s failglob; ls modes.csv modes.vtu static.pvd deflection.png reduced.npz) > /dev/null || fault 'files are missing'
    no_faults
}

@test "the commands of docs/vegafem.md run as printed" {
    SUPPLE=$SUPPLE_SOURCE run_document docs/vegafem.md 35
    no_faults
}

# In a folder of their own, as the page says, with SUPPLE for the checkout.
@test "the commands of docs/contact.md run and print as printed" {
    command -v gnuplot > /dev/null || skip "no gnuplot"
    mkdir scene
    "$SUPPLE_SOURCE/scripts/commands" "$SUPPLE_SOURCE/docs/contact.md" > commands
    [ "$(wc -l < commands)" -ge 100 ] || fault "docs/contact.md has $(wc -l < commands) lines of commands"
    (cd scene && SUPPLE=$SUPPLE_SOURCE BASH_XTRACEFD=5 bash -euxo pipefail ../commands > ../printed 2>&1 5> ../trace) || fault "docs/contact.md: $(tail -n 1 trace): $(tail -n 1 printed)"
    printed_as_in docs/contact.md
    ! grep -E ' sinks | too stiff | rose ' printed || fault 'its scenes have warnings'
    (cd scene && shopt -s failglob; ls device.png bounce.png frame_04.png drop_10.png drop.png contacts_motion.pvd) > /dev/null || fault 'files are missing'
    no_faults
}

@test "the commands of docs/accuracy.md run and print as printed, and the statement holds" {
    takes_long
    command -v gnuplot > /dev/null || skip "no gnuplot"
    run_document docs/accuracy.md 8
    shows_made_pictures docs/accuracy.md
    printed_as_in docs/accuracy.md
    # the last table is of a load that the search has not seen
    awk '/^r = / && !stated { stated = $(NF - 1) / 100 } $1 == "reduced" { error = $4 } END { exit !(error > 0 && error <= stated) }' printed || fault "$(cat printed)"
    no_faults
}

# examples_of PAGE: the commands of the EXAMPLES of a manual page, without its roff.
examples_of() {
    awk '/^\.Sh/ { on = $2 == "EXAMPLES" } !on { next } /^\.Bd/ { code = 1; next } /^\.Ed/ { code = 0; next } code' "$SUPPLE_SOURCE/man/$1" |
        sed 's/\\-/-/g; s/\\e/\\/g; s/\\(dq/"/g'
}

@test "the examples of simscene(1) run as printed" {
    examples_of simscene.1 | sed '/long.checkpoint/,$d; /--steps 5000000/,$d' > commands # the last example takes minutes
    [ "$(grep -c '^simscene ' commands)" -ge 3 ] || fault "$(< commands)"
    cp -r "$SUPPLE_SOURCE/samples" .
    BASH_XTRACEFD=5 bash -euxo pipefail commands > printed 2>&1 5> trace || fault "$(tail -n 1 trace): $(tail -n 1 printed)"
    ! grep -E ' sinks | too stiff | rose ' printed || fault 'its scenes have warnings'
    no_faults
}

@test "a model as C source in docs/embedding.md: the commands run as printed, and both motions end at the same place" {
    run_document docs/embedding.md 20 'A model as C source'
    # the last line of the C program and of simexport: time and displacement
    awk -F '[ ,]' 'BEGIN { n = 0 } /^0\.(300|29999)/ && NF == 4 { for (i = 1; i <= 4; i++) x[n, i] = $i; n++ }
        END { if (n != 2) exit 1; for (i = 1; i <= 4; i++) { d = x[0, i] - x[1, i]; if (d * d > 1e-17) exit 1 } if (x[0, 4] * x[0, 4] < 1e-6) exit 1 }' printed || fault "$(cat printed)"
    no_faults
}

# listings FILE: writes the listings in C and Python, each of which begins with a comment with its name, and the names to `names`.
listings() {
    awk '/^```(c|python)$/ { on = 1; next } /^```/ { on = 0 }
        on == 1 { on = 2; name = $2; if ($1 != "/*" && $1 != "#" || name !~ /^[a-z-]+\.(c|py)$/) { print "a listing without a name: " $0; exit 1 } print name > "names" }
        on { print > name }' "$1"
}

@test "libsupple and Python in docs/embedding.md: the listings run, and print the same motions" {
    needs_plain_build 'its programs have none'
    needs_numpy
    cp mesh.npz spoon.npz # the file names of the page
    for part in libsupple Python; do
        section docs/embedding.md $part
    done > document.md
    listings document.md || fault 'docs/embedding.md: a listing does not begin with a comment with its name'
    "$SUPPLE_SOURCE/scripts/commands" document.md > commands
    while read -r name; do
        grep -qE "^(cc|c\+\+|python3) .*$name" commands || fault "no command uses $name"
    done < names
    mkdir bin
    ln -s "$(command -v "$PYTHON")" bin/python3
    install_build
    PYTHONPATH=$(dirname "$(find "$root" -path '*-packages/supple')")
    export PYTHONPATH PATH=$PWD/bin:$PATH LD_LIBRARY_PATH=${library%/*} PKG_CONFIG_SYSROOT_DIR=$PWD/dest PKG_CONFIG_PATH=${library%/*}/pkgconfig
    if ! BASH_XTRACEFD=5 bash -euxo pipefail commands > printed 2>&1 5> trace; then
        fault "$(tail -n 1 trace): $(tail -n 1 printed)"
        no_faults
    fi
    [ "$(wc -l < tip.txt)" = 100 ] && awk '$2 > most { most = $2 } END { exit !($1 == 0.3 && most > 0) }' tip.txt || fault "tip.txt: $(tail -n 1 tip.txt)"
    grep -qxE '1\.000 s: the device renders -?[0-9.]+ N upwards' hand.txt || fault "$(< hand.txt)"
    no_faults
}

@test "functions that docs/design.md names are in the files that it names" {
    local name file count=0
    while read -r name file; do
        grep -qE "^[a-z].*[ *]$name\\(" "$SUPPLE_SOURCE/$file" || fault "$name is not in $file"
        count=$((count + 1))
    done < <(grep -oE '`[a-z_]+` \([a-z_/]+\.c\)' "$SUPPLE_SOURCE/docs/design.md" | tr -d '`()')
    [ $count -gt 30 ] || fault "only $count functions"
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

# Every Markdown file of the source.
markdown() {
    (cd "$SUPPLE_SOURCE" && find . -maxdepth 1 -name '*.md' -printf '%P\n' && find docs samples formats scripts -path 'samples/*/out' -prune -o -name '*.md' -print)
}

@test "links of Markdown lead to files and headings" {
    mapfile -t documents < <(markdown)
    [ ${#documents[@]} -gt 40 ] || fault "only ${#documents[@]} documents"
    try "$PYTHON" "$SUPPLE_SOURCE/tests/cli/links.py" "$SUPPLE_SOURCE" "${documents[@]}"
    mapfile -t found < "$stdout"
    [ "${#found[@]}" = 1 ] || fault "${found[@]}"
    [ "${found[-1]}" -gt 250 ] || fault "only ${found[-1]} links"
    no_faults
}

@test "a link to no file, to no heading or out of the source is found" {
    printf '%s\n' '# A b: (c)' '[1](a.md#a-b-c) [2](b.md) [3](a.md#d) [4](../a.md) `[5](c.md)`' '```' '[6](c.md)' '```' > a.md
    try "$PYTHON" "$SUPPLE_SOURCE/tests/cli/links.py" . a.md
    printf '%s\n' 'a.md: b.md: no file' 'a.md: a.md#d: no anchor' 'a.md: ../a.md: leads out' 4 > expected
    cmp expected "$stdout" || fault "$(cat "$stdout")"
    no_faults
}

@test "every sample has a page, which the index names" {
    for makefile in "$SUPPLE_SOURCE"/samples/*/Makefile; do
        name=$(basename "$(dirname "$makefile")")
        [ -s "${makefile%/*}/README.md" ] || fault "samples/$name: no README.md"
        grep -qF "]($name/README.md)" "$SUPPLE_SOURCE/samples/README.md" || fault "samples/README.md: no $name"
    done
    no_faults
}

@test "commands of the pages of samples name targets of their Makefiles" {
    mkdir -p checkout stubs
    tar -C "$SUPPLE_SOURCE" -cf - --exclude='samples/*/out' samples scripts | tar -xf - -C checkout
    for name in $(tools); do # recipes with $(MAKE) run even in a dry run
        ln -s /bin/true "stubs/$name"
    done
    cd checkout || return
    commands=0
    while IFS= read -r line; do
        commands=$((commands + 1))
        if [[ $line =~ \ MODEL=([^ ]+) ]]; then # models of other projects
            mkdir -p "samples/x/$(dirname "${BASH_REMATCH[1]}")"
            touch "samples/x/${BASH_REMATCH[1]}"
        fi
        eval "${line/make /make -n TOOLS="$PWD/../stubs" }" > log 2>&1 || fault "$line: $(grep -F "***" log)"
    done < <(sed -zE 's/\\\n */ /g' samples/*/README.md | grep -aoE '(^|`)make -C samples/[^`]*' | tr -d '`')
    [ "$commands" -ge 20 ] || fault "only $commands commands"
    no_faults
}

@test "samples that need a part of the build end before any work where it is not there, and their pages say so first" {
    mkdir -p checkout stubs
    tar -C "$SUPPLE_SOURCE" -cf - --exclude='samples/*/out' samples scripts | tar -xf - -C checkout
    for name in $(tools); do
        printf '#!/bin/sh\necho "%s: this build has none" >&2\nexit 2\n' "$name" > "stubs/$name"
        chmod +x "stubs/$name"
    done
    cd checkout/samples || return
    for sample in 'bowl sound' 'page page' 'wire sound sound'; do
        read -r name part goal <<< "$sample"
        rm -rf "$name/out"
        code=0
        make -C "$name" TOOLS="$PWD/../../stubs" $goal > log 2>&1 || code=$?
        [ $code = 2 ] && grep -q "this build has none: scripts/prepare $part installs" log || fault "$name: exit $code: $(< log)"
        [ ! -e "$name/out" ] || fault "$name: work was done"
        make -C "$name" TOOLS="$PWD/../../stubs" clean > log 2>&1 || fault "$name: clean: $(< log)"
        sed '/^make -C/q' "$name/README.md" | grep -q "scripts/prepare $part" || fault "$name/README.md: scripts/prepare $part is not named first"
    done
    # whatever writes sound files or pages
    for makefile in */Makefile; do
        if grep -Eq '\.wav|\.html' "$makefile"; then
            grep -q '^NEEDS = ' "$makefile" || fault "$makefile: no NEEDS"
        fi
    done
    no_faults
}

@test "options in documents are those of a program" {
    for name in $(tools); do
        entries_of "$name"
    done | cut -d ' ' -f 1 | sort -u > options
    spans=0
    while IFS=: read -r document span; do
        [[ $span != '`'@(scripts/|packaging/|bench/|meson|make|bats)* ]] || continue
        spans=$((spans + 1))
        for word in $(tr -c 'a-z0-9-' ' ' <<< "$span"); do
            [[ $word != --[a-z]*[a-z0-9] ]] || grep -qxF -- "${word#--}" options || fault "$document: no program has $word"
        done
    done < <(cd "$SUPPLE_SOURCE" && grep -oE -- '`[^`]*--[a-z][^`]*`' README.md docs/*.md samples/*/README.md)
    [ "$spans" -gt 150 ] || fault "only $spans spans"
    no_faults
}

@test "scripts/site builds pages whose links lead somewhere" {
    command -v lowdown > /dev/null || skip "no lowdown"
    command -v mandoc > /dev/null || skip "no mandoc"
    try "$SUPPLE_SOURCE/scripts/site" site
    [ "$code" = 0 ] || fault "$err"
    mapfile -t pages < <(cd site && find . -name '*.html' -printf '%P\n')
    want=$(($(markdown | wc -l) + $(find "$SUPPLE_SOURCE/man" -name '*.[1-8]' | wc -l) + 2))
    [ "${#pages[@]}" = "$want" ] || fault "${#pages[@]} pages, not $want"
    for page in "${pages[@]}"; do
        words=$(sed -n '/<main>/,/<\/main>/p' "site/$page" | sed 's/<[^>]*>//g' | wc -w)
        [ "$words" -gt 30 ] || fault "$page: only $words words"
        ! grep -oE '(href|src)="[^"]*\.md[#"]' "site/$page" || fault "$page: a link to Markdown"
    done
    try "$PYTHON" "$SUPPLE_SOURCE/tests/cli/links.py" site "${pages[@]}"
    mapfile -t found < "$stdout"
    [ "${#found[@]}" = 1 ] || fault "${found[@]}"
    [ "${found[-1]}" -gt 1500 ] || fault "only ${found[-1]} links"
    no_faults
}

@test "scripts/site replaces a site and nothing else, and names what is missing" {
    command -v lowdown > /dev/null || skip "no lowdown"
    command -v mandoc > /dev/null || skip "no mandoc"
    mkdir other
    echo mine > other/file
    try "$SUPPLE_SOURCE/scripts/site" other
    [[ $code = 4 && $err == 'site: '*'other: is there and is not a site'* ]] || fault "$code: $err"
    try "$SUPPLE_SOURCE/scripts/site" other more
    [[ $code = 2 && $err == 'usage: '* ]] || fault "$code: $err"
    try env PATH=/nonexistent "$("$PYTHON" -c 'import sys; print(sys.executable)')" "$SUPPLE_SOURCE/scripts/site" new
    [[ $code = 4 && $err == 'site: lowdown is not there: apt-get install lowdown' ]] || fault "$code: $err"
    [ "$(cat other/file)" = mine ] || fault 'a folder of others was changed'
    [ ! -e new ] || fault 'a site that failed was left'
    mkdir there
    for _ in 1 2; do
        try "$SUPPLE_SOURCE/scripts/site" there
        [ "$code" = 0 ] || fault "$err"
        [ ! -e there/old ] || fault 'what an older site had is still there'
        touch there/old
    done
    [ -z "$(find . -maxdepth 1 -name '.site-*')" ] || fault 'litter'
    no_faults
}

@test "docs/engineers.md lists the keywords of the importer of .inp" {
    # list : names, one a line, of the source and of the table
    awk -F'"' '/^static const char \*const/ { split($0, w, /const /); split(w[3], l, "["); list = l[1] }
        list { for (i = 2; i < NF; i += 2) print list ":" $i } /NULL};/ { list = "" }' \
        "$SUPPLE_SOURCE/formats/import/volume_inp_keywords.c" | sort > code
    awk -F' [|] ' '/^### All keywords/ { on = 1 } /^## / { on = 0 }
        on && /^[|] .*`[*]/ { list = $1 ~ /because/ ? "harmless" : $1 ~ /on the material/ ? "material" : $1 ~ /remark/ ? "remarked" : $1 ~ /refused/ ? "refused" : "read_ones"
            while (match($0, /`[*][A-Z -]*`/)) { name = substr($0, RSTART + 2, RLENGTH - 3); $0 = substr($0, RSTART + RLENGTH)
                if (name != "ELASTIC" || list != "material") print list ":" name } }' "$SUPPLE_SOURCE/docs/engineers.md" | sort > table
    [ "$(wc -l < code)" -gt 200 ]
    diff code table
}
