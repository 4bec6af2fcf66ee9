//! Name services such as a directory server, which know users that are not in the files of this machine.

use std::fs::read_to_string;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::query_program::QueryProgram;

/// Maximum time for an answer. A server that can't be reached takes long.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Exit code of `getent` for a name that no service knows.
const UNKNOWN_NAME: i32 = 2;
/// Exit code of a `getent` that does not know the database; that of musl has no `initgroups`.
const UNKNOWN_DATABASE: i32 = 1;

/// Database of the name services.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Database {
    /// Users.
    Passwd,
    /// Groups.
    Group,
    /// Supplementary groups of a user.
    InitGroups,
}

impl Database {
    fn name(self) -> &'static str {
        match self {
            Self::Passwd => "passwd",
            Self::Group => "group",
            Self::InitGroups => "initgroups",
        }
    }
}

/// Access to the name services.
pub(super) trait NameServices: std::fmt::Debug + Send + Sync {
    /// Returns the line of a name or number; `None` if no service has an entry.
    fn query(&self, database: Database, key: &str) -> io::Result<Option<Vec<u8>>>;
}

/// Name services of this machine, reached through `getent`.
#[derive(Debug)]
pub(super) struct Getent {
    search_path: String,
    configuration: PathBuf,
    timeout: Duration,
}

impl Getent {
    pub(super) fn of_this_machine(search_path: &str) -> Self {
        let configuration = "/etc/nsswitch.conf".into();
        Self { search_path: search_path.to_owned(), configuration, timeout: TIMEOUT }
    }
}

impl NameServices for Getent {
    fn query(&self, database: Database, key: &str) -> io::Result<Option<Vec<u8>>> {
        if !is_name(key) || has_files_only(&self.configuration, database) {
            return Ok(None);
        }
        let Some(program) = QueryProgram::find("getent", &self.search_path, self.timeout) else {
            return Ok(None);
        };
        let (status, answer) = program.run(&[database.name().as_ref(), key.as_ref()])?;
        match status.code() {
            Some(0) => Ok(Some(answer)),
            Some(UNKNOWN_NAME) => Ok(None),
            Some(UNKNOWN_DATABASE) if database == Database::InitGroups => Ok(None),
            Some(code) => Err(io::Error::other(format!("getent exited with {code}"))),
            None => {
                let signal = status.signal().unwrap_or_default();
                Err(io::Error::other(format!("getent was ended by signal {signal}")))
            }
        }
    }
}

/// Returns `true` for a text that can be a name: `getent` would take a leading `-` for an option.
fn is_name(key: &str) -> bool {
    !key.is_empty()
        && !key.starts_with('-')
        && !key.contains(|character: char| character == ':' || character.is_control())
}

/// Returns `true` if the configuration of the name services lists only the files of this machine.
fn has_files_only(configuration: &Path, database: Database) -> bool {
    read_to_string(configuration).is_ok_and(|text| lists_files_only(&text, database))
}

fn lists_files_only(configuration: &str, database: Database) -> bool {
    let services_of = |database: Database| {
        configuration.lines().find_map(|line| {
            let (name, services) = line.split('#').next()?.split_once(':')?;
            (name.trim() == database.name()).then_some(services)
        })
    };
    // Without services of its own, this database has those of the groups.
    let services = match database {
        Database::InitGroups => services_of(database).or_else(|| services_of(Database::Group)),
        Database::Passwd | Database::Group => services_of(database),
    };
    services.is_some_and(|services| {
        let mut services = services.split_ascii_whitespace().peekable();
        services.peek().is_some() && services.all(|service| service == "files")
    })
}

#[cfg(test)]
mod tests {
    use std::fs::write;
    use std::process::Command;

    use super::*;
    use crate::query_program::MAX_ANSWER;

    /// Services whose `getent` is a shell script.
    fn services(script: &str, configuration: &str) -> (tempfile::TempDir, Getent) {
        let scratch = tempfile::tempdir().expect("a directory");
        let program = scratch.path().join("getent");
        // While this process had the script open for writing, a fork of another test would keep it open too, and
        // the kernel executes no such file.
        let written = Command::new("/bin/sh")
            .args(["-c", "printf '%s\\n' '#!/bin/sh' \"$2\" > \"$1\" && chmod 755 \"$1\"", "sh"])
            .args([program.as_os_str(), script.as_ref()])
            .status();
        assert!(written.expect("a shell").success());
        let path = scratch.path().join("nsswitch.conf");
        write(&path, configuration).expect("a file");
        let search_path = format!("/nowhere:{}:/usr/bin:/bin", scratch.path().display());
        (scratch, Getent { search_path, configuration: path, timeout: TIMEOUT })
    }

    /// Result of a query, as text.
    fn query(services: &Getent, database: Database, key: &str) -> Result<Option<String>, String> {
        let answer = services.query(database, key).map_err(|error| error.to_string())?;
        Ok(answer.map(|answer| String::from_utf8_lossy(&answer).into_owned()))
    }

    #[test]
    fn getent_gets_database_and_name_and_nothing_else() {
        let (_scratch, services) = services(
            "printf '%s|' \"$@\"; env | grep -vE '^(PWD|SHLVL|_)=' | sort; cat",
            "passwd: files sss\n",
        );
        let answer = query(&services, Database::Passwd, "ada").expect("an answer").expect("an entry");
        assert_eq!(answer, format!("passwd|ada|LC_ALL=C\nPATH={}\n", services.search_path));
    }

    #[test]
    fn exit_code_decides() {
        for (script, database, expected) in [
            ("echo x", Database::Passwd, Ok(Some("x\n".to_owned()))),
            ("exit 2", Database::Passwd, Ok(None)),
            ("exit 2", Database::Group, Ok(None)),
            ("exit 1", Database::Group, Err("getent exited with 1".to_owned())),
            ("exit 1", Database::InitGroups, Ok(None)),
            ("exit 3", Database::InitGroups, Err("getent exited with 3".to_owned())),
            ("kill -9 $$", Database::Passwd, Err("getent was ended by signal 9".to_owned())),
        ] {
            let (_scratch, services) = services(script, "");
            assert_eq!(query(&services, database, "ada"), expected, "{script}");
        }
    }

    #[test]
    fn getent_that_hangs_is_ended() {
        for script in ["exec sleep 1000", "exec >&-; exec sleep 1000", "exec yes"] {
            let (scratch, services) = services(&format!("echo $$ > \"${{0%/*}}/pid\"; {script}"), "");
            let services = Getent { timeout: Duration::from_secs(1), ..services };
            let error = query(&services, Database::Passwd, "ada").expect_err(script);
            assert_eq!(error, "getent did not answer within 1s", "{script}");
            let pid = read_to_string(scratch.path().join("pid")).expect("its number");
            assert!(!Path::new("/proc").join(pid.trim()).exists(), "{script}: it was not ended");
        }
    }

    #[test]
    fn endless_answer_is_cut() {
        let (_scratch, services) = services("head -c 3000000 /dev/zero", "");
        let answer = services.query(Database::Group, "all").expect("an answer").expect("an entry");
        assert_eq!(answer.len(), MAX_ANSWER);
    }

    #[test]
    fn getent_is_not_asked_in_vain() {
        let (_scratch, services) = services("echo asked", "passwd: files\ngroup: files sss\n");
        for (database, key, expected) in [
            (Database::Passwd, "ada", None),
            (Database::Group, "ada", Some("asked\n")),
            (Database::InitGroups, "ada", Some("asked\n")),
            (Database::Group, "", None),
            (Database::Group, "-i", None),
            (Database::Group, "a:b", None),
            (Database::Group, "a\nb", None),
        ] {
            assert_eq!(query(&services, database, key), Ok(expected.map(str::to_owned)), "{key:?}");
        }
        let nowhere = Getent { search_path: "/nowhere".to_owned(), ..services };
        assert_eq!(query(&nowhere, Database::Group, "ada"), Ok(None));
    }

    #[test]
    fn services_are_read_from_the_configuration() {
        use Database::{Group, InitGroups, Passwd};
        for (configuration, database, expected) in [
            ("passwd: files", Passwd, true),
            ("  passwd :\tfiles # sss\n", Passwd, true),
            ("passwd: files [NOTFOUND=return] sss", Passwd, false),
            ("passwd: files systemd", Passwd, false),
            ("passwd: compat", Passwd, false),
            ("passwd:", Passwd, false),
            ("#passwd: files", Passwd, false),
            ("group: files", Passwd, false),
            ("", Group, false),
            ("group: files", InitGroups, true),
            ("group: sss\ninitgroups: files", InitGroups, true),
            ("group: files\ninitgroups: files sss", InitGroups, false),
        ] {
            assert_eq!(lists_files_only(configuration, database), expected, "{configuration:?}");
        }
        assert!(!has_files_only(Path::new("/no/such/file"), Passwd));
    }
}
