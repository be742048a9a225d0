//! Machines from what other benchmarks print.

use crate::documents::schema;
use crate::program::{folder, json, tuwtree, tuwtree_with_input, workspace_file};
use serde_json::Value;
use std::fs;

fn listing(name: &str) -> String {
    workspace_file("data/listings").join(name).display().to_string()
}

/// The sizes of the only level: bytes, latency and occupancy in nanoseconds.
fn sizes(machine: &Value) -> Vec<(u64, u64, u64)> {
    let sizes = machine["hierarchical"]["levels"][0]["sizes"].as_array().unwrap();
    let nanoseconds = |value: &Value| (value.as_f64().unwrap() * 1e9).round() as u64;
    sizes
        .iter()
        .map(|size| {
            let latency = nanoseconds(&size["latency_seconds"]);
            (size["bytes"].as_u64().unwrap(), latency, nanoseconds(&size["occupancy_seconds"]))
        })
        .collect()
}

#[test]
fn a_listing_is_a_machine_shown_converted_and_used() {
    let folder = folder("listings");
    let schema = schema("docs/machine.schema.json");
    for name in ["imb.txt", "osu.txt", "reprompi.txt"] {
        let file = listing(name);
        let shown = tuwtree(&format!("machine {file}")).success();
        assert!(shown.contains("Listed by") && shown.contains("Assumed: "), "{shown}");
        for ending in ["json", "toml"] {
            let converted = folder.join(format!("{name}.{ending}")).display().to_string();
            tuwtree(&format!("machine {file} -o {converted}")).success();
            assert_eq!(tuwtree(&format!("machine {converted}")).success(), shown);
        }
        let machine = json(&format!("machine {file} --format json"));
        assert!(schema.is_valid(&machine), "{name}");
        let optimized = json(&format!("optimize --dist random -p 20 --machine {file} --json"));
        assert_eq!(optimized["machine"], machine["name"], "{name}");
        assert!(!optimized["constructions"].as_array().unwrap().is_empty());
    }
}

#[test]
fn rates_beside_latencies_tell_what_occupies_ports() {
    let osu = fs::read_to_string(listing("osu.txt")).unwrap();
    let machine = |text: &str| -> Value {
        serde_json::from_str(&tuwtree_with_input("machine - --format json", text).success())
            .unwrap()
    };
    let both = machine(&osu);
    // 64 bytes take 1.71 us; 219.62 MB/s are 0.29 us for each message.
    assert_eq!(sizes(&both)[2], (64, 1419, 291));
    assert_eq!(sizes(&both).len(), 8);
    let latencies = machine(osu.split("# OSU MPI Bandwidth").next().unwrap());
    assert_eq!(sizes(&latencies)[2], (64, 0, 1710));
    let provenance = latencies["provenance"].as_str().unwrap();
    assert!(provenance.contains("all of a one-way time occupies the port"), "{provenance}");
    assert_eq!(latencies["date"], "1970-01-01");
}

#[test]
fn round_trips_are_halved_only_where_they_are_listed_whole() {
    let imb = json(&format!("machine {} --format json", listing("imb.txt")));
    assert_eq!(sizes(&imb)[2], (64, 0, 1840));
    assert_eq!(imb["date"], "2022-04-12");
    let reprompi = json(&format!("machine {} --format json", listing("reprompi.txt")));
    assert_eq!(sizes(&reprompi), [(1, 0, 1700), (1024, 0, 2570), (262_144, 0, 26655)]);
    assert_eq!(reprompi["date"], "2018-11-05");
}

#[test]
fn bad_listings_are_refused_with_line_and_value() {
    for (name, from, to, messages) in [
        ("osu.txt", "1.71", "1.7.1", ["line 6: \"1.7.1\" is not a time or rate", "at least 0"]),
        (
            "osu.txt",
            "OSU MPI Latency",
            "OSU MPI Bcast Latency",
            ["no table of osu_latency", "needed"],
        ),
        ("imb.txt", "1.84", "-1.84", ["line 19: \"-1.84\"", "at least 0"]),
        ("reprompi.txt", "Send_Recv", "Sendrecv", ["no valid row of the test Send_Recv", "needed"]),
    ] {
        let good = fs::read_to_string(listing(name)).unwrap();
        let bad = good.replace(from, to);
        assert_ne!(bad, good);
        tuwtree_with_input("machine -", &bad).fails(1, &messages);
        tuwtree_with_input("optimize --dist same -p 4 --machine -", &bad).fails(1, &messages);
    }
}
