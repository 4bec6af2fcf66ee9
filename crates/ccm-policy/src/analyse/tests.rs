//! Examples of the tables.

use ccm_shell::ShellDialect;

use super::handlers::HANDLERS;
use super::*;
use crate::request::Workspace;
use crate::tables;
use crate::testing::PolicyMachine;
use crate::verdict::Caller;

fn analysed(command: &str) -> Analysis {
    let mut request = PolicyRequest::text(command, ShellDialect::Sh, "/w");
    request.environment =
        vec![("HOME".to_owned(), "/home/agent".to_owned()), ("PATH".to_owned(), "/usr/bin:/bin".to_owned())];
    request.workspace = Some(Workspace { path: "/w".to_owned(), is_restricted: false });
    analyse(&request, &PolicyMachine::debian(), &AnalysisLimits::default())
}

#[test]
fn examples_have_the_verdict_of_the_tables() {
    let mut errors = Vec::new();
    let examples = tables::examples();
    assert!(examples.len() > 400, "{} examples", examples.len());
    for (name, verdict, command) in examples {
        let expected = PolicyVerdict::parse(&verdict).unwrap_or_else(|| panic!("{name}: verdict {verdict}"));
        let analysis = analysed(&command);
        let found = analysis.default_verdict(Caller::Tool);
        if found != expected {
            let findings: Vec<String> = analysis
                .commands
                .iter()
                .flat_map(|command| &command.findings)
                .map(|finding| format!("{}: {}", finding.class, finding.what))
                .chain(analysis.unreadable.iter().map(|reason| reason.message.clone()))
                .collect();
            errors.push(format!("{command}: {} instead of {verdict}: {findings:?}", found.name()));
        }
    }
    assert!(errors.is_empty(), "{} examples:\n{}", errors.len(), errors.join("\n"));
}

#[test]
fn handlers_exist() {
    for name in tables::handlers() {
        assert!(HANDLERS.contains(&&*name), "{name}");
    }
}
