//! Kinds of values: operators, conditions and sorting refuse values that have no meaning together.
//!
//! minijinja orders a text before every list and a number before every text, and takes each text but the empty one for
//! true. Jinja2 raises an error for the first, and reads data in which `no` is no text.

use std::cmp::Ordering;

use minijinja::value::{Kwargs, Rest, ValueKind, ValueOrKwargs};
use minijinja::{Environment, Error, State, Value};

use super::error::TemplateFault;
use super::error_conversion::RaisedFault;
use super::kept::kept;
use super::meter::{add_counted, count_elements, count_text, measure};

/// Maximum number of elements of a list that `*` repeats.
const MAX_REPEATED: usize = 1 << 20;

/// Maximum length of a text that `*` repeats.
const MAX_REPEATED_TEXT: usize = 100_000_000;

/// Registers the filters that stand for operators, the tests of their names, and the filters that compare values.
pub(super) fn check_kinds(environment: &mut Environment<'static>) {
    type Operator = fn(&Value, &Value) -> Result<bool, Error>;
    const OPERATORS: [(&str, Operator, &[&str]); 8] = [
        ("__eq", equal_within_limits, &["eq", "equalto", "=="]),
        ("__ne", |a, b| Ok(!equal_within_limits(a, b)?), &["ne", "!="]),
        ("__lt", |a, b| Ok(ordered("<", a, b)?.is_lt()), &["lt", "lessthan", "<"]),
        ("__le", |a, b| Ok(ordered("<=", a, b)?.is_le()), &["le", "<="]),
        ("__gt", |a, b| Ok(ordered(">", a, b)?.is_gt()), &["gt", "greaterthan", ">"]),
        ("__ge", |a, b| Ok(ordered(">=", a, b)?.is_ge()), &["ge", ">="]),
        ("__in", contained, &["in"]),
        ("__not_in", |a, b| Ok(!contained(a, b)?), &[]),
    ];
    for (filter, operator, tests) in OPERATORS {
        environment.add_filter(filter, move |left: &Value, right: &Value| operator(left, right));
        for test in tests {
            environment.add_test(*test, move |left: &Value, right: &Value| operator(left, right));
        }
    }
    environment.add_filter("__compare", |first: Value, rest: Rest<Value>| compared(first, &rest));
    environment.add_filter("__mul", |left: &Value, right: &Value| product(left, right));
    environment.add_filter("__join", |left: &Value, right: &Value| {
        check_printable("~", left)?;
        check_printable("~", right)?;
        let length = |value: &Value| value.as_str().map_or(0, str::len) as u64;
        count_text(length(left).saturating_add(length(right)))?;
        Ok::<_, Error>(format!("{left}{right}"))
    });
    environment.add_filter("__add", |left: &Value, right: &Value| sum(left, right));
    environment.add_filter("__kept", |value: &Value| kept(value));
    environment.add_filter("__slice", |value: Value| {
        check_list("a slice", &value)?;
        // A text is cut letter by letter.
        count_elements(value.as_str().map_or_else(|| value.len().unwrap_or_default(), str::len) as u64)?;
        Ok::<_, Error>(value)
    });
    environment.add_filter("__iter", |value: Value| check_no_text("`for`", &value).map(|()| value));
    environment.add_filter("__iter_pairs", |value: Value| check_pairs(&value).map(|()| value));
    environment.add_test("divisibleby", |value: &Value, by: Value| {
        Ok::<_, Error>(whole("divisibleby", value)?.checked_rem(whole("divisibleby", &by)?) == Some(0))
    });
    environment.add_test("odd", |value: &Value| Ok::<_, Error>(whole("odd", value)? % 2 != 0));
    environment.add_test("even", |value: &Value| Ok::<_, Error>(whole("even", value)? % 2 == 0));
    environment.add_filter("__truth", |value: Value| check_truth(&value).map(|()| value));
    environment.add_test("__truth", |value: Value| truth(&value));
    environment.add_test("true", |value: Value| equal_to_boolean(&value, true));
    environment.add_test("false", |value: Value| equal_to_boolean(&value, false));
    for (filter, engine, fixed) in [
        ("select", "engine select", 1),
        ("reject", "engine reject", 1),
        ("selectattr", "engine selectattr", 2),
        ("rejectattr", "engine rejectattr", 2),
    ] {
        environment.add_filter(filter, move |state: &mut State<'_, '_>, given: Rest<ValueOrKwargs>| {
            let mut arguments = given.into_values();
            if let Some(list) = arguments.first() {
                check_list(&format!("`{filter}`"), list)?;
            }
            if arguments.len() == fixed {
                arguments.push(Value::from("__truth"));
            }
            state.apply_filter(engine, &arguments)
        });
    }
    add_counted(environment, "engine select", minijinja::filters::select);
    add_counted(environment, "engine reject", minijinja::filters::reject);
    add_counted(environment, "engine selectattr", minijinja::filters::selectattr);
    add_counted(environment, "engine rejectattr", minijinja::filters::rejectattr);
    add_counted(environment, "engine sort", minijinja::filters::sort);
    add_counted(environment, "engine dictsort", minijinja::filters::dictsort);
    add_counted(environment, "engine groupby", minijinja::filters::groupby);
    environment.add_filter("sort", |state: &mut State<'_, '_>, given: Rest<ValueOrKwargs>| {
        sorted(state, "sort", "engine sort", given.into_values())
    });
    environment.add_filter("groupby", |state: &mut State<'_, '_>, given: Rest<ValueOrKwargs>| {
        sorted(state, "groupby", "engine groupby", given.into_values())
    });
    environment.add_filter("dictsort", |state: &mut State<'_, '_>, given: Rest<ValueOrKwargs>| {
        let mut arguments = given.into_values();
        positional_to_named(&mut arguments, &["case_sensitive", "by", "reverse"]);
        let by_value =
            named(&arguments).is_some_and(|named| named.peek::<&str>("by").is_ok_and(|by| by == "value"));
        if let Some(map) = arguments.first().filter(|map| map.kind() == ValueKind::Map) {
            let keys = map.try_iter()?.collect::<Vec<_>>();
            let values = keys.iter().map(|key| map.get_item(key)).collect::<Result<Vec<_>, _>>()?;
            same_kinds("dictsort", if by_value { &values } else { &keys })?;
        }
        state.apply_filter("engine dictsort", &arguments)
    });
    environment.add_filter("min", |state: &mut State<'_, '_>, list: Value, named: Kwargs| {
        extreme(state, "min", &list, &named, Ordering::is_lt)
    });
    environment.add_filter("max", |state: &mut State<'_, '_>, list: Value, named: Kwargs| {
        extreme(state, "max", &list, &named, Ordering::is_gt)
    });
}

/// Returns the name of the kind of a value, as expressions call it.
pub(super) fn kind_name(kind: ValueKind) -> &'static str {
    match kind {
        ValueKind::Undefined => "a value that does not exist",
        ValueKind::None => "null",
        ValueKind::Bool => "a boolean",
        ValueKind::Number => "a number",
        ValueKind::String => "text",
        ValueKind::Seq | ValueKind::Iterable => "a list",
        ValueKind::Map => "a map",
        _ => "an object",
    }
}

/// Builds the error of an operator or a filter between two kinds.
pub(super) fn clash(operator: &str, left: ValueKind, right: ValueKind) -> RaisedFault {
    let kinds = format!("{} and {}", kind_name(left), kind_name(right));
    let message = match operator {
        "sort" | "dictsort" | "groupby" | "min" | "max" => format!("`{operator}` can't order {kinds}"),
        _ => format!("`{operator}` has no meaning between {kinds}"),
    };
    let kinds = [left, right];
    let has = |kind: ValueKind| kinds.contains(&kind);
    let hint = if operator == "%" && left == ValueKind::String {
        Some("write `text | format(…)`")
    } else if has(ValueKind::String) && has(ValueKind::Number) {
        match operator {
            "+" => Some(
                "write `| int` or `| float` after the text to calculate, `~` in place of `+` to join texts",
            ),
            _ => Some("write `| int` or `| float` after the text, or `| string` after the number"),
        }
    } else if has(ValueKind::String) && has(ValueKind::Bool) {
        Some("write `| bool` after the text, or `| string` after the boolean")
    } else if has(ValueKind::Bool) && has(ValueKind::Number) {
        Some("write `| int` after the boolean")
    } else if has(ValueKind::None) {
        Some("write `| default(…, true)` after the value that may be null")
    } else {
        None
    };
    let raised = RaisedFault::new(TemplateFault::Operation(message));
    match hint {
        Some(hint) => raised.with_hint(hint),
        None => raised,
    }
}

/// Raises the error of a value that does not exist.
pub(super) fn require(value: &Value) -> Result<(), Error> {
    // Only an access to an undefined value raises an error that holds the expression.
    if value.is_undefined() { value.get_attr("x").map(drop) } else { Ok(()) }
}

fn is_list(kind: ValueKind) -> bool {
    matches!(kind, ValueKind::Seq | ValueKind::Iterable)
}

/// Returns the order of two values of one kind; lists are compared element by element.
fn order(operator: &str, left: &Value, right: &Value) -> Result<Ordering, Error> {
    require(left)?;
    require(right)?;
    match (left.kind(), right.kind()) {
        (ValueKind::String, ValueKind::String) if spell_floats(left, right) => Err(floats_as_texts(operator)),
        (ValueKind::Number, ValueKind::Number)
        | (ValueKind::String, ValueKind::String)
        | (ValueKind::Bool, ValueKind::Bool) => Ok(left.cmp(right)),
        (one, two) if is_list(one) && is_list(two) => {
            let (mut left, mut right) = (left.try_iter()?, right.try_iter()?);
            loop {
                match (left.next(), right.next()) {
                    (None, None) => return Ok(Ordering::Equal),
                    (None, Some(_)) => return Ok(Ordering::Less),
                    (Some(_), None) => return Ok(Ordering::Greater),
                    (Some(one), Some(two)) if equal(&one, &two)? => {}
                    (Some(one), Some(two)) => return order(operator, &one, &two),
                }
            }
        }
        (one, two) => Err(clash(operator, one, two).into()),
    }
}

fn ordered(operator: &str, left: &Value, right: &Value) -> Result<Ordering, Error> {
    measure_both(left, right)?;
    order(operator, left, right)
}

/// Counts what a comparison of lists or maps walks through.
fn measure_both(left: &Value, right: &Value) -> Result<(), Error> {
    let is_collection = |value: &Value| is_list(value.kind()) || value.kind() == ValueKind::Map;
    if is_collection(left) && is_collection(right) {
        measure(left)?;
        measure(right)?;
    }
    Ok(())
}

/// Compares by `==`. A number and a text that spells one are neither equal nor different, nor are a boolean and a text.
fn equal(left: &Value, right: &Value) -> Result<bool, Error> {
    require(left)?;
    require(right)?;
    match (left.kind(), right.kind()) {
        (ValueKind::String, ValueKind::Number) if spells_number(left) => {
            Err(clash("==", ValueKind::String, ValueKind::Number).into())
        }
        (ValueKind::String, ValueKind::Bool) if boolean_of(left).is_some() => {
            Err(clash("==", ValueKind::String, ValueKind::Bool).into())
        }
        (ValueKind::Number | ValueKind::Bool, ValueKind::String) => equal(right, left),
        (one, two) if is_list(one) && is_list(two) && left.len() == right.len() => {
            for (one, two) in left.try_iter()?.zip(right.try_iter()?) {
                if !equal(&one, &two)? {
                    return Ok(false);
                }
            }
            Ok(left == right)
        }
        _ => Ok(left == right),
    }
}

fn equal_within_limits(left: &Value, right: &Value) -> Result<bool, Error> {
    measure_both(left, right)?;
    equal(left, right)
}

fn equal_to_boolean(value: &Value, boolean: bool) -> Result<bool, Error> {
    Ok(equal(value, &Value::from(boolean))? && value.kind() == ValueKind::Bool)
}

/// Searches a list for an element, a map for a key, or a text for a part.
fn contained(needle: &Value, whole: &Value) -> Result<bool, Error> {
    require(needle)?;
    require(whole)?;
    match (needle.as_str(), whole.as_str()) {
        (Some(part), Some(text)) => return Ok(text.contains(part)),
        (None, Some(_)) => return Err(clash("in", needle.kind(), ValueKind::String).into()),
        _ => {}
    }
    let is_key =
        matches!(needle.kind(), ValueKind::String | ValueKind::Number | ValueKind::Bool | ValueKind::None);
    let is_searched = is_list(whole.kind()) || whole.kind() == ValueKind::Map && is_key;
    if !is_searched {
        return Err(clash("in", needle.kind(), whole.kind()).into());
    }
    measure(whole)?;
    measure(needle)?;
    for element in whole.try_iter()? {
        if equal(&element, needle)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Evaluates `a < b < c`; the values after the first alternate with operators.
fn compared(first: Value, rest: &[Value]) -> Result<bool, Error> {
    let mut left = first;
    for pair in rest.chunks_exact(2) {
        let right = &pair[1];
        let holds = match pair[0].as_str().unwrap_or_default() {
            "==" => equal_within_limits(&left, right)?,
            "!=" => !equal_within_limits(&left, right)?,
            "in" => contained(&left, right)?,
            "not in" => !contained(&left, right)?,
            "<" => ordered("<", &left, right)?.is_lt(),
            "<=" => ordered("<=", &left, right)?.is_le(),
            ">" => ordered(">", &left, right)?.is_gt(),
            _ => ordered(">=", &left, right)?.is_ge(),
        };
        if !holds {
            return Ok(false);
        }
        left = right.clone();
    }
    Ok(true)
}

/// Multiplies numbers, or repeats a text or a list. A text that spells a number is meant as one.
fn product(left: &Value, right: &Value) -> Result<Value, Error> {
    require(left)?;
    require(right)?;
    let is_number = |value: &Value| matches!(value.kind(), ValueKind::Number | ValueKind::Bool);
    if is_number(left) && is_number(right) {
        let unsupported = || {
            let message = "the product is larger than numbers can be".to_owned();
            Error::from(RaisedFault::new(TemplateFault::Operation(message)))
        };
        let integer = |value: &Value| i128::try_from(value.clone()).ok().filter(|_| is_integer(value));
        if let (Some(one), Some(two)) = (integer(left), integer(right)) {
            let product = one.checked_mul(two).ok_or_else(unsupported)?;
            return Ok(i64::try_from(product).map_or_else(|_| Value::from(product), Value::from));
        }
        let float = |value: &Value| f64::try_from(value.clone()).map_err(|_| unsupported());
        return Ok(Value::from(float(left)? * float(right)?));
    }
    let (repeated, times) = if is_number(left) { (right, left) } else { (left, right) };
    let clash = || Error::from(clash("*", left.kind(), right.kind()));
    let times = times.as_usize().filter(|_| times.is_integer()).ok_or_else(clash)?;
    match (repeated.as_str(), repeated.kind()) {
        (Some(text), _) if !spells_number(repeated) => {
            if text.len().checked_mul(times).is_none_or(|length| length > MAX_REPEATED_TEXT) {
                let message = "repeated string is too large".to_owned();
                return Err(RaisedFault::new(TemplateFault::Operation(message)).into());
            }
            count_text((text.len() * times) as u64)?;
            Ok(Value::from(text.repeat(times)))
        }
        (None, kind) if is_list(kind) => {
            let elements: Vec<Value> = repeated.try_iter()?.collect();
            if elements.len().checked_mul(times).is_none_or(|length| length > MAX_REPEATED) {
                let message = "repeated list is too long".to_owned();
                return Err(RaisedFault::new(TemplateFault::Operation(message)).into());
            }
            let length = elements.len() * times;
            count_elements(length as u64)?;
            Ok(elements.into_iter().cycle().take(length).collect())
        }
        _ => Err(clash()),
    }
}

/// Adds numbers, or joins two texts or two lists.
fn sum(left: &Value, right: &Value) -> Result<Value, Error> {
    require(left)?;
    require(right)?;
    let is_number = |value: &Value| matches!(value.kind(), ValueKind::Number | ValueKind::Bool);
    if is_number(left) && is_number(right) {
        let too_large = || {
            let message = "the sum is larger than numbers can be".to_owned();
            Error::from(RaisedFault::new(TemplateFault::Operation(message)))
        };
        let integer = |value: &Value| i128::try_from(value.clone()).ok().filter(|_| is_integer(value));
        if let (Some(one), Some(two)) = (integer(left), integer(right)) {
            let sum = one.checked_add(two).ok_or_else(too_large)?;
            return Ok(i64::try_from(sum).map_or_else(|_| Value::from(sum), Value::from));
        }
        let float = |value: &Value| f64::try_from(value.clone()).map_err(|_| too_large());
        return Ok(Value::from(float(left)? + float(right)?));
    }
    match (left.as_str(), right.as_str()) {
        (Some(one), Some(two)) => {
            count_text((one.len() + two.len()) as u64)?;
            return Ok(Value::from([one, two].concat()));
        }
        _ if is_list(left.kind()) && is_list(right.kind()) && left.is_tuple() == right.is_tuple() => {}
        _ => return Err(clash("+", left.kind(), right.kind()).into()),
    }
    let length = |list: &Value| list.len().unwrap_or_default() as u64;
    count_elements(length(left).saturating_add(length(right)))?;
    Ok(left.try_iter()?.chain(right.try_iter()?).collect())
}

fn is_integer(value: &Value) -> bool {
    value.is_integer() || value.kind() == ValueKind::Bool
}

/// Refuses null where a list is meant: minijinja takes it for an empty one.
pub(super) fn check_list(operation: &str, list: &Value) -> Result<(), Error> {
    require(list)?;
    if list.kind() == ValueKind::None {
        let message = format!("{operation} takes a list, not null");
        let raised = RaisedFault::new(TemplateFault::Operation(message));
        return Err(raised.with_hint("write `| default([], true)` after the value that may be null").into());
    }
    Ok(())
}

/// Refuses null and text where a list is meant: a text is a list of its letters, which nobody wants.
pub(super) fn check_no_text(operation: &str, list: &Value) -> Result<(), Error> {
    check_list(operation, list)?;
    if list.kind() == ValueKind::String {
        let message = format!("{operation} takes a list, not text");
        let raised = RaisedFault::new(TemplateFault::Operation(message));
        return Err(raised.with_hint("write a list into `data`, or `text.split(\",\")`").into());
    }
    Ok(())
}

/// Refuses a map where a loop has two names: the elements of a map are its keys.
fn check_pairs(list: &Value) -> Result<(), Error> {
    check_no_text("`for`", list)?;
    if list.kind() == ValueKind::Map {
        let message = "`for` with two names takes pairs, not a map".to_owned();
        let raised = RaisedFault::new(TemplateFault::Operation(message));
        return Err(raised.with_hint("write `{% for key, value in map.items() %}`").into());
    }
    Ok(())
}

/// Refuses lists and maps where text is meant: Jinja2 writes them as Python does.
pub(super) fn check_printable(operation: &str, value: &Value) -> Result<(), Error> {
    require(value)?;
    if matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable | ValueKind::Map) {
        let message = format!("`{operation}` takes text, not {}", kind_name(value.kind()));
        let raised = RaisedFault::new(TemplateFault::Operation(message));
        return Err(raised.with_hint("write `| tojson` or `| join(\", \")` after the value").into());
    }
    Ok(())
}

/// Returns the whole number that a test reads.
fn whole(test: &str, value: &Value) -> Result<i128, Error> {
    require(value)?;
    let number = i128::try_from(value.clone()).ok().filter(|_| is_integer(value));
    number.ok_or_else(|| {
        let message = format!("`{test}` takes whole numbers, not {}", kind_name(value.kind()));
        let raised = RaisedFault::new(TemplateFault::Operation(message));
        raised.with_hint("write `| int` after the value").into()
    })
}

fn spells_number(value: &Value) -> bool {
    let text = value.as_str().unwrap_or_default().trim();
    text.bytes().any(|byte| byte.is_ascii_digit()) && text.parse::<f64>().is_ok()
}

/// Returns `true` for two texts that spell numbers, one with a fraction: in data, `10.0` is text.
fn spell_floats(one: &Value, two: &Value) -> bool {
    let is_float = |value: &Value| value.as_str().is_some_and(|text| text.contains(['.', 'e', 'E']));
    (is_float(one) || is_float(two)) && spells_number(one) && spells_number(two)
}

fn floats_as_texts(operator: &str) -> Error {
    let message = format!("`{operator}` between texts that spell numbers would order their letters");
    let raised = RaisedFault::new(TemplateFault::Operation(message));
    raised.with_hint("write `| float` after each text, or `| map(\"float\")` after the list").into()
}

/// Returns the boolean that a text spells, in any letter case.
pub(super) fn boolean_of(value: &Value) -> Option<bool> {
    let text = value.as_str()?.trim();
    let is_one_of = |words: &[&str]| words.iter().any(|word| word.eq_ignore_ascii_case(text));
    if is_one_of(&["true", "yes", "on", "y", "1"]) {
        return Some(true);
    }
    is_one_of(&["false", "no", "off", "n", "0"]).then_some(false)
}

/// Refuses a condition that is a text which spells a boolean or zero: it would be true.
fn check_truth(value: &Value) -> Result<(), Error> {
    let is_zero =
        || spells_number(value) && value.as_str().is_some_and(|text| text.trim().parse() == Ok(0.0));
    if value.kind() == ValueKind::String && (boolean_of(value).is_some() || is_zero()) {
        let message = "a text that spells a boolean is no condition: every text but the empty one is true";
        let raised = RaisedFault::new(TemplateFault::Operation(message.to_owned()));
        let hint = "write `| bool` after the text, or compare it: `… == \"yes\"`, `… != \"\"`";
        return Err(raised.with_hint(hint).into());
    }
    Ok(())
}

/// Returns `true` for a value that is true as a condition.
pub(super) fn truth(value: &Value) -> Result<bool, Error> {
    require(value)?;
    check_truth(value)?;
    Ok(value.is_true())
}

/// Refuses to sort values that have no order.
fn same_kinds(filter: &str, values: &[Value]) -> Result<(), Error> {
    values.iter().try_for_each(|value| measure(value).map(drop))?;
    let [first, rest @ ..] = values else { return Ok(()) };
    for value in rest {
        require(first)?;
        require(value)?;
        let (one, two) = (first.kind(), value.kind());
        let ordered = matches!(one, ValueKind::Number | ValueKind::String | ValueKind::Bool) && one == two;
        if !(ordered || is_list(one) && is_list(two)) {
            return Err(clash(filter, one, two).into());
        }
        if spell_floats(first, value) {
            return Err(floats_as_texts(filter));
        }
    }
    if rest.is_empty() || !is_list(first.kind()) {
        return Ok(());
    }
    let lists =
        values.iter().map(|list| Ok(list.try_iter()?.collect())).collect::<Result<Vec<Vec<_>>, Error>>()?;
    let longest = lists.iter().map(Vec::len).max().unwrap_or_default();
    for index in 0..longest {
        let column: Vec<Value> = lists.iter().filter_map(|list| list.get(index).cloned()).collect();
        same_kinds(filter, &column)?;
    }
    Ok(())
}

fn named(arguments: &[Value]) -> Option<Kwargs> {
    Kwargs::try_from(arguments.last()?.clone()).ok()
}

/// Turns arguments by position into arguments by name, as Jinja2 accepts both.
fn positional_to_named(arguments: &mut Vec<Value>, names: &[&str]) {
    let last = named(arguments);
    let end = arguments.len() - usize::from(last.is_some() && !arguments.is_empty());
    if end <= 1 || end - 1 > names.len() {
        return;
    }
    let mut pairs: Vec<(String, Value)> = Vec::new();
    for (name, value) in names.iter().zip(arguments[1..end].iter()) {
        pairs.push(((*name).to_owned(), value.clone()));
    }
    if let Some(last) = last {
        for name in last.args() {
            pairs.extend(last.peek::<Value>(name).ok().map(|value| (name.to_owned(), value)));
        }
    }
    arguments.truncate(1);
    arguments.push(pairs.into_iter().collect::<Kwargs>().into());
}

/// Returns the values that a filter compares: the elements, or an attribute of each.
fn keys(
    state: &mut State<'_, '_>,
    list: &Value,
    attribute: Option<&str>,
    default: Option<Value>,
) -> Result<Vec<Value>, Error> {
    let Some(attribute) = attribute else { return Ok(list.try_iter()?.collect()) };
    let mut pairs = vec![("attribute", Value::from(attribute))];
    pairs.extend(default.map(|default| ("default", default)));
    let named: Kwargs = pairs.into_iter().collect();
    Ok(state.apply_filter("map", &[list.clone(), named.into()])?.try_iter()?.collect())
}

fn sorted(
    state: &mut State<'_, '_>,
    filter: &str,
    engine: &str,
    mut arguments: Vec<Value>,
) -> Result<Value, Error> {
    if filter == "sort" {
        positional_to_named(&mut arguments, &["reverse", "case_sensitive", "attribute"]);
    } else {
        positional_to_named(&mut arguments, &["attribute", "default", "case_sensitive"]);
    }
    let options = named(&arguments);
    let attribute = options.as_ref().and_then(|named| named.peek::<Value>("attribute").ok());
    let default = options.as_ref().and_then(|named| named.peek::<Value>("default").ok());
    let attribute = attribute.map(|attribute| attribute.to_string());
    let Some(list) = arguments.first() else { return state.apply_filter(engine, &arguments) };
    check_list(&format!("`{filter}`"), list)?;
    let attributes: Vec<Option<&str>> = match &attribute {
        Some(attribute) if filter == "sort" => attribute.split(',').map(str::trim).map(Some).collect(),
        attribute => vec![attribute.as_deref()],
    };
    for attribute in attributes {
        let keys = keys(state, list, attribute, default.clone())?;
        same_kinds(filter, &keys)?;
        if filter == "groupby"
            && !options.as_ref().is_some_and(|named| named.peek("case_sensitive").unwrap_or(false))
        {
            same_case(&keys)?;
        }
    }
    state.apply_filter(engine, &arguments)
}

/// Refuses keys that differ in the case of letters alone: one group has one name.
fn same_case(keys: &[Value]) -> Result<(), Error> {
    let mut spellings = std::collections::HashMap::new();
    for key in keys.iter().filter_map(Value::as_str) {
        if *spellings.entry(key.to_lowercase()).or_insert(key) != key {
            let message = "`groupby` found keys that differ in the case of letters alone".to_owned();
            let raised = RaisedFault::new(TemplateFault::Operation(message));
            return Err(raised
                .with_hint("write `groupby(…, case_sensitive=true)`, or write the keys alike")
                .into());
        }
    }
    Ok(())
}

/// Returns the first of the least or greatest elements; of an empty list nothing.
fn extreme(
    state: &mut State<'_, '_>,
    filter: &str,
    list: &Value,
    named: &Kwargs,
    replaces: fn(Ordering) -> bool,
) -> Result<Value, Error> {
    check_list(&format!("`{filter}`"), list)?;
    let attribute = named.get::<Option<&str>>("attribute")?;
    let case_sensitive = named.get::<Option<bool>>("case_sensitive")?.unwrap_or(false);
    named.assert_all_used()?;
    let keys = keys(state, list, attribute, None)?;
    same_kinds(filter, &keys)?;
    let folded = |key: &Value| match key.as_str() {
        Some(text) if !case_sensitive => Value::from(text.to_lowercase()),
        _ => key.clone(),
    };
    let mut best: Option<(Value, Value)> = None;
    for (key, element) in keys.iter().map(folded).zip(list.try_iter()?) {
        if best.as_ref().is_none_or(|(least, _)| replaces(key.cmp(least))) {
            best = Some((key, element));
        }
    }
    Ok(best.map_or(Value::UNDEFINED, |(_, element)| element))
}
