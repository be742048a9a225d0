//! README and manual: every `console` block's commands print what stands below them, every command in a `sh` block is one
//! that the program knows, the reference is what the program says of itself, and no link leads nowhere.
//!
//! `TUWTREE_REFRESH=1` writes new output and the reference into the pages instead.

use crate::program::{command, folder, workspace_file};
use std::fs;
use std::path::{Path, PathBuf};

/// One command of a session, and what is said to follow.
struct Example {
    command: String,
    output: String,
}

/// A page in pieces: plain text, and sessions.
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

/// README and all pages of the manual.
fn pages() -> Vec<PathBuf> {
    let docs = fs::read_dir(workspace_file("docs")).unwrap().map(|entry| entry.unwrap().path());
    let mut pages: Vec<PathBuf> =
        docs.filter(|path| path.extension().is_some_and(|end| end == "md")).collect();
    pages.push(workspace_file("README.md"));
    pages.sort();
    assert!(pages.len() > 20, "{pages:?}");
    pages
}

/// A folder with the data of a clone, in which a page's sessions run.
fn clone_of(page: &Path) -> PathBuf {
    let folder = folder(&format!("manual-{}", page.file_stem().unwrap().to_string_lossy()));
    let data = folder.join("data");
    let _ = fs::remove_file(&data);
    std::os::unix::fs::symlink(workspace_file("data").canonicalize().unwrap(), data).unwrap();
    folder
}

#[test]
fn sessions_print_what_they_show() {
    let refresh = std::env::var_os("TUWTREE_REFRESH").is_some();
    let mut samples = 0;
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        let folder = clone_of(&page);
        let mut refreshed = String::new();
        for piece in pieces(&text) {
            match piece {
                Section::Text(text) => refreshed.push_str(&text),
                Section::Session(session) => {
                    for Example { command, output } in session {
                        // What runs on a cluster is shown as it was.
                        let printed = match command.starts_with("tuwtree ") {
                            true => run(&command, &folder),
                            false => output.clone(),
                        };
                        refreshed.push_str(&format!("$ {command}\n{printed}"));
                        if !refresh {
                            let place = format!("{}: {command}", page.display());
                            assert_eq!(timeless(&output), timeless(&printed), "{place}");
                        }
                        samples += 1;
                    }
                }
            }
        }
        if refresh && refreshed != text {
            fs::write(&page, refreshed).unwrap();
        }
    }
    assert!(samples > 10, "{samples} samples");
}

#[test]
fn commands_outside_sessions_are_ones_that_the_program_knows() {
    let mut commands = 0;
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        for block in text.split("\n```sh\n").skip(1) {
            let block = block.split("\n```").next().unwrap().replace("\\\n", " ");
            let lines = block.lines().map(|line| line.split(" #").next().unwrap());
            let lines = lines.flat_map(|line| line.split(['|', ';']));
            for line in lines.map(str::trim).filter(|line| line.starts_with("tuwtree ")) {
                // Redirections are the shell's; all before --help is parsed.
                let words = line.split(" >").next().unwrap().split_whitespace().skip(1);
                let arguments: Vec<&str> = words.chain(["--help"]).collect();
                let output = command(&arguments).output().unwrap();
                let error = String::from_utf8_lossy(&output.stderr).into_owned();
                assert!(output.status.success(), "{}: {line}: {error}", page.display());
                commands += 1;
            }
        }
    }
    assert!(commands > 10, "{commands} commands");
}

/// Pieces of a help text: an option with its description is one, each other line another.
fn entries(help: &str) -> Vec<String> {
    let mut entries: Vec<String> = Vec::new();
    for line in help.split_inclusive('\n') {
        let goes_on = line.trim().is_empty() || line.starts_with("        ");
        match entries.last_mut().filter(|last| is_option(last) && goes_on) {
            Some(option) => option.push_str(line),
            None => entries.push(line.to_owned()),
        }
    }
    entries
}

/// True for a piece of a help text that describes an option.
fn is_option(entry: &str) -> bool {
    entry.starts_with("  ") && entry.trim_start().starts_with('-')
}

/// The long name of an option.
fn option_name(entry: &str) -> &str {
    let mut words = entry.split([' ', ',', '\n', '.', '[']).filter(|word| !word.is_empty());
    words.find(|word| word.starts_with("--")).expect("options have long names")
}

/// A help text without headings that no option follows, and without more than one empty line in a row.
fn without_empty_headings(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let is_heading = |line: &str| !line.starts_with(' ') && line.ends_with(':');
    let mut kept: Vec<&str> = Vec::new();
    for (at, &line) in lines.iter().enumerate() {
        let below = lines[at + 1..].iter().find(|line| !line.trim().is_empty());
        let has_entries = below.is_some_and(|below| below.starts_with(' '));
        let is_second_space =
            line.trim().is_empty() && kept.last().is_none_or(|it| it.trim().is_empty());
        if !(is_heading(line) && !has_entries || is_second_space) {
            kept.push(line);
        }
    }
    kept.join("\n").trim_end().to_owned()
}

#[test]
fn the_reference_is_what_the_program_says() {
    let help = |arguments: &[&str]| {
        let output = command(arguments).env("COLUMNS", "100").output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let program = help(&["--help"]);
    let list = program.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let names = list
        .lines()
        .filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' ')));
    let names: Vec<&str> = names.map(|line| line.split_whitespace().next().unwrap()).collect();
    assert!(names.contains(&"optimize"), "{names:?}");
    let commands: Vec<(&str, Vec<String>)> = names
        .into_iter()
        .filter(|name| *name != "help")
        .map(|name| (name, entries(&help(&[name, "--help"]))))
        .collect();
    let is_shared = |entry: &String| {
        is_option(entry) && commands.iter().filter(|(_, all)| all.contains(entry)).count() >= 2
    };
    let mut shared: Vec<&String> = Vec::new();
    for entry in commands.iter().flat_map(|(_, all)| all).filter(|entry| is_shared(entry)) {
        if !shared.contains(&entry) {
            shared.push(entry);
        }
    }
    let mut reference = format!(
        "# Commands and options\n\nThe output of `--help`, of the program and of each command.\n\n```text\n{program}```\n\n\
         ## Shared options\n\nOptions with one meaning in several commands; each command lists their names.\n\n\
         ```text\n{}\n```\n",
        shared.into_iter().map(|entry| entry.trim_end()).collect::<Vec<_>>().join("\n")
    );
    for (name, all) in &commands {
        let (shared, own): (Vec<&String>, Vec<&String>) =
            all.iter().partition(|one| is_shared(one));
        // Headings of which no option is left have no options below them.
        let text: String = own.into_iter().map(String::as_str).collect();
        let text = without_empty_headings(&text);
        let names: Vec<&str> = shared.iter().map(|entry| option_name(entry)).collect();
        reference += &format!("\n## tuwtree {name}\n\n```text\n{text}\n```\n");
        if !names.is_empty() {
            reference += &format!("\nShared options: `{}`.\n", names.join("`, `"));
        }
    }
    let reference: String =
        reference.lines().map(|line| format!("{}\n", line.trim_end())).collect();
    let page = workspace_file("docs/reference.md");
    match std::env::var_os("TUWTREE_REFRESH") {
        Some(_) => fs::write(&page, reference).unwrap(),
        None => assert_eq!(fs::read_to_string(&page).unwrap(), reference),
    }
}

/// The anchors of a page: its headings as mdBook and GitHub name them.
fn anchors(text: &str) -> Vec<String> {
    let headings = text.lines().filter_map(|line| line.strip_prefix('#'));
    let named = |heading: &str| -> String {
        let plain = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = plain.chars().filter(|one| one.is_alphanumeric() || " -_".contains(*one));
        kept.map(|one| if one == ' ' { '-' } else { one }).collect()
    };
    headings.map(named).collect()
}

#[test]
fn links_lead_somewhere() {
    let mut links = 0;
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if link.contains("://") || link.contains(' ') || link.is_empty() {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let is_of_book = page.file_name().is_some_and(|name| name != "README.md");
            assert!(
                !(is_of_book && file.starts_with("..")),
                "{}: {link} leaves the book",
                page.display()
            );
            let target = match file {
                "" => page.clone(),
                file => page.parent().unwrap().join(file),
            };
            assert!(target.exists(), "{}: no {link}", page.display());
            if !anchor.is_empty() {
                let anchors = anchors(&fs::read_to_string(&target).unwrap());
                assert!(anchors.iter().any(|one| one == anchor), "{}: no {link}", page.display());
            }
            links += 1;
        }
    }
    assert!(links > 50, "{links} links");
}

/// Adds the Rust files of a folder, and of those in it.
fn add_rust_files(folder: &Path, files: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            add_rust_files(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path.display().to_string());
        }
    }
}

#[test]
fn rust_files_that_pages_name_exist() {
    let mut files = Vec::new();
    for folder in ["crates", "tests", "benches", "examples", "python/src"] {
        add_rust_files(&workspace_file(folder), &mut files);
    }
    let others = ["ARCHITECTURE.md", "CONTRIBUTING.md"].map(workspace_file);
    let mut names = 0;
    for page in pages().into_iter().chain(others) {
        let text = fs::read_to_string(&page).unwrap();
        let is_file = |name: &&str| name.ends_with(".rs") && !name.contains(' ');
        // NAME stands for a file of the reader's own.
        for name in text.split('`').filter(is_file).filter(|name| !name.contains("NAME")) {
            let end = format!("/{name}");
            assert!(files.iter().any(|file| file.ends_with(&end)), "{}: no {name}", page.display());
            names += 1;
        }
    }
    assert!(names > 30, "{names} names");
}

#[test]
fn the_manual_has_every_page_and_the_readme_is_short() {
    let summary = fs::read_to_string(workspace_file("docs/SUMMARY.md")).unwrap();
    for page in pages() {
        let name = page.file_name().unwrap().to_string_lossy().into_owned();
        let is_part = ["README.md", "SUMMARY.md"].contains(&name.as_str());
        assert!(is_part || summary.contains(&format!("({name})")), "{name} is not in SUMMARY.md");
    }
    let readme = fs::read_to_string(workspace_file("README.md")).unwrap();
    assert!(readme.lines().count() <= 120, "{} lines", readme.lines().count());
}
