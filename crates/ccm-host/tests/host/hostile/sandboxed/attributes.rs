//! Changes of modes, owners, times and flags, and new files with set-id bits.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use ccm_host::{Sandbox, SandboxLayer, SystemRunner};

use super::layers::in_every_way;
use super::{Place, fail, run, succeed};

const WITHOUT_VIEW: &[SandboxLayer] = &[SandboxLayer::Namespaces];

/// Attempts that would have no effect if they succeeded.
const ON_DEVICES: [&str; 7] = [
    "chmod 666 /dev/full",
    "touch -r /dev/full /dev/full",
    "chown $(id -u) /dev/full",
    "perl -e 'open(F, \"+<\", \"/dev/full\"); chmod(0666, *F) or die $!'",
    "touch /dev/null",
    "chmod 666 /dev/stdin",
    "perl -e 'utime(undef, undef, *STDIN) or die $!'",
];

#[test]
fn devices_can_be_used_but_not_changed() {
    in_every_way(async |runner, _| {
        let place = Place::new();
        let look = || {
            ["null", "zero", "full", "random", "urandom", "tty"].map(|name| {
                let found = std::fs::metadata(format!("/dev/{name}")).expect("a device");
                (found.mode(), found.uid(), found.gid(), found.ctime(), found.ctime_nsec())
            })
        };
        let before = look();
        for read in [vec![], vec!["/dev".into()]] {
            let sandbox = || Sandbox { read: read.clone(), ..place.sandbox() };
            for attempt in ON_DEVICES {
                let said = fail(runner, &place.shell_in(sandbox(), attempt)).await;
                assert!(!said.contains("not found"), "{attempt}: {said}");
            }
            let uses = "echo x > /dev/null; echo x >> /dev/zero; head -c 3 /dev/zero | wc -c; cat /dev/stdin; \
                        head -c 2 /dev/urandom | wc -c; echo x > /dev/full || echo full";
            let printed = succeed(runner, &place.shell_in(sandbox(), uses)).await;
            assert_eq!(printed, "3\n2\nfull\n");
        }
        assert_eq!(look(), before);
    });
}

#[test]
fn flags_of_read_only_files_can_not_be_changed() {
    in_every_way(async |runner, off| {
        let place = Place::new();
        let open = place.at("outside/open/file");
        let sandbox = || Sandbox { read: vec![open.clone()], ..place.sandbox() };
        // Flags, extended flags, versions (old and of ext4), verity, encryption.
        for request in
            [0x4008_6602_u32, 0x401c_5820, 0x4008_7602, 0x4004_7602, 0x4008_6604, 0x4080_6685, 0x800c_6613]
        {
            let call = format!(
                "open(F, '<', \"$ENV{{OUTSIDE}}/open/file\") or die 'not opened'; my $b = \"\\0\" x 256; \
                 defined(ioctl(F, {request}, $b)) or die $!"
            );
            let said = fail(runner, &place.perl_in(sandbox(), &call)).await;
            let is_filtered = said.contains("Operation not permitted");
            assert!(is_filtered || off != WITHOUT_VIEW, "{request:x}: {said}");
            assert!(!said.contains("not opened"), "{said}");
        }
        // Reading stays allowed. The file system itself may not support it.
        let ask = "open(F, '<', \"$ENV{OUTSIDE}/open/file\") or die; my $b = \"\\0\" x 8; \
                   defined(ioctl(F, 0x80086601, $b)) or $!{ENOTTY} or die $!";
        succeed(runner, &place.perl_in(sandbox(), ask)).await;
    });
}

#[test]
fn set_id_files_can_not_be_made() {
    in_every_way(async |runner, _| {
        let place = Place::new();
        let write = place.at("outside/open");
        let sandbox = || Sandbox { write: vec![write.clone()], ..place.sandbox() };
        let perl = |text: &str| {
            place.perl_in(
                sandbox(),
                &format!(
                    "umask 0; my ($p, $d) = (\"$ENV{{OUTSIDE}}/open/suid\", \"$ENV{{OUTSIDE}}/open\"); {text}"
                ),
            )
        };
        for mode in ["06755", "04755", "02755"] {
            for made in [
                "sysopen(F, $p, 0101, MODE)",
                "sysopen(F, $p, 0102, MODE)",
                "sysopen(F, $d, 020200001, MODE)",
            ] {
                let said = fail(runner, &perl(&format!("{} or die $!", made.replace("MODE", mode)))).await;
                assert!(said.contains("Operation not permitted"), "{made}: {said}");
            }
            if cfg!(target_arch = "x86_64") {
                for made in [
                    "2, $p, 0101, MODE",
                    "257, -100, $p, 0101, MODE",
                    "85, $p, MODE",
                    "133, $p, 0100000 | MODE, 0",
                    "259, -100, $p, 0100000 | MODE, 0",
                ] {
                    let call = format!("syscall({}) == -1 and die $!", made.replace("MODE", mode));
                    let said = fail(runner, &perl(&call)).await;
                    assert!(said.contains("Operation not permitted"), "{made}: {said}");
                }
            }
        }
        if cfg!(target_arch = "x86_64") {
            let how =
                "my $how = pack('QQQ', 0101, 06755, 0); syscall(437, -100, $p, $how, 24) == -1 and die $!";
            assert!(fail(runner, &perl(how)).await.contains("Function not implemented"));
            // Without O_CREAT the mode has no effect.
            let reads = "open(F, '>', $p); close F; syscall(2, $p, 0, 06755) == -1 and die $!; \
                         syscall(257, -100, $p, 0, 06755) == -1 and die $!; unlink $p";
            succeed(runner, &perl(reads)).await;
        }
        succeed(runner, &perl("mkdir(\"$d/dir\", 06777); sysopen(F, \"$d/file\", 0101, 01777) or die $!"))
            .await;
        for entry in std::fs::read_dir(&write).expect("what was made") {
            let entry = entry.expect("an entry");
            let mode = entry.metadata().expect("its mode").permissions().mode();
            assert_eq!(mode & 0o6000, 0, "{:?}", entry.file_name());
        }
    });
}

#[test]
fn attributes_of_writable_files_are_fixed_without_namespaces() {
    in_every_way(async |runner: &SystemRunner, off| {
        let place = Place::new();
        let changed = run(runner, &place.shell("chmod 600 own && touch -d 2001-01-01 own")).await.exit;
        assert_eq!(changed == ccm_host::Exit::Code(0), off != WITHOUT_VIEW);
    });
}
