//! `tuwtree report`: measured times drawn, and judged by performance guidelines.

use crate::error::CliError;
use crate::output::format::{FormatArgs, write_json};
use crate::output::picture;
use clap::Args;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::Write;
use std::process::ExitCode;
use tuwtree_io::measurements::{self, Measured};
use tuwtree_io::{Destination, Format, Source, ending};
use tuwtree_measure::{
    Algorithm, MeasuredCalls, Measurements, Prediction, Predictions, Series, Setting, verdict,
};
use tuwtree_model::document::Machine;
use tuwtree_model::{
    ClosedSet, Construction, Handling, Payload, Problem, Root, completion_time, judged_time_as,
};
use tuwtree_picture::{MeasuredPicture, calls_picture, measured_calls_page, measured_page};
use tuwtree_plan::{Effort, Request, Settings, Wanted};
use tuwtree_treegen::AdaptiveRule;

/// Draw the times that `tuwtree-exec bench` measured, and check performance guidelines with them.
///
/// Without --output, prints each algorithm's time over that of the library's own call, a table with minima, medians,
/// confidence intervals and break-even points, and the verdicts on guidelines GL1 and GL2; of recorded calls (`bench
/// --recording`) their times and the advice. If part of the latency overlaps in the machine of the trees' plans, the
/// times of planner and judge stand beside those of the measured trees.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ReportArgs {
    /// The measured times, JSON, or `-` for standard input
    #[arg(value_name = "RESULTS", value_parser = Source::parse)]
    results: Source,

    /// Write a picture (`.svg`, `.svg.gz`, `.png`, `.pdf`), a page with verdict, picture and all figures (`.html`), or
    /// a line for each series (`.csv`, `.json`)
    #[arg(help_heading = "Output", short, long, value_name = "FILE", value_parser = Destination::parse)]
    output: Option<Destination>,

    #[command(flatten)]
    format: FormatArgs,
}

const EXAMPLES: &str = "\
Examples:
  tuwtree report gather.json -o gather.html
  tuwtree report calls.json -o calls.html        calls measured by tuwtree-exec bench --recording";

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
    picture::check_available(format)?;
    let file = args.output.as_ref().map(Destination::open).transpose()?;
    let content = match measurements::read(&args.results)? {
        Measured::Problems(times) => content(&times, &predictions(&times), format)?,
        Measured::Calls(calls) => content_of_calls(&calls, format)?,
    };
    match file {
        Some(file) => file.write(|file| file.write_all(&content))?,
        None => output.write_all(&content)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Formats of measured times.
const FORMATS: [Format; 7] =
    [Format::Text, Format::Json, Format::Csv, Format::Svg, Format::Png, Format::Pdf, Format::Html];

/// Times by planner and judge of each measured tree: those written with the times, or else computed anew; none without
/// overlapping latency, for plans without a tree, and for trees that cannot be planned anew.
fn predictions(measurements: &Measurements) -> Predictions {
    let written = measurements.predictions();
    if written.are_any() {
        return written;
    }
    let setting = measurements.setting();
    let machine = setting.machine.as_ref().filter(|machine| machine.costs.overlaps());
    let Some(machine) = machine else { return Predictions::default() };
    let mut known = HashMap::new();
    let of_each = measurements.series().iter().map(|series| {
        let Algorithm::Planned(construction, _) = series.algorithm else { return None };
        let key = (series.problem(), construction);
        *known.entry(key).or_insert_with(|| predicted(setting, machine, series, construction))
    });
    Predictions::new(of_each.collect())
}

/// Times by planner and judge of a construction's tree for the problem of a series.
fn predicted(
    setting: &Setting,
    machine: &Machine,
    series: &Series,
    construction: Construction,
) -> Option<Prediction> {
    let sizes = series.block_sizes(setting)?;
    let payload = Payload::Blocks(sizes);
    let problem = Problem::new(setting.operation, payload, machine.clone()).ok()?;
    let problem = problem.with_root(Root::Given(setting.root)).ok()?;
    // As it was planned to be measured.
    let settings = Settings { adaptive_rule: AdaptiveRule::GatherTime, ..Settings::DEFAULT };
    let wanted = Wanted { effort: Effort::Moderate, ..Wanted::named(construction) };
    let built = Request::new(&problem, settings, &()).build(wanted).ok()?;
    let tree = built.plan.tree().ok()?;
    let at_once = Handling { ignores_window: true, ..Handling::default() };
    Some(Prediction {
        planned_seconds: Some(completion_time(tree, &problem).ok()?.units()),
        // They were measured without a window.
        judged_seconds: judged_time_as(tree, &problem, at_once).ok()?.units(),
    })
}

fn content(
    measurements: &Measurements,
    predictions: &Predictions,
    format: Format,
) -> Result<Vec<u8>, CliError> {
    Ok(match format {
        Format::Text | Format::Toml | Format::H => text(measurements, predictions).into_bytes(),
        Format::Json => {
            let mut text = Vec::new();
            write_json(&document(&measurements.csv_beside(predictions)), &mut text)?;
            text
        }
        Format::Csv => measurements.csv_beside(predictions).into_bytes(),
        Format::Html => {
            measured_page(measurements, predictions, env!("CARGO_PKG_VERSION")).into_bytes()
        }
        Format::Svg | Format::Png | Format::Pdf => {
            let svg = MeasuredPicture::new(measurements).svg();
            picture::bytes(format, svg, "write SVG")?
        }
    })
}

fn content_of_calls(calls: &MeasuredCalls, format: Format) -> Result<Vec<u8>, CliError> {
    let warning = calls.warning().map_or_else(String::new, |one| format!("WARNING: {one}\n\n"));
    Ok(match format {
        Format::Text | Format::Toml | Format::H => {
            format!("{warning}{}", calls.text()).into_bytes()
        }
        Format::Json => {
            let mut text = Vec::new();
            write_json(&document(&calls.csv()), &mut text)?;
            text
        }
        Format::Csv => calls.csv().into_bytes(),
        Format::Html => measured_calls_page(calls, env!("CARGO_PKG_VERSION")).into_bytes(),
        Format::Svg | Format::Png | Format::Pdf => {
            picture::bytes(format, calls_picture(calls).svg(), "write SVG")?
        }
    })
}

/// Fails with exit code 2 unless the file's name tells a format.
fn check_name(destination: &Destination) -> Result<(), CliError> {
    let Destination::File(path) = destination else { return Ok(()) };
    match ending(path).as_deref() {
        Some("svg" | "png" | "pdf" | "html" | "csv" | "json" | "txt") => Ok(()),
        _ => Err(CliError::Usage(format!(
            "--output {}: the name ends neither with .svg, .png, .pdf or .html nor with .csv, .json or .txt",
            path.display()
        ))),
    }
}

/// A summary of each series, as in this CSV.
fn document(csv: &str) -> Value {
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

fn text(measurements: &Measurements, predictions: &Predictions) -> String {
    let setting = measurements.setting();
    let warning =
        measurements.warning().map_or_else(String::new, |one| format!("WARNING: {one}\n"));
    format!(
        "{} over {} processes on {} nodes{}, {}\n{warning}\n{}\n\n{}\n{}\n{}",
        setting.operation.name(),
        setting.ranks,
        setting.nodes,
        setting.root_phrase(),
        setting.library,
        verdict(&measurements.contests()).join("\n"),
        measurements.relative_table(),
        measurements.table_beside(predictions),
        measurements.verdicts()
    )
}
