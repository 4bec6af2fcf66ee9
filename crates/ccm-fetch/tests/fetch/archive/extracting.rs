//! What comes out of proper archives, also of those that the programs of the system write.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::time::Duration;

use ccm_fetch::ExtractRequest;
use ccm_testkit::{Scratch, needs_root, shell, skipped};

use crate::archive::pack::{Item, pack, pax, tar};
use crate::archive::{FORMATS, request, run, tree, words};

fn items() -> Vec<Item> {
    vec![
        Item::directory("./"),
        Item::directory("app-1.0/"),
        Item::file("app-1.0/bin/app", "#!/bin/sh\n").with_mode(0o775),
        Item::file("app-1.0/README", "read me\n").with_mode(0o666),
        Item::link("app-1.0/bin/run", "app"),
        Item::link("app-1.0/bin/readme", "../README"),
    ]
}

#[test]
fn every_format_is_extracted() {
    for format in FORMATS {
        let scratch = Scratch::new();
        let extracted = run(request(&scratch, &format!("a{format}"), &pack(format, &items()))).expect(format);
        assert_eq!((extracted.files, extracted.directories, extracted.bytes), (4, 2, 18), "{format}");
        assert_eq!(
            tree(&scratch),
            [
                "app-1.0/",
                "app-1.0/README",
                "app-1.0/bin/",
                "app-1.0/bin/app",
                "app-1.0/bin/readme -> ../README",
                "app-1.0/bin/run -> app"
            ],
            "{format}"
        );
        assert_eq!(scratch.read("out/app-1.0/README").as_deref(), Some("read me\n"));
        let mode = |name: &str| {
            std::fs::metadata(scratch.path().join(name)).expect("a file").permissions().mode() & 0o7777
        };
        // Nobody else may write.
        assert_eq!((mode("out/app-1.0/bin/app"), mode("out/app-1.0/README")), (0o755, 0o644), "{format}");
    }
}

#[test]
fn leading_parts_are_removed() {
    for format in FORMATS {
        let scratch = Scratch::new();
        let mut items = items();
        items.push(Item::file("top", "not extracted"));
        let request = request(&scratch, &format!("a{format}"), &pack(format, &items));
        run(ExtractRequest { strip_components: 1, ..request }).expect(format);
        assert_eq!(
            tree(&scratch),
            ["README", "bin/", "bin/app", "bin/readme -> ../README", "bin/run -> app"]
        );
    }
    let scratch = Scratch::new();
    // What is inside with the leading part is outside without it.
    let items = [Item::file("app/x", "x"), Item::link("app/l", "../app/x")];
    let request = request(&scratch, "a.tar", &tar(&items));
    let error = run(ExtractRequest { strip_components: 1, ..request }).expect_err("a link out");
    assert!(words(&error, &scratch).contains("could lead out"), "{error}");
}

#[test]
fn hard_links_inside_are_kept() {
    let scratch = Scratch::new();
    let items = [Item::file("top/d/f", "x"), Item::hard_link("top/h", "top/d/f")];
    let request = request(&scratch, "a.tar", &tar(&items));
    run(ExtractRequest { strip_components: 1, ..request }).expect("two names");
    let inode = |name: &str| std::fs::metadata(scratch.path().join(name)).expect("a file").ino();
    assert_eq!(inode("out/d/f"), inode("out/h"));
}

#[test]
fn pax_names_and_times_are_used() {
    let scratch = Scratch::new();
    let global = Item { kind: b'g', ..pax(&[("comment", "0123456789"), ("path", "/etc/x")]) };
    let name = format!("{}/ä", "long".repeat(60));
    let items = [global, pax(&[("path", &name), ("mtime", "1000000000.5")]), Item::file("short", "x")];
    run(request(&scratch, "a.tar", &tar(&items))).expect("a file");
    let metadata = std::fs::metadata(scratch.path().join("out").join(&name)).expect("the file");
    assert_eq!(metadata.mtime(), 1_000_000_000);
}

#[test]
fn everything_belongs_to_the_owner() {
    if !needs_root() {
        return;
    }
    let scratch = Scratch::new();
    let request = request(&scratch, "a.tar", &tar(&items()));
    run(ExtractRequest { uid: Some(12), gid: Some(34), ..request }).expect("files");
    for name in ["", "/bin", "/bin/app", "/README", "/bin/run"] {
        let path = scratch.path().join(format!("out/app-1.0{name}"));
        let metadata = std::fs::symlink_metadata(path).expect("a file");
        assert_eq!((metadata.uid(), metadata.gid()), (12, 34), "{name}");
    }
}

#[test]
fn archives_of_the_system_are_extracted() {
    for (command, format) in [
        ("tar -cf", ".tar"),
        ("tar --format=pax -cf", ".tar"),
        ("tar --format=v7 -cf", ".tar"),
        ("tar -czf", ".tar.gz"),
        ("tar -cjf", ".tar.bz2"),
        ("tar -cJf", ".tar.xz"),
        ("tar --zstd -cf", ".tar.zst"),
        ("zip -qry", ".zip"),
        ("python3 -m zipfile -c", ".zip"),
    ] {
        let scratch = Scratch::new();
        let name = format!("a{format}");
        let made = shell(
            &format!(
                "mkdir -p in/sub && echo one > in/one && echo two > 'in/sub/zwei ä' && chmod 755 in/one && \
                 {command} {name} in 2>/dev/null && echo made"
            ),
            scratch.path(),
        );
        let Some(bytes) = std::fs::read(scratch.path().join(&name)).ok().filter(|_| made == "made\n") else {
            skipped(&format!("no `{command}`"));
            continue;
        };
        run(request(&scratch, &name, &bytes)).expect(command);
        assert_eq!(tree(&scratch), ["in/", "in/one", "in/sub/", "in/sub/zwei ä"], "{command}");
        assert_eq!(scratch.read("out/in/one").as_deref(), Some("one\n"), "{command}");
    }
}

#[test]
fn an_archive_of_nothing_is_an_error() {
    for format in FORMATS {
        let scratch = Scratch::new();
        let error = run(request(&scratch, &format!("a{format}"), &pack(format, &[]))).expect_err(format);
        assert_eq!(words(&error, &scratch), "the archive holds nothing to extract");
        let request = request(&scratch, &format!("a{format}"), &pack(format, &[Item::file("a", "x")]));
        let error = run(ExtractRequest { strip_components: 1, ..request }).expect_err(format);
        assert_eq!(error.hint(), Some("lower `strip_components`"));
    }
}

#[test]
fn the_time_limit_ends_an_extraction() {
    let scratch = Scratch::new();
    let request = request(&scratch, "a.tar", &tar(&items()));
    let error = run(ExtractRequest { timeout: Some(Duration::ZERO), ..request }).expect_err("a limit");
    assert_eq!(error.hint(), Some("raise `timeout`"));
    assert_eq!(tree(&scratch), [""; 0]);
}

#[test]
fn a_cancellation_ends_an_extraction() {
    let scratch = Scratch::new();
    let (source, cancellation) = ccm_host::CancellationSource::new();
    source.raise(ccm_host::CancellationLevel::Stop);
    let content = vec![b'x'; 32 << 20];
    let request = request(&scratch, "a.tar.zst", &pack(".tar.zst", &[Item::file("f", content)]));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let request = ExtractRequest { max_size: 1 << 30, ..request };
    let result = runtime.block_on(ccm_fetch::extract(request, &cancellation));
    assert!(result.is_err(), "{result:?}");
    assert_eq!(tree(&scratch), [""; 0]);
}
