//! Secret values of a run, shared by everything that writes.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use super::Redactor;
use ccm_model::Event;

/// Secret values of a run. Copies share the values, and values can be added at any time.
#[derive(Clone, Default)]
pub struct Secrets(Arc<RwLock<Arc<Redactor>>>);

impl Secrets {
    /// Builds an empty set of values.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds values.
    pub fn add<V: AsRef<str>>(&self, values: impl IntoIterator<Item = V>) {
        // The iterator may use the known values.
        let values: Vec<V> = values.into_iter().collect();
        let mut redactor = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(grown) = redactor.with(values.iter().map(AsRef::as_ref)) {
            *redactor = Arc::new(grown);
        }
    }

    /// Returns a redactor for the known values.
    pub fn redactor(&self) -> Arc<Redactor> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns an event with redacted text.
    pub fn redact_event(&self, event: Event) -> Event {
        self.redactor().redact_event(event)
    }

    /// Returns a text with redacted values.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.redactor().redact(text)
    }
}

/// Prints no value.
impl fmt::Debug for Secrets {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Secrets").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
