//! Settings of a template in its first line, as Ansible reads them.

use super::error::TemplateFault;
use super::operators::RefusedTag;

/// Start of a line of settings.
const MARK: &str = "#jinja2:";

/// Removal of blanks around tags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct BlankSettings {
    /// Removes the line end after a statement.
    pub(super) trim_blocks: bool,
    /// Removes the blanks before a statement at the start of a line.
    pub(super) lstrip_blocks: bool,
}

/// Returns the settings of a template and the length of their line; `None` without such a line.
pub(super) fn settings(text: &str) -> Result<Option<(BlankSettings, usize)>, RefusedTag> {
    let first = text.split_inclusive('\n').next().unwrap_or_default();
    let line = first.trim_end();
    let Some(list) = line.strip_prefix(MARK) else {
        let compact: String = line.chars().filter(|letter| !letter.is_whitespace()).collect();
        let compact = compact.to_ascii_lowercase();
        // Other lines may be comments.
        let is_misspelt = compact.starts_with(MARK) && compact.contains("strip_blocks:")
            || compact.starts_with(MARK) && compact.contains("trim_blocks:");
        let fault = || TemplateFault::Syntax("the line looks like settings, and is none".to_owned());
        let hint = "write `#jinja2:` without blanks, in lower case";
        return if is_misspelt {
            Err(RefusedTag { range: 0..line.len(), fault: fault(), hint: hint.into() })
        } else {
            Ok(None)
        };
    };
    let mut settings = BlankSettings::default();
    let mut at = MARK.len();
    for setting in list.split(',') {
        let start = at + setting.len() - setting.trim_start().len();
        let range = start..start + setting.trim().len();
        at += setting.len() + 1;
        let (name, value) = setting.split_once(':').unwrap_or((setting, ""));
        let refused = |message: String| {
            Err(RefusedTag { range: range.clone(), fault: TemplateFault::Syntax(message), hint: HINT.into() })
        };
        let value = match value.trim() {
            "true" | "True" => true,
            "false" | "False" => false,
            _ => return refused(format!("`{}` is no boolean setting", setting.trim())),
        };
        match name.trim() {
            "trim_blocks" => settings.trim_blocks = value,
            "lstrip_blocks" => settings.lstrip_blocks = value,
            other => return refused(format!("unknown setting `{other}`")),
        }
    }
    Ok(Some((settings, first.len())))
}

const HINT: &str =
    "the settings are `trim_blocks: true` and `lstrip_blocks: true`, with a comma between them";
