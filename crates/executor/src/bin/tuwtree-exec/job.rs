//! The job: all processors that run this program, who speak with one voice.

use mpi::collective::SystemOperation;
use mpi::environment::Universe;
use mpi::traits::{Communicator as _, CommunicatorCollectives as _, Destination as _, Source as _};
use std::ffi::c_int;
use std::fmt::Display;
use std::io::Write;
use std::process::ExitCode;
use std::rc::Rc;
use tuwtree_model::Rank;
use tuwtree_mpi::engine::ExecutionError;
use tuwtree_mpi::mpi::{Communicator, MpiError, Refused, abort_all};

/// All processors, the first of which speaks.
pub(crate) struct Job<'a> {
    universe: &'a Universe,
    world: Rc<Communicator>,
}

/// Why the work is given up.
#[derive(Debug)]
pub(crate) enum Stop {
    /// All processors know, and end together; one of them says why.
    Together {
        /// What it says, at that processor.
        message: Option<String>,
    },
    /// Only this one knows: it says why, and takes the others with it.
    Alone {
        /// What it says.
        message: String,
    },
}

impl From<ExecutionError> for Stop {
    fn from(error: ExecutionError) -> Stop {
        Stop::alone(&error)
    }
}

impl From<MpiError> for Stop {
    fn from(error: MpiError) -> Stop {
        Stop::alone(&error)
    }
}

impl Stop {
    /// A failure of which others do not know.
    pub(crate) fn alone(reason: &dyn Display) -> Stop {
        Stop::Alone { message: reason.to_string() }
    }
}

/// How many words are sent at once: MPI counts in int.
const WORDS: usize = 1 << 26;

impl<'a> Job<'a> {
    pub(crate) fn new(universe: &'a Universe) -> Result<Job<'a>, MpiError> {
        Ok(Job { universe, world: Rc::new(Communicator::world(universe)?) })
    }

    /// The processors' communicator, for messages of executions.
    pub(crate) fn communicator(&self) -> &Rc<Communicator> {
        &self.world
    }

    /// The number of processors.
    pub(crate) fn size(&self) -> usize {
        self.world.size()
    }

    /// This processor.
    pub(crate) fn rank(&self) -> Rank {
        self.world.rank()
    }

    /// Whether this is the processor that reads and speaks.
    pub(crate) fn is_first(&self) -> bool {
        self.rank() == 0
    }

    /// The value, if all processors have theirs. Collective; if any has a fault, all stop together,
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

    /// What the first processor works out, and only it; `None` at the others. Collective, as
    /// [`agree`](Self::agree) is.
    pub(crate) fn at_first<T, E: Display>(
        &self,
        work: impl FnOnce() -> Result<T, E>,
    ) -> Result<Option<T>, Stop> {
        self.agree(if self.is_first() { work().map(Some) } else { Ok(None) })
    }

    /// Each processor's words, of which the first has those of all. Collective.
    pub(crate) fn hand_out(&self, words: Option<impl Fn(Rank) -> Vec<u64>>) -> Vec<u64> {
        let world = self.universe.world();
        let Some(words) = words else {
            let (length, _) = world.process_at_rank(0).receive::<u64>();
            let mut received = Vec::new();
            while received.len() < length as usize {
                let (chunk, _) = world.process_at_rank(0).receive_vec::<u64>();
                received.extend(chunk);
            }
            return received;
        };
        for rank in 1..self.size() {
            let process = world.process_at_rank(rank as c_int);
            let words = words(rank);
            process.send(&(words.len() as u64));
            for chunk in words.chunks(WORDS) {
                process.send(chunk);
            }
        }
        words(0)
    }

    /// The node with most processors for each core that they may use: how many processors, how many
    /// cores. Collective.
    pub(crate) fn fullest_node(&self) -> (usize, usize) {
        let node = self.universe.world().split_shared(self.rank() as c_int);
        // Processors may be bound to cores, each to its own: all that any of them may use count.
        let mut usable = [0_u64; CORE_WORDS];
        node.all_reduce_into(&usable_cores()[..], &mut usable[..], SystemOperation::bitwise_or());
        let cores: u32 = usable.iter().map(|word| word.count_ones()).sum();
        let own = [node.size() as u64, u64::from(cores.max(1))];
        let mut all = vec![0_u64; 2 * self.size()];
        self.universe.world().all_gather_into(&own[..], &mut all[..]);
        let nodes = all.chunks(2).map(|node| (node[0] as usize, node[1] as usize));
        let fullest = |one: (usize, usize), other: (usize, usize)| {
            if other.0 * one.1 > one.0 * other.1 { other } else { one }
        };
        nodes.reduce(fullest).expect("there is a processor")
    }

    /// Says something, once for all processors. Not collective.
    pub(crate) fn say(&self, text: &dyn Display) {
        if self.is_first() {
            // Whoever does not listen is not told.
            let _ = writeln!(std::io::stdout(), "{text}");
        }
    }

    /// Tells why the work was given up, and the exit code that says so.
    pub(crate) fn stop(&self, stop: Stop) -> ExitCode {
        match stop {
            Stop::Together { message } => {
                if let Some(message) = message {
                    complain(&message);
                }
                ExitCode::FAILURE
            }
            Stop::Alone { message } => {
                complain(&format!("processor {}: {message}", self.rank()));
                abort_all(1)
            }
        }
    }
}

/// Room for the cores of a node, a bit each.
const CORE_WORDS: usize = 64;

/// The cores that this process may use, as the system says; if it does not, as many as it tells of.
fn usable_cores() -> [u64; CORE_WORDS] {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    let cores = list.and_then(listed_cores).unwrap_or_else(|| (0..count).collect());
    let mut words = [0; CORE_WORDS];
    for core in cores.into_iter().filter(|&core| core < 64 * CORE_WORDS) {
        words[core / 64] |= 1 << (core % 64);
    }
    words
}

/// The numbers in a list such as `0-2,7`.
fn listed_cores(list: &str) -> Option<Vec<usize>> {
    let mut cores = Vec::new();
    for range in list.trim().split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        cores.extend(first.parse::<usize>().ok()?..=last.parse().ok()?);
    }
    Some(cores)
}

fn complain(message: &str) {
    // If even this cannot be written, the exit code still tells.
    let _ = writeln!(std::io::stderr(), "error: {message}");
}

#[cfg(test)]
mod tests {
    use super::listed_cores;

    #[test]
    fn lists_of_cores_are_read_as_the_system_writes_them() {
        assert_eq!(listed_cores("\t0-2,7,9-9\n"), Some(vec![0, 1, 2, 7, 9]));
        assert_eq!(listed_cores("3"), Some(vec![3]));
        assert_eq!(listed_cores(""), None);
        assert_eq!(listed_cores("0-x"), None);
    }
}
