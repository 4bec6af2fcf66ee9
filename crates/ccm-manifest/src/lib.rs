//! Loads manifest text into a catalog, or reports all errors at once.
//!
//! Loading has steps, each a folder. `read` parses the text, resolves the data, renders `resources_template` and collects
//! the declared resources, those of children before the resource that applies them, with their names. `resolve`
//! evaluates the expressions in all other texts and finds the resources that references name; each type checks its
//! properties. `check` compares what the resources claim, reports cycles, and adds the order that directories and needs
//! imply. `late` keeps what only the run can know, and completes it there. Each step skips what an earlier step rejected,
//! so that one run reports every error. [`load`] runs them; what they share is in `scopes`.
//!
//! [`load`] takes a [`Request`] and returns a [`LoadResult`]: the catalog or diagnostics, and the [`LateResources`],
//! whose values a run completes.
//!
//! This crate must never open a file or look at the machine: [`Sources`] hands in files and facts, and
//! [`ccm_properties::TypeSpec`] is its only access to resource types.

mod check;
mod late;
#[cfg(test)]
mod layers;
mod load;
mod read;
mod redaction;
mod resolve;
mod schema;
mod scopes;
mod sources;
mod unchecked;

pub use late::{Completion, LateResources};
pub use load::{EarlierReferences, EarlierResources, LoadResult, Request, load, load_omitting};
pub use read::data::ResolvedData;
pub use read::document::setting_properties;
pub use read::hiera::{DataFile, ParsedData, parse_data};
pub use redaction::Redaction;
pub use resolve::evaluate::{
    EvaluationRequest, EvaluationResult, ExpressionNames, evaluate, expression_names,
};
pub use resolve::render::render;
pub use resolve::scope::is_of_system_fact;
pub use schema::schema;
pub use sources::{CopiedContent, CopiedFile, FactPath, SecretFault, SecretReach, ShellTextError, Sources};
pub use unchecked::OmittedInputs;
