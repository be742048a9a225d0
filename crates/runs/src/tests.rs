//! Every cell of the tables against the plain recurrence.

use super::control::Control;
use super::kept::KeptBlocks;
use super::tables::Tables;
use std::ops::ControlFlow;
use tuwtree_model::{BlockSizes, Homogeneous, Root, ScaledSizes};

/// `C(i, j)` by the plain recurrence, in integers.
struct Plain {
    sizes: Vec<i64>,
    /// alpha, beta, gamma.
    costs: [i64; 3],
    free: Vec<Vec<i64>>,
}

impl Plain {
    fn new(sizes: &[i64], costs: [i64; 3]) -> Plain {
        let n = sizes.len();
        let mut plain = Plain { sizes: sizes.to_vec(), costs, free: vec![vec![0; n]; n] };
        for i in (0..n).rev() {
            for j in i + 1..n {
                plain.free[i][j] = (i..j).map(|k| plain.cut(i, k, j)).min().unwrap();
            }
        }
        plain
    }

    fn sent(&self, i: usize, j: usize) -> i64 {
        let size: i64 = self.sizes[i..=j].iter().sum();
        if size > 0 { self.costs[0] + self.costs[1] * size } else { 0 }
    }

    fn copy(&self, i: usize) -> i64 {
        self.costs[2] * self.sizes[i]
    }

    fn cut(&self, i: usize, k: usize, j: usize) -> i64 {
        let (left, right) = (self.free[i][k], self.free[k + 1][j]);
        let root_left = if i < k { left } else { self.copy(i) };
        let by_left = root_left.max(right) + self.sent(k + 1, j);
        let by_right = if k + 1 < j {
            left.max(right) + self.sent(i, k)
        } else {
            left + self.sent(i, k) + self.copy(j)
        };
        by_left.min(by_right)
    }

    /// `F(i, j)` for all `i <= root <= j`.
    fn fixed(&self, root: usize) -> Vec<Vec<i64>> {
        let n = self.sizes.len();
        let mut fixed = vec![vec![0; n]; n];
        for i in (0..=root).rev() {
            for j in root..n {
                let by_left = (root..j).map(|k| {
                    let left = if i < k { fixed[i][k] } else { self.copy(root) };
                    left.max(self.free[k + 1][j]) + self.sent(k + 1, j)
                });
                let by_right = (i..root).map(|k| {
                    if k + 1 == j {
                        self.free[i][k] + self.sent(i, k) + self.copy(root)
                    } else {
                        self.free[i][k].max(fixed[k + 1][j]) + self.sent(i, k)
                    }
                });
                fixed[i][j] = by_left.chain(by_right).min().unwrap_or(0);
            }
        }
        fixed
    }
}

/// Compares all cells, for tiles of this side. A range's last kept block is followed by the empty
/// blocks that the table counts with it.
fn compare(sizes: &[i64], costs: [i64; 3], root: Option<usize>, side: usize) {
    let [alpha, beta, gamma] = costs.map(|cost| cost as f64);
    let model = Homogeneous::new(alpha, beta, gamma).unwrap();
    let blocks = BlockSizes::new(sizes.iter().map(|&size| size as u64)).unwrap();
    let scaled = ScaledSizes::<i64>::new(&model, &blocks).unwrap();
    let kept = KeptBlocks::new(&scaled, root.map_or(Root::Best, Root::Given)).unwrap();
    if kept.blocks() < 2 {
        return;
    }
    let go_on = |_, _| ControlFlow::Continue(());
    let control = Control::new(u64::MAX, &go_on);
    let tables = Tables::<i32>::new(&kept, side, &control).unwrap();
    let plain = Plain::new(sizes, costs);
    let fixed = root.map(|root| plain.fixed(root));
    for i in 0..kept.blocks() {
        for j in i + 1..kept.blocks() {
            let end = if j + 1 < kept.blocks() { kept.rank(j + 1) } else { sizes.len() };
            let (first, last) = (kept.rank(i), end - 1);
            let expected = match (&fixed, tables.root_in(i, j)) {
                (Some(fixed), Some(_)) => fixed[first][last],
                _ => plain.free[first][last],
            };
            let found = tables.whole(i, j, &kept);
            assert_eq!(found, expected, "{i}..={j} of {sizes:?}, {costs:?}, {root:?}, side {side}");
        }
    }
}

/// A small linear congruential generator: the tests need variety, not quality.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (self.0 >> 33) % bound
    }

    fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }
}

/// Sizes that provoke ties, spikes, slopes and gaps.
fn adversarial(random: &mut Random, blocks: usize) -> Vec<i64> {
    let top = random.pick(&[1, 2, 3, 5, 10, 30, 1000]);
    let mut sizes: Vec<i64> = (0..blocks).map(|_| 1 + random.below(top) as i64).collect();
    match random.below(6) {
        0 => sizes.sort_unstable(),
        1 => sizes.sort_unstable_by(|a, b| b.cmp(a)),
        2 => sizes.iter_mut().for_each(|size| *size = random.pick(&[1, 1, 1, 1 + top as i64])),
        _ => {}
    }
    let zeros = random.below(7);
    for size in &mut sizes {
        if random.below(7) < zeros {
            *size = 0;
        }
    }
    sizes
}

/// The environment's `TUWTREE_RUNS_CASES`, times as many cases (1 by default).
fn scale() -> u64 {
    std::env::var("TUWTREE_RUNS_CASES").map_or(1, |cases| cases.parse().expect("a number"))
}

#[test]
fn every_cell_equals_the_plain_recurrence() {
    let mut random = Random(1);
    for case in 0..200_000 * scale() {
        let blocks = 1 + random.below(if case % 50 == 0 { 40 } else { 12 }) as usize;
        let sizes = adversarial(&mut random, blocks);
        let beta = random.pick(&[0, 1, 1, 1, 2, 3]);
        let gamma = random.below(beta as u64 + 1) as i64;
        let alpha = random.pick(&[0, 1, 2, 3, 5, 10, 50, 1000]);
        let root = (random.below(2) == 0).then(|| random.below(blocks as u64) as usize);
        let side = 1 << random.below(5);
        compare(&sizes, [alpha, beta, gamma], root, side);
    }
}

#[test]
fn a_single_empty_block_can_be_needed_on_either_side() {
    // Shortening the run of empty blocks before 6 from two to one costs 1.
    for (sizes, time) in [(&[1, 1, 3, 0, 0, 6][..], 12), (&[1, 1, 3, 0, 6][..], 13)] {
        let plain = Plain::new(sizes, [1, 1, 1]);
        assert_eq!(plain.free[0][sizes.len() - 1], time);
        compare(sizes, [1, 1, 1], None, 1);
    }
}

#[test]
fn both_late_candidates_are_needed() {
    let plain = Plain::new(&[2, 9, 2, 9, 9], [10, 1, 1]);
    assert_eq!(plain.free[0][4], 56);
    compare(&[2, 9, 2, 9, 9], [10, 1, 1], None, 4);
}
