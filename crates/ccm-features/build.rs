//! Makes the dependencies of macros count.

fn main() {}
