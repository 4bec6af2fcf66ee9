//! Resource types with typed properties: one binding for all of them.

use ccm_model::{Diagnostic, Failure, FailureKind, Resource};
use ccm_properties::{PropertyError, TypeSpec, TypedProperties, decode};

use crate::bound_resource::{BoundResource, bind};
use crate::contract::{Binder, ResourceKind, ResourceType};
use crate::erased::DynProvider;
use crate::state_cache::Suitabilities;

/// Resource type with typed properties and providers.
pub trait TypedResource: TypeSpec + TypedProperties + Sync {
    /// Typed side.
    type Kind: ResourceKind<Properties = Self::Desired>;

    /// Providers, in the order of their names in [`TypeSpec::providers`].
    const PROVIDERS: &'static [&'static dyn DynProvider<Self::Kind>];

    /// Advice if no provider can be bound.
    const NO_PROVIDER_ADVICE: Option<&'static str> = None;
}

impl<T: TypedResource> ResourceType for T {
    fn binder(&self) -> Option<&dyn Binder> {
        Some(self)
    }
}

impl<T: TypedResource> Binder for T {
    fn bind(
        &self,
        resource: &Resource,
        suitabilities: &Suitabilities<'_>,
    ) -> Result<Box<dyn BoundResource>, Failure> {
        let (written, errors) = decode::<T::Written>(&resource.properties);
        if !errors.is_empty() {
            return Err(not_valid(errors));
        }
        let desired = T::build(resource, written)
            .map_err(|errors| not_valid(errors.into_iter().map(PropertyError::without_location)))?;
        let named = resource.provider.as_ref().map(|provider| &*provider.value);
        let bound = bind(desired, named, T::PROVIDERS, suitabilities);
        bound.map_err(|failure| T::NO_PROVIDER_ADVICE.into_iter().fold(failure, Failure::with_hint))
    }
}

/// Builds the failure for errors that only a late value revealed.
fn not_valid(errors: impl IntoIterator<Item = Diagnostic>) -> Failure {
    let mut failure = Failure::new(FailureKind::Properties, "the properties are not valid");
    for error in errors {
        failure.chain.push(error.one_line().into_owned());
        failure.property = failure.property.or(error.property.map(Into::into));
        failure.hints.extend(error.hints);
    }
    failure
}
