# Completion of ccm for fish, which `ccm completions fish` prints.
# ccm gets the words up to the cursor. Fish completes files itself.
function __ccm_complete
    command --query ccm; or return
    # Fish before 4.0 knows only -o.
    set -l given (commandline -xpc 2>/dev/null; or commandline -opc)
    set -l current (commandline -ct)
    set -e given[1]
    set -l lines (command ccm __complete fish -- $given "$current" 2>/dev/null </dev/null)
    set -l option (string match --regex -- '^--[^=]*=' $current)
    set -l path (string replace --regex -- '^--[^=]*=' '' $current)
    switch "$lines[1]"
        case files
            __fish_complete_path $path | string replace --regex -- '^' "$option"
        case directories
            __fish_complete_directories $path | string replace --regex -- '^' "$option"
        case words
            set -e lines[1]
            printf '%s\n' $lines
    end
end
complete --command ccm --no-files --keep-order --arguments '(__ccm_complete)'
