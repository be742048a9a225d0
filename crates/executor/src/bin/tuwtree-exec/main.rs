//! `tuwtree-exec`: what is done on a cluster, under `mpirun`.

mod bench;
mod calibrate;
mod failure;
mod file;
mod host;

use clap::{Parser, Subcommand};
use failure::Failure;
use std::process::ExitCode;
use std::rc::Rc;
use tuwtree_mpi::mpi::Communicator;

/// Run, calibrate for and measure irregular gather and scatter on MPI.
///
/// Started by the `mpirun` of the MPI library that it was built with, on as many processors as the
/// job has. Exit code 2 for usage, 1 for failure.
#[derive(Parser, Debug)]
#[command(name = "tuwtree-exec", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    Calibrate(calibrate::CalibrateArgs),
    Bench(bench::BenchArgs),
}

fn main() -> ExitCode {
    let Some(universe) = mpi::initialize() else {
        eprintln!("error: MPI was initialized before");
        return ExitCode::FAILURE;
    };
    let communicator = match Communicator::world(&universe) {
        Ok(communicator) => Rc::new(communicator),
        Err(error) => failure::abort(&error),
    };
    // All processors read the same command line and come to the same result; one tells it.
    let result = match Cli::try_parse() {
        Ok(cli) => run(&cli.command, &communicator),
        Err(error) => Err(Failure::CommandLine(error)),
    };
    failure::exit_code(result, &communicator)
}

fn run(command: &Command, communicator: &Rc<Communicator>) -> Result<(), Failure> {
    match command {
        Command::Calibrate(args) => calibrate::run(args, communicator),
        Command::Bench(args) => bench::run(args, communicator),
    }
}
