//! Seats of processes in a kept tree, and their messages.
//!
//! Sizes may be others in each call, and who sends knows them. So they travel with the data, but where a message has
//! one block only:
//!
//! ```text
//!   between the root and a child    its block: its size is the message's
//!     without children
//!   all other messages              how many bytes each rank of the subtree has, and the data behind, if it fits the
//!                                   room of the seat; otherwise the data afterwards
//! ```
//!
//! Rooms are part of the seats, so that both ends of a message know when it fits. [`super::carried`] has the bytes.
//!
//! A block above the seats' limit is in none of these messages: it goes straight from its process to the root, or from
//! the root to it. Its size travels with the others, which tells both ends, however old the seats are. No process
//! therefore holds more of others' data than a limit, whatever the sizes.
//!
//! Every subtree has consecutive ranks, so that its data is in rank order, wherever it is.

use super::carried::{ABSENT, header_room};
use crate::tree::{Child, Node};
use tuwtree_dp::wider::{ChildRange, OwnPlace};
use tuwtree_model::{BlockSizes, Rank, Tree, window_waits};

/// Most room of a message; larger data is received when its size is known.
const LARGEST_ROOM: u64 = 1 << 16;

/// Some room for blocks that were small when seats were given.
const LEAST_ROOM: u64 = 256;

/// Bytes of a number in a message.
pub(super) const WORD: u64 = 8;

/// Another process in the tree, as its parent knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Below {
    /// Rank of the process.
    pub(super) rank: Rank,
    /// The first rank of its subtree.
    pub(super) first: Rank,
    /// The last.
    pub(super) last: Rank,
    /// For how many bytes of data a message between the two has room.
    pub(super) room: u64,
    /// The largest block of its subtree that others pass on, in bytes; the same in all subtrees below.
    pub(super) largest_passed: u64,
    /// Index of the sibling that must arrive before it is told to send, in a gather with a window; earlier in the list,
    /// and never silent.
    pub(super) waits_for: Option<usize>,
    /// True if it has children itself.
    pub(super) is_inner: bool,
    /// True if it exchanges no message when it has no data: it has no children, and its parent is the root, which knows
    /// its size. In a tree built for a call: true if its subtree has no data.
    pub(super) is_silent: bool,
}

/// Words per other process.
const WORDS: usize = 7;

impl Below {
    /// True if a block of this many bytes goes straight between its process and the root.
    pub(super) fn is_straight(&self, bytes: u64) -> bool {
        bytes > self.largest_passed && bytes != ABSENT
    }

    /// Part of a block that others pass on: all of it, or nothing.
    pub(super) fn passed(&self, bytes: u64) -> u64 {
        if bytes == ABSENT || self.is_straight(bytes) { 0 } else { bytes }
    }

    /// Bytes that others pass on, of blocks of these sizes.
    pub(super) fn passed_bytes(&self, lengths: &[u64]) -> u64 {
        lengths.iter().map(|&bytes| self.passed(bytes)).sum()
    }

    /// For how many bytes a message between the two has room, the sizes included.
    pub(super) fn message_room(&self) -> u64 {
        header_room(self.ranks()) + self.room
    }

    /// Number of ranks of its subtree.
    pub(super) fn ranks(&self) -> usize {
        self.last - self.first + 1
    }
}

/// A process's place in a tree that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Seat {
    /// Itself, as its parent knows it.
    pub(super) own: Below,
    /// `None` for the root.
    pub(super) parent: Option<Rank>,
    /// True if the parent is the root.
    pub(super) is_under_root: bool,
    /// In the order in which they send in a gather.
    pub(super) children: Vec<Below>,
    /// True if the tree was built for one call, with the ranks' stated sizes: silent ranks then surely have no data.
    pub(super) is_built: bool,
}

impl Seat {
    /// The seats of all processes in this tree, for blocks of about these sizes, in which nobody but the root
    /// holds more than `most_passed` bytes of others' data, whatever sizes there are, and if there is a window,
    /// nobody has more than that under way to it, by the sizes planned; `None` if a subtree does not have
    /// consecutive ranks.
    ///
    /// # Complexity
    /// O(p).
    pub(super) fn of_tree(
        tree: &Tree,
        sizes: &BlockSizes,
        (most_passed, window): (u64, Option<u64>),
    ) -> Option<Vec<Seat>> {
        let root = tree.root();
        let largest_passed = largest_passed(tree, most_passed);
        let mut all: Vec<Below> = (0..tree.ranks())
            .map(|rank| Below {
                rank,
                first: rank,
                last: rank,
                room: Some(sizes.block(rank))
                    .filter(|&own| own <= largest_passed[rank])
                    .unwrap_or(0),
                largest_passed: largest_passed[rank],
                waits_for: None,
                is_inner: false,
                is_silent: tree.parent(rank) == Some(root) && sizes.block(rank) == 0,
            })
            .collect();
        let mut ranks = vec![1; tree.ranks()];
        for rank in tree.top_down().into_iter().rev() {
            let Some(parent) = tree.parent(rank) else { continue };
            let Below { first, last, room, .. } = all[rank];
            ranks[parent] += ranks[rank];
            let above = &mut all[parent];
            above.first = above.first.min(first);
            above.last = above.last.max(last);
            above.room += room;
            (above.is_inner, above.is_silent) = (true, false);
        }
        if all.iter().zip(&ranks).any(|(one, &ranks)| one.ranks() != ranks) {
            return None;
        }
        if let Some(window) = window {
            for rank in 0..tree.ranks() {
                let children: Vec<Rank> = tree.children(rank).collect();
                let bytes: Vec<u64> = children.iter().map(|&child| all[child].room).collect();
                for (child, waits_for) in children.into_iter().zip(window_waits(&bytes, window)) {
                    all[child].waits_for = waits_for;
                }
            }
        }
        for one in &mut all {
            one.room = room_for(one.room);
        }
        let seat = |rank: Rank| Seat {
            own: all[rank].clone(),
            parent: tree.parent(rank),
            is_under_root: tree.parent(rank) == Some(root),
            children: tree.children(rank).map(|child| all[child].clone()).collect(),
            is_built: false,
        };
        Some((0..tree.ranks()).map(seat).collect())
    }

    /// The seat of a process that has found its place by itself: the same as in the whole tree.
    ///
    /// # Complexity
    /// O(p).
    pub(super) fn of_place(
        place: &OwnPlace,
        (rank, root): (Rank, Rank),
        sizes: &BlockSizes,
        (most_passed, window): (u64, Option<u64>),
    ) -> Seat {
        // Whoever sends to the root by itself has no bound.
        let largest_passed = |of: Rank| {
            let branch = place.branches.iter().find(|one| (one.first..=one.last).contains(&of));
            let inner = branch.filter(|one| of != root && one.first < one.last);
            inner.map_or(u64::MAX, |one| most_passed / (one.last - one.first + 1) as u64)
        };
        let passed = |one: &ChildRange| {
            let largest = largest_passed(one.rank);
            let blocks = (one.first..=one.last).map(|rank| sizes.block(rank));
            blocks.filter(|&bytes| bytes <= largest).sum::<u64>()
        };
        let belows = |children: &[ChildRange], is_under_root: bool| {
            let bytes: Vec<u64> = children.iter().map(passed).collect();
            let waits_for = match window {
                Some(window) => window_waits(&bytes, window),
                None => vec![None; bytes.len()],
            };
            let below = |((child, bytes), waits_for): ((&ChildRange, u64), Option<usize>)| {
                let ChildRange { rank, first, last } = *child;
                Below {
                    rank,
                    first,
                    last,
                    room: room_for(bytes),
                    largest_passed: largest_passed(rank),
                    waits_for,
                    is_inner: first < last,
                    is_silent: is_under_root && first == last && sizes.block(rank) == 0,
                }
            };
            children.iter().zip(bytes).zip(waits_for).map(below).collect::<Vec<Below>>()
        };
        let is_under_root = place.parent == Some(root);
        let siblings = belows(&place.siblings, is_under_root);
        let own = siblings.into_iter().find(|one| one.rank == rank).unwrap_or_else(|| Below {
            rank,
            first: place.first,
            last: place.last,
            room: room_for(sizes.block(rank) + place.branches.iter().map(passed).sum::<u64>()),
            largest_passed: u64::MAX,
            waits_for: None,
            is_inner: place.first < place.last,
            is_silent: false,
        });
        let children = belows(&place.children, rank == root);
        Seat { own, parent: place.parent, is_under_root, children, is_built: false }
    }

    /// The seat in words, for a message.
    pub(super) fn to_words(&self) -> Vec<u64> {
        let parent = self.parent.map_or(u64::MAX, |parent| parent as u64);
        let mut words = vec![parent, u64::from(self.is_under_root)];
        for one in std::iter::once(&self.own).chain(&self.children) {
            let flags = u64::from(one.is_inner) | u64::from(one.is_silent) << 1;
            let ranks = [one.rank, one.first, one.last].map(|rank| rank as u64);
            let waits_for = one.waits_for.map_or(u64::MAX, |index| index as u64);
            words.extend(ranks.into_iter().chain([one.room, one.largest_passed, waits_for, flags]));
        }
        words
    }

    /// The seat that [`to_words`](Self::to_words) has made words of.
    pub(super) fn from_words(words: &[u64]) -> Seat {
        let (place, belows) = words.split_at(2);
        let mut all = belows.chunks_exact(WORDS).map(|words| Below {
            rank: words[0] as Rank,
            first: words[1] as Rank,
            last: words[2] as Rank,
            room: words[3],
            largest_passed: words[4],
            waits_for: Some(words[5]).filter(|&at| at != u64::MAX).map(|at| at as usize),
            is_inner: words[6] & 1 != 0,
            is_silent: words[6] & 2 != 0,
        });
        Seat {
            parent: Some(place[0])
                .filter(|&parent| parent != u64::MAX)
                .map(|parent| parent as Rank),
            is_under_root: place[1] != 0,
            own: all.next().expect("a seat is somebody's"),
            children: all.collect(),
            is_built: false,
        }
    }

    /// The seat at this place in a tree that the processes have built for a call, in which nobody but the root
    /// holds more than `most_passed` bytes of others' data.
    pub(super) fn of_node(node: &Node, (root, ranks): (Rank, usize), most_passed: u64) -> Seat {
        let is_under_root = node.parent == Some(root);
        // Whoever sends nobody else's data to the root by itself has no bound. The others do not know how many ranks
        // the subtree below the root has.
        let below = |(rank, first, last): (Rank, Rank, Rank), bytes: u64, is_under_root: bool| {
            let is_inner = first < last;
            let largest_passed = match is_under_root && !is_inner {
                true => u64::MAX,
                false => most_passed / ranks as u64,
            };
            Below {
                rank,
                first,
                last,
                // What is passed on may be less, and is never more.
                room: Some(bytes).filter(|&bytes| bytes <= LARGEST_ROOM).unwrap_or(0),
                largest_passed,
                waits_for: None,
                is_inner,
                is_silent: bytes == 0,
            }
        };
        let child = |one: &Child| {
            below((one.rank, one.first, one.last), one.bytes + one.straight, node.rank == root)
        };
        Seat {
            own: below((node.rank, node.first, node.last), node.bytes, is_under_root),
            parent: node.parent,
            is_under_root,
            children: node.children.iter().map(child).collect(),
            is_built: true,
        }
    }

    /// The child of this rank, if it passes on data.
    /// True if the data of this seat in the same tree, planned for other sizes, fits into the message here.
    pub(super) fn has_room_of(&self, other: &Seat) -> bool {
        let (room, planned) = (self.own.room, other.own.room);
        if planned == 0 { room == 0 } else { planned <= 2 * room }
    }

    pub(super) fn inner_child(&self, rank: Rank) -> Option<&Below> {
        self.children.iter().find(|child| child.rank == rank && child.is_inner)
    }

    /// True if its messages with its parent carry one block, known to its parent, the root.
    pub(super) fn is_direct(&self) -> bool {
        self.is_under_root && !self.own.is_inner
    }
}

/// Room for about this many bytes.
fn room_for(bytes: u64) -> u64 {
    match bytes {
        bytes if bytes > LARGEST_ROOM => 0,
        bytes => (2 * bytes + LEAST_ROOM).min(LARGEST_ROOM),
    }
}

/// Largest passed block of each rank: such blocks of all ranks in its subtree below the root stay within the limit
/// together. Ranks that send to the root themselves have no bound.
fn largest_passed(tree: &Tree, most_passed: u64) -> Vec<u64> {
    let mut largest = vec![u64::MAX; tree.ranks()];
    for child in tree.children(tree.root()).filter(|&child| tree.degree(child) > 0) {
        let mut subtree = vec![child];
        let mut seen = 0;
        while let Some(&rank) = subtree.get(seen) {
            subtree.extend(tree.children(rank));
            seen += 1;
        }
        let ranks = subtree.len() as u64;
        subtree.into_iter().for_each(|rank| largest[rank] = most_passed / ranks);
    }
    largest
}

#[cfg(test)]
mod tests {
    use super::*;
    use tuwtree_model::{Homogeneous, Problem, Randomness, Root, Step};
    use tuwtree_plan::catalogue::OnlinePart;
    use tuwtree_treegen::{AdaptiveRule, adaptive, linear};

    /// No limit, no window.
    const PLENTY: (u64, Option<u64>) = (1 << 40, None);

    #[test]
    fn nobody_passes_on_more_than_the_limit_whatever_the_sizes() {
        let costs = Homogeneous::new(9.0, 1.0, 1.0).unwrap();
        for ranks in 1..24 {
            let numbers = Randomness::Xoshiro { seed: ranks as u64 }.numbers(2 * ranks);
            // Those of the plan, and others.
            let (planned, later) = numbers.split_at(ranks);
            let sizes = BlockSizes::new(planned.iter().map(|number| number % 90)).unwrap();
            let problem = Problem::gather(&sizes, costs).unwrap();
            let problem = problem.with_root(Root::Given(ranks / 2)).unwrap();
            let tree = adaptive(&problem, AdaptiveRule::DataSize).unwrap();
            for limit in [0, 1, 100, 1000] {
                let seats = Seat::of_tree(&tree, &sizes, (limit, Some(100))).unwrap();
                for seat in &seats {
                    let bytes = |rank: Rank| later[rank] % 90;
                    let own = &seat.own;
                    let passed: u64 = (own.first..=own.last)
                        .filter(|&rank| rank != own.rank)
                        .map(|rank| seats[rank].own.passed(bytes(rank)))
                        .sum();
                    assert!(seat.parent.is_none() || passed <= limit, "{seat:?}");
                    // What goes straight, the root knows by its own seat, and each process by its own.
                    for child in seat.children.iter().filter(|one| one.is_inner) {
                        let same = (child.first..=child.last)
                            .all(|rank| seats[rank].own.largest_passed == child.largest_passed);
                        assert!(same);
                    }
                }
            }
        }
    }

    #[test]
    fn seats_are_the_tree_and_pass_through_words() {
        let costs = Homogeneous::new(9.0, 1.0, 1.0).unwrap();
        for ranks in 1..24 {
            let numbers = Randomness::Xoshiro { seed: ranks as u64 }.numbers(ranks);
            let sizes = BlockSizes::new(numbers.iter().map(|number| number % 5 * 9000)).unwrap();
            for root in 0..ranks {
                let problem = Problem::gather(&sizes, costs).unwrap();
                let problem = problem.with_root(Root::Given(root)).unwrap();
                let tree = adaptive(&problem, AdaptiveRule::DataSize).unwrap();
                for tree in [tree, linear(&problem).unwrap()] {
                    let seats = Seat::of_tree(&tree, &sizes, PLENTY).expect("consecutive subtrees");
                    for (rank, seat) in seats.iter().enumerate() {
                        assert_eq!(seat.parent, tree.parent(rank));
                        assert!(seat.children.iter().map(|one| one.rank).eq(tree.children(rank)));
                        assert!(seat.children.iter().all(|one| *one == seats[one.rank].own));
                        let below = seat.children.iter().map(Below::ranks).sum::<usize>();
                        assert_eq!(seat.own.ranks(), below + 1);
                        assert_eq!(&Seat::from_words(&seat.to_words()), seat);
                    }
                    assert_eq!(seats[root].own.ranks(), ranks);
                }
            }
        }
    }

    #[test]
    fn whoever_finds_its_place_has_the_seat_that_it_has_in_the_whole_tree() {
        let costs = Homogeneous::new(900.0, 1.0, 1.0).unwrap().with_overhead(90.0).unwrap();
        for ranks in 1..24 {
            let numbers = Randomness::Xoshiro { seed: ranks as u64 }.numbers(ranks);
            let sizes = BlockSizes::new(numbers.iter().map(|number| number % 5 * 90)).unwrap();
            let limits = [PLENTY, (1000, None), (1 << 40, Some(200)), (0, Some(0))];
            for (root, limits) in (0..ranks).flat_map(|root| limits.map(|one| (root, one))) {
                let problem = crate::planning::problem(false, &sizes, root, costs).unwrap();
                let tree = crate::planning::online_tree(&problem).unwrap();
                let seats = Seat::of_tree(&tree, &sizes, limits).expect("consecutive subtrees");
                for (rank, seat) in seats.iter().enumerate() {
                    match crate::planning::found_online(&problem, rank).unwrap() {
                        OnlinePart::Place(place) => {
                            let own = Seat::of_place(&place, (rank, root), &sizes, limits);
                            assert_eq!(&own, seat, "{sizes:?} {limits:?}");
                        }
                        OnlinePart::Tree(_) => panic!("one law"),
                    }
                }
            }
        }
    }

    #[test]
    fn trees_whose_subtrees_have_gaps_have_no_seats() {
        // 0 <- (1 <- 3), 0 <- 2.
        let steps = [
            (0, Step::Copy),
            (0, Step::Receive(1)),
            (0, Step::Receive(2)),
            (1, Step::Copy),
            (1, Step::Receive(3)),
        ];
        let tree = Tree::new(4, 0, &steps).unwrap();
        assert_eq!(Seat::of_tree(&tree, &BlockSizes::new([1; 4]).unwrap(), PLENTY), None);
    }

    #[test]
    fn large_data_has_no_room_and_small_data_more_than_it_takes() {
        // 0 <- (1 <- 2).
        let steps =
            [(0, Step::Copy), (0, Step::Receive(1)), (1, Step::Copy), (1, Step::Receive(2))];
        let tree = Tree::new(3, 0, &steps).unwrap();
        let room = |last: u64| {
            let seats = Seat::of_tree(&tree, &BlockSizes::new([0, 1, last]).unwrap(), PLENTY);
            seats.expect("consecutive subtrees")[2].own.room
        };
        assert_eq!((room(1 << 20), room(8)), (0, 272));
    }
}
