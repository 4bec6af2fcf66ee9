//! Commands with and without a sandbox.

use std::path::Path;
use std::time::Duration;

use ccm_host::{Cancellation, Command, Exit, Runner as _, Sandbox, SystemRunner};

use crate::binary;
use crate::measure::{median, per, per_within, ratio, time};

pub(crate) fn run(scratch: &Path) {
    const COUNT: u32 = 100;
    const ROUNDS: usize = 9;
    let Some(ccm) = binary::ccm() else {
        println!("exec-run: with a sandbox: skipped, there is no target/release/ccm");
        return;
    };
    let workdir = scratch.join("sandbox");
    std::fs::create_dir(&workdir).expect("a directory");
    let workdir = workdir.canonicalize().expect("its path");
    let plain = Command { cwd: workdir.clone(), ..Command::new("/bin/true") };
    // A umask needs a launcher, which is started by itself and not by the launch server.
    let through_launcher = Command { umask: Some(0o022), ..plain.clone() };
    // As in most runs, the working directory is private.
    let sandbox = Sandbox { private: Some(workdir.clone()), ..Sandbox::new(workdir) };
    let sandboxed = Command { sandbox: Some(sandbox), ..plain.clone() };

    let runner = SystemRunner::new().expect("a runner").with_launcher(ccm);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let many = |command: &Command| {
        runtime.block_on(async {
            for _ in 0..COUNT {
                let never = Cancellation::never();
                let finished = runner.run(command, &never, &mut |_, _| {}).await.expect("a command");
                assert_eq!(finished.exit, Exit::Code(0));
            }
        });
    };
    let mut taken: [Vec<Duration>; 3] = Default::default();
    for _ in 0..ROUNDS {
        for (taken, command) in taken.iter_mut().zip([&plain, &through_launcher, &sandboxed]) {
            taken.push(time(1, || many(command)));
        }
    }
    let [plain, through_launcher, sandboxed] = taken.map(|mut taken| median(&mut taken));
    ratio("exec-run: with a sandbox, against without", sandboxed, plain);
    per("  extra time for a launcher of its own, each", through_launcher.saturating_sub(plain), COUNT);
    per_within("  extra time for the sandbox, each", sandboxed.saturating_sub(plain), COUNT, 1_500.0);
}
