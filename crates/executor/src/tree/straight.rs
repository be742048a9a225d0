//! Data that goes straight to the root, as an intermediate rank would hold too much.
//!
//! If two subcubes are joined, neither with the root, and the receiver would exceed the limit of others' data, it
//! receives nothing: the sender's parent is the root. The receiver goes on with its data. All ranks thus know their own
//! parent as before, and the size that each child sends. The root finds the straight senders without a message: it
//! knows all sizes, and decides each join as the others did.
//!
//! ```text
//!   limit 10        0 <- 1 (6)      2 (5) <- 3 (5)        4 ... 7 without data
//!                      joined: 0 has 6, and would get 10: 16 > 10
//!   root 4          4 <- 0 <- 1, and straight: 4 <- 2 <- 3
//! ```

use super::{Child, Cube, Fault, NoTime, Node, Report, Rule};
use tuwtree_model::Rank;
use tuwtree_treegen::join::ReceivingSide;

/// The blocks of consecutive ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockRun {
    /// The first of the ranks.
    pub first: Rank,
    /// The last.
    pub last: Rank,
    /// The size of all their blocks.
    pub bytes: u64,
}

/// Two subcubes that are joined.
pub(super) struct Joined {
    /// Report of both together; its root is the receiver.
    pub(super) report: Report,
    /// True if the sender sends to the root instead.
    pub(super) is_straight: bool,
}

/// Receiving gather root, and the report of the joined subcube.
pub(super) fn joined(
    (left_cube, right_cube): (Cube, Cube),
    (left, right): (Report, Report),
    (root, rule, most_passed): (Option<Rank>, Rule<'_>, u64),
) -> Result<Joined, Fault> {
    let (first, last) = (left_cube.first, right_cube.last);
    let bytes = left.bytes.checked_add(right.bytes).ok_or(Fault::TooLarge { first, last })?;
    let holds = |cube: Cube| root.is_some_and(|root| cube.contains(root));
    let held = match holds(left_cube) {
        true => Some(ReceivingSide::Left),
        false => holds(right_cube).then_some(ReceivingSide::Right),
    };
    let (left_side, right_side) = (left.side(left_cube), right.side(right_cube));
    let decided = rule.decide(held, &left_side, &right_side);
    let no_time = |error| Fault::NoTime { first, last, reason: NoTime::from(error) };
    let (side, time) = decided.map_err(no_time)?;
    let receiver = match side {
        ReceivingSide::Left => left,
        ReceivingSide::Right => right,
    };
    let digest = left.digest.wrapping_add(right.digest);
    let passed = left.passed + right.passed;
    let is_too_much = passed - receiver.root_block > most_passed;
    let is_straight = root.is_some() && held.is_none() && is_too_much;
    let (passed, time) =
        if is_straight { (receiver.passed, receiver.time) } else { (passed, time) };
    let report = Report { bytes, passed, digest, time, ..receiver };
    Ok(Joined { report, is_straight })
}

/// A subcube as the root sees it that decides all joins by itself.
struct SeenCube {
    cube: Cube,
    report: Report,
    /// The blocks that its gather root has.
    runs: Vec<BlockRun>,
}

impl SeenCube {
    /// This subcube as a child of the root.
    fn child(self) -> Child {
        let Report { root, bytes, passed, digest, .. } = self.report;
        let place = (root, self.cube.first, self.cube.last);
        let child = Child::of_range(place, passed, digest);
        Child { straight: bytes - passed, runs: self.runs, ..child }
    }
}

impl Node {
    /// This place of the root with the straight senders as further children, given all blocks' stated sizes.
    ///
    /// # Complexity
    /// O(1) if nobody sends straight, and O(p log p) otherwise.
    pub(crate) fn with_straight(
        self,
        block: &dyn Fn(Rank) -> u64,
        (ranks, rule, most_passed): (usize, Rule<'_>, u64),
    ) -> Node {
        if self.children.iter().all(|child| child.straight == 0) {
            return self;
        }
        let (root, mut node) = (self.rank, self);
        let one = |rank| SeenCube {
            cube: Cube { first: rank, last: rank },
            report: Report::of_block(rank, block(rank)),
            runs: vec![BlockRun { first: rank, last: rank, bytes: block(rank) }],
        };
        let (mut cubes, mut straight): (Vec<SeenCube>, _) =
            ((0..ranks).map(one).collect(), Vec::new());
        while cubes.len() > 1 {
            let mut next = Vec::with_capacity(cubes.len().div_ceil(2));
            let mut pairs = cubes.into_iter();
            while let Some(left) = pairs.next() {
                let Some(right) = pairs.next() else {
                    next.push(left);
                    break;
                };
                let reports = (left.report, right.report);
                let done =
                    joined((left.cube, right.cube), reports, (Some(root), rule, most_passed));
                let Joined { report, is_straight } = done.expect("all have joined them before");
                let cube = Cube { first: left.cube.first, last: right.cube.last };
                let is_left = report.root == left.report.root;
                let (mut receiver, sender) = if is_left { (left, right) } else { (right, left) };
                if is_straight {
                    straight.push(sender.child());
                } else if report.root == root {
                    let known = node.children.iter_mut();
                    let mut known = known.filter(|child| child.straight > 0);
                    if let Some(child) = known.find(|child| child.rank == sender.report.root) {
                        *child = sender.child();
                    }
                } else {
                    let (before, after) = match is_left {
                        true => (receiver.runs, sender.runs),
                        false => (sender.runs, receiver.runs),
                    };
                    receiver.runs = one_after_the_other(before, after);
                }
                next.push(SeenCube { cube, report, runs: receiver.runs });
            }
            cubes = next;
        }
        node.bytes += straight.iter().map(|child| child.bytes).sum::<u64>();
        node.children.extend(straight);
        node
    }
}

/// All runs, the first of those after joined with the last of those before where ranks follow one another.
fn one_after_the_other(mut before: Vec<BlockRun>, after: Vec<BlockRun>) -> Vec<BlockRun> {
    let mut after = after.into_iter().peekable();
    if let (Some(last), Some(first)) = (before.last_mut(), after.peek())
        && last.last + 1 == first.first
    {
        (last.last, last.bytes) = (first.last, last.bytes + first.bytes);
        after.next();
    }
    before.extend(after);
    before
}
