//! Format of dnf: an ini-like file in `/etc/yum.repos.d`.

use std::path::{Path, PathBuf};

use ccm_model::{Failure, FailureKind};

use super::desired::DesiredRepository;
use super::repository_provider::{COMMENT, RepositoryFormat};
use super::rivals::{DefinitionFile, Rival};
use crate::parts::packages::Dnf;

pub(crate) struct DnfRepos;

impl RepositoryFormat for DnfRepos {
    type Tool = Dnf;

    const TOOL: Dnf = Dnf;

    fn definition(&self, name: &str) -> PathBuf {
        PathBuf::from(format!("/etc/yum.repos.d/{name}.repo"))
    }

    fn key(&self, name: &str) -> PathBuf {
        PathBuf::from(format!("/etc/pki/rpm-gpg/RPM-GPG-KEY-{name}"))
    }

    fn text(&self, desired: &DesiredRepository) -> Result<String, Failure> {
        let only_apt = [
            ("suites", &desired.suites),
            ("components", &desired.components),
            ("architectures", &desired.architectures),
        ];
        if let Some((property, _)) = only_apt.into_iter().find(|(_, words)| !words.is_empty()) {
            let message = format!("`{property}` is not a property of a repository of dnf");
            let hint = "remove it, or limit the resource to the Debian family with `control`";
            return Err(Failure::new(FailureKind::Properties, message).of_property(property).with_hint(hint));
        }
        let flag = |value: bool| u8::from(value);
        let key = match &desired.key {
            Some(_) => format!("gpgkey=file://{}\n", self.key(&desired.name).display()),
            None => String::new(),
        };
        Ok(format!(
            "{COMMENT}[{}]\nname={}\nbaseurl={}\nenabled={}\ngpgcheck={}\n{key}",
            desired.name,
            desired.description,
            desired.uris.join(" "),
            flag(desired.enabled),
            flag(desired.key.is_some()),
        ))
    }

    fn definitions(&self) -> (&'static [&'static str], &'static [&'static str], &'static [&'static str]) {
        let directories = &["/etc/yum.repos.d", "/etc/yum/repos.d", "/etc/distro.repos.d"];
        (&["/etc/dnf/dnf.conf"], directories, &["repo"])
    }

    fn rivals(&self, files: &[DefinitionFile], own: &Path) -> Vec<Rival> {
        super::dnf_entries::rivals(files, own)
    }

    fn separator(&self) -> &'static str {
        "="
    }

    fn aspects(&self) -> &'static [(&'static str, &'static str)] {
        &[
            ("baseurl", "uris"),
            ("enabled", "enabled"),
            ("gpgcheck", "signature check"),
            ("gpgkey", "key file"),
            ("name", "description"),
        ]
    }

    fn consequence(&self) -> &'static str {
        "dnf would read only one of the two"
    }
}
