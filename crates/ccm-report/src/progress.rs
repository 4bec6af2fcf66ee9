//! A command that takes its time, shown on a terminal.

use std::time::Duration;

use ccm_model::{Event, display_duration, escape_control};

/// How long a resource runs before it shows itself.
const PATIENCE: Duration = Duration::from_secs(1);
/// Goes to the beginning of the line and clears it.
const ERASE: &str = "\r\u{1b}[K";

/// Decides what the last line of a terminal shows while a resource runs.
///
/// It writes nothing itself: whoever owns the terminal writes what it returns.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    running: Option<Running>,
    shown: Option<String>,
}

#[derive(Clone, Debug)]
struct Running {
    name: String,
    since: Duration,
}

impl Progress {
    /// Takes an event, and returns what erases the line before anything else is written.
    pub fn accept(&mut self, event: &Event, now: Duration) -> Option<&'static str> {
        match event {
            Event::ResourceStarted(started) => {
                let name = escape_control(&started.id.to_string()).into_owned();
                self.running = Some(Running { name, since: now });
            }
            Event::ResourceFinished(_) | Event::SessionFinished(_) => self.running = None,
            Event::SessionStarted(_) | Event::OutputReceived(_) | Event::ArtifactsLeft(_) => {}
        }
        self.shown.take().map(|_| ERASE)
    }

    /// Returns what brings the line up to date on a terminal that is so many columns wide.
    pub fn tick(&mut self, now: Duration, width: usize) -> Option<String> {
        let running = self.running.as_ref()?;
        let elapsed = now.saturating_sub(running.since);
        if elapsed < PATIENCE {
            return None;
        }
        let elapsed = display_duration(Duration::from_secs(elapsed.as_secs()));
        let behind = format!(" running {elapsed}");
        // A line that fills the last column may go on below, where it could not be erased.
        let line = fitting(&running.name, width.saturating_sub(behind.len() + 1)) + &behind;
        if self.shown.as_ref() == Some(&line) {
            return None;
        }
        let text = format!("{ERASE}{line}");
        self.shown = Some(line);
        Some(text)
    }
}

/// As much of a text as fits. What is not ASCII is taken to be two columns wide, as some of it is.
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
    fn a_resource_shows_itself_after_a_second_and_is_erased_before_the_next_line() {
        let clock = FakeClock::default();
        let mut progress = Progress::default();
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
    fn it_fits_on_one_line_and_steers_nothing() {
        for (name, width, shown) in [
            ("a", 40, "exec#a running 1s"),
            ("abcdefghijklmnop", 26, "exec#abcdef... running 1s"),
            ("日本語日本語", 24, "exec#日本... running 1s"),
            ("x\u{1b}[2J\n", 60, "exec#x\\u{1b}[2J\\n running 1s"),
            ("abc", 3, "... running 1s"),
        ] {
            let mut progress = Progress::default();
            progress.accept(&started(name), Duration::ZERO);
            let text = progress.tick(PATIENCE, width).unwrap_or_default();
            assert_eq!(text, format!("{ERASE}{shown}"), "{name}");
        }
    }
}
