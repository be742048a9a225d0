//! Pictures as PNG and PDF: drawn by a program that is built with the features `png` and `pdf`, else refused.

use crate::program::{folder, tuwtree, workspace_file};
use std::fs;

/// Every command that draws, without the file to draw to.
fn drawings(tree: &str) -> [String; 5] {
    let times = workspace_file("data/measurements/two-cores.json").display().to_string();
    [
        format!("draw {tree} --picture tree"),
        format!("draw {tree} --picture timeline"),
        format!("report {times}"),
        "map -p 12 -b 100 --columns 1 --rows 1".to_owned(),
        "sweep --dist same -p 8 --root 0".to_owned(),
    ]
}

#[test]
fn pngs_and_pdfs_are_drawn_or_refused_before_any_work() {
    let folder = folder("picture_files");
    let tree = folder.join("tree.json").display().to_string();
    tuwtree(&format!("optimize --dist spikes -p 300 --algorithm optimal -o {tree}")).success();
    let formats: [(&str, bool, &[u8]); 2] = [
        ("png", cfg!(feature = "png"), b"\x89PNG\r\n"),
        ("pdf", cfg!(feature = "pdf"), b"%PDF-1."),
    ];
    for (format, is_built_in, start) in formats {
        let file = folder.join("picture").with_extension(format);
        for drawing in drawings(&tree) {
            fs::write(&file, "precious").unwrap();
            let run = tuwtree(&format!("{drawing} -o {}", file.display()));
            if is_built_in {
                assert_eq!(run.success(), "");
                assert!(fs::read(&file).unwrap().starts_with(start), "{drawing} {format}");
            } else {
                let name = format!("built without {}", format.to_uppercase());
                run.fails(1, &[&name, &format!("--features {format}"), "write SVG"]);
                assert_eq!(fs::read_to_string(&file).unwrap(), "precious", "{drawing} {format}");
            }
        }
    }
}

#[cfg(all(feature = "png", feature = "pdf"))]
#[test]
fn a_png_or_pdf_that_is_too_large_is_refused_and_nothing_written() {
    let folder = folder("too_large");
    let tree = folder.join("tree.json").display().to_string();
    tuwtree(&format!("optimize --dist same -p 1000 --algorithm linear -o {tree}")).success();
    for (name, unit) in [("picture.png", "pixels"), ("picture.pdf", "points")] {
        let file = folder.join(name);
        fs::write(&file, "precious").unwrap();
        tuwtree(&format!("draw {tree} --rows 2000 -o {}", file.display()))
            .fails(1, &[unit, "--rows"]);
        assert_eq!(fs::read_to_string(&file).unwrap(), "precious");
    }
}
