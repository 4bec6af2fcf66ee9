//! Providers and gates as objects. Their futures are boxed here, and nowhere else.

use ccm_host::{Host, Local};
use ccm_model::Failure;

use crate::contract::{Context, Provider, ReadPurpose, ResourceKind, Suitability};
use crate::gate::{ChangeRequest, CommandRequest, Gate, Verdict};

/// [`Provider`] as an object. Every provider implements it.
pub trait DynProvider<K: ResourceKind>: Sync {
    /// Returns the name, as [`Provider::name`] does.
    fn name(&self) -> &'static str;

    /// Returns whether the provider can work on this host, as [`Provider::suitability`] does.
    fn suitability(&self, host: Host<'_>) -> Suitability;

    /// Reads the state, as [`Provider::status`] does.
    fn status<'a>(
        &'a self,
        properties: &'a K::Properties,
        reading: ReadPurpose<'a, K::Effect>,
        context: &'a mut Context<'_>,
    ) -> Local<'a, Result<K::State, Failure>>;

    /// Changes the system, as [`Provider::execute`] does.
    fn execute<'a>(
        &'a self,
        properties: &'a K::Properties,
        state: &'a K::State,
        context: &'a mut Context<'_>,
    ) -> Local<'a, Result<K::Effect, Failure>>;

    /// Returns the number of resources that are read at once, as [`Provider::read_batch_size`] does.
    fn read_batch_size(&self) -> usize;

    /// Reads many states, as [`Provider::status_many`] does.
    fn status_many<'a>(
        &'a self,
        properties: &'a [&'a K::Properties],
        context: &'a mut Context<'_>,
    ) -> Local<'a, Vec<Result<K::State, Failure>>>;

    /// Returns the number of resources that are changed at once, as [`Provider::change_batch_size`] does.
    fn change_batch_size(&self) -> usize;

    /// Returns `true` if two changes can be made at once, as [`Provider::can_batch_with`] does.
    fn can_batch_with(&self, one: (&K::Properties, &K::State), other: (&K::Properties, &K::State)) -> bool;

    /// Makes many changes, as [`Provider::execute_many`] does.
    fn execute_many<'a>(
        &'a self,
        changes: &'a [(&'a K::Properties, &'a K::State)],
        context: &'a mut Context<'_>,
    ) -> Local<'a, Vec<Result<K::Effect, Failure>>>;

    /// Checks whether a change could be made, as [`Provider::preflight`] does.
    fn preflight<'a>(
        &'a self,
        properties: &'a K::Properties,
        state: &'a K::State,
        context: &'a mut Context<'_>,
    ) -> Local<'a, Result<Vec<String>, Failure>>;
}

impl<K: ResourceKind, P: Provider<K>> DynProvider<K> for P {
    fn name(&self) -> &'static str {
        Provider::name(self)
    }

    fn suitability(&self, host: Host<'_>) -> Suitability {
        Provider::suitability(self, host)
    }

    fn status<'a>(
        &'a self,
        properties: &'a K::Properties,
        reading: ReadPurpose<'a, K::Effect>,
        context: &'a mut Context<'_>,
    ) -> Local<'a, Result<K::State, Failure>> {
        Box::pin(Provider::status(self, properties, reading, context))
    }

    fn execute<'a>(
        &'a self,
        properties: &'a K::Properties,
        state: &'a K::State,
        context: &'a mut Context<'_>,
    ) -> Local<'a, Result<K::Effect, Failure>> {
        Box::pin(Provider::execute(self, properties, state, context))
    }

    fn read_batch_size(&self) -> usize {
        Provider::read_batch_size(self)
    }

    fn status_many<'a>(
        &'a self,
        properties: &'a [&'a K::Properties],
        context: &'a mut Context<'_>,
    ) -> Local<'a, Vec<Result<K::State, Failure>>> {
        Box::pin(Provider::status_many(self, properties, context))
    }

    fn change_batch_size(&self) -> usize {
        Provider::change_batch_size(self)
    }

    fn can_batch_with(&self, one: (&K::Properties, &K::State), other: (&K::Properties, &K::State)) -> bool {
        Provider::can_batch_with(self, one, other)
    }

    fn execute_many<'a>(
        &'a self,
        changes: &'a [(&'a K::Properties, &'a K::State)],
        context: &'a mut Context<'_>,
    ) -> Local<'a, Vec<Result<K::Effect, Failure>>> {
        Box::pin(Provider::execute_many(self, changes, context))
    }

    fn preflight<'a>(
        &'a self,
        properties: &'a K::Properties,
        state: &'a K::State,
        context: &'a mut Context<'_>,
    ) -> Local<'a, Result<Vec<String>, Failure>> {
        Box::pin(Provider::preflight(self, properties, state, context))
    }
}

/// [`Gate`] as an object. Every gate implements it.
pub trait DynGate {
    /// Decides on a command, as [`Gate::before_command`] does.
    fn before_command<'a>(&'a self, request: &'a CommandRequest<'a>) -> Local<'a, Verdict>;

    /// Decides on a change, as [`Gate::before_change`] does.
    fn before_change<'a>(&'a self, request: &'a ChangeRequest<'a>) -> Local<'a, Verdict>;

    /// Returns `true` if the gate allows everything, as [`Gate::is_open`] does.
    fn is_open(&self) -> bool;
}

impl<G: Gate> DynGate for G {
    fn before_command<'a>(&'a self, request: &'a CommandRequest<'a>) -> Local<'a, Verdict> {
        Box::pin(Gate::before_command(self, request))
    }

    fn before_change<'a>(&'a self, request: &'a ChangeRequest<'a>) -> Local<'a, Verdict> {
        Box::pin(Gate::before_change(self, request))
    }

    fn is_open(&self) -> bool {
        Gate::is_open(self)
    }
}
