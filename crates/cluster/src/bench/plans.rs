//! Plans that are measured: what rank 0 makes of them and hands down, and the memory that they share.

use super::{AT_ONCE, BenchError, MeasuredProblem};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;
use tuwtree_binding::{Communicator, Datatype, Element, Operator, Place};
use tuwtree_executor::collective::scatter_lists;
use tuwtree_executor::play::{Buffers, Execution, Mode, Reduction};
use tuwtree_measure::{Pace, Prediction};
use tuwtree_model::{
    ClosedSet, Construction, Order, Problem, Rank, Tree, completion_time, judged_time_as,
};
use tuwtree_plan::{Effort, NoTree, Plan, Request, Settings, VectorUse, Wanted};
use tuwtree_schedule::part::Part;
use tuwtree_schedule::{Schedule, Sends, simulate};
use tuwtree_treegen::AdaptiveRule;

impl MeasuredProblem {
    /// This rank's part, with its requests set up.
    pub(super) fn execution(
        &self,
        part: &Part,
        pace: Pace,
        (shared, output): (&Shared, &Rc<Place>),
        communicator: &Rc<Communicator>,
    ) -> Result<Execution, BenchError> {
        let mut buffers = Buffers::apart(Rc::clone(&shared.input), Rc::clone(output));
        if self.operation.is_reduction() {
            let datatype = Datatype::of(Element::Byte)?;
            buffers = buffers.reducing(Reduction { datatype, operator: Operator::exclusive_or() });
        }
        let mode = match pace {
            Pace::Strict => Mode::Strict,
            Pace::Eager => Mode::Eager,
        };
        Ok(Execution::new(part, buffers, communicator, mode)?)
    }

    /// This rank's part in the plan that rank 0 makes, if there is one. Collective.
    pub(super) fn part(
        &self,
        (construction, pace): (Construction, Pace),
        communicator: &Communicator,
    ) -> Result<Option<(Part, Foreseen)>, BenchError> {
        let lists = match communicator.rank() {
            0 => Some(self.parts(construction, pace)?),
            _ => None,
        };
        match scatter_lists(communicator, 0, lists)?.as_slice() {
            [inner, has_prediction, planned, judged, part @ ..] => {
                let prediction = (*has_prediction != 0).then_some(Prediction {
                    planned_seconds: Some(f64::from_bits(*planned)),
                    judged_seconds: f64::from_bits(*judged),
                });
                let inner = inner.checked_sub(1).map(|rank| rank as Rank);
                Ok(Some((Part::from_words(part)?, Foreseen { inner, prediction })))
            }
            _ => Ok(None),
        }
    }

    /// Parts of a plan, one list per rank: the inner rank, times, and the rank's own part; empty without a plan.
    fn parts(&self, construction: Construction, pace: Pace) -> Result<Vec<Vec<u64>>, BenchError> {
        let ranks = self.problem.ranks();
        let plan = measured_plan(construction, &self.problem).map_err(BenchError::Construction)?;
        let Some(plan) = plan else { return Ok(vec![Vec::new(); ranks]) };
        let (schedule, foreseen) = match &plan {
            Plan::Tree(tree) => {
                let schedule = Schedule::without_costs(tree, self.problem.collective())?;
                let prediction = self.predicted_of_tree(tree, pace);
                (Cow::Owned(schedule), Foreseen { inner: inner_rank(tree), prediction })
            }
            Plan::Programs(schedule) => {
                let prediction = self.predicted_of_programs(schedule, pace);
                (Cow::Borrowed(&***schedule), Foreseen { inner: None, prediction })
            }
        };
        let [planned, judged] = match foreseen.prediction {
            Some(Prediction { planned_seconds, judged_seconds }) => {
                [planned_seconds.unwrap_or(judged_seconds), judged_seconds]
            }
            None => [0.0; 2],
        };
        let head = [
            foreseen.inner.map_or(0, |rank| rank as u64 + 1),
            u64::from(foreseen.prediction.is_some()),
            planned.to_bits(),
            judged.to_bits(),
        ];
        let list = |rank| -> Result<Vec<u64>, BenchError> {
            Ok([&head[..], &Part::of_schedule(&schedule, rank)?.to_words()].concat())
        };
        (0..ranks).map(list).collect()
    }

    /// Predictions of planner and judge for a tree whose messages are all posted at once.
    fn predicted_of_tree(&self, tree: &Tree, pace: Pace) -> Option<Prediction> {
        // One message after the other is not judged where latency overlaps.
        if pace == Pace::Strict && self.problem.costs().overlaps() {
            return None;
        }
        Some(Prediction {
            planned_seconds: Some(completion_time(tree, &self.problem).ok()?.units()),
            judged_seconds: judged_time_as(tree, &self.problem, AT_ONCE).ok()?.units(),
        })
    }

    /// The simulation's prediction for a schedule whose actions follow one another on each port.
    fn predicted_of_programs(&self, schedule: &Schedule, pace: Pace) -> Option<Prediction> {
        if pace == Pace::Eager {
            return None;
        }
        let timeline = simulate(schedule, self.problem.stated_costs(), Sends::Synchronous).ok()?;
        let seconds = timeline.completion_time().units();
        Some(Prediction { planned_seconds: Some(seconds), judged_seconds: seconds })
    }
}

/// Facts of a plan before its measurement.
#[derive(Clone, Copy, Debug)]
pub(super) struct Foreseen {
    /// The rank between root and leaves of a tree with most ranks below.
    pub(super) inner: Option<Rank>,
    pub(super) prediction: Option<Prediction>,
}

/// The rank between root and leaves with most ranks below it, the first of equals; `None` if the tree has no such rank.
fn inner_rank(tree: &Tree) -> Option<Rank> {
    let mut below = vec![0_usize; tree.ranks()];
    for rank in tree.top_down().into_iter().rev() {
        if let Some(parent) = tree.parent(rank) {
            below[parent] += below[rank] + 1;
        }
    }
    let inner = (0..below.len()).filter(|&rank| rank != tree.root() && below[rank] > 0);
    inner.rev().max_by_key(|&rank| below[rank])
}

/// The memory that plans share.
pub(super) struct Shared {
    input: Rc<Place>,
    /// One for each size.
    outputs: BTreeMap<u64, Rc<Place>>,
}

impl Shared {
    pub(super) fn new(input: &[u8]) -> Result<Shared, BenchError> {
        let place = Place::of_bytes(input.len() as u64)?;
        place.memory().write(0, input);
        Ok(Shared { input: Rc::new(place), outputs: BTreeMap::new() })
    }

    /// The output of this size.
    pub(super) fn output(&mut self, bytes: u64) -> Result<Rc<Place>, BenchError> {
        if let Some(place) = self.outputs.get(&bytes) {
            return Ok(Rc::clone(place));
        }
        let place = Rc::new(Place::of_bytes(bytes)?);
        self.outputs.insert(bytes, Rc::clone(&place));
        Ok(place)
    }

    /// Begins all outputs with these bytes.
    pub(super) fn hold(&self, output: &[u8]) {
        self.outputs.values().for_each(|place| place.memory().write(0, output));
    }
}

/// True if a comparison of all constructions builds this one for the problem.
pub(super) fn suits(construction: Construction, problem: &Problem) -> bool {
    let request = Request::new(problem, measured_as(construction), &());
    // Programs are found within seconds at the sizes that are measured; a search for trees need not end.
    let effort = if construction.builds_trees() { Effort::Quick } else { Effort::Moderate };
    request.suitable(Order::Any, effort).iter().any(|one| one.construction == construction)
}

/// Settings of a measured construction: the adaptive tree as in TUW's measurements; constructions
/// without a tree may cut a vector.
fn measured_as(construction: Construction) -> Settings {
    let vector = if construction.builds_trees() { VectorUse::Whole } else { VectorUse::Cut };
    Settings { adaptive_rule: AdaptiveRule::GatherTime, vector, ..Settings::DEFAULT }
}

/// The plan of this construction, as it is measured; `None` if it has none for the problem.
///
/// # Errors
/// Why it cannot be built.
fn measured_plan(construction: Construction, problem: &Problem) -> Result<Option<Plan>, String> {
    let request = Request::new(problem, measured_as(construction), &());
    let wanted = Wanted { effort: Effort::Moderate, ..Wanted::named(construction) };
    match request.build(wanted) {
        Ok(built) => Ok(Some(built.plan)),
        Err(NoTree::Skipped(_)) => Ok(None),
        Err(NoTree::Failed(error)) => Err(format!("{}: {error}", construction.name())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tuwtree_model::Step;

    #[test]
    fn who_is_late_has_most_ranks_below_it_and_is_not_the_root() {
        let tree = |links: &[(Rank, Rank)]| {
            let mut steps: Vec<(Rank, Step)> = Vec::new();
            let inner = [0, 3, 4, 1];
            for at in inner.into_iter().filter(|at| links.iter().any(|(parent, _)| parent == at)) {
                steps.push((at, Step::Copy));
                let children = links.iter().filter(|(parent, _)| *parent == at);
                steps.extend(children.map(|&(_, child)| (at, Step::Receive(child))));
            }
            Tree::new(6, 0, &steps).unwrap()
        };
        // 0 <- (1 <- 2), 0 <- (3 <- (4 <- 5)).
        assert_eq!(inner_rank(&tree(&[(0, 1), (1, 2), (0, 3), (3, 4), (4, 5)])), Some(3));
        // Two with as many.
        assert_eq!(inner_rank(&tree(&[(0, 1), (1, 2), (0, 3), (3, 4), (0, 5)])), Some(1));
        assert_eq!(inner_rank(&tree(&[(0, 1), (0, 2), (0, 3), (0, 4), (0, 5)])), None);
    }
}
