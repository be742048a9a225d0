//! The schedule document: schedules as versioned, self-describing JSON.
//!
//! Written and read as a stream: neither a text nor a tree of JSON values is held in memory beside
//! the schedule. `docs/formats.md` describes the format, `docs/schedule.schema.json` defines it.

mod actions;
mod fields;
mod version;

pub use version::VERSION;

use crate::schedule::Schedule;
use actions::ActionList;
use fields::{ScheduleFields, Segments, TaskFields};
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::borrow::Cow;
use std::fmt;
use std::io::{self, Read, Write};
use tuwtree_model::document::{Header, shortened};

/// The name of the format.
pub const FORMAT: &str = "tuwtree-schedule";

/// Writes a schedule as one JSON object, a line for each rank's actions.
///
/// # Errors
/// Errors of `output`.
///
/// # Complexity
/// O(1) for each block, action and piece; no memory to speak of.
pub fn write(schedule: &Schedule, output: &mut dyn Write) -> io::Result<()> {
    let fields = serde_json::to_string(&TaskFields(schedule))?;
    let open = fields.strip_suffix('}').expect("an object ends with a brace");
    write!(output, "{open},\n\"segment_bytes\":")?;
    serde_json::to_writer(&mut *output, &Segments(schedule))?;
    write!(output, ",\n\"actions\":[")?;
    for rank in 0..schedule.ranks() {
        output.write_all(if rank == 0 { b"\n" } else { b",\n" })?;
        serde_json::to_writer(&mut *output, &ActionList(schedule.programs(), rank))?;
    }
    writeln!(output, "\n]}}")
}

/// The schedule in a JSON text.
///
/// # Errors
/// The fault in a few words, with line and column for text that is no JSON or has other fields.
///
/// # Complexity
/// O(p log p) and O(1) for each action and piece; memory is at most twice the text's.
pub fn read(input: impl Read) -> Result<Schedule, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_reader(input);
    let schedule = deserializer.deserialize_map(DocumentVisitor).map_err(in_few_words)?;
    deserializer.end()?;
    Ok(schedule)
}

/// The error with a message of bounded length; line and column, at its end, stay.
fn in_few_words(error: serde_json::Error) -> serde_json::Error {
    let message = error.to_string();
    match shortened(&message) {
        Cow::Borrowed(_) => error,
        Cow::Owned(short) => serde_json::Error::custom(short),
    }
}

/// Reads format and version, which come first, before it believes the rest.
struct DocumentVisitor;

impl<'de> Visitor<'de> for DocumentVisitor {
    type Value = Schedule;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a schedule document, which is an object with named fields")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Schedule, A::Error> {
        let format = named(&mut fields, "format")?;
        let version = named(&mut fields, "version")?;
        Header { format, version }.check(FORMAT, VERSION).map_err(A::Error::custom)?;
        let rest = serde::de::value::MapAccessDeserializer::new(fields);
        let fields = ScheduleFields::deserialize(rest)?;
        fields.check_version(version).map_err(A::Error::custom)?;
        fields.schedule().map_err(A::Error::custom)
    }
}

/// The value of the field that comes next and has this name.
fn named<'de, A: MapAccess<'de>, T: Deserialize<'de>>(
    fields: &mut A,
    name: &'static str,
) -> Result<T, A::Error> {
    match fields.next_key::<String>()? {
        Some(key) if key == name => fields.next_value(),
        _ => Err(A::Error::custom(
            "not a schedule document: its fields begin with \"format\" and \"version\"",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tuwtree_model::{BlockSizes, Homogeneous, Problem, Step, Tree};

    const GOOD: &str = r#"{"format":"tuwtree-schedule","version":6,"operation":"gather","ranks":3,"root":1,"order":"ordered","ports":1,"costs":{"alpha":100.0,"beta_per_byte":1.0,"gamma_per_byte":0.5},"block_sizes_bytes":[2,1,4],
"segment_bytes":[0,0,0],
"actions":[
[{"send":1,"from":["input",0,2]}],
[{"receive":0,"into":["output",0,2]},{"from":["input",0,1],"into":["output",2,1]},{"receive":2,"into":["output",3,4]}],
[{"send":1,"from":["input",0,4]}]
]}
"#;

    fn schedule() -> Schedule {
        let steps = [(1, Step::Receive(0)), (1, Step::Copy), (1, Step::Receive(2))];
        let tree = Tree::new(3, 1, &steps).unwrap();
        let sizes = BlockSizes::new([2, 1, 4]).unwrap();
        let costs = Homogeneous::new(100.0, 1.0, 0.5).unwrap();
        Schedule::of_tree(&tree, &Problem::gather(&sizes, costs).unwrap()).unwrap()
    }

    #[test]
    fn a_schedule_reads_as_it_was_written() {
        let mut text = Vec::new();
        write(&schedule(), &mut text).unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), GOOD);
        assert_eq!(read(GOOD.as_bytes()).unwrap(), schedule());
        let old =
            GOOD.replace("\"version\":6", "\"version\":1").replace("\"ranks\"", "\"processors\"");
        assert_eq!(read(old.as_bytes()).unwrap(), schedule());
    }

    #[test]
    fn a_segment_larger_than_any_memory_is_refused() {
        let text = |bytes: &str| GOOD.replace("[0,0,0]", &format!("[0,0,{bytes}]"));
        assert!(read(text("9223372036854775807").as_bytes()).is_ok());
        let error = read(text("9223372036854775808").as_bytes()).unwrap_err().to_string();
        assert!(error.contains("rank 2 has a segment of 9223372036854775808 bytes"), "{error}");
    }

    #[test]
    fn an_overhead_is_written_only_where_it_is_not_all_of_alpha() {
        let text = GOOD.replace("\"alpha\":100.0", "\"alpha\":100.0,\"overhead\":40.0");
        let schedule = read(text.as_bytes()).unwrap();
        let mut written = Vec::new();
        write(&schedule, &mut written).unwrap();
        assert_eq!(String::from_utf8(written).unwrap(), text);
        for (overhead, message) in [
            ("101.0", "the overhead is 101; it is part of alpha, so that 0 to 100 is allowed"),
            ("-1.0", "the overhead is -1"),
            ("1e999", "number out of range"),
        ] {
            let bad = text.replace("\"overhead\":40.0", &format!("\"overhead\":{overhead}"));
            let error = read(bad.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }

    #[test]
    fn costs_of_exchanges_are_written_only_where_they_differ() {
        let costs = "\"gamma_per_byte\":0.5";
        let stated = |exchange: &str| GOOD.replace(costs, &format!("{costs},{exchange}"));
        let newest = |exchange: &str| stated(exchange);
        let written = |text: &str| {
            let mut written = Vec::new();
            write(&read(text.as_bytes()).unwrap(), &mut written).unwrap();
            String::from_utf8(written).unwrap()
        };
        let both = newest("\"exchange_alpha\":150.0,\"exchange_beta_per_byte\":1.5");
        assert_eq!(written(&both), both);
        let alpha = newest("\"exchange_alpha\":150.0");
        let full = newest("\"exchange_alpha\":150.0,\"exchange_beta_per_byte\":1.0");
        assert_eq!(written(&alpha), full);
        assert_eq!(written(&newest("\"exchange_alpha\":100,\"exchange_beta_per_byte\":1")), GOOD);
        for (text, message) in [
            (
                stated("\"exchange_beta_per_byte\":1.5").replace("\"version\":6", "\"version\":4"),
                "\"exchange_alpha\" or \"exchange_beta_per_byte\" in a document of version 4; it needs version 5",
            ),
            (
                newest("\"exchange_alpha\":-1.0"),
                "exchange alpha is -1; costs are finite numbers of at least 0",
            ),
            (
                newest("\"exchange_alpha\":150.0")
                    .replace("\"alpha\":100.0", "\"alpha\":100.0,\"overhead\":40.0"),
                "costs of exchanges go with an overhead that is all of alpha, 100, and not 40",
            ),
        ] {
            let error = read(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }

    #[test]
    fn duplex_ports_are_written_only_where_they_are_duplex() {
        let text = GOOD.replace("\"ports\":1", "\"ports\":1,\"duplex\":true");
        let schedule = read(text.as_bytes()).unwrap();
        assert!(schedule.task().duplex);
        let mut written = Vec::new();
        write(&schedule, &mut written).unwrap();
        assert_eq!(String::from_utf8(written).unwrap(), text);
        let schedule = read(text.replace("true", "false").as_bytes()).unwrap();
        let mut written = Vec::new();
        write(&schedule, &mut written).unwrap();
        assert_eq!(String::from_utf8(written).unwrap(), GOOD);
    }

    #[test]
    fn what_is_no_schedule_is_refused_by_name() {
        let good = GOOD.replace("\"version\":6", "\"version\":1");
        for (from, to, message) in [
            ("\"version\":1", "\"version\":7", "version 7 of format \"tuwtree-schedule\""),
            (
                "\"version\":1,\"operation\":\"gather\"",
                "\"version\":2,\"operation\":\"allreduce\"",
                "allreduce in a document of version 2; it needs version 3",
            ),
            (
                "\"root\":1",
                "\"root\":1,\"combine_per_byte\":0.5",
                "\"combine_per_byte\" in a document of version 1; it needs version 3",
            ),
            (
                "\"gather\"",
                "\"allgather\"",
                "allgather in a document of version 1; it needs version 2",
            ),
            ("\"root\":1,", "", "missing field `root`"),
            (
                "\"alpha\":100.0",
                "\"alpha\":100.0,\"overhead\":100.0",
                "\"overhead\" in a document of version 1; it needs version 2",
            ),
            (
                "\"version\":1,",
                "\"version\":4,\"duplex\":true,",
                "\"duplex\" in a document of version 4; it needs version 5",
            ),
            ("tuwtree-schedule", "tuwtree-tree", "the document's format is \"tuwtree-tree\""),
            ("\"root\":1", "\"root\":3", "root 3 is outside 0..3"),
            ("\"root\":1", "\"root\":1,\"colour\":2", "unknown field `colour`"),
            ("\"ports\":1", "\"ports\":0", "0 ports"),
            ("[2,1,4]", "[2,1]", "\"block_sizes_bytes\" has 2 entries"),
            ("[0,0,0]", "[0,0]", "segments for 2 of 3"),
            ("\"send\":1", "\"send\":0", "rank 0, action 0: a message to oneself"),
            ("\"send\":1", "\"send\":9", "rank 0, action 0: the peer 9 is outside 0..3"),
            ("\"input\",0,4", "\"input\",1,4", "4 bytes at offset 1 reach beyond the input of 4"),
            ("\"input\",0,4", "\"input\",0", "invalid length 2"),
            ("\"input\",0,4", "\"input\"", "rank 2, action 0: a piece of 0 bytes"),
            ("\"input\",0,4", "\"input\",0,-4", "invalid value: integer `-4`"),
            ("\"send\":1,", "\"combine\":\"left\",\"send\":1,", "\"combine\" with \"into\""),
            (
                "\"input\",0,1]",
                "\"input\",0,1],\"combine\":\"left\"",
                "\"combine\" in a copy in a document of version 1; it needs version 5",
            ),
            ("\"send\":1,", "\"port\":1,\"send\":1,", "port 1 is outside 0..1"),
            ("]}\n", "]}\n x", "trailing characters at line 8"),
        ] {
            let bad = good.replacen(from, to, 1);
            assert_ne!(bad, good, "{from} is not in the document");
            let error = read(bad.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(message), "{bad}: {error}");
        }
    }
}
