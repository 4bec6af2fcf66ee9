//! Exports of states that were made by hand, on a small machine of the test's own.

use std::path::Path;
use std::sync::OnceLock;

use ccm_engine::{
    Context, ExportRemark, ExportedState, ExportedValue, InstanceScope, NoHealthProbe, NoLateValues,
    NotExported, OpenGate, ResourceType, Run, Stop,
};
use ccm_host::{Cancellation, Host, LocalExecutor, SystemClock, SystemFiles, SystemRunner};
use ccm_model::Catalog;
use ccm_redaction::Secrets;
use ccm_resources::types;
use ccm_testkit::{OwnMounts, needs_own_mounts};

/// Machine with one package of dpkg, and what a person did.
const MACHINE: OwnMounts<'_> = OwnMounts {
    namespaces: "",
    etc: &[],
    empty: &["/var/lib", "/var/spool", "/srv", "/home", "/root"],
    script: r#"
printf 'root:x:0:0:root:/root:/bin/sh\nada:x:1000:1000:Ada:/home/ada:/bin/sh\ndaemon:x:1:1::/:/usr/sbin/nologin\n' > /etc/passwd
printf 'root:x:0:\nada:x:1000:\nweb:x:1500:ada\ndaemon:x:1:\n' > /etc/group
printf 'root:*:1::::::\nada:!$6$abcdefgh$0123456789abcdef:1:::::20000:\ndaemon:!:1::::::\n' > /etc/shadow
printf '127.0.0.1 localhost\n127.0.1.1 host\n10.0.0.2 db db1 # x\n' > /etc/hosts
printf 'UUID=a / ext4 defaults 0 1\n# x\n//nas/a /srv/a cifs username=ada,password=hunter2 0 0\nnone none swap sw 0 0\n' > /etc/fstab
mkdir -p /etc/app/shipped.d /etc/cron.d /etc/ssl/certs /var/lib/dpkg/info /home/ada/.ssh /srv/repository/.git
printf 'changed\n' > /etc/app/changed
printf 'shipped\n' > /etc/app/same
printf 'own\n' > /etc/app/shipped.d/own
printf 'x' > /etc/ssl/certs/ca.crt
printf '0 2 * * * root true\n' > /etc/cron.d/by-hand
printf 'no-pty,command="a, b" ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJdD7y3aLq454yWBdwLWbieU1ebz9/cu7/QEXn9OIeZJ ada@laptop\nssh-ed25519 BBBB\n' \
    > /home/ada/.ssh/authorized_keys
chown -R 1000:1000 /home/ada
printf 'ref: refs/heads/main\n' > /srv/repository/.git/HEAD
printf '[remote "origin"]\n\turl = https://ada:hunter2@example.com/app.git\n' > /srv/repository/.git/config
digest=$(printf 'shipped\n' | md5sum | cut -c 1-32)
printf 'Package: app\nStatus: install ok installed\nPriority: optional\nArchitecture: all\nVersion: 1.0\nConffiles:\n' > /var/lib/dpkg/status
printf ' /etc/app/changed %s\n /etc/app/same %s\n /etc/app/removed %s\n\n' $digest $digest $digest >> /var/lib/dpkg/status
printf 'Package: base\nStatus: hold ok installed\nPriority: required\nArchitecture: all\nVersion: 2.0\n' >> /var/lib/dpkg/status
printf '/.\n/etc\n/etc/app\n/etc/app/changed\n/etc/app/same\n/etc/app/removed\n/etc/app/shipped.d\n/etc/cron.d\n' > /var/lib/dpkg/info/app.list
"#,
};

fn read<T>(work: impl AsyncFnOnce(&mut Context<'_>) -> T) -> T {
    let files = SystemFiles::new(Cancellation::never());
    let runner = SystemRunner::new().expect("a runner");
    let executor = LocalExecutor::new(&runner, &runner, &files);
    let (cancellation, cause) = (Cancellation::never(), OnceLock::new());
    let run = Run {
        catalog: &Catalog::default(),
        others: &[],
        types: &[],
        host: Host { executor: &executor, system: &runner, files: &files, clock: &SystemClock::default() },
        late: &NoLateValues,
        secrets: &Secrets::new(),
        stop: Stop { cancellation: &cancellation, cause: &cause },
        noop: true,
        monitor_only: false,
        fail_on_error: false,
        diff: false,
        directory: Path::new("/"),
        state_directory: None,
        describe_unchanged: true,
        only: None,
        skip: &[],
        health: &NoHealthProbe,
        gate: &OpenGate,
        ledger: None,
        witness: None,
        earlier: ccm_engine::EarlierOutcomes::default(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(run.read(work)).expect("no panic")
}

fn type_named(name: &str) -> &'static dyn ResourceType {
    types().into_iter().find(|found| found.name() == name).expect("a type")
}

fn export(type_name: &str, name: &str) -> Result<Option<ExportedState>, NotExported> {
    read(async |context| type_named(type_name).exporter().export(name, context).await)
}

/// Returns the state of a resource on one line; a remark about a secret is the name of its property with `!`.
fn shown(type_name: &str, name: &str) -> String {
    let state = match export(type_name, name) {
        Ok(Some(state)) => state,
        Ok(None) => return "absent".to_owned(),
        Err(reason) => return reason.kind.name().to_owned(),
    };
    let ensure = state.ensure.into_iter();
    let properties = state.properties.into_iter().map(|(name, value)| match value {
        ExportedValue::Json(value) => format!("{name}={value}"),
        ExportedValue::Content { bytes, .. } => format!("{name}={:?}", String::from_utf8_lossy(&bytes)),
    });
    let remarks = state.remarks.into_iter().map(|remark| match remark {
        ExportRemark::ReadOnly { name, value } => format!("({name} {value})"),
        ExportRemark::Secret { property } => format!("{property}!"),
        ExportRemark::Unread { property, .. } => format!("{property}?"),
    });
    ensure.chain(properties).chain(remarks).collect::<Vec<_>>().join(" ")
}

fn instances(type_name: &str, scope: InstanceScope) -> String {
    let found = read(async |context| type_named(type_name).exporter().instances(scope, context).await);
    found.map_or_else(|reason| reason.kind.name().to_owned(), |found| found.names.join(" "))
}

#[test]
fn states_that_were_made_by_hand_are_exported() {
    if !needs_own_mounts() {
        return;
    }
    MACHINE.isolate(|| {
        for (type_name, name, expected) in [
            (
                "user",
                "ada",
                "uid=1000 gid=\"ada\" groups=[\"web\"] home=\"/home/ada\" manage_home=true shell=\"/bin/sh\" \
                 comment=\"Ada\" locked=true expires=\"2024-10-04\" password_hash!",
            ),
            ("user", "nobody-there", "absent"),
            ("group", "web", "gid=1500 members=[\"ada\"]"),
            ("group", "daemon", "system=true (gid 1)"),
            ("host", "db", "ip=\"10.0.0.2\" host_aliases=[\"db1\"]"),
            ("package", "app", "(version 1.0) (architecture all)"),
            ("package", "gone", "absent"),
            ("package_hold", "base", "(version 2.0)"),
            ("package_hold", "app", "absent"),
            (
                "mount",
                "/srv/a",
                "unmounted device=\"//nas/a\" fstype=\"cifs\" options=\"username=ada,password=hunter2\"",
            ),
            ("mount", "/nowhere", "absent"),
            ("file", "/etc/app", "directory owner=\"root\" group=\"root\" mode=\"0755\""),
            ("file", "/etc/app/same", "content=\"shipped\\n\" owner=\"root\" group=\"root\" mode=\"0644\""),
            ("file", "/etc/shadow", "owner=\"root\" group=\"root\" mode=\"0644\" content!"),
            ("file", "relative", "no_form"),
            ("cron", "by-hand", "no_form"),
            ("git", "/srv/repository", "no_form"),
            ("git", "/srv", "absent"),
            ("exec", "x", "no_state"),
        ] {
            assert_eq!(shown(type_name, name), expected, "{type_name}#{name}");
        }
        let key = shown("authorized_key", "ada@laptop");
        assert!(key.starts_with("user=\"ada\" key=\"ssh-ed25519 AAAA"), "{key}");
        assert!(key.ends_with(" options=[\"no-pty\",\"command=\\\"a, b\\\"\"]"), "{key}");
        assert_eq!(shown("authorized_key", "line 2 of /home/ada/.ssh/authorized_keys"), "no_form");
    });
}

#[test]
fn what_a_person_made_is_told_from_what_packages_brought() {
    if !needs_own_mounts() {
        return;
    }
    MACHINE.isolate(|| {
        let by_hand = InstanceScope::MadeByHand;
        for (type_name, expected) in [
            ("file", "/etc/app/changed /etc/app/removed /etc/app/shipped.d/own /etc/cron.d/by-hand"),
            ("package", "app"),
            ("package_hold", "base"),
            ("user", "ada"),
            ("group", "ada web"),
            ("host", "db"),
            ("mount", "/srv/a"),
            ("cron", ""),
            ("exec", ""),
        ] {
            assert_eq!(instances(type_name, by_hand), expected, "{type_name}");
        }
        assert_eq!(instances("file", InstanceScope::All), "no_list");
        assert_eq!(instances("group", InstanceScope::All), "root ada web daemon");
        assert_eq!(instances("cron", InstanceScope::All), "by-hand");
    });
}
