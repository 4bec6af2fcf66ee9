//! Archives that try to get out of their directory, in each format.

use ccm_testkit::Scratch;

use crate::archive::pack::{Item, ZipItem, compress, pack, pax, tar_entry, zip_items};
use crate::archive::{FORMATS, request, run, tree, words};

/// What an attack is, its entries, and the words of its refusal. A harmless file comes first.
fn attacks() -> Vec<(&'static str, Vec<Item>, &'static str)> {
    let file = |name: &str| Item::file(name, "x");
    let long_name = "n".repeat(300);
    let long_path = "d/".repeat(60).repeat(60);
    let deep = "d/".repeat(150);
    vec![
        ("absolute name", vec![file("/etc/x")], "its name is absolute"),
        ("many slashes", vec![file("///etc/x")], "its name is absolute"),
        ("parent", vec![file("../x")], "its name contains `..`"),
        ("parent inside", vec![file("a/../../x")], "its name contains `..`"),
        ("parent that stays", vec![file("a/b/../x")], "its name contains `..`"),
        ("parent at the end", vec![file("a/..")], "its name contains `..`"),
        ("absolute directory", vec![Item::directory("/tmp/x/")], "its name is absolute"),
        ("parent directory", vec![Item::directory("../x/")], "its name contains `..`"),
        ("not UTF-8", vec![Item::file(b"a\xff", "x")], "its name is not valid UTF-8"),
        ("overlong UTF-8", vec![Item::file(b"\xc0\xae\xc0\xae/x", "x")], "its name is not valid UTF-8"),
        ("long name", vec![file(&long_name)], "its name is too long or too deep"),
        ("long path", vec![file(&long_path)], "its name is too long or too deep"),
        ("deep path", vec![file(&deep)], "its name is too long or too deep"),
        ("absolute link", vec![Item::link("l", "/etc")], "it is a link to an absolute path"),
        ("link out", vec![Item::link("l", "../x")], "it is a link that could lead out of the directory"),
        ("link far out", vec![Item::link("a/l", "../../x")], "it is a link that could lead out"),
        ("link by a name", vec![Item::link("l", "a/../../x")], "it is a link that could lead out"),
        (
            "link by a link",
            vec![Item::directory("a/b"), Item::link("a/b/up", "../.."), Item::link("l", "a/b/up/../x")],
            "it is a link that could lead out",
        ),
        ("empty link", vec![Item::link("l", "")], "it is a link that could lead out"),
        ("link not UTF-8", vec![Item::link("l", b"\xff")], "its name is not valid UTF-8"),
        (
            "file through a link",
            vec![Item::directory("d"), Item::link("l", "d"), file("l/x")],
            "it is below something that is not a directory",
        ),
        (
            "directory through a link",
            vec![Item::directory("d"), Item::link("l", "d"), Item::directory("l/x")],
            "it is below something that is not a directory",
        ),
        (
            "link through a link",
            vec![Item::link("l", "d"), Item::link("l/x", "y")],
            "it is below something that is not a directory",
        ),
        ("below a file", vec![file("f"), file("f/x")], "it is below something that is not a directory"),
        ("file over a link", vec![Item::link("l", "x"), file("l")], "the archive has this name twice"),
        ("link over a file", vec![file("f"), Item::link("f", "x")], "the archive has this name twice"),
        ("file twice", vec![file("f"), file("f")], "the archive has this name twice"),
        ("file twice by a dot", vec![file("f"), file("./f")], "the archive has this name twice"),
        ("file twice by a slash", vec![file("d/f"), file("d//f")], "the archive has this name twice"),
        ("file over a directory", vec![Item::directory("d"), file("d")], "the archive has this name twice"),
        (
            "directory over a file",
            vec![file("d"), Item::directory("d")],
            "it is below something that is not a directory",
        ),
        (
            "directory over a link",
            vec![Item::link("d", "x"), Item::directory("d")],
            "it is below something that is not a directory",
        ),
        ("set-user-ID", vec![file("f").with_mode(0o4755)], "it has a set-user-ID or set-group-ID bit"),
        ("set-group-ID", vec![file("f").with_mode(0o2755)], "it has a set-user-ID or set-group-ID bit"),
        (
            "set-group-ID directory",
            vec![Item::directory("d").with_mode(0o2775)],
            "it has a set-user-ID or set-group-ID bit",
        ),
        ("device", vec![Item::of_kind("d", b'3')], "it is a device"),
        ("pipe", vec![Item::of_kind("p", b'6')], "it is a pipe or a socket"),
        ("temporary name", vec![file(".a.files.ccm-new/x")], "the archive has this name twice"),
    ]
}

/// Attacks that only tar knows.
fn tar_attacks() -> Vec<(&'static str, Vec<Item>, &'static str)> {
    let file = |name: &str| Item::file(name, "x");
    vec![
        ("block device", vec![Item::of_kind("d", b'4')], "it is a device"),
        ("hard link out", vec![Item::hard_link("h", "/etc/passwd")], "it is a hard link to something"),
        ("hard link up", vec![Item::hard_link("h", "../x")], "it is a hard link to something"),
        ("hard link to nothing", vec![Item::hard_link("h", "missing")], "it is a hard link to something"),
        ("hard link to itself", vec![Item::hard_link("h", "h")], "it is a hard link to something"),
        (
            "hard link to a link",
            vec![Item::link("l", "x"), Item::hard_link("h", "l")],
            "it is a hard link to something",
        ),
        (
            "hard link through a link",
            vec![file("d/f"), Item::link("l", "d"), Item::hard_link("h", "l/f")],
            "it is a hard link to something",
        ),
        (
            "hard link to a directory",
            vec![Item::directory("d"), Item::hard_link("h", "d")],
            "it is a hard link to something",
        ),
        (
            "hard link over a file",
            vec![file("f"), file("g"), Item::hard_link("g", "f")],
            "the archive has this name twice",
        ),
        ("absolute pax name", vec![pax(&[("path", "/etc/x")]), file("f")], "its name is absolute"),
        ("pax name up", vec![pax(&[("path", "../x")]), file("f")], "its name contains `..`"),
        ("pax name with NUL", vec![pax(&[("path", "a\0b")]), file("f")], "its name contains a character"),
        (
            "pax link out",
            vec![pax(&[("linkpath", "/etc")]), Item::link("l", "x")],
            "it is a link to an absolute path",
        ),
        (
            "long name up",
            vec![Item { kind: b'L', ..Item::file("L", "../../x\0") }, file("f")],
            "its name contains `..`",
        ),
        (
            "long link out",
            vec![Item { kind: b'K', ..Item::file("K", "/etc\0") }, Item::link("l", "x")],
            "it is a link to an absolute path",
        ),
        ("sparse", vec![Item::of_kind("s", b'S')], "it is a sparse file"),
        ("sparse by pax", vec![pax(&[("GNU.sparse.major", "1")]), file("f")], "it is a sparse file"),
        ("continued volume", vec![Item::of_kind("v", b'M')], "it continues a file of another volume"),
        ("empty name", vec![file("")], "its name is empty"),
    ]
}

/// Extracts, and checks that the attack is refused by its words and leaves nothing.
fn assert_refused(what: &str, format: &str, bytes: &[u8], refusal: &str) {
    let scratch = Scratch::new();
    scratch.write("x", "outside\n");
    let error = run(request(&scratch, &format!("a{format}"), bytes)).expect_err(what);
    // The name of the temporary directory holds that of the archive.
    let told = words(&error, &scratch);
    assert!(told.contains(refusal), "{what} in {format}: {told}");
    assert!(!error.changed(), "{what} in {format}");
    assert_eq!(tree(&scratch), [""; 0], "{what} in {format}");
    assert_eq!(scratch.names(), [&format!("a{format}"), "out", "x"], "{what} in {format}");
    assert_eq!(scratch.read("x").as_deref(), Some("outside\n"), "{what} in {format}");
}

#[test]
fn every_attack_is_refused_in_every_format() {
    let attacks = attacks();
    assert!(attacks.len() >= 30, "{} attacks", attacks.len());
    for format in FORMATS {
        for (what, items, refusal) in &attacks {
            let mut items = items.clone();
            for item in &mut items {
                let own = format!(".a{format}.files.ccm-new");
                if item.name.starts_with(b".a.files") {
                    item.name = format!("{own}/x").into_bytes();
                }
            }
            items.insert(0, Item::file("harmless", "x"));
            assert_refused(what, format, &pack(format, &items), refusal);
        }
    }
}

/// Names that differ in case alone are different names here. Where they are not, `O_EXCL` finds the second one.
#[test]
fn names_that_differ_in_case_lead_nowhere_in_any_format() {
    let file = |name: &str, content: &str| Item::file(name, content);
    let own_name = |format: &str| format!(".A{format}.FILES.CCM-NEW/x");
    for format in FORMATS {
        for (what, items, expected) in [
            ("files", vec![file("f", "1"), file("F", "2")], vec!["F", "f"]),
            (
                "a file through a link",
                vec![Item::directory("d"), Item::link("Link", "d"), file("link/x", "2")],
                vec!["Link -> d", "d/", "link/", "link/x"],
            ),
            (
                "a directory over a link",
                vec![Item::link("Link", "f"), Item::directory("LINK"), file("LINK/x", "2")],
                vec!["LINK/", "LINK/x", "Link -> f"],
            ),
            ("a link over a file", vec![file("f", "1"), Item::link("F", "f")], vec!["F -> f", "f"]),
            (
                "letters of other scripts",
                vec![file("\u{e4}", "1"), file("\u{c4}", "2")],
                vec!["\u{c4}", "\u{e4}"],
            ),
            (
                "letters that fold to others",
                vec![file("\u{212a}", "1"), file("k", "2"), file("K", "3")],
                vec!["K", "k", "\u{212a}"],
            ),
        ] {
            let scratch = Scratch::new();
            scratch.write("x", "outside\n");
            run(request(&scratch, &format!("a{format}"), &pack(format, &items))).expect(what);
            assert_eq!(tree(&scratch), expected, "{what} in {format}");
            assert_eq!(scratch.read("x").as_deref(), Some("outside\n"), "{what} in {format}");
            assert_eq!(scratch.names(), [&format!("a{format}"), "out", "x"], "{what} in {format}");
        }
        let scratch = Scratch::new();
        let name = own_name(format);
        run(request(&scratch, &format!("a{format}"), &pack(format, &[file(&name, "x")]))).expect("a name");
        assert_eq!(tree(&scratch), [&name[..name.len() - 1], &name], "the temporary name in {format}");
    }
}

/// Two names of one file in a zip file that differ in case are two opinions about the file.
#[test]
fn names_of_a_zip_entry_that_differ_in_case_are_refused() {
    let entry = ZipItem { local_name: b"NAME".to_vec(), ..ZipItem::of(&Item::file("name", "x")) };
    assert_refused("local name", ".zip", &zip_items(&[entry]), "its header contradicts the directory");
}

#[test]
fn every_attack_of_tar_is_refused() {
    for (what, items, refusal) in &tar_attacks() {
        for format in [".tar", ".tar.gz"] {
            let mut items = items.clone();
            items.insert(0, Item::file("harmless", "x"));
            // Without the long names that `pack` adds.
            let mut bytes: Vec<u8> = items.iter().flat_map(tar_entry).collect();
            bytes.extend([0; 1024]);
            assert_refused(what, format, &compress(format, &bytes), refusal);
        }
    }
}

#[test]
fn names_in_messages_are_escaped_and_cut() {
    let scratch = Scratch::new();
    let name = format!("/\x1b[2J{}", "n".repeat(90));
    let error =
        run(request(&scratch, "a.tar", &pack(".tar", &[Item::file(&name, "x")]))).expect_err("a name");
    let told = words(&error, &scratch);
    assert!(told.contains("\\u{1b}[2J") && !told.contains('\x1b'), "{told}");
}
