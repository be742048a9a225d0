//! `tuwtree-exec calibrate`: what messages and copies cost here, as a machine document.

use crate::arguments::{FormatArgs, bytes_within, parse_seconds};
use crate::file::{NewFile, tell};
use crate::host::{PROGRAM, describe, today, warning};
use crate::stop::Stop;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use tuwtree_executor::measure::Host;
use tuwtree_executor::measure::calibrate::{
    CalibrateError, CalibrationRequest, MeetingPlan, calibrate, ladder,
};
use tuwtree_executor::sys::Communicator;
use tuwtree_io::{Destination, Format};
use tuwtree_measure::{Fit, Model, fitted};
use tuwtree_model::document::{Date, Machine};
use tuwtree_model::{ClosedSet, Network};

/// Measure what messages and copies cost, and write a machine file for `tuwtree optimize --machine`.
///
/// Pairs of processes play ping-pong, many pairs at a time, each with another in every round.
/// Latency and time per byte are fitted to the median times so that outliers do not count; how far
/// off the fit is, is told.
#[derive(Args, Debug)]
pub(crate) struct CalibrateArgs {
    /// Write the machine to this file, `.json` or `.toml`, or to standard output with `-`
    #[arg(short, long, value_name = "FILE", value_parser = Destination::parse)]
    output: Destination,

    #[command(flatten)]
    format: FormatArgs,

    /// Which pairs have costs in common [default: hierarchical if there are pairs within nodes and
    /// between nodes, else homogeneous]
    #[arg(long, value_name = "NAME", value_parser = model_parser())]
    model: Option<Model>,

    /// About how long to measure, in seconds or with a unit
    #[arg(long, value_name = "S", default_value = "10", value_parser = parse_seconds)]
    seconds: f64,

    /// The largest message, in bytes, also as 64KiB
    #[arg(long, value_name = "BYTES", default_value_t = 1 << 20,
          value_parser = bytes_within(4..=(1 << 31) - 1))]
    largest: u64,

    /// How many pairs are measured at the same time [default: as many as there are]
    #[arg(long, value_name = "PAIRS")]
    at_once: Option<std::num::NonZeroUsize>,

    /// The machine's name [default: that of the first rank's computer]
    #[arg(long, value_name = "NAME", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    name: Option<String>,

    /// Since when the costs hold, such as 2018-05-31 [default: today, in UTC]
    #[arg(long, value_name = "DATE", value_parser = parse_date)]
    date: Option<Date>,
}

fn model_parser() -> impl TypedValueParser<Value = Model> {
    let value = |model: Model| PossibleValue::new(model.name()).help(model.summary());
    PossibleValuesParser::new(Model::all().map(value))
        .map(|name| name.parse::<Model>().expect("clap lets only known names pass"))
}

fn parse_date(text: &str) -> Result<Date, String> {
    Date::parse(text).ok_or_else(|| "a day such as 2018-05-31 is needed".into())
}

impl From<CalibrateError> for Stop {
    fn from(error: CalibrateError) -> Stop {
        match error {
            CalibrateError::Mpi(error) => error.into(),
            CalibrateError::TooManyPairs { .. } => {
                Stop::Shared(format!("{error}; give more --seconds, or another --model"))
            }
            CalibrateError::Alone | CalibrateError::OneKind { .. } => {
                Stop::Shared(error.to_string())
            }
        }
    }
}

/// Runs the command. Collective.
///
/// # Errors
/// What cannot be measured or written; what MPI returns.
pub(crate) fn run(args: &CalibrateArgs, communicator: &Communicator) -> Result<(), Stop> {
    let format = args.format.written(&[Format::Json, Format::Toml], &args.output)?;
    let is_taken = matches!(args.output, Destination::StandardOutput);
    let file = NewFile::open(&args.output, communicator)?;
    let host = Host::of(communicator)?;
    let request = CalibrationRequest {
        model: args.model.unwrap_or_else(|| Model::of_nodes(&host.nodes)),
        sizes: ladder(args.largest),
        seconds: args.seconds,
        at_once: args.at_once.map_or(usize::MAX, Into::into),
    };
    let mut plan = None;
    let observed = calibrate(communicator, &host, &request, |found| {
        let text = format!("{}\n{}\n", describe(&host), announcement(&request, &found));
        tell(&text, is_taken);
        plan = Some(found);
    })?;
    let (Some(observed), Some(plan)) = (observed, plan) else { return Ok(()) };
    let (costs, fits) =
        fitted(&observed, request.model).map_err(|error| Stop::Alone(error.to_string()))?;
    let machine = Machine {
        name: args.name.clone().unwrap_or_else(|| host.name.clone()),
        date: args.date.unwrap_or_else(today),
        provenance: provenance(&host, &request, &plan, &fits),
        costs,
        network: Network::default(),
    };
    let text = match format {
        Format::Toml => toml::to_string(&machine).map_err(|error| Stop::alone(&error))?,
        _ => {
            let json = serde_json::to_string_pretty(&machine);
            format!("{}\n", json.map_err(|error| Stop::alone(&error))?)
        }
    };
    file.write(|output| output.write_all(text.as_bytes()))?;
    let done = format!("{}: {} costs\n", args.output, request.model.name());
    tell(&format!("{}{}{done}", table(&fits), warning(&host)), is_taken);
    Ok(())
}

fn announcement(request: &CalibrationRequest, plan: &MeetingPlan) -> String {
    format!(
        "measuring {} pairs in {} meetings, {} repetitions of {} sizes up to {} bytes: about {:.1} s",
        plan.pairs,
        plan.meetings,
        plan.repetitions,
        request.sizes.len(),
        request.sizes.last().copied().unwrap_or(0),
        plan.seconds
    )
}

/// Where the costs are from, for whoever reads the file.
fn provenance(
    host: &Host,
    request: &CalibrationRequest,
    plan: &MeetingPlan,
    fits: &[Fit],
) -> String {
    let errors: Vec<String> = fits
        .iter()
        .map(|fit| format!("{} {:.1} %", fit.of, 100.0 * fit.line.median_relative_deviation))
        .collect();
    format!(
        "{}Measured by {PROGRAM} calibrate: {}. Half the median round trips of {} pairs, {} \
         repetitions of {} sizes from 1 to {} bytes, and local copies of these sizes; lines of least \
         relative deviations. Median relative deviations: {}.",
        warning(host).replace('\n', ". "),
        describe(host),
        plan.pairs,
        plan.repetitions,
        request.sizes.len(),
        request.sizes.last().copied().unwrap_or(0),
        errors.join(", ")
    )
}

/// The fits in a table.
fn table(fits: &[Fit]) -> String {
    let mut text = format!(
        "{:<24}{:>8}{:>14}{:>16}{:>12}\n",
        "", "pairs", "latency [us]", "[ns] per byte", "fit error"
    );
    for Fit { of, count, line } in fits {
        text += &format!(
            "{of:<24}{count:>8}{:>14.3}{:>16.4}{:>10.1} %\n",
            line.alpha_seconds * 1e6,
            line.beta_seconds_per_byte * 1e9,
            100.0 * line.median_relative_deviation
        );
    }
    text
}
