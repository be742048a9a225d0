//! Operators of reductions on the command line: shown, and changed where schedules are judged.

use crate::program::{folder, json, tuwtree};

#[test]
fn what_combining_takes_and_elements_are_shown() {
    let problem = "--op allreduce --vector 96 -p 5 --alpha 10 --combine 2 --element 8";
    for command in ["compare", "advise"] {
        let text = tuwtree(&format!("{command} {problem}")).success();
        assert!(text.contains("gamma = 1, kappa = 2, elements of 8 bytes\n"), "{text}");
    }
    let comparison = json(&format!("compare {problem} --json"));
    assert_eq!(
        (&comparison["combine_per_byte"], &comparison["element_bytes"]),
        (&2.into(), &8.into())
    );
    let text = tuwtree("compare --op allreduce --vector 96 -p 5").success();
    assert!(!text.contains("kappa") && !text.contains("elements of"), "{text}");
    let allgather = json("compare --op allgather --bytes 8 -p 5 --json");
    assert_eq!(allgather.get("combine_per_byte"), None);
}

#[test]
fn schedules_are_judged_at_another_combine_cost() {
    let plan = folder("operators").join("plan.json");
    let plan = plan.to_str().unwrap();
    let problem = "--op allreduce --vector 96 -p 8 --alpha 10 --algorithm circulant --element 8";
    tuwtree(&format!("optimize {problem} --combine 2 -o {plan}")).success();
    for (given, combine) in [("", "2"), ("--combine 3", "3")] {
        let planned = json(&format!("compare {problem} --combine {combine} --json"));
        let time = &planned["constructions"][0]["completion_time"];
        for command in ["evaluate", "simulate"] {
            let judged = json(&format!("{command} {plan} {given} --json"));
            assert_eq!(&judged["completion_time"], time, "{command} {given}");
            assert_eq!(judged["combine_per_byte"], planned["combine_per_byte"]);
            assert_eq!(judged["element_bytes"], 8);
            let text = tuwtree(&format!("{command} {plan} {given}")).success();
            assert!(text.contains(&format!("kappa = {combine}, elements of 8 bytes")), "{text}");
        }
    }
    for (arguments, message) in [
        (format!("evaluate {plan} --combine 1ns"), "--combine has a unit"),
        (format!("simulate {plan} --combine -1"), "finite numbers of at least 0"),
    ] {
        tuwtree(&arguments).fails(2, &[message]);
    }
}

#[test]
fn combine_costs_are_refused_where_nothing_is_combined() {
    let folder = folder("operators-refused");
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let (plan, tree) = (path("plan.json"), path("tree.json"));
    tuwtree(&format!("optimize --op allgather --bytes 8 -p 5 -o {plan}")).success();
    tuwtree(&format!("optimize --op reduce --vector 8 -p 5 -o {tree}")).success();
    for command in ["evaluate", "simulate"] {
        let message = "--combine: allgather has no operator";
        tuwtree(&format!("{command} {plan} --combine 1")).fails(2, &[message]);
    }
    tuwtree(&format!("evaluate {tree} --combine 1")).fails(2, &["--combine is for schedules"]);
}

#[test]
fn a_comparison_of_two_groups_says_how_many_each_has() {
    let folder = folder("operators-groups");
    let file = |name: &str, text: &str| {
        let file = folder.join(name);
        std::fs::write(&file, text).unwrap();
        file.to_str().unwrap().to_owned()
    };
    let (first, second) = (file("first.txt", "4 4 4"), file("second.txt", "4 4"));
    let problem = format!("--op intergroup-allgather --sizes {first} --sizes-remote {second}");
    let comparison = json(&format!("compare {problem} --json"));
    assert_eq!(comparison["groups"], serde_json::json!([3, 2]));
}
