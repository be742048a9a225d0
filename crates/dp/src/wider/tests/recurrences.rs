//! The plain recurrences against every tree, and what holds of them: when copies come, that times rise with ranges,
//! which classes hold which trees.

use super::exhaustive::{Exhaustive, every_tree};
use super::*;
use crate::{Method, optimal_adjacent, optimal_binary};
use tuwtree_model::{Step, check_ordered, completion_time};

/// The plain recurrence's value for each root, and the best of all.
fn plain_values(law: &impl Receiving<i64>, class: Class) -> (Vec<i64>, i64) {
    let value = |root| plain::table(law, class, root, &()).unwrap().value();
    ((0..law.ranks()).map(|root| value(Root::Given(root))).collect(), value(Root::Best))
}

fn check_against_every_tree(law: &impl Receiving<i64>, trees: &Exhaustive, class: Class) {
    let least = trees.least(law);
    let best = *least.iter().min().unwrap();
    assert_eq!(plain_values(law, class), (least, best));
}

#[test]
fn plain_recurrences_find_the_best_of_every_tree() {
    let mut random = Random(1);
    for (ranks, count) in problems(&[(2, 500), (3, 1000), (4, 1500), (5, 1500), (6, 500), (7, 20)])
    {
        for class in Class::ALL {
            let trees = Exhaustive::new(class, ranks);
            for problem in 0..count {
                let (sizes, costs) = (random.sizes_of(ranks), random.costs(problem % 3 == 0));
                check_against_every_tree(&scaled(&sizes, &costs), &trees, class);
            }
        }
    }
}

#[test]
fn plain_recurrences_find_the_best_of_every_tree_for_port_times_with_jumps() {
    let mut random = Random(2);
    for (ranks, count) in problems(&[(3, 400), (4, 600), (5, 600), (6, 100)]) {
        for class in Class::ALL {
            let trees = Exhaustive::new(class, ranks);
            for _ in 0..count {
                let sizes = random.sizes_of(ranks);
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
        for rank in 0..trees[0].ranks() {
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
        let ranks = 1 + random.below(14) as usize;
        let (sizes, costs) = (random.sizes_of(ranks), monotone(&mut random));
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
fn times_rise_with_ranges() {
    let mut random = Random(12);
    for _ in 0..6000 {
        let ranks = 1 + random.below(12) as usize;
        let root = match random.below(2) {
            0 => Root::Best,
            _ => Root::Given(random.below(ranks as u64) as usize),
        };
        let sizes = without_empty_blocks(&random.sizes_of(ranks), root);
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
    let (p, root) = (table.ranks(), table.root());
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

/// The tree with the copy of one of its ranks after so many of its children.
fn with_later_copy(tree: &Tree, rank: Rank, place: usize) -> Tree {
    let mut steps: Vec<(Rank, Step)> = Vec::new();
    for at in 0..tree.ranks() {
        let mut own: Vec<Step> = tree.steps(at).collect();
        if at == rank {
            own[..=place].rotate_left(1);
        }
        steps.extend(own.into_iter().map(|step| (at, step)));
    }
    Tree::new(tree.ranks(), tree.root(), &steps).unwrap()
}

/// The tree with the copy of one of its ranks in every later place.
fn with_later_copies(tree: &Tree) -> Vec<Tree> {
    let places =
        (0..tree.ranks()).flat_map(|rank| (1..=tree.degree(rank)).map(move |place| (rank, place)));
    places.map(|(rank, place)| with_later_copy(tree, rank, place)).collect()
}

#[test]
fn trees_are_of_their_class_and_attain_the_value() {
    let mut random = Random(4);
    for problem in 0..6000 {
        let ranks = 1 + random.below(14) as usize;
        let (sizes, costs) = (random.sizes_of(ranks), random.costs(problem % 3 == 0));
        let law = scaled(&sizes, &costs);
        let given = Root::Given(random.below(ranks as u64) as usize);
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
        let ranks = 1 + random.below(14) as usize;
        let (sizes, costs) = (random.sizes_of(ranks), random.costs(problem % 3 == 0));
        let one_port = *costs.occupancy();
        let costs = Overlapping::from(one_port);
        let law = scaled(&sizes, &costs);
        let root = match random.below(ranks as u64 + 1) as usize {
            root if root < ranks => Root::Given(root),
            _ => Root::Best,
        };
        let adjacent =
            optimal_adjacent(&gather(&sizes, &one_port, root), Method::Plain, &()).unwrap();
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
        optimal_adjacent(&gather(&sizes, &one_port, root), Method::Plain, &()).unwrap().value,
        118_042.0
    );
    let law = scaled(&sizes, &one_port.into());
    let value = |class| plain::table(&law, class, root, &()).unwrap().value();
    assert_eq!(value(Class::CopyFirst), 118_042);
    assert_eq!(value(Class::Consecutive), 88_042);
}
