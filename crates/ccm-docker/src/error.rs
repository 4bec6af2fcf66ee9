//! Errors of the Engine, and what they mean for the resource whose command needs a container.

use std::error::Error;
use std::fmt;
use std::io::{self, ErrorKind};
use std::time::Duration;

use ccm_host::{ContainerError, ContainerSettings, EngineAddress, StartError};
use ccm_model::{MissingPrerequisite, display_duration};

use crate::logins::{Login, LoginError};
use crate::reference::ImageReference;

/// Maximum number of characters of an Engine's message in an error.
const MAX_MESSAGE: usize = 2000;

/// Step that an Engine was asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Negotiate,
    InspectImage,
    Pull,
    Create,
    Attach,
    Start,
    Wait,
    Signal,
    Inspect,
    Remove,
    List,
}

impl fmt::Display for Step {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Negotiate => "tell its version",
            Self::InspectImage => "look up the image",
            Self::Pull => "pull the image",
            Self::Create => "create the container",
            Self::Attach => "attach to the container",
            Self::Start => "start the command",
            Self::Wait => "wait for the command",
            Self::Signal => "stop the container",
            Self::Inspect => "inspect the container",
            Self::Remove => "remove the container",
            Self::List => "list containers",
        })
    }
}

/// Error of an Engine, or of the connection to it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EngineError {
    /// No connection could be made.
    #[error("the Engine at {address} can't be reached")]
    Unreachable { address: EngineAddress, source: io::Error },
    /// The connection broke.
    #[error("the connection to the Engine at {address} was lost")]
    Lost { address: EngineAddress, source: Box<dyn Error + Send + Sync> },
    /// The Engine did not answer in time.
    #[error("the Engine at {address} did not answer within {}", display_duration(*.within))]
    Silent { address: EngineAddress, within: Duration },
    /// The Engine is too old.
    #[error("the Engine at {address} speaks version {version} of its API, and ccm needs {needed}")]
    TooOld { address: EngineAddress, version: String, needed: String },
    /// The answer is not that of an Engine.
    #[error("the answer of the Engine at {address} can't be understood: {problem}")]
    Answer { address: EngineAddress, problem: String },
    /// The Engine refused a step.
    #[error("the Engine could not {step}: {message}")]
    Refused { step: Step, status: u16, message: String },
    /// The registry refused an image to this login, or without one.
    #[error("the Engine could not {}: {message}", Step::Pull)]
    Denied { message: String, login: SentLogin },
}

/// Login that was sent to a registry.
#[derive(Debug)]
pub(crate) enum SentLogin {
    /// The one in the file.
    Known,
    /// None, because there is none.
    Absent,
    /// None, because the one in the file can't be used.
    Unusable(LoginError),
}

impl EngineError {
    /// Returns the HTTP status of a step that the Engine refused.
    pub(crate) fn status(&self) -> Option<u16> {
        match self {
            Self::Refused { status, .. } => Some(*status),
            _ => None,
        }
    }

    /// Returns the message of the Engine.
    pub(crate) fn message(&self) -> &str {
        match self {
            Self::Refused { message, .. } | Self::Denied { message, .. } => message,
            _ => "",
        }
    }

    /// Returns the error of a pull with a login.
    pub(crate) fn of_pull(self, login: Result<Option<Login>, LoginError>) -> Self {
        match self {
            Self::Refused { step: Step::Pull, message, .. } if is_denial(&message) => {
                let login = match login {
                    Ok(Some(_)) => SentLogin::Known,
                    Ok(None) => SentLogin::Absent,
                    Err(error) => SentLogin::Unusable(error),
                };
                Self::Denied { message, login }
            }
            other => other,
        }
    }

    /// Returns `true` if the Engine is not there at all, so that further requests are pointless.
    pub(crate) fn is_gone(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::Lost { .. } | Self::Silent { .. })
    }

    /// Builds the error of a command that was not started.
    pub(crate) fn before_start(self, settings: &ContainerSettings) -> StartError {
        let hints = hints(&self, settings);
        let missing = missing(&self, settings);
        container_error(self, hints, missing, false)
    }

    /// Builds the error of a command whose end is not known.
    pub(crate) fn while_running(self, settings: &ContainerSettings) -> StartError {
        let hints = if self.is_gone() {
            vec!["find out why the Engine ended, and what the command had done by then".to_owned()]
        } else {
            hints(&self, settings)
        };
        container_error(self, hints, None, true)
    }
}

fn container_error(
    error: EngineError,
    hints: Vec<String>,
    missing: Option<MissingPrerequisite>,
    has_run: bool,
) -> StartError {
    let message = error.to_string();
    let source = match error {
        EngineError::Unreachable { source, .. } => Some(source.into()),
        EngineError::Lost { source, .. } => Some(source),
        EngineError::Denied { login: SentLogin::Unusable(error), .. } => Some(error.into()),
        _ => None,
    };
    StartError::Container(Box::new(ContainerError {
        message,
        source,
        hints,
        property: Some("executor"),
        missing,
        has_run,
    }))
}

fn hints(error: &EngineError, settings: &ContainerSettings) -> Vec<String> {
    let ContainerSettings { executor, image, .. } = settings;
    let one = |hint: String| vec![hint];
    match error {
        EngineError::Unreachable { source, address } => one(match (source.kind(), address) {
            (ErrorKind::PermissionDenied, _) => {
                "run ccm as root, or as a user who may write the socket, such as a member of the group `docker`"
                    .to_owned()
            }
            (_, EngineAddress::Unix(_)) => format!(
                "start the Engine (`systemctl start docker`), or name its socket with `host` of the executor `{executor}`"
            ),
            (_, EngineAddress::Tcp(_)) => {
                format!("start the Engine, or correct `host` of the executor `{executor}`")
            }
        }),
        EngineError::Lost { .. } | EngineError::Silent { .. } => {
            one("check the log of the Engine (`journalctl --unit docker`)".to_owned())
        }
        EngineError::TooOld { .. } => one("update the Engine".to_owned()),
        EngineError::Answer { .. } => {
            one(format!("correct `host` of the executor `{executor}`: it has to be the socket of an Engine"))
        }
        EngineError::Refused { message, .. } if message.contains("no space left on device") => {
            one("free space on the disk of the Engine, for example with `docker system prune`".to_owned())
        }
        EngineError::Refused { step: Step::InspectImage, status: 404, .. }
        | EngineError::Refused { step: Step::Create, status: 404, .. } => one(format!(
            "load or pull the image `{image}`, or set `pull: missing` in the executor `{executor}`"
        )),
        EngineError::Refused { step: Step::Pull, .. } => one(format!(
            "check the name of the image `{image}` and the connection of the Engine to the registry"
        )),
        EngineError::Denied { login, .. } => {
            let registry = ImageReference::registry(image);
            one(match login {
                SentLogin::Known => format!(
                    "check the name of the image `{image}`, and log in again as the user who runs ccm (`docker login {registry}`)"
                ),
                SentLogin::Absent => format!(
                    "check the name of the image `{image}`, or log in as the user who runs ccm (`docker login {registry}`)"
                ),
                SentLogin::Unusable(_) => format!("pull the image `{image}` with the docker command before the run"),
            })
        }
        EngineError::Refused { message, .. } if missing_source(message).is_some() => one(
            "create the path of `volumes` on the host of the Engine before this command: the Engine creates none"
                .to_owned(),
        ),
        EngineError::Refused { message, .. } if message.contains("unable to find user") => {
            one(format!("use a user of the image `{image}`, or a number"))
        }
        EngineError::Refused { message, .. } if message.contains("unable to find group") => {
            one(format!("use a group of the image `{image}`, or a number"))
        }
        EngineError::Refused { step: Step::Create | Step::Attach | Step::Start, .. } => {
            one(format!("check the settings of the executor `{executor}`"))
        }
        EngineError::Refused { .. } => Vec::new(),
    }
}

/// Returns `true` if a registry refuses an image because of the login. Some registries deny an image that does not exist.
fn is_denial(message: &str) -> bool {
    const SIGNS: [&str; 5] =
        ["unauthorized", "denied", "authentication required", "no basic auth", "forbidden"];
    let message = message.to_ascii_lowercase();
    SIGNS.iter().any(|sign| message.contains(sign))
}

/// Returns the prerequisite that an earlier resource could provide: the socket, or the source of a volume.
fn missing(error: &EngineError, settings: &ContainerSettings) -> Option<MissingPrerequisite> {
    let path = match (error, &settings.engine) {
        (EngineError::Unreachable { source, address: EngineAddress::Unix(path) }, _)
            if matches!(source.kind(), ErrorKind::NotFound | ErrorKind::ConnectionRefused) =>
        {
            path.clone()
        }
        (EngineError::Refused { message, .. }, EngineAddress::Unix(_)) => missing_source(message)?.into(),
        _ => return None,
    };
    Some(MissingPrerequisite::Path(path))
}

/// Returns the source of a volume that does not exist, from the message of Docker or Podman.
fn missing_source(message: &str) -> Option<&str> {
    let of_docker = message.split_once("bind source path does not exist: ").map(|(_, path)| path);
    let of_podman = || message.split_once("statfs ")?.1.strip_suffix(": no such file or directory");
    let path = of_docker.or_else(of_podman)?;
    Some(path.trim()).filter(|path| path.starts_with('/'))
}

/// Returns a message of an Engine in one line of limited length.
pub(crate) fn one_line(message: &str) -> String {
    let mut line = message.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((end, _)) = line.char_indices().nth(MAX_MESSAGE) {
        line.truncate(end);
        line.push('…');
    }
    line
}

/// Returns the error of a program that a container could not start, from the message of the Engine. `None` if the
/// message is about something else.
pub(crate) fn program_error(message: &str, program: &str, search_path: &str) -> Option<StartError> {
    let lower = message.to_ascii_lowercase();
    let names_program =
        message.contains(&format!("\"{program}\"")) || message.contains(&format!("`{program}`"));
    if let Some((_, rest)) = message.split_once("chdir to cwd (\"") {
        let (path, cause) = rest.split_once("\")")?;
        let cause = cause.trim_start_matches([' ', ':']).trim_start_matches("set in config.json failed: ");
        let source = io::Error::other(cause.trim().trim_end_matches(": unknown").to_owned());
        return Some(StartError::WorkingDirectory { path: path.into(), source });
    }
    if !names_program {
        return None;
    }
    if lower.contains("executable file") && lower.contains("not found")
        || lower.contains("no such file or directory")
    {
        return Some(StartError::NotFound { name: program.to_owned(), path: search_path.to_owned() });
    }
    if lower.contains("is a directory") {
        return Some(StartError::IsDirectory { program: program.into() });
    }
    if lower.contains("exec format error") {
        return Some(StartError::NoInterpreter { program: program.into() });
    }
    lower.contains("permission denied").then(|| StartError::NotExecutable { program: program.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_about_a_program_are_understood() {
        const RUNC: &str = "failed to create shim task: OCI runtime create failed: runc create failed: unable to start \
                            container process: exec: ";
        for (message, program, expected) in [
            (format!("{RUNC}\"nosuch\": executable file not found in $PATH: unknown"), "nosuch", "\"nosuch\" not found in PATH"),
            (format!("{RUNC}\"/x/y\": stat /x/y: no such file or directory: unknown"), "/x/y", "\"/x/y\" not found"),
            (format!("{RUNC}\"/etc/passwd\": permission denied: unknown"), "/etc/passwd", "\"/etc/passwd\" is not executable"),
            (format!("{RUNC}\"/bin\": is a directory: unknown"), "/bin", "\"/bin\" is a directory"),
            (
                "crun: executable file `nosuch` not found in $PATH: No such file or directory".to_owned(),
                "nosuch",
                "\"nosuch\" not found in PATH",
            ),
            (
                "OCI runtime exec failed: exec failed: unable to start container process: chdir to cwd (\"/nosuch\") set \
                 in config.json failed: no such file or directory: unknown"
                    .to_owned(),
                "pwd",
                "working directory \"/nosuch\" can't be entered",
            ),
        ] {
            let found = program_error(&message, program, "/bin").map(|error| error.to_string());
            assert_eq!(found.as_deref(), Some(expected), "{message}");
        }
        for message in [
            "error mounting \"/data\": no such file or directory",
            "exec: \"other\": executable file not found",
        ] {
            assert!(program_error(message, "nosuch", "").is_none(), "{message}");
        }
    }

    #[test]
    fn a_message_is_shortened_to_one_line() {
        assert_eq!(one_line("  a\n b\tc "), "a b c");
        assert_eq!(one_line(&"ä".repeat(MAX_MESSAGE + 1)).chars().count(), MAX_MESSAGE + 1);
    }

    #[test]
    fn the_missing_source_of_a_volume_is_found() {
        for (message, expected) in [
            ("invalid mount config for type \"bind\": bind source path does not exist: /a b", Some("/a b")),
            ("statfs /a: no such file or directory", Some("/a")),
            ("no such image", None),
        ] {
            assert_eq!(missing_source(message), expected);
        }
    }
}
