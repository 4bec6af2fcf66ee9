//! The system calls that no safe crate offers: the one module that owns `unsafe`.
//!
//! It decides nothing. Each function is one call, or the few that belong together, behind safe types.
#![expect(unsafe_code, reason = "no safe crate offers these calls")]

use std::ffi::{CStr, CString, c_char, c_int};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd, RawFd};
use std::ptr;

use nix::sys::signal::Signal;
use rustix::process::Pid;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// What a new process is made of.
pub(crate) struct Start<'a> {
    /// The program's path.
    pub(crate) program: &'a CStr,
    /// All arguments, its own name first.
    pub(crate) arguments: &'a [CString],
    /// All of its environment, `NAME=VALUE`.
    pub(crate) environment: &'a [CString],
    /// Its working directory.
    pub(crate) cwd: &'a CStr,
    /// Standard input, output and error, and what else it gets, which are put into their places in this order;
    /// none may have the number of a place before its own.
    pub(crate) descriptors: &'a [BorrowedFd<'a>],
}

/// Starts a process in a session of its own, with every signal at its default and none blocked.
///
/// The error is that of whatever failed in the child: the working directory or the program.
pub(crate) fn posix_spawn(start: &Start<'_>) -> io::Result<Pid> {
    let attributes = Attributes::new()?;
    let actions = Actions::new(start)?;
    let arguments = pointers(start.arguments);
    let environment = pointers(start.environment);
    let mut pid = 0;
    // SAFETY: the program is a C string; both lists are arrays of pointers to C strings that live until the
    // end of this function, each with a null pointer at its end; actions and attributes are initialised.
    check(unsafe {
        libc::posix_spawn(
            &raw mut pid,
            start.program.as_ptr(),
            &raw const actions.0,
            &raw const attributes.0,
            arguments.as_ptr(),
            environment.as_ptr(),
        )
    })?;
    Pid::from_raw(pid).ok_or_else(|| io::Error::from_raw_os_error(libc::ESRCH))
}

/// Hides every descriptor from that number on from the programs that this process starts.
pub(crate) fn close_on_exec_from(first: RawFd) -> io::Result<()> {
    // SAFETY: the call takes three numbers; it closes nothing, it only sets a flag.
    let result =
        unsafe { libc::syscall(libc::SYS_close_range, first, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// The same for one descriptor; one that is not open is an error.
pub(crate) fn close_on_exec(descriptor: RawFd) -> io::Result<()> {
    // SAFETY: the call takes three numbers; it only sets a flag.
    let result = unsafe { libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Takes over a descriptor that was inherited, and keeps it from what this process becomes. Meant for the start of
/// a program; one that is not open is an error.
pub(crate) fn inherited(descriptor: RawFd) -> io::Result<OwnedFd> {
    close_on_exec(descriptor)?;
    // SAFETY: it is open, and nothing in this program has opened it, so nobody else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

/// Adds flags to a mount and to those below it: `libc::MOUNT_ATTR_RDONLY` and its like.
pub(crate) fn add_mount_flags(mount: BorrowedFd<'_>, flags: u64, recursive: bool) -> io::Result<()> {
    let attributes = libc::mount_attr { attr_set: flags, attr_clr: 0, propagation: 0, userns_fd: 0 };
    let scope = libc::AT_EMPTY_PATH | if recursive { libc::AT_RECURSIVE } else { 0 };
    // SAFETY: the path is a C string, and the attributes live through the call, which is told their size.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_raw_fd(),
            c"".as_ptr(),
            scope,
            &raw const attributes,
            size_of_val(&attributes),
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// The version of Landlock that the kernel offers; zero is none.
pub(crate) fn landlock_version() -> u32 {
    const VERSION: libc::c_uint = 1;
    // SAFETY: asked for the version, the call takes no rules and opens nothing.
    let version = unsafe {
        libc::syscall(libc::SYS_landlock_create_ruleset, ptr::null::<libc::c_void>(), 0_usize, VERSION)
    };
    u32::try_from(version).unwrap_or_default()
}

/// Tells whether this process ignores that signal.
pub(crate) fn is_ignored(signal: Signal) -> io::Result<bool> {
    let mut action = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: without a new action the call only writes the present one to where the pointer leads.
    let result = unsafe { libc::sigaction(signal as c_int, ptr::null(), action.as_mut_ptr()) };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call succeeded, so it wrote the action.
    Ok(unsafe { action.assume_init() }.sa_sigaction == libc::SIG_IGN)
}

/// Gives a signal its default effect on this process.
pub(crate) fn set_default(signal: Signal) -> io::Result<()> {
    // SAFETY: no handler is installed, so none can break a rule of handlers.
    let former = unsafe { libc::signal(signal as c_int, libc::SIG_DFL) };
    if former == libc::SIG_ERR { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Lets a signal have no effect on this process; programs it starts begin with the default again.
pub(crate) fn ignore(signal: Signal) -> io::Result<()> {
    // SAFETY: no handler is installed, so none can break a rule of handlers.
    let former = unsafe { libc::signal(signal as c_int, libc::SIG_IGN) };
    if former == libc::SIG_ERR { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Lets the runtime wait until a descriptor is readable.
pub(crate) fn watch(descriptor: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: an `OwnedFd` names one open descriptor for as long as it lives, and it is given away here.
    Ok(unsafe { AsyncFd::register_with_interest(descriptor, Interest::READABLE) }?)
}

struct Attributes(libc::posix_spawnattr_t);

impl Attributes {
    fn new() -> io::Result<Self> {
        let mut attributes = MaybeUninit::uninit();
        // SAFETY: the call initialises what the pointer leads to; only a success is taken as initialised.
        let mut attributes = unsafe {
            check(libc::posix_spawnattr_init(attributes.as_mut_ptr()))?;
            Self(attributes.assume_init())
        };
        // `sigfillset` leaves out the signals that the C library keeps for itself, which would then be
        // ignored in the child.
        // SAFETY: a signal set is an array of integers, for which every pattern of bits is a value.
        let (every, none) = unsafe {
            let mut every = MaybeUninit::<libc::sigset_t>::uninit();
            every.as_mut_ptr().write_bytes(0xff, 1);
            (every.assume_init(), MaybeUninit::<libc::sigset_t>::zeroed().assume_init())
        };
        let flags = libc::POSIX_SPAWN_SETSIGDEF | libc::POSIX_SPAWN_SETSIGMASK;
        let flags = libc::c_short::try_from(flags).unwrap_or_default() | libc::POSIX_SPAWN_SETSID;
        // SAFETY: the attributes are initialised, and the sets are read before the calls return.
        unsafe {
            check(libc::posix_spawnattr_setsigdefault(&raw mut attributes.0, &raw const every))?;
            check(libc::posix_spawnattr_setsigmask(&raw mut attributes.0, &raw const none))?;
            check(libc::posix_spawnattr_setflags(&raw mut attributes.0, flags))?;
        }
        Ok(attributes)
    }
}

impl Drop for Attributes {
    fn drop(&mut self) {
        // SAFETY: they were initialised and are not used again.
        unsafe { libc::posix_spawnattr_destroy(&raw mut self.0) };
    }
}

struct Actions(libc::posix_spawn_file_actions_t);

impl Actions {
    fn new(start: &Start<'_>) -> io::Result<Self> {
        let mut actions = MaybeUninit::uninit();
        // SAFETY: the call initialises what the pointer leads to; only a success is taken as initialised.
        let mut actions = unsafe {
            check(libc::posix_spawn_file_actions_init(actions.as_mut_ptr()))?;
            Self(actions.assume_init())
        };
        // SAFETY: the actions are initialised; the path is a C string and is copied.
        unsafe {
            for (descriptor, number) in start.descriptors.iter().zip(0..) {
                let action = &raw mut actions.0;
                check(libc::posix_spawn_file_actions_adddup2(action, descriptor.as_raw_fd(), number))?;
            }
            check(libc::posix_spawn_file_actions_addchdir_np(&raw mut actions.0, start.cwd.as_ptr()))?;
        }
        Ok(actions)
    }
}

impl Drop for Actions {
    fn drop(&mut self) {
        // SAFETY: they were initialised and are not used again.
        unsafe { libc::posix_spawn_file_actions_destroy(&raw mut self.0) };
    }
}

/// Pointers to strings, a null pointer last. The call wants them mutable but does not write through them.
fn pointers(strings: &[CString]) -> Vec<*mut c_char> {
    strings.iter().map(|string| string.as_ptr().cast_mut()).chain([ptr::null_mut()]).collect()
}

/// Turns the answer of the calls that return their error into a result.
fn check(code: c_int) -> io::Result<()> {
    if code == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(code)) }
}
