#compdef ccm
# Completion of ccm for zsh, which `ccm completions zsh` prints.
# ccm gets the words up to the cursor, without their quotes. Zsh completes files itself.
_ccm() {
    local line word description
    local -a given lines candidates
    (( CURRENT > 2 )) && given=("${(@Q)words[2,CURRENT-1]}")
    lines=("${(@f)$(command ccm __complete zsh -- "${given[@]}" "${(Q)PREFIX}" 2> /dev/null < /dev/null)}")
    case ${lines[1]} in
        files)
            compset -P '--*='
            _files
            ;;
        directories)
            compset -P '--*='
            _files -/
            ;;
        words)
            for line in "${(@)lines[2,-1]}"; do
                word=${${${line%%$'\t'*}//\\/\\\\}//:/\\:}
                description=${line#*$'\t'}
                candidates+=("$word${description:+:$description}")
            done
            (( $#candidates )) && _describe -V 'ccm' candidates
            ;;
    esac
}
if [[ ${funcstack[1]} == _ccm ]]; then
    _ccm "$@"
elif (( $+functions[compdef] )); then
    compdef _ccm ccm
fi
