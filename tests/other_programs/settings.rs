//! The settings that `advise` names take effect: with them, libraries send the messages of the construction that is
//! named beside each.

use super::c_files::{STRICT_FLAGS, succeed};
use crate::program::{folder, workspace_file};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tuwtree_model::{BlockSizes, ClosedSet, Homogeneous, Operation, Problem, Rank};
use tuwtree_plan::{Library, LibrarySetting, Request, Settings, Wanted};
use tuwtree_schedule::Schedule;

/// The blocks of five processes, and of eight.
const BLOCKS: [&[u64]; 2] = [&[100, 1, 7, 13, 30], &[100, 1, 7, 13, 30, 50, 17, 9]];

/// The bytes of each message, in ascending order, by sender and receiver.
pub(super) type SentMessages = BTreeMap<(Rank, Rank), Vec<u64>>;

/// What is sent by a schedule.
pub(super) fn messages_of(schedule: &Schedule) -> SentMessages {
    let mut messages = SentMessages::new();
    for rank in 0..schedule.programs().ranks() {
        for send in schedule.programs().actions(rank).filter_map(|action| action.send()) {
            messages.entry((rank, send.to)).or_default().push(send.from.bytes());
        }
    }
    messages.values_mut().for_each(|sizes| sizes.sort_unstable());
    messages
}

/// What is sent by the schedule of a setting's construction; none if the setting is not for so many processes.
fn planned(setting: LibrarySetting, operation: Operation, blocks: &[u64]) -> Option<SentMessages> {
    if !setting.is_for(blocks.len()) {
        return None;
    }
    let sizes = BlockSizes::new(blocks.iter().copied()).unwrap();
    let costs = Homogeneous::new(1.0, 1.0, 1.0).unwrap();
    let problem = Problem::new(operation, sizes, costs).unwrap();
    let request = Request::new(&problem, Settings::default(), &());
    let plan = request.build(Wanted::named(setting.construction)).unwrap().plan;
    Some(messages_of(&plan.schedule(&problem).unwrap()))
}

/// All settings of a library, and for how many processes each construction is.
fn settings(library: Library) -> Vec<(Operation, LibrarySetting, &'static [u64], SentMessages)> {
    let mut all = Vec::new();
    for operation in Operation::all() {
        for &setting in library.settings(operation) {
            let before = all.len();
            for blocks in BLOCKS {
                let messages = planned(setting, operation, blocks);
                all.extend(messages.map(|messages| (operation, setting, blocks, messages)));
            }
            assert!(all.len() > before, "{setting:?} is tried");
        }
    }
    all
}

/// An MPI library to be tried.
pub(super) struct Installed {
    /// What stands before and behind the names of its programs.
    around: [String; 2],
    /// Where programs find it, if not where all look.
    path: Option<PathBuf>,
    pub(super) folder: PathBuf,
}

impl Installed {
    /// Debian's, for such tests.
    pub(super) fn of_debian(name: &str, tests: &str) -> Installed {
        let folder = folder(&format!("{tests}-{name}"));
        Installed { around: [String::new(), format!(".{name}")], path: None, folder }
    }

    /// The one in an environment of Python's that a variable names.
    fn of_pypi(variable: &str) -> Installed {
        let at = std::env::var(variable).unwrap_or_else(|_| panic!("{variable} is not set"));
        Installed {
            around: [format!("{at}/bin/"), String::new()],
            path: Some(Path::new(&at).join("lib")),
            folder: folder(&format!("settings-{}", variable.to_lowercase())),
        }
    }

    fn program(&self, name: &str) -> String {
        self.around.join(name)
    }

    /// Compiles a program of C into its folder, or another library's.
    pub(super) fn compile(&self, compiler: &str, source: &str, program: &Path, flags: &[&str]) {
        let source = workspace_file("tests/other_programs").join(source);
        let mut command = Command::new(self.program(compiler));
        command.args(STRICT_FLAGS).args(flags).arg(source).arg("-o").arg(program);
        succeed(command.arg("-ldl"));
    }

    /// A job, still without its program.
    pub(super) fn job(&self, processes: usize) -> Command {
        let mut command = Command::new("timeout");
        command.args(["600", &self.program("mpirun"), "-n", &processes.to_string()]);
        command.envs(self.path.iter().map(|path| ("LD_LIBRARY_PATH", path)));
        command.current_dir(&self.folder).envs([
            ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
            ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
            ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
            ("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"),
        ]);
        command
    }
}

/// A program in the library's folder that performs one operation on blocks.
pub(super) struct SettingTask<'a> {
    pub(super) program: &'a str,
    pub(super) operation: Operation,
    pub(super) blocks: &'a [u64],
}

impl SettingTask<'_> {
    /// The job with the program, and what it is to do.
    pub(super) fn added_to<'a>(&self, job: &'a mut Command) -> &'a mut Command {
        job.arg(format!("./{}", self.program))
            .arg(self.operation.name())
            .args(self.blocks.iter().map(u64::to_string))
    }
}

/// What Open MPI sends, by its own monitoring: how many bytes in how many messages, by sender and receiver.
pub(super) type Sums = BTreeMap<(Rank, Rank), (u64, u64)>;

pub(super) fn sums(messages: &SentMessages) -> Sums {
    let summed = |(&pair, sizes): (&(Rank, Rank), &Vec<u64>)| {
        (pair, (sizes.iter().sum::<u64>(), sizes.len() as u64))
    };
    messages.iter().map(summed).collect()
}

pub(super) fn sent_by_open_mpi(
    open_mpi: &Installed,
    options: &[&str],
    task: &SettingTask<'_>,
) -> Sums {
    let mut job = open_mpi.job(task.blocks.len());
    job.args(options).args(["--mca", "pml_monitoring_enable", "2"]);
    job.args(["--mca", "pml_monitoring_enable_output", "3"]);
    job.args(["--mca", "pml_monitoring_filename", "sent"]);
    succeed(task.added_to(&mut job));
    let mut sent = Sums::new();
    for rank in 0..task.blocks.len() {
        let profile = open_mpi.folder.join(format!("sent.{rank}.prof"));
        let profile = std::fs::read_to_string(profile).unwrap();
        for line in profile.lines().filter(|line| line.starts_with("I\t")) {
            let numbers: Vec<u64> =
                line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
            sent.insert((numbers[0] as Rank, numbers[1] as Rank), (numbers[2], numbers[3]));
        }
    }
    sent
}

fn open_mpi_sends_what_its_settings_say(open_mpi: &Installed, library: Library) {
    open_mpi.compile("mpicc", "set.c", &open_mpi.folder.join("set"), &[]);
    for (operation, setting, blocks, planned) in settings(library) {
        let options = setting.words.strip_prefix("mpirun ").unwrap().split(' ');
        let task = SettingTask { program: "set", operation, blocks };
        let sent = sent_by_open_mpi(open_mpi, &options.collect::<Vec<_>>(), &task);
        assert_eq!(sent, sums(&planned), "{setting:?}, {blocks:?}");
    }
}

#[test]
#[ignore = "needs Open MPI; ./test --all runs it"]
fn open_mpi_4_sends_the_messages_of_the_settings_that_advice_names() {
    open_mpi_sends_what_its_settings_say(
        &Installed::of_debian("openmpi", "settings"),
        Library::OpenMpi5,
    );
}

#[test]
#[ignore = "takes Open MPI 5, whose folder TUWTREE_OPEN_MPI_5 names; ./test --all runs it"]
fn open_mpi_5_sends_the_messages_of_the_settings_that_advice_names() {
    let open_mpi = Installed::of_pypi("TUWTREE_OPEN_MPI_5");
    open_mpi_sends_what_its_settings_say(&open_mpi, Library::OpenMpi5);
}

/// For each rank the messages to each receiver, which is not known.
pub(super) type ByReceivers = BTreeMap<Rank, Vec<Vec<u64>>>;

/// Runs a job in which what MPICH sends by UCX is counted (`ucx.c`). Where a setting is not for a call, an error is asked for.
pub(super) fn counted_by_ucx(
    mpich: &Installed,
    settings: &[(&str, &str)],
    task: &SettingTask<'_>,
) -> Output {
    let listener = mpich.folder.join("ucx.so");
    if !listener.exists() {
        mpich.compile("mpicc", "ucx.c", &listener, &["-shared", "-fPIC"]);
    }
    let others = std::env::var("LD_PRELOAD").unwrap_or_default();
    let preloaded = format!("{}:{others}", listener.display());
    let mut job = mpich.job(task.blocks.len());
    job.envs(settings.iter().copied()).env("LD_PRELOAD", preloaded).envs([
        ("MPIR_CVAR_COLLECTIVE_FALLBACK", "error"),
        // All by UCX, and nothing by shared memory.
        ("MPIR_CVAR_NOLOCAL", "1"),
        ("MPIR_CVAR_CH4_NETMOD", "ucx"),
    ]);
    task.added_to(&mut job).output().unwrap()
}

/// What such a job has sent.
pub(super) fn sent_by_mpich(output: Output) -> ByReceivers {
    let mut sent: BTreeMap<(Rank, String), Vec<u64>> = BTreeMap::new();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let to = sent.entry((words[0].parse().unwrap(), words[1].to_owned())).or_default();
        to.push(words[2].parse().unwrap());
    }
    by_receivers(sent.into_iter().map(|((from, _), sizes)| (from, sizes)))
}

fn mpich_sends_what_its_settings_say(mpich: &Installed, library: Library) {
    mpich.compile("mpicc", "set.c", &mpich.folder.join("set"), &[]);
    let run = |words: &str, operation: Operation, blocks: &[u64]| {
        let setting = words.split_once('=').unwrap();
        counted_by_ucx(mpich, &[setting], &SettingTask { program: "set", operation, blocks })
    };
    for (operation, setting, blocks, planned) in settings(library) {
        let output = run(setting.words, operation, blocks);
        assert!(output.status.success(), "{setting:?}, {blocks:?}: {output:?}");
        assert_eq!(sent_by_mpich(output), unnamed(planned), "{setting:?}, {blocks:?}");
    }
    // A setting that is for no call of five processes, and one that there is not, fail: such words would be seen.
    let [five, _] = BLOCKS;
    for value in ["recursive_doubling", "doubling"] {
        let words = format!("MPIR_CVAR_ALLGATHERV_INTRA_ALGORITHM={value}");
        let output = run(&words, Operation::Allgather, five);
        assert!(!output.status.success(), "{words}: {output:?}");
    }
}

/// Messages whose receivers are not known.
pub(super) fn unnamed(messages: SentMessages) -> ByReceivers {
    by_receivers(messages.into_iter().map(|((from, _), sizes)| (from, sizes)))
}

fn by_receivers(messages: impl Iterator<Item = (Rank, Vec<u64>)>) -> ByReceivers {
    let mut all = ByReceivers::new();
    for (from, mut sizes) in messages {
        sizes.sort_unstable();
        all.entry(from).or_default().push(sizes);
    }
    all.values_mut().for_each(|of_rank| of_rank.sort_unstable());
    all
}

#[test]
#[ignore = "needs MPICH; ./test --all runs it"]
fn mpich_4_sends_the_messages_of_the_settings_that_advice_names() {
    mpich_sends_what_its_settings_say(&Installed::of_debian("mpich", "settings"), Library::Mpich42);
}

#[test]
#[ignore = "takes MPICH 5, whose folder TUWTREE_MPICH_5 names; ./test --all runs it"]
fn mpich_5_sends_the_messages_of_the_settings_that_advice_names() {
    mpich_sends_what_its_settings_say(&Installed::of_pypi("TUWTREE_MPICH_5"), Library::Mpich);
}

/// Ranks between each rank and the root, 0, along the binomial tree in which each group gathers at its first rank, with the
/// root. For powers of two: with others the groups are not the usual ones.
fn ancestors(processes: usize) -> BTreeMap<Rank, BTreeSet<Rank>> {
    let above = |rank: Rank| {
        let parent = |&one: &Rank| (one > 0).then(|| one & (one - 1));
        std::iter::successors(parent(&rank), parent).collect()
    };
    (1..processes).map(|rank| (rank, above(rank))).collect()
}

#[test]
#[ignore = "takes Intel MPI and MPICH 5, whose folders TUWTREE_INTEL_MPI and TUWTREE_MPICH_5 name; ./test --all runs it"]
fn intel_mpi_gathers_along_a_binomial_tree_by_the_setting_that_advice_names() {
    // The same program runs on both, by MPI's standard ABI.
    let [mpich, intel] = ["TUWTREE_MPICH_5", "TUWTREE_INTEL_MPI"].map(Installed::of_pypi);
    let flags = ["-D_POSIX_C_SOURCE=199309L"];
    mpich.compile("mpicc_abi", "waiting.c", &intel.folder.join("waiting"), &flags);
    let [setting] = Library::Intel.settings(Operation::Gather) else { panic!("one setting") };
    for (words, is_along_tree) in [(setting.words, true), ("I_MPI_ADJUST_GATHERV=1", false)] {
        let (name, value) = words.split_once('=').unwrap();
        for processes in [4, 8] {
            let above = ancestors(processes);
            // On some processors the root first tells all something along the tree, for which those below a late rank wait.
            let below = |late: Rank| {
                above.iter().filter(move |(_, ranks)| ranks.contains(&late)).map(|(&rank, _)| rank)
            };
            let waiting = |late: Rank| {
                let least = match is_along_tree {
                    true => above[&late].clone(),
                    false => BTreeSet::from([0]),
                };
                let most = least.iter().copied().chain(below(late)).collect();
                (least, most)
            };
            let waiting: Vec<(BTreeSet<Rank>, BTreeSet<Rank>)> =
                (1..processes).map(waiting).collect();
            let done = waiting.iter().map(|(_, most)| processes - 1 - most.len());
            let mut job = intel.job(processes);
            job.env(name, value).arg("./waiting").args(done.map(|ranks| ranks.to_string()));
            let said = succeed(&mut job);
            let of_line = |line: &str| {
                let (late, others) = line.split_once(':')?;
                let others = others.split_whitespace().map(|rank| rank.parse().ok());
                Some((late.parse().ok()?, others.collect::<Option<_>>()?))
            };
            let found: Option<BTreeMap<Rank, BTreeSet<Rank>>> = said.lines().map(of_line).collect();
            let found = found.unwrap_or_else(|| panic!("{words}, {processes} processes: {said}"));
            let fits =
                |(late, (least, most)): (&BTreeSet<Rank>, &(BTreeSet<Rank>, BTreeSet<Rank>))| {
                    least.is_subset(late) && late.is_subset(most)
                };
            assert!(
                found.len() == waiting.len() && found.values().zip(&waiting).all(fits),
                "{words}: {found:?}, {waiting:?}"
            );
        }
    }
}
