//! Blocks of two groups of ranks, each of which gets the other's blocks: the sizes of an intergroup allgather.

use crate::{BlockSizes, BlockSizesError, Rank};

/// A block for each rank of two groups, the first group's before the second's.
///
/// A copy is O(1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupSizes {
    sizes: BlockSizes,
    /// In `1..p`.
    first: usize,
}

/// Consecutive ranks with their blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// The first of them.
    pub first: Rank,
    /// Number of ranks, at least 1.
    pub ranks: usize,
    /// Start of their blocks among all blocks of both groups.
    pub start: u64,
    /// The sum of their blocks.
    pub bytes: u64,
}

/// Sizes that are not those of two groups.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GroupSizesError {
    /// No sizes, too many, or a total that is too large.
    #[error(transparent)]
    Sizes(#[from] BlockSizesError),
    /// A group without ranks.
    #[error("groups of {first} and {second} processes; each has at least one")]
    EmptyGroup {
        /// The ranks of the first group.
        first: usize,
        /// The ranks of the second group.
        second: usize,
    },
}

impl GroupSizes {
    /// The blocks of all ranks; the first group has `first` of them.
    ///
    /// # Errors
    /// [`GroupSizesError::EmptyGroup`].
    ///
    /// # Example
    /// ```
    /// use tuwtree_model::{BlockSizes, GroupSizes};
    /// let sizes = GroupSizes::new(BlockSizes::new([5, 1, 7]).unwrap(), 2).unwrap();
    /// assert_eq!((sizes.own_group(2).bytes, sizes.other_group(2).bytes), (7, 6));
    /// assert!(GroupSizes::new(BlockSizes::new([5, 1]).unwrap(), 2).is_err());
    /// ```
    pub fn new(sizes: BlockSizes, first: usize) -> Result<GroupSizes, GroupSizesError> {
        let second = sizes.ranks().saturating_sub(first);
        match first == 0 || second == 0 {
            true => Err(GroupSizesError::EmptyGroup { first, second }),
            false => Ok(GroupSizes { sizes, first }),
        }
    }

    /// The blocks of a group and of another one.
    ///
    /// # Errors
    /// [`GroupSizesError`].
    pub fn of_groups(
        first: &BlockSizes,
        second: &BlockSizes,
    ) -> Result<GroupSizes, GroupSizesError> {
        let all = BlockSizes::new(first.iter().chain(second.iter()))?;
        GroupSizes::new(all, first.ranks())
    }

    /// All blocks.
    pub fn blocks(&self) -> &BlockSizes {
        &self.sizes
    }

    /// The number of ranks in each group.
    pub fn ranks(&self) -> [usize; 2] {
        [self.first, self.sizes.ranks() - self.first]
    }

    /// Both groups.
    pub fn groups(&self) -> [Group; 2] {
        let middle = self.sizes.before(self.first);
        let [first, second] = self.ranks();
        [
            Group { first: 0, ranks: first, start: 0, bytes: middle },
            Group {
                first: self.first,
                ranks: second,
                start: middle,
                bytes: self.sizes.total() - middle,
            },
        ]
    }

    /// The group of a rank.
    pub fn own_group(&self, rank: Rank) -> Group {
        self.groups()[usize::from(rank >= self.first)]
    }

    /// The group whose blocks a rank gets.
    pub fn other_group(&self, rank: Rank) -> Group {
        self.groups()[usize::from(rank < self.first)]
    }
}
