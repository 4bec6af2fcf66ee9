//! The fake type, as the loader and the engine see it.

use ccm_engine::{
    Binder, BoundResource, Context, DynExport, DynProvider, Export, ExportedState, InstanceScope, Instances,
    NotExported, ResourceType, Suitabilities, bind,
};
use ccm_model::{Claim, Diagnostic, Failure, Node, PathKind, Resource};
use ccm_properties::{
    CheckInput, FilledExtent, FilledPath, MayProvide, PropertySpec, Providers, TypeDeclaration, TypeSpec,
};

use super::calls::count_question;
use super::provider::FakeProvider;
use super::{Behaviour, FakeKind};

pub(super) struct FakeType;

const PROVIDERS: Providers<dyn DynProvider<FakeKind>> = &[
    ("fake", &FakeProvider { at_once: 1, stops: false }),
    ("four", &FakeProvider { at_once: 4, stops: false }),
    ("stopping", &FakeProvider { at_once: 4, stops: true }),
    ("all", &FakeProvider { at_once: usize::MAX, stops: false }),
];

impl TypeSpec for FakeType {
    fn may_provide(&self, resource: &Resource) -> MayProvide {
        count_question();
        if resource.id.name.starts_with('/') { MayProvide::Nothing } else { MayProvide::Anything }
    }

    fn claims<'r>(&self, resource: &'r Resource) -> Vec<Claim<'r>> {
        count_question();
        let is_directory = resource.ensure.as_ref().is_some_and(|ensure| ensure.value == "directory");
        let desired = if is_directory { PathKind::Directory } else { PathKind::Other };
        let path = Some(&*resource.id.name).filter(|name| name.starts_with('/'));
        path.map(|path| Claim::path(path, desired)).into_iter().collect()
    }

    fn fills<'r>(&self, resource: &'r Resource) -> Vec<FilledPath<'r>> {
        count_question();
        let extents = [("fills", FilledExtent::Tree), ("needs_place", FilledExtent::Place)];
        let filled = |(property, extent)| {
            let path = resource.properties.get(property).and_then(Node::as_text)?;
            Some(FilledPath { path, extent })
        };
        extents.into_iter().filter_map(filled).collect()
    }
}

impl TypeDeclaration for FakeType {
    fn name(&self) -> &'static str {
        "fake"
    }

    fn summary(&self) -> &'static str {
        "Pretends."
    }

    fn ensures(&self) -> &'static [&'static str] {
        &["present"]
    }

    fn providers(&self) -> Vec<&'static str> {
        PROVIDERS.iter().map(|(name, _)| *name).collect()
    }

    fn properties(&self) -> &'static [PropertySpec] {
        &[]
    }

    fn check(&self, _: &CheckInput<'_>) -> Vec<Diagnostic> {
        Vec::new()
    }
}

impl ResourceType for FakeType {
    fn binder(&self) -> Option<&dyn Binder> {
        Some(self)
    }

    fn exporter(&self) -> &dyn DynExport {
        self
    }
}

/// What is there is one thing, whose names a caller chooses.
impl Export for FakeType {
    async fn instances(&self, _: InstanceScope, _: &mut Context<'_>) -> Result<Instances, NotExported> {
        Ok(Instances::default())
    }

    async fn export(&self, _: &str, _: &mut Context<'_>) -> Result<Option<ExportedState>, NotExported> {
        Ok(None)
    }
}

impl Binder for FakeType {
    fn bind(
        &self,
        resource: &Resource,
        suitabilities: &Suitabilities<'_>,
    ) -> Result<Box<dyn BoundResource>, Failure> {
        let text =
            |name: &str| resource.properties.get(name).and_then(Node::as_text).unwrap_or_default().to_owned();
        let is = |name: &str| !text(name).is_empty();
        let behaviour = Behaviour {
            name: resource.id.name.to_string(),
            needs: is("needs"),
            fails: text("fails"),
            panics: text("panics"),
            idle: is("idle"),
            declines: is("declines"),
            stops: is("stops"),
            hangs: is("hangs"),
            runs: is("runs"),
            yields: text("yields"),
            by: text("by"),
            sort: text("sort"),
            breaks: text("breaks").replace('-', " "),
        };
        bind(behaviour, resource.provider.as_ref().map(|provider| &*provider.value), PROVIDERS, suitabilities)
    }
}
