//! Provider kmod: modules of the running kernel, changed by modprobe, and files for modprobe and for the boot.

use std::path::{Path, PathBuf};

use ccm_engine::{Context, Provider, ReadPurpose};

use ccm_model::{Failure, FailureKind};

use super::decide::{DesiredModule, ModuleActivity, ModuleDifference, ModuleState};
use super::module_files::{ModprobeSettings, boot_content, boot_file, loads, modprobe_file};
use crate::parts::text::{TextFile, read_text};
use crate::support::object_plan::{Object, ObjectType};
use crate::support::program::Program;

/// Modules that the kernel has.
const MODULES: &str = "/sys/module";
const RELEASE: &str = "/proc/sys/kernel/osrelease";

pub(crate) struct Kmod;

impl Provider<Object<DesiredModule>> for Kmod {
    async fn status(
        &self,
        module: &DesiredModule,
        reading: ReadPurpose<'_, ()>,
        context: &mut Context<'_>,
    ) -> Result<ModuleState, Failure> {
        let name = &*module.name;
        let boot_file = TextFile::read(&boot_file(name), context)?;
        let modprobe_file = TextFile::read(&modprobe_file(name), context)?;
        let state = ModuleState {
            activity: activity(name, context).await?,
            is_loaded_at_boot: loads(&boot_file, name),
            boot_file,
            settings: ModprobeSettings::parse(&modprobe_file, name),
            modprobe_file,
        };
        if reading.is_before() {
            for difference in module.plan(&state).differences() {
                match difference {
                    ModuleDifference::Loaded(_) => {}
                    ModuleDifference::Boot(_) => state.boot_file.check_replaceable(context)?,
                    ModuleDifference::Blacklist(_) | ModuleDifference::Options { .. } => {
                        state.modprobe_file.check_replaceable(context)?;
                    }
                }
            }
        }
        Ok(state)
    }

    async fn execute(
        &self,
        module: &DesiredModule,
        state: &ModuleState,
        context: &mut Context<'_>,
    ) -> Result<(), Failure> {
        let Some(differences) = module.plan(state).differences_of_permanent()? else { return Ok(()) };
        let name = &*module.name;
        let mut changed = false;
        let settings = module.settings(&state.settings);
        let mut modprobe_file = state.modprobe_file.clone();
        let is_new = settings != state.settings;
        // Parameters count when the module is loaded, and what is unloaded must not be loaded again.
        if is_new {
            modprobe_file = put(&modprobe_file, settings.content(name), context)?;
            changed = true;
        }
        for difference in &differences {
            let done = match difference {
                ModuleDifference::Loaded(to) => load(name, *to, context).await,
                ModuleDifference::Boot(to) => {
                    let new = if *to { boot_content(name) } else { String::new() };
                    put(&state.boot_file, new, context).map(drop)
                }
                ModuleDifference::Blacklist(_) | ModuleDifference::Options { .. } => continue,
            };
            if let Err(failure) = done {
                let is_first = matches!(difference, ModuleDifference::Loaded(_));
                // The module is as before, and so are its settings.
                let old = state.modprobe_file.content();
                let is_undone = is_new && is_first && put(&modprobe_file, old, context).is_ok();
                return Err(Failure { changed: (changed && !is_undone) || failure.changed, ..failure });
            }
            changed = true;
        }
        Ok(())
    }
}

/// Modules that are a part of the kernel.
struct BuiltInModules(String);

pub(super) async fn activity(name: &str, context: &Context<'_>) -> Result<ModuleActivity, Failure> {
    let directory = Path::new(MODULES).join(name);
    let exists = |path: &Path| context.host.files.exists(path).unwrap_or(false);
    // Only what was loaded has this file.
    if exists(&directory.join("initstate")) {
        return Ok(ModuleActivity::Loaded);
    }
    if exists(&directory) {
        return Ok(ModuleActivity::BuiltIn);
    }
    let built_in = context.state_cache(async || built_in(context)).await?;
    let is_it = |path: &str| {
        let file = path.rsplit('/').next().unwrap_or(path);
        file.strip_suffix(".ko").is_some_and(|stem| stem.replace('-', "_") == name)
    };
    Ok(if built_in.0.lines().any(is_it) { ModuleActivity::BuiltIn } else { ModuleActivity::Unloaded })
}

/// Reads the list of modules that are a part of the kernel. A container may not have it.
fn built_in(context: &Context<'_>) -> Result<BuiltInModules, Failure> {
    let release = read_text(Path::new(RELEASE), context)?.unwrap_or_default();
    let path = PathBuf::from(format!("/lib/modules/{}/modules.builtin", release.trim()));
    Ok(BuiltInModules(read_text(&path, context)?.unwrap_or_default()))
}

async fn load(name: &str, is_loaded: bool, context: &Context<'_>) -> Result<(), Failure> {
    let remove = (!is_loaded).then_some("-r");
    let modprobe = Program::new("modprobe").in_package("`kmod`").with(remove).with(["--", name]);
    modprobe.run(context).await.map_err(|failure| {
        if failure.kind != FailureKind::Exit {
            return failure;
        }
        let says = |text: &str| failure.chain.iter().any(|cause| cause.contains(text));
        if says("not found") {
            failure
                .with_hint("check the name, and install the package with the modules of the running kernel")
        } else if says("in use") {
            failure.with_hint(format!(
                "stop what uses the module; `ls /sys/module/{name}/holders` shows other modules"
            ))
        } else {
            failure.with_hint(
                "change modules on the host of a container, or add `control` to leave them out here",
            )
        }
    })
}

/// Writes a file, or removes it if its content is to be empty.
fn put(file: &TextFile, new: impl Into<Vec<u8>>, context: &Context<'_>) -> Result<TextFile, Failure> {
    let new = new.into();
    if new.is_empty() { file.remove(context) } else { file.write(new, context) }
}
