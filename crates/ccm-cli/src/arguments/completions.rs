//! Arguments of `ccm completions`, and of the command that its scripts call.

use std::ffi::OsString;

use clap::{Args, ValueEnum};

const EXAMPLES: &str = "\
Examples:
  source <(ccm completions bash)                   in this shell only
  ccm completions bash > ~/.local/share/bash-completion/completions/ccm
  ccm completions zsh > ~/.zfunc/_ccm              with ~/.zfunc in $fpath
  ccm completions fish > ~/.config/fish/completions/ccm.fish

Documentation: /usr/share/doc/ccm/use/shell-completion.md, or docs/use/shell-completion.md";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CompletionsArguments {
    /// Shell that reads the script
    #[arg(value_enum, value_name = "SHELL")]
    pub shell: CompletionShell,
}

// Arguments of the command that completion scripts call.
#[derive(Debug, Args)]
pub(crate) struct CompleteArguments {
    /// Shell of the script
    #[arg(value_enum, value_name = "SHELL")]
    pub shell: CompletionShell,

    /// For bash, put the description behind each word, after a tab. Others always get it
    #[arg(long)]
    pub describe: bool,

    /// From bash, the command line up to the cursor, and its last word as bash splits words. From others, the
    /// words behind the name of the command, the last of which is completed
    #[arg(value_name = "WORD", last = true)]
    pub words: Vec<OsString>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CompletionShell {
    Bash,
    Zsh,
    Fish,
}
