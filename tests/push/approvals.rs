//! A host whose policy asks for an approval, which is signed where the push comes from.

use std::process::Command;

use ccm_testkit::{Scratch, needs_own_mounts, repository};

/// A machine of its own, whose policy asks before `touch`; the host is the machine itself.
const TEST: &str = r#"
set -eu
mount --make-rprivate /
cp -a /etc etc-copy
mount --bind etc-copy /etc
mount -t tmpfs tmpfs /var/lib
rm -rf /etc/ccm
mkdir -m 755 /etc/ccm
mkdir -p home site
unset SUDO_USER SSH_AUTH_SOCK
export HOME="$PWD/home" TOP="$PWD" LC_ALL=C.UTF-8
ssh-keygen -q -t ed25519 -N '' -C alice -f key
echo "alice $(cat key.pub)" > /etc/ccm/approvers
cat > /etc/ccm/policy.yaml <<END
ccm_policy: 1
rules:
  - {name: touches, match: {program: touch}, ask: true}
END
chmod 644 /etc/ccm/*
cat > site/site.yaml <<END
ccm: {name: site, resources: [{exec: [{make it: {command: touch $PWD/made, cwd: /}}]}]}
END
push() { "$CCM" push "$@" --state-dir "$TOP/state"; }
fails() { found=0; "$@" > out 2>&1 || found=$?; cat out; test "$found" = 4 || { echo "exit code $found"; exit 99; }; }
code() { sed -n 's/^asks1: \([A-Z0-9]*\) waits for an approval$/\1/p' out; }

fails push asks1 site/site.yaml
grep -q 'hint: `ssh HOST ccm approvals export CODE > statement`' out
CODE=$(code)
test ! -e made
"$CCM" approvals export "$CODE" > statement
ssh-keygen -q -Y sign -n ccm-approval@v1 -f key statement
"$CCM" approve "$CODE" --signature statement.sig
push asks1 site/site.yaml > out
grep -q '1 host: 1 changed' out
test -e made

# One command is judged alike.
fails push asks1 --run "touch $PWD/other"
test -n "$(code)"
test ! -e other
echo finished
"#;

#[test]
fn what_a_host_asks_is_shown_with_its_code_and_approved_from_here() {
    if !needs_own_mounts() {
        return;
    }
    let scratch = Scratch::new();
    scratch.write("test.sh", TEST);
    let done = Command::new("unshare")
        .args(["-m", "sh", "test.sh"])
        .current_dir(scratch.path())
        .env("CCM", env!("CARGO_BIN_EXE_ccm"))
        .env("CCM_SSH", format!("sh {}", repository("tests/push/ssh").display()))
        .output()
        .expect("unshare");
    let shown = format!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success() && shown.contains("finished"), "{shown}");
}
