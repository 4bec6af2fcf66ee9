use std::sync::Arc;

use super::*;

/// Name services with fixed answers. Every query is recorded.
#[derive(Clone, Debug, Default)]
struct FakeServices {
    answers: BTreeMap<(Database, &'static str), &'static str>,
    hang: bool,
    queries: Arc<Mutex<Vec<String>>>,
}

impl FakeServices {
    /// Queries since the last call.
    fn queries(&self) -> Vec<String> {
        std::mem::take(&mut *self.queries.lock().expect("the queries"))
    }
}

impl NameServices for FakeServices {
    fn query(&self, database: Database, key: &str) -> io::Result<Option<Vec<u8>>> {
        self.queries.lock().expect("the queries").push(format!("{database:?} {key}"));
        if self.hang {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "no answer"));
        }
        let answer = self.answers.iter().find(|((of, name), _)| *of == database && *name == key);
        Ok(answer.map(|(_, line)| line.as_bytes().to_vec()))
    }
}

struct Machine {
    scratch: tempfile::TempDir,
    databases: AccountDatabases,
    services: FakeServices,
}

impl Machine {
    fn new(services: FakeServices) -> Self {
        let scratch = tempfile::tempdir().expect("a directory");
        let (users, groups) = (scratch.path().join("passwd"), scratch.path().join("group"));
        let databases =
            AccountDatabases { users, groups, services: Box::new(services.clone()), kept: Mutex::default() };
        let machine = Self { scratch, databases, services };
        machine.write(
            "passwd",
            "root:x:0:0:root:/root:/bin/bash\nada:x:1000:100::/home/ada:/bin/sh\n5:x:1005:5::/:/bin/sh\n",
        );
        machine.write("group", "root:x:0:\nadm:x:4:ada,bob\nusers:x:100:ada\nsudo:x:27:ada\n7:x:1007:\n");
        machine
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.scratch.path().join(name), text).expect("a file");
    }

    fn groups_of(&self, user: &str) -> Vec<u32> {
        self.databases.account(user).expect("an account").identity.groups
    }
}

fn directory() -> FakeServices {
    let answers = [
        ((Database::Passwd, "eve"), "eve:*:70000:70001:Eve:/home/eve:/bin/zsh\n"),
        ((Database::Passwd, "70000"), "eve:*:70000:70001:Eve:/home/eve:/bin/zsh\n"),
        ((Database::Passwd, "70009"), "liar:*:1:1::/:/bin/sh\n"),
        ((Database::Group, "staff"), "staff:*:70001:eve\n"),
        ((Database::Group, "70001"), "staff:*:70001:eve\n"),
        ((Database::InitGroups, "eve"), "eve                   70002 70003\n"),
        ((Database::InitGroups, "ada"), "ada                   70002 100\n"),
        ((Database::InitGroups, "5"), "5 \n"),
    ];
    FakeServices { answers: BTreeMap::from(answers), ..FakeServices::default() }
}

#[test]
fn files_of_the_machine_come_first() {
    let machine = Machine::new(FakeServices::default());
    let root = machine.databases.account("root").expect("root");
    assert_eq!((root.identity.uid, root.home, root.shell), (0, "/root".into(), "/bin/bash".into()));
    assert_eq!(machine.databases.gid("adm").expect("a group"), 4);
    assert_eq!(machine.databases.group_of(27).expect("a result").expect("a group").name, "sudo");
    assert_eq!(machine.databases.user_of(1000).expect("a result").expect("a user").name, "ada");
    assert_eq!(machine.services.queries(), ["InitGroups root"]);
}

#[test]
fn groups_of_a_user_are_those_of_the_files_and_the_services() {
    let machine = Machine::new(directory());
    assert_eq!(machine.groups_of("ada"), [100, 4, 27, 70002]);
    assert_eq!(machine.groups_of("eve"), [70001, 70002, 70003]);
    assert_eq!(machine.groups_of("5"), [5]);
    // A command may add a member, also one that is known by a service alone.
    machine.write("group", "docker:x:999:ada,eve\n");
    assert_eq!(machine.groups_of("ada"), [100, 999, 70002]);
    assert_eq!(machine.groups_of("eve"), [70001, 999, 70002, 70003]);
}

#[test]
fn name_of_digits_is_looked_up_before_the_number() {
    let machine = Machine::new(directory());
    assert_eq!(machine.databases.account("5").expect("an account").identity.uid, 1005);
    assert_eq!(machine.databases.account("1000").expect("an account").name, "ada");
    assert_eq!(machine.databases.account("70000").expect("an account").name, "eve");
    assert_eq!(machine.databases.gid("7").expect("a group"), 1007);
    assert_eq!(machine.databases.gid("8").expect("a number"), 8);
}

#[test]
fn answer_for_another_number_does_not_count() {
    let machine = Machine::new(directory());
    assert_eq!(machine.databases.user_of(70009).expect("a result"), None);
}

#[test]
fn entries_of_services_are_kept_and_unknown_names_are_not() {
    let machine = Machine::new(directory());
    for _ in 0..2 {
        assert_eq!(machine.databases.account("eve").expect("an account").identity.uid, 70000);
        assert_eq!(machine.databases.group("staff").expect("a result").expect("a group").gid, 70001);
        assert_eq!(machine.databases.group_of(70001).expect("a result").expect("a group").name, "staff");
    }
    assert_eq!(machine.services.queries(), ["Passwd eve", "InitGroups eve", "Group staff", "Group 70001"]);
    assert_eq!(machine.databases.user("new").expect("a result"), None);
    machine.write("passwd", "new:x:1001:100::/:/bin/sh\n");
    assert_eq!(machine.databases.user("new").expect("a result").expect("a user").uid, 1001);
    assert_eq!(machine.databases.user("later").expect("a result"), None);
    assert_eq!(machine.databases.user("later").expect("a result"), None);
    assert_eq!(machine.services.queries(), ["Passwd new", "Passwd later", "Passwd later"]);
}

#[test]
fn services_that_do_not_answer_are_queried_once() {
    let machine = Machine::new(FakeServices { hang: true, ..FakeServices::default() });
    for name in ["eve", "bob"] {
        let error = machine.databases.account(name).expect_err("an error");
        assert_eq!(
            error.to_string(),
            format!("the lookup of \"{name}\" in the databases of users and groups failed")
        );
        let source = std::error::Error::source(&error).expect("a cause");
        assert_eq!(source.to_string(), "no answer");
    }
    // Without all of its groups, no command runs as a user of the files either.
    machine.databases.account("ada").expect_err("an error");
    assert_eq!(machine.databases.user("ada").expect("a result").expect("a user").uid, 1000);
    assert_eq!(machine.services.queries(), ["Passwd eve"]);
}

#[test]
fn missing_files_have_no_entries() {
    let scratch = tempfile::tempdir().expect("a directory");
    let databases = AccountDatabases {
        users: scratch.path().join("passwd"),
        groups: scratch.path().join("file/group"),
        services: Box::new(FakeServices::default()),
        kept: Mutex::default(),
    };
    assert_eq!(databases.user("root").expect("a result"), None);
    assert_eq!(databases.group_of(0).expect("a result"), None);
}

#[test]
fn error_names_the_unknown_account() {
    let machine = Machine::new(FakeServices::default());
    let account = |name| machine.databases.account(name).expect_err("nobody");
    let group = |name| machine.databases.gid(name).expect_err("no group");
    for (error, expected) in [
        (account("no-such-user"), "user \"no-such-user\" does not exist"),
        (account("54321"), "uid 54321 has no entry in the user database, so its groups are not known"),
        (account(""), "user \"\" does not exist"),
        (group("no-such-group"), "group \"no-such-group\" does not exist"),
        (group("4294967295"), "group \"4294967295\" does not exist"),
    ] {
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn this_machine_has_root() {
    let databases = AccountDatabases::of_this_machine();
    let root = databases.account("root").expect("root");
    assert_eq!((root.name.as_str(), root.identity.uid, root.identity.gid), ("root", 0, 0));
    assert!(root.identity.groups.contains(&0), "{root:?}");
    assert_eq!(databases.account("0").expect("root"), root);
    assert_eq!(databases.gid("0").expect("a number"), 0);
}
