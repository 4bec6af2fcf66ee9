//! Entries of a kind to rules.

use ccm_model::{Diagnostic, DiagnosticKind, Node, NodeEntry, Severity};
use ccm_properties::{PropertyValue as _, expected};

use super::settings::{COMMON, Settings, name_errors};
use super::{impossible, subject, unknown_key};
use crate::kinds::{Attribute, AttributeSpec, RuleKind, ValueType};
use crate::matcher::MatcherReader;
use crate::rule::{Assertion, Rule};

/// Older spelling of `resolvable`.
const RESOLVEABLE: &str = "resolveable";
/// Attribute of services that only older init systems have.
const RUNLEVELS: &str = "runlevels";

/// Reads one rule; `None` if it has an error.
pub(super) fn read(kind: RuleKind, entry: &NodeEntry, matchers: &mut MatcherReader) -> Option<Rule> {
    let errors_before = count_errors(&matchers.found);
    let Some(body) = entry.value.as_map() else {
        let noun = format!("a map of the attributes of a `{}` rule", kind.name());
        matchers.found.push(expected(&noun, &entry.value));
        return None;
    };
    let mut settings = Settings::new(entry);
    let mut assertions = Vec::with_capacity(body.entries().len());
    let is_reader = kind == RuleKind::Matching
        && body.get("as-reader").is_some_and(|node| bool::decode(node, &mut Vec::new()) == Some(true));
    for given in body.entries() {
        let name = &*given.key.text;
        let spec = kind.attributes().iter().find(|spec| {
            spec.attribute.name() == name || name == RESOLVEABLE && spec.attribute == Attribute::Resolvable
        });
        if let Some(spec) = spec {
            assertions.extend(assertion(spec, given, is_reader, matchers));
        } else if COMMON.contains(&name) || kind.settings().contains(&name) {
            settings.give(given);
        } else {
            matchers.found.push(unknown(kind, given));
        }
    }
    // A misspelt attribute is no missing one.
    let is_complete = |required: &Attribute| is_given(*required, body);
    if count_errors(&matchers.found) == errors_before
        && let Some(required) = kind.required().filter(|required| !is_complete(required))
    {
        let message = format!("`{}` is missing", required.name());
        let error = Diagnostic::error(DiagnosticKind::Missing, entry.key.span, message);
        let hint = format!("every `{}` rule judges it before its other attributes", kind.name());
        matchers.found.push(error.with_hint(hint));
    }
    impossible::report(kind, body, &mut matchers.found);
    let order = |assertion: &Assertion| {
        kind.attributes().iter().position(|spec| spec.attribute == assertion.attribute)
    };
    assertions.sort_by_key(order);
    let found = &mut matchers.found;
    let rule = Rule {
        id: entry.key.text.to_string(),
        subject: subject::read(kind, &settings, found),
        title: settings.text("title", found),
        meta: settings.json("meta", found),
        skip: settings.boolean("skip", found),
        timeout: settings.timeout(kind.default_timeout(), found),
        retries: settings.retries(found),
        retry_delay: settings.retry_delay(found),
        assertions,
        span: entry.key.span,
    };
    let has_error = count_errors(found) > errors_before;
    if kind == RuleKind::Service
        && !has_error
        && !kind.attributes().iter().any(|spec| is_given(spec.attribute, body))
    {
        Settings::no_effect(entry.key.span, "the rule asserts nothing", "add `running` or `enabled`", found);
    }
    (!has_error).then_some(rule)
}

fn count_errors(found: &[Diagnostic]) -> usize {
    found.iter().filter(|found| found.severity == Severity::Error).count()
}

fn is_given(attribute: Attribute, body: &ccm_model::NodeMap) -> bool {
    let is_given = |name| body.get(name).is_some_and(|node| is_asserted(attribute, node));
    is_given(attribute.name()) || attribute == Attribute::Resolvable && is_given(RESOLVEABLE)
}

/// Returns `true` if a node expects something. Null means not given, but in a rule about a value it is an error.
fn is_asserted(attribute: Attribute, node: &Node) -> bool {
    !node.is_null() || attribute == Attribute::Matches
}

fn assertion(
    spec: &AttributeSpec,
    given: &NodeEntry,
    is_reader: bool,
    matchers: &mut MatcherReader,
) -> Option<Assertion> {
    let (attribute, span) = (spec.attribute, given.key.span);
    if !is_asserted(attribute, &given.value) {
        return None;
    }
    if let Some(replacement) = attribute.replacement() {
        let message = format!("`{}` is the older name of `{}`", attribute.name(), replacement.name());
        let hint = format!("write `{}`", replacement.name());
        matchers.found.push(Diagnostic::warning(DiagnosticKind::Unsupported, span, message).with_hint(hint));
    }
    if &*given.key.text == RESOLVEABLE {
        let warning = Diagnostic::warning(DiagnosticKind::Unsupported, span, "`resolveable` is misspelt");
        matchers.found.push(warning.with_hint("write `resolvable`"));
    }
    let value_type = if is_reader { ValueType::Lines } else { spec.value_type };
    let is_empty = given.value.as_list().is_some_and(<[Node]>::is_empty);
    if is_empty && value_type == ValueType::Lines {
        let message = format!("an empty list of `{}` asserts nothing", attribute.name());
        Settings::no_effect(span, &message, "write `\"\"` for empty text", &mut matchers.found);
        return None;
    }
    let before = matchers.found.len();
    let matcher = matchers.read(&given.value, value_type);
    name_errors(attribute.name(), before, &mut matchers.found);
    Some(Assertion { attribute, matcher: matcher?, span: given.value.span })
}

fn unknown(kind: RuleKind, given: &NodeEntry) -> Diagnostic {
    if kind == RuleKind::Service && &*given.key.text == RUNLEVELS {
        let message = "systemd has no runlevels";
        return Diagnostic::error(DiagnosticKind::Unsupported, given.key.span, message)
            .with_hint("use `enabled`");
    }
    let attributes = kind.attributes().iter().map(|spec| spec.attribute.name());
    let names: Vec<&str> = attributes.chain(kind.settings().iter().copied()).chain(COMMON).collect();
    unknown_key(&format!("attribute of a `{}` rule", kind.name()), given, &names)
}
