//! Subtrees: units of gathering.

/// Part of the facts that is gathered as a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Subtree {
    /// `host.info`.
    HostInfo,
    /// `cpu.info`.
    CpuInfo,
    /// `memory.virtual`.
    MemoryVirtual,
    /// `memory.swap`.
    MemorySwap,
    /// `network`.
    Network,
    /// `partition.partitions`.
    PartitionList,
    /// `partition.usage`, which queries file systems.
    PartitionUsage,
}

impl Subtree {
    /// All subtrees.
    pub const ALL: [Self; 7] = [
        Self::HostInfo,
        Self::CpuInfo,
        Self::MemoryVirtual,
        Self::MemorySwap,
        Self::Network,
        Self::PartitionList,
        Self::PartitionUsage,
    ];

    /// Path below `facts`.
    pub fn path(self) -> &'static [&'static str] {
        match self {
            Self::HostInfo => &["host", "info"],
            Self::CpuInfo => &["cpu", "info"],
            Self::MemoryVirtual => &["memory", "virtual"],
            Self::MemorySwap => &["memory", "swap"],
            Self::Network => &["network"],
            Self::PartitionList => &["partition", "partitions"],
            Self::PartitionUsage => &["partition", "usage"],
        }
    }

    /// Returns the subtrees that a path below `facts` needs: all for an empty path or one that is not known
    /// yet, none for one that leads to no gathered fact.
    pub fn needed_for(path: &[&str]) -> Subtrees {
        let meets = |subtree: &Self| subtree.path().iter().zip(path).all(|(own, requested)| own == requested);
        Self::ALL.into_iter().filter(meets).collect()
    }
}

/// Set of subtrees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Subtrees(u8);

impl Subtrees {
    /// Empty set.
    pub const NONE: Self = Self(0);

    /// Set of all subtrees.
    pub fn all() -> Self {
        Subtree::ALL.into_iter().collect()
    }

    /// Union of two sets.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns `true` if the set holds a subtree.
    pub fn contains(self, subtree: Subtree) -> bool {
        self.0 & bit(subtree) != 0
    }

    /// Returns `true` if the set is empty.
    pub fn is_empty(self) -> bool {
        self == Self::NONE
    }
}

fn bit(subtree: Subtree) -> u8 {
    1 << subtree as u8
}

impl From<Subtree> for Subtrees {
    fn from(subtree: Subtree) -> Self {
        Self(bit(subtree))
    }
}

impl FromIterator<Subtree> for Subtrees {
    fn from_iter<I: IntoIterator<Item = Subtree>>(subtrees: I) -> Self {
        subtrees.into_iter().fold(Self::NONE, |all, subtree| all.union(subtree.into()))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_path_needs_the_subtrees_around_it() {
        use Subtree::{CpuInfo, HostInfo, MemorySwap, MemoryVirtual, Network, PartitionList, PartitionUsage};
        let table: [(&[&str], &[Subtree]); 15] = [
            (&[], &Subtree::ALL),
            (&["host"], &[HostInfo]),
            (&["host", "info"], &[HostInfo]),
            (&["host", "info", "os"], &[HostInfo]),
            (&["host", "role"], &[]),
            (&["cpu", "info", "0", "mhz"], &[CpuInfo]),
            (&["memory"], &[MemoryVirtual, MemorySwap]),
            (&["memory", "virtual", "total"], &[MemoryVirtual]),
            (&["memory", "swap", "info", "total"], &[MemorySwap]),
            (&["network", "default_ipv4"], &[Network]),
            (&["partition"], &[PartitionList, PartitionUsage]),
            (&["partition", "partitions", "#"], &[PartitionList]),
            (&["partition", "usage"], &[PartitionUsage]),
            (&["custom"], &[]),
            (&["Host"], &[]),
        ];
        for (path, expected) in table {
            assert_eq!(Subtree::needed_for(path), expected.iter().copied().collect(), "{path:?}");
        }
    }

    #[test]
    fn subtrees_are_system_facts() {
        let roots: BTreeSet<&str> = Subtree::ALL.iter().map(|subtree| subtree.path()[0]).collect();
        assert_eq!(roots, BTreeSet::from(ccm_model::SYSTEM_FACTS));
    }

    #[test]
    fn sets_hold_their_subtrees() {
        let both = Subtrees::from(Subtree::HostInfo).union(Subtree::PartitionUsage.into());
        for subtree in Subtree::ALL {
            let expected = matches!(subtree, Subtree::HostInfo | Subtree::PartitionUsage);
            assert_eq!(both.contains(subtree), expected, "{subtree:?}");
            assert!(Subtrees::all().contains(subtree) && !Subtrees::NONE.contains(subtree));
        }
        assert!(Subtrees::NONE.is_empty() && !both.is_empty());
    }
}
