//! The run-length method against the plain recurrence, by value and by tree.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use tuwtree_model::{
    BlockSizes, Homogeneous, Problem, Rank, Root, Scalar, ScaledSizes, Step, completion_time,
};
use tuwtree_runs::{RunsError, Solution, optimal};

/// The least completion time by the plain recurrence, in O(p^3): OPT Figs. 4 to 6, completed.
///
/// Floating-point costs are as good as integers here.
fn plain(sizes: &[u64], costs: &Homogeneous, root: Root) -> f64 {
    let n = sizes.len();
    let mut prefix = vec![0];
    sizes.iter().for_each(|size| prefix.push(prefix[prefix.len() - 1] + size));
    let sent = |i: usize, j: usize| {
        let bytes = prefix[j + 1] - prefix[i];
        if bytes > 0 { costs.alpha() + costs.beta() * bytes as f64 } else { 0.0 }
    };
    let copy = |i: usize| costs.gamma() * sizes[i] as f64;
    let mut free = vec![vec![0.0_f64; n]; n];
    for i in (0..n).rev() {
        for j in i + 1..n {
            let mut best = f64::INFINITY;
            for k in i..j {
                let (left, right) = (free[i][k], free[k + 1][j]);
                let by_left = if i < k { left } else { copy(i) }.max(right) + sent(k + 1, j);
                let by_right = if k + 1 < j {
                    left.max(right) + sent(i, k)
                } else {
                    left + sent(i, k) + copy(j)
                };
                best = best.min(by_left).min(by_right);
            }
            free[i][j] = best;
        }
    }
    let Root::Given(root) = root else { return free[0][n - 1] };
    let mut fixed = vec![vec![0.0_f64; n]; n];
    for i in (0..=root).rev() {
        for j in root..n {
            if i == j {
                continue;
            }
            let mut best = f64::INFINITY;
            for k in root..j {
                let left = if i < k { fixed[i][k] } else { copy(root) };
                best = best.min(left.max(free[k + 1][j]) + sent(k + 1, j));
            }
            for k in i..root {
                best = best.min(if k + 1 == j {
                    free[i][k] + sent(i, k) + copy(root)
                } else {
                    free[i][k].max(fixed[k + 1][j]) + sent(i, k)
                });
            }
            fixed[i][j] = best;
        }
    }
    fixed[0][n - 1]
}

/// The solution for a problem, without limits.
fn solve<T: Scalar>(sizes: &[u64], costs: &Homogeneous, root: Root) -> Solution<T> {
    let blocks = BlockSizes::new(sizes.iter().copied()).unwrap();
    let scaled = ScaledSizes::<T>::new(costs, &blocks).unwrap();
    let go_on = |_, _| ControlFlow::Continue(());
    let solution = optimal(&scaled, root, u64::MAX, &go_on).unwrap();
    let problem = Problem::gather(&blocks, costs).unwrap();
    let time = completion_time(&solution.tree, &problem).unwrap().units();
    let error = (time - solution.time.units()).abs();
    assert!(error <= rounding(time, &blocks, costs), "{time} {:?}", solution.time);
    if let Root::Given(root) = root {
        assert_eq!(solution.tree.root(), root);
    }
    solution
}

/// The difference that rounding may make to a time: with integer costs none, otherwise a few units
/// in the last place of the time, and of the problem's whole volume, which prefix sums reach.
fn rounding(time: f64, sizes: &BlockSizes, costs: &Homogeneous) -> f64 {
    let volume = costs.beta() * sizes.total() as f64;
    if costs.is_integral() { 0.0 } else { 64.0 * f64::EPSILON * (time + volume) }
}

/// Fails unless each rank's segment is a range of ranks at every moment.
fn assert_ordered(tree: &tuwtree_model::Tree) {
    let mut segments: Vec<(Rank, Rank)> = (0..tree.ranks()).map(|rank| (rank, rank)).collect();
    for rank in tree.top_down().into_iter().rev() {
        for step in tree.steps(rank) {
            if let Step::Receive(child) = step {
                let (own, other) = (segments[rank], segments[child]);
                assert!(own.1 + 1 == other.0 || other.1 + 1 == own.0, "{tree:?}");
                segments[rank] = (own.0.min(other.0), own.1.max(other.1));
            }
        }
    }
}

/// A small linear congruential generator: the tests need variety, not quality.
struct RandomNumbers(u64);

impl RandomNumbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (self.0 >> 33) % bound
    }

    fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }

    fn root(&mut self, ranks: usize) -> Root {
        if self.below(2) == 0 { Root::Best } else { Root::Given(self.below(ranks as u64) as Rank) }
    }
}

/// Sizes that provoke ties, spikes, slopes and gaps.
fn adversarial(random: &mut RandomNumbers, ranks: usize) -> Vec<u64> {
    let top = random.pick(&[1, 2, 3, 5, 10, 30, 1000, 100_000]);
    let mut sizes: Vec<u64> = (0..ranks).map(|_| 1 + random.below(top)).collect();
    match random.below(8) {
        0 => sizes.sort_unstable(),
        1 => sizes.sort_unstable_by(|a, b| b.cmp(a)),
        2 => sizes.iter_mut().for_each(|size| *size = random.pick(&[1, 1, 1, 1 + top])),
        3 => sizes.iter_mut().for_each(|size| *size = 1 << random.below(20)),
        _ => {}
    }
    let zeros = random.below(8);
    for size in &mut sizes {
        if random.below(10) < zeros {
            *size = 0;
        }
    }
    sizes
}

/// Costs with `gamma <= beta`, extremes included.
fn integral_costs(random: &mut RandomNumbers) -> Homogeneous {
    let beta = random.pick(&[0, 1, 1, 1, 2, 3]);
    let gamma = random.below(beta + 1);
    let alpha = random.pick(&[0.0, 1.0, 2.0, 5.0, 10.0, 100.0, 1e4, 1e8]);
    Homogeneous::new(alpha, beta as f64, gamma as f64).unwrap()
}

/// The environment's `TUWTREE_RUNS_CASES`, times as many cases (1 by default).
fn scale() -> u64 {
    std::env::var("TUWTREE_RUNS_CASES").map_or(1, |cases| cases.parse().expect("a number"))
}

#[test]
fn small_problems_have_the_plain_recurrences_value_and_an_ordered_tree_of_it() {
    let mut random = RandomNumbers(7);
    for _ in 0..200_000 * scale() {
        let ranks = 1 + random.below(14) as usize;
        let sizes = adversarial(&mut random, ranks);
        let costs = integral_costs(&mut random);
        let root = random.root(ranks);
        let solution = solve::<i64>(&sizes, &costs, root);
        let expected = plain(&sizes, &costs, root);
        assert_eq!(solution.time as f64, expected, "{sizes:?} {costs:?} {root:?}");
        assert_ordered(&solution.tree);
    }
}

#[test]
fn larger_problems_too() {
    let mut random = RandomNumbers(11);
    for _ in 0..300 * scale() {
        let ranks = 50 + random.below(250) as usize;
        let sizes = adversarial(&mut random, ranks);
        let costs = integral_costs(&mut random);
        let root = random.root(ranks);
        let solution = solve::<i64>(&sizes, &costs, root);
        assert_eq!(
            solution.time as f64,
            plain(&sizes, &costs, root),
            "{sizes:?} {costs:?} {root:?}"
        );
        assert_ordered(&solution.tree);
    }
}

#[test]
fn the_best_root_is_the_best_of_all_given_roots() {
    let mut random = RandomNumbers(19);
    for case in 0..2000 * scale() {
        let ranks = 1 + random.below(if case % 100 == 0 { 200 } else { 20 }) as usize;
        let sizes = adversarial(&mut random, ranks);
        let costs = integral_costs(&mut random);
        let best = solve::<i64>(&sizes, &costs, Root::Best);
        let times = (0..ranks).map(|root| {
            let solution = solve::<i64>(&sizes, &costs, Root::Given(root));
            assert!(root != best.tree.root() || solution.time == best.time, "{sizes:?} {costs:?}");
            solution.time
        });
        assert_eq!(times.min(), Some(best.time), "{sizes:?} {costs:?}");
    }
}

#[test]
fn costs_that_are_not_integers_give_the_plain_recurrences_value_but_for_rounding() {
    let mut random = RandomNumbers(13);
    for _ in 0..20_000 * scale() {
        let ranks = 1 + random.below(30) as usize;
        let sizes = adversarial(&mut random, ranks);
        let real =
            |random: &mut RandomNumbers, most: f64| most * random.below(1 << 30) as f64 / 1e9;
        let beta = real(&mut random, 1e-6);
        let gamma = random.pick(&[0.0, beta / 3.0, beta]);
        let alpha = real(&mut random, 1.0) * 10_f64.powi(-(random.below(9) as i32));
        let costs = Homogeneous::new(alpha, beta, gamma).unwrap();
        let root = random.root(ranks);
        let solution = solve::<f64>(&sizes, &costs, root);
        let expected = plain(&sizes, &costs, root);
        let error = (solution.time - expected).abs();
        let allowed = rounding(expected, &BlockSizes::new(sizes.clone()).unwrap(), &costs);
        assert!(error <= allowed, "{error} of {expected}: {sizes:?} {costs:?} {root:?}");
    }
}

#[test]
fn the_number_type_and_the_number_of_threads_do_not_matter() {
    let mut random = RandomNumbers(17);
    let sizes: Vec<u64> = (0..5000).map(|_| 1 + random.below(2000)).collect();
    let costs = Homogeneous::new(100.0, 1.0, 0.0).unwrap();
    for root in [Root::Best, Root::Given(1234)] {
        let wide = solve::<i64>(&sizes, &costs, root);
        let narrow = solve::<i32>(&sizes, &costs, root);
        let real = solve::<f64>(&sizes, &costs, root);
        assert_eq!((wide.time as f64, &wide.tree), (f64::from(narrow.time), &narrow.tree));
        assert_eq!(wide.time as f64, real.time);
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert_eq!(pool.install(|| solve::<i64>(&sizes, &costs, root)), wide);
        }
    }
}

#[test]
fn latencies_too_large_for_32_bits_are_stored_in_64() {
    let sizes = [5, 9, 0, 3, 1 << 40, 7, 2];
    let costs = Homogeneous::new(1e12, 1.0, 1.0).unwrap();
    for root in [Root::Best, Root::Given(2), Root::Given(4)] {
        let solution = solve::<i64>(&sizes, &costs, root);
        assert_eq!(solution.time as f64, plain(&sizes, &costs, root));
    }
}

#[test]
fn fewer_than_two_blocks_are_never_sent() {
    let costs = Homogeneous::new(10.0, 2.0, 1.0).unwrap();
    assert_eq!(solve::<i64>(&[7], &costs, Root::Best).time, 0);
    assert_eq!(solve::<i64>(&[7], &costs, Root::Given(0)).time, 0);
    assert_eq!(solve::<i64>(&[0, 0, 7, 0], &costs, Root::Best).time, 7);
    assert_eq!(solve::<i64>(&[0, 0, 0], &costs, Root::Given(1)).time, 0);
    assert_eq!(solve::<i64>(&[0, 7, 0], &costs, Root::Given(0)).time, 24);
}

#[test]
fn what_cannot_be_done_is_refused() {
    let sizes = BlockSizes::new([4, 0, 3].repeat(1000)).unwrap();
    let go_on = |_, _| ControlFlow::Continue(());
    let slow = Homogeneous::new(1.0, 1.0, 2.0).unwrap();
    let scaled = ScaledSizes::<i64>::new(&slow, &sizes).unwrap();
    assert_eq!(
        optimal(&scaled, Root::Best, u64::MAX, &go_on),
        Err(RunsError::CopyingIsSlower { rank: 0 })
    );
    let costs = Homogeneous::new(1.0, 1.0, 1.0).unwrap();
    let scaled = ScaledSizes::<i64>::new(&costs, &sizes).unwrap();
    let little = optimal(&scaled, Root::Best, 1000, &go_on);
    assert_eq!(little, Err(RunsError::OutOfMemory { memory: 1000 }));
    let stop = |_, _| ControlFlow::Break(());
    assert_eq!(optimal(&scaled, Root::Best, u64::MAX, &stop), Err(RunsError::Cancelled));
}

#[test]
fn progress_ends_with_all_of_the_work() {
    let sizes = BlockSizes::new((0..3000).map(|rank| rank % 7)).unwrap();
    let costs = Homogeneous::new(3.0, 1.0, 0.0).unwrap();
    let scaled = ScaledSizes::<i64>::new(&costs, &sizes).unwrap();
    for root in [Root::Best, Root::Given(0), Root::Given(1500), Root::Given(2999)] {
        let (most, whole) = (AtomicU64::new(0), AtomicU64::new(0));
        let note = |done, total| {
            most.fetch_max(done, Ordering::Relaxed);
            whole.store(total, Ordering::Relaxed);
            ControlFlow::Continue(())
        };
        optimal(&scaled, root, u64::MAX, &note).unwrap();
        assert_eq!(most.into_inner(), whole.into_inner());
    }
}
