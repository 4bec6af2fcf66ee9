//! The properties of a mount, as the manifest writes them.

use ccm_model::{Diagnostic, DiagnosticKind, Node};
use ccm_properties::{Exposure, PropertyKind, PropertyValue, TextKind, TextValue, ValueError, properties};

properties! {
    /// Properties of a mount; their documentation is the reference for users.
    #[derive(Debug, Default)]
    pub(crate) struct MountProperties {
        /// What is mounted: a device such as `/dev/sdb1` or `UUID=…`, a directory of a server such as `nas:/srv`, or a name such as
        /// `tmpfs`. Required, unless the mount is to be absent.
        device: MountField { exposure: Exposure::File("use an option that names a file with the secret, such as `credentials=/etc/…` of cifs"), foreign_names: &["src", "source", "what"] },
        /// Type of the file system, such as `ext4`. Required, unless the mount is to be absent.
        fstype: MountField { foreign_names: &["type"] },
        /// Options with commas between. A mounted file system gets a remount if it differs in an option that can be compared.
        options: MountField { exposure: Exposure::File("use an option that names a file with the secret, such as `credentials=/etc/…` of cifs"), default: Some("not managed; `defaults` for a new mount"), foreign_names: &["opts"] },
        /// 1 if dump saves the file system, else 0.
        dump: MountNumber { default: Some("not managed; 0 for a new mount") },
        /// Order of the checks at boot: 0 for none, 1 for the root, 2 for others.
        pass: MountNumber { default: Some("not managed; 0 for a new mount"), foreign_names: &["passno"] },
    }
}

/// Field of `/etc/fstab`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MountField(pub String);

impl TextValue for MountField {
    const KIND: PropertyKind = PropertyKind::Text(TextKind::ANY.matching("^[^\\n\\x00]+$"));

    fn from_text(text: &str) -> Result<Self, ValueError> {
        if text.is_empty() {
            Err(ValueError::new("the text is empty"))
        } else if text.chars().any(char::is_control) {
            Err(ValueError::new("the text contains a control character or more than one line"))
        } else {
            Ok(Self(text.to_owned()))
        }
    }
}

/// Number at the end of a line of `/etc/fstab`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MountNumber(pub u8);

impl MountNumber {
    const MAX: i64 = 9;
}

impl PropertyValue for MountNumber {
    const KIND: PropertyKind = PropertyKind::Integer { min: Some(0), max: Some(Self::MAX) };

    fn decode(node: &Node, errors: &mut Vec<Diagnostic>) -> Option<Self> {
        let number = i64::decode(node, errors)?;
        let found = u8::try_from(number).ok().filter(|_| number <= Self::MAX);
        if found.is_none() {
            let message = format!("expected a number from 0 to {}, found {number}", Self::MAX);
            errors.push(Diagnostic::error(DiagnosticKind::InvalidValue, node.span, message));
        }
        found.map(Self)
    }
}
