//! Errors among the lines that git, ssh and the server print.

/// What comes before an error.
const MARKS: [&str; 6] =
    ["fatal: ", "error: ", "remote: error: ", "remote: fatal: ", "remote: ERROR: ", "ERROR: "];

/// Errors that only follow from another one, which is printed beside them.
const FOLLOWING: [&str; 6] = [
    "Could not read from remote repository",
    "git upload-pack: not our ref",
    "the remote end hung up unexpectedly",
    "unpack-objects failed",
    "fetch-pack: invalid index-pack output",
    "/bin/false",
];

/// Errors of ssh, which have no mark.
const OF_SSH: [&str; 6] = [
    ": Permission denied (",
    "Host key verification failed",
    "host key is known for",
    "has changed and you have requested strict checking",
    "kex_exchange_identification: ",
    "ssh: ",
];

/// Lines that git adds to many errors, and that say nothing about this one.
const BOILERPLATE: [&str; 20] = [
    "Please make sure you have the correct access rights",
    "and the repository exists.",
    "Please commit your changes or stash them",
    "Please move or remove them",
    "Aborting",
    "Cloning into ",
    "To add an exception for this directory",
    "git config --global --add safe.directory ",
    "'git remote prune origin' to remove any old",
    "Another git process seems to be running",
    "an editor opened by 'git commit'",
    "are terminated then try again",
    "may have crashed in this repository earlier",
    "remove the file manually to continue",
    "hint: ",
    "remote: Enumerating objects",
    "remote: Counting objects",
    "remote: Compressing objects",
    "remote: Total ",
    "warning: ",
];

/// Returns the error in a line of git; `None` for a line without one.
pub fn git_error(line: &str) -> Option<&str> {
    if FOLLOWING.into_iter().any(|following| line.contains(following)) {
        return None;
    }
    if let Some((_, cause)) = line.split_once(": errno=") {
        return Some(cause);
    }
    let error = MARKS.into_iter().find_map(|mark| line.strip_prefix(mark));
    let error = error.map(|error| error.strip_suffix("; try running").unwrap_or(error));
    error.or_else(|| OF_SSH.into_iter().any(|sign| line.contains(sign)).then_some(line))
}

/// Returns the error in a line, even if it only follows from another one.
pub fn git_following_error(line: &str) -> Option<&str> {
    MARKS.into_iter().find_map(|mark| line.strip_prefix(mark)).filter(|error| !error.contains("/bin/false"))
}

/// Returns `true` for a line that says more than the errors that are quoted.
pub fn is_git_detail(line: &str, chain: &[String]) -> bool {
    let said = MARKS.into_iter().find_map(|mark| line.strip_prefix(mark)).unwrap_or(line);
    let is_said = |error: &String| said.contains(&**error) || error.contains(said);
    let is_known = |known: &[&str]| known.iter().any(|known| line.contains(known));
    !line.is_empty() && !is_known(&FOLLOWING) && !is_known(&BOILERPLATE) && !chain.iter().any(is_said)
}
