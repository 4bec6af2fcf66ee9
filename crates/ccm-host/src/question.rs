//! Questions to a person at a terminal.

use std::io::{self, BufRead as _, IsTerminal as _, Read as _, Write as _};
use std::thread;

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use tokio::sync::oneshot;

/// Maximum length of an answer that is read.
const MAX_ANSWER: u64 = 1024;

/// Returns `true` if a person can be asked: standard input and standard error are a terminal.
pub fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Writes a question to standard error, and reads a line of standard input. The end of the input is an empty answer.
///
/// Only a thread can wait for the line without delaying signals. It goes on waiting if the future is dropped, until the
/// process ends.
pub async fn ask(question: &str) -> io::Result<String> {
    let mut stderr = io::stderr().lock();
    stderr.write_all(question.as_bytes())?;
    stderr.flush()?;
    drop(stderr);
    let (sender, receiver) = oneshot::channel();
    let read = move || {
        let mut answer = String::new();
        let read = io::stdin().lock().take(MAX_ANSWER).read_line(&mut answer);
        // Nobody waits for the answer any more if the receiver is dropped.
        let _ = sender.send(read.map(|_| answer));
    };
    thread::Builder::new().name("ccm-question".to_owned()).spawn(read)?;
    receiver.await.unwrap_or_else(|gone| Err(io::Error::other(gone)))
}

/// Asks for a secret on standard error, and reads a line of standard input that a terminal does not show. Returns the line
/// without its end.
pub async fn ask_secret(question: &str) -> io::Result<String> {
    let hidden = HiddenInput::begin();
    let answer = ask(question).await;
    drop(hidden);
    let mut answer = answer?;
    // The terminal has not shown the end of the line.
    io::stderr().write_all(b"\n")?;
    answer.truncate(answer.trim_end_matches(['\r', '\n']).len());
    Ok(answer)
}

/// Terminal that does not show what is typed, until the value is dropped.
struct HiddenInput(Option<Termios>);

impl HiddenInput {
    fn begin() -> Self {
        let shown = tcgetattr(io::stdin()).ok();
        if let Some(shown) = &shown {
            let mut hidden = shown.clone();
            hidden.local_modes.remove(LocalModes::ECHO);
            // A question whose answer is shown is better than none.
            let _ = tcsetattr(io::stdin(), OptionalActions::Flush, &hidden);
        }
        Self(shown)
    }
}

impl Drop for HiddenInput {
    fn drop(&mut self) {
        if let Some(shown) = &self.0 {
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, shown);
        }
    }
}

/// Returns `true` if an answer to a question is yes.
pub fn is_yes(answer: &str) -> bool {
    matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_yes_is_yes() {
        for answer in ["y\n", "Y\n", "yes\n", " YES \n", "y"] {
            assert!(is_yes(answer), "{answer:?}");
        }
        for answer in ["", "\n", "n\n", "no\n", "yy\n", "ok\n", "j\n", "y n\n"] {
            assert!(!is_yes(answer), "{answer:?}");
        }
    }
}
