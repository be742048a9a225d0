//! Exported Chakra execution traces, decoded by protobuf's own compiler from a description of the format.
//!
//! The description beside this file has the fields that we write. With `TUWTREE_CHAKRA_PROTO=FILE` it is
//! Chakra's own `et_def.proto`.

use crate::program::{folder, tuwtree, workspace_file};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The messages of a trace, each behind its length.
fn messages(trace: &[u8]) -> Vec<&[u8]> {
    let mut rest = trace;
    let mut all = Vec::new();
    while !rest.is_empty() {
        let digits = 1 + rest.iter().position(|byte| byte & 0x80 == 0).unwrap();
        let length =
            rest[..digits].iter().rev().fold(0, |sum, byte| sum << 7 | usize::from(byte & 0x7f));
        all.push(&rest[digits..digits + length]);
        rest = &rest[digits + length..];
    }
    all
}

/// A message as text, which `protoc` writes; a field that the description has not would be a number there.
fn decoded(kind: &str, message: &[u8]) -> String {
    let proto = std::env::var_os("TUWTREE_CHAKRA_PROTO")
        .map_or_else(|| workspace_file("tests/other_programs/chakra.proto"), PathBuf::from);
    let mut protoc = Command::new("protoc")
        .arg(format!("--proto_path={}", proto.parent().unwrap().display()))
        .arg(format!("--decode=ChakraProtoMsg.{kind}"))
        .arg(&proto)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    protoc.stdin.take().unwrap().write_all(message).unwrap();
    let output = protoc.wait_with_output().unwrap();
    assert!(output.status.success(), "{kind}: {message:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The names and values of the fields, those of attributes under the attribute's name.
fn fields(text: &str) -> BTreeMap<String, Vec<String>> {
    let mut fields: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut attribute = None;
    for line in text.lines().map(str::trim) {
        let Some((name, value)) = line.split_once(": ") else {
            attribute = None;
            continue;
        };
        assert!(name.parse::<u32>().is_err(), "an unknown field: {line}");
        match (name, &attribute) {
            ("name", None) if !fields.is_empty() && fields.contains_key("type") => {
                attribute = Some(value.trim_matches('"').to_owned());
            }
            (_, Some(of)) => fields.entry(of.clone()).or_default().push(value.to_owned()),
            _ => fields.entry(name.to_owned()).or_default().push(value.to_owned()),
        }
    }
    fields
}

fn number(fields: &BTreeMap<String, Vec<String>>, name: &str) -> u64 {
    fields.get(name).map_or(0, |values| values[0].parse().unwrap())
}

/// All traces of a plan: nodes require earlier ones, and each message has two ends that say the same.
fn check_traces(traces: &Path, ranks: usize) {
    let (mut sends, mut receives) = (BTreeMap::new(), BTreeMap::new());
    for rank in 0..ranks {
        let bytes = std::fs::read(traces.join(format!("schedule.{rank}.et"))).unwrap();
        let messages = messages(&bytes);
        assert!(decoded("GlobalMetadata", messages[0]).contains("version: \"0.0.4\""));
        for (id, message) in messages[1..].iter().enumerate() {
            let node = fields(&decoded("Node", message));
            assert_eq!(number(&node, "id"), id as u64);
            let required = node.get("data_deps").into_iter().flatten();
            assert!(required.map(|id| id.parse::<usize>().unwrap()).all(|other| other < id));
            assert_eq!(node["is_cpu_op"], ["false"]);
            let [from, to] = ["comm_src", "comm_dst"].map(|name| number(&node, name));
            let key = (from, to, number(&node, "comm_tag"));
            let (ends, own) = match node["type"][0].as_str() {
                "COMM_SEND_NODE" => (&mut sends, from),
                "COMM_RECV_NODE" => (&mut receives, to),
                kind => {
                    assert_eq!(kind, "COMP_NODE");
                    assert!(number(&node, "duration_micros") > 0 && node.contains_key("seconds"));
                    continue;
                }
            };
            assert_eq!(own, rank as u64);
            assert_eq!(
                ends.insert(key, number(&node, "comm_size")),
                None,
                "a tag for each message"
            );
        }
    }
    assert!(!sends.is_empty());
    assert_eq!(sends, receives);
}

#[test]
#[ignore = "needs protoc; ./test --all runs it"]
fn traces_are_what_the_description_of_the_format_says() {
    let folder = folder("chakra");
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    for (name, arguments) in [
        ("gather", "--dist spikes -p 6 -b 300"),
        ("allreduce", "--op allreduce --vector 120 -p 6 --combine 2"),
        ("alltoall", "--op alltoall --dist random -p 5 -b 300 --algorithm open-shop"),
    ] {
        let plan = path(&format!("{name}.json"));
        tuwtree(&format!("optimize {arguments} -o {plan}")).success();
        tuwtree(&format!("export {plan} --format chakra -o {}", path(name))).success();
        check_traces(&folder.join(name), if name == "alltoall" { 5 } else { 6 });
    }
}
