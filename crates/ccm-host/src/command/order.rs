//! What the launcher is told and what it answers: texts, each with a zero byte behind it.
//!
//! Everything that goes to the kernel is such a text anyway.

use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::PathBuf;

use super::sandbox::Layer;
use super::{Enforced, Means, Sandbox, StartError};
use crate::Identity;

/// What a launcher is to make of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Order {
    pub(crate) program: PathBuf,
    /// With the program's own name in front.
    pub(crate) arguments: Vec<CString>,
    pub(crate) environment: Vec<CString>,
    pub(crate) cwd: PathBuf,
    /// None: the one it has.
    pub(crate) identity: Option<Identity>,
    pub(crate) umask: Option<u32>,
    pub(crate) sandbox: Option<Sandbox>,
    pub(crate) switched_off: Vec<Layer>,
    /// It is given a network in which there is nothing.
    pub(crate) has_network: bool,
    /// Everything is done but becoming the program.
    pub(crate) is_rehearsal: bool,
}

/// What a launcher answers.
#[derive(Debug)]
pub(crate) enum Answer {
    /// It is about to become the program.
    Ready(Enforced),
    /// It could not.
    Failed(StartError),
}

impl Order {
    /// Writes it down. What holds a zero byte itself was refused before.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut text = Writer::default();
        text.put(self.program.as_os_str().as_bytes());
        text.list(&self.arguments, |text, argument| text.put(argument.as_bytes()));
        text.list(&self.environment, |text, variable| text.put(variable.as_bytes()));
        text.put(self.cwd.as_os_str().as_bytes());
        text.list(&self.identity, |text, identity| {
            text.number(identity.uid);
            text.number(identity.gid);
            text.list(&identity.groups, |text, group| text.number(*group));
        });
        text.list(&self.umask, |text, umask| text.number(*umask));
        text.list(&self.sandbox, |text, sandbox| {
            text.put(sandbox.workdir.as_os_str().as_bytes());
            text.list(&sandbox.read, |text, path| text.put(path.as_os_str().as_bytes()));
            text.list(&sandbox.write, |text, path| text.put(path.as_os_str().as_bytes()));
            for flag in [sandbox.network, sandbox.unix_sockets, sandbox.advisory] {
                text.number(u32::from(flag));
            }
        });
        text.list(&self.switched_off, |text, layer| {
            text.number(match layer {
                Layer::Namespaces => 1,
                Layer::Landlock => 2,
                Layer::Seccomp => 3,
                Layer::LandlockNewerThan(version) => 100 + version,
            });
        });
        text.number(u32::from(self.has_network));
        text.number(u32::from(self.is_rehearsal));
        text.0
    }

    /// Reads it; none if it is no order.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let text = &mut Reader(bytes);
        Some(Self {
            program: text.path()?,
            arguments: text.list(|text| CString::new(text.take()?).ok())?,
            environment: text.list(|text| CString::new(text.take()?).ok())?,
            cwd: text.path()?,
            identity: text
                .list(|text| {
                    let (uid, gid) = (text.number()?, text.number()?);
                    Some(Identity { uid, gid, groups: text.list(Reader::number)? })
                })?
                .pop(),
            umask: text.list(Reader::number)?.pop(),
            sandbox: text
                .list(|text| {
                    Some(Sandbox {
                        workdir: text.path()?,
                        read: text.list(Reader::path)?,
                        write: text.list(Reader::path)?,
                        network: text.number()? != 0,
                        unix_sockets: text.number()? != 0,
                        advisory: text.number()? != 0,
                    })
                })?
                .pop(),
            switched_off: text.list(|text| {
                Some(match text.number()? {
                    1 => Layer::Namespaces,
                    2 => Layer::Landlock,
                    3 => Layer::Seccomp,
                    version => Layer::LandlockNewerThan(version.checked_sub(100)?),
                })
            })?,
            has_network: text.number()? != 0,
            is_rehearsal: text.number()? != 0,
        })
    }
}

impl Answer {
    /// Writes it down.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut text = Writer::default();
        match self {
            Self::Ready(enforced) => {
                text.put(b"ready");
                let parts =
                    [&enforced.filesystem, &enforced.network, &enforced.shared_memory, &enforced.signals];
                for part in parts {
                    text.list(part, |text, means| text.put(means.to_string().as_bytes()));
                }
                for said in [&enforced.missing, &enforced.not_hidden] {
                    text.list(said, |text, said| text.put(said.as_bytes()));
                }
            }
            Self::Failed(error) => encode_error(&mut text, error),
        }
        text.0
    }

    /// Reads the last of the answers that were written one behind the other; none if there is none.
    pub(crate) fn decode_last(bytes: &[u8]) -> Option<Self> {
        let text = &mut Reader(bytes);
        let mut last = None;
        while !text.0.is_empty() {
            last = Some(Self::decode(text)?);
        }
        last
    }

    fn decode(text: &mut Reader<'_>) -> Option<Self> {
        let kind = text.string()?;
        if kind != "ready" {
            return decode_error(&kind, text).map(Self::Failed);
        }
        let mut means = || {
            text.list(|text| {
                let all = [Means::Mounts, Means::Namespace, Means::Landlock, Means::Seccomp];
                let name = text.string()?;
                all.into_iter().find(|means| means.to_string() == name)
            })
        };
        Some(Self::Ready(Enforced {
            filesystem: means()?,
            network: means()?,
            shared_memory: means()?,
            signals: means()?,
            missing: text.list(Reader::string)?,
            not_hidden: text.list(Reader::string)?,
        }))
    }
}

fn encode_error(text: &mut Writer, error: &StartError) {
    match error {
        StartError::NotFound { name, path } => text.strings(&["not found", name, path]),
        StartError::IsDirectory { program } => text.at("is directory", program),
        StartError::NotExecutable { program } => text.at("not executable", program),
        StartError::MountedNoexec { program } => text.at("noexec", program),
        StartError::NoInterpreter { program } => text.at("no interpreter", program),
        StartError::InterpreterMissing { program, interpreter } => {
            text.at("interpreter missing", program);
            text.put(interpreter.as_bytes());
        }
        StartError::WorkingDirectory { path, source } => {
            text.at("working directory", path);
            text.error(source);
        }
        StartError::SandboxPath { property, path, source } => {
            text.at("sandbox path", path);
            text.put(property.as_bytes());
            text.error(source);
        }
        StartError::NotEnforceable { missing } => {
            text.put(b"not enforceable");
            text.list(missing, |text, missing| text.put(missing.as_bytes()));
        }
        StartError::Step { property, step, source } => {
            text.strings(&["step", property, step]);
            text.error(source);
        }
        StartError::Spawn { program, source } => {
            text.at("spawn", program);
            text.error(source);
        }
        // The others are of whoever starts the launcher.
        other => {
            text.strings(&["spawn", "", "text", &other.to_string()]);
        }
    }
}

fn decode_error(kind: &str, text: &mut Reader<'_>) -> Option<StartError> {
    Some(match kind {
        "not found" => StartError::NotFound { name: text.string()?, path: text.string()? },
        "is directory" => StartError::IsDirectory { program: text.path()? },
        "not executable" => StartError::NotExecutable { program: text.path()? },
        "noexec" => StartError::MountedNoexec { program: text.path()? },
        "no interpreter" => StartError::NoInterpreter { program: text.path()? },
        "interpreter missing" => {
            StartError::InterpreterMissing { program: text.path()?, interpreter: text.string()? }
        }
        "working directory" => StartError::WorkingDirectory { path: text.path()?, source: text.error()? },
        "sandbox path" => {
            StartError::SandboxPath { path: text.path()?, property: text.string()?, source: text.error()? }
        }
        "not enforceable" => StartError::NotEnforceable { missing: text.list(Reader::string)? },
        "step" => StartError::Step { property: text.string()?, step: text.string()?, source: text.error()? },
        "spawn" => StartError::Spawn { program: text.path()?, source: text.error()? },
        _ => return None,
    })
}

#[derive(Default)]
struct Writer(Vec<u8>);

impl Writer {
    fn put(&mut self, text: &[u8]) {
        // Only messages could hold a zero byte; the rest of one would be taken for the next text.
        self.0.extend(text.iter().filter(|byte| **byte != 0));
        self.0.push(0);
    }

    fn strings(&mut self, texts: &[&str]) {
        for text in texts {
            self.put(text.as_bytes());
        }
    }

    fn at(&mut self, kind: &str, path: &std::path::Path) {
        self.put(kind.as_bytes());
        self.put(path.as_os_str().as_bytes());
    }

    fn number(&mut self, number: u32) {
        self.put(number.to_string().as_bytes());
    }

    fn error(&mut self, error: &io::Error) {
        match error.raw_os_error() {
            Some(code) => self.strings(&["code", &code.to_string()]),
            None => self.strings(&["text", &error.to_string()]),
        }
    }

    fn list<'v, T: 'v>(&mut self, values: impl IntoIterator<Item = &'v T>, put: impl Fn(&mut Self, &T)) {
        for value in values {
            self.put(b"+");
            put(self, value);
        }
        self.put(b".");
    }
}

struct Reader<'b>(&'b [u8]);

impl<'b> Reader<'b> {
    fn take(&mut self) -> Option<&'b [u8]> {
        let end = self.0.iter().position(|byte| *byte == 0)?;
        let (text, rest) = self.0.split_at(end);
        self.0 = rest.get(1..)?;
        Some(text)
    }

    fn string(&mut self) -> Option<String> {
        Some(String::from_utf8_lossy(self.take()?).into_owned())
    }

    fn path(&mut self) -> Option<PathBuf> {
        Some(OsString::from_vec(OsStr::from_bytes(self.take()?).as_bytes().to_vec()).into())
    }

    fn number(&mut self) -> Option<u32> {
        self.string()?.parse().ok()
    }

    fn error(&mut self) -> Option<io::Error> {
        match self.string()?.as_str() {
            "code" => Some(io::Error::from_raw_os_error(self.string()?.parse().ok()?)),
            "text" => Some(io::Error::other(self.string()?)),
            _ => None,
        }
    }

    fn list<T>(&mut self, one: impl Fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let mut values = Vec::new();
        loop {
            match self.take()? {
                b"+" => values.push(one(self)?),
                b"." => return Some(values),
                _ => return None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order() -> Order {
        let texts = |texts: &[&str]| texts.iter().map(|text| CString::new(*text).expect("no zero")).collect();
        Order {
            program: "/bin/echo".into(),
            arguments: texts(&["/bin/echo", "", "+", ".", "a b\n\u{fc}"]),
            environment: texts(&["A=", "B=1"]),
            cwd: "/".into(),
            identity: Some(Identity { uid: 1, gid: 2, groups: vec![3, 4] }),
            umask: Some(0o77),
            sandbox: Some(Sandbox {
                workdir: "/work".into(),
                read: vec!["/a".into(), OsString::from_vec(vec![b'/', 0xff]).into()],
                write: Vec::new(),
                network: false,
                unix_sockets: true,
                advisory: false,
            }),
            switched_off: vec![Layer::Namespaces, Layer::LandlockNewerThan(2)],
            has_network: true,
            is_rehearsal: true,
        }
    }

    #[test]
    fn an_order_arrives_as_it_was_given() {
        let whole = order();
        assert_eq!(Order::decode(&whole.encode()), Some(whole.clone()));
        let plain = Order { identity: None, umask: None, sandbox: None, switched_off: Vec::new(), ..whole };
        assert_eq!(Order::decode(&plain.encode()), Some(plain));
    }

    #[test]
    fn a_part_of_an_order_is_none() {
        let bytes = order().encode();
        for length in 0..bytes.len() {
            assert_eq!(Order::decode(&bytes[..length]), None, "{length}");
        }
    }

    #[test]
    fn errors_arrive_as_they_were_given() {
        let denied = || io::Error::from_raw_os_error(13);
        for error in [
            StartError::NotFound { name: "x".into(), path: "/bin".into() },
            StartError::IsDirectory { program: "/x".into() },
            StartError::NotExecutable { program: "/x".into() },
            StartError::MountedNoexec { program: "/x".into() },
            StartError::NoInterpreter { program: "/x".into() },
            StartError::InterpreterMissing { program: "/x".into(), interpreter: "/y".into() },
            StartError::WorkingDirectory { path: "/x".into(), source: denied() },
            StartError::SandboxPath { property: "read".into(), path: "/x".into(), source: denied() },
            StartError::NotEnforceable { missing: vec!["a".into(), "b".into()] },
            StartError::Step { property: "user".into(), step: "groups".into(), source: denied() },
            StartError::Spawn { program: "/x".into(), source: io::Error::other("its interpreter") },
        ] {
            let expected = format!("{error:?}");
            match Answer::decode_last(&Answer::Failed(error).encode()) {
                Some(Answer::Failed(found)) => assert_eq!(found.to_string(), {
                    assert_eq!(format!("{found:?}").split('{').next(), expected.split('{').next());
                    found.to_string()
                }),
                other => unreachable!("{expected}: {other:?}"),
            }
        }
    }

    #[test]
    fn the_last_answer_counts() {
        let enforced = Enforced { filesystem: vec![Means::Mounts], ..Enforced::default() };
        let ready = Answer::Ready(enforced.clone()).encode();
        assert!(matches!(Answer::decode_last(&ready), Some(Answer::Ready(found)) if found == enforced));
        let failed = Answer::Failed(StartError::IsDirectory { program: "/x".into() }).encode();
        let both = [ready, failed].concat();
        assert!(matches!(Answer::decode_last(&both), Some(Answer::Failed(_))));
        assert!(Answer::decode_last(b"").is_none());
        assert!(Answer::decode_last(&both[..both.len() - 1]).is_none());
    }
}
