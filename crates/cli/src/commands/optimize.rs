//! `tuwtree optimize`: the constructions side by side for one problem, and the best tree.

use crate::break_even;
use crate::comparison::{Comparison, ComparisonArgs, Optimality, Skipped, compare};
use crate::construction::Search;
use crate::error::CliError;
use crate::output::drawing::Drawing;
use crate::output::text;
use clap::Args;
use serde_json::json;
use std::io::Write;
use std::process::ExitCode;
use tuwtree_io::{Destination, Opened};
use tuwtree_model::document::{StatedCosts, TreeDocument};
use tuwtree_model::{Homogeneous, Root};

/// Compare constructions for one problem, recommend one, and write its tree.
///
/// Gather and scatter need blocks (--dist or --sizes), broadcast and reduce a vector (--vector).
/// Without further arguments: 2000 processors, mean block 1000 bytes, alpha 100,
/// beta = gamma = 1, the root chosen by each construction, as in the papers. With --machine, the
/// machine's costs: linear and oblivious know nothing of them but the best root, adaptive compares
/// both directions of each join, optimal searches.
#[derive(Args, Debug)]
pub(crate) struct OptimizeArgs {
    #[command(flatten)]
    comparison: ComparisonArgs,

    /// Write the recommended tree to this file as JSON (`-`: standard output, and nothing else)
    #[arg(short, long, value_name = "FILE", value_parser = Destination::parse)]
    output: Option<Destination>,

    /// Print the comparison as JSON (see docs/formats.md)
    #[arg(long)]
    json: bool,

    /// Say after how many repetitions the time that planning takes here has paid; with --machine
    #[arg(long, conflicts_with = "json")]
    break_even: bool,
}

/// Runs the command.
///
/// # Errors
/// A problem that cannot be read or is out of range; a construction asked for by name that cannot
/// be built; an output that cannot be written.
pub(crate) fn run(args: &OptimizeArgs, output: &mut dyn Write) -> Result<ExitCode, CliError> {
    let problem = args.comparison.load()?;
    let to_standard_output = matches!(args.output, Some(Destination::StandardOutput));
    if to_standard_output && args.json {
        let message = "--json and --output - both write to standard output";
        return Err(CliError::Usage(message.into()));
    }
    let file = args.output.as_ref().map(Destination::open).transpose()?;
    let comparison = compare(&args.comparison.choice, problem)?;
    let break_even = match args.break_even {
        true => break_even::lines(&comparison)?,
        false => Vec::new(),
    };
    if let Some(file) = file {
        write_tree(&comparison, file)?;
    }
    match args.json {
        _ if to_standard_output => {}
        true => write_json(&comparison, output)?,
        false => {
            write_text(&comparison, output)?;
            break_even.iter().try_for_each(|line| writeln!(output, "{line}"))?;
        }
    }
    Ok(comparison.exit_code())
}

fn write_tree(comparison: &Comparison, file: Opened) -> Result<(), CliError> {
    let document = TreeDocument {
        tree: comparison.recommended().built.tree.clone(),
        problem: Some(comparison.problem.clone()),
    };
    Ok(file.write(|output| {
        serde_json::to_writer(&mut *output, &document)?;
        writeln!(output)
    })?)
}

fn write_text(comparison: &Comparison, output: &mut dyn Write) -> Result<(), CliError> {
    comparison.write_text(output)?;
    writeln!(output)?;
    let recommended = comparison.recommended();
    let drawing = Drawing {
        tree: &recommended.built.tree,
        operation: comparison.problem.operation(),
        completion: Some(&recommended.completion),
    };
    Ok(drawing.write(output)?)
}

fn write_json(comparison: &Comparison, output: &mut dyn Write) -> Result<(), CliError> {
    let (payload, costs) = (comparison.problem.payload(), comparison.problem.costs());
    let vector = comparison.problem.collective().vector();
    let constructions: Vec<_> = comparison
        .outcomes
        .iter()
        .map(|outcome| {
            let tree = &outcome.built.tree;
            let time = outcome.time();
            json!({
                "construction": outcome.construction.name(),
                "root": tree.root(),
                "completion_time": text::json_time(time),
                "gap_percent": comparison.gap_percent(time),
                "gap_alphas": comparison.gap_alphas(time),
                "optimal_among": comparison.optimality(outcome).map(Optimality::name),
                "order": outcome.order.name(),
                "completion_time_with_unpacking": text::json_time(outcome.unpacked),
                "root_degree": tree.degree(tree.root()),
                "depth": tree.depth(),
                "rank_order": comparison.keeps_rank_order(outcome),
                "method": outcome.built.search.map(|method| method.name()),
                "certificate": outcome.certificate.as_ref().and_then(|one| one.as_ref().ok()),
                "not_certified_because":
                    outcome.certificate.as_ref().and_then(|one| one.as_ref().err()),
            })
        })
        .collect();
    let skipped: Vec<_> = comparison
        .skipped
        .iter()
        .map(|Skipped { construction, reason }| {
            json!({ "construction": construction.name(), "reason": reason })
        })
        .collect();
    let parameter = |parameter: fn(&Homogeneous) -> f64| match costs {
        StatedCosts::Parameters(costs) => Some(text::json_number(parameter(costs))),
        StatedCosts::Machine(_) => None,
    };
    let document = json!({
        "format": "tuwtree-comparison",
        "version": 1,
        "operation": comparison.problem.operation().name(),
        "processors": payload.processors(),
        "ports": comparison.ports.get(),
        "total_bytes": vector.is_none().then(|| payload.total()),
        "vector_bytes": vector.map(|vector| vector.bytes),
        "root": match comparison.root {
            Root::Given(root) => json!(root),
            Root::Best => json!("best"),
        },
        "alpha": parameter(Homogeneous::alpha),
        "beta_per_byte": parameter(Homogeneous::beta),
        "gamma_per_byte": parameter(Homogeneous::gamma),
        "machine": costs.machine().map(|machine| &machine.name),
        "lower_bound": text::json_time(comparison.bound),
        "constructions": constructions,
        "skipped": skipped,
        "recommended": comparison.recommended().construction.name(),
        "recommended_method": comparison.recommended().built.search.map(Search::name),
    });
    serde_json::to_writer_pretty(&mut *output, &document).map_err(std::io::Error::from)?;
    Ok(writeln!(output)?)
}
