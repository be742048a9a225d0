//! Advice on the construction for a problem: from a comparison's computed times, not from rules of
//! thumb.

use crate::catalogue;
use crate::comparison::{Comparison, Outcome, standing};
use tuwtree_model::{BlockSizes, Construction, Order, Problem, Rank, Root, Time, judged_time};

/// Recommendation among a comparison's trees.
pub struct Advice<'a> {
    /// The comparison.
    pub comparison: &'a Comparison,
    /// The tree to use.
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

/// Price of a plan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Price {
    /// Time in which the root hands it out: a scatter of 160 bytes to each rank along a binomial tree.
    pub time: Time,
    /// Number of calls that gain as much against the library's own, rounded up.
    pub calls: f64,
}

/// Bytes of a rank's part of a plan: 20 words, as the executor sends them.
const PLAN_BYTES: u64 = 160;

/// The trees that a tree is measured against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
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

/// The fastest outcome, unpacking included: the one rule of recommendation. Of equally fast ones, one that takes least
/// without unpacking, then one that is built online, then one that is proven to be the best of its class.
pub fn recommended(outcomes: Vec<&Outcome>) -> Option<&Outcome> {
    outcomes.into_iter().min_by_key(|one| (one.unpacked, one.time(), standing(one)))
}

/// Simplest outcome within [`Advice::SIMPLER_PERCENT`] of the fastest, unpacking
/// included.
pub(crate) fn simplest(outcomes: Vec<&Outcome>) -> Option<&Outcome> {
    let fastest = outcomes.iter().map(|outcome| outcome.unpacked).min()?;
    let enough = fastest.units() * (1.0 + Advice::SIMPLER_PERCENT / 100.0);
    let near = outcomes.into_iter().filter(|outcome| outcome.unpacked.units() <= enough);
    near.min_by_key(|outcome| (Trouble::of(outcome), outcome.unpacked))
}

impl<'a> Advice<'a> {
    /// Tolerance, in per cent, for a simpler tree beside the fastest.
    pub const SIMPLER_PERCENT: f64 = 2.0;

    /// Advice to use the comparison's recommended outcome.
    pub fn new(comparison: &'a Comparison) -> Advice<'a> {
        Advice { comparison, chosen: comparison.recommended() }
    }

    /// Advice to use a simpler tree that is nearly as fast, if there is one.
    pub fn simpler(comparison: &'a Comparison) -> Option<Advice<'a>> {
        let chosen = comparison.simplest();
        let is_simpler = Trouble::of(chosen) < Trouble::of(comparison.recommended());
        is_simpler.then_some(Advice { comparison, chosen })
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

    /// Price of the chosen plan, where a root hands it out for a gather or scatter that it makes faster than the library's
    /// own call.
    pub fn price(&self) -> Option<Price> {
        let (problem, root) = (&self.comparison.problem, self.root()?);
        let gain = self.comparison.baseline()?.time.units() - self.chosen.unpacked.units();
        if gain <= 0.0 || matches!(Trouble::of(self.chosen), Trouble::Online(_)) {
            return None;
        }
        let parts = BlockSizes::new(vec![PLAN_BYTES; problem.ranks()]).ok()?;
        let scatter = Problem::scatter(&parts, problem.stated_costs().clone()).ok()?;
        let scatter = scatter.with_root(Root::Given(root)).ok()?;
        let tree = tuwtree_treegen::oblivious(&scatter).ok()?;
        let time = judged_time(&tree, &scatter).ok()?;
        Some(Price { time, calls: (time.units() / gain).ceil() })
    }

    /// No tree of whatever order completes earlier.
    pub fn bound(&self) -> Time {
        self.comparison.bound
    }
}
