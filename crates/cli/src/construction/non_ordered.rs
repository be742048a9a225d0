//! Trees that need not be ordered, for blocks: which of them suit a task, and what they may take.
//!
//! Two of them know no costs. The others are made for costs that are the same everywhere. For gamma >
//! beta, `greedy`, `sorted` and `searched` are built all the same, and nothing is known of how good
//! they are but what the lower bound tells; `exact` is exact; `direct` is not built.

use super::effort::{Expense, PATIENCE_SECONDS, Watched};
use super::{BuildError, Built, Construction, Plan, Search, Searched, Task};
use crate::output::progress::Progress;
use std::time::{Duration, Instant};
use tuwtree_dp::non_ordered::{
    self, MOST_WORK, NonOrderedError, Order, WORK_AT_ONCE, direct, exact, exact_on_ports,
    exact_work, search_while, sorted,
};
use tuwtree_dp::{default_method, memory_needed};
use tuwtree_model::{BlockSizes, Homogeneous, Ports, Root, Tree};
use tuwtree_treegen::{doubling, greedy, hybrid, two_block};

/// How far the local search goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LocalSearch {
    /// How many orders are tried.
    pub(crate) steps: usize,
    /// Which ones.
    pub(crate) seed: u64,
    /// When it ends at the latest; that depends on the machine.
    pub(crate) limit: Option<Duration>,
}

impl Default for LocalSearch {
    fn default() -> LocalSearch {
        LocalSearch { steps: 100, seed: 1, limit: None }
    }
}

/// The most blocks that go straight to the root before an ordered tree.
const MOST_DIRECT: usize = 8;

/// The longest that a local search may take that was not asked for by name: it ends early as a rule.
const SEARCH_PATIENCE_SECONDS: f64 = 10.0;

/// Whether blocks have at most two sizes.
pub(super) fn has_two_sizes(sizes: &BlockSizes) -> bool {
    two_block(sizes, Root::Best).is_ok()
}

impl Task<'_> {
    /// The tree of one of the constructions that need not keep rank order.
    pub(super) fn non_ordered(&self, plan: Plan) -> Result<Built, BuildError> {
        let Some(sizes) = self.problem.blocks() else {
            return Err(plan.effort.refused(format!(
                "{} trees are for the blocks of a gather or scatter, and a {} has none",
                plan.construction.name(),
                self.problem.operation().name()
            )));
        };
        match plan.construction {
            Construction::Doubling => return Built::directly(doubling(sizes, self.root)),
            Construction::TwoBlock => {
                let tree = two_block(sizes, self.root);
                let tree = tree.map_err(|error| plan.effort.refused(error.to_string()))?;
                return Ok(Built::without_search(tree));
            }
            _ => {}
        }
        let costs = match &self.searched {
            Searched::Homogeneous(costs) => costs,
            Searched::NotLinear(error) => {
                return Err(plan.effort.refused(format!("{error} with --linearise-at")));
            }
            Searched::PerPair(_) => {
                let reason = "only costs that are the same for all pairs of processors will do";
                return Err(plan.effort.refused(reason.to_owned()));
            }
        };
        match plan.construction {
            Construction::Greedy => Built::directly(greedy(sizes, costs, self.root)),
            Construction::Hybrid => Built::directly(hybrid(sizes, costs, self.root, self.ports)),
            Construction::Exact if self.ports != Ports::ONE => {
                let tree = exact_on_ports(sizes, costs, self.root, self.ports);
                tree.map(Built::without_search).map_err(|error| stopped(plan, error))
            }
            Construction::Exact => self.exact((sizes, costs), plan),
            _ => self.of_ordered_ones((sizes, costs), plan),
        }
    }

    /// The best of all trees, if that is not too much work.
    fn exact(
        &self,
        (sizes, costs): (&BlockSizes, &Homogeneous),
        plan: Plan,
    ) -> Result<Built, BuildError> {
        let needed = exact_work(sizes, costs, self.root).map_err(BuildError::failed)?;
        let refused = |most: u64, blocks: u32, advice: &str| {
            let needed = match needed {
                u64::MAX => "more than 10^19".to_owned(),
                needed => needed.to_string(),
            };
            plan.effort.refused(format!(
                "it would take {needed} steps, more than {most}, which do for {blocks} blocks of \
                 distinct sizes beside the root's, or more where sizes repeat{advice}"
            ))
        };
        match plan.effort {
            super::Effort::Moderate if needed > WORK_AT_ONCE && needed <= MOST_WORK => {
                Err(refused(WORK_AT_ONCE, 16, "; name it with --algorithm to wait for it"))
            }
            _ if needed > MOST_WORK => Err(refused(MOST_WORK, 18, "")),
            _ => Built::directly(exact(sizes, costs, self.root)),
        }
    }

    /// The trees that are found by way of optimal ordered trees.
    fn of_ordered_ones(
        &self,
        (sizes, costs): (&BlockSizes, &Homogeneous),
        plan: Plan,
    ) -> Result<Built, BuildError> {
        let root = self.root;
        let progress = Watched(Progress::new(plan.construction.name()));
        let once = |times: usize| self.expense_of_orders((sizes, costs), times, plan);
        let tree = match plan.construction {
            Construction::Direct => {
                if costs.gamma() > costs.beta() {
                    return Err(plan.effort.refused(format!(
                        "gamma = {} exceeds beta = {}; direct senders are for gamma <= beta",
                        costs.gamma(),
                        costs.beta()
                    )));
                }
                let longer = sizes.iter().flat_map(|bytes| [bytes, 0, 0]);
                let longer = BlockSizes::new(longer).map_err(BuildError::failed)?;
                let expense = self.expense_of_orders((&longer, costs), MOST_DIRECT + 2, plan)?;
                expense.check(plan.effort, |_| String::new())?;
                direct(sizes, costs, root, MOST_DIRECT, &progress)
            }
            Construction::Sorted => {
                once(Order::ALL.len())?.check(plan.effort, |_| String::new())?;
                sorted(sizes, costs, root, &Order::ALL, &progress)
            }
            _ => self.local_search((sizes, costs), plan, &progress)?,
        };
        tree.map(Built::without_search).map_err(|error| stopped(plan, error))
    }

    fn local_search(
        &self,
        (sizes, costs): (&BlockSizes, &Homogeneous),
        plan: Plan,
        progress: &Watched,
    ) -> Result<Result<Tree, NonOrderedError>, BuildError> {
        let LocalSearch { steps, seed, limit } = self.local_search;
        let mut expense = self.expense_of_orders((sizes, costs), steps + 1, plan)?;
        expense.patience = SEARCH_PATIENCE_SECONDS;
        if let Some(limit) = limit {
            expense.seconds = expense.seconds.min(limit.as_secs_f64());
        }
        expense.check(plan.effort, |_| String::new())?;
        let started = Instant::now();
        let mut goes_on = || limit.is_none_or(|limit| started.elapsed() < limit);
        let search = non_ordered::Search { steps, seed };
        Ok(search_while(sizes, costs, self.root, search, progress, &mut goes_on))
    }

    /// What optimal ordered trees for so many orders of these blocks take.
    fn expense_of_orders(
        &self,
        (sizes, costs): (&BlockSizes, &Homogeneous),
        orders: usize,
        plan: Plan,
    ) -> Result<Expense, BuildError> {
        let method = default_method(sizes, costs);
        let bytes = memory_needed(sizes, costs, Root::Best, method).map_err(BuildError::failed)?;
        let seconds = Search::Homogeneous(method).estimated_seconds(sizes.processors());
        Ok(Expense {
            what: plan.construction.name().to_owned(),
            bytes,
            seconds: seconds * orders as f64,
            patience: PATIENCE_SECONDS,
        })
    }
}

/// What it means that a search ended without a tree.
fn stopped(plan: Plan, error: NonOrderedError) -> BuildError {
    match error {
        NonOrderedError::Ordered(error) => plan.stopped(error),
        NonOrderedError::TooMuchWork { .. } | NonOrderedError::TooManyForPorts { .. } => {
            plan.effort.refused(error.to_string())
        }
        NonOrderedError::Time(error) => plan.effort.unlinked(error),
    }
}
