//! Templates: analysed and rendered within limits.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::LazyLock;

use ccm_data::templates::{ScopeError, TemplateScope, dependencies, render};
use ccm_expr::Value;
use ccm_model::DiagnosticKind;
use serde_json::json;

pub(super) const WORDS: &[&str] = &[
    "{{ ",
    " }}",
    "{% ",
    " %}",
    "{# ",
    " #}",
    "{%- ",
    " -%}",
    "{% for a in Data.list %}",
    "{% endfor %}",
    "{% if Facts.a %}",
    "{% elif x %}",
    "{% else %}",
    "{% endif %}",
    "{% set a = ",
    "{% macro m(x) %}",
    "{% endmacro %}",
    "{% include 'a' %}",
    "{% raw %}",
    "{% endraw %}",
    "{% block b %}",
    "{% endblock %}",
    "{% extends 'a' %}",
    "|upper",
    "|replace('a', 'b')",
    "|join(',')",
    "|tojson",
    "|indent(999)",
    "#jinja2: trim_blocks: true\n",
    " < ",
    " not in ",
    " ~ ",
    " * ",
    "not ",
    "[1:]",
    "|regex_replace('a*', 'b')",
    ".split()",
    "range(99999)",
    "loop.index",
    "lookup('facts.a')",
    "file('x')",
    "template('a')",
    "Data.list",
    "Data['text']",
    "~",
    "'a' * 9999",
    "is defined",
    "{% filter upper %}",
    "|batch(2)",
];

static DATA: LazyLock<Value> = LazyLock::new(|| {
    Value::from(json!({"list": [1, 2, {"a": null}], "text": "a\nä<&>", "map": {"k": "v"}, "n": 1.5}))
});

struct IncludeScope {
    included: HashMap<String, String>,
    renders: Cell<usize>,
}

impl TemplateScope for IncludeScope {
    fn renders(&self) -> &Cell<usize> {
        &self.renders
    }

    fn name(&self, name: &str) -> Option<Value> {
        matches!(name, "Facts" | "Data").then(|| DATA.clone())
    }

    fn call(&self, function: &str, arguments: &[Value]) -> Result<Value, ScopeError> {
        match (function, arguments) {
            ("template", [Value::Text(name)]) => {
                let text = self
                    .included
                    .get(&**name)
                    .ok_or_else(|| ScopeError::new(DiagnosticKind::Unreadable, "no such template"))?;
                render(name, text, self)
                    .map(Value::text)
                    .map_err(|error| ScopeError::new(error.fault.kind(), error.to_string()))
            }
            (_, [first, ..]) => Ok(first.clone()),
            _ => Err(ScopeError::new(DiagnosticKind::InvalidOperand, "no argument")),
        }
    }

    fn include(&self, path: &str) -> Result<Option<String>, ScopeError> {
        Ok(self.included.get(path).cloned())
    }
}

/// An input is a template and the templates that it may include, each after a line `#--- NAME`.
pub(super) fn run(input: &[u8]) {
    let text = super::text(input);
    let mut parts = text.split("#--- ");
    let text = parts.next().unwrap_or_default();
    let included = parts.filter_map(|part| part.split_once('\n'));
    let included = included.map(|(name, text)| (name.to_owned(), text.to_owned())).collect();
    let scope = IncludeScope { included, renders: Cell::default() };
    dependencies(text);
    let rendered = render("t.j2", text, &scope);
    assert_eq!(rendered, render("t.j2", text, &scope), "another output");
    if let Err(error) = rendered {
        assert!(error.to_string().len() < 4 << 10, "{} bytes", error.to_string().len());
        for place in &error.locations {
            let text = if place.template == "t.j2" {
                Some(text)
            } else {
                scope.included.get(&place.template).map(String::as_str)
            };
            assert!(text.is_none_or(|text| text.get(place.range.clone()).is_some()), "{place:?}");
        }
    }
}
