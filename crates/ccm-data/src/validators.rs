//! Functions for `@validate` and other expressions that test the form of a value. Numbers and booleans are
//! tested as text, so that `isInt(value)` holds for `5` and `"5"`. Lists, maps and null never match.

use std::borrow::Cow;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ccm_expr::Value;
use ccm_model::parse_duration;
use regex::Regex;

use crate::printed;

/// Function that tests a value.
#[derive(Debug)]
pub struct Validator {
    /// Names.
    pub names: &'static [&'static str],
    /// Description in one sentence.
    pub summary: &'static str,
    /// Texts that pass; for a pattern, the one in the summary.
    pub holds: &'static [&'static str],
    /// Texts that fail.
    pub fails: &'static [&'static str],
    check: Check,
}

#[derive(Debug)]
enum Check {
    /// Test of the value alone.
    Value(fn(&str) -> bool),
    /// Test with a regular expression.
    Pattern,
}

/// Error of a call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ValidatorError {
    /// Wrong number of arguments.
    #[error("`{name}` takes {expected}, found {found}")]
    Arguments {
        /// Name in the call.
        name: String,
        /// Expected arguments.
        expected: &'static str,
        /// Number of arguments.
        found: usize,
    },
    /// The regular expression is no text.
    #[error("`{name}` takes a regular expression as text, found {found}")]
    Kind {
        /// Name in the call.
        name: String,
        /// Kind of the argument.
        found: &'static str,
    },
    /// The regular expression is invalid.
    #[error("the regular expression is not valid: {0}")]
    Pattern(String),
}

/// All validators.
pub static VALIDATORS: &[Validator] = &[
    Validator {
        names: &["isIP", "is_ip"],
        summary: "An IP address (version 4 or 6).",
        holds: &["192.168.1.1", "2001:db8::1", "::"],
        fails: &["", "192.168.1", "192.168.1.256", "192.168.1.0/24", "example.com", " 10.0.0.1"],
        check: Check::Value(|text| text.parse::<IpAddr>().is_ok()),
    },
    Validator {
        names: &["isIPv4", "is_ipv4"],
        summary: "An IP address of version 4.",
        holds: &["192.168.1.1", "0.0.0.0"],
        fails: &["", "::1", "::ffff:10.0.0.1", "010.0.0.1", "10.0.0"],
        check: Check::Value(|text| text.parse::<Ipv4Addr>().is_ok()),
    },
    Validator {
        names: &["isIPv6", "is_ipv6"],
        summary: "An IP address of version 6.",
        holds: &["::1", "2001:db8::1", "::ffff:10.0.0.1"],
        fails: &["", "10.0.0.1", "[::1]", "fe80::1%eth0", ":::"],
        check: Check::Value(|text| text.parse::<Ipv6Addr>().is_ok()),
    },
    Validator {
        names: &["isInt", "is_int"],
        summary: "A whole number of at most 64 bits.",
        holds: &["0", "-7", "+7", "0644", "9223372036854775807"],
        fails: &["", "1.5", "1_000", "0x1F", "9223372036854775808", " 1", "one"],
        check: Check::Value(|text| text.parse::<i64>().is_ok()),
    },
    Validator {
        names: &["isFloat", "is_float"],
        summary: "A number, whole or with a fraction.",
        holds: &["1.5", "-3", "1e3", ".5", "0"],
        fails: &["", "NaN", "inf", "1e999", "1,5", "1.5s"],
        check: Check::Value(is_float),
    },
    Validator {
        names: &["isDuration", "is_duration"],
        summary: "A duration, such as `30s`, `5m`, `1h30m` or `1.5h`.",
        holds: &["30s", "1h30m", "2d", "0"],
        fails: &["", "30", "-5s", "1M", "soon"],
        check: Check::Value(|text| parse_duration(text).is_ok()),
    },
    Validator {
        names: &["isRegex", "is_regex"],
        summary: "A text that a regular expression matches: `isRegex(value, \"^[a-z]+$\")`.",
        holds: &["abc"],
        fails: &["", "ABC", "abc1"],
        check: Check::Pattern,
    },
    Validator {
        names: &["isShellSafe", "is_shell_safe", "is_shellsafe"],
        summary: "A text without `` ` $ ; | & > < ( ) ``, NUL and line ends. Quotes and wildcards are allowed.",
        holds: &["", "a b", "/etc/app.conf", "it's", "a=b"],
        fails: &[
            "a;b", "$HOME", "`id`", "a|b", "a&b", "a>b", "a<b", "(a", "a)", "a\nb", "a\n", "a\rb", "a\0b",
        ],
        check: Check::Value(is_shell_safe),
    },
    Validator {
        names: &["isHostname", "is_hostname"],
        summary: "A host name: letters, digits and dashes, in parts separated by dots.",
        holds: &["web", "web-1", "web.example.com", "3com.example", "x--y"],
        fails: &["", "-web", "web-", "web_1", "a..b", "web.", ".web", "a b", "ä", "10.0.0.1"],
        check: Check::Value(is_hostname),
    },
    Validator {
        names: &["isFQDN", "is_fqdn"],
        summary: "A host name with its domain; a dot at the end is allowed.",
        holds: &["web.example.com", "example.com."],
        fails: &["", "web", "web.", ".", "example..com", "web.example.1", "10.0.0.1"],
        check: Check::Value(is_fqdn),
    },
];

/// Finds a validator by name.
pub fn find(name: &str) -> Option<&'static Validator> {
    VALIDATORS.iter().find(|validator| validator.names.contains(&name))
}

impl Validator {
    /// Calls the validator; `name` is its name in the call.
    pub fn call(&self, name: &str, arguments: &[Value]) -> Result<bool, ValidatorError> {
        match (&self.check, arguments) {
            (Check::Value(holds), [value]) => Ok(text_of(value).is_some_and(|text| holds(&text))),
            (Check::Pattern, [value, Value::Text(pattern)]) => {
                let pattern =
                    Regex::new(pattern).map_err(|error| ValidatorError::Pattern(last_line(&error)))?;
                Ok(text_of(value).is_some_and(|text| pattern.is_match(&text)))
            }
            (Check::Pattern, [_, pattern]) => {
                Err(ValidatorError::Kind { name: name.to_owned(), found: pattern.kind() })
            }
            (check, _) => Err(ValidatorError::Arguments {
                name: name.to_owned(),
                expected: match check {
                    Check::Value(_) => "one argument",
                    Check::Pattern => "a value and a regular expression",
                },
                found: arguments.len(),
            }),
        }
    }
}

/// Returns the text to test; `None` for lists, maps and null.
fn text_of(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::Null | Value::List(_) | Value::Map(_) => None,
        _ => Some(printed::to_text(value)),
    }
}

/// Returns the last line of the message; the lines before draw the position.
fn last_line(error: &regex::Error) -> String {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or_default();
    last.trim().trim_start_matches("error: ").trim_end_matches('.').to_owned()
}

fn is_float(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit()) && text.parse::<f64>().is_ok_and(f64::is_finite)
}

fn is_shell_safe(text: &str) -> bool {
    !text.contains(['`', '$', ';', '|', '&', '>', '<', '(', ')', '\n', '\r', '\0'])
}

/// Host names follow RFC 1123; one that ends in a number would be taken for an address.
fn is_hostname(text: &str) -> bool {
    let is_part = |part: &str| {
        (1..=63).contains(&part.len())
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            && !part.starts_with('-')
            && !part.ends_with('-')
    };
    let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    text.len() <= 253
        && text.split('.').all(is_part)
        && !(text.contains('.') && text.rsplit('.').next().is_some_and(is_number))
}

fn is_fqdn(text: &str) -> bool {
    let name = text.strip_suffix('.').unwrap_or(text);
    name.contains('.') && is_hostname(name)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    fn call(name: &str, value: &str) -> bool {
        let validator = find(name).expect("a validator");
        let pattern = matches!(validator.check, Check::Pattern).then(|| Value::text("^[a-z]+$"));
        let arguments: Vec<Value> = std::iter::once(Value::text(value)).chain(pattern).collect();
        validator.call(name, &arguments).expect("a result")
    }

    #[test]
    fn examples_hold() {
        for Validator { names, holds, fails, .. } in VALIDATORS {
            for name in *names {
                for text in *holds {
                    assert!(call(name, text), "{name} holds for {text:?}");
                }
                for text in *fails {
                    assert!(!call(name, text), "{name} fails for {text:?}");
                }
            }
        }
    }

    #[test]
    fn names_are_unique() {
        let names: Vec<&str> = VALIDATORS.iter().flat_map(|validator| validator.names).copied().collect();
        let different: HashSet<&str> = names.iter().copied().collect();
        assert_eq!(names.len(), different.len());
        assert!(find("isip").is_none());
    }

    #[test]
    fn numbers_are_tested_as_text() {
        for (name, value, expected) in [
            ("isInt", Value::Int(5), true),
            ("isInt", Value::Float(5.0), true),
            ("isInt", Value::Float(5.5), false),
            ("isFloat", Value::Float(5.5), true),
            ("isFloat", Value::Float(f64::NAN), false),
            ("isShellSafe", Value::Bool(true), true),
            ("isInt", Value::Null, false),
            ("isShellSafe", Value::Null, false),
            ("isShellSafe", Value::list([Value::text("a")]), false),
            ("isShellSafe", Value::map([("a", Value::text("a"))]), false),
        ] {
            let validator = find(name).expect("a validator");
            assert_eq!(validator.call(name, std::slice::from_ref(&value)), Ok(expected), "{name} {value:?}");
        }
    }

    #[test]
    fn regular_expressions_match_anywhere() {
        let validator = find("is_regex").expect("a validator");
        for (text, pattern, expected) in [
            ("hello123", "[0-9]+", true),
            ("hello", "^[0-9]+$", false),
            ("Ä", r"(?i)^ä$", true),
            ("ä", r"^\p{L}\w?$", true),
            ("a\nb", "(?s)a.b", true),
        ] {
            let arguments = [Value::text(text), Value::text(pattern)];
            assert_eq!(validator.call("is_regex", &arguments), Ok(expected), "{text} {pattern}");
        }
    }

    #[test]
    fn invalid_calls_are_errors() {
        for (name, arguments, message) in [
            ("isIP", vec![], "`isIP` takes one argument, found 0"),
            ("is_ip", vec![Value::Null, Value::Null], "`is_ip` takes one argument, found 2"),
            ("isRegex", vec![Value::text("a")], "`isRegex` takes a value and a regular expression, found 1"),
            (
                "isRegex",
                vec![Value::text("a"), Value::Int(1)],
                "`isRegex` takes a regular expression as text, found an integer",
            ),
            (
                "isRegex",
                vec![Value::text("a"), Value::text("[a")],
                "the regular expression is not valid: unclosed character class",
            ),
        ] {
            let error = find(name).expect("a validator").call(name, &arguments).expect_err("an error");
            assert_eq!(error.to_string(), message);
        }
    }

    #[test]
    fn host_names_have_a_maximum_length() {
        let part = "a".repeat(63);
        let longest = format!("{part}.{part}.{part}.{}", "a".repeat(61));
        assert!(call("isHostname", &part) && !call("isHostname", &format!("{part}a")));
        assert!(call("isFQDN", &longest) && call("isFQDN", &format!("{longest}.")));
        assert!(!call("isFQDN", &format!("{longest}a")));
    }

    #[test]
    fn a_huge_pattern_is_refused() {
        let validator = find("isRegex").expect("a validator");
        let arguments = [Value::text("a"), Value::text("((a{100}){100}){100}")];
        assert!(matches!(validator.call("isRegex", &arguments), Err(ValidatorError::Pattern(_))));
    }

    proptest! {
        #[test]
        fn any_text_has_a_result(text: String) {
            for validator in VALIDATORS {
                let value = Value::text(text.as_str());
                let is_fine = validator.call("x", &[value.clone(), value.clone()]).is_ok_and(|_| true)
                    || validator.call("x", &[value]).is_ok();
                prop_assert!(is_fine || matches!(validator.check, Check::Pattern));
            }
        }

        #[test]
        fn a_domain_name_is_a_host_name(text in "[a-z0-9.-]{0,12}") {
            prop_assert!(!call("isFQDN", &text) || call("isHostname", text.trim_end_matches('.')));
        }
    }
}
