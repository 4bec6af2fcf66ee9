//! Hints for tags with the syntax of other languages.

/// Returns what to write in place of the tag at an offset, which has a syntax error.
pub(super) fn syntax_hint(text: &str, at: usize) -> Option<String> {
    let tag = tag_at(text, at)?;
    let word =
        tag.trim_start_matches(['-', '+', ' ', '\t']).split([' ', '\t', '-', '%']).next().unwrap_or_default();
    let is_else_if = || {
        tag.split_whitespace().collect::<Vec<_>>().join(" ").trim_start_matches("- ").starts_with("else if")
    };
    let hint = match word {
        "elsif" | "elseif" | "elsunless" => "write `{% elif … %}`",
        "else" if is_else_if() => "write `{% elif … %}`",
        "end" => "write the name of the block: `{% endif %}`, `{% endfor %}`",
        "foreach" => "write `{% for element in list %}`",
        "while" => "there is no `while`: write `{% for number in range(10) %}`",
        "unless" => "write `{% if not … %}`",
        "assign" | "var" | "let" => "write `{% set name = value %}`",
        "switch" | "case" | "when" => "write `{% if … %}`, `{% elif … %}`",
        ending if ending.starts_with("end") => return ending_hint(&text[..at.min(text.len())]),
        _ => return operator_hint(&without_texts(tag), tag),
    };
    Some(hint.to_owned())
}

/// Returns what to write in place of an end that does not belong to the open block of the text before it.
fn ending_hint(before: &str) -> Option<String> {
    let mut open: Vec<&str> = Vec::new();
    for tag in before.split("{%").skip(1).filter(|tag| tag.contains("%}")) {
        let word = tag.trim_start_matches(['-', '+', ' ', '\t']).split([' ', '\t', '-', '%', '\n']).next();
        match word.unwrap_or_default() {
            word @ ("if" | "for" | "macro" | "call" | "with" | "block" | "filter" | "autoescape") => {
                open.push(word);
            }
            word if word.strip_prefix("end").is_some_and(|word| open.last() == Some(&word)) => {
                open.pop();
            }
            _ => {}
        }
    }
    let block = open.last()?;
    Some(format!("write `{{% end{block} %}}`: the block that is open here is a `{block}`"))
}

fn operator_hint(code: &str, tag: &str) -> Option<String> {
    let has = |operator| code.contains(operator);
    Some(if has("&&") {
        "write `and` in place of `&&`".to_owned()
    } else if has("||") {
        "write `or` in place of `||`".to_owned()
    } else if let Some(filter) = filter_without_brackets(code) {
        let argument = tag.rsplit(['\'', '"']).nth(1).unwrap_or_default();
        format!("write the argument in brackets: `{filter}(\"{argument}\")`")
    } else if code.contains('?') && code.contains(':') {
        "write `a if condition else b`".to_owned()
    } else if code.replace("!=", "").contains('!') {
        "write `not` in place of `!`".to_owned()
    } else if is_condition(tag) && has_lone_equal_sign(code) {
        "write `==` in place of `=`".to_owned()
    } else {
        return None;
    })
}

fn is_condition(tag: &str) -> bool {
    let word = tag.trim_start_matches(['-', '+', ' ', '\t']).split([' ', '\t']).next();
    matches!(word, Some("if" | "elif"))
}

fn has_lone_equal_sign(code: &str) -> bool {
    ["==", "!=", "<=", ">="]
        .iter()
        .fold(code.to_owned(), |code, operator| code.replace(operator, ""))
        .contains('=')
}

/// Returns the filter at the end of a tag that has a text behind it, as in Liquid and Twig's older forms.
fn filter_without_brackets(code: &str) -> Option<&str> {
    let (_, call) = code.trim_end_matches(['-', ' ']).rsplit_once('|')?;
    let (filter, argument) = call.trim().split_once([' ', ':'])?;
    let is_name = filter.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    (is_name && argument.trim() == "\"\"").then_some(filter)
}

/// Returns the content of the tag that holds an offset or ends before it.
fn tag_at(text: &str, at: usize) -> Option<&str> {
    let end = text[at.min(text.len())..].find(['}', '\n']).map_or(text.len(), |found| at + found);
    let before = text.get(..end)?;
    let start = [before.rfind("{{"), before.rfind("{%")].into_iter().flatten().max()?;
    Some(before[start + 2..].trim_end_matches('%'))
}

/// Returns a tag with its quoted texts emptied.
fn without_texts(tag: &str) -> String {
    let mut code = String::new();
    let mut quote = None;
    for letter in tag.chars() {
        match (quote, letter) {
            (None, '"' | '\'') => {
                quote = Some(letter);
                code.push('"');
            }
            (Some(open), _) if open == letter => {
                quote = None;
                code.push('"');
            }
            (None, _) => code.push(letter),
            (Some(_), _) => {}
        }
    }
    code
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_of_other_languages_lead_to_those_of_jinja() {
        for (text, at, expected) in [
            ("a {% if x %}{% elsif y %}", 15, Some("write `{% elif … %}`")),
            ("{%- else if y -%}", 9, Some("write `{% elif … %}`")),
            ("{% end %}", 3, Some("write the name of the block: `{% endif %}`, `{% endfor %}`")),
            ("{% if a && b %}", 8, Some("write `and` in place of `&&`")),
            ("{% if a || b %}", 9, Some("write `or` in place of `||`")),
            ("{{ x | join ', ' }}", 12, Some("write the argument in brackets: `join(\", \")`")),
            ("{{ x | default: 'a' }}", 14, Some("write the argument in brackets: `default(\"a\")`")),
            ("{{ a ? 'b' : 'c' }}", 5, Some("write `a if condition else b`")),
            ("{% if !a %}", 6, Some("write `not` in place of `!`")),
            ("{% if a = 1 %}", 8, Some("write `==` in place of `=`")),
            ("{% if a == 1 b %}", 13, None),
            ("{{ a b }}", 5, None),
            ("{{ '&&' b }}", 8, None),
            ("{% endfor %}", 3, None),
            (
                "{% for x in y %}{% if x %}{% endif %}{% endif %}",
                41,
                Some("write `{% endfor %}`: the block that is open here is a `for`"),
            ),
            ("é", 0, None),
        ] {
            assert_eq!(syntax_hint(text, at).as_deref(), expected, "{text}");
        }
    }
}
