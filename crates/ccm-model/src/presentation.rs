//! Forms of properties in events.

/// Form of a property in a written event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Presentation {
    /// The value as it was written.
    #[default]
    AsWritten,
    /// Size and checksum.
    Digest,
    /// Size alone: a short value can be found by its checksum.
    Size,
    /// Names of variables, each with the size of its value.
    Variables,
}
