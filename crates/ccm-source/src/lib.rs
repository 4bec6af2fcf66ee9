//! Sources of manifests: releases, and what a machine has accepted of them.
//!
//! [`bundle::build`] packs a directory for a release.
//!
//! This crate must never run anything of what a source brings, or trust what nobody has signed.

pub mod bundle;
mod ignored;
mod tar;

pub use ignored::IgnoreError;
