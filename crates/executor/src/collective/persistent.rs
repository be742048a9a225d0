//! Operations that are set up once and started many times.
//!
//! Setting up is collective and ends alike at all ranks: an error at one rank is an error at all,
//! with equal text. An operation that was set up cannot fail on sizes.

use super::along::{EmptyMessages, Start, actions_of};
use super::call::Call;
use super::circulating::Circulating;
use super::{CollectiveError, Collectives, known, rounds, windows};
use crate::planning;
use crate::play::{Arrangement, BoundAction, Execution, ExecutionError, Manner, Strictness};
use crate::settings::Algorithm;
use crate::tree::{Child, Node, Rule};
use std::ffi::c_int;
use std::fs::File;
use std::io::BufReader;
use std::marker::PhantomData;
use std::path::Path;
use std::rc::Rc;
use tuwtree_binding::{
    Arguments, Communicator, Function, NativeRequest, PlaceError, Reuse, library_version,
};
use tuwtree_dp::wider::{ChildRange, OwnPlace};
use tuwtree_model::{BlockSizes, ClosedSet, Collective, Operation, Payload, Rank};
use tuwtree_plan::catalogue::OnlinePart;
use tuwtree_schedule::part::Part;
use tuwtree_schedule::{Buffer, Role, Schedule, document, verify};

/// A gather, scatter, allgather, reduce-scatter or alltoall that is started as often as one likes, with the data that its buffers, which
/// live as long as `'a`, then hold.
#[derive(Debug)]
pub struct Persistent<'a> {
    performer: Performer<'a>,
    buffers: PhantomData<&'a mut [u8]>,
}

#[derive(Debug)]
enum Performer<'a> {
    Ours(Box<Execution>),
    Circulating(Box<Circulating>),
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
            Performer::Circulating(circulating) => circulating.start(),
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
            Performer::Circulating(circulating) => circulating.wait(),
            Performer::Native(request) => Ok(request.wait()?),
        }
    }

    /// Tests for completion; true also if not started. The operation progresses only here and in
    /// [`wait`](Self::wait).
    ///
    /// # Errors
    /// What MPI returns.
    pub fn test(&mut self) -> Result<bool, CollectiveError> {
        match &mut self.performer {
            Performer::Ours(execution) => Ok(execution.test()?),
            Performer::Circulating(circulating) => circulating.test(),
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

    /// True from the start until completion was seen.
    pub fn is_under_way(&self) -> bool {
        match &self.performer {
            Performer::Ours(execution) => execution.is_under_way(),
            Performer::Circulating(circulating) => circulating.is_under_way(),
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
            ExecutionError::Memory(error) | ExecutionError::Place(PlaceError::Memory(error)) => {
                CollectiveError::Memory(error)
            }
            other => CollectiveError::Refused(other.to_string()),
        }
    }
}

impl From<PlaceError> for CollectiveError {
    fn from(error: PlaceError) -> CollectiveError {
        CollectiveError::from(ExecutionError::Place(error))
    }
}

/// The operation, whose messages have tags of their own if it is to be started again. Collective.
///
/// # Errors
/// [`CollectiveError`], at all ranks if at any.
///
/// # Complexity
/// At most `3 ceil(log2 p)` messages follow one another, unless something is wrong: two thirds of them
/// state sizes, and build a tree or hand out what everybody does; one third agree that nothing failed.
pub(super) fn set_up<'a>(
    call: &Call<'_, 'a>,
    reuse: Reuse,
) -> Result<Persistent<'a>, CollectiveError> {
    let comm = call.comm;
    let performer = match (OperationSetup { call }).route()? {
        Route::Native => native(comm, call.arguments)?,
        Route::Along { tags, actions } => {
            let (own, first_tag) = call.collectives.tags(tags, reuse)?;
            let strictness = Strictness::Exact;
            let manner = Manner { mode: call.settings.mode, reuse, first_tag, strictness };
            let execution =
                actions.and_then(|actions| bound(call, actions, &own, manner).map_err(Wrong::Here));
            Performer::Ours(Box::new(agree(comm, execution)?))
        }
    };
    Ok(Persistent { performer, buffers: PhantomData })
}

/// Sets up an operation without a root. Collective.
///
/// # Errors
/// [`CollectiveError`], at all ranks if at any.
///
/// # Complexity
/// At most `2 ceil(log2 p)` messages follow one another, unless something is wrong: half of them compare sizes, half
/// agree that nothing failed. Alltoalls in bundles: as many messages again as they have rounds, with sizes.
pub(super) fn set_up_rootless<'a>(
    collectives: &Collectives,
    arguments: &Arguments<'a>,
    strictness: Strictness,
) -> Result<Persistent<'a>, CollectiveError> {
    let ours = |execution| Performer::Ours(Box::new(execution));
    let circulating = |circulating| Performer::Circulating(Box::new(circulating));
    let own = match arguments.function() {
        Function::ReduceScatter | Function::ReduceScatterBlock => {
            collectives.set_up_reduce_scatter(arguments).map(|own| own.map(circulating))
        }
        Function::Alltoall | Function::Alltoallv => {
            collectives.set_up_alltoall(arguments, strictness).map(|own| own.map(ours))
        }
        _ => collectives.set_up_allgather(arguments).map(|own| own.map(circulating)),
    };
    agreed_rootless(&collectives.comm, own, arguments)
}

/// The operation set up here, if all ranks have set up one, or the library's own. Collective.
fn agreed_rootless<'a>(
    comm: &Rc<Communicator>,
    own: Result<Option<Performer<'a>>, CollectiveError>,
    arguments: &Arguments<'a>,
) -> Result<Persistent<'a>, CollectiveError> {
    let own = own.map_err(|error| match error {
        heard @ CollectiveError::GivenUp { .. } => Wrong::Heard(heard),
        here => Wrong::Here(here),
    });
    let performer = match agree(comm, own)? {
        Some(ours) => ours,
        None => native(comm, arguments)?,
    };
    Ok(Persistent { performer, buffers: PhantomData })
}

/// The library's own operation. Collective.
///
/// # Errors
/// What MPI returns, at all ranks if at any.
fn native<'a>(
    comm: &Rc<Communicator>,
    arguments: &Arguments<'a>,
) -> Result<Performer<'a>, CollectiveError> {
    // Persistent operations match in the order in which they are set up; where the library has
    // none, what is started each time would match in the order of starts, which is anybody's.
    let own = match Communicator::has_persistent() {
        true => Rc::clone(comm),
        false => Rc::new(comm.duplicate_again()?),
    };
    let request = NativeRequest::new(arguments, &own);
    let request = agree(comm, request.map_err(|error| Wrong::Here(error.into())))?;
    Ok(Performer::Native(Box::new(request)))
}

/// The actions on the buffers of the call.
fn bound(
    call: &Call<'_, '_>,
    actions: (Role, Vec<BoundAction>),
    own: &Rc<Communicator>,
    manner: Manner,
) -> Result<Execution, CollectiveError> {
    let mut execution = Execution::of_nothing(own)?;
    let buffers = call.buffers(execution.nothing())?;
    execution.bind(actions, buffers, (manner, Arrangement::New))?;
    Ok(execution)
}

/// Execution of an operation; equal at all ranks.
enum Route {
    /// By the library.
    Native,
    /// By messages of our own.
    Along {
        /// Number of tags.
        tags: u32,
        /// This rank's part.
        actions: Result<(Role, Vec<BoundAction>), Wrong>,
    },
}

/// Reason for which a rank cannot go on.
enum Wrong {
    /// It has found out itself.
    Here(CollectiveError),
    /// It has been told by others.
    Heard(CollectiveError),
}

/// The value, if all ranks have one; otherwise the error of the first that has found one itself,
/// or if none has, of the first that was told. Collective.
fn agree<T>(comm: &Communicator, own: Result<T, Wrong>) -> Result<T, CollectiveError> {
    let (rank, size) = (comm.rank(), comm.size());
    let number = match &own {
        Ok(_) => u64::MAX,
        Err(Wrong::Here(_)) => rank as u64,
        Err(Wrong::Heard(_)) => (size + rank) as u64,
    };
    let first = rounds::least(comm, number)?;
    match own {
        Ok(value) if first == u64::MAX => Ok(value),
        Ok(_) => Err(told(comm, first as Rank % size, None)),
        Err(Wrong::Here(error) | Wrong::Heard(error)) => {
            Err(told(comm, first as Rank % size, Some(&error)))
        }
    }
}

/// The error that rank `first` has, at all of them. Collective.
fn told(comm: &Communicator, first: Rank, own: Option<&CollectiveError>) -> CollectiveError {
    let class = own.map_or(0, |error| error.class() as u64);
    let text = own.map(ToString::to_string).unwrap_or_default();
    let said = || Ok((comm.told_number(class, first)?, comm.told(&text, first)?));
    match said() {
        Ok((class, text)) => CollectiveError::Agreed { first, class: class as c_int, text },
        Err(error) => CollectiveError::Mpi(error),
    }
}

struct OperationSetup<'s, 'c, 'a> {
    call: &'s Call<'c, 'a>,
}

impl OperationSetup<'_, '_, '_> {
    /// Execution by the settings' algorithm. Collective.
    fn route(&self) -> Result<Route, CollectiveError> {
        let Call { settings, .. } = self.call;
        match settings.algorithm() {
            Algorithm::Native if self.call.are_for_library() => {
                self.stated().map(|_| Route::Native)
            }
            Algorithm::Auto => self.chosen(),
            Algorithm::DeadlineOnline => self.online(),
            Algorithm::AdaptiveGatherTime => self.adaptive(Rule::GatherTime),
            Algorithm::AdaptiveDataSize => self.adaptive(Rule::DataSize),
            Algorithm::AdaptiveCompletionTime => {
                let operation = self.call.arguments.operation();
                self.adaptive(Rule::CompletionTime(operation, self.call.costs()?))
            }
            Algorithm::Linear | Algorithm::Native => self.linear(),
            Algorithm::Schedule => self.given(),
        }
    }

    /// The root, and the sizes of all blocks as the ranks state them, if the arguments are valid
    /// everywhere, and the root is the same. Collective.
    fn stated(&self) -> Result<(Rank, Vec<u64>), CollectiveError> {
        let Call { comm, ref parsed, .. } = *self.call;
        const INVALID: u64 = u64::MAX;
        let root = self.call.root().map_or(INVALID, |root| root as u64);
        let bytes = self.call.own_bytes().unwrap_or(INVALID);
        let all = rounds::all_words(&**comm, [root, bytes])?;
        if let Some(first) = all.iter().position(|&[_, bytes]| bytes == INVALID) {
            return Err(told(comm, first, parsed.as_ref().err()));
        }
        let root = all.iter().map(|&[root, _]| root).min().expect("at least one rank");
        match all.iter().position(|&[other, _]| other != root) {
            Some(rank) => {
                let text = format!(
                    "rank {rank} was given root {}, another rank root {root}",
                    all[rank][0]
                );
                let class = CollectiveError::Refused(String::new()).class();
                Err(CollectiveError::Agreed { first: rank, class, text })
            }
            None => Ok((root as Rank, all.into_iter().map(|[_, bytes]| bytes).collect())),
        }
    }

    /// The schedule of least time, or the library's own operation where that is as good. Collective.
    fn chosen(&self) -> Result<Route, CollectiveError> {
        let Call { settings, arguments, .. } = self.call;
        let (root, stated) = self.stated()?;
        let is_outward = arguments.operation().is_outward();
        let best = |sizes: BlockSizes| {
            let machine = settings.judged_machine().ok_or("there is no machine")?;
            let problem = planning::problem(is_outward, &sizes, root, machine)?;
            let library = library_version().unwrap_or_default();
            planning::best_schedule(&problem, &library, settings.most_passed)
        };
        let sizes = self.checked_sizes(&stated);
        self.handed_out(
            (root, self.window()),
            sizes.and_then(|sizes| match sizes {
                Some(sizes) => best(sizes).map_err(CollectiveError::Refused),
                None => Ok(None),
            }),
        )
    }

    /// Along the tree in which each process that knows all sizes finds its own place: they are stated, and nothing
    /// is handed out. Collective.
    fn online(&self) -> Result<Route, CollectiveError> {
        let (root, stated) = self.stated()?;
        let checked = self.checked_sizes(&stated);
        let actions = checked.and_then(|_| self.found_actions(root, stated));
        let actions = actions.map(|(part, is_told)| self.in_window(part, is_told));
        Ok(Route::Along { tags: 1, actions: actions.map_err(Wrong::Here) })
    }

    /// Most bytes under way to a process at once; unlimited if `None`.
    fn window(&self) -> Option<u64> {
        let Call { settings, arguments, .. } = self.call;
        settings.window().filter(|_| !arguments.operation().is_outward())
    }

    /// This process's actions under the window, with or without a message from its parent before sending.
    fn in_window(
        &self,
        (role, mut actions): (Role, Vec<BoundAction>),
        is_told: bool,
    ) -> (Role, Vec<BoundAction>) {
        if let Some(window) = self.window() {
            windows::keep_window(&mut actions, is_told, window);
        }
        (role, actions)
    }

    /// This process's actions in its own tree, with or without a message from its parent before sending. If a subtree
    /// of the root exceeds the limit of passed data, all ranks send straight.
    fn found_actions(
        &self,
        root: Rank,
        stated: Vec<u64>,
    ) -> Result<((Role, Vec<BoundAction>), bool), CollectiveError> {
        let Call { comm, arguments, settings, .. } = *self.call;
        let (rank, operation) = (comm.rank(), arguments.operation());
        let sizes = BlockSizes::new(stated).map_err(refused)?;
        let is_too_much = |bytes: u64| bytes > settings.most_passed;
        let among = |siblings: &[ChildRange]| {
            let window = self.window();
            window.is_some_and(|window| windows::is_told(rank, siblings, &sizes, window))
        };
        let (node, is_told) = match known::found(operation, root, &sizes, (rank, settings))? {
            OnlinePart::Place(place) => {
                let inner = place.branches.iter().filter(|one| one.first < one.last);
                let mut held = inner.map(|one| sizes.range(one.first, one.last));
                let node = Some(node_at(rank, &place, &sizes)).filter(|_| !held.any(is_too_much));
                (node, among(&place.siblings))
            }
            OnlinePart::Tree(tree) if is_too_much(planning::largest_segment(&tree, &sizes)) => {
                (None, false)
            }
            OnlinePart::Tree(tree) => {
                let collective = Collective::new(operation, sizes.clone()).map_err(refused)?;
                let schedule = Schedule::without_costs(&tree, &collective).map_err(refused)?;
                let part = Part::of_schedule(&schedule, rank).map_err(refused)?;
                let actions = part.actions().map(|action| BoundAction::new(&action));
                let window = self.window();
                let is_told = window.is_some_and(|window| windows::told(&schedule, window)[rank]);
                return Ok(((*part.role(), actions.collect()), is_told));
            }
        };
        let (node, is_told) = match node {
            Some(node) => (node, is_told),
            None if rank == root => {
                (Node::centre_of_star(root, sizes.block(root), sizes.iter()), false)
            }
            None => {
                let others = (0..sizes.ranks()).filter(|&other| other != root);
                let siblings: Vec<ChildRange> =
                    others.map(|rank| ChildRange { rank, first: rank, last: rank }).collect();
                (Node::in_star(rank, root, sizes.block(rank)), among(&siblings))
            }
        };
        Ok((self.actions_of(&node, root), is_told))
    }

    /// The schedule of the settings, which the root reads. Collective.
    fn given(&self) -> Result<Route, CollectiveError> {
        let Call { settings, arguments, .. } = self.call;
        let (root, stated) = self.stated()?;
        let schedule = |sizes: BlockSizes| {
            let path = settings.schedule().expect("the algorithm has one");
            let schedule = self.given_schedule(path)?;
            check_schedule(&schedule, arguments.operation(), root, &sizes)
                .map_err(|reason| refused_file(path, &reason))?;
            let others = |rank| {
                let held = schedule.buffer_bytes(rank, Buffer::Segment);
                held.saturating_sub(sizes.block(rank))
            };
            let mut ranks = (0..sizes.ranks()).filter(|&rank| rank != root);
            let is_held = ranks.all(|rank| others(rank) <= settings.most_passed);
            // Otherwise all goes straight, by the library's own call.
            Ok(Some(schedule).filter(|_| is_held))
        };
        let sizes = self.checked_sizes(&stated);
        self.handed_out(
            (root, None),
            sizes.and_then(|sizes| match sizes {
                Some(sizes) => schedule(sizes),
                None => Ok(None),
            }),
        )
    }

    fn adaptive(&self, rule: Rule<'_>) -> Result<Route, CollectiveError> {
        let call = self.call;
        // That nothing is wrong anywhere is agreed on, before any data goes straight.
        let (node, fault, _) = call.construct(rule, call.settings.most_passed)?;
        let checked = match (&call.parsed, fault) {
            (Err(error), _) => Err(Wrong::Here(error.clone())),
            (Ok(_), Some(fault)) => Err(Wrong::Heard(fault.into())),
            (Ok(parsed), None) => {
                call.check_sizes(&node, None).map_err(Wrong::Here).map(|()| parsed.root)
            }
        };
        let actions = checked.map(|root| self.actions_of(&call.with_straight(node, rule), root));
        Ok(Route::Along { tags: 1, actions })
    }

    fn linear(&self) -> Result<Route, CollectiveError> {
        let (root, stated) = self.stated()?;
        let own = stated[self.call.comm.rank()];
        let actions = self.checked_sizes(&stated).map_err(Wrong::Here).map(|sizes| {
            let node = match sizes {
                Some(sizes) => Node::centre_of_star(root, own, sizes.iter()),
                None => Node::in_star(self.call.comm.rank(), root, own),
            };
            self.actions_of(&node, root)
        });
        Ok(Route::Along { tags: 1, actions })
    }

    fn actions_of(&self, node: &Node, root: Rank) -> (Role, Vec<BoundAction>) {
        let Call { comm, arguments, .. } = self.call;
        let (place, skipped) = ((root, comm.size()), EmptyMessages::Skipped);
        let start = self.call.all().map(|all| |rank| all.block_start(rank));
        let start = start.as_ref().map(|start| start as Start<'_>);
        actions_of(node, arguments.operation(), place, start, skipped)
    }

    /// All sizes, at the root, if they are what the others state.
    fn checked_sizes(&self, stated: &[u64]) -> Result<Option<BlockSizes>, CollectiveError> {
        let Some(sizes) = self.call.sizes() else { return Ok(None) };
        let differs = |rank: &Rank| stated[*rank] != sizes.block(*rank);
        match (0..stated.len()).find(differs) {
            None => Ok(Some(sizes)),
            Some(rank) => {
                let (stated, expected) = (stated[rank], sizes.block(rank));
                Err(CollectiveError::Sizes { first: rank, last: rank, stated, expected })
            }
        }
    }

    /// The schedule that the root has, in which all keep to the window, if there is one; or if it has none, the
    /// library's own operation. Collective.
    fn handed_out(
        &self,
        (root, window): (Rank, Option<u64>),
        schedule: Result<Option<Rc<Schedule>>, CollectiveError>,
    ) -> Result<Route, CollectiveError> {
        /// First word of the lists; the number of tags follows, and the flag of a message before sending.
        const NATIVE: u64 = 0;
        const ALONG: u64 = 1;
        const REFUSED: u64 = 2;
        let Call { comm, .. } = *self.call;
        let (lists, refused_here) = if comm.rank() == root {
            let all = |list: &[u64]| vec![list.to_vec(); comm.size()];
            let parts = |schedule: Rc<Schedule>| {
                let told = window.map(|window| windows::told(&schedule, window));
                let told = told.unwrap_or_else(|| vec![false; comm.size()]);
                words(&schedule).map(|(tags, parts)| (tags, parts, told))
            };
            match schedule.and_then(|schedule| schedule.map(parts).transpose()) {
                Ok(None) => (Some(all(&[NATIVE])), None),
                Ok(Some((tags, parts, told))) => {
                    let list = |(part, told): (Vec<u64>, bool)| {
                        [vec![ALONG, tags.into(), told.into()], part].concat()
                    };
                    (Some(parts.into_iter().zip(told).map(list).collect()), None)
                }
                Err(error) => (Some(all(&[REFUSED])), Some(error)),
            }
        } else {
            (None, None)
        };
        let list = rounds::handed_down(&**comm, root, lists)?;
        Ok(match list.as_slice() {
            [NATIVE] if !self.call.are_for_library() => self.linear()?,
            [NATIVE] => Route::Native,
            [ALONG, tags, told, part @ ..] => {
                let part = Part::from_words(part).map_err(|error| Wrong::Here(refused(error)));
                let actions = part.map(|part| {
                    let actions = part.actions().map(|action| BoundAction::new(&action));
                    let part = (*part.role(), actions.collect());
                    match window {
                        Some(_) => self.in_window(part, *told != 0),
                        None => part,
                    }
                });
                Route::Along { tags: *tags as u32, actions }
            }
            _ => {
                let elsewhere = || Wrong::Heard(CollectiveError::GivenUp { rank: comm.rank() });
                let wrong = refused_here.map_or_else(elsewhere, Wrong::Here);
                Route::Along { tags: 0, actions: Err(wrong) }
            }
        })
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

/// The place in a tree, as the process that has it performs it.
fn node_at(rank: Rank, place: &OwnPlace, sizes: &BlockSizes) -> Node {
    let child = |child: &ChildRange| {
        let ChildRange { rank, first, last } = *child;
        // Sizes have been compared before.
        Child::of_range((rank, first, last), sizes.range(first, last), 0)
    };
    Node {
        rank,
        parent: place.parent,
        children: place.children.iter().map(child).collect(),
        received_before_copy: 0,
        first: place.first,
        last: place.last,
        block: sizes.block(rank),
        bytes: sizes.range(place.first, place.last),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "`map_err` hands the error over")]
fn refused(error: impl ToString) -> CollectiveError {
    CollectiveError::Refused(error.to_string())
}

fn refused_file(path: &Path, reason: &str) -> CollectiveError {
    CollectiveError::Refused(format!("{}: {reason}", path.display()))
}

/// Number of tags, and the parts of all ranks, as words.
fn words(schedule: &Schedule) -> Result<(u32, Vec<Vec<u64>>), CollectiveError> {
    let mut tags = 0;
    let part = |rank| {
        let part = Part::of_schedule(schedule, rank).map_err(refused)?;
        let mut peers: Vec<Rank> =
            part.actions().filter_map(|action| Some(action.send()?.to)).collect();
        peers.sort_unstable();
        let most = peers.chunk_by(|one, other| one == other).map(<[Rank]>::len).max();
        tags = tags.max(most.unwrap_or(0) as u32);
        Ok(part.to_words())
    };
    let parts: Result<Vec<Vec<u64>>, CollectiveError> = (0..schedule.ranks()).map(part).collect();
    Ok((tags, parts?))
}

/// Checks that the schedule is valid and of this operation.
fn check_schedule(
    schedule: &Schedule,
    operation: Operation,
    root: Rank,
    sizes: &BlockSizes,
) -> Result<(), String> {
    let task = schedule.task();
    let ranks = sizes.ranks();
    if task.ranks() != ranks {
        let found = task.ranks();
        return Err(format!("a schedule for {found} processes; there are {ranks}"));
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
    if let Some(rank) = (0..ranks).find(|&rank| given.block(rank) != sizes.block(rank)) {
        let (given, wanted) = (given.block(rank), sizes.block(rank));
        return Err(format!(
            "block {rank} has {given} bytes in the schedule, and {wanted} in the call"
        ));
    }
    verify(schedule).map_err(|error| error.to_string()).map(drop)
}
