//! Conversion of minijinja's errors: frequent ones get a hint, and messages that may quote a value are replaced.

use std::fmt;

use ccm_expr::Value;
use ccm_model::{closest, listed};
use minijinja::value::ValueKind;
use minijinja::{Error, ErrorKind};

use super::dependencies::path;
use super::error::{ScopeError, TemplateError, TemplateFault, TemplateLocation};
use super::foreign_names::{
    filter_counterpart, function_counterpart, method_counterpart, test_counterpart, variable_counterpart,
};
use super::kinds::clash;
use super::missing_paths::MissingPath;
use super::render::RenderState;
use super::scan::tokenize;
use super::syntax_hints::syntax_hint;
use super::{FUNCTIONS, NAMES};

/// Error of ccm that passes through minijinja.
#[derive(Debug)]
pub(super) struct RaisedFault {
    fault: TemplateFault,
    hints: Vec<String>,
    /// Location in an include that minijinja has not compiled.
    location: Option<TemplateLocation>,
}

impl RaisedFault {
    pub(super) fn new(fault: TemplateFault) -> Self {
        Self { fault, hints: Vec::new(), location: None }
    }

    pub(super) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }
}

/// Keeps the innermost location alone: minijinja knows the tags that lead there.
impl From<TemplateError> for RaisedFault {
    fn from(error: TemplateError) -> Self {
        Self { fault: error.fault, hints: error.hints, location: error.locations.into_iter().next() }
    }
}

impl From<ScopeError> for RaisedFault {
    fn from(error: ScopeError) -> Self {
        Self { fault: TemplateFault::Refused(error.kind, error.message), hints: error.hints, location: None }
    }
}

impl fmt::Display for RaisedFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fault.fmt(formatter)
    }
}

impl std::error::Error for RaisedFault {}

impl From<RaisedFault> for Error {
    fn from(raised: RaisedFault) -> Self {
        Self::new(ErrorKind::InvalidOperation, "").with_source(raised)
    }
}

/// Converts an error of minijinja: a chain of one link per include, then the error. Text that may hold a value
/// is dropped. `steps` is the limit of the render.
pub(super) fn convert_error(error: &Error, state: &RenderState, steps: u64) -> TemplateError {
    let mut locations = Vec::new();
    let mut innermost = error;
    let mut raised = None;
    loop {
        locations.extend(location(innermost, state));
        let Some(source) = std::error::Error::source(innermost) else { break };
        raised = source.downcast_ref::<RaisedFault>();
        match source.downcast_ref::<Error>() {
            Some(source) => innermost = source,
            None => break,
        }
    }
    locations.extend(raised.and_then(|raised| raised.location.clone()));
    locations.reverse();
    let (fault, hints) = match raised {
        Some(raised) => (raised.fault.clone(), raised.hints.clone()),
        None => fault(innermost, locations.first(), state, steps),
    };
    TemplateError { fault, locations, hints }
}

fn location(error: &Error, state: &RenderState) -> Option<TemplateLocation> {
    let template = error.name()?;
    let source = state.source(template)?;
    let range = error.range().or_else(|| line_range(&source.compiled, error.line()?))?;
    Some(TemplateLocation::new(template, &source.original, source.original_range(range)))
}

fn line_range(text: &str, line: usize) -> Option<std::ops::Range<usize>> {
    let found = text.split_inclusive('\n').nth(line.checked_sub(1)?)?;
    let start = found.as_ptr() as usize - text.as_ptr() as usize;
    Some(start..start + found.trim_end().len())
}

fn fault(
    error: &Error,
    location: Option<&TemplateLocation>,
    state: &RenderState,
    steps: u64,
) -> (TemplateFault, Vec<String>) {
    let detail = error.detail().unwrap_or_default();
    let last_word = detail.trim_end_matches(" is unknown").rsplit(' ').next().unwrap_or_default();
    let fault = match error.kind() {
        ErrorKind::SyntaxError if detail.contains("recursion limit") => TemplateFault::TooDeep,
        ErrorKind::SyntaxError => {
            let place = location.and_then(|location| Some((state.source(&location.template)?, location)));
            let foreign =
                place.and_then(|(source, location)| syntax_hint(&source.original, location.range.start));
            let at_end = match detail {
                _ if detail.starts_with("unexpected end of input") => {
                    Some("add the missing `{% end… %}`, `}}` or `%}`")
                }
                "unexpected end of comment" => Some("close the comment with `#}`"),
                _ => None,
            };
            let hint = foreign.or_else(|| at_end.map(str::to_owned));
            return (TemplateFault::Syntax(detail.to_owned()), hint.into_iter().collect());
        }
        ErrorKind::UndefinedError => return undefined(detail, location, state),
        ErrorKind::UnknownMethod if detail.contains('`') => return undefined(detail, location, state),
        ErrorKind::UnknownFilter => {
            let near = || did_you_mean(closest(last_word, FILTERS.split_whitespace()));
            let hint = filter_counterpart(last_word).map(str::to_owned).or_else(near);
            return unknown("filter", last_word, hint);
        }
        ErrorKind::UnknownTest => {
            return unknown("test", last_word, test_counterpart(last_word).map(str::to_owned));
        }
        ErrorKind::UnknownFunction => {
            let known: Vec<&str> = FUNCTIONS.into_iter().chain(BUILTIN_FUNCTIONS).collect();
            let near = closest(last_word, known.iter().copied());
            let foreign = function_counterpart(last_word).map(str::to_owned);
            let hint = foreign.or_else(|| filter_hint(last_word)).or_else(|| did_you_mean(near));
            let hint = hint.unwrap_or_else(|| format!("use {}", listed(&known, "or")));
            return unknown("function", last_word, Some(hint));
        }
        ErrorKind::UnknownMethod => {
            let hint = method_counterpart(last_word).map(str::to_owned);
            return unknown("method", last_word, hint.or_else(|| filter_hint(last_word)));
        }
        ErrorKind::TemplateNotFound => {
            // A name that is not in the template's text is a value.
            let here =
                || Some(state.source(&location?.template)?.original.get(location?.range.clone())?.to_owned());
            let name = detail.split(['"', '\'']).nth(1);
            let name = name.filter(|name| here().is_some_and(|text| text.contains(name)));
            let hint = "check the path, which starts from the directory of the manifest".to_owned();
            return (TemplateFault::NoTemplate(name.map(str::to_owned)), vec![hint]);
        }
        ErrorKind::BadEscape => TemplateFault::Syntax(error.kind().to_string()),
        ErrorKind::OutOfFuel => TemplateFault::TooManySteps(steps),
        ErrorKind::InvalidOperation if detail == "recursion limit exceeded" => TemplateFault::TooDeep,
        ErrorKind::InvalidOperation if detail.starts_with("cycle in template inheritance") => {
            TemplateFault::Operation("the template extends itself".to_owned())
        }
        _ if detail.starts_with("tried to use ") => match arithmetic(detail) {
            Some(raised) => return (raised.fault, raised.hints),
            None => TemplateFault::Operation("the operation does not support these values".to_owned()),
        },
        // Some messages of minijinja show values.
        _ if !detail.is_empty()
            && !detail.contains(['"', '\'', '`'])
            && !detail.starts_with("unable to ") =>
        {
            TemplateFault::Operation(detail.to_owned())
        }
        ErrorKind::InvalidOperation => {
            TemplateFault::Operation("the operation does not support these values".to_owned())
        }
        other => TemplateFault::Operation(other.to_string()),
    };
    (fault, Vec::new())
}

/// Reads minijinja's error of an arithmetic operator: "tried to use + operator on unsupported types string and none".
fn arithmetic(detail: &str) -> Option<RaisedFault> {
    const KINDS: [ValueKind; 9] = [
        ValueKind::Undefined,
        ValueKind::None,
        ValueKind::Bool,
        ValueKind::Number,
        ValueKind::String,
        ValueKind::Seq,
        ValueKind::Iterable,
        ValueKind::Map,
        ValueKind::Plain,
    ];
    let operator = detail.split(' ').nth(3)?;
    let (left, right) = detail.split(" types ").nth(1)?.split_once(" and ")?;
    let kind = |name: &str| KINDS.into_iter().find(|kind| kind.to_string() == name);
    Some(clash(operator, kind(left)?, kind(right)?))
}

fn unknown(kind: &'static str, name: &str, hint: Option<String>) -> (TemplateFault, Vec<String>) {
    (TemplateFault::Unknown { kind, name: name.to_owned() }, hint.into_iter().collect())
}

fn filter_hint(name: &str) -> Option<String> {
    let mut filters = FILTERS.split_whitespace();
    filters.any(|filter| filter == name).then(|| format!("`{name}` is a filter: write `value | {name}`"))
}

/// Names the expression without a value, and suggests the key or name that was probably meant.
fn undefined(
    detail: &str,
    location: Option<&TemplateLocation>,
    state: &RenderState,
) -> (TemplateFault, Vec<String>) {
    let source = location.and_then(|location| state.source(&location.template));
    let expression = detail.split('`').nth(1);
    let expression = expression.map(|expression| match &source {
        Some(source) => source.original_expression(expression),
        None => expression,
    });
    let path = expression.and_then(tokenize).map(|words| path(&words)).unwrap_or_default();
    let written = location.zip(source.as_ref()).and_then(|(location, source)| {
        MissingPath::at(&source.original, location.range.start).filter(|written| written.has_start(&path))
    });
    let near = || {
        let of_other_program = written.as_ref().and_then(MissingPath::fact_of_other_program);
        let (name, members) = path.split_first()?;
        let is_name = NAMES.iter().any(|known| known.eq_ignore_ascii_case(name));
        // `Index` exists in a `foreach` alone.
        if let ("loop", [member, ..]) = (&**name, members) {
            return did_you_mean(closest(member, LOOP_MEMBERS))
                .or_else(|| Some(format!("use {}", listed(&LOOP_MEMBERS, "or"))));
        }
        if !is_name || name == "index" && state.name(name).is_none() {
            if let Some(hint) = of_other_program {
                return Some(hint);
            }
            if let Some(hint) = variable_counterpart(name) {
                return Some(hint.to_owned());
            }
            // Variables of Ansible have no `Data.` before them.
            if let Some(Value::Map(data)) = state.name("Data")
                && data.contains_key(&**name)
            {
                return did_you_mean(Some(&format!("Data.{name}")));
            }
            // Only the templates of a `foreach` have an item.
            let names = NAMES.iter().copied().filter(|name| !is_item(name) || state.name(name).is_some());
            let lower: Vec<String> = names.clone().map(str::to_ascii_lowercase).collect();
            let lower = lower.iter().map(|name| &**name).chain(FUNCTIONS).chain(BUILTIN_FUNCTIONS);
            let in_lower_case = name.starts_with(char::is_lowercase);
            return did_you_mean(if in_lower_case { closest(name, lower) } else { closest(name, names) });
        }
        let mut value = state.name(name)?;
        for member in members {
            match (value, value.get(member)) {
                (_, Some(found)) => value = found,
                (Value::Map(_), None) if is_method_of_map(member) => return Some(call_hint(member)),
                (Value::Text(_), None) if is_method_of_text(member) => return Some(call_hint(member)),
                (_, None) if member == "length" => return Some("write `value | length`".to_owned()),
                (Value::Map(_), None) if of_other_program.is_some() => return of_other_program,
                (Value::Map(map), None) => {
                    return did_you_mean(closest(member, map.keys().map(|key| &**key)));
                }
                _ => return None,
            }
        }
        None
    };
    let hint = near().or_else(|| written.as_ref()?.with_default(&path));
    (TemplateFault::Undefined { expression: expression.map(str::to_owned), path }, hint.into_iter().collect())
}

fn call_hint(method: &str) -> String {
    format!("write `.{method}()`, with brackets")
}

fn is_method_of_map(name: &str) -> bool {
    matches!(name, "items" | "keys" | "values")
}

fn is_method_of_text(name: &str) -> bool {
    matches!(name, "upper" | "lower" | "strip" | "title" | "capitalize" | "split" | "splitlines")
}

fn is_item(name: &str) -> bool {
    matches!(name, "Item" | "Index")
}

fn did_you_mean(word: Option<&str>) -> Option<String> {
    word.map(|word| format!("did you mean `{word}`?"))
}

/// Members of `loop`.
const LOOP_MEMBERS: [&str; 9] =
    ["index", "index0", "revindex", "first", "last", "length", "depth", "previtem", "nextitem"];

const BUILTIN_FUNCTIONS: [&str; 3] = ["range", "dict", "namespace"];

const FILTERS: &str = "\
    abs attr b64decode b64encode basename batch bool capitalize center chain combine comment count d default \
    dict2items dictsort difference dirname e escape filesizeformat first flatten float format from_json groupby \
    hash indent int intersect items items2dict join last length lines list lower mandatory map max min pprint \
    product quote regex_findall regex_replace regex_search reject rejectattr replace reverse round safe select \
    selectattr slice sort split string sum symmetric_difference ternary title tojson trim truncate union unique \
    upper urlencode wordcount zip";

#[cfg(test)]
mod tests {
    use super::super::render::filled_environment;
    use super::super::settings::BlankSettings;
    use super::*;

    #[test]
    fn every_suggestion_exists() {
        let environment = filled_environment(BlankSettings::default());
        for word in FILTERS.split_whitespace() {
            let text = format!("{{{{ '{word}' is filter }}}}");
            assert_eq!(environment.render_str(&text, ()).expect(word), "true", "{word}");
        }
        for word in FILTERS.split_whitespace() {
            assert_eq!(filter_counterpart(word), None, "{word}");
        }
        for word in BUILTIN_FUNCTIONS {
            let text = format!("{{{{ {word} is defined }}}}");
            assert_eq!(environment.render_str(&text, ()).expect(word), "true", "{word}");
        }
    }
}
