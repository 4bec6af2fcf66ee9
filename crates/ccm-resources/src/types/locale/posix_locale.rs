//! Provider posix: the file with the variables of the locale, and locale-gen where locales are generated.

use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;

use ccm_engine::{Context, Provider, ReadPurpose};
use ccm_host::{Exit, Files, Role};
use ccm_model::Failure;

use super::decide::{DesiredLocale, LocaleDifference, LocaleState, MissingLocale, SUPPORTED};
use super::properties::canonical;
use super::settings_file::{generated_line, with_generated, with_values};
use crate::parts::text::{TextFile, read_text};
use crate::support::object_plan::{Object, ObjectType};
use crate::support::output_tail::text;
use crate::support::program::Program;

/// Files with the variables: that of systemd, and that of the Debian family.
pub(super) const FILE: &str = "/etc/locale.conf";
const DEBIAN_FILE: &str = "/etc/default/locale";
/// Variables of everybody who logs in.
const ENVIRONMENT: &str = "/etc/environment";
const DEBIAN: &str = "/etc/debian_version";

/// List of locales to generate.
const LIST: &str = "/etc/locale.gen";

/// Time limit of a query.
const QUERY_TIMEOUT: Duration = Duration::from_secs(60);

pub(crate) struct PosixLocale;

impl Provider<Object<DesiredLocale>> for PosixLocale {
    async fn status(
        &self,
        locale: &DesiredLocale,
        reading: ReadPurpose<'_, ()>,
        context: &mut Context<'_>,
    ) -> Result<LocaleState, Failure> {
        let state = read(locale, context).await?;
        if reading.is_before() {
            for difference in locale.plan(&state).differences() {
                match difference {
                    LocaleDifference::Variable { .. } => state.file.check_replaceable(context)?,
                    LocaleDifference::Generated { .. } => {
                        TextFile::read(Path::new(LIST), context)?.check_replaceable(context)?;
                    }
                }
            }
        }
        Ok(state)
    }

    async fn execute(
        &self,
        locale: &DesiredLocale,
        state: &LocaleState,
        context: &mut Context<'_>,
    ) -> Result<(), Failure> {
        let Some(differences) = locale.plan(state).differences_of_permanent()? else { return Ok(()) };
        let mut lines = Vec::new();
        let mut values = Vec::new();
        for difference in &differences {
            match difference {
                LocaleDifference::Generated { line, .. } => lines.push(&**line),
                LocaleDifference::Variable { variable, to, .. } => values.push((*variable, &**to)),
            }
        }
        if !lines.is_empty() {
            generate(&lines, context).await?;
        }
        if values.is_empty() {
            return Ok(());
        }
        let written = state.file.write(with_values(&state.file, &values), context);
        let changed = |failure: Failure| Failure { changed: failure.changed || !lines.is_empty(), ..failure };
        written.map(drop).map_err(changed)
    }
}

/// Returns the path of the file with the variables.
pub(super) fn variables_file(files: &dyn Files) -> &'static str {
    let exists = |path: &str| files.exists(Path::new(path)).unwrap_or(false);
    if exists(DEBIAN_FILE) || exists(DEBIAN) { DEBIAN_FILE } else { FILE }
}

/// Reads the file with the variables, and which locales are missing.
async fn read(locale: &DesiredLocale, context: &Context<'_>) -> Result<LocaleState, Failure> {
    let file = TextFile::read(Path::new(variables_file(context.host.files)), context)?;
    // Only a warning depends on it.
    let environment = TextFile::read(Path::new(ENVIRONMENT), context).unwrap_or_default();
    let mut state = LocaleState { file, missing: Vec::new(), environment };
    let installed = context.state_cache(async || installed(context).await).await?;
    let Some(installed) = &installed.0 else { return Ok(state) };
    let names = || locale.variables.iter().map(|(_, name)| name);
    if names().all(|name| installed.contains(&name.canonical())) {
        return Ok(state);
    }
    let supported = read_text(Path::new(SUPPORTED), context)?;
    for name in names().filter(|name| !installed.contains(&name.canonical())) {
        let is_it = |found: &str| canonical(found) == name.canonical();
        let name = name.0.clone();
        let missing = match &supported {
            None => MissingLocale::NotInstalled(name),
            Some(supported) => match generated_line(supported, is_it) {
                Some(line) => MissingLocale::Generated { name, line: line.to_owned() },
                None => MissingLocale::Unknown(name),
            },
        };
        if !state.missing.contains(&missing) {
            state.missing.push(missing);
        }
    }
    Ok(state)
}

/// Locales that the machine has; `None` if it has no list of them.
struct InstalledLocales(Option<HashSet<String>>);

/// Lists the locales of the machine.
async fn installed(context: &Context<'_>) -> Result<InstalledLocales, Failure> {
    let locale = Program::new("locale").with(["-a"]).time_limit(QUERY_TIMEOUT);
    // Without the tool, as with musl, any name is a locale.
    if !locale.is_installed(context.host) {
        return Ok(InstalledLocales(None));
    }
    let finished = locale.finish(Role::Query, context).await?;
    let listed = (finished.exit == Exit::Code(0)).then(|| {
        let names = text(&finished.stdout);
        let names = names.lines().map(canonical);
        // These are built in.
        names.chain(["C".to_owned(), "POSIX".to_owned()]).collect()
    });
    Ok(InstalledLocales(listed))
}

/// Adds lines to the list, and generates the locales of the list. A list with an error is put back.
async fn generate(lines: &[&str], context: &Context<'_>) -> Result<(), Failure> {
    let old = TextFile::read(Path::new(LIST), context)?;
    let list = with_generated(&old, lines);
    let is_new = !old.exists() || old.content() != list;
    let written = if is_new { old.write(list, context)? } else { old.clone() };
    let generated = Program::new("locale-gen").in_package("`locales`").run(context).await;
    if let (Err(failure), true) = (&generated, is_new) {
        let is_undone = written.write(old.content().to_owned(), context).is_ok();
        return Err(Failure { changed: !is_undone, ..failure.clone() });
    }
    generated
}
