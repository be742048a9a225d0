//! Each command for each operation that goes along no tree.

use crate::program::{folder, json, tuwtree, tuwtree_with_input, workspace_file};
use serde_json::{Value, json};

/// An operation with its data, a lower bound by hand at alpha = 10, beta = 1, and what is in a title.
const OPERATIONS: [(&str, &str, u64, &str); 7] = [
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
        assert!(compared.contains(&format!("Recommended: {recommended}.")), "{compared}");
        let advised = json(&format!("advise {arguments} --json --tolerance 0"));
        let time = advised["completion_time"].clone();
        assert!(time.as_f64().unwrap() >= bound as f64, "{advised}");

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
        assert_eq!(verified["messages"], evaluated["messages"]);
        assert_eq!(json(&format!("simulate {plan} --json"))["completion_time"], time);

        let picture = tuwtree(&format!("draw {plan}")).success();
        assert_eq!(picture, tuwtree(&format!("draw {plan} --picture timeline")).success());
        let document = roxmltree::Document::parse(&picture).unwrap();
        let says = |text: &str| {
            document.descendants().filter_map(|node| node.text()).any(|one| one.contains(text))
        };
        assert!(says(name) && says("lower bound"), "{name}: {picture}");

        let goal = tuwtree(&format!("export {plan} --format goal")).success();
        let sends = goal.lines().filter(|line| line.contains(": send ")).count();
        assert_eq!(verified["messages"], sends, "{name}");

        let operation = if arguments.contains("--vector") { "-b 24" } else { "-b 24 --rows 1" };
        let map = tuwtree(&format!("map --op {name} -p 6 {operation} --columns 1")).success();
        assert!(map.starts_with("operation,") && map.contains(&format!("\n{name},")), "{map}");
        assert!(map.contains(&format!(",{recommended},")), "{recommended} is nowhere in {map}");
    }
}

/// Measured times of an operation without a root.
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
    value["version"] = 5.into();
    value["root"] = 0.into();
    value["oversubscribed"] = false.into();
    value["series"] = json!([series("native", 2e-3), series("auto", 1e-3)]);
    value
}

#[test]
fn reports_of_operations_without_a_root_speak_of_none() {
    let folder = folder("report-rootless");
    for operation in ["allgather", "reduce-scatter"] {
        let times = measured(operation).to_string();
        let text = tuwtree_with_input("report -", &times).success();
        assert!(
            text.starts_with(&format!("{operation} over 4 processes on 1 nodes, Open MPI")),
            "{text}"
        );
        assert!(!text.contains("root") && text.contains("2.00"), "{text}");
        let csv = tuwtree_with_input("report - --format csv", &times).success();
        assert!(
            csv.lines().nth(1).unwrap().starts_with(&format!("{operation},4,,spikes,")),
            "{csv}"
        );
        for name in ["times.svg", "times.html"] {
            let path = folder.join(name);
            tuwtree_with_input(&format!("report - -o {}", path.display()), &times).success();
            let page = std::fs::read_to_string(path).unwrap();
            assert!(
                page.contains(&format!("{operation} over 4 processes: measured times")),
                "{page}"
            );
        }
    }
    tuwtree_with_input("report -", &measured("allreduce").to_string()).fails(1, &["operation"]);
}
