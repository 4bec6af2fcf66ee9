//! `node`: code, scripts and what is loaded before them.

use ccm_shell::ShellWord;

use super::Analyser;
use super::exact::ExactCall;
use super::shell_words::without_prefix;
use crate::analysis::{AnalysedOption, CodePlace};

/// Options whose value is code.
const CODE: [&str; 6] = ["-e", "--eval", "-p", "--print", "-pe", "-ep"];

/// Options whose value is loaded in front of the script.
const LOADED: [&str; 5] = ["-r", "--require", "--import", "--loader", "--experimental-loader"];

/// Options with a value that is neither run nor opened.
const VALUES: [&str; 14] = [
    "-C",
    "--conditions",
    "--dns-result-order",
    "--input-type",
    "--max-old-space-size",
    "--max-semi-space-size",
    "--stack-size",
    "--stack-trace-limit",
    "--test-concurrency",
    "--test-name-pattern",
    "--test-timeout",
    "--title",
    "--unhandled-rejections",
    "--watch-path",
];

/// Options without a value, with which node runs what it runs without them.
const FLAGS: [&str; 40] = [
    "--abort-on-uncaught-exception",
    "--check",
    "--enable-source-maps",
    "--experimental-default-type",
    "--experimental-fetch",
    "--experimental-import-meta-resolve",
    "--experimental-json-modules",
    "--experimental-modules",
    "--experimental-permission",
    "--experimental-sqlite",
    "--experimental-strip-types",
    "--experimental-test-coverage",
    "--experimental-transform-types",
    "--experimental-vm-modules",
    "--experimental-wasm-modules",
    "--expose-gc",
    "--force-color",
    "--harmony",
    "--help",
    "--no-addons",
    "--no-color",
    "--no-deprecation",
    "--no-experimental-fetch",
    "--no-warnings",
    "--pending-deprecation",
    "--permission",
    "--preserve-symlinks",
    "--test",
    "--test-force-exit",
    "--test-only",
    "--throw-deprecation",
    "--trace-deprecation",
    "--trace-exit",
    "--trace-uncaught",
    "--trace-warnings",
    "--use-strict",
    "--version",
    "--watch",
    "-c",
    "-h",
];

impl Analyser<'_> {
    /// Judges a call of `node`.
    pub(super) fn node(&mut self, call: ExactCall<'_>, all: &[ShellWord]) {
        let mut rest = all.iter().skip(1).peekable();
        let (mut has_code, mut is_report, mut is_interactive, mut is_test) = (false, false, false, false);
        while let Some(word) = rest.next_if(|word| {
            let prefix = word.known_prefix();
            prefix.starts_with('-') && !(prefix == "-" && word.text().is_some())
        }) {
            let prefix = word.known_prefix();
            if prefix == "--" && word.text().is_some() {
                break;
            }
            let (name, attached) = match prefix.split_once('=').filter(|_| prefix.starts_with("--")) {
                Some((name, _)) => (name, Some(without_prefix(word, name.len() + 1))),
                None => (&*prefix, None),
            };
            let takes_value = CODE.contains(&name) || LOADED.contains(&name) || VALUES.contains(&name);
            let value = if takes_value && attached.is_none() { rest.next().cloned() } else { attached };
            if let Some(command) = self.analysis.commands.get_mut(call.index) {
                let shown = value.as_ref().map(super::shell_words::shown);
                command.options.push(AnalysedOption {
                    name: name.to_owned(),
                    other_names: Vec::new(),
                    value: shown,
                });
            }
            match (name, &value) {
                _ if word.text().is_none() && value.is_none() => self.unlisted_option(call, name),
                (_, Some(code)) if CODE.contains(&name) => {
                    has_code = true;
                    self.inline_code(call.index, call.name, code, call.span(code));
                }
                (_, Some(file)) if LOADED.contains(&name) => self.loaded_by_node(call, file),
                ("--env-file", Some(file)) => {
                    self.script(call.index, file, call.name, call.commands, call.context);
                }
                ("-v" | "--version" | "-h" | "--help", _) => is_report = true,
                ("-i" | "--interactive", _) => is_interactive = true,
                ("--test", _) => is_test = true,
                _ if VALUES.contains(&name) || FLAGS.contains(&name) => {}
                _ => self.unlisted_option(call, name),
            }
        }
        let operands: Vec<ShellWord> = rest.cloned().collect();
        self.record_operands(call.index, &operands);
        if is_report {
            return;
        }
        if is_test {
            if operands.is_empty() {
                // The tests of the working directory.
                self.origin_of_word(call.index, &ShellWord::known(".", self.span(call.index)), call.context);
            }
            for file in &operands {
                self.script(call.index, file, call.name, call.commands, call.context);
            }
        } else if !has_code {
            let is_debugger = operands.first().and_then(ShellWord::text).as_deref() == Some("inspect");
            if is_debugger {
                self.code_option(call, "inspect");
            }
            self.script_operands(call, &operands);
            if let Some(script) = operands.first() {
                self.origins_of_node_module(call, script);
            }
        }
        if is_interactive {
            self.code_from_input(call.index, call.name, call.commands, call.context);
        }
    }

    /// Judges a file or package that is loaded in front of the script.
    fn loaded_by_node(&mut self, call: ExactCall<'_>, file: &ShellWord) {
        let text = file.text();
        let is_url = text.as_deref().is_none_or(|text| text.contains(':') && !text.starts_with("node:"));
        let is_path = text.as_deref().is_some_and(|text| text.starts_with(['.', '/']));
        if is_url {
            self.module(call, file, &[]);
        } else if is_path {
            self.script(call.index, file, call.name, call.commands, call.context);
            self.origins_of_node_module(call, file);
        } else {
            self.origins_of_node_package(call, file);
        }
    }

    /// Records the files that node tries for a path.
    fn origins_of_node_module(&mut self, call: ExactCall<'_>, file: &ShellWord) {
        if let Some(path) = file.text().filter(|path| !path.is_empty() && *path != "-") {
            for ending in [".js", ".json", ".node", ".mjs", ".cjs"] {
                let candidate = ShellWord::known(format!("{path}{ending}"), file.span);
                self.origin_of_word(call.index, &candidate, call.context);
            }
        }
    }

    /// Records the directories in which node looks for a package.
    fn origins_of_node_package(&mut self, call: ExactCall<'_>, package: &ShellWord) {
        let Some(name) = package.text() else { return self.unknown_origin(call.index, package) };
        if name.starts_with("node:") {
            return;
        }
        let parts = if name.starts_with('@') { 2 } else { 1 };
        let package_name = name.split('/').take(parts).collect::<Vec<_>>().join("/");
        let directories = call.context.directories.paths.clone();
        if call.context.directories.is_unknown {
            self.unknown_origin(call.index, package);
        }
        for directory in &directories {
            for above in std::path::Path::new(directory).ancestors().filter_map(std::path::Path::to_str) {
                let path = ccm_shell::join_path(above, &format!("node_modules/{package_name}"));
                self.code_origin(call.index, CodePlace::Path(path), package);
            }
        }
    }
}
