//! Proof that a tree is the optimum of its search.

use crate::comparison::{Outcome, meets};
use crate::error::{NoTree, PlanError};
use crate::expense::Effort;
use crate::request::{Request, Search, Searched, Wanted, WiderMethod};
use tuwtree_dp::non_ordered::{FoundAgain, MOST_SETTLED, NonOrderedError, exact_again};
use tuwtree_dp::{Method, PairMethod};
use tuwtree_model::{BlockSizes, ClosedSet, Construction, Problem, Root, Time, completion_time};

/// Proof of an optimum, or the reason for having none.
pub type Certificate = Result<String, String>;

impl Request<'_> {
    /// Proof that the time of a best tree of its class is the least, by another route than its construction: it meets the
    /// lower bound, or another method finds an equal time. Or else the reason for having none.
    ///
    /// # Errors
    /// An interrupt, or a method that disagrees.
    pub(crate) fn certify(&self, outcome: &Outcome, bound: Time) -> Result<Certificate, PlanError> {
        let Outcome { construction, ref built, .. } = *outcome;
        let time = outcome.time();
        if meets(self.problem, time, bound) {
            return Ok(Ok("it meets the lower bound".to_owned()));
        }
        if self.problem.costs().overlaps() {
            let percent = percent_above(time.units(), bound.units());
            return Ok(Err(format!(
                "where latency overlaps, the lower bound alone proves a time, and it is up to {percent} % above that"
            )));
        }
        if construction == Construction::Exact {
            return self.certify_exact(time);
        }
        if let Some(at_least) = built.at_least {
            let percent = percent_above(time.units(), at_least);
            return Ok(Err(format!(
                "it is at most {percent} % above the best ordered tree, which a longer search may find"
            )));
        }
        let found_by = |search: &Search| Some(*search) != built.search;
        let methods: Vec<Search> = match (built.search, &self.searched) {
            (Some(Search::Wider(_)), _) => {
                [WiderMethod::Plain, WiderMethod::Dense].map(Search::Wider).to_vec()
            }
            (_, Searched::Homogeneous(costs, problem)) => Method::all()
                .rev()
                .filter(|method| problem.blocks().is_some() && method.admits(costs))
                .map(Search::Homogeneous)
                .collect(),
            (_, Searched::PerPair(_) | Searched::NotLinear(_) | Searched::Overlapping(_)) => {
                PairMethod::all().rev().map(Search::PerPair).collect()
            }
        };
        let admits = |search: &Search| match search {
            Search::Wider(WiderMethod::Dense) => self.is_dense(),
            Search::PerPair(PairMethod::Hinges) => !matches!(self.searched, Searched::NotLinear(_)),
            _ => true,
        };
        let Some(other) = methods.into_iter().filter(admits).find(found_by) else {
            let found = built.search.map_or("no", Search::name);
            return Ok(Err(format!("only the {found} method admits these costs")));
        };
        let effort = match other {
            // It may take hours.
            Search::Wider(_) => Effort::Moderate,
            Search::PerPair(_) if matches!(self.searched, Searched::NotLinear(_)) => {
                Effort::Moderate
            }
            _ => Effort::Any,
        };
        let wanted = Wanted { construction, search: Some(other), effort };
        let again = match self.build(wanted) {
            Ok(again) => again,
            Err(NoTree::Failed(PlanError::Interrupted)) => return Err(PlanError::Interrupted),
            Err(NoTree::Skipped(_)) if built.search == Some(Search::Wider(WiderMethod::Dense)) => {
                return self.certify_mirrored(construction, time);
            }
            Err(NoTree::Skipped(reason)) => return Ok(Err(reason)),
            Err(NoTree::Failed(error)) => {
                return Ok(Err(format!("the {} method: {error}", other.name())));
            }
        };
        let found = completion_time(again.plan.tree()?, self.problem)?;
        if again.at_least.is_some() && found >= time {
            let name = other.name();
            return Ok(Err(format!("the {name} method finds a bracket, and not its least time")));
        }
        match self.is_same(time, found)? {
            true => Ok(Ok(format!("the {} method finds the same completion time", other.name()))),
            false => Err(disagreement(time, found, &format!("the {} method", other.name()))),
        }
    }

    /// True if two times are equal, up to rounding where costs are no integers.
    fn is_same(&self, time: Time, found: Time) -> Result<bool, PlanError> {
        Ok(match &self.searched {
            searched if searched.is_integral() => found == time,
            Searched::Homogeneous(costs, problem) => {
                let all = problem.collective().segment(0, problem.ranks() - 1);
                let volume = costs.transmission(all)?.units();
                (found.units() - time.units()).abs() <= ROUNDING * (volume + time.units())
            }
            Searched::PerPair(_) | Searched::NotLinear(_) | Searched::Overlapping(_) => {
                (found.units() - time.units()).abs() <= ROUNDING * time.units()
            }
        })
    }

    /// As [`certify`], for the best of all trees: the second method ignores repeated sizes, and is for few processes.
    fn certify_exact(&self, time: Time) -> Result<Certificate, PlanError> {
        let FoundAgain { time: again, method } = match exact_again(self.problem) {
            Ok(found) => found,
            Err(NonOrderedError::TooMuchWork { .. }) => {
                let reason = format!(
                    "the other method is for up to {MOST_SETTLED} processes, and for 17 where all pairs have the same \
                     costs"
                );
                return Ok(Err(reason));
            }
            Err(error) => return Ok(Err(error.to_string())),
        };
        let found = Time::new(again).ok_or_else(|| PlanError::failed("a time is negative"))?;
        match self.is_same(time, found)? {
            true => Ok(Ok(format!("{method} finds the same completion time"))),
            false => Err(disagreement(time, found, method)),
        }
    }

    /// True if the dense method admits the costs, which all pairs share.
    fn is_dense(&self) -> bool {
        let costs = self.problem.costs().homogeneous(self.problem.ranks());
        costs.is_none_or(|costs| costs.gamma() <= costs.beta())
    }

    /// As [`certify`], for the ranks in reverse order, where the dense method takes other steps: left and right are
    /// exchanged, and rows and columns.
    fn certify_mirrored(
        &self,
        construction: Construction,
        time: Time,
    ) -> Result<Certificate, PlanError> {
        let p = self.problem.ranks();
        let sizes = self.problem.blocks().expect("what is searched for has blocks");
        let sizes = BlockSizes::new((0..p).rev().map(|rank| sizes.block(rank)));
        let sizes = sizes.map_err(PlanError::failed)?;
        let root = match self.problem.root() {
            Root::Given(root) => Root::Given(p - 1 - root),
            other => other,
        };
        let costs = match self.problem.costs().homogeneous(p) {
            Some(costs) => costs.into(),
            None => self.problem.costs().clone(),
        };
        let mirrored = Problem::gather(&sizes, costs)
            .and_then(|problem| problem.with_root(root))
            .map_err(PlanError::failed)?;
        let request = Request::new(&mirrored, self.settings, self.watch);
        let again = match request.build(Wanted::named(construction)) {
            Ok(again) => again,
            Err(NoTree::Failed(PlanError::Interrupted)) => return Err(PlanError::Interrupted),
            Err(NoTree::Skipped(reason)) => return Ok(Err(reason)),
            Err(NoTree::Failed(error)) => return Ok(Err(error.to_string())),
        };
        let found = completion_time(again.plan.tree()?, &mirrored)?;
        let close = (found.units() - time.units()).abs() <= ROUNDING * time.units();
        match (found == time || (close && !self.problem.costs().is_integral()), again.at_least) {
            (_, Some(_)) if found >= time => {
                Ok(Err("a search among the ranks in reverse order ends before it proves so".into()))
            }
            (true, _) => Ok(Ok(
                "the dense method finds the same completion time for the ranks in reverse order"
                    .to_owned(),
            )),
            (false, _) => Err(disagreement(time, found, "the dense method")),
        }
    }
}

/// Percentage of a time above a bound, rounded up so that the statement is true.
pub(crate) fn percent_above(time: f64, at_least: f64) -> f64 {
    (100_000.0 * (time / at_least - 1.0)).ceil() / 1000.0
}

/// Error for two methods that differ.
fn disagreement(time: Time, found: Time, other: &str) -> PlanError {
    PlanError::Failed(format!(
        "--certify: {time} by one method, but {found} by {other}; please report this problem"
    ))
}

/// Relative difference allowed between two methods where costs are not integers, against the time
/// and that of sending everything once: sizes of ranges are differences of prefix sums.
const ROUNDING: f64 = 1e-12;
