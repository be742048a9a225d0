//! The patterns that `ucc_perftest` replays (`.ptini`, UCC 1.6 and later): sections `[collective]`, each with the
//! counts of an alltoallv, a row of counts for each sender.

use super::Counted;
use crate::text::whole;

/// Bytes of the elements of UCC's datatypes.
const DATATYPES: [(&str, u64); 13] = [
    ("INT8", 1),
    ("INT16", 2),
    ("INT32", 4),
    ("INT64", 8),
    ("UINT8", 1),
    ("UINT16", 2),
    ("UINT32", 4),
    ("UINT64", 8),
    ("FLOAT16", 2),
    ("BFLOAT16", 2),
    ("FLOAT32", 4),
    ("FLOAT64", 8),
    ("FLOAT32_COMPLEX", 8),
];

/// The counts of the only collective in a file, row after row, and what an element has.
///
/// # Errors
/// Another collective than alltoallv, none or several of them, counts that are no numbers, with the line.
pub(super) fn first(text: &str) -> Result<(Vec<u64>, Counted), String> {
    let mut sections = 0;
    let mut element = None;
    let mut counts = Vec::new();
    let mut is_in_counts = false;
    for (line, content) in (1..).zip(text.lines().map(str::trim)) {
        let mut values = content;
        if is_in_counts {
            // Rows until the brace.
        } else if content == "[collective]" {
            sections += 1;
            continue;
        } else if let Some((key, value)) = content.split_once('=') {
            match (key.trim(), value.trim()) {
                ("type", kind) if kind != "ALLTOALLV" => {
                    return Err(format!("line {line}: type {kind}; only ALLTOALLV is known"));
                }
                ("datatype", name) => {
                    let known = DATATYPES.iter().find(|(known, _)| *known == name);
                    let unknown = || format!("line {line}: {name} is not a datatype of UCC");
                    element = Some(known.ok_or_else(unknown)?.1);
                    continue;
                }
                ("counts", value) => {
                    let brace = || format!("line {line}: counts = {{ is needed");
                    values = value.strip_prefix('{').ok_or_else(brace)?;
                }
                _ => continue,
            }
        } else {
            continue;
        }
        let row = values.split_once('}').map_or(values, |(row, _)| row);
        is_in_counts = row.len() == values.len();
        for value in row.split(',').map(str::trim).filter(|value| !value.is_empty()) {
            counts.push(whole(value, line)?);
        }
    }
    match sections {
        1 if is_in_counts => Err("counts end without a brace".into()),
        1 => Ok((counts, Counted::Elements(element))),
        0 => Err("there is no [collective]".into()),
        more => Err(format!("{more} collectives; write each into a file of its own")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATTERN: &str = "[format]\nversion = 1.0\ndescription = UCC Collective Pattern File\n\n[collective]\n\
                           type = ALLTOALLV\nteam_size = 2\ndatatype = INT32\nflags = COUNT_32BIT\n\
                           counts = {\n    1,2\n    3,4\n}\n";

    #[test]
    fn counts_and_the_size_of_their_elements_are_read() {
        let expected = Ok((vec![1, 2, 3, 4], Counted::Elements(Some(4))));
        assert_eq!(first(PATTERN), expected);
        assert_eq!(first(&PATTERN.replace("{\n    1,2\n    3,4\n}", "{1,2,3,4}")), expected);
    }

    #[test]
    fn other_collectives_and_several_of_them_are_refused() {
        for (text, message) in [
            (PATTERN.replace("ALLTOALLV", "ALLGATHERV"), "line 6: type ALLGATHERV"),
            (PATTERN.replace("INT32", "INT33"), "line 8: INT33"),
            (PATTERN.replace("3,4", "3,-4"), "line 12: \"-4\""),
            (PATTERN.replace('}', ""), "without a brace"),
            (PATTERN.repeat(2), "2 collectives"),
            (String::new(), "no [collective]"),
        ] {
            let error = first(&text).unwrap_err();
            assert!(error.contains(message), "{error}");
        }
    }
}
