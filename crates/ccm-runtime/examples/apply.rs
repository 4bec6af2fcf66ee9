//! Plans the manifest that is named on the command line, and applies it unless the plan has a failure.
//!
//! ```text
//! cargo run -p ccm-runtime --example apply -- examples/hello.yaml
//! ```
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "an example shows what it does")]

use std::error::Error;
use std::path::PathBuf;

use ccm_runtime::process::{launcher, prepare_process};
use ccm_runtime::{
    Config, Emitted, Event, ExitCode, GivenValues, MAX_MANIFEST_SIZE, ManifestSource, RunOptions, Session,
    error_layers,
};

fn main() -> std::process::ExitCode {
    // A copy of this program that was started to become a command does nothing else.
    if let Some(code) = launcher::begin() {
        return code;
    }
    let code = begin().unwrap_or_else(|error| {
        eprintln!("error: {}", error_layers(&*error).join(": "));
        ExitCode::NothingRun
    });
    code.into()
}

fn begin() -> Result<ExitCode, Box<dyn Error>> {
    // Before the first file is opened and the first thread is started.
    prepare_process()?;
    let path = std::env::args_os().nth(1).ok_or("name a manifest")?;
    apply(path.into(), Config { launcher: Some("/proc/self/exe".into()), ..Config::default() })
}

/// Plans and applies a manifest.
pub fn apply(manifest: PathBuf, config: Config) -> Result<ExitCode, Box<dyn Error>> {
    let session = Session::open(config);
    let input = session.read(ManifestSource::File(manifest), &GivenValues::default(), MAX_MANIFEST_SIZE)?;
    let manifest = match session.load(&input) {
        Ok(manifest) => manifest,
        Err(errors) => {
            eprint!("{}", errors.text());
            return Ok(ExitCode::NothingRun);
        }
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let plan = runtime.block_on(manifest.plan(RunOptions::default(), &mut print))?;
    if plan.summary.counts.failed > 0 {
        return Ok(plan.record.code);
    }
    let report = runtime.block_on(manifest.apply(RunOptions::default(), &mut print))?;
    if let Some(error) = &report.record.error {
        eprintln!("error: {}", error_layers(error).join(": "));
    }
    Ok(report.record.code)
}

fn print(emitted: Emitted<'_>) {
    match emitted.event {
        Event::ResourceFinished(transaction) => {
            println!("{} {}", transaction.id, transaction.outcome.word());
        }
        Event::SessionFinished(summary) => println!("{:?}", summary.counts),
        _ => {}
    }
}
