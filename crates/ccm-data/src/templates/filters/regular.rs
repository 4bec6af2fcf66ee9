//! Filters with regular expressions.

use minijinja::value::{Kwargs, Rest};
use minijinja::{Environment, Error, Value};
use regex::{Captures, Regex, RegexBuilder};

use super::super::error::TemplateFault;
use super::super::error_conversion::RaisedFault;
use super::super::meter::add_counted;
use super::text::too_long;
use super::{refused, text_argument};

/// Maximum size of a compiled expression.
const MAX_REGEX: usize = 1 << 20;

pub(super) fn add_filters(environment: &mut Environment<'static>) {
    add_counted(environment, "regex_replace", replace);
    add_counted(environment, "regex_search", search);
    add_counted(environment, "regex_findall", find_all);
}

/// Options that all the filters have.
struct RegexOptions {
    ignore_case: bool,
    multiline: bool,
}

impl RegexOptions {
    fn read(named: &Kwargs) -> Result<Self, Error> {
        Ok(Self {
            ignore_case: named.get::<Option<bool>>("ignorecase")?.unwrap_or(false),
            multiline: named.get::<Option<bool>>("multiline")?.unwrap_or(false),
        })
    }

    fn compile(&self, pattern: &str, text: &str) -> Result<Regex, Error> {
        let mut builder = RegexBuilder::new(pattern);
        builder.case_insensitive(self.ignore_case).multi_line(self.multiline).size_limit(MAX_REGEX);
        let Ok(regex) = builder.build() else {
            let fault =
                TemplateFault::Operation("this is no regular expression that ccm supports".to_owned());
            let hint = "look-around and `\\1` in the expression are not supported";
            return Err(RaisedFault::new(fault).with_hint(hint).into());
        };
        // In Python, `$` is also before a line end at the end.
        if !self.multiline && text.ends_with('\n') && pattern.replace("\\$", "").contains('$') {
            let fault =
                TemplateFault::Operation("`$` in a text that ends with a line end is ambiguous".to_owned());
            let hint = "remove the line end with `| trim`, or write `multiline=true`";
            return Err(RaisedFault::new(fault).with_hint(hint).into());
        }
        Ok(regex)
    }
}

fn replace(
    text: Value,
    pattern: String,
    replacement: Option<String>,
    named: Kwargs,
) -> Result<String, Error> {
    let options = RegexOptions::read(&named)?;
    let replacement = replacement.or(named.get("replacement")?).unwrap_or_default();
    let count = named.get::<Option<usize>>("count")?.filter(|count| *count > 0).unwrap_or(usize::MAX);
    named.assert_all_used()?;
    let mut written = String::new();
    let text = text_argument("regex_replace", &text, &mut written)?;
    let regex = options.compile(&pattern, text)?;
    let replacement = parts(&replacement)?;
    let mut replaced = String::new();
    let (mut copied, mut at) = (0, 0);
    for _ in 0..count {
        // Python replaces an empty match right after another match, too.
        let Some(captures) = (at <= text.len()).then(|| regex.captures_at(text, at)).flatten() else { break };
        let Some(whole) = captures.get(0) else { break };
        replaced += &text[copied..whole.start()];
        for part in &replacement {
            replaced += match part {
                ReplacementPart::Text(text) => text,
                ReplacementPart::Group(group) => group_of(&captures, group)?.unwrap_or_default(),
            };
        }
        too_long(replaced.len() as u64)?;
        copied = whole.end();
        at = if whole.is_empty() {
            copied + text[copied..].chars().next().map_or(1, char::len_utf8)
        } else {
            copied
        };
    }
    replaced += &text[copied.min(text.len())..];
    Ok(replaced)
}

enum ReplacementPart {
    Text(String),
    /// Number or name of a group.
    Group(String),
}

/// Reads `\1`, `\g<1>` and `\g<name>`.
fn parts(replacement: &str) -> Result<Vec<ReplacementPart>, Error> {
    let mut parts = Vec::new();
    let mut rest = replacement;
    while let Some(backslash) = rest.find('\\') {
        parts.push(ReplacementPart::Text(rest[..backslash].to_owned()));
        rest = &rest[backslash + 1..];
        let digits = rest.bytes().take(2).take_while(u8::is_ascii_digit).count();
        let letter = rest.chars().next();
        let (part, length) = if digits > 0 && !rest.starts_with('0') {
            (ReplacementPart::Group(rest[..digits].to_owned()), digits)
        } else if let Some((name, _)) = rest.strip_prefix("g<").and_then(|rest| rest.split_once('>')) {
            (ReplacementPart::Group(name.to_owned()), name.len() + 3)
        } else {
            let text = match letter {
                Some('n') => "\n",
                Some('t') => "\t",
                Some('r') => "\r",
                Some('\\') => "\\",
                _ => return Err(refused("bad escape in the replacement of `regex_replace`")),
            };
            (ReplacementPart::Text(text.to_owned()), 1)
        };
        parts.push(part);
        rest = &rest[length..];
    }
    parts.push(ReplacementPart::Text(rest.to_owned()));
    Ok(parts)
}

/// Returns the text of a group; `None` if the group took no part in the match.
fn group_of<'t>(captures: &Captures<'t>, group: &str) -> Result<Option<&'t str>, Error> {
    if let Ok(number) = group.parse::<usize>() {
        if number < captures.len() {
            return Ok(captures.get(number).map(|group| group.as_str()));
        }
    } else if let Some(found) = captures.name(group) {
        return Ok(Some(found.as_str()));
    }
    Err(refused("the regular expression has no such group"))
}

fn search(text: Value, pattern: String, groups: Rest<String>, named: Kwargs) -> Result<Value, Error> {
    let options = RegexOptions::read(&named)?;
    named.assert_all_used()?;
    let mut written = String::new();
    let text = text_argument("regex_search", &text, &mut written)?;
    let regex = options.compile(&pattern, text)?;
    let Some(captures) = regex.captures(text) else { return Ok(Value::from(())) };
    if groups.is_empty() {
        return Ok(captures.get(0).map_or_else(|| Value::from(()), |whole| Value::from(whole.as_str())));
    }
    let mut found = Vec::new();
    for group in groups.iter() {
        let name = group.strip_prefix("\\g<").and_then(|name| name.strip_suffix('>'));
        let name = name.or_else(|| group.strip_prefix('\\'));
        let name =
            name.ok_or_else(|| refused("`regex_search` takes groups as `\"\\\\1\"` or `\"\\\\g<name>\"`"))?;
        found.push(group_of(&captures, name)?.map_or_else(|| Value::from(()), Value::from));
    }
    Ok(Value::from(found))
}

fn find_all(text: Value, pattern: String, named: Kwargs) -> Result<Vec<Value>, Error> {
    let options = RegexOptions::read(&named)?;
    named.assert_all_used()?;
    let mut written = String::new();
    let text = text_argument("regex_findall", &text, &mut written)?;
    let regex = options.compile(&pattern, text)?;
    let group = |captures: &Captures<'_>, index| {
        Value::from(captures.get(index).map(|group| group.as_str()).unwrap_or_default())
    };
    Ok(regex
        .captures_iter(text)
        .map(|captures| match captures.len() {
            1 => group(&captures, 0),
            2 => group(&captures, 1),
            length => Value::from((1..length).map(|index| group(&captures, index)).collect::<Vec<_>>()),
        })
        .collect())
}
