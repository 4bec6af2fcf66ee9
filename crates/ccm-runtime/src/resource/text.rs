//! The present state as text.

use std::fmt::Write as _;

use ccm_engine::{ExportRemark, ExportedState, ExportedValue};
use ccm_model::escape_control;
use serde_json::Value;

use super::{PresentResource, PresentState, ResourcePresence};

/// Maximum number of characters of a value in a table.
const MAX_VALUE: usize = 60;

impl PresentState {
    /// Returns the state as text: a line for each resource of a list, or a block for each resource that somebody named.
    pub fn text(&self, is_list: bool) -> String {
        if !is_list {
            return self.resources.iter().map(block).collect::<Vec<_>>().join("\n");
        }
        let width = self.resources.iter().map(|resource| resource.id.to_string().chars().count()).max();
        let width = width.unwrap_or_default().min(MAX_VALUE);
        let line = |resource: &PresentResource| {
            let id = resource.id.to_string();
            let text = format!("{:width$}  {}", escape_control(&id), summary(resource));
            text.trim_end().to_owned() + "\n"
        };
        self.resources.iter().map(line).collect()
    }
}

/// Returns the state of a resource with a line for each property.
fn block(resource: &PresentResource) -> String {
    let mut text = format!("{}: {}\n", escape_control(&resource.id.to_string()), presence(resource));
    if let ResourcePresence::Present(state) = &resource.state {
        for (name, value) in &state.properties {
            let _ = writeln!(text, "  {name}: {}", shown(value));
        }
        for remark in &state.remarks {
            let _ = writeln!(text, "  {}", escape_control(&remark_words(remark)));
        }
    }
    for (name, ids) in [("require", &resource.require), ("subscribe", &resource.subscribe)] {
        for id in ids {
            let _ = writeln!(text, "  {name}: {}", escape_control(&id.to_string()));
        }
    }
    text
}

fn presence(resource: &PresentResource) -> String {
    match &resource.state {
        ResourcePresence::Present(state) => state.ensure.clone().unwrap_or_else(|| "present".to_owned()),
        ResourcePresence::Absent => "absent".to_owned(),
        ResourcePresence::NotExported(reason) => {
            let hint = reason.hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default();
            escape_control(&format!("not exported: {}{hint}", reason.reason)).into_owned()
        }
    }
}

/// Returns the state of a resource on one line.
fn summary(resource: &PresentResource) -> String {
    let ResourcePresence::Present(state) = &resource.state else { return presence(resource) };
    let ExportedState { properties, remarks, .. } = state;
    let ensure = state.ensure.iter().map(|ensure| format!("ensure={}", escape_control(ensure)));
    let given = properties.iter().map(|(name, value)| format!("{name}={}", shown(value)));
    let read_only = remarks.iter().filter_map(|remark| match remark {
        ExportRemark::ReadOnly { name, value } => Some(format!("({name} {})", escape_control(value))),
        ExportRemark::Secret { .. } | ExportRemark::Unread { .. } => None,
    });
    ensure.chain(given).chain(read_only).collect::<Vec<_>>().join(" ")
}

fn remark_words(remark: &ExportRemark) -> String {
    match remark {
        ExportRemark::ReadOnly { name, value } => format!("({name}: {value})"),
        ExportRemark::Secret { property } => format!("({property} is not shown: it may be a secret)"),
        ExportRemark::Unread { property, reason } => format!("({property} could not be read: {reason})"),
    }
}

/// Returns a value on one line.
fn shown(value: &ExportedValue) -> String {
    let text = match value {
        ExportedValue::Json(Value::String(text)) => text.clone(),
        ExportedValue::Json(Value::Array(values)) if values.iter().all(Value::is_string) => {
            values.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
        }
        ExportedValue::Json(value) => value.to_string(),
        ExportedValue::Content { bytes, .. } => return format!("{} bytes", bytes.len()),
    };
    let text = escape_control(&text).into_owned();
    match text.char_indices().nth(MAX_VALUE) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
