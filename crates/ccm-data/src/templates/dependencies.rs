//! Dependencies of a template, found without rendering it.

use std::collections::BTreeSet;

use super::include_name::normalized;
use super::scan::{TagToken, TemplateTag, scan};
use super::{FUNCTIONS, NAMES};

/// Names, functions and includes that a template uses, without those of its includes; incomplete if `dynamic`
/// is set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TemplateDependencies {
    /// Paths of names and constant members, such as `facts`, `host`, `info`; the first part in lower case.
    /// Everything below a path may be read.
    pub paths: BTreeSet<Vec<String>>,
    /// Paths of `lookup`.
    pub lookups: BTreeSet<String>,
    /// Paths of `file`.
    pub files: BTreeSet<String>,
    /// Paths of `template`.
    pub templates: BTreeSet<String>,
    /// Names in `include`, `import`, `from` and `extends`, as passed to [`super::TemplateScope::include`].
    pub includes: BTreeSet<String>,
    /// `true` if a path or the name of an include is computed, or the text is no template.
    pub dynamic: bool,
}

/// Returns the dependencies of a template.
pub fn dependencies(text: &str) -> TemplateDependencies {
    let scan = scan(text);
    let mut dependencies =
        TemplateDependencies { dynamic: !scan.complete, ..TemplateDependencies::default() };
    for tag in scan.tags() {
        match tag {
            TemplateTag::Expression(tokens) => dependencies.expression(&tokens),
            TemplateTag::Statement(tokens) => {
                if let [TagToken::Name("include" | "import" | "from" | "extends"), name @ ..] = &*tokens {
                    dependencies.include(name);
                }
                dependencies.expression(&tokens);
            }
        }
    }
    dependencies
}

impl TemplateDependencies {
    fn expression(&mut self, tokens: &[TagToken<'_>]) {
        for (index, token) in tokens.iter().enumerate() {
            let TagToken::Name(name) = *token else { continue };
            if index > 0 && matches!(tokens[index - 1], TagToken::Symbol(b'.' | b'|')) {
                continue;
            }
            let assigned = matches!(tokens.get(index + 1), Some(TagToken::Symbol(b'=')))
                && !matches!(tokens.get(index + 2), Some(TagToken::Symbol(b'=')));
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

    fn call(&mut self, function: &str, after: &[TagToken<'_>]) {
        if function == "credential" {
            return;
        }
        let [TagToken::Symbol(b'('), TagToken::Text(Some(argument)), TagToken::Symbol(b',' | b')'), ..] =
            after
        else {
            self.dynamic = true;
            return;
        };
        let arguments = match function {
            "lookup" => &mut self.lookups,
            "file" | "readFile" => &mut self.files,
            _ => &mut self.templates,
        };
        arguments.insert((*argument).to_owned());
    }

    fn include(&mut self, tokens: &[TagToken<'_>]) {
        let (names, after) = match tokens {
            [TagToken::Text(Some(_)), after @ ..] => (&tokens[..1], after),
            [TagToken::Symbol(b'['), inner @ ..] => {
                let end = inner.iter().position(|token| *token == TagToken::Symbol(b']')).unwrap_or(0);
                (&inner[..end], inner.get(end + 1..).unwrap_or_default())
            }
            _ => (&[][..], tokens),
        };
        let ends = matches!(
            after.first(),
            None | Some(TagToken::Name("ignore" | "as" | "import" | "with" | "without"))
        );
        self.dynamic |= !ends || names.is_empty();
        for (index, name) in names.iter().enumerate() {
            match name {
                TagToken::Text(Some(name)) if index % 2 == 0 => self.includes.extend(normalized(name)),
                TagToken::Symbol(b',') if index % 2 == 1 => {}
                _ => self.dynamic = true,
            }
        }
    }
}

/// Returns the path at the start of an expression, up to the first computed or called member.
pub(super) fn path(tokens: &[TagToken<'_>]) -> Vec<String> {
    let mut path = Vec::new();
    let mut rest = tokens;
    if let [TagToken::Name(name), after @ ..] = rest {
        path.push((*name).to_owned());
        rest = after;
    }
    loop {
        let (member, after) = match rest {
            [TagToken::Symbol(b'.'), TagToken::Name(member), after @ ..] => (member, after),
            [TagToken::Symbol(b'['), TagToken::Text(Some(member)), TagToken::Symbol(b']'), after @ ..] => {
                (member, after)
            }
            _ => return path,
        };
        if matches!(after.first(), Some(TagToken::Symbol(b'('))) {
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
    fn names_have_their_constant_members() {
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
            let paths: Vec<String> = dependencies(text).paths.iter().map(|path| path.join(".")).collect();
            assert_eq!(paths.join(" "), expected, "{text}");
        }
    }

    #[test]
    fn constant_arguments_are_listed() {
        let text = "{{ lookup('facts.a') }}{{ lookup( \"data.b\" , data.c) }}{{ file('f') }}{% set x = template('t') %}\
                    {% include 'a/./b' %}{% include ['c', \"d\"] ignore missing %}{% import 'e' as e %}\
                    {% from 'g' import h with context %}{% extends 'i' %}";
        let dependencies = dependencies(text);
        assert!(!dependencies.dynamic);
        assert_eq!(strings(&dependencies.lookups), "data.b facts.a");
        assert_eq!(strings(&dependencies.files), "f");
        assert_eq!(strings(&dependencies.templates), "t");
        assert_eq!(strings(&dependencies.includes), "a/b c d e g i");
    }

    #[test]
    fn computed_names_are_dynamic() {
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
            assert!(dependencies(text).dynamic, "{text}");
        }
    }
}
