//! Listings of the Intel MPI Benchmarks: the table of `PingPong`, of IMB-MPI1 or IMB-P2P.
//!
//! It stands under `# Benchmarking PingPong` and a heading, `#bytes #repetitions t[usec] Mbytes/sec`; `t[usec]` is
//! half the time of a round trip in microseconds.
//!
//! # Source
//! Intel MPI Benchmarks User Guide, "PingPong" and "Output"; listings of versions 3.2 to 2021.

use super::row::LineOfValues;
use super::{Listed, day};
use tuwtree_measure::Sample;

const TITLE: &str = "# Benchmarking ";

/// True if a line belongs to a listing of these benchmarks only.
pub(super) fn is_title(line: &str) -> bool {
    line.starts_with(TITLE) || line.starts_with("#bytes #repetitions")
}

/// Result of the only ping-pong in a text.
///
/// # Errors
/// No ping-pong, several of them, faults in its table, with their lines.
pub(super) fn read(text: &str) -> Result<Listed, String> {
    let (mut version, mut date) = (None, None);
    let mut one_way = Vec::new();
    // A text may begin with the table.
    let (mut is_wanted, mut column) = (true, None);
    for (line, content) in (1..).zip(text.lines().map(str::trim)) {
        if let Some(title) = content.strip_prefix(TITLE) {
            (is_wanted, column) = (title.trim() == "PingPong", None);
        } else if content.starts_with("#bytes") && is_wanted {
            if !one_way.is_empty() {
                return Err(format!(
                    "line {line}: a second table of PingPong; a machine is made of one"
                ));
            }
            column = content.split_whitespace().position(|heading| heading == "t[usec]");
            if column.is_none() {
                return Err(format!("line {line}: no column t[usec] in {content:?}"));
            }
        } else if let Some(comment) = content.strip_prefix('#') {
            column = None;
            if comment.contains("MPI Benchmark") && version.is_none() {
                version = Some(comment.trim());
            }
            if let Some((name, value)) = comment.split_once(':')
                && name.trim() == "Date"
            {
                date = day(value);
            }
        } else if content.is_empty() {
            column = None;
        } else if let Some(column) = column {
            let row = LineOfValues::new(line, content);
            let (bytes, seconds) = (row.whole(0)?, row.number(column)? * 1e-6);
            row.push(&mut one_way, Sample { bytes, seconds })?;
        }
    }
    if one_way.is_empty() {
        return Err("there is no table of PingPong (# Benchmarking PingPong); it is needed".into());
    }
    let version = version.unwrap_or("Intel MPI Benchmarks");
    Ok(Listed {
        name: "Intel MPI Benchmarks",
        provenance: format!("Listed by PingPong of {version}"),
        date,
        one_way,
        spacing: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTING: &str = "#    Intel(R) MPI Benchmarks 2021.3, MPI-1 part\n\
        # Date                  : Tue Apr 12 10:32:27 PDT 2022\n\n# Benchmarking PingPong\n# #processes = 2\n\
        #---------\n       #bytes #repetitions      t[usec]   Mbytes/sec\n  0 1000 1.66 0.00\n  8 1000 1.75 4.57\n\
        4194304 10 400.25 10479.21\n\n\n# All processes entering MPI_Finalize\n";

    #[test]
    fn a_ping_pong_is_read_with_its_date_and_version() {
        let listed = read(LISTING).unwrap();
        let sample = |bytes, seconds| Sample { bytes, seconds };
        assert_eq!(listed.one_way, [sample(8, 1.75 * 1e-6), sample(4_194_304, 400.25 * 1e-6)]);
        assert_eq!(listed.date.unwrap().to_string(), "2022-04-12");
        assert!(listed.provenance.contains("2021.3"), "{}", listed.provenance);
    }

    #[test]
    fn other_benchmarks_are_passed_over() {
        let other = LISTING.replace("PingPong", "Sendrecv");
        assert_eq!(read(&format!("{other}{LISTING}{other}")).unwrap().one_way.len(), 2);
        assert!(read(&other).err().unwrap().contains("there is no table of PingPong"));
    }

    #[test]
    fn faults_name_line_and_value() {
        for (text, message) in [
            (LISTING.replace("1.75", "time-out."), "line 9: \"time-out.\" is not a time"),
            (LISTING.replace("  8 1000", "  8k 1000"), "line 9: \"8k\" is not a message size"),
            (LISTING.replace("  8 1000 1.75 4.57", "  8 1000"), "line 9: 2 values; at least 3"),
            (LISTING.replace("t[usec]", "t_avg[usec]"), "line 7: no column t[usec]"),
            (LISTING.repeat(2), "line 20: a second table"),
        ] {
            let error = read(&text).err().unwrap();
            assert!(error.contains(message), "{error}");
        }
    }
}
