//! Explains errors of expressions: what is missing, and what to write.

use std::ops::Range;

use ccm_data::fact_words;
use ccm_expr::{Cause, Value};
use ccm_model::{DiagnosticKind, SYSTEM_FACTS, escape_control};

use super::{InvalidExpression, ManifestEvaluator, Phase, TOO_EARLY, is_of_system_fact};
use crate::read::foreach::ItemScope;
use crate::resolve::eval_context::ITEM_NAMES;
use crate::resolve::hint_literals::{HintLiterals, needed_kind};
use crate::resolve::jinja_words;
use crate::resolve::messages::shown;

impl ManifestEvaluator<'_, '_> {
    /// Returns advice on a missing key that the data as written has, or that of the manifest that applies this one.
    fn advice_on_dropped(&self, path: &[String]) -> Option<String> {
        let declared = self.manifest.declared.as_ref()?;
        let (first, last) = (shown(path.first()?), shown(path.last()?));
        if let Some(level) = declared.level_that_drops(path) {
            return Some(format!(
                "the override `{}` replaces `{first}` as a whole: add `{last}` there, or write `merge: deep` in `hierarchy`",
                shown(level)
            ));
        }
        declared.is_of_parent(path).then(|| {
            let value = format!("\"{{{{ Data.{first} }}}}\"");
            format!("hand it over in the `apply` of the other manifest, whose data has it: `data: {{{first}: {value}}}`")
        })
    }

    /// Returns advice on a fact that stands elsewhere: in a map `facts` of a file, or under the name of this machine.
    fn advice_on_fact(&self, keys: &[String], further: &str) -> Option<String> {
        let known = self.context.known_facts();
        let first = keys.first()?;
        if known.get("facts").is_some_and(|facts| facts.get(first).is_some()) {
            return Some(format!(
                "write `{}` at the top of the file of facts, not below `facts`",
                shown(first)
            ));
        }
        fact_words::advice_on_other_program(&(keys.join(".") + further))
    }

    /// Returns advice on a custom fact in place of a map of facts of this machine.
    fn advice_on_replaced_fact(&self, text: &str) -> Option<String> {
        let known = self.context.known_facts();
        let is_replaced = |name: &&&str| {
            text.contains(&format!("Facts.{name}"))
                && known.get(name).is_some_and(|fact| !matches!(fact, Value::Map(_)))
        };
        let name = SYSTEM_FACTS.iter().find(is_replaced)?;
        Some(format!("a custom fact `{name}` replaces that of the machine: give it another name"))
    }

    /// Explains an error of the expression `text`.
    pub(super) fn explain(&self, error: &ccm_expr::Error, text: &str) -> InvalidExpression {
        let (mut hints, mut nearest) = (error.hints.clone(), error.nearest.clone());
        let mut missing = None;
        match &error.cause {
            Cause::MissingKey(path) => {
                missing = Some(path.as_slice().into());
                let of_item = path.len() == 2 && path[0] == ITEM_NAMES[0];
                if of_item && hints.is_empty() && self.manifest.item.is_entry() {
                    hints.push("`Item` is an entry of a map: write `Item.key` or `Item.value`".to_owned());
                }
                if path.len() == 2 && path[0] == "Manifest" {
                    hints = vec![advice_on_manifest(&path[1]).to_owned()];
                }
                if hints.is_empty() && path.len() > 1 && path[0] == "Data" {
                    let dotted =
                        key_with_dots(path, text, error.range.end, &self.manifest.data, self.literals);
                    hints.extend(dotted.or_else(|| self.advice_on_dropped(&path[1..])));
                }
                if hints.is_empty() && path.len() > 1 && path[0] == "Facts" {
                    let further = path_behind(text.get(error.range.end..).unwrap_or_default());
                    hints.extend(self.advice_on_fact(&path[1..], &further));
                }
                if hints.is_empty() && !is_of_system_fact(path) && is_constant(path, &error.message) {
                    hints.extend(advice_on_missing(path, text, error.range.end, self.literals));
                }
                if hints.is_empty() && !is_constant(path, &error.message) {
                    hints.extend(optional_key(text, error.range.clone()));
                }
            }
            Cause::UnknownName(name) if ITEM_NAMES.contains(&&**name) => {
                hints = vec![format!(
                    "`{name}` exists only in the resources of a `foreach`: write `foreach: LIST` beside their type"
                )];
            }
            Cause::UnknownName(_) if key_with_hyphen(text, error.range.clone(), self.literals).is_some() => {
                hints = key_with_hyphen(text, error.range.clone(), self.literals).into_iter().collect();
                nearest = None;
            }
            Cause::UnknownName(name) if literal(name).is_some() => {
                hints = literal(name).map(|meant| format!("write `{meant}`")).into_iter().collect();
                nearest = None;
            }
            Cause::UnknownName(_) if matches!(self.phase, Phase::Data) && hints.is_empty() => {
                hints.push(format!("use only `Facts` and `Environ` here: {TOO_EARLY}"));
            }
            Cause::UnknownName(name) if self.manifest.data.get(name).is_some() => {
                hints = vec![format!("write `Data.{name}` for the value of the manifest")];
            }
            Cause::UnknownName(name) if name == "item" && matches!(self.manifest.item, ItemScope::None) => {
                hints = vec![
                    "write `foreach: LIST` beside the type of the resource, and `Item` for the item"
                        .to_owned(),
                ];
                nearest = None;
            }
            Cause::UnknownName(name) if name == "project" => {
                hints = vec!["write `Manifest.dir` for the directory of the manifest".to_owned()];
                nearest = None;
            }
            Cause::UnknownName(_) if hints.is_empty() => {
                hints.push(
                    "use `Facts`, `Data`, `Environ` or `Captures`, or put a text between quotes".to_owned(),
                );
            }
            Cause::UnknownFunction(name) if substitute(name).is_some() => {
                hints = substitute(name).map(|advice| self.literals.advice(advice)).into_iter().collect();
                nearest = None;
            }
            Cause::UnknownMethod(name) if hints.is_empty() => {
                hints.extend(jinja_words::filter(name).map(|advice| self.literals.advice(advice)));
            }
            Cause::UnknownFunction(_) if hints.is_empty() => {
                hints.push(
                    "use `lookup`, `file`, `template` or a function of the expression language".to_owned(),
                );
            }
            Cause::Operand if hints.is_empty() && text.contains("Facts.") => {
                hints.extend(self.advice_on_replaced_fact(text));
            }
            _ => {}
        }
        let Range { start, end } = error.range;
        let (mut kind, mut message) = (error.cause.kind(), error.message.clone());
        if let Cause::MissingKey(path) = &error.cause
            && let Some(reason) = self.not_utf8("Environ", path)
        {
            (kind, message, hints) = (DiagnosticKind::Unreadable, reason, Vec::new());
        }
        InvalidExpression {
            kind,
            range: start..end,
            message: message.into(),
            hints,
            nearest,
            locations: Box::default(),
            missing,
            earlier: match &error.cause {
                Cause::DuplicateKey { first } if !first.is_empty() => Some(Box::new(first.clone())),
                _ => None,
            },
        }
    }

    /// Returns the error of a path to a variable of the environment that is not UTF-8 text.
    pub(super) fn not_utf8(&self, root: &str, path: &[String]) -> Option<String> {
        let name = path.strip_prefix(&[root.to_owned()])?.first()?;
        let is_not_utf8 = self.context.sources.is_not_utf8(name);
        is_not_utf8.then(|| format!("the environment variable `{}` is not UTF-8 text", escape_control(name)))
    }
}

/// Returns advice on a key of `Manifest` that is missing.
fn advice_on_manifest(key: &str) -> &'static str {
    match key {
        "dir" => "others than root can change this directory: apply the manifest where root keeps it",
        _ => "write `Manifest.dir`, the directory of the manifest",
    }
}

/// Returns `true` if the message names the whole path, none of which is computed.
fn is_constant(path: &[String], message: &str) -> bool {
    message == format!("there is no `{}`", path.join("."))
}

/// Returns advice on a key that is missing, whose path ends at a byte of the expression `text`. An empty text is no
/// default for a variable of the environment, which may be a password.
fn advice_on_missing(path: &[String], text: &str, end: usize, literals: HintLiterals) -> Vec<String> {
    let name = path.join(".");
    let further = further_keys(text.get(end..).unwrap_or_default());
    let optional = if further.is_empty() { "" } else { "?" };
    let is_whole = text.trim().strip_prefix(&name) == Some(further);
    let needed = end
        .checked_sub(name.len())
        .filter(|start| text.get(*start..end) == Some(&*name))
        .and_then(|start| needed_kind(text, start..end + further.len()));
    let literals = needed.map_or(literals, |kind| literals.of(kind));
    let with_default = |default: &str| {
        let written = format!("{name}{optional}{further} ?? {default}");
        // `??` binds less tightly than other operators.
        let written = if is_whole { written } else { format!("({written})") };
        format!("if it may be missing, write `{written}`")
    };
    if path.first().is_none_or(|root| root != "Environ") {
        return vec![with_default(&literals.empty())];
    }
    let variable = path.last().map(String::as_str).unwrap_or_default();
    vec![
        format!("set `{variable}` in the environment of ccm, or in a file `.env`"),
        with_default(&literals.text("DEFAULT")),
    ]
}

/// Returns the keys at the start of a text, such as `.family` of `.family == "debian"`, without a method.
fn further_keys(text: &str) -> &str {
    let is_word = |character: char| character.is_alphanumeric() || character == '_';
    let mut end = 0;
    while let Some(rest) = text[end..].strip_prefix('.') {
        let length = rest.find(|character| !is_word(character)).unwrap_or(rest.len());
        if length == 0 || rest[length..].starts_with('(') {
            break;
        }
        end += 1 + length;
    }
    &text[..end]
}

/// Returns the keys at the start of a text with a dot before each, such as `.family` of `?.['family']`.
fn path_behind(text: &str) -> String {
    let mut path = String::new();
    // Behind a key in brackets.
    let mut rest = text.strip_prefix(']').unwrap_or(text);
    loop {
        let optional = rest.strip_prefix("?.").filter(|rest| rest.starts_with('['));
        rest = optional
            .unwrap_or_else(|| rest.strip_prefix('?').filter(|rest| rest.starts_with('.')).unwrap_or(rest));
        let Some((keys, behind)) = keys_at_start(rest) else { return path };
        path.push('.');
        path += keys;
        rest = behind;
    }
}

/// Returns the keys at the start of a text, one in brackets or several behind dots, and the text behind them.
fn keys_at_start(text: &str) -> Option<(&str, &str)> {
    if let Some(inner) = text.strip_prefix("['").or_else(|| text.strip_prefix("[\"")) {
        let (key, behind) = inner.split_once(['\'', '"'])?;
        return Some((key, behind.strip_prefix(']')?));
    }
    let keys = further_keys(text);
    (!keys.is_empty()).then(|| (&keys[1..], &text[keys.len()..]))
}

/// Returns advice on a key that is missing behind a part whose path is not known.
fn optional_key(text: &str, key: Range<usize>) -> Option<String> {
    let before = text.get(..key.start)?.strip_suffix('.')?;
    let key = text.get(key).filter(|_| !before.ends_with('?'))?;
    Some(format!("if it may be missing, write `?.{key}` in place of `.{key}`, with a default after `??`"))
}

/// Returns advice on a name that is the rest of a key with hyphens, such as `e` of `Data.d-e`.
fn key_with_hyphen(text: &str, rest: Range<usize>, literals: HintLiterals) -> Option<String> {
    let is_word = |character: char| character.is_alphanumeric() || character == '_';
    let head = text.get(..rest.start)?.strip_suffix('-')?;
    let (path, key) = head.rsplit_once('.')?;
    let root = &path[path.trim_end_matches(|character| is_word(character) || character == '.').len()..];
    let is_key = !key.is_empty() && key.chars().all(|character| is_word(character) || character == '-');
    let is_path = ["Data", "Facts", "Environ", "Item", "Captures"].contains(&root.split('.').next()?);
    let rest = text.get(rest)?;
    let whole = format!("{key}-{rest}");
    (is_key && is_path).then(|| format!("write `{root}[{}]` for the key `{whole}`", literals.text(&whole)))
}

/// Returns advice on a path whose keys are one key with dots, as in `data: {web.port: 80}`.
fn key_with_dots(
    path: &[String],
    text: &str,
    end: usize,
    data: &Value,
    literals: HintLiterals,
) -> Option<String> {
    let is_key = |part: char| part.is_alphanumeric() || matches!(part, '_' | '.');
    let further = text.get(end..)?;
    let further = &further[..further.find(|part| !is_key(part)).unwrap_or(further.len())];
    let (parent, name) = path[1..].split_at(path.len() - 2);
    let map = parent.iter().try_fold(data, |value, key| value.get(key))?;
    let whole = format!("{}{further}", name[0]);
    let mut known = whole.match_indices('.').map(|(at, _)| &whole[..at]).chain([&*whole]);
    let key = known.rfind(|key| key.contains('.') && map.get(key).is_some())?;
    let parent = [&["Data".to_owned()], parent].concat().join(".");
    Some(format!("write `{parent}[{}]`: the dot is a part of the key", literals.text(key)))
}

/// Returns the literal of expressions for that of another language.
fn literal(name: &str) -> Option<&'static str> {
    Some(match name {
        "True" | "TRUE" | "yes" => "true",
        "False" | "FALSE" | "no" => "false",
        "None" | "null" | "NULL" | "Null" | "none" | "undefined" => "nil",
        _ => return None,
    })
}

/// Returns advice on a function of other programs. Texts in it stand between single quotes.
fn substitute(function: &str) -> Option<&'static str> {
    Some(match function {
        "jet" => "templates are Jinja: write `template('NAME.j2')`",
        "kvGet" | "kvget" | "registrations" | "registration" => "this is not supported in this version",
        "env" | "getenv" | "environ" => {
            "write `Environ.NAME`, or `Environ.NAME ?? 'DEFAULT'` if it may be missing"
        }
        "hiera" | "lookup_data" => "write `Data.KEY`, or `lookup('data.KEY', 'DEFAULT')`",
        "epp" | "erb" | "inline_template" => "templates are Jinja files: write `template('NAME.j2')`",
        "include" | "readfile" | "read_file" => "write `file('PATH')`",
        _ => return jinja_words::filter(function),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_behind_a_path_may_be_in_brackets() {
        for (text, expected) in [
            (".family == 'x'", ".family"),
            ("['family']", ".family"),
            ("]['family']", ".family"),
            ("[\"release\"].major + 1", ".release.major"),
            ("?.release?.['major']", ".release.major"),
            ("?.[Data.x]", ""),
            ("['x", ""),
            (".upper()", ""),
            ("", ""),
        ] {
            assert_eq!(path_behind(text), expected, "{text}");
        }
    }
}
