//! The dynamic programs against the exhaustive search of all ordered trees.

use proptest::prelude::*;
use tuwtree_dp::{DpError, Method, Optimum, default_method, optimal, optimal_binary};
use tuwtree_laws::ordered_trees::{Class, MOST, has_two_left_subtrees, ordered_trees};
use tuwtree_model::{BlockSizes, Homogeneous, Root, completion_time};

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
