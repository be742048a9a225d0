//! `tuwtree report`: measured times drawn, and judged by performance guidelines.

use crate::error::CliError;
use clap::Args;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use tuwtree_io::Destination;
use tuwtree_io::{Source, measurements};
use tuwtree_measure::Measurements;
use tuwtree_picture::{MeasuredPicture, measured_page, png};

/// Draw the times that `tuwtree-exec bench` measured, and judge performance guidelines by them.
///
/// Without --output, a table with minima, medians, confidence intervals and break-even points, and the
/// verdicts on guidelines GL1 and GL2.
#[derive(Args, Debug)]
pub(crate) struct ReportArgs {
    /// The measured times, JSON, or `-` for standard input
    #[arg(value_name = "RESULTS", value_parser = Source::parse)]
    results: Source,

    /// Write a picture (`.svg`, `.svg.gz`, `.png`), a page with picture, verdicts and all figures
    /// (`.html`), or a line for each series (`.csv`)
    #[arg(short, long, value_name = "FILE", value_parser = Destination::parse)]
    output: Option<Destination>,
}

/// How the times are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Text,
    Svg,
    Png,
    Html,
    Csv,
}

/// Pixels of a PNG for each unit of the SVG.
const PNG_SCALE: f32 = 2.0;

/// Runs the command.
///
/// # Errors
/// A file that does not hold measured times; an output whose format is unknown or that cannot be
/// written.
pub(crate) fn run(args: &ReportArgs, output: &mut dyn Write) -> Result<ExitCode, CliError> {
    let format = Format::of(args.output.as_ref())?;
    let file = args.output.as_ref().map(Destination::open).transpose()?;
    let measurements = measurements::read(&args.results)?;
    let content = content(&measurements, format)?;
    match file {
        Some(file) => file.write(|file| file.write_all(&content))?,
        None => output.write_all(&content)?,
    }
    Ok(ExitCode::SUCCESS)
}

impl Format {
    fn of(output: Option<&Destination>) -> Result<Format, CliError> {
        let Some(Destination::File(path)) = output else { return Ok(Format::Text) };
        let ending = |path: &Path| {
            path.extension().and_then(|one| one.to_str()).unwrap_or_default().to_lowercase()
        };
        let unpacked = match ending(path).as_str() {
            "gz" => Path::new(path.file_stem().unwrap_or_default()),
            _ => path,
        };
        match ending(unpacked).as_str() {
            "svg" => Ok(Format::Svg),
            "html" => Ok(Format::Html),
            "csv" => Ok(Format::Csv),
            "png" if unpacked == path => Ok(Format::Png),
            _ => Err(CliError::Usage(format!(
                "--output {}: the name ends neither with .svg, .png or .html nor with .csv",
                path.display()
            ))),
        }
    }
}

fn content(measurements: &Measurements, format: Format) -> Result<Vec<u8>, CliError> {
    Ok(match format {
        Format::Text => text(measurements).into_bytes(),
        Format::Csv => measurements.csv().into_bytes(),
        Format::Html => measured_page(measurements, env!("CARGO_PKG_VERSION")).into_bytes(),
        Format::Svg => MeasuredPicture::new(measurements).svg().into_bytes(),
        Format::Png => {
            let svg = MeasuredPicture::new(measurements).svg();
            png(&svg, PNG_SCALE).map_err(|error| CliError::Failure(error.to_string()))?
        }
    })
}

fn text(measurements: &Measurements) -> String {
    let setting = measurements.setting();
    let warning =
        measurements.warning().map_or_else(String::new, |one| format!("WARNING: {one}\n"));
    format!(
        "{} over {} processors on {} nodes, root {}, {}\n{warning}\n{}\n{}",
        setting.operation.name(),
        setting.processors,
        setting.nodes,
        setting.root,
        setting.library,
        measurements.table(),
        measurements.verdicts()
    )
}
