//! The program under `mpirun`: data compared byte for byte, and faults that end the whole job.
//!
//! Every launch has a time after which it is ended, and one runs at a time: a library that waits
//! busily takes all cores.

use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tuwtree_model::{
    BlockSizes, ClosedSet, Collective, Construction, GroupSizes, Homogeneous, MessageSizes,
    Operation, Operator, Order, Payload, PayloadKind, Problem, Rank, Root, Step, Tree, Vector,
};
use tuwtree_plan::{Effort, Request, Settings, VectorUse, Wanted};
use tuwtree_schedule::{Schedule, document};
use tuwtree_treegen::{linear, oblivious};

/// How long a launch may take, on a machine that has other things to do, too.
const PATIENCE: Duration = Duration::from_secs(600);

/// One launch at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// What a launch has left.
struct Launched {
    code: Option<i32>,
    output: String,
    errors: String,
}

impl Launched {
    fn succeeded(&self) -> &str {
        assert_eq!(self.code, Some(0), "{}{}", self.output, self.errors);
        &self.output
    }

    /// The message with which the job failed: one, whatever `mpirun` adds.
    fn failed(&self, code: i32) -> &str {
        assert_eq!(self.code, Some(code), "{}{}", self.output, self.errors);
        let messages: Vec<&str> =
            self.errors.lines().filter(|line| line.starts_with("error: ")).collect();
        assert_eq!(messages.len(), 1, "{}", self.errors);
        messages[0]
    }
}

fn launch(ranks: usize, arguments: &[&str]) -> Launched {
    launch_with(ranks, arguments, b"")
}

fn launch_with(ranks: usize, arguments: &[&str], input: &[u8]) -> Launched {
    launch_program(env!("CARGO_BIN_EXE_tuwtree-exec").as_ref(), ranks, arguments, input)
}

fn launch_program(program: &Path, ranks: usize, arguments: &[&str], input: &[u8]) -> Launched {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut child = Command::new(env!("TUWTREE_MPIRUN"))
        .env("NO_COLOR", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        .env("OMPI_MCA_rmaps_base_oversubscribe", "1")
        .args(["-n", &ranks.to_string()])
        .arg(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("mpirun starts");
    let output = reader(child.stdout.take().expect("piped"));
    let errors = reader(child.stderr.take().expect("piped"));
    // It may have ended without reading.
    let _ = child.stdin.take().expect("piped").write_all(input);
    let code = wait(&mut child, arguments);
    let text = |reader: JoinHandle<Vec<u8>>| {
        // Open MPI now and then writes zeros among the text.
        let text = String::from_utf8_lossy(&reader.join().expect("a reader")).into_owned();
        text.replace('\0', "")
    };
    Launched { code, output: text(output), errors: text(errors) }
}

fn reader(mut pipe: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).expect("a pipe");
        bytes
    })
}

/// The exit code; panics if there is none in time.
fn wait(child: &mut Child, arguments: &[&str]) -> Option<i32> {
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        if let Some(status) = child.try_wait().expect("a child") {
            return status.code();
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let _ = child.kill();
    panic!("{arguments:?} has not ended in {PATIENCE:?}");
}

/// Whether the library yields when it waits, and more ranks than cores are no trouble.
fn yields() -> bool {
    let version = Command::new(env!("TUWTREE_MPIRUN")).arg("--version").output();
    let version = version.expect("mpirun starts").stdout;
    String::from_utf8_lossy(&version).contains("Open MPI")
}

/// A folder that is gone when the test has ended.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().expect("a folder"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn file(&self, name: &str, content: &[u8]) -> String {
        let path = self.path(name);
        std::fs::write(&path, content).expect("a file");
        path.to_str().expect("a name in UTF-8").to_owned()
    }

    fn schedule(&self, name: &str, schedule: &Schedule) -> String {
        self.file(name, &text(schedule))
    }
}

fn text(schedule: &Schedule) -> Vec<u8> {
    let mut text = Vec::new();
    document::write(schedule, &mut text).expect("memory");
    text
}

/// Blocks of whole doubles, some of them empty.
fn sizes(ranks: usize) -> BlockSizes {
    BlockSizes::new((0..ranks as u64).map(|rank| 8 * (rank * 7 % 5))).expect("small")
}

/// A problem with a root, at some costs.
fn problem(operation: Operation, payload: impl Into<Payload>, root: Rank) -> Problem {
    let costs = Homogeneous::new(100.0, 1.0, 1.0).expect("costs");
    let problem = Problem::new(operation, payload, costs).expect("a problem");
    problem.with_root(Root::Given(root)).expect("a root")
}

fn blocks(operation: Operation, tree: &Tree) -> Schedule {
    let problem = problem(operation, sizes(tree.ranks()), tree.root());
    Schedule::of_tree(tree, &problem).expect("a schedule")
}

/// The star that gathers whole doubles.
fn star(ranks: usize, root: Rank) -> Tree {
    linear(&problem(Operation::Gather, sizes(ranks), root)).expect("a tree")
}

/// The schedule of a tree without costs.
fn without_costs(tree: &Tree, operation: Operation, payload: impl Into<Payload>) -> Schedule {
    let collective = Collective::new(operation, payload).expect("data of its kind");
    Schedule::without_costs(tree, &collective).expect("a schedule")
}

/// 3 <- 1, 3's own, 3 <- (0 <- 4, 0's own, 0 <- 2): not ordered.
fn scattered_tree() -> Tree {
    let steps = [
        (3, Step::Receive(1)),
        (3, Step::Copy),
        (3, Step::Receive(0)),
        (0, Step::Receive(4)),
        (0, Step::Copy),
        (0, Step::Receive(2)),
    ];
    Tree::new(5, 3, &steps).expect("a tree")
}

fn selftest(ranks: usize, problems: u32) {
    let count = problems.to_string();
    let outcome = launch(ranks, &["selftest", "--problems", &count, "--seed", "2026"]);
    let expected = format!("{problems} random problems (seed 2026) on {ranks} processes");
    assert!(outcome.succeeded().contains(&expected), "{}", outcome.output);
}

#[test]
fn random_problems_on_few_ranks_are_solved_as_by_the_library() {
    for (ranks, problems) in [(1, 3000), (2, if yields() { 3000 } else { 1500 })] {
        selftest(ranks, problems);
    }
}

#[test]
fn random_problems_on_several_ranks_are_solved_as_by_the_library() {
    for (ranks, problems, busily) in [(3, 2000, 500), (5, 1000, 150), (8, 1000, 60)] {
        selftest(ranks, if yields() { problems } else { busily });
    }
}

#[test]
fn random_problems_on_many_ranks_are_solved_as_by_the_library() {
    for (ranks, problems, busily) in [(13, 400, 24), (16, 300, 24)] {
        selftest(ranks, if yields() { problems } else { busily });
    }
    if yields() {
        selftest(32, 100);
    }
}

#[test]
fn schedules_are_replayed_with_every_byte_checked() {
    let folder = Folder::new();
    let checked = ["--verify", "--iterations", "3"];
    for operation in Operation::rooted() {
        let schedule = match operation.is_irregular() {
            true => blocks(operation, &scattered_tree()),
            false => {
                let vector = Vector { ranks: 5, bytes: 64 };
                let tree = oblivious(&problem(operation, vector, 2)).expect("a tree");
                without_costs(&tree, operation, vector)
            }
        };
        let file = folder.schedule("schedule.json", &schedule);
        for options in
            [["--mode", "strict", "--type", "byte"], ["--mode", "eager", "--type", "double"]]
        {
            let outcome = launch(5, &[&["replay", &file][..], &checked, &options].concat());
            let output = outcome.succeeded();
            assert!(output.contains(&format!("replayed   {} of", operation.name())), "{output}");
            assert!(output.contains("3 iterations after 1, every byte checked"), "{output}");
        }
    }
}

/// Data of an operation over five ranks, in whole doubles, some of it empty.
fn payload(operation: Operation) -> Payload {
    let sizes = || sizes(5);
    match operation.payload_kind() {
        PayloadKind::Blocks => sizes().into(),
        PayloadKind::Vector => Vector { ranks: 5, bytes: 88 }.into(),
        PayloadKind::Messages => {
            let message = |index: u64| 8 * (index * index % 7);
            MessageSizes::new((0..25).map(message)).expect("small").into()
        }
        PayloadKind::Groups => GroupSizes::new(sizes(), 3).expect("two groups").into(),
    }
}

/// All schedules of an operation that are not a tree's.
fn schedules(operation: Operation) -> Vec<(Construction, Schedule)> {
    let costs = Homogeneous::new(100.0, 1.0, 1.0).expect("costs");
    let problem = Problem::new(operation, payload(operation), costs).expect("a problem");
    let problem = match operation.is_rooted() {
        true => problem.with_root(Root::Given(2)).expect("a root"),
        false => problem,
    };
    let whole = Operator::new(8, 0.0).expect("an element");
    let problem =
        problem.with_operator(if operation.is_reduction() { whole } else { Operator::FREE });
    let problem = problem.expect("whole elements");
    let settings = Settings { vector: VectorUse::Cut, ..Settings::default() };
    let request = Request::new(&problem, settings, &());
    let wanted = request.suitable(Order::Any, Effort::Quick);
    let programs = wanted.into_iter().filter(|one| !one.construction.builds_trees());
    let schedule = |wanted: Wanted| {
        let built = request.build(wanted).ok()?;
        Some((wanted.construction, built.plan.schedule(&problem).ok()?.into_owned()))
    };
    programs.filter_map(schedule).collect()
}

#[test]
fn every_construction_without_a_tree_is_replayed_with_every_byte_checked() {
    let folder = Folder::new();
    let options = [["--mode", "strict", "--type", "byte"], ["--mode", "eager", "--type", "double"]];
    for operation in Operation::all().filter(|one| !one.passes_on_once()) {
        let schedules = schedules(operation);
        assert!(schedules.len() >= 2, "{operation:?}");
        for (index, (construction, schedule)) in schedules.iter().enumerate() {
            let file = folder.schedule("schedule.json", schedule);
            let arguments = ["replay", &file, "--verify", "--iterations", "3"];
            let outcome = launch(5, &[&arguments[..], &options[index % 2]].concat());
            let output = outcome.succeeded();
            assert!(
                output.contains("3 iterations after 1, every byte checked"),
                "{construction:?}"
            );
            assert!(output.contains("its own call, in turn with this"), "{output}");
        }
    }
}

#[test]
fn what_an_allgather_collects_may_have_gaps() {
    let folder = Folder::new();
    for (construction, schedule) in schedules(Operation::Allgather) {
        let file = folder.schedule("schedule.json", &schedule);
        let outcome = launch(5, &["replay", &file, "--verify", "--gaps", "5"]);
        assert!(outcome.succeeded().contains("replayed   allgather of"), "{construction:?}");
    }
}

#[test]
fn a_schedule_whose_copies_combine_is_replayed() {
    let folder = Folder::new();
    let schedule =
        br#"{"format":"tuwtree-schedule","version":5,"operation":"reduce","processors":3,"root":0,
        "order":"ordered","ports":1,"vector_bytes":64,"segment_bytes":[64,128,0],"actions":[
        [{"receive":1,"into":["segment",0,64]},
         {"from":["segment",0,16,16,48],"into":["output",0,64],"combine":"right"}],
        [{"receive":2,"into":["segment",64,64]},
         {"from":["segment",64,64],"into":["segment",0,64],"combine":"right"},
         {"receive":2,"into":["segment",64,64]},{"send":0,"from":["segment",0,64]}],
        [{"send":1,"from":["input",0,64]},{"send":1,"from":["input",0,64]}]]}"#;
    let file = folder.file("schedule.json", schedule);
    for mode in ["strict", "eager"] {
        let options = ["--verify", "--iterations", "3", "--mode", mode, "--type", "double"];
        let outcome = launch(3, &[&["replay", &file][..], &options].concat());
        assert!(outcome.succeeded().contains("3 iterations after 1, every byte checked"), "{mode}");
    }
}

#[test]
fn a_schedule_may_come_packed_or_through_standard_input_or_be_a_tree() {
    let folder = Folder::new();
    let text = text(&blocks(Operation::Gather, &star(3, 1)));
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    packer.write_all(&text).expect("memory");
    let packed = folder.file("schedule.json.gz", &packer.finish().expect("memory"));
    // 1 <- 0, then its own block, then 1 <- 2.
    let tree = br#"{"format":"tuwtree-tree","version":1,"processors":3,"root":1,
        "subtrees":[[],[0,1,2],[]],"problem":{"operation":"gather","alpha":100.0,
        "beta_per_byte":1.0,"gamma_per_byte":1.0,"block_sizes_bytes":[16,0,32]}}"#;
    let tree = folder.file("tree.json", tree);
    for (source, input) in [(packed.as_str(), &b""[..]), (&tree, b""), ("-", &text)] {
        let arguments = ["replay", source, "--verify"];
        let output = launch_with(3, &arguments, input);
        assert!(output.succeeded().contains("gather of 48 bytes over 3 processes, root 1"));
        assert!(output.output.contains("in the unit of the schedule's costs"), "{}", output.output);
    }
}

#[test]
fn a_gather_is_reversed_for_a_scatter_and_blocks_may_have_gaps() {
    let folder = Folder::new();
    for (operation, other) in [("gather", Operation::Scatter), ("scatter", Operation::Gather)] {
        let file = folder.schedule("schedule.json", &blocks(other, &scattered_tree()));
        let arguments = ["replay", &file, "--op", operation, "--gaps", "5", "--verify"];
        let outcome = launch(5, &arguments);
        assert!(outcome.succeeded().contains(&format!("replayed   {operation} of")));
    }
    let displaced = blocks(Operation::Gather, &scattered_tree());
    let displaced = displaced.with_displacements(vec![500, 400, 300, 200, 100]).expect("apart");
    let file = folder.schedule("displaced.json", &displaced);
    launch(5, &["replay", &file, "--verify", "--type", "double", "--mode", "eager"]).succeeded();
}

#[test]
fn a_lone_rank_replays_its_schedule() {
    let folder = Folder::new();
    for operation in Operation::irregular() {
        let sizes = BlockSizes::new([24]).expect("small");
        let schedule = without_costs(&star(1, 0), operation, sizes);
        let file = folder.schedule("lone.json", &schedule);
        launch(1, &["replay", &file, "--verify"]).succeeded();
    }
}

#[test]
fn every_fault_ends_the_job_with_one_message() {
    let folder = Folder::new();
    let schedule = blocks(Operation::Gather, &star(3, 0));
    let good = folder.schedule("good.json", &schedule);
    let text = String::from_utf8(text(&schedule)).expect("UTF-8");
    let broken = |name: &str, from: &str, to: &str| {
        assert!(text.contains(from), "{from} is not in {text}");
        folder.file(name, text.replacen(from, to, 1).as_bytes())
    };
    let cut = folder.file("cut.json", &text.as_bytes()[..text.len() / 2]);
    let deaf = broken("deaf.json", r#"{"receive":1"#, r#"{"receive":2"#);
    let outside = broken("outside.json", r#""root":0"#, r#""root":3"#);
    let odd = broken("odd.json", "[0,16,32]", "[0,16,33]");
    let missing = folder.path("missing.json");
    let missing = missing.to_str().expect("UTF-8");
    let vector = Vector { ranks: 3, bytes: 12 };
    let vector = without_costs(&star(3, 0), Operation::Broadcast, vector);
    let vector = folder.schedule("vector.json", &vector);
    for (arguments, code, message) in [
        (&["replay", missing][..], 1, "only rank 0 reads it"),
        (&["replay", &cut], 1, "EOF while parsing"),
        (&["replay", &outside], 1, "root 3 is outside 0..3"),
        (&["replay", &deaf], 1, "deaf.json: "),
        (&["replay", &odd], 1, "odd.json: "),
        (
            &["replay", &good, "--op", "reduce"],
            1,
            "only gather and scatter are each other's reverse",
        ),
        (&["replay", &vector, "--type", "double"], 1, "12 bytes, which are no whole elements"),
        (&["replay", &vector, "--gaps", "1"], 1, "the data of a broadcast lie without gaps"),
        (&["replay", &good, "--gaps", "9223372036854775807"], 1, "the largest address"),
        (&["replay", &good, "--iterations", "0"], 2, "invalid value '0'"),
        (&["replay", &good, "--mode", "lazy"], 2, "invalid value 'lazy'"),
        (&["play"], 2, "unrecognized subcommand"),
    ] {
        let outcome = launch(3, arguments);
        let found = outcome.failed(code);
        assert!(found.contains(message), "{arguments:?}: {found}");
    }
    let other = launch(2, &["replay", &good]);
    let found = other.failed(1);
    assert!(found.contains("is for 3 processes, but the job has 2: start it with -n 3"), "{found}");
}

#[test]
fn help_is_given_once() {
    let outcome = launch(2, &["replay", "--help"]);
    assert_eq!(outcome.succeeded().matches("Usage: ").count(), 1, "{}", outcome.output);
}

#[test]
fn the_example_runs() {
    let tests = std::env::current_exe().expect("this test");
    let example = tests.parent().expect("a folder").join("../examples/gather");
    let outcome = launch_program(&example, 3, &[], b"");
    let expected = "gathered [0, 1, 1, 2, 2, 2] by adaptive-gather-time";
    assert!(outcome.succeeded().contains(expected), "{}", outcome.output);
}

/// A message of more than 2^31 bytes, from one stretch of memory into one or into two.
#[test]
#[ignore = "takes 9 GB of memory and a minute; run by name"]
fn segments_of_more_than_2_gib_arrive_whole() {
    let folder = Folder::new();
    let block = (1_u64 << 30) + 12_345;
    let sizes = BlockSizes::new([block; 3]).expect("they fit");
    // 0's own, 0 <- (1's own, 1 <- 2).
    let steps = [(0, Step::Copy), (0, Step::Receive(1)), (1, Step::Copy), (1, Step::Receive(2))];
    let tree = Tree::new(3, 0, &steps).expect("a tree");
    let schedule = without_costs(&tree, Operation::Gather, sizes);
    let file = folder.schedule("large.json", &schedule);
    let once = ["replay", &file, "--verify", "--iterations", "1", "--warmup", "0"];
    for options in [["--mode", "strict", "--gaps", "0"], ["--mode", "eager", "--gaps", "9"]] {
        launch(3, &[&once[..], &options].concat()).succeeded();
    }
}
