//! Programs of awk.

use super::awk_tokens::{AwkToken, awk_tokens};
use super::{NotExact, TextAction};

/// Returns the actions of a program outside of its input and output.
pub(crate) fn read_awk(program: &str) -> Result<Vec<TextAction>, NotExact> {
    let tokens = awk_tokens(program)?;
    let changes = |token: &AwkToken<'_>| {
        matches!(token, AwkToken::Name("sub" | "gsub" | "split" | "getline" | "patsplit" | "match"))
    };
    let changes_arguments = tokens.iter().any(changes);
    let mut actions = Vec::new();
    let mut position = 0;
    // Depths of parentheses and brackets at which a `print` began, of which the last is open.
    let mut depth = 0_i32;
    let mut print: Option<i32> = None;
    while let Some(token) = tokens.get(position) {
        match token {
            AwkToken::Operator("(" | "[") => depth += 1,
            AwkToken::Operator(")" | "if()" | "]") => {
                depth -= 1;
                if print.is_some_and(|from| depth < from) {
                    return Err(NotExact("a statement within parentheses"));
                }
            }
            AwkToken::Operator(";" | "{" | "}") | AwkToken::LineEnd => print = None,
            AwkToken::Name("print" | "printf") => print = Some(depth),
            AwkToken::Name("system") => {
                if tokens.get(position + 1) != Some(&AwkToken::Operator("(")) {
                    return Err(NotExact("`system` without parentheses"));
                }
                let is_end = |token: Option<&AwkToken<'_>>| token == Some(&AwkToken::Operator(")"));
                actions.push(TextAction::Shell(literal(&tokens, position + 2, is_end)));
            }
            AwkToken::Name("getline") => actions.extend(read_by_getline(&tokens, position)),
            AwkToken::Name("ARGV") if changes_arguments || !only_reads_argument(&tokens, position) => {
                return Err(NotExact("a change of the files that awk reads"));
            }
            AwkToken::Operator(redirection @ (">" | ">>" | "|" | "|&")) if print == Some(depth) => {
                let target = literal(&tokens, position + 1, ends_statement);
                actions.push(if redirection.starts_with('>') {
                    TextAction::Write(target)
                } else {
                    TextAction::Piped(target)
                });
            }
            AwkToken::Operator("|" | "|&") => {
                if tokens.get(position + 1) != Some(&AwkToken::Name("getline")) {
                    return Err(NotExact("a pipe into something that is not known"));
                }
                actions.push(TextAction::Shell(literal_before(&tokens, position)));
            }
            _ => {}
        }
        position += 1;
    }
    if depth == 0 { Ok(actions) } else { Err(NotExact("a parenthesis without an end")) }
}

/// Returns `true` for `ARGV[1]` that is not assigned.
fn only_reads_argument(tokens: &[AwkToken<'_>], at: usize) -> bool {
    let further = tokens.get(at + 1..at + 5).or_else(|| tokens.get(at + 1..)).unwrap_or_default();
    match further {
        [
            AwkToken::Operator("["),
            AwkToken::Number | AwkToken::Name(_),
            AwkToken::Operator("]"),
            rest @ ..,
        ] => {
            let is_assigned = |operator: &str| {
                let is_comparison = matches!(operator, "==" | "!=" | "<=" | ">=");
                operator.ends_with('=') && !is_comparison || matches!(operator, "++" | "--")
            };
            !matches!(rest.first(), Some(AwkToken::Operator(operator)) if is_assigned(operator))
        }
        _ => false,
    }
}

fn ends_statement(token: Option<&AwkToken<'_>>) -> bool {
    matches!(token, None | Some(AwkToken::LineEnd | AwkToken::Operator(";" | "}")))
}

/// Returns the string at a position, if the expression ends behind it.
fn literal(
    tokens: &[AwkToken<'_>],
    at: usize,
    is_end: impl Fn(Option<&AwkToken<'_>>) -> bool,
) -> Option<String> {
    match tokens.get(at) {
        Some(AwkToken::Text(text)) if is_end(tokens.get(at + 1)) => text.clone(),
        _ => None,
    }
}

/// Returns the string in front of a position, if the expression begins with it.
fn literal_before(tokens: &[AwkToken<'_>], at: usize) -> Option<String> {
    let before = tokens.get(..at)?;
    let (last, before) = before.split_last()?;
    let begins = matches!(
        before.last(),
        Some(AwkToken::LineEnd | AwkToken::Operator("{" | "}" | ";" | "(" | "if()" | "&&" | "||" | "!"))
    );
    match last {
        AwkToken::Text(text) if begins => text.clone(),
        _ => None,
    }
}

/// Returns the file that `getline < file` reads.
fn read_by_getline(tokens: &[AwkToken<'_>], at: usize) -> Option<TextAction> {
    let further = tokens.get(at + 1..).unwrap_or_default();
    let is_end = |token: Option<&AwkToken<'_>>| {
        ends_statement(token) || matches!(token, Some(AwkToken::Operator(")" | "if()")))
    };
    match further {
        [AwkToken::Operator("<"), ..] => Some(TextAction::Read(literal(tokens, at + 2, is_end))),
        [AwkToken::Name(_), AwkToken::Operator("<"), ..] => {
            Some(TextAction::Read(literal(tokens, at + 3, is_end)))
        }
        [] => None,
        [first, ..] if is_end(Some(first)) => None,
        [AwkToken::Name(_), rest @ ..] if is_end(rest.first()) => None,
        _ => Some(TextAction::Read(None)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(program: &str) -> String {
        let Ok(actions) = read_awk(program) else { return "?".to_owned() };
        TextAction::list(&actions)
    }

    #[test]
    fn actions_are_found() {
        for (program, expected) in [
            ("BEGIN{system(\"id\")}", "sh id"),
            ("BEGIN { system (\"id -u\") ; x }", "sh id -u"),
            ("BEGIN{system(\"id\" x)}", "sh ?"),
            ("BEGIN{system(x)}", "sh ?"),
            ("{print > \"/etc/x\"}", "w /etc/x"),
            ("{print | \"sh\"}", "| sh"),
            ("{print $1, $2 |& \"sh\"}", "| sh"),
            ("BEGIN{\"id\"|getline x}", "sh id"),
            ("BEGIN{while ((\"id\" | getline line) > 0) n++}", "sh id"),
            ("BEGIN{\"a\" \"b\"|getline}", "sh ?"),
            ("{printf \"%s\", $1 >> f}", "w ?"),
            ("{printf(\"%s\", $1) > \"f\" \".txt\"}", "w ?"),
            ("{printf(\"%s\", $1) > \"f\"; print (a > b) > \"g\"}", "w f, w g"),
            ("$1/2 {print > \"a/b\"}", "w a/b"),
            ("BEGIN{while ((getline l < \"/etc/x\") > 0) print l}", "r /etc/x"),
            ("BEGIN{getline < f}", "r ?"),
            ("{getline a[1] < \"x\"}", "r ?"),
            ("BEGIN{system(\"echo \\\"a\\\"\")}", "sh echo \"a\""),
            ("BEGIN{system(\"\\x69d\")}", "sh ?"),
            ("{if (x) print > \"a\"; else print > \"b\"}", "w a, w b"),
            ("/[\"]/ || 1 {system(\"id\")}", "sh id"),
        ] {
            assert_eq!(shown(program), expected, "{program}");
        }
    }

    #[test]
    fn ordinary_programs_have_no_actions() {
        for program in [
            "/foo/ {print}",
            "{print $1}",
            "$1 > 5 {print $2}",
            "$3>=1000{print $1}",
            "$1 > 5 || $2 {print (a > b)}",
            "{print \"a > b | c\"}",
            "/a|b/ {n++} END {print n}",
            "{print $1 / 2; x = 1 > 0}",
            "{s+=$1} END{print s/NR}",
            "{s+=$1} END{print (s)/NR, int(s/2)}",
            "# system\n{print}",
            "NR==FNR{a[$1];next} $1 in a",
            "!seen[$0]++",
            "BEGIN{FS=\",\"; OFS=\"\\t\"} {$2=\"\"; print}",
            "{gsub(/[^a-z]/,\"\",$1); print length($1)}",
            "{ if ($1 ~ /x/) next } 1",
            "{x = 1e5; y = 1.5e-3; print x*y}",
            "{ while (i-- > 0) print i }",
            "{getline; print}",
            "{print $NF}",
            "BEGIN{print ARGV[1], ARGC} ARGV[1] == $1",
            "NR>1 && $5+0 > 80 { print \"warn: \" $6 }",
            "{ printf \"%-10s %s\\n\", $1, $2 }",
            "{ printf(\"%d\\n\", ($1 > 3)) }",
            "BEGIN { while (x < 3) x++ }",
            "",
        ] {
            assert_eq!(shown(program), "", "{program}");
        }
    }

    #[test]
    fn what_is_not_known_is_refused() {
        for program in [
            "/[/\"]/ || 1 {system(\"id\")} #\"",
            "/[/]/",
            "@load \"x\"",
            "@include \"x\"",
            "{x=\"system\";@x(\"id\")}",
            "BEGIN{awk::system(\"id\")}",
            "{print \"a",
            "{x++ /2/ 3}",
            "0x1system(\"id\")",
            "BEGIN{x = 1system(\"id\")}",
            "# a \\\nBEGIN{system(\"id\")}",
            "{print \"a\nb\"}",
            "BEGIN{(\"id\") | x}",
            "(",
            "é",
            "length /x/",
            "\"a\" /x/",
            "{ print a)",
            "BEGIN{ARGV[1]=\"/etc/shadow\"}",
            "BEGIN{split(\"a b\",ARGV)}",
            "BEGIN{sub(/a/,\"b\",ARGV[1])}",
        ] {
            assert_eq!(shown(program), "?", "{program}");
        }
    }
}
