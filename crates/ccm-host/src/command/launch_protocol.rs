//! The messages between ccm and a launcher, as JSON.

use std::ffi::CString;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::mark::Mark;
use super::sandbox::SandboxLayer;
use super::{Enforced, Sandbox, StartError};
use crate::Identity;

/// Lowest number of a descriptor that ccm hands to launchers or starts them by, and that a launcher has of its own:
/// above those that a launcher inherits by number.
pub(crate) const LOWEST_OWN_DESCRIPTOR: i32 = 16;

/// Maximum size of a request in bytes. The kernel starts no program with more than 6 MiB of arguments and
/// environment, and in JSON each of these bytes takes at most four.
pub(crate) const MAX_REQUEST: usize = 64 << 20;

/// Maximum size of the replies of a launcher in bytes: they are read at its end, so they fit into a pipe.
pub(crate) const MAX_REPLIES: u64 = 64 << 10;

/// Program that a launcher becomes, and the identity and confinement that it takes on before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LaunchRequest {
    #[serde(with = "path")]
    pub(crate) program: PathBuf,
    /// The first one is the name that the program is called by.
    pub(crate) arguments: Vec<CString>,
    pub(crate) environment: Vec<CString>,
    #[serde(with = "path")]
    pub(crate) cwd: PathBuf,
    /// `None` keeps the identity of ccm.
    pub(crate) identity: Option<Identity>,
    pub(crate) umask: Option<u32>,
    /// Mark of the command; `None` keeps the mark of ccm.
    pub(crate) mark: Option<Mark>,
    pub(crate) sandbox: Option<Sandbox>,
    pub(crate) switched_off: Vec<SandboxLayer>,
    /// The launcher inherits an empty network.
    pub(crate) has_network: bool,
    /// Reason why the sandbox could change the program of the launcher; `None` if it can't.
    pub(crate) exposed: Option<String>,
    /// Control group of the sandbox.
    pub(crate) control_group: ControlGroupRequest,
    /// The launcher does everything except become the program.
    pub(crate) is_preflight: bool,
}

/// Control group that a launcher joins.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ControlGroupRequest {
    /// Files through which a process joins.
    #[serde(with = "paths")]
    pub(crate) memberships: Vec<PathBuf>,
    pub(crate) limits_processes: bool,
    pub(crate) limits_memory: bool,
}

/// Result of a launcher.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum LaunchReply {
    /// The launcher is about to become the program.
    Ready(Enforced),
    /// The launcher could not become the program.
    Failed(StartError),
}

impl LaunchRequest {
    pub(crate) fn encode(&self) -> serde_json::Result<Vec<u8>> {
        serde_json::to_vec(self)
    }

    /// Decodes a request. The error is dropped because it could quote an argument, which may be secret.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }
}

impl LaunchReply {
    pub(crate) fn encode(&self) -> serde_json::Result<Vec<u8>> {
        serde_json::to_vec(self)
    }

    /// Decodes the last of several replies; `None` if there is none or one of them is incomplete.
    pub(crate) fn decode_last(bytes: &[u8]) -> Option<Self> {
        serde_json::Deserializer::from_slice(bytes).into_iter().last()?.ok()
    }
}

/// Decodes bytes as a request and as replies, and encodes them again, for tests.
#[doc(hidden)]
pub fn launch_messages_again(bytes: &[u8]) -> [Option<Vec<u8>>; 2] {
    let request = LaunchRequest::decode(bytes).and_then(|request| request.encode().ok());
    let reply = LaunchReply::decode_last(bytes).and_then(|reply| reply.encode().ok());
    [request, reply]
}

/// Path that need not be UTF-8.
pub(crate) mod path {
    use std::ffi::OsString;
    use std::path::{Path, PathBuf};

    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    pub(crate) fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
        path.as_os_str().serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
        OsString::deserialize(deserializer).map(PathBuf::from)
    }
}

/// A path that need not be UTF-8 and may be missing.
pub(crate) mod optional_path {
    use std::ffi::OsString;
    use std::path::{Path, PathBuf};

    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    #[expect(clippy::ref_option, reason = "serde passes a reference to the field")]
    pub(crate) fn serialize<S: Serializer>(path: &Option<PathBuf>, serializer: S) -> Result<S::Ok, S::Error> {
        path.as_deref().map(Path::as_os_str).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<PathBuf>, D::Error> {
        Ok(Option::<OsString>::deserialize(deserializer)?.map(PathBuf::from))
    }
}

/// Paths that need not be UTF-8.
pub(crate) mod paths {
    use std::ffi::OsString;
    use std::path::PathBuf;

    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(paths: &[PathBuf], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(paths.iter().map(|path| path.as_os_str()))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<PathBuf>, D::Error> {
        Ok(Vec::<OsString>::deserialize(deserializer)?.into_iter().map(PathBuf::from).collect())
    }
}

/// Error of the system: its number, or its text if it has no number.
pub(crate) mod io_error {
    use std::io;

    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    pub(crate) fn serialize<S: Serializer>(error: &io::Error, serializer: S) -> Result<S::Ok, S::Error> {
        error.raw_os_error().ok_or_else(|| error.to_string()).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<io::Error, D::Error> {
        Ok(Result::deserialize(deserializer)?
            .map_or_else(io::Error::other::<String>, io::Error::from_raw_os_error))
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::io;
    use std::os::unix::ffi::OsStringExt as _;

    use super::*;
    use crate::{AllowedPrograms, Means, SandboxLimits};

    fn not_utf8() -> PathBuf {
        OsString::from_vec(vec![b'/', 0xff]).into()
    }

    fn request() -> LaunchRequest {
        let texts =
            |texts: &[&[u8]]| texts.iter().map(|text| CString::new(*text).expect("no zero")).collect();
        LaunchRequest {
            program: "/bin/echo".into(),
            arguments: texts(&[b"/bin/echo", b"", b"a \"b\"\n\x01", b"\xc3\xbc \xff"]),
            environment: texts(&[b"A=", b"B=1"]),
            cwd: not_utf8(),
            identity: Some(Identity { uid: 1, gid: 2, groups: vec![3, 4] }),
            umask: Some(0o77),
            mark: Some(Mark::of(7, 9)),
            sandbox: Some(Sandbox {
                private: Some(not_utf8()),
                read: vec!["/a".into(), not_utf8()],
                unix_sockets: true,
                programs: Some(AllowedPrograms {
                    programs: vec!["ls".into(), not_utf8()],
                    are_analysed: true,
                }),
                limits: SandboxLimits { file_size: Some(1), ..SandboxLimits::default() },
                ..Sandbox::new(not_utf8())
            }),
            switched_off: vec![SandboxLayer::Namespaces, SandboxLayer::LandlockNewerThan(2)],
            has_network: true,
            exposed: Some("no memory".to_owned()),
            control_group: ControlGroupRequest {
                memberships: vec![not_utf8()],
                limits_processes: true,
                limits_memory: false,
            },
            is_preflight: true,
        }
    }

    #[test]
    fn a_request_arrives_as_it_was_sent() {
        let whole = request();
        let plain = LaunchRequest { identity: None, umask: None, sandbox: None, ..whole.clone() };
        for request in [whole, plain] {
            let bytes = request.encode().expect("JSON");
            assert_eq!(LaunchRequest::decode(&bytes), Some(request));
        }
    }

    #[test]
    fn a_part_of_a_request_is_none() {
        let bytes = request().encode().expect("JSON");
        for length in 0..bytes.len() {
            assert_eq!(LaunchRequest::decode(&bytes[..length]), None, "{length}");
        }
    }

    #[test]
    fn errors_arrive_as_they_were_sent() {
        let denied = || io::Error::from_raw_os_error(13);
        for error in [
            StartError::NotFound { name: "x".into(), path: "/bin".into() },
            StartError::IsDirectory { program: not_utf8() },
            StartError::NotExecutable { program: not_utf8() },
            StartError::MountedNoexec { program: not_utf8() },
            StartError::NoInterpreter { program: not_utf8() },
            StartError::InterpreterMissing { program: not_utf8(), interpreter: "/y".into() },
            StartError::LoaderMissing { program: not_utf8() },
            StartError::WorkingDirectory { path: not_utf8(), source: denied() },
            StartError::SandboxPath { property: "read".into(), path: not_utf8(), source: denied() },
            StartError::NotEnforceable { missing: vec!["a".into(), "b".into()] },
            StartError::Step { property: "user".into(), step: "groups".into(), source: denied() },
            StartError::Spawn { program: not_utf8(), source: io::Error::other("its interpreter") },
        ] {
            let expected = format!("{error:?}");
            match LaunchReply::decode_last(&LaunchReply::Failed(error).encode().expect("JSON")) {
                Some(LaunchReply::Failed(found)) => assert_eq!(format!("{found:?}"), expected),
                other => unreachable!("{expected}: {other:?}"),
            }
        }
    }

    #[test]
    fn the_last_reply_counts() {
        let enforced = Enforced { filesystem: vec![Means::Mounts], ..Enforced::default() };
        let ready = LaunchReply::Ready(enforced.clone()).encode().expect("JSON");
        let found = LaunchReply::decode_last(&ready);
        assert!(matches!(found, Some(LaunchReply::Ready(found)) if found == enforced));
        let failed = LaunchReply::Failed(StartError::IsDirectory { program: "/x".into() });
        let both = [ready, failed.encode().expect("JSON")].concat();
        assert!(matches!(LaunchReply::decode_last(&both), Some(LaunchReply::Failed(_))));
        assert!(LaunchReply::decode_last(b"").is_none());
        assert!(LaunchReply::decode_last(&both[..both.len() - 1]).is_none());
    }
}
