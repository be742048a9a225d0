//! `tuwtree reproduce`: the published tables, figures and formulas, recomputed.

use crate::error::CliError;
use crate::output::format::{FormatArgs, write_csv, write_json, write_objects};
use crate::output::progress::ProgressLine;
use crate::output::text;
use crate::reproduction::partition::of_partition;
use crate::reproduction::statements::{Statement, Verdict, of_intergroup, of_mpich};
use crate::reproduction::tables::{
    Cell, Note, PublishedProblem, PublishedRow, published_name, published_rows, recompute,
};
use clap::{Args, ValueEnum};
use rayon::prelude::*;
use serde_json::json;
use std::io::Write;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use tuwtree_dp::Progress as _;
use tuwtree_io::Format;
use tuwtree_model::{ClosedSet, Construction};

/// Recompute Tables 1 to 3 of Träff, "On Optimal Trees for Irregular Gather and Scatter
/// Collectives", and print every number next to the published one.
///
/// With --paper, figures, formulas and limits: hardness has those of the same paper's proof; mpich is Thakur, Rabenseifner
/// and Gropp, "Optimization of Collective Communication Operations in MPICH", intergroup is Kang et al., "Scalable
/// algorithms for MPI intergroup Allgather and Allgatherv". Wrong or approximate statements are marked; measurements
/// are left out.
///
/// Exits with 0 only if all completion times come out as printed, and all roots except ties; for the other papers, if
/// only known errors and approximations differ.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ReproduceArgs {
    /// The paper whose numbers are recomputed
    #[arg(long, value_name = "PAPER", default_value = "optimal-trees")]
    paper: Paper,

    /// Recompute this table only
    #[arg(long, value_name = "TABLE", default_value = "all", conflicts_with = "paper")]
    table: PaperTable,

    #[command(flatten)]
    format: FormatArgs,
}

const EXAMPLES: &str = "\
Examples:
  tuwtree reproduce --table 1
  tuwtree reproduce --paper intergroup";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Paper {
    /// Träff 2018: Tables 1 to 3
    OptimalTrees,
    /// Träff 2018: figures 8 and 9, on which the proof of hardness rests
    Hardness,
    /// Thakur, Rabenseifner, Gropp 2005: figures 1, 2, 7, 9, 12 and 13, and formulas
    Mpich,
    /// Kang et al. 2019: limits of the eight settings, equations, theorems 1 and 3
    Intergroup,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum PaperTable {
    /// alpha = 100
    #[value(name = "1")]
    One,
    /// alpha = 1
    #[value(name = "2")]
    Two,
    /// alpha = 1000
    #[value(name = "3")]
    Three,
    /// All three
    All,
}

impl PaperTable {
    fn contains(self, table: u32) -> bool {
        match self {
            PaperTable::One => table == 1,
            PaperTable::Two => table == 2,
            PaperTable::Three => table == 3,
            PaperTable::All => true,
        }
    }
}

/// Runs the command.
///
/// # Errors
/// An interrupt, or an output that cannot be written.
pub(crate) fn run(args: &ReproduceArgs, output: &mut dyn Write) -> Result<ExitCode, CliError> {
    let format = args.format.printed(&Format::RESULT)?;
    match args.paper {
        Paper::OptimalTrees => {}
        Paper::Hardness => return write_statements(&of_partition()?, format, output),
        Paper::Mpich => return write_statements(&of_mpich()?, format, output),
        Paper::Intergroup => return write_statements(&of_intergroup()?, format, output),
    }
    let rows = published_rows();
    let problems: Vec<PublishedProblem> =
        PublishedProblem::all().filter(|p| args.table.contains(p.table)).collect();
    let progress = ProgressLine::new("reproduce");
    let done = AtomicU64::new(0);
    let rows: Vec<Vec<PublishedRow>> = problems
        .par_iter()
        .map(|problem| {
            let recomputed = recompute(problem, &rows)?;
            let done = 1 + done.fetch_add(1, Ordering::Relaxed);
            match progress.advance(done, problems.len() as u64).is_break() {
                true => Err(CliError::Interrupted),
                false => Ok(recomputed),
            }
        })
        .collect::<Result<_, _>>()?;
    drop(progress);
    let rows: Vec<PublishedRow> = rows.into_iter().flatten().collect();
    let summary = Summary::of(&rows);
    match format {
        Format::Json => write_json(&document(&rows, &summary), output)?,
        Format::Csv => write_csv(FIELDS, rows.iter().flat_map(records), output)?,
        _ => write_text(&rows, &summary, output)?,
    }
    Ok(match summary.is_as_expected() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// Prints what a paper says beside what schedules do.
fn write_statements(
    statements: &[Statement],
    format: Format,
    output: &mut dyn Write,
) -> Result<ExitCode, CliError> {
    let row = |one: &Statement| {
        json!({
            "place": one.place,
            "what": one.what,
            "published": one.published,
            "recomputed": one.recomputed,
            "verdict": one.verdict.name(),
        })
    };
    let rows: Vec<serde_json::Value> = statements.iter().map(row).collect();
    match format {
        Format::Json => write_json(
            &json!({ "format": "tuwtree-reproduction", "version": 2, "statements": rows }),
            output,
        )?,
        Format::Csv => write_objects(&rows, output)?,
        _ => {
            let mut table = text::table(&["place", "what", "published", "recomputed", ""]);
            for one in statements {
                let verdict = if one.verdict == Verdict::Equal { "" } else { one.verdict.name() };
                let [published, recomputed] = [&one.published, &one.recomputed];
                table.add_row([one.place, &one.what, published, recomputed, verdict]);
            }
            writeln!(output, "{}\n", table.trim_fmt())?;
            for (verdict, count) in Verdict::counted(statements) {
                writeln!(output, "{} {count}: {}", verdict.name(), verdict.explanation())?;
            }
        }
    }
    Ok(match statements.iter().all(|one| one.verdict != Verdict::Different) {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// Number of numbers that came out as printed.
#[derive(Default)]
struct Summary {
    times: usize,
    equal_times: usize,
    roots: usize,
    equal_roots: usize,
    /// Roots that differ from the published ones and are as good.
    ties: usize,
    /// Published times that are not the least.
    not_least: usize,
}

impl Summary {
    fn of(rows: &[PublishedRow]) -> Summary {
        let mut summary = Summary::default();
        for cell in rows.iter().flat_map(|row| &row.cells) {
            summary.times += 1;
            summary.equal_times += usize::from(cell.published_time == cell.recomputed_time);
            summary.not_least += usize::from(cell.published_time != cell.true_time);
            if cell.published_root.is_some() {
                summary.roots += 1;
                summary.equal_roots += usize::from(cell.published_root == cell.recomputed_root);
                summary.ties += usize::from(cell.note == Some(Note::Tie));
            }
        }
        summary
    }

    fn is_as_expected(&self) -> bool {
        self.equal_times == self.times && self.equal_roots + self.ties == self.roots
    }
}

/// Prints the tables in the paper's layout, each line of it as three: published, recomputed by the
/// published program's rule, true.
fn write_text(
    rows: &[PublishedRow],
    summary: &Summary,
    output: &mut dyn Write,
) -> Result<(), CliError> {
    let mut headings = vec!["distribution", "", "m"];
    for construction in COLUMNS {
        headings.extend([published_name(construction), "(r)"]);
    }
    headings.push("");
    // Rows of one table and gamma follow each other.
    for part in rows.chunk_by(|a, b| a.problem.heading() == b.problem.heading()) {
        writeln!(output, "{}\n", title(&part[0].problem))?;
        let mut table = text::table(&headings);
        for (index, row) in part.iter().enumerate() {
            let name = if index % 2 == 0 { row.problem.distribution.name() } else { "" };
            for (line, truth) in Truth::all().enumerate() {
                table.add_row(text_line(row, truth, if line == 0 { name } else { "" }));
            }
        }
        writeln!(output, "{}\n", table.trim_fmt())?;
    }
    write_footnotes(rows, summary, output)
}

/// Title above the rows of one table and gamma.
fn title(PublishedProblem { table, alpha, gamma, .. }: &PublishedProblem) -> String {
    format!(
        "Table {table}, gamma = {gamma}: p = 2000, b = 1000, rho = 5, alpha = {alpha}, beta = 1; \
         root 1000 (first row) or chosen (second)"
    )
}

/// The constructions in the order of the paper's columns.
const COLUMNS: [Construction; 5] = [
    Construction::Linear,
    Construction::Binary,
    Construction::Oblivious,
    Construction::Adaptive,
    Construction::Adjacent,
];

/// One of the three numbers for each published one.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, strum::VariantArray, strum::IntoStaticStr, strum::EnumString,
)]
#[strum(serialize_all = "kebab-case")]
enum Truth {
    Published,
    Recomputed,
    True,
}

impl Truth {
    /// The time and root of a cell.
    fn of(self, cell: &Cell) -> (u64, Option<usize>) {
        match self {
            Truth::Published => (cell.published_time, cell.published_root),
            Truth::Recomputed => (cell.recomputed_time, cell.recomputed_root),
            Truth::True => (cell.true_time, cell.true_root),
        }
    }
}

fn text_line(row: &PublishedRow, truth: Truth, name: &str) -> Vec<String> {
    let total = if truth == Truth::Published { row.total_size.to_string() } else { String::new() };
    let mut line = vec![name.to_owned(), truth.name().to_owned(), total];
    for construction in COLUMNS {
        let cell = row.cell(construction);
        let (time, root) = truth.of(cell);
        let (time_mark, root_mark) = match cell.note.filter(|_| truth == Truth::Published) {
            Some(Note::Tie) => ("", Note::Tie.mark()),
            Some(note) => (note.mark(), ""),
            None => ("", ""),
        };
        line.push(format!("{time_mark}{time}"));
        line.push(root.map_or(String::new(), |root| format!("{root_mark}({root})")));
    }
    line
}

fn write_footnotes(
    rows: &[PublishedRow],
    summary: &Summary,
    output: &mut dyn Write,
) -> Result<(), CliError> {
    for note in Note::all() {
        let marked = rows.iter().flat_map(|row| &row.cells).filter(|cell| cell.note == Some(note));
        match marked.count() {
            0 => {}
            count => writeln!(output, "{} {count} numbers: {}", note.mark(), note.explanation())?,
        }
    }
    let Summary { times, equal_times, roots, equal_roots, ties, not_least } = *summary;
    writeln!(
        output,
        "\n{equal_times} of {times} published times recomputed; {not_least} of them are above the \
         true value."
    )?;
    writeln!(
        output,
        "{equal_roots} of {roots} published roots recomputed; {ties} of the others are ties."
    )?;
    Ok(())
}

/// The columns of the CSV format, and the fields of the JSON format.
const FIELDS: [&str; 15] = [
    "table",
    "alpha",
    "beta",
    "gamma",
    "distribution",
    "total_size",
    "root_mode",
    "construction",
    "published_time",
    "recomputed_time",
    "true_time",
    "published_root",
    "recomputed_root",
    "true_root",
    "note",
];

/// A row's cells as values in the order of [`FIELDS`].
fn records(row: &PublishedRow) -> impl Iterator<Item = [serde_json::Value; 15]> + '_ {
    COLUMNS.into_iter().map(|construction| {
        let cell = row.cell(construction);
        let problem = &row.problem;
        [
            json!(problem.table),
            json!(problem.alpha),
            json!(1),
            json!(problem.gamma),
            json!(problem.distribution.name()),
            json!(row.total_size),
            json!(row.root_mode.name()),
            json!(published_name(construction)),
            json!(cell.published_time),
            json!(cell.recomputed_time),
            json!(cell.true_time),
            json!(cell.published_root),
            json!(cell.recomputed_root),
            json!(cell.true_root),
            json!(cell.note.map(Note::name)),
        ]
    })
}

fn document(rows: &[PublishedRow], summary: &Summary) -> serde_json::Value {
    let cells: Vec<serde_json::Map<_, _>> = rows
        .iter()
        .flat_map(records)
        .map(|record| FIELDS.map(str::to_owned).into_iter().zip(record).collect())
        .collect();
    json!({
        "format": "tuwtree-reproduction",
        "version": 2,
        "cells": cells,
        "equal_times": summary.equal_times,
        "equal_roots": summary.equal_roots,
        "ties": summary.ties,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tuwtree_model::Distribution;

    #[test]
    fn a_table_is_called_as_in_the_paper() {
        let problem =
            PublishedProblem { table: 2, alpha: 1, gamma: 0, distribution: Distribution::Same };
        assert!(title(&problem).starts_with("Table 2, gamma = 0: "), "{}", title(&problem));
    }
}
