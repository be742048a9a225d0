//! Machine documents from JSON or TOML: the file's ending says which, else the text itself.

use crate::error::FileError;
use crate::json::{self, DocumentKind};
use crate::limits::LARGEST_MACHINE;
use crate::source::Source;
use serde::de::DeserializeOwned;
use std::io::BufRead;
use tuwtree_model::document::{Header, Machine, Object};

const KIND: DocumentKind =
    DocumentKind { name: "a machine document", format: Machine::FORMAT, version: Machine::VERSION };

/// The machine in a file or on standard input. A name that ends with `.json` or `.toml`, before a
/// `.gz`, tells the language; else JSON starts with `{`, and anything else is TOML.
///
/// # Errors
/// [`FileError::Content`] with the source's name and what is wrong where.
pub fn read(source: &Source) -> Result<Machine, FileError> {
    let mut stream = source.stream(LARGEST_MACHINE)?;
    let start = stream.fill_buf().map_err(|error| source.failure(&error))?;
    let is_json = match source.ending().as_deref() {
        Some("json") => true,
        Some("toml") => false,
        _ => start.trim_ascii_start().starts_with(b"{"),
    };
    let read = match is_json {
        true => json::document(KIND, stream),
        false => from_toml(&source.text_of(stream)?),
    };
    read.map_err(|error| source.failure(&error))
}

fn from_toml(text: &str) -> Result<Machine, String> {
    let header: Header =
        object(text).map_err(|error| format!("not a machine document: {error}"))?;
    header.check(Machine::FORMAT, Machine::VERSION).map_err(|error| error.to_string())?;
    object(text)
}

fn object<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    toml::from_str(text).map(|Object(value)| value).map_err(|error| explain(text, &error))
}

/// The error's message with its place, unless that is the whole document.
fn explain(text: &str, error: &toml::de::Error) -> String {
    // A whole document begins at its first byte, and is TOML at least.
    let is_at_start = error.span().is_none_or(|span| span.start == 0);
    match is_at_start && text.parse::<toml::Table>().is_ok() {
        true => error.message().trim_end().to_owned(),
        false => error.to_string().trim_end().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "format = \"tuwtree-machine\"\nversion = 1\nname = \"m\"\ndate = \"2020-01-01\"\n\
                        provenance = \"none\"\n[homogeneous]\nalpha_seconds = 1e-6\n\
                        beta_seconds_per_byte = 1e-9\ngamma_seconds_per_byte = 0\n";

    fn named(name: &str, text: &str) -> Result<Machine, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        read(&Source::File(path)).map_err(|error| error.to_string())
    }

    #[test]
    fn the_ending_tells_the_language_else_the_text() {
        let machine = named("m.toml", GOOD).unwrap();
        let json = serde_json::to_string(&machine).unwrap();
        for (name, text) in [("m", GOOD), ("m.txt", &json), ("m.json", &json), ("m", &json)] {
            assert_eq!(named(name, text).as_ref(), Ok(&machine), "{name}");
        }
        assert!(named("m.json", GOOD).unwrap_err().contains("not a machine document: expected"));
        assert!(named("m.toml", &json).unwrap_err().contains("not a machine document: TOML"));
    }

    #[test]
    fn faults_of_a_whole_toml_document_do_not_point_at_line_1() {
        let error = named("m.toml", &GOOD.replace("2020-01-01", "soon")).unwrap_err();
        assert!(error.ends_with("a day such as \"2018-05-31\" is needed"), "{error}");
        assert!(!error.contains("line 1"), "{error}");
        let error = named("m.toml", &GOOD.replace("version = 1", "version = \"1\"")).unwrap_err();
        assert!(error.contains("line 2"), "{error}");
    }
}
