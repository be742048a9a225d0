//! Missing trees, and missing answers.

use crate::expense::Effort;
use tuwtree_model::TimeError;
use tuwtree_treegen::ConstructionError;

/// A question without an answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PlanError {
    /// The question is not one: a method that does not admit the costs, say.
    #[error("{0}")]
    Misused(String),
    /// Something cannot be computed.
    #[error("{0}")]
    Failed(String),
    /// The observer cancelled it.
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

/// A construction without a tree.
#[derive(Clone, Debug, PartialEq)]
pub enum NoTree {
    /// It does not suit the problem, or takes more memory or time than is spent on a construction that was not named.
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
    /// Error for a construction that does not suit, or for lack of memory or time.
    pub(crate) fn refused(self, reason: impl std::fmt::Display) -> NoTree {
        match self {
            Effort::Moderate | Effort::Quick => NoTree::Skipped(reason.to_string()),
            Effort::Any => NoTree::failed(reason),
        }
    }

    /// Error for a tree without a completion time: without a link, there may be other trees.
    pub(crate) fn unlinked(self, error: TimeError) -> NoTree {
        match error {
            TimeError::NoLink { .. } | TimeError::Isolated { .. } => self.refused(error),
            TimeError::NotExact | TimeError::NotFinite => NoTree::failed(error),
        }
    }

    /// Error for a construction without a tree.
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
