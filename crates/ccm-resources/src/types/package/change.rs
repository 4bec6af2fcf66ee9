//! Changing packages: in one call where possible, one by one where that fails.

use std::collections::HashSet;
use std::rc::Rc;

use ccm_engine::Context;
use ccm_host::CancellationLevel;
use ccm_model::{Failure, FailureKind};

use super::decide::{Install, PackageEffect, PackagePlan, mismatch, plan};
use super::index_age::FailedRefresh;
use super::provider::{Packages, is_index_relevant, is_root};
use super::state::{PackageState, shown_age};
use crate::parts::packages::{
    Availability, ChangeKind, CommandLimits, Package, PackageTarget, Presence, Tool, ToolCommand, index_age,
    own_refresh_is_older, quoted_names, remember_refresh, run_waiting_for_locks,
};

struct PendingChange<'a> {
    package: &'a Package,
    state: PackageState,
    version: Option<String>,
}

/// Result of finishing an interrupted change; `None` while no attempt was needed.
type RepairResult = Option<Result<(), Failure>>;

impl<T: Tool> Packages<T> {
    /// Changes packages and returns an effect for each.
    pub(super) async fn execute_all(
        &self,
        changes: &[(&Package, &PackageState)],
        context: &mut Context<'_>,
    ) -> Vec<Result<PackageEffect, Failure>> {
        let mut results: Vec<Option<Result<PackageEffect, Failure>>> = changes.iter().map(|_| None).collect();
        let mut members: Vec<(usize, PendingChange<'_>)> = Vec::new();
        if is_root(context.host) {
            let planned = self.plan_all(changes, context).await;
            for (at, ((package, _), planned)) in changes.iter().zip(planned).enumerate() {
                match planned {
                    Ok((state, PackagePlan::Install(Install { version: Ok(version), .. }))) => {
                        members.push((at, PendingChange { package, state, version }));
                    }
                    Ok((state, PackagePlan::Remove(_))) => {
                        members.push((at, PendingChange { package, state, version: None }));
                    }
                    Ok((state, PackagePlan::Keep(reason) | PackagePlan::Refresh(reason))) => {
                        warn_of_skipped(&state, context);
                        results[at] = Some(Ok(PackageEffect::Nothing { reason }));
                    }
                    Ok((
                        _,
                        PackagePlan::Install(Install { version: Err(failure), .. })
                        | PackagePlan::Fail(_, failure),
                    ))
                    | Err(failure) => results[at] = Some(Err(failure)),
                }
            }
        } else {
            let message = "only root can change packages";
            let failure = Failure::new(FailureKind::Change, message).with_hint("run ccm as root");
            results.fill(Some(Err(failure)));
        }
        let mut repaired = None;
        while let Some((_, first)) = members.first() {
            let kind = first.kind();
            let (alike, rest): (Vec<_>, Vec<_>) =
                members.into_iter().partition(|(_, member)| member.kind() == kind);
            members = rest;
            let (positions, alike): (Vec<usize>, Vec<PendingChange<'_>>) = alike.into_iter().unzip();
            if let Some(kind) = kind {
                let done = self.change_batch(kind, &alike, &mut repaired, context).await;
                for ((position, member), mut done) in positions.into_iter().zip(alike).zip(done) {
                    match &mut done {
                        Ok(_) => warn_of_skipped(&member.state, context),
                        // A failure after changes is not caused by an incomplete index.
                        Err(failure) if failure.changed => {}
                        // The package may be in an unreadable repository.
                        Err(failure) => failure.chain.extend(member.state.skipped_repositories),
                    }
                    results[position] = Some(done);
                }
            }
        }
        let not_executed =
            || Err(Failure::new(FailureKind::Internal, "internal error: nothing was executed"));
        results.into_iter().map(|result| result.unwrap_or_else(not_executed)).collect()
    }

    /// Plans each change from the complete index, after refreshing it where `update_cache` asks for that.
    async fn plan_all(
        &self,
        changes: &[(&Package, &PackageState)],
        context: &mut Context<'_>,
    ) -> Vec<Result<(PackageState, PackagePlan), Failure>> {
        let mut planned = self.plan_from_index(changes, context).await;
        let refreshes = |(package, planned): &(&Package, &Result<(PackageState, PackagePlan), Failure>)| {
            match planned {
                Ok((state, _)) if state.is_stale => true,
                // An emptied index counts as recent, but knows no packages.
                Ok((_, PackagePlan::Install(Install { version: Err(_), .. }))) => {
                    package.max_index_age().is_some_and(|age| own_refresh_is_older(T::NAME, context, age))
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
        let limits = CommandLimits::of(changes.iter().map(|(package, _)| *package));
        let ended = run_waiting_for_locks(&self.0.refresh(context.host), limits, context).await;
        match ended {
            Ok(()) => {
                remember_refresh(T::NAME, context);
                context.note("refreshed the package index");
                self.plan_anew(changes, context).await
            }
            Err(failure) => {
                let failure = self.with_advice(failure, None).because_of("cannot refresh the package index");
                let is_usable: Vec<bool> = changes.iter().map(|(_, state)| state.is_usable).collect();
                if is_usable.contains(&true) {
                    let age = shown_age(index_age(&self.0, context));
                    let reason = failure.chain[1..].join(": ");
                    context.warn(format!("cannot refresh the package index, which {age}: {reason}"));
                    let failed: Rc<FailedRefresh<T::Database>> = context.run_cache();
                    failed.0.set(true);
                    planned = self.plan_anew(changes, context).await;
                }
                for ((planned, asks), is_usable) in planned.iter_mut().zip(asks).zip(is_usable) {
                    if asks && !is_usable {
                        *planned = Err(failure.clone());
                    }
                }
                planned
            }
        }
    }

    /// Plans each change from the index as it is, whatever was known of it before.
    async fn plan_anew(
        &self,
        changes: &[(&Package, &PackageState)],
        context: &Context<'_>,
    ) -> Vec<Result<(PackageState, PackagePlan), Failure>> {
        let of_index = |(package, state): &(&Package, &PackageState)| PackageState {
            is_stale: false,
            availability: if is_index_relevant(package, state) {
                Availability::NotQueried
            } else {
                state.availability.clone()
            },
            skipped_repositories: Vec::new(),
            ..(*state).clone()
        };
        let states: Vec<PackageState> = changes.iter().map(of_index).collect();
        let changes: Vec<(&Package, &PackageState)> =
            changes.iter().zip(&states).map(|((package, _), state)| (*package, state)).collect();
        self.plan_from_index(&changes, context).await
    }

    async fn plan_from_index(
        &self,
        changes: &[(&Package, &PackageState)],
        context: &Context<'_>,
    ) -> Vec<Result<(PackageState, PackagePlan), Failure>> {
        let asks = |(package, state): &&(&Package, &PackageState)| {
            state.availability == Availability::NotQueried
                && !state.is_stale
                && is_index_relevant(package, state)
        };
        let names: Vec<&str> = changes.iter().filter(asks).map(|(package, _)| &*package.name).collect();
        let response = self.query(&names, context).await;
        let complete = |change: &(&Package, &PackageState)| {
            let (package, state) = *change;
            let mut state = state.clone();
            if asks(&change) {
                match &response {
                    Ok(response) => response.apply_to(&package.name, &mut state),
                    Err(failure) => return Err(failure.clone()),
                }
            }
            let plan = plan(package, &state);
            Ok((state, plan))
        };
        changes.iter().map(complete).collect()
    }

    /// Changes packages of one kind with one call. If that fails, changes each by itself, so that one failure
    /// does not affect the others.
    async fn change_batch(
        &self,
        kind: ChangeKind,
        members: &[PendingChange<'_>],
        repaired: &mut RepairResult,
        context: &mut Context<'_>,
    ) -> Vec<Result<PackageEffect, Failure>> {
        let before = self.database(context).await.ok();
        let mut results = self.change_in_one_call(kind, members, repaired, context).await;
        let is_over = context.cancellation.level() > CancellationLevel::Go;
        if results.iter().any(Result::is_ok) {
            self.fail_exclusive(before.as_deref(), members, &mut results, context).await;
        }
        if members.len() > 1 && !is_over {
            for at in 0..members.len() {
                let Err(Failure { changed, .. }) = results[at] else { continue };
                let before = self.database(context).await.ok();
                let member = std::slice::from_ref(&members[at]);
                let mut alone = self.change_in_one_call(kind, member, repaired, context).await;
                results[at] = alone.remove(0).map_err(|failure| {
                    // The common call may have changed the package.
                    Failure { changed: changed || failure.changed, ..failure }
                });
                if results[at].is_ok() {
                    self.fail_exclusive(before.as_deref(), member, &mut results[at..=at], context).await;
                }
            }
        }
        if let Some(before) = before.filter(|_| self.0.may_remove_more(kind)) {
            self.report_other_changes(&before, members, context).await;
        }
        results
    }

    /// Changes packages with one call, and checks the effect even if the call fails.
    async fn change_in_one_call(
        &self,
        kind: ChangeKind,
        members: &[PendingChange<'_>],
        repaired: &mut RepairResult,
        context: &mut Context<'_>,
    ) -> Vec<Result<PackageEffect, Failure>> {
        let targets: Vec<PackageTarget<'_>> = members.iter().map(PendingChange::target).collect();
        let limits = CommandLimits::of(members.iter().map(|member| member.package));
        if let ChangeKind::Install { .. } = kind
            && let fetch = self.0.change(context.host, kind, &targets, true)
            && let Err(failure) = self.run_with_repair(&fetch, limits, repaired, context).await
        {
            let database = self.database(context).await.ok();
            let failure = self.with_advice(failure, database.as_deref());
            return members.iter().map(|_| Err(failure.clone())).collect();
        }
        let call = ToolCommand {
            is_harmful_to_interrupt: true,
            ..self.0.change(context.host, kind, &targets, false)
        };
        let ended = self.run_with_repair(&call, limits, repaired, context).await;
        let done =
            |member: &PendingChange<'_>| Ok(PackageEffect::Changed { version: member.version.clone() });
        let failure = match ended {
            // The engine verifies the effect.
            Ok(()) => return members.iter().map(done).collect(),
            Err(failure) => failure,
        };
        let database = self.database(context).await;
        let failure = self.with_advice(failure, database.as_deref().ok());
        let Ok(database) = database else {
            let failure = failure.with_hint(self.0.repair());
            return members.iter().map(|_| Err(failure.clone())).collect();
        };
        let judged = members.iter().map(|member| {
            let found = self.0.find(&database, &member.package.name);
            let changed = failure.changed || found != member.state.found;
            let state = PackageState { found, ..member.state.clone() };
            match mismatch(member.package, &state, member.version.as_deref()) {
                Some(_) => Err(Failure { changed, ..failure.clone() }),
                None => done(member),
            }
        });
        let judged: Vec<_> = judged.collect();
        // A package that failed together with others is retried alone, so the warning is left to that call.
        if members.len() == 1 && judged.iter().any(Result::is_ok) {
            let parts = [&failure.chain[..], &failure.hints].concat();
            context.warn(parts.join(": "));
        }
        judged
    }

    /// Runs a command. If an interrupted change is in its way, finishes that first, once per batch.
    async fn run_with_repair(
        &self,
        call: &ToolCommand,
        limits: CommandLimits,
        repaired: &mut RepairResult,
        context: &mut Context<'_>,
    ) -> Result<(), Failure> {
        let Err(failure) = run_waiting_for_locks(call, limits, context).await else { return Ok(()) };
        let Some(finish) = self.0.finish(&output_text(&failure)) else { return Err(failure) };
        match repaired {
            Some(Ok(())) => return Err(failure),
            Some(Err(failure)) => return Err(failure.clone()),
            None => {}
        }
        let ended = run_waiting_for_locks(&finish, limits, context).await.map_err(|failure| {
            let failure = failure.because_of("cannot finish an interrupted package change");
            failure.with_hint(self.0.repair())
        });
        *repaired = Some(ended.clone());
        ended?;
        let title = finish.title;
        context.warn(format!("`{title}` finished an interrupted package change"));
        run_waiting_for_locks(call, limits, context).await
    }

    /// Makes a failure of the results of a change that removed a package which the manifest wants.
    async fn fail_exclusive(
        &self,
        before: Option<&T::Database>,
        members: &[PendingChange<'_>],
        results: &mut [Result<PackageEffect, Failure>],
        context: &Context<'_>,
    ) {
        let Some(before) = before else { return };
        if let Some(failure) = self.exclusion(before, members, context).await {
            for result in results.iter_mut().filter(|result| result.is_ok()) {
                *result = Err(failure.clone());
            }
        }
    }

    /// Returns the failure of a change that removed a package which the manifest wants.
    async fn exclusion(
        &self,
        before: &T::Database,
        members: &[PendingChange<'_>],
        context: &Context<'_>,
    ) -> Option<Failure> {
        let named: HashSet<&str> = members.iter().map(|member| self.0.base(&member.package.name)).collect();
        let is_there = |database: &T::Database, name: &str| {
            matches!(self.0.find(database, name).presence, Presence::Installed(_))
        };
        let mut gone = Self::desired(context);
        gone.retain(|name| !named.contains(self.0.base(name)) && is_there(before, name));
        if gone.is_empty() {
            return None;
        }
        let after = self.database(context).await.ok()?;
        gone.retain(|name| !is_there(&after, name));
        if gone.is_empty() {
            return None;
        }
        let own: Vec<String> = members.iter().map(|member| member.package.name.clone()).collect();
        let message = format!(
            "the change of {} removed {}, which the manifest wants",
            quoted_names(&own),
            quoted_names(&gone)
        );
        let failure = Failure::conflict(message)
            .with_hint("remove one of the packages from the manifest: they exclude each other");
        Some(Failure { changed: true, ..failure })
    }

    /// Reports packages that the change removed or replaced although no resource names them.
    async fn report_other_changes(
        &self,
        before: &T::Database,
        members: &[PendingChange<'_>],
        context: &mut Context<'_>,
    ) {
        let Ok(after) = self.database(context).await else { return };
        let named: HashSet<&str> = members.iter().map(|member| self.0.base(&member.package.name)).collect();
        let mut others: Vec<&str> = self.0.installed(before).filter(|name| !named.contains(name)).collect();
        others.sort_unstable();
        others.dedup();
        let there: HashSet<&str> = self.0.installed(&after).collect();
        let (kept, gone): (Vec<&str>, Vec<&str>) = others.into_iter().partition(|name| there.contains(name));
        if !gone.is_empty() {
            context.warn(format!("also removed: {}", gone.join(", ")));
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
            context.note(format!("also changed: {}", changed.join(", ")));
        }
    }

    fn with_advice(&self, mut failure: Failure, database: Option<&T::Database>) -> Failure {
        failure.hints.extend(self.0.advice(&output_text(&failure), database));
        // The same hint may come from a failed repair.
        failure.hints.dedup();
        failure
    }
}

fn warn_of_skipped(state: &PackageState, context: &mut Context<'_>) {
    for sentence in &state.skipped_repositories {
        context.warn(sentence.clone());
    }
}

fn output_text(failure: &Failure) -> String {
    let lines = failure.output.iter().flat_map(|tail| &tail.lines);
    lines.map(String::as_str).collect::<Vec<_>>().join("\n")
}

impl PendingChange<'_> {
    fn target(&self) -> PackageTarget<'_> {
        PackageTarget { name: &self.package.name, version: self.version.as_deref() }
    }

    fn kind(&self) -> Option<ChangeKind> {
        change_kind(self.package, &plan(self.package, &self.state))
    }
}

/// Returns the kind of change that carries out a plan; `None` if nothing changes.
pub(super) fn change_kind(package: &Package, plan: &PackagePlan) -> Option<ChangeKind> {
    let recommends = package.recommends;
    match plan {
        PackagePlan::Install(install) => {
            Some(ChangeKind::Install { recommends, is_downgrade: install.is_downgrade })
        }
        // A refresh is followed by an upgrade.
        PackagePlan::Refresh(_) => Some(ChangeKind::Install { recommends, is_downgrade: false }),
        PackagePlan::Remove(_) => Some(ChangeKind::Remove { purge: package.purge }),
        PackagePlan::Keep(_) | PackagePlan::Fail(..) => None,
    }
}
