//! Advice in words.

use crate::output::text;
use std::cmp::Ordering;
use tuwtree_model::quantity::Unit;
use tuwtree_model::{ClosedSet, Construction, Operation, Order, PayloadKind, Time};
use tuwtree_plan::{Advice, Baseline, Knowledge, Optimality, Outcome, Rival, Trouble};

/// Advice in words.
pub(crate) struct Advised<'a>(pub(crate) &'a Advice<'a>);

impl<'a> std::ops::Deref for Advised<'a> {
    type Target = Advice<'a>;

    fn deref(&self) -> &Advice<'a> {
        self.0
    }
}

/// Comparison of a time with a library's own call, without a full stop; `uncertainty` is the factor within which times are
/// known.
pub(crate) fn against(
    baseline: Baseline,
    operation: Operation,
    time: Time,
    uncertainty: Option<f64>,
) -> String {
    let Baseline { library, time: its, .. } = baseline;
    let known = match library.knowledge() {
        Knowledge::Run => "",
        Knowledge::Read => "; read, not run here",
        Knowledge::Assumed => "; neither run nor read here",
    };
    let algorithm = library.algorithm(operation);
    let call = format!("The {} of {} ({algorithm}{known})", operation.name(), library.title());
    let factor = its.units() / time.units();
    let takes = match its.cmp(&time) {
        Ordering::Equal => "as long".to_owned(),
        Ordering::Greater if !factor.is_finite() => "longer".to_owned(),
        Ordering::Greater if factor >= 2.0 => format!("{factor:.1} times as long"),
        Ordering::Greater => format!("{} longer", text::share(factor - 1.0)),
        Ordering::Less => format!("{} less", text::share(1.0 - factor)),
    };
    let uncertain = match uncertainty.filter(|_| factor.is_finite() && factor != 1.0) {
        None => String::new(),
        Some(within) if factor > within => {
            format!(
                " ({:.1} to {:.1} times, as far as times are known)",
                factor / within,
                factor * within
            )
        }
        Some(within) => {
            format!("; times are known within a factor of {within}, so that it may be as good")
        }
    };
    format!("{call} takes {takes}{uncertain}")
}

impl Advised<'_> {
    fn unit(&self) -> Unit {
        self.comparison.problem.stated_costs().unit()
    }

    /// The advice in a sentence: the construction, its time, and its distance from the best.
    pub(crate) fn sentence(&self) -> String {
        let time = self.unit().time(self.chosen.unpacked);
        let root = self.root().map_or(String::new(), |root| format!(", root {root}"));
        format!("Use {}: {time}{root}; {}.", self.named(), self.against_best())
    }

    /// A simpler construction, as a suggestion.
    pub(crate) fn simpler(&self) -> String {
        format!("Simpler: {}: {}.", self.named(), self.against_best())
    }

    /// The fastest construction's gain, if there is a faster one.
    fn against_best(&self) -> String {
        let best = self.rival(Rival::Best).expect("there is a tree");
        match best.unpacked < self.chosen.unpacked {
            false => "none of the others is faster".to_owned(),
            true => format!(
                "{} would gain {} more",
                best.construction.name(),
                text::share(1.0 - best.unpacked.units() / self.chosen.unpacked.units())
            ),
        }
    }

    /// The construction, and the trouble that it takes.
    fn named(&self) -> String {
        let chosen = self.chosen;
        let name = chosen.construction.name();
        let operation = self.comparison.problem.operation();
        let trouble = match Trouble::of(chosen) {
            Trouble::Online(_) if operation.payload_kind() == PayloadKind::Messages => {
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
        format!("{name} ({trouble})")
    }

    /// Time of another tree, compared with the chosen one.
    pub(crate) fn takes(&self, other: &Outcome) -> String {
        match (other.unpacked.cmp(&self.chosen.unpacked), self.factor(other)) {
            (Ordering::Equal, _) => "takes as long".to_owned(),
            (_, None) => "takes longer".to_owned(),
            (_, Some(factor)) if factor >= 2.0 => format!("takes {factor:.1} times as long"),
            (_, Some(factor)) if factor > 1.0 => {
                format!("takes {} longer", text::share(factor - 1.0))
            }
            (_, Some(factor)) => format!("takes {} less", text::share(1.0 - factor)),
        }
    }

    /// The library's own call, compared with the chosen tree.
    pub(crate) fn against_library(&self) -> Option<String> {
        let operation = self.comparison.problem.operation();
        let uncertainty = self.comparison.problem.stated_costs().network().uncertainty;
        let baseline = self.comparison.baseline()?;
        Some(against(baseline, operation, self.chosen.unpacked, uncertainty) + ".")
    }

    /// Price of the chosen tree's plan, and the number of calls that earn it.
    pub(crate) fn price_line(&self) -> Option<String> {
        let price = self.price()?;
        let calls = match price.calls {
            calls if calls <= 1.0 => "one call earns".to_owned(),
            calls => format!("{calls} calls earn"),
        };
        let time = self.unit().time(price.time);
        Some(format!("Handing out its plan takes about {time}, which {calls}."))
    }

    /// Effect of unpacking: its time for the chosen tree, or the tree that would be faster without
    /// it.
    pub(crate) fn unpacking(&self) -> Option<String> {
        let operation = self.comparison.problem.operation();
        let least = self.comparison.outcomes.iter().min_by_key(|outcome| outcome.time());
        let fastest = least.expect("there is a tree");
        let times =
            |one: &Outcome| text::unpacking(self.unit(), one.time(), one.unpacked, operation);
        match () {
            () if self.comparison.problem.blocks().is_none() || !operation.is_rooted() => None,
            () if self.chosen.order != Order::Ordered => {
                let order = text::out_of_order(self.chosen, "Its tree");
                Some(format!("{order}; {}.", times(self.chosen)))
            }
            () if fastest.time() < self.chosen.unpacked && fastest.time() < fastest.unpacked => {
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
                self.unit().time(bound),
                text::share(1.0 - bound.units() / time.units())
            ),
        }
    }
}
