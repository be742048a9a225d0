//! Where each process sits in a tree that is kept between calls, and what it sends whom there.
//!
//! Sizes may be others in each call, and only the root knows them all. So they travel with the data:
//!
//! ```text
//!   gather    to the root                    the data of the subtree
//!             to another                     the same, if it fits the room of the seat; otherwise
//!                                            a notice, which is longer than the room: how many bytes
//!                                            there are; and then these
//!   scatter   to a process without children  its block
//!             to another                     how many bytes each rank of the subtree has, and the data
//!                                            behind, if it fits the room; otherwise the data afterwards
//! ```
//!
//! Rooms are part of the seats, so that both ends of a message know when it fits.
//!
//! Every subtree has consecutive ranks, so that its data is in rank order, wherever it is.

use tuwtree_model::{BlockSizes, Rank, Tree};

/// No message has more room than so many bytes; what is larger is received when its size is known.
const LARGEST_ROOM: u64 = 1 << 16;

/// Some room for blocks that were small when seats were given.
const LEAST_ROOM: u64 = 256;

/// How long a number is in a message, in bytes.
pub(super) const WORD: u64 = 8;

/// Another process in the tree, as its parent knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Below {
    /// Who it is.
    pub(super) rank: Rank,
    /// The first rank of its subtree.
    pub(super) first: Rank,
    /// The last.
    pub(super) last: Rank,
    /// For how many bytes of data a message between the two has room.
    pub(super) room: u64,
    /// Whether it has children itself.
    pub(super) is_inner: bool,
    /// Whether no message comes or goes where it has no data: it has no children, and the root, which
    /// knows its size, is its parent.
    pub(super) is_silent: bool,
}

impl Below {
    /// How many ranks its subtree has.
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
    /// Whether that is the root.
    pub(super) is_under_root: bool,
    /// In the order in which they send in a gather.
    pub(super) children: Vec<Below>,
}

impl Seat {
    /// The seats of all processes in this tree, for blocks of about these sizes; `None` if a subtree does
    /// not have consecutive ranks.
    ///
    /// # Complexity
    /// O(p).
    pub(super) fn of_tree(tree: &Tree, sizes: &BlockSizes) -> Option<Vec<Seat>> {
        let root = tree.root();
        let mut all: Vec<Below> = (0..tree.processors())
            .map(|rank| Below {
                rank,
                first: rank,
                last: rank,
                room: sizes.block(rank),
                is_inner: false,
                is_silent: tree.parent(rank) == Some(root) && sizes.block(rank) == 0,
            })
            .collect();
        let mut ranks = vec![1; tree.processors()];
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
        for one in &mut all {
            one.room = match one.room {
                bytes if bytes > LARGEST_ROOM => 0,
                bytes => (2 * bytes + LEAST_ROOM).min(LARGEST_ROOM),
            };
        }
        let seat = |rank: Rank| Seat {
            own: all[rank].clone(),
            parent: tree.parent(rank),
            is_under_root: tree.parent(rank) == Some(root),
            children: tree.children(rank).map(|child| all[child].clone()).collect(),
        };
        Some((0..tree.processors()).map(seat).collect())
    }

    /// The seat in words, for a message.
    pub(super) fn to_words(&self) -> Vec<u64> {
        let parent = self.parent.map_or(u64::MAX, |parent| parent as u64);
        let mut words = vec![parent, u64::from(self.is_under_root)];
        for one in std::iter::once(&self.own).chain(&self.children) {
            let flags = u64::from(one.is_inner) | u64::from(one.is_silent) << 1;
            words.extend([one.rank as u64, one.first as u64, one.last as u64, one.room, flags]);
        }
        words
    }

    /// The seat that [`to_words`](Self::to_words) has made words of.
    pub(super) fn from_words(words: &[u64]) -> Seat {
        let (place, belows) = words.split_at(2);
        let mut all = belows.chunks_exact(5).map(|words| Below {
            rank: words[0] as Rank,
            first: words[1] as Rank,
            last: words[2] as Rank,
            room: words[3],
            is_inner: words[4] & 1 != 0,
            is_silent: words[4] & 2 != 0,
        });
        Seat {
            parent: Some(place[0])
                .filter(|&parent| parent != u64::MAX)
                .map(|parent| parent as Rank),
            is_under_root: place[1] != 0,
            own: all.next().expect("a seat is somebody's"),
            children: all.collect(),
        }
    }

    /// Whether a message to the parent says in advance how many bytes come, if there are so many.
    pub(super) fn is_noticed(&self, bytes: u64) -> bool {
        !self.is_under_root && bytes > self.own.room
    }
}

/// How long a notice is that stands for more than fits the room: too long for data.
pub(super) fn notice_bytes(room: u64) -> u64 {
    room + WORD
}

#[cfg(test)]
mod tests {
    use super::*;
    use tuwtree_model::{Homogeneous, Problem, Randomness, Root, Step};
    use tuwtree_treegen::{AdaptiveRule, adaptive, linear};

    #[test]
    fn seats_are_the_tree_and_pass_through_words() {
        let costs = Homogeneous::new(9.0, 1.0, 1.0).unwrap();
        for processors in 1..24 {
            let numbers = Randomness::Xoshiro { seed: processors as u64 }.numbers(processors);
            let sizes = BlockSizes::new(numbers.iter().map(|number| number % 5 * 9000)).unwrap();
            for root in 0..processors {
                let problem = Problem::gather(&sizes, costs).unwrap();
                let problem = problem.with_root(Root::Given(root)).unwrap();
                let tree = adaptive(&problem, AdaptiveRule::DataSize).unwrap();
                for tree in [tree, linear(&problem).unwrap()] {
                    let seats = Seat::of_tree(&tree, &sizes).expect("consecutive subtrees");
                    for (rank, seat) in seats.iter().enumerate() {
                        assert_eq!(seat.parent, tree.parent(rank));
                        assert!(seat.children.iter().map(|one| one.rank).eq(tree.children(rank)));
                        assert!(seat.children.iter().all(|one| *one == seats[one.rank].own));
                        let below = seat.children.iter().map(Below::ranks).sum::<usize>();
                        assert_eq!(seat.own.ranks(), below + 1);
                        assert_eq!(&Seat::from_words(&seat.to_words()), seat);
                    }
                    assert_eq!(seats[root].own.ranks(), processors);
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
        assert_eq!(Seat::of_tree(&tree, &BlockSizes::new([1; 4]).unwrap()), None);
    }

    #[test]
    fn large_data_has_no_room_and_is_noticed_where_the_parent_does_not_know_its_size() {
        // 0 <- (1 <- 2).
        let steps =
            [(0, Step::Copy), (0, Step::Receive(1)), (1, Step::Copy), (1, Step::Receive(2))];
        let tree = Tree::new(3, 0, &steps).unwrap();
        let seats = Seat::of_tree(&tree, &BlockSizes::new([0, 1, 1 << 20]).unwrap()).unwrap();
        assert_eq!([1, 2].map(|rank: usize| seats[rank].own.room), [0, 0]);
        assert!(seats[2].is_noticed(1) && !seats[2].is_noticed(0) && !seats[1].is_noticed(1));
        let seats = Seat::of_tree(&tree, &BlockSizes::new([0, 1, 8]).unwrap()).unwrap();
        assert_eq!(seats[2].own.room, 272);
        assert!(seats[2].is_noticed(273) && !seats[2].is_noticed(272));
    }
}
