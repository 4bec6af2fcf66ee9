//! Doors of a program's own in place of those of the machine.

use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use ccm_facts::CustomFacts;
use ccm_host::{Clock, Kernel, Machine, RunnerError};
use ccm_model::Outcome;
use ccm_redaction::Secrets;
use ccm_runtime::{
    Commands, Config, Doors, GivenFacts, GivenValues, ManifestSource, RunMode, RunOptions, Session,
    SystemDoors,
};
use ccm_testkit::{FakeClock, FakeMachine, FakeRunner, Scratch};

use crate::{config, manifest_of, run};

/// A machine that is made up, except for its files.
struct MadeUp;

impl Doors for MadeUp {
    fn clock(&self) -> Box<dyn Clock> {
        let clock = FakeClock::default();
        clock.advance(Duration::from_secs(86_400));
        Box::new(clock)
    }

    fn machine(&self) -> Box<dyn Machine> {
        let kernel = Kernel { hostname: "made-up".to_owned(), ..Kernel::default() };
        Box::new(FakeMachine { kernel, ..FakeMachine::default() })
    }

    fn commands(&self, _: &Secrets, _: Option<&Path>) -> Result<Box<dyn Commands>, RunnerError> {
        let runner = FakeRunner::default();
        runner.answer("/bin/prog", 3);
        Ok(Box::new(runner))
    }

    fn custom_facts(&self) -> CustomFacts {
        CustomFacts { system: "/proc/nothing".into(), user: None }
    }

    fn environment(&self) -> Vec<(String, String)> {
        vec![("ONLY".to_owned(), "this".to_owned())]
    }

    fn input(&self, _: Option<&Path>, limit: u64) -> std::io::Result<Vec<u8>> {
        assert_eq!(limit, 1 << 20);
        let resources = "file: [{'{{ Facts.to }}': {content: '{{ Environ.ONLY }} {{ now().Year() }}'}}]";
        Ok(format!("ccm: {{resources: [{resources}]}}\n").into_bytes())
    }
}

#[test]
fn facts_environment_clock_and_texts_come_from_the_doors() {
    let scratch = Scratch::new();
    let session = Session::open(Config { doors: Box::new(MadeUp), ..config(&scratch) });
    let name = session.facts(&GivenFacts::default(), Some("host.info.hostname")).expect("a fact");
    assert_eq!(name.to_string(), "made-up");
    let facts =
        GivenFacts { assignments: vec![format!("to={}", scratch.at("made"))], ..GivenFacts::default() };
    let values = GivenValues { facts, ..GivenValues::default() };
    let source = ManifestSource::File("/nowhere/site.yaml".into());
    let input = session.read(source, &values, 1 << 20).expect("the made-up manifest");
    let manifest = session.load(&input).expect("a manifest without errors");
    let (outcomes, report) =
        crate::block_on(crate::outcomes(&manifest, RunMode::Apply, RunOptions::default())).expect("a run");
    assert_eq!(outcomes, [Outcome::Changed]);
    assert_eq!(scratch.read("made").as_deref(), Some("this 1970"));
    assert!(report.summary.duration < Duration::from_secs(1), "its clock stands still");
    let runs = session.history().expect("a history");
    let began = runs.runs().first().and_then(|run| run.start.as_ref()).map(|start| start.timestamp);
    assert_eq!(began, Some(UNIX_EPOCH + Duration::from_secs(86_400)));
}

#[test]
fn commands_go_through_the_door_of_the_session() {
    struct OtherRunner;
    impl Doors for OtherRunner {
        fn commands(
            &self,
            secrets: &Secrets,
            launcher: Option<&Path>,
        ) -> Result<Box<dyn Commands>, RunnerError> {
            MadeUp.commands(secrets, launcher)
        }
    }
    let scratch = Scratch::new();
    let manifest = manifest_of(&scratch, "    - exec: [{/bin/prog: {returns: [3]}}]\n");
    let session = Session::open(Config { doors: Box::new(OtherRunner), ..config(&scratch) });
    assert_eq!(run(&session, &manifest, RunMode::Apply).0, [Outcome::Changed]);
    let session = Session::open(Config { doors: Box::new(SystemDoors), ..config(&scratch) });
    let (outcomes, _) = run(&session, &manifest, RunMode::Apply);
    assert!(matches!(&*outcomes, [Outcome::Failed(_)]), "{outcomes:?}");
}
