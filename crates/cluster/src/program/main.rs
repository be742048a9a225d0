//! `tuwtree-exec`: commands on a cluster, under `mpirun`. Each subcommand is a file.

mod arguments;
mod bench;
mod calibrate;
mod file;
mod host;
mod image;
mod job;
mod pattern;
mod recorded;
mod replay;
mod run;
mod selftest;
mod source;
mod stop;

use clap::{Parser, Subcommand};
use job::Job;
use std::io::Write;
use std::process::ExitCode;
use stop::Stop;
use tuwtree_binding::abort_all;

/// Run, calibrate for and measure irregular gather and scatter on MPI.
///
/// Started by the `mpirun` of the MPI library that it was built with, on as many processes as the
/// job has; `run` starts `mpirun` itself. Exit code 2 for usage, 1 for failure.
#[derive(Parser, Debug)]
#[command(name = "tuwtree-exec", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    Replay(replay::ReplayArgs),
    Calibrate(calibrate::CalibrateArgs),
    Bench(Box<bench::BenchArgs>),
    Selftest(selftest::SelftestArgs),
    Run(run::RunArgs),
}

fn main() -> ExitCode {
    let parsed = Cli::try_parse();
    if let Ok(Cli { command: Command::Run(args) }) = &parsed {
        return run::run(args);
    }
    let Some(universe) = mpi::initialize() else {
        let _ = writeln!(std::io::stderr(), "error: MPI is initialized already");
        return ExitCode::FAILURE;
    };
    let job = match Job::new(&universe) {
        Ok(job) => job,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: {error}");
            return ExitCode::FAILURE;
        }
    };
    end_all_on_panic();
    match parsed {
        Ok(cli) => match perform(cli.command, &job) {
            Ok(code) => code,
            Err(stop) => stop.exit_code(&job),
        },
        Err(error) => {
            // All processes are given the same arguments; one of them complains, or helps.
            if job.is_first() {
                let _ = error.print();
            }
            ExitCode::from(error.exit_code() as u8)
        }
    }
}

fn perform(command: Command, job: &Job) -> Result<ExitCode, Stop> {
    match command {
        Command::Replay(args) => return replay::run(&args, job),
        Command::Calibrate(args) => calibrate::run(&args, job.communicator())?,
        Command::Bench(args) => bench::run(&args, job.communicator())?,
        Command::Selftest(args) => return selftest::run(&args, job),
        Command::Run(args) => return Ok(run::run(&args)),
    }
    Ok(ExitCode::SUCCESS)
}

/// A panic of one process, which would leave the others waiting, ends them all.
fn end_all_on_panic() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        report(panic);
        abort_all(1);
    }));
}
