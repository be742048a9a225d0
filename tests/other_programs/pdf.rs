//! Pictures as PDF in programs that read it: qpdf checks their structure, pdftotext reads their words.

use crate::program::{folder, tuwtree, workspace_file};
use std::process::Command;

/// What a program prints that succeeds.
fn printed(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().expect("the program is installed");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{program} {arguments:?}: {said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
#[ignore = "needs qpdf and pdftotext: ./test --all runs it"]
fn pdfs_are_sound_and_have_their_words_as_text_in_a_font_inside() {
    let folder = folder("pdf");
    let tree = folder.join("tree.json").display().to_string();
    tuwtree(&format!("optimize --dist spikes -p 200 --machine vsc3 -o {tree}")).success();
    let times = workspace_file("data/measurements/two-cores.json").display().to_string();
    for (drawing, word) in [
        (format!("draw {tree}"), "gather over 200 processes"),
        (format!("draw {tree} --picture timeline"), "busy 5.6 % of the time"),
        (format!("report {times}"), "measured times"),
        ("sweep --dist same,spikes --machine vsc3 -p 16..64 --root 0".to_owned(), "spikes"),
        ("map -p 12 -b 100 --columns 2 --rows 2".to_owned(), "exponent"),
    ] {
        let file = folder.join("picture.pdf").display().to_string();
        tuwtree(&format!("{drawing} -o {file}")).success();
        assert!(
            printed("qpdf", &["--check", &file]).contains("No syntax or stream encoding errors")
        );
        let text = printed("pdftotext", &["-layout", &file, "-"]);
        assert!(text.contains(word), "{drawing}: no {word:?} in {text}");
        let fonts = printed("pdffonts", &[&file]);
        let font = fonts.lines().find(|line| line.contains("DejaVuSans")).expect("the font");
        // The columns emb, sub and uni: embedded, a subset, with a map to Unicode.
        assert!(font.contains("yes yes yes"), "{fonts}");
    }
}
