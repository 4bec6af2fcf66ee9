//! The pure decision about the time zone.

use std::path::{Path, PathBuf};

use ccm_engine::Described;
use ccm_model::{Failure, MissingPrerequisite, Resource};
use ccm_properties::PropertyError;

use crate::parts::text::{TextFile, shown};
use crate::support::object_plan::{ObjectDifference, ObjectPlan, ObjectType};

/// Directory with a file for each zone.
pub(super) const ZONES: &str = "/usr/share/zoneinfo";

/// The desired zone, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DesiredTimezone(pub String);

impl DesiredTimezone {
    pub(super) fn build(resource: &Resource) -> Result<Self, Vec<PropertyError>> {
        let name = resource.id.name.to_string();
        let is_part = |part: &str| {
            !matches!(part, "" | "." | "..")
                && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+'))
        };
        if name.split('/').all(is_part) {
            return Ok(Self(name));
        }
        let message = format!("`{}` is not the name of a time zone", name.escape_debug());
        Err(vec![PropertyError::of_name(message).with_hint("write a name like `Europe/Berlin` or `Etc/UTC`")])
    }

    /// Returns the file of the zone.
    pub(super) fn file(&self) -> PathBuf {
        Path::new(ZONES).join(&self.0)
    }
}

/// The zone that the machine has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TimezoneState {
    /// What `/etc/localtime` is.
    pub local_time: LocalTime,
    /// The file `/etc/timezone`, which only some systems have.
    pub file: TextFile,
    /// False if the machine has no such zone; only known if the zone differs.
    pub zone_exists: bool,
}

/// State of `/etc/localtime`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum LocalTime {
    #[default]
    Missing,
    /// A link to the file of a zone, or to anything else.
    Link(PathBuf),
    /// A copy of the file of a zone.
    File,
}

impl LocalTime {
    /// Returns the zone that the link leads to.
    pub(super) fn zone(&self) -> Option<&str> {
        match self {
            Self::Link(target) => target.to_str()?.split_once("/zoneinfo/").map(|(_, zone)| zone),
            _ => None,
        }
    }

    fn shown(&self) -> String {
        match self {
            Self::Missing => "none".to_owned(),
            Self::File => "a copy of a zone".to_owned(),
            Self::Link(target) => self.zone().map_or_else(|| target.display().to_string(), str::to_owned),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TimezoneDifference {
    Zone {
        from: String,
        to: String,
    },
    /// The name in `/etc/timezone`.
    Saved {
        from: String,
        to: String,
    },
}

impl ObjectDifference for TimezoneDifference {
    fn aspect(&self) -> &'static str {
        match self {
            Self::Zone { .. } => "zone",
            Self::Saved { .. } => "/etc/timezone",
        }
    }

    fn values(&self) -> (Option<String>, Option<String>) {
        match self {
            Self::Zone { from, to } | Self::Saved { from, to } => (Some(from.clone()), Some(to.clone())),
        }
    }
}

impl ObjectType for DesiredTimezone {
    type State = TimezoneState;
    type Difference = TimezoneDifference;
    type Effect = ();

    fn plan(&self, state: &TimezoneState) -> ObjectPlan<TimezoneDifference> {
        let to = &self.0;
        let mut differences = Vec::new();
        if state.local_time.zone() != Some(to) {
            differences.push(TimezoneDifference::Zone { from: state.local_time.shown(), to: to.clone() });
        }
        let saved = state.file.exists().then(|| shown(state.file.content().trim_ascii()));
        if let Some(from) = saved.filter(|saved| saved != to) {
            differences.push(TimezoneDifference::Saved { from, to: to.clone() });
        }
        if !differences.is_empty() && !state.zone_exists {
            return ObjectPlan::Fail(unknown(self));
        }
        ObjectPlan::of_existing(differences)
    }

    fn shown(&self) -> String {
        format!("time zone `{}`", self.0)
    }

    fn describe(&self, state: &TimezoneState) -> Described {
        Described::new("present").with("zone", state.local_time.zone())
    }
}

fn unknown(zone: &DesiredTimezone) -> Failure {
    let message = format!("the machine has no time zone `{}`", zone.0);
    let failure = Failure::conflict(message);
    failure
        .with_missing(MissingPrerequisite::Path(zone.file()))
        .with_hint("check the name in `timedatectl list-timezones`, or add a `package` resource for `tzdata`")
}

#[cfg(test)]
mod tests {
    use ccm_engine::ResourceKind as _;

    use super::*;
    use crate::support::decision_table::assert_rows;
    use crate::support::object_plan::Object;

    const TABLE: &str = "# /etc/localtime, /etc/timezone, whether the zone exists\n\
        ../usr/share/zoneinfo/Europe/Berlin  Europe/Berlin  yes | keep | it is in the desired state\n\
        /usr/share/zoneinfo/Europe/Berlin    -              no  | keep | it is in the desired state\n\
        /usr/share/zoneinfo/Etc/UTC          -              yes | changed: zone Etc/UTC to Europe/Berlin | it differs in zone\n\
        /usr/share/zoneinfo/Europe/Berlin    Etc/UTC        yes | changed: /etc/timezone Etc/UTC to Europe/Berlin | it differs in /etc/timezone\n\
        /elsewhere                           -              yes | changed: zone /elsewhere to Europe/Berlin | it differs in zone\n\
        file                                 -              yes | changed: zone a copy of a zone to Europe/Berlin | it differs in zone\n\
        -                                    Etc/UTC        yes | changed: zone none to Europe/Berlin, /etc/timezone Etc/UTC to Europe/Berlin | it differs in zone and /etc/timezone\n\
        /usr/share/zoneinfo/Etc/UTC          -              no  | fail, missing | the machine has no time zone `Europe/Berlin`\n";

    #[test]
    fn decisions_match_the_table() {
        let rows = assert_rows(TABLE, |[local_time, saved, zone_exists]| {
            let state = TimezoneState {
                local_time: match local_time {
                    "-" => LocalTime::Missing,
                    "file" => LocalTime::File,
                    target => LocalTime::Link(target.into()),
                },
                file: if saved == "-" { TextFile::default() } else { TextFile::of(format!("{saved}\n")) },
                zone_exists: zone_exists == "yes",
            };
            Object::decide(&DesiredTimezone("Europe/Berlin".to_owned()), &state, None)
        });
        assert_eq!(rows, 8);
    }
}
