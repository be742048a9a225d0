//! What a user gets who asks for something sensible.

use crate::program::{command, folder, tuwtree, tuwtree_with_input, workspace_file};
use serde_json::Value;
use std::fs;
use std::process::Stdio;
use tuwtree_model::{ClosedSet, Distribution};

fn optimize_json(arguments: &str) -> Value {
    serde_json::from_str(&tuwtree(&format!("optimize --json {arguments}")).success()).unwrap()
}

/// Construction, time and root of each construction in a comparison.
fn results(comparison: &Value) -> Vec<(String, f64, u64)> {
    let constructions = comparison["constructions"].as_array().unwrap();
    constructions
        .iter()
        .map(|entry| {
            (
                entry["construction"].as_str().unwrap().to_owned(),
                entry["completion_time"].as_f64().unwrap(),
                entry["root"].as_u64().unwrap(),
            )
        })
        .collect()
}

#[test]
fn a_distribution_is_all_that_optimize_needs() {
    let comparison = optimize_json("--dist spikes");
    assert_eq!(comparison["ranks"], 2000);
    assert_eq!(comparison["total_bytes"], 2_001_600);
    assert_eq!(comparison["lower_bound"], 2_002_500);
    assert_eq!(comparison["recommended"], "optimal");
    let expected = [
        ("linear", 2_201_500.0, 0),
        ("oblivious", 2_077_733.0, 1792),
        ("adaptive", 2_002_700.0, 1549),
        ("binary", 3_219_118.0, 775),
        ("optimal", 2_002_500.0, 1022),
        ("adjacent", 2_002_600.0, 1196),
    ];
    for ((name, time, root), found) in expected.into_iter().zip(results(&comparison)) {
        assert_eq!((name, time), (found.0.as_str(), found.1));
        assert!(["optimal", "adjacent"].contains(&name) || root == found.2, "{name}: {}", found.2);
    }
}

#[test]
fn a_given_root_is_the_root_of_every_tree() {
    let comparison = optimize_json("--dist spikes --root 1000");
    assert_eq!(comparison["root"], 1000);
    let results = results(&comparison);
    assert!(results.iter().all(|(_, _, root)| *root == 1000));
    let times: Vec<f64> = results.iter().map(|(_, time, _)| *time).collect();
    // Table 1, gamma = 1, spikes, first row.
    let adjacent = 2_002_900.0;
    assert_eq!(times[..4], [2_201_500.0, 2_142_672.0, 2_037_693.0, 3_569_427.0]);
    assert_eq!(times[5], adjacent);
    assert!(times[4] <= adjacent, "{times:?}");
}

#[test]
fn gather_and_scatter_take_the_same_time() {
    let gather = optimize_json("--dist random -p 100 --op gather");
    let scatter = optimize_json("--dist random -p 100 --op scatter");
    assert_eq!(results(&gather), results(&scatter));
    assert_eq!(scatter["operation"], "scatter");
}

#[test]
fn algorithms_can_be_named_one_by_one() {
    for names in ["linear,optimal", "linear optimal", "optimal linear"] {
        let found = results(&optimize_json(&format!("--dist same -p 50 --algorithm {names}")));
        let found: Vec<&str> = found.iter().map(|(name, _, _)| name.as_str()).collect();
        assert_eq!(found, ["linear", "optimal"]);
    }
}

#[test]
fn methods_can_be_named_and_agree() {
    for (names, expected) in [
        ("adjacent-plain adjacent-dense adjacent-runs", &["dense", "plain", "runs"][..]),
        ("optimal-plain optimal-dense", &["dense", "plain"]),
        ("copy-first-plain copy-first-dense", &["dense", "plain"]),
        ("binary-plain binary-dense binary", &["dense", "plain"]),
    ] {
        let comparison = optimize_json(&format!("--dist bucket -p 90 --algorithm {names}"));
        let constructions = comparison["constructions"].as_array().unwrap();
        let methods: Vec<&Value> = constructions.iter().map(|entry| &entry["method"]).collect();
        assert_eq!(methods, expected);
        for other in &constructions[1..] {
            assert_eq!(constructions[0]["completion_time"], other["completion_time"]);
        }
    }
    let by_option = optimize_json("--dist bucket -p 90 --algorithm linear,adjacent --method plain");
    let methods = by_option["constructions"].as_array().unwrap().iter().map(|one| &one["method"]);
    assert_eq!(methods.collect::<Vec<_>>(), [&Value::Null, &"plain".into()]);
    tuwtree("optimize --dist bucket -p 9 --algorithm linear --method runs")
        .fails(2, &["--method runs", "names none of adjacent"]);
}

#[test]
fn the_best_of_all_trees_is_certified_by_another_way() {
    let certificate = |arguments: &str| {
        let comparison = optimize_json(&format!("{arguments} --algorithm exact --certify"));
        comparison["constructions"][0]["certificate"].as_str().unwrap().to_owned()
    };
    let by_pairs = "the method for costs of each pair finds the same completion time";
    assert_eq!(certificate("--dist skewed -p 12 --alpha 3000 --root 11"), by_pairs);
    let sample = |name| workspace_file(&format!("data/machines/{name}")).display().to_string();
    let trinity = sample("trinity-testbed.toml");
    assert_eq!(certificate(&format!("--dist random -p 12 --machine {trinity} --root 0")), by_pairs);
    let settled =
        "settling sets of ranks in the order of their times finds the same completion time";
    let ring = sample("ring.json");
    assert_eq!(certificate(&format!("--dist random --machine {ring} --root 0")), settled);
    let vsc3 =
        fs::read_to_string(sample("vsc3.toml")).unwrap().replace("members = 16", "members = 4");
    let small = folder("certified").join("nodes_of_four.toml");
    fs::write(&small, vsc3).unwrap();
    let levels = format!("--dist random -p 12 --root 0 --machine {}", small.display());
    assert_eq!(certificate(&levels), settled);
    let many = tuwtree(
        "optimize --dist alternating -p 40 --root 1 --alpha 1000 --algorithm exact --certify",
    );
    assert_eq!(many.code, 1);
    assert!(many.stderr.contains("exact is not certified: the other method is for up to 16"));
}

#[test]
fn an_optimal_tree_can_be_certified() {
    let comparison = optimize_json("--dist bucket -p 90 --algorithm optimal --certify");
    let certificate = comparison["constructions"][0]["certificate"].as_str().unwrap();
    assert!(certificate.contains("finds the same completion time"), "{certificate}");
    let comparison = optimize_json("--dist two-blocks -p 90 --certify");
    let certificate = comparison["constructions"][4]["certificate"].as_str().unwrap();
    assert!(certificate.contains("lower bound"), "{certificate}");
    for quiet in ["", " --json -q"] {
        let plain_only =
            tuwtree(&format!("optimize --dist bucket -p 90 --gamma 2 --certify{quiet}"));
        assert_eq!(plain_only.code, 1);
        assert!(plain_only.stderr.contains("optimal is not certified: only the plain method"));
    }
    for quiet in ["", " --json -q"] {
        let overlapping = "--alpha 100 --overhead 10 --beta 1";
        let left_out =
            tuwtree(&format!("optimize --dist spikes -p 300 {overlapping} --certify{quiet}"));
        assert_eq!(left_out.code, 1);
        assert!(left_out.stderr.contains("optimal is not certified: deadline is within 1 %"));
    }
    let large = optimize_json("--dist bucket -p 3000 --gamma 0 --algorithm optimal --certify");
    assert_eq!(large["constructions"][0]["method"], "dense");
    let certificate = large["constructions"][0]["certificate"].as_str().unwrap();
    assert!(certificate.contains("for the ranks in reverse order"), "{certificate}");
    let adjacent = optimize_json("--dist bucket -p 3000 --algorithm adjacent --certify");
    assert_eq!(adjacent["constructions"][0]["method"], "runs");
    let certificate = adjacent["constructions"][0]["certificate"].as_str().unwrap();
    assert!(certificate.contains("the dense method"), "{certificate}");
}

#[test]
fn adaptive_rules_can_be_chosen() {
    let time = |rule: &str| {
        let arguments = format!("--dist random -p 64 --algorithm adaptive --adaptive-rule {rule}");
        results(&optimize_json(&arguments))[0].1
    };
    // gamma = beta and 64 positive blocks: OPT Proposition 1, the total and 6 alphas.
    let total = optimize_json("--dist random -p 64 --algorithm linear")["total_bytes"].as_f64();
    assert_eq!(time("data-size"), total.unwrap() + 600.0);
    assert!(time("completion-time") <= time("data-size"));
    // Blocks 9 1 2 2: by gather time 0 and 1 (1 unit gathered) send to 2 and 3 (2 units).
    let arguments = "optimize --sizes - --alpha 1 --gamma 0 --json --algorithm adaptive";
    for (rule, expected) in [("gather-time", 14), ("data-size", 8)] {
        let arguments = format!("{arguments} --adaptive-rule {rule}");
        let output = tuwtree_with_input(&arguments, "9 1 2 2").success();
        let comparison: Value = serde_json::from_str(&output).unwrap();
        assert_eq!(comparison["constructions"][0]["completion_time"], expected);
    }
}

#[test]
fn sizes_are_the_same_through_every_format() {
    for distribution in Distribution::all() {
        let name = distribution.name();
        let direct = optimize_json(&format!("--dist {name} -p 40 -b 12 --rho 3 --seed 9"));
        for format in ["text", "csv", "json"] {
            let generate = format!("generate --dist {name} -p 40 -b 12 --rho 3 --seed 9");
            let sizes = tuwtree(&format!("{generate} --format {format}")).success();
            let read = tuwtree_with_input("optimize --json --sizes -", &sizes).success();
            let read: Value = serde_json::from_str(&read).unwrap();
            assert_eq!(direct, read, "{name} {format}");
        }
    }
}

#[test]
fn seeds_and_generators_make_different_problems_and_the_same_ones_again() {
    let sizes =
        |options: &str| tuwtree(&format!("generate --dist random -p 9 {options}")).success();
    assert_eq!(sizes(""), sizes("--seed 1 --rng glibc"));
    assert_ne!(sizes("--seed 1"), sizes("--seed 2"));
    assert_ne!(sizes("--rng glibc"), sizes("--rng xoshiro"));
    // 1 + 1804289383 mod 2000.
    assert_eq!(sizes("").lines().next(), Some("1384"));
}

#[test]
fn one_rank_and_empty_blocks_are_valid() {
    let lone = optimize_json("--dist same -p 1");
    assert!(results(&lone).iter().all(|(_, time, root)| (*time, *root) == (0.0, 0)));
    let empty = tuwtree_with_input("optimize --json --sizes -", "0 0 0 0").success();
    let empty: Value = serde_json::from_str(&empty).unwrap();
    assert!(results(&empty).iter().all(|(_, time, _)| *time == 0.0));
    for text in ["0", "7", "0 0", "0 5 0"] {
        assert!(tuwtree_with_input("optimize --sizes -", text).success().contains("Recommended"));
    }
}

#[test]
fn gamma_above_beta_is_admitted() {
    let comparison = optimize_json("--dist random -p 30 --gamma 3");
    assert_eq!(comparison["constructions"][4]["method"], "plain");
}

#[test]
fn costs_need_not_be_integers() {
    let comparison = optimize_json("--dist random -p 200 --alpha 1.5e-6 --beta 1e-9 --gamma 3e-10");
    let optimal = results(&comparison)[4].1;
    let bound = comparison["lower_bound"].as_f64().unwrap();
    assert!(bound < optimal && optimal < 2.0 * bound, "{optimal} {bound}");
}

#[test]
fn show_lists_messages_in_the_order_of_their_times() {
    let folder = folder("show");
    let file = folder.join("tree.json");
    let file = file.to_str().unwrap();
    let made = format!("optimize --sizes - --alpha 1 --root 1 --algorithm linear -o {file}");
    tuwtree_with_input(&made, "2 1 4").success();
    let shown = tuwtree(&format!("show {file}")).success();
    let words: Vec<Vec<&str>> =
        shown.lines().map(|line| line.split_whitespace().collect()).collect();
    // alpha = beta = gamma = 1: 0..3, the copy 3..4, 4..9.
    assert_eq!(words[0], ["order", "ordered"]);
    assert_eq!(words[2], ["1", "(root)", "blocks", "0..=2", "7", "bytes", "done", "at", "9"]);
    assert_eq!(words[words.len() - 2], ["0", "1", "block", "0", "2", "0", "3"]);
    assert_eq!(words[words.len() - 1], ["2", "1", "block", "2", "4", "4", "9"]);
    let limited = tuwtree(&format!("show {file} --limit 1")).success();
    assert!(limited.contains("and 1 more messages"), "{limited}");
    let other = tuwtree(&format!("show {file} --rank 2")).success();
    assert_eq!(other.lines().last().unwrap().split_whitespace().next(), Some("2"));
}

#[test]
fn options_have_their_former_names_too() {
    let sizes = |option| tuwtree(&format!("generate --dist spikes {option} 9")).success();
    assert_eq!(sizes("--processes"), sizes("--processors"));
    assert_eq!(sizes("--processes"), sizes("-p"));
    let machine = workspace_file("data/machines/vsc3.toml").display().to_string();
    let matrix = |option| tuwtree(&format!("machine {machine} --matrix {option} 3")).success();
    assert_eq!(matrix("--processes"), matrix("--processors"));
    let tree = tuwtree("optimize --dist spikes -p 9 -o -").success();
    let messages = |option| tuwtree_with_input(&format!("show - {option} 2"), &tree).success();
    assert_eq!(messages("--rank"), messages("--processor"));
    let small = "--mean-block 100 --columns 1 --rows 1";
    let map = |option| tuwtree(&format!("map {option} 12 {small}")).success();
    assert_eq!(map("--processes"), map("--processors"));
    let tree = |command| tuwtree(&format!("{command} --dist spikes -p 9 -o -")).success();
    assert_eq!(tree("optimize"), tree("compare"));
}

#[test]
fn a_scatter_is_shown_from_the_root_outwards() {
    let arguments = "optimize --sizes - --alpha 1 --root 1 --algorithm linear --op scatter -o -";
    let tree = tuwtree_with_input(arguments, "2 1 4").success();
    let shown = tuwtree_with_input("show -", &tree).success();
    let last: Vec<&str> = shown.lines().last().unwrap().split_whitespace().collect();
    // The gather's first message 0..3 is the scatter's last, 6..9.
    assert_eq!(last, ["1", "0", "block", "0", "2", "6", "9"]);
}

#[test]
fn a_tree_without_a_problem_is_shown_without_times_and_judged_on_any_blocks() {
    let tree = r#"{"format":"tuwtree-tree","version":1,"processors":4,"root":0,"subtrees":[[0,1,3,2],[],[],[]]}"#;
    let shown = tuwtree_with_input("show -", tree).success();
    assert!(shown.contains("block 2") && !shown.contains("bytes"), "{shown}");
    let judged = tuwtree_with_input("evaluate - --dist same -b 10 --alpha 1", tree).success();
    assert!(judged.contains("completion time  43"), "{judged}");
    assert!(
        judged.contains("direct: rank 0 holds what is of 0..=1 and then takes 3..=3"),
        "{judged}"
    );
}

#[test]
fn a_reader_that_stops_early_is_no_error() {
    for arguments in
        ["generate --dist same -p 1000000", "optimize --dist same -p 50", "map -p 16 --format csv"]
    {
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let mut child =
            command(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "", "{arguments:?}");
        assert!(output.status.success());
    }
}

#[test]
fn the_same_command_prints_the_same_bytes() {
    let run = || tuwtree("optimize --dist bucket -p 300 --json").success();
    assert_eq!(run(), run());
}

#[test]
fn output_does_not_depend_on_the_number_of_threads() {
    for arguments in [
        "map -p 16 --format csv",
        "sweep --dist spikes,skewed -p 64..256*2 -b 8,1000 --root 0 --format csv",
        "optimize --dist random -p 2000 --json",
    ] {
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let [one, three] = ["1", "3"].map(|threads| {
            let output = command(&arguments).env("RAYON_NUM_THREADS", threads).output().unwrap();
            assert!(output.status.success(), "{output:?}");
            output.stdout
        });
        assert!(one == three, "{arguments:?}");
    }
}

#[test]
fn no_colours_where_there_is_no_terminal() {
    let run = tuwtree("optimize --dist same -p 0");
    assert!(!run.stderr.contains('\u{1b}'), "{}", run.stderr);
}

#[test]
fn help_teaches() {
    let help = tuwtree("--help").success();
    for word in ["optimize", "evaluate", "show", "generate", "reproduce", "Examples", "Exit codes"]
    {
        assert!(help.contains(word), "{word}");
    }
    let help = tuwtree("optimize --help").success();
    for distribution in Distribution::all() {
        assert!(help.contains(distribution.name()), "{}", distribution.name());
    }
}

#[test]
fn large_problems_leave_out_by_reason_what_takes_too_long() {
    let comparison = optimize_json("--dist two-blocks -p 1000000");
    let names: Vec<String> = results(&comparison).into_iter().map(|(name, _, _)| name).collect();
    // Hardly any blocks have data, so that consecutive trees take little.
    assert_eq!(names, ["linear", "oblivious", "adaptive", "deadline", "optimal", "adjacent"]);
    let skipped = comparison["skipped"].as_array().unwrap();
    assert_eq!(skipped.len(), 1);
    assert_eq!(skipped[0]["construction"], "binary");
    assert!(skipped[0]["reason"].as_str().unwrap().contains("GiB"), "{skipped:?}");
}

#[test]
fn a_binary_tree_may_beat_adjacent_ones_but_not_the_optimal_tree() {
    let input = "34 5 0 2 1 47 2 1 1000";
    let problem = "optimize --sizes - --root 8 --alpha 10 --beta 2 --gamma 0";
    let all: Value =
        serde_json::from_str(&tuwtree_with_input(&format!("{problem} --json"), input).success())
            .unwrap();
    let time = |name: &str| {
        let found = results(&all).into_iter().find(|one| one.0 == name);
        found.unwrap().1
    };
    assert!(time("optimal") <= time("binary") && time("binary") < time("adjacent"), "{all}");
    let without = format!("{problem} --algorithm binary adjacent");
    let output = tuwtree_with_input(&without, input).success();
    assert!(output.contains("Recommended: binary"), "{output}");
    assert!(output.contains("It is not among the trees that adjacent searches"), "{output}");
}

#[test]
fn a_root_far_from_the_large_blocks_begins_with_them() {
    let folder = folder("away");
    let tree = folder.join("tree.json").display().to_string();
    for operation in ["gather", "scatter"] {
        let problem = format!(
            "--dist skewed -p 48 --alpha 10000 --gamma 0 --root 47 --op {operation} -o {tree}"
        );
        let comparison = optimize_json(&problem);
        assert_eq!(comparison["recommended"], "optimal");
        let found: Vec<(String, f64)> =
            results(&comparison).into_iter().map(|one| (one.0, one.1)).collect();
        for expected in [("binary", 107_242.0), ("optimal", 88_042.0), ("adjacent", 118_042.0)] {
            assert!(found.contains(&(expected.0.to_owned(), expected.1)), "{found:?}");
        }
        let of = |command: &str| {
            let output = tuwtree(&format!("{command} --json")).success();
            serde_json::from_str::<Value>(&output).unwrap()
        };
        let judged = of(&format!("evaluate {tree}"));
        assert_eq!(judged["completion_time"], 88_042);
        assert_eq!(judged["completion_time_with_unpacking"], 88_042);
        assert_eq!(judged["order"], "ordered");
        assert_eq!(of(&format!("simulate {tree}"))["completion_time"], 88_042);
        let schedule = folder.join("schedule.json").display().to_string();
        tuwtree(&format!("export {tree} -f json -o {schedule}")).success();
        let verified = of(&format!("verify {schedule}"));
        assert_eq!(verified["order"], "ordered", "{verified}");
        let shown = tuwtree(&format!("show {tree}")).success();
        assert!(!shown.contains("order direct"), "{shown}");
        let c = tuwtree(&format!("export {tree} -f c")).success();
        assert!(c.contains("MPI_"), "{c}");
    }
}

#[test]
fn evaluate_tells_joins_of_adjacent_ranges_from_other_ordered_trees() {
    // The root copies first and then receives from the left, which adjacent trees never do.
    let tree = r#"{"format":"tuwtree-tree","version":1,"processors":3,"root":2,"subtrees":[[],[0,1],[2,1]]}"#;
    let folder = folder("joins");
    let sizes = folder.join("sizes");
    std::fs::write(&sizes, "1 5 1000").unwrap();
    let arguments = format!("evaluate - --json --sizes {}", sizes.display());
    let judged = tuwtree_with_input(&arguments, tree).success();
    let judged: Value = serde_json::from_str(&judged).unwrap();
    assert_eq!(judged["completion_time"], 1106);
    assert_eq!(judged["ordered"], true);
    assert_eq!(judged["joins_adjacent_ranges"], false);
    let names = "--algorithm optimal adjacent";
    let best = optimize_json(&format!("--sizes {} {names} --root 2", sizes.display()));
    assert_eq!((results(&best)[0].1, results(&best)[1].1), (1106.0, 1206.0));
}
