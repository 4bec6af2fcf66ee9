//! Commands and changes that rules match, and the decision of doubts.

use ccm_policy::{
    Caller, Effect, EffectKind, GovernedChange, GuardClass, LinkDestination, NoValues, Policy,
    ProgramLocation,
};

use crate::policy_file::{command, policy, verdict, with_class, with_effect};

/// Returns `true` if a rule with this match denies the command.
fn denies(rule_match: &str, line: &str) -> bool {
    let policy = policy(&format!("rules: [{{match: {{{rule_match}}}, deny: true}}]\n"));
    verdict(&policy, command(line)) == "deny"
}

/// Returns `true` if a rule with this match lifts a class of the command.
fn lifts(rule_match: &str, line: &str) -> bool {
    let policy = policy(&format!("rules: [{{match: {{{rule_match}}}, allow: [publish]}}]\n"));
    verdict(&policy, with_class(command(line), GuardClass::Publish)) == "allow"
}

#[test]
fn arguments_are_compared_word_by_word() {
    let push = "program: git, args: [push, origin, 'feature-*']";
    for (line, expected) in [
        ("git push origin feature-x", true),
        ("git push origin main", false),
        ("git push origin feature-x extra", false),
        ("git push --force origin feature-x", false),
        ("git origin push feature-x", false),
        ("hg push origin feature-x", false),
    ] {
        assert_eq!(denies(push, line), expected, "{line}");
        assert_eq!(lifts(push, line), expected, "{line}");
    }
    // The repository decides which branches are pushed.
    assert!(denies(push, "git push origin") && !lifts(push, "git push origin"));
}

#[test]
fn options_stand_in_any_order() {
    let rule = "program: git, args: [commit, --amend, --no-edit]";
    for (line, expected) in [
        ("git commit --amend --no-edit", true),
        ("git --no-edit commit --amend", true),
        ("git commit --amend", false),
        ("git commit --amend --no-edit --all", false),
        ("git commit -- --amend --no-edit", false),
    ] {
        assert_eq!(lifts(rule, line), expected, "{line}");
    }
    // An abbreviation is enough to deny, and not to allow.
    assert!(denies(rule, "git commit --am --no-ed") && !lifts(rule, "git commit --am --no-ed"));
}

#[test]
fn two_stars_stand_for_any_further_words() {
    let rule = "program: kubectl, args: [delete, '**']";
    for (line, expected) in
        [("kubectl delete", true), ("kubectl delete pod x --now", true), ("kubectl get pod", false)]
    {
        assert_eq!(denies(rule, line), expected, "{line}");
        assert_eq!(lifts(rule, line), expected, "{line}");
    }
}

#[test]
fn an_unknown_word_is_enough_to_deny_and_not_to_allow() {
    let rule = "program: git, args: [push, origin, 'feature-*']";
    assert!(denies(rule, "git push origin $b") && !lifts(rule, "git push origin $b"));
    assert!(denies(rule, "git $all") && !lifts(rule, "git $all"));
    assert!(denies(rule, "$git push origin feature-x") && !lifts(rule, "$git push origin feature-x"));
    assert!(!denies(rule, "git pull $b") && !denies("program: git, args: [push]", "git pull $b"));
    let option = "program: kubectl, option: {--context: 'prod*'}";
    assert!(denies(option, "kubectl get $x"));
    assert!(!lifts("program: kubectl, option: {--context: staging}", "kubectl --context=staging $x"));
}

#[test]
fn options_are_compared_with_their_values() {
    let rule = "program: kubectl, option: {--context: 'prod*'}";
    for (line, expected) in [
        ("kubectl --context=prod-eu get pods", true),
        ("kubectl get pods --context prod-eu", true),
        ("kubectl --context staging get pods", false),
        ("kubectl get pods", false),
        ("kubectl get prod-eu", false),
    ] {
        assert_eq!(denies(rule, line), expected, "{line}");
    }
    assert!(denies(rule, "kubectl --cont=prod-eu get"));
    // The last one decides, so one in production is enough.
    let staging = "program: kubectl, option: {--context: staging}";
    assert!(lifts(staging, "kubectl --context=staging apply"));
    assert!(!lifts(staging, "kubectl --context=staging --context=prod apply"));
    assert!(denies("program: git, option: {--force: null}", "git push --force"));
    assert!(!denies("program: git, option: {--force: null}", "git push"));
}

#[test]
fn a_program_is_allowed_only_at_a_trusted_place() {
    let allow = policy("rules: [{match: {program: git}, allow: [publish]}]\n");
    let deny = policy("rules: [{match: {program: git}, deny: true}]\n");
    let at = |path: &str, is_trusted| {
        let mut git = with_class(command("git push"), GuardClass::Publish);
        let program = git.program.as_mut().expect("a program");
        program.location =
            Some(ProgramLocation { path: path.to_owned(), canonical: path.to_owned(), is_trusted });
        git
    };
    assert_eq!(verdict(&allow, at("/usr/bin/git", true)), "allow");
    assert_eq!(verdict(&allow, at("/tmp/git", false)), "ask");
    assert_eq!(verdict(&deny, at("/tmp/git", false)), "deny");
    let absolute = policy("rules: [{match: {program: /usr/local/bin/git}, allow: [publish]}]\n");
    assert_eq!(verdict(&absolute, at("/usr/local/bin/git", true)), "allow");
    assert_eq!(verdict(&absolute, at("/usr/bin/git", true)), "ask");
    // A link to a program that is denied.
    let mut link = at("/usr/bin/vcs", true);
    if let Some(location) = &mut link.program.as_mut().expect("a program").location {
        location.canonical = "/usr/bin/git".to_owned();
    }
    assert_eq!(verdict(&deny, link), "deny");
}

fn writing(line: &str, object: Option<&str>) -> ccm_policy::AnalysedCommand {
    with_effect(command(line), Effect::new(EffectKind::Write, object.map(str::to_owned)))
}

#[test]
fn effects_are_compared_with_paths() {
    let deny = policy("rules: [{match: {effect: write, path: /etc/**}, deny: true}]\n");
    assert_eq!(verdict(&deny, writing("tee x", Some("/etc/x"))), "deny");
    assert_eq!(verdict(&deny, writing("tee x", Some("/srv/x"))), "allow");
    assert_eq!(verdict(&deny, writing("tee x", None)), "deny");
    let read = with_effect(command("cat x"), Effect::new(EffectKind::Read, Some("/etc/x".to_owned())));
    assert_eq!(verdict(&deny, read), "allow");
    let partial = |object: &str| {
        let effect = Effect { is_partial: true, ..Effect::new(EffectKind::Write, Some(object.to_owned())) };
        with_effect(command("tee x"), effect)
    };
    assert_eq!(verdict(&deny, partial("/etc/")), "deny");
    assert_eq!(verdict(&deny, partial("/srv/")), "allow");
    let recursive = Effect { is_recursive: true, ..Effect::new(EffectKind::Write, Some("/".to_owned())) };
    assert_eq!(verdict(&deny, with_effect(command("chown x"), recursive)), "deny");
}

#[test]
fn what_links_lead_to_is_compared_as_well() {
    let through = |object: &str, link_target: LinkDestination| {
        let effect = Effect { link_target, ..Effect::new(EffectKind::Write, Some(object.to_owned())) };
        with_class(with_effect(command("tee x"), effect), GuardClass::Publish)
    };
    let to = |path: &str| LinkDestination::Path(path.to_owned());
    for (object, link_target, is_denied, is_lifted) in [
        ("/srv/x", LinkDestination::Same, false, true),
        ("/srv/x", to("/srv/y"), false, true),
        ("/srv/x", to("/etc/x"), true, false),
        ("/srv/x", to("/"), false, false),
        ("/etc/x", to("/srv/x"), true, false),
        ("/opt/x", to("/srv/x"), false, false),
        ("/srv/x", LinkDestination::Unknown, true, false),
    ] {
        let subject = || through(object, link_target.clone());
        let what = format!("{object} {link_target:?}");
        for verdict_of_rule in ["deny", "ask"] {
            let text = format!(
                "guard: {{publish: allow}}\nrules: [{{match: {{path: /etc/**}}, {verdict_of_rule}: true}}]\n"
            );
            let expected = if is_denied { verdict_of_rule } else { "allow" };
            assert_eq!(verdict(&policy(&text), subject()), expected, "{what}");
        }
        let lift = policy("rules: [{match: {path: /srv/**}, allow: [publish]}]\n");
        assert_eq!(verdict(&lift, subject()), if is_lifted { "allow" } else { "ask" }, "{what}");
    }
    // Everything below is written.
    let deny = policy("rules: [{match: {path: /etc/**}, deny: true}]\n");
    let recursive = Effect {
        is_recursive: true,
        link_target: to("/"),
        ..Effect::new(EffectKind::Write, Some("/srv/root".to_owned()))
    };
    assert_eq!(verdict(&deny, with_effect(command("chown x"), recursive)), "deny");
    let partial = Effect {
        is_partial: true,
        link_target: to("/etc"),
        ..Effect::new(EffectKind::Write, Some("/srv/link".to_owned()))
    };
    assert_eq!(verdict(&deny, with_effect(command("tee x"), partial)), "deny");
}

#[test]
fn one_effect_that_a_rule_does_not_name_keeps_the_class() {
    let allow = policy("rules: [{match: {effect: write, path: /srv/**}, allow: [publish]}]\n");
    let tee = || with_class(writing("tee x", Some("/srv/a")), GuardClass::Publish);
    assert_eq!(verdict(&allow, tee()), "allow");
    let other = Effect::new(EffectKind::Write, Some("/opt/b".to_owned()));
    assert_eq!(verdict(&allow, with_effect(tee(), other)), "ask");
    let recursive = |object: &str| Effect {
        is_recursive: true,
        ..Effect::new(EffectKind::Write, Some(object.to_owned()))
    };
    assert_eq!(verdict(&allow, with_effect(tee(), recursive("/srv/b"))), "allow");
    assert_eq!(verdict(&allow, with_effect(tee(), recursive("/"))), "ask");
}

fn change(policy: &Policy, type_name: &str, name: &str, effects: Vec<Effect>) -> &'static str {
    let change = GovernedChange {
        type_name: type_name.to_owned(),
        name: name.to_owned(),
        other_names: Vec::new(),
        effects,
    };
    policy.decide_change(&change, Caller::Apply, &NoValues).verdict.name()
}

#[test]
fn services_are_compared_by_name() {
    let ask = policy("rules: [{match: {effect: service, resource: 'service#{nginx,app}'}, ask: true}]\n");
    let restart = |unit: &str| {
        let effect = Effect::new(EffectKind::Service, Some(unit.to_owned())).with_action("restart");
        with_effect(command("systemctl restart x"), effect)
    };
    for (unit, expected) in [("nginx", "ask"), ("nginx.service", "ask"), ("sshd", "allow")] {
        assert_eq!(verdict(&ask, restart(unit)), expected, "{unit}");
    }
    let effect = || vec![Effect::new(EffectKind::Service, Some("nginx.service".to_owned()))];
    assert_eq!(change(&ask, "service", "nginx", effect()), "ask");
    assert_eq!(change(&ask, "service", "sshd", effect()), "allow");
    assert_eq!(change(&ask, "file", "nginx", effect()), "allow");
}

#[test]
fn changes_of_resources_are_judged_by_effects_alone() {
    let policy = policy(
        "guard: {package: deny}\nrules:\n  - {match: {program: apt-get}, deny: true}\n  - {match: {effect: write, path: /etc/**}, deny: true}\n  - {match: {resource: 'package#*'}, ask: true}\n",
    );
    let write = |path: &str| vec![Effect::new(EffectKind::Write, Some(path.to_owned()))];
    assert_eq!(change(&policy, "file", "/etc/motd", write("/etc/motd")), "deny");
    assert_eq!(change(&policy, "file", "/srv/x", write("/srv/x")), "allow");
    let package = vec![Effect::new(EffectKind::Package, Some("nginx".to_owned()))];
    assert_eq!(change(&policy, "package", "nginx", package), "ask");
}

#[test]
fn conditions_narrow_a_rule() {
    struct User(&'static str);
    impl ccm_policy::ConditionValues for User {
        fn user(&self) -> Option<String> {
            Some(self.0.to_owned())
        }
        fn facts(&self) -> Option<ccm_expr::Value> {
            Some(ccm_expr::Value::map([("role", ccm_expr::Value::text("web"))]))
        }
        fn now(&self) -> ccm_expr::Timestamp {
            ccm_expr::Timestamp::UNIX_EPOCH
        }
    }
    let decide = |rules: &str, user| {
        let policy = policy(&format!("rules: [{rules}]\n"));
        let commands =
            crate::policy_file::analysis(vec![with_class(command("git push"), GuardClass::Publish)]);
        policy.decide(&commands, Caller::Tool, &User(user)).verdict.name()
    };
    let not_deploy = "{when: caller.user != 'deploy', deny: true}";
    assert_eq!((decide(not_deploy, "agent"), decide(not_deploy, "deploy")), ("deny", "ask"));
    let program = "{when: \"command.program == 'git' and command.args[0] == 'push'\", allow: [publish]}";
    assert_eq!(decide(program, "agent"), "allow");
    assert_eq!(decide("{when: Facts.role == 'web', allow: [publish]}", "agent"), "allow");
    // An error counts as true where it is stricter.
    assert_eq!(decide("{when: Facts.rule == 'web', allow: [publish]}", "agent"), "ask");
    assert_eq!(decide("{when: Facts.rule == 'web', deny: true}", "agent"), "deny");
    assert_eq!(decide("{when: caller.user, deny: true}", "agent"), "deny");
}
