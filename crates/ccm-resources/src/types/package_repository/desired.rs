//! The desired repository, complete and checked.

use ccm_model::{DiagnosticKind, Resource};
use ccm_properties::PropertyError;

use super::properties::RepositoryProperties;
use super::values::KeySource;

/// Maximum length of the name, which is that of files.
const MAX_NAME: usize = 100;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DesiredRepository {
    pub name: String,
    pub is_absent: bool,
    pub uris: Vec<String>,
    pub suites: Vec<String>,
    pub components: Vec<String>,
    pub architectures: Vec<String>,
    /// `None` for a repository without signatures.
    pub key: Option<KeySource>,
    /// Fingerprints that the key may have; empty if they are not checked.
    pub fingerprints: Vec<String>,
    pub trusted: bool,
    pub enabled: bool,
    pub description: String,
}

impl DesiredRepository {
    pub(crate) fn build(
        resource: &Resource,
        written: RepositoryProperties,
    ) -> Result<Self, Vec<PropertyError>> {
        let name = resource.id.name.to_string();
        let mut errors: Vec<PropertyError> =
            name_error(&name).map(PropertyError::of_name).into_iter().collect();
        let is_absent = resource.is_absent();
        let trusted = written.trusted.unwrap_or_default();
        let provider = resource.provider.as_ref().map(|provider| &*provider.value);
        if !is_absent {
            if written.uris.as_ref().is_none_or(|uris| uris.0.is_empty()) {
                errors.push(PropertyError::missing("uris", "write `uris`, the address of the repository"));
            }
            if provider == Some("apt") && written.suites.is_none() {
                errors.push(PropertyError::missing("suites", "write `suites`, such as `bookworm`"));
            }
            match (&written.key, trusted) {
                (None, false) => {
                    errors.push(PropertyError::missing(
                        "key",
                        "write `key`, the file with the key that signs the repository",
                    ));
                }
                (Some(_), true) => {
                    let message = "`trusted` and `key` exclude each other";
                    errors.push(PropertyError::conflict(
                        "trusted",
                        message,
                        "remove `trusted`: the key is checked",
                    ));
                }
                _ => {}
            }
            if matches!(written.key, Some(KeySource::Web(_))) && written.fingerprint.is_none() {
                errors.push(PropertyError::missing(
                    "fingerprint",
                    "write the fingerprint that the publisher of the repository names",
                ));
            }
        }
        let description = written.description.map_or_else(|| name.clone(), |description| description.0);
        if description.contains(char::is_control) {
            let message = "the description is not one line";
            errors.push(PropertyError::new(DiagnosticKind::InvalidValue, "description", message));
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let words = |words: Option<ccm_properties::OneOrMany<super::values::RepositoryWord>>| {
            words.map(|words| words.0.into_iter().map(|word| word.0).collect()).unwrap_or_default()
        };
        let uris = written.uris.map(|uris| uris.0.into_iter().map(|uri| uri.0).collect());
        let fingerprints = written.fingerprint.map(|all| all.0.into_iter().map(|one| one.0).collect());
        Ok(Self {
            name,
            is_absent,
            uris: uris.unwrap_or_default(),
            suites: words(written.suites),
            components: words(written.components),
            architectures: words(written.architectures),
            key: written.key,
            fingerprints: fingerprints.unwrap_or_default(),
            trusted,
            enabled: written.enabled.unwrap_or(true),
            description,
        })
    }
}

/// Returns the error in the name of a repository.
pub(crate) fn name_error(name: &str) -> Option<String> {
    let is_allowed = |part: char| part.is_ascii_alphanumeric() || "_-.".contains(part);
    let is_right = name.starts_with(|first: char| first.is_ascii_alphanumeric())
        && name.chars().all(is_allowed)
        && name.len() <= MAX_NAME;
    (!is_right).then(|| {
        let shown = name.escape_debug();
        format!(
            "`{shown}` is not the name of a repository: letters, digits, `-`, `_` and `.`, at most {MAX_NAME}"
        )
    })
}
