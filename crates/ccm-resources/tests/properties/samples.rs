//! A valid and an invalid value for each property of each type.

/// Value of a property, and a value of another kind. Both are JSON, which is also YAML.
#[derive(Clone, Copy)]
pub(crate) struct Sample {
    /// Type; `*` stands for all types.
    pub type_name: &'static str,
    pub property: &'static str,
    pub right: &'static str,
    pub wrong: &'static str,
    /// Required properties beside it, one per line.
    pub beside: &'static [&'static str],
    /// True if the value must be known before the run.
    pub is_early: bool,
}

const fn sample(
    type_name: &'static str,
    property: &'static str,
    right: &'static str,
    wrong: &'static str,
) -> Sample {
    Sample { type_name, property, right, wrong, beside: &[], is_early: false }
}

const fn beside(beside: &'static [&'static str], sample: Sample) -> Sample {
    Sample { beside, ..sample }
}

const fn early(sample: Sample) -> Sample {
    Sample { is_early: true, ..sample }
}

const TEXT: &str = r#""text""#;
const LIST: &str = r#"["a"]"#;
const MAP: &str = r#"{"a": "b"}"#;
const SUBSCRIBES: &str = "subscribe: [exec#source]";

/// Required properties of types, one per line.
pub(crate) const REQUIRED: &[(&str, &[&str])] = &[
    ("line", &["path: /d/f", "line: text"]),
    ("block", &["path: /d/f", "content: text"]),
    ("setting", &["path: /d/f", "key: a", "value: b"]),
    ("archive", &["url: https://example.com/a.tar.gz"]),
];

pub(crate) const SAMPLES: &[Sample] = &[
    early(sample("*", "alias", TEXT, LIST)),
    early(sample("*", "require", r#"["exec#source"]"#, "5")),
    early(sample("*", "subscribe", r#"["exec#source"]"#, "5")),
    early(sample("exec", "ensure", r#""present""#, LIST)),
    early(sample("exec", "provider", r#""shell""#, LIST)),
    sample("exec", "command", r#""/bin/echo a""#, LIST),
    sample("exec", "args", r#"["a", "b"]"#, MAP),
    sample("exec", "cwd", r#""/tmp""#, LIST),
    sample("exec", "environment", r#"["A=b"]"#, "5"),
    sample("exec", "environment", r#"{"A": "b"}"#, r#"{"A": ["b"]}"#),
    sample("exec", "path", r#""/usr/bin:/bin""#, LIST),
    sample("exec", "returns", "[0, 3]", TEXT),
    sample("exec", "unchanged_returns", "[3]", TEXT),
    sample("exec", "timeout", r#""30s""#, LIST),
    sample("exec", "creates", r#""/made""#, MAP),
    sample("exec", "creates", r#"["/made", "/too"]"#, "[[]]"),
    sample("exec", "onlyif", r#""true""#, MAP),
    sample("exec", "onlyif", r#"["true", "test -e /x"]"#, "[[]]"),
    sample("exec", "unless", r#""false""#, MAP),
    sample("exec", "unless", r#"["false"]"#, "[[]]"),
    beside(&[SUBSCRIBES], sample("exec", "refresh_only", "true", LIST)),
    beside(&[SUBSCRIBES], sample("exec", "refreshonly", "true", LIST)),
    beside(&[SUBSCRIBES, "creates: /made"], sample("exec", "refresh_respects_guards", "true", LIST)),
    sample("exec", "logoutput", "true", LIST),
    sample("exec", "logoutput", r#""on_failure""#, MAP),
    sample("exec", "sensitive", "true", TEXT),
    sample("exec", "stdin", TEXT, LIST),
    sample("exec", "tries", "3", TEXT),
    beside(&["tries: 3"], sample("exec", "try_sleep", r#""5s""#, LIST)),
    sample("exec", "user", r#""root""#, LIST),
    sample("exec", "group", r#""root""#, LIST),
    sample("exec", "umask", r#""027""#, LIST),
    sample("exec", "expect", r#"{"exit_code": 0}"#, "5"),
    sample("exec", "expect", r#"{"stdout": "contains('a')"}"#, r#"{"stdout": []}"#),
    sample("exec", "capture", r#"{"key": "stdout.raw"}"#, "5"),
    sample("exec", "executor", r#""builder""#, LIST),
    sample("exec", "sandbox", r#"{"network": false}"#, "5"),
    early(sample("file", "ensure", r#""present""#, LIST)),
    early(sample("file", "provider", r#""posix""#, LIST)),
    sample("file", "content", TEXT, LIST),
    sample("file", "source", r#""plain.txt""#, LIST),
    sample("file", "source", r#""page.j2""#, LIST),
    sample("file", "owner", r#""root""#, LIST),
    sample("file", "group", r#""root""#, LIST),
    sample("file", "mode", r#""0640""#, LIST),
    beside(&["ensure: absent"], sample("file", "force", "true", TEXT)),
    beside(&["ensure: link"], sample("file", "target", r#""../d/g""#, LIST)),
    sample("file", "backup", "true", TEXT),
    beside(&["content: a"], sample("file", "validate", r#"["check %s", "test -s %s"]"#, MAP)),
    sample("file", "sensitive", "true", TEXT),
    early(sample("line", "ensure", r#""present""#, LIST)),
    early(sample("line", "provider", r#""posix""#, LIST)),
    sample("line", "path", r#""/f""#, LIST),
    sample("line", "line", TEXT, LIST),
    sample("line", "match", TEXT, LIST),
    sample("line", "after", TEXT, LIST),
    sample("line", "before", TEXT, LIST),
    sample("line", "multiple", "true", TEXT),
    sample("line", "create", "true", TEXT),
    sample("line", "backup", "true", TEXT),
    sample("line", "validate", r#""check %s""#, MAP),
    sample("line", "sensitive", "true", TEXT),
    early(sample("block", "ensure", r#""present""#, LIST)),
    early(sample("block", "provider", r#""posix""#, LIST)),
    sample("block", "path", r#""/f""#, LIST),
    sample("block", "content", TEXT, LIST),
    sample("block", "comment", TEXT, LIST),
    sample("block", "comment_end", TEXT, LIST),
    sample("block", "after", TEXT, LIST),
    sample("block", "before", TEXT, LIST),
    sample("block", "create", "true", TEXT),
    sample("block", "backup", "true", TEXT),
    sample("block", "validate", r#""check %s""#, MAP),
    sample("block", "sensitive", "true", TEXT),
    early(sample("setting", "ensure", r#""present""#, LIST)),
    early(sample("setting", "provider", r#""posix""#, LIST)),
    sample("setting", "path", r#""/f""#, LIST),
    sample("setting", "section", TEXT, LIST),
    sample("setting", "key", TEXT, LIST),
    sample("setting", "value", TEXT, LIST),
    sample("setting", "separator", r#"":""#, LIST),
    sample("setting", "create", "true", TEXT),
    sample("setting", "backup", "true", TEXT),
    sample("setting", "validate", r#""check %s""#, MAP),
    sample("setting", "sensitive", "true", TEXT),
    early(sample("archive", "ensure", r#""present""#, LIST)),
    early(sample("archive", "provider", r#""posix""#, LIST)),
    sample("archive", "url", r#""https://example.com/b.tar.gz""#, LIST),
    sample(
        "archive",
        "checksum",
        r#""0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef""#,
        LIST,
    ),
    sample("archive", "checksum_url", r#""https://example.com/sums""#, LIST),
    sample("archive", "headers", r#"{"X-Token": "a"}"#, LIST),
    sample("archive", "username", TEXT, LIST),
    beside(&["username: a"], sample("archive", "password", TEXT, LIST)),
    sample("archive", "ca_file", r#""/ca.pem""#, LIST),
    sample("archive", "owner", r#""root""#, LIST),
    sample("archive", "group", r#""root""#, LIST),
    sample("archive", "mode", r#""0640""#, LIST),
    sample("archive", "extract_parent", r#""/opt""#, LIST),
    beside(&["extract_parent: /opt"], sample("archive", "strip_components", "1", TEXT)),
    beside(&["extract_parent: /opt"], sample("archive", "creates", r#""/opt/a""#, LIST)),
    beside(&["extract_parent: /opt", "creates: /opt/a"], sample("archive", "cleanup", "true", TEXT)),
    sample("archive", "max_size", r#""1GiB""#, LIST),
    sample("archive", "timeout", r#""30s""#, LIST),
    early(sample("package", "ensure", r#""latest""#, LIST)),
    early(sample("package", "ensure", r#""1.2-3""#, LIST)),
    early(sample("package", "provider", r#""apt""#, LIST)),
    sample("package", "update_cache", r#""1h""#, LIST),
    sample("package", "recommends", "true", TEXT),
    beside(&["ensure: absent"], sample("package", "purge", "true", TEXT)),
    sample("package", "timeout", r#""1h""#, LIST),
    sample("package", "lock_timeout", r#""5m""#, LIST),
    early(sample("service", "ensure", r#""stopped""#, LIST)),
    early(sample("service", "provider", r#""systemd""#, LIST)),
    sample("service", "enable", "true", TEXT),
    beside(&["ensure: stopped"], sample("service", "masked", "true", TEXT)),
    sample("service", "on_refresh", r#""reload""#, LIST),
    sample("service", "timeout", r#""30s""#, LIST),
    sample("service", "user", "true", TEXT),
    early(sample("apply", "ensure", r#""present""#, LIST)),
    early(sample("apply", "provider", r#""manifest""#, LIST)),
    early(sample("apply", "noop", "true", TEXT)),
    early(sample("apply", "health_check_only", "true", TEXT)),
    early(sample("apply", "allow_apply", "false", TEXT)),
    early(sample("apply", "data", r#"{"a": 1}"#, LIST)),
];
