//! One-shot operations whose sizes all processes know.
//!
//! With [`Algorithm::DeadlineOnline`] nobody has to be told a plan: each process finds its own seat, without a
//! message, and keeps it for calls with the same sizes and root. Whether a seat is kept is its own affair, since all
//! find the same tree again.

use super::planned::Plan;
use super::seats::Seat;
use super::{CollectiveError, Collectives, PerformedBy};
use crate::planning;
use crate::play::Strictness;
use crate::settings::{Algorithm, Settings};
use std::cell::RefCell;
use std::collections::VecDeque;
use tuwtree_binding::Arguments;
use tuwtree_model::{BlockSizes, Operation, Rank};
use tuwtree_plan::catalogue::OnlinePart;

/// Number of plans that a communicator keeps, for calls with different operations, roots or sizes.
const MOST: usize = 16;

/// The plans of the last different calls, the last one first.
#[derive(Debug, Default)]
pub(super) struct KnownPlans(RefCell<VecDeque<Known>>);

/// A plan, and its operation.
#[derive(Debug)]
struct Known {
    operation: Operation,
    root: Rank,
    sizes: BlockSizes,
    plan: Plan,
}

impl KnownPlans {
    /// Forgets all plans: settings have changed.
    pub(super) fn clear(&self) {
        self.0.borrow_mut().clear();
    }

    fn take(&self, (operation, root): (Operation, Rank), sizes: &BlockSizes) -> Option<Known> {
        let mut all = self.0.borrow_mut();
        let is_like =
            |one: &Known| (one.operation, one.root) == (operation, root) && one.sizes == *sizes;
        let at = all.iter().position(is_like)?;
        all.remove(at)
    }

    fn keep(&self, known: Known) {
        let mut all = self.0.borrow_mut();
        all.truncate(MOST - 1);
        all.push_front(known);
    }
}

impl Collectives {
    /// Performs an operation whose sizes in bytes all ranks know, and returns its algorithm.
    /// [`Algorithm::DeadlineOnline`] sends no message but data; other algorithms work as in [`run`](Self::run).
    /// Collective.
    ///
    /// Differing sizes at ranks are not detected: the ranks concerned wait forever, as with MPI, or get an error.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    ///
    /// # Panics
    /// If the number of sizes is not the number of ranks.
    pub fn run_knowing(
        &self,
        arguments: &Arguments<'_>,
        sizes: &BlockSizes,
    ) -> Result<PerformedBy, CollectiveError> {
        assert_eq!(sizes.ranks(), self.comm.size(), "a size for each process");
        let settings = self.settings();
        let root = arguments.root(self.comm.size());
        let (Algorithm::DeadlineOnline, Some(root)) = (settings.algorithm(), root) else {
            return self.run(arguments);
        };
        let operation = arguments.operation();
        let mut known = match self.known.take((operation, root), sizes) {
            Some(known) => known,
            None => {
                let plan = match self.seat((operation, root), sizes, &settings)? {
                    Some(seat) => Plan::in_seat(seat, &self.comm, (operation, root))?,
                    None => Plan::default(),
                };
                Known { operation, root, sizes: sizes.clone(), plan }
            }
        };
        let exact = Strictness::Exact;
        let done = match known.plan.is_native() {
            true => self.by_library(arguments, &settings, exact).map(PerformedBy::Rooted),
            false => {
                let done = known.plan.perform((self, arguments, &settings, exact), None);
                done.map(|()| PerformedBy::Rooted(Algorithm::DeadlineOnline))
            }
        };
        self.known.keep(known);
        done
    }

    /// This process's seat; `None` for all of them where subtrees do not have consecutive ranks.
    fn seat(
        &self,
        (operation, root): (Operation, Rank),
        sizes: &BlockSizes,
        settings: &Settings,
    ) -> Result<Option<Seat>, CollectiveError> {
        let rank = self.comm.rank();
        let found = found(operation, root, sizes, (rank, settings))?;
        let window = settings.window().filter(|_| !operation.is_outward());
        let limits = (settings.most_passed, window);
        Ok(match found {
            OnlinePart::Place(place) => Some(Seat::of_place(&place, (rank, root), sizes, limits)),
            OnlinePart::Tree(tree) => {
                Seat::of_tree(&tree, sizes, limits).map(|mut all| all.swap_remove(rank))
            }
        })
    }
}

/// This process's part of the tree by the machine's costs.
///
/// # Errors
/// Costs for which there is no such tree: at all processes.
pub(super) fn found(
    operation: Operation,
    root: Rank,
    sizes: &BlockSizes,
    (rank, settings): (Rank, &Settings),
) -> Result<OnlinePart, CollectiveError> {
    let machine = settings.machine.clone().expect("the algorithm needs a machine");
    let problem = planning::problem(operation.is_outward(), sizes, root, machine);
    problem
        .and_then(|problem| planning::found_online(&problem, rank))
        .map_err(CollectiveError::Refused)
}
