//! Everything that a person has to see before approving, as data for any display.

use ccm_model::{quote_words, steers_terminal};

use crate::intent::{GrantLimits, IntendedCommand, IntendedSandbox, IntentContent, IntentDocument};

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
    /// Name of the machine.
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
    /// Manifest of the resource.
    pub manifest: Option<String>,
    /// Purpose of the action in its resource, such as `guard`.
    pub purpose: Option<String>,
    /// User that the action runs as; `None` is the user of ccm.
    pub user: Option<String>,
    /// Working directory.
    pub cwd: String,
    /// The action runs without a sandbox, which has to be shown loudly.
    pub is_unconfined: bool,
    /// Profile of the sandbox, if it has a name.
    pub sandbox: Option<String>,
    /// Image of the container.
    pub image: Option<String>,
    /// Simple commands and changes, one a line.
    pub commands: Vec<ScreenCommand>,
    /// The action itself: the command as words, the lines of the text for a shell, or the change.
    pub exact: Vec<String>,
    /// Parts that could not be analysed.
    pub unknown: Vec<String>,
    /// Programs, each with its digest.
    pub programs: Vec<(String, String)>,
    /// Variables of the environment, as `NAME=VALUE` if the value may be shown.
    pub variables: Vec<String>,
    /// The action is a change without a command.
    pub is_change: bool,
    /// Lines of standard input, as far as they may be shown.
    pub stdin: Vec<String>,
    /// Digest of a standard input that may not be shown.
    pub hidden_stdin: Option<String>,
    /// Time limit in milliseconds.
    pub timeout_ms: Option<u64>,
    /// Further properties of the resource of the command, as `NAME: VALUE`.
    pub properties: Vec<String>,
    /// Verdict of the policy.
    pub decision: String,
    /// Rules and guard classes that ask.
    pub rules: Vec<String>,
    /// Demands on the approval, in words.
    pub requires: Vec<String>,
    /// Limits of a grant.
    pub grant: Option<GrantLimits>,
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
    /// Rules and guard classes that ask, with their places.
    pub reasons: Vec<String>,
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
    /// The rule of a grant is too long.
    #[error(
        "the rule of the grant has {found} characters, which is more than {limit}: it can't be shown whole"
    )]
    TooLongRule {
        /// Number of characters.
        found: usize,
        /// Maximum number.
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
        if content.commands.is_empty() && content.action.change.is_empty() {
            return Err(ScreenError::NoCommand);
        }
        let commands = content.commands.iter().enumerate();
        let screen = Self {
            code: intent.code.clone(),
            id: intent.id.clone(),
            machine: shown(&intent.host)?,
            expires: intent.expires.clone(),
            caller: shown(&caller.user)?,
            login: option(caller.login.as_ref())?,
            kind: shown(&caller.kind)?,
            client: option(caller.client.as_ref())?,
            tool: shown(&content.tool)?,
            resource: option(content.resource.as_ref())?,
            manifest: option(content.manifest.as_ref())?,
            purpose: option(content.purpose.as_ref())?,
            user: option(action.user.as_ref())?,
            cwd: shown(&action.cwd)?,
            is_unconfined: content.sandbox == IntendedSandbox { profile: None, digest: None },
            sandbox: option(content.sandbox.profile.as_ref())?,
            image: option(action.image.as_ref())?,
            commands: commands
                .map(|(index, command)| line(index + 1, command, &content.unknown))
                .collect::<Result<_, _>>()?,
            exact: exact(content)?,
            unknown: all(&content.unknown)?,
            programs: (content.programs.iter())
                .map(|program| Ok((shown(&program.path)?, shown(&program.sha256)?)))
                .collect::<Result<_, _>>()?,
            variables: all(action.env.keys().map(|name| match action.env_values.get(name) {
                Some(value) => format!("{name}={}", quote_words([&**value])),
                None => name.clone(),
            }))?,
            is_change: !action.change.is_empty(),
            // Not `lines`, which would hide a carriage return.
            stdin: all(action.stdin.iter().flat_map(|text| text.trim_end_matches('\n').split('\n')))?,
            hidden_stdin: option(action.stdin_sha256.as_ref().filter(|_| action.stdin.is_none()))?,
            timeout_ms: action.timeout_ms,
            properties: all(action.properties.iter().map(|(name, value)| format!("{name}: {value}")))?,
            decision: shown(&content.decision)?,
            rules: all(&content.rules)?,
            requires: all(content.requires.iter().map(|demand| &demand.text))?,
            grant: content.grant,
            reason: all(content.reason.iter().flat_map(|reason| reason.lines()))?,
        };
        let found = screen.commands.len()
            + screen.commands.iter().map(|command| command.effects.len()).sum::<usize>()
            + screen.exact.len()
            + screen.stdin.len()
            + screen.unknown.len()
            + screen.programs.len()
            + screen.variables.len()
            + screen.properties.len()
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
        reasons: all(&command.reasons)?,
        is_unknown: unknown.iter().any(|part| !part.is_empty() && command.text.contains(part.as_str())),
    })
}

fn exact(content: &IntentContent) -> Result<Vec<String>, ScreenError> {
    let action = &content.action;
    if !action.change.is_empty() {
        return all(action.change.iter().flat_map(|part| part.split('\n')));
    }
    let Some(text) = &action.shell else { return Ok(vec![shown(&words(&action.argv))?]) };
    let before = &action.argv[..action.argv.len().saturating_sub(1)];
    let mut lines = vec![shown(&words(before))?];
    lines.extend(all(text.split('\n'))?);
    Ok(lines)
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
