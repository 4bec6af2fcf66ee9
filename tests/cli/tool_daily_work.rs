//! Commands of a normal day, which run for real in the default sandbox of the tools.

use std::path::Path;

use ccm_testkit::{Called, GovernedMachine, skipped};

/// Returns a machine with a small project, or `None` where tests can't have one.
fn machine() -> Option<GovernedMachine> {
    let settings = "callers: {tool: {approval: on_ask, tools: [governed-execute]}}\n";
    let machine = GovernedMachine::new(env!("CARGO_BIN_EXE_ccm"), settings)?;
    for (name, text) in [
        ("m.c", "#include <stdio.h>\nint main(void) { puts(\"hi\"); return 0; }\n"),
        ("Makefile", "all: m\nm: m.c\n\tcc -o m m.c\ntest:\n\techo ok | cat\n"),
        ("run.sh", "#!/bin/sh\nls | head -n 1\nexpr 1 + 1\n"),
    ] {
        machine.scratch.write(&format!("work/{name}"), text);
    }
    Some(machine)
}

fn tool(machine: &GovernedMachine, command: &str) -> Called {
    machine.run(&["tool", "exec", command])
}

#[test]
fn daily_work_runs_in_the_default_sandbox() {
    let Some(machine) = machine() else { return };
    let mut failed = Vec::new();
    for (command, expected) in [
        ("make test", "ok"),
        ("make && ./m", "hi"),
        ("gcc -c m.c && ls m.o", "m.o"),
        ("cc -O2 -o m2 m.c && ./m2", "hi"),
        ("tar czf o.tgz m.c && tar tzf o.tgz", "m.c"),
        ("tar cJf o.txz m.c && tar tf o.txz", "m.c"),
        ("mkdir -p out && tar xzf o.tgz -C out && ls out", "m.c"),
        ("zcat o.tgz | wc -l", ""),
        ("timeout 60 make test", "ok"),
        ("sh run.sh", "2"),
        ("awk 'BEGIN{system(\"echo a\")}'", "a"),
        ("find . -name '*.c' -exec wc -l {} +", "m.c"),
        ("find . -name '*.c' | xargs grep -n main", "main"),
        ("touch a && rm a && ls", "m.c"),
        ("trap 'rm tmp' EXIT; touch tmp; ls tmp", "tmp"),
        ("tmp=$(mktemp); trap 'rm -f \"$tmp\"' EXIT; echo abc > \"$tmp\"; cat \"$tmp\"", "abc"),
        ("for d in out/; do (cd \"$d\" && make -f ../Makefile test); done", "ok"),
        ("perl -pe 's/main/MAIN/' m.c", "MAIN"),
        ("egrep -c main m.c", "1"),
        ("git init -q . && git add m.c && git status --short", "A  m.c"),
        ("git -c user.name=a -c user.email=a@x.example commit -qm x && git log --oneline", "x"),
        ("git grep -c main && git diff && git ls-files", "m.c"),
    ] {
        let called = tool(&machine, command);
        if called.code != 0 || !called.stdout.contains(expected) {
            failed.push(format!("{command}: {}", called.shown()));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn packages_are_listed_in_the_default_sandbox() {
    let Some(machine) = machine() else { return };
    if !Path::new("/usr/bin/dpkg-query").exists() {
        return skipped("dpkg is not installed");
    }
    // The database of the test's machine is empty.
    machine.scratch.write(
        "lib/dpkg/status",
        "Package: tool\nStatus: install ok installed\nVersion: 1.5\nArchitecture: all\n",
    );
    for command in
        ["dpkg -l", "dpkg-query -W tool", "dpkg -s tool", "apt-cache show tool", "apt-cache policy tool"]
    {
        let called = tool(&machine, command);
        assert!(called.code == 0 && called.stdout.contains("1.5"), "{}", called.shown());
    }
}

#[test]
fn manuals_are_read_in_the_default_sandbox() {
    let Some(machine) = machine() else { return };
    let settings = "/etc/manpath.config";
    let Some(paths) = std::fs::read_to_string(settings).ok().filter(|_| Path::new("/usr/bin/man").exists())
    else {
        return skipped("man is not installed");
    };
    machine.scratch.write(settings.trim_start_matches('/'), paths);
    machine.scratch.write("work/tool.1", ".TH TOOL 1\n.SH NAME\ntool \\- does things\n");
    for command in ["man ./tool.1", "man -l tool.1 | head -n 5"] {
        let called = tool(&machine, command);
        assert!(called.code == 0 && called.stdout.contains("does things"), "{}", called.shown());
    }
}
