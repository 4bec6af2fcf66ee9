//! Options of `ccm ensure TYPE`, from the table of its properties.

use ccm_properties::{
    CommonProperty, HEALTH_CHECKS, HealthCheckProperties, IF, PropertyKind, PropertySet as _, PropertySpec,
    TypeDeclaration, TypeSpec, UNLESS, find, find_property,
};

/// Resource type with the options of its resources.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EnsureType {
    /// Name of the type.
    pub name: &'static str,
    /// One sentence about what it manages.
    pub summary: &'static str,
    /// Values of `ensure`, the default first.
    pub ensures: Vec<&'static str>,
    /// Options, those of the type first.
    pub options: Vec<EnsureOption>,
}

/// Option of a resource.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EnsureOption {
    /// Name without dashes.
    pub name: String,
    /// Name of the value.
    pub value_name: &'static str,
    /// Possible values, if there are few.
    pub words: Vec<&'static str>,
    /// First sentence of the documentation.
    pub meaning: String,
    /// `true` if the option may stand without a value.
    pub is_flag: bool,
    /// `true` if the option may be repeated.
    pub is_repeatable: bool,
    /// `true` if every type has the option.
    pub is_common: bool,
}

/// Place of an option's value in a resource.
#[derive(Clone, Copy, Debug)]
pub(super) enum OptionTarget {
    /// A property.
    Property(&'static PropertySpec),
    /// An expression that decides if the resource is managed.
    Condition(&'static str),
    /// A property of the health check.
    HealthCheck(&'static PropertySpec),
}

/// Properties whose values are references.
const REFERENCES: [&str; 2] = ["require", "subscribe"];

/// Options of health checks, each with the property that it sets. The first begins another check.
const HEALTH_CHECK_OPTIONS: [(&str, &str); 3] =
    [("health-check", "command"), ("health-check-tries", "tries"), ("health-check-sleep", "try_sleep")];

/// Options for properties whose names are those of conditions, or near them: the type, the option and the property.
const RENAMED: [(&str, &str, &str); 2] = [("exec", "exec-if", "onlyif"), ("exec", "exec-unless", "unless")];

/// Returns all resource types, without options.
pub fn ensure_types() -> Vec<EnsureType> {
    let described = |spec: &dyn TypeSpec| EnsureType {
        name: spec.name(),
        summary: spec.summary(),
        ensures: spec.ensures().to_vec(),
        options: Vec::new(),
    };
    ccm_resources::types().into_iter().map(|found| described(found as &dyn TypeSpec)).collect()
}

/// Returns a resource type with its options.
pub fn ensure_type(name: &str) -> Option<EnsureType> {
    let spec = ccm_resources::types().into_iter().find(|found| found.name() == name)?;
    let spec: &dyn TypeSpec = spec;
    let own = spec.properties().iter().map(|property| {
        let renamed = RENAMED.iter().find(|(owner, _, of)| *owner == name && *of == property.name);
        let option =
            renamed.map_or_else(|| property.name.replace('_', "-"), |(_, option, _)| (*option).to_owned());
        described(option, property, false)
    });
    let common = [
        CommonProperty::Provider,
        CommonProperty::Alias,
        CommonProperty::Require,
        CommonProperty::Subscribe,
        CommonProperty::Autorequire,
    ];
    let common = common.map(|property| described(property.spec().name.to_owned(), property.spec(), true));
    let conditions = [IF, UNLESS].into_iter().filter_map(|name| {
        let property = conditions().iter().find(|property| property.name == name)?;
        Some(described(name.to_owned(), property, true))
    });
    let checks = HEALTH_CHECK_OPTIONS.into_iter().filter_map(|(option, name)| {
        let property = find(HealthCheckProperties::PROPERTIES, name)?;
        let is_repeatable = option == HEALTH_CHECK_OPTIONS[0].0;
        Some(EnsureOption { is_repeatable, ..described(option.to_owned(), property, true) })
    });
    Some(EnsureType {
        name: spec.name(),
        summary: spec.summary(),
        ensures: spec.ensures().to_vec(),
        options: own.chain(common).chain(conditions).chain(checks).collect(),
    })
}

fn conditions() -> &'static [PropertySpec] {
    match CommonProperty::Control.spec().kind {
        PropertyKind::Record { properties, .. } => properties,
        _ => &[],
    }
}

fn described(name: String, property: &'static PropertySpec, is_common: bool) -> EnsureOption {
    let meaning = property.documentation_without_default();
    let meaning = meaning.split_whitespace().collect::<Vec<_>>().join(" ");
    let first = meaning.split_once(". ").map_or(&*meaning, |(first, _)| first);
    let first = first.strip_suffix('.').unwrap_or(first);
    let default = property
        .default
        .map(|default| format!(" [default: {}]", default.replace('`', "")))
        .unwrap_or_default();
    EnsureOption {
        name,
        value_name: if REFERENCES.contains(&property.name) {
            "TYPE#NAME"
        } else {
            value_name(&property.kind)
        },
        words: words(&property.kind),
        meaning: format!("{first}{default}"),
        is_flag: flag_words(&property.kind).is_some(),
        is_repeatable: property.kind.element().is_some() || is_map(&property.kind),
        is_common,
    }
}

/// Returns the values of an option that may stand without one, which means `true`; `None` for any other.
pub(super) fn flag_words(kind: &PropertyKind) -> Option<&'static [&'static str]> {
    match kind {
        PropertyKind::Boolean => Some(&["true", "false"]),
        PropertyKind::Words(words) if words.contains(&"true") => Some(words),
        _ => None,
    }
}

fn is_map(kind: &PropertyKind) -> bool {
    match kind {
        PropertyKind::Map { .. } | PropertyKind::Record { .. } | PropertyKind::JsonMap => true,
        PropertyKind::Either(kinds) => kinds.iter().any(is_map),
        _ => false,
    }
}

fn value_name(kind: &PropertyKind) -> &'static str {
    match kind {
        PropertyKind::Boolean => "true|false",
        PropertyKind::Integer { .. } => "NUMBER",
        PropertyKind::Duration => "DURATION",
        PropertyKind::Text(text) if *text == ccm_properties::TextKind::ABSOLUTE_PATH => "PATH",
        PropertyKind::List(kind) | PropertyKind::OneOrMany(kind) => value_name(kind),
        PropertyKind::Map { .. } | PropertyKind::Record { .. } | PropertyKind::JsonMap => "KEY=VALUE",
        PropertyKind::Either(kinds) if kinds.iter().any(is_map) => "KEY=VALUE",
        PropertyKind::Words(_) => "WORD",
        _ => "TEXT",
    }
}

fn words(kind: &PropertyKind) -> Vec<&'static str> {
    match kind {
        PropertyKind::Words(words) => words.to_vec(),
        PropertyKind::OneOrMany(kind) => words_of(kind),
        _ => Vec::new(),
    }
}

fn words_of(kind: &PropertyKind) -> Vec<&'static str> {
    if let PropertyKind::Words(words) = kind { words.to_vec() } else { Vec::new() }
}

/// Returns the place of an option. An option with an unknown name is one of a property that does not exist.
pub(super) fn target(spec: Option<&dyn TypeSpec>, option: &str) -> Option<OptionTarget> {
    if let Some((_, name)) = HEALTH_CHECK_OPTIONS.iter().find(|(known, _)| *known == option) {
        return find(HealthCheckProperties::PROPERTIES, name).map(OptionTarget::HealthCheck);
    }
    if let Some(condition) = [IF, UNLESS].into_iter().find(|condition| *condition == option) {
        return Some(OptionTarget::Condition(condition));
    }
    let type_name = spec.map(TypeDeclaration::name);
    let renamed = RENAMED.iter().find(|(owner, known, _)| Some(*owner) == type_name && *known == option);
    let name = renamed.map_or_else(|| option.replace('-', "_"), |(_, _, property)| (*property).to_owned());
    if let Some(common) = CommonProperty::of(&name).filter(|_| name != HEALTH_CHECKS) {
        return Some(OptionTarget::Property(common.spec()));
    }
    let properties = spec?.properties();
    let named = properties.iter().find(|property| property.is_named(&name));
    named.or_else(|| find_property(properties, &name)).map(OptionTarget::Property)
}
