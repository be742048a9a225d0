//! No tree is faster than the bounds for machines with levels say, by the planner or by the judge.

use proptest::prelude::*;
use tuwtree_bounds::{best_lower_bound, lower_bound_below};
use tuwtree_laws::all_trees::{all_trees, has_root};
use tuwtree_laws::machines::{hierarchy, measured_hierarchy, overlapping_hierarchy};
use tuwtree_laws::problems::{irregular, sizes, with_each_root};
use tuwtree_laws::random_trees::trees;
use tuwtree_model::document::{Date, Machine};
use tuwtree_model::{
    BlockSizes, CostModel, Costs, Hierarchy, Level, Network, Piece, PiecewiseLinear, Placement,
    PortKind, Problem, Rank, Root, StatedCosts, Time, Tree, WireOwner, completion_time,
    judged_time,
};

/// The least completion time over all trees, for each root, by sets of ranks (bits) and their roots.
///
/// Copies come first, which loses nothing. `ready[X][r]` is the least, over the last message to `r`, from `q`
/// with the blocks `Y`, of `max(ready[X - Y][r], ready[Y][q] + lambda) + f(Y)`.
fn least_times(sizes: &BlockSizes, machine: &Hierarchy) -> Vec<f64> {
    let ranks = sizes.ranks();
    let all = (1_usize << ranks) - 1;
    let bytes = |set: usize| members(set).map(|rank| sizes.block(rank)).sum::<u64>();
    let units = |time: Result<Time, _>| time.unwrap().units();
    let mut ready = vec![vec![f64::INFINITY; ranks]; all + 1];
    for set in 1..=all {
        for root in members(set) {
            let others = set & !(1 << root);
            if others == 0 {
                ready[set][root] = 0.0;
                continue;
            }
            let mut part = others;
            while part > 0 {
                let kept = set & !part;
                let before = match kept & !(1 << root) {
                    0 => units(machine.copy_at(root, sizes.block(root))),
                    _ => ready[kept][root],
                };
                let sent = bytes(part);
                for sender in members(part) {
                    let latency = units(machine.latency_between(sender, root, sent));
                    let start = before.max(ready[part][sender] + latency);
                    let end = start + units(machine.transmission_between(sender, root, sent));
                    ready[set][root] = ready[set][root].min(end);
                }
                part = (part - 1) & others;
            }
        }
    }
    ready.swap_remove(all)
}

/// The ranks of a set.
fn members(set: usize) -> impl Iterator<Item = Rank> {
    (0..usize::BITS as usize).filter(move |rank| set >> rank & 1 == 1)
}

/// Machines of every kind for as many ranks as there are blocks, few of them.
fn few(most: usize) -> impl Strategy<Value = (BlockSizes, Hierarchy)> {
    sizes(most).prop_flat_map(|sizes| {
        let ranks = sizes.ranks();
        (Just(sizes), machines(ranks))
    })
}

fn machines(ranks: usize) -> impl Strategy<Value = Hierarchy> {
    prop_oneof![hierarchy(ranks), overlapping_hierarchy(ranks), measured_hierarchy(ranks),]
}

fn networks() -> impl Strategy<Value = Network> {
    let port = prop_oneof![3 => Just(PortKind::Fair), 1 => Just(PortKind::FirstInFirstOut)];
    let limit = prop_oneof![2 => Just(None), 1 => (0..300_u64).prop_map(Some)];
    let send = prop_oneof![Just(None), (0..20_u32).prop_map(|most| Some(f64::from(most)))];
    let wire = prop_oneof![1 => Just(WireOwner::Rank), 2 => Just(WireOwner::Node)];
    let turns = prop_oneof![2 => Just(None), 1 => (0..300_u64).prop_map(Some)];
    let window = prop_oneof![2 => Just(None), 1 => (0..300_u64).prop_map(Some)];
    let all = (port, limit, send, wire, turns, window);
    all.prop_map(|(port, eager_limit, send_overhead, wire, fair_beyond, window)| Network {
        port,
        fair_beyond,
        eager_limit,
        send_overhead,
        wire,
        window,
        ..Network::default()
    })
}

/// Costs with what is known of a network beside them.
fn on(network: Network, costs: Hierarchy) -> StatedCosts {
    Machine {
        name: "drawn at random".into(),
        date: Date::parse("2026-11-22").unwrap(),
        provenance: "a law".into(),
        costs: Costs::Hierarchical(costs),
        network,
        combine_per_byte: 0.0,
    }
    .into()
}

/// The bound on the judge's times, told of one that is twice as long as that of some tree.
fn judged_bound(problem: &Problem, time: f64) -> f64 {
    let most = Time::new(2.0 * time).unwrap();
    lower_bound_below(problem, most).unwrap().units()
}

/// The least time by the judge over those of these trees that have the problem's root.
fn least_judged(trees: &[Tree], problem: &Problem) -> f64 {
    let rooted = trees.iter().filter(|tree| has_root(tree, problem.root()));
    rooted.map(|tree| judged_time(tree, problem).unwrap().units()).fold(f64::INFINITY, f64::min)
}

/// So many problems, or twenty times as many where that is asked for.
fn cases(few: u32) -> u32 {
    if std::env::var_os("TUWTREE_FULL").is_some() { 20 * few } else { few }
}

/// Whether a bound is not above a time, but for the rounding of the time.
fn holds(bound: f64, time: f64) -> bool {
    bound <= time * (1.0 + 1e-12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(400)))]

    #[test]
    fn no_bound_on_levels_is_above_the_optimum_of_any_root((sizes, machine) in few(6)) {
        let times = least_times(&sizes, &machine);
        for problem in irregular(&sizes, &machine) {
            for rooted in with_each_root(&problem) {
                let bound = best_lower_bound(&rooted).unwrap().units();
                let least = match rooted.root() {
                    Root::Given(root) => times[root],
                    _ => times.iter().copied().fold(f64::INFINITY, f64::min),
                };
                prop_assert!(holds(bound, least), "{:?}: {bound} > {least}", rooted.root());
            }
        }
    }

    #[test]
    fn no_judge_is_below_its_bound_whatever_the_tree(
        (tree, sizes, machine) in trees(sizes(14)).prop_flat_map(|(tree, sizes)| {
            let ranks = tree.ranks();
            (Just(tree), Just(sizes), machines(ranks))
        }),
        network in networks(),
    ) {
        for problem in irregular(&sizes, on(network, machine)) {
            let judged = judged_time(&tree, &problem).unwrap().units();
            let planned = completion_time(&tree, &problem).unwrap().units();
            for root in [Root::Given(tree.root()), Root::Best] {
                let problem = problem.with_root(root).unwrap();
                let bound = judged_bound(&problem, judged);
                prop_assert!(holds(bound, judged), "{root:?}: {bound} > {judged}");
                let bound = best_lower_bound(&problem).unwrap().units();
                prop_assert!(holds(bound, planned), "{root:?}: {bound} > {planned}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(150)))]

    #[test]
    fn no_bound_of_the_judge_is_above_the_best_of_all_trees(
        (sizes, machine) in few(4), network in networks(),
    ) {
        let trees = all_trees(sizes.ranks());
        for problem in irregular(&sizes, on(network, machine)) {
            for rooted in with_each_root(&problem) {
                let least = least_judged(trees, &rooted);
                let bound = judged_bound(&rooted, least);
                prop_assert!(holds(bound, least), "{:?}: {bound} > {least}", rooted.root());
            }
        }
    }
}

/// Nodes of 16 ranks, islands of 32 nodes, most of the latency overlaps.
fn islands(wire: WireOwner) -> StatedCosts {
    let level = |(name, members, alpha, beta): (&str, usize, f64, f64)| {
        let piece = Piece { from_bytes: 0, alpha, overhead: 0.2 * alpha, beta };
        let links = PiecewiseLinear::new(vec![piece]).unwrap().into();
        Level { name: name.to_owned(), members, links }
    };
    let levels =
        [("node", 16, 500.0, 0.1), ("island", 32, 1500.0, 0.3), ("network", 8, 3000.0, 0.6)];
    let machine = Hierarchy::new(levels.map(level).into(), Placement::Block, 0.1).unwrap();
    on(Network { wire, ..Network::default() }, machine)
}

#[test]
fn all_that_a_node_lacks_comes_through_its_wire_whether_all_levels_are_in_use_or_not() {
    for ranks in [100, 512, 600] {
        let sizes = BlockSizes::new((0..ranks).map(|rank| 1 + rank % 7 * 1000)).unwrap();
        let lacks = sizes.total() - sizes.range(0, 15);
        let problem = Problem::gather(&sizes, islands(WireOwner::Node)).unwrap();
        let problem = problem.with_root(Root::Given(0)).unwrap();
        let star = 0.6 * sizes.total() as f64;
        let bound = judged_bound(&problem, star);
        // Some of it from afar, if there are islands; and hardly more than that.
        let least = 0.3 * lacks as f64;
        assert!((0.999 * least..1.2 * least).contains(&bound), "{ranks}: {bound}, {least}");
    }
}

#[test]
fn while_a_large_message_asks_its_receiver_the_wire_is_free_for_others() {
    let piece = Piece { from_bytes: 0, alpha: 30.0, overhead: 20.0, beta: 1.0 };
    let links = PiecewiseLinear::new(vec![piece]).unwrap().into();
    let level = Level { name: "node".to_owned(), members: 3, links };
    let machine = Hierarchy::new(vec![level], Placement::Block, 0.0).unwrap();
    let port = PortKind::FirstInFirstOut;
    let network = Network { port, eager_limit: Some(100), ..Network::default() };
    let sizes = BlockSizes::new([0, 2, 895]).unwrap();
    let problem = Problem::scatter(&sizes, on(network, machine)).unwrap();
    let problem = problem.with_root(Root::Given(0)).unwrap();
    // 10 + 52 until the answer, then 863 of the 915 are left; 22 for the small one meanwhile.
    let least = least_judged(all_trees(3), &problem);
    let bound = judged_bound(&problem, least);
    assert_eq!(least, 925.0);
    assert!(holds(bound, least), "{bound} > {least}");
}
