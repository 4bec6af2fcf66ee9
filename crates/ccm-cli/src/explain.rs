//! `ccm explain`: the reference of resource types.

use ccm_runtime::process::output_width;
use ccm_runtime::{Explanation, PropertyReference, TypeReference, UnknownName, printed};
use serde_json::json;

use crate::arguments::{DocumentFormat, ExplainArguments};
use crate::console::Console;
use crate::error::{CommandError, CommandResult};
use crate::session;

/// Maximum width of the text in columns.
const WIDTH: usize = 100;

/// Prints the types, one type or one property.
pub(crate) fn run(arguments: &ExplainArguments, console: &Console) -> CommandResult {
    let explanation = session::open(console).explain(arguments.full_name().as_deref())?;
    console.print(&match arguments.output.format {
        DocumentFormat::Text => text(&explanation),
        DocumentFormat::Json => printed::document(&json!(explanation)),
    })
}

impl From<UnknownName> for CommandError {
    fn from(error: UnknownName) -> Self {
        Self::new(error.to_string()).hints(match &error.nearest {
            Some(nearest) => Some(format!("did you mean `{nearest}`?")),
            None => (!error.known.is_empty()).then(|| format!("use one of: {}", error.known.join(", "))),
        })
    }
}

fn text(explanation: &Explanation) -> String {
    match explanation {
        Explanation::Types(types) => type_list(types),
        Explanation::Type(found) => of_type(found),
        Explanation::Property { type_name, path, property } => {
            of_property(&format!("{type_name}.{path}"), property)
        }
        Explanation::Setting { path, property } | Explanation::Common { path, property } => {
            of_property(path, property)
        }
        _ => String::new(),
    }
}

fn type_list(types: &[TypeReference]) -> String {
    let width = types.iter().map(|found| found.name.len()).max().unwrap_or_default();
    // The summary goes on below its first word.
    let line = |found: &TypeReference| {
        let room = output_width().unwrap_or(usize::MAX);
        format!("{:width$}  {}", found.name, wrapped_to(found.summary, width + 2, room).trim_start())
    };
    let lines: String = types.iter().map(line).collect();
    let more = "`ccm explain TYPE` shows a type, and `ccm explain TYPE.PROPERTY` one of its properties.";
    format!("{lines}\n{}", wrapped_to(more, 0, output_width().unwrap_or(usize::MAX)))
}

fn of_type(found: &TypeReference) -> String {
    let mut text = format!("{}\n{}", found.name, wrapped(found.summary, 2));
    if !found.ensures.is_empty() {
        text += &format!("\nensure: {}\n", found.ensures.join(", ").replacen(',', " (default),", 1));
    }
    if !found.providers.is_empty() {
        text += &format!("providers: {}\n", found.providers.join(", "));
    }
    for (heading, properties) in [
        ("Properties", &found.properties),
        ("Properties of every resource", &found.common),
        ("Keys below `ccm` of a manifest", &found.settings),
    ] {
        if !properties.is_empty() {
            text += &format!("\n{heading}:\n{}", property_list(properties));
        }
    }
    text
}

fn of_property(name: &str, property: &PropertyReference) -> String {
    let mut text = format!("{name}: {}\n", property.kind);
    text += &wrapped(&property.meaning, 2);
    let mut notes = Vec::new();
    notes.extend(property.default.map(|default| format!("default: {default}")));
    if property.required {
        notes.push("required".to_owned());
    }
    if !property.aliases.is_empty() {
        notes.push(format!("other names: {}", property.aliases.join(", ")));
    }
    if property.sensitive {
        notes.push("`sensitive: true` hides its value".to_owned());
    }
    for (position, note) in notes.iter().enumerate() {
        text += if position == 0 { "\n" } else { "" };
        text += &wrapped(note, 0);
    }
    if !property.properties.is_empty() {
        text += &format!("\nKeys:\n{}", property_list(&property.properties));
    }
    text
}

fn property_list(properties: &[PropertyReference]) -> String {
    let mut text = String::new();
    for property in properties {
        text += &wrapped(&format!("{}: {}", property.name, property.kind), 2);
        let default = property.default.map(|default| format!(" Default: {default}.")).unwrap_or_default();
        text += &wrapped(&format!("{}{default}", property.meaning), 6);
    }
    text
}

/// Breaks a text into lines for the terminal. Words that are longer than a line are not broken.
fn wrapped(text: &str, indent: usize) -> String {
    wrapped_to(text, indent, output_width().map_or(WIDTH, |width| width.min(WIDTH)))
}

fn wrapped_to(text: &str, indent: usize, limit: usize) -> String {
    let mut wrapped = String::new();
    let mut column = 0;
    for word in text.split_whitespace() {
        let width = word.chars().count();
        if column == 0 || column + 1 + width > limit {
            wrapped += if column == 0 { "" } else { "\n" };
            wrapped += &" ".repeat(indent);
            column = indent;
        } else {
            wrapped += " ";
            column += 1;
        }
        wrapped += word;
        column += width;
    }
    wrapped + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_broken_into_lines_between_words() {
        let long = "x".repeat(WIDTH);
        for (text, expected) in [
            ("a b\nc".to_owned(), "  a b c\n".to_owned()),
            (String::new(), "\n".to_owned()),
            (format!("a {long} b"), format!("  a\n  {long}\n  b\n")),
            (
                "wort ".repeat(30),
                format!(
                    "{}\n{}\n",
                    "  wort wort".to_owned() + &" wort".repeat(17),
                    "  wort".to_owned() + &" wort".repeat(10)
                ),
            ),
        ] {
            assert_eq!(wrapped_to(&text, 2, WIDTH), expected, "{text}");
        }
    }
}
