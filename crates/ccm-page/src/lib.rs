//! Pages about runs for a browser, and pictures of graphs.
//!
//! A page is one file without scripts that needs nothing else. [`run_page`] shows a run, [`machine_page`] the past of a
//! machine, [`hosts_page`] a push to many machines, and [`picture`] draws the graph of a manifest as SVG.
//!
//! Every text goes through the escapes of one module, `door`, which templates can't turn off. This crate must never read
//! or write a file, and relies on records that hold no secret.

mod card;
mod door;
mod hosts;
mod machine;
mod outcome;
mod picture;
mod run;
mod text;

pub use door::PageError;
pub use hosts::{HostOutcome, HostSetView, HostView, HostsView, hosts_page};
pub use machine::machine_page;
pub use picture::{PictureNode, picture};
pub use run::run_page;
