//! Commands in containers, through the Docker Engine API.
//!
//! [`DockerExecutor`] wraps the executor of this machine, and takes over every launch that asks for a container.
//! An Engine is Docker or Podman, on its Unix socket. Each container is created by name, so that it can be removed
//! even if the answer of the Engine is lost, and carries labels by which a later run finds what a killed run left.
//!
//! This crate must never start a program of this machine itself, a credential helper included, and must never leave a
//! container without its [labels](RunLabels).

mod activation;
mod answers;
mod connection;
mod engine;
mod engine_use;
mod error;
mod executor;
mod exit;
mod frames;
mod labels;
mod logins;
mod plan;
mod reference;
mod shared;
mod single;
mod specification;
mod streams;
mod sweep;
mod target;

pub use executor::DockerExecutor;
pub use labels::RunLabels;
