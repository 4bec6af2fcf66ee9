//! Rules about what files and the kernel tell, on a thread of their own.
//!
//! A read of a dead network file system, or a name service that is silent, can block for ever. The thread is then left
//! behind, and another one judges the rest. It can't be ended, but it changes nothing and ends with the process.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use ccm_check::{Attribute, Fact, FactError, Facts, Rule, RuleResult, Subject, judge as judge_rule};
use ccm_host::CancellationLevel;
use ccm_model::display_duration;
use tokio::sync::oneshot;

use super::accounts::Accounts;
use super::file::FileFacts;
use super::interface::Interfaces;
use super::mount::Mounts;
use super::observation::{Deadline, no_attribute, stopped, unreadable};
use super::ports::PortTables;
use super::processes::Processes;
use super::{CheckScope, PlacedResult, PlacedRule, kernel_parameter, unread};

/// Maximum number of threads that are left behind.
const MAX_LEFT_BEHIND: usize = 16;

/// Values of this machine that are read without waiting for anybody else.
struct LocalFacts {
    directory: PathBuf,
    accounts: Accounts,
    file: FileFacts,
    interfaces: Interfaces,
    mounts: Mounts,
    ports: PortTables,
    processes: Processes,
}

impl Facts for LocalFacts {
    fn fact(&mut self, rule: &Rule, attribute: Attribute) -> Result<Fact, FactError> {
        match &rule.subject {
            Subject::File(path) => self.file.fact(rule, path, attribute, &self.directory, &mut self.accounts),
            Subject::Group(name) => self.accounts.group_fact(name, attribute),
            Subject::User(name) => self.accounts.user_fact(name, attribute),
            Subject::Interface(name) => self.interfaces.fact(name, attribute),
            Subject::KernelParam(name) => kernel_parameter::fact(name, attribute),
            Subject::Mount(path) => self.mounts.fact(path, attribute, &self.directory),
            Subject::Port { protocol, number } => self.ports.fact(*protocol, *number, attribute),
            Subject::Process(name) => self.processes.fact(name, attribute),
            _ => Err(no_attribute(attribute)),
        }
    }
}

/// Work of one thread, as the thread that waits for it sees it.
struct Worker {
    /// Results so far, in the order of the rules.
    results: Arc<Mutex<Vec<RuleResult>>>,
    /// Ends the reading of a long file.
    is_stopped: Arc<AtomicBool>,
    /// Ends with the thread.
    done: oneshot::Receiver<()>,
}

impl Worker {
    fn start(rules: Vec<Rule>, directory: PathBuf) -> std::io::Result<Self> {
        let results = Arc::<Mutex<Vec<RuleResult>>>::default();
        let is_stopped = Arc::<AtomicBool>::default();
        let (sender, done) = oneshot::channel();
        let (shared, stop) = (Arc::clone(&results), Arc::clone(&is_stopped));
        let thread = std::thread::Builder::new().name("checks".to_owned());
        thread.spawn(move || {
            let mut facts = LocalFacts {
                directory,
                accounts: Accounts::default(),
                file: FileFacts::new(Arc::clone(&stop)),
                interfaces: Interfaces::default(),
                mounts: Mounts::default(),
                ports: PortTables::default(),
                processes: Processes::default(),
            };
            for rule in &rules {
                if stop.load(Ordering::Relaxed) {
                    return;
                }
                let result = judge_rule(rule, &mut facts);
                shared.lock().unwrap_or_else(PoisonError::into_inner).push(result);
            }
            // An error means that nobody waits any more.
            let _ = sender.send(());
        })?;
        Ok(Self { results, is_stopped, done })
    }

    fn count(&self) -> usize {
        self.results.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Waits until all rules are judged. Returns the reason if the rule behind the results has none.
    async fn finish(
        &mut self,
        rules: &[PlacedRule<'_>],
        scope: &CheckScope<'_>,
        deadline: &Deadline,
    ) -> Result<(), LocalEnd> {
        loop {
            let judged = self.count();
            let Some(current) = rules.get(judged) else { return Ok(()) };
            // The rule has begun by now, so that it has taken at least this time when the wait is over.
            let limit = current.rule.timeout;
            tokio::select! {
                biased;
                ended = &mut self.done => {
                    return ended.map_err(|_| LocalEnd::Rule(unreadable("an error in ccm ended its reading")));
                }
                () = scope.cancellation.reached(CancellationLevel::Stop) => return Err(LocalEnd::All(stopped())),
                () = deadline.passed(scope.host.clock) => return Err(LocalEnd::All(over(current.rule, scope, deadline))),
                () = scope.host.clock.wait(limit) => if self.count() == judged {
                    let reason = format!("no answer within {}", display_duration(limit));
                    return Err(LocalEnd::Rule(unreadable(reason)));
                },
            }
        }
    }
}

/// End of a thread before all of its rules were judged.
enum LocalEnd {
    /// The rule that it judged has no result; the others have to be judged.
    Rule(FactError),
    /// No further rule is judged.
    All(FactError),
}

fn over(rule: &Rule, scope: &CheckScope<'_>, deadline: &Deadline) -> FactError {
    match deadline.limit(rule, scope) {
        Err(reason) => reason,
        Ok(limit) => unreadable(format!("no answer within {}", display_duration(limit))),
    }
}

/// Judges rules about this machine.
pub(super) async fn judge(
    rules: Vec<PlacedRule<'_>>,
    scope: &CheckScope<'_>,
    deadline: &Deadline,
) -> Vec<PlacedResult> {
    let mut results: Vec<PlacedResult> = Vec::with_capacity(rules.len());
    let mut left_behind = 0;
    while results.len() < rules.len() {
        let rest = &rules[results.len()..];
        let worker =
            Worker::start(rest.iter().map(|placed| placed.rule.clone()).collect(), scope.directory.into());
        let end = match worker {
            Err(error) => LocalEnd::All(unreadable(format!("no thread can be started: {error}"))),
            Ok(mut worker) => {
                let end = worker.finish(rest, scope, deadline).await;
                worker.is_stopped.store(true, Ordering::Relaxed);
                let judged =
                    std::mem::take(&mut *worker.results.lock().unwrap_or_else(PoisonError::into_inner));
                results.extend(rest.iter().map(|placed| placed.position).zip(judged));
                match end {
                    Ok(()) => continue,
                    Err(end) => end,
                }
            }
        };
        let (reason, is_last) = match end {
            LocalEnd::Rule(reason) => {
                left_behind += 1;
                (reason, false)
            }
            LocalEnd::All(reason) => (reason, true),
        };
        let too_many = unreadable("too many other rules had no answer");
        let mut reason = Some(reason);
        for placed in &rules[results.len()..] {
            let given = reason.take().unwrap_or_else(|| too_many.clone());
            results.push((placed.position, unread(placed.rule, &given)));
            if is_last {
                reason = Some(given);
            } else if left_behind < MAX_LEFT_BEHIND {
                break;
            }
        }
    }
    results
}
