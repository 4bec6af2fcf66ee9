//! Packages as the tools of the distributions see them.

use std::process::Output as ToolOutput;

use super::item::FileRole;
use super::*;

fn items() -> PackageItems {
    let mut items = PackageItems::default();
    let long = format!("usr/share/doc/ccm/{}/{}.md", "d".repeat(80), "f".repeat(80));
    for (path, item) in [
        ("usr/bin/ccm", PackageItem::program("#!/bin/sh\necho ccm\n")),
        ("etc/ccm", PackageItem::directory()),
        ("etc/default/ccm", PackageItem::file("#CCM_TIMEOUT=20m\n").with_role(FileRole::Configuration)),
        ("usr/share/doc/ccm/LICENSE", PackageItem::file("free\n").with_role(FileRole::License)),
        (&*long, PackageItem::file("").with_role(FileRole::Documentation)),
    ] {
        items.add(path, item).expect("an item");
    }
    items
}

fn linkage() -> Linkage {
    Linkage {
        interpreter: Some("/lib64/ld-linux-x86-64.so.2".to_owned()),
        libraries: ["libc.so.6".to_owned()].into(),
        versions: [("libc.so.6".to_owned(), ["GLIBC_2.17".to_owned()].into())].into(),
    }
}

fn write_to(directory: &Path, name: &str, content: &[u8]) -> PathBuf {
    let path = directory.join(name);
    fs::write(&path, content).expect("a file");
    path
}

/// Returns the output of a tool; without the tool, prints that the test is skipped.
fn tool(program: &str, arguments: &[&str], directory: &Path) -> Option<ToolOutput> {
    let output = Command::new(program).args(arguments).current_dir(directory).output().ok();
    if output.is_none() {
        println!("skipped: {program} is not installed");
    }
    output
}

fn stdout(output: &ToolOutput) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn debian_package_has_its_members_in_order() {
    let scratch = tempfile::tempdir().expect("a directory");
    let package = deb::build(&Release::for_tests(), &linkage(), &items().with_parents()).expect("a package");
    write_to(scratch.path(), "ccm.deb", &package);
    let Some(members) = tool("ar", &["t", "ccm.deb"], scratch.path()) else { return };
    assert_eq!(stdout(&members), "debian-binary\ncontrol.tar.gz\ndata.tar.gz\n");
}

#[test]
fn dpkg_reads_the_debian_package() {
    let scratch = tempfile::tempdir().expect("a directory");
    let items = items().with_parents();
    let package = deb::build(&Release::for_tests(), &linkage(), &items).expect("a package");
    let path = write_to(scratch.path(), "ccm.deb", &package);
    let Some(fields) = tool("dpkg-deb", &["--field", "ccm.deb"], scratch.path()) else { return };
    let fields = stdout(&fields);
    for line in ["Package: ccm", "Version: 0.1.0-1", "Architecture: amd64", "Depends: libc6 (>= 2.17)"] {
        assert!(fields.lines().any(|found| found == line), "{line}: {fields}");
    }
    let listed = stdout(&tool("dpkg-deb", &["--contents", "ccm.deb"], scratch.path()).expect("dpkg-deb"));
    let program = listed.lines().find(|line| line.ends_with("./usr/bin/ccm")).expect("the program");
    assert!(program.starts_with("-rwxr-xr-x root/root        19 2023-11-14"), "{program}");
    let control = scratch.path().join("control");
    let unpacked = tool("dpkg-deb", &["--control", "ccm.deb", "control"], scratch.path()).expect("dpkg-deb");
    stdout(&unpacked);
    let read = |name: &str| fs::read_to_string(control.join(name)).expect(name);
    assert_eq!(read("conffiles"), "/etc/default/ccm\n");
    assert!(read("md5sums").contains("  usr/bin/ccm\n") && !read("md5sums").contains("etc/default"));
    for script in ["postinst", "prerm", "postrm"] {
        assert!(read(script).starts_with("#!/bin/sh\n"), "{script}");
    }
    verify::check_deb(&path, &items.iter().map(|(path, _)| path.to_owned()).collect())
        .expect("the same paths");
    verify::check_deb(&path, &BTreeSet::new()).expect_err("other paths");
}

#[test]
fn rpm_reads_the_rpm_package() {
    let scratch = tempfile::tempdir().expect("a directory");
    let items = items().with_own_directories(&["usr/share/doc/ccm"]);
    let package = rpm::build(&Release::for_tests(), &linkage(), &items).expect("a package");
    let path = write_to(scratch.path(), "ccm.rpm", &package);
    let query = |arguments: &[&str]| {
        let database = scratch.path().join("database").display().to_string();
        let arguments = [&["--dbpath", &database, "--query", "--package", "ccm.rpm"], arguments].concat();
        tool("rpm", &arguments, scratch.path()).map(|output| stdout(&output))
    };
    let Some(listed) = query(&["--queryformat", "[%{FILEMODES:perms} %{FILENAMES} %{FILESIZES}\n]"]) else {
        return;
    };
    assert!(listed.contains("-rwxr-xr-x /usr/bin/ccm 19\n"), "{listed}");
    assert!(listed.contains("drwxr-xr-x /etc/ccm 0\n") && !listed.contains(" /usr/bin "), "{listed}");
    let one = |arguments: &[&str]| query(arguments).expect("rpm");
    assert_eq!(one(&["--configfiles"]), "/etc/default/ccm\n");
    let requires = one(&["--requires"]);
    for line in ["/bin/sh", "libc.so.6()(64bit)", "libc.so.6(GLIBC_2.17)(64bit)"] {
        assert!(requires.lines().any(|found| found == line), "{line}: {requires}");
    }
    assert!(one(&["--provides"]).contains("ccm = 0.1.0-1\n"));
    assert!(one(&["--scripts"]).contains("preuninstall scriptlet (using /bin/sh):"));
    assert!(one(&["--info"]).contains("License     : Apache-2.0\n"));
    verify::check_rpm(&path, &items.iter().map(|(path, _)| path.to_owned()).collect())
        .expect("the same paths");
    let mut damaged = package;
    *damaged.last_mut().expect("a byte") ^= 1;
    fs::write(&path, damaged).expect("a file");
    verify::check_rpm(&path, &items.iter().map(|(path, _)| path.to_owned()).collect())
        .expect_err("a checksum");
}

#[test]
fn rpm_unpacks_the_same_content() {
    let scratch = tempfile::tempdir().expect("a directory");
    let package = rpm::build(&Release::for_tests(), &linkage(), &items()).expect("a package");
    write_to(scratch.path(), "ccm.rpm", &package);
    let Some(archive) = tool("rpm2cpio", &["ccm.rpm"], scratch.path()) else { return };
    stdout(&archive);
    let text = String::from_utf8_lossy(&archive.stdout);
    assert!(
        text.starts_with("070701") && text.contains("#!/bin/sh\necho ccm\n") && text.contains("TRAILER!!!")
    );
}

#[test]
fn archive_has_one_directory_and_its_checksums() {
    let scratch = tempfile::tempdir().expect("a directory");
    let archive = archive_of("ccm-0.1.0", &items(), 1_700_000_000).expect("an archive");
    write_to(scratch.path(), "ccm.tar.gz", &archive);
    let Some(unpacked) = tool("tar", &["-xzf", "ccm.tar.gz"], scratch.path()) else { return };
    stdout(&unpacked);
    verify::check_checksums(&scratch.path().join("ccm-0.1.0")).expect("right checksums");
    fs::write(scratch.path().join("ccm-0.1.0/etc/default/ccm"), "edited").expect("a file");
    let error = verify::check_checksums(&scratch.path().join("ccm-0.1.0")).expect_err("an error");
    assert_eq!(error, "SHA256SUMS: \"etc/default/ccm\" has another checksum");
    let listed = stdout(&tool("tar", &["-tvzf", "ccm.tar.gz"], scratch.path()).expect("tar"));
    assert!(listed.lines().all(|line| line.starts_with('-') && line.contains(" root/root ")), "{listed}");
}

/// Every link of an installed page leads to an installed file.
#[test]
fn pages_of_the_checkout_are_installed_with_their_links() {
    let root = root().expect("the checkout");
    let generated = Generated::default();
    let parts =
        LayoutInputs { generated: &generated, bill_of_materials: "{}\n", third_party_licenses: "text\n" };
    for convention in [Convention::Debian, Convention::RedHat] {
        let items = layout::items(&root, b"program", &parts, convention).expect("items");
        let paths: BTreeSet<&str> = items.iter().map(|(path, _)| path).collect();
        for path in [
            "usr/lib/systemd/system/ccm-apply@.service",
            "usr/lib/systemd/system/ccm-apply@.timer",
            "usr/lib/systemd/system/ccm-tool.socket",
            "usr/lib/systemd/system/ccm-tool@.service",
            "usr/share/doc/ccm/reference/running.md",
            "usr/share/doc/ccm/examples/hello.yaml",
            "usr/share/doc/ccm/manifests/base.yaml",
            "etc/ccm/facts.d",
        ] {
            assert!(paths.contains(path), "{path}");
        }
        for (path, content) in items.files().filter(|(path, _)| layout::is_page(path)) {
            let text = String::from_utf8_lossy(content);
            for (_, link) in links::links(&text) {
                let target = links::joined(path, link.split('#').next().unwrap_or_default());
                let is_elsewhere = link.starts_with('#') || link.contains("://");
                assert!(is_elsewhere || paths.contains(&*target), "{path}: {link}");
            }
        }
    }
}

#[test]
fn units_of_the_checkout_start_the_installed_program() {
    let root = root().expect("the checkout");
    let unit = fs::read_to_string(root.join("packaging/systemd/ccm-apply@.service")).expect("the unit");
    assert!(unit.lines().any(|line| line.starts_with("ExecStart=/usr/bin/ccm apply ")), "{unit}");
    let unit = fs::read_to_string(root.join("packaging/systemd/ccm-tool@.service")).expect("the unit");
    assert!(unit.lines().any(|line| line.starts_with("ExecStart=/usr/bin/ccm mcp --service ")), "{unit}");
}

#[test]
fn same_items_give_the_same_bytes() {
    let build = || {
        let items = items().with_parents();
        let deb = deb::build(&Release::for_tests(), &linkage(), &items).expect("a package");
        (deb, rpm::build(&Release::for_tests(), &linkage(), &items).expect("a package"))
    };
    assert_eq!(build(), build());
}

#[test]
fn crates_of_the_program_have_licenses_and_checksums() {
    let root = root().expect("the checkout");
    let components = components::of_program(&root).expect("the crates");
    assert!(components.keys().any(|(name, _)| name == "serde_json"));
    // Chores and tests are no part of the program.
    assert!(!components.keys().any(|(name, _)| name == "clap_mangen" || name == "proptest"));
    for ((name, _), component) in &components {
        assert!(component.license.is_some(), "{name}");
        assert!(component.checksum.is_some() || name.starts_with("ccm-"), "{name}");
    }
}
