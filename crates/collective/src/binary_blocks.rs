//! Reductions by binary blocks: the ranks as blocks of powers of two, largest first, which reduce by halves.
//!
//! ```text
//! p = 13: blocks of 8, 4 and 1       each block halves its data by itself, down to a piece at each member;
//!   0..=7   8..=11   12              then 12 sends its 4 pieces to 8..=11, which send 2 each to 0..=7
//! ```

use crate::CollectiveError;
use crate::allreduce::{kept, masks, of_rounds};
use crate::error::check_operation;
use crate::rounds::{Arrives, Cut, Meeting, root};
use tuwtree_model::{Operation, Order, Problem, Rank};
use tuwtree_schedule::Schedule;

/// A block of ranks of a power of two.
#[derive(Clone, Copy, Debug)]
struct Block {
    first: Rank,
    ranks: usize,
}

/// A round among blocks of ranks.
#[derive(Clone, Copy, Debug)]
enum BlockRound {
    /// In each block, ranks at this distance exchange halves.
    Halve(usize),
    /// In each block, ranks at this distance exchange all they have.
    Double(usize),
    /// The members of this block send the piece of this number, among each member's pieces of the next larger block, to
    /// the member there that keeps it.
    Up(usize, usize),
    /// And get it back.
    Down(usize, usize),
    /// Rank 0 sends its piece to a root outside the largest block, which takes its place there.
    Replace,
    /// Of two members of the largest block at this distance, the one that is further from the root gives its pieces.
    Collect(usize),
}

/// The blocks, and the root of a reduction.
struct RankBlocks {
    all: Vec<Block>,
    root: Rank,
}

/// The allreduce by binary blocks: each block does Rabenseifner's reduce-scatter by itself; smaller blocks hand their
/// pieces to the next larger one, and get the results back before each does its allgather. In rank order.
///
/// How long it takes is for a simulation to say.
///
/// # Errors
/// [`CollectiveError`].
///
/// # Complexity
/// O(p^2).
///
/// # Source
/// R. Thakur, R. Rabenseifner, W. Gropp, IJHPCA 19(1), 2005, section 5.2.
pub fn allreduce(problem: &Problem) -> Result<Schedule, CollectiveError> {
    check_operation(problem, Operation::Allreduce)?;
    let blocks = RankBlocks { all: blocks(problem.ranks()), root: 0 };
    let mut rounds = blocks.scattered();
    for small in 1..blocks.all.len() {
        let messages = 0..blocks.messages(small);
        rounds.extend(messages.map(|one| (Arrives::Stored, BlockRound::Down(small, one))));
    }
    let doubled = masks(blocks.largest()).rev();
    rounds.extend(doubled.map(|mask| (Arrives::Stored, BlockRound::Double(mask))));
    blocks.schedule(problem, &rounds)
}

/// The reduction by binary blocks: as in [`allreduce`], until the largest block has the result; then its pieces come
/// together at the root, along the same pairs backwards. A root outside that block takes the place of rank 0. In rank
/// order.
///
/// How long it takes is for a simulation to say; as [`crate::reduce::rabenseifner`] where `p = 2^l`.
///
/// # Errors
/// [`CollectiveError`].
///
/// # Complexity
/// O(p^2).
///
/// # Source
/// R. Thakur, R. Rabenseifner, W. Gropp, IJHPCA 19(1), 2005, section 5.2.
pub fn reduce(problem: &Problem) -> Result<Schedule, CollectiveError> {
    check_operation(problem, Operation::Reduce)?;
    let root = root(problem).expect("a reduction has a root");
    let blocks = RankBlocks { all: blocks(problem.ranks()), root };
    let mut rounds = blocks.scattered();
    rounds.extend((root >= blocks.largest()).then_some((Arrives::Stored, BlockRound::Replace)));
    let collected = masks(blocks.largest()).rev();
    rounds.extend(collected.map(|mask| (Arrives::Stored, BlockRound::Collect(mask))));
    blocks.schedule(problem, &rounds)
}

impl RankBlocks {
    /// The ranks of the largest block.
    fn largest(&self) -> usize {
        self.all[0].ranks
    }

    /// The number of messages of each member of a block to the next larger one.
    fn messages(&self, small: usize) -> usize {
        self.all[small - 1].ranks / self.all[small].ranks
    }

    /// The rounds of the reduce-scatter: each member of the largest block has a piece of the result.
    fn scattered(&self) -> Vec<(Arrives, BlockRound)> {
        let halved = masks(self.largest()).map(BlockRound::Halve);
        let handed = (1..self.all.len()).rev();
        let handed = handed
            .flat_map(|small| (0..self.messages(small)).map(move |one| BlockRound::Up(small, one)));
        halved.chain(handed).map(|round| (Arrives::Combined, round)).collect()
    }

    /// The index of a rank's block, the block, and the rank's number in it.
    fn place(&self, rank: Rank) -> (usize, Block, usize) {
        let index = self.all.partition_point(|block| block.first <= rank) - 1;
        (index, self.all[index], rank - self.all[index].first)
    }

    /// The number of a rank in the largest block as pieces come together.
    fn member(&self, rank: Rank) -> Option<usize> {
        match self.root < self.largest() {
            true => (rank < self.largest()).then_some(rank),
            false if rank == self.root => Some(0),
            false => (1..self.largest()).contains(&rank).then_some(rank),
        }
    }

    /// The rank of this number there.
    fn rank(&self, member: usize) -> Rank {
        if member == 0 && self.root >= self.largest() { self.root } else { member }
    }

    fn meeting(&self, round: BlockRound, rank: Rank) -> Meeting {
        let (index, block, member) = self.place(rank);
        match round {
            BlockRound::Halve(mask) | BlockRound::Double(mask) => {
                let partner = (mask < block.ranks).then(|| block.first + (member ^ mask));
                Meeting { to: partner, from: partner }
            }
            BlockRound::Up(small, message) => up(&self.all, small, message, (index, member)),
            BlockRound::Down(small, message) => {
                let Meeting { to, from } = up(&self.all, small, message, (index, member));
                Meeting { to: from, from: to }
            }
            BlockRound::Replace => Meeting {
                to: (rank == 0).then_some(self.root),
                from: (rank == self.root).then_some(0),
            },
            BlockRound::Collect(mask) => {
                let target = if self.root < self.largest() { self.root } else { 0 };
                // Above this distance all who take part are as the root.
                let taking_part = self.member(rank).filter(|own| (own ^ target) < 2 * mask);
                let Some(own) = taking_part else { return Meeting::default() };
                let other = Some(self.rank(own ^ mask));
                match (own ^ target) & mask == 0 {
                    true => Meeting { to: None, from: other },
                    false => Meeting { to: other, from: None },
                }
            }
        }
    }

    /// The first piece of a message and how many it has, counted in pieces of the largest block.
    fn window(&self, round: BlockRound, (from, to): (Rank, Rank)) -> (usize, usize) {
        let ((from_index, from_block, sender), (to_index, to_block, receiver)) =
            (self.place(from), self.place(to));
        // Pieces of small blocks are whole pieces of the largest one.
        let of_largest = |(first, count): (usize, usize), ranks: usize| {
            (first * (self.largest() / ranks), count * (self.largest() / ranks))
        };
        match round {
            BlockRound::Halve(mask) => {
                of_largest(kept(receiver, 2 * mask, to_block.ranks), to_block.ranks)
            }
            BlockRound::Double(mask) => {
                of_largest(kept(sender, 2 * mask, from_block.ranks), from_block.ranks)
            }
            // The piece of the larger block's member.
            BlockRound::Up(..) | BlockRound::Down(..) => match from_index < to_index {
                true => of_largest((piece_of(sender, from_block.ranks), 1), from_block.ranks),
                false => of_largest((piece_of(receiver, to_block.ranks), 1), to_block.ranks),
            },
            BlockRound::Replace => (piece_of(0, self.largest()), 1),
            BlockRound::Collect(mask) => {
                let sender = self.member(from).expect("members of the largest block collect");
                kept(sender, 2 * mask, self.largest())
            }
        }
    }

    fn schedule(
        &self,
        problem: &Problem,
        rounds: &[(Arrives, BlockRound)],
    ) -> Result<Schedule, CollectiveError> {
        let cut = Cut::new(problem, self.largest());
        let meet = |round, rank| self.meeting(round, rank);
        of_rounds(problem, Order::Ordered, rounds, cut, meet, |round, ends| {
            self.window(round, ends)
        })
    }
}

/// The blocks of powers of two, largest first.
fn blocks(ranks: usize) -> Vec<Block> {
    let mut first = 0;
    let bits = (0..usize::BITS).rev().map(|bit| 1_usize << bit);
    bits.filter(|bit| ranks & bit != 0)
        .map(|ranks| {
            let block = Block { first, ranks };
            first += ranks;
            block
        })
        .collect()
}

/// The piece that a member of a block has when halves have been exchanged: the bits of its number reversed.
fn piece_of(member: usize, ranks: usize) -> usize {
    kept(member, ranks, ranks).0
}

/// Whom a member of a block meets when the members of block `small` send their piece of this number to the
/// members of the next larger block.
fn up(blocks: &[Block], small: usize, message: usize, (index, member): (usize, usize)) -> Meeting {
    let (large, small_block) = (blocks[small - 1], blocks[small]);
    let each = large.ranks / small_block.ranks;
    if index == small {
        // Reversing bits twice gives the number back: the member that has a piece.
        let piece = piece_of(member, small_block.ranks) * each + message;
        let to = large.first + piece_of(piece, large.ranks);
        return Meeting { to: Some(to), from: None };
    }
    let piece = piece_of(member, large.ranks);
    let receives = index + 1 == small && piece % each == message;
    let from = receives.then(|| small_block.first + piece_of(piece / each, small_block.ranks));
    Meeting { to: None, from }
}
