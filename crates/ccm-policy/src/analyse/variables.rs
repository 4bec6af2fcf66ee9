//! Variables that load code, or that change which programs are run.

use ccm_shell::{ShellSpan, ShellWord};

use super::started::{StartedForm, is_harmless_program};
use super::{Analyser, CommandContext, shell_words};
use crate::analysis::WayOut;
use crate::guard_class::GuardClass;
use crate::verdict::PolicyVerdict;

/// Variables whose value is loaded or run.
const LOADED: [&str; 77] = [
    "BASH_ENV",
    "ENV",
    "SHELLOPTS",
    "BASHOPTS",
    "PROMPT_COMMAND",
    "PS4",
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

/// Variables whose value is a text for a shell.
const TEXTS: [&str; 18] = [
    "PAGER",
    "MANPAGER",
    "SYSTEMD_PAGER",
    "BAT_PAGER",
    "GIT_PAGER",
    "EDITOR",
    "VISUAL",
    "FCEDIT",
    "SYSTEMD_EDITOR",
    "GIT_EDITOR",
    "GIT_SEQUENCE_EDITOR",
    "BROWSER",
    "LESSOPEN",
    "LESSCLOSE",
    "PROMPT_COMMAND",
    "GIT_SSH_COMMAND",
    "GIT_EXTERNAL_DIFF",
    "GIT_PROXY_COMMAND",
];

/// Variables whose value is the name of a program.
const NAMES: [&str; 9] = [
    "GIT_SSH",
    "GIT_ASKPASS",
    "SSH_ASKPASS",
    "SUDO_ASKPASS",
    "RUSTC",
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
    "CARGO_BUILD_RUSTC_WRAPPER",
    "SHELL",
];

/// Variables that change how a program speaks, and nothing that it does.
const HARMLESS: [&str; 6] = ["LANG", "TZ", "CI", "DEBUG", "TERM", "NO_COLOR"];

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

impl Analyser<'_> {
    /// Judges a variable that is set. `command` is the command in front of which the variable stands.
    pub(super) fn variable(
        &mut self,
        index: usize,
        name: &str,
        value: Option<&ShellWord>,
        span: ShellSpan,
        command: Option<&str>,
        context: &CommandContext,
    ) {
        if is_suspect(name, value, command) {
            let what = loads_code(name, value);
            self.finding(index, GuardClass::Variables, what, span, Some(WayOut::DropOption));
        }
        if let Some(value) = value {
            self.started_by_variable(index, name, value, context);
        }
    }

    /// Judges the command that a variable names. Rules see the command, though the variable may never be used.
    fn started_by_variable(&mut self, index: usize, name: &str, value: &ShellWord, context: &CommandContext) {
        if value.text().is_none_or(|text| text.is_empty()) {
            return;
        }
        let is_numbered = || name.starts_with("GIT_CONFIG_VALUE_");
        let form = match name {
            _ if TEXTS.contains(&name) || is_numbered() => StartedForm::Text,
            _ if NAMES.contains(&name) => StartedForm::Name,
            "RSYNC_RSH" | "CVS_RSH" | "CCACHE_PREFIX" | "TAR_OPTIONS" => StartedForm::Words,
            _ if name.starts_with("CARGO_") && (name.ends_with("_RUNNER") || name.ends_with("_LINKER")) => {
                StartedForm::Words
            }
            _ => return,
        };
        let context = CommandContext { at_most: Some(PolicyVerdict::Ask), ..context.clone() };
        let value = match name {
            "TAR_OPTIONS" => {
                let options = value.text().unwrap_or_default();
                ShellWord::known(format!("tar {options}"), value.span)
            }
            // `|command %s`, and `!command` of an alias of git.
            _ if value.known_prefix().starts_with(['|', '!']) => shell_words::without_prefix(value, 1),
            _ => value.clone(),
        };
        self.started_command(index, form, &value, &context);
    }

    /// Judges a variable that the caller adds to the environment of a command.
    pub(super) fn added_variable(
        &mut self,
        index: usize,
        name: &str,
        value: &ShellWord,
        span: ShellSpan,
        context: &CommandContext,
    ) {
        self.started_by_variable(index, name, value, context);
        let is_closed = self.request.closed_variables;
        let (class, what) = if is_suspect(name, Some(value), None) {
            let class = if is_closed { GuardClass::CodeVariables } else { GuardClass::Variables };
            (class, loads_code(name, Some(value)))
        } else if is_closed && !HARMLESS.contains(&name) && !name.starts_with("LC_") {
            let what = format!("the variable {name} may change what the programs do");
            (GuardClass::Variables, what)
        } else {
            return;
        };
        self.finding(index, class, what, span, Some(WayOut::DropOption));
    }
}

/// Returns `true` for a variable whose value is loaded or run.
fn is_suspect(name: &str, value: Option<&ShellWord>, command: Option<&str>) -> bool {
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
        _ if GIT.contains(&name) || LOADED.contains(&name) => {
            let is_shell = name == "SHELL" && matches!(known.as_deref(), Some("/bin/sh" | "/bin/bash"));
            !is_shell && !known.as_deref().is_some_and(is_harmless_program)
        }
        _ => false,
    }
}

fn loads_code(name: &str, value: Option<&ShellWord>) -> String {
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

/// Returns the name of `NAME=VALUE`.
pub(super) fn setting_name(word: &ShellWord) -> Option<String> {
    let prefix = word.known_prefix();
    let (name, _) = prefix.split_once('=')?;
    let name = name.strip_suffix([':', '+', '?']).unwrap_or(name);
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_name.then(|| name.to_owned())
}
