//! The figures of TRG that show where data is: of Bruck's algorithms, and of allreduces of 13 processes.

use super::drawings::Drawn;
use super::statements::{Statement, Verdict, equal_blocks, schedule};
use crate::error::CliError;
use std::sync::Arc;
use tuwtree_model::{
    Collective, Construction, Homogeneous, MessageSizes, Operation, Problem, Rank, Vector,
};
use tuwtree_schedule::{Arrival, Buffer, Deed, Region, Schedule};

/// All of them.
///
/// # Errors
/// None but of broken invariants.
pub(super) fn all() -> Result<Vec<Statement>, CliError> {
    let mut all = vec![figure_1()?, figure_2()?];
    all.extend(figure_7()?);
    all.push(figure_9()?);
    all.extend(figure_12()?);
    all.extend(figure_13()?);
    all.push(largest_difference_of_exponents()?);
    Ok(all)
}

/// The schedules of the figures, by number.
///
/// # Errors
/// None but of broken invariants.
pub(crate) fn drawn() -> Result<Vec<(u32, Drawn)>, CliError> {
    let blocks = |ranks| equal_blocks(ranks, 1);
    let messages = MessageSizes::of_senders(&blocks(FIGURE_7.len())).expect("small sizes");
    let figures = [
        (1, moves(Collective::allgather(&blocks(8)), Construction::RecursiveDoubling)?),
        (2, moves(Collective::allgather(&blocks(6)), Construction::Bruck)?),
        (7, moves(Collective::alltoall(&messages), Construction::Bruck)?),
        (9, moves(Collective::reduce_scatter(&blocks(8)), Construction::Halving)?),
        (12, allreduce(13, 8, Construction::RabenseifnerHalf)?),
        (13, allreduce(13, 8, Construction::BinaryBlocks)?),
    ];
    Ok(figures.map(|(number, schedule)| (number, Drawn::Schedule(schedule))).into())
}

/// The schedule of a construction; what messages cost is of no meaning.
fn moves(collective: Collective, construction: Construction) -> Result<Arc<Schedule>, CliError> {
    let costs = Homogeneous::new(1.0, 1.0, 0.0).expect("costs");
    let problem = Problem::of(collective, costs).expect("costs for all");
    schedule(&problem, construction)
}

/// An allreduce of parts of a byte each.
fn allreduce(
    ranks: usize,
    parts: u64,
    construction: Construction,
) -> Result<Arc<Schedule>, CliError> {
    let vector = Vector { ranks, bytes: parts };
    let allreduce = Collective::new(Operation::Allreduce, vector).expect("its data");
    moves(allreduce, construction)
}

/// Partners of each of 8 ranks in turn at these distances.
fn met_at_distances(distances: [usize; 3]) -> String {
    let of = |rank: usize| words(&distances.map(|distance| rank ^ distance), " ");
    words(&[0, 1, 2, 3, 4, 5, 6, 7].map(of), "; ")
}

/// Receivers of each rank's messages in turn.
fn met(schedule: &Schedule) -> String {
    let of = |rank| {
        let sends = schedule.programs().actions(rank).filter_map(|action| action.send());
        words(&sends.map(|send| send.to).collect::<Vec<_>>(), " ")
    };
    words(&(0..schedule.ranks()).map(of).collect::<Vec<_>>(), "; ")
}

/// Partners in the allgather by recursive doubling: the figure has arrows between ranks 1, 2 and 4 apart.
fn figure_1() -> Result<Statement, CliError> {
    let allgather = Collective::allgather(&equal_blocks(8, 1));
    let schedule = moves(allgather, Construction::RecursiveDoubling)?;
    let what = "partners of ranks 0 to 7 in an allgather, by steps";
    Ok(same("figure 1", what, &met_at_distances([1, 2, 4]), met(&schedule)))
}

/// Partners in the reduce-scatter by recursive halving: the figure has arrows between ranks 4, 2 and 1 apart.
fn figure_9() -> Result<Statement, CliError> {
    let scatter = Collective::reduce_scatter(&equal_blocks(8, 1));
    let schedule = moves(scatter, Construction::Halving)?;
    let what = "partners of ranks 0 to 7 in a reduce-scatter, by steps";
    Ok(same("figure 9", what, &met_at_distances([4, 2, 1]), met(&schedule)))
}

/// Blocks at rank 0 of 6 after each round of Bruck's allgather.
fn figure_2() -> Result<Statement, CliError> {
    let schedule = moves(Collective::allgather(&equal_blocks(6, 1)), Construction::Bruck)?;
    let mut held = vec![0];
    let mut rounds = Vec::new();
    for receive in schedule.programs().actions(0).filter_map(|action| action.receive()) {
        held.extend(receive.into.pieces.iter().flat_map(|piece| piece.offset..piece.end()));
        rounds.push(words(&held, " "));
    }
    Ok(same(
        "figure 2",
        "blocks at rank 0 of 6, by rounds",
        "0 1; 0 1 2 3; 0 1 2 3 4 5",
        rounds.join("; "),
    ))
}

/// Values that overwrite the places of a process's column in figure 7, by steps.
const FIGURE_7: [&str; 6] = [
    "50 52 54; 40 30; 20 10",
    "01 03 05; 51 41; 31 21",
    "12 14 10; 02 52; 42 32",
    "23 25 21; 13 03; 53 43",
    "34 30 32; 24 14; 04 54",
    "45 41 43; 35 25; 15 05",
];

/// Messages received by each of 6 ranks in each round of Bruck's alltoall, message `ij` being that of `i` for `j`.
fn figure_7() -> Result<Vec<Statement>, CliError> {
    let p = FIGURE_7.len();
    let sizes = MessageSizes::of_senders(&equal_blocks(p, 1)).expect("small sizes");
    let schedule = moves(Collective::alltoall(&sizes), Construction::Bruck)?;
    // An output has room for what comes; behind that is what the rank gives, and room for what it passes on.
    let mut held: Vec<Vec<(Rank, Rank)>> = (0..p)
        .map(|rank| {
            let bytes = schedule.buffer_bytes(rank, Buffer::Output) as usize;
            (0..bytes).map(|place| (rank, place % p)).collect()
        })
        .collect();
    let mut received = vec![Vec::new(); p];
    for round in 0..schedule.programs().actions(0).len() {
        let before = held.clone();
        for rank in 0..p {
            let action = schedule.programs().actions(rank).nth(round);
            let Some(Deed::Exchange(_, receive)) = action.map(|action| action.deed) else {
                continue;
            };
            let sent = schedule.programs().actions(receive.from).nth(round);
            let sent = sent.and_then(|action| action.send()).expect("both ends are in one round");
            let places = |region: Region<'_>| {
                let pieces = region.pieces.iter();
                pieces.flat_map(|piece| piece.offset as usize..piece.end() as usize).collect()
            };
            let (from, into): (Vec<usize>, Vec<usize>) = (places(sent.from), places(receive.into));
            let mut came: Vec<(Rank, Rank)> =
                from.iter().map(|&place| before[receive.from][place]).collect();
            for (&place, &message) in into.iter().zip(&came) {
                held[rank][place] = message;
            }
            // The figure has them by how far they go in all.
            came.sort_by_key(|(from, to)| (to + p - from) % p);
            let came: Vec<String> = came.iter().map(|(from, to)| format!("{from}{to}")).collect();
            received[rank].push(came.join(" "));
        }
    }
    let statement = |(rank, received): (Rank, &Vec<String>)| {
        let what = format!("messages that rank {rank} of 6 receives in an alltoall, by steps");
        same("figure 7", &what, FIGURE_7[rank], received.join("; "))
    };
    Ok(received.iter().enumerate().map(statement).collect())
}

/// The parts of a vector that a region has, by their letters.
fn letters(region: Region<'_>) -> String {
    let letter = |part: u64| char::from(b'A' + part as u8);
    let pieces = region.pieces.iter().map(|piece| match piece.bytes {
        1 => letter(piece.offset).to_string(),
        _ => format!("{}-{}", letter(piece.offset), letter(piece.end() - 1)),
    });
    pieces.collect::<Vec<_>>().join(" ")
}

/// The allreduce of 13 ranks by halving and doubling, in 8 parts.
fn figure_12() -> Result<Vec<Statement>, CliError> {
    let schedule = allreduce(13, 8, Construction::RabenseifnerHalf)?;
    let actions = |rank| schedule.programs().actions(rank);
    // Whoever rests talks to one other only.
    let rests = |rank: &usize| {
        let mut peers: Vec<usize> = actions(*rank).filter_map(|one| Some(one.send()?.to)).collect();
        peers.sort_unstable();
        peers.dedup();
        peers.len() == 1
    };
    let resting: Vec<usize> = (0..13).filter(rests).collect();
    let first =
        (0..4).map(|rank| actions(rank).find_map(|one| one.receive()).map(|one| letters(one.into)));
    let first: Vec<String> = first.map(Option::unwrap_or_default).collect();
    let second = [1, 3].map(|rank| actions(rank).filter_map(|one| one.send()).nth(1));
    let given: Vec<usize> = second.into_iter().flatten().map(|send| send.to).collect();
    // The last part that somebody combines tells its new rank, the bits of that part's number reversed.
    let mut active: Vec<(u8, usize)> = Vec::new();
    for rank in (0..13).filter(|rank| !rests(rank)) {
        let last = actions(rank).filter_map(|one| one.combines()).next_back();
        let part = last.map_or(0, |region| region.pieces[0].offset);
        active.push(((part as u8).reverse_bits(), rank));
    }
    active.sort_unstable();
    let active: Vec<usize> = active.into_iter().map(|(_, rank)| rank).collect();
    let to = "receivers of the halves that ranks 1 and 3 have combined";
    let given = words(&given, " ");
    // The text has P3 send to P0; the figure's P2 needs it.
    let verdict = match given.as_str() {
        "0 0" => Verdict::Equal,
        "0 2" => Verdict::Wrong,
        _ => Verdict::Different,
    };
    Ok(vec![
        same(
            "figure 12",
            "ranks of 13 that rest in an allreduce",
            "1 3 5 7 9",
            words(&resting, " "),
        ),
        same(
            "figure 12",
            "parts that ranks 0 to 3 of 13 combine first",
            "A-D E-H A-D E-H",
            first.join(" "),
        ),
        Statement {
            place: "5.1",
            what: to.to_owned(),
            published: "0 0".to_owned(),
            recomputed: given,
            verdict,
        },
        same(
            "figure 12",
            "ranks of 13 that get the new ranks 0 to 7",
            "0 2 4 6 8 10 11 12",
            words(&active, " "),
        ),
    ])
}

/// The allreduce of 13 ranks in blocks of 8, 4 and 1, in 8 parts.
fn figure_13() -> Result<Vec<Statement>, CliError> {
    let schedule = allreduce(13, 8, Construction::BinaryBlocks)?;
    let actions = |rank| schedule.programs().actions(rank);
    let exchange = |rank, index| {
        let mut exchanges = actions(rank).filter_map(|one| match one.deed {
            Deed::Exchange(send, receive) => Some((letters(send.from), letters(receive.into))),
            _ => None,
        });
        exchanges.nth(index).unwrap_or_default()
    };
    let (sent, received) = exchange(0, 2);
    let (_, reduced) = exchange(8, 1);
    let up = actions(12).filter_map(|one| one.send()).count();
    let down = actions(8)
        .filter_map(|one| one.receive())
        .filter(|one| one.from < 8 && one.arrival == Arrival::Store);
    Ok(vec![
        same(
            "figure 13",
            "parts that rank 0 of 13 sends and receives in its third exchange",
            "B, A",
            format!("{sent}, {received}"),
        ),
        same("figure 13", "parts that rank 8 of 13 reduces last in its block of 4", "A-B", reduced),
        same("figure 13", "messages of rank 12 to the block of 4", "4", up.to_string()),
        same(
            "figure 13",
            "messages with results that rank 8 gets from the block of 8",
            "2",
            down.count().to_string(),
        ),
    ])
}

/// By the number of ranks in 5.2, 100: two to the power of it is how many messages somebody sends to the next larger block.
fn largest_difference_of_exponents() -> Result<Statement, CliError> {
    const PROCESSES: usize = 100;
    let schedule = allreduce(PROCESSES, 64, Construction::BinaryBlocks)?;
    let mut first = 0;
    let mut most = 1;
    for bit in (0..usize::BITS).rev().filter(|bit| PROCESSES >> bit & 1 == 1) {
        for rank in first..first + (1 << bit) {
            let sends = schedule.programs().actions(rank).filter_map(|one| one.send());
            most = most.max(sends.filter(|send| send.to < first).count());
        }
        first += 1 << bit;
    }
    let what = "delta of 100 ranks, the largest difference of exponents";
    Ok(same("5.2", what, "3", most.ilog2().to_string()))
}

fn words(numbers: &[impl ToString], between: &str) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(between)
}

fn same(place: &'static str, what: &str, published: &str, recomputed: String) -> Statement {
    let verdict = if published == recomputed { Verdict::Equal } else { Verdict::Different };
    Statement { place, what: what.to_owned(), published: published.to_owned(), recomputed, verdict }
}
