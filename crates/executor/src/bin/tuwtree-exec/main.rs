//! `tuwtree-exec`: what is done on a cluster, under `mpirun`.

use clap::{Parser, Subcommand};
use std::process::ExitCode;

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
enum Command {}

fn main() -> ExitCode {
    match Cli::parse().command {}
}
