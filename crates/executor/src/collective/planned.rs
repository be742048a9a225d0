//! Operations that are performed once, without talking first.
//!
//! Only the root knows all sizes, and every agreement on a tree costs rounds. So each communicator keeps,
//! for each operation and root, a plan: the library's own call, or a tree, in which each process knows its
//! [`Seat`]. Plans are looked up without a message.
//!
//! ```text
//!   call      1         2          3 4 5 6 7   8          9 ...
//!   by        library   library    plan 2      plan 2     plan 8
//!   then                plan 2 -->             plan 8 -->
//! ```
//!
//! The first two calls are the library's own; a call that comes once costs nothing. In calls 2, 8, 16, ... the root, which
//! sees all sizes, hands out a new plan, for the sizes of that call, unless the library keeps leading: `ceil(log2 p)` short
//! messages follow one another, and none in all the other calls. Along a tree the root does so while the data moves;
//! everybody else takes the plan when its part in that has been done. A plan stays right when sizes change, since they
//! travel with the data; only how good it is depends on them.
//!
//! With `auto` a [`Trial`] gives some calls with a tree to the library, and nearly all of them if that is faster.
//!
//! Call numbers are known to all, because collective calls are made by all in the same order: no process
//! asks another whether a plan is new.

use super::along::EmptyMessages;
use super::call::{Call, Once, Room};
use super::carried::header_of;
use super::collecting::Collecting;
use super::passing::Passing;
use super::seats::{Below, Seat};
use super::trial::{Trial, Way};
use super::{CollectiveError, Collectives, learned, rounds, tag};
use crate::planning;
use crate::play::{BoundAction, Strictness};
use crate::settings::{Algorithm, Settings};
use crate::tree::{Child, Node, digest};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::time::Instant;
use tuwtree_binding::{Arguments, Communicator, Handles, MpiError, Reuse, library_version};
use tuwtree_io::learned::LearnedSeconds;
use tuwtree_model::{BlockSizes, ClosedSet, Construction, Operation, Problem, Rank, Tree};
use tuwtree_schedule::{Action, Arrival, Buffer, Deed, Piece, Region, Role, Send};

/// No more plans are kept on a communicator; who calls with more roots has the library's own calls.
const MOST_PLANS: usize = 512;

/// A tree cannot win against the library's own call on fewer processes.
const LEAST_PROCESSES: usize = 3;

/// The plans of a communicator, by operation (true if outward) and root; equal at all processes, except for the seats.
#[derive(Debug, Default)]
pub(super) struct Plans {
    known: RefCell<HashMap<(bool, Rank), Box<Plan>>>,
    /// Along which tree the last call went, if along one.
    last: Cell<Option<Construction>>,
}

/// Execution of an operation with a root.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// Number of calls.
    calls: u64,
    part: TreePart,
    /// Construction of the tree, if any.
    construction: Option<Construction>,
    /// At the root, the base of the plan, if there is one yet.
    basis: Option<Basis>,
    /// Performer at a process that does not pass data on.
    once: RefCell<Option<Box<Once>>>,
    /// The tree against the library's own call.
    trial: Trial,
    /// Binary logarithm of all bytes for which the tree was made.
    log2_bytes: u32,
}

/// The sizes that a plan is for, and its tree; `None` for the library's own call.
#[derive(Debug)]
struct Basis {
    sizes: BlockSizes,
    tree: Option<Tree>,
}

/// This process's part in an operation with a root.
#[derive(Debug, Default)]
pub(super) enum TreePart {
    /// The library's own call.
    #[default]
    Native,
    /// At the root of a scatter, or next to the root without children: who knows the size of whatever it receives.
    Edge(Rc<Seat>),
    /// At the root of a gather.
    Root(Box<Collecting>),
    /// At another process.
    Inner(Box<Passing>),
}

impl TreePart {
    /// Along the tree in which this process has this seat.
    ///
    /// # Errors
    /// As [`Passing::new`].
    pub(super) fn in_seat(
        seat: Seat,
        comm: &Rc<Communicator>,
        operation_and_root: (Operation, Rank),
    ) -> Result<TreePart, CollectiveError> {
        let reuse = if seat.is_built { Reuse::Once } else { Reuse::Again };
        Ok(match (seat.parent.is_none(), seat.is_direct()) {
            (true, _) if operation_and_root.0.is_outward() => TreePart::Edge(Rc::new(seat)),
            (true, _) => TreePart::Root(Box::new(Collecting::new(comm, seat)?)),
            (false, true) => TreePart::Edge(Rc::new(seat)),
            (false, false) => {
                TreePart::Inner(Box::new(Passing::new(comm, seat, operation_and_root, reuse)?))
            }
        })
    }

    /// Performs the operation along the tree, `meanwhile` at the root when messages are under way.
    ///
    /// # Errors
    /// As [`Collectives::run`].
    pub(super) fn perform<'s>(
        &'s mut self,
        call: Call<'_, '_>,
        meanwhile: Option<&'s mut (dyn FnMut() + 's)>,
    ) -> Result<(), CollectiveError> {
        let wrong = call.parsed.as_ref().err().cloned();
        let done = match self {
            TreePart::Native => unreachable!("the library's own call needs no tree"),
            TreePart::Edge(seat) => call.along_seat(seat, meanwhile),
            TreePart::Root(collecting) => {
                let parsed = call.parsed.as_ref().ok();
                let blocks = parsed.and_then(|one| Some((one.own.as_ref(), one.all.as_ref()?)));
                collecting
                    .run(blocks, call.strictness, || meanwhile.into_iter().for_each(|work| work()))
            }
            TreePart::Inner(passing) => {
                let own = call.parsed.as_ref().ok().and_then(|parsed| parsed.own.as_ref());
                passing.run(own, call.strictness)
            }
        };
        // What is wrong here comes first.
        wrong.map_or(done, Err)
    }
}

/// First words of the distributed lists.
mod word {
    /// The plan stays.
    pub(super) const SAME: u64 = 0;
    /// The library's own call.
    pub(super) const NATIVE: u64 = 1;
    /// A tree; the place of its construction among all follows, the class of its sizes with times in earlier runs, and the seat.
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
    fn take(&self, key: (bool, Rank)) -> Option<Box<Plan>> {
        let mut known = self.known.borrow_mut();
        let is_full = known.len() >= MOST_PLANS;
        known.remove(&key).or_else(|| (!is_full).then(Box::default))
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
        strictness: Strictness,
    ) -> Result<Algorithm, CollectiveError> {
        let comm = &self.comm;
        self.plans.last.set(None);
        let native = || self.by_library(arguments, settings, strictness);
        let is_outward = arguments.operation().is_outward();
        let root = arguments.root(comm.size()).filter(|_| comm.size() >= LEAST_PROCESSES);
        let Some(root) = root else { return native() };
        let key = (is_outward, root);
        let Some(mut plan) = self.plans.take(key) else { return native() };
        plan.calls += 1;
        let mut renewal = Renewal {
            collectives: self,
            arguments,
            settings,
            strictness,
            root,
            list: None,
            basis: None,
        };
        // With a window the library's gather may lose data on the way.
        let may_lose = !is_outward && settings.window().is_some();
        let is_tried = settings.is_trying && settings.algorithm() == Algorithm::Auto && !may_lose;
        let turn = plan.trial.begin(plan.calls);
        let was_native = plan.is_native();
        let way = match was_native {
            true => Way::Library,
            false if is_tried => turn,
            false => Way::Ours,
        };
        let is_due = plan.trial.is_plan_due(was_native);
        let begin = Instant::now();
        let done = match way {
            Way::Library => native(),
            Way::Ours => {
                let due = is_due.then_some(&mut renewal);
                self.plans.last.set(plan.construction);
                let done = plan.perform((self, arguments, settings, strictness), due);
                done.map(|()| settings.algorithm())
            }
        };
        // Whatever has failed here, the others go on, and count this call.
        if is_tried {
            plan.trial.note(way, begin.elapsed());
        }
        let due = if is_tried && !was_native { plan.trial.due() } else { None };
        let renewed = if is_due { plan.renew(renewal) } else { Ok(()) };
        // Behind the plan, which the root may have handed out while data moved.
        let decided = due.map_or(Ok(()), |times| plan.trial.decide(times, comm));
        if is_tried && !was_native {
            learned::note((arguments.operation(), comm.size(), plan.log2_bytes), &plan.trial, way);
        }
        self.plans.known.borrow_mut().insert(key, plan);
        decided?;
        done.and_then(|algorithm| renewed.map(|()| algorithm))
    }
}

/// The plan that the root hands out in a call.
pub(super) struct Renewal<'c, 'a> {
    collectives: &'c Collectives,
    arguments: &'c Arguments<'a>,
    settings: &'c Settings,
    strictness: Strictness,
    root: Rank,
    /// This process's list, if received.
    list: Option<Result<Vec<u64>, MpiError>>,
    /// At the root, the base of the new plan, if there is one.
    basis: Option<Basis>,
}

impl Renewal<'_, '_> {
    /// Hands out a plan for these sizes, where the old one is not as good for them: the root's part. Collective.
    fn hand_out(&mut self, sizes: Option<BlockSizes>, old: Option<&Basis>) {
        let comm = &self.collectives.comm;
        let is_new = |sizes: &BlockSizes| old.is_none_or(|old| old.sizes != *sizes);
        let new = sizes.filter(is_new).and_then(|sizes| self.lists_for(sizes, old));
        let lists = new.unwrap_or_else(|| vec![vec![word::SAME]; comm.size()]);
        self.list = Some(rounds::handed_down(&**comm, self.root, Some(lists)));
    }

    /// The lists of the best plan for these sizes, at all ranks; `None` if the old one stays.
    fn lists_for(&mut self, sizes: BlockSizes, old: Option<&Basis>) -> Option<Vec<Vec<u64>>> {
        let seats = match self.settings.judged_machine() {
            Some(machine) => {
                let is_outward = self.arguments.operation().is_outward();
                let problem = planning::problem(is_outward, &sizes, self.root, machine).ok();
                problem.and_then(|problem| seats(&problem, &sizes, self.settings, old))
            }
            None => None,
        };
        let (lists, tree) = match seats {
            None => (vec![vec![word::NATIVE]; self.collectives.comm.size()], None),
            Some((_, SeatsOfTree::Old)) => return None,
            Some((construction, SeatsOfTree::New(tree, seats))) => {
                let place = Construction::all().position(|one| one == construction);
                let log2_bytes = learned::log2_bytes(sizes.total());
                let learned = self.settings.learned(self.arguments.operation(), log2_bytes);
                let [planned, native] =
                    learned.map_or([0.0; 2], |seconds| [seconds.planned, seconds.native]);
                let kind = vec![
                    word::TREE,
                    place.expect("it is one of all") as u64,
                    log2_bytes.into(),
                    planned.to_bits(),
                    native.to_bits(),
                ];
                let list = |seat: Seat| [kind.clone(), seat.to_words()].concat();
                (seats.into_iter().map(list).collect(), Some(tree))
            }
        };
        self.basis = Some(Basis { sizes, tree });
        Some(lists)
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
        Ok(Plan { part: TreePart::in_seat(seat, comm, operation_and_root)?, ..Plan::default() })
    }

    /// True for the library's own call.
    pub(super) fn is_native(&self) -> bool {
        matches!(self.part, TreePart::Native)
    }

    /// Performs the operation along the tree. The root hands out a new plan meanwhile, if one is due and it can.
    pub(super) fn perform(
        &mut self,
        (collectives, arguments, settings, strictness): (
            &Collectives,
            &Arguments<'_>,
            &Settings,
            Strictness,
        ),
        renewal: Option<&mut Renewal<'_, '_>>,
    ) -> Result<(), CollectiveError> {
        let room = Room { home: &self.once, once: self.once.take() };
        let call =
            Call::new(collectives, arguments, settings, (Handles::Lent, room)).with(strictness);
        let renewal = renewal.filter(|renewal| collectives.comm.rank() == renewal.root);
        match renewal {
            Some(renewal) => {
                let (sizes, old) = (call.sizes(), self.basis.as_ref());
                self.part.perform(call, Some(&mut || renewal.hand_out(sizes.clone(), old)))
            }
            None => self.part.perform(call, None),
        }
    }

    /// Takes the plan that the root hands out for the sizes of this call. Collective.
    fn renew(&mut self, mut renewal: Renewal<'_, '_>) -> Result<(), CollectiveError> {
        let Renewal { collectives, arguments, settings, strictness, root, .. } = renewal;
        let (comm, operation) = (&collectives.comm, arguments.operation());
        if renewal.list.is_none() && comm.rank() == root {
            let room = Room { home: &self.once, once: None };
            let call =
                Call::new(collectives, arguments, settings, (Handles::Lent, room)).with(strictness);
            renewal.hand_out(call.sizes(), self.basis.as_ref());
        }
        let list = renewal.list.unwrap_or_else(|| rounds::handed_down(&**comm, root, None))?;
        if renewal.basis.is_some() {
            self.basis = renewal.basis;
        }
        match list.as_slice() {
            [word::NATIVE] => (self.part, self.construction) = (TreePart::Native, None),
            [word::TREE, construction, log2_bytes, planned, native, words @ ..] => {
                self.construction = Construction::all().nth(*construction as usize);
                // Equally at all ranks, whatever fails here.
                self.trial.forget_ours();
                self.log2_bytes = *log2_bytes as u32;
                let [planned, native] = [*planned, *native].map(f64::from_bits);
                if planned > 0.0 {
                    self.trial.learn(LearnedSeconds { planned, native });
                }
                self.part = TreePart::in_seat(Seat::from_words(words), comm, (operation, root))?;
                self.once.replace(None);
            }
            _ => {}
        }
        Ok(())
    }
}

/// A process's seat in a kept tree, and work to do while data moves.
pub(super) struct KeptTree<'s> {
    pub(super) seat: &'s Rc<Seat>,
    pub(super) meanwhile: Option<&'s mut dyn FnMut()>,
}

/// The seats in a tree.
enum SeatsOfTree {
    /// The old tree is as good, and has room.
    Old,
    New(Tree, Vec<Seat>),
}

/// Seats in the tree of least predicted time, and its construction; `None` if the library's own call is as good. A tree
/// that takes hardly longer stays: on a new one, ranks would have to connect that have had no message between them.
fn seats(
    problem: &Problem,
    sizes: &BlockSizes,
    settings: &Settings,
    old: Option<&Basis>,
) -> Option<(Construction, SeatsOfTree)> {
    let window = settings.window().filter(|_| !problem.operation().is_outward());
    let limits = (settings.most_passed, window);
    let seats_in = |tree: &Tree| {
        let seats = Seat::of_tree(tree, sizes, limits)?;
        let stays = old.and_then(|old| Some((old.tree.as_ref()?, &old.sizes))).is_some_and(|old| {
            let before = Seat::of_tree(old.0, old.1, limits).into_iter().flatten();
            let now = Seat::of_tree(old.0, sizes, limits).into_iter().flatten();
            planning::is_as_good(old.0, tree, problem)
                && before.zip(now).all(|(before, now)| before.has_room_of(&now))
        });
        Some(if stays { SeatsOfTree::Old } else { SeatsOfTree::New(tree.clone(), seats) })
    };
    if settings.algorithm() == Algorithm::DeadlineOnline {
        let seats = seats_in(&planning::online_tree(problem).ok()?)?;
        return Some((Construction::DeadlineOnline, seats));
    }
    let library = library_version().unwrap_or_default();
    planning::best_passed(problem, &library, seats_in)
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
                    .filter(|(is_silent, child)| !is_silent || (child.bytes > 0 && !seat.is_built))
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

/// Makes the actions of a scatter's root state sizes that the other end does not know, and send large blocks straight:
/// first the segment's contents they need, from these offsets on.
pub(super) fn state_sizes(
    (role, actions): &mut (Role, Vec<BoundAction>),
    seat: &Seat,
    block: &dyn Fn(Rank) -> u64,
) -> Vec<(u64, Vec<u8>)> {
    let straight = part_straight(actions, seat, block);
    let stated = state_lengths((role, actions), seat, block);
    actions.extend(straight);
    stated
}

/// Takes the blocks that go straight out of the root's messages to its children: their own messages.
fn part_straight(
    actions: &mut [BoundAction],
    seat: &Seat,
    block: &dyn Fn(Rank) -> u64,
) -> Vec<BoundAction> {
    let mut straight = Vec::new();
    for action in actions {
        let child = action.send.and_then(|(to, _)| seat.inner_child(to));
        let goes_straight =
            |child: &&Below| (child.first..=child.last).any(|rank| child.is_straight(block(rank)));
        let Some(child) = child.filter(goes_straight) else { continue };
        let (buffer, pieces) = action.reads.as_mut().expect("a message has data");
        let mut offset = pieces[0].offset;
        pieces.clear();
        for rank in child.first..=child.last {
            let piece = Piece { offset, bytes: block(rank) };
            offset += piece.bytes;
            match (child.is_straight(piece.bytes), pieces.last_mut()) {
                (true, _) => {
                    let from = Region { buffer: *buffer, pieces: &[piece] };
                    let deed = Deed::Send(Send { to: rank, tag: LATER, from });
                    straight.push(BoundAction::new(&Action { port: 0, deed }));
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
        let child = action.send.and_then(|(to, _)| seat.inner_child(to));
        let Some(child) = child else {
            all.push(action);
            continue;
        };
        let lengths: Vec<u64> = (child.first..=child.last).map(block).collect();
        let written = header_of(&lengths);
        let (header, bytes) = (written.len() as u64, child.passed_bytes(&lengths));
        let at = role.segment_bytes;
        stated.push((at, written));
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
            let arrival = Arrival::Store;
            let deed = Deed::Copy { from, into, arrival };
            all.push(BoundAction::new(&Action { port: 0, deed }));
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

#[cfg(test)]
mod tests {
    use super::*;
    use tuwtree_model::{Costs, Homogeneous};

    #[test]
    fn a_tree_stays_for_sizes_that_are_much_alike_and_not_for_others() {
        let costs = || Costs::Homogeneous(Homogeneous::new(1000.0, 1.0, 0.0).unwrap());
        let settings = Settings::default();
        let planned = |bytes: &dyn Fn(usize) -> u64, old: Option<&Basis>| {
            let sizes = BlockSizes::new((0..40).map(bytes)).unwrap();
            let problem = planning::problem(false, &sizes, 0, costs()).unwrap();
            let seats = seats(&problem, &sizes, &settings, old).expect("a tree is better");
            (sizes, seats.1)
        };
        let (sizes, SeatsOfTree::New(tree, _)) = planned(&|_| 100, None) else { unreachable!() };
        let old = Basis { sizes, tree: Some(tree) };
        let stays =
            |bytes: &dyn Fn(usize) -> u64| matches!(planned(bytes, Some(&old)).1, SeatsOfTree::Old);
        assert!(stays(&|rank| 50 + rank as u64 * 7919 % 101));
        assert!(!stays(&|rank| if rank == 39 { 100_000 } else { 1 }));
        // The same tree, without room.
        assert!(!stays(&|_| 1000));
    }
}
