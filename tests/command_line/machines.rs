//! Machines on the command line: samples, conversions, comparisons in seconds, and bad ones.

use crate::documents::schema;
use crate::program::{folder, json, tuwtree, tuwtree_with_input, workspace_file};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;

/// The sample machines.
fn samples() -> Vec<PathBuf> {
    let folder = fs::read_dir(workspace_file("data/machines")).unwrap();
    let mut files: Vec<PathBuf> = folder.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 8);
    files
}

fn sample(name: &str) -> String {
    workspace_file("data/machines").join(name).display().to_string()
}

#[test]
fn samples_are_listed_shown_and_fit_the_schema() {
    let list = fs::read_to_string(workspace_file("data/README.md")).unwrap();
    let schema = schema("docs/machine.schema.json");
    for file in samples() {
        let name = file.file_name().unwrap().to_str().unwrap();
        assert!(list.contains(&format!("`{name}`")), "{name} is not in data/README.md");
        let shown = tuwtree(&format!("machine {}", file.display())).success();
        for field in ["name ", "date ", "provenance ", "processes ", "copies ", "alpha"] {
            assert!(shown.contains(field), "{shown}");
        }
        let written = json(&format!("machine {} --format json", file.display()));
        assert!(schema.is_valid(&written), "{name}");
    }
}

#[test]
fn gains_on_a_fitted_machine_are_said_with_their_interval() {
    let of = |options: &str| {
        tuwtree(&format!("optimize --dist same --root 0 -q --library mpich {options}")).success()
    };
    let large = of("-b 64 -p 512 --machine fugaku");
    assert!(large.contains(" times, as far as times are known)."), "{large}");
    let small = of("-b 32768 -p 32 --machine marenostrum5");
    assert!(small.contains("known within a factor of 1.5, so that it may be as good."), "{small}");
    let document = json("optimize --dist same -p 8 --machine fugaku --json");
    assert_eq!(document["uncertainty"], 1.5);
}

#[test]
fn a_machine_is_the_same_in_json_and_toml() {
    for file in samples() {
        let toml = tuwtree(&format!("machine {} --format toml", file.display())).success();
        let from_toml = tuwtree_with_input("machine - --format json", &toml).success();
        let from_file = tuwtree(&format!("machine {} --format json", file.display())).success();
        assert_eq!(from_toml, from_file);
        let again = tuwtree_with_input("machine - --format toml", &from_file).success();
        assert_eq!(again, toml);
    }
}

#[test]
fn every_construction_s_tree_is_judged_by_evaluate_as_by_optimize_on_every_machine() {
    let folder = folder("judged_on_machines");
    let tree = folder.join("tree.json").display().to_string();
    for file in samples() {
        let file = file.display();
        for operation in ["gather", "scatter"] {
            // A matrix or a list says how many ranks there are.
            let problem = format!("--dist bucket -b 40 --seed 3 --op {operation} --machine {file}");
            let ranks = match tuwtree(&format!("optimize {problem} -p 30 --json")).code {
                0 => "-p 30",
                _ => "",
            };
            let problem = format!("{problem} {ranks}");
            let compared = json(&format!("optimize {problem} --json"));
            assert!(compared["machine"].is_string());
            let built = compared["constructions"].as_array().unwrap();
            let bound = compared["lower_bound"].as_f64().unwrap();
            for one in built {
                let name = one["construction"].as_str().unwrap();
                assert!(one["completion_time"].as_f64().unwrap() >= bound * (1.0 - 1e-12));
                tuwtree(&format!("optimize {problem} --algorithm {name} -o {tree}")).success();
                let judged = json(&format!("evaluate {tree} --json"));
                for field in ["completion_time", "root", "depth"] {
                    assert_eq!(judged[field], one[field], "{file} {operation} {name}");
                }
                assert_eq!(judged["machine"], compared["machine"]);
                let shown = tuwtree(&format!("show {tree}")).success();
                assert!(shown.starts_with("machine ") && shown.contains("s\n"), "{shown}");
            }
            let best = ["optimal", "adjacent"];
            let is_best = |one: &Value| best.iter().any(|best| one["construction"] == *best);
            assert!(built.iter().any(is_best), "{file}");
        }
    }
}

#[test]
fn a_published_time_comes_out_with_the_costs_from_a_machine() {
    let compared =
        json(&format!("optimize --dist spikes --machine {} --json", sample("opt-table-1.toml")));
    let times: Vec<&Value> = compared["constructions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["completion_time"])
        .collect();
    assert_eq!(times, [2_201_500, 2_077_733, 2_002_700, 3_219_118, 2_002_500, 2_002_600]);
    assert_eq!(compared["recommended_method"], "dense");
}

#[test]
fn levels_expand_to_a_matrix_that_judges_the_same() {
    let folder = folder("expanded");
    let [matrix, blocks] = ["matrix.toml", "blocks.txt"].map(|name| folder.join(name));
    let (matrix, blocks) = (matrix.display(), blocks.display());
    let machine = sample("opteron-round-robin.json");
    tuwtree(&format!("machine {machine} --matrix -p 40 --format toml -o {matrix}")).success();
    tuwtree(&format!("generate --dist random -p 40 -o {blocks}")).success();
    // All but two-level trees, which a matrix knows nothing of.
    let names = "linear,oblivious,adaptive,minimum-first,maximum-first,graceful,model-graceful,\
                 binary,adjacent";
    let compared = |machine: &str| {
        json(&format!("optimize --sizes {blocks} --machine {machine} --json --algorithm {names}"))
    };
    let (mut levels, mut pairs) = (compared(&machine), compared(&matrix.to_string()));
    // What each level lets through, a matrix does not tell.
    let bounds = [&levels, &pairs].map(|compared| compared["lower_bound"].as_f64().unwrap());
    assert!(bounds[0] >= bounds[1], "{bounds:?}");
    for compared in [&mut levels, &mut pairs] {
        compared["lower_bound"].take();
        for construction in compared["constructions"].as_array_mut().unwrap() {
            construction["gap_percent"].take();
        }
    }
    assert_eq!(levels, pairs);
    assert_eq!(levels["constructions"].as_array().unwrap().len(), 9);
    let shown = tuwtree(&format!("machine {matrix}")).success();
    assert!(shown.contains("1560 of 1560, the same both ways"), "{shown}");
}

#[test]
fn adjacent_trees_per_pair_are_certified_by_the_other_method() {
    let machine = sample("asymmetric.toml");
    let certified =
        json(&format!("optimize --dist same --machine {machine} --op scatter --certify --json"));
    let adjacent = certified["constructions"].as_array().unwrap().last().unwrap();
    assert_eq!(adjacent["construction"], "adjacent");
    assert_eq!(adjacent["certificate"], "the plain method finds the same completion time");
    let refused = ["optimal trees are searched for at costs that all pairs share; adjacent"];
    tuwtree(&format!("optimize --dist same --machine {machine} --algorithm optimal"))
        .fails(1, &refused);
}

#[test]
fn costs_that_are_not_linear_are_searched_with_as_they_are() {
    let machine = sample("trinity-testbed.toml");
    let problem = format!("optimize --dist spikes -p 30 --machine {machine}");
    let text = tuwtree(&problem).success();
    assert!(text.contains("(levels)\n"), "{text}");
    assert!(text.contains("\nbinary ") && !text.contains("binary is left out"), "{text}");
    tuwtree(&format!("{problem} --algorithm binary-dense")).fails(1, &["linear in the size"]);
    tuwtree(&format!("{problem} --algorithm adjacent-dense")).fails(1, &["dense", "levels"]);
    let adjacent = tuwtree(&format!("{problem} --algorithm adjacent")).success();
    assert!(adjacent.contains("It is optimal among ordered trees that join adjacent ranges"));
    // All of them are on one node, and share one law.
    let optimal = tuwtree(&format!("{problem} --algorithm optimal")).success();
    assert!(optimal.contains("It is optimal among all ordered trees, up to rounding"), "{optimal}");
    tuwtree(&format!("machine {machine} --matrix -p 4")).fails(1, &["\"network\"", "linear only"]);
    let shown = tuwtree(&format!("machine {machine} --linearise-at 9000")).success();
    assert!(shown.contains("4.127 µs") && !shown.contains("1.18 µs"), "{shown}");
}

#[test]
fn many_processes_at_costs_by_size_are_searched_by_windows_for_each_piece() {
    let machine = |name: &str, pieces: &[(u64, f64, f64, f64)]| {
        let pieces = pieces.iter().map(|(from, alpha, overhead, beta)| {
            format!(
                "[[hierarchical.levels.pieces]]\nfrom_bytes = {from}\nalpha_seconds = {alpha}\n\
                 overhead_seconds = {overhead}\nbeta_seconds_per_byte = {beta}\n"
            )
        });
        let levels = format!(
            "format = \"tuwtree-machine\"\nversion = 2\nname = \"{name}\"\ndate = \"2026-11-22\"\n\
             provenance = \"Made up.\"\n[hierarchical]\ngamma_seconds_per_byte = 0.0\nplacement = \"block\"\n\
             [[hierarchical.levels]]\nname = \"network\"\nmembers = 5000\n{}",
            pieces.collect::<String>()
        );
        let file = folder("by_size").join(format!("{name}.toml"));
        fs::write(&file, levels).unwrap();
        file.display().to_string()
    };
    let line = (0, 5e-6, 3e-6, 1e-9);
    let rising = machine("rising", &[line, (1000, 6e-6, 3.5e-6, 8e-10), (9000, 2e-5, 1e-5, 7e-10)]);
    let problem = format!("optimize --dist random --machine {rising} --root 3");
    let many = tuwtree(&format!("{problem} -p 1500 --algorithm optimal,copy-first")).success();
    assert!(many.contains("(found by the dense method)") && many.contains("(dense)\n"), "{many}");
    assert!(many.contains("It is at most ") && !many.contains("among all ordered"), "{many}");
    let few = format!("{problem} -p 120 --json --algorithm optimal-plain,optimal-dense");
    let few = json(&few);
    let times: Vec<f64> = (0..2)
        .map(|at| few["constructions"][at]["planned_completion_time"].as_f64().unwrap())
        .collect();
    assert!((times[0] - times[1]).abs() < 1e-12 * times[0], "{few}");
    // Faster from 9000 bytes on: what no tree is below, and one that is near.
    let falling = machine("falling", &[line, (9000, 5e-6, 2.5e-6, 1e-9)]);
    let text =
        tuwtree(&format!("{} -p 1500 --algorithm optimal", problem.replace(&rising, &falling)));
    let text = text.success();
    assert!(text.contains("It is at most "), "{text}");
}

#[test]
fn what_rotation_and_relays_would_gain_is_said_where_rank_order_is_kept() {
    let problem =
        format!("optimize --machine {} --dist random -p 160 --root 0", sample("vsc3.toml"));
    let line = "In any order (--order any), relays would take ";
    let kept = tuwtree(&problem).success();
    assert!(kept.contains(line) && kept.contains("; with an unpack step at the root "), "{kept}");
    assert!(kept.contains("\nleaders ") && !kept.contains("\nrelays "), "{kept}");
    let rotated = "In any order (--order any), rotated would take ";
    assert!(kept.contains(rotated) && !kept.contains("\nrotated "), "{kept}");
    let any = tuwtree(&format!("{problem} --order any")).success();
    assert!(
        any.contains("\nrelays ") && any.contains("\nrotated ") && !any.contains(line),
        "{any}"
    );
    let folder = folder("rotated_label");
    let tree = folder.join("rotated.json").display().to_string();
    let named = format!("{problem} --order any --algorithm rotated");
    let text = tuwtree(&format!("{named} -o {tree}")).success();
    let label = "is in rank order but for groups that are rotated around the root, or brought together: of its \
                 messages none holds more than 2 ranges of ranks; with derived datatypes at the root: ";
    assert!(text.contains(&format!("\nIts tree {label}")), "{text}");
    let evaluated = tuwtree(&format!("evaluate {tree}")).success();
    let ranges =
        "\nmessages         none holds more than 2 ranges of ranks\nrank order       with derived";
    assert!(
        evaluated.contains("\norder            any: ") && evaluated.contains(ranges),
        "{evaluated}"
    );
    let advice = tuwtree(&named.replace("optimize", "advise")).success();
    let offline =
        "rotated (planned offline, in rank order but for groups rotated around the root): ";
    assert!(advice.contains(offline) && advice.contains(label), "{advice}");
    // Whoever names trees asks for no others.
    assert!(!tuwtree(&format!("{problem} --algorithm leaders")).success().contains(line));
    let one_node = problem.replace("-p 160", "-p 16");
    tuwtree(&format!("{one_node} --algorithm relays"))
        .fails(1, &["all these processes pay the same"]);
}

#[test]
fn a_tree_file_s_machine_gives_way_to_what_is_given() {
    let folder = folder("own_machine");
    let tree = folder.join("tree.json").display().to_string();
    let machine = sample("ring.json");
    tuwtree(&format!("optimize --dist same --machine {machine} -o {tree}")).success();
    let text = tuwtree(&format!("evaluate {tree}")).success();
    assert!(text.contains("machine Ring of eight (matrix)"), "{text}");
    let plain = tuwtree(&format!("evaluate {tree} --alpha 1 --beta 2 --gamma 1")).success();
    assert!(plain.contains("alpha = 1, beta = 2, gamma = 1"), "{plain}");
    tuwtree(&format!("evaluate {tree} --alpha 1")).fails(2, &["are in seconds", "--gamma"]);
    let other = sample("vsc3.toml");
    let other = tuwtree(&format!("evaluate {tree} --machine {other}")).success();
    assert!(other.contains("machine VSC-3 (hierarchical)"), "{other}");
    let small = sample("asymmetric.toml");
    tuwtree(&format!("evaluate {tree} --machine {small}"))
        .fails(1, &["asymmetric.toml", "4 processes", "8"]);
    // A star needs links that a ring has not.
    let star = folder.join("star.json").display().to_string();
    tuwtree(&format!("optimize --dist same -p 8 --algorithm linear -o {star}")).success();
    tuwtree(&format!("evaluate {star} --machine {machine}")).fails(1, &["no link from rank"]);
}

/// A machine of three ranks, as a matrix.
const GOOD: &str = r#"{"format": "tuwtree-machine", "version": 1, "name": "n", "date": "2026-11-21",
"provenance": "p", "matrix": {"alpha_seconds": [[0, 1, 2], [3, 0, 4], [5, 6, 0]],
"beta_seconds_per_byte": [[0, 1, 1], [1, 0, 1], [1, 1, 0]],
"gamma_seconds_per_byte": [1, 1, 1]}}"#;

/// A machine of two nodes.
const LEVELS: &str = r#"
format = "tuwtree-machine"
version = 1
name = "n"
date = "2026-11-21"
provenance = "p"
[hierarchical]
gamma_seconds_per_byte = 1
placement = "listed"
node_of_rank = [0, 1, 0]
[[hierarchical.levels]]
name = "node"
members = 2
alpha_seconds = 1
beta_seconds_per_byte = 1
[[hierarchical.levels]]
name = "all"
members = 2
pieces = [{ from_bytes = 0, alpha_seconds = 1, beta_seconds_per_byte = 1 }]
"#;

#[test]
fn bad_machines_are_exit_code_1_with_place_and_value() {
    for (good, cases) in [
        (
            GOOD,
            &[
                ("tuwtree-machine", "machine", &["\"machine\"", "tuwtree-machine"][..]),
                ("\"version\": 1", "\"version\": 5", &["version 5", "up to 4"]),
                (
                    "\"beta_seconds",
                    "\"overhead_seconds\": [[0, 1, 2], [3, 0, 4], [5, 7, 0]], \"beta_seconds",
                    &["overhead[2][1]", "the overhead is 7", "0 to 6 is allowed"],
                ),
                (
                    "\"beta_seconds",
                    "\"overhead_seconds\": [[0, 0, 2], [3, 0, 4], [5, 6, 0]], \"beta_seconds",
                    &["version 1 has no overheads", "need version 2"],
                ),
                (
                    "\"matrix\"",
                    "\"network\": {\"wire\": \"node\"}, \"matrix\"",
                    &["\"wire\" is \"node\"", "only hierarchical costs"],
                ),
                (
                    "\"matrix\"",
                    "\"network\": {\"port\": \"fast\"}, \"matrix\"",
                    &["`fast`", "`fair`", "`first-in-first-out`"],
                ),
                (
                    "\"matrix\"",
                    "\"network\": {\"send_overhead_seconds\": -1}, \"matrix\"",
                    &["\"send_overhead_seconds\" is -1", "at least 0"],
                ),
                (
                    "\"matrix\"",
                    "\"network\": {\"uncertainty\": 1}, \"matrix\"",
                    &["\"uncertainty\" is 1", "above 1"],
                ),
                (
                    "\"matrix\"",
                    "\"network\": {\"uncertainty\": 2}, \"matrix\"",
                    &["version 1 has no uncertainties", "need version 4"],
                ),
                ("\"version\": 1", "\"version\": 1, \"colour\": 3", &["unknown field `colour`"]),
                ("\"name\": \"n\", ", "", &["missing field `name`"]),
                ("\"n\"", "\" \"", &["\"name\" is empty"]),
                ("2026-11-21", "2026-11-31", &["date", "2026-11-31", "2018-05-31"]),
                ("[3, 0, 4]", "[3, 0]", &["row 1 of alpha has 2 entries", "3 processes"]),
                (", [5, 6, 0]", "", &["alpha has 2 rows", "3 processes"]),
                ("[3, 0, 4]", "[3, 7, 4]", &["alpha[1][1] is 7", "diagonal must be 0"]),
                ("[3, 0, 4]", "[3, 0, -4]", &["alpha[1][2] is -4", "at least 0"]),
                ("[3, 0, 4]", "[3, 0, \"far\"]", &["\"far\"", "\"inf\"", "line 2"]),
                ("[1, 0, 1]", "[1, 0, 1e999]", &["out of range"]),
                ("[1, 1, 1]", "[1, -1, 1]", &["gamma[1] is -1"]),
                ("[1, 1, 1]", "[1, 1, 1], \"x\": 0", &["unknown field `x`"]),
                ("\"matrix\"", "\"homogeneous\"", &["invalid type", "expected a number"]),
            ][..],
        ),
        (
            LEVELS,
            &[
                ("[0, 1, 0]", "[0, 1, 2]", &["rank 2 is on node 2", "0..2 (2 nodes)"]),
                ("[0, 1, 0]", "[1, 1, 1]", &["node 1 has 3 processes", "only 2 fit"]),
                ("[0, 1, 0]", "[]", &["list of nodes is empty"]),
                ("node_of_rank = [0, 1, 0]", "", &["\"listed\"", "\"node_of_rank\""]),
                ("\"listed\"", "\"block\"", &["\"node_of_rank\"", "\"listed\" only"]),
                ("\"listed\"", "\"random\"", &["`random`", "`round-robin`"]),
                ("name = \"all\"", "name = \"node\"", &["level 1 is named \"node\""]),
                ("members = 2", "members = 0", &["level 0 (\"node\") has 0 members"]),
                ("alpha_seconds = 1\n", "alpha_seconds = nan\n", &["level 0", "alpha", "NaN"]),
                ("alpha_seconds = 1\n", "alpha_seconds = inf\n", &["level 0", "alpha", "inf"]),
                ("alpha_seconds = 1\n", "", &["level 0 (\"node\")", "\"alpha_seconds\""]),
                (
                    "alpha_seconds = 1\n",
                    "alpha_seconds = 1\noverhead_seconds = 2\n",
                    &["level 0 (\"node\")", "the overhead is 2", "0 to 1 is allowed"],
                ),
                (
                    "alpha_seconds = 1\n",
                    "alpha_seconds = 1\noverhead_seconds = -1\n",
                    &["level 0 (\"node\")", "the overhead is -1"],
                ),
                (
                    "alpha_seconds = 1\n",
                    "alpha_seconds = 1\noverhead_seconds = nan\n",
                    &["level 0 (\"node\")", "the overhead is NaN"],
                ),
                (
                    "pieces = [{ from_bytes = 0, alpha",
                    "sizes = [{ bytes = 1, alpha",
                    &["unknown field `alpha_seconds`"],
                ),
                (
                    "pieces = [{ from_bytes = 0, alpha_seconds = 1, beta_seconds_per_byte = 1 }]",
                    "sizes = [{ bytes = 2, latency_seconds = 1, occupancy_seconds = 1 }, \
                     { bytes = 2, latency_seconds = 1, occupancy_seconds = 1 }]",
                    &["level 1 (\"all\")", "size 1 is of 2 bytes, after 2", "ascend"],
                ),
                (
                    "pieces = [{ from_bytes = 0, alpha_seconds = 1, beta_seconds_per_byte = 1 }]",
                    "sizes = []",
                    &["level 1 (\"all\")", "no sizes"],
                ),
                ("from_bytes = 0", "from_bytes = 1", &["level 1 (\"all\")", "piece 0 is from 1"]),
                ("pieces", "prices", &["unknown field `prices`", "line 19"]),
                ("version = 1", "version = 1 1", &["line 3"]),
                ("gamma_seconds_per_byte = 1", "gamma_seconds_per_byte = -1", &["gamma is -1"]),
                ("[hierarchical]", "[x]\n[hierarchical]", &["unknown field `x`"]),
            ],
        ),
    ] {
        tuwtree_with_input("machine -", good).success();
        for (from, to, messages) in cases {
            assert!(good.contains(from), "{from}");
            let bad = good.replacen(from, to, 1);
            let run = tuwtree_with_input("machine -", &bad);
            run.fails(1, &[&["standard input"], *messages].concat());
            tuwtree_with_input("optimize --dist same -p 3 --machine -", &bad).fails(1, messages);
        }
    }
    let none = GOOD.replace("\"matrix\": {", "\"matrix\": null, \"homogeneous\": null}");
    let none = &none[..none.find('}').unwrap() + 1];
    tuwtree_with_input("machine -", none).fails(1, &["0 of \"homogeneous\"", "exactly one"]);
    tuwtree_with_input("machine -", "").fails(1, &["not a machine document"]);
}

#[test]
fn wrong_usage_of_machines_is_exit_code_2() {
    let vsc = sample("vsc3.toml");
    for (arguments, messages) in [
        (format!("optimize --dist same --machine {vsc} --alpha 1"), &["cannot be used with"][..]),
        ("optimize --sizes - --machine -".into(), &["--sizes", "--machine", "standard input"]),
        ("evaluate - --machine -".into(), &["the tree", "--machine", "standard input"]),
        (format!("machine {vsc} -p 3"), &["--matrix"]),
        (format!("machine {vsc} --matrix -p 0"), &["-p", "0 processes"]),
        (format!("machine {vsc} --format yaml"), &["yaml", "toml"]),
        (format!("machine {} --matrix", sample("opt-table-1.toml")), &["-p", "any number"]),
    ] {
        tuwtree(&arguments).fails(2, messages);
    }
    tuwtree(&format!("machine {vsc} --matrix")).fails(1, &["vsc3.toml", "32000", "4096"]);
    tuwtree(&format!("optimize --dist same -p 32001 --machine {vsc}"))
        .fails(1, &["vsc3.toml", "room for 32000", "32001"]);
    tuwtree("optimize --dist same --machine no/such/file").fails(1, &["no/such/file"]);
}

#[test]
fn a_network_that_is_cut_is_reported_with_the_cut() {
    let islands = GOOD.replace(
        "[[0, 1, 2], [3, 0, 4], [5, 6, 0]]",
        "[[0, 1, \"inf\"], [3, 0, \"inf\"], [\"inf\", \"inf\", 0]]",
    );
    tuwtree_with_input("optimize --dist same --machine - --root 1", &islands)
        .fails(1, &["no tree with root 1", "no link leads from rank 2 to ranks 0..=1"]);
    tuwtree_with_input("optimize --dist same --machine -", &islands)
        .fails(1, &["no tree with any root", "from rank 2 only rank 2"]);
    // All links of a ring are there, but no star is.
    let ring = sample("ring.json");
    tuwtree(&format!("optimize --dist same --machine {ring} --algorithm linear"))
        .fails(1, &["no link from rank"]);
    let text = tuwtree(&format!("optimize --dist same --machine {ring}")).success();
    assert!(
        text.contains("linear") && text.contains("left out: there is no link from rank"),
        "{text}"
    );
}
