//! Tables of the properties of types.

use ccm_properties::{
    CommonProperty, HealthCheckProperties, NAME, PropertyKind, PropertySet as _, PropertySpec, SettingsView,
    find,
};

use crate::cell;

pub(crate) fn of(name: &str) -> Result<String, String> {
    if name == "every resource" {
        return Ok(table([&NAME].into_iter().chain(CommonProperty::ALL.map(CommonProperty::spec))));
    }
    if name == "health checks" {
        return Ok(table(HealthCheckProperties::PROPERTIES));
    }
    if let Some(kind) = name.strip_prefix("executors of the kind ") {
        return executors(kind);
    }
    let found = ccm_resources::types().into_iter().find(|found| found.name() == name);
    Ok(table(found.ok_or_else(|| format!("there is no type `{name}`"))?.properties()))
}

/// Returns the properties of an executor of a kind.
fn executors(kind: &str) -> Result<String, String> {
    let types = ccm_resources::types();
    let keys = types.iter().filter_map(|found| found.settings()).flat_map(SettingsView::keys);
    let settings = keys.into_iter().find(|setting| setting.name == "executors");
    let records: &[PropertyKind] = match settings.map(|setting| &setting.kind) {
        Some(PropertyKind::Map { values: PropertyKind::Either(records), .. }) => records,
        _ => &[],
    };
    let is_of_kind = |properties: &&'static [PropertySpec]| {
        let words = find(properties, "kind").map(|property| &property.kind);
        matches!(words, Some(PropertyKind::Words(words)) if words.contains(&kind))
    };
    let properties = records.iter().filter_map(|record| match record {
        PropertyKind::Record { properties, .. } => Some(*properties),
        _ => None,
    });
    let found = properties.into_iter().find(is_of_kind);
    found.map(table).ok_or_else(|| format!("there is no kind `{kind}` of executors"))
}

fn table<'p>(properties: impl IntoIterator<Item = &'p PropertySpec>) -> String {
    let mut table = "| Property | Type | Default | Meaning |\n|---|---|---|---|\n".to_owned();
    for property in properties {
        let PropertySpec { name, kind, default, sensitive, .. } = property;
        let mut meaning = property.documentation_without_default().replace('\n', " ");
        if *sensitive {
            meaning += " `sensitive: true` hides its value.";
        }
        table += &format!("| `{name}` | {kind} | {} | {} |\n", cell(default.unwrap_or("—")), cell(&meaning));
    }
    table
}
