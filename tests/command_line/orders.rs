//! Trees of any order, compared, judged and written.

use crate::program::{folder, tuwtree, tuwtree_with_input};
use serde_json::Value;

fn optimize_json(arguments: &str) -> Value {
    serde_json::from_str(&tuwtree(&format!("optimize --json {arguments}")).success()).unwrap()
}

fn names(comparison: &Value) -> Vec<&str> {
    let constructions = comparison["constructions"].as_array().unwrap();
    constructions.iter().map(|one| one["construction"].as_str().unwrap()).collect()
}

/// The entry of a construction.
fn entry<'a>(comparison: &'a Value, name: &str) -> &'a Value {
    let constructions = comparison["constructions"].as_array().unwrap();
    constructions.iter().find(|one| one["construction"] == name).unwrap()
}

const ORDERED: [&str; 6] = ["linear", "oblivious", "adaptive", "binary", "optimal", "adjacent"];

/// Root 0 receives blocks 1 and 3 in one message, and then block 2, between them.
const WITH_A_GAP: &str = r#"{"format":"tuwtree-tree","version":3,"processors":4,"root":0,
    "order":"any","subtrees":[[0,1,2],[1,3],[],[]],"problem":{"operation":"gather","alpha":10,
    "beta_per_byte":1,"gamma_per_byte":2,"block_sizes_bytes":[9,5,7,3]}}"#;

#[test]
fn the_order_says_which_trees_are_compared() {
    let of = |options: &str| optimize_json(&format!("--dist random -p 12 --root 3 {options}"));
    assert_eq!(names(&of("")), ORDERED);
    assert_eq!(names(&of("--order ordered")), ORDERED);
    assert_eq!(names(&of("--order direct")), [&ORDERED[..], &["direct"]].concat());
    let any = ["direct", "doubling", "greedy", "sorted", "searched", "exact"];
    assert_eq!(names(&of("--order any")), [&ORDERED[..], &any].concat());
    // Two block sizes, few ranks with large blocks: also two-block, and exact however many.
    let two = optimize_json("--dist two-blocks -p 100 --root 3 --order any");
    assert!(names(&two).contains(&"two-block") && names(&two).contains(&"exact"));
    // Nothing of this is for vectors.
    let vector = optimize_json("--op broadcast --vector 100 -p 12 --order any");
    assert_eq!(names(&vector), ORDERED[..5]);
}

#[test]
fn every_tree_can_be_named_whatever_the_order() {
    let names_given = "direct two-block doubling greedy sorted searched exact";
    for order in ["ordered", "direct", "any"] {
        let comparison = optimize_json(&format!(
            "--dist alternating -p 14 --root 5 --order {order} --algorithm {names_given}"
        ));
        assert_eq!(names(&comparison).join(" "), names_given);
        for one in comparison["constructions"].as_array().unwrap() {
            assert_eq!(one["root"], 5);
        }
    }
}

#[test]
fn optima_are_called_so_only_where_that_is_certain() {
    let comparison = optimize_json("--dist random -p 12 --root 3 --alpha 1000 --order any");
    let time = |name: &str| entry(&comparison, name)["completion_time"].as_f64().unwrap();
    let bound = comparison["lower_bound"].as_f64().unwrap();
    for one in comparison["constructions"].as_array().unwrap() {
        let own = one["completion_time"].as_f64().unwrap();
        assert!(bound <= time("exact") && time("exact") <= own);
        let among = match own {
            _ if own == time("exact") => Value::from("all"),
            _ if one["construction"] == "optimal" => Value::from("ordered"),
            // In this problem none of the others joins ranges as fast as these.
            _ if one["construction"] == "adjacent" && own > time("optimal") => {
                Value::from("adjacent")
            }
            _ if own > time("optimal") => Value::Null,
            _ => one["optimal_among"].clone(),
        };
        assert_eq!(one["optimal_among"], among, "{one}");
        assert_eq!(one["gap_percent"], 100.0 * (own - bound) / bound);
        assert_eq!(one["gap_alphas"], (own - bound) / 1000.0);
    }
    assert!(time("exact") < time("optimal"));
    // Without `exact`, the bound does not tell.
    let searched = optimize_json("--dist random -p 12 --root 3 --alpha 1000 --algorithm searched");
    assert_eq!(entry(&searched, "searched")["completion_time"], time("exact"));
    assert_eq!(entry(&searched, "searched")["optimal_among"], Value::Null);
    // With many ranks and a low latency, it does.
    let many = optimize_json("--dist skewed --root 1000 --algorithm greedy,optimal");
    assert_eq!(entry(&many, "greedy")["optimal_among"], "all");
    assert_eq!(entry(&many, "greedy")["completion_time"], many["lower_bound"]);
    assert_eq!(entry(&many, "optimal")["optimal_among"], "ordered");
}

#[test]
fn recommendations_say_what_they_are_the_best_of() {
    let of = |options: &str| tuwtree(&format!("optimize --dist random -p 12 {options}")).success();
    let all = of("--root 3 --alpha 1000 --algorithm exact");
    assert!(all.contains("\nIt is optimal among all trees.\n"), "{all}");
    let ordered = of("--root 3 --alpha 1000");
    let sentence = "\nIt is optimal among all ordered trees; \
                    at most 7.442 % above the best of all trees.\n";
    assert!(ordered.contains(sentence), "{ordered}");
    let neither = of("--root 3 --alpha 1000 --algorithm doubling");
    assert!(
        neither.contains("\nIt is at most 14.884 % above the best of all trees.\n"),
        "{neither}"
    );
    let rounded = of("--root 3 --alpha 0.1 --algorithm exact");
    assert!(rounded.contains("\nIt is optimal among all trees, up to rounding.\n"), "{rounded}");
}

#[test]
fn what_unpacking_takes_stands_beside_what_datatypes_take() {
    // The message 1, 3 is unpacked: 8 bytes at gamma 2.
    let judged = tuwtree_with_input("evaluate -", WITH_A_GAP).success();
    let times = "with derived datatypes at the root: 58; with an unpack step there: 58 + 16 = 74";
    assert!(judged.contains("completion time  58\n"), "{judged}");
    assert!(judged.contains(&format!("rank order       {times}\n")), "{judged}");
    assert!(judged.contains("order            any: rank 1 holds what is of 3..=3"), "{judged}");
    let shown = tuwtree_with_input("show -", WITH_A_GAP).success();
    assert!(shown.starts_with(&format!("order any; {times}\n")), "{shown}");
    let json = tuwtree_with_input("evaluate - --json", WITH_A_GAP).success();
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["completion_time_with_unpacking"], 74);
    assert_eq!((&json["order"], &json["ordered"]), (&"any".into(), &false.into()));
    let scatter = WITH_A_GAP.replace("gather", "scatter");
    let judged = tuwtree_with_input("evaluate -", &scatter).success();
    assert!(judged.contains("with a pack step there: 58 + 16 = 74"), "{judged}");
}

#[test]
fn a_comparison_recommends_the_fastest_once_blocks_are_unpacked() {
    let problem = "--dist skewed --root 1000 --order any";
    let text = tuwtree(&format!("optimize {problem}")).success();
    assert!(text.contains("construction      time  with unpack    order  vs library"), "{text}");
    // Of 2002395 without unpacking, greedy takes 401994 more with it.
    assert!(text.contains("\nRecommended: optimal"), "{text}");
    let comparison = optimize_json(problem);
    for one in comparison["constructions"].as_array().unwrap() {
        let with = one["completion_time_with_unpacking"].as_f64().unwrap();
        let without = one["completion_time"].as_f64().unwrap();
        assert!(with >= without && (with == without || one["order"] == "any"), "{one}");
    }
    assert_eq!(entry(&comparison, "direct")["order"], "direct");
    let folder = folder("unpacked");
    let page = folder.join("page.html");
    let page = page.to_str().unwrap();
    tuwtree(&format!("compare --dist skewed -p 40 --root 20 --order any --report {page}"))
        .success();
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("with unpack") && page.contains("above bound"));
    assert!(page.contains("Its tree is not in rank order") || page.contains("It is optimal among"));
}

/// 40 ranks, of which 20 receives from 21, then from 23, and from 22 between them, and from all others.
fn star_with_a_gap() -> String {
    let others = (24..40).chain((0..20).rev());
    let children: Vec<usize> = [20, 21, 23, 22].into_iter().chain(others).collect();
    let subtree = |rank| if rank == 20 { children.clone() } else { Vec::new() };
    let subtrees: Vec<Vec<usize>> = (0..40).map(subtree).collect();
    serde_json::json!({
        "format": "tuwtree-tree", "version": 3, "processors": 40, "root": 20, "order": "direct",
        "subtrees": subtrees,
        "problem": {
            "operation": "gather", "alpha": 100, "beta_per_byte": 1, "gamma_per_byte": 1,
            "block_sizes_bytes": vec![5; 40],
        },
    })
    .to_string()
}

#[test]
fn documents_and_schedules_state_the_order_of_their_trees() {
    let folder = folder("orders");
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    for (options, order) in [
        ("a star", "direct"),
        ("--dist random -p 40 --root 20 --algorithm greedy", "any"),
        ("--dist random -p 40 --root 20 --algorithm optimal", "ordered"),
    ] {
        let (tree, schedule) = (path("tree.json"), path("schedule.json"));
        match options {
            "a star" => std::fs::write(&tree, star_with_a_gap()).unwrap(),
            _ => drop(tuwtree(&format!("optimize {options} -o {tree}")).success()),
        }
        let document: Value =
            serde_json::from_str(&std::fs::read_to_string(&tree).unwrap()).unwrap();
        if order == "ordered" {
            assert_eq!(document.get("order"), None);
        } else {
            assert_eq!(&document["order"], order);
        }
        tuwtree(&format!("export {tree} --format json -o {schedule}")).success();
        let written: Value =
            serde_json::from_str(&std::fs::read_to_string(&schedule).unwrap()).unwrap();
        assert_eq!(written["order"], order);
        for file in [&tree, &schedule] {
            let verified = tuwtree(&format!("verify {file}")).success();
            assert!(verified.contains(&format!("\norder      {order}\n")), "{verified}");
            let simulated = tuwtree(&format!("simulate {file}")).success();
            assert!(
                simulated.contains(&format!("root 20; order {order}, 1 port\n")),
                "{simulated}"
            );
            for picture in ["tree", "timeline"] {
                let drawn = tuwtree(&format!("draw {file} --picture {picture}")).success();
                assert!(drawn.contains(&format!("root 20, order {order}</")), "{picture}");
            }
        }
        assert!(tuwtree(&format!("show {tree}")).success().starts_with(&format!("order {order}")));
    }
}

#[test]
fn a_document_that_claims_too_much_order_is_refused() {
    let claims = WITH_A_GAP.replace("\"any\"", "\"direct\"");
    for command in ["evaluate", "show", "verify", "simulate", "draw"] {
        tuwtree_with_input(&format!("{command} -"), &claims)
            .fails(1, &["\"order\" is \"direct\"", "no more than \"any\"", "rank 1"]);
    }
}

#[test]
fn the_local_search_is_the_same_each_time_and_its_options_are_checked() {
    let of = |options: &str| {
        let problem = "--dist random -p 30 --root 3 --alpha 3000 --algorithm searched";
        let comparison = optimize_json(&format!("{problem} {options}"));
        entry(&comparison, "searched")["completion_time"].as_f64().unwrap()
    };
    assert_eq!(of(""), of("--search-steps 100 --search-seed 1"));
    assert_eq!(of("--search-seed 5"), of("--search-seed 5"));
    assert!(of("--search-steps 400") <= of("") && of("") <= of("--search-steps 0"));
    // Time for nothing but the first order.
    assert_eq!(of("--search-seconds 0"), of("--search-steps 0"));
    assert_eq!(of("--search-seconds 1000 --search-steps 30"), of("--search-steps 30"));
    for (options, message) in [
        ("--search-steps 1000001", "0..=1000000"),
        ("--search-seconds -1", "--search-seconds"),
        ("--search-seconds never", "a number of seconds"),
        ("--search-seed x", "--search-seed"),
        ("--order none", "ordered, direct, any"),
    ] {
        tuwtree(&format!("optimize --dist same {options}")).fails(2, &[message]);
    }
}

#[test]
fn what_does_not_suit_is_left_out_or_refused_with_its_reason() {
    let text = |options: &str| tuwtree(&format!("optimize {options}")).success();
    // 17 distinct sizes beside the root's are too many unasked, and 19 at all.
    let unasked = text("--dist random -p 18 --root 3 --order any");
    let reason = "exact is left out: it would take 129140163 steps, more than 43046721, which do for \
                  16 blocks of distinct sizes beside the root's, or more where sizes repeat; name it";
    assert!(unasked.contains(reason), "{unasked}");
    assert_eq!(names(&optimize_json("--dist random -p 18 --root 3 --algorithm exact")), ["exact"]);
    tuwtree("optimize --dist random -p 30 --algorithm exact")
        .fails(1, &["it would take 68630377364883 steps, more than 1000000000"]);
    tuwtree("optimize --dist random -p 30 --algorithm two-block").fails(1, &["two block sizes"]);
    tuwtree("optimize --vector 9 --op reduce -p 30 --algorithm greedy").fails(
        1,
        &["greedy trees are for the blocks of a gather or scatter, and a reduce has none"],
    );
    // Copies dearer than messages.
    let dear = text("--dist random -p 12 --gamma 2 --order any");
    assert!(dear.contains("\ndirect ") && !dear.contains("left out"), "{dear}");
    let heuristics =
        "doubling, greedy, sorted, searched are made for gamma <= beta: only heuristics";
    assert!(dear.contains(heuristics), "{dear}");
    // Costs of each pair.
    let machine = crate::program::workspace_file("data/machines/vsc3.toml");
    let pairs = text(&format!("--dist random -p 40 --order any --machine {}", machine.display()));
    for name in ["direct", "greedy", "sorted", "searched"] {
        assert!(pairs.contains(&format!("\n{name} ")), "{pairs}");
    }
    let reason = "exact is left out: it would take more than 10^19 steps, more than 1000000000, which \
                  do for 17 processes where costs differ from pair to pair";
    assert!(pairs.contains(reason), "{pairs}");
    let few = format!("-p 8 --dist random --order any --machine {}", machine.display());
    assert!(names(&optimize_json(&few)).contains(&"exact"));
}

#[test]
fn a_tree_is_found_where_links_admit_no_ordered_one() {
    // Only 0 -> 2 -> 1 -> 3: blocks 0 and 2 travel together, without block 1 between them.
    let links = [(0, 2), (2, 1), (1, 3)];
    let matrix = |link: f64, none: Value| -> Vec<Vec<Value>> {
        let cost = |from, to| match links.contains(&(from, to)) {
            true => link.into(),
            false if from == to => 0.into(),
            false => none.clone(),
        };
        (0..4).map(|from| (0..4).map(|to| cost(from, to)).collect()).collect()
    };
    let machine = serde_json::json!({
        "format": "tuwtree-machine", "version": 1, "name": "path", "date": "2026-11-22",
        "provenance": "made up",
        "matrix": {
            "alpha_seconds": matrix(1e-6, "inf".into()),
            "beta_seconds_per_byte": matrix(1e-9, 0.into()),
            "gamma_seconds_per_byte": vec![0; 4],
        },
    });
    let folder = folder("no_ordered_tree");
    let (file, sizes) = (folder.join("path.json"), folder.join("sizes.txt"));
    std::fs::write(&file, machine.to_string()).unwrap();
    std::fs::write(&sizes, "5 6 7 8\n").unwrap();
    let problem = format!("optimize --sizes {} --machine {}", sizes.display(), file.display());
    tuwtree(&problem).fails(1, &["no construction has a tree", "no ordered tree has the links"]);
    for algorithm in ["", "--algorithm all", "--algorithm paths"] {
        let found: Value = serde_json::from_str(
            &tuwtree(&format!("{problem} --order any --json {algorithm}")).success(),
        )
        .unwrap();
        let best = if algorithm.contains("paths") { &["paths"][..] } else { &["paths", "exact"] };
        assert_eq!(names(&found), best);
        let paths = entry(&found, "paths");
        // No other tree has the links that it needs.
        let last = entry(&found, best[best.len() - 1]);
        assert_eq!(last["completion_time"], paths["completion_time"]);
        assert_eq!(paths["root"], 3);
        // 5, 12 and 18 bytes, one message after the other.
        assert!((paths["completion_time"].as_f64().unwrap() - 3.035e-6).abs() < 1e-15, "{paths}");
    }
}
