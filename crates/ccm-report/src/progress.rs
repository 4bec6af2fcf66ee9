//! Progress of a slow command, on a terminal.

use std::time::Duration;

use ccm_model::{Event, display_duration, escape_control};

const PATIENCE: Duration = Duration::from_secs(1);
/// Control codes that go to the beginning of the line and clear it.
const ERASE: &str = "\r\u{1b}[K";

/// Last line of a terminal while a resource runs. The owner of the terminal writes the returned text.
#[derive(Clone, Debug, Default)]
pub struct ProgressLine {
    running: Option<RunningResource>,
    shown: Option<String>,
}

#[derive(Clone, Debug)]
struct RunningResource {
    name: String,
    since: Duration,
}

impl ProgressLine {
    /// Handles an event. Returns the control codes that erase the line, to be written before anything else.
    pub fn accept(&mut self, event: &Event, now: Duration) -> Option<&'static str> {
        match event {
            Event::ResourceStarted(started) => {
                let name = escape_control(&started.id.to_string()).into_owned();
                self.running = Some(RunningResource { name, since: now });
            }
            Event::ResourceFinished(_) | Event::SessionFinished(_) => self.running = None,
            Event::SessionStarted(_) | Event::OutputReceived(_) | Event::ArtifactsLeft(_) => {}
        }
        self.shown.take().map(|_| ERASE)
    }

    /// Returns the text that updates the line on a terminal with a number of columns.
    pub fn tick(&mut self, now: Duration, width: usize) -> Option<String> {
        let running = self.running.as_ref()?;
        let elapsed = now.saturating_sub(running.since);
        if elapsed < PATIENCE {
            return None;
        }
        let elapsed = display_duration(Duration::from_secs(elapsed.as_secs()));
        let behind = format!(" running {elapsed}");
        // A terminal may wrap a line that fills the last column, and the next line is not erased.
        let line = fitting(&running.name, width.saturating_sub(behind.len() + 1)) + &behind;
        if self.shown.as_ref() == Some(&line) {
            return None;
        }
        let text = format!("{ERASE}{line}");
        self.shown = Some(line);
        Some(text)
    }
}

/// Shortens a text to a number of columns, two for each character that is not ASCII: some are wide.
fn fitting(text: &str, columns: usize) -> String {
    let wide = |character: char| if character.is_ascii() { 1 } else { 2 };
    if text.chars().map(wide).sum::<usize>() <= columns {
        return text.to_owned();
    }
    let mut left = columns.saturating_sub(3);
    let mut kept: String = text
        .chars()
        .take_while(|character| {
            let fits = wide(*character) <= left;
            left = left.saturating_sub(wide(*character));
            fits
        })
        .collect();
    kept.push_str("...");
    kept
}

#[cfg(test)]
mod tests {
    use ccm_host::Clock;
    use ccm_model::{OutputLine, ResourceId, ResourceStarted, Stream};
    use ccm_testkit::FakeClock;

    use super::*;

    fn started(name: &str) -> Event {
        Event::ResourceStarted(ResourceStarted { id: ResourceId::new("exec", name) })
    }

    #[test]
    fn a_running_resource_is_shown_after_a_second_and_erased_before_other_text() {
        let clock = FakeClock::default();
        let mut progress = ProgressLine::default();
        let at = |millis| {
            clock.advance(Duration::from_millis(millis));
            clock.monotonic()
        };
        assert_eq!(progress.tick(at(5_000), 80), None);
        assert_eq!(progress.accept(&started("migrate"), at(0)), None);
        assert_eq!(progress.tick(at(999), 80), None);
        assert_eq!(progress.tick(at(1), 80).as_deref(), Some("\r\u{1b}[Kexec#migrate running 1s"));
        assert_eq!(progress.tick(at(500), 80), None, "nothing new to show");
        assert_eq!(progress.tick(at(61_000), 80).as_deref(), Some("\r\u{1b}[Kexec#migrate running 1m2s"));
        let line = OutputLine {
            id: ResourceId::new("exec", "migrate"),
            stream: Stream::Stdout,
            line: "x".to_owned(),
        };
        let line = Event::OutputReceived(line);
        assert_eq!(progress.accept(&line, at(0)), Some(ERASE));
        assert_eq!(progress.accept(&line, at(0)), None);
        assert!(progress.tick(at(0), 80).is_some(), "it comes back below the line");
        assert_eq!(progress.accept(&started("next"), at(0)), Some(ERASE));
        assert_eq!(progress.tick(at(0), 80), None);
    }

    #[test]
    fn the_line_fits_the_terminal_and_is_escaped() {
        for (name, width, shown) in [
            ("a", 40, "exec#a running 1s"),
            ("abcdefghijklmnop", 26, "exec#abcdef... running 1s"),
            ("日本語日本語", 24, "exec#日本... running 1s"),
            ("x\u{1b}[2J\n", 60, "exec#x\\u{1b}[2J\\n running 1s"),
            ("abc", 3, "... running 1s"),
        ] {
            let mut progress = ProgressLine::default();
            progress.accept(&started(name), Duration::ZERO);
            let text = progress.tick(PATIENCE, width).unwrap_or_default();
            assert_eq!(text, format!("{ERASE}{shown}"), "{name}");
        }
    }
}
