//! Secrets in every place of a manifest, and a search for each in everything that a run prints and leaves.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use ccm_testkit::{Called, Ccm, Scratch, is_root, wait_until};

/// Places in data. Each holds a secret of its own.
const IN_DATA: [&str; 14] = [
    "argument",
    "capture",
    "command",
    "content",
    "environment",
    "expect",
    "from_file",
    "from_hiera",
    "guard",
    "message",
    "name",
    "sandboxed",
    "stdin",
    "template",
];
/// Places in resources that are sensitive themselves.
const IN_RESOURCES: [&str; 6] =
    ["own_argument", "own_content", "own_environment", "own_guard", "own_output", "own_stdin"];

/// Returns the secret of a place, with characters that encodings escape.
fn secret(place: &str) -> String {
    format!("{place} s3cr3t \"of\" 'the'/é%&\\{}", place.len() * 7919)
}

fn json(text: &str) -> String {
    serde_json::to_string(text).expect("a text")
}

/// Prints a variable in the forms in which programs write it.
const PRINT: &str = r#"printf '%s\n' "$S"; printf %s "$S" | base64 -w0; echo; printf x%s "$S" | base64 -w0; echo; printf xy%s "$S" | base64 -w0 | tr +/ -_; echo; printf %s "$S" | od -An -v -tx1 | tr -d ' \n'; echo; printf %s "$S" | od -An -v -tx1 | tr -d ' \n' | tr a-f A-F >&2; for locale in C C.UTF-8; do LC_ALL=$locale bash -c 'printf "%q\n" "$S"'; done; for part in $S; do printf '%s ' "$part"; done"#;

const MANIFEST: &str = r#"
ccm:
  pre_message: "before {{ Data.message }}"
  post_message: "after {{ Data.message }}"
  resources:
    - exec:
        - defaults: {logoutput: true, returns: [0, 1, 2, 3]}
        - argument: {command: printf, args: ["%s\n", "{{ Data.argument }}"]}
        - text: {command: printf, args: ["%s\n", "{{ Data.command }}", "{{ toJSON(Data.command) }}", "{{ Data.command | toBase64() }}"]}
        - environment: {command: [print], provider: shell, environment: {S: "{{ Data.environment }}"}}
        - stdin: {command: 'S=$(cat); [print-here]', provider: shell, stdin: "{{ Data.stdin }}"}
        - guard: {command: 'true', provider: shell, environment: {S: "{{ Data.guard }}"}, unless: [[print], "test \"$S\" = {{ toJSON(Data.guard) }}"]}
        - "named {{ Data.name }}": {command: 'true', alias: "alias {{ Data.name }}"}
        - fails: {command: [print], provider: shell, returns: [77], environment: {S: "{{ Data.expect }}"}}
        - captured: {command: [print], provider: shell, environment: {S: "{{ Data.capture }}"}, capture: {found: stdout.raw}}
        - not there: {command: "/no/{{ Data.command }}"}
        - sandboxed: {command: [print], provider: shell, environment: {S: "{{ Data.sandboxed }}"}, stdin: "{{ Data.sandboxed }}", sandbox: {advisory: true[user]}}
        - sensitive: {sensitive: true, command: [print-own], provider: shell, environment: {S: [own_environment], OUTPUT: [own_output]}, stdin: [own_stdin]}
        - sensitive arguments: {sensitive: true, command: printf, args: ["%s\n", [own_argument]], unless: [own_guard]}
        - waits: {command: 'touch begun; until test -e go; do sleep 0.01; done; cat', cwd: "[dir]", provider: shell, environment: {S: "{{ Data.environment }}"}, stdin: "{{ Data.stdin }}"}
    - file:
        - [dir]/managed/content: {content: "{{ Data.content }}\n", backup: true, mode: "0600"}
        - [dir]/managed/template: {source: template.j2, mode: "0600"}
        - [dir]/managed/file: {content: "{{ Data.from_file }} {{ Data.from_hiera }}", mode: "0600"}
        - [dir]/managed/own: {content: [own_content], sensitive: true, mode: "0600"}
        - "[dir]/managed/no/{{ Data.argument }}": {content: "{{ Captures.captured.found }}", mode: "0600"}
    - exec:
        - reads: {command: cat [dir]/managed/own [dir]/managed/content, logoutput: true}
"#;

fn write(scratch: &Scratch) {
    let mut data = String::from("data:\n");
    for place in IN_DATA {
        let value = match place {
            "from_file" => "{{ file('secret.txt') }}".to_owned(),
            "from_hiera" => "replaced-by-hiera".to_owned(),
            _ => secret(place),
        };
        writeln!(data, "  # @sensitive\n  {place}: {}", json(&value)).expect("a text grows");
    }
    let hiera = format!("data:\n  # @sensitive\n  from_hiera: {}\n", json(&secret("from_hiera")));
    scratch.write("hiera.yaml", hiera);
    scratch.write("secret.txt", secret("from_file"));
    scratch.write("template.j2", "before\n{{ Data.template }}\nafter\n");
    scratch.write("managed/content", "old\n");
    let user = if is_root() { "}, user: nobody" } else { "}" };
    let mut manifest = data + MANIFEST;
    for place in IN_RESOURCES {
        let value = if place == "own_guard" { format!("false {place}-s3cr3t") } else { secret(place) };
        manifest = manifest.replace(&format!("[{place}]"), &json(&value));
    }
    let print_own = format!("{PRINT}; echo \"$OUTPUT\"; cat; exit 9");
    for (name, text) in [
        ("[print]", json(PRINT)),
        ("[print-own]", json(&print_own)),
        ("[print-here]", PRINT.replace('\'', "''")),
        ("[user]}", user.to_owned()),
        ("[dir]", scratch.path().display().to_string()),
    ] {
        manifest = manifest.replace(name, &text);
    }
    scratch.write("manifest.yaml", manifest);
}

/// Returns the secrets, each in all forms that ccm promises to find.
fn forms() -> BTreeMap<String, Vec<String>> {
    let places = IN_DATA.into_iter().chain(IN_RESOURCES).filter(|place| *place != "own_guard");
    let mut forms: BTreeMap<String, Vec<String>> =
        places.map(|place| (place.to_owned(), of_secret(&secret(place)))).collect();
    forms.insert("own_guard".to_owned(), vec!["own_guard-s3cr3t".to_owned()]);
    forms
}

fn of_secret(secret: &str) -> Vec<String> {
    let escaped = json(secret);
    let escaped = escaped.trim_matches('"').to_owned();
    let percent = |is_kept: fn(u8) -> bool| {
        secret.bytes().fold(String::new(), |text, byte| match byte {
            byte if is_kept(byte) => text + &char::from(byte).to_string(),
            byte => text + &format!("%{byte:02X}"),
        })
    };
    let hexadecimal = secret.bytes().fold(String::new(), |text, byte| text + &format!("{byte:02x}"));
    let encoded = percent(|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte));
    let backslashed = secret.chars().fold(String::new(), |text, character| match character {
        ' ' | '"' | '\'' | '&' | '\\' | '{' | '}' => text + "\\" + &character.to_string(),
        _ => text + &character.to_string(),
    });
    let mut forms = vec![
        secret.to_owned(),
        escaped.replace('/', "\\/"),
        escaped.replace('&', "\\u0026"),
        escaped.replace('é', "\\u00e9"),
        secret.replace('\'', r"'\''"),
        secret.replace('\'', r#"'"'"'"#),
        backslashed,
        escaped.replace('&', "\\u0026").replace('/', "\\/"),
        escaped.replace('&', "\\u0026").replace('é', "\\u00e9"),
        escaped.replace('\'', "\\u0027"),
        escaped,
        percent(|byte| byte.is_ascii_alphanumeric() || b"-._~!'()*".contains(&byte)),
        percent(|byte| byte.is_ascii_alphanumeric() || b"-._~!'()*;,/?:@&=+$#".contains(&byte)),
        percent(|byte| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte)),
        encoded.replace("%20", "+"),
        encoded.to_lowercase(),
        encoded,
        hexadecimal.to_uppercase(),
        hexadecimal,
    ];
    for shift in 0..3 {
        // The characters at both ends depend on what surrounds the secret.
        let text = base64(&[&b"xyz"[..shift], secret.as_bytes()].concat());
        let inner = text[(shift * 4).div_ceil(3)..text.len() - 4].to_owned();
        forms.push(inner.replace('+', "-").replace('/', "_"));
        forms.push(inner);
    }
    forms
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let at = |index: usize| u32::from(chunk.get(index).copied().unwrap_or_default());
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        text.extend([18, 12, 6, 0].map(|shift| char::from(DIGITS[(bits >> shift & 63) as usize])));
    }
    text
}

/// Finds secrets in a text.
struct Search {
    forms: BTreeMap<String, Vec<String>>,
    found: Vec<String>,
}

impl Search {
    fn text(&mut self, place: &str, text: &str) {
        for (secret, forms) in &self.forms {
            for form in forms.iter().filter(|form| text.contains(*form)) {
                self.found.push(format!("{secret} is in {place} as {form:?}"));
            }
        }
    }

    /// Searches names and contents of everything below a directory. Returns the number of files.
    fn search_below(&mut self, directory: &Path) -> usize {
        let mut files = 0;
        for entry in fs::read_dir(directory).expect("a directory") {
            let path = entry.expect("an entry").path();
            let name = path.display().to_string();
            self.text("a name", &name);
            // Backups hold the old content of managed files.
            if path.is_dir() && !path.ends_with("backups") {
                files += self.search_below(&path);
            } else if path.is_file() {
                files += 1;
                self.text(&name, &String::from_utf8_lossy(&fs::read(&path).expect("a file")));
            }
        }
        files
    }

    /// Searches the arguments of a process and of those below it.
    fn arguments(&mut self, pid: u32) {
        let read = |name: &str| fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default();
        self.text(
            "the arguments of a process",
            &String::from_utf8_lossy(&read("cmdline")).replace('\0', " "),
        );
        let children = String::from_utf8_lossy(&read(&format!("task/{pid}/children"))).into_owned();
        for child in children.split_whitespace().filter_map(|child| child.parse().ok()) {
            self.arguments(child);
        }
    }
}

/// Runs ccm, and searches the arguments of all processes while a command runs.
fn run(scratch: &Scratch, options: &[&str], search: &mut Search) -> Called {
    let temporary = scratch.path().join("temporary");
    fs::create_dir(&temporary).expect("a directory");
    fs::set_permissions(&temporary, std::os::unix::fs::PermissionsExt::from_mode(0o1777)).expect("a mode");
    let call = Ccm::new(env!("CARGO_BIN_EXE_ccm"), scratch)
        .args(&["apply", "manifest.yaml", "--hiera", "hiera.yaml", "--events-file", "events.jsonl"])
        .args(options)
        .variable("TMPDIR", &temporary.display().to_string());
    let output = scratch.path().join("stdout");
    // A pipe that nobody reads would fill.
    let call = call.stdout(fs::File::create(&output).expect("a file"));
    let running = call.start();
    if !options.contains(&"--noop") {
        let stat = format!("/proc/{}/stat", running.pid());
        let has_ended = || fs::read_to_string(&stat).is_ok_and(|row| row.contains(") Z "));
        wait_until("the command waits", || scratch.has("begun") || has_ended());
        search.arguments(running.pid());
        scratch.write("go", "");
    }
    let called = running.finish();
    assert_eq!(fs::read_dir(&temporary).expect("a directory").count(), 0, "{}", called.shown());
    Called { stdout: fs::read_to_string(output).expect("the output"), ..called }
}

#[test]
fn runs_leak_no_secret() {
    for (options, code) in [
        (&["--diff", "-v"][..], 4),
        (&["--diff", "--output", "jsonl"], 4),
        (&["--output", "json", "-q"], 4),
        (&["--noop", "--diff", "-v"], 0),
    ] {
        let scratch = Scratch::new();
        write(&scratch);
        let mut search = Search { forms: forms(), found: Vec::new() };
        let called = run(&scratch, options, &mut search);
        assert_eq!(called.code, code, "{options:?}: {}", called.shown());
        search.text("the output", &called.stdout);
        search.text("the error output", &called.stderr);
        search.text("the events", &scratch.read("events.jsonl").expect("events"));
        if !options.contains(&"--noop") {
            let files = search.search_below(&scratch.state());
            assert!(files > 2, "{files} files");
        }
        assert_eq!(search.found, [""; 0], "{options:?}: {}", called.shown());
        assert!(called.stdout.contains("[redacted]"), "{}", called.shown());
        if options.contains(&"--noop") {
            continue;
        }
        // The secrets arrived where they belong.
        for (file, place) in [("content", "content"), ("template", "template"), ("file", "from_hiera")] {
            let managed = scratch.read(&format!("managed/{file}")).unwrap_or_default();
            assert!(managed.contains(&secret(place)), "{file}: {managed}\n{}", called.shown());
        }
    }
}

/// A search that finds nothing would show nothing.
#[test]
fn every_form_of_a_secret_is_found() {
    let mut search = Search { forms: forms(), found: Vec::new() };
    let secret = secret("stdin");
    for (tool, text) in [
        ("JSON", serde_json::json!({ "a": secret }).to_string()),
        ("base64", base64(format!("before {secret} after").as_bytes())),
        ("base64 with another start", base64(format!("before: {secret} after").as_bytes())),
        ("a shell", format!("'{}'", secret.replace('\'', r"'\''"))),
        ("Python", format!("'{}'", secret.replace('\'', r#"'"'"'"#))),
    ] {
        search.text(tool, &text);
        assert!(!search.found.is_empty(), "{tool}: {text}");
        search.found.clear();
    }
}
