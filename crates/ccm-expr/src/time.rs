//! Dates and durations with their methods.

mod date_time;
pub(crate) mod duration;
pub(crate) mod layout;
mod methods;

pub use date_time::{CalendarPart, DateTime};

pub(crate) use date_time::zone;
pub(crate) use methods::{method, method_of, methods, unknown_method};
