//! The tree behind finished ranges, and which boundaries it used.

use super::joins::{Join, JoinedPart, ReceivingPart, joins};
use super::table::{RangeTable, TableScale};
use crate::levels::boundaries::Level;
use tuwtree_model::{Rank, Step, Tree};

/// A range of a scale, by its cells, with the root of a type, or the given one.
#[derive(Clone, Copy, Debug)]
struct CellRange {
    scale: usize,
    cells: (usize, usize),
    /// The entry of its type; `None` if it holds the given root.
    of: Option<usize>,
}

/// A tree, and the boundaries of its ranges with the scales at which they are.
pub(super) struct RefinedTree {
    pub(super) tree: Tree,
    pub(super) used: Vec<(Rank, usize)>,
}

impl RangeTable<'_> {
    /// A tree that attains the least time of all ranks; the first of several.
    ///
    /// # Complexity
    /// Some splits a rank.
    pub(super) fn tree(&self) -> RefinedTree {
        let scale = self.scales.len() - 1;
        let cells = (0, self.scales[scale].cells() - 1);
        let of = match self.root {
            Some(_) => None,
            None => Some(self.part(scale, cells).soonest(0..=self.types() - 1).0),
        };
        let mut used = vec![];
        // Each subtree and what its root received, as places in this list.
        let mut subtrees = vec![CellRange { scale, cells, of }];
        let mut received: Vec<Vec<usize>> = vec![];
        let mut roots = vec![];
        while let Some(&subtree) = subtrees.get(roots.len()) {
            let mut range = self.finest(subtree);
            let mut messages = vec![];
            while let Some((rest, taken, split)) = self.last_message(range) {
                let bounds = &self.scales[range.scale].bounds;
                let (first, last) = range.cells;
                used.extend([bounds[first], split, bounds[last + 1]].map(|x| (x, range.scale)));
                messages.push(subtrees.len());
                subtrees.push(taken);
                range = self.finest(rest);
            }
            messages.reverse();
            roots.push(self.scales[range.scale].bounds[range.cells.0]);
            received.push(messages);
        }
        let mut steps = Vec::with_capacity(2 * roots.len());
        for (&root, messages) in roots.iter().zip(&received) {
            if !messages.is_empty() {
                steps.push((root, Step::Copy));
            }
            steps.extend(messages.iter().map(|&child| (root, Step::Receive(roots[child]))));
        }
        let tree = Tree::new(roots.len(), roots[0], &steps).expect("joins make a tree");
        used.sort_unstable();
        used.dedup();
        RefinedTree { tree, used }
    }

    fn part(&self, scale: usize, cells: (usize, usize)) -> JoinedPart<'_> {
        self.scales[scale].part(self.types(), cells)
    }

    fn bounds(&self, range: CellRange) -> (Rank, Rank) {
        let bounds = &self.scales[range.scale].bounds;
        (bounds[range.cells.0], bounds[range.cells.1 + 1])
    }

    /// The range at the scale at which its time was found.
    fn finest(&self, mut range: CellRange) -> CellRange {
        while self.is_finer(range.scale, self.bounds(range)) {
            let of: &TableScale = &self.scales[range.scale];
            range.cells = Self::in_finer(of, range.cells);
            range.scale -= 1;
        }
        range
    }

    /// First last message that attains the time of a range: the root's part before, the sender's part, and the boundary
    /// between; `None` for a single rank.
    fn last_message(&self, range: CellRange) -> Option<(CellRange, CellRange, Rank)> {
        let (begin, end) = self.bounds(range);
        if end - begin == 1 {
            return None;
        }
        let (first, last) = range.cells;
        let scale = &self.scales[range.scale];
        let within = |cells, of| CellRange { cells, of, ..range };
        let Some(of) = range.of else {
            let target = scale.rooted(range.cells);
            let mut found = None;
            self.root_joins(scale, range.cells, |join| {
                if found.is_none() && join.time == target {
                    found = Some(join);
                }
            });
            let join = found.expect("a time is attained by a message");
            let (left, right) = ((first, join.split), (join.split + 1, last));
            let (rest, taken) = if join.is_left { (left, right) } else { (right, left) };
            let sender =
                sender(self.part(range.scale, taken), join.is_left, (join.level, join.is_exact));
            let split = scale.bounds[join.split + 1];
            return Some((within(rest, None), within(taken, Some(sender)), split));
        };
        let target = self.part(range.scale, range.cells).times[of];
        (first..last).find_map(|split| {
            let (left, right) = ((first, split), (split + 1, last));
            let mut attained = None;
            let parts = (self.part(range.scale, left), self.part(range.scale, right));
            joins((self.costs, self.boundaries), parts, f64::INFINITY, |join| {
                if attained.is_none() && join.becomes == of && join.time == target {
                    attained = Some(join);
                }
            });
            let Join { receiver, held, level, is_exact, .. } = attained?;
            let is_left = receiver == ReceivingPart::Left;
            let (rest, taken) = if is_left { (left, right) } else { (right, left) };
            let sender = sender(self.part(range.scale, taken), is_left, (level, is_exact));
            let rest = within(rest, Some(held));
            Some((rest, within(taken, Some(sender)), scale.bounds[split + 1]))
        })
    }
}

/// Type of the first of the earliest senders, among those that pay a level, or up to it.
fn sender(part: JoinedPart<'_>, is_right: bool, (level, is_exact): (Level, bool)) -> usize {
    let entries = |level| match is_right {
        true => part.paying_left(level),
        false => part.paying_right(level),
    };
    let least = if is_exact { level } else { 0 };
    let all = (least..=level.min(part.greatest)).map(|level| part.soonest(entries(level)));
    let best = all.reduce(|best, other| if other.1 < best.1 { other } else { best });
    best.expect("there is a sender").0
}
