//! Grants on the command line: what is shown, what is counted, and how a grant ends.

use crate::approvals::on_machine;

/// A policy that allows grants, and manifests of different commands.
const GRANTS: &str = r#"
cat > /etc/ccm/policy.yaml <<END
ccm_policy: 1
rules:
  - name: touches
    match: {program: touch}
    ask: {grant: {uses: 10, for: 2h}}
END
manifest() { printf 'ccm:\n  resources:\n    - exec: [{make %s: {command: touch %s, cwd: /}}]\n' "$1" "$PWD/$1" > "$1.yaml"; }
for name in one two three four five six; do manifest "$name"; done
ccm audit init > /dev/null
"#;

#[test]
fn a_grant_for_a_rule_shows_everything_that_it_allows() {
    on_machine(&format!(
        r#"{GRANTS}
fails 4 ccm apply one.yaml
CODE=$(code)
fails 1 ccm approve "$CODE" --rule other --uses 2 --key key --yes
shows 'other is not the only rule that asks for'
fails 1 ccm approve "$CODE" --rule touches --uses 11 --key key --yes
shows 'the rule allows at most 10 uses'
fails 1 ccm approve "$CODE" --rule touches --uses 2 --for 9h --key key --yes
shows 'an approval counts for at most 7200 seconds'
fails 64 ccm approve "$CODE" --rule touches --key key --yes
fails 0 ccm approve "$CODE" --rule touches --uses 2 --for 1h --key key --yes
shows 'GRANTS 2 USES within 1h0m0s to '
shows 'NOT ONLY THIS, but whatever rule "touches" (/etc/ccm/policy.yaml:3:11) alone asks for'
shows '^  match: {{program: "touch"}}'
shows "root takes it back with .ccm approvals reject $CODE --reason TEXT."
shows 'approved by alice until'
fails 0 ccm apply two.yaml
fails 0 ccm apply one.yaml
fails 4 ccm apply three.yaml
test -e one && test -e two && test ! -e three
fails 0 ccm audit log --json
shows 'use 1 of 2 of the grant'
shows 'use 2 of 2 of the grant'
fails 0 ccm audit verify
# A grant of one action says so.
CODE=$(code)
fails 0 ccm approve "$CODE" --uses 3 --key key --yes
shows 'GRANTS 3 USES of exactly this within 2h0m0s'
# Used, and taken back.
fails 0 ccm apply three.yaml
fails 0 ccm approvals reject "$CODE" --reason enough
fails 4 ccm apply three.yaml
shows 'was rejected: enough'
fails 1 ccm approvals reject "$CODE" --reason again
"#
    ));
}

#[test]
fn programs_that_run_at_once_share_the_budget_of_a_grant() {
    on_machine(&format!(
        r#"{GRANTS}
fails 4 ccm apply one.yaml
fails 0 ccm approve "$(code)" --rule touches --uses 3 --key key --yes
for name in one two three four five six; do
  ccm apply --state-dir "$PWD/state-$name" "$name.yaml" > "$name.out" 2>&1 &
done
wait
test "$(for name in one two three four five six; do test ! -e "$name" || echo "$name"; done | wc -l)" = 3 || {{ cat ./*.out; exit 97; }}
test "$(grep -c 'needs an approval' ./*.out | grep -vc ':0')" = 3
for use in 1 2 3; do test "$(ccm audit log --json | grep -c "use $use of 3 of the grant")" = 1; done
"#
    ));
}
