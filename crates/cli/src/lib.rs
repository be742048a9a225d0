//! `tuwtree`: optimize, evaluate and compare trees for irregular gather and scatter.
//!
//! A library, so that the program can also come inside a package of another language: [`program`] is all of it.
//! [`front_end`] has what such a package takes besides.

mod args;
mod break_even;
mod choice;
mod commands;
mod error;
pub mod front_end;
mod input;
mod output;
mod reproduction;
mod series;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser, Subcommand, ValueEnum};
pub use error::CliError;
pub use reproduction::tables::TABLES as PUBLISHED_TABLES;
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

/// Optimize, evaluate and compare communication trees for irregular gather and scatter
/// (MPI_Gatherv, MPI_Scatterv) under the alpha-beta-gamma cost model.
///
/// A message of s > 0 bytes takes alpha + beta*s, a local copy gamma*s; a process sends or
/// receives one message at a time. Times are in the unit of alpha.
#[derive(Parser)]
#[command(name = "tuwtree", version, max_term_width = 100, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,

    /// Use of colours: always, never, or on a terminal unless NO_COLOR is set
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        help_heading = "Output",
        hide_possible_values = true,
        hide_short_help = true
    )]
    color: Colors,

    /// Print results and errors only: no notes, no progress
    #[arg(short, long, global = true, help_heading = "Output", hide_short_help = true)]
    quiet: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Colors {
    Auto,
    Always,
    Never,
}

impl From<Colors> for anstream::ColorChoice {
    fn from(colors: Colors) -> anstream::ColorChoice {
        match colors {
            Colors::Auto => anstream::ColorChoice::Auto,
            Colors::Always => anstream::ColorChoice::Always,
            Colors::Never => anstream::ColorChoice::Never,
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  tuwtree optimize --dist spikes                          compare all constructions
  tuwtree optimize --sizes blocks.txt --root 0 -o t.json  write the best tree for your blocks
  tuwtree advise --dist skewed --root 1000                which construction to use, and what it gains
  tuwtree show t.json                                     who sends what to whom, and when
  tuwtree machine                                         machines that are built in
  tuwtree reproduce --table 1                             recompute a published table

Exit codes: 0 success, 1 failure, 2 wrong usage, 130 interrupted (143 by SIGTERM,
129 by SIGHUP).";

#[derive(Subcommand)]
enum Command {
    #[command(alias = "compare")]
    Optimize(commands::optimize::OptimizeArgs),
    Advise(commands::advise::AdviseArgs),
    Evaluate(commands::evaluate::EvaluateArgs),
    Show(commands::show::ShowArgs),
    Verify(commands::verify::VerifyArgs),
    Simulate(commands::simulate::SimulateArgs),
    Export(commands::export::ExportArgs),
    Draw(commands::draw::DrawArgs),
    Generate(commands::generate::GenerateArgs),
    Map(commands::map::MapArgs),
    Sweep(commands::sweep::SweepArgs),
    Machine(commands::machine::MachineArgs),
    Report(commands::report::ReportArgs),
    Select(commands::select::SelectArgs),
    Reproduce(commands::reproduce::ReproduceArgs),
    Completions(commands::shell::CompletionsArgs),
    Man(commands::shell::ManArgs),
}

/// The exit code of the program with these arguments, the first of which is its name; it prints as it goes. Wrong
/// arguments, `--help` or `--version` end the process.
///
/// It takes over the signals that ask a process to end.
pub fn program(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let asks_for_json = asks_for_json(&arguments);
    #[cfg(unix)]
    {
        output::signals::catch_signals();
        output::signals::catch_refused_memory();
    }
    let Cli { command, color, quiet } =
        Cli::try_parse_from(arguments).unwrap_or_else(|error| misused(error, asks_for_json));
    anstream::ColorChoice::from(color).write_global();
    output::progress::set_quiet(quiet);
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
            if asks_for_json {
                let _ = writeln!(anstream::stderr(), "{}", error.document());
            } else {
                let style = anstyle::AnsiColor::Red.on_default().bold();
                let _ = writeln!(anstream::stderr(), "{style}error{style:#}: {error}");
            }
            error.exit_code()
        }
    }
}

/// Ends the program: with help or the version, if requested, else with the fault of the command line.
fn misused(mut error: clap::Error, asks_for_json: bool) -> ! {
    // A misspelt option is hardly meant as the name of a file.
    if let Some(ContextValue::StyledStrs(tips)) = error.remove(ContextKind::Suggested) {
        let is_about_files = |tip: &StyledStr| tip.to_string().contains("as a value");
        let tips: Vec<StyledStr> = tips.into_iter().filter(|tip| !is_about_files(tip)).collect();
        if !tips.is_empty() {
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
        }
    }
    // The name that is meant, in place of a long list of all.
    let is_long =
        |values: &ContextValue| matches!(values, ContextValue::Strings(all) if all.len() > 20);
    let is_list = error.get(ContextKind::ValidValue).is_some_and(is_long);
    if is_list && error.get(ContextKind::SuggestedValue).is_some() {
        error.remove(ContextKind::ValidValue);
    }
    if asks_for_json && error.use_stderr() {
        let text = error.render().to_string();
        let message = text.trim_start_matches("error: ").trim_end().to_owned();
        // As above.
        let _ = writeln!(anstream::stderr(), "{}", CliError::Usage(message).document());
        std::process::exit(error.exit_code());
    }
    if error.kind() == ErrorKind::DisplayHelp {
        // As above.
        let _ = write!(anstream::stdout(), "{}", compact(&error.render().ansi().to_string()));
        std::process::exit(error.exit_code());
    }
    error.exit()
}

/// Help with one line after the other below each heading: without clap's empty lines between options, and headings of
/// their values.
fn compact(help: &str) -> String {
    let mut lines = help.lines().peekable();
    let mut kept = String::with_capacity(help.len());
    while let Some(line) = lines.next() {
        let is_within = lines.peek().is_some_and(|next| next.starts_with(' '));
        let is_left_out =
            (line.trim().is_empty() && is_within) || line.trim() == "Possible values:";
        if !is_left_out {
            kept += line;
            kept.push('\n');
        }
    }
    kept
}

/// True if results, and so errors, are requested as JSON. (A command line that cannot be parsed can be searched.)
fn asks_for_json(arguments: &[OsString]) -> bool {
    let words: Vec<String> =
        arguments.iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    words.iter().any(|word| word == "--json" || word == "--format=json")
        || words.windows(2).any(|pair| pair == ["--format", "json"])
}

fn run(command: Command, output: &mut dyn Write) -> Result<ExitCode, CliError> {
    match command {
        Command::Optimize(args) => commands::optimize::run(&args, output),
        Command::Advise(args) => commands::advise::run(&args, output),
        Command::Evaluate(args) => commands::evaluate::run(&args, output),
        Command::Show(args) => commands::show::run(&args, output),
        Command::Verify(args) => commands::verify::run(&args, output),
        Command::Simulate(args) => commands::simulate::run(&args, output),
        Command::Export(args) => commands::export::run(&args),
        Command::Draw(args) => commands::draw::run(&args),
        Command::Generate(args) => commands::generate::run(&args),
        Command::Map(args) => commands::map::run(&args),
        Command::Sweep(args) => commands::sweep::run(&args),
        Command::Machine(args) => commands::machine::run(&args),
        Command::Report(args) => commands::report::run(&args, output),
        Command::Select(args) => commands::select::run(&args, output),
        Command::Reproduce(args) => commands::reproduce::run(&args, output),
        Command::Completions(args) => commands::shell::complete(&args, Cli::command(), output),
        Command::Man(args) => commands::shell::write_pages(&args, Cli::command(), output),
    }
}
