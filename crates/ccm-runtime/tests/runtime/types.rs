//! A resource type of a program's own beside the built-in ones.

use std::fmt;
use std::path::PathBuf;

use ccm_runtime::resource_type::{
    Action, Context, Decision, Described, DynProvider, Export, ExportedState, Failure, FailureKind,
    FileAttributes, InstanceScope, Instances, NewContent, NewFile, NotExported, PropertyError, Provider,
    Providers, ReadPurpose, Resource, ResourceKind, Rule, Text, Trigger, TypeSpec, TypedResource, Verb,
    Verified, properties,
};
use ccm_runtime::{Config, Outcome, RunMode, Session};
use ccm_testkit::Scratch;

use crate::{config, manifest_of, read, run};

properties! {
    /// Properties of a greeting.
    #[derive(Default)]
    struct GreetingProperties {
        /// Text of the greeting.
        text: Text { default: Some("`hello`") },
    }
}

/// A type that writes a greeting into the file of a resource's name. Its name is `file` or `greeting`.
struct GreetingType<const IS_FILE: bool>;

impl<const IS_FILE: bool> TypedResource for GreetingType<IS_FILE> {
    type Written = GreetingProperties;
    type Desired = Greeting;
    type Provider = dyn DynProvider<GreetingKind>;

    const NAME: &'static str = if IS_FILE { "file" } else { "greeting" };
    const SUMMARY: &'static str = "Manages a greeting in a file.";
    const ENSURES: &'static [&'static str] = &["present"];
    const PROVIDERS: Providers<Self::Provider> = &[("plain", &Plain)];

    fn build(resource: &Resource, written: GreetingProperties) -> Result<Greeting, Vec<PropertyError>> {
        let path = PathBuf::from(&*resource.id.name);
        if path.is_relative() {
            return Err(vec![PropertyError::of_name("the name of a greeting must be an absolute path")]);
        }
        Ok(Greeting { path, text: written.text.map_or_else(|| "hello".to_owned(), |text| text.0) })
    }
}

impl<const IS_FILE: bool> TypeSpec for GreetingType<IS_FILE> {}

impl<const IS_FILE: bool> Export for GreetingType<IS_FILE> {
    async fn instances(&self, _: InstanceScope, _: &mut Context<'_>) -> Result<Instances, NotExported> {
        Ok(Instances::default())
    }

    async fn export(&self, _: &str, _: &mut Context<'_>) -> Result<Option<ExportedState>, NotExported> {
        Ok(None)
    }
}

struct Greeting {
    path: PathBuf,
    text: String,
}

struct GreetingKind;

impl ResourceKind for GreetingKind {
    type Properties = Greeting;
    type State = bool;
    type Effect = ();
    type Rule = Compared;

    fn decide(_: &Greeting, is_written: &bool, _: Option<&Trigger>) -> Decision<Compared> {
        if *is_written {
            return Decision::Keep { reason: Compared(true) };
        }
        let action = Action::new(Verb::Create);
        Decision::Change { reason: Compared(false), action, diff: None }
    }

    fn verify(_: &Greeting, is_written: &bool, (): &()) -> Result<Verified<Compared>, Failure> {
        if *is_written {
            Ok(Verified::Changed)
        } else {
            Err(Failure::new(FailureKind::Verification, "it is not there"))
        }
    }

    fn describe(_: &Greeting, _: &bool, _: &str) -> Described {
        Described::new("present")
    }
}

struct Compared(bool);

impl Rule for Compared {
    fn name(&self) -> &'static str {
        if self.0 { "same_text" } else { "other_text" }
    }
}

impl fmt::Display for Compared {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(if self.0 {
            "the file holds the greeting"
        } else {
            "the file lacks the greeting"
        })
    }
}

struct Plain;

impl Provider<GreetingKind> for Plain {
    async fn status(
        &self,
        greeting: &Greeting,
        _: ReadPurpose<'_, ()>,
        context: &mut Context<'_>,
    ) -> Result<bool, Failure> {
        let files = context.host.files;
        let failed = |error: &dyn std::error::Error| Failure::from_error(FailureKind::Read, error);
        if !files.exists(&greeting.path).map_err(|error| failed(&error))? {
            return Ok(false);
        }
        let found = files.content(&greeting.path, 1 << 20).map_err(|error| failed(&error))?;
        Ok(found.as_deref() == Some(greeting.text.as_bytes()))
    }

    async fn execute(&self, greeting: &Greeting, _: &bool, context: &mut Context<'_>) -> Result<(), Failure> {
        let attributes = FileAttributes::default();
        let new = NewFile { content: NewContent::Bytes(greeting.text.as_bytes()), attributes };
        let written = context.host.files.write(&greeting.path, &new);
        written.map(drop).map_err(|error| Failure::from_error(FailureKind::Change, &error))
    }
}

fn open(scratch: &Scratch) -> Session {
    Session::open(Config { types: vec![&GreetingType::<false>], ..config(scratch) })
}

#[test]
fn a_type_of_the_program_is_applied_beside_the_built_in_ones() {
    let scratch = Scratch::new();
    let (greeting, copy) = (scratch.at("greeting"), scratch.at("copy"));
    let manifest = manifest_of(
        &scratch,
        &format!(
            "    - greeting: [{{{greeting}: {{text: good morning}}}}]\n\
             \x20   - file: [{{{copy}: {{source: {greeting}, subscribe: ['greeting#{greeting}']}}}}]\n"
        ),
    );
    let session = open(&scratch);
    let (planned, _) = run(&session, &manifest, RunMode::Plan);
    let message = "Would have created".to_owned();
    assert_eq!(planned.first(), Some(&Outcome::WouldChange { message }));
    assert_eq!(run(&session, &manifest, RunMode::Apply).0, [Outcome::Changed, Outcome::Refreshed]);
    assert_eq!(scratch.read("copy").as_deref(), Some("good morning"));
    assert_eq!(run(&session, &manifest, RunMode::Apply).0, [Outcome::Unchanged, Outcome::Unchanged]);
}

#[test]
fn a_type_of_the_program_is_checked_and_documented() {
    let scratch = Scratch::new();
    let session = open(&scratch);
    let manifest = manifest_of(&scratch, "    - greeting: [{there: {txt: x}}]\n");
    let errors = session.load(&read(&session, &manifest)).map(drop).expect_err("two errors");
    let messages: Vec<&str> = errors.diagnostics.iter().map(|found| &*found.message).collect();
    assert_eq!(messages, ["the name of a greeting must be an absolute path", "unknown property `txt`"]);
    let manifest = scratch.at("manifest.yaml");
    let text = errors.text();
    assert!(text.starts_with(&format!("error: {manifest}:3:19: the name of a greeting")), "{text}");
    assert!(text.ends_with("unknown property `txt`\nhint: did you mean `text`?\n"), "{text}");
    let described = &session.schema()["$defs"]["greeting"]["properties"]["text"]["description"];
    assert_eq!(described, "Text of the greeting. Default: `hello`.");
}

#[test]
fn a_type_of_the_program_replaces_a_built_in_one_of_its_name() {
    let scratch = Scratch::new();
    let session = Session::open(Config { types: vec![&GreetingType::<true>], ..config(&scratch) });
    let files: Vec<&str> =
        session.types().iter().filter(|found| found.name() == "file").map(|found| found.summary()).collect();
    assert_eq!(files, ["Manages a greeting in a file."]);
}
