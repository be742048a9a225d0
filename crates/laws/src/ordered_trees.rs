//! All ordered trees over a few ranks, from the definition of "ordered" and nothing else.

use std::sync::OnceLock;
use tuwtree_model::{Rank, Step, Tree};

/// Which trees count as ordered. In all of them every subtree spans consecutive ranks, and what a
/// rank has collected at any moment is an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderedClass {
    /// Every message extends a segment that holds the receiver's own rank; the own block is copied
    /// before a first message from the right and after a first message from the left (OPT eqs. 5
    /// and 6).
    Ordered,
    /// Children in rank order and the copy at the own rank's place (OPT Definition 3), two
    /// children at most.
    Binary,
}

/// The most ranks of which all trees are listed.
pub const MOST: usize = 7;

/// All trees of this class over `0..ranks`, listed once per process.
pub fn ordered_trees(class: OrderedClass, ranks: usize) -> &'static [Tree] {
    static ORDERED: [OnceLock<Vec<Tree>>; MOST + 1] = [const { OnceLock::new() }; MOST + 1];
    static BINARY: [OnceLock<Vec<Tree>>; MOST + 1] = [const { OnceLock::new() }; MOST + 1];
    let lists = match class {
        OrderedClass::Ordered => &ORDERED,
        OrderedClass::Binary => &BINARY,
    };
    lists[ranks].get_or_init(|| {
        subtrees_by_width(class, ranks)[ranks]
            .iter()
            .map(|subtree| Tree::new(ranks, subtree.root, &subtree.steps).unwrap())
            .collect()
    })
}

/// A tree over `0..width`, to be shifted to where it is needed.
#[derive(Clone)]
struct Subtree {
    root: Rank,
    steps: Vec<(Rank, Step)>,
}

/// What a rank adds to its segment in one step.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Added {
    Own,
    /// The ranks from the first to before the second.
    Child(Rank, Rank),
}

/// For every width up to `most`: all subtrees of that many ranks.
fn subtrees_by_width(class: OrderedClass, most: usize) -> Vec<Vec<Subtree>> {
    let mut subtrees = vec![vec![], vec![Subtree { root: 0, steps: vec![] }]];
    for width in 2..=most {
        let mut wider = Vec::new();
        for root in 0..width {
            for parts in collections(width, root) {
                if class.admits(root, &parts) {
                    wider.extend(with_all_children(root, &parts, &subtrees));
                }
            }
        }
        subtrees.push(wider);
    }
    subtrees
}

/// All orders in which `root` may collect `0..width`, so that what it has is always an interval.
fn collections(width: usize, root: Rank) -> Vec<Vec<Added>> {
    let mut complete = Vec::new();
    // Parts so far, and the interval from..to that they make up.
    let mut pending: Vec<(Vec<Added>, Rank, Rank)> =
        (0..=width).map(|start| (vec![], start, start)).collect();
    while let Some((parts, from, to)) = pending.pop() {
        if (from, to) == (0, width) {
            complete.push(parts);
            continue;
        }
        let mut extend = |part, from, to| {
            let mut parts = parts.clone();
            parts.push(part);
            pending.push((parts, from, to));
        };
        let on_right = (to + 1..=width).map(|end| (to, end));
        // An empty interval is extended to the right only, lest the first part counts twice.
        let on_left = (0..from).filter(|_| from < to).map(|start| (start, from));
        for (start, end) in on_right.chain(on_left) {
            let (from, to) = (from.min(start), to.max(end));
            if (start, end) == (root, root + 1) {
                extend(Added::Own, from, to);
            } else if !(start..end).contains(&root) {
                extend(Added::Child(start, end), from, to);
            }
        }
    }
    complete
}

impl OrderedClass {
    /// Whether a rank may collect its segment from these parts in this order.
    fn admits(self, root: Rank, parts: &[Added]) -> bool {
        match self {
            OrderedClass::Ordered => match *parts {
                [Added::Own, Added::Child(start, _), ..] => start == root + 1,
                [Added::Child(_, end), Added::Own, ..] => end == root,
                _ => false,
            },
            OrderedClass::Binary => {
                let starts = parts.iter().map(|part| match part {
                    Added::Own => root,
                    Added::Child(start, _) => *start,
                });
                parts.len() <= 3 && starts.is_sorted()
            }
        }
    }
}

/// All trees in which `root` collects these parts, each child's subtree being any.
fn with_all_children(root: Rank, parts: &[Added], subtrees: &[Vec<Subtree>]) -> Vec<Subtree> {
    let mut trees = vec![Subtree { root, steps: vec![] }];
    for part in parts {
        match *part {
            Added::Own => trees.iter_mut().for_each(|tree| tree.steps.push((root, Step::Copy))),
            Added::Child(start, end) => {
                trees = trees
                    .iter()
                    .flat_map(|tree| {
                        subtrees[end - start].iter().map(|child| with_child(tree, child, start))
                    })
                    .collect();
            }
        }
    }
    trees
}

/// The tree with one more child, whose subtree begins at rank `start`.
fn with_child(tree: &Subtree, child: &Subtree, start: Rank) -> Subtree {
    let mut steps = tree.steps.clone();
    steps.extend(child.steps.iter().map(|&(rank, step)| {
        let step = match step {
            Step::Copy => Step::Copy,
            Step::Receive(sender) => Step::Receive(sender + start),
        };
        (rank + start, step)
    }));
    steps.push((tree.root, Step::Receive(child.root + start)));
    Subtree { root: tree.root, steps }
}

/// Whether some rank receives two subtrees from its left before its own block: the shape of
/// binary trees that no join of ranges that hold their own root makes.
pub fn has_two_left_subtrees(tree: &Tree) -> bool {
    (0..tree.ranks())
        .any(|rank| tree.steps(rank).take_while(|step| *step != Step::Copy).count() == 2)
}

#[test]
fn there_are_as_many_trees_as_there_should_be() {
    // Ordered: a(n) = 2 sum a(k) a(n - k), a(1) = 1, by the last message.
    let counts: Vec<usize> =
        (1..=MOST).map(|p| ordered_trees(OrderedClass::Ordered, p).len()).collect();
    assert_eq!(counts, [1, 2, 8, 40, 224, 1344, 8448]);
    // Binary, three ranks: three stars, and two trees of depth 2 for either end as root.
    assert_eq!(ordered_trees(OrderedClass::Binary, 3).len(), 7);
}
