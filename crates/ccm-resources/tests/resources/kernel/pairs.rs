//! What noop says of a resource that uses what another one makes or removes before it, and what the run does.

use ccm_model::Resource;

use crate::build::resource;
use crate::kernel::machine::{on_own_machine, shell};
use crate::local_run::{applied, in_noop};

/// Files and accounts that the rows find. `old` exists, `new` does not.
const SETUP: &str = "\
    mkdir -p /srv/old/in /srv/homes/old /srv/links && touch /srv/old/f /srv/old/in/g \
    && printf '#!/bin/sh\\n' > /srv/old/run && chmod 755 /srv/old/run && groupadd oldgroup \
    && useradd -M -d /srv/homes/old -g oldgroup old && groupadd free && chown old /srv/homes/old \
    && mkdir -p /etc/cron.d /srv/mounted && mount -t tmpfs tmpfs /srv/mounted && mkdir /srv/mounted/d \
    && cd /srv && git init -q r && cd r && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m one \
    && git clone -q /srv/r /srv/clone && chmod -R a+rX /srv/r";

/// Removes what a pair has left.
const RESET: &str = "\
    cd / && for point in mounted m d old; do umount -q /srv/$point; done; find /srv -mindepth 1 -delete \
    && cp -a /run/before/. /etc && rm -rf /etc/cron.d /etc/sysctl.d && echo 0 > /proc/sys/net/ipv4/ip_forward";

const KEY: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGAbLmuMIVT/jf24lgRRDjCBFZWm9GBlBgxHGGCvm3kG";

type Properties<'p> = &'p [(&'p str, &'p str)];

/// Resources in their order, each with its type, name and properties, and what noop and the run say of the second.
type Pair<'p> = ([(&'p str, &'p str, Properties<'p>); 2], &'p str);

const DIRECTORY: Properties<'_> = &[("ensure", "directory")];
const ABSENT: Properties<'_> = &[("ensure", "absent")];
const ALL_ABSENT: Properties<'_> = &[("ensure", "absent"), ("force", "true")];
const CONTENT: Properties<'_> = &[("content", "x")];
const TMPFS: Properties<'_> = &[("device", "tmpfs"), ("fstype", "tmpfs")];
const HOME: Properties<'_> = &[("home", "/srv/homes/new"), ("manage_home", "true")];

const MADE: &[Pair<'_>] = &[
    ([("user", "new", HOME), ("file", "/srv/f", &[("content", "x"), ("owner", "new")])], "would, changed"),
    ([("group", "new", &[]), ("file", "/srv/f", &[("content", "x"), ("group", "new")])], "would, changed"),
    (
        [("user", "new", HOME), ("authorized_key", "k", &[("user", "new"), ("key", KEY)])],
        "not known, changed",
    ),
    (
        [("user", "new", HOME), ("cron", "j", &[("user", "new"), ("command", "/bin/true"), ("hour", "1")])],
        "would, changed",
    ),
    ([("user", "new", HOME), ("group", "free", &[("members", "[new]")])], "not known, changed"),
    ([("group", "new", &[]), ("user", "new", &[("gid", "new")])], "would, changed"),
    ([("group", "new", &[]), ("user", "old", &[("groups", "[new]")])], "would, changed"),
    ([("file", "/srv/d", DIRECTORY), ("file", "/srv/d/f", CONTENT)], "would, changed"),
    (
        [("file", "/srv/d", DIRECTORY), ("file", "/srv/d/l", &[("ensure", "link"), ("target", "x")])],
        "would, changed",
    ),
    (
        [
            ("file", "/srv/d", DIRECTORY),
            ("line", "l", &[("path", "/srv/d/f"), ("line", "x"), ("create", "true")]),
        ],
        "would, changed",
    ),
    ([("file", "/srv/d", DIRECTORY), ("mount", "/srv/d", TMPFS)], "would, changed"),
    ([("file", "/srv/d", DIRECTORY), ("git", "/srv/d/c", &[("url", "/srv/r")])], "would, changed"),
    ([("file", "/srv/d", DIRECTORY), ("scaffold", "/srv/d/s", &[("source", "/srv/old")])], "would, changed"),
    ([("file", "/srv/d", DIRECTORY), ("exec", "true", &[("cwd", "/srv/d")])], "would, changed"),
    (
        [
            ("file", "/srv/d", DIRECTORY),
            ("sysctl", "net.ipv4.ip_forward", &[("value", "1"), ("file", "/srv/d/f.conf")]),
        ],
        "would, changed",
    ),
    (
        [
            ("file", "/srv/links/l", &[("ensure", "link"), ("target", "/srv/old")]),
            ("file", "/srv/links/l/new", CONTENT),
        ],
        "would, changed",
    ),
    (
        [("file", "/srv/p", &[("content", "#!/bin/sh\n"), ("mode", "0755")]), ("exec", "/srv/p", &[])],
        "would, changed",
    ),
    ([("mount", "/srv/m", TMPFS), ("file", "/srv/m/f", CONTENT)], "not known, changed"),
    ([("mount", "/srv/m", TMPFS), ("git", "/srv/m/c", &[("url", "/srv/r")])], "not known, changed"),
    ([("git", "/srv/c", &[("url", "/srv/r")]), ("file", "/srv/c/f", CONTENT)], "would, changed"),
    ([("git", "/srv/c", &[("url", "/srv/r")]), ("exec", "true", &[("cwd", "/srv/c")])], "would, changed"),
    ([("exec", "mkdir /srv/d", &[]), ("file", "/srv/d/f", CONTENT)], "not known, changed"),
    (
        [("exec", "touch /srv/t", &[]), ("line", "l", &[("path", "/srv/t"), ("line", "x")])],
        "not known, changed",
    ),
    (
        [("exec", "groupadd new", &[]), ("file", "/srv/f", &[("content", "x"), ("group", "new")])],
        "not known, changed",
    ),
];

const REMOVED: &[Pair<'_>] = &[
    ([("user", "old", ABSENT), ("group", "oldgroup", ABSENT)], "not known, changed"),
    (
        [("user", "old", ABSENT), ("file", "/srv/f", &[("content", "x"), ("owner", "old")])],
        "not known, fails",
    ),
    (
        [("user", "old", ABSENT), ("file", "/srv/homes/old", &[("ensure", "directory"), ("owner", "old")])],
        "not known, fails",
    ),
    (
        [("user", "old", ABSENT), ("authorized_key", "k", &[("user", "old"), ("key", KEY)])],
        "not known, fails",
    ),
    (
        [
            ("user", "old", ABSENT),
            ("authorized_key", "k", &[("ensure", "absent"), ("user", "old"), ("key", KEY)]),
        ],
        "unchanged, unchanged",
    ),
    ([("user", "old", ABSENT), ("git", "/srv/c", &[("url", "/srv/r"), ("user", "old")])], "not known, fails"),
    ([("user", "old", ABSENT), ("group", "free", &[("members", "[old]")])], "not known, fails"),
    (
        [("group", "free", ABSENT), ("file", "/srv/f", &[("content", "x"), ("group", "free")])],
        "not known, fails",
    ),
    ([("group", "free", ABSENT), ("user", "old", &[("groups", "[free]")])], "not known, fails"),
    ([("group", "free", ABSENT), ("user", "new", &[("gid", "free")])], "not known, fails"),
    ([("file", "/srv/old", ALL_ABSENT), ("file", "/srv/old/new", CONTENT)], "not known, fails"),
    ([("file", "/srv/old", ALL_ABSENT), ("file", "/srv/old/f", CONTENT)], "not known, fails"),
    ([("file", "/srv/old", ALL_ABSENT), ("file", "/srv/old/in", DIRECTORY)], "not known, changed"),
    (
        [("file", "/srv/old", ALL_ABSENT), ("line", "l", &[("path", "/srv/old/f"), ("line", "x")])],
        "not known, fails",
    ),
    ([("file", "/srv/old", ALL_ABSENT), ("mount", "/srv/old", TMPFS)], "would, changed"),
    ([("file", "/srv/old/f", ABSENT), ("file", "/srv/old/f2", CONTENT)], "would, changed"),
    ([("mount", "/srv/mounted", ABSENT), ("file", "/srv/mounted/f", CONTENT)], "not known, changed"),
    ([("mount", "/srv/mounted", ABSENT), ("file", "/srv/mounted", ABSENT)], "not known, changed"),
    ([("mount", "/srv/mounted", ABSENT), ("file", "/srv/mounted/d/f", CONTENT)], "not known, fails"),
    ([("git", "/srv/clone", ALL_ABSENT), ("file", "/srv/clone/f", CONTENT)], "not known, fails"),
    ([("user", "old", ABSENT), ("exec", "id", &[("user", "old")])], "not known, fails"),
    (
        [("user", "old", ABSENT), ("exec", "true", &[("user", "old"), ("creates", "/srv")])],
        "unchanged, unchanged",
    ),
    (
        [("group", "free", ABSENT), ("exec", "id", &[("user", "daemon"), ("group", "free")])],
        "not known, fails",
    ),
    ([("file", "/srv/old", ALL_ABSENT), ("exec", "true", &[("cwd", "/srv/old/in")])], "not known, fails"),
    ([("file", "/srv/old/run", ABSENT), ("exec", "/srv/old/run", &[])], "not known, fails"),
    (
        [("file", "/srv/old", ALL_ABSENT), ("exec", "run", &[("command", "/srv/old/run 1")])],
        "not known, fails",
    ),
    ([("mount", "/srv/mounted", ABSENT), ("exec", "true", &[("cwd", "/srv/mounted/d")])], "not known, fails"),
    ([("mount", "/srv/mounted", ABSENT), ("exec", "true", &[("cwd", "/srv/mounted")])], "not known, changed"),
];

fn word(told: &str) -> &'static str {
    match told {
        "unchanged" => "unchanged",
        "changed" => "changed",
        told if told.starts_with("Would have") => "would",
        // An exec may make anything.
        "may fail" => "not known",
        told if told.starts_with("not known before") => "not known",
        _ => "fails",
    }
}

/// Compares noop and the run of each pair on a machine as it was before.
fn compare(pairs: &[Pair<'_>]) {
    on_own_machine("mount umount useradd userdel groupadd groupdel git sysctl", || {
        shell(
            "mkdir /run/before && cp -a /etc/passwd /etc/group /etc/shadow /etc/gshadow /etc/fstab /run/before",
        );
        let mut wrong = String::new();
        for (pair, expected) in pairs {
            shell(SETUP);
            let both = || pair.iter().map(|(kind, name, properties)| resource(kind, name, properties));
            let both = || both().collect::<Vec<Resource>>();
            let (noop, run) = (in_noop(both()), applied(both()));
            let found = format!("{}, {}", word(&noop[1]), word(&run[1]));
            if found != *expected {
                wrong += &format!("{}, {}: {expected}\n  {noop:?}\n  {run:?}\n", both()[0].id, both()[1].id);
            }
            shell(RESET);
        }
        assert_eq!(wrong, "");
    });
}

#[test]
fn noop_knows_what_an_earlier_resource_makes() {
    compare(MADE);
}

#[test]
fn noop_knows_what_an_earlier_resource_removes() {
    compare(REMOVED);
}
