//! Filters of lists and maps.

use indexmap::IndexMap;
use minijinja::value::{Kwargs, Rest, ValueKind};
use minijinja::{Environment, Error, Value};

use super::super::kinds::require;
use super::super::meter::{add_counted, count_elements, measure};
use super::{refused, unsuitable};

/// Maximum nesting of what `combine` and `flatten` walk through.
const MAX_DEPTH: usize = 100;

/// Maximum number of elements of a product.
const MAX_PRODUCT: usize = 1 << 20;

pub(super) fn add_filters(environment: &mut Environment<'static>) {
    add_counted(environment, "dict2items", dict_to_items);
    add_counted(environment, "items2dict", items_to_dict);
    add_counted(environment, "combine", combine);
    add_counted(environment, "union", |one: Value, two: Value| {
        Ok::<_, Error>(distinct(list("union", &one)?.into_iter().chain(list("union", &two)?)))
    });
    add_counted(environment, "intersect", |one: Value, two: Value| {
        let two = list("intersect", &two)?;
        Ok::<_, Error>(distinct(list("intersect", &one)?.into_iter().filter(|element| two.contains(element))))
    });
    add_counted(environment, "difference", |one: Value, two: Value| {
        let two = list("difference", &two)?;
        Ok::<_, Error>(distinct(
            list("difference", &one)?.into_iter().filter(|element| !two.contains(element)),
        ))
    });
    add_counted(environment, "symmetric_difference", |one: Value, two: Value| {
        let (one, two) = (list("symmetric_difference", &one)?, list("symmetric_difference", &two)?);
        let only_one = one.iter().filter(|element| !two.contains(element));
        let only_two = two.iter().filter(|element| !one.contains(element));
        Ok::<_, Error>(distinct(only_one.chain(only_two).cloned()))
    });
    add_counted(environment, "flatten", flatten);
    add_counted(environment, "product", product);
}

fn list(filter: &str, value: &Value) -> Result<Vec<Value>, Error> {
    require(value)?;
    match value.kind() {
        ValueKind::Seq | ValueKind::Iterable => {
            measure(value)?;
            Ok(value.try_iter()?.collect())
        }
        _ => Err(unsuitable(filter, "lists", value)),
    }
}

/// Drops elements that stand in the list before.
fn distinct(elements: impl Iterator<Item = Value>) -> Vec<Value> {
    let mut seen = std::collections::BTreeSet::new();
    elements.filter(|element| seen.insert(element.clone())).collect()
}

fn pairs(filter: &str, map: &Value) -> Result<Vec<(Value, Value)>, Error> {
    require(map)?;
    if map.kind() != ValueKind::Map {
        return Err(unsuitable(filter, "a map", map));
    }
    map.try_iter()?.map(|key| Ok((key.clone(), map.get_item(&key)?))).collect()
}

fn dict_to_items(map: Value, named: Kwargs) -> Result<Vec<Value>, Error> {
    let key_name: String = named.get::<Option<_>>("key_name")?.unwrap_or_else(|| "key".to_owned());
    let value_name: String = named.get::<Option<_>>("value_name")?.unwrap_or_else(|| "value".to_owned());
    named.assert_all_used()?;
    let item = |(key, value)| Value::from_pairs([(key_name.clone(), key), (value_name.clone(), value)]);
    Ok(pairs("dict2items", &map)?.into_iter().map(item).collect())
}

fn items_to_dict(items: Value, named: Kwargs) -> Result<Value, Error> {
    let key_name: String = named.get::<Option<_>>("key_name")?.unwrap_or_else(|| "key".to_owned());
    let value_name: String = named.get::<Option<_>>("value_name")?.unwrap_or_else(|| "value".to_owned());
    named.assert_all_used()?;
    let mut map = IndexMap::<Value, Value>::new();
    for item in list("items2dict", &items)? {
        let (key, value) = (item.get_attr(&key_name)?, item.get_attr(&value_name)?);
        if key.is_undefined() || value.is_undefined() {
            return Err(refused(format!("`items2dict` takes maps with `{key_name}` and `{value_name}`")));
        }
        map.insert(key, value);
    }
    Ok(Value::from_pairs(map))
}

fn combine(first: Value, rest: Rest<Value>, named: Kwargs) -> Result<Value, Error> {
    let recursive = named.get::<Option<bool>>("recursive")?.unwrap_or(false);
    let list_merge: Option<String> = named.get("list_merge")?;
    named.assert_all_used()?;
    if !matches!(list_merge.as_deref(), None | Some("replace")) {
        return Err(refused("`combine` replaces lists: no other `list_merge` is supported"));
    }
    let mut combined = first;
    pairs("combine", &combined)?;
    for map in rest.iter() {
        combined = merged(&combined, map, recursive, MAX_DEPTH)?;
    }
    Ok(combined)
}

fn merged(lower: &Value, upper: &Value, recursive: bool, depth: usize) -> Result<Value, Error> {
    let depth = depth.checked_sub(1).ok_or_else(|| refused("maps are nested too deep"))?;
    let mut map: IndexMap<Value, Value> = pairs("combine", lower)?.into_iter().collect();
    for (key, value) in pairs("combine", upper)? {
        let are_maps = |old: &Value| old.kind() == ValueKind::Map && value.kind() == ValueKind::Map;
        let value = match map.get(&key) {
            Some(old) if recursive && are_maps(old) => merged(old, &value, true, depth)?,
            _ => value,
        };
        map.insert(key, value);
    }
    Ok(Value::from_pairs(map))
}

fn flatten(nested: Value, levels: Option<usize>, named: Kwargs) -> Result<Vec<Value>, Error> {
    let levels = levels.or(named.get("levels")?);
    let skip_nulls = named.get::<Option<bool>>("skip_nulls")?.unwrap_or(true);
    named.assert_all_used()?;
    let mut flat = Vec::new();
    flatten_into(
        &mut flat,
        list("flatten", &nested)?,
        levels.unwrap_or(MAX_DEPTH).min(MAX_DEPTH),
        skip_nulls,
    )?;
    Ok(flat)
}

fn flatten_into(
    flat: &mut Vec<Value>,
    elements: Vec<Value>,
    levels: usize,
    skip_nulls: bool,
) -> Result<(), Error> {
    for element in elements {
        match element.kind() {
            ValueKind::None if skip_nulls => {}
            ValueKind::Seq | ValueKind::Iterable if levels > 0 => {
                flatten_into(flat, list("flatten", &element)?, levels - 1, skip_nulls)?;
            }
            _ => flat.push(element),
        }
    }
    Ok(())
}

fn product(first: Value, rest: Rest<Value>) -> Result<Vec<Value>, Error> {
    let mut rows: Vec<Vec<Value>> =
        list("product", &first)?.into_iter().map(|element| vec![element]).collect();
    for other in rest.iter() {
        let other = list("product", other)?;
        if rows.len().checked_mul(other.len()).is_none_or(|length| length > MAX_PRODUCT) {
            return Err(refused("the product has too many elements"));
        }
        count_elements((rows.len() * other.len()) as u64)?;
        let extend = |row: &Vec<Value>, element: &Value| row.iter().chain([element]).cloned().collect();
        rows = rows.iter().flat_map(|row| other.iter().map(move |element| extend(row, element))).collect();
    }
    Ok(rows.into_iter().map(Value::from).collect())
}
