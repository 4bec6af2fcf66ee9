//! The manifests for real jobs are valid for each family of machines, and two of them do their jobs in a directory of the
//! test's own, with stand-ins for what they call. `tests/system/manifests` and
//! `tests/system/redhat-manifests` apply all of them to machines.

use std::process::Command;

use ccm_testkit::{Called, Scratch, is_root, needs_own_mounts, repository};

use crate::{apply, ccm};

/// Each, with the packages and services that it manages on machines of the Debian and of the Red Hat family.
const MANIFESTS: [(&str, &str, &str); 10] = [
    ("admins", "package#sudo", "package#sudo"),
    (
        "base",
        "package#ca-certificates package#chrony package#unattended-upgrades \
         service#chrony service#apt-daily-upgrade.timer service#apt-daily.timer",
        "package#ca-certificates package#chrony package#dnf-automatic service#chronyd service#dnf-automatic.timer",
    ),
    ("disk-watch", "package#passwd service#disk-watch", "package#shadow-utils service#disk-watch"),
    ("kernel-hardening", "", ""),
    ("nginx-site", "package#nginx service#nginx", "package#nginx service#nginx"),
    ("nightly-backup", "package#rsync", "package#rsync"),
    ("nightly-dump", "service#nightly-dump.timer", "service#nightly-dump.timer"),
    ("node-exporter", "package#passwd service#node-exporter", "package#shadow-utils service#node-exporter"),
    ("sshd-hardening", "package#openssh-server service#ssh", "package#openssh-server service#sshd"),
    ("web-application", "package#git service#app", "package#git service#app"),
];

/// Resources with another name on Fedora.
const FEDORA: [(&str, &str); 2] = [
    ("package#dnf-automatic", "package#dnf5-plugin-automatic"),
    ("service#dnf-automatic.timer", "service#dnf5-automatic.timer"),
];

/// A manifest with its paths moved below the test's directory.
fn manifest(name: &str, scratch: &Scratch) -> String {
    let path = repository(&format!("manifests/{name}.yaml"));
    let mut text = std::fs::read_to_string(path).expect("the manifest");
    for place in ["/etc/", "/opt/", "/run/", "/var/backups/", "/usr/local/sbin/"] {
        let moved = scratch.at(&place[1..]);
        std::fs::create_dir_all(&moved).expect("a place");
        text = text.replace(place, &moved);
    }
    let given_away = |line: &&str| ["owner: root", "group: root"].contains(&line.trim());
    // Only root may give files to root.
    text.lines().filter(|line| is_root() || !given_away(line)).flat_map(|line| [line, "\n"]).collect()
}

/// A program that stands in for one of the machine's, in the test's directory.
fn stand_in(scratch: &Scratch, name: &str, script: &str) {
    scratch.write_program(&format!("bin/{name}"), &format!("#!/bin/sh\ncd {}\n{script}", scratch.at("")));
}

fn assert_all_unchanged(called: &Called, count: usize) {
    let summary = format!(": {count} unchanged (run ");
    assert!(called.code == 0 && called.stdout.contains(&summary), "{}", called.shown());
}

#[test]
fn every_manifest_is_described_and_valid() {
    let readme = std::fs::read_to_string(repository("manifests/README.md")).expect("the list");
    let folder = std::fs::read_dir(repository("manifests")).expect("the manifests");
    let names = folder.map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"));
    let names: Vec<String> = names.filter_map(|name| name.strip_suffix(".yaml").map(str::to_owned)).collect();
    assert_eq!(names.len(), MANIFESTS.len());
    let scratch = Scratch::new();
    for name in names {
        assert!(MANIFESTS.iter().any(|(known, ..)| *known == name), "{name} is not tested");
        assert!(readme.contains(&format!("]({name}.yaml)")), "{name} is not described");
        let path = repository(&format!("manifests/{name}.yaml"));
        let called = ccm(&scratch, &["validate", &path.to_string_lossy()]).run();
        assert_eq!(called.code, 0, "{}", called.shown());
    }
}

#[test]
fn every_manifest_of_the_comparison_is_valid() {
    let scratch = Scratch::new();
    let jobs = std::fs::read_dir(repository("tests/comparison")).expect("the jobs");
    for job in jobs {
        let path = job.expect("an entry").path().join("ccm/site.yaml");
        let called = ccm(&scratch, &["validate", "--strict", &path.to_string_lossy()]).run();
        assert_eq!(called.code, 0, "{}", called.shown());
    }
}

/// The packages and services of a manifest as `--render` prints it.
fn managed(rendered: &str) -> String {
    let lines: Vec<&str> = rendered.lines().collect();
    let resources = lines.windows(2).filter_map(|pair| {
        let kind = pair[0].strip_prefix("    - ")?.strip_suffix(':')?;
        let name = pair[1].strip_prefix("        - ")?.split(':').next()?;
        ["package", "service"].contains(&kind).then(|| format!("{kind}#{name}"))
    });
    resources.collect::<Vec<_>>().join(" ")
}

#[test]
fn each_family_of_machines_has_its_own_names() {
    let scratch = Scratch::new();
    for (name, debian, redhat) in MANIFESTS {
        let path = repository(&format!("manifests/{name}.yaml"));
        let path = path.to_string_lossy();
        let fedora = FEDORA.iter().fold(redhat.to_owned(), |names, (old, new)| names.replace(old, new));
        for (family, expected) in [("debian", debian), ("rhel", redhat), ("fedora", &*fedora)] {
            let facts = format!("{family}.yaml");
            scratch.write(&facts, format!("host: {{info: {{platformFamily: {family}}}}}\n"));
            let valid = ccm(&scratch, &["validate", &path, "--matrix", &facts]).run();
            assert_eq!(valid.code, 0, "{}", valid.shown());
            let rendered = ccm(&scratch, &["apply", "--render", &path, "--facts", &facts]).run();
            assert_eq!((rendered.code, &*managed(&rendered.stdout)), (0, expected), "{}", rendered.shown());
        }
    }
}

/// A database to dump.
fn prepare_dump(scratch: &Scratch) -> String {
    stand_in(scratch, "pg_dumpall", "cat database\n");
    std::fs::create_dir_all(scratch.at("etc/systemd/system")).expect("a directory");
    manifest("nightly-dump", scratch)
        .replace("runuser -u postgres -- pg_dumpall", &scratch.at("bin/pg_dumpall"))
}

/// A systemd that knows which files it has read, and whether the timer runs and is enabled.
const SYSTEMCTL: &str = r#"
shift 2
if [ "$1" != show ]; then
    echo "$@" >> called
    case $1 in
        daemon-reload) cp etc/systemd/system/* read/ ;;
        *) touch "$1" ;;
    esac
    exit
fi
case $2 in *=UnitPath) echo "UnitPath=$PWD/etc/systemd/system"; exit ;; esac
shift 3
for unit; do
    echo "Id=$unit"
    if [ -e "read/$unit" ]; then echo LoadState=loaded; else echo LoadState=not-found; fi
    if cmp -s "read/$unit" "etc/systemd/system/$unit"; then echo NeedDaemonReload=no; else echo NeedDaemonReload=yes; fi
    if [ -e start ]; then echo ActiveState=active; else echo ActiveState=inactive; fi
    if [ -e enable ]; then echo UnitFileState=enabled; else echo UnitFileState=disabled; fi
    [ "${unit#*.}" != timer ] || echo Triggers=nightly-dump.service
    echo
done
"#;

#[test]
fn the_timer_is_set_up_once_and_again_after_a_change() {
    if !needs_own_mounts() {
        return;
    }
    let scratch = Scratch::new();
    let text = prepare_dump(&scratch);
    stand_in(&scratch, "systemctl", SYSTEMCTL);
    std::fs::create_dir(scratch.at("read")).expect("a directory");
    let mounts = format!(
        "mount --bind {} /usr/local/sbin\nmount -t tmpfs tmpfs /run\nmkdir -p /run/systemd/system\n",
        scratch.at("bin")
    );
    let apply = |text: &str| {
        scratch.write("manifest.yaml", text);
        ccm(&scratch, &["apply", "manifest.yaml"]).after_mounting(&mounts).run()
    };
    let mut expected = String::new();
    for (text, calls) in [
        (text.clone(), "daemon-reload\nenable -- nightly-dump.timer\nstart -- nightly-dump.timer\n"),
        (text.replace("02:30", "03:30"), "daemon-reload\nrestart -- nightly-dump.timer\n"),
        // systemd reads the service of a timer again together with the timer.
        (text.replace("Nice=10", "Nice=15"), "daemon-reload\nrestart -- nightly-dump.timer\n"),
    ] {
        let called = apply(&text);
        assert_eq!(called.code, 0, "{}", called.shown());
        expected += calls;
        assert_eq!(scratch.read("called").as_ref(), Some(&expected), "{}", called.shown());
        assert_all_unchanged(&apply(&text), 6);
    }
}

#[test]
fn dumps_are_complete_and_old_ones_are_removed() {
    let scratch = Scratch::new();
    let text = prepare_dump(&scratch);
    // The service needs all but the timer, whatever the machine starts it with.
    let service = format!("file#{}", scratch.at("etc/systemd/system/nightly-dump.service"));
    let called = apply(&scratch, &text, &["--only", &service]);
    assert_eq!(called.code, 0, "{}", called.shown());
    let dump = || Command::new(scratch.at("usr/local/sbin/nightly-dump")).output().expect("the script");
    let kept = || {
        let entries = std::fs::read_dir(scratch.at("var/backups/nightly-dump")).expect("the dumps");
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"))
            .collect();
        names.sort();
        names
    };
    let old: Vec<String> = (1..=8).map(|day| format!("2020-01-0{day}T023000Z.sql.gz")).collect();
    for name in &old {
        scratch.write(&format!("var/backups/nightly-dump/{name}"), "");
    }
    // There is no database yet.
    assert!(!dump().status.success());
    assert_eq!(kept(), old);
    scratch.write("database", "all of it\n");
    let output = dump();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let names = kept();
    assert_eq!((names.len(), &names[..6]), (7, &old[2..]));
    let newest = scratch.at(&format!("var/backups/nightly-dump/{}", names[6]));
    let output = Command::new("gzip").args(["-dc", &newest]).output().expect("gzip");
    assert_eq!(output.stdout, b"all of it\n");
}

#[test]
#[cfg(feature = "archive")]
fn a_new_version_of_the_exporter_is_complete_before_the_link_leads_to_it() {
    use ccm_host::sha256;
    use ccm_testkit::{TarFile, WebServer, answer, tar};

    let scratch = Scratch::new();
    let tarball = |version: &str| {
        let directory = format!("node_exporter-{version}.linux-amd64");
        let (program, licence) = (format!("{directory}/node_exporter"), format!("{directory}/LICENSE"));
        let packed = tar(&[
            TarFile { path: &program, mode: 0o755, content: version.as_bytes(), link: None },
            TarFile { path: &licence, mode: 0o644, content: b"licence\n", link: None },
        ]);
        scratch.write("packed", packed);
        Command::new("gzip").args(["-c", &scratch.at("packed")]).output().expect("gzip").stdout
    };
    let tarballs = ["1.9.1", "1.9.2", "1.9.3"].map(|version| {
        let name = format!("node_exporter-{version}.linux-amd64.tar.gz");
        (version, format!("GET /v{version}/{name}"), name, tarball(version))
    });
    let sums = tarballs.each_ref().map(|(_, _, _, content)| sha256(content));
    let server = WebServer::start(move |request, stream| {
        let of_list = |version: &str| request.line == format!("GET /v{version}/sha256sums.txt");
        if let Some((_, _, name, content)) = tarballs.iter().find(|(version, ..)| of_list(version)) {
            return answer(stream, "200 OK", &[], format!("{}  {name}\n", sha256(content)).as_bytes());
        }
        match tarballs.iter().find(|(_, line, ..)| *line == request.line) {
            Some((_, _, _, content)) => answer(stream, "200 OK", &[], content),
            None => answer(stream, "404 Not Found", &[], b""),
        }
    });
    scratch.write("manifest.yaml", manifest("node-exporter", &scratch));
    scratch.write("machine.yaml", "host: {info: {platformFamily: debian, kernelArch: x86_64}}\n");
    std::fs::create_dir_all(scratch.at("etc/systemd/system")).expect("a directory");
    let link = format!("file#{}", scratch.at("opt/node_exporter/current"));
    let directory = format!("file#{}", scratch.at("opt/node_exporter"));
    let apply = |version: &str, checksum: &str| {
        let data = [
            format!("server={}", server.url("")),
            format!("version={version}"),
            format!("checksum={checksum}"),
        ];
        let given = data.iter().filter(|pair| !pair.ends_with('=')).flat_map(|pair| ["--data", pair]);
        let options =
            ["apply", "manifest.yaml", "--facts", "machine.yaml", "--only", &directory, "--only", &link];
        ccm(&scratch, &options).args(&given.collect::<Vec<_>>()).run()
    };
    let current = || scratch.read("opt/node_exporter/current/node_exporter");
    // Once by the list of the server, and once by a checksum of one's own.
    for (version, checksum) in [("1.9.1", ""), ("1.9.2", &*sums[1])] {
        let called = apply(version, checksum);
        assert_eq!((called.code, current().as_deref()), (0, Some(version)), "{}", called.shown());
        let requests = server.requests().len();
        let again = apply(version, checksum);
        assert!(again.code == 0 && again.stdout.contains(": 3 unchanged; 4 skipped"), "{}", again.shown());
        assert_eq!(server.requests().len(), requests, "a run with nothing to do asks nobody");
    }
    // Another file than the expected one changes nothing, and the old version stays.
    let refused = apply("1.9.3", &sums[0]);
    assert_eq!((refused.code, current().as_deref()), (4, Some("1.9.2")), "{}", refused.shown());
    assert!(refused.stdout.contains("is not the file that was expected"), "{}", refused.shown());
    assert!(!scratch.has("opt/node_exporter/1.9.3/node_exporter"));
    assert!(scratch.has("opt/node_exporter/1.9.1/node_exporter"), "to go back");
}
