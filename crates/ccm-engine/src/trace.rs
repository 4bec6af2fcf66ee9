//! Parts of debug messages.

use std::fmt;

use ccm_model::{Catalog, ResourceIndex};

/// Maximum number of resources that a message names.
const MAX_NAMES: usize = 20;

/// Some resources of a catalog by name.
pub(crate) struct Names<'a>(pub &'a Catalog, pub &'a [ResourceIndex]);

impl fmt::Display for Names<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(catalog, indices) = self;
        for (at, index) in indices.iter().take(MAX_NAMES).enumerate() {
            let separator = if at == 0 { "" } else { ", " };
            write!(formatter, "{separator}{}", catalog.resource(*index).id)?;
        }
        match indices.len().checked_sub(MAX_NAMES) {
            None | Some(0) => Ok(()),
            Some(more) => write!(formatter, " and {more} more"),
        }
    }
}
