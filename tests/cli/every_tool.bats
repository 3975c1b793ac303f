#!/usr/bin/env bats
# Behaviour that all programs share.

load common

# The programs share the code that reads options. Under sanitizers, which make a start slow, two of them stand for all.
tools() {
    if sanitized; then
        echo simfull simexport
    else
        (cd "$HELP" && echo *)
    fi
}

@test "the tools that Meson names were built" {
    local tool
    # the words between quotes of tool_names = […]
    for tool in $(tr '\n' ' ' < "$SUPPLE_SOURCE/tools/meson.build" | sed "s/.*tool_names *= *\[\([^]]*\)\].*/\1/" | tr -cd 'a-z0-9 '); do
        [ -x "$SUPPLE_BUILD/tools/$tool" ] || fault "$tool is not there"
        [ -e "$HELP/$tool" ] || fault "$tool has no help"
        command_of "$tool" || fault "$tool has no command line in these tests"
    done
    no_faults
}

@test "--help and --version" {
    needs_plain_build 'it compares texts'
    local tool
    for tool in $(tools); do
        for word in --help-all --help -h; do
            try "$tool" "$word"
            [ "$code" = 0 ] || fault "$tool $word: exit $code"
            [ -z "$err" ] || fault "$tool $word: $err"
            cp "$stdout" "said$word"
        done
        cmp -s said--help-all "$HELP/$tool" || fault "$tool --help-all: another text than before"
        cmp -s said--help said-h || fault "$tool -h: another text than --help"
        if grep -q -e '; --help-all prints' said--help; then
            cmp -s said--help-all said--help && fault "$tool --help: has all options"
        else
            cmp -s said--help-all said--help || fault "$tool --help: lacks options and does not name --help-all"
        fi
        [ "$(grep -cE '^  (-.,|   ) --' said--help)" -le 45 ] || fault "$tool --help: more than 45 options"
        [[ $(< "$HELP/$tool") == "Usage: $tool "*ptions:*--quiet*--help*--version*"Exit: 0 done, 1 the answer is no, 2 usage, 3 unusable input, 4 system,"$'\n'"5 numerical failure. Manual: man $tool" ]] ||
            fault "$tool --help: something is missing"
        for word in --version -v; do
            try "$tool" "$word"
            [ "$code$err" = 0 ] || fault "$tool $word: exit $code $err"
            [[ $(< "$stdout") =~ ^$tool\ \(Supple\)\ [0-9]+\.[0-9]+\.[0-9]+[[:space:]]OpenBLAS\ ([0-9.]+.*\ \(.*,\ kernels\ for\ [A-Za-z0-9_]+\)|not\ used),\ SuiteSparse\ [0-9.]+\ \(AMD\ [0-9.]+\),\ METIS\ [0-9.]+,\ ARPACK\ [0-9.]+$ ]] || fault "$tool $word: $(< "$stdout")"
        done
        # they take precedence over all other arguments
        try "$tool" no-such-file --help
        [ "$code" = 0 ] || fault "$tool no-such-file --help: exit $code"
    done
    no_faults
}

@test "--help to a full device is a failure" {
    local tool
    for tool in $(tools); do
        code=0
        "$tool" --help > /dev/full 2> err || code=$?
        [ $code = 4 ] || fault "$tool --help > /dev/full: exit $code"
        [ "$(wc -l < err)" = 1 ] || fault "$tool --help > /dev/full: $(< err)"
    done
    no_faults
}

@test "short options are only those of the design, and mean the same everywhere" {
    needs_plain_build 'it compares texts'
    local tool name letter argument default count=0
    for tool in $(tools); do
        while read -r name letter argument default; do
            count=$((count + 1))
            case $letter-$name in
            --* | n-* | k-* | r-rank | o-output | t-threads | q-quiet | h-help | v-version) ;;
            *) fault "$tool: -$letter, --$name" ;;
            esac
        done < <(options_of "$tool")
    done
    [ "$count" -gt 40 ] || fault "only $count options were found in the help texts"
    no_faults
}

@test "unknown options" {
    local tool
    for tool in $(tools); do
        full_command_of "$tool"
        refused 2 'unknown option --no-such' "${line[@]}" --no-such
        refused 2 'unknown option --no-such=5' "${line[@]}" --no-such=5
        refused 2 'unknown option -Z' "${line[@]}" -Z
        refused 2 'unknown option --quie$' "${line[@]}" --quie
        [ "${err#*$'\n'}" = 'did you mean --quiet?' ] || fault "$tool --quie: $err"
    done
    no_faults
}

@test "a misspelt option is answered by the nearest option, others by a reference to --help" {
    local tool word near
    while read -r tool word near; do
        refused 2 "unknown option $word\$" "$tool" input "$word"
        [ -z "$near" ] || near="did you mean --$near?"
        [ "${err#*$'\n'}" = "${near:-try $tool --help}" ] || fault "$tool $word: $err"
    done <<-'END'
	modes --cout count
	modes --counts count
	modes --kount=3 count
	simfull --perscribe prescribe
	simfull --presribe=tip=path.csv prescribe
	simfull --move
	simulate --step steps
	simulate --grounded=0,0,1,0
	simulate --cubs=x cub
	simscene --contract contacts
	simscene --loads
	simvalidate --probes probe
	END
    no_faults
}

@test "an option of a related program is answered by the name of that program and by what to do" {
    local name rest
    while read -r name rest; do
        [[ $'\n'$(options_of simulate) != *$'\n'"$name "* ]] || continue
        refused 2 "unknown option --$name\$" simulate mesh.npz "--$name"
        [[ ${err#*$'\n'} == "simfull has --$name; "*[a-z]* ]] || fault "simulate --$name: $err"
    done < <(options_of simfull)
    refused 2 'unknown option --ground=0,0,1,0$' simulate mesh.npz --ground=0,0,1,0
    [[ ${err#*$'\n'} == "simfull has --ground; "*'in a scene, with a point shell'*simscene* ]] || fault "$err"
    # every option that a list names is one of the program that it names
    local tool of list
    while read -r tool of list; do
        for name in $list; do
            [[ $'\n'$(options_of "$of") == *$'\n'"$name "* ]] || fault "$of has no --$name, which $tool names"
            [[ $'\n'$(options_of "$tool") != *$'\n'"$name "* ]] || fault "$tool has --$name itself"
            refused 2 "unknown option --$name\$" "$tool" input "--$name"
            [[ ${err#*$'\n'} == "$of has --$name; "* ]] || fault "$tool --$name: $err"
        done
    done <<-'END'
	simscene simulate gravity basis poly cub rank damping-mass damping-stiffness
	simscene simfull ground ground-stiffness ground-alpha friction
	simulate simfull network cut prescribe
	END
    no_faults
}

@test "the text of an option speaks of its own program" {
    needs_plain_build 'it compares texts'
    local tool name letter argument text word own of files
    local -A is=()
    for tool in $(tools); do
        is[$tool]=1
    done
    # Another program may be named as the one that makes or reads a file, which is the argument or named in the text.
    files='FILE|CSV|MESH|JSON|LOG|polynomials|certificate|trajectory|pointshell|vectors|part'
    for tool in $(tools); do
        own=$(entries_of "$tool" | awk '$1 == "integrator" { print $3 }')
        while read -r name letter argument text; do
            text=${text%%\[*} # without conditions
            for word in $text; do
                of=${word//[^a-z0-9-]/}
                case $of in # no word, or a program that is a word, too
                '' | modes | cubature) continue ;;
                esac
                # words of integrators, of --integrator in this program
                case $of in
                newmark | bdf2 | euler | linear-euler)
                    [[ "|$own|" == *"|$of|"* ]] || fault "$tool --$name: it has no --integrator $of: $text"
                    ;;
                esac
                [ -n "${is[$of]-}" ] && [ "$of" != "$tool" ] || continue
                [[ " $argument $text" =~ ($files) ]] || fault "$tool --$name names $of: $text"
            done
        done < <(entries_of "$tool")
    done
    no_faults
}

@test "--help is never wider than 80 columns" {
    needs_plain_build 'it compares texts'
    local tool text LC_ALL=C.UTF-8
    for tool in $(tools); do
        while IFS= read -r text; do
            [ ${#text} -le 80 ] || fault "$tool --help: ${#text} columns: $text"
        done < "$HELP/$tool"
    done
    no_faults
}

# sample NAME: sets `words` to an option with a value that its type takes: its default, where it has one.
sample() {
    case ${argument_of[$1]} in
    -) words=("--$1") ;;
    *'|'*) words=("--$1" "${argument_of[$1]%%|*}") ;;
    X,Y,Z) words=("--$1" 1,1,1) ;;
    E,F | LOW,HIGH) words=("--$1" 1,1) ;;
    NX,NY,NZ,D) words=("--$1" 1,1,1,1) ;;
    X0,Y0,Z0,X1,Y1,Z1) words=("--$1" 1,1,1,1,1,1) ;;
    FILE | CSV | LOG | JSON | SKELETON) words=("--$1" "none-$1") ;; # a file that is read is not written
    *"=MESH" | *"=CSV") words=("--$1" "1=none") ;;
    *) words=("--$1" "${default_of[$1]:-$([ "$1" = piece ] && echo 8 || echo 1)}") ;; # a piece has 8 frames or more
    esac
}

# choose NAME LIST WANTED: the first word of a choice that is listed (WANTED yes) or is not (no), in `word`. With "auto" the program
# chooses when it has seen the files.
choose() {
    local each list
    list=" $(tr , " " <<< "$2") "
    word=
    for each in ${argument_of[$1]//|/ }; do
        if [ "$each" != auto ] && [ "$([[ $list == *" $each "* ]] && echo yes || echo no)" = "$3" ]; then
            word=$each
            return
        fi
    done
    fault "--$1: no word for $2"
}

# conditions_in TEXT: sets `conditions` to those of an option's text in --help. Those about the inputs ("[of a mesh]") need files, and are
# tested with them.
conditions_in() {
    local text=$1
    conditions=()
    while [[ $text =~ \[((not )?--[^]]*)\](.*) ]]; do
        conditions+=("${BASH_REMATCH[1]}")
        text=${BASH_REMATCH[3]}
    done
}

# meets CONDITION HOLDS: adds to `given` what makes a condition of --help hold (yes) or fail (no): "--ground", "not --cut", "--model a or b",
# "not --integrator a or b". Nothing is added where the default does, unless `text` says that the option itself makes this choice. What it adds has conditions of its own, which are made to hold.
meets() {
    local positive=yes word words each conditions fits
    [[ ! $1 =~ ^(not )?--([a-z0-9-]+)(\ (.*))?$ ]] && fault "condition $1" && return
    [ -z "${BASH_REMATCH[1]}" ] || positive=no
    local name=${BASH_REMATCH[2]} list=${BASH_REMATCH[4]// or /,} wanted=no
    [ $positive != "$2" ] || wanted=yes
    [[ " ${given[*]} " != *" --$name "* ]] || return 0
    if [ -n "$list" ]; then
        fits=$([[ " ${list//,/ } " == *" ${default_of[$name]-} "* ]] && echo yes || echo no)
        [ "${default_of[$name]-}" = auto ] || [ "$fits" != "$wanted" ] || [[ ${text-} == *"without --$name it is then"* ]] || return 0
        choose "$name" "$list" "$wanted"
        given+=("--$name" "$word")
    elif [ "$wanted" = yes ]; then
        sample "$name"
        given+=("${words[@]}")
    else
        return 0
    fi
    conditions_in "${text_of[$name]}"
    for each in "${conditions[@]}"; do
        meets "$each" yes
    done
}

@test "an option where it does not apply is refused, by the conditions of --help" {
    local tool name letter argument text i j count=0 pattern words given conditions
    for tool in $(tools); do
        local -A argument_of=() text_of=() default_of=()
        while read -r name letter argument text; do
            argument_of[$name]=$argument text_of[$name]=$text
            [[ ! $text =~ \(default\ ([^\ ]+)\)$ ]] || default_of[$name]=${BASH_REMATCH[1]}
        done < <(entries_of "$tool")
        for name in "${!text_of[@]}"; do
            conditions_in "${text_of[$name]}"
            for i in "${!conditions[@]}"; do
                given=() text=${text_of[$name]}
                meets "${conditions[i]}" no
                for j in "${!conditions[@]}"; do # the other conditions hold
                    [ "$i" = "$j" ] || meets "${conditions[j]}" yes
                done
                sample "$name"
                case ${conditions[i]} in
                'not --'*' '*) pattern="does not apply to ${conditions[i]#not }" ;;
                'not --'*) pattern="does not apply beside ${conditions[i]#not }" ;;
                *' '*) pattern="applies to ${conditions[i]}" ;;
                *) pattern="applies with ${conditions[i]}" ;;
                esac
                refused 2 "^$tool: --$name $pattern\$" "$tool" input "${given[@]}" "${words[@]}"
                count=$((count + 1))
            done
        done
    done
    sanitized || [ $count -gt 160 ] || fault "only $count conditions were found in the help texts"
    # a condition of a single word of a choice
    refused 2 '^simulate: --integrator exact applies to --model modal$' simulate input --integrator exact -o out.npz
    no_faults
}

@test "an option without its value, or with an empty one" {
    local tool name letter argument default apart
    for tool in $(tools); do
        command_of "$tool"
        apart=yes
        while read -r name letter argument default; do
            if [ "$argument" = - ]; then
                case $name in
                help | version) ;;
                *) refused 2 "--$name takes no value" "$tool" input --"$name"=1 ;;
                esac
                continue
            fi
            refused 2 "--$name needs a value" "${line[@]}" --"$name"
            refused 2 "--$name: its value is empty" "$tool" input --"$name"=
            [ -z "$apart" ] || refused 2 "--$name: its value is empty" "$tool" input --"$name" ''
            apart= # once for every program
            [ "$letter" = - ] || refused 2 "--$name needs a value" "$tool" input "-$letter"
        done < <(options_of "$tool")
    done
    no_faults
}

@test "values that are no number, no choice, or out of range" {
    local tool name letter argument default value
    for tool in $(tools); do
        while read -r name letter argument default; do
            case $argument in
            N | R | T)
                for value in x 1.5 5x ' 5' 99999999999999999999 -99999 0x10 1e3; do
                    refused 2 "--$name: .*(is not a whole number|out of range)" "$tool" input --"$name" "$value"
                done
                ;;
            PA | NU | KG/M3 | X | S | A | B | DEG)
                for value in x 1..5 5x ' 5' nan 1e999 1,5; do
                    refused 2 "--$name: .*(is not a number|out of range)" "$tool" input --"$name" "$value"
                done
                ;;
            X,Y,Z)
                for value in 1 1,2 1,2,3,4 1,2, a,b,c nan,0,0 '1, 2,3' 1,2,3x; do
                    refused 2 "--$name: .*is not 3 numbers with commas|--$name: .*is not a number" "$tool" input --"$name" "$value"
                done
                ;;
            SIZE)
                for value in x 0 -5 5Q 5MB nan inf 99999999T; do
                    refused 2 "--$name: .*is not a size" "$tool" input --"$name" "$value"
                done
                ;;
            *'|'*)
                for value in nonsense "$argument" "${argument%%|*}x" "${argument:0:1}"; do
                    [[ "|$argument|" != *"|$value|"* ]] || continue
                    refused 2 "--$name: .*is not one of " "$tool" input --"$name" "$value"
                done
                ;;
            esac
        done < <(options_of "$tool")
    done
    no_faults
}

@test "an option that occurs twice" {
    local tool name letter argument default value
    for tool in $(tools); do
        while read -r name letter argument default; do
            case $argument in
            -) value= ;;
            *'|'*) value="=${argument%%|*}" ;;
            *)
                value="=$default"
                [ "$default" != - ] || case $name in
                output | frames | columns) value="=1" ;; # once each, by name
                threads | rank) value="=1" ;;
                *) continue ;; # the option may be allowed several times
                esac
                ;;
            esac
            case $name in
            help | version) continue ;;
            esac
            refused 2 "--$name occurs twice" "$tool" input "--$name$value" "--$name$value"
        done < <(options_of "$tool")
    done
    no_faults
}

@test "no argument, too many arguments, no output" {
    local tool usage words
    for tool in $(tools); do
        command_of "$tool"
        refused 2 'nothing to do: no input was named' "$tool"
        # the hint is the first line of --help
        [[ $err == *$'\n'"usage: $(sed 's/^Usage: //;q' "$HELP/$tool")" ]] || fault "$tool: $err"
        [ -z "$ending" ] || refused 2 'nothing to do: no input was named' "$tool" -o "out$ending"
        [ -z "$ending" ] || refused 2 'no output was named' "${line[@]}"
        usage=$(head -n 1 "$HELP/$tool")
        [[ $usage == *...* ]] || refused 2 'one argument too many: [abcd]$' "$tool" a b c d ${ending:+-o "out$ending"}
    done
    no_faults
}

@test "-- ends the options" {
    ln -s bar.obj ./-bar.obj
    ending=.npz
    done_well voxelize -n 4 -o dash.npz -- -bar.obj
    [ -s dash.npz ] || fault "voxelize -- -bar.obj: nothing was written"
    refused 3 '^modes: --help: cannot open' modes -o out.npz -- --help
    no_faults
}

@test "the manual page has what --help-all says of every option, and no others" {
    needs_plain_build 'it compares texts'
    local tool page name letter argument text word count=0
    has programs || skip 'a cross build has no manual pages of programs'
    command -v mandoc > /dev/null || skip "no mandoc"
    for tool in $(tools); do
        page=$(mandoc -T ascii -O width=900 "$SUPPLE_BUILD/man/$tool.1" | sed 's/.\x08//g')
        [[ $page == *NAME*SYNOPSIS*DESCRIPTION*OPTIONS* ]] || fault "$tool: a section is missing"
        sed -n '/^OPTIONS/,/^[A-Z]/p' <<< "$page" > options
        sed -n 's/^ *\(-[a-z], \)\{0,1\}--\([a-z][a-z0-9-]*\).*/\2/p' options > in-page
        options_of "$tool" | cut -d ' ' -f 1 | diff - in-page > difference ||
            fault "$tool (< only in --help, > only in the page): $(grep '^[<>]' difference | tr '\n' ' ')"
        while read -r name letter argument text; do
            count=$((count + 1))
            sed -n "/^ *\(-., \)\{0,1\}--$name\( \|$\)/,/^$/p" options | tr '\n' ' ' > entry
            for word in $(tr '|' ' ' <<< "$argument" | tr '[:upper:]' '[:lower:]'); do
                [ "$word" = - ] || grep -qiF -- "$word" entry || fault "$tool --$name: no $word in $(< entry)"
            done
            [[ ! $text =~ \(default\ ([^\ ]+)\)$ ]] || [[ ${BASH_REMATCH[1]} == 0.3333* ]] || grep -qiF -- "default ${BASH_REMATCH[1]}." entry ||
                fault "$tool --$name: no default ${BASH_REMATCH[1]} in $(< entry)"
        done < <(entries_of "$tool")
    done
    sanitized || [ $count -gt 400 ] || fault "only $count options"
    no_faults
}

# page_of TEXT: the manual page of a program whose source has this text in OPTIONS
page_of() {
    printf '.Sh SYNOPSIS\n.Sh DESCRIPTION\n.Sh OPTIONS\n%b.Sh EXIT STATUS\n' "$1" > modes.1
    try "$SUPPLE_SOURCE/man/option-page" "$SUPPLE_BUILD/tools/modes" "$SUPPLE_SOURCE/man/common.mdoc" modes.1
}

@test "a text of an option in the source of a manual page: behind the sentence of the table, in its place, or refused" {
    needs_plain_build 'it compares texts'
    local text said
    page_of '.Bl -tag -width Ds\n.It Fl \\-ritz\nThese words.\n.It Fl \\-certify No in full\nThese alone.\n.Bl -bullet\n.It\nA point.\n.El\n.El\n'
    [ "$code$err" = 0 ] || fault "exit $code: $err"
    text=$(tr '\n' ' ' < "$stdout")
    [[ $text == *'.It Fl \-ritz Combine all columns '*' Only with .Fl \-interface . These words. .It '* ]] || fault "--ritz: $text"
    [[ $text == *'.It Fl \-certify These alone. Only with .Fl \-method .Cm lanczos ; not with .Fl \-solver .Cm amg . .Bl -bullet .It A point. .El .It '* ]] || fault "--certify: $text"
    printf '.Sh OPTIONS\n.Bl -tag\n.It Fl \\-ritz No in full\nOther words.\n.El\n.Sh EXIT STATUS\n' > other.1
    printf '.Sh OPTIONS\n.Sh EXIT STATUS\n' > empty.1
    page_of '.Bl -tag\n.It Fl \\-ritz No as in other\n.El\n'
    [[ $(tr '\n' ' ' < "$stdout") == *'.It Fl \-ritz Other words. Only '* ]] || fault 'as in other'
    while IFS='|' read -r text said; do
        page_of ".Bl -tag\n$text.El\n"
        [ "$code" = 1 ] && [ "$err" = "option-page: $said" ] && [ ! -s "$stdout" ] || fault "$text: exit $code: $err"
    done <<-'END'
	.It Fl \\-rizt\nA.\n|modes.1: modes has no option --rizt
	.It Fl \\-ritz\nA.\n.It Fl \\-ritz No in full\nB.\n|modes.1: a second text of --ritz
	.It Fl \\-ritz No as in empty\n|empty.1: no text of --ritz
	.It Cm ritz\nA.\n|modes.1: not an option: .It Cm ritz
	END
    no_faults
}

@test "supple(7) names every program in SEE ALSO" {
    needs_plain_build 'it reads sources'
    local tool section
    section=$(sed -n '/^\.Sh SEE ALSO/,$p' "$SUPPLE_SOURCE/man/supple.7")
    for tool in $(tools); do
        grep -q "^\.Xr $tool 1\b" <<< "$section" || fault "SEE ALSO of supple(7) lacks $tool"
    done
    no_faults
}

@test "files and functions that comments and texts name exist" {
    needs_plain_build 'it reads sources'
    "$PYTHON" - "$SUPPLE_SOURCE" <<-'END' || fault 'names of nothing'
	import os, re, sys
	os.chdir(sys.argv[1])
	skip = re.compile(r'(\./)?(build[^/]*|\.git|out|__pycache__)$')
	files = []
	for folder, folders, names in os.walk('.'):
	    folders[:] = [f for f in folders if not skip.match(f)]
	    files += [os.path.join(folder, n)[2:] for n in names]
	base = {os.path.basename(f) for f in files}
	roots = '|'.join(f for f in os.listdir('.') if os.path.isdir(f) and not skip.match(f) and f[0] != '.')
	path = re.compile(r'(?<![\w./<*$-])(?:%s)/[\w./-]*\w' % roots) # lib/mesh/mesh.c, tests/cli
	name = re.compile(r'(?<![\w./*<-])(?!NAME\.)[\w-]+\.(?:[ch]|md|bats|bash)\b(?!\.|\[)') # mesh.c
	word = re.compile(r'\b(?:sp|tool|SP|TOOL)_\w*[a-zA-Z0-9]\b(?!_)')
	comment = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)
	texts, code = [], set()
	for f in files:
	    if f.endswith(('.c', '.h')):
	        text = open(f, encoding='utf-8').read()
	        texts += [(f, text.count('\n', 0, m.start()) + 1, m[0]) for m in comment.finditer(text) if m[0][0] == '/']
	        code |= set(re.findall(r'\w+', comment.sub(' ', text)))
	    elif f.endswith('.build'):
	        code |= set(re.findall(r'\w+', open(f, encoding='utf-8').read()))
	    elif f.endswith('.md') or f.startswith('man/'):
	        texts.append((f, 1, open(f, encoding='utf-8').read()))
	def there(p):
	    return any(os.path.exists(q) for q in (p, 'lib/' + p, p + '.c', p + '.h', 'build/' + p)) or '/out' in p
	bad = []
	for f, line, text in texts:
	    # by the commands of this text, a header beside its source, and a listing, which begins with its name
	    made = set(re.findall(r'(?:-o|>) ([\w-]+\.[ch])\b', text) + re.findall(r'^```c\n/\* ([\w-]+\.c) ', text, re.M))
	    known = base | made | {m[:-1] + 'h' for m in made}
	    for pattern, good in (path, there), (name, known.__contains__), (word, code.__contains__):
	        if f.startswith('man/') and pattern is not path:
	            continue
	        bad += ['%s:%d: %s' % (f, line + text.count('\n', 0, m.start()), m[0]) for m in pattern.finditer(text) if not good(m[0].rstrip('.'))]
	print(*bad, sep='\n', file=sys.stderr)
	sys.exit(bool(bad))
	END
    no_faults
}

# Makes the manual pages of formats in the folder `pages`, as man/meson.build does.
format_pages() {
    local text name
    command -v lowdown > /dev/null || skip "no lowdown"
    mkdir -p pages
    for text in "$SUPPLE_SOURCE"/formats/*.md; do
        name=$(basename "$text" .md)
        "$PYTHON" "$SUPPLE_SOURCE/man/format-page" lowdown "$text" > "pages/supple-${name//_/-}.5" 2> err || fault "$name.md: $(tail -n 1 err)"
    done
}

@test "every format has a manual page" {
    needs_plain_build 'it reads sources'
    local text name
    for text in "$SUPPLE_SOURCE"/formats/*.md; do
        name=$(basename "$text" .md)
        grep -q "'$name'" "$SUPPLE_SOURCE/man/meson.build" || fault "man/meson.build makes no page of $name.md"
        grep -q '^## See also' "$text" || fault "$name.md does not say what to see also"
    done
    no_faults
}

@test "a link to a missing text is refused" {
    needs_plain_build 'it reads sources'
    command -v lowdown > /dev/null || skip "no lowdown"
    printf '# a\n\nAs [b](b.md).\n' > a.md
    try "$PYTHON" "$SUPPLE_SOURCE/man/format-page" lowdown a.md
    [ "$code" = 1 ] && [ "$err" = 'format-page: b.md is not there' ] && [ ! -s "$stdout" ] || fault "exit $code: $err"
    no_faults
}

@test "manual pages of formats have their whole text, in 80 columns, without faults" {
    needs_plain_build 'it reads sources'
    local page said
    command -v mandoc > /dev/null || skip "no mandoc"
    format_pages
    for page in pages/*.5; do
        # only errors and warnings: lowdown does not break lines; no date, so that the same text gives the same page
        while IFS= read -r said; do
            [[ $said == *'missing date'* ]] || fault "$said"
        done < <(mandoc -T lint -W warning "$page" 2>&1)
    done
    "$PYTHON" - "$SUPPLE_SOURCE/formats" pages <<-'END' 2> err || fault "$(cat err)"
	import glob, os, re, subprocess, sys
	texts, pages = sys.argv[1:]
	bad = []
	def shown(page):
	    command = ['mandoc', '-T', 'utf8', '-O', 'width=78', page]
	    return re.sub('.\b', '', subprocess.run(command, encoding='utf-8', stdout=subprocess.PIPE, check=True).stdout)
	for file in sorted(glob.glob(texts + '/*.md')):
	    name = 'supple-' + os.path.basename(file)[:-3].replace('_', '-')
	    page = '%s/%s.5' % (pages, name)
	    narrow = shown(page)
	    flat = re.sub(r'\s', '', narrow) # words with a hyphen are broken there
	    bad += ['%s: %d columns: %s' % (name, len(line), line) for line in narrow.split('\n') if len(line) > 80]
	    if not re.search(r'^NAME\n +%s - \w' % name, narrow, re.M):
	        bad.append(name + ': no NAME')
	    text = open(file, encoding='utf-8').read().split('## See also')[0].replace('## Example\n', '')
	    text = re.sub(r'\n\|.*(?=\n\|-)', '', re.sub(r'\]\([^)]*\)', ']', text)) # no targets of links, no headings of tables
	    for member in re.findall(r'\n\| `([^`]+)`', text):
	        if not re.search(r'\n +' + re.escape(member), narrow):
	            bad.append('%s: no entry %s' % (name, member))
	    words = set(re.findall(r'[^\s|`*#\[\]]+', text.split('\n', 1)[1].replace('\\|', '|')))
	    lost = sorted(word for word in words if word not in flat and not re.fullmatch('-+', word))
	    bad += ['%s lacks %s' % (name, ' '.join(lost))] if lost else []
	print(*bad, sep='\n', file=sys.stderr)
	sys.exit(bool(bad))
	END
    no_faults
}

@test "mandoc -T lint has no complaints, and options are never wider than 80 columns" {
    needs_plain_build 'it reads sources'
    local page said name section text pages=("$SUPPLE_SOURCE"/man/supple*.[17]) LC_ALL=C.UTF-8
    command -v mandoc > /dev/null || skip "no mandoc"
    ! has programs || pages+=("$SUPPLE_BUILD"/man/*.1)
    for page in "${pages[@]}"; do
        while IFS= read -r said; do
            # it looks for pages that are named where manuals are installed; here they are in man/, or made from formats/
            if [[ $said =~ 'referenced manual not found: Xr '([^ ]+)' '([0-9]) ]]; then
                name=${BASH_REMATCH[1]} section=${BASH_REMATCH[2]}
                [ ! -e "$SUPPLE_SOURCE/man/$name.$section" ] || continue
                text=${name#supple-}
                [ "$section" != 5 ] || [ ! -e "$SUPPLE_SOURCE/formats/${text//-/_}.md" ] || continue
            fi
            fault "$said"
        done < <(mandoc -T lint "$page" 2>&1)
        # An and Li are names of authors and of macros
        ! said=$(grep -E '^\.%[A-Z] [^"]* ' "$page") || fault "${page##*/}: a reference without quotes: $said"
        ! command -v groff > /dev/null || ! said=$(groff -mandoc -Tutf8 "$page" 2>&1 > /dev/null | grep error) || fault "groff: ${page##*/}: $said"
        while IFS= read -r text; do
            [ ${#text} -le 80 ] || fault "${page##*/}: ${#text} columns: $text"
        done < <(mandoc -T utf8 -O width=78 "$page" | sed 's/.\x08//g' | sed -n '/^SYNOPSIS/,/^DESCRIPTION/p;/^OPTIONS/,/^[A-NP-Z]/p')
    done
    no_faults
}
