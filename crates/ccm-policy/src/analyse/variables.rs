//! Variables that load code, or that change which programs are run.

use ccm_shell::{ShellSpan, ShellWord};

use super::started::StartedForm;
use super::variable_names::{HARMLESS, is_loaded, is_suspect, loads_code, started_form};
use super::variable_tables::{VariableUse, use_of};
use super::{Analyser, CommandContext, CommandInput, shell_words};
use crate::analysis::WayOut;
use crate::guard_class::GuardClass;
use crate::verdict::PolicyVerdict;

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
        self.paths_in_variable(index, name, value, context);
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
        match name {
            // A file that the text makes below is a new one.
            "TMPDIR" => return self.temporary(index, value, context),
            "TAPE" => {
                self.read_path(index, value, context);
                return self.write_path(index, value, context);
            }
            _ if name.ends_with("SAN_OPTIONS") => return self.sanitizer_options(index, value, context),
            _ => {}
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

    /// Judges options of the sanitizers of a compiler: `log_path=x:external_symbolizer_path=y`.
    fn sanitizer_options(&mut self, index: usize, value: &ShellWord, context: &CommandContext) {
        let Some(text) = value.text() else { return };
        for part in text.split([':', ' ', ',', '\n']) {
            let Some((name, object)) = part.split_once('=') else { continue };
            let object = ShellWord::known(object, value.span);
            match name {
                "external_symbolizer_path" => {
                    self.started_command(index, StartedForm::Name, &object, context);
                    let what = loads_code(name, Some(&object));
                    self.finding(index, GuardClass::Variables, what, value.span, Some(WayOut::DropOption));
                }
                "suppressions" | "include" | "include_if_exists" => self.read_path(index, &object, context),
                _ if object.known_prefix().contains('/') => self.write_path(index, &object, context),
                _ => {}
            }
        }
    }

    /// Judges the paths in a variable whose value is loaded, and the settings of git in one, for rules.
    fn paths_in_variable(&mut self, index: usize, name: &str, value: &ShellWord, context: &CommandContext) {
        let Some(text) = value.text() else { return };
        if name == "GIT_CONFIG_PARAMETERS" {
            let settings = ccm_model::split_words(&text).unwrap_or_default();
            let settings: Vec<String> =
                settings.into_iter().flat_map(|setting| ["-c".to_owned(), setting]).collect();
            let span = context.span.unwrap_or(value.span);
            let words =
                std::iter::once("git".to_owned()).chain(settings).map(|word| ShellWord::known(word, span));
            let context = CommandContext { at_most: Some(PolicyVerdict::Ask), ..context.within(index) };
            self.program(&words.collect::<Vec<_>>(), &[], &context);
            return;
        }
        let is_judged = is_suspect(name, Some(value), None) || is_loaded(name, Some(value));
        if is_judged && name != "PATH" {
            self.record_code(index, value);
        }
        let parts = text.split([':', ' ', '=', ',', ';']).map(|part| match part.strip_prefix('-') {
            Some(option) => option.find('/').and_then(|at| option.get(at..)).unwrap_or_default(),
            None => part,
        });
        for part in parts.filter(|part| is_judged && part.contains('/')) {
            self.directory_effect(index, &ShellWord::known(part, value.span), context);
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
        self.paths_in_variable(index, name, value, context);
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

/// Returns the name of `NAME=VALUE`.
pub(super) fn setting_name(word: &ShellWord) -> Option<String> {
    let prefix = word.known_prefix();
    let (name, _) = prefix.split_once('=')?;
    let name = name.strip_suffix([':', '+', '?']).unwrap_or(name);
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_name.then(|| name.to_owned())
}
