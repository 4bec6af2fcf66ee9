//! The property table: a resource type declares each property once, and a section of a document each field.
//!
//! [`properties!`] writes the struct of typed properties and its table of [`PropertySpec`], [`section!`] that of a section,
//! and [`words!`] an enum of names. Decoding, the JSON schema, documentation, redaction and rendering all read the table. A value decodes itself from a
//! [`Node`] ([`PropertyValue`], [`TextValue`]). [`TypeSpec`] describes a resource type without its
//! code.
//! A type itself implements [`TypedResource`], with the optional views [`CommandsView`], [`SourcesView`] and
//! [`SettingsView`].
//!
//! This crate must never know a resource type, look at the machine, or let a property be declared in a second place.

mod command;
mod common;
mod declare;
mod decode;
mod error;
mod exposure;
mod health_check;
mod kind;
mod octal;
mod property;
mod schema;
mod section;
mod sensitive;
mod spec;
mod syntax;
mod text;
mod typed;
mod value;
mod views;
mod web_address;

pub use command::{CommandPlace, CommandSubject, WrittenCommand, WrittenLine};
pub use common::{CommonProperty, IF, NAME, UNLESS, find_property};
#[doc(hidden)]
pub use declare::property_name;
pub use decode::{PropertySet, PropertyValue, TextValue, decode, decode_map, decode_record, expected};
pub use error::{PropertyError, ValueError};
pub use exposure::Exposure;
pub use health_check::{
    CheckCommand, CheckSubject, GOSS_RULES, HEALTH_CHECKS, HEALTH_CHECKS_KIND, HealthCheck,
    HealthCheckProperties, OnFailure,
};
pub use kind::{PropertyKind, TextKind};
pub use octal::octal;
pub use property::{PropertySpec, aliases, find};
pub use schema::{object_schema, schema, schemas};
pub use section::decode_section;
pub use sensitive::{SENSITIVE, is_hidden, is_sensitive};
pub use spec::{
    CheckInput, ChildManifest, FilledExtent, FilledPath, MayProvide, Need, Release, TypeSpec, is_empty_text,
};
pub use syntax::TextSyntax;
pub use text::Text;
pub use typed::{Providers, TypeDeclaration, TypedResource};
pub use value::{Integer, JsonMap, Located, NamedValues, OneOrMany, PositiveDuration};
pub use views::{
    CommandsView, SettingsView, ShellText, SourcesView, TextPart, TextView, TreeSource, TreeTemplates,
};
pub use web_address::{is_any_url, is_web_address};

// For `properties!` in crates that do not depend on these crates.
#[doc(hidden)]
pub use ccm_model::{Diagnostic, Node, NodeEntry};
