//! The commands in the help, run as they are printed.

use crate::program::{folder, tuwtree, workspace_file};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// Files that the examples name, from the workspace's data.
const FILES: [(&str, &str); 5] = [
    ("listings/osu.txt", "osu.txt"),
    ("listings/osu.txt", "inside.txt"),
    ("shapes/hostfile", "hostfile"),
    ("measurements/two-cores.json", "gather.json"),
    ("recordings/petsc-gamg.json", "calls.json"),
];

/// Commands that make the other files.
const PREPARED: [&str; 8] = [
    "tuwtree generate --dist spikes -p 5 -b 64 -o blocks.txt",
    "tuwtree generate --dist random -p 5 -b 64 -o other.txt",
    "tuwtree generate --dist random -p 92 -b 64 -o counts.txt",
    "tuwtree machine opt-table-1 -o cluster.json",
    "tuwtree optimize --sizes blocks.txt --root 0 -o tree.json",
    "tuwtree optimize --op allgather --sizes blocks.txt -o plan.json",
    "tuwtree export tree.json --format json -o schedule.json",
    "tuwtree export tree.json --format json -o schedule.json.gz",
];

/// Runs a command line in a folder by the shell.
fn run(line: &str, folder: &Path) {
    let program = Path::new(env!("CARGO_BIN_EXE_tuwtree")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let mut shell = Command::new("sh");
    let output = shell.args(["-c", line]).current_dir(folder).env("PATH", path).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{line}\n{said}");
}

#[test]
fn examples_in_the_help_run_as_they_are_printed() {
    let folder = folder("examples");
    for (file, name) in FILES {
        std::fs::copy(workspace_file("data").join(file), folder.join(name)).unwrap();
    }
    PREPARED.iter().for_each(|line| run(line, &folder));
    let main = tuwtree("--help").success();
    let names = main.lines().skip_while(|line| *line != "Commands:").skip(1);
    let names = names.take_while(|line| !line.is_empty()).filter_map(|line| {
        let name = line.strip_prefix("  ")?.split(' ').next()?;
        (!name.is_empty() && name != "help").then_some(name)
    });
    let mut seen = BTreeSet::new();
    for command in std::iter::once("").chain(names) {
        let help = tuwtree(format!("{command} --help").trim()).success();
        for line in help.lines().filter(|line| line.starts_with("  tuwtree ")) {
            // A comment stands behind two blanks.
            let line = line.trim_start().split("  ").next().unwrap();
            if line.starts_with("tuwtree report calls.json") {
                let measured = workspace_file("data/measurements/recorded-calls.json");
                std::fs::copy(measured, folder.join("calls.json")).unwrap();
            }
            if seen.insert(line.to_owned()) {
                run(line, &folder);
            }
        }
    }
    assert!(seen.len() > 40, "{seen:?}");
}
