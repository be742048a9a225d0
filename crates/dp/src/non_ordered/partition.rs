//! NP-hardness of non-ordered trees: PARTITION as a gather problem.
//!
//! Given positive integers `m_0, …, m_{n-1}` of even sum `m`, each less than `m / 2`: is there a subset
//! of sum `m / 2`? A gather among `n + 2` ranks knows. Two large blocks, `n m / 2` and
//! `n m / 2 + n`, are copied while the `n m_i + 1` are gathered in two parts, each part joins one of
//! them, and one joins the other; unless the parts are of equal sum, somebody waits.
//!
//! # Source
//! OPT Theorem 7, in the form with integer costs that follows its proof.

use tuwtree_model::{BlockSizes, Homogeneous, Problem};

/// A gather problem whose least completion time answers a PARTITION problem.
#[derive(Clone, Debug, PartialEq)]
pub struct PartitionGather {
    /// A block for each number, then the two large ones; any root, and alpha = beta = gamma = 1.
    pub problem: Problem,
    /// The least completion time iff the numbers can be parted; otherwise it is more.
    pub threshold: u64,
}

/// Reason for which numbers are not a PARTITION problem of this reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PartitionError {
    /// No numbers, or a sum that is odd or too large.
    #[error("the numbers' sum must be even, positive, and small enough for sizes of 64 bits")]
    Sum,
    /// A number that is 0 or, with which the answer is plain, at least half the sum.
    #[error("number {index} is {value}; each must be positive and less than half the sum, {half}")]
    Number {
        /// Its index among the numbers given.
        index: usize,
        /// 0, or at least half the sum.
        value: u64,
        /// Half the sum of all.
        half: u64,
    },
}

/// The gather problem for these numbers.
///
/// # Errors
/// [`PartitionError`].
///
/// # Example
/// The instance of OPT section 4: it can be parted, and an ordered tree takes 983.
/// ```
/// use tuwtree_dp::non_ordered::{exact, partition};
/// use tuwtree_model::completion_time;
/// let gather = partition::gather(&[2, 3, 3, 3, 4, 4, 4, 6, 6, 13]).unwrap();
/// let tree = exact(&gather.problem).unwrap();
/// let time = completion_time(&tree, &gather.problem).unwrap();
/// assert_eq!((gather.threshold, time.units()), (982, 982.0));
/// ```
pub fn gather(numbers: &[u64]) -> Result<PartitionGather, PartitionError> {
    let n = numbers.len() as u64;
    let sum = numbers.iter().try_fold(0_u64, |sum, &number| sum.checked_add(number));
    let sum = sum.filter(|&sum| sum > 0 && sum % 2 == 0).ok_or(PartitionError::Sum)?;
    let half = sum / 2;
    if let Some(index) = numbers.iter().position(|&value| value == 0 || value >= half) {
        return Err(PartitionError::Number { index, value: numbers[index], half });
    }
    let threshold = sum
        .checked_add(1)
        .and_then(|sum| sum.checked_mul(2 * n)?.checked_add(2))
        .ok_or(PartitionError::Sum)?;
    let blocks = numbers.iter().map(|number| n * number + 1).chain([n * half, n * half + n]);
    let sizes = BlockSizes::new(blocks).map_err(|_| PartitionError::Sum)?;
    let costs = Homogeneous::new(1.0, 1.0, 1.0).expect("1 is a cost");
    let problem = Problem::gather(&sizes, costs).expect("homogeneous costs are for any ranks");
    Ok(PartitionGather { problem, threshold })
}
