//! `python`: code, scripts and modules.

use ccm_shell::ShellWord;

use super::exact::ExactCall;
use super::{Analyser, shell_words};
use crate::analysis::WayOut;
use crate::effect::{CodeSource, Effect};
use crate::grammars::{ExactArguments, OptionGrammar};
use crate::guard_class::GuardClass;

const OPTIONS: OptionGrammar = OptionGrammar {
    letters: "bBdEhiIOPqRsStuvVxc:m:W:X:Q:",
    names: &[
        ("check-hash-based-pycs=", "check-hash-based-pycs"),
        ("help", "h"),
        ("help-all", "help-all"),
        ("help-env", "help-env"),
        ("help-xoptions", "help-xoptions"),
        ("version", "V"),
    ],
    stops: true,
    last: "cm",
};

/// Values of `-X`, up to `=`, that load and write nothing.
const HARMLESS_SETTINGS: [&str; 14] = [
    "cpu_count",
    "dev",
    "faulthandler",
    "frozen_modules",
    "gil",
    "importtime",
    "int_max_str_digits",
    "no_debug_ranges",
    "perf",
    "showrefcount",
    "thread_inherit_context",
    "tracemalloc",
    "utf8",
    "warn_default_encoding",
];

/// Modules that are programs with an entry of the same name.
const PROGRAMS: [&str; 13] = [
    "black", "flake8", "isort", "mypy", "nox", "pip", "pip3", "pylint", "pytest", "ruff", "tox", "twine",
    "pipx",
];

/// Modules that read the files in their words at most, or run tests of the working directory.
const READERS: [&str; 17] = [
    "ast",
    "base64",
    "build",
    "calendar",
    "dis",
    "http.server",
    "inspect",
    "locale",
    "mimetypes",
    "pickletools",
    "platform",
    "site",
    "sysconfig",
    "tabnanny",
    "this",
    "tokenize",
    "unittest",
];

/// Modules that write the files in their words.
const WRITERS: [&str; 5] = ["compileall", "gzip", "py_compile", "venv", "virtualenv"];

impl Analyser<'_> {
    /// Judges a call of `python`.
    pub(super) fn python(&mut self, call: ExactCall<'_>, all: &[ShellWord]) {
        let parsed = self.exact_options(call, &OPTIONS, all.get(1..).unwrap_or_default());
        self.python_settings(call, &parsed);
        if parsed.has("V") || parsed.has("h") {
            return;
        }
        let last = parsed.options.last().and_then(|option| Some((&*option.name, option.value.as_ref()?)));
        match last {
            Some(("c", code)) => self.inline_code(call.index, call.name, code, call.span(code)),
            Some(("m", module)) => self.python_module(call, module, &parsed.operands),
            _ => self.script_operands(call, &parsed.operands),
        }
        if parsed.has("i") {
            self.code_from_input(call.index, call.name, call.commands, call.context);
        }
    }

    fn python_settings(&mut self, call: ExactCall<'_>, parsed: &ExactArguments) {
        for value in parsed.values("X") {
            let name = value.known_prefix();
            let name = name.split('=').next().unwrap_or_default();
            if !HARMLESS_SETTINGS.contains(&name) {
                self.code_option(call, "-X");
            }
        }
        for value in parsed.values("W") {
            // The category of a warning is imported.
            let is_plain = value
                .text()
                .is_some_and(|text| text.split(':').nth(2).is_none_or(|name| !name.contains('.')));
            if !is_plain {
                self.code_option(call, "-W");
            }
        }
    }

    /// Judges a module that runs as a program.
    fn python_module(&mut self, call: ExactCall<'_>, module: &ShellWord, operands: &[ShellWord]) {
        let text = module.text().unwrap_or_default();
        let name: &str = &text;
        // The tests below a directory are run.
        if matches!(name, "unittest" | "doctest" | "timeit" | "trace" | "pytest") {
            for word in operands.iter().filter(|word| word.known_prefix().starts_with(['/', '.', '~'])) {
                self.script(call.index, word, call.name, call.commands, call.context);
            }
        }
        let paths = operands.iter().filter(|word| !word.known_prefix().starts_with('-'));
        self.origins_of_python_module(call, module, operands);
        match name {
            _ if PROGRAMS.contains(&name) => {
                let mut words = vec![module.clone()];
                words.extend(operands.iter().cloned());
                self.program(&words, call.commands, &call.context.within(call.index));
            }
            "json.tool" => {
                for (position, path) in paths.enumerate() {
                    if position == 1 {
                        self.write_path(call.index, path, call.context);
                    } else {
                        self.read_path(call.index, path, call.context);
                    }
                }
            }
            "zipfile" | "tarfile" => self.python_archive(call, operands),
            "coverage" => self.coverage(call, operands),
            "http.server" | "SimpleHTTPServer" => {
                let here = ShellWord::known(".", call.span(module));
                let directory = directory_of_server(operands).unwrap_or(here);
                self.served(call, &directory);
            }
            "ensurepip" => {
                let what = "`ensurepip` installs packages";
                self.finding(
                    call.index,
                    GuardClass::Package,
                    what,
                    call.span(module),
                    Some(WayOut::AskOperator),
                );
            }
            _ if READERS.contains(&name) => {
                for path in paths {
                    self.maybe_path(call.index, path, call.context);
                }
            }
            _ if WRITERS.contains(&name) => {
                for path in paths {
                    self.write_path(call.index, path, call.context);
                }
            }
            _ => {
                let first = name.split('.').next().unwrap_or_default();
                let is_own = !first.is_empty()
                    && (self.is_in_directory(call, first)
                        || self.is_in_directory(call, &format!("{first}.py")));
                if is_own {
                    let source = CodeSource::File;
                    self.effect(call.index, Effect::code(source, Some(name.to_owned())));
                } else {
                    self.module(call, module, &[]);
                }
                for path in paths {
                    self.maybe_path(call.index, path, call.context);
                }
            }
        }
    }

    /// Records the modules of the working directory, which comes first in the search path of modules.
    fn origins_of_python_module(&mut self, call: ExactCall<'_>, module: &ShellWord, operands: &[ShellWord]) {
        let Some(name) = module.text() else { return self.unknown_origin(call.index, module) };
        let first = name.split('.').next().unwrap_or_default();
        self.origins_by_name(call, module, first, &["", ".py", ".pyc"]);
        match &*name {
            // The tests of the working directory, or modules by their names.
            "unittest" | "pytest" | "nose2" => self.origins_by_name(call, module, ".", &[""]),
            "coverage" | "doctest" | "pdb" | "profile" | "cProfile" | "trace" | "runpy" | "timeit" => {
                for word in operands.iter().filter(|word| !word.known_prefix().starts_with('-')) {
                    self.origin_of_word(call.index, word, call.context);
                    if let Some(name) = word.text() {
                        let first = name.split('.').next().unwrap_or_default().to_owned();
                        self.origins_by_name(call, word, &first, &["", ".py"]);
                    }
                }
            }
            _ => {}
        }
    }

    /// Judges the modules that list, make and extract archives.
    fn python_archive(&mut self, call: ExactCall<'_>, operands: &[ShellWord]) {
        let Some((option, files)) = operands.split_first() else { return };
        let option = option.text().unwrap_or_default();
        let is_reader = matches!(&*option, "-l" | "--list" | "-t" | "--test");
        let written = usize::from(matches!(&*option, "-e" | "--extract"));
        for (position, file) in files.iter().enumerate() {
            if !is_reader && position == written {
                self.write_path(call.index, file, call.context);
            } else {
                self.read_path(call.index, file, call.context);
            }
        }
    }

    /// Judges `coverage`, which runs a script or module itself.
    fn coverage(&mut self, call: ExactCall<'_>, operands: &[ShellWord]) {
        let is_run = operands.first().and_then(ShellWord::text).as_deref() == Some("run");
        if !is_run {
            for word in operands {
                self.maybe_path(call.index, word, call.context);
            }
            return;
        }
        let flags = ["-a", "--append", "-p", "--parallel-mode", "--branch", "--timid"];
        let is_flag = |word: &&ShellWord| {
            let text = word.text().unwrap_or_default();
            flags.contains(&&*text) || text.starts_with("--source=") || text.starts_with("--omit=")
        };
        let flags = operands.iter().skip(1).take_while(is_flag).count();
        let rest = operands.get(1 + flags..).unwrap_or_default();
        let first = rest.first().and_then(ShellWord::text).unwrap_or_default();
        match (&*first, rest.get(1)) {
            ("-m", Some(module)) => self.python_module(call, module, rest.get(2..).unwrap_or_default()),
            (option, _) if option.starts_with('-') => self.unlisted_option(call, option),
            _ => self.script_operands(call, rest),
        }
    }
}

/// Returns the directory that the web server of python shows, if one is named.
fn directory_of_server(operands: &[ShellWord]) -> Option<ShellWord> {
    let mut found = None;
    for (position, word) in operands.iter().enumerate() {
        let prefix = word.known_prefix();
        let long = prefix.strip_prefix("--").map(|long| long.split('=').next().unwrap_or_default());
        let is_long = long.is_some_and(|long| long.len() > 1 && "directory".starts_with(long));
        found = match prefix.find('=') {
            Some(at) if is_long => Some(shell_words::without_prefix(word, at + 1)),
            _ if is_long || prefix == "-d" => operands.get(position + 1).cloned(),
            _ if prefix.starts_with("-d") => Some(shell_words::without_prefix(word, 2)),
            _ => continue,
        };
    }
    found
}
