//! `cargo xtask language [--report]`: checks that names and doc comments use the field's plain words.

mod items;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use items::{Item, SourceFile};

/// Highest share of doc comments that may begin with a forbidden word, in percent.
const MAX_PERCENT: usize = 2;

/// First words that announce a clause or a speaking thing, instead of a noun or a verb in the third person.
#[rustfmt::skip]
const FORBIDDEN_BEGINNINGS: &[&str] = &[
    "What", "Whatever", "Who", "Whoever", "Whose", "Whom", "Whether", "Which", "Whichever", "How", "However",
    "Where", "Wherever", "When", "Whenever", "Why", "Tells", "Says", "Gives", "Asks", "Answers", "Knows", "Owes",
    "So many", "So much", "So far", "So long", "The same", "Nothing",
];

/// Words that no public name may hold, as a part or whole, with the word that took their place.
const RETIRED_WORDS: &[(&str, &str)] = &[
    ("debt", "pending"),
    ("foresee", "preflight"),
    ("forget", "invalidate"),
    ("forgets", "invalidate"),
    ("forgetting", "invalidating"),
    ("forgotten", "invalidated"),
    ("mistake", "error"),
    ("mistakes", "errors"),
    ("owed", "pending"),
    ("rehearse", "preflight"),
    ("remark", "warning"),
    ("remarks", "warnings"),
    ("settled", "completed"),
    ("slips", "shape_errors"),
    ("stumble", "scan_error"),
    ("told", "reported"),
    ("trouble", "error"),
    ("undone", "depends_on_noop"),
    ("untold", "redacted"),
    ("wanted", "desired"),
];

/// Names that no public item may have, with the name that took their place. Event fields stay as released.
const RETIRED_NAMES: &[(&str, &str)] = &[
    ("Ahead", "Prefetched"),
    ("Answered", "Response"),
    ("Asked", "Query"),
    ("Before", "Baseline"),
    ("Beginning", "DraftBuilder"),
    ("Beside", "TempFile"),
    ("Choice", "ProviderChoice"),
    ("Draft", "ResourceDraft"),
    ("Ended", "ExecResult"),
    ("Grants", "Allowlist"),
    ("Handled", "StepResult"),
    ("Hiding", "RedactingWriter"),
    ("Kept", "LoadedManifest"),
    ("Known", "StateCache"),
    ("LateOn", "DeferredOn"),
    ("Later", "Upcoming"),
    ("Length", "DurationValue"),
    ("Look", "InspectOptions"),
    ("Managed", "BoundResource"),
    ("Masked", "RedactingWriter"),
    ("Missing", "MissingPrerequisite"),
    ("Moment", "Phase"),
    ("Nature", "StaticType"),
    ("Offer", "Availability"),
    ("Outlet", "NonBlockingWriter"),
    ("Reached", "RuntimeContext"),
    ("RunnerAround", "RunnerMiddleware"),
    ("Setting", "ApplyContext"),
    ("Standing", "Pending or Readiness"),
    ("Together", "Batch"),
    ("Turn", "ResourceStep"),
    ("Us", "SelfProcess"),
    ("Way", "ChangeKind"),
    ("World", "EvalContext"),
    ("FARTHEST", "MAX_…"),
    ("LONGEST", "MAX_…"),
    ("MOST", "MAX_…"),
    ("goes_with", "can_batch_with"),
    ("is_at", "provided_by"),
    ("look", "inspect"),
    ("managed_path", "claims"),
    ("managed_thing", "claims"),
    ("may_bring", "may_provide"),
    ("stand_ins", "group nodes"),
    ("stands_for", "group nodes"),
    ("tell", "report"),
    ("tidy", "reap_orphans"),
    ("twin", "duplicate"),
];

/// Names that no module may have, with the name that took their place.
const RETIRED_MODULES: &[(&str, &str)] = &[
    ("ahead", "prefetch"),
    ("capturing", "captures"),
    ("growth", "output_limits"),
    ("known", "cache"),
    ("later", "lookahead or reserved"),
    ("look", "inspect"),
    ("managed", "bound"),
    ("nature", "static_type"),
    ("surroundings", "environment"),
    ("together", "batch"),
    ("usual", "fast_path"),
    ("wording", "messages"),
    ("words", "shell_words, shell_quoting or labels"),
];

/// Type names that each module may define for itself, with the reason.
const ALLOWED_DUPLICATES: &[(&str, &str)] = &[];

#[derive(Default)]
struct DocCount {
    comments: usize,
    forbidden: Vec<String>,
}

struct Offences {
    docs: BTreeMap<String, DocCount>,
    duplicates: BTreeMap<String, Vec<String>>,
    retired: Vec<String>,
}

/// Checks the sources below `crates`. Each offence is an error; with `report`, only counts and names are returned.
pub(crate) fn check(crates: &Path, report: bool) -> Result<String, String> {
    let mut sources = Vec::new();
    for folder in folders(crates)? {
        let Some(name) = folder.file_name().and_then(|name| name.to_str()) else { continue };
        read_below(&folder.join("src"), name, &mut sources)?;
    }
    let findings = find(&sources);
    if report {
        return Ok(findings.report());
    }
    let errors = findings.errors();
    if errors.is_empty() { Ok(String::new()) } else { Err(errors) }
}

fn folders(crates: &Path) -> Result<Vec<std::path::PathBuf>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", crates.display());
    let mut folders = Vec::new();
    for entry in fs::read_dir(crates).map_err(failed)? {
        folders.push(entry.map_err(failed)?.path());
    }
    folders.sort();
    Ok(folders)
}

fn read_below(folder: &Path, crate_name: &str, sources: &mut Vec<SourceFile>) -> Result<(), String> {
    for path in folders(folder)? {
        if path.is_dir() {
            read_below(&path, crate_name, sources)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            sources.push(SourceFile { crate_name: crate_name.to_owned(), path, text });
        }
    }
    Ok(())
}

fn find(sources: &[SourceFile]) -> Offences {
    let tests = items::test_modules(sources);
    let mut docs: BTreeMap<String, DocCount> = BTreeMap::new();
    let mut types: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut retired = Vec::new();
    for source in sources {
        let count = docs.entry(source.crate_name.clone()).or_default();
        for (line, first) in items::doc_comments(&source.text) {
            count.comments += 1;
            if let Some(beginning) = forbidden_beginning(first) {
                count.forbidden.push(format!("{}: begins with `{beginning}`: {first}", source.at(line)));
            }
        }
        if tests.iter().any(|test| test.holds(&source.path)) {
            continue;
        }
        for item in items::items(&source.text) {
            if let Some(better) = replacement(&item) {
                let at = source.at(item.line);
                retired.push(format!("{at}: {} `{}` is retired: say `{better}`", item.keyword, item.name));
            }
            if item.is_type() && !ALLOWED_DUPLICATES.iter().any(|(allowed, _)| *allowed == item.name) {
                types.entry(item.name).or_default().push(source.at(item.line));
            }
        }
    }
    types.retain(|_, locations| locations.len() > 1);
    Offences { docs, duplicates: types, retired }
}

/// Returns the forbidden word that the first line of a doc comment begins with.
fn forbidden_beginning(first: &str) -> Option<&'static str> {
    let begins = |word: &str| {
        let rest = first.strip_prefix(word)?;
        (!rest.starts_with(|next: char| next.is_alphanumeric() || next == '_')).then_some(())
    };
    FORBIDDEN_BEGINNINGS.iter().copied().find(|word| begins(word).is_some())
}

/// Returns the replacement of a retired name, or of a retired word in a name.
fn replacement(item: &Item) -> Option<&'static str> {
    let names = match item.keyword {
        "mod" => RETIRED_MODULES,
        _ if item.is_public => RETIRED_NAMES,
        _ => return None,
    };
    let whole = names.iter().find(|(retired, _)| *retired == item.name);
    let word =
        || RETIRED_WORDS.iter().find(|(retired, _)| items::words(&item.name).any(|word| word == *retired));
    whole.or_else(word).map(|(_, better)| *better)
}

impl Offences {
    fn doc_comments(&self) -> usize {
        self.docs.values().map(|count| count.comments).sum()
    }

    fn forbidden(&self) -> usize {
        self.docs.values().map(|count| count.forbidden.len()).sum()
    }

    fn report(&self) -> String {
        let mut text = String::new();
        for (name, DocCount { comments, forbidden }) in &self.docs {
            let _ = writeln!(text, "{name:14} {:5} of {comments:5} doc comments", forbidden.len());
        }
        text += &self.names();
        let (duplicates, retired) = (self.duplicates.len(), self.retired.len());
        let (forbidden, comments) = (self.forbidden(), self.doc_comments());
        let _ = writeln!(text, "{duplicates} duplicated type names, {retired} retired names");
        let _ = writeln!(text, "{forbidden} of {comments} doc comments begin with a forbidden word");
        text
    }

    fn errors(&self) -> String {
        let mut text = String::new();
        let (forbidden, comments) = (self.forbidden(), self.doc_comments());
        if forbidden * 100 > comments * MAX_PERCENT {
            for line in self.docs.values().flat_map(|count| &count.forbidden) {
                let _ = writeln!(text, "{line}");
            }
            let _ = writeln!(
                text,
                "{forbidden} of {comments} doc comments begin with a forbidden word: at most {MAX_PERCENT} percent may"
            );
        }
        text + &self.names()
    }

    /// Lists duplicated type names and retired names.
    fn names(&self) -> String {
        let mut text = String::new();
        for (name, locations) in &self.duplicates {
            let _ =
                writeln!(text, "type `{name}` is defined {} times: {}", locations.len(), locations.join(" "));
        }
        for name in &self.retired {
            let _ = writeln!(text, "{name}");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(text: &str) -> Offences {
        find(&[SourceFile { crate_name: "one".into(), path: "one/src/lib.rs".into(), text: text.into() }])
    }

    #[test]
    fn first_line_of_a_doc_comment_counts() {
        let found = findings("//! What it is.\n\n/// Returns it.\n/// What follows is free.\nfn f() {}\n");
        assert_eq!((found.forbidden(), found.doc_comments()), (1, 2));
    }

    #[test]
    fn forbidden_beginnings_are_whole_words() {
        assert_eq!(forbidden_beginning("Tells whether"), Some("Tells"));
        assert_eq!(forbidden_beginning("The same as before"), Some("The same"));
        assert_eq!(forbidden_beginning("Howl"), None);
        assert_eq!(forbidden_beginning("Returns what is there"), None);
    }

    #[test]
    fn few_forbidden_beginnings_pass() {
        let docs = |bad: usize| "/// What\nfn f() {}\n".repeat(bad) + &"/// Good\nfn f() {}\n".repeat(98);
        assert_eq!(findings(&docs(2)).errors(), "");
        assert!(findings(&docs(3)).errors().contains("3 of 101 doc comments"));
    }

    #[test]
    fn duplicated_type_names_are_listed() {
        let found = findings("struct A;\nmod x {\n    enum A {}\n}\n");
        assert_eq!(found.errors(), "type `A` is defined 2 times: one/src/lib.rs:1 one/src/lib.rs:3\n");
    }

    #[test]
    fn test_modules_and_associated_types_are_no_duplicates() {
        let inline =
            "struct A;\nimpl X for A {\n    type A = u8;\n}\n#[cfg(test)]\nmod tests {\n    struct A;\n}\n";
        assert_eq!(findings(inline).errors(), "");
        let in_file = SourceFile {
            crate_name: "one".into(),
            path: "one/src/tests.rs".into(),
            text: "struct A;".into(),
        };
        let library = SourceFile {
            crate_name: "one".into(),
            path: "one/src/lib.rs".into(),
            text: "struct A;\n#[cfg(test)]\nmod tests;\n".into(),
        };
        assert_eq!(find(&[library, in_file]).errors(), "");
    }

    #[test]
    fn retired_names_of_public_items_and_modules_are_refused() {
        let found = findings("mod words;\npub(crate) fn is_owed() {}\nfn told() {}\npub struct Knowledge;\n");
        assert_eq!(found.retired.len(), 2, "{:?}", found.retired);
        assert!(found.retired[1].ends_with("fn `is_owed` is retired: say `pending`"), "{:?}", found.retired);
    }

    #[test]
    fn retired_words_are_found_in_compound_names() {
        let found = findings("pub struct OwedRefresh;\npub struct World;\npub struct Worldwide;\n");
        assert_eq!(found.retired.len(), 2, "{:?}", found.retired);
    }
}
