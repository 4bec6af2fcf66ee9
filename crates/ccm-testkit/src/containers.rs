//! Engines that start containers: fake ones, and real ones of the test's own.

mod dockerd;
mod fake_engine;
mod http;
mod image;
mod podman;
mod registry;
mod service;

pub use dockerd::Dockerd;
pub use fake_engine::{FakeAnswer, FakeCommand, FakeEngine};
pub use image::{IMAGE, TarFile, busybox_image, tar};
pub use podman::PodmanService;
pub use registry::Registry;
