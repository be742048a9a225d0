//! Result of a construction: a tree, or each rank's program.

use crate::error::PlanError;
use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, LazyLock};
use tuwtree_collective::Outline;
use tuwtree_model::{ClosedSet, Operation, Order, Problem, Rank, Tree};
use tuwtree_schedule::{OfTreeError, Schedule, Task};

/// The answer to a problem, without times: a tree or programs.
///
/// Operations with a root go along trees. Others, and those in which data is cut into pieces that take
/// different ways, have a program for each rank.
///
/// A copy of programs shares them: O(1).
#[derive(Clone, Debug, PartialEq)]
pub enum Plan {
    /// A tree over all ranks of the problem.
    Tree(Tree),
    /// Each rank's actions, on the problem's ports.
    Programs(Arc<RankPrograms>),
}

/// A schedule that may be listed only when it is first looked at: messages of all pairs of thousands of ranks take
/// gigabytes.
pub struct RankPrograms {
    schedule: LazyLock<Schedule, Box<dyn FnOnce() -> Schedule + Send>>,
    operation: Operation,
    root: Option<Rank>,
    order: Order,
    /// Figures of a schedule that is listed later.
    outline: Option<Outline>,
}

impl RankPrograms {
    /// The programs of an operation without a root, with these figures: to be listed later.
    pub(crate) fn later(
        (operation, order): (Operation, Order),
        outline: Outline,
        list: impl FnOnce() -> Schedule + Send + 'static,
    ) -> RankPrograms {
        let schedule = LazyLock::new(Box::new(list) as Box<_>);
        let (root, outline) = (None, Some(outline));
        RankPrograms { schedule, operation, root, order, outline }
    }

    /// The most actions of a rank.
    ///
    /// # Complexity
    /// O(p) at most.
    pub fn most_actions(&self) -> usize {
        self.outline.map_or_else(|| self.schedule.most_actions(), |one| one.most_actions)
    }

    /// The most bytes that a rank sends.
    ///
    /// # Complexity
    /// O(1) for each piece of each action at most.
    pub fn most_bytes_sent(&self) -> u64 {
        self.outline.map_or_else(|| self.schedule.most_bytes_sent(), |one| one.most_bytes_sent)
    }
}

impl Deref for RankPrograms {
    type Target = Schedule;

    fn deref(&self) -> &Schedule {
        &self.schedule
    }
}

impl PartialEq for RankPrograms {
    fn eq(&self, other: &RankPrograms) -> bool {
        **self == **other
    }
}

impl fmt::Debug for RankPrograms {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.schedule, formatter)
    }
}

/// A tree is asked for where there are only programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} has no tree: each rank has a program of its own", operation.name())]
pub struct Treeless {
    /// The operation that is performed.
    pub operation: Operation,
}

impl From<Treeless> for PlanError {
    fn from(error: Treeless) -> PlanError {
        PlanError::Misused(error.to_string())
    }
}

impl Plan {
    /// The tree.
    ///
    /// # Errors
    /// [`Treeless`].
    pub fn tree(&self) -> Result<&Tree, Treeless> {
        match self {
            Plan::Tree(tree) => Ok(tree),
            Plan::Programs(schedule) => Err(Treeless { operation: schedule.operation }),
        }
    }

    /// The tree, without a copy of it.
    ///
    /// # Errors
    /// [`Treeless`].
    pub fn into_tree(self) -> Result<Tree, Treeless> {
        match self {
            Plan::Tree(tree) => Ok(tree),
            Plan::Programs(schedule) => Err(Treeless { operation: schedule.operation }),
        }
    }

    /// Each rank's actions: the programs, or those of the tree for the problem that it was built for.
    ///
    /// # Errors
    /// As [`Schedule::of_tree`].
    pub fn schedule(&self, problem: &Problem) -> Result<Cow<'_, Schedule>, OfTreeError> {
        match self {
            Plan::Tree(tree) => Schedule::of_tree(tree, problem).map(Cow::Owned),
            Plan::Programs(schedule) => Ok(Cow::Borrowed(&***schedule)),
        }
    }

    /// The root, if there is one.
    pub fn root(&self) -> Option<Rank> {
        match self {
            Plan::Tree(tree) => Some(tree.root()),
            Plan::Programs(schedule) => schedule.root,
        }
    }

    /// The order that it keeps.
    pub fn order(&self, operation: Operation) -> Order {
        match self {
            Plan::Tree(tree) => Order::of(tree, operation),
            Plan::Programs(schedule) => schedule.order,
        }
    }
}

impl From<Tree> for Plan {
    fn from(tree: Tree) -> Plan {
        Plan::Tree(tree)
    }
}

impl From<Schedule> for Plan {
    fn from(schedule: Schedule) -> Plan {
        let Task { operation, root, order, .. } = *schedule.task();
        let schedule = LazyLock::new(Box::new(|| schedule) as Box<_>);
        RankPrograms { schedule, operation, root, order, outline: None }.into()
    }
}

impl From<RankPrograms> for Plan {
    fn from(programs: RankPrograms) -> Plan {
        Plan::Programs(Arc::new(programs))
    }
}
