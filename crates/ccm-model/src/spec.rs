//! What a resource type tells the loader.

use crate::{Diagnostic, Properties, Resource};

/// What a check needs to know beside the resource: the text it was written in, to point into it.
pub struct Checked<'a> {
    /// The resource, its properties expanded as far as they can be before a run.
    pub resource: &'a Resource,
    /// The text of the source that holds the resource.
    pub source_text: &'a str,
}

/// The path that a resource manages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ManagedPath<'a> {
    /// Absolute and canonical.
    pub path: &'a str,
    /// What is to be there.
    pub wanted: WantedAt,
}

/// What is to be at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WantedAt {
    /// A directory, which what is below it needs.
    Directory,
    /// Nothing, and so nothing below it.
    Nothing,
    /// Something else.
    Other,
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

    /// Advises whoever wrote that for `ensure`, which it can't be.
    fn ensure_advice(&self, written: &str) -> Option<&'static str> {
        let _ = written;
        None
    }

    /// The names that `provider` may have, the best first.
    fn providers(&self) -> &'static [&'static str];

    /// Tells whether a shell will read the text of that property, so that `${HOME}` in it is the shell's.
    /// The resource's name is asked for as `name`.
    fn is_shell_text(&self, property: &str, provider: Option<&str>, properties: &Properties) -> bool {
        let _ = (property, provider, properties);
        false
    }

    /// The path that a resource manages, if it manages one: what is below a managed directory comes after it.
    fn managed_path<'r>(&self, resource: &'r Resource) -> Option<ManagedPath<'r>> {
        let _ = resource;
        None
    }

    /// Finds every mistake in the type's own properties.
    fn check(&self, checked: &Checked<'_>) -> Vec<Diagnostic>;

    /// The JSON schema of the type's own properties: an object with `properties`.
    fn schema(&self) -> schemars::Schema;
}
