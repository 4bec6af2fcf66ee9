//! Order and cycles of a catalog.
//!
//! petgraph stores the edges, finds strongly connected components and follows them; it shows in no
//! signature. The order of a run is ours, because a library's topological sort does not keep the order of
//! the manifest among resources that are free to run.

mod cycles;
mod graph;
mod order;
mod render;

pub use cycles::Cycle;
pub use graph::{Edge, EdgeKind, Graph};
pub use render::{Format, render};
