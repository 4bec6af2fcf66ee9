use super::super::properties::SettingProperties;
use super::*;
use crate::parts::text::comparison_table::{GivenProperties, assert_own_rows, assert_rows};
use ccm_properties::{PropertyError, TextValue as _};

const TABLE: &str = include_str!("../ini_setting_table.txt");
const FORMATS: &str = include_str!("../formats_table.txt");

fn build(properties: &GivenProperties<'_>) -> Result<DesiredSetting, Vec<PropertyError>> {
    let written = SettingProperties {
        path: Some(GivenProperties::path()),
        section: properties.text("section"),
        key: properties.text("key"),
        value: properties.text("value"),
        separator: properties.text("separator"),
        format: properties.text("format").map(|format| Format::from_text(&format.0).expect("a format")),
        ..SettingProperties::default()
    };
    DesiredSetting::build(&properties.resource(), written)
}

#[test]
fn settings_are_edited_as_by_ini_setting_but_for_listed_differences() {
    let rows = assert_rows(TABLE, build);
    assert!(rows >= 25, "{rows} rows");
}

#[test]
fn settings_are_edited_as_each_program_reads_them() {
    let rows = assert_own_rows(FORMATS, build);
    assert!(rows >= 90, "{rows} rows");
}
