//! Several ports on the command line.

use crate::program::{folder, tuwtree, tuwtree_with_input};
use serde_json::Value;

/// Rank 1 receives block 0 in 102, copies in 1, receives block 2 in 104.
const TREE: &str = r#"{"format":"tuwtree-tree","version":1,"processors":3,"root":1,"subtrees":[[],[0,1,2],[]],"problem":{"operation":"gather","alpha":100,"beta_per_byte":1,"gamma_per_byte":1,"block_sizes_bytes":[2,1,4]}}"#;

#[test]
fn evaluate_and_simulate_agree_on_the_time_with_several_ports() {
    for (ports, time) in [("1", "207"), ("2", "105"), ("3", "104"), ("65535", "104")] {
        for command in ["evaluate", "simulate"] {
            let arguments = format!("{command} - --ports {ports}");
            let text = tuwtree_with_input(&arguments, TREE).success();
            assert!(text.starts_with(&format!("completion time  {time}\n")), "{ports}: {text}");
        }
    }
    let json = tuwtree_with_input("evaluate - --ports 2 --json", TREE).success();
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["ports"], &json["lower_bound"]), (&2.into(), &104.into()));
}

#[test]
fn a_tree_with_ports_is_exported_verified_and_simulated_as_a_schedule() {
    let schedule = tuwtree_with_input("export - -f json --ports 2", TREE).success();
    assert!(schedule.contains("\"ports\":2"), "{schedule}");
    let of_schedule = tuwtree_with_input("simulate -", &schedule).success();
    assert_eq!(tuwtree_with_input("simulate - --ports 2", TREE).success(), of_schedule);
    assert!(tuwtree_with_input("verify -", &schedule).success().ends_with("ports      2\n"));
    assert!(tuwtree_with_input("verify - --ports 2", TREE).success().ends_with("ports      2\n"));
    for command in ["simulate", "verify", "export -f dot", "draw"] {
        tuwtree_with_input(&format!("{command} --ports 2 -"), &schedule)
            .fails(2, &["standard input", "--ports is for trees"]);
    }
}

#[test]
fn ports_are_dealt_by_the_costs_that_are_given() {
    // Without latency: port 0 until 2, port 1 until 100 and then until 104; or the copy in 1, then 5.
    for (gamma, time) in [("100", "100"), ("1", "5")] {
        let costs = format!("--alpha 0 --beta 1 --gamma {gamma} --ports 2");
        for command in ["evaluate", "simulate"] {
            let text = tuwtree_with_input(&format!("{command} - {costs}"), TREE).success();
            assert!(text.starts_with(&format!("completion time  {time}\n")), "{text}");
        }
    }
}

#[test]
fn exports_take_ports_or_refuse_them() {
    let goal = tuwtree_with_input("export - -f goal --ports 2", TREE).success();
    // The second receive waits for the copy, which has its port, and not for the first receive.
    assert!(goal.contains("r2 requires c1") && !goal.contains("r2 requires r0"), "{goal}");
    let c = tuwtree_with_input("export - -f c --ports 2", TREE).success();
    assert!(c.contains("ports: 2"), "{c}");
    let dot =
        |ports| tuwtree_with_input(&format!("export - -f dot --ports {ports}"), TREE).success();
    assert_eq!(dot(1), dot(2));
    let folder = folder("smpi-ports");
    let arguments = format!("export - -f smpi --ports 2 -o {}", folder.join("replay").display());
    tuwtree_with_input(&arguments, TREE).fails(1, &["2 ports", "one-ported"]);
}

#[test]
fn messages_are_shown_and_drawn_with_their_ports() {
    let shown = tuwtree_with_input("show - --ports 2", TREE).success();
    assert!(shown.contains("end  port"), "{shown}");
    assert!(!tuwtree_with_input("show -", TREE).success().contains("port"));
    let timeline = tuwtree_with_input("draw - --picture timeline --ports 2", TREE).success();
    assert!(timeline.contains("all 2 ports of all processes"), "{timeline}");
    assert!(tuwtree_with_input("draw - --ports 2", TREE).success().contains("; 2 ports"));
}

#[test]
fn the_shares_of_busy_time_are_of_all_ports() {
    let text = tuwtree_with_input("simulate - --ports 2", TREE).success();
    // (102 + 1 + 104) / (2 * 105)
    let root = text.lines().find(|line| line.starts_with("1 ")).unwrap();
    assert_eq!(root.split_whitespace().collect::<Vec<_>>(), ["1", "3", "98.6", "0.0", "105"]);
}

#[test]
fn trees_for_several_ports_are_compared() {
    let text =
        tuwtree("optimize --dist random -p 8 --root 3 --ports 2 --order any --json").success();
    let json: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["ports"], 2);
    let time = |name: &str| {
        let all = json["constructions"].as_array().unwrap();
        let one = all.iter().find(|one| one["construction"] == name);
        one.unwrap_or_else(|| panic!("{name} is there"))["completion_time"].as_f64().unwrap()
    };
    // With unpacking at the root, exact takes longer.
    assert_eq!(json["recommended"], "linear");
    assert!(json["lower_bound"].as_f64().unwrap() <= time("exact"));
    for name in ["linear", "adaptive", "optimal", "knomial", "hybrid", "greedy"] {
        assert!(time("exact") <= time(name), "{name}");
    }
    // With one port, they are not among all.
    let one = tuwtree("optimize --dist random -p 8 --root 3 --order any").success();
    assert!(!one.contains("knomial") && !one.contains("hybrid"), "{one}");
    let ordered = tuwtree("optimize --dist random -p 8 --root 3 --ports 2").success();
    assert!(ordered.contains("knomial") && !ordered.contains("hybrid"), "{ordered}");
}

#[test]
fn what_has_one_port_or_no_proof_is_refused() {
    tuwtree("optimize --vector 100 --op broadcast -p 8 --ports 2")
        .fails(2, &["--ports 2", "broadcast", "one port"]);
    tuwtree("optimize --dist same -p 8 --ports 2 --certify").fails(2, &["--certify", "one port"]);
    tuwtree("optimize --dist same -p 10 --ports 2 --algorithm exact")
        .fails(1, &["10 processes", "at most 9"]);
    tuwtree("optimize --dist same -p 10 --ports 0").fails(2, &["--ports"]);
    tuwtree("optimize --dist same -p 10 --ports 65536").fails(2, &["--ports"]);
}
