//! The properties that every resource has, whatever its type.

use crate::{PropertyKind, PropertySpec, Text, TextKind};

/// Name of a resource. It is part of how a resource is written, and no property.
pub static NAME: PropertySpec = common(
    "name",
    VISIBLE,
    None,
    &[
        "The name of the resource, unique among those of its type. In a list it is the key above the",
        "properties instead.",
    ],
);

/// Property that every resource has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommonProperty {
    /// `alias`
    Alias,
    /// `ensure`
    Ensure,
    /// `provider`
    Provider,
    /// `require`
    Require,
    /// `subscribe`
    Subscribe,
    /// `control`
    Control,
}

impl CommonProperty {
    /// All of them, in the order of the documentation.
    pub const ALL: [Self; 6] =
        [Self::Alias, Self::Ensure, Self::Provider, Self::Require, Self::Subscribe, Self::Control];

    /// Finds the common property of that name.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|property| property.spec().name == name)
    }

    /// Returns its specification.
    pub fn spec(self) -> &'static PropertySpec {
        &COMMON[self as usize]
    }
}

/// Text with something to see in it.
const VISIBLE: PropertyKind = PropertyKind::Text(TextKind::ANY.matching("\\S"));

const REFERENCES: PropertyKind =
    PropertyKind::List(&PropertyKind::Text(TextKind::STRICT.matching("^[^#]+#[\\s\\S]")));

/// Expression without braces.
const EXPRESSION: PropertyKind = PropertyKind::Text(TextKind::ANY.matching("^\\s*(?!\\s|\\{\\{|\\$\\{)"));

/// Conditions on which a resource is managed.
const CONDITIONS: &[PropertySpec] = &[
    common("if", EXPRESSION, None, &["It is managed only where this is true."]),
    common("unless", EXPRESSION, None, &["It is not managed where this is true."]),
];

static COMMON: [PropertySpec; 6] = [
    common(
        "alias",
        VISIBLE,
        None,
        &["A second name for references, unique like the name. It may stand for a long name."],
    ),
    common(
        "ensure",
        PropertyKind::TEXT,
        Some("what its type says"),
        &["The state that the resource is brought to."],
    ),
    common(
        "provider",
        PropertyKind::TEXT,
        Some("the one that suits the machine best"),
        &["The provider that does the work."],
    ),
    common(
        "require",
        REFERENCES,
        None,
        &["Resources that must have succeeded before this one, each as `type#name` or `type#alias`."],
    ),
    common(
        "subscribe",
        REFERENCES,
        None,
        &[
            "Resources that must have succeeded before this one, and whose change triggers its refresh, each as",
            "`type#name` or `type#alias`.",
        ],
    ),
    common(
        "control",
        PropertyKind::Record { properties: CONDITIONS, min: 0 },
        None,
        &[
            "Whether the resource is managed. One that is not is skipped, and counts as satisfied for what requires it.",
        ],
    ),
];

const fn common(
    name: &'static str,
    kind: PropertyKind,
    default: Option<&'static str>,
    documentation: &'static [&'static str],
) -> PropertySpec {
    PropertySpec { kind, default, ..PropertySpec::new::<Text>(name, documentation) }
}
