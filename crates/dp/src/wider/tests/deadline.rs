//! Deadline trees: of their class, no faster than the optimum, and near it on the papers' distributions.

use super::*;

#[test]
fn deadline_trees_are_of_their_class_and_no_faster_than_the_optimum() {
    let mut random = Random(10);
    let (mut optimal, mut trees, mut most) = (0, 0, 1.0_f64);
    for _ in 0..3000 {
        let ranks = 1 + random.below(30) as usize;
        let (sizes, costs) = (random.sizes_of(ranks), monotone(&mut random));
        let given = Root::Given(random.below(ranks as u64) as usize);
        for (root, class) in
            [Root::Best, given].into_iter().flat_map(|root| Class::ALL.map(|class| (root, class)))
        {
            let best = wider::optimal(&sizes, &costs, root, class, Engine::EXACT, &()).unwrap();
            for effort in Effort::ALL {
                let tree = deadline_tree(&sizes, &costs, class, root, effort).unwrap();
                assert_eq!(class.check(&tree), Ok(()), "{root:?} {sizes:?} {costs:?}");
                assert!(root == Root::Best || root == Root::Given(tree.root()));
                let time = costs.completion_time(&tree, &sizes).unwrap().units();
                assert!(time >= best.time, "{root:?} {sizes:?} {costs:?}");
                optimal += usize::from(time == best.time);
                trees += 1;
                most = most.max(if time > 0.0 { time / best.time } else { 1.0 });
            }
        }
    }
    println!("{optimal} of {trees} are optimal, the worst takes {most:.2} times as long");
    assert!(optimal * 10 > trees * 8, "{optimal} of {trees} are optimal");
}

/// How far deadline trees are above the optimum on the papers' distributions, per cent: mean and
/// most.
fn above_optimum(ranks: usize, effort: Effort, most_clocks: usize) -> (f64, f64) {
    let (mut sum, mut most, mut count) = (0.0, 0.0_f64, 0);
    for distribution in Distribution::published() {
        for mean_block in [8, 1000, 20_000] {
            let scale = DistributionParameters::new(ranks, mean_block);
            let sizes = distribution.sizes(scale, Randomness::default()).unwrap();
            let largest = (0..ranks).max_by_key(|&rank| (sizes.block(rank), ranks - rank));
            for latency in [0.0, 65_000.0, 119_600.0] {
                // In 40 ps: alpha is 5.2 us, beta 0.08 ns a byte.
                let costs = Overlapping::new(latency, 130_000.0 - latency, 2.0, 1.0).unwrap();
                for root in [0, ranks / 2, ranks - 1, largest.unwrap()] {
                    let (root, class) = (Root::Given(root), Class::Consecutive);
                    let engine = Engine::Dense { most_clocks };
                    let best = wider::optimal(&sizes, &costs, root, class, engine, &()).unwrap();
                    let tree =
                        deadline_tree(&sizes, &costs, Class::Consecutive, root, effort).unwrap();
                    let time = costs.completion_time(&tree, &sizes).unwrap().units();
                    let above = 100.0 * (time / best.at_least - 1.0);
                    assert!(above >= 0.0, "{distribution:?} {mean_block} {latency} {root:?}");
                    (sum, most, count) = (sum + above, most.max(above), count + 1);
                }
            }
        }
    }
    (sum / f64::from(count), most)
}

#[test]
fn deadline_trees_are_within_some_per_cent_on_the_distributions() {
    for (ranks, effort, most_mean, most) in [
        (64, Effort::Full, 0.5, 3.0),
        (64, Effort::Light, 1.0, 5.0),
        (256, Effort::Full, 0.5, 3.0),
        (256, Effort::Light, 1.0, 4.0),
    ] {
        let (mean, worst) = above_optimum(ranks, effort, 8);
        println!("{ranks} {effort:?}: mean {mean:.3} %, worst {worst:.2} %");
        assert!(mean <= most_mean && worst <= most, "{ranks} {effort:?}: {mean} {worst}");
    }
}
