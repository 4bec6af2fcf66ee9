//! Secrets, as far as every room knows of them.

/// Length in bytes below which a sensitive value is not looked for in texts, because it is part of too many.
pub const SHORTEST_SECRET: usize = 4;
