//! Fake resource type. Its properties define the behaviour of each step.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::future::{Future as _, poll_fn};
use std::pin::pin;
use std::task::Poll;

use ccm_engine::{
    Binder, BoundResource, Context, Decision, Described, Gate, LateValues, Ledger, NoLateValues, OpenGate,
    Provider, ReadPurpose, ResourceKind, ResourceType, Rule, Run, Stop, Suitability, Trigger, Verified, bind,
};
use ccm_host::{
    CancellationLevel, CancellationSource, Command, Executor, Host, Local, LocalExecutor, Role, Runner,
};
use ccm_model::{
    Action, Artifact, Catalog, Claim, Dependency, Diagnostic, Event, Failure, FailureKind, Fields,
    MissingPrerequisite, Node, NodeEntry, NodeKey, NodeMap, Outcome, PathKind, Properties, Resource,
    ResourceId, ResourceIndex, RunSummary, SkipCause, Span, StopCause, Stream, Verb,
};
use ccm_properties::{CheckInput, OwnProperties, PropertySpec, TypeSpec};
use ccm_redaction::Secrets;
use ccm_testkit::{FakeClock, FakeFiles, FakeRunner};
use serde_json::json;

thread_local! {
    /// Calls of providers, in order. Each test has its own thread.
    static CALLS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    /// Observer that runs before each execution, and its results.
    static WATCH: RefCell<Option<Box<dyn Fn() -> String>>> = const { RefCell::new(None) };
    static SEEN: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    /// Number of calls of the type.
    static QUESTIONS: Cell<usize> = const { Cell::new(0) };
    /// Effect of a resource on the run around it.
    static STOP: RefCell<Option<Box<dyn Fn()>>> = const { RefCell::new(None) };
}

pub(crate) fn called(call: String) {
    CALLS.with_borrow_mut(|calls| calls.push(call));
}

/// Sets the observer that runs before each execution.
pub(crate) fn watch(look: impl Fn() -> String + 'static) {
    WATCH.with_borrow_mut(|watch| *watch = Some(Box::new(look)));
}

fn look_before(executed: &str) {
    WATCH.with_borrow(|watch| {
        let saw = watch.iter().map(|look| format!("{executed}: {}", look()));
        SEEN.with_borrow_mut(|seen| seen.extend(saw));
    });
}

/// Returns the results of the observer in the last run.
pub(crate) fn seen() -> Vec<String> {
    SEEN.with_borrow(Clone::clone)
}

/// Returns the calls of providers in the last run.
pub(crate) fn calls() -> Vec<String> {
    CALLS.with_borrow(Clone::clone)
}

/// Behaviour of a fake. By default it is in the desired state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Behaviour {
    name: String,
    /// Not in the desired state.
    needs: bool,
    /// Step that fails: read, missing, decide, execute, verify.
    fails: String,
    /// Step that panics.
    panics: String,
    /// Executes without an effect.
    idle: bool,
    /// Declines a trigger.
    declines: bool,
    /// Its execution stops the run.
    stops: bool,
    /// Its execution never ends.
    hangs: bool,
    /// Its execution runs a command.
    runs: bool,
    /// Values of its execution for other resources and for the record.
    yields: String,
    /// Further step of its read: ask (run a command), query (run a command that changes nothing), share.
    by: String,
    /// Only resources of one sort are changed together.
    sort: String,
    /// Error of a batch: read panics, read miscounts, execute panics, execute miscounts.
    breaks: String,
}

struct FakeKind;

fn failed(message: impl Into<String>) -> Failure {
    Failure::new(FailureKind::Change, message)
}

/// Rules of the fake type.
enum FakeRule {
    Undecided,
    InState,
    NotInState,
    WasThereAlready,
}

impl Rule for FakeRule {
    fn name(&self) -> &'static str {
        match self {
            Self::Undecided => "undecided",
            Self::InState => "in_state",
            Self::NotInState => "not_in_state",
            Self::WasThereAlready => "was_there_already",
        }
    }
}

impl fmt::Display for FakeRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.name().replace('_', " "))
    }
}

impl ResourceKind for FakeKind {
    type Properties = Behaviour;
    type State = bool;
    type Effect = bool;
    type Rule = FakeRule;

    fn decide(fake: &Behaviour, state: &bool, trigger: Option<&Trigger>) -> Decision<FakeRule> {
        if fake.fails == "decide" {
            return Decision::Fail { reason: FakeRule::Undecided, failure: failed("decide failed") };
        }
        if !*state && (trigger.is_none() || fake.declines) {
            return Decision::Keep { reason: FakeRule::InState };
        }
        Decision::Change {
            reason: FakeRule::NotInState,
            noop_message: "Would have moved".to_owned(),
            action: Action::new(Verb::Change).of(format!("mv\n{}", fake.yields)).changing(
                "place",
                Some("here".to_owned()),
                None,
            ),
            diff: Some("+moved\n".to_owned()),
        }
    }

    fn verify(fake: &Behaviour, _: &bool, effect: &bool) -> Result<Verified<FakeRule>, Failure> {
        if fake.fails == "verify" {
            return Err(failed("verify failed"));
        }
        Ok(if *effect { Verified::Changed } else { Verified::Unchanged(FakeRule::WasThereAlready) })
    }

    fn action_taken(_: &Behaviour, _: &bool, _: &bool, planned: Action) -> Action {
        Action { changes: Vec::new(), ..planned }.changing(
            "place",
            Some("here".to_owned()),
            Some("there".to_owned()),
        )
    }

    fn captured(fake: &Behaviour, effect: &bool) -> Option<serde_json::Value> {
        (!fake.yields.is_empty()).then(|| json!({ "it": fake.yields, "changed": effect }))
    }

    fn describe(fake: &Behaviour, state: &bool, decision: &str) -> Described {
        Described {
            ensure: if *state { "absent" } else { "present" }.to_owned(),
            state: Fields::from([("name", fake.name.as_str().into()), ("decision", decision.into())]),
        }
    }
}

/// Provider that reads and changes a number of resources at once.
struct FakeProvider {
    name: &'static str,
    at_once: usize,
}

/// State that all resources share.
struct Database;

async fn on_the_way(fake: &Behaviour, context: &Context<'_>) -> Result<(), Failure> {
    match &*fake.by {
        "ask" => start(Role::Guard, context.host.executor, context).await,
        "query" => start(Role::Query, context.queries, context).await,
        "share" => {
            let read = async || {
                called("open".to_owned());
                Ok::<_, Failure>(Database)
            };
            context.state_cache(read).await.map(drop)
        }
        _ => Ok(()),
    }
}

fn command(role: Role) -> Command {
    Command { role, ..Command::new("/bin/guard") }
}

async fn start(role: Role, executor: &dyn Executor, context: &Context<'_>) -> Result<(), Failure> {
    let command = command(role);
    let ran = executor.run_tool(&command, context.cancellation, &mut |_, _| {}).await;
    ran.map(drop).map_err(|error| error.failure())
}

fn names(fakes: &[&Behaviour]) -> String {
    fakes.iter().map(|fake| fake.name.as_str()).collect::<Vec<_>>().join(",")
}

fn step(fake: &Behaviour, step: &str) -> Result<(), Failure> {
    called(format!("{step} {}", fake.name));
    assert_ne!(fake.panics, step, "a panic in {step}");
    if fake.fails == step {
        return Err(failed(format!("{step} failed")).of_property("fails"));
    }
    if fake.fails == "halfway" && step == "execute" {
        return Err(Failure { changed: true, ..failed("execute failed halfway") });
    }
    if fake.fails == "missing" && step == "read" {
        let missing = Some(MissingPrerequisite::Path("/d/f".into()));
        return Err(Failure { missing: missing.map(Box::new), ..failed("a directory is missing") });
    }
    Ok(())
}

impl Provider<FakeKind> for FakeProvider {
    fn name(&self) -> &'static str {
        self.name
    }

    fn suitability(&self, _: Host<'_>) -> Suitability {
        Suitability::Suits(if self.at_once == 1 { 1 } else { 2 })
    }

    fn read_batch_size(&self) -> usize {
        self.at_once
    }

    fn status_many<'a>(
        &'a self,
        fakes: &'a [&'a Behaviour],
        context: &'a mut Context<'_>,
    ) -> Local<'a, Vec<Result<bool, Failure>>> {
        Box::pin(async move {
            called(format!("read many {}", names(fakes)));
            assert!(fakes.iter().all(|fake| fake.breaks != "read panics"), "a panic in reading many");
            let mut states = Vec::new();
            for fake in fakes.iter().filter(|fake| fake.breaks != "read miscounts") {
                let read = on_the_way(fake, context).await.map(|()| fake.needs);
                states.push(if fake.fails == "read" { Err(failed("read failed")) } else { read });
            }
            states
        })
    }

    fn change_batch_size(&self) -> usize {
        self.at_once
    }

    fn can_batch_with(&self, one: (&Behaviour, &bool), other: (&Behaviour, &bool)) -> bool {
        one.0.sort == other.0.sort
    }

    fn execute_many<'a>(
        &'a self,
        changes: &'a [(&'a Behaviour, &'a bool)],
        _: &'a mut Context<'_>,
    ) -> Local<'a, Vec<Result<bool, Failure>>> {
        Box::pin(async move {
            let fakes: Vec<&Behaviour> = changes.iter().map(|(fake, _)| *fake).collect();
            look_before(&names(&fakes));
            called(format!("execute many {}", names(&fakes)));
            assert!(fakes.iter().all(|fake| fake.breaks != "execute panics"), "a panic in changing many");
            let mut effects = Vec::new();
            for fake in fakes.iter().filter(|fake| fake.breaks != "execute miscounts") {
                let fails = fake.fails == "execute";
                effects.push(if fails { Err(failed("execute failed")) } else { Ok(!fake.idle) });
                if fake.stops {
                    STOP.with_borrow(|stop| stop.as_ref().map(|stop| stop()));
                }
            }
            effects
        })
    }

    fn status<'a>(
        &'a self,
        fake: &'a Behaviour,
        reading: ReadPurpose<'a, bool>,
        context: &'a mut Context<'_>,
    ) -> Local<'a, Result<bool, Failure>> {
        Box::pin(async move {
            match reading {
                ReadPurpose::Before { .. } => {
                    step(fake, "read")?;
                    on_the_way(fake, context).await?;
                    Ok(fake.needs)
                }
                ReadPurpose::After(_) => {
                    context.warn(format!("{} was verified", fake.name));
                    if self.at_once > 1 {
                        called(format!("verify {}", fake.name));
                        on_the_way(fake, context).await?;
                    }
                    Ok(false)
                }
            }
        })
    }

    fn execute<'a>(
        &'a self,
        fake: &'a Behaviour,
        _: &'a bool,
        context: &'a mut Context<'_>,
    ) -> Local<'a, Result<bool, Failure>> {
        Box::pin(async move {
            look_before(&fake.name);
            step(fake, "execute")?;
            if fake.runs {
                start(Role::Command, context.host.executor, context).await?;
            }
            if fake.hangs {
                std::future::pending::<()>().await;
            }
            context.line(Stream::Stdout, "a line");
            if !fake.yields.is_empty() {
                context.record_artifacts(vec![Artifact { name: "old".into(), content: Vec::new() }]);
                context.record_artifacts(vec![Artifact {
                    name: "it".into(),
                    content: fake.yields.clone().into_bytes(),
                }]);
            }
            if fake.stops {
                STOP.with_borrow(|stop| stop.as_ref().map(|stop| stop()));
            }
            Ok(!fake.idle)
        })
    }

    fn preflight<'a>(
        &'a self,
        fake: &'a Behaviour,
        _: &'a bool,
        context: &'a mut Context<'_>,
    ) -> Local<'a, Result<Vec<String>, Failure>> {
        Box::pin(async move {
            if fake.runs {
                let asked = context.ask_gate(&command(Role::Command)).await;
                asked.map_err(|error| error.failure())?;
            }
            Ok(vec![format!("{} was foreseen", fake.name)])
        })
    }
}

struct FakeType;

static PROVIDERS: [&'static dyn Provider<FakeKind>; 3] = [
    &FakeProvider { name: "fake", at_once: 1 },
    &FakeProvider { name: "four", at_once: 4 },
    &FakeProvider { name: "all", at_once: usize::MAX },
];

impl TypeSpec for FakeType {
    fn may_provide(&self, resource: &Resource) -> bool {
        QUESTIONS.set(QUESTIONS.get() + 1);
        !resource.id.name.starts_with('/')
    }

    fn claims<'r>(&self, resource: &'r Resource) -> Vec<Claim<'r>> {
        QUESTIONS.set(QUESTIONS.get() + 1);
        let is_directory = resource.ensure.as_ref().is_some_and(|ensure| ensure.value == "directory");
        let desired = if is_directory { PathKind::Directory } else { PathKind::Other };
        let path = Some(&*resource.id.name).filter(|name| name.starts_with('/'));
        path.map(|path| Claim::path(path, desired)).into_iter().collect()
    }

    fn name(&self) -> &'static str {
        "fake"
    }

    fn summary(&self) -> &'static str {
        "Pretends."
    }

    fn ensures(&self) -> &'static [&'static str] {
        &["present"]
    }

    fn providers(&self) -> &'static [&'static str] {
        &["fake", "four", "all"]
    }
}

impl OwnProperties for FakeType {
    fn properties(&self) -> &'static [PropertySpec] {
        &[]
    }

    fn check(&self, _: &CheckInput<'_>) -> Vec<Diagnostic> {
        Vec::new()
    }
}

impl ResourceType for FakeType {
    fn binder(&self) -> Option<&dyn Binder> {
        Some(self)
    }
}

impl Binder for FakeType {
    fn bind(&self, resource: &Resource, host: Host<'_>) -> Result<Box<dyn BoundResource>, Failure> {
        let text =
            |name: &str| resource.properties.get(name).and_then(Node::as_text).unwrap_or_default().to_owned();
        let is = |name: &str| !text(name).is_empty();
        let behaviour = Behaviour {
            name: resource.id.name.to_string(),
            needs: is("needs"),
            fails: text("fails"),
            panics: text("panics"),
            idle: is("idle"),
            declines: is("declines"),
            stops: is("stops"),
            hangs: is("hangs"),
            runs: is("runs"),
            yields: text("yields"),
            by: text("by"),
            sort: text("sort"),
            breaks: text("breaks").replace('-', " "),
        };
        bind(behaviour, resource.provider.as_ref().map(|provider| &*provider.value), &PROVIDERS, host)
    }
}

/// Builds a catalog from lines such as `b needs fails=execute require=a subscribe=c,d`.
pub(crate) fn catalog(lines: &[&str]) -> Catalog {
    let names: Vec<&str> = lines.iter().filter_map(|line| line.split(' ').next()).collect();
    let dependencies = |value: &str| {
        let one = |name: &str| Dependency {
            on: ResourceIndex::from_usize(
                names.iter().position(|known| *known == name).expect("a known name"),
            ),
            span: Span::default(),
        };
        value.split(',').map(one).collect::<Vec<_>>()
    };
    let resource = |line: &&str| {
        let mut words = line.split(' ');
        let mut resource =
            Resource { id: ResourceId::new("fake", words.next().unwrap_or_default()), ..Resource::default() };
        let mut entries = Vec::new();
        for word in words {
            match word.split_once('=').unwrap_or((word, "yes")) {
                ("require", value) => resource.require = dependencies(value),
                ("subscribe", value) => resource.subscribe = dependencies(value),
                ("provider", value) => {
                    let span = Span::default();
                    resource.provider = Some(ccm_model::Spanned { value: value.to_owned(), span });
                }
                (key, value) => entries.push(NodeEntry {
                    key: NodeKey { text: key.into(), span: Span::default() },
                    value: Node::text(value, Span::default()),
                }),
            }
        }
        resource.properties = Properties::new(NodeMap::new(entries), None);
        resource
    };
    Catalog { resources: lines.iter().map(resource).collect(), ..Catalog::default() }
}

/// Options of a run.
#[derive(Default)]
pub(crate) struct Options<'a> {
    pub noop: bool,
    pub fail_on_error: bool,
    pub only: Option<&'a [ResourceIndex]>,
    pub stopped_before: bool,
    pub late: Option<&'a dyn LateValues>,
    pub secrets: Secrets,
    pub ledger: Option<&'a Ledger>,
    pub runner: Option<&'a dyn Runner>,
    pub gate: Option<&'a dyn Gate>,
    /// Existing files.
    pub there: &'a [&'a str],
}

/// Result of a run.
pub(crate) struct Ran {
    /// One line for each resource, in the order of the walk.
    pub lines: Vec<String>,
    /// Calls of providers.
    pub calls: Vec<String>,
    /// Number of calls of the type.
    pub questions: usize,
    pub events: Vec<Event>,
    pub summary: RunSummary,
}

pub(crate) fn run(lines: &[&str]) -> Ran {
    run_with(&catalog(lines), &Options::default())
}

pub(crate) fn noop(lines: &[&str]) -> Ran {
    run_with(&catalog(lines), &Options { noop: true, ..Options::default() })
}

pub(crate) fn run_with(catalog: &Catalog, options: &Options<'_>) -> Ran {
    run_until(catalog, options).expect("the run comes to its end")
}

/// Runs a catalog until it waits. Returns `None` if that is not its end.
pub(crate) fn run_until(catalog: &Catalog, options: &Options<'_>) -> Option<Ran> {
    CALLS.with_borrow_mut(Vec::clear);
    QUESTIONS.set(0);
    SEEN.with_borrow_mut(Vec::clear);
    let (source, cancellation) = CancellationSource::new();
    let source = std::rc::Rc::new(source);
    let cause = std::rc::Rc::new(std::sync::OnceLock::new());
    let stop = {
        let (source, cause) = (std::rc::Rc::clone(&source), std::rc::Rc::clone(&cause));
        move || {
            let _ = cause.set(StopCause::Signal { name: "SIGINT".to_owned(), number: 2 });
            source.raise(CancellationLevel::Stop);
        }
    };
    if options.stopped_before {
        stop();
    }
    STOP.with_borrow_mut(|slot| *slot = Some(Box::new(stop)));
    let fake_runner = FakeRunner::default();
    let runner = options.runner.unwrap_or(&fake_runner);
    let there = options.there.iter().map(std::path::PathBuf::from).collect();
    let (files, clock) = (FakeFiles { files: there, ..FakeFiles::default() }, FakeClock::default());
    let executor = LocalExecutor::new(runner, &fake_runner, &files);
    let run = Run {
        catalog,
        types: &[&FakeType],
        host: Host { executor: &executor, system: &fake_runner, files: &files, clock: &clock },
        late: options.late.unwrap_or(&NoLateValues),
        secrets: &options.secrets,
        stop: Stop { cancellation: &cancellation, cause: &cause },
        noop: options.noop,
        fail_on_error: options.fail_on_error,
        only: options.only,
        diff: false,
        directory: std::path::Path::new("/"),
        state_directory: None,
        gate: options.gate.unwrap_or(&OpenGate),
        ledger: options.ledger,
        describe_unchanged: true,
    };
    let mut events = Vec::new();
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let summary = runtime.block_on(async {
        let mut on_event = |event| events.push(event);
        let mut apply = pin!(run.apply(&mut on_event));
        poll_fn(|context| match apply.as_mut().poll(context) {
            Poll::Ready(summary) => Poll::Ready(Some(summary)),
            Poll::Pending => Poll::Ready(None),
        })
        .await
    })?;
    let lines = events.iter().filter_map(line).collect();
    Some(Ran { lines, calls: CALLS.with_borrow(Clone::clone), questions: QUESTIONS.get(), events, summary })
}

fn joined(ids: &[ResourceId]) -> String {
    ids.iter().map(|id| id.name.to_string()).collect::<Vec<_>>().join(",")
}

fn line(event: &Event) -> Option<String> {
    let Event::ResourceFinished(transaction) = event else { return None };
    let detail = match &transaction.outcome {
        Outcome::WouldChange { message } | Outcome::WouldRefresh { message } => format!(": {message}"),
        Outcome::Skipped { cause: SkipCause::DependencyFailed { culprits } } => {
            format!(" because of {}", joined(culprits))
        }
        Outcome::Skipped { cause: SkipCause::DependsOnNoop { noop } } => {
            format!(" because {} is in noop", joined(noop))
        }
        Outcome::Skipped { cause: SkipCause::NotManaged { reason } } => format!(": {reason}"),
        Outcome::Skipped { cause: SkipCause::NotSelected } => ": not selected".to_owned(),
        Outcome::Skipped { cause: SkipCause::ManifestEnded { culprit } } => {
            format!(": ended by {}", culprit.name)
        }
        Outcome::Skipped { cause: SkipCause::Stopped { by } } => match by {
            StopCause::Failed { culprit } => format!(": stopped by {}", culprit.name),
            StopCause::Signal { name, .. } => format!(": stopped by {name}"),
            StopCause::Timeout { .. } => ": stopped by timeout".to_owned(),
        },
        Outcome::Failed(failure) => {
            format!(": {}{}", failure.chain.join(" < "), if failure.changed { " (changed)" } else { "" })
        }
        _ => String::new(),
    };
    let by = match &transaction.triggered_by[..] {
        [] => String::new(),
        triggers => format!(" by {}", joined(triggers)),
    };
    let owed: Vec<String> = transaction
        .pending_refreshes
        .iter()
        .map(|owed| format!("{} since {}", owed.source.name, owed.run_id))
        .collect();
    let by = if owed.is_empty() { by } else { format!("{by} (owed: {})", owed.join(",")) };
    Some(format!("{} {}{by}{detail}", transaction.id.name, transaction.outcome.word()))
}
