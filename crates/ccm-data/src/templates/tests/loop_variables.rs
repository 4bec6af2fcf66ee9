//! Names that a loop sets and that something outside of the round reads.

use super::{Scope, failure, rendered};

#[test]
fn a_name_that_a_loop_sets_is_not_read_as_if_it_lasted() {
    for (marked, side) in [
        ("{% set n = 0 %}{% for i in [1] %}{% set n = n + i %}{% endfor %}{{ ^n }}", "above"),
        (
            "{% set found = false %}{% for i in [1] %}{% if i %}{% set found = true %}{% endif %}{% endfor %}\
             {% if ^found %}{% endif %}",
            "above",
        ),
        (
            "{% for i in [1] %}{% set last %}{{ i }}{% endset %}{% endfor %}{{ 'x' if ^last is defined }}",
            "above",
        ),
        (
            "{% set a = 1 %}{% for i in [1] %}{% for j in [1] %}{% set a = 2 %}{% endfor %}{{ ^a }}{% endfor %}",
            "above",
        ),
        (
            "{% set a = 1 %}{% for i in [1] %}{% for j in [1] %}{% set a = 2 %}{% endfor %}{% endfor %}{{ ^a }}",
            "above",
        ),
        ("{% set a = 1 %}{% for i in [1] %}{% set a, b = [1, 2] %}{% endfor %}{{ [^b] }}", "above"),
        (
            "{% set first = true %}{% for i in [1, 2] %}{% if not ^first %},{% endif %}{% set first = false %}\
             {% endfor %}",
            "below",
        ),
        (
            "{% set a = 1 %}{% for i in [1] %}{% with b = ^a %}{{ b }}{% endwith %}{% set a = 2 %}{% endfor %}",
            "below",
        ),
        ("#jinja2: trim_blocks: true\n{% for i in [1] %}{% set a = 2 %}{% endfor %}{{ ^a }}", "above"),
    ] {
        let error = failure(&marked.replace('^', ""), &Scope::default());
        assert!(error.to_string().contains(&format!("the loop {side} sets")), "{marked}: {error}");
        assert_eq!(error.locations[0].range.start, marked.find('^').unwrap_or_default(), "{marked}");
        assert!(error.hints[0].contains("namespace("), "{:?}", error.hints);
    }
}

#[test]
fn a_name_of_a_loop_may_be_used_in_its_round_and_set_anew() {
    for (text, expected) in [
        ("{% for i in [1, 2] %}{% set n = i * 2 %}{{ n }}{% endfor %}", "24"),
        ("{% set n = 'a' %}{% for i in [1, 2] %}{% set n = n ~ i %}{{ n }}{% endfor %}", "a1a2"),
        (
            "{% for i in [1] %}{% set n = i %}{{ n }}{% endfor %}{% for i in [2] %}{% set n = i %}{{ n }}{% endfor %}",
            "12",
        ),
        ("{% for i in [1] %}{% set n = i %}{% endfor %}{% set n = 5 %}{{ n }}", "5"),
        ("{% for i in [1] %}{% set n = i %}{% endfor %}{% for n in [2] %}{{ n }}{% endfor %}", "2"),
        ("{% for i in [1] %}{% set n = i %}{% endfor %}{% with n = 3 %}{{ n }}{% endwith %}", "3"),
        ("{% for i in [1] %}{% set n = i %}{% endfor %}{% macro m(n) %}{{ n }}{% endmacro %}{{ m(4) }}", "4"),
        (
            "{% for i in [1] %}{% set ports = i %}{% endfor %}{{ data.ports.ssh }}{{ dict(ports=1).ports }}",
            "221",
        ),
        ("{% for i in [' a '] %}{% set i = i | trim %}{{ i }}{% endfor %}", "a"),
        (
            "{% set s = ',' %}{% for i in [1, 2] %}{% if i == 1 %}{{ s }}{% else %}{% set s = ';' %}{{ s }}{% endif %}{% endfor %}",
            ",;",
        ),
        (
            "{% set n = 1 %}{% if false %}{% for i in [1] %}{% set n = i %}{% endfor %}{% else %}{{ n }}{% endif %}",
            "1",
        ),
        (
            "{% set n = namespace(x=0) %}{% for i in [1, 2] %}{% set n.x = n.x + i %}{% endfor %}{{ n.x }}",
            "3",
        ),
        (
            "{% macro m() %}{% for i in [1] %}{% set n = i %}{{ n }}{% endfor %}{% endmacro %}{% set n = 7 %}{{ m() }}{{ n }}",
            "17",
        ),
    ] {
        assert_eq!(rendered(text), expected, "{text}");
    }
}
