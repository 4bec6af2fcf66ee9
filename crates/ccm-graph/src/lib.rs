//! Graph of a catalog: its order, its cycles, its groups, and pictures of it.
//!
//! petgraph, which no signature shows, stores the edges and finds strongly connected components. The order of
//! a run is computed here, because a library's topological sort does not keep manifest order among resources
//! that are free to run.
//!
//! A [`Graph`] is built from a catalog, and returns the order and each [`Cycle`]. [`render()`] writes it for other programs,
//! and [`layout()`] places the boxes of a picture.
//!
//! This crate must never look at the properties of a resource, or let the order depend on anything but the catalog.

mod cycles;
mod graph;
mod layout;
mod order;
mod render;

pub use cycles::Cycle;
pub use graph::{Edge, EdgeKind, Graph};
pub use layout::{GraphLayout, MAX_DRAWN, TooManyResources, layout};
pub use render::{RenderFormat, render};
