//! Modifiers.

use super::evaluate::{Evaluation, FoundValue};
use super::layout::{Layout, with_sorted_keys};
use super::limits::{LookupBudget, PathLimit, check_depth};
use super::syntax::{Chain, Modifier};
use crate::{Map, Value};

impl Evaluation {
    pub(super) fn modify(
        &mut self,
        modifier: &Modifier,
        input: Option<FoundValue>,
    ) -> Result<Option<FoundValue>, PathLimit> {
        let Some(FoundValue { value, layout }) = input else {
            return Ok(of_nothing(modifier).map(|value| FoundValue { value, layout: Layout::DATA }));
        };
        let rebuilt = layout.rebuilt();
        let found = |value, layout| Ok(Some(FoundValue { value, layout }));
        match modifier {
            Modifier::Unchanged => found(value, layout),
            Modifier::Ugly => found(value, Layout::UGLY),
            Modifier::Pretty(options) => {
                let value = if options.sort_keys {
                    self.budget.include(&value)?;
                    with_sorted_keys(&value, 0)?
                } else {
                    value
                };
                found(value, Layout::Pretty(Box::new(options.clone())))
            }
            Modifier::ToText => {
                let text = layout.write(&value)?;
                self.budget.spend(text.len() / 4)?;
                found(Value::text(text), Layout::DATA)
            }
            Modifier::FromText => self.read_text(&value),
            Modifier::Dig(path) => self.dig(path, &value, &layout).map(Some),
            Modifier::Keys => found(self.keys(&value)?, Layout::DATA.outer()),
            Modifier::Values if matches!(value, Value::List(_)) => found(value, layout),
            Modifier::Reverse => match reversed(&value, &mut self.budget)? {
                Some(reversed) => found(reversed, rebuilt),
                None => found(value, layout),
            },
            Modifier::Values => {
                let values = match &value {
                    Value::Map(map) => {
                        self.budget.build(map.len())?;
                        Value::list(map.values().cloned())
                    }
                    single => Value::list([single.clone()]),
                };
                found(values, rebuilt)
            }
            Modifier::Flatten { deep } => {
                let Value::List(elements) = &value else { return found(value, layout) };
                let levels = if *deep { usize::MAX } else { 1 };
                let mut flat = Vec::new();
                flatten_into(&mut flat, elements, levels, 0, &mut self.budget)?;
                found(Value::List(flat.into()), rebuilt)
            }
            Modifier::Join { preserve } => {
                let Value::List(elements) = &value else { return found(value, layout) };
                found(joined(elements, *preserve, &mut self.budget)?, layout.inner(2).outer())
            }
            Modifier::Group => {
                let Value::Map(map) = &value else { return Ok(None) };
                found(grouped(map, &mut self.budget)?, layout.inner(2).outer().outer())
            }
        }
    }

    /// Parses JSON text. Null becomes `None`; other values than text stay as they are.
    fn read_text(&mut self, value: &Value) -> Result<Option<FoundValue>, PathLimit> {
        let value = match value {
            Value::Text(text) => {
                self.budget.build(1 + text.len() / 4)?;
                match serde_json::from_str::<serde_json::Value>(text) {
                    Ok(json) => json.into(),
                    Err(_) => return Ok(None),
                }
            }
            Value::Null => return Ok(None),
            other => other.clone(),
        };
        Ok(Some(FoundValue { value, layout: Layout::DATA }))
    }

    /// Looks a path up in a value and in everything inside, the outer values first.
    fn dig(&mut self, path: &Chain, value: &Value, layout: &Layout) -> Result<FoundValue, PathLimit> {
        let mut found = Vec::new();
        let mut ahead = vec![(value, 0)];
        while let Some((value, level)) = ahead.pop() {
            self.budget.build(1)?;
            let input = FoundValue { value: value.clone(), layout: layout.inner(level) };
            found.extend(self.chain(path, Some(input))?);
            match value {
                Value::List(elements) => {
                    ahead.extend(elements.iter().rev().map(|element| (element, level + 1)));
                }
                Value::Map(map) => {
                    ahead.extend(map.values().rev().map(|element| (element, level + 1)));
                }
                _ => {}
            }
        }
        self.collect(found)
    }

    fn keys(&mut self, value: &Value) -> Result<Value, PathLimit> {
        Ok(match value {
            Value::Map(map) => {
                self.budget.build(map.len())?;
                Value::list(map.keys().map(|key| Value::Text(key.clone())))
            }
            // Elements of a list have no keys.
            Value::List(elements) => {
                self.budget.build(elements.len())?;
                Value::list(elements.iter().map(|_| Value::Null))
            }
            _ => Value::list([Value::Null]),
        })
    }
}

/// Result of a modifier without a value.
fn of_nothing(modifier: &Modifier) -> Option<Value> {
    match modifier {
        Modifier::ToText => Some(Value::text("")),
        Modifier::Keys | Modifier::Values | Modifier::Dig(_) => Some(Value::list([])),
        _ => None,
    }
}

fn reversed(value: &Value, budget: &mut LookupBudget) -> Result<Option<Value>, PathLimit> {
    Ok(match value {
        Value::List(elements) => {
            budget.build(elements.len())?;
            Some(Value::list(elements.iter().rev().cloned()))
        }
        Value::Map(map) => {
            budget.build(map.len())?;
            Some(Value::map(map.iter().rev().map(|(key, element)| (key.clone(), element.clone()))))
        }
        _ => None,
    })
}

fn flatten_into(
    flat: &mut Vec<Value>,
    elements: &[Value],
    levels: usize,
    depth: usize,
    budget: &mut LookupBudget,
) -> Result<(), PathLimit> {
    check_depth(depth)?;
    budget.build(elements.len())?;
    for element in elements {
        match element {
            Value::List(inner) if levels > 0 => flatten_into(flat, inner, levels - 1, depth + 1, budget)?,
            other => flat.push(other.clone()),
        }
    }
    Ok(())
}

/// Merges the maps of a list. The last of equal keys wins; with `preserve` the first, as in a lookup.
fn joined(elements: &[Value], preserve: bool, budget: &mut LookupBudget) -> Result<Value, PathLimit> {
    let mut joined = Map::new();
    for element in elements {
        budget.spend(1)?;
        let Value::Map(map) = element else { continue };
        budget.build(map.len())?;
        for (key, value) in map.iter() {
            if preserve {
                joined.entry(key.clone()).or_insert_with(|| value.clone());
            } else {
                joined.insert(key.clone(), value.clone());
            }
        }
    }
    Ok(Value::Map(joined.into()))
}

/// Turns a map of lists into a list of maps.
fn grouped(map: &Map, budget: &mut LookupBudget) -> Result<Value, PathLimit> {
    let mut rows: Vec<Map> = Vec::new();
    for (key, column) in map {
        let Value::List(elements) = column else { continue };
        budget.build(elements.len())?;
        for (position, element) in elements.iter().enumerate() {
            if position == rows.len() {
                rows.push(Map::new());
            }
            rows[position].insert(key.clone(), element.clone());
        }
    }
    Ok(Value::list(rows.into_iter().map(|row| Value::Map(row.into()))))
}
