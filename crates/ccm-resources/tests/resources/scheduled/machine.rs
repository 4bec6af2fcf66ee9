//! A copy of the files of this machine, with fakes of the tools that talk to services.

use ccm_testkit::{FAKE_SERVICES, OwnMounts, needs_own_mounts};

/// Shell commands that complete the copies. The fake systemd-run notes its call.
const SCRIPT: &str = r#"
mkdir -p /etc/cron.d
rm -rf /etc/systemd/system/* /etc/cron.d/*
cat > /usr/local/sbin/systemd-run <<"END"
#!/bin/sh
printf '%s\n' "$@" > /run/reboot-call
mkdir -p /run/systemd/transient
touch /run/systemd/transient/ccm-reboot.service
END
printf '#!/bin/sh\n' > /usr/local/sbin/cron
chmod 755 /usr/local/sbin/systemd-run /usr/local/sbin/cron
printf 'root:x:0:0:root:/root:/bin/sh\nada:x:1500:100:Ada:/:/bin/sh\n' > /etc/passwd
"#;

/// Runs a shell command, which must succeed.
pub(crate) fn shell(command: &str) {
    let ran = std::process::Command::new("/bin/sh").args(["-c", command]).status();
    assert!(ran.is_ok_and(|status| status.success()), "{command}");
}

/// Runs the body of a test on the copies. Skips it where there are no private mounts.
pub(crate) fn on_a_copy(body: impl FnOnce()) {
    if !needs_own_mounts() {
        return;
    }
    let script = [FAKE_SERVICES, SCRIPT].concat();
    OwnMounts { etc: &["."], empty: &["/run", "/usr/local/sbin"], script: &script, ..OwnMounts::default() }
        .isolate(body);
}
