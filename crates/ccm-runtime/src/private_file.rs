//! Files that may hold what only their owner may see.

use std::io::{self, Write as _};
use std::path::Path;

use ccm_host::state::AppendFile;

/// Writes a file for its owner alone. An existing file is overwritten if it belongs to root or to this user, and if nobody
/// else may read or write it; a link is an error. A pipe or a device is written as it is.
pub fn write_private(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = AppendFile::open(path)?;
    if file.is_regular()? {
        file.cut(0)?;
    }
    file.write_all(content)
}
