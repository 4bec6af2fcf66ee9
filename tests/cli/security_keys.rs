//! Approvals by a security key in software, held by an agent: touch, and a verified user.

use std::path::Path;

use ccm_testkit::{SOFTWARE_SECURITY_KEY, skipped};

use crate::approvals::on_machine;

#[test]
fn a_policy_that_demands_a_touch_or_a_verified_user_gets_it_from_security_keys() {
    if !Path::new(SOFTWARE_SECURITY_KEY).exists() {
        return skipped("openssh-tests is not installed");
    }
    on_machine(&format!(
        r#"
export SSH_SK_PROVIDER={SOFTWARE_SECURITY_KEY}
printf '#!/bin/sh\nexec true\n' > askpass
chmod 755 askpass
export SSH_ASKPASS="$PWD/askpass" SSH_ASKPASS_REQUIRE=force
eval "$(ssh-agent -s -P '/usr/lib/*')" > agent
trap 'ssh-agent -k > /dev/null' EXIT
ssh-keygen -q -t ed25519-sk -N '' -C touched -f touched -w "$SSH_SK_PROVIDER"
ssh-keygen -q -t ed25519-sk -O no-touch-required -N '' -C lazy -f lazy -w "$SSH_SK_PROVIDER"
ssh-keygen -q -t ed25519-sk -O verify-required -N '' -C verified -f verified -w "$SSH_SK_PROVIDER"
ssh-keygen -q -t ecdsa-sk -N '' -C ecdsa -f ecdsa -w "$SSH_SK_PROVIDER"
for name in touched lazy verified ecdsa; do echo "$name $(cat "$name.pub")"; done >> /etc/ccm/approvers
# The agent asks the security key.
ssh-add -q -S "$SSH_SK_PROVIDER" touched
mkdir away && mv touched away
demand() {{
  sed -i "s/ask: .*}}/ask: $1}}/" /etc/ccm/policy.yaml
  rm -f made
  fails 4 ccm apply site.yaml
  CODE=$(code)
}}
demand '{{touch: true}}'
fails 0 ccm approvals show "$CODE"
shows 'needs any approver, with a touch of the key, for rule "touches"'
fails 1 ccm approve "$CODE" --key key --yes
shows 'is not a security key, which has to be touched'
fails 1 ccm approve "$CODE" --key lazy --yes
shows 'was not touched'
fails 0 ccm approve "$CODE" --key touched.pub --yes
shows 'approved by touched until'
fails 0 ccm apply site.yaml
test -e made
demand '{{user_verified: true}}'
fails 0 ccm approvals show "$CODE"
shows 'with a PIN or fingerprint for the key'
fails 1 ccm approve "$CODE" --key key --yes
shows 'is not a security key'
fails 1 ccm approve "$CODE" --key touched.pub --yes
shows 'has not verified its user by PIN or fingerprint'
fails 1 ccm approve "$CODE" --key ecdsa --yes
shows 'has not verified its user by PIN or fingerprint'
fails 4 ccm apply site.yaml
test ! -e made
fails 0 ccm approve "$CODE" --key verified --yes
shows 'approved by verified until'
fails 0 ccm apply site.yaml
test -e made
"#
    ));
}
