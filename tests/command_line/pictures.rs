//! `tuwtree draw` and `tuwtree optimize --report`: what they write, and what they refuse.

use crate::program::{command, folder, tuwtree, tuwtree_with_input, workspace_file};
use std::fs;
use std::path::Path;
use std::process::Stdio;

/// A tree file in this folder, by the arguments of `optimize`.
fn tree_file(folder: &Path, arguments: &str) -> String {
    let file = folder.join("tree.json").display().to_string();
    tuwtree(&format!("optimize {arguments} -o {file}")).success();
    file
}

#[test]
fn both_pictures_are_drawn_plain_and_packed() {
    let folder = folder("drawn");
    let tree = tree_file(&folder, "--dist spikes -p 300 --algorithm optimal");
    for picture in ["tree", "timeline"] {
        let svg = tuwtree(&format!("draw {tree} --picture {picture}")).success();
        let document = roxmltree::Document::parse(&svg).unwrap();
        assert!(document.root_element().has_tag_name("svg"));
        assert!(svg.contains("gather over 300 processes"));
        for (name, start) in [("a.svg", svg.as_bytes()), ("a.svg.gz", b"\x1f\x8b")] {
            let file = folder.join(name);
            tuwtree(&format!("draw {tree} --picture {picture} -o {}", file.display())).success();
            assert!(fs::read(&file).unwrap().starts_with(start), "{name}");
        }
    }
}

#[test]
fn a_schedule_is_drawn_like_its_tree() {
    let folder = folder("drawn_schedule");
    let tree = tree_file(&folder, "--dist random -p 40 --algorithm adaptive --op scatter");
    let schedule = folder.join("schedule.json").display().to_string();
    tuwtree(&format!("export {tree} --format json -o {schedule}")).success();
    for picture in ["tree", "timeline"] {
        assert_eq!(
            tuwtree(&format!("draw {tree} --picture {picture}")).success(),
            tuwtree(&format!("draw {schedule} --picture {picture}")).success()
        );
    }
}

#[test]
fn a_picture_states_the_costs_that_it_was_made_by() {
    let folder = folder("drawn_costs");
    let tree = tree_file(&folder, "--dist same -p 5 -b 10 --algorithm linear");
    for picture in ["tree", "timeline"] {
        let svg = tuwtree(&format!("draw {tree} --picture {picture} --alpha 7")).success();
        // Four messages of 10 bytes and a copy.
        assert!(svg.contains("alpha = 7, beta = 1") && svg.contains("completion time 78"), "{svg}");
        let machine = workspace_file("data/machines/opt-table-1.toml");
        let svg =
            tuwtree(&format!("draw {tree} --picture {picture} --machine {}", machine.display()));
        assert!(svg.success().contains("machine "));
    }
}

#[test]
fn a_tree_without_blocks_is_drawn_without_times() {
    let tree = r#"{"format":"tuwtree-tree","version":1,"processors":3,"root":1,"subtrees":[[],[0,1,2],[]]}"#;
    let svg = tuwtree_with_input("draw -", tree).success();
    assert!(svg.contains("tree over 3 processes, root 1") && !svg.contains("completion time"));
    assert!(tuwtree_with_input("draw - --dist same", tree).success().contains("completion time"));
    tuwtree_with_input("draw - --picture timeline", tree).fails(2, &["--sizes", "--dist"]);
    tuwtree_with_input("draw - --colour-by wait", tree).fails(2, &["--sizes", "--dist"]);
}

#[test]
fn what_cannot_be_drawn_is_refused() {
    let folder = folder("undrawn");
    let tree = tree_file(&folder, "--dist same -p 9 --algorithm linear");
    for (arguments, code, messages) in [
        ("--rows 7", 2, &["7", "8..=2000"][..]),
        ("--rows 2001", 2, &["2001", "8..=2000"]),
        ("--depth 0", 2, &["0", "1..=200"]),
        ("--picture graph", 2, &["graph", "timeline"]),
        ("--colour-by red", 2, &["red", "critical-path"]),
        ("--picture timeline --colour-by wait", 2, &["--colour-by", "--picture tree"]),
        ("--picture timeline --depth 3", 2, &["--depth", "--picture tree"]),
        ("-o picture.jpeg", 2, &["picture.jpeg", ".svg", ".png"]),
        ("-o picture", 2, &["picture", ".svg", ".png"]),
        ("-o no/such/folder/picture.svg", 1, &["no/such/folder/picture.svg"]),
        ("--dist same -p 4", 2, &["9 processes", "4 block sizes"]),
    ] {
        tuwtree(&format!("draw {tree} {arguments}")).fails(code, messages);
    }
    tuwtree("draw no-file").fails(1, &["no-file"]);
    tuwtree_with_input("draw -", "{").fails(1, &["standard input"]);
    let schedule = folder.join("schedule.json").display().to_string();
    tuwtree(&format!("export {tree} --format json -o {schedule}")).success();
    tuwtree(&format!("draw {schedule} --dist same")).fails(2, &["--dist", "for trees"]);
}

#[test]
fn a_report_is_one_small_page_and_the_same_each_time() {
    let folder = folder("report");
    let file = folder.join("report.html");
    let arguments = format!("compare --dist spikes --report {}", file.display());
    assert!(tuwtree(&arguments).success().contains("Recommended: optimal"));
    let page = fs::read_to_string(&file).unwrap();
    assert!(page.len() < 3_000_000, "{} bytes", page.len());
    assert!(page.contains("2002600") && page.contains("binary"));
    tuwtree(&arguments).success();
    assert_eq!(page, fs::read_to_string(&file).unwrap());
    let printed = tuwtree("compare --dist spikes --report -").success();
    assert_eq!(page, printed);
    tuwtree("optimize --dist same -p 3 --report - -o -").fails(2, &["--output - --report -"]);
}

#[test]
fn names_of_files_are_escaped_in_reports() {
    let folder = folder("<img src=x>&'\"");
    let sizes = folder.join("a<b>.txt");
    let report = folder.join("report.html");
    fs::write(&sizes, "1 2 3").unwrap();
    let arguments =
        ["compare", "--sizes", sizes.to_str().unwrap(), "--report", report.to_str().unwrap()];
    let status = command(&arguments).stdout(Stdio::null()).status().unwrap();
    assert!(status.success());
    let page = fs::read_to_string(report).unwrap();
    assert!(page.contains("a&lt;b&gt;.txt") && !page.contains("<img"), "{page}");
}

/// The sample pictures in `docs/pictures.md`, and the commands that draw them.
const SAMPLES: [(&str, &str, &str); 2] = [
    ("docs/figures/tree.svg", "--dist spikes --algorithm optimal", "--rows 24"),
    (
        "docs/figures/timeline.svg",
        "--dist random -p 16 --root 5 --algorithm optimal",
        "--picture timeline",
    ),
];

#[test]
fn sample_pictures_are_what_the_commands_write() {
    let folder = folder("samples");
    for (file, problem, options) in SAMPLES {
        let tree = tree_file(&folder, problem);
        let svg = tuwtree(&format!("draw {tree} {options}")).success();
        let path = workspace_file(file);
        if std::env::var_os("TUWTREE_REFRESH").is_some() {
            fs::write(&path, &svg).unwrap();
        }
        assert!(svg == fs::read_to_string(&path).unwrap(), "{file} is not what is drawn");
        let text = fs::read_to_string(workspace_file("docs/pictures.md")).unwrap();
        let commands = format!(
            "tuwtree optimize {problem} -o tree.json\ntuwtree draw tree.json {options} -o "
        );
        assert!(text.contains(&commands), "docs/pictures.md does not show {commands:?}");
    }
}
