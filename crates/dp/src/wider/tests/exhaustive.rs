//! Every tree of a class, one by one: the oracle that knows no recurrence.
//!
//! All plane trees, with all ways to label their ranks, are written down; [`Class::check`]
//! says which of them belong to the class. Children come in the order in which they are received.

use super::{Class, Receiving};
use tuwtree_model::{Rank, Step, Tree};

/// The trees of a class over some ranks.
pub(super) struct Exhaustive {
    ranks: usize,
    trees: Vec<Labelled>,
}

/// A tree in preorder.
struct Labelled {
    labels: Vec<Rank>,
    /// The ranks of each subtree: first and last.
    spans: Vec<(Rank, Rank)>,
    /// The places of each one's children, in receive order.
    children: Vec<Vec<usize>>,
}

impl Exhaustive {
    pub(super) fn new(class: Class, ranks: usize) -> Exhaustive {
        let of_class =
            all(ranks).filter(|(shape, labels)| class.check(&as_tree(shape, labels)).is_ok());
        let trees = of_class.map(|(shape, labels)| Labelled::new(&shape, labels));
        Exhaustive { ranks, trees: trees.collect() }
    }

    /// Number of trees.
    pub(super) fn len(&self) -> usize {
        self.trees.len()
    }

    /// The least completion time for each root.
    pub(super) fn least(&self, law: &impl Receiving<i64>) -> Vec<i64> {
        let mut least = vec![i64::MAX; self.ranks];
        let mut ready = vec![0; self.ranks];
        for tree in &self.trees {
            let time = tree.completion(law, &mut ready);
            let root = tree.labels[0];
            least[root] = least[root].min(time);
        }
        least
    }
}

impl Labelled {
    fn new(shape: &[usize], labels: Vec<Rank>) -> Labelled {
        let mut spans: Vec<_> = labels.iter().map(|&rank| (rank, rank)).collect();
        let mut children = vec![Vec::new(); labels.len()];
        for place in (1..labels.len()).rev() {
            let (parent, span) = (shape[place], spans[place]);
            spans[parent] = (spans[parent].0.min(span.0), spans[parent].1.max(span.1));
            children[parent].insert(0, place);
        }
        Labelled { labels, spans, children }
    }

    fn completion(&self, law: &impl Receiving<i64>, ready: &mut [i64]) -> i64 {
        for place in (0..self.labels.len()).rev() {
            let children = &self.children[place];
            let copy = if children.is_empty() { 0 } else { law.copy(self.labels[place]) };
            ready[place] = children.iter().fold(copy, |clock, &child| {
                law.received(clock, ready[child], self.spans[child].0, self.spans[child].1)
            });
        }
        ready[0]
    }
}

/// All trees over some ranks with all receive orders, each rank copying first.
pub(in crate::wider) fn every_tree(ranks: usize) -> impl Iterator<Item = Tree> {
    all(ranks).map(|(shape, labels)| as_tree(&shape, &labels))
}

/// All pairs of a shape and an order of labels.
fn all(ranks: usize) -> impl Iterator<Item = (Vec<usize>, Vec<Rank>)> {
    shapes(ranks).into_iter().flat_map(move |shape| {
        permutations(ranks).into_iter().map(move |labels| (shape.clone(), labels))
    })
}

/// All plane trees: the parents of places in preorder, that of the root being 0.
fn shapes(ranks: usize) -> Vec<Vec<usize>> {
    let mut shapes = vec![vec![0]];
    for place in 1..ranks {
        let longer = shapes.iter().flat_map(|shape| {
            // The new place may hang on the last one or on any of its ancestors.
            let ancestors =
                std::iter::successors(Some(place - 1), |&at| (at > 0).then(|| shape[at]));
            ancestors.map(|parent| [shape.as_slice(), &[parent]].concat()).collect::<Vec<_>>()
        });
        shapes = longer.collect();
    }
    shapes
}

/// All orders of `0..count`.
fn permutations(count: usize) -> Vec<Vec<Rank>> {
    let mut orders = vec![Vec::new()];
    for next in 0..count {
        let longer = orders.iter().flat_map(|order: &Vec<Rank>| {
            (0..=order.len()).map(move |place| {
                let mut longer = order.clone();
                longer.insert(place, next);
                longer
            })
        });
        orders = longer.collect();
    }
    orders
}

fn as_tree(shape: &[usize], labels: &[Rank]) -> Tree {
    let mut steps = Vec::new();
    for place in 1..labels.len() {
        let parent = shape[place];
        if place == parent + 1 {
            steps.push((labels[parent], Step::Copy));
        }
        steps.push((labels[parent], Step::Receive(labels[place])));
    }
    Tree::new(labels.len(), labels[0], &steps).expect("a labelled plane tree is a tree")
}

#[test]
fn plane_trees_are_counted_by_catalan_numbers() {
    for (ranks, count) in [(1, 1), (2, 1), (3, 2), (4, 5), (5, 14), (6, 42), (7, 132)] {
        assert_eq!(shapes(ranks).len(), count);
    }
    assert_eq!(permutations(5).len(), 120);
}

#[test]
fn there_are_more_consecutive_trees_than_copy_first_ones() {
    let count = |class, ranks| Exhaustive::new(class, ranks).len();
    let counts = |class| [1, 2, 3, 4, 5].map(|ranks| count(class, ranks));
    assert_eq!(counts(Class::CopyFirst), [1, 2, 8, 40, 224]);
    assert_eq!(counts(Class::Consecutive), [1, 2, 10, 60, 400]);
}
