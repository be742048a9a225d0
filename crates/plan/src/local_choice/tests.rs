use super::least::{CHUNK_BYTES, Least};
use super::*;
use tuwtree_collective::{
    CollectiveError, bruck, circulant, circulant_in_pieces, recursive_doubling, reduce_scatter,
    ring, ring_in_chunks,
};
use tuwtree_model::document::Date;
use tuwtree_model::{CostMatrix, Homogeneous, Network, Problem};
use tuwtree_schedule::{Schedule, Sends, simulate};

/// 100 picoseconds and 1 for each byte: the costs of the tables.
fn prices() -> Prices {
    Prices::linear(100, 1)
}

fn circulation(
    operation: Operation,
    sizes: &BlockSizes,
    element_bytes: u64,
    choice: RootlessChoice,
    known: (&Prices, KnownRule),
) -> Option<Circulation> {
    match pattern(operation, (sizes, element_bytes), &[], choice, known)? {
        Pattern::Rounds(circulation) => Some(circulation),
        Pattern::OnNodes(how) => panic!("{how:?} without nodes"),
    }
}

fn chosen(sizes: &[u64], rule: KnownRule) -> Option<Circulation> {
    let sizes = BlockSizes::new(sizes.iter().copied()).unwrap();
    let choice = RootlessChoice::from(RootlessAlgorithm::Auto);
    circulation(Operation::Allgather, &sizes, 1, choice, (&prices(), rule))
}

#[test]
fn prices_are_exact_on_straight_lines_and_messages_of_nothing_are_free() {
    for bytes in [1, 2, 3, 1000, 65_537, 1 << 40, (1 << 42) + 7] {
        assert_eq!(prices().least.message(bytes), 100 + u128::from(bytes), "{bytes}");
    }
    assert_eq!(prices().least.message(0), 0);
}

#[test]
fn bounds_are_closed() {
    let sizes = BlockSizes::new([1, 5, 2, 7, 3]).unwrap();
    let bounds = |alpha| -> Vec<u128> {
        let all = bounds_in_pieces(&sizes, 1, &Prices::linear(alpha, 1).most);
        all.iter().map(|one| one.bound).take(3).collect()
    };
    // 3 rounds of 18 bytes, 4 of 11, or 5 of 8.
    assert_eq!(bounds(10), [84, 84, 90]);
    assert_eq!(bounds(1), [57, 48, 45]);
}

/// Clusters of 50 Mbit/s whose messages are under way for so long, and occupy ports for so long besides their bytes; in
/// microseconds.
fn cluster(latency: u64, overhead: u64) -> Prices {
    let occupied = |power: u32| overhead * 1_000_000 + (160_000_u64 << power);
    let occupied: Vec<u64> = (0..=POWERS).map(occupied).collect();
    let powers = occupied.iter().map(|one| one + latency * 1_000_000).collect();
    PriceTable { powers, occupied }.into()
}

#[test]
fn ranks_stand_in_a_balanced_order_where_all_links_are_alike_and_large_blocks_are_neighbours() {
    let auto = RootlessChoice::from(RootlessAlgorithm::Auto);
    let skewed = BlockSizes::new((0..32).map(|rank| if rank < 5 { 6400 } else { 1 })).unwrap();
    let of = |operation, everywhere: &Prices| {
        let known = (everywhere, KnownRule::OpenMpi);
        circulation(operation, &skewed, 1, auto, known)
    };
    let everywhere =
        |latency, overhead| Prices { are_everywhere: true, ..cluster(latency, overhead) };
    let (overlapping, costly) = (everywhere(1600, 400), everywhere(200, 800));
    let gathered = of(Operation::Allgather, &overlapping);
    assert_eq!(gathered, Some(Circulation::BalancedPostal(2)));
    assert_eq!(of(Operation::Allgather, &costly), Some(Circulation::BalancedPieces(2)));
    let combined =
        |cut_so| best_pieces(&skewed, (1, Flow::Combined), &costly.most, u128::MAX, cut_so).time;
    assert!(combined(Circulation::BalancedPieces) < combined(Circulation::Pieces));
    // Ranks that are closer to some than to others keep their places, as where nothing is known.
    let unknown = of(Operation::Allgather, &cluster(200, 800));
    assert_eq!(unknown, Some(Circulation::Pieces(3)));
    let flat = machine(&Homogeneous::new(1e7, 1e3, 0.0).unwrap());
    assert!(Prices::of(&flat, 32).are_everywhere);
    let alpha = |from: Rank, to: Rank| if from / 4 == to / 4 { 1e-6 } else { 1e-5 };
    let nodes = CostMatrix::from_fn(32, alpha, |_, _| 1e-9, |_| 0.0).unwrap();
    let in_nodes = Machine { costs: Costs::Matrix(nodes), ..flat };
    assert!(!Prices::of(&in_nodes, 32).are_everywhere);
}

#[test]
fn where_ranks_are_few_pieces_are_those_that_are_fastest_where_rounds_overlap() {
    let skewed = BlockSizes::new((0..32).map(|rank| if rank < 5 { 6400 } else { 1 })).unwrap();
    let one = BlockSizes::new((0..32).map(|rank| if rank == 10 { 32_000 } else { 1 })).unwrap();
    let pieces = |sizes: &BlockSizes, prices: &Prices| {
        best_pieces(sizes, (1, Flow::Spread), &prices.most, u128::MAX, Circulation::Pieces).pieces
    };
    let (overlapping, costly) = (cluster(1600, 400), cluster(200, 800));
    // By the bound it would be 3 and 4, by what ports are occupied 7 and 8.
    assert_eq!(pieces(&one, &overlapping), 4);
    assert_eq!(pieces(&skewed, &overlapping), 3);
    assert_eq!(pieces(&skewed, &costly), 3);
    let library = KnownRule::OpenMpi;
    let choice = RootlessChoice::from(RootlessAlgorithm::Auto);
    let chosen =
        |sizes, prices| circulation(Operation::Allgather, sizes, 1, choice, (prices, library));
    assert_eq!(chosen(&skewed, &overlapping), Some(Circulation::Pieces(3)));
}

#[test]
fn small_blocks_go_in_windows_of_the_postal_model_where_rounds_overlap() {
    let cluster = cluster(1600, 400);
    let choice = RootlessChoice::from(RootlessAlgorithm::Auto);
    let known = (&cluster, KnownRule::OpenMpi);
    // The delay, and how many hundredths as long windows, pieces and the library's algorithm take by these costs.
    let compared = |block: fn(usize) -> u64| {
        let sizes = BlockSizes::new((0..32).map(block)).unwrap();
        let chosen = circulation(Operation::Allgather, &sizes, 1, choice, known);
        let best = best_delay(&sizes, &cluster.most, Circulation::Postal).unwrap();
        assert_eq!(chosen, Some(Circulation::Postal(best.delay)));
        let pieces =
            best_pieces(&sizes, (1, Flow::Spread), &cluster.most, u128::MAX, Circulation::Pieces)
                .time;
        let library = least_of_allgather(&sizes, &[], &cluster, KnownRule::OpenMpi);
        let all = [time_of_windows(&sizes, &cluster.most), pieces, library];
        (best.delay, all.map(|time| 100 * time / best.time))
    };
    assert_eq!(compared(|_| 10), (5, [158, 161, 190]));
    // 30 kB in all.
    let spikes = |rank| if rank % 5 == 3 { 5000 } else { 10 };
    assert_eq!(compared(spikes), (2, [127, 134, 127]));
    let few = |rank| if rank % 16 == 3 { 5000 } else { 10 };
    assert_eq!(compared(few), (2, [123, 129, 123]));
}

#[test]
fn a_delay_for_too_many_ranks_to_perform_is_that_of_equal_blocks() {
    let cluster = cluster(1600, 400);
    let delays = |sizes: Vec<u64>| {
        let sizes = BlockSizes::new(sizes).unwrap();
        let best = best_delay(&sizes, &cluster.most, Circulation::Postal).map(|one| one.delay);
        (best, likely_delay(&sizes, &cluster.most, Circulation::Postal))
    };
    let blocks = |p: u64, block: fn(u64) -> u64| (0..p).map(block).collect();
    assert_eq!(delays(blocks(8192, |rank| rank % 3)), (None, 5));
    assert_eq!(delays(blocks(8192, |_| 1)), (Some(5), 5));
    assert_eq!(delays(blocks(512, |rank| rank % 3)), (Some(5), 5));
    // Nothing is under way while ports are free.
    assert_eq!(
        best_delay(&BlockSizes::new([1; 8]).unwrap(), &prices().most, Circulation::Postal),
        None
    );
}

#[test]
fn one_large_block_goes_in_pieces_and_equal_ones_as_the_library_has_them() {
    let mut sizes = vec![1; 48];
    sizes[16] = 48_000;
    for rule in [KnownRule::Mpich, KnownRule::OpenMpi, KnownRule::Unknown] {
        let one = chosen(&sizes, rule);
        assert!(matches!(one, Some(Circulation::Pieces(20..))), "{one:?}");
        assert_eq!(chosen(&[1_000_000; 48], rule), None, "{rule:?}");
    }
}

/// A machine with these costs, in picoseconds.
fn machine(costs: &Homogeneous) -> Machine {
    let seconds = |picoseconds: f64| picoseconds * 1e-12;
    let costs = Homogeneous::new(seconds(costs.alpha()), seconds(costs.beta()), 0.0)
        .unwrap()
        .with_exchange(seconds(costs.exchange_alpha()), seconds(costs.exchange_beta()))
        .unwrap();
    Machine {
        name: "exchanges".to_owned(),
        date: Date::parse("2026-01-01").unwrap(),
        provenance: "costs of exchanges in a test".to_owned(),
        costs: costs.into(),
        network: Network::default(),
        combine_per_byte: 0.0,
    }
}

/// Blocks of one size, of several, some of them empty, and one large among small ones.
fn blocks(p: u64) -> [BlockSizes; 4] {
    let of = |size: fn(u64) -> u64| BlockSizes::new((0..p).map(size)).unwrap();
    [
        of(|_| 300),
        of(|rank| 1 + rank * 37 % 11 * 50),
        of(|rank| rank % 3 * 100),
        of(|rank| if rank == 1 { 90_000 } else { 5 }),
    ]
}

#[test]
fn what_is_taken_at_most_and_at_least_is_so_whatever_exchanges_cost() {
    let lone = Homogeneous::new(1000.0, 2.0, 0.0).unwrap();
    for exchange in
        [(1000.0, 2.0), (2000.0, 4.0), (1500.0, 2.0), (500.0, 1.0), (1000.0, 3.0), (3000.0, 1.0)]
    {
        let costs = lone.with_exchange(exchange.0, exchange.1).unwrap();
        for p in [2, 3, 4, 5, 8, 12, 13, 16] {
            let prices = Prices::of(&machine(&costs), p as usize);
            assert_eq!(prices.exchanged, Prices::linear(exchange.0 as u64, exchange.1 as u64).most);
            for sizes in blocks(p) {
                let gathered = Problem::allgather(&sizes, costs).unwrap();
                let scattered = Problem::reduce_scatter(&sizes, costs).unwrap();
                let least = Least::of(&sizes, &[], &prices);
                let windows = time_of_windows(&sizes, &prices.most);
                let pieces = bounds_in_pieces(&sizes, 1, &prices.most);
                let pieces = pieces.iter().find(|one| one.pieces == 2).map(|one| one.bound);
                let ours = [
                    (Some(windows), circulant(&gathered)),
                    (Some(windows), reduce_scatter::circulant(&scattered)),
                    (pieces, circulant_in_pieces(&gathered, 2)),
                    (pieces, reduce_scatter::circulant_in_pieces(&scattered, 2)),
                ];
                let mut libraries = vec![
                    (least.ring(u64::MAX), ring(&gathered)),
                    (least.ring(CHUNK_BYTES), ring_in_chunks(&gathered, CHUNK_BYTES)),
                    (least.bruck(), bruck(&gathered)),
                    (least.few_rounds(), bruck(&gathered)),
                    (least.few_rounds(), reduce_scatter::halving(&scattered)),
                    (least.pairwise(), reduce_scatter::pairwise(&scattered)),
                ];
                if p.is_power_of_two() {
                    libraries.push((least.doubling(), recursive_doubling(&gathered)));
                }
                let time = |schedule: Result<Schedule, CollectiveError>| {
                    let timeline = simulate(&schedule.unwrap(), &costs, Sends::Synchronous);
                    timeline.unwrap().completion_time().units() as u128
                };
                for (which, (bound, schedule)) in ours.into_iter().enumerate() {
                    let time = time(schedule);
                    let holds = bound.is_none_or(|bound| time <= bound);
                    assert!(holds, "ours {which}, {p}, {sizes:?}, {exchange:?}: {time} {bound:?}");
                }
                for (which, (bound, schedule)) in libraries.into_iter().enumerate() {
                    let time = time(schedule);
                    assert!(bound <= time, "{which}, {p}, {sizes:?}, {exchange:?}: {bound} {time}");
                }
            }
        }
    }
}

#[test]
fn what_exchanges_cost_decides_how_blocks_go() {
    let mut sizes = vec![1; 48];
    sizes[16] = 48_000;
    let sizes = BlockSizes::new(sizes).unwrap();
    let lone = Homogeneous::new(100.0, 1.0, 0.0).unwrap();
    let chosen = |alpha: f64, beta: f64| {
        let costs = lone.with_exchange(alpha, beta).unwrap();
        let prices = Prices::of(&machine(&costs), sizes.ranks());
        let auto = RootlessChoice::from(RootlessAlgorithm::Auto);
        circulation(Operation::Allgather, &sizes, 1, auto, (&prices, KnownRule::Unknown))
    };
    let usual = chosen(100.0, 1.0);
    assert!(matches!(usual, Some(Circulation::Pieces(20..))), "{usual:?}");
    // Start-ups that are dearer: fewer pieces.
    let (Some(Circulation::Pieces(usual)), Some(Circulation::Pieces(fewer))) =
        (usual, chosen(1000.0, 1.0))
    else {
        panic!("both go in pieces");
    };
    assert!(fewer < usual, "{fewer} {usual}");
}

#[test]
fn what_is_stated_is_done_whatever_it_takes() {
    let sizes = BlockSizes::new([4, 4, 4]).unwrap();
    let stated = |choice: RootlessChoice| {
        let known = (&prices(), KnownRule::Mpich);
        circulation(Operation::Allgather, &sizes, 1, choice, known)
    };
    use RootlessAlgorithm::{BruckPostal, Circulant, CirculantPieces, Native, Ring};
    assert_eq!(stated(Ring.into()), Some(Circulation::Ring));
    assert_eq!(stated(Native.into()), None);
    assert_eq!(stated(Circulant.into()), Some(Circulation::Windows));
    let pieces = std::num::NonZeroU16::new(3);
    let three = RootlessChoice { algorithm: CirculantPieces, number: pieces };
    assert_eq!(stated(three), Some(Circulation::Pieces(3)));
    let three = RootlessChoice { algorithm: BruckPostal, ..three };
    assert_eq!(stated(three), Some(Circulation::Postal(3)));
    // Nothing overlaps at these prices.
    assert_eq!(stated(BruckPostal.into()), Some(Circulation::Postal(1)));
}
