//! The recurrences against every tree, the engines against each other, on adversarial problems.

mod in_pieces;
mod large;

use super::empty::Kept;
use super::exhaustive::{Exhaustive, every_tree};
use super::{
    BySize, Class, Effort, Engine, Overlapping, Receiving, Scaled, Table, deadline_tree, dense,
    plain, tree,
};
use crate::random::{Random, problems};
use crate::{DpError, Method, Progress, optimal, optimal_binary, wider};
use std::ops::ControlFlow;
use std::sync::Mutex;
use tuwtree_model::{
    BlockSizes, Distribution, DistributionParameters, Homogeneous, Problem, Randomness, Rank, Root,
    Step, Tree, check_ordered, completion_time,
};

/// The gather on one port, where nothing overlaps.
fn gather(sizes: &BlockSizes, costs: &Homogeneous, root: Root) -> Problem {
    Problem::gather(sizes, costs).unwrap().with_root(root).unwrap()
}

impl Random {
    /// Sizes that are often empty, tiny, tied or spiky.
    fn sizes_of(&mut self, processors: usize) -> BlockSizes {
        let (style, p) = (self.below(6), processors as u64);
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

/// The plain recurrence's value for each root, and the best of all.
fn plain_values(law: &impl Receiving<i64>, class: Class) -> (Vec<i64>, i64) {
    let value = |root| plain::table(law, class, root, &()).unwrap().value();
    ((0..law.processors()).map(|root| value(Root::Given(root))).collect(), value(Root::Best))
}

fn check_against_every_tree(law: &impl Receiving<i64>, trees: &Exhaustive, class: Class) {
    let least = trees.least(law);
    let best = *least.iter().min().unwrap();
    assert_eq!(plain_values(law, class), (least, best));
}

#[test]
fn plain_recurrences_find_the_best_of_every_tree() {
    let mut random = Random(1);
    for (processors, count) in
        problems(&[(2, 500), (3, 1000), (4, 1500), (5, 1500), (6, 500), (7, 20)])
    {
        for class in Class::ALL {
            let trees = Exhaustive::new(class, processors);
            for problem in 0..count {
                let (sizes, costs) = (random.sizes_of(processors), random.costs(problem % 3 == 0));
                check_against_every_tree(&scaled(&sizes, &costs), &trees, class);
            }
        }
    }
}

#[test]
fn plain_recurrences_find_the_best_of_every_tree_for_port_times_with_jumps() {
    let mut random = Random(2);
    for (processors, count) in problems(&[(3, 400), (4, 600), (5, 600), (6, 100)]) {
        for class in Class::ALL {
            let trees = Exhaustive::new(class, processors);
            for _ in 0..count {
                let sizes = random.sizes_of(processors);
                let law = random.by_size(&sizes);
                check_against_every_tree(&law, &trees, class);
            }
        }
    }
}

/// Whether copies that come later, or too late, ever help.
#[test]
fn no_tree_gains_by_copying_later() {
    let mut random = Random(3);
    for _ in 0..3000 {
        let sizes = random.sizes_of(5);
        let dear = random.below(2) == 0;
        let costs = random.costs(dear);
        let law = scaled(&sizes, &costs);
        for class in Class::ALL {
            let table = plain::table(&law, class, Root::Best, &()).unwrap();
            let first = tree(&law, &table);
            let time = |tree: &Tree| costs.completion_time(tree, &sizes).unwrap();
            for later in with_later_copies(&first) {
                assert!(time(&first) <= time(&later), "{sizes:?} {costs:?}");
            }
        }
    }
}

#[test]
fn consecutive_trees_are_the_ordered_ones_but_for_when_they_copy() {
    for tree in (1..=5).flat_map(every_tree) {
        let mut trees = vec![tree];
        // Every place for every copy.
        for rank in 0..trees[0].processors() {
            let places = 1..=trees[0].degree(rank);
            let later: Vec<Tree> = trees
                .iter()
                .flat_map(|tree| places.clone().map(|place| with_later_copy(tree, rank, place)))
                .collect();
            trees.extend(later);
        }
        let ordered = trees.iter().any(|tree| check_ordered(tree).is_ok());
        assert_eq!(ordered, Class::Consecutive.check(&trees[0]).is_ok(), "{:?}", trees[0]);
    }
}

#[test]
fn strongly_ordered_binary_trees_are_consecutive() {
    let mut random = Random(11);
    for _ in 0..3000 {
        let processors = 1 + random.below(14) as usize;
        let (sizes, costs) = (random.sizes_of(processors), monotone(&mut random));
        let one_port = *costs.occupancy();
        let binary =
            optimal_binary(&gather(&sizes, &one_port, Root::Best), Method::Plain, &()).unwrap();
        assert_eq!(Class::Consecutive.check(&binary.tree), Ok(()), "{sizes:?} {costs:?}");
        let table =
            plain::table(&scaled(&sizes, &one_port.into()), Class::Consecutive, Root::Best, &());
        assert!(table.unwrap().value() as f64 <= binary.value, "{sizes:?} {costs:?}");
    }
}

#[test]
fn dense_is_plain_on_the_distributions() {
    let mut random = Random(13);
    for distribution in Distribution::published() {
        let scale = DistributionParameters::new(250, 1000);
        let sizes = distribution.sizes(scale, Randomness::default()).unwrap();
        let root = match random.below(2) {
            0 => Root::Best,
            _ => Root::Given(random.below(250) as usize),
        };
        let sizes = without_empty_blocks(&sizes, root);
        for (latency, overhead) in [(0.0, 5200.0), (2600.0, 2600.0), (18_000.0, 2000.0)] {
            let costs = Overlapping::new(latency, overhead, 1.0, 0.0).unwrap();
            let law = scaled(&sizes, &costs);
            for class in Class::ALL {
                let plain = plain::table(&law, class, root, &()).unwrap();
                let dense = dense::table(&law, class, root, &()).unwrap();
                assert_same(&dense, &plain, &(distribution, root, latency));
            }
        }
    }
}

#[test]
fn times_rise_with_ranges() {
    let mut random = Random(12);
    for _ in 0..6000 {
        let processors = 1 + random.below(12) as usize;
        let root = match random.below(2) {
            0 => Root::Best,
            _ => Root::Given(random.below(processors as u64) as usize),
        };
        let sizes = without_empty_blocks(&random.sizes_of(processors), root);
        let costs = fitting(&mut random, &sizes);
        let law = scaled(&sizes, &costs);
        for class in Class::ALL {
            let table = plain::table(&law, class, root, &()).unwrap();
            check_monotone(&law, &table, &(class, root, &sizes, &costs));
        }
    }
}

/// (L) and (R) for `C`, `F` and `U`; and each pair takes as long as the copies in it.
fn check_monotone(law: &Scaled<i64>, table: &Table<i64>, context: &impl std::fmt::Debug) {
    let (p, root) = (table.processors(), table.root());
    let holds_root = |i: Rank, j: Rank| root.is_some_and(|root| (i..=j).contains(&root));
    for i in 0..p {
        for j in i..p {
            let longer = [(i.wrapping_sub(1), j), (i, j + 1)];
            for (first, last) in longer.into_iter().filter(|&(i, j)| i < p && j < p) {
                if holds_root(i, j) != holds_root(first, last) {
                    continue;
                }
                assert!(table.cost(i, j) <= table.cost(first, last), "[{i}..{j}] {context:?}");
                if i == j {
                    assert!(law.copy(i) <= table.cost(first, last), "[{i}] {context:?}");
                }
                let away = table.class() == Class::Consecutive && !holds_root(i, j);
                let on_side = |rank: Rank| {
                    Some(rank) == root || root.map(|r| rank < r) == root.map(|r| i < r)
                };
                let receivers = (0..p).filter(|rank| !(first..=last).contains(rank));
                for receiver in receivers.filter(|&rank| away && on_side(rank)) {
                    let (short, long) =
                        (table.away(receiver, i, j), table.away(receiver, first, last));
                    assert!(short <= long, "[{i}..{j}] at {receiver} {context:?}");
                }
            }
        }
    }
}

/// The tree with the copy of one of its processors after so many of its children.
fn with_later_copy(tree: &Tree, rank: Rank, place: usize) -> Tree {
    let mut steps: Vec<(Rank, Step)> = Vec::new();
    for processor in 0..tree.processors() {
        let mut own: Vec<Step> = tree.steps(processor).collect();
        if processor == rank {
            own[..=place].rotate_left(1);
        }
        steps.extend(own.into_iter().map(|step| (processor, step)));
    }
    Tree::new(tree.processors(), tree.root(), &steps).unwrap()
}

/// The tree with the copy of one of its processors in every later place.
fn with_later_copies(tree: &Tree) -> Vec<Tree> {
    let places = (0..tree.processors())
        .flat_map(|rank| (1..=tree.degree(rank)).map(move |place| (rank, place)));
    places.map(|(rank, place)| with_later_copy(tree, rank, place)).collect()
}

#[test]
fn trees_are_of_their_class_and_attain_the_value() {
    let mut random = Random(4);
    for problem in 0..6000 {
        let processors = 1 + random.below(14) as usize;
        let (sizes, costs) = (random.sizes_of(processors), random.costs(problem % 3 == 0));
        let law = scaled(&sizes, &costs);
        let given = Root::Given(random.below(processors as u64) as usize);
        for (class, root) in
            Class::ALL.into_iter().flat_map(|class| [(class, Root::Best), (class, given)])
        {
            let table = plain::table(&law, class, root, &()).unwrap();
            let tree = tree(&law, &table);
            assert_eq!(class.check(&tree), Ok(()), "{root:?} {sizes:?} {costs:?}");
            assert!(root == Root::Best || root == Root::Given(tree.root()));
            let time = costs.completion_time(&tree, &sizes).unwrap();
            assert_eq!(time.units(), table.value() as f64, "{root:?} {sizes:?} {costs:?}");
        }
    }
}

#[test]
fn without_lambda_times_are_those_of_the_one_port_model() {
    let mut random = Random(5);
    for problem in 0..3000 {
        let processors = 1 + random.below(14) as usize;
        let (sizes, costs) = (random.sizes_of(processors), random.costs(problem % 3 == 0));
        let one_port = *costs.occupancy();
        let costs = Overlapping::from(one_port);
        let law = scaled(&sizes, &costs);
        let root = match random.below(processors as u64 + 1) as usize {
            root if root < processors => Root::Given(root),
            _ => Root::Best,
        };
        let adjacent = optimal(&gather(&sizes, &one_port, root), Method::Plain, &()).unwrap();
        let mut bound = adjacent.value;
        let time = completion_time(&adjacent.tree, &gather(&sizes, &one_port, root)).unwrap();
        assert_eq!(costs.completion_time(&adjacent.tree, &sizes), Ok(time));
        assert_eq!(
            Class::CopyFirst.check(&adjacent.tree),
            Ok(()),
            "adjacent trees are of the class"
        );
        for class in Class::ALL {
            let table = plain::table(&law, class, root, &()).unwrap();
            let tree = tree(&law, &table);
            let time = completion_time(&tree, &gather(&sizes, &one_port, root)).unwrap().units();
            assert_eq!(time, table.value() as f64, "{root:?} {sizes:?} {costs:?}");
            assert!(time <= bound, "wider classes are no worse: {root:?} {sizes:?} {costs:?}");
            bound = time;
        }
    }
}

#[test]
fn skewed_blocks_and_a_root_at_the_far_end_need_a_receiver_that_starts_away() {
    let scale = DistributionParameters::new(48, 1000);
    let sizes = Distribution::Skewed.sizes(scale, Randomness::default()).unwrap();
    let one_port = Homogeneous::new(10_000.0, 1.0, 0.0).unwrap();
    let root = Root::Given(47);
    assert_eq!(
        optimal(&gather(&sizes, &one_port, root), Method::Plain, &()).unwrap().value,
        118_042.0
    );
    let law = scaled(&sizes, &one_port.into());
    let value = |class| plain::table(&law, class, root, &()).unwrap().value();
    assert_eq!(value(Class::CopyFirst), 118_042);
    assert_eq!(value(Class::Consecutive), 88_042);
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
    let (p, root) = (plain.processors(), plain.root());
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

fn check_dense_is_plain(random: &mut Random, processors: usize) {
    let sizes = random.sizes_of(processors);
    let root = match random.below(2) {
        0 => Root::Best,
        _ => Root::Given(random.below(processors as u64) as usize),
    };
    let sizes = without_empty_blocks(&sizes, root);
    let costs = fitting(random, &sizes);
    let law = scaled(&sizes, &costs);
    for class in Class::ALL {
        let plain = plain::table(&law, class, root, &()).unwrap();
        let dense = dense::table(&law, class, root, &()).unwrap();
        assert_same(&dense, &plain, &(root, &sizes, &costs));
    }
}

#[test]
fn dense_is_plain_in_every_cell() {
    let mut random = Random(6);
    for (processors, count) in
        problems(&[(3, 2000), (7, 20_000), (12, 20_000), (25, 1500), (60, 60), (120, 8)])
    {
        for _ in 0..count {
            let processors = 1 + random.below(processors as u64) as usize;
            check_dense_is_plain(&mut random, processors);
        }
    }
}

/// Costs with gamma <= beta, under which empty blocks are nothing.
fn monotone(random: &mut Random) -> Overlapping {
    random.costs(false)
}

#[test]
fn leaving_out_empty_blocks_changes_neither_time_nor_class() {
    let mut random = Random(7);
    for problem in 0..6000 {
        let processors = 1 + random.below(if problem % 20 == 0 { 40 } else { 12 }) as usize;
        let sizes = random.sizes_of(processors);
        let costs = fitting(&mut random, &sizes);
        let given = Root::Given(random.below(processors as u64) as usize);
        for (class, root) in
            Class::ALL.into_iter().flat_map(|class| [(class, Root::Best), (class, given)])
        {
            let by = |engine| wider::optimal(&sizes, &costs, root, class, engine, &()).unwrap();
            let (plain, dense) = (by(Engine::Plain), by(Engine::EXACT));
            let context = (root, &sizes, &costs);
            assert_eq!((dense.time, dense.at_least), (plain.time, plain.time), "{context:?}");
            assert_eq!(class.check(&dense.tree), Ok(()), "{context:?}");
            let time = costs.completion_time(&dense.tree, &sizes).unwrap();
            assert_eq!(time.units(), dense.time, "{context:?}");
            assert!(root == Root::Best || root == Root::Given(dense.tree.root()));
        }
    }
}

#[test]
fn rounded_clocks_give_a_bracket_around_the_optimum() {
    let mut random = Random(8);
    let mut closed = 0;
    for _ in 0..6000 {
        let processors = 2 + random.below(20) as usize;
        let sizes = random.sizes_of(processors);
        let costs = fitting(&mut random, &sizes);
        let root = match random.below(2) {
            0 => Root::Best,
            _ => Root::Given(random.below(processors as u64) as usize),
        };
        let by =
            |engine| wider::optimal(&sizes, &costs, root, Class::Consecutive, engine, &()).unwrap();
        let optimum = by(Engine::EXACT).time;
        let most_clocks = 1 + random.below(4) as usize;
        let kept = Kept::new(&sizes, root);
        let law = scaled(&kept.sizes, &costs);
        let plan = dense::DensePlan::new(&law, Class::Consecutive, kept.root, most_clocks).unwrap();
        let slack = plan.slack() as f64;
        let clocks = wider::clocks_within(&sizes, &costs, root, slack).unwrap();
        assert!(clocks <= most_clocks, "{most_clocks} clocks give {slack}");
        let bracket = by(Engine::Dense { most_clocks });
        let context = (most_clocks, root, &sizes, &costs);
        assert!(bracket.at_least <= optimum && optimum <= bracket.time, "{context:?}");
        assert!(bracket.time - bracket.at_least <= slack, "{context:?}");
        closed += usize::from(bracket.time == bracket.at_least);
    }
    assert!(closed > 3000, "{closed} of 6000 brackets are closed");
}

#[test]
fn a_search_within_some_work_brackets_the_optimum_and_is_exact_with_enough() {
    let mut random = Random(14);
    let mut closed = 0;
    for problem in 0..6000 {
        let processors = 1 + random.below(25) as usize;
        let (sizes, costs) = (random.sizes_of(processors), random.costs(problem % 5 == 0));
        let root = match random.below(2) {
            0 => Root::Best,
            _ => Root::Given(random.below(processors as u64) as usize),
        };
        let by = |class| wider::optimal(&sizes, &costs, root, class, Engine::Plain, &()).unwrap();
        let (optimum, copy_first) = (by(Class::Consecutive).time, by(Class::CopyFirst).time);
        let context = (root, &sizes, &costs);
        for most_cells in [0, 100, 1000] {
            let found = wider::optimal_within(&sizes, &costs, root, most_cells, &()).unwrap();
            assert!(found.at_least <= optimum && optimum <= found.time, "{context:?}");
            assert!(found.time <= copy_first, "{context:?}");
            assert_eq!(Class::Consecutive.check(&found.tree), Ok(()), "{context:?}");
            assert_eq!(check_ordered(&found.tree), Ok(()), "{context:?}");
            let time = costs.completion_time(&found.tree, &sizes).unwrap();
            assert_eq!(time.units(), found.time, "{context:?}");
            closed += usize::from(found.time == found.at_least);
        }
        let enough = wider::outlay(&sizes, &costs, root, 1_000_000).unwrap();
        assert!(enough.is_exact, "{context:?}");
        let found = wider::optimal_within(&sizes, &costs, root, 1_000_000, &()).unwrap();
        assert_eq!((found.time, found.at_least), (optimum, optimum), "{context:?}");
    }
    assert!(closed > 16_000, "{closed} of 18,000 brackets are closed");
}

#[test]
fn a_root_may_be_busy_with_more_than_its_copy() {
    let mut random = Random(15);
    for _ in 0..3000 {
        let processors = 1 + random.below(12) as usize;
        let (sizes, costs) = (random.sizes_of(processors), monotone(&mut random));
        let root = random.below(processors as u64) as usize;
        let start = scaled(&sizes, &costs).copy(root) + random.below(300) as i64;
        let law = scaled(&sizes, &costs).with_busy_root(root, start);
        let least = plain::table(&law, Class::Consecutive, Root::Given(root), &()).unwrap();
        let busy = (root, start as f64);
        let found = wider::optimal_with_busy_root(&sizes, &costs, busy, 1_000_000, &()).unwrap();
        if processors > 1 {
            assert_eq!(found.time, least.value() as f64, "{sizes:?} {costs:?} {busy:?}");
        }
    }
}

#[test]
fn costs_that_are_no_integers_give_the_same_times_up_to_rounding() {
    let mut random = Random(9);
    for _ in 0..300 {
        let sizes = random.sizes_of(30);
        let costs = Overlapping::new(0.7, 0.3, 0.1, 0.03).unwrap();
        for class in Class::ALL {
            let by =
                |engine| wider::optimal(&sizes, &costs, Root::Best, class, engine, &()).unwrap();
            let (plain, dense) = (by(Engine::Plain), by(Engine::EXACT));
            assert!((plain.time - dense.time).abs() <= 1e-12 * plain.time);
            assert!((dense.time - dense.at_least).abs() <= 1e-12 * dense.time);
        }
    }
}

#[test]
fn copies_that_outlast_their_messages_are_left_to_the_plain_engine() {
    let sizes = BlockSizes::new([3, 5, 5]).unwrap();
    let by = |latency, engine| {
        let costs = Overlapping::new(latency, 0.0, 1.0, 3.0).unwrap();
        wider::optimal(&sizes, &costs, Root::Best, Class::Consecutive, engine, &())
    };
    assert_eq!(by(0.0, Engine::EXACT), Err(DpError::GammaExceedsBeta { gamma: 3.0, beta: 1.0 }));
    assert!(by(0.0, Engine::Plain).is_ok());
    // With latency enough, they fit.
    let (plain, dense) = (by(10.0, Engine::Plain).unwrap(), by(10.0, Engine::EXACT).unwrap());
    assert_eq!(plain.time, dense.time);
}

#[test]
fn a_lone_block_that_is_dear_to_copy_is_sent_to_an_empty_rank() {
    let sizes = BlockSizes::new([0, 10, 0]).unwrap();
    let costs = Overlapping::new(0.0, 2.0, 1.0, 3.0).unwrap();
    let class = Class::Consecutive;
    let by = |engine| wider::optimal(&sizes, &costs, Root::Best, class, engine, &());
    assert_eq!(by(Engine::Plain).unwrap().time, 12.0);
    assert_eq!(by(Engine::EXACT), Err(DpError::GammaExceedsBeta { gamma: 3.0, beta: 1.0 }));
    let found = wider::optimal_within(&sizes, &costs, Root::Best, 100, &()).unwrap();
    assert_eq!(found.time, 12.0);
}

#[test]
fn a_root_that_is_none_is_refused() {
    let sizes = BlockSizes::new([3, 5, 5]).unwrap();
    let costs = Overlapping::new(1.0, 1.0, 1.0, 1.0).unwrap();
    for engine in [Engine::Plain, Engine::EXACT] {
        let root = Root::Given(3);
        let error = DpError::RootOutOfRange { root: 3, processors: 3 };
        let optimum = wider::optimal(&sizes, &costs, root, Class::CopyFirst, engine, &());
        assert_eq!(optimum, Err(error.clone()));
        let memory = wider::memory_needed(&sizes, &costs, root, Class::CopyFirst, engine);
        assert_eq!(memory, Err(error));
    }
}

#[test]
fn whoever_watches_sees_all_work_done_and_may_break_off() {
    struct Watcher(Mutex<(u64, u64)>, u64);
    impl Progress for Watcher {
        fn advance(&self, done: u64, total: u64) -> ControlFlow<()> {
            *self.0.lock().unwrap() = (done, total);
            if done < self.1 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        }
    }
    let sizes = BlockSizes::new([1, 5, 2, 2, 9, 1, 7, 3, 4]).unwrap();
    let costs = Overlapping::new(1.0, 1.0, 1.0, 1.0).unwrap();
    for class in Class::ALL {
        for root in [Root::Best, Root::Given(0), Root::Given(3)] {
            for engine in [Engine::Plain, Engine::EXACT, Engine::Dense { most_clocks: 2 }] {
                let watched = |most| {
                    let watch = Watcher(Mutex::default(), most);
                    let solution = wider::optimal(&sizes, &costs, root, class, engine, &watch);
                    (solution, watch.0.into_inner().unwrap())
                };
                let (solution, (done, total)) = watched(u64::MAX);
                assert!(solution.is_ok());
                assert_eq!(done, total, "{class:?} {root:?} {engine:?}");
                assert_eq!(watched(5).0, Err(DpError::Cancelled));
            }
        }
    }
}

#[test]
fn memory_is_known_beforehand() {
    let sizes = BlockSizes::new([1, 2, 3, 4, 5, 6, 7, 8, 0, 9]).unwrap();
    let costs = Overlapping::new(4.0, 1.0, 1.0, 1.0).unwrap();
    let needed =
        |class, root, engine| wider::memory_needed(&sizes, &costs, root, class, engine).unwrap();
    // Nine blocks; clocks 4 to 9.
    assert_eq!(needed(Class::CopyFirst, Root::Best, Engine::EXACT), 45 * 4);
    assert_eq!(needed(Class::Consecutive, Root::Best, Engine::EXACT), 7 * 45 * 4);
    let rounded = Engine::Dense { most_clocks: 2 };
    assert_eq!(needed(Class::Consecutive, Root::Best, rounded), 3 * 45 * 4);
    // The empty block as well, and clocks 0 to 9.
    assert_eq!(needed(Class::Consecutive, Root::Best, Engine::Plain), 11 * 55 * 4);
    // Before rank 7 seven blocks with clocks 4 to 8, after it one with 8 and 9; 8 x 2 ranges hold
    // it.
    let given = needed(Class::Consecutive, Root::Given(7), Engine::EXACT);
    assert_eq!(given, (28 * 6 + 3 + 16) * 4);
}

#[test]
fn deadline_trees_are_of_their_class_and_no_faster_than_the_optimum() {
    let mut random = Random(10);
    let (mut optimal, mut trees, mut most) = (0, 0, 1.0_f64);
    for _ in 0..3000 {
        let processors = 1 + random.below(30) as usize;
        let (sizes, costs) = (random.sizes_of(processors), monotone(&mut random));
        let given = Root::Given(random.below(processors as u64) as usize);
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
fn above_optimum(processors: usize, effort: Effort, most_clocks: usize) -> (f64, f64) {
    let (mut sum, mut most, mut count) = (0.0, 0.0_f64, 0);
    for distribution in Distribution::published() {
        for mean_block in [8, 1000, 20_000] {
            let scale = DistributionParameters::new(processors, mean_block);
            let sizes = distribution.sizes(scale, Randomness::default()).unwrap();
            let largest =
                (0..processors).max_by_key(|&rank| (sizes.block(rank), processors - rank));
            for latency in [0.0, 65_000.0, 119_600.0] {
                // In 40 ps: alpha is 5.2 us, beta 0.08 ns a byte.
                let costs = Overlapping::new(latency, 130_000.0 - latency, 2.0, 1.0).unwrap();
                for root in [0, processors / 2, processors - 1, largest.unwrap()] {
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
    for (processors, effort, most_mean, most) in [
        (64, Effort::Full, 0.5, 3.0),
        (64, Effort::Light, 1.0, 5.0),
        (256, Effort::Full, 0.5, 3.0),
        (256, Effort::Light, 1.0, 4.0),
    ] {
        let (mean, worst) = above_optimum(processors, effort, 8);
        println!("{processors} {effort:?}: mean {mean:.3} %, worst {worst:.2} %");
        assert!(mean <= most_mean && worst <= most, "{processors} {effort:?}: {mean} {worst}");
    }
}
