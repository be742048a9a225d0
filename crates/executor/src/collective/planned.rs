//! Operations that are performed once, without talking first.
//!
//! Only the root knows all sizes, and every agreement on a tree costs rounds. So each communicator keeps,
//! for each operation and root, a plan: the library's own call, or a tree, in which each process knows its
//! [`Seat`]. Plans are looked up without a message.
//!
//! ```text
//!   call      1          2          3     4          5 6 7   8          9 ...
//!   by        library    plan 1     2     2          4       4          8
//!   then      plan 1 --> plan 2 -->       plan 4 -->         plan 8 -->
//! ```
//!
//! The first call is the library's own. In calls 1, 2, 4, 8, ... the root, which sees all sizes, hands out a
//! new plan, for the sizes of that call: `ceil(log2 p)` short messages follow one another, and none in all
//! the other calls. Along a tree the root does so while the data moves; everybody else takes the plan when its
//! part in that has been done. A plan stays right when sizes change, since they travel with the data; only
//! how good it is depends on them.
//!
//! Call numbers are known to all, because collective calls are made by all in the same order: no process
//! asks another whether a plan is new.

use super::passing::Passing;
use super::seats::{Below, Seat, WORD, notice_bytes};
use super::{Call, CollectiveError, Collectives, EmptyMessages, Once, Room, rounds, tag};
use crate::planning;
use crate::play::BoundAction;
use crate::settings::{Algorithm, Settings};
use crate::sys::{Arguments, Communicator, Handles, MpiError, bytes_of, library_version};
use crate::tree::{Child, Node, digest};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use tuwtree_model::{BlockSizes, ClosedSet, Construction, Operation, Rank};
use tuwtree_schedule::{Action, Arrival, Buffer, Deed, Piece, Receive, Region, Role, Send};

/// No more plans are kept on a communicator; who calls with more roots has the library's own calls.
const MOST_PLANS: usize = 512;

/// A tree cannot win against the library's own call on fewer processes.
const LEAST_PROCESSES: usize = 3;

/// The plans of a communicator, by operation (whether it is outward) and root: the same at all processes,
/// but for the seats.
#[derive(Debug, Default)]
pub(super) struct Plans {
    known: RefCell<HashMap<(bool, Rank), Plan>>,
    /// Along which tree the last call went, if along one.
    last: Cell<Option<Construction>>,
}

/// How an operation with a root is performed.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// How many calls there have been.
    calls: u64,
    way: Way,
    /// What has built the tree, if there is one.
    construction: Option<Construction>,
    /// At the root, the sizes that the plan is for, if there is one yet.
    sizes: Option<BlockSizes>,
    /// What performs it at a process that does not pass data on.
    once: RefCell<Option<Box<Once>>>,
}

#[derive(Debug, Default)]
enum Way {
    /// The library's own call.
    #[default]
    Native,
    /// At the root of a tree or a leaf: who knows the size of whatever it receives.
    Edge(Rc<Seat>),
    /// At a process between them.
    Inner(Box<Passing>),
}

impl Way {
    /// Along the tree in which this process has this seat.
    ///
    /// # Errors
    /// As [`Passing::new`].
    fn in_seat(
        seat: Seat,
        comm: &Rc<Communicator>,
        operation_and_root: (Operation, Rank),
    ) -> Result<Way, CollectiveError> {
        Ok(match seat.parent.is_some() && !seat.children.is_empty() {
            true => Way::Inner(Box::new(Passing::new(comm, seat, operation_and_root)?)),
            false => Way::Edge(Rc::new(seat)),
        })
    }
}

/// What the lists begin with that are handed out.
mod word {
    /// The plan stays.
    pub(super) const SAME: u64 = 0;
    /// The library's own call.
    pub(super) const NATIVE: u64 = 1;
    /// A tree; the place of its construction among all follows, and the seat.
    pub(super) const TREE: u64 = 2;
}

impl Plans {
    /// Forgets all plans: settings have changed.
    pub(super) fn clear(&self) {
        self.known.borrow_mut().clear();
        self.last.set(None);
    }

    /// Along which tree the last call went, if along one that was chosen.
    pub(super) fn last(&self) -> Option<Construction> {
        self.last.get()
    }

    /// The plan of an operation with this root, a new one for its first call; `None` if there are too many.
    fn take(&self, key: (bool, Rank)) -> Option<Plan> {
        let mut known = self.known.borrow_mut();
        let is_full = known.len() >= MOST_PLANS;
        known.remove(&key).or_else(|| (!is_full).then(Plan::default))
    }
}

impl Collectives {
    /// Performs an operation by its plan, and says whether the library's own call was that. Collective.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub(super) fn run_planned(
        &self,
        arguments: &Arguments<'_>,
        settings: &Settings,
    ) -> Result<Algorithm, CollectiveError> {
        let comm = &self.comm;
        self.plans.last.set(None);
        let native = || self.by_library(arguments, settings).map(|()| Algorithm::Native);
        let is_outward = arguments.operation().is_outward();
        let root = arguments.root(comm.size()).filter(|_| comm.size() >= LEAST_PROCESSES);
        let Some(root) = root else { return native() };
        let key = (is_outward, root);
        let Some(mut plan) = self.plans.take(key) else { return native() };
        plan.calls += 1;
        let mut renewal =
            Renewal { collectives: self, arguments, settings, root, list: None, sizes: None };
        let done = match plan.way {
            Way::Native => native(),
            _ => {
                let due = plan.calls.is_power_of_two().then_some(&mut renewal);
                self.plans.last.set(plan.construction);
                let done = plan.perform((self, arguments, settings), due);
                done.map(|()| settings.algorithm())
            }
        };
        // Whatever has failed here, the others go on, and count this call.
        let renewed = match plan.calls.is_power_of_two() {
            true => plan.renew(renewal),
            false => Ok(()),
        };
        self.plans.known.borrow_mut().insert(key, plan);
        done.and_then(|algorithm| renewed.map(|()| algorithm))
    }
}

/// The plan that the root hands out in a call.
pub(super) struct Renewal<'c, 'a> {
    collectives: &'c Collectives,
    arguments: &'c Arguments<'a>,
    settings: &'c Settings,
    root: Rank,
    /// What this process has been handed, if it has been already.
    list: Option<Result<Vec<u64>, MpiError>>,
    /// At the root, the sizes that the new plan is for, if there is one.
    sizes: Option<BlockSizes>,
}

impl Renewal<'_, '_> {
    /// Hands out a plan for these sizes, where the old one was for others: the root's part. Collective.
    fn hand_out(&mut self, sizes: Option<BlockSizes>, old: Option<&BlockSizes>) {
        let comm = &self.collectives.comm;
        let lists = match sizes.filter(|sizes| old != Some(sizes)) {
            None => vec![vec![word::SAME]; comm.size()],
            Some(sizes) => {
                let operation = self.arguments.operation();
                let seats = seats(operation, &sizes, self.root, self.settings);
                self.sizes = Some(sizes);
                match seats {
                    None => vec![vec![word::NATIVE]; comm.size()],
                    Some((construction, seats)) => {
                        let place = Construction::all().position(|one| one == construction);
                        let kind = vec![word::TREE, place.expect("it is one of all") as u64];
                        let list = |seat: Seat| [kind.clone(), seat.to_words()].concat();
                        seats.into_iter().map(list).collect()
                    }
                }
            }
        };
        self.list = Some(rounds::handed_down(&**comm, self.root, Some(lists)));
    }
}

impl Plan {
    /// That of a process with this seat.
    ///
    /// # Errors
    /// No memory; what MPI returns.
    pub(super) fn in_seat(
        seat: Seat,
        comm: &Rc<Communicator>,
        operation_and_root: (Operation, Rank),
    ) -> Result<Plan, CollectiveError> {
        Ok(Plan { way: Way::in_seat(seat, comm, operation_and_root)?, ..Plan::default() })
    }

    /// Whether that is the library's own call.
    pub(super) fn is_native(&self) -> bool {
        matches!(self.way, Way::Native)
    }

    /// Performs the operation along the tree. The root hands out a new plan meanwhile, if one is due and it can.
    pub(super) fn perform(
        &mut self,
        (collectives, arguments, settings): (&Collectives, &Arguments<'_>, &Settings),
        renewal: Option<&mut Renewal<'_, '_>>,
    ) -> Result<(), CollectiveError> {
        let room = Room { home: &self.once, once: self.once.take() };
        let call = Call::new(collectives, arguments, settings, (Handles::Lent, room));
        let wrong = call.parsed.as_ref().err().cloned();
        let done = match &mut self.way {
            Way::Native => unreachable!("the library's own call needs no tree"),
            Way::Edge(seat) => match renewal.filter(|_| seat.parent.is_none()) {
                Some(renewal) => {
                    let (sizes, old) = (call.sizes(), self.sizes.as_ref());
                    call.along_seat(seat, Some(&mut || renewal.hand_out(sizes.clone(), old)))
                }
                None => call.along_seat(seat, None),
            },
            Way::Inner(passing) => {
                let own = call.parsed.as_ref().ok().and_then(|parsed| parsed.own.as_ref());
                passing.run(own)
            }
        };
        // What is wrong here comes first.
        wrong.map_or(done, Err)
    }

    /// Takes the plan that the root hands out for the sizes of this call. Collective.
    fn renew(&mut self, mut renewal: Renewal<'_, '_>) -> Result<(), CollectiveError> {
        let Renewal { collectives, arguments, settings, root, .. } = renewal;
        let (comm, operation) = (&collectives.comm, arguments.operation());
        if renewal.list.is_none() && comm.rank() == root {
            let room = Room { home: &self.once, once: None };
            let call = Call::new(collectives, arguments, settings, (Handles::Lent, room));
            renewal.hand_out(call.sizes(), self.sizes.as_ref());
        }
        let list = renewal.list.unwrap_or_else(|| rounds::handed_down(&**comm, root, None))?;
        if renewal.sizes.is_some() {
            self.sizes = renewal.sizes;
        }
        match list.as_slice() {
            [word::NATIVE] => (self.way, self.construction) = (Way::Native, None),
            [word::TREE, construction, words @ ..] => {
                self.construction = Construction::all().nth(*construction as usize);
                self.way = Way::in_seat(Seat::from_words(words), comm, (operation, root))?;
                self.once.replace(None);
            }
            _ => {}
        }
        Ok(())
    }
}

/// A process's seat in a tree that is kept, and what it does while data moves.
pub(super) struct KeptTree<'s> {
    pub(super) seat: &'s Rc<Seat>,
    pub(super) meanwhile: Option<&'s mut dyn FnMut()>,
}

/// The seats in the tree of least time, and what has built it; `None` if the library's own call is as good.
fn seats(
    operation: Operation,
    sizes: &BlockSizes,
    root: Rank,
    settings: &Settings,
) -> Option<(Construction, Vec<Seat>)> {
    let machine = settings.judged_machine()?;
    let problem = planning::problem(operation.is_outward(), sizes, root, machine).ok()?;
    let window = settings.window().filter(|_| !operation.is_outward());
    let limits = (settings.most_passed, window);
    if settings.algorithm() == Algorithm::DeadlineOnline {
        let seats = Seat::of_tree(&planning::online_tree(&problem).ok()?, sizes, limits);
        return seats.map(|seats| (Construction::DeadlineOnline, seats));
    }
    let library = library_version().unwrap_or_default();
    planning::best_passed(&problem, &library, |tree| Seat::of_tree(tree, sizes, limits))
}

impl Call<'_, '_> {
    /// Performs the operation from this seat at the root of a tree or at a leaf.
    fn along_seat<'s>(
        self,
        seat: &'s Rc<Seat>,
        meanwhile: Option<&'s mut dyn FnMut()>,
    ) -> Result<(), CollectiveError> {
        let (rank, own) = (self.comm.rank(), self.own_bytes().unwrap_or(0));
        if let (Some(parent), Some(_)) = (seat.parent, seat.own.waits_for) {
            self.comm.receive_any(parent, tag::DATA)?;
        }
        let node = match seat.parent {
            Some(_) if seat.own.is_silent && own == 0 => return Ok(()),
            Some(parent) => Node::in_star(rank, parent, own),
            None => {
                let bytes = |of: Rank| self.all().map_or(0, |all| all.block_bytes(of));
                let child = |below: &Below| {
                    let ranks = below.first..=below.last;
                    let digests = ranks.clone().map(|of| digest(of, bytes(of)));
                    let digest = digests.fold(0, u64::wrapping_add);
                    let bytes = ranks.map(bytes).sum();
                    Child::of_range((below.rank, below.first, below.last), bytes, digest)
                };
                let children = seat.children.iter().map(|below| (below.is_silent, child(below)));
                let children: Vec<Child> = children
                    .filter(|(is_silent, child)| !is_silent || child.bytes > 0)
                    .map(|(_, child)| child)
                    .collect();
                let total = own + children.iter().map(|child| child.bytes).sum::<u64>();
                let last = self.comm.size() - 1;
                Node { children, first: 0, last, bytes: total, ..Node::in_star(rank, rank, own) }
            }
        };
        self.along((node, Ok(())), EmptyMessages::Sent, Some(KeptTree { seat, meanwhile }))
    }
}

/// Has the actions of a root or a leaf say sizes where the other end does not know them, and large blocks go
/// straight: what they need of the segment beforehand, from these offsets on.
pub(super) fn state_sizes(
    (role, actions): &mut (Role, Vec<BoundAction>),
    seat: &Seat,
    (block, element): (&dyn Fn(Rank) -> u64, u64),
) -> Vec<(u64, Vec<u8>)> {
    let own = role.own_bytes;
    match (seat.parent, role.operation) {
        (Some(_), _) if seat.own.is_straight(own) => {
            let root = role.root.expect("a gather or scatter has a root");
            go_straight(actions, root);
            Vec::new()
        }
        (Some(parent), Operation::Gather) if seat.is_noticed(own) => {
            role.segment_bytes = notice_bytes(seat.own.room);
            actions.insert(0, send(parent, Buffer::Segment, 0, role.segment_bytes));
            vec![(0, own.to_ne_bytes().to_vec())]
        }
        (Some(_), _) => Vec::new(),
        (None, _) => {
            let straight = part_straight(actions, seat, block);
            let stated = match role.operation.is_outward() {
                true => state_lengths((role, actions), seat, block),
                false => {
                    release(actions, seat, element);
                    Vec::new()
                }
            };
            actions.extend(straight);
            stated
        }
    }
}

/// Has the one message of a leaf go to the root, or come from it, and an empty one take its place.
fn go_straight(actions: &mut Vec<BoundAction>, root: Rank) {
    let mut empty = actions[0].clone();
    for region in [&mut empty.reads, &mut empty.writes].into_iter().flatten() {
        region.1.clear();
    }
    if let Some((to, _)) = &mut actions[0].send {
        *to = root;
    }
    if let Some((from, _, _)) = &mut actions[0].receive {
        *from = root;
    }
    actions.insert(0, empty);
}

/// Has the root of a gather tell a child to send when the one has arrived for which it waits: by a message of
/// an element from there, whatever it is, which therefore waits for it.
fn release(actions: &mut Vec<BoundAction>, seat: &Seat, element: u64) {
    for (index, child) in seat.children.iter().enumerate() {
        let mut waiting =
            seat.children.iter().filter(|one| one.waits_for == Some(index)).peekable();
        if waiting.peek().is_none() {
            continue;
        }
        let at = actions.iter().position(|one| one.receive.is_some_and(|one| one.0 == child.rank));
        let at = at.expect("a child that is waited for sends");
        let written = actions[at].writes.as_ref().and_then(|(buffer, pieces)| {
            pieces
                .first()
                .map(|piece| (*buffer, Piece { bytes: element.min(piece.bytes), ..*piece }))
        });
        let (buffer, piece) = written.unwrap_or((Buffer::Output, Piece { offset: 0, bytes: 0 }));
        let pieces = [piece];
        let from = Region { buffer, pieces: &pieces[..usize::from(piece.bytes > 0)] };
        let go = |one: &Below| {
            BoundAction::new(&Action {
                port: 0,
                deed: Deed::Send(Send { to: one.rank, tag: 0, from }),
            })
        };
        let released: Vec<BoundAction> = waiting.map(go).collect();
        actions.splice(at + 1..at + 1, released);
    }
}

/// Takes the blocks that go straight out of the root's messages with its children: their own messages.
fn part_straight(
    actions: &mut [BoundAction],
    seat: &Seat,
    block: &dyn Fn(Rank) -> u64,
) -> Vec<BoundAction> {
    let mut straight = Vec::new();
    for action in actions {
        let sent = action.send.map(|(to, _)| to);
        let received = action.receive.map(|(from, _, _)| from);
        let child = seat.children.iter().find(|child| sent.or(received) == Some(child.rank));
        let Some(child) = child.filter(|child| {
            child.is_inner && (child.first..=child.last).any(|rank| child.is_straight(block(rank)))
        }) else {
            continue;
        };
        let region = action.reads.as_mut().or(action.writes.as_mut());
        let (buffer, pieces) = region.expect("a message has data");
        let mut offset = pieces[0].offset;
        pieces.clear();
        for rank in child.first..=child.last {
            let piece = Piece { offset, bytes: block(rank) };
            offset += piece.bytes;
            match (child.is_straight(piece.bytes), pieces.last_mut()) {
                (true, _) => {
                    let alone = [piece];
                    let region = Region { buffer: *buffer, pieces: &alone };
                    straight.push(BoundAction::new(&Action {
                        port: 0,
                        deed: match sent.is_some() {
                            true => Deed::Send(Send { to: rank, tag: LATER, from: region }),
                            false => Deed::Receive(Receive {
                                from: rank,
                                tag: LATER,
                                into: region,
                                arrival: Arrival::Store,
                            }),
                        },
                    }));
                }
                (false, Some(last)) if last.offset + last.bytes == piece.offset => {
                    last.bytes += piece.bytes;
                }
                (false, _) => pieces.push(piece),
            }
        }
        pieces.retain(|piece| piece.bytes > 0);
    }
    straight
}

/// The schedule's tag of messages that come after all others between the same two processes.
const LATER: u32 = 1;

/// Has the root of a scatter send sizes to children that pass data on: what that needs of the segment.
fn state_lengths(
    (role, actions): (&mut Role, &mut Vec<BoundAction>),
    seat: &Seat,
    block: &dyn Fn(Rank) -> u64,
) -> Vec<(u64, Vec<u8>)> {
    let mut stated = Vec::new();
    let mut all = Vec::with_capacity(actions.len());
    for action in std::mem::take(actions) {
        let child = action.send.and_then(|(to, _)| {
            seat.children.iter().find(|child| child.rank == to && child.is_inner)
        });
        let Some(child) = child else {
            all.push(action);
            continue;
        };
        let lengths = (child.first..=child.last).map(|rank| child.passed(block(rank)));
        let lengths: Vec<u64> = lengths.collect();
        let (header, bytes) = (WORD * lengths.len() as u64, lengths.iter().sum::<u64>());
        let at = role.segment_bytes;
        stated.push((at, bytes_of(&lengths)));
        if bytes > child.room {
            role.segment_bytes += header;
            all.extend([send(child.rank, Buffer::Segment, at, header), action]);
            continue;
        }
        role.segment_bytes += header + bytes;
        if let Some((buffer, pieces)) = action.reads.filter(|_| bytes > 0) {
            let from = Region { buffer, pieces: &pieces };
            let behind = [Piece { offset: at + header, bytes }];
            let into = Region { buffer: Buffer::Segment, pieces: &behind };
            all.push(BoundAction::new(&Action { port: 0, deed: Deed::Copy { from, into } }));
        }
        all.push(send(child.rank, Buffer::Segment, at, header + bytes));
    }
    *actions = all;
    stated
}

fn send(to: Rank, buffer: Buffer, offset: u64, bytes: u64) -> BoundAction {
    let pieces = [Piece { offset, bytes }];
    let from = Region { buffer, pieces: &pieces };
    BoundAction::new(&Action { port: 0, deed: Deed::Send(Send { to, tag: 0, from }) })
}
