use ccm_engine::ResourceKind as _;

use super::*;
use crate::support::decision_table::assert_rows;
use crate::support::object_plan::Object;

#[test]
fn hold_is_decided_by_the_first_row_that_matches() {
    let rows = assert_rows(
        "
        present held | keep | it is in the desired state
        present free | created: version 1.2 | it does not exist
        present gone | fail, missing | package `zsh` is not installed, so it has no version to keep
        absent held | removed | it exists
        absent free | keep | it does not exist
        absent gone | keep | it does not exist
        ",
        |[wanted, found]| {
            let hold = DesiredHold {
                name: "zsh".to_owned(),
                is_absent: wanted == "absent",
                lock_timeout: Duration::ZERO,
            };
            let version = (found != "gone").then(|| "1.2".to_owned());
            Object::decide(
                &hold,
                &HoldState { version, is_held: found == "held", ..HoldState::default() },
                None,
            )
        },
    );
    assert_eq!(rows, 6);
}
