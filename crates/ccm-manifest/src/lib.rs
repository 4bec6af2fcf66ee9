//! Manifest text to a catalog, or to every mistake at once.
//!
//! A manifest is read in steps, each a module: its text becomes nodes (`ccm-yaml`), `document` takes the
//! whole apart, `data` puts its values together, `generated` lets a template write its resources,
//! `resources` and `entries` collect what is declared. `draft` then finds out who the resources are, and
//! `children` does the same with the manifests that are applied as resources. Now it is known which files are
//! managed: `expand` puts the values of expressions into all other texts, or leaves them to `late`,
//! `references` finds what is named, each type checks its own properties, `cycles` looks at the whole, and
//! `paths` adds the order that paths imply. A step leaves out what it could not read and the next ones go on
//! with the rest, so that one run shows all there is to mend.
//!
//! Nothing here opens a file, and no resource type is known but through [`ccm_properties::TypeSpec`].

mod calls;
mod capturing;
mod children;
mod claims;
mod common_properties;
mod control;
mod cycles;
mod data;
mod document;
mod draft;
mod entries;
mod evaluate;
mod expand;
mod generated;
mod hiera;
mod late;
mod later;
mod load;
mod paths;
mod redaction;
mod references;
mod render;
mod resources;
mod schema;
mod schema_expressions;
mod scope;
mod slips;
mod sources;
mod types;
mod validation;
mod wording;
mod words;
mod world;

pub use data::ResolvedData;
pub use evaluate::{Evaluated, Named, ToEvaluate, evaluate, named};
pub use hiera::{DataFile, ParsedData, parse_data};
pub use late::{Completed, Late};
pub use load::{Loaded, Request, load};
pub use redaction::Redaction;
pub use render::render;
pub use schema::schema;
pub use scope::is_of_system_fact;
pub use sources::{FactPath, Sources};
