//! Bare programs that do the work of ccm with system calls alone.
#![expect(unsafe_code, reason = "a bare posix_spawn has no safe wrapper")]

use std::ffi::c_short;
use std::fs::File;
use std::io::{PipeReader, PipeWriter, Read as _, Write as _, pipe};
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::process::Command;
use std::ptr::null_mut;
use std::time::Duration;

use ccm_host::{Cancellation, Files as _, SystemFiles};

/// Reads each file, and searches it for its lines.
pub(crate) fn find_lines(directory: &Path, lines: &[Vec<String>]) {
    for (number, lines) in lines.iter().enumerate() {
        let content = std::fs::read(directory.join(number.to_string())).expect("a file");
        for line in lines {
            assert!(content.split(|byte| *byte == b'\n').any(|found| found == line.as_bytes()));
        }
    }
}

/// Runs /bin/true `count` times in a new session, reading two pipes to their ends.
pub(crate) fn spawn_true(count: u32) {
    for _ in 0..count {
        let null = File::open("/dev/null").expect("/dev/null");
        let (out, its_out): (PipeReader, PipeWriter) = pipe().expect("a pipe");
        let (err, its_err): (PipeReader, PipeWriter) = pipe().expect("a pipe");
        let program = c"/bin/true";
        let arguments = [program.as_ptr().cast_mut(), null_mut()];
        let environment = [null_mut()];
        let mut pid = 0;
        // SAFETY: every pointer is to a value that lives until the end of the block, strings and lists end
        // with zeroes, and every initialised value is destroyed.
        let result = unsafe {
            let mut actions = MaybeUninit::uninit();
            let mut attributes = MaybeUninit::uninit();
            libc::posix_spawn_file_actions_init(actions.as_mut_ptr());
            libc::posix_spawnattr_init(attributes.as_mut_ptr());
            for (file, number) in [(null.as_raw_fd(), 0), (its_out.as_raw_fd(), 1), (its_err.as_raw_fd(), 2)]
            {
                libc::posix_spawn_file_actions_adddup2(actions.as_mut_ptr(), file, number);
            }
            let flags: c_short = libc::POSIX_SPAWN_SETSID;
            libc::posix_spawnattr_setflags(attributes.as_mut_ptr(), flags);
            let result = libc::posix_spawn(
                &raw mut pid,
                program.as_ptr(),
                actions.as_ptr(),
                attributes.as_ptr(),
                arguments.as_ptr(),
                environment.as_ptr(),
            );
            libc::posix_spawn_file_actions_destroy(actions.as_mut_ptr());
            libc::posix_spawnattr_destroy(attributes.as_mut_ptr());
            result
        };
        assert_eq!(result, 0, "posix_spawn failed");
        drop((its_out, its_err));
        let mut printed = Vec::new();
        for mut stream in [out, err] {
            stream.read_to_end(&mut printed).expect("the pipe");
        }
        let mut status = 0;
        // SAFETY: the pointer is to the status.
        let waited = unsafe { libc::waitpid(pid, &raw mut status, 0) };
        assert_eq!((waited, status), (pid, 0), "/bin/true failed");
    }
}

/// Opens, stats, reads and compares files.
pub(crate) fn compare(directory: &Path, desired: &[String]) {
    for (number, desired) in desired.iter().enumerate() {
        let mut file = File::open(directory.join(number.to_string())).expect("a file");
        let metadata = file.metadata().expect("its metadata");
        assert_eq!(metadata.permissions().mode() & 0o7777, 0o644, "another mode");
        let mut content = Vec::with_capacity(desired.len());
        file.read_to_end(&mut content).expect("its content");
        assert_eq!(content, desired.as_bytes(), "another content");
    }
}

/// Writes files as safely as ccm: beside the target, synced, renamed, the directory synced.
pub(crate) fn create(directory: &Path, desired: &[String]) {
    let folder = File::open(directory).expect("the directory");
    for (number, desired) in desired.iter().enumerate() {
        let (temp, target) = (directory.join(format!(".{number}.new")), directory.join(number.to_string()));
        let mut file = File::create_new(&temp).expect("a new file");
        file.write_all(desired.as_bytes()).expect("to write");
        file.sync_all().expect("to sync");
        std::fs::rename(&temp, &target).expect("to rename");
        folder.sync_all().expect("to sync the directory");
    }
}

/// Writes files without syncing.
pub(crate) fn fill(directory: &Path, desired: &[String]) {
    for (number, desired) in desired.iter().enumerate() {
        std::fs::write(directory.join(number.to_string()), desired).expect("to write");
    }
}

pub(crate) fn owners(directory: &Path) -> (String, String) {
    let metadata = std::fs::metadata(directory).expect("the directory");
    let files = SystemFiles::new(Cancellation::never());
    let user = files.user_name(metadata.uid()).expect("the users").expect("a user");
    let group = files.group_name(metadata.gid()).expect("the groups").expect("a group");
    (user, group)
}

pub(crate) fn stat(count: u32) {
    for _ in 0..count {
        std::fs::metadata("/etc/passwd").expect("/etc/passwd");
    }
}

/// Runs a program, which must succeed, and returns its peak memory in KiB.
pub(crate) fn peak_memory(program: Command) -> i64 {
    usage_of(program).ru_maxrss
}

/// Runs a program, which must succeed, and returns the number of its page faults.
pub(crate) fn page_faults(program: Command) -> i64 {
    usage_of(program).ru_minflt
}

/// Returns the processor time of this process and of its children that ended.
pub(crate) fn own_time() -> Duration {
    let time = |who| {
        let mut usage = MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: the pointer is to a value that outlives the call, and zeroes are valid for a structure of numbers.
        let usage = unsafe {
            libc::getrusage(who, usage.as_mut_ptr());
            usage.assume_init()
        };
        let duration = |time: libc::timeval| {
            let micros = u64::try_from(time.tv_sec * 1_000_000 + time.tv_usec).unwrap_or_default();
            Duration::from_micros(micros)
        };
        duration(usage.ru_utime) + duration(usage.ru_stime)
    };
    time(libc::RUSAGE_SELF) + time(libc::RUSAGE_CHILDREN)
}

fn usage_of(mut program: Command) -> libc::rusage {
    #[expect(
        clippy::zombie_processes,
        reason = "it is waited for below, by the one call that returns its memory"
    )]
    let child = program.spawn().expect("the program");
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    let mut status = 0;
    let pid = libc::pid_t::try_from(child.id()).expect("a process id");
    // SAFETY: both pointers are to values that outlive the call, and zeroes are valid for a structure of
    // numbers.
    let (waited, usage) = unsafe {
        let waited = libc::wait4(pid, &raw mut status, 0, usage.as_mut_ptr());
        (waited, usage.assume_init())
    };
    assert_eq!((waited, status), (pid, 0), "the program failed");
    usage
}

/// Walks a directory, and stats and reads every file in it. Returns the number of bytes.
pub(crate) fn walk(directory: &Path) -> u64 {
    let mut bytes = 0;
    for entry in std::fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        let found = path.symlink_metadata().expect("it is there");
        bytes += if found.is_dir() {
            walk(&path)
        } else {
            std::fs::read(&path).expect("its content").len() as u64
        };
    }
    bytes
}
