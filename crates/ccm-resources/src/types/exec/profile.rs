//! Sandbox profiles: names for what a sandbox opens.

use ccm_properties::{PropertyError, PropertyKind, TextValue, ValueError};

use super::sandbox::{SandboxProperties, word};

const PROFILES: [&str; 2] = ["no_network_compute", "read_only_local"];

/// Name for what a sandbox opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SandboxProfile {
    /// Reads the directory of the manifest, and writes only a private one.
    ReadOnlyLocal,
    /// Writes its working directory, but not the hooks and the configuration of Git in it.
    NoNetworkCompute,
}

impl TextValue for SandboxProfile {
    const KIND: PropertyKind = PropertyKind::Words(&PROFILES);

    fn from_text(text: &str) -> Result<Self, ValueError> {
        match text {
            "no_network_compute" => Ok(Self::NoNetworkCompute),
            "read_only_local" => Ok(Self::ReadOnlyLocal),
            "restricted_remote" => Err(ValueError::unsupported(
                "the profile `restricted_remote` needs a proxy that admits only named hosts, which ccm does not have",
            )
            .with_hint("use `network: true` to open the whole network, or a profile without a network")),
            "privileged_operator_approved" => Err(ValueError::unsupported(
                "the profile `privileged_operator_approved` can be named only by a rule of a policy",
            )
            .with_hint("leave out `sandbox` to run the command with all rights of its user")),
            other => Err(word("profile", other, &PROFILES)),
        }
    }
}

impl SandboxProfile {
    fn name(self) -> &'static str {
        match self {
            Self::NoNetworkCompute => PROFILES[0],
            Self::ReadOnlyLocal => PROFILES[1],
        }
    }
}

/// Returns an error for each property that opens what the profile keeps closed.
pub(crate) fn profile_conflicts(sandbox: &SandboxProperties) -> Vec<PropertyError> {
    let Some(profile) = sandbox.profile else { return Vec::new() };
    let is_read_only = profile == SandboxProfile::ReadOnlyLocal;
    let opened = [
        ("network", sandbox.network == Some(true)),
        ("unix_sockets", sandbox.unix_sockets == Some(true)),
        ("write", is_read_only && sandbox.write.as_ref().is_some_and(|paths| !paths.is_empty())),
        ("workdir", is_read_only && !sandbox.is_private()),
        ("advisory", sandbox.advisory == Some(true)),
    ];
    let conflict = |property: &str| {
        let message = format!("`{property}` opens what the profile `{}` keeps closed", profile.name());
        PropertyError::conflict(
            "sandbox",
            message,
            format!("leave out `{property}`, or leave out `profile` and open what the command needs"),
        )
    };
    opened.iter().filter(|(_, is_opened)| *is_opened).map(|(property, _)| conflict(property)).collect()
}
