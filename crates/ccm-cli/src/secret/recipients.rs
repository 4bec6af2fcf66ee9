//! Recipients of a value: public keys by file, host and group, and their names.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ccm_push::{Host, HostName, Inventory, MAX_INVENTORY, Selection};
use ccm_runtime::Session;
use ccm_runtime::encryption::{
    KnownHosts, Recipient, RecipientError, RecipientTag, default_known_hosts, own_public_key,
};

use crate::arguments::KeyArguments;
use crate::error::{CommandError, CommandResult};
use crate::inventory::{INVENTORY, inventory_error, selection_error};

/// Maximum length of a file of keys, in bytes.
const MAX_KEYS: u64 = 16 << 20;
/// Kind of the only keys that values are encrypted to.
const ED25519: &str = "ssh-ed25519 ";

/// Keys that are known on this machine.
pub(super) struct Keys<'s> {
    session: &'s Session,
    inventory: Option<Inventory>,
    known: KnownHosts,
    known_files: Vec<PathBuf>,
    names: BTreeMap<RecipientTag, (String, Recipient)>,
}

impl<'s> Keys<'s> {
    /// Reads the inventory and the known hosts.
    pub(super) fn read(session: &'s Session, arguments: &KeyArguments) -> CommandResult<Self> {
        let path = arguments.inventory.as_deref();
        let path = path.or_else(|| Some(Path::new(INVENTORY)).filter(|path| session.is_file(path)));
        let inventory = match path {
            Some(path) => {
                let (_, text) = session
                    .read_text(Some(path), MAX_INVENTORY as u64, "inventory")
                    .map_err(|error| CommandError::of(&error))?;
                Some(Inventory::read(&text).map_err(|error| inventory_error(path, &error))?)
            }
            None => None,
        };
        let is_default = arguments.known_hosts.is_empty();
        let known_files = if is_default { default_known_hosts() } else { arguments.known_hosts.clone() };
        let mut known = KnownHosts::default();
        for path in known_files.iter().filter(|path| !is_default || session.is_file(path)) {
            known.add(KnownHosts::read(&text_of(session, path)?));
        }
        let mut keys = Self { session, inventory, known, known_files, names: BTreeMap::new() };
        keys.name_all();
        for path in &arguments.key_files {
            keys.add_file(path)?;
        }
        Ok(keys)
    }

    /// Gives names to the keys of the known hosts, of the inventory and of this machine.
    fn name_all(&mut self) {
        let named = self.known.named().map(|(name, key)| (name.to_owned(), key.clone()));
        let named: Vec<_> = named.collect();
        let hosts = self.inventory.iter().flat_map(Inventory::hosts);
        let hosts: Vec<(String, Recipient)> = hosts
            .flat_map(|(name, host)| {
                let name = name.to_string();
                self.known.of_host(&known_name(&name, host)).into_iter().map(move |key| (name.clone(), key))
            })
            .collect();
        let own = own_public_key();
        let own = Some(own).filter(|path| self.session.is_file(path));
        let own = own.and_then(|path| Recipient::parse(&text_of(self.session, &path).ok()?).ok());
        // Later names win: those of the inventory are what people use.
        for (name, key) in
            named.into_iter().chain(own.map(|key| ("this machine".to_owned(), key))).chain(hosts)
        {
            self.names.insert(key.tag(), (name, key));
        }
    }

    /// Adds the keys of a file, which are named by their comments.
    pub(super) fn add_file(&mut self, path: &Path) -> CommandResult<Vec<Recipient>> {
        let text = text_of(self.session, path)?;
        let mut found = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let key = Recipient::parse(line)
                .map_err(|error| no_recipient(&format!("{}:{}", path.display(), index + 1), &error))?;
            let comment = line.splitn(3, ' ').nth(2).map(str::trim).filter(|comment| !comment.is_empty());
            let name = comment.map_or_else(|| path.display().to_string(), str::to_owned);
            self.names.insert(key.tag(), (name, key.clone()));
            found.push(key);
        }
        if found.is_empty() {
            return Err(CommandError::new(format!("{} has no key", path.display())));
        }
        Ok(found)
    }

    /// Returns the keys that the command line names.
    pub(super) fn named(&mut self, written: &[String]) -> CommandResult<Vec<Recipient>> {
        let mut all: Vec<Recipient> = Vec::new();
        for one in written {
            let path = Path::new(one);
            let found = if one.starts_with(ED25519) {
                vec![Recipient::parse(one).map_err(|error| no_recipient(one, &error))?]
            } else if one.contains('/') || path.extension().is_some_and(|ending| ending == "pub") {
                if !self.session.is_file(path) {
                    return Err(CommandError::new(format!("there is no file {one} with a public key")));
                }
                self.add_file(path)?
            } else {
                // A file of a host's private key often has the name of the host.
                match self.of_hosts(one) {
                    Err(_) if self.session.is_file(path) => self.add_file(path)?,
                    of_hosts => of_hosts?,
                }
            };
            for key in found {
                if !all.contains(&key) {
                    all.push(key);
                }
            }
        }
        Ok(all)
    }

    /// Returns the keys of hosts, by name, glob or group.
    fn of_hosts(&self, written: &str) -> CommandResult<Vec<Recipient>> {
        let chosen = Selection::choose(written, self.inventory.as_ref());
        let chosen = chosen.map_err(|error| selection_error(&error))?;
        let mut all = Vec::new();
        for (name, host) in &chosen.hosts {
            let known = known_name(&name.to_string(), host);
            let keys = self.known.of_host(&known);
            if keys.is_empty() {
                let files: Vec<String> =
                    self.known_files.iter().map(|path| path.display().to_string()).collect();
                let message = format!("no Ed25519 key of {known} is known in {}", files.join(" or "));
                return Err(CommandError::new(message).hint(format!(
                    "compare the key on the host itself, and log in once: `ssh {name}`; or give the host's \
                     /etc/ssh/ssh_host_ed25519_key.pub as a file"
                )));
            }
            all.extend(keys);
        }
        Ok(all)
    }

    /// Returns the name and the key of a recipient.
    pub(super) fn by_tag(&self, tag: RecipientTag) -> Option<(&str, &Recipient)> {
        self.names.get(&tag).map(|(name, key)| (&**name, key))
    }
}

/// Name under which `ssh` keeps the key of a host.
fn known_name(name: &str, host: &Host) -> String {
    let address = host.address.as_ref().map_or_else(|| name.to_owned(), HostName::to_string);
    match host.port {
        Some(port) if port.get() != 22 => format!("[{address}]:{port}"),
        _ => address,
    }
}

fn text_of(session: &Session, path: &Path) -> CommandResult<String> {
    let text = session.read_text(Some(path), MAX_KEYS, "file of keys");
    text.map(|(_, text)| text).map_err(|error| CommandError::of(&error))
}

fn no_recipient(what: &str, error: &RecipientError) -> CommandError {
    let refused = CommandError::new(format!("{what} is no key to encrypt to: {error}"));
    match error {
        RecipientError::Algorithm(_) => {
            refused.hint("use the Ed25519 key of the host: /etc/ssh/ssh_host_ed25519_key.pub")
        }
        _ => refused.hint("a key is a line such as `ssh-ed25519 AAAA… web1`"),
    }
}
