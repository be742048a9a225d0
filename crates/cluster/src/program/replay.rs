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
use tuwtree_binding::{
    Block, ByteLayout, Communicator, Datatype, Element, Intercommunicator, Memory, MpiError,
    Operator, Place, PlaceError, library_version, processor_name,
};
use tuwtree_cluster::clock::{Span, Starts};
use tuwtree_cluster::{CallLayout, Host, LibraryCall};
use tuwtree_executor::play::{Buffers, Execution, ExecutionError, Mode, Reduction};
use tuwtree_io::Source;
use tuwtree_model::quantity::parse_bytes;
use tuwtree_model::{
    BlockSizes, ClosedSet, Extent, Handling, Operation, Order, Payload, PayloadKind, Problem, Rank,
    StatedCosts, Tree, judged_time_as,
};
use tuwtree_schedule::part::Part;
use tuwtree_schedule::{Buffer, Schedule, Sends, Verified, simulate, verify};

/// Perform a schedule of any operation, from any source, and time it, beside the library's own call for the same data.
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

    /// Measured repetitions
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    iterations: u32,

    /// Unmeasured repetitions before
    #[arg(long, value_name = "N", default_value_t = 1)]
    warmup: u32,

    /// Check every byte after every iteration: data, gaps, and memory around it
    #[arg(long)]
    verify: bool,

    /// Strict: one action of a port after the other, as in the model. Eager: all actions at once, except for
    /// dependencies of data
    #[arg(long, value_name = "MODE", default_value = Mode::Strict.name(), value_parser = mode_parser())]
    mode: Mode,

    /// The elements. A reduction in rank order composes bytes, which tells left from right, others combine them by
    /// exclusive or; other elements are added up
    #[arg(long = "type", value_name = "TYPE", default_value = Element::Byte.name(), value_parser = element_parser())]
    element: Element,

    /// At the root of a gather or scatter, and everywhere in an allgather, blocks in rank order with gaps of this many
    /// bytes, also as 4KiB, instead of the schedule's layout
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
    let times = measure(&mut station, &assignment, args, job)?;
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

/// Work of the first rank.
struct ReplayPlan {
    schedule: Schedule,
    /// The tree that it is of, if it was read from a tree file and performed as it is.
    tree: Option<(Tree, Problem)>,
    verified: Verified,
    /// Positions of the blocks of a gather, scatter or allgather, in bytes.
    displacements: Vec<u64>,
}

impl ReplayPlan {
    fn read(args: &ReplayArgs, ranks: usize) -> Result<ReplayPlan, String> {
        let (schedule, mut tree) = schedule(&args.schedule).map_err(|reason| {
            let host = processor_name().unwrap_or_else(|_| "its host".into());
            format!("{reason} (only rank 0 reads it, on {host})")
        })?;
        let of_source = |reason: String| format!("{}: {reason}", args.schedule);
        let found = schedule.task().operation;
        let schedule = match args.op {
            Some(wanted) if wanted != found => {
                tree = None;
                reversed(&schedule, wanted).map_err(of_source)?
            }
            _ => schedule,
        };
        let verified = verify(&schedule).map_err(|fault| {
            let reversed = if schedule.task().operation == found { "" } else { "reversed, " };
            of_source(format!("{reversed}{fault}"))
        })?;
        if schedule.ranks() != ranks {
            return Err(of_source(format!(
                "the schedule is for {0} processes, but the job has {ranks}: start it with -n {0}",
                schedule.ranks()
            )));
        }
        check_elements(&schedule, args.element).map_err(of_source)?;
        let displacements = displacements(&schedule, args.gaps).map_err(of_source)?;
        for rank in 0..ranks {
            Part::of_schedule(&schedule, rank).map_err(|error| of_source(error.to_string()))?;
        }
        Ok(ReplayPlan { schedule, tree, verified, displacements })
    }

    /// A rank's assignment: the data in its shared buffer, its data for each rank in an alltoall, and its part.
    fn assignment(&self, rank: usize) -> Vec<u64> {
        let task = self.schedule.task();
        let (data, row) = (self.data(rank), self.row(rank));
        let mut words = vec![u64::from(task.order == Order::Ordered), data.len() as u64];
        for DataRange { bytes, at, of, shift } in data {
            words.extend([bytes, at, of as u64, shift]);
        }
        words.push(row.len() as u64);
        words.extend(row);
        let part = Part::of_schedule(&self.schedule, rank).expect("made when it was read");
        words.extend(part.to_words());
        words
    }

    /// The data of several ranks that lie in one buffer of this rank.
    fn data(&self, rank: Rank) -> Vec<DataRange> {
        let task = self.schedule.task();
        match &task.payload {
            Payload::Blocks(sizes) if task.operation.is_reduction() => {
                let start = sizes.before(rank);
                vec![DataRange { bytes: sizes.block(rank), at: start, of: rank, shift: start }]
            }
            Payload::Blocks(sizes) if task.root.is_none_or(|root| root == rank) => {
                let blocks = sizes.iter().zip(&self.displacements).enumerate();
                blocks.map(|(of, (bytes, &at))| DataRange { bytes, at, of, shift: 0 }).collect()
            }
            Payload::Messages(sizes) => {
                let message = |from| DataRange {
                    bytes: sizes.message(from, rank),
                    at: sizes.place(from, rank),
                    of: from,
                    shift: sizes.before(from, rank) - sizes.before(from, 0),
                };
                (0..sizes.ranks()).map(message).collect()
            }
            Payload::Groups(sizes) => {
                let other = sizes.other_group(rank);
                let block = |of| DataRange {
                    bytes: sizes.blocks().block(of),
                    at: sizes.blocks().before(of) - other.start,
                    of,
                    shift: 0,
                };
                (other.first..other.first + other.ranks).map(block).collect()
            }
            Payload::Blocks(_) | Payload::Vector(_) => Vec::new(),
        }
    }

    /// The messages of a rank to each in an alltoall.
    fn row(&self, rank: Rank) -> Vec<u64> {
        match &self.schedule.task().payload {
            Payload::Messages(sizes) => {
                (0..sizes.ranks()).map(|to| sizes.message(rank, to)).collect()
            }
            _ => Vec::new(),
        }
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
                task.ranks(),
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
        let timeline = simulate(&self.schedule, stated, Sends::Synchronous).ok()?;
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
    if !found.passes_on_once() || !wanted.passes_on_once() {
        return Err(format!(
            "the schedule is a {}, which cannot be performed as a {}; only gather and scatter are \
             each other's reverse",
            found.name(),
            wanted.name()
        ));
    }
    schedule.reversed().map_err(|error| error.to_string())
}

/// Checks that all data are whole elements.
fn check_elements(schedule: &Schedule, element: Element) -> Result<(), String> {
    let fault = |what: String, bytes: u64| {
        Err(format!(
            "{what} has {bytes} bytes, which are no whole elements of type {} ({} bytes)",
            element.name(),
            element.bytes()
        ))
    };
    let is_cut = |bytes: u64| !bytes.is_multiple_of(element.bytes());
    let blocks = |sizes: &BlockSizes| {
        let cut = sizes.iter().enumerate().find(|&(_, bytes)| is_cut(bytes));
        cut.map_or(Ok(()), |(rank, bytes)| fault(format!("block {rank}"), bytes))
    };
    match &schedule.task().payload {
        Payload::Blocks(sizes) => blocks(sizes),
        Payload::Groups(sizes) => blocks(sizes.blocks()),
        Payload::Messages(sizes) => {
            let ranks = || 0..sizes.ranks();
            let mut pairs = ranks().flat_map(|from| ranks().map(move |to| (from, to)));
            let cut = pairs.find(|&(from, to)| is_cut(sizes.message(from, to)));
            cut.map_or(Ok(()), |(from, to)| {
                fault(format!("the message from rank {from} to rank {to}"), sizes.message(from, to))
            })
        }
        Payload::Vector(vector) if is_cut(vector.bytes) => {
            fault("the vector".to_owned(), vector.bytes)
        }
        Payload::Vector(_) => Ok(()),
    }
}

/// Positions of the blocks of a gather, scatter or allgather.
fn displacements(schedule: &Schedule, gaps: Option<u64>) -> Result<Vec<u64>, String> {
    let task = schedule.task();
    let sizes = match &task.payload {
        Payload::Blocks(sizes) if !task.operation.is_reduction() => sizes,
        _ => {
            return match gaps {
                Some(_) => Err(format!(
                    "--gaps: the data of a {} lie without gaps; a gather, a scatter and an allgather have blocks with \
                     places of their own",
                    task.operation.name()
                )),
                None => Ok(Vec::new()),
            };
        }
    };
    if let (None, Some(displacements)) = (gaps, &task.displacements) {
        return Ok(displacements.clone());
    }
    let (mut at, gap) = (0_u64, gaps.unwrap_or(0));
    let mut displacements = Vec::with_capacity(sizes.ranks());
    for bytes in sizes.iter() {
        displacements.push(at);
        let next = at.checked_add(bytes).and_then(|end| end.checked_add(gap));
        at = next.filter(|&end| end <= i64::MAX as u64).ok_or_else(|| {
            format!("--gaps {gap}: the blocks reach beyond 2^63 - 1, the largest address of MPI")
        })?;
    }
    Ok(displacements)
}

/// A rank's data within a buffer with data of several ranks.
#[derive(Clone, Copy, Debug)]
struct DataRange {
    bytes: u64,
    /// Start in the buffer.
    at: u64,
    /// The owner of the data.
    of: Rank,
    /// Start within the owner's data.
    shift: u64,
}

/// A rank's assignment.
struct Assignment {
    part: Part,
    /// True if combining follows rank order.
    is_ordered: bool,
    /// The data of several ranks in one of its buffers.
    data: Vec<DataRange>,
    /// The sizes of its messages to each in an alltoall.
    row: Vec<u64>,
}

impl Assignment {
    fn from_words(words: &[u64]) -> Result<Assignment, String> {
        const SHORT: &str = "a message cut short";
        let [is_ordered, count, words @ ..] = words else { return Err(SHORT.into()) };
        let length = (*count as usize).checked_mul(4).ok_or(SHORT)?;
        let (data, words) = words.split_at_checked(length).ok_or(SHORT)?;
        let (&count, words) = words.split_first().ok_or(SHORT)?;
        let (row, part) = words.split_at_checked(count as usize).ok_or(SHORT)?;
        let data = data.chunks_exact(4).map(|words| DataRange {
            bytes: words[0],
            at: words[1],
            of: words[2] as Rank,
            shift: words[3],
        });
        let part = Part::from_words(part).map_err(|error| error.to_string())?;
        let (is_ordered, row) = (*is_ordered != 0, row.to_vec());
        Ok(Assignment { part, is_ordered, data: data.collect(), row })
    }

    /// Contents of a buffer, before and after.
    fn areas(&self, buffer: Buffer, element: Element) -> Vec<[Area; 2]> {
        let role = *self.part.role();
        let all = role.buffer_bytes(buffer);
        let area = |(at, bytes): (u64, u64), (block, shift), content| Area {
            at: at + GUARD,
            bytes,
            content,
            shift,
            block,
        };
        let whole =
            |before, after| vec![[before, after].map(|content| area((0, all), (0, 0), content))];
        let stale = Content::Bytes(Ink::Stale(role.rank));
        let data = |rank| Content::Bytes(Ink::Data(rank));
        let reduced = Content::Reduced { ranks: role.ranks, element, is_ordered: self.is_ordered };
        let own = |content| whole(content, content);
        let several = |before: &dyn Fn(Rank) -> Content, after: &dyn Fn(Rank) -> Content| {
            let each = self.data.iter().map(|one: &DataRange| {
                let of_one = |content| area((one.at, one.bytes), (one.of, one.shift), content);
                [of_one(before(one.of)), of_one(after(one.of))]
            });
            each.collect::<Vec<[Area; 2]>>()
        };
        let operation = role.operation;
        let (is_reduction, kind) = (operation.is_reduction(), operation.payload_kind());
        match (buffer, operation.output()) {
            (Buffer::Segment, _) => Vec::new(),
            (Buffer::Input, _) if is_reduction => own(Content::Numbers(role.rank, element)),
            (Buffer::Input, _) if operation.input() == Extent::TotalAtRoot => several(&data, &data),
            (Buffer::Input, _) => own(data(role.rank)),
            (Buffer::Output, _) if is_reduction && kind == PayloadKind::Blocks => {
                with_scratch(several(&|_| stale, &|_| reduced), all)
            }
            (Buffer::Output, _) if is_reduction => whole(stale, reduced),
            (Buffer::Output, _) if kind == PayloadKind::Vector => {
                let root = role.root.unwrap_or(role.rank);
                whole(if role.is_root() { data(root) } else { stale }, data(root))
            }
            (Buffer::Output, Extent::Own) => whole(stale, data(role.rank)),
            (Buffer::Output, _) if kind == PayloadKind::Messages => {
                with_scratch(several(&|_| stale, &data), all)
            }
            (Buffer::Output, _) => several(&|_| stale, &data),
        }
    }

    /// The library's own call, with blocks back to back, as far as MPI's counts reach. Collective.
    fn library_call(&self, communicator: &Communicator) -> Result<Option<LibraryCall>, Stop> {
        let role = *self.part.role();
        let of_other_ranks = || ByteLayout::new(self.data.iter().map(|one| one.bytes));
        let layout = match role.operation.payload_kind() {
            PayloadKind::Blocks => {
                ByteLayout::new(communicator.all_numbers(role.own_bytes)?).map(CallLayout::Blocks)
            }
            PayloadKind::Vector => i32::try_from(role.own_bytes).ok().map(|_| CallLayout::Vector),
            PayloadKind::Messages => {
                let row = ByteLayout::new(self.row.iter().copied());
                row.zip(of_other_ranks()).map(|(row, column)| CallLayout::Messages(row, column))
            }
            PayloadKind::Groups => {
                let first = communicator.all_numbers(self.data[0].of as u64)?;
                let first = first.iter().position(|&of| of == 0).expect("the second group");
                let between = Intercommunicator::between(first, communicator)?;
                of_other_ranks().map(|layout| CallLayout::Groups(layout, between))
            }
        };
        // Of messages each rank has its own.
        let has_layout = communicator.least(u64::from(layout.is_some()))? == 1;
        let place = (role.rank, role.root.unwrap_or(0));
        let layout = layout.filter(|_| has_layout);
        Ok(layout.map(|layout| LibraryCall::new(role.operation, place, layout)))
    }

    /// The sizes of what the library reads and writes.
    fn library_bytes(&self) -> [u64; 2] {
        let role = *self.part.role();
        let output = match role.operation.payload_kind() {
            PayloadKind::Blocks if role.operation.is_reduction() => role.own_bytes,
            PayloadKind::Messages => role.total_bytes,
            _ => role.buffer_bytes(Buffer::Output),
        };
        [role.buffer_bytes(Buffer::Input), output]
    }
}

/// The areas, and scratch areas between them up to `all` bytes.
fn with_scratch(mut areas: Vec<[Area; 2]>, all: u64) -> Vec<[Area; 2]> {
    let mut at = GUARD;
    let mut scratch = Vec::new();
    let ends = areas.iter().map(|[area, _]| (area.at, area.at + area.bytes));
    for (start, end) in ends.chain([(GUARD + all, GUARD + all)]) {
        if at < start {
            let area =
                Area { at, bytes: start - at, content: Content::Scratch, shift: 0, block: 0 };
            scratch.push([area; 2]);
        }
        at = end;
    }
    areas.extend(scratch);
    areas
}

/// A rank that is ready to play its part.
struct Station {
    execution: Execution,
    /// Contents of each buffer before and after.
    images: [(Buffer, Image, Image); 2],
}

impl Station {
    fn new(
        assignment: &Assignment,
        args: &ReplayArgs,
        job: &Job,
    ) -> Result<Station, ExecutionError> {
        let role = *assignment.part.role();
        let images = [Buffer::Input, Buffer::Output].map(|buffer| {
            let areas = assignment.areas(buffer, args.element);
            let size = areas.iter().map(|[area, _]| area.at + area.bytes).max().unwrap_or(GUARD);
            let image = |when: usize| {
                Image::new(size + GUARD, role.rank, areas.iter().map(|both| both[when]))
            };
            (buffer, image(0), image(1))
        });
        let place = |index: usize| {
            let (buffer, before, _) = &images[index];
            let operation = role.operation;
            let extent = match buffer {
                Buffer::Input => operation.input(),
                Buffer::Output | Buffer::Segment => operation.output(),
            };
            let holds_blocks = operation.is_irregular()
                && !operation.is_reduction()
                && matches!(extent, Extent::Total | Extent::TotalAtRoot);
            let blocks = match holds_blocks {
                true => assignment.data.iter().map(|one| (one.bytes, one.at)).collect(),
                false => vec![(role.buffer_bytes(*buffer), 0)],
            };
            place(before.size(), &blocks, args.element)
        };
        let mut buffers = Buffers::apart(place(0)?, place(1)?);
        if role.operation.is_reduction() {
            buffers = buffers.reducing(reduction(args.element, assignment.is_ordered)?);
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

    /// Checks every byte.
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

/// Memory of this size with these blocks, each with its size and its place behind the guard.
fn place(size: u64, blocks: &[(u64, u64)], element: Element) -> Result<Place, PlaceError> {
    let blocks = blocks
        .iter()
        .map(|&(bytes, at)| Block { at: (at + GUARD) as i64, elements: bytes / element.bytes() });
    Place::new(Memory::zeroed(size)?, Datatype::of(element)?, blocks)
}

fn reduction(element: Element, is_ordered: bool) -> Result<Reduction, MpiError> {
    let operator = match element {
        Element::Byte if is_ordered => Operator::composition()?,
        Element::Byte => Operator::exclusive_or(),
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

/// Measured times.
struct Times {
    own: Spans,
    /// The library's own call, where there is one for these blocks.
    library: Option<Spans>,
}

/// The times of the iterations, all ranks beginning at the same moment.
fn measure(
    station: &mut Station,
    assignment: &Assignment,
    args: &ReplayArgs,
    job: &Job,
) -> Result<Times, Stop> {
    let communicator = job.communicator();
    let call = assignment.library_call(communicator)?;
    let bytes = |bytes: u64| vec![1_u8; if call.is_some() { bytes as usize } else { 0 }];
    let [input, mut output] = assignment.library_bytes().map(bytes);
    let mut starts = Starts::new(communicator)?;
    let mut times = Times { own: Spans::default(), library: call.is_some().then(Spans::default) };
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
        if let (Some(call), Some(library)) = (&call, &mut times.library) {
            let call = || call.run(&input, &mut output, communicator);
            let span = starts.timed(1.25 * library_last, call)?;
            library_last = span.seconds;
            if counts {
                library.note(span);
            }
        }
    }
    Ok(times)
}

/// A time in seconds, for people.
fn duration(seconds: f64) -> String {
    match seconds {
        _ if seconds < 1e-3 => format!("{:.2} µs", seconds * 1e6),
        _ if seconds < 1.0 => format!("{:.3} ms", seconds * 1e3),
        _ => format!("{seconds:.3} s"),
    }
}
