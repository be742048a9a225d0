//! Adversarial problems, and what several of the tests on them need.

mod deadline;
mod engines;
pub(super) mod exhaustive;
mod in_pieces;
mod large;
mod recurrences;

use super::{
    BySize, Class, Effort, Engine, Overlapping, Receiving, Scaled, Table, deadline_tree, dense,
    plain, tree,
};
use crate::tests::random::{Random, problems};
use crate::wider;
use tuwtree_model::{
    BlockSizes, Distribution, DistributionParameters, Homogeneous, Problem, Randomness, Rank, Root,
    Tree,
};

/// The gather on one port, where nothing overlaps.
fn gather(sizes: &BlockSizes, costs: &Homogeneous, root: Root) -> Problem {
    Problem::gather(sizes, costs).unwrap().with_root(root).unwrap()
}

impl Random {
    /// Sizes that are often empty, tiny, tied or spiky.
    fn sizes_of(&mut self, ranks: usize) -> BlockSizes {
        let (style, p) = (self.below(6), ranks as u64);
        let largest = self.one_of(&[1, 2, 3, 10, 100, 10_000]);
        let empty = self.one_of(&[0, 0, 0, 1, 4, 7]);
        BlockSizes::new((0..p).map(|rank| match self.below(8) < empty {
            true => 0,
            false => match style {
                0 => self.below(largest + 1),
                1 => 1 + self.below(largest),
                2 => self.one_of(&[1, 1, 1, 1, 50, 1000]),
                3 => 1 << (self.below(2) * rank).min(14),
                4 => [rank + 1, p - rank][self.below(2) as usize],
                _ => self.one_of(&[1, largest]),
            },
        }))
        .unwrap()
    }

    /// Costs with copies that take no longer than messages (`dear` false), or longer.
    fn costs(&mut self, dear: bool) -> Overlapping {
        let latency = self.one_of(&[0, 0, 1, 2, 5, 20, 100, 1000, 1_000_000]);
        let overhead = self.one_of(&[0, 1, 2, 5, 10, 100, 10_000]);
        let beta = self.one_of(&[0, 1, 1, 2, 7]);
        let gamma = match (dear, self.below(3)) {
            (true, _) => beta + 1 + self.below(5),
            (false, 0) => 0,
            (false, 1) => beta,
            (false, _) => self.below(beta + 1),
        };
        let [latency, overhead, beta, gamma] =
            [latency, overhead, beta, gamma].map(|cost| cost as f64);
        Overlapping::new(latency, overhead, beta, gamma).unwrap()
    }

    /// Port times and latencies of up to four pieces, with jumps.
    fn by_size<'a>(&mut self, sizes: &'a BlockSizes) -> impl Receiving<i64> + use<'a> {
        let mut pieces = vec![(0, self.below(20), self.below(4), self.below(50))];
        for _ in 0..self.below(4) {
            let (from, fixed, rate, latency) = pieces[pieces.len() - 1];
            let next = from + 1 + self.one_of(&[1, 3, 10, 100, 1000]);
            let reached = fixed + rate * (next - from);
            let jump = self.one_of(&[0, 0, 5, 100]);
            let longer = latency + self.one_of(&[0, 0, 10, 500]);
            pieces.push((next, reached + jump, self.below(4), longer));
        }
        let dearness = self.below(4);
        let of = move |bytes: u64| {
            let last = pieces.partition_point(|&(from, ..)| from <= bytes) - 1;
            let (from, fixed, rate, latency) = pieces[last];
            (fixed + rate * (bytes - from), latency)
        };
        let latency = of.clone();
        BySize {
            sizes,
            port: move |bytes| of(bytes).0 as i64,
            latency: move |bytes| latency(bytes).1 as i64,
            copy: move |bytes| (dearness * bytes) as i64,
        }
    }
}

fn scaled(sizes: &BlockSizes, costs: &Overlapping) -> Scaled<i64> {
    Scaled::new(costs, sizes).expect("small problems fit")
}

/// Sizes without empty blocks, but for the root's if it is given.
fn without_empty_blocks(sizes: &BlockSizes, root: Root) -> BlockSizes {
    let block =
        |(rank, bytes): (Rank, u64)| if root == Root::Given(rank) { bytes } else { bytes.max(1) };
    BlockSizes::new(sizes.iter().enumerate().map(block)).unwrap()
}

/// Costs under which copies fit, though gamma may exceed beta.
fn fitting(random: &mut Random, sizes: &BlockSizes) -> Overlapping {
    loop {
        let dear = random.below(3) == 0;
        let costs = random.costs(dear);
        let fits = |bytes: u64| {
            let message = costs.occupancy().transmission(bytes).unwrap().units() + costs.latency();
            costs.occupancy().copy(bytes).unwrap().units() <= message
        };
        if sizes.iter().all(fits) {
            return costs;
        }
    }
}

/// All values of two tables are the same, each receiver's.
fn assert_same(dense: &Table<i64>, plain: &Table<i64>, context: &impl std::fmt::Debug) {
    let (p, root) = (plain.ranks(), plain.root());
    for i in 0..p {
        for j in i..p {
            let held = root.is_some_and(|root| (i..=j).contains(&root));
            assert_eq!(dense.cost(i, j), plain.cost(i, j), "[{i}..{j}] {context:?}");
            if held || plain.class() == Class::CopyFirst {
                continue;
            }
            let side = |rank: Rank| root.map(|root| rank.cmp(&root));
            let others = (0..p).filter(|rank| !(i..=j).contains(rank));
            for receiver in others.filter(|&rank| Some(rank) == root || side(rank) == side(i)) {
                // A clock below lambda is as good as lambda, where there is data.
                let (dense, plain) = (dense.away(receiver, i, j), plain.away(receiver, i, j));
                assert_eq!(dense, plain, "[{i}..{j}] at {receiver} {context:?}");
            }
        }
    }
}

/// Costs with gamma <= beta, under which empty blocks are nothing.
fn monotone(random: &mut Random) -> Overlapping {
    random.costs(false)
}
