//! Analysis of commands for a policy.

use ccm_policy::testing::PolicyMachine;
use ccm_policy::{
    Analysis, AnalysisLimits, Caller, EffectKind, LinkDestination, PolicyRequest, PolicyVerdict,
    RequestInput, Workspace, analyse,
};
use ccm_shell::ShellDialect;

pub(crate) const WORDS: &[&str] = &[
    "rm -rf ",
    "/srv",
    "build ",
    "$X",
    "$(",
    ")",
    "'",
    "\"",
    "; ",
    " | ",
    " && ",
    "\n",
    "env ",
    "xargs ",
    "find . -exec ",
    " {} +",
    " \\;",
    "sh -c '",
    "git -c alias.x='!",
    "git -C sub push ",
    "sed -i 's/a/b/e' ",
    "awk '{print > f}' ",
    "tar xf a -C / ",
    "docker run -v /:/x ",
    "systemctl stop ",
    "kill -9 1 ",
    "chmod u+s ",
    "dd of=/dev/sda ",
    "parallel rm {} ::: ",
    "curl -d @/etc/shadow ",
    "python3 -c '",
    "sudo -u root ",
    "LD_PRELOAD=x ",
    "> /etc/passwd ",
    "<<E\n",
    "E\n",
    "cd .. ",
    "--",
    "=",
    "-",
    "file:///%65tc ",
    "/proc/self/root",
    "~root/",
    "./x ",
    "root/",
    "out/",
    "loop",
];

pub(crate) fn run(input: &[u8]) {
    let text = super::text(input);
    let machine = PolicyMachine::debian()
        .with_link("/w/root", "/")
        .with_link("/w/out", "../etc/app")
        .with_link("/w/loop", "loop/x");
    let limits = AnalysisLimits { depth: 16, commands: 500, effects: 2_000 };
    for dialect in [ShellDialect::Sh, ShellDialect::Bash] {
        let mut request = with_environment(PolicyRequest::text(&*text, dialect, "/w"));
        request.workspace = Some(Workspace { path: "/w".to_owned(), is_restricted: false });
        let analysis = analyse(&request, &machine, &limits);
        check(&request.shown_text(), &analysis, &limits);
        assert_eq!(analysis, analyse(&request, &machine, &limits));
        // A restriction never makes a verdict milder.
        let mut restricted = request.clone();
        restricted.workspace = Some(Workspace { path: "/w".to_owned(), is_restricted: true });
        let stricter = analyse(&restricted, &machine, &limits);
        assert!(verdict(&stricter) >= verdict(&analysis), "{text:?}");
        // Without a workspace nothing is inside.
        let without = analyse(&PolicyRequest { workspace: None, ..request }, &machine, &limits);
        assert!(verdict(&without) >= verdict(&analysis), "{text:?}");
    }
    let words: Vec<&str> = text.split(' ').collect();
    let request = with_environment(PolicyRequest::words(words, "/w"));
    check(&request.shown_text(), &analyse(&request, &machine, &limits), &limits);
}

fn with_environment(mut request: PolicyRequest) -> PolicyRequest {
    request.environment = vec![("HOME".to_owned(), "/home/agent".to_owned())];
    request.input = RequestInput::Unknown;
    request
}

fn verdict(analysis: &Analysis) -> PolicyVerdict {
    analysis.default_verdict(Caller::Tool)
}

fn check(text: &str, analysis: &Analysis, limits: &AnalysisLimits) {
    assert!(analysis.commands.len() <= limits.commands);
    let spans = analysis.unreadable.iter().map(|reason| reason.span);
    let findings = analysis.commands.iter().flat_map(|command| &command.findings);
    let spans = spans.chain(findings.map(|finding| finding.span));
    for span in spans.chain(analysis.commands.iter().map(|command| command.span)) {
        assert!(text.get(span.range()).is_some(), "{span:?} is not within the text");
    }
    for (position, command) in analysis.commands.iter().enumerate() {
        assert!(command.parent.is_none_or(|parent| parent < position));
        for effect in &command.effects {
            let is_path = matches!(effect.kind, EffectKind::Write | EffectKind::Read);
            let object = effect.object.as_deref().filter(|_| is_path);
            assert!(object.is_none_or(|path| path.starts_with('/')), "{effect}");
            if let LinkDestination::Path(path) = &effect.link_target {
                let is_resolved = path.split('/').all(|part| !matches!(part, "." | ".."));
                assert!(path.starts_with('/') && is_resolved, "{effect}");
            }
        }
    }
}
