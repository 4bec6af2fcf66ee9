//! Signatures of keys that `ssh-keygen` verifies: within a sandbox of ccm, and without one where there is none.

use crate::approvals::on_machine;

/// A program in the place of `ssh-keygen`, which fails with what it sees, and signs as the real one.
const WITNESS: &str = r#"
ssh-keygen -q -t ecdsa -N '' -C bob -f ecdsa
ssh-keygen -q -t rsa -b 2048 -N '' -C carol -f rsa
echo "bob $(cat ecdsa.pub)" >> /etc/ccm/approvers
echo "carol $(cat rsa.pub)" >> /etc/ccm/approvers
witness() {
  cp /usr/bin/ssh-keygen real-keygen
  cat > witness <<END
#!/bin/sh
case "\$2 \$3" in
  "verify "*)
    cat > /dev/null
    touch /etc/ccm/written 2> /dev/null && seen=wrote || seen=read-only
    networks=\$(grep -c : /proc/net/dev)
    test -e /etc/ccm/policy.yaml && seen="\$seen policy"
    touch "\$(dirname "\$8")/more" 2> /dev/null && seen="\$seen own-files"
    echo "\$seen \$networks" >&2
    exit 9 ;;
  *) exec "$PWD/real-keygen" "\$@" ;;
esac
END
  chmod 755 witness
  mount --bind witness /usr/bin/ssh-keygen
}
"#;

#[test]
fn keys_of_other_types_approve_from_within_a_sandbox() {
    on_machine(&format!(
        r#"{WITNESS}
for key in ecdsa rsa; do
  fails 4 ccm apply site.yaml
  fails 0 ccm approve "$(code)" --key "$key" --yes
  shows 'approved by'
  fails 0 ccm apply site.yaml
done
fails 4 ccm apply site.yaml
CODE=$(code)
witness
fails 1 ccm approve "$CODE" --key ecdsa --yes
shows 'a key of type ecdsa-sha2-nistp256 can.t be verified'
shows 'ssh-keygen failed with exit code 9: read-only 1'
umount /usr/bin/ssh-keygen
fails 0 ccm approve "$CODE" --key ecdsa --yes
"#
    ));
}

#[test]
fn a_user_without_an_account_in_the_sandbox_is_not_told_that_the_signature_is_wrong() {
    on_machine(&format!(
        r#"{WITNESS}
fails 4 ccm apply site.yaml
CODE=$(code)
# No account at all, as for a user of a directory service whose service does not answer.
cp /etc/passwd passwd
echo 'passwd: files' > /etc/nsswitch.conf
ccm approvals export "$CODE" > statement 2> /dev/null
ssh-keygen -q -Y sign -n ccm-approval@v1 -f ecdsa statement
sed -i '/^root:/d' /etc/passwd
fails 1 ccm approve "$CODE" --signature statement.sig
shows 'ssh-keygen finds no account of the user who runs ccm'
! grep -q 'not that of this text' out
cp passwd /etc/passwd
fails 0 ccm approve "$CODE" --signature statement.sig
shows 'approved by bob'
"#
    ));
}
