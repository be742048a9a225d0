//! Which construction to use for a problem: from a comparison's computed times, not from rules of
//! thumb.

use crate::catalogue;
use crate::comparison::{Comparison, Outcome, standing};
use tuwtree_model::{Construction, Order, Rank, Time};

/// Which of a comparison's trees to use.
pub struct Advice<'a> {
    /// What it is about.
    pub comparison: &'a Comparison,
    /// The simplest tree of those that are fast enough.
    pub chosen: &'a Outcome,
}

/// How complex a tree is to use, the simplest first: trees built online, then trees built offline that
/// keep less and less order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trouble {
    /// Built by the processors themselves.
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

impl<'a> Advice<'a> {
    /// How much longer than the fastest a simpler tree may take by default, in percent.
    pub const TOLERANCE_PERCENT: f64 = 2.0;

    /// The advice to use the simplest of the trees that take at most this share longer by the judge than
    /// the fastest of the comparison, unpacking included. Where latency overlaps, of the trees that keep the
    /// order that was asked for.
    pub fn new(comparison: &'a Comparison, tolerance: f64) -> Advice<'a> {
        let admitted = comparison.admitted();
        let fastest = admitted.iter().map(|outcome| outcome.judged_unpacked).min();
        let enough = fastest.expect("there is a tree").units() * (1.0 + tolerance);
        let simplest = admitted
            .iter()
            .copied()
            .filter(|outcome| outcome.judged_unpacked.units() <= enough)
            .min_by_key(|outcome| (Trouble::of(outcome), outcome.judged_unpacked));
        let simplest = simplest.expect("the fastest tree is fast enough");
        // Where another one takes exactly as long, and its class is searched to the end, that one.
        let proven = admitted.into_iter().find(|outcome| {
            let is_alike = outcome.order == simplest.order
                && (outcome.judged_unpacked, outcome.time())
                    == (simplest.judged_unpacked, simplest.time());
            is_alike && standing(outcome) < standing(simplest)
        });
        Advice { comparison, chosen: proven.unwrap_or(simplest) }
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
        outcomes.filter(fits).min_by_key(|&one| (one.judged_unpacked, is_other(one)))
    }

    /// How many times as long a tree takes as the chosen one; `None` if that is no number.
    pub fn factor(&self, other: &Outcome) -> Option<f64> {
        let (other, chosen) = (other.judged_unpacked.units(), self.chosen.judged_unpacked.units());
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
