//! Redaction of events.

use std::borrow::Cow;

use serde_json::Value as Json;

use super::Redactor;
use ccm_model::{
    Action, Change, Event, Failure, Fields, MissingPrerequisite, Node, NodeEntry, NodeKey, NodeMap,
    NodeValue, Outcome, PendingCause, Properties, Reason, ResourceId, RunSummary, Scalar, ScalarStyle,
    SkipCause, StopCause, Transaction,
};

impl Redactor {
    /// Returns the event with redacted text. Equal names stay equal.
    pub fn redact_event(&self, mut event: Event) -> Event {
        if self.is_empty() {
            return event;
        }
        match &mut event {
            Event::SessionStarted(session) => {
                self.text(&mut session.host);
                self.text(&mut session.manifest);
                self.texts(&mut session.message);
            }
            Event::ResourceStarted(started) => self.id(&mut started.id),
            Event::OutputReceived(output) => {
                self.id(&mut output.id);
                self.line(&mut output.line);
            }
            Event::ArtifactsLeft(artifacts) => {
                self.id(&mut artifacts.id);
                artifacts.files.iter_mut().for_each(|file| self.bytes(&mut file.content));
            }
            Event::ResourceFinished(transaction) => self.transaction(transaction),
            Event::SessionFinished(summary) => self.summary(summary),
        }
        event
    }

    /// Returns the properties with redacted text.
    pub fn redact_properties(&self, properties: Properties) -> Properties {
        if self.is_empty() {
            return properties;
        }
        self.properties(&properties).unwrap_or(properties)
    }

    /// Returns the summary with redacted text.
    pub fn redact_summary(&self, mut summary: RunSummary) -> RunSummary {
        self.summary(&mut summary);
        summary
    }

    fn transaction(&self, transaction: &mut Transaction) {
        self.id(&mut transaction.id);
        self.texts(&mut transaction.alias);
        self.text(&mut transaction.requested_ensure);
        self.texts(&mut transaction.final_ensure);
        self.outcome(&mut transaction.outcome);
        transaction.action.iter_mut().for_each(|action| self.action(action));
        if let Some(properties) = self.properties(&transaction.properties) {
            transaction.properties = properties;
        }
        if let Some(Reason { text, .. }) = &mut transaction.reason
            && let Cow::Owned(redacted) = self.redact(text)
        {
            *text = redacted.into();
        }
        for guard in &mut transaction.guards {
            self.text(&mut guard.command);
            guard.stderr.iter_mut().for_each(|line| self.line(line));
        }
        for check in &mut transaction.health_checks {
            self.text(&mut check.name);
            self.text(&mut check.output);
            for value in &mut check.values {
                self.texts([&mut value.label, &mut value.unit]);
                self.texts(value.warning.iter_mut().chain(&mut value.critical));
            }
        }
        transaction.triggered_by.iter_mut().for_each(|id| self.id(id));
        transaction.pending_refreshes.iter_mut().for_each(|pending| self.id(&mut pending.source));
        self.texts(&mut transaction.warnings);
        self.texts(&mut transaction.notes);
        transaction.state.iter_mut().flat_map(Fields::values_mut).for_each(|value| self.json(value));
        if let Some(diff) = &mut transaction.diff {
            *diff = self.redact_lines(diff).into_owned();
        }
    }

    fn action(&self, action: &mut Action) {
        self.texts(&mut action.detail);
        self.changes(&mut action.changes);
        for entry in &mut action.entries {
            self.text(&mut entry.path);
            self.texts(&mut entry.detail);
            self.changes(&mut entry.changes);
        }
    }

    fn changes(&self, changes: &mut [Change]) {
        for change in changes {
            self.texts(change.from.iter_mut().chain(&mut change.to));
            if let Cow::Owned(redacted) = self.redact(&change.aspect) {
                change.aspect = redacted.into();
            }
        }
    }

    fn summary(&self, summary: &mut RunSummary) {
        summary.stopped.iter_mut().for_each(|cause| self.stop_cause(cause));
        self.texts(&mut summary.message);
        let refreshes = &mut summary.refreshes;
        for unfinished in &mut refreshes.pending {
            self.id(&mut unfinished.subscriber);
            self.id(&mut unfinished.refresh.source);
            match &mut unfinished.cause {
                PendingCause::Skipped { skip, .. } => self.skip_cause(skip),
                PendingCause::OtherManifest { manifest } => self.text(manifest),
                PendingCause::Failed | PendingCause::Noop { .. } | PendingCause::NoValue => {}
            }
        }
        for cancelled in &mut refreshes.cancelled {
            self.id(&mut cancelled.subscriber);
            self.id(&mut cancelled.refresh.source);
        }
        self.texts(&mut refreshes.damage);
        self.texts(&mut refreshes.unwritten);
    }

    fn outcome(&self, outcome: &mut Outcome) {
        match outcome {
            Outcome::Unchanged | Outcome::Changed | Outcome::Refreshed => {}
            Outcome::WouldChange { message } | Outcome::WouldRefresh { message } => self.text(message),
            Outcome::Failed(failure) => self.failure(failure),
            Outcome::Skipped { cause } => self.skip_cause(cause),
        }
    }

    fn skip_cause(&self, cause: &mut SkipCause) {
        match cause {
            SkipCause::DependencyFailed { culprits: ids } | SkipCause::DependsOnNoop { noop: ids } => {
                for id in ids {
                    self.id(id);
                }
            }
            SkipCause::NotManaged { reason } => self.text(reason),
            SkipCause::ManifestEnded { culprit } => self.id(culprit),
            SkipCause::NotSelected | SkipCause::Excluded | SkipCause::Unknown => {}
            SkipCause::Stopped { by } => self.stop_cause(by),
        }
    }

    fn stop_cause(&self, cause: &mut StopCause) {
        match cause {
            StopCause::Failed { culprit } => self.id(culprit),
            StopCause::Signal { .. } | StopCause::Timeout { .. } => {}
        }
    }

    fn failure(&self, failure: &mut Failure) {
        self.texts(&mut failure.chain);
        self.texts(&mut failure.hints);
        self.texts(failure.location.iter_mut().map(|location| &mut location.file));
        match failure.missing.as_deref_mut() {
            Some(
                MissingPrerequisite::Principal(name)
                | MissingPrerequisite::Program(name)
                | MissingPrerequisite::Unit(name)
                | MissingPrerequisite::Package(name)
                | MissingPrerequisite::NoHold(name),
            ) => self.text(name),
            Some(
                MissingPrerequisite::Path(path)
                | MissingPrerequisite::NoMount(path)
                | MissingPrerequisite::Writable(path),
            ) => {
                if let Cow::Owned(redacted) = self.redact(&path.to_string_lossy()) {
                    *path = redacted.into();
                }
            }
            None => {}
        }
        let lines = failure.output.iter_mut().flat_map(|tail| &mut tail.lines);
        lines.for_each(|line| self.line(line));
    }

    /// Bytes that are not text came from a stream, which is redacted already.
    fn bytes(&self, bytes: &mut Vec<u8>) {
        if let Ok(text) = str::from_utf8(bytes)
            && let Cow::Owned(redacted) = self.redact(text)
        {
            *bytes = redacted.into_bytes();
        }
    }

    fn id(&self, id: &mut ResourceId) {
        if let Cow::Owned(redacted) = self.redact(&id.name) {
            id.name = redacted.into();
        }
    }

    fn text(&self, text: &mut String) {
        if let Cow::Owned(redacted) = self.redact(text) {
            *text = redacted;
        }
    }

    /// Redacts the output of a command, which was redacted before it was cut.
    fn line(&self, line: &mut String) {
        if let Cow::Owned(redacted) = self.redact_uncut(line) {
            *line = redacted;
        }
    }

    fn texts<'t>(&self, texts: impl IntoIterator<Item = &'t mut String>) {
        texts.into_iter().for_each(|text| self.text(text));
    }

    fn json(&self, value: &mut Json) {
        match value {
            Json::Null | Json::Bool(_) => {}
            Json::Number(number) => {
                if let Cow::Owned(redacted) = self.redact(&number.to_string()) {
                    *value = redacted.into();
                }
            }
            Json::String(text) => self.text(text),
            Json::Array(values) => values.iter_mut().for_each(|value| self.json(value)),
            Json::Object(object) => object.values_mut().for_each(|value| self.json(value)),
        }
    }

    /// Returns the properties with redacted text; `None` if nothing is redacted, as usual.
    fn properties(&self, properties: &Properties) -> Option<Properties> {
        properties.given().any(|entry| self.hides_in_entry(entry)).then(|| {
            Properties::new(NodeMap::new(properties.given().map(|entry| self.entry(entry)).collect()), None)
        })
    }

    fn hides_in_entry(&self, entry: &NodeEntry) -> bool {
        self.hides_in(&entry.key.text) || self.hides_in_node(&entry.value)
    }

    fn hides_in_node(&self, node: &Node) -> bool {
        match &node.value {
            NodeValue::Scalar(scalar) => self.hides_in(&scalar.text),
            NodeValue::List(nodes) => nodes.iter().any(|node| self.hides_in_node(node)),
            NodeValue::Map(map) => map.entries().iter().any(|entry| self.hides_in_entry(entry)),
        }
    }

    fn hides_in(&self, text: &str) -> bool {
        !self.hidden_in_text(text).is_empty()
    }

    fn entry(&self, entry: &NodeEntry) -> NodeEntry {
        let mut key = entry.key.clone();
        if let Cow::Owned(redacted) = self.redact(&key.text) {
            key = NodeKey { text: redacted.into(), ..key };
        }
        NodeEntry { key, value: self.node(&entry.value) }
    }

    fn node(&self, node: &Node) -> Node {
        let value = match &node.value {
            NodeValue::Scalar(scalar) => match self.redact(&scalar.text) {
                Cow::Borrowed(_) => NodeValue::Scalar(scalar.clone()),
                Cow::Owned(redacted) => {
                    NodeValue::Scalar(Scalar { text: redacted.into(), style: ScalarStyle::Redacted })
                }
            },
            NodeValue::List(nodes) => NodeValue::List(nodes.iter().map(|node| self.node(node)).collect()),
            NodeValue::Map(map) => {
                NodeValue::Map(NodeMap::new(map.entries().iter().map(|entry| self.entry(entry)).collect()))
            }
        };
        Node { value, span: node.span }
    }
}
