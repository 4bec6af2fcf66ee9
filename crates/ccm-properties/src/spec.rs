//! Descriptions of resource types.

use std::borrow::Cow;

use ccm_model::{Claim, ClaimKind, Node, Properties, Resource, Verb};

use crate::{CommandsView, SettingsView, SourcesView, TextSyntax, TextView, TypeDeclaration, find_property};

/// Resource to check, with the context of the check.
pub struct CheckInput<'a> {
    /// The resource. Its properties are expanded as far as possible before a run.
    pub resource: &'a Resource,
    /// The text of the source that holds the resource.
    pub source_text: &'a str,
    /// Values that must not be shown, as far as they are known and long enough to search for.
    pub secrets: &'a [String],
    /// `true` if the manifest gives the resource something to subscribe to, be the references valid or not.
    pub subscribes: bool,
}

/// What a change of a resource may bring beside its claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MayProvide {
    /// Nothing.
    Nothing,
    /// Files, as those of a file system that is mounted.
    Files,
    /// Anything.
    Anything,
}

/// A manifest that a resource applies.
#[derive(Clone, Copy, Debug)]
pub struct ChildManifest<'a> {
    /// Path; a relative one starts from the directory of the parent manifest.
    pub path: &'a str,
    /// Runs the manifest in noop.
    pub noop: bool,
    /// Runs only the health checks of its resources.
    pub health_check_only: bool,
    /// `true` if the manifest may apply manifests itself.
    pub allow_apply: bool,
    /// Values merged over the manifest's own data.
    pub data: Option<&'a Node>,
}

/// Object that a resource needs: its kind and its key, as other resources claim it.
pub type Need<'a> = (ClaimKind, Cow<'a, str>);

/// Use that ends with a resource: what was used may be removed afterwards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Release<'a> {
    /// An object, or a path and everything below it.
    Object(Need<'a>),
    /// Every object of a kind, because the manifest does not say which one is in use.
    All(ClaimKind),
}

/// Returns `true` for a text that is empty as written: `""`. The empty value of an expression is longer in the
/// manifest.
pub fn is_empty_text(node: &Node) -> bool {
    const QUOTES: usize = 2;
    node.as_text().is_some_and(str::is_empty) && node.span.range().len() <= QUOTES
}

/// Path that a resource makes or fills without claiming it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilledPath<'r> {
    /// The path.
    pub path: &'r str,
    /// Part of the path that belongs to the resource.
    pub extent: FilledExtent,
}

/// Part of a path that belongs to a resource which does not claim it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilledExtent {
    /// What is at the path.
    Entry,
    /// A directory with everything in it, which the resource fills.
    Tree,
    /// A directory for others to fill: a home directory, or a file system. The resource only needs it to stay.
    Place,
}

/// Describes a resource type to the loader.
pub trait TypeSpec: TypeDeclaration {
    /// Regular expression of other values of `ensure`, for the schema. The loader then accepts any text, and
    /// the type's check finds the errors in it.
    fn ensure_pattern(&self) -> Option<&'static str> {
        None
    }

    /// Returns a hint for an invalid value of `ensure`.
    fn ensure_advice(&self, written: &str) -> Option<&'static str> {
        let _ = written;
        None
    }

    /// Returns a hint for an invalid value of `provider`.
    fn provider_advice(&self, written: &str) -> Option<&'static str> {
        let _ = written;
        None
    }

    /// Returns the syntax of the text of a property, or of the resource's name as `name`. A type whose syntax
    /// depends on the provider overrides this.
    fn syntax(&self, property: &str, provider: Option<&str>, properties: &Properties) -> TextSyntax {
        let _ = provider;
        self.declared_syntax(property, properties)
    }

    /// Returns the syntax from the property table. The name has the syntax of the property that it replaces, also
    /// if that property is an empty text.
    fn declared_syntax(&self, property: &str, properties: &Properties) -> TextSyntax {
        let property = match property {
            "name" => self.named_property().filter(|named| properties.get(named).is_none_or(is_empty_text)),
            _ => Some(property),
        };
        let found = property.and_then(|property| find_property(self.properties(), property));
        found.map_or(TextSyntax::Plain, |property| property.syntax)
    }

    /// Returns the view of a type whose resources start or write commands.
    fn commands(&self) -> Option<&dyn CommandsView> {
        None
    }

    /// Returns the view of a type whose resources copy files of this machine.
    fn sources(&self) -> Option<&dyn SourcesView> {
        None
    }

    /// Returns the view of a type that has keys below `ccm`.
    fn settings(&self) -> Option<&dyn SettingsView> {
        None
    }

    /// Returns the view of a type whose resources are parts of text files.
    fn text(&self) -> Option<&dyn TextView> {
        None
    }

    /// The manifest that a resource applies, if any. The properties of the resource have been checked.
    fn child_manifest<'r>(&self, resource: &'r Resource) -> Option<ChildManifest<'r>> {
        let _ = resource;
        None
    }

    /// Directory that a resource fetches from elsewhere, if any: what is in it before the run may be out of date.
    fn fetched_directory<'r>(&self, resource: &'r Resource) -> Option<&'r str> {
        let _ = resource;
        None
    }

    /// Claims of a resource. Conflicting claims of two resources are an error, and a resource below a
    /// directory that another resource claims comes after that resource.
    fn claims<'r>(&self, resource: &'r Resource) -> Vec<Claim<'r>> {
        let _ = resource;
        Vec::new()
    }

    /// Paths that a resource makes or fills without claiming them, such as the directory of an extraction. A purge of a
    /// directory above them leaves them alone.
    fn fills<'r>(&self, resource: &'r Resource) -> Vec<FilledPath<'r>> {
        let _ = resource;
        Vec::new()
    }

    /// Directories in which a change of a resource may write anything, for those who judge changes by their paths.
    fn reaches<'r>(&self, resource: &'r Resource) -> Vec<&'r str> {
        let trees = self.fills(resource).into_iter().filter(|filled| filled.extent == FilledExtent::Tree);
        trees.map(|filled| filled.path).collect()
    }

    /// Objects that a resource needs. Unless its `autorequire` is off, it comes after the resources that claim one of
    /// them, or a path below one of them.
    fn needs<'r>(&self, resource: &'r Resource) -> Vec<Need<'r>> {
        let _ = resource;
        Vec::new()
    }

    /// Objects without which a change of a resource fails, though it does not wait for those who make them. In noop the change
    /// is not known if an earlier resource would have removed one of them.
    fn uses<'r>(&self, resource: &'r Resource) -> Vec<Need<'r>> {
        let _ = resource;
        Vec::new()
    }

    /// Returns `true` if the resource ends what it claims: removes, unmounts or stops it.
    fn ends(&self, resource: &Resource) -> bool {
        resource.is_absent()
    }

    /// Uses that end with a resource. Unless its own `autorequire` is off, a resource that ends one of these objects comes
    /// after this one.
    fn releases<'r>(&self, resource: &'r Resource) -> Vec<Release<'r>> {
        let needs = if self.ends(resource) { self.needs(resource) } else { Vec::new() };
        needs.into_iter().map(Release::Object).collect()
    }

    /// Objects that a resource needs to be absent if the manifest removes them. Unless its `autorequire` is off, the resource
    /// comes after the resources that end one of them, or a path below one of them.
    fn needs_absent<'r>(&self, resource: &'r Resource) -> Vec<Need<'r>> {
        let _ = resource;
        Vec::new()
    }

    /// Returns `true` if equal declarations of a resource, in several manifests, are one resource. What a command does
    /// depends on its place among the others.
    fn merges(&self) -> bool {
        true
    }

    /// Returns `true` if a resource of this type does something when a resource in its `subscribe` changed.
    fn refreshes(&self) -> bool {
        false
    }

    /// Returns what a change of this resource may bring beside its claims.
    fn may_provide(&self, resource: &Resource) -> MayProvide {
        let _ = resource;
        MayProvide::Nothing
    }

    /// Returns the verb of every action of this type, if there is only one.
    fn only_verb(&self) -> Option<Verb> {
        None
    }

    /// Returns `true` if resources of this type may change files that they do not claim. A property behind
    /// such a resource reads its files again when its own resource is reached.
    fn may_write_files(&self) -> bool {
        false
    }
}
