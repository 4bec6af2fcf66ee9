//! Values of inputs. Errors name the form of a value and no text of it, which may be a secret.

use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;

use ccm_host::full_signal_name;
use ccm_model::{Diagnostic, Node, NodeValue, ScalarKind, ScalarStyle, escape_control, listed};
use ccm_properties::{PropertyKind, PropertyValue, TextKind, TextValue, ValueError};

/// Maximum length of a text that the kernel takes as one argument, with its zero byte.
const MAX_ARGUMENT: usize = 128 << 10;
/// Maximum length of a path that the kernel takes.
const MAX_PATH: usize = 4096;
/// Maximum length of a word.
const MAX_WORD: usize = 64;

const TEXT: PropertyKind = PropertyKind::Text(TextKind::STRICT);

/// Returns the form of a value, with its article.
fn form(node: &Node) -> &'static str {
    match &node.value {
        NodeValue::List(_) => "a list",
        NodeValue::Map(_) => "an object",
        NodeValue::Scalar(scalar) if scalar.style == ScalarStyle::Quoted => "a text",
        NodeValue::Scalar(scalar) => match scalar.kind() {
            ScalarKind::Null => "null",
            ScalarKind::Bool(_) => "a boolean",
            _ => "a number",
        },
    }
}

fn wrong(node: &Node, expected: &str) -> ValueError {
    ValueError::new(format!("must be {expected}, found {}", form(node))).with_hint(format!("pass {expected}"))
}

/// Returns a text below a length.
fn text(node: &Node, limit: usize) -> Result<&str, ValueError> {
    let scalar = node.as_scalar().filter(|scalar| scalar.style == ScalarStyle::Quoted);
    let text = &*scalar.ok_or_else(|| wrong(node, "a text"))?.text;
    if text.contains('\0') {
        return Err(ValueError::new("contains a NUL byte").with_hint("remove the NUL byte"));
    }
    if text.len() >= limit {
        let error = ValueError::new(format!("has {} bytes; the limit is {}", text.len(), limit - 1));
        return Err(error.with_hint("write the data to a file of the workspace, and pass its path"));
    }
    Ok(text)
}

fn escaped(text: &str) -> String {
    escape_control(&text.chars().take(MAX_WORD).collect::<String>()).into_owned()
}

/// Declares values that are decoded from one node.
macro_rules! values {
    ($($(#[doc = $line:literal])* $name:ident $(<const $limit:ident: $number:ty>)? ($value:ty): $kind:expr, $decode:expr;)*) => {$(
        $(#[doc = $line])*
        #[derive(Debug)]
        pub(crate) struct $name $(<const $limit: $number>)? (pub $value);

        impl $(<const $limit: $number>)? PropertyValue for $name $(<$limit>)? {
            const KIND: PropertyKind = $kind;

            fn decode(node: &Node, errors: &mut Vec<Diagnostic>) -> Option<Self> {
                let decode: fn(&Node) -> Result<$value, ValueError> = $decode;
                decode(node).map(Self).map_err(|error| errors.push(error.at(node.span))).ok()
            }
        }
    )*};
}

values! {
    /// Text below a length in bytes.
    InputText<const LIMIT: usize>(String): TEXT, |node| text(node, LIMIT).map(str::to_owned);
    /// Text below a length in bytes that is not blank.
    FilledText<const LIMIT: usize>(String): TEXT, |node| match text(node, LIMIT)? {
        blank if blank.trim().is_empty() => Err(ValueError::new("is empty").with_hint("write a text")),
        text => Ok(text.to_owned()),
    };
    /// Path, absolute or relative.
    InputPath(String): TEXT, |node| match text(node, MAX_PATH)? {
        "" => Err(ValueError::new("is empty").with_hint("write a path, or leave it out")),
        path => Ok(path.to_owned()),
    };
    /// Path of a manifest.
    ManifestPath(String): TEXT, |node| match text(node, MAX_PATH)? {
        "" => Err(ValueError::new("is empty").with_hint("write the path of a manifest")),
        "-" => Err(ValueError::new("can't be standard input")
            .with_hint("write the manifest to a file, and pass its path")),
        path => Ok(path.to_owned()),
    };
    /// Id of an intent.
    IntentId(String): TEXT, |node| {
        let id = text(node, MAX_WORD)?;
        if !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
            return Ok(id.to_owned());
        }
        let hint = "pass the value of `intent` from the answer that asked for an approval";
        Err(ValueError::new("is not an id").with_hint(hint))
    };
    /// Full name of a signal, given as a name or a number.
    SignalName(&'static str): PropertyKind::Text(TextKind { types: &["string", "integer"], ..TextKind::ANY }), |node| {
        let name = match form(node) {
            "a number" => node.as_text().unwrap_or_default(),
            _ => text(node, MAX_WORD)?,
        };
        full_signal_name(name).ok_or_else(|| {
            ValueError::new(format!("can't be `{}`", escaped(name)))
                .with_hint("use a name such as `TERM`, `INT`, `HUP` or `KILL`")
        })
    };
    /// Number of a process.
    ProcessNumber(i32): positive(i32::MAX as i64), |node| whole(node, i32::MAX);
    /// Number of runs.
    RunCount(usize): positive(1000), |node| whole(node, 1000);
    /// Time limit in milliseconds, of the field `timeoutMs`.
    Milliseconds<const MAX: i64>(Duration): positive(MAX), |node| {
        let number = number(node, "a whole number of milliseconds")?;
        let whole = number.text.parse().ok().or_else(|| {
            #[expect(clippy::cast_possible_truncation, reason = "the number is within the range")]
            let whole = (number.value.fract() == 0.0 && number.value.abs() < 1e15).then_some(number.value as i64);
            whole
        });
        match whole.filter(|millis| (1..=MAX).contains(millis)) {
            Some(millis) => Ok(Duration::from_millis(millis.unsigned_abs())),
            None => Err(out_of_range(number.text, &MAX).with_hint(if number.value < 1.0 {
                "leave out `timeoutMs` for the usual limit; no call is endless".to_owned()
            } else if number.value.fract() != 0.0 {
                "use a whole number of milliseconds".to_owned()
            } else {
                format!("use at most {MAX} milliseconds, and split longer work into several calls")
            })),
        }
    };
}

const fn positive(max: i64) -> PropertyKind {
    PropertyKind::Integer { min: Some(1), max: Some(max) }
}

/// Returns a whole number from 1 on.
fn whole<T: Copy + Display + From<u8> + FromStr + PartialOrd>(node: &Node, max: T) -> Result<T, ValueError> {
    let found = number(node, "a whole number")?.text;
    match found.parse() {
        Ok(whole) if (T::from(1)..=max).contains(&whole) => Ok(whole),
        _ => Err(out_of_range(found, &max).with_hint(format!("use a number between 1 and {max}"))),
    }
}

/// Number as it was written.
struct WrittenNumber<'n> {
    text: &'n str,
    value: f64,
}

fn number<'n>(node: &'n Node, expected: &str) -> Result<WrittenNumber<'n>, ValueError> {
    let text = node.as_text().filter(|_| form(node) == "a number").ok_or_else(|| wrong(node, expected))?;
    Ok(WrittenNumber { text, value: text.parse().unwrap_or(f64::NAN) })
}

fn out_of_range(found: &str, max: &dyn Display) -> ValueError {
    ValueError::new(format!("must be a whole number between 1 and {max}, found {found}"))
}

/// One of the words of `T`.
#[derive(Debug)]
pub(crate) struct Word<T>(pub T);

impl<T: TextValue> PropertyValue for Word<T> {
    const KIND: PropertyKind = T::KIND;

    fn decode(node: &Node, errors: &mut Vec<Diagnostic>) -> Option<Self> {
        let decoded = text(node, MAX_PATH).and_then(|word| {
            T::from_text(word).map_err(|_| {
                let words = if let PropertyKind::Words(words) = T::KIND { words } else { &[] };
                let error = ValueError::new(format!("can't be `{}`", escaped(word)));
                error.with_hint(format!("use {}", listed(words, "or")))
            })
        });
        decoded.map(Self).map_err(|error| errors.push(error.at(node.span))).ok()
    }
}

/// Arguments of a program.
#[derive(Debug)]
pub(crate) struct Arguments(pub Vec<String>);

impl PropertyValue for Arguments {
    const KIND: PropertyKind = PropertyKind::List(&TEXT);

    fn decode(node: &Node, errors: &mut Vec<Diagnostic>) -> Option<Self> {
        let Some(list) = node.as_list() else {
            errors.push(wrong(node, "a list of texts").at(node.span));
            return None;
        };
        let argument = |node: &Node| {
            text(node, MAX_ARGUMENT).map(str::to_owned).map_err(|error| errors.push(error.at(node.span)))
        };
        list.iter().map(argument).collect::<Result<_, _>>().map(Self).ok()
    }
}

/// Variables of an environment, sorted by name.
#[derive(Debug)]
pub(crate) struct Variables(pub Vec<(String, String)>);

impl PropertyValue for Variables {
    const KIND: PropertyKind = PropertyKind::Map { keys: None, values: &TEXT, min: 0 };

    fn decode(node: &Node, errors: &mut Vec<Diagnostic>) -> Option<Self> {
        let Some(map) = node.as_map() else {
            errors.push(wrong(node, "an object of texts").at(node.span));
            return None;
        };
        let mut variables = Vec::with_capacity(map.entries().len());
        for entry in map.entries() {
            let name = &*entry.key.text;
            if !is_variable_name(name) {
                let error = ValueError::new(format!("has a variable with the name \"{}\"", escaped(name)));
                let hint = "use letters, digits and `_`, and begin with no digit";
                errors.push(error.with_hint(hint).at(node.span));
                return None;
            }
            match text(&entry.value, MAX_ARGUMENT) {
                Ok(value) => variables.push((name.to_owned(), value.to_owned())),
                Err(error) => {
                    errors.push(error.at(entry.value.span));
                    return None;
                }
            }
        }
        variables.sort();
        Some(Self(variables))
    }
}

/// Returns `true` for a name that every shell and program understands.
fn is_variable_name(name: &str) -> bool {
    let mut characters = name.chars();
    characters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && characters.all(|character| character.is_ascii_alphanumeric() || character == '_')
        && name.len() < 256
}
