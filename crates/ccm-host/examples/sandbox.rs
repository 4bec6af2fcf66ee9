//! Runs a command in a sandbox from another program: `cargo run --package ccm-host --example sandbox`.
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::process::ExitCode;

use ccm_host::{
    Cancellation, Command, LocalSystem as _, Runner as _, Sandbox, SystemRunner, launcher, prepare_process,
};

fn main() -> Result<ExitCode, Box<dyn Error>> {
    // This comes first: when the runner starts this program again, the process becomes the command.
    if let Some(code) = launcher::begin() {
        return Ok(code);
    }
    prepare_process()?;
    let runner = SystemRunner::new()?.with_launcher("/proc/self/exe");
    let workdir = tempfile::tempdir()?;
    let command = Command {
        args: ["-c", "echo here > file && cat file; cat /etc/shadow; echo there > /etc/file"]
            .map(Into::into)
            .into(),
        cwd: workdir.path().into(),
        environment: runner.base_environment(),
        sandbox: Some(Sandbox::new(workdir.path())),
        ..Command::new("/bin/sh")
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let never = Cancellation::never();
    let mut show = |stream, line: &str| println!("{stream:?}: {line}");
    let finished = runtime.block_on(runner.run(&command, &never, &mut show))?;
    println!("{:?}\n{:?}", finished.exit, finished.enforced);
    Ok(ExitCode::SUCCESS)
}
