//! The published recurrences, evaluated split by split: O(p^3), for every alpha, beta and gamma.
//!
//! The yardstick of the other engines. The inner loops over the split `k` read a row `C(i, .)` and
//! a column `C(., j)` that are both consecutive in memory, without a branch, so that the compiler
//! turns them into vector instructions.

mod binary;
mod fixed_root;
mod free_root;

pub use binary::binary;
pub use fixed_root::fixed_root;
pub use free_root::free_root;
pub(crate) use free_root::least_inner_join;
#[cfg(test)]
pub(crate) use free_root::ranges;

use tuwtree_model::{Rank, Scalar, ScaledSizes};

/// Number of splits compared side by side.
const LANES: usize = 32;

/// Minimum of `max(left[x], right[x]) + sent(volume[x])`, `NEVER` for empty input.
///
/// # Shapes
/// Three slices of the same length; entry `x` belongs to the same split in all.
#[inline(always)]
pub(crate) fn least_join<T: Scalar>(
    left: &[T],
    right: &[T],
    volume: &[T],
    sent: impl Fn(T) -> T,
) -> T {
    let (left, left_rest) = left.as_chunks::<LANES>();
    let (right, right_rest) = right.as_chunks::<LANES>();
    let (volume, volume_rest) = volume.as_chunks::<LANES>();
    let mut least = [T::NEVER; LANES];
    for ((left, right), volume) in left.iter().zip(right).zip(volume) {
        for lane in 0..LANES {
            let time = left[lane].most(right[lane]) + sent(volume[lane]);
            least[lane] = least[lane].least(time);
        }
    }
    for ((&left, &right), &volume) in left_rest.iter().zip(right_rest).zip(volume_rest) {
        least[0] = least[0].least(left.most(right) + sent(volume));
    }
    least.into_iter().fold(T::NEVER, T::least)
}

/// Minimum of `max(left[x], right[x])`, `NEVER` for empty input: joins that send nothing.
#[inline(always)]
pub(crate) fn least_silent_join<T: Scalar>(left: &[T], right: &[T]) -> T {
    left.iter().zip(right).fold(T::NEVER, |least, (&left, &right)| least.least(left.most(right)))
}

/// Positions of non-empty blocks, which decide where an alpha is paid.
pub(crate) struct Nonempty {
    /// `p` entries: the least rank from here on with a non-empty block; `p` if none.
    from: Vec<Rank>,
    /// `p` entries: one more than the greatest rank up to here with a non-empty block; 0 if none.
    upto: Vec<Rank>,
}

impl Nonempty {
    /// The non-empty blocks of a problem. O(p).
    pub(crate) fn new<T: Scalar>(sizes: &ScaledSizes<T>) -> Nonempty {
        let p = sizes.ranks();
        let (mut from, mut upto) = (vec![p; p], vec![0; p]);
        for rank in (0..p).rev() {
            let next = if rank + 1 < p { from[rank + 1] } else { p };
            from[rank] = if sizes.is_empty(rank, rank) { next } else { rank };
        }
        for rank in 0..p {
            let last = if rank > 0 { upto[rank - 1] } else { 0 };
            upto[rank] = if sizes.is_empty(rank, rank) { last } else { rank + 1 };
        }
        Nonempty { from, upto }
    }

    /// The least split `k` at which `[i..k]` has data; `p` if none.
    pub(crate) fn data_on_left_from(&self, i: Rank) -> Rank {
        self.from[i]
    }

    /// The least split `k` at which `[k+1..j]` has no data (`k = j` if its last block has some).
    pub(crate) fn no_data_on_right_from(&self, j: Rank) -> Rank {
        self.upto[j].saturating_sub(1)
    }
}
