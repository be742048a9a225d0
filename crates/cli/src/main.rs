//! `tuwtree`: optimize, evaluate and compare trees for irregular gather and scatter.

mod args;
mod break_even;
mod choice;
mod commands;
mod error;
mod input;
mod output;
mod published;

use clap::{Parser, Subcommand};
use error::CliError;
use std::io::Write;
use std::process::ExitCode;

/// Optimize, evaluate and compare communication trees for irregular gather and scatter
/// (MPI_Gatherv, MPI_Scatterv) under the alpha-beta-gamma cost model.
///
/// A message of s > 0 bytes takes alpha + beta*s, a local copy gamma*s; a process sends or
/// receives one message at a time. Times are in the unit of alpha.
#[derive(Parser)]
#[command(version, max_term_width = 100, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  tuwtree optimize --dist spikes                          compare all constructions
  tuwtree optimize --sizes blocks.txt --root 0 -o t.json  write the best tree for your blocks
  tuwtree advise --dist skewed --root 1000                which construction to use, and what it gains
  tuwtree show t.json                                     who sends what to whom, and when
  tuwtree reproduce --table 1                             recompute a published table

Exit codes: 0 success, 1 failure, 2 wrong usage, 130 interrupted (143 by SIGTERM,
129 by SIGHUP).";

#[derive(Subcommand)]
enum Command {
    Optimize(commands::optimize::OptimizeArgs),
    Advise(commands::advise::AdviseArgs),
    Compare(commands::compare::CompareArgs),
    Evaluate(commands::evaluate::EvaluateArgs),
    Show(commands::show::ShowArgs),
    Verify(commands::verify::VerifyArgs),
    Simulate(commands::simulate::SimulateArgs),
    Export(commands::export::ExportArgs),
    Draw(commands::draw::DrawArgs),
    Generate(commands::generate::GenerateArgs),
    Map(commands::map::MapArgs),
    Machine(commands::machine::MachineArgs),
    Report(commands::report::ReportArgs),
    Select(commands::select::SelectArgs),
    Reproduce(commands::reproduce::ReproduceArgs),
}

fn main() -> ExitCode {
    output::progress::catch_signals();
    output::progress::catch_refused_memory();
    let command = Cli::parse().command;
    let mut output = anstream::stdout().lock();
    let result = run(command, &mut output).and_then(|code| {
        output.flush()?;
        Ok(code)
    });
    match result {
        Ok(code) => code,
        // Whoever read our output has seen enough.
        Err(error) if error.is_closed_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            // If even this cannot be written, the exit code still tells.
            let style = anstyle::AnsiColor::Red.on_default().bold();
            let _ = writeln!(anstream::stderr(), "{style}error{style:#}: {error}");
            error.exit_code()
        }
    }
}

fn run(command: Command, output: &mut dyn Write) -> Result<ExitCode, CliError> {
    match command {
        Command::Optimize(args) => commands::optimize::run(&args, output),
        Command::Advise(args) => commands::advise::run(args, output),
        Command::Compare(args) => commands::compare::run(&args, output),
        Command::Evaluate(args) => commands::evaluate::run(&args, output),
        Command::Show(args) => commands::show::run(&args, output),
        Command::Verify(args) => commands::verify::run(&args, output),
        Command::Simulate(args) => commands::simulate::run(&args, output),
        Command::Export(args) => commands::export::run(&args),
        Command::Draw(args) => commands::draw::run(&args),
        Command::Generate(args) => commands::generate::run(&args),
        Command::Map(args) => commands::map::run(&args),
        Command::Machine(args) => commands::machine::run(&args),
        Command::Report(args) => commands::report::run(&args, output),
        Command::Select(args) => commands::select::run(&args, output),
        Command::Reproduce(args) => commands::reproduce::run(&args, output),
    }
}
