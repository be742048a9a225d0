//! Operations that are set up once and started many times.
//!
//! Setting up is collective, and ends alike at all processors: whatever is wrong at one is an error
//! at all, with the same text. What is set up cannot fail for reasons of sizes any more.

use super::along::{EmptyMessages, Start, actions_of};
use super::{Call, CollectiveError};
use crate::planning;
use crate::play::{Arrangement, BoundAction, Execution, ExecutionError, Manner};
use crate::settings::Algorithm;
use crate::sys::{Communicator, NativeRequest, PlaceError, Refused, library_version};
use crate::tree::{Node, Rule};
use std::ffi::c_int;
use std::fs::File;
use std::io::BufReader;
use std::marker::PhantomData;
use std::path::Path;
use std::rc::Rc;
use tuwtree_model::{BlockSizes, ClosedSet, Operation, Payload, Rank};
use tuwtree_schedule::part::Part;
use tuwtree_schedule::{Role, Schedule, document, verify};

/// A gather or scatter that is started as often as one likes, with the data that its buffers, which
/// live as long as `'a`, then hold.
#[derive(Debug)]
pub struct Persistent<'a> {
    performer: Performer<'a>,
    buffers: PhantomData<&'a mut [u8]>,
}

#[derive(Debug)]
enum Performer<'a> {
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
        match &mut self.performer {
            Performer::Ours(execution) => Ok(execution.start()?),
            Performer::Native(request) => Ok(request.start()?),
        }
    }

    /// Waits until the operation has ended here; returns at once if it is not under way.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn wait(&mut self) -> Result<(), CollectiveError> {
        match &mut self.performer {
            Performer::Ours(execution) => Ok(execution.wait()?),
            Performer::Native(request) => Ok(request.wait()?),
        }
    }

    /// Whether the operation has ended here, or is not under way. It goes on in this call only, and
    /// in [`wait`](Self::wait).
    ///
    /// # Errors
    /// What MPI returns.
    pub fn test(&mut self) -> Result<bool, CollectiveError> {
        match &mut self.performer {
            Performer::Ours(execution) => Ok(execution.test()?),
            Performer::Native(request) => Ok(request.test()?),
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
        match &self.performer {
            Performer::Ours(execution) => execution.is_under_way(),
            Performer::Native(request) => request.is_under_way(),
        }
    }
}

impl From<ExecutionError> for CollectiveError {
    fn from(error: ExecutionError) -> CollectiveError {
        match error {
            ExecutionError::Mpi(error) => CollectiveError::Mpi(error),
            ExecutionError::Message { from, to, bytes, expected } => {
                CollectiveError::Message { from, to, bytes, expected }
            }
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
    call: &Call<'_, 'a>,
    own: &Rc<Communicator>,
    manner: Manner,
) -> Result<Persistent<'a>, CollectiveError> {
    let setup = OperationSetup { call };
    let root = setup.agree_on_arguments()?;
    let Some(actions) = setup.actions(root)? else {
        let request = agree(call.comm, NativeRequest::new(call.arguments, own))?;
        let performer = Performer::Native(Box::new(request));
        return Ok(Persistent { performer, buffers: PhantomData });
    };
    let comm = call.comm;
    let bound = Execution::of_nothing(own).map_err(CollectiveError::from).and_then(|mut one| {
        one.bind(actions, call.buffers(one.nothing())?, (manner, Arrangement::New))?;
        Ok(one)
    });
    let execution = agree(comm, bound)?;
    Ok(Persistent { performer: Performer::Ours(Box::new(execution)), buffers: PhantomData })
}

/// The value, if all processors have one; otherwise the error of the first that has not. Collective.
fn agree<T>(
    comm: &Communicator,
    own: Result<T, impl Into<CollectiveError>>,
) -> Result<T, CollectiveError> {
    let own = own.map_err(Into::into);
    let class = own.as_ref().err().map_or(0, |error| error.class() as u64);
    let text = own.as_ref().err().map(ToString::to_string).unwrap_or_default();
    let first = match comm.agree(own) {
        Ok(value) => return Ok(value),
        Err(Refused::Here { first, .. }) => first,
        Err(Refused::Elsewhere { rank }) => rank,
        Err(Refused::Mpi(error)) => return Err(error.into()),
    };
    let class = comm.told_number(class, first)?;
    let text = comm.told(&text, first)?;
    Err(CollectiveError::Agreed { first, class: class as c_int, text })
}

struct OperationSetup<'s, 'c, 'a> {
    call: &'s Call<'c, 'a>,
}

impl OperationSetup<'_, '_, '_> {
    /// The root, if the arguments are valid everywhere, and the root is the same.
    fn agree_on_arguments(&self) -> Result<Rank, CollectiveError> {
        let Call { comm, parsed, .. } = self.call;
        let root = self.call.root();
        let least = comm.least(root.map_or(u64::MAX, |root| root as u64))?;
        let own = match (parsed, root) {
            (Err(error), _) => Err(error.clone()),
            (Ok(_), Some(root)) if root as u64 != least => Err(CollectiveError::Refused(format!(
                "rank {} was given root {root}, another rank root {least}",
                comm.rank()
            ))),
            (Ok(parsed), _) => Ok(parsed.root),
        };
        agree(comm, own)
    }

    /// This processor's role and actions by the algorithm of the settings; `None` for the library's own
    /// operation. Collective.
    fn actions(&self, root: Rank) -> Result<Option<(Role, Vec<BoundAction>)>, CollectiveError> {
        let Call { settings, .. } = self.call;
        let operation = self.call.arguments.operation();
        let actions = match settings.algorithm {
            Algorithm::Native => return Ok(None),
            Algorithm::Auto => return self.chosen(root),
            Algorithm::AdaptiveGatherTime => self.adaptive(root, Rule::GatherTime),
            Algorithm::AdaptiveDataSize => self.adaptive(root, Rule::DataSize),
            Algorithm::AdaptiveCompletionTime => {
                self.adaptive(root, Rule::CompletionTime(operation, self.call.costs()?))
            }
            Algorithm::Linear => self.linear(root),
            Algorithm::Schedule => {
                let schedule = |sizes: BlockSizes| {
                    let path = settings.schedule().expect("the algorithm has one");
                    let schedule = self.given_schedule(path)?;
                    check_schedule(&schedule, operation, root, &sizes)
                        .map_err(|reason| refused_file(path, &reason))?;
                    Ok(schedule)
                };
                let schedule = self.checked_sizes(root)?.map(schedule).transpose();
                self.handed_out(root, schedule)
            }
        };
        actions.map(Some)
    }

    /// This processor's role and actions in the schedule of least time; `None` where the library's own
    /// operation is as good. Collective.
    fn chosen(&self, root: Rank) -> Result<Option<(Role, Vec<BoundAction>)>, CollectiveError> {
        let Call { comm, settings, arguments, .. } = self.call;
        let is_outward = arguments.operation().is_outward();
        let best = |sizes: BlockSizes| {
            let machine = settings.machine.clone().ok_or("there is no machine")?;
            let problem = planning::problem(is_outward, &sizes, root, machine)?;
            planning::best_schedule(&problem, &library_version().unwrap_or_default())
        };
        let best = self.checked_sizes(root)?.map(best).transpose();
        let best = agree(comm, best.map_err(CollectiveError::Refused))?.flatten();
        if comm.told_number(u64::from(best.is_some()), root)? == 0 {
            return Ok(None);
        }
        self.handed_out(root, Ok(best)).map(Some)
    }

    fn adaptive(
        &self,
        root: Rank,
        rule: Rule<'_>,
    ) -> Result<(Role, Vec<BoundAction>), CollectiveError> {
        let (node, fault) = self.call.construct(rule)?;
        agree(self.call.comm, self.call.check_sizes(&node, fault))?;
        Ok(self.actions_of(&node, root))
    }

    fn linear(&self, root: Rank) -> Result<(Role, Vec<BoundAction>), CollectiveError> {
        let sizes = self.checked_sizes(root)?;
        let own = self.call.own_bytes().unwrap_or(0);
        let node = match sizes {
            Some(sizes) => Node::centre_of_star(root, own, sizes.iter()),
            None => Node::in_star(self.call.comm.rank(), root, own),
        };
        Ok(self.actions_of(&node, root))
    }

    fn actions_of(&self, node: &Node, root: Rank) -> (Role, Vec<BoundAction>) {
        let Call { comm, arguments, .. } = self.call;
        let (place, skipped) = ((root, comm.size()), EmptyMessages::Skipped);
        let start = self.call.all().map(|all| |rank| all.block_start(rank));
        let start = start.as_ref().map(|start| start as Start<'_>);
        actions_of(node, arguments.operation(), place, start, skipped)
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

    /// This processor's role and actions in the schedule that the root has. Collective.
    fn handed_out(
        &self,
        root: Rank,
        schedule: Result<Option<Rc<Schedule>>, CollectiveError>,
    ) -> Result<(Role, Vec<BoundAction>), CollectiveError> {
        let Call { comm, .. } = *self.call;
        let lists = schedule.and_then(|schedule| schedule.map(|one| words(&one)).transpose());
        let lists = agree(comm, lists)?;
        let list = lists.map(|lists| move |rank: Rank| lists[rank].clone());
        let words = comm.distribute(list, root, super::tag::DATA)?;
        let part = agree(comm, Part::from_words(&words).map_err(refused))?;
        let actions = part.actions().map(|action| BoundAction::new(&action)).collect();
        Ok((*part.role(), actions))
    }

    /// The schedule in this file, which is read if it was not the last one.
    fn given_schedule(&self, path: &Path) -> Result<Rc<Schedule>, CollectiveError> {
        let mut last = self.call.collectives.schedule.borrow_mut();
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

#[expect(clippy::needless_pass_by_value, reason = "`map_err` hands the error over")]
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
        return Err(format!("a schedule for {found} processes; there are {processors}"));
    }
    if task.operation != operation {
        let (found, wanted) = (task.operation.name(), operation.name());
        return Err(format!("a schedule for {found}, called for {wanted}"));
    }
    if let Some(found) = task.root.filter(|&found| found != root) {
        return Err(format!("a schedule with root {found}, called with root {root}"));
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
