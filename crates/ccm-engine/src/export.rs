//! Export: the present state of a resource, as the properties that a manifest would have.

use std::fmt;

use ccm_host::Local;
use ccm_model::{Catalog, Failure, Outcome, Resource, ResourceId, ResourceIndex};
use serde_json::Value;

use crate::contract::Context;
use crate::groups::Groups;
use crate::harness::in_context;
use crate::run::Run;
use crate::step::{NodeBinder, ResourceStep, StepResult};
use crate::walk::Walk;

/// Part of a resource type that reads what is there. Reads only: a run of [`Run::read`] is in noop. A type leaves out what is
/// always a secret, and names it as a remark; whoever shows a state also searches its values for secrets.
#[allow(async_fn_in_trait, reason = "a run stays on one thread, so that no future of it has to be `Send`")]
pub trait Export {
    /// Returns the names of the resources that exist, in an order that stays the same.
    async fn instances(
        &self,
        scope: InstanceScope,
        context: &mut Context<'_>,
    ) -> Result<Instances, NotExported>;

    /// Returns the state of the resource with a name; `None` if the resource is absent. Properties that have their
    /// default are left out.
    async fn export(
        &self,
        name: &str,
        context: &mut Context<'_>,
    ) -> Result<Option<ExportedState>, NotExported>;

    /// Returns the resources that belong to one, in the order in which they come before it.
    async fn related(&self, name: &str, context: &mut Context<'_>) -> Result<Vec<Related>, NotExported> {
        let _ = (name, context);
        Ok(Vec::new())
    }
}

/// Resource that belongs to another one, and comes before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Related {
    /// Type and name.
    pub id: ResourceId,
    /// `true` if a change of this resource triggers a refresh of the other one.
    pub triggers: bool,
}

/// [`Export`] with boxed futures.
pub trait DynExport {
    /// Returns the names of the resources that exist, as [`Export::instances`] does.
    fn instances<'a>(
        &'a self,
        scope: InstanceScope,
        context: &'a mut Context<'_>,
    ) -> Local<'a, Result<Instances, NotExported>>;

    /// Returns the state of a resource, as [`Export::export`] does.
    fn export<'a>(
        &'a self,
        name: &'a str,
        context: &'a mut Context<'_>,
    ) -> Local<'a, Result<Option<ExportedState>, NotExported>>;

    /// Returns the resources that belong to one, as [`Export::related`] does.
    fn related<'a>(
        &'a self,
        name: &'a str,
        context: &'a mut Context<'_>,
    ) -> Local<'a, Result<Vec<Related>, NotExported>>;
}

impl<T: Export> DynExport for T {
    fn instances<'a>(
        &'a self,
        scope: InstanceScope,
        context: &'a mut Context<'_>,
    ) -> Local<'a, Result<Instances, NotExported>> {
        Box::pin(Export::instances(self, scope, context))
    }

    fn export<'a>(
        &'a self,
        name: &'a str,
        context: &'a mut Context<'_>,
    ) -> Local<'a, Result<Option<ExportedState>, NotExported>> {
        Box::pin(Export::export(self, name, context))
    }

    fn related<'a>(
        &'a self,
        name: &'a str,
        context: &'a mut Context<'_>,
    ) -> Local<'a, Result<Vec<Related>, NotExported>> {
        Box::pin(Export::related(self, name, context))
    }
}

/// Resources that [`Export::instances`] lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstanceScope {
    /// All of the type.
    All,
    /// Those that a person made or changed after the installation of the system.
    MadeByHand,
}

/// Names of the resources that exist.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Instances {
    /// The names.
    pub names: Vec<String>,
    /// Reasons why there may be more.
    pub unseen: Vec<NotExported>,
}

impl From<Vec<String>> for Instances {
    fn from(names: Vec<String>) -> Self {
        Self { names, unseen: Vec::new() }
    }
}

/// Reason why a state is not exported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotExported {
    /// Kind of the reason, for programs.
    pub kind: NotExportedKind,
    /// The reason, for people.
    pub reason: String,
    /// Advice on what to do about it.
    pub hint: Option<String>,
}

/// Kind of a reason why a state is not exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotExportedKind {
    /// Resources of the type leave no state that could be read.
    NoState,
    /// The type can't list its resources.
    NoList,
    /// The state can't be read, for instance without the rights of root.
    Unreadable,
    /// No resource of the type describes the state.
    NoForm,
    /// The state consists of a secret, or can't be described without one.
    Secret,
    /// A resource that was made of the state would be changed by a run.
    NotReproduced,
}

impl NotExportedKind {
    /// Name of the kind for programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::NoState => "no_state",
            Self::NoList => "no_list",
            Self::Unreadable => "unreadable",
            Self::NoForm => "no_form",
            Self::Secret => "secret",
            Self::NotReproduced => "not_reproduced",
        }
    }
}

impl NotExported {
    /// Builds a reason.
    pub fn new(kind: NotExportedKind, reason: impl Into<String>) -> Self {
        Self { kind, reason: reason.into(), hint: None }
    }

    /// Adds advice.
    #[must_use]
    pub fn with_hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

impl fmt::Display for NotExported {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.reason)
    }
}

impl From<Failure> for NotExported {
    fn from(failure: Failure) -> Self {
        let hint = failure.hints.first().cloned();
        Self { kind: NotExportedKind::Unreadable, reason: failure.one_line(), hint }
    }
}

/// State of a resource that exists.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExportedState {
    /// Value of `ensure`; `None` for the default of the type.
    pub ensure: Option<String>,
    /// Provider, if the one that suits the machine best would be another one.
    pub provider: Option<&'static str>,
    /// Properties, in the order of the type's table.
    pub properties: Vec<(&'static str, ExportedValue)>,
    /// What is known about the resource, and is no property.
    pub remarks: Vec<ExportRemark>,
}

/// Value of a property.
#[derive(Clone, Debug, PartialEq)]
pub enum ExportedValue {
    /// Value as JSON has it.
    Json(Value),
    /// Content of a file, which may be long or no text.
    Content {
        /// The content.
        bytes: Vec<u8>,
        /// `true` if not every user may read it, so that a file of everybody must not have it.
        is_private: bool,
    },
}

/// What is known about a resource, and is no property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExportRemark {
    /// Value that only the machine decides, such as the version of a package.
    ReadOnly {
        /// Name of the value.
        name: &'static str,
        /// The value.
        value: String,
    },
    /// Property whose value is a secret, or may be one.
    Secret {
        /// Name of the property.
        property: &'static str,
    },
    /// Property that could not be read.
    Unread {
        /// Name of the property.
        property: &'static str,
        /// The reason.
        reason: String,
    },
}

impl ExportedState {
    /// Sets `ensure`.
    #[must_use]
    pub fn ensure(self, ensure: impl Into<String>) -> Self {
        Self { ensure: Some(ensure.into()), ..self }
    }

    /// Sets the provider.
    #[must_use]
    pub fn provided_by(self, provider: &'static str) -> Self {
        Self { provider: Some(provider), ..self }
    }

    /// Adds a property.
    #[must_use]
    pub fn with(mut self, property: &'static str, value: impl Into<Value>) -> Self {
        self.properties.push((property, ExportedValue::Json(value.into())));
        self
    }

    /// Adds a property that has a value.
    #[must_use]
    pub fn with_some(self, property: &'static str, value: Option<impl Into<Value>>) -> Self {
        match value {
            Some(value) => self.with(property, value),
            None => self,
        }
    }

    /// Adds the content of a file.
    #[must_use]
    pub fn with_content(mut self, property: &'static str, bytes: Vec<u8>, is_private: bool) -> Self {
        self.properties.push((property, ExportedValue::Content { bytes, is_private }));
        self
    }

    /// Adds a value that only the machine decides.
    #[must_use]
    pub fn read_only(self, name: &'static str, value: impl Into<String>) -> Self {
        self.remark(ExportRemark::ReadOnly { name, value: value.into() })
    }

    /// Adds a remark.
    #[must_use]
    pub fn remark(mut self, remark: ExportRemark) -> Self {
        self.remarks.push(remark);
        self
    }
}

/// Type and name of the resource that stands for the reading of the machine.
const READING: (&str, &str) = ("resource", "present state");

impl Run<'_> {
    /// Reads the machine outside of the steps of resources, with the doors, the gate and the secrets of the run. The
    /// catalog counts for nothing. An error is a panic of `work`.
    pub async fn read<T>(&self, work: impl AsyncFnOnce(&mut Context<'_>) -> T) -> Result<T, Failure> {
        let reading = Resource { id: ResourceId::new(READING.0, READING.1), ..Resource::default() };
        let catalog = Catalog { resources: vec![reading], ..Catalog::default() };
        let run =
            Run { catalog: &catalog, noop: true, describe_unchanged: true, only: None, skip: &[], ..*self };
        let graph = ccm_graph::Graph::of(&catalog);
        let groups = Groups::new(&run);
        let walk = Walk::new(&run, &graph, &groups);
        let index = ResourceIndex(0);
        let step = ResourceStep::new(&walk, index, &NodeBinder, groups.policy(index), None);
        let mut found = None;
        let (outcome, _) = in_context(&step, StepResult::default(), &mut |_, _| {}, async |_, context| {
            found = Some(work(context).await);
            Outcome::Unchanged
        })
        .await;
        match (found, outcome) {
            (Some(found), _) => Ok(found),
            (None, Outcome::Failed(failure)) => Err(*failure),
            (None, _) => Err(crate::bound_resource::without_effect()),
        }
    }
}
