//! Export of kernel modules.

use std::path::Path;

use ccm_engine::{Context, Export, ExportedState, InstanceScope, Instances, NotExported};

use super::KernelModuleType;
use super::decide::{ModuleActivity, kernel_name};
use super::kmod::activity;
use super::module_files::{ModprobeSettings, boot_file, loads, modprobe_file, of_file_name};
use crate::parts::text::{TextFile, read_text};
use crate::support::file_failure::names_in;

/// Modules that are loaded.
const LOADED: &str = "/proc/modules";

/// Directories with the files of modules.
const DIRECTORIES: [&str; 2] = ["/etc/modules-load.d", "/etc/modprobe.d"];

impl Export for KernelModuleType {
    async fn instances(
        &self,
        scope: InstanceScope,
        context: &mut Context<'_>,
    ) -> Result<Instances, NotExported> {
        let mut names = Vec::new();
        for directory in DIRECTORIES {
            let found = names_in(Path::new(directory), context.host.files)?;
            names.extend(found.iter().filter_map(|name| of_file_name(name)).map(str::to_owned));
        }
        if scope == InstanceScope::All {
            let loaded = read_text(Path::new(LOADED), context)?.unwrap_or_default();
            names.extend(loaded.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned));
        }
        names.sort_unstable();
        names.dedup();
        Ok(names.into())
    }

    async fn export(
        &self,
        name: &str,
        context: &mut Context<'_>,
    ) -> Result<Option<ExportedState>, NotExported> {
        let module = kernel_name(name);
        let boot = TextFile::read(&boot_file(&module), context)?;
        let settings = ModprobeSettings::parse(&TextFile::read(&modprobe_file(&module), context)?, &module);
        let activity = activity(&module, context).await?;
        let is_absent = activity == ModuleActivity::Unloaded;
        if is_absent && !settings.is_blacklisted {
            return Ok(None);
        }
        let boots = loads(&boot, &module) && !is_absent;
        let state =
            if is_absent { ExportedState::default().ensure("absent") } else { ExportedState::default() };
        let state = state.with_some("boot", boots.then_some(true));
        let state = state.with_some("blacklist", (is_absent && settings.is_blacklisted).then_some(true));
        let state = state.with_some("options", Some(settings.options).filter(|options| !options.is_empty()));
        let is_built_in = activity == ModuleActivity::BuiltIn;
        Ok(Some(if is_built_in { state.read_only("place", "a part of the kernel") } else { state }))
    }
}
