//! The file `/etc/hosts`, read once until something is executed.

use std::collections::HashMap;
use std::net::IpAddr;
use std::path::Path;
use std::rc::Rc;

use ccm_engine::Context;
use ccm_model::Failure;

use crate::parts::text::TextFile;

pub(super) const HOSTS: &str = "/etc/hosts";

/// Hosts by their names in lower case, as resolvers compare them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct HostsFile {
    pub file: TextFile,
    hosts: HashMap<String, Vec<HostLine>>,
}

/// Line of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HostLine {
    pub ip: IpAddr,
    /// First name, which is that of the host.
    pub name: String,
    pub aliases: Vec<String>,
    /// Bytes behind the names, with their `#`; empty if there is no comment.
    comment: Vec<u8>,
}

impl HostsFile {
    /// Returns the file, which is read again after a command was executed.
    pub(super) async fn of(context: &Context<'_>) -> Result<Rc<Self>, Failure> {
        context.state_cache(async || Ok(Self::parse(TextFile::read(Path::new(HOSTS), context)?))).await
    }

    pub(super) fn parse(file: TextFile) -> Self {
        let mut hosts: HashMap<String, Vec<HostLine>> = HashMap::new();
        for line in file.iter().filter_map(HostLine::parse) {
            hosts.entry(line.name.to_ascii_lowercase()).or_default().push(line);
        }
        Self { file, hosts }
    }

    /// Returns the names of the hosts, in the order of the file.
    pub(super) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for line in self.file.iter().filter_map(HostLine::parse) {
            if !names.iter().any(|name| name.eq_ignore_ascii_case(&line.name)) {
                names.push(line.name);
            }
        }
        names
    }

    /// Returns the lines of a host.
    pub(super) fn lines(&self, name: &str) -> &[HostLine] {
        self.hosts.get(&name.to_ascii_lowercase()).map_or(&[], Vec::as_slice)
    }

    /// Returns the first line that has a name, as the first or another one, with its index.
    pub(super) fn first_with(
        &self,
        name: &str,
        condition: impl Fn(&HostLine) -> bool,
    ) -> Option<(usize, HostLine)> {
        let lines = self.file.iter().map(HostLine::parse).enumerate();
        let mut lines = lines.filter_map(|(index, line)| Some((index, line?)));
        lines.find(|(_, line)| {
            let mut names = [&line.name].into_iter().chain(&line.aliases);
            names.any(|found| found.eq_ignore_ascii_case(name)) && condition(line)
        })
    }

    /// Returns the content with a line in place of the lines of a host for which a condition holds; `None` removes them.
    pub(super) fn with(
        &self,
        name: &str,
        is_its: impl Fn(&HostLine) -> bool,
        new: Option<&HostLine>,
    ) -> Vec<u8> {
        let new = new.map(HostLine::to_bytes);
        let mut lines = self.file.lines();
        let is_its = |line: HostLine| line.name.eq_ignore_ascii_case(name) && is_its(&line);
        lines.set(|line| HostLine::parse(line).is_some_and(is_its), new.as_deref());
        lines.into_content()
    }
}

impl HostLine {
    pub(super) fn new(ip: IpAddr, name: &str, aliases: &[String], old: Option<&Self>) -> Self {
        let comment = old.map(|old| old.comment.clone()).unwrap_or_default();
        Self { ip, name: name.to_owned(), aliases: aliases.to_vec(), comment }
    }

    fn parse(line: &[u8]) -> Option<Self> {
        let (names, comment) = line.split_at(memchr::memchr(b'#', line).unwrap_or(line.len()));
        let mut words = str::from_utf8(names).ok()?.split_whitespace();
        let ip = words.next()?;
        // An address of IPv6 may have a zone behind it.
        let ip = ip.split_once('%').map_or(ip, |(ip, _)| ip).parse().ok()?;
        let name = words.next()?.to_owned();
        Some(Self {
            ip,
            name,
            aliases: words.map(str::to_owned).collect(),
            comment: comment.trim_ascii_end().to_owned(),
        })
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut line = format!("{}\t{}", self.ip, self.name).into_bytes();
        let comment = Some(&*self.comment).filter(|comment| !comment.is_empty());
        for part in self.aliases.iter().map(String::as_bytes).chain(comment) {
            line.push(b' ');
            line.extend_from_slice(part);
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "127.0.0.1 localhost\n::1 localhost ip6-localhost # own\n# 10.0.0.1 db\n\n10.0.0.2\tDB db1  #old\n\
        10.0.0.3 db\nodd line\nfe80::1%eth0 link\n";

    #[test]
    fn hosts_are_found_by_their_first_name() {
        let file = HostsFile::parse(TextFile::of(FILE));
        assert_eq!(file.lines("db").len(), 2);
        assert_eq!(file.lines("LOCALHOST").len(), 2);
        assert_eq!((file.lines("db1").len(), file.lines("link").len()), (0, 1));
        assert_eq!(file.lines("db")[0].to_bytes(), b"10.0.0.2\tDB db1 #old");
    }

    #[test]
    fn host_has_one_line_afterwards() {
        let file = HostsFile::parse(TextFile::of(FILE));
        let ip = "10.0.0.9".parse().expect("an address");
        let line = HostLine::new(ip, "db", &["d".to_owned()], file.lines("db").first());
        let expected =
            FILE.replace("10.0.0.2\tDB db1  #old", "10.0.0.9\tdb d #old").replace("10.0.0.3 db\n", "");
        let with = |name: &str, is_its: fn(&HostLine) -> bool, new| {
            String::from_utf8(file.with(name, is_its, new)).expect("text")
        };
        assert_eq!(with("db", |_| true, Some(&line)), expected);
        let new = HostLine::new(ip, "new", &[], None);
        assert_eq!(with("new", |_| true, Some(&new)), format!("{FILE}10.0.0.9\tnew\n"));
        let removed = with("localhost", |line| line.ip.is_ipv6(), None);
        assert_eq!(removed, FILE.replace("::1 localhost ip6-localhost # own\n", ""));
    }

    #[test]
    fn comment_of_any_encoding_stays() {
        let file = HostsFile::parse(TextFile::of(b"10.0.0.2 caf\xe9\r\n10.0.0.2\tdb # caf\xe9\r\n"));
        let line =
            HostLine::new("10.0.0.9".parse().expect("an address"), "db", &[], file.lines("db").first());
        let expected = b"10.0.0.2 caf\xe9\r\n10.0.0.9\tdb # caf\xe9\r\n";
        assert_eq!(file.with("db", |_| true, Some(&line)), expected);
    }
}
