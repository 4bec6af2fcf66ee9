use ccm_engine::ResourceKind as _;

use super::*;
use crate::parts::text::TextFile;
use crate::support::decision_table::assert_rows;
use crate::support::object_plan::Object;

const TABLE: &str = include_str!("../decide_table.txt");

#[test]
fn decisions_match_the_table() {
    let rows = assert_rows(TABLE, |[ensure, options, lines, mounted, others]| {
        let is = |what: &str| others.split(',').any(|word| word == what);
        let ensure = match ensure {
            "present" => MountEnsure::Present,
            "unmounted" => MountEnsure::Unmounted,
            "absent" => MountEnsure::Absent,
            _ => MountEnsure::Mounted,
        };
        let mount = DesiredMount {
            mount_point: "/srv".to_owned(),
            ensure,
            device: "/dev/a".to_owned(),
            fstype: "ext4".to_owned(),
            options: (options != "-").then(|| options.to_owned()),
            dump: None,
            pass: None,
        };
        let (count, line) = lines.strip_prefix("2*").map_or((1, lines), |line| (2, line));
        let line =
            line.split_once(':').map(|(device, options)| format!("{device} /srv ext4 {options} 0 2\n"));
        let mounted = mounted.split_once(':').map(|(device, options)| MountedFilesystem {
            source: device.to_owned(),
            fstype: "ext4".to_owned(),
            options: options.to_owned(),
            ..MountedFilesystem::default()
        });
        let state = MountState {
            fstab: Rc::new(Fstab::parse(TextFile::of(line.unwrap_or_default().repeat(count)))),
            spelling: "/srv".to_owned(),
            directory: "/srv".to_owned(),
            refusal: is("stranger").then(|| Failure::conflict("a stranger's")),
            layers: usize::from(mounted.is_some()),
            mounted,
            is_other: is("other"),
            missing_directories: if is("nodir") { vec!["/srv".into()] } else { Vec::new() },
            obstacle: match () {
                () if is("file") => Some(MountObstacle::NoDirectory("a file")),
                () if is("nodev") => Some(MountObstacle::NoDevice),
                () => None,
            },
        };
        Object::decide(&mount, &state, None)
    });
    assert_eq!(rows, 31);
}
