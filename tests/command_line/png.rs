//! Pictures as PNG: drawn by a program that is built with the feature `png`, else refused.

use crate::program::{folder, tuwtree, workspace_file};
use std::fs;

/// Every command that draws, without the file to draw to.
fn drawings(tree: &str) -> [String; 4] {
    let times = workspace_file("data/measurements/two-cores.json").display().to_string();
    [
        format!("draw {tree} --picture tree"),
        format!("draw {tree} --picture timeline"),
        format!("report {times}"),
        "map -p 12 -b 100 --columns 1 --rows 1".to_owned(),
    ]
}

#[test]
fn pngs_are_drawn_or_refused_before_any_work() {
    let folder = folder("png");
    let tree = folder.join("tree.json").display().to_string();
    tuwtree(&format!("optimize --dist spikes -p 300 --algorithm optimal -o {tree}")).success();
    let file = folder.join("picture.png");
    for drawing in drawings(&tree) {
        fs::write(&file, "precious").unwrap();
        let run = tuwtree(&format!("{drawing} -o {}", file.display()));
        if cfg!(feature = "png") {
            assert_eq!(run.success(), "");
            assert!(fs::read(&file).unwrap().starts_with(b"\x89PNG\r\n"), "{drawing}");
        } else {
            run.fails(1, &["built without PNG", "--features png", "write SVG"]);
            assert_eq!(fs::read_to_string(&file).unwrap(), "precious", "{drawing}");
        }
    }
}

#[cfg(feature = "png")]
#[test]
fn a_png_that_is_too_large_is_refused_and_nothing_written() {
    let folder = folder("too_large");
    let tree = folder.join("tree.json").display().to_string();
    tuwtree(&format!("optimize --dist same -p 1000 --algorithm linear -o {tree}")).success();
    let file = folder.join("picture.png");
    fs::write(&file, "precious").unwrap();
    tuwtree(&format!("draw {tree} --rows 2000 -o {}", file.display()))
        .fails(1, &["pixels", "--rows"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), "precious");
}
