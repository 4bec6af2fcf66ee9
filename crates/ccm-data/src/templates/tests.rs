//! Tables of templates with their output or error.

use std::cell::Cell;
use std::collections::HashMap;
use std::fmt::Write as _;

use ccm_expr::Value;
use ccm_model::DiagnosticKind;
use proptest::prelude::*;

use super::*;

mod kinds;
mod loop_variables;
mod oracles;

/// Files and values to render with.
#[derive(Default)]
struct Scope {
    files: HashMap<&'static str, String>,
    renders: Cell<usize>,
}

impl Scope {
    fn with(files: &[(&'static str, &str)]) -> Self {
        let files = files.iter().map(|(name, text)| (*name, (*text).to_owned())).collect();
        Self { files, renders: Cell::default() }
    }
}

impl TemplateScope for Scope {
    fn renders(&self) -> &Cell<usize> {
        &self.renders
    }

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
                ("text_ratio", Value::text("1.0")),
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
                let text = self
                    .include(path)?
                    .ok_or_else(|| ScopeError::new(DiagnosticKind::Unreadable, "no such file"))?;
                Ok(Value::text(render(path, &text, self)?))
            }
            _ => Err(ScopeError {
                kind: DiagnosticKind::UnknownName,
                message: "there is nothing\nat that path".to_owned(),
                hints: vec!["look elsewhere".to_owned()],
            }),
        }
    }

    fn include(&self, path: &str) -> Result<Option<String>, ScopeError> {
        if path == "unreadable" {
            return Err(ScopeError::new(DiagnosticKind::Unreadable, "permission denied"));
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

/// Formats an error on one line: kind, location, includes and code in the hints.
fn explained(text: &str, scope: &Scope) -> String {
    let error = failure(text, scope);
    let mut line = error.fault.kind().to_string();
    for location in &error.locations {
        let text = scope.files.get(&*location.template).map_or(text, |text| text);
        let excerpt = &text[location.range.clone()];
        write!(line, " @ {}:{}:{} `{excerpt}`", location.template, location.line, location.column)
            .expect("written");
    }
    for hint in error.hints {
        let code: Vec<&str> = hint.split('`').skip(1).step_by(2).collect();
        write!(line, " | {}", if code.is_empty() { "…".to_owned() } else { code.join(", ") })
            .expect("written");
    }
    line
}

#[test]
fn values_print_as_in_a_manifest() {
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
        ("{{ 'abc'[::-1] }} {{ 'abc'[:8:-2] }}[{{ [1, 2][0:9:-1] }}]", "cba [[]]"),
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
fn templates_include_and_call_through_the_scope() {
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
fn errors_have_kind_location_and_hint() {
    let scope = Scope::with(&[
        ("outer", "line\n  {% include 'inner' %}"),
        ("inner", "x\n{{ data.usrs }}"),
        ("broken", "a\n{% if %}"),
        ("base", "{% block b %}{{ data.no }}{% endblock %}"),
        ("macros", "{% macro m(a) %}{{ a.b }}{% endmacro %}"),
    ]);
    for (text, expected) in [
        ("{{ data.usrs }}", "unknown-name @ t.j2:1:4 `data.usrs` | users"),
        ("{{ facts.hots.os }}", "unknown-name @ t.j2:1:9 `.hots.os` | host"),
        ("é{{ fact.host.os }}", "unknown-name @ t.j2:1:5 `fact.host` | facts"),
        ("{{ data['prots'].ssh }}", "unknown-name @ t.j2:1:8 `['prots'].ssh` | ports"),
        ("{{ lokup('x') }}", "unknown-function @ t.j2:1:4 `lokup('x')` | lookup"),
        ("{{ captures.x }}", "unknown-name @ t.j2:1:4 `captures.x`"),
        ("{% for u in data.users %}{{ u.name }}{% endfor %}", "unknown-name @ t.j2:1:29 `u.name`"),
        ("{{ data.users[7] }}", "unknown-name @ t.j2:1:8 `.users[7]`"),
        ("{{ data.secret.length }}", "unknown-name @ t.j2:1:8 `.secret.length` | value | length"),
        ("{{ data.users.length }}", "unknown-name @ t.j2:1:8 `.users.length` | value | length"),
        ("{% if data.no %}{% endif %}", "unknown-name @ t.j2:1:7 `data.no`"),
        ("{{ data.secret|uper }}", "unknown-function @ t.j2:1:16 `uper` | upper"),
        ("{{ data.secret is evn }}", "unknown-function @ t.j2:1:19 `evn`"),
        ("{{ data.secret.splat() }}", "unknown-function @ t.j2:1:15 `.splat()`"),
        (
            "{{ data.secret.format(1) }}",
            "unknown-function @ t.j2:1:15 `.format(1)` | \"%s-%d\" | format(a, b), a ~ \"-\" ~ b",
        ),
        ("{{ data.secret|to_yaml }}", "unknown-function @ t.j2:1:16 `to_yaml` | value | tojson"),
        ("{{ upper('x') }}", "unknown-function @ t.j2:1:4 `upper('x')` | upper, value | upper"),
        ("{{ data.secret + 1 }}", "invalid-operand @ t.j2:1:4 `data.secret + 1` | | int, | float, ~, +"),
        ("{{ data.secret|int }}", "invalid-operand @ t.j2:1:16 `int`"),
        ("{{ data.largest ** 9 }}", "invalid-operand @ t.j2:1:4 `data.largest ** 9`"),
        ("{{ data.ratio // 0 }}", "invalid-operand @ t.j2:1:4 `data.ratio // 0`"),
        ("{% set a, b = data.users[:1] %}", "invalid-operand @ t.j2:1:8 `a, b`"),
        ("{{ lookup('y') }}", "unknown-name @ t.j2:1:4 `lookup('y')` | …"),
        ("{{ lookup(data.no) }}", "unknown-name @ t.j2:1:4 `lookup(data.no)`"),
        ("{{ lookup(path='y') }}", "invalid-operand @ t.j2:1:4 `lookup(path='y')`"),
        ("{{ lookup(range) }}", "invalid-operand @ t.j2:1:4 `lookup(range)`"),
        (
            "a\n{% include 'outer' %}",
            "unknown-name @ inner:2:4 `data.usrs` @ outer:2:6 `include 'inner'` @ t.j2:2:4 `include 'outer'` | users",
        ),
        ("{% include 'broken' %}", "expression-syntax @ broken:2:7 `%}` @ t.j2:1:4 `include 'broken'`"),
        ("{% include 'nowhere' %}", "unreadable @ t.j2:1:4 `include 'nowhere'` | …"),
        ("{% include data.secret %}", "unreadable @ t.j2:1:4 `include data.secret` | …"),
        ("{% extends data.secret %}", "unreadable @ t.j2:1:4 `extends data.secret` | …"),
        ("{% include '/etc/passwd' %}", "invalid-operand @ t.j2:1:4 `include '/etc/passwd'`"),
        ("{% include 'a/../../b' %}", "invalid-operand @ t.j2:1:4 `include 'a/../../b'`"),
        ("{% include 'unreadable' %}", "unreadable @ t.j2:1:4 `include 'unreadable'`"),
        ("{% extends 'base' %}", "unknown-name @ base:1:17 `data.no`"),
        ("{% import 'macros' as m %}{{ m.m(data) }}", "unknown-name @ macros:1:20 `a.b`"),
        ("{{ template('inner') }}", "unknown-name @ t.j2:1:4 `template('inner')` | users"),
        ("{% if x %}\n", "expression-syntax @ t.j2:1:11 `\n` | {% end… %}, }}, %}"),
        ("{% fro x in y %}", "expression-syntax @ t.j2:1:4 `fro`"),
        ("{{ 'a' }", "expression-syntax @ t.j2:1:8 `}`"),
        ("{{ a b }}", "expression-syntax @ t.j2:1:6 `b`"),
        ("{# x", "expression-syntax @ t.j2:1:5 `` | #}"),
        ("{{ \"\\x\" }}", "expression-syntax @ t.j2:1:1 `{{`"),
        ("{{ data.no.upper() }}", "unknown-name @ t.j2:1:11 `.upper()`"),
        ("{{ 'x'|replace }}", "invalid-operand @ t.j2:1:8 `replace`"),
        ("{{ 'x'|indent(zz=1) }}", "invalid-operand @ t.j2:1:8 `indent(zz=1)`"),
        ("{% endfor %}", "expression-syntax @ t.j2:1:4 `endfor`"),
        (
            "{% for x in data.secret %}{% endfor %}",
            "invalid-operand @ t.j2:1:13 `data.secret` | data, text.split(\",\")",
        ),
        (
            "{{ data.secret | join(',') }}",
            "invalid-operand @ t.j2:1:18 `join(',')` | data, text.split(\",\")",
        ),
        (
            "{% for k, v in data.ports %}{% endfor %}",
            "invalid-operand @ t.j2:1:16 `data.ports` | {% for key, value in map.items() %}",
        ),
        ("{{ ports }}", "unknown-name @ t.j2:1:4 `ports` | Data.ports"),
        ("{{ ansible_facts.os }}", "unknown-name @ t.j2:1:4 `ansible_facts.os` | Facts.host.info.platform"),
        (
            "{{ ansible_facts.nodes }}",
            "unknown-name @ t.j2:1:4 `ansible_facts.nodes` | Facts, Facts.host.info.hostname",
        ),
        ("{{ hostvars }}", "unknown-name @ t.j2:1:4 `hostvars` | data"),
        ("{{ data.ports.iteritems() }}", "unknown-function @ t.j2:1:14 `.iteritems()` | map.items()"),
        ("{% if 1 %}{% elsif 2 %}{% endif %}", "expression-syntax @ t.j2:1:14 `elsif` | {% elif … %}"),
        ("{% if 1 && 2 %}{% endif %}", "expression-syntax @ t.j2:1:9 `&` | and, &&"),
        ("{{ data.users | join ', ' }}", "expression-syntax @ t.j2:1:22 `', '` | join(\", \")"),
        (
            "{{ '1' is version('2') }}",
            "unknown-function @ t.j2:1:11 `version('2')` | value.split(\".\")[0] | int >= 2",
        ),
        (
            "{{ debug() }}",
            "unknown-function @ t.j2:1:4 `debug()` | lookup, file, readFile, template, credential, range, dict, namespace",
        ),
    ] {
        assert_eq!(explained(text, &scope), expected, "{text}");
    }
    let nested = failure("{{ template('inner') }}", &scope);
    assert_eq!(nested.to_string(), "inner:2:4: `data.usrs` does not exist");
    assert_eq!(failure("{{ \"\\x\" }}", &scope).to_string(), "bad string escape");
}

#[test]
fn hostile_templates_end_in_an_error() {
    let scope = Scope::with(&[
        ("itself", "{% include 'itself' %}"),
        ("ping", "{% include 'pong' %}"),
        ("pong", "{% include 'ping' %}"),
        ("parent", "{% extends 'parent' %}"),
        ("calls", "{{ template('calls') }}"),
        ("deep", &format!("{{{{ {}1 }}}}", "-".repeat(5000))),
    ]);
    let nested = |open: &str, middle: &str, close: &str, times: usize| {
        format!("{}{middle}{}", open.repeat(times), close.repeat(times))
    };
    let many = 100_000;
    let mut longest_nest =
        "{% set n = namespace(x=[]) %}{% for j in range(99999) %}{% for i in range(99999) %}".to_owned();
    longest_nest += &format!("{{% set n.x = {} %}}{{% endfor %}}{{% endfor %}}", nested("[", "n.x", "]", 70));
    for (what, text, expected) in [
        ("include of itself", "{% include 'itself' %}".to_owned(), "TooDeep"),
        ("circle of includes", "{% include 'ping' %}".to_owned(), "TooDeep"),
        ("extends itself", "{% extends 'parent' %}".to_owned(), "extends itself"),
        ("renders itself", "{{ template('calls') }}".to_owned(), "more than 16 templates are nested by `template()`"),
        ("deep include", "{% include 'deep' %}".to_owned(), "TooDeep"),
        ("macro of itself", "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}".to_owned(), "TooDeep"),
        ("large range", "{% for i in range(10**9) %}{% endfor %}".to_owned(), "range has too many"),
        (
            "long loop",
            "{% for i in range(99999) %}{% for i in range(99999) %}{% endfor %}{% endfor %}".to_owned(),
            "TooManySteps(1048576)",
        ),
        (
            "large output",
            "{% for i in range(99999) %}{{ 'abcdefghij' * 100 }}{% endfor %}".to_owned(),
            "TooMuchOutput",
        ),
        ("large literal output", format!("{{% for i in range(99) %}}{}{{% endfor %}}", "x".repeat(1_000_000)), "TooMuchOutput"),
        ("wide indent", "{{ 'a\nb' | indent(10**10) }}".to_owned(), "TooMuchOutput"),
        ("wide named indent", "{{ 'a\nb' | indent(width=10**10) }}".to_owned(), "TooMuchOutput"),
        ("wide format", "{{ '%9999999999d' | format(1) }}".to_owned(), "TooMuchOutput"),
        ("wide starred format", "{{ '%*d' | format(-10**10, 1) }}".to_owned(), "TooMuchOutput"),
        ("long join", "{{ (['x' * 1000] * 10**6) | join }}".to_owned(), "TooMuchOutput"),
        ("join by long", "{{ [1, 2, 3] | join('x' * 10**7) }}".to_owned(), "TooMuchOutput"),
        ("join by named", "{{ [1, 2, 3] | join(d='x' * 10**7) }}".to_owned(), "TooMuchOutput"),
        ("long replacement", "{{ ('a' * 10**5) | replace('a', 'b' * 10**5) }}".to_owned(), "TooMuchOutput"),
        ("wide JSON", "{{ [1] | tojson(indent=10**10) }}".to_owned(), "TooMuchOutput"),
        ("many slices", "{{ [1] | slice(10**9) | length }}".to_owned(), "TooMuchOutput"),
        ("filled batch", "{{ [1] | batch(10**9, 0) | length }}".to_owned(), "TooMuchOutput"),
        ("large text", "{{ 'x' * 10**12 }}".to_owned(), "repeated string is too large"),
        ("large template", "x".repeat((1 << 20) + 1), "TooLarge"),
        ("parentheses", format!("{{{{ {} }}}}", nested("(", "1", ")", many)), "TooDeep"),
        ("lists", format!("{{{{ {} }}}}", nested("[", "1", "]", many)), "TooDeep"),
        ("signs", format!("{{{{ {}1 }}}}", "-".repeat(many)), "TooDeep"),
        ("not", format!("{{{{ {}1 }}}}", "not ".repeat(many)), "TooDeep"),
        ("sum", format!("{{{{ 1{} }}}}", "+1".repeat(many)), "TooDeep"),
        ("members", format!("{{{{ a{} }}}}", ".a".repeat(many)), "TooDeep"),
        ("filters", format!("{{{{ 1{} }}}}", "|e".repeat(many)), "TooDeep"),
        ("conditions", format!("{{{{ 1{} }}}}", " if 1 else 1".repeat(many / 2)), "TooDeep"),
        ("elif", format!("{{% if 0 %}}{}{{% endif %}}", "{% elif 0 %}".repeat(50_000)), "TooDeep"),
        ("if", nested("{% if 1 %}", "", "{% endif %}", 40_000), "TooDeep"),
        ("for", nested("{% for i in [1] %}", "", "{% endfor %}", 20_000), "TooDeep"),
        (
            "a list within a list within a list",
            "{% set n = namespace(x=[]) %}{% for i in range(9999) %}{% set n.x = [n.x] %}{% endfor %}{{ n.x }}".to_owned(),
            "nested more than 100 times",
        ),
        ("the deepest list that the steps allow", longest_nest, "nested more than 100 times"),
        ("unclosed", "{{".repeat(many), "TooDeep"),
        ("binary", "\0\u{1}{{ \u{7f} \u{fffd} }}".to_owned(), "unexpected character"),
    ] {
        let error = format!("{:?}", failure(&text, &scope).fault);
        assert!(error.contains(expected), "{what}: {error}");
    }
}

#[test]
fn checked_filters_keep_their_results() {
    for (text, expected) in [
        ("{{ 'a\nb' | indent(2) }}", "a\n  b"),
        ("{{ 'a\nb' | indent(width=2, first=true) }}", "  a\n  b"),
        ("{{ '%s-%03d' | format('x', 7) }}", "x-007"),
        ("{{ [1, 2] | join(', ') }}", "1, 2"),
        ("{{ [1, 2] | join(d='+') }}", "1+2"),
        ("{{ [{'a': 1}, {'a': 2}] | join(',', attribute='a') }}", "1,2"),
        ("{{ 'aXa' | replace('a', 'b') }}", "bXb"),
        ("{{ [1] | tojson }}", "[1]"),
        ("{{ [1] | tojson(true) }}", "[\n  1\n]"),
        ("{{ [1] | tojson(indent=1) }}", "[\n 1\n]"),
        ("{{ [1, 2, 3] | slice(2) | list }}", "[[1,2],[3]]"),
        ("{{ [1, 2, 3] | batch(2, 0) | list }}", "[[1,2],[3,0]]"),
        ("{% filter indent(1) %}a\nb{% endfilter %}", "a\n b"),
    ] {
        assert_eq!(rendered(text), expected, "{text}");
    }
}

#[test]
fn the_maximum_depth_fits_the_stack() {
    for text in [
        format!("{{{{ 1{} }}}}", "+1".repeat(999)),
        format!("{{{{ 1{} }}}}", "*1".repeat(999)),
        format!("{{{{ 1{} }}}}", "~1".repeat(999)),
        format!("{{{{ 1{} }}}}", " and 1".repeat(999)),
        format!("{{{{ {}1 }}}}", "not ".repeat(998)),
        format!("{{{{ {}1 }}}}", "-".repeat(998)),
        format!("{{{{ data{} is defined }}}}", "|d(1)".repeat(490)),
        format!("{{% if 0 %}}{}{{% endif %}}", "{% elif 0 %}".repeat(999)),
    ] {
        if let Err(error) = render("t.j2", &text, &Scope::default()) {
            panic!("{error} in {}", &text[..40]);
        }
    }
}

#[test]
fn messages_hold_no_values() {
    for text in [
        "{{ data.secret / 2 }}",
        "{{ data.secret ** 2 }}",
        "{{ -data.secret }}",
        "{{ data.secret|int }}",
        "{{ data.secret|float }}",
        "{{ data.secret|abs }}",
        "{{ data.secret|round }}",
        "{{ data.secret|items }}",
        "{{ data.secret|dictsort }}",
        "{{ data.secret|sum }}",
        "{{ data.secret|map(data.secret)|list }}",
        "{{ data.secret|attr(data.secret).x }}",
        "{{ data[data.secret] }}",
        "{{ data[data.secret].x }}",
        "{{ data.secret() }}",
        "{{ data.secret.x.y }}",
        "{{ range(data.secret) }}",
        "{{ [1]|batch(data.secret) }}",
        "{{ 'a'|indent(data.users) }}",
        "{{ dict(data.secret) }}",
        "{{ namespace(data.secret) }}",
        "{{ ('%d ' ~ data.secret)|format(data.secret) }}",
        "{{ '%d'|format(data.secret) }}",
        "{{ [1]|select(data.secret)|list }}",
        "{{ [data]|groupby(data.secret) }}",
        "{% include data.secret %}",
        "{% include [data.secret, data.secret] %}",
        "{% extends data.secret %}",
        "{% from data.secret import x %}",
        "{% autoescape data.secret %}{{ 1 }}{% endautoescape %}",
        "{% set a, b = data.secret %}",
        "{% for a in data.secret %}{{ a.b }}{% endfor %}",
        "{% set data.secret = 1 %}",
        "{{ lookup(data.secret) }}",
        "{{ range(5, data=data.secret) }}",
    ] {
        let error = failure(text, &Scope::default());
        let line = format!("{error} {error:?}");
        assert!(!line.contains("hunter2"), "{text}: {line}");
    }
}

#[test]
fn a_name_is_read_once_and_only_if_used() {
    struct Counting(std::cell::RefCell<Vec<String>>, Cell<usize>);
    impl TemplateScope for Counting {
        fn renders(&self) -> &Cell<usize> {
            &self.1
        }
        fn name(&self, name: &str) -> Option<Value> {
            self.0.borrow_mut().push(name.to_owned());
            Some(Value::map([("a", Value::Int(1))]))
        }
        fn call(&self, _: &str, _: &[Value]) -> Result<Value, ScopeError> {
            Err(ScopeError::new(DiagnosticKind::EvaluationFailed, "no"))
        }
        fn include(&self, _: &str) -> Result<Option<String>, ScopeError> {
            Ok(None)
        }
    }
    let scope = Counting(Vec::new().into(), Cell::default());
    assert_eq!(
        render("t", "{{ facts.a }}{{ Facts.a }}{% if false %}{{ data.a }}{% endif %}", &scope).as_deref(),
        Ok("11")
    );
    assert_eq!(scope.0.into_inner(), ["Facts"]);
}

const WORDS: [&str; 40] = [
    "{{",
    "}}",
    "{%",
    "%}",
    "{#",
    "#}",
    "{%-",
    "-%}",
    "{{-",
    "-}}",
    " ",
    "\n",
    "a",
    "é",
    "'x'",
    "\"",
    "(",
    ")",
    "[",
    "]",
    "|",
    ".",
    "if",
    "endif",
    "for",
    "in",
    "endfor",
    "set",
    "=",
    "include",
    "'itself'",
    "raw",
    "endraw",
    "data",
    "facts.host",
    "lookup('x', 1)",
    "macro m()",
    "endmacro",
    "0",
    "~",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn random_templates_do_not_panic(words in prop::collection::vec(prop::sample::select(&WORDS[..]), 0..25)) {
        let text = words.concat();
        let scope = Scope::with(&[("itself", "{% include 'itself' %}")]);
        let _ = dependencies(&text);
        if let Err(error) = render("t.j2", &text, &scope) {
            prop_assert!(!matches!(error.fault, TemplateFault::Minijinja(_)), "{error}");
            for location in error.locations {
                let length = if location.template == "itself" { 22 } else { text.len() };
                prop_assert!(location.range.end <= length);
            }
        }
    }

    #[test]
    fn damaged_templates_do_not_panic(at in 0_usize..200, length in 0_usize..5, with in prop::sample::select(&WORDS[..])) {
        let mut text: Vec<char> = SOUND.chars().collect();
        let at = at.min(text.len());
        let end = (at + length).min(text.len());
        text.splice(at..end, with.chars());
        let text: String = text.into_iter().collect();
        if let Err(error) = render("t.j2", &text, &Scope::default()) {
            prop_assert!(!matches!(error.fault, TemplateFault::Minijinja(_)), "{error}");
        }
    }
}

const SOUND: &str = "{% macro m(a, b=1) -%}\n<{{ a }}{{ b }}>\n{%- endmacro %}\n{% for u in data.users if u != 'x' %}\n\
    {{ loop.index }}: {{ m(u|upper) }}\n{% else %}\nnobody\n{% endfor %}{# c #}\n{% raw %}{{ r }}{% endraw %}\n\
    {% set x = {'a': [1, 2]} %}{{ x.a[0] if x else '' }}\n{% filter upper %}t{% endfilter %}\n";

#[test]
fn scopes_count_their_own_renders() {
    /// Scope whose templates are rendered by another scope.
    struct OuterScope(Scope, Cell<usize>);
    impl TemplateScope for OuterScope {
        fn renders(&self) -> &Cell<usize> {
            &self.1
        }
        fn name(&self, _: &str) -> Option<Value> {
            None
        }
        fn call(&self, _: &str, _: &[Value]) -> Result<Value, ScopeError> {
            Ok(Value::text(render("t", "{{ template('14') }}", &self.0)?))
        }
        fn include(&self, _: &str) -> Result<Option<String>, ScopeError> {
            Ok(None)
        }
    }
    let mut scope = Scope::with(&[("0", "end")]);
    let names = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14"];
    for pair in names.windows(2) {
        scope.files.insert(pair[1], format!("{{{{ template('{}') }}}}", pair[0]));
    }
    // Together with the first template, these are as many as one scope may render.
    let outer = OuterScope(scope, Cell::default());
    assert_eq!(render("t", "{{ template('other') }}", &outer).as_deref(), Ok("end"));
    let one_more = render(
        "t",
        "{{ template('15') }}",
        &Scope {
            files: outer.0.files.into_iter().chain([("15", "{{ template('14') }}".to_owned())]).collect(),
            renders: Cell::default(),
        },
    );
    assert_eq!(one_more.err().map(|error| error.fault.kind()), Some(DiagnosticKind::LimitExceeded));
}

/// Returns the fault of a template, without its structure.
fn fault(template: &str) -> String {
    match failure(template, &Scope::default()).fault {
        TemplateFault::Operation(message) => message,
        fault => format!("{fault:?}"),
    }
}

#[test]
fn what_operations_build_is_limited_whether_it_is_written_or_not() {
    let text = "{% set n = namespace(x='x' * 10**6, l=[]) %}";
    let repeat =
        |step: &str| format!("{text}{{% for i in range(99999) %}}{step}{{% endfor %}}{{{{ n.x | length }}}}");
    let long = "x".repeat(100_000);
    let spaced = "x y ".repeat(30_000);
    for (what, template, expected) in [
        ("doubling by ~", repeat("{% set n.x = n.x ~ n.x %}"), "TooMuchOutput"),
        ("doubling by +", repeat("{% set n.x = n.x + n.x %}"), "TooMuchOutput"),
        ("many by ~", repeat("{% set n.l = [n.x ~ 'a', n.l | length] %}"), "TooMuchText"),
        ("many by +", repeat("{% set y = n.x + 'a' %}"), "TooMuchText"),
        ("many by join", repeat("{% set y = [n.x, 'a'] | join %}"), "TooMuchText"),
        ("many by a method", repeat("{% set y = 'a'.join([n.x, n.x]) %}"), "TooMuchText"),
        ("many slices", repeat("{% set y = n.x[1:] %}"), "TooManyElements"),
        ("many by upper", repeat("{% set y = n.x | upper %}"), "TooMuchText"),
        ("many by map", repeat("{% set y = [n.x, n.x] | map('upper') | list %}"), "TooMuchText"),
        ("many by format", repeat("{% set y = '%s' | format(n.x) %}"), "TooMuchText"),
        ("many by tojson", repeat("{% set y = [n.x] | tojson %}"), "TooMuchText"),
        ("captured values", repeat("{% set y %}{{ n.x }}{% endset %}"), "TooMuchText"),
        ("captured text", repeat(&format!("{{% set y %}}{long}{{% endset %}}")), "TooMuchText"),
        ("captured words", repeat(&format!("{{% set y %}} {spaced}\n{{% endset %}}")), "TooMuchText"),
        (
            "captured raw text",
            repeat(&format!("{{% set y %}}{{% raw %}}{long}{{% endraw %}}{{% endset %}}")),
            "TooMuchText",
        ),
        ("growing list", repeat("{% set n.l = n.l + [1] %}"), "TooManyElements"),
        (
            "doubling list",
            format!("{}{}", repeat(""), repeat("{% set n.l = n.l + n.l + [1] %}")),
            "TooManyElements",
        ),
        ("letters", repeat("{% set y = n.x | list %}"), "TooManyElements"),
        ("parts", repeat("{% set y = n.x.split('x') %}"), "TooManyElements"),
        ("ranges", repeat("{% set y = range(99999) | list %}"), "TooManyElements"),
        ("comparisons", repeat("{% set y = range(99999) == range(99999) %}"), "TooManyElements"),
    ] {
        let found = fault(&template);
        assert!(found.starts_with(expected), "{what}: {found}");
    }
    let doubled = format!("{{% set l = [1] %}}{}", "{% set l = [l, l] %}".repeat(60));
    for operation in [
        "l",
        "l | tojson",
        "l | pprint",
        "l == l",
        "[l, l] | sort",
        "[l, l] | unique | list",
        "l in [l]",
        "l < l",
    ] {
        let found = fault(&format!("{doubled}{{{{ {operation} }}}}"));
        assert_eq!(found, "TooManyElements", "{operation}");
    }
}

#[test]
fn a_namespace_does_not_hold_itself() {
    let namespace = "{% set n = namespace(a=1) %}{% set m = namespace(b=2) %}";
    for cycle in [
        "{% set n.a = n %}",
        "{% set n.a = [[n]] %}",
        "{% set n.a = {'x': n} %}",
        "{% set n.a = 1, n %}",
        "{% set m.b = n %}",
        "{% set n.a = namespace(x=n) %}",
        "{% for x in [n] %}{% set n.a = loop %}{% endfor %}",
        "{% set n.a = [n] + [1] %}",
        "{% set n.a = [n][0:] %}",
    ] {
        let found = fault(&format!("{namespace}{cycle}{{{{ n.a }}}}"));
        assert!(found.contains("a namespace keeps no namespace"), "{cycle}: {found}");
    }
    // A view of a namespace is kept as what it shows.
    for (view, expected) in [
        ("{% set n.a = n | items %}{{ n.a }}", r#"[["a",1]]"#),
        ("{% set n.a = dict(n) %}{{ n.a }}", r#"{"a":1}"#),
        ("{% set n.a = [n | items] %}{{ n.a }}", r#"[[["a",1]]]"#),
        ("{% set n.a = n.a + 1 %}{% set n.b = Data.users %}{{ n.a }}{{ n.b }}", r#"2["zoe","adam"]"#),
        ("{% set n.a = {'x': [1, (2, 3)]} %}{{ n.a }}", r#"{"x":[1,[2,3]]}"#),
    ] {
        assert_eq!(rendered(&format!("{namespace}{view}")), expected, "{view}");
    }
}

#[test]
fn counted_texts_are_written_as_they_are() {
    let long = "a b\n".repeat(100);
    for (before, after) in [
        ("", ""),
        ("{% if 1 %}\n", "\n{% endif %}"),
        ("{% raw %}\n", "{% endraw %}\n"),
        ("{% if 1 -%} ", " {%- endif %}"),
    ] {
        for text in [
            long.clone(),
            format!("  {long}  "),
            format!("\n{}", " ".repeat(300)),
            format!("{}é", "é".repeat(300)),
            format!("{{ {long} }} %}}"),
        ] {
            let template = format!("{before}{text}{after}");
            let engine = |blanks: bool| {
                let mut engine = minijinja::Environment::new();
                let syntax = minijinja::syntax::SyntaxConfig::builder()
                    .keep_trailing_newline(true)
                    .trim_blocks(blanks)
                    .lstrip_blocks(blanks)
                    .build();
                engine.set_syntax(syntax.expect("a syntax"));
                engine.render_str(&template, ()).expect("a text")
            };
            let plain = "#jinja2: trim_blocks: False, lstrip_blocks: False\n";
            assert_eq!(rendered(&format!("{plain}{template}")), engine(false), "{template}");
            let trimmed = "#jinja2: trim_blocks: True, lstrip_blocks: True\n";
            assert_eq!(rendered(&format!("{trimmed}{template}")), engine(true), "{template}");
        }
    }
}
