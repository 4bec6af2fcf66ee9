//! Names that resolve: by the machine, or by one name server.

use std::time::Duration;

use ccm_check::{Attribute, Fact, FactError, RecordType};
use ccm_fetch::{DnsError, DnsRecord, ask_name_server, resolve_name};
use ccm_host::NameLookupError;
use ccm_model::error_layers;

use super::CheckScope;
use super::observation::{Observation, no_attribute, unreadable, within};

/// Question of a rule.
pub(super) struct Question<'r> {
    pub(super) record: Option<RecordType>,
    pub(super) name: &'r str,
    pub(super) server: Option<&'r str>,
}

/// Addresses, or other records, of a name.
pub(super) struct Records(Vec<String>);

impl Observation for Records {
    fn fact(&self, attribute: Attribute) -> Result<Fact, FactError> {
        match attribute {
            Attribute::Resolvable => Ok((!self.0.is_empty()).into()),
            Attribute::Addrs => Ok(self.0.iter().cloned().collect()),
            other => Err(no_attribute(other)),
        }
    }
}

impl Question<'_> {
    /// Asks the question. Only an answer shows that a name does not exist.
    pub(super) async fn observe(
        &self,
        limit: Duration,
        scope: &CheckScope<'_>,
    ) -> Result<Records, FactError> {
        let Some(server) = self.server else {
            return match within(limit, scope, resolve_name(self.name)).await? {
                Ok(addresses) => Ok(Records(addresses.iter().map(ToString::to_string).collect())),
                Err(NameLookupError::Unknown) => Ok(Records(Vec::new())),
                Err(error) => Err(unreadable(error.to_string())),
            };
        };
        let failed = |error: DnsError| unreadable(error_layers(&error).join(": "));
        let asked = async {
            let ask = |record| ask_name_server(server, self.name, record);
            if let Some(record) = self.record {
                return ask(number_of(record)).await;
            }
            let (mut old, new) = tokio::try_join!(ask(DnsRecord::A), ask(DnsRecord::Aaaa))?;
            old.extend(new);
            Ok(old)
        };
        within(limit, scope, asked).await?.map(Records).map_err(failed)
    }
}

fn number_of(record: RecordType) -> DnsRecord {
    match record {
        RecordType::A => DnsRecord::A,
        RecordType::Aaaa => DnsRecord::Aaaa,
        RecordType::Caa => DnsRecord::Caa,
        RecordType::Cname => DnsRecord::Cname,
        RecordType::Mx => DnsRecord::Mx,
        RecordType::Ns => DnsRecord::Ns,
        RecordType::Ptr => DnsRecord::Ptr,
        RecordType::Srv => DnsRecord::Srv,
        RecordType::Txt => DnsRecord::Txt,
    }
}
