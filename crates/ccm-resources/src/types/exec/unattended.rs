//! Warnings about commands that ask, although nobody answers.

use ccm_model::{Diagnostic, DiagnosticKind};
use ccm_properties::CheckInput;

use super::command::Exec;

/// Program that asks before it acts.
struct AskingProgram {
    names: &'static [&'static str],
    /// Subcommands that ask.
    actions: &'static [&'static str],
    /// Options with which it does not ask. The first is the one to write.
    answers: &'static [&'static str],
    hint: &'static str,
}

const PROGRAMS: &[AskingProgram] = &[
    AskingProgram {
        names: &["apt", "apt-get", "aptitude"],
        actions: &[
            "install",
            "remove",
            "purge",
            "upgrade",
            "dist-upgrade",
            "full-upgrade",
            "autoremove",
            "reinstall",
        ],
        answers: &["-y", "--yes", "--assume-yes", "-qq", "--dry-run", "-s", "--simulate", "--download-only"],
        hint: "declare a `package`, or write `-y`",
    },
    AskingProgram {
        names: &["dnf", "yum", "microdnf"],
        actions: &["install", "remove", "erase", "upgrade", "update", "downgrade", "autoremove", "reinstall"],
        answers: &["-y", "--assumeyes", "--assumeno", "--downloadonly"],
        hint: "declare a `package`, or write `-y`",
    },
    AskingProgram {
        names: &["zypper"],
        actions: &["install", "in", "remove", "rm", "update", "up", "patch", "dup"],
        answers: &["-n", "--non-interactive", "-y", "--no-confirm"],
        hint: "write `--non-interactive` before the command of zypper",
    },
    AskingProgram {
        names: &["pacman"],
        actions: &["-S", "-Sy", "-Su", "-Syu", "-R", "-Rs", "-Rns", "-U"],
        answers: &["--noconfirm", "-p", "--print"],
        hint: "declare a `package`, or write `--noconfirm`",
    },
    AskingProgram {
        names: &["pip", "pip3"],
        actions: &["uninstall"],
        answers: &["-y", "--yes"],
        hint: "write `-y`",
    },
    AskingProgram {
        names: &["ufw"],
        actions: &["enable", "reset", "delete"],
        answers: &["--force", "--dry-run"],
        hint: "write `ufw --force`",
    },
    AskingProgram {
        names: &["visudo", "vipw", "passwd"],
        actions: &[""],
        answers: &[
            "-c", "--check", "--stdin", "-l", "-u", "-d", "-e", "-S", "--lock", "--unlock", "--delete",
            "--expire",
        ],
        hint: "declare a `user` or a `file`: nobody is at a terminal",
    },
];

/// Returns the warning about a command that waits for an answer, or gives up without one.
pub(crate) fn warning(exec: &Exec, checked: &CheckInput<'_>) -> Option<Diagnostic> {
    // An answer may come from there.
    if exec.stdin.is_some() || exec.executor.is_some() {
        return None;
    }
    let (program, asking) = asks(&exec.line.program, &exec.line.args)?;
    let resource = checked.resource;
    let span = resource.properties.get("command").map_or(resource.span, |node| node.span);
    let message = format!("`{program}` asks before it acts, and nobody answers");
    Some(Diagnostic::warning(DiagnosticKind::NoEffect, span, message).with_hint(asking.hint))
}

/// Returns the program that asks, without its directory.
fn asks<'c>(program: &'c str, arguments: &[String]) -> Option<(&'c str, &'static AskingProgram)> {
    let name = program.rsplit('/').next().unwrap_or_default();
    let asking = PROGRAMS.iter().find(|asking| asking.names.contains(&name))?;
    let is_option = |word: &&String| word.starts_with('-');
    let acts = match asking.actions {
        [""] => true,
        actions => arguments.iter().any(|word| actions.contains(&word.as_str())),
    };
    // Short options stand together, as in `-qy`.
    let answers = arguments.iter().filter(is_option).any(|word| {
        let short = word.strip_prefix('-').filter(|rest| !rest.starts_with('-') && name != "pacman");
        asking.answers.contains(&word.as_str())
            || short.is_some_and(|letters| {
                letters.chars().any(|letter| asking.answers.contains(&&*format!("-{letter}")))
            })
    });
    (acts && !answers).then_some((name, asking))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_that_ask_are_found() {
        for (command, expected) in [
            ("apt-get install nginx", Some("apt-get")),
            ("/usr/bin/apt install nginx", Some("apt")),
            ("apt-get -q upgrade", Some("apt-get")),
            ("dnf remove nginx", Some("dnf")),
            ("zypper install nginx", Some("zypper")),
            ("pacman -Syu", Some("pacman")),
            ("pip uninstall x", Some("pip")),
            ("ufw enable", Some("ufw")),
            ("passwd ada", Some("passwd")),
            ("apt-get install -y nginx", None),
            ("apt-get -qy install nginx", None),
            ("apt-get --assume-yes install nginx", None),
            ("apt-get update", None),
            ("dnf -y install nginx", None),
            ("zypper -n install nginx", None),
            ("pacman -S --noconfirm x", None),
            ("pip install x", None),
            ("ufw --force enable", None),
            ("ufw allow 22", None),
            ("visudo -cf /etc/sudoers", None),
            ("passwd -l ada", None),
            ("make install", None),
        ] {
            let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
            assert_eq!(asks(&words[0], &words[1..]).map(|(name, _)| name), expected, "{command}");
        }
    }
}
