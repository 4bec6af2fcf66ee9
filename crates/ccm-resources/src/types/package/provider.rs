//! The provider of package, shared by all tools.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::marker::PhantomData;
use std::rc::Rc;

use ccm_engine::{Context, Provider, ReadPurpose, Suitability};
use ccm_host::Host;
use ccm_model::{ClaimKind, Failure, FailureKind, MissingPrerequisite};

use super::change::change_kind;
use super::decide::{Install, PackageEffect, PackageKind, PackagePlan, plan};
use super::state::PackageState;
use crate::parts::packages::{
    Availability, IndexResponse, Package, PackageEnsure, Presence, Tool, check_database, own_refresh_is_older,
};
use crate::support::program::ProgramScope;

const MAX_BATCH: usize = 256;

pub(crate) struct Packages<T>(pub T);

/// Response of the index, kept as long as the database. The type parameter gives each tool its own cache.
struct ResponseCache<D>(RefCell<IndexResponse>, PhantomData<D>);

/// Names queried so far in the run. After a change, one call for all costs hardly more than one name.
struct QueriedNames<D>(RefCell<BTreeSet<String>>, PhantomData<D>);

/// Packages requested so far in the run, by name without architecture.
struct ClaimedPackages<D>(RefCell<HashMap<String, Vec<Package>>>, PhantomData<D>);

impl<D> Default for ClaimedPackages<D> {
    fn default() -> Self {
        Self(RefCell::default(), PhantomData)
    }
}

impl<D> Default for QueriedNames<D> {
    fn default() -> Self {
        Self(RefCell::default(), PhantomData)
    }
}

impl<T: Tool> Provider<PackageKind> for Packages<T> {
    fn suitability(&self, host: Host<'_>) -> Suitability {
        self.0.suitability(host)
    }

    async fn status(
        &self,
        package: &Package,
        purpose: ReadPurpose<'_, PackageEffect>,
        context: &mut Context<'_>,
    ) -> Result<PackageState, Failure> {
        let database = self.database(context).await?;
        let is_before = matches!(purpose, ReadPurpose::Before { .. });
        let duplicate = if is_before { self.claim(package, &database, context)? } else { None };
        let mut state = PackageState { duplicate, ..self.found(package, &database) };
        if is_before {
            self.judge_index(package, &mut state, context).await;
            self.find_providers(&mut [(package, &mut state)], &database, context).await?;
        }
        let is_latest = package.ensure == PackageEnsure::Latest && state.installed().is_some();
        if is_latest && !state.is_stale && is_before {
            self.query(&[&package.name], context).await?.apply_to(&package.name, &mut state);
        }
        // A name that only other packages have is decided by the index, and otherwise told.
        if is_before
            && is_name_relevant(package, &state)
            && let Ok(response) = self.query(&[&package.name], context).await
        {
            response.apply_to(&package.name, &mut state);
        }
        if is_before { self.checked(package, state, context) } else { Ok(state) }
    }

    fn read_batch_size(&self) -> usize {
        MAX_BATCH
    }

    async fn status_many(
        &self,
        packages: &[&Package],
        context: &mut Context<'_>,
    ) -> Vec<Result<PackageState, Failure>> {
        let failed = |failure: Failure| packages.iter().map(|_| Err(failure.clone())).collect();
        let database = match self.database(context).await {
            Ok(database) => database,
            Err(failure) => return failed(failure),
        };
        let mut states: Vec<Result<PackageState, Failure>> = Vec::with_capacity(packages.len());
        for package in packages {
            states.push(match self.claim(package, &database, context) {
                Ok(duplicate) => {
                    let mut state = PackageState { duplicate, ..self.found(package, &database) };
                    self.judge_index(package, &mut state, context).await;
                    Ok(state)
                }
                Err(failure) => Err(failure),
            });
        }
        let read = packages.iter().zip(&mut states);
        let mut read: Vec<(&Package, &mut PackageState)> =
            read.filter_map(|(package, state)| Some((*package, state.as_mut().ok()?))).collect();
        if let Err(failure) = self.find_providers(&mut read, &database, context).await {
            return failed(failure);
        }
        let needs_query = |(package, state): &(&Package, &mut PackageState)| {
            is_index_relevant(package, state) && !state.is_stale || is_name_relevant(package, state)
        };
        let due: Vec<_> = read.into_iter().filter(needs_query).collect();
        let names: Vec<&str> = due.iter().map(|(package, _)| &*package.name).collect();
        let states = match self.query(&names, context).await {
            Ok(response) => {
                for (package, state) in due {
                    response.apply_to(&package.name, state);
                }
                states
            }
            // Only packages that can't be decided without the index fail.
            Err(failure) => {
                let needs_index = |package: &Package, state: &PackageState| {
                    package.ensure == PackageEnsure::Latest && state.installed().is_some() && !state.is_stale
                };
                let fail_if_needed =
                    |(package, state): (&&Package, Result<PackageState, Failure>)| match state {
                        Ok(state) if needs_index(package, &state) => Err(failure.clone()),
                        state => state,
                    };
                packages.iter().zip(states).map(fail_if_needed).collect()
            }
        };
        let checked = |(package, state): (&&Package, Result<PackageState, Failure>)| {
            state.and_then(|state| self.checked(package, state, context))
        };
        packages.iter().zip(states).map(checked).collect()
    }

    fn change_batch_size(&self, _: (&Package, &PackageState)) -> usize {
        MAX_BATCH
    }

    fn can_batch_with(&self, one: (&Package, &PackageState), other: (&Package, &PackageState)) -> bool {
        change_kind(one.0, &plan(one.0, one.1)) == change_kind(other.0, &plan(other.0, other.1))
    }

    async fn execute(
        &self,
        package: &Package,
        state: &PackageState,
        context: &mut Context<'_>,
    ) -> Result<PackageEffect, Failure> {
        let mut done = self.execute_all(&[(package, state)], context).await;
        done.pop().unwrap_or_else(|| {
            Err(Failure::new(FailureKind::Internal, "internal error: nothing was executed"))
        })
    }

    async fn execute_many(
        &self,
        changes: &[(&Package, &PackageState)],
        context: &mut Context<'_>,
    ) -> Vec<Result<PackageEffect, Failure>> {
        self.execute_all(changes, context).await
    }

    async fn preflight(
        &self,
        package: &Package,
        state: &PackageState,
        context: &mut Context<'_>,
    ) -> Result<Vec<String>, Failure> {
        let mut warnings = Vec::new();
        if !is_root(context.host) {
            warnings.push("only root can change packages".to_owned());
        }
        if self.0.is_interrupted(context.host) {
            warnings.push(format!("a package change is running or was interrupted: {}", self.0.repair()));
        }
        let mut state = state.clone();
        if state.availability == Availability::NotQueried && is_index_relevant(package, &state) {
            match self.query(&[&package.name], context).await {
                Ok(response) => response.apply_to(&package.name, &mut state),
                Err(failure) => warnings.push(failure.one_line()),
            }
        }
        let is_due = |age| own_refresh_is_older(T::NAME, context, age);
        let refreshes = state.is_stale || package.max_index_age().is_some_and(is_due);
        match plan(package, &state) {
            PackagePlan::Install(Install { version: Err(failure), .. })
                if state.availability != Availability::NotQueried =>
            {
                if !refreshes {
                    // An earlier resource may add the repository with the package.
                    return Err(failure.with_missing(MissingPrerequisite::Package(package.name.clone())));
                }
                warnings.push(format!("{}; the index would be refreshed first", failure.one_line()));
            }
            _ => warnings.extend(state.skipped_repositories),
        }
        Ok(warnings)
    }
}

impl<T: Tool> Packages<T> {
    /// Returns a state, or the failure of its change if the database can't be written.
    fn checked(
        &self,
        package: &Package,
        state: PackageState,
        context: &Context<'_>,
    ) -> Result<PackageState, Failure> {
        match plan(package, &state) {
            PackagePlan::Install(_) | PackagePlan::Remove(_) => {
                check_database(&self.0, context).map(|()| state)
            }
            PackagePlan::Keep(_) | PackagePlan::Fail(..) | PackagePlan::Refresh(_) => Ok(state),
        }
    }

    /// Returns the packages of the machine, read once until something changes.
    pub(super) async fn database(&self, context: &Context<'_>) -> Result<Rc<T::Database>, Failure> {
        let scope = ProgramScope::from(context);
        context.state_cache(async || self.0.read(scope).await).await
    }

    /// Records the desired package and returns an earlier resource of the same package under another name, or
    /// fails if the two contradict each other.
    fn claim(
        &self,
        package: &Package,
        database: &T::Database,
        context: &Context<'_>,
    ) -> Result<Option<String>, Failure> {
        let claims: Rc<ClaimedPackages<T::Database>> = context.run_cache();
        let mut claims = claims.0.borrow_mut();
        let claims = claims.entry(self.0.base(&package.name).to_owned()).or_default();
        let earlier = claims.iter().take_while(|earlier| earlier.name != package.name);
        let mut duplicates = earlier.filter(|earlier| self.0.are_same(database, earlier, package));
        let contradicts = |duplicate: &&Package| duplicate.ensure.excludes(&package.ensure, self.0.scheme());
        if let Some(contradicting) = duplicates.clone().find(contradicts) {
            let (own, other) = (&package.name, &contradicting.name);
            let message = format!(
                "package#{own} and package#{other} are the same package on this machine and contradict each other"
            );
            let hint = "keep one of them, or limit each to some machines with `control`";
            return Err(Failure::conflict(message).with_hint(hint));
        }
        let duplicate = duplicates.next().map(|duplicate| duplicate.name.clone());
        if !claims.iter().any(|claim| claim.name == package.name) {
            claims.push(package.clone());
        }
        Ok(duplicate)
    }

    /// Returns the names of the packages that the manifest wants to be installed: those of this run so far, and those
    /// that other resources claim.
    pub(super) fn desired(context: &Context<'_>) -> Vec<String> {
        let claims: Rc<ClaimedPackages<T::Database>> = context.run_cache();
        let claims = claims.0.borrow();
        let wanted = claims.values().flatten().filter(|package| package.ensure != PackageEnsure::Absent);
        let others = context.claimed_keys(ClaimKind::Package).map(str::to_owned);
        let mut names: Vec<String> = wanted.map(|package| package.name.clone()).chain(others).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    fn found(&self, package: &Package, database: &T::Database) -> PackageState {
        PackageState {
            found: self.0.find(database, &package.name),
            scheme: self.0.scheme(),
            availability: Availability::NotQueried,
            providers: Vec::new(),
            are_providers_wanted: false,
            duplicate: None,
            skipped_repositories: Vec::new(),
            is_stale: false,
            is_usable: false,
            left_index: None,
        }
    }

    /// Adds the installed packages that provide the names of packages that are not installed.
    async fn find_providers(
        &self,
        read: &mut [(&Package, &mut PackageState)],
        database: &T::Database,
        context: &Context<'_>,
    ) -> Result<(), Failure> {
        let is_missing =
            |state: &PackageState| matches!(state.found.presence, Presence::Gone | Presence::ConfigFiles);
        let missing = read.iter().filter(|(_, state)| is_missing(state));
        let missing: Vec<&str> = missing.map(|(package, _)| &*package.name).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let mut providers = self.0.providers(ProgramScope::from(context), database, &missing).await?;
        if providers.is_empty() {
            return Ok(());
        }
        let wanted = Self::desired(context);
        let is_wanted = |provider: &String| wanted.iter().any(|name| self.0.base(name) == provider);
        for (package, state) in read {
            let mut by = providers.remove(&package.name).unwrap_or_default();
            by.retain(|provider| !context.is_removed(ClaimKind::Package, provider));
            state.are_providers_wanted = !by.is_empty() && by.iter().all(is_wanted);
            state.providers = by;
        }
        Ok(())
    }

    /// Queries the index; names already queried since the last change are served from the cache.
    pub(super) async fn query(
        &self,
        names: &[&str],
        context: &Context<'_>,
    ) -> Result<CachedResponse<T>, Failure> {
        if names.is_empty() {
            return Ok(CachedResponse(Rc::new(ResponseCache::of(IndexResponse::default()))));
        }
        let database = self.database(context).await?;
        let scope = ProgramScope::from(context);
        let queried: Rc<QueriedNames<T::Database>> = context.run_cache();
        queried.0.borrow_mut().extend(names.iter().map(|name| (*name).to_owned()));
        let cached: Rc<ResponseCache<T::Database>> = context
            .state_cache(async || {
                let mut all = queried.0.borrow().clone();
                all.extend(self.0.also_queried(&database));
                let all: Vec<&str> = all.iter().map(String::as_str).collect();
                Ok::<_, Failure>(ResponseCache::of(self.0.query_index(scope, &database, &all).await?))
            })
            .await?;
        let missing: Vec<&str> =
            names.iter().copied().filter(|name| !cached.0.borrow().by_name.contains_key(*name)).collect();
        if !missing.is_empty() {
            let more = self.0.query_index(scope, &database, &missing).await?;
            cached.0.borrow_mut().add(more);
        }
        Ok(CachedResponse(cached))
    }
}

impl<D> ResponseCache<D> {
    fn of(response: IndexResponse) -> Self {
        Self(RefCell::new(response), PhantomData)
    }
}

/// Response of the index, shared with the cache.
pub(super) struct CachedResponse<T: Tool>(Rc<ResponseCache<T::Database>>);

impl<T: Tool> CachedResponse<T> {
    /// Copies the availability of `name` into a state.
    pub(super) fn apply_to(&self, name: &str, state: &mut PackageState) {
        let response = self.0.0.borrow();
        state.availability = response.by_name.get(name).cloned().unwrap_or(Availability::Unknown);
        state.skipped_repositories.clone_from(&response.skipped_repositories);
    }
}

/// Returns `true` if the decision depends on the index.
pub(super) fn is_index_relevant(package: &Package, state: &PackageState) -> bool {
    match (&package.ensure, state.installed()) {
        (PackageEnsure::Absent, _) | (PackageEnsure::Present, Some(_)) => false,
        (PackageEnsure::Present | PackageEnsure::Latest | PackageEnsure::Version(_), None)
        | (PackageEnsure::Latest, _) => true,
        (PackageEnsure::Version(desired), Some(installed)) => !state.scheme.satisfies(desired, installed),
    }
}

/// Returns `true` if the decision depends on whether the name is that of a package of the index.
fn is_name_relevant(package: &Package, state: &PackageState) -> bool {
    package.ensure == PackageEnsure::Absent
        && state.found.presence == Presence::Gone
        && !state.providers.is_empty()
}

pub(super) fn is_root(host: Host<'_>) -> bool {
    host.system.own_identity().is_ok_and(|identity| identity.uid == 0)
}
