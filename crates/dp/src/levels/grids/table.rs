//! The ranges of all scales.

use super::costs::Costs;
use super::joins::{Join, JoinedPart, entry, joins, joins_to_root};
use super::kept::KeptBoundaries;
use crate::DpError;
use crate::levels::boundaries::{Boundaries, Level};
use crate::progress::Meter;
use std::ops::Range;
use tuwtree_model::Rank;

/// The finished ranges of all scales, the finest first.
pub(super) struct RangeTable<'a> {
    pub(super) costs: &'a Costs<'a>,
    pub(super) boundaries: &'a Boundaries,
    pub(super) root: Option<Rank>,
    pub(super) kept: &'a KeptBoundaries,
    pub(super) scales: Vec<TableScale>,
}

/// The ranges of a scale: from one of its cells to another, by their numbers.
pub(super) struct TableScale {
    /// Starts of the cells, and `p`.
    pub(super) bounds: Vec<Rank>,
    /// For each of these its number at the next finer scale.
    finer: Vec<usize>,
    /// For each first cell those last ones for which there is a range without a given root.
    last: Vec<Range<usize>>,
    /// Start of each first cell's ranges in `greatest`.
    starts: Vec<usize>,
    /// The greatest boundary in each range and at its ends.
    greatest: Vec<u8>,
    /// Times of each range, one per possible type, and their minimum.
    times: Vec<f64>,
    /// The cell of a given root, and from each first cell the times with it for the last cells from it on.
    root: Option<(usize, Vec<Vec<f64>>)>,
}

/// Holder of the root, and its last message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RootJoin {
    /// The last cell of the left part.
    pub(super) split: usize,
    /// True if the root is in the left part.
    pub(super) is_left: bool,
    pub(super) level: Level,
    pub(super) is_exact: bool,
    pub(super) time: f64,
}

impl TableScale {
    /// A scale without times.
    fn new(
        (kept, boundaries): (&KeptBoundaries, &Boundaries),
        (scale, bounds): (usize, Vec<Rank>),
        finer: Option<&TableScale>,
        root: Option<Rank>,
    ) -> Result<TableScale, DpError> {
        let cells = bounds.len() - 1;
        let number_in = |finer: &TableScale| {
            let mut at = 0;
            let number = |&x: &Rank| {
                while finer.bounds[at] < x {
                    at += 1;
                }
                at
            };
            bounds.iter().map(number).collect()
        };
        let most = kept.most(scale);
        let of_root = root.map(|root| bounds.partition_point(|&x| x <= root) - 1);
        let mut until = 0;
        let mut ends = Vec::with_capacity(cells);
        for first in 0..cells {
            until = until.max(first + 1);
            while until < cells && kept.weight(bounds[first], bounds[until + 1]) <= most {
                until += 1;
            }
            ends.push(until);
        }
        let without_root = |first: usize| match of_root {
            Some(root) if first <= root => first..ends[first].min(root).max(first),
            _ => first..ends[first],
        };
        let last: Vec<Range<usize>> = (0..cells).map(without_root).collect();
        let mut ranges = 0;
        let start = |last: &Range<usize>| {
            ranges += last.len();
            ranges - last.len()
        };
        let starts = last.iter().map(start).collect();
        let width = types(boundaries) + 1;
        let rooted = of_root.map(|root| {
            let with = |first: usize| vec![f64::INFINITY; ends[first].saturating_sub(root)];
            (root, (0..=root).map(with).collect())
        });
        Ok(TableScale {
            finer: finer.map_or(Vec::new(), number_in),
            bounds,
            last,
            starts,
            greatest: vec![0; ranges],
            times: infinite(ranges * width)?,
            root: rooted,
        })
    }

    /// Number of cells.
    pub(super) fn cells(&self) -> usize {
        self.bounds.len() - 1
    }

    /// A range without the given root.
    #[inline(always)]
    pub(super) fn part(&self, types: usize, (first, last): (usize, usize)) -> JoinedPart<'_> {
        let at = self.starts[first] + last - first;
        let times = &self.times[at * (types + 1)..(at + 1) * (types + 1)];
        JoinedPart {
            first: self.bounds[first],
            end: self.bounds[last + 1],
            greatest: self.greatest[at].into(),
            times: &times[..types],
            least: times[types],
        }
    }

    /// Sets the times of a range.
    fn set(&mut self, types: usize, (first, last): (usize, usize), times: &[f64]) {
        let at = (self.starts[first] + last - first) * (types + 1);
        self.times[at..at + types].copy_from_slice(times);
        self.times[at + types] = times.iter().copied().fold(f64::INFINITY, f64::min);
    }

    /// The cell of the given root.
    pub(super) fn root_cell(&self) -> Option<usize> {
        self.root.as_ref().map(|&(cell, _)| cell)
    }

    /// The time of a range with the given root.
    #[inline(always)]
    pub(super) fn rooted(&self, (first, last): (usize, usize)) -> f64 {
        let (root, times) = self.root.as_ref().expect("a root is given");
        times[first][last - root]
    }
}

/// The most types that a range can have.
pub(super) fn types(boundaries: &Boundaries) -> usize {
    2 * boundaries.used() - 1
}

fn infinite(count: usize) -> Result<Vec<f64>, DpError> {
    let mut values = Vec::new();
    let needed = (count * size_of::<f64>()) as u64;
    values.try_reserve_exact(count).map_err(|_| DpError::OutOfMemory { needed })?;
    values.resize(count, f64::INFINITY);
    Ok(values)
}

impl<'a> RangeTable<'a> {
    /// All times.
    ///
    /// # Errors
    /// [`DpError::OutOfMemory`], [`DpError::Cancelled`].
    pub(super) fn fill(
        (costs, boundaries): (&'a Costs<'a>, &'a Boundaries),
        kept: &'a KeptBoundaries,
        root: Option<Rank>,
        meter: &mut Meter<'_>,
    ) -> Result<RangeTable<'a>, DpError> {
        let mut table = RangeTable { costs, boundaries, root, kept, scales: vec![] };
        for scale in 0..kept.scales() {
            let bounds = kept.of_scale(scale);
            let finer = table.scales.last();
            let mut new = TableScale::new((kept, boundaries), (scale, bounds), finer, root)?;
            for first in (0..new.cells()).rev() {
                table.fill_row(&mut new, first);
                if new.root_cell().is_some_and(|root| first <= root) {
                    table.fill_rooted_row(&mut new, first);
                }
            }
            meter.row_done(1)?;
            table.scales.push(new);
        }
        Ok(table)
    }

    /// Number of types of a range.
    pub(super) fn types(&self) -> usize {
        types(self.boundaries)
    }

    /// True if a range also exists at the next finer scale.
    pub(super) fn is_finer(&self, scale: usize, (first, end): (Rank, Rank)) -> bool {
        scale > 0 && self.kept.weight(first, end) <= self.kept.most(scale - 1)
    }

    /// The range by the cells of the next finer scale.
    pub(super) fn in_finer(of: &TableScale, (first, last): (usize, usize)) -> (usize, usize) {
        (of.finer[first], of.finer[last + 1] - 1)
    }

    fn fill_row(&self, scale: &mut TableScale, first: usize) {
        let types = self.types();
        for last in scale.last[first].clone() {
            let at = scale.starts[first] + last - first;
            let (begin, end) = (scale.bounds[first], scale.bounds[last + 1]);
            let greatest = self.boundaries.greatest(begin, end);
            scale.greatest[at] = greatest as u8;
            let mut results = [f64::INFINITY; MOST_TYPES];
            if end - begin == 1 {
                let (left, right) = (self.boundaries.at(begin), self.boundaries.at(end));
                results[entry(greatest, left, right)] = 0.0;
            } else if self.is_finer(self.scales.len(), (begin, end)) {
                let finer = self.scales.last().expect("there is a finer scale");
                let part = finer.part(types, Self::in_finer(scale, (first, last)));
                results[..types].copy_from_slice(part.times);
            } else {
                // No type is later; after the first split every type has a time.
                let mut latest = f64::INFINITY;
                let middle = first.midpoint(last);
                for split in (middle..last).chain((first..middle).rev()) {
                    let parts =
                        (scale.part(types, (first, split)), scale.part(types, (split + 1, last)));
                    let mut is_better = false;
                    let laws = (self.costs, self.boundaries);
                    joins(laws, parts, latest, |Join { becomes, time, .. }| {
                        is_better |= time < results[becomes];
                        results[becomes] = results[becomes].min(time);
                    });
                    if is_better {
                        let known = results[..types].iter().filter(|&&time| time < f64::INFINITY);
                        latest = known.copied().fold(0.0, f64::max);
                    }
                }
            }
            scale.set(types, (first, last), &results[..types]);
        }
    }

    fn fill_rooted_row(&self, scale: &mut TableScale, first: usize) {
        let root = scale.root_cell().expect("a root is given");
        let ends = scale.root.as_ref().map_or(0, |(root, times)| root + times[first].len());
        for last in root..ends {
            let (begin, end) = (scale.bounds[first], scale.bounds[last + 1]);
            let time = if first == last {
                self.costs.copy(begin)
            } else if self.is_finer(self.scales.len(), (begin, end)) {
                let finer = self.scales.last().expect("there is a finer scale");
                finer.rooted(Self::in_finer(scale, (first, last)))
            } else {
                let mut best = f64::INFINITY;
                self.root_joins(scale, (first, last), |join| best = best.min(join.time));
                best
            };
            if let Some((_, times)) = &mut scale.root {
                times[first][last - root] = time;
            }
        }
    }

    /// Calls `found` with all last messages to the given root in a range.
    pub(super) fn root_joins(
        &self,
        scale: &TableScale,
        (first, last): (usize, usize),
        mut found: impl FnMut(RootJoin),
    ) {
        let (types, root) = (self.types(), self.root.expect("a root is given"));
        let cell = scale.root_cell().expect("a root is given");
        for split in first..last {
            let x = scale.bounds[split + 1];
            let is_left = cell <= split;
            let (clock, paid, sender) = match is_left {
                true => (
                    scale.rooted((first, split)),
                    self.boundaries.greatest(root + 1, x),
                    scale.part(types, (split + 1, last)),
                ),
                false => (
                    scale.rooted((split + 1, last)),
                    self.boundaries.greatest(x, root),
                    scale.part(types, (first, split)),
                ),
            };
            joins_to_root(
                (self.costs, self.boundaries),
                (clock, paid),
                (sender, is_left),
                |level, is_exact, time| {
                    found(RootJoin { split, is_left, level, is_exact, time });
                },
            );
        }
    }
}

/// More types than a range can have.
pub(super) const MOST_TYPES: usize = 63;
