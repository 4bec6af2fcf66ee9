//! Encrypts texts.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD_NO_PAD;
use ring::rand::{SecureRandom as _, SystemRandom};
use zeroize::Zeroizing;

use crate::armour;
use crate::header::{SSH_ED25519, VERSION};
use crate::keys::{FileKey, header_mac};
use crate::payload;
use crate::recipient::Recipient;
use crate::wrapping::wrap;

/// Encrypts a text to recipients, each of whom can open it alone, and returns it in armour. A recipient that is named twice
/// counts once. `None` if there is no recipient, if the text is longer than [`MAX_PLAIN_BYTES`](crate::MAX_PLAIN_BYTES),
/// or if the system has no random numbers.
pub fn encrypt(plain: &[u8], to: &[Recipient]) -> Option<String> {
    let random = SystemRandom::new();
    let mut file_key = FileKey::default();
    random.fill(&mut *file_key).ok()?;
    let mut header = format!("{VERSION}\n");
    for (index, recipient) in to.iter().enumerate() {
        if to[..index].contains(recipient) {
            continue;
        }
        let mut ephemeral = Zeroizing::new([0; 32]);
        random.fill(&mut *ephemeral).ok()?;
        let (public, wrapped) = wrap(&file_key, &ephemeral, &recipient.point, &recipient.encoded)?;
        let encode = |bytes: &[u8]| BASE64_STANDARD_NO_PAD.encode(bytes);
        let [public, wrapped] = [encode(&public), encode(&wrapped)];
        let tag = recipient.tag();
        // The wrapped key fits in one line.
        header += &format!("-> {SSH_ED25519} {tag} {public}\n{wrapped}\n");
    }
    (!to.is_empty() && plain.len() <= crate::MAX_PLAIN_BYTES).then_some(())?;
    header += "---";
    let mac = BASE64_STANDARD_NO_PAD.encode(header_mac(&file_key, header.as_bytes()));
    header += &format!(" {mac}\n");
    let mut salt = [0; payload::SALT];
    random.fill(&mut salt).ok()?;
    let payload = payload::seal(&file_key, salt, plain)?;
    Some(armour::write(&[header.as_bytes(), &payload].concat()))
}
