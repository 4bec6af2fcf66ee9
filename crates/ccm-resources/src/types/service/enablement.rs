//! What `enable` finds beyond systemd's word: init scripts, units that stand for others, and changed `[Install]` sections.

use std::path::{Path, PathBuf};

use ccm_engine::Context;
use ccm_host::InspectOptions;
use ccm_model::Failure;

use super::desired::Service;
use super::show::Unit;
use super::systemd::{directories, show};
use crate::parts::systemd::install_section::InstallSection;
use crate::parts::systemd::systemctl::Systemctl;
use crate::parts::systemd::units::UNIT_DIRECTORIES;

/// Maximum size of a unit file that is read, in bytes.
const MAX_UNIT_FILE: u64 = 1 << 20;
/// Directory of init scripts, for which systemd generates units.
const INIT_SCRIPTS: &str = "/etc/init.d";

/// Enablement of a unit, as far as `enable` asks about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Enablement {
    /// Systemd's word is the truth.
    #[default]
    AsReported,
    /// An init script, whose links systemd does not look at.
    Script { is_enabled: bool },
    /// Only the units that are enabled together with this one have links.
    Others { has_enabled: bool, has_disabled: bool },
    /// The unit file has no `[Install]` section, so that enabling does nothing.
    NotInstallable,
    /// The unit is enabled, and lacks links that its `[Install]` section asks for.
    LinksMissing,
}

/// Reads the enablement of a unit.
pub(super) async fn read_enablement(
    service: &Service,
    unit: &Unit,
    systemctl: &Systemctl,
    context: &Context<'_>,
) -> Result<Enablement, Failure> {
    let Some(enable) = service.enable else { return Ok(Enablement::AsReported) };
    Ok(match &*unit.file_state {
        "generated" if Path::new(&unit.source_path).starts_with(INIT_SCRIPTS) => {
            let word = systemctl.is_enabled(unit.name_or(&service.unit), context).await?;
            Enablement::Script { is_enabled: word == "enabled" }
        }
        "indirect" => {
            let also =
                install_section(service, unit, context).map(|section| section.also).unwrap_or_default();
            let names: Vec<&str> = also.iter().map(String::as_str).collect();
            let others = show(&names, systemctl, context).await?;
            let has = |is_enabled| others.iter().any(|other| other.is_enabled() == is_enabled);
            Enablement::Others { has_enabled: has(true), has_disabled: has(false) }
        }
        "static" if enable => Enablement::NotInstallable,
        "enabled" if enable => match install_section(service, unit, context) {
            Some(section) if section.is_empty() => Enablement::NotInstallable,
            Some(section) if lacks_links(&section, service, systemctl, context).await? => {
                Enablement::LinksMissing
            }
            _ => Enablement::AsReported,
        },
        _ => Enablement::AsReported,
    })
}

/// Reads the `[Install]` section of a unit; `None` if its file can't be read.
fn install_section(service: &Service, unit: &Unit, context: &Context<'_>) -> Option<InstallSection> {
    let text = |path: &String| {
        let bytes = context.host.files.content(Path::new(path), MAX_UNIT_FILE).ok()??;
        String::from_utf8(bytes).ok()
    };
    let texts: Option<Vec<String>> =
        std::iter::once(&unit.fragment_path).chain(&unit.drop_ins).map(text).collect();
    Some(InstallSection::of(unit.name_or(&service.unit), &texts?))
}

/// Returns `true` if no directory of units has one of the links.
async fn lacks_links(
    section: &InstallSection,
    service: &Service,
    systemctl: &Systemctl,
    context: &Context<'_>,
) -> Result<bool, Failure> {
    let files = context.host.files;
    let is_there = |path: &Path| {
        let found = files.inspect(path, InspectOptions::default());
        found.is_ok_and(|found| found.link || found.target.is_some())
    };
    let has_link = |link: &String, directories: &[PathBuf]| {
        directories.iter().any(|directory| is_there(&directory.join(link)))
    };
    let usual: Vec<PathBuf> = UNIT_DIRECTORIES.iter().map(PathBuf::from).collect();
    let unusual: Vec<&String> =
        section.links.iter().filter(|link| service.user || !has_link(link, &usual)).collect();
    if unusual.is_empty() {
        return Ok(false);
    }
    // Systemd is asked for its directories only if there is a doubt.
    let directories = directories(service.user, systemctl, context).await?;
    Ok(unusual.into_iter().any(|link| !has_link(link, &directories)))
}
