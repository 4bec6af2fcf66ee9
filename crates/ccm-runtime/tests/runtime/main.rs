//! The library as a program uses it.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests look at the machine themselves"
)]
#![expect(clippy::expect_used, reason = "a test that can't be set up should fail loudly")]

mod approval_site;
mod approvals;
mod audit;
mod cancellation;
mod doors;
mod ensure;
mod example;
mod executor;
mod explanation;
mod forged_approvals;
mod gate;
mod grants;
mod judged;
mod loading;
mod memory;
mod pending;
mod plans;
mod policy;
mod redaction;
mod reference_names;
mod selection;
mod sessions;
mod signed;
mod stack;
mod threads;
mod timer_migration;
mod timers;
mod types;
mod validation;
mod verification;

use std::path::{Path, PathBuf};

use ccm_model::{Event, Outcome};
use ccm_runtime::{
    AuditSource, BeginError, Config, Emitted, GivenValues, Input, LoadedManifest, ManifestSource, RunMode,
    RunOptions, RunReport, Session,
};
use ccm_testkit::Scratch;

/// Returns the configuration of a session with its own state directory.
fn config(scratch: &Scratch) -> Config {
    Config {
        state_directory: Some(scratch.path().join("state")),
        audit: AuditSource::Directory(scratch.path().join("audit")),
        approvals: Some(scratch.path().join("approvals")),
        ..Config::default()
    }
}

/// Opens a session with its own state directory.
fn session(scratch: &Scratch) -> Session {
    Session::open(config(scratch))
}

fn read(session: &Session, manifest: &Path) -> Input {
    session
        .read(ManifestSource::File(manifest.to_owned()), &GivenValues::default(), 1 << 20)
        .expect("a manifest")
}

/// Writes a manifest with these resources, and returns its path.
fn manifest_of(scratch: &Scratch, resources: &str) -> PathBuf {
    scratch.write("manifest.yaml", format!("ccm:\n  resources:\n{resources}"));
    scratch.path().join("manifest.yaml")
}

/// Writes a manifest of a file with this content, and returns its path.
fn manifest(scratch: &Scratch, content: &str) -> PathBuf {
    manifest_of(scratch, &format!("    - file: [{{{}: {{content: {content}}}}}]\n", scratch.at("made")))
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(future)
}

/// Runs a loaded manifest, and returns the outcomes with the report.
async fn outcomes(
    manifest: &LoadedManifest<'_>,
    mode: RunMode,
    options: RunOptions,
) -> Result<(Vec<Outcome>, RunReport), BeginError> {
    let mut outcomes = Vec::new();
    let mut sink = |emitted: Emitted<'_>| {
        if let Event::ResourceFinished(transaction) = emitted.event {
            outcomes.push(transaction.outcome);
        }
    };
    let report = match mode {
        RunMode::Plan => manifest.plan(options, &mut sink).await?,
        RunMode::Apply => manifest.apply(options, &mut sink).await?,
        RunMode::Monitor => manifest.monitor(options, &mut sink).await?,
    };
    Ok((outcomes, report))
}

/// Runs a manifest, and returns the outcomes with the report.
fn run(session: &Session, manifest: &Path, mode: RunMode) -> (Vec<Outcome>, RunReport) {
    let input = read(session, manifest);
    let manifest = session.load(&input).expect("a manifest without errors");
    block_on(outcomes(&manifest, mode, RunOptions::default())).expect("a run")
}
