//! A tree with the least time, read off the finished tables.
//!
//! Cuts are not stored: a cut that attains a range's known time is searched for, among the few possible candidates.
//! Left parts that receive end with a run of the range's row; right parts are tried from the longest on, some 3 to 6
//! per rank on the distributions of OPT section 5, although single searches may be long.

use super::kept::KeptBlocks;
use super::run::{Excess, run_of};
use super::tables::Tables;
use super::zeros::LastRoot;
use tuwtree_model::{Rank, Step};

/// Consecutive ranks whose tree is to be found: two or more kept blocks.
#[derive(Clone, Copy, Debug)]
struct BlockSpan {
    /// The first kept block; empty blocks before it are not part of the span.
    first: usize,
    /// The last kept block.
    last: usize,
    /// True if an empty block outside the span follows `last`: its time is then that of a shadow
    /// cell.
    bare: bool,
    /// The rank after the span's last rank.
    end: Rank,
}

/// The part of a span that receives the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReceivingPart {
    Left,
    Right,
    /// The right part is a single rank that has copied its block while it waited.
    WaitingRight,
    /// Likewise, with the only empty block between the parts.
    TakingRight,
}

/// A span cut after block `cut`.
#[derive(Clone, Copy, Debug)]
struct CutSpan {
    span: BlockSpan,
    cut: usize,
    receiver: ReceivingPart,
    /// The node of the left part, unless that is a single kept block.
    left: Option<usize>,
    /// The node of the right part, unless that is a single kept block.
    right: Option<usize>,
}

/// The search for a tree.
pub(super) struct Walk<'t, E> {
    kept: &'t KeptBlocks,
    tables: &'t Tables<E>,
    /// Each before the nodes of its parts.
    nodes: Vec<CutSpan>,
}

impl<'t, E: Excess> Walk<'t, E> {
    /// The search in the tables of a problem with two or more kept blocks.
    pub(super) fn new(kept: &'t KeptBlocks, tables: &'t Tables<E>) -> Walk<'t, E> {
        Walk { kept, tables, nodes: Vec::with_capacity(kept.blocks() - 1) }
    }

    /// Root and steps of an optimal tree over all ranks, each rank's before those of its parent.
    pub(super) fn steps(mut self, ranks: usize) -> (Rank, Vec<(Rank, Step)>) {
        self.cut_all(ranks);
        let (root, mut steps) = self.emit();
        steps.extend((0..self.kept.rank(0)).rev().map(|rank| (root, Step::Receive(rank))));
        (root, steps)
    }

    /// Cuts the span of all ranks, and all parts.
    fn cut_all(&mut self, ranks: usize) {
        let last = self.kept.blocks() - 1;
        let whole = BlockSpan { first: 0, last, bare: false, end: ranks };
        // Spans with the node that they are part of.
        let mut pending = vec![(whole, None)];
        while let Some((span, parent)) = pending.pop() {
            let at = self.nodes.len();
            if let Some(parent) = parent {
                let parent: &mut CutSpan = &mut self.nodes[parent];
                if span.first == parent.span.first {
                    parent.left = Some(at);
                } else {
                    parent.right = Some(at);
                }
            }
            let (cut, receiver) = self.cut(span);
            self.nodes.push(CutSpan { span, cut, receiver, left: None, right: None });
            if cut + 1 < span.last {
                pending.push((BlockSpan { first: cut + 1, ..span }, Some(at)));
            }
            if span.first < cut {
                pending.push((self.left_part(span, cut, receiver), Some(at)));
            }
        }
    }

    /// The left part of a span, with the empty blocks that follow unless the right part takes them.
    fn left_part(&self, span: BlockSpan, cut: usize, receiver: ReceivingPart) -> BlockSpan {
        let next = self.kept.rank(cut + 1);
        let right_is_bare = span.end == self.kept.rank(span.last) + 1;
        let (bare, end) = match receiver {
            ReceivingPart::TakingRight => (true, next - 1),
            ReceivingPart::WaitingRight if right_is_bare => (false, next - 1),
            _ => (false, next),
        };
        BlockSpan { first: span.first, last: cut, bare, end }
    }

    /// The root, and the steps of all nodes, each after those of its parts.
    fn emit(&self) -> (Rank, Vec<(Rank, Step)>) {
        let mut roots = vec![0; self.nodes.len()];
        let mut steps = Vec::with_capacity(2 * self.kept.blocks());
        for (at, node) in self.nodes.iter().enumerate().rev() {
            let left = node.left.map_or(self.kept.rank(node.cut), |part| roots[part]);
            let right = node.right.map_or(self.kept.rank(node.cut + 1), |part| roots[part]);
            if node.receiver == ReceivingPart::Left {
                self.emit_left(node, left, right, &mut steps);
                roots[at] = left;
            } else {
                self.emit_right(node, left, right, &mut steps);
                roots[at] = right;
            }
        }
        (roots[0], steps)
    }

    /// The left part's root receives. Empty blocks go to the rank whose segment they touch.
    fn emit_left(&self, node: &CutSpan, left: Rank, right: Rank, steps: &mut Vec<(Rank, Step)>) {
        let receive = |rank| (left, Step::Receive(rank));
        if node.left.is_none() {
            steps.push((left, Step::Copy));
            steps.extend(self.between(node).map(receive));
        }
        steps.push(receive(right));
        if node.right.is_none() {
            steps.extend(self.trailing(node).map(receive));
        }
    }

    /// The right part's root receives.
    fn emit_right(&self, node: &CutSpan, left: Rank, right: Rank, steps: &mut Vec<(Rank, Step)>) {
        let receive = |rank| (right, Step::Receive(rank));
        let (between, trailing) = (self.between(node), self.trailing(node));
        let left_is_single = node.left.is_none();
        let single = node.right.is_none();
        // With an empty block at hand, a single rank might as well wait.
        let waits = node.receiver != ReceivingPart::Right
            || !trailing.is_empty()
            || (left_is_single && !between.is_empty());
        if single && !waits {
            steps.extend([receive(left), (right, Step::Copy)]);
            return;
        }
        if single {
            steps.push((right, Step::Copy));
            let takes_one = trailing.is_empty() && !left_is_single;
            steps.extend(trailing.map(receive));
            if takes_one {
                steps.push(receive(right - 1));
            }
        }
        if left_is_single {
            steps.extend(between.rev().map(receive));
        }
        steps.push(receive(left));
    }

    /// The empty blocks between a node's parts.
    fn between(&self, node: &CutSpan) -> std::ops::Range<Rank> {
        self.kept.rank(node.cut) + 1..self.kept.rank(node.cut + 1)
    }

    /// The empty blocks at a node's end.
    fn trailing(&self, node: &CutSpan) -> std::ops::Range<Rank> {
        self.kept.rank(node.span.last) + 1..node.span.end
    }

    /// Cut of a span, and its receiving part.
    fn cut(&self, span: BlockSpan) -> (usize, ReceivingPart) {
        let volume = self.kept.volume(span.first, span.last);
        let best = self.time(span) - volume - self.kept.latency;
        self.cut_after_first(span, best)
            .or_else(|| self.cut_before_last(span, best))
            .or_else(|| self.cut_by_left(span, best))
            .or_else(|| self.cut_by_right(span, best))
            .expect("every entry of a table is one of its candidates")
    }

    /// The first rank receives everything else at once.
    fn cut_after_first(&self, span: BlockSpan, best: i64) -> Option<(usize, ReceivingPart)> {
        let (kept, i) = (self.kept, span.first);
        if self.tables.root_in(i, span.last).is_some_and(|root| root > i) {
            return None;
        }
        let rest = self.right_time(BlockSpan { first: i + 1, ..span });
        let value = (-kept.lead(i)).max(rest - kept.volume(i, i));
        (value == best).then_some((i, ReceivingPart::Left))
    }

    /// The last rank receives everything else at once.
    fn cut_before_last(&self, span: BlockSpan, best: i64) -> Option<(usize, ReceivingPart)> {
        let (kept, i, j) = (self.kept, span.first, span.last);
        if self.tables.root_in(i, j).is_some_and(|root| root < j) {
            return None;
        }
        let cut = j - 1;
        let (lead, block) = (kept.lead(j), kept.volume(j, j));
        if i == cut {
            return (-lead == best).then_some((cut, ReceivingPart::Right));
        }
        let left = self.tables.part(i, cut, kept);
        let kind = if span.bare { LastRoot::of_bare(kept, j) } else { LastRoot::of(kept, j) };
        if kind == LastRoot::Waits {
            let value = (left - block).max(-lead);
            return (value == best).then_some((cut, ReceivingPart::WaitingRight));
        }
        if left - lead == best {
            return Some((cut, ReceivingPart::Right));
        }
        if kind == LastRoot::Takes {
            let value = (self.tables.shadow(i, cut, kept)? - block).max(-lead);
            return (value == best).then_some((cut, ReceivingPart::TakingRight));
        }
        None
    }

    /// The left part receives: it is one that ends with a run, or the longest. From the last on:
    /// an end of less excess than `best` is not the later part, and better than all before it.
    fn cut_by_left(&self, span: BlockSpan, best: i64) -> Option<(usize, ReceivingPart)> {
        let (kept, i) = (self.kept, span.first);
        let first = self.tables.root_in(i, span.last).unwrap_or(0).max(i + 1);
        let mut k = span.last - 1;
        if k < first {
            return None;
        }
        let mut runs = self.tables.whole_row(i, k);
        let mut run = run_of(runs, k);
        loop {
            let excess = runs[run].law().at(k, kept);
            if excess <= best {
                let rest = self.right_time(BlockSpan { first: k + 1, ..span });
                if excess.max(rest - kept.volume(i, k)) == best {
                    return Some((k, ReceivingPart::Left));
                }
                if excess < best {
                    return None;
                }
            }
            let start = runs[run].start();
            if start == first {
                return None;
            }
            k = start - 1;
            if run > 0 {
                run -= 1;
            } else {
                runs = self.tables.whole_row(i, k);
                run = run_of(runs, k);
            }
        }
    }

    /// The right part receives: the longest of no more excess than `best`. If its left part is the
    /// later one, so is that of all shorter ones.
    fn cut_by_right(&self, span: BlockSpan, best: i64) -> Option<(usize, ReceivingPart)> {
        let (kept, i, j) = (self.kept, span.first, span.last);
        let shortest = self.tables.root_in(i, j).unwrap_or(j).min(j - 1);
        (i + 1..=shortest).find_map(|r| {
            let volume = kept.volume(r, j);
            let excess = self.time(BlockSpan { first: r, ..span }) - volume;
            (excess <= best).then(|| {
                let value = excess.max(self.tables.part(i, r - 1, kept) - volume);
                (value == best).then_some((r - 1, ReceivingPart::Right))
            })
        })?
    }

    /// The time of a span.
    fn time(&self, span: BlockSpan) -> i64 {
        if span.bare {
            let time = self.tables.shadow(span.first, span.last, self.kept);
            time.expect("shadow cells of use are in the table")
        } else {
            self.tables.whole(span.first, span.last, self.kept)
        }
    }

    /// The time of a right part that sends; 0 if it is a single kept block.
    fn right_time(&self, part: BlockSpan) -> i64 {
        if part.first == part.last { 0 } else { self.time(part) }
    }
}
