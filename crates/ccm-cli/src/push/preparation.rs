//! Everything that a push needs before the first connection: bundle, words of ssh, password.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;

use ccm_push::wire::{self, PushRequest, RequestProtocol};
use ccm_push::{Connector, Fleet, Host, PushContent, PushHost, Rights, SSH, Selection, SshCommand};
use ccm_runtime::model::{display_duration, hexadecimal, split_words};
use ccm_runtime::process::{PipedProcess, ask_secret, environment, own_program, random_secret, variable};
use ccm_runtime::push::push_name;
use ccm_runtime::release::{BuildError, BuiltBundle};
use ccm_runtime::{ManifestSource, RunMode, Session};

use super::command;
use crate::arguments::{
    DataArguments, EnvironmentArguments, FactArguments, IdentityArguments, PushArguments, ValueArguments,
};
use crate::console::Console;
use crate::error::{CommandError, CommandResult};
use crate::session;
use crate::source::{self, FromRequest};

/// Variable with a command line in place of `ssh`.
const SSH_VARIABLE: &str = "CCM_SSH";
/// Maximum size of a program to install.
const MAX_PROGRAM: u64 = 256 << 20;
const CONSEQUENCE: &str = "nothing was run";

/// Bundle to push.
struct Packed {
    /// Name of the source on the hosts.
    source: String,
    manifest: String,
    bundle: BuiltBundle,
}

/// Prepares the connections to all hosts.
pub(super) async fn fleet(
    arguments: &PushArguments,
    selection: Selection,
    console: &Console,
) -> CommandResult<Fleet> {
    let session = session::open_with(console, &arguments.state);
    let (program, words, is_own) = ssh_words()?;
    let packed = packed(arguments, &session, console).await?;
    let options = options(arguments);
    let hosts = selection.hosts.into_iter().map(|(name, host)| {
        let request = request(&packed, &options, &host)?;
        Ok(PushHost { name, host, request })
    });
    let hosts = hosts.collect::<CommandResult<Vec<_>>>()?;
    let rights = match (arguments.sudo, arguments.ask_sudo) {
        (_, true) => Rights::SudoWithPassword,
        (true, false) => Rights::Sudo,
        (false, false) => Rights::Own,
    };
    let ssh = SshCommand {
        program: words,
        connect_timeout: u32::try_from(arguments.connect_timeout.as_secs().max(1)).unwrap_or(u32::MAX),
        rights,
        installs: arguments.install,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        prompt: prompt()?,
    };
    let content = PushContent {
        bundle: packed.bundle.content,
        program: if arguments.install { Some(program_content(&session)?) } else { None },
        password: if arguments.ask_sudo { Some(password(console).await?) } else { None },
        keeps_output: arguments.run.is_some(),
    };
    let connector = Connector { ssh, program, environment: environment(), content };
    Ok(Fleet { connector, hosts, asks_ssh: is_own, handshakes: RefCell::new(HashMap::new()) })
}

/// Returns a question that no host prints by chance.
fn prompt() -> CommandResult<String> {
    let random = random_secret::<16>().map_err(|error| CommandError::setup(&error))?;
    Ok(format!("ccm-push-{}:", hexadecimal(&random)))
}

/// Returns the program in place of `ssh`, its words, and whether it is `ssh` itself.
fn ssh_words() -> CommandResult<(std::path::PathBuf, Vec<String>, bool)> {
    let given = variable(SSH_VARIABLE).map(|text| text.to_string_lossy().into_owned());
    let wrong = |reason: &str| CommandError::variable(SSH_VARIABLE, reason);
    let words = match &given {
        Some(text) => split_words(text).map_err(|error| wrong(&error.to_string()))?,
        None => vec![SSH.to_owned()],
    };
    let Some(name) = words.first() else { return Err(wrong("it has no words")) };
    let path = variable("PATH").unwrap_or_default();
    let program = PipedProcess::find(name, &path.to_string_lossy()).map_err(|error| {
        let error = CommandError::of(&error).therefore(CONSEQUENCE);
        if given.is_none() { error.hint("install the client of OpenSSH") } else { error }
    })?;
    Ok((program, words, given.is_none()))
}

async fn packed(arguments: &PushArguments, session: &Session, console: &Console) -> CommandResult<Packed> {
    if let Some(text) = &arguments.run {
        let manifest = command::manifest(text, arguments.shell)?;
        let bundle = session.pack_file(command::MANIFEST, manifest.as_bytes());
        let bundle = bundle.map_err(|error| build_error(&error))?;
        return Ok(Packed { source: "push-run".to_owned(), manifest: command::MANIFEST.to_owned(), bundle });
    }
    let values = ValueArguments {
        data: DataArguments::default(),
        facts: FactArguments::default(),
        environment: EnvironmentArguments::default(),
        identity: IdentityArguments::default(),
    };
    let manifests: Vec<_> = arguments.manifest.iter().cloned().collect();
    let request = FromRequest {
        from: &arguments.from,
        manifests: &manifests,
        values: &values,
        max_size: arguments.limits.max_manifest_size,
        consequence: CONSEQUENCE,
    };
    let followed = source::follow(request, session, RunMode::Apply, console).await?;
    if let Some(ManifestSource::Accepted { path, directory, version, .. }) = followed.manifest() {
        let manifest = path.strip_prefix(&directory).unwrap_or(&path).to_string_lossy().into_owned();
        let bundle = session.pack_directory(&directory).map_err(|error| build_error(&error))?;
        return Ok(Packed { source: push_name(Path::new(&version.name)), manifest, bundle });
    }
    let Some(path) = &arguments.manifest else {
        return Err(CommandError::usage("no manifest is named; nothing was run"));
    };
    local(path, session)
}

/// Packs the directory of a manifest.
fn local(path: &Path, session: &Session) -> CommandResult<Packed> {
    if path == Path::new("-") {
        let message =
            "a push sends the directory of a manifest, which standard input has not; nothing was run";
        return Err(CommandError::usage(message).hint("write the manifest to a directory of its own"));
    }
    if !session.is_file(path) {
        return Err(CommandError::new(format!("there is no manifest {}; nothing was run", path.display())));
    }
    let path = ccm_runtime::process::absolute(path)?;
    let directory = path.parent().unwrap_or(&path);
    let home = variable("HOME").map(std::path::PathBuf::from);
    let is_shared = ["/", "/etc", "/root", "/tmp", "/var/tmp", "/home"].map(Path::new).contains(&directory);
    if is_shared || home.as_deref() == Some(directory) {
        let message = format!(
            "a push sends the directory of the manifest, and {} has more than what belongs to it; nothing was run",
            directory.display()
        );
        return Err(CommandError::new(message).hint("move the manifest into a directory of its own"));
    }
    let bundle = session.pack_directory(directory).map_err(|error| build_error(&error))?;
    let manifest = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Packed { source: push_name(directory), manifest, bundle })
}

fn build_error(error: &BuildError) -> CommandError {
    CommandError::of(error).therefore(CONSEQUENCE).hints(error.hint())
}

/// Returns the options of the run on every host.
fn options(arguments: &PushArguments) -> Vec<String> {
    let mut options = vec!["--diff".to_owned()];
    if arguments.noop {
        options.push("--noop".to_owned());
    }
    let mut add = |option: &str, value: String| options.push(format!("{option}={value}"));
    arguments.only.iter().for_each(|id| add("--only", id.to_string()));
    arguments.skip.iter().for_each(|id| add("--skip", id.to_string()));
    arguments.data.iter().for_each(|data| add("--data", data.clone()));
    arguments.fact.iter().for_each(|fact| add("--fact", fact.clone()));
    arguments.timeout.iter().for_each(|timeout| add("--timeout", display_duration(*timeout)));
    arguments.lock_wait.iter().for_each(|wait| add("--lock-wait", display_duration(*wait)));
    options
}

fn request(packed: &Packed, options: &[String], host: &Host) -> CommandResult<String> {
    let facts = host.facts.assignments().iter().map(|fact| format!("--fact={fact}"));
    let request = PushRequest {
        protocol: RequestProtocol::V1,
        source: packed.source.clone(),
        sha256: packed.bundle.digest.sha256.clone(),
        size: packed.bundle.digest.size,
        compressed: packed.bundle.content.len() as u64,
        manifest: packed.manifest.clone(),
        // A fact of the command line comes later, and wins.
        options: facts.chain(options.iter().cloned()).collect(),
    };
    let line = wire::line(&request).map_err(|error| CommandError::of(&error))?;
    if line.len() > wire::MAX_REQUEST {
        return Err(CommandError::new("facts and options of a host are larger than 1 MiB; nothing was run"));
    }
    Ok(line)
}

/// Returns this program, and its architecture.
fn program_content(session: &Session) -> CommandResult<(Vec<u8>, String)> {
    let program = own_program().ok().and_then(|path| session.program_content(&path, MAX_PROGRAM));
    let content = program
        .ok_or_else(|| CommandError::new("this program can't be read to install it; nothing was run"))?;
    Ok((content, std::env::consts::ARCH.to_owned()))
}

async fn password(console: &Console) -> CommandResult<String> {
    let password = ask_secret("Password of sudo on the hosts: ").await;
    let password = password.map_err(|error| {
        CommandError::new("the password can't be read; nothing was run").caused_by(&error)
    })?;
    if password.is_empty() {
        return Err(CommandError::new("the password is empty; nothing was run"));
    }
    console.secrets().add([password.clone()]);
    Ok(password)
}
