//! Advice in words.

use crate::output::text;
use std::cmp::Ordering;
use tuwtree_model::{ClosedSet, Construction, Operation, Order, Time};
use tuwtree_plan::{Advice, Baseline, Knowledge, Optimality, Outcome, Rival, Trouble};

/// Advice in words.
pub(crate) struct Advised<'a>(pub(crate) &'a Advice<'a>);

impl<'a> std::ops::Deref for Advised<'a> {
    type Target = Advice<'a>;

    fn deref(&self) -> &Advice<'a> {
        self.0
    }
}

/// What a rival is, to begin a sentence with.
fn words(rival: Rival, plan: &str) -> String {
    match rival {
        Rival::Linear => "Linear".to_owned(),
        Rival::Adaptive => "The adaptive binomial tree, built online,".to_owned(),
        Rival::Ordered => format!("The best {plan} here that keeps rank order"),
        Rival::Best => format!("The best {plan} here"),
    }
}

/// The time by which trees are compared: the judge's, with the unpack step of the root, where it needs one.
fn judged(outcome: &Outcome) -> Time {
    outcome.judged_unpacked
}

/// How a time compares with what a library takes by its own call, without a full stop.
pub(crate) fn against(baseline: Baseline, operation: Operation, time: Time) -> String {
    let Baseline { library, judged, .. } = baseline;
    let known = match library.knowledge() {
        Knowledge::Run => "",
        Knowledge::Read => "; read, not run here",
        Knowledge::Assumed => "; neither run nor read here",
    };
    let algorithm = library.algorithm(operation);
    let call = format!("The {} of {} ({algorithm}{known})", operation.name(), library.title());
    let factor = judged.units() / time.units();
    match judged.cmp(&time) {
        Ordering::Equal => format!("{call} takes as long"),
        Ordering::Greater if !factor.is_finite() => format!("{call} takes longer"),
        Ordering::Greater if factor >= 2.0 => format!("{call} takes {factor:.1} times as long"),
        Ordering::Greater => format!("{call} takes {} longer", text::share(factor - 1.0)),
        Ordering::Less => format!("{call} takes {} less", text::share(1.0 - factor)),
    }
}

impl Advised<'_> {
    /// The advice in a sentence: what to use, and how close that is to the best.
    pub(crate) fn sentence(&self) -> String {
        format!("Use {}", self.to_use())
    }

    /// What to use, and how close that is to the best: the end of a sentence.
    pub(crate) fn to_use(&self) -> String {
        let chosen = self.chosen;
        let name = chosen.construction.name();
        let best = self.rival(Rival::Best).expect("there is a tree");
        let operation = self.comparison.problem.operation();
        let trouble = match Trouble::of(chosen) {
            Trouble::Online(_) if operation == Operation::Alltoall => {
                "planned by whoever knows all messages"
            }
            Trouble::Online(Construction::Linear) => "nothing need be planned",
            Trouble::Online(Construction::Oblivious) => "nothing need be planned or exchanged",
            Trouble::Online(one) if !one.builds_trees() => "every rank works it out for itself",
            Trouble::Online(_) => "it is built online, from a few small messages",
            Trouble::Offline(Order::Ordered, _) => "planned offline, in rank order",
            Trouble::Offline(Order::Direct, _) => {
                "planned offline; large blocks go straight to the root"
            }
            Trouble::Offline(Order::Any, Construction::Rotated) => {
                "planned offline, in rank order but for groups rotated around the root"
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
    pub(crate) fn takes(&self, other: &Outcome) -> String {
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
        let baseline = self.comparison.baseline();
        let operation = self.comparison.problem.operation();
        let baseline = baseline.map(|baseline| against(baseline, operation, judged(chosen)) + ".");
        let mut lines = Vec::from_iter(baseline);
        for rival in Rival::all() {
            let Some(other) = self.rival(rival) else { continue };
            if std::ptr::eq(other, chosen) {
                continue;
            }
            let name = match rival {
                Rival::Linear | Rival::Adaptive => String::new(),
                Rival::Ordered | Rival::Best => format!(" ({})", other.construction.name()),
            };
            let words = words(rival, text::plan(self.chosen));
            let line =
                format!("{words}{name} {}: {}.", self.takes(other), text::time(judged(other)));
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        lines
    }

    /// What unpacking has to do with it: what it takes for the chosen tree, or which tree would be
    /// faster if nothing had to be unpacked.
    pub(crate) fn unpacking(&self) -> Option<String> {
        let operation = self.comparison.problem.operation();
        let least = self.comparison.outcomes.iter().min_by_key(|outcome| outcome.judged);
        let fastest = least.expect("there is a tree");
        let times =
            |outcome: &Outcome| text::unpacking(outcome.judged, outcome.judged_unpacked, operation);
        match () {
            () if self.comparison.problem.blocks().is_none() || !operation.is_rooted() => None,
            () if self.chosen.order != Order::Ordered => {
                let order = text::out_of_order(self.chosen, "Its tree");
                Some(format!("{order}; {}.", times(self.chosen)))
            }
            () if fastest.judged < judged(self.chosen) && fastest.judged < judged(fastest) => {
                let name = fastest.construction.name();
                Some(format!("{}; {}.", text::out_of_order(fastest, name), times(fastest)))
            }
            () => None,
        }
    }

    /// The bound, and how much faster than the chosen tree any could be.
    pub(crate) fn limit(&self) -> String {
        let (bound, time) = (self.comparison.bound, self.chosen.time());
        let optimality = self.comparison.optimality(self.chosen);
        let plan = text::plan(self.chosen);
        match optimality == Some(Optimality::AmongAll) || time == Time::ZERO {
            true => format!("No {plan} of whatever order is faster."),
            false => format!(
                "No {plan} of whatever order takes less than {} ({} less).",
                text::time(bound),
                text::share(1.0 - bound.units() / time.units())
            ),
        }
    }
}
