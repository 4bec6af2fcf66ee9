//! Security key in software.

/// Path of a security key in software, which `ssh-keygen` and `ssh-agent` use as `SSH_SK_PROVIDER`. Debian has it in the
/// package `openssh-tests`.
pub const SOFTWARE_SECURITY_KEY: &str = "/usr/lib/openssh/regress/misc/sk-dummy/sk-dummy.so";
