//! The built program, run as users run it.

use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread::ThreadId;

/// What a run printed, and its exit code.
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    /// The standard output of a run that succeeded, and said nothing else but notes.
    #[track_caller]
    pub(crate) fn success(self) -> String {
        assert_eq!(self.code, 0, "{}", self.stderr);
        let mut lines = self.stderr.lines();
        assert!(lines.all(|line| line.starts_with("note: ")), "{}", self.stderr);
        self.stdout
    }

    /// Fails unless the run ended with this code and an error that says all of this.
    #[track_caller]
    pub(crate) fn fails(&self, code: i32, messages: &[&str]) {
        assert_eq!(self.code, code, "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        for message in messages {
            assert!(self.stderr.contains(message), "no {message:?} in {:?}", self.stderr);
        }
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        assert_eq!(self.stdout, "", "a failed command prints no results");
    }
}

/// The program with these arguments, not yet started: no input, no colours.
pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tuwtree"));
    command.args(arguments).stdin(Stdio::null());
    command
}

/// Runs the program with these arguments, separated by blanks.
pub(crate) fn tuwtree(arguments: &str) -> Run {
    tuwtree_with_input(arguments, "")
}

/// What the program prints as JSON with these arguments.
#[track_caller]
pub(crate) fn json(arguments: &str) -> Value {
    serde_json::from_str(&tuwtree(arguments).success()).expect("JSON")
}

/// The names and completion times of a comparison's constructions, in their order.
pub(crate) fn times(comparison: &Value) -> Vec<(&str, u64)> {
    let constructions = comparison["constructions"].as_array().expect("a list");
    let names = constructions.iter().map(|one| one["construction"].as_str().expect("a name"));
    let time = |one: &'_ Value| one["completion_time"].as_u64().expect("a whole number");
    names.zip(constructions.iter().map(time)).collect()
}

/// Runs the program with these arguments, separated by blanks, and this standard input.
pub(crate) fn tuwtree_with_input(arguments: &str, input: &str) -> Run {
    let arguments: Vec<&str> = arguments.split_whitespace().collect();
    let mut child = command(&arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    // A program that does not read its input closes it; that is no failure of the test.
    let _ = child.stdin.take().expect("a pipe").write_all(input.as_bytes());
    let output = child.wait_with_output().expect("the program ends");
    Run {
        code: output.status.code().expect("the program is not killed"),
        stdout: String::from_utf8(output.stdout).expect("UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

/// A new folder for a test's files, named after the test; what an earlier run left is removed.
pub(crate) fn folder(name: &str) -> PathBuf {
    static OWNERS: Mutex<BTreeMap<String, ThreadId>> = Mutex::new(BTreeMap::new());
    let this = std::thread::current().id();
    let owner = *OWNERS.lock().unwrap().entry(name.to_owned()).or_insert(this);
    assert_eq!(owner, this, "another test removes the folder {name} too");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder for temporary files");
    folder
}

/// A file at the top of the workspace.
pub(crate) fn workspace_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}
