//! What may run next.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ccm_model::ResourceIndex;

use crate::Graph;

/// Hands out resources in the order of a run: dependencies first, and among what is free, manifest order.
///
/// More than one may be handed out before the first of them is finished.
#[derive(Clone, Debug)]
pub struct ReadySet<'graph> {
    graph: &'graph Graph,
    free: BinaryHeap<Reverse<ResourceIndex>>,
    progress: Vec<Progress>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    /// This many of its dependencies are not finished.
    Waiting(usize),
    /// Handed out and not finished.
    Running,
    Finished,
}

impl Graph {
    /// Begins the walk over all resources.
    ///
    /// Members of a cycle, and what depends on them, never become free.
    pub fn ready_set(&self) -> ReadySet<'_> {
        let all = (0..self.count()).map(ResourceIndex::from_usize);
        let progress: Vec<_> =
            all.clone().map(|index| Progress::Waiting(self.dependencies(index).count())).collect();
        let free = all.filter(|index| progress[index.get()] == Progress::Waiting(0)).map(Reverse).collect();
        ReadySet { graph: self, free, progress }
    }

    /// All resources in the order of a run that takes one after the other, but what a cycle holds back.
    pub fn order(&self) -> Vec<ResourceIndex> {
        let mut ready = self.ready_set();
        let mut order = Vec::with_capacity(self.count());
        while let Some(index) = ready.next() {
            ready.finish(index);
            order.push(index);
        }
        order
    }
}

impl ReadySet<'_> {
    /// Takes the first resource, in manifest order, that waits for nothing.
    ///
    /// `None` means that nothing is free now: all were handed out, or the rest waits for a
    /// [`ReadySet::finish`].
    #[expect(
        clippy::should_implement_trait,
        reason = "`None` is no end: `finish` may make more resources free"
    )]
    pub fn next(&mut self) -> Option<ResourceIndex> {
        let Reverse(index) = self.free.pop()?;
        self.progress[index.get()] = Progress::Running;
        Some(index)
    }

    /// Says that a resource had its turn, whatever became of it; what waited for nothing else is free then.
    ///
    /// Does nothing for one that is not handed out or is finished already.
    pub fn finish(&mut self, index: ResourceIndex) {
        if self.progress[index.get()] != Progress::Running {
            return;
        }
        self.progress[index.get()] = Progress::Finished;
        for dependant in self.graph.dependants(index) {
            if let Progress::Waiting(unmet) = &mut self.progress[dependant.get()] {
                *unmet -= 1;
                if *unmet == 0 {
                    self.free.push(Reverse(dependant));
                }
            }
        }
    }
}
