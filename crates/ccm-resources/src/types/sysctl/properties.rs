//! The properties of a kernel parameter, as the manifest writes them.

use ccm_properties::{PropertyKind, TextValue, ValueError, properties};

use crate::support::values::canonical_path::CanonicalPath;

properties! {
    /// Properties of a kernel parameter; their documentation is the reference for users.
    #[derive(Debug, Default)]
    pub(crate) struct SysctlProperties {
        /// Value of the parameter, now and after a boot. Blanks and tabs between numbers are equal.
        value: ParameterValue { required: true },
        /// File from which the value is set at boot.
        file: CanonicalPath { default: Some("`/etc/sysctl.d/90-ccm.conf`"), foreign_names: &["target", "sysctl_file"] },
    }
}

/// Value of a kernel parameter, with one blank between its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ParameterValue(pub String);

impl TextValue for ParameterValue {
    const KIND: PropertyKind = PropertyKind::TEXT;

    fn from_text(text: &str) -> Result<Self, ValueError> {
        let value = normalized(text);
        if value.is_empty() {
            return Err(ValueError::new("the value is empty"));
        }
        if matches!(&*value, "true" | "false") {
            let number = u8::from(value == "true");
            return Err(ValueError::new(format!("the kernel knows no `{value}`"))
                .with_hint(format!("write {number}")));
        }
        if text.trim().chars().any(|c| c.is_control() && c != '\t') {
            return Err(ValueError::new("the value contains a control character or more than one line"));
        }
        Ok(Self(value))
    }
}

/// Returns a value with one blank between its parts.
pub(super) fn normalized(value: &str) -> String {
    value.split_whitespace().collect::<Vec<_>>().join(" ")
}
