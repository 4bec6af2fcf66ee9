//! Sessions at a terminal: what ten typical calls show at several widths, in colour and without, and through a pipe.

use std::path::Path;
use std::process::{Command, Stdio};

use ccm_testkit::{OwnMounts, needs_own_mounts};
use insta::assert_snapshot;

use crate::terminal::binary;

/// A machine whose name, files and records are always the same.
const MACHINE: OwnMounts<'_> = OwnMounts {
    namespaces: "--uts",
    etc: &["passwd", "group", "nsswitch.conf", "ld.so.cache"],
    empty: &["/srv", "/var/lib"],
    script: "echo web1 > /proc/sys/kernel/hostname",
};

const SITE: &str = r#"
ccm:
  resources:
    - file:
        - /srv/app/app.conf: {content: "listen 8001\nworkers 4\n", mode: "0644", backup: true}
        - /srv/app/settings-of-the-team-that-runs-the-shop.conf: {content: "a 1\nb 2\n", mode: "0644"}
    - exec:
        - checkout: {command: touch /srv/app/release, creates: /srv/app/release}
        - reload-app: {command: "true", refresh_only: true, subscribe: ["file#/srv/app/app.conf"]}
"#;

const BROKEN: &str = r#"
ccm:
  resources:
    - exec:
        - migrate: {provider: shell, command: "echo connecting; echo 'no such database: app' >&2; exit 7"}
        - start-app: {command: "true", require: ["exec#migrate"]}
"#;

const REFUSED: &str = r#"
ccm:
  resources:
    - file: [{/srv/app/x: {contnet: hi, mode: 0999}}]
    - exec: [{go: {command: "true", require: ["file#/srv/app/y"]}}]
"#;

/// Calls of a session; a line without `ccm` prepares the next one. The backups are listed while there is one run, to which
/// they belong whatever the time.
const SESSION: &str = "
printf 'listen 8000\\nworkers 4\\n' > app/app.conf
ccm apply site.yaml
ccm backup list
printf 'a 0\\nb 2\\n' > app/settings-of-the-team-that-runs-the-shop.conf
ccm apply --noop site.yaml
ccm apply --diff site.yaml
ccm apply -v site.yaml
ccm apply broken.yaml
ccm apply refused.yaml
ccm status
ccm history
ccm history last
ccm timer list
";

/// Receiver of the output of a session.
struct Receiver {
    name: &'static str,
    /// Columns of a terminal. `None` for a pipe.
    width: Option<usize>,
    variables: &'static str,
}

const RECEIVERS: [Receiver; 6] = [
    Receiver { name: "columns_40", width: Some(40), variables: "LC_ALL=C.UTF-8 NO_COLOR=1" },
    Receiver { name: "columns_80", width: Some(80), variables: "LC_ALL=C.UTF-8 NO_COLOR=1" },
    Receiver { name: "columns_200", width: Some(200), variables: "LC_ALL=C.UTF-8 NO_COLOR=1" },
    Receiver { name: "colours", width: Some(80), variables: "LC_ALL=C.UTF-8" },
    Receiver { name: "ascii", width: Some(80), variables: "LC_ALL=C NO_COLOR=1" },
    Receiver { name: "pipe", width: None, variables: "LC_ALL=C.UTF-8" },
];

impl Receiver {
    /// Plays the session on the machine from its beginning, and returns what it shows.
    fn play(&self) -> String {
        for directory in ["/srv", "/var/lib/ccm"] {
            for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
                let path = entry.path();
                let removed =
                    if path.is_dir() { std::fs::remove_dir_all(&path) } else { std::fs::remove_file(&path) };
                removed.expect("an empty directory");
            }
        }
        std::fs::create_dir("/srv/app").expect("a directory");
        let calls = SESSION.lines().map(|line| match line.strip_prefix("ccm ") {
            Some(arguments) => format!(
                "echo '$ {line}'; env -i PATH=/usr/bin:/bin TERM=xterm TZ=UTC {} {} {arguments}",
                self.variables,
                binary()
            ),
            None => line.to_owned(),
        });
        let play = calls.collect::<Vec<_>>().join("\n");
        for (name, text) in
            [("site.yaml", SITE), ("broken.yaml", BROKEN), ("refused.yaml", REFUSED), ("play", &play)]
        {
            std::fs::write(Path::new("/srv").join(name), text).expect("a file");
        }
        let command = match self.width {
            Some(width) => format!("script -qfec 'stty cols {width}; sh play' shown > /dev/null"),
            None => "sh play 2>&1 | cat > shown".to_owned(),
        };
        let status =
            Command::new("sh").args(["-c", &command]).current_dir("/srv").stdin(Stdio::null()).status();
        assert!(status.expect("a shell").success());
        fixed(&std::fs::read_to_string("/srv/shown").expect("what was shown"))
    }
}

/// Replaces what differs from session to session by texts of the same width. Lines with a time that were folded are joined,
/// because the place of the fold depends on the time.
fn fixed(shown: &str) -> String {
    const PATTERNS: [(&str, &str); 6] = [
        (r"\b[0-9a-f]{8}-[0-9a-f]{4}\b", "01a00000-0000"),
        (r"\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\b", "2026-01-02 03:04:05"),
        (r"\.[0-9a-f]{8}\.\d{10}\b", ".00000000.1700000000"),
        (r"\b1[789]\d{8}\b", "1700000000"),
        (r"(?m)^\d+s  ", "0s  "),
        (r"/dev/pts/\d+", "/dev/pts/0"),
    ];
    let mut joined: Vec<String> = Vec::new();
    for line in shown.lines().filter(|line| !line.starts_with("Script ")).map(str::trim_end) {
        match joined.last_mut() {
            Some(last) if last.contains(" resources in ") && line.starts_with("  ") => {
                last.push(' ');
                last.push_str(line.trim_start());
            }
            _ => joined.push(line.replace('\u{1b}', "␛")),
        }
    }
    let text = PATTERNS.iter().fold(joined.join("\n"), |text, (pattern, with)| {
        regex::Regex::new(pattern).expect("a pattern").replace_all(&text, *with).into_owned()
    });
    let time = regex::Regex::new(r"\b\d+(?:\.\d+)?(?:ms|µs|us|s)\b( *)").expect("a pattern");
    let time = time.replace_all(&text, |found: &regex::Captures<'_>| {
        // A cell of a table keeps its width.
        match found[1].len() {
            2.. => format!("{:<width$}", "TIME", width = found[0].chars().count()),
            blanks => format!("TIME{}", " ".repeat(blanks)),
        }
    });
    time.replace(env!("CARGO_PKG_VERSION"), "VERSION")
}

#[test]
fn typical_calls_show_what_they_always_show() {
    if !needs_own_mounts() {
        return;
    }
    MACHINE.isolate(|| {
        for receiver in &RECEIVERS {
            assert_snapshot!(receiver.name, receiver.play());
        }
    });
}
