//! Laws of the trees that look at predicted times, and of two-level trees.

use proptest::prelude::*;
use tuwtree_bounds::lower_bound;
use tuwtree_laws::all_trees::has_root;
use tuwtree_laws::machines::hierarchy;
use tuwtree_laws::problems::{self, gather, homogeneous, irregular, root_of, rooted};
use tuwtree_model::{
    BlockSizes, ClosedSet, Hierarchy, Level, Piece, PiecewiseLinear, Placement, Problem, Rank,
    Root, Step, Tree, completion, completion_time,
};
use tuwtree_treegen::{
    ConstructionError, Filling, graceful, linear, model_binomial, model_graceful, oblivious,
    two_level,
};

/// `ceil(log2 p)`.
fn rounds(ranks: usize) -> usize {
    ranks.next_power_of_two().ilog2() as usize
}

/// All trees of this kind.
fn trees(problem: &Problem) -> Result<Vec<Tree>, ConstructionError> {
    Ok(vec![
        model_binomial(problem, Filling::MinimumFirst)?,
        model_binomial(problem, Filling::MaximumFirst)?,
        graceful(problem)?,
        model_graceful(problem)?,
    ])
}

/// How many ranks are in each subtree.
fn subtree_counts(tree: &Tree) -> Vec<usize> {
    let mut counts = vec![1; tree.ranks()];
    for rank in tree.top_down().into_iter().rev() {
        if let Some(parent) = tree.parent(rank) {
            counts[parent] += counts[rank];
        }
    }
    counts
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn model_based_trees_have_the_root_asked_for_and_are_not_below_the_bound(
        (sizes, costs) in problems::sizes(25).prop_flat_map(|sizes| {
            let ranks = sizes.ranks();
            (Just(sizes), hierarchy(ranks))
        }),
        root in 0..25_usize,
    ) {
        let root = root_of(Some(root), &sizes);
        for problem in irregular(&sizes, &costs) {
            let problem = rooted(&problem, root);
            let bound = lower_bound(&problem).unwrap();
            for tree in trees(&problem).unwrap() {
                prop_assert!(has_root(&tree, root));
                prop_assert!(completion_time(&tree, &problem).unwrap() >= bound);
            }
        }
    }

    #[test]
    fn model_binomial_trees_are_binomial_and_each_place_takes_the_preferred_rank(
        sizes in problems::sizes(30), root in 0..30_usize, alpha in 0..20_u32,
    ) {
        let ranks = sizes.ranks();
        let root = root % ranks;
        let problem = gather(&sizes, homogeneous(alpha, 1, 1), Root::Given(root));
        for filling in Filling::all() {
            let tree = model_binomial(&problem, filling).unwrap();
            let counts = subtree_counts(&tree);
            prop_assert_eq!(tree.depth(), ranks.ilog2() as usize);
            prop_assert_eq!(tree.degree(root), rounds(ranks));
            for rank in 0..ranks {
                let children: Vec<Rank> = tree.children(rank).collect();
                for (index, &child) in children.iter().enumerate() {
                    let is_last = index + 1 == children.len();
                    prop_assert!(counts[child] == 1 << index || is_last && counts[child] < 1 << index);
                }
            }
            // With the same costs everywhere the root's first child is the first of all to be taken.
            if let Some(first) = tree.children(root).next() {
                let others = (0..ranks).filter(|&rank| rank != root);
                let blocks = others.map(|rank| sizes.block(rank));
                let preferred = match filling {
                    Filling::MinimumFirst => blocks.min(),
                    Filling::MaximumFirst => blocks.max(),
                };
                prop_assert_eq!(Some(sizes.block(first)), preferred);
            }
        }
    }

    #[test]
    fn graceful_trees_pass_blocks_on_to_larger_ones_and_are_shallow(
        sizes in problems::sizes(60), root in 0..60_usize,
    ) {
        let root = root % sizes.ranks();
        let problem = gather(&sizes, homogeneous(0, 0, 0), Root::Given(root));
        let tree = graceful(&problem).unwrap();
        for rank in (0..sizes.ranks()).filter(|&rank| rank != root) {
            let parent = tree.parent(rank).unwrap();
            prop_assert!(parent == root || sizes.block(parent) >= sizes.block(rank));
        }
        // Each set but the last weighs as much as all before it.
        let segments = completion(&tree, &problem).unwrap().segment;
        let mut sum = sizes.block(root);
        let children: Vec<Rank> = tree.children(root).collect();
        for &child in children.iter().rev().skip(1).rev() {
            prop_assert!(segments[child] >= sum);
            sum += segments[child];
        }
    }

    #[test]
    fn two_level_trees_send_once_from_each_node_and_join_the_trees_they_are_made_of(
        sizes in problems::sizes(30), nodes in 1..8_usize, root in 0..30_usize, given: bool,
    ) {
        let ranks = sizes.ranks();
        let node = |rank: Rank| rank * 7 % nodes;
        let nodes: Vec<Vec<Rank>> = (0..nodes)
            .map(|one| (0..ranks).filter(|&rank| node(rank) == one).collect())
            .filter(|members: &Vec<Rank>| !members.is_empty())
            .collect();
        let root = if given { Root::Given(root % ranks) } else { Root::Best };
        // Of as many ranks, with the first as the root unless another is given.
        let of = |members: &[Rank], root: Root| {
            let sizes = BlockSizes::new(vec![1; members.len()]).unwrap();
            gather(&sizes, homogeneous(0, 0, 0), Root::Given(root.given().unwrap_or(0)))
        };
        let inside = |members: &[Rank], root| oblivious(&of(members, root));
        let among = |leaders: &[Rank], root| linear(&of(leaders, root));
        let tree = two_level(&nodes, root, inside, among).unwrap();
        prop_assert!(has_root(&tree, root));
        for members in &nodes {
            let leaving = members
                .iter()
                .filter(|&&rank| tree.parent(rank).is_none_or(|parent| !members.contains(&parent)));
            prop_assert_eq!(leaving.count(), 1);
        }
        // Everything within nodes is free: what is left is the star of the leaders.
        let level = |name: &str, members, alpha| Level {
            name: name.into(),
            members,
            links: PiecewiseLinear::new(vec![Piece::one_port(0, alpha, 0.0)]).unwrap().into(),
        };
        let mut listed = vec![0; ranks];
        for (node, members) in nodes.iter().enumerate() {
            members.iter().for_each(|&rank| listed[rank] = node);
        }
        let levels = vec![level("node", ranks, 0.0), level("all", nodes.len(), 1.0)];
        let costs = Hierarchy::new(levels, Placement::Listed(listed), 0.0).unwrap();
        let senders = nodes.iter().filter(|members| {
            !members.contains(&tree.root()) && members.iter().any(|&rank| sizes.block(rank) > 0)
        });
        let time = completion_time(&tree, &gather(&sizes, &costs, root)).unwrap();
        prop_assert_eq!(time.units(), senders.count() as f64);
    }
}

#[test]
fn large_blocks_degrade_gracefully_to_direct_sends() {
    // Every block outweighs all smaller ones together: whatever is passed on is passed on once more
    // at most for each larger one, and the root is busy with little more than the data.
    let sizes = BlockSizes::new((0..20).map(|rank| 1 << rank)).unwrap();
    let tree = graceful(&gather(&sizes, homogeneous(1, 1, 1), Root::Given(0))).unwrap();
    assert_eq!(tree.children(0).next(), Some(19));
    assert_eq!(tree.steps(0).next(), Some(Step::Copy));
}
