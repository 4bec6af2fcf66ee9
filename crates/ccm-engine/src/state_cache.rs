//! State that was read before it is needed, valid until something is executed.

use std::any::{Any, TypeId, type_name};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use ccm_host::{Cancellation, Command, Executor, Finished, Host, Runner, RunnerMiddleware, StartError};
use ccm_model::{Failure, ResourceIndex, Stream};
use tracing::debug;

use crate::bound_resource::{BoundResource, DynProvider};
use crate::contract::{ResourceKind, Suitability};

/// A resource whose state was read before its step.
pub(crate) struct Prefetched {
    pub bound: Box<dyn BoundResource>,
    pub read: Result<(), Failure>,
}

/// State of the machine, as the run has read it.
#[derive(Default)]
pub(crate) struct StateCache {
    prefetched: RefCell<HashMap<ResourceIndex, Prefetched>>,
    shared: RefCell<HashMap<TypeId, Rc<dyn Any>>>,
    of_run: RefCell<HashMap<TypeId, Rc<dyn Any>>>,
    /// By the type of the resource kind, and the name of the provider.
    suitabilities: RefCell<HashMap<(TypeId, &'static str), Suitability>>,
    generation: Cell<u64>,
    is_prefetching_disabled: Cell<bool>,
}

impl StateCache {
    /// Discards everything, because something was executed, and disables prefetching.
    pub(crate) fn invalidate(&self) {
        self.generation.set(self.generation.get() + 1);
        if !self.shared.borrow().is_empty() {
            debug!("shared states invalidated");
            self.shared.borrow_mut().clear();
        }
        self.suitabilities.borrow_mut().clear();
        self.disable_prefetching();
    }

    /// Discards prefetched states, and disables prefetching: after one change more are likely, and each would
    /// discard the prefetched states again.
    pub(crate) fn disable_prefetching(&self) {
        let prefetched = self.prefetched.borrow().len();
        if prefetched > 0 {
            debug!(prefetched, "prefetched states invalidated");
            self.prefetched.borrow_mut().clear();
        }
        self.is_prefetching_disabled.set(true);
    }

    /// Discards everything now, and again when the returned guard is dropped.
    pub(crate) fn invalidate_on_drop(&self) -> InvalidateOnDrop<'_> {
        self.invalidate();
        InvalidateOnDrop(self)
    }

    pub(crate) fn is_prefetching_disabled(&self) -> bool {
        self.is_prefetching_disabled.get()
    }

    /// Number of invalidations so far. A state is valid as long as this number stays the same.
    pub(crate) fn generation(&self) -> u64 {
        self.generation.get()
    }

    pub(crate) fn is_prefetched(&self, index: ResourceIndex) -> bool {
        self.prefetched.borrow().contains_key(&index)
    }

    pub(crate) fn put_prefetched(&self, index: ResourceIndex, prefetched: Prefetched) {
        self.prefetched.borrow_mut().insert(index, prefetched);
    }

    pub(crate) fn take_prefetched(&self, index: ResourceIndex) -> Option<Prefetched> {
        let mut prefetched = self.prefetched.borrow_mut();
        if prefetched.is_empty() { None } else { prefetched.remove(&index) }
    }

    /// Returns the value of this type that is kept for the whole run.
    pub(crate) fn of_run<T: Any + Default>(&self) -> Rc<T> {
        let mut of_run = self.of_run.borrow_mut();
        let value = of_run.entry(TypeId::of::<T>()).or_insert_with(|| Rc::new(T::default()));
        Rc::clone(value).downcast().unwrap_or_default()
    }

    /// Returns the shared state of this type, which is read if no valid one is cached.
    pub(crate) async fn shared<T: Any, E>(
        &self,
        read: impl AsyncFnOnce() -> Result<T, E>,
    ) -> Result<Rc<T>, E> {
        let cached = self.shared.borrow().get(&TypeId::of::<T>()).map(Rc::clone);
        if let Some(cached) = cached.and_then(|cached| cached.downcast().ok()) {
            debug!(state = %type_name::<T>(), "shared state reused");
            return Ok(cached);
        }
        debug!(state = %type_name::<T>(), "reading shared state");
        let before = self.generation();
        let value = Rc::new(read().await?);
        if before == self.generation() {
            self.shared.borrow_mut().insert(TypeId::of::<T>(), value.clone());
        }
        Ok(value)
    }
}

/// Suitability of providers for a machine. Each provider is asked once, and again after any execution.
pub struct Suitabilities<'a> {
    host: Host<'a>,
    cache: &'a StateCache,
}

impl<'a> Suitabilities<'a> {
    pub(crate) fn new(host: Host<'a>, cache: &'a StateCache) -> Self {
        Self { host, cache }
    }

    /// Returns the suitability of the provider with a name.
    pub(crate) fn of<K: ResourceKind>(
        &self,
        name: &'static str,
        provider: &dyn DynProvider<K>,
    ) -> Suitability {
        let key = (TypeId::of::<K>(), name);
        if let Some(known) = self.cache.suitabilities.borrow().get(&key) {
            return known.clone();
        }
        let found = provider.suitability(self.host);
        self.cache.suitabilities.borrow_mut().insert(key, found.clone());
        found
    }
}

/// Invalidates the cache when it is dropped, so that neither a panic nor a cancellation leaves an outdated
/// state.
pub(crate) struct InvalidateOnDrop<'a>(&'a StateCache);

impl Drop for InvalidateOnDrop<'_> {
    fn drop(&mut self) {
        self.0.invalidate();
    }
}

/// Executor that invalidates the cache around each command, because a command may change anything.
pub(crate) struct InvalidatingExecutor<'a> {
    pub executor: &'a dyn Executor,
    pub cache: &'a StateCache,
}

impl RunnerMiddleware for InvalidatingExecutor<'_> {
    fn inner(&self) -> &dyn Executor {
        self.executor
    }

    async fn run_around(
        &self,
        runner: &dyn Runner,
        command: &Command,
        cancellation: &Cancellation,
        on_line: &mut dyn FnMut(Stream, &str),
    ) -> Result<Finished, StartError> {
        let _invalidation = self.cache.invalidate_on_drop();
        runner.run(command, cancellation, on_line).await
    }
}
