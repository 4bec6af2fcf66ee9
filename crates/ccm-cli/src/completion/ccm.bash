# Completion of ccm for bash, which `ccm completions bash` prints.
# ccm gets the line up to the cursor, and the last word as bash splits words. Bash completes files itself.
_ccm() {
    local kind='' line
    local -a lines=()
    while IFS= read -r line; do
        if [[ -n $kind ]]; then lines+=("$line"); else kind=$line; fi
    done < <(command ccm __complete bash --describe -- "${COMP_LINE:0:COMP_POINT}" "$2" 2> /dev/null < /dev/null)
    COMPREPLY=("${lines[@]%%$'\t'*}")
    # A list that is only shown has descriptions. What several words have in common can't reach into them.
    case ${COMP_TYPE:-9} in
        33 | 63 | 64) (( ${#lines[@]} > 1 )) && _ccm_describe ;;
    esac
    case $kind in
        files) compopt -o default 2> /dev/null ;;
        directories) compopt -o dirnames 2> /dev/null ;;
    esac
    return 0
}
# Puts the description of each line behind its word.
_ccm_describe() {
    local line word description width=0 at=0
    for word in "${COMPREPLY[@]}"; do (( width = ${#word} > width ? ${#word} : width )); done
    for line in "${lines[@]}"; do
        word=${line%%$'\t'*} description=${line#*$'\t'}
        if [[ -n $description ]]; then
            printf -v line '%-*s  (%s)' "$width" "$word" "$description"
            (( ${#line} > ${COLUMNS:-80} - 2 )) && line=${line:0:${COLUMNS:-80}-4}…
            COMPREPLY[at]=$line
        fi
        (( at += 1 ))
    done
}
# Bash before 4.4 sorts the candidates.
complete -o nosort -F _ccm ccm 2> /dev/null || complete -F _ccm ccm
