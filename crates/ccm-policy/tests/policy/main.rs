//! Policies and the analysis of commands.
#![allow(clippy::expect_used, clippy::panic, reason = "a test ends with its first error")]

mod analysis;
mod documentation;
mod paths_of_rules;
mod policy_file;
mod program_names;
mod reaching_out;
mod resources_of_commands;
mod rules_on_commands;
mod secrets_of_directories;
mod texts;
mod unknown_effects;
mod vectors;
