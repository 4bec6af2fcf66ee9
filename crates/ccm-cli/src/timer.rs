//! `ccm timer`: systemd timers that apply a manifest.

mod credentials;
mod list;
mod migrate;
mod notify;

use std::cell::Cell;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use ccm_runtime::model::ResourceId;
use ccm_runtime::process::{absolute, own_program, variable};
use ccm_runtime::timer::{
    OnFailure, PlannedUnit, ServiceCredential, TimerError, TimerName, TimerPlan, TimerRequest, TimerSource,
    Timers, UnitScope,
};
use ccm_runtime::{
    Config, ExitCode, Notice, RunMode, SelectionOption, Session, UnknownResource, UnknownResources, printed,
};

use crate::arguments::{
    ApplyArguments, NOT_FOR_TIMERS, ReportFormat, TimerCommand, TimerInstallArguments, TimerRemoveArguments,
    options_of_apply,
};
use crate::console::Console;
use crate::error::{CommandError, CommandResult};
use crate::listeners::{EVENTS_FILE_VARIABLE, events_file_of_environment};
use crate::reactor::block_on;
use crate::write_hints::file_system_hint_of;
use crate::{manifest, session, source, state};

use credentials::{DIRECTORY_VARIABLE, ServiceDoors};
pub(crate) use list::warn_of_template;

/// Maximum time to wait for another run, unless an option names one.
const MAX_LOCK_WAIT: Duration = Duration::from_secs(5 * 60);
/// Maximum delay of runs, unless an option names one.
const MAX_JITTER: Duration = Duration::from_secs(5 * 60);

/// Installs, lists, migrates or removes timers.
pub(crate) fn run(command: &TimerCommand, console: &Console) -> CommandResult {
    match command {
        TimerCommand::Install(arguments) => install(arguments, console),
        TimerCommand::List(arguments) => list::run(arguments, console),
        TimerCommand::Migrate(arguments) => migrate::run(arguments, console),
        TimerCommand::Remove(arguments) => remove(arguments, console),
        TimerCommand::Notify(arguments) => notify::run(arguments, console),
    }
}

fn install(arguments: &TimerInstallArguments, console: &Console) -> CommandResult {
    refuse_unsuitable_options(&arguments.apply)?;
    let uses_environment = Rc::new(Cell::new(false));
    let name = timer_name(arguments)?;
    let mut credentials = credentials::named(&arguments.credential)?;
    let doors = service_doors(&name, &credentials, arguments, console)?;
    let config = Config {
        identity: arguments.apply.values.identity.identity.clone(),
        ..session::config(console, arguments.apply.run.state.state_dir.clone())
    };
    let session = Session::open(Config { doors: Box::new(doors.clone()), ..config }).on_notice({
        let (uses_environment, console) = (Rc::clone(&uses_environment), console.clone());
        move |notice| match notice {
            Notice::EnvironmentUsed => uses_environment.set(true),
            notice => session::show(notice, &console),
        }
    });
    check_manifest(&session, &arguments.apply, console)?;
    if !arguments.apply.noop && session.policy_requires_plan() {
        console
            .warning("the policy lets only approved plans be applied, so the runs of this timer will fail");
        console
            .hint("let the timer only look with `--noop`, and apply plans by hand: `ccm apply --plan PLAN`");
    }
    let options = service_options(arguments, &session)?;
    let from_environment = options.variables.join(", ");
    let used = doors.used()?;
    let names_used: Vec<&str> = used.iter().map(ServiceCredential::name).collect();
    let names_used = names_used.join(", ");
    credentials.extend(used);
    let request = request(name, arguments, options, credentials)?;
    let scope = scope(arguments.user);
    let timers = timers(&session, scope)?;
    let plan = timers.plan(&request).map_err(|error| timer_error(&session, &error, scope))?;
    for path in timers.exposed(&request) {
        let path = path.display();
        console.warning(&format!(
            "others than root can change {path}, and the timer runs as root what is there"
        ));
        console.hint("keep manifest and ccm where only root can change them, such as /etc/ccm and /usr/bin");
    }
    if !from_environment.is_empty() {
        console.note(&format!("the timer keeps options of your environment: {from_environment}"));
    }
    if !names_used.is_empty() {
        console.note(&format!("the timer gets credentials from {DIRECTORY_VARIABLE}: {names_used}"));
    }
    if let Some(old) = timers.template_of(&request) {
        console.warning(&format!("{old}.timer applies the same manifest, and goes on"));
        console.hint(&format!("stop it: `systemctl disable --now {old}.timer`"));
    }
    for unit in timers.missing_failure_units(&request) {
        console.warning(&format!("there is no unit {unit}, which a failed run starts"));
        console.hint("write the unit before a run fails, or check its name");
    }
    if uses_environment.get() {
        console.warning(
            "the manifest uses environment variables; the timer's runs have those of systemd, not of your shell",
        );
        console.hint("set the variables that it needs in the file `.env` beside it");
    }
    if arguments.apply.noop {
        return console.print(&session.secrets().redact(&shown_plan(&plan, scope)));
    }
    block_on(timers.install(&plan))?.map_err(|error| match error {
        TimerError::NoSystemd => without_systemd(&request),
        error => timer_error(&session, &error, scope),
    })?;
    let listed = block_on(timers.list())?.unwrap_or_default();
    let next = listed.into_iter().find(|timer| timer.unit == plan.timer).and_then(|timer| timer.next);
    console.print_words(&shown_installation(&plan, &request, scope, next.as_deref()))?;
    if arguments.user && !timers.is_lingering() {
        console.note("the timer runs only while you are logged in");
        console.hint("`loginctl enable-linger` lets it run always");
    }
    Ok(ExitCode::Success)
}

/// Refuses options of `ccm apply` for a person at a terminal.
fn refuse_unsuitable_options(apply: &ApplyArguments) -> CommandResult<()> {
    let has_output = apply.run.output.format != ReportFormat::Text;
    let given = [
        apply.quiet,
        apply.render,
        apply.verify_idempotent,
        apply.run.output.json,
        has_output,
        apply.confirm,
    ];
    let Some((name, _)) = NOT_FOR_TIMERS.iter().zip(given).find(|(_, is_given)| *is_given) else {
        return Ok(());
    };
    let option = name.replace('_', "-");
    let reason = match *name {
        "confirm" => "nobody answers its question",
        "render" => "it runs nothing",
        "verify_idempotent" => "it applies the manifest twice",
        _ => "the output of its runs goes to the journal",
    };
    Err(CommandError::usage(format!("`--{option}` does not suit a timer: {reason}; nothing was changed")))
}

/// Refuses a manifest with errors, and names that are not in it.
fn check_manifest(session: &Session, apply: &ApplyArguments, console: &Console) -> CommandResult<()> {
    let values = session::values(&apply.values);
    let from =
        block_on(source::follow(source::FromRequest::of_apply(apply), session, RunMode::Plan, console))??;
    let source = from.manifest().unwrap_or_else(|| manifest::source(manifest_path(apply)));
    let input = session.read(source, &values, apply.limits.max_manifest_size)?;
    let loaded = manifest::load(console, session, &input)?;
    let names = loaded.catalog().names();
    let missing = |ids: &[ResourceId], option| {
        let unknown = ids.iter().filter(|id| names.find(id).is_none());
        let unknown =
            unknown.map(|id| UnknownResource { option, id: id.clone(), nearest: loaded.nearest(id) });
        unknown.collect::<Vec<_>>()
    };
    let mut unknown = missing(&apply.only, SelectionOption::Only);
    unknown.extend(missing(&apply.skip, SelectionOption::Skip));
    if unknown.is_empty() {
        return Ok(());
    }
    Err(state::unknown_selection(&UnknownResources(unknown)))
}

/// Returns the path of the manifest, which the command line requires without a source.
fn manifest_path(apply: &ApplyArguments) -> &Path {
    apply.manifests.first().map_or(Path::new(""), |path| path)
}

/// Returns the name of the timer, which its manifest gives it unless an option does.
fn timer_name(arguments: &TimerInstallArguments) -> CommandResult<TimerName> {
    let address = arguments.apply.from.address();
    // A branch stands behind the address of its repository.
    let address = address.as_deref().map(|address| address.split('#').next().unwrap_or(address));
    let path = address.map_or_else(|| manifest_path(&arguments.apply), Path::new);
    if path == Path::new("-") {
        return Err(CommandError::usage("a timer needs the path of a manifest, not standard input"));
    }
    let name = arguments.name.clone().map_or_else(|| TimerName::of_manifest(path), Ok);
    name.map_err(|error| {
        CommandError::usage(format!("{} gives the timer no name: {error}", path.display()))
            .hint("add `--name NAME`")
    })
}

/// Returns the doors to the machine with the credentials that the service will have.
fn service_doors(
    name: &TimerName,
    named: &[ServiceCredential],
    arguments: &TimerInstallArguments,
    console: &Console,
) -> CommandResult<ServiceDoors> {
    let session = session::open(console);
    let scope = scope(arguments.user);
    let of_drop_ins = timers(&session, scope)?.drop_in_credentials(name);
    let of_drop_ins = of_drop_ins.map_err(|error| timer_error(&session, &error, scope))?;
    Ok(ServiceDoors::new(of_drop_ins, named))
}

fn request(
    name: TimerName,
    arguments: &TimerInstallArguments,
    options: ServiceOptions,
    credentials: Vec<ServiceCredential>,
) -> CommandResult<TimerRequest> {
    let refuse = |message: String, hint: &str| CommandError::usage(message).hint(hint);
    let apply = &arguments.apply;
    let path = manifest_path(apply);
    let text = |path: &Path| path.to_str().map(str::to_owned);
    let address = apply.from.address();
    let manifest = address.clone().or_else(|| absolute(path).ok().and_then(|path| text(&path)));
    let manifest = manifest.ok_or_else(|| {
        refuse(format!("the path {} can't be written into a unit", path.display()), "use a path in UTF-8")
    })?;
    let every = arguments.every.distance();
    let jitter = arguments.jitter.unwrap_or_else(|| (every / 6).min(MAX_JITTER));
    if jitter >= every {
        let jitter = printed::duration(jitter);
        return Err(refuse(
            format!("`--jitter {jitter}` is not shorter than `--every {}`", arguments.every),
            "write a shorter delay, or leave `--jitter` out",
        ));
    }
    let program = own_program().ok().and_then(|program| text(&program)).unwrap_or_default();
    let has_state_directory = options.has(STATE_DIRECTORY);
    Ok(TimerRequest {
        name,
        source: address.map(|_| TimerSource {
            manifest: apply
                .manifests
                .first()
                .map_or(source::MANIFEST.into(), |path| path.display().to_string()),
            signers: apply.from.signers(),
        }),
        manifest,
        schedule: arguments.every,
        jitter,
        options: options.words,
        program,
        has_state_directory,
        credentials,
        on_failure: OnFailure { actions: arguments.on_failure.clone(), format: arguments.on_failure_format },
        force: arguments.force,
    })
}

/// Variable with the state directory.
const STATE_VARIABLE: &str = "CCM_STATE_DIR";
/// Variable with the directory in which that of an ordinary user is.
const STATE_HOME_VARIABLE: &str = "XDG_STATE_HOME";
/// Option of the state directory.
const STATE_DIRECTORY: &str = "--state-dir";

/// Options of the service.
#[derive(Debug, Default)]
struct ServiceOptions {
    words: Vec<String>,
    /// Variables of the environment that some of the options come from.
    variables: Vec<&'static str>,
}

impl ServiceOptions {
    fn has(&self, option: &str) -> bool {
        self.words.iter().any(|given| given == option)
    }

    /// Adds an option, unless the command line has it.
    fn add(&mut self, option: &str, value: String) {
        if !self.has(option) {
            self.words.extend([option.to_owned(), value]);
        }
    }

    /// Adds an option that a variable of the environment sets, unless the command line has it.
    fn add_variable(&mut self, option: &str, name: &'static str, value: Option<String>) {
        if let Some(value) = value.filter(|_| !self.has(option)) {
            self.words.extend([option.to_owned(), value]);
            self.variables.push(name);
        }
    }
}

/// Returns the options of the service: those of the command line, those of the environment, and limits so that a run
/// ends before the next one.
fn service_options(arguments: &TimerInstallArguments, session: &Session) -> CommandResult<ServiceOptions> {
    let path = |name: &str, path: Option<&Path>| {
        let text = |path: &Path| absolute(path).ok()?.to_str().map(str::to_owned);
        let not_text = || CommandError::usage(format!("the path in {name} can't be written into a unit"));
        path.map(|path| text(path).ok_or_else(not_text)).transpose()
    };
    let apply = &arguments.apply;
    let words = options_of_apply().map_err(CommandError::usage)?;
    let mut options = ServiceOptions { words, variables: Vec::new() };
    let named = path(STATE_VARIABLE, apply.run.state.state_dir.as_deref())?;
    options.add_variable(STATE_DIRECTORY, STATE_VARIABLE, named);
    if arguments.user {
        // The manager of the user may have another directory in its environment, or none.
        let of_user = session
            .state_path()
            .ok()
            .filter(|path| variable(STATE_HOME_VARIABLE).is_some_and(|home| path.starts_with(home)));
        let of_user = path(STATE_HOME_VARIABLE, of_user.as_deref())?;
        options.add_variable(STATE_DIRECTORY, STATE_HOME_VARIABLE, of_user);
    }
    let hiera = path(session::HIERA_VARIABLE, session::hiera_of_environment().as_deref())?;
    options.add_variable("--hiera", session::HIERA_VARIABLE, hiera);
    let events_file = path(EVENTS_FILE_VARIABLE, events_file_of_environment()?.as_deref())?;
    options.add_variable("--events-file", EVENTS_FILE_VARIABLE, events_file);
    options.add_variable("--keep-runs", "CCM_KEEP_RUNS", apply.run.keep_runs.map(|runs| runs.to_string()));
    options.add_variable("--lock-wait", "CCM_LOCK_WAIT", apply.run.lock_wait.map(printed::duration));
    let every = arguments.every.distance();
    options.add("--lock-wait", printed::duration((every / 6).min(MAX_LOCK_WAIT)));
    options.add("--timeout", printed::duration(every * 2 / 3));
    Ok(options)
}

fn shown_plan(plan: &TimerPlan, scope: UnitScope) -> String {
    let systemctl = systemctl(scope);
    let units = shown_units(plan);
    format!("{units}would run `{systemctl} daemon-reload` and `{systemctl} enable --now {}`\n", plan.timer)
}

/// Returns the texts of the units.
fn shown_units(plan: &TimerPlan) -> String {
    let unit = |PlannedUnit { path, text, is_changed, .. }: &PlannedUnit| {
        let path = path.display();
        let words =
            if *is_changed { format!("would write {path}:") } else { format!("{path} is up to date:") };
        let lines: String =
            text.lines().map(|line| format!("  {line}").trim_end().to_owned() + "\n").collect();
        format!("{words}\n\n{lines}\n")
    };
    plan.units.iter().map(unit).collect()
}

fn shown_installation(
    plan: &TimerPlan,
    request: &TimerRequest,
    scope: UnitScope,
    next: Option<&str>,
) -> String {
    let changed = plan.units.iter().filter(|unit| unit.is_changed);
    let mut text =
        changed.fold(String::new(), |text, unit| text + &format!("wrote {}\n", unit.path.display()));
    let next = next.map(|next| format!("; next run: {next}")).unwrap_or_default();
    text += &format!("{} applies {} every {}{next}\n", plan.timer, request.manifest, request.schedule);
    text + &format!("run it now:  {} start {}\n", systemctl(scope), plan.service)
}

/// Returns the beginning of a command line that speaks to the manager of a scope.
fn systemctl(scope: UnitScope) -> &'static str {
    if scope == UnitScope::User { "systemctl --user" } else { "systemctl" }
}

fn remove(arguments: &TimerRemoveArguments, console: &Console) -> CommandResult {
    let session = session::open(console);
    let scope = scope(arguments.user);
    let timers = timers(&session, scope)?;
    let removed = block_on(timers.remove(&arguments.name, arguments.force))?;
    let removed = removed.map_err(|error| {
        let hint = match error {
            TimerError::Edited(_) => "look at the file; `--force` removes it all the same",
            TimerError::Foreign(_) => "remove the file by hand, if nothing needs it",
            error => return timer_error(&session, &error, scope),
        };
        CommandError::of(&error).therefore("nothing was changed").hint(hint)
    })?;
    let lines =
        removed.iter().map(|path| format!("removed {}\n", path.display())).collect::<Vec<_>>().concat();
    console.print_words(&lines)
}

fn scope(user: bool) -> UnitScope {
    if user { UnitScope::User } else { UnitScope::System }
}

fn timers(session: &Session, scope: UnitScope) -> CommandResult<Timers<'_>> {
    session.timers(scope).map_err(|error| timer_error(session, &error, scope))
}

/// Returns an error after which everything is as it was.
fn timer_error(session: &Session, error: &TimerError, scope: UnitScope) -> CommandError {
    let force = "look at the file; `--force` takes it over all the same";
    let hint = match error {
        TimerError::NoUserManager => "log in as this user, or run `loginctl enable-linger`".to_owned(),
        TimerError::NoUserDirectory => "set HOME to an absolute path".to_owned(),
        TimerError::Missing { known, .. } if known.is_empty() => {
            "`ccm timer list` lists the timers of the system, and with `--user` those of a user".to_owned()
        }
        TimerError::Missing { known, .. } => format!("use one of: {}", known.join(", ")),
        TimerError::Edited(_) => force.to_owned(),
        TimerError::Foreign(_) => "choose another name with `--name`, or move the file away".to_owned(),
        TimerError::Elsewhere(_) => "choose another name with `--name`".to_owned(),
        TimerError::OtherManifest { .. } => {
            "choose another name with `--name`, or replace the timer with `--force`".to_owned()
        }
        TimerError::Secret(_) => {
            "write the value into a file that only root can read, and use `--hiera`".to_owned()
        }
        TimerError::Program(_) => {
            "install ccm at a path of letters, digits and `/`, such as /usr/bin/ccm".to_owned()
        }
        TimerError::File(_) | TimerError::Directory { .. } => match file_system_hint_of(error) {
            Some(hint) => hint.to_owned(),
            None if scope == UnitScope::System && !session.is_root() => {
                "run ccm as root, or install a timer of your own with `--user`".to_owned()
            }
            None => String::new(),
        },
        TimerError::OwnFailureUnit(_) => "name a unit that tells somebody".to_owned(),
        TimerError::NotRestored { .. } => "remove these units by hand".to_owned(),
        _ => String::new(),
    };
    let found = CommandError::of(error).hints(Some(hint).filter(|hint| !hint.is_empty()));
    match error {
        TimerError::NotRestored { .. } => found,
        _ => found.therefore("nothing was changed"),
    }
}

/// Returns the error of a machine without systemd, with lines for a crontab if cron can do the same.
fn without_systemd(request: &TimerRequest) -> CommandError {
    if !request.credentials.is_empty() || !request.on_failure.actions.is_empty() {
        return CommandError::of(&TimerError::NoSystemd).therefore("nothing was changed").hint(
            "cron has no credentials and no `--on-failure`; leave them out to see lines for a crontab",
        );
    }
    let message = "systemd is not running on this machine; nothing was changed; lines for `crontab -e` that do the same";
    CommandError::new(message).with_list(Timers::cron_lines(request))
}
