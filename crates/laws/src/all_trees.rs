//! All trees over a few ranks, from the definition of a tree and nothing else.

use std::sync::OnceLock;
use tuwtree_model::{Problem, Rank, Root, Step, Tree, completion_time};

/// The most ranks of which all trees are listed.
pub const MOST: usize = 5;

/// All trees over `0..ranks`, every copy at every place, listed once per process.
pub fn all_trees(ranks: usize) -> &'static [Tree] {
    static LISTS: [OnceLock<Vec<Tree>>; MOST + 1] = [const { OnceLock::new() }; MOST + 1];
    LISTS[ranks].get_or_init(|| {
        parents(ranks)
            .into_iter()
            .flat_map(|(root, parents)| with_orders(root, &parents, copies_anywhere))
            .collect()
    })
}

/// The most ranks of which all trees are listed in which everybody copies first.
pub const MOST_COPYING_FIRST: usize = 6;

/// All trees over the most ranks in which everybody copies first, each receive order, listed once
/// per process.
pub fn trees_copying_first() -> &'static [Tree] {
    static LIST: OnceLock<Vec<Tree>> = OnceLock::new();
    LIST.get_or_init(|| {
        parents(MOST_COPYING_FIRST)
            .into_iter()
            .flat_map(|(root, parents)| with_orders(root, &parents, copies_first))
            .collect()
    })
}

/// The least completion time of a problem over all trees with its root.
pub fn least_time(problem: &Problem) -> f64 {
    least_of(all_trees(problem.ranks()), problem)
}

/// The least completion time of a problem over those of these trees that have its root.
pub fn least_of(trees: &[Tree], problem: &Problem) -> f64 {
    trees
        .iter()
        .filter(|tree| has_root(tree, problem.root()))
        .map(|tree| completion_time(tree, problem).unwrap().units())
        .fold(f64::INFINITY, f64::min)
}

/// Whether a tree has the root that is asked for.
pub fn has_root(tree: &Tree, root: Root) -> bool {
    root.given().is_none_or(|root| root == tree.root())
}

/// All rooted labelled trees: the root, and the parent of each rank (the root's is itself).
fn parents(ranks: usize) -> Vec<(Rank, Vec<Rank>)> {
    let mut found = Vec::new();
    for code in 0..ranks.pow(ranks as u32) {
        let parents: Vec<Rank> =
            (0..ranks).map(|rank| code / ranks.pow(rank as u32) % ranks).collect();
        let roots: Vec<Rank> = (0..ranks).filter(|&rank| parents[rank] == rank).collect();
        let ends_at_root = |rank: Rank| {
            let end = (0..ranks).fold(rank, |at, _| parents[at]);
            roots == [end]
        };
        if (0..ranks).all(ends_at_root) {
            found.push((roots[0], parents));
        }
    }
    found
}

/// All orders of an inner rank's steps.
fn copies_anywhere(children: &[Step]) -> Vec<Vec<Step>> {
    permutations(&[children, &[Step::Copy]].concat())
}

/// All orders of an inner rank's steps that start with the copy.
fn copies_first(children: &[Step]) -> Vec<Vec<Step>> {
    let orders = permutations(children).into_iter();
    orders.map(|order| [&[Step::Copy], &order[..]].concat()).collect()
}

/// All trees with these parents and one of these orders of each rank's steps.
fn with_orders(
    root: Rank,
    parents: &[Rank],
    orders_of: fn(&[Step]) -> Vec<Vec<Step>>,
) -> Vec<Tree> {
    let ranks = parents.len();
    let mut lists: Vec<Vec<(Rank, Step)>> = vec![vec![]];
    for rank in 0..ranks {
        let children: Vec<Step> = (0..ranks)
            .filter(|&child| child != root && parents[child] == rank)
            .map(Step::Receive)
            .collect();
        if children.is_empty() {
            continue;
        }
        let orders = orders_of(&children);
        lists = lists
            .iter()
            .flat_map(|list| {
                orders.iter().map(move |order| {
                    let steps = order.iter().map(|&step| (rank, step));
                    list.iter().copied().chain(steps).collect()
                })
            })
            .collect();
    }
    lists.iter().map(|steps| Tree::new(ranks, root, steps).unwrap()).collect()
}

fn permutations(steps: &[Step]) -> Vec<Vec<Step>> {
    if steps.is_empty() {
        return vec![vec![]];
    }
    (0..steps.len())
        .flat_map(|at| {
            let mut rest = steps.to_vec();
            let first = rest.remove(at);
            permutations(&rest).into_iter().map(move |tail| [&[first], &tail[..]].concat())
        })
        .collect()
}

#[test]
fn there_are_as_many_trees_as_there_should_be() {
    // p^(p-1) rooted labelled trees.
    let shapes: Vec<usize> = (1..=MOST).map(|p| parents(p).len()).collect();
    assert_eq!(shapes, [1, 2, 9, 64, 625]);
    // Two ranks: either root, copy before or after. Three: stars 3 * 3!, chains 6 * 2 * 2.
    assert_eq!((1..=3).map(|p| all_trees(p).len()).collect::<Vec<_>>(), [1, 4, 42]);
    // Copies first: p! labels of the plane trees, of which there are 42 with six nodes.
    assert_eq!(trees_copying_first().len(), 720 * 42);
}
