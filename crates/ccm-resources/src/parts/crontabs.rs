//! Crontabs of users.

use std::path::{Path, PathBuf};

use ccm_engine::{Context, NotExported};

use crate::support::file_failure::names_in;

/// Directories of the crontabs of users: on the Debian family, and on the Red Hat family.
pub(crate) const CRONTABS: [&str; 2] = ["/var/spool/cron/crontabs", "/var/spool/cron"];

/// Returns the paths of the crontabs of users. Adds the reasons why there may be more.
pub(crate) fn crontabs(context: &Context<'_>, unseen: &mut Vec<NotExported>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for directory in CRONTABS.map(Path::new) {
        match names_in(directory, context.host.files) {
            Ok(users) => {
                let paths = users.into_iter().map(|user| directory.join(user));
                found.extend(paths.filter(|path| !context.host.files.is_directory(path).unwrap_or(true)));
            }
            Err(failure) => unseen.push(failure.into()),
        }
    }
    found
}
