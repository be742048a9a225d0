//! The engines agree, cell by cell, and so do the trees, on many small adversarial problems.

use crate::progress::Meter;
use crate::tests::random::Random;
use crate::{Method, dense, optimal_adjacent, optimal_binary, plain, published};
use tuwtree_model::{
    BlockSizes, ClosedSet, Homogeneous, Problem, Root, ScaledSizes, completion_time,
};

impl Random {
    /// Sizes that are often zero, tiny, tied or spiky.
    fn sizes(&mut self, most: u64) -> BlockSizes {
        let p = 1 + self.below(most);
        let style = self.below(6);
        let largest = self.one_of(&[1, 2, 3, 10, 100, 10_000]);
        let zeros = self.one_of(&[0, 0, 1, 4, 7]);
        let mut previous = 1;
        BlockSizes::new((0..p).map(|rank| {
            if self.below(8) < zeros {
                return 0;
            }
            previous = match style {
                0 => self.below(largest + 1),
                1 => 1 + self.below(largest),
                2 => self.one_of(&[1, 1, 1, 1, 50, 1000]),
                3 => previous * self.one_of(&[1, 1, 1, 2]).min(1 + 20_000 / previous),
                4 => [rank + 1, p - rank][self.below(2) as usize],
                _ => self.one_of(&[0, largest]),
            };
            previous
        }))
        .unwrap()
    }

    /// Costs with gamma <= beta.
    fn monotone_costs(&mut self) -> Homogeneous {
        let alpha = self.one_of(&[0, 1, 2, 5, 10, 100, 10_000]);
        let beta = self.one_of(&[0, 1, 1, 2, 7]);
        let gamma = match self.below(3) {
            0 => 0,
            1 => beta,
            _ => self.below(beta + 1),
        };
        Homogeneous::new(alpha as f64, beta as f64, gamma as f64).unwrap()
    }
}

fn scaled(sizes: &BlockSizes, costs: &Homogeneous) -> ScaledSizes<i32> {
    ScaledSizes::new(costs, sizes).expect("small problems fit")
}

#[test]
fn dense_free_root_is_plain_in_every_cell() {
    let mut random = Random(1);
    for problem in 0..150_000 {
        let (sizes, costs) =
            (random.sizes(if problem % 50 == 0 { 60 } else { 12 }), random.monotone_costs());
        let scaled = scaled(&sizes, &costs);
        let plain = plain::free_root(&scaled, &()).unwrap();
        assert_eq!(dense::free_root(&scaled, &()).unwrap(), plain, "{sizes:?} {costs:?}");
    }
}

#[test]
fn dense_fixed_root_is_plain_in_every_cell() {
    let mut random = Random(2);
    for problem in 0..150_000 {
        let (sizes, costs) =
            (random.sizes(if problem % 50 == 0 { 60 } else { 14 }), random.monotone_costs());
        let root = random.below(sizes.ranks() as u64) as usize;
        let scaled = scaled(&sizes, &costs);
        let plain = plain::fixed_root(&scaled, root, &()).unwrap();
        let dense = dense::fixed_root(&scaled, root, &()).unwrap();
        assert_eq!(dense, plain, "{root} {sizes:?} {costs:?}");
    }
}

#[test]
fn dense_binary_is_plain_in_every_cell() {
    let mut random = Random(3);
    for problem in 0..150_000 {
        let (sizes, costs) =
            (random.sizes(if problem % 50 == 0 { 60 } else { 12 }), random.monotone_costs());
        let scaled = scaled(&sizes, &costs);
        let plain = plain::binary(&scaled, &()).unwrap();
        assert_eq!(dense::binary(&scaled, &()).unwrap(), plain, "{sizes:?} {costs:?}");
    }
}

#[test]
fn trees_attain_the_value() {
    let mut random = Random(4);
    for _ in 0..20_000 {
        let (sizes, costs) = (random.sizes(20), random.monotone_costs());
        let given = Root::Given(random.below(sizes.ranks() as u64) as usize);
        for root in [Root::Best, given] {
            let problem = Problem::gather(&sizes, costs).unwrap().with_root(root).unwrap();
            let optimum = |&method| optimal_adjacent(&problem, method, &()).unwrap();
            let optima: Vec<_> = Method::ALL.iter().map(optimum).collect();
            for optimum in &optima {
                assert_eq!(optimum.value, optima[0].value, "{root:?} {sizes:?} {costs:?}");
            }
            let binary = Method::ALL.iter().filter(|method| method.finds_binary_trees());
            let binary = binary.map(|&method| optimal_binary(&problem, method, &()).unwrap());
            for optimum in optima.into_iter().chain(binary) {
                let time = completion_time(&optimum.tree, &problem).unwrap();
                assert_eq!(time.units(), optimum.value, "{root:?} {sizes:?} {costs:?}");
                assert!(root == Root::Best || root == Root::Given(optimum.tree.root()));
            }
        }
    }
}

#[test]
fn the_published_recurrence_is_complete_for_gamma_equal_to_beta_without_empty_blocks() {
    let mut random = Random(5);
    let mut compared = 0;
    while compared < 20_000 {
        let sizes = random.sizes(12);
        if sizes.iter().any(|size| size == 0) {
            continue;
        }
        let (alpha, beta) = (random.below(20) as f64, random.below(4) as f64);
        let scaled = scaled(&sizes, &Homogeneous::new(alpha, beta, beta).unwrap());
        let incomplete = published::incomplete_table(&scaled).unwrap();
        assert_eq!(plain::free_root(&scaled, &()).unwrap(), incomplete, "{sizes:?} {alpha} {beta}");
        compared += 1;
    }
}

#[test]
fn the_published_recurrence_is_plain_in_every_cell_whatever_is_passed_over() {
    let mut random = Random(7);
    for problem in 0..3_000 {
        let width = if problem % 30 == 0 { 300 } else { 14 };
        let (sizes, costs) = (random.sizes(width), random.monotone_costs());
        let scaled = scaled(&sizes, &costs);
        let p = sizes.ranks();
        let mut meter = Meter::new(&(), 0);
        let plain = plain::ranges(&scaled, (0, p), &mut meter, |table, range| {
            published::end_joins(&scaled, table, range)
        });
        let incomplete = published::incomplete_table(&scaled).unwrap();
        assert_eq!(incomplete, plain.unwrap().0, "{sizes:?} {costs:?}");
    }
}

#[test]
fn dense_is_plain_on_larger_problems() {
    let mut random = Random(6);
    for _ in 0..30 {
        let costs = random.monotone_costs();
        let sizes = loop {
            let sizes = random.sizes(300);
            if sizes.ranks() > 200 {
                break sizes;
            }
        };
        let root = random.below(sizes.ranks() as u64) as usize;
        let scaled = ScaledSizes::<i64>::new(&costs, &sizes).unwrap();
        let free = plain::free_root(&scaled, &()).unwrap();
        assert_eq!(dense::free_root(&scaled, &()).unwrap(), free);
        let fixed = plain::fixed_root(&scaled, root, &()).unwrap();
        assert_eq!(dense::fixed_root(&scaled, root, &()).unwrap(), fixed);
        let binary = plain::binary(&scaled, &()).unwrap();
        assert_eq!(dense::binary(&scaled, &()).unwrap(), binary);
    }
}

#[test]
fn columns_with_and_without_data_need_windows_of_their_own() {
    // The crossover of the last column, whose block is empty, lies left of its neighbour's; with
    // one window for both, the result is 16.
    let sizes = BlockSizes::new([4, 3, 1, 1, 4, 0]).unwrap();
    let costs = Homogeneous::new(2.0, 1.0, 1.0).unwrap();
    let problem = Problem::gather(&sizes, costs).unwrap();
    for &method in Method::ALL {
        assert_eq!(optimal_adjacent(&problem, method, &()).unwrap().value, 17.0);
    }
}
