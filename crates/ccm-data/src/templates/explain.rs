//! The engine's errors in our words.

use std::fmt;

use ccm_expr::Value;
use ccm_model::closest;
use minijinja::{Error, ErrorKind};

use super::error::{ScopeError, TemplateError, TemplateFault, TemplatePlace};
use super::mentions::path;
use super::render::Running;
use super::scan::words;
use super::{FUNCTIONS, NAMES};

/// An error of ours on its way through the engine.
#[derive(Debug)]
pub(super) struct Raised {
    fault: TemplateFault,
    hints: Vec<String>,
}

impl Raised {
    pub(super) fn new(fault: TemplateFault) -> Self {
        Self { fault, hints: Vec::new() }
    }
}

impl From<ScopeError> for Raised {
    fn from(error: ScopeError) -> Self {
        Self { fault: TemplateFault::Refused(error.message), hints: error.hints }
    }
}

impl fmt::Display for Raised {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fault.fmt(formatter)
    }
}

impl std::error::Error for Raised {}

impl From<Raised> for Error {
    fn from(raised: Raised) -> Self {
        Self::new(ErrorKind::InvalidOperation, "").with_source(raised)
    }
}

/// Says what went wrong in a template, and where.
///
/// The engine's error is a chain: a link for every include, then the mistake. Nothing is taken from it that
/// may hold a value; what names something is looked up in the text of the template.
pub(super) fn explain(error: &Error, running: &Running) -> TemplateError {
    let mut places = Vec::new();
    let mut innermost = error;
    let mut raised = None;
    loop {
        places.extend(place(innermost, running));
        let Some(source) = std::error::Error::source(innermost) else { break };
        raised = source.downcast_ref::<Raised>();
        match source.downcast_ref::<Error>() {
            Some(source) => innermost = source,
            None => break,
        }
    }
    places.reverse();
    let (fault, hints) = match raised {
        Some(raised) => (raised.fault.clone(), raised.hints.clone()),
        None => fault(innermost, places.first(), running),
    };
    if let (TemplateFault::Undefined(Some(expression)), Some(place)) = (&fault, places.first_mut()) {
        widen(place, expression, running);
    }
    TemplateError { fault, places, hints }
}

/// Makes a place within an expression that of the whole expression.
fn widen(place: &mut TemplatePlace, expression: &str, running: &Running) {
    let Some(text) = running.text(&place.template) else { return };
    let Some(start) = text.get(..place.range.end).and_then(|before| before.rfind(expression)) else { return };
    let end = start + expression.len();
    if end > place.range.start {
        *place = TemplatePlace::new(&place.template, &text, start..end);
    }
}

fn place(error: &Error, running: &Running) -> Option<TemplatePlace> {
    let template = error.name()?;
    let text = running.text(template)?;
    let range = error.range().or_else(|| line_range(&text, error.line()?))?;
    Some(TemplatePlace::new(template, &text, range))
}

fn line_range(text: &str, line: usize) -> Option<std::ops::Range<usize>> {
    let found = text.split_inclusive('\n').nth(line.checked_sub(1)?)?;
    let start = found.as_ptr() as usize - text.as_ptr() as usize;
    Some(start..start + found.trim_end().len())
}

fn fault(error: &Error, place: Option<&TemplatePlace>, running: &Running) -> (TemplateFault, Vec<String>) {
    let detail = error.detail().unwrap_or_default();
    let here = || {
        let place = place?;
        running.text(&place.template)?.get(place.range.clone()).map(str::to_owned)
    };
    let fault = match error.kind() {
        ErrorKind::SyntaxError if detail.contains("recursion limit") => TemplateFault::TooDeep,
        ErrorKind::SyntaxError => return syntax(detail),
        ErrorKind::BadEscape => TemplateFault::Syntax("bad escape in a quoted text".to_owned()),
        ErrorKind::UndefinedError => return undefined(detail, running),
        ErrorKind::UnknownFilter => return unknown("filter", detail, &FILTERS),
        ErrorKind::UnknownTest => return unknown("test", detail, &TESTS),
        ErrorKind::UnknownFunction => {
            let (fault, mut hints) =
                unknown("function", detail, &[&FUNCTIONS[..], &ENGINE_FUNCTIONS].concat());
            if let TemplateFault::Unknown { name, .. } = &fault
                && let Some(hint) = is_a_filter(name)
            {
                hints = vec![hint];
            }
            return (fault, hints);
        }
        ErrorKind::UnknownMethod => return unknown_method(here().as_deref()),
        ErrorKind::TemplateNotFound => {
            let name = detail
                .split(['"', '\''])
                .nth(1)
                .filter(|name| here().is_some_and(|text| text.contains(name)));
            TemplateFault::NoTemplate(name.map(str::to_owned))
        }
        ErrorKind::OutOfFuel => TemplateFault::TooManySteps(0),
        ErrorKind::InvalidOperation if detail == "recursion limit exceeded" => TemplateFault::TooDeep,
        ErrorKind::BadSerialization => {
            TemplateFault::Operation("this value can't be written as text".to_owned())
        }
        ErrorKind::MissingArgument => TemplateFault::Operation("an argument is missing".to_owned()),
        ErrorKind::TooManyArguments if detail.is_empty() => {
            TemplateFault::Operation("too many arguments".to_owned())
        }
        // The text behind the colon names arguments, as the template wrote them, and counts.
        ErrorKind::TooManyArguments | ErrorKind::CannotUnpack | ErrorKind::UnknownBlock => {
            TemplateFault::Operation(in_our_voice(detail))
        }
        _ => TemplateFault::Operation(operation(detail)),
    };
    (fault, Vec::new())
}

/// What the engine says of an operation, if it is known to speak of kinds and not of values.
fn operation(detail: &str) -> String {
    const ABOUT_KINDS: [&str; 20] = [
        "tried to use ",
        "cannot ",
        "can only ",
        "value ",
        "range has ",
        "repeated ",
        "strings can ",
        "sequences and ",
        "overflow",
        "method must ",
        "count cannot ",
        "filter name ",
        "zip filter ",
        "number is not ",
        "undefined ",
        "none is ",
        "number is ",
        "string is ",
        "bool is ",
        "loop",
    ];
    if detail.starts_with("cycle in template inheritance") {
        return "the template extends itself".to_owned();
    }
    if detail.starts_with("invalid digit ") || detail.starts_with("invalid float ") {
        return "this text is not a number".to_owned();
    }
    if ABOUT_KINDS.iter().any(|start| detail.starts_with(start)) {
        return in_our_voice(detail);
    }
    "this can't be done with these values".to_owned()
}

fn syntax(detail: &str) -> (TemplateFault, Vec<String>) {
    let mut hints = Vec::new();
    if let Some(name) = detail.strip_prefix("unknown statement ") {
        hints.extend(did_you_mean(closest(name, STATEMENTS)));
        return (TemplateFault::Unknown { kind: "statement", name: name.to_owned() }, hints);
    }
    if detail.starts_with("unexpected end of input") {
        hints.push("is an `{% end… %}` or a closing `}}` or `%}` missing?".to_owned());
    }
    let message = match detail {
        "unexpected end of string" => "a quoted text never ends".to_owned(),
        "unexpected end of comment" => "a comment never ends".to_owned(),
        "unexpected end of raw block" => "a raw block never ends".to_owned(),
        _ => in_our_voice(detail),
    };
    (TemplateFault::Syntax(message), hints)
}

fn in_our_voice(detail: &str) -> String {
    let mut letters = detail.chars();
    let first = letters.next().map(char::to_lowercase).into_iter().flatten();
    first.chain(letters).collect::<String>().trim_end_matches('.').replace(". ", "; ")
}

fn unknown(kind: &'static str, detail: &str, known: &[&str]) -> (TemplateFault, Vec<String>) {
    let name = detail.trim_start_matches(kind).trim_start().trim_end_matches(" is unknown").to_owned();
    let hints = did_you_mean(closest(&name, known.iter().copied())).into_iter().collect();
    (TemplateFault::Unknown { kind, name }, hints)
}

fn unknown_method(here: Option<&str>) -> (TemplateFault, Vec<String>) {
    let called = here.and_then(|text| text.rsplit_once('(')).map_or("", |(before, _)| before);
    let name = called.rsplit('.').next().unwrap_or_default().trim().to_owned();
    let hint = is_a_filter(&name);
    (TemplateFault::Unknown { kind: "method", name }, hint.into_iter().collect())
}

fn is_a_filter(name: &str) -> Option<String> {
    FILTERS.contains(&name).then(|| format!("`{name}` is a filter: write `value | {name}`"))
}

/// Names the expression without a value, and the key or the name that it should most likely have.
fn undefined(detail: &str, running: &Running) -> (TemplateFault, Vec<String>) {
    let expression = detail.split('`').nth(1);
    let hint = expression.and_then(|expression| {
        let path = path(&words(expression)?);
        let (name, members) = path.split_first()?;
        if !NAMES.iter().any(|known| known.eq_ignore_ascii_case(name)) {
            let lower = NAMES.map(str::to_ascii_lowercase);
            let lower = lower.iter().map(|name| &**name).chain(FUNCTIONS).chain(ENGINE_FUNCTIONS);
            let in_lower_case = name.starts_with(char::is_lowercase);
            return did_you_mean(if in_lower_case { closest(name, lower) } else { closest(name, NAMES) });
        }
        let mut value = running.name(name)?;
        for member in members {
            match (value, value.get(member)) {
                (_, Some(found)) => value = found,
                (Value::Map(map), None) => {
                    return did_you_mean(closest(member, map.keys().map(|key| &**key)));
                }
                _ => return None,
            }
        }
        None
    });
    (TemplateFault::Undefined(expression.map(str::to_owned)), hint.into_iter().collect())
}

fn did_you_mean(word: Option<&str>) -> Option<String> {
    word.map(|word| format!("did you mean `{word}`?"))
}

const ENGINE_FUNCTIONS: [&str; 3] = ["range", "dict", "namespace"];

const STATEMENTS: [&str; 22] = [
    "for",
    "endfor",
    "if",
    "elif",
    "else",
    "endif",
    "with",
    "endwith",
    "set",
    "endset",
    "autoescape",
    "filter",
    "endfilter",
    "block",
    "endblock",
    "extends",
    "include",
    "import",
    "from",
    "macro",
    "endmacro",
    "call",
];

const FILTERS: [&str; 48] = [
    "abs",
    "attr",
    "batch",
    "bool",
    "capitalize",
    "chain",
    "count",
    "d",
    "default",
    "dictsort",
    "e",
    "escape",
    "first",
    "float",
    "format",
    "groupby",
    "indent",
    "int",
    "items",
    "join",
    "last",
    "length",
    "lines",
    "list",
    "lower",
    "map",
    "max",
    "min",
    "pprint",
    "reject",
    "rejectattr",
    "replace",
    "reverse",
    "round",
    "safe",
    "select",
    "selectattr",
    "slice",
    "sort",
    "split",
    "string",
    "sum",
    "title",
    "tojson",
    "trim",
    "unique",
    "upper",
    "zip",
];

const TESTS: [&str; 37] = [
    "boolean",
    "defined",
    "divisibleby",
    "endingwith",
    "eq",
    "equalto",
    "escaped",
    "even",
    "false",
    "filter",
    "float",
    "ge",
    "gt",
    "greaterthan",
    "in",
    "int",
    "integer",
    "iterable",
    "le",
    "lessthan",
    "lower",
    "lt",
    "mapping",
    "ne",
    "none",
    "number",
    "odd",
    "safe",
    "sameas",
    "sequence",
    "startingwith",
    "string",
    "test",
    "true",
    "undefined",
    "upper",
    "==",
];

#[cfg(test)]
mod tests {
    use minijinja::Environment;

    use super::*;

    #[test]
    fn every_word_that_a_hint_may_name_is_known_to_the_engine() {
        let environment = Environment::new();
        for (words, test) in [(&FILTERS[..], "filter"), (&TESTS, "test")] {
            for word in words {
                let text = format!("{{{{ '{word}' is {test} }}}}");
                assert_eq!(environment.render_str(&text, ()).expect(word), "True", "{word}");
            }
        }
        for word in ENGINE_FUNCTIONS {
            let text = format!("{{{{ {word} is defined }}}}");
            assert_eq!(environment.render_str(&text, ()).expect(word), "True", "{word}");
        }
        for word in STATEMENTS {
            let error = environment.render_str(&format!("{{% {word} %}}"), ()).expect_err(word);
            let stray = word.starts_with("end") || word.starts_with("el");
            let known = !error.detail().unwrap_or_default().starts_with("unknown statement");
            assert!(known || stray, "{word}: {error}");
        }
    }
}
