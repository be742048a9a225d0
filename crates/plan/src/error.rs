//! Why there is no tree, or no answer.

use crate::expense::Effort;
use tuwtree_model::TimeError;
use tuwtree_treegen::ConstructionError;

/// Why a question has no answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PlanError {
    /// The question is not one: a method that does not admit the costs, say.
    #[error("{0}")]
    Misused(String),
    /// Something cannot be computed.
    #[error("{0}")]
    Failed(String),
    /// Whoever watches broke off.
    #[error("interrupted")]
    Interrupted,
}

impl PlanError {
    /// A failure in its own words.
    pub(crate) fn failed(error: impl std::fmt::Display) -> PlanError {
        PlanError::Failed(error.to_string())
    }
}

impl From<TimeError> for PlanError {
    fn from(error: TimeError) -> PlanError {
        PlanError::failed(error)
    }
}

/// Why a construction has no tree.
#[derive(Clone, Debug, PartialEq)]
pub enum NoTree {
    /// It does not suit the problem, or takes more memory or time than is spent on what was not asked
    /// for by name.
    Skipped(String),
    /// It cannot be built.
    Failed(PlanError),
}

impl NoTree {
    /// A failure in its own words.
    pub(crate) fn failed(error: impl std::fmt::Display) -> NoTree {
        NoTree::Failed(PlanError::failed(error))
    }
}

impl Effort {
    /// What it means that a construction does not suit, or that memory or time do not suffice.
    pub(crate) fn refused(self, reason: impl std::fmt::Display) -> NoTree {
        match self {
            Effort::Moderate | Effort::Quick => NoTree::Skipped(reason.to_string()),
            Effort::Any => NoTree::failed(reason),
        }
    }

    /// What it means that a tree has no completion time: without a link, there may be other trees.
    pub(crate) fn unlinked(self, error: TimeError) -> NoTree {
        match error {
            TimeError::NoLink { .. } | TimeError::Isolated { .. } => self.refused(error),
            TimeError::NotExact | TimeError::NotFinite => NoTree::failed(error),
        }
    }

    /// What it means that a construction has no tree.
    pub(crate) fn unbuilt(self, error: ConstructionError) -> NoTree {
        match error {
            ConstructionError::Time(error) => self.unlinked(error),
            ConstructionError::TooManyRoots { .. }
            | ConstructionError::Rootless { .. }
            | ConstructionError::NeedsBlocks { .. }
            | ConstructionError::ThirdSize { .. } => self.refused(error),
        }
    }
}
