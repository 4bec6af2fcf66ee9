//! Reading the present state, through the doors of the session.

use std::path::Path;
use std::rc::Rc;

use ccm_engine::{
    Context, EarlierOutcomes, InstanceScope, Instances, NoHealthProbe, NoLateValues, NotExported, OpenGate,
    Related, ResourceType, Run,
};
use ccm_governance::policy::{AnalysingExecutor, JudgingExecutor};
use ccm_host::{Executor, Host, LocalExecutor};
use ccm_model::{Catalog, ResourceId};

use super::selection::in_manifest_order;
use super::{
    PresentResource, PresentState, ResourceError, ResourcePresence, ResourceSelection, Unseen, guard,
};
use crate::canceller::Canceller;
use crate::session::Session;

/// Subject of the commands in notices of the policy.
const SUBJECT: &str = "ccm resource";

/// Resources of one type to read.
struct TypeRequest {
    resource_type: &'static dyn ResourceType,
    /// Empty for all.
    names: Vec<String>,
    scope: InstanceScope,
    with_related: bool,
}

impl Session {
    /// Reads the present state of resources. Nothing is changed; commands that read are judged by the policy.
    pub async fn present_state(
        &self,
        selection: &ResourceSelection,
        canceller: &Canceller,
    ) -> Result<PresentState, ResourceError> {
        let requests = self.type_requests(selection)?;
        let commands = self.commands()?;
        let cancellation = canceller.cancellation();
        let files = self.doors.doors.files(cancellation);
        let local = Rc::new(LocalExecutor::new(commands, commands, &*files));
        let executor: Rc<dyn Executor + '_> = Rc::new(AnalysingExecutor { executor: local });
        let (governance, subject) = (&self.governance, SUBJECT.to_owned());
        let executor = JudgingExecutor { executor, governance, commands, subject, audit: None };
        let run = Run {
            catalog: &Catalog::default(),
            others: &[],
            types: &self.types.iter().map(|found| *found as _).collect::<Vec<_>>(),
            host: Host { executor: &executor, system: commands, files: &*files, clock: &*self.doors.clock },
            late: &NoLateValues,
            secrets: &self.secrets,
            stop: canceller.stop(),
            noop: true,
            monitor_only: false,
            fail_on_error: false,
            diff: false,
            directory: Path::new("/"),
            state_directory: None,
            describe_unchanged: true,
            only: None,
            skip: &[],
            health: &NoHealthProbe,
            gate: &OpenGate,
            ledger: None,
            witness: None,
            earlier: EarlierOutcomes::default(),
        };
        let is_single = matches!(selection, ResourceSelection::OfType { .. });
        let read = run.read(async |context| {
            let mut state = PresentState::default();
            for request in &requests {
                match self.read_type(request, context, &mut state).await {
                    Ok(()) => {}
                    Err(reason) if is_single => return Err((request.resource_type.name(), reason)),
                    Err(reason) => {
                        state
                            .unseen
                            .push(Unseen { type_name: request.resource_type.name().to_owned(), reason });
                    }
                }
            }
            Ok(state)
        });
        let read = read.await.map_err(|failure| ResourceError::Internal(Box::new(failure)))?;
        let mut state = read.map_err(|(type_name, reason)| ResourceError::NotListed {
            type_name: type_name.to_owned(),
            reason,
        })?;
        in_manifest_order(&mut state.resources);
        Ok(state)
    }

    fn type_requests(&self, selection: &ResourceSelection) -> Result<Vec<TypeRequest>, ResourceError> {
        match selection {
            ResourceSelection::OfType { type_name, names, with_related } => Ok(vec![TypeRequest {
                resource_type: self.type_named(type_name)?,
                names: names.clone(),
                scope: InstanceScope::All,
                with_related: *with_related,
            }]),
            ResourceSelection::MadeByHand => {
                let request = |resource_type: &&'static dyn ResourceType| TypeRequest {
                    resource_type: *resource_type,
                    names: Vec::new(),
                    scope: InstanceScope::MadeByHand,
                    with_related: false,
                };
                Ok(self.types.iter().map(request).collect())
            }
        }
    }

    /// Reads the resources of a type. An error means that they can't be listed.
    async fn read_type(
        &self,
        request: &TypeRequest,
        context: &mut Context<'_>,
        state: &mut PresentState,
    ) -> Result<(), NotExported> {
        let resource_type = request.resource_type;
        let exporter = resource_type.exporter();
        let names = if request.names.is_empty() {
            let Instances { names, unseen } = exporter.instances(request.scope, context).await?;
            let type_name = || resource_type.name().to_owned();
            state.unseen.extend(unseen.into_iter().map(|reason| Unseen { type_name: type_name(), reason }));
            names
        } else {
            request.names.clone()
        };
        for name in names {
            let mut resource = self.read_resource(resource_type, &name, context).await;
            if request.with_related && matches!(resource.state, ResourcePresence::Present(_)) {
                match exporter.related(&name, context).await {
                    Ok(related) => self.read_related(related, &mut resource, context, state).await,
                    Err(reason) => {
                        state.unseen.push(Unseen { type_name: resource_type.name().to_owned(), reason });
                    }
                }
            }
            state.resources.push(resource);
        }
        Ok(())
    }

    async fn read_resource(
        &self,
        resource_type: &dyn ResourceType,
        name: &str,
        context: &mut Context<'_>,
    ) -> PresentResource {
        let exported = resource_type.exporter().export(name, context).await;
        let state = match exported {
            Ok(Some(exported)) => {
                ResourcePresence::Present(guard::without_secrets(exported, resource_type, &self.secrets))
            }
            Ok(None) => ResourcePresence::Absent,
            Err(reason) => ResourcePresence::NotExported(guard::without_secret(reason)),
        };
        let id = ResourceId::new(resource_type.name(), name);
        PresentResource { id, state, require: Vec::new(), subscribe: Vec::new() }
    }

    /// Reads the resources that belong to another one, and puts them before it.
    async fn read_related(
        &self,
        related: Vec<Related>,
        of: &mut PresentResource,
        context: &mut Context<'_>,
        state: &mut PresentState,
    ) {
        for Related { id, triggers } in related {
            let Ok(resource_type) = self.type_named(&id.type_name) else { continue };
            if triggers {
                of.subscribe.push(id.clone());
            } else {
                of.require.push(id.clone());
            }
            if state.resources.iter().all(|resource| resource.id != id) {
                let resource = self.read_resource(resource_type, &id.name, context).await;
                state.resources.push(resource);
            }
        }
    }
}
