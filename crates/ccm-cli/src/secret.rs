//! `ccm secret`: encrypts values, shows and changes who can open them.

mod document;
mod recipients;

use std::io::{self, Read as _};
use std::path::Path;

use ccm_runtime::encryption::{
    EncryptedBlock, EncryptedText, MAX_PLAIN_BYTES, Recipient, RecipientTag, SecretFault, encrypt,
};
use ccm_runtime::printed;
use ccm_runtime::process::{ask_secret, can_ask};
use ccm_runtime::{ExitCode, Session};

use crate::arguments::{
    DocumentFormat, SecretCommand, SecretEditArguments, SecretEncryptArguments, SecretRekeyArguments,
    SecretWhoArguments,
};
use crate::console::Console;
use crate::error::{CommandError, CommandResult};
use crate::reactor::block_on;
use crate::session;
use document::{OpenableDocument, OpenableValue};
use recipients::Keys;

/// Maximum length of a file with encrypted values, in bytes.
const MAX_FILE: u64 = 64 << 20;

/// Encrypts, edits or shows encrypted values.
pub(crate) fn run(command: &SecretCommand, console: &Console) -> CommandResult {
    match command {
        SecretCommand::Encrypt(arguments) => encrypt_value(arguments, console),
        SecretCommand::Edit(arguments) => edit(arguments, console),
        SecretCommand::Rekey(arguments) => rekey(arguments, console),
        SecretCommand::Who(arguments) => who(arguments, console),
    }
}

fn encrypt_value(arguments: &SecretEncryptArguments, console: &Console) -> CommandResult {
    let session = session::open(console);
    let to = Keys::read(&session, &arguments.keys)?.named(&arguments.to)?;
    let plain = match &arguments.file {
        Some(path) => session
            .files()
            .content(path, MAX_PLAIN_BYTES as u64)
            .map_err(|error| CommandError::of(&error))?
            .ok_or_else(too_long)?,
        None => asked_or_read()?,
    };
    let text = encrypted(&plain, &to)?;
    match (&arguments.out, &arguments.key) {
        (Some(path), _) => {
            session.write_file(path, text.as_bytes()).map_err(|error| CommandError::of(&error))?;
            console.print_words(&format!("wrote {}: {}\n", path.display(), openers(to.len())))
        }
        (None, Some(key)) => console.print(&value_of_data(key, &text)),
        (None, None) => console.print(&text),
    }
}

/// Asks a person for a value, or reads standard input.
fn asked_or_read() -> CommandResult<Vec<u8>> {
    let unreadable = |error: io::Error| CommandError::new("standard input can't be read").caused_by(&error);
    if can_ask() {
        let asked =
            block_on(ask_secret("Value (it is not shown): ")).map_err(|error| CommandError::of(&error))?;
        let value = asked.map_err(unreadable)?;
        return if value.is_empty() {
            Err(CommandError::new("no value was given"))
        } else {
            Ok(value.into_bytes())
        };
    }
    let mut plain = Vec::new();
    io::stdin().lock().take(MAX_PLAIN_BYTES as u64 + 1).read_to_end(&mut plain).map_err(unreadable)?;
    if plain.len() > MAX_PLAIN_BYTES { Err(too_long()) } else { Ok(plain) }
}

fn too_long() -> CommandError {
    CommandError::new(format!("a value has at most {} MiB", MAX_PLAIN_BYTES >> 20))
}

fn encrypted(plain: &[u8], to: &[Recipient]) -> CommandResult<String> {
    encrypt(plain, to).ok_or_else(|| CommandError::new("the system has no random numbers"))
}

/// Returns an encrypted text as a value of data.
fn value_of_data(key: &str, text: &str) -> String {
    let lines: String = text.lines().flat_map(|line| ["    ", line, "\n"]).collect();
    format!("  # @encrypted\n  {key}: |\n{lines}")
}

fn openers(count: usize) -> String {
    if count == 1 { "1 key opens it".to_owned() } else { format!("each of {count} keys opens it") }
}

/// File with encrypted texts.
struct EncryptedFile<'p> {
    path: &'p Path,
    whole: String,
    blocks: Vec<EncryptedBlock>,
}

impl<'p> EncryptedFile<'p> {
    fn read(session: &Session, path: &'p Path) -> CommandResult<Self> {
        let read = session.read_text(Some(path), MAX_FILE, "encrypted file");
        let (_, whole) = read.map_err(|error| CommandError::of(&error))?;
        let blocks = EncryptedBlock::find(&whole);
        if blocks.is_empty() {
            let message = format!("{} holds nothing that is encrypted", path.display());
            return Err(CommandError::new(message));
        }
        Ok(Self { path, whole, blocks })
    }

    fn place(&self, block: &EncryptedBlock) -> String {
        format!("{}:{}", self.path.display(), block.line())
    }

    fn parse(&self, block: &EncryptedBlock) -> CommandResult<EncryptedText> {
        EncryptedText::parse(&block.text(&self.whole))
            .map_err(|error| CommandError::new(format!("{} can't be read: {error}", self.place(block))))
    }

    fn open(&self, session: &Session, block: &EncryptedBlock) -> CommandResult<impl AsRef<[u8]> + use<>> {
        let opened = session.open_encrypted(&block.text(&self.whole));
        opened.map_err(|fault: SecretFault| {
            let error =
                CommandError::new(format!("{} can't be opened: {}", self.place(block), fault.message));
            error.hints(fault.hint)
        })
    }

    /// Returns the keys of those who can open a text now. All of them have to be known.
    fn recipients(&self, block: &EncryptedBlock, keys: &Keys<'_>) -> CommandResult<Vec<Recipient>> {
        let tags = self.parse(block)?.recipients();
        let known = tags.iter().map(|tag| Some(keys.by_tag((*tag)?)?.1.clone()));
        known.collect::<Option<Vec<_>>>().ok_or_else(|| {
            let unknown: Vec<String> =
                tags.iter().filter(|tag| named(keys, **tag).is_none()).map(|tag| shown(*tag)).collect();
            let message =
                format!("{}: the keys of some who can open it are not known here", self.place(block));
            CommandError::new(message).with_list(unknown).hint(
                "name all who are to open it with `--to`, or give their keys with `--key` or `--known-hosts`",
            )
        })
    }
}

fn named<'k>(keys: &'k Keys<'_>, tag: Option<RecipientTag>) -> Option<&'k str> {
    keys.by_tag(tag?).map(|(name, _)| name)
}

fn shown(tag: Option<RecipientTag>) -> String {
    tag.map_or_else(|| "a key of another kind".to_owned(), |tag| format!("an unknown key ({tag})"))
}

fn rekey(arguments: &SecretRekeyArguments, console: &Console) -> CommandResult {
    let session = session::open_as(console, None, &arguments.identity);
    let mut keys = Keys::read(&session, &arguments.keys)?;
    let to = keys.named(&arguments.to)?;
    let add = keys.named(&arguments.add)?;
    let remove = keys.named(&arguments.remove)?;
    // Nothing is written unless all of it can be opened.
    let mut rewritten = Vec::new();
    for path in &arguments.files {
        let file = EncryptedFile::read(&session, path)?;
        let mut blocks = Vec::new();
        for block in &file.blocks {
            let plain = file.open(&session, block)?;
            let mut recipients = if to.is_empty() { file.recipients(block, &keys)? } else { to.clone() };
            recipients.retain(|key| !remove.contains(key));
            recipients
                .extend(add.iter().filter(|key| !recipients.contains(key)).cloned().collect::<Vec<_>>());
            if recipients.is_empty() {
                let message =
                    format!("nobody could open {} any more; nothing was written", file.place(block));
                return Err(CommandError::new(message));
            }
            blocks.push((block.clone(), encrypted(plain.as_ref(), &recipients)?));
        }
        rewritten.push((path, EncryptedBlock::replace(&file.whole, &blocks), blocks.len()));
    }
    for (path, text, count) in rewritten {
        session.write_file(path, text.as_bytes()).map_err(|error| CommandError::of(&error))?;
        let values = if count == 1 { "value" } else { "values" };
        console.print_words(&format!("wrote {}: {count} {values}\n", path.display()))?;
    }
    if !arguments.remove.is_empty() || !arguments.to.is_empty() {
        console.hint(
            "who could open the old values still can, in the history of a repository: change the values, too",
        );
    }
    Ok(ExitCode::Success)
}

fn edit(arguments: &SecretEditArguments, console: &Console) -> CommandResult {
    let session = session::open_as(console, None, &arguments.identity);
    let mut keys = Keys::read(&session, &arguments.keys)?;
    let to = keys.named(&arguments.to)?;
    let file = EncryptedFile::read(&session, &arguments.file)?;
    let block = match (arguments.line, &file.blocks[..]) {
        (None, [block]) => block,
        (None, blocks) => {
            let lines: Vec<String> = blocks.iter().map(|block| block.line().to_string()).collect();
            let message = format!("{} has {} encrypted values", file.path.display(), blocks.len());
            let error = CommandError::usage(message);
            return Err(error.hint(format!("choose one with `--line {}`", lines.join("|"))));
        }
        (Some(line), blocks) => blocks.iter().find(|block| block.line() == line).ok_or_else(|| {
            CommandError::usage(format!(
                "no encrypted value of {} begins at line {line}",
                file.path.display()
            ))
        })?,
    };
    let plain = file.open(&session, block)?;
    let recipients = if to.is_empty() { file.recipients(block, &keys)? } else { to };
    let name = file.path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.strip_suffix(".age").unwrap_or(&name);
    let edited = session.edit(name, plain.as_ref()).map_err(|error| CommandError::of(&error))?;
    if edited.as_slice() == plain.as_ref() {
        return console.print_words("nothing was changed\n");
    }
    let text = encrypted(&edited, &recipients)?;
    let whole = EncryptedBlock::replace(&file.whole, &[(block.clone(), text)]);
    session.write_file(&arguments.file, whole.as_bytes()).map_err(|error| CommandError::of(&error))?;
    console.print_words(&format!("wrote {}: {}\n", file.path.display(), openers(recipients.len())))
}

fn who(arguments: &SecretWhoArguments, console: &Console) -> CommandResult {
    let session = session::open(console);
    let keys = Keys::read(&session, &arguments.keys)?;
    let mut values = Vec::new();
    for path in &arguments.files {
        let file = EncryptedFile::read(&session, path)?;
        for block in &file.blocks {
            let tags = file.parse(block)?.recipients();
            values.push(OpenableValue::of(path, block.line(), &tags, &|tag| {
                named(&keys, tag).map(str::to_owned)
            }));
        }
    }
    let document = OpenableDocument { values };
    console.print(&match arguments.output.format {
        DocumentFormat::Json => printed::document(&document.json()),
        DocumentFormat::Text => document.text(),
    })
}
