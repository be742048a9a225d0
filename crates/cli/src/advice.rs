//! Which construction to use for a problem, and what that gains: from a comparison's computed times,
//! not from rules of thumb.

use crate::comparison::{Comparison, Optimality, Outcome};
use crate::construction::Construction;
use crate::output::text;
use std::cmp::Ordering;
use tuwtree_model::{Operation, Order, Rank, Time};

/// How much longer than the fastest a tree may take that is less trouble, in percent, if nothing else
/// is said.
pub(crate) const TOLERANCE_PERCENT: f64 = 2.0;

/// Which of a comparison's trees to use.
pub(crate) struct Advice<'a> {
    comparison: &'a Comparison,
    /// The tree that is the least trouble of those that are fast enough.
    pub(crate) chosen: &'a Outcome,
}

/// The time by which trees are judged: with the unpack step of the root, where it needs one.
fn judged(outcome: &Outcome) -> Time {
    outcome.unpacked
}

/// How much trouble a tree is, the least first: what libraries do, what is built online, and what is
/// built offline and keeps ever less order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Trouble {
    Online(Construction),
    Offline(Order, Construction),
}

impl Trouble {
    fn of(outcome: &Outcome) -> Trouble {
        match outcome.construction {
            Construction::Linear | Construction::Oblivious | Construction::Adaptive => {
                Trouble::Online(outcome.construction)
            }
            construction => Trouble::Offline(outcome.order, construction),
        }
    }
}

/// The trees that a tree is measured against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rival {
    Linear,
    Adaptive,
    /// The fastest that keeps rank order.
    Ordered,
    /// The fastest of all that were built.
    Best,
}

impl Rival {
    pub(crate) const ALL: [Rival; 4] =
        [Rival::Linear, Rival::Adaptive, Rival::Ordered, Rival::Best];

    /// The name in JSON.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Rival::Linear => "linear",
            Rival::Adaptive => "adaptive",
            Rival::Ordered => "ordered",
            Rival::Best => "best",
        }
    }

    /// What it is, to begin a sentence with.
    fn words(self, operation: Operation) -> &'static str {
        match self {
            Rival::Linear if Operation::IRREGULAR.contains(&operation) => {
                "Linear, what MPI libraries do today,"
            }
            Rival::Linear => "Linear",
            Rival::Adaptive => "The adaptive binomial tree, built online,",
            Rival::Ordered => "The best tree here that keeps rank order",
            Rival::Best => "The best tree here",
        }
    }
}

impl<'a> Advice<'a> {
    /// The tree that is the least trouble of those that take at most this share longer than the
    /// fastest of the comparison, unpacking included.
    pub(crate) fn new(comparison: &'a Comparison, tolerance: f64) -> Advice<'a> {
        let fastest = comparison.outcomes.iter().map(judged).min();
        let enough = fastest.expect("there is a tree").units() * (1.0 + tolerance);
        let chosen = comparison
            .outcomes
            .iter()
            .filter(|outcome| judged(outcome).units() <= enough)
            .min_by_key(|outcome| (Trouble::of(outcome), judged(outcome)));
        Advice { comparison, chosen: chosen.expect("the fastest tree is fast enough") }
    }

    /// The tree that is called so, if it was built.
    pub(crate) fn rival(&self, rival: Rival) -> Option<&'a Outcome> {
        let outcomes = self.comparison.outcomes.iter();
        let fits = |outcome: &&Outcome| match rival {
            Rival::Linear => outcome.construction == Construction::Linear,
            Rival::Adaptive => outcome.construction == Construction::Adaptive,
            Rival::Ordered => outcome.order == Order::Ordered,
            Rival::Best => true,
        };
        outcomes.filter(fits).min_by_key(|outcome| judged(outcome))
    }

    /// How many times as long a tree takes as the chosen one; `None` if that is no number.
    pub(crate) fn factor(&self, other: &Outcome) -> Option<f64> {
        let (other, chosen) = (judged(other).units(), judged(self.chosen).units());
        match chosen == 0.0 {
            true => (other == 0.0).then_some(1.0),
            false => Some(other / chosen),
        }
    }

    /// The advice in a sentence: what to use, and how close that is to the best.
    pub(crate) fn sentence(&self) -> String {
        format!("Use {}", self.to_use())
    }

    /// What to use, and how close that is to the best: the end of a sentence.
    pub(crate) fn to_use(&self) -> String {
        let chosen = self.chosen;
        let name = chosen.construction.name();
        let best = self.rival(Rival::Best).expect("there is a tree");
        let trouble = match Trouble::of(chosen) {
            Trouble::Online(Construction::Linear) => "nothing need be planned",
            Trouble::Online(Construction::Oblivious) => "nothing need be planned or exchanged",
            Trouble::Online(_) => "it is built online, from a few small messages",
            Trouble::Offline(Order::Ordered, _) => "planned offline, in rank order",
            Trouble::Offline(Order::Direct, _) => {
                "planned offline; large blocks go straight to the root"
            }
            Trouble::Offline(Order::Any, _) => "planned offline, keeping no rank order",
        };
        let mut facts: Vec<String> = [Rival::Linear, Rival::Adaptive]
            .into_iter()
            .filter_map(|rival| self.rival(rival))
            .filter(|other| judged(other) > judged(chosen))
            .map(|other| format!("{} {}", other.construction.name(), self.takes(other)))
            .collect();
        facts.push(match judged(best) < judged(chosen) {
            false => "none of the others is faster".to_owned(),
            true => format!(
                "{} would gain {} more",
                best.construction.name(),
                text::share(1.0 - judged(best).units() / judged(chosen).units())
            ),
        });
        format!("{name} ({trouble}): {}.", facts.join(", "))
    }

    /// How long another tree takes, compared with the chosen one.
    fn takes(&self, other: &Outcome) -> String {
        match (judged(other).cmp(&judged(self.chosen)), self.factor(other)) {
            (Ordering::Equal, _) => "takes as long".to_owned(),
            (_, None) => "takes longer".to_owned(),
            (_, Some(factor)) if factor >= 2.0 => format!("takes {factor:.1} times as long"),
            (_, Some(factor)) if factor > 1.0 => {
                format!("takes {} longer", text::share(factor - 1.0))
            }
            (_, Some(factor)) => format!("takes {} less", text::share(1.0 - factor)),
        }
    }

    /// What the chosen tree gains, line by line.
    pub(crate) fn gains(&self) -> Vec<String> {
        let chosen = self.chosen;
        let mut lines = Vec::new();
        for rival in Rival::ALL {
            let Some(other) = self.rival(rival) else { continue };
            if std::ptr::eq(other, chosen) {
                continue;
            }
            let name = match rival {
                Rival::Linear | Rival::Adaptive => String::new(),
                Rival::Ordered | Rival::Best => format!(" ({})", other.construction.name()),
            };
            let words = rival.words(self.comparison.problem.operation());
            let line =
                format!("{words}{name} {}: {}.", self.takes(other), text::time(judged(other)));
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        lines
    }

    /// The root of the chosen tree.
    pub(crate) fn root(&self) -> Rank {
        self.chosen.built.tree.root()
    }

    /// No tree of whatever order completes earlier.
    pub(crate) fn bound(&self) -> Time {
        self.comparison.bound
    }

    /// What unpacking has to do with it: what it takes for the chosen tree, or which tree would be
    /// faster if nothing had to be unpacked.
    pub(crate) fn unpacking(&self) -> Option<String> {
        let operation = self.comparison.problem.operation();
        let fastest = self.comparison.recommended();
        let times =
            |outcome: &Outcome| text::unpacking(outcome.time(), outcome.unpacked, operation);
        match () {
            () if self.comparison.problem.collective().blocks().is_none() => None,
            () if self.chosen.order != Order::Ordered => {
                Some(format!("Its tree is not in rank order; {}.", times(self.chosen)))
            }
            () if fastest.time() < judged(self.chosen) && fastest.time() < fastest.unpacked => {
                let name = fastest.construction.name();
                Some(format!("{name} is not in rank order; {}.", times(fastest)))
            }
            () => None,
        }
    }

    /// The bound, and how much faster than the chosen tree any could be.
    pub(crate) fn limit(&self) -> String {
        let (bound, time) = (self.comparison.bound, self.chosen.time());
        let optimality = self.comparison.optimality(self.chosen);
        match optimality == Some(Optimality::AmongAll) || time == Time::ZERO {
            true => "No tree of whatever order is faster.".to_owned(),
            false => format!(
                "No tree of whatever order takes less than {} ({} less).",
                text::time(bound),
                text::share(1.0 - bound.units() / time.units())
            ),
        }
    }
}
