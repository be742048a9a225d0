//! Packed files of a few megabytes that stand for gigabytes: refused by name and limit, in little memory.

use crate::program::folder;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// How many bytes of a bomb's filling are packed once, and then copied.
const UNIT: usize = 1 << 24;

/// A packed file of this beginning and then, again and again, this filling: so many bytes at least.
fn bomb(name: &str, beginning: &str, filling: &str, bytes: u64) -> PathBuf {
    let path = folder(name).join("bomb.gz");
    let pack = |text: &[u8]| {
        let mut packer = GzEncoder::new(Vec::new(), Compression::default());
        packer.write_all(text).unwrap();
        packer.finish().unwrap()
    };
    let unit = filling.repeat(UNIT / filling.len());
    let packed = pack(unit.as_bytes());
    let mut file = File::create(&path).unwrap();
    file.write_all(&pack(beginning.as_bytes())).unwrap();
    for _ in 0..bytes.div_ceil(unit.len() as u64) {
        file.write_all(&packed).unwrap();
    }
    assert!(file.metadata().unwrap().len() < 20 << 20, "a bomb is small");
    path
}

/// Runs the program with so many bytes of memory for all.
fn run_in(bytes: u64, arguments: &[&str], file: &Path) -> Output {
    Command::new("sh")
        .args(["-c", &format!("ulimit -v {}; exec \"$0\" \"$@\"", bytes / 1024)])
        .arg(env!("CARGO_BIN_EXE_tuwtree"))
        .args(arguments)
        .arg(file)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// Fails unless the program refuses this file in so little memory, by name and for this reason.
#[track_caller]
fn refused(command: &str, file: &Path, bytes: u64, reason: &str) {
    let arguments: Vec<&str> = command.split(' ').collect();
    let output = run_in(bytes, &arguments, file);
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{command}: {message}");
    assert!(message.contains("bomb.gz: ") && message.contains(reason), "{command}: {message}");
    assert_eq!(message.lines().count(), 1, "{command}: {message}");
    assert!(output.stdout.is_empty(), "{command}");
}

const LITTLE: u64 = 64 << 20;

/// The beginning of a document, up to the list that a bomb is made of.
fn document(format: &str, rest: &str) -> String {
    format!("{{\"format\":\"tuwtree-{format}\",\"version\":1,{rest}")
}

#[cfg(target_os = "linux")]
#[test]
fn block_sizes_that_unpack_to_more_than_the_limit_are_refused() {
    let file = bomb("bomb_sizes", "1 # ", "#", 3_200_000_000);
    refused("optimize --sizes", &file, LITTLE, "more than 3200000000 bytes");
    let file = bomb("bomb_csv", "rank,size_bytes\n0,1", "1", 1 << 24);
    refused("optimize --sizes", &file, LITTLE, "a line of more than 1048576 bytes");
}

#[cfg(target_os = "linux")]
#[test]
fn lists_that_unpack_to_more_than_the_limit_are_refused() {
    let tree = document("tree", "\"processors\":100000000,\"root\":0,\"subtrees\":[[]");
    let file = bomb("bomb_tree", &tree, ",[]", 300_000_000);
    refused("show", &file, LITTLE, "a list of more than 100000000 entries");
    let about = "\"name\":\"a\",\"date\":\"2026-01-01\",\"provenance\":\"b\"";
    let machine = document("machine", &format!("{about},\"matrix\":{{\"alpha_seconds\":[[0"));
    let file = bomb("bomb_machine", &machine, ",0", 1 << 24);
    refused("machine", &file, LITTLE, "a list of more than 8192 entries");
    let times = document(
        "measurements",
        "\"series\":[{\"distribution\":\"same\",\"mean_block\":1,\"seconds\":[1",
    );
    let file = bomb("bomb_times", &times, ",1", 1 << 26);
    refused("report", &file, 512 << 20, "a list of more than 16777216 entries");
}

#[cfg(target_os = "linux")]
#[test]
fn values_without_an_end_are_refused_in_every_kind_of_document() {
    for (command, format) in [
        ("optimize --sizes", "sizes"),
        ("show", "tree"),
        ("verify", "schedule"),
        ("machine", "machine"),
        ("report", "measurements"),
    ] {
        for (kind, beginning) in
            [("text", "\"name\":\""), ("key", "\""), ("number", "\"processors\":1")]
        {
            let beginning = document(format, beginning);
            let file = bomb(&format!("bomb_{kind}_{format}"), &beginning, "1", 1 << 24);
            refused(command, &file, LITTLE, "");
        }
    }
    let file = bomb("bomb_toml", "# ", "#", (1 << 30) + (1 << 20));
    refused("machine", &file, 4 << 30, "more than 1074003968 bytes");
}

/// Memory that is refused in the middle of the work ends it with exit code 1, and no file is left.
#[cfg(target_os = "linux")]
#[test]
fn refused_memory_is_a_failure_that_leaves_no_file() {
    let folder = folder("refused_memory");
    for (name, arguments) in [
        ("sizes.json", "generate --dist random -p 100000000 -o"),
        ("tree.json", "optimize --dist random -p 5000000 --algorithm linear -o"),
    ] {
        let file = folder.join(name);
        fs::write(&file, "precious").unwrap();
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let output = run_in(LITTLE, &arguments, &file);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {message}");
        assert!(message.contains("memory"), "{arguments:?}: {message}");
        assert_eq!(fs::read_to_string(&file).unwrap(), "precious");
        fs::remove_file(&file).unwrap();
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0, "no hidden file is left");
    }
}
