//! The pages about pushes: every command of them runs.

use std::fs;

use ccm_testkit::{Scratch, repository, shell};

/// Stand-ins: hosts are this machine, and nobody becomes root.
const TOOLS: &str = r#"
mkdir tools home
printf '#!/bin/sh\nshift 2\nexec "$@"\n' > sudo
cat > tools/ccm <<'END'
#!/bin/sh
exec "$CCM" "$@"
END
chmod 755 tools/ccm sudo
"#;

#[test]
fn the_commands_of_the_pages_do_what_they_say() {
    for name in ["push.md", "push-from-ansible.md"] {
        let page = fs::read_to_string(repository("docs/use").join(name)).expect("a page");
        let scratch = Scratch::new();
        shell(TOOLS, scratch.path());
        let blocks: Vec<&str> = page
            .split("```sh\n")
            .skip(1)
            .filter_map(|rest| rest.split_once("```"))
            .map(|(block, _)| block)
            .collect();
        assert!(blocks.len() >= 5, "{name}");
        for block in blocks {
            let block = block
                .replace("/etc/motd", &scratch.at("data/motd"))
                .replace("/etc/app.conf", &scratch.at("data/motd"));
            let (top, ccm, ssh) = (scratch.at(""), env!("CARGO_BIN_EXE_ccm"), repository("tests/push/ssh"));
            let set = format!(
                "set -e; export TOP={top} CCM={ccm} CCM_SSH='sh {}' HOME={top}/home CCM_STATE_DIR={top}/state \
                 PATH={top}/tools:/usr/bin:/bin\n",
                ssh.display()
            );
            let printed = shell(&format!("{set}{block}\necho 'the end'"), scratch.path());
            assert!(printed.ends_with("the end\n"), "{name}: {block}\n{printed}");
        }
        assert!(scratch.has("hosts/192.0.2.1/data/motd"), "{name}");
    }
}
