//! Documents that are no answers of tools.

use std::path::Path;

use ccm_host::InspectOptions;
use ccm_model::SourceId;

use crate::answer::ToolAnswer;
use crate::broker::ToolBroker;
use crate::caller::ToolCaller;

/// Pages of the documentation that are about tools. Others are installed beside ccm.
const PAGES: [(&str, &str); 6] = [
    ("tools", include_str!("../../../docs/use/tools.md")),
    ("mcp", include_str!("../../../docs/use/mcp.md")),
    ("policy", include_str!("../../../docs/reference/policy.md")),
    ("safe-commands", include_str!("../../../docs/internals/safe-commands.md")),
    ("approvals", include_str!("../../../docs/use/approvals.md")),
    ("audit", include_str!("../../../docs/use/audit.md")),
];

/// Permission of everybody to read a file.
const READ_BY_ALL: u32 = 0o004;
/// Permission of everybody to go through a directory.
const SEARCHED_BY_ALL: u32 = 0o001;
/// Name of the request in the audit log.
const READING: &str = "resources/read";

/// Document of a machine or of ccm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolDocument {
    /// Files of the policy.
    Policy,
    /// JSON schema of manifests.
    ManifestSchema,
    /// Checkpoint of the audit log: its end, with which anybody can compare the log later.
    AuditCheckpoint,
    /// Page of the documentation.
    Page(DocumentationPage),
}

/// Page of the documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DocumentationPage(usize);

impl DocumentationPage {
    /// Every page.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..PAGES.len()).map(Self)
    }

    /// Returns the page of a name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::all().find(|page| page.name() == name)
    }

    /// Returns the name, such as `tools`.
    pub fn name(self) -> &'static str {
        PAGES[self.0].0
    }

    /// Returns the title.
    pub fn title(self) -> &'static str {
        PAGES[self.0].1.lines().next().unwrap_or_default().trim_start_matches("# ")
    }
}

impl ToolBroker {
    /// Returns a document as text; `None` if the machine does not have it, or it can't be used. It counts as a call,
    /// and a refusal is recorded as that of one.
    pub fn document(
        &self,
        document: ToolDocument,
        caller: &ToolCaller,
    ) -> Result<Option<String>, Box<ToolAnswer>> {
        let refused = |answer: Box<ToolAnswer>| Box::new(self.refuse_early(READING, caller, *answer));
        let is_of_machine = matches!(document, ToolDocument::Policy | ToolDocument::AuditCheckpoint);
        if self.is_service() && is_of_machine {
            self.check_user(caller).map_err(refused)?;
        }
        let _counted = self.count().map_err(refused)?;
        Ok(self.read_document(document))
    }

    fn read_document(&self, document: ToolDocument) -> Option<String> {
        match document {
            ToolDocument::Policy => {
                let checked = self.session().governance().policy().ok().flatten()?;
                let texts = checked.policy.texts();
                let sources = (0..).map_while(|position| texts.get(SourceId(position)));
                if !sources.clone().all(|source| self.may_show(Path::new(&source.name))) {
                    return None;
                }
                let files: Vec<String> = sources
                    .map(|source| format!("# {}\n{}\n", source.name, source.text.trim_end()))
                    .collect();
                Some(files.join("---\n"))
            }
            ToolDocument::ManifestSchema => serde_json::to_string_pretty(&self.session().schema()).ok(),
            ToolDocument::AuditCheckpoint => {
                let end = self.session().governance().end_of_audit().ok()?;
                Some(format!("{}\n", end.to_line()))
            }
            ToolDocument::Page(DocumentationPage(page)) => Some(PAGES[page].1.to_owned()),
        }
    }

    /// Returns `true` if a caller may see the content of a file: a service reads more than its callers may.
    fn may_show(&self, path: &Path) -> bool {
        if !self.is_service() {
            return true;
        }
        let files = self.session().files();
        let allows = |path: &Path, permission: u32| {
            let found = files.inspect(path, InspectOptions::default());
            found.is_ok_and(|found| found.target.is_some_and(|target| target.mode & permission != 0))
        };
        // Links may lead through other directories than the path names.
        files.canonical(path).is_ok_and(|path| {
            let mut above = path.ancestors().skip(1);
            allows(&path, READ_BY_ALL) && above.all(|directory| allows(directory, SEARCHED_BY_ALL))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_have_names_and_titles() {
        for page in DocumentationPage::all() {
            assert_eq!(DocumentationPage::parse(page.name()), Some(page));
            assert!(PAGES[page.0].1.starts_with(&format!("# {}\n", page.title())), "{}", page.name());
        }
        assert_eq!(DocumentationPage::parse("secrets"), None);
    }
}
