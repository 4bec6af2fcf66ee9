//! The second step: expressions to values, and names to resources.

pub(crate) mod call_argument;
pub(crate) mod control;
mod copied_sources;
pub(crate) mod credentials;
mod declarations;
pub(crate) mod declared_data;
mod equality;
pub(crate) mod eval_context;
pub(crate) mod evaluate;
pub(crate) mod expand;
pub(crate) mod expansion;
mod group_order;
pub(crate) mod health_checks;
pub(crate) mod hint_literals;
pub(crate) mod jinja_words;
pub(crate) mod messages;
pub(crate) mod missing_sources;
mod pulled_manifests;
pub(crate) mod references;
pub(crate) mod render;
pub(crate) mod resolver;
pub(crate) mod scope;
pub(crate) mod shell_check;
pub(crate) mod shell_quoting;
pub(crate) mod text_language;
pub(crate) mod tree;
pub(crate) mod validation;
