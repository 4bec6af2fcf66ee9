//! `ccm facts`: what is true of this machine.

use ccm_expr::Value;
use ccm_expr::path::Path;
use ccm_manifest::Sources as _;
use ccm_model::{Diagnostic, SourceMap};

use crate::arguments::Facts;
use crate::exit::Code;
use crate::sources::MachineSources;
use crate::{diagnostics, messages, printed, show};

/// Prints all facts, or what is at a path.
pub(crate) fn run(arguments: &Facts) -> Code {
    let sources = MachineSources::new(&arguments.given, None);
    let mut texts = SourceMap::default();
    match find(arguments.path.as_deref(), &sources, &mut texts) {
        Ok(value) => show::print(&if arguments.yaml { printed::yaml(&value) } else { printed::json(&value) }),
        Err(mistakes) => {
            diagnostics::print(&mistakes, &texts);
            Code::NothingRun
        }
    }
}

fn find(
    path: Option<&str>,
    sources: &MachineSources,
    texts: &mut SourceMap,
) -> Result<Value, Vec<Diagnostic>> {
    let Some(path) = path else { return sources.facts(&[Vec::new()], texts) };
    let needed = Path::parse(path).map(|path| path.constant_prefix()).unwrap_or_default();
    let facts = sources.facts(&[needed], texts)?;
    let found = at(path, &facts);
    if let Ok(value) = found {
        return Ok(value);
    }
    // What was meant may be anywhere.
    at(path, &sources.facts(&[Vec::new()], texts)?).map_err(|mistake| vec![mistake])
}

/// What is at a path of a value.
pub(crate) fn at(text: &str, whole: &Value) -> Result<Value, Diagnostic> {
    let shown = ccm_model::escape_control(text);
    let path = Path::parse(text).map_err(|error| {
        Diagnostic::without_place(format!("the path `{shown}` can't be read: {}", error.message))
    })?;
    match path.find(whole) {
        Ok(Some(value)) => Ok(value),
        Ok(None) => {
            let mistake = Diagnostic::without_place(format!("there is nothing at `{shown}`"));
            let begins =
                |first: &str| text.starts_with(first) && whole.get(first.trim_end_matches('.')).is_none();
            Err(if begins("facts.") || begins("data.") {
                let (_, rest) = shown.split_once('.').unwrap_or_default();
                mistake.with_hint(format!("the path begins within: write `{rest}`"))
            } else {
                mistake.with_suggestion(path.closest(whole).as_deref())
            })
        }
        Err(limit) => Err(Diagnostic::without_place(format!("nothing was found at `{shown}`: {limit}"))),
    }
}

/// Says what is wrong, with the places in their texts, and how many mistakes there are.
pub(crate) fn refuse(mistakes: &[Diagnostic], texts: &SourceMap, name: &str) -> Code {
    diagnostics::print(mistakes, texts);
    messages::error(&format!("{} in {name}", crate::manifest::mistakes(mistakes)), &[], &[]);
    Code::NothingRun
}
