//! The file `/etc/hosts`, read once until something is executed.

use std::collections::HashMap;
use std::net::IpAddr;
use std::path::Path;
use std::rc::Rc;

use ccm_engine::Context;
use ccm_model::Failure;

use crate::support::system_file::{edited, read};

pub(super) const HOSTS: &str = "/etc/hosts";

/// Hosts by their names in lower case, as resolvers compare them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct HostsFile {
    /// `None` if the file does not exist.
    pub content: Option<String>,
    hosts: HashMap<String, Vec<HostLine>>,
}

/// Line of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HostLine {
    pub ip: IpAddr,
    /// First name, which is that of the host.
    pub name: String,
    pub aliases: Vec<String>,
    /// Text behind the names, with its `#`.
    comment: Option<String>,
}

impl HostsFile {
    /// Returns the file, which is read again after a command was executed.
    pub(super) async fn of(context: &Context<'_>) -> Result<Rc<Self>, Failure> {
        context.state_cache(async || Ok(Self::parse(read(Path::new(HOSTS), context)?))).await
    }

    pub(super) fn parse(content: Option<String>) -> Self {
        let mut hosts: HashMap<String, Vec<HostLine>> = HashMap::new();
        for line in content.iter().flat_map(|content| content.lines()).filter_map(HostLine::parse) {
            hosts.entry(line.name.to_ascii_lowercase()).or_default().push(line);
        }
        Self { content, hosts }
    }

    /// Returns the lines of a host.
    pub(super) fn lines(&self, name: &str) -> &[HostLine] {
        self.hosts.get(&name.to_ascii_lowercase()).map_or(&[], Vec::as_slice)
    }

    /// Returns the content with a line in place of the lines of a host for which a condition holds; `None` removes them.
    pub(super) fn with(
        &self,
        name: &str,
        is_its: impl Fn(&HostLine) -> bool,
        new: Option<&HostLine>,
    ) -> String {
        let old = self.content.as_deref().unwrap_or_default();
        let mut new_line = new.map(HostLine::to_string);
        let mut is_written = false;
        let edit = |text: &str| {
            let line = HostLine::parse(text)?;
            (line.name.eq_ignore_ascii_case(name) && is_its(&line)).then(|| {
                is_written = true;
                new_line.take().unwrap_or_default()
            })
        };
        let content = edited(old, edit, String::new);
        match new {
            Some(line) if !is_written => edited(&content, |_| None, || line.to_string()),
            _ => content,
        }
    }
}

impl HostLine {
    pub(super) fn new(ip: IpAddr, name: &str, aliases: &[String], old: Option<&Self>) -> Self {
        let comment = old.and_then(|old| old.comment.clone());
        Self { ip, name: name.to_owned(), aliases: aliases.to_vec(), comment }
    }

    fn parse(line: &str) -> Option<Self> {
        let (names, comment) = match line.find('#') {
            Some(at) => (&line[..at], Some(line[at..].trim_end().to_owned())),
            None => (line, None),
        };
        let mut words = names.split_whitespace();
        let ip = words.next()?;
        // An address of IPv6 may have a zone behind it.
        let ip = ip.split_once('%').map_or(ip, |(ip, _)| ip).parse().ok()?;
        let name = words.next()?.to_owned();
        Some(Self { ip, name, aliases: words.map(str::to_owned).collect(), comment })
    }
}

impl std::fmt::Display for HostLine {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}\t{}", self.ip, self.name)?;
        for alias in &self.aliases {
            write!(formatter, " {alias}")?;
        }
        self.comment.iter().try_for_each(|comment| write!(formatter, " {comment}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "127.0.0.1 localhost\n::1 localhost ip6-localhost # own\n# 10.0.0.1 db\n\n10.0.0.2\tDB db1  #old\n\
        10.0.0.3 db\nodd line\nfe80::1%eth0 link\n";

    #[test]
    fn hosts_are_found_by_their_first_name() {
        let file = HostsFile::parse(Some(FILE.to_owned()));
        assert_eq!(file.lines("db").len(), 2);
        assert_eq!(file.lines("LOCALHOST").len(), 2);
        assert_eq!((file.lines("db1").len(), file.lines("link").len()), (0, 1));
        assert_eq!(file.lines("db")[0].to_string(), "10.0.0.2\tDB db1 #old");
    }

    #[test]
    fn host_has_one_line_afterwards() {
        let file = HostsFile::parse(Some(FILE.to_owned()));
        let ip = "10.0.0.9".parse().expect("an address");
        let line = HostLine::new(ip, "db", &["d".to_owned()], file.lines("db").first());
        let expected =
            FILE.replace("10.0.0.2\tDB db1  #old", "10.0.0.9\tdb d #old").replace("10.0.0.3 db\n", "");
        assert_eq!(file.with("db", |_| true, Some(&line)), expected);
        let new = HostLine::new(ip, "new", &[], None);
        assert_eq!(file.with("new", |_| true, Some(&new)), format!("{FILE}10.0.0.9\tnew\n"));
        let removed = file.with("localhost", |line| line.ip.is_ipv6(), None);
        assert_eq!(removed, FILE.replace("::1 localhost ip6-localhost # own\n", ""));
    }
}
