#!/usr/bin/env bats
# The files that `meson install` installs.

load common

@test "meson install: programs, manual pages, documents, samples, readers" {
    local root library file tool
    install_build
    for tool in $(tools); do
        [ -x "$root/bin/$tool" ] || fault "bin/$tool"
        [ -f "$root/share/man/man1/$tool.1" ] || fault "man1/$tool.1"
        cmp -s <("$tool" --completion bash) "$root/share/bash-completion/completions/$tool" || fault "completions/$tool"
        cmp -s <("$tool" --completion zsh) "$root/share/zsh/site-functions/_$tool" || fault "site-functions/_$tool"
        [ "$("$root/bin/$tool" --version)" = "$("$tool" --version)" ] || fault "bin/$tool does not run"
    done
    [ -f "$root/share/man/man7/supple.7" ] || fault man7/supple.7
    for file in "$SUPPLE_SOURCE"/formats/*.md; do
        [ -f "$root/share/doc/supple/formats/${file##*/}" ] || fault "formats/${file##*/}"
    done
    if has manual; then
        [ -f "$root/share/man/man5/supple-mesh.5" ] || fault man5/supple-mesh.5
    fi
    for file in README.md CHANGELOG.md CITATION.cff LICENSE docs/tutorial.md docs/pictures/modes.png formats/scene.schema.json formats/skeleton.schema.json \
        samples/README.md samples/common.mk samples/spoon/Makefile samples/spoon/model.py scripts/cluster/README.md scripts/cluster/variant; do
        cmp -s "$SUPPLE_SOURCE/$file" "$root/share/doc/supple/$file" || fault "share/doc/supple/$file"
    done
    for file in supple.py supple.jl supple_read.m; do
        cmp -s "$SUPPLE_SOURCE/scripts/$file" "$root/share/supple/$file" || fault "share/supple/$file"
    done
    [ -z "$(find dest -name out -o -name __pycache__)" ] || fault "litter: $(find dest -name out -o -name __pycache__)"
    ! readelf -S "$root/bin/simulate" | grep -q '\.symtab' || fault 'not stripped'
    # relative links of the documents lead somewhere
    grep -o '](\(docs\|formats\|samples\|CHANGELOG\|LICENSE\|CITATION\)[^)#]*' "$root/share/doc/supple/README.md" | cut -c3- | while read -r file; do
        [ -e "$root/share/doc/supple/$file" ] || echo "README: $file"
    done > broken.txt
    [ ! -s broken.txt ] || fault "$(cat broken.txt)"
    # a sample runs with the installed programs
    cp -r "$root/share/doc/supple/samples" own
    PATH=$root/bin:$PATH make -s -n -C own/spoon > said.txt 2>&1 || fault "make: $(tail -n 2 said.txt)"
    no_faults
}
