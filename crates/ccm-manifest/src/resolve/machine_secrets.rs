//! Secrets of the machine that expressions and data use: credentials of the process, and encrypted values.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use ccm_model::{Diagnostic, DiagnosticKind, Diagnostics, MIN_SECRET_LENGTH, Severity, Span, escape_control};

use crate::resolve::expansion::SpanSet;
use crate::sources::{SecretFault, Sources};

type Secret = Result<Arc<str>, SecretFault>;

/// Secrets that were read. Each is read once.
#[derive(Default)]
pub(crate) struct MachineSecrets {
    /// Credentials, by name.
    credentials: RefCell<BTreeMap<String, Secret>>,
    /// Opened values, by the text that was encrypted.
    opened: RefCell<HashMap<Box<str>, Secret>>,
    /// Texts and maps of data that are marked as encrypted.
    encrypted: RefCell<SpanSet>,
}

impl MachineSecrets {
    /// Returns a credential.
    pub(crate) fn credential(&self, name: &str, sources: &dyn Sources) -> Secret {
        if let Some(read) = self.credentials.borrow().get(name) {
            return read.clone();
        }
        let read = sources.credential(name).map(Arc::from);
        self.credentials.borrow_mut().insert(name.to_owned(), read.clone());
        read
    }

    /// Opens an encrypted text.
    pub(crate) fn open(&self, text: &str, sources: &dyn Sources) -> Secret {
        if let Some(opened) = self.opened.borrow().get(text) {
            return opened.clone();
        }
        let opened = sources.open_encrypted(text).map(Arc::from);
        self.opened.borrow_mut().insert(text.into(), opened.clone());
        opened
    }

    /// Marks values of data as encrypted.
    pub(crate) fn mark(&self, values: impl IntoIterator<Item = Span>) {
        self.encrypted.borrow_mut().extend(values);
    }

    /// Returns `true` for a text of data that is encrypted.
    pub(crate) fn is_encrypted(&self, span: Span) -> bool {
        let marked = self.encrypted.borrow();
        !marked.is_empty() && marked.covers(span)
    }

    /// Adds the secrets that were read to others, and a warning for each that is too short to be redacted.
    pub(crate) fn report(&self, secrets: &mut Vec<String>, diagnostics: &mut Diagnostics) {
        let mut add = |value: &Secret, what: &dyn Fn() -> String| {
            let value = value.as_ref().map_or("", |value| value.trim_end_matches(['\r', '\n']));
            if value.is_empty() {
                return;
            }
            secrets.push(value.to_owned());
            if value.len() < MIN_SECRET_LENGTH {
                let message = format!("{} is too short to be redacted everywhere", what());
                let warning = Diagnostic::without_location(DiagnosticKind::ExposedSecret, message);
                let hint = format!("use a value of at least {MIN_SECRET_LENGTH} bytes");
                diagnostics.push(Diagnostic { severity: Severity::Warning, ..warning }.with_hint(hint));
            }
        };
        for (name, value) in &*self.credentials.borrow() {
            add(value, &|| format!("the credential `{}`", escape_control(name)));
        }
        for value in self.opened.borrow().values() {
            add(value, &|| "an encrypted value".to_owned());
        }
    }

    /// Returns the number of secrets that were read.
    fn count(&self) -> usize {
        self.credentials.borrow().len() + self.opened.borrow().len()
    }
}

/// Secrets that are long enough to be found in a text.
pub(crate) struct LongSecrets {
    pub(crate) texts: Vec<String>,
    /// Number of secrets of the machine that were read before.
    read: usize,
}

impl LongSecrets {
    pub(crate) fn of(secrets: &[String]) -> Self {
        Self { texts: secrets.iter().filter(|secret| is_long(secret)).cloned().collect(), read: 0 }
    }

    /// Adds the secrets of the machine that were read since.
    pub(crate) fn add(&mut self, secrets: &MachineSecrets) {
        if secrets.count() > self.read {
            self.read = secrets.count();
            let (credentials, opened) = (secrets.credentials.borrow(), secrets.opened.borrow());
            let read = credentials.values().chain(opened.values()).flatten();
            self.texts.extend(read.filter(|value| is_long(value)).map(ToString::to_string));
        }
    }
}

fn is_long(secret: &str) -> bool {
    secret.len() >= MIN_SECRET_LENGTH
}
