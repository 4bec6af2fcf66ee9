//! Warnings about a content that its reader refuses or ignores: the kernel, cron, systemd, sshd.

use std::ops::Range;
use std::path::Path;

use ccm_model::{Diagnostic, DiagnosticKind, Resource, escape_control};
use ccm_properties::CheckInput;

use super::desired::{DesiredFile, FileContent};
use crate::parts::systemd::unit_check;
use crate::parts::systemd::units::UNIT_DIRECTORIES;
use crate::parts::unread_names;
use crate::support::values::file_mode::is_world_readable;

/// Directories whose files decide what root does.
const TRUSTED: [&str; 5] = ["/etc/", "/usr/", "/boot/", "/root/", "/lib/"];

/// Returns the first warning about the content of a file, or about a mode that its reader refuses.
pub(crate) fn warning(file: &DesiredFile, checked: &CheckInput<'_>) -> Option<Diagnostic> {
    let resource = checked.resource;
    let path = &*resource.id.name;
    let by_mode = file.mode.and_then(|mode| mode_warning(path, mode, resource));
    let Some(FileContent::Text(text)) = &file.content else { return by_mode };
    // A file that is not executable may be a library of a shell.
    let is_program = file.mode.is_some_and(|mode| mode & 0o111 != 0) && unread_names::is_program(path);
    let found = script(text)
        .or_else(|| if is_program { without_interpreter(text) } else { None })
        .or_else(|| if is_crontab(path) { crontab(text) } else { None })
        .or_else(|| if is_unit(path) { unit(text) } else { None });
    let Some(Finding { range, message, hint }) = found else {
        return by_mode.or_else(|| private_key(file, text, resource));
    };
    let span = match resource.properties.get("content") {
        Some(node) => node.locate(checked.source_text, range.start, range.end),
        None => resource.span,
    };
    let line = 1 + text[..range.start].matches('\n').count();
    // A rendered template is not part of the manifest.
    let place =
        if resource.properties.get("content").is_some() { String::new() } else { format!(" (line {line})") };
    Some(Diagnostic::warning(DiagnosticKind::NoEffect, span, format!("{message}{place}")).with_hint(hint))
}

struct Finding {
    /// Bytes of the content.
    range: Range<usize>,
    message: String,
    hint: String,
}

/// Returns the finding about the first line of a script.
fn script(text: &str) -> Option<Finding> {
    let begin = text.len()
        - text.trim_start_matches(|first: char| first.is_whitespace() || first == '\u{feff}').len();
    let line = text[begin..].split('\n').next().filter(|line| line.starts_with("#!"))?;
    let range = begin..begin + line.trim_end().len();
    if begin > 0 {
        let message = "the kernel reads `#!` only at the very beginning of a file".to_owned();
        return Some(Finding { range, message, hint: "remove what stands before it".to_owned() });
    }
    line.ends_with('\r').then(|| {
        let program = line.trim_start_matches("#!").trim();
        let message = format!(
            "the first line ends with a carriage return, so that the kernel looks for `{}\\r`",
            escape_control(program)
        );
        Finding {
            range,
            message,
            hint: "save the text with line ends of Unix, such as with `dos2unix`".to_owned(),
        }
    })
}

/// Returns the finding about a program that is a text, and does not name what reads it.
fn without_interpreter(text: &str) -> Option<Finding> {
    let is_script = !text.trim().is_empty() && !text.starts_with(['#', '\u{7f}']) || text.starts_with("# ");
    is_script.then(|| Finding {
        range: 0..text.lines().next().unwrap_or_default().len(),
        message: "a program that does not begin with `#!` is only started by a shell".to_owned(),
        hint: "write `#!/bin/sh`, or what else reads it, in a line of its own above".to_owned(),
    })
}

fn is_crontab(path: &str) -> bool {
    path == "/etc/crontab" || path.strip_prefix("/etc/cron.d/").is_some_and(|name| !name.contains('/'))
}

/// Returns the finding about a line of a system's crontab without a user, or without a line end.
fn crontab(text: &str) -> Option<Finding> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let job = line.trim();
        let fields = if job.starts_with('@') { 1 } else { 5 };
        let mut words = job.split_ascii_whitespace();
        let is_job = job.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '*' | '@'));
        let user = words.nth(fields).filter(|_| is_job);
        if let Some(user) = user.filter(|user| user.contains(['/', '.'])) {
            let range = start + line.find(user).unwrap_or_default()..start + line.len() - 1;
            let range = range.start..range.start + user.len();
            let message = format!("cron takes `{}` for the user of this job", escape_control(user));
            let hint =
                "write the user before the command, such as `root`, or declare a `cron` resource".to_owned();
            return Some(Finding { range, message, hint });
        }
        if is_job && !line.ends_with('\n') {
            let range = start..start + job.len();
            let message =
                "cron of Debian ignores the whole file, as its last line has no line end".to_owned();
            return Some(Finding {
                range,
                message,
                hint: "write the text after `|`, which ends the last line".to_owned(),
            });
        }
    }
    None
}

/// Returns `true` for a unit, and for a drop-in of one.
fn is_unit(path: &str) -> bool {
    let below = UNIT_DIRECTORIES.iter().find_map(|directory| path.strip_prefix(directory)?.strip_prefix('/'));
    let kinds =
        [".service", ".timer", ".socket", ".mount", ".automount", ".path", ".target", ".slice", ".swap"];
    below.is_some_and(|below| match below.split_once('/') {
        None => kinds.iter().any(|kind| below.ends_with(kind)),
        Some((directory, name)) => {
            let of = directory.strip_suffix(".d").unwrap_or_default();
            kinds.iter().any(|kind| of.ends_with(kind))
                && Path::new(name).extension().is_some_and(|ending| ending == "conf")
        }
    })
}

fn unit(text: &str) -> Option<Finding> {
    let unit_check::IgnoredLine { range, reason, hint } = unit_check::ignored_line(text)?;
    let message = format!("systemd ignores this line: {}", escape_control(&reason));
    Some(Finding { range, message, hint: hint.unwrap_or_default() })
}

/// Files that only root and a group may read, with the usual mode.
const SECRET_FILES: [(&str, u32); 5] = [
    ("/etc/shadow", 0o640),
    ("/etc/gshadow", 0o640),
    ("/etc/shadow-", 0o600),
    ("/etc/gshadow-", 0o600),
    ("/etc/sudoers", 0o440),
];

/// Returns the warning about a mode with which others can change what root or a user trusts.
fn mode_warning(path: &str, mode: u32, resource: &Resource) -> Option<Diagnostic> {
    let is_of_ssh = path.contains("/.ssh/");
    let is_trusted = TRUSTED.iter().any(|directory| path.starts_with(directory));
    if mode & 0o700 == 0 && mode & 0o077 != 0 {
        let message = format!("with `mode: {mode:04o}` the owner has no rights, and others have some");
        let span = resource.properties.get("mode").map_or(resource.span, |node| node.span);
        let warning = Diagnostic::warning(DiagnosticKind::Unprotected, span, message);
        return Some(
            warning.with_hint("write the digit of the owner before those of the others: `mode: \"0640\"`"),
        );
    }
    let secret = SECRET_FILES.iter().find(|(secret, _)| path == *secret).map(|(_, mode)| *mode);
    let (message, least) = if let Some(least) = secret.filter(|_| mode & 0o007 != 0) {
        (format!("with `mode: {mode:04o}` every user can read it"), least)
    } else if is_of_ssh && mode & 0o022 != 0 {
        (format!("sshd refuses what others can change, as with `mode: {mode:04o}`"), mode & !0o022)
    } else if is_trusted && mode & 0o002 != 0 && mode & 0o1000 == 0 {
        (format!("with `mode: {mode:04o}` every user can change it"), mode & !0o002)
    } else {
        return None;
    };
    let span = resource.properties.get("mode").map_or(resource.span, |node| node.span);
    let hint = format!("write `mode: \"{least:04o}\"`");
    Some(Diagnostic::warning(DiagnosticKind::Unprotected, span, message).with_hint(hint))
}

/// Returns the warning about a private key that everybody can read.
fn private_key(file: &DesiredFile, text: &str, resource: &Resource) -> Option<Diagnostic> {
    let is_key =
        text.lines().any(|line| line.starts_with("-----BEGIN ") && line.ends_with("PRIVATE KEY-----"));
    (is_key && file.mode.is_none_or(is_world_readable)).then(|| {
        let message = match file.mode {
            None => "the content is a private key, but without `mode` everybody can read the new file (0644)"
                .to_owned(),
            Some(mode) => format!(
                "the content is a private key, but with `mode: {mode:04o}` everybody can read the file"
            ),
        };
        let span = resource.properties.get("content").map_or(resource.span, |node| node.span);
        Diagnostic::warning(DiagnosticKind::ExposedSecret, span, message).with_hint("set `mode: \"0600\"`")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_begin_with_their_interpreter() {
        for (text, expected) in [
            ("#!/bin/sh\necho a\n", None),
            ("#!/bin/sh\r\necho a\r\n", Some("#!/bin/sh")),
            ("\n#!/bin/sh\n", Some("#!/bin/sh")),
            ("\u{feff}#!/bin/sh\n", Some("#!/bin/sh")),
            ("# a comment\n#!/bin/sh\n", None),
            ("a\r\n", None),
            ("", None),
        ] {
            assert_eq!(script(text).map(|found| &text[found.range]), expected, "{text:?}");
        }
    }

    #[test]
    fn programs_name_what_reads_them() {
        for (text, expected) in [
            ("echo a\n", true),
            ("# a comment\necho a\n", true),
            ("#!/bin/sh\n", false),
            ("\u{7f}ELF", false),
            ("", false),
        ] {
            assert_eq!(without_interpreter(text).is_some(), expected, "{text:?}");
        }
    }

    #[test]
    fn jobs_of_the_system_name_a_user_and_end() {
        for (text, expected) in [
            ("0 3 * * * root /usr/bin/backup\n", None),
            ("SHELL=/bin/sh\n# 0 3 * * * /x\n\n@daily root /usr/bin/backup\n", None),
            ("0 3 * * * /usr/bin/backup\n", Some("/usr/bin/backup")),
            ("*/5 * * * * backup.sh --all\n", Some("backup.sh")),
            ("@reboot /usr/bin/start\n", Some("/usr/bin/start")),
            ("0 3 * * * root true\n0 4 * * * root false", Some("0 4 * * * root false")),
            ("PATH=/bin:/usr/bin", None),
            ("# only a comment", None),
        ] {
            assert_eq!(crontab(text).map(|found| &text[found.range]), expected, "{text:?}");
        }
    }

    #[test]
    fn units_and_drop_ins_are_checked() {
        for (path, expected) in [
            ("/etc/systemd/system/web.service", true),
            ("/etc/systemd/system/web@.timer", true),
            ("/etc/systemd/system/web.service.d/limits.conf", true),
            ("/etc/systemd/system/web.service.d/README", false),
            ("/etc/systemd/system.conf.d/x.conf", false),
            ("/etc/systemd/network/lan.network", false),
            ("/srv/web.service", false),
        ] {
            assert_eq!(is_unit(path), expected, "{path}");
        }
    }
}
