//! The recurrences split by split, for any costs: the yardstick.
//!
//! They require only the law that [`Receiving`] states: a smaller clock, or a child that is ready
//! sooner, does no harm. They therefore hold for gamma > beta, with empty blocks kept (an empty
//! rank may relay, where copies are dear), for tables of any shape.

use super::table::{Clocks, SideTable, Table, given_root, held, receivers, sides};
use super::{Class, Receiving};
use crate::progress::Meter;
use crate::table::cells_with_root;
use crate::{DpError, Progress};
use tuwtree_model::{Rank, Root, Scalar};

/// The least times of all ranges over the trees of a class.
///
/// # Errors
/// [`DpError::RootOutOfRange`], [`DpError::OutOfMemory`], [`DpError::Cancelled`].
///
/// # Complexity
/// O(p^3) time and O(p^2) space for [`Class::CopyFirst`]; both times the number of distinct copies
/// for [`Class::Consecutive`].
///
/// # Example
/// Root 4 receives block 0 (2 + 9), while 2 gathers blocks 1 to 3 (3 + 3), and then those (2 + 3).
/// If it may not start away from its own rank, it has nothing better to do than to wait for others.
/// ```
/// use tuwtree_dp::wider::{Class, Overlapping, Scaled, plain};
/// use tuwtree_model::{BlockSizes, Root};
/// let sizes = BlockSizes::new([9, 1, 1, 1, 1]).unwrap();
/// let costs = Overlapping::new(0.0, 2.0, 1.0, 0.0).unwrap();
/// let scaled = Scaled::<i64>::new(&costs, &sizes).unwrap();
/// let value = |class| plain::table(&scaled, class, Root::Given(4), &()).unwrap().value();
/// assert_eq!(value(Class::CopyFirst), 18);
/// assert_eq!(value(Class::Consecutive), 16);
/// ```
pub fn table<T: Scalar>(
    law: &impl Receiving<T>,
    class: Class,
    root: Root,
    progress: &dyn Progress,
) -> Result<Table<T>, DpError> {
    let p = law.ranks();
    let (root, parts) = parts(law, class, root)?;
    let mut meter = Meter::new(progress, cells(p, root, &parts));
    let sides = parts.into_iter().map(|(range, clocks)| side(law, range, clocks, &mut meter));
    let mut table = Table::new(p, class, root, sides.collect::<Result<_, _>>()?)?;
    if let Some(root) = root {
        fill_rooted(law, &mut table, root, &mut meter)?;
    }
    Ok(table)
}

/// The bytes of the tables.
///
/// # Errors
/// [`DpError::RootOutOfRange`].
pub fn memory_needed<T: Scalar>(
    law: &impl Receiving<T>,
    class: Class,
    root: Root,
) -> Result<u64, DpError> {
    let (root, parts) = parts(law, class, root)?;
    let cells = cells(law.ranks(), root, &parts);
    Ok((cells as u64).saturating_mul(size_of::<T>() as u64))
}

/// A side, first rank and number of ranks, and the clocks of its receivers.
type SideClocks<T> = ((Rank, usize), Clocks<T>);

/// The given root, if there is one, and the sides.
fn parts<T: Scalar>(
    law: &impl Receiving<T>,
    class: Class,
    root: Root,
) -> Result<(Option<Rank>, Vec<SideClocks<T>>), DpError> {
    let p = law.ranks();
    let root = given_root(p, root)?;
    let clocks = |side| match class {
        Class::CopyFirst => Clocks::none(),
        Class::Consecutive => Clocks::new(p, receivers(side, root), |rank| law.copy(rank)),
    };
    Ok((root, sides(p, root).into_iter().map(|side| (side, clocks(side))).collect()))
}

fn cells<T: Scalar>(ranks: usize, root: Option<Rank>, parts: &[SideClocks<T>]) -> usize {
    let sides = parts.iter().map(|((_, width), clocks)| SideTable::cells(*width, clocks));
    sides.sum::<usize>() + root.map_or(0, |root| cells_with_root(ranks, root))
}

/// `C` and `U` on `[first..first + width - 1]`.
fn side<T: Scalar>(
    law: &impl Receiving<T>,
    (first, width): (Rank, usize),
    clocks: Clocks<T>,
    meter: &mut Meter<'_>,
) -> Result<SideTable<T>, DpError> {
    let mut side = SideTable::new(first, width, clocks)?;
    let end = first + width;
    for i in (first..end).rev() {
        for j in i..end {
            if i < j {
                let time = complete(law, &side, (i, j));
                side.cost.set(i, j, time);
            }
            for clock in 0..side.away.len() {
                let time = received_away(law, &side, clock, (i, j));
                side.away[clock].set(i, j, time);
            }
        }
        meter.row_done((end - i) * (1 + side.away.len()))?;
    }
    Ok(side)
}

/// `C(i,j)`: the recurrence.
fn complete<T: Scalar>(law: &impl Receiving<T>, side: &SideTable<T>, (i, j): (Rank, Rank)) -> T {
    let mut least = T::NEVER;
    for k in i..j {
        let (left, right) = (side.cost.get(i, k), side.cost.get(k + 1, j));
        let left_receives = law.received(held(law, &side.cost, (i, k)), right, k + 1, j);
        let right_receives = law.received(held(law, &side.cost, (k + 1, j)), left, i, k);
        least = least.least(left_receives).least(right_receives);
    }
    if !side.away.is_empty() {
        // The root is at an end, and reached last.
        least = least
            .least(side.away[side.clocks.of(j)].get(i, j - 1))
            .least(side.away[side.clocks.of(i)].get(i + 1, j));
    }
    least
}

/// `U_g(i,j)`: the recurrence.
fn received_away<T: Scalar>(
    law: &impl Receiving<T>,
    side: &SideTable<T>,
    clock: usize,
    (i, j): (Rank, Rank),
) -> T {
    let (cost, away) = (&side.cost, &side.away[clock]);
    let mut least = law.received(side.clocks.values[clock], cost.get(i, j), i, j);
    for k in i..j {
        least = least
            .least(law.received(away.get(i, k), cost.get(k + 1, j), k + 1, j))
            .least(law.received(away.get(k + 1, j), cost.get(i, k), i, k));
    }
    least
}

/// `F`: the recurrence.
fn fill_rooted<T: Scalar>(
    law: &impl Receiving<T>,
    table: &mut Table<T>,
    root: Rank,
    meter: &mut Meter<'_>,
) -> Result<(), DpError> {
    let p = law.ranks();
    table.set_rooted(root, root, law.copy(root));
    for i in (0..=root).rev() {
        for j in root..p {
            if i == j {
                continue;
            }
            let mut least = T::NEVER;
            for k in root..j {
                let sender = table.cost(k + 1, j);
                least = least.least(law.received(table.rooted(i, k), sender, k + 1, j));
            }
            for k in i..root {
                let sender = table.cost(i, k);
                least = least.least(law.received(table.rooted(k + 1, j), sender, i, k));
            }
            if table.class() == Class::Consecutive && (i == root || j == root) {
                let away = if i == root { (i + 1, j) } else { (i, j - 1) };
                least = least.least(table.away(root, away.0, away.1));
            }
            table.set_rooted(i, j, least);
        }
        meter.row_done(p - root)?;
    }
    Ok(())
}
