//! Arguments that several commands share.

use crate::stop::Stop;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use std::ops::RangeInclusive;
use tuwtree_binding::Element;
use tuwtree_executor::play::Mode;
use tuwtree_io::{Destination, Format, WrongFormat};
use tuwtree_model::quantity::{self, parse_bytes};
use tuwtree_model::{ClosedSet, Operation};

/// Format of a result.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct FormatArgs {
    /// Format of the result, if the file's name does not tell; each command lists its own
    #[arg(long, value_name = "NAME", value_parser = format_parser())]
    format: Option<Format>,

    /// Write the result as JSON: short for --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

impl FormatArgs {
    /// Format for this destination: by the ending of its name, else as asked for, else the first.
    ///
    /// # Errors
    /// [`Stop::Usage`] for an ending that says something else, or what the command does not have.
    pub(crate) fn written(self, all: &[Format], destination: &Destination) -> Result<Format, Stop> {
        let asked = if self.json { Some(Format::Json) } else { self.format };
        Ok(Format::written(asked, all, destination)?)
    }
}

impl From<WrongFormat> for Stop {
    fn from(error: WrongFormat) -> Stop {
        Stop::Usage(error.to_string())
    }
}

fn format_parser() -> impl TypedValueParser<Value = Format> {
    let value = |one: Format| PossibleValue::new(one.name()).help(one.summary());
    PossibleValuesParser::new(Format::all().filter(|one| one.is_printed()).map(value))
        .map(|name| name.parse::<Format>().expect("clap lets only known names pass"))
}

/// The parser of a number of bytes in this range, also with a unit.
pub(crate) fn bytes_within(
    range: RangeInclusive<u64>,
) -> impl Fn(&str) -> Result<u64, String> + Clone + Send + Sync + 'static {
    move |text| {
        let bytes = parse_bytes(text)?;
        match range.contains(&bytes) {
            true => Ok(bytes),
            false => Err(format!("{} to {} bytes are allowed", range.start(), range.end())),
        }
    }
}

/// A time that is to be spent, in seconds or with a unit.
pub(crate) fn parse_seconds(text: &str) -> Result<f64, String> {
    let seconds = quantity::parse_seconds(text)?;
    match seconds > 0.0 && seconds <= 1e6 {
        true => Ok(seconds),
        false => Err("above 0 and at most 1000000 seconds are allowed".into()),
    }
}

/// The parser of a closed set's names.
fn named<T: ClosedSet + Send + Sync>() -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(T::all().map(T::name)).map(|given| {
        T::all().find(|one| one.name() == given).expect("only these names are let through")
    })
}

pub(crate) fn mode_parser() -> impl TypedValueParser<Value = Mode> {
    named()
}

pub(crate) fn element_parser() -> impl TypedValueParser<Value = Element> {
    named()
}

/// The parser of operations, by our names or MPI's.
pub(crate) fn operation_parser() -> impl TypedValueParser<Value = Operation> {
    let value = |one: Operation| {
        PossibleValue::new(one.name()).aliases(one.other_names()).help(one.summary())
    };
    PossibleValuesParser::new(Operation::all().map(value)).map(move |given| {
        let known = Operation::all().find(|&one| value(one).matches(&given, false));
        known.expect("only these names are let through")
    })
}
