//! Advice on the construction for a problem: from a comparison's computed times, not from rules of
//! thumb.

use crate::catalogue;
use crate::comparison::{Comparison, Outcome, standing};
use tuwtree_model::{Construction, Order, Rank, Time};

/// Recommendation among a comparison's trees.
pub struct Advice<'a> {
    /// The comparison.
    pub comparison: &'a Comparison,
    /// The simplest tree that is fast enough.
    pub chosen: &'a Outcome,
}

/// Complexity of a tree's use, the simplest first: trees built online, then trees built offline that keep less and less
/// order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trouble {
    /// Built by the ranks themselves.
    Online(Construction),
    /// Planned beforehand.
    Offline(Order, Construction),
}

impl Trouble {
    /// The trouble of an outcome.
    pub fn of(outcome: &Outcome) -> Trouble {
        let construction = outcome.construction;
        match catalogue::row(construction).is_online {
            true => Trouble::Online(construction),
            false => Trouble::Offline(outcome.order, construction),
        }
    }
}

/// The trees that a tree is measured against.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, strum::VariantArray, strum::IntoStaticStr, strum::EnumString,
)]
#[strum(serialize_all = "kebab-case")]
pub enum Rival {
    /// The star.
    Linear,
    /// The adaptive binomial tree.
    Adaptive,
    /// The fastest that keeps rank order.
    Ordered,
    /// The fastest of all that were built.
    Best,
}

/// The simplest outcome of those that take at most this share longer than the fastest, unpacking included.
///
/// Of two that take exactly as long and keep the same order, the one whose class is searched to the end.
pub fn recommended(outcomes: Vec<&Outcome>, tolerance: f64) -> Option<&Outcome> {
    let fastest = outcomes.iter().map(|outcome| outcome.unpacked).min()?;
    let enough = fastest.units() * (1.0 + tolerance);
    let near = outcomes.iter().copied().filter(|outcome| outcome.unpacked.units() <= enough);
    let simplest = near.min_by_key(|outcome| (Trouble::of(outcome), outcome.unpacked))?;
    let proven = outcomes.into_iter().find(|outcome| {
        let is_alike = outcome.order == simplest.order
            && (outcome.unpacked, outcome.time()) == (simplest.unpacked, simplest.time());
        is_alike && standing(outcome) < standing(simplest)
    });
    Some(proven.unwrap_or(simplest))
}

impl<'a> Advice<'a> {
    /// Percentage by which a simpler tree may be slower than the fastest by default.
    pub const TOLERANCE_PERCENT: f64 = 2.0;

    /// The advice to use the simplest of the trees that take at most this share longer by the judge than
    /// the fastest of the comparison, unpacking included. Where latency overlaps, of the trees that keep the
    /// order that was asked for.
    pub fn new(comparison: &'a Comparison, tolerance: f64) -> Advice<'a> {
        let chosen = recommended(comparison.admitted(), tolerance);
        Advice { comparison, chosen: chosen.expect("a comparison has at least one outcome") }
    }

    /// The tree that is called so, if it was built.
    pub fn rival(&self, rival: Rival) -> Option<&'a Outcome> {
        let outcomes = self.comparison.outcomes.iter();
        let fits = |outcome: &&Outcome| match rival {
            Rival::Linear => outcome.construction == Construction::Linear,
            Rival::Adaptive => outcome.construction == Construction::Adaptive,
            Rival::Ordered => outcome.order == Order::Ordered,
            Rival::Best => true,
        };
        // Of equally fast ones the chosen tree, if it is one.
        let is_other = |outcome: &Outcome| !std::ptr::eq(outcome, self.chosen);
        outcomes.filter(fits).min_by_key(|&one| (one.unpacked, is_other(one)))
    }

    /// Ratio of a tree's time to the chosen one's; `None` if that is no number.
    pub fn factor(&self, other: &Outcome) -> Option<f64> {
        let (other, chosen) = (other.unpacked.units(), self.chosen.unpacked.units());
        match chosen == 0.0 {
            true => (other == 0.0).then_some(1.0),
            false => Some(other / chosen),
        }
    }

    /// The root of the chosen plan, if the operation has one.
    pub fn root(&self) -> Option<Rank> {
        self.chosen.built.plan.root()
    }

    /// No tree of whatever order completes earlier.
    pub fn bound(&self) -> Time {
        self.comparison.bound
    }
}
