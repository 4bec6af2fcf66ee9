//! Values of arguments that ccm looks up: names in a manifest, types and properties, recorded runs. A source that
//! can't be read has none.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use ccm_runtime::ensure::session_outcomes;
use ccm_runtime::model::EventLine;
use ccm_runtime::process::variable;
use ccm_runtime::timer::UnitScope;
use ccm_runtime::{
    Config, Explanation, GivenData, GivenFacts, GivenValues, LocalZone, PassiveDoors, PropertyReference,
    Session, TypeReference, fact_reference,
};
use clap::Arg;

use super::candidates::Candidate;
use super::cursor::LineCursor;
use crate::ensure::SESSION_VARIABLE;

/// Maximum number of recorded runs to choose from.
const MAX_RUNS: usize = 50;

/// Context that values are looked up in.
pub(super) struct ValueContext<'c> {
    pub(super) cursor: &'c LineCursor<'c>,
    /// State directory of the environment.
    pub(super) state_directory: Option<PathBuf>,
    /// Directory that `~` stands for.
    pub(super) home: Option<PathBuf>,
}

impl ValueContext<'_> {
    /// Returns the values of an argument; `None` if the definition of the command line has them, or a shell.
    pub(super) fn values(&self, argument: &Arg, typed: &str) -> Option<Vec<Candidate>> {
        let name = argument.get_value_names().and_then(|names| names.first())?;
        match &**name {
            "PATH" if self.cursor.command.get_name() == "facts" => Some(facts()),
            "TYPE#NAME" if ["require", "subscribe"].contains(&argument.get_id().as_str()) => {
                Some(of_session())
            }
            "TYPE#NAME" => Some(self.references()),
            "TYPE" => Some(self.types()),
            "TYPE[.PROPERTY]" => Some(self.explained(typed)),
            "PROPERTY" => Some(self.properties(typed)),
            "RUN" => Some(self.runs()),
            "RESOURCE" => Some(self.recorded_resources()),
            "TIMER" => Some(self.timers()),
            "TEMPLATE_TIMER" => Some(self.template_timers()),
            _ => None,
        }
    }

    fn session(&self) -> Session {
        let named = self.cursor.values("state_dir").last().map(|path| self.path(path));
        let state_directory = named.or_else(|| self.state_directory.clone());
        Session::open(Config { state_directory, doors: Box::new(PassiveDoors), ..Config::default() })
    }

    /// Returns a path of the command line. The shell has not replaced `~` yet.
    fn path(&self, word: &str) -> PathBuf {
        match (word.strip_prefix("~/"), &self.home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => PathBuf::from(word),
        }
    }

    fn paths(&self, id: &str) -> Vec<PathBuf> {
        self.cursor.values(id).map(|path| self.path(path)).collect()
    }

    fn texts(&self, id: &str) -> Vec<String> {
        self.cursor.values(id).map(str::to_owned).collect()
    }

    fn is_given(&self, id: &str) -> bool {
        self.cursor.given.iter().any(|(argument, _)| argument.get_id() == id)
    }

    /// Returns the resources of the manifests that the command line names.
    fn references(&self) -> Vec<Candidate> {
        let manifests = ["manifests", "path", "manifest"].map(|id| self.paths(id)).concat();
        let values = GivenValues {
            facts: GivenFacts { files: self.paths("facts"), assignments: self.texts("fact") },
            data: GivenData {
                files: self.paths("hiera"),
                assignments: self.texts("data"),
                allows_new_keys: self.is_given("data_any"),
            },
            no_dotenv: self.is_given("no_env"),
        };
        let session = self.session();
        let files = manifests.iter().filter(|path| **path != Path::new("-"));
        let mut known = HashSet::new();
        let names = files.flat_map(|path| session.reference_names(path, &values));
        names.filter(|name| known.insert(name.clone())).map(|name| Candidate::new(name, "")).collect()
    }

    /// Returns the types.
    fn types(&self) -> Vec<Candidate> {
        let Ok(Explanation::Types(known)) = self.session().explain(None) else { return Vec::new() };
        known.iter().map(|found| Candidate::new(found.name, found.summary)).collect()
    }

    /// Returns the types. Behind a whole name, returns also the properties below it.
    fn explained(&self, typed: &str) -> Vec<Candidate> {
        let Ok(Explanation::Types(known)) = self.session().explain(None) else { return Vec::new() };
        let mut found: Vec<Candidate> =
            known.iter().map(|found| Candidate::new(found.name, found.summary)).collect();
        for TypeReference { name, properties, common, settings, .. } in &known {
            add_properties(name, properties.iter().chain(common), typed, &mut found);
            for setting in settings {
                found.push(Candidate::new(setting.name, &setting.meaning));
                add_properties(setting.name, setting.properties.iter(), typed, &mut found);
            }
        }
        found
    }

    /// Returns the properties of the type that the command line names.
    fn properties(&self, typed: &str) -> Vec<Candidate> {
        let Some(owner) = self.cursor.values("name").last().map(|name| format!("{name}.")) else {
            return Vec::new();
        };
        let known = self.explained(&format!("{owner}{typed}")).into_iter();
        let below = |found: Candidate| {
            let word = found.word.strip_prefix(&owner)?.to_owned();
            Some(Candidate { word, ..found })
        };
        known.filter_map(below).collect()
    }

    /// Returns the recorded runs, the newest first.
    fn runs(&self) -> Vec<Candidate> {
        let Ok(history) = self.session().history() else { return Vec::new() };
        let zone = LocalZone::of_this_process();
        let newest = history.runs().first().map(|_| Candidate::new("last", "the newest run"));
        let runs = history.runs().iter().take(MAX_RUNS).map(|run| {
            let began = run.began().map(|began| zone.display(began)).unwrap_or_default();
            let outcome = run.summary.as_ref().map_or("not ended", |summary| summary.outcome().word());
            Candidate::new(history.short(&run.id), format!("{began} {outcome} {}", run.manifest()))
        });
        with_own_descriptions(newest.into_iter().chain(runs).collect())
    }

    /// Returns the timers that ccm installed.
    fn timers(&self) -> Vec<Candidate> {
        let scope = if self.is_given("user") { UnitScope::User } else { UnitScope::System };
        let names = self.session().timers(scope).map(|timers| timers.names()).unwrap_or_default();
        names.into_iter().map(|name| Candidate::new(name.to_string(), "")).collect()
    }

    /// Returns the enabled timers of the package's template.
    fn template_timers(&self) -> Vec<Candidate> {
        let timers = self.session().timers(UnitScope::System).map(|timers| timers.enabled_templates());
        let names = timers.unwrap_or_default().into_iter();
        names.filter_map(|name| Some(Candidate::new(name.split_once('@')?.1.to_owned(), ""))).collect()
    }

    /// Returns the resources with an event in the run that the command line names.
    fn recorded_resources(&self) -> Vec<Candidate> {
        let Some(run) = self.cursor.values("run").last() else { return Vec::new() };
        let Ok(history) = self.session().history() else { return Vec::new() };
        let events = history.find(run).ok().and_then(|run| history.events(run).ok());
        let names: BTreeSet<String> = events.unwrap_or_default().iter().filter_map(resource_of).collect();
        names.into_iter().map(|name| Candidate::new(name, "")).collect()
    }
}

/// Returns the resources of the session that the environment names.
fn of_session() -> Vec<Candidate> {
    let outcomes = variable(SESSION_VARIABLE).and_then(|path| session_outcomes(Path::new(&path)).ok());
    let resources = outcomes.map(|outcomes| outcomes.resources).unwrap_or_default();
    resources.iter().map(|found| Candidate::new(found.id().to_string(), found.outcome.words())).collect()
}

/// Returns the paths of the facts that ccm gathers, except those of the elements of lists.
fn facts() -> Vec<Candidate> {
    let single = fact_reference().iter().filter(|fact| !fact.path.contains("[]"));
    single.map(|fact| Candidate::new(fact.path, fact.description)).collect()
}

fn resource_of(event: &EventLine) -> Option<String> {
    match event {
        EventLine::Transaction(line) => Some(format!("{}#{}", line.type_name, line.name)),
        _ => None,
    }
}

/// Adds properties as `OWNER.NAME` if the typed text goes beyond the owner, and the keys of their maps.
fn add_properties<'p>(
    owner: &str,
    properties: impl IntoIterator<Item = &'p PropertyReference>,
    typed: &str,
    found: &mut Vec<Candidate>,
) {
    if typed != owner && !typed.strip_prefix(owner).is_some_and(|rest| rest.starts_with('.')) {
        return;
    }
    for property in properties {
        let path = format!("{owner}.{}", property.name);
        if found.iter().any(|known| known.word == path) {
            continue;
        }
        found.push(Candidate::new(&*path, first_sentence(&property.meaning)));
        add_properties(&path, &property.properties, typed, found);
    }
}

fn first_sentence(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    text.split_once(". ").map_or(text.clone(), |(first, _)| format!("{first}."))
}

/// Numbers equal descriptions. Zsh shows the words with one description together, which would change the order.
fn with_own_descriptions(mut candidates: Vec<Candidate>) -> Vec<Candidate> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for candidate in &mut candidates {
        let count = counts.entry(candidate.description.clone()).or_default();
        *count += 1;
        if *count > 1 {
            candidate.description += &format!(" ({count})");
        }
    }
    candidates
}
