//! Formats of results: `--format` and `--json`, and the writers of JSON and CSV.

use crate::args::one_of;
use crate::error::CliError;
use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Arg, Args};
use serde_json::Value;
use std::io::{self, Write};
use tuwtree_io::{Destination, Format};
use tuwtree_model::ClosedSet;

fn parser_of(all: &[Format]) -> impl TypedValueParser<Value = Format> {
    let printed = all.iter().copied().filter(|one| one.is_printed()).collect();
    one_of(printed, |one| PossibleValue::new(one.name()).help(one.summary()))
}

/// The option `--format` of a command that writes other formats than [`Format::RESULT`].
pub(crate) fn option_of(all: &'static [Format]) -> impl FnOnce(Arg) -> Arg {
    move |option| option.value_parser(parser_of(all))
}

/// Format of a result.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct FormatArgs {
    /// Format of the result
    #[arg(long, help_heading = "Output", value_name = "NAME", value_parser = parser_of(&Format::RESULT))]
    format: Option<Format>,

    /// Print the result as JSON: short for --format json
    #[arg(long, help_heading = "Output", conflicts_with = "format")]
    json: bool,
}

impl FormatArgs {
    /// The requested format, one of the command's.
    ///
    /// # Errors
    /// [`CliError::Usage`] for one that it does not have.
    pub(crate) fn printed(self, all: &[Format]) -> Result<Format, CliError> {
        Ok(Format::printed(self.asked(), all)?)
    }

    /// The format for this destination: by the ending of its name, else the requested one.
    ///
    /// # Errors
    /// [`CliError::Usage`] for an ending that says something else, or what the command does not have.
    pub(crate) fn written(
        self,
        all: &[Format],
        destination: &Destination,
    ) -> Result<Format, CliError> {
        Ok(Format::written(self.asked(), all, destination)?)
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

/// Inserts fields into a document, behind one that it has.
pub(crate) fn insert_after(
    document: &mut Value,
    name: &str,
    fields: impl IntoIterator<Item = (&'static str, Value)>,
) {
    let document = document.as_object_mut().expect("documents are objects");
    let before = document.keys().position(|known| known == name).expect("the document has it");
    for (place, (name, value)) in (before + 1..).zip(fields) {
        document.shift_insert(place, name.to_owned(), value);
    }
}

/// Prints a document.
///
/// # Errors
/// Errors of `output`.
pub(crate) fn write_json(document: &Value, output: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *output, document)?;
    writeln!(output)
}

/// Prints a table: a heading, and a row for each record; null cells are empty.
///
/// # Errors
/// Errors of `output`.
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
/// Errors of `output`.
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
