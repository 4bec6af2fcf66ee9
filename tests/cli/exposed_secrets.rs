//! Secrets in places that other users can read.

use ccm_testkit::Scratch;

use crate::ccm;

const ERROR: &str = "error: ";
const WARNING: &str = "warning: ";

#[test]
fn secrets_that_others_could_read_are_refused() {
    for (resource, severity, property, instead) in [
        ("timer: [{t: {command: '/bin/echo SECRET', every: 30m}}]", ERROR, "command", "mode: \"0600\""),
        ("cron: [{c: {command: 'echo SECRET', hour: 1}}]", ERROR, "command", "mode: \"0600\""),
        (
            "cron: [{c: {command: 'true', hour: 1, environment: {TOKEN: 'SECRET'}}}]",
            ERROR,
            "environment",
            "mode: \"0600\"",
        ),
        (
            "mount: [{/mnt/x: {device: //nas/x, fstype: cifs, options: 'password=SECRET'}}]",
            ERROR,
            "options",
            "credentials=",
        ),
        ("mount: [{/mnt/x: {device: 'nas:SECRET', fstype: nfs}}]", ERROR, "device", "credentials="),
        ("user: [{ada: {comment: 'pin SECRET'}}]", ERROR, "comment", "/etc/passwd"),
        ("sysctl: [{kernel.domainname: {value: 'SECRET'}}]", ERROR, "value", "kernel parameters"),
        ("host: [{db: {ip: 192.0.2.1, host_aliases: ['SECRET']}}]", ERROR, "host_aliases", "/etc/hosts"),
        ("kernel_module: [{wifi: {options: 'key=SECRET'}}]", ERROR, "options", "options of modules"),
        (
            "package_repository: [{r: {uris: 'https://example.net/SECRET/', suites: stable, components: main, trusted: true}}]",
            ERROR,
            "uris",
            "/etc/apt/auth.conf.d",
        ),
        ("git: [{/srv/x: {url: 'https://example.net/SECRET/x.git'}}]", ERROR, "url", "SSH key"),
        ("file: [{/srv/x: {content: 'a=SECRET'}}]", ERROR, "content", "mode: \"0600\""),
        ("file: [{/srv/x: {content: 'a=SECRET', mode: '0604'}}]", ERROR, "content", "mode: \"0600\""),
        ("exec: [{'curl -u ada:SECRET http://x': }]", WARNING, "command", "stdin"),
        ("exec: [{x: {command: 'curl -u ada:SECRET http://x'}}]", WARNING, "command", "stdin"),
        ("exec: [{x: {command: curl, args: [-u, 'ada:SECRET']}}]", WARNING, "args", "stdin"),
        ("exec: [{x: {command: 'true', unless: 'grep SECRET /etc/x'}}]", WARNING, "unless", "stdin"),
        (
            "exec: [{x: {command: 'true', onlyif: ['true', 'grep SECRET /etc/x']}}]",
            WARNING,
            "onlyif",
            "stdin",
        ),
    ] {
        let scratch = Scratch::new();
        let resource = resource.replace("SECRET", "{{ Data.pw }}");
        scratch.write(
            "m.yaml",
            format!("data:\n  # @sensitive\n  pw: hunter2secret\nccm:\n  resources:\n    - {resource}\n"),
        );
        let called = ccm(&scratch, &["validate", "m.yaml"]).run();
        assert_eq!(called.code, i32::from(severity == ERROR), "{resource}: {}", called.shown());
        let is_named =
            called.stderr.lines().any(|line| line.starts_with(severity) && line.contains("sensitive value"));
        assert!(is_named, "{resource}: {}", called.shown());
        assert!(
            called.stderr.contains(&format!("`{property}`")) || property == "content",
            "{}",
            called.shown()
        );
        assert!(called.stderr.contains(instead), "{resource}: {}", called.shown());
        assert!(!called.shown().contains("hunter2secret"), "{}", called.shown());
    }
    // What goes by another way is fine.
    for resource in [
        "exec: [{x: {command: cat, creates: /srv/x, stdin: SECRET, environment: {TOKEN: SECRET}}}]",
        "file: [{/srv/x: {content: SECRET, mode: '0600'}}]",
        "file: [{/srv/x: {content: SECRET, mode: '0640', sensitive: true}}]",
    ] {
        let scratch = Scratch::new();
        let resource = resource.replace("SECRET", "\"{{ Data.pw }}\"");
        scratch.write(
            "m.yaml",
            format!("data:\n  # @sensitive\n  pw: hunter2secret\nccm:\n  resources:\n    - {resource}\n"),
        );
        let called = ccm(&scratch, &["validate", "--strict", "m.yaml"]).run();
        assert_eq!(called.code, 0, "{resource}: {}", called.shown());
    }
}
