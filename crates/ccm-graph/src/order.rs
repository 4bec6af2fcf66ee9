//! The order of a run.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ccm_model::ResourceIndex;

use crate::Graph;

impl Graph {
    /// Returns the order of a run: dependencies first, and manifest order among resources that are free to
    /// run. Members of a cycle, and resources that depend on one, are left out.
    pub fn order(&self) -> Vec<ResourceIndex> {
        let all = (0..self.count()).map(ResourceIndex::from_usize);
        let mut unmet: Vec<usize> = all.clone().map(|index| self.dependencies(index).count()).collect();
        let mut free: BinaryHeap<_> = all.filter(|index| unmet[index.get()] == 0).map(Reverse).collect();
        let mut order = Vec::with_capacity(self.count());
        while let Some(Reverse(index)) = free.pop() {
            order.push(index);
            for dependant in self.dependants(index) {
                unmet[dependant.get()] -= 1;
                if unmet[dependant.get()] == 0 {
                    free.push(Reverse(dependant));
                }
            }
        }
        order
    }
}
