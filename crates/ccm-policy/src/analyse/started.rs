//! Programs that options, settings and variables start.

use ccm_shell::{ShellDialect, ShellWord};

use super::entries::Call;
use super::{Analyser, CommandContext, CommandInput, shell_words};
use crate::analysis::WayOut;
use crate::guard_class::GuardClass;
use crate::tables::ArgumentRole;

/// Form of a value that names a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StartedForm {
    /// Name or path of one program.
    Name,
    /// Program and arguments, parted at blanks.
    Words,
    /// Text for a shell.
    Text,
    /// Text in which a shell runs substitutions, as in a here-document.
    Expanded,
}

impl Analyser<'_> {
    /// Judges the value of an option that names a program or a library.
    pub(super) fn started(
        &mut self,
        call: &Call<'_>,
        role: ArgumentRole,
        word: &ShellWord,
        option: Option<&str>,
    ) {
        if word.text().is_some_and(|text| text.is_empty()) {
            return;
        }
        let span = call.context.span.unwrap_or(word.span);
        if !word.text().is_some_and(|text| is_harmless_program(&text)) {
            let verb = if role == ArgumentRole::Library { "loads" } else { "runs" };
            let option = option.map(|option| format!("`{option}` of ")).unwrap_or_default();
            let what = format!("{option}`{}` {verb} `{}`", call.name, shell_words::shown(word).shown);
            self.finding(call.index, GuardClass::Options, what, span, Some(WayOut::DropOption));
        }
        let form = match role {
            ArgumentRole::Library => return self.read_path(call.index, word, &call.context),
            ArgumentRole::ProgramText => StartedForm::Text,
            ArgumentRole::ProgramWords => StartedForm::Words,
            _ => StartedForm::Name,
        };
        self.started_command(call.index, form, word, &call.context);
    }

    /// Judges a command that a value names.
    pub(super) fn started_command(
        &mut self,
        index: usize,
        form: StartedForm,
        word: &ShellWord,
        context: &CommandContext,
    ) {
        let span = context.span.unwrap_or(word.span);
        let inner = CommandContext { input: CommandInput::Empty, span: Some(span), ..context.within(index) };
        match (form, word.text()) {
            (StartedForm::Expanded, Some(text)) => {
                if text.contains(['$', '`']) || super::variable_names::has_numbered_character(&text) {
                    let text = match prompt_as_text(&text) {
                        Some(text) => ShellWord::known(text, span),
                        None => shell_words::unknown("prompt", span),
                    };
                    self.shell_text(index, &text, context.dialect, &[], &inner);
                }
            }
            (StartedForm::Text | StartedForm::Expanded, _) | (StartedForm::Words, None) => {
                self.shell_text(index, word, ShellDialect::Sh, &[], &inner);
            }
            (StartedForm::Words, Some(text)) => {
                let words: Vec<ShellWord> =
                    text.split_ascii_whitespace().map(|part| ShellWord::known(part, span)).collect();
                self.program(&words, &[], &inner);
            }
            (StartedForm::Name, _) => {
                self.program(std::slice::from_ref(word), &[], &inner);
            }
        }
    }
}

/// Returns `true` for a program that only prints or lets a person edit, as the value of an option or variable that names
/// a program.
pub(super) fn is_harmless_program(text: &str) -> bool {
    const HARMLESS: [&str; 22] = [
        "",
        "cat",
        "less",
        "less -R",
        "less -F",
        "less -FRX",
        "more",
        "true",
        "false",
        ":",
        "gzip",
        "bzip2",
        "xz",
        "zstd",
        "lz4",
        "pigz",
        "lzop",
        "vi",
        "vim",
        "nano",
        "ssh",
        "head",
    ];
    HARMLESS.contains(&text)
}

/// Returns a text for a shell that runs what a prompt runs. A backslash with its letter stands for a name or a time.
fn prompt_as_text(prompt: &str) -> Option<String> {
    const END: &str = "END_OF_PROMPT";
    if super::variable_names::has_numbered_character(prompt) || prompt.contains(END) {
        return None;
    }
    let mut plain = String::new();
    let mut characters = prompt.chars();
    while let Some(character) = characters.next() {
        if character == '\\' {
            characters.next();
            plain.push('x');
        } else {
            plain.push(character);
        }
    }
    Some(format!(": <<{END}\n{plain}\n{END}\n"))
}
