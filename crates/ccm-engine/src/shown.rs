//! Parts of events as they are shown.

use ccm_model::{
    Action, Event, GuardResult, HealthCheckResult, Node, NodeEntry, NodeValue, Outcome, Presentation,
    Properties, Scalar, ScalarStyle, Verb,
};
use ccm_properties::{CommonProperty, PropertySpec, is_sensitive};
use ccm_redaction::REDACTED;

/// Returns the properties without those that are secret, or that a `sensitive` resource hides.
pub(crate) fn properties(table: &[PropertySpec], properties: &Properties) -> Properties {
    let mut shown = properties.clone();
    let is_sensitive = is_sensitive(properties);
    let is_hidden = |property: &&PropertySpec| property.secret || (is_sensitive && property.sensitive);
    let of_health = CommonProperty::HealthChecks.spec();
    for property in table.iter().chain([of_health]).filter(is_hidden) {
        if let Some(NodeEntry { key, value }) = properties.entry(property.name).cloned() {
            let hidden = Scalar { text: REDACTED.into(), style: ScalarStyle::Redacted };
            shown.replace(NodeEntry {
                key,
                value: Node { value: NodeValue::Scalar(hidden), span: value.span },
            });
        }
    }
    shown
}

/// Returns the outcome without the missing prerequisite of a `sensitive` resource, which may be its program.
pub(crate) fn outcome(mut outcome: Outcome, properties: &Properties) -> Outcome {
    if let Outcome::Failed(failure) = &mut outcome
        && failure.missing.is_some()
        && is_sensitive(properties)
    {
        failure.missing = None;
    }
    outcome
}

/// Returns a redacted event with its action and its guards on bounded lines, and with the message of noop for the action.
pub(crate) fn event(mut event: Event) -> Event {
    if let Event::ResourceFinished(transaction) = &mut event {
        transaction.action = transaction.action.take().map(Action::into_shown);
        let is_triggered = matches!(transaction.outcome, Outcome::WouldRefresh { .. });
        if let Outcome::WouldChange { message } | Outcome::WouldRefresh { message } = &mut transaction.outcome
            && let Some(action) = &transaction.action
            // That an exec would run is known before its command is.
            && (message.is_empty() || *action != Action::new(Verb::Run))
        {
            *message = action.noop_message(is_triggered);
        }
        let guards = std::mem::take(&mut transaction.guards);
        transaction.guards = guards.into_iter().map(GuardResult::into_shown).collect();
        let checks = std::mem::take(&mut transaction.health_checks);
        transaction.health_checks = checks.into_iter().map(HealthCheckResult::into_shown).collect();
    }
    event
}

/// Returns the given properties that are not shown as written.
pub(crate) fn presentation(
    table: &[PropertySpec],
    properties: &Properties,
) -> Vec<(&'static str, Presentation)> {
    let is_special = |property: &&PropertySpec| property.presentation != Presentation::AsWritten;
    let special = table.iter().filter(is_special).map(|property| (property.name, property.presentation));
    special.filter(|(name, _)| properties.get(name).is_some()).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ccm_model::{Failure, FailureKind, MissingPrerequisite, NodeKey, NodeMap, Span};
    use ccm_properties::{PropertySet as _, Text, properties};

    use super::*;

    properties! {
        #[derive(Default)]
        struct SecretProperties {
            token: Text { sensitive: true },
            body: Text { sensitive: true, presentation: Presentation::Digest },
            place: Text,
            variables: Text { presentation: Presentation::Variables },
        }
    }

    fn plain(text: &str) -> Node {
        let scalar = Scalar { text: text.into(), style: ScalarStyle::Plain };
        Node { value: NodeValue::Scalar(scalar), span: Span::default() }
    }

    fn entry(key: &str, text: &str) -> NodeEntry {
        NodeEntry { key: NodeKey { text: key.into(), span: Span::default() }, value: plain(text) }
    }

    #[test]
    fn a_sensitive_resource_hides_what_its_table_says() {
        for (sensitive, hides) in [("true", true), ("{{ Data.x }}", true), ("false", false), ("null", false)]
        {
            let defaults = NodeMap::new(vec![entry("token", "abc")]);
            let own = vec![entry("body", "abc"), entry("place", "abc"), entry("sensitive", sensitive)];
            let given = Properties::new(NodeMap::new(own), Some(Arc::new(defaults)));
            let shown = properties(SecretProperties::PROPERTIES, &given);
            let text = |name: &str| shown.get(name).and_then(Node::as_text).unwrap_or_default().to_owned();
            let hidden = if hides { REDACTED } else { "abc" };
            assert_eq!(["token", "body", "place", "variables"].map(text), [hidden, hidden, "abc", ""]);
        }
    }

    #[test]
    fn a_sensitive_resource_does_not_tell_what_it_lacks() {
        for (sensitive, tells) in [("true", false), ("false", true)] {
            let failure = Failure::new(FailureKind::Start, "no such program")
                .with_missing(MissingPrerequisite::Program("fetch-token".to_owned()));
            let given = Properties::new(NodeMap::new(vec![entry("sensitive", sensitive)]), None);
            let Outcome::Failed(failure) = outcome(Outcome::Failed(Box::new(failure)), &given) else {
                panic!("another outcome");
            };
            assert_eq!(failure.missing.is_some(), tells);
        }
    }

    #[test]
    fn only_what_is_given_is_presented_in_a_form_of_its_own() {
        let presented = |entries: Vec<NodeEntry>| {
            presentation(SecretProperties::PROPERTIES, &Properties::new(NodeMap::new(entries), None))
        };
        assert_eq!(presented(vec![entry("token", "a"), entry("body", "null")]), []);
        assert_eq!(
            presented(vec![entry("variables", "a"), entry("body", "b")]),
            [("body", Presentation::Digest), ("variables", Presentation::Variables)]
        );
    }
}
