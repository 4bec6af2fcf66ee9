//! Hosts, the name of the machine, its time zone and its locale.

use std::path::Path;

use ccm_testkit::skipped;

use crate::build::resource;
use crate::kernel::machine::{assert_changes, assert_unchanged, content, on_own_machine, shell};
use crate::local_run::{applied, in_noop};

#[test]
fn hosts_are_added_changed_and_removed() {
    on_own_machine("", || {
        let host = |name: &str, properties: &[(&str, &str)]| resource("host", name, properties);
        assert_changes(&host("web", &[("ip", "192.0.2.2"), ("host_aliases", "[www|w]")]), "created");
        assert_changes(&host("db", &[("ip", "192.0.2.3")]), "changed ip");
        assert_changes(
            &host("localhost", &[("ip", "127.0.0.1"), ("host_aliases", "[lo]")]),
            "changed host_aliases",
        );
        let expected = "127.0.0.1\tlocalhost lo\n::1 localhost ip6-localhost # loopback\n\n192.0.2.3\tdb\n\
                        192.0.2.2\tweb www w\n";
        assert_eq!(content("/etc/hosts"), expected);
        assert_unchanged(&host("web", &[("ip", "192.0.2.2")]));
        assert_changes(&host("localhost", &[("ip", "::1"), ("ensure", "absent")]), "removed");
        assert_changes(&host("web", &[("ensure", "absent")]), "removed");
        assert_eq!(content("/etc/hosts"), "127.0.0.1\tlocalhost lo\n\n192.0.2.3\tdb\n");
        shell("printf 'a\\tb\\377\\r\\n192.0.2.1\\tweb # \\377\\r\\n' > /etc/hosts");
        assert_changes(&host("web", &[("ip", "192.0.2.2")]), "changed ip");
        let expected = b"a\tb\xff\r\n192.0.2.2\tweb # \xff\r\n";
        assert_eq!(std::fs::read("/etc/hosts").expect("a file"), expected);
        shell("printf '\\377\\376a\\0' > /etc/hosts");
        let told = "\"/etc/hosts\" is UTF-16 text, whose lines can't be edited";
        assert_eq!(applied(vec![host("web", &[("ip", "192.0.2.2")])]), [told]);
        // In containers the file is a mount.
        shell(
            "printf '192.0.2.1 a\\n' > /etc/hosts && touch /srv/hosts && mount --bind /srv/hosts /etc/hosts",
        );
        let told = applied(vec![host("web", &[("ip", "192.0.2.2")])]);
        assert_eq!(told, ["can't replace or remove mount point \"/etc/hosts\""]);
        assert_eq!(content("/etc/hosts"), "");
    });
}

#[test]
fn machine_is_named_now_and_at_boot() {
    on_own_machine("hostname", || {
        let name = resource("hostname", "web-1.example.com", &[]);
        assert_changes(&name, "changed name and name at boot");
        assert_eq!(content("/proc/sys/kernel/hostname"), "web-1.example.com\n");
        assert_eq!(content("/etc/hostname"), "web-1.example.com\n");
        shell("hostname other");
        assert_changes(&name, "changed name");
        shell("echo '# none' > /etc/hostname");
        assert_changes(&name, "changed name at boot");
        // The name of the kernel is as before if the file can't be written.
        shell("touch /srv/name && mount --bind /srv/name /etc/hostname");
        let told = applied(vec![resource("hostname", "new", &[])]);
        assert_eq!(told, ["can't replace or remove mount point \"/etc/hostname\""]);
        assert_eq!(content("/proc/sys/kernel/hostname"), "web-1.example.com\n");
    });
}

#[test]
fn time_zone_is_a_link() {
    on_own_machine("", || {
        if !Path::new("/usr/share/zoneinfo/Europe/Berlin").exists() {
            return skipped("tzdata is not installed");
        }
        shell("echo Etc/UTC > /etc/timezone; ln -sfn /usr/share/zoneinfo/Etc/UTC /etc/localtime");
        let berlin = resource("timezone", "Europe/Berlin", &[]);
        assert_changes(&berlin, "changed zone and /etc/timezone");
        let target = std::fs::read_link("/etc/localtime").expect("a link");
        assert_eq!(target, Path::new("/usr/share/zoneinfo/Europe/Berlin"));
        assert_eq!(content("/etc/timezone"), "Europe/Berlin\n");
        shell("rm /etc/timezone && cp --remove-destination /usr/share/zoneinfo/Etc/UTC /etc/localtime");
        assert_changes(&berlin, "changed zone");
        assert!(!Path::new("/etc/timezone").exists());
        let told = "the machine has no time zone `Europe/Nowhere`";
        let nowhere = || vec![resource("timezone", "Europe/Nowhere", &[])];
        assert_eq!((in_noop(nowhere()), applied(nowhere())), (vec![told.to_owned()], vec![told.to_owned()]));
        assert_unchanged(&berlin);
    });
}

/// Fakes of the tools, whose real ones need minutes.
const LOCALES: &str = r##"
cat > /usr/local/sbin/locale <<"END"
#!/bin/sh
printf "C\nC.utf8\nPOSIX\n"
cat /srv/locales
END
cat > /usr/local/sbin/locale-gen <<"END"
#!/bin/sh
grep -q broken /srv/locales && { echo "locale-gen: no space left" >&2; exit 1; }
sed -n "s/^\([a-z_A-Z]*\).UTF-8 UTF-8$/\1.utf8/p" /etc/locale.gen > /srv/locales
END
chmod 755 /usr/local/sbin/*
touch /srv/locales
mount -t tmpfs tmpfs /usr/share/i18n
printf "de_DE.UTF-8 UTF-8\nde_DE ISO-8859-1\nen_US.UTF-8 UTF-8\n" > /usr/share/i18n/SUPPORTED
printf "# de_DE.UTF-8 UTF-8\n# en_US.UTF-8 UTF-8\n" > /etc/locale.gen
mkdir -p /etc/default
printf "#  own\nLANG=C\nLANGUAGE=en\n" > /etc/default/locale
touch /etc/debian_version
rm -f /etc/locale.conf
"##;

#[test]
fn locales_are_made_and_set() {
    on_own_machine("sed grep", || {
        if !Path::new("/usr/share/i18n").exists() {
            return skipped("there is no /usr/share/i18n");
        }
        shell(LOCALES);
        let variables = || content("/etc/default/locale");
        assert_changes(&resource("locale", "C.UTF-8", &[]), "changed LANG");
        assert_eq!(variables(), "#  own\nLANG=C.UTF-8\nLANGUAGE=en\n");
        let german = resource("locale", "de_DE.UTF-8", &[("categories", "{LC_TIME=C.UTF-8}")]);
        assert_changes(&german, "changed generated locales, LANG and LC_TIME");
        assert_eq!(variables(), "#  own\nLANG=de_DE.UTF-8\nLANGUAGE=en\nLC_TIME=C.UTF-8\n");
        assert_eq!(content("/etc/locale.gen"), "de_DE.UTF-8 UTF-8\n# en_US.UTF-8 UTF-8\n");
        let told = "\"/usr/share/i18n/SUPPORTED\" does not list the locale `xx_XX.UTF-8`";
        assert_eq!(applied(vec![resource("locale", "xx_XX.UTF-8", &[])]), [told]);
        shell("echo broken > /srv/locales");
        let told = applied(vec![resource("locale", "en_US.UTF-8", &[])]);
        assert_eq!(told, ["locale-gen failed with exit code 1: no space left"]);
        assert_eq!(content("/etc/locale.gen"), "de_DE.UTF-8 UTF-8\n# en_US.UTF-8 UTF-8\n");
        assert_eq!(variables(), "#  own\nLANG=de_DE.UTF-8\nLANGUAGE=en\nLC_TIME=C.UTF-8\n");
        shell("umount /usr/share/i18n && mount -t tmpfs tmpfs /usr/share/i18n");
        let told = applied(vec![resource("locale", "en_US.UTF-8", &[])]);
        assert_eq!(told, ["the machine has no locale `en_US.UTF-8`"]);
    });
}
