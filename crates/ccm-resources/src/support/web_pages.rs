//! Addresses of pages that show a repository or a file of it, in place of the repository and the file.

/// Hosts with such pages, and others whose names begin like theirs.
const HOSTS: [&str; 5] = ["github.", "gitlab.", "codeberg.org", "bitbucket.org", "gitea."];

/// Page of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RepositoryPage<'u> {
    /// Address of the repository.
    pub repository: String,
    /// Branch, tag or commit that the page shows.
    pub revision: &'u str,
}

/// Returns the page that an address is, such as `https://github.com/team/app/tree/main`.
pub(crate) fn repository_page(address: &str) -> Option<RepositoryPage<'_>> {
    let (scheme, rest) = address.split_once("://")?;
    let (host, path) = rest.split_once('/').filter(|(host, _)| is_known(host))?;
    let path = path.split(['?', '#']).next()?;
    let marks = ["/-/tree/", "/-/blob/", "/tree/", "/blob/", "/src/branch/", "/src/tag/", "/src/commit/"];
    let (repository, shown) = marks.iter().find_map(|mark| path.split_once(mark))?;
    let revision = shown.split('/').next().filter(|revision| !revision.is_empty())?;
    Some(RepositoryPage { repository: format!("{scheme}://{host}/{repository}.git"), revision })
}

/// Returns the address of the file that a page shows.
#[cfg(feature = "archive")]
pub(crate) fn shown_file(address: &str) -> Option<String> {
    let host = address.split_once("://")?.1.split('/').next()?;
    let is_page = is_known(host) && address.contains("/blob/");
    is_page.then(|| address.replacen("/blob/", "/raw/", 1))
}

fn is_known(host: &str) -> bool {
    HOSTS.iter().any(|known| host.starts_with(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_repositories_are_known() {
        for (address, expected) in [
            ("https://github.com/team/app/tree/main", Some(("https://github.com/team/app.git", "main"))),
            (
                "https://github.com/team/app/blob/v1/README.md",
                Some(("https://github.com/team/app.git", "v1")),
            ),
            ("https://gitlab.com/a/b/app/-/tree/main?x=1", Some(("https://gitlab.com/a/b/app.git", "main"))),
            ("https://codeberg.org/a/app/src/branch/main", Some(("https://codeberg.org/a/app.git", "main"))),
            ("https://github.com/team/app", None),
            ("https://github.com/team/app.git", None),
            ("https://git.example.com/tree/main", None),
            ("git@github.com:team/app.git", None),
        ] {
            let found = repository_page(address);
            let found = found.as_ref().map(|page| (page.repository.as_str(), page.revision));
            assert_eq!(found, expected, "{address}");
        }
    }

    #[cfg(feature = "archive")]
    #[test]
    fn files_are_behind_their_pages() {
        for (address, expected) in [
            ("https://github.com/a/b/blob/main/x.tgz", Some("https://github.com/a/b/raw/main/x.tgz")),
            ("https://gitlab.com/a/b/-/blob/main/x.tgz", Some("https://gitlab.com/a/b/-/raw/main/x.tgz")),
            ("https://github.com/a/b/releases/download/v1/x.tgz", None),
            ("https://example.com/blob/x.tgz", None),
        ] {
            assert_eq!(shown_file(address).as_deref(), expected, "{address}");
        }
    }
}
