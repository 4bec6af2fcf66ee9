//! The locale resource: the language and the formats of the machine.

mod decide;
mod export;
mod posix_locale;
mod properties;
mod settings_file;

use ccm_engine::DynProvider;
use ccm_model::{Claim, ClaimKind, Diagnostic, DiagnosticKind, PathKind, Resource};
use ccm_properties::{CheckInput, Need, PropertyError, Providers, TypeSpec, TypedResource};

use crate::support::object_plan::Object;
use decide::DesiredLocale;
use posix_locale::{FILE, PosixLocale};
use properties::LocaleProperties;

#[derive(Debug)]
pub(crate) struct LocaleType;

impl TypedResource for LocaleType {
    type Written = LocaleProperties;
    type Desired = DesiredLocale;
    type Provider = dyn DynProvider<Object<DesiredLocale>>;

    const NAME: &'static str = "locale";
    const SUMMARY: &'static str = "Manages the language and the formats of the machine.";
    const ENSURES: &'static [&'static str] = &["present"];
    const PROVIDERS: Providers<Self::Provider> = &[("posix", &PosixLocale)];

    fn build(resource: &Resource, written: LocaleProperties) -> Result<DesiredLocale, Vec<PropertyError>> {
        DesiredLocale::build(resource, written)
    }

    fn warnings(locale: &DesiredLocale, checked: &CheckInput<'_>) -> Vec<Diagnostic> {
        let name = &locale.name;
        let is_old = !name.contains('.') && name.contains('_') && !name.contains('@');
        let warning = is_old.then(|| {
            let message = format!("`{name}` is the locale with an encoding from before Unicode");
            Diagnostic::warning(DiagnosticKind::InvalidValue, checked.resource.span, message)
                .with_hint(format!("write `{name}.UTF-8`"))
        });
        warning.into_iter().collect()
    }
}

impl TypeSpec for LocaleType {
    fn claims<'r>(&self, _: &'r Resource) -> Vec<Claim<'r>> {
        vec![Claim::path(FILE, PathKind::Other)]
    }

    fn needs<'r>(&self, resource: &'r Resource) -> Vec<Need<'r>> {
        let language = resource.id.name.split(['_', '.', '@']).next().unwrap_or_default();
        let packages = ["locales".to_owned(), format!("glibc-langpack-{language}")];
        packages.map(|package| (ClaimKind::Package, package.into())).into()
    }
}
