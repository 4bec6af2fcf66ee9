use ccm_engine::ResourceKind as _;

use super::*;
use crate::parts::text::TextFile;
use crate::support::decision_table::assert_rows;
use crate::support::object_plan::Object;

const TABLE: &str = include_str!("../decide_table.txt");

#[test]
fn decisions_match_the_table() {
    let rows = assert_rows(TABLE, |[ensure, ip, aliases, lines]| {
        let host = DesiredHost {
            name: "db".to_owned(),
            is_absent: ensure == "absent",
            ip: ip.parse().ok(),
            aliases: match aliases {
                "-" => None,
                "[]" => Some(Vec::new()),
                list => Some(list.split(',').map(str::to_owned).collect()),
            },
        };
        let content = lines.replace(',', "\n").replace('/', " ").replace('-', "");
        Object::decide(&host, &Rc::new(HostsFile::parse(TextFile::of(content))), None)
    });
    assert_eq!(rows, 18);
}

#[test]
fn earlier_lines_with_a_name_are_told() {
    let file = "127.0.1.1 box.example.com box\n::1 db\n192.0.2.1 db\n192.0.2.3 old former\n";
    let file = Rc::new(HostsFile::parse(TextFile::of(file)));
    let host = |name: &str, ip: &str, aliases: &[&str]| DesiredHost {
        name: name.to_owned(),
        is_absent: ip.is_empty(),
        ip: ip.parse().ok(),
        aliases: Some(aliases.iter().map(|alias| (*alias).to_owned()).collect()),
    };
    let first = |number: usize, name: &str, ip: &str| {
        vec![format!("line {number} of \"/etc/hosts\" gives `{name}` the address {ip}, and is read first")]
    };
    for (host, expected) in [
        (host("box", "192.0.2.9", &[]), first(1, "box", "127.0.1.1")),
        (host("new", "192.0.2.9", &["BOX"]), first(1, "BOX", "127.0.1.1")),
        (host("db", "192.0.2.2", &["former"]), Vec::new()),
        (host("db", "2001:db8::1", &[]), Vec::new()),
        (host("new", "192.0.2.9", &["db"]), first(3, "db", "192.0.2.1")),
        (host("new", "127.0.1.1", &["box"]), Vec::new()),
        (
            host("former", "", &[]),
            vec!["`former` stays an alias of `old` on line 4 of \"/etc/hosts\"".to_owned()],
        ),
        (host("old", "", &[]), Vec::new()),
    ] {
        assert_eq!(host.warnings(&file), expected, "{host:?}");
    }
}
