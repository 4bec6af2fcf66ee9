//! Users and groups, looked up once until something is executed.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::rc::Rc;

use ccm_engine::Context;
use ccm_host::{FileError, Host};

/// Users and groups of this machine. A lookup parses `/etc/passwd` or queries a server, which costs more than
/// comparing a file, so results stay in the engine's cache until a command is executed: it may change users.
pub(crate) struct Accounts<'a> {
    host: Host<'a>,
    cache: Rc<AccountCache>,
}

#[derive(Default)]
struct AccountCache {
    users: Lookups,
    groups: Lookups,
    /// Numbers of the user and group who run ccm; `None` if they can't be read.
    own: OnceCell<Option<(u32, u32)>>,
}

#[derive(Default)]
struct Lookups {
    /// Number by name; `None` if the name does not exist.
    numbers: RefCell<BTreeMap<String, Option<u32>>>,
    /// Name by number; the digits if the number has no name.
    names: RefCell<BTreeMap<u32, Rc<str>>>,
}

impl<'a> Accounts<'a> {
    pub(crate) async fn of(context: &Context<'a>) -> Self {
        let cache = context.state_cache(async || Ok::<_, Infallible>(AccountCache::default())).await;
        Self { host: context.host, cache: cache.unwrap_or_else(|never| match never {}) }
    }

    /// Returns the number of a user given by name or in digits.
    pub(crate) fn user(&self, name: &str) -> Result<Option<u32>, FileError> {
        self.cache.users.number(name, |name| self.host.files.user(name))
    }

    /// Returns the number of a group given by name or in digits.
    pub(crate) fn group(&self, name: &str) -> Result<Option<u32>, FileError> {
        self.cache.groups.number(name, |name| self.host.files.group(name))
    }

    /// Returns the numbers of the user and group who run ccm.
    pub(crate) fn own(&self) -> Option<(u32, u32)> {
        let read = || self.host.system.own_identity().ok().map(|own| (own.uid, own.gid));
        *self.cache.own.get_or_init(read)
    }

    pub(crate) fn user_name(&self, uid: u32) -> Rc<str> {
        self.cache.users.name(uid, |uid| self.host.files.user_name(uid))
    }

    /// Returns the name of a group, or the digits.
    pub(crate) fn group_name(&self, gid: u32) -> Rc<str> {
        self.cache.groups.name(gid, |gid| self.host.files.group_name(gid))
    }
}

impl Lookups {
    fn number(
        &self,
        name: &str,
        look_up: impl FnOnce(&str) -> Result<Option<u32>, FileError>,
    ) -> Result<Option<u32>, FileError> {
        if let Some(number) = self.numbers.borrow().get(name) {
            return Ok(*number);
        }
        let number = look_up(name)?;
        self.numbers.borrow_mut().insert(name.to_owned(), number);
        Ok(number)
    }

    /// Falls back to the digits if the lookup fails: the name is only displayed.
    fn name(&self, number: u32, look_up: impl FnOnce(u32) -> Result<Option<String>, FileError>) -> Rc<str> {
        if let Some(name) = self.names.borrow().get(&number) {
            return Rc::clone(name);
        }
        let Ok(name) = look_up(number) else { return number.to_string().into() };
        let name: Rc<str> = name.unwrap_or_else(|| number.to_string()).into();
        self.names.borrow_mut().insert(number, Rc::clone(&name));
        name
    }
}
