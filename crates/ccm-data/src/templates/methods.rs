//! Methods of Python's texts, maps and lists, for templates written for it.

use minijinja::value::{ValueKind, from_args};
use minijinja::{Error, ErrorKind, Value};

use super::MAX_OUTPUT;
use super::error::TemplateFault;
use super::error_conversion::RaisedFault;
use super::filters::replaced;
use super::kinds::{kind_name, require};
use super::meter::{count_built, count_elements, measure};

/// Length of a text whose parts are counted before it is split.
const LONG_TEXT: usize = 1 << 16;

/// Calls a method of a value that has no such member.
pub(super) fn call_method(value: &Value, method: &str, arguments: &[Value]) -> Result<Value, Error> {
    for argument in arguments {
        require(argument)?;
    }
    let built = match value.kind() {
        ValueKind::String => text_method(value.as_str().unwrap_or_default(), method, arguments),
        // A value of the map is not built.
        ValueKind::Map if method == "get" => return map_method(value, method, arguments),
        ValueKind::Map => map_method(value, method, arguments),
        ValueKind::Seq | ValueKind::Iterable => list_method(value, method, arguments),
        _ => Err(Error::from(ErrorKind::UnknownMethod)),
    }?;
    count_built(&built)?;
    Ok(built)
}

fn refused(message: &str) -> Error {
    RaisedFault::new(TemplateFault::Operation(message.to_owned())).into()
}

fn map_method(map: &Value, method: &str, arguments: &[Value]) -> Result<Value, Error> {
    let keys = || map.try_iter();
    match (method, arguments) {
        ("keys", []) => Ok(keys()?.collect()),
        ("values", []) => keys()?.map(|key| map.get_item(&key)).collect(),
        ("items", []) => {
            let item = |key: Value| Ok(Value::from(vec![key.clone(), map.get_item(&key)?]));
            keys()?.map(item).collect()
        }
        ("get", [key] | [key, _]) => {
            let found = map.get_item(key)?;
            let default = arguments.get(1).cloned().unwrap_or_else(|| Value::from(()));
            Ok(if found.is_undefined() { default } else { found })
        }
        _ => Err(Error::from(ErrorKind::UnknownMethod)),
    }
}

fn list_method(list: &Value, method: &str, arguments: &[Value]) -> Result<Value, Error> {
    measure(list)?;
    let mut elements = list.try_iter()?;
    match (method, arguments) {
        ("count", [sought]) => Ok(Value::from(elements.filter(|element| element == sought).count())),
        ("index", [sought]) => {
            let found = elements.position(|element| element == *sought);
            found.map(Value::from).ok_or_else(|| refused("the list does not have this element"))
        }
        _ => Err(Error::from(ErrorKind::UnknownMethod)),
    }
}

/// Returns the words that Python separates by blanks; at most `max` cuts.
fn words(text: &str, max: Option<usize>) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        if max.is_some_and(|max| words.len() == max) {
            words.push(rest);
            break;
        }
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        words.push(&rest[..end]);
        rest = rest[end..].trim_start();
    }
    words
}

fn words_from_the_right(text: &str, max: Option<usize>) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text.trim_end();
    while !rest.is_empty() {
        if max.is_some_and(|max| words.len() == max) {
            words.push(rest);
            break;
        }
        let last = rest.char_indices().rev().find(|(_, letter)| letter.is_whitespace());
        let start = last.map_or(0, |(at, letter)| at + letter.len_utf8());
        words.push(&rest[start..]);
        rest = rest[..start].trim_end();
    }
    words.reverse();
    words
}

/// Cuts a text into lines as Python does.
fn lines(text: &str, keep_ends: bool) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut start = 0;
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        if !matches!(
            letter,
            '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}'
        ) {
            continue;
        }
        let mut end = at + letter.len_utf8();
        if letter == '\r' && letters.next_if(|(_, next)| *next == '\n').is_some() {
            end += 1;
        }
        lines.push(&text[start..if keep_ends { end } else { at }]);
        start = end;
    }
    if start < text.len() {
        lines.push(&text[start..]);
    }
    lines
}

/// Pads a text on both sides as Python does.
pub(super) fn centered(text: &str, width: usize, fill: char) -> String {
    let length = text.chars().count();
    let padding = width.saturating_sub(length);
    let left = padding / 2 + (padding & width & 1);
    let fill = |count: usize| std::iter::repeat_n(fill, count).collect::<String>();
    format!("{}{text}{}", fill(left), fill(padding - left))
}

/// Begins each run of letters with a capital, as Python's method does; Jinja's filter knows apostrophes.
fn title(text: &str) -> String {
    let mut titled = String::with_capacity(text.len());
    let mut in_word = false;
    for letter in text.chars() {
        if in_word {
            titled.extend(letter.to_lowercase());
        } else {
            titled.extend(letter.to_uppercase());
        }
        in_word = letter.is_alphabetic();
    }
    titled
}

fn padding(arguments: &[Value]) -> Result<(usize, char), Error> {
    let (width, fill): (usize, Option<&str>) = from_args(arguments)?;
    let mut letters = fill.unwrap_or(" ").chars();
    let (Some(fill), None) = (letters.next(), letters.next()) else {
        return Err(refused("the filling is one letter"));
    };
    if width > MAX_OUTPUT {
        return Err(RaisedFault::new(TemplateFault::TooMuchOutput).into());
    }
    Ok((width, fill))
}

/// Returns `true` if one of the affixes fits: a text, or a list of them.
fn any_affix(affixes: &Value, fits: impl Fn(&str) -> bool) -> Result<Value, Error> {
    if let Some(affix) = affixes.as_str() {
        return Ok(Value::from(fits(affix)));
    }
    let mut found = false;
    for affix in affixes.try_iter()? {
        found |= fits(affix.as_str().ok_or_else(|| refused("only texts begin or end a text"))?);
    }
    Ok(Value::from(found))
}

fn only_ascii(text: &str, is: fn(&u8) -> bool) -> Result<Value, Error> {
    if !text.is_ascii() {
        return Err(refused("this method knows the letters of ASCII alone"));
    }
    Ok(Value::from(!text.is_empty() && text.bytes().all(|byte| is(&byte))))
}

fn split(text: &str, from_the_right: bool, arguments: &[Value]) -> Result<Value, Error> {
    let (separator, max): (Option<&str>, Option<i64>) = from_args(arguments)?;
    let max = max.and_then(|max| usize::try_from(max).ok());
    let cuts = max.map_or(usize::MAX, |max| max.saturating_add(1));
    // The list takes much more memory than the text.
    if text.len() > LONG_TEXT {
        let parts = match separator {
            Some(separator) if !separator.is_empty() => text.matches(separator).count(),
            _ => text.split_ascii_whitespace().count(),
        };
        count_elements(parts.min(cuts) as u64)?;
    }
    let parts: Vec<&str> = match separator {
        Some("") => return Err(refused("an empty text separates nothing")),
        Some(separator) if from_the_right => {
            let mut parts: Vec<&str> = text.rsplitn(cuts, separator).collect();
            parts.reverse();
            parts
        }
        Some(separator) => text.splitn(cuts, separator).collect(),
        None if from_the_right => words_from_the_right(text, max),
        None => words(text, max),
    };
    Ok(parts.into_iter().map(Value::from).collect())
}

fn partition(text: &str, from_the_right: bool, arguments: &[Value]) -> Result<Value, Error> {
    let (separator,): (&str,) = from_args(arguments)?;
    if separator.is_empty() {
        return Err(refused("an empty text separates nothing"));
    }
    let found = if from_the_right { text.rsplit_once(separator) } else { text.split_once(separator) };
    let parts = match found {
        Some((before, after)) => [before, separator, after],
        None if from_the_right => ["", "", text],
        None => [text, "", ""],
    };
    Ok(parts.into_iter().map(Value::from).collect())
}

fn join(separator: &str, arguments: &[Value]) -> Result<Value, Error> {
    let (list,): (&Value,) = from_args(arguments)?;
    let mut joined = String::new();
    for (index, element) in list.try_iter()?.enumerate() {
        if index > 0 {
            joined += separator;
        }
        let Some(element) = element.as_str() else {
            let message = format!("`join` joins texts, not {}", kind_name(element.kind()));
            let raised = RaisedFault::new(TemplateFault::Operation(message));
            return Err(raised.with_hint("write `list | join(\"…\")`").into());
        };
        joined += element;
        if joined.len() > MAX_OUTPUT {
            return Err(RaisedFault::new(TemplateFault::TooMuchOutput).into());
        }
    }
    Ok(Value::from(joined))
}

fn text_method(text: &str, method: &str, arguments: &[Value]) -> Result<Value, Error> {
    let position = |found: Option<usize>| match found {
        Some(at) => Value::from(text[..at].chars().count()),
        None => Value::from(-1),
    };
    let none = || from_args::<()>(arguments);
    Ok(match method {
        "upper" => none().map(|()| Value::from(text.to_uppercase()))?,
        "lower" => none().map(|()| Value::from(text.to_lowercase()))?,
        "title" => none().map(|()| Value::from(title(text)))?,
        "capitalize" => {
            none()?;
            let mut letters = text.chars();
            let first = letters.next().into_iter().flat_map(char::to_uppercase);
            Value::from(first.collect::<String>() + &letters.as_str().to_lowercase())
        }
        "strip" | "lstrip" | "rstrip" => {
            let (letters,): (Option<&str>,) = from_args(arguments)?;
            let is_dropped = |letter: char| match letters {
                Some(letters) => letters.contains(letter),
                None => letter.is_whitespace(),
            };
            Value::from(match method {
                "strip" => text.trim_matches(is_dropped),
                "lstrip" => text.trim_start_matches(is_dropped),
                _ => text.trim_end_matches(is_dropped),
            })
        }
        "split" | "rsplit" => split(text, method == "rsplit", arguments)?,
        "splitlines" => {
            let (keep_ends,): (Option<bool>,) = from_args(arguments)?;
            lines(text, keep_ends.unwrap_or(false)).into_iter().map(Value::from).collect()
        }
        "partition" | "rpartition" => partition(text, method == "rpartition", arguments)?,
        "startswith" => from_args::<(&Value,)>(arguments)
            .and_then(|(affixes,)| any_affix(affixes, |affix| text.starts_with(affix)))?,
        "endswith" => from_args::<(&Value,)>(arguments)
            .and_then(|(affixes,)| any_affix(affixes, |affix| text.ends_with(affix)))?,
        "removeprefix" => {
            let (affix,): (&str,) = from_args(arguments)?;
            Value::from(text.strip_prefix(affix).unwrap_or(text))
        }
        "removesuffix" => {
            let (affix,): (&str,) = from_args(arguments)?;
            Value::from(text.strip_suffix(affix).unwrap_or(text))
        }
        "replace" => {
            let (old, new, count): (&str, &str, Option<i64>) = from_args(arguments)?;
            Value::from(replaced(text, old, new, count.and_then(|count| usize::try_from(count).ok()))?)
        }
        "join" => join(text, arguments)?,
        "find" => from_args::<(&str,)>(arguments).map(|(part,)| position(text.find(part)))?,
        "rfind" => from_args::<(&str,)>(arguments).map(|(part,)| position(text.rfind(part)))?,
        "count" => from_args::<(&str,)>(arguments).map(|(part,)| Value::from(text.matches(part).count()))?,
        "isdigit" | "isnumeric" | "isdecimal" => {
            none().and_then(|()| only_ascii(text, u8::is_ascii_digit))?
        }
        "isalpha" => none().and_then(|()| only_ascii(text, u8::is_ascii_alphabetic))?,
        "isalnum" => none().and_then(|()| only_ascii(text, u8::is_ascii_alphanumeric))?,
        "center" => padding(arguments).map(|(width, fill)| Value::from(centered(text, width, fill)))?,
        "ljust" | "rjust" => {
            let (width, fill) = padding(arguments)?;
            let missing = width.saturating_sub(text.chars().count());
            let fill: String = std::iter::repeat_n(fill, missing).collect();
            Value::from(if method == "ljust" { format!("{text}{fill}") } else { format!("{fill}{text}") })
        }
        "zfill" => {
            let (width, _) = padding(arguments)?;
            let (sign, digits) = text.split_at(usize::from(text.starts_with(['+', '-'])));
            let zeros = "0".repeat(width.saturating_sub(text.chars().count()));
            Value::from(format!("{sign}{zeros}{digits}"))
        }
        _ => return Err(Error::from(ErrorKind::UnknownMethod)),
    })
}
