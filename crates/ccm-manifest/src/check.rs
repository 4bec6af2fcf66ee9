//! The third step: what resources claim, the order between them, and what contradicts it.

pub(crate) mod autorequire;
pub(crate) mod catalog;
pub(crate) mod claims;
pub(crate) mod cycles;
pub(crate) mod data_notes;
pub(crate) mod missing_sources;
pub(crate) mod paths;
pub(crate) mod removals;
pub(crate) mod text_parts;
pub(crate) mod unused_keys;
