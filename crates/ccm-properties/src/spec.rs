//! Descriptions of resource types.

use ccm_model::{Claim, Diagnostic, Node, NodeMap, Properties, Resource};

use crate::{OwnProperties, PropertySpec, TextSyntax, find};

/// Resource to check, and all that a check may look at.
pub struct CheckInput<'a> {
    /// The resource, its properties expanded as far as they can be before a run.
    pub resource: &'a Resource,
    /// The text of the source that holds the resource.
    pub source_text: &'a str,
    /// The values that must not be shown, as far as they are known and long enough to be looked for.
    pub secrets: &'a [String],
}

/// A manifest that a resource applies.
#[derive(Clone, Copy, Debug)]
pub struct ChildManifest<'a> {
    /// Path; a relative one starts from the directory of the parent manifest.
    pub path: &'a str,
    /// Applies the manifest in noop.
    pub noop: bool,
    /// Runs only the health checks of its resources.
    pub health_check_only: bool,
    /// `true` if it may apply manifests itself.
    pub allow_apply: bool,
    /// Values laid over its own data.
    pub data: Option<&'a Node>,
}

/// Describes a resource type to the loader, which knows nothing else of it.
pub trait TypeSpec: OwnProperties {
    /// The key under `resources`, such as `exec`.
    fn name(&self) -> &'static str;

    /// One sentence on what it manages.
    fn summary(&self) -> &'static str;

    /// Names of properties and providers that only a later version has; they are refused by name until then.
    fn planned(&self) -> &'static [&'static str] {
        &[]
    }

    /// The values that `ensure` may have, the default first.
    fn ensures(&self) -> &'static [&'static str];

    /// Regular expression of other values of `ensure`, for the schema. The loader takes any text then, and the type's check
    /// finds what is wrong with it.
    fn ensure_pattern(&self) -> Option<&'static str> {
        None
    }

    /// Returns a hint for an invalid value of `ensure`.
    fn ensure_advice(&self, written: &str) -> Option<&'static str> {
        let _ = written;
        None
    }

    /// The names that `provider` may have, the best first.
    fn providers(&self) -> &'static [&'static str];

    /// Returns a hint for an invalid value of `provider`.
    fn provider_advice(&self, written: &str) -> Option<&'static str> {
        let _ = written;
        None
    }

    /// Returns the syntax of the text of that property, or of the resource's name as `name`. Where it depends on the
    /// provider, the type overrides this.
    fn syntax(&self, property: &str, provider: Option<&str>, properties: &Properties) -> TextSyntax {
        let _ = provider;
        self.declared_syntax(property, properties)
    }

    /// Returns the syntax that the table declares. A name is read as the property that it stands in for.
    fn declared_syntax(&self, property: &str, properties: &Properties) -> TextSyntax {
        let property = match property {
            "name" => self.named_property().filter(|named| properties.get(named).is_none()),
            _ => Some(property),
        };
        let found = property.and_then(|property| find(self.properties(), property));
        found.map_or(TextSyntax::Plain, |property| property.syntax)
    }

    /// The property that the name stands in for where it is not given. The text of the name is then read as
    /// that of the property.
    fn named_property(&self) -> Option<&'static str> {
        None
    }

    /// The property that names a file to copy and the one that holds content: where the file is a template,
    /// what it renders to takes the place of the other.
    fn template_source(&self) -> Option<(&'static str, &'static str)> {
        None
    }

    /// The manifest that a resource applies, if it does. Its properties have been checked.
    fn child_manifest<'r>(&self, resource: &'r Resource) -> Option<ChildManifest<'r>> {
        let _ = resource;
        None
    }

    /// The keys of what a resource captures, by which others may name it: they come after it then.
    fn captures<'r>(&self, resource: &'r Resource) -> Vec<&'r str> {
        let _ = resource;
        Vec::new()
    }

    /// Returns advice for a resource that every run changes again.
    fn idempotence_advice(&self) -> Option<&'static str> {
        None
    }

    /// Claims of a resource on what it manages. A resource below a directory that another one claims comes after that
    /// one.
    fn claims<'r>(&self, resource: &'r Resource) -> Vec<Claim<'r>> {
        let _ = resource;
        Vec::new()
    }

    /// Returns `true` if a change of this resource may bring about arbitrary things, and not only those that it claims.
    fn may_provide(&self, resource: &Resource) -> bool {
        let _ = resource;
        false
    }

    /// Returns the keys of this type below `ccm`. Resources of the type find their values in [`Resource::settings`].
    fn settings(&self) -> &'static [PropertySpec] {
        &[]
    }

    /// Finds every error in the values of these keys.
    fn check_settings(&self, settings: &NodeMap) -> Vec<Diagnostic> {
        let _ = settings;
        Vec::new()
    }
}
