//! Text of the first manifest.

use std::path::Path;

/// Manifest with `[file]` and `[directory]` in the place of the paths.
const TEMPLATE: &str = include_str!("first.yaml");

/// Packages and services that a family of distributions has.
struct Family {
    name: &'static str,
    tool: &'static str,
    package: &'static str,
    service: &'static str,
}

const FAMILIES: [Family; 3] = [
    Family { name: "debian", tool: "apt", package: "cron", service: "cron" },
    Family { name: "rhel", tool: "dnf", package: "cronie", service: "crond" },
    Family { name: "fedora", tool: "dnf", package: "cronie", service: "crond" },
];

/// Returns the manifest. `file` is its path for a command line, and `directory` the one that it writes to; `None` for
/// a directory whose path a manifest can't have without escapes.
pub(super) fn text(file: &str, directory: &Path, family: &str, is_root: bool) -> Option<String> {
    let directory = directory.to_str()?;
    if directory.contains("{{") || directory.contains("${") || directory.contains(char::is_control) {
        return None;
    }
    let directory = serde_json::Value::from(directory).to_string();
    // A comment has one line.
    let file: String = file.chars().filter(|part| !part.is_control()).collect();
    let manifest = TEMPLATE.replace("[directory]", &directory).replace("[file]", &file);
    Some(manifest + &system_section(family, is_root))
}

/// Returns the commented part about packages and services.
fn system_section(family: &str, is_root: bool) -> String {
    let Some(Family { tool, package, service, .. }) = FAMILIES.iter().find(|known| known.name == family)
    else {
        return "\n    # Packages and services: see `ccm explain package` and `ccm explain service`.\n"
            .to_owned();
    };
    let who = if is_root { "" } else { " Only root can apply them." };
    format!(
        "\n    # Packages of {tool} and services of systemd. Remove the `# ` before the lines to manage them.{who}\n    \
         # - package:\n    #     - {package}: {{ensure: present}}\n\n    # - service:\n    #     - {service}:\n    \
         #         ensure: running\n    #         enable: true\n    #         require: [package#{package}]\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manifest_fits_the_machine() {
        for (family, is_root, expected) in [
            (
                "debian",
                true,
                "Packages of apt and services of systemd. Remove the `# ` before the lines to manage them.\n",
            ),
            ("rhel", false, "    # - package:\n    #     - cronie: {ensure: present}\n"),
            ("fedora", false, " Only root can apply them.\n"),
            ("arch", false, "see `ccm explain package`"),
        ] {
            let text = text("site.yaml", Path::new("/home/a/x"), family, is_root).expect("a manifest");
            assert!(text.contains(expected), "{family}: {text}");
            assert!(
                text.contains("\n  directory: \"/home/a/x\"\n") && text.contains("apply site.yaml  "),
                "{text}"
            );
            assert!(!text.contains("[file]") && !text.contains("[directory]"), "{text}");
        }
    }

    #[test]
    fn paths_with_syntax_of_manifests_are_refused() {
        for directory in ["/home/{{ x }}", "/home/${x}", "/home/a\nb"] {
            assert!(text("site.yaml", Path::new(directory), "debian", true).is_none(), "{directory}");
        }
        let text = text("my\nsite.yaml", Path::new("/home/a \"b\": #"), "debian", true).expect("a manifest");
        assert!(text.contains("\n  directory: \"/home/a \\\"b\\\": #\"\n"), "{text}");
        assert!(text.contains("apply mysite.yaml "), "{text}");
    }
}
