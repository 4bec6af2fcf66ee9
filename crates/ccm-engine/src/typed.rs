//! The resource type whose properties are typed: one check and one binding for all of them.

use ccm_host::Host;
use ccm_model::{Diagnostic, Entry, Failure, FailureKind, Resource};
use ccm_properties::{Checked, PropertyError, PropertySet, TypeSpec, decode};

use crate::contract::{Binder, Provider, ResourceKind, ResourceType};
use crate::managed::{Managed, bind};

/// Resource type with typed properties and providers.
pub trait TypedResource: TypeSpec + Sync {
    /// Properties as the manifest writes them.
    type Written: PropertySet;

    /// Typed side.
    type Kind: ResourceKind;

    /// Providers, in the order of their names in [`TypeSpec::providers`].
    const PROVIDERS: &'static [&'static dyn Provider<Self::Kind>];

    /// Advice if no provider can be bound.
    const NO_PROVIDER_ADVICE: Option<&'static str> = None;

    /// Groups of properties that are judged together: if one of a group can't be decoded, errors about the others are not
    /// reported.
    const JUDGED_TOGETHER: &'static [&'static [&'static str]] = &[];

    /// Builds the desired properties, or finds every error.
    fn build(resource: &Resource, written: Self::Written) -> Result<Desired<Self>, Vec<PropertyError>>;

    /// Returns warnings about a resource without an error.
    fn warnings(desired: &Desired<Self>, checked: &Checked<'_>) -> Vec<Diagnostic> {
        let _ = (desired, checked);
        Vec::new()
    }
}

/// Desired properties, complete and checked.
type Desired<T> = <<T as TypedResource>::Kind as ResourceKind>::Properties;

/// Finds every error in the properties of a resource, and warnings if there is none: [`TypeSpec::check`] of such a type.
pub fn check<T: TypedResource>(checked: &Checked<'_>) -> Vec<Diagnostic> {
    let resource = checked.resource;
    let (written, mut found) = decode::<T::Written>(&resource.properties);
    match T::build(resource, written) {
        Ok(desired) if found.is_empty() => found.extend(T::warnings(&desired, checked)),
        Ok(_) => {}
        Err(errors) => {
            let wrong: Vec<&str> = found.iter().filter_map(|error| property_of(error, resource)).collect();
            let is_certain = |error: &PropertyError| !error.may_follow_from(&wrong, T::JUDGED_TOGETHER);
            let certain: Vec<_> =
                errors.into_iter().filter(is_certain).map(|error| error.at(checked)).collect();
            found.extend(certain);
        }
    }
    found.sort_by_key(Diagnostic::span);
    found
}

/// Returns the property that a diagnostic points at.
fn property_of<'r>(diagnostic: &Diagnostic, resource: &'r Resource) -> Option<&'r str> {
    let span = diagnostic.span()?;
    let holds = |entry: &&Entry| entry.key.span.contains(span) || entry.value.span.contains(span);
    resource.properties.given().find(holds).map(|entry| &*entry.key.text)
}

impl<T: TypedResource> ResourceType for T {
    fn binder(&self) -> Option<&dyn Binder> {
        Some(self)
    }
}

impl<T: TypedResource> Binder for T {
    fn bind(&self, resource: &Resource, host: Host<'_>) -> Result<Box<dyn Managed>, Failure> {
        let (written, errors) = decode::<T::Written>(&resource.properties);
        if !errors.is_empty() {
            return Err(not_valid(errors, resource));
        }
        let desired = T::build(resource, written)
            .map_err(|errors| not_valid(errors.into_iter().map(PropertyError::without_location), resource))?;
        let named = resource.provider.as_ref().map(|provider| &*provider.value);
        let bound = bind(desired, named, T::PROVIDERS, host);
        bound.map_err(|failure| T::NO_PROVIDER_ADVICE.into_iter().fold(failure, Failure::with_hint))
    }
}

/// Builds the failure for errors that only a late value showed.
fn not_valid(errors: impl IntoIterator<Item = Diagnostic>, resource: &Resource) -> Failure {
    let mut failure = Failure::new(FailureKind::Properties, "the properties are not valid");
    for error in errors {
        failure.chain.push(error.one_line().into_owned());
        let located = || Some(property_of(&error, resource)?.to_owned().into());
        failure.property = failure.property.or_else(|| error.property.clone()).or_else(located);
        failure.hints.extend(error.hints);
    }
    failure
}
