//! Which line of a template wrote which line of its output.
//!
//! The template is rendered a second time with invisible marks in its literal text, each saying on which line
//! it stands. Marks come through loops, macros and blocks as the text around them does. They may keep blanks
//! from being trimmed, so the two outputs are compared without blanks.

use super::TemplateScope;
use super::error::TemplateError;
use super::render::render;
use super::scan::{Piece, scan};

/// Marks are characters of the two planes that nobody assigns meanings to, from here on.
const FIRST_MARK: u32 = 0xF_0000;

/// How many lines can be marked.
const MOST_LINES: usize = 0x1_FFFE;

/// Renders a template and tells, for each line of the output, the line of the template that wrote it.
///
/// Lines count from 1. What an include writes comes from the line of its tag, what a value writes from the line
/// of its expression; a blank line belongs to the line before it. There is no map for a template that
/// looks at its own text so closely that the marks would change what it writes.
pub fn render_with_lines(
    name: &str,
    text: &str,
    scope: &dyn TemplateScope,
) -> Result<(String, Option<Vec<usize>>), TemplateError> {
    let output = render(name, text, scope)?;
    let map = marked(text).filter(|_| !output.contains(is_mark)).and_then(|marked| {
        let marked = render(name, &marked, scope).ok()?;
        line_map(&output, &marked)
    });
    Ok((output, map))
}

fn is_mark(character: char) -> bool {
    u32::from(character) >= FIRST_MARK
}

/// The mark of a line, counted from 1.
fn mark(line: usize) -> Option<char> {
    char::from_u32(FIRST_MARK + u32::try_from(line - 1).ok()?)
}

/// Puts marks where literal text begins and where a line begins in it.
fn marked(text: &str) -> Option<String> {
    let scan = scan(text);
    if !scan.complete || text.contains(is_mark) || text.lines().count() > MOST_LINES {
        return None;
    }
    let mut marked = String::with_capacity(text.len() * 2);
    let mut copied = 0;
    let mut line = 1;
    for piece in scan.pieces {
        let Piece::Literal(range) = piece else { continue };
        let tag = &text[copied..range.start];
        marked += tag;
        line += tag.matches('\n').count();
        copied = range.end;
        marked.push(mark(line)?);
        for part in text[range].split_inclusive('\n') {
            marked += part;
            if part.ends_with('\n') {
                line += 1;
                marked.push(mark(line)?);
            }
        }
    }
    Some(marked)
}

/// Follows both outputs; none if they are not the same apart from marks and blanks.
fn line_map(output: &str, marked: &str) -> Option<Vec<usize>> {
    let mut current = 1;
    let mut marked = marked.chars();
    let mut map = Vec::new();
    let mut next = || loop {
        match marked.next() {
            Some(character) if is_mark(character) => {
                current = (u32::from(character) - FIRST_MARK) as usize + 1;
            }
            Some(character) if character.is_whitespace() => {}
            character => return character.map(|character| (character, current)),
        }
    };
    let mut last = 1;
    for line in output.split_inclusive('\n') {
        let mut first = None;
        for character in line.chars().filter(|character| !character.is_whitespace()) {
            let (same, from) = next()?;
            if same != character {
                return None;
            }
            first = first.or(Some(from));
        }
        last = first.unwrap_or(last);
        map.push(last);
    }
    next().is_none().then_some(map)
}

#[cfg(test)]
mod tests {
    use ccm_expr::Value;
    use proptest::prelude::*;

    use super::*;
    use crate::templates::ScopeError;

    struct Scope;

    impl TemplateScope for Scope {
        fn name(&self, name: &str) -> Option<Value> {
            (name == "Data").then(|| {
                Value::map([
                    ("list", Value::list((1..4).map(Value::Int))),
                    ("lines", Value::text("one\n\ntwo")),
                    ("mark", Value::text("\u{F0001}")),
                ])
            })
        }

        fn call(&self, _: &str, _: &[Value]) -> Result<Value, ScopeError> {
            Err(ScopeError::new("no functions"))
        }

        fn include(&self, path: &str) -> Result<Option<String>, ScopeError> {
            Ok(match path {
                "part" => Some("first\nsecond\n".to_owned()),
                "macros" => Some("{% macro m() %}x\ny{% endmacro %}".to_owned()),
                "base" => Some("head\n{% block b %}{% endblock %}\nfoot\n".to_owned()),
                _ => None,
            })
        }
    }

    #[test]
    fn lines_come_from_where_they_were_written() {
        for (text, expected) in [
            ("", vec![]),
            ("a", vec![1]),
            ("a\nb\n", vec![1, 2]),
            ("\n\na\n", vec![1, 1, 3]),
            ("a\n\n\nb", vec![1, 1, 1, 4]),
            ("{# c\nc #}a\nb", vec![2, 3]),
            ("{{ data.list }}\nb", vec![1, 2]),
            ("a\n{{ data.lines }}\nb", vec![1, 2, 2, 2, 3]),
            ("{{\n\n1 }}\na", vec![1, 4]),
            ("{{\n1 }}{{\n2 }}a", vec![1]),
            ("{% for i in data.list %}\n- {{ i }}\n{% endfor %}\nend", vec![1, 2, 2, 2, 2, 2, 2, 4]),
            ("{% for i in data.list -%}\n- {{ i }}\n{% endfor -%}\nend", vec![2, 2, 2, 4]),
            ("{%- for i in [] %}\n- {{ i }}\n{%- endfor %}\nend", vec![1, 4]),
            ("{% for i in data.list -%}\n{{ i }}\n{% endfor -%}\n{{ 9 }}", vec![2, 2, 2, 4]),
            ("{% if false %}\na\n{% else %}\nb\n{% endif %}c", vec![1, 4, 5]),
            ("{% set x %}\na\n{% endset %}\n{{ x }}", vec![1, 1, 2]),
            ("{% macro m(x) %}\na{{ x }}{% endmacro %}\nb{{ m(1) }}\nc{{ m(2) }}", vec![1, 3, 2, 4, 2]),
            ("a\n{% raw %}{{\n}}{% endraw %}\nb", vec![1, 2, 3, 4]),
            ("a\n{%- raw -%}\n  b\n  c {%- endraw %}\nd", vec![1, 4, 5]),
            ("a\n{% include 'part' %}b\nc", vec![1, 2, 2, 2, 3]),
            (
                "a\n{% for i in data.list %}{% include 'part' %}{% endfor %}\nc",
                vec![1, 2, 2, 2, 2, 2, 2, 2, 3],
            ),
            ("{% import 'macros' as m %}\n{{ m.m() }}\nb", vec![1, 2, 2, 3]),
            ("{% extends 'base' %}\n{% block b %}\nmine\n{% endblock %}", vec![1, 1, 3, 3, 4]),
            ("{% filter upper %}\na\n{% endfilter %}b", vec![1, 2, 3]),
            ("{% filter indent(2) %}\na\nb{% endfilter %}", vec![1, 2, 3]),
            ("é\r\n€ {{ 1 }}\r\n😀", vec![1, 2, 3]),
        ] {
            let (output, map) =
                render_with_lines("t", text, &Scope).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(map.as_ref().map(Vec::len), Some(output.split_inclusive('\n').count()), "{text}");
            assert_eq!(map, Some(expected), "{text:?} -> {output:?}");
        }
    }

    #[test]
    fn a_template_that_looks_at_its_own_text_has_no_map() {
        for text in [
            "{% set x %}ab{% endset %}{{ x|length }}",
            "{% set x %}a{% endset %}{% if x == 'a' %}1{% else %}2{% endif %}",
            "{% filter reverse %}a\nb{% endfilter %}{{ data.mark }}",
            "\u{F0001}",
            "{{ data.mark }}",
            "{% extends 'base' %}{% block b required %} {% endblock %}",
        ] {
            if let Ok((_, map)) = render_with_lines("t", text, &Scope) {
                assert_eq!(map, None, "{text}");
            }
        }
    }

    /// A line of a template that names itself, and what it writes.
    fn numbered(shape: usize, line: usize) -> String {
        let name = format!("L{line}.");
        match shape {
            0 => name,
            1 => format!("  {name} {{{{ 'L{line}.' }}}}"),
            2 => format!("{{{{ 'L{line}.' }}}}"),
            3 => format!("{{{{- 'L{line}.' -}}}}"),
            4 => format!("{{% for i in data.list %}}{name}{{% endfor %}}"),
            5 => format!("{{% for i in data.list -%}} {name} {{%- endfor %}}{name}"),
            6 => format!("{{% if false %}}x{{% endif %}}{name}"),
            7 => format!("{{# c #}}{name}{{#- c -#}}"),
            8 => format!("{{% raw %}}{name}{{% endraw %}}{name}"),
            9 => format!("{{% set x{line} %}}{name}{{% endset %}}{{{{ x{line} }}}}"),
            10 => format!("{{% macro m{line}() %}}{name}{{% endmacro %}}{{{{ m{line}() }}}}"),
            11 => format!("{{% filter trim %}}  {name}{{% endfilter %}}"),
            12 => "{% for j in data.list -%}".to_owned(),
            13 => "{%- endfor %}".to_owned(),
            _ => String::new(),
        }
    }

    proptest! {
        #[test]
        fn every_line_that_names_its_origin_is_mapped_there(shapes in prop::collection::vec(0_usize..15, 1..20)) {
            let mut open = 0_usize;
            let mut lines = Vec::new();
            for (index, shape) in shapes.into_iter().enumerate() {
                // A loop is closed only where one is open, and no more than two deep.
                let shape = match shape {
                    12 if open < 2 => { open += 1; 12 }
                    13 if open > 0 => { open -= 1; 13 }
                    12 | 13 => 0,
                    shape => shape,
                };
                lines.push(numbered(shape, index + 1));
            }
            lines.push("{% endfor %}".repeat(open));
            let text = lines.join("\n");
            let (output, map) = render_with_lines("t", &text, &Scope).unwrap_or_else(|error| panic!("{text}: {error}"));
            let Some(map) = map else { panic!("no map for {text}") };
            for (line, from) in output.lines().zip(map) {
                let Some(named) = line.trim_start().strip_prefix('L') else { continue };
                let named = named.split('.').next().map(str::parse);
                prop_assert_eq!(named, Some(Ok(from)), "{:?} -> {:?}", text, output);
            }
        }
    }
}
