//! Names of variables that load code, or that change which programs are run.

use ccm_shell::ShellWord;

use super::shell_words;
use super::started::{StartedForm, is_harmless_program};
use super::variable_tables::{VariableUse, use_of};
use crate::tables;

/// Variables whose value is loaded or run.
const LOADED: [&str; 76] = [
    "BASH_ENV",
    "ENV",
    "SHELLOPTS",
    "BASHOPTS",
    "PROMPT_COMMAND",
    "PAGER",
    "MANPAGER",
    "EDITOR",
    "VISUAL",
    "BROWSER",
    "LESSOPEN",
    "LESSCLOSE",
    "SHELL",
    "PYTHONSTARTUP",
    "PYTHONPATH",
    "PYTHONHOME",
    "PYTHONINSPECT",
    "PYTHONBREAKPOINT",
    "PYTHONUSERBASE",
    "PYTHONWARNINGS",
    "PERL5OPT",
    "PERL5LIB",
    "PERLLIB",
    "PERL5DB",
    "RUBYOPT",
    "RUBYLIB",
    "NODE_OPTIONS",
    "NODE_PATH",
    "JAVA_TOOL_OPTIONS",
    "_JAVA_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "CLASSPATH",
    "PHP_INI_SCAN_DIR",
    "PHPRC",
    "TCLLIBPATH",
    "GCONV_PATH",
    "LOCPATH",
    "GLIBC_TUNABLES",
    "GCC_EXEC_PREFIX",
    "COMPILER_PATH",
    "RUSTC",
    "RUSTC_WRAPPER",
    "CARGO_BUILD_RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
    "MAKEFLAGS",
    "GNUMAKEFLAGS",
    "MFLAGS",
    "TAR_OPTIONS",
    "RSYNC_RSH",
    "CVS_RSH",
    "SSH_ASKPASS",
    "SUDO_ASKPASS",
    "SYSTEMD_PAGER",
    "SYSTEMD_EDITOR",
    "BAT_PAGER",
    "OPENSSL_CONF",
    "OPENSSL_ENGINES",
    "ZDOTDIR",
    "DOCKER_HOST",
    "FPATH",
    // Homes and files of settings, which name programs.
    "HOME",
    "XDG_CONFIG_HOME",
    "XDG_CONFIG_DIRS",
    "VIMINIT",
    "EXINIT",
    "APT_CONFIG",
    "RIPGREP_CONFIG_PATH",
    "WGETRC",
    "CURL_HOME",
    "PYTEST_ADDOPTS",
    "PYTEST_PLUGINS",
    "AWS_CONFIG_FILE",
    "PSQLRC",
    "HGRCPATH",
    "ZIPOPT",
    "CCACHE_PREFIX",
];

/// Variables whose value is a text for a shell, with those whose names end with `ENDS`.
const TEXTS: [&str; 10] = [
    "MANPAGER",
    "VISUAL",
    "FCEDIT",
    "LESSOPEN",
    "LESSCLOSE",
    "PROMPT_COMMAND",
    "GIT_EXTERNAL_DIFF",
    "GIT_PROXY_COMMAND",
    "RSYNC_CONNECT_PROG",
    "FZF_DEFAULT_COMMAND",
];

/// Ends of names of variables whose value is a text for a shell: `PAGER`, `GIT_PAGER`.
const TEXT_ENDS: [&str; 4] = ["PAGER", "EDITOR", "BROWSER", "SSH_COMMAND"];

/// Variables whose value is a program with arguments, with those whose names end with `WORD_ENDS`.
const WORDS: [&str; 27] = [
    "ACLOCAL",
    "AUTOCONF",
    "AUTOHEADER",
    "AUTOM4TE",
    "AUTOMAKE",
    "AUTOPOINT",
    "BORG_PASSCOMMAND",
    "BORG_REMOTE_PATH",
    "BORG_RSH",
    "CARGO",
    "CCACHE_PREFIX",
    "CCACHE_PREFIX_CPP",
    "CVS_RSH",
    "CXX_MODULE_MAPPER",
    "GOCACHEPROG",
    "HGMERGE",
    "JAVACMD",
    "KUBECTL_EXTERNAL_DIFF",
    "LIBTOOLIZE",
    "M4",
    "NULLCMD",
    "PKG_CONFIG",
    "RESTIC_PASSWORD_COMMAND",
    "RSYNC_RSH",
    "RUSTDOC",
    "SENDMAIL",
    "SVN_SSH",
];

/// Ends of names of variables whose value is a program with arguments: `CMAKE_C_COMPILER_LAUNCHER`.
const WORD_ENDS: [&str; 2] = ["_COMPILER_LAUNCHER", "_RUNNER"];

/// Variables whose value is the name of a program.
const NAMES: [&str; 24] = [
    "ASAN_SYMBOLIZER_PATH",
    "CONDA_EXE",
    "CONDA_PYTHON_EXE",
    "GCCGO",
    "HELM_BIN",
    "LLVM_SYMBOLIZER_PATH",
    "LSAN_SYMBOLIZER_PATH",
    "MSAN_SYMBOLIZER_PATH",
    "MAMBA_EXE",
    "RUSTFMT",
    "TSAN_SYMBOLIZER_PATH",
    "UBSAN_SYMBOLIZER_PATH",
    "GIT_SSH",
    "GIT_ASKPASS",
    "SSH_ASKPASS",
    "SUDO_ASKPASS",
    "RUSTC",
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
    "CARGO_BUILD_RUSTC",
    "CARGO_BUILD_RUSTC_WRAPPER",
    "CARGO_BUILD_RUSTC_WORKSPACE_WRAPPER",
    "CARGO_BUILD_RUSTDOC",
    "SHELL",
];

/// Variables in whose value shells run substitutions of commands, when they print a prompt, a trace or a message.
const EXPANDED: [&str; 15] = [
    "MAILPATH", "PROMPT", "PROMPT2", "PROMPT3", "PROMPT4", "PS0", "PS1", "PS2", "PS3", "PS4", "RPROMPT",
    "RPROMPT2", "RPS1", "RPS2", "SPROMPT",
];

/// Variables that change how a program speaks, and nothing that it does.
pub(super) const HARMLESS: [&str; 6] = ["LANG", "TZ", "CI", "DEBUG", "TERM", "NO_COLOR"];

/// Variables of git whose value is run, or says where git reads settings.
const GIT: [&str; 22] = [
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_EDITOR",
    "GIT_SEQUENCE_EDITOR",
    "GIT_PAGER",
    "GIT_EXTERNAL_DIFF",
    "GIT_EXEC_PATH",
    "GIT_ASKPASS",
    "GIT_PROXY_COMMAND",
    "GIT_TEMPLATE_DIR",
    "GIT_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_ATTR_SOURCE",
    "GIT_DIFF_OPTS",
    "GIT_WORK_TREE",
];

/// Returns `true` for a variable whose value names a program, or is a text for a shell.
pub(super) fn starts_program(name: &str) -> bool {
    started_form(name).is_some()
}

/// Returns the form in which the value of a variable names what programs start.
pub(super) fn started_form(name: &str) -> Option<StartedForm> {
    match name {
        _ if is_expanded(name) => Some(StartedForm::Expanded),
        _ if is_text(name) || name.starts_with("GIT_CONFIG_VALUE_") => Some(StartedForm::Text),
        _ if NAMES.contains(&name) => Some(StartedForm::Name),
        "TAR_OPTIONS" => Some(StartedForm::Words),
        _ if is_program(name) => Some(StartedForm::Words),
        _ if name.starts_with("CARGO_") && name.ends_with("_LINKER") => Some(StartedForm::Words),
        _ => None,
    }
}

/// Returns `true` for a variable that the tables list as loaded, or whose name leaves that open.
pub(super) fn is_loaded(name: &str, value: Option<&ShellWord>) -> bool {
    let known = value.and_then(ShellWord::text);
    // The variable counts if it is set, whatever its value.
    if name == "POSIXLY_CORRECT" {
        return true;
    }
    let is_harmless = known.as_deref().is_some_and(is_harmless_program);
    let is_listed = || {
        let program = known.as_deref().and_then(|text| text.split_ascii_whitespace().next());
        program.is_some_and(|program| !program.contains('/') && tables::find(program).is_some())
    };
    let is_of_tables = || match value {
        Some(_) => use_of(name, known.as_deref()) == Some(VariableUse::Loaded),
        None => use_of(name, None).is_some(),
    };
    !is_harmless && (is_text(name) || is_program(name) && !is_listed() || !is_program(name) && is_of_tables())
}

/// Returns `true` for a variable in whose value shells run substitutions.
pub(super) fn is_expanded(name: &str) -> bool {
    EXPANDED.contains(&name)
}

/// Returns `true` for a prompt with `\044`, which stands for `$`.
pub(super) fn has_numbered_character(value: &str) -> bool {
    value.split('\\').skip(1).any(|behind| behind.starts_with(|c: char| c.is_ascii_digit()))
}

/// Returns `true` for a variable whose value is a text for a shell.
fn is_text(name: &str) -> bool {
    TEXTS.contains(&name) || TEXT_ENDS.iter().any(|end| name.ends_with(end))
}

/// Returns `true` for a variable whose value is a program with arguments.
fn is_program(name: &str) -> bool {
    WORDS.contains(&name) || WORD_ENDS.iter().any(|end| name.ends_with(end))
}

/// Returns `true` for a variable whose value is loaded or run.
pub(super) fn is_suspect(name: &str, value: Option<&ShellWord>, command: Option<&str>) -> bool {
    let known = value.and_then(ShellWord::text);
    let is_empty = known.as_deref() == Some("");
    match name {
        "PATH" => !known.as_deref().is_some_and(|path| path.split(':').all(is_system_directory)),
        // The shell follows a known value; `read` alone uses the others.
        "IFS" => known.is_none() && command != Some("read"),
        _ if is_empty => false,
        _ if name.starts_with("LD_") || name.starts_with("DYLD_") => true,
        _ if name.starts_with("GIT_CONFIG_") => true,
        _ if name.starts_with("BASH_FUNC_") || name.to_ascii_lowercase().starts_with("npm_config_") => true,
        _ if name.starts_with("CARGO_") && (name.ends_with("_RUNNER") || name.ends_with("_LINKER")) => true,
        _ if name.starts_with("LUA_INIT")
            || name.starts_with("LUA_PATH")
            || name.starts_with("LUA_CPATH") =>
        {
            true
        }
        _ if NAMES.contains(&name) && !is_listed_program(known.as_deref()) => true,
        _ if GIT.contains(&name) || LOADED.contains(&name) => {
            let is_shell = name == "SHELL" && matches!(known.as_deref(), Some("/bin/sh" | "/bin/bash"));
            !is_shell && !known.as_deref().is_some_and(is_harmless_program)
        }
        _ => false,
    }
}

/// Returns `true` for the name of a program of the tables, without a directory.
fn is_listed_program(value: Option<&str>) -> bool {
    value.is_some_and(|value| !value.contains('/') && tables::find(value).is_some())
}

pub(super) fn loads_code(name: &str, value: Option<&ShellWord>) -> String {
    let shown = value.map_or_else(|| "…".to_owned(), |value| shell_words::shown(value).shown);
    format!("the variable {name}={shown} loads code, or changes the programs that are run")
}

fn is_system_directory(path: &str) -> bool {
    matches!(
        path.trim_end_matches('/'),
        "/bin"
            | "/sbin"
            | "/usr/bin"
            | "/usr/sbin"
            | "/usr/local/bin"
            | "/usr/local/sbin"
            | "/usr/games"
            | "/snap/bin"
    )
}
