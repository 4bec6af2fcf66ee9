use super::*;
use crate::support::decision_table::assert_rows;

#[test]
fn reboot_is_decided_by_the_first_row_that_matches() {
    let rows = assert_rows(
        "
        pending idle | keep | the system does not wait for a reboot
        pending changed | keep | the system does not wait for a reboot
        pending waits | restarted: the machine, 5m after the run | the system waits for a reboot: linux-image
        pending waits,scheduled | keep | a shutdown is already scheduled
        pending waits,container | keep | a container is not rebooted
        always idle | keep | no resource it subscribes to changed
        always waits | keep | no resource it subscribes to changed
        always changed | restarted: the machine, 5m after the run | a resource it subscribes to changed
        always changed,scheduled | keep | a shutdown is already scheduled
        always changed,container | keep | a container is not rebooted
        ",
        |[wanted, found]| {
            let has = |word: &str| found.split(',').any(|found| found == word);
            let reboot = DesiredReboot { is_always: wanted == "always", minutes: 5, message: String::new() };
            let state = RebootState {
                is_container: has("container"),
                is_scheduled: has("scheduled"),
                pending: has("waits").then(|| "linux-image".to_owned()),
            };
            RebootKind::decide(&reboot, &state, has("changed").then_some(&Trigger::Changed))
        },
    );
    assert_eq!(rows, 10);
}
