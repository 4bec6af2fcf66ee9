//! Lines about a push while it goes.

use ccm_push::InterruptLevel;
use ccm_runtime::process::Terminal;

use super::HostResult;
use super::ends::in_short;
use crate::arguments::PushArguments;
use crate::console::Console;

/// Lines on standard error: one for each host that has ended, and on a terminal one of what runs.
pub(super) struct Progress {
    console: Console,
    total: usize,
    ended: usize,
    running: usize,
    is_quiet: bool,
    is_noop: bool,
    terminal: Option<Terminal>,
    has_line: bool,
}

impl Progress {
    pub(super) fn new(arguments: &PushArguments, total: usize, console: &Console) -> Self {
        Self {
            console: console.clone(),
            total,
            ended: 0,
            running: 0,
            is_quiet: arguments.quiet,
            is_noop: arguments.noop,
            terminal: Terminal::on_standard_error().filter(|_| !arguments.quiet),
            has_line: false,
        }
    }

    pub(super) fn begun(&mut self) {
        self.running += 1;
        self.draw();
    }

    /// Writes the line of a host, such as `[12/50] web7 3 changed`.
    pub(super) fn ended(&mut self, name: &str, result: &HostResult) {
        self.ended += 1;
        self.running -= 1;
        if !self.is_quiet {
            let width = self.total.to_string().len();
            let line = format!(
                "[{:>width$}/{}] {name} {}\n",
                self.ended,
                self.total,
                in_short(result, self.is_noop)
            );
            self.write(&line);
            self.draw();
        }
    }

    /// Writes what an interrupt does.
    pub(super) fn interrupted(&mut self, signal: &str, level: InterruptLevel) {
        let text = match level {
            InterruptLevel::NoFurther => {
                "no further host is begun; a second interrupt ends the runs on the hosts"
            }
            InterruptLevel::EndRuns => {
                "ending the runs on the hosts; a third interrupt leaves them to themselves"
            }
            InterruptLevel::None | InterruptLevel::Leave => {
                "closing the connections; the runs on the hosts go on, and are recorded there"
            }
        };
        self.write(&format!("interrupted by {signal}: {text}\n"));
    }

    pub(super) fn finish(&mut self) {
        self.erase();
    }

    fn draw(&mut self) {
        if self.terminal.is_some() {
            self.erase();
            if self.running > 0 {
                let plural = if self.running == 1 { "host runs" } else { "hosts run" };
                self.console.write(&format!("{} {plural}", self.running));
                self.has_line = true;
            }
        }
    }

    fn write(&mut self, text: &str) {
        self.erase();
        self.console.write(text);
    }

    fn erase(&mut self) {
        if std::mem::take(&mut self.has_line) {
            self.console.write("\r\u{1b}[K");
        }
    }
}
