//! Files of a module for modprobe and for the boot, which ccm alone writes.

use std::path::PathBuf;

use crate::parts::text::TextFile;

/// First line of a file, so that nobody edits it by hand.
const HEADER: &str = "# Managed by ccm.\n";

/// Returns the file that loads a module at boot.
pub(super) fn boot_file(module: &str) -> PathBuf {
    PathBuf::from(format!("/etc/modules-load.d/ccm-{module}.conf"))
}

/// Returns the file with parameters of a module, or with its blacklist.
pub(super) fn modprobe_file(module: &str) -> PathBuf {
    PathBuf::from(format!("/etc/modprobe.d/zz-ccm-{module}.conf"))
}

/// Returns the module that a file of ccm is about; `None` for a file of somebody else.
pub(super) fn of_file_name(name: &str) -> Option<&str> {
    let stem = name.strip_suffix(".conf")?;
    stem.strip_prefix("zz-ccm-").or_else(|| stem.strip_prefix("ccm-"))
}

/// Settings of a module for modprobe.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ModprobeSettings {
    pub is_blacklisted: bool,
    /// Parameters; empty if there are none.
    pub options: String,
}

impl ModprobeSettings {
    /// Reads the settings of a module. A module that is only half blacklisted counts as not blacklisted.
    pub(super) fn parse(file: &TextFile, module: &str) -> Self {
        let mut settings = Self::default();
        let (mut is_ignored, mut is_refused) = (false, false);
        for line in file.iter().filter_map(|line| str::from_utf8(line).ok()) {
            let mut words = line.split_whitespace();
            let (Some(command), Some(name)) = (words.next(), words.next()) else { continue };
            if name.replace('-', "_") != module {
                continue;
            }
            let rest = words.collect::<Vec<_>>().join(" ");
            match command {
                "blacklist" => is_ignored = true,
                "install" => is_refused = rest == "/bin/false",
                "options" => settings.options = rest,
                _ => {}
            }
        }
        settings.is_blacklisted = is_ignored && is_refused;
        settings
    }

    /// Returns the content of the file; empty if it is not needed.
    pub(super) fn content(&self, module: &str) -> String {
        let mut content = String::new();
        if self.is_blacklisted {
            content += &format!("blacklist {module}\ninstall {module} /bin/false\n");
        }
        if !self.options.is_empty() {
            content += &format!("options {module} {}\n", self.options);
        }
        if content.is_empty() { content } else { HEADER.to_owned() + &content }
    }
}

/// Returns `true` if a file loads a module at boot.
pub(super) fn loads(file: &TextFile, module: &str) -> bool {
    let mut lines = file.iter().filter_map(|line| str::from_utf8(line).ok());
    lines.any(|line| line.trim().replace('-', "_") == module)
}

/// Returns the content of a file that loads a module at boot.
pub(super) fn boot_content(module: &str) -> String {
    format!("{HEADER}{module}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_as_they_are_written() {
        for (is_blacklisted, options) in [(false, ""), (true, ""), (false, "a=1 b=2"), (true, "a=1")] {
            let settings = ModprobeSettings { is_blacklisted, options: options.to_owned() };
            let file = TextFile::of(settings.content("br_netfilter"));
            assert_eq!(ModprobeSettings::parse(&file, "br_netfilter"), settings);
        }
        let half = TextFile::of("blacklist usb-storage\noptions other a=1\n");
        assert_eq!(ModprobeSettings::parse(&half, "usb_storage"), ModprobeSettings::default());
        let loads = |content: &str| loads(&TextFile::of(content), "br_netfilter");
        assert!(loads(&boot_content("br_netfilter")) && loads("br-netfilter\n"));
        assert!(!loads("# br_netfilter\n"));
    }
}
