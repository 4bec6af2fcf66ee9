//! Format of apt: a file of paragraphs in `/etc/apt/sources.list.d`.

use std::path::{Path, PathBuf};

use ccm_model::{Failure, FailureKind};

use super::desired::DesiredRepository;
use super::repository_provider::{COMMENT, RepositoryFormat};
use super::rivals::{DefinitionFile, Rival};
use crate::parts::packages::Apt;

pub(crate) struct AptSources;

impl RepositoryFormat for AptSources {
    type Tool = Apt;

    const TOOL: Apt = Apt;

    fn definition(&self, name: &str) -> PathBuf {
        PathBuf::from(format!("/etc/apt/sources.list.d/{name}.sources"))
    }

    fn key(&self, name: &str) -> PathBuf {
        PathBuf::from(format!("/etc/apt/keyrings/{name}.asc"))
    }

    fn text(&self, desired: &DesiredRepository) -> Result<String, Failure> {
        let missing = |property: &str, hint: &str| {
            let message = format!("`{property}` is missing, which apt needs");
            Err(Failure::new(FailureKind::Properties, message).of_property(property).with_hint(hint))
        };
        if desired.suites.is_empty() {
            return missing("suites", "write `suites`, such as `bookworm`");
        }
        let is_flat = desired.suites.iter().all(|suite| suite.ends_with('/'));
        if desired.components.is_empty() && !is_flat {
            return missing(
                "components",
                "write `components`, such as `main`, or end the suites with a slash",
            );
        }
        let mut text = COMMENT.to_owned();
        let mut field = |name: &str, values: &[String]| {
            if !values.is_empty() {
                text += &format!("{name}: {}\n", values.join(" "));
            }
        };
        field("X-Repolib-Name", std::slice::from_ref(&desired.description));
        field("Types", &["deb".to_owned()]);
        field("URIs", &desired.uris);
        field("Suites", &desired.suites);
        field("Components", if is_flat { &[] } else { &desired.components });
        field("Architectures", &desired.architectures);
        if desired.key.is_some() {
            field("Signed-By", &[self.key(&desired.name).display().to_string()]);
        }
        if desired.trusted {
            field("Trusted", &["yes".to_owned()]);
        }
        if !desired.enabled {
            field("Enabled", &["no".to_owned()]);
        }
        Ok(text)
    }

    fn definitions(&self) -> (&'static [&'static str], &'static [&'static str], &'static [&'static str]) {
        (&["/etc/apt/sources.list"], &["/etc/apt/sources.list.d"], &["list", "sources"])
    }

    fn rivals(&self, files: &[DefinitionFile], own: &Path) -> Vec<Rival> {
        super::apt_entries::rivals(files, own)
    }

    fn separator(&self) -> &'static str {
        ": "
    }

    fn aspects(&self) -> &'static [(&'static str, &'static str)] {
        &[
            ("URIs", "uris"),
            ("Suites", "suites"),
            ("Components", "components"),
            ("Architectures", "architectures"),
            ("Signed-By", "signed-by"),
            ("Trusted", "trusted"),
            ("Enabled", "enabled"),
            ("X-Repolib-Name", "description"),
        ]
    }

    fn consequence(&self) -> &'static str {
        "apt would refuse every repository"
    }
}
