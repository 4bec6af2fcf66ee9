//! Arguments of single programs that name files, or code in files, within a text.

use ccm_shell::ShellWord;

use super::entries::Call;
use super::objects::CalledObject;
use super::{Analyser, shell_words};
use crate::analysis::WayOut;
use crate::effect::{Effect, EffectKind};
use crate::guard_class::GuardClass;
use crate::tables::{ArgumentRole, SpecialRole};

/// Settings of pytest through which it starts nothing and writes nothing.
const PYTEST: &str = "\
    asyncio_default_fixture_loop_scope asyncio_mode console_output_style doctest_encoding doctest_optionflags \
    empty_parameter_set_mark faulthandler_timeout filterwarnings junit_duration_report junit_family junit_log_passing_tests \
    junit_logging junit_suite_name log_auto_indent log_cli log_cli_date_format log_cli_format log_cli_level \
    log_date_format log_file_date_format log_file_format log_file_level log_file_mode log_format log_level markers \
    minversion norecursedirs python_classes python_files python_functions required_plugins testpaths timeout \
    tmp_path_retention_count tmp_path_retention_policy truncation_limit_chars truncation_limit_lines usefixtures \
    verbosity_assertions verbosity_test_cases xfail_strict";

/// Functions of yq that read a file.
const LOADING: [&str; 7] =
    ["load", "load_base64", "load_props", "load_str", "load_xml", "loadstr", "strload"];

impl Analyser<'_> {
    /// Judges an argument that names a file within a text.
    pub(super) fn file_role(
        &mut self,
        call: &mut Call<'_>,
        role: SpecialRole,
        word: &ShellWord,
        prefix: &str,
    ) {
        let index = call.index;
        match role {
            SpecialRole::ManualPage => {
                let is_file = call.parsed.has(&["-l", "--local-file"]) || prefix.contains('/');
                if is_file || word.text().is_none() {
                    self.read_path(index, word, &call.context);
                }
            }
            SpecialRole::ListPattern if prefix.starts_with('@') && prefix.len() > 1 => {
                self.read_path(index, &shell_words::without_prefix(word, 1), &call.context);
            }
            SpecialRole::NameSuffix if prefix.contains('/') || word.text().is_none() => {
                self.write_path(index, &shell_words::unknown("…", word.span), &call.context);
            }
            SpecialRole::DocumentFormat if prefix.contains(['/', '.']) || word.text().is_none() => {
                let file = prefix
                    .split_once(".lua")
                    .map(|(stem, _)| ShellWord::known(format!("{stem}.lua"), word.span));
                let file = file.unwrap_or_else(|| word.clone());
                self.script(index, &file, call.name, call.commands, &call.context.clone());
            }
            SpecialRole::TexInput => self.tex_input(call, word, prefix),
            SpecialRole::PytestSetting => self.pytest_setting(call, word, prefix),
            SpecialRole::ReportFile => {
                if let Some(at) = prefix.find(':') {
                    self.write_path(index, &shell_words::without_prefix(word, at + 1), &call.context);
                }
            }
            SpecialRole::VirtualMachineFlag => self.virtual_machine_flag(call, word, prefix),
            SpecialRole::NamedFile => {
                if let Some(at) = prefix.rfind('=') {
                    let file = shell_words::without_prefix(word, at + 1);
                    self.script(index, &file, call.name, call.commands, &call.context.clone());
                }
            }
            SpecialRole::DeviceCache => {
                let file = shell_words::without_prefix(word, 1);
                if !file.pieces.is_empty() && !prefix.starts_with(['?', 'i']) {
                    self.write_path(index, &file, &call.context);
                }
            }
            SpecialRole::TestLogger => {
                let is_known = word.text().is_some();
                for part in prefix.split(';') {
                    let value = part.split_once('=').map_or(part, |(_, value)| value);
                    if value.contains('/') || !is_known {
                        self.write_path(index, &ShellWord::known(value, word.span), &call.context);
                        self.setting_unknown(call, word);
                    }
                }
            }
            SpecialRole::PackageFile => {
                self.read_path(index, word, &call.context);
                call.objects.push(CalledObject::any(word));
            }
            SpecialRole::DataExpression => self.data_expression(call, word),
            SpecialRole::SocketAddress => self.socket_file(call, word, prefix),
            _ => {}
        }
    }

    /// Judges an operand of TeX: `\input{/etc/x}` is code, `&format` a file of settings, and all else a file.
    fn tex_input(&mut self, call: &Call<'_>, word: &ShellWord, prefix: &str) {
        let span = call.context.span.unwrap_or(word.span);
        match prefix.chars().next() {
            Some('\\') => self.inline_code(call.index, call.name, word, span),
            Some('&' | '*') => {
                self.started(call, ArgumentRole::Library, &shell_words::without_prefix(word, 1), None);
            }
            _ if prefix.contains('\\') => self.inline_code(call.index, call.name, word, span),
            _ => self.read_path(call.index, word, &call.context),
        }
    }

    /// Judges `name=value` of pytest.
    fn pytest_setting(&mut self, call: &Call<'_>, word: &ShellWord, prefix: &str) {
        let name = prefix.split('=').next().unwrap_or_default();
        if matches!(name, "log_file" | "cache_dir") && prefix.contains('=') {
            let file = shell_words::without_prefix(word, name.len() + 1);
            self.write_path(call.index, &file, &call.context);
        } else if !PYTEST.split_ascii_whitespace().any(|known| known == name) {
            self.setting_unknown(call, word);
        }
    }

    /// Judges `-XX:Name=value`: flags with a number or a word change how the code runs, the others name files.
    fn virtual_machine_flag(&mut self, call: &Call<'_>, word: &ShellWord, prefix: &str) {
        let Some(text) = word.text() else { return self.setting_unknown(call, word) };
        if prefix.starts_with(['+', '-']) {
            return;
        }
        let Some(at) = text.find(['=', ':']) else { return };
        let (name, values) = text.split_at(at);
        let names_file = ["File", "Path", "Dir", "List", "Archive", "Exit", "Log", "Cache"]
            .iter()
            .any(|end| name.ends_with(end));
        for value in values.get(1..).unwrap_or_default().split(',') {
            let (key, file) = value.split_once('=').unwrap_or(("", value));
            if file.contains(['/', '\\'])
                || names_file
                || matches!(key, "filename" | "repository" | "settings")
            {
                self.write_path(call.index, &ShellWord::known(file, word.span), &call.context);
            }
        }
    }

    /// Judges an expression of jq or yq: `import "x"` and `load("x")` read files.
    fn data_expression(&mut self, call: &Call<'_>, word: &ShellWord) {
        let text = shell_words::with_placeholders(word);
        if imports(&text) || text.contains("load") && loads(&text) {
            let span = call.context.span.unwrap_or(word.span);
            self.inline_code(call.index, call.name, word, span);
        }
    }

    /// Adds the effect of a program that may read each file below a directory.
    pub(super) fn everything_read_below(
        &mut self,
        index: usize,
        word: &ShellWord,
        context: &super::CommandContext,
    ) {
        for resolved in super::paths::resolve(word, &context.directories) {
            let effect = self.path_effect(EffectKind::Read, &resolved);
            let is_recursive = resolved.path.is_some();
            self.effect(index, Effect { is_recursive, ..effect });
        }
    }

    /// Judges an address of socat: `OPEN:/etc/x`, `/etc/x`, `cert=/etc/x` of another address.
    fn socket_file(&mut self, call: &Call<'_>, word: &ShellWord, prefix: &str) {
        const FILES: [&str; 9] =
            ["CREATE", "CREAT", "FILE", "GOPEN", "OPEN", "PIPE", "FIFO", "UNIX", "LOCAL"];
        for address in prefix.split("!!") {
            let (kind, rest) = address.split_once(':').unwrap_or(("", address));
            let kind = kind.to_ascii_uppercase();
            let mut parts = rest.split(',');
            let first = parts.next().unwrap_or_default();
            if FILES.iter().any(|file| kind.starts_with(file)) || kind.is_empty() && first.contains('/') {
                let file = ShellWord::known(first, word.span);
                self.read_path(call.index, &file, &call.context);
                self.write_path(call.index, &file, &call.context);
            } else if !kind.is_empty() {
                let host = first.split(':').next().unwrap_or_default();
                self.metadata_host(call.index, host, call.context.span.unwrap_or(word.span));
            }
            for file in parts.filter_map(|part| part.split_once('=')).map(|(_, value)| value) {
                if file.contains('/') {
                    self.write_path(call.index, &ShellWord::known(file, word.span), &call.context);
                }
            }
        }
        if word.text().is_none() {
            self.setting_unknown(call, word);
        }
    }

    /// Judges `npm config set`, and other changes of the settings of npm.
    pub(super) fn npm_config(&mut self, call: &Call<'_>, words: &[ShellWord]) {
        let first = words.first().and_then(ShellWord::text);
        let is_set = call.action == "set" && !words.is_empty();
        let is_read = !is_set
            && (words.is_empty()
                || call.action == "get"
                || matches!(first.as_deref(), Some("get" | "list" | "ls" | "delete" | "rm" | "fix")));
        if is_read {
            return;
        }
        let what = "a setting of npm can run programs";
        self.finding(call.index, GuardClass::Options, what, self.span(call.index), Some(WayOut::AskOperator));
    }
}

/// Returns `true` for an expression of jq that may import a module: `import "x" as y;`.
fn imports(text: &str) -> bool {
    ["import", "include"].iter().any(|keyword| {
        text.match_indices(keyword).any(|(at, _)| {
            let before = text.get(..at).unwrap_or_default().trim_end();
            let behind = text.get(at + keyword.len()..).unwrap_or_default().trim_start();
            // Imports stand in front of all else; comments may stand anywhere.
            (before.is_empty() || before.ends_with(';') || before.contains('#'))
                && behind.starts_with(['"', '#'])
        })
    })
}

/// Returns `true` for an expression of yq that may read a file: `load("x")`.
fn loads(text: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '$');
    let mut before = text.split('(');
    before.next_back();
    before.any(|text| {
        let name = text.trim_end();
        let name = name.rsplit(|c: char| !is_name(c)).next().unwrap_or_default();
        LOADING.contains(&name)
    })
}
