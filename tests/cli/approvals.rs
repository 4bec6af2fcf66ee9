//! `ccm approve` and `ccm approvals` on a machine with a policy: a mount namespace with an /etc and a /var/lib of its
//! own, keys made by `ssh-keygen`, and a real agent.

use std::path::Path;
use std::process::Command;

use ccm_testkit::{SOFTWARE_SECURITY_KEY, Scratch, needs_own_mounts, repository, skipped};

use crate::ccm;
use crate::terminal::binary;

/// Commands before those of a test. `ccm` is the program, `key` the key of alice, and a policy asks before `touch`.
const SETUP: &str = r#"
set -eu
mount --make-rprivate /
cp -a /etc etc-copy
mount --bind etc-copy /etc
mount -t tmpfs tmpfs /var/lib
rm -rf /etc/ccm
mkdir -m 755 /etc/ccm
unset SUDO_USER SSH_AUTH_SOCK
export HOME="$PWD/home" NO_COLOR=1 LC_ALL=C.UTF-8
mkdir -p home
ssh-keygen -q -t ed25519 -N '' -C alice -f key
echo "alice $(cat key.pub)" > /etc/ccm/approvers
cat > /etc/ccm/policy.yaml <<END
ccm_policy: 1
rules:
  - {name: touches, match: {program: touch}, ask: true}
END
chmod 644 /etc/ccm/*
cat > site.yaml <<END
ccm:
  resources:
    - exec: [{make it: {command: touch $PWD/made, cwd: /}}]
END
code() { ccm approvals | cut -c1-4; }
fails() { wanted=$1; shift; found=0; "$@" > out 2>&1 || found=$?; cat out; test "$found" = "$wanted" || { echo "exit code $found, not $wanted: $*"; exit 99; }; }
shows() { grep -q -- "$1" out || { echo "missing: $1"; cat out; exit 98; }; }
"#;

/// Makes alice a user of the machine, and a member of the group of approvers. `as_alice` runs ccm as this user.
pub(crate) const MEMBER: &str = r#"
echo 'ccm-approvers:x:4321:' >> /etc/group
echo 'alice:x:4322:4322::/var/lib/alice:/bin/sh' >> /etc/passwd
mkdir -p /var/lib/alice/.ssh
cp key /var/lib/alice/.ssh/id_ed25519
cp key.pub /var/lib/alice/.ssh/id_ed25519.pub
chmod 755 /var/lib
chown -R 4322:4322 /var/lib/alice
cp "$BIN" /etc/ccm-binary
as_alice_sh() { (cd / && setpriv --reuid=4322 --regid=4322 --groups=4321 env HOME=/var/lib/alice sh -c "$1"); }
as_alice() { (cd / && setpriv --reuid=4322 --regid=4322 --groups=4321 env HOME=/var/lib/alice /etc/ccm-binary "$@"); }
"#;

/// Runs a test on such a machine; `None` where tests can't have one.
pub(crate) fn on_machine(test: &str) -> Option<Scratch> {
    if !needs_own_mounts() {
        return None;
    }
    let scratch = Scratch::new();
    let script =
        format!("BIN='{}'\nccm() {{ \"$BIN\" \"$@\"; }}\n{SETUP}\n{test}\necho finished\n", binary());
    scratch.write("test.sh", script);
    let done = Command::new("unshare")
        .args(["-m", "sh", "test.sh"])
        .current_dir(scratch.path())
        .output()
        .expect("unshare");
    let shown = format!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success() && shown.contains("finished"), "{shown}");
    Some(scratch)
}

#[test]
fn a_group_that_is_made_later_reads_what_waits() {
    let later = MEMBER.replacen(
        "echo 'ccm-approvers",
        "ccm apply site.yaml > /dev/null || true\necho 'ccm-approvers",
        1,
    );
    on_machine(&format!(
        r#"{later}
test -n "$(ccm approvals | grep 'exec#make it')"
fails 0 as_alice approvals
shows 'nothing waits'
# The next request opens the store, with what waited before.
sed 's/make it/other/; s/made/other/' site.yaml > other.yaml
fails 4 ccm apply other.yaml
fails 0 as_alice approvals
shows 'exec#make it'
shows 'exec#other'
for CODE in $(ccm approvals | grep '^....  ' | cut -c1-4); do as_alice approve "$CODE" --yes; done
fails 0 ccm apply site.yaml
fails 0 ccm apply other.yaml
# A store that can't be read is not empty.
chmod 600 /var/lib/ccm/approvals/key.pub
fails 1 as_alice approvals
shows 'key.pub" can.t be read'
"#
    ));
}

#[test]
fn what_others_can_exchange_before_it_runs_is_not_approved() {
    on_machine(&format!(
        r#"{MEMBER}
cat > /etc/ccm/policy.yaml <<END
ccm_policy: 1
rules:
  - {{match: {{program: [sh, make, python3]}}, ask: true}}
END
mkdir -p ours theirs/empty
for directory in ours theirs; do
  echo 'echo ran > /var/lib/made' | tee $directory/x.sh > $directory/input
  printf 'open("/var/lib/made", "w")' > $directory/x.py
  printf 'all:\n\techo ran > /var/lib/made\n' > $directory/Makefile
done
chown -R 4322 theirs
# A file of root in a directory of root that a list opens.
mkdir listed
cp ours/x.sh listed
setfacl -m u:4322:rwx listed || rm -r listed
applies() {{
  cat > site.yaml <<END
ccm: {{resources: [exec: [{{x: {{command: $1, cwd: $2}}}}]]}}
END
  ccm apply site.yaml > out 2>&1 && found=0 || found=$?
  test "$found" = 4 || {{ cat out; exit 97; }}
}}
refused() {{
  applies "$1" "$2"
  shows 'can exchange .* before it runs'
  shows 'run a copy in a directory that only root can change'
  test -z "$(ccm approvals | grep 'exec#x')" || exit 96
}}
refused "sh $PWD/theirs/x.sh" /
refused "sh x.sh" "$PWD/theirs"
refused "python3 $PWD/theirs/x.py" /
cat > copy.yaml <<END
ccm: {{resources: [file: [{{/var/lib/copied: {{source: $PWD/theirs/input}}}}]]}}
END
echo '  - {{match: {{effect: write, path: /var/lib/copied}}, ask: true}}' >> /etc/ccm/policy.yaml
fails 4 ccm apply copy.yaml
shows 'can exchange .* before it is copied'
sed -i s/theirs/ours/ copy.yaml
fails 4 ccm apply copy.yaml
shows 'approve it with'
fails 0 ccm approve "$(code)" --key key --yes
echo 'other' >> ours/input
fails 4 ccm apply copy.yaml
test ! -e /var/lib/copied
fails 0 ccm approvals reject "$(code)" --reason 'changed'
cp theirs/input ours
refused make "$PWD/theirs"
refused "make -C $PWD/theirs" /
refused "make all" "$PWD/theirs/empty"
refused "sh $PWD/ours/x.sh $PWD/theirs/input" /
for properties in "environment: {{ENV: $PWD/theirs/x.sh}}" "environment: {{MODULES: /usr/lib:$PWD/theirs}}" "path: '$PWD/theirs:/usr/bin:/bin'"; do
  refused "sh $PWD/ours/x.sh, $properties" /
done
test ! -e listed || refused "sh $PWD/listed/x.sh" /
applies "sh $PWD/ours/x.sh $PWD/ours/input" /
shows 'approve it with'
fails 0 ccm approve "$(ccm approvals | grep 'exec#x' | cut -c1-4)" --key key --yes
fails 0 ccm apply site.yaml
test -e /var/lib/made
"#
    ));
}

#[test]
fn an_approval_with_the_key_of_an_agent_is_used_by_the_next_run() {
    on_machine(
        r#"
fails 4 ccm apply --noop site.yaml
shows 'needs an approval'
fails 0 ccm approvals
shows 'nothing waits'
fails 4 ccm apply site.yaml
shows 'rule "touches" (/etc/ccm/policy.yaml:3'
CODE=$(code)
shows "approve what waits with .ccm approve $CODE"
fails 0 ccm approvals show "$CODE"
shows "1  touch $PWD/made"
shows 'WITHOUT A SANDBOX'
shows 'rule "touches" (/etc/ccm/policy.yaml:3'
# No terminal, no answer.
fails 1 ccm approve "$CODE" --key key
shows 'without a terminal'
# The private key is in the agent alone.
eval "$(ssh-agent -s)" > agent
trap 'ssh-agent -k > /dev/null' EXIT
ssh-add -q key
mv key gone
fails 0 ccm approve "$CODE" --yes
shows 'approved by alice until'
fails 0 ccm approvals --json
shows '"state": "approved"'
fails 0 ccm apply site.yaml
test -e made
fails 4 ccm apply site.yaml
test "$(code)" != "$CODE"
fails 0 ccm approve "$(code)" --key key.pub --yes
fails 0 ccm apply site.yaml
"#,
    );
}

#[test]
fn an_answer_on_the_terminal_decides() {
    on_machine(
        r#"
fails 4 ccm apply site.yaml
CODE=$(code)
for answer in n y; do
  printf '%s\n' "$answer" | script -qec "$BIN approve $CODE --key key" shown > /dev/null || true
  cat shown
  grep -q 'y/N' shown
  if [ "$answer" = n ]; then ! grep -q 'approved by' shown; else grep -q 'approved by alice' shown; fi
done
fails 0 ccm apply site.yaml
"#,
    );
}

#[test]
fn a_signature_from_another_machine_and_a_rejection() {
    on_machine(
        r#"
fails 4 ccm apply site.yaml
CODE=$(code)
ccm approvals export "$CODE" > statement 2> seen
grep -q 'ssh-keygen -Y sign -n ccm-approval@v1' seen
ssh-keygen -q -Y sign -n wrong -f key statement
fails 1 ccm approve "$CODE" --signature statement.sig
shows 'namespace'
rm statement.sig
ssh-keygen -q -Y sign -n ccm-approval@v1 -f key statement
fails 0 ccm approve "$CODE" --signature statement.sig
shows 'approved by alice'
fails 0 ccm apply site.yaml
fails 4 ccm apply site.yaml
CODE=$(code)
fails 0 ccm approvals reject "$CODE" --reason 'not today'
fails 1 ccm approve "$CODE" --key key --yes
shows 'rejected: not today'
fails 4 ccm apply site.yaml
shows 'not today'
# Another key is nobody's.
ssh-keygen -q -t ed25519 -N '' -f other
ccm approvals --json > all.json
sed -i 's/touch .*made/touch made2/' site.yaml
fails 4 ccm apply site.yaml
CODE=$(ccm approvals | grep -v rejected | cut -c1-4)
fails 1 ccm approve "$CODE" --key other --yes
shows 'is not in "/etc/ccm/approvers"'
fails 1 ccm approve ZZZZ --key key --yes
shows 'nothing waits for an approval as'
# An approvers file of somebody else is no approvers file.
chown 12345 /etc/ccm/approvers
fails 1 ccm approve "$CODE" --key key --yes
shows 'belongs to uid 12345'
fails 4 ccm apply site.yaml
shows 'belongs to uid 12345'
"#,
    );
}

#[test]
fn a_watched_list_is_shown_again_when_it_changes() {
    on_machine(
        r#"
"$BIN" approvals --watch > watched 2>&1 &
WATCH=$!
waits_for() { for _ in $(seq 600); do grep -q -- "$1" watched && return; sleep 0.1; done; cat watched; exit 97; }
waits_for 'nothing waits for an approval'
fails 4 ccm apply site.yaml
CODE=$(code)
waits_for "^$CODE .*expires in"
fails 0 ccm approve "$CODE" --key key --yes
waits_for "^$CODE .*approved by alice until"
fails 0 ccm apply site.yaml
kill -TERM $WATCH
wait $WATCH
# Nothing but changes was shown.
test "$(wc -l < watched)" -le 4 || { cat watched; exit 96; }
"#,
    );
}

#[test]
fn a_signed_manifest_runs_unattended() {
    on_machine(
        r"
fails 1 ccm apply --require-signed site.yaml
shows 'has to be signed by an approver'
fails 0 ccm approve --manifest site.yaml --until 90s --key key --yes
shows 'signed by alice until'
fails 0 ccm apply --require-signed site.yaml
test -e made
echo '# changed' >> site.yaml
fails 1 ccm apply --require-signed site.yaml
shows 'site.yaml is not the file that was signed'
fails 4 ccm apply site.yaml
shows 'the signature of site.yaml does not count'
# The key is elsewhere.
fails 0 ccm approve --manifest site.yaml --until 1d --export
ssh-keygen -q -Y sign -n ccm-manifest@v1 -f key site.yaml.approval
fails 0 ccm apply --require-signed site.yaml
fails 0 ccm validate site.yaml
",
    );
}

#[test]
fn errors_of_the_file_of_approvers_name_the_file() {
    on_machine(
        r"
fails 4 ccm apply site.yaml
CODE=$(code)
cp /etc/ccm/approvers kept
rm /etc/ccm/approvers
for call in 'apply site.yaml' 'approvals' 'approve ZZZZ --yes'; do
  ccm $call > out 2>&1 && exit 97
  shows 'there is no file of approvers'
  shows 'hint: write a line for each approver to /etc/ccm/approvers: NAME ssh-ed25519 KEY'
  ! grep -q 'approve it' out
done
fails 0 ccm policy check
shows 'nobody can approve'
shows 'write a line for each approver to /etc/ccm/approvers'
echo 'alice nonsense' > /etc/ccm/approvers
chmod 644 /etc/ccm/approvers
fails 1 ccm policy check
shows 'approvers.*line 1'
fails 4 ccm apply site.yaml
shows 'line 1'
shows 'hint: correct the file of approvers'
cat kept > /etc/ccm/approvers
echo 'approval: {groups: {ops: [alice, bbo]}}' >> /etc/ccm/policy.yaml
fails 0 ccm policy check
shows 'bbo of group ops has no key in /etc/ccm/approvers'
! grep -q alice out
",
    );
}

#[test]
fn a_wrong_key_is_refused_before_anybody_is_asked() {
    on_machine(
        r#"
fails 4 ccm apply site.yaml
CODE=$(code)
ssh-keygen -q -t ed25519 -N secret -f other
fails 1 ccm approve "$CODE" --key other
shows 'is not in "/etc/ccm/approvers"'
! grep -q 'terminal' out
fails 1 ccm approve "$CODE" --key missing
shows 'the key missing can.t be read'
fails 1 ccm approvals show nope
shows 'nothing waits for an approval as `nope`'
shows 'hint: `ccm approvals` lists what waits'
fails 1 ccm approvals reject nope --reason x
shows 'nothing waits for an approval as `nope`'
"#,
    );
}

/// Runs its arguments without a terminal, as a service or a CI job does.
const WITHOUT_TERMINAL: &str = r#"
alone() { setsid --wait "$@" < /dev/null; }
unset DISPLAY SSH_ASKPASS SSH_ASKPASS_REQUIRE
"#;

#[test]
fn a_key_with_a_passphrase_signs_the_whole_text_without_a_terminal() {
    on_machine(&format!(
        r#"{WITHOUT_TERMINAL}
ssh-keygen -q -p -P '' -N secret -f key
fails 4 ccm apply site.yaml
CODE=$(code)
# Nobody can answer, and the text is no answer.
fails 1 alone "$BIN" approve "$CODE" --key key --yes
shows 'ssh-keygen made no signature with key'
cat > askpass <<END
#!/bin/sh
echo secret
END
chmod 755 askpass
export SSH_ASKPASS="$PWD/askpass" SSH_ASKPASS_REQUIRE=force
fails 0 alone "$BIN" approve "$CODE" --key key --yes
shows 'approved by alice until'
fails 0 ccm apply site.yaml
# A statement that fills no pipe: its whole text is signed.
mkdir many
for number in $(seq 3000); do echo "$number" > "many/a-file-with-a-rather-long-name-$number"; done
cat >> site.yaml <<END
    - file: [{{$PWD/copied: {{source: $PWD/many, recurse: true}}}}]
END
sed -i 's/recurse: true/ensure: directory/' site.yaml
fails 0 alone "$BIN" approve --manifest site.yaml --until 1d --key key --yes
test "$(wc -c < site.yaml.approval)" -gt 200000
ssh-keygen -Y verify -f /etc/ccm/approvers -I alice -n ccm-manifest@v1 -s site.yaml.approval.sig < site.yaml.approval
# The first line is the passphrase, and standard input is not for ssh-keygen.
unset SSH_ASKPASS SSH_ASKPASS_REQUIRE
echo secret | fails 1 setsid --wait "$BIN" approve --manifest site.yaml --until 1d --key key --yes
"#
    ));
}

#[test]
fn a_security_key_with_a_pin_signs_the_whole_text_without_a_terminal() {
    if !Path::new(SOFTWARE_SECURITY_KEY).exists() {
        return skipped("openssh-tests is not installed");
    }
    on_machine(&format!(
        r#"{WITHOUT_TERMINAL}
export SSH_SK_PROVIDER={SOFTWARE_SECURITY_KEY}
ssh-keygen -q -t ed25519-sk -O verify-required -N '' -C bob -f sk -w "$SSH_SK_PROVIDER"
# A machine of a developer, which has no approvers to verify the signature with.
mv /etc/ccm/approvers approvers
echo "bob $(cat sk.pub)" > signers
found=0
alone "$BIN" approve --manifest site.yaml --until 1d --key sk --yes > out 2>&1 || found=$?
cat out
# Without an answer for the PIN there is no signature, or one of the whole text.
test ! -e site.yaml.approval.sig || ssh-keygen -Y verify -f signers -I bob -n ccm-manifest@v1 -s site.yaml.approval.sig < site.yaml.approval
cat > askpass <<END
#!/bin/sh
echo 1234
END
chmod 755 askpass
export SSH_ASKPASS="$PWD/askpass" SSH_ASKPASS_REQUIRE=force
rm -f site.yaml.approval*
fails 0 alone "$BIN" approve --manifest site.yaml --until 1d --key sk --yes
ssh-keygen -Y verify -f signers -I bob -n ccm-manifest@v1 -s site.yaml.approval.sig < site.yaml.approval
"#
    ));
}

#[test]
fn a_member_of_the_group_approves_through_the_inbox() {
    let unit = repository("packaging/systemd/ccm-apply@.service").display().to_string();
    on_machine(&format!(
        r#"UNIT='{unit}'
{MEMBER}
fails 4 ccm apply site.yaml
CODE=$(code)
fails 0 as_alice approvals
shows "^$CODE "
fails 0 as_alice approvals show "$CODE"
shows "1  touch $PWD/made"
fails 1 as_alice approvals export "$CODE"
shows 'only root can do this'
fails 1 as_alice approvals reject "$CODE" --reason no
shows 'name your key with `--key`'
fails 0 as_alice approve "$CODE" --yes
shows 'signed by alice; ccm reads the statement when it runs again'
fails 0 ccm apply site.yaml
test -e made
test -z "$(ls /var/lib/ccm/approvals/inbox)"
# A rejection of a member is signed.
fails 4 ccm apply site.yaml
CODE=$(code)
fails 0 as_alice approvals reject "$CODE" --reason 'not on a Friday' --key /var/lib/alice/.ssh/id_ed25519
fails 4 ccm apply site.yaml
shows "$CODE was rejected: not on a Friday"
! grep -q 'approve it' out
# systemd sets the mode of the state directory at each start of a unit.
chmod "$(sed -n 's/^StateDirectoryMode=//p' "$UNIT")" /var/lib/ccm
fails 0 as_alice approvals
# The group reads nothing else.
for name in key salt uses; do as_alice_sh "cat /var/lib/ccm/approvals/$name" > out 2>&1 && exit 96; done
for name in approved ended inbox; do as_alice_sh "ls /var/lib/ccm/approvals/$name" > out 2>&1 && exit 96; done
as_alice_sh 'ls /var/lib/ccm' > out 2>&1 && exit 95
# An auditor verifies what waits with OpenSSH alone.
sed -i 's/touch .*made/touch made2/' site.yaml
fails 4 ccm apply site.yaml
echo "ccm $(cat /var/lib/ccm/approvals/key.pub)" > signers
for intent in /var/lib/ccm/approvals/pending/*.json; do
  ssh-keygen -Y verify -f signers -I ccm -n ccm-intent@v1 -s "${{intent%.json}}.sig" < "$intent"
done
"#
    ));
}

#[test]
fn bad_usage_of_approve_is_refused() {
    let scratch = Scratch::new();
    for arguments in [
        &["approve"][..],
        &["approve", "7K3F", "--manifest", "site.yaml", "--until", "1d"],
        &["approve", "--manifest", "site.yaml"],
        &["approve", "--manifest", "site.yaml", "--until", "0s"],
        &["approvals", "reject", "7K3F"],
    ] {
        assert_eq!(ccm(&scratch, arguments).run().code, 64, "{arguments:?}");
    }
    scratch.write("site.yaml", "ccm: {resources: [{exec: [{'true': {}}]}]}\n");
    let called = ccm(&scratch, &["apply", "--require-signed", "site.yaml"]).run();
    assert_eq!(called.code, 1, "{}", called.shown());
    assert!(called.stderr.contains("has to be signed by an approver"), "{}", called.shown());
    assert!(
        called.stderr.contains("hint: let an approver sign it: `ccm approve --manifest"),
        "{}",
        called.shown()
    );
}
