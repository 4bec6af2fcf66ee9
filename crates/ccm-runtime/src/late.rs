//! Late values for the engine.

use ccm_engine::{LateValues, Progress, Resolved};
use ccm_manifest::{Completed, Late};
use ccm_model::{Diagnostic, Failure, FailureKind, Location, Resource, ResourceIndex, SourceMap, Span};

/// Completes the resources of a catalog.
pub(crate) struct CatalogLate<'a, 's> {
    pub(crate) late: &'a Late<'s>,
}

impl LateValues for CatalogLate<'_, '_> {
    fn is_late(&self, index: ResourceIndex) -> bool {
        self.late.waits(index)
    }

    fn resolve(
        &self,
        index: ResourceIndex,
        resource: &Resource,
        progress: &dyn Progress,
    ) -> Result<Resolved, Failure> {
        match self.late.complete(index, resource, &|index| progress.would_change(index)) {
            Completed::AsWritten => Ok(Resolved::AsWritten),
            Completed::Resource(resource) => Ok(Resolved::Completed(resource)),
            Completed::NotManaged(reason) => Ok(Resolved::NotManaged { reason }),
            Completed::NotBefore(index) => Ok(Resolved::NotBefore(index)),
            Completed::NoValue(reason) => Ok(Resolved::NoValue { reason }),
            Completed::Mistaken(errors) => Err(failure(&errors, &self.late.texts())),
        }
    }

    fn location(&self, span: Span) -> Option<Location> {
        self.late.texts().location(span)
    }

    fn remember(&self, index: ResourceIndex, values: serde_json::Value) {
        self.late.remember(index, values);
    }
}

/// Builds the failure for errors that only a late value showed, each with its location.
fn failure(errors: &[Diagnostic], texts: &SourceMap) -> Failure {
    let mut failure = Failure::new(FailureKind::Value, "its properties can't be worked out");
    for error in errors {
        let location = error.span().and_then(|span| texts.location(span));
        let message = error.one_line();
        failure.chain.push(match &location {
            Some(location) => format!("{location}: {message}"),
            None => message.into_owned(),
        });
        failure.location = failure.location.or(location.map(Box::new));
        failure.property = failure.property.or_else(|| error.property.as_deref().map(Into::into));
        failure.hints.extend(error.hints.iter().cloned());
    }
    failure
}
