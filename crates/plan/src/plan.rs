//! Result of a construction: a tree, or each rank's program.

use crate::error::PlanError;
use std::borrow::Cow;
use std::sync::Arc;
use tuwtree_model::{ClosedSet, Operation, Order, Problem, Rank, Tree};
use tuwtree_schedule::{OfTreeError, Schedule};

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
    Programs(Arc<Schedule>),
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
            Plan::Programs(schedule) => Err(Treeless { operation: schedule.task().operation }),
        }
    }

    /// The tree, without a copy of it.
    ///
    /// # Errors
    /// [`Treeless`].
    pub fn into_tree(self) -> Result<Tree, Treeless> {
        match self {
            Plan::Tree(tree) => Ok(tree),
            Plan::Programs(schedule) => Err(Treeless { operation: schedule.task().operation }),
        }
    }

    /// Each rank's actions: the programs, or those of the tree for the problem that it was built for.
    ///
    /// # Errors
    /// As [`Schedule::of_tree`].
    pub fn schedule(&self, problem: &Problem) -> Result<Cow<'_, Schedule>, OfTreeError> {
        match self {
            Plan::Tree(tree) => Schedule::of_tree(tree, problem).map(Cow::Owned),
            Plan::Programs(schedule) => Ok(Cow::Borrowed(schedule)),
        }
    }

    /// The root, if there is one.
    pub fn root(&self) -> Option<Rank> {
        match self {
            Plan::Tree(tree) => Some(tree.root()),
            Plan::Programs(schedule) => schedule.task().root,
        }
    }

    /// The order that it keeps.
    pub fn order(&self, operation: Operation) -> Order {
        match self {
            Plan::Tree(tree) => Order::of(tree, operation),
            Plan::Programs(schedule) => schedule.task().order,
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
        Plan::Programs(Arc::new(schedule))
    }
}
