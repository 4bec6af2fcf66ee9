//! Tables of the properties of types.

use ccm_properties::{CommonProperty, NAME, PropertySpec};

use crate::cell;

pub(crate) fn of(name: &str) -> Result<String, String> {
    if name == "every resource" {
        return Ok(table([&NAME].into_iter().chain(CommonProperty::ALL.map(CommonProperty::spec))));
    }
    let found = ccm_resources::types().into_iter().find(|found| found.name() == name);
    Ok(table(found.ok_or_else(|| format!("there is no type `{name}`"))?.properties()))
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
