//! Files that another user made far longer than any that ccm reads.

use ccm_testkit::Scratch;

use crate::{ccm, in_place};

/// Limit of CPU time. A call that reads such a file to its end is killed by it.
const CPU_LIMIT: &str = "ulimit -t 10";

/// Makes a sparse file of 8 TiB, as far as the filesystem allows.
fn sparse(scratch: &Scratch, name: &str) {
    let file = std::fs::File::create(scratch.path().join(name)).expect("a file");
    file.set_len(8 << 40).or_else(|_| file.set_len(1 << 40)).expect("a long file");
}

#[test]
fn expression_does_not_read_a_file_that_is_too_long() {
    let scratch = Scratch::new();
    sparse(&scratch, "long");
    let called = ccm(&scratch, &["eval", &format!("file('{}')", scratch.at("long"))]).after(CPU_LIMIT).run();
    assert_eq!(called.code, 1, "{called:?}");
    assert!(called.stderr.contains("`[dir]/long` can't be read: file too large"), "{called:?}");
}

#[test]
fn environment_file_that_is_too_long_is_not_read() {
    let scratch = Scratch::new();
    sparse(&scratch, ".env");
    scratch.write("manifest.yaml", "ccm: {resources: [{exec: [{'echo ${ Environ.HOME }': {}}]}]}\n");
    let called = ccm(&scratch, &["apply", "manifest.yaml"]).after(CPU_LIMIT).run();
    assert_eq!(called.code, 1, "{called:?}");
    assert!(called.stderr.contains(".env\" is longer than 67108864 bytes"), "{called:?}");
}

#[test]
fn managed_file_that_its_owner_made_too_long_is_replaced_unread() {
    let scratch = Scratch::new();
    scratch.write("source", "managed\n");
    for (property, diff) in [("content: \"managed\\n\"", &[][..]), ("source: source", &["--diff"])] {
        sparse(&scratch, "f");
        let file = format!("\n        - '[dir]/f': {{{property}}}\n");
        let file = in_place(&scratch, &file);
        scratch.write("manifest.yaml", format!("ccm:\n  resources:\n    - file:{file}"));
        for noop in [&["--noop"][..], &[]] {
            let call = ccm(&scratch, &["apply", "manifest.yaml", "-v"]).args(diff).args(noop);
            let called = call.after(CPU_LIMIT).run();
            assert_eq!(called.code, 0, "{called:?}");
            assert!(called.stdout.contains("the content differs"), "{called:?}");
        }
        assert_eq!(scratch.read("f").as_deref(), Some("managed\n"));
    }
}
