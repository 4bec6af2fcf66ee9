//! The properties of a kernel module, as the manifest writes them.

use ccm_properties::{Exposure, PropertyKind, TextKind, TextValue, ValueError, properties};

properties! {
    /// Properties of a kernel module; their documentation is the reference for users.
    #[derive(Debug, Default)]
    pub(crate) struct KernelModuleProperties {
        /// Load the module at boot, by a file in `/etc/modules-load.d`.
        boot: bool { default: Some("not managed; with `ensure: absent` the file is removed"), foreign_names: &["persistent"] },
        /// Keep the module from being loaded, by a file in `/etc/modprobe.d`: neither for a device nor by name. It needs
        /// `ensure: absent`.
        blacklist: bool { default: Some("not managed"), foreign_names: &["blacklisted"] },
        /// Parameters of the module, such as `nr_devices=4`, in a file in `/etc/modprobe.d`. They count when the module is loaded
        /// the next time. An empty text removes them.
        options: ModuleOptions { exposure: Exposure::File("leave the value out: every user can read the options of modules"), default: Some("not managed"), foreign_names: &["params", "parameters"] },
    }
}

/// Parameters of a module on one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ModuleOptions(pub String);

impl TextValue for ModuleOptions {
    const KIND: PropertyKind = PropertyKind::Text(TextKind::ANY);

    fn from_text(text: &str) -> Result<Self, ValueError> {
        let text = text.trim();
        if text.chars().any(char::is_control) {
            return Err(ValueError::new("the parameters contain a control character or more than one line"));
        }
        if text.contains(['#', '\\']) {
            return Err(ValueError::new(
                "the parameters contain `#` or `\\`, which modprobe reads in its own way",
            ));
        }
        Ok(Self(text.to_owned()))
    }
}
