//! A parser in a process of its own.

use std::io::{self, Read, Write};
use std::panic::catch_unwind;
use std::process::{Child, Command, Stdio};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Resource, Rlimit, setrlimit};

/// First argument of the process of a parser.
pub(crate) const FLAG: &str = "--child";
/// Names of the parsers.
pub(crate) const PARSERS: [&str; 2] = ["shuck", "brush"];
/// Maximum memory of a parser.
const MEMORY: u64 = 1 << 30;
/// Maximum time for a text.
const TIME: Timespec = Timespec { tv_sec: 10, tv_nsec: 0 };
/// Number of texts for one process: a parser keeps the words that it has met.
const TEXTS: u32 = 20_000;

const ACCEPTED: u8 = b'+';
const REFUSED: u8 = b'-';

/// Verdict of a parser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The text is parsed without an error.
    Accepted,
    /// The text has an error.
    Refused,
    /// The parser panicked, ran out of stack, memory or time.
    Died,
}

/// Reads texts from standard input, and writes a byte for each.
pub(crate) fn serve(parser: &str, dialect: &str) {
    setrlimit(Resource::As, Rlimit { current: Some(MEMORY), maximum: Some(MEMORY) }).expect("a limit");
    setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) }).expect("a limit");
    std::panic::set_hook(Box::new(|_| {}));
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    let mut length = [0; 4];
    while input.read_exact(&mut length).is_ok() {
        let mut text = vec![0; u32::from_le_bytes(length) as usize];
        input.read_exact(&mut text).expect("a text");
        let text = String::from_utf8(text).expect("UTF-8");
        let accepts = catch_unwind(|| match parser {
            "shuck" => shuck(&text, dialect),
            _ => brush(&text, dialect),
        });
        let Ok(accepts) = accepts else { std::process::abort() };
        output.write_all(&[if accepts { ACCEPTED } else { REFUSED }]).expect("a reader");
        output.flush().expect("a reader");
    }
}

fn shuck(text: &str, dialect: &str) -> bool {
    use shuck_parser::parser::{ParseStatus, Parser};
    let dialect =
        if dialect == "sh" { shuck_parser::ShellDialect::Posix } else { shuck_parser::ShellDialect::Bash };
    Parser::with_dialect(text, dialect).parse().status == ParseStatus::Clean
}

fn brush(text: &str, dialect: &str) -> bool {
    let sh_mode = dialect == "sh";
    let options = brush_parser::ParserOptions {
        sh_mode,
        posix_mode: sh_mode,
        enable_extended_globbing: false,
        ..brush_parser::ParserOptions::default()
    };
    brush_parser::Parser::new(text.as_bytes(), &options).parse_program().is_ok()
}

/// Process of a parser, which is started anew after it died.
pub(crate) struct Oracle {
    parser: &'static str,
    dialect: &'static str,
    child: Option<Child>,
    asked: u32,
}

impl Oracle {
    pub(crate) fn new(parser: &'static str, dialect: &'static str) -> Self {
        Self { parser, dialect, child: None, asked: 0 }
    }

    pub(crate) fn ask(&mut self, text: &str) -> Verdict {
        if self.asked >= TEXTS {
            self.end();
        }
        let (parser, dialect) = (self.parser, self.dialect);
        let child = self.child.get_or_insert_with(|| {
            let program = std::env::current_exe().expect("a program");
            let mut command = Command::new(program);
            command
                .args([FLAG, parser, dialect])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::null());
            command.spawn().expect("a process")
        });
        self.asked += 1;
        match verdict(child, text) {
            Some(verdict) => verdict,
            None => {
                self.end();
                Verdict::Died
            }
        }
    }

    fn end(&mut self) {
        self.asked = 0;
        if let Some(mut child) = self.child.take() {
            // It may have ended.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Drop for Oracle {
    fn drop(&mut self) {
        self.end();
    }
}

fn verdict(child: &mut Child, text: &str) -> Option<Verdict> {
    let length = u32::try_from(text.len()).expect("a short text");
    let message = [&length.to_le_bytes()[..], text.as_bytes()].concat();
    child.stdin.as_mut()?.write_all(&message).ok()?;
    let output = child.stdout.as_mut()?;
    if poll(&mut [PollFd::new(output, PollFlags::IN)], Some(&TIME)).ok()? == 0 {
        return None;
    }
    let mut byte = [0];
    output.read_exact(&mut byte).ok()?;
    Some(if byte[0] == ACCEPTED { Verdict::Accepted } else { Verdict::Refused })
}
