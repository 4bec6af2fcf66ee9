//! Changing packages: together as far as that goes, and each by itself where it does not.

use std::collections::HashSet;

use ccm_engine::Context;
use ccm_host::Level;
use ccm_model::{Failure, FailureKind};

use super::call::{Call, Limits, carry_out};
use super::decide::{Done, Install, Plan, lacking, plan};
use super::provider::{Packages, is_root, matters};
use super::state::{Offer, Presence, State};
use super::tool::{Target, Tool, Way, own_is_older, remember_refresh};
use super::wanted::Package;

/// A package that is to be changed, and what is known of it.
struct Member<'a> {
    package: &'a Package,
    state: State,
    /// The version that was chosen.
    version: Option<String>,
}

/// What came of finishing what an earlier change left half done; none while nothing was in the way.
type Mended = Option<Result<(), Failure>>;

impl<T: Tool> Packages<T> {
    /// Changes packages: an effect for each.
    pub(super) async fn execute_all(
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
                    Ok((state, Plan::Keep(reason) | Plan::Refresh(reason))) => {
                        warn_of(&state, context);
                        results[at] = Some(Ok(Done::Nothing { reason }));
                    }
                    Ok((
                        _,
                        Plan::Install(Install { version: Err(failure), .. }) | Plan::Fail(_, failure),
                    ))
                    | Err(failure) => results[at] = Some(Err(failure)),
                }
            }
        } else {
            let message = "only root can change packages";
            let failure = Failure::new(FailureKind::Change, message).with_hint("run ccm as root");
            results.fill(Some(Err(failure)));
        }
        let mut mended = None;
        while let Some((_, first)) = members.first() {
            let way = first.way();
            let (alike, rest): (Vec<_>, Vec<_>) =
                members.into_iter().partition(|(_, member)| member.way() == way);
            members = rest;
            let (places, alike): (Vec<usize>, Vec<Member<'_>>) = alike.into_iter().unzip();
            if let Some(way) = way {
                let done = self.change_alike(way, &alike, &mut mended, context).await;
                for ((place, member), mut done) in places.into_iter().zip(alike).zip(done) {
                    match &mut done {
                        Ok(_) => warn_of(&member.state, context),
                        // What was found when it was begun did not lack anything.
                        Err(failure) if failure.changed => {}
                        // It may be what is missing.
                        Err(failure) => failure.chain.extend(member.state.left_out),
                    }
                    results[place] = Some(done);
                }
            }
        }
        let forgotten = || Err(Failure::new(FailureKind::Internal, "internal error: nothing was executed"));
        results.into_iter().map(|result| result.unwrap_or_else(forgotten)).collect()
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
        let limits = Limits::of(changes.iter().map(|(package, _)| *package));
        let ended = carry_out(&self.0.refresh(context.host), limits, context).await;
        match ended {
            Ok(()) => {
                remember_refresh(&self.0, context);
                context.note("the index of packages was refreshed");
                let changes: Vec<(&Package, State)> = changes
                    .iter()
                    .map(|(package, state)| {
                        (
                            *package,
                            State {
                                is_stale: false,
                                offer: Offer::NotAsked,
                                left_out: Vec::new(),
                                ..(*state).clone()
                            },
                        )
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
        let answer = self.ask(&names, context).await;
        let complete = |change: &(&Package, &State)| {
            let (package, state) = *change;
            let mut state = state.clone();
            if asks(&change) {
                match &answer {
                    Ok(answer) => answer.tell(&package.name, &mut state),
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
        mended: &mut Mended,
        context: &mut Context<'_>,
    ) -> Vec<Result<Done, Failure>> {
        let before = if self.0.may_remove_more(way) { self.database(context).await.ok() } else { None };
        let mut results = self.change_together(way, members, mended, context).await;
        let is_over = context.cancellation.level() > Level::Go;
        if members.len() > 1 && !is_over {
            for (member, result) in members.iter().zip(&mut results) {
                let Err(Failure { changed, .. }) = *result else { continue };
                let member = std::slice::from_ref(member);
                let mut alone = self.change_together(way, member, mended, context).await;
                *result = alone.remove(0).map_err(|failure| {
                    // The call for all may have changed something of it.
                    Failure { changed: changed || failure.changed, ..failure }
                });
            }
        }
        if let Some(before) = before {
            self.tell_others(&before, members, context).await;
        }
        results
    }

    /// One call for all. What it was to bring about is looked at, whatever it says of itself.
    async fn change_together(
        &self,
        way: Way,
        members: &[Member<'_>],
        mended: &mut Mended,
        context: &mut Context<'_>,
    ) -> Vec<Result<Done, Failure>> {
        let targets: Vec<Target<'_>> = members.iter().map(Member::target).collect();
        let limits = Limits::of(members.iter().map(|member| member.package));
        if let Way::Install { .. } = way
            && let fetch = self.0.change(context.host, way, &targets, true)
            && let Err(failure) = self.carry_out_mended(&fetch, limits, mended, context).await
        {
            let database = self.database(context).await.ok();
            let failure = self.advised(failure, database.as_deref());
            return members.iter().map(|_| Err(failure.clone())).collect();
        }
        let call = Call { is_delicate: true, ..self.0.change(context.host, way, &targets, false) };
        let ended = self.carry_out_mended(&call, limits, mended, context).await;
        let done = |member: &Member<'_>| Ok(Done::Changed { version: member.version.clone() });
        let failure = match ended {
            // What it amounts to is verified.
            Ok(()) => return members.iter().map(done).collect(),
            Err(failure) => failure,
        };
        let database = self.database(context).await;
        let failure = self.advised(failure, database.as_deref().ok());
        let Ok(database) = database else {
            let failure = failure.with_hint(self.0.repair());
            return members.iter().map(|_| Err(failure.clone())).collect();
        };
        let judged = members.iter().map(|member| {
            let found = self.0.find(&database, &member.package.name);
            let changed = failure.changed || found != member.state.found;
            let state = State { found, ..member.state.clone() };
            match lacking(member.package, &state, member.version.as_deref()) {
                Some(_) => Err(Failure { changed, ..failure.clone() }),
                None => done(member),
            }
        });
        let judged: Vec<_> = judged.collect();
        // One that failed together with others is changed again by itself.
        if members.len() == 1 && judged.iter().any(Result::is_ok) {
            let told = [&failure.chain[..], &failure.hints].concat();
            context.warn(told.join(": "));
        }
        judged
    }

    /// Carries out a call. Where an earlier change is in its way that was ended half way, that is finished first, which
    /// is tried once.
    async fn carry_out_mended(
        &self,
        call: &Call,
        limits: Limits,
        mended: &mut Mended,
        context: &mut Context<'_>,
    ) -> Result<(), Failure> {
        let Err(failure) = carry_out(call, limits, context).await else { return Ok(()) };
        let Some(finish) = self.0.finish(&printed(&failure)) else { return Err(failure) };
        match mended {
            Some(Ok(())) => return Err(failure),
            Some(Err(failure)) => return Err(failure.clone()),
            None => {}
        }
        let ended = carry_out(&finish, limits, context).await.map_err(|failure| {
            let failure =
                failure.because_of("an earlier change of packages was interrupted, and can't be finished");
            failure.with_hint(self.0.repair())
        });
        *mended = Some(ended.clone());
        ended?;
        let title = finish.title;
        context.warn(format!("an earlier change of packages was interrupted; `{title}` has finished it"));
        carry_out(call, limits, context).await
    }

    /// Says which packages went or got another version that nobody named.
    async fn tell_others(&self, before: &T::Database, members: &[Member<'_>], context: &mut Context<'_>) {
        let Ok(after) = self.database(context).await else { return };
        let named: HashSet<&str> = members.iter().map(|member| self.0.base(&member.package.name)).collect();
        let mut others: Vec<&str> = self.0.installed(before).filter(|name| !named.contains(name)).collect();
        others.sort_unstable();
        others.dedup();
        let there: HashSet<&str> = self.0.installed(&after).collect();
        let (kept, gone): (Vec<&str>, Vec<&str>) = others.into_iter().partition(|name| there.contains(name));
        if !gone.is_empty() {
            context.warn(format!("removed as well: {}", gone.join(", ")));
        }
        let changed = kept.into_iter().filter_map(|name| {
            let [old, new] = [before, &after].map(|database| self.0.find(database, name).presence);
            match (old, new) {
                (Presence::Installed(old), Presence::Installed(new)) if old != new => {
                    Some(format!("{name} from {old} to {new}"))
                }
                _ => None,
            }
        });
        let changed: Vec<String> = changed.collect();
        if !changed.is_empty() {
            context.note(format!("changed as well: {}", changed.join(", ")));
        }
    }

    fn advised(&self, mut failure: Failure, database: Option<&T::Database>) -> Failure {
        failure.hints.extend(self.0.advice(&printed(&failure), database));
        // What was to be done by hand may have been tried.
        failure.hints.dedup();
        failure
    }
}

/// Warns of what the index did not know.
fn warn_of(state: &State, context: &mut Context<'_>) {
    for sentence in &state.left_out {
        context.warn(sentence.clone());
    }
}

/// What the end of a call's output says.
fn printed(failure: &Failure) -> String {
    let lines = failure.output.iter().flat_map(|tail| &tail.lines);
    lines.map(String::as_str).collect::<Vec<_>>().join("\n")
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
pub(super) fn way(package: &Package, plan: &Plan) -> Option<Way> {
    let recommends = package.recommends;
    match plan {
        Plan::Install(install) => Some(Way::Install { recommends, is_downgrade: install.is_downgrade }),
        // What comes of it is an upgrade.
        Plan::Refresh(_) => Some(Way::Install { recommends, is_downgrade: false }),
        Plan::Remove(_) => Some(Way::Remove { purge: package.purge }),
        Plan::Keep(_) | Plan::Fail(..) => None,
    }
}
