//! One contract of output: `--format`, `--json`, the ending of `-o`; numbers with units.

use crate::program::{folder, tuwtree, tuwtree_with_input, workspace_file};
use std::fs;

/// A tree file for six processes.
fn tree(name: &str) -> String {
    let file = folder(name).join("tree.json").display().to_string();
    tuwtree(&format!("optimize --dist spikes -p 6 --root 0 -o {file}")).success();
    file
}

/// The rows of a table, each as many fields as the heading.
fn rows(csv: &str) -> usize {
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let rows: Result<Vec<_>, _> = reader.records().collect();
    rows.expect("as many fields in each row").len()
}

#[test]
fn what_is_printed_has_three_formats() {
    let tree = tree("three_formats");
    for (command, format, count) in [
        ("optimize --dist spikes -p 6 --algorithm linear optimal", "tuwtree-comparison", 2),
        ("compare --dist spikes -p 6 --algorithm linear optimal", "tuwtree-comparison", 2),
        ("advise --dist spikes -p 6 --algorithm linear optimal", "tuwtree-advice", 2),
        ("evaluate TREE", "tuwtree-evaluation", 1),
        ("show TREE", "tuwtree-messages", 5),
        ("simulate TREE", "tuwtree-simulation", 0),
        ("verify TREE", "tuwtree-verification", 1),
        ("generate --dist spikes -p 6", "tuwtree-sizes", 6),
    ] {
        let command = command.replace("TREE", &tree);
        let json = tuwtree(&format!("{command} --format json")).success();
        assert_eq!(json, tuwtree(&format!("{command} --json")).success(), "{command}");
        let document: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(document["format"], format, "{command}");
        let csv = tuwtree(&format!("{command} --format csv")).success();
        assert!(rows(&csv) >= count.max(1), "{command}: {csv}");
        assert!(!tuwtree(&format!("{command} --format text")).success().is_empty());
        let wrong = tuwtree(&format!("{command} --format toml"));
        wrong.fails(2, &["'toml'", "--format", "text, json, csv"]);
        tuwtree(&format!("{command} --json --format csv")).fails(2, &["cannot be used with"]);
    }
}

#[test]
fn every_field_of_a_comparison_is_in_the_documentation() {
    let formats = fs::read_to_string(workspace_file("docs/formats.md")).unwrap();
    let (_, section) = formats.split_once("a `tuwtree-comparison` of version 3").unwrap();
    let (section, _) = section.split_once("`tuwtree advise --json`").unwrap();
    let folder = folder("fields");
    let file = |name: &str, text: &str| {
        let file = folder.join(name);
        fs::write(&file, text).unwrap();
        file.display().to_string()
    };
    let (first, second) = (file("first.txt", "4 400 4 9"), file("second.txt", "4 400"));
    let matrix = file("matrix.csv", "0,1,900,1\n1,0,1,900\n900,1,0,1\n1,900,1,0\n");
    let blocks = format!("--sizes {first}");
    let groups = format!("--sizes {first} --sizes-remote {second}");
    for (operation, data) in [
        ("gather", blocks.as_str()),
        ("scatter", &blocks),
        ("broadcast", "--vector 96 -p 5"),
        ("broadcast --cut", "--vector 96 -p 5"),
        ("reduce", "--vector 96 -p 5"),
        ("reduce --cut --element 8", "--vector 96 -p 5"),
        ("allgather", &blocks),
        ("reduce-scatter", &blocks),
        ("allreduce --element 8", "--vector 96 -p 5"),
        ("alltoall", &format!("--matrix {matrix}")),
        ("intergroup-allgather", &groups),
    ] {
        let trees = operation.starts_with("gather") || operation.starts_with("scatter");
        let variants = ["", "--overhead 40", "--exchange-alpha 200 --duplex", "--machine vsc3"];
        let along_none = !trees && !["broadcast", "reduce"].contains(&operation);
        for variant in variants.into_iter().filter(|one| along_none || !one.contains("duplex")) {
            let command = format!("compare --op {operation} {data} {variant} --json");
            let text = tuwtree(&command).success();
            let document: serde_json::Value = serde_json::from_str(&text).unwrap();
            let fields = |value: &serde_json::Value| -> Vec<String> {
                value.as_object().unwrap().keys().cloned().collect()
            };
            let each = |list: &str| {
                let list = document[list].as_array().unwrap().iter();
                list.flat_map(&fields).collect::<Vec<_>>()
            };
            for field in
                fields(&document).into_iter().chain(each("skipped")).chain(each("baselines"))
            {
                let is_known = ["format", "version", "construction"].contains(&field.as_str());
                assert!(is_known || section.contains(&format!("`{field}`")), "{command}: {field}");
            }
            for field in each("constructions") {
                assert!(section.contains(&format!("`….{field}`")), "{command}: {field}");
            }
        }
    }
}

#[test]
fn the_ending_of_the_output_decides() {
    let folder = folder("endings");
    let path = |name: &str| folder.join(name).display().to_string();
    let json = path("sizes.json");
    tuwtree(&format!("generate --dist same -p 2 -b 7 -o {json}")).success();
    assert!(fs::read_to_string(&json).unwrap().starts_with("{\"format\":\"tuwtree-sizes\""));
    let csv = path("sizes.csv");
    tuwtree(&format!("generate --dist same -p 2 -b 7 -o {csv}")).success();
    assert_eq!(fs::read_to_string(&csv).unwrap(), "rank,size_bytes\n0,7\n1,7\n");
    let both = format!("generate --dist same -p 2 --format json -o {csv}");
    tuwtree(&both).fails(2, &["sizes.csv", "ends with .csv", "--format is json"]);
    tuwtree(&format!("generate --dist same -o {}", path("x.svg")))
        .fails(2, &["x.svg", "text, json and csv", "no .svg"]);
    tuwtree(&format!("generate --dist same -o {csv} -o {csv}")).fails(2, &["multiple times"]);
    tuwtree(&format!("optimize --dist same -p 3 -o {}", path("tree.toml")))
        .fails(2, &["tree.toml", "json", "no"]);
    tuwtree(&format!("compare --dist same -p 3 --report {}", path("page.svg")))
        .fails(2, &["page.svg", "html"]);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 2, "what is refused writes nothing");
}

#[test]
fn two_outputs_in_one_place_are_refused() {
    let folder = folder("written_twice");
    let csv = folder.join("map.csv").display().to_string();
    let dotted = folder.join(".").join("map.csv").display().to_string();
    for (first, second) in [(&csv, &csv), (&csv, &dotted), (&"-".to_owned(), &"-".to_owned())] {
        tuwtree(&format!("map -p 4 -o {first} -o {second}")).fails(2, &["is written twice"]);
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
}

#[test]
fn a_search_may_last_a_time_with_a_unit() {
    let search = "optimize --dist same -p 4 --algorithm searched --order any --search-seconds";
    for time in ["500ms", "0.5", "0.5s"] {
        tuwtree(&format!("{search} {time}")).success();
    }
    tuwtree(&format!("{search} 5kB")).fails(2, &["5kB", "500ms"]);
}

#[test]
fn a_machine_is_written_as_its_name_says() {
    let folder = folder("machine_endings");
    let machine = workspace_file("data/machines/vsc3.toml");
    let machine = machine.display();
    for (name, start) in [("m.toml", "format = "), ("m.json", "{"), ("m.txt", "name ")] {
        let file = folder.join(name);
        tuwtree(&format!("machine {machine} -o {}", file.display())).success();
        assert!(fs::read_to_string(&file).unwrap().starts_with(start), "{name}");
    }
    tuwtree(&format!("machine {machine} --format csv")).fails(2, &["text, json, toml"]);
}

#[test]
fn bytes_and_costs_may_have_units() {
    let same = |one: &str, other: &str| {
        assert_eq!(tuwtree(one).success(), tuwtree(other).success(), "{one}");
    };
    same("generate --dist same -p 2 -b 64KiB", "generate --dist same -p 2 -b 65536");
    same("generate --dist same -p 2 -b 1e6", "generate --dist same -p 2 -b 1_000_000");
    same(
        "optimize --op broadcast --vector 8kB -p 9 --json",
        "optimize --op broadcast --vector 8000 -p 9 --json",
    );
    let optimize = "optimize --dist same -p 4 --json --algorithm linear";
    same(
        &format!("{optimize} --alpha 2us --beta 1GB/s --gamma 500ps"),
        &format!("{optimize} --alpha 2e-6 --beta 1e-9 --gamma 5e-10"),
    );
    same(
        &format!("{optimize} --alpha 2us --beta 1ns --gamma 0"),
        &format!("{optimize} --alpha 2e-6 --beta 1e-9 --gamma 0"),
    );
    for mixed in ["--alpha 2us", "--alpha 2us --beta 1", "--beta 12.5GB/s --alpha 3 --gamma 1ns"] {
        tuwtree(&format!("{optimize} {mixed}")).fails(2, &["has a unit", "with units, or none"]);
    }
    tuwtree("generate --dist same -b 1.5").fails(2, &["1.5", "64KiB"]);
    tuwtree(&format!("{optimize} --alpha 2GB/s")).fails(2, &["2GB/s", "2us"]);
}

#[test]
fn an_export_takes_its_format_from_the_name() {
    let tree = tree("export_names");
    let folder = folder("exported_names");
    let dot = folder.join("tree.dot");
    tuwtree(&format!("export {tree} -o {}", dot.display())).success();
    assert!(fs::read_to_string(&dot).unwrap().starts_with("digraph"));
    let wrong = format!("export {tree} --format goal -o {}", dot.display());
    tuwtree(&wrong).fails(2, &["tree.dot", "ends with .dot", "--format is goal"]);
    tuwtree(&format!("export {tree}")).fails(2, &["--format is needed", "goal"]);
}

#[test]
fn goal_never_makes_nothing_of_a_copy() {
    let tree = tree("goal_in_seconds");
    let seconds = format!("export {tree} --format goal --alpha 1us --beta 1ns --gamma 1ps");
    let goal = tuwtree(&seconds).success();
    assert!(goal.contains("// calc in units of ") && !goal.contains("calc 0\n"), "{goal}");
}

#[test]
fn faults_of_whole_documents_have_no_place() {
    let tree = r#"{"format":"tuwtree-tree","version":1,"processors":4,"root":1,"subtrees":[[],[0,1,2],[]]}"#;
    let run = tuwtree_with_input("show -", tree);
    run.fails(1, &["\"subtrees\" has 3 entries, but \"ranks\" is 4\n"]);
}
