//! Commands that run code of which nobody knows before where it comes from.

use ccm_policy::{AnalysedCommand, Analysis, CodePlace, CodeSource, GuardClass, GuardFinding, WayOut};

use super::command_paths::names_of;
use super::covered_files::CoverageError;
use super::implied_files::{has_plain_operands, implied_files};

/// Returns why nobody knows which code a command runs.
pub(super) fn unknown_code(analysis: &Analysis) -> Option<CoverageError> {
    let unknown = |word: &str| Some(CoverageError::Unknown { word: word.to_owned() });
    let mut commands = analysis.commands.iter();
    let of_word = commands.clone().flat_map(|command| &command.code_origins);
    if let Some(origin) = of_word.into_iter().find(|origin| origin.place == CodePlace::Unknown) {
        return unknown(&origin.word);
    }
    let is_piped = |command: &AnalysedCommand| {
        command.effects.iter().any(|effect| effect.code == Some(CodeSource::Pipe))
    };
    // What prints the code may read it from a file whose name is not known.
    if commands.clone().any(is_piped)
        && let Some(word) = commands.clone().flat_map(|command| &command.words).find(|word| !word.is_known)
    {
        return unknown(&word.shown);
    }
    commands.find_map(|command| unknown_option(command).or_else(|| unknown_directory(command)))
}

/// Returns why nobody knows whether a word is an option that starts a program.
fn unknown_option(command: &AnalysedCommand) -> Option<CoverageError> {
    const CLASSES: [GuardClass; 3] =
        [GuardClass::Eval, GuardClass::OptionUnknown, GuardClass::ProgramUnknown];
    // A word that may be an option is shown to whoever approves.
    let may_be_option = |finding: &GuardFinding| {
        finding.class == GuardClass::OptionUnknown && finding.way_out == Some(WayOut::NamePath)
    };
    let is_doubtful =
        command.findings.iter().any(|finding| CLASSES.contains(&finding.class) && !may_be_option(finding));
    // The origins of the code were compared.
    if !is_doubtful || command.is_suspected || !command.code_origins.is_empty() {
        return None;
    }
    let word = command.words.iter().find(|word| !word.is_known)?;
    Some(CoverageError::Unknown { word: word.shown.clone() })
}

/// Returns why nobody knows in which directory a program looks for files that it runs unasked.
fn unknown_directory(command: &AnalysedCommand) -> Option<CoverageError> {
    let names = names_of(command);
    implied_files(&names).next()?;
    if command.is_directory_unknown {
        let program = names.last().cloned().unwrap_or_default();
        return Some(CoverageError::UnknownDirectory { program });
    }
    let unknown = command.words.iter().skip(1).position(|word| !word.is_known)?;
    let is_operand = command.words.iter().skip(1).take(unknown).any(|word| !word.shown.starts_with('-'));
    if is_operand && has_plain_operands(&names) {
        return None;
    }
    let word = command.words.get(unknown + 1)?;
    Some(CoverageError::Unknown { word: word.shown.clone() })
}
