//! Files of packages of rpm.

use std::path::Path;
use std::rc::Rc;

use ccm_host::WalkStep;
use ccm_model::Failure;

use super::{ETC, OwnedPaths};
use crate::parts::packages::dnf::RPM;
use crate::parts::packages::tool_command::{ToolCommand, query};
use crate::support::file_failure::file_failure;
use crate::support::program::ProgramScope;

/// Line before those of a package, and the answer about a path.
const NAME: &str = "= %{NAME}\n";

/// Number of paths that one query asks about: its answers stay far below what is kept of an output.
const PATHS_PER_QUERY: usize = 1000;

/// Reads the configuration files of all packages, and asks about the other paths below `/etc`.
pub(super) async fn owned_paths(scope: ProgramScope<'_>) -> Result<OwnedPaths, Failure> {
    let arguments = ["-qa", "--configfiles", "--dump", "--queryformat", NAME];
    let call = ToolCommand::new(RPM, "rpm -qa --configfiles", &arguments);
    let mut paths = OwnedPaths::default();
    add_conffiles(&mut paths, &query(&call, scope, true).await?.stdout);
    let walked = scope.host.files.walk(Path::new(ETC), &|_, _| WalkStep::Enter);
    let walked = walked.map_err(|error| file_failure(&error))?.unwrap_or_default();
    let present = walked.iter().filter_map(|entry| Some(format!("{ETC}/{}", entry.path.to_str()?)));
    let unknown: Vec<String> = present.filter(|path| !paths.conffiles.contains_key(path)).collect();
    for asked in unknown.chunks(PATHS_PER_QUERY) {
        // A path with a line end could answer for another one.
        let asked: Vec<&str> = asked.iter().map(String::as_str).filter(|path| !path.contains('\n')).collect();
        let mut arguments = vec!["-qf", "--queryformat", NAME, "--"];
        arguments.extend(&asked);
        // As many as 255 paths without a package are counted in the exit code.
        let call = ToolCommand::new(RPM, "rpm -qf", &arguments).with_empty_codes(1..=255);
        let answers = query(&call, scope, true).await?.stdout;
        paths.owned.extend(owned_among(&asked, &answers).map(str::to_owned));
    }
    Ok(paths)
}

/// Adds the configuration files of a dump: a line with the name before those of each package.
fn add_conffiles(paths: &mut OwnedPaths, dump: &str) {
    let mut package: Rc<str> = Rc::from("");
    for line in dump.lines() {
        if let Some(name) = line.strip_prefix("= ") {
            package = Rc::from(name);
            continue;
        }
        // Path, size, time, checksum, mode, owner, group, two marks, device and target of a link.
        let fields: Vec<&str> = line.rsplitn(11, ' ').collect();
        let [_, _, _, _, _, _, _, digest, _, _, path] = fields[..] else { continue };
        if !path.starts_with(ETC) {
            continue;
        }
        // A file that the package only reserves the name of has no content of its own.
        let digest = if digest.bytes().all(|byte| byte == b'0') { "" } else { digest };
        paths.add_conffile(path, &package, digest);
        paths.owned.insert(path.to_owned());
    }
}

/// Returns the paths that a package has: those for which rpm does not say otherwise.
fn owned_among<'p>(asked: &'p [&'p str], answers: &str) -> impl Iterator<Item = &'p str> {
    let unowned: std::collections::HashSet<String> = answers
        .lines()
        .filter_map(|line| line.strip_prefix("file ")?.strip_suffix(" is not owned by any package"))
        .map(str::to_owned)
        .collect();
    asked.iter().copied().filter(move |path| !unowned.contains(*path))
}

pub(super) async fn package_of(path: &str, scope: ProgramScope<'_>) -> Result<Option<String>, Failure> {
    if path.is_empty() {
        return Ok(None);
    }
    let arguments = ["-qf", "--queryformat", NAME, "--", path];
    let call = ToolCommand::new(RPM, "rpm -qf", &arguments).with_empty_codes(1..=1);
    let answers = query(&call, scope, true).await?.stdout;
    Ok(answers.lines().find_map(|line| Some(line.strip_prefix("= ")?.to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dump_names_configuration_files_with_their_packages() {
        let mut paths = OwnedPaths::default();
        add_conffiles(
            &mut paths,
            "= bash\n\
             /etc/skel/.bashrc 522 1700000000 60b725f10c9c85c70d97880dfe8191b3 0100644 root root 1 0 0 X\n\
             /usr/lib/other.conf 1 1 60b725f10c9c85c70d97880dfe8191b3 0100644 root root 1 0 0 X\n\
             = empty\n\
             (contains no files)\n\
             = setup\n\
             /etc/with a blank 0 1 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 0100644 root root 1 0 0 X\n\
             /etc/reserved 0 1 0000000000000000000000000000000000000000000000000000000000000000 0100644 root root 1 0 0 X\n\
             /etc/link 5 1 0000000000000000000000000000000000000000000000000000000000000000 0120777 root root 1 0 0 target\n",
        );
        let mut found: Vec<(&str, &str, &str)> = paths
            .conffiles
            .iter()
            .map(|(path, conffile)| (&**path, conffile.package.as_deref().unwrap_or(""), &*conffile.digest))
            .collect();
        found.sort_unstable();
        let sha256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(
            found,
            [
                ("/etc/link", "setup", ""),
                ("/etc/reserved", "setup", ""),
                ("/etc/skel/.bashrc", "bash", "60b725f10c9c85c70d97880dfe8191b3"),
                ("/etc/with a blank", "setup", sha256),
            ]
        );
        assert_eq!(paths.conffiles_of("bash"), ["/etc/skel/.bashrc"]);
    }

    #[test]
    fn paths_that_rpm_does_not_deny_are_owned() {
        let answers = "= bash\nfile /etc/own is not owned by any package\n= setup\n= filesystem\n";
        let asked = ["/etc/bash", "/etc/own", "/etc/both"];
        assert_eq!(owned_among(&asked, answers).collect::<Vec<_>>(), ["/etc/bash", "/etc/both"]);
    }
}
