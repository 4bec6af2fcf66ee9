//! Expressions with the names, files and data that they mention.

use std::ops::Range;

use ccm_expr::Expression;

use super::comparisons;
use super::eval_context::{Doubt, ITEM_NAMES, LOOKUP_ROOTS, STANDARD_ROOTS};
use crate::sources::FactPath;

/// Parsed expression with the names that it mentions.
pub(crate) struct ParsedExpression {
    pub(crate) expression: Result<Expression, ccm_expr::Error>,
    pub(crate) facts: Vec<FactPath>,
    /// Constant prefixes of paths into `Captures`, each with its byte range in the expression.
    pub(crate) captures: Vec<(Vec<String>, Range<usize>)>,
    /// Constant paths of files and templates.
    pub(crate) files: Vec<String>,
    pub(crate) templates: Vec<String>,
    /// Constant paths into the data of the manifest.
    pub(crate) data: Vec<Vec<String>>,
    /// Constant paths into the data that have a default.
    pub(crate) defaults: Vec<DefaultedPath>,
    /// Constant paths into the item of a `foreach` that have a default.
    pub(crate) item_defaults: Vec<DefaultedPath>,
    /// Paths into the facts that have a default, each with its byte range in the expression.
    pub(crate) fact_defaults: Vec<(String, Range<usize>)>,
    /// Warnings about comparisons that are never true, and operands that are comments.
    pub(crate) comparisons: Vec<Doubt>,
    /// Constant paths of `lookup` that begin with a name that not every expression has, each with its constant prefix and its
    /// byte range in the expression.
    pub(crate) other_lookups: Vec<(String, Vec<String>, Range<usize>)>,
    /// The expression may use any name.
    pub(crate) uses_any: bool,
    /// The expression has names that not every expression has.
    pub(crate) has_other_names: bool,
}

/// Path into the data with a default for a missing key.
#[derive(Clone, Debug)]
pub(crate) struct DefaultedPath {
    /// Keys behind `Data`.
    pub(crate) path: Vec<String>,
    /// Position of the first key that may be missing.
    pub(crate) optional: usize,
    /// Bytes in the expression.
    pub(crate) range: Range<usize>,
}

/// Returns the path of a mention behind its name, if it has a default.
fn defaulted(name: &ccm_expr::NameMention) -> Option<DefaultedPath> {
    let optional = name.optional.and_then(|at| at.checked_sub(1))?;
    Some(DefaultedPath { path: name.path[1..].to_vec(), optional, range: name.range.clone() })
}

impl ParsedExpression {
    pub(crate) fn new(expression: Result<Expression, ccm_expr::Error>) -> Self {
        let mut read = Self {
            expression,
            facts: Vec::new(),
            captures: Vec::new(),
            files: Vec::new(),
            templates: Vec::new(),
            data: Vec::new(),
            defaults: Vec::new(),
            item_defaults: Vec::new(),
            fact_defaults: Vec::new(),
            comparisons: Vec::new(),
            other_lookups: Vec::new(),
            uses_any: false,
            has_other_names: false,
        };
        let Ok(expression) = &read.expression else { return read };
        read.comparisons = comparisons::doubts(expression.comparisons(), expression.text());
        read.comparisons.extend(comparisons::cut_operands(expression));
        let mentions = expression.mentions();
        for name in &mentions.names {
            match name.path.first().map(String::as_str) {
                Some("Facts") => {
                    read.facts.push(name.path[1..].to_vec());
                    if name.optional.is_some() && name.path.len() > 1 {
                        let path = name.path[1..].iter().map(|key| ccm_expr::path::escape(key));
                        let path = path.fold("facts".to_owned(), |path, key| path + "." + &key);
                        read.fact_defaults.push((path, name.range.clone()));
                    }
                }
                Some("Captures") => read.captures.push((name.path[1..].to_vec(), name.range.clone())),
                Some("Data") => {
                    read.data.push(name.path[1..].to_vec());
                    read.defaults.extend(defaulted(name));
                }
                Some("Environ" | "Manifest") => {}
                first => {
                    read.has_other_names = true;
                    read.item_defaults.extend(defaulted(name).filter(|_| first == Some(ITEM_NAMES[0])));
                }
            }
        }
        for call in &mentions.calls {
            let Some(argument) = &call.argument else { continue };
            match &*call.name {
                "lookup" => {
                    let of_data = argument.strip_prefix("data");
                    if of_data.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '|'])) {
                        let path = constant_path(argument).unwrap_or_default();
                        if call.arguments > 1 {
                            let (path, range) = (path.clone(), call.range.clone());
                            read.defaults.push(DefaultedPath { path, optional: 0, range });
                        }
                        read.data.push(path);
                    }
                    if call.arguments > 1 && argument.starts_with("facts.") {
                        read.fact_defaults.push((argument.clone(), call.range.clone()));
                    }
                    let prefix = ccm_expr::path::Path::parse(argument).map(|path| path.constant_prefix());
                    let prefix = prefix.unwrap_or_default();
                    let first = prefix.first().map(String::as_str);
                    if first.is_some_and(|first| !LOOKUP_ROOTS[..STANDARD_ROOTS].contains(&first)) {
                        read.other_lookups.push((argument.clone(), prefix, call.range.clone()));
                    }
                    let path = captured_path(argument).map(|path| (path, call.range.clone()));
                    read.captures.extend(path);
                }
                "file" | "readFile" => read.files.push(argument.clone()),
                "template" => read.templates.push(argument.clone()),
                _ => {}
            }
        }
        if !mentions.environment.is_empty() {
            read.facts.push(Vec::new());
            read.uses_any = true;
        }
        read
    }
}

/// Returns the constant part of a `lookup` path behind `captures`, or `None` for a path with another root.
pub(crate) fn captured_path(path: &str) -> Option<Vec<String>> {
    let prefix = ccm_expr::path::Path::parse(path).ok()?.constant_prefix();
    let (first, rest) = prefix.split_first()?;
    (first == "captures").then(|| rest.to_vec())
}

/// Returns the constant part of a `lookup` path behind its root.
fn constant_path(path: &str) -> Option<Vec<String>> {
    let prefix = ccm_expr::path::Path::parse(path).ok()?.constant_prefix();
    prefix.get(1..).map(<[String]>::to_vec)
}
