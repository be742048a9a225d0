//! The job: all processes that run this program, who speak with one voice.

use crate::stop::Stop;
use mpi::environment::Universe;
use std::fmt::Display;
use std::io::Write;
use std::rc::Rc;
use tuwtree_binding::{Communicator, MpiError, Refused};
use tuwtree_model::Rank;

/// All processes, the first of which prints.
pub(crate) struct Job {
    world: Rc<Communicator>,
}

impl Job {
    pub(crate) fn new(universe: &Universe) -> Result<Job, MpiError> {
        Ok(Job { world: Rc::new(Communicator::world(universe)?) })
    }

    /// The processes' communicator, for messages of executions.
    pub(crate) fn communicator(&self) -> &Rc<Communicator> {
        &self.world
    }

    /// The number of processes.
    pub(crate) fn size(&self) -> usize {
        self.world.size()
    }

    /// This rank.
    pub(crate) fn rank(&self) -> Rank {
        self.world.rank()
    }

    /// True at the rank that reads and prints.
    pub(crate) fn is_first(&self) -> bool {
        self.rank() == 0
    }

    /// The value, if all processes have theirs. Collective; if any has a fault, all stop together,
    /// and the fault of least rank is told.
    pub(crate) fn agree<T, E: Display>(&self, own: Result<T, E>) -> Result<T, Stop> {
        let rank = self.rank();
        self.world.agree(own).map_err(|refused| match refused {
            Refused::Here { fault, first } => {
                let message = (first == rank).then(|| fault.to_string());
                Stop::Together { message }
            }
            Refused::Elsewhere { .. } => Stop::Together { message: None },
            Refused::Mpi(error) => Stop::from(error),
        })
    }

    /// Runs work at the first rank only; `None` at the others. Collective, like
    /// [`agree`](Self::agree).
    pub(crate) fn at_first<T, E: Display>(
        &self,
        work: impl FnOnce() -> Result<T, E>,
    ) -> Result<Option<T>, Stop> {
        self.agree(if self.is_first() { work().map(Some) } else { Ok(None) })
    }

    /// Each rank's words, given by the first rank. Collective.
    pub(crate) fn hand_out(
        &self,
        words: Option<impl Fn(Rank) -> Vec<u64>>,
    ) -> Result<Vec<u64>, Stop> {
        Ok(self.world.distribute(words, 0, 0)?)
    }

    /// Says something, once for all processes. Not collective.
    pub(crate) fn say(&self, text: &dyn Display) {
        if self.is_first() {
            // Whoever does not listen is not told.
            let _ = writeln!(std::io::stdout(), "{text}");
        }
    }
}
