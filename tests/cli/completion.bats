#!/usr/bin/env bats
# Completion of command lines in bash and zsh, which the programs write (--completion).

load common

# completes WORD...: the words that bash offers for the last one, a list in order. bash has divided words at "=" before.
completes() {
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
    "_supple_$1" "$1" "${*: -1}" "${*: -2:1}"
    printf '%s\n' "${COMPREPLY[@]}" | sort
}

# offers WORDS WORD...: bash offers these words, in any order.
offers() {
    local want=$1 found
    shift
    found=$(completes "$@" | tr '\n' ' ')
    [ "${found% }" = "$(printf '%s\n' $want | sort | tr '\n' ' ' | sed 's/ $//')" ] || fault "$*: offers $found, not $want"
}

@test "bash: every option of --help is offered, and the words of every choice" {
    local tool name letter argument text want
    for tool in $(tools); do
        source /dev/stdin <<< "$("$tool" --completion bash)"
        want='--help -h --version -v'
        while read -r name letter argument text; do
            [[ $name != help && $name != version ]] || continue
            want+=" --$name"
            [ "$letter" = - ] || want+=" -$letter"
            [[ $argument != *'|'* ]] || offers "${argument//|/ }" "$tool" "--$name" ''
        done < <(entries_of "$tool")
        offers "$want" "$tool" -
    done
    no_faults
}

@test "zsh: every option of --help has its line" {
    local tool name letter argument text
    for tool in $(tools); do
        "$tool" --completion zsh > script
        [ "$(head -n 1 script)" = "#compdef $tool" ] || fault "$tool: $(head -n 1 script)"
        while read -r name letter argument text; do
            case $name in
            help | version) grep -qF "{-$letter,--$name}'[" script || fault "$tool: $name" ;;
            *) grep -qE "^ {8}'.*--$name(=|\}'|=\}')?\[" script || fault "$tool: $name" ;;
            esac
        done < <(entries_of "$tool")
        ! command -v zsh > /dev/null || zsh -n script || fault "$tool"
    done
    no_faults
}

@test "bash: files by their endings, folders, every file where there is none of these" {
    mkdir files files/sub
    cd files
    touch a.npz b.npz b.csv c.obj 'd e.csv' scene.json
    for tool in voxelize simfull simscene simimport simrender; do
        source /dev/stdin <<< "$("$tool" --completion bash)"
    done
    offers 'a.npz b.npz sub' simfull ''
    offers 'b.npz' simfull b.npz '' --output b
    offers 'scene.json sub' simscene ''
    offers 'a.npz b.npz c.obj sub' voxelize ''
    offers 'b.csv' simfull a.npz --loads b
    [ "$(completes simfull --loads d)" = 'd e.csv' ] || fault "$(completes simfull --loads d)"
    offers 'b.csv' simfull --loads = b
    offers 'a.npz b.npz sub' simfull --cut 0.5 = ''
    offers 'a.npz b.npz sub' simfull --cut 0.5 =
    offers '' simfull --cut 0
    offers 'scene.json sub' simimport s
    offers 'a.npz b.npz scene.json sub' simrender b.npz --output x.png ''
    # there is no .bou: any file
    offers 'c.obj' simimport --fixed c
    offers '' simfull --dt ''
    no_faults
}

@test "an option that was given is offered again only if it may be repeated" {
    source /dev/stdin <<< "$(voxelize --completion bash)"
    offers '--fill --fix-box --fix-half-space --fix-vertices --factor --fibre' voxelize a.obj --f
    offers '--fix-box --fix-half-space --fix-vertices --factor --fibre' voxelize a.obj --fill --fix-box 0,0,0,1,1,1 --f
    offers '' voxelize -n 20 a.obj --resol
    offers '--fill' voxelize a.obj --fill # the word at the cursor itself
    no_faults
}

# in_shell SHELL: what TAB makes of these lines.
in_shell() {
    command -v "$1" > /dev/null || skip "no $1"
    mkdir folder
    cd folder
    touch spoon.obj spoon.csv 'my model.npz' deep.npz
    modes --completion "$1" > modes.script
    voxelize --completion "$1" > voxelize.script
    simfull --completion "$1" > simfull.script
    "$PYTHON" "$SUPPLE_SOURCE/tests/cli/completion.py" "$1" "$PWD"/{modes,voxelize,simfull}.script > made.txt <<-'END' || fault "$1: $(< made.txt)"
	voxelize sp| --resol| 20
	voxelize spoon.obj --law stable| --grid=c|
	modes my| -k 4
	simfull deep.npz --load| spo|
	simfull deep.npz --cut 0.5=de|
	END
    diff made.txt - <<-'END' || fault "$1"
	spoon.obj --resolution 20
	spoon.obj --law stable-neo-hookean --grid=cube
	my model.npz -k 4
	deep.npz --loads spoon.csv
	deep.npz --cut 0.5=deep.npz
	END
    no_faults
}

@test "bash on a terminal" {
    in_shell bash
}

@test "zsh on a terminal" {
    in_shell zsh
}

@test "--completion needs a shell that it knows" {
    refused 2 '^modes: --completion needs a value$' modes --completion
    refused 2 '^modes: --completion: "fish" is not one of bash\|zsh$' modes --completion fish
    try modes mesh.npz --completion=zsh
    [ "$code: $err" = '0: ' ] || fault "$code $err"
    cmp -s "$stdout" <(modes --completion zsh) || fault '--completion=zsh'
    code=0
    modes --completion bash > /dev/full 2> err || code=$?
    [ $code = 4 ] || fault "a full device: exit $code"
    no_faults
}
