//! Probes, their promises, and the program that makes them from inside of a sandbox.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use crate::calls::{Attempt, Errno, in_child};
use crate::ground::Target;
use crate::{changes, files, ipc, kernel, network, processes};

/// Variable with the [`Target`], set where this program makes the probes.
pub(crate) const TARGET: &str = "CCM_ATTACKS_TARGET";
/// Name of the test that makes the probes.
pub(crate) const PROGRAM: &str = "probe::program";
/// Name of the file in the working directory that receives the results.
pub(crate) const RESULTS: &str = "results";

/// Errors that mean a refusal: a probe that got through to its target would get another.
const REFUSALS: [Errno; 15] = [
    libc::EPERM,
    libc::EACCES,
    libc::ENOSYS,
    libc::ENOENT,
    libc::EROFS,
    libc::ESRCH,
    libc::EXDEV,
    libc::ENOTDIR,
    libc::ECONNREFUSED,
    libc::ENETUNREACH,
    libc::EAFNOSUPPORT,
    libc::EPROTONOSUPPORT,
    libc::ESOCKTNOSUPPORT,
    libc::EPFNOSUPPORT,
    libc::ETXTBSY,
];

/// Promise of the documentation about an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Promise {
    /// Refused in every sandbox.
    Closed,
    /// Refused by the filter of system calls.
    Filtered,
    /// Refused by the mounts that namespaces make possible.
    Hidden,
    /// Refused by Landlock; elsewhere the list of a directory shows only what is open.
    Listed,
    /// Refused where namespaces hide it from a sandbox of root.
    HiddenFromRoot,
    /// Refused where the kernel keeps signals inside.
    Signal,
    /// Allowed in every sandbox.
    Open,
    /// Allowed where namespaces separate it, refused elsewhere.
    OwnWithNamespaces,
    /// Allowed with a network.
    Network,
    /// Allowed with a network, refused otherwise by the filter of system calls.
    NetworkSocket,
    /// Allowed with Unix sockets.
    UnixSockets,
    /// Refused unless the sandbox was reported to reach Unix sockets of the machine by path.
    SocketByPath,
    /// Refused unless the sandbox was reported to reach Unix sockets of the machine by name.
    SocketByName,
}

/// Expected result of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    Refused,
    Allowed,
    Unpromised,
}

/// Circumstances that decide about a promise.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Circumstances {
    pub(crate) ccm_is_root: bool,
    pub(crate) namespaces: bool,
    pub(crate) landlock: bool,
    pub(crate) signals: bool,
    pub(crate) seccomp: bool,
    pub(crate) network: bool,
    pub(crate) unix_sockets: bool,
}

impl Promise {
    pub(crate) fn expected(self, is: Circumstances) -> Expected {
        let refused_if = |condition| if condition { Expected::Refused } else { Expected::Unpromised };
        let allowed_if = |condition| if condition { Expected::Allowed } else { Expected::Refused };
        match self {
            Self::Closed => Expected::Refused,
            Self::Open => Expected::Allowed,
            Self::Listed => refused_if(is.landlock),
            Self::Hidden => refused_if(is.namespaces),
            Self::HiddenFromRoot => refused_if(is.namespaces && is.ccm_is_root),
            Self::Signal => refused_if(is.signals),
            Self::OwnWithNamespaces => allowed_if(is.namespaces),
            Self::Network => allowed_if(is.network),
            Self::NetworkSocket if is.network => Expected::Allowed,
            Self::UnixSockets if is.unix_sockets => Expected::Allowed,
            Self::Filtered | Self::NetworkSocket | Self::UnixSockets => refused_if(is.seccomp),
            Self::SocketByPath => refused_if(is.namespaces || !is.unix_sockets),
            Self::SocketByName => {
                let has_no_socket = is.seccomp && !is.unix_sockets;
                refused_if(is.signals || has_no_socket || (is.namespaces && !is.network))
            }
        }
    }
}

/// Meaning of a probe outside of any sandbox, as root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outside {
    /// The attempt gets through.
    Succeeds,
    /// The machine decides.
    Depends,
    /// The attempt could have an effect.
    NotTried,
}

/// Attempt with its name.
pub(crate) type NamedAttempt = (&'static str, fn(&Target) -> Attempt);
/// Attempt that holds values, with its name.
pub(crate) type NamedClosure = (&'static str, Box<dyn Fn(&Target) -> Attempt>);

/// One attempt.
pub(crate) struct Probe {
    pub(crate) name: String,
    pub(crate) promise: Promise,
    pub(crate) outside: Outside,
    attempt: Box<dyn Fn(&Target) -> Attempt>,
}

impl Probe {
    pub(crate) fn new(
        name: impl Into<String>,
        promise: Promise,
        attempt: impl Fn(&Target) -> Attempt + 'static,
    ) -> Self {
        let attempt = Box::new(attempt);
        Self { name: name.into(), promise, outside: Outside::Succeeds, attempt }
    }

    /// Returns the probe for something that not every machine has.
    pub(crate) fn if_present(self) -> Self {
        Self { outside: Outside::Depends, ..self }
    }

    /// Returns the probe for a sandbox only.
    pub(crate) fn only_inside(self) -> Self {
        Self { outside: Outside::NotTried, ..self }
    }
}

/// Returns all probes.
pub(crate) fn all() -> Vec<Probe> {
    [
        files::probes(),
        changes::probes(),
        processes::probes(),
        network::probes(),
        ipc::probes(),
        kernel::probes(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Result of a probe: the error is `None` if a signal ended it.
pub(crate) type Outcome = Result<(), Option<Errno>>;

pub(crate) fn is_refused(outcome: Outcome) -> bool {
    matches!(outcome, Err(Some(errno)) if REFUSALS.contains(&errno))
}

/// Returns an outcome in words.
pub(crate) fn shown(outcome: Outcome) -> String {
    match outcome {
        Ok(()) => "it succeeded".to_owned(),
        Err(Some(errno)) => std::io::Error::from_raw_os_error(errno).to_string(),
        Err(None) => "a signal ended it".to_owned(),
    }
}

/// Makes all probes, if this program was started for it.
#[test]
fn program() {
    let Some(target) = std::env::var(TARGET).ok() else { return };
    let target = Target::decode(&target);
    let is_inside = target.is_inside;
    let mut results = String::new();
    for probe in all() {
        if !is_inside && probe.outside == Outside::NotTried {
            continue;
        }
        let result = match in_child(|| (probe.attempt)(&target)) {
            Ok(()) => "0".to_owned(),
            Err(Some(errno)) => errno.to_string(),
            Err(None) => "signal".to_owned(),
        };
        writeln!(results, "{result} {}", probe.name).expect("a text grows");
    }
    // The last line shows that the list is complete.
    results.push_str("end\n");
    std::fs::write(target.work().join(RESULTS), results).expect("the results");
}

/// Reads the results that the program left.
pub(crate) fn results(directory: &Path) -> BTreeMap<String, Outcome> {
    let text = std::fs::read_to_string(directory.join(RESULTS)).expect("results");
    let lines = text.strip_suffix("end\n").expect("all results").lines();
    let parse = |line: &str| {
        let (result, name) = line.split_once(' ').expect("a result");
        let outcome = match result {
            "0" => Ok(()),
            "signal" => Err(None),
            errno => Err(Some(errno.parse().expect("a number"))),
        };
        (name.to_owned(), outcome)
    };
    lines.map(parse).collect()
}

#[test]
fn names_of_probes_are_unique() {
    let mut names: Vec<String> = all().into_iter().map(|probe| probe.name).collect();
    let count = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), count);
    assert!(count >= 150, "{count}");
}
