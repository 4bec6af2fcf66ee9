//! From a request to its commands and their effects.

use ccm_shell::{
    ShellBudget, ShellCommand, ShellContext, ShellSpan, ShellWord, UnknownOrigin, UnreadableKind,
    UnreadableText, WordPiece, read,
};

use crate::analysis::{
    AnalysedCommand, AnalysedWord, Analysis, AnalysisLimits, ProgramReference, Unreadable,
};
use crate::effect::{Effect, EffectKind};
use crate::guard_class::GuardClass;
use crate::lookup::Lookup;
use crate::request::{Request, RequestCommand};

/// Analyses a request: reads its text, and judges each simple command by its decoded words.
pub fn analyse(request: &Request, lookup: &dyn Lookup, _limits: &AnalysisLimits) -> Analysis {
    let mut analysis = Analysis::default();
    let commands = match &request.command {
        RequestCommand::Words(words) => {
            let words = words.iter().map(AnalysedWord::known).collect();
            vec![(words, ShellSpan::new(0, request.shown_text().len()))]
        }
        RequestCommand::Text { text, dialect } => {
            let context = ShellContext {
                directory: request.directory.clone(),
                variables: request.environment.iter().chain(&request.added_variables).cloned().collect(),
            };
            match read(text, *dialect, &context, &mut ShellBudget::default()) {
                Ok(reading) => {
                    reading.commands.iter().map(|command| (words(command), command.span)).collect()
                }
                Err(error) => {
                    analysis.unreadable = Some(unreadable(*error));
                    return analysis;
                }
            }
        }
    };
    for (words, span) in commands {
        let name = words.first().and_then(AnalysedWord::text).map(str::to_owned);
        let search_path = request.variable("PATH").unwrap_or_default();
        let location =
            name.as_deref().and_then(|name| lookup.find_program(name, search_path, &request.directory));
        let effects = vec![Effect::new(EffectKind::Run, name.clone())];
        analysis.commands.push(AnalysedCommand {
            operands: words.iter().skip(1).cloned().collect(),
            program: Some(ProgramReference { name, location }),
            words,
            options: Vec::new(),
            variables: Vec::new(),
            effects,
            findings: Vec::new(),
            directory: Some(request.directory.clone()),
            parent: None,
            span,
        });
    }
    analysis
}

fn words(command: &ShellCommand) -> Vec<AnalysedWord> {
    command.words.iter().map(shown_word).collect()
}

fn shown_word(word: &ShellWord) -> AnalysedWord {
    let mut shown = String::new();
    for piece in &word.pieces {
        match piece {
            WordPiece::Text { text, .. } => shown += text,
            WordPiece::Pattern(character) => shown.push(*character),
            WordPiece::Unknown { origin, .. } => match origin {
                UnknownOrigin::Variable(name) => shown += &format!("${name}"),
                UnknownOrigin::Output(_) => shown += "$(…)",
                UnknownOrigin::Process(_) => shown += "<(…)",
                UnknownOrigin::Number => shown += "$((…))",
                UnknownOrigin::Home(user) => shown += &format!("~{user}"),
                UnknownOrigin::Braces => shown += "{…}",
            },
        }
    }
    AnalysedWord { shown, is_known: word.text().is_some() }
}

fn unreadable(error: UnreadableText) -> Unreadable {
    let class = match error.kind {
        UnreadableKind::Hidden => GuardClass::Hidden,
        UnreadableKind::Ambiguous => GuardClass::Ambiguous,
        _ => GuardClass::Unreadable,
    };
    Unreadable { class, message: error.message, hint: error.hint, span: error.span }
}
