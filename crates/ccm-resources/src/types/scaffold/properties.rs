//! The properties of a scaffold, as the manifest writes them.

use ccm_properties::{JsonMap, NamedValues, OneOrMany, Text, TextSyntax, properties};

use crate::support::values::source_path::SourcePath;

properties! {
    /// Properties of a scaffold; their documentation is the reference for users.
    #[derive(Debug, Default)]
    pub(crate) struct ScaffoldProperties {
        /// Directory of templates; a relative path starts from the directory of the manifest. Each file in it is
        /// rendered, without the ending `.j2` if it has one. What is in directories named `_partials` is only there to
        /// be included.
        source: SourcePath { required: true },
        /// Data of the templates, in place of the data of the manifest.
        data: JsonMap { sensitive: true, default: Some("the data of the manifest") },
        /// Language of the templates: `jinja`.
        engine: Text { default: Some("`jinja`") },
        /// Leave out files that are rendered to nothing but white space.
        skip_empty: bool { default: Some("`false`") },
        /// Commands that change rendered files: a map, or a list of maps, from a pattern of names such as `*.go` to a
        /// command. `{}` is the path of a private copy, or else the copy is the last argument.
        post: OneOrMany<NamedValues<Text>> { syntax: TextSyntax::Argv },
        /// Remove what neither this nor another resource declares in the directory.
        purge: bool { default: Some("`false`") },
        /// With `purge`, patterns of paths to leave alone, such as `*.swp` or `cache/**`.
        ignore: OneOrMany<Text>,
        /// With `purge`, remove undeclared directories that are not empty.
        force: bool { default: Some("`false`") },
        /// Copy the old content of a file to ccm's state directory before it is replaced or removed.
        backup: bool { default: Some("`false`") },
        /// Show neither the content of the files nor sizes, not even in a diff. Once the scaffold is reached, ccm hides
        /// the content of each file of at most 64 KiB everywhere else.
        sensitive: bool { default: Some("`false`") },
    }
}
