//! Resource types with typed properties: one binding for all of them.

use ccm_model::{Diagnostic, Failure, FailureKind, Resource};
use ccm_properties::{PropertyError, TypeSpec, TypedResource, decode};

use crate::bound_resource::{BoundResource, DynProvider, bind};
use crate::contract::{Binder, ResourceKind, ResourceType};
use crate::export::{DynExport, Export};
use crate::state_cache::Suitabilities;

impl<T, K> ResourceType for T
where
    T: TypeSpec + TypedResource<Provider = dyn DynProvider<K>> + Export + Sync,
    K: ResourceKind<Properties = T::Desired>,
{
    fn binder(&self) -> Option<&dyn Binder> {
        Some(self)
    }

    fn exporter(&self) -> &dyn DynExport {
        self
    }
}

impl<T, K> Binder for T
where
    T: TypedResource<Provider = dyn DynProvider<K>>,
    K: ResourceKind<Properties = T::Desired>,
{
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
