//! `tuwtree-exec replay`: performs a schedule.

use crate::arguments::{element_parser, mode_parser, operation_parser};
use crate::host::warning;
use crate::image::{Area, Content, GUARD, Image, WrongByte};
use crate::job::Job;
use crate::pattern::Ink;
use crate::source::schedule;
use crate::stop::Stop;
use clap::Args;
use std::process::ExitCode;
use tuwtree_executor::measure::Host;
use tuwtree_executor::measure::clock::{Span, Starts};
use tuwtree_executor::play::{Buffers, Execution, ExecutionError, Mode, Reduction};
use tuwtree_executor::sys::{
    Block, ByteLayout, Datatype, Element, Memory, MpiError, Operator, Place, PlaceError,
    library_version, processor_name,
};
use tuwtree_io::Source;
use tuwtree_model::quantity::parse_bytes;
use tuwtree_model::{
    ClosedSet, Handling, Operation, Payload, Problem, StatedCosts, Tree, judged_time_as,
};
use tuwtree_schedule::part::Part;
use tuwtree_schedule::{Buffer, Role, Schedule, Sends, Verified, simulate, verify};

/// Perform a schedule, whoever made it, and measure how long that takes, beside the library's own gather or
/// scatter of the same blocks.
///
/// The first rank, and only it, reads the schedule, checks it, and sends each rank its
/// part. Requests are set up once and started for every iteration. The job must have as many
/// processes as the schedule.
#[derive(Args, Debug)]
pub(crate) struct ReplayArgs {
    /// The schedule, or a tree file whose schedule is meant, packed with gzip or not; `-` for the
    /// first rank's standard input
    #[arg(value_name = "SCHEDULE", value_parser = Source::parse)]
    schedule: Source,

    /// Perform this operation; a gather's schedule is reversed for a scatter, and the other way round
    #[arg(long, value_name = "OPERATION", value_parser = operation_parser())]
    op: Option<Operation>,

    /// How often to perform it, measuring
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    iterations: u32,

    /// How often to perform it before that, without measuring
    #[arg(long, value_name = "N", default_value_t = 1)]
    warmup: u32,

    /// Check every byte after every iteration: data, gaps, and memory around it
    #[arg(long)]
    verify: bool,

    /// Strict: one action of a port after the other, as in the model. Eager: all at once, but for data
    #[arg(long, value_name = "MODE", default_value = Mode::Strict.name(), value_parser = mode_parser())]
    mode: Mode,

    /// The elements. A reduction composes bytes, which tells left from right, and adds up others
    #[arg(long = "type", value_name = "TYPE", default_value = Element::Byte.name(), value_parser = element_parser())]
    element: Element,

    /// At the root of a gather or scatter, blocks in rank order with gaps of so many bytes, also as 4KiB, between
    /// them, instead of where the schedule says
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    gaps: Option<u64>,
}

/// Runs the command.
///
/// # Errors
/// [`Stop`]: a schedule that is not there, is none, is wrong, or is for other processes; what MPI
/// returns; a wrong byte.
pub(crate) fn run(args: &ReplayArgs, job: &Job) -> Result<ExitCode, Stop> {
    let plan = job.at_first(|| ReplayPlan::read(args, job.size()))?;
    let words = job.hand_out(plan.as_ref().map(|plan| |rank| plan.assignment(rank)))?;
    let assignment = job.agree(Assignment::from_words(&words))?;
    let mut station = job.agree(Station::new(&assignment, args, job))?;
    let times = measure(&mut station, args, job)?;
    let host = Host::of(job.communicator())?;
    if let Some(plan) = plan {
        for line in plan.report(args) {
            job.say(&line);
        }
    }
    job.say(&format!("time       {} (until the last rank is done)", times.own));
    if let Some(library) = times.library {
        job.say(&format!("library    {library} (its own call, in turn with this)"));
    }
    if host.is_oversubscribed() {
        job.say(&warning(&host).trim_end());
    }
    Ok(ExitCode::SUCCESS)
}

/// What the first rank reads and works out.
struct ReplayPlan {
    schedule: Schedule,
    /// The tree that it is of, if it was read from a tree file and performed as it is.
    tree: Option<(Tree, Problem)>,
    verified: Verified,
    /// Where the root's blocks lie, in bytes, if there are such.
    displacements: Vec<u64>,
}

impl ReplayPlan {
    fn read(args: &ReplayArgs, processors: usize) -> Result<ReplayPlan, String> {
        let (schedule, mut tree) = schedule(&args.schedule).map_err(|reason| {
            let host = processor_name().unwrap_or_else(|_| "its host".into());
            format!("{reason} (only rank 0 reads it, on {host})")
        })?;
        let of_source = |reason: String| format!("{}: {reason}", args.schedule);
        let (found, operation) = (schedule.task().operation, schedule.task().operation);
        if !operation.is_rooted() {
            return Err(of_source(ExecutionError::Rootless { operation }.to_string()));
        }
        let schedule = match args.op {
            Some(wanted) if wanted != operation => {
                tree = None;
                reversed(&schedule, wanted).map_err(of_source)?
            }
            _ => schedule,
        };
        let verified = verify(&schedule).map_err(|fault| {
            let reversed = if schedule.task().operation == found { "" } else { "reversed, " };
            of_source(format!("{reversed}{fault}"))
        })?;
        if schedule.processors() != processors {
            return Err(of_source(format!(
                "the schedule is for {0} processes, but the job has {processors}: start it with -n {0}",
                schedule.processors()
            )));
        }
        check_elements(&schedule, args.element).map_err(of_source)?;
        let displacements = displacements(&schedule, args.gaps).map_err(of_source)?;
        for rank in 0..processors {
            Part::of_schedule(&schedule, rank).map_err(|error| of_source(error.to_string()))?;
        }
        Ok(ReplayPlan { schedule, tree, verified, displacements })
    }

    /// What a rank is told: the root where its blocks lie, and everybody its part.
    fn assignment(&self, rank: usize) -> Vec<u64> {
        let task = self.schedule.task();
        let mut words = vec![0];
        if let Payload::Blocks(sizes) = &task.payload
            && task.root == Some(rank)
        {
            words[0] = sizes.processors() as u64;
            words.extend(sizes.iter());
            words.extend(&self.displacements);
        }
        let part = Part::of_schedule(&self.schedule, rank).expect("made when it was read");
        words.extend(part.to_words());
        words
    }

    fn report(&self, args: &ReplayArgs) -> Vec<String> {
        let task = self.schedule.task();
        let checked = if args.verify { ", every byte checked" } else { "" };
        let version = library_version().unwrap_or_default();
        let mut lines = vec![
            format!(
                "replayed   {} of {} bytes over {} processes{}: {} messages, {} copies",
                task.operation.name(),
                task.total(),
                task.processors(),
                task.root_phrase(),
                self.verified.messages,
                self.verified.copies
            ),
            format!(
                "           {} mode, elements of type {}, {} iterations after {}{checked}",
                args.mode.name(),
                args.element.name(),
                args.iterations,
                args.warmup
            ),
            format!("MPI        {version}"),
        ];
        lines.extend(self.predicted().map(|time| format!("model      {time}")));
        lines.extend(self.judged().map(|time| format!("judge      {time}")));
        lines
    }

    /// The time by the judge where latency overlaps on a machine, if the tree is known.
    fn judged(&self) -> Option<String> {
        let (tree, problem) = self.tree.as_ref()?;
        let machine = problem.stated_costs().machine().filter(|_| problem.costs().overlaps())?;
        // What is replayed keeps to no window.
        let handling = Handling { ignores_window: true, ..Handling::default() };
        let time = judged_time_as(tree, problem, handling).ok()?;
        Some(format!("{}, on the machine {}", duration(time.units()), machine.name))
    }

    /// The time in the model, with its unit, if the schedule has costs for which there is one.
    fn predicted(&self) -> Option<String> {
        let stated = self.schedule.task().costs.as_ref()?;
        let timeline = simulate(&self.schedule, stated.costs(), Sends::Synchronous).ok()?;
        let time = timeline.completion_time();
        Some(match stated {
            StatedCosts::Machine(machine) => {
                format!("{}, on the machine {}", duration(time.units()), machine.name)
            }
            StatedCosts::Parameters(_) => format!("{time}, in the unit of the schedule's costs"),
        })
    }
}

/// The schedule for the other operation.
fn reversed(schedule: &Schedule, wanted: Operation) -> Result<Schedule, String> {
    let found = schedule.task().operation;
    if !found.is_irregular() || !wanted.is_irregular() {
        return Err(format!(
            "the schedule is a {}, which cannot be performed as a {}; only gather and scatter are \
             each other's reverse",
            found.name(),
            wanted.name()
        ));
    }
    schedule.reversed().map_err(|error| error.to_string())
}

/// Whether all data are whole elements.
fn check_elements(schedule: &Schedule, element: Element) -> Result<(), String> {
    let fault = |what: String, bytes: u64| {
        Err(format!(
            "{what} has {bytes} bytes, which are no whole elements of type {} ({} bytes)",
            element.name(),
            element.bytes()
        ))
    };
    match &schedule.task().payload {
        Payload::Blocks(sizes) => {
            match sizes.iter().enumerate().find(|(_, bytes)| bytes % element.bytes() != 0) {
                Some((rank, bytes)) => fault(format!("block {rank}"), bytes),
                None => Ok(()),
            }
        }
        Payload::Vector(vector) if vector.bytes % element.bytes() != 0 => {
            fault("the vector".to_owned(), vector.bytes)
        }
        Payload::Vector(_) | Payload::Messages(_) | Payload::Groups(_) => Ok(()),
    }
}

/// Where the root's blocks lie.
fn displacements(schedule: &Schedule, gaps: Option<u64>) -> Result<Vec<u64>, String> {
    let task = schedule.task();
    let Payload::Blocks(sizes) = &task.payload else {
        return match gaps {
            Some(_) => Err(format!("--gaps: a {} has no blocks", task.operation.name())),
            None => Ok(Vec::new()),
        };
    };
    if let (None, Some(displacements)) = (gaps, &task.displacements) {
        return Ok(displacements.clone());
    }
    let (mut at, gap) = (0_u64, gaps.unwrap_or(0));
    let mut displacements = Vec::with_capacity(sizes.processors());
    for bytes in sizes.iter() {
        displacements.push(at);
        let next = at.checked_add(bytes).and_then(|end| end.checked_add(gap));
        at = next.filter(|&end| end <= i64::MAX as u64).ok_or_else(|| {
            format!("--gaps {gap}: the blocks reach beyond 2^63 - 1, the largest address of MPI")
        })?;
    }
    Ok(displacements)
}

/// What a rank is told.
struct Assignment {
    part: Part,
    /// At the root of a gather or scatter: sizes and displacements in bytes.
    blocks: Vec<(u64, u64)>,
}

impl Assignment {
    fn from_words(words: &[u64]) -> Result<Assignment, String> {
        let (&count, words) = words.split_first().ok_or("an empty message")?;
        let count = count as usize;
        let (blocks, part) = words.split_at_checked(2 * count).ok_or("a message cut short")?;
        let (sizes, displacements) = blocks.split_at(count);
        let blocks = sizes.iter().copied().zip(displacements.iter().copied()).collect();
        let part = Part::from_words(part).map_err(|error| error.to_string())?;
        Ok(Assignment { part, blocks })
    }
}

/// A rank that is ready to play its part.
struct Station {
    execution: Execution,
    /// What each buffer holds before and after.
    images: [(Buffer, Image, Image); 2],
}

impl Station {
    fn new(
        assignment: &Assignment,
        args: &ReplayArgs,
        job: &Job,
    ) -> Result<Station, ExecutionError> {
        let role = *assignment.part.role();
        let of = |buffer| areas(&role, buffer, &assignment.blocks);
        let images = [Buffer::Input, Buffer::Output].map(|buffer| {
            let image = image(&role, &of(buffer));
            let (before, after) = contents(&role, buffer, args.element);
            (buffer, image.with(before), image.with(after))
        });
        let place = |index: usize, buffer| place(&images[index].1, &of(buffer), args.element);
        let mut buffers = Buffers::apart(place(0, Buffer::Input)?, place(1, Buffer::Output)?);
        if role.operation == Operation::Reduce {
            buffers = buffers.reducing(reduction(args.element)?);
        }
        let execution = Execution::new(&assignment.part, buffers, job.communicator(), args.mode)?;
        Ok(Station { execution, images })
    }

    /// Puts data into the input, and something else where data is to come.
    fn prepare(&mut self, iteration: u64) -> Result<(), ExecutionError> {
        for (buffer, before, _) in &self.images {
            before.write(&mut self.execution, *buffer, iteration)?;
        }
        Ok(())
    }

    /// Whether every byte is what it should be.
    fn check(&self, iteration: u64) -> Result<(), String> {
        for (buffer, _, after) in &self.images {
            let wrong = after.compare(&self.execution, *buffer, iteration);
            if let Some(wrong) = wrong.map_err(|error| error.to_string())? {
                return Err(self.fault(iteration, *buffer, wrong));
            }
        }
        Ok(())
    }

    fn fault(&self, iteration: u64, buffer: Buffer, wrong: WrongByte) -> String {
        let WrongByte { block, position, found, expected } = wrong;
        let place = match block {
            Some(block) => format!("block {block}, byte {position}"),
            None => format!("outside of the data, {position} bytes from its start"),
        };
        format!(
            "rank {}, iteration {iteration}: in the {}, {place}: {found:#04x} in place of {expected:#04x}",
            self.execution.role().rank,
            buffer.name()
        )
    }
}

/// The sizes and places of the stretches of data in a buffer, in bytes.
fn areas(role: &Role, buffer: Buffer, blocks: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let is_of_all = match role.operation {
        Operation::Gather | Operation::Allgather => buffer == Buffer::Output,
        Operation::Scatter => buffer == Buffer::Input,
        Operation::Broadcast | Operation::Reduce => false,
        Operation::ReduceScatter
        | Operation::Allreduce
        | Operation::Alltoall
        | Operation::IntergroupAllgather => false,
    };
    match is_of_all {
        true => blocks.to_vec(),
        false => vec![(role.buffer_bytes(buffer), 0)],
    }
}

/// The memory of a buffer: room for all data, between guards.
fn image(role: &Role, areas: &[(u64, u64)]) -> Image {
    let ends = areas.iter().filter(|(bytes, _)| *bytes > 0).map(|(bytes, at)| bytes + at);
    let size = ends.max().unwrap_or(0) + 2 * GUARD;
    let content = Content::Bytes(Ink::Gap(role.rank));
    let areas = (0..).zip(areas);
    let areas = areas.map(|(block, &(bytes, at))| Area { at: at + GUARD, bytes, content, block });
    Image::new(size, role.rank, areas)
}

/// What the areas of a buffer hold before and after.
fn contents(
    role: &Role,
    buffer: Buffer,
    element: Element,
) -> (impl Fn(usize) -> Content, impl Fn(usize) -> Content) {
    let &Role { operation, processors, rank, .. } = role;
    let source = role.root.unwrap_or(rank);
    let before = move |block| match (operation, buffer) {
        (Operation::Reduce, Buffer::Input) => Content::Numbers(rank, element),
        (Operation::Scatter, Buffer::Input) => Content::Bytes(Ink::Data(block)),
        (Operation::Broadcast, Buffer::Output) if rank == source => {
            Content::Bytes(Ink::Data(source))
        }
        (_, Buffer::Output) => Content::Bytes(Ink::Stale(rank)),
        (_, Buffer::Input | Buffer::Segment) => Content::Bytes(Ink::Data(rank)),
    };
    let after = move |block| match (operation, buffer) {
        // All but those with a root were refused before.
        (
            Operation::Gather | Operation::Allgather | Operation::IntergroupAllgather,
            Buffer::Output,
        ) => Content::Bytes(Ink::Data(block)),
        (Operation::Scatter, Buffer::Output) => Content::Bytes(Ink::Data(rank)),
        (Operation::Broadcast | Operation::Alltoall, Buffer::Output) => {
            Content::Bytes(Ink::Data(source))
        }
        (Operation::Reduce | Operation::ReduceScatter | Operation::Allreduce, Buffer::Output) => {
            Content::Reduced(processors, element)
        }
        (_, Buffer::Input | Buffer::Segment) => before(block),
    };
    (before, after)
}

fn place(image: &Image, areas: &[(u64, u64)], element: Element) -> Result<Place, PlaceError> {
    let blocks = areas
        .iter()
        .map(|&(bytes, at)| Block { at: (at + GUARD) as i64, elements: bytes / element.bytes() });
    Place::new(Memory::zeroed(image.size())?, Datatype::of(element)?, blocks)
}

fn reduction(element: Element) -> Result<Reduction, MpiError> {
    let operator = match element {
        Element::Byte => Operator::composition()?,
        _ => Operator::sum(),
    };
    Ok(Reduction { datatype: Datatype::of(element)?, operator })
}

/// Spans of iterations.
#[derive(Default)]
struct Spans {
    seconds: Vec<f64>,
    late: usize,
}

impl Spans {
    fn note(&mut self, span: Span) {
        self.seconds.push(span.seconds);
        self.late += usize::from(span.is_late());
    }
}

impl std::fmt::Display for Spans {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut seconds = self.seconds.clone();
        seconds.sort_by(f64::total_cmp);
        let (least, median) = (duration(seconds[0]), duration(seconds[seconds.len() / 2]));
        write!(formatter, "at least {least}, median {median}")?;
        match self.late {
            0 => Ok(()),
            late => write!(formatter, ", {late} of {} starts late", seconds.len()),
        }
    }
}

/// What was measured.
struct Times {
    own: Spans,
    /// The library's own call, where there is one for these blocks.
    library: Option<Spans>,
}

/// The times of the iterations, all ranks beginning at the same moment.
fn measure(station: &mut Station, args: &ReplayArgs, job: &Job) -> Result<Times, Stop> {
    let communicator = job.communicator();
    let role = *station.execution.role();
    let layout = layout(&role, job)?;
    let (input, mut output) = own_buffers(&role, layout.as_ref());
    let mut starts = Starts::new(communicator)?;
    let mut times = Times { own: Spans::default(), library: layout.is_some().then(Spans::default) };
    let (mut own_last, mut library_last) = (0.0, 0.0);
    let all = u64::from(args.warmup) + u64::from(args.iterations);
    for iteration in 0..all {
        let counts = iteration >= u64::from(args.warmup);
        if args.verify || iteration == 0 {
            station.prepare(iteration)?;
        }
        let span = starts.timed(1.25 * own_last, || station.execution.run())?;
        own_last = span.seconds;
        if counts {
            times.own.note(span);
        }
        if args.verify {
            job.agree(station.check(iteration))?;
        }
        if let (Some(layout), Some(library)) = (&layout, &mut times.library) {
            let place = (role.rank, role.root.expect("gathers and scatters have a root"));
            let arguments = layout.arguments(role.operation, &input, &mut output, place);
            let span = starts.timed(1.25 * library_last, || communicator.native(&arguments))?;
            library_last = span.seconds;
            if counts {
                library.note(span);
            }
        }
    }
    Ok(times)
}

/// The blocks of a gather or scatter, one after the other, as far as MPI's counts reach. Collective.
fn layout(role: &Role, job: &Job) -> Result<Option<ByteLayout>, Stop> {
    let own = match role.operation {
        Operation::Gather => role.buffer_bytes(Buffer::Input),
        Operation::Scatter => role.buffer_bytes(Buffer::Output),
        Operation::Broadcast | Operation::Reduce => return Ok(None),
        Operation::Allgather
        | Operation::ReduceScatter
        | Operation::Allreduce
        | Operation::Alltoall
        | Operation::IntergroupAllgather => return Ok(None),
    };
    Ok(ByteLayout::new(job.communicator().all_numbers(own)?))
}

/// What the library reads and writes here.
fn own_buffers(role: &Role, layout: Option<&ByteLayout>) -> (Vec<u8>, Vec<u8>) {
    let Some(layout) = layout else { return (Vec::new(), Vec::new()) };
    let own = vec![1; layout.block(role.rank)];
    let all = vec![1; if role.root == Some(role.rank) { layout.total() } else { 0 }];
    if role.operation.is_outward() { (all, own) } else { (own, all) }
}

/// A time in seconds, for people.
fn duration(seconds: f64) -> String {
    match seconds {
        _ if seconds < 1e-3 => format!("{:.2} µs", seconds * 1e6),
        _ if seconds < 1.0 => format!("{:.3} ms", seconds * 1e3),
        _ => format!("{seconds:.3} s"),
    }
}
