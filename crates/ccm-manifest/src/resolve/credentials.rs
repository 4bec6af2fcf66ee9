//! Credentials of the process that expressions use.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use ccm_model::{Diagnostic, DiagnosticKind, Diagnostics, MIN_SECRET_LENGTH, Severity, escape_control};

use crate::sources::{CredentialFault, Sources};

type Credential = Result<Arc<str>, CredentialFault>;

/// Credentials that were read, by name. Each is a secret.
#[derive(Default)]
pub(crate) struct Credentials {
    read: RefCell<BTreeMap<String, Credential>>,
}

impl Credentials {
    /// Returns a credential, which is read once.
    pub(crate) fn get(&self, name: &str, sources: &dyn Sources) -> Credential {
        if let Some(read) = self.read.borrow().get(name) {
            return read.clone();
        }
        let read = sources.credential(name).map(Arc::from);
        self.read.borrow_mut().insert(name.to_owned(), read.clone());
        read
    }

    /// Adds the credentials to the secrets, and a warning for each that is too short to be redacted.
    pub(crate) fn report(&self, secrets: &mut Vec<String>, diagnostics: &mut Diagnostics) {
        for (name, value) in &*self.read.borrow() {
            let Some(value) = value.as_ref().ok().filter(|value| !value.is_empty()) else { continue };
            secrets.push(value.to_string());
            if value.len() < MIN_SECRET_LENGTH {
                let name = escape_control(name);
                let message = format!("the credential `{name}` is too short to be redacted everywhere");
                let warning = Diagnostic::without_location(DiagnosticKind::ExposedSecret, message);
                let hint = format!("use a value of at least {MIN_SECRET_LENGTH} bytes");
                diagnostics.push(Diagnostic { severity: Severity::Warning, ..warning }.with_hint(hint));
            }
        }
    }
}

/// Secrets that are long enough to be found in a text.
pub(crate) struct LongSecrets {
    pub(crate) texts: Vec<String>,
    /// Number of credentials that were read before.
    credentials: usize,
}

impl LongSecrets {
    pub(crate) fn of(secrets: &[String]) -> Self {
        Self { texts: secrets.iter().filter(|secret| is_long(secret)).cloned().collect(), credentials: 0 }
    }

    /// Adds the credentials that were read since.
    pub(crate) fn add(&mut self, credentials: &Credentials) {
        let read = credentials.read.borrow();
        if read.len() > self.credentials {
            self.credentials = read.len();
            self.texts
                .extend(read.values().flatten().filter(|value| is_long(value)).map(ToString::to_string));
        }
    }
}

fn is_long(secret: &str) -> bool {
    secret.len() >= MIN_SECRET_LENGTH
}
