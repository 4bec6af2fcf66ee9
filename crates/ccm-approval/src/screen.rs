//! Everything that a person has to see before approving, as data for any display.

use ccm_model::{quote_words, steers_terminal};

use crate::intent::{ApprovalDemand, IntendedCommand, IntentContent, IntentDocument};

/// Maximum number of lines. Nobody reads more.
const MAX_LINES: usize = 500;
/// Maximum number of blanks in a row, which could move the rest of a line out of sight.
const MAX_BLANKS: usize = 80;

/// Content of the screen on which a person approves. Every text is one line without hidden characters, and whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalScreen {
    /// Code of the intent.
    pub code: String,
    /// Id of the intent.
    pub id: String,
    /// Id of the machine.
    pub machine: String,
    /// Time at which the intent ends without an approval.
    pub expires: String,
    /// User who asks.
    pub caller: String,
    /// User who logged in before.
    pub login: Option<String>,
    /// Kind of the caller, such as `mcp`.
    pub kind: String,
    /// Program of the caller, as it introduced itself.
    pub client: Option<String>,
    /// Tool.
    pub tool: String,
    /// Resource.
    pub resource: Option<String>,
    /// User that the action runs as.
    pub user: String,
    /// Working directory.
    pub cwd: String,
    /// Profile of the sandbox; `None` is no sandbox, which has to be shown loudly.
    pub sandbox: Option<String>,
    /// Simple commands and changes, one a line.
    pub commands: Vec<ScreenCommand>,
    /// The action itself: the command as words, the lines of the text for a shell, or the change.
    pub exact: Vec<String>,
    /// Parts that could not be analysed.
    pub unknown: Vec<String>,
    /// Programs, each with its digest.
    pub programs: Vec<(String, String)>,
    /// Names of variables of the environment. Their values are not known here.
    pub variables: Vec<String>,
    /// The action reads a text from standard input, which is not known here.
    pub has_stdin: bool,
    /// Digest of the new content of a change, which is not known here.
    pub content_sha256: Option<String>,
    /// Time limit in milliseconds.
    pub timeout_ms: Option<u64>,
    /// Verdict of the policy.
    pub decision: String,
    /// Rules and guard classes that ask.
    pub rules: Vec<String>,
    /// Demands on the approval.
    pub requires: ApprovalDemand,
    /// Reason of the caller, which nobody has checked. It belongs below everything else.
    pub reason: Vec<String>,
}

/// Line of the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScreenCommand {
    /// Number, from 1.
    pub number: usize,
    /// Text of the command.
    pub text: String,
    /// Effects.
    pub effects: Vec<String>,
    /// Verdict.
    pub verdict: String,
    /// Rule or guard class that decided.
    pub rule: Option<String>,
    /// Place of the rule.
    pub rule_at: Option<String>,
    /// A part of the command is not known.
    pub is_unknown: bool,
}

/// Reason for which an intent can't be shown whole, so that nobody can approve it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScreenError {
    /// Too many lines.
    #[error("the intent has {found} lines, which is more than {limit}: it can't be shown whole")]
    TooManyLines {
        /// Number of lines.
        found: usize,
        /// Maximum number.
        limit: usize,
    },
    /// Many blanks in a row.
    #[error("a text of the intent has more than {limit} blanks in a row, which hide what follows")]
    Blanks {
        /// Maximum number of blanks.
        limit: usize,
    },
    /// The intent names no command and no change.
    #[error("the intent shows no command")]
    NoCommand,
}

impl ApprovalScreen {
    /// Returns the screen of an intent.
    pub fn of(intent: &IntentDocument) -> Result<Self, ScreenError> {
        let content = &intent.content;
        let IntentContent { caller, action, .. } = content;
        if content.commands.is_empty() {
            return Err(ScreenError::NoCommand);
        }
        let commands = content.commands.iter().enumerate();
        let screen = Self {
            code: intent.code.clone(),
            id: intent.id.clone(),
            machine: shown(&intent.machine)?,
            expires: intent.expires.clone(),
            caller: shown(&caller.user)?,
            login: option(caller.login.as_ref())?,
            kind: shown(&caller.kind)?,
            client: option(caller.client.as_ref())?,
            tool: shown(&content.tool)?,
            resource: option(content.resource.as_ref())?,
            user: shown(&action.user)?,
            cwd: shown(&action.cwd)?,
            sandbox: option(content.sandbox.profile.as_ref())?,
            commands: commands
                .map(|(index, command)| line(index + 1, command, &content.unknown))
                .collect::<Result<_, _>>()?,
            exact: exact(content)?,
            unknown: all(&content.unknown)?,
            programs: (content.programs.iter())
                .map(|program| Ok((shown(&program.path)?, shown(&program.sha256)?)))
                .collect::<Result<_, _>>()?,
            variables: all(action.env.keys())?,
            has_stdin: action.stdin_sha256.is_some(),
            content_sha256: option(action.content_sha256.as_ref())?,
            timeout_ms: action.timeout_ms,
            decision: shown(&content.decision)?,
            rules: all(&content.rules)?,
            requires: demand(&content.requires)?,
            reason: all(content.reason.iter().flat_map(|reason| reason.lines()))?,
        };
        let found = screen.commands.len()
            + screen.commands.iter().map(|command| command.effects.len()).sum::<usize>()
            + screen.exact.len()
            + screen.unknown.len()
            + screen.programs.len()
            + screen.variables.len()
            + screen.rules.len()
            + screen.reason.len();
        if found > MAX_LINES {
            return Err(ScreenError::TooManyLines { found, limit: MAX_LINES });
        }
        Ok(screen)
    }
}

fn line(number: usize, command: &IntendedCommand, unknown: &[String]) -> Result<ScreenCommand, ScreenError> {
    Ok(ScreenCommand {
        number,
        text: shown(&command.text)?,
        effects: all(&command.effects)?,
        verdict: shown(&command.verdict)?,
        rule: option(command.rule.as_ref())?,
        rule_at: option(command.rule_at.as_ref())?,
        is_unknown: unknown.iter().any(|part| !part.is_empty() && command.text.contains(part.as_str())),
    })
}

fn demand(requires: &ApprovalDemand) -> Result<ApprovalDemand, ScreenError> {
    let approvers = requires.approvers.as_ref().map(all).transpose()?;
    Ok(ApprovalDemand { group: option(requires.group.as_ref())?, approvers, ..requires.clone() })
}

fn exact(content: &IntentContent) -> Result<Vec<String>, ScreenError> {
    let action = &content.action;
    match (&action.shell, &action.change) {
        (Some(text), _) => {
            let before = &action.argv[..action.argv.len().saturating_sub(1)];
            let mut lines = vec![shown(&words(before))?];
            // Not `lines`, which would hide a carriage return.
            lines.extend(all(text.split('\n'))?);
            Ok(lines)
        }
        (None, Some(change)) => Ok(vec![shown(change)?]),
        (None, None) => Ok(vec![shown(&words(&action.argv))?]),
    }
}

fn words(argv: &[String]) -> String {
    quote_words(argv.iter().map(String::as_str))
}

fn all<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Result<Vec<String>, ScreenError> {
    texts.into_iter().map(|text| shown(text.as_ref())).collect()
}

fn option(text: Option<&String>) -> Result<Option<String>, ScreenError> {
    text.map(|text| shown(text)).transpose()
}

/// Returns a text with every character visible that is not.
fn shown(text: &str) -> Result<String, ScreenError> {
    let mut shown = String::with_capacity(text.len());
    let mut blanks = 0;
    for character in text.chars() {
        blanks = if character == ' ' { blanks + 1 } else { 0 };
        if blanks > MAX_BLANKS {
            return Err(ScreenError::Blanks { limit: MAX_BLANKS });
        }
        if steers_terminal(character) || is_hidden(character) {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    Ok(shown)
}

/// Returns `true` for a character without a picture of its own, or with that of a blank.
fn is_hidden(character: char) -> bool {
    (character.is_whitespace() && character != ' ')
        || matches!(
            character,
            '\u{ad}'
                | '\u{34f}'
                | '\u{115f}'..='\u{1160}'
                | '\u{17b4}'..='\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2060}'..='\u{206f}'
                | '\u{2800}'
                | '\u{3164}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffb}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}
