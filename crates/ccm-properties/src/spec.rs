//! Descriptions of resource types.

use std::borrow::Cow;

use ccm_model::{Claim, ClaimKind, Diagnostic, Node, NodeMap, Properties, Resource};

use crate::{PropertySpec, TextSyntax, TypeDeclaration, WrittenCommand, find};

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

/// Text of a resource that the shell of this machine will run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShellText<'a> {
    /// The property. An error is at the name if the property is not given.
    pub property: &'static str,
    /// Element of a list.
    pub element: Option<usize>,
    /// The text.
    pub text: &'a str,
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

/// Directory that a resource copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeSource {
    /// The property with its path.
    pub property: &'static str,
    /// Files that are templates.
    pub templates: TreeTemplates,
    /// The property with the data of the templates, in place of the data of the manifest.
    pub data: Option<&'static str>,
}

/// Files of a directory that are templates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TreeTemplates {
    /// Those whose names end with `.j2`.
    Named,
    /// All that hold text, but for those in directories with this name.
    AllBut(&'static str),
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
    /// `true` for a directory with everything in it.
    pub is_tree: bool,
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
        let found = property.and_then(|property| find(self.properties(), property));
        found.map_or(TextSyntax::Plain, |property| property.syntax)
    }

    /// The property that the name replaces if the property is not given. The name then has the syntax of that
    /// property.
    fn named_property(&self) -> Option<&'static str> {
        None
    }

    /// The property with the file to copy, and the property with the content. If the file is a template, the
    /// rendered text becomes the content. A [web address](crate::is_web_address) is left to the resource.
    fn template_source(&self) -> Option<(&'static str, &'static str)> {
        None
    }

    /// The directory that a resource with this `ensure` copies. Its templates are rendered to
    /// [`Resource::rendered`].
    fn tree_source(&self, ensure: Option<&str>) -> Option<TreeSource> {
        let _ = ensure;
        None
    }

    /// The local file that a resource extracts and does not download, if any.
    fn extracted_file<'r>(&self, resource: &'r Resource) -> Option<&'r str> {
        let _ = resource;
        None
    }

    /// The manifest that a resource applies, if any. The properties of the resource have been checked.
    fn child_manifest<'r>(&self, resource: &'r Resource) -> Option<ChildManifest<'r>> {
        let _ = resource;
        None
    }

    /// Keys of the values that a resource captures. Resources that refer to them come after it.
    fn captures<'r>(&self, resource: &'r Resource) -> Vec<&'r str> {
        let _ = resource;
        Vec::new()
    }

    /// Returns the texts that the shell of this machine will run, for a check of their syntax. The properties of the
    /// resource have been checked.
    fn shell_texts<'r>(&self, resource: &'r Resource) -> Vec<ShellText<'r>> {
        let _ = resource;
        Vec::new()
    }

    /// Returns the commands that a resource may start, apart from tools of ccm. A policy judges them before the run.
    /// The properties of the resource have been checked.
    fn commands(&self, resource: &Resource) -> Vec<WrittenCommand> {
        let _ = resource;
        Vec::new()
    }

    /// Returns advice for a resource that every run changes again.
    fn idempotence_advice(&self) -> Option<&'static str> {
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

    /// Directory from which a resource removes what no resource declares, if any. Another resource that
    /// [fills](Self::fills) the same directory is an error.
    fn purges<'r>(&self, resource: &'r Resource) -> Option<&'r str> {
        let _ = resource;
        None
    }

    /// Objects that a resource needs. Unless its `autorequire` is off, it comes after the resources that claim one of
    /// them, or a path below one of them.
    fn needs<'r>(&self, resource: &'r Resource) -> Vec<Need<'r>> {
        let _ = resource;
        Vec::new()
    }

    /// Returns `true` if a change of this resource may affect more than its claims.
    fn may_provide(&self, resource: &Resource) -> bool {
        let _ = resource;
        false
    }

    /// Returns `true` if resources of this type may change files that they do not claim. A property behind
    /// such a resource reads its files again when its own resource is reached.
    fn may_write_files(&self) -> bool {
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
