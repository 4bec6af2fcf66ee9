//! Errors of the expressions in a text, each with what to write.

use std::ops::Range;

use ccm_data::interpolation::{OccurrenceKind, SplitText, lone, split_of_item};
use ccm_expr::Value as Computed;
use ccm_model::{Diagnostic, DiagnosticKind, Span};
use ccm_properties::TextSyntax;

use crate::read::foreach::ItemScope;
use crate::resolve::hint_literals::HintLiterals;
use crate::resolve::jinja_words;
use crate::resolve::messages::shown;
use crate::resolve::scope::{InvalidExpression, ManifestScope};
use crate::resolve::text_language::TextLanguage;

/// Hint for an expression whose text has a line end from YAML.
pub(super) const YAML_LINE_END: &str =
    "YAML has turned `\\n` between double quotes into a line end: use single quotes around the text, or `|`";

/// Replaces the hints of a syntax error that has a known cause outside of the expression. `written` is the text as the
/// manifest writes it.
pub(super) fn explain_syntax(
    error: &mut InvalidExpression,
    text: &str,
    inner: &Range<usize>,
    written: &str,
    literals: HintLiterals,
) {
    let expression = &text[inner.clone()];
    let is_braced = text[..inner.start].ends_with("{{");
    let is_line = !expression.contains('\n');
    if is_braced && is_line && is_go_template(expression.trim()) && is_of_syntax_or_name(error.kind) {
        let expression = shown(expression);
        let braces = literals.text("{{");
        error.message =
            format!("`{{{{{expression}}}}}` is of a Go template, and no expression of ccm").into();
        error.hints = vec![format!("write `{{{{ {braces} }}}}{expression}}}}}` for this text itself")];
        error.range = 0..inner.len();
    }
    if error.kind != DiagnosticKind::ExpressionSyntax {
        return;
    }
    let is_dollar = text[..inner.start].ends_with("${");
    if let Some(inside) = expression.trim().strip_prefix('{').filter(|_| is_dollar) {
        let inside = shown(inside.trim_end_matches('}').trim());
        error.range = 0..expression.len();
        error.message = "`${{` does not begin an expression".into();
        error.hints = vec![
            format!("write `{{{{ {inside} }}}}` for the value"),
            format!("write `{{{{ \"$\" }}}}{{{{ {inside} }}}}` for a dollar before it"),
        ];
    } else if expression.contains('\n') && has_yaml_line_end(written) {
        error.hints = vec![YAML_LINE_END.to_owned()];
    } else if let Some(hint) = key_with_blanks(expression, error.range.start, literals) {
        error.hints = vec![hint];
    } else if let Some(advice) = jinja_words::syntax(expression, error.range.start, literals, is_function) {
        error.range = advice.range;
        error.message = advice.message.into();
        error.hints = vec![advice.hint];
    }
}

/// Returns the bytes of a name of expressions behind a lone `$`: `$Item` in a `foreach`, and `$Data.KEY` of a known key.
pub(super) fn dollar_name(text: &str, manifest: &ManifestScope) -> Option<Range<usize>> {
    let is_word = |part: char| part.is_alphanumeric() || part == '_';
    let end_of_word = |text: &str| text.find(|part| !is_word(part)).unwrap_or(text.len());
    let named = |at: usize| {
        let rest = &text[at + 1..];
        let word = &rest[..end_of_word(rest)];
        let behind = &rest[word.len()..];
        let key = behind.strip_prefix('.').map(|key| &key[..end_of_word(key)]).filter(|key| !key.is_empty());
        let is_in_list = !matches!(manifest.item, ItemScope::None);
        let is_known = match (word, key) {
            ("Item" | "Index", _) => is_in_list,
            ("Data", Some(key)) => manifest.data.get(key).is_some(),
            _ => false,
        };
        let length = word.len() + key.map_or(0, |key| 1 + key.len());
        is_known.then_some(at..at + 1 + length)
    };
    memchr::memchr_iter(b'$', text.as_bytes()).find_map(named)
}

fn is_of_syntax_or_name(kind: DiagnosticKind) -> bool {
    matches!(kind, DiagnosticKind::ExpressionSyntax | DiagnosticKind::UnknownName)
}

/// Returns `true` for an expression of a Go template, as `docker ps --format` takes it: `.Names`, `range .Mounts`, `end`.
fn is_go_template(expression: &str) -> bool {
    const ACTIONS: [&str; 9] =
        ["range", "with", "if", "json", "index", "println", "printf", "join", "else if"];
    let begins_with_field = |text: &str| {
        let text = text.trim_start();
        text.starts_with("$.") || text.strip_prefix('.').is_some_and(|rest| !rest.starts_with('.'))
    };
    let is_action = |word: &str| {
        let rest = expression.strip_prefix(word);
        rest.is_some_and(|rest| rest.starts_with(' ') && begins_with_field(rest))
    };
    begins_with_field(expression)
        || matches!(expression, "end" | "else")
        || ACTIONS.into_iter().any(is_action)
}

/// Returns advice on a name of an exec with blanks, such as `Captures.my exec.count`.
fn key_with_blanks(expression: &str, at: usize, literals: HintLiterals) -> Option<String> {
    let is_word = |part: char| part.is_alphanumeric() || matches!(part, '_' | '-');
    let (start, _) = expression.get(..at)?.rmatch_indices("Captures.").next()?;
    let before = expression[start..at].strip_prefix("Captures.")?;
    let rest = &expression[at..];
    let end = rest.find(|part| !is_word(part) && part != ' ').unwrap_or(rest.len());
    let name = format!("{before}{}", rest[..end].trim_end());
    let value = rest[end..].strip_prefix('.')?;
    let value = &value[..value.find(|part| !is_word(part)).unwrap_or(value.len())];
    let is_name =
        name.contains(' ') && name.split(' ').all(|word| !word.is_empty() && word.chars().all(is_word));
    (is_name && !value.is_empty()).then(|| format!("write `Captures[{}].{value}`", literals.text(&name)))
}

/// Returns `true` if YAML turned `\n` in this text into a line end.
pub(super) fn has_yaml_line_end(written: &str) -> bool {
    written.starts_with('"') && written.contains("\\n")
}

/// Builds the diagnostic for an invalid expression. `at` returns the span of a part of the expression.
pub(crate) fn diagnostic(error: InvalidExpression, at: impl Fn(Range<usize>) -> Span) -> Diagnostic {
    let mut diagnostic = Diagnostic::error(error.kind, at(error.range), error.message);
    diagnostic.missing = error.missing;
    if let Some(earlier) = error.earlier {
        diagnostic = diagnostic.with_label(at(*earlier), "first given here");
    }
    for (span, text) in error.locations {
        diagnostic = diagnostic.with_label(span, text);
    }
    error.hints.into_iter().fold(diagnostic, Diagnostic::with_hint)
}

/// Returns advice on an item of a `foreach` that is a list or a map where text is meant.
pub(super) fn part_of_item(item: &Computed) -> [&'static str; 2] {
    match item {
        Computed::List(_) => [
            "write `Item[0]` for the first element of the item",
            "write `flatten(LIST)` as the list of the `foreach` for a resource for each element",
        ],
        _ => ["write `Item.KEY` for a value of the item", "write `keys(Item)` for its keys"],
    }
}

/// Returns the expression of a text that holds nothing else.
pub(super) fn lone_expression(text: &str) -> Option<&str> {
    let SplitText::Parts(parts) = split_of_item(text, false) else { return None };
    lone(&parts).map(|inner| text[inner].trim())
}

/// Returns the text of a manifest from a span on.
pub(super) fn written_at(manifest: &ManifestScope, span: Span) -> &str {
    manifest.text.get(span.range().start..).unwrap_or_default()
}

pub(super) fn syntax_error(
    span: Span,
    what: OccurrenceKind,
    written: &str,
    language: TextLanguage<'_>,
) -> Diagnostic {
    const LITERAL: &str = "write `\\${` for a literal `${`";
    let is_shell = language.syntax == TextSyntax::Shell;
    let unknown;
    let name: String =
        written.chars().skip(2).take_while(|part| part.is_alphanumeric() || *part == '_').collect();
    let message = match what {
        OccurrenceKind::OpenBraces => "`{{` is not closed",
        OccurrenceKind::OpenDollar => "`${` is not closed",
        OccurrenceKind::OpenQuote => "a quote or a bracket in this expression is not closed",
        OccurrenceKind::ShellParameter if name.is_empty() => {
            "this is a shell expansion, but no shell reads this text"
        }
        OccurrenceKind::ShellParameter => {
            unknown = format!("unknown name `{name}`");
            &unknown
        }
        OccurrenceKind::NotPosix => "this is neither an expression nor a POSIX parameter expansion",
        OccurrenceKind::Expression => "this expression is invalid",
    };
    let is_name = what == OccurrenceKind::ShellParameter && !name.is_empty();
    let kind = if is_name { DiagnosticKind::UnknownName } else { DiagnosticKind::ExpressionSyntax };
    let mut error = Diagnostic::error(kind, span, message);
    if is_name {
        error = error.with_hint(format!("write `${{ Environ.{name} }}` for the environment variable"));
    }
    match (what, language.shell_provider) {
        (OccurrenceKind::OpenBraces, _) => error
            .with_hint("close the expression with `}}`")
            .with_hint("write `{{ \"{{\" }}` for a literal `{{`"),
        (OccurrenceKind::OpenDollar, _) if is_shell => error.with_hint("close the expression with `}`"),
        (OccurrenceKind::ShellParameter, Some(provider)) if !is_shell => error
            .with_hint(LITERAL)
            .with_hint(format!("set `provider: {provider}` if a shell should read this text")),
        (OccurrenceKind::OpenDollar | OccurrenceKind::ShellParameter, _) => error.with_hint(LITERAL),
        (OccurrenceKind::NotPosix, _) => {
            error.with_hint("use a POSIX parameter expansion, such as `${NAME:-default}`")
        }
        (OccurrenceKind::Expression | OccurrenceKind::OpenQuote, _) => error,
    }
}

/// Returns `true` for the name of a function of expressions.
fn is_function(name: &str) -> bool {
    ccm_expr::reference().iter().any(|function| function.name == name)
}
