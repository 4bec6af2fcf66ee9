//! Views of resource types: what only some types have.

use ccm_model::{Diagnostic, NodeMap, Resource};

use crate::{PropertySpec, WrittenCommand};

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

/// View of a type whose resources are parts of text files, beside other parts of the same files.
pub trait TextView {
    /// Returns `true` if a resource may change lines that other resources write.
    fn changes_other_lines(&self, resource: &Resource) -> bool;

    /// Returns the part, to try it out without a file; `None` for a resource that is wrong in itself.
    fn part(&self, resource: &Resource) -> Option<Box<dyn TextPart>>;
}

/// Part of a text file that a resource manages.
pub trait TextPart {
    /// Returns the content with the part as the resource wants it; `None` if this content does not allow that.
    fn applied(&self, content: &[u8]) -> Option<Vec<u8>>;
}

/// View of a type whose resources start commands of the manifest, or write commands that others run.
pub trait CommandsView {
    /// Returns the commands that a resource may start, apart from tools of ccm. A policy judges them before the run, and
    /// again when they start. The properties of the resource have been checked.
    fn commands(&self, resource: &Resource) -> Vec<WrittenCommand> {
        let _ = resource;
        Vec::new()
    }

    /// Returns the commands that others run later, such as the job of cron that a resource writes. A policy judges them
    /// before the run, and again when the resource is changed. The properties of the resource have been checked.
    fn later_commands(&self, resource: &Resource) -> Vec<WrittenCommand> {
        let _ = resource;
        Vec::new()
    }

    /// Returns the texts that the shell of this machine will run, for a check of their syntax. The properties of the
    /// resource have been checked.
    fn shell_texts<'r>(&self, resource: &'r Resource) -> Vec<ShellText<'r>> {
        let _ = resource;
        Vec::new()
    }

    /// Keys of the values that a resource captures. Resources that refer to them come after it.
    fn captures<'r>(&self, resource: &'r Resource) -> Vec<&'r str> {
        let _ = resource;
        Vec::new()
    }

    /// Returns advice for a resource that every run changes again.
    fn idempotence_advice(&self) -> Option<&'static str> {
        None
    }
}

/// View of a type whose resources copy files of this machine.
pub trait SourcesView {
    /// The property with the file to copy, and the property with the content. If the file is a template, the
    /// rendered text becomes the content. A [web address](crate::is_web_address) is left to the resource.
    fn template(&self) -> Option<(&'static str, &'static str)> {
        None
    }

    /// The directory that a resource with this `ensure` copies. Its templates are rendered to
    /// [`Resource::rendered`].
    fn tree(&self, ensure: Option<&str>) -> Option<TreeSource> {
        let _ = ensure;
        None
    }

    /// The local file that a resource extracts and does not download, if any.
    fn extracted_file<'r>(&self, resource: &'r Resource) -> Option<&'r str> {
        let _ = resource;
        None
    }

    /// Directory from which a resource removes what no resource declares, if any. Another resource that
    /// [fills](crate::TypeSpec::fills) the same directory is an error.
    fn purges<'r>(&self, resource: &'r Resource) -> Option<&'r str> {
        let _ = resource;
        None
    }
}

/// View of a type that has keys of its own below `ccm`. Its resources find their values in [`Resource::settings`].
pub trait SettingsView {
    /// Returns the keys.
    fn keys(&self) -> &'static [PropertySpec];

    /// Finds every error in the values of these keys.
    fn errors(&self, settings: &NodeMap) -> Vec<Diagnostic>;
}
