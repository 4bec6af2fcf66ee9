//! What a resource type tells the loader.

use crate::{Claim, Diagnostic, Map, MissingKind, Node, Properties, Resource};

/// What a check needs to know beside the resource.
pub struct Checked<'a> {
    /// The resource, its properties expanded as far as they can be before a run.
    pub resource: &'a Resource,
    /// The text of the source that holds the resource.
    pub source_text: &'a str,
    /// The values that must not be shown, as far as they are known and long enough to be looked for.
    pub secrets: &'a [String],
}

/// Who reads a text of a property after ccm, and so what an expression may put into it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// Nobody: it is what it is.
    Nobody,
    /// A shell, which has a use for `${HOME}` and the like.
    Shell,
    /// It is split into words by the quoting of a shell: what an expression yields stays within its word.
    Words,
    /// It may be a call of one of these functions, with a quoted argument: what an expression yields stays within
    /// the argument.
    Call(&'static [&'static str]),
    /// It is a map, whose entries have these readers; the others have none.
    Entries(&'static [(&'static str, Self)]),
}

impl Reader {
    /// Who reads what stands in a map under that key, if this is who reads the map.
    #[must_use]
    pub fn of_entry(self, key: &str) -> Self {
        let Self::Entries(entries) = self else { return self };
        entries.iter().find(|(known, _)| *known == key).map_or(Self::Nobody, |(_, reader)| *reader)
    }
}

/// A manifest that a resource applies.
#[derive(Clone, Copy, Debug)]
pub struct ChildManifest<'a> {
    /// Its path; a relative one starts from the directory of the manifest around it.
    pub path: &'a str,
    /// Change nothing in it.
    pub noop: bool,
    /// Look at the health of its resources alone.
    pub health_check_only: bool,
    /// Whether it may apply manifests itself.
    pub allow_apply: bool,
    /// Values laid over its own data.
    pub data: Option<&'a Node>,
}

/// Describes a resource type to the loader, which knows nothing else of it.
pub trait TypeSpec {
    /// The key under `resources`, such as `exec`.
    fn name(&self) -> &'static str;

    /// One sentence on what it manages.
    fn summary(&self) -> &'static str;

    /// Second names of properties, each with the name it stands for. Giving both is an error.
    fn aliases(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// Names of properties and providers that a later version brings; they are refused by name until then.
    fn not_yet(&self) -> &'static [&'static str] {
        &[]
    }

    /// The values that `ensure` may have, the default first.
    fn ensures(&self) -> &'static [&'static str];

    /// What else `ensure` may be, as a pattern for the schema. The loader takes any text then, and the type's
    /// check says what is wrong with it.
    fn ensure_pattern(&self) -> Option<&'static str> {
        None
    }

    /// Advises whoever wrote that for `ensure`, which it can't be.
    fn ensure_advice(&self, written: &str) -> Option<&'static str> {
        let _ = written;
        None
    }

    /// The names that `provider` may have, the best first.
    fn providers(&self) -> &'static [&'static str];

    /// Advises whoever wrote that for `provider`, which it can't be.
    fn provider_advice(&self, written: &str) -> Option<&'static str> {
        let _ = written;
        None
    }

    /// Tells who reads the text of that property. The resource's name is asked for as `name`.
    fn reader(&self, property: &str, provider: Option<&str>, properties: &Properties) -> Reader {
        let _ = (property, provider, properties);
        Reader::Nobody
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

    /// Claims of a resource on what it manages. A resource below a directory that another one claims comes after that
    /// one.
    fn claims<'r>(&self, resource: &'r Resource) -> Vec<Claim<'r>> {
        let _ = resource;
        Vec::new()
    }

    /// Returns `true` if a change of this resource may provide something of that kind, which another one misses. One
    /// that claims a path provides what belongs there, and nothing else, whatever this returns.
    fn may_provide(&self, resource: &Resource, missing: MissingKind) -> bool {
        let _ = (resource, missing);
        true
    }

    /// The keys below `ccm` that are this type's. What a manifest says there is in
    /// [`Resource::settings`](crate::Resource::settings) of its resources of the type.
    fn settings(&self) -> &'static [&'static str] {
        &[]
    }

    /// Finds every mistake in what a manifest says below these keys.
    fn check_settings(&self, settings: &Map) -> Vec<Diagnostic> {
        let _ = settings;
        Vec::new()
    }

    /// The JSON schema of these keys: an object with `properties`.
    fn settings_schema(&self) -> Option<schemars::Schema> {
        None
    }

    /// Finds every mistake in the type's own properties.
    fn check(&self, checked: &Checked<'_>) -> Vec<Diagnostic>;

    /// The JSON schema of the type's own properties: an object with `properties`.
    fn schema(&self) -> schemars::Schema;
}
