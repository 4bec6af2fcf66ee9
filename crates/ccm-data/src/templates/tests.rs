//! What templates do, told in tables.

use std::collections::HashMap;
use std::fmt::Write as _;

use ccm_expr::Value;
use proptest::prelude::*;

use super::*;

/// Files and values to render with.
#[derive(Default)]
struct Scope {
    files: HashMap<&'static str, String>,
}

impl Scope {
    fn with(files: &[(&'static str, &str)]) -> Self {
        Self { files: files.iter().map(|(name, text)| (*name, (*text).to_owned())).collect() }
    }
}

impl TemplateScope for Scope {
    fn name(&self, name: &str) -> Option<Value> {
        Some(match name {
            "Facts" => {
                Value::map([("host", Value::map([("os", Value::text("debian")), ("cores", Value::Int(4))]))])
            }
            "Data" => Value::map([
                ("secret", Value::text("hunter2")),
                ("users", Value::list(["zoe", "adam"].map(Value::text))),
                ("ports", Value::map([("ssh", Value::Int(22)), ("http", Value::Int(80))])),
                ("yes", Value::Bool(true)),
                ("nothing", Value::Null),
                ("ratio", Value::Float(0.5)),
                ("html", Value::text("<a href=\"x\">&</a>")),
                ("lines", Value::text("one\ntwo\n")),
                ("largest", Value::Int(i64::MAX)),
            ]),
            "Environ" => Value::map([("HOME", Value::text("/root"))]),
            _ => return None,
        })
    }

    fn call(&self, function: &str, arguments: &[Value]) -> Result<Value, ScopeError> {
        match (function, arguments) {
            ("lookup", [Value::Text(path)]) if &**path == "data.list" => {
                Ok(Value::list([Value::Int(1), Value::Float(2.5), Value::Null]))
            }
            ("lookup", [Value::Text(_), default]) => Ok(default.clone()),
            ("template", [Value::Text(path)]) => {
                let text = self.include(path)?.ok_or_else(|| ScopeError::new("no such file"))?;
                Ok(Value::text(render(path, &text, self)?))
            }
            _ => Err(ScopeError {
                message: "there is nothing\nat that path".to_owned(),
                hints: vec!["look elsewhere".to_owned()],
            }),
        }
    }

    fn include(&self, path: &str) -> Result<Option<String>, ScopeError> {
        if path == "unreadable" {
            return Err(ScopeError::new("permission denied"));
        }
        Ok(self.files.get(path).cloned())
    }
}

fn rendered(text: &str) -> String {
    render("t.j2", text, &Scope::default()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn failure(text: &str, scope: &Scope) -> TemplateError {
    match render("t.j2", text, scope) {
        Ok(output) => panic!("{text}: {} bytes", output.len()),
        Err(error) => error,
    }
}

/// The error as one line: what, where, from where, and hints.
fn told(text: &str, scope: &Scope) -> String {
    let error = failure(text, scope);
    let mut told = error.to_string();
    for place in error.place.iter().chain(&error.included_from) {
        let text = scope.files.get(&*place.template).map_or(text, |text| text);
        let excerpt = &text[place.range.clone()];
        write!(told, " @ {}:{}:{} `{excerpt}`", place.template, place.line, place.column).expect("written");
    }
    for hint in error.hints {
        write!(told, " ? {hint}").expect("written");
    }
    told
}

#[test]
fn values_are_put_out_as_in_a_manifest() {
    for (text, expected) in [
        ("", ""),
        ("plain\n", "plain\n"),
        ("plain\n\n", "plain\n\n"),
        ("{{ Facts.host.os }} {{ facts.host.cores + 1 }}", "debian 5"),
        ("{{ Data.yes }} {{ not data.yes }} [{{ data.nothing }}] {{ data.ratio }}", "true false [] 0.5"),
        (
            "{{ data.users }} {{ data.ports }} {{ [1, 'a', none, true] }}",
            r#"["zoe","adam"] {"ssh":22,"http":80} [1,"a",null,true]"#,
        ),
        ("{{ data.html }}", "<a href=\"x\">&</a>"),
        ("{{ environ.HOME }} {{ Environ['HOME'] }}", "/root /root"),
        ("{{ data.largest }}", "9223372036854775807"),
        ("{% for user in data.users %}{{ loop.index }}{{ user }} {% endfor %}", "1zoe 2adam "),
        ("{% for name in data.ports %}{{ name }}={{ data.ports[name] }} {% endfor %}", "ssh=22 http=80 "),
        ("{% for name, port in data.ports|items %}{{ name }}{{ port }} {% endfor %}", "ssh22 http80 "),
        ("{% for name, port in data.ports.items() %}{{ name }}{{ port }} {% endfor %}", "ssh22 http80 "),
        (
            "{{ data.ports.keys()|join(',') }} {{ data.ports.values()|sum }} {{ data.ports.get('x', 1) }}",
            "ssh,http 102 1",
        ),
        ("{{ data.users|sort|join(' ') }} {{ data.users|length }} {{ data.users[1] }}", "adam zoe 2 adam"),
        ("{{ data.users[-1] }} {{ 'zoe' in data.users }} {{ 'ssh' in data.ports }}", "adam true true"),
        (
            "{{ lookup('data.list') }} {{ lookup('x', [1, {'a': 2}]) }} {{ lookup('x', 1.0) + 1 }}",
            r#"[1,2.5,null] [1,{"a":2}] 2.0"#,
        ),
        ("{{ lookup('x', data.users)[0] }}", "zoe"),
        (
            "{{ data.missing|default('d') }} {{ data.missing is defined }} {{ captures is defined }}",
            "d false false",
        ),
        ("{{ 'x' if false }}|", "|"),
        ("a\n{%- if true %}\nb\n{%- endif %}\nc", "a\nb\nc"),
        ("{% raw %}{{ x }}{% endraw %}", "{{ x }}"),
        ("{# c #}ü€😀\0", "ü€😀\0"),
    ] {
        assert_eq!(rendered(text), expected, "{text}");
    }
}

#[test]
fn templates_use_one_another_through_the_caller() {
    let scope = Scope::with(&[
        ("part", "[{{ x }}{{ facts.host.os }}]\n"),
        ("dir/macros", "{% macro m(a) %}<{{ a }}>{% endmacro %}"),
        ("base", "head {% block body %}default{% endblock %} foot"),
        ("file", "{{ data.users[0] }}"),
        ("page.html", "{{ data.html }}"),
    ]);
    for (text, expected) in [
        ("{% set x = 1 %}a {% include 'part' %}b", "a [1debian]\nb"),
        ("{% set x = 1 %}{% include './/part' %}", "[1debian]\n"),
        ("{% import 'dir/macros' as macros %}{{ macros.m(1) }}", "<1>"),
        ("{% from 'dir/macros' import m %}{{ m(data.yes) }}", "<true>"),
        ("{% extends 'base' %}{% block body %}mine {{ super() }}{% endblock %}", "head mine default foot"),
        ("{% include 'nowhere' ignore missing %}x", "x"),
        ("{% include ['nowhere', 'file'] %}", "zoe"),
        ("{{ template('file') }}", "zoe"),
        ("{% include 'page.html' %}", "<a href=\"x\">&</a>"),
    ] {
        assert_eq!(render("t.html", text, &scope).as_deref(), Ok(expected), "{text}");
    }
}

#[test]
fn mistakes_say_what_where_and_what_to_do() {
    let scope = Scope::with(&[
        ("outer", "line\n  {% include 'inner' %}"),
        ("inner", "x\n{{ data.usrs }}"),
        ("broken", "a\n{% if %}"),
        ("base", "{% block b %}{{ data.no }}{% endblock %}"),
        ("macros", "{% macro m(a) %}{{ a.b }}{% endmacro %}"),
    ]);
    for (text, expected) in [
        ("{{ data.usrs }}", ""),
        ("{{ facts.hots.os }}", ""),
        ("é{{ fact.host.os }}", ""),
        ("{{ data['prots'].ssh }}", ""),
        ("{{ lokup('x') }}", ""),
        ("{{ captures.x }}", ""),
        ("{% for u in data.users %}{{ u.name }}{% endfor %}", ""),
        ("{{ data.users[7] }}", ""),
        ("{% if data.no %}{% endif %}", ""),
        ("{{ data.secret|uper }}", ""),
        ("{{ data.secret is evn }}", ""),
        ("{{ data.secret.upper() }}", ""),
        ("{{ data.secret + 1 }}", ""),
        ("{{ data.secret|int }}", ""),
        ("{{ data.largest ** 9 }}", ""),
        ("{{ data.ratio // 0 }}", ""),
        ("{% set a, b = data.users[:1] %}", ""),
        ("{{ lookup('y') }}", ""),
        ("{{ lookup(data.no) }}", ""),
        ("{{ lookup(path='y') }}", ""),
        ("{{ lookup(range) }}", ""),
        ("a\n{% include 'outer' %}", ""),
        ("{% include 'broken' %}", ""),
        ("{% include 'nowhere' %}", ""),
        ("{% include data.secret %}", ""),
        ("{% extends data.secret %}", ""),
        ("{% include '/etc/passwd' %}", ""),
        ("{% include 'a/../../b' %}", ""),
        ("{% include 'unreadable' %}", ""),
        ("{% extends 'base' %}", ""),
        ("{% import 'macros' as m %}{{ m.m(data) }}", ""),
        ("{{ template('inner') }}", ""),
        ("{% if x %}\n", ""),
        ("{% fro x in y %}", ""),
        ("{{ 'a' }", ""),
        ("{{ a b }}", ""),
        ("{# x", ""),
        ("{{ \"\\x\" }}", ""),
        ("{{ debug() }}", ""),
    ] {
        println!("        ({text:?}, {:?}),", told(text, &scope));
        let _ = expected;
    }
}
