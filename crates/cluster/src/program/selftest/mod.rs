//! `tuwtree-exec selftest`: random problems on these processes, compared with the library's own
//! collectives byte for byte.

mod combined;
mod dice;
mod everywhere;
mod problem;
mod shatter;

use crate::image::GUARD;
use crate::job::Job;
use crate::pattern::{Ink, Pattern};
use crate::stop::Stop;
use clap::Args;
use problem::{Combination, ElementLayout, RootData, TestProblem, WaitPattern};
use std::process::ExitCode;
use tuwtree_binding::{Block, Datatype, Element, Memory, MpiError, Operator, Place, PlaceError};
use tuwtree_executor::play::{Buffers, Execution, ExecutionError, Reduction};
use tuwtree_model::{ClosedSet, Operation, Payload, Rank};
use tuwtree_schedule::part::Part;
use tuwtree_schedule::{Buffer, Role};

/// Solve random problems, and compare every byte with what the MPI library's own collectives do.
///
/// All operations with a root, all roots, distributions of block sizes, in strict and eager mode, once and again;
/// along trees of all kinds, with messages in pieces on several ports; elements of several types,
/// with and without gaps, blocks in any order, the root's own block in place or not. Then a quarter as many
/// allgathers, reduce-scatters and alltoalls each, by each algorithm for them. A test of this
/// program and of the MPI library on these processes.
#[derive(Args, Debug)]
pub(crate) struct SelftestArgs {
    /// Number of random problems with a root, performed and compared
    #[arg(long, value_name = "N", default_value_t = 500)]
    problems: u64,

    /// Seed of the random problems
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

/// Number of problems between two checks of all processes.
const TOGETHER: u64 = 50;

/// Runs the command.
///
/// # Errors
/// [`Stop`]: the first byte that differs; what MPI returns.
pub(crate) fn run(args: &SelftestArgs, job: &Job) -> Result<ExitCode, Stop> {
    let mut solved = vec![0; Operation::rooted().count()];
    let mut fault = Ok(());
    for index in 0..args.problems {
        let problem = TestProblem::random(args.seed, index, job.size());
        let found =
            solve(&problem, job).map_err(|error| Stop::alone(&format!("{problem}: {error}")))?;
        fault = fault.and(found);
        let count = solved.len();
        solved[index as usize % count] += 1;
        if (index + 1) % TOGETHER == 0 || index + 1 == args.problems {
            fault = Ok(job.agree(fault)?);
        }
    }
    let allgathers = args.problems.div_ceil(4);
    let found = everywhere::solve((args.seed, allgathers), job);
    job.agree(found.map_err(|error| Stop::alone(&error))?)?;
    let found = combined::solve((args.seed, allgathers), job);
    job.agree(found.map_err(|error| Stop::alone(&error))?)?;
    let counts = Operation::rooted().zip(solved);
    let counts: Vec<String> =
        counts.map(|(operation, count)| format!("{count} {}", operation.name())).collect();
    job.say(&format!(
        "selftest   {} random problems (seed {}) on {} processes: {}; and {allgathers} allgather, {allgathers} reduce-scatter, {allgathers} alltoall; every byte as from MPI",
        args.problems,
        args.seed,
        job.size(),
        counts.join(", ")
    ));
    Ok(ExitCode::SUCCESS)
}

/// Solves a problem twice, by its schedule and by the library. The inner error is a byte that
/// differs.
fn solve(problem: &TestProblem, job: &Job) -> Result<Result<(), String>, ExecutionError> {
    let part = Part::of_schedule(&problem.schedule, job.rank()).expect("a small schedule");
    let role = *part.role();
    let mut native = buffers(problem, &role)?;
    let ours = buffers(problem, &role)?;
    let mut execution = Execution::new(&part, ours, job.communicator(), problem.mode)?;
    let mut fault = Ok(());
    for iteration in 0..problem.iterations {
        for (buffer, bytes) in contents(&native, &role, iteration) {
            native.write(buffer, 0, &bytes)?;
            execution.write(buffer, 0, &bytes)?;
        }
        execution.start()?;
        match problem.waiting {
            WaitPattern::Wait => execution.wait()?,
            WaitPattern::Test => {
                while !execution.test()? {
                    std::thread::yield_now();
                }
            }
        }
        native.run_native(&role, job.communicator())?;
        // All iterations, whatever is found: others take part in them.
        let found = compare(&execution, &native)?;
        fault = fault.and(found.map_err(|byte| {
            format!("rank {}, {problem}, iteration {iteration}: {byte}", role.rank)
        }));
    }
    Ok(fault)
}

/// Fails with the first byte that is not as the library left it.
fn compare(execution: &Execution, native: &Buffers) -> Result<Result<(), String>, ExecutionError> {
    for buffer in [Buffer::Input, Buffer::Output] {
        let size = native.memory_bytes(buffer).unwrap_or(0) as usize;
        let (mut found, mut expected) = (vec![0; size], vec![0; size]);
        execution.read(buffer, 0, &mut found)?;
        native.read(buffer, 0, &mut expected)?;
        if let Some(at) = (0..size).find(|&at| found[at] != expected[at]) {
            return Ok(Err(format!(
                "the {} has {:#04x} at byte {at} of {size}, where the library has {:#04x}",
                buffer.name(),
                found[at],
                expected[at]
            )));
        }
    }
    Ok(Ok(()))
}

/// Initial contents of each buffer.
fn contents(
    buffers: &Buffers,
    role: &Role,
    iteration: u64,
) -> impl Iterator<Item = (Buffer, Vec<u8>)> + use<> {
    let kinds = [(Buffer::Input, Ink::Data(role.rank)), (Buffer::Output, Ink::Stale(role.rank))];
    let sizes = kinds.map(|(buffer, _)| buffers.memory_bytes(buffer).unwrap_or(0));
    kinds.into_iter().zip(sizes).map(move |((buffer, ink), size)| {
        let mut bytes = vec![0; size as usize];
        Pattern::new(iteration, ink).fill(0, &mut bytes);
        (buffer, bytes)
    })
}

/// A rank's buffers.
fn buffers(problem: &TestProblem, role: &Role) -> Result<Buffers, ExecutionError> {
    let own = || own_place(problem, role);
    let all = || all_place(problem, role);
    let nothing = Place::nothing;
    let in_place = role.is_root() && problem.root_data == RootData::InPlace;
    let buffers = match (role.operation, role.is_root()) {
        (Operation::Gather, true) if in_place => Buffers::in_place(role.operation, all()?)?,
        (Operation::Scatter, true) if in_place => Buffers::in_place(role.operation, all()?)?,
        (Operation::Reduce, true) if in_place => Buffers::in_place(role.operation, own()?)?,
        (Operation::Gather, true) => Buffers::apart(own()?, all()?),
        (Operation::Scatter, true) => Buffers::apart(all()?, own()?),
        (Operation::Reduce, true) => Buffers::apart(own()?, own()?),
        (Operation::Gather | Operation::Reduce, false) => Buffers::apart(own()?, nothing()?),
        (Operation::Allgather, _) => Buffers::apart(own()?, all()?),
        (Operation::Scatter, false) | (Operation::Broadcast, _) => {
            Buffers::apart(nothing()?, own()?)
        }
        _ => Buffers::apart(own()?, own()?),
    };
    Ok(match role.operation {
        Operation::Reduce => buffers.reducing(reduction(problem)?),
        _ => buffers,
    })
}

fn reduction(problem: &TestProblem) -> Result<Reduction, MpiError> {
    Ok(match (problem.element, problem.combination) {
        (Element::Byte, Combination::Composition) => {
            Reduction { datatype: Datatype::of(Element::Byte)?, operator: Operator::composition()? }
        }
        (Element::Byte, Combination::Sum) => {
            Reduction { datatype: Datatype::small_number()?, operator: Operator::sum() }
        }
        (element, _) => Reduction { datatype: Datatype::of(element)?, operator: Operator::sum() },
    })
}

/// An element, or a group of them taken apart.
fn datatype(problem: &TestProblem, layout: ElementLayout) -> Result<Datatype, MpiError> {
    let element = Datatype::of(problem.element)?;
    match layout {
        ElementLayout::Packed => Ok(element),
        ElementLayout::Strided => element.strided(problem.group, 1, 2),
    }
}

/// The own block, or the vector.
fn own_place(problem: &TestProblem, role: &Role) -> Result<Place, PlaceError> {
    let datatype = match role.operation {
        // Bytes of which the reduction knows what they are.
        Operation::Reduce => Datatype::of(Element::Byte)?,
        _ => datatype(problem, problem.own[role.rank % 2])?,
    };
    place(datatype, &[(role.own_bytes, 0, 0)])
}

/// All blocks, in some order.
fn all_place(problem: &TestProblem, role: &Role) -> Result<Place, PlaceError> {
    let Payload::Blocks(sizes) = &problem.schedule.task().payload else {
        return own_place(problem, role);
    };
    let blocks: Vec<(u64, Rank, u64)> =
        problem.order.iter().map(|&(rank, gap)| (sizes.block(rank), rank, gap)).collect();
    place(datatype(problem, problem.blocks)?, &blocks)
}

/// Blocks one after the other, each with its size in bytes, its rank, and the gap behind it.
fn place(datatype: Datatype, blocks: &[(u64, Rank, u64)]) -> Result<Place, PlaceError> {
    let (size, extent) = (datatype.size(), datatype.extent() as u64);
    let mut places = vec![Block { at: GUARD as i64, elements: 0 }; blocks.len()];
    let mut at = GUARD;
    for &(bytes, rank, gap) in blocks {
        places[rank] = Block { at: at as i64, elements: bytes / size };
        at += (bytes / size + gap) * extent;
    }
    Place::new(Memory::zeroed(at + GUARD)?, datatype, places)
}
