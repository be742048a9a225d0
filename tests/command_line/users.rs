//! What users met who tried the program in their roles, each by the behaviour that they were to meet.

use crate::program::{json, tuwtree};
use serde_json::Value;

#[test]
fn with_order_ordered_and_by_default_only_trees_in_rank_order_are_listed() {
    let orders = |options: &str| {
        let all = json(&format!("optimize --dist spikes -p 20 --machine vsc3 --json {options}"));
        let rows = all["constructions"].as_array().unwrap().clone();
        let of = |row: &Value, name: &str| row[name].as_str().unwrap().to_owned();
        rows.iter().map(|row| (of(row, "construction"), of(row, "order"))).collect::<Vec<_>>()
    };
    for options in ["", "--order ordered"] {
        let listed = orders(options);
        assert!(listed.iter().all(|(_, order)| order == "ordered"), "{options}: {listed:?}");
    }
    assert!(orders("--order any").contains(&("graceful".into(), "any".into())));
    // What the best of the others would save is still said.
    let text = tuwtree("optimize --dist spikes -p 20 --machine vsc3").success();
    assert!(text.contains("In any order (--order any), graceful would take "), "{text}");
}

#[test]
fn of_equally_fast_trees_the_one_that_is_proven_best_is_recommended() {
    // Deadline trees happen to be optimal here.
    let all =
        json("optimize --dist random -p 40 --root 0 --gamma 0 --algorithm deadline,optimal --json");
    let rows = all["constructions"].as_array().unwrap();
    assert_eq!(rows[0]["completion_time"], rows[1]["completion_time"], "another example is needed");
    assert_eq!(all["recommended"], "optimal");
}
