//! Pages about many machines, and the repository to copy: every command of them runs, with stand-ins for servers.

use std::fs;
use std::path::Path;

use ccm_testkit::{Certificate, Scratch, TEST_AUTHORITY, WebServer, answer, repository, shell, skipped};

use crate::ccm;

/// Maximum number of words of a page: it is read and done in ten minutes.
const MAX_WORDS: usize = 1500;

/// The pages, and where their commands leave the file of signers.
const PAGES: [(&str, &str); 4] = [
    ("git-sources.md", "site/signers"),
    ("releases.md", "signers"),
    ("signing-releases.md", "signers"),
    ("pipeline.md", "home/signers"),
];

/// Stand-ins for programs: nobody becomes root, nothing is copied to another machine, no timer and no package is installed.
const TOOLS: &str = r#"
mkdir tools home home/.ssh www www/ccm
git init -q --bare -b main site.git
ssh-keygen -q -t ed25519 -N '' -C alice -f home/.ssh/id_ed25519
printf '[user]\nname = alice\nemail = alice@example.com\n' > home/.gitconfig
printf '#!/bin/sh\nexec "$@"\n' > tools/sudo
printf '#!/bin/sh\nexec cp "$@"\n' > tools/scp
for name in curl apt-get; do printf '#!/bin/sh\n' > tools/$name; done
cat > tools/ccm <<'END'
#!/bin/sh
case "$1 $2" in "timer install") shift 2; set -- timer install --noop "$@" ;; esac
case " $* " in *" https://"*) set -- "$@" --ca-file "$TOP/authority.pem" ;; esac
exec "$PROGRAM" "$@"
END
chmod 755 tools/*
"#;

/// Directory with the stand-ins and a web server.
struct Ground {
    scratch: Scratch,
    server: WebServer,
}

impl Ground {
    fn new() -> Self {
        let scratch = Scratch::new();
        scratch.write("authority.pem", TEST_AUTHORITY);
        shell(TOOLS, scratch.path());
        let files = scratch.path().join("www");
        let server = WebServer::start_tls(Certificate::Localhost, move |request, stream| {
            let path = request.line.split(' ').nth(1).unwrap_or_default().trim_start_matches('/');
            match fs::read(files.join(path)) {
                Ok(content) => answer(stream, "200 OK", &[], &content),
                Err(_) => answer(stream, "404 Not Found", &[], b""),
            }
        });
        Self { scratch, server }
    }

    /// Runs commands with the stand-ins in place of the names of a page. Each has to succeed.
    fn run(&self, what: &str, commands: &str, signers: &str) {
        let top = self.scratch.path().display().to_string();
        let at = |path: &str| self.scratch.at(path);
        let root = format!("--root \"$(git -C {} rev-list --max-parents=0 main)\"", at("site.git"));
        let replaced = [
            ("/tmp/", at("home/")),
            ("git+https://git.example.com/", format!("git+file://{top}/")),
            ("git@git.example.com:", format!("{top}/")),
            ("--root ROOT", root),
            ("https://web.example.com", self.server.url("")),
            ("web.example.com:/srv/www/", at("www/")),
            ("/etc/ccm/signers", at(signers)),
            ("/etc/motd", at("motd")),
            ("/srv/ccm/", format!("{top}/")),
            ("cp -r examples/site", format!("cp -r {}", repository("examples/site").display())),
            ("\"a long passphrase\"", "''".to_owned()),
            ("\"another passphrase\"", "''".to_owned()),
        ];
        let commands = replaced.iter().fold(commands.to_owned(), |text, (name, by)| text.replace(name, by));
        let lines: Vec<String> = commands.lines().map(checked).collect();
        let script = format!(
            "exec 2>&1; set -eux; export TOP={top} PROGRAM={} HOME={} PATH={}:$PATH CCM_STATE_DIR={}\n{}\nset +x; echo done",
            program(),
            at("home"),
            at("tools"),
            self.scratch.state().display(),
            lines.join("\n")
        );
        self.scratch.write("script", script);
        let printed = shell("exec sh script", self.scratch.path());
        assert!(printed.ends_with("\ndone\n"), "{what}: {printed}");
    }
}

/// Returns the path of the program, which another machine may name.
fn program() -> String {
    std::env::var("CCM_TEST_BINARY").unwrap_or_else(|_| env!("CARGO_BIN_EXE_ccm").to_owned())
}

/// Returns a line that fails unless the command ends as its comment says.
fn checked(line: &str) -> String {
    match line.split_once(" # exits with ") {
        Some((command, code)) => format!("code=0; {command} || code=$?; test $code = {code}"),
        None => line.to_owned(),
    }
}

/// Returns the commands of a page: its blocks for a shell.
fn commands(page: &str) -> String {
    let blocks = page.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next());
    blocks.collect()
}

#[test]
fn the_commands_about_many_machines_do_what_the_pages_say() {
    for (page, signers) in PAGES {
        let text = fs::read_to_string(repository(&format!("docs/use/{page}"))).expect("a page");
        let words = text.split_whitespace().count();
        assert!(words <= MAX_WORDS, "{page} has {words} words");
        let commands = commands(&text);
        assert!(commands.lines().count() >= 5, "{page}: {commands}");
        Ground::new().run(page, &commands, signers);
    }
}

#[test]
fn the_pipelines_of_the_site_run_its_script() {
    for (file, number) in [("github.yml", "GITHUB_RUN_NUMBER=5"), ("gitlab.yml", "CI_PIPELINE_IID=5")] {
        let ground = Ground::new();
        let text = fs::read_to_string(repository(&format!("examples/site/pipelines/{file}")));
        let pipeline: serde_yaml::Value = serde_yaml::from_str(&text.expect("a pipeline")).expect("YAML");
        let mut scripts = Vec::new();
        collect_scripts(&pipeline, &mut scripts);
        assert!(scripts.iter().filter(|script| script.contains("pipelines/run")).count() >= 2, "{scripts:?}");
        // GitLab has secrets in files, and GitHub in variables.
        let secrets = if file == "gitlab.yml" {
            ""
        } else {
            "for name in SIGNING_KEY DEPLOY_KEY KNOWN_HOSTS; do eval \"$name=\\$(cat \\$$name)\"; done"
        };
        let script = format!(
            "cp -r examples/site site\nexport {number} CCM_PACKAGE=x TARGET=web.example.com:/srv/www/ccm/\n\
             cp home/.ssh/id_ed25519 key\necho \"ops $(cat home/.ssh/id_ed25519.pub)\" > signers\n\
             export SIGNING_KEY=$PWD/key DEPLOY_KEY=$PWD/key KNOWN_HOSTS=$PWD/signers\n{secrets}\ncd site\n{}\n\
             ccm release verify $TARGET/base.release --signers ../signers",
            scripts.join("\n")
        );
        ground.run(file, &script, "signers");
        assert!(ground.scratch.has("www/ccm/base.release"), "{file}");
    }
}

/// Adds the commands of a pipeline, in their order.
fn collect_scripts(value: &serde_yaml::Value, scripts: &mut Vec<String>) {
    let Some(map) = value.as_mapping() else {
        value.as_sequence().into_iter().flatten().for_each(|item| collect_scripts(item, scripts));
        return;
    };
    for (key, value) in map {
        match (key.as_str().unwrap_or_default(), value) {
            ("run", value) => scripts.extend(value.as_str().map(str::to_owned)),
            ("script" | "before_script", serde_yaml::Value::Sequence(lines)) => {
                scripts.extend(lines.iter().filter_map(|line| line.as_str().map(str::to_owned)));
            }
            (_, value) => collect_scripts(value, scripts),
        }
    }
}

/// Machines of the matrix, and what their run would do beyond the role of all machines.
const MACHINES: [(&str, &[&str]); 4] = [
    ("web1", &["package#nginx", "file#/etc/nginx/conf.d/sites.conf", "service#nginx"]),
    ("web2", &["package#nginx", "file#/etc/nginx/conf.d/sites.conf", "service#nginx"]),
    ("db1", &["sysctl#vm.swappiness", "service#postgresql"]),
    ("any", &[]),
];

#[test]
fn the_site_is_valid_for_every_machine_and_runs_in_noop() {
    let scratch = Scratch::new();
    let site = repository("examples/site");
    let at = |name: &str| site.join(name).display().to_string();
    let mut facts: Vec<String> = fs::read_dir(site.join("facts"))
        .expect("facts")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    facts.sort();
    let mut known: Vec<String> = MACHINES.iter().map(|(name, _)| format!("{name}.yaml")).collect();
    known.sort();
    assert_eq!(facts, known);
    let manifest = at("site.yaml");
    let matrix: Vec<String> = facts.iter().map(|name| at(&format!("facts/{name}"))).collect();
    let words = ["validate", "--strict", &*manifest, "--matrix"];
    let valid = ccm(&scratch, &words).args(&matrix.iter().map(String::as_str).collect::<Vec<_>>()).run();
    assert_eq!((valid.code, &*valid.stderr), (0, ""), "{}", valid.shown());
    for (name, resources) in MACHINES {
        let facts = at(&format!("facts/{name}.yaml"));
        // Without systemd there is nothing that could start a service.
        let has_systemd = Path::new("/run/systemd/system").exists();
        let (skip, planned): (Vec<&str>, Vec<&str>) =
            resources.iter().copied().partition(|resource| resource.starts_with("service#") && !has_systemd);
        let skipping = skip.iter().flat_map(|resource| ["--skip", resource]).collect::<Vec<_>>();
        let words = [&["apply", "--noop", "-v", &manifest, "--facts", &facts], &skipping[..]].concat();
        let noop = ccm(&scratch, &words).run();
        if noop.stdout.contains("no provider can work on this host") {
            skipped("no provider of an example can work here");
            return;
        }
        assert_eq!(noop.code, 0, "{name}: {}", noop.shown());
        let reported = noop.reported();
        for resource in planned {
            let line = reported.lines().find(|line| line.starts_with(&format!("{resource} ")));
            let line = line.unwrap_or_else(|| panic!("{name}: no {resource}: {}", noop.shown()));
            assert!(!line.contains("skipped"), "{name}: {line}");
        }
        let others = reported.lines().filter(|line| line.contains("not managed")).count();
        let expected = match name {
            "any" => 8,
            _ => 4,
        };
        assert_eq!(others, expected, "{name}: {}", noop.shown());
        assert!(scratch.names().is_empty(), "{name} changed something in noop: {}", noop.shown());
    }
}
