//! Manifests that were judged before a run, so that equal ones are not judged again when they are loaded.
//!
//! Most runs load the manifest of the run before, under the same policy. The state directory therefore keeps digests of
//! what was judged. They decide nothing but whether a denied command is reported when the manifest is loaded: the gate
//! judges every command again before it starts, with the programs and links of that moment. A digest that is stale, or
//! that somebody forged, lets no command run that the policy refuses.

use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use ccm_host::current_user;
use ccm_host::state::Directory;
use ccm_manifest::LateResources;
use ccm_model::{Catalog, Control, Node, NodeMap, NodeValue, ResourceIndex, sha256};
use tracing::debug;

/// File in the state directory: a digest a line, the newest first.
const FILE: &str = "judged-manifests";
/// Maximum number of digests.
const MAX_DIGESTS: usize = 64;
/// Length of a line.
const LINE: usize = 65;

/// Manifest whose known commands are judged, by everything that the verdicts depend on but the machine's files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JudgedManifest {
    digest: String,
}

impl JudgedManifest {
    /// Computes the digest of a manifest, with its data and facts filled in, under the files of a policy.
    pub(crate) fn of(
        policy_digest: &str,
        manifest: &str,
        catalog: &Catalog,
        late: &LateResources<'_>,
    ) -> Self {
        let mut text = DigestText::default();
        text.add(env!("CARGO_PKG_VERSION"));
        text.add(policy_digest);
        text.add(manifest);
        // The home directory of root is known.
        text.add(&current_user().to_string());
        for entry in catalog.checks.iter().flat_map(|checks| checks.properties.given()) {
            text.node(&entry.value);
        }
        let mut settings: Option<&Arc<NodeMap>> = None;
        for (index, resource) in catalog.resources.iter().enumerate() {
            text.add(&resource.id.type_name);
            text.add(&resource.id.name);
            for given in [&resource.ensure, &resource.provider] {
                text.add(given.as_ref().map_or("", |given| &given.value));
            }
            text.add(match resource.control {
                Control::Managed => "managed",
                Control::NotManaged { .. } => "off",
                Control::Late => "late",
            });
            // The resources of a type have their settings in common.
            if settings.is_none_or(|before| !Arc::ptr_eq(before, &resource.settings)) {
                settings = Some(&resource.settings);
                text.map(&resource.settings);
            }
            text.map(&resource.rendered);
            let index = ResourceIndex::from_usize(index);
            let is_late = late.is_late(index);
            for entry in resource.properties.given() {
                text.add(&entry.key.text);
                text.node(&entry.value);
                text.flag(is_late && late.is_late_value(index, entry.value.span));
            }
            text.flag(is_late);
        }
        Self { digest: sha256(&text.bytes) }
    }

    /// Returns `true` if an equal manifest was judged, and nothing known of it was denied.
    pub(crate) fn is_known(&self, state: &Path) -> bool {
        let Ok(Some(directory)) = Directory::open(state) else { return false };
        digests(&directory).contains(&self.digest)
    }

    /// Remembers that nothing known of the manifest is denied. Without the memory, the next run judges it again.
    pub(crate) fn remember(&self, state: &Directory) {
        let mut all = digests(state);
        all.retain(|known| *known != self.digest);
        all.insert(0, self.digest.clone());
        all.truncate(MAX_DIGESTS);
        let text: String = all.iter().flat_map(|digest| [&**digest, "\n"]).collect();
        if let Err(error) = state.replace_unsynced(FILE, text.as_bytes()) {
            debug!(%error, "a judged manifest is not remembered");
        }
    }
}

/// Reads the digests. A file of another form has none.
fn digests(state: &Directory) -> Vec<String> {
    let mut text = String::new();
    let limit = (MAX_DIGESTS * LINE) as u64;
    let read = state.read(FILE).and_then(|file| file.take(limit).read_to_string(&mut text));
    if read.is_err() {
        return Vec::new();
    }
    let is_digest = |line: &&str| line.len() == LINE - 1 && line.bytes().all(|byte| byte.is_ascii_hexdigit());
    text.lines().filter(is_digest).map(str::to_owned).collect()
}

/// Text of a digest, in which every part has its length in front.
#[derive(Default)]
struct DigestText {
    bytes: Vec<u8>,
}

impl DigestText {
    fn add(&mut self, part: &str) {
        self.number(part.len());
        self.bytes.extend_from_slice(part.as_bytes());
    }

    fn number(&mut self, number: usize) {
        self.bytes.extend_from_slice(&number.to_le_bytes());
    }

    fn flag(&mut self, is_set: bool) {
        self.bytes.push(u8::from(is_set));
    }

    fn map(&mut self, map: &NodeMap) {
        self.number(map.entries().len());
        for entry in map.entries() {
            self.add(&entry.key.text);
            self.node(&entry.value);
        }
    }

    fn node(&mut self, node: &Node) {
        match &node.value {
            NodeValue::Scalar(scalar) => {
                self.bytes.extend_from_slice(&[0, scalar.style as u8]);
                self.add(&scalar.text);
            }
            NodeValue::List(nodes) => {
                self.bytes.push(1);
                self.number(nodes.len());
                for node in nodes {
                    self.node(node);
                }
            }
            NodeValue::Map(map) => {
                self.bytes.push(2);
                self.map(map);
            }
        }
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the test prepares files")]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use ccm_manifest::OmittedInputs;
    use ccm_model::{Event, FailureKind, Outcome};
    use ccm_testkit::Scratch;

    use super::*;
    use crate::{
        AuditSource, Config, Emitted, GivenValues, ManifestSource, PolicySource, RunOptions, Session,
    };

    fn session(scratch: &Scratch, policy: PolicySource) -> Session {
        Session::open(Config {
            policy,
            state_directory: Some(scratch.path().join("state")),
            audit: AuditSource::Directory(scratch.path().join("audit")),
            approvals: Some(scratch.path().join("approvals")),
            ..Config::default()
        })
    }

    /// Applies a manifest that touches a file, under a policy for which its digest was forged. Returns the outcome, or
    /// the error of a run that did not begin.
    fn applied_with_forged_digest(policy: &str) -> Result<Outcome, String> {
        let scratch = Scratch::new();
        let etc = scratch.path().canonicalize().expect("a path").join("etc");
        scratch.write("etc/policy.yaml", format!("ccm_policy: 1\n{policy}"));
        for (path, mode) in [(etc.clone(), 0o755), (etc.join("policy.yaml"), 0o644)] {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("a mode");
        }
        let made = scratch.at("made");
        let manifest = format!("ccm:\n  resources:\n    - exec: [{{'touch {made}': {{cwd: /}}}}]\n");
        scratch.write("manifest.yaml", manifest);
        let read = |session: &Session| {
            let source = ManifestSource::File(scratch.path().join("manifest.yaml"));
            session.read(source, &GivenValues::default(), 1 << 20).expect("a manifest")
        };
        // The digest of what nobody has judged.
        let free = session(&scratch, PolicySource::None);
        let input = read(&free);
        let loaded = free.load_omitting(&input, OmittedInputs::default()).expect("no errors");
        let session = session(&scratch, PolicySource::Directory(etc));
        let digest = session.governance.found_policy().expect("the files").digest();
        let forged = JudgedManifest::of(&digest, input.full_name(), &loaded.catalog, &loaded.loaded.late);
        forged.remember(&Directory::open_private(&scratch.path().join("state")).expect("a directory"));

        let input = read(&session);
        let loaded = session.load(&input).expect("the forged digest hides an early error");
        let mut outcomes = Vec::new();
        let mut sink = |emitted: Emitted<'_>| {
            if let Event::ResourceFinished(transaction) = emitted.event {
                outcomes.push(transaction.outcome);
            }
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let begun = runtime.block_on(loaded.apply(RunOptions::default(), &mut sink));
        assert_eq!(scratch.has("made"), outcomes == [Outcome::Changed]);
        begun.map_err(|error| ccm_model::error_layers(&error).join(": "))?;
        Ok(outcomes.pop().expect("an outcome"))
    }

    #[test]
    fn a_forged_digest_lets_nothing_run_that_is_denied() {
        for (policy, expected) in [
            ("rules: [{match: {program: touch}, deny: true}]\n", "rule 1"),
            ("rules: [{match: {program: touch}, dny: true}]\n", "the policy can't be used"),
            (
                "rules: [{match: {program: ls}, deny: true, examples: {yes: [rm]}}]\n",
                "the policy can't be used",
            ),
        ] {
            let outcome = applied_with_forged_digest(policy);
            let Ok(Outcome::Failed(failure)) = outcome else { unreachable!("{policy} {outcome:?}") };
            assert_eq!(failure.kind, FailureKind::Denied);
            let text = failure.chain.join(": ");
            assert!(text.contains(expected), "{text}");
        }
        assert_eq!(applied_with_forged_digest("rules: []\n"), Ok(Outcome::Changed));
    }

    #[test]
    fn a_forged_digest_does_not_hide_settings_of_runs() {
        for (policy, expected) in [
            ("audit: {required: true}\n", "requires a record"),
            // A word with escapes is the same word.
            ("\"\\x61udit\": {required: true}\n", "requires a record"),
            ("\"a\\u0075dit\": {required: true}\n", "requires a record"),
            // A key of two lines is an error.
            ("\"au\\\n  dit\": {required: true}\n", "1 error in the policy"),
            ("callers: {apply: {signed: required}}\n", "has to be signed"),
            ("callers: {apply: {\"s\\U00000069gned\": required}}\n", "has to be signed"),
            // An error beside such a setting is found before anything runs.
            ("audit: {required: true}\nrulez: []\n", "1 error in the policy"),
        ] {
            let refused = applied_with_forged_digest(policy).expect_err("a run that does not begin");
            assert!(refused.contains(expected), "{policy} {refused}");
        }
    }
}
