//! Dates and durations, and the methods that the language gives them.

pub(crate) mod duration;
pub(crate) mod layout;
mod methods;
mod moment;

pub use moment::{CalendarPart, Moment};

pub(crate) use methods::{method, method_of, methods};
pub(crate) use moment::zone;
