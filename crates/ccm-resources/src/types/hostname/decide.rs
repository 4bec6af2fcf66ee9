//! The pure decision about the name of the machine.

use ccm_engine::Described;
use ccm_model::Resource;
use ccm_properties::PropertyError;

use crate::parts::text::{TextFile, shown};
use crate::support::object_plan::{ObjectDifference, ObjectPlan, ObjectType};

/// Maximum length of a name in bytes, which is that of the kernel.
const MAX_NAME: usize = 64;

/// The desired name, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DesiredHostname(pub String);

impl DesiredHostname {
    pub(super) fn build(resource: &Resource) -> Result<Self, Vec<PropertyError>> {
        let name = resource.id.name.to_string();
        match name_error(&name) {
            Some(message) => Err(vec![PropertyError::of_name(message).with_hint(
                "write letters, digits and dashes, with a dot between parts, such as `web-1.example.com`",
            )]),
            None => Ok(Self(name)),
        }
    }
}

fn name_error(name: &str) -> Option<String> {
    let shown = name.escape_debug();
    let is_part = |part: &str| {
        !part.is_empty()
            && !part.starts_with('-')
            && !part.ends_with('-')
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    if name.len() > MAX_NAME {
        Some(format!("`{shown}` is longer than {MAX_NAME} bytes, the maximum of the kernel"))
    } else if !name.split('.').all(is_part) {
        Some(format!("`{shown}` is not a name for a machine"))
    } else {
        None
    }
}

/// Names that the machine has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct HostnameState {
    /// Name of the kernel.
    pub running: String,
    /// The file `/etc/hostname`.
    pub file: TextFile,
    /// Command line of the kernel.
    pub kernel_options: String,
}

impl HostnameState {
    /// Returns the name in `/etc/hostname`.
    pub(super) fn saved(&self) -> Option<String> {
        self.file.iter().find(|line| is_name(line)).map(|line| shown(line.trim_ascii()))
    }

    /// Returns the content of `/etc/hostname` with a name. Comments stay.
    pub(super) fn with(&self, name: &str) -> Vec<u8> {
        let mut lines = self.file.lines();
        lines.set(is_name, Some(name.as_bytes()));
        lines.into_content()
    }
}

fn is_name(line: &[u8]) -> bool {
    !matches!(line.trim_ascii(), [] | [b'#', ..])
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HostnameDifference {
    Running {
        from: String,
        to: String,
    },
    /// The name in `/etc/hostname`.
    Saved {
        from: Option<String>,
        to: String,
    },
}

impl ObjectDifference for HostnameDifference {
    fn aspect(&self) -> &'static str {
        match self {
            Self::Running { .. } => "name",
            Self::Saved { .. } => "name at boot",
        }
    }

    fn values(&self) -> (Option<String>, Option<String>) {
        match self {
            Self::Running { from, to } => (Some(from.clone()), Some(to.clone())),
            Self::Saved { from, to } => {
                (Some(from.clone().unwrap_or_else(|| "none".to_owned())), Some(to.clone()))
            }
        }
    }
}

impl ObjectType for DesiredHostname {
    type State = HostnameState;
    type Difference = HostnameDifference;
    type Effect = ();

    fn plan(&self, state: &HostnameState) -> ObjectPlan<HostnameDifference> {
        let to = &self.0;
        let running = (state.running != *to)
            .then(|| HostnameDifference::Running { from: state.running.clone(), to: to.clone() });
        let saved = Some(state.saved()).filter(|saved| saved.as_ref() != Some(to));
        let saved = saved.map(|from| HostnameDifference::Saved { from, to: to.clone() });
        let differences: Vec<HostnameDifference> = running.into_iter().chain(saved).collect();
        ObjectPlan::of_existing(differences)
    }

    fn warnings(&self, state: &HostnameState) -> Vec<String> {
        let options = state.kernel_options.split_whitespace();
        let at_boot = options.filter_map(|option| option.strip_prefix("systemd.hostname=")).next_back();
        let other = at_boot.filter(|name| *name != self.0);
        let warning = other.map(|name| {
            format!("at boot, `systemd.hostname={name}` on the command line of the kernel overrides \"/etc/hostname\"")
        });
        warning.into_iter().collect()
    }

    fn shown(&self) -> String {
        format!("host name `{}`", self.0)
    }

    fn describe(&self, state: &HostnameState) -> Described {
        Described::new("present").with("running", state.running.as_str()).with("saved", state.saved())
    }
}

#[cfg(test)]
mod tests {
    use ccm_engine::ResourceKind as _;

    use super::*;
    use crate::support::decision_table::assert_rows;
    use crate::support::object_plan::Object;

    const TABLE: &str = "# name of the kernel, name in the file\n\
        web.a  web.a    | keep | it is in the desired state\n\
        old    web.a    | changed: name old to web.a | it differs in name\n\
        web.a  old      | changed: name at boot old to web.a | it differs in name at boot\n\
        web.a  -        | changed: name at boot none to web.a | it differs in name at boot\n\
        old    #web.a   | changed: name old to web.a, name at boot none to web.a | it differs in name and name at boot\n";

    #[test]
    fn decisions_match_the_table() {
        let rows = assert_rows(TABLE, |[running, saved]| {
            let file = if saved == "-" { TextFile::default() } else { TextFile::of(format!("\n{saved}\n")) };
            let state = HostnameState { running: running.to_owned(), file, ..HostnameState::default() };
            Object::decide(&DesiredHostname("web.a".to_owned()), &state, None)
        });
        assert_eq!(rows, 5);
    }

    #[test]
    fn name_of_the_boot_loader_is_told() {
        for (options, expected) in [
            ("quiet systemd.hostname=old ro", 1),
            ("systemd.hostname=old systemd.hostname=web", 0),
            ("quiet xsystemd.hostname=old", 0),
        ] {
            let state = HostnameState { kernel_options: options.to_owned(), ..HostnameState::default() };
            assert_eq!(DesiredHostname("web".to_owned()).warnings(&state).len(), expected, "{options}");
        }
    }

    #[test]
    fn file_has_one_name_afterwards() {
        for (before, after) in [
            (&b""[..], &b"web\n"[..]),
            (b"old", b"web"),
            (b"# caf\xe9\r\nold\r\nother\r\n", b"# caf\xe9\r\nweb\r\n"),
        ] {
            let state = HostnameState { file: TextFile::of(before), ..HostnameState::default() };
            assert_eq!(state.with("web"), after);
        }
    }

    #[test]
    fn names_are_those_of_the_kernel_and_of_dns() {
        for name in ["web", "web-1.example.com", "WEB", "1"] {
            assert_eq!(name_error(name), None, "{name}");
        }
        let long = "a".repeat(65);
        for name in ["", "a b", "a_b", "-a", "a-", "a..b", ".a", "a.", "ä", "a\n", &long] {
            assert!(name_error(name).is_some(), "{name}");
        }
    }
}
