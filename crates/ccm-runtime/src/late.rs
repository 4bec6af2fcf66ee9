//! Late values for the engine.

use ccm_engine::{LateValues, Resolved, RunProgress};
use ccm_manifest::{Completion, LateResources};
use ccm_model::{
    Diagnostic, Failure, FailureKind, Location, MissingPrerequisite, Resource, ResourceIndex, SourceMap, Span,
};

/// Completes the resources of a catalog.
pub(crate) struct CatalogLate<'a, 's> {
    pub(crate) late: &'a LateResources<'s>,
}

impl LateValues for CatalogLate<'_, '_> {
    fn is_late(&self, index: ResourceIndex) -> bool {
        self.late.is_late(index)
    }

    fn resolve(
        &self,
        index: ResourceIndex,
        resource: &Resource,
        progress: &dyn RunProgress,
    ) -> Result<Resolved, Failure> {
        match self.late.complete(index, resource, &|index| progress.would_change(index)) {
            Completion::AsWritten => Ok(Resolved::AsWritten),
            Completion::Resource(resource) => Ok(Resolved::Completed(resource)),
            Completion::NotManaged(reason) => Ok(Resolved::NotManaged { reason }),
            Completion::NotBefore(index) => Ok(Resolved::NotBefore(index)),
            Completion::NoValue(reason) => Ok(Resolved::NoValue { reason }),
            Completion::MissingFile { path, errors } => {
                let failure = failure(&errors, &self.late.texts());
                Err(failure.with_missing(MissingPrerequisite::Path(path)))
            }
            Completion::Invalid(errors) => Err(failure(&errors, &self.late.texts())),
        }
    }

    fn location(&self, span: Span) -> Option<Location> {
        self.late.location(span)
    }

    fn remember(&self, index: ResourceIndex, values: serde_json::Value) {
        self.late.record_captures(index, values);
    }
}

/// Builds the failure for errors that only a late value revealed, each with its location.
fn failure(errors: &[Diagnostic], texts: &SourceMap) -> Failure {
    let mut failure = Failure::new(FailureKind::Value, "the properties of the resource can't be evaluated");
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
