//! The README's sample sessions, run: every `console` block's commands print what stands below them.
//!
//! `TUWTREE_REFRESH=1` writes the new output into the README instead.

use crate::program::{command, folder, workspace_file};
use std::path::Path;

/// One command of a session, and what is said to follow.
struct Example {
    command: String,
    output: String,
}

/// A README in pieces: plain text, and sessions.
enum Section {
    Text(String),
    Session(Vec<Example>),
}

fn pieces(text: &str) -> Vec<Section> {
    let mut pieces = vec![Section::Text(String::new())];
    let mut in_session = false;
    for line in text.split_inclusive('\n') {
        let starts = line.trim_end() == "```console";
        if in_session && line.trim_end() == "```" {
            in_session = false;
            pieces.push(Section::Text(String::new()));
        }
        match pieces.last_mut().unwrap() {
            Section::Text(text) => text.push_str(line),
            Section::Session(samples) => match line.strip_prefix("$ ") {
                Some(command) => samples.push(Example {
                    command: command.trim_end().to_owned(),
                    output: String::new(),
                }),
                None => samples.last_mut().unwrap().output.push_str(line),
            },
        }
        if starts {
            in_session = true;
            pieces.push(Section::Session(Vec::new()));
        }
    }
    pieces
}

/// What a command prints, run in this folder.
fn run(line: &str, folder: &Path) -> String {
    let mut words = line.split_whitespace();
    assert_eq!(words.next(), Some("tuwtree"), "sessions show only this program: {line}");
    let arguments: Vec<&str> = words.collect();
    let output = command(&arguments).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The text word by word, without what depends on the machine: how long a tree took to build.
fn timeless(output: &str) -> Vec<Vec<&str>> {
    output.lines().map(timeless_line).collect()
}

fn timeless_line(line: &str) -> Vec<&str> {
    let mut words: Vec<&str> = line.split_whitespace().collect();
    for unit in 1..words.len() {
        if ["µs", "ms", "s"].contains(&words[unit]) && words[unit - 1].parse::<f64>().is_ok() {
            (words[unit - 1], words[unit]) = ("some", "time");
        }
    }
    words
}

#[test]
fn readme_sessions_print_what_they_show() {
    let path = workspace_file("README.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let folder = folder("readme");
    // Users are in a clone, where the data is; what they write stays in the folder.
    std::os::unix::fs::symlink(workspace_file("data").canonicalize().unwrap(), folder.join("data"))
        .unwrap();
    let refresh = std::env::var_os("TUWTREE_REFRESH").is_some();
    let mut refreshed = String::new();
    let mut samples = 0;
    for piece in pieces(&text) {
        match piece {
            Section::Text(text) => refreshed.push_str(&text),
            Section::Session(session) => {
                for Example { command, output } in session {
                    let printed = run(&command, &folder);
                    refreshed.push_str(&format!("$ {command}\n{printed}"));
                    if !refresh {
                        assert_eq!(timeless(&output), timeless(&printed), "{command}");
                    }
                    samples += 1;
                }
            }
        }
    }
    assert!(samples > 0, "the README shows no session");
    if refresh {
        std::fs::write(&path, refreshed).unwrap();
    }
}
