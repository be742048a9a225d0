//! Thousands of processes: the dense engine against the plain one, and trees against the values of their tables. They
//! take minutes, and are ignored unless asked for:
//!
//! ```text
//! TUWTREE_SAMPLES=5 cargo test --release -p tuwtree-dp --lib -- --ignored large
//! ```

use super::*;
use tuwtree_model::ClosedSet;

/// How many problems of each kind are drawn: the environment's `TUWTREE_SAMPLES`, 1 by default.
fn samples() -> u64 {
    std::env::var("TUWTREE_SAMPLES").map_or(1, |samples| samples.parse().expect("a number"))
}

/// Blocks of one of the papers' distributions, costs under which all copies fit into one latency or take nothing,
/// and a root.
fn drawn(random: &mut Random, ranks: usize) -> (BlockSizes, Overlapping, Root, String) {
    let published: Vec<Distribution> = Distribution::published().collect();
    let distribution = published[random.below(published.len() as u64) as usize];
    let mean = random.one_of(&[8, 1000, 20_000]);
    let scale = DistributionParameters::new(ranks, mean);
    let sizes = distribution.sizes(scale, Randomness::default()).unwrap();
    let alpha = random.one_of(&[100, 5200, 1_000_000]);
    let (share, gamma) = [(0, 0), (5, 0), (9, 0), (9, 1)][random.below(4) as usize];
    // So long that no copy outlasts the latency.
    let alpha = if gamma > 0 { alpha.max(2 * sizes.iter().max().unwrap_or(0)) } else { alpha };
    let latency = (alpha * share / 10) as f64;
    let costs = Overlapping::new(latency, alpha as f64 - latency, 1.0, gamma as f64).unwrap();
    let root = match random.below(3) {
        0 => Root::Best,
        _ => Root::Given(random.below(ranks as u64) as usize),
    };
    let told = format!("{ranks} {} {mean} {costs:?} {root:?}", distribution.name());
    (sizes, costs, root, told)
}

#[test]
#[ignore = "takes minutes; TUWTREE_SAMPLES says how many problems"]
fn dense_is_plain_in_every_cell_of_large_tables() {
    let mut random = Random(31);
    for (ranks, classes) in [(2000, &Class::ALL[..]), (4000, &[Class::CopyFirst])] {
        for _ in 0..samples() {
            let (sizes, costs, root, told) = drawn(&mut random, ranks);
            let sizes = without_empty_blocks(&sizes, root);
            let law = scaled(&sizes, &costs);
            for &class in classes {
                println!("{class:?} {told}");
                let plain = plain::table(&law, class, root, &()).unwrap();
                let dense = dense::table(&law, class, root, &()).unwrap();
                assert_same(&dense, &plain, &(class, &told));
            }
        }
    }
}

#[test]
#[ignore = "takes minutes; TUWTREE_SAMPLES says how many problems"]
fn large_trees_take_what_their_tables_say_and_none_is_faster() {
    let mut random = Random(32);
    for ranks in [2000, 4000, 8000] {
        for _ in 0..samples() {
            let (sizes, costs, root, told) = drawn(&mut random, ranks);
            println!("{told}");
            let time = |tree: &Tree| costs.completion_time(tree, &sizes).unwrap().units();
            let mut best = f64::INFINITY;
            for class in Class::ALL {
                let found =
                    wider::optimal(&sizes, &costs, root, class, Engine::EXACT, &()).unwrap();
                assert_eq!(class.check(&found.tree), Ok(()), "{told}");
                assert_eq!((time(&found.tree), found.at_least), (found.time, found.time), "{told}");
                assert!(class == Class::CopyFirst || found.time <= best, "{told}");
                best = best.min(found.time);
                for effort in Effort::ALL {
                    let split = deadline_tree(&sizes, &costs, class, root, effort).unwrap();
                    assert!(time(&split) >= found.time, "{effort:?} {told}");
                }
            }
        }
    }
}

#[test]
#[ignore = "takes minutes; TUWTREE_SAMPLES says how many problems"]
fn dense_is_plain_in_every_cell_of_large_tables_for_laws_in_pieces() {
    let mut random = Random(33);
    for (ranks, classes) in [(2000, &Class::ALL[..]), (4000, &[Class::CopyFirst])] {
        for _ in 0..samples() {
            let (law, root, told) = super::in_pieces::few_clocks(&mut random, ranks);
            for &class in classes {
                println!("{class:?} {ranks} {told}");
                let plain = plain::table(&law, class, root, &()).unwrap();
                let dense = dense::table(&law, class, root, &()).unwrap();
                assert_same(&dense, &plain, &(class, &told));
            }
        }
    }
}
