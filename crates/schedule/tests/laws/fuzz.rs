//! Damaged documents: whatever is done to a file, it is read, or refused in a few words.

use super::documents::workspace_file;
use super::verification::handmade;
use flate2::Compression;
use flate2::bufread::MultiGzDecoder;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, TestRunner};
use std::cell::Cell;
use std::io::Write;
use tuwtree_model::document::{Header, Object, TreeDocument, shortened};
use tuwtree_schedule::{document, verify};

/// The most characters of a message.
const LONGEST: usize = 2000;

/// A change to a text.
#[derive(Clone, Debug)]
enum Damage {
    /// One byte becomes another.
    Byte(Index, u8),
    Cut(Index),
    Delete(Index, usize),
    /// A span stands twice.
    Repeat(Index, usize),
    /// A number becomes something else.
    Number(Index, &'static str),
    /// Two names or other strings change places.
    Swap(Index, Index),
    /// Something is put between two bytes, many times.
    Insert(Index, &'static str, usize),
}

/// What numbers become.
const ODD: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "7",
    "-1",
    "-0",
    "1.0",
    "0.5",
    "1e3",
    "1e400",
    "-1e400",
    "100000000",
    "100000001",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999999999",
    "null",
    "true",
    "\"7\"",
    "[]",
    "[1]",
    "[[[[1]]]]",
    "{}",
    "{\"a\":1}",
    "NaN",
    "",
];

/// What is inserted.
const INSERTED: &[&str] =
    &["[", "{\"a\":", "]", "}", ",", "9", "\"", "\\u0000", "\u{fffd}", "x", " ", "\n", "-", "[0],"];

fn damage() -> impl Strategy<Value = Damage> {
    let at = any::<Index>;
    prop_oneof![
        2 => (at(), any::<u8>()).prop_map(|(at, byte)| Damage::Byte(at, byte)),
        1 => at().prop_map(Damage::Cut),
        1 => (at(), 1..40_usize).prop_map(|(at, bytes)| Damage::Delete(at, bytes)),
        1 => (at(), 1..60_usize).prop_map(|(at, bytes)| Damage::Repeat(at, bytes)),
        5 => (at(), prop::sample::select(ODD)).prop_map(|(at, text)| Damage::Number(at, text)),
        2 => (at(), at()).prop_map(|(a, b)| Damage::Swap(a, b)),
        1 => (at(), prop::sample::select(INSERTED), prop_oneof![Just(1), Just(2), Just(5000_usize)])
            .prop_map(|(at, text, times)| Damage::Insert(at, text, times)),
    ]
}

impl Damage {
    fn apply(&self, text: &mut Vec<u8>) {
        if text.is_empty() {
            return;
        }
        let place = |at: &Index| at.index(text.len());
        match self {
            Damage::Byte(at, byte) => {
                let at = place(at);
                text[at] = *byte;
            }
            Damage::Cut(at) => text.truncate(place(at)),
            Damage::Delete(at, bytes) => {
                let at = place(at);
                text.drain(at..(at + bytes).min(text.len()));
            }
            Damage::Repeat(at, bytes) => {
                let at = place(at);
                let span = text[at..(at + bytes).min(text.len())].to_vec();
                text.splice(at..at, span);
            }
            Damage::Number(at, new) => {
                let numbers = spans(text, |byte| byte.is_ascii_digit());
                if !numbers.is_empty() {
                    text.splice(at.get(&numbers).clone(), new.bytes());
                }
            }
            Damage::Swap(a, b) => {
                let words = spans(text, |byte| byte.is_ascii_lowercase() || byte == b'_');
                let (a, b) = (a.index(words.len().max(1)), b.index(words.len().max(1)));
                if a < b {
                    let second = text[words[b].clone()].to_vec();
                    let first = text.splice(words[a].clone(), second.clone()).collect::<Vec<_>>();
                    let moved = words[b].start + second.len() - first.len();
                    text.splice(moved..moved + second.len(), first);
                }
            }
            Damage::Insert(at, new, times) => {
                let at = place(at);
                text.splice(at..at, new.repeat(*times).into_bytes());
            }
        }
    }
}

/// The spans of bytes of one kind.
fn spans(text: &[u8], is: impl Fn(u8) -> bool) -> Vec<std::ops::Range<usize>> {
    let mut spans = Vec::new();
    let mut start = None;
    for (at, &byte) in text.iter().chain([&0]).enumerate() {
        match (start, is(byte)) {
            (None, true) => start = Some(at),
            (Some(from), false) => {
                spans.push(from..at);
                start = None;
            }
            _ => {}
        }
    }
    spans
}

/// Good schedule documents.
fn schedules() -> Vec<Vec<u8>> {
    let files = ["gather", "pipelined_broadcast", "scatter_two_ports", "deadlock"];
    let read =
        |name| std::fs::read(workspace_file(&format!("data/schedules/{name}.json"))).unwrap();
    let mut texts: Vec<Vec<u8>> = files.into_iter().map(read).collect();
    for schedule in handmade::all() {
        let mut text = Vec::new();
        document::write(&schedule.schedule().unwrap().unwrap(), &mut text).unwrap();
        texts.push(text);
    }
    let overlapping = String::from_utf8(texts[0].clone()).unwrap();
    let costs =
        "\"costs\":{\"alpha\":9,\"overhead\":2.5,\"beta_per_byte\":1,\"gamma_per_byte\":0},";
    let overlapping = overlapping.replacen("\"version\":1", "\"version\":2", 1).replacen(
        "\"segment_bytes\"",
        &format!("{costs}\"segment_bytes\""),
        1,
    );
    texts.push(overlapping.into_bytes());
    texts
}

/// Good tree documents.
fn trees() -> Vec<Vec<u8>> {
    [
        r#"{"format":"tuwtree-tree","version":1,"processors":1,"root":0,"subtrees":[[]]}"#,
        r#"{"format":"tuwtree-tree","version":1,"processors":3,"root":1,"subtrees":[[],[0,1,2],[]],"problem":{"operation":"gather","alpha":100.0,"beta_per_byte":1.0,"gamma_per_byte":0.5,"block_sizes_bytes":[2,1,4]}}"#,
        r#"{"format":"tuwtree-tree","version":4,"processors":2,"root":0,"subtrees":[[0,1],[]],"problem":{"operation":"scatter","alpha":9.0,"overhead":2.5,"beta_per_byte":1.0,"gamma_per_byte":0.5,"block_sizes_bytes":[2,1]}}"#,
        r#"{"format":"tuwtree-tree","version":4,"processors":2,"root":0,"subtrees":[[0,1],[]],"problem":{"operation":"gather","machine":{"format":"tuwtree-machine","version":2,"name":"n","date":"2026-11-21","provenance":"p","hierarchical":{"gamma_seconds_per_byte":0.0,"placement":"block","levels":[{"name":"all","members":8,"sizes":[{"bytes":1,"latency_seconds":4e-6,"occupancy_seconds":4e-7},{"bytes":64,"latency_seconds":3e-6,"occupancy_seconds":5e-7}]}]},"network":{"port":"fair","wire":"node","eager_limit_bytes":65535,"send_overhead_seconds":4e-7,"measured":{"latency":"by hand"}}},"block_sizes_bytes":[2,1]}}"#,
        r#"{"format":"tuwtree-tree","version":1,"processors":5,"root":4,"subtrees":[[1,0,2],[],[2,3],[],[4,0]],"problem":null}"#,
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec()
}

/// Reads a schedule as the program does, and verifies it.
fn read_schedule(text: &[u8]) -> Result<(), String> {
    let schedule = document::read(text).map_err(|error| error.to_string())?;
    verify(&schedule).map(drop).map_err(|fault| fault.to_string())
}

/// Reads a tree as the program does.
fn read_tree(text: &[u8]) -> Result<(), String> {
    let error = |error: serde_json::Error| shortened(&error.to_string()).into_owned();
    let Object(header): Object<Header> = serde_json::from_slice(text).map_err(error)?;
    header
        .check(TreeDocument::FORMAT, TreeDocument::VERSION)
        .map_err(|error| shortened(&error.to_string()).into_owned())?;
    serde_json::from_slice::<Object<TreeDocument>>(text).map(drop).map_err(error)
}

fn check(result: Result<(), String>, refused: &Cell<u32>) -> Result<(), TestCaseError> {
    if let Err(message) = result {
        prop_assert!(!message.is_empty() && message.chars().count() < LONGEST, "{message}");
        refused.set(refused.get() + 1);
    }
    Ok(())
}

fn fuzz(cases: u32, texts: Vec<Vec<u8>>, read: impl Fn(&[u8]) -> Result<(), String>) -> (u32, u32) {
    let (seen, refused) = (Cell::new(0), Cell::new(0));
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let damages = prop::collection::vec(damage(), 1..=3);
    TestRunner::new(config)
        .run(&(prop::sample::select(texts), damages), |(mut text, damages)| {
            seen.set(seen.get() + 1);
            for damage in damages {
                damage.apply(&mut text);
            }
            check(read(&text), &refused)
        })
        .unwrap();
    (seen.get(), refused.get())
}

#[test]
fn damaged_schedules_are_read_or_refused_in_a_few_words() {
    let (seen, refused) = fuzz(60_000, schedules(), read_schedule);
    assert!(seen >= 60_000);
    assert!((30_000..seen).contains(&refused), "{refused} of {seen}");
}

#[test]
fn damaged_trees_are_read_or_refused_in_a_few_words() {
    let (seen, refused) = fuzz(30_000, trees(), read_tree);
    assert!(seen >= 30_000);
    assert!((15_000..seen).contains(&refused), "{refused} of {seen}");
}

#[test]
fn damaged_archives_are_read_or_refused_in_a_few_words() {
    let pack = |text: Vec<u8>| {
        let mut packer = GzEncoder::new(Vec::new(), Compression::default());
        packer.write_all(&text).unwrap();
        packer.finish().unwrap()
    };
    let archives = schedules().into_iter().map(pack).collect();
    let (seen, refused) = fuzz(10_000, archives, |archive| {
        document::read(MultiGzDecoder::new(archive)).map(drop).map_err(|error| error.to_string())
    });
    assert!(seen >= 10_000);
    assert!((5_000..seen).contains(&refused), "{refused} of {seen}");
}

#[test]
fn huge_words_are_cut_in_messages() {
    let huge = "x".repeat(1_000_000);
    for (from, to) in [
        ("tuwtree-schedule", &huge[..]),
        ("gather", &huge),
        ("\"root\"", &format!("\"{huge}\"")),
        ("\"root\":1", &format!("\"root\":\"{huge}\"")),
        ("input", &huge),
    ] {
        let good = String::from_utf8(schedules()[0].clone()).unwrap();
        let bad = good.replacen(from, to, 1);
        assert_ne!(bad, good);
        let message = document::read(bad.as_bytes()).unwrap_err().to_string();
        assert!(message.len() < LONGEST && message.contains("xxx"), "{message}");
        assert!(message.contains(" at line "), "{message}");
    }
}
