//! Questions to the machine on which a command would run.

/// Answers about the machine on which a command would run.
pub trait Lookup {
    /// Finds a program: a name on a search path such as `/usr/bin:/bin`, or a path with a slash. Relative parts are
    /// taken from `directory`.
    fn find_program(&self, name: &str, search_path: &str, directory: &str) -> Option<ProgramLocation>;

    /// Returns the kind of an absolute path. Links are followed.
    fn path_kind(&self, path: &str) -> LookupPathKind;

    /// Reads the last part of an absolute path as a symbolic link. The parts above are no links.
    fn read_link(&self, path: &str) -> LinkReading;
}

/// Result of reading a path as a symbolic link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkReading {
    /// Nothing is there, or it is no link.
    NoLink,
    /// A link with this text.
    Link(String),
    /// Not known, as below a directory that can't be searched.
    Unknown,
}

/// Location of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramLocation {
    /// Absolute path at which the program was found.
    pub path: String,
    /// The path with all links resolved.
    pub canonical: String,
    /// The file and every directory above it belong to root, and nobody else may write them.
    pub is_trusted: bool,
}

/// Kind of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LookupPathKind {
    /// Nothing is there, or it can't be seen.
    Missing,
    /// A file.
    File,
    /// A directory.
    Directory,
    /// A block or character device.
    Device,
    /// A socket, a pipe or something else.
    Other,
}
