//! The dynamic programs against the exhaustive search of all ordered trees.

use super::ordered_trees::{Class, MOST, ordered_trees};
use super::problems;
use proptest::prelude::*;
use tuwtree_dp::{
    DpError, Method, Optimum, default_binary_method, default_method, optimal, optimal_binary,
};
use tuwtree_model::{
    BlockSizes, Homogeneous, Rank, Root, Step, Tree, check_ordered, completion_time,
    joins_adjacent_ranges, lower_bound,
};
use tuwtree_treegen::{AdaptiveRule, adaptive, linear, oblivious};

type Program = fn(&BlockSizes, &Homogeneous, Root, Method) -> Result<Optimum, DpError>;

/// The least completion time over all trees of a class, from the definition.
fn least_time(class: Class, sizes: &BlockSizes, costs: &Homogeneous, root: Root) -> f64 {
    ordered_trees(class, sizes.processors())
        .iter()
        .filter(|tree| root == Root::Best || root == Root::Given(tree.root()))
        .map(|tree| completion_time(tree, sizes, costs).unwrap().units())
        .fold(f64::INFINITY, f64::min)
}

/// Every method's value is the least over the class and its tree attains it, for every root.
fn is_least(
    (program, methods): (Program, &[Method]),
    class: Class,
    sizes: &BlockSizes,
    costs: &Homogeneous,
) {
    let given = (0..sizes.processors()).map(Root::Given);
    for root in given.chain([Root::Best]) {
        let least = least_time(class, sizes, costs, root);
        for &method in methods.iter().filter(|method| method.admits(costs)) {
            let optimum = program(sizes, costs, root, method).unwrap();
            let time = completion_time(&optimum.tree, sizes, costs).unwrap().units();
            assert_eq!((optimum.value, time), (least, least), "{method:?} {root:?}");
        }
    }
}

/// Blocks that are often empty, tied or far apart.
fn block_sizes() -> impl Strategy<Value = BlockSizes> {
    let block = prop_oneof![Just(0), Just(1), 1..4_u64, 1..30_u64, Just(100)];
    prop::collection::vec(block, 1..=MOST).prop_map(|sizes| BlockSizes::new(sizes).unwrap())
}

/// Any costs, gamma > beta included.
fn costs() -> impl Strategy<Value = Homogeneous> {
    let alpha = prop_oneof![Just(0), Just(1), 0..20, Just(1000)];
    (alpha, 0..4, 0..6).prop_map(|(alpha, beta, gamma)| {
        Homogeneous::new(f64::from(alpha), f64::from(beta), f64::from(gamma)).unwrap()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn optimal_is_the_least_over_all_ordered_trees(sizes in block_sizes(), costs in costs()) {
        is_least((optimal, &Method::ALL), Class::Ordered, &sizes, &costs);
    }

    #[test]
    fn optimal_binary_is_the_least_over_all_ordered_binary_trees(
        sizes in block_sizes(),
        costs in costs(),
    ) {
        is_least((optimal_binary, &Method::BINARY), Class::Binary, &sizes, &costs);
    }
}

/// Whether some processor receives two subtrees from its left before its own block: the shape of
/// binary trees that no join of ranges that hold their own root makes.
fn has_two_left_subtrees(tree: &Tree) -> bool {
    (0..tree.processors())
        .any(|rank| tree.steps(rank).take_while(|step| *step != Step::Copy).count() == 2)
}

/// All other constructions' trees for a root, the optimal binary one last.
fn rivals(sizes: &BlockSizes, costs: &Homogeneous, root: Rank) -> Vec<Tree> {
    let processors = sizes.processors();
    let mut trees = vec![linear(processors, root).unwrap(), oblivious(processors, root).unwrap()];
    trees.extend(
        AdaptiveRule::ALL.map(|rule| adaptive(sizes, costs, Root::Given(root), rule).unwrap()),
    );
    trees.push(
        optimal_binary(sizes, costs, Root::Given(root), default_binary_method(costs)).unwrap().tree,
    );
    trees
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn nothing_beats_optimal_but_two_left_subtrees(
        sizes in problems::sizes(24), costs in problems::costs(), root in 0..24_usize,
    ) {
        let root = root % sizes.processors();
        let method = default_method(&sizes, &costs);
        let best = optimal(&sizes, &costs, Root::Best, method).unwrap();
        let given = optimal(&sizes, &costs, Root::Given(root), method).unwrap();
        prop_assert!(best.value <= given.value);
        prop_assert_eq!(check_ordered(&best.tree), Ok(()));
        prop_assert_eq!(check_ordered(&given.tree), Ok(()));
        let bound = lower_bound(root, &sizes, &costs).unwrap().units();
        prop_assert!(given.value >= bound);
        prop_assert!(joins_adjacent_ranges(&best.tree) && joins_adjacent_ranges(&given.tree));
        let rivals = rivals(&sizes, &costs, root);
        let mut times = Vec::new();
        for tree in &rivals {
            prop_assert_eq!(check_ordered(tree), Ok(()));
            let time = completion_time(tree, &sizes, &costs).unwrap().units();
            prop_assert!(time >= bound);
            times.push(time);
        }
        // The binary tree comes last, and alone may be no join of adjacent ranges.
        let binary = times.pop().unwrap();
        prop_assert!(times.iter().all(|&time| given.value <= time), "{:?}", times);
        prop_assert!(given.value <= binary || has_two_left_subtrees(rivals.last().unwrap()));
    }
}

#[test]
fn a_binary_tree_can_beat_the_optimum_over_joined_ranges() {
    let sizes = BlockSizes::new([3, 3, 1, 4]).unwrap();
    let costs = Homogeneous::new(2.0, 1.0, 0.0).unwrap();
    for method in Method::ALL {
        assert_eq!(optimal(&sizes, &costs, Root::Best, method).unwrap().value, 12.0);
    }
    for method in Method::BINARY {
        let binary = optimal_binary(&sizes, &costs, Root::Best, method).unwrap();
        assert_eq!(binary.value, 11.0);
        assert!(has_two_left_subtrees(&binary.tree));
    }
}

#[test]
fn the_published_partition_instance_as_an_ordered_problem_takes_983() {
    // OPT section 4: 10 m_i + 1 for the ten numbers, then the two large blocks.
    let sizes = BlockSizes::new([21, 31, 31, 31, 41, 41, 41, 61, 61, 131, 240, 250]).unwrap();
    let costs = Homogeneous::new(1.0, 1.0, 1.0).unwrap();
    for method in Method::ALL {
        assert_eq!(optimal(&sizes, &costs, Root::Best, method).unwrap().value, 983.0);
    }
    assert_eq!(default_method(&sizes, &costs), Method::Dense);
}
