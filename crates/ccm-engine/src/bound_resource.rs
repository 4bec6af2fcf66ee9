//! Resources bound to their providers. The types are erased, so that the walk can hold any resource.

use std::any::Any;
use std::path::Path;

use ccm_host::{Host, Launch, Local};
use ccm_model::{Action, Failure, FailureKind, GuardResult};
use ccm_properties::Providers;

use crate::contract::{
    Context, Decision, Described, Provider, ReadPurpose, ResourceKind, Suitability, Trigger, Undescribed,
    Verified, reason,
};
use crate::rules::EngineRule;
use crate::state_cache::Suitabilities;

/// A resource bound to its provider.
pub trait BoundResource: Any {
    /// Returns the name of the provider.
    fn provider(&self) -> &'static str;

    /// Reads the state, for a decision.
    fn read<'a>(
        &'a mut self,
        triggered: bool,
        context: &'a mut Context<'_>,
    ) -> Local<'a, Result<(), Failure>>;

    /// Returns `true` if another resource has the same type and provider.
    fn has_same_provider(&self, other: &dyn BoundResource) -> bool;

    /// Returns the number of resources that can be read at once.
    fn read_batch_size(&self) -> usize;

    /// Reads the states of this resource and of others with the same provider, for decisions. Returns a
    /// result for each, its own first. `None` if the provider did not return one result for each.
    fn read_many<'a>(
        &'a mut self,
        others: &'a mut [Box<dyn BoundResource>],
        context: &'a mut Context<'_>,
    ) -> Local<'a, Option<Vec<Result<(), Failure>>>>;

    /// Decides on the state that was read.
    fn decide(&self, trigger: Option<&Trigger>) -> Decision;

    /// Returns warnings about the state that was read.
    fn warnings(&self) -> Vec<String>;

    /// Returns the results of the guards that were run to read the state.
    fn guards(&self) -> Vec<GuardResult>;

    /// Checks whether a change could be made. Returns warnings; an error is the failure that an execution
    /// would end with.
    fn preflight<'a>(&'a self, context: &'a mut Context<'_>) -> Local<'a, Result<Vec<String>, Failure>>;

    /// Changes the system.
    fn execute<'a>(&'a mut self, context: &'a mut Context<'_>) -> Local<'a, Result<(), Failure>>;

    /// Returns the number of resources that can be changed at once, this one included. Its state has been read.
    fn change_batch_size(&self) -> usize;

    /// Returns `true` if another resource with the same provider can be changed together with this one.
    fn can_batch_with(&self, other: &dyn BoundResource) -> bool;

    /// Returns `true` if nothing is changed after a failure in a batch, where a failure ends the run.
    fn stops_at_failure(&self) -> bool;

    /// Changes the system for this resource and for others with the same provider. Returns a result for each,
    /// its own first.
    fn execute_many<'a>(
        &'a mut self,
        others: &'a mut [Box<dyn BoundResource>],
        context: &'a mut Context<'_>,
    ) -> Local<'a, Vec<Result<(), Failure>>>;

    /// Reads the state again, and compares it with the desired state.
    fn verify<'a>(&'a mut self, context: &'a mut Context<'_>) -> Local<'a, Result<Verified, Failure>>;

    /// Returns the action that was taken, given the planned one, after a verification.
    fn action_taken(&self, planned: Action) -> Action;

    /// Returns the values that the execution yields for other resources.
    fn captured(&self) -> Option<serde_json::Value>;

    /// Returns the launch of the commands of its health checks.
    fn check_launch(&self, directory: &Path) -> Launch;

    /// Describes the state that was read last, without its header.
    fn describe(&self, decision: &str) -> Option<Described>;

    /// Returns the state that was read last, with all that its description leaves out, as bytes. They are not for people.
    fn state_bytes(&self) -> Undescribed;
}

/// [`Provider`] as an object, without the type of the provider. Every provider implements it.
pub trait DynProvider<K: ResourceKind>: Sync {
    /// Returns whether the provider can work on this host, as [`Provider::suitability`] does.
    fn suitability(&self, host: Host<'_>) -> Suitability;

    /// Binds properties to this provider, which has this name.
    fn bind(&'static self, name: &'static str, properties: K::Properties) -> Box<dyn BoundResource>;
}

impl<K: ResourceKind, P: Provider<K>> DynProvider<K> for P {
    fn suitability(&self, host: Host<'_>) -> Suitability {
        Provider::suitability(self, host)
    }

    fn bind(&'static self, name: &'static str, properties: K::Properties) -> Box<dyn BoundResource> {
        Box::new(TypedBinding { properties, name, provider: self, state: None, effect: None })
    }
}

/// Binds properties to a provider of their type: the named one, else the one that suits the host best.
pub fn bind<K: ResourceKind>(
    properties: K::Properties,
    named: Option<&str>,
    providers: Providers<dyn DynProvider<K>>,
    suitabilities: &Suitabilities<'_>,
) -> Result<Box<dyn BoundResource>, Failure> {
    let (name, provider) = match named {
        Some(name) => by_name(name, providers, suitabilities)?,
        None => best(providers, suitabilities)?,
    };
    Ok(provider.bind(name, properties))
}

type Named<K> = (&'static str, &'static dyn DynProvider<K>);

fn by_name<K: ResourceKind>(
    name: &str,
    providers: &[Named<K>],
    suitabilities: &Suitabilities<'_>,
) -> Result<Named<K>, Failure> {
    let found = providers.iter().find(|(known, _)| *known == name);
    let (name, provider) =
        *found.ok_or_else(|| Failure::new(FailureKind::Provider, format!("unknown provider `{name}`")))?;
    match suitabilities.of(name, provider) {
        Suitability::Unsuitable(reason) => Err(Failure::new(FailureKind::Provider, reason)
            .because_of(format!("provider `{name}` can't work on this host"))),
        Suitability::Suits(_) => Ok((name, provider)),
    }
}

/// Priority that no provider can surpass.
const BEST: u32 = 1;

fn best<K: ResourceKind>(
    providers: &[Named<K>],
    suitabilities: &Suitabilities<'_>,
) -> Result<Named<K>, Failure> {
    let mut best: Option<(u32, Named<K>)> = None;
    let mut reasons = Vec::new();
    for &(name, provider) in providers {
        match suitabilities.of(name, provider) {
            // No other provider can be better, so their checks of the machine are saved for every resource.
            Suitability::Suits(BEST) => return Ok((name, provider)),
            Suitability::Suits(priority) if best.is_none_or(|(lowest, _)| priority < lowest) => {
                best = Some((priority, (name, provider)));
            }
            Suitability::Suits(_) => {}
            Suitability::Unsuitable(reason) => reasons.push(format!("{name}: {reason}")),
        }
    }
    best.map(|(_, named)| named).ok_or_else(|| {
        let mut failure = Failure::new(FailureKind::Provider, "no provider can work on this host");
        failure.chain.extend(reasons);
        failure
    })
}

/// Properties bound to a provider, with the results of reading and executing so far. The futures of a provider are
/// boxed here, as parts of those of the binding.
struct TypedBinding<K: ResourceKind, P: 'static> {
    properties: K::Properties,
    name: &'static str,
    provider: &'static P,
    state: Option<K::State>,
    effect: Option<K::Effect>,
}

/// Builds the failure of a step in the wrong order: the harness reads before it decides, and executes before
/// it verifies.
fn out_of_order(step: &str) -> Failure {
    Failure::new(FailureKind::Internal, format!("internal error: {step} was called too early"))
}

/// Builds the failure of a resource for which a provider returned no effect.
pub(crate) fn without_effect() -> Failure {
    let message = "internal error: the resource was executed, but no result was recorded";
    let mut failure = Failure::new(FailureKind::Internal, message);
    failure.changed = true;
    failure
}

impl<K: ResourceKind, P: Provider<K>> TypedBinding<K, P> {
    fn downcast(other: &dyn BoundResource) -> Option<&Self> {
        (other as &dyn Any).downcast_ref()
    }

    /// Returns this binding and the others, if all are of one type.
    fn and_others<'a>(&'a mut self, others: &'a mut [Box<dyn BoundResource>]) -> Option<Vec<&'a mut Self>> {
        let others = others.iter_mut().map(|other| (&mut **other as &mut dyn Any).downcast_mut::<Self>());
        std::iter::once(Some(self)).chain(others).collect()
    }

    /// Returns the properties and the state that was read.
    fn change(&self) -> Option<(&K::Properties, &K::State)> {
        self.state.as_ref().map(|state| (&self.properties, state))
    }
}

impl<K: ResourceKind, P: Provider<K>> BoundResource for TypedBinding<K, P> {
    fn provider(&self) -> &'static str {
        self.name
    }

    fn read<'a>(
        &'a mut self,
        triggered: bool,
        context: &'a mut Context<'_>,
    ) -> Local<'a, Result<(), Failure>> {
        Box::pin(async move {
            let reading = ReadPurpose::Before { triggered };
            self.state = Some(self.provider.status(&self.properties, reading, context).await?);
            Ok(())
        })
    }

    fn has_same_provider(&self, other: &dyn BoundResource) -> bool {
        Self::downcast(other).is_some_and(|other| other.name == self.name)
    }

    fn read_batch_size(&self) -> usize {
        self.provider.read_batch_size()
    }

    fn read_many<'a>(
        &'a mut self,
        others: &'a mut [Box<dyn BoundResource>],
        context: &'a mut Context<'_>,
    ) -> Local<'a, Option<Vec<Result<(), Failure>>>> {
        Box::pin(async move {
            let provider = self.provider;
            let all = self.and_others(others)?;
            let properties: Vec<&K::Properties> = all.iter().map(|bound| &bound.properties).collect();
            let states = provider.status_many(&properties, context).await;
            if states.len() != all.len() {
                return None;
            }
            let keep = |(bound, state): (&mut Self, Result<K::State, Failure>)| {
                bound.state = Some(state?);
                Ok(())
            };
            Some(all.into_iter().zip(states).map(keep).collect())
        })
    }

    fn decide(&self, trigger: Option<&Trigger>) -> Decision {
        let Some(state) = &self.state else {
            return Decision::Fail {
                reason: reason(&EngineRule::OutOfOrder),
                failure: out_of_order("a decision"),
            };
        };
        K::decide(&self.properties, state, trigger).erased()
    }

    fn warnings(&self) -> Vec<String> {
        self.state.as_ref().map(|state| K::warnings(&self.properties, state)).unwrap_or_default()
    }

    fn guards(&self) -> Vec<GuardResult> {
        self.state.as_ref().map(K::guards).unwrap_or_default()
    }

    fn preflight<'a>(&'a self, context: &'a mut Context<'_>) -> Local<'a, Result<Vec<String>, Failure>> {
        Box::pin(async move {
            match &self.state {
                Some(state) => self.provider.preflight(&self.properties, state, context).await,
                None => Ok(Vec::new()),
            }
        })
    }

    fn execute<'a>(&'a mut self, context: &'a mut Context<'_>) -> Local<'a, Result<(), Failure>> {
        Box::pin(async move {
            let state = self.state.as_ref().ok_or_else(|| out_of_order("an execution"))?;
            let effect = self.provider.execute(&self.properties, state, context).await;
            if effect.as_ref().is_err_and(|failure| failure.changed) {
                // The state that was read before may be outdated.
                self.state = None;
            }
            self.effect = Some(effect?);
            Ok(())
        })
    }

    fn change_batch_size(&self) -> usize {
        self.change().map_or(1, |change| self.provider.change_batch_size(change))
    }

    fn can_batch_with(&self, other: &dyn BoundResource) -> bool {
        let other = Self::downcast(other).and_then(Self::change);
        self.change().zip(other).is_some_and(|(one, other)| self.provider.can_batch_with(one, other))
    }

    fn stops_at_failure(&self) -> bool {
        self.provider.stops_at_failure()
    }

    fn execute_many<'a>(
        &'a mut self,
        others: &'a mut [Box<dyn BoundResource>],
        context: &'a mut Context<'_>,
    ) -> Local<'a, Vec<Result<(), Failure>>> {
        Box::pin(async move {
            let provider = self.provider;
            let all = self.and_others(others).unwrap_or_default();
            let changes: Option<Vec<_>> = all.iter().map(|bound| bound.change()).collect();
            let mut effects = match &changes {
                Some(changes) => provider.execute_many(changes, context).await,
                None => Vec::new(),
            }
            .into_iter();
            let keep = |bound: &mut Self| {
                bound.effect = Some(effects.next().unwrap_or_else(|| Err(without_effect()))?);
                Ok(())
            };
            all.into_iter().map(keep).collect()
        })
    }

    fn verify<'a>(&'a mut self, context: &'a mut Context<'_>) -> Local<'a, Result<Verified, Failure>> {
        Box::pin(async move {
            let effect = self.effect.as_ref().ok_or_else(|| out_of_order("a verification"))?;
            self.state = None;
            let state = self.provider.status(&self.properties, ReadPurpose::After(effect), context).await?;
            let verified = K::verify(&self.properties, &state, effect);
            self.state = Some(state);
            verified.map(Verified::erased)
        })
    }

    fn action_taken(&self, planned: Action) -> Action {
        match (&self.state, &self.effect) {
            (Some(state), Some(effect)) => K::action_taken(&self.properties, state, effect, planned),
            _ => planned,
        }
    }

    fn captured(&self) -> Option<serde_json::Value> {
        self.effect.as_ref().and_then(|effect| K::captured(&self.properties, effect))
    }

    fn check_launch(&self, directory: &Path) -> Launch {
        K::check_launch(&self.properties, directory)
    }

    fn describe(&self, decision: &str) -> Option<Described> {
        self.state.as_ref().map(|state| K::describe(&self.properties, state, decision))
    }

    fn state_bytes(&self) -> Undescribed {
        let Some(state) = &self.state else { return Undescribed::default() };
        let Described { ensure, state: fields, .. } = K::describe(&self.properties, state, "");
        let described = serde_json::to_vec(&(self.name, ensure, fields)).unwrap_or_default();
        let Undescribed { found, desired } = K::undescribed(&self.properties, state);
        // Without its length, the description could go on in what it leaves out.
        let length = (described.len() as u64).to_be_bytes();
        Undescribed { found: [&length[..], &described, &found].concat(), desired }
    }
}
