//! `tuwtree-exec run`: an unchanged MPI program whose calls are recorded or planned. It sets up the preloaded library in
//! the launcher's own way, and becomes the launcher.

use crate::stop::complain;
use clap::Args;
use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fmt::Display;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf, absolute};
use std::process::{Command, ExitCode};
use tuwtree_binding::library_version;
use tuwtree_io::{Source, machine};

/// The preloaded library.
const LIBRARY: &str = "libtuwtree_preload.so";

/// Start an unchanged MPI program whose calls are recorded, or planned for a machine.
///
/// The command is the program's own, launcher first: mpirun or mpiexec of Open MPI, MPICH or Intel MPI, or srun. A command
/// without a launcher is started as it is, with the variables in its environment. TUWTREE_ variables of the environment
/// (`tuwtree-exec run` states the first two) go along to all ranks.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RunArgs {
    /// Record the calls to this file, for `tuwtree advise --recording` and `bench --recording`
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,

    /// Perform the calls by the fastest algorithm on this machine, built in or in a file of `calibrate`
    #[arg(long, value_name = "NAME|FILE")]
    machine: Option<String>,

    /// File of learned times, read first and written at the end: a later run knows at once where the MPI library is faster
    #[arg(long, value_name = "FILE")]
    learn: Option<PathBuf>,

    /// Print a summary of the calls at the end: algorithms, times and gain
    #[arg(long)]
    summary: bool,

    /// Print the command in place of running it
    #[arg(long)]
    print: bool,

    /// The preloaded library [default: libtuwtree_preload.so beside this program, or in ../lib]
    #[arg(long, value_name = "FILE")]
    library: Option<PathBuf>,

    /// The launcher, its options, the program and its arguments
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "COMMAND"
    )]
    command: Vec<OsString>,
}

const EXAMPLES: &str = "\
Examples:
  tuwtree-exec run --record calls.json -- mpirun -n 64 ./program
  tuwtree-exec run --machine cluster.json --summary -- mpirun -n 64 ./program";

/// A launcher of MPI programs, by its way to pass variables on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Launcher {
    /// Open MPI's: `-x NAME=VALUE`.
    OpenMpi,
    /// MPICH's and Intel MPI's: `-genv NAME VALUE`.
    Hydra,
    /// Slurm's: `--export=ALL,NAME=VALUE`, with which commas cannot be passed; the environment is, too.
    Slurm,
    /// None: the environment.
    Alone,
}

/// Runs the command; returns only where it cannot be started, or is printed.
pub(crate) fn run(args: &RunArgs) -> ExitCode {
    let has_file = args.record.is_some() || args.learn.is_some();
    if !(has_file || args.machine.is_some() || args.summary) {
        complain(
            "run: give --record FILE, --machine NAME, --learn FILE or --summary, or leave the program to its launcher",
        );
        return ExitCode::from(2);
    }
    match prepared(args) {
        Ok(command) if args.print => {
            let _ = writeln!(std::io::stdout(), "{}", printed(&command));
            ExitCode::SUCCESS
        }
        Ok(mut command) => {
            let error = command.exec();
            complain(&format!("{}: {error}", Path::new(command.get_program()).display()));
            ExitCode::FAILURE
        }
        Err(error) => {
            complain(&error);
            ExitCode::FAILURE
        }
    }
}

/// The command with the variables where its launcher expects them.
fn prepared(args: &RunArgs) -> Result<Command, String> {
    let (program, rest) = args.command.split_first().expect("clap demands one");
    let launcher = Launcher::of(program)?;
    launcher.check()?;
    let mut variables = variables(args)?;
    let mut command = Command::new(program);
    match launcher {
        Launcher::OpenMpi => {
            for (name, value) in &variables {
                command.arg("-x").arg(assigned(name, value));
            }
        }
        Launcher::Hydra => {
            for (name, value) in &variables {
                command.arg("-genv").arg(name).arg(value);
            }
        }
        Launcher::Slurm => {
            if rest.iter().any(|word| word.as_encoded_bytes().starts_with(b"--export")) {
                return Err("srun --export: `tuwtree-exec run` needs it for LD_PRELOAD; set the variables in the \
                            environment"
                    .to_owned());
            }
            let (name, library) = variables.remove(0);
            let mut export = OsString::from("--export=ALL,");
            export.push(assigned(&name, &library));
            command.arg(export).envs(variables);
            // srun passes on a variable of its environment, whatever --export says of it.
            if std::env::var_os(&name).is_some() {
                command.env_remove(name);
            }
        }
        Launcher::Alone => {
            command.envs(variables);
        }
    }
    command.args(rest);
    Ok(command)
}

/// The variables of the preloaded library, `LD_PRELOAD` first.
fn variables(args: &RunArgs) -> Result<Vec<(OsString, OsString)>, String> {
    let mut preload = library(args.library.as_deref())?.into_os_string();
    if let Some(others) = std::env::var_os("LD_PRELOAD").filter(|others| !others.is_empty()) {
        preload.push(":");
        preload.push(others);
    }
    let mut variables = vec![("LD_PRELOAD".into(), preload)];
    let mut stated = |name: &str, value: OsString| variables.push((name.into(), value));
    let files =
        [("--record", "TUWTREE_RECORD", &args.record), ("--learn", "TUWTREE_LEARN", &args.learn)];
    for (option, variable, file) in files {
        let Some(file) = file else { continue };
        let file = whole(option, file)?;
        let folder = file.parent().unwrap_or(Path::new("/"));
        if !folder.is_dir() {
            return Err(format!("{option}: there is no folder {}", folder.display()));
        }
        stated(variable, file.into());
    }
    if let Some(name) = &args.machine {
        let source = machine::named(name).map_err(|error| format!("--machine: {error}"))?;
        machine::read(&source).map_err(|error| format!("--machine: {error}"))?;
        let value = match &source {
            Source::File(path) => whole("--machine", path)?.into(),
            _ => name.into(),
        };
        stated("TUWTREE_MACHINE", value);
    }
    if args.summary {
        stated("TUWTREE_LOG", "1".into());
    }
    let others = std::env::vars_os().filter(|(name, _)| {
        name.as_encoded_bytes().starts_with(b"TUWTREE_")
            && variables.iter().all(|(stated, _)| stated != name)
    });
    let mut others: Vec<_> = others.collect();
    others.sort();
    variables.extend(others);
    Ok(variables)
}

/// A path that holds in any folder.
fn whole(option: &str, path: &Path) -> Result<PathBuf, String> {
    absolute(path).map_err(|error| format!("{option} {}: {error}", path.display()))
}

/// The preloaded library: as given, or where it is installed.
fn library(given: Option<&Path>) -> Result<PathBuf, String> {
    let places = match given {
        Some(path) => vec![whole("--library", path)?],
        None => {
            let program = std::env::current_exe().and_then(|path| path.canonicalize());
            let program = program.map_err(|error| format!("this program's own place: {error}"))?;
            let folder = program.parent().unwrap_or(Path::new("/"));
            vec![folder.join(LIBRARY), folder.join("../lib").join(LIBRARY)]
        }
    };
    let found = places.iter().find(|place| place.is_file());
    found.cloned().ok_or_else(|| {
        let places: Vec<Cow<'_, str>> = places.iter().map(|one| one.to_string_lossy()).collect();
        format!(
            "there is no {}; build tuwtree-preload, or name it with --library",
            places.join(" and no ")
        )
    })
}

fn assigned(name: &OsStr, value: &OsStr) -> OsString {
    let mut text = name.to_owned();
    text.push("=");
    text.push(value);
    text
}

impl Launcher {
    /// The launcher of this name, by its own words.
    fn of(program: &OsStr) -> Result<Launcher, String> {
        let name = Path::new(program).file_name().unwrap_or(program).to_string_lossy();
        let names = ["mpirun", "mpiexec", "orterun", "prterun", "srun"];
        if !names.iter().any(|one| name.starts_with(one)) {
            return Ok(Launcher::Alone);
        }
        let failure = |error: &dyn Display| format!("{}: {error}", Path::new(program).display());
        let output = Command::new(program).arg("--version").output();
        let output = output.map_err(|error| failure(&error))?;
        let text =
            String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        let known = [
            ("open-mpi.org", Launcher::OpenMpi),
            ("Open MPI", Launcher::OpenMpi),
            ("HYDRA", Launcher::Hydra),
            ("Intel(R) MPI", Launcher::Hydra),
            ("slurm", Launcher::Slurm),
        ];
        let found = known.iter().find(|(word, _)| text.contains(word));
        found.map(|&(_, launcher)| launcher).ok_or_else(|| {
            failure(&"--version names none of Open MPI, MPICH (HYDRA), Intel MPI and slurm, whose launchers are known")
        })
    }

    /// Fails for a launcher of another MPI library than this program's, and so the preloaded library's.
    fn check(self) -> Result<(), String> {
        let own = library_version().unwrap_or_default();
        let own = own.split(',').next().unwrap_or_default();
        let theirs = match (self, own.starts_with("Open MPI")) {
            (Launcher::OpenMpi, false) => "Open MPI",
            (Launcher::Hydra, true) => "MPICH or Intel MPI",
            _ => return Ok(()),
        };
        Err(format!(
            "this tuwtree-exec is built for {own}, and the launcher is that of {theirs}: take the tuwtree-exec built for it"
        ))
    }
}

/// The command as a shell reads it.
fn printed(command: &Command) -> String {
    let quoted = |word: &OsStr| {
        let word = word.to_string_lossy();
        let is_plain = |one: char| one.is_ascii_alphanumeric() || "_-+=:,./@%".contains(one);
        match !word.is_empty() && word.chars().all(is_plain) {
            true => word.into_owned(),
            false => format!("'{}'", word.replace('\'', r"'\''")),
        }
    };
    let variables = command.get_envs().filter_map(|(name, value)| Some(assigned(name, value?)));
    let removed = command.get_envs().filter(|(_, value)| value.is_none());
    let removed = removed.map(|(name, _)| format!("env -u {}", name.display()));
    let words = variables.map(|one| quoted(&one)).chain(removed);
    let words = words.chain([quoted(command.get_program())]);
    words.chain(command.get_args().map(quoted)).collect::<Vec<_>>().join(" ")
}
