//! What both providers do alike: many packages are read from one database and asked of the index at once, and changed
//! by one call, with an outcome for each.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use ccm_engine::{Context, Provider, Reading, Suitability};
use ccm_host::{Host, Level, Local};
use ccm_model::Failure;

use super::call::carry_out;
use super::decide::{Done, Install, PackageKind, Plan, lacking, plan};
use super::state::{Found, Offer, State};
use super::tool::{Reach, Target, Tool, Way, is_older, own_is_older, remember_refresh};
use super::wanted::{Ensure, Package};

/// How many packages are read or changed at once.
const AT_ONCE: usize = 256;

/// A provider that works with a tool.
pub(crate) struct Packages<T>(pub T);

/// What the index was asked for, which holds as long as the database does.
struct Offers(RefCell<HashMap<String, Offer>>);

/// A package that is to be changed, and what is known of it.
struct Member<'a> {
    package: &'a Package,
    state: State,
    /// The version that was chosen.
    version: Option<String>,
}

impl<T: Tool> Provider<PackageKind> for Packages<T> {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn suitability(&self, host: Host<'_>) -> Suitability {
        self.0.suitability(host)
    }

    fn status<'a>(
        &'a self,
        package: &'a Package,
        reading: Reading<'a, Done>,
        context: &'a mut Context<'_>,
    ) -> Local<'a, Result<State, Failure>> {
        Box::pin(async move {
            let found = self.0.find(&*self.database(context).await?, &package.name);
            let mut state = self.state(package, found, context);
            let is_latest = package.ensure == Ensure::Latest && state.installed().is_some();
            if is_latest && !state.is_stale && matches!(reading, Reading::Before { .. }) {
                state.offer = self.offers(&[&package.name], context).await?.remove(0);
            }
            Ok(state)
        })
    }

    fn reads_at_once(&self) -> usize {
        AT_ONCE
    }

    fn status_many<'a>(
        &'a self,
        packages: &'a [&'a Package],
        context: &'a mut Context<'_>,
    ) -> Local<'a, Vec<Result<State, Failure>>> {
        Box::pin(async move {
            let failed = |failure: Failure| packages.iter().map(|_| Err(failure.clone())).collect();
            let database = match self.database(context).await {
                Ok(database) => database,
                Err(failure) => return failed(failure),
            };
            let mut states: Vec<State> = Vec::with_capacity(packages.len());
            for package in packages {
                states.push(self.state(package, self.0.find(&database, &package.name), context));
            }
            let asks =
                |(package, state): &(&&Package, &mut State)| matters(package, state) && !state.is_stale;
            let due: Vec<_> = packages.iter().zip(&mut states).filter(asks).collect();
            let names: Vec<&str> = due.iter().map(|(package, _)| &*package.name).collect();
            match self.offers(&names, context).await {
                Ok(offers) => {
                    for ((_, state), offer) in due.into_iter().zip(offers) {
                        state.offer = offer;
                    }
                    states.into_iter().map(Ok).collect()
                }
                // Only what can't be decided without the index fails for it.
                Err(failure) => {
                    let needs = |(package, state): &(&&Package, &State)| {
                        package.ensure == Ensure::Latest && state.installed().is_some() && !state.is_stale
                    };
                    let judged = packages.iter().zip(&states).map(|pair| needs(&pair)).collect::<Vec<_>>();
                    let judged = states.into_iter().zip(judged);
                    judged
                        .map(|(state, needs)| if needs { Err(failure.clone()) } else { Ok(state) })
                        .collect()
                }
            }
        })
    }

    fn changes_at_once(&self) -> usize {
        AT_ONCE
    }

    fn goes_with(&self, one: (&Package, &State), other: (&Package, &State)) -> bool {
        way(one.0, &plan(one.0, one.1)) == way(other.0, &plan(other.0, other.1))
    }

    fn execute<'a>(
        &'a self,
        package: &'a Package,
        state: &'a State,
        context: &'a mut Context<'_>,
    ) -> Local<'a, Result<Done, Failure>> {
        Box::pin(async move {
            let mut done = self.execute_all(&[(package, state)], context).await;
            done.pop().unwrap_or_else(|| Err(Failure::new("internal error: nothing was executed")))
        })
    }

    fn execute_many<'a>(
        &'a self,
        changes: &'a [(&'a Package, &'a State)],
        context: &'a mut Context<'_>,
    ) -> Local<'a, Vec<Result<Done, Failure>>> {
        Box::pin(self.execute_all(changes, context))
    }

    fn foresee<'a>(
        &'a self,
        package: &'a Package,
        state: &'a State,
        context: &'a mut Context<'_>,
    ) -> Local<'a, Vec<String>> {
        Box::pin(async move {
            let mut foreseen = Vec::new();
            if !is_root(context.host) {
                foreseen.push("only root can change packages".to_owned());
            }
            let mut state = state.clone();
            if state.offer == Offer::NotAsked && matters(package, &state) {
                match self.offers(&[&package.name], context).await {
                    Ok(mut offers) => state.offer = offers.remove(0),
                    Err(failure) => foreseen.push(failure.chain.join(": ")),
                }
            }
            let refreshes = package.update_cache.is_some_and(|age| own_is_older(&self.0, context, age));
            if let Plan::Install(Install { version: Err(failure), .. }) = plan(package, &state)
                && state.offer != Offer::NotAsked
            {
                let message = failure.chain.join(": ");
                let until = if refreshes { ", which would be refreshed first" } else { "" };
                foreseen.push(format!("as things are now: {message}{until}"));
            }
            foreseen
        })
    }
}

impl<T: Tool> Packages<T> {
    /// What is on the machine, read once until something changes.
    async fn database(&self, context: &Context<'_>) -> Result<Rc<T::Database>, Failure> {
        let reach = Reach::of(context);
        context.shared(async || self.0.read(reach).await).await
    }

    fn state(&self, package: &Package, found: Found, context: &Context<'_>) -> State {
        let state = State { found, scheme: self.0.scheme(), offer: Offer::NotAsked, is_stale: false };
        // Its age matters only where something is looked up in it.
        let age = package.update_cache.filter(|_| matters(package, &state));
        let is_stale = age.is_some_and(|age| is_older(&self.0, context, age));
        State { is_stale, ..state }
    }

    /// What the index has of packages, in their order. What was asked once is not asked again until something
    /// changes.
    async fn offers(&self, names: &[&str], context: &Context<'_>) -> Result<Vec<Offer>, Failure> {
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let database = self.database(context).await?;
        let reach = Reach::of(context);
        let known: Rc<Offers> = context
            .shared(async || {
                let as_well = self.0.asked_as_well(&database);
                let all: Vec<&str> =
                    names.iter().copied().chain(as_well.iter().map(String::as_str)).collect();
                let offers = self.0.offers(reach, &database, &all).await?;
                Ok::<_, Failure>(Offers(RefCell::new(offers)))
            })
            .await?;
        let missing: Vec<&str> =
            names.iter().copied().filter(|name| !known.0.borrow().contains_key(*name)).collect();
        if !missing.is_empty() {
            let more = self.0.offers(reach, &database, &missing).await?;
            known.0.borrow_mut().extend(more);
        }
        let known = known.0.borrow();
        Ok(names.iter().map(|name| known.get(*name).cloned().unwrap_or(Offer::Unknown)).collect())
    }

    /// Changes packages: an effect for each.
    async fn execute_all(
        &self,
        changes: &[(&Package, &State)],
        context: &mut Context<'_>,
    ) -> Vec<Result<Done, Failure>> {
        let mut results: Vec<Option<Result<Done, Failure>>> = changes.iter().map(|_| None).collect();
        let mut members: Vec<(usize, Member<'_>)> = Vec::new();
        if is_root(context.host) {
            let planned = self.planned(changes, context).await;
            for (at, ((package, _), planned)) in changes.iter().zip(planned).enumerate() {
                match planned {
                    Ok((state, Plan::Install(Install { version: Ok(version), .. }))) => {
                        members.push((at, Member { package, state, version }));
                    }
                    Ok((state, Plan::Remove(_))) => {
                        members.push((at, Member { package, state, version: None }));
                    }
                    Ok((
                        _,
                        Plan::Install(Install { version: Err(failure), .. }) | Plan::Fail(_, failure),
                    )) => {
                        results[at] = Some(Err(failure));
                    }
                    Ok((_, Plan::Keep(reason) | Plan::Refresh(reason))) => {
                        results[at] = Some(Ok(Done::Nothing { reason }));
                    }
                    Err(failure) => results[at] = Some(Err(failure)),
                }
            }
        } else {
            let failure = Failure::new("only root can change packages").with_hint("run ccm as root");
            results.fill(Some(Err(failure)));
        }
        while let Some((_, first)) = members.first() {
            let way = first.way();
            let (alike, rest): (Vec<_>, Vec<_>) =
                members.into_iter().partition(|(_, member)| member.way() == way);
            members = rest;
            let (places, alike): (Vec<usize>, Vec<Member<'_>>) = alike.into_iter().unzip();
            if let Some(way) = way {
                let done = self.change_alike(way, &alike, context).await;
                for (place, done) in places.into_iter().zip(done) {
                    results[place] = Some(done);
                }
            }
        }
        let nothing = || Ok(Done::Nothing { reason: "there is nothing to do".to_owned() });
        results.into_iter().map(|result| result.unwrap_or_else(nothing)).collect()
    }

    /// Decides on each change again with all that the index has, which is refreshed first where that is asked for.
    async fn planned(
        &self,
        changes: &[(&Package, &State)],
        context: &mut Context<'_>,
    ) -> Vec<Result<(State, Plan), Failure>> {
        let mut planned = self.planned_now(changes, context).await;
        let refreshes = |(package, planned): &(&Package, &Result<(State, Plan), Failure>)| {
            let Some(age) = package.update_cache else { return false };
            match planned {
                Ok((state, _)) if state.is_stale => true,
                // An index that was emptied is not old, and knows nothing.
                Ok((_, Plan::Install(Install { version: Err(_), .. }))) => {
                    own_is_older(&self.0, context, age)
                }
                _ => false,
            }
        };
        let asks: Vec<bool> = changes
            .iter()
            .zip(&planned)
            .map(|((package, _), planned)| refreshes(&(package, planned)))
            .collect();
        if !asks.contains(&true) {
            return planned;
        }
        let lock_timeout = changes.iter().map(|(package, _)| package.lock_timeout).max().unwrap_or_default();
        let ended = carry_out(&self.0.refresh(context.host), lock_timeout, context).await;
        match ended {
            Ok(()) => {
                remember_refresh(&self.0, context);
                context.note("the index of packages was refreshed");
                let changes: Vec<(&Package, State)> = changes
                    .iter()
                    .map(|(package, state)| {
                        (*package, State { is_stale: false, offer: Offer::NotAsked, ..(*state).clone() })
                    })
                    .collect();
                let changes: Vec<(&Package, &State)> =
                    changes.iter().map(|(package, state)| (*package, state)).collect();
                self.planned_now(&changes, context).await
            }
            Err(failure) => {
                let failure =
                    self.advised(failure, None).because_of("the index of packages can't be refreshed");
                for (planned, asks) in planned.iter_mut().zip(asks) {
                    if asks {
                        *planned = Err(failure.clone());
                    }
                }
                planned
            }
        }
    }

    async fn planned_now(
        &self,
        changes: &[(&Package, &State)],
        context: &Context<'_>,
    ) -> Vec<Result<(State, Plan), Failure>> {
        let asks = |(package, state): &&(&Package, &State)| {
            state.offer == Offer::NotAsked && !state.is_stale && matters(package, state)
        };
        let names: Vec<&str> = changes.iter().filter(asks).map(|(package, _)| &*package.name).collect();
        let offers = self.offers(&names, context).await;
        let mut offers = offers.map(Vec::into_iter);
        let complete = |change: &(&Package, &State)| {
            let (package, state) = *change;
            let mut state = state.clone();
            if asks(&change) {
                match &mut offers {
                    Ok(offers) => state.offer = offers.next().unwrap_or_default(),
                    Err(failure) => return Err(failure.clone()),
                }
            }
            let plan = plan(package, &state);
            Ok((state, plan))
        };
        changes.iter().map(complete).collect()
    }

    /// Changes packages by one call if that can be. If not, each is changed by itself, so that none fails for
    /// another.
    async fn change_alike(
        &self,
        way: Way,
        members: &[Member<'_>],
        context: &mut Context<'_>,
    ) -> Vec<Result<Done, Failure>> {
        let before = if self.0.may_remove_more(way) { self.database(context).await.ok() } else { None };
        let mut results = self.change_together(way, members, context).await;
        let is_over = context.cancellation.level() > Level::Go;
        if members.len() > 1 && !is_over {
            for (member, result) in members.iter().zip(&mut results) {
                let Err(Failure { changed, .. }) = *result else { continue };
                let mut alone = self.change_together(way, std::slice::from_ref(member), context).await;
                *result = alone.remove(0).map_err(|failure| {
                    // The call for all may have changed something of it.
                    Failure { changed: changed || failure.changed, ..failure }
                });
            }
        }
        if let Some(before) = before {
            self.tell_removed(&before, members, context).await;
        }
        results
    }

    /// One call for all. What it was to bring about is looked at, whatever it says of itself.
    async fn change_together(
        &self,
        way: Way,
        members: &[Member<'_>],
        context: &mut Context<'_>,
    ) -> Vec<Result<Done, Failure>> {
        let targets: Vec<Target<'_>> = members.iter().map(Member::target).collect();
        let lock_timeout = members.iter().map(|member| member.package.lock_timeout).max().unwrap_or_default();
        if let Some(call) = self.0.prepare(context.host, way, &targets)
            && let Err(failure) = carry_out(&call, lock_timeout, context).await
        {
            let database = self.database(context).await.ok();
            let failure = self.advised(failure, database.as_deref());
            return members.iter().map(|_| Err(failure.clone())).collect();
        }
        let ended = carry_out(&self.0.change(context.host, way, &targets), lock_timeout, context).await;
        let done = |member: &Member<'_>| Ok(Done::Changed { version: member.version.clone() });
        let failure = match ended {
            // What it amounts to is verified.
            Ok(()) => return members.iter().map(done).collect(),
            Err(failure) => failure,
        };
        let database = self.database(context).await;
        let mut failure = self.advised(failure, database.as_deref().ok());
        failure.changed = true;
        let Ok(database) = database else {
            let failure = failure.with_hint(self.0.repair());
            return members.iter().map(|_| Err(failure.clone())).collect();
        };
        let judged = members.iter().map(|member| {
            let found = self.0.find(&database, &member.package.name);
            let state = State { found, ..member.state.clone() };
            match lacking(member.package, &state, member.version.as_deref()) {
                Some(_) => Err(failure.clone()),
                None => done(member),
            }
        });
        let judged: Vec<_> = judged.collect();
        // One that failed together with others is changed again by itself.
        if members.len() == 1 && judged.iter().any(Result::is_ok) {
            context.warn(failure.chain.join(": "));
        }
        judged
    }

    /// Says which packages went that nobody named.
    async fn tell_removed(&self, before: &T::Database, members: &[Member<'_>], context: &mut Context<'_>) {
        let Ok(after) = self.database(context).await else { return };
        let after: HashSet<&str> = self.0.installed(&after).collect();
        let named: HashSet<&str> = members.iter().map(|member| self.0.base(&member.package.name)).collect();
        let mut gone: Vec<&str> =
            self.0.installed(before).filter(|name| !after.contains(name) && !named.contains(name)).collect();
        gone.sort_unstable();
        gone.dedup();
        if !gone.is_empty() {
            context.warn(format!("removed as well: {}", gone.join(", ")));
        }
    }

    fn advised(&self, mut failure: Failure, database: Option<&T::Database>) -> Failure {
        let lines = failure.output.iter().flat_map(|tail| &tail.lines);
        let printed = lines.map(String::as_str).collect::<Vec<_>>().join("\n");
        failure.hints.extend(self.0.advice(&printed, database));
        failure
    }
}

impl Member<'_> {
    fn target(&self) -> Target<'_> {
        Target { name: &self.package.name, version: self.version.as_deref() }
    }

    fn way(&self) -> Option<Way> {
        way(self.package, &plan(self.package, &self.state))
    }
}

/// How a plan is carried out, if that changes something.
fn way(package: &Package, plan: &Plan) -> Option<Way> {
    let recommends = package.recommends;
    match plan {
        Plan::Install(install) => Some(Way::Install { recommends, is_downgrade: install.is_downgrade }),
        // What comes of it is an upgrade.
        Plan::Refresh(_) => Some(Way::Install { recommends, is_downgrade: false }),
        Plan::Remove(_) => Some(Way::Remove { purge: package.purge }),
        Plan::Keep(_) | Plan::Fail(..) => None,
    }
}

/// Tells whether the index has a say in what becomes of a package.
fn matters(package: &Package, state: &State) -> bool {
    match (&package.ensure, state.installed()) {
        (Ensure::Absent, _) | (Ensure::Present, Some(_)) => false,
        (Ensure::Present | Ensure::Latest | Ensure::Version(_), None) | (Ensure::Latest, _) => true,
        (Ensure::Version(wanted), Some(installed)) => !state.scheme.is_meant(wanted, installed),
    }
}

fn is_root(host: Host<'_>) -> bool {
    host.runner.own_identity().is_ok_and(|identity| identity.uid == 0)
}
