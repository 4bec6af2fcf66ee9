//! Unchanged packages and services of the machine, against the tools that list them.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::apply::{BenchManifest, Listener};
use crate::measure::{per, print_within, ratio, ratio_within, time, times};
use crate::{binary, manifests};

const STATUS: &str = "/var/lib/dpkg/status";
/// Directory that exists while systemd runs the machine.
const BOOTED: &str = "/run/systemd/system";
const SYSTEMCTL: &str = "/usr/bin/systemctl";
const COUNT: usize = 50;
const ROUNDS: usize = 101;

/// Compares installed packages with a program that reads the database of dpkg, within this process and as a
/// whole process.
pub(crate) fn packages(scratch: &Path) {
    let status = std::fs::read_to_string(STATUS).unwrap_or_default();
    let all = installed(&status);
    let mut names: Vec<&str> = all.keys().copied().collect();
    names.sort_unstable();
    names.truncate(COUNT);
    if names.len() < COUNT || !Path::new("/usr/bin/apt-get").exists() {
        println!("packages-steady: skipped, apt has not installed {COUNT} packages here");
        return;
    }
    for count in [1, COUNT] {
        let names = &names[..count];
        let text = manifest("package", names, "provider: apt");
        let loaded = BenchManifest::new(&text);
        let bare = || {
            let status = std::fs::read_to_string(STATUS).expect("the database of dpkg");
            let installed = installed(&status);
            assert!(names.iter().all(|name| installed.contains_key(name)), "a package is gone");
        };
        let (ours, theirs) = times(ROUNDS, || loaded.apply(Listener::None), bare);
        let aim = (count == COUNT).then_some(1.5);
        // With few installed packages, the run itself takes most of the time.
        let aim_within = aim.filter(|_| all.len() >= 10 * COUNT);
        ratio_within(&format!("packages-steady: {count} of {}", all.len()), ours, theirs, aim_within);
        if let Some(ccm) = binary::ccm() {
            let (many, one) = (scratch.join("many.yaml"), scratch.join("one.yaml"));
            std::fs::write(&many, text).expect("a manifest");
            std::fs::write(&one, manifests::satisfied_execs(1)).expect("a manifest");
            let start_up_and_bare = || {
                binary::run(&ccm, scratch, &one);
                bare();
            };
            let (ours, theirs) = times(ROUNDS, || binary::run(&ccm, scratch, &many), start_up_and_bare);
            ratio_within("  from start to end", ours, theirs, aim);
        }
    }
}

/// Returns the versions of installed packages by name.
fn installed(status: &str) -> HashMap<&str, &str> {
    let mut installed = HashMap::new();
    let (mut name, mut is_installed) = ("", false);
    for line in status.lines() {
        if let Some(value) = line.strip_prefix("Package: ") {
            name = value;
        } else if let Some(value) = line.strip_prefix("Status: ") {
            is_installed = value.ends_with(" installed");
        } else if let Some(version) = line.strip_prefix("Version: ")
            && is_installed
        {
            installed.insert(name, version);
        }
    }
    installed
}

/// Compares unchanged units with one call that reads all; without systemd, both read recorded output.
pub(crate) fn services(scratch: &Path) {
    with_systemd(scratch, "services-steady", services_here);
}

/// Measures a first run in noop, before the units are installed: every read fails, and the message names an
/// earlier resource that may provide the unit. The time for each unit must not grow with their number.
pub(crate) fn missing_services(scratch: &Path) {
    with_systemd(scratch, "services-missing", missing_here);
}

fn missing_here() {
    let mut each = Vec::new();
    for count in [1_000, 5_000] {
        let names: Vec<String> = (0..count).map(|number| format!("{MISSING}-{number}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let services = manifest("service", &names, "ensure: running");
        let loaded = BenchManifest::new(&services.replace("  resources:\n", INSTALLS)).in_noop();
        let took = time(5, || loaded.apply(Listener::None));
        per(&format!("services-missing: first noop of {count}, each"), took, count);
        each.push(took.as_secs_f64() / f64::from(count));
    }
    print_within("services-missing: time per service, 5000 services / 1000 services", each[1] / each[0], 1.5);
}

/// Beginning of the names of missing units.
const MISSING: &str = "ccm-bench-missing";

/// Resource before the services, which may provide their units.
const INSTALLS: &str = "  resources:\n    - exec: [installs: {command: /bin/true}]\n";

/// Measures a part where systemd runs, or its stand-in.
fn with_systemd(scratch: &Path, part: &str, measure: fn()) {
    if Path::new(BOOTED).is_dir() {
        measure();
    } else if let Err(reason) = with_stand_in(scratch, part) {
        println!("{part}: skipped, no systemd runs here, and {reason}");
    }
}

fn services_here() {
    let units = units();
    let (mut lines, mut names) = (String::new(), Vec::new());
    for (name, ensure) in &units {
        let _ = writeln!(lines, "        - {name}: {{ensure: {ensure}}}");
        names.push(&**name);
    }
    // Noop, so that a unit that starts by itself in the meantime is not stopped.
    let loaded = BenchManifest::new(&format!("ccm:\n  resources:\n    - service:\n{lines}")).in_noop();
    let bare = || {
        let printed = show(PROPERTIES, &names);
        assert_eq!(printed.matches("LoadState=loaded").count(), names.len(), "a unit is gone");
    };
    let (ours, theirs) = times(ROUNDS, || loaded.apply(Listener::None), bare);
    let tool = if ccm_host::variable(STAND_IN).is_some() { "a stand-in for systemctl" } else { "systemctl" };
    let name = format!("services-steady: {} installed, {tool}", units.len());
    if units.len() == COUNT { ratio_within(&name, ours, theirs, 1.5) } else { ratio(&name, ours, theirs) }
}

/// Returns installed, running or stopped units with their `ensure`, without those known by another name.
fn units() -> Vec<(String, &'static str)> {
    let list =
        ["list-unit-files", "--type=service,timer,socket,path", "--plain", "--no-legend", "--no-pager"];
    let printed = systemctl(&list);
    let names = printed.lines().filter_map(|line| line.split_whitespace().next());
    let names: Vec<&str> = names.filter(|name| !name.contains('@')).collect();
    let shown = show("Id,LoadState,ActiveState", &names);
    let is_now = |(name, block): (&&str, &str)| {
        let has = |line: &str| block.lines().any(|found| found == line);
        let ensure = match () {
            () if has("ActiveState=active") => "running",
            () if has("ActiveState=inactive") => "stopped",
            () => return None,
        };
        (has(&format!("Id={name}")) && has("LoadState=loaded")).then(|| ((*name).to_owned(), ensure))
    };
    names.iter().zip(shown.split("\n\n")).filter_map(is_now).take(COUNT).collect()
}

const PROPERTIES: &str = "Id,Names,LoadState,LoadError,ActiveState,SubState,UnitFileState,NeedDaemonReload,\
    CanReload,Type,RemainAfterExit,Result,ExecMainCode,ExecMainStatus,DropInPaths,TimeoutStartUSec,TimeoutStopUSec,\
    Triggers";

/// Returns the output of `systemctl show` for units, which has an empty line between two.
fn show(properties: &str, names: &[&str]) -> String {
    systemctl(&[&["--no-pager", "show", &*format!("--property={properties}"), "--"], names].concat())
}

fn systemctl(arguments: &[&str]) -> String {
    let output = Command::new(SYSTEMCTL).args(arguments).stdin(Stdio::null()).output().expect("systemctl");
    assert!(output.status.success(), "systemctl failed");
    String::from_utf8(output.stdout).expect("text")
}

/// Variable that is set if systemctl is a stand-in.
const STAND_IN: &str = "CCM_BENCH_STAND_IN";

const STAND_IN_TEXT: &str = r#"#!/bin/sh
case "$*" in
*list-unit-files*) exec cat '[list]' ;;
*[missing]*)
    until [ "$1" = -- ]; do shift; done
    shift
    for unit; do
        printf 'Id=%s\nNames=%s\nLoadState=not-found\nActiveState=inactive\nSubState=dead\n\n' "$unit" "$unit"
    done
    exit ;;
*UnitPath*) exec echo UnitPath=/etc/systemd/system ;;
esac
exec cat '[shown]'
"#;

/// Measures in a namespace in which a directory and a program replace systemd.
fn with_stand_in(scratch: &Path, part: &str) -> Result<(), &'static str> {
    let script =
        "mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/system && mount --bind \"$1\" /usr/bin/systemctl";
    let program = scratch.join("systemctl");
    let (list, shown) = (scratch.join("list"), scratch.join("shown"));
    let (mut units, mut blocks) = (String::new(), String::new());
    for number in 0..COUNT {
        // Writing to a `String` can't fail.
        let _ = writeln!(units, "unit-{number}.service enabled enabled");
        let _ = write!(blocks, "{}", block(number));
    }
    std::fs::write(&list, units).expect("to write");
    std::fs::write(&shown, blocks).expect("to write");
    let text = STAND_IN_TEXT
        .replace("[missing]", MISSING)
        .replace("[list]", &list.to_string_lossy())
        .replace("[shown]", &shown.to_string_lossy());
    std::fs::write(&program, text).expect("to write");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&program, executable).expect("to make it executable");
    let unshare = |command: &str| {
        let mut unshare = Command::new("unshare");
        unshare.args(["--mount", "sh", "-c", command, "sh"]).arg(&program);
        unshare
    };
    let can = unshare(script).stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !can.is_ok_and(|status| status.success()) {
        return Err("a stand-in needs root and namespaces");
    }
    let this = std::env::current_exe().expect("this program");
    let measured = unshare(&format!("{script} && exec \"$2\" --rows {part}"))
        .arg(this)
        .env(STAND_IN, "yes")
        .status()
        .expect("this program");
    assert!(measured.success(), "the benchmark failed");
    Ok(())
}

/// Returns the output of `systemctl show` for a running service.
fn block(number: usize) -> String {
    format!(
        "{}Type=notify\nTimeoutStartUSec=1min 30s\nTimeoutStopUSec=1min 30s\nRemainAfterExit=no\nResult=success\n\
         ExecMainCode=0\nExecMainStatus=0\nId=unit-{number}.service\nNames=unit-{number}.service\nLoadState=loaded\n\
         ActiveState=active\nSubState=running\nDropInPaths=\nUnitFileState=enabled\nNeedDaemonReload=no\n\
         CanReload=no\nLoadError=\n",
        if number == 0 { "" } else { "\n" }
    )
}

fn manifest(type_name: &str, names: &[&str], properties: &str) -> String {
    let mut text = format!("ccm:\n  resources:\n    - {type_name}:\n");
    for name in names {
        let _ = writeln!(text, "        - {name}: {{{properties}}}");
    }
    text
}
