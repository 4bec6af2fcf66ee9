//! The pure decision about a host.

use std::net::IpAddr;
use std::rc::Rc;

use ccm_engine::Described;
use ccm_model::Resource;
use ccm_properties::PropertyError;

use super::hosts_file::{HOSTS, HostLine, HostsFile};
use super::properties::{HostProperties, name_error};
use crate::support::object_plan::{ObjectDifference, ObjectPlan, ObjectType};

/// The desired host, complete and checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DesiredHost {
    pub name: String,
    pub is_absent: bool,
    /// Always given unless the host is to be absent.
    pub ip: Option<IpAddr>,
    pub aliases: Option<Vec<String>>,
}

impl DesiredHost {
    pub(super) fn build(resource: &Resource, written: HostProperties) -> Result<Self, Vec<PropertyError>> {
        let name = resource.id.name.to_string();
        let is_absent = resource.is_absent();
        let mut errors: Vec<PropertyError> =
            name_error(&name).map(PropertyError::of_name).into_iter().collect();
        if written.ip.is_none() && !is_absent {
            errors.push(PropertyError::missing("ip", "write `ip`, the address of the host"));
        }
        if written.host_aliases.is_some() && is_absent {
            errors.push(PropertyError::not_with_absent(
                "host_aliases",
                "remove `host_aliases`: they are removed with the host",
            ));
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let aliases = written.host_aliases;
        let aliases = aliases.map(|aliases| aliases.into_iter().map(|alias| alias.0).collect());
        Ok(Self { name, is_absent, ip: written.ip.map(|ip| ip.0), aliases })
    }

    /// Returns `true` for a line that the resource manages: one with an address of the same kind, because a host may
    /// have an address of either kind.
    pub(super) fn manages(&self, line: &HostLine) -> bool {
        self.ip.is_none_or(|ip| ip.is_ipv4() == line.ip.is_ipv4())
    }

    /// Returns the line that the host is to have.
    pub(super) fn line(&self, file: &HostsFile) -> Option<HostLine> {
        let ip = self.ip.filter(|_| !self.is_absent)?;
        let old = file.lines(&self.name).iter().find(|line| self.manages(line));
        let old_aliases = || old.map(|old| old.aliases.clone()).unwrap_or_default();
        let aliases = self.aliases.clone().unwrap_or_else(old_aliases);
        Some(HostLine::new(ip, &self.name, &aliases, old))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HostDifference {
    Ip {
        from: Option<IpAddr>,
        to: IpAddr,
    },
    Aliases {
        from: Vec<String>,
        to: Vec<String>,
    },
    /// Number of lines with the host.
    Lines(usize),
}

impl ObjectDifference for HostDifference {
    fn aspect(&self) -> &'static str {
        match self {
            Self::Ip { .. } => "ip",
            Self::Aliases { .. } => "host_aliases",
            Self::Lines(_) => "lines",
        }
    }

    fn values(&self) -> (Option<String>, Option<String>) {
        let shown =
            |names: &[String]| Some(if names.is_empty() { "none".to_owned() } else { names.join(",") });
        match self {
            Self::Ip { from, to } => (from.map(|from| from.to_string()), Some(to.to_string())),
            Self::Aliases { from, to } => (shown(from), shown(to)),
            Self::Lines(count) => (Some(count.to_string()), Some("1".to_owned())),
        }
    }
}

impl ObjectType for DesiredHost {
    type State = Rc<HostsFile>;
    type Difference = HostDifference;
    type Effect = ();

    fn plan(&self, file: &Rc<HostsFile>) -> ObjectPlan<HostDifference> {
        let mut lines = file.lines(&self.name).iter().filter(|line| self.manages(line));
        let Some(first) = lines.next() else {
            return match self.ip {
                Some(to) if !self.is_absent => {
                    let aliases = self.aliases.as_ref().filter(|aliases| !aliases.is_empty());
                    let aliases =
                        aliases.map(|to| HostDifference::Aliases { from: Vec::new(), to: to.clone() });
                    let ip = HostDifference::Ip { from: None, to };
                    ObjectPlan::Create([ip].into_iter().chain(aliases).collect())
                }
                _ => ObjectPlan::Keep { exists: false },
            };
        };
        if self.is_absent {
            return ObjectPlan::Remove;
        }
        let others = lines.count();
        let mut differences = Vec::new();
        if let Some(to) = self.ip.filter(|ip| *ip != first.ip) {
            differences.push(HostDifference::Ip { from: Some(first.ip), to });
        }
        if let Some(to) = self.aliases.as_ref().filter(|aliases| **aliases != first.aliases) {
            differences.push(HostDifference::Aliases { from: first.aliases.clone(), to: to.clone() });
        }
        if others > 0 {
            differences.push(HostDifference::Lines(others + 1));
        }
        ObjectPlan::of_existing(differences)
    }

    fn warnings(&self, file: &Rc<HostsFile>) -> Vec<String> {
        let own = |line: &HostLine| line.name.eq_ignore_ascii_case(&self.name) && self.manages(line);
        if self.is_absent {
            let other = file.first_with(&self.name, |line| self.manages(line) && !own(line));
            let warning = other.map(|(index, line)| {
                let (name, number) = (&self.name, index + 1);
                format!("`{name}` stays an alias of `{}` on line {number} of \"{HOSTS}\"", line.name)
            });
            return warning.into_iter().collect();
        }
        let (Some(ip), Some(line)) = (self.ip, self.line(file)) else { return Vec::new() };
        let own_index = file.first_with(&self.name, own).map_or(usize::MAX, |(index, _)| index);
        let names = [&line.name].into_iter().chain(&line.aliases);
        let warnings = names.filter_map(|name| {
            let is_other = |line: &HostLine| self.manages(line) && !own(line);
            let (index, other) = file.first_with(name, is_other)?;
            (index < own_index && other.ip != ip).then(|| {
                let number = index + 1;
                format!(
                    "line {number} of \"{HOSTS}\" gives `{name}` the address {}, and is read first",
                    other.ip
                )
            })
        });
        warnings.collect()
    }

    fn shown(&self) -> String {
        format!("host `{}`", self.name)
    }

    fn describe(&self, file: &Rc<HostsFile>) -> Described {
        let line = file.lines(&self.name).iter().find(|line| self.manages(line));
        let ensure = if line.is_some() { "present" } else { "absent" };
        Described::new(ensure)
            .with("ip", line.map(|line| line.ip.to_string()))
            .with("host_aliases", line.map(|line| line.aliases.clone()).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests;
