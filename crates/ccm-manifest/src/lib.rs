//! Loads manifest text into a catalog, or reports all errors at once.
//!
//! Loading has steps, each a module. `ccm-yaml` parses the text, `document` splits the top level, `data`
//! resolves the values, `generated` renders `resources_template`, and `resources` and `entries` collect the
//! declared resources. `draft` then decides whether each resource is managed, and its name, provider and
//! alias. `children` loads the manifests that resources apply. After these steps the managed files are known:
//! `expand` evaluates the expressions in all other texts or leaves them to `late`, `references` resolves
//! references, each type checks its properties, `cycles` reports dependency cycles, and `paths` adds the
//! order that directories imply. Each step skips what an earlier step rejected, so that one run reports every
//! error.
//!
//! The crate opens no file. [`ccm_properties::TypeSpec`] is its only access to resource types.

mod autorequire;
mod call_argument;
mod captures;
mod children;
mod claims;
mod common_properties;
mod control;
mod credentials;
mod cycles;
mod data;
mod data_keys;
mod document;
mod draft;
mod entries;
mod eval_context;
mod evaluate;
mod expand;
mod expansion;
mod file_uses;
mod foreach;
mod foreign_words;
mod generated;
mod hiera;
mod late;
mod levels;
mod load;
mod messages;
mod missing_sources;
mod paths;
mod redaction;
mod references;
mod render;
mod reserved;
mod resources;
mod schema;
mod schema_expressions;
mod scope;
mod shape_errors;
mod shell_check;
mod shell_quoting;
mod sources;
mod text_language;
mod tree;
mod types;
mod typographic_quotes;
mod unchecked;
mod validation;

pub use data::ResolvedData;
pub use evaluate::{EvaluationRequest, EvaluationResult, ExpressionNames, evaluate, expression_names};
pub use hiera::{DataFile, ParsedData, parse_data};
pub use late::{Completion, LateResources};
pub use load::{LoadResult, Request, load, load_omitting};
pub use paths::normalize;
pub use redaction::Redaction;
pub use render::render;
pub use schema::schema;
pub use scope::is_of_system_fact;
pub use sources::{CredentialFault, FactPath, ShellTextError, Sources};
pub use unchecked::OmittedInputs;
