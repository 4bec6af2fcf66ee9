//! Fakes of the doors to the machine.

mod clock;
mod files;
mod machine;
mod runner;

pub use clock::FakeClock;
pub use files::{FakeFile, FakeFiles};
pub use machine::FakeMachine;
pub use runner::FakeRunner;
