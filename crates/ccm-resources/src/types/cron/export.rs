//! Export of jobs that ccm has written. Other files and crontabs are files.

use std::path::Path;

use ccm_engine::{Context, Export, ExportedState, InstanceScope, Instances, NotExported};
use serde_json::{Map, Value};

use super::CronType;
use super::cron_d::{DIRECTORY, is_own, job_path, parse_file};
use super::crontab::jobs_in;
use super::desired::{CronEntry, name_error};
use crate::parts::crontabs::crontabs;
use crate::parts::text::TextFile;
use crate::support::export::no_form;
use crate::support::file_failure::{file_failure, names_in};

/// User of a job without `user`.
const ROOT: &str = "root";

/// Properties of the five fields of a time.
const FIELDS: [&str; 5] = ["minute", "hour", "day", "month", "weekday"];

/// Maximum size of a crontab.
const MAX_CRONTAB: u64 = 1 << 20;

impl Export for CronType {
    async fn instances(
        &self,
        scope: InstanceScope,
        context: &mut Context<'_>,
    ) -> Result<Instances, NotExported> {
        let mut found = Instances::default();
        for name in names_in(Path::new(DIRECTORY), context.host.files)? {
            let is_listed = match scope {
                InstanceScope::All => true,
                InstanceScope::MadeByHand => is_own(TextFile::read(&job_path(&name), context)?.content()),
            };
            if is_listed && name_error(&name).is_none() {
                found.names.push(name);
            }
        }
        for path in crontabs(context, &mut found.unseen) {
            match context.host.files.content(&path, MAX_CRONTAB) {
                Ok(crontab) => {
                    let jobs = jobs_in(&crontab.unwrap_or_default());
                    found.names.extend(jobs.into_iter().map(|(name, _)| name));
                }
                Err(error) => found.unseen.push(file_failure(&error).into()),
            }
        }
        found.names.sort_unstable();
        found.names.dedup();
        Ok(found)
    }

    async fn export(
        &self,
        name: &str,
        context: &mut Context<'_>,
    ) -> Result<Option<ExportedState>, NotExported> {
        if let Some(message) = name_error(name) {
            return Err(no_form(message));
        }
        let path = job_path(name);
        let file = TextFile::read(&path, context)?;
        if file.exists() {
            let shown = path.display();
            return match parse_file(file.content()) {
                Some((environment, user, entry)) => Ok(Some(state(&entry, &user, &environment)?)),
                None => Err(no_form(format!("\"{shown}\" was not written by ccm"))
                    .with_hint(format!("export the file: `ccm resource file {shown}`"))),
            };
        }
        for path in crontabs(context, &mut Vec::new()) {
            let crontab =
                context.host.files.content(&path, MAX_CRONTAB).map_err(|error| file_failure(&error))?;
            let jobs = jobs_in(&crontab.unwrap_or_default());
            if let Some((_, entry)) = jobs.into_iter().find(|(job, _)| job == name) {
                let user = path.file_name().and_then(|user| user.to_str()).unwrap_or_default();
                return Ok(Some(state(&entry, user, &[])?.provided_by("crontab")));
            }
        }
        Ok(None)
    }
}

fn state(entry: &CronEntry, user: &str, environment: &[String]) -> Result<ExportedState, NotExported> {
    let command = unescaped(&entry.command);
    let state = ExportedState::default().with("command", command);
    let state = if let Some(special) = entry.times.strip_prefix('@') {
        state.with("special", special)
    } else {
        let times: Vec<&str> = entry.times.split(' ').collect();
        let all_stars = times.iter().all(|time| *time == "*");
        let fields = FIELDS.into_iter().zip(times);
        let given = fields.filter(|(name, time)| *time != "*" || all_stars && *name == "minute");
        given.fold(state, |state, (name, time)| state.with(name, time))
    };
    let variables: Option<Map<String, Value>> = environment.iter().map(|line| variable(line)).collect();
    let variables = variables.ok_or_else(|| no_form("a variable of the job has no form in a manifest"))?;
    let state = state.with_some("environment", Some(variables).filter(|variables| !variables.is_empty()));
    Ok(state.with_some("user", (user != ROOT).then_some(user)))
}

/// Returns a command without the backslashes that cron needs.
fn unescaped(command: &str) -> String {
    command.replace("\\%", "%")
}

/// Reads a line with a variable, without the quotes that cron takes away.
fn variable(line: &str) -> Option<(String, Value)> {
    let (name, value) = line.split_once('=')?;
    let quote = value.chars().next().filter(|first| matches!(first, '"' | '\''));
    let inside = quote.and_then(|quote| value.strip_prefix(quote)?.strip_suffix(quote));
    Some((name.to_owned(), inside.unwrap_or(value).into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_have_the_properties_of_their_line() {
        let entry = |times: &str| CronEntry { times: times.to_owned(), command: r"date +\%F".to_owned() };
        let names = |times: &str, user: &str| {
            let state = state(&entry(times), user, &["A=\" b \"".to_owned()]).expect("a state");
            let names = state.properties.iter().map(|(name, _)| *name);
            names.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(names("0 2 * * 1-5", "ada"), "command minute hour weekday environment user");
        assert_eq!(names("* * * * *", "root"), "command minute environment");
        assert_eq!(names("@daily", "root"), "command special environment");
        assert_eq!(variable("A=\" b \""), Some(("A".to_owned(), " b ".into())));
        assert_eq!(unescaped(r"date +\%F"), "date +%F");
    }
}
