//! Age of the index: when it is refreshed, and what is reported of it.

use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::rc::Rc;
use std::time::Duration;

use ccm_engine::Context;
use ccm_model::Failure;

use super::provider::{Packages, is_index_relevant};
use super::state::{LeftIndex, PackageState};
use crate::parts::packages::{
    MAX_AGE_FOR_LATEST, Package, PackageEnsure, Tool, UpdateCache, index_age, is_index_outdated,
    refresh_is_older, sources_are_newer,
};
use crate::support::program::ProgramScope;

/// True if the index contains anything; kept as long as the database.
struct HasIndex<D>(bool, PhantomData<D>);

/// True if a refresh failed that was not asked for, so that no other resource tries it again.
pub(super) struct FailedRefresh<D>(pub Cell<bool>, PhantomData<D>);

/// Name of the package that reports an old index.
struct IndexReporter<D>(RefCell<Option<String>>, PhantomData<D>);

impl<D> Default for FailedRefresh<D> {
    fn default() -> Self {
        Self(Cell::default(), PhantomData)
    }
}

impl<D> Default for IndexReporter<D> {
    fn default() -> Self {
        Self(RefCell::default(), PhantomData)
    }
}

impl<T: Tool> Packages<T> {
    /// Adds whether the index is too old, which matters only if the package is looked up there.
    pub(super) async fn judge_index(
        &self,
        package: &Package,
        state: &mut PackageState,
        context: &Context<'_>,
    ) {
        if !is_index_relevant(package, state) {
            return;
        }
        if package.update_cache == UpdateCache::Never {
            state.left_index = self.left_index(package, context).await;
            return;
        }
        if is_index_outdated(T::NAME, context) {
            state.is_stale = true;
            return;
        }
        state.is_usable = package.update_cache == UpdateCache::Default;
        let failed: Rc<FailedRefresh<T::Database>> = context.run_cache();
        if state.is_usable && failed.0.get() {
            return;
        }
        state.is_stale = sources_are_newer(&self.0, context)
            || match package.max_index_age() {
                Some(age) => self.is_index_older(context, age).await,
                None => false,
            };
    }

    async fn is_index_older(&self, context: &Context<'_>, age: Duration) -> bool {
        refresh_is_older(&self.0, context, age) || !self.has_index(context).await
    }

    /// Returns the index if it is too old to show the latest version, and no other resource of the run reports that.
    async fn left_index(&self, package: &Package, context: &Context<'_>) -> Option<LeftIndex> {
        if package.ensure != PackageEnsure::Latest || !self.is_index_older(context, MAX_AGE_FOR_LATEST).await
        {
            return None;
        }
        let reporter: Rc<IndexReporter<T::Database>> = context.run_cache();
        let mut reporter = reporter.0.borrow_mut();
        (reporter.get_or_insert_with(|| package.name.clone()) == &package.name)
            .then(|| LeftIndex { age: index_age(&self.0, context) })
    }

    /// Returns `false` if the index is known to be empty. After a failed check the query reports the error.
    async fn has_index(&self, context: &Context<'_>) -> bool {
        let scope = ProgramScope::from(context);
        let has_index = async || {
            let has_index = self.0.has_index(scope).await.unwrap_or(true);
            Ok::<_, Failure>(HasIndex::<T::Database>(has_index, PhantomData))
        };
        context.state_cache(has_index).await.is_ok_and(|has_index| has_index.0)
    }
}
