//! Adaptive binomial trees: at each join the data decides who sends.

use crate::ConstructionError;
use crate::error::check_rooted;
use crate::join::JoinRule;
use crate::subcubes::{Subcube, holding, join_subcubes};
use tuwtree_model::{Problem, Time, Tree};

/// Sending side among two adjacent subcubes.
///
/// Under each rule, ties go to the right: the right subcube receives. A subcube that holds a given
/// root always receives (TUW Lemma 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[derive(strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "kebab-case")]
pub enum AdaptiveRule {
    /// The direction with the smaller completion time of the join. It alone looks at the costs (of
    /// the pair that the join would link, where each has its own), and for homogeneous ones
    /// reproduces every published time and root, for gamma = 0 and gamma = beta.
    #[default]
    CompletionTime,
    /// The side with the smaller gather time `sum of m_i over i != r` sends, ties by the smaller
    /// amount of data. For gamma = 0 its own root never waits: TUW Lemma 1.
    GatherTime,
    /// The side with less data sends. For gamma = beta its own root never waits: TUW Lemma 4,
    /// OPT Proposition 1. Differs: a lone last rank always sends to a subcube of several.
    /// In an ordered tree it could copy its own block only after it has received (OPT eq. 6),
    /// which Lemma 4, where every copy comes first, does not count, and which would break its bound.
    DataSize,
}

/// The adaptive binomial tree for this problem, with its root or the one that the rule yields (which
/// need not be the best of all roots).
///
/// # Errors
/// [`ConstructionError::Time`] for [`AdaptiveRule::CompletionTime`]: a time that cannot be stated, or
/// a join without a link in either direction.
///
/// # Complexity
/// O(p) time and space.
///
/// # Source
/// TUW Lemmas 1, 2 and 4, OPT Proposition 1. With the rule's own root, its assumption on gamma
/// and positive blocks, the completion time is at most
/// `ceil(log2 p) alpha + beta (m - m_r) + gamma m_r`.
pub fn adaptive(problem: &Problem, rule: AdaptiveRule) -> Result<Tree, ConstructionError> {
    check_rooted(problem)?;
    let (ranks, root) = (problem.ranks(), problem.root().given());
    let rule = JoinRule::new(rule, problem.operation(), problem.costs());
    let join = |left: &Subcube<Time>, right: &Subcube<Time>| {
        let held = holding(root, left, right);
        rule.decide(held, &left.side(problem, left.state), &right.side(problem, right.state))
    };
    Ok(join_subcubes(ranks, |_| Time::ZERO, join)?)
}
