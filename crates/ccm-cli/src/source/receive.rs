//! `ccm source receive`: the side of `ccm push` that runs on a host.

use std::io::{self, BufRead as _, Read as _};

use ccm_push::wire::{self, INTERRUPT, MAX_REQUEST, PushRequest, ReadyLine};
use ccm_runtime::Cancellation;
use ccm_runtime::process::signals::{Signals, interrupt_self};
use ccm_runtime::process::{run_thread, variable};
use ccm_runtime::push::{AnnouncedBundle, PushError, ReceiveError};
use ccm_runtime::release::BundleDigest;
use clap::Parser as _;

use super::follow::source_error;
use crate::arguments::{ApplyArguments, Arguments, CliCommand, JsonForm, NO_SIGNERS, SourceReceiveArguments};
use crate::console::Console;
use crate::error::{CommandError, CommandResult};
use crate::reactor::block_on;
use crate::{apply, session};

/// Receives a bundle from standard input, and applies a manifest of it.
pub(super) fn run(arguments: &SourceReceiveArguments, console: &Console) -> CommandResult {
    // The thread that reads standard input must not get a signal. The run listens again.
    let _signals = Signals::listen()?;
    let received = receive(arguments, console).and_then(|apply| {
        run_thread("ccm-interrupts", interrupts)?;
        apply::run(apply, console)
    });
    received.inspect_err(|error| {
        let document = error.document().json(&|text| console.secrets().redact(text).into_owned());
        // Whoever pushes may have gone.
        let _ = console.print(&JsonForm::Lines.text(&document));
    })
}

/// Receives the bundle, and returns the options of the run.
fn receive(arguments: &SourceReceiveArguments, console: &Console) -> CommandResult<ApplyArguments> {
    let mut input = io::stdin().lock();
    let mut line = Vec::new();
    let read = (&mut input).take(MAX_REQUEST as u64).read_until(b'\n', &mut line);
    read.map_err(|error| CommandError::new("standard input can't be read").caused_by(&error))?;
    let request: PushRequest = serde_json::from_slice(&line).map_err(|error| {
        let message = "standard input has no request of `ccm push`; nothing was run";
        CommandError::usage(message)
            .caused_by(&error)
            .hint("run `ccm push` on another machine, which calls this")
    })?;
    let session = session::open_with(console, &arguments.state);
    let digest = BundleDigest { sha256: request.sha256.clone(), size: request.size };
    let announced = AnnouncedBundle::new(&request.source, digest, request.compressed);
    let announced =
        announced.ok_or_else(|| CommandError::usage("the request names no bundle; nothing was run"))?;
    let has_bundle =
        session.has_bundle(&announced).map_err(|error| source_error(&error).therefore("nothing was run"))?;
    let ready = ReadyLine {
        protocol: wire::ReadyProtocol::V1,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        has_bundle,
    };
    let ready = wire::line(&ready).map_err(|error| CommandError::of(&error))?;
    console.print(&ready)?;
    if !has_bundle {
        let never = Cancellation::never();
        let received = session.receive_bundle(&announced, &mut input, &never);
        block_on(received)?.map_err(|error| push_error(&error).therefore("nothing was run"))?;
    }
    options(&request, &announced, arguments)
}

fn options(
    request: &PushRequest,
    announced: &AnnouncedBundle,
    arguments: &SourceReceiveArguments,
) -> CommandResult<ApplyArguments> {
    let address = announced.address();
    let manifest = request.manifest.as_str();
    let fixed = ["ccm", "apply", "--output", "jsonl", "--from", &*address, "--signers", NO_SIGNERS];
    let further = request.options.iter().map(String::as_str);
    let words = fixed.into_iter().chain(further).chain(["--", manifest]);
    let parsed = Arguments::try_parse_from(words).map_err(|error| {
        CommandError::usage(error.to_string().trim().to_owned()).therefore("nothing was run")
    })?;
    let parsed = parsed
        .with_environment(variable)
        .map_err(|invalid| CommandError::variable(invalid.name, &invalid.reason))?;
    let CliCommand::Apply(mut apply) = parsed.command else {
        return Err(CommandError::usage("the request is no run; nothing was run"));
    };
    if let Some(directory) = &arguments.state.state_dir {
        apply.run.state.state_dir = Some(directory.clone());
        apply.run.state.is_of_environment = arguments.state.is_of_environment;
    }
    apply.emits_output = true;
    Ok(*apply)
}

/// Waits for interrupts. The end of the input ends nothing: the run goes on, and is recorded.
fn interrupts() {
    for line in io::stdin().lines() {
        match line {
            Ok(line) if line == INTERRUPT => drop(interrupt_self()),
            Ok(_) => {}
            Err(_) => return,
        }
    }
}

fn push_error(error: &PushError) -> CommandError {
    match error {
        PushError::Source(error) => source_error(error),
        PushError::Receive(ReceiveError::Store(cause)) => {
            CommandError::of(error).hints(crate::write_hints::file_system_hint(cause))
        }
        other => CommandError::of(other),
    }
}
