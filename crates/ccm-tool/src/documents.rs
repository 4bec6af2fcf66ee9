//! Documents that are no answers of tools.

use ccm_model::SourceId;

use crate::broker::ToolBroker;

/// Document of a machine or of ccm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolDocument {
    /// Files of the policy.
    Policy,
    /// JSON schema of manifests.
    ManifestSchema,
}

impl ToolBroker {
    /// Returns a document as text; `None` if the machine does not have it, or it can't be used.
    pub fn document(&self, document: ToolDocument) -> Option<String> {
        match document {
            ToolDocument::Policy => {
                let checked = self.session().policy().ok().flatten()?;
                let texts = checked.policy.texts();
                let sources = (0..).map_while(|position| texts.get(SourceId(position)));
                let files: Vec<String> = sources
                    .map(|source| format!("# {}\n{}\n", source.name, source.text.trim_end()))
                    .collect();
                Some(files.join("---\n"))
            }
            ToolDocument::ManifestSchema => serde_json::to_string_pretty(&self.session().schema()).ok(),
        }
    }
}
