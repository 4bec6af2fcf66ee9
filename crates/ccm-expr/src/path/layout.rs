//! JSON layout: set by `@ugly` and `@pretty`, visible in `@tostr`.

use serde_json::Value as Json;

use super::limits::{PathLimit, check_depth, check_length};
use crate::{Map, Value};

/// JSON layout of a value.
#[derive(Clone, Debug)]
pub(super) enum Layout {
    /// One line. Data has spaces after commas and colons; the outermost `compact` levels have none.
    Line { compact: u8 },
    /// Any number of lines.
    Pretty(Box<Pretty>),
}

#[derive(Clone, Debug)]
pub(super) struct Pretty {
    pub(super) sort_keys: bool,
    indent: String,
    prefix: String,
    width: usize,
}

impl Layout {
    pub(super) const DATA: Self = Self::Line { compact: 0 };
    pub(super) const UGLY: Self = Self::Line { compact: u8::MAX };

    /// Returns the layout of a part some levels further in.
    pub(super) fn inner(&self, levels: usize) -> Self {
        match self {
            Self::Line { compact: u8::MAX } => Self::UGLY,
            Self::Line { compact } => {
                Self::Line { compact: compact.saturating_sub(u8::try_from(levels).unwrap_or(u8::MAX)) }
            }
            Self::Pretty(options) => Self::Pretty(options.clone()),
        }
    }

    /// Returns the layout of a new list or map with elements of this layout.
    pub(super) fn outer(&self) -> Self {
        match self {
            Self::Line { compact } => Self::Line { compact: compact.saturating_add(1) },
            Self::Pretty(_) => Self::Line { compact: 1 },
        }
    }

    /// Returns the layout of a list or map rebuilt from this layout.
    pub(super) fn rebuilt(&self) -> Self {
        self.inner(1).outer()
    }

    pub(super) fn write(&self, value: &Value) -> Result<String, PathLimit> {
        let mut text = String::new();
        match self {
            Self::Line { compact } => {
                write_line(&mut text, value, usize::from(*compact), *compact == u8::MAX, 0)?;
            }
            Self::Pretty(options) => {
                text += &options.prefix;
                options.write(&mut text, value, 0)?;
                text.push('\n');
            }
        }
        check_length(text.len())?;
        Ok(text)
    }
}

impl Pretty {
    pub(super) fn from_options(options: &Json) -> Self {
        let blank = |name: &str| {
            options.get(name).and_then(Json::as_str).map(|text| {
                text.chars()
                    .filter(|character| matches!(character, ' ' | '\t' | '\n' | '\r'))
                    .collect::<String>()
            })
        };
        Self {
            sort_keys: options.get("sortKeys").and_then(Json::as_bool).unwrap_or(false),
            indent: blank("indent").unwrap_or_else(|| "  ".to_owned()),
            prefix: blank("prefix").unwrap_or_default(),
            width: options
                .get("width")
                .and_then(Json::as_u64)
                .map_or(80, |width| usize::try_from(width).unwrap_or(usize::MAX)),
        }
    }

    fn write(&self, text: &mut String, value: &Value, depth: usize) -> Result<(), PathLimit> {
        check_depth(depth)?;
        check_length(text.len())?;
        match value {
            Value::List(elements) if !elements.is_empty() => {
                if self.fits(text, value)? {
                    return write_line(text, value, 0, false, 0);
                }
                text.push('[');
                for (position, element) in elements.iter().enumerate() {
                    self.start_line(text, position > 0, depth + 1)?;
                    self.write(text, element, depth + 1)?;
                }
                self.start_line(text, false, depth)?;
                text.push(']');
            }
            Value::Map(map) if !map.is_empty() => {
                text.push('{');
                for (position, (key, element)) in map.iter().enumerate() {
                    self.start_line(text, position > 0, depth + 1)?;
                    write_text(text, key);
                    *text += ": ";
                    self.write(text, element, depth + 1)?;
                }
                self.start_line(text, false, depth)?;
                text.push('}');
            }
            simple => write_line(text, simple, 0, false, 0)?,
        }
        Ok(())
    }

    /// Returns `true` if a list without maps fits on the rest of the line.
    fn fits(&self, text: &str, list: &Value) -> Result<bool, PathLimit> {
        let column = text.len() - text.rfind('\n').unwrap_or(0);
        let room = self.width.saturating_sub(column);
        if room <= 3 || has_map(list, room, 0)? {
            return Ok(false);
        }
        let mut line = String::new();
        write_line(&mut line, list, 0, false, 0)?;
        Ok(line.len() <= room)
    }

    fn start_line(&self, text: &mut String, comma: bool, depth: usize) -> Result<(), PathLimit> {
        if comma {
            text.push(',');
        }
        text.push('\n');
        *text += &self.prefix;
        for _ in 0..depth {
            *text += &self.indent;
            check_length(text.len())?;
        }
        Ok(())
    }
}

/// Returns `true` if a list holds a map, or more elements than fit on a line.
fn has_map(value: &Value, room: usize, depth: usize) -> Result<bool, PathLimit> {
    check_depth(depth)?;
    match value {
        Value::Map(_) => Ok(true),
        Value::List(elements) if elements.len() > room => Ok(true),
        Value::List(elements) => {
            for element in elements.iter() {
                if has_map(element, room, depth + 1)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        _ => Ok(false),
    }
}

#[allow(clippy::match_wildcard_for_single_variants, reason = "the arm is for whatever JSON has no word for")]
fn write_line(
    text: &mut String,
    value: &Value,
    compact: usize,
    ugly: bool,
    depth: usize,
) -> Result<(), PathLimit> {
    check_depth(depth)?;
    check_length(text.len())?;
    let spaced = !ugly && depth >= compact;
    let comma = if spaced { ", " } else { "," };
    match value {
        Value::List(elements) => {
            text.push('[');
            for (position, element) in elements.iter().enumerate() {
                *text += if position > 0 { comma } else { "" };
                write_line(text, element, compact, ugly, depth + 1)?;
            }
            text.push(']');
        }
        Value::Map(map) => {
            text.push('{');
            for (position, (key, element)) in map.iter().enumerate() {
                *text += if position > 0 { comma } else { "" };
                write_text(text, key);
                *text += if spaced { ": " } else { ":" };
                write_line(text, element, compact, ugly, depth + 1)?;
            }
            text.push('}');
        }
        Value::Text(content) => write_text(text, content),
        Value::Bool(boolean) => *text += if *boolean { "true" } else { "false" },
        Value::Int(integer) => *text += &integer.to_string(),
        Value::Float(number) => {
            // JSON has no NaN and no infinity.
            let number = serde_json::Number::from_f64(*number);
            *text += &number.map_or_else(|| "null".to_owned(), |number| number.to_string());
        }
        // JSON has no dates, durations or bytes.
        _ => *text += "null",
    }
    Ok(())
}

fn write_text(text: &mut String, content: &str) {
    *text += &Json::from(content).to_string();
}

/// Returns the value with the keys of all maps in order.
pub(super) fn with_sorted_keys(value: &Value, depth: usize) -> Result<Value, PathLimit> {
    check_depth(depth)?;
    Ok(match value {
        Value::List(elements) => {
            let sorted = elements.iter().map(|element| with_sorted_keys(element, depth + 1));
            Value::List(sorted.collect::<Result<Vec<_>, _>>()?.into())
        }
        Value::Map(map) => {
            let sorted =
                map.iter().map(|(key, element)| Ok((key.clone(), with_sorted_keys(element, depth + 1)?)));
            let mut sorted = sorted.collect::<Result<Map, PathLimit>>()?;
            sorted.sort_keys();
            Value::Map(sorted.into())
        }
        other => other.clone(),
    })
}
