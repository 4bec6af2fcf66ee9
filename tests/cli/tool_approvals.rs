//! Calls of tools that somebody approves: `ccm tool exec`, `ccm approve` by another user, `ccm tool resume`.

use crate::approvals::{MEMBER, on_machine};

/// Policy under which every call needs an approval, and functions for the tests.
const TOOLS: &str = r"
mkdir -p work && chmod 777 work
cat > /etc/ccm/policy.yaml <<END
ccm_policy: 1
workspace: {path: $PWD/work, restrict: true}
callers: {tool: {tools: [governed-execute]}}
END
ccm audit init > /dev/null
intent() { sed -n 's/^approval required: intent \([0-9A-Z]*\) .*/\1/p' out; }
code_of() { sed -n 's/^approval required: intent [0-9A-Z]* (\(.*\)), until .*/\1/p' out; }
";

#[test]
fn a_call_waits_until_another_user_approves() {
    on_machine(&format!(
        r#"{MEMBER}{TOOLS}
fails 7 ccm tool exec --reason 'config changed' --env 'MODE=secret value' -- touch made
shows '^approval required: intent'
shows 'approve with: ccm approve'
INTENT=$(intent); CODE=$(code_of)
test ! -e work/made
fails 7 ccm tool resume "$INTENT"
shows 'has 0 of 1 approvals'
shows "let an approver run .ccm approve $CODE"
fails 0 ccm tool status "$INTENT"
shows '"state": "pending"'
fails 0 as_alice approvals
shows "^$CODE "
fails 0 as_alice approvals show "$CODE"
shows 'tool exec (cli)'
shows '1  touch made'
shows 'Its reason, not checked: "config changed"'
shows "variables MODE='secret value'"
fails 0 as_alice approve "$CODE" --yes
fails 0 ccm tool status "$INTENT"
shows '"state": "approved"'
shows 'alice'
fails 0 ccm tool resume "$INTENT"
test -e work/made
fails 7 ccm tool resume "$INTENT"
shows 'was used before'
fails 0 ccm tool status "$CODE"
shows '"state": "used"'
fails 0 ccm audit verify
grep -q 'secret value' -r /var/lib/ccm/audit && exit 94
fails 0 ccm audit log
for event in requested approved used; do shows "$event"; done
"#
    ));
}

#[test]
fn calls_are_withdrawn_rejected_and_void() {
    on_machine(&format!(
        r#"{MEMBER}{TOOLS}
fails 7 ccm tool exec -- touch one
INTENT=$(intent)
fails 0 ccm tool cancel "$INTENT"
fails 7 ccm tool resume "$INTENT"
shows 'was withdrawn'
fails 0 ccm tool status "$INTENT"
shows '"state": "withdrawn"'
fails 7 ccm tool exec -- touch two
INTENT=$(intent); CODE=$(code_of)
fails 0 ccm approvals reject "$CODE" --reason 'use the pipeline'
fails 7 ccm tool resume "$INTENT"
shows 'use the pipeline'
fails 0 ccm tool status "$INTENT"
shows '"state": "rejected"'
# The policy changes between the approval and the call.
fails 7 ccm tool exec -- touch three
INTENT=$(intent); CODE=$(code_of)
fails 0 ccm approve "$CODE" --key key --yes
echo 'guard: {{eval: deny}}' >> /etc/ccm/policy.yaml
fails 7 ccm tool resume "$INTENT"
shows 'the policy has changed'
test -z "$(ls work)"
for call in resume status cancel; do
  fails 7 ccm tool "$call" nope
  shows 'no call of this user waits for an approval as `nope`'
  shows 'call the tool again'
done
rm /etc/ccm/approvers
fails 1 ccm tool exec -- touch four
shows 'there is no file of approvers'
shows 'write a line for each approver to /etc/ccm/approvers'
"#
    ));
}

#[test]
fn an_approval_covers_every_file_that_the_call_runs() {
    on_machine(&format!(
        r#"{MEMBER}{TOOLS}
# A call, and the change of a file between its approval and its start.
covers() {{
  rm -rf work conftest.py .git && mkdir work && chmod 777 work
  (cd work
  echo 'echo good > made' | tee x.sh y.sh > .profile-like
  printf 'open("made", "w")' > x.py
  mkdir d
  printf 'all:\n\techo good > made\n' | tee d/Makefile > Makefile
  cp /bin/sh shell
  printf '#!%s/shell\n. ./x.sh\n' "$PWD" > script
  printf '#!/bin/sh\necho good > made\n' > plain
  chmod +x script plain)
  tool=$1 change=$2
  shift 2
  fails 7 ccm tool "$tool" "$@"
  INTENT=$(intent); CODE=$(code_of)
  test -n "$INTENT"
  fails 0 ccm approve "$CODE" --key key --yes
  (cd work && eval "$change")
  fails 7 ccm tool resume "$INTENT"
  shows 'has changed'
  test ! -e work/made
}}
evil='echo evil > made'
covers exec "echo '$evil' > x.sh" -- sh x.sh
covers exec "echo '$evil' > x.sh" -- sh -e ./x.sh
covers exec "echo '$evil' > x.sh" 'sh < x.sh'
covers exec "echo '$evil' > x.sh" '. ./x.sh'
covers exec "echo '$evil' > y.sh" 'sh x.sh && sh y.sh'
covers exec "echo '$evil' > x.sh" "sh -c 'sh x.sh'"
covers exec "echo '$evil' > x.sh" -- env sh x.sh
covers exec "echo '$evil' > plain" -- ./plain
covers exec "echo '# other' >> shell" -- ./script
covers exec "echo 'print(1)' > x.py" -- python3 x.py
covers exec "printf 'all:\n\ttouch made\n' > Makefile" -- make
covers exec "printf 'all:\n\ttouch made\n' > GNUmakefile" -- make
covers exec "mkdir -p ../.git/hooks; echo '$evil' > ../.git/hooks/pre-commit; chmod +x ../.git/hooks/pre-commit" -- git status
covers exec "mkdir -p d; printf 'all:\n\ttouch made\n' > d/Makefile" -- make -C d
covers exec "echo '$evil' > x.sh" -- tar -cf made -I ./x.sh x.py
covers exec "echo '$evil' > y.sh" 'xargs -a y.sh echo'
echo 'sh x.sh' > run.sh
covers bash "echo '$evil' > x.sh" run.sh
# What nobody would notice a change of can't be approved.
truncate -s 300M work/large.sh
fails 5 ccm tool exec -- sh large.sh
shows 'nobody can approve the call: the files that it runs are larger than 256 MiB'
"#
    ));
}

#[test]
fn what_nobody_can_approve_is_an_error_of_the_policy_and_a_refusal() {
    on_machine(&format!(
        r#"{MEMBER}{TOOLS}
cat >> /etc/ccm/policy.yaml <<END
approval: {{groups: {{ops: [alice, gone]}}}}
rules:
  - {{name: alone, match: {{program: touch}}, ask: {{approvers: [nobody1]}}}}
END
fails 1 ccm policy check
shows 'nobody can approve what'
shows 'nobody1'
shows 'add a line for each approver to /etc/ccm/approvers, or change the policy'
fails 5 ccm tool exec -- touch made
shows 'nobody can give one'
test -z "$(ls -A /var/lib/ccm/approvals/pending 2> /dev/null)"
# With a group, as many as are needed have to have a key.
sed -i 's/approvers: .nobody1./approvers: ops, count: 2/' /etc/ccm/policy.yaml
fails 1 ccm policy check
shows '2 of ops'
sed -i 's/, count: 2//' /etc/ccm/policy.yaml
fails 0 ccm policy check
shows 'gone of group ops has no key'
"#
    ));
}

#[test]
fn the_caller_approves_no_call_of_its_own() {
    on_machine(&format!(
        r#"{TOOLS}
echo "root $(cat key.pub)" > /etc/ccm/approvers
fails 7 ccm tool exec -- touch made
CODE=$(code_of)
fails 1 ccm approve "$CODE" --key key --yes
shows 'is the caller, and somebody else has to approve'
"#
    ));
}
