//! Arguments of `ccm secret`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{IdentityArguments, OutputArguments};

const ENCRYPT_EXAMPLES: &str = "\
Examples:
  ccm secret encrypt --to web1.pub --to web2.pub --as db_password
  ccm secret encrypt --to @web --to alice.pub db.pass --out db.pass.age
  pwgen 32 1 | ccm secret encrypt --to @web

Documentation: /usr/share/doc/ccm/use/secrets-in-git.md, or docs/use/secrets-in-git.md";

const REKEY_EXAMPLES: &str = "\
Examples:
  ccm secret rekey --add web3 site/data/*.yaml     web3 can open them as well
  ccm secret rekey --remove old.pub db.pass.age    old.pub can't open what is written now
  ccm secret rekey --to @web db.pass.age           these hosts and nobody else

Whoever could open a value before can still open it in the history of a repository: change the value, too.
Documentation: /usr/share/doc/ccm/use/secrets-in-git.md, or docs/use/secrets-in-git.md";

#[derive(Debug, Subcommand)]
pub(crate) enum SecretCommand {
    /// Encrypt a value to the host keys of machines
    Encrypt(SecretEncryptArguments),
    /// Edit an encrypted file; its text is never on a disk
    Edit(SecretEditArguments),
    /// Change who can open encrypted files and values
    Rekey(SecretRekeyArguments),
    /// Show who can open encrypted files and values
    Who(SecretWhoArguments),
}

// Where keys of hosts come from.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct KeyArguments {
    /// File with the hosts and their groups [default: hosts.yaml, if it exists]
    #[arg(short, long, value_name = "FILE")]
    pub inventory: Option<PathBuf>,

    /// File with the keys of hosts, which somebody has verified; repeatable [default: those that `ssh` reads]
    #[arg(long, value_name = "FILE")]
    pub known_hosts: Vec<PathBuf>,

    /// File of public keys, whose owners are named by their comments; repeatable
    #[arg(long = "key", value_name = "FILE")]
    pub key_files: Vec<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = ENCRYPT_EXAMPLES)]
pub(crate) struct SecretEncryptArguments {
    /// File to encrypt; without it the value is asked for, or read from standard input
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,

    /// Recipient: a file of public keys, a public key, a host, or a @group of the inventory; repeatable
    #[arg(long, value_name = "RECIPIENT", required = true)]
    pub to: Vec<String>,

    /// Print it as a value of data with this key, ready for a manifest or a data file
    #[arg(long = "as", value_name = "KEY", value_parser = key, conflicts_with = "out")]
    pub key: Option<String>,

    /// File to write, such as db.pass.age
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,

    #[command(flatten)]
    pub keys: KeyArguments,
}

/// Reads a key of data, which needs no quotes in YAML.
fn key(text: &str) -> Result<String, String> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    let begins_well = text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    if begins_well && text.bytes().all(is_plain) {
        Ok(text.to_owned())
    } else {
        Err("a key has letters, digits, `_` and `-`, and begins with a letter".to_owned())
    }
}

#[derive(Debug, Args)]
pub(crate) struct SecretEditArguments {
    /// Encrypted file, or a YAML file with encrypted values
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// First line of the value in FILE, if it has several
    #[arg(long, value_name = "N")]
    pub line: Option<usize>,

    /// Encrypt it to these, in place of those who can open it now; repeatable
    #[arg(long, value_name = "RECIPIENT")]
    pub to: Vec<String>,

    #[command(flatten)]
    pub keys: KeyArguments,

    #[command(flatten)]
    pub identity: IdentityArguments,
}

#[derive(Debug, Args)]
#[command(after_help = REKEY_EXAMPLES)]
pub(crate) struct SecretRekeyArguments {
    /// Encrypted files, and YAML files with encrypted values
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,

    /// Recipient that can open them from now on, in place of all others; repeatable
    #[arg(long, value_name = "RECIPIENT", required_unless_present_any = ["add", "remove"], conflicts_with_all = ["add", "remove"])]
    pub to: Vec<String>,

    /// Recipient that can open them as well; repeatable
    #[arg(long, value_name = "RECIPIENT")]
    pub add: Vec<String>,

    /// Recipient that can't open them any more; repeatable
    #[arg(long, value_name = "RECIPIENT")]
    pub remove: Vec<String>,

    #[command(flatten)]
    pub keys: KeyArguments,

    #[command(flatten)]
    pub identity: IdentityArguments,
}

#[derive(Debug, Args)]
pub(crate) struct SecretWhoArguments {
    /// Encrypted files, and YAML files with encrypted values
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,

    #[command(flatten)]
    pub keys: KeyArguments,

    #[command(flatten)]
    pub output: OutputArguments,
}
