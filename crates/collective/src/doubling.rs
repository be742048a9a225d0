//! Subtrees of ranks that exchange all they have.
//!
//! ```text
//!        0 1 2 3 | 4      p = 5, the last step, mask 4: only 0 has a partner, and tells the others
//! 0 <-> 4: 0..4 | 4
//! 0 --> 2: 4                 t = 2
//! 0 --> 1, 2 --> 3: 4        t = 1
//! ```

use crate::CollectiveError;
use crate::error::allgathered;
use crate::rounds::{Meeting, gathering};
use tuwtree_model::{Problem, Rank};
use tuwtree_schedule::Schedule;

/// The allgather by recursive doubling: with mask 1, 2, 4, ... rank `i` exchanges all blocks of its subtree of `mask`
/// ranks with rank `i xor mask`. If that rank's subtree is not complete, the receivers of its blocks pass them on among
/// themselves, halving distances.
///
/// Blocks of `c` bytes each take `lg p alpha + (p - 1) c beta` if `p` is a power of two; for other `p` at most
/// twice as many rounds, and about twice the volume.
///
/// # Errors
/// [`CollectiveError`].
///
/// # Complexity
/// O(p log^2 p).
///
/// # Source
/// R. Thakur, R. Rabenseifner, W. Gropp, IJHPCA 19(1), 2005, section 4.1. For `p` that are no powers of two
/// the rule of MPICH's `allgather_intra_recursive_doubling.c`.
pub fn recursive_doubling(problem: &Problem) -> Result<Schedule, CollectiveError> {
    let sizes = allgathered(problem)?;
    let p = sizes.ranks();
    let rounds = rounds(p);
    let meet = |round: usize, rank| rounds[round].meeting(rank, p);
    gathering(problem, rounds.len(), meet, |round, (from, _), data| {
        let (first, count) = rounds[round].window(from, p);
        data.push_window(sizes, first, count);
    })
}

/// A round: an exchange between subtrees, or a message within one of them.
#[derive(Clone, Copy, Debug)]
pub(crate) enum DoublingRound {
    /// With the partner at distance `mask`.
    Exchange { mask: usize },
    /// At distance `distance`, the blocks of the subtree behind the own one of `mask` ranks.
    HandOn { mask: usize, distance: usize },
}

/// All rounds; those in which nobody hands on anything are left out.
pub(crate) fn rounds(p: usize) -> Vec<DoublingRound> {
    let mut rounds = Vec::new();
    let masks = std::iter::successors(Some(1_usize), |mask| Some(2 * mask));
    for mask in masks.take_while(|&mask| mask < p) {
        rounds.push(DoublingRound::Exchange { mask });
        let distances = std::iter::successors(Some(mask / 2), |distance| Some(distance / 2));
        rounds.extend(
            distances
                .take_while(|&distance| distance > 0)
                .map(|distance| DoublingRound::HandOn { mask, distance })
                .filter(|round| (0..p).any(|rank| round.meeting(rank, p).to.is_some())),
        );
    }
    rounds
}

/// The first rank of the subtree of `ranks` ranks that holds a rank.
fn subtree(rank: Rank, ranks: usize) -> Rank {
    rank - rank % ranks
}

impl DoublingRound {
    pub(crate) fn meeting(self, rank: Rank, p: usize) -> Meeting {
        match self {
            DoublingRound::Exchange { mask } => {
                let partner = Some(rank ^ mask).filter(|&partner| partner < p);
                Meeting { to: partner, from: partner }
            }
            DoublingRound::HandOn { mask, distance } => {
                let own = subtree(rank, mask);
                let partners = p.saturating_sub(own + mask);
                let is_left = rank & mask == 0;
                if !is_left || partners == 0 || partners >= mask {
                    return Meeting::default();
                }
                // Who has the blocks already: the first ones of each half of the subtree.
                let told = subtree(rank, 2 * distance) + partners;
                let other = rank ^ distance;
                let passes = rank.min(other) < told && rank.max(other) >= told;
                let other = Some(other).filter(|&other| passes && other < p);
                match rank & distance == 0 {
                    true => Meeting { to: other, from: None },
                    false => Meeting { to: None, from: other },
                }
            }
        }
    }

    /// The blocks that a rank sends: the first of them, and how many there are.
    pub(crate) fn window(self, from: Rank, p: usize) -> (Rank, usize) {
        let (first, ranks) = match self {
            DoublingRound::Exchange { mask } => (subtree(from, mask), mask),
            DoublingRound::HandOn { mask, .. } => (subtree(from, mask) + mask, mask),
        };
        (first, ranks.min(p - first))
    }
}
