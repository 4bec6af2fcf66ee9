//! Tables that compare a type with its counterpart in Puppet.

use ccm_model::{Resource, Span, Spanned};
use ccm_properties::{PropertyError, Text};

use super::{FilePart, PartPlan};
use crate::support::values::canonical_path::CanonicalPath;

/// Properties of a row.
pub(crate) struct GivenProperties<'r>(Vec<(&'r str, String)>);

impl GivenProperties<'_> {
    pub(crate) fn text(&self, name: &str) -> Option<Text> {
        self.find(name).map(Into::into)
    }

    /// Returns `true` for a flag that is given.
    pub(crate) fn flag(&self, name: &str) -> Option<bool> {
        self.find(name).map(|_| true)
    }

    pub(crate) fn path() -> CanonicalPath {
        CanonicalPath("/f".into())
    }

    /// Returns a resource without a name, which is to be absent if the row says so.
    pub(crate) fn resource(&self) -> Resource {
        let ensure =
            self.find("absent").map(|_| Spanned { value: "absent".to_owned(), span: Span::default() });
        Resource { ensure, ..Resource::default() }
    }

    fn find(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(given, _)| *given == name).map(|(_, value)| &**value)
    }
}

/// Checks each row `properties | before | after | counterpart | reason`, and returns the number of rows. Lines
/// that begin with `#` are comments. A text is a file with `\n`, `\r` and `\t` as escapes; `after` may also be
/// `=` for an unchanged file or `error: MESSAGE`. The counterpart is `same`, or its result with a reason.
pub(crate) fn assert_rows<P: FilePart>(
    table: &str,
    build: impl Fn(&GivenProperties<'_>) -> Result<P, Vec<PropertyError>>,
) -> usize {
    let rows =
        table.lines().filter(|line| !line.starts_with("# ") && !line.trim().is_empty() && *line != "#");
    rows.inspect(|row| assert_row(row, &build)).count()
}

/// Checks rows `properties | before | after` of a type without a counterpart.
pub(crate) fn assert_own_rows<P: FilePart>(
    table: &str,
    build: impl Fn(&GivenProperties<'_>) -> Result<P, Vec<PropertyError>>,
) -> usize {
    let is_row = |line: &&str| !line.starts_with('#') && !line.is_empty();
    let rows: Vec<String> = table.lines().filter(is_row).map(|row| format!("{row} | same | -")).collect();
    assert_rows(&rows.join("\n"), build)
}

fn assert_row<P: FilePart>(row: &str, build: impl Fn(&GivenProperties<'_>) -> Result<P, Vec<PropertyError>>) {
    let columns: Vec<&str> = row.split(" | ").map(str::trim).collect();
    let [properties, before, after, counterpart, reason] =
        columns[..].try_into().unwrap_or_else(|_| panic!("{} columns: {row}", columns.len()));
    assert_eq!(counterpart == "same", reason == "-", "a difference has a reason: {row}");
    assert!(counterpart == "same" || counterpart != after, "no difference: {row}");
    assert_ne!(reason, "?", "a difference without a reason: {row}");
    let properties: Vec<(&str, String)> = properties
        .split("; ")
        .map(|property| property.split_once('=').unwrap_or((property, "true")))
        .map(|(name, value)| (name, String::from_utf8(plain(value)).unwrap()))
        .collect();
    let part = build(&GivenProperties(properties)).unwrap_or_else(|errors| panic!("{row}: {errors:?}"));
    let before = plain(before);
    match (part.plan(&before), after.strip_prefix("error: ")) {
        (Ok(PartPlan::Keep), None) => assert!(after == "=" || plain(after) == before, "kept: {row}"),
        (Ok(PartPlan::Change(change)), None) => {
            assert_eq!(
                change.content.escape_ascii().to_string(),
                plain(after).escape_ascii().to_string(),
                "{row}"
            );
            assert_ne!(change.content, before, "a change that changes nothing: {row}");
            let again = part.plan(&change.content);
            assert_eq!(again, Ok(PartPlan::Keep), "not idempotent: {row}");
        }
        (Err(conflict), Some(message)) => {
            assert_eq!(conflict.message, message.replace("\\_", " "), "{row}");
        }
        (found, _) => panic!("{row}: {found:?}"),
    }
}

/// Decodes the escapes of a text; `-` is an empty one.
fn plain(text: &str) -> Vec<u8> {
    if text == "-" {
        return Vec::new();
    }
    let mut plain = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        plain.push(match byte {
            b'\\' => match rest.next() {
                Some(b'n') => b'\n',
                Some(b'r') => b'\r',
                Some(b't') => b'\t',
                Some(b'x') => 0xff,
                Some(b'_') => b' ',
                Some(b's') => b';',
                Some(b'b') => b'\\',
                other => panic!("the escape {other:?} in {text}"),
            },
            byte => byte,
        });
    }
    plain
}
