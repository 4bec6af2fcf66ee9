//! `ccm init`: a first manifest for this machine.

mod manifest;

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use ccm_runtime::model::quote_words;
use ccm_runtime::process::{absolute, variable};
use ccm_runtime::{
    Config, Doors, GivenFacts, GivenValues, MAX_MANIFEST_SIZE, ManifestSource, Session, SystemDoors,
    ValidationError, ValidationExtent,
};

use crate::arguments::InitArguments;
use crate::console::Console;
use crate::error::{CommandError, CommandResult};
use crate::session;
use crate::write_hints::named_file_hint;

/// Directory that the manifest writes to, in the home directory of the user.
const DIRECTORY: &str = "ccm-example";

/// Writes a manifest.
pub(crate) fn run(InitArguments { file }: &InitArguments, console: &Console) -> CommandResult {
    let nothing = |message: &str| CommandError::new(message).therefore("nothing was written");
    let prints = file == Path::new("-");
    let name = if prints { "site.yaml".to_owned() } else { quote_words([&*file.to_string_lossy()]) };
    let home = variable("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    let home =
        home.ok_or_else(|| nothing("the home directory is not known").hint("set HOME to an absolute path"))?;
    let session = session::open(console);
    let directory = home.join(DIRECTORY);
    let text = manifest::text(&name, &directory, &family(&session), session.is_root()).ok_or_else(|| {
        let message = format!("a manifest can't have the path {} as it is", directory.display());
        nothing(&message).hint("set HOME to another directory")
    })?;
    let resources = validate(&text, console)?;
    if prints {
        return console.print(&text);
    }
    session.create_file(file, text.as_bytes()).map_err(|error| {
        let shown = file.display();
        if error.kind() == ErrorKind::AlreadyExists {
            return nothing(&format!("{shown} exists already"))
                .hint("name another file: `ccm init other.yaml`");
        }
        let hint = named_file_hint(&error).unwrap_or("name a file in a directory of yours");
        nothing(&format!("{shown} can't be created")).caused_by(&error).hint(hint)
    })?;
    console.print_words(&format!(
        "wrote {name}: {resources} resources, which write to {}\n\nshow what it would change:  ccm apply --noop --diff \
         {name}\nchange it:                   ccm apply {name}\n",
        directory.display(),
    ))
}

/// Returns the family of the distribution, or an empty text.
fn family(session: &Session) -> String {
    let found = session.facts(&GivenFacts::default(), Some("host.info.platformFamily"));
    found.map(|family| family.to_string()).unwrap_or_default()
}

/// Checks the manifest before it is written, and returns the number of its resources.
fn validate(text: &str, console: &Console) -> CommandResult<usize> {
    let path = absolute(Path::new("site.yaml")).unwrap_or_else(|_| PathBuf::from("/site.yaml"));
    let doors = Box::new(DraftDoors { path: path.clone(), text: text.to_owned() });
    let session = Session::open(Config { doors, ..session::config(console, None) });
    let values = GivenValues { no_dotenv: true, ..GivenValues::default() };
    let input = session.read(ManifestSource::File(path), &values, MAX_MANIFEST_SIZE);
    let input = input.map_err(|error| CommandError::of(&error))?;
    let validation = session.validate(&input, ValidationExtent::Everything).map_err(|error| {
        let found = match &error {
            ValidationError::Manifest(errors) => CommandError::located(errors),
            ValidationError::Policy(error) => (&**error).into(),
            error => CommandError::of(error),
        };
        CommandError::new("the manifest is not valid on this machine; nothing was written").after(&[found])
    })?;
    Ok(validation.resources)
}

/// Doors of this machine with a manifest that is not written yet.
struct DraftDoors {
    path: PathBuf,
    text: String,
}

impl Doors for DraftDoors {
    fn input(&self, path: Option<&Path>, limit: u64) -> io::Result<Vec<u8>> {
        if path == Some(&*self.path) {
            return Ok(self.text.clone().into_bytes());
        }
        SystemDoors.input(path, limit)
    }
}
