//! The `package_repository` resource: a repository of packages for apt or dnf, with its key.

mod apt_entries;
mod apt_sources;
mod armored_key;
mod decide;
mod desired;
mod dnf_entries;
mod dnf_repos;
mod export;
mod properties;
mod repository_provider;
mod rivals;
mod values;

use ccm_engine::DynProvider;
use ccm_model::{Claim, ClaimKind, Diagnostic, DiagnosticKind, PathKind, Resource, escape_control};
use ccm_properties::{CheckInput, Need, PropertyError, Providers, TypeSpec, TypedResource};

use crate::parts::packages::{Apt, Dnf, Tool};
use crate::support::object_plan::Object;
use crate::support::plain_transport::unprotected_host;
use apt_sources::AptSources;
use desired::{DesiredRepository, name_error};
use dnf_repos::DnfRepos;
use properties::RepositoryProperties;
use repository_provider::{RepositoryFormat as _, RepositoryProvider};

#[derive(Debug)]
pub(crate) struct PackageRepositoryType;

impl TypedResource for PackageRepositoryType {
    type Written = RepositoryProperties;
    type Desired = DesiredRepository;
    type Provider = dyn DynProvider<Object<DesiredRepository>>;

    const NAME: &'static str = "package_repository";
    const SUMMARY: &'static str = "Manages a repository of packages and the key that signs it.";
    const PROVIDERS: Providers<Self::Provider> =
        &[(Apt::NAME, &RepositoryProvider(AptSources)), (Dnf::NAME, &RepositoryProvider(DnfRepos))];
    const NO_PROVIDER_ADVICE: Option<&'static str> =
        Some("limit the repository to some machines with `control`");
    const INTERDEPENDENT: &'static [&'static [&'static str]] = &[&["key", "trusted", "fingerprint"]];

    fn build(
        resource: &Resource,
        written: RepositoryProperties,
    ) -> Result<DesiredRepository, Vec<PropertyError>> {
        DesiredRepository::build(resource, written)
    }

    fn warnings(repository: &DesiredRepository, checked: &CheckInput<'_>) -> Vec<Diagnostic> {
        let host = repository.uris.iter().find_map(|uri| unprotected_host(uri));
        let warning = host.filter(|_| repository.trusted && repository.enabled).map(|host| {
            let resource = checked.resource;
            let span = resource.properties.get("trusted").map_or(resource.span, |node| node.span);
            let host = escape_control(host);
            let message =
                format!("nothing verifies these packages: everybody on the way to `{host}` can replace them");
            Diagnostic::warning(DiagnosticKind::Unprotected, span, message)
                .with_hint("write `key` in place of `trusted`, or addresses with `https`")
        });
        warning.into_iter().collect()
    }
}

impl TypeSpec for PackageRepositoryType {
    fn provider_advice(&self, written: &str) -> Option<&'static str> {
        match written {
            "yum" => Some("did you mean `dnf`?"),
            "deb" | "apt-get" => Some("did you mean `apt`?"),
            _ => None,
        }
    }

    fn claims<'r>(&self, resource: &'r Resource) -> Vec<Claim<'r>> {
        let name = &*resource.id.name;
        if name_error(name).is_some() {
            return Vec::new();
        }
        let kind = if resource.is_absent() { PathKind::Nothing } else { PathKind::Other };
        let provider = resource.provider.as_ref().map(|provider| &*provider.value);
        // Without a provider, the machine decides.
        let of = |other: &str| provider.is_none_or(|provider| provider == other);
        let apt = of("apt").then(|| [AptSources.definition(name), AptSources.key(name)]);
        let dnf = of("dnf").then(|| [DnfRepos.definition(name), DnfRepos.key(name)]);
        let paths = apt.into_iter().chain(dnf).flatten();
        paths.map(|path| Claim::path(path.display().to_string(), kind)).collect()
    }

    /// A repository comes after other definitions that are to be absent, which may contradict it.
    fn needs_absent<'r>(&self, resource: &'r Resource) -> Vec<Need<'r>> {
        if resource.is_absent() {
            return Vec::new();
        }
        let formats = [AptSources.definitions(), DnfRepos.definitions()];
        let paths = formats.into_iter().flat_map(|(files, directories, _)| files.iter().chain(directories));
        paths.map(|path| (ClaimKind::Path, (*path).into())).collect()
    }
}
