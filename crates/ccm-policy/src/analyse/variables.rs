//! Variables that load code, or that change which programs are run.

use ccm_shell::{ShellSpan, ShellWord};

use super::paths::{self, PathMeaning};
use super::started::{StartedForm, is_harmless_program};
use super::variable_tables::{VariableUse, use_of};
use super::{Analyser, CommandContext, CommandInput, shell_words};
use crate::analysis::WayOut;
use crate::guard_class::GuardClass;
use crate::tables;
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
const WORDS: [&str; 21] = [
    "ACLOCAL",
    "AUTOCONF",
    "AUTOHEADER",
    "AUTOM4TE",
    "AUTOMAKE",
    "AUTOPOINT",
    "CARGO",
    "CCACHE_PREFIX",
    "CCACHE_PREFIX_CPP",
    "CVS_RSH",
    "HGMERGE",
    "JAVACMD",
    "KUBECTL_EXTERNAL_DIFF",
    "LIBTOOLIZE",
    "M4",
    "NULLCMD",
    "PKG_CONFIG",
    "RSYNC_RSH",
    "RUSTDOC",
    "SENDMAIL",
    "SVN_SSH",
];

/// Ends of names of variables whose value is a program with arguments: `CMAKE_C_COMPILER_LAUNCHER`.
const WORD_ENDS: [&str; 2] = ["_COMPILER_LAUNCHER", "_RUNNER"];

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

/// Returns `true` for a variable whose value names a program, or is a text for a shell.
pub(super) fn starts_program(name: &str) -> bool {
    started_form(name).is_some()
}

/// Returns the form in which the value of a variable names what programs start.
fn started_form(name: &str) -> Option<StartedForm> {
    match name {
        _ if is_text(name) || name.starts_with("GIT_CONFIG_VALUE_") => Some(StartedForm::Text),
        _ if NAMES.contains(&name) => Some(StartedForm::Name),
        "TAR_OPTIONS" => Some(StartedForm::Words),
        _ if is_program(name) => Some(StartedForm::Words),
        _ if name.starts_with("CARGO_") && name.ends_with("_LINKER") => Some(StartedForm::Words),
        _ => None,
    }
}

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
        // A variable that is set for the text alone is passed on by `export`, which names the variable once more.
        let is_passed_on = command.is_some();
        if is_suspect(name, value, command) || is_passed_on && is_loaded(name, value) {
            let what = loads_code(name, value);
            self.finding(index, GuardClass::Variables, what, span, Some(WayOut::DropOption));
        }
        self.origin_of_variable(index, name, value, context);
        let Some(value) = value else { return };
        self.started_by_variable(index, name, value, context);
        if is_passed_on {
            self.used_variable(index, name, value, context);
        }
    }

    /// Judges a variable that holds options of a program, or that names files or machines.
    fn used_variable(&mut self, index: usize, name: &str, value: &ShellWord, context: &CommandContext) {
        let text = value.text();
        if text.as_deref() == Some("") {
            return;
        }
        if name == "TMPDIR" {
            return self.temporary_directory(index, value, context);
        }
        match use_of(name, text.as_deref()) {
            Some(VariableUse::Options(program)) => {
                self.options_in_variable(index, name, program, value, context);
            }
            // `GIT_TRACE=1` is no file.
            Some(VariableUse::Written) if text.as_deref().is_none_or(|text| text.contains('/')) => {
                self.write_path(index, value, context);
            }
            Some(VariableUse::Read) => {
                let parts = text.as_deref().unwrap_or_default().split(':').filter(|part| part.contains('/'));
                for part in parts {
                    self.read_path(index, &ShellWord::known(part, value.span), context);
                }
            }
            Some(VariableUse::Code) => self.script(index, value, name, &[], context),
            Some(VariableUse::Proxy) => {
                let span = context.span.unwrap_or(value.span);
                self.metadata_host(index, &shell_words::with_placeholders(value), span);
            }
            Some(VariableUse::Written | VariableUse::Loaded) | None => {}
        }
    }

    /// Judges the options of a program in a variable, as a call of the program.
    pub(super) fn options_in_variable(
        &mut self,
        index: usize,
        name: &str,
        program: &str,
        value: &ShellWord,
        context: &CommandContext,
    ) {
        let span = context.span.unwrap_or(value.span);
        let text = value.text().filter(|text| !text.contains(['$', '`']));
        let Some(options) = text.and_then(|text| ccm_model::split_words(&text).ok()) else {
            let what = loads_code(name, Some(value));
            self.finding(index, GuardClass::Variables, what, span, Some(WayOut::DropOption));
            return;
        };
        let mut words: Vec<ShellWord> = program.split(' ').map(|word| ShellWord::known(word, span)).collect();
        for option in options {
            // The dash of the first option of less may be left out.
            let has_dash = program != "less" || words.len() > 1 || option.starts_with(['-', '+']);
            let option = if has_dash { option } else { format!("-{option}") };
            words.push(ShellWord::known(option, span));
        }
        let before = self.analysis.commands.len();
        let context = CommandContext {
            at_most: Some(PolicyVerdict::Ask),
            input: CommandInput::Empty,
            span: Some(span),
            ..context.within(index)
        };
        self.program(&words, &[], &context);
        if self.analysis.commands.iter().skip(before).all(|command| command.findings.is_empty()) {
            self.analysis.commands.truncate(before);
        }
    }

    /// Judges a directory of temporary files. Outside the directories of the system it harms nobody.
    fn temporary_directory(&mut self, index: usize, value: &ShellWord, context: &CommandContext) {
        let home = self.request.variable("HOME");
        let is_plain = paths::resolve(value, &context.directories).iter().all(|resolved| {
            let path = resolved.path.as_deref();
            path.is_none_or(|path| paths::meaning(path, home) == PathMeaning::Plain)
        });
        if !is_plain {
            self.write_path(index, value, context);
        }
    }

    /// Judges the command that a variable names. Rules see the command, though the variable may never be used.
    fn started_by_variable(&mut self, index: usize, name: &str, value: &ShellWord, context: &CommandContext) {
        if value.text().is_none_or(|text| text.is_empty()) {
            return;
        }
        let Some(form) = started_form(name) else { return };
        let context = CommandContext { at_most: Some(PolicyVerdict::Ask), ..context.clone() };
        let value = match name {
            "TAR_OPTIONS" => {
                let options = value.text().unwrap_or_default();
                ShellWord::known(format!("tar {options}"), value.span)
            }
            // `|command %s`, and `!command` of an alias of git.
            _ if value.known_prefix().starts_with(['|', '!']) => {
                let prefix = value.known_prefix();
                let marks = prefix.len() - prefix.trim_start_matches(['|', '!', '-']).len();
                shell_words::without_prefix(value, marks)
            }
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
        self.origin_of_variable(index, name, Some(value), context);
        self.started_by_variable(index, name, value, context);
        self.used_variable(index, name, value, context);
        let is_closed = self.request.closed_variables;
        let (class, what) = if is_suspect(name, Some(value), None) || is_loaded(name, Some(value)) {
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

/// Returns `true` for a variable that the tables list as loaded, or whose name leaves that open.
fn is_loaded(name: &str, value: Option<&ShellWord>) -> bool {
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

/// Returns `true` for a variable whose value is a text for a shell.
fn is_text(name: &str) -> bool {
    TEXTS.contains(&name) || TEXT_ENDS.iter().any(|end| name.ends_with(end))
}

/// Returns `true` for a variable whose value is a program with arguments.
fn is_program(name: &str) -> bool {
    WORDS.contains(&name) || WORD_ENDS.iter().any(|end| name.ends_with(end))
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
