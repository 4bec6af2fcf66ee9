//! Requests that wait for an approval, and the approvals, on disk.

use std::io::{self, Read as _, Write as _};
use std::path::Path;

use ccm_host::random;
use ccm_host::state::{Directory, StateError};

use super::request::ApprovalRequest;

/// Maximum size of a file in the store in bytes.
pub(super) const MAX_STORED: u64 = 256 << 10;
/// Maximum number of requests that wait at the same time.
const MAX_REQUESTS: usize = 500;
/// Characters of a code; none looks like another one.
const ALPHABET: &[u8] = b"23456789ABCDEFGHJKMNPQRSTVWXYZ";
const SALT: &str = "salt";

/// Directory with requests and approvals, which no other user can write.
#[derive(Debug)]
pub(super) struct RequestStore {
    directory: Directory,
}

/// Request as it is stored.
#[derive(Clone, Debug)]
pub(super) struct StoredRequest {
    pub request: ApprovalRequest,
    pub bytes: Vec<u8>,
}

/// Statement about a request, with its signature.
#[derive(Clone, Debug)]
pub(super) struct StoredApproval {
    pub statement: Vec<u8>,
    pub signature: String,
}

impl RequestStore {
    /// Opens the store, and makes it if it does not exist.
    pub(super) fn make(path: &Path) -> Result<Self, StateError> {
        Directory::open_private(path).map(|directory| Self { directory })
    }

    /// Opens the store; `None` if it does not exist.
    pub(super) fn open(path: &Path) -> Result<Option<Self>, StateError> {
        Ok(Directory::open(path)?.map(|directory| Self { directory }))
    }

    fn content(&self, name: &str) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.directory.read(name)?.take(MAX_STORED + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MAX_STORED { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(bytes) }
    }

    /// Returns the salt of the digests of variables.
    pub(super) fn salt(&self) -> io::Result<Vec<u8>> {
        match self.content(SALT) {
            Ok(salt) if !salt.is_empty() => Ok(salt),
            _ => {
                let salt = format!("{:032x}{:032x}", random(), random());
                self.directory.replace(SALT, salt.as_bytes())?;
                Ok(salt.into_bytes())
            }
        }
    }

    /// Returns all requests, the oldest first. Anything else in the directory is left out.
    pub(super) fn requests(&self) -> io::Result<Vec<StoredRequest>> {
        let mut requests: Vec<StoredRequest> = self
            .directory
            .names()?
            .iter()
            .filter_map(|name| name.strip_suffix(".intent").filter(|code| is_code(code)))
            .filter_map(|code| self.request(code))
            .collect();
        requests.sort_by(|one, other| {
            (&one.request.created, &one.request.code).cmp(&(&other.request.created, &other.request.code))
        });
        Ok(requests)
    }

    /// Returns a request by its code.
    pub(super) fn request(&self, code: &str) -> Option<StoredRequest> {
        let bytes = self.content(&format!("{code}.intent")).ok()?;
        let request = ApprovalRequest::parse(&bytes).filter(|request| request.code == code)?;
        Some(StoredRequest { request, bytes })
    }

    /// Returns a code that no request has.
    pub(super) fn new_code(&self) -> io::Result<String> {
        let names = self.directory.names()?;
        if names.iter().filter(|name| name.ends_with(".intent")).count() >= MAX_REQUESTS {
            return Err(io::Error::other(format!("{MAX_REQUESTS} requests already wait")));
        }
        loop {
            let mut bits = random();
            let code: String = (0..4)
                .map(|_| {
                    let count = ALPHABET.len() as u128;
                    let character = ALPHABET[usize::try_from(bits % count).unwrap_or_default()];
                    bits /= count;
                    char::from(character)
                })
                .collect();
            if !names.iter().any(|name| name.starts_with(&code)) {
                return Ok(code);
            }
        }
    }

    /// Stores a request.
    pub(super) fn add(&self, request: &ApprovalRequest) -> io::Result<()> {
        self.directory.replace(&format!("{}.intent", request.code), &request.bytes())
    }

    /// Returns the statement that was exported for a request.
    pub(super) fn exported(&self, code: &str) -> Option<Vec<u8>> {
        self.content(&format!("{code}.export")).ok()
    }

    pub(super) fn export(&self, code: &str, statement: &[u8]) -> io::Result<()> {
        self.directory.replace(&format!("{code}.export"), statement)
    }

    /// Stores an approval. Each key has one.
    pub(super) fn approve(&self, code: &str, key: &str, approval: &StoredApproval) -> io::Result<()> {
        let key = ccm_host::sha256(key.as_bytes());
        let name = format!("{code}.{}", key.get(..16).unwrap_or_default());
        self.directory.replace(&format!("{name}.statement"), &approval.statement)?;
        self.directory.replace(&format!("{name}.sig"), approval.signature.as_bytes())
    }

    /// Returns the approvals of a request. They are not checked yet.
    pub(super) fn approvals(&self, code: &str) -> io::Result<Vec<StoredApproval>> {
        let mut found = Vec::new();
        for name in self.directory.names()? {
            let Some(name) = name.strip_suffix(".sig").filter(|name| name.starts_with(code)) else {
                continue;
            };
            let pair = (self.content(&format!("{name}.statement")), self.content(&format!("{name}.sig")));
            if let (Ok(statement), Ok(signature)) = pair
                && let Ok(signature) = String::from_utf8(signature)
            {
                found.push(StoredApproval { statement, signature });
            }
        }
        Ok(found)
    }

    /// Refuses a request for good.
    pub(super) fn reject(&self, code: &str, reason: &str) -> io::Result<()> {
        self.directory.replace(&format!("{code}.rejected"), reason.as_bytes())
    }

    /// Returns the reason for which a request was refused.
    pub(super) fn rejection(&self, code: &str) -> Option<String> {
        let reason = self.content(&format!("{code}.rejected")).ok()?;
        Some(String::from_utf8_lossy(&reason).into_owned())
    }

    /// Returns the number of uses so far.
    pub(super) fn used(&self, code: &str) -> io::Result<u32> {
        let start = format!("{code}.used.");
        let count = self.directory.names()?.iter().filter(|name| name.starts_with(&start)).count();
        Ok(u32::try_from(count).unwrap_or(u32::MAX))
    }

    /// Takes one of the uses of an approval: `false` if none is left. The use is on the disk before this returns, and
    /// of two runs only one gets it, because the kernel makes a file of a name only once.
    pub(super) fn use_up(&self, code: &str, uses: u32, line: &str) -> io::Result<bool> {
        for number in 1..=uses {
            match self.directory.create(&format!("{code}.used.{number}")) {
                Ok(mut file) => {
                    writeln!(file, "{line}")?;
                    file.sync()?;
                    self.directory.sync()?;
                    return Ok(true);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Ok(false)
    }

    /// Removes a request with all its approvals.
    pub(super) fn remove(&self, code: &str) -> io::Result<()> {
        let start = format!("{code}.");
        for name in self.directory.names()?.iter().filter(|name| name.starts_with(&start)) {
            match self.directory.remove_file(name) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }
}

/// Returns `true` for a text that can be a code.
pub(super) fn is_code(text: &str) -> bool {
    text.len() == 4 && text.bytes().all(|byte| ALPHABET.contains(&byte))
}
