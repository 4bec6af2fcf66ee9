//! Command lines of `ssh`, and what it is to run on a host.

use ccm_model::quote_words;

use crate::inventory::Host;
use crate::names::HostName;

/// Name of the program that the words of `CCM_SSH` replace.
pub const SSH: &str = "ssh";
/// Exit code of a shell whose command is not found.
pub(crate) const NOT_FOUND: i32 = 127;
/// Exit code of `ssh` itself.
pub(crate) const SSH_FAILED: i32 = 255;

/// Rights that a run has on a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rights {
    /// Those of the user who logs in.
    Own,
    /// Those of root by `sudo`, which asks for no password.
    Sudo,
    /// Those of root by `sudo`, which is given a password on standard input.
    SudoWithPassword,
}

/// Connection to a host, as words.
#[derive(Clone, Debug)]
pub struct SshCommand {
    /// Words in place of `ssh`.
    pub program: Vec<String>,
    /// Seconds that a connection may take.
    pub connect_timeout: u32,
    /// Rights on the host.
    pub rights: Rights,
    /// Installs ccm where it is missing.
    pub installs: bool,
    /// Version of ccm that is installed.
    pub version: String,
    /// Question that `sudo` asks. Nobody can know it before.
    pub prompt: String,
}

impl SshCommand {
    /// Returns the words that connect to a host. The user's own configuration decides on everything else: keys, jump hosts,
    /// known hosts. Nothing is asked, and an unknown or changed host key is refused.
    pub fn words(&self, name: &HostName, host: &Host) -> Vec<String> {
        let mut words = self.program.clone();
        let fixed =
            ["BatchMode=yes", "ClearAllForwardings=yes", "RemoteCommand=none", "ServerAliveInterval=15"];
        words.push("-T".to_owned());
        words.extend(fixed.into_iter().flat_map(|option| ["-o".to_owned(), option.to_owned()]));
        words.extend(["-o".to_owned(), format!("ConnectTimeout={}", self.connect_timeout)]);
        words.extend(Self::destination(name, host));
        words.push(self.remote());
        words
    }

    /// Returns the words that print how `ssh` would connect to a host.
    pub fn question(&self, name: &HostName, host: &Host) -> Vec<String> {
        let question = self.program.iter().cloned().chain(["-G".to_owned()]);
        question.chain(Self::destination(name, host)).collect()
    }

    /// Returns a command line that connects to a host and changes nothing, for people.
    pub fn attempt(&self, name: &HostName, host: &Host) -> String {
        let destination = Self::destination(name, host).into_iter().filter(|word| word != "--");
        let words: Vec<String> =
            self.program.iter().cloned().chain(destination).chain(["true".to_owned()]).collect();
        quote_words(words.iter().map(String::as_str))
    }

    fn destination(name: &HostName, host: &Host) -> Vec<String> {
        let mut words = Vec::new();
        if let Some(user) = &host.user {
            words.extend(["-l".to_owned(), user.to_string()]);
        }
        if let Some(port) = host.port {
            words.extend(["-p".to_owned(), port.to_string()]);
        }
        let address = host.address.as_ref().unwrap_or(name);
        words.extend(["--".to_owned(), address.to_string()]);
        words
    }

    /// Returns `true` if the shell of the host speaks before ccm. What is sent before would be read as a password.
    pub(crate) fn greets(&self) -> bool {
        self.installs || self.rights == Rights::SudoWithPassword
    }

    /// Returns the text that the login shell of the host runs, whichever shell that is.
    fn remote(&self) -> String {
        let sudo = match self.rights {
            Rights::Own => None,
            Rights::Sudo => Some(vec!["sudo", "-n", "--"]),
            Rights::SudoWithPassword => Some(vec!["sudo", "-S", "-p", &self.prompt, "--"]),
        };
        let text;
        let words = match (&sudo, self.greets()) {
            // Nothing that root runs lies in a directory of a user.
            (Some(_), false) => vec!["ccm", "source", "receive"],
            (None, false) => {
                text = format!("p={}; test -x \"$p\" || p=ccm; exec \"$p\" source receive", self.own_path());
                vec!["sh", "-c", &text]
            }
            (_, true) => {
                text = self.greeting();
                vec!["sh", "-c", &text]
            }
        };
        quote_words(sudo.into_iter().flatten().chain(words))
    }

    /// Returns the path of ccm below the home of the user, for a shell.
    fn own_path(&self) -> String {
        format!("\"$HOME\"/.cache/ccm/{}/ccm", self.version)
    }

    /// Returns a text that says whether ccm is missing, installs it then, as the lines of [`crate::wire`] say, and begins it.
    fn greeting(&self) -> String {
        let (path, umask) = match self.rights {
            Rights::Own => (self.own_path(), "077"),
            Rights::Sudo | Rights::SudoWithPassword => ("/usr/local/bin/ccm".to_owned(), "022"),
        };
        let say = |name: &str, rest: &str| {
            format!("printf \"{{\\\"protocol\\\":\\\"io.choria.ccm.v1.push.{name}\\\"{rest}}}\\n\"")
        };
        if !self.installs {
            let text = say("install", ",\\\"machine\\\":\\\"\\\",\\\"missing\\\":false");
            return format!("{text}; exec ccm source receive");
        }
        let machine = ",\\\"machine\\\":\\\"$(uname -m)\\\",\\\"missing\\\":$m";
        format!(
            "p={path}; m=true; if test -x \"$p\"; then m=false; elif command -v ccm >/dev/null 2>&1; then p=ccm; m=false; \
             fi; {}; if $m; then read n && umask {umask} && mkdir -p \"${{p%/ccm}}\" && head -c \"$n\" >\"$p.$$\" && \
             chmod 755 \"$p.$$\" && \"$p.$$\" --version >/dev/null && mv \"$p.$$\" \"$p\" || {{ rm -f \"$p.$$\"; exit \
             126; }}; {}; fi; exec \"$p\" source receive",
            say("install", machine),
            say("installed", "")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(rights: Rights, installs: bool) -> SshCommand {
        SshCommand {
            program: vec![SSH.to_owned()],
            connect_timeout: 10,
            rights,
            installs,
            version: "1.2.3".to_owned(),
            prompt: "p-1234:".to_owned(),
        }
    }

    #[test]
    fn words_before_the_name_are_options_and_the_name_is_none() {
        let inventory = crate::Inventory::read(
            "hosts: {web1: {address: '2001:db8::1', user: deploy, port: 2222}, web2: }",
        )
        .expect("an inventory");
        let (name, host) = inventory.host("web1").expect("a host");
        let words = command(Rights::Sudo, false).words(name, host);
        assert_eq!(words[..3], ["ssh", "-T", "-o"]);
        assert_eq!(
            words[words.len() - 7..],
            ["-l", "deploy", "-p", "2222", "--", "2001:db8::1", "sudo -n -- ccm source receive"]
        );
        assert!(words.contains(&"BatchMode=yes".to_owned()));
        assert!(
            !words.iter().any(|word| word.contains("StrictHostKeyChecking") || word.contains("KnownHosts"))
        );
        assert_eq!(command(Rights::Own, false).attempt(name, host), "ssh -l deploy -p 2222 2001:db8::1 true");
        let (name, host) = inventory.host("web2").expect("a host");
        let words = command(Rights::SudoWithPassword, false).words(name, host);
        assert_eq!(words[words.len() - 3..words.len() - 1], ["--", "web2"]);
        assert!(words[words.len() - 1].starts_with("sudo -S -p p-1234: -- sh -c '"), "{words:?}");
    }

    #[test]
    fn root_runs_nothing_of_a_user() {
        for installs in [false, true] {
            let text = command(Rights::Sudo, installs).remote();
            assert!(!text.contains("HOME") && !text.contains(".cache"), "{text}");
            assert!(command(Rights::Own, installs).remote().contains("/.cache/ccm/1.2.3/ccm"));
        }
    }
}
