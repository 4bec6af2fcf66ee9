//! Repositories with `skip_if_unavailable` that dnf could not read.

use std::collections::HashMap;

/// Returns a sentence with the reason for each skipped repository in dnf's standard error.
pub(crate) fn skipped_repositories(stderr: &str) -> Vec<String> {
    let mut found = of_version_4(stderr);
    found.extend(of_version_5(stderr));
    found
}

/// Version 4 prints the errors of each repository, and at the end the ignored ones.
fn of_version_4(stderr: &str) -> Vec<String> {
    let mut reasons: HashMap<&str, &str> = HashMap::new();
    let mut repository = "";
    for line in stderr.lines() {
        if let Some(rest) = line.strip_prefix("Errors during downloading metadata for repository '") {
            repository = rest.trim_end_matches("':");
        } else if let Some(error) = line.strip_prefix("  - ") {
            reasons.entry(repository).or_insert(error);
        } else if let Some(rest) = line.strip_prefix("Error: Failed to download metadata for repo '")
            && let Some((repository, error)) = rest.split_once("': ")
        {
            reasons.entry(repository).or_insert(error);
        }
    }
    let ignored = stderr.lines().filter_map(|line| line.strip_prefix("Ignoring repositories: "));
    let ignored = ignored.flat_map(|names| names.split(", "));
    ignored.map(|name| sentence(name, reasons.get(name).copied())).collect()
}

/// Version 5 prints the errors of a repository below its progress line, but not that it skips the repository. A
/// repository was skipped if one of the errors is not that of a single mirror; the reason is the first error.
fn of_version_5(stderr: &str) -> Vec<String> {
    /// Prefixes of errors of a single mirror.
    const MIRROR: [&str; 3] =
        ["Curl error ", "Status code: ", "Downloading successful, but checksum doesn't match"];
    let begun = stderr.lines().skip_while(|line| *line != "Updating and loading repositories:");
    let loading = begun.skip(1).take_while(|line| *line != "Repositories loaded.");
    let mut found = Vec::new();
    let mut repository = None;
    let mut first = None;
    for line in loading {
        if let Some(error) = line.strip_prefix(">>> ") {
            let first = *first.get_or_insert(error);
            if !MIRROR.iter().any(|sign| error.starts_with(sign))
                && let Some(repository) = repository.take()
            {
                found.push(sentence(repository, Some(first)));
            }
        } else if let Some((progress, _)) = line.split_once("% |") {
            // The line holds the repository and its progress in percent.
            repository = progress.rsplit_once(' ').map(|(name, _)| name.trim());
            first = None;
        }
    }
    found
}

fn sentence(repository: &str, reason: Option<&str>) -> String {
    let skipped = format!("skipped the unreadable repository `{repository}`");
    match reason.map(reason_alone).filter(|reason| !reason.is_empty()) {
        Some(reason) => format!("{skipped}: {reason}"),
        None => skipped,
    }
}

/// Strips the error number, and the address because it may hold a password.
fn reason_alone(error: &str) -> &str {
    let error = match error.split_once("): ") {
        Some((number, rest)) if number.starts_with("Curl error (") => rest,
        _ => error,
    };
    let Some(address) = error.find("://") else { return error };
    let before = error[..address].rfind(' ').map_or("", |blank| &error[..blank]);
    before.trim_end_matches(" for").trim_end_matches(':')
}

#[cfg(test)]
mod tests {
    use super::skipped_repositories;

    const SKIPPED: &str = "skipped the unreadable repository";

    #[test]
    fn repositories_ignored_by_version_4_are_found() {
        for (stderr, expected) in [
            ("Last metadata expiration check: 0:00:01 ago\n", vec![]),
            (
                "tiny 2.3 MB/s | 2.4 kB 00:00\n\
                 Errors during downloading metadata for repository 'off':\n  - Curl error (7): Couldn't connect to server for http://me:secret@127.0.0.1:9/x/repodata/repomd.xml [Failed to connect to 127.0.0.1 port 9]\n  - Curl error (28): Timeout\n\
                 Error: Failed to download metadata for repo 'off': Cannot download repomd.xml: Cannot download repodata/repomd.xml: All mirrors were tried\n\
                 bad 17 kB/s | 17 B 00:00\n\
                 Error: Failed to download metadata for repo 'bad': repomd.xml parser error: Parse error at line: 2 (Premature end\n)\n\
                 Ignoring repositories: bad, off, quiet\n",
                vec![
                    format!(
                        "{SKIPPED} `bad`: repomd.xml parser error: Parse error at line: 2 (Premature end"
                    ),
                    format!("{SKIPPED} `off`: Couldn't connect to server"),
                    format!("{SKIPPED} `quiet`"),
                ],
            ),
            // Without the line `Ignoring repositories`, dnf failed and skipped none.
            ("Error: Failed to download metadata for repo 'off': All mirrors were tried\n", vec![]),
        ] {
            assert_eq!(skipped_repositories(stderr), expected, "{stderr}");
        }
    }

    #[test]
    fn repositories_skipped_by_version_5_are_found() {
        let stderr = "Updating and loading repositories:
 tiny                                   100% |   0.0   B/s |   1.5 KiB |  00m00s
 Off the net                            ???% |   0.0   B/s |  -1.0   B |  ?     
>>> Curl error (7): Could not connect to server for http://me:secret@127.0.0.1:9/x/repodata/repomd.xml [Failed to connect] - http://127.0.0.1:9/x/repodata/repomd.xml
>>> Curl error (7): Could not connect to server for http://127.0.0.1:8/y/repodata/repomd.xml [Failed to connect] - http://127.0.0.1:8/y/repodata/repomd.xml
>>> Usable URL not found
 half                                   100% |   0.0   B/s |   1.5 KiB |  00m00s
>>> Status code: 404 for http://127.0.0.1/primary.xml.zst (IP: 127.0.0.1) - http://127.0.0.1/primary.xml.zst
>>> No more mirrors to try - All mirrors were already tried without success
 two                                    100% | 260.3 KiB/s |   2.1 KiB |  00m00s
>>> Curl error (37): Could not read a file:// file for file:///srv/nowhere/repodata/repomd.xml [Could not open file] - file:///srv/nowhere/repodata/repomd.xml
 bad                                    100% |   0.0   B/s |  17.0   B |  00m00s
>>> Parsing unsuccessful: Parse error at line: 2 (Premature end of data in tag html line 1
)
Repositories loaded.
[1/2] shell-0:1.0-1.noarch              100% |   0.0   B/s |   0.0   B |  00m00s
>>> Already downloaded
";
        assert_eq!(
            skipped_repositories(stderr),
            [
                format!("{SKIPPED} `Off the net`: Could not connect to server"),
                format!("{SKIPPED} `half`: Status code: 404"),
                format!(
                    "{SKIPPED} `bad`: Parsing unsuccessful: Parse error at line: 2 (Premature end of data in tag html line 1"
                ),
            ]
        );
    }
}
