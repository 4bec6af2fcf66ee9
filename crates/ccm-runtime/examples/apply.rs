//! Applies the manifest that is named on the command line, and prints a line for each resource.
//!
//! ```text
//! cargo run -p ccm-runtime --example apply -- examples/hello.yaml
//! ```
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use ccm_model::Event;
use ccm_runtime::{Config, Emitted, MAX_MANIFEST_SIZE, RunOptions, Session, Source, Values};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args_os().nth(1).ok_or("name a manifest")?;
    let session = Session::open(Config::default());
    let input = session.read(Source::File(path.into()), &Values::default(), MAX_MANIFEST_SIZE)?;
    let manifest = session.load(&input)?;
    let mut print = |emitted: Emitted<'_>| {
        if let Event::ResourceFinished(transaction) = emitted.event {
            println!("{}: {:?}", transaction.id, transaction.outcome);
        }
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let report = runtime.block_on(manifest.apply(RunOptions::default(), &mut print))?;
    println!("run {}: {} changed", report.identity.run_id, report.summary.counts.changed);
    Ok(())
}
