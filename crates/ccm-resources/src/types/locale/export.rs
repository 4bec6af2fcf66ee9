//! Export of the locale.

use std::path::Path;

use ccm_engine::{Context, Export, ExportedState, InstanceScope, Instances, NotExported};
use serde_json::{Map, Value};

use super::LocaleType;
use super::decide::LANG;
use super::posix_locale::variables_file;
use super::properties::CATEGORIES;
use super::settings_file::value;
use crate::parts::text::TextFile;

/// Locales of a machine for which nobody chose one.
const DEFAULTS: [&str; 4] = ["C.UTF-8", "C.utf8", "C", "POSIX"];

impl Export for LocaleType {
    async fn instances(
        &self,
        scope: InstanceScope,
        context: &mut Context<'_>,
    ) -> Result<Instances, NotExported> {
        let file = read(context)?;
        let is_default = |name: &str| DEFAULTS.contains(&name) && categories(&file).is_empty();
        let name = value(&file, LANG).filter(|name| scope == InstanceScope::All || !is_default(name));
        Ok(name.into_iter().collect::<Vec<_>>().into())
    }

    async fn export(
        &self,
        name: &str,
        context: &mut Context<'_>,
    ) -> Result<Option<ExportedState>, NotExported> {
        let file = read(context)?;
        if value(&file, LANG).as_deref() != Some(name) {
            return Ok(None);
        }
        let categories = Some(categories(&file)).filter(|categories| !categories.is_empty());
        Ok(Some(ExportedState::default().with_some("categories", categories)))
    }
}

fn read(context: &Context<'_>) -> Result<TextFile, NotExported> {
    Ok(TextFile::read(Path::new(variables_file(context.host.files)), context)?)
}

/// Returns the locales of categories that have their own.
fn categories(file: &TextFile) -> Map<String, Value> {
    let of_file = CATEGORIES
        .iter()
        .filter_map(|category| Some(((*category).to_owned(), value(file, category)?.into())));
    of_file.collect()
}
