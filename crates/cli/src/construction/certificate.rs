//! What proves that a tree is the optimum that it was searched for as.

use super::{BuildError, Built, Construction, Effort, Plan, Search, Searched, Task};
use crate::error::CliError;
use tuwtree_dp::{Method, PairMethod};
use tuwtree_model::{Time, completion_time};

/// What proves an optimum, or why nothing does.
pub(crate) type Certificate = Result<String, String>;

impl Task<'_> {
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
    ) -> Result<Certificate, CliError> {
        if time == bound {
            return Ok(Ok("it meets the lower bound".to_owned()));
        }
        let other = match &self.searched {
            Searched::Homogeneous(costs) => Method::ALL
                .into_iter()
                .rev()
                .filter(|method| self.problem.blocks().is_some() && method.admits(costs))
                .map(Search::Homogeneous)
                .find(|&search| Some(search) != built.search),
            Searched::PerPair(_) | Searched::NotLinear(_) => {
                let methods = PairMethod::ALL.into_iter().rev().map(Search::PerPair);
                methods.into_iter().find(|&search| Some(search) != built.search)
            }
        };
        let Some(other) = other else {
            let found = built.search.map_or("no", Search::name);
            return Ok(Err(format!("only the {found} method admits these costs")));
        };
        let plan =
            Plan { construction: Construction::Optimal, search: Some(other), effort: Effort::Any };
        let again = match self.build(plan) {
            Ok(again) => again,
            Err(BuildError::Failed(CliError::Interrupted)) => return Err(CliError::Interrupted),
            Err(BuildError::Skipped(reason)) => return Ok(Err(reason)),
            Err(BuildError::Failed(error)) => {
                return Ok(Err(format!("the {} method: {error}", other.name())));
            }
        };
        let found = completion_time(&again.tree, self.problem, self.costs)?;
        let same = match &self.searched {
            searched if searched.is_integral() => found == time,
            Searched::Homogeneous(costs) => {
                let volume = costs
                    .transmission(self.problem.segment(0, self.problem.processors() - 1))?
                    .units();
                (found.units() - time.units()).abs() <= ROUNDING * (volume + time.units())
            }
            Searched::PerPair(_) | Searched::NotLinear(_) => {
                (found.units() - time.units()).abs() <= ROUNDING * time.units()
            }
        };
        match same {
            true => Ok(Ok(format!("the {} method finds the same completion time", other.name()))),
            false => Err(CliError::Failure(format!(
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
