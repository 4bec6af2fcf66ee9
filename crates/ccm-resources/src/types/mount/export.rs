//! Export of mounts.

use ccm_engine::{Context, Export, ExportedState, InstanceScope, Instances, NotExported};

use super::MountType;
use super::fstab::{DEFAULTS, Fstab, FstabLine};
use crate::parts::mounts::MountTable;
use crate::support::export::no_form;

/// Mount points that the installation of a system makes.
const OF_SYSTEM: [&str; 6] = ["/", "/boot", "/boot/efi", "/efi", "/proc", "/media/cdrom0"];

/// Type of swap space, which is not mounted.
const SWAP: &[u8] = b"swap";

impl Export for MountType {
    async fn instances(
        &self,
        scope: InstanceScope,
        context: &mut Context<'_>,
    ) -> Result<Instances, NotExported> {
        let fstab = Fstab::of(context).await?;
        let is_listed = |line: &&FstabLine| line.mount_point.starts_with(b"/") && line.fstype != SWAP;
        let lines = fstab.all();
        let (mut points, mut unseen) = (Vec::new(), Vec::new());
        for line in lines.into_iter().filter(|line| is_listed(&line)) {
            match String::from_utf8(line.mount_point) {
                Ok(point) => points.push(point),
                Err(_) => unseen.push(no_form("a mount point in /etc/fstab is not UTF-8 text")),
            }
        }
        let mut listed: Vec<String> = Vec::new();
        for point in points {
            let is_of_system = scope == InstanceScope::MadeByHand && OF_SYSTEM.contains(&&*point);
            if !is_of_system && !listed.contains(&point) {
                listed.push(point);
            }
        }
        Ok(Instances { names: listed, unseen })
    }

    async fn export(
        &self,
        name: &str,
        context: &mut Context<'_>,
    ) -> Result<Option<ExportedState>, NotExported> {
        let fstab = Fstab::of(context).await?;
        let mounts = MountTable::of(context).await?;
        let is_mounted = mounts.layers(name) > 0;
        let [line, others @ ..] = fstab.lines(name) else {
            return if is_mounted {
                Err(no_form(format!("\"{name}\" is mounted, and not in /etc/fstab")))
            } else {
                Ok(None)
            };
        };
        if !others.is_empty() {
            return Err(no_form(format!("/etc/fstab has {} lines for \"{name}\"", others.len() + 1)));
        }
        if line.fstype == SWAP {
            return Err(no_form("swap space is not mounted"));
        }
        let text = |field: &[u8]| match str::from_utf8(field) {
            Ok(text) => Ok(text.to_owned()),
            Err(_) => Err(no_form(format!("the line of \"{name}\" in /etc/fstab is not UTF-8 text"))),
        };
        let options = text(&line.options)?;
        let state =
            ExportedState::default().with("device", text(&line.device)?).with("fstype", text(&line.fstype)?);
        let state = state.with_some("options", (options != DEFAULTS).then_some(options));
        let number = |number: u8| (number != 0).then_some(number);
        let state = state.with_some("dump", number(line.dump)).with_some("pass", number(line.pass));
        Ok(Some(if is_mounted { state } else { state.ensure("unmounted") }))
    }
}
