//! `export` of every algorithm of every operation in every format: written, or refused for a reason that is stated.

use crate::program::{folder, json, tuwtree};
use serde_json::Value;
use std::path::Path;

/// An operation as it is compared, with its data.
const OPERATIONS: [&str; 11] = [
    "gather --dist spikes -p 6 -b 300",
    "scatter --dist spikes -p 6 -b 300",
    "broadcast --vector 240 -p 6",
    "reduce --vector 240 -p 6",
    "broadcast --cut --vector 240 -p 6",
    "reduce --cut --vector 240 -p 6 --combine 2",
    "allgather --dist skewed -p 6 -b 20000",
    "reduce-scatter --dist spikes -p 8 -b 300 --combine 2",
    "allreduce --vector 240 -p 6 --combine 2",
    "alltoall --dist random -p 6 -b 300",
    "intergroup-allgather --sizes SIZES --sizes-remote SIZES",
];

/// What the first line of a file in a format begins with, or a part of a file in a folder.
const FORMATS: [(&str, &str); 6] = [
    ("json", "{\"format\":\"tuwtree-schedule\""),
    ("c", "/*"),
    ("goal", "//"),
    ("dot", "digraph"),
    ("svg", "<"),
    ("smpi", "0 init"),
];

/// Why a format cannot say what a schedule does.
fn reason(format: &str, duplex: &Value) -> Option<&'static str> {
    (format == "smpi" && *duplex == true)
        .then_some("duplex ports; SMPI replays actions one after the other")
}

/// The file that is looked into.
fn content(format: &str, output: &Path) -> String {
    let file = if format == "smpi" { output.join("trace.txt") } else { output.to_owned() };
    std::fs::read_to_string(file).unwrap()
}

#[test]
fn every_algorithm_of_every_operation_is_exported_in_every_format_or_refused_with_a_reason() {
    let folder = folder("every-export");
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let sizes = path("sizes.txt");
    std::fs::write(&sizes, "5\n1\n0\n3\n").unwrap();
    let (mut exported, mut refused) = (0, 0);
    for operation in OPERATIONS {
        let arguments = format!("--op {}", operation.replace("SIZES", &sizes));
        let comparison = json(&format!("optimize {arguments} --json"));
        let constructions = comparison["constructions"].as_array().unwrap();
        assert!(constructions.len() > 2, "{comparison}");
        for construction in constructions {
            let name = construction["construction"].as_str().unwrap();
            let plan = path("plan.json");
            tuwtree(&format!("optimize {arguments} --algorithm {name} -o {plan}")).success();
            let schedule = json(&format!("export {plan} --format json"));
            let (duplex, actions) = (&schedule["duplex"], schedule["actions"].as_array().unwrap());
            for (format, beginning) in FORMATS {
                let output = folder.join("output").with_extension(format);
                let run = tuwtree(&format!(
                    "export {plan} --format {format} --alpha 100 -o {}",
                    output.display()
                ));
                if let Some(reason) = reason(format, duplex) {
                    run.fails(1, &[reason]);
                    refused += 1;
                    continue;
                }
                run.success();
                let text = content(format, &output);
                assert!(text.starts_with(beginning), "{operation} {name} {format}: {text}");
                exported += 1;
            }
            let traces = folder.join("traces");
            tuwtree(&format!("export {plan} --format chakra -o {}", traces.display())).success();
            for (rank, ends) in actions.iter().enumerate() {
                let trace = std::fs::read(traces.join(format!("schedule.{rank}.et"))).unwrap();
                let sends = trace.windows(9).filter(|name| name == b"comm_size").count();
                let ends = ends.as_array().unwrap().iter().map(|action| {
                    ["send", "receive"].iter().filter(|end| action.get(**end).is_some()).count()
                });
                assert_eq!(sends, ends.sum::<usize>(), "{operation} {name} rank {rank}");
            }
        }
    }
    assert!(exported > 300 && refused > 0, "{exported} {refused}");
}

#[test]
fn operations_with_a_hyphen_are_exported_to_standard_output_with_names_that_graphviz_and_c_take() {
    let folder = folder("hyphens");
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let (plan, sizes) = (path("plan.json"), path("sizes.txt"));
    std::fs::write(&sizes, "5\n1\n0\n3\n").unwrap();
    for (operation, data) in [
        ("reduce-scatter", format!("--sizes {sizes}")),
        ("intergroup-allgather", format!("--sizes {sizes} --sizes-remote {sizes}")),
    ] {
        tuwtree(&format!("optimize --op {operation} {data} -o {plan}")).success();
        let dot = tuwtree(&format!("export {plan} --format dot")).success();
        assert!(dot.starts_with(&format!("digraph \"{operation}\" {{\n")), "{dot}");
        let source = tuwtree(&format!("export {plan} --format c")).success();
        let name = operation.replace('-', "_");
        assert!(source.contains(&format!("int {name}_init(")), "{source}");
    }
}
