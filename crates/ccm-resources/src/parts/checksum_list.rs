//! Lists of checksums that lie beside files on web servers.

use crate::support::values::checksum::is_sha256;

/// Lengths of the digits of other algorithms.
const OTHERS: [(usize, &str); 5] =
    [(128, "SHA-512"), (96, "SHA-384"), (56, "SHA-224"), (40, "SHA-1"), (32, "MD5")];

/// Entry of a list: digits, and the name of the file if the line has one.
type Entry<'l> = (&'l str, Option<&'l str>);

/// Finds the checksum of a file in a list as `sha256sum`, `shasum`, `openssl` or a BSD writes it, or in a text that is nothing
/// but a checksum. Of several names, the first that is listed counts. Different checksums for one name are none.
pub(crate) fn find_checksum(list: &str, names: &[&str]) -> Option<String> {
    let entries: Vec<Entry<'_>> = entries(list).filter(|(digits, _)| is_sha256(digits)).collect();
    let of_name = |name: &&str| {
        let digits: Vec<&str> = entries
            .iter()
            .filter(|(_, listed)| listed.is_some_and(|listed| base(listed) == *name))
            .map(|(digits, _)| *digits)
            .collect();
        (!digits.is_empty()).then_some(digits)
    };
    let listed = names.iter().find_map(of_name);
    let found = listed.or_else(|| match &entries[..] {
        [(digits, None)] => Some(vec![*digits]),
        _ => None,
    })?;
    let (first, rest) = found.split_first()?;
    rest.iter().all(|other| other.eq_ignore_ascii_case(first)).then(|| first.to_ascii_lowercase())
}

/// Returns the name of another algorithm, if a list has its checksums instead.
pub(crate) fn other_algorithm(list: &str) -> Option<&'static str> {
    let known = |(digits, _): Entry<'_>| OTHERS.iter().find(|(length, _)| *length == digits.len());
    entries(list).find_map(known).map(|(_, algorithm)| *algorithm)
}

fn entries(list: &str) -> impl Iterator<Item = Entry<'_>> {
    let lines = list.trim_start_matches('\u{feff}').lines().map(str::trim);
    lines.filter(|line| !line.is_empty() && !line.starts_with('#')).filter_map(parse)
}

/// Parses `DIGITS  NAME`, `DIGITS *NAME`, `SHA256 (NAME) = DIGITS`, `SHA2-256(NAME)= DIGITS`, `sha256:DIGITS  NAME` or `DIGITS`.
fn parse(line: &str) -> Option<Entry<'_>> {
    if let Some((algorithm, rest)) = line.split_once('(')
        && let Some((name, digits)) = rest.rsplit_once(')')
    {
        let is_sha2 = is_sha2(algorithm.trim_end());
        let digits = digits.trim_start().strip_prefix('=')?.trim_start();
        return (is_sha2 && is_hexadecimal(digits)).then_some((digits, Some(name)));
    }
    let (digits, name) = match line.split_once(char::is_whitespace) {
        Some((digits, name)) => (digits, Some(name.trim_start())),
        None => (line, None),
    };
    // A backslash announces that characters of the name are escaped.
    let digits = digits.strip_prefix('\\').unwrap_or(digits);
    let digits = match digits.split_once(':') {
        Some((algorithm, digits)) if is_sha2(algorithm) => digits,
        _ => digits,
    };
    let name = name.map(|name| name.strip_prefix('*').unwrap_or(name)).filter(|name| *name != "-");
    is_hexadecimal(digits).then_some((digits, name))
}

/// Returns `true` for the names of SHA-2 and of older algorithms. SHA-3 and BLAKE2 have digits of the same length.
fn is_sha2(algorithm: &str) -> bool {
    let name = algorithm.to_ascii_uppercase();
    matches!(
        &*name,
        "SHA256"
            | "SHA-256"
            | "SHA2-256"
            | "SHA512"
            | "SHA-512"
            | "SHA2-512"
            | "SHA384"
            | "SHA224"
            | "SHA1"
            | "MD5"
    )
}

fn is_hexadecimal(text: &str) -> bool {
    text.len() >= 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn base(name: &str) -> &str {
    name.rsplit(['/', '\\']).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_found_in_lists() {
        let (one, two, long) = ("a".repeat(64), "B".repeat(64), "c".repeat(128));
        let found = |list: &str| find_checksum(list, &["app.tar.gz", "local.tar.gz"]);
        for (list, expected) in [
            (format!("{one}\n"), Some(&one)),
            (format!("{two}\r\n"), Some(&two)),
            (format!("{one}  -\n"), Some(&one)),
            (format!("{one}  other\n{two}  app.tar.gz\n"), Some(&two)),
            (format!("{one}  other\r\n{two}  app.tar.gz\r\n"), Some(&two)),
            (format!("{one} *./dist/app.tar.gz\n"), Some(&one)),
            (format!("{one} *dist\\app.tar.gz\r\n"), Some(&one)),
            (format!("{one}\tapp.tar.gz\n"), Some(&one)),
            (format!("\u{feff}{one}  app.tar.gz\n"), Some(&one)),
            (format!("SHA256 (app.tar.gz) = {one}\n"), Some(&one)),
            (format!("SHA256 (./dist/app.tar.gz) = {one}\r\n"), Some(&one)),
            (format!("SHA256(app.tar.gz)= {one}\n"), Some(&one)),
            (format!("SHA2-256(app.tar.gz)= {one}\n"), Some(&one)),
            (format!("SHA512 (app.tar.gz) = {long}\nSHA256 (app.tar.gz) = {one}\n"), Some(&one)),
            (format!("{long}  app.tar.gz\n{one}  app.tar.gz\n"), Some(&one)),
            (format!("sha256:{one}  app.tar.gz\n"), Some(&one)),
            (format!("# by ada\n\n{one}  app.tar.gz\n"), Some(&one)),
            (format!("{one}  local.tar.gz"), Some(&one)),
            (format!("{one}  local.tar.gz\n{two}  app.tar.gz\n"), Some(&two)),
            (format!("{one}  a/app.tar.gz\n{one}  b/app.tar.gz\n"), Some(&one)),
            (format!("{one}  a/app.tar.gz\n{two}  b/app.tar.gz\n"), None),
            (format!("SHA3-256 (app.tar.gz) = {one}\n"), None),
            (format!("BLAKE2s256 (app.tar.gz) = {one}\n"), None),
            (format!("{one}  other\n"), None),
            (format!("{one}  app.tar.gz.sig\n"), None),
            (format!("{one}\n{two}\n"), None),
            (format!("{long}  app.tar.gz\n"), None),
            ("<html>not found</html>".to_owned(), None),
            (String::new(), None),
        ] {
            assert_eq!(found(&list), expected.map(|digits| digits.to_ascii_lowercase()), "{list}");
        }
    }

    #[test]
    fn other_algorithms_are_named() {
        for (list, algorithm) in [
            (format!("{}  app\n", "c".repeat(128)), Some("SHA-512")),
            (format!("MD5 (app) = {}\n", "c".repeat(32)), Some("MD5")),
            (format!("{}  app\n", "c".repeat(64)), None),
            ("<html>not found</html>".to_owned(), None),
        ] {
            assert_eq!(other_algorithm(&list), algorithm, "{list}");
        }
    }
}
