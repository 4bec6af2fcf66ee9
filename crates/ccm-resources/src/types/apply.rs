//! The apply resource: a manifest within a manifest. The loader makes it the node of a group of the child's
//! resources, and the engine runs groups itself, so there is nothing to read or to change here.

mod properties;

use ccm_engine::{Binder, DynExport, ResourceType};
use ccm_model::{Node, Resource};
use ccm_properties::{ChildManifest, PropertyError, Providers, TypeSpec, TypedResource, decode};

use crate::support::export::without_state;
use properties::ApplyProperties;

#[derive(Debug)]
pub(crate) struct ApplyType;

without_state!(
    ApplyType,
    "an `apply` is a manifest, and leaves no state that could be read",
    "name the resources of the manifest"
);

impl TypedResource for ApplyType {
    type Written = ApplyProperties;
    type Desired = ApplyProperties;
    type Provider = ();

    const NAME: &'static str = "apply";
    const SUMMARY: &'static str = "Applies another manifest as part of this one.";
    const ENSURES: &'static [&'static str] = &["present"];
    const PROVIDERS: Providers<Self::Provider> = &[("manifest", &())];

    fn build(_: &Resource, written: ApplyProperties) -> Result<ApplyProperties, Vec<PropertyError>> {
        Ok(written)
    }
}

impl TypeSpec for ApplyType {
    fn child_manifest<'r>(&self, resource: &'r Resource) -> Option<ChildManifest<'r>> {
        let (written, _) = decode::<ApplyProperties>(&resource.properties);
        Some(ChildManifest {
            path: resource.properties.get("manifest").and_then(Node::as_text).unwrap_or(&resource.id.name),
            noop: written.noop.unwrap_or(false),
            health_check_only: written.health_check_only.unwrap_or(false),
            allow_apply: written.allow_apply.unwrap_or(true),
            data: resource.properties.get("data"),
        })
    }
}

impl ResourceType for ApplyType {
    fn binder(&self) -> Option<&dyn Binder> {
        None
    }

    fn exporter(&self) -> &dyn DynExport {
        self
    }
}
