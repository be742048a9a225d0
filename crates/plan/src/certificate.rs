//! What proves that a tree is the optimum that it was searched for as.

use crate::error::{NoTree, PlanError};
use crate::expense::Effort;
use crate::request::{Built, CopyFirstMethod, Request, Search, Searched, Wanted};
use tuwtree_dp::{Method, PairMethod};
use tuwtree_model::{ClosedSet, Construction, Time, completion_time};

/// What proves an optimum, or why nothing does.
pub type Certificate = Result<String, String>;

impl Request<'_> {
    /// What proves an optimal tree's completion time to be the least over all joins of adjacent
    /// ranges, by another route than the one it was found by: it meets the lower bound, or the
    /// fastest of the other methods finds the same. Or else why nothing does.
    ///
    /// # Errors
    /// An interrupt, or a method that disagrees.
    pub(crate) fn certify(
        &self,
        built: &Built,
        time: Time,
        bound: Time,
    ) -> Result<Certificate, PlanError> {
        if time == bound {
            return Ok(Ok("it meets the lower bound".to_owned()));
        }
        let other = match &self.searched {
            Searched::Homogeneous(costs, problem) => Method::all()
                .rev()
                .filter(|method| problem.blocks().is_some() && method.admits(costs))
                .map(Search::Homogeneous)
                .find(|&search| Some(search) != built.search),
            Searched::Overlapping(_) if self.problem.costs().check_linear().is_err() => None,
            Searched::Overlapping(_) => match built.search {
                Some(Search::CopyFirst(CopyFirstMethod::Dense)) => {
                    Some(Search::CopyFirst(CopyFirstMethod::Plain))
                }
                Some(Search::CopyFirst(CopyFirstMethod::Plain)) => {
                    Some(Search::CopyFirst(CopyFirstMethod::Dense))
                }
                Some(Search::PerPair(PairMethod::Hinges)) => {
                    Some(Search::PerPair(PairMethod::Plain))
                }
                Some(Search::PerPair(PairMethod::Plain) | Search::Levels) => {
                    Some(Search::PerPair(PairMethod::Hinges))
                }
                _ => None,
            },
            Searched::PerPair(_) | Searched::NotLinear(_) => PairMethod::all()
                .rev()
                .map(Search::PerPair)
                .find(|&search| Some(search) != built.search),
        };
        let Some(other) = other else {
            let found = built.search.map_or("no", Search::name);
            return Ok(Err(format!("only the {found} method admits these costs")));
        };
        let wanted = Wanted {
            construction: Construction::Optimal,
            search: Some(other),
            effort: Effort::Any,
        };
        let again = match self.build(wanted) {
            Ok(again) => again,
            Err(NoTree::Failed(PlanError::Interrupted)) => return Err(PlanError::Interrupted),
            Err(NoTree::Skipped(reason)) => return Ok(Err(reason)),
            Err(NoTree::Failed(error)) => {
                return Ok(Err(format!("the {} method: {error}", other.name())));
            }
        };
        let found = completion_time(again.plan.tree()?, self.problem)?;
        let same = match &self.searched {
            searched if searched.is_integral() => found == time,
            Searched::Homogeneous(costs, problem) => {
                let all = problem.collective().segment(0, problem.processors() - 1);
                let volume = costs.transmission(all)?.units();
                (found.units() - time.units()).abs() <= ROUNDING * (volume + time.units())
            }
            Searched::PerPair(_) | Searched::NotLinear(_) | Searched::Overlapping(_) => {
                (found.units() - time.units()).abs() <= ROUNDING * time.units()
            }
        };
        match same {
            true => Ok(Ok(format!("the {} method finds the same completion time", other.name()))),
            false => Err(PlanError::Failed(format!(
                "--certify: {time} by one method, but {found} by the {} method; please report this \
                 problem",
                other.name()
            ))),
        }
    }
}

/// How far two methods may be apart where costs are not integers, relative to the time and that of
/// sending everything once: sizes of ranges are differences of prefix sums.
const ROUNDING: f64 = 1e-12;
