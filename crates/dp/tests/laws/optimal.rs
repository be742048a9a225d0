//! The dynamic programs against the exhaustive search of all ordered trees.

use proptest::prelude::*;
use tuwtree_dp::{
    DpError, Method, Optimum, Progress, default_method, optimal_adjacent, optimal_binary,
};
use tuwtree_laws::all_trees::least_of;
use tuwtree_laws::ordered_trees::{MOST, OrderedClass, has_two_left_subtrees, ordered_trees};
use tuwtree_laws::problems::{gather, with_each_root};
use tuwtree_model::{BlockSizes, ClosedSet, Homogeneous, Problem, Root, completion_time};

type Program = fn(&Problem, Method, &dyn Progress) -> Result<Optimum, DpError>;

/// Every method's value is the least over the class and its tree attains it, for every root.
fn is_least(program: Program, methods: &[Method], class: OrderedClass, problem: &Problem) {
    let costs = problem.costs().homogeneous(problem.ranks()).unwrap();
    for problem in with_each_root(problem) {
        let least = least_of(ordered_trees(class, problem.ranks()), &problem);
        for &method in methods.iter().filter(|method| method.admits(&costs)) {
            let optimum = program(&problem, method, &()).unwrap();
            let time = completion_time(&optimum.tree, &problem).unwrap().units();
            let root = problem.root();
            assert_eq!((optimum.value, time), (least, least), "{method:?} {root:?}");
        }
    }
}

/// The methods that find binary trees.
fn binary_methods() -> Vec<Method> {
    Method::all().filter(|method| method.finds_binary_trees()).collect()
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
        is_least(optimal_adjacent, Method::ALL, OrderedClass::Ordered, &gather(&sizes, costs, Root::Best));
    }

    #[test]
    fn optimal_binary_is_the_least_over_all_ordered_binary_trees(
        sizes in block_sizes(),
        costs in costs(),
    ) {
        let problem = gather(&sizes, costs, Root::Best);
        is_least(optimal_binary, &binary_methods(), OrderedClass::Binary, &problem);
    }
}

#[test]
fn a_binary_tree_can_beat_the_optimum_over_joined_ranges() {
    let sizes = BlockSizes::new([3, 3, 1, 4]).unwrap();
    let problem = gather(&sizes, Homogeneous::new(2.0, 1.0, 0.0).unwrap(), Root::Best);
    for method in Method::all() {
        assert_eq!(optimal_adjacent(&problem, method, &()).unwrap().value, 12.0);
    }
    for method in binary_methods() {
        let binary = optimal_binary(&problem, method, &()).unwrap();
        assert_eq!(binary.value, 11.0);
        assert!(has_two_left_subtrees(&binary.tree));
    }
}

#[test]
fn the_published_partition_instance_as_an_ordered_problem_takes_983() {
    // OPT section 4: 10 m_i + 1 for the ten numbers, then the two large blocks.
    let sizes = BlockSizes::new([21, 31, 31, 31, 41, 41, 41, 61, 61, 131, 240, 250]).unwrap();
    let problem = gather(&sizes, Homogeneous::new(1.0, 1.0, 1.0).unwrap(), Root::Best);
    for method in Method::all() {
        assert_eq!(optimal_adjacent(&problem, method, &()).unwrap().value, 983.0);
    }
    assert_eq!(default_method(&problem), Method::Dense);
}
