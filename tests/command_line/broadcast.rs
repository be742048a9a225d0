//! Broadcast and reduction on the command line: trees compared, written, judged and performed.

use crate::program::{folder, json, tuwtree, tuwtree_with_input, workspace_file};
use serde_json::Value;

fn machine(name: &str) -> String {
    workspace_file("data/machines").join(name).display().to_string()
}

/// The entries of a comparison for one construction.
fn entry<'a>(comparison: &'a Value, construction: &str) -> &'a Value {
    let all = comparison["constructions"].as_array().unwrap();
    let found = all.iter().find(|one| one["construction"] == construction);
    found.unwrap_or_else(|| panic!("no {construction} in {comparison}"))
}

#[test]
fn a_message_takes_120_and_five_ranks_three_rounds() {
    for operation in ["broadcast", "bcast", "reduce"] {
        let arguments = format!("optimize --op {operation} --vector 20 -p 5 --root 3");
        let text = tuwtree(&arguments).success();
        let name = if operation == "bcast" { "broadcast" } else { operation };
        assert!(
            text.starts_with(&format!(
                "{name} of a vector of 20 bytes over 5 processes, root 3; alpha = 100, beta = 1, \
                 gamma = 1\nlower bound on any tree with root 3: 360\n"
            )),
            "{text}"
        );
        assert!(text.contains("\nlinear         480         33 % "), "{text}");
        assert!(!text.contains("block"), "{text}");
        let comparison = json(&format!("{arguments} --certify --json"));
        assert_eq!(comparison["vector_bytes"], 20);
        assert_eq!(comparison["total_bytes"], Value::Null);
        for (construction, time) in [("linear", 480), ("oblivious", 360), ("optimal", 360)] {
            let one = entry(&comparison, construction);
            assert_eq!((&one["completion_time"], &one["root"]), (&time.into(), &3.into()));
            assert_eq!(one["rank_order"], true);
        }
        assert_eq!(entry(&comparison, "optimal")["certificate"], "it meets the lower bound");
    }
}

#[test]
fn a_million_ranks_take_twenty_rounds() {
    let comparison =
        json("optimize --op bcast --vector 1 -p 1000000 --algorithm oblivious,optimal --json");
    for construction in ["oblivious", "optimal"] {
        assert_eq!(entry(&comparison, construction)["completion_time"], 20 * 101);
    }
}

#[test]
fn what_is_left_out_says_why() {
    let text = tuwtree("optimize --op bcast --vector 8 -p 2000").success();
    assert!(text.contains("binary is left out: "), "{text}");
    let griffon = machine("griffon.toml");
    let arguments = format!("optimize --op reduce --vector 4096 --machine {griffon} --json");
    let comparison = json(&arguments);
    let skipped = comparison["skipped"].as_array().unwrap();
    let reason = |name: &str| {
        let one = skipped.iter().find(|one| one["construction"] == name);
        one.map(|one| one["reason"].as_str().unwrap().to_owned()).unwrap_or_default()
    };
    assert!(reason("graceful").contains("all vectors weigh the same"), "{comparison}");
    assert!(reason("minimum-first").contains("rank order"), "{comparison}");
    for one in comparison["constructions"].as_array().unwrap() {
        assert_eq!(one["rank_order"], true, "{one}");
    }
    // A broadcast needs no order, and an operator that commutes neither.
    let broadcast = json(&arguments.replace("reduce", "broadcast"));
    assert_eq!(entry(&broadcast, "minimum-first")["rank_order"], false);
    let named = tuwtree(&format!(
        "optimize --op reduce --vector 4096 --machine {griffon} --algorithm minimum-first"
    ))
    .success();
    let note = "minimum-first does not keep rank order: it is for operators that commute";
    assert!(named.contains(note), "{named}");
}

#[test]
fn costs_that_are_linear_piece_by_piece_are_searched_with_those_of_the_vector() {
    let griffon = machine("griffon.toml");
    for bytes in [1, 5000, 100_000] {
        for operation in ["broadcast", "reduce"] {
            let comparison = json(&format!(
                "optimize --op {operation} --vector {bytes} --machine {griffon} --json --certify"
            ));
            let best = entry(&comparison, "adjacent");
            let time = |one: &Value| one["completion_time"].as_f64().unwrap();
            for one in comparison["constructions"].as_array().unwrap() {
                assert!(one["rank_order"] == false || time(best) <= time(one), "{one}");
            }
            assert!(best["certificate"].is_string(), "{best}");
        }
    }
}

#[test]
fn every_construction_s_tree_is_judged_performed_and_verified_as_it_was_made() {
    let folder = folder("vectors");
    let tree = folder.join("tree.json").display().to_string();
    let griffon = format!("--machine {}", machine("griffon.toml"));
    for (costs, root) in [("-p 13", 0), ("-p 13 --alpha 7 --beta 0.5", 12), (&griffon, 40)] {
        for operation in ["broadcast", "reduce"] {
            // Without links of their own, pairs share their costs.
            let best = if costs.contains("machine") { "adjacent" } else { "optimal" };
            for construction in
                ["linear", "oblivious", "adaptive", "model-graceful", "binary", best]
            {
                let made = json(&format!(
                    "optimize --op {operation} --vector 999 {costs} --root {root} --json -o {tree} \
                     --algorithm {construction}"
                ));
                let made = entry(&made, construction);
                let judged = json(&format!("evaluate {tree} --json"));
                for field in ["completion_time", "root", "root_degree", "depth"] {
                    assert_eq!(made[field], judged[field], "{operation} {construction}");
                }
                assert_eq!(judged["operation"], operation);
                assert_eq!(judged["ordered"], made["rank_order"]);
                let simulated = json(&format!("simulate {tree} --json"));
                // Forwards, a broadcast's times are added in another order.
                let time = |one: &Value| one["completion_time"].as_f64().unwrap();
                let rounding = 1e-12 * time(made);
                assert!((time(&simulated) - time(made)).abs() <= rounding, "{simulated}");
                let verified = json(&format!("verify {tree} --json"));
                let in_order = operation == "broadcast" || made["rank_order"] == true;
                let keeps_order = verified["order"] == "ordered";
                assert_eq!(keeps_order, in_order, "{operation} {construction}: {verified}");
                assert_eq!(verified["copies"], 0);
            }
        }
    }
}

/// 1 <- 0 and 1 <- 2, with a vector of 7 bytes.
fn tree(operation: &str) -> String {
    format!(
        r#"{{"format":"tuwtree-tree","version":2,"processors":3,"root":1,"subtrees":[[],[0,1,2],[]],"problem":{{"operation":"{operation}","alpha":100,"beta_per_byte":1,"gamma_per_byte":1,"vector_bytes":7}}}}"#
    )
}

#[test]
fn vectors_are_shown_and_nobody_copies() {
    let shown = tuwtree_with_input("show -", &tree("broadcast")).success();
    assert_eq!(
        shown,
        "order ordered\n\n\
         1 (root)  vector for 0..=2  7 bytes  done at 214\n\
         ├─ 2      vector for 2      7 bytes     0 to 107\n\
         └─ 0      vector for 0      7 bytes   107 to 214\n\
         \n\
         from  to        vector  bytes  start  end\n\
         1      2  vector for 2      7      0  107\n\
         1      0  vector for 0      7    107  214\n"
    );
    let shown = tuwtree_with_input("show -", &tree("reduce")).success();
    assert!(shown.contains("\n1 (root)  vector of 0..=2  7 bytes  done at 214\n├─ 0"), "{shown}");
    let judged = tuwtree_with_input("evaluate -", &tree("reduce")).success();
    assert!(judged.contains("problem          reduce of a vector of 7 bytes; "), "{judged}");
    assert!(judged.contains("order            ordered, joining adjacent ranges"), "{judged}");
    // 0 <- 2, then 0 <- 1.
    let unordered = tree("reduce").replace(
        "\"root\":1,\"subtrees\":[[],[0,1,2],[]]",
        "\"root\":0,\"subtrees\":[[0,2,1],[],[]]",
    );
    let judged = tuwtree_with_input("evaluate -", &unordered).success();
    let fault = "direct: rank 0 holds what is of 0..=0 and then takes 2..=2, which is not adjacent; \
                 it is for operators that commute";
    assert!(judged.contains(fault), "{judged}");
}

#[test]
fn trees_of_vectors_are_exported_and_drawn() {
    for (format, message) in [("dot", "7"), ("goal", "send 7b to"), ("c", "MPI_Send_init")] {
        let exported = tuwtree_with_input(&format!("export - -f {format}"), &tree("broadcast"));
        let exported = exported.success();
        assert!(exported.contains(message), "{exported}");
    }
    for picture in ["tree", "timeline"] {
        let drawn = tuwtree_with_input(&format!("draw - --picture {picture}"), &tree("reduce"));
        assert!(drawn.success().starts_with("<svg"));
    }
    let page = tuwtree("compare --op reduce --vector 9 -p 9 --report -").success();
    assert!(page.contains("<dt>Vector</dt><dd>9 bytes</dd>"));
}

#[test]
fn a_vector_on_the_command_line_replaces_the_one_in_the_file() {
    let judged = tuwtree_with_input("evaluate - --vector 50 --alpha 1", &tree("broadcast"));
    assert!(judged.success().starts_with("completion time  102\n"));
    let bare =
        r#"{"format":"tuwtree-tree","version":1,"processors":2,"root":0,"subtrees":[[0,1],[]]}"#;
    let judged = tuwtree_with_input("evaluate - --vector 5", bare).success();
    assert!(judged.contains("broadcast of a vector of 5 bytes"), "{judged}");
}

#[test]
fn what_does_not_go_with_a_vector_is_refused() {
    for (arguments, messages) in [
        ("optimize --op broadcast", &["--vector <BYTES>"][..]),
        ("optimize --op bcast --dist same", &["--op: broadcast needs one vector size", "--vector"]),
        ("optimize --vector 5", &["gather needs block sizes", "--dist"]),
        ("optimize --op scatter --vector 5 -p 3", &["scatter needs block sizes"]),
        ("optimize --op bcast --vector 5 --dist same", &["--vector", "cannot be used with"]),
        ("optimize --op bcast --vector 5 --sizes -", &["--vector", "cannot be used with"]),
        ("optimize --op bcast --vector -5", &["-5"]),
        ("optimize --op bcast --vector 1.5", &["1.5"]),
        ("optimize --op bcast --vector 5 -p 0", &["-p: 0 processes are outside 1..=100000000"]),
        ("optimize --op bcast --vector 5 -p 3 --root 3", &["root 3 is outside 0..3"]),
        ("optimize --op bcast --vector 5 -b 7", &["-b", "--vector"]),
        ("optimize --op bcast --vector 5 --seed 7", &["--seed", "--vector"]),
        ("optimize --op sort --vector 5", &["sort", "broadcast", "reduce"]),
    ] {
        tuwtree(arguments).fails(2, messages);
    }
    for (arguments, messages) in [
        ("--algorithm optimal-dense", &["the dense method is for gather and scatter", "`optimal`"]),
        ("--algorithm adjacent-runs", &["the runs method is for gather and scatter", "`adjacent`"]),
        ("--algorithm binary-dense", &["the dense method is for gather and scatter", "`binary`"]),
        ("--algorithm graceful", &["all vectors", "weigh the same"]),
    ] {
        tuwtree(&format!("optimize --op bcast -p 9 --vector 5 {arguments}")).fails(1, messages);
    }
    // Times that are no exact integers.
    tuwtree("optimize --op bcast -p 9 --vector 18446744073709551615").fails(1, &["exact"]);
    for (arguments, messages) in [
        ("evaluate - --dist same", &["broadcast needs one vector size"][..]),
        ("show - --vector 5 -p 4", &["the tree has 3 processes", "4"]),
    ] {
        tuwtree_with_input(arguments, &tree("broadcast")).fails(2, messages);
    }
    let machine = machine("asymmetric.toml");
    tuwtree(&format!("optimize --op bcast --vector 5 -p 5 --machine {machine}"))
        .fails(1, &["the machine is for 4 processes, but the problem has 5"]);
}
