//! What a run must not show, shared by all that show something.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use super::Redactor;
use ccm_model::Event;

/// The values that a run must not show. Copies share them, and more may become known while it goes on.
#[derive(Clone, Default)]
pub struct Secrets(Arc<RwLock<Arc<Redactor>>>);

impl Secrets {
    /// Nothing to hide so far.
    pub fn new() -> Self {
        Self::default()
    }

    /// Hides these values as well, from now on.
    pub fn add<V: AsRef<str>>(&self, values: impl IntoIterator<Item = V>) {
        // Whoever lists them may ask for what is known before.
        let values: Vec<V> = values.into_iter().collect();
        let mut redactor = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(grown) = redactor.with(values.iter().map(AsRef::as_ref)) {
            *redactor = Arc::new(grown);
        }
    }

    /// Hides what has to be hidden by now.
    pub fn redactor(&self) -> Arc<Redactor> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The event without what has to be hidden by now.
    pub fn redact_event(&self, event: Event) -> Event {
        self.redactor().redact_event(event)
    }

    /// The text without what has to be hidden by now.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.redactor().redact(text)
    }
}

/// Shows nothing of the values.
impl fmt::Debug for Secrets {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Secrets").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
