//! The one way of a text into a page.

use ccm_model::{encode_base64, steers_terminal};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Serde, Value, ValueKind};
use minijinja::{Environment, Error, ErrorKind, Output, UndefinedBehavior};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

/// Style of all pages.
const STYLE: &str = include_str!("../templates/style.css");
/// Style of a picture that is no part of a page.
const PICTURE_STYLE: &str = include_str!("../templates/picture.css");

/// Templates with their names.
const TEMPLATES: [(&str, &str); 7] = [
    ("run.html", include_str!("../templates/run.html")),
    ("hosts.html", include_str!("../templates/hosts.html")),
    ("card.html", include_str!("../templates/card.html")),
    ("machine.html", include_str!("../templates/machine.html")),
    ("head.html", include_str!("../templates/head.html")),
    ("graph.svg", include_str!("../templates/graph.svg")),
    ("picture.svg", include_str!("../templates/picture.svg")),
];

/// Error of a page: a template of ccm does not fit its values.
#[derive(Debug, thiserror::Error)]
#[error("internal error: the page can't be made")]
pub struct PageError(#[from] Error);

/// Values of a template, with what every page has.
#[derive(Serialize)]
struct PageValues<'v, V> {
    style: &'static str,
    picture_style: &'static str,
    /// Digest of the style, in the form of a Content Security Policy. No other style and no script is allowed.
    style_digest: String,
    page: &'v V,
}

/// Makes a page.
pub(crate) fn render(template: &str, page: &impl Serialize) -> Result<String, PageError> {
    // There are no filters, so that no template can mark a text as safe.
    let mut environment = Environment::empty();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    environment.set_formatter(|out, _, value| write(out, value));
    for (name, text) in TEMPLATES {
        environment.add_template(name, text)?;
    }
    let style_digest = format!("sha256-{}", encode_base64(&Sha256::digest(STYLE.as_bytes())));
    let values =
        Value::from(Serde(&PageValues { style: STYLE, picture_style: PICTURE_STYLE, style_digest, page }));
    // Templates leave out the last line end.
    Ok(environment.get_template(template)?.render(values)? + "\n")
}

/// Writes a value of a template.
fn write(out: &mut Output<'_>, value: &Value) -> Result<(), Error> {
    match (value.kind(), value.as_str()) {
        (_, Some(text)) if text == STYLE || text == PICTURE_STYLE => out.write_str(text),
        (_, Some(text)) => write_text(out, text),
        (ValueKind::Number, _) => write!(out, "{value}"),
        (kind, _) => {
            return Err(Error::new(ErrorKind::BadSerialization, format!("a {kind} is no text")));
        }
    }
    .map_err(Error::from)
}

/// Writes a text so that it means nothing in HTML and SVG, in an attribute with quotes or outside of a tag. Characters
/// that break a line, have no meaning in a page or turn the direction of text are shown as escapes.
fn write_text(out: &mut dyn std::fmt::Write, text: &str) -> std::fmt::Result {
    let mut written = 0;
    for (at, character) in text.char_indices() {
        let escape = match character {
            '&' => "&amp;",
            '<' => "&lt;",
            '>' => "&gt;",
            '"' => "&quot;",
            '\'' => "&#39;",
            _ if steers_terminal(character) || is_no_character(character) => "",
            _ => continue,
        };
        out.write_str(&text[written..at])?;
        written = at + character.len_utf8();
        if escape.is_empty() {
            write!(out, "{}", character.escape_default())?;
        } else {
            out.write_str(escape)?;
        }
    }
    out.write_str(&text[written..])
}

/// Returns `true` for what XML does not allow.
fn is_no_character(character: char) -> bool {
    matches!(character, '\u{fffe}' | '\u{ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_means_anything_in_a_page() {
        for (text, expected) in [
            ("plain ä 日本", "plain ä 日本"),
            ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
            ("\" onload='x' &amp;", "&quot; onload=&#39;x&#39; &amp;amp;"),
            ("a\nb\t\0\u{1b}[31m", r"a\nb\t\u{0}\u{1b}[31m"),
            ("a\u{202e}b\u{2028}c\u{ffff}", r"a\u{202e}b\u{2028}c\u{ffff}"),
        ] {
            let mut out = String::new();
            write_text(&mut out, text).expect("a text");
            assert_eq!(out, expected);
        }
    }

    #[test]
    fn no_template_opens_another_door() {
        for (name, text) in TEMPLATES {
            for word in
                ["<script", "javascript:", "style=\"", "|", "autoescape", "url(", "http-equiv=\"refresh"]
            {
                assert!(!text.contains(word), "{name}: {word}");
            }
            // Every value stands in text or in quotes.
            assert!(!text.contains("={{"), "{name}");
        }
        for word in ["url(", "@import", "</"] {
            assert!(!STYLE.contains(word) && !PICTURE_STYLE.contains(word), "{word}");
        }
    }
}
