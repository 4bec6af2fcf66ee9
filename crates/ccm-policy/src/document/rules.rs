//! Rules of a policy file.

use ccm_model::{
    Diagnostic, DiagnosticKind, Glob, GlobKind, Node, NodeKey, NodeMap, NodeValue, Scalar, ScalarKind,
    ScalarStyle, Span, closest, escape_control,
};

use super::fields::{FieldReader, Located};
use super::{keys, written};
use crate::condition::RuleCondition;
use crate::effect::EffectKind;
use crate::guard_class::GuardClass;
use crate::rule::{
    ApprovalConditions, ApproverSet, ArgumentPattern, Denial, Grant, OptionPattern, PolicyRule, RuleAction,
    RuleExamples, RuleMatch,
};

/// Conditions of an approval that may be easier than those of another file.
const EASING: [&str; 4] = ["grant", "via", "pending", "valid"];
const MAX_GRANT: std::time::Duration = std::time::Duration::from_secs(8 * 3600);

impl FieldReader<'_> {
    pub(super) fn rules(&mut self, node: &Node) -> Vec<PolicyRule> {
        let nodes = self.list(node, "a list of rules");
        nodes.iter().filter_map(|node| self.rule(node)).collect()
    }

    fn rule(&mut self, node: &Node) -> Option<PolicyRule> {
        if node.is_null() {
            self.push(Diagnostic::error(DiagnosticKind::Missing, node.span, "this rule is empty"));
            return None;
        }
        let errors = self.found.len();
        let map = self.map(node, "a rule", keys::RULE)?;
        let has_errors = self.found.len() > errors;
        let name =
            Self::given(map, "name").and_then(|entry| self.text_of(&entry.value, "the name of the rule"));
        let is_given = |key: &str| Self::given(map, key).is_some();
        if !is_given("match") && !is_given("when") && !has_errors {
            let start = map.entries().first().map_or(node.span, |entry| entry.key.span);
            let message = "this rule matches every command and every change";
            let warning = Diagnostic::warning(DiagnosticKind::NoEffect, start, message);
            self.push(warning.with_hint("add `match`, such as `match: {program: git}`"));
        }
        let condition = Self::given(map, "match").and_then(|entry| self.rule_match(&entry.value));
        let when = Self::given(map, "when").and_then(|entry| self.condition(&entry.value));
        let action = self.action(map, node.span);
        let say = Self::given(map, "say").and_then(|entry| self.text_of(&entry.value, "advice"));
        let sandbox =
            Self::given(map, "sandbox").and_then(|entry| self.text_of(&entry.value, "the name of a profile"));
        if let Some(sandbox) = &sandbox
            && self.is_stricter_only()
        {
            self.refuse_lifting(sandbox.span, "`sandbox`");
        }
        let examples = Self::given(map, "examples").and_then(|entry| self.examples(&entry.value));
        let action = action?;
        let is_granted = action.ask.as_ref().is_some_and(|conditions| conditions.grant.is_some());
        // A short span: the first key of the rule.
        let first = map.entries().first().map_or(node.span, |entry| entry.key.span);
        Some(PolicyRule {
            span: name.as_ref().map_or(first, |name| name.span),
            name: name.map(|name| name.value),
            condition: condition.unwrap_or_default(),
            when,
            written: if is_granted { written::lines(map) } else { Vec::new() },
            action,
            say: say.map(|say| say.value),
            sandbox,
            examples: examples.unwrap_or_default(),
        })
    }

    fn action(&mut self, map: &NodeMap, span: Span) -> Option<RuleAction> {
        let mut action = RuleAction::default();
        let errors = self.found.len();
        let allow = Self::given(map, "allow");
        if let Some(entry) = allow {
            if self.is_stricter_only() {
                self.refuse_lifting(entry.key.span, "`allow`");
            }
            action.allow = self.lifted_classes(&entry.key, &entry.value);
        }
        if let Some(entry) = Self::given(map, "ask") {
            action.ask = self.conditions(&entry.value);
        }
        let deny = Self::given(map, "deny");
        if let Some(entry) = deny {
            action.deny = match entry.value.as_scalar().map(Scalar::kind) {
                Some(ScalarKind::Bool(true)) => Some(Denial::Liftable),
                Some(ScalarKind::Text) if entry.value.as_text() == Some("final") => Some(Denial::Final),
                _ => {
                    let found = &entry.value;
                    let message = format!("expected `true` or `final`, found {}", found.describe());
                    let error = Diagnostic::error(DiagnosticKind::WrongType, found.span, message);
                    self.push(match found.as_scalar().map(Scalar::kind) {
                        Some(ScalarKind::Bool(_)) => {
                            error.with_hint("remove the rule: what no rule denies is left to the guard")
                        }
                        _ => error.with_hint("write `deny: true`"),
                    });
                    None
                }
            };
        }
        if let (Some(deny), Some(other)) = (deny, allow.or_else(|| Self::given(map, "ask"))) {
            let message = format!("a rule that denies can't have `{}` as well", other.key.text);
            let error = Diagnostic::error(DiagnosticKind::Conflict, other.key.span, message);
            self.push(error.with_label(deny.key.span, "denied here").with_hint("write two rules"));
        }
        let is_given = allow.is_some() || deny.is_some() || Self::given(map, "ask").is_some();
        if !is_given && Self::given(map, "sandbox").is_none() {
            let start = map.entries().first().map_or(span, |entry| entry.key.span);
            let error = Diagnostic::error(DiagnosticKind::Missing, start, "this rule has no verdict");
            self.push(error.with_hint("add `allow: [CLASS]`, `ask: true` or `deny: true`"));
        }
        (self.found.len() == errors).then_some(action)
    }

    fn lifted_classes(&mut self, key: &NodeKey, node: &Node) -> Vec<GuardClass> {
        if matches!(node.as_scalar().map(Scalar::kind), Some(ScalarKind::Bool(_))) {
            let message = "`allow` needs the guard classes that the rule lifts";
            let error = Diagnostic::error(DiagnosticKind::WrongType, node.span, message);
            self.push(
                error.with_hint("write the classes as `ccm policy explain` shows them: `allow: [publish]`"),
            );
            return Vec::new();
        }
        let names = self.texts(node, "a list of guard classes");
        if names.is_empty() && node.as_list().is_some() {
            let message = "`allow` names no guard class";
            self.push(Diagnostic::error(DiagnosticKind::Missing, key.span, message));
        }
        let mut classes = Vec::new();
        for name in names {
            let Some(class) = self.guard_class(&name.value, name.span) else { continue };
            if class.is_unreadable() || class == GuardClass::OutsideWorkspace {
                let message = format!("no rule can lift `{class}`");
                let error = Diagnostic::error(DiagnosticKind::InvalidValue, name.span, message);
                self.push(match class {
                    GuardClass::OutsideWorkspace => {
                        error.with_hint("set `restrict: false` below `workspace`")
                    }
                    _ => error.with_hint("write the command so that it can be read"),
                });
                continue;
            }
            classes.push(class);
        }
        classes
    }

    fn conditions(&mut self, node: &Node) -> Option<ApprovalConditions> {
        match node.as_scalar().map(Scalar::kind) {
            Some(ScalarKind::Bool(true)) => return Some(ApprovalConditions::default()),
            Some(kind) => {
                let message =
                    format!("expected `true` or the conditions of an approval, found {}", node.describe());
                let error = Diagnostic::error(DiagnosticKind::WrongType, node.span, message);
                let group = node.as_text().filter(|text| kind == ScalarKind::Text && !text.contains(' '));
                self.push(match group {
                    Some(group) if !matches!(group, "yes" | "true" | "always" | "final") => {
                        error.with_hint(format!("write `ask: {{approvers: {}}}`", escape_control(group)))
                    }
                    _ => error.with_hint("write `ask: true`, or name the approvers: `ask: {approvers: ops}`"),
                });
                return None;
            }
            None => {}
        }
        let map = self.map(node, "the conditions of an approval", keys::ASK)?;
        if self.is_stricter_only() {
            // What a rule asks for takes the place of what the guard asks for.
            for entry in EASING.iter().filter_map(|key| Self::given(map, key)) {
                self.refuse_lifting(entry.key.span, &format!("`{}`", entry.key.text));
            }
        }
        let approvers = match Self::given(map, "approvers") {
            None => ApproverSet::All,
            Some(entry) if entry.value.as_list().is_some() => {
                let names = self.texts(&entry.value, "a list of approvers");
                ApproverSet::Listed(names.into_iter().map(|name| name.value).collect())
            }
            Some(entry) => ApproverSet::Group(self.text_of(&entry.value, "a group of approvers")?.value),
        };
        let count = Self::given(map, "count").and_then(|entry| self.integer(&entry.value, 1, 100));
        let grant = Self::given(map, "grant").and_then(|entry| self.grant(&entry.value));
        Some(ApprovalConditions {
            approvers,
            count: count.and_then(|count| u32::try_from(count).ok()),
            touch: self.switch(map, "touch"),
            user_verified: self.switch(map, "user_verified"),
            times: self.approval_times(map),
            via: Self::given(map, "via").map(|entry| self.channels(&entry.value)),
            grant,
        })
    }

    fn switch(&mut self, map: &NodeMap, key: &str) -> bool {
        Self::given(map, key).and_then(|entry| self.boolean(&entry.value)).unwrap_or(false)
    }

    fn grant(&mut self, node: &Node) -> Option<Grant> {
        let map = self.map(node, "a grant", keys::GRANT)?;
        let uses = Self::given(map, "uses").and_then(|entry| self.integer(&entry.value, 1, 1000));
        let time = Self::given(map, "for");
        let duration = time.and_then(|entry| self.duration(&entry.value));
        if let (Some(time), Some(duration)) = (time, duration)
            && duration > MAX_GRANT
        {
            self.invalid(time.value.span, "a grant lasts at most 8h", "write a shorter time");
        }
        if let (Some(uses), Some(time)) = (uses, duration) {
            Some(Grant { uses: u32::try_from(uses).ok()?, time })
        } else {
            if Self::given(map, "uses").is_none() || time.is_none() {
                let message = "a grant needs `uses` and `for`";
                self.push(Diagnostic::error(DiagnosticKind::Missing, node.span, message));
            }
            None
        }
    }

    fn condition(&mut self, node: &Node) -> Option<RuleCondition> {
        let text = self.text_of(node, "an expression")?;
        match RuleCondition::parse(&text.value) {
            Ok(condition) => Some(condition),
            Err(error) => {
                let span = node.locate(self.text, error.range.start, error.range.end);
                let diagnostic = Diagnostic::error(error.kind, span, error.message);
                self.push(error.hints.into_iter().fold(diagnostic, Diagnostic::with_hint));
                None
            }
        }
    }

    fn glob(&mut self, text: &Located<String>, kind: GlobKind) -> Option<Glob> {
        let (reason, hint) = match Glob::parse(&text.value, kind) {
            Ok(glob) if kind == GlobKind::Text || glob.begins_at_root() => return Some(glob),
            Ok(_) => (
                "a path begins with `/` or `**`".to_owned(),
                "write the path from `/` on; `~` and variables are not expanded".to_owned(),
            ),
            Err(error) => (error.to_string(), error.hint()),
        };
        self.invalid(text.span, format!("`{}` is not a glob: {reason}", escape_control(&text.value)), &hint);
        None
    }

    fn rule_match(&mut self, node: &Node) -> Option<RuleMatch> {
        let map = self.map(node, "what the rule matches", keys::MATCH)?;
        let mut found = RuleMatch::default();
        if let Some(entry) = Self::given(map, "program") {
            for text in self.one_or_many(&entry.value, "a program, or a list of programs") {
                if text.value.contains('/') && !text.value.starts_with(['/', '*']) {
                    let message = format!("`{}` is a relative path", escape_control(&text.value));
                    self.invalid(
                        text.span,
                        message,
                        "write the name of the program, or its path from `/` on",
                    );
                    continue;
                }
                if let Some((program, arguments)) = text.value.split_once(char::is_whitespace)
                    && !text.value.contains('/')
                {
                    let message = format!("`{}` is not the name of a program", escape_control(&text.value));
                    let (program, arguments) = (escape_control(program), escape_control(arguments.trim()));
                    let arguments = arguments.split_whitespace().collect::<Vec<_>>().join(", ");
                    let hint = format!("write `{{program: {program}, args: [{arguments}, \"**\"]}}`");
                    self.invalid(text.span, message, &hint);
                    continue;
                }
                let kind = if text.value.contains('/') { GlobKind::Path } else { GlobKind::Text };
                found.programs.extend(self.glob(&text, kind));
            }
        }
        if let Some(entry) = Self::given(map, "args") {
            found.arguments = Some(self.arguments(&entry.value));
        }
        if let Some(entry) = Self::given(map, "option") {
            found.options = self.options(&entry.value);
        }
        if let Some(entry) = Self::given(map, "effect") {
            for name in self.one_or_many(&entry.value, "an effect, or a list of effects") {
                found.effects.extend(self.effect(&name));
            }
        }
        if let Some(entry) = Self::given(map, "path")
            && let Some(text) = self.text_of(&entry.value, "the glob of a path")
        {
            found.path = self.glob(&text, GlobKind::Path);
        }
        if let Some(entry) = Self::given(map, "resource")
            && let Some(text) = self.text_of(&entry.value, "the glob of a resource")
        {
            if text.value.contains('#') {
                found.resource = self.glob(&text, GlobKind::Text);
            } else {
                let message = format!("`{}` is not a resource", escape_control(&text.value));
                self.invalid(text.span, message, "write type and name: `service#nginx`");
            }
        }
        if found.arguments.is_some() && found.programs.is_empty() && Self::given(map, "program").is_none() {
            let entry = Self::given(map, "args").map_or(node.span, |entry| entry.key.span);
            let error = Diagnostic::error(DiagnosticKind::Missing, entry, "`args` needs `program`");
            self.push(error.with_hint("name the program whose arguments these are"));
        }
        Some(found)
    }

    fn arguments(&mut self, node: &Node) -> Vec<ArgumentPattern> {
        let mut patterns = Vec::new();
        for node in self.list(node, "a list of arguments") {
            // An empty argument is an argument.
            let Some(text) = node.as_text() else {
                self.expected("text in a list of arguments", node);
                continue;
            };
            if text == "**" {
                patterns.push(ArgumentPattern::Rest);
                continue;
            }
            let is_plain = node.as_scalar().is_some_and(|scalar| scalar.style == ScalarStyle::Plain);
            if text == "..." && is_plain {
                let message = "`...` does not stand for further arguments";
                let hint = "write `\"**\"` for any number of arguments, or `\"...\"` for the argument itself";
                self.invalid(node.span, message, hint);
                continue;
            }
            if let Some((first, _)) = text.split_once(' ').filter(|(first, _)| !first.is_empty())
                && !text.contains('*')
            {
                let message = format!("this is one argument with a blank in it: `{}`", escape_control(text));
                let warning = Diagnostic::warning(DiagnosticKind::NoEffect, node.span, message);
                let words = text.split_whitespace().map(escape_control).collect::<Vec<_>>().join(", ");
                self.push(warning.with_hint(format!(
                    "if `{}` is an argument of its own, write `{words}`",
                    escape_control(first)
                )));
            }
            let text = Located { value: text.to_owned(), span: node.span };
            patterns.extend(self.glob(&text, GlobKind::Text).map(ArgumentPattern::Word));
        }
        patterns
    }

    fn options(&mut self, node: &Node) -> Vec<OptionPattern> {
        let NodeValue::Map(map) = &node.value else {
            let message = format!("expected options with globs of their values, found {}", node.describe());
            let error = Diagnostic::error(DiagnosticKind::WrongType, node.span, message);
            let first = node.as_list().map_or(Some(node), <[Node]>::first).and_then(Node::as_text);
            let option = first.filter(|option| option.starts_with('-') && !option.contains(['=', ' ']));
            let option = escape_control(option.unwrap_or("--context")).into_owned();
            self.push(error.with_hint(format!(
                "write `option: {{{option}: null}}`, or a glob of its value in place of `null`"
            )));
            return Vec::new();
        };
        let mut options = Vec::new();
        for entry in map.entries() {
            let name = &*entry.key.text;
            if !name.starts_with('-') || name.len() < 2 || name.contains('=') {
                let message = format!("`{}` is not an option", escape_control(name));
                self.invalid(entry.key.span, message, "write the option with its dashes: `--context`");
                continue;
            }
            let value = if entry.value.is_null() {
                None
            } else {
                let Some(text) = self.text_of(&entry.value, "the glob of a value") else { continue };
                let Some(glob) = self.glob(&text, GlobKind::Text) else { continue };
                Some(glob)
            };
            options.push(OptionPattern { name: name.to_owned(), value });
        }
        options
    }

    fn effect(&mut self, name: &Located<String>) -> Option<EffectKind> {
        let kind = EffectKind::parse(&name.value);
        if kind.is_none() {
            let names = EffectKind::ALL.map(EffectKind::name);
            let message = format!("unknown effect `{}`", escape_control(&name.value));
            let error = Diagnostic::error(DiagnosticKind::InvalidValue, name.span, message);
            self.push(match closest(&name.value, names) {
                Some(nearest) => error.with_suggestion(Some(nearest)),
                None => error.with_hint(format!("the effects are {}", ccm_model::listed(&names, "and"))),
            });
        }
        kind
    }

    fn examples(&mut self, node: &Node) -> Option<RuleExamples> {
        let map = self.map(node, "examples", keys::EXAMPLES)?;
        let mut commands = |key: &str| {
            let entry = Self::given(map, key);
            entry.map(|entry| self.texts(&entry.value, "a list of commands")).unwrap_or_default()
        };
        Some(RuleExamples { yes: commands("yes"), no: commands("no") })
    }
}
