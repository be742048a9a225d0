//! The lemmas and the examples of `docs/optimal-trees.md`, on tables of the plain recurrences.

use crate::{Method, RootedTable, Triangle, optimal_adjacent, plain};
use proptest::collection::vec;
use proptest::prelude::*;
use tuwtree_model::{BlockSizes, ClosedSet, Homogeneous, Problem, ScaledSizes, completion_time};

fn scaled(sizes: &[u64], (alpha, beta, gamma): (u32, u32, u32)) -> ScaledSizes<i64> {
    let costs = Homogeneous::new(alpha.into(), beta.into(), gamma.into()).unwrap();
    ScaledSizes::new(&costs, &BlockSizes::new(sizes.iter().copied()).unwrap()).unwrap()
}

fn free(sizes: &ScaledSizes<i64>) -> Triangle<i64> {
    plain::free_root(sizes, &()).unwrap()
}

fn fixed(sizes: &ScaledSizes<i64>, root: usize) -> RootedTable<i64> {
    plain::fixed_root(sizes, root, &()).unwrap()
}

fn binary(sizes: &ScaledSizes<i64>) -> Triangle<i64> {
    plain::binary(sizes, &()).unwrap()
}

/// Up to nine blocks, many of them empty, and costs with gamma <= beta.
fn problems() -> impl Strategy<Value = ScaledSizes<i64>> {
    let block = prop_oneof![2 => Just(0), 3 => 1..4_u64, 3 => 0..12_u64, 1 => 40..60_u64];
    let alpha = prop_oneof![Just(0), 1..6_u32, Just(100)];
    let rates = (0..4_u32).prop_flat_map(|beta| (Just(beta), 0..=beta));
    (vec(block, 2..10), alpha, rates)
        .prop_map(|(sizes, alpha, (beta, gamma))| scaled(&sizes, (alpha, beta, gamma)))
}

/// (G), (L), (Z), (A) and (R) for the ranges `[i..j]` with `first(i) <= j` and `i <= last_start`.
fn check_ordered_table(
    sizes: &ScaledSizes<i64>,
    last_start: usize,
    first: impl Fn(usize) -> usize,
    cost: impl Fn(usize, usize) -> i64,
) -> Result<(), TestCaseError> {
    let p = sizes.ranks();
    for i in 0..=last_start {
        for j in first(i)..p {
            if i < j {
                for x in i..=j {
                    prop_assert!(cost(i, j) >= sizes.copy(x), "G");
                    let alone = (x == i || sizes.is_empty(i, x - 1))
                        && (x == j || sizes.is_empty(x + 1, j));
                    if !alone && !sizes.is_empty(x, x) {
                        prop_assert!(cost(i, j) >= sizes.latency() + sizes.copy(x), "G");
                    }
                }
            }
            if i > 0 {
                prop_assert!(cost(i, j) <= cost(i - 1, j), "L");
            }
            if i < j && j + 1 < p && sizes.is_empty(j + 1, j + 1) {
                prop_assert!(cost(i, j + 1) <= cost(i, j), "Z");
                prop_assert!(!sizes.is_empty(j, j) || cost(i, j + 1) == cost(i, j), "Z");
            }
            for n in j + 1..p {
                let slack = if sizes.is_empty(j + 1, n) { sizes.latency() } else { 0 };
                prop_assert!(cost(i, j) <= cost(i, n) + slack, "A, R");
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn ordered_tables_are_monotone_but_for_empty_blocks_at_the_end(
        sizes in problems(),
        root in 0..9_usize,
    ) {
        let p = sizes.ranks();
        let table = free(&sizes);
        check_ordered_table(&sizes, p - 1, |i| i, |i, j| table.get(i, j))?;
        let root = root.min(p - 1);
        let table = fixed(&sizes, root);
        check_ordered_table(&sizes, root, |_| root, |i, j| table.get(i, j))?;
    }

    #[test]
    fn binary_tables_are_monotone(sizes in problems()) {
        let (p, table) = (sizes.ranks(), binary(&sizes));
        for i in 0..p {
            for j in i + 1..p {
                prop_assert!(table.get(i + 1, j) <= table.get(i, j));
                prop_assert!(table.get(i, j - 1) <= table.get(i, j));
            }
        }
    }

    #[test]
    fn excesses_are_bounded(sizes in problems()) {
        let (p, table) = (sizes.ranks(), free(&sizes));
        for i in 0..p {
            for j in i + 1..p {
                let excess = table.get(i, j) - sizes.volume(i, j);
                let saved = (i..=j).map(|x| sizes.volume(x, x) - sizes.copy(x)).max().unwrap();
                let levels = (j - i + 1).next_power_of_two().ilog2();
                prop_assert!(-saved <= excess && excess <= sizes.latency() * i64::from(levels));
            }
        }
    }

    #[test]
    fn excesses_with_a_given_root_are_a_matter_of_latencies(
        sizes in problems(),
        root in 0..9_usize,
    ) {
        let p = sizes.ranks();
        let root = root.min(p - 1);
        let table = fixed(&sizes, root);
        for i in 0..=root {
            for j in root..p {
                let volumes = (i..=j).filter(|&x| x != root).map(|x| sizes.volume(x, x));
                let volumes: Vec<i64> = volumes.filter(|&volume| volume > 0).collect();
                let Some(&least) = volumes.iter().min() else { continue };
                let ratio = volumes.iter().sum::<i64>() as f64 / least as f64;
                let levels = f64::from((j - i + 1).next_power_of_two().ilog2());
                let saved = sizes.volume(root, root) - sizes.copy(root);
                let excess = table.get(i, j) - sizes.volume(i, j) + saved;
                let most = sizes.latency() as f64 * (2.0 * ratio.log2() + 3.0 + levels);
                prop_assert!(0 <= excess && excess as f64 <= most + 1e-6);
            }
        }
    }
}

/// The time of the whole problem.
fn time(sizes: &[u64], costs: (u32, u32, u32)) -> i64 {
    free(&scaled(sizes, costs)).get(0, sizes.len() - 1)
}

#[test]
fn monotonicity_needs_copies_that_are_not_dearer_than_messages() {
    let costs = (0, 1, 3);
    let (left, right) = (scaled(&[1, 2, 2], costs), scaled(&[2, 2, 1], costs));
    for table in [free(&left), binary(&left)] {
        assert_eq!((table.get(1, 2), table.get(0, 2)), (8, 7));
    }
    for table in [free(&right), binary(&right)] {
        assert_eq!((table.get(0, 1), table.get(0, 2)), (8, 7));
    }
}

#[test]
fn an_empty_block_at_the_end_may_save_a_latency() {
    let table = free(&scaled(&[2, 1, 4, 0], (1, 1, 1)));
    assert_eq!((table.get(0, 2), table.get(0, 3)), (9, 8));
}

#[test]
fn either_part_may_wait_for_the_other_and_receive_it() {
    assert_eq!(time(&[3, 1, 1], (2, 1, 1)), 8);
    assert_eq!(time(&[2, 2, 1, 4], (2, 1, 0)), 10);
}

#[test]
fn a_lone_first_block_may_receive_a_longer_range() {
    // Fig. 6 as printed would make it 13.
    assert_eq!(time(&[9, 1, 1], (1, 1, 1)), 12);
}

#[test]
fn of_adjacent_empty_blocks_two_count() {
    let costs = (1, 1, 1);
    assert_eq!(time(&[1, 1, 3, 0, 6], costs), 13);
    assert_eq!(time(&[1, 1, 3, 0, 0, 6], costs), 12);
    assert_eq!(time(&[1, 1, 3, 0, 0, 0, 6], costs), 12);
}

#[test]
fn fractional_tables_are_as_exact_as_the_volume_of_all_blocks() {
    let costs = Homogeneous::new(0.1, 0.1, 0.0).unwrap();
    let sizes = BlockSizes::new([1_000_000, 1]).unwrap();
    let problem = Problem::gather(&sizes, costs).unwrap();
    for &method in Method::ALL {
        let optimum = optimal_adjacent(&problem, method, &()).unwrap();
        assert!((optimum.value - 0.2).abs() < 2.0 * f64::EPSILON * 100_000.0);
        assert_eq!(completion_time(&optimum.tree, &problem).unwrap().units(), 0.2);
    }
}
