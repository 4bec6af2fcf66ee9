//! Providers of the fake type.

use std::path::Path;

use ccm_engine::{Context, Provider, ReadPurpose, Suitability};
use ccm_host::{Command, Executor, Host, Role};
use ccm_model::{Artifact, Failure, FailureKind, MissingPrerequisite, Stream};

use super::calls::{called, count_question, look_before, stop_run};
use super::{Behaviour, FakeKind, failed};

/// Provider that reads and changes a number of resources at once.
pub(super) struct FakeProvider {
    pub(super) at_once: usize,
    /// Changes nothing after a failure that ends the run.
    pub(super) stops: bool,
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
        "list" => {
            let directory = Path::new(&fake.name);
            let mut paths = context.managed_below(directory);
            paths.sort_by(|one, other| (&one.path, one.extent).cmp(&(&other.path, other.extent)));
            let below = paths.iter().map(|found| format!("{} {:?}", found.path.display(), found.extent));
            let filler = context.filler_of(directory).map(|filler| format!("filled by {}", filler.name));
            let found: Vec<String> = below.chain(filler).collect();
            called(format!("{}: {}", fake.name, found.join(", ")));
            Ok(())
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
    fn suitability(&self, _: Host<'_>) -> Suitability {
        count_question();
        Suitability::Suits(if self.at_once == 1 { 1 } else { 2 })
    }

    fn read_batch_size(&self) -> usize {
        self.at_once
    }

    async fn status_many(
        &self,
        fakes: &[&Behaviour],
        context: &mut Context<'_>,
    ) -> Vec<Result<bool, Failure>> {
        called(format!("read many {}", names(fakes)));
        assert!(fakes.iter().all(|fake| fake.breaks != "read panics"), "a panic in reading many");
        let mut states = Vec::new();
        for fake in fakes.iter().filter(|fake| fake.breaks != "read miscounts") {
            let read = on_the_way(fake, context).await.map(|()| fake.needs);
            states.push(if fake.fails == "read" { Err(failed("read failed")) } else { read });
        }
        states
    }

    fn change_batch_size(&self, _: (&Behaviour, &bool)) -> usize {
        self.at_once
    }

    fn can_batch_with(&self, one: (&Behaviour, &bool), other: (&Behaviour, &bool)) -> bool {
        one.0.sort == other.0.sort
    }

    fn stops_at_failure(&self) -> bool {
        self.stops
    }

    async fn execute_many(
        &self,
        changes: &[(&Behaviour, &bool)],
        context: &mut Context<'_>,
    ) -> Vec<Result<bool, Failure>> {
        let fakes: Vec<&Behaviour> = changes.iter().map(|(fake, _)| *fake).collect();
        look_before(&names(&fakes));
        called(format!("execute many {}", names(&fakes)));
        assert!(fakes.iter().all(|fake| fake.breaks != "execute panics"), "a panic in changing many");
        let mut effects: Vec<Result<bool, Failure>> = Vec::new();
        for fake in fakes.iter().filter(|fake| fake.breaks != "execute miscounts") {
            let fails = fake.fails == "execute";
            if context.ends_on_failure() && effects.last().is_some_and(Result::is_err) {
                effects.push(Err(Failure::new(FailureKind::Stopped, "the run ends")));
                continue;
            }
            effects.push(if fails { Err(failed("execute failed")) } else { Ok(!fake.idle) });
            if fake.stops {
                stop_run();
            }
        }
        effects
    }

    async fn status(
        &self,
        fake: &Behaviour,
        reading: ReadPurpose<'_, bool>,
        context: &mut Context<'_>,
    ) -> Result<bool, Failure> {
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
    }

    async fn execute(&self, fake: &Behaviour, _: &bool, context: &mut Context<'_>) -> Result<bool, Failure> {
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
            stop_run();
        }
        Ok(!fake.idle)
    }

    async fn preflight(
        &self,
        fake: &Behaviour,
        _: &bool,
        context: &mut Context<'_>,
    ) -> Result<Vec<String>, Failure> {
        if fake.runs {
            let asked = context.ask_gate(&command(Role::Command)).await;
            asked.map_err(|error| error.failure())?;
        }
        Ok(vec![format!("{} was foreseen", fake.name)])
    }
}
