//! The locale resource: the language and the formats of the machine.

mod decide;
mod posix_locale;
mod properties;
mod settings_file;

use ccm_engine::{DynProvider, TypedResource};
use ccm_model::{Claim, ClaimKind, PathKind, Resource};
use ccm_properties::{Need, PropertyError, TypeSpec, TypedProperties};

use decide::{DesiredLocale, LocaleKind};
use posix_locale::{FILE, PosixLocale};
use properties::LocaleProperties;

#[derive(Debug)]
pub(crate) struct LocaleType;

impl TypeSpec for LocaleType {
    fn name(&self) -> &'static str {
        "locale"
    }

    fn summary(&self) -> &'static str {
        "Manages the language and the formats of the machine."
    }

    fn ensures(&self) -> &'static [&'static str] {
        &["present"]
    }

    fn providers(&self) -> &'static [&'static str] {
        &["posix"]
    }

    fn claims<'r>(&self, _: &'r Resource) -> Vec<Claim<'r>> {
        vec![Claim::path(FILE, PathKind::Other)]
    }

    fn needs<'r>(&self, resource: &'r Resource) -> Vec<Need<'r>> {
        let language = resource.id.name.split(['_', '.', '@']).next().unwrap_or_default();
        let packages = ["locales".to_owned(), format!("glibc-langpack-{language}")];
        packages.map(|package| (ClaimKind::Package, package.into())).into()
    }
}

impl TypedProperties for LocaleType {
    type Written = LocaleProperties;
    type Desired = DesiredLocale;

    fn build(resource: &Resource, written: LocaleProperties) -> Result<DesiredLocale, Vec<PropertyError>> {
        DesiredLocale::build(resource, written)
    }
}

impl TypedResource for LocaleType {
    type Kind = LocaleKind;

    const PROVIDERS: &'static [&'static dyn DynProvider<LocaleKind>] = &[&PosixLocale];
}
