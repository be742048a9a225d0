//! The judge of trees against a plain one that knows no heap and no virtual time, and against the
//! planner, which no gather takes longer than.

use proptest::prelude::*;
use tuwtree_laws::machines::{measured_hierarchy, networks, on, overlapping};
use tuwtree_laws::problems::{gather, of_each_operation, overlapping_costs, ports, sizes};
use tuwtree_laws::random_trees::trees;
use tuwtree_model::{
    BlockSizes, CostModel, Costs, Handling, Hierarchy, Homogeneous, Level, LinkLaw, MeasuredSize,
    MeasuredSizes, Network, Placement, PortKind, Problem, Rank, Root, Service, Step, Tree,
    completion_time, judged_time, judged_time_as, window_waits,
};

/// Costs of any kind: integers, or measured tables.
fn costs(ranks: usize) -> impl Strategy<Value = Costs> {
    prop_oneof![overlapping(ranks), measured_hierarchy(ranks).prop_map(Costs::Hierarchical),]
}

/// A tree, its blocks, costs for as many ranks, and a network.
fn judged() -> impl Strategy<Value = (Tree, BlockSizes, Costs, Network)> {
    trees(sizes(12)).prop_flat_map(|(tree, sizes)| {
        let ranks = tree.ranks();
        (Just(tree), Just(sizes), costs(ranks), networks())
    })
}

/// A message to a rank: when it enters the wire, what it occupies there and of the rank.
#[derive(Clone, Copy)]
struct Message {
    enters: f64,
    on_wire: f64,
    overhead: f64,
    /// Whether it waits for others that take turns and came before it.
    takes_turns: bool,
    /// Which of the messages is received before it goes, if any, and how long after that it enters at the earliest,
    /// told by its parent: until then, `enters` is when it would if it need not wait.
    waits_for: Option<usize>,
    told_after: f64,
    latency: f64,
}

/// When a rank that is busy until `clock` has received all messages, by the definition: time goes on from one arrival or
/// departure to the next, and all that is there is served, but of those that take turns the first only.
fn received(mut clock: f64, mut messages: Vec<Message>) -> f64 {
    // Those that wait are not there before they are told.
    let ready: Vec<f64> = messages.iter().map(|message| message.enters).collect();
    for message in messages.iter_mut().filter(|message| message.waits_for.is_some()) {
        message.enters = f64::INFINITY;
    }
    let mut left: Vec<f64> = messages.iter().map(|message| message.on_wire).collect();
    let mut gone = vec![f64::NAN; messages.len()];
    let mut now = 0.0;
    loop {
        let open: Vec<usize> = (0..messages.len()).filter(|&one| gone[one].is_nan()).collect();
        if open.is_empty() {
            return clock;
        }
        let mut there: Vec<usize> =
            open.iter().copied().filter(|&one| messages[one].enters <= now).collect();
        there.sort_by(|&one, &other| messages[one].enters.total_cmp(&messages[other].enters));
        let (in_turns, mut served): (Vec<usize>, Vec<usize>) =
            there.iter().partition(|&&one| messages[one].takes_turns);
        served.extend(in_turns.first());
        let share = 1.0 / served.len() as f64;
        let next_entry = open
            .iter()
            .map(|&one| messages[one].enters)
            .filter(|&enters| enters > now)
            .fold(f64::INFINITY, f64::min);
        let next_end =
            served.iter().map(|&one| now + left[one] / share).fold(f64::INFINITY, f64::min);
        let next = next_entry.min(next_end);
        // Those that are done at the same time are received in the order of their ranks.
        served.sort_unstable();
        for &one in &served {
            let end = now + left[one] / share;
            left[one] -= (next - now) * share;
            if end <= next {
                gone[one] = end;
                clock = clock.max(end) + messages[one].overhead;
                for (at, message) in messages.iter_mut().enumerate() {
                    if message.waits_for == Some(one) {
                        let told = clock + message.told_after + message.latency;
                        message.enters = ready[at].max(told);
                    }
                }
            }
        }
        now = next;
    }
}

/// The time of a gather tree by the judge, rank by rank from the leaves.
fn plainly(tree: &Tree, problem: &Problem) -> f64 {
    let (costs, network) = (problem.costs(), problem.stated_costs().network());
    let sizes = problem.blocks().expect("a gather");
    let mut segment: Vec<u64> = sizes.iter().collect();
    let mut ready = vec![0.0; tree.ranks()];
    for rank in tree.top_down().into_iter().rev() {
        let copies = tree.steps(rank).any(|step| step == Step::Copy);
        let mut clock: f64 = if copies { problem.copy(rank).unwrap().units() } else { 0.0 };
        let children: Vec<Rank> = tree.children(rank).filter(|&child| segment[child] > 0).collect();
        let bytes: Vec<u64> = children.iter().map(|&child| segment[child]).collect();
        let waits = window_waits(&bytes, network.window.unwrap_or(u64::MAX));
        let waits_for = |child: Rank| {
            let at = children.iter().position(|&one| one == child)?;
            waits[at].map(|first| children[first])
        };
        // Of two that come at the same time, the one of lesser rank is first.
        let mut sorted = children.clone();
        sorted.sort_unstable();
        let place = |rank| sorted.iter().position(|&one| one == rank);
        let units = |child, bytes| costs.transmission_between(child, rank, bytes).unwrap().units();
        let message = |&child: &Rank| {
            let bytes = segment[child];
            let occupancy = units(child, bytes);
            let most = network.send_overhead.unwrap_or(f64::INFINITY);
            let is_small = network.fair_beyond.is_some_and(|limit| bytes <= limit);
            let takes_turns = network.port == PortKind::FirstInFirstOut || is_small;
            let overhead = match network.is_eager(bytes) && !takes_turns {
                true => units(child, 1).min(occupancy).min(most),
                false => 0.0,
            };
            let latency = costs.latency_between(child, rank, bytes).unwrap().units();
            let (enters, on_wire) = (ready[child] + latency, occupancy - overhead);
            let waits_for = waits_for(child).and_then(place);
            let told_after =
                costs.latency_between(child, rank, 1).unwrap().units() + units(child, 1);
            Message { enters, on_wire, overhead, takes_turns, waits_for, told_after, latency }
        };
        let messages: Vec<Message> = sorted.iter().map(message).collect();
        clock = received(clock, messages);
        segment[rank] =
            sizes.block(rank) + tree.children(rank).map(|one| segment[one]).sum::<u64>();
        ready[rank] = clock;
    }
    ready[tree.root()]
}

/// Whether two times are the same but for rounding.
fn is_close(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-9 * one.abs().max(1.0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn no_gather_takes_longer_by_the_judge_than_planned((tree, sizes, costs, network) in judged()) {
        // Who waits to be told is later than by the plan.
        let network = Network { window: None, ..network };
        let problem = gather(&sizes, on(network, costs), Root::Best);
        let judged = judged_time(&tree, &problem).unwrap().units();
        let planned = completion_time(&tree, &problem).unwrap().units();
        prop_assert!(judged <= planned * (1.0 + 1e-9), "{judged} > {planned}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    #[test]
    fn gathers_take_what_a_plain_judge_says((tree, sizes, costs, network) in judged()) {
        let problem = gather(&sizes, on(network, costs.clone()), Root::Best);
        let judged = judged_time(&tree, &problem).unwrap().units();
        match costs.overlaps() {
            true => {
                let plain = plainly(&tree, &problem);
                prop_assert!(is_close(judged, plain), "{judged} is not {plain}");
            }
            false => prop_assert_eq!(judged, completion_time(&tree, &problem).unwrap().units()),
        }
    }

    #[test]
    fn where_nothing_overlaps_or_ports_are_several_judge_and_planner_agree(
        (tree, sizes) in trees(sizes(12)), costs in overlapping_costs(), bytes in 0..100_u64,
        k in 2..4_u16,
    ) {
        let one_port = costs.with_overhead(costs.alpha()).unwrap();
        for problem in of_each_operation(&sizes, bytes, one_port) {
            prop_assert_eq!(judged_time(&tree, &problem), completion_time(&tree, &problem));
        }
        let problem = gather(&sizes, costs, Root::Best).with_ports(ports(k));
        prop_assert_eq!(judged_time(&tree, &problem), completion_time(&tree, &problem));
    }
}

#[test]
fn a_scatter_may_take_longer_by_the_judge_than_planned() {
    // By the plan 1 is served first, has its ten bytes at 11, and goes on while 2 is served. The wire
    // serves both at once, so that 1 has them at 19.
    let steps = [
        (0, Step::Copy),
        (0, Step::Receive(2)),
        (0, Step::Receive(1)),
        (1, Step::Copy),
        (1, Step::Receive(3)),
    ];
    let tree = Tree::new(4, 0, &steps).unwrap();
    let sizes = BlockSizes::new([0, 5, 10, 5]).unwrap();
    let costs = Homogeneous::new(1.0, 1.0, 0.0).unwrap().with_overhead(0.0).unwrap();
    let problem = Problem::scatter(&sizes, costs).unwrap();
    let [planned, judged] =
        [completion_time, judged_time].map(|time| time(&tree, &problem).unwrap().units());
    assert_eq!((planned, judged), (21.0, 25.0));
}

#[test]
fn small_messages_take_turns_at_a_port_that_is_fair_beyond_them() {
    // The root sends to 1, 2 and 5; 1 passes on to 3, 2 to 4. Each message is on the wire after 1.
    let steps = [
        (0, Step::Copy),
        (0, Step::Receive(5)),
        (0, Step::Receive(2)),
        (0, Step::Receive(1)),
        (1, Step::Copy),
        (1, Step::Receive(3)),
        (2, Step::Copy),
        (2, Step::Receive(4)),
    ];
    let tree = Tree::new(6, 0, &steps).unwrap();
    let costs = Homogeneous::new(1.0, 1.0, 0.0).unwrap().with_overhead(0.0).unwrap();
    let time = |blocks: [u64; 6], fair_beyond| {
        let network = Network { fair_beyond, send_overhead: Some(0.0), ..Network::default() };
        let sizes = BlockSizes::new(blocks).unwrap();
        let problem = Problem::scatter(&sizes, on(network, Costs::Homogeneous(costs))).unwrap();
        judged_time(&tree, &problem).unwrap().units()
    };
    // 1 and 2 have their four bytes at 9, and 3 its two at 12; in turns 1 has them at 5, 3 at 8, 2 at 9.
    let equal = [0, 2, 4, 2, 0, 0];
    assert_eq!(time(equal, None), 12.0);
    assert_eq!(time(equal, Some(3)), 12.0);
    assert_eq!(time(equal, Some(4)), 9.0);
    // Three share: 1 and 2 have their bytes at 13, 3 and 4 at 16, and 5 its ten bytes at 19. Where 1 and 2 take
    // turns, they are one beside 5: 1 is done at 9, 2 at 17, and 4 at 20.
    let mixed = [0, 2, 2, 2, 2, 10];
    assert_eq!(time(mixed, None), 19.0);
    assert_eq!(time(mixed, Some(4)), 20.0);
}

/// A scatter of these blocks by a root, rank 0, that sends to the others in falling order, at costs by size
/// where each message occupies a port that takes turns for 4.
fn scattered_in_turns(blocks: [u64; 3], latencies: [(u64, f64); 2], eager: Option<u64>) -> f64 {
    let size = |(bytes, latency)| MeasuredSize { bytes, latency, occupancy: 4.0 };
    let law = MeasuredSizes::new(latencies.map(size).to_vec()).unwrap();
    let level = Level { name: "network".into(), members: 3, links: LinkLaw::Measured(law) };
    let costs = Hierarchy::new(vec![level], Placement::Block, 0.0).unwrap();
    let network = Network {
        port: PortKind::FirstInFirstOut,
        send_overhead: Some(0.0),
        eager_limit: eager,
        ..Network::default()
    };
    let steps = [(0, Step::Copy), (0, Step::Receive(1)), (0, Step::Receive(2))];
    let tree = Tree::new(3, 0, &steps).unwrap();
    let sizes = BlockSizes::new(blocks).unwrap();
    let problem = Problem::scatter(&sizes, on(network, Costs::Hierarchical(costs))).unwrap();
    judged_time(&tree, &problem).unwrap().units()
}

#[test]
fn ports_that_take_turns_keep_the_order_in_which_a_rank_sends() {
    // The message to 2 begins first, and would be at the port at 10; that to 1, larger and of less
    // latency, at 2. It waits: served from 10 to 14 and from 14 to 18.
    assert_eq!(scattered_in_turns([0, 5, 1], [(1, 10.0), (5, 2.0)], None), 18.0);
}

#[test]
fn large_data_that_waits_for_its_receivers_answer_holds_up_nothing_that_is_sent_meanwhile() {
    // The message to 2 begins first, and is at the port at 10, when 2 has answered; that to 1 at 2. It is
    // served from 2 to 6, and the other from 10 to 14.
    assert_eq!(scattered_in_turns([0, 1, 5], [(1, 2.0), (5, 10.0)], Some(1)), 14.0);
}

/// The time of a gather of these blocks by rank 0 along a star, by this handling.
fn gathered(blocks: &[u64], network: Network, handling: Handling) -> f64 {
    let copy = std::iter::once((0, Step::Copy));
    let steps: Vec<(Rank, Step)> =
        copy.chain((1..blocks.len()).map(|child| (0, Step::Receive(child)))).collect();
    let tree = Tree::new(blocks.len(), 0, &steps).unwrap();
    let sizes = BlockSizes::new(blocks.iter().copied()).unwrap();
    // A byte takes 10 us, latency 1 ms; the rank has nothing to do.
    let costs = Homogeneous::new(1e-3, 1e-5, 0.0).unwrap().with_overhead(0.0).unwrap();
    let network = Network { send_overhead: Some(0.0), ..network };
    let problem = gather(&sizes, on(network, Costs::Homogeneous(costs)), Root::Given(0));
    judged_time_as(&tree, &problem, handling).unwrap().units()
}

#[test]
fn senders_wait_for_their_turn_in_a_window_and_large_data_goes_alone() {
    let windows = |window| Network { window, ..Network::default() };
    let time = |blocks: &[u64], window| gathered(blocks, windows(window), Handling::default());
    let close = |one: f64, other: f64| assert!((one - other).abs() < 1e-9, "{one}, not {other}");
    // All at once: 1 ms, and the wire.
    close(time(&[0, 100, 100, 100, 100], None), 0.005);
    close(time(&[0, 100, 100, 100, 100], Some(400)), 0.005);
    // Two at a time: at 3 ms both are there; the next two are told by a byte, which takes 1.01 ms.
    close(time(&[0, 100, 100, 100, 100], Some(200)), 0.003 + 0.00101 + 0.001 + 0.002);
    // The large one alone.
    close(time(&[0, 100, 500, 100], Some(200)), 0.002 + 2.0 * 0.00201 + 0.005 + 0.001);
}

#[test]
fn who_does_not_keep_to_the_window_loses_what_is_too_much_once() {
    let windows = |window| Network { window, eager_limit: Some(1000), ..Network::default() };
    let library = |service| Handling { service, sends_empty: false, ignores_window: true };
    let time =
        |blocks: &[u64], window, service| gathered(blocks, windows(window), library(service));
    let close = |one: f64, other: f64| assert!((one - other).abs() < 1e-9, "{one}, not {other}");
    for service in [Service::AllPosted, Service::OneByOne] {
        close(time(&[0, 100, 100, 100, 100], None, service), 0.005);
        close(time(&[0, 100, 100, 100, 100], Some(400), service), 0.005);
        // The last one is sent again.
        close(time(&[0, 100, 100, 100, 100], Some(399), service), 0.202);
        // One that is larger goes alone.
        close(time(&[0, 900], Some(399), service), 0.010);
    }
    // Beyond the eager limit one after the other.
    close(time(&[0, 2000, 2000], Some(399), Service::OneByOne), 2.0 * 0.021);
    assert!(time(&[0, 2000, 2000], Some(399), Service::AllPosted) > 0.2);
}
