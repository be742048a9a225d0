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
use crate::reproduction::{drawings, figures, partition, statements};
use clap::{Args, ValueEnum};
use comfy_table::CellAlignment;
use rayon::prelude::*;
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use tuwtree_dp::Progress as _;
use tuwtree_io::Format;
use tuwtree_model::{ClosedSet, Construction};

/// Recompute Tables 1 to 3 of Träff, "On Optimal Trees for Irregular Gather and Scatter
/// Collectives", and print every number with the published one; equal numbers once.
///
/// --paper takes formulas and limits from other papers, --figures the numbers in a paper's figures, and draws these; --list
/// names the papers. Wrong or approximate statements are marked; measurements are left out.
///
/// Exits with 0 only if all completion times come out as printed, and all roots except ties; for the other papers, if
/// only known errors and approximations differ.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ReproduceArgs {
    /// The paper whose numbers are recomputed
    #[arg(long, value_name = "PAPER", default_value = "OPT", ignore_case = true)]
    paper: Paper,

    /// List the papers, and the parts of each that are recomputed
    #[arg(long, conflicts_with_all = ["paper", "table", "figures"])]
    list: bool,

    /// Recompute this table only
    #[arg(long, value_name = "TABLE", default_value = "all", conflicts_with = "paper")]
    table: PaperTable,

    /// Recompute the figures only
    #[arg(long, conflicts_with = "table")]
    figures: bool,

    /// Write drawings of the figures to this folder, as SVG: trees, and timelines of schedules
    #[arg(help_heading = "Output", short, long, value_name = "DIR", requires = "figures")]
    output: Option<PathBuf>,

    #[command(flatten)]
    format: FormatArgs,
}

const EXAMPLES: &str = "\
Examples:
  tuwtree reproduce --table 1
  tuwtree reproduce --paper TRG --figures -o figures";

/// Papers, by the names that the documentation has for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Paper {
    /// Träff 2018, optimal trees: Tables 1 to 3; figures 8 and 9
    #[value(name = "OPT")]
    OptimalTrees,
    /// Thakur, Rabenseifner, Gropp 2005: formulas; figures 1, 2, 7, 9, 12 and 13
    #[value(name = "TRG")]
    Mpich,
    /// Kang et al. 2019: limits of the eight settings, equations, theorems 1 and 3; figures 1 and 2
    #[value(name = "K19")]
    Intergroup,
}

/// Other papers, and the reason for recomputing nothing of each.
const OTHERS: [(&str, &str); 2] = [
    (
        "HET",
        "Dichev, Rychkov, Lastovetsky 2010: its experiments in the model, by `cargo run --release --example heterogeneous`",
    ),
    ("TUW", "Träff 2018, adaptive trees: nothing, since it has measurements only"),
];

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
    if args.list {
        return write_list(format, output);
    }
    if let Some(folder) = &args.output {
        let (name, figures) = match args.paper {
            Paper::OptimalTrees => ("OPT", partition::drawn()?),
            Paper::Mpich => ("TRG", figures::drawn()?),
            Paper::Intergroup => ("K19", statements::drawn()?),
        };
        drawings::write(name, &figures, folder)?;
    }
    let mut found = match args.paper {
        Paper::OptimalTrees if !args.figures => return write_tables(args.table, format, output),
        Paper::OptimalTrees => of_partition()?,
        Paper::Mpich => of_mpich()?,
        Paper::Intergroup => of_intergroup()?,
    };
    found.retain(|one| !args.figures || one.place.starts_with("figure"));
    write_statements(&found, format, output)
}

/// Prints the papers and the recomputed parts of each.
fn write_list(format: Format, output: &mut dyn Write) -> Result<ExitCode, CliError> {
    let ours = Paper::value_variants().iter().filter_map(|paper| {
        let value = paper.to_possible_value()?;
        Some((value.get_name().to_owned(), value.get_help()?.to_string()))
    });
    let others = OTHERS.map(|(name, parts)| (name.to_owned(), parts.to_owned()));
    let papers = ours.chain(others);
    let object = |(name, parts): (String, String)| json!({ "paper": name, "recomputed": parts });
    match format {
        Format::Json => write_json(&papers.map(object).collect(), output)?,
        Format::Csv => write_objects(&papers.map(object).collect::<Vec<_>>(), output)?,
        _ => {
            for (name, parts) in papers {
                writeln!(output, "{name}  {parts}")?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Recomputes the tables and prints them.
fn write_tables(
    table: PaperTable,
    format: Format,
    output: &mut dyn Write,
) -> Result<ExitCode, CliError> {
    let rows = published_rows();
    let problems: Vec<PublishedProblem> =
        PublishedProblem::all().filter(|p| table.contains(p.table)).collect();
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

/// Prints a paper's statements, and their recomputed values where these differ.
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
        _ if statements.is_empty() => {
            writeln!(output, "The paper states no numbers in its figures.")?;
        }
        _ => {
            let mut table = text::table(&["place", "quantity", "published", "recomputed", ""]);
            let quantity = table.column_mut(1).expect("a column");
            quantity.set_cell_alignment(CellAlignment::Left);
            for one in statements {
                let verdict = if one.verdict == Verdict::Equal { "" } else { one.verdict.name() };
                let is_equal = one.recomputed == one.published;
                let recomputed = if is_equal { "" } else { &one.recomputed };
                table.add_row([one.place, &one.what, &one.published, recomputed, verdict]);
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

/// Prints the tables in the paper's layout. Below a line, the numbers that differ when recomputed by the published
/// program's rule, and the true ones that differ.
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
            for truth in Truth::all() {
                table.add_rows(text_line(row, truth, name));
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "kebab-case")]
enum Truth {
    Published,
    Recomputed,
    True,
}

impl Truth {
    /// The time and root of a cell, if they are published or differ from that; a root as good as the published one is no
    /// difference of the truth.
    fn of(self, cell: &Cell) -> Option<(u64, Option<usize>)> {
        let published = (cell.published_time, cell.published_root);
        let recomputed = (cell.recomputed_time, cell.recomputed_root);
        match self {
            Truth::Published => Some(published),
            Truth::Recomputed => Some(recomputed).filter(|&found| found != published),
            Truth::True => {
                (cell.true_time != cell.published_time).then_some((cell.true_time, cell.true_root))
            }
        }
    }
}

/// The line of a table, if it has a number.
fn text_line(row: &PublishedRow, truth: Truth, distribution: &str) -> Option<Vec<String>> {
    let mut line = match truth {
        Truth::Published => vec![distribution.to_owned(), "".into(), row.total_size.to_string()],
        _ => vec!["".into(), truth.name().to_owned(), "".into()],
    };
    let cells = COLUMNS.map(|construction| row.cell(construction));
    cells.iter().any(|cell| truth.of(cell).is_some()).then_some(())?;
    for cell in cells {
        let (time_mark, root_mark) = match cell.note.filter(|_| truth == Truth::Published) {
            Some(Note::Tie) => ("", Note::Tie.mark()),
            Some(note) => (note.mark(), ""),
            None => ("", ""),
        };
        let [time, root] = truth.of(cell).map_or_else(Default::default, |(time, root)| {
            let root = root.map_or(String::new(), |root| format!("{root_mark}({root})"));
            [format!("{time_mark}{time}"), root]
        });
        line.extend([time, root]);
    }
    Some(line)
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
