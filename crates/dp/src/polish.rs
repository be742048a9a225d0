//! Local search by the judge: small changes of a tree, kept while its judged time does not rise.
//!
//! ```text
//! move a subtree      to a rank on the way from its left or right neighbour to the root; in any order to any rank
//! lift a child        to its parent's place; the parent becomes its child
//! exchange messages   of two children of a scatter's rank
//! exchange ranks      in any order
//! ```
//!
//! After a change, times are worked out anew on the ways from there to the root only ([`rank_time`]). A change is kept
//! if its time is at most that of some changes ago (late acceptance), and the best tree of all is returned.
//!
//! # Source
//! E. K. Burke, Y. Bykov, "The late acceptance hill-climbing heuristic", EJOR 258, 2017.

use crate::DpError;
use tuwtree_model::{
    ChildMessage, CostModel, JudgedMessage, Network, PortKind, Ports, Problem, Randomness, Rank,
    Root, Step, Time, Tree, WireOwner, judged_time, rank_time,
};

/// Extent of a [`polished`] tree's search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Polish {
    /// Number of changes that are tried.
    pub steps: usize,
    /// Seed of the random changes: any number.
    pub seed: u64,
    /// True if every subtree has to span consecutive ranks.
    pub keeps_ranges: bool,
}

/// True for blocks where latency overlaps, if the judge can work out one rank's part by itself: through one port, without
/// nodes that share a wire, and without windows.
pub fn admits(problem: &Problem) -> bool {
    let network = problem.stated_costs().network();
    let is_local = network.wire == WireOwner::Rank || problem.costs().hierarchy().is_none();
    let is_simple = problem.ports() == Ports::ONE && network.window.is_none();
    is_local && is_simple && problem.blocks().is_some() && problem.costs().overlaps()
}

/// A tree that is judged to take no longer than the given one, and as a rule less: the best of many that differ from it,
/// and from each other, by small changes. Without `keeps_ranges` its blocks are in any order.
///
/// Trees for problems that are not admitted are returned as they are.
///
/// # Errors
/// [`DpError::TooLarge`] if a time cannot be stated.
///
/// # Complexity
/// For each step the children of the ranks on two ways to the root, sorted.
///
/// # Example
/// A star in which one rank's message is in no hurry: a neighbour may take it along.
/// ```
/// use tuwtree_dp::polish::{Polish, polished};
/// use tuwtree_model::{BlockSizes, Homogeneous, Problem, Root, Step, Tree, judged_time};
/// let sizes = BlockSizes::new([1; 8]).unwrap();
/// let costs = Homogeneous::new(11.0, 0.0, 0.0).unwrap().with_overhead(10.0).unwrap();
/// let problem = Problem::gather(&sizes, costs).unwrap().with_root(Root::Given(0)).unwrap();
/// let steps: Vec<(usize, Step)> = (1..8).map(|rank| (0, Step::Receive(rank))).collect();
/// let star = Tree::new(8, 0, &[&[(0, Step::Copy)], &steps[..]].concat()).unwrap();
/// let polish = Polish { steps: 2000, seed: 1, keeps_ranges: true };
/// let tree = polished(&problem, &star, polish).unwrap();
/// let time = |tree| judged_time(tree, &problem).unwrap().units();
/// assert_eq!((time(&star), time(&tree)), (71.0, 33.0));
/// ```
pub fn polished(problem: &Problem, start: &Tree, polish: Polish) -> Result<Tree, DpError> {
    if !admits(problem) || problem.ranks() < 3 {
        return Ok(start.clone());
    }
    let network = problem.stated_costs().network();
    let too_large = |_| DpError::TooLarge { total: problem.payload().total() };
    let mut search = TreeSearch::new(problem, &network, start, polish)?;
    let found = search.run()?;
    let [before, after] = [start, &found].map(|tree| judged_time(tree, problem));
    let (before, after) = (before.map_err(too_large)?, after.map_err(too_large)?);
    Ok(if after < before { found } else { start.clone() })
}

/// Number of earlier times that a change is held against.
const LATE: usize = 40;

/// A random number's remainder, which is the same on machines of 32 bits.
fn below(number: u64, count: usize) -> usize {
    (number % count as u64) as usize
}

/// Ends, count, bytes and time of a rank.
type Entry = ((Rank, Rank), usize, u64, f64);

/// No rank.
const NOBODY: Rank = Rank::MAX;

/// A tree under change.
#[derive(Clone)]
struct ChangingTree {
    root: Rank,
    /// `p` entries; [`NOBODY`] for the root.
    parent: Vec<Rank>,
    /// `p` entries: in a scatter in the order in which messages are sent.
    children: Vec<Vec<Rank>>,
}

struct TreeSearch<'a> {
    problem: &'a Problem,
    network: &'a Network,
    is_outward: bool,
    polish: Polish,
    shape: ChangingTree,
    /// `p` entries each: of the subtree of a rank the first and the last rank, their number, and its bytes.
    ends: Vec<(Rank, Rank)>,
    count: Vec<usize>,
    bytes: Vec<u64>,
    /// The time of each rank's copy, if it has children.
    copies: Vec<f64>,
    /// See [`rank_time`].
    time: Vec<f64>,
}

impl<'a> TreeSearch<'a> {
    fn new(
        problem: &'a Problem,
        network: &'a Network,
        start: &Tree,
        polish: Polish,
    ) -> Result<TreeSearch<'a>, DpError> {
        let ranks = problem.ranks();
        let is_outward = problem.operation().is_outward();
        let children = (0..ranks).map(|rank| {
            let mut children: Vec<Rank> = start.children(rank).collect();
            if is_outward {
                children.reverse();
            }
            children
        });
        let parent = (0..ranks).map(|rank| start.parent(rank).unwrap_or(NOBODY));
        let shape = ChangingTree {
            root: start.root(),
            parent: parent.collect(),
            children: children.collect(),
        };
        let copies = (0..ranks).map(|rank| problem.copy(rank).map(Time::units));
        let copies = copies.collect::<Result<Vec<f64>, _>>();
        let copies = copies.map_err(|_| DpError::TooLarge { total: problem.payload().total() })?;
        let mut search = TreeSearch {
            problem,
            network,
            is_outward,
            polish,
            shape,
            ends: (0..ranks).map(|rank| (rank, rank)).collect(),
            count: vec![1; ranks],
            bytes: vec![0; ranks],
            copies,
            time: vec![0.0; ranks],
        };
        for rank in start.top_down().into_iter().rev() {
            search.arrange(rank);
            search.settle(rank)?;
        }
        Ok(search)
    }

    /// Works out a rank's entries from those of its children.
    fn settle(&mut self, rank: Rank) -> Result<(), DpError> {
        let own = self.problem.payload().own(rank);
        let (mut ends, mut count, mut bytes) = ((rank, rank), 1, own);
        let mut messages = Vec::with_capacity(self.shape.children[rank].len());
        for &child in &self.shape.children[rank] {
            let (first, last) = self.ends[child];
            ends = (ends.0.min(first), ends.1.max(last));
            count += self.count[child];
            bytes += self.bytes[child];
            if self.bytes[child] > 0 {
                messages.push(self.message(child, rank)?);
            }
        }
        (self.ends[rank], self.count[rank], self.bytes[rank]) = (ends, count, bytes);
        let copy = if self.shape.children[rank].is_empty() { 0.0 } else { self.copies[rank] };
        let is_fair = self.network.port == PortKind::Fair;
        self.time[rank] = rank_time(&messages, copy, self.is_outward, is_fair);
        Ok(())
    }

    fn message(&self, child: Rank, parent: Rank) -> Result<ChildMessage, DpError> {
        let (costs, bytes) = (self.problem.costs(), self.bytes[child]);
        let (from, to) = self.problem.collective().ends(child, parent);
        let times = |bytes| {
            let latency = costs.latency_between(from, to, bytes)?.units();
            Ok((latency, costs.transmission_between(from, to, bytes)?.units()))
        };
        let message = JudgedMessage::new(self.network, self.is_outward, bytes, times);
        Ok(ChildMessage {
            message: message
                .map_err(|_| DpError::TooLarge { total: self.problem.payload().total() })?,
            child_time: self.time[child],
            takes_turns: self.network.takes_turns(bytes),
            is_eager: self.network.is_eager(bytes),
        })
    }

    /// The best tree of the search.
    fn run(&mut self) -> Result<Tree, DpError> {
        let mut best = (self.time[self.shape.root], self.shape.clone());
        let mut late = [best.0; LATE];
        let mut numbers = Randomness::Xoshiro { seed: self.polish.seed }
            .numbers(3 * self.polish.steps)
            .into_iter();
        for step in 0..self.polish.steps {
            let mut number = || numbers.next().expect("three numbers for each step");
            let [kind, one, other] = [number(), number(), number()];
            let now = self.time[self.shape.root];
            let Some(change) = self.change(kind, one, other) else { continue };
            let undone = self.apply(&change)?;
            let time = self.time[self.shape.root];
            let is_kept = self.is_admitted(&undone) && (time <= now || time <= late[step % LATE]);
            if !is_kept {
                self.undo(undone);
            }
            let now = self.time[self.shape.root];
            late[step % LATE] = now;
            if now < best.0 {
                best = (now, self.shape.clone());
            }
        }
        Ok(self.tree(&best.1))
    }

    /// A random change, if there is one of this kind there.
    fn change(&self, kind: u64, one: u64, other: u64) -> Option<Change> {
        let ranks = self.problem.ranks();
        let (child, another) = (below(one, ranks), below(other, ranks));
        let place_among = |count: usize| below(other / ranks as u64, count);
        match kind % 8 {
            0 => {
                let parent = self.shape.parent[child];
                let is_free = parent != self.shape.root || self.problem.root() == Root::Best;
                (parent != NOBODY && is_free).then_some(Change::Lift { child })
            }
            1 if self.is_outward => {
                let siblings = self.shape.children[child].len();
                let places = (below(other, siblings.max(1)), place_among(siblings.max(1)));
                (places.0 != places.1).then_some(Change::Exchange { parent: child, places })
            }
            2 if !self.polish.keeps_ranges => {
                let is_free =
                    |rank: Rank| rank != self.shape.root || self.problem.root() == Root::Best;
                (child != another && is_free(child) && is_free(another))
                    .then_some(Change::Swap { ranks: (child, another) })
            }
            _ if self.shape.parent[child] == NOBODY => None,
            _ => {
                let parent = match self.polish.keeps_ranges {
                    true => self.on_the_way(child, other)?,
                    false => another,
                };
                let mut above = parent;
                while above != NOBODY && above != child {
                    above = self.shape.parent[above];
                }
                let place = place_among(self.shape.children[parent].len() + 1);
                let is_new = parent != self.shape.parent[child];
                (above == NOBODY && is_new).then_some(Change::Move { child, parent, place })
            }
        }
    }

    /// A rank on the way from a neighbour of this subtree to the root.
    fn on_the_way(&self, child: Rank, number: u64) -> Option<Rank> {
        let (first, last) = self.ends[child];
        let neighbour = match number % 2 {
            0 => first.checked_sub(1)?,
            _ => Some(last + 1).filter(|&next| next < self.problem.ranks())?,
        };
        let way = || {
            let up = |&rank: &Rank| Some(self.shape.parent[rank]).filter(|&next| next != NOBODY);
            std::iter::successors(Some(neighbour), up)
        };
        way().nth(below(number / 2, way().count()))
    }

    /// Performs a change, and works out the times on the ways to the root.
    fn apply(&mut self, change: &Change) -> Result<Undone, DpError> {
        let mut touched: Vec<Rank> = Vec::new();
        let mut lists: Vec<(Rank, Vec<Rank>)> = Vec::new();
        let mut parents: Vec<(Rank, Rank)> = Vec::new();
        let root = self.shape.root;
        let mut keep =
            |shape: &ChangingTree, rank: Rank| lists.push((rank, shape.children[rank].clone()));
        match *change {
            Change::Move { child, parent, place } => {
                let old = self.shape.parent[child];
                keep(&self.shape, old);
                keep(&self.shape, parent);
                parents.push((child, old));
                self.shape.children[old].retain(|&one| one != child);
                self.shape.children[parent].insert(place, child);
                self.shape.parent[child] = parent;
                touched.extend([old, parent]);
            }
            Change::Lift { child } => {
                let parent = self.shape.parent[child];
                let above = self.shape.parent[parent];
                keep(&self.shape, parent);
                keep(&self.shape, child);
                parents.extend([(child, parent), (parent, above)]);
                self.shape.children[parent].retain(|&one| one != child);
                // What the parent keeps comes first in a scatter: it is the larger part, as a rule.
                self.shape.children[child].insert(0, parent);
                self.shape.parent[parent] = child;
                self.shape.parent[child] = above;
                match above {
                    NOBODY => self.shape.root = child,
                    above => {
                        keep(&self.shape, above);
                        for one in &mut self.shape.children[above] {
                            if *one == parent {
                                *one = child;
                            }
                        }
                    }
                }
                touched.push(parent);
            }
            Change::Exchange { parent, places } => {
                keep(&self.shape, parent);
                self.shape.children[parent].swap(places.0, places.1);
                touched.push(parent);
            }
            Change::Swap { ranks: (one, other) } => {
                let with = |rank: Rank| match rank {
                    rank if rank == one => other,
                    rank if rank == other => one,
                    rank => rank,
                };
                let mut all: Vec<Rank> = Vec::new();
                for rank in [one, other] {
                    all.push(rank);
                    all.extend(&self.shape.children[rank]);
                    all.extend(Some(self.shape.parent[rank]).filter(|&above| above != NOBODY));
                }
                all.sort_unstable();
                all.dedup();
                for &rank in &all {
                    keep(&self.shape, rank);
                    parents.push((rank, self.shape.parent[rank]));
                }
                let before = self.shape.clone();
                for &rank in &all {
                    let place = with(rank);
                    let parent = before.parent[place];
                    self.shape.parent[rank] = if parent == NOBODY { NOBODY } else { with(parent) };
                    self.shape.children[rank] =
                        before.children[place].iter().map(|&child| with(child)).collect();
                }
                self.shape.root = with(root);
                touched.extend([one, other]);
            }
        }
        for (rank, _) in &lists {
            self.arrange(*rank);
        }
        let mut undone = Undone { root, lists, parents, entries: Vec::new() };
        for rank in self.ways_up(&touched) {
            let entry = (self.ends[rank], self.count[rank], self.bytes[rank], self.time[rank]);
            undone.entries.push((rank, entry));
            self.settle(rank)?;
        }
        Ok(undone)
    }

    /// With ranges, has a scatter's rank send to the farthest ranks on either side first.
    fn arrange(&mut self, rank: Rank) {
        if self.is_outward && self.polish.keeps_ranges {
            let sent = &mut self.shape.children[rank];
            sent.reverse();
            *sent = nearest_first(rank, sent);
            sent.reverse();
        }
    }

    /// The ranks on the ways from these to the root, the deepest first.
    fn ways_up(&self, from: &[Rank]) -> Vec<Rank> {
        let up = |&rank: &Rank| Some(self.shape.parent[rank]).filter(|&next| next != NOBODY);
        let mut deep: Vec<(usize, Rank)> = Vec::new();
        for &rank in from {
            let way: Vec<Rank> = std::iter::successors(Some(rank), up).collect();
            let depth = way.len();
            deep.extend(way.into_iter().enumerate().map(|(at, rank)| (depth - at, rank)));
        }
        deep.sort_unstable_by(|one, other| other.cmp(one));
        deep.dedup();
        deep.into_iter().map(|(_, rank)| rank).collect()
    }

    /// True if the changed subtrees span consecutive ranks, where they have to.
    fn is_admitted(&self, undone: &Undone) -> bool {
        let spans = |rank: Rank| self.ends[rank].1 - self.ends[rank].0 + 1 == self.count[rank];
        !self.polish.keeps_ranges || undone.entries.iter().all(|&(rank, _)| spans(rank))
    }

    fn undo(&mut self, undone: Undone) {
        self.shape.root = undone.root;
        for (rank, parent) in undone.parents.into_iter().rev() {
            self.shape.parent[rank] = parent;
        }
        for (rank, list) in undone.lists.into_iter().rev() {
            self.shape.children[rank] = list;
        }
        for (rank, (ends, count, bytes, time)) in undone.entries {
            (self.ends[rank], self.count[rank]) = (ends, count);
            (self.bytes[rank], self.time[rank]) = (bytes, time);
        }
    }

    /// The tree of a shape; with ranges, each rank receives the nearest ranks on either side first.
    fn tree(&self, shape: &ChangingTree) -> Tree {
        let ranks = shape.parent.len();
        let mut steps = Vec::with_capacity(2 * ranks);
        for (rank, children) in shape.children.iter().enumerate() {
            if children.is_empty() {
                continue;
            }
            steps.push((rank, Step::Copy));
            let mut received = children.clone();
            if self.is_outward {
                received.reverse();
            }
            if self.polish.keeps_ranges {
                received = nearest_first(rank, &received);
            }
            steps.extend(received.into_iter().map(|child| (rank, Step::Receive(child))));
        }
        Tree::new(ranks, shape.root, &steps).expect("every other rank is received once")
    }
}

/// Children on the left of a rank, and on its right, each from the nearest on, in the order of sides that the list has.
fn nearest_first(rank: Rank, children: &[Rank]) -> Vec<Rank> {
    let mut left: Vec<Rank> = children.iter().copied().filter(|&child| child < rank).collect();
    let mut right: Vec<Rank> = children.iter().copied().filter(|&child| child > rank).collect();
    left.sort_unstable();
    right.sort_unstable_by(|one, other| other.cmp(one));
    let next = |&child: &Rank| if child < rank { left.pop() } else { right.pop() };
    children.iter().filter_map(next).collect()
}

/// A small change.
enum Change {
    /// A subtree goes to another parent, at a place among its children.
    Move { child: Rank, parent: Rank, place: usize },
    /// A child takes its parent's place.
    Lift { child: Rank },
    /// Two children of a parent change places.
    Exchange { parent: Rank, places: (usize, usize) },
    /// Two ranks change places.
    Swap { ranks: (Rank, Rank) },
}

/// Values before a change.
struct Undone {
    root: Rank,
    lists: Vec<(Rank, Vec<Rank>)>,
    parents: Vec<(Rank, Rank)>,
    entries: Vec<(Rank, Entry)>,
}
