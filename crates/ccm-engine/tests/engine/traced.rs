//! Spans and debug messages of a run.
//!
//! Each test runs alone in its own process: tracing caches for the whole process which messages are enabled, and a test
//! without a subscriber would disable them.

use std::fmt::{self, Write as _};
use std::sync::{Arc, Mutex, PoisonError};

use ccm_host::{Cancellation, Command, Enforced, Finished, Local, Runner, StartError};
use ccm_model::Stream;
use ccm_testkit::{FakeRunner, isolated};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id};
use tracing::{Event, Subscriber, debug};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};
use tracing_subscriber::registry::{LookupSpan, Registry, Scope};

use crate::fake::{Options, catalog, run_with};

/// Layer that collects messages, each with its spans.
#[derive(Clone, Default)]
struct Collector(Arc<Mutex<Vec<String>>>);

/// Visitor that formats fields as text.
struct Fields(String);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let _ = match field.name() {
            "message" => write!(self.0, "{value:?}"),
            name => write!(self.0, " {name}={value:?}"),
        };
    }
}

impl<S: Subscriber + for<'s> LookupSpan<'s>> Layer<S> for Collector {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut fields = Fields(attributes.metadata().name().to_owned());
        attributes.record(&mut fields);
        context.span(id).expect("the span").extensions_mut().insert(fields);
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut line = String::new();
        for span in context.event_scope(event).into_iter().flat_map(Scope::from_root) {
            line += &span.extensions().get::<Fields>().expect("its fields").0;
            line += ": ";
        }
        let mut fields = Fields(line);
        event.record(&mut fields);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(fields.0);
    }
}

/// Replacement for the runner of the host, which logs its commands.
struct LoggingRunner(FakeRunner);

impl Runner for LoggingRunner {
    fn preflight(&self, command: &Command) -> Result<Option<Enforced>, StartError> {
        self.0.preflight(command)
    }

    fn run<'a>(
        &'a self,
        command: &'a Command,
        cancellation: &'a Cancellation,
        on_line: &'a mut dyn FnMut(Stream, &str),
    ) -> Local<'a, Result<Finished, StartError>> {
        Box::pin(async move {
            debug!(program = %command.program.display(), "command");
            self.0.run(command, cancellation, on_line).await
        })
    }
}

/// Returns the messages of a run.
fn messages(lines: &[&str]) -> Vec<String> {
    let collector = Collector::default();
    let runner = LoggingRunner(FakeRunner::default());
    let subscriber = Registry::default().with(collector.clone());
    tracing::subscriber::with_default(subscriber, || {
        run_with(&catalog(lines), &Options { runner: Some(&runner), ..Options::default() })
    });
    std::mem::take(&mut *collector.0.lock().unwrap_or_else(PoisonError::into_inner))
}

#[test]
fn what_is_done_for_a_resource_is_in_its_span() {
    isolated(|| {
        assert_eq!(
            messages(&["a needs by=ask", "b"]),
            [
                "resource id=fake#a: provider chosen provider=fake",
                "resource id=fake#a: reading the state",
                "resource id=fake#a: command program=/bin/guard",
                "resource id=fake#a: decided to change the state reason=not in state",
                "resource id=fake#a: executing",
                "resource id=fake#a: resource finished outcome=changed",
                "resource id=fake#b: provider chosen provider=fake",
                "resource id=fake#b: reading the state",
                "resource id=fake#b: decided to keep the state reason=in state",
                "resource id=fake#b: resource finished outcome=unchanged",
            ]
        );
    });
}

#[test]
fn what_is_read_ahead_is_named_used_and_invalidated() {
    isolated(|| {
        let messages = messages(&["a provider=four", "b provider=four", "x needs", "c provider=four"]);
        let of_cache: Vec<_> = messages.iter().filter(|message| message.contains("state")).collect();
        assert_eq!(
            of_cache,
            [
                "resource id=fake#a: reading states together with=fake#b, fake#c",
                "resource id=fake#a: decided to keep the state reason=in state",
                "resource id=fake#b: using the prefetched state",
                "resource id=fake#b: decided to keep the state reason=in state",
                "resource id=fake#x: reading the state",
                "resource id=fake#x: decided to change the state reason=not in state",
                "resource id=fake#x: prefetched states invalidated prefetched=1",
                "resource id=fake#c: reading the state",
                "resource id=fake#c: decided to keep the state reason=in state",
            ]
        );
    });
}

/// Module of the state that fakes share.
const FAKE_MODULE: &str = "engine::fake::provider::";

#[test]
fn a_shared_state_is_read_reused_and_invalidated() {
    isolated(|| {
        let messages = messages(&["a by=share", "b by=share", "x needs", "c by=share"]);
        let of_shared = messages.iter().filter(|message| message.contains("shared"));
        let of_shared: Vec<_> = of_shared.map(|message| message.replace(FAKE_MODULE, "")).collect();
        assert_eq!(
            of_shared,
            [
                "resource id=fake#a: reading shared state state=Database",
                "resource id=fake#b: shared state reused state=Database",
                "resource id=fake#x: shared states invalidated",
                "resource id=fake#c: reading shared state state=Database",
            ]
        );
    });
}

#[test]
fn a_batch_names_its_resources() {
    isolated(|| {
        let lines: Vec<String> = (0..24).map(|number| format!("r{number} needs provider=all")).collect();
        let messages = messages(&lines.iter().map(String::as_str).collect::<Vec<_>>());
        let batches: Vec<_> =
            messages.iter().filter(|message| message.contains("executing together")).collect();
        let names: Vec<String> = (1..=20).map(|number| format!("fake#r{number}")).collect();
        let expected =
            format!("resource id=fake#r0: executing together with={} and 3 more", names.join(", "));
        assert_eq!(batches, [&expected]);
    });
}
