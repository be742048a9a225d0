//! Random trees of any shape, ordered or not.

use proptest::prelude::*;
use tuwtree_model::{BlockSizes, Rank, Step, Tree};

/// A tree for these blocks, and the blocks: every shape, every root, copies anywhere.
pub fn trees(
    sizes: impl Strategy<Value = BlockSizes>,
) -> impl Strategy<Value = (Tree, BlockSizes)> {
    sizes.prop_flat_map(|sizes| {
        let ranks = sizes.ranks();
        let order = Just((0..ranks).collect::<Vec<Rank>>()).prop_shuffle();
        // A child's parent is that many order back; with small powers anyone, with large ones mostly
        // the neighbour, so that trees become deep.
        let choices = prop::collection::vec((0.0..1.0, any::<u16>()), ranks);
        (order, prop_oneof![Just(1), Just(4), Just(30)], choices)
            .prop_map(move |(order, power, choices)| (grow(&order, power, &choices), sizes.clone()))
    })
}

/// The tree in which each of `ranks` becomes the child of one before it, at a random place among its
/// steps, before or after the copy.
fn grow(ranks: &[Rank], power: i32, choices: &[(f64, u16)]) -> Tree {
    let mut steps: Vec<Vec<Step>> = vec![Vec::new(); ranks.len()];
    for (index, &rank) in ranks.iter().enumerate().skip(1) {
        let (uniform, place) = choices[index];
        let back = (uniform.powi(power) * index as f64) as usize;
        let parent = &mut steps[ranks[index - 1 - back.min(index - 1)]];
        if parent.is_empty() {
            parent.push(Step::Copy);
        }
        let place = usize::from(place) % (parent.len() + 1);
        parent.insert(place, Step::Receive(rank));
    }
    let steps: Vec<(Rank, Step)> = steps
        .into_iter()
        .enumerate()
        .flat_map(|(rank, steps)| steps.into_iter().map(move |step| (rank, step)))
        .collect();
    Tree::new(ranks.len(), ranks[0], &steps).expect("each rank has one parent before it")
}
