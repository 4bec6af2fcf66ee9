//! Effects of commands, guard classes, the policy file and verdicts. Nothing is run, and no file is opened: the machine
//! is asked through a [`Lookup`].
//!
//! [`analyse`] reads a [`Request`]: a shell text, or the words of one command. Each simple command of the [`Analysis`]
//! has its decoded words, its [`Effect`]s, and a [`Finding`] for each [`GuardClass`] that the command belongs to.

mod analyse;
mod analysis;
mod effect;
mod guard_class;
mod lookup;
mod request;
mod tables;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod verdict;

pub use analyse::analyse;
pub use analysis::{
    AnalysedCommand, AnalysedOption, AnalysedWord, Analysis, AnalysisLimits, Finding, ProgramReference,
    Unreadable, WayOut,
};
pub use effect::{CodeSource, Effect, EffectKind};
pub use guard_class::GuardClass;
pub use lookup::{Lookup, PathKind, ProgramLocation};
pub use request::{Request, RequestCommand, RequestInput, Workspace};
pub use verdict::{Caller, Verdict};
