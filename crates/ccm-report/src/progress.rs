//! Progress of a slow command, on a terminal.

use std::time::Duration;

use ccm_host::LastLine;
use ccm_model::{Event, ResourceId, display_duration, escape_control};
use ccm_redaction::Secrets;

use crate::screen::{Screen, columns, plain};

const PATIENCE: Duration = Duration::from_secs(1);
/// Control codes that go to the beginning of the line and clear it.
const ERASE: &str = "\r\u{1b}[K";
/// Part of a line of output that is kept; no terminal shows more.
const MAX_LAST: usize = 1_000;

/// Last line of a terminal while a resource runs. The owner of the terminal writes the returned text.
#[derive(Clone, Debug, Default)]
pub struct ProgressLine {
    /// Number of resources of the run.
    total: usize,
    finished: usize,
    running: Option<RunningResource>,
    shown: Option<String>,
    last_line: LastLine,
    secrets: Secrets,
}

#[derive(Clone, Debug)]
struct RunningResource {
    id: ResourceId,
    since: Duration,
    /// Last line of the log.
    logged: String,
}

impl RunningResource {
    fn name(&self) -> String {
        escape_control(&self.id.to_string()).into_owned()
    }
}

impl ProgressLine {
    /// Creates the line of a run that fills in the last line of its running command.
    pub fn new(last_line: LastLine, secrets: Secrets) -> Self {
        Self { last_line, secrets, ..Self::default() }
    }

    /// Handles an event. Returns the control codes that erase the line, to be written before anything else.
    pub fn accept(&mut self, event: &Event, now: Duration) -> Option<&'static str> {
        match event {
            Event::SessionStarted(session) => (self.total, self.finished) = (session.resources, 0),
            Event::ResourceStarted(started) => {
                let id = started.id.clone();
                self.last_line.clear();
                self.running = Some(RunningResource { id, since: now, logged: String::new() });
            }
            Event::OutputReceived(output) => {
                if let Some(running) = &mut self.running {
                    let end =
                        output.line.char_indices().nth(MAX_LAST).map_or(output.line.len(), |(at, _)| at);
                    output.line[..end].clone_into(&mut running.logged);
                }
            }
            Event::ResourceFinished(_) => {
                self.finished += 1;
                self.running = None;
            }
            Event::SessionFinished(_) => self.running = None,
            Event::ArtifactsLeft(_) => {}
        }
        self.shown.take().map(|_| ERASE)
    }

    /// Returns the name of the resource whose work has begun, on one line.
    pub fn running(&self) -> Option<String> {
        self.running.as_ref().map(RunningResource::name)
    }

    /// Returns the control codes that erase the line, if it is shown.
    pub fn erase(&mut self) -> Option<&'static str> {
        self.shown.take().map(|_| ERASE)
    }

    /// Returns the text that updates the line on a terminal.
    pub fn tick(&mut self, now: Duration, screen: Screen) -> Option<String> {
        let running = self.running.as_ref()?;
        let elapsed = now.saturating_sub(running.since);
        if elapsed < PATIENCE {
            return None;
        }
        // A terminal may wrap a line that fills the last column, and the next line is not erased.
        let width = screen.width.unwrap_or(usize::MAX).saturating_sub(1);
        let elapsed = display_duration(Duration::from_secs(elapsed.as_secs()));
        let before = format!("[{}/{}] ", self.finished + 1, self.total.max(self.finished + 1));
        let behind = format!(" {elapsed}");
        let for_name = width.saturating_sub(before.len() + behind.len());
        let mut line = format!("{before}{}{behind}", screen.cut(&running.name(), for_name));
        let for_last = width.saturating_sub(columns(&line) + 2);
        // Less would not be readable.
        if for_last >= 8
            && let Some(last) = self.last(running)
        {
            line += &format!(": {}", screen.cut(&last, for_last));
        }
        let line = screen.cut(&line, width).into_owned();
        if self.shown.as_ref() == Some(&line) {
            return None;
        }
        let text = format!("{ERASE}{line}");
        self.shown = Some(line);
        Some(text)
    }
}

impl ProgressLine {
    /// Returns the last line of the running command, or else of the log.
    fn last(&self, running: &RunningResource) -> Option<String> {
        let printed = self.last_line.get();
        let last = if printed.is_empty() { &running.logged } else { &printed };
        // The command may have begun before a value became known as a secret.
        let last = plain(&self.secrets.redactor().redact(last)).trim().to_owned();
        (!last.is_empty()).then_some(last)
    }
}

#[cfg(test)]
mod tests {
    use ccm_host::Clock;
    use ccm_model::{OutputLine, ResourceStarted, Stream};
    use ccm_testkit::FakeClock;

    use super::*;

    const WIDE: Screen = Screen { width: Some(80), is_unicode: true };

    fn started(name: &str) -> Event {
        Event::ResourceStarted(ResourceStarted { id: ResourceId::new("exec", name) })
    }

    #[test]
    fn a_running_resource_is_shown_after_a_second_and_erased_before_other_text() {
        let clock = FakeClock::default();
        let mut progress = ProgressLine { total: 41, ..ProgressLine::default() };
        let at = |millis| {
            clock.advance(Duration::from_millis(millis));
            clock.monotonic()
        };
        assert_eq!(progress.tick(at(5_000), WIDE), None);
        assert_eq!(progress.accept(&started("migrate"), at(0)), None);
        assert_eq!(progress.tick(at(999), WIDE), None);
        assert_eq!(progress.tick(at(1), WIDE).as_deref(), Some("\r\u{1b}[K[1/41] exec#migrate 1s"));
        assert_eq!(progress.tick(at(500), WIDE), None, "nothing new to show");
        assert_eq!(progress.tick(at(61_000), WIDE).as_deref(), Some("\r\u{1b}[K[1/41] exec#migrate 1m2s"));
        let line = OutputLine {
            id: ResourceId::new("exec", "migrate"),
            stream: Stream::Stdout,
            line: "  10% done\x1b[2J\n".to_owned(),
        };
        let line = Event::OutputReceived(line);
        assert_eq!(progress.accept(&line, at(0)), Some(ERASE));
        assert_eq!(progress.accept(&line, at(0)), None);
        let shown = progress.tick(at(0), WIDE);
        assert_eq!(shown.as_deref(), Some("\r\u{1b}[K[1/41] exec#migrate 1m2s: 10% done"), "below the line");
        assert_eq!(progress.running().as_deref(), Some("exec#migrate"));
        assert_eq!(progress.accept(&started("next"), at(0)), Some(ERASE));
        assert_eq!(progress.tick(at(0), WIDE), None);
    }

    #[test]
    fn the_last_line_of_the_running_command_is_shown() {
        let (last_line, secrets) = (LastLine::default(), Secrets::new());
        let mut progress = ProgressLine::new(last_line.clone(), secrets.clone());
        last_line.set("of the command before");
        assert_eq!(progress.tick(PATIENCE, WIDE), None, "nothing runs");
        progress.accept(&started("build"), Duration::ZERO);
        let mut shown = |printed: Option<&str>| {
            if let Some(printed) = printed {
                last_line.set(printed);
            }
            progress.tick(PATIENCE, WIDE).map(|text| text.trim_start_matches(ERASE).to_owned())
        };
        assert_eq!(shown(None).as_deref(), Some("[1/1] exec#build 1s"));
        assert_eq!(
            shown(Some("\x1b[32mCompiling\x1b[0m a\t1")).as_deref(),
            Some("[1/1] exec#build 1s: Compiling a 1")
        );
        assert_eq!(shown(None), None, "nothing new to show");
        secrets.add(["hunter2hunter2"]);
        assert_eq!(
            shown(Some("with hunter2hunter2")).as_deref(),
            Some("[1/1] exec#build 1s: with [redacted]")
        );
        assert_eq!(shown(Some("\x1b[2J\x07")).as_deref(), Some("[1/1] exec#build 1s"));
        let long = format!("{}end", "x".repeat(1000));
        let cut = shown(Some(&long)).unwrap_or_default();
        assert!(cut.ends_with("xend") && columns(&cut) == 79, "{cut}");
    }

    #[test]
    fn the_line_fits_the_terminal_and_is_escaped() {
        for (name, width, shown) in [
            ("a", 40, "[1/1] exec#a 1s: 日本語日本語"),
            ("abcdefghijklmnop", 26, "[1/1] exec#abc…jklmnop 1s"),
            ("日本語日本語", 24, "[1/1] exec#日…日本語 1s"),
            ("x\u{1b}[2J\n", 60, "[1/1] exec#x\\u{1b}[2J\\n 1s: 日本語日本語"),
            ("abc", 20, "[1/1] exec#abc 1s"),
            ("abc", 3, "[…"),
        ] {
            let mut progress = ProgressLine::default();
            progress.accept(&started(name), Duration::ZERO);
            let line = OutputLine {
                id: ResourceId::new("exec", name),
                stream: Stream::Stdout,
                line: "日本語日本語".to_owned(),
            };
            progress.accept(&Event::OutputReceived(line), Duration::ZERO);
            let screen = Screen { width: Some(width), is_unicode: true };
            let text = progress.tick(PATIENCE, screen).unwrap_or_default();
            assert_eq!(text, format!("{ERASE}{shown}"), "{name}");
            assert!(columns(shown) < width);
        }
    }
}
