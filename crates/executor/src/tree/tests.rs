//! All ranks of a construction in one program, in lock step, against treegen's trees.

use super::*;
use proptest::prelude::*;
use tuwtree_model::{
    BlockSizes, Collective, CostMatrix, Homogeneous, Operation, Problem, Randomness, Root, Tree,
};
use tuwtree_treegen::adaptive;

/// What a construction by all ranks came to.
struct Agreed {
    nodes: Vec<Node>,
    faults: Vec<Option<Fault>>,
    consents: Vec<Consent>,
    /// How many times messages were under way, one after the other.
    rounds: usize,
}

/// Runs all constructions, half a round at a time. In each half a rank may do one thing.
fn run(mut all: Vec<Construction<'_>>) -> Agreed {
    let mut rounds = 0;
    let round_count = all.len().next_power_of_two().ilog2();
    for position in (0..round_count).flat_map(|round| [(round, false), (round, true)]) {
        let active: Vec<Rank> = (0..all.len())
            .filter(|&rank| all[rank].position() == position && all[rank].transmission().is_some())
            .collect();
        let deeds: Vec<_> =
            active.iter().map(|&rank| (rank, all[rank].transmission().unwrap())).collect();
        let deed = |rank| deeds.iter().find(|&&(other, _)| other == rank).map(|&(_, deed)| deed);
        for &(rank, deed_of_rank) in &deeds {
            let received = match deed_of_rank {
                Transmission::Exchange { with, .. } => match deed(with) {
                    Some(Transmission::Exchange { with: back, message }) if back == rank => {
                        Some(message)
                    }
                    other => panic!("{rank} exchanges with {with}, which does {other:?}"),
                },
                Transmission::Send { to, .. } => {
                    assert_eq!(deed(to), Some(Transmission::Receive { from: rank }));
                    None
                }
                Transmission::Receive { from } => match deed(from) {
                    Some(Transmission::Send { to, message }) if to == rank => Some(message),
                    other => panic!("{rank} receives from {from}, which does {other:?}"),
                },
            };
            all[rank].done(received.as_ref());
        }
        rounds += usize::from(!deeds.is_empty());
    }
    assert!(all.iter().all(|one| one.transmission().is_none()), "somebody is left waiting");
    let (mut nodes, mut faults, mut consents) = (Vec::new(), Vec::new(), Vec::new());
    for (node, fault, consent) in all.into_iter().map(Construction::finish) {
        nodes.push(node);
        faults.push(fault);
        consents.push(consent);
    }
    Agreed { nodes, faults, consents, rounds }
}

fn construct(blocks: &[u64], root: Option<Rank>, rule: Rule<'_>) -> Agreed {
    let ranks = blocks.len();
    let part = |(rank, &block)| Construction::new((rank, ranks), Some(block), root, rule);
    run(blocks.iter().enumerate().map(part).collect())
}

/// The tree that the ranks know together.
fn tree_of(nodes: &[Node]) -> Tree {
    let root = nodes.iter().position(|node| node.parent.is_none()).expect("one is the root");
    let steps: Vec<(Rank, Step)> = nodes
        .iter()
        .flat_map(|node| node.steps().into_iter().map(|step| (node.rank, step)))
        .collect();
    let tree = Tree::new(nodes.len(), root, &steps).expect("the steps are a tree");
    for node in nodes {
        assert_eq!(node.parent, tree.parent(node.rank));
    }
    tree
}

/// Compares with treegen, and every size with the sum that it stands for.
fn agrees_with_treegen(blocks: &[u64], root: Option<Rank>, rule: Rule<'_>) {
    let outcome = construct(blocks, root, rule);
    assert_eq!(outcome.faults, vec![None; blocks.len()], "{blocks:?}");
    let sizes = BlockSizes::new(blocks.iter().copied()).unwrap();
    let wanted = root.map_or(Root::Best, Root::Given);
    let costs = match rule {
        Rule::CompletionTime(_, costs) => costs.clone(),
        _ => Costs::Homogeneous(Homogeneous::new(1.0, 1.0, 1.0).unwrap()),
    };
    let collective = match rule {
        Rule::CompletionTime(Operation::Scatter, _) => Collective::scatter(&sizes),
        _ => Collective::gather(&sizes),
    };
    let problem = Problem::of(collective, costs).unwrap().with_root(wanted).unwrap();
    let expected = adaptive(&problem, rule.kind()).unwrap();
    assert_eq!(tree_of(&outcome.nodes), expected, "{blocks:?}, root {root:?}, {rule:?}");
    for node in &outcome.nodes {
        assert_eq!(node.bytes, sizes.range(node.first, node.last));
        for child in &node.children {
            assert_eq!(child.bytes, sizes.range(child.first, child.last));
            let digests = (child.first..=child.last).map(|rank| digest(rank, sizes.block(rank)));
            assert_eq!(child.digest, digests.fold(0, u64::wrapping_add));
            let below = &outcome.nodes[child.rank];
            assert_eq!((below.first, below.last), (child.first, child.last));
        }
    }
    let levels = blocks.len().next_power_of_two().ilog2() as usize;
    assert!(outcome.rounds <= (2 * levels).saturating_sub(1), "{} rounds", outcome.rounds);
}

fn random_blocks(ranks: usize, seed: u64, most: u64) -> Vec<u64> {
    let numbers = Randomness::Xoshiro { seed }.numbers(2 * ranks);
    let (zeros, sizes) = numbers.split_at(ranks);
    zeros
        .iter()
        .zip(sizes)
        .map(|(zero, size)| if zero % 4 == 0 { 0 } else { size % most })
        .collect()
}

fn homogeneous(alpha: f64, beta: f64, gamma: f64) -> Costs {
    Costs::Homogeneous(Homogeneous::new(alpha, beta, gamma).unwrap())
}

#[test]
fn every_root_of_up_to_33_ranks_gets_the_tree_of_treegen() {
    let costs = homogeneous(50.0, 1.0, 1.0);
    for ranks in 1..=33 {
        for seed in 0..3 {
            let blocks = random_blocks(ranks, seed, 5 + 100 * seed);
            for root in (0..ranks).map(Some).chain([None]) {
                for rule in [
                    Rule::GatherTime,
                    Rule::DataSize,
                    Rule::CompletionTime(Operation::Gather, &costs),
                ] {
                    agrees_with_treegen(&blocks, root, rule);
                }
            }
        }
    }
}

#[test]
fn equal_and_empty_blocks_break_ties_as_treegen_does() {
    for ranks in 1..=33 {
        for block in [0, 7] {
            for rule in [Rule::GatherTime, Rule::DataSize] {
                agrees_with_treegen(&vec![block; ranks], None, rule);
                agrees_with_treegen(&vec![block; ranks], Some(ranks / 2), rule);
            }
        }
    }
}

#[test]
fn sizes_up_to_64_bits_are_exact() {
    agrees_with_treegen(&[u64::MAX - 3, 1, 0, 2], None, Rule::GatherTime);
    agrees_with_treegen(&[0, u64::MAX, 0, 0, 0], Some(4), Rule::DataSize);
}

#[test]
fn a_total_beyond_64_bits_is_a_fault_that_the_root_hears_of() {
    for root in 0..5 {
        let outcome = construct(&[u64::MAX, 0, 0, 1, 5], Some(root), Rule::DataSize);
        let expected = Fault::TooLarge { first: 0, last: 3 };
        assert_eq!(outcome.faults[root], Some(expected), "root {root}");
    }
}

#[test]
fn whoever_has_no_parent_and_is_not_the_root_knows_of_the_fault() {
    for refused in 0..13 {
        for root in 0..13 {
            let part = |rank| {
                let block = (rank != refused).then_some(rank as u64);
                Construction::new((rank, 13), block, Some(root), Rule::GatherTime)
            };
            let outcome = run((0..13).map(part).collect());
            for node in &outcome.nodes {
                let fault = outcome.faults[node.rank];
                assert_eq!(node.parent.is_none(), fault.is_some());
                assert!(fault.is_none_or(|fault| fault == Fault::Refused { rank: refused }));
            }
            assert!(outcome.faults[root].is_some());
        }
    }
}

#[test]
fn different_roots_and_different_rules_are_found_out() {
    let part = |rank| Construction::new((rank, 6), Some(1), Some(rank / 4), Rule::DataSize);
    let outcome = run((0..6).map(part).collect());
    assert_eq!(outcome.faults[0], Some(Fault::Differ { first: 3, second: 5 }));
    assert!(outcome.faults[0].unwrap().to_string().contains("ranks 3 and 5"));
    let rules = [Rule::DataSize, Rule::GatherTime];
    let part = |rank: usize| Construction::new((rank, 2), Some(1), Some(0), rules[rank]);
    let outcome = run((0..2).map(part).collect());
    assert_eq!(outcome.faults, [Some(Fault::Differ { first: 0, second: 1 }); 2]);
}

#[test]
fn times_beyond_what_is_exact_are_a_fault() {
    let costs = homogeneous(1.0, 1e15, 1.0);
    let rule = Rule::CompletionTime(Operation::Gather, &costs);
    let outcome = construct(&[1000; 4], Some(0), rule);
    let reason = NoTime::NotExact;
    assert_eq!(outcome.faults[0], Some(Fault::NoTime { first: 0, last: 1, reason }));
}

/// The places with a limit, those who send straight among the root's children.
fn limited(blocks: &[u64], root: Rank, rule: Rule<'_>, most_passed: u64) -> (Agreed, Node) {
    let part = |(rank, &block)| {
        let construction = Construction::new((rank, blocks.len()), Some(block), Some(root), rule);
        construction.with_limit(most_passed)
    };
    let outcome = run(blocks.iter().enumerate().map(part).collect());
    assert_eq!(outcome.faults, vec![None; blocks.len()], "{blocks:?}");
    let known = (blocks.len(), rule, most_passed);
    let node = outcome.nodes[root].clone().with_straight(&|rank| blocks[rank], known);
    (outcome, node)
}

/// The blocks that a process sends, by what each knows of its children.
fn sent_by(rank: Rank, nodes: &[Node], sent: &mut Vec<Rank>) {
    sent.push(rank);
    nodes[rank].children.iter().for_each(|child| sent_by(child.rank, nodes, sent));
}

/// Fails unless nobody holds too much, every block arrives once, and the root knows who sends what.
fn keeps_the_limit(blocks: &[u64], root: Rank, rule: Rule<'_>, most_passed: u64) {
    let (outcome, at_root) = limited(blocks, root, rule, most_passed);
    let mut nodes = outcome.nodes;
    let whole = construct(blocks, Some(root), rule);
    let needs_no_limit = |node: &Node| node.rank == root || node.bytes - node.block <= most_passed;
    if whole.nodes.iter().all(needs_no_limit) {
        assert_eq!(nodes, whole.nodes, "the same tree");
        assert_eq!(at_root, nodes[root]);
        assert!(outcome.consents.iter().all(|consent| *consent == Consent::default()));
    }
    nodes[root] = at_root;
    for node in nodes.iter().filter(|node| node.rank != root) {
        let held: u64 = node.children.iter().map(|child| child.bytes).sum();
        assert!(held <= most_passed, "{blocks:?}, root {root}, {rule:?}: {node:?}");
        assert_eq!(node.bytes, node.block + held);
    }
    let mut seen = vec![root];
    for child in &nodes[root].children {
        assert_eq!(nodes[child.rank].parent, Some(root));
        assert_eq!(nodes[child.rank].bytes, child.bytes);
        let mut sent = Vec::new();
        sent_by(child.rank, &nodes, &mut sent);
        sent.sort_unstable();
        if !child.runs.is_empty() {
            let listed = child.runs.iter().flat_map(|run| run.first..=run.last);
            assert!(listed.eq(sent.iter().copied()), "{child:?}, {sent:?}");
            for run in &child.runs {
                assert_eq!(run.bytes, blocks[run.first..=run.last].iter().sum::<u64>());
            }
        } else {
            assert!(sent.iter().copied().eq(child.first..=child.last));
        }
        seen.extend(sent);
    }
    seen.sort_unstable();
    assert!(seen.into_iter().eq(0..blocks.len()), "every block once");
    // Whoever is told, is told by somebody whom the root's word reaches, and nobody twice.
    let mut told = vec![root];
    let mut at = 0;
    while let Some(&rank) = told.get(at) {
        for &to in &outcome.consents[rank].to {
            assert_eq!(outcome.consents[to].from, Some(rank));
            told.push(to);
        }
        at += 1;
    }
    let asks = |rank: &Rank| outcome.consents[*rank].from.is_some();
    assert_eq!(told.len(), 1 + (0..blocks.len()).filter(asks).count());
    let straight = (0..blocks.len()).filter(|&rank| outcome.consents[rank].is_straight);
    assert!(straight.clone().all(|rank| told.contains(&rank) && nodes[rank].parent == Some(root)));
}

#[test]
fn data_beyond_the_limit_goes_straight_to_the_root_and_the_rest_along_the_tree() {
    let rule = Rule::DataSize;
    // Eight large blocks: a star.
    let (_, node) = limited(&[100; 8], 4, rule, 64);
    assert_eq!(node.children.len(), 7);
    // One: it alone goes straight.
    let blocks = [1, 1, 1, 100, 1, 1, 1, 1];
    let (outcome, node) = limited(&blocks, 7, rule, 64);
    let straight = (0..8).filter(|&rank| outcome.consents[rank].is_straight);
    assert_eq!(straight.count(), 0, "the large block's process receives");
    assert_eq!(node.children.len(), 3);
    let (outcome, node) = limited(&[40, 40, 40, 40, 1, 1, 1, 1], 7, rule, 64);
    let straight: Vec<Rank> = (0..8).filter(|&rank| outcome.consents[rank].is_straight).collect();
    assert_eq!(straight, [1], "with what it has from 0");
    assert_eq!(outcome.nodes[1].children.len(), 1);
    assert!(node.children.iter().any(|child| child.rank == 1 && child.bytes == 80));
}

#[test]
fn a_star_has_all_others_as_children_of_its_centre() {
    let sizes = BlockSizes::new([3, 0, 4]).unwrap();
    let centre = Node::centre_of_star(1, 0, sizes.iter());
    assert_eq!(centre.children.iter().map(|child| child.rank).collect::<Vec<_>>(), [0, 2]);
    assert_eq!((centre.bytes, centre.parent), (7, None));
    assert_eq!(Node::in_star(2, 1, 4).parent, Some(1));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_problem_of_up_to_200_ranks_gets_the_tree_of_treegen(
        ranks in 1_usize..=200,
        seed in any::<u64>(),
        scale in 0_u32..56,
        root in any::<Option<prop::sample::Index>>(),
        costs in (1_u32..1000, 0_u32..4, 0_u32..6),
        scatter in any::<bool>(),
    ) {
        let blocks = random_blocks(ranks, seed, 1 << scale);
        let root = root.map(|root| root.index(ranks));
        agrees_with_treegen(&blocks, root, Rule::GatherTime);
        agrees_with_treegen(&blocks, root, Rule::DataSize);
        // With a fraction, so that no time has to be an exact integer.
        let (alpha, beta, gamma) = costs;
        let costs = homogeneous(f64::from(alpha) + 0.5, f64::from(beta), f64::from(gamma));
        let operation = if scatter { Operation::Scatter } else { Operation::Gather };
        agrees_with_treegen(&blocks, root, Rule::CompletionTime(operation, &costs));
    }

    #[test]
    fn nobody_but_the_root_holds_more_of_others_data_than_the_limit(
        ranks in 1_usize..=70,
        seed in any::<u64>(),
        scale in 0_u32..12,
        limit in 0_u64..20_000,
        root in any::<prop::sample::Index>(),
        scatter in any::<bool>(),
    ) {
        let blocks = random_blocks(ranks, seed, 1 << scale);
        let root = root.index(ranks);
        let costs = homogeneous(50.5, 1.0, 1.0);
        let operation = if scatter { Operation::Scatter } else { Operation::Gather };
        for rule in
            [Rule::GatherTime, Rule::DataSize, Rule::CompletionTime(operation, &costs)]
        {
            keeps_the_limit(&blocks, root, rule, limit);
        }
    }

    #[test]
    fn each_pair_may_have_its_own_costs(
        ranks in 1_usize..=40,
        seed in any::<u64>(),
        root in any::<Option<prop::sample::Index>>(),
        scatter in any::<bool>(),
    ) {
        let blocks = random_blocks(ranks, seed, 1000);
        let numbers = Randomness::Xoshiro { seed: !seed }.numbers(2 * ranks * ranks);
        let cost = |kind: usize, i: usize, j: usize| {
            (numbers[(kind * ranks + i) * ranks + j] % 100) as f64
        };
        let (alpha, beta) = (|i, j| 1.0 + cost(0, i, j), |i, j| cost(1, i, j));
        let matrix = CostMatrix::from_fn(ranks, alpha, beta, |rank| rank as f64).unwrap();
        let costs = Costs::Matrix(matrix);
        let operation = if scatter { Operation::Scatter } else { Operation::Gather };
        let root = root.map(|root| root.index(ranks));
        agrees_with_treegen(&blocks, root, Rule::CompletionTime(operation, &costs));
    }
}
