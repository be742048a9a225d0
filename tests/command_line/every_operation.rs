//! Each command for each operation, along trees and without.

use crate::program::{folder, json, tuwtree, tuwtree_with_input, workspace_file};
use serde_json::{Value, json};
use tuwtree_model::{ClosedSet, Operation};

/// An operation with its data, a lower bound by hand at alpha = 10, beta = 1, and what is in a title.
const OPERATIONS: [(&str, &str, u64, &str); 11] = [
    // The root receives, or sends, 24 - 5 bytes, and copies 5.
    ("gather --sizes SIZES --root 0", "gather", 34, "gather of 24 bytes over 6 processes, root 0"),
    (
        "scatter --sizes SIZES --root 0",
        "scatter",
        34,
        "scatter of 24 bytes over 6 processes, root 0",
    ),
    (
        "broadcast --vector 24 -p 6 --root 0",
        "broadcast",
        102,
        "broadcast of a vector of 24 bytes over 6 processes, root 0",
    ),
    (
        "reduce --vector 24 -p 6 --root 0",
        "reduce",
        102,
        "reduce of a vector of 24 bytes over 6 processes, root 0",
    ),
    // Somebody receives 24 - 1 bytes.
    ("allgather --sizes SIZES", "allgather", 33, "allgather of 24 bytes over 6 processes"),
    (
        "reduce-scatter --sizes SIZES",
        "reduce-scatter",
        33,
        "reduce-scatter of 24 bytes over 6 processes",
    ),
    // Each byte is sent 2 * 5 times by 6 ranks.
    (
        "allreduce --vector 24 -p 6",
        "allreduce",
        50,
        "allreduce of a vector of 24 bytes over 6 processes",
    ),
    (
        "broadcast --cut --vector 24 -p 6 --root 0",
        "broadcast",
        34,
        "broadcast of a vector of 24 bytes over 6 processes",
    ),
    (
        "reduce --cut --vector 24 -p 6 --root 0",
        "reduce",
        34,
        "reduce of a vector of 24 bytes over 6 processes",
    ),
    // Rank 2 sends 7 bytes to each of 5.
    ("alltoall --sizes SIZES", "alltoall", 45, "alltoall of 144 bytes over 6 processes"),
    (
        "intergroup-allgather --sizes SIZES --sizes-remote SIZES",
        "intergroup-allgather",
        34,
        "intergroup-allgather of 24 bytes of 6 and 24 of 6 over 12 processes",
    ),
];

#[test]
fn every_command_takes_every_operation() {
    let folder = folder("every-operation");
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let sizes = path("sizes.txt");
    std::fs::write(&sizes, "5\n1\n7\n3\n2\n6\n").unwrap();
    let plan = path("plan.json");
    for (arguments, name, bound, title) in OPERATIONS {
        let arguments = format!("--op {} --alpha 10", arguments.replace("SIZES", &sizes));
        let optimized = json(&format!("optimize {arguments} --json"));
        assert_eq!(optimized["operation"], name);
        assert!(optimized["lower_bound"].as_f64().unwrap() >= bound as f64, "{optimized}");
        let recommended = optimized["recommended"].as_str().unwrap().to_owned();
        tuwtree(&format!("optimize {arguments} -o {plan}")).success();

        let compared = tuwtree(&format!("compare {arguments}")).success();
        assert!(compared.contains(title), "{compared}");
        // A tree says in brackets how it was found.
        let recommends = |end| compared.contains(&format!("Recommended: {recommended}{end}"));
        assert!(recommends(".") || recommends(" ("), "{compared}");
        let advised = json(&format!("advise {arguments} --json"));
        let time = advised["completion_time"].clone();
        assert!(time.as_f64().unwrap() >= bound as f64, "{advised}");

        let is_tree = std::fs::read_to_string(&plan).unwrap().contains("tuwtree-tree");
        assert_eq!(is_tree, title.contains("root 0"), "{name}");
        let evaluated = json(&format!("evaluate {plan} --json"));
        assert_eq!((&evaluated["operation"], &evaluated["completion_time"]), (&name.into(), &time));
        assert_eq!(evaluated["lower_bound"], optimized["lower_bound"], "{name}");
        let text = tuwtree(&format!("evaluate {plan}")).success();
        assert!(text.starts_with("completion time  "), "{text}");
        assert!(text.contains(&format!("\nproblem          {name} of ")), "{text}");
        let slower = json(&format!("evaluate {plan} --alpha 1000 --json"));
        assert!(slower["completion_time"].as_f64() > time.as_f64());

        let verified = json(&format!("verify {plan} --json"));
        assert_eq!((&verified["is_correct"], &verified["operation"]), (&true.into(), &name.into()));
        assert!(is_tree || verified["messages"] == evaluated["messages"], "{evaluated}");
        assert_eq!(json(&format!("simulate {plan} --json"))["completion_time"], time);

        let timeline = tuwtree(&format!("draw {plan} --picture timeline")).success();
        let document = roxmltree::Document::parse(&timeline).unwrap();
        let says = |text: &str| {
            document.descendants().filter_map(|node| node.text()).any(|one| one.contains(text))
        };
        assert!(says(name) && says("lower bound"), "{name}: {timeline}");
        let picture = tuwtree(&format!("draw {plan}")).success();
        assert_eq!(picture != timeline, is_tree, "{name}: trees are drawn as trees");
        match is_tree {
            true => assert!(roxmltree::Document::parse(&picture).is_ok()),
            false => {
                tuwtree(&format!("draw {plan} --picture tree"))
                    .fails(1, &["not along a tree", "--picture timeline"]);
            }
        }

        let goal = tuwtree(&format!("export {plan} --format goal")).success();
        let sends = goal.lines().filter(|line| line.contains(": send ")).count();
        assert_eq!(verified["messages"], sends, "{name}");

        let page = path("page.html");
        tuwtree(&format!("compare {arguments} --report {page}")).success();
        let page = std::fs::read_to_string(page).unwrap();
        assert!(page.contains(title) && page.contains(&recommended), "{name}");

        let cut = if arguments.contains("--cut") { "--cut" } else { "" };
        let data = if arguments.contains("--vector") { "-b 24" } else { "-b 24 --rows 1" };
        let map = tuwtree(&format!("map --op {name} {cut} -p 6 {data} --columns 1")).success();
        if name == "gather" || name == "scatter" {
            assert!(map.starts_with("root,") && map.contains(",lower_bound,"), "{map}");
            continue;
        }
        assert!(map.starts_with("operation,") && map.contains(&format!("\n{name},")), "{map}");
        assert!(is_tree || map.contains(&format!(",{recommended},")), "{recommended} not in {map}");
    }
}

/// Measured times of an operation.
fn measured(operation: &str) -> Value {
    let text = std::fs::read_to_string(workspace_file("data/measurements/two-cores.json")).unwrap();
    let mut value: Value = serde_json::from_str(&text).unwrap();
    let series = |algorithm: &str, seconds: f64| {
        json!({
            "distribution": "spikes", "mean_block": 100, "total_bytes": 1616, "largest_block_bytes": 1600,
            "algorithm": algorithm, "planning_seconds": 0.0, "seconds": [seconds, seconds * 1.1, seconds * 0.9],
        })
    };
    value["operation"] = operation.into();
    value["version"] = 7.into();
    value["root"] = 0.into();
    value["oversubscribed"] = false.into();
    let other = match operation {
        "broadcast" | "reduce" => "circulant-pieces-eager",
        "allreduce" => "ring-strict",
        "intergroup-allgather" => "shares-eager",
        _ => "auto",
    };
    let mut series = json!([series("native", 2e-3), series(other, 1e-3)]);
    if operation == "intergroup-allgather" {
        value["remote_ranks"] = 1.into();
    }
    if ["broadcast", "reduce", "allreduce"].contains(&operation) {
        for one in series.as_array_mut().unwrap() {
            one["distribution"] = "same".into();
            one["total_bytes"] = 1600.into();
        }
    }
    value["series"] = series;
    value
}

#[test]
fn reports_of_every_operation_name_it_and_its_root_or_groups() {
    let folder = folder("report-every");
    for operation in Operation::all().map(Operation::name) {
        let place = match operation {
            "gather" | "scatter" | "broadcast" | "reduce" => ", root 0",
            "intergroup-allgather" => ", groups of 3 and 1",
            _ => "",
        };
        let has_root = place == ", root 0";
        let times = measured(operation).to_string();
        let text = tuwtree_with_input("report -", &times).success();
        let beginning = format!("{operation} over 4 processes on 1 nodes{place}, Open MPI");
        assert!(text.starts_with(&beginning), "{text}");
        assert!(text.contains("root") == has_root && text.contains("0.50x"), "{text}");
        let has_no_blocks = ["broadcast", "reduce", "allreduce", "intergroup-allgather"];
        assert_eq!(text.contains("GL1"), !has_no_blocks.contains(&operation), "{text}");
        let csv = tuwtree_with_input("report - --format csv", &times).success();
        let root = if has_root { "0" } else { "" };
        let row = csv.lines().nth(1).unwrap();
        let blocks = measured(operation)["series"][0]["distribution"].as_str().unwrap().to_owned();
        assert!(row.starts_with(&format!("{operation},4,{root},{blocks},")), "{csv}");
        for name in ["times.svg", "times.html"] {
            let path = folder.join(name);
            tuwtree_with_input(&format!("report - -o {}", path.display()), &times).success();
            let page = std::fs::read_to_string(path).unwrap();
            let title = format!("{operation} over 4 processes{place}: measured times");
            assert!(page.contains(&title), "{page}");
        }
    }
    let mut without_groups = measured("intergroup-allgather");
    without_groups["remote_ranks"] = 0.into();
    tuwtree_with_input("report -", &without_groups.to_string())
        .fails(1, &["intergroup-allgather over 4 processes with 0 of them in a second group"]);
    let mut blocks = measured("allreduce");
    blocks["series"][1]["distribution"] = "spikes".into();
    tuwtree_with_input("report -", &blocks.to_string())
        .fails(1, &["series 1: a vector is one block"]);
    let mut old = measured("broadcast");
    old["version"] = 6.into();
    tuwtree_with_input("report -", &old.to_string()).fails(1, &["version 6 has no broadcasts"]);
}

#[test]
fn maps_cut_only_what_moves_one_vector_from_or_to_a_root() {
    let whole = tuwtree("map --op reduce -p 6 -b 24 --columns 1").success();
    assert_eq!(tuwtree("map --op reduce --cut -p 6 -b 24 --columns 1").success(), whole);
    tuwtree("map --op allreduce --cut -p 6 -b 24").fails(2, &["--cut", "broadcast and reduce"]);
}

#[test]
fn sweeps_take_blocks_for_operations_that_move_something_else() {
    // An allreduce of 4 * 8 bytes at alpha 10: bytes are sent 2 * 3 times by 4; an alltoall sends 3 * 8,
    // and an allgather receives them in two messages.
    for (operation, bound) in [("allreduce", "58"), ("alltoall", "34"), ("allgather", "44")] {
        let csv = tuwtree(&format!("sweep --op {operation} -p 4 -b 8 --dist same --alpha 10"));
        let csv = csv.success();
        let names = csv.lines().next().unwrap().split(',');
        let column = names.into_iter().position(|name| name == "lower_bound").unwrap();
        let rows: Vec<&str> = csv.lines().skip(1).collect();
        assert!(rows.len() > 2, "{csv}");
        for row in rows {
            assert_eq!(row.split(',').nth(column), Some(bound), "{operation}: {csv}");
        }
    }
}
