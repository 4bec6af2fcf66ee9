//! Files of packages of pacman.

use std::path::Path;
use std::rc::Rc;

use ccm_host::{Host, WalkStep};
use ccm_model::Failure;

use super::{MAX_LIST, OwnedPaths};
use crate::parts::packages::pacman::PACMAN;
use crate::parts::packages::tool_command::{ToolCommand, query};
use crate::support::file_failure::file_failure;
use crate::support::program::ProgramScope;

/// Directory with a directory for each installed package.
const DATABASE: &str = "/var/lib/pacman/local";

/// Reads the lists of files of all packages.
pub(super) fn owned_paths(host: Host<'_>) -> Result<OwnedPaths, Failure> {
    let step = |path: &Path, is_directory: bool| match path.file_name().and_then(|name| name.to_str()) {
        _ if is_directory => WalkStep::Enter,
        Some("files") => WalkStep::List,
        _ => WalkStep::Skip,
    };
    let listed = host.files.walk(Path::new(DATABASE), &step).map_err(|error| file_failure(&error))?;
    let mut paths = OwnedPaths::default();
    let lists = listed.into_iter().flatten().filter(|entry| entry.path.ends_with("files"));
    for entry in lists {
        let path = Path::new(DATABASE).join(&entry.path);
        let content = host.files.content(&path, MAX_LIST).map_err(|error| file_failure(&error))?;
        let directory = entry.path.parent().and_then(Path::to_str).unwrap_or_default();
        add_package(
            &mut paths,
            package_name(directory),
            &String::from_utf8_lossy(&content.unwrap_or_default()),
        );
    }
    Ok(paths)
}

/// Returns the name in the name of a directory, which is followed by version and release.
fn package_name(directory: &str) -> &str {
    directory.rsplitn(3, '-').last().unwrap_or(directory)
}

/// Adds what the list of a package names below `/etc`. Its configuration files stand behind `%BACKUP%`, with their MD5.
fn add_package(paths: &mut OwnedPaths, package: &str, list: &str) {
    let package = Rc::from(package);
    let mut section = "";
    for line in list.lines() {
        match section {
            _ if line.starts_with('%') => section = line,
            "%FILES%" if line.starts_with("etc/") => {
                paths.owned.insert(format!("/{}", line.trim_end_matches('/')));
            }
            "%BACKUP%" => {
                if let Some((path, digest)) = line.split_once('\t') {
                    paths.add_conffile(&format!("/{path}"), &package, digest);
                }
            }
            _ => {}
        }
    }
}

pub(super) async fn package_of(path: &str, scope: ProgramScope<'_>) -> Result<Option<String>, Failure> {
    if path.is_empty() {
        return Ok(None);
    }
    let call = ToolCommand::new(PACMAN, "pacman -Qqo", &["-Qqo", "--", path]).with_empty_codes(1..=1);
    let answer = query(&call, scope, true).await?.stdout;
    Ok(answer.lines().next().map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_names_files_and_configuration_files() {
        let mut paths = OwnedPaths::default();
        let list = "%FILES%\netc/\netc/nginx/\netc/nginx/nginx.conf\nusr/bin/nginx\n\n\
                    %BACKUP%\netc/nginx/nginx.conf\t60b725f10c9c85c70d97880dfe8191b3\n";
        add_package(&mut paths, package_name("nginx-mainline-1.27.0-1"), list);
        assert_eq!(paths.conffiles_of("nginx-mainline"), ["/etc/nginx/nginx.conf"]);
        assert!(paths.has(Path::new("/etc/nginx")) && !paths.has(Path::new("/usr/bin/nginx")));
    }
}
