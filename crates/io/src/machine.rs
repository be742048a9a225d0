//! Machines from JSON, TOML or what other programs print: the file's ending says which, else the text itself.

use crate::error::FileError;
use crate::json::{self, DocumentKind};
use crate::limits::LARGEST_MACHINE;
use crate::listing::Benchmark;
use crate::source::{BuiltIn, Source};
use crate::{platform, shape};
use serde::de::DeserializeOwned;
use std::io::BufRead;
use tuwtree_model::document::{Header, Machine, Object};

const KIND: DocumentKind =
    DocumentKind { name: "a machine document", format: Machine::FORMAT, version: Machine::VERSION };

/// The built-in machines, in the order of their names: those of `data/machines`.
pub static SAMPLES: [BuiltIn; 13] = [
    sample("asymmetric", "asymmetric.toml", include_str!("../data/machines/asymmetric.toml")),
    sample("ethernet", "ethernet.toml", include_str!("../data/machines/ethernet.toml")),
    sample("fugaku", "fugaku.toml", include_str!("../data/machines/fugaku.toml")),
    sample("griffon", "griffon.toml", include_str!("../data/machines/griffon.toml")),
    sample("infiniband", "infiniband.toml", include_str!("../data/machines/infiniband.toml")),
    sample("leonardo", "leonardo.toml", include_str!("../data/machines/leonardo.toml")),
    sample("marenostrum5", "marenostrum5.toml", include_str!("../data/machines/marenostrum5.toml")),
    sample("opt-table-1", "opt-table-1.toml", include_str!("../data/machines/opt-table-1.toml")),
    sample(
        "opteron-round-robin",
        "opteron-round-robin.json",
        include_str!("../data/machines/opteron-round-robin.json"),
    ),
    sample("ring", "ring.json", include_str!("../data/machines/ring.json")),
    sample(
        "trinity-testbed",
        "trinity-testbed.toml",
        include_str!("../data/machines/trinity-testbed.toml"),
    ),
    sample("two-sites", "two-sites.toml", include_str!("../data/machines/two-sites.toml")),
    sample("vsc3", "vsc3.toml", include_str!("../data/machines/vsc3.toml")),
];

const fn sample(name: &'static str, file: &'static str, text: &'static str) -> BuiltIn {
    BuiltIn { name, file, text }
}

/// The machine document that an argument names: one that is built in, by its bare name, or a file, or `-` for
/// standard input. A file that has such a name is `./NAME`.
///
/// # Errors
/// An empty name.
pub fn named(argument: &str) -> Result<Source, String> {
    match SAMPLES.iter().find(|sample| sample.name == argument) {
        Some(sample) => Ok(Source::BuiltIn(sample)),
        None => Source::parse(argument),
    }
}

/// The machine in a file, on standard input or built in. A name that ends with `.json` or `.toml`, before a
/// `.gz`, tells the language; else JSON starts with `{`, XML with `<`, a listing of a benchmark has that one's
/// title, a hostfile lines that TOML has not, and anything else is TOML.
///
/// # Errors
/// [`FileError::Content`] with the source's name, the fault and its place.
pub fn read(source: &Source) -> Result<Machine, FileError> {
    let mut stream = source.stream(LARGEST_MACHINE).map_err(|error| match source {
        Source::File(path) if !path.exists() && path.components().count() == 1 => {
            let names: Vec<&str> = SAMPLES.iter().map(|sample| sample.name).collect();
            source.failure(&format!("no such file; built in are {}", names.join(", ")))
        }
        _ => error,
    })?;
    let start = stream.fill_buf().map_err(|error| source.failure(&error))?;
    let ending = source.ending();
    let first = start.trim_ascii_start().first();
    let read = match (ending.as_deref(), first) {
        (Some("json"), _) => json::document(KIND, stream),
        (Some("toml"), _) => from_toml(&source.text_of(stream)?),
        (_, Some(b'{')) => json::document(KIND, stream),
        (_, Some(b'<')) => platform::machine(&source.text_of(stream)?),
        _ => {
            let text = source.text_of(stream)?;
            match Benchmark::of(&text) {
                Some(benchmark) => benchmark.machine(&text),
                None if shape::is_hostfile(&text) => shape::of_hostfile(&text),
                None => from_toml(&text),
            }
        }
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
    fn names_of_machines_that_are_built_in_need_no_file() {
        for sample in &SAMPLES {
            let source = super::named(sample.name).unwrap();
            assert!(read(&source).is_ok(), "{}", sample.name);
        }
        let folder = std::fs::read_dir("data/machines").unwrap();
        let mut files: Vec<String> =
            folder.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        files.sort();
        assert_eq!(files, SAMPLES.iter().map(|sample| sample.file).collect::<Vec<_>>());
        let error = read(&super::named("vsc4").unwrap()).unwrap_err().to_string();
        assert!(error.contains("vsc4: no such file; built in are asymmetric, "), "{error}");
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
