//! Operations that are set up once and started many times.
//!
//! Setting up is collective, and ends alike at all processors: whatever is wrong at one is an error
//! at all, with the same text. What is set up cannot fail for reasons of sizes any more.

use super::{Call, CollectiveError, Collectives, choice, program};
use crate::play::{Buffers, Execution, ExecutionError, Place, PlaceError};
use crate::settings::Algorithm;
use crate::sys::{Communicator, NativeRequest, Parsed, Refused};
use crate::tree::{Fault, Node, Rule};
use std::ffi::c_int;
use std::fs::File;
use std::io::BufReader;
use std::marker::PhantomData;
use std::path::Path;
use std::rc::Rc;
use tuwtree_model::{BlockSizes, Operation, Payload, Rank};
use tuwtree_schedule::part::Part;
use tuwtree_schedule::{Schedule, document, verify};

/// A gather or scatter that is started as often as one likes, with the data that its buffers, which
/// live as long as `'a`, then hold.
#[derive(Debug)]
pub struct Persistent<'a> {
    work: Work<'a>,
    buffers: PhantomData<&'a mut [u8]>,
}

#[derive(Debug)]
enum Work<'a> {
    Ours(Box<Execution>),
    Native(Box<NativeRequest<'a>>),
}

impl Persistent<'_> {
    /// Starts the operation.
    ///
    /// # Errors
    /// [`CollectiveError::NotStartable`] if it is under way; what MPI returns.
    pub fn start(&mut self) -> Result<(), CollectiveError> {
        if self.is_under_way() {
            return Err(CollectiveError::NotStartable("under way"));
        }
        match &mut self.work {
            Work::Ours(execution) => Ok(execution.start()?),
            Work::Native(request) => Ok(request.start()?),
        }
    }

    /// Waits until the operation has ended here; returns at once if it is not under way.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn wait(&mut self) -> Result<(), CollectiveError> {
        match &mut self.work {
            Work::Ours(execution) => Ok(execution.wait()?),
            Work::Native(request) => Ok(request.wait()?),
        }
    }

    /// Whether the operation has ended here, or is not under way. It goes on in this call only, and
    /// in [`wait`](Self::wait).
    ///
    /// # Errors
    /// What MPI returns.
    pub fn test(&mut self) -> Result<bool, CollectiveError> {
        match &mut self.work {
            Work::Ours(execution) => Ok(execution.test()?),
            Work::Native(request) => Ok(request.test()?),
        }
    }

    /// Starts and waits.
    ///
    /// # Errors
    /// As those two.
    pub fn run(&mut self) -> Result<(), CollectiveError> {
        self.start()?;
        self.wait()
    }

    /// Whether the operation has been started and has not been seen to end.
    pub fn is_under_way(&self) -> bool {
        match &self.work {
            Work::Ours(execution) => execution.is_under_way(),
            Work::Native(request) => request.is_under_way(),
        }
    }
}

impl From<ExecutionError> for CollectiveError {
    fn from(error: ExecutionError) -> CollectiveError {
        match error {
            ExecutionError::Mpi(error) => CollectiveError::Mpi(error),
            ExecutionError::UnderWay => CollectiveError::NotStartable("under way"),
            ExecutionError::Failed => CollectiveError::NotStartable("not usable after a failure"),
            other => CollectiveError::Refused(other.to_string()),
        }
    }
}

impl From<PlaceError> for CollectiveError {
    fn from(error: PlaceError) -> CollectiveError {
        CollectiveError::from(ExecutionError::Place(error))
    }
}

/// The operation with its messages on `own`, a communicator with the same processors. Collective.
///
/// # Errors
/// [`CollectiveError`], at all processors if at any.
pub(super) fn set_up<'a>(
    collectives: &Collectives,
    call: &Call<'_, 'a>,
    own: &Rc<Communicator>,
) -> Result<Persistent<'a>, CollectiveError> {
    let setup = Setup { collectives, call };
    let (root, parsed) = setup.agree_on_arguments()?;
    if call.settings.algorithm == Algorithm::Native {
        let request = agree(call.comm, NativeRequest::new(call.arguments, own))?;
        return Ok(Persistent { work: Work::Native(Box::new(request)), buffers: PhantomData });
    }
    let part = setup.part(root)?;
    let bound = buffers(parsed, call.arguments.operation())
        .and_then(|buffers| Ok(Execution::new(&part, buffers, own, call.settings.mode)?));
    let execution = agree(call.comm, bound)?;
    Ok(Persistent { work: Work::Ours(Box::new(execution)), buffers: PhantomData })
}

/// The value, if all processors have one; otherwise the error of the first that has not. Collective.
fn agree<T>(
    comm: &Communicator,
    own: Result<T, impl Into<CollectiveError>>,
) -> Result<T, CollectiveError> {
    let own = own.map_err(Into::into);
    let mut class = [own.as_ref().err().map_or(0, |error| error.class() as u64)];
    let text = own.as_ref().err().map(ToString::to_string).unwrap_or_default();
    let first = match comm.agree(own) {
        Ok(value) => return Ok(value),
        Err(Refused::Here { first, .. }) => first,
        Err(Refused::Elsewhere { rank }) => rank,
        Err(Refused::Mpi(error)) => return Err(error.into()),
    };
    comm.broadcast(&mut class, first)?;
    let text = comm.broadcast_text(&text, first)?;
    Err(CollectiveError::Agreed { first, class: class[0] as c_int, text })
}

fn buffers(parsed: &Parsed<'_>, operation: Operation) -> Result<Buffers, CollectiveError> {
    let Parsed { own, all, .. } = parsed;
    let Some(own) = own else {
        let all = all.as_ref().expect("only the root has its block in place");
        return Ok(Buffers::in_place(operation, all.place()?)?);
    };
    let all = all.as_ref().map_or_else(Place::nothing, |all| all.place())?;
    Ok(match operation.is_outward() {
        true => Buffers::apart(all, own.place()?),
        false => Buffers::apart(own.place()?, all),
    })
}

struct Setup<'s, 'c, 'a> {
    collectives: &'s Collectives,
    call: &'s Call<'c, 'a>,
}

impl<'s, 'a> Setup<'s, '_, 'a> {
    /// The root and what the arguments mean, if they are valid everywhere, and the root is the same.
    fn agree_on_arguments(&self) -> Result<(Rank, &'s Parsed<'a>), CollectiveError> {
        let Call { comm, parsed, .. } = self.call;
        let root = self.call.root();
        let least = comm.least_word(root.map_or(u64::MAX, |root| root as u64))?;
        let own = match (parsed, root) {
            (Err(error), _) => Err(error.clone()),
            (Ok(_), Some(root)) if root as u64 != least => Err(CollectiveError::Refused(format!(
                "processor {} was given root {root}, another processor root {least}",
                comm.rank()
            ))),
            (Ok(parsed), _) => Ok((parsed.root, parsed)),
        };
        agree(comm, own)
    }

    /// This processor's part by the algorithm of the settings. Collective.
    fn part(&self, root: Rank) -> Result<Part, CollectiveError> {
        let Call { settings, .. } = self.call;
        let operation = self.call.arguments.operation();
        match settings.algorithm {
            Algorithm::AdaptiveGatherTime => self.adaptive(root, Rule::GatherTime),
            Algorithm::AdaptiveDataSize => self.adaptive(root, Rule::DataSize),
            Algorithm::AdaptiveCompletionTime => {
                self.adaptive(root, Rule::CompletionTime(operation, self.call.costs()?))
            }
            Algorithm::Linear | Algorithm::Native => self.linear(root),
            Algorithm::Auto => self.distributed(root, |sizes| {
                choice::best_schedule(sizes, operation, root, self.call.costs()?)
            }),
            Algorithm::Schedule => self.distributed(root, |sizes| {
                let path = settings.schedule().expect("the algorithm has one");
                let schedule = self.given_schedule(path)?;
                check_schedule(&schedule, operation, root, sizes)
                    .map_err(|reason| refused_file(path, &reason))?;
                Ok(schedule)
            }),
        }
    }

    fn adaptive(&self, root: Rank, rule: Rule<'_>) -> Result<Part, CollectiveError> {
        let Call { comm, .. } = *self.call;
        let built = self.call.construct(rule)?;
        let sizes = self.call.sizes();
        let part = self.check_tree(&built).and_then(|node| {
            let place = (root, comm.size());
            let operation = self.call.arguments.operation();
            program::part_of(node, operation, place, sizes.as_ref()).map_err(refused)
        });
        agree(comm, part)
    }

    /// The place in the tree, if nothing is wrong with it.
    fn check_tree<'n>(
        &self,
        (node, fault): &'n (Node, Option<Fault>),
    ) -> Result<&'n Node, CollectiveError> {
        let parsed = self.call.parsed.as_ref().ok();
        super::along::check_sizes(node, *fault, parsed.and_then(|parsed| parsed.all.as_ref()))?;
        Ok(node)
    }

    fn linear(&self, root: Rank) -> Result<Part, CollectiveError> {
        let Call { comm, .. } = *self.call;
        let sizes = self.checked_sizes(root)?;
        let own = self.call.own_bytes().unwrap_or(0);
        let node = Node::of_star(comm.rank(), root, own, sizes.as_ref());
        let operation = self.call.arguments.operation();
        let part = program::part_of(&node, operation, (root, comm.size()), sizes.as_ref());
        agree(comm, part.map_err(refused))
    }

    /// All sizes, at the root, if they are what the others state. Collective.
    fn checked_sizes(&self, root: Rank) -> Result<Option<BlockSizes>, CollectiveError> {
        let Call { comm, .. } = *self.call;
        let stated = comm.gather(self.call.own_bytes().unwrap_or(0), root)?;
        let sizes = self.call.sizes();
        let differs = sizes.as_ref().and_then(|sizes| {
            let mut pairs = stated.iter().zip(sizes.iter()).enumerate();
            pairs.find(|(_, (stated, expected))| *stated != expected)
        });
        let checked = match differs {
            None => Ok(()),
            Some((rank, (&stated, expected))) => {
                Err(CollectiveError::Sizes { first: rank, last: rank, stated, expected })
            }
        };
        agree(comm, checked)?;
        Ok(sizes)
    }

    /// This processor's part of the schedule that the root makes of the sizes. Collective.
    fn distributed(
        &self,
        root: Rank,
        make: impl FnOnce(&BlockSizes) -> Result<Rc<Schedule>, CollectiveError>,
    ) -> Result<Part, CollectiveError> {
        let Call { comm, .. } = *self.call;
        let sizes = self.checked_sizes(root)?;
        let lists = match &sizes {
            None => Ok(None),
            Some(sizes) => make(sizes).and_then(|schedule| words(&schedule).map(Some)),
        };
        let lists = agree(comm, lists)?;
        let words = comm.distribute(lists.as_deref(), root, super::tag::DATA)?;
        agree(comm, Part::from_words(&words).map_err(refused))
    }

    /// The schedule in this file, which is read if it was not the last one.
    fn given_schedule(&self, path: &Path) -> Result<Rc<Schedule>, CollectiveError> {
        let mut last = self.collectives.schedule.borrow_mut();
        if let Some((known, schedule)) = last.as_ref()
            && known == path
        {
            return Ok(Rc::clone(schedule));
        }
        let file = File::open(path).map_err(|error| refused_file(path, &error.to_string()))?;
        let schedule = document::read(BufReader::new(file))
            .map_err(|error| refused_file(path, &error.to_string()))?;
        let schedule = Rc::new(schedule);
        *last = Some((path.to_owned(), Rc::clone(&schedule)));
        Ok(schedule)
    }
}

#[allow(clippy::needless_pass_by_value)] // for `map_err`
fn refused(error: impl ToString) -> CollectiveError {
    CollectiveError::Refused(error.to_string())
}

fn refused_file(path: &Path, reason: &str) -> CollectiveError {
    CollectiveError::Refused(format!("{}: {reason}", path.display()))
}

/// The parts of all processors, as words.
fn words(schedule: &Schedule) -> Result<Vec<Vec<u64>>, CollectiveError> {
    (0..schedule.processors())
        .map(|rank| Ok(Part::of_schedule(schedule, rank).map_err(refused)?.to_words()))
        .collect()
}

/// Why the schedule is not for this operation, or wrong.
fn check_schedule(
    schedule: &Schedule,
    operation: Operation,
    root: Rank,
    sizes: &BlockSizes,
) -> Result<(), String> {
    let task = schedule.task();
    let processors = sizes.processors();
    if task.processors() != processors {
        let found = task.processors();
        return Err(format!("a schedule for {found} processors; there are {processors}"));
    }
    if task.operation != operation {
        let (found, wanted) = (task.operation.name(), operation.name());
        return Err(format!("a schedule for {found}, called for {wanted}"));
    }
    if task.root != root {
        return Err(format!("a schedule with root {}, called with root {root}", task.root));
    }
    let Payload::Blocks(given) = &task.payload else {
        return Err("a schedule without blocks".to_owned());
    };
    if let Some(rank) = (0..processors).find(|&rank| given.block(rank) != sizes.block(rank)) {
        let (given, wanted) = (given.block(rank), sizes.block(rank));
        return Err(format!(
            "block {rank} has {given} bytes in the schedule, and {wanted} in the call"
        ));
    }
    verify(schedule).map_err(|error| error.to_string()).map(drop)
}
