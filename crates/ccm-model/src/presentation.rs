//! Forms of properties in events.

/// Form of a property in what is written of an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Presentation {
    /// As it was written.
    #[default]
    AsWritten,
    /// Size and checksum.
    Digest,
    /// Names of variables, each with size and checksum of its value.
    Variables,
}
