//! Pending refreshes of earlier runs, by the names of resources.

use std::collections::HashMap;

use ccm_model::ResourceId;

use crate::ledger::{Ledger, LedgerResource, Pair, Pending, PendingByPair, hash};

/// Pending refreshes of earlier runs. They are found whether their names were redacted or not.
pub(super) struct Earlier<'l> {
    pending: &'l PendingByPair,
    salt: &'l str,
    /// Pairs with a redacted name, by the hashes of both names.
    redacted: HashMap<(String, String), &'l Pair>,
}

impl<'l> Earlier<'l> {
    pub(super) fn new(ledger: &'l Ledger) -> Self {
        let pending = ledger.earlier();
        let is_redacted = |pair: &&Pair| pair.subscriber.hash.is_some() || pair.source.hash.is_some();
        let by =
            |named: &LedgerResource| named.hash.clone().unwrap_or_else(|| hash(&named.shown, ledger.salt()));
        let redacted = pending.keys().filter(is_redacted);
        let redacted = redacted.map(|pair| ((by(&pair.subscriber), by(&pair.source)), pair)).collect();
        Self { pending, salt: ledger.salt(), redacted }
    }

    pub(super) fn find(
        &self,
        subscriber: &ResourceId,
        source: &ResourceId,
    ) -> Option<(&'l Pair, &'l Pending)> {
        let plain = |id: &ResourceId| LedgerResource { shown: id.clone(), hash: None };
        let pair = Pair { subscriber: plain(subscriber), source: plain(source) };
        self.pending.get_key_value(&pair).or_else(|| {
            if self.redacted.is_empty() {
                return None;
            }
            let pair = self.redacted.get(&(hash(subscriber, self.salt), hash(source, self.salt)))?;
            self.pending.get_key_value(*pair)
        })
    }

    /// Finds a refresh with redacted names but without hashes. It is pending for every pair that looks alike.
    pub(super) fn find_alike(&self, mut pair: Pair) -> Option<(&'l Pair, &'l Pending)> {
        if pair.subscriber.hash.take().is_none() & pair.source.hash.take().is_none() {
            return None;
        }
        self.pending.get_key_value(&pair)
    }
}
