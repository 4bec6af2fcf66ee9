//! Lines, blocks and settings in real files.

mod applying;
mod errors;
mod links;
mod machine;
mod oracles;
mod sensitive;
mod validating;
