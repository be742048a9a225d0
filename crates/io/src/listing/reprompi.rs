//! Listings of the ReproMPI benchmark: all runs of its ping-pong `Send_Recv`, or their summary.
//!
//! A heading names the columns: `test`, `count` (of elements) or `msize_bytes`, and `runtime_sec` of every run, or
//! `median_sec` and others over all runs (`--summary`). A run is a whole round trip. Runs that missed their window
//! have an `errorcode` other than 0 and do not count.
//!
//! # Source
//! S. Hunold and A. Carpen-Amarie, "Reproducible MPI Benchmarking is Still Not as Easy as You Think", IEEE
//! Transactions on Parallel and Distributed Systems 27, 2016; the form: the benchmark's `results_output.c`.

use super::row::LineOfValues;
use super::{Listed, day};
use std::collections::BTreeMap;
use tuwtree_measure::{Sample, median};

/// The only test in which one message is under way at a time.
const PING_PONG: &str = "Send_Recv";
/// The columns of times, the one to be preferred first.
const TIMES: [&str; 4] = ["runtime_sec", "median_sec", "mean_sec", "min_sec"];

/// Columns that are read.
struct Columns {
    test: usize,
    /// Of elements, or bytes.
    size: usize,
    is_bytes: bool,
    time: usize,
    error: Option<usize>,
}

/// True if a line belongs to a listing of this benchmark only.
pub(super) fn is_title(line: &str) -> bool {
    line.starts_with("#@reproMPI") || is_heading(line)
}

fn is_heading(line: &str) -> bool {
    let mut words = line.split_whitespace();
    words.clone().any(|word| word == "test") && words.any(|word| word.ends_with("_sec"))
}

/// Results of the ping-pongs in a text.
///
/// # Errors
/// No ping-pong, no heading that is known, faults in rows, with their lines.
pub(super) fn read(text: &str) -> Result<Listed, String> {
    let (mut date, mut element) = (None, None);
    let mut columns = None;
    // The round trips of each size, and the line of the first.
    let mut trips: BTreeMap<u64, (usize, Vec<f64>)> = BTreeMap::new();
    for (line, content) in (1..).zip(text.lines().map(str::trim)) {
        if let Some(comment) = content.strip_prefix('#') {
            if let Some(bytes) = comment.strip_prefix("@datatype_size_bytes=") {
                element = Some(LineOfValues::new(line, bytes).whole(0)?);
            }
            if let Some(start) = comment.trim_start().strip_prefix("Benchmark started at") {
                date = day(start);
            }
        } else if is_heading(content) {
            columns = Some(Columns::of(line, content)?);
        } else if let Some(columns) = &columns
            && !content.is_empty()
        {
            let row = LineOfValues::new(line, content);
            if row.text(columns.test)? != PING_PONG || columns.is_void(&row)? {
                continue;
            }
            let bytes = columns.bytes(&row, element)?;
            let seconds = row.number(columns.time)?;
            trips.entry(bytes).or_insert_with(|| (line, Vec::new())).1.push(seconds);
        }
    }
    if trips.is_empty() {
        return Err(format!(
            "there is no valid row of the test {PING_PONG}, which is needed; others do not say how long one message \
             takes"
        ));
    }
    let mut one_way = Vec::new();
    for (bytes, (line, trips)) in trips {
        let seconds = median(&trips).expect("a size has round trips") / 2.0;
        LineOfValues::new(line, "").push(&mut one_way, Sample { bytes, seconds })?;
    }
    Ok(Listed {
        name: "ReproMPI",
        provenance: format!(
            "Listed by ReproMPI: half the median of the round trips of {PING_PONG}"
        ),
        date,
        one_way,
        spacing: None,
    })
}

impl Columns {
    fn of(line: usize, heading: &str) -> Result<Columns, String> {
        let names: Vec<&str> = heading.split_whitespace().collect();
        let column = |name: &str| names.iter().position(|other| *other == name);
        let missing = |what: &str| format!("line {line}: no column {what} in {heading:?}");
        let bytes = column("msize_bytes");
        let size = bytes.or_else(|| column("count"));
        Ok(Columns {
            test: column("test").ok_or_else(|| missing("test"))?,
            size: size.ok_or_else(|| missing("count or msize_bytes"))?,
            is_bytes: bytes.is_some(),
            time: TIMES
                .iter()
                .find_map(|name| column(name))
                .ok_or_else(|| missing(&TIMES.join(" or ")))?,
            error: column("errorcode"),
        })
    }

    /// True if the run missed its window.
    fn is_void(&self, row: &LineOfValues<'_>) -> Result<bool, String> {
        self.error.map_or(Ok(false), |column| row.text(column).map(|code| code != "0"))
    }

    fn bytes(&self, row: &LineOfValues<'_>, element: Option<u64>) -> Result<u64, String> {
        let (line, size) = (row.line, row.whole(self.size)?);
        match (self.is_bytes, element) {
            (true, _) => Ok(size),
            (false, Some(element)) => size.checked_mul(element).ok_or_else(|| {
                format!("line {line}: {size} elements of {element} bytes; at most 2^64 - 1 bytes are allowed")
            }),
            (false, None) => Err(format!(
                "line {line}: {size} elements of unknown size; a line #@datatype_size_bytes=… above is needed"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUNS: &str = "#@reproMPIcommitSHA1=0\n#@datatype_size_bytes=4\n# Benchmark started at Mon Nov  5 10:00:00 2018\n\
        test nrep count errorcode runtime_sec \nSend_Recv 0 2 0 6e-6\nSend_Recv 1 2 0 4e-6\nSend_Recv 2 2 0 5e-6\n\
        Send_Recv 3 2 1 9e-6\nMPI_Bcast 0 2 0 1e-6\nSend_Recv 0 25 0 8e-6\n";

    #[test]
    fn a_size_costs_half_the_median_of_its_valid_round_trips() {
        let sample = |bytes, seconds| Sample { bytes, seconds };
        let listed = read(RUNS).unwrap();
        assert_eq!(listed.one_way, [sample(8, 2.5e-6), sample(100, 4e-6)]);
        assert_eq!(listed.date.unwrap().to_string(), "2018-11-05");
        let summary = "test msize_bytes total_nrep valid_nrep mean_sec median_sec\nSend_Recv 1 9 9 3e-6 2e-6\n";
        assert_eq!(read(summary).unwrap().one_way, [sample(1, 1e-6)]);
    }

    #[test]
    fn faults_name_line_and_value() {
        for (text, message) in [
            (RUNS.replace("0 6e-6", "0 soon"), "line 5: \"soon\" is not a time"),
            (RUNS.replace("0 2 0 6e-6", "0 -2 0 6e-6"), "line 5: \"-2\" is not a message size"),
            (RUNS.replace("0 2 0 6e-6", "0 2"), "line 5: 3 values"),
            (RUNS.replace("_bytes=4", "_bytes=18446744073709551615"), "line 5: 2 elements of 1844"),
            (RUNS.replace("#@datatype_size_bytes=4", ""), "line 5: 2 elements of unknown size"),
            (
                RUNS.replace("runtime_sec", "gl_tend_sec"),
                "line 4: no column runtime_sec or median_sec",
            ),
            (RUNS.replace("count", "nothing"), "line 4: no column count or msize_bytes"),
            (RUNS.replace("Send_Recv", "Sendrecv"), "no valid row of the test Send_Recv"),
            (RUNS.replace("25 0 8e-6", "25 0 0.0"), "line 10: 100 bytes take 0 s"),
        ] {
            let error = read(&text).err().unwrap();
            assert!(error.contains(message), "{error}");
        }
    }
}
