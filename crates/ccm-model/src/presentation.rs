//! Forms of properties in events.

/// Form of a property in a written event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Presentation {
    /// The value as it was written.
    #[default]
    AsWritten,
    /// Size and checksum.
    Digest,
    /// Names of variables, each with size and checksum of its value.
    Variables,
}
