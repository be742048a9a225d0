//! `tuwtree generate`: block sizes of a distribution.

use crate::args::{ScaleArgs, distribution_parser};
use crate::error::CliError;
use crate::output::format::FormatArgs;
use clap::Args;
use std::process::ExitCode;
use tuwtree_io::sizes::SizesFormat;
use tuwtree_io::{Destination, Format};
use tuwtree_model::Distribution;

/// Write the block sizes of a distribution.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct GenerateArgs {
    /// Distribution of the block sizes over the ranks
    #[arg(long, value_name = "NAME", value_parser = distribution_parser())]
    dist: Distribution,

    #[command(flatten)]
    scale: ScaleArgs,

    #[command(flatten)]
    format: FormatArgs,

    /// Write to this file: `.txt`, `.csv` or `.json`; every command reads all three
    #[arg(help_heading = "Output", short, long, value_name = "FILE", default_value = "-", value_parser = Destination::parse)]
    output: Destination,
}

const EXAMPLES: &str = "\
Example:
  tuwtree generate --dist skewed -p 64 -b 4KiB -o blocks.csv";

/// Runs the command.
///
/// # Errors
/// Parameters out of range, or an output that cannot be written.
pub(crate) fn run(args: &GenerateArgs) -> Result<ExitCode, CliError> {
    let format = match args.format.written(&Format::RESULT, &args.output)? {
        Format::Json => SizesFormat::Json,
        Format::Csv => SizesFormat::Csv,
        _ => SizesFormat::Text,
    };
    let sizes = args.scale.generate(args.dist, 2000)?;
    args.output.open()?.write(|output| format.write(&sizes, output))?;
    Ok(ExitCode::SUCCESS)
}
