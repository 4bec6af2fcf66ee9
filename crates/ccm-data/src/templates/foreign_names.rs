//! Names of Jinja2, Ansible and Python that ccm has under another name, or on purpose not at all.

/// Filters, with what to write.
const FILTERS: [(&str, &str); 34] = [
    ("ansible_vault", "write `credential(\"name\")`"),
    ("checksum", "write `value | hash`"),
    ("default_if_none", "write `value | default(…, true)`"),
    ("expanduser", "write the path in full, or with `Environ.HOME`"),
    ("fileglob", "list the files in `data`"),
    ("forceescape", "write `value | escape`"),
    ("from_yaml", "write the value into `data`"),
    ("from_yaml_all", "write the values into `data`"),
    ("human_readable", "write `value | filesizeformat(true)`"),
    ("human_to_bytes", "write the number of bytes into `data`"),
    ("ipaddr", "write the parts of the address into `data`"),
    ("json_query", "write `lookup(\"data.path.#(key==value)\")`"),
    ("lists_mergeby", "write the list into `data`"),
    ("log", "write the number into `data`"),
    ("pow", "write `value ** 2`"),
    ("password_hash", "hash the password once, and write `credential(\"name\")`"),
    ("random", "a template yields the same text in every run: write the value into `data`"),
    ("random_mac", "a template yields the same text in every run: write the value into `data`"),
    ("realpath", "write the path in full"),
    ("regex_escape", "write the letters with `\\\\` before them"),
    ("root", "write `value ** 0.5`"),
    ("shuffle", "a template yields the same text in every run: write the list into `data`"),
    ("splitext", "write `value.rpartition(\".\")`"),
    ("strftime", "write the time with an expression: `now().Format(…)` in the manifest"),
    ("striptags", "write the text without tags into `data`"),
    ("to_datetime", "write the time with an expression: `date(…)` in the manifest"),
    ("to_json", "write `value | tojson`"),
    ("to_nice_json", "write `value | tojson(indent=4)`"),
    ("to_nice_yaml", "write `value | tojson(indent=2)`, which is YAML too"),
    ("to_uuid", "write the UUID into `data`"),
    ("to_yaml", "write `value | tojson`, which is YAML too"),
    ("type_debug", "write `value is string`, `value is number`, `value is mapping` and so on"),
    ("vault", "write `credential(\"name\")`"),
    ("wordwrap", "write the line ends into the text"),
];

/// Methods, with what to write.
const METHODS: [(&str, &str); 25] = [
    ("append", "a list does not change: write `{% set list = list + [element] %}`"),
    ("casefold", "write `value.lower()`"),
    ("clear", "write `{% set list = [] %}`"),
    ("copy", "a value does not change, and needs no copy"),
    ("encode", "write the text itself: it is UTF-8"),
    ("expandtabs", "write `value.replace(\"\\t\", \"    \")`"),
    ("extend", "a list does not change: write `{% set list = list + others %}`"),
    ("format", "write `\"%s-%d\" | format(a, b)`, or `a ~ \"-\" ~ b`"),
    ("has_key", "write `key in map`"),
    ("insert", "a list does not change: write `{% set list = [element] + list %}`"),
    ("islower", "write `value == value.lower()`"),
    ("isspace", "write `value.strip() == \"\"`"),
    ("isupper", "write `value == value.upper()`"),
    ("iteritems", "write `map.items()`"),
    ("iterkeys", "write `map.keys()`"),
    ("itervalues", "write `map.values()`"),
    ("pop", "a value does not change: write `list[:-1]`, or `map | dict2items | rejectattr(…)`"),
    ("remove", "a list does not change: write `list | reject(\"eq\", element) | list`"),
    ("reverse", "a list does not change: write `list | reverse`"),
    ("setdefault", "a map does not change: write `{\"key\": default} | combine(map)`"),
    ("sort", "a list does not change: write `list | sort`"),
    ("swapcase", "write the text as it should be into `data`"),
    ("translate", "write `value.replace(…)` for each letter"),
    ("to_json", "write `value | tojson`"),
    ("update", "a map does not change: write `map | combine(other)`"),
];

/// Tests, with what to write.
const TESTS: [(&str, &str); 13] = [
    ("changed", "a template knows no results: write a condition with `data` or `facts`"),
    ("contains", "write `element in list`"),
    ("directory", "a template does not look at files: write `data` or a fact"),
    ("empty", "write `not value`"),
    ("exists", "a template does not look at files: write `data` or a fact"),
    ("failed", "a template knows no results: write a condition with `data` or `facts`"),
    ("file", "a template does not look at files: write `data` or a fact"),
    ("match", "write `value | regex_search(\"^…\")`"),
    ("regex", "write `value | regex_search(\"…\")`"),
    ("search", "write `value | regex_search(\"…\")`"),
    ("subset", "write `list | difference(other) == []`"),
    ("version", "compare a part as a number: `value.split(\".\")[0] | int >= 2`"),
    ("version_compare", "compare a part as a number: `value.split(\".\")[0] | int >= 2`"),
];

/// Variables, with what to write.
const VARIABLES: [(&str, &str); 16] = [
    ("ansible_env", "write `Environ.NAME`"),
    ("ansible_facts", "write `Facts`, such as `Facts.host.info.hostname`"),
    ("ansible_managed", "write the comment into the template"),
    ("env", "write `Environ.NAME`"),
    ("environment", "write `Environ.NAME`"),
    ("grains", "write `Facts`, such as `Facts.host.info.hostname`"),
    ("group_names", "ccm knows one machine: write the list into `data`"),
    ("groups", "ccm knows one machine: write the list into `data`"),
    ("hostvars", "ccm knows one machine: write the values of others into `data`"),
    ("index", "write `loop.index` in a `for`, which counts from 1"),
    ("inventory_hostname", "write `Facts.host.info.hostname`"),
    (
        "item",
        "only a template of a `foreach` has `Item`: otherwise write a loop, `{% for item in Data.list %}`",
    ),
    ("omit", "leave the line out: `{% if value %}…{% endif %}`"),
    ("pillar", "write `Data`, such as `Data.port`"),
    ("salt", "write `Data` or `Facts`, such as `Data.port`"),
    ("vars", "write `Data`, such as `Data.port`"),
];

/// Functions of Python and Ansible, with what to write.
const FUNCTIONS: [(&str, &str); 10] = [
    ("enumerate", "write `loop.index0` in the loop"),
    ("env", "write `Environ.NAME`"),
    ("isinstance", "write `value is string`, `value is mapping` and so on"),
    ("len", "write `value | length`"),
    ("now", "write the time with an expression: `now().Format(…)` in the manifest"),
    ("print", "write the value itself: `{{ value }}`"),
    ("query", "write the list into `data`"),
    ("reversed", "write `value | reverse`"),
    ("sorted", "write `value | sort`"),
    ("str", "write `value | string`"),
];

/// Returns what to write in place of a function.
pub(super) fn function_counterpart(name: &str) -> Option<&'static str> {
    FUNCTIONS.iter().find(|(foreign, _)| *foreign == name).map(|(_, hint)| *hint)
}

/// Returns what to write in place of a test.
pub(super) fn test_counterpart(name: &str) -> Option<&'static str> {
    TESTS.iter().find(|(foreign, _)| *foreign == name).map(|(_, hint)| *hint)
}

/// Returns what to write in place of a variable.
pub(super) fn variable_counterpart(name: &str) -> Option<&'static str> {
    let found = VARIABLES.iter().find(|(foreign, _)| *foreign == name).map(|(_, hint)| *hint);
    found.or_else(|| {
        name.starts_with("ansible_").then_some("facts are below `Facts`: `ccm facts` shows their names")
    })
}

/// Returns what to write in place of a filter.
pub(super) fn filter_counterpart(name: &str) -> Option<&'static str> {
    FILTERS.iter().find(|(foreign, _)| *foreign == name).map(|(_, hint)| *hint)
}

/// Returns what to write in place of a method.
pub(super) fn method_counterpart(name: &str) -> Option<&'static str> {
    METHODS.iter().find(|(foreign, _)| *foreign == name).map(|(_, hint)| *hint)
}
