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
