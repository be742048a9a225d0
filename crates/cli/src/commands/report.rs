//! `tuwtree report`: measured times drawn, and judged by performance guidelines.

use crate::error::CliError;
use crate::output::format::{FormatArgs, write_json};
use crate::output::png;
use clap::Args;
use serde_json::{Value, json};
use std::io::Write;
use std::process::ExitCode;
use tuwtree_io::{Destination, Format, Source, ending, measurements};
use tuwtree_measure::Measurements;
use tuwtree_model::ClosedSet;
use tuwtree_picture::{MeasuredPicture, measured_page};

/// Draw the times that `tuwtree-exec bench` measured, and check performance guidelines with them.
///
/// Without --output, a table with minima, medians, confidence intervals and break-even points, and the
/// verdicts on guidelines GL1 and GL2.
#[derive(Args, Debug)]
pub(crate) struct ReportArgs {
    /// The measured times, JSON, or `-` for standard input
    #[arg(value_name = "RESULTS", value_parser = Source::parse)]
    results: Source,

    /// Write a picture (`.svg`, `.svg.gz`, `.png`), a page with picture, verdicts and all figures
    /// (`.html`), or a line for each series (`.csv`, `.json`)
    #[arg(short, long, value_name = "FILE", value_parser = Destination::parse)]
    output: Option<Destination>,

    #[command(flatten)]
    format: FormatArgs,
}

/// Runs the command.
///
/// # Errors
/// A file that does not hold measured times; an output whose format is unknown or that cannot be
/// written.
pub(crate) fn run(args: &ReportArgs, output: &mut dyn Write) -> Result<ExitCode, CliError> {
    let format = match &args.output {
        Some(destination) => {
            check_name(destination)?;
            args.format.written(&FORMATS, destination)?
        }
        None => args.format.printed(&Format::RESULT)?,
    };
    if format == Format::Png {
        png::available()?;
    }
    let file = args.output.as_ref().map(Destination::open).transpose()?;
    let measurements = measurements::read(&args.results)?;
    let content = content(&measurements, format)?;
    match file {
        Some(file) => file.write(|file| file.write_all(&content))?,
        None => output.write_all(&content)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// What measured times can be written as.
const FORMATS: [Format; 6] =
    [Format::Text, Format::Json, Format::Csv, Format::Svg, Format::Png, Format::Html];

fn content(measurements: &Measurements, format: Format) -> Result<Vec<u8>, CliError> {
    Ok(match format {
        Format::Text | Format::Toml => text(measurements).into_bytes(),
        Format::Json => {
            let mut text = Vec::new();
            write_json(&document(measurements), &mut text)?;
            text
        }
        Format::Csv => measurements.csv().into_bytes(),
        Format::Html => measured_page(measurements, env!("CARGO_PKG_VERSION")).into_bytes(),
        Format::Svg => MeasuredPicture::new(measurements).svg().into_bytes(),
        Format::Png => {
            let svg = MeasuredPicture::new(measurements).svg();
            png::png(&svg, "write SVG")?
        }
    })
}

/// Fails with exit code 2 unless the file's name tells a format.
fn check_name(destination: &Destination) -> Result<(), CliError> {
    let Destination::File(path) = destination else { return Ok(()) };
    match ending(path).as_deref() {
        Some("svg" | "png" | "html" | "csv" | "json" | "txt") => Ok(()),
        _ => Err(CliError::Usage(format!(
            "--output {}: the name ends neither with .svg, .png or .html nor with .csv, .json or .txt",
            path.display()
        ))),
    }
}

/// A summary of each series, as in CSV.
fn document(measurements: &Measurements) -> Value {
    let csv = measurements.csv();
    let mut lines = csv.lines().map(|line| line.split(','));
    let names: Vec<&str> = lines.next().into_iter().flatten().collect();
    let series: Vec<Value> = lines
        .map(|cells| names.iter().map(|&name| name.to_owned()).zip(cells.map(value)).collect())
        .collect();
    json!({ "format": "tuwtree-report", "version": 1, "series": series })
}

/// The value of a cell: a number if it is one, nothing if it is empty.
fn value(cell: &str) -> Value {
    match (cell, cell.parse::<u64>(), cell.parse::<f64>()) {
        ("", ..) => Value::Null,
        (_, Ok(number), _) => number.into(),
        (_, _, Ok(number)) => number.into(),
        _ => cell.into(),
    }
}

fn text(measurements: &Measurements) -> String {
    let setting = measurements.setting();
    let warning =
        measurements.warning().map_or_else(String::new, |one| format!("WARNING: {one}\n"));
    format!(
        "{} over {} processes on {} nodes, root {}, {}\n{warning}\n{}\n{}",
        setting.operation.name(),
        setting.processors,
        setting.nodes,
        setting.root,
        setting.library,
        measurements.table(),
        measurements.verdicts()
    )
}
