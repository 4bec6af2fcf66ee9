//! Applies the manifest that is named on the command line, and prints a line for each resource.
//!
//! ```text
//! cargo run -p ccm-runtime --example apply -- examples/hello.yaml
//! ```
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use ccm_runtime::process::{launcher, prepare_process};
use ccm_runtime::{
    Config, Emitted, Event, GivenValues, MAX_MANIFEST_SIZE, ManifestSource, RunOptions, RunReport, Session,
};

fn main() -> Result<ExitCode, Box<dyn Error>> {
    // A copy of this program that was started to become a command does nothing else.
    if let Some(code) = launcher::begin() {
        return Ok(code);
    }
    // Before the first file is opened and the first thread is started.
    prepare_process()?;
    let path = std::env::args_os().nth(1).ok_or("name a manifest")?;
    let config = Config { launcher: Some("/proc/self/exe".into()), ..Config::default() };
    let report = apply(path.into(), config)?;
    println!("run {}: {} changed", report.identity.run_id, report.summary.counts.changed);
    Ok(report.record.code.into())
}

/// Applies a manifest.
pub fn apply(manifest: PathBuf, config: Config) -> Result<RunReport, Box<dyn Error>> {
    let session = Session::open(config);
    let input = session.read(ManifestSource::File(manifest), &GivenValues::default(), MAX_MANIFEST_SIZE)?;
    let manifest = session.load(&input)?;
    let mut print = |emitted: Emitted<'_>| {
        if let Event::ResourceFinished(transaction) = emitted.event {
            println!("{}: {:?}", transaction.id, transaction.outcome);
        }
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    Ok(runtime.block_on(manifest.apply(RunOptions::default(), &mut print))?)
}
