//! The recipes of the page about health checks, and the checks of the manifests for real jobs: on a machine that is as it
//! should be, and on one with the problem that they look for.

use ccm_testkit::{Called, Certificate, Scratch, WebServer, answer, needs_own_mounts, repository, skipped};

use crate::ccm;

/// Returns a recipe of the page, with texts replaced by those of the test.
fn recipe(name: &str, replaced: &[(&str, &str)]) -> String {
    let page = std::fs::read_to_string(repository("docs/reference/health-checks.md")).expect("the page");
    let mark = format!("<!-- recipe: {name} -->\n```yaml\n");
    let (_, behind) = page.split_once(&mark).expect("the recipe");
    let (text, _) = behind.split_once("```").expect("its end");
    replaced.iter().fold(text.to_owned(), |text, (old, new)| {
        assert!(text.contains(old), "{old} is not in {text}");
        text.replace(old, new)
    })
}

/// Checks that a recipe has a status and an exit code.
fn expect(scratch: &Scratch, manifest: &str, code: i32, line: &str) {
    scratch.write("recipe.yaml", manifest);
    let called = ccm(scratch, &["check", "--manifest", "recipe.yaml"]).run();
    assert_eq!(called.code, code, "{manifest}\n{}", called.shown());
    assert!(called.stdout.contains(line), "{line}: {}", called.shown());
}

#[test]
fn a_web_site_answers() {
    let scratch = Scratch::new();
    for (status, body, code, line) in [
        ("200 OK", "<h1>Welcome</h1>", 0, "ok      site: "),
        ("200 OK", "<h1>It works!</h1>", 4, "critical site: 1 of 2 failed: http"),
        ("500 Internal Server Error", "Welcome", 4, "critical site: 1 of 2 failed: http"),
    ] {
        let server = WebServer::start(move |_, stream| answer(stream, status, &[], body.as_bytes()));
        let manifest = recipe("site", &[("https://www.example.com/", &server.url("/"))]);
        expect(&scratch, &manifest, code, line);
    }
    // Nobody answers.
    let manifest = recipe("site", &[("https://www.example.com/", "http://127.0.0.1:1/")]);
    expect(&scratch, &manifest, 4, "critical site: ");
}

#[test]
fn a_certificate_is_valid_for_some_days() {
    if !std::path::Path::new("/usr/bin/openssl").exists() {
        return skipped("openssl is not installed");
    }
    let scratch = Scratch::new();
    // Seconds of 200 years: every certificate ends before.
    let all = "6307200000";
    for (certificate, replaced, code, line) in [
        (Certificate::Localhost, None, 0, "ok      certificate: notAfter="),
        (Certificate::Localhost, Some("1209600"), 0, "warning certificate: notAfter="),
        (Certificate::Localhost, Some("259200"), 4, "critical certificate: notAfter="),
        (Certificate::Expired, None, 4, "critical certificate: notAfter="),
    ] {
        let server = WebServer::start_tls(certificate, |_, stream| answer(stream, "200 OK", &[], b""));
        let address = server.url("");
        let address = address.trim_start_matches("https://").trim_end_matches('/');
        let mut changes = vec![("www.example.com:443", address)];
        changes.extend(replaced.map(|seconds| (seconds, all)));
        expect(&scratch, &recipe("certificate", &changes), code, line);
    }
    let manifest = recipe("certificate", &[("www.example.com:443", "127.0.0.1:1")]);
    expect(&scratch, &manifest, 4, "critical certificate: no certificate is served");
}

#[test]
fn a_replica_is_behind() {
    let scratch = Scratch::new();
    scratch.write_program("psql", &format!("#!/bin/sh\ncat {}\n", scratch.at("lag")));
    let manifest = recipe("replica", &[("runuser -u postgres -- psql", &scratch.at("psql"))]);
    for (lag, code, line) in [
        ("3\n", 0, "ok      replication: 3 seconds behind"),
        ("45\n", 0, "warning replication: 45 seconds behind"),
        ("400\n", 4, "critical replication: 400 seconds behind"),
    ] {
        scratch.write("lag", lag);
        expect(&scratch, &manifest, code, line);
    }
    // The value is a number for graphs.
    let called = ccm(&scratch, &["check", "--manifest", "recipe.yaml", "--output", "nagios"]).run();
    assert!(called.stdout.contains("replication lag'=400s;30;300"), "{}", called.shown());
    std::fs::remove_file(scratch.at("lag")).expect("a file");
    expect(&scratch, &manifest, 4, "unknown replication");
}

#[test]
fn a_disk_is_filling() {
    let scratch = Scratch::new();
    for (path, limit, code, line) in [
        ("/", "lt: 101", 0, "ok      disk: 2 passed"),
        ("/", "lt: -1", 4, "critical disk: 1 of 2 failed: mount / usage"),
        ("/no/such/mount", "lt: 90", 4, "critical disk: 1 of 2 failed: mount /no/such/mount exists"),
    ] {
        expect(&scratch, &recipe("disk", &[("/var", path), ("lt: 90", limit)]), code, line);
    }
}

/// Runs the checks of a manifest for a real job, where systemd seems to run.
fn checked(scratch: &Scratch, name: &str, data: &[String]) -> Called {
    scratch.write("machine.yaml", "host: {info: {platformFamily: debian, kernelArch: x86_64}}\n");
    let path = repository(&format!("manifests/{name}.yaml"));
    let path = path.to_string_lossy();
    let options = ["check", "--manifest", &path, "--facts", "machine.yaml"];
    let data: Vec<&str> = data.iter().flat_map(|pair| ["--data", pair]).collect();
    let mounts = "mount -t tmpfs tmpfs /run\nmkdir -p /run/systemd/system\n";
    ccm(scratch, &options).args(&data).after_mounting(mounts).run()
}

#[test]
fn shipped_manifests_check_what_they_set_up() {
    if !needs_own_mounts() {
        return;
    }
    let scratch = Scratch::new();
    for (name, line, host, body) in [
        ("nginx-site", "GET /", Some("www.example.com"), ""),
        ("node-exporter", "GET /metrics", None, "node_exporter_build_info{version=\"1.9.1\"} 1\n"),
        ("web-application", "GET /health", None, "fine"),
    ] {
        for is_well in [true, false] {
            let server = WebServer::start(move |request, stream| {
                let is_asked = request.line == line
                    && host.is_none_or(|host| request.field("host").is_some_and(|found| found == host));
                let status = if is_asked && is_well { "200 OK" } else { "502 Bad Gateway" };
                answer(stream, status, &[], body.as_bytes())
            });
            let address = server.url("");
            let address = address.trim_start_matches("http://").trim_end_matches('/');
            let (_, port) = address.split_once(':').expect("a port");
            let data = match name {
                "nginx-site" => vec![format!("port={port}")],
                "node-exporter" => vec![format!("listen={address}")],
                _ => vec![format!("health=http://{address}/health")],
            };
            let called = checked(&scratch, name, &data);
            let code = if is_well { 0 } else { 4 };
            assert_eq!(called.code, code, "{name} {is_well}: {}", called.shown());
            assert!(called.stdout.contains("service#"), "{name}: {}", called.shown());
        }
    }
}
