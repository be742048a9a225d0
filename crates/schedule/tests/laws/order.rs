//! The order that a tree keeps, told by the tree alone and by the verifier, which knows no trees; and
//! what putting blocks into rank order takes, by the tree and by the pieces of its schedule's messages.

use proptest::prelude::*;
use tuwtree_dp::non_ordered::direct;
use tuwtree_laws::problems::{self, gather, homogeneous, irregular, sizes};
use tuwtree_laws::random_trees::trees;
use tuwtree_model::document::TreeDocument;
use tuwtree_model::{
    BlockSizes, ClosedSet, Operation, Order, Root, Tree, check_ordered, unpack_time, unpacked_bytes,
};
use tuwtree_schedule::{Schedule, verify};
use tuwtree_treegen::{doubling, greedy};

/// The bytes of the root's messages that are in several pieces, or in one that is put together.
fn bytes_in_pieces(schedule: &Schedule) -> u64 {
    let root = schedule.task().root.expect("a gather or scatter has a root");
    let actions = schedule.programs().actions(root);
    actions
        .filter_map(|action| match schedule.task().operation {
            Operation::Gather => action.receive().map(|receive| receive.into),
            _ => action.send().map(|send| send.from),
        })
        .filter(|region| region.pieces.len() > 1)
        .map(|region| region.bytes())
        .sum()
}

/// Any tree, or one of those that are built for no order.
fn tree_of(sizes: &BlockSizes, kind: usize, random: Tree) -> Tree {
    let problem = gather(sizes, homogeneous(30, 1, 1), Root::Given(random.root()));
    match kind {
        0 => direct(&problem, 3, &()).unwrap(),
        1 => greedy(&problem).unwrap(),
        2 => doubling(&problem).unwrap(),
        _ => random,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn schedules_keep_what_their_trees_promise_and_no_more_where_all_blocks_have_data(
        (random, sizes) in trees(sizes(24)), kind in 0..6_usize, fill in any::<bool>(),
    ) {
        let sizes = match fill {
            true => BlockSizes::new(sizes.iter().map(|bytes| bytes + 1)).unwrap(),
            false => sizes,
        };
        let tree = tree_of(&sizes, kind, random);
        for problem in irregular(&sizes, homogeneous(0, 0, 0)) {
            let promised = Order::of(&tree, problem.operation());
            prop_assert_eq!(promised == Order::Ordered, check_ordered(&tree).is_ok());
            let schedule = Schedule::without_costs(&tree, problem.collective()).unwrap();
            prop_assert_eq!(schedule.task().order, promised);
            let verified = verify(&schedule).unwrap();
            prop_assert!(verified.order <= promised);
            if fill && sizes.ranks() > 1 {
                prop_assert_eq!(verified.order, promised);
            }
        }
    }

    #[test]
    fn what_is_unpacked_comes_in_several_pieces(
        (random, sizes) in trees(sizes(24)), kind in 0..6_usize, costs in problems::costs(),
    ) {
        let tree = tree_of(&sizes, kind, random);
        let bytes = unpacked_bytes(&tree, &sizes);
        for problem in irregular(&sizes, costs) {
            let schedule = Schedule::of_tree(&tree, &problem).unwrap();
            prop_assert_eq!(bytes_in_pieces(&schedule), bytes);
            let time = unpack_time(&tree, &problem).unwrap();
            prop_assert_eq!(time.units(), costs.gamma() * bytes as f64);
        }
        prop_assert!(bytes <= sizes.total() - sizes.block(tree.root()));
        if check_ordered(&tree).is_ok() {
            prop_assert_eq!(bytes, 0);
        }
    }

    #[test]
    fn a_document_may_claim_no_more_order_than_its_tree_keeps(
        (tree, _) in trees(sizes(12)), version in 1..=5_u64,
    ) {
        let document = TreeDocument { tree, problem: None };
        let kept = document.order();
        let text = serde_json::to_string(&document).unwrap();
        let mut fields: serde_json::Value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(fields.get("order").is_some(), kept != Order::Ordered);
        for claimed in Order::all() {
            fields["version"] = version.into();
            fields["order"] = claimed.name().into();
            let read = serde_json::from_value::<TreeDocument>(fields.clone());
            prop_assert_eq!(read.is_ok(), version >= 3 && claimed >= kept, "{:?}", read);
        }
    }
}
