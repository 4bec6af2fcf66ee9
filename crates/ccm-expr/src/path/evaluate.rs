//! Following a path through a value.

use super::layout::Layout;
use super::limits::{Budget, PathLimit, check_depth};
use super::syntax::{Chain, Part, Query, Stage};
use crate::{Map, Value};

/// A value on its way through the stages.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) value: Value,
    pub(super) layout: Layout,
}

/// One lookup.
pub(super) struct Evaluation {
    pub(super) budget: Budget,
}

/// How the search for parts ended.
enum Search {
    Found(Found),
    /// The place for it is there, and empty; the next stage works on nothing, which some modifiers can.
    Missing,
    /// As missing, and no other way is to be tried.
    Refused,
    /// Not even the place is there: no further stage counts.
    Unreached,
}

impl From<Option<Found>> for Search {
    fn from(found: Option<Found>) -> Self {
        found.map_or(Self::Missing, Self::Found)
    }
}

impl Evaluation {
    pub(super) fn new() -> Self {
        Self { budget: Budget::new() }
    }

    pub(super) fn find(&mut self, chain: &Chain, root: &Value) -> Result<Option<Value>, PathLimit> {
        if let [Stage::Parts(parts)] = &*chain.stages {
            return Ok(match self.search(root, parts, &Layout::DATA, 0)? {
                Search::Found(found) => Some(found.value),
                Search::Missing | Search::Refused | Search::Unreached => None,
            });
        }
        let root = Found { value: root.clone(), layout: Layout::DATA };
        Ok(self.chain(chain, Some(root))?.map(|found| found.value))
    }

    pub(super) fn chain(&mut self, chain: &Chain, input: Option<Found>) -> Result<Option<Found>, PathLimit> {
        let mut current = input;
        for stage in &chain.stages {
            self.budget.spend(1)?;
            current = match stage {
                Stage::Parts(parts) => {
                    let Some(Found { value, layout }) = current else { return Ok(None) };
                    match self.search(&value, parts, &layout, 0)? {
                        Search::Found(found) => Some(found),
                        Search::Missing | Search::Refused => None,
                        Search::Unreached => return Ok(None),
                    }
                }
                Stage::Modifier(modifier) => self.modify(modifier, current)?,
                Stage::Literal(value) => Some(Found { value: value.clone(), layout: Layout::DATA }),
                Stage::Fields(fields) => Some(self.fields(fields, current.as_ref())?),
                Stage::Elements(elements) => {
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

    fn fields(&mut self, fields: &[(Box<str>, Chain)], input: Option<&Found>) -> Result<Found, PathLimit> {
        let mut map = Map::new();
        let mut layout: Option<Layout> = None;
        for (name, path) in fields {
            let Some(found) = self.chain(path, input.cloned())? else { continue };
            self.budget.spend(name.len() / 4)?;
            self.budget.include(&found.value)?;
            layout.get_or_insert(found.layout);
            // Of fields of the same name the first counts.
            map.entry((**name).into()).or_insert(found.value);
        }
        let layout = layout.unwrap_or(Layout::DATA).outer();
        Ok(Found { value: Value::Map(map.into()), layout })
    }

    /// Puts values together into a list.
    pub(super) fn collect(&mut self, elements: Vec<Found>) -> Result<Found, PathLimit> {
        elements.iter().try_for_each(|element| self.budget.include(&element.value))?;
        let layout = elements.first().map_or(Layout::DATA, |first| first.layout.clone()).outer();
        let values: Vec<_> = elements.into_iter().map(|element| element.value).collect();
        Ok(Found { value: Value::List(values.into()), layout })
    }

    fn search(
        &mut self,
        mut value: &Value,
        parts: &[Part],
        layout: &Layout,
        depth: usize,
    ) -> Result<Search, PathLimit> {
        check_depth(depth)?;
        for (position, part) in parts.iter().enumerate() {
            let last = position + 1 == parts.len();
            self.budget.spend(1)?;
            let child = match (part, value) {
                (Part::Name { name, .. }, Value::Map(map)) => map.get(&**name),
                (Part::Name { name, .. }, Value::List(elements)) => {
                    index(name).and_then(|index| elements.get(index))
                }
                (Part::Count, Value::List(elements)) => {
                    let count = Value::Int(i64::try_from(elements.len()).unwrap_or(i64::MAX));
                    return Ok(Search::Found(Found { value: count, layout: Layout::DATA }));
                }
                (Part::Count, Value::Map(map)) => map.get("#"),
                (Part::Wildcard(_), Value::List(_)) => None,
                (Part::Wildcard(pattern), Value::Map(map)) => {
                    let layout = layout.inner(position + 1);
                    let mut outcome = if last { Search::Missing } else { Search::Unreached };
                    for (key, child) in map.iter() {
                        self.budget.spend(pattern.cost(key))?;
                        if !pattern.matches(key) {
                            continue;
                        }
                        if last {
                            return Ok(Search::Found(Found { value: child.clone(), layout }));
                        }
                        match self.search(child, &parts[position + 1..], &layout, depth + 1)? {
                            Search::Unreached => {}
                            Search::Missing => outcome = Search::Missing,
                            decided => return Ok(decided),
                        }
                    }
                    return Ok(outcome);
                }
                (Part::Each(path), Value::List(elements)) => {
                    return Ok(Search::Found(self.each(path, elements, &layout.inner(position + 1))?));
                }
                (Part::Query(query), Value::List(elements)) => {
                    return self.query(query, elements, &layout.inner(position + 1));
                }
                _ => return Ok(Search::Unreached),
            };
            match child {
                Some(child) if last => {
                    let layout = layout.inner(position + 1);
                    return Ok(Search::Found(Found { value: child.clone(), layout }));
                }
                Some(child) => value = child,
                None if last => return Ok(Search::Missing),
                None => return Ok(Search::Unreached),
            }
        }
        Ok(Search::Unreached)
    }

    fn each(&mut self, path: &Chain, elements: &[Value], layout: &Layout) -> Result<Found, PathLimit> {
        let mut found = Vec::new();
        for element in elements {
            let element = Found { value: element.clone(), layout: layout.clone() };
            found.extend(self.chain(path, Some(element))?);
        }
        self.collect(found)
    }

    fn query(&mut self, query: &Query, elements: &[Value], layout: &Layout) -> Result<Search, PathLimit> {
        let mut passing = Vec::new();
        for element in elements {
            self.budget.spend(1)?;
            if !self.passes(query, element)? {
                continue;
            }
            let element = Found { value: element.clone(), layout: layout.clone() };
            let found = match &query.rest {
                Some(rest) => self.chain(rest, Some(element))?,
                None => Some(element),
            };
            if !query.all {
                return Ok(found.map_or(Search::Refused, Search::Found));
            }
            passing.extend(found);
        }
        Ok(match query {
            Query { all: true, .. } => Search::Found(self.collect(passing)?),
            Query { rest: None, .. } => Search::Missing,
            Query { .. } => Search::Unreached,
        })
    }

    fn passes(&mut self, query: &Query, element: &Value) -> Result<bool, PathLimit> {
        let compound = matches!(element, Value::List(_) | Value::Map(_));
        match &query.subject {
            None if compound => query.test.passes(element.get(""), &mut self.budget),
            None => query.test.passes(Some(element), &mut self.budget),
            Some(subject) if compound => {
                let element = Found { value: element.clone(), layout: Layout::DATA };
                let found = self.chain(subject, Some(element))?;
                query.test.passes(found.as_ref().map(|found| &found.value), &mut self.budget)
            }
            // What has no parts can't be asked for one.
            Some(_) => Ok(false),
        }
    }
}

/// The index that a name is.
pub(super) fn index(name: &str) -> Option<usize> {
    if name.bytes().all(|byte| byte.is_ascii_digit()) { name.parse().ok() } else { None }
}
