//! Texts of the units of a timer, and the mark by which ccm recognises its own.

use std::path::{Path, PathBuf};

use ccm_host::sha256;
use ccm_model::quote_words;
use ccm_resources::systemd::{UnitText, timer_units};

use super::{TimerName, TimerRequest, UnitScope};

/// Beginning of the first line. The checksum of everything below the line follows.
const MARK: &str = "# ccm timer; sha256 of the lines below: ";
/// Beginning of the line with the path of the manifest, as JSON.
const MANIFEST: &str = "# manifest: ";
/// Beginning of the line with the distance of two runs.
const EVERY: &str = "# every: ";

const SERVICE_COMMENT: &str = "\
# The reason for each directive, and for those that are left out, is in the unit ccm-apply@.service of ccm.
";

const CONDITION_COMMENT: &str = "\
# Without the program, for example while its package is removed, the timer goes on and its runs do nothing.
";

/// Returns the comment at the beginning of both units.
fn comment(scope: UnitScope) -> String {
    let systemctl = if scope == UnitScope::User { "systemctl --user" } else { "systemctl" };
    format!(
        "# ccm refuses to replace or remove this file once it is edited. To change the timer, install it again with \
         other\n# options, or add drop-ins with `{systemctl} edit`.\n"
    )
}

/// Directives of every service, as in the unit ccm-apply@.service.
const SERVICE: &str = "\
SuccessExitStatus=2
TimeoutStartSec=infinity
TimeoutStopSec=6min
KillMode=process
OOMPolicy=continue
Delegate=memory pids
";

/// Directives of the services of the system, as in the unit ccm-apply@.service. systemd sets the mode at each start, and
/// the group of approvers has to go through the directory.
const STATE_DIRECTORY: &str = "StateDirectory=ccm\nStateDirectoryMode=0710\n";

/// Directives of every timer, as in the unit ccm-apply@.timer.
const TIMER: &str = "\
FixedRandomDelay=true
AccuracySec=15s
Persistent=true

[Install]
WantedBy=timers.target
";

/// Returns the text of the service.
pub(super) fn service(request: &TimerRequest, scope: UnitScope) -> String {
    let is_system = scope == UnitScope::System;
    let network = if is_system {
        "# Commands may download packages. Without a network, the other resources are still applied.\n\
         Wants=network-online.target\nAfter=network-online.target\n"
    } else {
        ""
    };
    let variables = if is_system { "EnvironmentFile=-/etc/default/ccm\n" } else { "" };
    let state_directory = if is_system && !request.has_state_directory { STATE_DIRECTORY } else { "" };
    let text = UnitText::new(comment(scope)).lines(SERVICE_COMMENT).section("Unit");
    let text = text.directive("Description", description(request));
    let text = text.directive("Documentation", "man:ccm-timer(1) file:/usr/share/doc/ccm/use/timer.md");
    let text = request.on_failure.in_unit_section(text);
    let text = text.lines(CONDITION_COMMENT).directive("ConditionFileIsExecutable", &request.program);
    let text = text.lines(network).lines("\n").section("Service").directive("Type", "oneshot");
    let text = request.credentials.iter().fold(text.lines(variables), |text, credential| {
        text.directive("LoadCredential", format_args!("{}:{}", credential.name(), credential.path()))
    });
    let text = text.command(command_words(request, &UNATTENDED));
    // A notice that can't be given is no failure of the run.
    let option = if is_system { "" } else { " --user" };
    let notifier = format!("-{} timer notify{option}", request.program);
    let text = request.on_failure.in_service_section(text, &notifier);
    marked(request, &text.lines(SERVICE).lines(state_directory).finish())
}

/// Returns the text of the timer.
pub(super) fn timer(request: &TimerRequest, scope: UnitScope) -> String {
    let text = UnitText::new(comment(scope)).section("Unit").directive("Description", description(request));
    let text = text.directive("Documentation", "man:ccm-timer(1) man:systemd.timer(5)").lines("\n");
    let text = text.section("Timer").times(request.schedule.calendar());
    let text = text
        .lines("# Each machine has its own fixed delay, so that the time between two runs stays the same.\n");
    let text = text.directive("RandomizedDelaySec", format_args!("{}s", request.jitter.as_secs()));
    marked(request, &text.lines(TIMER).finish())
}

/// Returns lines for a crontab that apply the manifest at the same times, without the jitter.
pub(super) fn cron_lines(request: &TimerRequest) -> Vec<String> {
    // cron mails what is printed, and takes an unescaped `%` for a line end.
    let command = quote_words(command_words(request, &["--quiet", "--honour-pause"])).replace('%', "\\%");
    request.schedule.cron().into_iter().map(|times| format!("{times} {command}")).collect()
}

/// Options of every service.
const UNATTENDED: [&str; 3] = ["--output", "log", "--honour-pause"];

/// Returns the words of the command.
fn command_words<'r>(request: &'r TimerRequest, fixed: &[&'r str]) -> Vec<&'r str> {
    let mut words = vec![&*request.program, "apply"];
    words.extend(fixed);
    words.extend(request.options.iter().map(String::as_str));
    words.push(request.source.as_ref().map_or(&*request.manifest, |source| &*source.manifest));
    words
}

/// Returns the description of both units.
fn description(request: &TimerRequest) -> String {
    format!("Apply {} every {} (timer {})", request.manifest, request.schedule, request.name)
}

/// Adds the lines by which ccm recognises the file.
fn marked(request: &TimerRequest, text: &str) -> String {
    let manifest = serde_json::Value::from(&*request.manifest);
    let rest = format!("{MANIFEST}{manifest}\n{EVERY}{}\n{text}", request.schedule);
    format!("{MARK}{}\n{rest}", sha256(rest.as_bytes()))
}

/// A unit at the path of one of ccm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum UnitFile {
    /// There is none.
    Missing,
    /// As ccm wrote it.
    Own(OwnUnit),
    /// ccm wrote it, and somebody edited it.
    Edited(OwnUnit),
    /// Something that ccm has not written.
    Foreign,
}

/// A unit that ccm wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OwnUnit {
    pub(super) text: String,
    /// Path of the manifest; `None` if the line was edited.
    pub(super) manifest: Option<PathBuf>,
    /// Distance of two runs; empty if the line was edited.
    pub(super) every: String,
}

impl UnitFile {
    /// Recognises a file by its content.
    pub(super) fn parse(content: Vec<u8>) -> Self {
        let Ok(text) = String::from_utf8(content) else { return Self::Foreign };
        let Some((sum, rest)) = text.strip_prefix(MARK).and_then(|text| text.split_once('\n')) else {
            return Self::Foreign;
        };
        let value = |start: &str| rest.lines().find_map(|line| line.strip_prefix(start));
        let manifest = value(MANIFEST).and_then(|path| serde_json::from_str::<String>(path).ok());
        let every = value(EVERY).unwrap_or_default().to_owned();
        let is_unchanged = sum == sha256(rest.as_bytes());
        let unit = OwnUnit { manifest: manifest.map(PathBuf::from), every, text };
        if is_unchanged { Self::Own(unit) } else { Self::Edited(unit) }
    }

    /// Returns the unit, if ccm wrote it.
    pub(super) fn own(&self) -> Option<&OwnUnit> {
        match self {
            Self::Own(unit) | Self::Edited(unit) => Some(unit),
            Self::Missing | Self::Foreign => None,
        }
    }

    /// Returns `true` if it has this text.
    pub(super) fn is(&self, text: &str) -> bool {
        matches!(self, Self::Own(unit) if unit.text == text)
    }
}

/// Returns the names of the units of a timer: the service, then the timer.
pub(super) fn unit_names(name: &TimerName) -> [String; 2] {
    timer_units(format_args!("ccm-{name}"))
}

/// Returns the name of the timer with a unit, or a service, at this path.
pub(super) fn name_of(path: &Path) -> Option<TimerName> {
    let unit = path.file_name()?.to_str()?.strip_prefix("ccm-")?;
    unit.strip_suffix(".timer").or_else(|| unit.strip_suffix(".service"))?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::timer::{FailureAction, OnFailure, Schedule, ServiceCredential};

    fn request(manifest: &str, options: &[&str]) -> TimerRequest {
        TimerRequest {
            name: "site".parse().expect("a name"),
            manifest: manifest.to_owned(),
            source: None,
            schedule: Schedule::every(Duration::from_secs(1800)).expect("a schedule"),
            jitter: Duration::from_secs(300),
            options: options.iter().map(|option| (*option).to_owned()).collect(),
            program: "/usr/bin/ccm".to_owned(),
            has_state_directory: false,
            credentials: Vec::new(),
            on_failure: OnFailure::default(),
            force: false,
        }
    }

    fn exec_start(manifest: &str, options: &[&str]) -> String {
        let text = service(&request(manifest, options), UnitScope::System);
        let line = text.lines().find_map(|line| line.strip_prefix("ExecStart="));
        line.expect("a command").to_owned()
    }

    #[test]
    fn words_of_the_command_are_quoted() {
        let expected =
            "/usr/bin/ccm apply --output log --honour-pause --data \"motd=a b\" \"/srv/50%% $$.yaml\"";
        assert_eq!(exec_start("/srv/50% $.yaml", &["--data", "motd=a b"]), expected);
    }

    #[test]
    fn a_hostile_path_stays_in_its_line() {
        let text = service(&request("/srv/a\nExecStart=/bin/false\\", &[]), UnitScope::System);
        let directives: Vec<&str> = text.lines().filter(|line| line.starts_with("ExecStart=")).collect();
        assert_eq!(directives.len(), 1, "{text}");
        assert!(
            text.contains("\nDescription=Apply /srv/a?ExecStart=/bin/false\\ every 30m (timer site)\n"),
            "{text}"
        );
        let parsed = UnitFile::parse(text.clone().into_bytes());
        let manifest = parsed.own().and_then(|unit| unit.manifest.clone());
        assert_eq!(manifest, Some(PathBuf::from("/srv/a\nExecStart=/bin/false\\")));
        assert!(parsed.is(&text));
    }

    #[test]
    fn an_edited_unit_and_a_foreign_one_are_told_apart() {
        let text = timer(&request("/srv/site.yaml", &[]), UnitScope::System);
        assert!(UnitFile::parse(text.clone().into_bytes()).is(&text));
        for edited in [
            text.replace("Persistent=true", "Persistent=false"),
            format!("{text}\n"),
            text.replace("# manifest: ", "# manifest:"),
            text.replace("below: ", "below: 0"),
        ] {
            assert!(matches!(UnitFile::parse(edited.into_bytes()), UnitFile::Edited(_)));
        }
        for foreign in ["", "[Unit]\n", "\u{feff}# ccm timer", MARK] {
            assert_eq!(UnitFile::parse(foreign.as_bytes().to_vec()), UnitFile::Foreign, "{foreign}");
        }
        assert_eq!(UnitFile::parse(vec![0xff]), UnitFile::Foreign);
    }

    /// Returns the directives of a section, without comments.
    fn directives<'t>(text: &'t str, section: &str) -> Vec<&'t str> {
        let lines = text.lines().skip_while(|line| *line != section).skip(1);
        let lines = lines.take_while(|line| !line.starts_with('['));
        lines.filter(|line| !line.is_empty() && !line.starts_with('#')).collect()
    }

    #[test]
    fn the_units_have_the_directives_of_those_of_the_package() {
        let shipped = include_str!("../../../../packaging/systemd/ccm-apply@.service");
        let written = service(&request("/srv/site.yaml", &[]), UnitScope::System);
        let own = ["ExecStart=", "ExecStartPre=", "Environment="];
        let is_common = |line: &&str| !own.iter().any(|start| line.starts_with(start));
        let sorted = |text| {
            let mut found: Vec<&str> = directives(text, "[Service]").into_iter().filter(is_common).collect();
            found.sort_unstable();
            found
        };
        assert_eq!(sorted(&written), sorted(shipped));
        assert_eq!(directives(&written, "[Unit]")[2..], directives(shipped, "[Unit]")[2..]);
        let shipped = include_str!("../../../../packaging/systemd/ccm-apply@.timer");
        let written = timer(&request("/srv/site.yaml", &[]), UnitScope::System);
        assert_eq!(directives(&written, "[Install]"), directives(shipped, "[Install]"));
        let [shipped, written] = [shipped, &written].map(|text| directives(text, "[Timer]")[2..].to_vec());
        assert_eq!(written, shipped);
    }

    #[test]
    fn texts_stay_the_same() {
        // A release with other texts would replace the units of every machine.
        let request = request("/srv/site.yaml", &[]);
        for (text, sum) in [
            (
                service(&request, UnitScope::System),
                "494606638d3f68eb14651f3eaaefe8d0ccae29604d39954a710dff2f8a99555f",
            ),
            (
                timer(&request, UnitScope::System),
                "474c2e0d2869364df442c0a5c82ce08b52c1ec0fa57ed9b339f94cac079b6f44",
            ),
            (
                service(&request, UnitScope::User),
                "9185753a74536a7ef04b51af1c540402386b6c808ded8f52c65ad03cd6d4c6aa",
            ),
            (
                timer(&request, UnitScope::User),
                "feebbba96393b7251cca5d2496a2c322fee96af635e24e65c05118dd91b54917",
            ),
        ] {
            assert!(text.starts_with(&format!("{MARK}{sum}\n")), "{text}");
        }
    }

    #[test]
    fn units_of_a_user_leave_out_what_belongs_to_the_system() {
        let text = service(&request("/srv/site.yaml", &[]), UnitScope::User);
        for directive in ["network-online", "EnvironmentFile", "StateDirectory"] {
            assert!(!text.contains(directive), "{directive}: {text}");
        }
        let own_state = TimerRequest { has_state_directory: true, ..request("/srv/site.yaml", &[]) };
        assert!(!service(&own_state, UnitScope::System).contains("StateDirectory"));
    }

    #[test]
    fn credentials_and_units_of_a_failure_are_directives() {
        let credential = |name, path| ServiceCredential::new(name, Path::new(path)).expect("a credential");
        let own = TimerRequest {
            credentials: vec![credential("db", "/srv/50% off/db"), credential("token", "/srv/a b:c")],
            on_failure: OnFailure {
                actions: ["notify@%n.service", "alert.target", "mail -s 'it failed' root"]
                    .map(|action| FailureAction::parse(action).expect("an action"))
                    .to_vec(),
                ..OnFailure::default()
            },
            ..request("/srv/site.yaml", &[])
        };
        let text = service(&own, UnitScope::System);
        assert!(directives(&text, "[Unit]").contains(&"OnFailure=notify@%n.service alert.target"), "{text}");
        let notifies = |text: &str, line: &str| directives(text, "[Service]").contains(&line);
        let line = "ExecStopPost=-/usr/bin/ccm timer notify %n -- mail -s \"it failed\" root";
        assert!(notifies(&text, line), "{text}");
        let of_user = service(&own, UnitScope::User);
        assert!(notifies(&of_user, &line.replace("notify", "notify --user")), "{of_user}");
        let loaded = directives(&text, "[Service]");
        let loaded = loaded.into_iter().filter(|line| line.starts_with("LoadCredential"));
        assert_eq!(
            loaded.collect::<Vec<_>>(),
            ["LoadCredential=db:/srv/50%% off/db", "LoadCredential=token:/srv/a b:c"]
        );
    }

    #[test]
    fn lines_of_a_crontab_escape_percent_signs() {
        let lines = cron_lines(&request("/srv/50% off.yaml", &["--data", "a=it's"]));
        let expected = "*/30 * * * * /usr/bin/ccm apply --quiet --honour-pause --data 'a=it'\\''s' '/srv/50\\% off.yaml'";
        assert_eq!(lines, [expected]);
    }
}
