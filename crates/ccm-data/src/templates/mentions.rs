//! What a template will ask for, told without rendering it.

use std::collections::BTreeSet;

use super::include_name::normalized;
use super::scan::{Tag, Token, scan};
use super::{FUNCTIONS, NAMES};

/// What a template mentions.
///
/// It never says too little: a template that is rendered asks for nothing else, unless `dynamic` says that
/// it may. What its includes mention is not in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mentions {
    /// Paths of names and constant members, such as `facts`, `host`, `info`; the first part in lower case.
    /// Everything below a path may be read.
    pub paths: BTreeSet<Vec<String>>,
    /// The paths of `lookup`.
    pub lookups: BTreeSet<String>,
    /// The paths of `file`.
    pub files: BTreeSet<String>,
    /// The paths of `template`.
    pub templates: BTreeSet<String>,
    /// What `include`, `import`, `from` and `extends` name, as [`super::TemplateScope::include`] is asked for it.
    pub includes: BTreeSet<String>,
    /// Whether a path or the name of an include is computed, or the text is not a template: then anything may
    /// be asked for.
    pub dynamic: bool,
}

/// Tells what a template mentions.
pub fn mentions(text: &str) -> Mentions {
    let scan = scan(text);
    let mut mentions = Mentions { dynamic: !scan.complete, ..Mentions::default() };
    for tag in &scan.tags {
        match tag {
            Tag::Expression(tokens) => mentions.expression(tokens),
            Tag::Statement(tokens) => {
                if let [Token::Name("include" | "import" | "from" | "extends"), name @ ..] = &tokens[..] {
                    mentions.include(name);
                }
                mentions.expression(tokens);
            }
        }
    }
    mentions
}

impl Mentions {
    fn expression(&mut self, tokens: &[Token<'_>]) {
        for (index, token) in tokens.iter().enumerate() {
            let Token::Name(name) = *token else { continue };
            if index > 0 && matches!(tokens[index - 1], Token::Symbol(b'.' | b'|')) {
                continue;
            }
            let assigned = matches!(tokens.get(index + 1), Some(Token::Symbol(b'=')))
                && !matches!(tokens.get(index + 2), Some(Token::Symbol(b'=')));
            if assigned {
                continue;
            }
            if NAMES.iter().any(|known| known.eq_ignore_ascii_case(name)) {
                let mut path = path(&tokens[index..]);
                path[0] = name.to_ascii_lowercase();
                self.paths.insert(path);
            } else if FUNCTIONS.contains(&name) {
                self.call(name, &tokens[index + 1..]);
            }
        }
    }

    fn call(&mut self, function: &str, after: &[Token<'_>]) {
        let [Token::Symbol(b'('), Token::Text(Some(argument)), Token::Symbol(b',' | b')'), ..] = after else {
            self.dynamic = true;
            return;
        };
        let arguments = match function {
            "lookup" => &mut self.lookups,
            "file" => &mut self.files,
            _ => &mut self.templates,
        };
        arguments.insert((*argument).to_owned());
    }

    fn include(&mut self, tokens: &[Token<'_>]) {
        let (names, after) = match tokens {
            [Token::Text(Some(_)), after @ ..] => (&tokens[..1], after),
            [Token::Symbol(b'['), inner @ ..] => {
                let end = inner.iter().position(|token| *token == Token::Symbol(b']')).unwrap_or(0);
                (&inner[..end], inner.get(end + 1..).unwrap_or_default())
            }
            _ => (&[][..], tokens),
        };
        let ends = matches!(
            after.first(),
            None | Some(Token::Name("ignore" | "as" | "import" | "with" | "without"))
        );
        self.dynamic |= !ends || names.is_empty();
        for (index, name) in names.iter().enumerate() {
            match name {
                Token::Text(Some(name)) if index % 2 == 0 => self.includes.extend(normalized(name)),
                Token::Symbol(b',') if index % 2 == 1 => {}
                _ => self.dynamic = true,
            }
        }
    }
}

/// The path that begins with the first word: its constant members up to the first that is computed or called.
pub(super) fn path(tokens: &[Token<'_>]) -> Vec<String> {
    let mut path = Vec::new();
    let mut rest = tokens;
    if let [Token::Name(name), after @ ..] = rest {
        path.push((*name).to_owned());
        rest = after;
    }
    loop {
        let (member, after) = match rest {
            [Token::Symbol(b'.'), Token::Name(member), after @ ..] => (member, after),
            [Token::Symbol(b'['), Token::Text(Some(member)), Token::Symbol(b']'), after @ ..] => {
                (member, after)
            }
            _ => return path,
        };
        if matches!(after.first(), Some(Token::Symbol(b'('))) {
            return path;
        }
        path.push((*member).to_owned());
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(set: &BTreeSet<String>) -> String {
        set.iter().cloned().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn names_are_told_with_their_constant_members() {
        for (text, expected) in [
            ("plain", ""),
            ("{{ facts.host.info.os }}", "facts.host.info.os"),
            ("{{ Facts.host['info'].os }}", "facts.host.info.os"),
            ("{{ data[key].x }}", "data"),
            ("{{ data.list[0].name }}", "data.list"),
            ("{{ data.list[1:].x }}", "data.list"),
            ("{{ data.map.items() }}", "data.map"),
            ("{{ x.facts }}{{ facts }}", "facts"),
            ("{% for u in data.users %}{{ u.name ~ Environ.HOME }}{% endfor %}", "data.users environ.HOME"),
            ("{% set facts = facts.host %}{{ facts.x }}", "facts.host facts.x"),
            ("{% if facts.a == data.b and not captures.c %}{% endif %}", "captures.c data.b facts.a"),
            ("{% filter replace(data.a, data.b) %}x{% endfilter %}", "data.a data.b"),
            ("{{ f(data=1) }}{# facts.no #}{% raw %}{{ facts.no }}{% endraw %}", ""),
            ("{{ 'facts.no' }}", ""),
            ("{% include data.x %}", "data.x"),
        ] {
            let paths: Vec<String> = mentions(text).paths.iter().map(|path| path.join(".")).collect();
            assert_eq!(paths.join(" "), expected, "{text}");
        }
    }

    #[test]
    fn constant_arguments_are_told() {
        let text = "{{ lookup('facts.a') }}{{ lookup( \"data.b\" , data.c) }}{{ file('f') }}{% set x = template('t') %}\
                    {% include 'a/./b' %}{% include ['c', \"d\"] ignore missing %}{% import 'e' as e %}\
                    {% from 'g' import h with context %}{% extends 'i' %}";
        let mentions = mentions(text);
        assert!(!mentions.dynamic);
        assert_eq!(strings(&mentions.lookups), "data.b facts.a");
        assert_eq!(strings(&mentions.files), "f");
        assert_eq!(strings(&mentions.templates), "t");
        assert_eq!(strings(&mentions.includes), "a/b c d e g i");
    }

    #[test]
    fn what_is_computed_is_dynamic() {
        for text in [
            "{{ lookup(x) }}",
            "{{ lookup('a' ~ x) }}",
            "{{ lookup('a' if x else 'b') }}",
            "{{ lookup(path='a') }}",
            r"{{ lookup('a\n') }}",
            "{% set l = lookup %}{{ l('a') }}",
            "{{ [file] }}",
            "{{ template() }}",
            "{% include x %}",
            "{% include 'a' ~ x %}",
            "{% include 'a' if x else 'b' %}",
            "{% include ['a', x] %}",
            "{% include ['a' ~ x] %}",
            "{% include ['a'] + x %}",
            "{% include [] %}",
            "{% include [ %}",
            "{% extends %}",
            "{{ unfinished",
        ] {
            assert!(mentions(text).dynamic, "{text}");
        }
    }
}
