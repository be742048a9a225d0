//! A machine document from floods: costs as they are measured from outside (`floods.c`).

use super::platform::{Overheads, Platform};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// The largest message that is measured; beyond it, costs go on as straight lines.
const LARGEST: u64 = 4 << 20;
/// What a message is when ports and wires are measured.
const MEBIBYTE: u64 = 1 << 20;
/// More ranks than any experiment has.
const MANY: usize = 1 << 20;

/// Messages of one size to one process.
#[derive(Clone, Copy, Debug)]
struct Flood {
    /// How many messages `several` is of.
    messages: usize,
    /// Seconds until one message is there.
    one: f64,
    /// Seconds until all are there, sent at once.
    several: f64,
}

impl Flood {
    /// f: what each further message adds.
    fn occupancy(&self) -> f64 {
        ((self.several - self.one) / (self.messages - 1) as f64).max(0.0)
    }

    /// lambda: what of the first message's time is not occupancy.
    fn latency(&self) -> f64 {
        (self.one - self.occupancy()).max(0.0)
    }
}

/// What `floods.c` measured.
#[derive(Debug, Default)]
struct Measured {
    eager_limit: u64,
    send_overhead: f64,
    /// By level and bytes.
    floods: Vec<BTreeMap<u64, Flood>>,
    /// First and last completion of equal messages that leave a process at once.
    out: (f64, f64),
    /// By kind ("nodein", "nodeout"), seconds for 1, 2, 4, ... processes of one group at once.
    groups: BTreeMap<String, Vec<f64>>,
}

impl Measured {
    fn read(lines: &[String], levels: usize) -> Measured {
        let mut measured =
            Measured { floods: vec![BTreeMap::new(); levels], ..Measured::default() };
        for line in lines {
            let words: Vec<&str> = line.split_whitespace().collect();
            let number = |index: usize| words[index].parse::<f64>().expect("a number");
            match words[..] {
                ["eager", bytes] => measured.eager_limit = bytes.parse().unwrap(),
                ["send", _] => measured.send_overhead = number(1),
                ["out", ..] => measured.out = (number(1), number(2)),
                ["flood", level, bytes, messages, ..] => {
                    let messages = messages.parse().unwrap();
                    let flood = Flood { messages, one: number(4), several: number(5) };
                    let level: usize = level.parse().unwrap();
                    measured.floods[level].insert(bytes.parse().unwrap(), flood);
                }
                [kind @ ("nodein" | "nodeout"), ..] => {
                    measured.groups.entry(kind.to_owned()).or_default().push(number(2));
                }
                ["late" | "in" | "pairs", ..] => (),
                _ => panic!("{line:?} is no measurement"),
            }
        }
        measured
    }

    /// How a port serves several messages: a fair one is done with all at nearly the same time.
    fn port(&self) -> &'static str {
        match self.out.0 > 0.5 * self.out.1 {
            true => "fair",
            false => "first-in-first-out",
        }
    }

    /// Whose the wire is: a node's if a second of its processes waits for the first, in and out.
    fn wire(&self) -> &'static str {
        let outermost = self.floods.last().expect("a level");
        let waits = |times: &Vec<f64>| times[1] - times[0] > 0.5 * outermost[&MEBIBYTE].occupancy();
        match !self.groups.is_empty() && self.groups.values().all(waits) {
            true => "node",
            false => "rank",
        }
    }

    fn level(&self, index: usize, name: &str, members: usize) -> Value {
        let sizes: Vec<Value> = self.floods[index]
            .iter()
            .map(|(bytes, flood)| {
                json!({
                    "bytes": bytes,
                    "latency_seconds": flood.latency(),
                    "occupancy_seconds": flood.occupancy(),
                })
            })
            .collect();
        json!({ "name": name, "members": members, "sizes": sizes })
    }
}

/// The machine document of a platform, from a run of `floods.c` by as many processes as its levels
/// have room for. A single level is then said to have room for any number.
pub(super) fn machine(platform: &Platform, overheads: Overheads, folder: &Path) -> Value {
    let mut arguments = vec![LARGEST.to_string()];
    arguments.extend(platform.levels.iter().map(|(_, members)| members.to_string()));
    let processes = platform.processes();
    let lines = platform.run(folder, overheads, processes, "floods", &arguments);
    let measured = Measured::read(&lines, platform.levels.len());
    let levels: Vec<Value> = platform
        .levels
        .iter()
        .enumerate()
        .map(|(index, &(name, members))| {
            let members = if platform.levels.len() == 1 { MANY } else { members };
            measured.level(index, name, members)
        })
        .collect();
    let mut document = json!({
        "format": "tuwtree-machine",
        "version": if platform.uncertainty.is_some() { 4 } else { 2 },
        "name": format!("{} of SimGrid, overheads {}", platform.name, overheads.name()),
        "date": "2022-10-03",
        "provenance": format!(
            "Floods of {processes} processes in SimGrid 3.32 (tests/other_programs/network/floods.c); \
             copies take no time there."
        ),
        "hierarchical": { "gamma_seconds_per_byte": 0.0, "placement": "block", "levels": levels },
        "network": {
            "port": measured.port(),
            "wire": measured.wire(),
            "eager_limit_bytes": measured.eager_limit,
            "send_overhead_seconds": measured.send_overhead,
            "measured": {
                "sizes": "one message, and several to one process that has posted all receives",
                "eager_limit_bytes": "a sender whose receiver is late by 10 ms, by bisection",
                "send_overhead_seconds": "64 messages of a byte less one, until their sender is free",
                "port": "messages of 1 MiB to several processes at once: first and last completion",
                "wire": "1 MiB to and from each of several processes of a node at once",
            },
        },
    });
    if let Some(factor) = platform.uncertainty {
        document["network"]["uncertainty"] = json!(factor);
    }
    document
}
