//! Tables of `plain` in O(p^2) for copy-first trees, O(p^2 G) for consecutive ones.
//!
//! # What it assumes
//! No block but that of a given root is empty, and every other rank's copy takes no longer
//! than its own message does to arrive: `g_x <= lambda + o + beta m_x`, as is always so for gamma
//! <= beta.
//!
//! # Monotonicity
//! Of `C`, of `F` among ranges that hold the root, and of every `U_g`, a longer range has the
//! greater time:
//!
//! - (L) `C(i,j) <= C(i-1,j)`, (R) `C(i,j) <= C(i,j+1)`, and `g_i <= C(i,i+1)`, `g_j <= C(j-1,j)`.
//!
//! Proof of (L), by induction on the number of ranks; (R) is the mirror image. `g_i <=
//! C(i,i+1)`: `i` copies, or its message arrives and is then no shorter than its copy. Take a best
//! tree of `[i-1..j]` with root `x` and delete rank `i-1`.
//!
//! - `x` is another: the child that held `i-1` shrinks, and by induction is ready no later and
//!   sends no more, or it vanishes. What `x` receives stays next to what it has.
//! - `x = i-1`: the root `y` of its first child `X` takes its place. `x` had `X` no sooner than
//!   `lambda + o` after `C(X)`; `y` has it at `C(X)`, or, if it is alone, is free at `g_y`, which is
//!   no later either. Then `y` receives the same children in the same order.
//!
//! An empty rank is no better as a relay, by the second case; so empty blocks can be left out.
//!
//! # Windows
//! By (L) and (R) the clock of the receiving part rises with its length while the sending part's
//! time falls. So a range has one turn for each direction, both move one way only, and four
//! candidates are enough ([`lanes`](super), in the source).
//!
//! # Clocks
//! `U_g` depends on its receiver by `max(lambda, g)` only, since no message starts before lambda:
//! one table for each such clock. There is one, `G = 1`, if all copies fit into one latency. If
//! there are too many, clocks are rounded *down* to the least of their group: the values are then
//! exact for those clocks, never above the true ones, and below by at most the largest difference
//! within a group, the [`slack`](Bracket::slack): copies come first, so that a chain of messages
//! that decides a tree's time begins with one copy at most. For the same reason the tree behind the
//! table takes at most the slack longer than its value in the table.

use super::Class;
use super::lanes::{ColumnJoins, DenseLaw, RowJoins, SideColumns};
use super::table::{Clocks, SideTable, Table, given_root, held, receivers, sides};
use crate::progress::Meter;
use crate::table::cells_with_root;
use crate::{DpError, Progress};
use tuwtree_model::{Rank, Root, Scalar};

/// A table, and by how much its values may be below the true ones.
#[derive(Clone, Debug, PartialEq)]
pub struct Bracket<T> {
    /// The least times for the clocks as they were rounded.
    pub table: Table<T>,
    /// Largest rounding of a clock; 0 if the table is exact.
    pub slack: T,
}

/// A problem with rounded clocks: a table to be filled, and its size.
#[derive(Debug)]
pub struct DensePlan<T> {
    class: Class,
    root: Option<Rank>,
    parts: Vec<((Rank, usize), Clocks<T>)>,
    slack: T,
}

impl<T: Scalar> DensePlan<T> {
    /// The tables for a problem with `most_clocks >= 1` tables `U_g` a side at most.
    ///
    /// # Errors
    /// [`DpError::RootOutOfRange`].
    ///
    /// # Complexity
    /// O(p log p) time.
    pub fn new(
        law: &impl DenseLaw<T>,
        class: Class,
        root: Root,
        most_clocks: usize,
    ) -> Result<DensePlan<T>, DpError> {
        DensePlan::with_clocks(law, class, root, (most_clocks, &[]))
    }

    /// Keeps these clocks too, without rounding.
    ///
    /// # Errors, complexity
    /// As [`new`](Self::new).
    pub(super) fn with_clocks(
        law: &impl DenseLaw<T>,
        class: Class,
        root: Root,
        (most_clocks, kept): (usize, &[T]),
    ) -> Result<DensePlan<T>, DpError> {
        let p = law.ranks();
        let root = given_root(p, root)?;
        let mut slack = T::ZERO;
        let mut clocks = |side| match class {
            Class::CopyFirst => Clocks::none(),
            Class::Consecutive => {
                let (clocks, down) = all_clocks(law, side, root).grouped(most_clocks, kept);
                slack = slack.most(down);
                clocks
            }
        };
        let parts = sides(p, root).into_iter().map(|side| (side, clocks(side))).collect();
        Ok(DensePlan { class, root, parts, slack })
    }

    /// The number of tables for the side that has the most, `C` included: `G + 1`, or 1.
    pub fn tables(&self) -> usize {
        1 + self.parts.iter().map(|(_, clocks)| clocks.values.len()).max().unwrap_or(0)
    }

    /// See [`Bracket::slack`].
    pub fn slack(&self) -> T {
        self.slack
    }

    /// The bytes of the tables. Queues come on top, little as a rule.
    pub fn memory_needed(&self, law: &impl DenseLaw<T>) -> u64 {
        (self.cells(law.ranks()) as u64).saturating_mul(size_of::<T>() as u64)
    }

    /// The number of values in all tables.
    pub(super) fn cells(&self, ranks: usize) -> usize {
        let sides = self.parts.iter().map(|((_, width), clocks)| SideTable::cells(*width, clocks));
        sides.sum::<usize>() + self.root.map_or(0, |root| cells_with_root(ranks, root))
    }

    /// The tables filled.
    ///
    /// # Errors
    /// [`DpError::OutOfMemory`], [`DpError::Cancelled`].
    ///
    /// # Panics
    /// If a block other than a given root's is empty.
    ///
    /// # Complexity
    /// O(p^2) time for each table; one value a range for each, and queues with a few entries a
    /// column as a rule.
    pub fn fill(
        self,
        law: &impl DenseLaw<T>,
        progress: &dyn Progress,
    ) -> Result<Bracket<T>, DpError> {
        let p = law.ranks();
        let empty = |&((first, width), _): &((Rank, usize), _)| {
            (first..first + width).any(|rank| law.is_empty(rank))
        };
        assert!(p == 1 || !self.parts.iter().any(empty), "empty blocks are left out");
        let mut meter = Meter::new(progress, self.cells(p));
        let DensePlan { class, root, parts, slack } = self;
        let sides = parts.into_iter().map(|(range, clocks)| match class {
            Class::CopyFirst => copy_first(law, range, &mut meter),
            Class::Consecutive => consecutive(law, range, clocks, &mut meter),
        });
        let mut table = Table::new(p, class, root, sides.collect::<Result<_, _>>()?)?;
        if let Some(root) = root {
            fill_rooted(law, &mut table, root, &mut meter)?;
        }
        Ok(Bracket { table, slack })
    }
}

/// The least number of clocks a side with which consecutive trees have a slack of `slack` time
/// units at most.
///
/// # Errors
/// [`DpError::RootOutOfRange`].
///
/// # Complexity
/// O(p log p).
pub fn clocks_within<T: Scalar>(
    law: &impl DenseLaw<T>,
    root: Root,
    slack: f64,
) -> Result<usize, DpError> {
    let p = law.ranks();
    let root = given_root(p, root)?;
    let sides = sides(p, root).into_iter().filter(|&(_, width)| width > 0);
    let groups = sides.map(|side| all_clocks(law, side, root).groups_within(slack));
    Ok(groups.max().unwrap_or(1))
}

/// The clocks of all who may receive from a side.
fn all_clocks<T: Scalar>(
    law: &impl DenseLaw<T>,
    side: (Rank, usize),
    root: Option<Rank>,
) -> Clocks<T> {
    let clock = |rank| law.copy(rank).most(law.earliest());
    Clocks::new(law.ranks(), receivers(side, root), clock)
}

/// The least times of all ranges over the trees of a class, exactly: the same values as
/// [`plain::table`](super::plain::table).
///
/// # Errors
/// [`DpError::RootOutOfRange`], [`DpError::OutOfMemory`], [`DpError::Cancelled`].
///
/// # Panics, complexity
/// As [`DensePlan::fill`].
pub fn table<T: Scalar>(
    law: &impl DenseLaw<T>,
    class: Class,
    root: Root,
    progress: &dyn Progress,
) -> Result<Table<T>, DpError> {
    Ok(DensePlan::new(law, class, root, usize::MAX)?.fill(law, progress)?.table)
}

/// `C` for copy-first trees.
fn copy_first<T: Scalar, L: DenseLaw<T>>(
    law: &L,
    (first, width): (Rank, usize),
    meter: &mut Meter<'_>,
) -> Result<SideTable<T>, DpError> {
    let mut side = SideTable::new(first, width, Clocks::none())?;
    let end = first + width;
    let mut row = L::Row::new(law);
    let mut columns = SideColumns::<L::Column>::new(law, (first, end), |j| j)?;
    for i in (first..end).rev() {
        row.start(i, i);
        for j in i + 1..end {
            let cost = &side.cost;
            let clock = |i, j| held(law, cost, (i, j));
            let left = row.least(law, j, |k| clock(i, k), |k| cost.get(k + 1, j))?;
            let right =
                columns.at(j).least(law, (i, j), |r| clock(r, j), |r| cost.get(i, r - 1))?;
            side.cost.set(i, j, left.least(right));
        }
        meter.row_done(end - i)?;
    }
    Ok(side)
}

/// `C` and every `U_g` for consecutive trees.
///
/// A root with a single child, or whose first message comes from away, has its time from `U`; joins
/// are left to receivers that hold two blocks.
fn consecutive<T: Scalar, L: DenseLaw<T>>(
    law: &L,
    (first, width): (Rank, usize),
    clocks: Clocks<T>,
    meter: &mut Meter<'_>,
) -> Result<SideTable<T>, DpError> {
    let mut side = SideTable::new(first, width, clocks)?;
    let (end, tables) = (first + width, side.away.len());
    let mut row = L::Row::new(law);
    let mut columns = SideColumns::<L::Column>::new(law, (first, end), |j| j.max(1) - 1)?;
    let mut away_rows: Vec<_> = (0..tables).map(|_| L::Row::new(law)).collect();
    let mut away_columns = (0..tables)
        .map(|_| SideColumns::<L::Column>::new(law, (first, end), |j| j))
        .collect::<Result<Vec<_>, _>>()?;
    for i in (first..end).rev() {
        row.start(i, i + 1);
        away_rows.iter_mut().for_each(|row| row.start(i, i));
        for j in i..end {
            if i < j {
                let cost = &side.cost;
                let left = row.least(law, j, |k| cost.get(i, k), |k| cost.get(k + 1, j))?;
                let right =
                    columns.at(j).least(law, (i, j), |r| cost.get(r, j), |r| cost.get(i, r - 1))?;
                let ends = side.away[side.clocks.of(j)]
                    .get(i, j - 1)
                    .least(side.away[side.clocks.of(i)].get(i + 1, j));
                side.cost.set(i, j, left.least(right).least(ends));
            }
            for index in 0..tables {
                let (cost, away) = (&side.cost, &side.away[index]);
                let at_once = law.received(side.clocks.values[index], cost.get(i, j), i, j);
                let left =
                    away_rows[index].least(law, j, |k| away.get(i, k), |k| cost.get(k + 1, j))?;
                let right = away_columns[index].at(j).least(
                    law,
                    (i, j),
                    |r| away.get(r, j),
                    |r| cost.get(i, r - 1),
                )?;
                side.away[index].set(i, j, at_once.least(left).least(right));
            }
        }
        meter.row_done((end - i) * (1 + tables))?;
    }
    Ok(side)
}

/// `F`: the same windows on either side of the root, whose part receives.
fn fill_rooted<T: Scalar, L: DenseLaw<T>>(
    law: &L,
    table: &mut Table<T>,
    root: Rank,
    meter: &mut Meter<'_>,
) -> Result<(), DpError> {
    let p = law.ranks();
    let mut row = L::Row::new(law);
    let mut columns = SideColumns::<L::Column>::new(law, (root, p), |_| root)?;
    // Rounded like the root's clock away, so that times rise with ranges.
    let clocks = table.sides.iter().filter(|side| !side.away.is_empty());
    let start = clocks.fold(law.copy(root), |start, side| start.least(side.clocks.value(root)));
    table.set_rooted(root, root, start);
    for i in (0..=root).rev() {
        row.start(i, root);
        for j in root..p {
            if i == j {
                continue;
            }
            let (before, after) = (&table.sides[0].cost, &table.sides[1].cost);
            let left = row.least(law, j, |k| table.rooted(i, k), |k| after.get(k + 1, j))?;
            let right = columns.at(j).least(
                law,
                (i, j),
                |r| table.rooted(r, j),
                |r| before.get(i, r - 1),
            )?;
            let mut time = left.least(right);
            if table.class() == Class::Consecutive && (i == root || j == root) {
                let away = if i == root { (i + 1, j) } else { (i, j - 1) };
                time = time.least(table.away(root, away.0, away.1));
            }
            table.set_rooted(i, j, time);
        }
        meter.row_done(p - root)?;
    }
    Ok(())
}
