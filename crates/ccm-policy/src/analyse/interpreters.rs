//! Options of ruby, php and lua.

use ccm_shell::ShellWord;

use super::Analyser;
use super::exact::ExactCall;
use crate::grammars::OptionGrammar;

const RUBY: OptionGrammar = OptionGrammar {
    letters: "0#aC:ce:E:F::hi::I:lnpr:sUvwW#x::X:y",
    names: &[
        ("copyright", "copyright"),
        ("disable=", "disable"),
        ("enable=", "enable"),
        ("encoding=", "encoding"),
        ("external-encoding=", "E"),
        ("help", "h"),
        ("internal-encoding=", "internal-encoding"),
        ("jit", "jit"),
        ("verbose", "verbose"),
        ("version", "version"),
        ("yjit", "jit"),
    ],
    stops: true,
    last: "",
};

/// Libraries of ruby itself.
const RUBY_LIBRARIES: [&str; 18] = [
    "benchmark",
    "bigdecimal",
    "bundler/setup",
    "csv",
    "date",
    "digest",
    "erb",
    "fileutils",
    "json",
    "optparse",
    "pathname",
    "pp",
    "securerandom",
    "set",
    "stringio",
    "time",
    "uri",
    "yaml",
];

const PHP: OptionGrammar = OptionGrammar {
    letters: "aB:c:Cd:eE:f:F:hHilmnqr:R:sS:t:vwz:",
    names: &[
        ("define=", "d"),
        ("docroot=", "t"),
        ("file=", "f"),
        ("help", "h"),
        ("info", "i"),
        ("ini", "i"),
        ("interactive", "a"),
        ("modules", "m"),
        ("no-php-ini", "n"),
        ("php-ini=", "c"),
        ("process-begin=", "B"),
        ("process-code=", "R"),
        ("process-end=", "E"),
        ("process-file=", "F"),
        ("run=", "r"),
        ("server=", "S"),
        ("strip", "w"),
        ("syntax-check", "l"),
        ("syntax-highlight", "s"),
        ("version", "v"),
        ("zend-extension=", "z"),
    ],
    stops: true,
    last: "",
};

/// Settings of php that load and write nothing.
const PHP_SETTINGS: [&str; 14] = [
    "assert.exception",
    "date.timezone",
    "display_errors",
    "error_reporting",
    "html_errors",
    "log_errors",
    "max_execution_time",
    "memory_limit",
    "opcache.enable",
    "opcache.enable_cli",
    "pcov.enabled",
    "phar.readonly",
    "xdebug.mode",
    "zend.assertions",
];

const LUA: OptionGrammar = OptionGrammar { letters: "e:l:iEvW", names: &[], stops: true, last: "" };

/// Options of further interpreters with a value that the tables judge.
const JUDGED: [&str; 12] =
    ["-e", "-c", "-E", "-f", "-L", "--eval", "--code", "-eval", "--file", "--load", "-Command", "-File"];

/// Options of further interpreters that change nothing of what runs.
const PLAIN: [&str; 25] = [
    "--color",
    "--help",
    "--history-file=no",
    "--no-environ",
    "--no-gui",
    "--no-history",
    "--no-init-file",
    "--no-restore",
    "--no-save",
    "--no-site-file",
    "--project",
    "--project=.",
    "--project=@.",
    "--quiet",
    "--silent",
    "--slave",
    "--startup-file=no",
    "--vanilla",
    "--verbose",
    "--version",
    "-NoLogo",
    "-NoProfile",
    "-h",
    "-q",
    "-v",
];

impl Analyser<'_> {
    /// Judges options in front of the script of an interpreter that neither the tables nor a grammar know.
    pub(super) fn other_interpreter(&mut self, call: ExactCall<'_>, all: &[ShellWord]) {
        let mut rest = all.iter().skip(1);
        while let Some(word) = rest.next() {
            let prefix = word.known_prefix();
            if !prefix.starts_with('-') || prefix.len() < 2 {
                return;
            }
            let name = prefix.split('=').next().unwrap_or_default();
            let is_number = call.name == "julia" && matches!(name, "-t" | "--threads");
            if is_number || JUDGED.contains(&name) {
                if name.len() == prefix.len() {
                    rest.next();
                }
            } else if word.text().is_none() || !PLAIN.contains(&&*prefix) {
                self.unlisted_option(call, &prefix);
                return;
            }
        }
    }

    /// Judges a call of `ruby`.
    pub(super) fn ruby(&mut self, call: ExactCall<'_>, all: &[ShellWord]) {
        let parsed = self.exact_options(call, &RUBY, all.get(1..).unwrap_or_default());
        let mut context = call.context.clone();
        for directory in parsed.values("C").chain(parsed.values("X")) {
            self.directory_effect(call.index, directory, &context);
            context.directories = self.enter_directory(call.index, directory, &context);
        }
        let call = ExactCall { context: &context, ..call };
        for directory in parsed.values("I") {
            self.module_directory(call, directory);
        }
        for library in parsed.values("r") {
            if library.known_prefix().starts_with(['.', '/']) {
                self.script(call.index, library, call.name, call.commands, &context);
                if let Some(path) = library.text() {
                    for ending in [".rb", ".so"] {
                        let candidate = ShellWord::known(format!("{path}{ending}"), library.span);
                        self.origin_of_word(call.index, &candidate, &context);
                    }
                }
            } else {
                self.module(call, library, &RUBY_LIBRARIES);
            }
        }
        if parsed.has("x") {
            self.code_option(call, "-x");
        }
        self.inline_codes(call, parsed.values("e"));
        let is_report = ["version", "copyright", "h"].into_iter().any(|name| parsed.has(name));
        let is_lone_version = parsed.has("v") && parsed.operands.is_empty();
        if is_report || is_lone_version {
            return;
        }
        let mut files = &*parsed.operands;
        if !parsed.has("e") {
            self.script_operands(call, files);
            files = files.get(1..).unwrap_or_default();
        }
        for file in files {
            if parsed.has("i") {
                self.write_path(call.index, file, &context);
            } else {
                self.maybe_path(call.index, file, &context);
            }
        }
    }

    /// Judges a call of `php`.
    pub(super) fn php(&mut self, call: ExactCall<'_>, all: &[ShellWord]) {
        let parsed = self.exact_options(call, &PHP, all.get(1..).unwrap_or_default());
        let mut has_code = false;
        for option in &parsed.options {
            let Some(value) = &option.value else { continue };
            match &*option.name {
                "r" | "B" | "R" | "E" => {
                    has_code = true;
                    self.inline_code(call.index, call.name, value, call.span(value));
                }
                "f" | "F" => {
                    has_code = true;
                    self.script(call.index, value, call.name, call.commands, call.context);
                }
                "c" => self.script(call.index, value, call.name, call.commands, call.context),
                "d" => {
                    let setting = value.known_prefix();
                    let name = setting.split('=').next().unwrap_or_default();
                    if !PHP_SETTINGS.contains(&name) {
                        self.module(call, value, &[]);
                    }
                }
                "z" => self.code_option(call, "-z"),
                _ => {}
            }
        }
        if parsed.has("a") {
            self.code_from_input(call.index, call.name, call.commands, call.context);
        }
        if parsed.has("S") {
            let here = ShellWord::known(".", self.span(call.index));
            let root = parsed.values("t").next().unwrap_or(&here);
            self.served(call, root);
            self.script_directory(call, root);
        }
        let is_report = ["v", "i", "m", "h"].into_iter().any(|name| parsed.has(name));
        if is_report || has_code || parsed.has("S") && parsed.operands.is_empty() {
            return;
        }
        let is_reader = ["l", "s", "w"].into_iter().any(|name| parsed.has(name));
        if is_reader {
            for file in &parsed.operands {
                self.read_path(call.index, file, call.context);
            }
        } else {
            self.script_operands(call, &parsed.operands);
        }
    }

    /// Judges a call of `lua`.
    pub(super) fn lua(&mut self, call: ExactCall<'_>, all: &[ShellWord]) {
        let parsed = self.exact_options(call, &LUA, all.get(1..).unwrap_or_default());
        self.inline_codes(call, parsed.values("e"));
        for library in parsed.values("l") {
            // `NAME=MODULE` since Lua 5.4.4.
            match library.text() {
                Some(name) => {
                    let path = name.rsplit('=').next().unwrap_or_default().replace('.', "/");
                    self.origins_by_name(call, library, &path, &[".lua", ".so", "/init.lua"]);
                }
                None => self.unknown_origin(call.index, library),
            }
            self.module(call, library, &[]);
        }
        let is_report = parsed.has("v") && parsed.operands.is_empty();
        if parsed.has("i") || !is_report && !parsed.has("e") && parsed.operands.is_empty() {
            self.code_from_input(call.index, call.name, call.commands, call.context);
        }
        if !parsed.operands.is_empty() {
            self.script_operands(call, &parsed.operands);
        }
    }
}
