//! The forms in which results are written, and the one rule that chooses: the ending of the file's
//! name, else `--format`, else the command's first.

use crate::args::one_of;
use crate::error::CliError;
use clap::Args;
use clap::builder::{PossibleValue, TypedValueParser};
use serde_json::Value;
use std::io::{self, Write};
use tuwtree_io::{Destination, ending};
use tuwtree_model::ClosedSet;

/// A form in which results are written.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, strum::VariantArray, strum::IntoStaticStr, strum::EnumString,
)]
#[strum(serialize_all = "kebab-case")]
pub(crate) enum Format {
    Text,
    Json,
    Csv,
    Toml,
    Svg,
    Png,
    Html,
}

impl Format {
    /// Those that `--format` offers; pictures and pages are asked for by the file's name.
    fn is_printed(self) -> bool {
        match self {
            Format::Text | Format::Json | Format::Csv | Format::Toml => true,
            Format::Svg | Format::Png | Format::Html => false,
        }
    }

    /// What every result can be printed as.
    pub(crate) const RESULT: [Format; 3] = [Format::Text, Format::Json, Format::Csv];

    fn summary(self) -> &'static str {
        match self {
            Format::Text => "for people",
            Format::Json => "a document with format and version (see docs/formats.md)",
            Format::Csv => "a table for programs, a heading and one row for each result",
            Format::Toml => "a machine file",
            Format::Svg | Format::Png => "a picture",
            Format::Html => "a page",
        }
    }

    /// The format of files whose names end so; `None` for an ending that says nothing.
    fn of_ending(ending: &str) -> Option<Format> {
        match ending {
            "txt" => Some(Format::Text),
            other => other.parse().ok(),
        }
    }
}

fn printed_parser() -> impl TypedValueParser<Value = Format> {
    let printed = Format::all().filter(|one| one.is_printed()).collect();
    one_of(printed, |one| PossibleValue::new(one.name()).help(one.summary()))
}

/// How a result is printed.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct FormatArgs {
    /// How to print the result; each command says which of these it has
    #[arg(long, value_name = "NAME",
          value_parser = printed_parser())]
    format: Option<Format>,

    /// Print the result as JSON: short for --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

impl FormatArgs {
    /// The format that is asked for, one of those that the command has.
    ///
    /// # Errors
    /// [`CliError::Usage`] for one that it does not have.
    pub(crate) fn printed(self, all: &[Format]) -> Result<Format, CliError> {
        match self.asked() {
            None => Ok(all[0]),
            Some(format) if all.contains(&format) => Ok(format),
            Some(format) => Err(CliError::Usage(format!(
                "--format {}: this command has {}",
                format.name(),
                names(all)
            ))),
        }
    }

    /// The format for this destination: what its name ends with, else what is asked for.
    ///
    /// # Errors
    /// [`CliError::Usage`] for an ending that says something else, or what the command does not have.
    pub(crate) fn written(
        self,
        all: &[Format],
        destination: &Destination,
    ) -> Result<Format, CliError> {
        check_known(destination, all)?;
        let Some((name, format)) = of_name(destination) else { return self.printed(all) };
        if !all.contains(&format) {
            return Err(CliError::Usage(format!(
                "--output {name}: this command writes {}, and no .{}",
                names(all),
                format.name()
            )));
        }
        match self.asked() {
            Some(asked) if asked != format => Err(CliError::Usage(format!(
                "--output {name}: the name ends with .{}, but --format is {}",
                format.name(),
                asked.name()
            ))),
            _ => Ok(format),
        }
    }

    /// Fails with exit code 2 if a format is asked for, and another option writes to standard output.
    ///
    /// # Errors
    /// [`CliError::Usage`].
    pub(crate) fn check_alone(
        self,
        option: &str,
        destination: Option<&Destination>,
    ) -> Result<(), CliError> {
        let asked = if self.json { "--json" } else { "--format" };
        match (self.asked(), destination) {
            (Some(_), Some(Destination::StandardOutput)) => Err(CliError::Usage(format!(
                "{asked} and {option} - both write to standard output"
            ))),
            _ => Ok(()),
        }
    }

    /// The format that is asked for, by either option.
    fn asked(self) -> Option<Format> {
        if self.json { Some(Format::Json) } else { self.format }
    }
}

/// A file's name, and the format that it tells, if it does.
fn of_name(destination: &Destination) -> Option<(String, Format)> {
    let Destination::File(path) = destination else { return None };
    let format = Format::of_ending(&ending(path)?)?;
    Some((path.display().to_string(), format))
}

/// Endings of formats that are written nowhere here.
const FOREIGN: [&str; 12] =
    ["pdf", "yaml", "yml", "xml", "tex", "jpg", "jpeg", "gif", "webp", "xls", "xlsx", "npy"];

/// Fails with exit code 2 if a file's name promises a format that is written nowhere here.
fn check_known(destination: &Destination, all: &[Format]) -> Result<(), CliError> {
    let Destination::File(path) = destination else { return Ok(()) };
    match ending(path).filter(|one| FOREIGN.contains(&one.as_str())) {
        None => Ok(()),
        Some(foreign) => Err(CliError::Usage(format!(
            "--output {}: this command writes {}, and no .{foreign}",
            path.display(),
            names(all)
        ))),
    }
}

/// Fails with exit code 2 if an option's file has a name that promises another format than its own.
///
/// # Errors
/// [`CliError::Usage`].
pub(crate) fn check_name(
    option: &str,
    destination: Option<&Destination>,
    own: Format,
) -> Result<(), CliError> {
    destination.map_or(Ok(()), |destination| check_known(destination, &[own]))?;
    match destination.and_then(of_name) {
        Some((name, format)) if format != own => Err(CliError::Usage(format!(
            "{option} {name}: this is written as {}, and not as .{}",
            own.name(),
            format.name()
        ))),
        _ => Ok(()),
    }
}

fn names(all: &[Format]) -> String {
    let names: Vec<&str> = all.iter().map(|one| one.name()).collect();
    match names.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => "none".to_owned(),
    }
}

/// Prints a document.
///
/// # Errors
/// Those of `output`.
pub(crate) fn write_json(document: &Value, output: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *output, document)?;
    writeln!(output)
}

/// Prints a table: a heading, and a row for each record; nothing is written of what is null.
///
/// # Errors
/// Those of `output`.
pub(crate) fn write_csv<const N: usize>(
    headings: [&str; N],
    records: impl IntoIterator<Item = [Value; N]>,
    output: &mut dyn Write,
) -> io::Result<()> {
    write_table(headings, records.into_iter().map(<[Value; N]>::into_iter), output)
}

/// Prints objects with the same fields as a table, with the fields as headings.
///
/// # Errors
/// Those of `output`.
pub(crate) fn write_objects(rows: &[Value], output: &mut dyn Write) -> io::Result<()> {
    let Some(Value::Object(first)) = rows.first() else { return Ok(()) };
    let headings: Vec<&str> = first.keys().map(String::as_str).collect();
    let cells = |row: &Value| headings.iter().map(|&name| row[name].clone()).collect::<Vec<_>>();
    write_table(headings.iter().copied(), rows.iter().map(cells), output)
}

fn write_table<'a>(
    headings: impl IntoIterator<Item = &'a str>,
    rows: impl Iterator<Item = impl IntoIterator<Item = Value>>,
    output: &mut dyn Write,
) -> io::Result<()> {
    let mut table = csv::Writer::from_writer(output);
    // As it was before: the kind of the error tells a closed pipe.
    let io = |error: csv::Error| match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    };
    table.write_record(headings).map_err(io)?;
    for row in rows {
        table.write_record(row.into_iter().map(cell)).map_err(io)?;
    }
    table.flush()
}

fn cell(value: Value) -> String {
    match value {
        Value::String(text) => text,
        Value::Null => String::new(),
        value => value.to_string(),
    }
}

/// The document's fields that have one value each, without format and version: a row.
pub(crate) fn row_of(document: &Value) -> Value {
    let fields = document.as_object().into_iter().flatten();
    let row: serde_json::Map<String, Value> = fields
        .filter(|(name, value)| {
            !(matches!(name.as_str(), "format" | "version")
                || value.is_array()
                || value.is_object())
        })
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    Value::Object(row)
}
