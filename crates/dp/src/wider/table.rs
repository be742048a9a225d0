//! The tables of both classes: `C`, `F` and `U`.

use super::{Class, Receiving};
use crate::DpError;
use crate::table::{Triangle, cells_with_root, triangle_cells, zeros};
use tuwtree_model::{Rank, Root, Scalar};

/// The least times of all ranges of a problem, as the [module](super) defines them.
#[derive(Clone, Debug, PartialEq)]
pub struct Table<T> {
    ranks: usize,
    class: Class,
    root: Option<Rank>,
    /// Ranges without a given root: one side without a given root, else before and after it.
    pub(super) sides: Vec<SideTable<T>>,
    /// `F(i,j)` for `i` in `0..=root` and `j` in `root..p`, row by row; none for a free root.
    rooted: Vec<T>,
}

impl<T: Scalar> Table<T> {
    /// A table of finished sides, with every `F` being 0.
    ///
    /// # Errors
    /// [`DpError::OutOfMemory`].
    pub(super) fn new(
        ranks: usize,
        class: Class,
        root: Option<Rank>,
        sides: Vec<SideTable<T>>,
    ) -> Result<Table<T>, DpError> {
        let rooted = zeros(root.map_or(0, |root| cells_with_root(ranks, root)))?;
        Ok(Table { ranks, class, root, sides, rooted })
    }

    /// The number of ranks.
    pub fn ranks(&self) -> usize {
        self.ranks
    }

    /// The class of trees.
    pub fn class(&self) -> Class {
        self.class
    }

    /// The given root; `None` if any will do.
    pub fn root(&self) -> Option<Rank> {
        self.root
    }

    /// The least completion time of the whole problem; 0 for a lone rank.
    pub fn value(&self) -> T {
        if self.ranks == 1 { T::ZERO } else { self.cost(0, self.ranks - 1) }
    }

    /// `F(i,j)` if the range holds the given root, otherwise `C(i,j)`.
    ///
    /// # Panics
    /// If it is no range of the problem.
    #[inline]
    pub fn cost(&self, i: Rank, j: Rank) -> T {
        match self.root {
            Some(root) if i <= root && root <= j => self.rooted(i, j),
            _ => self.side(i).cost.get(i, j),
        }
    }

    /// `U_g(i,j)` for the clock `g` that `receiver` starts with.
    ///
    /// # Panics
    /// If the range holds `receiver` or the root, or the class has no such table.
    pub fn away(&self, receiver: Rank, i: Rank, j: Rank) -> T {
        assert!(!(i..=j).contains(&receiver), "{receiver} is within [{i}..{j}]");
        let side = self.side(i);
        side.away[side.clocks.of(receiver)].get(i, j)
    }

    /// `F(i,j)` for `i <= root <= j`.
    #[inline(always)]
    pub(super) fn rooted(&self, i: Rank, j: Rank) -> T {
        self.rooted[self.index(i, j)]
    }

    #[inline(always)]
    pub(super) fn set_rooted(&mut self, i: Rank, j: Rank, value: T) {
        let index = self.index(i, j);
        self.rooted[index] = value;
    }

    /// The side that ranges from `i` on belong to which do not hold the root.
    #[inline(always)]
    pub(super) fn side(&self, i: Rank) -> &SideTable<T> {
        &self.sides[usize::from(self.root.is_some_and(|root| i > root))]
    }

    #[inline(always)]
    fn index(&self, i: Rank, j: Rank) -> usize {
        let root = self.root.expect("a given root");
        debug_assert!(i <= root && root <= j, "[{i}..{j}] does not hold the root");
        i * (self.ranks - root) + (j - root)
    }
}

/// Ranges within some consecutive ranks without the given root.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SideTable<T> {
    /// `C(i,j)`.
    pub(super) cost: Triangle<T>,
    /// `U_g(i,j)` for each of the clocks; none for [`Class::CopyFirst`].
    pub(super) away: Vec<Triangle<T>>,
    pub(super) clocks: Clocks<T>,
}

impl<T: Scalar> SideTable<T> {
    /// All 0.
    ///
    /// # Errors
    /// [`DpError::OutOfMemory`].
    pub(super) fn new(
        first: Rank,
        width: usize,
        clocks: Clocks<T>,
    ) -> Result<SideTable<T>, DpError> {
        let away = clocks.values.iter().map(|_| Triangle::new(first, width));
        Ok(SideTable {
            cost: Triangle::new(first, width)?,
            away: away.collect::<Result<_, _>>()?,
            clocks,
        })
    }

    /// Number of cells.
    pub(super) fn cells(width: usize, clocks: &Clocks<T>) -> usize {
        triangle_cells(width) * (1 + clocks.values.len())
    }
}

/// The clocks that receivers start with, and whose is which: only they distinguish receivers.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Clocks<T> {
    /// The different start times of receivers, rising.
    pub(super) values: Vec<T>,
    /// `p` entries: the index of a rank's clock; any index for ranks without one.
    of: Vec<u32>,
}

impl<T: Scalar> Clocks<T> {
    /// None, for a class that needs none.
    pub(super) fn none() -> Clocks<T> {
        Clocks { values: Vec::new(), of: Vec::new() }
    }

    /// Clocks for these receivers of `ranks`.
    pub(super) fn new(
        ranks: usize,
        receivers: impl Iterator<Item = Rank> + Clone,
        clock: impl Fn(Rank) -> T,
    ) -> Clocks<T> {
        let mut values: Vec<T> = receivers.clone().map(&clock).collect();
        values.sort_by(|a, b| a.partial_cmp(b).expect("times are ordered"));
        values.dedup();
        let mut of = vec![0; ranks];
        for receiver in receivers {
            let clock = clock(receiver);
            of[receiver] = values.partition_point(|&value| value < clock) as u32;
        }
        Clocks { values, of }
    }

    /// At most `most` clocks and the `kept` ones, each the least of a group of neighbours, and the largest decrease of
    /// a clock, which is minimal up to rounding.
    ///
    /// # Complexity
    /// O(p) time, some 60 times.
    pub(super) fn grouped(mut self, most: usize, kept: &[T]) -> (Clocks<T>, T) {
        if self.values.len() <= most {
            return (self, T::ZERO);
        }
        let (mut little, mut enough) = (0.0, self.span());
        for _ in 0..60 {
            let middle = 0.5 * (little + enough);
            let fits = self.group_starts(middle).len() <= most;
            *if fits { &mut enough } else { &mut little } = middle;
        }
        let mut starts = self.group_starts(enough);
        let index = |clock: &T| self.values.iter().position(|value| value == clock);
        starts.extend(kept.iter().filter_map(index));
        starts.sort_unstable();
        starts.dedup();
        let mut slack = T::ZERO;
        let mut group_of = vec![0_u32; self.values.len()];
        for (index, &value) in self.values.iter().enumerate() {
            let group = starts.partition_point(|&start| start <= index) - 1;
            group_of[index] = group as u32;
            slack = slack.most(value - self.values[starts[group]]);
        }
        self.of.iter_mut().for_each(|of| *of = group_of[*of as usize]);
        self.values = starts.into_iter().map(|start| self.values[start]).collect();
        (self, slack)
    }

    /// Least number of groups whose clocks lie within `apart` of each other.
    pub(super) fn groups_within(&self, apart: f64) -> usize {
        self.group_starts(apart).len()
    }

    /// Distance between the least and the greatest clock.
    fn span(&self) -> f64 {
        self.values[self.values.len() - 1].units() - self.values[0].units()
    }

    /// The first indices of groups, from the least clock on as long as they may be, within which
    /// clocks lie `apart` at most.
    fn group_starts(&self, apart: f64) -> Vec<usize> {
        let mut starts = vec![0];
        for (index, value) in self.values.iter().enumerate() {
            if value.units() - self.values[starts[starts.len() - 1]].units() > apart {
                starts.push(index);
            }
        }
        starts
    }

    /// The index of a receiver's clock.
    #[inline(always)]
    pub(super) fn of(&self, receiver: Rank) -> usize {
        self.of[receiver] as usize
    }

    /// A receiver's clock.
    #[inline(always)]
    pub(super) fn value(&self, receiver: Rank) -> T {
        self.values[self.of(receiver)]
    }
}

/// The given root; `None` if any will do.
///
/// # Errors
/// [`DpError::RootOutOfRange`].
pub(super) fn given_root(ranks: usize, root: Root) -> Result<Option<Rank>, DpError> {
    match root {
        Root::Best | Root::None => Ok(None),
        Root::Given(root) if root < ranks => Ok(Some(root)),
        Root::Given(root) => Err(DpError::RootOutOfRange { root, ranks }),
    }
}

/// A side and the receivers of messages from it: its own ranks, and the given root.
pub(super) fn receivers(
    (first, width): (Rank, usize),
    root: Option<Rank>,
) -> impl Iterator<Item = Rank> + Clone {
    (first..first + width).chain(root)
}

/// The sides of a problem: first rank and number of ranks.
pub(super) fn sides(ranks: usize, root: Option<Rank>) -> Vec<(Rank, usize)> {
    match root {
        None => vec![(0, ranks)],
        Some(root) => vec![(0, root), (root + 1, ranks - 1 - root)],
    }
}

/// The clock of a receiver that holds `[i..j]`, or is to receive it: `R(i,j)`.
#[inline(always)]
pub(super) fn held<T: Scalar>(
    law: &impl Receiving<T>,
    cost: &Triangle<T>,
    (i, j): (Rank, Rank),
) -> T {
    if i == j { law.copy(i) } else { cost.get(i, j) }
}
