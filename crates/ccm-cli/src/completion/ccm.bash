# Completion of ccm for bash, which `ccm completions bash` prints.
# ccm gets the line up to the cursor, and the last word as bash splits words. Bash completes files itself.
_ccm() {
    local kind='' line
    COMPREPLY=()
    while IFS= read -r line; do
        if [[ -n $kind ]]; then COMPREPLY+=("$line"); else kind=$line; fi
    done < <(command ccm __complete bash -- "${COMP_LINE:0:COMP_POINT}" "$2" 2> /dev/null < /dev/null)
    case $kind in
        files) compopt -o default 2> /dev/null ;;
        directories) compopt -o dirnames 2> /dev/null ;;
    esac
    return 0
}
# Bash before 4.4 sorts the candidates.
complete -o nosort -F _ccm ccm 2> /dev/null || complete -F _ccm ccm
