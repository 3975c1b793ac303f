# Completion for bash. The functions are the same for all programs of Supple; the table of the options follows.

# _supple_files WORD ENDINGS: offers files with these endings and folders; where there are none, every file.
_supple_files() {
    local endings ending
    IFS=, read -r -a endings <<< "$2"
    compopt -o filenames 2> /dev/null
    mapfile -t COMPREPLY < <(
        for ending in "${endings[@]}"; do
            [[ $ending == '*' ]] || ending=.$ending
            compgen -f -X "!*$ending" -- "$1"
        done
        [[ $2 == '*' ]] || compgen -d -- "$1"
    )
    [[ ${#COMPREPLY[@]} -gt 0 ]] || mapfile -t COMPREPLY < <(compgen -f -- "$1")
}

# _supple_complete ENDINGS < TABLE: completes the word at the cursor. ENDINGS are those of arguments that are no options. A line of the table is
# "--NAME[,-LETTER] once|many KIND VALUES". The kinds are
#   flag    no value
#   text    a value of which nothing is known
#   words   one of VALUES
#   files   a file that ends in one of VALUES
#   keyed   KEY=FILE, where the file ends in one of VALUES
# Values are separated by commas; the ending * is that of every file.
_supple_complete() {
    local word=${COMP_WORDS[COMP_CWORD]} at=$((COMP_CWORD - 1)) divided= keyed= offered=
    local names times kind values name
    COMPREPLY=()
    # bash divides --name=value and KEY=FILE at "=": `at` is the option.
    if [[ $word == = ]]; then
        word= divided=yes
    elif [[ ${COMP_WORDS[at]} == = ]]; then
        at=$((at - 1)) divided=yes
    fi
    if [[ $divided && $at -gt 1 && ${COMP_WORDS[at]} != -* ]]; then
        at=$((at - 1)) keyed=yes
    fi
    while read -r names times kind values; do
        if [[ ,$names, == *,"${COMP_WORDS[at]}",* && $kind != flag ]]; then
            case $kind$keyed in
            words) mapfile -t COMPREPLY < <(compgen -W "${values//,/ }" -- "$word") ;;
            files | keyedyes) _supple_files "$word" "$values" ;;
            esac
            return
        fi
        # An option that may occur once is not offered again.
        for name in ${names//,/ }; do
            [[ $times == many || $name == "$word" || " ${COMP_WORDS[*]} " != *" $name "* ]] || names=
        done
        offered+=" ${names//,/ }"
    done
    if [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$offered" -- "$word")
    else
        _supple_files "$word" "$1"
    fi
}
