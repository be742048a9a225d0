//! The formats of results, and the one rule that chooses: the ending of the file's name, else the
//! requested format, else the command's first.

use crate::destination::Destination;
use crate::ending::ending;
use tuwtree_model::ClosedSet;

/// A form in which results are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "kebab-case")]
pub enum Format {
    /// For people.
    Text,
    /// A document with format and version.
    Json,
    /// A table for programs.
    Csv,
    /// A machine file.
    Toml,
    /// A picture of lines.
    Svg,
    /// A picture of dots.
    Png,
    /// A picture of lines on a page.
    Pdf,
    /// A page.
    Html,
    /// A header for C.
    H,
}

/// A format that is asked for where it cannot be had, in words for the user: wrong usage.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct WrongFormat(String);

impl Format {
    /// Formats in which every result can be printed.
    pub const RESULT: [Format; 3] = [Format::Text, Format::Json, Format::Csv];

    /// True if `--format` offers it; pictures and pages are requested by the file's name.
    pub fn is_printed(self) -> bool {
        match self {
            Format::Text | Format::Json | Format::Csv | Format::Toml | Format::H => true,
            Format::Svg | Format::Png | Format::Pdf | Format::Html => false,
        }
    }

    /// Its description, in a few words.
    pub fn summary(self) -> &'static str {
        match self {
            Format::Text => "for people",
            Format::Json => "a document with format and version (see docs/formats.md)",
            Format::Csv => "a table for programs, a heading and one row for each result",
            Format::Toml => "a machine file",
            Format::Svg | Format::Png | Format::Pdf => "a picture",
            Format::Html => "a page",
            Format::H => "the costs in C, for tuwtree.h",
        }
    }

    /// The requested format, or the first of the command's.
    ///
    /// # Errors
    /// One that it does not have.
    pub fn printed(asked: Option<Format>, all: &[Format]) -> Result<Format, WrongFormat> {
        match asked {
            None => Ok(all[0]),
            Some(format) if all.contains(&format) => Ok(format),
            Some(format) => Err(WrongFormat(format!(
                "--format {}: this command has {}",
                format.name(),
                names(all)
            ))),
        }
    }

    /// The format for this destination: by the ending of its name, else the requested one.
    ///
    /// # Errors
    /// An ending that says something else, or what the command does not have.
    pub fn written(
        asked: Option<Format>,
        all: &[Format],
        destination: &Destination,
    ) -> Result<Format, WrongFormat> {
        check_known(destination, all)?;
        let Some((name, format)) = of_name(destination) else { return Format::printed(asked, all) };
        if !all.contains(&format) {
            return Err(WrongFormat(format!(
                "--output {name}: this command writes {}, and no .{}",
                names(all),
                format.name()
            )));
        }
        match asked {
            Some(asked) if asked != format => Err(WrongFormat(format!(
                "--output {name}: the name ends with .{}, but --format is {}",
                format.name(),
                asked.name()
            ))),
            _ => Ok(format),
        }
    }

    /// Fails if an option's file has a name that promises another format than this one.
    ///
    /// # Errors
    /// Option, name and format.
    pub fn check_name(
        self,
        option: &str,
        destination: Option<&Destination>,
    ) -> Result<(), WrongFormat> {
        destination.map_or(Ok(()), |destination| check_known(destination, &[self]))?;
        match destination.and_then(of_name) {
            Some((name, format)) if format != self => Err(WrongFormat(format!(
                "{option} {name}: this is written as {}, and not as {}",
                self.name(),
                format.name()
            ))),
            _ => Ok(()),
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

/// A file's name, and the format that it tells, if it does.
fn of_name(destination: &Destination) -> Option<(String, Format)> {
    let Destination::File(path) = destination else { return None };
    let format = Format::of_ending(&ending(path)?)?;
    Some((path.display().to_string(), format))
}

/// Endings of formats that are written nowhere here.
const FOREIGN: [&str; 11] =
    ["yaml", "yml", "xml", "tex", "jpg", "jpeg", "gif", "webp", "xls", "xlsx", "npy"];

/// Fails if a file's name promises a format that is written nowhere here.
fn check_known(destination: &Destination, all: &[Format]) -> Result<(), WrongFormat> {
    let Destination::File(path) = destination else { return Ok(()) };
    match ending(path).filter(|one| FOREIGN.contains(&one.as_str())) {
        None => Ok(()),
        Some(foreign) => Err(WrongFormat(format!(
            "--output {}: this command writes {}, and no .{foreign}",
            path.display(),
            names(all)
        ))),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_decides_else_what_is_asked_for_else_the_first() {
        let all = [Format::Json, Format::Csv];
        let written = |asked, name: &str| {
            Format::written(asked, &all, &Destination::parse(name).unwrap())
                .map_err(|error| error.to_string())
        };
        assert_eq!(written(None, "times"), Ok(Format::Json));
        assert_eq!(written(Some(Format::Csv), "times"), Ok(Format::Csv));
        assert_eq!(written(None, "times.csv.gz"), Ok(Format::Csv));
        assert_eq!(written(None, "-"), Ok(Format::Json));
        for (asked, name, message) in [
            (Some(Format::Json), "a.csv", "--output a.csv: the name ends with .csv, but --format"),
            (None, "a.toml", "--output a.toml: this command writes json and csv, and no .toml"),
            (None, "a.pdf", "and no .pdf"),
            (Some(Format::Toml), "-", "--format toml: this command has json and csv"),
        ] {
            assert!(written(asked, name).unwrap_err().contains(message), "{name}");
        }
    }
}
