//! Machines of which only the shape is known: hostfiles and hwloc's XML.

use crate::program::{json, tuwtree, tuwtree_with_input, workspace_file};
use std::fs;

fn shape(name: &str) -> String {
    workspace_file("data/shapes").join(name).display().to_string()
}

#[test]
fn hostfiles_and_topologies_are_machines_whose_costs_are_assumed() {
    for (name, processes, levels) in [
        ("hostfile", 72, [("node", 16), ("network", 5)]),
        ("node.xml", 8, [("package", 4), ("node", 2)]),
    ] {
        let file = shape(name);
        let shown = tuwtree(&format!("machine {file}")).success();
        assert!(shown.contains("Assumed: all costs"), "{shown}");
        let machine = json(&format!("machine {file} --format json"));
        for (level, (name, members)) in levels.iter().enumerate() {
            let level = &machine["hierarchical"]["levels"][level];
            assert_eq!((&level["name"], &level["members"]), (&(*name).into(), &(*members).into()));
        }
        let again = tuwtree_with_input("machine -", &machine.to_string()).success();
        assert_eq!(again, shown);
        let optimized =
            json(&format!("optimize --dist random -p {processes} --machine {file} --json"));
        assert_eq!(optimized["machine"], machine["name"]);
    }
}

#[test]
fn bad_hostfiles_are_refused_with_line_and_value() {
    let good = fs::read_to_string(shape("hostfile")).unwrap();
    for (from, to, message) in [
        ("slots=8 ", "slots=-8 ", "line 6: \"login  slots=-8 max_slots=8\""),
        ("node03 slots=16", "node03 16", "line 4: \"node03 16\"; NAME"),
        ("node03 slots=16", "node03 slots=999999999", "at most 1048576"),
    ] {
        let bad = good.replace(from, to);
        assert_ne!(bad, good);
        tuwtree_with_input("machine -", &bad).fails(1, &[message]);
    }
    tuwtree_with_input("machine -", "<topology/>").fails(1, &["no object of type Core"]);
    tuwtree_with_input("machine -", "hello").fails(1, &["not a machine document"]);
}
