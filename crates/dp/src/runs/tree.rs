//! A tree with the least time, read off the finished tables.

use super::kept::Kept;
use super::row::{Excess, run_of};
use super::table::Tables;
use super::zeros::LastRoot;
use tuwtree_model::{Rank, Step};

/// A range of blocks whose tree is to be found.
#[derive(Clone, Copy, Debug)]
struct Range {
    first: usize,
    last: usize,
    /// Whether the empty blocks after `last` are not part of the range although there is one.
    bare: bool,
    /// The rank after the range's last processor.
    end: Rank,
}

/// Which part of a range receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Receiver {
    Left,
    Right,
    /// The right part is a single processor that has copied its block meanwhile.
    WaitingRight,
    /// Likewise, with the only empty block between the parts.
    TakingRight,
}

/// A range cut after block `cut`, with the parts that are not single processors.
#[derive(Clone, Copy, Debug)]
struct Node {
    range: Range,
    cut: usize,
    receiver: Receiver,
    left: Option<usize>,
    right: Option<usize>,
}

/// Finds the tree of all blocks.
pub(super) struct Walk<'t, E> {
    kept: &'t Kept,
    tables: &'t Tables<E>,
    nodes: Vec<Node>,
    pub(super) scanned: u64,
    pub(super) longest: u64,
}

impl<'t, E: Excess> Walk<'t, E> {
    /// The steps of an optimal tree over `processors`, and its root; there are at least two kept
    /// blocks.
    pub(super) fn steps(
        kept: &'t Kept,
        tables: &'t Tables<E>,
        processors: usize,
    ) -> (Rank, Vec<(Rank, Step)>) {
        let mut walk = Walk { kept, tables, nodes: Vec::new(), scanned: 0, longest: 0 };
        walk.cut_all(processors);
        let (root, mut steps) = walk.emit();
        steps.extend((0..kept.rank(0)).rev().map(|rank| (root, Step::Receive(rank))));
        if std::env::var("WALK").is_ok() {
            eprintln!("scanned {} longest {}", walk.scanned, walk.longest);
        }
        (root, steps)
    }

    fn cut_all(&mut self, processors: usize) {
        let whole =
            Range { first: 0, last: self.kept.blocks() - 1, bare: false, end: processors };
        // Ranges with the node and side that they are part of.
        let mut pending = vec![(whole, None)];
        while let Some((range, parent)) = pending.pop() {
            let at = self.nodes.len();
            if let Some((parent, side)) = parent {
                let parent: &mut Node = &mut self.nodes[parent];
                if side == Receiver::Left {
                    parent.left = Some(at);
                } else {
                    parent.right = Some(at);
                }
            }
            let (cut, receiver) = self.cut(range);
            self.nodes.push(Node { range, cut, receiver, left: None, right: None });
            if range.first < cut {
                let next = self.kept.rank(cut + 1);
                let (bare, end) = match receiver {
                    Receiver::TakingRight => (self.kept.gap(cut) == 1, next - 1),
                    Receiver::WaitingRight if range.end == self.kept.rank(range.last) + 1 => {
                        (false, next - 1)
                    }
                    _ => (false, next),
                };
                let left = Range { first: range.first, last: cut, bare, end };
                pending.push((left, Some((at, Receiver::Left))));
            }
            if cut + 1 < range.last {
                let right = Range { first: cut + 1, ..range };
                pending.push((right, Some((at, Receiver::Right))));
            }
        }
    }

    /// The steps of all nodes, each after those below it, and the root.
    fn emit(&self) -> (Rank, Vec<(Rank, Step)>) {
        let kept = self.kept;
        let mut roots = vec![0; self.nodes.len()];
        let mut steps = Vec::with_capacity(2 * kept.blocks());
        for (at, node) in self.nodes.iter().enumerate().rev() {
            let Node { range, cut, receiver, left, right } = *node;
            let left_root = left.map_or(kept.rank(cut), |node| roots[node]);
            let right_root = right.map_or(kept.rank(cut + 1), |node| roots[node]);
            let gap = kept.rank(cut) + 1..kept.rank(cut + 1);
            let trailing = kept.rank(range.last) + 1..range.end;
            let alone = left.is_none();
            let root = if receiver == Receiver::Left { left_root } else { right_root };
            let mut step = |step| steps.push((root, step));
            match (receiver, right) {
                (Receiver::Left, _) => {
                    if alone {
                        step(Step::Copy);
                        gap.for_each(|rank| step(Step::Receive(rank)));
                    }
                    step(Step::Receive(right_root));
                    if right.is_none() {
                        trailing.for_each(|rank| step(Step::Receive(rank)));
                    }
                }
                (_, Some(_)) => {
                    if alone {
                        gap.rev().for_each(|rank| step(Step::Receive(rank)));
                    }
                    step(Step::Receive(left_root));
                }
                (Receiver::Right, None) if trailing.is_empty() && !(alone && !gap.is_empty()) => {
                    step(Step::Receive(left_root));
                    step(Step::Copy);
                }
                (_, None) => {
                    step(Step::Copy);
                    let own = !trailing.is_empty();
                    trailing.for_each(|rank| step(Step::Receive(rank)));
                    if alone {
                        gap.rev().for_each(|rank| step(Step::Receive(rank)));
                    } else if !own {
                        step(Step::Receive(right_root - 1));
                    }
                    step(Step::Receive(left_root));
                }
            }
            roots[at] = root;
        }
        (roots[0], steps)
    }

    /// Where to cut a range of two or more blocks, and which part receives.
    fn cut(&mut self, range: Range) -> (usize, Receiver) {
        let Range { first: i, last: j, .. } = range;
        let kept = self.kept;
        let best = self.whole_time(range) - kept.volume(i, j) - kept.latency;
        self.cut_after_root(range, best)
            .or_else(|| self.last_root(range, best))
            .or_else(|| self.cut_by_left(range, best))
            .or_else(|| self.cut_by_right(range, best))
            .unwrap_or_else(|| panic!("every entry of the table is one of its candidates: {range:?} {best}"))
    }

    /// The first processor receives all the rest in one message.
    fn cut_after_root(&self, range: Range, best: i64) -> Option<(usize, Receiver)> {
        let (kept, i) = (self.kept, range.first);
        if self.tables.root().is_some_and(|root| root > i && root <= range.last) {
            return None;
        }
        let rest = self.part_time(Range { first: i + 1, ..range });
        ((-kept.lead(i)).max(rest - kept.volume(i, i)) == best).then_some((i, Receiver::Left))
    }

    /// The last processor receives all the rest in one message.
    fn last_root(&self, range: Range, best: i64) -> Option<(usize, Receiver)> {
        let (kept, i, j) = (self.kept, range.first, range.last);
        if self.tables.root().is_some_and(|root| root < j && root >= i) {
            return None;
        }
        let cut = j - 1;
        if i == cut {
            return (-kept.lead(j) == best).then_some((cut, Receiver::Right));
        }
        let (lead, block) = (kept.lead(j), kept.volume(j, j));
        let left = self.tables.part(i, cut, kept);
        let kind = if range.bare {
            match kept.gap(cut) {
                0 => LastRoot::Copies,
                1 => LastRoot::Takes,
                _ => LastRoot::Waits,
            }
        } else {
            LastRoot::of(kept, j)
        };
        if kind != LastRoot::Waits && left - lead == best {
            return Some((cut, Receiver::Right));
        }
        match kind {
            LastRoot::Copies => None,
            LastRoot::Waits => {
                ((left - block).max(-lead) == best).then_some((cut, Receiver::WaitingRight))
            }
            LastRoot::Takes => {
                let bare = self.tables.shadow_part(i, cut, kept)?;
                ((bare - block).max(-lead) == best).then_some((cut, Receiver::TakingRight))
            }
        }
    }

    /// The left part receives: at a run's end, from the last run backwards. A run of lower excess
    /// than `best` is not the later part, and hides all before it.
    fn cut_by_left(&self, range: Range, best: i64) -> Option<(usize, Receiver)> {
        let (kept, i) = (self.kept, range.first);
        let first = self.tables.first_column(i, range.last);
        if range.last <= first {
            return None;
        }
        let mut k = range.last - 1;
        loop {
            let runs = self.tables.whole_row(i, k);
            let mut position = run_of(runs, k);
            loop {
                let excess = runs[position].law().at(k, kept);
                if excess <= best {
                    let rest = self.part_time(Range { first: k + 1, ..range });
                    if excess.max(rest - kept.volume(i, k)) == best {
                        return Some((k, Receiver::Left));
                    }
                    if excess < best {
                        return None;
                    }
                }
                if runs[position].start() == first {
                    return None;
                }
                k = runs[position].start() - 1;
                if position == 0 {
                    break;
                }
                position -= 1;
            }
        }
    }

    /// The right part receives: from the longest one on, the first of no higher excess than
    /// `best`.
    fn cut_by_right(&mut self, range: Range, best: i64) -> Option<(usize, Receiver)> {
        let (kept, i, j) = (self.kept, range.first, range.last);
        let stop = match self.tables.root() {
            Some(root) if root >= i && root <= j => root.min(j - 1),
            _ => j - 1,
        };
        for r in i + 1..=stop {
            self.scanned += 1;
            self.longest = self.longest.max((r - i) as u64);
            let excess = self.whole_time(Range { first: r, ..range }) - kept.volume(r, j);
            if excess <= best {
                let left = if r == i + 1 { 0 } else { self.tables.part(i, r - 1, kept) };
                return (excess.max(left - kept.volume(r, j)) == best)
                    .then_some((r - 1, Receiver::Right));
            }
        }
        None
    }

    /// The time of a range of two or more blocks.
    fn whole_time(&self, range: Range) -> i64 {
        let Range { first: i, last: j, .. } = range;
        if range.bare {
            self.tables.shadow_part(i, j, self.kept).expect("a bare range has a shadow cell")
        } else {
            self.tables.whole(i, j, self.kept)
        }
    }

    /// The time of the right part of a range; 0 if it is a single processor.
    fn part_time(&self, range: Range) -> i64 {
        let Range { first, last, .. } = range;
        if first == last {
            0
        } else if range.bare {
            self.whole_time(range)
        } else {
            self.tables.part(first, last, self.kept)
        }
    }
}
