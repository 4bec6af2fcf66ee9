//! Tables of templates whose values have no meaning together, or whose text must be that of Jinja2.

use super::*;

#[test]
fn values_of_different_kinds_are_refused() {
    for (text, expected) in [
        // `1.0` in data is text.
        (
            "{% if data.text_ratio < 2 %}small{% else %}big{% endif %}",
            "`<` has no meaning between text and a number | data.text_ratio < 2",
        ),
        ("{{ [data.text_ratio, 0.5, 3]|sort }}", "`sort` can't order text and a number | sort"),
        (
            "{{ data.text_ratio == 1 }}",
            "`==` has no meaning between text and a number | data.text_ratio == 1",
        ),
        (
            "{{ 1 != data.text_ratio }}",
            "`==` has no meaning between text and a number | 1 != data.text_ratio",
        ),
        ("{{ data.text_ratio * 2 }}", "`*` has no meaning between text and a number | data.text_ratio * 2"),
        (
            "{{ data.text_ratio < '9.0' }}",
            "`<` between texts that spell numbers would order their letters | data.text_ratio < '9.0'",
        ),
        (
            "{{ ['10.0', '9.0']|max }}",
            "`max` between texts that spell numbers would order their letters | max",
        ),
        ("{{ data.secret >= 1 }}", "`>=` has no meaning between text and a number | data.secret >= 1"),
        ("{{ 1 <= data.users }}", "`<=` has no meaning between a number and a list | 1 <= data.users"),
        ("{{ data.ports > 1 }}", "`>` has no meaning between a map and a number | data.ports > 1"),
        (
            "{{ data.ports < data.ports }}",
            "`<` has no meaning between a map and a map | data.ports < data.ports",
        ),
        ("{{ none < 1 }}", "`<` has no meaning between null and a number | none < 1"),
        ("{{ none < none }}", "`<` has no meaning between null and null | none < none"),
        ("{{ true < 2 }}", "`<` has no meaning between a boolean and a number | true < 2"),
        ("{{ [1, 'a'] < [1, 2] }}", "`<` has no meaning between text and a number | [1, 'a'] < [1, 2]"),
        ("{{ 1 < 2 < 'c' }}", "`<` has no meaning between a number and text | 1 < 2 < 'c'"),
        (
            "{{ (1 if 2 > data.secret else 3) }}",
            "`>` has no meaning between a number and text | 2 > data.secret",
        ),
        ("{{ [1 + 2 * 3 < 'a'] }}", "`<` has no meaning between a number and text | 1 + 2 * 3 < 'a'"),
        ("{{ 3 is lt('4') }}", "`<` has no meaning between a number and text | lt('4')"),
        (
            "{{ [1, 2]|select('gt', 'a')|list }}",
            "`>` has no meaning between a number and text | select('gt', 'a')",
        ),
        ("{{ 80 in ['443', '80'] }}", "`==` has no meaning between text and a number | 80 in ['443', '80']"),
        ("{{ 1 in '123' }}", "`in` has no meaning between a number and text | 1 in '123'"),
        ("{{ 1 not in 123 }}", "`in` has no meaning between a number and a number | 1 not in 123"),
        ("{{ 'yes' == true }}", "`==` has no meaning between text and a boolean | 'yes' == true"),
        ("{{ 'true' is true }}", "`==` has no meaning between text and a boolean | true"),
        ("{{ 'a' + 1 }}", "`+` has no meaning between text and a number | 'a' + 1"),
        ("{{ [1] + 1 }}", "`+` has no meaning between a list and a number | [1] + 1"),
        ("{{ none - 1 }}", "`-` has no meaning between null and a number | none - 1"),
        ("{{ data.ports / 2 }}", "`/` has no meaning between a map and a number | data.ports / 2"),
        ("{{ 'a' // 2 }}", "`//` has no meaning between text and a number | 'a' // 2"),
        ("{{ 2 ** 'a' }}", "`**` has no meaning between a number and text | 2 ** 'a'"),
        ("{{ 'a %s' % 1 }}", "`%` has no meaning between text and a number | 'a %s' % 1"),
        ("{{ 'a' * 1.5 }}", "`*` has no meaning between text and a number | 'a' * 1.5"),
        ("{{ 'x' ~ data.users }}", "`~` takes text, not a list | 'x' ~ data.users"),
        ("{{ data.users|upper }}", "`upper` takes text, not a list | upper"),
        ("{{ [[1]]|join }}", "`join` takes text, not a list | join"),
        ("{{ [1, 'a']|min }}", "`min` can't order a number and text | min"),
        (
            "{{ {'a': 1, 'b': 'x'}|dictsort(by='value') }}",
            "`dictsort` can't order a number and text | dictsort(by='value')",
        ),
        (
            "{{ [{'k': 1}, {'k': none}]|sort(attribute='k') }}",
            "`sort` can't order a number and null | sort(attribute='k')",
        ),
        (
            "{{ [{'k': 1}, {'k': 'a'}]|groupby('k')|list }}",
            "`groupby` can't order a number and text | groupby('k')",
        ),
        ("{{ '4' is divisibleby 2 }}", "`divisibleby` takes whole numbers, not text | divisibleby 2"),
        ("{% for x in data.nothing %}{% endfor %}", "`for` takes a list, not null | data.nothing"),
        ("{{ data.nothing[1:] }}", "a slice takes a list, not null | data.nothing"),
        ("{{ data.nothing|sort }}", "`sort` takes a list, not null | sort"),
        ("{{ data.nothing|select|list }}", "`select` takes a list, not null | select"),
        ("{{ data.nothing|join }}", "`join` takes a list, not null | join"),
    ] {
        let error = failure(text, &Scope::default());
        let range = error.locations.first().map_or(0..0, |location| location.range.clone());
        assert_eq!(format!("{} | {}", error.fault, &text[range]), expected, "{text}");
        assert_eq!(error.fault.kind(), DiagnosticKind::InvalidOperand, "{text}");
    }
}

#[test]
fn a_text_that_spells_a_boolean_is_no_condition() {
    for text in [
        "{% if 'false' %}x{% endif %}",
        "{% if 'No' %}x{% endif %}",
        "{% if false %}{% elif 'OFF' %}x{% endif %}",
        "{% if not '0' %}x{% endif %}",
        "{% if '0.0' %}x{% endif %}",
        "{% if data.yes and 'yes' %}x{% endif %}",
        "{% if 'yes' or data.yes %}x{% endif %}",
        "{% if (data.yes and 'on') %}x{% endif %}",
        "{% if ('TRUE' if data.yes else 1) %}x{% endif %}",
        "{{ 1 if 'false' else 2 }}",
        "{{ 'false' and 1 }}",
        "{% for x in [1] if 'no' %}{% endfor %}",
        "{{ ['a', 'no']|select|list }}",
        "{{ [{'a': 'off'}]|rejectattr('a')|list }}",
        "{{ 'no'|ternary(1, 2) }}",
    ] {
        let error = failure(text, &Scope::default());
        assert!(
            error.to_string().starts_with("a text that spells a boolean is no condition"),
            "{text}: {error}"
        );
        assert!(error.hints.iter().any(|hint| hint.contains("`| bool`")), "{text}");
    }
}

#[test]
fn errors_between_kinds_say_what_to_write() {
    for (text, hint) in [
        ("{{ '1' < 2 }}", "| int"),
        ("{{ '1' < 2 }}", "| float"),
        ("{{ '1' < 2 }}", "| string"),
        ("{{ '1' + 2 }}", "~"),
        ("{{ none + 2 }}", "| default(…, true)"),
        ("{{ 'no' == false }}", "| bool"),
        ("{{ '%s' % 1 }}", "text | format(…)"),
        ("{{ [1.5, '2.5']|sort }}", "| float"),
        ("{{ 'a' ~ [1] }}", "| tojson"),
        ("{{ data.nothing|sort }}", "| default([], true)"),
        ("{{ data.secret|to_nice_yaml }}", "value | tojson(indent=2)"),
        ("{{ data.secret|password_hash }}", "credential(\"name\")"),
        ("{{ data.users.append('x') }}", "{% set list = list + [element] %}"),
        ("{{ [{'k': 'a'}, {'k': 'A'}]|groupby('k')|list }}", "groupby(…, case_sensitive=true)"),
        ("{% with a = 1, b = a %}{{ b }}{% endwith %}", "{% set … %}"),
        ("{% autoescape true %}{% endautoescape %}", "value | escape"),
        ("{{ data.secret|hash('md5') }}", "hash(\"sha1\")"),
    ] {
        let error = failure(text, &Scope::default());
        let found = error.hints.iter().flat_map(|hint| hint.split('`').skip(1).step_by(2));
        assert!(found.into_iter().any(|code| code == hint), "{text}: {:?}", error.hints);
    }
}

#[test]
fn operators_keep_their_precedence() {
    for (text, expected) in [
        (
            "{{ 1 + 2 * 3 < 4 ** 2 - 1 }} {{ 2 * 3 / 4 * 5 }} {{ -2 * -3 }} {{ 2 ** 3 * 2 }} {{ 1.5 * 2 }}",
            "true 7.5 6 16 3.0",
        ),
        ("{{ not 1 + 1 == 2 }} {{ not (1 == 2) }} {{ 1 in [1, 2] and 3 not in [1] }}", "false true true"),
        ("{{ 1 < 2 < 3 }} {{ 3 > 2 > 2 }} {{ 1 == 1 != 2 }} {{ 1 in [1] in [[1]] }}", "true false true true"),
        ("{{ 'a' ~ 1 + 2 ~ 'b' if false else 'a' ~ 1 * 2 ~ 'b' }}", "a2b"),
        (
            "{{ data.users|length > 1 }} {{ data.users|length - 1 == 1 }} {{ 1 is eq 1 == true }}",
            "true true true",
        ),
        (
            "{{ '=' * 3 }}{{ 2 * 'ab' }}{{ [0] * 2 }}{{ [1, 2][1:][0] }}{{ ('abc'[1:])[:1] }}{{ -[1, 2][1:][0] }}",
            "===abab[0,0]2b-2",
        ),
        ("{{ 'no' or 'x' }} {{ '' or 'x' }} {{ 0 or 'x' }} {{ 1 and 'no' }}", "no x x no"),
        (
            "{{ 'a' == 1 }} {{ '80' == '80' }} {{ 1 == 1.0 }} {{ none == 1 }} {{ 'auto' in [1, 'auto'] }}",
            "false true true false true",
        ),
        ("{% for x in data.nothing or [7] if x > 1 and x != 8 %}{{ x }}{% endfor %}", "7"),
        ("{% for x in [1] + [2] %}{{ loop.index * x }}{% endfor %}{% set a, b = 1 < 2, 3 %}{{ b }}", "143"),
        (
            "{% macro m(a, b=1 < 2) %}{{ a * 2 }}{{ b }}{% endmacro %}{{ m(1) }}{{ m(b='x' ~ 'y', a=2) }}",
            "2true4xy",
        ),
        (
            "{% with a = 1, b = 2 %}{{ a }}{{ b }}{% endwith %}{% autoescape false %}<{% endautoescape %}",
            "12<",
        ),
        ("{{ {'a': 1 < 2}['a'] }}{{ dict(a=1 * 2).a }}{{ range(*[1, 1 * 3])|list }}", "true2[1,2]"),
        ("{% set v %}{{ 1 * 2 }}{% endset %}{{ v }}{% filter upper %}{{ 'a' ~ 'b' }}{% endfilter %}", "2AB"),
        (
            "{{ ['b', 'B']|max }} {{ ['b', 'A']|min }} {{ [[2, 'a'], [1, 'b']]|sort }} {{ [3, 1]|sort(true) }}",
            "b A [[1,\"b\"],[2,\"a\"]] [3,1]",
        ),
        ("{{ data.ports['s' ~ 'sh'] + 1 * 2 }}", "24"),
        (
            "{% macro m() %}<{{ caller(1 * 2) }}>{% endmacro %}{% call(v) m() %}{{ v ~ 'x' }}{% endcall %}",
            "<2x>",
        ),
        (
            "{% for x in [1, [2]] recursive %}{% if x is number %}{{ x * 2 }}{% else %}{{ loop(x) }}{% endif %}{% endfor %}",
            "24",
        ),
        (
            "{%- if not data.yes is none and 'a' in 'abc' -%} {{- 'y' ~ 1 -}} {%- elif 1 > 2 -%} n {%- endif -%}",
            "y1",
        ),
        (
            "{% set n = namespace(x=1) %}{% for i in range(3) %}{% set n.x = n.x * 2 %}{% endfor %}{{ n.x }}",
            "8",
        ),
        ("{{ data.ports.items()|map('last')|sum * 2 }} {{ loop is defined or 1 < 2 }}", "204 true"),
    ] {
        assert_eq!(rendered(text), expected, "{text}");
    }
}

#[test]
fn locations_are_those_of_the_template_as_it_is_written() {
    for (text, expected) in [
        (
            "#jinja2: trim_blocks: true\n{% if 1 * 2 < 3 %}\n{{ data.usrs }}{% endif %}",
            "t.j2:3:4 `data.usrs` does not exist",
        ),
        ("{{ 1 * 2 ~ 'é' }}{{ data.no }}", "t.j2:1:21 `data.no` does not exist"),
        ("{{ 1 * 2 }}{{ data.no < 3 }}", "t.j2:1:15 `data.no` does not exist"),
        ("{{ 1 * 2 }}{{ data.users[5 * 2] }}", "t.j2:1:19 "),
        ("{{ 1 * 2 }}{{ data.secret|to_yaml }}", "t.j2:1:27 unknown filter `to_yaml`"),
        ("{{ 1 * 2 }}{{ a b }}", "t.j2:1:17 "),
        ("{{ 1 < }}", "t.j2:1:8 "),
        ("{{ 1 >= not 2 }}", "t.j2:1:13 "),
        ("#jinja2: trim_blocks: true\n{{ a b }}", "t.j2:2:6 "),
    ] {
        let error = failure(text, &Scope::default());
        let location = &error.locations[0];
        let found = format!("{}:{}:{} {error}", location.template, location.line, location.column);
        assert!(found.starts_with(expected), "{text}: {found}");
        assert!(!found.contains("__"), "{found}");
    }
}

#[test]
fn a_first_line_of_settings_trims_blanks() {
    let body = "a\n  {% if true %}\nb\n  {% endif %}\nc\n";
    for (line, expected) in [
        ("", "a\n  \nb\n  \nc\n"),
        ("#jinja2: trim_blocks: False\n", "a\n  \nb\n  \nc\n"),
        ("#jinja2: trim_blocks: True, lstrip_blocks: False\n", "a\n  b\n  c\n"),
        ("#jinja2:lstrip_blocks:true\n", "a\n\nb\n\nc\n"),
        ("#jinja2: trim_blocks: true, lstrip_blocks: true\r\n", "a\nb\nc\n"),
        ("# jinja2: a comment\n", "# jinja2: a comment\na\n  \nb\n  \nc\n"),
    ] {
        assert_eq!(rendered(&format!("{line}{body}")), expected, "{line}");
    }
    for (text, expected) in [
        ("#jinja2: trim_block: True\nx", "unknown setting `trim_block` @ trim_block: True"),
        (
            "#jinja2: trim_blocks: True, block_start_string: '<%'\nx",
            "`block_start_string: '<%'` is no boolean setting @ block_start_string: '<%'",
        ),
        ("#jinja2: trim_blocks: 1\nx", "`trim_blocks: 1` is no boolean setting @ trim_blocks: 1"),
        ("#jinja2:\nx", "`` is no boolean setting @ "),
        (
            "# Jinja2: trim_blocks: True\nx",
            "the line looks like settings, and is none @ # Jinja2: trim_blocks: True",
        ),
    ] {
        let error = failure(text, &Scope::default());
        assert_eq!(format!("{error} @ {}", &text[error.locations[0].range.clone()]), expected);
        assert_eq!(error.hints.len(), 1, "{text}");
    }
    let scope = Scope::with(&[
        ("plain", "{% if true %}\nb{% endif %}\n"),
        ("trimmed", "#jinja2: trim_blocks: true\n{% if true %}\nb{% endif %}\n"),
        ("wrong", "#jinja2: trims: true\n"),
    ]);
    for (text, expected) in [
        ("{% include 'plain' %}", "\nb\n"),
        ("#jinja2: trim_blocks: true\n{% include 'plain' %}", "b"),
        ("#jinja2: trim_blocks: true\n{% include 'trimmed' %}", "b"),
        ("{{ template('trimmed') }}", "b"),
    ] {
        assert_eq!(render("t.j2", text, &scope).as_deref(), Ok(expected), "{text}");
    }
    for (text, expected) in [
        (
            "{% include 'trimmed' %}",
            "invalid-operand @ trimmed:1:1 `#jinja2: trim_blocks: true` @ t.j2:1:4 `include 'trimmed'` | …",
        ),
        (
            "{% include 'wrong' %}",
            "expression-syntax @ wrong:1:10 `trims: true` @ t.j2:1:4 `include 'wrong'` | trim_blocks: true, lstrip_blocks: true",
        ),
    ] {
        assert_eq!(explained(text, &scope), expected, "{text}");
    }
}

#[test]
fn filters_and_methods_do_as_in_jinja2_and_ansible() {
    for (text, expected) in LIKE_JINJA2 {
        assert_eq!(rendered(text), *expected, "{text}");
    }
    for text in [
        "{{ 'maybe'|bool }}",
        "{{ data.missing|mandatory }}",
        "{{ 'a'.index('b') }}",
        "{{ ['a'].index('b') }}",
        "{{ ','.join([1]) }}",
        "{{ 'a'|regex_replace('(?=a)', 'b') }}",
        "{{ 'a'|regex_replace('(a)', '\\\\2') }}",
        "{{ 'a\\n'|regex_search('a$') }}",
        "{{ '{'|from_json }}",
        "{{ '*'|b64decode }}",
        "{{ {'a': 1}|reverse|list }}",
        "{{ 1|indent }}",
        "{{ 'abc'|center(10 ** 10) }}",
        "{{ 'abc'.ljust(10 ** 10) }}",
        "{{ ('a' * 10 ** 5).replace('a', 'b' * 10 ** 5) }}",
        "{{ ('a' * 10 ** 5)|regex_replace('a', 'b' * 10 ** 5) }}",
        "{{ 'é'.isdigit() }}",
    ] {
        failure(text, &Scope::default());
    }
}

const LIKE_JINJA2: &[(&str, &str)] = &[
    (
        "{{ 'a\\nb\\n'|indent(2) }}|{{ 'a\\n\\nb'|indent('> ', true, true) }}|{{ 'a\\r\\nb'|indent(1, first=true) }}",
        "a\n  b\n|> a\n> \n> b| a\r\n b",
    ),
    ("{{ 1e20 }} {{ 1e-5 }} {{ 1.5e16 }} {{ 0.0001 }} {{ 2.0 }}", "1e+20 1e-05 1.5e+16 0.0001 2.0"),
    (
        "{{ 'a b&c/d'|urlencode }} {{ {'a b': 'c/d'}|urlencode }} {{ [['a', 1]]|urlencode }}",
        "a%20b%26c/d a+b=c%2Fd a=1",
    ),
    (
        "{{ 'foo bar baz'|truncate(9, leeway=0) }} {{ 'foo bar baz'|truncate(9, true, '..', leeway=0) }} {{ 'abc'|truncate(1) }}",
        "foo... foo bar.. abc",
    ),
    (
        "[{{ 'abc'|center(8) }}] {{ 'a b-c_d'|wordcount }} {{ 'aaa'|replace('a', 'b', 2) }}",
        "[  abc   ] 3 bba",
    ),
    (
        "{{ 'abc'|regex_replace('(b)(c)', '<\\\\2\\\\g<1>>') }} {{ 'abc'|regex_replace('.*', 'x') }} {{ 'ABC'|regex_replace('b', ignorecase=true) }}",
        "a<cb> xx AC",
    ),
    (
        "{{ 'abc'|regex_search('b(.)', '\\\\1') }} {{ 'abc'|regex_search('b.') }} [{{ 'abc'|regex_search('x') }}]",
        "[\"c\"] bc []",
    ),
    (
        "{{ 'ab1b2'|regex_findall('b(\\\\d)') }} {{ 'ab1'|regex_findall('([a-z])(\\\\d)') }}",
        "[\"1\",\"2\"] [[\"b\",\"1\"]]",
    ),
    (
        "{{ '{\"a\": [1, null]}'|from_json }} {{ 'é'|b64encode }} {{ 'w6k='|b64decode }}",
        "{\"a\":[1,null]} w6k= é",
    ),
    (
        "{{ 'yes'|bool }} {{ 'Off'|bool }} {{ 0|bool }} {{ true|ternary(1, 2) }} {{ none|ternary(1, 2, 3) }}",
        "true false false 1 3",
    ),
    (
        "{{ {'a': 1}|dict2items }} {{ {'a': 1}|dict2items(key_name='k')|items2dict(key_name='k') }}",
        "[{\"key\":\"a\",\"value\":1}] {\"a\":1}",
    ),
    (
        "{{ {'a': {'b': 1}}|combine({'a': {'c': 2}}, recursive=true) }} {{ {'a': 1}|combine({'b': 2}, {'a': 3}) }}",
        "{\"a\":{\"b\":1,\"c\":2}} {\"a\":3,\"b\":2}",
    ),
    (
        "{{ '/a/b.c'|basename }} {{ '/a/b.c'|dirname }} {{ '/a'|dirname }} [{{ 'a'|dirname }}] {{ \"it's\"|quote }} {{ 'a=/b'|quote }} {{ ''|quote }}",
        "b.c /a / [] 'it'\"'\"'s' a=/b ''",
    ),
    (
        "{{ [1, 2, 2]|union([3]) }} {{ [1, 2]|intersect([2]) }} {{ [1, 2]|difference([2]) }} {{ [1, 2]|symmetric_difference([2, 3]) }} {{ [1, [2, [none, 3]]]|flatten }} {{ [1, [2, [3]]]|flatten(1) }}",
        "[1,2,3] [2] [1] [1,3] [1,2,3] [1,2,[3]]",
    ),
    (
        "{{ [1, 2]|product([3, 4])|list }} {{ [1, 2]|zip([3, 4])|list }} {{ [2, 1, 2]|unique|list }}",
        "[[1,3],[1,4],[2,3],[2,4]] [[1,3],[2,4]] [2,1]",
    ),
    (
        "{{ 'x'|hash }} {{ 'x'|hash('sha256') }}",
        "11f6ad8ec52a2984abaafd7c3b516503785c2072 2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881",
    ),
    (
        "{{ 'a\\n\\nb'|comment }}|{{ 'a'|comment('c') }}|{{ 'a'|comment(decoration='; ') }}",
        "#\n# a\n#\n# b\n#|//\n// a\n//|;\n; a\n;",
    ),
    (
        "{{ 1500|filesizeformat }} {{ 1|filesizeformat }} {{ 12|filesizeformat }} {{ 1048576|filesizeformat(true) }}",
        "1.5 kB 1 Byte 12 Bytes 1.0 MiB",
    ),
    ("{{ 'ff'|int(base=16) }} {{ 'ff'|int(0, 16) }} {{ '7'|int }} {{ 'x'|int(3) }}", "255 255 7 3"),
    (
        "{{ data.nothing|mandatory }}{{ 'a,b'|split(',') }} {{ [1, 2]|select('gt', 1)|list }}",
        "[\"a\",\"b\"] [2]",
    ),
    (
        "{{ ' a  b '.split() }} {{ 'a,b,c'.split(',', 1) }} {{ 'a.b.c'.rsplit('.', 1) }} {{ ' a b c'.rsplit(none, 1) }}",
        "[\"a\",\"b\"] [\"a\",\"b,c\"] [\"a.b\",\"c\"] [\" a b\",\"c\"]",
    ),
    (
        "[{{ ' a '.strip() }}{{ 'xax'.lstrip('x') }}{{ 'xax'.rstrip('x') }}] {{ 'abc'.startswith('ab') }} {{ 'abc'.endswith(['x', 'c']) }}",
        "[aaxxa] true true",
    ),
    (
        "{{ 'aB'.upper() }} {{ 'aB'.lower() }} {{ \"they're\".title() }} {{ 'aB'.capitalize() }} {{ 'aaa'.replace('a', 'b', 1) }}",
        "AB ab They'Re Ab baa",
    ),
    (
        "{{ ', '.join(['a', 'b']) }} {{ 'abc'.find('c') }} {{ 'abc'.find('x') }} {{ 'aXa'.count('a') }} {{ '12'.isdigit() }} {{ ''.isdigit() }}",
        "a, b 2 -1 2 true false",
    ),
    (
        "{{ 'a\\r\\nb\\n'.splitlines() }} {{ 'a\\nb'.splitlines(true) }} {{ 'a-b-c'.partition('-') }} {{ '-7'.zfill(4) }} [{{ 'a'.ljust(3) }}{{ 'a'.rjust(3, '.') }}{{ 'a'.center(4) }}]",
        "[\"a\",\"b\"] [\"a\\n\",\"b\"] [\"a\",\"-\",\"b-c\"] -007 [a  ..a a  ]",
    ),
    (
        "{{ data.ports.items()|list }} {{ data.ports.keys()|list }} {{ data.ports.values()|list }} {{ data.ports.get('x', 1) }} {{ [1, 1].count(1) }} {{ ['a', 'b'].index('b') }}",
        "[[\"ssh\",22],[\"http\",80]] [\"ssh\",\"http\"] [22,80] 1 2 1",
    ),
];
