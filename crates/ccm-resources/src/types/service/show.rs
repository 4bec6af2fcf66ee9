//! Parser for `systemctl show`.

use std::time::{Duration, SystemTime};

use ccm_model::parse_timestamp;

pub(crate) const PROPERTIES: &str = "Id,Names,LoadState,LoadError,ActiveState,SubState,UnitFileState,\
    NeedDaemonReload,CanReload,Type,RemainAfterExit,Result,ExecMainCode,ExecMainStatus,DropInPaths,\
    TimeoutStartUSec,TimeoutStopUSec,Triggers,TriggeredBy,FragmentPath,SourcePath,NRestarts,ActiveEnterTimestamp";

/// Time limit in place of `infinity`.
const INFINITE_TIMEOUT: Duration = Duration::from_secs(3600);
/// Time limit if systemd reports none.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(90);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Load {
    #[default]
    Loaded,
    NotFound,
    /// The unit cannot be started.
    Masked,
    /// The unit file has an error, in the words of systemd.
    Bad(String),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Activity {
    Running,
    #[default]
    Stopped,
    Failed,
    /// Exited; systemd restarts the unit after a delay.
    Restarting,
    Activating,
    Deactivating,
    Reloading,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Unit {
    pub id: String,
    /// All names, with aliases.
    pub names: Vec<String>,
    pub load: Load,
    pub activity: Activity,
    /// Active state and sub-state in systemd's words.
    pub words: (String, String),
    /// Enablement in systemd's word.
    pub file_state: String,
    /// True if its files changed since systemd read them.
    pub needs_reload: bool,
    pub can_reload: bool,
    /// True for a unit that does its work and exits.
    pub is_oneshot: bool,
    /// True if the unit reports when it has started.
    pub reports_start: bool,
    /// True for a oneshot that stays active after a successful exit.
    pub remains_after_exit: bool,
    pub result: String,
    pub main_process: Option<String>,
    pub drop_ins: Vec<String>,
    /// Units that a timer, socket and the like starts.
    pub triggers: Vec<String>,
    /// Timers, sockets and the like that start the unit.
    pub triggered_by: Vec<String>,
    /// Path of the unit file.
    pub fragment_path: String,
    /// Path of the file that a generated unit was made from.
    pub source_path: String,
    /// Number of restarts by systemd since the unit was started.
    pub restarts: u32,
    /// Time at which the unit became active last.
    pub active_since: Option<SystemTime>,
    /// Time that a start may take.
    pub start_timeout: Duration,
    /// Time that a stop may take.
    pub stop_timeout: Duration,
}

impl Unit {
    /// Returns the primary name; `other` if systemd told none.
    pub(crate) fn name_or<'a>(&'a self, other: &'a str) -> &'a str {
        if self.id.is_empty() { other } else { &self.id }
    }

    /// Returns `true` if the unit counts as enabled.
    pub(crate) fn is_enabled(&self) -> bool {
        matches!(
            &*self.file_state,
            "enabled" | "enabled-runtime" | "alias" | "static" | "indirect" | "generated" | "transient"
        )
    }

    /// Returns `true` if the unit cannot be enabled or disabled.
    pub(crate) fn is_fixed(&self) -> bool {
        matches!(&*self.file_state, "static" | "indirect" | "generated" | "transient")
    }

    pub(crate) fn is_masked(&self) -> bool {
        self.load == Load::Masked || self.file_state.starts_with("masked")
    }
}

/// Parses the output, a block for each queried unit in order.
pub(crate) fn units(printed: &str) -> Vec<Unit> {
    let blocks = printed.split("\n\n").map(str::trim).filter(|block| !block.is_empty());
    blocks.map(unit).collect()
}

fn unit(block: &str) -> Unit {
    let value = |name: &str| {
        let line = block.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        line.unwrap_or_default()
    };
    let words = |name: &str| value(name).split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let is = |name: &str| value(name) == "yes";
    let load = match value("LoadState") {
        "not-found" => Load::NotFound,
        "masked" => Load::Masked,
        "error" | "bad-setting" => Load::Bad(load_error(value("LoadError"))),
        _ => Load::Loaded,
    };
    let (active, sub) = (value("ActiveState"), value("SubState"));
    let activity = match (active, sub) {
        ("active", _) => Activity::Running,
        ("failed", _) => Activity::Failed,
        ("activating", "auto-restart" | "auto-restart-queued") => Activity::Restarting,
        ("activating", _) => Activity::Activating,
        ("deactivating", _) => Activity::Deactivating,
        ("reloading" | "refreshing", _) => Activity::Reloading,
        _ => Activity::Stopped,
    };
    let kind = value("Type");
    Unit {
        id: value("Id").to_owned(),
        names: words("Names"),
        load,
        activity,
        words: (active.to_owned(), sub.to_owned()),
        file_state: value("UnitFileState").to_owned(),
        needs_reload: is("NeedDaemonReload"),
        can_reload: is("CanReload"),
        is_oneshot: kind == "oneshot",
        reports_start: !matches!(kind, "simple" | "exec" | "idle"),
        remains_after_exit: is("RemainAfterExit"),
        result: value("Result").to_owned(),
        main_process: main_process(value("ExecMainCode"), value("ExecMainStatus")),
        drop_ins: words("DropInPaths"),
        triggers: words("Triggers"),
        triggered_by: words("TriggeredBy"),
        fragment_path: value("FragmentPath").to_owned(),
        source_path: value("SourcePath").to_owned(),
        restarts: value("NRestarts").parse().unwrap_or_default(),
        active_since: time(value("ActiveEnterTimestamp")),
        start_timeout: limit(value("TimeoutStartUSec")),
        stop_timeout: limit(value("TimeoutStopUSec")),
    }
}

/// Extracts the message from `org.freedesktop.systemd1.BadUnitSetting "Unit a.service has …"`.
fn load_error(value: &str) -> String {
    let (_, words) = value.split_once(' ').unwrap_or(("", value));
    words.trim_matches('"').trim_end_matches('.').to_owned()
}

/// Describes how a process exited, from the kernel's exit code and status.
fn main_process(code: &str, status: &str) -> Option<String> {
    match code {
        "1" => {
            let ended = format!("its main process ended with exit code {status}");
            Some(match setup_failure(status) {
                Some(why) => format!("{ended}: {why}"),
                None => ended,
            })
        }
        "2" | "3" => Some(format!("its main process was killed by signal {status}")),
        _ => None,
    }
}

/// Returns the meaning of an exit code that systemd uses when it cannot execute the program.
fn setup_failure(status: &str) -> Option<&'static str> {
    match status {
        "200" => Some("systemd could not enter its working directory"),
        "203" => Some("systemd could not execute its program"),
        "216" => Some("systemd could not change to its group"),
        "217" => Some("systemd could not change to its user"),
        "226" => Some("systemd could not set up its namespaces"),
        _ => None,
    }
}

/// Parses a time in UTC, `Sat 2026-11-28 15:37:00 UTC`.
fn time(value: &str) -> Option<SystemTime> {
    let mut words = value.split(' ').skip(1);
    let (date, time) = (words.next()?, words.next()?);
    parse_timestamp(&format!("{date}T{time}Z"))
}

fn limit(value: &str) -> Duration {
    match value {
        "" => DEFAULT_TIMEOUT,
        "infinity" => INFINITE_TIMEOUT,
        value => span(value).unwrap_or(DEFAULT_TIMEOUT),
    }
}

/// Parses a time span of systemd, `1min 30s`.
fn span(text: &str) -> Option<Duration> {
    text.split_whitespace().try_fold(Duration::ZERO, |total, part| {
        let letters = part.find(|c: char| c.is_ascii_alphabetic())?;
        let (number, unit) = part.split_at(letters);
        let seconds = match unit {
            "us" => 1e-6,
            "ms" => 1e-3,
            "s" => 1.0,
            "min" => 60.0,
            "h" => 3600.0,
            "d" => 86_400.0,
            "w" => 604_800.0,
            "month" => 2_629_800.0,
            "y" => 31_557_600.0,
            _ => return None,
        };
        let one = Duration::try_from_secs_f64(number.parse::<f64>().ok()? * seconds).ok()?;
        total.checked_add(one)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_spans_are_parsed() {
        for (text, milliseconds) in [
            ("1min 30s", Some(90_000)),
            ("5s", Some(5_000)),
            ("500ms", Some(500)),
            ("1.5s", Some(1_500)),
            ("2h 1min", Some(7_260_000)),
            ("1d", Some(86_400_000)),
            ("1w", Some(604_800_000)),
            ("soon", None),
            ("5", None),
        ] {
            assert_eq!(span(text).map(|span| span.as_millis()), milliseconds, "{text}");
        }
        assert_eq!(
            (limit(""), limit("infinity"), limit("1s")),
            (DEFAULT_TIMEOUT, INFINITE_TIMEOUT, Duration::from_secs(1))
        );
    }

    #[test]
    fn times_are_read_in_utc() {
        let since = |text| time(text).and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
        assert_eq!(since("Thu 1970-01-01 00:01:05 UTC"), Some(Duration::from_secs(65)));
        for text in ["", "n/a", "0"] {
            assert_eq!(since(text), None, "{text}");
        }
    }

    #[test]
    fn each_block_is_a_unit() {
        let printed = "Type=notify\nRemainAfterExit=no\nResult=exit-code\nExecMainCode=1\nExecMainStatus=4\n\
            TimeoutStartUSec=1min\nTimeoutStopUSec=10s\nId=ssh.service\nNames=sshd.service ssh.service\n\
            LoadState=loaded\nLoadError=\nActiveState=failed\nSubState=failed\nUnitFileState=enabled\n\
            NeedDaemonReload=yes\nCanReload=yes\nDropInPaths=/a/b.conf /c/d.conf\n\n\
            Id=nosuch.service\nNames=nosuch.service\nLoadState=not-found\nActiveState=inactive\nSubState=dead\n\
            LoadError=org.freedesktop.systemd1.NoSuchUnit \"Unit nosuch.service not found.\"\n";
        let found = units(printed);
        assert_eq!(found.len(), 2);
        let (ssh, nosuch) = (&found[0], &found[1]);
        assert_eq!(
            (&*ssh.id, &*ssh.names),
            ("ssh.service", &["sshd.service", "ssh.service"].map(str::to_owned)[..])
        );
        assert_eq!((ssh.activity, ssh.is_enabled(), ssh.needs_reload), (Activity::Failed, true, true));
        assert_eq!(ssh.main_process.as_deref(), Some("its main process ended with exit code 4"));
        assert_eq!((ssh.start_timeout.as_secs(), ssh.stop_timeout.as_secs()), (60, 10));
        assert_eq!(ssh.drop_ins, ["/a/b.conf", "/c/d.conf"]);
        assert!(ssh.reports_start && ssh.can_reload && !ssh.is_oneshot && !ssh.remains_after_exit);
        assert_eq!((&nosuch.load, nosuch.activity), (&Load::NotFound, Activity::Stopped));
        assert_eq!(units("\n"), []);
    }

    #[test]
    fn activity_follows_from_state_and_sub_state() {
        for (active, sub, activity) in [
            ("active", "running", Activity::Running),
            ("active", "exited", Activity::Running),
            ("inactive", "dead", Activity::Stopped),
            ("failed", "failed", Activity::Failed),
            ("activating", "start-pre", Activity::Activating),
            ("activating", "auto-restart", Activity::Restarting),
            ("deactivating", "stop-sigterm", Activity::Deactivating),
            ("reloading", "reload", Activity::Reloading),
        ] {
            let found = units(&format!("Id=a.service\nActiveState={active}\nSubState={sub}\n"));
            assert_eq!(found[0].activity, activity, "{active} {sub}");
        }
    }

    #[test]
    fn load_error_is_extracted() {
        let found = units(
            "LoadState=bad-setting\nLoadError=org.freedesktop.systemd1.BadUnitSetting \"Unit a.service has a bad unit file setting.\"\n",
        );
        assert_eq!(found[0].load, Load::Bad("Unit a.service has a bad unit file setting".to_owned()));
    }

    #[test]
    fn units_that_start_by_themselves_count_as_enabled() {
        for (word, enabled) in [
            ("enabled", true),
            ("enabled-runtime", true),
            ("alias", true),
            ("static", true),
            ("indirect", true),
            ("generated", true),
            ("transient", true),
            ("linked", false),
            ("linked-runtime", false),
            ("masked", false),
            ("masked-runtime", false),
            ("disabled", false),
            ("", false),
        ] {
            let unit = Unit { file_state: word.to_owned(), ..Unit::default() };
            assert_eq!(unit.is_enabled(), enabled, "{word}");
        }
    }
}
