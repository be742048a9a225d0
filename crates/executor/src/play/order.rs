//! Order of the steps of a part.
//!
//! ```text
//!   strict, one port      receive 1 -> copy -> receive 2 -> send      one after the other
//!   strict, two ports     receive 1 -> receive 3 ---+
//!                         receive 2 ----------------+-> send          a bar: it needs what was written
//!   eager                 receive 1 --+
//!                         copy -------+-> send                        only who touches its bytes
//!                         receive 2 --+
//! ```
//!
//! An action is one step, or several: an exchange sends and receives, and combined data is received or copied first. A
//! step is taken when all its predecessors have ended; the mode defines these.

use super::bound::{BoundAction, BoundRegion, SHORT};
use super::conflicts::Touched;
use tuwtree_binding::Few;
use tuwtree_schedule::Piece;

/// Adherence to the schedule's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[derive(strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "kebab-case")]
pub enum Mode {
    /// A schedule's own order: a port's actions one after the other, each when the one before has
    /// ended; actions that need written data, or combine, after all receives and copies before
    /// them. The model's times are for this mode.
    #[default]
    Strict,
    /// All at once, except for dependencies of data: receives are posted at the start, sends when
    /// their data is there. The network has any number of ports. Nothing overtakes data that it
    /// would overwrite or read too early.
    Eager,
}

/// A step's share of its action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doing {
    Copy,
    Send,
    Receive,
    /// Joins received or copied data with that which is there.
    Combine,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// The index of the action.
    pub(super) action: u32,
    pub(super) doing: Doing,
}

/// All steps of a part, and their predecessors.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Order {
    /// In the order of the actions.
    pub(super) steps: Few<Step>,
    /// For each step how many things it waits for.
    waits: Few<u32>,
    /// For each step, the steps that wait for it: `followers[follows[i]..follows[i + 1]]`.
    follows: Few<u32>,
    followers: Few<u32>,
    /// For each action, its steps: `first[i]..first[i + 1]`.
    first: Few<u32>,
    /// For each action whether it writes, which others may wait for.
    writes: Few<bool>,
    /// For each action whether it waits for all writing before it, which `waits` counts as one;
    /// empty where none does.
    is_barred: Few<bool>,
    /// The steps that wait for nothing, receives first: what arrives early need not be stored on its
    /// way.
    ready: Few<u32>,
}

impl Order {
    /// Orders these actions, in the room of those before.
    ///
    /// # Complexity
    /// O(n log n) for n pieces of actions, and O(1) for each pair of dependent steps.
    pub(super) fn arrange(&mut self, actions: &[BoundAction], mode: Mode) {
        self.steps.clear();
        self.first.clear();
        self.first.push(0);
        self.writes.clear();
        for (index, action) in (0..).zip(actions) {
            for &doing in action.steps() {
                self.steps.push(Step { action: index, doing });
            }
            self.first.push(self.steps.len() as u32);
            self.writes.push(action.writes.is_some());
        }
        let mut pairs = match mode {
            Mode::Strict => self.ports(actions),
            Mode::Eager if actions.len() <= SHORT => self.conflicts_of_each(actions),
            Mode::Eager => self.conflicts(actions),
        };
        pairs.extend(self.stated(actions));
        pairs.retain(|&mut (before, after)| before != after);
        pairs.sort_unstable();
        pairs.dedup();
        refill(&mut self.waits, self.steps.len());
        for &(_, after) in &pairs {
            self.waits[after as usize] += 1;
        }
        self.is_barred.clear();
        if mode == Mode::Strict && actions.iter().any(|action| action.needs_written) {
            self.bar(actions);
        }
        refill(&mut self.follows, self.steps.len() + 1);
        for &(before, _) in &pairs {
            self.follows[before as usize + 1] += 1;
        }
        for step in 0..self.steps.len() {
            self.follows[step + 1] += self.follows[step];
        }
        self.followers.clear();
        self.followers.extend(pairs.into_iter().map(|(_, after)| after));
        self.find_ready();
    }

    /// True if this is the order of these actions in this mode.
    pub(super) fn is_of(&self, actions: &[BoundAction], mode: Mode) -> bool {
        let mut order = Order::default();
        order.arrange(actions, mode);
        *self == order
    }

    fn find_ready(&mut self) {
        let Order { steps, waits, ready, .. } = self;
        let is_receive = |step: &u32| steps[*step as usize].doing == Doing::Receive;
        let free = || (0..steps.len() as u32).filter(|&step| waits[step as usize] == 0);
        ready.clear();
        ready.extend(free().filter(is_receive));
        ready.extend(free().filter(|step| !is_receive(step)));
    }

    fn of_action(&self, action: usize) -> std::ops::Range<u32> {
        self.first[action]..self.first[action + 1]
    }

    /// The steps that wait for this one.
    fn followers_of(&self, step: u32) -> &[u32] {
        let step = step as usize;
        &self.followers[self.follows[step] as usize..self.follows[step + 1] as usize]
    }

    /// True if a sent message waits for this step.
    fn feeds_send(&self, step: u32) -> bool {
        self.followers_of(step).iter().any(|&follower| self.doing(follower) == Doing::Send)
    }

    fn doing(&self, step: u32) -> Doing {
        self.steps[step as usize].doing
    }

    /// Strict: each action after the one before it on its port.
    fn ports(&self, actions: &[BoundAction]) -> Few<(u32, u32)> {
        let mut pairs = Few::new();
        let ports = actions.iter().map(|action| usize::from(action.port) + 1).max().unwrap_or(0);
        let mut last: Few<Option<usize>> = Few::from_elem(None, ports);
        for (index, action) in actions.iter().enumerate() {
            let before = last[usize::from(action.port)].replace(index);
            for step in self.of_action(index) {
                if self.doing(step) == Doing::Combine {
                    // What it combines comes in the step before.
                    pairs.push((step - 1, step));
                } else if let Some(before) = before {
                    pairs.extend(self.of_action(before).map(|before| (before, step)));
                }
            }
        }
        pairs
    }

    /// Strict: what needs written data waits for all writing before it.
    fn bar(&mut self, actions: &[BoundAction]) {
        for (index, action) in actions.iter().enumerate() {
            self.is_barred.push(action.needs_written);
            for step in self.begins(index).filter(|_| action.needs_written) {
                self.waits[step as usize] += 1;
            }
        }
    }

    /// Stated dependencies on messages with other bytes.
    fn stated(&self, actions: &[BoundAction]) -> Few<(u32, u32)> {
        let mut pairs = Few::new();
        for (index, action) in actions.iter().enumerate() {
            let Some(rank) = action.after else { continue };
            let comes_from = |one: &BoundAction| one.receive.is_some_and(|(from, ..)| from == rank);
            let before = actions[..index].iter().rposition(comes_from);
            let last = before.map(|before| self.of_action(before).end - 1);
            pairs.extend(last.map(|last| (last, self.first[index])));
        }
        pairs
    }

    /// The steps with which an action begins.
    fn begins(&self, action: usize) -> impl Iterator<Item = u32> + use<> {
        let steps = self.of_action(action);
        let combines = !steps.is_empty() && self.doing(steps.end - 1) == Doing::Combine;
        steps.start..steps.end - u32::from(combines)
    }

    /// Eager, of few actions: each step after all that it conflicts with, which is quick where there
    /// is nothing to look up.
    fn conflicts_of_each(&self, actions: &[BoundAction]) -> Few<(u32, u32)> {
        let touch = |step: u32| {
            let Step { action, doing } = self.steps[step as usize];
            Touch::of(&actions[action as usize], doing)
        };
        let mut pairs = Few::new();
        for step in 0..self.steps.len() as u32 {
            let own = touch(step);
            pairs.extend(
                (0..step).filter(|&one| touch(one).conflicts_with(&own)).map(|one| (one, step)),
            );
            if self.doing(step) == Doing::Combine {
                pairs.push((step - 1, step));
            }
        }
        pairs
    }

    /// Eager: each step after its conflicting predecessors.
    fn conflicts(&self, actions: &[BoundAction]) -> Few<(u32, u32)> {
        let mut touched = Touched::default();
        let mut pairs = Few::new();
        let mut after = Few::new();
        for (index, action) in actions.iter().enumerate() {
            for step in self.of_action(index) {
                let touch = Touch::of(action, self.doing(step));
                if let Some((buffer, pieces)) = touch.reads {
                    touched.read(*buffer, pieces, step, &mut after);
                }
                if let Some((buffer, pieces)) = touch.writes {
                    touched.write(*buffer, pieces, step, &mut after);
                }
                if self.doing(step) == Doing::Combine {
                    after.push(step - 1);
                }
                pairs.extend(after.drain(..).map(|before| (before, step)));
            }
        }
        pairs
    }
}

/// Resets the list to this many zeros.
fn refill<T: Clone + Default>(list: &mut Few<T>, length: usize) {
    list.clear();
    list.resize(length, T::default());
}

/// Makes the list the same as another.
fn refill_from<T: Copy>(list: &mut Few<T>, other: &[T]) {
    list.clear();
    list.extend_from_slice(other);
}

/// Regions that a step reads and writes.
struct Touch<'a> {
    reads: Option<&'a BoundRegion>,
    writes: Option<&'a BoundRegion>,
}

impl Touch<'_> {
    fn of(action: &BoundAction, doing: Doing) -> Touch<'_> {
        let writes = match doing {
            Doing::Combine => true,
            Doing::Copy | Doing::Receive => !action.combines(),
            Doing::Send => false,
        };
        Touch {
            reads: action.reads.as_ref().filter(|_| matches!(doing, Doing::Copy | Doing::Send)),
            writes: action.writes.as_ref().filter(|_| writes),
        }
    }

    /// True if one writes a region that the other touches.
    fn conflicts_with(&self, later: &Touch<'_>) -> bool {
        meet(self.writes, later.reads)
            || meet(self.writes, later.writes)
            || meet(self.reads, later.writes)
    }
}

/// True if two regions overlap.
fn meet(one: Option<&BoundRegion>, other: Option<&BoundRegion>) -> bool {
    let Some(((buffer, pieces), (other_buffer, others))) = one.zip(other) else { return false };
    let meets = |piece: &Piece| {
        others.iter().any(|other| piece.offset < other.end() && other.offset < piece.end())
    };
    buffer == other_buffer && pieces.iter().any(meets)
}

/// Progress through the steps.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// For each step, for how much it waits still.
    waits: Few<u32>,
    /// For each action, how many of its steps have not ended; where some wait for all writing before
    /// them.
    open: Few<u32>,
    /// All writing actions before this one have ended; as before.
    settled: usize,
    /// Steps that have not ended.
    left: usize,
    /// Ready messages, which take precedence over local work, as other ranks may wait.
    messages: Queue,
    local: Queue,
}

impl Progress {
    /// Starts from the beginning.
    ///
    /// # Complexity
    /// O(n) for n steps.
    pub(super) fn restart(&mut self, order: &Order) {
        refill_from(&mut self.waits, &order.waits);
        self.left = order.steps.len();
        self.messages.clear();
        self.local.clear();
        order.ready.iter().for_each(|&step| self.push(order, step));
        if !order.is_barred.is_empty() {
            self.open.clear();
            self.open.extend(order.first.windows(2).map(|pair| pair[1] - pair[0]));
            self.settled = 0;
            self.unbar(order);
            self.settle(order);
        }
    }

    /// A step that can be taken now, if there is one.
    pub(super) fn next(&mut self) -> Option<u32> {
        self.messages.pop().or_else(|| self.local.pop())
    }

    fn push(&mut self, order: &Order, step: u32) {
        match order.doing(step) {
            Doing::Send | Doing::Receive => self.messages.steps.push(step),
            // Others wait for the message that waits for this.
            Doing::Copy if order.feeds_send(step) => self.messages.steps.push(step),
            Doing::Copy | Doing::Combine => self.local.steps.push(step),
        }
    }

    /// True if no step can be taken now.
    pub(super) fn is_waiting(&self) -> bool {
        self.messages.is_empty() && self.local.is_empty()
    }

    /// Number of steps that have not ended.
    pub(super) fn left(&self) -> usize {
        self.left
    }

    /// Notes that a step has ended.
    pub(super) fn end(&mut self, order: &Order, step: u32) {
        self.left -= 1;
        let is_copy = order.doing(step) == Doing::Copy;
        for &follower in order.followers_of(step) {
            let is_fed = is_copy && order.doing(follower) == Doing::Send;
            match self.is_released(follower) {
                // What was copied for it came in its place among the messages.
                true if is_fed => self.messages.put_first(follower),
                true => self.push(order, follower),
                false => {}
            }
        }
        let step = step as usize;
        if !order.is_barred.is_empty() {
            let open = &mut self.open[order.steps[step].action as usize];
            *open -= 1;
            if *open == 0 {
                self.settle(order);
            }
        }
    }

    fn release(&mut self, order: &Order, step: u32) {
        if self.is_released(step) {
            self.push(order, step);
        }
    }

    /// Removes one predecessor of a step; true if it was the last.
    fn is_released(&mut self, step: u32) -> bool {
        let waits = &mut self.waits[step as usize];
        *waits -= 1;
        *waits == 0
    }

    /// Lets go what waits for all writing before it, as far as that has ended.
    fn settle(&mut self, order: &Order) {
        while let Some(&open) = self.open.get(self.settled)
            && (open == 0 || !order.writes[self.settled])
        {
            self.settled += 1;
            self.unbar(order);
        }
    }

    /// Lets go the steps of the first action that has not settled.
    fn unbar(&mut self, order: &Order) {
        if order.is_barred.get(self.settled).copied().unwrap_or(false) {
            for step in order.begins(self.settled) {
                self.release(order, step);
            }
        }
    }
}

/// Steps, first in, first out; none comes twice.
#[derive(Debug, Default)]
struct Queue {
    steps: Few<u32>,
    taken: usize,
}

impl Queue {
    fn pop(&mut self) -> Option<u32> {
        let step = self.steps.get(self.taken).copied()?;
        self.taken += 1;
        Some(step)
    }

    /// Puts a step before all others.
    fn put_first(&mut self, step: u32) {
        match self.taken.checked_sub(1) {
            Some(place) => {
                self.steps[place] = step;
                self.taken = place;
            }
            None => self.steps.insert(0, step),
        }
    }

    fn is_empty(&self) -> bool {
        self.taken == self.steps.len()
    }

    fn clear(&mut self) {
        self.steps.clear();
        self.taken = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tuwtree_model::{BlockSizes, Homogeneous, Operation, Payload, Problem, Root, Vector};
    use tuwtree_schedule::Schedule;
    use tuwtree_schedule::part::Part;
    use tuwtree_treegen::oblivious;

    /// The orders in which a rank's steps become ready if whatever is started ends at once, or
    /// last of all.
    fn taken(order: &Order, ends: impl Fn(&mut Vec<u32>) -> u32) -> Vec<Vec<u32>> {
        let mut progress = Progress::default();
        progress.restart(order);
        let (mut started, mut rounds) = (Vec::new(), Vec::new());
        while progress.left() > 0 {
            let round: Vec<u32> = std::iter::from_fn(|| progress.next()).collect();
            started.extend(&round);
            rounds.push(round);
            let step = ends(&mut started);
            progress.end(order, step);
        }
        assert!(started.is_empty());
        rounds
    }

    fn order(operation: Operation, rank: usize, mode: Mode) -> Order {
        order_of(&actions(operation, rank), mode)
    }

    /// Arranged in the room of another order, of which nothing is left.
    fn order_of(actions: &[BoundAction], mode: Mode) -> Order {
        let mut order = Order::default();
        order.arrange(&self::actions(Operation::Gather, 7), Mode::Strict);
        order.arrange(actions, mode);
        order
    }

    fn actions(operation: Operation, rank: usize) -> Vec<BoundAction> {
        let payload = match operation.is_irregular() {
            true => Payload::Blocks(BlockSizes::new([3; 8]).unwrap()),
            false => Payload::Vector(Vector { ranks: 8, bytes: 4 }),
        };
        let costs = Homogeneous::new(1.0, 1.0, 1.0).unwrap();
        let problem = Problem::new(operation, payload, costs).unwrap();
        let problem = problem.with_root(Root::Given(7)).unwrap();
        let tree = oblivious(&problem).unwrap();
        let schedule = Schedule::without_costs(&tree, problem.collective()).unwrap();
        let part = Part::of_schedule(&schedule, rank).unwrap();
        part.actions().map(|action| BoundAction::new(&action)).collect()
    }

    #[test]
    fn in_strict_order_one_action_follows_the_other() {
        for operation in Operation::rooted() {
            let order = order(operation, 7, Mode::Strict);
            let expected: Vec<Vec<u32>> = (0..order.steps.len() as u32).map(|i| vec![i]).collect();
            let rounds = taken(&order, |started| started.remove(0));
            let some: Vec<Vec<u32>> =
                rounds.into_iter().filter(|round| !round.is_empty()).collect();
            assert_eq!(some, expected, "{operation:?}");
        }
    }

    #[test]
    fn eager_receives_are_posted_at_once_and_sends_when_there_is_data() {
        // Rank 7 is the root: three receives and its copy.
        let gather = order(Operation::Gather, 7, Mode::Eager);
        assert_eq!(taken(&gather, |started| started.pop().unwrap())[0].len(), 4);
        // Rank 3 gathers 0..4 and sends on: the send waits for the two receives and the copy.
        let inner = order(Operation::Gather, 3, Mode::Eager);
        let rounds = taken(&inner, |started| started.remove(0));
        assert_eq!((rounds[0].len(), &rounds[3]), (3, &vec![3]));
        // A scatter's sends all wait for the one receive.
        let scatter = order(Operation::Scatter, 3, Mode::Eager);
        let rounds = taken(&scatter, |started| started.remove(0));
        assert_eq!((rounds[0].len(), rounds[1].len()), (1, 3));
    }

    #[test]
    fn messages_are_started_before_anything_is_copied() {
        // Rank 7, the root of a scatter, copies its block, then sends to early children.
        let order = order(Operation::Scatter, 7, Mode::Eager);
        let first = &taken(&order, |started| started.remove(0))[0];
        let copies = |step: &u32| order.steps[*step as usize].doing == Doing::Copy;
        assert_eq!(first.iter().position(copies), Some(first.len() - 1));
    }

    #[test]
    fn what_is_copied_to_be_sent_keeps_its_place_among_the_messages() {
        use tuwtree_schedule::{Action, Arrival, Buffer, Deed, Piece, Region, Send};
        let pieces = |offset| [Piece { offset, bytes: 4 }];
        let [first, second, third] = [0, 4, 8].map(pieces);
        let region = |buffer, pieces| Region { buffer, pieces };
        let send = |to, from| Deed::Send(Send { to, tag: 0, from });
        let copy = |pieces| Deed::Copy {
            from: region(Buffer::Input, pieces),
            into: region(Buffer::Segment, pieces),
            arrival: Arrival::Store,
        };
        let deeds = [
            Deed::Copy {
                from: region(Buffer::Input, &third),
                into: region(Buffer::Output, &first),
                arrival: Arrival::Store,
            },
            copy(&first),
            send(1, region(Buffer::Segment, &first)),
            send(2, region(Buffer::Input, &third)),
            copy(&second),
            send(3, region(Buffer::Segment, &second)),
        ];
        let bound: Vec<BoundAction> =
            deeds.into_iter().map(|deed| BoundAction::new(&Action { port: 0, deed })).collect();
        let (order, mut progress) = (order_of(&bound, Mode::Eager), Progress::default());
        progress.restart(&order);
        // Copies end at once.
        let taken = std::iter::from_fn(|| {
            let step = progress.next()?;
            if order.doing(step) == Doing::Copy {
                progress.end(&order, step);
            }
            Some(step)
        });
        assert_eq!(taken.collect::<Vec<u32>>(), [1, 2, 3, 4, 5, 0]);
    }

    #[test]
    fn few_actions_wait_for_the_same_as_many() {
        for operation in Operation::rooted() {
            for rank in 0..8 {
                let actions = actions(operation, rank);
                let order = order_of(&actions, Mode::Eager);
                let steps = order.steps.len();
                // Whom each step waits for, by way of others, too.
                let closure = |pairs: Few<(u32, u32)>| {
                    let mut before = vec![std::collections::BTreeSet::new(); steps];
                    for step in 0..steps as u32 {
                        for &(first, _) in pairs.iter().filter(|pair| pair.1 == step) {
                            let earlier = before[first as usize].clone();
                            before[step as usize].extend(earlier);
                            before[step as usize].insert(first);
                        }
                    }
                    before
                };
                let (each, looked_up) =
                    (order.conflicts_of_each(&actions), order.conflicts(&actions));
                assert_eq!(closure(each), closure(looked_up), "{operation:?}, {rank}");
            }
        }
    }

    #[test]
    fn what_is_combined_is_combined_in_the_order_of_the_list() {
        let order = order(Operation::Reduce, 7, Mode::Eager);
        let combines = |step: &u32| order.steps[*step as usize].doing == Doing::Combine;
        // Messages arrive in the opposite order.
        let rounds = taken(&order, |started| started.pop().unwrap());
        let combined: Vec<u32> = rounds.concat().into_iter().filter(combines).collect();
        assert_eq!(combined, [1, 3, 5]);
    }

    #[test]
    fn what_a_copy_combines_is_there_before_it_is_sent() {
        use tuwtree_schedule::{Action, Arrival, Buffer, Deed, Piece, Receive, Region, Send};
        let pieces = [Piece { offset: 0, bytes: 4 }];
        let [waiting, result] =
            [Buffer::Segment, Buffer::Output].map(|buffer| Region { buffer, pieces: &pieces });
        let deeds = [
            Deed::Receive(Receive { from: 1, tag: 0, into: waiting, arrival: Arrival::Store }),
            Deed::Copy { from: waiting, into: result, arrival: Arrival::CombineRight },
            Deed::Send(Send { to: 2, tag: 0, from: result }),
        ];
        let bound: Vec<BoundAction> =
            deeds.into_iter().map(|deed| BoundAction::new(&Action { port: 0, deed })).collect();
        for mode in [Mode::Strict, Mode::Eager] {
            let order = order_of(&bound, mode);
            let doing: Vec<Doing> = order.steps.iter().map(|step| step.doing).collect();
            assert_eq!(doing, [Doing::Receive, Doing::Copy, Doing::Combine, Doing::Send]);
            let rounds = taken(&order, |started| started.remove(0));
            assert_eq!(rounds.concat(), [0, 1, 2, 3], "{mode:?}");
        }
    }

    #[test]
    fn nothing_overtakes_what_it_would_overwrite() {
        use tuwtree_schedule::{Action, Arrival, Buffer, Deed, Piece, Receive, Region, Send};
        let pieces = [Piece { offset: 0, bytes: 4 }];
        let held = Region { buffer: Buffer::Segment, pieces: &pieces };
        let receive = Receive { from: 1, tag: 0, into: held, arrival: Arrival::Store };
        let deeds = [
            Deed::Receive(receive),
            Deed::Send(Send { to: 2, tag: 0, from: held }),
            Deed::Receive(Receive { tag: 1, ..receive }),
        ];
        let bound: Vec<BoundAction> =
            deeds.into_iter().map(|deed| BoundAction::new(&Action { port: 0, deed })).collect();
        let rounds = taken(&order_of(&bound, Mode::Eager), |started| started.remove(0));
        assert_eq!(rounds, [[0], [1], [2]]);
    }

    #[test]
    fn what_reads_waits_for_receives_on_other_ports() {
        use tuwtree_schedule::{Action, Arrival, Buffer, Deed, Piece, Receive, Region, Send};
        let pieces = [Piece { offset: 0, bytes: 4 }];
        let held = Region { buffer: Buffer::Segment, pieces: &pieces };
        let receive = Receive { from: 1, tag: 0, into: held, arrival: Arrival::Store };
        let given = Region { buffer: Buffer::Input, pieces: &pieces };
        let actions = [
            (0, Deed::Receive(receive)),
            (1, Deed::Send(Send { to: 2, tag: 0, from: given })),
            (1, Deed::Send(Send { to: 2, tag: 1, from: held })),
        ];
        let bound: Vec<BoundAction> = actions
            .into_iter()
            .map(|(port, deed)| BoundAction::new(&Action { port, deed }))
            .collect();
        let order = order_of(&bound, Mode::Strict);
        let rounds = taken(&order, |started| started.pop().unwrap());
        assert_eq!(rounds, [vec![0, 1], vec![], vec![2]]);
    }
}
