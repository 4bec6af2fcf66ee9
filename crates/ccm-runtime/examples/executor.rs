//! Runs a command with an executor of a manifest, and exits with its code.
//!
//! ```text
//! cargo run -p ccm-runtime --example executor -- examples/executors.yaml shell printenv GREETING
//! ```
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "an example shows what it does")]

use std::error::Error;
use std::ffi::OsString;
use std::path::PathBuf;

use ccm_runtime::process::{launcher, prepare_process};
use ccm_runtime::{
    CommandText, Config, ExecutorCommand, ExecutorError, GivenValues, MAX_MANIFEST_SIZE, ManifestSource,
    Outcome, RunOptions, Session, Stream, error_layers,
};

fn main() -> std::process::ExitCode {
    // A copy of this program that was started to become a command does nothing else.
    if let Some(code) = launcher::begin() {
        return code;
    }
    begin().unwrap_or_else(|error| {
        eprintln!("{}", error_layers(&*error).join(": ").trim_end());
        std::process::ExitCode::FAILURE
    })
}

fn begin() -> Result<std::process::ExitCode, Box<dyn Error>> {
    // Before the first file is opened and the first thread is started.
    prepare_process()?;
    let mut words = std::env::args_os().skip(1).map(OsString::into_string);
    let mut word = || -> Result<String, Box<dyn Error>> {
        let word = words.next().ok_or("name a manifest, an executor, a program and its arguments")?;
        word.map_err(|_| "an argument is not UTF-8".into())
    };
    let (manifest, executor, program) = (word()?, word()?, word()?);
    let arguments = words.collect::<Result<_, _>>().map_err(|_| "an argument is not UTF-8")?;
    let command = CommandText::Program(program, arguments);
    let config = Config { launcher: Some("/proc/self/exe".into()), ..Config::default() };
    let mut print = |stream, line: &str| match stream {
        Stream::Stderr => eprintln!("{line}"),
        _ => println!("{line}"),
    };
    let code = exec(manifest.into(), &executor, command, config, &mut print)?;
    // Codes are bytes.
    Ok(u8::try_from(code)?.into())
}

/// Runs a command with an executor of a manifest, and returns its exit code.
pub fn exec(
    manifest: PathBuf,
    executor: &str,
    command: CommandText,
    config: Config,
    on_line: &mut dyn FnMut(Stream, &str),
) -> Result<i32, Box<dyn Error>> {
    let session = Session::open(config);
    let input = session.read(ManifestSource::File(manifest), &GivenValues::default(), MAX_MANIFEST_SIZE)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let executor = session.executor(&input, executor).map_err(text)?;
    let command = ExecutorCommand { work_dir: Some("/".into()), ..command.into() };
    let result = runtime.block_on(executor.exec(&command, RunOptions::default(), on_line)).map_err(text)?;
    match (result.exit_code, result.transaction.outcome) {
        (Some(code), _) => Ok(code),
        (None, Outcome::Failed(failure)) => Err(failure.chain.join(": ").into()),
        (None, outcome) => Err(format!("the command was not run: {}", outcome.word()).into()),
    }
}

/// Returns an error as text: the errors of a manifest say more than their first line.
fn text(error: ExecutorError) -> Box<dyn Error> {
    match error {
        ExecutorError::Manifest(errors) => errors.text().into(),
        error => error.into(),
    }
}
