//! The tree behind a finished table.

use super::table::held;
use super::{Receiving, Table};
use tuwtree_model::{Rank, Scalar, Step, Tree};

/// A tree that attains the table's value; every rank with children copies first.
///
/// The table alone determines it: at each range the first candidate that attains the range's time
/// is taken, absorbed roots before joins, splits in ascending order, left receivers first. Where
/// rounding hides the equality (costs that are no integers), the first of the least.
///
/// # Shapes
/// The law is the one that the table is made by.
///
/// # Complexity
/// O(p^2) time in the worst case, a few scanned splits a rank as a rule; O(p) space.
pub fn tree<T: Scalar>(law: &impl Receiving<T>, table: &Table<T>) -> Tree {
    let p = table.ranks();
    // Each subtree: its range, then its root and where those of its children begin and end.
    let mut ranges = vec![(0, p - 1)];
    let mut subtrees = Vec::with_capacity(p);
    let mut next = 0;
    while next < ranges.len() {
        let (root, children) = Unwinding { law, table }.unwind(ranges[next]);
        subtrees.push((root, ranges.len(), ranges.len() + children.len()));
        ranges.extend(children.into_iter().rev());
        next += 1;
    }
    let mut steps = Vec::with_capacity(2 * p);
    for &(root, first, end) in &subtrees {
        if first < end {
            steps.push((root, Step::Copy));
        }
        steps.extend(subtrees[first..end].iter().map(|child| (root, Step::Receive(child.0))));
    }
    Tree::new(p, subtrees[0].0, &steps).expect("every range has a receiver")
}

/// The completion time of a tree in which every subtree spans consecutive ranks.
///
/// # Complexity
/// O(p) time and space.
pub fn completion<T: Scalar>(law: &impl Receiving<T>, tree: &Tree) -> T {
    let mut span: Vec<(Rank, Rank)> = (0..tree.ranks()).map(|rank| (rank, rank)).collect();
    let mut ready = vec![T::ZERO; tree.ranks()];
    for rank in tree.top_down().into_iter().rev() {
        for step in tree.steps(rank) {
            ready[rank] = match step {
                Step::Copy => ready[rank] + law.copy(rank),
                Step::Receive(child) => {
                    let (first, last) = span[child];
                    span[rank] = (span[rank].0.min(first), span[rank].1.max(last));
                    law.received(ready[rank], ready[child], first, last)
                }
            };
        }
    }
    ready[tree.root()]
}

/// Goes back through what the root of a range received.
struct Unwinding<'a, T, L> {
    law: &'a L,
    table: &'a Table<T>,
}

/// One step back: the last message, and the range held before.
#[derive(Clone, Copy)]
enum Last {
    /// The range `taken` came last, and `rest` was held before.
    Join { taken: (Rank, Rank), rest: (Rank, Rank) },
    /// The own block was reached last.
    Own(Rank),
    /// The whole range came in one message.
    All,
}

impl<T: Scalar, L: Receiving<T>> Unwinding<'_, T, L> {
    /// The root of a range, and its children's ranges, the last received first.
    fn unwind(&self, mut range: (Rank, Rank)) -> (Rank, Vec<(Rank, Rank)>) {
        let mut children = Vec::new();
        let mut away = None;
        loop {
            if away.is_none() && range.0 == range.1 {
                return (range.0, children);
            }
            let last = match away {
                None => self.last_of_held(range),
                Some(receiver) => self.last_of_away(receiver, range),
            };
            match (last, away) {
                (Last::Join { taken, rest }, _) => {
                    children.push(taken);
                    range = rest;
                }
                (Last::Own(root), _) => {
                    away = Some(root);
                    range = if root == range.0 { (root + 1, range.1) } else { (range.0, root - 1) };
                }
                (Last::All, receiver) => {
                    children.push(range);
                    return (receiver.expect("only those away receive all at once"), children);
                }
            }
        }
    }

    /// Derivation of `C(i,j)` or `F(i,j)`.
    fn last_of_held(&self, (i, j): (Rank, Rank)) -> Last {
        let table = self.table;
        let root = table.root().filter(|root| (i..=j).contains(root));
        let mut best = Best::new(table.cost(i, j));
        for own in [j, i] {
            if table.class() == super::Class::Consecutive && root.is_none_or(|root| root == own) {
                let rest = if own == i { (i + 1, j) } else { (i, j - 1) };
                best.consider(table.away(own, rest.0, rest.1), || Last::Own(own));
            }
        }
        let receiver = |(a, b): (Rank, Rank)| match root {
            Some(_) => table.rooted(a, b),
            None => held(self.law, &table.side(a).cost, (a, b)),
        };
        for k in i..j {
            if best.attained() {
                break;
            }
            let (left, right) = ((i, k), (k + 1, j));
            if root.is_none_or(|root| root <= k) {
                best.consider(self.joined(receiver(left), right), || Last::Join {
                    taken: right,
                    rest: left,
                });
            }
            if root.is_none_or(|root| root > k) {
                best.consider(self.joined(receiver(right), left), || Last::Join {
                    taken: left,
                    rest: right,
                });
            }
        }
        best.last()
    }

    /// Derivation of `U_g(i,j)`, for the clock of this receiver.
    fn last_of_away(&self, receiver: Rank, (i, j): (Rank, Rank)) -> Last {
        let side = self.table.side(i);
        let away = &side.away[side.clocks.of(receiver)];
        let mut best = Best::new(away.get(i, j));
        best.consider(self.joined(side.clocks.value(receiver), (i, j)), || Last::All);
        for k in i..j {
            if best.attained() {
                break;
            }
            let (left, right) = ((i, k), (k + 1, j));
            best.consider(self.joined(away.get(i, k), right), || Last::Join {
                taken: right,
                rest: left,
            });
            best.consider(self.joined(away.get(k + 1, j), left), || Last::Join {
                taken: left,
                rest: right,
            });
        }
        best.last()
    }

    /// The clock after a range without the root, best gathered, has come.
    fn joined(&self, clock: T, (i, j): (Rank, Rank)) -> T {
        self.law.received(clock, self.table.cost(i, j), i, j)
    }
}

/// The first candidate that attains a time, or else the first of the least ones.
struct Best<T> {
    target: T,
    least: T,
    last: Option<Last>,
}

impl<T: Scalar> Best<T> {
    fn new(target: T) -> Best<T> {
        Best { target, least: T::NEVER, last: None }
    }

    fn consider(&mut self, time: T, last: impl FnOnce() -> Last) {
        if time < self.least {
            self.least = time;
            self.last = Some(last());
        }
    }

    fn attained(&self) -> bool {
        self.least == self.target
    }

    fn last(self) -> Last {
        self.last.expect("a range of two has a split")
    }
}
