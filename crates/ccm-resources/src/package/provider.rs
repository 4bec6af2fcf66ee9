//! What both providers do alike: many packages are read from one database and asked of the index at once, and changed
//! by one call, with an outcome for each.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::marker::PhantomData;
use std::rc::Rc;

use ccm_engine::{Context, Provider, Reading, Suitability};
use ccm_host::{Host, Local};
use ccm_model::{Failure, FailureKind};

use super::change::way;
use super::decide::{Done, Install, PackageKind, Plan, plan};
use super::state::{Offer, State};
use super::tool::{Answer, Reach, Tool, is_older, own_is_older};
use super::wanted::{Ensure, Package};

/// How many packages are read or changed at once.
const AT_ONCE: usize = 256;

/// A provider that works with a tool.
pub(crate) struct Packages<T>(pub T);

/// What the index answered, which holds as long as the database does. Each tool has its own.
struct Answered<D>(RefCell<Answer>, PhantomData<D>);

/// Whatever a tool was asked for in the run. What was of interest once is so again when something has changed, and to ask for
/// all costs hardly more than to ask for one.
struct Asked<D>(RefCell<BTreeSet<String>>, PhantomData<D>);

/// Whether the index holds anything, which holds as long as the database does.
struct HasIndex<D>(bool, PhantomData<D>);

/// What was read so far in the run, by names without architectures.
struct Claims<D>(RefCell<HashMap<String, Vec<Package>>>, PhantomData<D>);

impl<D> Default for Claims<D> {
    fn default() -> Self {
        Self(RefCell::default(), PhantomData)
    }
}

impl<D> Default for Asked<D> {
    fn default() -> Self {
        Self(RefCell::default(), PhantomData)
    }
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
            let database = self.database(context).await?;
            let is_before = matches!(reading, Reading::Before { .. });
            let twin = if is_before { self.claim(package, &database, context)? } else { None };
            let mut state = State { twin, ..self.state(package, &database, context).await };
            let is_latest = package.ensure == Ensure::Latest && state.installed().is_some();
            if is_latest && !state.is_stale && is_before {
                self.ask(&[&package.name], context).await?.tell(&package.name, &mut state);
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
            let mut states: Vec<Result<State, Failure>> = Vec::with_capacity(packages.len());
            for package in packages {
                states.push(match self.claim(package, &database, context) {
                    Ok(twin) => Ok(State { twin, ..self.state(package, &database, context).await }),
                    Err(failure) => Err(failure),
                });
            }
            let read = packages.iter().zip(&mut states);
            let read = read.filter_map(|(package, state)| Some((*package, state.as_mut().ok()?)));
            let asks = |(package, state): &(&Package, &mut State)| matters(package, state) && !state.is_stale;
            let due: Vec<_> = read.filter(asks).collect();
            let names: Vec<&str> = due.iter().map(|(package, _)| &*package.name).collect();
            match self.ask(&names, context).await {
                Ok(answer) => {
                    for (package, state) in due {
                        answer.tell(&package.name, state);
                    }
                    states
                }
                // Only what can't be decided without the index fails for it.
                Err(failure) => {
                    let needs = |package: &Package, state: &State| {
                        package.ensure == Ensure::Latest && state.installed().is_some() && !state.is_stale
                    };
                    let judge = |(package, state): (&&Package, Result<State, Failure>)| match state {
                        Ok(state) if needs(package, &state) => Err(failure.clone()),
                        state => state,
                    };
                    packages.iter().zip(states).map(judge).collect()
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
            done.pop().unwrap_or_else(|| {
                Err(Failure::new(FailureKind::Internal, "internal error: nothing was executed"))
            })
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
    ) -> Local<'a, Result<Vec<String>, Failure>> {
        Box::pin(async move {
            let mut foreseen = Vec::new();
            if !is_root(context.host) {
                foreseen.push("only root can change packages".to_owned());
            }
            if self.0.is_interrupted(context.host) {
                foreseen
                    .push(format!("a change of packages goes on, or was interrupted: {}", self.0.repair()));
            }
            let mut state = state.clone();
            if state.offer == Offer::NotAsked && matters(package, &state) {
                match self.ask(&[&package.name], context).await {
                    Ok(answer) => answer.tell(&package.name, &mut state),
                    Err(failure) => foreseen.push(failure.one_line()),
                }
            }
            let is_due = |age| state.is_stale || own_is_older(&self.0, context, age);
            let refreshes = package.update_cache.is_some_and(is_due);
            match plan(package, &state) {
                Plan::Install(Install { version: Err(failure), .. }) if state.offer != Offer::NotAsked => {
                    let message = failure.one_line();
                    foreseen.push(if refreshes {
                        format!("as things are now: {message}, which would be refreshed first")
                    } else {
                        format!("as things are now it would fail: {message}")
                    });
                }
                _ => foreseen.extend(state.left_out),
            }
            Ok(foreseen)
        })
    }
}

impl<T: Tool> Packages<T> {
    /// What is on the machine, read once until something changes.
    pub(super) async fn database(&self, context: &Context<'_>) -> Result<Rc<T::Database>, Failure> {
        let reach = Reach::of(context);
        context.shared(async || self.0.read(reach).await).await
    }

    /// Remembers what a package is to be. If an earlier resource manages the same one by another name, its name is
    /// returned, unless the two undo each other.
    fn claim(
        &self,
        package: &Package,
        database: &T::Database,
        context: &Context<'_>,
    ) -> Result<Option<String>, Failure> {
        let claims: Rc<Claims<T::Database>> = context.kept();
        let mut claims = claims.0.borrow_mut();
        let claims = claims.entry(self.0.base(&package.name).to_owned()).or_default();
        let earlier = claims.iter().take_while(|earlier| earlier.name != package.name);
        let mut twins = earlier.filter(|earlier| self.0.are_same(database, earlier, package));
        let is_undone = |twin: &&Package| twin.ensure.excludes(&package.ensure, self.0.scheme());
        if let Some(undone) = twins.clone().find(is_undone) {
            let (own, other) = (&package.name, &undone.name);
            let message = format!(
                "package#{own} and package#{other} are one package on this machine, and undo each other"
            );
            let hint = "keep one of them, or let `control` say on which machines each is managed";
            return Err(Failure::new(FailureKind::Conflict, message).with_hint(hint));
        }
        let twin = twins.next().map(|twin| twin.name.clone());
        if !claims.iter().any(|claim| claim.name == package.name) {
            claims.push(package.clone());
        }
        Ok(twin)
    }

    async fn state(&self, package: &Package, database: &T::Database, context: &Context<'_>) -> State {
        let found = self.0.find(database, &package.name);
        let offer = Offer::NotAsked;
        let state = State {
            found,
            scheme: self.0.scheme(),
            offer,
            twin: None,
            left_out: Vec::new(),
            is_stale: false,
        };
        // Its age matters only where something is looked up in it.
        let age = package.update_cache.filter(|_| matters(package, &state));
        let is_stale = match age {
            Some(age) => is_older(&self.0, context, age) || !self.has_index(context).await,
            None => false,
        };
        State { is_stale, ..state }
    }

    /// Tells whether the index holds anything, as far as can be told: why not is said where it is looked into.
    async fn has_index(&self, context: &Context<'_>) -> bool {
        let reach = Reach::of(context);
        let has_index = async || {
            let has_index = self.0.has_index(reach).await.unwrap_or(true);
            Ok::<_, Failure>(HasIndex::<T::Database>(has_index, PhantomData))
        };
        context.shared(has_index).await.is_ok_and(|has_index| has_index.0)
    }

    /// Asks the index for packages. What was asked once is not asked again until something changes.
    pub(super) async fn ask(&self, names: &[&str], context: &Context<'_>) -> Result<Told<T>, Failure> {
        if names.is_empty() {
            return Ok(Told(Rc::new(Answered::of(Answer::default()))));
        }
        let database = self.database(context).await?;
        let reach = Reach::of(context);
        let asked: Rc<Asked<T::Database>> = context.kept();
        asked.0.borrow_mut().extend(names.iter().map(|name| (*name).to_owned()));
        let known: Rc<Answered<T::Database>> = context
            .shared(async || {
                let mut all = asked.0.borrow().clone();
                all.extend(self.0.asked_as_well(&database));
                let all: Vec<&str> = all.iter().map(String::as_str).collect();
                Ok::<_, Failure>(Answered::of(self.0.offers(reach, &database, &all).await?))
            })
            .await?;
        let missing: Vec<&str> =
            names.iter().copied().filter(|name| !known.0.borrow().offers.contains_key(*name)).collect();
        if !missing.is_empty() {
            let more = self.0.offers(reach, &database, &missing).await?;
            known.0.borrow_mut().add(more);
        }
        Ok(Told(known))
    }
}

impl<D> Answered<D> {
    fn of(answer: Answer) -> Self {
        Self(RefCell::new(answer), PhantomData)
    }
}

/// What the index answered.
pub(super) struct Told<T: Tool>(Rc<Answered<T::Database>>);

impl<T: Tool> Told<T> {
    /// Adds to a state what the index has of that name.
    pub(super) fn tell(&self, name: &str, state: &mut State) {
        let answer = self.0.0.borrow();
        state.offer = answer.offers.get(name).cloned().unwrap_or(Offer::Unknown);
        state.left_out.clone_from(&answer.left_out);
    }
}

/// Tells whether the index has a say in what becomes of a package.
pub(super) fn matters(package: &Package, state: &State) -> bool {
    match (&package.ensure, state.installed()) {
        (Ensure::Absent, _) | (Ensure::Present, Some(_)) => false,
        (Ensure::Present | Ensure::Latest | Ensure::Version(_), None) | (Ensure::Latest, _) => true,
        (Ensure::Version(wanted), Some(installed)) => !state.scheme.is_meant(wanted, installed),
    }
}

pub(super) fn is_root(host: Host<'_>) -> bool {
    host.system.own_identity().is_ok_and(|identity| identity.uid == 0)
}
