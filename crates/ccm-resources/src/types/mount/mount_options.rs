//! Options of mounts that can be compared with those of a mounted file system.

use crate::parts::mounts::MountedFilesystem;

/// Options that are on or off: name of what is set, option that sets it, option that unsets it.
const FLAGS: &[(&str, &str)] =
    &[("ro", "rw"), ("nosuid", "suid"), ("nodev", "dev"), ("noexec", "exec"), ("sync", "async")];

/// Options of which one excludes the others. They are only compared if one is given.
const TIMES: &[&str] = &["noatime", "relatime", "strictatime"];
const OTHERS: &[&str] = &["nodiratime", "dirsync", "nosymfollow", "lazytime"];

/// Options with a size, as the kernel reports it.
const SIZES: &[&str] = &["nr_inodes", "size"];

/// Options that imply others.
const IMPLIED: &[(&str, &[&str])] = &[
    ("user", &["noexec", "nosuid", "nodev"]),
    ("users", &["noexec", "nosuid", "nodev"]),
    ("owner", &["nosuid", "nodev"]),
    ("group", &["nosuid", "nodev"]),
];

/// Returns `true` for a bind mount.
pub(super) fn is_bind(options: &[u8]) -> bool {
    options.split(|byte| *byte == b',').any(|option| matches!(option, b"bind" | b"rbind"))
}

/// Returns the comparable options in which a mounted file system differs, as it has them and as they are desired.
pub(super) fn differing(desired: &str, mounted: &MountedFilesystem) -> Option<(String, String)> {
    let is_bind = is_bind(desired.as_bytes());
    let has = |option: &str| mounted.options.split(',').any(|found| found == option);
    let (mut from, mut to) = (Vec::new(), Vec::new());
    for (set, unset) in FLAGS {
        // A file system that is read-only can't be written by any of its mounts.
        let of_filesystem = !is_bind && matches!(*set, "ro" | "sync");
        let is_set = has(set) || of_filesystem && mounted.super_options.split(',').any(|found| found == *set);
        let is_desired = effective(desired, set, unset);
        if is_set != is_desired {
            from.push(if is_set { set } else { unset }.to_string());
            to.push(if is_desired { set } else { unset }.to_string());
        }
    }
    let is_given = |option: &str| desired.split(',').any(|given| given == option);
    if let Some(given) = TIMES.iter().rev().find(|option| is_given(option)) {
        // The kernel does not report `strictatime`.
        let found = TIMES.iter().find(|option| has(option)).unwrap_or(&"strictatime");
        if found != given {
            from.push((*found).to_owned());
            to.push((*given).to_owned());
        }
    }
    let has_anywhere =
        |option: &str| has(option) || mounted.super_options.split(',').any(|found| found == option);
    for option in OTHERS.iter().filter(|option| is_given(option)) {
        if !has_anywhere(option) {
            to.push((*option).to_owned());
        }
    }
    for name in SIZES.iter().filter(|_| !is_bind) {
        let values = (value_of(&mounted.super_options, name), value_of(desired, name));
        let (Some(found), Some(value)) = values else { continue };
        if let (Some(size), Some(wanted)) = (bytes(found), bytes(value))
            && size != wanted
        {
            from.push(format!("{name}={found}"));
            to.push(format!("{name}={value}"));
        }
    }
    let shown = |options: Vec<String>| if options.is_empty() { "none".to_owned() } else { options.join(",") };
    (!to.is_empty()).then(|| (shown(from), shown(to)))
}

/// Returns `true` if an option is set by these options; the last one counts.
fn effective(options: &str, set: &str, unset: &str) -> bool {
    let mut is_set = false;
    for option in options.split(',') {
        let implies = IMPLIED.iter().find(|(name, _)| *name == option);
        if option == set || implies.is_some_and(|(_, implied)| implied.contains(&set)) {
            is_set = true;
        } else if option == unset || option == "defaults" {
            is_set = false;
        }
    }
    is_set
}

/// Returns the value of an option; the last one counts.
fn value_of<'o>(options: &'o str, name: &str) -> Option<&'o str> {
    let mut values = options.split(',').filter_map(|option| option.split_once('='));
    values.rfind(|(found, _)| *found == name).map(|(_, value)| value)
}

/// Returns a number with a suffix for its unit; `None` for anything else, such as a part of the memory.
fn bytes(value: &str) -> Option<u64> {
    let unit = value.chars().last()?;
    let (number, shift) = match unit.to_ascii_lowercase() {
        'k' => (&value[..value.len() - 1], 10),
        'm' => (&value[..value.len() - 1], 20),
        'g' => (&value[..value.len() - 1], 30),
        't' => (&value[..value.len() - 1], 40),
        _ => (value, 0),
    };
    number.parse::<u64>().ok()?.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_compared_as_far_as_the_kernel_reports_them() {
        for (desired, options, super_options, expected) in [
            ("defaults", "rw,relatime", "rw", None),
            ("noexec,nosuid", "rw,nosuid,noexec,relatime", "rw", None),
            ("nofail,x-systemd.automount,_netdev,noauto", "rw,relatime", "rw", None),
            ("noexec", "rw,relatime", "rw", Some(("exec", "noexec"))),
            ("defaults", "rw,noexec,relatime", "rw", Some(("noexec", "exec"))),
            ("noexec,defaults", "rw,noexec,relatime", "rw", Some(("noexec", "exec"))),
            ("ro", "rw,relatime", "ro", None),
            ("rw", "rw,relatime", "ro", Some(("ro", "rw"))),
            ("bind,ro", "ro,relatime", "rw", None),
            ("bind", "rw,relatime", "ro,sync", None),
            ("user", "rw,nosuid,nodev,noexec", "rw", None),
            ("user,exec", "rw,nosuid,nodev", "rw", None),
            ("noatime", "rw,relatime", "rw", Some(("relatime", "noatime"))),
            ("noatime", "rw,noatime", "rw", None),
            ("strictatime", "rw", "rw", None),
            ("relatime", "rw", "rw", Some(("strictatime", "relatime"))),
            ("lazytime", "rw,relatime", "rw,lazytime", None),
            ("lazytime", "rw,relatime", "rw", Some(("none", "lazytime"))),
            ("size=64m", "rw,relatime", "rw,size=65536k", None),
            ("size=64m,mode=0700", "rw,relatime", "rw,size=1024k,mode=755", Some(("size=1024k", "size=64m"))),
            ("size=1m,size=64m", "rw,relatime", "rw,size=65536k", None),
            (
                "size=1m,nr_inodes=2k",
                "rw",
                "rw,size=2048k,nr_inodes=1k",
                Some(("nr_inodes=1k,size=2048k", "nr_inodes=2k,size=1m")),
            ),
            ("size=50%", "rw,relatime", "rw,size=1024k", None),
            ("size=64m", "rw,relatime", "rw", None),
            ("errors=remount-ro", "rw", "rw,errors=continue", None),
        ] {
            let mounted = MountedFilesystem {
                options: options.to_owned(),
                super_options: super_options.to_owned(),
                ..MountedFilesystem::default()
            };
            let found = differing(desired, &mounted);
            let found = found.as_ref().map(|(from, to)| (&**from, &**to));
            assert_eq!(found, expected, "{desired}: {options} {super_options}");
        }
    }
}
