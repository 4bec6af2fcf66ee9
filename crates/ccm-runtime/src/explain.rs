//! The reference of resource types as data, from their tables of properties.

use ccm_manifest::setting_properties;
use ccm_model::closest;
use ccm_properties::{CommonProperty, NAME, PropertyKind, PropertySpec, SettingsView, TypeSpec};
use serde::Serialize;

use crate::session::Session;

/// Part of the reference that [`Session::explain`] returns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Explanation {
    /// All resource types.
    Types(Vec<TypeReference>),
    /// One resource type.
    Type(TypeReference),
    /// One property.
    Property {
        /// Name of the type.
        type_name: &'static str,
        /// Path of the property within the type, such as `sandbox.network`.
        path: String,
        /// The property.
        property: PropertyReference,
    },
    /// One property of every resource.
    Common {
        /// Path of the property, such as `control.if`.
        path: String,
        /// The property.
        property: PropertyReference,
    },
    /// One key of a manifest beside its resources, such as one below `ccm` that a type adds.
    Setting {
        /// Path of the key, such as `executors.image`.
        path: String,
        /// The key.
        property: PropertyReference,
    },
}

/// Reference of a resource type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct TypeReference {
    /// Key under `resources`.
    pub name: &'static str,
    /// One sentence about what it manages.
    pub summary: &'static str,
    /// Values of `ensure`, the default first.
    pub ensures: Vec<&'static str>,
    /// Names of the providers, the best first.
    pub providers: Vec<&'static str>,
    /// Properties of its own.
    pub properties: Vec<PropertyReference>,
    /// Properties that every resource has.
    pub common: Vec<PropertyReference>,
    /// Keys of the type below `ccm`.
    pub settings: Vec<PropertyReference>,
}

/// Reference of a property.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PropertyReference {
    /// Name in a manifest.
    pub name: &'static str,
    /// Aliases.
    pub aliases: Vec<&'static str>,
    /// Description of its values.
    pub kind: String,
    /// Documentation, as Markdown.
    pub meaning: String,
    /// Default in words, as Markdown.
    pub default: Option<&'static str>,
    /// `true` if the property is required.
    pub required: bool,
    /// `true` if a `sensitive` resource hides the property.
    pub sensitive: bool,
    /// Properties of the map, if the value is a map.
    pub properties: Vec<PropertyReference>,
}

/// Key of a manifest that is neither a setting nor a property.
struct ManifestKey {
    name: &'static str,
    kind: &'static str,
    meaning: &'static str,
}

const MANIFEST_KEYS: [ManifestKey; 7] = [
    ManifestKey { name: "ccm", kind: "map", meaning: "Resources and settings of the manifest, at its top." },
    ManifestKey {
        name: "data",
        kind: "map",
        meaning: "Values that expressions read as `Data`, at the top of a manifest. They may use facts and the environment.",
    },
    ManifestKey {
        name: "hierarchy",
        kind: "map",
        meaning: "Names of the overrides to merge over `data` (`order`), and how to merge them (`merge`: `first` or \
                  `deep`), at the top of a manifest.",
    },
    ManifestKey {
        name: "overrides",
        kind: "map of maps",
        meaning: "Values that are merged over `data`, by the names that `hierarchy` lists, at the top of a manifest.",
    },
    ManifestKey {
        name: "resources",
        kind: "list of maps",
        meaning: "Resources below `ccm`, managed in this order unless dependencies change it. Each item holds resources \
                  of one type.",
    },
    ManifestKey {
        name: "resources_template",
        kind: "text",
        meaning: "Template in the directory of the manifest, named below `ccm`. It generates a list of resources, \
                  managed after `resources`.",
    },
    ManifestKey {
        name: "foreach",
        kind: "list or map",
        meaning: "Beside a type in `resources`: the resources are made for each item, which their expressions read as \
                  `Item`; `Index` is its position, from 0. Of a map, `Item.key` and `Item.value` are an entry.",
    },
];

impl ManifestKey {
    fn reference(&self) -> PropertyReference {
        PropertyReference {
            name: self.name,
            aliases: Vec::new(),
            kind: self.kind.to_owned(),
            meaning: self.meaning.to_owned(),
            default: None,
            required: false,
            sensitive: false,
            properties: Vec::new(),
        }
    }
}

/// Name of a type or a property that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} `{name}`")]
pub struct UnknownName {
    /// Beginning of the message.
    what: String,
    /// The name.
    pub name: String,
    /// The nearest existing name.
    pub nearest: Option<String>,
    /// Existing names.
    pub known: Vec<&'static str>,
}

impl Session {
    /// Explains a resource type by its name, or a property as `TYPE.PROPERTY`; without a name, lists all
    /// types. A property of a map is named by its path: `exec.sandbox.network`. A key below `ccm` that a type adds is named
    /// alone: `executors`, and so are one of every manifest (`checks`, `foreach`) and a property that every resource has: `control`.
    pub fn explain(&self, name: Option<&str>) -> Result<Explanation, UnknownName> {
        let specs = self.specs();
        let Some(name) = name else {
            return Ok(Explanation::Types(specs.into_iter().map(TypeReference::of).collect()));
        };
        let (type_name, path) = match name.split_once('.') {
            Some((type_name, path)) => (type_name, Some(path)),
            None => (name, None),
        };
        let settings = || specs.iter().filter_map(|spec| spec.settings()).flat_map(SettingsView::keys);
        if settings().any(|setting| setting.name == type_name) {
            let (path, found) = property("ccm", &settings().collect::<Vec<_>>(), name)?;
            return Ok(Explanation::Setting { path, property: PropertyReference::of(found) });
        }
        let found = specs.iter().find(|spec| spec.name() == type_name);
        let settings = setting_properties();
        let is_own = || common().any(|property| property.name == type_name);
        if found.is_none() && !is_own() && settings.iter().any(|setting| setting.name == type_name) {
            let (path, found) = property("ccm", &settings.iter().collect::<Vec<_>>(), name)?;
            return Ok(Explanation::Setting { path, property: PropertyReference::of(found) });
        }
        if let Some(key) = MANIFEST_KEYS.iter().find(|key| key.name == name) {
            return Ok(Explanation::Setting { path: name.to_owned(), property: key.reference() });
        }
        if found.is_none() && is_own() {
            let (path, found) = property("every resource", &common().collect::<Vec<_>>(), name)?;
            return Ok(Explanation::Common { path, property: PropertyReference::of(found) });
        }
        let spec = *found.ok_or_else(|| {
            let known = specs.iter().map(|spec| spec.name());
            UnknownName::new("there is no resource type".to_owned(), type_name, known.collect())
        })?;
        let Some(path) = path else { return Ok(Explanation::Type(TypeReference::of(spec))) };
        let known: Vec<_> = spec.properties().iter().chain(common()).collect();
        let (path, property) = property(spec.name(), &known, path)?;
        let mut property = PropertyReference::of(property);
        if path == CommonProperty::Provider.spec().name {
            let providers: Vec<String> = spec.providers().iter().map(|name| format!("`{name}`")).collect();
            property.meaning = format!("{} One of {}.", property.meaning, providers.join(", "));
        }
        if path == CommonProperty::Ensure.spec().name && !spec.ensures().is_empty() {
            let values: Vec<String> = spec.ensures().iter().map(|value| format!("`{value}`")).collect();
            property.meaning = format!("{} One of {}.", property.meaning, values.join(", "));
            property.default = spec.ensures().first().copied();
        }
        Ok(Explanation::Property { type_name: spec.name(), path, property })
    }
}

impl UnknownName {
    fn new(what: String, name: &str, known: Vec<&'static str>) -> Self {
        let nearest = closest(name, known.iter().copied()).map(str::to_owned);
        Self { what, name: name.to_owned(), nearest, known }
    }
}

/// Finds a property of its owner. Returns the property and its path, in which aliases are replaced.
fn property(
    owner: &str,
    known: &[&'static PropertySpec],
    path: &str,
) -> Result<(String, &'static PropertySpec), UnknownName> {
    let (name, rest) = path.split_once('.').map_or((path, None), |(name, rest)| (name, Some(rest)));
    let is_meant = |property: &&&PropertySpec| property.name == name || property.aliases.contains(&name);
    let Some(found) = known.iter().find(is_meant).copied() else {
        let of_other_tool = known.iter().find(|property| property.foreign_names.contains(&name));
        let known = known.iter().map(|property| property.name).collect();
        let mut unknown = UnknownName::new(format!("`{owner}` has no property"), name, known);
        if let Some(meant) = of_other_tool {
            unknown.nearest = Some(meant.name.to_owned());
        }
        return Err(unknown);
    };
    let Some(rest) = rest else { return Ok((found.name.to_owned(), found)) };
    let owner = format!("{owner}.{}", found.name);
    let (path, inner) = property(&owner, &entries(&found.kind), rest)?;
    Ok((format!("{}.{path}", found.name), inner))
}

fn common() -> impl Iterator<Item = &'static PropertySpec> {
    std::iter::once(&NAME).chain(CommonProperty::ALL.map(CommonProperty::spec))
}

/// Returns the properties of a map, or of the maps in a list; those of maps of several kinds once.
fn entries(kind: &PropertyKind) -> Vec<&'static PropertySpec> {
    match kind {
        PropertyKind::Record { properties, .. } => properties.iter().collect(),
        PropertyKind::List(kind) | PropertyKind::OneOrMany(kind) | PropertyKind::Map { values: kind, .. } => {
            entries(kind)
        }
        PropertyKind::Either(kinds) => {
            let mut all: Vec<&PropertySpec> = Vec::new();
            for property in kinds.iter().flat_map(entries) {
                let is_told = |told: &&PropertySpec| {
                    (told.name, told.documentation) == (property.name, property.documentation)
                };
                if !all.iter().any(is_told) {
                    all.push(property);
                }
            }
            all
        }
        _ => Vec::new(),
    }
}

impl TypeReference {
    fn of(spec: &'static dyn TypeSpec) -> Self {
        let references = |properties: &'static [PropertySpec]| {
            properties.iter().map(PropertyReference::of).collect::<Vec<_>>()
        };
        Self {
            name: spec.name(),
            summary: spec.summary(),
            ensures: spec.ensures().to_vec(),
            providers: spec.providers(),
            properties: references(spec.properties()),
            common: common().map(PropertyReference::of).collect(),
            settings: spec.settings().map(|view| references(view.keys())).unwrap_or_default(),
        }
    }
}

impl PropertyReference {
    fn of(spec: &'static PropertySpec) -> Self {
        let PropertySpec { name, aliases, kind, default, required, sensitive, .. } = spec;
        Self {
            name,
            aliases: aliases.to_vec(),
            kind: kind.to_string(),
            meaning: spec.documentation_without_default(),
            default: *default,
            required: *required,
            sensitive: *sensitive,
            properties: entries(kind).into_iter().map(Self::of).collect(),
        }
    }
}
