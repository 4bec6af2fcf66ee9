//! Secrets in exported states: no property leaves this module with one.

use ccm_engine::{ExportRemark, ExportedState, ExportedValue, NotExported, ResourceType};
use ccm_properties::find_property;
use ccm_redaction::{Secrets, is_probably_secret};
use serde_json::Value;

/// Maximum length of the value of a secret property that is none: `*` and `!` stand for no password.
const MAX_OPEN: usize = 1;

/// Removes every property and every remark that is or may be a secret.
pub(super) fn without_secrets(
    state: ExportedState,
    resource_type: &dyn ResourceType,
    secrets: &Secrets,
) -> ExportedState {
    let table = resource_type.properties();
    let is_secret = |property: &'static str, value: &ExportedValue| {
        let is_always = find_property(table, property).is_some_and(|found| found.secret);
        match value {
            ExportedValue::Json(value) => {
                let is_open = value.as_str().is_some_and(|text| text.len() <= MAX_OPEN);
                is_always && !is_open || holds_secret(None, value, secrets)
            }
            ExportedValue::Content { bytes, .. } => {
                is_always || is_probably_secret(bytes) || secrets.redactor().finds(bytes)
            }
        }
    };
    let ExportedState { ensure, provider, properties, remarks } = state;
    let (hidden, properties): (Vec<_>, Vec<_>) =
        properties.into_iter().partition(|(property, value)| is_secret(property, value));
    let (unreadable, properties): (Vec<_>, Vec<_>) = properties
        .into_iter()
        .partition(|(_, value)| matches!(value, ExportedValue::Json(value) if is_lossy(value)));
    let is_open = |remark: &ExportRemark| match remark {
        ExportRemark::ReadOnly { value, .. } => !is_probably_secret(value.as_bytes()),
        ExportRemark::Secret { .. } | ExportRemark::Unread { .. } => true,
    };
    let mut remarks: Vec<ExportRemark> = remarks.into_iter().filter(is_open).collect();
    let reason = "it is not UTF-8 text";
    remarks.extend(
        unreadable.into_iter().map(|(property, _)| ExportRemark::Unread { property, reason: reason.into() }),
    );
    remarks.extend(hidden.into_iter().map(|(property, _)| ExportRemark::Secret { property }));
    ExportedState { ensure, provider, properties, remarks }
}

/// Returns a reason without what may be a secret in it.
pub(super) fn without_secret(reason: NotExported) -> NotExported {
    let is_open = |text: &str| !is_probably_secret(text.as_bytes());
    let NotExported { kind, reason, hint } = reason;
    let reason =
        if is_open(&reason) { reason } else { "the reason may hold a secret, and is not shown".to_owned() };
    NotExported { kind, reason, hint: hint.filter(|hint| is_open(hint)) }
}

/// Returns `true` if a value, or one in it, is or may be a secret. `key` is the name of an entry of a map.
fn holds_secret(key: Option<&str>, value: &Value, secrets: &Secrets) -> bool {
    match value {
        Value::String(text) => {
            let assignment = key.map(|key| format!("{key}={text}"));
            let is_probable = |text: &str| is_probably_secret(text.as_bytes());
            is_probable(text)
                || assignment.as_deref().is_some_and(is_probable)
                || secrets.redactor().finds(text.as_bytes())
        }
        Value::Array(values) => values.iter().any(|value| holds_secret(None, value, secrets)),
        Value::Object(map) => map.iter().any(|(key, value)| holds_secret(Some(key), value, secrets)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Returns `true` if bytes that are no text were replaced in a value, so that it is not the one of the machine.
fn is_lossy(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains(char::REPLACEMENT_CHARACTER),
        Value::Array(values) => values.iter().any(is_lossy),
        Value::Object(map) => map.values().any(is_lossy),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use ccm_resources::types;
    use serde_json::json;

    use super::*;

    fn guarded(type_name: &str, property: &'static str, value: Value) -> ExportedState {
        let resource_type = types().into_iter().find(|found| found.name() == type_name).expect("a type");
        without_secrets(ExportedState::default().with(property, value), resource_type, &Secrets::new())
    }

    #[test]
    fn secrets_become_remarks() {
        for (type_name, property, value) in [
            ("user", "password_hash", json!("$6$abcdefgh$0123456789")),
            ("user", "password_hash", json!("anything")),
            ("cron", "command", json!("backup --password hunter2")),
            ("cron", "environment", json!({ "API_TOKEN": "hunter2abc" })),
            ("mount", "options", json!("username=ada,password=hunter2")),
            ("package_repository", "uris", json!(["https://ada:hunter2@example.com/"])),
        ] {
            let state = guarded(type_name, property, value.clone());
            assert!(state.properties.is_empty(), "{value}");
            assert_eq!(state.remarks, [ExportRemark::Secret { property }]);
        }
    }

    #[test]
    fn reasons_hold_no_secret() {
        let reason = |text: &str| {
            let reason = NotExported::new(ccm_engine::NotExportedKind::NotReproduced, text).with_hint(text);
            without_secret(reason)
        };
        assert_eq!(reason("it differs in mode").hint.as_deref(), Some("it differs in mode"));
        let hidden = reason("command `backup --password hunter2` differs");
        assert!(!hidden.reason.contains("hunter2") && hidden.hint.is_none());
    }

    #[test]
    fn values_that_lost_bytes_are_left_out() {
        let state = guarded("user", "comment", json!("Caf\u{fffd}"));
        assert!(state.properties.is_empty());
        assert!(matches!(&state.remarks[..], [ExportRemark::Unread { property: "comment", .. }]));
    }

    #[test]
    fn other_values_stay() {
        for (type_name, property, value) in [
            ("user", "password_hash", json!("*")),
            ("cron", "command", json!("backup --all")),
            ("cron", "environment", json!({ "MAILTO": "ada" })),
            ("group", "gid", json!(1000)),
        ] {
            assert_eq!(guarded(type_name, property, value.clone()).properties.len(), 1, "{value}");
        }
    }
}
