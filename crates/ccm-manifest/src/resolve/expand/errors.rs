//! Errors of the expressions in a text, each with what to write.

use std::ops::Range;

use ccm_data::interpolation::{OccurrenceKind, SplitText, lone, split_of_item};
use ccm_expr::Value as Computed;
use ccm_model::{Diagnostic, DiagnosticKind, Span};
use ccm_properties::TextSyntax;

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
    if error.kind != DiagnosticKind::ExpressionSyntax {
        return;
    }
    let expression = &text[inner.clone()];
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
    } else if let Some(advice) = jinja_words::syntax(expression, error.range.start, literals, is_function) {
        error.range = advice.range;
        error.message = advice.message.into();
        error.hints = vec![advice.hint];
    }
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
