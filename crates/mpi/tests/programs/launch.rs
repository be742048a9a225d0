//! Compiling programs, and running them on several ranks with an eye on the clock.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// A job that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(600);

/// How long `mpirun` may take to notice that its processes have ended. That of Open MPI 4.1 at times waits for
/// ever after several of them have aborted at once.
const REAPING: Duration = Duration::from_secs(10);

/// How a program is linked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Linkage {
    Shared,
    Static,
}

/// The repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The file of a machine document of ours.
pub(crate) fn machine(name: &str) -> String {
    root().join("data/machines").join(name).to_str().unwrap().to_owned()
}

/// Where cargo has put the libraries: beside this test.
pub(crate) fn library_directory() -> PathBuf {
    std::env::current_exe().unwrap().parent().unwrap().to_owned()
}

/// Programs, and the library under the name by which they look for it.
fn directory() -> &'static Path {
    static DIRECTORY: OnceLock<tempfile::TempDir> = OnceLock::new();
    let directory = DIRECTORY.get_or_init(|| {
        let directory = tempfile::tempdir().unwrap();
        let library = library_directory().join("libtuwtree_mpi.so");
        for name in ["libtuwtree_mpi.so", "libtuwtree_mpi.so.0"] {
            std::os::unix::fs::symlink(&library, directory.path().join(name)).unwrap();
        }
        directory
    });
    directory.path()
}

pub(crate) fn is_open_mpi() -> bool {
    open_mpi_version().is_some()
}

/// The first number of Open MPI's version; `None` on another library.
pub(crate) fn open_mpi_version() -> Option<u32> {
    static ANSWER: OnceLock<Option<u32>> = OnceLock::new();
    *ANSWER.get_or_init(|| {
        let output = Command::new(launcher()).arg("--version").output().unwrap();
        let said = text(&output.stdout);
        // It calls itself by the name by which it is called, and at times OpenRTE: "mpirun (Open MPI) 5.0.11".
        let version = said.contains("open-mpi.org").then(|| said.split_once(") "))??.1;
        Some(version.split('.').next()?.parse().expect("a version of Open MPI"))
    })
}

/// The program that a file of `tests/c`, or any other, makes with all warnings being errors. Made once:
/// another test may run it already.
pub(crate) fn compile(source: &str, build: Linkage) -> PathBuf {
    static MADE: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c").join(source);
    let name = source.file_name().unwrap().to_str().unwrap();
    let program = directory().join(format!("{name}.{build:?}"));
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    if made.contains(&program) {
        return program;
    }
    let is_cpp = name.ends_with(".cpp");
    let compiler = env!("TUWTREE_MPICC");
    let compiler = if is_cpp { compiler.replace("mpicc", "mpicxx") } else { compiler.to_owned() };
    let mut command = Command::new(compiler);
    command.args([if is_cpp { "-std=c++11" } else { "-std=c99" }]);
    command.args(["-Wall", "-Wextra", "-Wpedantic", "-Werror"]);
    // MPI's own C++ interface has warnings, and is not wanted.
    command.args(["-DOMPI_SKIP_MPICXX=1", "-DMPICH_SKIP_MPICXX=1"]);
    command.arg("-I").arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("include")).arg(&source);
    match build {
        Linkage::Shared => {
            command.arg("-L").arg(directory()).arg("-ltuwtree_mpi");
            command.arg(format!("-Wl,-rpath,{}", directory().display()));
        }
        Linkage::Static => {
            command.arg(library_directory().join("libtuwtree_mpi.a"));
            command.args(["-lpthread", "-ldl", "-lm"]);
        }
    }
    let output = command.arg("-o").arg(&program).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    made.insert(program.clone());
    program
}

/// The launcher of the MPI library on which tests run: of the one that they were built with, unless
/// `TUWTREE_TEST_MPIRUN` names that of another one for which the same programs are built.
pub(crate) fn launcher() -> String {
    std::env::var("TUWTREE_TEST_MPIRUN").unwrap_or(env!("TUWTREE_MPIRUN").to_owned())
}

/// Runs a program on several ranks. A job that hangs is ended, and fails the test.
pub(crate) fn run(
    ranks: usize,
    program: &Path,
    arguments: &[&str],
    environment: &[(&str, String)],
) -> Output {
    run_by(&launcher(), ranks, program, arguments, environment)
}

/// As [`run`], by this launcher.
pub(crate) fn run_by(
    launcher: &str,
    ranks: usize,
    program: &Path,
    arguments: &[&str],
    environment: &[(&str, String)],
) -> Output {
    let mut command = job(launcher.as_ref());
    command.args(["-n", &ranks.to_string()]).arg(program).args(arguments);
    finished(command.envs(environment.iter().map(|(name, value)| (name, value))))
}

/// A command whose jobs may have more ranks than cores.
pub(crate) fn job(program: &Path) -> Command {
    let mut command = Command::new(program);
    // Cargo has some, too.
    for (variable, _) in std::env::vars_os() {
        if variable.as_encoded_bytes().starts_with(b"TUWTREE_") {
            command.env_remove(variable);
        }
    }
    // More ranks than cores, as whoever we are.
    command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    command.env("OMPI_MCA_rmaps_base_oversubscribe", "1");
    // The same from Open MPI 5 on.
    command.env("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe");
    command
}

/// The output of a job. One that hangs is ended, and fails the test.
pub(crate) fn finished(command: &mut Command) -> Output {
    let directory = tempfile::tempdir().unwrap();
    let files = ["out", "err"].map(|name| directory.path().join(name));
    let [out, err] = files.each_ref().map(|path| std::fs::File::create(path).unwrap());
    let mut job = command.stdin(Stdio::null()).stdout(out).stderr(err).spawn().unwrap();
    let started = Instant::now();
    let mut lost_since: Option<Instant> = None;
    let status = loop {
        if let Some(status) = job.try_wait().unwrap() {
            break status;
        }
        if started.elapsed() > REAPING {
            lost_since = lost_since.or(Some(Instant::now())).filter(|_| all_have_ended(job.id()));
        }
        if lost_since.is_some_and(|since| since.elapsed() > REAPING) {
            let _ = job.kill();
        }
        if started.elapsed() > PATIENCE {
            // mpirun takes its processes with it if it is asked to end.
            let _ = Command::new("kill").arg(job.id().to_string()).status();
            std::thread::sleep(Duration::from_secs(3));
            let _ = job.kill();
            let said = files.each_ref().map(|path| text(&std::fs::read(path).unwrap()));
            panic!("{command:?}: still running; {said:?}");
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    let [stdout, stderr] = files.map(|path| std::fs::read(path).unwrap());
    Output { status, stdout, stderr }
}

/// Whether a process has children, and all of them have ended without its notice.
fn all_have_ended(parent: u32) -> bool {
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let states: Vec<String> = all
        .filter_map(|one| std::fs::read_to_string(one.path().join("stat")).ok())
        .filter_map(|stat| {
            // Behind the name, in parentheses: state, parent, and more.
            let (_, rest) = stat.rsplit_once(')')?;
            let mut fields = rest.split_whitespace();
            let state = fields.next()?.to_owned();
            (fields.next()?.parse() == Ok(parent)).then_some(state)
        })
        .collect();
    !states.is_empty() && states.iter().all(|state| state == "Z")
}

/// What pkg-config says of an installed library.
pub(crate) fn pkg_config(prefix: &Path) -> String {
    let path = prefix.join("lib/pkgconfig");
    let output = Command::new("pkg-config")
        .args(["--cflags", "--libs", "--static", "tuwtree_mpi"])
        .env("PKG_CONFIG_PATH", path)
        .output();
    let output = output.expect("pkg-config");
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

/// The name by which a shared library is known to the programs that are linked against it.
pub(crate) fn soname(library: &Path) -> String {
    let output = Command::new("readelf").arg("-d").arg(library).output().expect("readelf");
    let dynamic = text(&output.stdout);
    let names: Vec<&str> = dynamic
        .lines()
        .filter(|line| line.contains("(SONAME)"))
        .filter_map(|line| line.split_once('[')?.1.split_once(']'))
        .map(|(name, _)| name)
        .collect();
    assert_eq!(names.len(), 1, "{}: {dynamic}", library.display());
    names[0].to_owned()
}

/// Text without the zeros that Open MPI sometimes writes.
pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).replace('\0', "")
}
