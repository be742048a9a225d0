//! `tuwtree-exec calibrate`: what messages, copies and combining cost here, as a machine document.

use crate::arguments::{FormatArgs, bytes_within, parse_seconds};
use crate::file::{NewFile, tell};
use crate::host::{PROGRAM, describe, today, warning};
use crate::stop::Stop;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use std::fmt::Write as _;
use std::rc::Rc;
use tuwtree_binding::Communicator;
use tuwtree_cluster::Host;
use tuwtree_cluster::calibrate::{
    CalibrateError, CalibrationRequest, MeetingPlan, calibrate, ladder, local_times,
};
use tuwtree_cluster::floods::{FloodsError, FloodsRequest, measure_floods};
use tuwtree_io::{Destination, Format};
use tuwtree_measure::{
    Fit, Fitted, Found, FoundWindow, Model, SizeCosts, fitted, levels_of_members, levels_of_nodes,
    median,
};
use tuwtree_model::document::{Date, Machine};
use tuwtree_model::{ClosedSet, Costs, Hierarchy, Network, PortKind, WireOwner};

/// Measure what messages, copies and combining cost, and write a machine file for `tuwtree optimize --machine`.
///
/// Ping-pong between two ranks and floods of messages to one tell latency and occupancy apart, for
/// many sizes, and more of them where the costs bend; for each level of the machine. How far off all
/// this is, is told for each size. With another --model, lines are fitted to ping-pong between many
/// pairs, as the model without overlap has them. Combining is what MPI_Reduce_local takes for each byte
/// with MPI_SUM of MPI_DOUBLE; for another operator, `tuwtree optimize --combine` says its time.
#[derive(Args, Debug)]
pub(crate) struct CalibrateArgs {
    /// Write the machine to this file, `.json` or `.toml`, or to standard output with `-`
    #[arg(short, long, value_name = "FILE", value_parser = Destination::parse)]
    output: Destination,

    #[command(flatten)]
    format: FormatArgs,

    /// Costs to measure
    #[arg(long, value_name = "NAME", default_value = Sought::FLOODS, value_parser = way_parser())]
    model: Sought,

    /// The levels of the machine, innermost first, as node=4,rack=8,network=2: four ranks are a node,
    /// eight nodes a rack; filled block by block [default: the nodes that are found]
    #[arg(long, value_name = "NAME=MEMBERS", value_delimiter = ',', value_parser = parse_level)]
    levels: Vec<(String, usize)>,

    /// About how long to measure at most, in seconds or with a unit
    #[arg(long, value_name = "S", default_value = "20", value_parser = parse_seconds)]
    seconds: f64,

    /// The largest message, in bytes, also as 64KiB
    #[arg(long, value_name = "BYTES", default_value_t = 1 << 20,
          value_parser = bytes_within(4..=(1 << 31) - 1))]
    largest: u64,

    /// With lines, how many pairs are measured at the same time [default: as many as there are]
    #[arg(long, value_name = "PAIRS")]
    at_once: Option<std::num::NonZeroUsize>,

    /// The machine's name [default: that of the first rank's computer]
    #[arg(long, value_name = "NAME", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    name: Option<String>,

    /// Since when the costs hold, such as 2018-05-31 [default: today, in UTC]
    #[arg(long, value_name = "DATE", value_parser = parse_date)]
    date: Option<Date>,
}

/// Costs to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sought {
    /// Latency and occupancy by size.
    Floods,
    /// Lines for pairs.
    Lines(Model),
}

impl Sought {
    const FLOODS: &'static str = "floods";
}

fn way_parser() -> impl TypedValueParser<Value = Sought> {
    let floods = PossibleValue::new(Sought::FLOODS)
        .help("latency and occupancy by size, for each level, and how ports serve messages");
    let value = |model: Model| PossibleValue::new(model.name()).help(model.summary());
    let values = std::iter::once(floods).chain(Model::all().map(value));
    PossibleValuesParser::new(values).map(|name| match name.as_str() {
        Sought::FLOODS => Sought::Floods,
        model => Sought::Lines(model.parse().expect("clap lets only known names pass")),
    })
}

fn parse_level(text: &str) -> Result<(String, usize), String> {
    let level = text.split_once('=').and_then(|(name, members)| {
        let members = members.parse().ok().filter(|&members: &usize| members > 0)?;
        (!name.is_empty()).then(|| (name.to_owned(), members))
    });
    level.ok_or_else(|| "a name and how many members make a group, such as node=4".into())
}

fn parse_date(text: &str) -> Result<Date, String> {
    Date::parse(text).ok_or_else(|| "a day such as 2018-05-31 is needed".into())
}

impl From<CalibrateError> for Stop {
    fn from(error: CalibrateError) -> Stop {
        match error {
            CalibrateError::Mpi(error) => error.into(),
            CalibrateError::Local(error) => Stop::alone(&error),
            CalibrateError::TooManyPairs { .. } => {
                Stop::Shared(format!("{error}; give more --seconds, or another --model"))
            }
            CalibrateError::Alone | CalibrateError::OneKind { .. } => {
                Stop::Shared(error.to_string())
            }
        }
    }
}

impl From<FloodsError> for Stop {
    fn from(error: FloodsError) -> Stop {
        match error {
            FloodsError::Mpi(error) => error.into(),
            FloodsError::Place(error) => Stop::alone(&error),
            FloodsError::Alone | FloodsError::Level { .. } => Stop::Shared(error.to_string()),
        }
    }
}

/// Result of a calibration, at rank 0.
struct Calibrated {
    costs: Costs,
    network: Network,
    combine_per_byte: f64,
    provenance: String,
    /// For people.
    text: String,
}

/// Runs the command. Collective.
///
/// # Errors
/// What cannot be measured or written; what MPI returns.
pub(crate) fn run(args: &CalibrateArgs, communicator: &Rc<Communicator>) -> Result<(), Stop> {
    let format = args.format.written(&[Format::Json, Format::Toml], &args.output)?;
    let is_taken = matches!(args.output, Destination::StandardOutput);
    let file = NewFile::open(&args.output, communicator)?;
    let host = Host::of(communicator)?;
    let result = match args.model {
        Sought::Floods => by_floods(args, &host, communicator, is_taken)?,
        Sought::Lines(model) => by_lines(args, model, &host, communicator, is_taken)?,
    };
    let Some(Calibrated { costs, mut network, combine_per_byte, provenance, text }) = result else {
        return Ok(());
    };
    if host.is_oversubscribed() {
        network.uncertainty = Some(Network::WORTHLESS);
    }
    let machine = Machine {
        name: args.name.clone().unwrap_or_else(|| host.name.clone()),
        date: args.date.unwrap_or_else(today),
        provenance,
        costs,
        network,
        combine_per_byte,
    };
    let document = match format {
        Format::Toml => toml::to_string(&machine).map_err(|error| Stop::alone(&error))?,
        _ => {
            let json = serde_json::to_string_pretty(&machine);
            format!("{}\n", json.map_err(|error| Stop::alone(&error))?)
        }
    };
    file.write(|output| output.write_all(document.as_bytes()))?;
    let done = format!("{}: {} costs\n", args.output, machine.costs.name());
    tell(&format!("{text}{}{done}", warning(&host)), is_taken);
    Ok(())
}

/// Latency and occupancy by size.
fn by_floods(
    args: &CalibrateArgs,
    host: &Host,
    communicator: &Rc<Communicator>,
    is_taken: bool,
) -> Result<Option<Calibrated>, Stop> {
    let shape = match args.levels.is_empty() {
        true => levels_of_nodes(&host.nodes),
        false => levels_of_members(&args.levels)
            .map_err(|error| Stop::Usage(format!("--levels: {error}")))?,
    };
    if !args.levels.is_empty() && shape.capacity() < communicator.size() {
        let (room, processes) = (shape.capacity(), communicator.size());
        return Err(Stop::Usage(format!(
            "--levels: there is room for {room} ranks; the job has {processes}"
        )));
    }
    if communicator.rank() == 0 {
        let names: Vec<&str> = shape.levels().iter().map(|level| level.name.as_str()).collect();
        let (levels, seconds) = (names.join(", "), args.seconds);
        let begin = format!("{}\nmeasuring {levels}: about {seconds} s\n", describe(host));
        tell(&begin, is_taken);
    }
    let found = measured_by_floods(shape, args.largest, args.seconds, communicator)?;
    Ok(found.map(|(found, local)| Calibrated {
        costs: Costs::Hierarchical(found.costs()),
        network: found.network(),
        combine_per_byte: found.combine_per_byte,
        provenance: floods_provenance(host, &found, &local),
        text: floods_table(&found, &local),
    }))
}

/// Measures a machine with these levels by floods, and the lines of copies and sums; result at rank 0. Collective.
///
/// # Errors
/// What cannot be measured; what MPI returns.
pub(crate) fn measured_by_floods(
    shape: Hierarchy,
    largest: u64,
    seconds: f64,
    communicator: &Rc<Communicator>,
) -> Result<Option<(Found, [Fit; 2])>, Stop> {
    let request = FloodsRequest { shape, largest, seconds };
    let found = measure_floods(communicator, &request)?;
    let local = local_times(communicator, &ladder(largest)).map_err(FloodsError::from)?;
    let Some(found) = found else { return Ok(None) };
    let local = local.fits().map_err(|error| Stop::alone(&error))?;
    let [gamma, combine_per_byte] = local.each_ref().map(|fit| fit.line.beta_seconds_per_byte);
    Ok(Some((Found { gamma, combine_per_byte, ..found }, local)))
}

/// Origin of the costs, for readers of the file.
fn floods_provenance(host: &Host, found: &Found, [copies, sums]: &[Fit; 2]) -> String {
    let of_level = |(level, costs): (&tuwtree_model::Level, &tuwtree_measure::LevelCosts)| {
        let middle = |of: fn(&SizeCosts) -> f64| {
            100.0 * median(&costs.sizes.iter().map(of).collect::<Vec<_>>()).unwrap_or(0.0)
        };
        format!(
            "{}: {} sizes up to {} bytes, spread {:.1} %, off the law {:.1} % (medians)",
            level.name,
            costs.sizes.len(),
            costs.sizes.last().map_or(0, |one| one.bytes),
            middle(|one| one.spread),
            middle(|one| one.deviation)
        )
    };
    let levels: Vec<String> =
        found.shape.levels().iter().zip(&found.levels).map(of_level).collect();
    let doubts: Vec<String> =
        found.doubts().iter().map(|doubt| format!(" WARNING: {}.", doubt.fault)).collect();
    format!(
        "{}Measured by {PROGRAM} calibrate: {}. Ping-pong, floods of several messages to one rank, and \
         {} and {} of {} ranks at once. {}.{}",
        warning(host).replace('\n', ". "),
        describe(host),
        copies.of,
        sums.of,
        copies.count,
        levels.join("; "),
        doubts.concat()
    )
}

/// Table of the measured costs, with the error of each size, and doubts.
fn floods_table(found: &Found, local: &[Fit; 2]) -> String {
    let mut text = String::new();
    for (level, costs) in found.shape.levels().iter().zip(&found.levels) {
        let _ = writeln!(
            text,
            "{:<12}{:>12}{:>16}{:>16}{:>10}{:>14}",
            level.name, "bytes", "latency [us]", "occupies [us]", "spread", "off the law"
        );
        for &SizeCosts { bytes, latency, occupancy, spread, deviation } in &costs.sizes {
            let _ = writeln!(
                text,
                "{:<12}{bytes:>12}{:>16.3}{:>16.3}{:>8.1} %{:>12.1} %",
                "",
                latency * 1e6,
                occupancy * 1e6,
                100.0 * spread,
                100.0 * deviation
            );
        }
    }
    let network = found.network();
    let eager = match network.eager_limit {
        Some(bytes) => format!("messages up to {bytes} bytes leave before they are received"),
        None => "all messages leave before they are received".to_owned(),
    };
    let port = match (found.port, network.port, network.fair_beyond) {
        (None, ..) => "how ports serve several messages cannot be told".to_owned(),
        (_, PortKind::Fair, None) => "ports serve several messages at once".to_owned(),
        (_, PortKind::Fair, Some(bytes)) => {
            format!(
                "ports serve messages up to {bytes} bytes one after the other, larger ones at once"
            )
        }
        (_, PortKind::FirstInFirstOut, _) => "ports serve one message after the other".to_owned(),
    };
    let wire = match network.wire {
        WireOwner::Rank => "",
        WireOwner::Node => "; the ranks of a node share a wire",
    };
    let _ = writeln!(
        text,
        "{eager}; a send occupies its rank for {:.3} us; {port}{wire}",
        found.send_overhead * 1e6
    );
    for Fit { of, line, .. } in local {
        let _ = writeln!(
            text,
            "{of}: {:.4} ns per byte, fit error {:.1} %",
            line.beta_seconds_per_byte * 1e9,
            100.0 * line.median_relative_deviation
        );
    }
    if let Some(FoundWindow { senders, whole, lost }) = found.window {
        let _ = writeln!(
            text,
            "what {senders} ranks send to one at once is lost in part from {whole} to {lost} bytes on: gathers are to \
             keep to a window of {} bytes",
            network.window.unwrap_or(whole)
        );
    }
    for doubt in found.doubts() {
        let _ = writeln!(text, "WARNING: {doubt}");
    }
    text
}

/// Lines for pairs, as the model without overlap has them.
fn by_lines(
    args: &CalibrateArgs,
    model: Model,
    host: &Host,
    communicator: &Communicator,
    is_taken: bool,
) -> Result<Option<Calibrated>, Stop> {
    let request = CalibrationRequest {
        model,
        sizes: ladder(args.largest),
        seconds: args.seconds,
        at_once: args.at_once.map_or(usize::MAX, Into::into),
    };
    let mut plan = None;
    let observed = calibrate(communicator, host, &request, |found| {
        let text = format!("{}\n{}\n", describe(host), announcement(&request, &found));
        tell(&text, is_taken);
        plan = Some(found);
    })?;
    let (Some(observed), Some(plan)) = (observed, plan) else { return Ok(None) };
    let Fitted { costs, combine_per_byte, fits } =
        fitted(&observed, request.model).map_err(|error| Stop::Alone(error.to_string()))?;
    let provenance = provenance(host, &request, &plan, &fits);
    let (network, text) = (Network::default(), table(&fits));
    Ok(Some(Calibrated { costs, network, combine_per_byte, provenance, text }))
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

/// Origin of the costs, for readers of the file.
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
         repetitions of {} sizes from 1 to {} bytes, local copies of these sizes, and sums of doubles; lines of least \
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
