//! Times of calls that trials have measured, kept from one run of a program to the next.

use crate::destination::Destination;
use crate::error::FileError;
use crate::json::{self, DocumentKind};
use crate::limits::LARGEST_LEARNED;
use crate::source::Source;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use tuwtree_model::Operation;

const KIND: DocumentKind =
    DocumentKind { name: "a document of learned times", format: "tuwtree-learned", version: 1 };

/// Calls whose times are taken to be alike.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CallClass {
    /// Version of the MPI library.
    pub mpi_library: String,
    /// The operation.
    pub operation: Operation,
    /// Number of ranks.
    pub processes: usize,
    /// Binary logarithm of the bytes of all blocks, rounded down; 0 without data.
    pub log2_bytes: u32,
}

/// Seconds of a call at the rank that is longest in it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LearnedSeconds {
    /// By a plan.
    pub planned: f64,
    /// By the MPI library.
    pub native: f64,
}

/// Learned times by class of calls.
pub type LearnedTimes = BTreeMap<CallClass, LearnedSeconds>;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    format: String,
    version: u64,
    calls: Vec<LearnedCall>,
}

#[derive(Serialize, Deserialize)]
struct LearnedCall {
    #[serde(flatten)]
    class: CallClass,
    seconds: LearnedSeconds,
}

/// The learned times in a file; none if there is no such file.
///
/// # Errors
/// [`FileError`]: the file's name, the fault and its place; times that are not positive numbers.
pub fn read(path: &Path) -> Result<LearnedTimes, FileError> {
    if path.try_exists().is_ok_and(|exists| !exists) {
        return Ok(LearnedTimes::new());
    }
    let source = Source::File(path.to_owned());
    let stream = source.stream(LARGEST_LEARNED)?;
    let document: Document =
        json::document(KIND, stream).map_err(|error| source.failure(&error))?;
    let is_time = |seconds: f64| seconds.is_finite() && seconds > 0.0;
    let wrong = document.calls.iter().position(|one| {
        let LearnedSeconds { planned, native } = one.seconds;
        !is_time(planned) || !is_time(native)
    });
    match wrong {
        Some(place) => Err(source.failure(&format!("calls[{place}]: seconds are not positive"))),
        None => Ok(document.calls.into_iter().map(|one| (one.class, one.seconds)).collect()),
    }
}

/// Writes learned times into a file, in which others stay.
///
/// # Errors
/// As [`read`], and where the file cannot be written.
pub fn add(path: &Path, new: LearnedTimes) -> Result<(), FileError> {
    let mut all = read(path)?;
    all.extend(new);
    let calls = all.into_iter().map(|(class, seconds)| LearnedCall { class, seconds }).collect();
    let document = Document { format: KIND.format.to_owned(), version: KIND.version, calls };
    Destination::File(path.to_owned()).open()?.write(|output| {
        serde_json::to_writer_pretty(&mut *output, &document)?;
        writeln!(output)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(processes: usize) -> CallClass {
        let (mpi_library, operation) = ("Open MPI v4.1.4".to_owned(), Operation::Gather);
        CallClass { mpi_library, operation, processes, log2_bytes: 12 }
    }

    #[test]
    fn times_of_other_calls_stay_and_newer_ones_replace_older_ones() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("learned.json");
        assert_eq!(read(&path).unwrap(), LearnedTimes::new());
        let seconds = |planned| LearnedSeconds { planned, native: 2e-3 };
        add(&path, [(class(4), seconds(1e-3)), (class(8), seconds(3e-3))].into()).unwrap();
        add(&path, [(class(8), seconds(4e-3))].into()).unwrap();
        let expected = [(class(4), seconds(1e-3)), (class(8), seconds(4e-3))].into();
        assert_eq!(read(&path).unwrap(), expected);
    }

    #[test]
    fn a_wrong_file_is_refused_by_name_and_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("learned.json");
        let text = r#"{"format":"tuwtree-learned","version":1,"calls":[{"mpi_library":"","operation":"gather",
            "processes":4,"log2_bytes":3,"seconds":{"planned":0,"native":1}}]}"#;
        for (text, fault) in [
            (text.to_owned(), "calls[0]: seconds are not positive"),
            (text.replace("\"version\":1", "\"version\":9"), "version 9"),
            (text.replace("calls", "called"), "called"),
            ("[]".to_owned(), "not a document of learned times"),
        ] {
            std::fs::write(&path, &text).unwrap();
            let error = add(&path, LearnedTimes::new()).unwrap_err().to_string();
            assert!(error.contains("learned.json") && error.contains(fault), "{error}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
    }
}
