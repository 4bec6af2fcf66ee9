//! System calls that no safe crate offers: the one module with `unsafe`. Each function wraps one call, or a
//! few that belong together, in safe types, and makes no decisions.
#![expect(unsafe_code, reason = "no safe crate offers these calls")]

mod names;

use std::ffi::{CStr, CString, c_char, c_int};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, IntoRawFd as _, OwnedFd, RawFd};
use std::ptr;

use nix::sys::signal::Signal;
use rustix::process::Pid;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

pub(crate) use names::{addresses_of, lookup_error};

/// Process to start.
pub(crate) struct Start<'a> {
    pub(crate) program: &'a CStr,
    /// All arguments, the name of the program first.
    pub(crate) arguments: &'a [CString],
    /// All variables of the environment, as `NAME=VALUE`.
    pub(crate) environment: &'a [CString],
    /// Working directory, and the function that sets it; `None` keeps that of this process.
    pub(crate) cwd: Option<(ChangeDirectory, &'a CStr)>,
    /// Starts the process in a session of its own. Where the C library can set no working directory, it may not
    /// know sessions either.
    pub(crate) has_session: bool,
    /// Descriptors for the numbers 0, 1, 2 and so on, duplicated in this order: none may be lower than its
    /// position.
    pub(crate) descriptors: &'a [BorrowedFd<'a>],
}

/// Function of the C library that sets the working directory of a new process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChangeDirectory(AddChdir);

type AddChdir = unsafe extern "C" fn(*mut libc::posix_spawn_file_actions_t, *const c_char) -> c_int;

impl ChangeDirectory {
    /// Finds the function. glibc has it since 2.29, and programs that are linked with an older one find it when
    /// they run.
    pub(crate) fn find() -> Option<Self> {
        #[cfg(all(target_env = "gnu", not(target_feature = "crt-static")))]
        {
            // SAFETY: the name is a C string.
            let address =
                unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"posix_spawn_file_actions_addchdir_np".as_ptr()) };
            // SAFETY: every C library that has a function of this name documents it with this signature; a null
            // pointer is `None`.
            unsafe { std::mem::transmute::<*mut libc::c_void, Option<AddChdir>>(address) }.map(Self)
        }
        #[cfg(not(all(target_env = "gnu", not(target_feature = "crt-static"))))]
        Some(Self(libc::posix_spawn_file_actions_addchdir_np))
    }
}

/// Starts a process with every signal at its default and none blocked. Returns the error of the child at its
/// working directory or program.
pub(crate) fn posix_spawn(start: &Start<'_>) -> io::Result<Pid> {
    let attributes = SpawnAttributes::new(start.has_session)?;
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

/// Starts a copy of this process, which must have no other thread. Returns `None` in the copy.
pub(crate) fn fork() -> io::Result<Option<Pid>> {
    // SAFETY: without other threads, nothing in the copy is locked or half changed.
    match unsafe { libc::fork() } {
        ..0 => Err(io::Error::last_os_error()),
        pid => Ok(Pid::from_raw(pid)),
    }
}

/// Starts a copy of this process, which must have no other thread, as a child of its parent. Returns `None` in the
/// copy.
///
/// The C library does not notice. One before 2.25 returns the number of the original as that of the copy.
pub(crate) fn fork_sibling() -> io::Result<Option<Pid>> {
    const NONE: libc::c_long = 0;
    let flags = libc::c_long::from(libc::CLONE_PARENT | libc::SIGCHLD);
    // SAFETY: without shared memory, the copy has its own copy of this stack; without other threads, nothing in it is
    // locked or half changed.
    match unsafe { libc::syscall(libc::SYS_clone, flags, NONE, NONE, NONE, NONE) } {
        ..0 => Err(io::Error::last_os_error()),
        pid => Ok(i32::try_from(pid).ok().and_then(Pid::from_raw)),
    }
}

/// Gives descriptors the numbers 0, 1, 2 and so on, for programs too, in the place of the files of these numbers. Each
/// descriptor has to be higher than its position.
pub(crate) fn place(descriptors: Vec<OwnedFd>) -> io::Result<()> {
    for (descriptor, number) in descriptors.into_iter().zip(0..) {
        // The numbers of later positions are overwritten, so that nothing may close them.
        let descriptor = descriptor.into_raw_fd();
        if descriptor <= number {
            return Err(io::Error::from_raw_os_error(libc::EBADF));
        }
        // SAFETY: the descriptor is open, and what had the number is given up.
        check_last(unsafe { libc::dup2(descriptor, number) })?;
    }
    Ok(())
}

/// Lets all threads of this process allocate from the memory of the main thread. That of other threads grows by
/// a system call for every 128 KiB, and one thread does nearly all the work.
pub(crate) fn share_memory_of_main_thread() {
    #[cfg(target_env = "gnu")]
    // SAFETY: the call takes two numbers and changes a setting of the allocator.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}

/// Sets close-on-exec on every descriptor from a number on.
pub(crate) fn close_on_exec_from(first: RawFd) -> io::Result<()> {
    // SAFETY: the call takes three numbers; it closes nothing, it only sets a flag.
    let result =
        unsafe { libc::syscall(libc::SYS_close_range, first, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Sets close-on-exec on one descriptor, which must be open.
pub(crate) fn close_on_exec(descriptor: RawFd) -> io::Result<()> {
    // SAFETY: the call takes three numbers; it only sets a flag.
    let result = unsafe { libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Takes ownership of an inherited, open descriptor, at the start of a program, and sets close-on-exec on it.
pub(crate) fn inherited(descriptor: RawFd) -> io::Result<OwnedFd> {
    close_on_exec(descriptor)?;
    // SAFETY: it is open, and nothing in this program has opened it, so nobody else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

/// Gives this process a new, empty session keyring.
pub(crate) fn join_new_session_keyring() -> io::Result<()> {
    // SAFETY: without a name, the call takes no memory.
    let result =
        unsafe { libc::syscall(libc::SYS_keyctl, libc::KEYCTL_JOIN_SESSION_KEYRING, ptr::null::<c_char>()) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Lets the disk begin to write the content of a file, and waits for nothing.
pub(crate) fn begin_writeback(file: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: the call takes no pointers.
    check_last(unsafe { libc::sync_file_range(file.as_raw_fd(), 0, 0, libc::SYNC_FILE_RANGE_WRITE) })
}

/// Adds flags such as `libc::MOUNT_ATTR_RDONLY` to a mount.
pub(crate) fn add_mount_flags(mount: BorrowedFd<'_>, flags: u64) -> io::Result<()> {
    set_mount_attributes(mount, flags, 0, 0)
}

/// Adds flags to a mount and to those below it, and separates them from mounts that are shared with them.
pub(crate) fn make_private_mount(mount: BorrowedFd<'_>, flags: u64) -> io::Result<()> {
    set_mount_attributes(mount, flags, libc::MS_PRIVATE, libc::AT_RECURSIVE)
}

fn set_mount_attributes(
    mount: BorrowedFd<'_>,
    flags: u64,
    propagation: libc::c_ulong,
    scope: c_int,
) -> io::Result<()> {
    let attributes = libc::mount_attr { attr_set: flags, attr_clr: 0, propagation, userns_fd: 0 };
    let scope = libc::AT_EMPTY_PATH | scope;
    // SAFETY: the path is a C string, and the attributes live through the call, which gets their size.
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

/// Returns the version of Landlock that the kernel offers, or 0.
pub(crate) fn landlock_version() -> u32 {
    const VERSION: libc::c_uint = 1;
    // SAFETY: with this flag, the call takes no rules and opens nothing.
    let version = unsafe {
        libc::syscall(libc::SYS_landlock_create_ruleset, ptr::null::<libc::c_void>(), 0_usize, VERSION)
    };
    u32::try_from(version).unwrap_or_default()
}

/// Lets a program decide about every system call of this process from now on, and of all processes that it starts. New
/// privileges have to be forbidden before.
pub(crate) fn filter_system_calls(program: &[libc::sock_filter]) -> io::Result<()> {
    const NO_FLAGS: libc::c_uint = 0;
    let len = u16::try_from(program.len()).map_err(|_| io::Error::from_raw_os_error(libc::E2BIG))?;
    let program = libc::sock_fprog { len, filter: program.as_ptr().cast_mut() };
    // SAFETY: the kernel copies the instructions, which live through the call, and checks them.
    let result = unsafe {
        libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, NO_FLAGS, &raw const program)
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Returns `true` if this process ignores a signal.
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

/// Restores the default effect of a signal on this process.
pub(crate) fn set_default(signal: Signal) -> io::Result<()> {
    // SAFETY: no handler is installed, so none can break a rule of handlers.
    let former = unsafe { libc::signal(signal as c_int, libc::SIG_DFL) };
    if former == libc::SIG_ERR { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Ignores a signal in this process. Programs that this process starts have the default effect again.
pub(crate) fn ignore(signal: Signal) -> io::Result<()> {
    // SAFETY: no handler is installed, so none can break a rule of handlers.
    let former = unsafe { libc::signal(signal as c_int, libc::SIG_IGN) };
    if former == libc::SIG_ERR { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Registers a descriptor with the runtime, to wait until it is readable.
pub(crate) fn watch(descriptor: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: an `OwnedFd` names one open descriptor for as long as it lives, and it is given away here.
    Ok(unsafe { AsyncFd::register_with_interest(descriptor, Interest::READABLE) }?)
}

struct SpawnAttributes(libc::posix_spawnattr_t);

impl SpawnAttributes {
    fn new(has_session: bool) -> io::Result<Self> {
        let mut attributes = MaybeUninit::uninit();
        // SAFETY: the call initialises the value behind the pointer, which is used only after a success.
        let mut attributes = unsafe {
            check(libc::posix_spawnattr_init(attributes.as_mut_ptr()))?;
            Self(attributes.assume_init())
        };
        // `sigfillset` leaves out the signals that the C library keeps for itself, which would then be
        // ignored in the child. A library that knows no sessions takes only signals that can be changed.
        // SAFETY: a signal set is an array of integers, for which every pattern of bits is a value; the calls
        // only change the set.
        let (every, none) = unsafe {
            let mut every = MaybeUninit::<libc::sigset_t>::zeroed();
            if has_session {
                every.as_mut_ptr().write_bytes(0xff, 1);
            } else {
                let can_change = |signal: &c_int| ![libc::SIGKILL, libc::SIGSTOP].contains(signal);
                for signal in (1..=libc::SIGSYS).chain(libc::SIGRTMIN()..=libc::SIGRTMAX()).filter(can_change)
                {
                    libc::sigaddset(every.as_mut_ptr(), signal);
                }
            }
            (every.assume_init(), MaybeUninit::<libc::sigset_t>::zeroed().assume_init())
        };
        let flags = libc::POSIX_SPAWN_SETSIGDEF | libc::POSIX_SPAWN_SETSIGMASK;
        let flags = libc::c_short::try_from(flags).unwrap_or_default();
        let flags = if has_session { flags | libc::POSIX_SPAWN_SETSID } else { flags };
        // SAFETY: the attributes are initialised, and the sets are read before the calls return.
        unsafe {
            check(libc::posix_spawnattr_setsigdefault(&raw mut attributes.0, &raw const every))?;
            check(libc::posix_spawnattr_setsigmask(&raw mut attributes.0, &raw const none))?;
            check(libc::posix_spawnattr_setflags(&raw mut attributes.0, flags))?;
        }
        Ok(attributes)
    }
}

impl Drop for SpawnAttributes {
    fn drop(&mut self) {
        // SAFETY: they were initialised and are not used again.
        unsafe { libc::posix_spawnattr_destroy(&raw mut self.0) };
    }
}

struct Actions(libc::posix_spawn_file_actions_t);

impl Actions {
    fn new(start: &Start<'_>) -> io::Result<Self> {
        let mut actions = MaybeUninit::uninit();
        // SAFETY: the call initialises the value behind the pointer, which is used only after a success.
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
            if let Some((ChangeDirectory(add), cwd)) = start.cwd {
                check(add(&raw mut actions.0, cwd.as_ptr()))?;
            }
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

/// Converts the return value of calls that leave their error behind.
fn check_last(result: c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Converts the return value of calls that return their error.
fn check(code: c_int) -> io::Result<()> {
    if code == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(code)) }
}
