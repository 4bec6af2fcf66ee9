//! Names of resources in messages.

use std::fmt;

use ccm_model::{Catalog, ResourceIndex};

/// Some resources of a catalog by name.
pub(crate) struct NameList<'a> {
    catalog: &'a Catalog,
    indices: &'a [ResourceIndex],
    max: usize,
}

impl<'a> NameList<'a> {
    /// Names at most `max` resources and counts the rest.
    pub(crate) fn new(catalog: &'a Catalog, indices: &'a [ResourceIndex], max: usize) -> Self {
        Self { catalog, indices, max }
    }
}

impl fmt::Display for NameList<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { catalog, indices, max } = self;
        for (at, index) in indices.iter().take(*max).enumerate() {
            let separator = if at == 0 { "" } else { ", " };
            write!(formatter, "{separator}{}", catalog.resource(*index).id)?;
        }
        match indices.len().checked_sub(*max) {
            None | Some(0) => Ok(()),
            Some(more) => write!(formatter, " and {more} more"),
        }
    }
}
