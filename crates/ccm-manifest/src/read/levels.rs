//! Levels of a hierarchy: reads their data files, and evaluates the values that are used.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ccm_data::annotations::{self, Annotation, AnnotationKind};
use ccm_data::hierarchy::{Level, LevelFile, LevelMerge, LevelMerges, OrderEntry, level_path};
use ccm_data::layers::ValueSource;
use ccm_data::nodes;
use ccm_expr::Value;
use ccm_model::{
    Diagnostic, DiagnosticKind, Diagnostics, Node, NodeEntry, NodeKey, NodeMap, NodeValue, Span, normalize,
};

use crate::read::data::misplaced_annotation;
use crate::read::foreach::ItemScope;
use crate::read::{cut_values, folded_lines};
use crate::resolve::eval_context::EvalContext;
use crate::resolve::expand::Expander;
use crate::resolve::messages::{expected, shown, unreadable};
use crate::resolve::scope::{ManifestEvaluator, ManifestScope, Phase};
use crate::unchecked::UnknownPaths;

/// Maximum total size of the data files of a hierarchy.
const MAX_BYTES: usize = 64 << 20;

/// Endings of files that other programs read as data.
pub(crate) const OTHER_ENDINGS: [&str; 2] = ["yml", "json"];

/// Content of a data file.
pub(crate) struct FileLevel {
    /// Map, not evaluated.
    node: Node,
    scope: ManifestScope,
}

/// Data files of the levels of one hierarchy.
pub(crate) struct LevelFiles<'a, 's> {
    context: &'a EvalContext<'s>,
    /// Directory as written, with its span. `None` if no data files are read.
    data_dir: Option<&'a (Box<str>, Span)>,
    /// Directory of the manifest.
    base: &'a Path,
    /// Annotations of the data.
    annotations: &'a [Annotation],
    bytes: usize,
    is_directory_missing: bool,
    /// `@sensitive` and `@encrypted` annotations in the files.
    pub(crate) sensitive: Vec<Annotation>,
    /// Secret texts in the files, also in parts that are not used.
    pub(crate) secrets: Vec<String>,
    /// A file has errors.
    pub(crate) has_errors: bool,
    /// Entries whose files have other endings, which is reported.
    pub(crate) with_other_ending: Vec<Span>,
}

impl<'a, 's> LevelFiles<'a, 's> {
    pub(crate) fn new(
        context: &'a EvalContext<'s>,
        data_dir: Option<&'a (Box<str>, Span)>,
        base: &'a Path,
        annotations: &'a [Annotation],
    ) -> Self {
        Self {
            context,
            data_dir,
            base,
            annotations,
            bytes: 0,
            is_directory_missing: false,
            sensitive: Vec::new(),
            secrets: Vec::new(),
            has_errors: false,
            with_other_ending: Vec::new(),
        }
    }

    /// Reads the data file of a level.
    pub(crate) fn read(
        &mut self,
        entry: &OrderEntry,
        name: &str,
        diagnostics: &mut Diagnostics,
    ) -> LevelFile<FileLevel> {
        let Some((directory, directory_span)) = self.data_dir else { return LevelFile::NotRead };
        let found = match self.find(entry, name, directory, *directory_span) {
            Ok((path, None)) => {
                let warning = self.file_with_other_ending(entry, name, directory);
                self.with_other_ending.extend(warning.as_ref().map(|_| entry.span));
                diagnostics.extend(warning);
                return LevelFile::Missing(path.display().to_string());
            }
            Ok((path, Some(text))) => self.parse(&path, text, diagnostics).map(|level| (path, level)),
            Err(error) => {
                diagnostics.extend(error);
                None
            }
        };
        let Some((path, level)) = found else {
            self.has_errors = true;
            return LevelFile::Invalid;
        };
        LevelFile::Found(path.display().to_string(), level)
    }

    /// Returns the path and the text of a data file. The error is `None` if it is reported already.
    fn find(
        &mut self,
        entry: &OrderEntry,
        name: &str,
        directory: &str,
        directory_span: Span,
    ) -> Result<(PathBuf, Option<Arc<str>>), Option<Diagnostic>> {
        let refused = |kind, message: String| Diagnostic::error(kind, entry.span, message);
        let below = level_path(name).map_err(|error| {
            let message = format!("`{}` names no data file: {error}", shown(name));
            let refused = refused(DiagnosticKind::InvalidValue, message);
            // As Hiera writes a level. Within an expression, a `/` divides.
            let written: String = entry.text.split_inclusive("}}").map(with_colons).collect();
            if written == *entry.text {
                refused.with_hint(
                    "use facts that are simple names: each part of the entry is the name of a file",
                )
            } else {
                refused.with_hint(format!("write `{}`: a `:` leads to a directory", shown(&written)))
            }
        })?;
        let directory = normalize(&self.base.join(directory));
        let sources = self.context.sources;
        let mut path = directory.join(&below);
        let mut read = sources.read_below(&directory, Path::new(&below));
        // A host may call itself web1 or web1.example.net.
        if let (Ok(None), Some(short)) = (&read, short_host_name(entry, name))
            && let Ok(below) = level_path(short)
        {
            read = sources.read_below(&directory, Path::new(&below));
            if matches!(read, Ok(Some(_))) {
                path = directory.join(&below);
            }
        }
        match read {
            Ok(Some(text)) => {
                self.bytes = self.bytes.saturating_add(text.len());
                if self.bytes > MAX_BYTES {
                    let message = "the data files of this hierarchy exceed 64 MiB".to_owned();
                    return Err(Some(refused(DiagnosticKind::LimitExceeded, message)));
                }
                Ok((path, Some(text.into())))
            }
            Ok(None) => Ok((path, None)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                if std::mem::replace(&mut self.is_directory_missing, true) {
                    return Err(None);
                }
                let message = unreadable("the directory ", &directory, &error);
                let error = Diagnostic::error(DiagnosticKind::Unreadable, directory_span, message);
                Err(Some(error.with_hint("check the path, which starts from the directory of this file")))
            }
            Err(error) => {
                let message = unreadable("the data file ", &path, &error);
                Err(Some(refused(DiagnosticKind::Unreadable, message)))
            }
        }
    }

    /// Returns the warning about a file with the name of a level and an ending that ccm does not read.
    fn file_with_other_ending(&self, entry: &OrderEntry, name: &str, directory: &str) -> Option<Diagnostic> {
        let names = [Some(name), short_host_name(entry, name)].into_iter().flatten();
        let paths = names.filter_map(|name| level_path(name).ok());
        let others =
            paths.flat_map(|path| OTHER_ENDINGS.map(|ending| Path::new(&path).with_extension(ending)));
        let is_there =
            |below: &PathBuf| self.context.sources.exists(&normalize(&self.base.join(directory)).join(below));
        let below = others.into_iter().find(is_there)?;
        let written = Path::new(directory).join(&below);
        let message = format!("ccm never reads the data file `{}`", shown(&written.display().to_string()));
        let meant = shown(&below.with_extension("yaml").display().to_string());
        let warning = Diagnostic::warning(DiagnosticKind::NoEffect, entry.span, message);
        Some(warning.with_hint(format!("call it `{meant}`")))
    }

    fn parse(&mut self, path: &Path, text: Arc<str>, diagnostics: &mut Diagnostics) -> Option<FileLevel> {
        let source = self.context.texts.borrow_mut().add(path.display().to_string(), Arc::clone(&text));
        let parsed = ccm_yaml::parse_with_duplicates(source, &text, &ccm_yaml::Limits::default());
        let (root, errors) = parsed.unwrap_or_else(|errors| (None, errors));
        let is_valid = errors.is_empty();
        if !is_valid {
            // Errors show lines of the file, whose secrets are known only by the names of their keys.
            let names = self.annotations.iter().filter(|found| found.kind == AnnotationKind::Sensitive);
            let names: Vec<&str> = names.filter_map(|found| found.path.last().map(|key| &**key)).collect();
            self.secrets.extend(annotations::secrets_of_invalid(&text, &names));
            diagnostics.extend(errors);
        }
        // A file without values is empty.
        let empty = || Node { value: NodeValue::Map(NodeMap::default()), span: Span::new(source, 0, 0) };
        let node = root.filter(|root| !root.is_null()).unwrap_or_else(empty);
        if node.as_map().is_none() {
            let error = expected("a map of values", &node);
            diagnostics.push(error.with_hint("write each value as `KEY: VALUE`"));
            return None;
        }
        cut_values::check(&node, &text, diagnostics);
        folded_lines::check(&node, &text, diagnostics);
        let whole = NodeKey { text: "".into(), span: Span::new(source, 0, 0) };
        for annotation in annotations::collect(&text, &whole, &node, diagnostics) {
            if annotation.kind.may_be_of_a_level() {
                self.context.secrets.mark(annotations::encrypted_values(std::slice::from_ref(&annotation)));
                self.sensitive.push(annotation);
            } else {
                diagnostics.push(misplaced_annotation(annotation.span));
            }
        }
        let value = nodes::to_value(&node);
        self.secrets.extend(annotations::sensitive_texts(&value, self.annotations));
        self.secrets.extend(annotations::sensitive_texts(&value, &self.sensitive));
        let scope = ManifestScope {
            text,
            directory: path.parent().unwrap_or(Path::new("")).into(),
            data: Value::Null,
            settings: Arc::default(),
            is_incomplete: false,
            item: ItemScope::None,
            unknown: UnknownPaths::default(),
            declared: None,
        };
        is_valid.then_some(FileLevel { node, scope })
    }
}

/// Returns the name of a level without the domain, if the entry names the host.
fn short_host_name<'n>(entry: &OrderEntry, name: &'n str) -> Option<&'n str> {
    let host = name.rfind(':').map_or(0, |colon| colon + 1);
    let names_host = entry.text.contains("hostname") || entry.text.contains("fqdn");
    let dot = name[host..].find('.').filter(|dot| *dot > 0 && names_host)?;
    Some(&name[..host + dot])
}

impl FileLevel {
    pub(crate) fn into_map(self) -> Option<NodeMap> {
        match self.node.value {
            NodeValue::Map(map) => Some(map),
            _ => None,
        }
    }
}

/// Evaluates the values of levels and data that are used.
pub(crate) struct LevelEvaluator<'a, 's> {
    pub(crate) context: &'a EvalContext<'s>,
    pub(crate) merges: &'a LevelMerges,
    /// Values above what is evaluated next. A value below is not evaluated if these replace it.
    pub(crate) above: Vec<Value>,
    /// Some values are unavailable, which was reported.
    pub(crate) has_unknown: bool,
    /// Values of data files that are unknown, because an input was left out.
    pub(crate) unknown: UnknownPaths,
}

impl LevelEvaluator<'_, '_> {
    /// Returns the values of the levels, in order: of each level those of its override and of its data file. The
    /// highest are evaluated first, because what they replace is not evaluated.
    pub(crate) fn levels(
        &mut self,
        levels: &[Level<'_, FileLevel>],
        of_manifest: &mut Expander<'_, '_>,
        diagnostics: &mut Diagnostics,
    ) -> Vec<Vec<(ValueSource, Value)>> {
        let earlier = self.keys_of_earlier(levels);
        let no_keys = HashSet::new();
        let mut evaluated = Vec::with_capacity(levels.len());
        for (number, level) in levels.iter().enumerate().rev() {
            let earlier = earlier.get(number).unwrap_or(&no_keys);
            let merges = self.merges;
            let is_used = move |key: &str| merges.uses(key, number, earlier);
            let mut parts = Vec::new();
            if let Some((name, file)) = &level.file {
                let evaluator = ManifestEvaluator::new(self.context, &file.scope, Phase::Data);
                let mut expander = Expander::new(evaluator);
                let value = self.part(&file.node, &is_used, &mut expander, diagnostics);
                diagnostics.append(&mut expander.found.diagnostics);
                self.has_unknown |= !expander.found.refused.is_empty();
                self.unknown.add_node(&file.node, &expander.found.unchecked);
                parts.push((ValueSource::File(name.clone()), value));
            }
            if let Some(over) = level.over {
                let value = self.part(&over.node, &is_used, of_manifest, diagnostics);
                parts.push((ValueSource::Override(over.key.text.to_string()), value));
            }
            parts.reverse();
            evaluated.push(parts);
        }
        evaluated.reverse();
        evaluated
    }

    /// Returns, for each level, the keys of the levels before it; nothing if no key needs them.
    fn keys_of_earlier(&self, levels: &[Level<'_, FileLevel>]) -> Vec<HashSet<Arc<str>>> {
        if !self.merges.by_key.values().any(|merge| *merge == LevelMerge::First) {
            return Vec::new();
        }
        let mut keys: HashSet<Arc<str>> = HashSet::new();
        let mut earlier = Vec::with_capacity(levels.len());
        for level in levels {
            earlier.push(keys.clone());
            let nodes = level.over.iter().map(|over| &over.node);
            let nodes = nodes.chain(level.file.iter().map(|(_, file)| &file.node));
            let maps = nodes.filter_map(Node::as_map).flat_map(NodeMap::entries);
            keys.extend(
                maps.map(|entry| &*entry.key.text)
                    .filter(|key| self.merges.by_key.contains_key(*key))
                    .map(Arc::from),
            );
        }
        earlier
    }

    /// Returns the values of a map that are used, and lays them over what is evaluated next.
    fn part(
        &mut self,
        node: &Node,
        is_used: &dyn Fn(&str) -> bool,
        expander: &mut Expander<'_, '_>,
        diagnostics: &mut Diagnostics,
    ) -> Value {
        let entries = node.as_map().map(NodeMap::entries).unwrap_or_default();
        let used = entries.iter().filter(|entry| is_used(&entry.key.text));
        let value =
            Value::map(used.map(|entry| (&*entry.key.text, self.value(entry, expander, diagnostics))));
        let merges = self.merges.key_merges();
        let Value::Map(map) = &value else { return value };
        let over = map.iter().map(|(key, value)| {
            let is_replaced = merges.of(key) == ccm_data::merge::KeyMerge::Replace;
            // Null replaces every value.
            (Arc::clone(key), if is_replaced { Value::Null } else { value.clone() })
        });
        self.above.push(Value::map(over));
        value
    }

    /// Returns the value of a key of a level or of data.
    pub(crate) fn value(
        &self,
        entry: &NodeEntry,
        expander: &mut Expander<'_, '_>,
        diagnostics: &mut Diagnostics,
    ) -> Value {
        let key = &*entry.key.text;
        let above: Vec<&Value> = self.above.iter().filter_map(|over| over.get(key)).collect();
        let value = expander.value_below(&entry.value, &above);
        let is_list = matches!(value, Value::List(_) | Value::Null);
        if self.merges.by_key.get(key) == Some(&LevelMerge::Unique) && !is_list {
            let message =
                format!("`{}` is merged as `unique`, which needs lists, found {}", shown(key), value.kind());
            let error = Diagnostic::error(DiagnosticKind::WrongType, entry.value.span, message);
            diagnostics.push(error.with_hint("write a list, or another `@merge` above the key in `data`"));
        }
        value
    }
}

/// Returns a part of an entry with `:` for each `/` before its expression.
fn with_colons(part: &str) -> String {
    let (text, expression) = part.split_at(part.find("{{").unwrap_or(part.len()));
    text.replace('/', ":") + expression
}
