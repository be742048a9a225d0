//! Listings of the OSU micro-benchmarks: `osu_latency`, and `osu_bw` or `osu_mbw_mr` in the same text.
//!
//! Each test begins with a title, `# OSU MPI Latency Test v5.9`, and its table with a heading, `# Size …`. Times are in
//! microseconds, rates in 10^6 bytes per second; the rates of `osu_mbw_mr` are sums over all pairs.
//!
//! # Source
//! The benchmarks' README, and their output from version 2.0 to 7.1.

use super::Listed;
use super::row::LineOfValues;
use tuwtree_measure::Sample;

/// A test whose table is read.
#[derive(Clone, Copy, PartialEq)]
enum OsuTest {
    Latency,
    Bandwidth,
    MessageRate,
}

impl OsuTest {
    fn of(title: &str) -> Option<OsuTest> {
        match title.split_once(" Test")?.0.trim() {
            "Latency" => Some(OsuTest::Latency),
            "Bandwidth" => Some(OsuTest::Bandwidth),
            "Multiple Bandwidth / Message Rate" => Some(OsuTest::MessageRate),
            _ => None,
        }
    }
}

/// The title of a test, such as `Latency Test v5.9`; `None` for other lines.
pub(super) fn title(line: &str) -> Option<&str> {
    // Behind "MPI" there may be "-CUDA" or its kin.
    let (kind, title) = line.strip_prefix("# OSU MPI")?.split_once(' ')?;
    ((kind.is_empty() || kind.starts_with('-')) && title.contains(" Test")).then_some(title)
}

/// Results of the tests in a text.
///
/// # Errors
/// No latencies, a second table of latencies or rates, faults in them, with their lines.
pub(super) fn read(text: &str) -> Result<Listed, String> {
    let mut titles = Vec::new();
    let (mut one_way, mut spacing) = (Vec::new(), Vec::new());
    let (mut test, mut has_heading, mut pairs) = (None, false, 1.0);
    for (line, content) in (1..).zip(text.lines().map(str::trim)) {
        if let Some(title) = title(content) {
            (test, has_heading, pairs) = (OsuTest::of(title), false, 1.0);
            let is_second = match test {
                Some(OsuTest::Latency) => !one_way.is_empty(),
                Some(_) => !spacing.is_empty(),
                None => continue,
            };
            if is_second {
                return Err(format!(
                    "line {line}: a second table of this kind, {title}; a machine is made of one of latencies and \
                     at most one of rates"
                ));
            }
            titles.push(title);
        } else if let Some(comment) = content.strip_prefix('#') {
            has_heading |= comment.trim_start().starts_with("Size");
            if let Some((_, rest)) = comment.split_once("pairs:") {
                pairs = pairs_in(rest).ok_or_else(|| {
                    format!(
                        "line {line}: {content:?} has no number of pairs, a whole number from 1 on"
                    )
                })?;
            }
        } else if content.is_empty() {
            // Other programs' lines may follow.
            test = test.filter(|_| !has_heading);
        } else if let (Some(test), true) = (test, has_heading) {
            let row = LineOfValues::new(line, content);
            let bytes = row.whole(0)?;
            let value = row.number(1)?;
            let seconds = match test {
                OsuTest::Latency => value * 1e-6,
                OsuTest::MessageRate if row.has(2) => pairs / row.number(2)?,
                OsuTest::Bandwidth | OsuTest::MessageRate => pairs * bytes as f64 / (value * 1e6),
            };
            match test {
                OsuTest::Latency => row.push(&mut one_way, Sample { bytes, seconds })?,
                // Small rates are rounded to 0.
                _ if value == 0.0 => {}
                _ => row.push(&mut spacing, Sample { bytes, seconds })?,
            }
        }
    }
    if one_way.is_empty() {
        return Err(
            "there is no table of osu_latency (# OSU MPI Latency Test); it is needed".into()
        );
    }
    let has_spacing = titles.iter().any(|title| OsuTest::of(title) != Some(OsuTest::Latency));
    Ok(Listed {
        name: "OSU micro-benchmarks",
        provenance: format!("Listed by the OSU micro-benchmarks: {}", titles.join(", ")),
        date: None,
        one_way,
        spacing: has_spacing.then_some(spacing),
    })
}

/// The number in `: 15 ] [ window size: 64 ]`, behind `pairs`.
fn pairs_in(text: &str) -> Option<f64> {
    let digits = text.split(']').next()?.trim();
    digits.parse::<u32>().ok().filter(|&pairs| pairs > 0).map(f64::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LATENCY: &str = "# OSU MPI Latency Test v7.1\n# Datatype: MPI_CHAR.\n# Size Avg Latency(us)\n0 1.5\n1 2.0\n100 4.0\n";

    #[test]
    fn rates_are_those_of_one_pair() {
        let title = "# OSU MPI Multiple Bandwidth / Message Rate Test v5.7\n# [ pairs: 4 ] [ window size: 64 ]\n";
        let rates = format!(
            "{LATENCY}\nreal 0m1.1s\n{title}# Size MB/s Messages/s\n1 0.00 8000000\n100 400 4000000\n"
        );
        let spacing = read(&rates).unwrap().spacing.unwrap();
        let sample = |bytes, seconds| Sample { bytes, seconds };
        // One byte at 0.00 MB/s says nothing.
        assert_eq!(spacing, [sample(100, 4.0 / 4e6)]);
        let without = rates.replace(" 8000000", "").replace(" 4000000", "").replace("0.00", "8");
        let spacing = read(&without).unwrap().spacing.unwrap();
        assert_eq!(spacing, [sample(1, 4.0 / 8e6), sample(100, 400.0 / 4e8)]);
    }

    #[test]
    fn titles_of_all_versions_are_known_and_other_tests_are_passed_over() {
        for other in ["# OSU MPI Latency Test (Version 2.0)", "# OSU MPI-CUDA Latency Test v5.8"] {
            let text = LATENCY.replace("# OSU MPI Latency Test v7.1", other);
            assert_eq!(read(&text).unwrap().one_way.len(), 2, "{other}");
        }
        let barrier = "# OSU MPI Barrier Latency Test v7.1\n# Avg Latency(us)\n4.91\n";
        assert_eq!(read(&format!("{barrier}{LATENCY}{barrier}")).unwrap().one_way.len(), 2);
    }

    #[test]
    fn faults_name_line_and_value() {
        for (text, message) in [
            (LATENCY.replace("1 2.0", "1k 2.0"), "line 5: \"1k\" is not a message size"),
            (LATENCY.replace("1 2.0", "1 fast"), "line 5: \"fast\" is not a time or rate"),
            (LATENCY.replace("1 2.0", "1 NaN"), "line 5: \"NaN\""),
            (LATENCY.replace("1 2.0", "1 0.0"), "line 5: 1 bytes take 0 s"),
            (LATENCY.replace("1 2.0", "1"), "line 5: 1 values; at least 2"),
            (LATENCY.replace("100 4.0", "1 4.0"), "line 6: 1 bytes after 1; sizes must ascend"),
            (LATENCY.repeat(2), "line 7: a second table of this kind, Latency Test v7.1"),
            (LATENCY.replace("Latency Test", "Bandwidth Test"), "there is no table of osu_latency"),
            (format!("{LATENCY}# [ pairs: 0 ]\n"), "line 7: \"# [ pairs: 0 ]\" has no number"),
        ] {
            let error = read(&text).err().unwrap();
            assert!(error.contains(message), "{error}");
        }
    }
}
