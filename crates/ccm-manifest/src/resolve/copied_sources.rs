//! Warnings about files that are copied as they are, although they look like templates.

use std::path::Path;

use ccm_model::{Diagnostic, DiagnosticKind, Span};

use crate::resolve::messages::shown;

/// Maximum size of a file that is searched, in bytes. Templates are small.
pub(crate) const MAX_BYTES: u64 = 64 << 10;

/// Maximum number of files of a copied directory that are searched.
pub(crate) const MAX_FILES: usize = 100;

/// Endings of the names of templates: those of ccm, and those of programs with the same braces. Web pages are mostly
/// templates of the program that serves them.
const TEMPLATES: [&str; 12] =
    ["j2", "jinja", "jinja2", "erb", "ejs", "jsp", "html", "htm", "liquid", "njk", "sls", "twig"];

/// Names of ccm that begin an expression.
const EXPRESSIONS: [&str; 6] = ["Data.", "data.", "Facts.", "facts.", "Environ.", "lookup("];

/// Words that begin a block of a template.
const BLOCKS: [&str; 3] = ["if ", "for ", "set "];

/// Maximum length of an expression in a message, in bytes.
const MAX_SHOWN: usize = 60;

/// Returns `true` if a file may be taken for a template by mistake: its name is not that of one.
pub(crate) fn may_be_mistaken(written: &str) -> bool {
    let ending = Path::new(written).extension();
    !ending.is_some_and(|ending| TEMPLATES.iter().any(|known| ending == *known))
}

/// Returns the warning about a file that holds expressions of ccm.
pub(crate) fn warning(
    content: &[u8],
    written: &str,
    property: &'static str,
    span: Span,
) -> Option<Diagnostic> {
    let at = expression_of_ccm(content)?;
    let line = 1 + memchr::memchr_iter(b'\n', &content[..at]).count();
    let rest = String::from_utf8_lossy(&content[at..content.len().min(at + MAX_SHOWN)]);
    let first = rest.lines().next().unwrap_or_default();
    // Behind the name of an expression without an end there may be a secret.
    let expression = match (first.find("}}"), first.find(['.', '('])) {
        _ if first.starts_with("{%") => first.find("%}").map_or("{%", |end| &first[..end + 2]),
        (Some(end), _) => &first[..end + 2],
        (None, Some(end)) => &first[..=end],
        (None, None) => "{{",
    };
    let (written, expression) = (shown(written), shown(expression));
    let message = format!("`{written}` is copied as it is, with `{expression}` in line {line}");
    let warning = Diagnostic::warning(DiagnosticKind::NoEffect, span, message);
    let warning = Diagnostic { property: Some(property.into()), ..warning };
    Some(warning.with_hint(format!("call the file `{written}.j2`, which makes it a template")))
}

/// Returns the position of the first expression with a name of ccm, or block of a template.
fn expression_of_ccm(content: &[u8]) -> Option<usize> {
    memchr::memchr_iter(b'{', content).find(|at| {
        let rest = &content[at + 1..];
        let (words, rest): (&[&str], _) = match rest.first() {
            Some(b'{') => (&EXPRESSIONS, &rest[1..]),
            Some(b'%') => (&BLOCKS, &rest[1..]),
            _ => return false,
        };
        let rest = rest.strip_prefix(b"-").unwrap_or(rest).trim_ascii_start();
        words.iter().any(|word| rest.starts_with(word.as_bytes()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_of_other_programs_are_none() {
        for (content, expected) in [
            ("port {{ Data.port }}", Some(5)),
            ("{{Facts.host.info.os}}", Some(0)),
            ("{{- Data.port -}}", Some(0)),
            ("{{ x }} {{\n  Data.port }}", Some(8)),
            // A template of Go, such as those of Vault and Consul.
            ("{{ .Data.port }}", None),
            ("{{ Database.port }}", None),
            ("{{ Data }} {{{ mustache }}}", None),
            ("a\n{% if Data.tls %}", Some(2)),
            ("{%- for host in Data.hosts %}", Some(0)),
            ("{%set x = 1 %}", Some(0)),
            ("{{ data.port }}", Some(0)),
            ("{{ facts.host }}", Some(0)),
            ("{{ Environ.HOME }}", Some(0)),
            ("{{ lookup('data.port') }}", Some(0)),
            // A format of a log, and of a shell.
            ("%{data.x} {%iff %} ${#if }", None),
            ("{ Data.port }", None),
            ("", None),
        ] {
            assert_eq!(expression_of_ccm(content.as_bytes()), expected, "{content}");
        }
    }
}
