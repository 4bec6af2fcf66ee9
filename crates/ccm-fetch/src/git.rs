//! What every user of git has in common: its calls, its errors, addresses of repositories, names of references.

mod call;
mod error_lines;
mod known_errors;
mod references;
mod url;

pub use call::{git_arguments, git_environment};
pub use error_lines::{git_error, git_following_error, is_git_detail};
pub use known_errors::git_advice;
pub use references::{git_reference_error, is_git_commit, short_commit};
pub use url::{GIT_SCHEMES, GitUrlError, check_git_url};
