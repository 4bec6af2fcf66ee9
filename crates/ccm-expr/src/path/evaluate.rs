//! Evaluation of a path.

use super::layout::Layout;
use super::limits::{LookupBudget, PathLimit, check_depth};
use super::pattern;
use super::syntax::{Chain, PathPart, PathStage, Query};
use crate::{Map, Value};

#[derive(Clone, Debug)]
pub(super) struct FoundValue {
    pub(super) value: Value,
    pub(super) layout: Layout,
}

pub(super) struct Evaluation {
    pub(super) budget: LookupBudget,
}

enum SearchResult {
    Found(FoundValue),
    /// The parent exists and lacks the last part; the next stage gets nothing, which some modifiers accept.
    Missing,
    /// Like `Missing`, and a wildcard must not try its next key.
    Refused,
    /// A parent is missing: no further stage is evaluated.
    Unreached,
}

impl From<Option<FoundValue>> for SearchResult {
    fn from(found: Option<FoundValue>) -> Self {
        found.map_or(Self::Missing, Self::Found)
    }
}

impl Evaluation {
    pub(super) fn new() -> Self {
        Self { budget: LookupBudget::new() }
    }

    pub(super) fn find(&mut self, chain: &Chain, root: &Value) -> Result<Option<Value>, PathLimit> {
        if let [PathStage::Parts(parts)] = &*chain.stages {
            return Ok(match self.search(root, parts, &Layout::DATA, 0)? {
                SearchResult::Found(found) => Some(found.value),
                SearchResult::Missing | SearchResult::Refused | SearchResult::Unreached => None,
            });
        }
        let root = FoundValue { value: root.clone(), layout: Layout::DATA };
        Ok(self.chain(chain, Some(root))?.map(|found| found.value))
    }

    pub(super) fn chain(
        &mut self,
        chain: &Chain,
        input: Option<FoundValue>,
    ) -> Result<Option<FoundValue>, PathLimit> {
        let mut current = input;
        for stage in &chain.stages {
            self.budget.spend(1)?;
            current = match stage {
                PathStage::Parts(parts) => {
                    let Some(FoundValue { value, layout }) = current else { return Ok(None) };
                    match self.search(&value, parts, &layout, 0)? {
                        SearchResult::Found(found) => Some(found),
                        SearchResult::Missing | SearchResult::Refused => None,
                        SearchResult::Unreached => return Ok(None),
                    }
                }
                PathStage::Modifier(modifier) => self.modify(modifier, current)?,
                PathStage::Literal(value) => Some(FoundValue { value: value.clone(), layout: Layout::DATA }),
                PathStage::Fields(fields) => Some(self.fields(fields, current.as_ref())?),
                PathStage::Elements(elements) => {
                    let mut found = Vec::new();
                    for element in elements {
                        found.extend(self.chain(element, current.clone())?);
                    }
                    Some(self.collect(found)?)
                }
            };
        }
        Ok(current)
    }

    fn fields(
        &mut self,
        fields: &[(Box<str>, Chain)],
        input: Option<&FoundValue>,
    ) -> Result<FoundValue, PathLimit> {
        let mut map = Map::new();
        let mut layout: Option<Layout> = None;
        for (name, path) in fields {
            let Some(found) = self.chain(path, input.cloned())? else { continue };
            self.budget.spend(name.len() / 4)?;
            self.budget.include(&found.value)?;
            layout.get_or_insert(found.layout);
            // The first of two fields of the same name wins.
            map.entry((**name).into()).or_insert(found.value);
        }
        let layout = layout.unwrap_or(Layout::DATA).outer();
        Ok(FoundValue { value: Value::Map(map.into()), layout })
    }

    pub(super) fn collect(&mut self, elements: Vec<FoundValue>) -> Result<FoundValue, PathLimit> {
        elements.iter().try_for_each(|element| self.budget.include(&element.value))?;
        let layout = elements.first().map_or(Layout::DATA, |first| first.layout.clone()).outer();
        let values: Vec<_> = elements.into_iter().map(|element| element.value).collect();
        Ok(FoundValue { value: Value::List(values.into()), layout })
    }

    fn search(
        &mut self,
        mut value: &Value,
        parts: &[PathPart],
        layout: &Layout,
        depth: usize,
    ) -> Result<SearchResult, PathLimit> {
        check_depth(depth)?;
        for (position, part) in parts.iter().enumerate() {
            let last = position + 1 == parts.len();
            self.budget.spend(1)?;
            let child = match (part, value) {
                (PathPart::Name { name, .. }, Value::Map(map)) => map.get(&**name),
                (PathPart::Name { name, .. }, Value::List(elements)) => {
                    index(name).and_then(|index| elements.get(index))
                }
                (PathPart::Count, Value::List(elements)) => {
                    let count = Value::Int(i64::try_from(elements.len()).unwrap_or(i64::MAX));
                    return Ok(SearchResult::Found(FoundValue { value: count, layout: Layout::DATA }));
                }
                (PathPart::Count, Value::Map(map)) => map.get("#"),
                (PathPart::Wildcard(_), Value::List(_)) => None,
                (PathPart::Wildcard(wildcards), Value::Map(map)) => {
                    let layout = layout.inner(position + 1);
                    let mut outcome = if last { SearchResult::Missing } else { SearchResult::Unreached };
                    for (key, child) in map.iter() {
                        self.budget.spend(pattern::cost(wildcards, key))?;
                        if !wildcards.matches(&**key) {
                            continue;
                        }
                        if last {
                            return Ok(SearchResult::Found(FoundValue { value: child.clone(), layout }));
                        }
                        match self.search(child, &parts[position + 1..], &layout, depth + 1)? {
                            SearchResult::Unreached => {}
                            SearchResult::Missing => outcome = SearchResult::Missing,
                            decided => return Ok(decided),
                        }
                    }
                    return Ok(outcome);
                }
                (PathPart::Each(path), Value::List(elements)) => {
                    return Ok(SearchResult::Found(self.each(
                        path,
                        elements,
                        &layout.inner(position + 1),
                    )?));
                }
                (PathPart::Query(query), Value::List(elements)) => {
                    return self.query(query, elements, &layout.inner(position + 1));
                }
                _ => return Ok(SearchResult::Unreached),
            };
            match child {
                Some(child) if last => {
                    let layout = layout.inner(position + 1);
                    return Ok(SearchResult::Found(FoundValue { value: child.clone(), layout }));
                }
                Some(child) => value = child,
                None if last => return Ok(SearchResult::Missing),
                None => return Ok(SearchResult::Unreached),
            }
        }
        Ok(SearchResult::Unreached)
    }

    fn each(&mut self, path: &Chain, elements: &[Value], layout: &Layout) -> Result<FoundValue, PathLimit> {
        let mut found = Vec::new();
        for element in elements {
            let element = FoundValue { value: element.clone(), layout: layout.clone() };
            found.extend(self.chain(path, Some(element))?);
        }
        self.collect(found)
    }

    fn query(
        &mut self,
        query: &Query,
        elements: &[Value],
        layout: &Layout,
    ) -> Result<SearchResult, PathLimit> {
        let mut passing = Vec::new();
        for element in elements {
            self.budget.spend(1)?;
            if !self.passes(query, element)? {
                continue;
            }
            let element = FoundValue { value: element.clone(), layout: layout.clone() };
            let found = match &query.rest {
                Some(rest) => self.chain(rest, Some(element))?,
                None => Some(element),
            };
            if !query.all {
                return Ok(found.map_or(SearchResult::Refused, SearchResult::Found));
            }
            passing.extend(found);
        }
        Ok(match query {
            Query { all: true, .. } => SearchResult::Found(self.collect(passing)?),
            Query { rest: None, .. } => SearchResult::Missing,
            Query { .. } => SearchResult::Unreached,
        })
    }

    fn passes(&mut self, query: &Query, element: &Value) -> Result<bool, PathLimit> {
        let compound = matches!(element, Value::List(_) | Value::Map(_));
        match &query.subject {
            None if compound => query.test.passes(element.get(""), &mut self.budget),
            None => query.test.passes(Some(element), &mut self.budget),
            Some(subject) if compound => {
                let element = FoundValue { value: element.clone(), layout: Layout::DATA };
                let found = self.chain(subject, Some(element))?;
                query.test.passes(found.as_ref().map(|found| &found.value), &mut self.budget)
            }
            // A scalar has no parts to query.
            Some(_) => Ok(false),
        }
    }
}

pub(super) fn index(name: &str) -> Option<usize> {
    if name.bytes().all(|byte| byte.is_ascii_digit()) { name.parse().ok() } else { None }
}
