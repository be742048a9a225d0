//! Chakra execution traces: one file a rank, for ASTRA-sim and other readers of MLCommons' format.
//!
//! ```text
//!   file       length, GlobalMetadata, length, Node, length, Node, ...     lengths as varints
//!   message    COMM_SEND_NODE at one end, COMM_RECV_NODE at the other: comm_src, comm_dst, comm_tag, comm_size
//!   copy       COMP_NODE: tensor_size, num_ops 0;  combining likewise, num_ops a byte each
//! ```
//!
//! A node's `data_deps` are the nodes that it requires, as in GOAL. A trace has no costs of messages, exchanges
//! included: the simulator's network has them. Copies and combining have whole microseconds in `duration_micros`, as
//! the format has, and the exact time in the attribute `seconds`, as a double. Messages between two ranks have tags of
//! their own.
//!
//! # Source
//! `schema/protobuf/et_def.proto` of github.com/mlcommons/chakra (numbers and types of fields, kinds of nodes); which
//! attributes a node needs, and their types: its `src/feeder/et_feeder_node.cpp`, and ASTRA-sim's `Workload.cc`.

use super::nodes::{Node, NodeWork, nodes, work_time};
use super::numbering::Numbering;
use crate::action::Action;
use crate::schedule::Schedule;
use std::io::{self, Write};
use tuwtree_model::{ClosedSet, Costs, Rank};

/// The version of the format, as its own generator writes it.
const VERSION: &str = "0.0.4";

/// Kinds of nodes: `NodeType`.
const COMP_NODE: u64 = 4;
const COMM_SEND_NODE: u64 = 5;
const COMM_RECV_NODE: u64 = 6;

/// The traces of a schedule.
#[derive(Debug)]
pub struct ChakraTraces<'a> {
    schedule: &'a Schedule,
    costs: &'a Costs,
    /// Of a time unit of the costs.
    seconds: f64,
    /// For each action of all ranks, the tags of its send and its receive.
    tags: Vec<(u32, u32)>,
}

impl<'a> ChakraTraces<'a> {
    /// The traces under these costs; a time unit is this many seconds.
    ///
    /// # Complexity
    /// O(n log n) time, O(n) space for n actions.
    pub fn new(schedule: &'a Schedule, costs: &'a Costs, seconds: f64) -> ChakraTraces<'a> {
        let tags = Numbering::new(schedule).of_actions;
        ChakraTraces { schedule, costs, seconds, tags }
    }

    /// Writes the trace of a rank.
    ///
    /// # Errors
    /// Errors of `output`; a copy whose time cannot be stated; a tag or rank above 2^31 - 1, or a message above 2^63 -
    /// 1 bytes, beyond the format's range.
    ///
    /// # Panics
    /// A rank that the schedule has not.
    ///
    /// # Complexity
    /// O(1) for each action and port.
    pub fn write(&self, rank: Rank, output: &mut dyn Write) -> io::Result<()> {
        let task = self.schedule.task();
        let mut metadata = Fields::default();
        metadata.text(1, VERSION);
        for (name, value) in [
            ("producer", AttributeValue::Text(concat!("tuwtree ", env!("CARGO_PKG_VERSION")))),
            ("operation", AttributeValue::Text(task.operation.name())),
            ("total_bytes", AttributeValue::Count(task.total())),
            ("processes", AttributeValue::Count(task.ranks() as u64)),
        ] {
            metadata.message(2, &attribute(name, value)?);
        }
        metadata.write_delimited(output)?;
        let time = |action: &Action<'_>| {
            Ok(work_time(self.schedule, self.costs, rank, action)?.units() * self.seconds)
        };
        for (id, node) in nodes(self.schedule, rank, &time)?.iter().enumerate() {
            self.node(rank, id, node)?.write_delimited(output)?;
        }
        Ok(())
    }

    fn node(&self, rank: Rank, id: usize, node: &Node<'_>) -> io::Result<Fields> {
        let (sent, got) = self.tags[self.schedule.programs().range(rank).start + node.action];
        let (kind, name, seconds, attributes) = match node.work {
            NodeWork::Copy(bytes, seconds) => {
                let work = [
                    ("num_ops", AttributeValue::Signed(0)),
                    ("tensor_size", AttributeValue::Count(bytes)),
                ];
                (COMP_NODE, format!("copy {bytes} bytes"), seconds, work.to_vec())
            }
            NodeWork::Combine(bytes, seconds) => {
                let work = [
                    ("num_ops", AttributeValue::Signed(bytes)),
                    ("tensor_size", AttributeValue::Count(bytes)),
                ];
                (COMP_NODE, format!("combine {bytes} bytes"), seconds, work.to_vec())
            }
            NodeWork::Send(send) => {
                let bytes = send.from.bytes();
                let message = message(rank, send.to, sent, bytes);
                (COMM_SEND_NODE, format!("send {bytes} bytes to {}", send.to), 0.0, message)
            }
            NodeWork::Receive(receive) => {
                let bytes = receive.into.bytes();
                let message = message(receive.from, rank, got, bytes);
                (
                    COMM_RECV_NODE,
                    format!("receive {bytes} bytes from {}", receive.from),
                    0.0,
                    message,
                )
            }
        };
        let mut fields = Fields::default();
        fields.number(1, id as u64);
        fields.text(2, &name);
        fields.number(3, kind);
        let required: Vec<u64> = node.requires.iter().map(|&id| id as u64).collect();
        fields.numbers(5, &required);
        fields.number(7, (seconds * 1e6).round() as u64);
        let own = (kind == COMP_NODE).then_some(("seconds", AttributeValue::Real(seconds)));
        let all =
            [("is_cpu_op", AttributeValue::Flag(false))].into_iter().chain(attributes).chain(own);
        for (name, value) in all {
            fields.message(10, &attribute(name, value)?);
        }
        Ok(fields)
    }
}

/// Attributes of a message at both ends.
fn message(
    from: Rank,
    to: Rank,
    tag: u32,
    bytes: u64,
) -> Vec<(&'static str, AttributeValue<'static>)> {
    vec![
        ("comm_src", AttributeValue::Small(from as u64)),
        ("comm_dst", AttributeValue::Small(to as u64)),
        ("comm_tag", AttributeValue::Small(tag.into())),
        ("comm_size", AttributeValue::Signed(bytes)),
    ]
}

/// The value of an attribute, by the type that readers expect.
#[derive(Clone, Copy, Debug)]
enum AttributeValue<'a> {
    /// `int32_val`.
    Small(u64),
    /// `int64_val`.
    Signed(u64),
    /// `uint64_val`.
    Count(u64),
    /// `double_val`.
    Real(f64),
    /// `bool_val`.
    Flag(bool),
    /// `string_val`.
    Text(&'a str),
}

/// An `AttributeProto`.
///
/// # Errors
/// A number that its type has not.
fn attribute(name: &str, value: AttributeValue<'_>) -> io::Result<Fields> {
    let mut fields = Fields::default();
    fields.text(1, name);
    let at_most = |number: u64, most: u64| match number <= most {
        true => Ok(number),
        false => Err(io::Error::other(format!(
            "{name} {number}: a Chakra trace has numbers up to {most} there"
        ))),
    };
    match value {
        AttributeValue::Small(number) => fields.present(7, at_most(number, i32::MAX as u64)?),
        AttributeValue::Signed(number) => fields.present(9, at_most(number, i64::MAX as u64)?),
        AttributeValue::Count(number) => fields.present(13, number),
        AttributeValue::Real(number) => fields.real(3, number),
        AttributeValue::Flag(flag) => fields.present(27, flag.into()),
        AttributeValue::Text(text) => fields.text(29, text),
    }
    Ok(fields)
}

/// The fields of a message as protobuf encodes them.
#[derive(Clone, Debug, Default)]
struct Fields {
    bytes: Vec<u8>,
}

/// Encodings of a field's value.
const VARINT: u64 = 0;
const EIGHT_BYTES: u64 = 1;
const DELIMITED: u64 = 2;

impl Fields {
    fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }

    fn key(&mut self, field: u64, encoding: u64) {
        self.varint(field << 3 | encoding);
    }

    /// A number, which is left out if it is 0.
    fn number(&mut self, field: u64, number: u64) {
        if number != 0 {
            self.present(field, number);
        }
    }

    /// A number, also 0: of several fields one is there.
    fn present(&mut self, field: u64, number: u64) {
        self.key(field, VARINT);
        self.varint(number);
    }

    fn real(&mut self, field: u64, number: f64) {
        self.key(field, EIGHT_BYTES);
        self.bytes.extend(number.to_le_bytes());
    }

    fn delimited(&mut self, field: u64, bytes: &[u8]) {
        self.key(field, DELIMITED);
        self.varint(bytes.len() as u64);
        self.bytes.extend(bytes);
    }

    fn text(&mut self, field: u64, text: &str) {
        self.delimited(field, text.as_bytes());
    }

    fn message(&mut self, field: u64, message: &Fields) {
        self.delimited(field, &message.bytes);
    }

    /// A list of numbers, left out if empty.
    fn numbers(&mut self, field: u64, numbers: &[u64]) {
        let mut packed = Fields::default();
        for &number in numbers {
            packed.varint(number);
        }
        if !numbers.is_empty() {
            self.message(field, &packed);
        }
    }

    /// Writes the message behind its length.
    fn write_delimited(&self, output: &mut dyn Write) -> io::Result<()> {
        let mut length = Fields::default();
        length.varint(self.bytes.len() as u64);
        output.write_all(&length.bytes)?;
        output.write_all(&self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tuwtree_model::{BlockSizes, Collective, Homogeneous, Step, Tree};

    /// Rank 1 sends 300 bytes to rank 0, which has copied 3.
    fn traces(rank: Rank) -> Vec<u8> {
        let tree = Tree::new(2, 0, &[(0, Step::Copy), (0, Step::Receive(1))]).unwrap();
        let gather = Collective::gather(&BlockSizes::new([3, 300]).unwrap());
        let schedule = Schedule::without_costs(&tree, &gather).unwrap();
        let costs = Homogeneous::new(1.0, 1.0, 2.0).unwrap().into();
        let mut bytes = Vec::new();
        ChakraTraces::new(&schedule, &costs, 1e-6).write(rank, &mut bytes).unwrap();
        bytes
    }

    #[test]
    fn a_send_is_a_node_whose_bytes_can_be_read_by_hand() {
        let bytes = traces(1);
        let metadata = 1 + usize::from(bytes[0]);
        let node = &bytes[metadata..];
        assert_eq!(usize::from(node[0]), node.len() - 1, "one node, behind its length");
        // No id since it is 0; name (2), kind (3), attributes (10).
        let text = "send 300 bytes to 0";
        assert_eq!(node[1..3], [2 << 3 | 2, text.len() as u8]);
        assert_eq!(&node[3..22], text.as_bytes());
        assert_eq!(node[22..24], [3 << 3, 5], "COMM_SEND_NODE");
        let size = [&[10 << 3 | 2, 14, 1 << 3 | 2, 9][..], b"comm_size", &[9 << 3, 0xac, 0x02]];
        assert!(node.ends_with(&size.concat()), "300 is 0xac 0x02: {node:?}");
    }

    #[test]
    fn a_receive_requires_the_copy_before_it_on_its_port() {
        let bytes = traces(0);
        let second = b"receive 300 bytes from 1";
        let at = bytes.windows(second.len()).position(|part| part == second).unwrap();
        // id 1 before the name; kind and data_deps [0] behind it.
        assert_eq!(bytes[at - 4..at - 2], [1 << 3, 1]);
        assert_eq!(bytes[at + second.len()..][..5], [3 << 3, 6, 5 << 3 | 2, 1, 0]);
        let seconds = [&[1 << 3 | 2, 7][..], b"seconds", &[3 << 3 | 1], &6e-6_f64.to_le_bytes()];
        let seconds = seconds.concat();
        assert!(bytes.windows(seconds.len()).any(|part| part == seconds), "{bytes:?}");
    }
}
