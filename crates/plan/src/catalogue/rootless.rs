//! Schedules that go along no tree: of operations without a root, and of broadcasts and reductions whose vector is
//! cut. Every rank knows all counts, and works out its part by itself.

use super::{CatalogueRow, OperandOrder, bundled, delays, pieces};
use crate::error::NoTree;
use crate::expense::{Expense, LIMIT_SECONDS};
use crate::plan::RankPrograms;
use crate::request::{Built, Request, Wanted, time_otherwise};
use tuwtree_collective::allreduce::Folds;
use tuwtree_collective::broadcast::{self, Gathering};
use tuwtree_collective::{
    CollectiveError, Outline, allreduce, alltoall, binary_blocks, reduce, reduce_scatter, ring,
    ring_outline, straight,
};
use tuwtree_model::{
    BlockSizes, ClosedSet, CostModel, Direction, NodeWires, Operation, Order, Placement, Problem,
    Rank, Root, Time, WireOwner,
};
use tuwtree_schedule::Schedule;

/// An algorithm without parameters.
type Build = fn(&Problem) -> Result<Schedule, CollectiveError>;

/// Figures of an algorithm without parameters.
type Sketch = fn(&Problem) -> Result<Outline, CollectiveError>;

pub(super) const fn row(
    summary: &'static str,
    build: fn(&Request<'_>, Wanted) -> Result<Built, NoTree>,
) -> CatalogueRow {
    CatalogueRow {
        is_online: true,
        cuts_vectors: true,
        ..CatalogueRow::plain(summary, |_, _| true, build)
    }
}

/// True if schedules have rank 0 as root, as they do if any root is allowed.
fn is_rank_0(problem: &Problem) -> bool {
    !matches!(problem.root(), Root::Given(1..))
}

pub(super) const PAIRWISE: CatalogueRow = CatalogueRow {
    yields_near_bound: true,
    floor: bundled::floor_of_pairwise,
    ..row(
        "each rank sends each other rank its block, as MPI libraries do with much data",
        |request, wanted| {
            let problem = request.problem;
            let messages = messages_of_all_pairs(problem);
            let is_alltoall = problem.operation() == Operation::Alltoall;
            let (order, outline, build): (Order, Sketch, Build) = match is_alltoall {
                true => (Order::Ordered, alltoall::pairwise_outline, alltoall::pairwise),
                false => (Order::Any, reduce_scatter::pairwise_outline, reduce_scatter::pairwise),
            };
            match is_outlined(problem) && !problem.costs().overlaps() {
                true => outlined(request, wanted, order, (outline, build)),
                false => whole(request, wanted, messages, build),
            }
        },
    )
};

pub(super) const BINOMIAL: CatalogueRow = CatalogueRow {
    cuts_vectors: false,
    operands: OperandOrder::FromRoot,
    ..row(
        "binomial tree of the ranks as counted from the root, the vector uncut",
        |request, wanted| {
            let messages = messages_of_few_rounds(request.problem);
            match request.problem.operation() {
                Operation::Reduce => whole(request, wanted, messages, reduce::binomial),
                Operation::Allreduce => whole(request, wanted, 2 * messages, allreduce::binomial),
                _ => whole(request, wanted, messages, broadcast::binomial),
            }
        },
    )
};

pub(super) const BINOMIAL_FORWARDED: CatalogueRow = CatalogueRow {
    is_special: true,
    cuts_vectors: false,
    operands: OperandOrder::Ranks,
    suits: |request, order| order == Order::Ordered && !is_rank_0(request.problem),
    ..row(
        "the same to rank 0, which passes the result on: in rank order for every root, as in MPICH",
        |request, wanted| {
            let messages = messages_of_few_rounds(request.problem);
            whole(request, wanted, messages, reduce::binomial_forwarded)
        },
    )
};

pub(super) const SCATTER_RING: CatalogueRow = CatalogueRow {
    floor: floor_of_pieces,
    ..row(
        "pieces are scattered, and gathered around the ring, as MPI libraries do with much data",
        |request, wanted| {
            let messages = 2 * messages_of_all_pairs(request.problem);
            whole(request, wanted, messages, |problem| {
                broadcast::scatter_allgather(problem, Gathering::Ring)
            })
        },
    )
};

pub(super) const SCATTER_DOUBLING: CatalogueRow = row(
    "pieces are scattered, and gathered by recursive doubling; made for powers of two",
    |request, wanted| {
        let messages = 3 * messages_of_few_rounds(request.problem);
        whole(request, wanted, messages, |problem| {
            broadcast::scatter_allgather(problem, Gathering::Doubling)
        })
    },
);

pub(super) const RING_CHUNKS: CatalogueRow = CatalogueRow {
    floor: |problem| floor_of_ring(problem, CHUNK_BYTES),
    suits: |request, _| {
        let sizes = request.problem.blocks();
        sizes.is_some_and(|sizes| sizes.iter().any(|bytes| bytes > CHUNK_BYTES))
    },
    ..row(
        "around the ring, larger blocks in chunks of 32 KiB, as MPICH does with much data",
        |request, wanted| {
            let problem = request.problem;
            let chunks = problem.payload().total() / CHUNK_BYTES;
            let messages = messages_of_all_pairs(problem)
                .saturating_add(chunks.saturating_mul(problem.ranks() as u64));
            whole(request, wanted, messages, |problem| {
                tuwtree_collective::ring_in_chunks(problem, CHUNK_BYTES)
            })
        },
    )
};

/// MPICH's `MPIR_CVAR_ALLGATHERV_PIPELINE_MSG_SIZE`.
const CHUNK_BYTES: u64 = 32_768;

pub(super) const RING: CatalogueRow = CatalogueRow {
    floor: |problem| floor_of_ring(problem, u64::MAX).or_else(|| floor_of_pieces(problem)),
    ..row(
        "around the ring of all ranks, block by block, as MPI libraries do with much data",
        |request, wanted| {
            let messages = messages_of_all_pairs(request.problem);
            match request.problem.operation() {
                Operation::Reduce => whole(request, wanted, 2 * messages, reduce::ring),
                Operation::Allreduce => whole(request, wanted, 2 * messages, allreduce::ring),
                Operation::Allgather if is_outlined_ring(request.problem) => {
                    let sketch_and_build = (ring_outline as Sketch, ring as Build);
                    outlined(request, wanted, Order::Ordered, sketch_and_build)
                }
                _ => whole(request, wanted, messages, ring),
            }
        },
    )
};

/// Least time for which ranks of many are busy if each sends its block, or the blocks of all others, to all others, in as many
/// messages.
pub(super) fn floor_of_linear(problem: &Problem) -> Option<Time> {
    if problem.operation() == Operation::Alltoall {
        return bundled::floor_of_direct(problem, MANY);
    }
    let sizes = many_blocks(problem)?;
    let longest = match problem.operation() {
        Operation::Allgather => {
            let all = (0..sizes.ranks()).map(|rank| busy(problem, rank, sizes.block(rank)));
            let longest = all.collect::<Option<Vec<f64>>>()?.into_iter().fold(0.0, f64::max);
            longest * (sizes.ranks() - 1) as f64
        }
        _ => (1..sizes.ranks()).map(|to| busy(problem, 0, sizes.block(to))).sum::<Option<f64>>()?,
    };
    let busy = Time::new(longest)?;
    Some(on_wires(problem, sizes).map_or(busy, |wires| busy.later(wires)))
}

/// For how long a wire that the ranks of a node share is busy at least if each rank sends its block to all ranks elsewhere, or
/// gets it from these.
pub(super) fn on_wires(problem: &Problem, sizes: &BlockSizes) -> Option<Time> {
    let machine = problem.costs().hierarchy()?;
    let mut nodes = vec![(0, 0.0); machine.nodes_of(sizes.ranks())];
    for (rank, bytes) in sizes.iter().enumerate() {
        let (ranks, total) = &mut nodes[machine.node(rank)];
        *ranks += 1;
        *total += bytes as f64;
    }
    let sent = nodes.iter().map(|&(ranks, bytes)| (sizes.ranks() - ranks) as f64 * bytes);
    longest_on_wires(problem, sizes, sizes.iter().max()?, sent)
}

/// The longest time of the shared wires of nodes that send these bytes, in messages of at most `most` bytes.
pub(super) fn longest_on_wires(
    problem: &Problem,
    sizes: &BlockSizes,
    most: u64,
    sent: impl IntoIterator<Item = f64>,
) -> Option<Time> {
    let smallest = sizes.iter().filter(|&bytes| bytes > 0).min()?;
    let wires = NodeWires::new(problem, smallest..=most).ok()??;
    let most_ranks = problem.costs().hierarchy()?.levels()[0].members;
    let times = sent.into_iter().map(|bytes| wires.least_time(most_ranks, bytes, bytes));
    Time::new(times.fold(0.0, f64::max))
}

/// Lower bound on the time of blocks that go around the ring of many ranks, in chunks of at most `most` bytes: a chunk of the
/// largest block takes each link of its way after the other, and all blocks but one take the link that is the dearest for a
/// mean block.
pub(super) fn floor_of_ring(problem: &Problem, most: u64) -> Option<Time> {
    Some(on_dearest_link(problem, most)?.later(around_ring(problem, most)?))
}

/// Travel time of the largest chunk around the ring.
fn around_ring(problem: &Problem, most: u64) -> Option<Time> {
    let sizes = many_blocks(problem)?;
    let p = sizes.ranks();
    let first = (0..p).max_by_key(|&rank| sizes.block(rank))?;
    let bytes = most.min(sizes.block(first));
    if bytes == 0 {
        return Some(Time::ZERO);
    }
    let hop = |number| {
        let (from, to) = ((first + number) % p, (first + number + 1) % p);
        let latency = problem.stated_costs().latency_between(from, to, bytes).ok()?;
        Some(latency.units() + busy_on_link(problem, (from, to), bytes)?.units())
    };
    Time::new((0..p - 1).map(hop).sum::<Option<f64>>()?)
}

/// For how long the ends of the link that is the dearest for a mean block are busy at least.
fn on_dearest_link(problem: &Problem, most: u64) -> Option<Time> {
    let sizes = many_blocks(problem)?;
    let p = sizes.ranks();
    let busy = |from, bytes| busy_on_link(problem, (from, (from + 1) % p), bytes);
    let mean = most.min(sizes.total() / p as u64);
    let dearest = (0..p).max_by_key(|&from| busy(from, mean))?;
    let units = |bytes| match bytes {
        0 => Some(0.0),
        _ => busy(dearest, bytes).map(Time::units),
    };
    let whole =
        |bytes| Some((bytes / most) as f64 * units(most.min(bytes))? + units(bytes % most)?);
    let all = sizes.iter().map(whole).collect::<Option<Vec<f64>>>()?;
    Time::new(all.iter().sum::<f64>() - all.iter().copied().fold(0.0, f64::max))
}

/// Lower bound on the time of a vector whose pieces go around the ring of many ranks: a rank sends all pieces but one, one
/// after the other.
pub(super) fn floor_of_pieces(problem: &Problem) -> Option<Time> {
    let p = problem.ranks();
    let bytes = problem.vector().filter(|_| p > MANY)?.bytes;
    let element = problem.operator().element_bytes();
    let (pieces, piece) = match problem.operation() {
        // The last may be shorter.
        Operation::Broadcast => (bytes / bytes.div_ceil(p as u64).max(1), bytes.div_ceil(p as u64)),
        _ => (p as u64, bytes / element / p as u64 * element),
    };
    let rounds = if problem.operation() == Operation::Allreduce { 2 } else { 1 };
    let all = (0..p).map(|rank| busy(problem, rank, piece)).collect::<Option<Vec<f64>>>()?;
    let least = all.into_iter().fold(f64::INFINITY, f64::min);
    Time::new(least * (pieces.saturating_sub(1) * rounds) as f64).filter(|_| piece > 0)
}

/// With more ranks, messages of all pairs take seconds to build.
pub(crate) const MANY: usize = 1024;

/// The blocks of an allgather or a reduce-scatter of many ranks.
pub(super) fn many_blocks(problem: &Problem) -> Option<&BlockSizes> {
    let is_it = matches!(problem.operation(), Operation::Allgather | Operation::ReduceScatter);
    problem.blocks().filter(|_| is_it && problem.ranks() > MANY)
}

/// For how long a message occupies the ports of its ends at least.
pub(super) fn busy_on_link(
    problem: &Problem,
    (from, to): (Rank, Rank),
    bytes: u64,
) -> Option<Time> {
    let costs = problem.stated_costs();
    let exchanged = costs.exchange_between(from, to, bytes).ok()?;
    costs.transmission_between(from, to, bytes).ok().map(|lone| lone.min(exchanged))
}

/// Least time for which a message of this many bytes keeps its sender busy.
pub(super) fn busy(problem: &Problem, rank: Rank, bytes: u64) -> Option<f64> {
    let costs = problem.stated_costs();
    let busy = costs.least_busy(Direction::Send, rank, problem.ranks(), bytes);
    busy.ok().map(Time::units)
}

pub(super) const RECURSIVE_DOUBLING: CatalogueRow = CatalogueRow {
    cuts_vectors: false,
    operands: OperandOrder::Ranks,
    ..row(
        "ranks at distances 1, 2, 4, ... exchange all they have; made for powers of two",
        |request, wanted| {
            let build = match request.problem.operation() {
                Operation::ReduceScatter => reduce_scatter::recursive_doubling,
                Operation::Allreduce => allreduce::recursive_doubling,
                _ => tuwtree_collective::recursive_doubling,
            };
            whole(request, wanted, 2 * messages_of_few_rounds(request.problem), build)
        },
    )
};

pub(super) const NON_OVERLAPPING: CatalogueRow = CatalogueRow {
    is_special: true,
    operands: OperandOrder::Ranks,
    // Recursive doubling and the butterfly take fewer rounds of no more data.
    suits: |_, _| false,
    ..row(
        "binomial reduction to rank 0, which sends each rank its block, as MPICH did before; only if it is named",
        |request, wanted| {
            let messages = messages_of_few_rounds(request.problem);
            whole(request, wanted, 2 * messages, reduce_scatter::non_overlapping)
        },
    )
};

pub(super) const HALVING: CatalogueRow = row(
    "ranks at distances p/2, p/4, ... exchange halves of what they have; made for powers of two",
    |request, wanted| {
        let messages = messages_of_few_rounds(request.problem);
        whole(request, wanted, messages, reduce_scatter::halving)
    },
);

pub(super) const BUTTERFLY: CatalogueRow = CatalogueRow {
    operands: OperandOrder::Ranks,
    ..row(
        "ranks at distances 1, 2, 4, ... exchange halves of what they have, which keeps the order of operands (Träff 2005)",
        |request, wanted| {
            let messages = messages_of_few_rounds(request.problem);
            // Half of all blocks in the first round, then half as many each time.
            let pieces = messages_of_all_pairs(request.problem) / messages.max(1);
            expense(wanted, messages, pieces)
                .check(wanted.effort, request.watch, |_| String::new())?;
            whole(request, wanted, messages, reduce_scatter::butterfly)
        },
    )
};

pub(super) const RABENSEIFNER_HALF: CatalogueRow = CatalogueRow {
    operands: OperandOrder::Ranks,
    ..row(
        "halves are exchanged and combined, then given back; ranks beyond a power of two combine halves first",
        |request, wanted| rabenseifner(request, wanted, Folds::Half),
    )
};

pub(super) const RABENSEIFNER_FULL: CatalogueRow = CatalogueRow {
    operands: OperandOrder::Ranks,
    ..row(
        "the same, but ranks beyond a power of two give all away first, as in MPICH with much data",
        |request, wanted| rabenseifner(request, wanted, Folds::Full),
    )
};

fn rabenseifner(request: &Request<'_>, wanted: Wanted, folds: Folds) -> Result<Built, NoTree> {
    let messages = 2 * messages_of_few_rounds(request.problem);
    let build: Build = match (request.problem.operation(), folds) {
        (Operation::Reduce, Folds::Half) => |problem| reduce::rabenseifner(problem, Folds::Half),
        (Operation::Reduce, Folds::Full) => |problem| reduce::rabenseifner(problem, Folds::Full),
        (_, Folds::Half) => |problem| allreduce::rabenseifner(problem, Folds::Half),
        (_, Folds::Full) => |problem| allreduce::rabenseifner(problem, Folds::Full),
    };
    whole(request, wanted, messages, build)
}

pub(super) const BINARY_BLOCKS: CatalogueRow = CatalogueRow {
    operands: OperandOrder::Ranks,
    ..row(
        "the same in blocks of powers of two, which hand on what they have combined",
        |request, wanted| {
            let messages = 3 * messages_of_few_rounds(request.problem);
            match request.problem.operation() {
                Operation::Reduce => whole(request, wanted, messages, binary_blocks::reduce),
                _ => whole(request, wanted, messages, binary_blocks::allreduce),
            }
        },
    )
};

pub(super) const BRUCK: CatalogueRow = CatalogueRow {
    floor: |problem| bundled::floor_of_relay(problem, [2]),
    ..row(
        "windows of blocks that double, at distances 1, 2, 4, ...: fewest rounds, for any p",
        |request, wanted| {
            let messages = messages_of_few_rounds(request.problem);
            match request.problem.operation() {
                Operation::Alltoall => bundled::in_radix_2(request, wanted),
                _ => whole(request, wanted, messages, tuwtree_collective::bruck),
            }
        },
    )
};

pub(super) const BRUCK_CONTIGUOUS: CatalogueRow = CatalogueRow {
    is_special: true,
    // Without copies it is as fast or faster.
    suits: |_, _| false,
    ..row(
        "as bruck with messages of one piece, which takes copies; only if it is named",
        |request, wanted| {
            let messages = messages_of_few_rounds(request.problem);
            match request.problem.operation() {
                Operation::Alltoall => {
                    let pieces = request.problem.ranks() as u64 / 2;
                    expense(wanted, 2 * messages, pieces).check(
                        wanted.effort,
                        request.watch,
                        |_| String::new(),
                    )?;
                    whole(request, wanted, 2 * messages, alltoall::bruck_contiguous)
                }
                _ => whole(request, wanted, messages, tuwtree_collective::bruck_contiguous),
            }
        },
    )
};

pub(super) const BRUCK_RADIX: CatalogueRow = CatalogueRow {
    is_long: true,
    yields_near_bound: true,
    floor: bundled::floor_of_search,
    ..row(
        "digit by digit of distances, large messages straight, as is found best (Fan et al. 2025)",
        bundled::in_radix,
    )
};

pub(super) const BRUCK_POSTAL: CatalogueRow = CatalogueRow {
    is_for_overlap: true,
    floor: |problem| delays::floor_of_delays(problem, false),
    suits: |request, _| request.problem.costs().overlaps(),
    ..row(
        "the same with messages of several steps under way at once, as many as are found best",
        delays::with_delay,
    )
};

pub(super) const OPEN_SHOP: CatalogueRow = CatalogueRow {
    yields_near_bound: true,
    floor: |problem| bundled::floor_of_direct(problem, bundled::SOME),
    ..row(
        "straight to receivers, whoever has most to do first, sending and receiving independently",
        |request, wanted| {
            let p = request.problem.ranks() as u64;
            let messages = messages_of_all_pairs(request.problem);
            // Where all messages end at once, each rank looks at all others for each of its own.
            let seconds = seconds_of(messages.saturating_mul(1 + p / 64), 1);
            let expense = Expense { seconds, ..expense(wanted, messages, 1) };
            expense.check(wanted.effort, request.watch, |_| String::new())?;
            whole(request, wanted, messages, alltoall::open_shop)
        },
    )
};

pub(super) const CIRCULANT: CatalogueRow = row(
    "windows of blocks at distances that halve p: fewest rounds, for any p (Träff 2024)",
    |request, wanted| {
        let messages = messages_of_few_rounds(request.problem);
        match request.problem.operation() {
            Operation::ReduceScatter => whole(request, wanted, messages, reduce_scatter::circulant),
            Operation::Allreduce => whole(request, wanted, 2 * messages, allreduce::circulant),
            _ => whole(request, wanted, messages, tuwtree_collective::circulant),
        }
    },
);

pub(super) const CIRCULANT_PIECES: CatalogueRow = CatalogueRow {
    is_long: true,
    ..row(
        "all blocks at once, in the number of pieces that is found best (Träff 2022)",
        pieces::in_pieces,
    )
};

pub(super) const BRUCK_BALANCED: CatalogueRow = CatalogueRow {
    is_for_overlap: true,
    floor: |problem| delays::floor_of_delays(problem, true),
    suits: |request, _| request.problem.costs().overlaps() && has_different_blocks(request),
    ..row(
        "as bruck-postal, ranks in an order in which large blocks are far apart",
        delays::with_delay,
    )
};

pub(super) const CIRCULANT_BALANCED: CatalogueRow = CatalogueRow {
    is_long: true,
    suits: |request, _| has_different_blocks(request),
    ..row(
        "as circulant-pieces, ranks in an order in which large blocks are far apart",
        pieces::in_pieces,
    )
};

/// True if block sizes differ: else the balanced order is that of ranks.
fn has_different_blocks(request: &Request<'_>) -> bool {
    let sizes = request.problem.blocks();
    sizes.is_some_and(|sizes| sizes.iter().any(|bytes| bytes != sizes.block(0)))
}

/// The alltoall, allgather or reduce-scatter in which everybody sends to everybody in turn.
pub(super) fn linear(request: &Request<'_>, wanted: Wanted) -> Result<Built, NoTree> {
    let problem = request.problem;
    if problem.operation() == Operation::Alltoall && is_outlined(problem) {
        let outline: Sketch = |problem| {
            alltoall::linear_outline(problem).map(|known| known.expect("no shared wires"))
        };
        let sketch_and_build = (outline, alltoall::linear as Build);
        return outlined(request, wanted, Order::Ordered, sketch_and_build);
    }
    if problem.operation() == Operation::Alltoall && is_large(problem) {
        let known = alltoall::linear_outline(problem).map_err(|error| wanted.untimed(error))?;
        if let Some(known) = known.filter(|_| problem.costs().overlaps()) {
            // Its ports are duplex, whatever those of the problem are.
            let time = Some(known.time);
            return Ok(listed_later(problem, (Order::Ordered, known), time, alltoall::linear));
        }
    }
    let build = match problem.operation() {
        Operation::Allgather => straight::allgather,
        Operation::ReduceScatter => straight::reduce_scatter,
        _ => alltoall::linear,
    };
    whole(request, wanted, messages_of_all_pairs(problem), build)
}

/// True if messages of all pairs are many, and their time is known without a schedule.
fn is_outlined(problem: &Problem) -> bool {
    is_large(problem) && !may_share_wires(problem)
}

/// True if messages around the ring are many, and their time is known without a schedule.
fn is_outlined_ring(problem: &Problem) -> bool {
    let costs = problem.costs();
    let is_in_blocks =
        costs.hierarchy().is_some_and(|machine| *machine.placement() == Placement::Block);
    let has_empty = problem.blocks().is_some_and(|sizes| sizes.iter().any(|bytes| bytes == 0));
    is_large(problem)
        && (is_in_blocks || !may_share_wires(problem))
        && !(has_empty && costs.overlaps())
}

fn is_large(problem: &Problem) -> bool {
    problem.ranks() > bundled::SOME && !problem.duplex()
}

pub(super) fn may_share_wires(problem: &Problem) -> bool {
    problem.stated_costs().network().wire == WireOwner::Node
}

/// Schedule in this order with these figures, which is listed when it is looked at.
fn outlined(
    request: &Request<'_>,
    wanted: Wanted,
    order: Order,
    (outline, build): (Sketch, Build),
) -> Result<Built, NoTree> {
    let problem = request.problem;
    let of = |problem: &Problem| outline(problem).map_err(|error| wanted.untimed(error));
    let (known, duplex) = rayon::join(|| of(problem), || of(&problem.with_duplex(true)));
    Ok(listed_later(problem, (order, known?), Some(duplex?.time), build))
}

/// Schedule with the figures of a sketch that takes this time, which is listed when it is looked at.
pub(super) fn sketched(
    problem: &Problem,
    (sketch, time): (&Schedule, Time),
    list: impl FnOnce(&Problem) -> Result<Schedule, CollectiveError> + Send + 'static,
) -> Built {
    let (most_actions, most_bytes_sent) = (sketch.most_actions(), sketch.most_bytes_sent());
    let known = Outline { time, most_actions, most_bytes_sent };
    let otherwise = time_otherwise(problem, sketch, time);
    listed_later(problem, (sketch.task().order, known), otherwise, list)
}

fn listed_later(
    problem: &Problem,
    (order, known): (Order, Outline),
    otherwise: Option<Time>,
    list: impl FnOnce(&Problem) -> Result<Schedule, CollectiveError> + Send + 'static,
) -> Built {
    let listed = problem.clone();
    let list = move || list(&listed).expect("messages that have been timed have a schedule");
    Built {
        time: Some(known.time),
        otherwise,
        ..Built::without_search(RankPrograms::later((problem.operation(), order), known, list))
    }
}

/// `p^2`.
pub(super) fn messages_of_all_pairs(problem: &Problem) -> u64 {
    let p = problem.ranks() as u64;
    p.saturating_mul(p)
}

/// `p ceil(lg p)`.
pub(super) fn messages_of_few_rounds(problem: &Problem) -> u64 {
    let p = problem.ranks();
    p as u64 * u64::from(p.next_power_of_two().ilog2())
}

/// Expense of this many messages, most of them in this many pieces: in bytes including the simulation's.
pub(super) fn expense(wanted: Wanted, messages: u64, pieces: u64) -> Expense {
    let ends = messages.saturating_mul(2);
    Expense {
        what: wanted.construction.name().to_owned(),
        bytes: ends.saturating_mul(200_u64.saturating_add(16 * pieces)),
        seconds: seconds_of(messages, pieces),
        limit_seconds: LIMIT_SECONDS,
    }
}

/// Estimated seconds of this many messages, most of them in this many pieces.
pub(super) fn seconds_of(messages: u64, pieces: u64) -> f64 {
    messages.saturating_mul(2).saturating_mul(pieces.saturating_add(20)) as f64 * 2e-8
}

pub(super) fn whole(
    request: &Request<'_>,
    wanted: Wanted,
    messages: u64,
    build: Build,
) -> Result<Built, NoTree> {
    expense(wanted, messages, 2).check(wanted.effort, request.watch, |_| String::new())?;
    build(request.problem).map(Built::without_search).map_err(NoTree::failed)
}

/// Estimated seconds of trying numbers of pieces, and radices, that the user did not set.
pub(super) const SEARCH_SECONDS: f64 = 10.0;
