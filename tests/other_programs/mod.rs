//! Checks against other people's programs. They need Debian packages, so that plain `cargo test`
//! leaves them out and `./test --all` runs them.

use crate::program::workspace_file;

mod astra_sim;
mod c_files;
mod chakra;
mod chromium;
mod forced;
mod loggopsim;
mod mpi;
mod network;
mod on_nodes;
mod ordered;
mod page;
mod pdf;
mod settings;
mod simgrid;
mod smpi_runs;
mod tuning;

#[test]
fn the_script_runs_every_check_that_says_so() {
    let script = std::fs::read_to_string(workspace_file("test")).unwrap();
    let names: Vec<&str> =
        script.split_whitespace().filter(|word| word.starts_with("other_programs::")).collect();
    let mut checked = 0;
    for (folder, module) in
        [("tests/other_programs", ""), ("tests/other_programs/network", "network::")]
    {
        for file in std::fs::read_dir(workspace_file(folder)).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "rs") {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            let stem = path.file_stem().unwrap().to_str().unwrap();
            for ignored in text.split("#[ignore = \"").skip(1) {
                let (reason, after) = ignored.split_once("\"]").unwrap();
                if !reason.contains("./test") {
                    continue;
                }
                let name = after.split_once("fn ").unwrap().1.split('(').next().unwrap();
                let test = format!("other_programs::{module}{stem}::{name}");
                assert!(
                    names.iter().any(|part| test.contains(part)),
                    "./test --all leaves out {test}"
                );
                checked += 1;
            }
        }
    }
    assert!(checked > 10, "{checked}");
}
