//! Executors: a middleware sees every command, and a preflight makes nothing.

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;

use ccm_host::{
    Cancellation, ClosedPlan, Command, Executor, Exit, Finished, FollowingExecutor, LastLine, Launch,
    LaunchPlan, LocalExecutor, Purpose, Role, Runner, RunnerMiddleware, SandboxRequest, StartError,
};
use ccm_model::Stream;
use ccm_testkit::{FakeFiles, FakeRunner};

/// Middleware that records each command in a shared log.
struct Noting<'a> {
    inner: &'a dyn Executor,
    name: &'static str,
    log: &'a RefCell<Vec<String>>,
}

impl RunnerMiddleware for Noting<'_> {
    fn inner(&self) -> &dyn Executor {
        self.inner
    }

    async fn run_around(
        &self,
        runner: &dyn Runner,
        command: &Command,
        cancellation: &Cancellation,
        on_line: &mut dyn FnMut(Stream, &str),
    ) -> Result<Finished, StartError> {
        self.log.borrow_mut().push(format!("{} {}", self.name, command.program.display()));
        runner.run(command, cancellation, on_line).await
    }
}

async fn planned<'a>(
    executor: &'a dyn Executor,
    launch: &'a Launch,
    purpose: Purpose,
) -> Box<dyn LaunchPlan + 'a> {
    executor.resolve(launch, purpose).await.unwrap_or_else(|error| unreachable!("a plan: {error}"))
}

fn block_on(body: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread().build().expect("a runtime").block_on(body);
}

#[test]
fn no_command_escapes_a_middleware() {
    block_on(async {
        let (runner, files) = (FakeRunner::default(), FakeFiles::default());
        let log = RefCell::default();
        let local = LocalExecutor::new(&runner, &runner, &files);
        let inner = Noting { inner: &local, name: "inner", log: &log };
        let outer = Noting { inner: &inner, name: "outer", log: &log };
        let (launch, never) = (Launch::default(), Cancellation::never());

        let plan = planned(&outer, &launch, Purpose::Run).await;
        let command = plan.command("guard", &[]).expect("a program");
        plan.preflight(&command).expect("a preflight");
        assert!(log.borrow().is_empty(), "a preflight runs nothing");
        for _ in 0..2 {
            let finished = plan.run(&command, &never, &mut |_, _| {}).await.expect("a start");
            assert_eq!(finished.exit, Exit::Code(0));
        }
        assert_eq!(plan.close().await, ClosedPlan::default());
        outer.run_tool(&Command::new("tool"), &never, &mut |_, _| {}).await.expect("a start");
        let expected =
            ["outer guard", "inner guard", "outer guard", "inner guard", "outer tool", "inner tool"];
        assert_eq!(*log.borrow(), expected);
        assert_eq!(runner.lines(), ["guard", "guard", "tool"]);
    });
}

#[test]
fn commands_that_are_not_sensitive_and_no_query_are_followed() {
    block_on(async {
        let (runner, files) = (FakeRunner::default(), FakeFiles::default());
        let local = LocalExecutor::new(&runner, &runner, &files);
        let last_line = LastLine::default();
        let following = FollowingExecutor { executor: Rc::new(local), last_line: last_line.clone() };
        let never = Cancellation::never();
        for (role, sensitive, is_followed) in [
            (Role::Command, false, true),
            (Role::Guard, false, true),
            (Role::Tool, false, true),
            (Role::Query, false, false),
            (Role::Command, true, false),
            (Role::Guard, true, false),
        ] {
            last_line.set("of the command before");
            let launch = Launch { sensitive, ..Launch::default() };
            let plan = planned(&following, &launch, Purpose::Run).await;
            let command = Command { role, ..plan.command("build", &[]).expect("a program") };
            plan.run(&command, &never, &mut |_, _| {}).await.expect("a start");
            let ran = runner.ran().pop().expect("a command");
            assert_eq!(ran.last_line.is_some(), is_followed, "{role:?} {sensitive}");
            assert_eq!((last_line.get(), Command { last_line: None, ..ran }), (String::new(), command));
        }
    });
}

#[test]
fn preflight_makes_no_directory_and_opens_no_more_than_a_run() {
    block_on(async {
        let (runner, mut files) = (FakeRunner::default(), FakeFiles::default());
        files.directories.insert("/m".into());
        let executor = LocalExecutor::new(&runner, &runner, &files);
        let sandbox = Some(SandboxRequest::default());
        let launch = Launch { sandbox, manifest_directory: "/m".into(), ..Launch::default() };
        for (purpose, cwd) in [(Purpose::Run, "/tmp/private/work"), (Purpose::Preflight, "/usr")] {
            let plan = planned(&executor, &launch, purpose).await;
            let command = plan.command("guard", &[]).expect("a program");
            let sandbox = command.sandbox.expect("a sandbox");
            assert_eq!((command.cwd.as_path(), sandbox.workdir.as_path()), (Path::new(cwd), Path::new(cwd)));
            assert!(sandbox.read.is_empty() && sandbox.write.is_empty(), "{sandbox:?}");
        }
    });
}

#[test]
fn program_is_called_by_the_bare_name_that_was_looked_up() {
    block_on(async {
        let (runner, files) = (FakeRunner::default(), FakeFiles::default());
        let executor = LocalExecutor::new(&runner, &runner, &files);
        let launch = Launch::default();
        let plan = planned(&executor, &launch, Purpose::Run).await;
        for (name, expected) in [("guard", Some("guard")), ("bin/guard", None), ("/bin/guard", None)] {
            let command = plan.command(name, &[]).expect("a program");
            assert_eq!(command.called_as.as_deref(), expected, "{name}");
        }
    });
}
