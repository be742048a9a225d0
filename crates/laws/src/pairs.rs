//! Random problems with costs of each pair of ranks.

use crate::problems::of_each_operation;
use proptest::prelude::*;
use tuwtree_model::{BlockSizes, CostMatrix, Problem};

/// What an operation moves, and what the pairs take.
#[derive(Clone, Debug)]
pub struct Instance {
    /// The blocks of gather and scatter.
    pub sizes: BlockSizes,
    /// The bytes of broadcast and reduction.
    pub vector: u64,
    /// Some links are missing.
    pub costs: CostMatrix,
}

impl Instance {
    /// The problems of the four operations, in their order.
    pub fn problems(&self) -> [Problem; 4] {
        of_each_operation(&self.sizes, self.vector, &self.costs)
    }
}

/// Asymmetric costs with empty blocks and missing links, up to so many ranks.
pub fn instances(most: usize) -> impl Strategy<Value = Instance> {
    (1..=most).prop_flat_map(|p| {
        let block = prop_oneof![Just(0), Just(1), 1..9_u64, Just(60)];
        let alpha = prop_oneof![2 => 0..40_u32, 1 => Just(5), 1 => Just(1000)];
        let link = prop_oneof![4 => alpha.prop_map(f64::from), 1 => Just(f64::INFINITY)];
        (
            prop::collection::vec(block, p),
            0..9_u64,
            prop::collection::vec(link, p * p),
            prop::collection::vec(0..5_u32, p * p),
            prop::collection::vec(0..6_u32, p),
        )
            .prop_map(move |(blocks, vector, alpha, beta, gamma)| Instance {
                sizes: BlockSizes::new(blocks).unwrap(),
                vector,
                costs: CostMatrix::from_fn(
                    p,
                    |sender, receiver| alpha[sender * p + receiver],
                    |sender, receiver| beta[sender * p + receiver].into(),
                    |rank| gamma[rank].into(),
                )
                .unwrap(),
            })
    })
}
