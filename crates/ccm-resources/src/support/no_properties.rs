//! Properties of types whose resources have none of their own: the name says all.

use ccm_model::Diagnostic;
use ccm_properties::{PropertySet, PropertySpec};

#[derive(Debug, Default)]
pub(crate) struct NoProperties;

impl PropertySet for NoProperties {
    const PROPERTIES: &'static [PropertySpec] = &[];

    fn set(&mut self, _: &ccm_model::NodeEntry, _: &mut Vec<Diagnostic>) -> bool {
        false
    }
}
