//! `ccm init`: a first manifest for this machine.

mod manifest;

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use ccm_model::quote_words;
use ccm_runtime::process::{absolute, variable};
use ccm_runtime::{
    Config, Doors, ExitCode, GivenFacts, GivenValues, MAX_MANIFEST_SIZE, ManifestSource, Session,
    SystemDoors, ValidationError, ValidationExtent,
};

use crate::arguments::InitArguments;
use crate::console::Console;
use crate::policy::report_policy_error;
use crate::write_hints::named_file_hint;
use crate::{diagnostics, session};

/// Directory that the manifest writes to, in the home directory of the user.
const DIRECTORY: &str = "ccm-example";

/// Writes a manifest.
pub(crate) fn run(arguments: &InitArguments, console: &Console) -> ExitCode {
    write(arguments, console).unwrap_or_else(|code| code)
}

fn write(InitArguments { file }: &InitArguments, console: &Console) -> Result<ExitCode, ExitCode> {
    let refuse = |message: &str, causes: &[String], hint: &str| {
        console.error(&format!("{message}; nothing was written"), causes, &[hint.to_owned()]);
        ExitCode::NothingRun
    };
    let prints = file == Path::new("-");
    let name = if prints { "site.yaml".to_owned() } else { quote_words([&*file.to_string_lossy()]) };
    let home = variable("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    let Some(home) = home else {
        return Err(refuse("the home directory is not known", &[], "set HOME to an absolute path"));
    };
    let session = session::open(console);
    let directory = home.join(DIRECTORY);
    let Some(text) = manifest::text(&name, &directory, &family(&session), session.is_root()) else {
        let message = format!("a manifest can't have the path {} as it is", directory.display());
        return Err(refuse(&message, &[], "set HOME to another directory"));
    };
    let resources = validate(&text, console)?;
    if prints {
        return Ok(console.print(&text));
    }
    session.create_file(file, text.as_bytes()).map_err(|error| {
        let shown = file.display();
        let causes = [error.to_string()];
        if error.kind() == ErrorKind::AlreadyExists {
            return refuse(
                &format!("{shown} exists already"),
                &[],
                "name another file: `ccm init other.yaml`",
            );
        }
        let hint = named_file_hint(&error).unwrap_or("name a file in a directory of yours");
        refuse(&format!("{shown} can't be created"), &causes, hint)
    })?;
    Ok(console.print(&format!(
        "wrote {name}: {resources} resources, which write to {}\n\nshow what it would change:  ccm apply --noop --diff \
         {name}\nchange it:                   ccm apply {name}\n",
        directory.display(),
    )))
}

/// Returns the family of the distribution, or an empty text.
fn family(session: &Session) -> String {
    let found = session.facts(&GivenFacts::default(), Some("host.info.platformFamily"));
    found.map(|family| family.to_string()).unwrap_or_default()
}

/// Checks the manifest before it is written, and returns the number of its resources.
fn validate(text: &str, console: &Console) -> Result<usize, ExitCode> {
    let path = absolute(Path::new("site.yaml")).unwrap_or_else(|_| PathBuf::from("/site.yaml"));
    let doors = Box::new(DraftDoors { path: path.clone(), text: text.to_owned() });
    let session = Session::open(Config { doors, ..session::config(console, None) });
    let values = GivenValues { no_dotenv: true, ..GivenValues::default() };
    let input = session.read(ManifestSource::File(path), &values, MAX_MANIFEST_SIZE);
    let input = input.map_err(|error| {
        console.error_of(&error, "", &[]);
        ExitCode::NothingRun
    })?;
    match session.validate(&input, ValidationExtent::Everything) {
        Ok(validation) => Ok(validation.resources),
        Err(error) => {
            match &error {
                ValidationError::Manifest(errors) => diagnostics::print(console, errors),
                ValidationError::Policy(error) => drop(report_policy_error(console, error, "")),
                error => console.error_of(error, "", &[]),
            }
            console.error("the manifest is not valid on this machine; nothing was written", &[], &[]);
            Err(ExitCode::NothingRun)
        }
    }
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
