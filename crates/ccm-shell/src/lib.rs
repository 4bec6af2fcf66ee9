//! Shell text to commands and words, as dash and as bash read it.
//!
//! [`read`] parses a text and follows it: each simple command of the [`ShellReading`] has its words after all
//! expansions, as far as they are known, with its redirections, assignments, standard input and directories. A word
//! is a list of [`WordPiece`]s: known text, a pattern, or text that is not known. Each effect of the shell itself that
//! can't be known, such as `eval "$x"`, is a [`ShellDoubt`] of its command.
//!
//! A program that the text can start is either the first word of a command, or the first word of that command is not
//! known, or a command has a doubt.
//!
//! A text is [unreadable](UnreadableText) rather than read wrongly: every construct outside the grammar is refused
//! with its location. Texts for [`Sh`](ShellDialect::Sh) are accepted only if dash and bash read the same commands,
//! because `/bin/sh` is either of them.
//!
//! This crate must never run anything, open a file, or accept a text that it does not understand as a whole.
//!
//! ```
//! use ccm_shell::{ShellBudget, ShellContext, ShellDialect, UnreadableKind, read};
//!
//! let context = ShellContext { directory: "/srv".into(), variables: vec![("HOME".into(), "/root".into())] };
//! let read = |text| read(text, ShellDialect::Sh, &context, &mut ShellBudget::default());
//!
//! let reading = read("cd app && r''m -rf ~/$x")?;
//! let rm = &reading.commands[1];
//! assert_eq!(rm.words[0].text().as_deref(), Some("rm"));
//! assert_eq!(rm.words[2].text(), None);
//! assert_eq!(rm.words[2].known_prefix(), "/root/");
//! assert_eq!(rm.directories.only(), Some("/srv/app"));
//!
//! let error = read("ls &>/dev/null rm x").unwrap_err();
//! assert_eq!(error.kind, UnreadableKind::Ambiguous);
//! # Ok::<(), Box<ccm_shell::UnreadableText>>(())
//! ```

#![allow(clippy::unnecessary_box_returns, reason = "an error is boxed once, where it is made")]

mod arithmetic;
mod assignments;
mod bash_expansions;
mod braces;
mod builtins;
mod compound;
mod conditional;
mod constructs;
mod declarations;
mod dialect;
mod directories;
mod edits;
mod expand;
mod expansions;
mod follow;
mod grammar;
mod heredocs;
mod hidden;
mod lexer;
mod limits;
mod mutations;
mod numbers;
mod option_builtins;
mod parse;
mod programs;
mod quoting;
mod reading;
mod simple;
mod span;
mod state;
mod traps;
mod tree;
mod unreadable;
mod variable_builtins;

pub use dialect::ShellDialect;
pub use directories::join_path;
pub use follow::{ShellContext, read};
pub use hidden::check_characters;
pub use limits::{MAX_DEPTH, MAX_NODES, MAX_STEPS, MAX_TEXT, ShellBudget};
pub use parse::check;
pub use programs::{ShellProgram, UnknownProgram};
pub use reading::{
    CommandRole, DoubtKind, ShellAssignment, ShellCommand, ShellDirectories, ShellDoubt, ShellInput,
    ShellReading, ShellRedirection, ShellSearchPath, ShellWord, UnknownOrigin, WordPiece,
};
pub use span::ShellSpan;
pub use tree::RedirectionOperator;
pub use unreadable::{UnreadableKind, UnreadableText};
