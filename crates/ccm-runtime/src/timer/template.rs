//! Instances of the unit ccm-apply@.timer of the package, which timers of ccm replace.

use std::path::{Path, PathBuf};

use ccm_host::{TreeEntryKind, WalkStep};
use ccm_resources::systemd::{UnitContent, read_unit, timer_units};

use super::{TimerRequest, Timers, UnitScope};

/// Name of the template without its kind, up to the instance.
pub(super) const PREFIX: &str = "ccm-apply";
/// Directory of the manifests of the instances.
const MANIFESTS: &str = "/etc/ccm";
/// Unit as the package has it.
pub(super) const SHIPPED_SERVICE: &str = include_str!("../../../../packaging/systemd/ccm-apply@.service");
/// Timer as the package has it.
pub(super) const SHIPPED_TIMER: &str = include_str!("../../../../packaging/systemd/ccm-apply@.timer");

/// Returns the names of the units of an instance: the service, then the timer. The instance of the template itself is empty.
pub(super) fn units_of(instance: &str) -> [String; 2] {
    timer_units(format_args!("{PREFIX}@{instance}"))
}

/// Returns the instance of a timer of the template.
pub(super) fn instance_of(unit: &str) -> Option<&str> {
    let instance = unit.strip_prefix(PREFIX)?.strip_prefix('@')?.strip_suffix(".timer")?;
    Some(instance).filter(|instance| !instance.is_empty())
}

/// Returns the path of the manifest of an instance.
pub(super) fn manifest_of(instance: &str) -> PathBuf {
    PathBuf::from(format!("{MANIFESTS}/{instance}.yaml"))
}

impl Timers<'_> {
    /// Returns the links that enable units, each with the name of its unit.
    pub(super) fn enabling_links(&self) -> Vec<(PathBuf, String)> {
        let files = &self.session.doors.files;
        let Ok(units) = files.canonical(&self.paths.units) else { return Vec::new() };
        let is_of_target = |path: &Path| {
            path.extension().is_some_and(|ending| matches!(ending.to_str(), Some("wants" | "requires")))
        };
        let entries = files.walk(&units, &|path, is_directory| {
            let enters = is_directory && is_of_target(path);
            if enters { WalkStep::Enter } else { WalkStep::List }
        });
        let links = entries.ok().flatten().unwrap_or_default().into_iter().filter(|entry| {
            matches!(entry.kind, TreeEntryKind::Link(_)) && entry.path.components().count() == 2
        });
        let named = links.filter_map(|entry| {
            let unit = entry.path.file_name()?.to_str()?.to_owned();
            Some((units.join(entry.path), unit))
        });
        named.collect()
    }

    /// Returns the enabled timers of the package's template, without their kind: `ccm-apply@site`. There are none with the
    /// manager of a user.
    pub fn enabled_templates(&self) -> Vec<String> {
        let links = self.enabling_links();
        let mut names: Vec<String> =
            links.iter().filter_map(|(_, unit)| Some(format!("{PREFIX}@{}", instance_of(unit)?))).collect();
        names.sort();
        names.dedup();
        names
    }

    /// Returns the enabled timer of the package's template that applies the manifest of a request, without its kind.
    pub fn template_of(&self, request: &TimerRequest) -> Option<String> {
        if self.scope != UnitScope::System {
            return None;
        }
        let applies_it = |name: &String| {
            let instance = name.split_once('@').map(|(_, instance)| instance);
            instance.is_some_and(|instance| manifest_of(instance) == Path::new(&request.manifest))
        };
        self.enabled_templates().into_iter().find(applies_it)
    }

    /// Returns the text of the template of this kind that systemd loads; `None` if there is none.
    pub(super) fn template(&self, unit: &str) -> Option<String> {
        let directories = [&self.paths.units].into_iter().chain(&self.paths.others);
        directories.into_iter().find_map(|directory| {
            match read_unit(&directory.join(unit), &*self.session.doors.files).ok()? {
                UnitContent::File(content) => String::from_utf8(content).ok(),
                UnitContent::Missing | UnitContent::Foreign => None,
            }
        })
    }
}
