//! What a format can hold, and how it is written.

use ccm_model::escape_control;
use ccm_properties::PropertyError;

use super::document::trim;
use super::format::{Format, Syntax, is_space};
use super::{git_file, mysql_file};

/// Returns a value as it is written.
pub(super) fn text_of(value: &str, format: Format) -> String {
    match format {
        Format::Git => git_file::encoded(value),
        Format::Mysql => mysql_file::encoded(value),
        Format::Ini | Format::Systemd | Format::Samba => value.to_owned(),
    }
}

/// Returns a section in the form in which the program compares names.
pub(super) fn section_name(section: &str, syntax: &Syntax) -> Vec<u8> {
    match syntax.format {
        Format::Git => git_file::section_name(section).unwrap_or_default(),
        _ => syntax.section(section.as_bytes()),
    }
}

pub(super) fn separator_error(syntax: &Syntax) -> Option<PropertyError> {
    let written = &syntax.separator;
    if written.is_empty() || written.contains(['\n', '\r', '\0']) {
        let message = "`separator` must be text on one line".to_owned();
        return Some(PropertyError::invalid(
            "separator",
            message,
            "write the text between key and value, such as `\" = \"` or `\":\"`",
        ));
    }
    let allowed: &[&str] = match syntax.format {
        _ if syntax.is_assumed => return None,
        Format::Ini => &["=", ":"],
        _ => &["="],
    };
    (!allowed.contains(&syntax.core())).then(|| {
        let message =
            format!("the separator `{written}` is none that `format: {}` reads", syntax.format.name());
        PropertyError::conflict("separator", message, "write `\"=\"` or `\" = \"`, or remove `format`")
    })
}

pub(super) fn section_error(section: &str, syntax: &Syntax) -> Option<PropertyError> {
    let shown = escape_control(section);
    let error = |message: String, hint: &str| Some(PropertyError::invalid("section", message, hint));
    let needs_section =
        !syntax.is_assumed && matches!(syntax.format, Format::Git | Format::Systemd | Format::Mysql);
    if section.is_empty() && needs_section {
        let hint = format!(
            "write `section`: `format: {}` has no settings outside of sections",
            syntax.format.name()
        );
        return Some(PropertyError::missing("section", hint));
    }
    if section.is_empty() {
        return None;
    }
    if section.starts_with('[') && section.ends_with(']') {
        return error(format!("the section `{shown}` has brackets"), "write the section without brackets");
    }
    let is_git = syntax.format == Format::Git;
    let allows_brackets = is_git || syntax.format == Format::Ini && !syntax.is_assumed;
    if section.contains(['\n', '\r', '\0']) || !allows_brackets && section.contains(['[', ']']) {
        let message = format!("the section `{shown}` contains a bracket or a control character");
        return error(message, "write the text between the brackets");
    }
    if is_git && git_file::section_name(section).is_none() {
        let message = format!("`{shown}` is no section of git");
        return error(
            message,
            "write a name such as `core`, or with a subsection in quotes such as `remote \"origin\"`",
        );
    }
    let has_run = || section.as_bytes().windows(2).any(|pair| pair.iter().all(|byte| is_space(*byte)));
    if syntax.format == Format::Samba && has_run() {
        let message =
            format!("the section `{shown}` contains several blanks in a row, which Samba reads as one");
        return error(message, "write one blank");
    }
    if syntax.format != Format::Ini && !is_git && trim(section.as_bytes()) != section.as_bytes() {
        let message = format!("the section `{shown}` has blanks around it");
        return error(message, "write the text between the brackets without blanks around it");
    }
    None
}

pub(super) fn key_error(key: &str, syntax: &Syntax) -> Option<PropertyError> {
    let shown = escape_control(key);
    let error = |message: String, hint: &str| Some(PropertyError::invalid("key", message, hint));
    let separates = match &syntax.delimiters[..] {
        [] => key.contains([' ', '\t']),
        _ if syntax.format != Format::Ini => key.contains('='),
        _ if syntax.is_assumed => key.contains(syntax.core()),
        _ => key.contains(['=', ':']),
    };
    let is_of_git = || {
        key.starts_with(|c: char| c.is_ascii_alphabetic())
            && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    if key.trim().is_empty() {
        error("the key is empty".to_owned(), "write the name of the setting")
    } else if key.trim() != key || key.contains(['\n', '\r', '\0']) {
        let message = format!("the key `{shown}` has blanks around it or contains a control character");
        error(message, "write the name of the setting alone")
    } else if separates {
        let message = format!("the key `{shown}` contains the separator");
        error(message, "write the text before the separator as `key`, and the rest as `value`")
    } else if key.starts_with(['[', '#', ';']) {
        let message = format!("the key `{shown}` would begin a section or a comment");
        error(message, "write the name of the setting alone")
    } else if syntax.format == Format::Git && !is_of_git() {
        let message = format!("`{shown}` is no key of git");
        error(message, "write letters, digits and dashes, with a letter first; the section goes to `section`")
    } else if syntax.format == Format::Mysql && (key.starts_with('!') || key.contains(['#', '\'', '"'])) {
        let message = format!("`{shown}` is no option of MySQL");
        error(message, "write the name of the option alone")
    } else {
        None
    }
}

pub(super) fn value_error(value: &str, format: Format) -> Option<PropertyError> {
    let error = |message: &str, hint: &str| Some(PropertyError::invalid("value", message, hint));
    // These formats have escapes for everything else.
    if matches!(format, Format::Git | Format::Mysql) {
        return value
            .contains('\0')
            .then(|| error("the value contains a NUL character", "remove it"))
            .flatten();
    }
    if value.contains(['\n', '\r', '\0']) {
        return error("the value contains a line end or a NUL character", "write a value of one line");
    }
    if value.trim() != value {
        return error(
            "the value has blanks around it, which are not part of a value",
            "remove the blanks, or put quotes into the value if the program knows them",
        );
    }
    let backslashes = value.bytes().rev().take_while(|byte| *byte == b'\\').count();
    match format {
        Format::Systemd if backslashes % 2 == 1 => error(
            "the value ends with a backslash, which systemd reads as a continuation on the next line",
            "write `\\\\` or `\\x5c` where the setting knows escapes, or leave the backslash out",
        ),
        Format::Samba if backslashes > 0 => error(
            "the value ends with a backslash, which Samba reads as a continuation on the next line",
            "leave the backslash out; for a path, write `/` in place of it",
        ),
        Format::Samba if value.as_bytes().windows(2).any(|pair| pair.iter().all(|byte| is_space(*byte))) => {
            error("the value contains several blanks in a row, which Samba reads as one", "write one blank")
        }
        _ => None,
    }
}
