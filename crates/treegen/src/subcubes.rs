//! Binomial trees by joining adjacent subcubes: the frame that all binomial constructions fill in.
//!
//! Round `d = 0, 1, …` joins adjacent aligned ranges of `2^d` ranks; the last may be
//! incomplete, and one without a partner waits. Of each two, one root sends all its data to the
//! other. What differs between the constructions is only which one receives.
//!
//! # Source
//! TUW section 2, "ordered hypercube gather algorithm".

use crate::join::{JoinSide, ReceivingSide};
use tuwtree_model::{Problem, Rank, Step, Time, Tree};

/// A range of ranks whose data one of them gathers, and what the construction knows of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subcube<S> {
    pub(crate) first: Rank,
    pub(crate) last: Rank,
    /// The rank in `first..=last` that gathers.
    pub(crate) root: Rank,
    pub(crate) state: S,
}

impl<S> Subcube<S> {
    /// True for a single rank, whose block still lies in its own buffer.
    pub(crate) fn is_single(&self) -> bool {
        self.first == self.last
    }

    pub(crate) fn contains(&self, rank: Rank) -> bool {
        (self.first..=self.last).contains(&rank)
    }

    /// The subcube as a join sees it, its root being ready at this time.
    pub(crate) fn side(&self, problem: &Problem, ready: Time) -> JoinSide {
        let collective = problem.collective();
        JoinSide {
            root: self.root,
            is_single: self.is_single(),
            bytes: collective.segment(self.first, self.last),
            copied: collective.copied(self.root),
            ready,
        }
    }
}

/// The side that holds `root`, which must receive; `None` if neither does.
pub(crate) fn holding<S>(
    root: Option<Rank>,
    left: &Subcube<S>,
    right: &Subcube<S>,
) -> Option<ReceivingSide> {
    let root = root?;
    if left.contains(root) {
        Some(ReceivingSide::Left)
    } else {
        right.contains(root).then_some(ReceivingSide::Right)
    }
}

/// The binomial tree over `0..ranks` in which `join` decides each join.
///
/// `single` is the construction's state of a lone rank; `join` returns the receiver, and the state
/// of the joined subcube.
///
/// # Complexity
/// O(p) calls, time and space.
pub(crate) fn join_subcubes<S: Copy, E>(
    ranks: usize,
    single: impl Fn(Rank) -> S,
    mut join: impl FnMut(&Subcube<S>, &Subcube<S>) -> Result<(ReceivingSide, S), E>,
) -> Result<Tree, E> {
    let mut cubes: Vec<Subcube<S>> = (0..ranks)
        .map(|rank| Subcube { first: rank, last: rank, root: rank, state: single(rank) })
        .collect();
    let mut steps = Vec::with_capacity(2 * ranks);
    while cubes.len() > 1 {
        let mut joined = Vec::with_capacity(cubes.len().div_ceil(2));
        for pair in cubes.chunks(2) {
            let [left, right] = pair else {
                joined.push(pair[0]);
                continue;
            };
            let (receiver, state) = join(left, right)?;
            let root = push_steps(&mut steps, receiver, left, right);
            joined.push(Subcube { first: left.first, last: right.last, root, state });
        }
        cubes = joined;
    }
    let tree = Tree::new(ranks, cubes[0].root, &steps);
    Ok(tree.expect("every rank but the last root was joined to another once"))
}

/// Appends the receiver's steps, and returns the receiver.
///
/// A lone rank on the left copies while the other side gathers (OPT eq. 5); one on the right
/// copies after it has received, behind the data (OPT eq. 6).
fn push_steps<S>(
    steps: &mut Vec<(Rank, Step)>,
    receiver: ReceivingSide,
    left: &Subcube<S>,
    right: &Subcube<S>,
) -> Rank {
    match receiver {
        ReceivingSide::Left => {
            if left.is_single() {
                steps.push((left.root, Step::Copy));
            }
            steps.push((left.root, Step::Receive(right.root)));
            left.root
        }
        ReceivingSide::Right => {
            steps.push((right.root, Step::Receive(left.root)));
            if right.is_single() {
                steps.push((right.root, Step::Copy));
            }
            right.root
        }
    }
}
