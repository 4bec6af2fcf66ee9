//! The properties that every resource has, whatever its type.

use crate::health_check::{HEALTH_CHECKS, HEALTH_CHECKS_KIND, HealthCheckProperties};
use crate::{PropertyKind, PropertySet as _, PropertySpec, Text, TextKind, TextSyntax, find};

/// Name of a resource. The name is part of the resource's syntax and not a property.
pub static NAME: PropertySpec = common(
    "name",
    VISIBLE,
    None,
    &["Name of the resource, unique in its type. In a list, the key above the properties is the name."],
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
    /// `autorequire`
    Autorequire,
    /// `control`
    Control,
    /// `health_checks`. Unlike the others, it is kept among the properties of the type, so that expressions in it may wait for
    /// the run.
    HealthChecks,
}

impl CommonProperty {
    /// All common properties, in the order of the documentation.
    pub const ALL: [Self; 8] = [
        Self::Alias,
        Self::Ensure,
        Self::Provider,
        Self::Require,
        Self::Subscribe,
        Self::Autorequire,
        Self::Control,
        Self::HealthChecks,
    ];

    /// Finds a common property by name.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|property| property.spec().name == name)
    }

    /// Returns `true` if the property is not kept among those of the type.
    pub fn is_apart(self) -> bool {
        self != Self::HealthChecks
    }

    /// Returns its specification.
    pub fn spec(self) -> &'static PropertySpec {
        &COMMON[self as usize]
    }
}

/// Text with a visible character.
const VISIBLE: PropertyKind = PropertyKind::Text(TextKind::ANY.matching("\\S"));

const REFERENCES: PropertyKind =
    PropertyKind::List(&PropertyKind::Text(TextKind::STRICT.matching("^[^#]+#[\\s\\S]")));

/// Expression without braces.
const EXPRESSION: PropertyKind = PropertyKind::Text(TextKind::ANY.matching("^\\s*(?!\\s|\\{\\{|\\$\\{)"));

/// Name of the condition that allows a resource to be managed.
pub const IF: &str = "if";

/// Name of the condition that prevents a resource from being managed.
pub const UNLESS: &str = "unless";

/// Conditions on which a resource is managed.
const CONDITIONS: &[PropertySpec] = &[
    common(IF, EXPRESSION, None, &["The resource is managed only if this is true."]),
    common(UNLESS, EXPRESSION, None, &["The resource is not managed if this is true."]),
];

static COMMON: [PropertySpec; 8] = [
    common("alias", VISIBLE, None, &["Second name for references, unique in the type like the name."]),
    common("ensure", PropertyKind::TEXT, Some("depends on the type"), &["Desired state of the resource."]),
    common(
        "provider",
        PropertyKind::TEXT,
        Some("the best one for this machine"),
        &["Provider that does the work."],
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
            "Resources that must have succeeded before this one, and whose change triggers a refresh of this one,",
            "each as `type#name` or `type#alias`.",
        ],
    ),
    common(
        "autorequire",
        PropertyKind::Boolean,
        Some("`true`"),
        &[
            "Come after what the resource needs, also where the manifest does not say so: a path after the directory that it is",
            "in, a service after its unit file and its package, a file after its owner.",
        ],
    ),
    common(
        "control",
        PropertyKind::Record { properties: CONDITIONS, min: 0 },
        None,
        &[
            "Conditions, `if` and `unless`. A resource that they exclude is skipped, and counts as succeeded for resources",
            "that require it.",
        ],
    ),
    PropertySpec {
        sensitive: true,
        syntax: TextSyntax::Record(HealthCheckProperties::PROPERTIES),
        ..common(
            HEALTH_CHECKS,
            HEALTH_CHECKS_KIND,
            None,
            &[
                "Health checks, which run after the resource whether it was changed or not, but not in noop. One that is critical",
                "or unknown fails the resource.",
            ],
        )
    },
];

/// Finds a property of a type by name, or the common one that is kept among them.
pub fn find_property(properties: &'static [PropertySpec], name: &str) -> Option<&'static PropertySpec> {
    find(properties, name).or_else(|| (name == HEALTH_CHECKS).then(|| CommonProperty::HealthChecks.spec()))
}

const fn common(
    name: &'static str,
    kind: PropertyKind,
    default: Option<&'static str>,
    documentation: &'static [&'static str],
) -> PropertySpec {
    PropertySpec { kind, default, ..PropertySpec::new::<Text>(name, documentation) }
}
