//! One set of features for the libraries of ccm, whatever part of ccm is built. There is no code here.
//!
//! `Cargo.toml` lists the features. This crate must never get code or a dependency on another crate of ccm.
