//! `ccm release`: builds, signs, verifies and shows releases.

use std::time::Duration;

use ccm_runtime::model::{display_duration, display_timestamp, escape_control};
use ccm_runtime::release::{
    ClaimedKey, ReleaseFile, ReleaseFileError, ReleasePlan, SignatureThreshold, VerifiedSignature, Waves,
};
use ccm_runtime::{ExitCode, printed};
use serde_json::{Value, json};

use crate::approve::manifest::key_name;
use crate::arguments::{
    DataArguments, DocumentFormat, EnvironmentArguments, FactArguments, FromArguments, IdentityArguments,
    OutputArguments, ReleaseBuildArguments, ReleaseCommand, ReleaseShowArguments, ReleaseSignArguments,
    ReleaseVerifyArguments, StateArguments, ValidateArguments, ValueArguments,
};
use crate::console::Console;
use crate::error::{CommandError, CommandResult};
use crate::{session, validate};

/// Builds, signs, verifies or shows a release.
pub(crate) fn run(command: &ReleaseCommand, is_verbose: bool, console: &Console) -> CommandResult {
    match command {
        ReleaseCommand::Build(arguments) => build(arguments, is_verbose, console),
        ReleaseCommand::Sign(arguments) => sign(arguments, console),
        ReleaseCommand::Verify(arguments) => verify(arguments, console),
        ReleaseCommand::Show(arguments) => show(arguments, console),
    }
}

fn build(arguments: &ReleaseBuildArguments, is_verbose: bool, console: &Console) -> CommandResult {
    let waves =
        Waves::new(arguments.waves.clone()).map_err(|error| CommandError::usage(error.to_string()))?;
    let session = session::open(console);
    if !session.is_directory(&arguments.directory) {
        let message = format!("there is no directory {}; nothing was built", arguments.directory.display());
        return Err(CommandError::new(message));
    }
    let validation = validation_of(arguments);
    let checked = match arguments.output.format {
        DocumentFormat::Json => validate::check_silently(&validation, console),
        DocumentFormat::Text => validate::run(&validation, is_verbose, console).map(drop),
    };
    checked.map_err(|error| error.with_message("the manifests are not valid; nothing was built"))?;
    let plan = ReleasePlan {
        channel: arguments.channel.clone(),
        version: arguments.version,
        epoch: arguments.epoch,
        lifetime: arguments.expires,
        min_ccm: arguments.min_ccm,
        waves,
        splay: arguments.splay.unwrap_or_default(),
        note: arguments.note.clone(),
    };
    let built = session.build_release(&arguments.directory, plan, &arguments.out);
    let (file, count) = built.map_err(|error| failed(&error, "nothing was built"))?;
    if arguments.output.format == DocumentFormat::Json {
        return console.print(&printed::document(&document(&file)));
    }
    let files = if count == 1 { "file" } else { "files" };
    console.print_words(&format!(
        "wrote {}: version {} of {}, {count} {files}\nwrote {}: the bundle\n",
        shown(&file.path),
        file.release.version,
        file.release.channel,
        shown(&file.bundle)
    ))?;
    console.hint(&format!("sign it: ccm release sign {}", arguments.out.display()));
    Ok(ExitCode::Success)
}

/// Returns the arguments of `ccm validate` for the directory of a release.
fn validation_of(arguments: &ReleaseBuildArguments) -> ValidateArguments {
    ValidateArguments {
        manifests: vec![arguments.directory.clone()],
        strict: false,
        no_files: arguments.no_files,
        from: FromArguments::default(),
        values: ValueArguments {
            data: DataArguments::default(),
            facts: FactArguments::default(),
            environment: EnvironmentArguments::default(),
            identity: IdentityArguments::default(),
        },
        matrix: arguments.matrix.clone(),
        limits: arguments.limits.clone(),
        output: OutputArguments { format: DocumentFormat::Text, json: false },
        state: StateArguments::default(),
    }
}

fn sign(arguments: &ReleaseSignArguments, console: &Console) -> CommandResult {
    let session = session::open(console);
    let mut file = read(&session, &arguments.release, "nothing was signed")?;
    console.print(&overview(&file))?;
    let key = session.governance().signing_key(arguments.key.clone(), None)?;
    session.sign_release(&mut file, &key).map_err(|error| failed(&error, "nothing was signed"))?;
    console.print_words(&format!("signed with {}: {}\n", key_name(&key), shown(&file.path)))
}

fn verify(arguments: &ReleaseVerifyArguments, console: &Console) -> CommandResult {
    let session = session::open(console);
    let file = read(&session, &arguments.release, "the release does not count")?;
    let threshold = SignatureThreshold(arguments.threshold.into());
    let signers = session
        .verify_release(&file, &arguments.signers, threshold)
        .map_err(|error| failed(&error, "the release does not count"))?;
    if arguments.output.format == DocumentFormat::Json {
        let signers: Vec<Value> = signers.iter().map(signer).collect();
        let mut document = document(&file);
        document["verified"] = json!(signers);
        return console.print(&printed::document(&document));
    }
    let names: Vec<_> = signers.iter().map(|signer| escape_control(&signer.principal)).collect();
    console.print_words(&format!(
        "{}: version {} of {}, signed by {}, with its bundle\n",
        shown(&file.path),
        file.release.version,
        file.release.channel,
        names.join(", ")
    ))
}

fn show(arguments: &ReleaseShowArguments, console: &Console) -> CommandResult {
    let session = session::open(console);
    let file = read(&session, &arguments.release, "nothing can be shown")?;
    console.print(&match arguments.output.format {
        DocumentFormat::Json => printed::document(&document(&file)),
        DocumentFormat::Text => overview(&file),
    })
}

fn read(
    session: &ccm_runtime::Session,
    path: &std::path::Path,
    consequence: &str,
) -> CommandResult<ReleaseFile> {
    session.read_release(path).map_err(|error| failed(&error, consequence))
}

fn failed(error: &ReleaseFileError, consequence: &str) -> CommandError {
    let hint = match error {
        ReleaseFileError::Build(error) => error.hint(),
        ReleaseFileError::OtherBundle { .. } => {
            Some("copy the bundle that was built with the release beside it")
        }
        ReleaseFileError::Threshold { source, .. } if source.refused.is_none() => {
            Some("`ccm release sign` adds a signature")
        }
        _ => None,
    };
    CommandError::of(error).therefore(consequence).hints(hint)
}

/// Returns everything that a release says, as text.
fn overview(file: &ReleaseFile) -> String {
    let release = &file.release;
    let mut rows = vec![
        ("channel", release.channel.to_string()),
        ("version", release.version.to_string()),
        ("issued", display_timestamp(release.issued, 0)),
    ];
    if release.epoch > 0 {
        rows.insert(2, ("epoch", release.epoch.to_string()));
    }
    rows.extend(release.expires.map(|expires| ("expires", display_timestamp(expires, 0))));
    rows.push(("bundle", format!("{}, {} bytes unpacked", file.release.bundle.sha256, release.bundle.size)));
    rows.extend(release.min_ccm.map(|version| ("needs", format!("ccm {version}"))));
    rows.push(("waves", waves(&release.waves)));
    if !release.splay.is_zero() {
        rows.push(("splay", display_duration(release.splay)));
    }
    rows.extend(release.note.as_deref().map(|note| ("note", escape_control(note).into_owned())));
    rows.push(("signatures", signatures(&file.claimed_keys())));
    let mut text = String::new();
    for (name, value) in rows {
        text += &format!("{name:<11} {value}\n");
    }
    text
}

fn waves(waves: &Waves) -> String {
    if waves.as_slice().is_empty() {
        return "none: all machines at once".to_owned();
    }
    let wave = |wave: &ccm_runtime::release::Wave| match wave.after {
        Duration::ZERO => format!("{} % at once", wave.percent()),
        after => format!("{} % after {}", wave.percent(), display_duration(after)),
    };
    waves.as_slice().iter().map(wave).collect::<Vec<_>>().join(", ")
}

fn signatures(keys: &[ClaimedKey]) -> String {
    if keys.is_empty() {
        return "none".to_owned();
    }
    let key = |key: &ClaimedKey| match &key.fingerprint {
        Some(fingerprint) => fingerprint.clone(),
        None => "one that can't be read".to_owned(),
    };
    format!("{}, not verified here: {}", keys.len(), keys.iter().map(key).collect::<Vec<_>>().join(", "))
}

/// Returns everything that a release says, as JSON.
fn document(file: &ReleaseFile) -> Value {
    // What was read as a release is a JSON document.
    let mut document: Value = serde_json::from_str(file.envelope.payload()).unwrap_or_default();
    document["file"] = json!(file.path);
    document["bundle"]["file"] = json!(file.bundle);
    let keys = file.claimed_keys();
    let key = |key: &ClaimedKey| json!({ "algorithm": key.algorithm, "key": key.fingerprint });
    document["signatures"] = keys.iter().map(key).collect();
    document
}

fn signer(verified: &VerifiedSignature) -> Value {
    json!({ "signer": verified.principal, "key": verified.key.fingerprint() })
}

fn shown(path: &std::path::Path) -> String {
    escape_control(&path.display().to_string()).into_owned()
}
