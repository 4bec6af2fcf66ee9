//! Helpers of types and parts: programs, files of the system, plans, values.

#[cfg(test)]
pub(crate) mod decision_table;
pub(crate) mod export;
pub(crate) mod file_failure;
pub(crate) mod left_running;
pub(crate) mod mark;
pub(crate) mod needs;
pub(crate) mod no_properties;
pub(crate) mod object_plan;
pub(crate) mod output_tail;
pub(crate) mod plain_transport;
pub(crate) mod program;
pub(crate) mod secret_content;
pub(crate) mod values;
pub(crate) mod web_pages;
