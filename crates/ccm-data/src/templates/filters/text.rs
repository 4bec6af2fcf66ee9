//! Filters of texts.

use minijinja::value::Kwargs;
use minijinja::{Environment, Error, Value};

use super::super::MAX_OUTPUT;
use super::super::error::TemplateFault;
use super::super::error_conversion::RaisedFault;
use super::super::meter::add_counted;
use super::super::methods::centered;
use super::{only_text, refused, text_argument, unsuitable};

pub(super) fn add_filters(environment: &mut Environment<'static>) {
    add_counted(environment, "indent", indent);
    add_counted(environment, "replace", replace);
    add_counted(environment, "center", |text: Value, width: Option<usize>| {
        let width = width.unwrap_or(80);
        too_long(width as u64)?;
        Ok::<_, Error>(centered(text_argument("center", &text, &mut String::new())?, width, ' '))
    });
    add_counted(environment, "truncate", truncate);
    add_counted(environment, "wordcount", |text: Value| {
        let mut written = String::new();
        let text = text_argument("wordcount", &text, &mut written)?;
        let is_part = |letter: char| letter == '_' || letter.is_alphanumeric();
        Ok::<_, Error>(text.split(|letter| !is_part(letter)).filter(|word| !word.is_empty()).count())
    });
    add_counted(environment, "basename", |path: Value| {
        let path = only_text("basename", &path)?;
        Ok::<_, Error>(path.rsplit('/').next().unwrap_or_default().to_owned())
    });
    add_counted(environment, "dirname", |path: Value| {
        let path = only_text("dirname", &path)?;
        let head = &path[..path.rfind('/').map_or(0, |slash| slash + 1)];
        let trimmed = head.trim_end_matches('/');
        Ok::<_, Error>(if trimmed.is_empty() { head } else { trimmed }.to_owned())
    });
    add_counted(environment, "quote", |text: Value| {
        let mut written = String::new();
        Ok::<_, Error>(shell_quoted(text_argument("quote", &text, &mut written)?))
    });
    add_counted(environment, "comment", comment);
    add_counted(environment, "filesizeformat", file_size);
}

pub(super) fn too_long(length: u64) -> Result<(), Error> {
    if length > MAX_OUTPUT as u64 {
        Err(RaisedFault::new(TemplateFault::TooMuchOutput).into())
    } else {
        Ok(())
    }
}

/// Indents the lines but the first; the line end at the end stays.
fn indent(
    text: Value,
    width: Option<Value>,
    first: Option<bool>,
    blank: Option<bool>,
    named: Kwargs,
) -> Result<String, Error> {
    let width = width.or(named.get("width")?).unwrap_or_else(|| Value::from(4));
    let first = first.or(named.get("first")?).unwrap_or(false);
    let blank = blank.or(named.get("blank")?).unwrap_or(false);
    named.assert_all_used()?;
    let text = only_text("indent", &text)?;
    let lines = text.bytes().filter(|byte| *byte == b'\n').count() as u64 + 1;
    let before = match (width.as_str(), width.as_usize()) {
        (Some(before), _) => before.to_owned(),
        (None, Some(width)) => {
            too_long(lines.saturating_mul(width as u64).saturating_add(text.len() as u64))?;
            " ".repeat(width)
        }
        _ => return Err(unsuitable("indent", "a width or text", &width)),
    };
    too_long(lines.saturating_mul(before.len() as u64).saturating_add(text.len() as u64))?;
    let mut indented = String::new();
    for (index, line) in text.split('\n').enumerate() {
        if index > 0 {
            indented.push('\n');
        }
        let is_blank = line.is_empty() || line == "\r";
        if if index == 0 { first } else { blank || !is_blank } {
            indented += &before;
        }
        indented += line;
    }
    Ok(indented)
}

fn replace(text: Value, old: Value, new: Value, count: Option<i64>, named: Kwargs) -> Result<String, Error> {
    let count = count.or(named.get("count")?).and_then(|count| usize::try_from(count).ok());
    named.assert_all_used()?;
    let (mut written, mut written_old, mut written_new) = (String::new(), String::new(), String::new());
    let text = text_argument("replace", &text, &mut written)?;
    let old = text_argument("replace", &old, &mut written_old)?;
    let new = text_argument("replace", &new, &mut written_new)?;
    replaced(text, old, new, count)
}

/// Replaces a text the first times, or always; refuses a result that is too long.
pub(in super::super) fn replaced(
    text: &str,
    old: &str,
    new: &str,
    count: Option<usize>,
) -> Result<String, Error> {
    let found = text.matches(old).count().min(count.unwrap_or(usize::MAX)) as u64;
    too_long(
        (text.len() as u64 - found * old.len() as u64).saturating_add(found.saturating_mul(new.len() as u64)),
    )?;
    Ok(match count {
        Some(count) => text.replacen(old, new, count),
        None => text.replace(old, new),
    })
}

fn truncate(
    text: Value,
    length: Option<usize>,
    killwords: Option<bool>,
    end: Option<String>,
    named: Kwargs,
) -> Result<String, Error> {
    let length = length.or(named.get("length")?).unwrap_or(255);
    let killwords = killwords.or(named.get("killwords")?).unwrap_or(false);
    let end = end.or(named.get("end")?).unwrap_or_else(|| "...".to_owned());
    let leeway = named.get::<Option<usize>>("leeway")?.unwrap_or(5);
    named.assert_all_used()?;
    let text = only_text("truncate", &text)?;
    if text.chars().count() <= length.saturating_add(leeway) {
        return Ok(text.to_owned());
    }
    let kept = length.checked_sub(end.chars().count());
    let kept = kept.ok_or_else(|| refused("`truncate` needs a length that has room for the end"))?;
    let start: String = text.chars().take(kept).collect();
    let start = if killwords { &start } else { start.rsplit_once(' ').map_or(&*start, |(words, _)| words) };
    Ok(format!("{start}{end}"))
}

fn shell_quoted(text: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "@%+=:,./-_".contains(letter);
    match text {
        "" => "''".to_owned(),
        text if text.chars().all(is_plain) => text.to_owned(),
        text => format!("'{}'", text.replace('\'', "'\"'\"'")),
    }
}

/// Writes a text as a comment, as Ansible does: with a line before and after it.
fn comment(text: Value, style: Option<String>, named: Kwargs) -> Result<String, Error> {
    let decoration: Option<String> = named.get("decoration")?;
    let prefix: Option<String> = named.get("prefix")?;
    let postfix: Option<String> = named.get("postfix")?;
    named.assert_all_used()?;
    let decoration = match (decoration, style.as_deref()) {
        (Some(decoration), _) => decoration,
        (None, None | Some("plain")) => "# ".to_owned(),
        (None, Some("erlang")) => "% ".to_owned(),
        (None, Some("c")) => "// ".to_owned(),
        _ => return Err(refused("`comment` knows the styles plain, erlang and c")),
    };
    let text = only_text("comment", &text)?;
    let line_count = text.matches('\n').count() as u64 + 1;
    too_long((text.len() as u64).saturating_add(line_count.saturating_mul(decoration.len() as u64)))?;
    let around = |given: Option<String>| given.unwrap_or_else(|| decoration.trim_end().to_owned());
    let (prefix, postfix) = (around(prefix), around(postfix));
    let before = if prefix.is_empty() { String::new() } else { format!("{prefix}\n") };
    let decorated = format!("{decoration}{}", text.replace('\n', &format!("\n{decoration}")));
    let decorated = decorated.replace(&format!("{decoration}\n"), &format!("{}\n", decoration.trim_end()));
    Ok(format!("{before}{decorated}\n{postfix}"))
}

fn file_size(bytes: Value, binary: Option<bool>, named: Kwargs) -> Result<String, Error> {
    let binary = binary.or(named.get("binary")?).unwrap_or(false);
    named.assert_all_used()?;
    let size = f64::try_from(bytes.clone()).map_err(|_| unsuitable("filesizeformat", "a number", &bytes))?;
    let (base, units) = if binary {
        (1024.0, ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB"])
    } else {
        (1000.0, ["kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB"])
    };
    if bytes == Value::from(1) {
        return Ok("1 Byte".to_owned());
    }
    if size < base {
        return Ok(format!("{} Bytes", size.trunc()));
    }
    let mut scaled = size;
    for (index, unit) in units.iter().enumerate() {
        scaled /= base;
        if scaled < base || index + 1 == units.len() {
            return Ok(format!("{scaled:.1} {unit}"));
        }
    }
    Ok(String::new())
}
