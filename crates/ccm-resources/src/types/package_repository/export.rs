//! Export of repositories that ccm has written. Definitions of others are files.

use std::path::Path;

use ccm_engine::{Context, Export, ExportedState, InstanceScope, Instances, NotExported, Suitability};

use super::PackageRepositoryType;
use super::apt_sources::AptSources;
use super::armored_key::fingerprints;
use super::desired::name_error;
use super::dnf_repos::DnfRepos;
use super::repository_provider::{COMMENT, RepositoryFormat, RepositoryProvider};
use super::rivals::definition_files;
use crate::parts::packages::Tool as _;
use crate::support::export::no_form;

impl Export for PackageRepositoryType {
    async fn instances(
        &self,
        scope: InstanceScope,
        context: &mut Context<'_>,
    ) -> Result<Instances, NotExported> {
        if has_apt(context)? {
            listed(&AptSources, scope, context)
        } else {
            listed(&DnfRepos, scope, context)
        }
    }

    async fn export(
        &self,
        name: &str,
        context: &mut Context<'_>,
    ) -> Result<Option<ExportedState>, NotExported> {
        if let Some(message) = name_error(name) {
            return Err(no_form(message));
        }
        if has_apt(context)? { found(&AptSources, name, context) } else { found(&DnfRepos, name, context) }
    }
}

/// Returns `true` if apt reads the repositories of this machine, and `false` if dnf does.
fn has_apt(context: &Context<'_>) -> Result<bool, NotExported> {
    match (AptSources::TOOL.suitability(context.host), DnfRepos::TOOL.suitability(context.host)) {
        (Suitability::Suits(apt), Suitability::Suits(dnf)) => Ok(apt <= dnf),
        (Suitability::Suits(_), _) => Ok(true),
        (_, Suitability::Suits(_)) => Ok(false),
        _ => Err(no_form("no package tool whose repositories ccm knows is here")),
    }
}

/// Returns the names of the definitions. Those of others are listed as files that a person made.
fn listed<F: RepositoryFormat>(
    format: &F,
    scope: InstanceScope,
    context: &Context<'_>,
) -> Result<Instances, NotExported> {
    let (_, directories, extensions) = format.definitions();
    let files = context.host.files;
    let mut names = Vec::new();
    for directory in directories.iter().map(Path::new) {
        for path in definition_files(directory, extensions, files) {
            let name = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
            let is_listed = match scope {
                InstanceScope::All => true,
                InstanceScope::MadeByHand => own_definition(format, &name, context)?.is_some(),
            };
            if is_listed && !names.contains(&name) {
                names.push(name);
            }
        }
    }
    Ok(names.into())
}

/// Returns the definition that ccm wrote.
fn own_definition<F: RepositoryFormat>(
    format: &F,
    name: &str,
    context: &Context<'_>,
) -> Result<Option<String>, NotExported> {
    let definition = RepositoryProvider::<F>::definition_text(format, name, context)?;
    Ok(definition.filter(|text| text.starts_with(COMMENT)))
}

fn found<F: RepositoryFormat>(
    format: &F,
    name: &str,
    context: &Context<'_>,
) -> Result<Option<ExportedState>, NotExported> {
    let path = format.definition(name);
    let Some(text) = own_definition(format, name, context)? else {
        let (_, directories, extensions) = format.definitions();
        let all = directories
            .iter()
            .flat_map(|directory| definition_files(Path::new(directory), extensions, context.host.files));
        let other = all.into_iter().find(|path| path.file_stem().is_some_and(|stem| stem == name));
        return match other {
            None => Ok(None),
            Some(other) => Err(no_form(format!("\"{}\" was not written by ccm", other.display()))
                .with_hint(format!("export the file: `ccm resource file {}`", other.display()))),
        };
    };
    let field = |names: [&str; 2]| {
        let mut fields = text.lines().filter_map(|line| line.split_once(format.separator()));
        fields.find(|(name, _)| names.contains(name)).map(|(_, value)| value.trim().to_owned())
    };
    let words = |names| {
        let words: Vec<String> = field(names)?.split_whitespace().map(str::to_owned).collect();
        Some(words).filter(|words| !words.is_empty())
    };
    let key = format.key(name);
    let key_text = RepositoryProvider::<F>::key_text(format, name, context)?;
    let has_key = field(["Signed-By", "gpgkey"]).is_some() && key_text.is_some();
    let of_key = key_text.as_deref().and_then(|text| fingerprints(text).ok()).filter(|_| has_key);
    let is_trusted =
        field(["Trusted", "Trusted"]).is_some() || field(["gpgcheck", "gpgcheck"]).as_deref() == Some("0");
    let is_off = matches!(field(["Enabled", "enabled"]).as_deref(), Some("no" | "0"));
    let description = field(["X-Repolib-Name", "name"]).filter(|description| description != name);
    let state = ExportedState::default()
        .with_some("uris", words(["URIs", "baseurl"]))
        .with_some("suites", words(["Suites", "Suites"]))
        .with_some("components", words(["Components", "Components"]))
        .with_some("architectures", words(["Architectures", "Architectures"]))
        .with_some("key", has_key.then(|| key.display().to_string()))
        .with_some("fingerprint", of_key)
        .with_some("trusted", is_trusted.then_some(true))
        .with_some("enabled", is_off.then_some(false))
        .with_some("description", description);
    let state = if has_key {
        state.read_only("key of another machine", format!("copy {} beside the manifest", key.display()))
    } else {
        state
    };
    Ok(Some(state.read_only("file", path.display().to_string())))
}
