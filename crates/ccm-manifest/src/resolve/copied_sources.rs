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
const TEMPLATES: [&str; 10] = ["j2", "erb", "ejs", "jsp", "html", "htm", "liquid", "njk", "sls", "twig"];

/// Names of ccm that begin an expression.
const EXPRESSIONS: [&str; 6] = ["Data.", "data.", "Facts.", "facts.", "Environ.", "lookup("];

/// Endings of the names of templates of Jinja, which other programs read too: what is theirs has no names of ccm.
const JINJA: [&str; 2] = ["jinja", "jinja2"];

/// Names that no other program has.
const NAMES: [&str; 3] = ["Data.", "Facts.", "Environ."];

/// Ending of a text with expressions.
const TEXT_WITH_EXPRESSIONS: &str = ".templ";

/// Endings of the names of templates of Puppet and Chef, which only they fill in.
pub(crate) const OF_OTHER_TOOLS: [&str; 2] = ["erb", "epp"];

/// Words that begin a block of a template.
const BLOCKS: [&str; 3] = ["if ", "for ", "set "];

/// Maximum length of an expression in a message, in bytes.
const MAX_SHOWN: usize = 60;

/// Returns `true` if a file may be taken for a template by mistake: its name is not that of one.
pub(crate) fn may_be_mistaken(written: &str) -> bool {
    let ending = Path::new(written).extension();
    !ending.is_some_and(|ending| TEMPLATES.iter().any(|known| ending == *known))
}

/// Returns `true` if a file may be a template of another configuration tool. A copy with the same ending stays a template, for
/// the program that reads it there.
pub(crate) fn is_of_other_tool(written: &str, target: &Path) -> bool {
    let ending =
        Path::new(written).extension().filter(|ending| OF_OTHER_TOOLS.iter().any(|known| ending == known));
    ending.is_some() && target.extension() != ending
}

/// Returns the warning about a template of another configuration tool, with its tags.
pub(crate) fn foreign_template(
    content: &[u8],
    written: &str,
    property: &'static str,
    span: Span,
) -> Option<Diagnostic> {
    let at = memchr::memmem::find(content, b"<%")?;
    let line = 1 + memchr::memchr_iter(b'\n', &content[..at]).count();
    let message = format!("`{}` is copied as it is, with `<% … %>` in line {line}", shown(written));
    let warning = Diagnostic::warning(DiagnosticKind::NoEffect, span, message);
    let warning = Diagnostic { property: Some(property.into()), ..warning };
    Some(warning.with_hint(as_jinja(written)))
}

/// Returns advice to write a template of another tool for Jinja.
pub(crate) fn as_jinja(written: &str) -> String {
    let name = Path::new(written).with_extension("j2");
    format!(
        "write it as a Jinja template, `{}`, with `{{{{ Data.KEY }}}}` or `{{{{ Facts.KEY }}}}` for a value",
        shown(&name.display().to_string())
    )
}

/// Returns the warning about a file that holds expressions of ccm.
pub(crate) fn warning(
    content: &[u8],
    written: &str,
    property: &'static str,
    span: Span,
) -> Option<Diagnostic> {
    let ending = Path::new(written).extension();
    let is_jinja = ending.is_some_and(|ending| JINJA.iter().any(|known| ending.eq_ignore_ascii_case(known)));
    let is_template = is_jinja || ending.is_some_and(|ending| ending.eq_ignore_ascii_case("j2"));
    let at = expression_of_ccm(content, is_jinja)?;
    let line = 1 + memchr::memchr_iter(b'\n', &content[..at]).count();
    let rest = String::from_utf8_lossy(&content[at..content.len().min(at + MAX_SHOWN)]);
    let first = rest.lines().next().unwrap_or_default();
    // Behind the name of an expression without an end there may be a secret.
    let expression = match (first.find("}}"), first.find(['.', '('])) {
        _ if first.starts_with('$') => first.find('}').map_or("${", |end| &first[..=end]),
        _ if first.starts_with("{%") => first.find("%}").map_or("{%", |end| &first[..end + 2]),
        (Some(end), _) => &first[..end + 2],
        (None, Some(end)) => &first[..=end],
        (None, None) => "{{",
    };
    let (written, expression) = (shown(written), shown(expression));
    let message = format!("`{written}` is copied as it is, with `{expression}` in line {line}");
    let warning = Diagnostic::warning(DiagnosticKind::NoEffect, span, message);
    let warning = Diagnostic { property: Some(property.into()), ..warning };
    let ending = if written.ends_with(TEXT_WITH_EXPRESSIONS) { "" } else { TEXT_WITH_EXPRESSIONS };
    Some(warning.with_hint(if first.starts_with('$') || ending.is_empty() {
        let call =
            format!("write `content: \"{{{{ template('{written}{ending}') }}}}\"` in place of `{property}`");
        if ending.is_empty() { call } else { format!("call the file `{written}{ending}`, and {call}") }
    } else {
        let stem = if is_template {
            written.rsplit_once('.').map_or(&*written, |(stem, _)| stem)
        } else {
            &*written
        };
        format!("call the file `{stem}.j2`, which makes it a template")
    }))
}

/// Returns the position of the first expression with a name of ccm, or block of a template.
fn expression_of_ccm(content: &[u8], is_jinja: bool) -> Option<usize> {
    let found = memchr::memchr_iter(b'{', content).find(|at| {
        let rest = &content[at + 1..];
        let (words, rest): (&[&str], _) = match rest.first() {
            Some(b'{') if is_jinja => (&NAMES, &rest[1..]),
            Some(b'{') => (&EXPRESSIONS, &rest[1..]),
            Some(b'%') if !is_jinja => (&BLOCKS, &rest[1..]),
            _ if content[..*at].ends_with(b"$") => (&NAMES, rest),
            _ => return false,
        };
        let rest = rest.strip_prefix(b"-").unwrap_or(rest).trim_ascii_start();
        words.iter().any(|word| rest.starts_with(word.as_bytes()))
    })?;
    let is_single = !matches!(content.get(found + 1), Some(b'{' | b'%'));
    Some(if is_single { found - 1 } else { found })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_of_other_tools_lose_their_ending() {
        for (written, target, expected) in [
            ("x.conf.erb", "/etc/x.conf", true),
            ("x.epp", "/etc/x", true),
            ("x.epp", "/etc/x.conf", true),
            // Code of a program, and a template for that program.
            ("views/index.erb", "/srv/app/views/index.erb", false),
            ("x.conf", "/etc/x.conf", false),
            ("x.html", "/srv/x", false),
        ] {
            assert_eq!(is_of_other_tool(written, Path::new(target)), expected, "{written} {target}");
        }
        let found = |text: &str| foreign_template(text.as_bytes(), "a/x.conf.erb", "source", Span::default());
        let warning = found("a\n<%= @port %>\n").unwrap();
        assert_eq!(warning.message, "`a/x.conf.erb` is copied as it is, with `<% … %>` in line 2");
        assert!(warning.hints[0].contains("`a/x.conf.j2`"), "{:?}", warning.hints);
        assert_eq!(found("a < %b"), None);
    }

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
            ("port ${Data.port}", Some(5)),
            ("${ Facts.host.name }", Some(0)),
            ("${data.port} ${DATA} ${#Data}", None),
            ("", None),
        ] {
            assert_eq!(expression_of_ccm(content.as_bytes(), false), expected, "{content}");
        }
        for (content, expected) in
            [("port {{ Data.port }}", Some(5)), ("{% if tls %}{{ states('light') }}{% endif %}", None)]
        {
            assert_eq!(expression_of_ccm(content.as_bytes(), true), expected, "{content}");
        }
    }
}
