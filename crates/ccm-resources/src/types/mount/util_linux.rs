//! Provider util-linux: `/etc/fstab`, and file systems that mount and umount change.

use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use ccm_engine::{Context, Provider, ReadPurpose};
use ccm_host::{ChangedPart, FileError, FileKind, Files, InspectOptions, PathTrust, read_at_most};
use ccm_model::{Failure, FailureKind};

use super::decide::{MountDifference, MountObstacle, MountState};
use super::desired::{DesiredMount, MountEnsure};
use super::fstab::Fstab;
use super::mount_options::is_bind;
use crate::parts::mounts::{MountTable, MountedFilesystem};
use crate::parts::path_walk::{FOR_PROGRAM, WalkedPath, make_parents, missing_parents, parents_note};
use crate::parts::systemd::SYSTEMD_RUNNING;
use crate::parts::systemd::systemctl::Systemctl;
use crate::parts::text::TextFile;
use crate::support::file_failure::{check_writable, file_failure};
use crate::support::object_plan::{Object, ObjectPlan, ObjectType};
use crate::support::program::{ErrorLines, Program};

/// Maximum length of the path of an image.
const MAX_PATH: u64 = 64 << 10;

/// Types that say nothing about the file system that is mounted.
const ANY_TYPE: &[&str] = &["auto", "none", "bind"];

/// Rules for a path at which mount and umount follow a link, too.
const FOLLOWED: PathTrust = PathTrust { follow_last: true, ..FOR_PROGRAM };

pub(crate) struct UtilLinux;

impl Provider<Object<DesiredMount>> for UtilLinux {
    async fn status(
        &self,
        mount: &DesiredMount,
        reading: ReadPurpose<'_, ()>,
        context: &mut Context<'_>,
    ) -> Result<MountState, Failure> {
        let fstab = Fstab::of(context).await?;
        let table = MountTable::of(context).await?;
        let point = walked(&mount.mount_point, &table, context);
        let directory = point.real.to_string_lossy().into_owned();
        let real = |path: &str| walked(path, &table, context).real;
        let spelling = fstab.spelling(&mount.mount_point, real).to_owned();
        let mounted = table.on(&directory);
        let layers = table.layers(&directory);
        let line = fstab.lines(&spelling).first();
        // The source of a bind mount is the device of the file system, not the directory.
        let is_other = !is_bind(mount.options(line))
            && mounted.as_ref().is_some_and(|mounted| is_other(mount, mounted, context));
        let is_known =
            mounted.is_some() && !is_other && line.is_some_and(|line| line.device == mount.device.as_bytes());
        let device = mount.device_path().filter(|_| !is_known);
        let device = device.map(|path| WalkedPath::of(&path, FOLLOWED, context.host.files));
        let of_device = device.and_then(|device| device.refusal).map(|refusal| refusal.of_property("device"));
        let refusal = point.refusal.or(of_device);
        let mut state = MountState {
            fstab,
            spelling,
            directory,
            refusal,
            mounted,
            layers,
            is_other,
            missing_directories: Vec::new(),
            obstacle: None,
        };
        if mount.ensure == MountEnsure::Mounted && (state.mounted.is_none() || state.is_other) {
            let found = mount_point(mount, context)?;
            (state.missing_directories, state.obstacle) = found;
            state.obstacle = state.obstacle.or_else(|| no_device(mount, context));
        }
        let changes = || !matches!(mount.plan(&state), ObjectPlan::Keep { .. } | ObjectPlan::Fail(_));
        if reading.is_before() && changes() {
            if state.fstab.file.content() != new_fstab(mount, &state) {
                state.fstab.file.check_replaceable(context)?;
            }
            if let Some(outermost) = state.missing_directories.first() {
                check_writable(outermost, ChangedPart::NewDirectory, context.host.files)?;
            }
        }
        Ok(state)
    }

    async fn execute(
        &self,
        mount: &DesiredMount,
        state: &MountState,
        context: &mut Context<'_>,
    ) -> Result<(), Failure> {
        let differences = match mount.plan(state) {
            ObjectPlan::Keep { .. } => return Ok(()),
            ObjectPlan::Fail(failure) => return Err(failure),
            ObjectPlan::Remove => {
                unmount(mount, state, context).await?;
                let written = save(mount, state, context).await;
                let changed = state.mounted.is_some();
                let written =
                    written.map_err(|failure| Failure { changed: changed || failure.changed, ..failure });
                return written.map(drop);
            }
            ObjectPlan::Create(differences) | ObjectPlan::Change(differences) => differences,
        };
        let has = |is_it: fn(&MountDifference) -> bool| differences.iter().any(is_it);
        let replaces = has(|difference| matches!(difference, MountDifference::Other { .. }));
        let mounts = replaces || has(|difference| matches!(difference, MountDifference::Mounted(true)));
        let unmounts = replaces || has(|difference| matches!(difference, MountDifference::Mounted(false)));
        // A changed option may be one that can't be compared.
        let is_option = |difference: &MountDifference| {
            matches!(
                difference,
                MountDifference::MountedOptions { .. }
                    | MountDifference::Field { name: "options", from: Some(_), .. }
            )
        };
        let remounts = !mounts && mount.ensure == MountEnsure::Mounted && differences.iter().any(is_option);
        // A file system that is busy stays as it is, with its line.
        if unmounts {
            unmount(mount, state, context).await?;
        }
        let saved = save(mount, state, context).await;
        let saved = saved.map_err(|failure| Failure { changed: unmounts || failure.changed, ..failure })?;
        let point = &*state.spelling;
        let made = if mounts { make_parents(&state.missing_directories, context.host.files) } else { Ok(0) };
        let mounted = if let Err(failure) = made {
            Err(failure)
        } else if mounts {
            tool("mount").with(["--", point]).run(&*context).await
        } else if remounts {
            // Without `bind` the options would be those of the whole file system, for all of its mounts.
            let options = if mount.is_bind() { "remount,bind" } else { "remount" };
            tool("mount").with(["-o", options, "--", point]).run(&*context).await
        } else {
            Ok(())
        };
        match mounted {
            Ok(()) => {
                if let Some(note) = parents_note(&state.missing_directories) {
                    context.note(note);
                }
                Ok(())
            }
            Err(failure) => Err(undo(state, &saved, unmounts, failure, context).await),
        }
    }
}

/// Resolves a mount point. What is mounted there is not looked at: its server may be gone.
fn walked(mount_point: &str, table: &MountTable, context: &Context<'_>) -> WalkedPath {
    let (path, files) = (Path::new(mount_point), context.host.files);
    let found = WalkedPath::of(path, FOR_PROGRAM, files);
    let is_mounted = found.real.to_str().is_some_and(|path| table.layers(path) > 0);
    if is_mounted || found.refusal.is_some() { found } else { WalkedPath::of(path, FOLLOWED, files) }
}

/// Returns `true` if the mounted file system is certainly another one than the desired one.
fn is_other(mount: &DesiredMount, mounted: &MountedFilesystem, context: &Context<'_>) -> bool {
    let is_type = |fstype: &str| {
        let is_nfs = fstype.starts_with("nfs") && mounted.fstype.starts_with("nfs");
        ANY_TYPE.contains(&fstype) || fstype == mounted.fstype || is_nfs || mounted.fstype.starts_with("fuse")
    };
    if !mount.fstype.split(',').any(is_type) {
        return true;
    }
    if mount.device == mounted.source {
        return false;
    }
    let files = context.host.files;
    if let Some(path) = mount.device_path() {
        let Ok(desired) = files.canonical(&path) else { return false };
        if is_image(&desired, mounted) || is_device(&desired, mounted, files) {
            return false;
        }
        return files.canonical(Path::new(&mounted.source)).is_ok_and(|found| found != desired);
    }
    // A directory of a server. Other names, such as `tmpfs`, are arbitrary.
    let is_remote = |device: &str| device.contains(":/") || device.starts_with("//");
    is_remote(&mount.device)
        && is_remote(&mounted.source)
        && mount.device.trim_end_matches('/') != mounted.source.trim_end_matches('/')
}

/// Returns `true` if a file is the image behind the loop device that is mounted.
fn is_image(path: &Path, mounted: &MountedFilesystem) -> bool {
    let Some(device) = mounted.source.strip_prefix("/dev/") else { return false };
    if !device.strip_prefix("loop").is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit())) {
        return false;
    }
    let backing = format!("/sys/block/{device}/loop/backing_file");
    let read = read_at_most(Some(Path::new(&backing)), MAX_PATH);
    // The name of a file that was removed has a suffix, and is that of no file any more.
    read.is_ok_and(|read| read.strip_suffix(b"\n").unwrap_or(&read) == path.as_os_str().as_bytes())
}

/// Returns `true` if a device is the one with the number of the mounted file system, whatever mount was told.
fn is_device(path: &Path, mounted: &MountedFilesystem, files: &dyn Files) -> bool {
    let by_number = PathBuf::from(format!("/sys/dev/block/{}", mounted.number));
    // The kernel knows no device of file systems such as btrfs and tmpfs.
    let named = files.canonical(&by_number).ok();
    path.starts_with("/dev") && named.is_some_and(|named| named.file_name() == path.file_name())
}

/// Returns the missing directories, from the outermost to the mount point, or what is in their place.
fn mount_point(
    mount: &DesiredMount,
    context: &Context<'_>,
) -> Result<(Vec<PathBuf>, Option<MountObstacle>), Failure> {
    let (files, directory) = (context.host.files, Path::new(&mount.mount_point));
    let found = files.inspect(directory, InspectOptions::default());
    let found = match found {
        Ok(found) => found,
        Err(error @ FileError::NotADirectory { .. }) => return Err(file_failure(&error)),
        // A stranger may be in the way, which the walk says, or what is mounted there does not answer.
        Err(_) => return Ok((Vec::new(), None)),
    };
    let what = match found.target.map(|target| target.kind) {
        Some(FileKind::Directory { .. }) => return Ok((Vec::new(), None)),
        None if context.would_be_directory(directory) => return Ok((Vec::new(), None)),
        None if !found.link => {
            let mut missing = missing_parents(directory, files, |parent| context.would_be_directory(parent))?;
            missing.push(directory.to_owned());
            return Ok((missing, None));
        }
        None => "a symbolic link that leads to no directory",
        Some(FileKind::File) => "a file",
        Some(FileKind::Special(what)) => what,
    };
    Ok((Vec::new(), Some(MountObstacle::NoDirectory(what))))
}

/// Returns the obstacle of a device that does not exist.
fn no_device(mount: &DesiredMount, context: &Context<'_>) -> Option<MountObstacle> {
    let files = context.host.files;
    let device = mount.device_path()?;
    let has_links = || device.parent().is_some_and(|links| files.is_directory(links).unwrap_or(false));
    if mount.is_named() && !has_links() {
        return None;
    }
    let would_be = mount.is_bind() && context.would_be_directory(&device);
    (!files.exists(&device).unwrap_or(true) && !would_be).then_some(MountObstacle::NoDevice)
}

/// Puts the line of a file system back that can't be mounted, and mounts again what was unmounted for it.
async fn undo(
    state: &MountState,
    saved: &TextFile,
    was_unmounted: bool,
    failure: Failure,
    context: &Context<'_>,
) -> Failure {
    let failure = match failure.kind {
        FailureKind::Exit => {
            failure.with_hint("check `device`, `fstype` and `options`; the kernel log may say more")
        }
        _ => failure,
    };
    let old = &state.fstab.file;
    let is_undone = saved == old || {
        let written = saved.write(old.content().to_owned(), context);
        written.is_ok() && reload(context).await.is_ok()
    };
    for directory in state.missing_directories.iter().rev() {
        // A directory that was not made, or that holds something by now, stays.
        let _removed = context.host.files.remove(directory, false);
    }
    let is_mounted_again = !was_unmounted
        || is_undone && tool("mount").with(["--", &*state.spelling]).run(context).await.is_ok();
    Failure { changed: !(is_undone && is_mounted_again), ..failure }
}

/// Unmounts what is mounted on the directory.
async fn unmount(mount: &DesiredMount, state: &MountState, context: &Context<'_>) -> Result<(), Failure> {
    for layer in 0..state.layers {
        let unmounted = tool("umount").with(["--", &*state.directory]).run(context).await;
        unmounted.map_err(|failure| {
            let is_busy = failure.chain.iter().any(|cause| cause.contains("busy"));
            let failure = Failure { changed: layer > 0, ..failure };
            if !is_busy {
                return failure;
            }
            let point = &mount.mount_point;
            failure
                .because_of(format!("the file system on \"{}\" is in use", Path::new(point).display()))
                .with_hint(format!("stop the processes that `fuser -vm {point}` shows"))
        })?;
    }
    Ok(())
}

/// Returns `/etc/fstab` with the line, or without it.
fn new_fstab(mount: &DesiredMount, state: &MountState) -> Vec<u8> {
    let line = (mount.ensure != MountEnsure::Absent).then(|| mount.line(state.lines().first()));
    state.fstab.with(&state.spelling, line.as_ref())
}

/// Writes the line to `/etc/fstab`, or removes it. Returns the file as it is then.
async fn save(mount: &DesiredMount, state: &MountState, context: &Context<'_>) -> Result<TextFile, Failure> {
    let new = new_fstab(mount, state);
    let old = &state.fstab.file;
    if old.content() == new {
        return Ok(old.clone());
    }
    let saved = old.write(new, context)?;
    reload(context).await.map(|()| saved).map_err(|failure| Failure { changed: true, ..failure })
}

/// Makes systemd read `/etc/fstab` again, of which each line is a unit.
async fn reload(context: &Context<'_>) -> Result<(), Failure> {
    if context.host.files.is_directory(Path::new(SYSTEMD_RUNNING)).unwrap_or(false) {
        let reloaded = Systemctl::of(false, context.host)?.reload(context).await;
        reloaded.map_err(|failure| failure.because_of("`systemctl daemon-reload` failed"))?;
    }
    Ok(())
}

fn tool(name: &str) -> Program {
    let packages = "`mount` (Debian family) or `util-linux` (Red Hat family)";
    Program::new(name).in_package(packages).quoting(ErrorLines { of_line: error, ..ErrorLines::default() })
}

/// Returns the error in a line of mount and umount, which give advice as well.
fn error(line: &str) -> Option<&str> {
    let is_advice = line.starts_with("dmesg(1) may have") || line.starts_with("(hint) ");
    (!is_advice).then_some(line)
}
