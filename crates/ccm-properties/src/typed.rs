//! Declarations of resource types, and types whose properties are typed: one table and one check for all of them.

use ccm_model::{Diagnostic, Resource, Severity};

use crate::exposure::exposed_secrets;
use crate::{CheckInput, PropertyError, PropertySet, PropertySpec, decode};

/// Declaration of a resource type: its name, its own properties and its providers. [`TypedResource`] implements it.
pub trait TypeDeclaration {
    /// The key under `resources`, such as `exec`.
    fn name(&self) -> &'static str;

    /// One sentence about the type.
    fn summary(&self) -> &'static str;

    /// The values that `ensure` may have, the default first. The loader refuses others, unless there is a
    /// [pattern](crate::TypeSpec::ensure_pattern).
    fn ensures(&self) -> &'static [&'static str];

    /// The names that `provider` may have, the best first.
    fn providers(&self) -> Vec<&'static str>;

    /// Table of the type's own properties.
    fn properties(&self) -> &'static [PropertySpec];

    /// The property that the name replaces if the property is not given. The name then has the syntax of that
    /// property.
    fn named_property(&self) -> Option<&'static str> {
        None
    }

    /// Finds every error in the type's own properties, in the order of their locations.
    fn check(&self, checked: &CheckInput<'_>) -> Vec<Diagnostic>;
}

/// Providers of a resource type with their names, the best first.
pub type Providers<P> = &'static [(&'static str, &'static P)];

/// Resource type with typed properties and providers.
pub trait TypedResource {
    /// Properties as the manifest writes them, declared by [`properties!`](crate::properties!).
    type Written: PropertySet;

    /// Desired properties, complete and checked.
    type Desired;

    /// Interface of the providers. The engine binds resources to providers of the type `dyn DynProvider`.
    type Provider: ?Sized + 'static;

    /// The key under `resources`, such as `exec`.
    const NAME: &'static str;

    /// One sentence about the type.
    const SUMMARY: &'static str;

    /// The values that `ensure` may have, the default first.
    const ENSURES: &'static [&'static str] = &["present", "absent"];

    /// The providers, by the name that `provider` has.
    const PROVIDERS: Providers<Self::Provider>;

    /// The property that the name replaces if the property is not given.
    const NAMED_PROPERTY: Option<&'static str> = None;

    /// Advice if no provider can work on a machine.
    const NO_PROVIDER_ADVICE: Option<&'static str> = None;

    /// Groups of interdependent properties: if one can't be decoded, errors about its group are not reported.
    /// A property outside of them is a group of its own.
    const INTERDEPENDENT: &'static [&'static [&'static str]] = &[];

    /// Builds the desired properties, or finds every error. Applies the defaults, and refuses a resource
    /// without a required property.
    ///
    /// Called before the run, when a value that only the run yields is still an expression (errors in such a
    /// value are not reported), and again when the resource is reached.
    fn build(resource: &Resource, written: Self::Written) -> Result<Self::Desired, Vec<PropertyError>>;

    /// Returns errors that depend on more than the properties, such as the secrets of the manifest. Only called for
    /// a resource without another error.
    fn errors_in_context(desired: &Self::Desired, checked: &CheckInput<'_>) -> Vec<Diagnostic> {
        let _ = (desired, checked);
        Vec::new()
    }

    /// Returns warnings about a resource without an error.
    fn warnings(desired: &Self::Desired, checked: &CheckInput<'_>) -> Vec<Diagnostic> {
        let _ = (desired, checked);
        Vec::new()
    }
}

impl<T: TypedResource> TypeDeclaration for T {
    fn name(&self) -> &'static str {
        T::NAME
    }

    fn summary(&self) -> &'static str {
        T::SUMMARY
    }

    fn ensures(&self) -> &'static [&'static str] {
        T::ENSURES
    }

    fn providers(&self) -> Vec<&'static str> {
        T::PROVIDERS.iter().map(|(name, _)| *name).collect()
    }

    fn properties(&self) -> &'static [PropertySpec] {
        T::Written::PROPERTIES
    }

    fn named_property(&self) -> Option<&'static str> {
        T::NAMED_PROPERTY
    }

    fn check(&self, checked: &CheckInput<'_>) -> Vec<Diagnostic> {
        let resource = checked.resource;
        let (written, mut found) = decode::<T::Written>(&resource.properties);
        match T::build(resource, written) {
            Ok(desired) if found.is_empty() => {
                found = T::errors_in_context(&desired, checked);
                found.extend(exposed_secrets(checked, T::Written::PROPERTIES, T::NAMED_PROPERTY));
                if !found.iter().any(|found| found.severity == Severity::Error) {
                    found.extend(T::warnings(&desired, checked));
                }
            }
            Ok(_) => {}
            Err(errors) => {
                let undecodable: Vec<&str> =
                    found.iter().filter_map(|error| error.property.as_deref()).collect();
                let is_certain =
                    |error: &PropertyError| !error.may_follow_from(&undecodable, T::INTERDEPENDENT);
                let certain: Vec<_> =
                    errors.into_iter().filter(is_certain).map(|error| error.at(checked)).collect();
                found.extend(certain);
            }
        }
        found.sort_by_key(Diagnostic::span);
        found
    }
}
